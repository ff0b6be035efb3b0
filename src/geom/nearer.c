/* SPDX-License-Identifier: MIT */
/* Which of two triangles is nearer to a point, for the ties that doubles leave open.
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
 *
 * Nearly all ties are neighbours in a mesh, with the nearest point on their common edge or corner.
 * If b's nearest point lies on an edge that a has too, a is not farther. The conditions above, in
 * terms of edges and with error bounds, are certain for such an edge or corner in doubles. What is
 * left are faces seen from so far away that all distances are one double, for which a second filter
 * compares differences of distances, and true near ties. */
#include "geom/nearer.h"

#include "geom/length.h"
#include "geom/orient.h"
#include "geom/ratio.h"

/* ---- Filter in doubles ----------------------------------------------------------------------- */

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

static bool in_range(double product) {
    return product > LEAST_PRODUCT && product < MOST_PRODUCT;
}

/* Whether the nearest point is certain to be the corner p[i]. */
static bool is_corner_nearest(carom_vec3 point, const carom_vec3 *p, int i) {
    int j = i == 2 ? 0 : i + 1, k = 3 - i - j;
    carom_vec3 u = carom_vec_sub(p[j], p[i]), v = carom_vec_sub(p[k], p[i]);
    carom_vec3 w = carom_vec_sub(point, p[i]);
    double away = carom_vec_largest(w);
    double both = CAROM_MAX(carom_vec_largest(u), carom_vec_largest(v)) * away;
    if (!in_range(both)) return carom_vec_compare(point, p[i]) == 0;
    return carom_vec_dot(u, w) < -DOT_ERROR * both && carom_vec_dot(v, w) < -DOT_ERROR * both;
}

/* Whether the nearest point is certain to lie on the edge from p[i] to p[j], ends included. */
static bool is_edge_nearest(carom_vec3 point, const carom_vec3 *p, int i, int j) {
    carom_vec3 u = carom_vec_sub(p[j], p[i]), v = carom_vec_sub(p[3 - i - j], p[i]);
    carom_vec3 wi = carom_vec_sub(point, p[i]), wj = carom_vec_sub(point, p[j]);
    double ui = carom_vec_dot(u, wi), uj = carom_vec_dot(u, wj);
    if (!(ui > 0.0)) return is_corner_nearest(point, p, i);
    if (!(uj < 0.0)) return is_corner_nearest(point, p, j);
    double both = CAROM_MAX(carom_vec_largest(u), carom_vec_largest(v));
    both *= CAROM_MAX(carom_vec_largest(wi), carom_vec_largest(wj));
    double error = DOT_ERROR * both;
    if (!in_range(both) || !(ui > error && uj < -error)) return false;
    double weight = ui * carom_vec_dot(v, wj) - uj * carom_vec_dot(v, wi);
    return weight < -WEIGHT_ERROR * both * both;
}

/* Whether the nearest point of b is certain to be one of a. */
static bool is_nearest_common(carom_vec3 point, const carom_triangle *a, const carom_triangle *b) {
    const carom_vec3 *p = b->corner;
    int common[3], count = 0;
    for (int i = 0; i < 3; ++i)
        if (carom_vec_compare(p[i], a->corner[0]) == 0 ||
            carom_vec_compare(p[i], a->corner[1]) == 0 ||
            carom_vec_compare(p[i], a->corner[2]) == 0)
            common[count++] = i;
    if (count == 3) return true;
    if (count == 2) return is_edge_nearest(point, p, common[0], common[1]);
    return count == 1 && is_corner_nearest(point, p, common[0]);
}

/* With a corner r of a, v = r - point and z = x - r, the squared distance of x is |v|^2 + f(z) with
 * f(z) = |z|^2 + 2 z . v. From far away z is much shorter than v, and f tells faces apart that
 * their rounded distances do not. Of a, the best corner is an upper bound; of b, 2 z . v at the
 * best corner is a lower one. With Z and V the largest coordinates, f is off by at most 64 e Z (Z +
 * V), as is 2 z . v, in the same way as above. */
#define LIFT_ERROR 0x1p-46

/* Whether the bounds from the corners prove that a is nearer than b. */
static bool is_surely_nearer(carom_vec3 point, const carom_triangle *a, const carom_triangle *b) {
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
    return in_range(both) && near_b - near_a > LIFT_ERROR * both;
}

/* ---- Exact stage in integers ----------------------------------------------------------------- */

/* The g_ij times 2^(-2 base), at [i + j + (i and j both not 0)]: see G. */
typedef struct nearer_products {
    carom_big of[6];
} nearer_products;

/* 00 01 02 11 12 22 */
#define G(g, i, j) (&(g)->of[(i) + (j) + ((i) > 0 && (j) > 0 ? 1 : 0)])

static void products_make(carom_vec3 point, const carom_triangle *t, int base, int limbs,
                          nearer_products *g) {
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
            carom_big *sum = G(g, i, j);
            for (int l = 0; l < n; ++l) sum->limb[l] = 0;
            for (int k = 0; k < 3; ++k)
                carom_limbs_add_product(sum->limb, n, p[i][k], limbs, p[j][k], limbs, 0);
            carom_big_normalize(sum, n);
        }
    }
}

/* to = a - b. */
static void nearer_subtract(const carom_big *a, const carom_big *b, carom_big *to) {
    carom_big minus;
    carom_big_copy(b, &minus);
    minus.sign = -minus.sign;
    carom_big_copy(a, to);
    carom_big_add(to, &minus);
}

/* sum += a b. */
static void nearer_add_product(carom_big *sum, const carom_big *a, const carom_big *b) {
    carom_big product;
    carom_big_multiply(a, b, &product);
    carom_big_add(sum, &product);
}

/* The weight of corner k, and the squared distance when the nearest point lies inside the edge ij.
 */
static bool edge_distance(const nearer_products *g, int i, int j, int k, carom_big *weight,
                          carom_ratio *squared) {
    carom_big ri, rj, step;
    nearer_subtract(G(g, i, i), G(g, i, j), &ri);
    nearer_subtract(G(g, j, j), G(g, i, j), &rj);
    nearer_subtract(G(g, i, j), G(g, j, k), &step);
    carom_big_multiply(&ri, &step, weight);
    nearer_subtract(G(g, i, i), G(g, i, k), &step);
    nearer_add_product(weight, &rj, &step);
    if (ri.sign <= 0 || rj.sign <= 0 || weight->sign > 0) return false;
    carom_big_multiply(G(g, i, j), G(g, i, j), &squared->den);
    carom_big_multiply(G(g, i, i), G(g, j, j), &step);
    nearer_subtract(&step, &squared->den, &squared->num);
    carom_big_add(&ri, &rj);
    carom_big_copy(&ri, &squared->den);
    return true;
}

static void squared_distance(carom_vec3 point, const carom_triangle *t, int base, int limbs,
                             carom_ratio *squared) {
    nearer_products g;
    carom_big weight[3];
    products_make(point, t, base, limbs, &g);
    squared->exponent = 0; /* in units of 2^(2 base) */
    carom_big_set(&squared->den, 1, 1);
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        carom_big over;
        nearer_subtract(G(&g, i, i), G(&g, i, j), &over);
        if (over.sign > 0) continue;
        nearer_subtract(G(&g, i, i), G(&g, i, k), &over);
        if (over.sign > 0) continue;
        carom_big_copy(G(&g, i, i), &squared->num);
        return;
    }
    for (int k = 0; k < 3; ++k)
        if (edge_distance(&g, (k + 1) % 3, (k + 2) % 3, k, &weight[k], squared)) return;
    carom_big_set(&squared->num, 0, 0);
    carom_big_set(&squared->den, 0, 0);
    for (int k = 0; k < 3; ++k) {
        nearer_add_product(&squared->num, &weight[k], G(&g, 0, k));
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
    int base = carom_limbs_base(x, 21, &limbs);
    squared_distance(point, a, base, limbs, &of_a);
    squared_distance(point, b, base, limbs, &of_b);
    return carom_ratio_compare(&of_a, &of_b) <= 0;
}

bool carom_not_farther(carom_vec3 point, const carom_triangle *a, const carom_triangle *b) {
    if (is_nearest_common(point, a, b) || is_surely_nearer(point, a, b)) return true;
    return !is_surely_nearer(point, b, a) && not_farther_in_integers(point, a, b);
}
