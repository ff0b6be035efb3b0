/* SPDX-License-Identifier: MIT */
/* soup_points_item.h: the error of the distances that a search for the nearest face compares, and
 * its result, as items for CPU and GPU (soup_points.c explains the search). */
#ifndef CAROM_SRC_SOUP_SOUP_POINTS_ITEM_H
#define CAROM_SRC_SOUP_SOUP_POINTS_ITEM_H

#include "geom/distance_item.h"
#include "geom/length.h"

/* In the frame of the boxes, whose coordinates are floats, so below 2^128. Beyond this distance the
 * rounding of a double is larger than all of them: boxes cannot tell which face is nearest. */
#define CAROM_POINTS_BOX_DISTANCE_LIMIT 0x1p200

/* The error relative to the size of soup and point per axis. The extent of point and face is at
 * most 2 sqrt(3) of the size, so two distances with an error of 1e-15 of their extents have a total
 * error of 7e-15 of the size; this is four times as much. */
#define CAROM_POINTS_DISTANCE_ERROR 0x1p-45
/* Distances are multiples of 2^-1074 before they are scaled, so two of them may be off by this. */
#define CAROM_POINTS_LEAST_DISTANCE 0x1p-1073
/* Exceeds what underflows in the frame: some multiples of 2^-1074. */
#define CAROM_POINTS_UNDERFLOW 0x1p-1000

/* Upper bound of the sum of the errors of two distances in a frame x scale - origin, of which
 * `size` is the largest coordinate of point and boxes. */
CAROM_ITEM double carom_points_error(double size, double scale) {
    return CAROM_POINTS_DISTANCE_ERROR * size +
           (CAROM_POINTS_LEAST_DISTANCE * scale + CAROM_POINTS_UNDERFLOW);
}

/* Distances are computed relative to the point. For a distant point this rounds the face's corners,
 * and the closest point may lie beside the face. Then it is computed again relative to the face. */
CAROM_ITEM void carom_points_refine(carom_vec3 point, const carom_vec3 *p, carom_vec3 *on_face) {
    double away = carom_vec_largest(carom_vec_sub(point, p[0]));
    double size = carom_vec_largest(carom_vec_sub(p[1], p[0]));
    size = CAROM_MAX(carom_vec_largest(carom_vec_sub(p[2], p[0])), size);
    if (!(away > 2.0 * size)) return;
    carom_vec3 thrice[3];
    carom_closest closest;
    thrice[0] = thrice[1] = thrice[2] = point;
    carom_near_triangles(p, thrice, &closest);
    *on_face = closest.a;
}

/* The result where there is no face. */
CAROM_ITEM carom_hit carom_points_none(carom_vec3 point) {
    carom_hit hit;
    hit.id = hit.face = CAROM_NONE;
    hit.distance = HUGE_VAL;
    hit.point = point;
    hit.normal = carom_vec(0.0, 0.0, 0.0);
    hit.error = 0.0;
    return hit;
}

/* The result for the nearest face, of which the triangle is the nearest one; `closest` is what
 * carom_near_point_triangle computes. */
CAROM_ITEM carom_hit carom_points_hit(carom_vec3 point, const carom_triangle *triangle,
                                      uint32_t face, const carom_closest *closest) {
    carom_hit hit;
    hit.id = 0;
    hit.face = face;
    hit.distance = closest->distance;
    hit.point = closest->b;
    hit.normal = carom_vec(0.0, 0.0, 0.0);
    hit.error = 0.0;
    carom_points_refine(point, triangle->corner, &hit.point);
    if (hit.distance > 0.0) hit.normal = carom_vec_unit(carom_vec_sub(point, hit.point));
    return hit;
}

#endif
