/* SPDX-License-Identifier: MIT */
/* pack_overlap.h: what a packing's spheres have in common, for engines that compare packings. */
#ifndef CAROM_SRC_PACK_PACK_OVERLAP_H
#define CAROM_SRC_PACK_PACK_OVERLAP_H

#include "pack/pack.h"
#include "pack/pack_overlap_item.h"

/* Spheres with their shares, in an array of a packing or of a caller. */
typedef struct carom_pack_spheres {
    const carom_packing_sphere *data;
    uint64_t count;
    double volume; /* of the solid; 0: not known */
} carom_pack_spheres;

/* The spheres of a packing. CAROM_BAD_INPUT: it has no shares. `what` names it in messages. */
carom_status carom_pack_spheres_of(carom_context *context, const carom_packing *packing,
                                   const char *what, carom_pack_spheres *spheres);

/* Computes the extent of spheres. CAROM_BAD_INPUT: there are none; a cover is smaller than its
 * radius; a size is out of range. */
carom_status carom_pack_extent_of(carom_context *context, const carom_pack_spheres *spheres,
                                  const char *what, carom_pack_extent *extent);

/* Computes the extent of a packing. CAROM_BAD_INPUT: it has no spheres or no shares; a cover is
 * smaller than its radius; a size out of range. `what` names the packing in messages. */
carom_status carom_pack_extent_make(carom_context *context, const carom_packing *packing,
                                    const char *what, carom_pack_extent *extent);

/* CAROM_BAD_INPUT: a pose or scale that is not finite or takes the packing out of range. 0 is the
 * scale 1; else it must be positive. */
carom_status carom_pack_check_place(carom_context *context, const carom_pack_extent *extent,
                                    const carom_pose *pose, double scale, const char *what);

#endif
