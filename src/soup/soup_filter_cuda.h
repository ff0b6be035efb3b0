/* SPDX-License-Identifier: MIT */
/* soup_filter_cuda.h: the filter in float32 on the GPU: whether a pair of triangles certainly does
 * not count.
 *
 * All determinants take differences of the corners of the pair. The error bound is that of
 * triangle_filter.h, with the unit roundoff of floats: six terms of at most 8 roundings each. Fused
 * operations make fewer roundings, so that the bound holds with them, too. */
#ifndef CAROM_SRC_SOUP_SOUP_FILTER_CUDA_H
#define CAROM_SRC_SOUP_SOUP_FILTER_CUDA_H

#include "carom/geom.h"
#include "geom/triangle_filter.h"
#include "soup/soup_filter_error.h"

/* ---- Triangles in sorted order --------------------------------------------------------------- */

/* A triangle as a record of three float4, in sorted order: nine coordinates, then the vertices, so
 * that those are one load. */
static __device__ inline void record_set(float4 *record, const carom_triangle &t,
                                         const uint32_t *vertices) {
    const carom_vec3 *p = t.corner;
    record[0] = make_float4((float)p[0].x, (float)p[0].y, (float)p[0].z, (float)p[1].x);
    record[1] = make_float4((float)p[1].y, (float)p[1].z, (float)p[2].x, (float)p[2].y);
    record[2] = make_float4((float)p[2].z, __uint_as_float(vertices[0]),
                            __uint_as_float(vertices[1]), __uint_as_float(vertices[2]));
}

struct soup_filter_cuda_vec {
    float x, y, z;
};

struct three {
    uint32_t v[3];
};

/* Gets corners and vertices. */
static __device__ inline three record_get(const float4 *record, soup_filter_cuda_vec *t) {
    float4 p = record[0], q = record[1], r = record[2];
    t[0] = soup_filter_cuda_vec{p.x, p.y, p.z};
    t[1] = soup_filter_cuda_vec{p.w, q.x, q.y};
    t[2] = soup_filter_cuda_vec{q.z, q.w, r.x};
    return three{{__float_as_uint(r.y), __float_as_uint(r.z), __float_as_uint(r.w)}};
}

static __device__ inline soup_filter_cuda_vec soup_filter_cuda_sub(soup_filter_cuda_vec a,
                                                                   soup_filter_cuda_vec b) {
    return soup_filter_cuda_vec{a.x - b.x, a.y - b.y, a.z - b.z};
}

static __device__ inline soup_filter_cuda_vec soup_filter_cuda_cross(soup_filter_cuda_vec a,
                                                                     soup_filter_cuda_vec b) {
    return soup_filter_cuda_vec{__fmaf_rn(a.y, b.z, -(a.z * b.y)),
                                __fmaf_rn(a.z, b.x, -(a.x * b.z)),
                                __fmaf_rn(a.x, b.y, -(a.y * b.x))};
}

static __device__ inline float soup_filter_cuda_dot(soup_filter_cuda_vec a,
                                                    soup_filter_cuda_vec b) {
    return __fmaf_rn(a.z, b.z, __fmaf_rn(a.y, b.y, a.x * b.x));
}

static __device__ inline float soup_filter_cuda_orient(soup_filter_cuda_vec a,
                                                       soup_filter_cuda_vec b,
                                                       soup_filter_cuda_vec c,
                                                       soup_filter_cuda_vec d) {
    return soup_filter_cuda_dot(
        soup_filter_cuda_cross(soup_filter_cuda_sub(b, a), soup_filter_cuda_sub(c, a)),
        soup_filter_cuda_sub(d, a));
}

/* ---- The test ---------------------------------------------------------------------------------
 */

/* The error of a determinant of differences that are at most x, y, z (soup_filter.h). */
static __device__ inline float error_of(float x, float y, float z) {
    return CAROM_ORIENT_ERROR(CAROM_FILTER_UNIT32, CAROM_FILTER_UNDERFLOW32, x, y, z);
}

static __device__ inline float most_of(float a, float b, float c, float d) {
    return fmaxf(fmaxf(fabsf(a), fabsf(b)), fmaxf(fabsf(c), fabsf(d)));
}

static __device__ inline float extent(float a, float b, float c, float d, float e, float f) {
    return fmaxf(fmaxf(fmaxf(a, b), fmaxf(c, d)), fmaxf(e, f)) -
           fminf(fminf(fminf(a, b), fminf(c, d)), fminf(e, f));
}

static __device__ inline float error_of_six(const soup_filter_cuda_vec *a,
                                            const soup_filter_cuda_vec *b) {
    return error_of(extent(a[0].x, a[1].x, a[2].x, b[0].x, b[1].x, b[2].x),
                    extent(a[0].y, a[1].y, a[2].y, b[0].y, b[1].y, b[2].y),
                    extent(a[0].z, a[1].z, a[2].z, b[0].z, b[1].z, b[2].z));
}

/* All corners of one triangle that are not common vertices lie strictly on one side of the other's
 * plane, and there is such a corner. Then the triangles meet in the hull of common vertices at
 * most, however many there are. One test for all pairs, so that the lanes of a warp stay together;
 * vertices are not compared in a search of two soups. */
static __device__ inline bool apart_by_planes(const soup_filter_cuda_vec *a,
                                              const soup_filter_cuda_vec *b, three va, three vb,
                                              bool cross_search) {
    float error = error_of_six(a, b);
    soup_filter_cuda_vec nb = soup_filter_cuda_cross(soup_filter_cuda_sub(b[1], b[0]),
                                                     soup_filter_cuda_sub(b[2], b[0])),
                         na = soup_filter_cuda_cross(soup_filter_cuda_sub(a[1], a[0]),
                                                     soup_filter_cuda_sub(a[2], a[0]));
    bool a_up = true, a_down = true, a_all = true, b_up = true, b_down = true, b_all = true;
    for (int i = 0; i < 3; ++i) {
        float da = soup_filter_cuda_dot(nb, soup_filter_cuda_sub(a[i], b[0])),
              db = soup_filter_cuda_dot(na, soup_filter_cuda_sub(b[i], a[0]));
        bool a_common = (va.v[i] == vb.v[0]) | (va.v[i] == vb.v[1]) | (va.v[i] == vb.v[2]);
        bool b_common = (vb.v[i] == va.v[0]) | (vb.v[i] == va.v[1]) | (vb.v[i] == va.v[2]);
        a_common &= !cross_search;
        b_common &= !cross_search;
        a_up &= a_common | (da > error);
        a_down &= a_common | (da < -error);
        a_all &= a_common;
        b_up &= b_common | (db > error);
        b_down &= b_common | (db < -error);
        b_all &= b_common;
    }
    return ((a_up | a_down) & !a_all) | ((b_up | b_down) & !b_all);
}

/* Turns a triangle so that its corner i comes first. */
static __device__ inline void soup_filter_cuda_turn(soup_filter_cuda_vec *t, int i) {
    soup_filter_cuda_vec t0 = t[0], t1 = t[1], t2 = t[2];
    t[0] = i == 0 ? t0 : i == 1 ? t1 : t2;
    t[1] = i == 0 ? t1 : i == 1 ? t2 : t0;
    t[2] = i == 0 ? t2 : i == 1 ? t0 : t1;
}

/* The corner that is alone on its side; -1 when a sign is uncertain. */
static __device__ inline int lone_corner(float d0, float d1, float d2, float error) {
    if (!(fminf(fminf(fabsf(d0), fabsf(d1)), fabsf(d2)) > error)) return -1;
    bool s0 = d0 > 0.0f, s1 = d1 > 0.0f, s2 = d2 > 0.0f;
    return s1 == s2 ? 0 : s0 == s2 ? 1 : 2;
}

/* No common vertex, each on both sides of the other's plane: the intervals on the common line, as
 * in triangle_filter.h. */
static __device__ inline bool apart_on_line(soup_filter_cuda_vec *a, soup_filter_cuda_vec *b) {
    float error = error_of_six(a, b);
    soup_filter_cuda_vec nb = soup_filter_cuda_cross(soup_filter_cuda_sub(b[1], b[0]),
                                                     soup_filter_cuda_sub(b[2], b[0])),
                         na = soup_filter_cuda_cross(soup_filter_cuda_sub(a[1], a[0]),
                                                     soup_filter_cuda_sub(a[2], a[0]));
    int ia = lone_corner(soup_filter_cuda_dot(nb, soup_filter_cuda_sub(a[0], b[0])),
                         soup_filter_cuda_dot(nb, soup_filter_cuda_sub(a[1], b[0])),
                         soup_filter_cuda_dot(nb, soup_filter_cuda_sub(a[2], b[0])), error);
    int ib = lone_corner(soup_filter_cuda_dot(na, soup_filter_cuda_sub(b[0], a[0])),
                         soup_filter_cuda_dot(na, soup_filter_cuda_sub(b[1], a[0])),
                         soup_filter_cuda_dot(na, soup_filter_cuda_sub(b[2], a[0])), error);
    if (ia < 0 || ib < 0) return false;
    soup_filter_cuda_vec b0 = b[0], a0 = a[0];
    soup_filter_cuda_turn(a, ia);
    soup_filter_cuda_turn(b, ib);
    bool up_a = soup_filter_cuda_dot(nb, soup_filter_cuda_sub(a[0], b0)) > 0.0f,
         up_b = soup_filter_cuda_dot(na, soup_filter_cuda_sub(b[0], a0)) > 0.0f;
    soup_filter_cuda_vec low_a = up_a ? a[2] : a[1], high_a = up_a ? a[1] : a[2];
    soup_filter_cuda_vec low_b = up_b ? b[1] : b[2], high_b = up_b ? b[2] : b[1];
    float side = up_a == up_b ? 1.0f : -1.0f;
    return side * soup_filter_cuda_orient(a[0], low_a, b[0], high_b) < -error ||
           side * soup_filter_cuda_orient(a[0], high_a, b[0], low_b) > error;
}

/* One common vertex, the first of both: as carom_face_filter_1. */
static __device__ inline bool apart_1(const soup_filter_cuda_vec *a,
                                      const soup_filter_cuda_vec *b) {
    soup_filter_cuda_vec u1 = soup_filter_cuda_sub(a[1], a[0]),
                         u2 = soup_filter_cuda_sub(a[2], a[0]),
                         w1 = soup_filter_cuda_sub(b[1], a[0]),
                         w2 = soup_filter_cuda_sub(b[2], a[0]);
    float error = error_of(most_of(u1.x, u2.x, w1.x, w2.x), most_of(u1.y, u2.y, w1.y, w2.y),
                           most_of(u1.z, u2.z, w1.z, w2.z));
    soup_filter_cuda_vec na = soup_filter_cuda_cross(u1, u2), nb = soup_filter_cuda_cross(w1, w2);
    float sb1 = soup_filter_cuda_dot(na, w1), sb2 = soup_filter_cuda_dot(na, w2),
          sa1 = soup_filter_cuda_dot(nb, u1), sa2 = soup_filter_cuda_dot(nb, u2);
    bool certain = fminf(fminf(fabsf(sb1), fabsf(sb2)), fminf(fabsf(sa1), fabsf(sa2))) > error;
    return fminf(sb1, sb2) > error || fmaxf(sb1, sb2) < -error || fminf(sa1, sa2) > error ||
           fmaxf(sa1, sa2) < -error || (certain && (sa1 > 0.0f) == (sb1 > 0.0f));
}

/* The pair when the planes do not separate it. Only pairs with at most one common vertex have
 * another test; the others are left to the items. */
static __device__ inline bool apart_by_intervals(soup_filter_cuda_vec *a, soup_filter_cuda_vec *b,
                                                 three va, three vb, bool cross_search) {
    unsigned equal = 0;
    for (int i = 0; i < 3 && !cross_search; ++i)
        for (int j = 0; j < 3; ++j) equal |= va.v[i] == vb.v[j] ? 1u << (3 * i + j) : 0u;
    if (equal == 0) return apart_on_line(a, b);
    if ((equal & (equal - 1u)) != 0) return false;
    int first = __ffs(equal) - 1, i = first / 3;
    soup_filter_cuda_turn(a, i);
    soup_filter_cuda_turn(b, first - 3 * i);
    return apart_1(a, b);
}

#endif
