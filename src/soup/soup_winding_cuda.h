/* SPDX-License-Identifier: MIT */
/* soup_winding_cuda.h: exact winding numbers of points on the GPU (soup_winding.c), included by
 * soup_points_cuda.cu alone.
 *
 * A thread per point visits the nodes of the wide tree that a ray upwards may meet, and counts the
 * triangles that the ray crosses: in doubles, by their filters. The few triangles that these leave
 * open, as those that hold the point, are listed and decided by the exact items of the CPU, each by
 * a thread of its own. Crossings are added up, so their order does not matter. */
#ifndef CAROM_SRC_SOUP_SOUP_WINDING_CUDA_H
#define CAROM_SRC_SOUP_SOUP_WINDING_CUDA_H

#include "bvh/bvh_winding_item.h"

/* As CAROM_SOUP_ON_SURFACE of soup_points.h. */
#define WINDING_ON_SURFACE INT32_MAX
/* Until signed distances are computed, their doubles hold winding numbers in the lower halves, and
 * this upper half, which no distance has: it is that of a NaN. */
#define WINDING_MARK 0x7FF7C0DE
/* In the unit frame, beyond all boxes. */
#define WINDING_OUTSIDE 1.0625
/* Threads per block, and blocks, for triangles that filters leave open. */
#define WINDING_EXACT_THREADS 128u
#define WINDING_EXACT_BLOCKS  4u /* per processor */

struct winding_view {
    carom_soup_cuda_arrays soup;
    carom_bvh8_tree tree;
    const carom_vec3 *points;
    int32_t *windings;
    uint32_t stride; /* 2: lower halves of doubles */

    __device__ void set(uint64_t query, int32_t winding) const {
        windings[stride * query] = winding;
        if (stride == 2) windings[2 * query + 1] = WINDING_MARK;
    }
};

/* What a triangle adds to the winding number, as carom_winding_face; false: doubles leave it open.
 */
static __device__ inline bool winding_filter(const carom_triangle &t, carom_vec3 q, int *adds) {
    const carom_vec3 *p = t.corner;
    *adds = 0;
    if (p[0].z < q.z && p[1].z < q.z && p[2].z < q.z) return true;
    int a = carom_orient2d_filter(p[0].x, p[0].y, p[1].x, p[1].y, q.x, q.y);
    int b = carom_orient2d_filter(p[1].x, p[1].y, p[2].x, p[2].y, q.x, q.y);
    int c = carom_orient2d_filter(p[2].x, p[2].y, p[0].x, p[0].y, q.x, q.y);
    bool left = a == 1 || b == 1 || c == 1, right = a == -1 || b == -1 || c == -1;
    if (left && right) return true; /* the point is beside the triangle */
    if (a != b || b != c || a == CAROM_ORIENT_UNDECIDED || a == 0) return false;
    int above = carom_orient3d_filter(p[0], p[1], p[2], q);
    if (above == CAROM_ORIENT_UNDECIDED || above == 0) return false;
    *adds = above * a < 0 ? a : 0;
    return true;
}

/* Counts one triangle, or lists it. */
static __device__ inline void winding_count(const winding_view &v, uint32_t query, carom_vec3 q,
                                            uint32_t slot, uint32_t item, int *winding,
                                            const carom_device_list<uint2> &open) {
    int adds;
    if (winding_filter(carom_soup_cuda_slot(v.soup, slot, item), q, &adds))
        *winding += adds;
    else
        open.append(make_uint2(query, item));
}

/* The children of a node that the ray upwards from a point may meet. */
static __device__ inline unsigned winding_mask(const carom_bvh8_boxes &boxes, const float *at,
                                               float margin) {
    unsigned mask = 0;
    float from[3];
    for (int k = 0; k < 3; ++k) from[k] = boxes.origin[k] - at[k];
#pragma unroll
    for (unsigned c = 0; c < CAROM_BVH8_CHILDREN; ++c) {
        bool meets = __fmaf_rn(boxes.high(c, 2), boxes.step[2], from[2]) >= -margin;
        for (int k = 0; k < 2; ++k)
            meets = meets && __fmaf_rn(boxes.low(c, k), boxes.step[k], from[k]) <= margin &&
                    __fmaf_rn(boxes.high(c, k), boxes.step[k], from[k]) >= -margin;
        mask |= meets ? 1u << c : 0u;
    }
    return mask & boxes.mask;
}

/* The winding number but for the triangles that are listed. */
static __device__ inline int winding_search(const winding_view &v, uint32_t query, carom_vec3 q,
                                            const carom_device_list<uint2> &open) {
    const carom_bvh8_frame &frame = *v.tree.frame;
    double position[3];
    float at[3];
    int winding = 0;
    carom_batch_to_frame(frame, q, position);
    for (int k = 0; k < 3; ++k) {
        position[k] *= frame.unit;
        if (position[k] > WINDING_OUTSIDE || (k < 2 && position[k] < -WINDING_OUTSIDE)) return 0;
        at[k] = (float)CAROM_MAX(position[k], -WINDING_OUTSIDE);
    }
    uint2 stack[CAROM_BVH8_STACK];
    unsigned count = 0;
    if (v.tree.items != 0) stack[count++] = make_uint2(v.tree.levels - 1, 0);
    while (count != 0) {
        uint2 top = stack[--count];
        carom_bvh8_boxes boxes;
        boxes.load(v.tree.nodes + v.tree.first[top.x] + top.y);
        unsigned mask = winding_mask(boxes, at, 4.0f * CAROM_BVH8_GAP_ERROR);
        for (; mask != 0; mask &= mask - 1u) {
            uint32_t child = top.y * CAROM_BVH8_CHILDREN + (unsigned)__ffs((int)mask) - 1u;
            if (top.x != 0)
                stack[count++] = make_uint2(top.x - 1u, child);
            else
                winding_count(v, query, q, child, carom_batch_item(v.tree, child), &winding, open);
        }
    }
    return winding;
}

static __global__ void __launch_bounds__(CAROM_BATCH_THREADS)
    winding_find(winding_view v, uint64_t first, uint32_t count, const uint32_t *order,
                 carom_device_list<uint2> open) {
    carom_device_begin();
    uint32_t i = blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    if (i >= count) return;
    uint32_t query = (uint32_t)first + order[i];
    carom_vec3 q = v.points[query];
    int winding = 0;
    if (v.tree.frame->usable != 0 && carom_vec_finite(q)) {
        winding = winding_search(v, query, q, open);
    } else if (carom_vec_finite(q)) { /* a soup of extreme size: all triangles */
        for (uint32_t slot = 0; slot < v.soup.triangle_count; ++slot) {
            uint32_t item = v.soup.tree.items[slot];
            if (carom_soup_cuda_searched(v.soup, item))
                winding_count(v, query, q, slot, item, &winding, open);
        }
    }
    v.set(query, winding);
}

/* The triangles that filters leave open; `surface` gets the points that lie on one. */
static __global__ void __launch_bounds__(WINDING_EXACT_THREADS, WINDING_EXACT_BLOCKS)
    winding_decide(winding_view v, carom_device_list<uint2> open,
                   carom_device_list<uint32_t> surface) {
    carom_device_begin();
    uint64_t count = open.stored(), threads = (uint64_t)gridDim.x * blockDim.x;
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x, warps = threads / CAROM_WARP;
    for (uint64_t i = thread % CAROM_WARP * warps + thread / CAROM_WARP; i < count; i += threads) {
        uint2 entry = open.data[i];
        carom_triangle t = carom_soup_cuda_triangle(v.soup, entry.y);
        bool on_face = false;
        int adds = carom_winding_face(&t, v.points[entry.x], &on_face);
        if (on_face) surface.append(entry.x);
        if (adds != 0) atomicAdd(&v.windings[(uint64_t)v.stride * entry.x], adds);
    }
}

static __global__ void winding_mark_surface(winding_view v, carom_device_list<uint32_t> surface) {
    carom_device_begin();
    uint64_t count = surface.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        v.set(surface.data[i], WINDING_ON_SURFACE);
}

/* ---- Queueing -------------------------------------------------------------------------------- */

struct winding_arguments {
    const carom_device_soup *soup;
    const carom_vec3 *points; /* on the device, as is: */
    int32_t *windings;
    uint64_t count;
    uint32_t stride;
};

static uint32_t winding_chunk(const winding_arguments *a) {
    return (uint32_t)CAROM_MIN(a->count, (uint64_t)CAROM_BATCH_CHUNK);
}

static carom_status winding_reserve(carom_device *device, carom_device_op *op) {
    const winding_arguments *a = carom_device_arguments<winding_arguments>(op);
    carom_batch_order order = {};
    uint64_t entries = a->count / CAROM_BATCH_QUERIES_PER_LEFT + CAROM_DEVICE_LIST_ENTRIES;
    if (a->count > UINT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE, "%llu points are too many to number",
                                 (unsigned long long)a->count);
    CAROM_DEVICE_TRY(
        carom_batch_reserve_tree(device, carom_soup_cuda_arrays_of(a->soup).triangle_count));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_BATCH_SORT,
        carom_batch_lay_out_order(winding_chunk(a), nullptr, &order), "winding numbers"));
    CAROM_DEVICE_TRY(carom_device_reserve_list(device, CAROM_SCRATCH_BATCH_LEFT, entries,
                                               sizeof(uint2), "winding numbers"));
    return carom_device_reserve_list(device, CAROM_SCRATCH_BATCH_FOUND, entries, sizeof(uint32_t),
                                     "winding numbers");
}

static void winding_launch(carom_device *device, carom_device_op *op) {
    const winding_arguments *a = carom_device_arguments<winding_arguments>(op);
    uint32_t chunk = winding_chunk(a);
    carom_device_clear(device, op);
    if (a->count == 0) return;
    winding_view v = {carom_soup_cuda_arrays_of(a->soup), {}, a->points, a->windings, a->stride};
    v.tree = carom_batch_build(device, v.soup);
    points_view as_points = {v.soup, v.tree, a->points, nullptr};
    carom_batch_order order = {};
    uint64_t bytes = carom_batch_lay_out_order(chunk, nullptr, &order);
    (void)carom_batch_lay_out_order(
        chunk, carom_device_take<char>(device, CAROM_SCRATCH_BATCH_SORT, bytes), &order);
    carom_device_list<uint2> open =
        carom_device_list_of<uint2>(device, CAROM_SCRATCH_BATCH_LEFT, op, CAROM_BATCH_N_LEFT);
    carom_device_list<uint32_t> surface =
        carom_device_list_of<uint32_t>(device, CAROM_SCRATCH_BATCH_FOUND, op, CAROM_BATCH_N_OPEN);
    for (uint64_t first = 0; first < a->count; first += chunk) {
        uint32_t some = (uint32_t)CAROM_MIN(a->count - first, (uint64_t)chunk);
        unsigned blocks = carom_device_blocks(some, CAROM_BATCH_THREADS);
        carom_batch_order sorted = order;
        carom_device_step(device, "order");
        carom_device_launch(device, points_make_keys, blocks, CAROM_BATCH_THREADS, as_points, first,
                            some, order.keys, order.numbers, op->counters);
        carom_batch_sort(device, &sorted, some);
        carom_device_step(device, "crossings");
        carom_device_launch(device, winding_find, blocks, CAROM_BATCH_THREADS, v, first, some,
                            sorted.order, open);
    }
    carom_device_step(device, "exact crossings");
    unsigned blocks = WINDING_EXACT_BLOCKS * (unsigned)device->processors;
    carom_device_launch(device, winding_decide, blocks, WINDING_EXACT_THREADS, v, open, surface);
    carom_device_launch(device, winding_mark_surface, blocks, WINDING_EXACT_THREADS, v, surface);
}

static carom_status winding_finish(carom_device *device, carom_device_op *op,
                                   const carom_device_counters *counters, bool *again) {
    const carom_device_count *n = counters->n;
    (void)op;
    if (n[CAROM_BATCH_N_BAD] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT, "%llu %s %s", n[CAROM_BATCH_N_BAD],
                                 points_kind::name, points_kind::bad);
    *again = carom_device_list_grows(device, CAROM_SCRATCH_BATCH_LEFT, n[CAROM_BATCH_N_LEFT],
                                     sizeof(uint2));
    *again = carom_device_list_grows(device, CAROM_SCRATCH_BATCH_FOUND, n[CAROM_BATCH_N_OPEN],
                                     sizeof(uint32_t)) ||
             *again;
    if (!*again) device->steps.open_in_floats = n[CAROM_BATCH_N_LEFT];
    return CAROM_OK;
}

static carom_status winding_submit(carom_device *device, const carom_device_soup *soup,
                                   const carom_vec3 *points, uint64_t count, int32_t *windings,
                                   uint32_t stride) {
    carom_device_op op = {winding_reserve, winding_launch, winding_finish, nullptr, {}};
    *carom_device_arguments<winding_arguments>(&op) =
        winding_arguments{soup, points, windings, count, stride};
    op.uses[0] = soup;
    return carom_device_submit(device, &op);
}

static carom_status points_winding(carom_device *device, const carom_device_soup *soup,
                                   const carom_vec3 *points, uint64_t count, int32_t *windings) {
    return winding_submit(device, soup, points, count, windings, 1);
}

/* ---- Arrays of the host ---------------------------------------------------------------------- */

/* Copies some points to the device and makes room for so many bytes of results. */
static carom_status winding_begin_some(carom_device *device, const carom_vec3 *points,
                                       uint64_t count, uint64_t bytes) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_BATCH_INPUT,
                                                  count * sizeof(*points), "points"));
    CAROM_DEVICE_TRY(
        carom_device_reserve_scratch(device, CAROM_SCRATCH_BATCH_OUTPUT, bytes, "results"));
    return carom_device_check(
        device,
        cudaMemcpyAsync(carom_device_scratch_data<void>(device, CAROM_SCRATCH_BATCH_INPUT), points,
                        count * sizeof(*points), cudaMemcpyHostToDevice, device->stream),
        "copying points");
}

static carom_status points_winding_of_host(carom_device *device, const carom_device_soup *soup,
                                           const carom_vec3 *points, uint64_t count,
                                           int32_t *windings) {
    for (uint64_t at = 0; at < count; at += CAROM_BATCH_FROM_HOST) {
        uint64_t some = CAROM_MIN(count - at, (uint64_t)CAROM_BATCH_FROM_HOST);
        CAROM_DEVICE_TRY(winding_begin_some(device, points + at, some, some * sizeof(*windings)));
        int32_t *out = carom_device_scratch_data<int32_t>(device, CAROM_SCRATCH_BATCH_OUTPUT);
        CAROM_DEVICE_TRY(points_winding(
            device, soup, carom_device_scratch_data<carom_vec3>(device, CAROM_SCRATCH_BATCH_INPUT),
            some, out));
        CAROM_DEVICE_TRY(carom_device_finish(device));
        CAROM_DEVICE_TRY(carom_device_copy(device, windings + at, out, some * sizeof(*out),
                                           cudaMemcpyDeviceToHost, "copying results"));
    }
    return CAROM_OK;
}

#endif
