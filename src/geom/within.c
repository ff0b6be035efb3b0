/* SPDX-License-Identifier: MIT */
/* Whether two triangles are within a given distance, in integers.
 *
 * Triangles that do not meet are nearest at two corners, a corner and an edge, a corner and a face,
 * or two edges, each with its foot inside. "Foot inside" is the sign of a polynomial of degree four
 * in differences of coordinates, "near enough" one of degree six at most. All are computed in
 * integers, as in big_integer.h: every finite double is an integer times a common power of two. */
#include "geom/within.h"

#include "geom/triangle_item.h"

/* Six differences, each of CAROM_DOUBLE_LIMBS, and the carries of the sums between. */
#define WITHIN_LIMBS (6 * CAROM_DOUBLE_LIMBS + 8)

/* Sign and magnitude; no leading zero limbs; zero has sign 0 and no limbs. */
typedef struct within_big {
    int sign, count;
    uint32_t limb[WITHIN_LIMBS];
} within_big;

typedef struct big3 {
    within_big x[3];
} big3;

/* ---- Integers -------------------------------------------------------------------------------- */

static void within_normalize(within_big *a, int sign) {
    while (a->count > 0 && a->limb[a->count - 1] == 0) --a->count;
    a->sign = a->count == 0 ? 0 : sign;
}

static void within_load(double x, int base, within_big *to) {
    int exponent;
    uint64_t mantissa = carom_double_mantissa(x, &exponent);
    to->count = 0;
    if (mantissa != 0) {
        int limb = (exponent - base) / 32, shift = (exponent - base) % 32;
        uint64_t low = (mantissa & UINT32_MAX) << shift, high = (mantissa >> 32) << shift;
        high += low >> 32;
        while (to->count < limb) to->limb[to->count++] = 0;
        to->limb[to->count++] = (uint32_t)low;
        to->limb[to->count++] = (uint32_t)high;
        to->limb[to->count++] = (uint32_t)(high >> 32);
    }
    within_normalize(to, x < 0.0 ? -1 : 1);
}

static int compare_sizes(const within_big *a, const within_big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; --i)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static int within_compare(const within_big *a, const within_big *b) {
    if (a->sign != b->sign) return a->sign < b->sign ? -1 : 1;
    return a->sign * compare_sizes(a, b);
}

/* to += sign * b; to and b are distinct. */
static void within_add(within_big *to, const within_big *b, int sign) {
    int sign_b = sign * b->sign;
    if (sign_b == 0) return;
    if (to->sign == 0 || to->sign == sign_b) {
        uint64_t carry = 0;
        for (; to->count < b->count; ++to->count) to->limb[to->count] = 0;
        for (int i = 0; i < to->count; ++i) {
            carry += (uint64_t)to->limb[i] + (i < b->count ? b->limb[i] : 0);
            to->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
        to->limb[to->count++] = (uint32_t)carry;
        within_normalize(to, sign_b);
        return;
    }
    int order = compare_sizes(to, b);
    int64_t borrow = 0;
    for (; to->count < b->count; ++to->count) to->limb[to->count] = 0;
    for (int i = 0; i < to->count; ++i) {
        int64_t mine = to->limb[i], other = i < b->count ? b->limb[i] : 0;
        borrow += order >= 0 ? mine - other : other - mine;
        to->limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    within_normalize(to, order >= 0 ? to->sign : sign_b);
}

/* to = a b; to is distinct from both. */
static void within_multiply(const within_big *a, const within_big *b, within_big *to) {
    to->count = a->count + b->count;
    for (int i = 0; i < to->count; ++i) to->limb[i] = 0;
    for (int i = 0; i < a->count; ++i) {
        uint64_t carry = 0;
        for (int j = 0; j < b->count; ++j) {
            carry += (uint64_t)a->limb[i] * b->limb[j] + to->limb[i + j];
            to->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        to->limb[i + b->count] = (uint32_t)carry;
    }
    within_normalize(to, a->sign * b->sign);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void within_subtract(const big3 *a, const big3 *b, big3 *to) {
    for (int k = 0; k < 3; ++k) {
        to->x[k].sign = a->x[k].sign;
        to->x[k].count = a->x[k].count;
        for (int i = 0; i < a->x[k].count; ++i) to->x[k].limb[i] = a->x[k].limb[i];
        within_add(&to->x[k], &b->x[k], -1);
    }
}

static void within_dot(const big3 *a, const big3 *b, within_big *to) {
    within_big product;
    to->sign = to->count = 0;
    for (int k = 0; k < 3; ++k) {
        within_multiply(&a->x[k], &b->x[k], &product);
        within_add(to, &product, 1);
    }
}

static void within_cross(const big3 *a, const big3 *b, big3 *to) {
    within_big product;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        within_multiply(&a->x[i], &b->x[j], &to->x[k]);
        within_multiply(&a->x[j], &b->x[i], &product);
        within_add(&to->x[k], &product, -1);
    }
}

/* ---- Corners, edges and faces ---------------------------------------------------------------- */

/* left <= reach^2 factor? */
static bool within_near_enough(const within_big *left, const within_big *squared_reach,
                               const within_big *factor) {
    within_big right;
    within_multiply(squared_reach, factor, &right);
    return within_compare(left, &right) <= 0;
}

static bool points_near(const big3 *p, const big3 *q, const within_big *squared_reach) {
    big3 w;
    within_big squared;
    within_subtract(p, q, &w);
    within_dot(&w, &w, &squared);
    return within_compare(&squared, squared_reach) <= 0;
}

/* With its foot inside the edge from q to r. */
static bool point_edge_near(const big3 *p, const big3 *q, const big3 *r,
                            const within_big *squared_reach) {
    big3 u, w;
    within_big along, length, squared, left, square;
    within_subtract(r, q, &u);
    within_subtract(p, q, &w);
    within_dot(&w, &u, &along);
    within_dot(&u, &u, &length);
    if (along.sign <= 0 || within_compare(&along, &length) >= 0) return false;
    within_dot(&w, &w, &squared);
    within_multiply(&squared, &length, &left);
    within_multiply(&along, &along, &square);
    within_add(&left, &square, -1);
    return within_near_enough(&left, squared_reach, &length);
}

/* Whether w is within the reach along a normal n (not zero). */
static bool across_near(const big3 *w, const big3 *n, const within_big *squared_normal,
                        const within_big *squared_reach) {
    within_big height, left;
    within_dot(w, n, &height);
    within_multiply(&height, &height, &left);
    return within_near_enough(&left, squared_reach, squared_normal);
}

/* The foot's parameter, a.n / n.n with a = w x edge, inside [0, 1]? */
static bool parameter_inside(const big3 *w, const big3 *edge, const big3 *n,
                             const within_big *squared_normal) {
    big3 a;
    within_big parameter;
    within_cross(w, edge, &a);
    within_dot(&a, n, &parameter);
    return parameter.sign >= 0 && within_compare(&parameter, squared_normal) <= 0;
}

/* Edges p0 p1 and q0 q1 that are not parallel, with both feet inside: p0 + s u and q0 + t v differ
 * by a multiple of n = u x v, so that (w x v).n = s n.n and (w x u).n = t n.n. */
static bool edges_near(const big3 *p0, const big3 *p1, const big3 *q0, const big3 *q1,
                       const within_big *squared_reach) {
    big3 u, v, w, n;
    within_big squared_normal;
    within_subtract(p1, p0, &u);
    within_subtract(q1, q0, &v);
    within_cross(&u, &v, &n);
    within_dot(&n, &n, &squared_normal);
    if (squared_normal.sign == 0) return false;
    within_subtract(q0, p0, &w);
    return across_near(&w, &n, &squared_normal, squared_reach) &&
           parameter_inside(&w, &v, &n, &squared_normal) &&
           parameter_inside(&w, &u, &n, &squared_normal);
}

static bool point_face_near(const big3 *p, const big3 *face, const within_big *squared_reach) {
    big3 u, v, w, n, side;
    within_big squared_normal, inside;
    within_subtract(&face[1], &face[0], &u);
    within_subtract(&face[2], &face[0], &v);
    within_cross(&u, &v, &n);
    within_dot(&n, &n, &squared_normal);
    if (squared_normal.sign == 0) return false;
    within_subtract(p, &face[0], &w);
    if (!across_near(&w, &n, &squared_normal, squared_reach)) return false;
    for (int i = 0; i < 3; ++i) {
        within_subtract(&face[(i + 1) % 3], &face[i], &u);
        within_subtract(p, &face[i], &w);
        within_cross(&u, &w, &side);
        within_dot(&side, &n, &inside);
        if (inside.sign < 0) return false;
    }
    return true;
}

static bool features_near(const big3 *a, const big3 *b, const within_big *squared_reach) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (points_near(&a[i], &b[j], squared_reach)) return true;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (point_edge_near(&a[i], &b[j], &b[(j + 1) % 3], squared_reach) ||
                point_edge_near(&b[i], &a[j], &a[(j + 1) % 3], squared_reach))
                return true;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (edges_near(&a[i], &a[(i + 1) % 3], &b[j], &b[(j + 1) % 3], squared_reach))
                return true;
    for (int i = 0; i < 3; ++i)
        if (point_face_near(&a[i], b, squared_reach) || point_face_near(&b[i], a, squared_reach))
            return true;
    return false;
}

bool carom_within_exact(const carom_triangle *a, const carom_triangle *b, double reach) {
    double x[19];
    big3 corners[6];
    within_big length, squared_reach;
    int limbs;
    if (carom_triangle_meet(a, b)) return true;
    if (reach == 0.0) return false;
    for (int i = 0; i < 6; ++i) {
        carom_vec3 p = i < 3 ? a->corner[i] : b->corner[i - 3];
        x[3 * i] = p.x;
        x[3 * i + 1] = p.y;
        x[3 * i + 2] = p.z;
    }
    x[18] = reach;
    int base = carom_limbs_base(x, 19, &limbs);
    for (int i = 0; i < 18; ++i) within_load(x[i], base, &corners[i / 3].x[i % 3]);
    within_load(reach, base, &length);
    within_multiply(&length, &length, &squared_reach);
    return features_near(corners, corners + 3, &squared_reach);
}
