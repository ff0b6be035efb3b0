/* SPDX-License-Identifier: MIT */
/* Areas of triangles with SIMD, a triangle per lane.
 *
 * Invariant: each lane does the operations of visit_face (mesh_report_faces.c) in their order, so
 * that the sum has the same bits. */
#include "mesh/mesh_report_cpu.h"

#include "base/simd.h"
#include "base/sum_lanes.h"

typedef struct report_vec {
    carom_f64v x, y, z;
} report_vec;

/* Corner `which` of each lane's triangle, times half. Lanes past the last have the last one. */
CAROM_SIMD report_vec report_corner(const carom_report_triangles *of, uint32_t at, uint32_t last,
                                    uint32_t which) {
    const double *from[CAROM_LANES64];
    carom_f64v x[3];
    for (uint32_t lane = 0; lane < CAROM_LANES64; ++lane) {
        uint64_t t = CAROM_MIN(at + lane, last - 1);
        from[lane] = of->positions + 3 * (uint64_t)of->corners[3 * t + which];
    }
    carom_f64v_points(from, x);
    return (report_vec){x[0] * of->half, x[1] * of->half, x[2] * of->half};
}

CAROM_SIMD report_vec report_edge(report_vec from, report_vec to, double shrink) {
    return (report_vec){(to.x - from.x) * shrink, (to.y - from.y) * shrink,
                        (to.z - from.z) * shrink};
}

CAROM_SIMD carom_f64v report_largest(report_vec v) {
    return carom_f64v_max(carom_f64v_max(carom_f64v_abs(v.x), carom_f64v_abs(v.y)),
                          carom_f64v_abs(v.z));
}

uint32_t CAROM_CPU(carom_report_areas)(const carom_report_triangles *of, uint32_t first,
                                       uint32_t last, carom_sum *sum, uint32_t *open) {
    carom_u64v low = {0}, high = {0}, negative = {0};
    uint32_t open_count = 0;
    for (uint32_t at = first; at < last; at += CAROM_LANES64) {
        report_vec a = report_corner(of, at, last, 0);
        report_vec u = report_edge(a, report_corner(of, at, last, 1), of->shrink);
        report_vec v = report_edge(a, report_corner(of, at, last, 2), of->shrink);
        report_vec twice = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
        carom_f64v size = report_largest(u) * report_largest(v);
        carom_f64v length =
            carom_f64v_sqrt((twice.x * twice.x + twice.y * twice.y) + twice.z * twice.z);
        carom_i64v cancelled = report_largest(twice) < CAROM_REPORT_CANCELLATION * size;
        length = carom_f64v_select(cancelled, (carom_f64v){0}, length);
        uint32_t left = last - at;
        if (left < CAROM_LANES64)
            for (uint32_t lane = left; lane < CAROM_LANES64; ++lane) length[lane] = 0.0;
        carom_sum_lanes_term(&low, &high, &negative, length, of->scale);
        for (carom_lanes lanes = carom_lanes_of64(cancelled); lanes != 0; lanes &= lanes - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            if (lane < left) open[open_count++] = at + lane;
        }
    }
    for (int lane = 0; lane < CAROM_LANES64; ++lane) {
        *sum = carom_sum_add(*sum, (carom_sum){low[lane], high[lane], 0});
        *sum = carom_sum_add(*sum, (carom_sum){negative[lane], 0, 0});
    }
    return open_count;
}
