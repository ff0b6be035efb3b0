/* SPDX-License-Identifier: MIT */
/* The terms of many pairs of spheres: the arithmetic of carom_spheres_pair, carom_lens_at and
 * carom_spheres_inner (spheres_item.h, lens.h, spheres_overlap_item.h), operation by operation, as
 * vectors. Where those branch, all branches are computed here and one is selected; so the bits are
 * the same. Terms are added up in integers, as spheres_item.h explains. */
#include "spheres/spheres_batch_cpu.h"

#include "base/simd.h"

typedef struct spheres_batch_cpu_vec {
    carom_f64v x, y, z;
} spheres_batch_cpu_vec;

CAROM_SIMD carom_f64v spheres_batch_cpu_splat(double x) {
    return carom_f64v_splat(x);
}

CAROM_SIMD carom_f64v spheres_batch_cpu_choose(carom_i64v where, carom_f64v yes, carom_f64v no) {
    return (carom_f64v)(((carom_i64v)yes & where) | ((carom_i64v)no & ~where));
}

/* `value` where the comparison is true, else +0. */
CAROM_SIMD carom_f64v spheres_batch_cpu_keep(carom_i64v where, carom_f64v value) {
    return (carom_f64v)((carom_i64v)value & where);
}

/* carom_sum_of_three */
CAROM_SIMD carom_f64v sum_of_three(carom_f64v x, carom_f64v y, carom_f64v z) {
    carom_f64v s = x + y, b = s - x, lost = (x - (s - b)) + (y - b);
    carom_f64v t = s + z, c = t - s;
    return t + (lost + ((s - (t - c)) + (z - c)));
}

/* carom_lens_at without the radius of the circle; `along` is along_r. */
typedef struct lens {
    carom_f64v volume, area, along;
} lens;

CAROM_SIMD lens lens_at(carom_f64v r, carom_f64v s, carom_f64v d) {
    carom_f64v zero = spheres_batch_cpu_splat(0.0);
    carom_f64v depth = sum_of_three(r, s, -d);
    carom_f64v past_r = sum_of_three(d, s, -r), past_s = sum_of_three(d, r, -s);
    carom_f64v smaller = carom_f64v_min(r, s);
    carom_f64v whole = 4.0 / 3.0 * CAROM_PI * (smaller * smaller * smaller);
    carom_f64v share_r = past_r / (2.0 * d), share_s = past_s / (2.0 * d);
    carom_f64v cap_r = depth * share_r, cap_s = depth * share_s;
    carom_f64v volume =
        CAROM_PI / 3.0 * (cap_r * cap_r * (3.0 * r - cap_r) + cap_s * cap_s * (3.0 * s - cap_s));
    carom_f64v sum = (r + s) + d, squared = depth * sum * share_r * share_s;
    carom_i64v meet = depth > zero, cross = (past_r > zero) & (past_s > zero);
    lens l;
    l.volume = spheres_batch_cpu_keep(
        meet, spheres_batch_cpu_choose(cross, carom_f64v_min(volume, whole), whole));
    l.area = spheres_batch_cpu_keep(meet & cross, CAROM_PI * squared);
    l.along = spheres_batch_cpu_choose(
        cross, r - cap_r, spheres_batch_cpu_keep(s <= r, d)); /* not used where they are apart */
    return l;
}

/* The two parts of a sum, added up per lane; the bits of the constants are taken off at the end. */
typedef struct parts {
    carom_u64v high, low; /* wrap around */
} parts;

CAROM_SIMD void spheres_batch_cpu_add(parts *p, carom_f64v x, const carom_spheres_scale *s) {
    carom_f64v coarse = spheres_batch_cpu_splat(s->coarse), above = x + coarse,
               rest = x - (above - coarse);
    p->high += (carom_u64v)above;
    p->low += (carom_u64v)(rest + spheres_batch_cpu_splat(s->fine));
}

CAROM_SIMD void spheres_batch_cpu_add_vec(parts p[3], spheres_batch_cpu_vec v,
                                          const carom_spheres_scale *s) {
    spheres_batch_cpu_add(&p[0], v.x, s);
    spheres_batch_cpu_add(&p[1], v.y, s);
    spheres_batch_cpu_add(&p[2], v.z, s);
}

static uint64_t lane_sum(carom_u64v v) {
    uint64_t sum = 0;
    for (int i = 0; i < CAROM_LANES64; ++i) sum += v[i];
    return sum;
}

/* Adds to a sum what `terms` calls of add per lane made. */
static void spheres_batch_cpu_accumulate(const parts *p, uint64_t terms,
                                         const carom_spheres_scale *s, carom_sum *sum) {
    uint64_t high = lane_sum(p->high) - terms * (uint64_t)carom_spheres_bits(s->coarse);
    uint64_t low = lane_sum(p->low) - terms * (uint64_t)carom_spheres_bits(s->fine);
    *sum = carom_sum_add(*sum, carom_spheres_parts((int64_t)high, (int64_t)low));
}

/* Fills the last vector with pairs of points that are apart. */
static uint32_t spheres_batch_cpu_pad(carom_spheres_batch *batch) {
    uint32_t end = (batch->count + CAROM_LANES64 - 1) / CAROM_LANES64 * CAROM_LANES64;
    for (uint32_t i = batch->count; i < end; ++i) {
        carom_spheres_side *sides[2] = {&batch->a, &batch->b};
        for (int k = 0; k < 2; ++k) {
            sides[k]->x[i] = k;
            sides[k]->y[i] = sides[k]->z[i] = sides[k]->secondary[i] = sides[k]->radius[i] = 0.0;
        }
    }
    return end;
}

/* carom_spheres_pair, added to the sums. Returns the lanes that have a volume. */
CAROM_SIMD carom_lanes add_estimate(const carom_spheres_batch *batch, uint32_t i,
                                    const carom_spheres_posed_pair *m, spheres_batch_cpu_vec a,
                                    spheres_batch_cpu_vec b, spheres_batch_cpu_vec apart,
                                    carom_f64v squared, carom_f64v d, parts sums[13]) {
    const carom_spheres_scales *scales = &m->scales;
    carom_f64v ra = carom_f64v_load(&batch->a.secondary[i]);
    carom_f64v rb = carom_f64v_load(&batch->b.secondary[i]);
    carom_f64v sum = ra + rb, zero = spheres_batch_cpu_splat(0.0);
    carom_i64v order = (a.x > b.x) | ((a.x == b.x) & ((a.y > b.y) | ((a.y == b.y) & (a.z > b.z))));
    carom_i64v swapped = (ra > rb) | ((ra == rb) & order);
    lens l = lens_at(spheres_batch_cpu_choose(swapped, rb, ra),
                     spheres_batch_cpu_choose(swapped, ra, rb), d);
    carom_i64v some = (squared < sum * sum) & (l.volume > zero), turns = some & (d > zero);
    carom_f64v part = spheres_batch_cpu_keep(turns, l.along / d),
               pull = spheres_batch_cpu_keep(turns, l.area / d);
    part = spheres_batch_cpu_choose(swapped, -part, part);
    spheres_batch_cpu_vec middle = {spheres_batch_cpu_choose(swapped, b.x, a.x) + apart.x * part,
                                    spheres_batch_cpu_choose(swapped, b.y, a.y) + apart.y * part,
                                    spheres_batch_cpu_choose(swapped, b.z, a.z) + apart.z * part};
    spheres_batch_cpu_vec arm = {middle.x - m->pivot.x, middle.y - m->pivot.y,
                                 middle.z - m->pivot.z};
    spheres_batch_cpu_vec force = {apart.x * pull, apart.y * pull, apart.z * pull};
    carom_f64v volume = spheres_batch_cpu_keep(some, l.volume);
    spheres_batch_cpu_vec torque = {arm.y * force.z - arm.z * force.y,
                                    arm.z * force.x - arm.x * force.z,
                                    arm.x * force.y - arm.y * force.x};
    spheres_batch_cpu_vec direction = {apart.x * volume, apart.y * volume, apart.z * volume};
    spheres_batch_cpu_vec moment = {arm.x * volume, arm.y * volume, arm.z * volume};
    spheres_batch_cpu_add(&sums[0], volume, &scales->volume);
    spheres_batch_cpu_add_vec(&sums[1], force, &scales->force);
    spheres_batch_cpu_add_vec(&sums[4], torque, &scales->torque);
    spheres_batch_cpu_add_vec(&sums[7], direction, &scales->direction);
    spheres_batch_cpu_add_vec(&sums[10], moment, &scales->direction);
    return carom_lanes_of64(some);
}

/* carom_spheres_inner, added to the sums. *beyond: lanes with an error that is too large for its
 * scale, as it is where the trees are so far away that poses round by more than the spheres' size.
 */
CAROM_SIMD carom_lanes spheres_batch_cpu_add_inner(carom_spheres_batch *batch, uint32_t i,
                                                   const carom_spheres_posed_pair *m,
                                                   carom_f64v squared, carom_f64v d, parts sums[2],
                                                   carom_i64v *beyond) {
    carom_f64v r = carom_f64v_load(&batch->a.radius[i]), s = carom_f64v_load(&batch->b.radius[i]);
    carom_f64v sum = r + s, smaller = carom_f64v_min(r, s);
    lens l = lens_at(r, s, d);
    carom_i64v some = (squared < sum * sum) & (l.volume > spheres_batch_cpu_splat(0.0));
    carom_f64v error = CAROM_SPHERES_LENS_ERROR * (l.volume + l.area * d) +
                       CAROM_SPHERES_BALL_SURFACE * (smaller * smaller) *
                           (m->slack + CAROM_SPHERES_RADIUS_ROUNDING * sum);
    carom_f64v volume = spheres_batch_cpu_keep(some, l.volume);
    *beyond |= some & (error > spheres_batch_cpu_splat(m->scales.volume.largest));
    carom_f64v_store(&batch->inner[i], volume);
    spheres_batch_cpu_add(&sums[0], volume, &m->scales.volume);
    spheres_batch_cpu_add(&sums[1], spheres_batch_cpu_keep(some, error), &m->scales.volume);
    return carom_lanes_of64(some);
}

void CAROM_CPU(carom_spheres_batch_add)(carom_spheres_batch *batch,
                                        const carom_spheres_posed_pair *m, bool inner,
                                        carom_spheres_totals *totals) {
    CAROM_ASSERT(batch->count <= CAROM_SPHERES_BATCH);
    uint32_t end = spheres_batch_cpu_pad(batch);
    uint64_t before = totals->pairs, inner_before = totals->inner_pairs;
    parts sums[13], inner_sums[2];
    carom_i64v beyond = {0};
    memset(sums, 0, sizeof(sums));
    memset(inner_sums, 0, sizeof(inner_sums));
    for (uint32_t i = 0; i < end; i += CAROM_LANES64) {
        spheres_batch_cpu_vec a = {carom_f64v_load(&batch->a.x[i]), carom_f64v_load(&batch->a.y[i]),
                                   carom_f64v_load(&batch->a.z[i])};
        spheres_batch_cpu_vec b = {carom_f64v_load(&batch->b.x[i]), carom_f64v_load(&batch->b.y[i]),
                                   carom_f64v_load(&batch->b.z[i])};
        spheres_batch_cpu_vec apart = {b.x - a.x, b.y - a.y, b.z - a.z};
        carom_f64v squared = (apart.x * apart.x + apart.y * apart.y) + apart.z * apart.z;
        carom_f64v d = carom_f64v_sqrt(squared);
        totals->pairs +=
            (uint64_t)__builtin_popcount(add_estimate(batch, i, m, a, b, apart, squared, d, sums));
        if (inner)
            totals->inner_pairs += (uint64_t)__builtin_popcount(
                spheres_batch_cpu_add_inner(batch, i, m, squared, d, inner_sums, &beyond));
    }
    /* What the last vector is filled up with adds nothing. */
    CAROM_ASSERT(totals->pairs - before <= batch->count);
    CAROM_ASSERT(totals->inner_pairs - inner_before <= batch->count);
    carom_spheres_sum *e = &totals->estimate;
    const carom_spheres_scales *scales = &m->scales;
    spheres_batch_cpu_accumulate(&sums[0], end, &scales->volume, &e->volume);
    for (int k = 0; k < 3; ++k) {
        spheres_batch_cpu_accumulate(&sums[1 + k], end, &scales->force, &e->force[k]);
        spheres_batch_cpu_accumulate(&sums[4 + k], end, &scales->torque, &e->torque[k]);
        spheres_batch_cpu_accumulate(&sums[7 + k], end, &scales->direction, &e->direction[k]);
        spheres_batch_cpu_accumulate(&sums[10 + k], end, &scales->direction, &e->moment[k]);
    }
    if (inner) {
        spheres_batch_cpu_accumulate(&inner_sums[0], end, &scales->volume, &totals->inner);
        spheres_batch_cpu_accumulate(&inner_sums[1], end, &scales->volume, &totals->inner_error);
        if (carom_lanes_of64(beyond) != 0) totals->inner_error.spoiled += 1; /* it is NaN then */
    }
    batch->count = 0;
}
