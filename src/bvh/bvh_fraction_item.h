/* SPDX-License-Identifier: MIT */
/* bvh_fraction_item.h: the steps of generalised winding numbers for one of sixteen lanes, as items
 * for CPU and GPU: what bvh_winding_cpu.c does with vectors, operation by operation, so that both
 * have the same bits. That file has the mathematics, bvh_winding.c the search. */
#ifndef CAROM_SRC_BVH_BVH_FRACTION_ITEM_H
#define CAROM_SRC_BVH_BVH_FRACTION_ITEM_H

#include "base/atan_item.h"
#include "base/math.h"
#include "bvh/bvh_winding_cpu.h"

/* The part of area over square distance that the error bound of a node may be, at first; tuned on
 * the armadillo of 100k triangles. Each further try takes a quarter, the last one nothing: then all
 * angles are exact. */
#define CAROM_BVH_FIRST_TOLERANCE 0x1p-5
#define CAROM_BVH_MOST_TRIES      8
#define CAROM_BVH_NEXT_TRY        0.25
/* The largest error of a generalised winding number, beside rounding: far below the half that
 * separates inside from outside. */
#define CAROM_BVH_FRACTION_ERROR 0.01
#define CAROM_BVH_FOUR_PI        (4.0 * CAROM_PI)

/* One lane of carom_bvh_angles. */
typedef struct carom_bvh_lane {
    double far, error, real, imaginary, turns;
} carom_bvh_lane;

CAROM_ITEM carom_bvh_lane carom_bvh_lane_begin(void) {
    carom_bvh_lane lane;
    lane.far = lane.error = lane.imaginary = lane.turns = 0.0;
    lane.real = 1.0;
    return lane;
}

/* The turns that a product of complex numbers passes, whose factors have these imaginary parts. */
CAROM_ITEM double carom_bvh_turn(double a, double b, double product) {
    if (a >= 0.0 && b >= 0.0 && product < 0.0) return 1.0;
    return a < 0.0 && b < 0.0 && product >= 0.0 ? -1.0 : 0.0;
}

/* carom_bvh_add_far for one child, the first of whose moments is m[0] and the next
 * CAROM_BVH_WIDTH further on. Returns whether it is left open. */
CAROM_ITEM bool carom_bvh_lane_add_far(const double *m, const double *point, double tolerance,
                                       carom_bvh_lane *sum) {
#define CAROM_BVH_ROW(k) m[(k)*CAROM_BVH_WIDTH]
    double x = CAROM_BVH_ROW(CAROM_BVH_CENTRE) - point[0];
    double y = CAROM_BVH_ROW(CAROM_BVH_CENTRE + 1) - point[1];
    double z = CAROM_BVH_ROW(CAROM_BVH_CENTRE + 2) - point[2];
    double inverse = 1.0 / sqrt(x * x + y * y + z * z);
    double ratio = CAROM_BVH_ROW(CAROM_BVH_RADIUS) * inverse, rest = 1.0 - ratio;
    double area = CAROM_BVH_ROW(CAROM_BVH_AREA), square = inverse * inverse;
    double error = CAROM_BVH_ROW(CAROM_BVH_SPREAD) * square * inverse * (4.0 - 3.0 * ratio);
    if (!(area > 0.0)) return false;
    if (!(ratio < 1.0 && error <= tolerance * area * rest * rest)) return true;
    x *= inverse;
    y *= inverse;
    z *= inverse;
    const int f = CAROM_BVH_FIRST, s = CAROM_BVH_SECOND;
    double xx = x * x, yy = y * y, zz = z * z;
    double normal = CAROM_BVH_ROW(CAROM_BVH_NORMAL) * x + CAROM_BVH_ROW(CAROM_BVH_NORMAL + 1) * y +
                    CAROM_BVH_ROW(CAROM_BVH_NORMAL + 2) * z;
    double mixed =
        CAROM_BVH_ROW(f + 3) * x * y + CAROM_BVH_ROW(f + 4) * x * z + CAROM_BVH_ROW(f + 5) * y * z;
    double first = (CAROM_BVH_ROW(f) * (1.0 - 3.0 * xx) + CAROM_BVH_ROW(f + 1) * (1.0 - 3.0 * yy) +
                    CAROM_BVH_ROW(f + 2) * (1.0 - 3.0 * zz)) -
                   6.0 * mixed;
    double cubes = x * (CAROM_BVH_ROW(s) * xx +
                        3.0 * (CAROM_BVH_ROW(s + 5) * yy + CAROM_BVH_ROW(s + 7) * zz)) +
                   y * (CAROM_BVH_ROW(s + 1) * yy +
                        3.0 * (CAROM_BVH_ROW(s + 3) * xx + CAROM_BVH_ROW(s + 8) * zz)) +
                   z * (CAROM_BVH_ROW(s + 2) * zz +
                        3.0 * (CAROM_BVH_ROW(s + 4) * xx + CAROM_BVH_ROW(s + 6) * yy)) +
                   6.0 * CAROM_BVH_ROW(s + 9) * x * y * z;
    double traces = x * (CAROM_BVH_ROW(s) + CAROM_BVH_ROW(s + 5) + CAROM_BVH_ROW(s + 7)) +
                    y * (CAROM_BVH_ROW(s + 1) + CAROM_BVH_ROW(s + 3) + CAROM_BVH_ROW(s + 8)) +
                    z * (CAROM_BVH_ROW(s + 2) + CAROM_BVH_ROW(s + 4) + CAROM_BVH_ROW(s + 6));
    double second = 7.5 * cubes - 4.5 * traces;
    sum->far += (normal + (first + second * inverse) * inverse) * square;
    sum->error += error * square / (rest * rest);
    return false;
#undef CAROM_BVH_ROW
}

/* carom_bvh_add_near for one triangle, whose coordinates are at p[0], p[CAROM_BVH_WIDTH] ... */
CAROM_ITEM void carom_bvh_lane_add_near(const double *p, const double *point, carom_bvh_lane *sum) {
    double a[3], b[3], c[3], u[3], v[3];
    for (int i = 0; i < 3; ++i) {
        a[i] = p[i * (int)CAROM_BVH_WIDTH] - point[i];
        b[i] = p[(3 + i) * (int)CAROM_BVH_WIDTH] - point[i];
        c[i] = p[(6 + i) * (int)CAROM_BVH_WIDTH] - point[i];
        u[i] = b[i] - a[i];
        v[i] = c[i] - a[i];
    }
    double along_a = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    double along_b = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    double along_c = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    double ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    double bc = b[0] * c[0] + b[1] * c[1] + b[2] * c[2];
    double ca = c[0] * a[0] + c[1] * a[1] + c[2] * a[2];
    double imaginary = a[0] * (u[1] * v[2] - u[2] * v[1]) + a[1] * (u[2] * v[0] - u[0] * v[2]) +
                       a[2] * (u[0] * v[1] - u[1] * v[0]);
    double real = along_a * along_b * along_c + ab * along_c + bc * along_a + ca * along_b;
    double product_re = sum->real * real - sum->imaginary * imaginary;
    double product_im = sum->real * imaginary + sum->imaginary * real;
    double size = CAROM_MAX(fabs(product_re), fabs(product_im));
    if (!(size > 0.0)) return; /* a point at a corner: such a triangle adds nothing */
    product_re /= size;
    product_im /= size;
    sum->turns += carom_bvh_turn(sum->imaginary, imaginary, product_im);
    sum->real = product_re;
    sum->imaginary = product_im;
}

/* The sum over lanes, one after the other in their order. */
typedef struct carom_bvh_total {
    double far, error, real, imaginary, turns;
} carom_bvh_total;

CAROM_ITEM carom_bvh_total carom_bvh_total_begin(void) {
    carom_bvh_total total;
    total.far = total.error = total.imaginary = total.turns = 0.0;
    total.real = 1.0;
    return total;
}

CAROM_ITEM void carom_bvh_total_add(carom_bvh_total *total, double far, double error, double real,
                                    double imaginary, double turns) {
    double next = total->real * imaginary + total->imaginary * real;
    total->far += far;
    total->error += error;
    total->turns += turns;
    total->turns += carom_bvh_turn(total->imaginary, imaginary, next);
    total->real = total->real * real - total->imaginary * imaginary;
    total->imaginary = next;
}

/* The generalised winding number, and the bound of its error. */
CAROM_ITEM double carom_bvh_total_fraction(const carom_bvh_total *total, double *error) {
    *error = total->error / CAROM_BVH_FOUR_PI;
    return total->far / CAROM_BVH_FOUR_PI +
           (carom_atan2_item(total->imaginary + 0.0, total->real) / (0.5 * CAROM_BVH_FOUR_PI) +
            total->turns);
}

#endif
