/* SPDX-License-Identifier: MIT */
/* grid_cuda.h: the hierarchical hash grid on the GPU: built by counting, adding up and filling, and
 * searched for all pairs of items whose boxes overlap (Weller, Frese, Zachmann 2013, 4; Weller,
 * Debowski, Zachmann 2017, 4 and 5).
 *
 * Cells, levels, buckets, tags and the rule that reports each pair once are the items of
 * grid_item.h. Items are numbered by rank, an order in which near items are near. Entries of a
 * bucket come in any order here, which changes only the order of candidates. */
#ifndef CAROM_SRC_GRID_GRID_CUDA_H
#define CAROM_SRC_GRID_GRID_CUDA_H

#include "base/scan_cuda.h"
#include "grid/grid_item.h"

#define CAROM_GRID_THREADS        256u
#define CAROM_GRID_FOUND_WARP     128u /* candidates that a warp collects before it appends them */
#define CAROM_GRID_MEASURE_BLOCKS 2u   /* per processor: each thread takes many boxes */

/* What is measured on the device, and the cells chosen. */
struct carom_grid_measure_state {
    unsigned long long smallest, largest; /* bits of doubles that are not negative */
    unsigned low[3], high[3];             /* floats as integers of the same order */
    carom_grid_space space;
    unsigned level_mask;
};

/* Device memory of a grid. */
struct carom_grid_memory {
    carom_grid_measure_state *state;
    float4 *boxes;             /* two per rank: the six sides, and padding */
    uint8_t *levels;           /* of each rank */
    uint32_t *counts, *starts; /* of each bucket, and one more */
    uint2 *entries;            /* rank and tags */
    uint64_t entry_capacity;
    void *temporary;
    size_t temporary_bytes;

    __device__ carom_box box(uint32_t rank) const {
        float4 p = boxes[2 * (uint64_t)rank], q = boxes[2 * (uint64_t)rank + 1];
        carom_box box = {{p.x, p.y, p.z}, {p.w, q.x, q.y}};
        return box;
    }
};

/* The bytes that a grid takes but for its entries; with memory != NULL the addresses in it. */
static inline uint64_t carom_grid_lay_out(uint32_t count, uint32_t buckets, char *memory,
                                          carom_grid_memory *grid) {
    uint64_t at = CAROM_DEVICE_ALLOCATION, row;
    grid->temporary_bytes = carom_device_scan_bytes((uint64_t)buckets + 1);
    row = carom_device_row(((uint64_t)buckets + 1) * sizeof(uint32_t));
    grid->state = (carom_grid_measure_state *)memory;
    grid->boxes = (float4 *)(memory + at);
    at += carom_device_row(2 * sizeof(float4) * (uint64_t)count);
    grid->levels = (uint8_t *)(memory + at);
    at += carom_device_row(count);
    grid->counts = (uint32_t *)(memory + at);
    grid->starts = (uint32_t *)(memory + (at += row));
    grid->temporary = memory + (at += row);
    return at + grid->temporary_bytes;
}

/* Floats as integers of the same order. */
static __device__ inline unsigned carom_grid_ordered(float x) {
    unsigned bits = __float_as_uint(x);
    return bits >> 31 != 0 ? ~bits : bits | 1u << 31;
}

static __device__ inline float carom_grid_from_ordered(unsigned bits) {
    return __uint_as_float(bits >> 31 != 0 ? bits & ~(1u << 31) : ~bits);
}

static __global__ void carom_grid_begin(carom_grid_measure_state *state) {
    carom_device_begin();
    carom_grid_extent nothing = carom_grid_extent_of_nothing();
    state->smallest = (unsigned long long)__double_as_longlong(nothing.smallest);
    state->largest = 0;
    state->level_mask = 0;
    for (int k = 0; k < 3; ++k) {
        state->low[k] = carom_grid_ordered(nothing.low[k]);
        state->high[k] = carom_grid_ordered(nothing.high[k]);
    }
}

/* BOXES: box(rank), which may be empty, and paired(a, b): whether two items can be a pair. */
template <typename BOXES>
static __global__ void carom_grid_cuda_measure(BOXES boxes, uint32_t count,
                                               carom_grid_measure_state *state) {
    carom_device_begin();
    carom_grid_extent all = carom_grid_extent_of_nothing();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_box box = boxes.box((uint32_t)i);
        carom_grid_extent one = carom_grid_extent_of(&box);
        if (box.low[0] <= box.high[0]) carom_grid_extend(&all, &one);
    }
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        carom_grid_extent other;
        other.smallest = __shfl_xor_sync(~0u, all.smallest, step);
        other.largest = __shfl_xor_sync(~0u, all.largest, step);
        for (int k = 0; k < 3; ++k) {
            other.low[k] = __shfl_xor_sync(~0u, all.low[k], step);
            other.high[k] = __shfl_xor_sync(~0u, all.high[k], step);
        }
        carom_grid_extend(&all, &other);
    }
    if (threadIdx.x % CAROM_WARP != 0) return;
    atomicMin(&state->smallest, (unsigned long long)__double_as_longlong(all.smallest));
    atomicMax(&state->largest, (unsigned long long)__double_as_longlong(all.largest));
    for (int k = 0; k < 3; ++k) {
        atomicMin(&state->low[k], carom_grid_ordered(all.low[k]));
        atomicMax(&state->high[k], carom_grid_ordered(all.high[k]));
    }
}

static __global__ void carom_grid_end_measure(carom_grid_measure_state *state, int32_t lift) {
    carom_device_begin();
    carom_grid_extent all;
    all.smallest = __longlong_as_double((long long)state->smallest);
    all.largest = __longlong_as_double((long long)state->largest);
    for (int k = 0; k < 3; ++k) {
        all.low[k] = carom_grid_from_ordered(state->low[k]);
        all.high[k] = carom_grid_from_ordered(state->high[k]);
    }
    state->space = carom_grid_choose_space(&all, lift);
}

/* The cells of one item, one after the other: put(bucket, tags) for each bucket once. Most items
 * have a few cells of eight; the arrays are in local memory. */
template <typename PUT>
static __device__ inline void carom_grid_each(const carom_grid_table &table,
                                              const carom_grid_cells &cells, uint32_t level,
                                              PUT put) {
    uint32_t buckets[CAROM_GRID_MOST_CELLS], tags[CAROM_GRID_MOST_CELLS];
    uint32_t count = carom_grid_enter(&table, &cells, level, buckets, tags);
    for (uint32_t i = 0; i < count; ++i) put(buckets[i], tags[i]);
}

template <typename BOXES>
static __global__ void carom_grid_count(BOXES boxes, uint32_t count, carom_grid_table table,
                                        carom_grid_memory grid) {
    carom_device_begin();
    uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x;
    if (rank >= count) return;
    carom_box box = boxes.box(rank);
    grid.boxes[2 * (uint64_t)rank] = make_float4(box.low[0], box.low[1], box.low[2], box.high[0]);
    grid.boxes[2 * (uint64_t)rank + 1] = make_float4(box.high[1], box.high[2], 0.0f, 0.0f);
    if (!(box.low[0] <= box.high[0])) {
        grid.levels[rank] = CAROM_GRID_NOWHERE;
        return;
    }
    carom_grid_cells cells = carom_grid_cells_of(&grid.state->space, &box);
    uint32_t level = carom_grid_level(&grid.state->space, &cells);
    grid.levels[rank] = (uint8_t)level;
    if ((grid.state->level_mask >> level & 1u) == 0) atomicOr(&grid.state->level_mask, 1u << level);
    carom_grid_each(table, cells, level,
                    [&](uint32_t bucket, uint32_t) { atomicAdd(&grid.counts[bucket], 1u); });
}

/* Each count goes back down to 0 as its entries are written. */
static __global__ void carom_grid_fill(uint32_t count, carom_grid_table table,
                                       carom_grid_memory grid) {
    carom_device_begin();
    uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x;
    if (rank >= count || grid.levels[rank] == CAROM_GRID_NOWHERE) return;
    carom_box box = grid.box(rank);
    carom_grid_cells cells = carom_grid_cells_of(&grid.state->space, &box);
    carom_grid_each(table, cells, grid.levels[rank], [&](uint32_t bucket, uint32_t tags) {
        uint32_t left = atomicSub(&grid.counts[bucket], 1u);
        uint64_t at = (uint64_t)grid.starts[bucket] + left - 1u;
        CAROM_ASSERT(left - 1u < grid.starts[bucket + 1] - grid.starts[bucket]);
        if (at < grid.entry_capacity) grid.entries[at] = make_uint2(rank, tags);
    });
}

/* Each item looks for partners on its own level, those of higher rank, and on the levels above,
 * cell by cell. A pair is reported in its lower-corner cell alone, where the partner has one entry,
 * so that each pair is found once, also where two cells share a bucket. A group of eight lanes
 * shares an item: one lane per entry of a bucket. */
#define CAROM_GRID_GROUP 8u

/* The entries of one bucket after the other that an item looks at. */
struct carom_grid_walk {
    uint32_t rank, level;   /* of the item; CAROM_GRID_NOWHERE: there is none */
    carom_box box;          /* of the item */
    carom_grid_cells cells; /* of the item, on the lowest level */
    carom_grid_cells on;    /* the same on the level that is looked at */
    uint32_t levels;        /* that are left to look at, a bit each */
    uint32_t x, y, z, at_level;
    uint32_t at, end;   /* entries that are left of the bucket */
    uint32_t cell_tags; /* of an item that has one cell in the bucket: this one */

    __device__ void begin(const carom_grid_memory &grid, uint32_t number, bool there,
                          uint32_t mask) {
        rank = number;
        level = CAROM_GRID_NOWHERE;
        levels = 0;
        box = carom_box_empty();
        cells = carom_grid_cells{};
        on = carom_grid_cells{};
        if (there) level = grid.levels[rank];
        if (level != CAROM_GRID_NOWHERE) {
            box = grid.box(rank);
            cells = carom_grid_cells_of(&grid.state->space, &box);
            levels = mask & ~0u << level;
        }
        x = y = at_level = 0;
        z = 1; /* past the last cell: the next level begins */
        on.high[2] = 0;
        at = end = cell_tags = 0;
    }

    /* Goes on to the next bucket with entries, if there is one. Every group does so on its own. */
    __device__ void advance(const carom_grid_table &table, const carom_grid_memory &grid) {
        while (at >= end) {
            if (x < on.high[0]) {
                ++x;
            } else if (y < on.high[1]) {
                x = on.low[0];
                ++y;
            } else if (z < on.high[2]) {
                x = on.low[0];
                y = on.low[1];
                ++z;
            } else {
                if (levels == 0) break;
                at_level = (uint32_t)__ffs((int)levels) - 1u;
                levels &= levels - 1u;
                on = carom_grid_cells_on(&cells, at_level);
                x = on.low[0];
                y = on.low[1];
                z = on.low[2];
            }
            uint32_t bucket = carom_grid_bucket(&table, x, y, z, at_level);
            cell_tags = (x & 7u) << CAROM_GRID_TAG_CELL | (y & 7u) << (CAROM_GRID_TAG_CELL + 3) |
                        (z & 7u) << (CAROM_GRID_TAG_CELL + 6) | at_level << CAROM_GRID_TAG_LEVEL;
            CAROM_ASSERT(bucket < table.bucket_count);
            at = grid.starts[bucket];
            end = grid.starts[bucket + 1];
            CAROM_ASSERT(at <= end);
            if (end > grid.entry_capacity) at = end = 0; /* it will be repeated */
        }
    }

    /* Whether the item of an entry of this bucket is a partner that is reported here. */
    template <typename BOXES>
    __device__ bool meets(const BOXES &boxes, const carom_grid_memory &grid, uint2 entry) const {
        bool later = at_level != level || entry.x > rank;
        /* an item with one cell in this bucket says which by its tags */
        bool here = (entry.y & CAROM_GRID_TAG_CELL_AND_LEVEL) == cell_tags;
        bool several = (entry.y & CAROM_GRID_TAG_MULTI) != 0 &&
                       (entry.y >> CAROM_GRID_TAG_LEVEL & 31u) == at_level;
        if (!(later && (here || several) && boxes.paired(rank, entry.x))) return false;
        carom_box other = grid.box(entry.x);
        if (!carom_box_overlap(&box, &other)) return false;
        carom_grid_cells theirs = carom_grid_cells_of(&grid.state->space, &other);
        /* the lower-corner cell of the two, which both have, is this one */
        return CAROM_MAX(cells.low[0], theirs.low[0]) >> at_level == x &&
               CAROM_MAX(cells.low[1], theirs.low[1]) >> at_level == y &&
               CAROM_MAX(cells.low[2], theirs.low[2]) >> at_level == z;
    }
};

template <typename BOXES>
static __global__ void __launch_bounds__(CAROM_GRID_THREADS)
    carom_grid_search(BOXES boxes, uint32_t count, carom_grid_table table, carom_grid_memory grid,
                      carom_device_list<uint2> found) {
    carom_device_begin();
    __shared__ uint2 buffers[CAROM_GRID_THREADS / CAROM_WARP][CAROM_GRID_FOUND_WARP];
    carom_warp_buffer<uint2, CAROM_GRID_FOUND_WARP> buffer = {buffers[threadIdx.x / CAROM_WARP], 0};
    const unsigned per_warp = CAROM_WARP / CAROM_GRID_GROUP;
    unsigned lane = threadIdx.x % CAROM_GRID_GROUP;
    uint64_t first = ((uint64_t)blockIdx.x * CAROM_GRID_THREADS + threadIdx.x) / CAROM_WARP,
             stride = (uint64_t)gridDim.x * CAROM_GRID_THREADS / CAROM_WARP;
    unsigned group = threadIdx.x % CAROM_WARP / CAROM_GRID_GROUP;
    uint32_t mask = grid.state->level_mask;
    for (uint64_t base = first * per_warp; base < count; base += stride * per_warp) {
        carom_grid_walk walk;
        walk.begin(grid, (uint32_t)base + group, base + group < count, mask);
        for (;;) {
            walk.advance(table, grid);
            bool more = walk.at < walk.end;
            if (__ballot_sync(~0u, more) == 0) break;
            bool meets = false;
            uint2 entry = make_uint2(0, 0);
            if (more && walk.at + lane < walk.end) {
                entry = grid.entries[walk.at + lane];
                CAROM_ASSERT(entry.x < count);
                meets = walk.meets(boxes, grid, entry);
            }
            buffer.push(found, meets, make_uint2(walk.rank, entry.x));
            if (more) walk.at += CAROM_GRID_GROUP;
        }
    }
    buffer.flush(found);
}

static __global__ void carom_grid_report_entries(const uint32_t *total, carom_device_count *count) {
    carom_device_begin();
    *count = *total;
}

/* ---- Queueing -------------------------------------------------------------------------------- */

/* Entries per item that there is room for at first: items of a surface have two to three. */
#define CAROM_GRID_ENTRIES_PER_ITEM 3u

/* Reserves memory for a grid of `count` items. */
static inline carom_status carom_grid_reserve(carom_device *device, uint32_t count,
                                              const carom_grid_table &table) {
    carom_grid_memory grid = {};
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_GRID, carom_grid_lay_out(count, table.bucket_count, nullptr, &grid),
        "a grid"));
    return carom_device_reserve_list(device, CAROM_SCRATCH_GRID_ENTRIES,
                                     CAROM_GRID_ENTRIES_PER_ITEM * (uint64_t)count +
                                         CAROM_DEVICE_LIST_ENTRIES,
                                     sizeof(uint2), "a search");
}

/* Takes it. */
static inline carom_grid_memory carom_grid_take(carom_device *device, uint32_t count,
                                                const carom_grid_table &table) {
    carom_grid_memory grid = {};
    uint64_t bytes = carom_grid_lay_out(count, table.bucket_count, nullptr, &grid);
    (void)carom_grid_lay_out(count, table.bucket_count,
                             carom_device_take<char>(device, CAROM_SCRATCH_GRID, bytes), &grid);
    bytes = carom_device_scratch_bytes(device, CAROM_SCRATCH_GRID_ENTRIES);
    grid.entries = carom_device_take<uint2>(device, CAROM_SCRATCH_GRID_ENTRIES, bytes);
    grid.entry_capacity = bytes / sizeof(uint2);
    return grid;
}

/* Whether there were more entries than room. */
static inline bool carom_grid_grows(carom_device *device, uint64_t entries) {
    return carom_device_list_grows(device, CAROM_SCRATCH_GRID_ENTRIES, entries, sizeof(uint2));
}

/* Queues the build and the search. `entries` counts the entries, also those beyond the capacity. */
template <typename BOXES>
static void carom_grid_find(carom_device *device, BOXES boxes, uint32_t count,
                            const carom_grid_table &table, int32_t lift,
                            carom_device_count *entries, carom_device_list<uint2> found) {
    carom_grid_memory grid = carom_grid_take(device, count, table);
    unsigned blocks = carom_device_blocks(count, CAROM_GRID_THREADS);
    uint64_t counts = (uint64_t)table.bucket_count + 1;
    carom_device_step(device, "cells");
    (void)cudaMemsetAsync(grid.counts, 0, counts * sizeof(uint32_t), device->stream);
    carom_device_launch(device, carom_grid_begin, 1, 1, grid.state);
    carom_device_launch(device, carom_grid_cuda_measure<BOXES>,
                        CAROM_GRID_MEASURE_BLOCKS * (unsigned)device->processors,
                        CAROM_GRID_THREADS, boxes, count, grid.state);
    carom_device_launch(device, carom_grid_end_measure, 1, 1, grid.state, lift);
    carom_device_step(device, "buckets");
    carom_device_launch(device, carom_grid_count<BOXES>, blocks, CAROM_GRID_THREADS, boxes, count,
                        table, grid);
    carom_device_scan(device, grid.temporary, grid.temporary_bytes, grid.counts, grid.starts,
                      counts);
    carom_device_launch(device, carom_grid_fill, blocks, CAROM_GRID_THREADS, count, table, grid);
    CAROM_DEVICE_CHECK_ZEROS(device, grid.counts, counts * sizeof(uint32_t));
    carom_device_launch(device, carom_grid_report_entries, 1, 1,
                        (const uint32_t *)grid.starts + table.bucket_count, entries);
    carom_device_step(device, "candidates");
    carom_device_launch(device, carom_grid_search<BOXES>,
                        carom_device_resident(device, carom_grid_search<BOXES>, CAROM_GRID_THREADS),
                        CAROM_GRID_THREADS, boxes, count, table, grid, found);
}

#endif
