/* SPDX-License-Identifier: MIT */
/* triangle_filter.h: whether two triangles meet, the filter: doubles with one error bound per pair.
 *
 * All determinants of a pair take differences of its corners, so the extents X, Y, Z of the pair's
 * box bound them all: with e = 2^-53, six terms of 8 roundings each are off by at most 48.1 e X Y Z
 * plus underflow (orient.h). The bound is 64 e X Y Z + 2^-1000 (X + Y + Z + 1)^2: its second part
 * stands for underflow and is infinite, hence everything undecided, when a product of two
 * differences could overflow, as its first is for three. A yes or a no is certain; the rest goes to
 * triangle_item.h. No sign here is zero, so a yes means that both are triangles of positive area
 * whose relative interiors cross.
 *
 * Plane against plane, then the two intervals on the common line compared by two orientations
 * (Devillers, Guigue 2002). With D = normal of a x normal of b and each triangle written from its
 * corner p that is alone on its side t of the other's plane, corners p, q, r in cyclic order:
 *   the interval of a along D goes from edge pr to edge pq when t > 0, else from pq to pr;
 *   that of b the other way round;
 *   the point of edge (p, x) of a lies before that of edge (p', y) of b
 *     if and only if orient3d(p, x, p', y) t t' > 0. */
#ifndef CAROM_SRC_GEOM_TRIANGLE_FILTER_H
#define CAROM_SRC_GEOM_TRIANGLE_FILTER_H

#include "geom/orient.h"

#define CAROM_NO        0
#define CAROM_YES       1
#define CAROM_UNDECIDED 2

/* Largest minus least of six: no computed difference of two of them is larger. */
CAROM_ITEM double carom_extent_of_six(double a, double b, double c, double d, double e, double f) {
    double ab_low = CAROM_MIN(a, b), ab_high = CAROM_MAX(a, b);
    double cd_low = CAROM_MIN(c, d), cd_high = CAROM_MAX(c, d);
    double ef_low = CAROM_MIN(e, f), ef_high = CAROM_MAX(e, f);
    double low = CAROM_MIN(ab_low, cd_low), high = CAROM_MAX(ab_high, cd_high);
    return CAROM_MAX(high, ef_high) - CAROM_MIN(low, ef_low);
}

/* Per product of extents, of which the bound has 8: 64 e, as explained above, is 8 times it. */
#define CAROM_PAIR_ERROR 0x1p-50

/* The bound, one text for doubles, floats and lanes of both. `unit` is 2^3 times the unit roundoff,
 * `underflow` the factor of the second part. */
#define CAROM_ORIENT_ERROR(unit, underflow, x, y, z)                                               \
    ((unit) * (8 * (x) * (y) * (z)) +                                                              \
     (underflow) * ((((x) + (y)) + ((z) + 1)) * (((x) + (y)) + ((z) + 1))))

/* Above it a determinant of differences bounded by x, y, z has the sign of its computed value. */
CAROM_ITEM double carom_orient_error(double x, double y, double z) {
    return CAROM_ORIENT_ERROR(CAROM_PAIR_ERROR, CAROM_ORIENT_UNDERFLOW, x, y, z);
}

CAROM_ITEM double carom_pair_error(const carom_vec3 *a, const carom_vec3 *b) {
    return carom_orient_error(carom_extent_of_six(a[0].x, a[1].x, a[2].x, b[0].x, b[1].x, b[2].x),
                              carom_extent_of_six(a[0].y, a[1].y, a[2].y, b[0].y, b[1].y, b[2].y),
                              carom_extent_of_six(a[0].z, a[1].z, a[2].z, b[0].z, b[1].z, b[2].z));
}

/* All three on one side, beyond the error. */
CAROM_ITEM int carom_same_side(const double *d, double error) {
    double low = CAROM_MIN(d[0], d[1]), high = CAROM_MAX(d[0], d[1]);
    low = CAROM_MIN(low, d[2]);
    high = CAROM_MAX(high, d[2]);
    return low > error || high < -error;
}

/* The corner that is alone on its side, or -1 when a sign is uncertain; signs differ. */
CAROM_ITEM int carom_lone_corner(const double *d, double error) {
    int certain = (fabs(d[0]) > error) & (fabs(d[1]) > error) & (fabs(d[2]) > error);
    int s0 = d[0] > 0.0, s1 = d[1] > 0.0, s2 = d[2] > 0.0;
    return !certain ? -1 : s1 == s2 ? 0 : s0 == s2 ? 1 : 2;
}

/* The determinant that orient3d takes the sign of, within carom_pair_error. */
CAROM_ITEM double carom_orient3d_value(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
    return carom_vec_dot(carom_vec_cross(carom_vec_sub(b, a), carom_vec_sub(c, a)),
                         carom_vec_sub(d, a));
}

/* Whether the closed triangles have a point in common: CAROM_YES, CAROM_NO or CAROM_UNDECIDED. */
CAROM_ITEM int carom_triangle_filter(const carom_triangle *ta, const carom_triangle *tb) {
    const carom_vec3 *a = ta->corner, *b = tb->corner;
    double error = carom_pair_error(a, b), da[3], db[3];

    carom_vec3 nb = carom_vec_cross(carom_vec_sub(b[1], b[0]), carom_vec_sub(b[2], b[0]));
    for (int i = 0; i < 3; ++i) da[i] = carom_vec_dot(nb, carom_vec_sub(a[i], b[0]));
    if (carom_same_side(da, error)) return CAROM_NO;

    carom_vec3 na = carom_vec_cross(carom_vec_sub(a[1], a[0]), carom_vec_sub(a[2], a[0]));
    for (int i = 0; i < 3; ++i) db[i] = carom_vec_dot(na, carom_vec_sub(b[i], a[0]));
    if (carom_same_side(db, error)) return CAROM_NO;

    int ia = carom_lone_corner(da, error), ib = carom_lone_corner(db, error);
    if (ia < 0 || ib < 0) return CAROM_UNDECIDED;
    int ja = ia == 2 ? 0 : ia + 1, ka = 3 - ia - ja;
    int jb = ib == 2 ? 0 : ib + 1, kb = 3 - ib - jb;
    int up_a = da[ia] > 0.0, up_b = db[ib] > 0.0;
    double turn = up_a == up_b ? 1.0 : -1.0;
    int low_a = up_a ? ka : ja, high_a = up_a ? ja : ka;
    int low_b = up_b ? jb : kb, high_b = up_b ? kb : jb;
    double ahead = turn * carom_orient3d_value(a[ia], a[low_a], b[ib], b[high_b]);
    double behind = turn * carom_orient3d_value(a[ia], a[high_a], b[ib], b[low_b]);
    if (ahead < -error || behind > error) return CAROM_NO;
    return ahead > error && behind < -error ? CAROM_YES : CAROM_UNDECIDED;
}

#endif
