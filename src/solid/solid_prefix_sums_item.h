/* SPDX-License-Identifier: MIT */
/* solid_prefix_sums_item.h: the terms of prefix sums and the sizes of one triangle, as items. The
 * CPU computes them with a triangle per lane (solid_prefix_sums_cpu.c), in the same order of
 * operations. */
#ifndef CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_ITEM_H
#define CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_ITEM_H

#include "base/double_double.h"
#include "geom/vec.h"
#include "solid/solid_sum_item.h"

/* 2^exponent as two factors, as it may be no double itself. */
typedef struct carom_solid_halves {
    double half, rest;
} carom_solid_halves;

CAROM_ITEM carom_solid_halves carom_solid_halves_of(int exponent) {
    carom_solid_halves unit;
    unit.half = carom_power_of_two(exponent / 2);
    unit.rest = carom_power_of_two(exponent - exponent / 2);
    return unit;
}

/* Adds both parts of a term. */
CAROM_ITEM void carom_solid_put(carom_solid_sum *sum, carom_dd x, int scale) {
    carom_sum high = carom_sum_term(x.high, scale), low = carom_sum_term(x.low, scale);
    carom_solid_sum terms[2];
    CAROM_ASSERT(high.spoiled == 0 && low.spoiled == 0);
    terms[0].low = high.low, terms[0].high = high.high;
    terms[1].low = low.low, terms[1].high = low.high;
    carom_solid_add_sum(sum, terms[0]);
    carom_solid_add_sum(sum, terms[1]);
}

/* Adds the integrals over one triangle (solid_sum_item.h). */
CAROM_ITEM void carom_solid_integrate(const carom_vec3 corner[3], const double centre[3],
                                      int exponent, int scale, carom_solid_sum *sums) {
    carom_solid_halves unit = carom_solid_halves_of(exponent);
    carom_dd y[3][3], u[3], v[3], sum[3], normal[3], height = carom_dd_of(0.0);
    for (int i = 0; i < 3; ++i) {
        double x[3];
        carom_vec_store(corner[i], x);
        for (int k = 0; k < 3; ++k)
            y[i][k] = carom_dd_scale(carom_dd_scale(carom_dd_diff(x[k], centre[k]), unit.half),
                                     unit.rest);
    }
    for (int k = 0; k < 3; ++k) {
        u[k] = carom_dd_sub(y[1][k], y[0][k]);
        v[k] = carom_dd_sub(y[2][k], y[0][k]);
        sum[k] = carom_dd_add(carom_dd_add(y[0][k], y[1][k]), y[2][k]);
    }
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = carom_dd_scale(
            carom_dd_sub(carom_dd_multiply(u[i], v[j]), carom_dd_multiply(u[j], v[i])), 0.5);
        carom_solid_put(&sums[CAROM_SOLID_NORMAL + (unsigned)k], normal[k], scale);
        height = carom_dd_add(height, carom_dd_multiply(y[0][k], normal[k]));
    }
    for (unsigned i = 0; i < 3; ++i) {
        for (unsigned j = 0; j < 3; ++j)
            carom_solid_put(&sums[CAROM_SOLID_FIRST + 3 * i + j],
                            carom_dd_multiply(sum[i], normal[j]), scale);
        carom_solid_put(&sums[CAROM_SOLID_SECOND + i], carom_dd_multiply(sum[i], height), scale);
    }
    double nx = normal[0].high, ny = normal[1].high, nz = normal[2].high;
    carom_solid_put(&sums[CAROM_SOLID_AREA], carom_dd_of(sqrt((nx * nx + ny * ny) + nz * nz)),
                    scale);
}

/* Twice the area, in units of 2^-exponent. */
CAROM_ITEM double carom_solid_double_area(const carom_vec3 corner[3], carom_solid_halves unit) {
    carom_vec3 p[3], u, v, n;
    for (int i = 0; i < 3; ++i)
        p[i] = carom_vec_scale(carom_vec_scale(corner[i], unit.half), unit.rest);
    u = carom_vec_sub(p[1], p[0]);
    v = carom_vec_sub(p[2], p[0]);
    n = carom_vec_cross(u, v);
    return sqrt((n.x * n.x + n.y * n.y) + n.z * n.z);
}

/* The largest component of twice the vector area, in units of 2^-exponent. */
CAROM_ITEM double carom_solid_size(const carom_vec3 corner[3], carom_solid_halves unit) {
    carom_vec3 u =
        carom_vec_scale(carom_vec_scale(carom_vec_sub(corner[1], corner[0]), unit.half), unit.rest);
    carom_vec3 v =
        carom_vec_scale(carom_vec_scale(carom_vec_sub(corner[2], corner[0]), unit.half), unit.rest);
    return carom_vec_largest(carom_vec_cross(u, v));
}

#endif
