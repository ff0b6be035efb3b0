/* SPDX-License-Identifier: MIT */
/* pack_carry.h: where a deformation of a surface carries the points inside it. */
#ifndef CAROM_SRC_PACK_PACK_CARRY_H
#define CAROM_SRC_PACK_PACK_CARRY_H

#include "carom/mesh.h"
#include "pack/pack_carry_cpu.h"

/* A deformation of a surface. Both frames, that before and that after, are y = (x - origin) 2^shift
 * with an extent between 1/2 and 1. */
typedef struct carom_pack_carry {
    carom_context *context;
    carom_bvh bvh;               /* of the triangles before */
    carom_bvh_corners *corners;  /* of each block, before */
    carom_pack_moments *moments; /* of the children of each node, blocks first: of their triangles;
                                     last the root alone */
    carom_vec3 origin[2];        /* of the frames */
    int shift[2];
} carom_pack_carry;

/* Prepares the deformation from `before` to `after`, which have the same faces and pass
 * carom_mesh_check; there is a face. Arrays but the tree's are scratch of worker 0.
 * carom_pack_carry_free also after a failure. */
carom_status carom_pack_carry_make(carom_context *context, const carom_mesh_view *before,
                                   const carom_mesh_view *after, carom_pack_carry *carry);
void carom_pack_carry_free(carom_pack_carry *carry);

/* A point that was carried, in the caller's coordinates. */
typedef struct carom_pack_carried {
    carom_vec3 point;
    double scale; /* the cube root of the factor by which the deformation changes volumes there; 0:
                     it collapses space */
} carom_pack_carried;

/* Carries a point. The same bits for any instruction set. */
carom_pack_carried carom_pack_carry_point(const carom_pack_carry *carry, carom_vec3 point);

#endif
