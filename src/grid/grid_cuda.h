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
#define CAROM_GRID_TAG_LAST       (1u << 31) /* of an entry: no other follows in its bucket */
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

/* The cells of an item on one level after the other, from the lowest of `levels`, a bit each. */
struct carom_grid_walk {
    carom_grid_cells cells, on; /* of level 0; of the level that is walked */
    uint32_t levels, level;     /* those that are left; the present one */
    uint32_t quarters[3];       /* of the item, on it */
    uint32_t x, y, z;

    __device__ void begin(const carom_grid_cells &all, uint32_t some) {
        cells = all;
        on = carom_grid_cells{};
        levels = some;
        level = 0;
        x = y = 0;
        z = 1; /* past the last cell: the first level begins */
    }

    /* Goes on to the next cell; false: there is none. */
    __device__ bool next() {
        if (x < on.high[0]) {
            ++x;
            return true;
        }
        if (y < on.high[1]) {
            ++y;
        } else if (z < on.high[2]) {
            y = on.low[1];
            ++z;
        } else {
            if (levels == 0) return false;
            level = (uint32_t)__ffs((int)levels) - 1u;
            levels &= levels - 1u;
            on = carom_grid_cells_on(&cells, level);
            for (int k = 0; k < 3; ++k)
                quarters[k] = carom_grid_quarters(cells.low[k], cells.high[k], level);
            y = on.low[1];
            z = on.low[2];
        }
        x = on.low[0];
        return true;
    }

    __device__ uint32_t bucket(const carom_grid_table &table) const {
        return carom_grid_bucket(&table, x, y, z, level);
    }
    __device__ uint32_t tags() const {
        return carom_grid_tags(&on, quarters, x, y, z, level);
    }
};

/* Calls put(bucket, tags) for each bucket of an item's cells once, without a list of them where
 * neighbours never share a bucket; the arrays of others are in local memory. */
template <typename PUT>
static __device__ inline void carom_grid_each(const carom_grid_table &table,
                                              const carom_grid_cells &cells, uint32_t level,
                                              PUT put) {
    carom_grid_cells on = carom_grid_cells_on(&cells, level);
    uint32_t wide = (on.high[0] - on.low[0]) | (on.high[1] - on.low[1]) | (on.high[2] - on.low[2]);
    if (table.block_shift != 0 && wide <= 1u) {
        carom_grid_walk walk;
        walk.begin(cells, 1u << level);
        while (walk.next()) put(walk.bucket(table), walk.tags());
        return;
    }
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
        uint64_t end = grid.starts[bucket + 1];
        CAROM_ASSERT(at < end);
        if (at + 1u == end) tags |= CAROM_GRID_TAG_LAST;
        if (at < grid.entry_capacity) grid.entries[at] = make_uint2(rank, tags);
    });
}

/* Partners on an item's own level are in the buckets in which it is entered: each entry is compared
 * with those after it in its bucket. Those of larger items are looked up on the levels above, cell
 * by cell. A pair is reported in its lower-corner cell alone, where each of the two has one entry,
 * so that it is found once, also where two cells share a bucket. */

/* ---- Partners on the same level -------------------------------------------------------------- */

#define CAROM_GRID_TILE                                                                            \
    512u /* entries in shared memory: those of a block, and as many after them */

/* Entries one after the other, and the boxes of their items. */
struct carom_grid_tile {
    uint32_t rank[CAROM_GRID_TILE], tags[CAROM_GRID_TILE];
    float low[3][CAROM_GRID_TILE], high[3][CAROM_GRID_TILE];

    __device__ void load(const carom_grid_memory &grid, uint64_t base, uint64_t end) {
        for (uint32_t i = threadIdx.x; i < CAROM_GRID_TILE; i += CAROM_GRID_THREADS) {
            if (base + i >= end) continue;
            uint2 entry = grid.entries[base + i];
            carom_box box = grid.box(entry.x);
            rank[i] = entry.x;
            tags[i] = entry.y;
            for (int k = 0; k < 3; ++k) {
                low[k][i] = box.low[k];
                high[k][i] = box.high[k];
            }
        }
    }
    __device__ carom_box box(uint32_t i) const {
        carom_box box = {{low[0][i], low[1][i], low[2][i]}, {high[0][i], high[1][i], high[2][i]}};
        return box;
    }
};

/* Whether two items that share the bucket of an entry, one of which has several cells there, are to
 * be reported in it: whether it is the bucket of their lower-corner cell. */
static __device__ inline bool carom_grid_is_here(const carom_grid_table &table,
                                                 const carom_grid_memory &grid, const carom_box &a,
                                                 const carom_box &b, uint32_t level, uint64_t at) {
    uint32_t corner[3];
    for (int k = 0; k < 3; ++k) {
        uint32_t x = carom_grid_cell(&grid.state->space, k, a.low[k]);
        uint32_t y = carom_grid_cell(&grid.state->space, k, b.low[k]);
        corner[k] = CAROM_MAX(x, y) >> level;
    }
    uint32_t bucket = carom_grid_bucket(&table, corner[0], corner[1], corner[2], level);
    return at >= grid.starts[bucket] && at < grid.starts[bucket + 1];
}

/* Compares each entry with those after it in its bucket, all lanes of a warp with the next, the
 * next but one and so on. */
template <typename BOXES>
static __global__ void __launch_bounds__(CAROM_GRID_THREADS)
    carom_grid_search_buckets(BOXES boxes, carom_grid_table table, carom_grid_memory grid,
                              carom_device_list<uint2> found) {
    carom_device_begin();
    __shared__ uint2 buffers[CAROM_GRID_THREADS / CAROM_WARP][CAROM_GRID_FOUND_WARP];
    __shared__ carom_grid_tile tile;
    carom_warp_buffer<uint2, CAROM_GRID_FOUND_WARP> buffer = {buffers[threadIdx.x / CAROM_WARP], 0};
    uint64_t end = grid.starts[table.bucket_count];
    if (end > grid.entry_capacity) end = 0; /* it will be repeated */
    for (uint64_t base = (uint64_t)blockIdx.x * CAROM_GRID_THREADS; base < end;
         base += (uint64_t)gridDim.x * CAROM_GRID_THREADS) {
        __syncthreads();
        tile.load(grid, base, end);
        __syncthreads();
        bool more = base + threadIdx.x < end;
        uint32_t rank = more ? tile.rank[threadIdx.x] : 0;
        uint32_t tags = more ? tile.tags[threadIdx.x] : CAROM_GRID_TAG_LAST;
        carom_box box = carom_box_empty();
        if (more) box = tile.box(threadIdx.x);
        more = (tags & CAROM_GRID_TAG_LAST) == 0;
        for (uint32_t i = threadIdx.x + 1; __any_sync(~0u, more); ++i) {
            bool meets = false;
            uint2 other = make_uint2(0, 0);
            if (more) {
                bool near = i < CAROM_GRID_TILE;
                CAROM_ASSERT(base + i < end);
                other = near ? make_uint2(tile.rank[i], tile.tags[i]) : grid.entries[base + i];
                bool several = ((other.y | tags) & CAROM_GRID_TAG_MULTI) != 0;
                uint32_t level = tags >> CAROM_GRID_TAG_LEVEL & 31u;
                more = (other.y & CAROM_GRID_TAG_LAST) == 0;
                if ((several ? (other.y >> CAROM_GRID_TAG_LEVEL & 31u) == level
                             : carom_grid_match(other.y, tags) != 0) &&
                    boxes.paired(rank, other.x)) {
                    carom_box theirs = near ? tile.box(i) : grid.box(other.x);
                    meets =
                        carom_box_overlap(&box, &theirs) &&
                        (!several || carom_grid_is_here(table, grid, box, theirs, level, base + i));
                }
            }
            buffer.push(found, meets, make_uint2(rank, other.x));
        }
    }
    buffer.flush(found);
}

/* ---- Partners on the levels above ------------------------------------------------------------ */

/* A warp takes 32 items, a lane each. Every lane looks up a few cells of its item at a time: the
 * random accesses to memory overlap. The entries of all these cells are then one list, and its
 * lanes take 32 of them at a time, whose cells ever they are: no lane waits where a cell of another
 * has more entries. Tags decide of most entries; the boxes of the others are compared. */
#define CAROM_GRID_CELLS_AT_ONCE   4u         /* of an item */
#define CAROM_GRID_ENTRIES_AT_ONCE 4u         /* of a lane */
#define CAROM_GRID_MOST_OF_CELL    (1u << 20) /* entries of a cell that are taken at a time */
#define CAROM_GRID_CELLS           (CAROM_WARP * CAROM_GRID_CELLS_AT_ONCE) /* of a warp */

/* Cells that a warp looks at, and its items, in shared memory. */
struct carom_grid_looks {
    uint32_t first[CAROM_GRID_CELLS]; /* of a cell's entries, in the list of all */
    uint32_t at[CAROM_GRID_CELLS];    /* in the grid's entries */
    uint32_t tags[CAROM_GRID_CELLS];
    float low[3][CAROM_WARP], high[3][CAROM_WARP]; /* the items' boxes */

    __device__ carom_box box(unsigned item) const {
        carom_box box = {{low[0][item], low[1][item], low[2][item]},
                         {high[0][item], high[1][item], high[2][item]}};
        return box;
    }
    /* The cell that has the entry; cells without entries begin where the next one does. */
    __device__ unsigned cell_of(uint32_t entry) const {
        unsigned cell = 0;
        for (unsigned step = CAROM_GRID_CELLS / 2; step != 0; step /= 2)
            if (first[cell + step] <= entry) cell += step;
        return cell;
    }
};

/* Whether an entry of a cell is a partner of the item that looked it up, and reported there. */
template <typename BOXES>
static __device__ inline bool carom_grid_meets(const BOXES &boxes, const carom_grid_memory &grid,
                                               const carom_box &box, uint32_t rank, uint32_t tags,
                                               uint2 entry) {
    bool several = (entry.y & CAROM_GRID_TAG_MULTI) != 0;
    if (!several && carom_grid_match(entry.y, tags) == 0) return false;
    if (!boxes.paired(rank, entry.x)) return false;
    carom_box other = grid.box(entry.x);
    if (!carom_box_overlap(&box, &other)) return false;
    if (!several) return true;
    /* The lower-corner cell is one of the item's, which differ in the last bits. */
    uint32_t level = tags >> CAROM_GRID_TAG_LEVEL & 31u, cell = 0;
    if ((entry.y >> CAROM_GRID_TAG_LEVEL & 31u) != level) return false;
    for (int k = 0; k < 3; ++k) {
        uint32_t mine = carom_grid_cell(&grid.state->space, k, box.low[k]);
        uint32_t theirs = carom_grid_cell(&grid.state->space, k, other.low[k]);
        cell |= (CAROM_MAX(mine, theirs) >> level & 7u) << (CAROM_GRID_TAG_CELL + 3 * k);
    }
    return (tags & (511u << CAROM_GRID_TAG_CELL)) == cell;
}

/* The sum of a number over the lanes before this one. */
static __device__ inline uint32_t carom_grid_before(uint32_t number, uint32_t *all) {
    uint32_t sum = number;
    for (unsigned by = 1; by < CAROM_WARP; by *= 2) {
        uint32_t other = __shfl_up_sync(~0u, sum, by);
        if (threadIdx.x % CAROM_WARP >= by) sum += other;
    }
    *all = __shfl_sync(~0u, sum, CAROM_WARP - 1);
    return sum - number;
}

/* Cells that a lane looks at. */
struct carom_grid_lane_cells {
    uint32_t at[CAROM_GRID_CELLS_AT_ONCE], end[CAROM_GRID_CELLS_AT_ONCE];
    uint32_t tags[CAROM_GRID_CELLS_AT_ONCE];

    /* Takes the next cells of a walk; false: there are none. */
    __device__ bool take(carom_grid_walk &walk, const carom_grid_table &table,
                         const carom_grid_memory &grid) {
        bool any = false;
#pragma unroll
        for (unsigned k = 0; k < CAROM_GRID_CELLS_AT_ONCE; ++k) {
            at[k] = end[k] = tags[k] = 0;
            if (!walk.next()) continue;
            uint32_t bucket = walk.bucket(table);
            CAROM_ASSERT(bucket < table.bucket_count);
            at[k] = grid.starts[bucket];
            end[k] = grid.starts[bucket + 1];
            tags[k] = walk.tags();
            any = true;
        }
#pragma unroll
        for (unsigned k = 0; k < CAROM_GRID_CELLS_AT_ONCE; ++k) {
            CAROM_ASSERT(at[k] <= end[k]);
            if (end[k] > grid.entry_capacity) at[k] = end[k] = 0; /* it will be repeated */
        }
        return any;
    }

    /* Puts the next entries of each cell into the warp's list; returns their number. */
    __device__ uint32_t list(carom_grid_looks &looks) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        uint32_t counts[CAROM_GRID_CELLS_AT_ONCE], sum = 0, all;
#pragma unroll
        for (unsigned k = 0; k < CAROM_GRID_CELLS_AT_ONCE; ++k) {
            uint32_t left = end[k] - at[k];
            counts[k] = CAROM_MIN(left, CAROM_GRID_MOST_OF_CELL);
            sum += counts[k];
        }
        uint32_t first = carom_grid_before(sum, &all);
        __syncwarp();
#pragma unroll
        for (unsigned k = 0; k < CAROM_GRID_CELLS_AT_ONCE; ++k) {
            unsigned to = lane * CAROM_GRID_CELLS_AT_ONCE + k;
            looks.first[to] = first;
            looks.at[to] = at[k];
            looks.tags[to] = tags[k];
            first += counts[k];
            at[k] += counts[k];
        }
        __syncwarp();
        return all;
    }
};

/* Compares the entries of a warp's list with the items that looked them up; `base` is the rank of
 * the first item. */
template <typename BOXES, typename BUFFER>
static __device__ inline void carom_grid_compare(const BOXES &boxes, const carom_grid_memory &grid,
                                                 const carom_grid_looks &looks, uint32_t base,
                                                 uint32_t all, BUFFER &buffer,
                                                 const carom_device_list<uint2> &found) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    for (uint32_t from = 0; from < all; from += CAROM_GRID_ENTRIES_AT_ONCE * CAROM_WARP) {
        unsigned cells[CAROM_GRID_ENTRIES_AT_ONCE];
        uint2 entries[CAROM_GRID_ENTRIES_AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < CAROM_GRID_ENTRIES_AT_ONCE; ++k) {
            uint32_t i = from + k * CAROM_WARP + lane;
            if (i >= all) continue;
            cells[k] = looks.cell_of(i);
            entries[k] = grid.entries[looks.at[cells[k]] + (i - looks.first[cells[k]])];
        }
#pragma unroll
        for (unsigned k = 0; k < CAROM_GRID_ENTRIES_AT_ONCE; ++k) {
            uint32_t i = from + k * CAROM_WARP + lane, rank = 0;
            bool meets = false;
            if (i < all) {
                unsigned item = cells[k] / CAROM_GRID_CELLS_AT_ONCE;
                rank = base + item;
                meets = carom_grid_meets(boxes, grid, looks.box(item), rank, looks.tags[cells[k]],
                                         entries[k]);
            }
            buffer.push(found, meets, make_uint2(rank, meets ? entries[k].x : 0));
        }
    }
}

template <typename BOXES>
static __global__ void __launch_bounds__(CAROM_GRID_THREADS)
    carom_grid_search_above(BOXES boxes, uint32_t count, carom_grid_table table,
                            carom_grid_memory grid, carom_device_list<uint2> found) {
    carom_device_begin();
    __shared__ uint2 buffers[CAROM_GRID_THREADS / CAROM_WARP][CAROM_GRID_FOUND_WARP];
    __shared__ carom_grid_looks warps[CAROM_GRID_THREADS / CAROM_WARP];
    carom_warp_buffer<uint2, CAROM_GRID_FOUND_WARP> buffer = {buffers[threadIdx.x / CAROM_WARP], 0};
    carom_grid_looks &looks = warps[threadIdx.x / CAROM_WARP];
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint64_t first = (uint64_t)blockIdx.x * CAROM_GRID_THREADS + threadIdx.x - lane,
             stride = (uint64_t)gridDim.x * CAROM_GRID_THREADS;
    uint32_t mask = grid.state->level_mask;
    for (uint64_t base = first; base < count; base += stride) {
        uint32_t rank = (uint32_t)base + lane, level = CAROM_GRID_NOWHERE, all;
        carom_grid_walk walk;
        walk.begin(carom_grid_cells{}, 0);
        if (rank < count) level = grid.levels[rank];
        __syncwarp();
        if (level != CAROM_GRID_NOWHERE) {
            carom_box box = grid.box(rank);
            walk.begin(carom_grid_cells_of(&grid.state->space, &box), mask & ~1u << level);
            for (int k = 0; k < 3; ++k) {
                looks.low[k][lane] = box.low[k];
                looks.high[k][lane] = box.high[k];
            }
        }
        carom_grid_lane_cells cells;
        while (__any_sync(~0u, cells.take(walk, table, grid)))
            while ((all = cells.list(looks)) != 0)
                carom_grid_compare(boxes, grid, looks, (uint32_t)base, all, buffer, found);
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
    carom_device_step(device, "same level");
    carom_device_launch(
        device, carom_grid_search_buckets<BOXES>,
        carom_device_resident(device, carom_grid_search_buckets<BOXES>, CAROM_GRID_THREADS),
        CAROM_GRID_THREADS, boxes, table, grid, found);
    carom_device_step(device, "levels above");
    carom_device_launch(
        device, carom_grid_search_above<BOXES>,
        carom_device_resident(device, carom_grid_search_above<BOXES>, CAROM_GRID_THREADS),
        CAROM_GRID_THREADS, boxes, count, table, grid, found);
}

#endif
