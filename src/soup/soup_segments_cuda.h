/* SPDX-License-Identifier: MIT */
/* soup_segments_cuda.h: where given pairs of faces meet, on the GPU (soup_segments.c), included by
 * soup_cuda.cu alone.
 *
 * A thread per pair decides and rounds with the items of the CPU (intersection_item.h), integers
 * included. Segments are appended in any order, each with its pair and its number there; then the
 * counts of the pairs are added up, and each segment is copied to its place. Pairs for which
 * integers on the device are too short are listed for the host: with pairs in device memory as
 * triangles, whose segments finish puts between the others. */
#ifndef CAROM_SRC_SOUP_SOUP_SEGMENTS_CUDA_H
#define CAROM_SRC_SOUP_SOUP_SEGMENTS_CUDA_H

#include "base/scan_cuda.h"
#include "geom/intersection_item.h"

#define SEGMENTS_CUDA_THREADS 128u
/* Such blocks per processor: a thread needs some kilobytes for integers. */
#define SEGMENTS_CUDA_BLOCKS 2u

enum {
    SEGMENTS_CUDA_N_FOUND,
    SEGMENTS_CUDA_N_HOST,
    SEGMENTS_CUDA_N_NOT_FINITE,
    SEGMENTS_CUDA_N_OPEN,
    SEGMENTS_CUDA_N_BAD,
    SEGMENTS_CUDA_N_TOTAL
};

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

/* The given pairs: `most` of them, or *stored of these. */
struct segments_cuda_pairs {
    const uint2 *data;
    const uint64_t *stored; /* NULL: all */
    uint32_t most;
};

/* Whether a soup has a face that is not removed. */
static __device__ bool segments_cuda_has(const soup_cuda_side &s, uint32_t face) {
    if (face >= s.face_count) return false;
    uint2 of = segments_cuda_span(s, face);
    return of.x < of.y && (s.states[of.x] & CAROM_SOUP_CUDA_DEAD) == 0;
}

/* counts[i]: the segments of pair i; CAROM_NONE where the host decides, whatever the list has; 0
 * for pairs that are not there, or whose faces are not. */
static __global__ void __launch_bounds__(SEGMENTS_CUDA_THREADS, SEGMENTS_CUDA_BLOCKS)
    segments_cuda_find(soup_cuda_view v, segments_cuda_pairs pairs, uint32_t *counts,
                       carom_device_list<segments_cuda_found> list,
                       carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = pairs.most;
    if (pairs.stored != nullptr) /* a list that is too short is made anew, and this repeated */
        count = *pairs.stored <= pairs.most ? *pairs.stored : 0;
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs.most;
         i += (uint64_t)gridDim.x * blockDim.x) {
        counts[i] = 0;
        if (i >= count) continue;
        uint2 pair = pairs.data[i];
        const soup_cuda_side &side_b = v.cross ? v.b : v.a;
        if (!segments_cuda_has(v.a, pair.x) || !segments_cuda_has(side_b, pair.y)) {
            atomicAdd(&counters->n[SEGMENTS_CUDA_N_BAD], 1ull); /* finish fails */
            continue;
        }
        uint2 of_a = segments_cuda_span(v.a, pair.x), of_b = segments_cuda_span(side_b, pair.y);
        segments_cuda_found next = {{{pair.x, pair.y}, 0, 0, {}, {}}, (uint32_t)i, 0};
        bool fits = true;
        for (uint32_t ta = of_a.x; ta < of_a.y && fits; ++ta)
            for (uint32_t tb = of_b.x; tb < of_b.y && fits; ++tb) {
                carom_triangle a, b;
                if (segments_cuda_load(v.a, ta, &a) && segments_cuda_load(side_b, tb, &b))
                    fits = segments_cuda_intersect(a, b, &next, list);
                else
                    atomicAdd(&counters->n[SEGMENTS_CUDA_N_NOT_FINITE], 1ull); /* finish fails */
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

static __device__ inline void segments_cuda_put(const segments_cuda_found &f,
                                                const uint32_t *counts, const uint32_t *starts,
                                                segments_cuda_bytes *ordered, uint64_t room) {
    uint64_t at = (uint64_t)starts[f.pair] + f.number;
    if (f.number < counts[f.pair] && at < room) ordered[at] = f.segment;
}

/* Copies segments to their places, as far as there is room. */
static __global__ void segments_cuda_order(carom_device_list<segments_cuda_found> list,
                                           const uint32_t *counts, const uint32_t *starts,
                                           segments_cuda_bytes *ordered, uint64_t room) {
    carom_device_begin();
    uint64_t count = list.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        segments_cuda_put(list.data[i], counts, starts, ordered, room);
}

/* ---- Pairs in device memory ------------------------------------------------------------------ */

/* Triangles of a pair for the host; `number` is among those of the pair. */
struct segments_cuda_open {
    uint32_t pair, number;
    carom_pair faces;
    carom_triangle a, b;
};

/* Lists the triangles of the pairs for the host. */
static __global__ void segments_cuda_list_open(soup_cuda_view v, segments_cuda_pairs pairs,
                                               carom_device_list<uint32_t> host,
                                               carom_device_list<segments_cuda_open> open) {
    carom_device_begin();
    uint64_t count = host.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const soup_cuda_side &side_b = v.cross ? v.b : v.a;
        const uint2 pair = pairs.data[host.data[i]];
        uint2 of_a = segments_cuda_span(v.a, pair.x), of_b = segments_cuda_span(side_b, pair.y);
        segments_cuda_open entry;
        entry.pair = host.data[i];
        entry.number = 0;
        entry.faces.a = pair.x;
        entry.faces.b = pair.y;
        for (uint32_t ta = of_a.x; ta < of_a.y; ++ta)
            for (uint32_t tb = of_b.x; tb < of_b.y; ++tb) {
                (void)segments_cuda_load(v.a, ta, &entry.a);
                (void)segments_cuda_load(side_b, tb, &entry.b);
                open.append(entry);
                ++entry.number;
            }
    }
}

/* How many segments there are. */
static __global__ void segments_cuda_total(const uint32_t *starts, uint32_t pairs,
                                           carom_device_counters *counters) {
    carom_device_begin();
    counters->n[SEGMENTS_CUDA_N_TOTAL] = starts[pairs];
}

/* Adds the segments of the host to the counts. */
static __global__ void segments_cuda_count_host(const segments_cuda_found *of_host, uint64_t count,
                                                uint32_t *totals) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        atomicAdd(&totals[of_host[i].pair], 1u);
}

static __global__ void segments_cuda_put_host(const segments_cuda_found *of_host, uint64_t count,
                                              const uint32_t *totals, const uint32_t *starts,
                                              segments_cuda_bytes *ordered, uint64_t room) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        segments_cuda_put(of_host[i], totals, starts, ordered, room);
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
    uint32_t *counts, *starts, *totals; /* the last with what the host finds */
    void *scan;
    size_t scan_bytes;
};

static uint64_t segments_cuda_lay_out(uint32_t count, char *memory, segments_cuda_rows *rows) {
    uint64_t pairs = carom_device_row(count * sizeof(uint2));
    uint64_t row = carom_device_row(((uint64_t)count + 1) * sizeof(uint32_t));
    rows->pairs = (uint2 *)memory;
    rows->counts = (uint32_t *)(memory + pairs);
    rows->starts = (uint32_t *)(memory + pairs + row);
    rows->totals = (uint32_t *)(memory + pairs + 2 * row);
    rows->scan = memory + pairs + 3 * row;
    rows->scan_bytes = carom_device_scan_bytes((uint64_t)count + 1);
    return pairs + 3 * row + rows->scan_bytes;
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

static soup_cuda_view segments_cuda_view_of(const carom_device_posed &a,
                                            const carom_device_posed &b) {
    soup_cuda_view v = view_of_soup(a.soup);
    v.a.moved = a.moved;
    v.a.frame = a.frame;
    if (b.soup == nullptr) return v;
    v.cross = true;
    v.b = soup_cuda_side_of_soup(b.soup);
    v.b.moved = b.moved;
    v.b.frame = b.frame;
    return v;
}

static void segments_cuda_launch(carom_device *device, carom_device_op *op) {
    const segments_cuda_arguments *a = carom_device_arguments<segments_cuda_arguments>(op);
    segments_cuda_rows rows = {};
    soup_cuda_view v = segments_cuda_view_of(a->a, a->b);
    uint64_t bytes = segments_cuda_lay_out(a->count, nullptr, &rows);
    (void)segments_cuda_lay_out(
        a->count, carom_device_take<char>(device, CAROM_SCRATCH_SEGMENTS_ROWS, bytes), &rows);
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
    const segments_cuda_pairs pairs = {rows.pairs, nullptr, a->count};
    carom_device_launch(device, segments_cuda_find, many, SEGMENTS_CUDA_THREADS, v, pairs,
                        rows.counts, found, op->counters);
    carom_device_launch(device, segments_cuda_gather, many, SEGMENTS_CUDA_THREADS, rows.counts,
                        a->count, host);
    carom_device_step(device, "order");
    carom_device_scan(device, rows.scan, rows.scan_bytes, rows.counts, rows.starts,
                      (uint64_t)a->count + 1);
    carom_device_launch(device, segments_cuda_order, many, SEGMENTS_CUDA_THREADS, found,
                        rows.counts, rows.starts, ordered, room);
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
    CAROM_DEVICE_TRY(carom_device_copy(device, rows.pairs, pairs, count * sizeof(*pairs),
                                       cudaMemcpyHostToDevice, "copying pairs"));
    CAROM_DEVICE_TRY(carom_device_check(
        device, cudaMemsetAsync(rows.counts + count, 0, sizeof(*rows.counts), device->stream),
        "clearing a count"));
    *carom_device_arguments<segments_cuda_arguments>(&op) =
        segments_cuda_arguments{*a, b != nullptr ? *b : carom_device_posed{}, count, result};
    CAROM_DEVICE_TRY(carom_device_submit(device, &op));
    return carom_device_finish(device);
}

/* ---- The same with pairs and segments in device memory --------------------------------------- */

struct segments_of_device {
    carom_device_posed a, b;
    const carom_cuda_pairs *pairs;
    carom_cuda_segments *segments;
    carom_segments_decide_fn *decide;
};

static uint32_t segments_of_device_most(const segments_of_device *a) {
    const carom_cuda_pairs *pairs = a->pairs;
    return (uint32_t)(carom_device_count_of(pairs) != nullptr ? pairs->capacity : pairs->count);
}

static carom_status segments_of_device_make_room(carom_device *device, carom_cuda_segments *to,
                                                 uint64_t count) {
    if (to->memory == nullptr) to->memory = new (std::nothrow) carom_device_block{};
    carom_device_block *block = (carom_device_block *)to->memory;
    if (block == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for segments");
    carom_status status =
        carom_device_reserve(device, block, count * sizeof(*to->data), "the segments");
    to->data = (carom_soup_segment *)block->data;
    to->capacity = block->bytes / sizeof(*to->data);
    return status;
}

static carom_status segments_of_device_reserve(carom_device *device, carom_device_op *op) {
    const segments_of_device *a = carom_device_arguments<segments_of_device>(op);
    segments_cuda_rows rows = {};
    const carom_cuda_pairs *pairs = a->pairs;
    const uint64_t most = carom_device_count_of(pairs) != nullptr ? pairs->capacity : pairs->count;
    if (most > UINT32_MAX - 1)
        return carom_device_fail(device, CAROM_TOO_LARGE, "%llu pairs are too many to number",
                                 (unsigned long long)most);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_SEGMENTS_ROWS, segments_cuda_lay_out((uint32_t)most, nullptr, &rows),
        "segments"));
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {{CAROM_SCRATCH_SEGMENTS_FOUND, most, sizeof(segments_cuda_found)},
                 {CAROM_SCRATCH_SEGMENTS_HOST, 0, sizeof(uint32_t)},
                 {CAROM_SCRATCH_SEGMENTS_OPEN, 0, sizeof(segments_cuda_open)}};
    for (const auto &list : lists)
        CAROM_DEVICE_TRY(carom_device_reserve_list(
            device, list.block, list.entries + CAROM_DEVICE_LIST_ENTRIES, list.size, "segments"));
    return segments_of_device_make_room(device, a->segments, CAROM_MAX(most, (uint64_t)1));
}

static void segments_of_device_launch(carom_device *device, carom_device_op *op) {
    const segments_of_device *a = carom_device_arguments<segments_of_device>(op);
    const uint32_t most = segments_of_device_most(a);
    segments_cuda_rows rows = {};
    const soup_cuda_view v = segments_cuda_view_of(a->a, a->b);
    uint64_t bytes = segments_cuda_lay_out(most, nullptr, &rows);
    (void)segments_cuda_lay_out(
        most, carom_device_take<char>(device, CAROM_SCRATCH_SEGMENTS_ROWS, bytes), &rows);
    carom_device_clear(device, op);
    carom_device_list<segments_cuda_found> found = carom_device_list_of<segments_cuda_found>(
        device, CAROM_SCRATCH_SEGMENTS_FOUND, op, SEGMENTS_CUDA_N_FOUND);
    carom_device_list<uint32_t> host = carom_device_list_of<uint32_t>(
        device, CAROM_SCRATCH_SEGMENTS_HOST, op, SEGMENTS_CUDA_N_HOST);
    carom_device_list<segments_cuda_open> open = carom_device_list_of<segments_cuda_open>(
        device, CAROM_SCRATCH_SEGMENTS_OPEN, op, SEGMENTS_CUDA_N_OPEN);
    const segments_cuda_pairs pairs = {(const uint2 *)a->pairs->data,
                                       carom_device_count_of(a->pairs), most};
    const unsigned many = SEGMENTS_CUDA_BLOCKS * (unsigned)device->processors;
    (void)cudaMemsetAsync(rows.counts + most, 0, sizeof(*rows.counts), device->stream);
    carom_device_step(device, "segments");
    carom_device_launch(device, segments_cuda_find, many, SEGMENTS_CUDA_THREADS, v, pairs,
                        rows.counts, found, op->counters);
    carom_device_launch(device, segments_cuda_gather, many, SEGMENTS_CUDA_THREADS, rows.counts,
                        most, host);
    carom_device_launch(device, segments_cuda_list_open, many, SEGMENTS_CUDA_THREADS, v, pairs,
                        host, open);
    carom_device_step(device, "order");
    carom_device_scan(device, rows.scan, rows.scan_bytes, rows.counts, rows.starts,
                      (uint64_t)most + 1);
    carom_device_launch(device, segments_cuda_total, 1, 1, rows.starts, most, op->counters);
    carom_device_launch(device, segments_cuda_order, many, SEGMENTS_CUDA_THREADS, found,
                        rows.counts, rows.starts, (segments_cuda_bytes *)a->segments->data,
                        a->segments->capacity);
}

static int segments_of_device_compare(const void *a, const void *b) {
    const segments_cuda_open *x = (const segments_cuda_open *)a;
    const segments_cuda_open *y = (const segments_cuda_open *)b;
    if (x->pair != y->pair) return x->pair < y->pair ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* What the host finds of its triangles, with the pairs and numbers; returns how much. */
static uint64_t segments_of_device_decide(const segments_of_device *a, segments_cuda_open *entries,
                                          uint64_t count, segments_cuda_found *of_host) {
    uint64_t all = 0;
    uint32_t number = 0;
    qsort(entries, count, sizeof(*entries), segments_of_device_compare);
    a->segments->host_items = 0;
    for (uint64_t i = 0; i < count; ++i) {
        carom_soup_segment some[CAROM_INTERSECTION_MOST];
        const segments_cuda_open *e = &entries[i];
        if (e->number == 0) {
            number = 0;
            ++a->segments->host_items;
        }
        uint32_t n = a->decide(&e->a, &e->b, e->faces, some);
        for (uint32_t k = 0; k < n; ++k, ++number) {
            memcpy(&of_host[all].segment, &some[k], sizeof(some[k]));
            of_host[all].pair = e->pair;
            of_host[all++].number = number;
        }
    }
    return all;
}

/* Reads the triangles for the host and writes what it finds, behind them. Waits. */
static carom_status segments_of_device_query_host(carom_device *device, const segments_of_device *a,
                                                  uint64_t count, uint64_t *all) {
    segments_cuda_open *entries = (segments_cuda_open *)malloc(count * sizeof(*entries));
    segments_cuda_found *of_host =
        (segments_cuda_found *)malloc(CAROM_INTERSECTION_MOST * count * sizeof(*of_host));
    carom_status status = CAROM_OK;
    *all = 0;
    if (entries == nullptr || of_host == nullptr)
        status = carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu triangles",
                                   (unsigned long long)count);
    if (status == CAROM_OK)
        status = carom_device_copy(
            device, entries, carom_device_scratch_data<void>(device, CAROM_SCRATCH_SEGMENTS_OPEN),
            count * sizeof(*entries), cudaMemcpyDeviceToHost, "reading what is undecided");
    if (status == CAROM_OK) {
        *all = segments_of_device_decide(a, entries, count, of_host);
        status = carom_device_reserve_scratch(device, CAROM_SCRATCH_SEGMENTS_ORDERED,
                                              (*all + 1) * sizeof(*of_host), "segments");
    }
    if (status == CAROM_OK)
        status = carom_device_copy(
            device, carom_device_scratch_data<void>(device, CAROM_SCRATCH_SEGMENTS_ORDERED),
            of_host, *all * sizeof(*of_host), cudaMemcpyHostToDevice, "writing what was undecided");
    free(entries);
    free(of_host);
    return status;
}

/* Writes all segments to a result with room for them, those of the host between the others. */
static carom_status segments_of_device_write(carom_device *device, carom_device_op *op,
                                             uint64_t of_host, uint64_t all) {
    const segments_of_device *a = carom_device_arguments<segments_of_device>(op);
    const uint32_t most = segments_of_device_most(a);
    const unsigned many = SEGMENTS_CUDA_BLOCKS * (unsigned)device->processors;
    segments_cuda_rows rows = {};
    if (all > a->segments->capacity)
        CAROM_DEVICE_TRY(
            segments_of_device_make_room(device, a->segments, carom_device_enlarged(all)));
    (void)segments_cuda_lay_out(
        most, carom_device_scratch_data<char>(device, CAROM_SCRATCH_SEGMENTS_ROWS), &rows);
    const segments_cuda_found *hosts =
        carom_device_scratch_data<segments_cuda_found>(device, CAROM_SCRATCH_SEGMENTS_ORDERED);
    segments_cuda_bytes *to = (segments_cuda_bytes *)a->segments->data;
    const uint64_t room = a->segments->capacity;
    carom_device_list<segments_cuda_found> found = carom_device_list_of<segments_cuda_found>(
        device, CAROM_SCRATCH_SEGMENTS_FOUND, op, SEGMENTS_CUDA_N_FOUND);
    CAROM_DEVICE_TRY(carom_device_check(device,
                                        cudaMemcpyAsync(rows.totals, rows.counts,
                                                        ((uint64_t)most + 1) * sizeof(*rows.totals),
                                                        cudaMemcpyDeviceToDevice, device->stream),
                                        "writing segments"));
    if (of_host != 0)
        carom_device_launch(device, segments_cuda_count_host, many, SEGMENTS_CUDA_THREADS, hosts,
                            of_host, rows.totals);
    carom_device_scan(device, rows.scan, rows.scan_bytes, rows.totals, rows.starts,
                      (uint64_t)most + 1);
    carom_device_launch(device, segments_cuda_order, many, SEGMENTS_CUDA_THREADS, found,
                        rows.counts, rows.starts, to, room);
    if (of_host != 0)
        carom_device_launch(device, segments_cuda_put_host, many, SEGMENTS_CUDA_THREADS, hosts,
                            of_host, rows.totals, rows.starts, to, room);
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "writing segments");
}

static carom_status segments_of_device_finish(carom_device *device, carom_device_op *op,
                                              const carom_device_counters *counters, bool *again) {
    const segments_of_device *a = carom_device_arguments<segments_of_device>(op);
    const carom_device_count *n = counters->n;
    uint64_t of_host = 0;
    *again = false;
    if (n[SEGMENTS_CUDA_N_BAD] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "%llu pairs have a face that is not there or was removed",
                                 n[SEGMENTS_CUDA_N_BAD]);
    if (n[SEGMENTS_CUDA_N_NOT_FINITE] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a pose moves %llu triangles beyond the range of doubles",
                                 n[SEGMENTS_CUDA_N_NOT_FINITE]);
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {
        {CAROM_SCRATCH_SEGMENTS_FOUND, n[SEGMENTS_CUDA_N_FOUND], sizeof(segments_cuda_found)},
        {CAROM_SCRATCH_SEGMENTS_HOST, n[SEGMENTS_CUDA_N_HOST], sizeof(uint32_t)},
        {CAROM_SCRATCH_SEGMENTS_OPEN, n[SEGMENTS_CUDA_N_OPEN], sizeof(segments_cuda_open)}};
    for (const auto &list : lists)
        *again = carom_device_list_grows(device, list.block, list.entries, list.size) || *again;
    if (*again) return CAROM_OK;
    a->segments->host_items = 0;
    if (n[SEGMENTS_CUDA_N_OPEN] != 0)
        CAROM_DEVICE_TRY(
            segments_of_device_query_host(device, a, n[SEGMENTS_CUDA_N_OPEN], &of_host));
    const uint64_t all = n[SEGMENTS_CUDA_N_TOTAL] + of_host;
    if (n[SEGMENTS_CUDA_N_FOUND] + of_host > UINT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE, "%llu segments are too many to number",
                                 n[SEGMENTS_CUDA_N_FOUND] + of_host);
    if (of_host != 0 || all > a->segments->capacity)
        CAROM_DEVICE_TRY(segments_of_device_write(device, op, of_host, all));
    a->segments->count = all;
    device->steps.open_in_doubles = a->segments->host_items;
    return CAROM_OK;
}

/* One search at a time: what finish needs lies in the same memory. */
static carom_status soup_segments_on_device(carom_device *device, const carom_device_posed *a,
                                            const carom_device_posed *b,
                                            const carom_cuda_pairs *pairs,
                                            carom_cuda_segments *segments,
                                            carom_segments_decide_fn *decide) {
    carom_device_op op = {segments_of_device_reserve,
                          segments_of_device_launch,
                          segments_of_device_finish,
                          nullptr,
                          {}};
    bool queued = false;
    for (uint32_t i = 0; i < device->op_count; ++i)
        queued = queued || device->ops[i].launch == segments_of_device_launch;
    if (queued && device->recording)
        return carom_device_fail(device, CAROM_UNSUPPORTED,
                                 "a frame has at most one search for segments");
    if (queued) CAROM_DEVICE_TRY(carom_device_finish(device));
    *carom_device_arguments<segments_of_device>(&op) =
        segments_of_device{*a, b != nullptr ? *b : carom_device_posed{}, pairs, segments, decide};
    op.reads = pairs;
    op.uses[0] = a->soup;
    op.uses[1] = b != nullptr ? b->soup : nullptr;
    return carom_device_submit(device, &op);
}

static void soup_segments_free_device(carom_cuda_segments *segments) {
    carom_device_block *block = (carom_device_block *)segments->memory;
    if (block != nullptr) carom_device_release(block);
    delete block;
    *segments = carom_cuda_segments{};
}

#endif
