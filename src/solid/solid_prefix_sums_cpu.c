/* SPDX-License-Identifier: MIT */
/* The integrals over triangles that prefix sums are made of, with SIMD.
 *
 * Each lane has a block of its own and goes through its triangles, so that no sums over lanes are
 * needed. All integrands are polynomials of the corners, evaluated in double-double
 * (base/double_double.h) and rounded to fixed point.
 *
 * Invariant: each lane does the operations of double_double.h in their order, so widths differ in
 * speed only. */
#include "solid/solid_prefix_sums_cpu.h"

#include "base/sum_lanes.h"

/* ---- Double-double --------------------------------------------------------------------------- */

/* carom_dd. */
typedef struct prefix_dd {
    carom_f64v high, low;
} prefix_dd;

CAROM_SIMD prefix_dd prefix_make(carom_f64v high, carom_f64v low) {
    prefix_dd a;
    a.high = high + low;
    a.low = low - (a.high - high);
    return a;
}

CAROM_SIMD prefix_dd prefix_sum(carom_f64v a, carom_f64v b) {
    prefix_dd d;
    d.high = a + b;
    carom_f64v b_part = d.high - a, a_part = d.high - b_part;
    d.low = (a - a_part) + (b - b_part);
    return d;
}

CAROM_SIMD prefix_dd prefix_add(prefix_dd a, prefix_dd b) {
    prefix_dd high = prefix_sum(a.high, b.high), low = prefix_sum(a.low, b.low);
    prefix_dd sum = prefix_make(high.high, high.low + low.high);
    return prefix_make(sum.high, low.low + sum.low);
}

CAROM_SIMD prefix_dd prefix_sub(prefix_dd a, prefix_dd b) {
    prefix_dd minus = {-b.high, -b.low};
    return prefix_add(a, minus);
}

/* A factor, with the upper and the lower half of its bits (carom_split). */
typedef struct prefix_factor {
    prefix_dd x;
    carom_f64v upper, lower;
} prefix_factor;

CAROM_SIMD prefix_factor prefix_split(prefix_dd x) {
    prefix_factor f = {.x = x};
    carom_f64v c = CAROM_SPLITTER * x.high;
    f.upper = c - (c - x.high);
    f.lower = x.high - f.upper;
    return f;
}

CAROM_SIMD prefix_dd prefix_multiply(prefix_factor a, prefix_factor b) {
    carom_f64v product = a.x.high * b.x.high;
    carom_f64v rest = a.lower * b.lower -
                      (((product - a.upper * b.upper) - a.lower * b.upper) - a.upper * b.lower);
    return prefix_make(product, rest + (a.x.high * b.x.low + a.x.low * b.x.high));
}

CAROM_SIMD prefix_dd prefix_scale(prefix_dd a, double power) {
    a.high *= power;
    a.low *= power;
    return a;
}

/* ---- Corners --------------------------------------------------------------------------------- */

/* The corners of one triangle per lane: x, y, z of each. A triangle beyond the last is a point. */
CAROM_SIMD void prefix_read(const carom_soup_view *soup, const uint64_t triangle[CAROM_LANES64],
                            carom_f64v x[3][3]) {
    const double *from[3][CAROM_LANES64];
    for (int lane = 0; lane < CAROM_LANES64; ++lane) {
        bool there = triangle[lane] < soup->triangle_count;
        const uint32_t *v = soup->corners + 3 * (there ? triangle[lane] : 0);
        for (int i = 0; i < 3; ++i)
            from[i][lane] = (const double *)soup->positions + 3 * (uint64_t)v[there ? i : 0];
    }
    for (int i = 0; i < 3; ++i) carom_f64v_points(from[i], x[i]);
}

/* ---- Integrals ------------------------------------------------------------------------------- */

/* The sums of one block per lane. */
typedef struct prefix_blocks {
    carom_u64v low[CAROM_SOLID_SUMS], high[CAROM_SOLID_SUMS], negative[CAROM_SOLID_SUMS];
} prefix_blocks;

CAROM_SIMD void prefix_put(prefix_blocks *blocks, unsigned i, prefix_dd x, int scale) {
    carom_sum_lanes_term(&blocks->low[i], &blocks->high[i], &blocks->negative[i], x.high, scale);
    carom_sum_lanes_term(&blocks->low[i], &blocks->high[i], &blocks->negative[i], x.low, scale);
}

/* Adds the integrals over one triangle per lane. */
CAROM_SIMD void prefix_integrate(const carom_solid_prefix_sums *sums, carom_f64v x[3][3],
                                 prefix_blocks *blocks) {
    double half = carom_power_of_two(sums->exponent / 2); /* 2^exponent may be no double */
    double rest = carom_power_of_two(sums->exponent - sums->exponent / 2);
    const double c[3] = {sums->centre.x, sums->centre.y, sums->centre.z};
    int scale = sums->scales[0];
    prefix_dd y[3][3], height = {{0}, {0}};
    prefix_factor u[3], v[3], sum[3], normal[3];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            y[i][k] = prefix_scale(prefix_scale(prefix_sum(x[i][k], carom_f64v_splat(-c[k])), half),
                                   rest);
    for (int k = 0; k < 3; ++k) {
        u[k] = prefix_split(prefix_sub(y[1][k], y[0][k]));
        v[k] = prefix_split(prefix_sub(y[2][k], y[0][k]));
        sum[k] = prefix_split(prefix_add(prefix_add(y[0][k], y[1][k]), y[2][k]));
    }
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        prefix_dd area =
            prefix_scale(prefix_sub(prefix_multiply(u[i], v[j]), prefix_multiply(u[j], v[i])), 0.5);
        normal[k] = prefix_split(area);
        prefix_put(blocks, CAROM_SOLID_NORMAL + (unsigned)k, area, scale);
        height = prefix_add(height, prefix_multiply(prefix_split(y[0][k]), normal[k]));
    }
    prefix_factor along = prefix_split(height);
    for (unsigned i = 0; i < 3; ++i) {
        for (unsigned j = 0; j < 3; ++j)
            prefix_put(blocks, CAROM_SOLID_FIRST + 3 * i + j, prefix_multiply(sum[i], normal[j]),
                       scale);
        prefix_put(blocks, CAROM_SOLID_SECOND + i, prefix_multiply(sum[i], along), scale);
    }
    carom_f64v nx = normal[0].x.high, ny = normal[1].x.high, nz = normal[2].x.high;
    carom_sum_lanes_term(&blocks->low[CAROM_SOLID_AREA], &blocks->high[CAROM_SOLID_AREA],
                         &blocks->negative[CAROM_SOLID_AREA],
                         carom_f64v_sqrt((nx * nx + ny * ny) + nz * nz), scale);
}

void CAROM_CPU(carom_solid_integrate_blocks)(const carom_solid_prefix_sums *sums,
                                             const carom_soup_view *soup, uint64_t first,
                                             uint64_t last, carom_solid_sum *to) {
    for (uint64_t block = first; block < last; block += CAROM_LANES64) {
        prefix_blocks blocks;
        memset(&blocks, 0, sizeof(blocks));
        for (uint64_t i = 0; i < CAROM_SOLID_BLOCK; ++i) {
            uint64_t triangle[CAROM_LANES64];
            carom_f64v x[3][3];
            for (uint64_t lane = 0; lane < CAROM_LANES64; ++lane)
                triangle[lane] = (block + lane) * CAROM_SOLID_BLOCK + i;
            prefix_read(soup, triangle, x);
            prefix_integrate(sums, x, &blocks);
        }
        for (uint64_t lane = 0; lane < CAROM_LANES64 && block + lane < last; ++lane)
            for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i) {
                carom_sum sum = {blocks.low[i][lane], blocks.high[i][lane], 0};
                carom_sum negative = {blocks.negative[i][lane], 0, 0};
                sum = carom_sum_add(sum, negative);
                *to++ = (carom_solid_sum){sum.low, sum.high};
            }
    }
}

void CAROM_CPU(carom_solid_double_areas)(const carom_soup_view *soup, int exponent, uint64_t first,
                                         uint64_t last, double *to) {
    double half = carom_power_of_two(exponent / 2);
    double rest = carom_power_of_two(exponent - exponent / 2);
    for (uint64_t t = first; t < last; t += CAROM_LANES64) {
        uint64_t triangle[CAROM_LANES64];
        carom_f64v x[3][3], u[3], v[3];
        double area[CAROM_LANES64];
        for (uint64_t lane = 0; lane < CAROM_LANES64; ++lane) triangle[lane] = t + lane;
        prefix_read(soup, triangle, x);
        for (int k = 0; k < 3; ++k) {
            carom_f64v corner = x[0][k] * half * rest;
            u[k] = x[1][k] * half * rest - corner;
            v[k] = x[2][k] * half * rest - corner;
        }
        carom_f64v nx = u[1] * v[2] - u[2] * v[1], ny = u[2] * v[0] - u[0] * v[2],
                   nz = u[0] * v[1] - u[1] * v[0];
        carom_f64v_store(area, carom_f64v_sqrt((nx * nx + ny * ny) + nz * nz));
        for (uint64_t lane = 0; lane < CAROM_LANES64 && t + lane < last; ++lane) *to++ = area[lane];
    }
}

/* carom_solid_extent of x[corner][axis]. */
CAROM_SIMD carom_f64v prefix_extent(carom_f64v x[3][3]) {
    carom_f64v most = {0};
    for (int k = 0; k < 3; ++k) {
        carom_f64v low = carom_f64v_min(carom_f64v_min(x[0][k], x[1][k]), x[2][k]);
        carom_f64v high = carom_f64v_max(carom_f64v_max(x[0][k], x[1][k]), x[2][k]);
        most = carom_f64v_max(most, high - low);
    }
    return most;
}

void CAROM_CPU(carom_solid_sizes)(const carom_soup_view *soup, int exponent, uint64_t first,
                                  uint64_t last, double *normals, double *extents) {
    double half = carom_power_of_two(exponent / 2);
    double rest = carom_power_of_two(exponent - exponent / 2);
    for (uint64_t t = first; t < last; t += CAROM_LANES64) {
        uint64_t triangle[CAROM_LANES64];
        carom_f64v x[3][3], u[3], v[3], normal = {0};
        double to[2][CAROM_LANES64];
        for (uint64_t lane = 0; lane < CAROM_LANES64; ++lane) triangle[lane] = t + lane;
        prefix_read(soup, triangle, x);
        for (int k = 0; k < 3; ++k) {
            u[k] = (x[1][k] - x[0][k]) * half * rest;
            v[k] = (x[2][k] - x[0][k]) * half * rest;
        }
        for (int k = 0; k < 3; ++k) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            normal = carom_f64v_max(normal, carom_f64v_abs(u[i] * v[j] - u[j] * v[i]));
        }
        carom_f64v_store(to[0], normal);
        carom_f64v_store(to[1], prefix_extent(x));
        for (uint64_t lane = 0; lane < CAROM_LANES64 && t + lane < last; ++lane) {
            *normals++ = to[0][lane];
            *extents++ = to[1][lane];
        }
    }
}
