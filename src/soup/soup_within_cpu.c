/* SPDX-License-Identifier: MIT */
/* The cheap certificates of geom/within.h with SIMD, one pair of triangles per lane.
 *
 * Where the margin is about an edge long, which is the usual case, most candidates have two corners
 * within it, and most others are separated along one of three directions. Both take a few
 * nanoseconds per pair here. The error bound is that of within.h, and so is its proof: seen from
 * the first corner of a, all coordinates are at most `size`. Rounding differs between instruction
 * sets only in which pairs stay open. */
#include "soup/soup_within_cpu.h"

#include "base/simd.h"
#include "geom/within.h"

typedef struct vec {
    carom_f64v x, y, z;
} vec;

static inline vec sub(vec a, vec b) {
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec add(vec a, vec b) {
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec cross(vec a, vec b) {
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline carom_f64v dot(vec a, vec b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static inline carom_f64v size_of(vec a) {
    return (carom_f64v_abs(a.x) + carom_f64v_abs(a.y)) + carom_f64v_abs(a.z);
}

static inline vec load(const carom_soup_within_batch *batch, int corner, uint32_t at) {
    return (vec){carom_f64v_load(&batch->corner[3 * corner][at]),
                 carom_f64v_load(&batch->corner[3 * corner + 1][at]),
                 carom_f64v_load(&batch->corner[3 * corner + 2][at])};
}

/* carom_within_apart. */
static inline carom_i64v apart(const vec *a, const vec *b, vec way, carom_f64v squared_reach) {
    carom_f64v a0 = dot(way, a[0]), a1 = dot(way, a[1]), a2 = dot(way, a[2]);
    carom_f64v b0 = dot(way, b[0]), b1 = dot(way, b[1]), b2 = dot(way, b[2]);
    carom_f64v a_low = carom_f64v_min(carom_f64v_min(a0, a1), a2);
    carom_f64v a_high = carom_f64v_max(carom_f64v_max(a0, a1), a2);
    carom_f64v b_low = carom_f64v_min(carom_f64v_min(b0, b1), b2);
    carom_f64v b_high = carom_f64v_max(carom_f64v_max(b0, b1), b2);
    carom_f64v gap = carom_f64v_max(b_low - a_high, a_low - b_high);
    carom_f64v squared = dot(way, way) * (1.0 + 0x1p-48);
    return (gap > 0.0) & (squared > 0x1p-400) & (gap * gap > squared_reach * squared);
}

static inline carom_f64v least_of_corners(const vec *a, const vec *b) {
    carom_f64v least = carom_f64v_splat(DBL_MAX);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            vec d = sub(b[k], a[i]);
            least = carom_f64v_min(least, dot(d, d));
        }
    }
    return least;
}

void CAROM_CPU(carom_soup_within_filter)(carom_soup_within_batch *batch, double margin) {
    uint64_t yes_of_all = 0, no_of_all = 0;
    for (uint32_t at = 0; at < batch->count; at += CAROM_LANES64) {
        vec a[3], b[3], origin = load(batch, 0, at);
        carom_f64v size = {0};
        for (int i = 0; i < 3; ++i) {
            a[i] = sub(load(batch, i, at), origin);
            b[i] = sub(load(batch, 3 + i, at), origin);
            size = (size + size_of(a[i])) + size_of(b[i]);
        }
        carom_i64v usual = (size > 0x1p-100) & (size < 0x1p100);
        carom_f64v error = size * CAROM_WITHIN_ERROR;
        carom_f64v less = margin - error, more = margin + error;
        carom_i64v yes = usual & (less > 0.0) & (least_of_corners(a, b) <= less * less);
        vec between = sub(add(add(b[0], b[1]), b[2]), add(a[1], a[2]));
        carom_f64v reach = more * more;
        carom_i64v no = apart(a, b, between, reach) | apart(a, b, cross(a[1], a[2]), reach) |
                        apart(a, b, cross(sub(b[1], b[0]), sub(b[2], b[0])), reach);
        yes_of_all |= (uint64_t)carom_lanes_of64(yes) << at;
        no_of_all |= (uint64_t)carom_lanes_of64(no & usual) << at;
    }
    uint64_t all = batch->count < 64 ? (UINT64_C(1) << batch->count) - 1 : UINT64_MAX;
    batch->yes = yes_of_all & all;
    batch->open = all & ~yes_of_all & ~no_of_all;
}
