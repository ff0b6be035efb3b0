/* SPDX-License-Identifier: MIT */
/* mesh_report_item.h: the area of a triangle as mesh_report_faces.c adds it up, as an item. */
#ifndef CAROM_SRC_MESH_MESH_REPORT_ITEM_H
#define CAROM_SRC_MESH_MESH_REPORT_ITEM_H

#include "geom/length.h"
#include "geom/vec.h"

/* Products of a cross product that are larger than it by more than this have cancelled. */
#define CAROM_REPORT_CANCELLATION 0x1p-6

/* Twice the area of a triangle whose edges are multiplied by `half`, then by `shrink`; negative
 * where products cancel. */
CAROM_ITEM double carom_report_double_area(const carom_vec3 corner[3], double half, double shrink) {
    carom_vec3 a = carom_vec_scale(corner[0], half);
    carom_vec3 u = carom_vec_scale(carom_vec_sub(carom_vec_scale(corner[1], half), a), shrink);
    carom_vec3 v = carom_vec_scale(carom_vec_sub(carom_vec_scale(corner[2], half), a), shrink);
    carom_vec3 twice = carom_vec_cross(u, v);
    double size = carom_vec_largest(u) * carom_vec_largest(v);
    if (carom_vec_largest(twice) < CAROM_REPORT_CANCELLATION * size) return -1.0;
    return carom_vec_length(twice);
}

#endif
