/* SPDX-License-Identifier: MIT */
/* nearer_item.h: the filters in front of nearer_exact_item.h, which of two triangles is nearer to a
 * point, as items for CPU and GPU.
 *
 * Nearly all ties are neighbours in a mesh, with the nearest point on their common edge or corner.
 * If b's nearest point lies on an edge that a has too, a is not farther. The conditions of
 * nearer_exact_item.h, in terms of edges and with error bounds, are certain for such an edge or
 * corner in doubles. Faces that are seen from so far away that all distances are one double are
 * told apart by a second filter, which compares differences of distances. */
#ifndef CAROM_SRC_GEOM_NEARER_ITEM_H
#define CAROM_SRC_GEOM_NEARER_ITEM_H

#include <stdbool.h>

#include "geom/length.h"
#include "geom/triangle_filter.h"

/* ---- Filter in doubles ----------------------------------------------------------------------- */

/* With e = 2^-53 and U, W the largest coordinates of edges and of the point as seen from corners, a
 * dot product of both is off by at most 5.01 e of its three terms' magnitudes, UW each: below
 * 16 e UW. It is at most 3.01 UW, so a product of two is off by at most 6.1 UW 16 e UW and a
 * rounding of 9.1 e (UW)^2, and the difference of two such products by 233 e (UW)^2 with its own
 * rounding: below 256 e (UW)^2. */
#define CAROM_NEARER_DOT_ERROR    0x1p-49
#define CAROM_NEARER_WEIGHT_ERROR 0x1p-45
/* Within these bounds of UW no product overflows, and what underflows is far below the errors. */
#define CAROM_NEARER_LEAST_PRODUCT 0x1p-400
#define CAROM_NEARER_MOST_PRODUCT  0x1p400

CAROM_ITEM bool carom_nearer_in_range(double product) {
    return product > CAROM_NEARER_LEAST_PRODUCT && product < CAROM_NEARER_MOST_PRODUCT;
}

/* Whether the nearest point is certain to be the corner p[i]. */
CAROM_ITEM bool carom_nearer_corner_nearest(carom_vec3 point, const carom_vec3 *p, int i) {
    int j = i == 2 ? 0 : i + 1, k = 3 - i - j;
    carom_vec3 u = carom_vec_sub(p[j], p[i]), v = carom_vec_sub(p[k], p[i]);
    carom_vec3 w = carom_vec_sub(point, p[i]);
    double away = carom_vec_largest(w);
    double both = CAROM_MAX(carom_vec_largest(u), carom_vec_largest(v)) * away;
    if (!carom_nearer_in_range(both)) return carom_vec_compare(point, p[i]) == 0;
    return carom_vec_dot(u, w) < -CAROM_NEARER_DOT_ERROR * both &&
           carom_vec_dot(v, w) < -CAROM_NEARER_DOT_ERROR * both;
}

/* Whether the nearest point is certain to lie on the edge from p[i] to p[j], ends included. */
CAROM_ITEM bool carom_nearer_edge_nearest(carom_vec3 point, const carom_vec3 *p, int i, int j) {
    carom_vec3 u = carom_vec_sub(p[j], p[i]), v = carom_vec_sub(p[3 - i - j], p[i]);
    carom_vec3 wi = carom_vec_sub(point, p[i]), wj = carom_vec_sub(point, p[j]);
    double ui = carom_vec_dot(u, wi), uj = carom_vec_dot(u, wj);
    if (!(ui > 0.0)) return carom_nearer_corner_nearest(point, p, i);
    if (!(uj < 0.0)) return carom_nearer_corner_nearest(point, p, j);
    double both = CAROM_MAX(carom_vec_largest(u), carom_vec_largest(v));
    both *= CAROM_MAX(carom_vec_largest(wi), carom_vec_largest(wj));
    double error = CAROM_NEARER_DOT_ERROR * both;
    if (!carom_nearer_in_range(both) || !(ui > error && uj < -error)) return false;
    double weight = ui * carom_vec_dot(v, wj) - uj * carom_vec_dot(v, wi);
    return weight < -CAROM_NEARER_WEIGHT_ERROR * both * both;
}

/* Whether the nearest point of b is certain to be one of a. */
CAROM_ITEM bool carom_nearer_nearest_common(carom_vec3 point, const carom_triangle *a,
                                            const carom_triangle *b) {
    const carom_vec3 *p = b->corner;
    int common[3], count = 0;
    for (int i = 0; i < 3; ++i)
        if (carom_vec_compare(p[i], a->corner[0]) == 0 ||
            carom_vec_compare(p[i], a->corner[1]) == 0 ||
            carom_vec_compare(p[i], a->corner[2]) == 0)
            common[count++] = i;
    if (count == 3) return true;
    if (count == 2) return carom_nearer_edge_nearest(point, p, common[0], common[1]);
    return count == 1 && carom_nearer_corner_nearest(point, p, common[0]);
}

/* With a corner r of a, v = r - point and z = x - r, the squared distance of x is |v|^2 + f(z) with
 * f(z) = |z|^2 + 2 z . v. From far away z is much shorter than v, and f tells faces apart that
 * their rounded distances do not. Of a, the best corner is an upper bound; of b, 2 z . v at the
 * best corner is a lower one. With Z and V the largest coordinates, f is off by at most 64 e Z (Z +
 * V), as is 2 z . v, in the same way as above. */
#define CAROM_NEARER_LIFT_ERROR 0x1p-46

/* Whether the bounds from the corners prove that a is nearer than b. */
CAROM_ITEM bool carom_nearer_surely_nearer(carom_vec3 point, const carom_triangle *a,
                                           const carom_triangle *b) {
    carom_vec3 r = a->corner[0], v = carom_vec_sub(r, point);
    double near_a = 0.0, near_b = HUGE_VAL, size = 0.0; /* f is 0 at r */
    for (int i = 0; i < 3; ++i) {
        carom_vec3 za = carom_vec_sub(a->corner[i], r), zb = carom_vec_sub(b->corner[i], r);
        double at_a = carom_vec_dot(za, za) + 2.0 * carom_vec_dot(za, v);
        double at_b = 2.0 * carom_vec_dot(zb, v);
        near_a = CAROM_MIN(at_a, near_a);
        near_b = CAROM_MIN(at_b, near_b);
        size = CAROM_MAX(CAROM_MAX(carom_vec_largest(za), carom_vec_largest(zb)), size);
    }
    double both = size * (size + carom_vec_largest(v));
    return carom_nearer_in_range(both) && near_b - near_a > CAROM_NEARER_LIFT_ERROR * both;
}

/* Whether a is at most as far from the point as b, or CAROM_UNDECIDED. */
CAROM_ITEM int carom_not_farther_filter(carom_vec3 point, const carom_triangle *a,
                                        const carom_triangle *b) {
    if (carom_nearer_nearest_common(point, a, b) || carom_nearer_surely_nearer(point, a, b))
        return CAROM_YES;
    return carom_nearer_surely_nearer(point, b, a) ? CAROM_NO : CAROM_UNDECIDED;
}

#endif
