/* SPDX-License-Identifier: MIT */
/* bvh_winding_item.h: which faces a ray upwards from a point crosses, as items for CPU and GPU
 * (bvh_winding.c explains them). */
#ifndef CAROM_SRC_BVH_BVH_WINDING_ITEM_H
#define CAROM_SRC_BVH_BVH_WINDING_ITEM_H

#include "geom/box.h"
#include "geom/triangle_item.h"

/* Points farther away than this see nothing; boxes are below 2^128. */
#define CAROM_WINDING_FARTHEST 0x1p200
#define CAROM_WINDING_FRAME_ERROR                                                                  \
    0x1p-50 /* of a coordinate: a few roundings by a change of frame */

/* The side of the line a b, seen from above, on which the perturbed point lies; 0 only if a and b
 * project to the same point. */
CAROM_ITEM int carom_winding_side(carom_vec3 a, carom_vec3 b, carom_vec3 p) {
    int side = carom_orient2d(a.x, a.y, b.x, b.y, p.x, p.y);
    if (side != 0) return side;
    if (a.y != b.y) return a.y > b.y ? 1 : -1;
    return (b.x > a.x) - (b.x < a.x);
}

/* What a face adds to the winding number. */
CAROM_ITEM int carom_winding_face(const carom_triangle *t, carom_vec3 q, bool *on_face) {
    const carom_vec3 *p = t->corner;
    carom_triangle point;
    point.corner[0] = point.corner[1] = point.corner[2] = q;
    double low = CAROM_MIN(CAROM_MIN(p[0].z, p[1].z), p[2].z);
    if (low <= q.z && carom_triangle_meet(t, &point)) {
        *on_face = true;
        return 0;
    }
    int side = carom_winding_side(p[0], p[1], q);
    if (side == 0 || carom_winding_side(p[1], p[2], q) != side ||
        carom_winding_side(p[2], p[0], q) != side)
        return 0;
    /* A face that is counter-clockwise seen from above faces upwards; it is crossed if the point is
     * below. */
    return carom_orient3d(p[0], p[1], p[2], q) * side < 0 ? side : 0;
}

/* The box of the ray upwards from the point, rounded outwards. No box extends beyond the range of
 * floats. */
CAROM_ITEM carom_box carom_winding_box(carom_vec3 point) {
    const double p[3] = {point.x, point.y, point.z};
    carom_box box;
    for (int k = 0; k < 3; ++k) {
        double x = CAROM_MIN(CAROM_MAX(p[k], -CAROM_WINDING_FARTHEST), CAROM_WINDING_FARTHEST);
        double margin = CAROM_WINDING_FRAME_ERROR * fabs(x) + (double)FLT_MIN;
        box.low[k] = carom_float_down(x - margin, 0.0);
        box.high[k] = k == 2 ? HUGE_VALF : carom_float_up(x + margin, 0.0);
    }
    return box;
}

#endif
