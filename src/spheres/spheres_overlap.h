/* SPDX-License-Identifier: MIT */
/* spheres_overlap.h: what a packing's spheres have in common, for engines that compare packings. */
#ifndef CAROM_SRC_SPHERES_SPHERES_OVERLAP_H
#define CAROM_SRC_SPHERES_SPHERES_OVERLAP_H

#include "spheres/spheres.h"
#include "spheres/spheres_overlap_item.h"

/* Spheres with their shares, in an array of a packing or of a caller. */
typedef struct carom_spheres_view {
    const carom_packing_sphere *data;
    uint64_t count;
    double volume; /* of the solid; 0: not known */
} carom_spheres_view;

/* The spheres of a packing. CAROM_BAD_INPUT: it has no shares. `what` names it in messages. */
carom_status carom_spheres_of(carom_context *context, const carom_packing *packing,
                              const char *what, carom_spheres_view *spheres);

/* Computes the extent of spheres. CAROM_BAD_INPUT: there are none; a cover is smaller than its
 * radius; a size is out of range. */
carom_status carom_spheres_extent_of(carom_context *context, const carom_spheres_view *spheres,
                                     const char *what, carom_spheres_extent *extent);

/* Computes the extent of a packing. CAROM_BAD_INPUT: it has no spheres or no shares; a cover is
 * smaller than its radius; a size out of range. `what` names the packing in messages. */
carom_status carom_spheres_extent_make(carom_context *context, const carom_packing *packing,
                                       const char *what, carom_spheres_extent *extent);

/* CAROM_BAD_INPUT: a pose or scale that is not finite or takes the packing out of range. 0 is the
 * scale 1; else it must be positive. */
carom_status carom_spheres_check_pose(carom_context *context, const carom_spheres_extent *extent,
                                      const carom_pose *pose, double scale, const char *what);

#endif
