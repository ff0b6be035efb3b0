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
#define LIMBS (6 * CAROM_DOUBLE_LIMBS + 8)

/* Sign and magnitude; no leading zero limbs; zero has sign 0 and no limbs. */
typedef struct big {
    int sign, count;
    uint32_t limb[LIMBS];
} big;

typedef struct big3 {
    big x[3];
} big3;

/* ---- Integers -------------------------------------------------------------------------------- */

static void settle(big *a, int sign) {
    while (a->count > 0 && a->limb[a->count - 1] == 0) --a->count;
    a->sign = a->count == 0 ? 0 : sign;
}

static void load(double x, int base, big *to) {
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
    settle(to, x < 0.0 ? -1 : 1);
}

static int compare_sizes(const big *a, const big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; --i)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static int compare(const big *a, const big *b) {
    if (a->sign != b->sign) return a->sign < b->sign ? -1 : 1;
    return a->sign * compare_sizes(a, b);
}

/* to += sign * b; to and b are distinct. */
static void add(big *to, const big *b, int sign) {
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
        settle(to, sign_b);
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
    settle(to, order >= 0 ? to->sign : sign_b);
}

/* to = a b; to is distinct from both. */
static void multiply(const big *a, const big *b, big *to) {
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
    settle(to, a->sign * b->sign);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static void subtract(const big3 *a, const big3 *b, big3 *to) {
    for (int k = 0; k < 3; ++k) {
        to->x[k].sign = a->x[k].sign;
        to->x[k].count = a->x[k].count;
        for (int i = 0; i < a->x[k].count; ++i) to->x[k].limb[i] = a->x[k].limb[i];
        add(&to->x[k], &b->x[k], -1);
    }
}

static void dot(const big3 *a, const big3 *b, big *to) {
    big product;
    to->sign = to->count = 0;
    for (int k = 0; k < 3; ++k) {
        multiply(&a->x[k], &b->x[k], &product);
        add(to, &product, 1);
    }
}

static void cross(const big3 *a, const big3 *b, big3 *to) {
    big product;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        multiply(&a->x[i], &b->x[j], &to->x[k]);
        multiply(&a->x[j], &b->x[i], &product);
        add(&to->x[k], &product, -1);
    }
}

/* ---- Corners, edges and faces ---------------------------------------------------------------- */

/* left <= reach^2 factor? */
static bool near_enough(const big *left, const big *squared_reach, const big *factor) {
    big right;
    multiply(squared_reach, factor, &right);
    return compare(left, &right) <= 0;
}

static bool points_near(const big3 *p, const big3 *q, const big *squared_reach) {
    big3 w;
    big squared;
    subtract(p, q, &w);
    dot(&w, &w, &squared);
    return compare(&squared, squared_reach) <= 0;
}

/* With its foot inside the edge from q to r. */
static bool point_edge_near(const big3 *p, const big3 *q, const big3 *r, const big *squared_reach) {
    big3 u, w;
    big along, length, squared, left, square;
    subtract(r, q, &u);
    subtract(p, q, &w);
    dot(&w, &u, &along);
    dot(&u, &u, &length);
    if (along.sign <= 0 || compare(&along, &length) >= 0) return false;
    dot(&w, &w, &squared);
    multiply(&squared, &length, &left);
    multiply(&along, &along, &square);
    add(&left, &square, -1);
    return near_enough(&left, squared_reach, &length);
}

/* Whether w is within the reach along a normal n (not zero). */
static bool across_near(const big3 *w, const big3 *n, const big *squared_normal,
                        const big *squared_reach) {
    big height, left;
    dot(w, n, &height);
    multiply(&height, &height, &left);
    return near_enough(&left, squared_reach, squared_normal);
}

/* The foot's parameter, a.n / n.n with a = w x edge, inside [0, 1]? */
static bool parameter_inside(const big3 *w, const big3 *edge, const big3 *n,
                             const big *squared_normal) {
    big3 a;
    big parameter;
    cross(w, edge, &a);
    dot(&a, n, &parameter);
    return parameter.sign >= 0 && compare(&parameter, squared_normal) <= 0;
}

/* Edges p0 p1 and q0 q1 that are not parallel, with both feet inside: p0 + s u and q0 + t v differ
 * by a multiple of n = u x v, so that (w x v).n = s n.n and (w x u).n = t n.n. */
static bool edges_near(const big3 *p0, const big3 *p1, const big3 *q0, const big3 *q1,
                       const big *squared_reach) {
    big3 u, v, w, n;
    big squared_normal;
    subtract(p1, p0, &u);
    subtract(q1, q0, &v);
    cross(&u, &v, &n);
    dot(&n, &n, &squared_normal);
    if (squared_normal.sign == 0) return false;
    subtract(q0, p0, &w);
    return across_near(&w, &n, &squared_normal, squared_reach) &&
           parameter_inside(&w, &v, &n, &squared_normal) &&
           parameter_inside(&w, &u, &n, &squared_normal);
}

static bool point_face_near(const big3 *p, const big3 *face, const big *squared_reach) {
    big3 u, v, w, n, side;
    big squared_normal, inside;
    subtract(&face[1], &face[0], &u);
    subtract(&face[2], &face[0], &v);
    cross(&u, &v, &n);
    dot(&n, &n, &squared_normal);
    if (squared_normal.sign == 0) return false;
    subtract(p, &face[0], &w);
    if (!across_near(&w, &n, &squared_normal, squared_reach)) return false;
    for (int i = 0; i < 3; ++i) {
        subtract(&face[(i + 1) % 3], &face[i], &u);
        subtract(p, &face[i], &w);
        cross(&u, &w, &side);
        dot(&side, &n, &inside);
        if (inside.sign < 0) return false;
    }
    return true;
}

static bool features_near(const big3 *a, const big3 *b, const big *squared_reach) {
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
    big length, squared_reach;
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
    for (int i = 0; i < 18; ++i) load(x[i], base, &corners[i / 3].x[i % 3]);
    load(reach, base, &length);
    multiply(&length, &length, &squared_reach);
    return features_near(corners, corners + 3, &squared_reach);
}
