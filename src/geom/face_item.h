/* SPDX-License-Identifier: MIT */
/* face_item.h: whether a pair of faces of one soup is a self-intersection.
 *
 * Faces that share vertices always meet there; they count when they meet elsewhere too. The rules,
 * by the number of vertices with the same index:
 *   0  the closed faces meet;
 *   1  the edge opposite the common vertex in either face meets the other closed face: the
 *      intersection is more than that point;
 *   2  the faces are coplanar and their apexes on one side of the common edge: the intersection is
 *      an area;
 *   3  always.
 * A face with collinear corners is classified by itself (carom_face_degenerate) and takes part in
 * no pair. With as_segments it is the segment or point that it is, and a pair with it counts when
 * the faces meet outside the hull of their common vertices; the rules above are equivalent to that.
 *
 * Each case has its own filter: with one common vertex the sides of the four other corners decide
 * without any further orientation, with two a single orientation does. */
#ifndef CAROM_SRC_GEOM_FACE_ITEM_H
#define CAROM_SRC_GEOM_FACE_ITEM_H

#include <stdint.h>

#include "geom/triangle_item.h"

/* A face with collinear or equal corners: 1 or 0, exact. */
CAROM_ITEM int carom_face_degenerate(const carom_triangle *t) {
    return carom_orient_axis(t->corner[0], t->corner[1], t->corner[2]) < 0;
}

/* Of two products: their differences are rounded by 2^-53 each, and so are the products, three
 * roundings in all; 8 are given. */
#define CAROM_FACE_AREA_ERROR 0x1p-50

/* Whether a component of the normal shows that the area is certainly positive. It takes half a
 * nanosecond and avoids the exact test for nearly all triangles. */
CAROM_ITEM int carom_face_has_area(const carom_triangle *t) {
    carom_vec3 u = carom_vec_sub(t->corner[1], t->corner[0]);
    carom_vec3 v = carom_vec_sub(t->corner[2], t->corner[0]);
    double yz = u.y * v.z, zy = u.z * v.y, zx = u.z * v.x, xz = u.x * v.z, xy = u.x * v.y,
           yx = u.y * v.x;
    double e = CAROM_FACE_AREA_ERROR;
    return fabs(yz - zy) > e * (fabs(yz) + fabs(zy)) + CAROM_ORIENT_UNDERFLOW ||
           fabs(zx - xz) > e * (fabs(zx) + fabs(xz)) + CAROM_ORIENT_UNDERFLOW ||
           fabs(xy - yx) > e * (fabs(xy) + fabs(yx)) + CAROM_ORIENT_UNDERFLOW;
}

/* Vertices that two faces share: their corner indices in a and in b. Corners of one face with the
 * same vertex index count once. */
typedef struct carom_common {
    int count;
    int a[3], b[3];
} carom_common;

CAROM_ITEM carom_common carom_common_make(const uint32_t *a, const uint32_t *b) {
    carom_common common;
    common.count = 0;
    for (int i = 0; i < 3; ++i) common.a[i] = common.b[i] = 0;
    for (int i = 0; i < 3; ++i) {
        if ((i > 0 && a[i] == a[0]) || (i == 2 && a[2] == a[1])) continue;
        for (int j = 0; j < 3; ++j) {
            if (a[i] != b[j]) continue;
            common.a[common.count] = i;
            common.b[common.count++] = j;
            break;
        }
    }
    return common;
}

/* ---- Filters --------------------------------------------------------------------------------- */
/* Each returns CAROM_YES, CAROM_NO or CAROM_UNDECIDED. */

/* The triangles v a1 a2 and v b1 b2. Both intervals on the common line of the planes start at v.
 * They have the same direction, and the pair counts, if and only if the sides of a1 and b1 differ.
 */
CAROM_ITEM int carom_face_filter_1(carom_vec3 v, carom_vec3 a1, carom_vec3 a2, carom_vec3 b1,
                                   carom_vec3 b2) {
    double error = carom_orient_error(carom_extent_of_six(v.x, v.x, a1.x, a2.x, b1.x, b2.x),
                                      carom_extent_of_six(v.y, v.y, a1.y, a2.y, b1.y, b2.y),
                                      carom_extent_of_six(v.z, v.z, a1.z, a2.z, b1.z, b2.z));
    carom_vec3 u1 = carom_vec_sub(a1, v), u2 = carom_vec_sub(a2, v);
    carom_vec3 w1 = carom_vec_sub(b1, v), w2 = carom_vec_sub(b2, v);
    carom_vec3 na = carom_vec_cross(u1, u2), nb = carom_vec_cross(w1, w2);
    double sb1 = carom_vec_dot(na, w1), sb2 = carom_vec_dot(na, w2);
    double sa1 = carom_vec_dot(nb, u1), sa2 = carom_vec_dot(nb, u2);
    int b_up = (sb1 > error) & (sb2 > error), b_down = (sb1 < -error) & (sb2 < -error);
    int a_up = (sa1 > error) & (sa2 > error), a_down = (sa1 < -error) & (sa2 < -error);
    if (b_up | b_down | a_up | a_down) return CAROM_NO;
    int certain =
        (fabs(sb1) > error) & (fabs(sb2) > error) & (fabs(sa1) > error) & (fabs(sa2) > error);
    return !certain ? CAROM_UNDECIDED : (sa1 > 0.0) != (sb1 > 0.0) ? CAROM_YES : CAROM_NO;
}

/* Triangles on the edge e0 e1 with the apexes a and b. Never CAROM_YES. */
CAROM_ITEM int carom_face_filter_2(carom_vec3 e0, carom_vec3 e1, carom_vec3 a, carom_vec3 b) {
    return carom_orient3d_filter(e0, e1, a, b) != CAROM_ORIENT_UNDECIDED ? CAROM_NO
                                                                         : CAROM_UNDECIDED;
}

/* Any pair. `common` of 3 is undecided too: whether it counts depends on degeneracy. */
CAROM_ITEM int carom_face_filter(const carom_triangle *a, const carom_triangle *b,
                                 const carom_common *common) {
    int i = common->a[0], j = common->b[0];
    if (common->count == 0) return carom_triangle_filter(a, b);
    if (common->count == 1)
        return carom_face_filter_1(a->corner[i], a->corner[i == 2 ? 0 : i + 1],
                                   a->corner[i == 0 ? 2 : i - 1], b->corner[j == 2 ? 0 : j + 1],
                                   b->corner[j == 0 ? 2 : j - 1]);
    if (common->count == 2) {
        int apex_a = 3 - i - common->a[1], apex_b = 3 - j - common->b[1];
        return carom_face_filter_2(a->corner[i], a->corner[common->a[1]], a->corner[apex_a],
                                   b->corner[apex_b]);
    }
    return CAROM_UNDECIDED;
}

/* Whether the line of an edge of p, seen along an axis, certainly has the third corner of p on one
 * side and all corners of q on the other, but for common corners, which are ends of that edge.
 * shared_p and shared_q have a bit for each common corner. */
CAROM_ITEM int carom_face_edge_separates(const carom_vec3 *p, const carom_vec3 *q, int axis,
                                         unsigned shared_p, unsigned shared_q) {
    for (int i = 0; i < 3; ++i) {
        int next = i == 2 ? 0 : i + 1, third = 3 - i - next;
        int own = carom_orient_along_filter(p[i], p[next], p[third], axis);
        int apart = own != CAROM_ORIENT_UNDECIDED && (shared_p >> third & 1u) == 0;
        for (int j = 0; j < 3 && apart; ++j)
            if ((shared_q >> j & 1u) == 0)
                apart = carom_orient_along_filter(p[i], p[next], q[j], axis) == -own;
        if (apart) return 1;
    }
    return 0;
}

/* For what the filters above leave undecided, most of which are neighbours in a flat part of a
 * mesh: CAROM_NO when an edge separates the faces, seen along the axis of the largest component of
 * a's normal, else CAROM_UNDECIDED. Then they meet in the hull of their common vertices at most, in
 * whatever planes they lie. */
CAROM_RARE_ITEM int carom_face_filter_flat(const carom_triangle *a, const carom_triangle *b,
                                           const carom_common *common) {
    const carom_vec3 *p = a->corner, *q = b->corner;
    carom_vec3 n = carom_vec_cross(carom_vec_sub(p[1], p[0]), carom_vec_sub(p[2], p[0]));
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    unsigned shared_a = 0, shared_b = 0;
    if (common->count == 3) return CAROM_UNDECIDED;
    for (int i = 0; i < common->count; ++i) {
        shared_a |= 1u << common->a[i];
        shared_b |= 1u << common->b[i];
    }
    return carom_face_edge_separates(p, q, axis, shared_a, shared_b) ||
                   carom_face_edge_separates(q, p, axis, shared_b, shared_a)
               ? CAROM_NO
               : CAROM_UNDECIDED;
}

/* ---- Exact stage ----------------------------------------------------------------------------- */

/* Triangles on the edge e0 e1 with the apexes a and b; axis is one of the first's. */
CAROM_ITEM int carom_face_exact_2(carom_vec3 e0, carom_vec3 e1, carom_vec3 a, carom_vec3 b,
                                  int axis) {
    return carom_orient3d(e0, e1, a, b) == 0 &&
           carom_orient_along(e0, e1, a, axis) == carom_orient_along(e0, e1, b, axis);
}

/* In one plane: x lies in the closed cone from v over the edge p q. */
CAROM_ITEM int carom_in_cone(carom_vec3 v, carom_vec3 p, carom_vec3 q, carom_vec3 x, int axis) {
    int turn = carom_orient_along(v, p, q, axis);
    return turn * carom_orient_along(v, p, x, axis) >= 0 &&
           turn * carom_orient_along(v, x, q, axis) >= 0;
}

/* The triangles v p[0] p[1] and v q[0] q[1]: certain when they are coplanar or one lies on one side
 * of the other's plane, else CAROM_UNDECIDED. */
CAROM_ITEM int carom_face_exact_1(carom_vec3 v, const carom_vec3 *p, const carom_vec3 *q,
                                  int axis) {
    int q0 = carom_orient3d(v, p[0], p[1], q[0]), q1 = carom_orient3d(v, p[0], p[1], q[1]);
    if (q0 * q1 > 0) return CAROM_NO;
    if (q0 == 0 && q1 == 0)
        return carom_in_cone(v, p[0], p[1], q[0], axis) ||
               carom_in_cone(v, p[0], p[1], q[1], axis) ||
               carom_in_cone(v, q[0], q[1], p[0], axis) || carom_in_cone(v, q[0], q[1], p[1], axis);
    int p0 = carom_orient3d(v, q[0], q[1], p[0]), p1 = carom_orient3d(v, q[0], q[1], p[1]);
    return p0 * p1 > 0 ? CAROM_NO : CAROM_UNDECIDED;
}

/* Whether two overlapping segments of one line both extend beyond an end of [c0, c1]. */
CAROM_ITEM int carom_overlap_beyond(const carom_simplex *a, const carom_simplex *b, carom_vec3 c0,
                                    carom_vec3 c1) {
    carom_vec3 low = carom_vec_compare(c0, c1) < 0 ? c0 : c1;
    carom_vec3 high = carom_vec_compare(c0, c1) < 0 ? c1 : c0;
    return (carom_vec_compare(a->p[0], low) < 0 && carom_vec_compare(b->p[0], low) < 0) ||
           (carom_vec_compare(a->p[1], high) > 0 && carom_vec_compare(b->p[1], high) > 0);
}

/* Any pair except with three common vertices, by the dimension of the intersection. */
CAROM_RARE_ITEM int carom_face_pair_general(const carom_simplex *a, const carom_simplex *b,
                                            int common, carom_vec3 c0, carom_vec3 c1) {
    int dimension = carom_simplex_meet(a, b).dimension;
    if (common < 2) return dimension >= common;
    if (carom_vec_compare(c0, c1) == 0) return dimension >= 1;
    if (dimension == 1 && a->count == 2 && b->count == 2) return carom_overlap_beyond(a, b, c0, c1);
    return dimension == 2;
}

/* Does the pair count? 1 or 0. */
CAROM_RARE_ITEM int carom_face_pair_exact(const carom_triangle *a, const carom_triangle *b,
                                          const carom_common *common, int as_segments) {
    carom_simplex sa = carom_simplex_make(a), sb = carom_simplex_make(b);
    const carom_vec3 *p = a->corner, *q = b->corner;
    int thin = sa.count < 3 || sb.count < 3, i0 = common->a[0], j0 = common->b[0];
    int i1 = common->count == 2 ? common->a[1] : i0 == 2 ? 0 : i0 + 1, i2 = 3 - i0 - i1;
    int j1 = common->count == 2 ? common->b[1] : j0 == 2 ? 0 : j0 + 1, j2 = 3 - j0 - j1;
    if (thin && !as_segments) return 0;
    if (common->count == 3) return 1;
    if (common->count == 0) return carom_simplex_meet(&sa, &sb).dimension >= 0;
    if (!thin && common->count == 2) return carom_face_exact_2(p[i0], p[i1], p[i2], q[j2], sa.axis);
    if (!thin) {
        carom_vec3 from_a[2], from_b[2];
        from_a[0] = p[i1], from_a[1] = p[i2];
        from_b[0] = q[j1], from_b[1] = q[j2];
        int verdict = carom_face_exact_1(p[i0], from_a, from_b, sa.axis);
        if (verdict != CAROM_UNDECIDED) return verdict;
    }
    return carom_face_pair_general(&sa, &sb, common->count, p[i0], p[i1]);
}

/* Does the pair of two different faces count? 1 or 0; exact for any finite input. ia and ib are
 * the indices of their vertices. */
CAROM_ITEM int carom_face_pair(const carom_triangle *a, const uint32_t *ia, const carom_triangle *b,
                               const uint32_t *ib, int as_segments) {
    carom_common common = carom_common_make(ia, ib);
    int verdict = carom_face_filter(a, b, &common);
    if (verdict == CAROM_UNDECIDED) verdict = carom_face_filter_flat(a, b, &common);
    return verdict != CAROM_UNDECIDED ? verdict : carom_face_pair_exact(a, b, &common, as_segments);
}

#endif
