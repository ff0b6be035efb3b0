/* SPDX-License-Identifier: MIT */
/* soup_segments_cuda.h: where given pairs of faces meet, on the GPU (soup_segments.c), included by
 * soup_cuda.cu alone.
 *
 * A thread per pair decides and rounds with the items of the CPU (intersection_item.h), integers
 * included. Segments are appended in any order, each with its pair and its number there; then the
 * counts of the pairs are added up, and each segment is copied to its place. Pairs for which
 * integers on the device are too short are listed for the host. */
#ifndef CAROM_SRC_SOUP_SOUP_SEGMENTS_CUDA_H
#define CAROM_SRC_SOUP_SOUP_SEGMENTS_CUDA_H

#include "base/scan_cuda.h"
#include "geom/intersection_item.h"

#define SEGMENTS_CUDA_THREADS 128u
/* Such blocks per processor: a thread needs some kilobytes for integers. */
#define SEGMENTS_CUDA_BLOCKS 2u

enum { SEGMENTS_CUDA_N_FOUND, SEGMENTS_CUDA_N_HOST, SEGMENTS_CUDA_N_NOT_FINITE };

/* A carom_soup_segment without padding, as its bytes are compared. */
struct segments_cuda_bytes {
    uint32_t pair[2], kind, crossing;
    carom_vec3 p, q;
};
static_assert(sizeof(segments_cuda_bytes) == sizeof(carom_soup_segment) &&
                  offsetof(segments_cuda_bytes, crossing) ==
                      offsetof(carom_soup_segment, crossing) &&
                  offsetof(segments_cuda_bytes, p) == offsetof(carom_soup_segment, p),
              "the bytes of a segment");

struct segments_cuda_found {
    segments_cuda_bytes segment;
    uint32_t pair, number; /* of the pair, and of the segment among those of the pair */
};

/* The triangles [x, y) of a face. */
static __device__ uint2 segments_cuda_span(const soup_cuda_side &s, uint32_t face) {
    if (s.faces == nullptr) return make_uint2(face, face + 1u);
    uint32_t low = 0, high = s.triangle_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2u;
        if (s.faces[middle] < face)
            low = middle + 1u;
        else
            high = middle;
    }
    for (high = low; high < s.triangle_count && s.faces[high] == face;) ++high;
    return make_uint2(low, high);
}

static __device__ bool segments_cuda_load(const soup_cuda_side &s, uint32_t triangle,
                                          carom_triangle *t) {
    const uint32_t *corners = s.corners + 3 * (uint64_t)triangle;
    bool finite = true;
    for (int i = 0; i < 3; ++i) {
        t->corner[i] = soup_cuda_load_posed(s, corners[i]);
        finite = finite && carom_vec_finite(t->corner[i]);
    }
    return finite;
}

/* Adds the segments of two triangles; false: integers here are too short for them. */
static __device__ bool segments_cuda_intersect(const carom_triangle &a, const carom_triangle &b,
                                               segments_cuda_found *next,
                                               const carom_device_list<segments_cuda_found> &list) {
    carom_intersection common;
    if (carom_triangle_filter(&a, &b) == CAROM_NO) return true;
    if (!carom_intersection_fits(&a, &b)) return false;
    carom_intersect_triangles(&a, &b, &common);
    for (int i = 0; i < common.count; ++i) {
        next->segment.kind = common.dimension == 0   ? CAROM_SOUP_SEGMENT_KIND_POINT
                             : common.dimension == 1 ? CAROM_SOUP_SEGMENT_KIND_SEGMENT
                                                     : CAROM_SOUP_SEGMENT_KIND_OUTLINE;
        next->segment.crossing = common.interior ? 1u : 0u;
        next->segment.p = common.end[i][0];
        next->segment.q = common.end[i][1];
        list.append(*next);
        ++next->number;
    }
    return true;
}

/* counts[i]: the segments of pair i; CAROM_NONE where the host decides, whatever the list has. */
static __global__ void __launch_bounds__(SEGMENTS_CUDA_THREADS, SEGMENTS_CUDA_BLOCKS)
    segments_cuda_find(soup_cuda_view v, const uint2 *pairs, uint32_t count, uint32_t *counts,
                       carom_device_list<segments_cuda_found> list,
                       carom_device_count *not_finite) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint2 pair = pairs[i];
        const soup_cuda_side &side_b = v.cross ? v.b : v.a;
        uint2 of_a = segments_cuda_span(v.a, pair.x), of_b = segments_cuda_span(side_b, pair.y);
        segments_cuda_found next = {{{pair.x, pair.y}, 0, 0, {}, {}}, (uint32_t)i, 0};
        bool fits = true;
        for (uint32_t ta = of_a.x; ta < of_a.y && fits; ++ta)
            for (uint32_t tb = of_b.x; tb < of_b.y && fits; ++tb) {
                carom_triangle a, b;
                if (segments_cuda_load(v.a, ta, &a) && segments_cuda_load(side_b, tb, &b))
                    fits = segments_cuda_intersect(a, b, &next, list);
                else
                    atomicAdd(not_finite, 1ull); /* finish fails */
            }
        counts[i] = fits ? next.number : CAROM_NONE;
    }
}

/* Lists the pairs for the host, and makes their counts 0. */
static __global__ void segments_cuda_gather(uint32_t *counts, uint32_t count,
                                            carom_device_list<uint32_t> host) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        if (counts[i] != CAROM_NONE) continue;
        counts[i] = 0;
        host.append((uint32_t)i);
    }
}

static __global__ void segments_cuda_order(carom_device_list<segments_cuda_found> list,
                                           const uint32_t *counts, const uint32_t *starts,
                                           segments_cuda_bytes *ordered) {
    carom_device_begin();
    uint64_t count = list.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const segments_cuda_found &f = list.data[i];
        if (f.number < counts[f.pair]) ordered[starts[f.pair] + f.number] = f.segment;
    }
}

/* ---- Queueing -------------------------------------------------------------------------------- */

struct segments_cuda_arguments {
    carom_device_posed a, b; /* b.soup NULL: one soup */
    uint32_t count;
    carom_device_segments *result; /* of the caller, who waits */
};

/* Per pair, in one block: its faces, how many segments it has, where they begin, and memory to add
 * the counts up. */
struct segments_cuda_rows {
    uint2 *pairs;
    uint32_t *counts, *starts;
    void *scan;
    size_t scan_bytes;
};

static uint64_t segments_cuda_lay_out(uint32_t count, char *memory, segments_cuda_rows *rows) {
    uint64_t pairs = carom_device_row(count * sizeof(uint2));
    uint64_t row = carom_device_row(((uint64_t)count + 1) * sizeof(uint32_t));
    rows->pairs = (uint2 *)memory;
    rows->counts = (uint32_t *)(memory + pairs);
    rows->starts = (uint32_t *)(memory + pairs + row);
    rows->scan = memory + pairs + 2 * row;
    rows->scan_bytes = carom_device_scan_bytes((uint64_t)count + 1);
    return pairs + 2 * row + rows->scan_bytes;
}

static carom_status segments_cuda_reserve(carom_device *device, carom_device_op *op) {
    const segments_cuda_arguments *a = carom_device_arguments<segments_cuda_arguments>(op);
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {{CAROM_SCRATCH_SEGMENTS_FOUND, a->count, sizeof(segments_cuda_found)},
                 {CAROM_SCRATCH_SEGMENTS_ORDERED, a->count, sizeof(segments_cuda_bytes)},
                 {CAROM_SCRATCH_SEGMENTS_HOST, 0, sizeof(uint32_t)}};
    for (const auto &list : lists)
        CAROM_DEVICE_TRY(carom_device_reserve_list(
            device, list.block, list.entries + CAROM_DEVICE_LIST_ENTRIES, list.size, "segments"));
    return CAROM_OK;
}

static void segments_cuda_launch(carom_device *device, carom_device_op *op) {
    const segments_cuda_arguments *a = carom_device_arguments<segments_cuda_arguments>(op);
    segments_cuda_rows rows = {};
    soup_cuda_view v = view_of_soup(a->a.soup);
    uint64_t bytes = segments_cuda_lay_out(a->count, nullptr, &rows);
    (void)segments_cuda_lay_out(
        a->count, carom_device_take<char>(device, CAROM_SCRATCH_SEGMENTS_ROWS, bytes), &rows);
    v.a.moved = a->a.moved;
    v.a.frame = a->a.frame;
    if (a->b.soup != nullptr) {
        v.cross = true;
        v.b = soup_cuda_side_of_soup(a->b.soup);
        v.b.moved = a->b.moved;
        v.b.frame = a->b.frame;
    }
    carom_device_clear(device, op);
    carom_device_list<segments_cuda_found> found = carom_device_list_of<segments_cuda_found>(
        device, CAROM_SCRATCH_SEGMENTS_FOUND, op, SEGMENTS_CUDA_N_FOUND);
    carom_device_list<uint32_t> host = carom_device_list_of<uint32_t>(
        device, CAROM_SCRATCH_SEGMENTS_HOST, op, SEGMENTS_CUDA_N_HOST);
    uint64_t most = carom_device_scratch_bytes(device, CAROM_SCRATCH_SEGMENTS_ORDERED);
    segments_cuda_bytes *ordered =
        carom_device_take<segments_cuda_bytes>(device, CAROM_SCRATCH_SEGMENTS_ORDERED, most);
    const unsigned many = SEGMENTS_CUDA_BLOCKS * (unsigned)device->processors;
    const uint64_t room = most / sizeof(*ordered);
    found.capacity = CAROM_MIN(room, found.capacity);
    carom_device_step(device, "segments");
    carom_device_launch(device, segments_cuda_find, many, SEGMENTS_CUDA_THREADS, v, rows.pairs,
                        a->count, rows.counts, found, &op->counters->n[SEGMENTS_CUDA_N_NOT_FINITE]);
    carom_device_launch(device, segments_cuda_gather, many, SEGMENTS_CUDA_THREADS, rows.counts,
                        a->count, host);
    carom_device_step(device, "order");
    carom_device_scan(device, rows.scan, rows.scan_bytes, rows.counts, rows.starts,
                      (uint64_t)a->count + 1);
    carom_device_launch(device, segments_cuda_order, many, SEGMENTS_CUDA_THREADS, found,
                        rows.counts, rows.starts, ordered);
}

static carom_status segments_cuda_finish(carom_device *device, carom_device_op *op,
                                         const carom_device_counters *counters, bool *again) {
    const segments_cuda_arguments *a = carom_device_arguments<segments_cuda_arguments>(op);
    const carom_device_count *n = counters->n;
    segments_cuda_rows rows = {};
    if (n[SEGMENTS_CUDA_N_NOT_FINITE] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a pose moves %llu triangles beyond the range of doubles",
                                 n[SEGMENTS_CUDA_N_NOT_FINITE]);
    if (n[SEGMENTS_CUDA_N_FOUND] > UINT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE,
                                 "%llu segments of %u pairs are too many to number",
                                 n[SEGMENTS_CUDA_N_FOUND], a->count);
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {
        {CAROM_SCRATCH_SEGMENTS_FOUND, n[SEGMENTS_CUDA_N_FOUND], sizeof(segments_cuda_found)},
        {CAROM_SCRATCH_SEGMENTS_ORDERED, n[SEGMENTS_CUDA_N_FOUND], sizeof(segments_cuda_bytes)},
        {CAROM_SCRATCH_SEGMENTS_HOST, n[SEGMENTS_CUDA_N_HOST], sizeof(uint32_t)}};
    *again = false;
    for (const auto &list : lists)
        *again = carom_device_list_grows(device, list.block, list.entries, list.size) || *again;
    if (*again) return CAROM_OK;
    (void)segments_cuda_lay_out(
        a->count, carom_device_scratch_data<char>(device, CAROM_SCRATCH_SEGMENTS_ROWS), &rows);
    device->steps.open_in_doubles = n[SEGMENTS_CUDA_N_HOST];
    *a->result = carom_device_segments{
        carom_device_scratch_data<carom_soup_segment>(device, CAROM_SCRATCH_SEGMENTS_ORDERED),
        rows.starts, carom_device_scratch_data<uint32_t>(device, CAROM_SCRATCH_SEGMENTS_HOST),
        n[SEGMENTS_CUDA_N_HOST]};
    return CAROM_OK;
}

static carom_status soup_segments(carom_device *device, const carom_device_posed *a,
                                  const carom_device_posed *b, const carom_pair *pairs,
                                  uint32_t count, carom_device_segments *result) {
    carom_device_op op = {
        segments_cuda_reserve, segments_cuda_launch, segments_cuda_finish, nullptr, {}};
    segments_cuda_rows rows = {};
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_SEGMENTS_ROWS,
                                                  segments_cuda_lay_out(count, nullptr, &rows),
                                                  "segments"));
    char *memory = carom_device_scratch_data<char>(device, CAROM_SCRATCH_SEGMENTS_ROWS);
    (void)segments_cuda_lay_out(count, memory, &rows);
    CAROM_DEVICE_TRY(
        carom_device_write(device, rows.pairs, pairs, count * sizeof(*pairs), "copying pairs"));
    CAROM_DEVICE_TRY(carom_device_check(
        device, cudaMemsetAsync(rows.counts + count, 0, sizeof(*rows.counts), device->stream),
        "clearing a count"));
    *carom_device_arguments<segments_cuda_arguments>(&op) =
        segments_cuda_arguments{*a, b != nullptr ? *b : carom_device_posed{}, count, result};
    CAROM_DEVICE_TRY(carom_device_submit(device, &op));
    return carom_device_finish(device);
}

#endif
