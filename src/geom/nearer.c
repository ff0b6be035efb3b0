/* SPDX-License-Identifier: MIT */
/* Which of two triangles is nearer to a point, for the ties that doubles leave open.
 *
 * Seen from the point, let a triangle's corners be p0, p1, p2 and g_ij = pi . pj. The nearest point
 * is the one of the triangle whose plane through it, at right angles to the way there, has all of
 * the triangle beyond (the optimality condition of a convex set), which reads in terms of g alone:
 *   - corner i: g_ii <= g_ij for all j. The squared distance is g_ii.
 *   - inside the edge ij, k being the third corner: with ri = g_ii - g_ij and rj = g_jj - g_ij,
 * both above zero, the foot is (rj pi + ri pj) / (ri + rj), and wk = ri (g_ij - g_jk) + rj (g_ii -
 * g_ik) <= 0 puts the triangle beyond it. The squared distance is (g_ii g_jj - g_ij^2) / (ri + rj).
 *   - inside the face: the foot is (w0 p0 + w1 p1 + w2 p2) / (w0 + w1 + w2), and its product with
 *     p0, as with any point of the plane, is the squared distance.
 * Of a triangle without area, one of the first two is true, as all wk are zero. So everything is
 * sums and products of integers (ratio.h), and two distances are compared by cross multiplication.
 *
 * Nearly all ties are neighbours in a mesh, with the nearest point on their common edge or corner.
 * If b's nearest point lies on an edge that a has too, a is not farther. The conditions above, in
 * terms of edges and with error bounds, certify such an edge or corner in doubles. */
#include "geom/nearer.h"

#include "geom/length.h"
#include "geom/orient.h"
#include "geom/ratio.h"

/* ---- in doubles ------------------------------------------------------------------------------ */

/* With e = 2^-53 and U, W the largest coordinates of edges and of the point as seen from corners, a
 * dot product of both is off by at most 5.01 e of its three terms' magnitudes, UW each: below
 * 16 e UW. It is at most 3.01 UW, so a product of two is off by at most 6.1 UW 16 e UW and a
 * rounding of 9.1 e (UW)^2, and the difference of two such products by 233 e (UW)^2 with its own
 * rounding: below 256 e (UW)^2. */
#define DOT_ERROR    0x1p-49
#define WEIGHT_ERROR 0x1p-45
/* Within these bounds of UW no product overflows, and what underflows is far below the errors. */
#define LEAST_PRODUCT 0x1p-400
#define MOST_PRODUCT  0x1p400

/* Corners by bits. */
#define NO_PART 0u

/* The corner or edge that the nearest point is certain to lie on, else NO_PART. */
static unsigned certain_part(carom_vec3 point, const carom_vec3 *p) {
    carom_vec3 u = carom_vec_sub(p[1], p[0]), v = carom_vec_sub(p[2], p[0]);
    carom_vec3 w0 = carom_vec_sub(point, p[0]), w1 = carom_vec_sub(point, p[1]);
    carom_vec3 w2 = carom_vec_sub(point, p[2]);
    double edge = CAROM_MAX(carom_vec_largest(u), carom_vec_largest(v));
    double away = CAROM_MAX(carom_vec_largest(w0), carom_vec_largest(w1));
    double both = edge * CAROM_MAX(carom_vec_largest(w2), away);
    if (!(both > LEAST_PRODUCT && both < MOST_PRODUCT)) return NO_PART;
    double error = DOT_ERROR * both, weight_error = WEIGHT_ERROR * both * both;
    double u0 = carom_vec_dot(u, w0), v0 = carom_vec_dot(v, w0);
    double u1 = carom_vec_dot(u, w1), v1 = carom_vec_dot(v, w1);
    double u2 = carom_vec_dot(u, w2), v2 = carom_vec_dot(v, w2);
    double beyond1 = v1 - u1, beyond2 = u2 - v2; /* along the third edge, from either end */
    if (u0 < -error && v0 < -error) return 1u;
    if (u1 > error && beyond1 < -3.0 * error) return 2u;
    if (v2 > error && beyond2 < -3.0 * error) return 4u;
    if (u0 > error && u1 < -error && u0 * v1 - u1 * v0 < -weight_error) return 1u | 2u;
    if (v0 > error && v2 < -error && u2 * v0 - u0 * v2 < -weight_error) return 1u | 4u;
    if (beyond1 > 3.0 * error && beyond2 > 3.0 * error && u1 * v2 - u2 * v1 < -weight_error)
        return 2u | 4u;
    for (int i = 0; i < 3; ++i)
        if (carom_vec_compare(point, p[i]) == 0) return 1u << i;
    return NO_PART;
}

static bool has_corners(const carom_triangle *t, const carom_vec3 *p, unsigned part) {
    for (int i = 0; i < 3; ++i)
        if ((part >> i & 1u) != 0 && carom_vec_compare(p[i], t->corner[0]) != 0 &&
            carom_vec_compare(p[i], t->corner[1]) != 0 &&
            carom_vec_compare(p[i], t->corner[2]) != 0)
            return false;
    return true;
}

/* ---- in integers ----------------------------------------------------------------------------- */

/* The g_ij times 2^(-2 base), at [i + j + (i and j both not 0)]: see G. */
typedef struct products {
    carom_big of[6];
} products;

/* 00 01 02 11 12 22 */
#define G(g, i, j) (&(g)->of[(i) + (j) + ((i) > 0 && (j) > 0 ? 1 : 0)])

static void products_make(carom_vec3 point, const carom_triangle *t, int base, int limbs,
                          products *g) {
    uint32_t p[3][3][CAROM_WIDE_LIMBS], from[CAROM_WIDE_LIMBS];
    double x[3], q[3];
    int n = 2 * limbs + 1;
    carom_vec_store(point, q);
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(t->corner[i], x);
        for (int k = 0; k < 3; ++k) {
            carom_wide_load(q[k], base, from, limbs);
            carom_wide_load(x[k], base, p[i][k], limbs);
            carom_wide_add(p[i][k], from, limbs, 1);
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) {
            carom_big *sum = G(g, i, j);
            for (int l = 0; l < n; ++l) sum->limb[l] = 0;
            for (int k = 0; k < 3; ++k)
                carom_wide_add_product(sum->limb, n, p[i][k], limbs, p[j][k], limbs, 0);
            carom_big_settle(sum, n);
        }
    }
}

/* to = a - b. */
static void subtract(const carom_big *a, const carom_big *b, carom_big *to) {
    carom_big minus;
    carom_big_copy(b, &minus);
    minus.sign = -minus.sign;
    carom_big_copy(a, to);
    carom_big_add(to, &minus);
}

/* sum += a b. */
static void add_product(carom_big *sum, const carom_big *a, const carom_big *b) {
    carom_big product;
    carom_big_multiply(a, b, &product);
    carom_big_add(sum, &product);
}

/* The weight of corner k, and the squared distance when the nearest point lies inside the edge ij.
 */
static bool edge_distance(const products *g, int i, int j, int k, carom_big *weight,
                          carom_ratio *squared) {
    carom_big ri, rj, step;
    subtract(G(g, i, i), G(g, i, j), &ri);
    subtract(G(g, j, j), G(g, i, j), &rj);
    subtract(G(g, i, j), G(g, j, k), &step);
    carom_big_multiply(&ri, &step, weight);
    subtract(G(g, i, i), G(g, i, k), &step);
    add_product(weight, &rj, &step);
    if (ri.sign <= 0 || rj.sign <= 0 || weight->sign > 0) return false;
    carom_big_multiply(G(g, i, j), G(g, i, j), &squared->den);
    carom_big_multiply(G(g, i, i), G(g, j, j), &step);
    subtract(&step, &squared->den, &squared->num);
    carom_big_add(&ri, &rj);
    carom_big_copy(&ri, &squared->den);
    return true;
}

static void squared_distance(carom_vec3 point, const carom_triangle *t, int base, int limbs,
                             carom_ratio *squared) {
    products g;
    carom_big weight[3];
    products_make(point, t, base, limbs, &g);
    squared->exponent = 0; /* in units of 2^(2 base) */
    carom_big_set(&squared->den, 1, 1);
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        carom_big over;
        subtract(G(&g, i, i), G(&g, i, j), &over);
        if (over.sign > 0) continue;
        subtract(G(&g, i, i), G(&g, i, k), &over);
        if (over.sign > 0) continue;
        carom_big_copy(G(&g, i, i), &squared->num);
        return;
    }
    for (int k = 0; k < 3; ++k)
        if (edge_distance(&g, (k + 1) % 3, (k + 2) % 3, k, &weight[k], squared)) return;
    carom_big_set(&squared->num, 0, 0);
    carom_big_set(&squared->den, 0, 0);
    for (int k = 0; k < 3; ++k) {
        add_product(&squared->num, &weight[k], G(&g, 0, k));
        carom_big_add(&squared->den, &weight[k]);
    }
}

CAROM_RARE_ITEM bool not_farther_in_integers(carom_vec3 point, const carom_triangle *a,
                                             const carom_triangle *b) {
    carom_ratio of_a, of_b;
    double x[21];
    int limbs;
    carom_vec_store(point, x);
    for (int i = 0; i < 3; ++i) {
        carom_vec_store(a->corner[i], x + 3 + 3 * i);
        carom_vec_store(b->corner[i], x + 12 + 3 * i);
    }
    int base = carom_wide_base(x, 21, &limbs);
    squared_distance(point, a, base, limbs, &of_a);
    squared_distance(point, b, base, limbs, &of_b);
    return carom_ratio_compare(&of_a, &of_b) <= 0;
}

bool carom_not_farther(carom_vec3 point, const carom_triangle *a, const carom_triangle *b) {
    unsigned part = certain_part(point, b->corner);
    if (part == NO_PART) part = 1u | 2u | 4u; /* a copy of b? */
    return has_corners(a, b->corner, part) || not_farther_in_integers(point, a, b);
}
