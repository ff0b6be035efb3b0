/* SPDX-License-Identifier: MIT */
/* spheres_sum_cuda.h: sums of the terms of pairs of spheres on the GPU, which engines that compare
 * packings share.
 *
 * Terms are in the fixed point of spheres_item.h: two parts of 64 bits each, which a warp adds up
 * by shuffles so that lane v has value v. Integers do not depend on the order in which they are
 * added, so the sums have the bits of the CPU. Many such values are added up in two halves: the low
 * 32 bits and the rest. */
#ifndef CAROM_SRC_SPHERES_SPHERES_SUM_CUDA_H
#define CAROM_SRC_SPHERES_SPHERES_SUM_CUDA_H

#include "base/device_cuda.h"
#include "spheres/spheres_overlap_item.h"

#define SPHERES_VALUES     32u  /* sums of 64 bits: two parts of 15 terms, two counts */
#define SPHERES_TERMS      13u  /* of the estimate; two more of the inner balls */
#define SPHERES_MOST_TURNS 128u /* pairs per lane: 32 times these fit into 64 bits (2^13) */

static __device__ inline carom_device_count spheres_cuda_bits_of(double x) {
    return (carom_device_count)__double_as_longlong(x);
}

/* The scale of a term: volume, force, torque, direction, moment; then both of the inner balls. */
static __device__ inline const carom_spheres_scale &
spheres_cuda_scale_of(const carom_spheres_scales &scales, unsigned term) {
    return term == 0 || term >= SPHERES_TERMS ? scales.volume
           : term < 4                         ? scales.force
           : term < 7                         ? scales.torque
                                              : scales.direction;
}

/* One step of adding up values over a warp: of two values, lanes with the bit keep the second and
 * the others the first, each of two lanes. After a step for each bit, lane v has value v of 32. */
static __device__ inline carom_device_count
spheres_cuda_fold(unsigned bit, carom_device_count first, carom_device_count second) {
    bool upper = (threadIdx.x & bit) != 0;
    return (upper ? second : first) + __shfl_xor_sync(~0u, upper ? first : second, bit);
}

/* The two parts of a term as integers, added up over pairs of lanes. */
static __device__ inline carom_device_count
spheres_cuda_fold_term(double x, const carom_spheres_scale &scale) {
    double above = x + scale.coarse, rest = x - (above - scale.coarse);
    return spheres_cuda_fold(1u, spheres_cuda_bits_of(above) - spheres_cuda_bits_of(scale.coarse),
                             spheres_cuda_bits_of(rest + scale.fine) -
                                 spheres_cuda_bits_of(scale.fine));
}

/* The term, or 0 where it exceeds its scale, which is then noted: as carom_spheres_rounded does.
 * Only errors of posed pairs that floats cannot tell about are that large. */
static __device__ inline double spheres_cuda_limited(carom_device_count *spoiled, unsigned term,
                                                     double x, const carom_spheres_scale &scale) {
    if (fabs(x) <= scale.largest) return x;
    atomicOr(spoiled, 1ull << term);
    return 0.0;
}

/* The sums over a warp of the terms of one pair per lane that has one: lane v gets value v of
 * SPHERES_VALUES. `regular`: no term can exceed its scale; else `spoiled` gets a bit for each that
 * does. */
template <bool BOUNDS>
static __device__ inline carom_device_count
spheres_cuda_sum(const carom_spheres_posed_pair &pair, bool regular, carom_device_count *spoiled,
                 bool there, const carom_spheres_posed &a, const carom_spheres_posed &b) {
    const carom_spheres_scales &scales = pair.scales;
    carom_spheres_term term = {};
    carom_device_count pairs = 0, inner_pairs = 0;
    double volume = 0.0, error = 0.0;
    if (there) {
        carom_ball ball_a = {a.centre, a.secondary}, ball_b = {b.centre, b.secondary};
        if (carom_spheres_pair(&ball_a, &ball_b, pair.pivot, &term))
            pairs = 1;
        else
            term = carom_spheres_term{};
        if (BOUNDS) {
            carom_vec3 apart = carom_vec_sub(b.centre, a.centre);
            double squared = carom_vec_dot(apart, apart);
            if (carom_spheres_inner(squared, sqrt(squared), a.radius, b.radius, pair.slack, &volume,
                                    &error))
                inner_pairs = 1;
            else
                volume = error = 0.0;
        }
    }
    if (!regular) {
        double *const vectors[4] = {&term.force.x, &term.torque.x, &term.direction.x,
                                    &term.moment.x};
        term.volume = spheres_cuda_limited(spoiled, 0, term.volume, scales.volume);
        for (unsigned i = 0; i < 12; ++i)
            vectors[i / 3][i % 3] = spheres_cuda_limited(spoiled, 1 + i, vectors[i / 3][i % 3],
                                                         spheres_cuda_scale_of(scales, 1 + i));
        volume = spheres_cuda_limited(spoiled, SPHERES_TERMS, volume, scales.volume);
        error = spheres_cuda_limited(spoiled, SPHERES_TERMS + 1, error, scales.volume);
    }
    __syncwarp();
    carom_device_count v[SPHERES_VALUES / 2] = {
        spheres_cuda_fold_term(term.volume, scales.volume),
        spheres_cuda_fold_term(term.force.x, scales.force),
        spheres_cuda_fold_term(term.force.y, scales.force),
        spheres_cuda_fold_term(term.force.z, scales.force),
        spheres_cuda_fold_term(term.torque.x, scales.torque),
        spheres_cuda_fold_term(term.torque.y, scales.torque),
        spheres_cuda_fold_term(term.torque.z, scales.torque),
        spheres_cuda_fold_term(term.direction.x, scales.direction),
        spheres_cuda_fold_term(term.direction.y, scales.direction),
        spheres_cuda_fold_term(term.direction.z, scales.direction),
        spheres_cuda_fold_term(term.moment.x, scales.direction),
        spheres_cuda_fold_term(term.moment.y, scales.direction),
        spheres_cuda_fold_term(term.moment.z, scales.direction),
        BOUNDS ? spheres_cuda_fold_term(volume, scales.volume) : 0,
        BOUNDS ? spheres_cuda_fold_term(error, scales.volume) : 0,
        spheres_cuda_fold(1u, pairs, inner_pairs)};
#pragma unroll
    for (unsigned bit = 2, count = SPHERES_VALUES / 2; bit < CAROM_WARP; bit *= 2) {
        count /= 2;
#pragma unroll
        for (unsigned i = 0; i < SPHERES_VALUES / 4; ++i)
            if (i < count) v[i] = spheres_cuda_fold(bit, v[2 * i], v[2 * i + 1]);
    }
    return v[0];
}

/* The sums as numbers, which lane 0 gets: lane v gives both halves of value v. `numbers` has room
 * for half of SPHERES_VALUES in shared memory. One warp. */
static __device__ inline carom_spheres_values
spheres_cuda_values(const carom_spheres_posed_pair &pair, carom_device_count low,
                    carom_device_count high, carom_device_count spoiled, double *numbers) {
    typedef unsigned __int128 wide;
    unsigned v = threadIdx.x % CAROM_WARP;
    wide value = ((wide)(__int128)(long long)high << 32) + low;
    carom_device_count next_low = __shfl_down_sync(~0u, (carom_device_count)value, 1);
    carom_device_count next_high = __shfl_down_sync(~0u, (carom_device_count)(value >> 64), 1);
    wide sum = (value << CAROM_SPHERES_FINE_BITS) + ((wide)next_high << 64 | next_low);
    carom_sum as_sum = {(uint64_t)sum, (uint64_t)(sum >> 64), spoiled >> v / 2 & 1u};
    if (v % 2 == 0 && v < SPHERES_VALUES - 2)
        numbers[v / 2] = carom_sum_value(as_sum, spheres_cuda_scale_of(pair.scales, v / 2).scale);
    uint64_t pairs = __shfl_sync(~0u, (carom_device_count)value, SPHERES_VALUES - 2);
    uint64_t inner_pairs = __shfl_sync(~0u, (carom_device_count)value, SPHERES_VALUES - 1);
    __syncwarp();
    carom_spheres_values values = {};
    if (v != 0) return values;
    values.lenses.volume = numbers[0];
    values.lenses.error = 0.0;
    values.lenses.force = carom_vec(numbers[1], numbers[2], numbers[3]);
    values.lenses.torque = carom_vec(numbers[4], numbers[5], numbers[6]);
    values.lenses.direction = carom_vec(numbers[7], numbers[8], numbers[9]);
    values.lenses.moment = carom_vec(numbers[10], numbers[11], numbers[12]);
    values.inner = numbers[13];
    values.inner_error = numbers[14];
    values.pairs = pairs;
    values.inner_pairs = inner_pairs;
    return values;
}

#endif
