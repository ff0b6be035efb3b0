/* SPDX-License-Identifier: MIT */
/* soup_fraction_cuda.h: generalised winding numbers of points on the GPU (bvh_winding.c), included
 * by soup_points_cuda.cu alone.
 *
 * The moments come from the host: sums of doubles depend on their order, and so on the tree of the
 * CPU. Half a warp evaluates a point, one lane per child or triangle, in the order in which the CPU
 * visits nodes; at the end the lanes are added up one after the other. */
#ifndef CAROM_SRC_SOUP_SOUP_FRACTION_CUDA_H
#define CAROM_SRC_SOUP_SOUP_FRACTION_CUDA_H

#include "bvh/bvh_fraction_item.h"
#include "soup/soup_winding_cuda.h"

#define FRACTION_THREADS 128u
#define FRACTION_GROUPS  (FRACTION_THREADS / CAROM_BVH_WIDTH) /* points per block */
/* Each visit takes one entry from the stack and puts up to sixteen on it. */
#define FRACTION_STACK ((CAROM_BVH_LEVELS + 1) * CAROM_BVH_WIDTH)

struct fraction_view {
    const double *corners, *moments; /* carom_bvh_corners of blocks, carom_bvh_moments of nodes */
    carom_device_field field;
    const carom_vec3 *points;
    double *fractions;
};

/* The lanes of a warp that evaluate one point. */
struct fraction_group {
    unsigned mask, lane;
    uint2 *stack; /* in shared memory */

    __device__ double from(double x, unsigned of) const {
        return __shfl_sync(mask, x, (int)(threadIdx.x % CAROM_WARP - lane + of));
    }
};

/* Evaluates with one tolerance; *error is the bound of the error. */
static __device__ double fraction_evaluate(const fraction_view &v, const fraction_group &g,
                                           const double *at, double tolerance, double *error) {
    carom_bvh_lane sum = carom_bvh_lane_begin();
    unsigned count = 1, first = threadIdx.x % CAROM_WARP - g.lane;
    if (g.lane == 0) g.stack[0] = make_uint2(v.field.level_count, 0);
    __syncwarp(g.mask);
    while (count > 0) {
        uint2 top = g.stack[--count];
        if (top.x == 0) {
            const uint64_t size = 9 * CAROM_BVH_WIDTH;
            carom_bvh_lane_add_near(v.corners + size * top.y + g.lane, at, &sum);
            continue;
        }
        const uint64_t node = v.field.first[top.x] + top.y;
        bool open = carom_bvh_lane_add_far(
            v.moments + CAROM_BVH_MOMENTS * CAROM_BVH_WIDTH * node + g.lane, at, tolerance, &sum);
        unsigned lanes = __ballot_sync(g.mask, open) >> first & ((1u << CAROM_BVH_WIDTH) - 1u);
        CAROM_ASSERT(count + __popc(lanes) <= FRACTION_STACK);
        if (open)
            g.stack[count + __popc(lanes & ((1u << g.lane) - 1u))] =
                make_uint2(top.x - 1u, top.y * CAROM_BVH_WIDTH + g.lane);
        count += __popc(lanes);
        __syncwarp(g.mask);
    }
    carom_bvh_total total = carom_bvh_total_begin();
    for (unsigned lane = 0; lane < CAROM_BVH_WIDTH; ++lane)
        carom_bvh_total_add(&total, g.from(sum.far, lane), g.from(sum.error, lane),
                            g.from(sum.real, lane), g.from(sum.imaginary, lane),
                            g.from(sum.turns, lane));
    return carom_bvh_total_fraction(&total, error);
}

static __device__ double fraction_of(const fraction_view &v, const fraction_group &g,
                                     carom_vec3 point) {
    const carom_device_field &f = v.field;
    carom_vec3 p = carom_vec_sub(carom_vec_scale(point, f.scale), f.origin);
    const double at[3] = {p.x, p.y, p.z};
    double tolerance = CAROM_BVH_FIRST_TOLERANCE, error = 0.0, fraction = 0.0;
    if (f.level_count == 0 || !carom_vec_within(p, CAROM_WINDING_FARTHEST)) return 0.0;
    for (int i = 1; i <= CAROM_BVH_MOST_TRIES; ++i, tolerance *= CAROM_BVH_NEXT_TRY) {
        if (i == CAROM_BVH_MOST_TRIES) tolerance = 0.0;
        fraction = fraction_evaluate(v, g, at, tolerance, &error);
        if (error <= CAROM_BVH_FRACTION_ERROR) break;
    }
    return fraction;
}

static __global__ void __launch_bounds__(FRACTION_THREADS)
    fraction_compute(fraction_view v, uint64_t count, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ uint2 stacks[FRACTION_GROUPS][FRACTION_STACK];
    fraction_group g;
    unsigned group = threadIdx.x / CAROM_BVH_WIDTH;
    g.lane = threadIdx.x % CAROM_BVH_WIDTH;
    g.mask = ((1u << CAROM_BVH_WIDTH) - 1u) << (threadIdx.x % CAROM_WARP - g.lane);
    g.stack = stacks[group];
    for (uint64_t i = (uint64_t)blockIdx.x * FRACTION_GROUPS + group; i < count;
         i += (uint64_t)gridDim.x * FRACTION_GROUPS) {
        carom_vec3 point = v.points[i];
        if (carom_vec_finite(point)) {
            double fraction = fraction_of(v, g, point);
            if (g.lane == 0) v.fractions[i] = fraction;
        } else if (g.lane == 0) {
            atomicAdd(&counters->n[CAROM_BATCH_N_BAD], 1ull); /* rare */
        }
    }
}

/* ---- Queueing -------------------------------------------------------------------------------- */

struct fraction_arguments {
    carom_device_field field;
    const carom_vec3 *points; /* on the device, as is: */
    double *fractions;
    uint64_t count;
};

static uint64_t fraction_row(const carom_device_field *field) {
    return carom_device_row(field->corner_bytes);
}

static carom_status fraction_reserve(carom_device *, carom_device_op *) {
    return CAROM_OK; /* the field is there already */
}

static void fraction_launch(carom_device *device, carom_device_op *op) {
    const fraction_arguments *a = carom_device_arguments<fraction_arguments>(op);
    uint64_t row = fraction_row(&a->field);
    carom_device_clear(device, op);
    if (a->count == 0) return;
    const char *field =
        carom_device_take<char>(device, CAROM_SCRATCH_BATCH_FIELD, row + a->field.moment_bytes);
    fraction_view v = {(const double *)field, (const double *)(field + row), a->field, a->points,
                       a->fractions};
    carom_device_step(device, "solid angles");
    carom_device_launch(device, fraction_compute,
                        carom_device_resident(device, fraction_compute, FRACTION_THREADS),
                        FRACTION_THREADS, v, a->count, op->counters);
}

static carom_status fraction_finish(carom_device *device, carom_device_op *,
                                    const carom_device_counters *counters, bool *again) {
    *again = false;
    if (counters->n[CAROM_BATCH_N_BAD] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT, "%llu %s %s", counters->n[CAROM_BATCH_N_BAD],
                             points_kind::name, points_kind::bad);
}

/* Finishes what is queued, as only one field is kept, then copies it and queues the query. */
static carom_status points_fractions(carom_device *device, const carom_device_field *field,
                                     const carom_vec3 *points, uint64_t count, double *fractions) {
    carom_device_op op = {fraction_reserve, fraction_launch, fraction_finish, nullptr, {}};
    uint64_t row = fraction_row(field);
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_BATCH_FIELD,
                                                  row + field->moment_bytes, "winding numbers"));
    char *to = carom_device_scratch_data<char>(device, CAROM_SCRATCH_BATCH_FIELD);
    const struct {
        char *to;
        const void *from;
        uint64_t bytes;
    } parts[] = {{to, field->corners, field->corner_bytes},
                 {to + row, field->moments, field->moment_bytes}};
    for (const auto &part : parts)
        if (part.bytes != 0)
            CAROM_DEVICE_TRY(
                carom_device_write(device, part.to, part.from, part.bytes, "copying moments"));
    *carom_device_arguments<fraction_arguments>(&op) =
        fraction_arguments{*field, points, fractions, count};
    return carom_device_submit(device, &op);
}

static carom_status points_fractions_of_host(carom_device *device, const carom_device_field *field,
                                             const carom_vec3 *points, uint64_t count,
                                             double *fractions) {
    for (uint64_t at = 0; at < count; at += CAROM_BATCH_FROM_HOST) {
        uint64_t some = CAROM_MIN(count - at, (uint64_t)CAROM_BATCH_FROM_HOST);
        CAROM_DEVICE_TRY(winding_begin_some(device, points + at, some, some * sizeof(*fractions)));
        double *out = carom_device_scratch_data<double>(device, CAROM_SCRATCH_BATCH_OUTPUT);
        CAROM_DEVICE_TRY(points_fractions(
            device, field, carom_device_scratch_data<carom_vec3>(device, CAROM_SCRATCH_BATCH_INPUT),
            some, out));
        CAROM_DEVICE_TRY(carom_device_finish(device));
        CAROM_DEVICE_TRY(carom_device_check(
            device, cudaMemcpy(fractions + at, out, some * sizeof(*out), cudaMemcpyDeviceToHost),
            "copying results"));
    }
    return CAROM_OK;
}

#endif
