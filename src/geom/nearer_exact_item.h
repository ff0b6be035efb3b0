/* SPDX-License-Identifier: MIT */
/* nearer_exact_item.h: which of two triangles is nearer to a point, in integers, as items for CPU
 * and GPU: the last stage behind the filters of nearer_item.h.
 *
 * Relative to the point, let a triangle's corners be p0, p1, p2 and g_ij = pi . pj. At the nearest
 * point, the plane perpendicular to the displacement has the whole triangle on its far side (the
 * optimality condition of a convex set). In terms of g alone:
 *   - corner i: g_ii <= g_ij for all j. The squared distance is g_ii.
 *   - inside the edge ij, k being the third corner: with ri = g_ii - g_ij and rj = g_jj - g_ij,
 *     both above zero, the foot is (rj pi + ri pj) / (ri + rj). The triangle is on the far side
 *     when wk = ri (g_ij - g_jk) + rj (g_ii - g_ik) <= 0. The squared distance is
 *     (g_ii g_jj - g_ij^2) / (ri + rj).
 *   - inside the face: the foot is (w0 p0 + w1 p1 + w2 p2) / (w0 + w1 + w2), and its product with
 *     p0, as with any point of the plane, is the squared distance.
 *
 * Of a triangle without area, one of the first two is true, as all wk are zero. So everything is
 * sums and products of integers (ratio.h), and two distances are compared by cross multiplication.
 */
#ifndef CAROM_SRC_GEOM_NEARER_EXACT_ITEM_H
#define CAROM_SRC_GEOM_NEARER_EXACT_ITEM_H

#include "geom/orient.h"
#include "geom/ratio.h"

/* The g_ij times 2^(-2 base), at [i + j + (i and j both not 0)]: see below. */
typedef struct carom_nearer_products {
    carom_big of[6];
} carom_nearer_products;

/* 00 01 02 11 12 22 */
#define CAROM_NEARER_G(g, i, j) (&(g)->of[(i) + (j) + ((i) > 0 && (j) > 0 ? 1 : 0)])

CAROM_RARE_ITEM void carom_nearer_products_make(carom_vec3 point, const carom_triangle *t, int base,
                                                int limbs, carom_nearer_products *g) {
    uint32_t p[3][3][CAROM_DOUBLE_LIMBS], from[CAROM_DOUBLE_LIMBS];
    double x[3], q[3];
    int n = 2 * limbs + 1;
    carom_vec_store(point, q);
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(t->corner[i], x);
        for (int k = 0; k < 3; ++k) {
            carom_limbs_load(q[k], base, from, limbs);
            carom_limbs_load(x[k], base, p[i][k], limbs);
            carom_limbs_add(p[i][k], from, limbs, 1);
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            carom_big *sum = CAROM_NEARER_G(g, i, j);
            for (int l = 0; l < n; ++l) sum->limb[l] = 0;
            for (int k = 0; k < 3; ++k)
                carom_limbs_add_product(sum->limb, n, p[i][k], limbs, p[j][k], limbs, 0);
            carom_big_normalize(sum, n);
        }
    }
}

/* to = a - b. */
CAROM_ITEM void carom_nearer_subtract(const carom_big *a, const carom_big *b, carom_big *to) {
    carom_big minus;
    carom_big_copy(b, &minus);
    minus.sign = -minus.sign;
    carom_big_copy(a, to);
    carom_big_add(to, &minus);
}

/* sum += a b. */
CAROM_ITEM void carom_nearer_add_product(carom_big *sum, const carom_big *a, const carom_big *b) {
    carom_big product;
    carom_big_multiply(a, b, &product);
    carom_big_add(sum, &product);
}

/* The weight of corner k, and the squared distance when the nearest point lies inside the edge ij.
 */
CAROM_RARE_ITEM bool carom_nearer_edge_distance(const carom_nearer_products *g, int i, int j, int k,
                                                carom_big *weight, carom_ratio *squared) {
    carom_big ri, rj, step;
    carom_nearer_subtract(CAROM_NEARER_G(g, i, i), CAROM_NEARER_G(g, i, j), &ri);
    carom_nearer_subtract(CAROM_NEARER_G(g, j, j), CAROM_NEARER_G(g, i, j), &rj);
    carom_nearer_subtract(CAROM_NEARER_G(g, i, j), CAROM_NEARER_G(g, j, k), &step);
    carom_big_multiply(&ri, &step, weight);
    carom_nearer_subtract(CAROM_NEARER_G(g, i, i), CAROM_NEARER_G(g, i, k), &step);
    carom_nearer_add_product(weight, &rj, &step);
    if (ri.sign <= 0 || rj.sign <= 0 || weight->sign > 0) return false;
    carom_big_multiply(CAROM_NEARER_G(g, i, j), CAROM_NEARER_G(g, i, j), &squared->den);
    carom_big_multiply(CAROM_NEARER_G(g, i, i), CAROM_NEARER_G(g, j, j), &step);
    carom_nearer_subtract(&step, &squared->den, &squared->num);
    carom_big_add(&ri, &rj);
    carom_big_copy(&ri, &squared->den);
    return true;
}

CAROM_RARE_ITEM void carom_nearer_squared_distance(carom_vec3 point, const carom_triangle *t,
                                                   int base, int limbs, carom_ratio *squared) {
    carom_nearer_products g;
    carom_big weight[3];
    carom_nearer_products_make(point, t, base, limbs, &g);
    squared->exponent = 0; /* in units of 2^(2 base) */
    carom_big_set(&squared->den, 1, 1);
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        carom_big over;
        carom_nearer_subtract(CAROM_NEARER_G(&g, i, i), CAROM_NEARER_G(&g, i, j), &over);
        if (over.sign > 0) continue;
        carom_nearer_subtract(CAROM_NEARER_G(&g, i, i), CAROM_NEARER_G(&g, i, k), &over);
        if (over.sign > 0) continue;
        carom_big_copy(CAROM_NEARER_G(&g, i, i), &squared->num);
        return;
    }
    for (int k = 0; k < 3; ++k)
        if (carom_nearer_edge_distance(&g, (k + 1) % 3, (k + 2) % 3, k, &weight[k], squared))
            return;
    carom_big_set(&squared->num, 0, 0);
    carom_big_set(&squared->den, 0, 0);
    for (int k = 0; k < 3; ++k) {
        carom_nearer_add_product(&squared->num, &weight[k], CAROM_NEARER_G(&g, 0, k));
        carom_big_add(&squared->den, &weight[k]);
    }
}

#define CAROM_NEARER_COORDINATES 21 /* of a point and two triangles */

CAROM_ITEM void carom_nearer_coordinates(carom_vec3 point, const carom_triangle *a,
                                         const carom_triangle *b, double *x) {
    carom_vec_store(point, x);
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(a->corner[i], x + 3 + 3 * i);
        carom_vec_store(b->corner[i], x + 12 + 3 * i);
    }
}

/* Whether the next function may be called on a GPU (carom_ratio_fits). */
CAROM_ITEM bool carom_nearer_fits(carom_vec3 point, const carom_triangle *a,
                                  const carom_triangle *b) {
    double x[CAROM_NEARER_COORDINATES];
    carom_nearer_coordinates(point, a, b, x);
    return carom_ratio_fits(x, CAROM_NEARER_COORDINATES);
}

/* Whether a is at most as far from the point as b. */
CAROM_RARE_ITEM bool carom_not_farther_in_integers(carom_vec3 point, const carom_triangle *a,
                                                   const carom_triangle *b) {
    carom_ratio of_a, of_b;
    double x[CAROM_NEARER_COORDINATES];
    int limbs;
    carom_nearer_coordinates(point, a, b, x);
    int base = carom_limbs_base(x, CAROM_NEARER_COORDINATES, &limbs);
    carom_nearer_squared_distance(point, a, base, limbs, &of_a);
    carom_nearer_squared_distance(point, b, base, limbs, &of_b);
    return carom_ratio_compare(&of_a, &of_b) <= 0;
}

#endif
