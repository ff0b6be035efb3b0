/* SPDX-License-Identifier: MIT */
/* within_exact_item.h: whether two triangles are within a given distance, in integers, as items for
 * CPU and GPU: the last stage behind the filter of within.h.
 *
 * Triangles that do not meet are nearest at two corners, a corner and an edge, a corner and a face,
 * or two edges, each with its foot inside. "Foot inside" is the sign of a polynomial of degree four
 * in differences of coordinates, "near enough" one of degree six at most. All are computed in
 * integers, as in ratio.h: every finite double is an integer times a common power of two. */
#ifndef CAROM_SRC_GEOM_WITHIN_EXACT_ITEM_H
#define CAROM_SRC_GEOM_WITHIN_EXACT_ITEM_H

#include "geom/ratio.h"
#include "geom/triangle_item.h"
#include "geom/within.h"

#define CAROM_WITHIN_NUMBERS 19 /* the coordinates of two triangles, and the reach */

/* Two triangles and a reach; integers are times 2^base, squares times 2^(2 base). */
typedef struct carom_within_task {
    const carom_triangle *a, *b;
    int base, limbs;
    carom_big squared_reach;
} carom_within_task;

typedef struct carom_big3 {
    carom_big x[3];
} carom_big3;

/* ---- Vectors --------------------------------------------------------------------------------- */

/* d = to - from. */
CAROM_ITEM void carom_within_difference(const carom_within_task *task, carom_vec3 to,
                                        carom_vec3 from, carom_big3 *d) {
    uint32_t less[CAROM_DOUBLE_LIMBS];
    double x[3], y[3];
    carom_vec_store(to, x);
    carom_vec_store(from, y);
    for (int k = 0; k < 3; ++k) {
        carom_limbs_load(x[k], task->base, d->x[k].limb, task->limbs);
        carom_limbs_load(y[k], task->base, less, task->limbs);
        carom_limbs_add(d->x[k].limb, less, task->limbs, 1);
        carom_big_normalize(&d->x[k], task->limbs);
    }
}

CAROM_RARE_ITEM void carom_within_dot(const carom_big3 *a, const carom_big3 *b, carom_big *to) {
    carom_big product;
    carom_big_set(to, 0, 0);
    for (int k = 0; k < 3; ++k) {
        carom_big_multiply(&a->x[k], &b->x[k], &product);
        carom_big_add(to, &product);
    }
}

CAROM_RARE_ITEM void carom_within_cross(const carom_big3 *a, const carom_big3 *b, carom_big3 *to) {
    carom_big product;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        carom_big_multiply(&a->x[i], &b->x[j], &to->x[k]);
        carom_big_multiply(&a->x[j], &b->x[i], &product);
        product.sign = -product.sign;
        carom_big_add(&to->x[k], &product);
    }
}

/* ---- Corners, edges and faces ---------------------------------------------------------------- */

/* left <= reach^2 factor? None is below zero. */
CAROM_ITEM bool carom_within_near_enough(const carom_within_task *task, const carom_big *left,
                                         const carom_big *factor) {
    carom_big right;
    carom_big_multiply(&task->squared_reach, factor, &right);
    return carom_big_compare(left, &right) <= 0;
}

CAROM_RARE_ITEM bool carom_within_points(const carom_within_task *task, carom_vec3 p,
                                         carom_vec3 q) {
    carom_big3 w;
    carom_big squared;
    carom_within_difference(task, p, q, &w);
    carom_within_dot(&w, &w, &squared);
    return carom_big_compare(&squared, &task->squared_reach) <= 0;
}

/* With its foot inside the edge from q to r. */
CAROM_RARE_ITEM bool carom_within_point_edge(const carom_within_task *task, carom_vec3 p,
                                             carom_vec3 q, carom_vec3 r) {
    carom_big3 u, w;
    carom_big along, length, squared, left;
    carom_within_difference(task, r, q, &u);
    carom_within_difference(task, p, q, &w);
    carom_within_dot(&w, &u, &along);
    carom_within_dot(&u, &u, &length);
    if (along.sign <= 0 || carom_big_compare(&along, &length) >= 0) return false;
    carom_within_dot(&w, &w, &squared);
    carom_big_multiply(&squared, &length, &left);
    carom_big_multiply(&along, &along, &squared);
    squared.sign = -squared.sign;
    carom_big_add(&left, &squared); /* not below zero: Cauchy and Schwarz */
    return carom_within_near_enough(task, &left, &length);
}

/* Whether w is within the reach along a normal n (not zero). */
CAROM_RARE_ITEM bool carom_within_across(const carom_within_task *task, const carom_big3 *w,
                                         const carom_big3 *n, const carom_big *squared_normal) {
    carom_big height, left;
    carom_within_dot(w, n, &height);
    carom_big_multiply(&height, &height, &left);
    return carom_within_near_enough(task, &left, squared_normal);
}

/* The foot's parameter, a.n / n.n with a = w x edge, inside [0, 1]? */
CAROM_RARE_ITEM bool carom_within_parameter(const carom_big3 *w, const carom_big3 *edge,
                                            const carom_big3 *n, const carom_big *squared_normal) {
    carom_big3 a;
    carom_big parameter;
    carom_within_cross(w, edge, &a);
    carom_within_dot(&a, n, &parameter);
    return parameter.sign >= 0 && carom_big_compare(&parameter, squared_normal) <= 0;
}

/* Edges p0 p1 and q0 q1 that are not parallel, with both feet inside: p0 + s u and q0 + t v differ
 * by a multiple of n = u x v, so that (w x v).n = s n.n and (w x u).n = t n.n. */
CAROM_RARE_ITEM bool carom_within_edges(const carom_within_task *task, carom_vec3 p0, carom_vec3 p1,
                                        carom_vec3 q0, carom_vec3 q1) {
    carom_big3 u, v, w, n;
    carom_big squared_normal;
    carom_within_difference(task, p1, p0, &u);
    carom_within_difference(task, q1, q0, &v);
    carom_within_cross(&u, &v, &n);
    carom_within_dot(&n, &n, &squared_normal);
    if (squared_normal.sign == 0) return false;
    carom_within_difference(task, q0, p0, &w);
    return carom_within_across(task, &w, &n, &squared_normal) &&
           carom_within_parameter(&w, &v, &n, &squared_normal) &&
           carom_within_parameter(&w, &u, &n, &squared_normal);
}

CAROM_RARE_ITEM bool carom_within_point_face(const carom_within_task *task, carom_vec3 p,
                                             const carom_vec3 *face) {
    carom_big3 u, w, n, side;
    carom_big squared_normal, inside;
    carom_within_difference(task, face[1], face[0], &u);
    carom_within_difference(task, face[2], face[0], &w);
    carom_within_cross(&u, &w, &n);
    carom_within_dot(&n, &n, &squared_normal);
    if (squared_normal.sign == 0) return false;
    carom_within_difference(task, p, face[0], &w);
    if (!carom_within_across(task, &w, &n, &squared_normal)) return false;
    for (int i = 0; i < 3; ++i) {
        carom_within_difference(task, face[(i + 1) % 3], face[i], &u);
        carom_within_difference(task, p, face[i], &w);
        carom_within_cross(&u, &w, &side);
        carom_within_dot(&side, &n, &inside);
        if (inside.sign < 0) return false;
    }
    return true;
}

CAROM_RARE_ITEM bool carom_within_features(const carom_within_task *task) {
    const carom_vec3 *a = task->a->corner, *b = task->b->corner;
    for (int i = 0; i < 9; ++i)
        if (carom_within_points(task, a[i / 3], b[i % 3])) return true;
    for (int i = 0; i < 9; ++i) {
        int j = i / 3, k = i % 3, next = (k + 1) % 3;
        if (carom_within_point_edge(task, a[j], b[k], b[next]) ||
            carom_within_point_edge(task, b[j], a[k], a[next]))
            return true;
    }
    for (int i = 0; i < 9; ++i) {
        int j = i / 3, k = i % 3;
        if (carom_within_edges(task, a[j], a[(j + 1) % 3], b[k], b[(k + 1) % 3])) return true;
    }
    for (int i = 0; i < 3; ++i)
        if (carom_within_point_face(task, a[i], b) || carom_within_point_face(task, b[i], a))
            return true;
    return false;
}

/* ---- The whole ------------------------------------------------------------------------------- */

CAROM_ITEM void carom_within_numbers(const carom_triangle *a, const carom_triangle *b, double reach,
                                     double *x) {
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(a->corner[i], x + 3 * i);
        carom_vec_store(b->corner[i], x + 9 + 3 * i);
    }
    x[CAROM_WITHIN_NUMBERS - 1] = reach;
}

/* Whether the next function may be called on a GPU (carom_ratio_fits). */
CAROM_ITEM bool carom_within_fits(const carom_triangle *a, const carom_triangle *b, double reach) {
    double x[CAROM_WITHIN_NUMBERS];
    carom_within_numbers(a, b, reach, x);
    return carom_ratio_fits(x, CAROM_WITHIN_NUMBERS);
}

/* Whether they are within the reach, which is not negative; all numbers are finite. */
CAROM_RARE_ITEM bool carom_within_in_integers(const carom_triangle *a, const carom_triangle *b,
                                              double reach) {
    carom_within_task task;
    carom_big length;
    double x[CAROM_WITHIN_NUMBERS];
    if (carom_triangle_meet(a, b)) return true;
    if (reach == 0.0) return false;
    carom_within_numbers(a, b, reach, x);
    task.a = a;
    task.b = b;
    task.base = carom_limbs_base(x, CAROM_WITHIN_NUMBERS, &task.limbs);
    carom_limbs_load(reach, task.base, length.limb, task.limbs);
    carom_big_normalize(&length, task.limbs);
    carom_big_multiply(&length, &length, &task.squared_reach);
    return carom_within_features(&task);
}

/* CAROM_YES or CAROM_NO; on a GPU CAROM_UNDECIDED where integers there are too short. */
CAROM_RARE_ITEM int carom_within_decide(const carom_triangle *a, const carom_triangle *b,
                                        double reach) {
    int verdict = carom_within_filter(a, b, reach);
    if (verdict != CAROM_UNDECIDED || !carom_within_fits(a, b, reach)) return verdict;
    return carom_within_in_integers(a, b, reach) ? CAROM_YES : CAROM_NO;
}

#endif
