/* SPDX-License-Identifier: MIT */
/* Solid angles with SIMD: of sixteen sets of triangles by their moments, and of sixteen triangles.
 *
 * Moments. A face at x is seen from q under the solid angle of n.g(x - q) per area, g(v) =
 * v / |v|^3. Around the centre of a set, at distance R in direction u, g has the Taylor terms
 *
 *   n.u / R^2,  (tr F - 3 uFu) / R^3,  (15 Suuu - 9 u.tr S) / (2 R^4),  ...
 *
 * with F, S the first and second moments (Barill et al., "Fast winding numbers for soups and
 * clouds", 2018). g is a gradient: term k of the potential is |d|^k P_k(cos t) / R^(k+1), P_k the
 * Legendre polynomial, and since T'^2 + k^2 T^2 <= k^2 for a trigonometric polynomial |T| <= 1 of
 * degree k (van der Corput, Schaake 1935), its gradient is at most k |d|^(k-1) / R^(k+1). What the
 * three terms leave out is therefore at most, with r the radius and p = r / R,
 *
 *   spread / R^5 (4 + 5 p + 6 p^2 + ...) = spread / R^5 (4 - 3 p) / (1 - p)^2.
 *
 * Triangles. tan(angle / 2) = [a b c] / (|a||b||c| + a.b |c| + b.c |a| + c.a |b|), a, b, c the
 * corners seen from the point (Van Oosterom, Strackee 1983): half the angle is the argument of a
 * complex number. Arguments are added by multiplying the numbers, so one arctangent is enough. A
 * product passes the negative real axis when both factors are on one side of the real axis and it
 * is on the other: this counts a turn. */
#include "bvh/bvh_winding_cpu.h"

#include <float.h>

#include "base/simd.h"

static inline carom_f64v bvh_winding_cpu_load(const double *from) {
    carom_f64v value;
    memcpy(&value, from, sizeof(value));
    return value;
}

static inline void add_to(double *to, carom_f64v value) {
    carom_f64v sum = bvh_winding_cpu_load(to) + value;
    memcpy(to, &sum, sizeof(sum));
}

/* The value in lanes whose comparison gave all ones, 0 in others. */
static inline carom_f64v only(carom_i64v comparison, carom_f64v value) {
    return (carom_f64v)((carom_i64v)value & comparison);
}

uint32_t CAROM_CPU(carom_bvh_add_far)(const carom_bvh_moments *moments, const double point[3],
                                      double tolerance, carom_bvh_angles *sum) {
    uint32_t open = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
#define ROW(k) bvh_winding_cpu_load(moments->row[k] + at)
        carom_f64v x = ROW(CAROM_BVH_CENTRE) - point[0];
        carom_f64v y = ROW(CAROM_BVH_CENTRE + 1) - point[1];
        carom_f64v z = ROW(CAROM_BVH_CENTRE + 2) - point[2];
        carom_f64v inverse = 1.0 / carom_f64v_sqrt(x * x + y * y + z * z);
        carom_f64v ratio = ROW(CAROM_BVH_RADIUS) * inverse, rest = 1.0 - ratio;
        carom_f64v area = ROW(CAROM_BVH_AREA), square = inverse * inverse;
        carom_f64v error = ROW(CAROM_BVH_SPREAD) * square * inverse * (4.0 - 3.0 * ratio);
        carom_i64v is_far = (ratio < 1.0) & (error <= tolerance * area * rest * rest);
        open |= carom_lanes_of64(~is_far & (area > 0.0)) << at;
        if (carom_lanes_of64(is_far & (area > 0.0)) == 0) continue;
        x *= inverse;
        y *= inverse;
        z *= inverse;
        const int f = CAROM_BVH_FIRST, s = CAROM_BVH_SECOND;
        carom_f64v xx = x * x, yy = y * y, zz = z * z;
        carom_f64v normal = ROW(CAROM_BVH_NORMAL) * x + ROW(CAROM_BVH_NORMAL + 1) * y +
                            ROW(CAROM_BVH_NORMAL + 2) * z;
        carom_f64v mixed = ROW(f + 3) * x * y + ROW(f + 4) * x * z + ROW(f + 5) * y * z;
        carom_f64v first = (ROW(f) * (1.0 - 3.0 * xx) + ROW(f + 1) * (1.0 - 3.0 * yy) +
                            ROW(f + 2) * (1.0 - 3.0 * zz)) -
                           6.0 * mixed;
        carom_f64v cubes = x * (ROW(s) * xx + 3.0 * (ROW(s + 5) * yy + ROW(s + 7) * zz)) +
                           y * (ROW(s + 1) * yy + 3.0 * (ROW(s + 3) * xx + ROW(s + 8) * zz)) +
                           z * (ROW(s + 2) * zz + 3.0 * (ROW(s + 4) * xx + ROW(s + 6) * yy)) +
                           6.0 * ROW(s + 9) * x * y * z;
        carom_f64v traces = x * (ROW(s) + ROW(s + 5) + ROW(s + 7)) +
                            y * (ROW(s + 1) + ROW(s + 3) + ROW(s + 8)) +
                            z * (ROW(s + 2) + ROW(s + 4) + ROW(s + 6));
        carom_f64v second = 7.5 * cubes - 4.5 * traces;
        carom_f64v angle = (normal + (first + second * inverse) * inverse) * square;
        add_to(sum->far + at, only(is_far, angle));
        add_to(sum->error + at, only(is_far, error * square / (rest * rest)));
#undef ROW
    }
    return open;
}

void CAROM_CPU(carom_bvh_add_near)(const carom_bvh_corners *corners, const double point[3],
                                   carom_bvh_angles *sum) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
        carom_f64v p[9];
        for (int i = 0; i < 9; ++i)
            p[i] = bvh_winding_cpu_load(corners->row[i] + at) - point[i % 3];
        const carom_f64v *a = p, *b = p + 3, *c = p + 6;
        carom_f64v along_a = carom_f64v_sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        carom_f64v along_b = carom_f64v_sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
        carom_f64v along_c = carom_f64v_sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        carom_f64v ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        carom_f64v bc = b[0] * c[0] + b[1] * c[1] + b[2] * c[2];
        carom_f64v ca = c[0] * a[0] + c[1] * a[1] + c[2] * a[2];
        /* From differences of corners, so that equal corners give 0. */
        carom_f64v u[3], v[3];
        for (int i = 0; i < 3; ++i) {
            u[i] = b[i] - a[i];
            v[i] = c[i] - a[i];
        }
        carom_f64v imaginary = a[0] * (u[1] * v[2] - u[2] * v[1]) +
                               a[1] * (u[2] * v[0] - u[0] * v[2]) +
                               a[2] * (u[0] * v[1] - u[1] * v[0]);
        carom_f64v real = along_a * along_b * along_c + ab * along_c + bc * along_a + ca * along_b;
        carom_f64v re = bvh_winding_cpu_load(sum->real + at),
                   im = bvh_winding_cpu_load(sum->imaginary + at);
        carom_f64v product_re = re * real - im * imaginary;
        carom_f64v product_im = re * imaginary + im * real;
        /* Only the argument counts: scale to the order of 1. A point at a corner gives 0: such a
         * triangle adds nothing. */
        carom_f64v size = carom_f64v_max(carom_f64v_abs(product_re), carom_f64v_abs(product_im));
        carom_i64v none = ~(size > 0.0);
        size += only(none, carom_f64v_splat(1.0));
        product_re = only(~none, product_re / size) + only(none, re);
        product_im = only(~none, product_im / size) + only(none, im);
        carom_i64v up = (im >= 0.0) & (imaginary >= 0.0) & (product_im < 0.0);
        carom_i64v down = (im < 0.0) & (imaginary < 0.0) & (product_im >= 0.0);
        memcpy(sum->real + at, &product_re, sizeof(product_re));
        memcpy(sum->imaginary + at, &product_im, sizeof(product_im));
        add_to(sum->turns + at,
               only(up & ~none, carom_f64v_splat(1.0)) - only(down & ~none, carom_f64v_splat(1.0)));
    }
}
