/* SPDX-License-Identifier: MIT */
/* orient.h: exact signs of orientation determinants, as items.
 *
 * Four stages, each only for what the previous one leaves undecided:
 *   1. the determinant in doubles with an error bound: decides nearly all;
 *   2. integers of 128 bits, when coordinates have no more bits than a float32 and all differences
 *      are multiples of one power of two, below 2^41 of them: so for nearly all float32 meshes;
 *   3. expansions (expansion.h), when every coordinate is 0 or in
 *      [CAROM_ORIENT_LEAST, CAROM_ORIENT_MOST] = [2^-306, 2^330] in magnitude;
 *   4. wide integers (big_integer.h), for any finite doubles.
 *
 * Why stage 1 is right. With e = 2^-53, each of the six terms u v w of the determinant passes
 * through at most 8 roundings: three differences, two products, and two or three sums. So the
 * computed determinant is within 8.01 e of the sum of the terms' magnitudes; the bound takes 10 e,
 * which also covers the roundings of that sum. A product that underflows is off by at most 2^-1075
 * and is then multiplied by at most one difference: 2^-1070 (1 + their sum) would cover all of
 * them, and 2^-1000 keeps the bound itself out of the subnormals, which are slow. When anything
 * overflows the bound is infinite or NaN and the stage is undecided.
 *
 * Why stage 2 is right. Differences below 2^41 have products below 2^82, their differences are
 * below 2^83, and the three terms below 2^124 each: no sum reaches 2^127. It matters on a GPU,
 * where the loops of an expansion take as long for one sign as for ten thousand.
 *
 * Why stage 3 is right. A double of magnitude at least 2^-306 is a multiple of 2^-358, so
 * differences are, and every component of a product of three is a multiple of 2^-1074 and hence
 * representable: nothing underflows. Differences are at most 2^331 and all partial sums of
 * determinants below 2^996 + 2^995: nothing overflows, and no factor that is split exceeds 2^664.
 */
#ifndef CAROM_SRC_GEOM_ORIENT_H
#define CAROM_SRC_GEOM_ORIENT_H

#include "base/power.h"
#include "geom/big_integer.h"
#include "geom/expansion.h"
#include "geom/vec.h"

#define CAROM_ORIENT_LEAST 0x1p-306
#define CAROM_ORIENT_MOST  0x1p330

/* 10 e, 6 e and the share of underflow, as explained above. */
#define CAROM_ORIENT3D_ERROR   0x1.4p-50
#define CAROM_ORIENT2D_ERROR   0x1.8p-51
#define CAROM_ORIENT_UNDERFLOW 0x1p-1000
#define CAROM_ORIENT_UNDECIDED 2

CAROM_ITEM int carom_orient_in_range(const double *x, int count) {
    for (int i = 0; i < count; ++i) {
        double size = fabs(x[i]);
        if (!(size <= CAROM_ORIENT_MOST) || (size < CAROM_ORIENT_LEAST && size != 0.0)) return 0;
    }
    return 1;
}

/* ---- Stage 2 --------------------------------------------------------------------------------- */

#define CAROM_ORIENT_UNIT_BITS 41 /* of a difference at most: see above */
#define CAROM_ORIENT_UNIT_MOST 9  /* differences: of three points in space from a fourth */
/* Differences above the size, or below its inverse, are left to other stages: the unit of the
 * others and its inverse are normal numbers. */
#define CAROM_ORIENT_UNIT_SIZE 0x1p900

/* Whether all have at most the 24 bits of a float32. That others have room is rare: they are not
 * worth the attempt. */
CAROM_ITEM int carom_orient_are_short(const double *x, int count) {
    for (int i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof(bits));
        if ((bits & ((UINT64_C(1) << 29) - 1)) != 0) return 0;
    }
    return 1;
}

/* The differences to[i] - from[i] as integers, in units of one power of two; 0 when a difference is
 * rounded, or no unit is fine enough. */
CAROM_ITEM int carom_orient_units(const double *from, const double *to, int count, int64_t *units) {
    double differences[CAROM_ORIENT_UNIT_MOST], most = 0.0;
    for (int i = 0; i < count; ++i) {
        double tail;
        carom_two_diff(to[i], from[i], &differences[i], &tail);
        if (tail != 0.0) return 0; /* or NaN, where the difference is infinite */
        most = CAROM_MAX(fabs(differences[i]), most);
    }
    if (!(most >= 1.0 / CAROM_ORIENT_UNIT_SIZE && most <= CAROM_ORIENT_UNIT_SIZE)) return 0;
    uint64_t bits;
    memcpy(&bits, &most, sizeof(bits));
    double per_unit = carom_power_of_two(CAROM_ORIENT_UNIT_BITS - 1 - ((int)(bits >> 52) - 1023));
    for (int i = 0; i < count; ++i) {
        double scaled = differences[i] * per_unit;
        units[i] = (int64_t)scaled;
        if ((double)units[i] != scaled || (units[i] == 0 && differences[i] != 0.0)) return 0;
    }
    return 1;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 carom_orient_wide;

CAROM_ITEM int carom_orient_sign(carom_orient_wide x) {
    return (x > 0) - (x < 0);
}

CAROM_ITEM carom_orient_wide carom_orient_minor(int64_t u, int64_t v2, int64_t u2, int64_t v) {
    return (carom_orient_wide)u * v2 - (carom_orient_wide)u2 * v;
}

/* The sign, or CAROM_ORIENT_UNDECIDED; x holds a, b, c. */
CAROM_ITEM int carom_orient2d_integers(const double *x) {
    int64_t d[4];
    double from[4];
    for (int i = 0; i < 4; ++i) from[i] = x[i % 2];
    if (!carom_orient_are_short(x, 6) || !carom_orient_units(from, x + 2, 4, d))
        return CAROM_ORIENT_UNDECIDED;
    return carom_orient_sign(carom_orient_minor(d[0], d[3], d[1], d[2]));
}

/* The same; x holds a, b, c, d. */
CAROM_ITEM int carom_orient3d_integers(const double *x) {
    int64_t d[9];
    double from[9];
    carom_orient_wide sum = 0;
    for (int i = 0; i < 9; ++i) from[i] = x[i % 3];
    if (!carom_orient_are_short(x, 12) || !carom_orient_units(from, x + 3, 9, d))
        return CAROM_ORIENT_UNDECIDED;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        sum += carom_orient_minor(d[i], d[3 + j], d[j], d[3 + i]) * d[6 + k];
    }
    return carom_orient_sign(sum);
}
#else
CAROM_ITEM int carom_orient2d_integers(const double *x) {
    return (void)x, CAROM_ORIENT_UNDECIDED;
}

CAROM_ITEM int carom_orient3d_integers(const double *x) {
    return (void)x, CAROM_ORIENT_UNDECIDED;
}
#endif

/* ---- Orientation in the plane ---------------------------------------------------------------- */

/* h = u v' - u' v of expansions of one or two components; returns the length, at most 16. */
CAROM_ITEM int carom_expansion_minor(const double *u, int nu, const double *v2, int nv2,
                                     const double *u2, int nu2, const double *v, int nv,
                                     double *h) {
    double left[8], right[8], scratch[8];
    int nl = carom_expansion_product(u, nu, v2, nv2, left, scratch);
    int nr = carom_expansion_product(u2, nu2, v, nv, right, scratch);
    for (int i = 0; i < nr; ++i) right[i] = -right[i];
    return carom_expansion_sum(left, nl, right, nr, h);
}

/* Stages 3 and 4; x holds a, b, c. */
CAROM_RARE_ITEM int carom_orient2d_expanded(const double *x) {
    double u[2][2], v[2][2], h[16];
    int nu[2], nv[2];
    if (!carom_orient_in_range(x, 6)) return carom_limbs_orient2d(x);
    for (int k = 0; k < 2; ++k) {
        nu[k] = carom_expansion_diff(x[2 + k], x[k], u[k]);
        nv[k] = carom_expansion_diff(x[4 + k], x[k], v[k]);
    }
    return carom_expansion_sign(
        h, carom_expansion_minor(u[0], nu[0], v[1], nv[1], u[1], nu[1], v[0], nv[0], h));
}

/* Stages 2 to 4. */
CAROM_RARE_ITEM int carom_orient2d_exact(const double *x) {
    /* A difference is zero only where coordinates are equal: both products vanish, as on lines
     * along an axis, which designed models are full of. */
    if ((x[2] == x[0] || x[5] == x[1]) && (x[3] == x[1] || x[4] == x[0])) return 0;
    int sign = carom_orient2d_integers(x);
    return sign != CAROM_ORIENT_UNDECIDED ? sign : carom_orient2d_expanded(x);
}

/* Stage 1: the sign, or CAROM_ORIENT_UNDECIDED. */
CAROM_ITEM int carom_orient2d_filter(double ax, double ay, double bx, double by, double cx,
                                     double cy) {
    double ux = bx - ax, uy = by - ay, vx = cx - ax, vy = cy - ay;
    double left = ux * vy, right = uy * vx, det = left - right;
    double error = CAROM_ORIENT2D_ERROR * (fabs(left) + fabs(right)) + CAROM_ORIENT_UNDERFLOW;
    return det > error ? 1 : det < -error ? -1 : CAROM_ORIENT_UNDECIDED;
}

/* 1 when a, b, c turn left (counter-clockwise), -1 when right, 0 when collinear. Finite input. */
CAROM_ITEM int carom_orient2d(double ax, double ay, double bx, double by, double cx, double cy) {
    double x[6];
    int sign = carom_orient2d_filter(ax, ay, bx, by, cx, cy);
    if (sign != CAROM_ORIENT_UNDECIDED) return sign;
    x[0] = ax, x[1] = ay, x[2] = bx, x[3] = by, x[4] = cx, x[5] = cy;
    return carom_orient2d_exact(x);
}

/* The same after projection along an axis (0, 1, 2 for x, y, z), which is the sign of that
 * component of the normal (b - a) x (c - a). */
CAROM_ITEM int carom_orient_along(carom_vec3 a, carom_vec3 b, carom_vec3 c, int axis) {
    if (axis == 0) return carom_orient2d(a.y, a.z, b.y, b.z, c.y, c.z);
    if (axis == 1) return carom_orient2d(a.z, a.x, b.z, b.x, c.z, c.x);
    return carom_orient2d(a.x, a.y, b.x, b.y, c.x, c.y);
}

/* Stage 1 of that. */
CAROM_ITEM int carom_orient_along_filter(carom_vec3 a, carom_vec3 b, carom_vec3 c, int axis) {
    if (axis == 0) return carom_orient2d_filter(a.y, a.z, b.y, b.z, c.y, c.z);
    if (axis == 1) return carom_orient2d_filter(a.z, a.x, b.z, b.x, c.z, c.x);
    return carom_orient2d_filter(a.x, a.y, b.x, b.y, c.x, c.y);
}

/* An axis along which a, b, c do not project onto a line, or -1 when they are collinear. One that
 * doubles are certain of, if there is one: triangles across an axis need no exact sign then. */
CAROM_ITEM int carom_orient_axis(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    if (carom_orient2d_filter(a.x, a.y, b.x, b.y, c.x, c.y) != CAROM_ORIENT_UNDECIDED) return 2;
    if (carom_orient2d_filter(a.z, a.x, b.z, b.x, c.z, c.x) != CAROM_ORIENT_UNDECIDED) return 1;
    if (carom_orient2d_filter(a.y, a.z, b.y, b.z, c.y, c.z) != CAROM_ORIENT_UNDECIDED) return 0;
    for (int axis = 2; axis >= 0; --axis)
        if (carom_orient_along(a, b, c, axis) != 0) return axis;
    return -1;
}

/* ---- Orientation in space -------------------------------------------------------------------- */

CAROM_ITEM void carom_vec_store(carom_vec3 a, double *x) {
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

/* The determinant itself, as an expansion of up to 192 components; x holds a, b, c, d, all in
 * range. Returns its length. */
CAROM_RARE_ITEM int carom_orient3d_expansion(const double *x, double *sum) {
    double u[3][2], v[3][2], w[3][2], minor[16], scratch[64], term[64], old[128];
    int nu[3], nv[3], nw[3], n = 0;
    for (int k = 0; k < 3; ++k) {
        nu[k] = carom_expansion_diff(x[3 + k], x[k], u[k]);
        nv[k] = carom_expansion_diff(x[6 + k], x[k], v[k]);
        nw[k] = carom_expansion_diff(x[9 + k], x[k], w[k]);
    }
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        int nm = carom_expansion_minor(u[i], nu[i], v[j], nv[j], u[j], nu[j], v[i], nv[i], minor);
        int nt = carom_expansion_product(minor, nm, w[k], nw[k], term, scratch);
        for (int l = 0; l < n; ++l) old[l] = sum[l];
        n = carom_expansion_sum(old, n, term, nt, sum);
    }
    return n;
}

/* Stages 3 and 4; x holds a, b, c, d. */
CAROM_RARE_ITEM int carom_orient3d_expanded(const double *x) {
    double sum[192];
    if (!carom_orient_in_range(x, 12)) return carom_limbs_orient3d(x);
    return carom_expansion_sign(sum, carom_orient3d_expansion(x, sum));
}

/* Stages 2 to 4. */
CAROM_RARE_ITEM int carom_orient3d_exact(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
    double x[12];
    carom_vec_store(a, x);
    carom_vec_store(b, x + 3);
    carom_vec_store(c, x + 6);
    carom_vec_store(d, x + 9);
    for (int k = 0; k < 3; ++k) /* coplanar across an axis, as in many designed models */
        if (x[k] == x[3 + k] && x[k] == x[6 + k] && x[k] == x[9 + k]) return 0;
    for (int i = 0; i < 9; i += 3) /* equal points, as where copies meet */
        for (int j = i + 3; j < 12; j += 3)
            if (x[i] == x[j] && x[i + 1] == x[j + 1] && x[i + 2] == x[j + 2]) return 0;
    int sign = carom_orient3d_integers(x);
    return sign != CAROM_ORIENT_UNDECIDED ? sign : carom_orient3d_expanded(x);
}

/* Stage 1: the sign, or CAROM_ORIENT_UNDECIDED. */
CAROM_ITEM int carom_orient3d_filter(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
    carom_vec3 u = carom_vec_sub(b, a), v = carom_vec_sub(c, a), w = carom_vec_sub(d, a);
    double yz = u.y * v.z, zy = u.z * v.y, zx = u.z * v.x;
    double xz = u.x * v.z, xy = u.x * v.y, yx = u.y * v.x;
    double wx = fabs(w.x), wy = fabs(w.y), wz = fabs(w.z);
    double det = ((yz - zy) * w.x + (zx - xz) * w.y) + (xy - yx) * w.z;
    double terms =
        ((fabs(yz) + fabs(zy)) * wx + (fabs(zx) + fabs(xz)) * wy) + (fabs(xy) + fabs(yx)) * wz;
    double error = CAROM_ORIENT3D_ERROR * terms + CAROM_ORIENT_UNDERFLOW * ((wx + wy) + (wz + 1.0));
    return det > error ? 1 : det < -error ? -1 : CAROM_ORIENT_UNDECIDED;
}

/* The side of the plane through a, b, c on which d lies: 1 when that of the normal
 * (b - a) x (c - a), -1 when the other, 0 when the four points are coplanar. Finite input. */
CAROM_ITEM int carom_orient3d(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
    int sign = carom_orient3d_filter(a, b, c, d);
    return sign != CAROM_ORIENT_UNDECIDED ? sign : carom_orient3d_exact(a, b, c, d);
}

#endif
