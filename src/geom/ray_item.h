/* SPDX-License-Identifier: MIT */
/* ray_item.h: where does a ray meet a triangle?
 *
 * A ray goes from `from` through `through` and on without end: two points, so that everything is an
 * orientation of given points and its sign exact. Whether it meets the closed triangle is decided
 * exactly; where, as a parameter of from + t (through - from), is rounded. */
#ifndef CAROM_SRC_GEOM_RAY_ITEM_H
#define CAROM_SRC_GEOM_RAY_ITEM_H

#include "geom/triangle_filter.h"

/* Both ends given by value; the triangle has positive area. */
typedef struct carom_ray_points {
    carom_vec3 from, through;
} carom_ray_points;

/* The parameter at which the line meets the plane, from the distances of its points to it. */
CAROM_ITEM double carom_ray_parameter(double at_from, double at_through) {
    double t = at_from / (at_from - at_through);
    return t > 0.0 ? t : 0.0;
}

/* A signed area along an axis, rounded; carom_orient_along has its sign. */
CAROM_ITEM double carom_area_along(carom_vec3 a, carom_vec3 b, carom_vec3 c, int axis) {
    carom_vec3 n = carom_vec_cross(carom_vec_sub(b, a), carom_vec_sub(c, a));
    return axis == 0 ? n.x : axis == 1 ? n.y : n.z;
}

/* In the triangle's plane: 1 and the first parameter when they meet. */
CAROM_ITEM int carom_ray_in_plane(const carom_ray_points *ray, const carom_vec3 *p, int axis,
                                  double *t) {
    int inside = 1, found = 0;
    int turn = carom_orient_along(p[0], p[1], p[2], axis);
    for (int i = 0; i < 3; ++i) {
        carom_vec3 a = p[i], b = p[(i + 1) % 3];
        if (carom_orient_along(a, b, ray->from, axis) * turn < 0) inside = 0;
    }
    *t = 0.0;
    if (inside) return 1;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 a = p[i], b = p[(i + 1) % 3];
        int sa = carom_orient_along(ray->from, ray->through, a, axis);
        int sb = carom_orient_along(ray->from, ray->through, b, axis);
        if (sa * sb > 0 || (sa == 0 && sb == 0)) continue; /* along an edge: the others tell */
        /* Seen from a to b the ray goes to the left when b is to its right. */
        int to_left = sa - sb, side = carom_orient_along(a, b, ray->from, axis);
        if ((to_left > 0 && side > 0) || (to_left < 0 && side < 0)) continue; /* behind */
        double here = carom_ray_parameter(carom_area_along(a, b, ray->from, axis),
                                          carom_area_along(a, b, ray->through, axis));
        *t = !found || here < *t ? here : *t;
        found = 1;
    }
    return found;
}

/* 1 and the first parameter t >= 0 when the ray meets the closed triangle, else 0. */
CAROM_ITEM int carom_ray_meet(const carom_ray_points *ray, const carom_vec3 *p, double *t) {
    carom_vec3 o = ray->from, q = ray->through;
    int s0 = carom_orient3d(o, q, p[0], p[1]);
    int s1 = carom_orient3d(o, q, p[1], p[2]);
    if (s0 * s1 < 0) return 0;
    int s2 = carom_orient3d(o, q, p[2], p[0]);
    if (s0 * s2 < 0 || s1 * s2 < 0) return 0;
    int side = carom_orient3d(p[0], p[1], p[2], o);
    if (s0 == 0 && s1 == 0 && s2 == 0) {
        /* The line lies in the plane (a line that meets all three edges' lines does). */
        int axis = carom_orient_axis(p[0], p[1], p[2]);
        return axis >= 0 ? carom_ray_in_plane(ray, p, axis, t) : 0;
    }
    /* The line crosses the plane inside the triangle, against the normal when the signs are
     * negative (looking along the ray the corners then turn clockwise). */
    int along = s0 != 0 ? s0 : s1 != 0 ? s1 : s2;
    if (side * along > 0) return 0; /* behind */
    carom_vec3 n = carom_vec_cross(carom_vec_sub(p[1], p[0]), carom_vec_sub(p[2], p[0]));
    *t = side == 0 ? 0.0
                   : carom_ray_parameter(carom_vec_dot(n, carom_vec_sub(o, p[0])),
                                         carom_vec_dot(n, carom_vec_sub(q, p[0])));
    return 1;
}

#endif
