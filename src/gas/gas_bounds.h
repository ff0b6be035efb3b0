/* SPDX-License-Identifier: MIT */
/* gas_bounds.h: lower bounds of the times at which float trajectories meet, eight at a time; part
 * of the loop in gas_run_cpu.c. */
#ifndef CAROM_SRC_GAS_GAS_BOUNDS_H
#define CAROM_SRC_GAS_GAS_BOUNDS_H

#include "base/simd.h"
#include "gas/gas_trajectory.h"

/* Lower bounds of the delays until the eight trajectories meet `own`; NaN for those that never do.
 * The position of `own` is already advanced by `since`, the time elapsed since the common time. Two
 * spheres within contact distance are assumed to meet immediately (the gap is set to 0) unless they
 * surely recede. They recede when b > |u| times `recede`; the test compares signed squares. */
static inline __attribute__((always_inline)) void
carom_gas_bounds(const carom_gas_trajectory *own, carom_f32x4 rows[2][8], float since,
                 float own_slow2, float recede2, carom_f32x8 *bounds) {
    carom_f32x8 x[4], v[4];
    const carom_f32x8 zero = {0.0f};
    carom_f32x8_transpose(rows[0], x);
    carom_f32x8_transpose(rows[1], v);
    carom_f32x8 dx = (x[0] + v[0] * since) - own->x[0], ux = v[0] - own->v[0];
    carom_f32x8 dy = (x[1] + v[1] * since) - own->x[1], uy = v[1] - own->v[1];
    carom_f32x8 dz = (x[2] + v[2] * since) - own->x[2], uz = v[2] - own->v[2];
    carom_f32x8 b = dx * ux + dy * uy + dz * uz, uu = ux * ux + uy * uy + uz * uz;
    carom_f32x8 dd = dx * dx + dy * dy + dz * dz, contact = x[3] + own->radius;
    carom_f32x8 gap = dd * (1.0f - 0x1p-19f) - contact * contact; /* lowered by a rounding margin */
    carom_f32x8 root = carom_f32x8_sqrt(b * b - uu * gap);
    carom_i32x8 apart = gap > zero;
    carom_i32x8 recedes = b * carom_f32x8_abs(b) > uu * recede2;
    carom_f32x8 vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    carom_i32x8 slow = ~(uu >= vv * CAROM_GAS_SLOW2 + own_slow2); /* NaN counts as slow */
    carom_f32x8 bound = (carom_f32x8)((carom_i32x8)gap & apart) / (root - b);
    *bounds = (carom_f32x8)(((carom_i32x8)bound | recedes) & ~slow);
}

#endif
