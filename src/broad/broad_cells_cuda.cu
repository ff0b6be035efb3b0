/* SPDX-License-Identifier: MIT */
/* Boxes in cells on the GPU: each box lies in one cell, that of its centre, on the lowest level
 * whose cells are as large as it is. Two boxes that overlap then lie in neighbouring cells of the
 * higher of their levels: their centres differ by less than one of its cells. Boxes are sorted by
 * cell, by counting. Along x the three cells of a neighbourhood are one range of boxes, so that
 * half a neighbourhood is five ranges. The edge of the lowest level is chosen from a sample
 * (broad_cuda.cu), so that most boxes are on it and its cells hold less than one box on average. A
 * large box is never the work of one thread: all that are smaller look for it. Where a thread would
 * have to look at too many boxes, they are too dense, and the tree is taken instead.
 *
 * Invariant: the counts of cells are all 0 between builds; sort_homes clears those it used. */
#include "broad/broad_cuda.h"

#define FOUND_BLOCK   768u  /* pairs that a block of threads collects before it appends them */
#define CELLS_PER_BOX 2u    /* on J1 2 to 4 take the same time within 5 % */
#define CELLS_LEAST   64u   /* of a structure, so that few boxes have levels, too */
#define MOST_TESTS    4096u /* of one box with others, before the tree is taken */

/* Device memory of the cells. */
struct cell_memory {
    uint2 *homes;     /* of each id: cell, and rank among the boxes of that cell */
    uint32_t *counts; /* of each cell; all 0 between builds */
    uint32_t *starts; /* of each cell, and one more */
    float4
        *sorted; /* two per box: its corners; w of the low one is the id, of the other the cell */
    carom_device_count *tiles; /* of the scan: their sums; the first entry counts tiles begun */
};

#define NOWHERE UINT32_MAX /* the home of an empty box */

static __device__ inline uint32_t level_of(const broad_cells &cells, float extent) {
    uint32_t level = 0;
    for (double fits = cells.fits; !((double)extent <= fits) && level + 1 < cells.levels;
         fits *= 2.0)
        ++level;
    return level;
}

/* The cell of a box's centre on the lowest level. */
static __device__ inline uint32_t cell_along(const broad_cells &cells, int k, float low,
                                             float high) {
    double at = ((0.5 * (double)low + 0.5 * (double)high) - cells.low[k]) * cells.inverse;
    double last = (double)(cells.along[k] - 1u);
    at = at > 0.0 ? at : 0.0; /* NaN becomes 0; it is then on the highest level */
    at = at < last ? at : last;
    return (uint32_t)at;
}

/* From one row of cells of a level to the next, and from one plane to the next. */
static __device__ inline uint32_t row_pitch(const broad_cells &cells, uint32_t level) {
    return ((cells.along[0] - 1u) >> level) + 2u;
}

static __device__ inline uint32_t plane_pitch(const broad_cells &cells, uint32_t level) {
    return row_pitch(cells, level) * (((cells.along[1] - 1u) >> level) + 2u);
}

#define SCAN_EACH 16u                         /* cells that a thread adds up */
#define SCAN_TILE (SCAN_EACH * BROAD_THREADS) /* and a block */

static __host__ __device__ inline uint64_t scan_tiles(uint32_t most_cells) {
    return (uint64_t)most_cells / SCAN_TILE + 1u; /* there is one more start than cells */
}

static __global__ void __launch_bounds__(BROAD_THREADS)
    find_homes(broad_boxes b, uint32_t count, uint32_t most_cells, broad_state *s, cell_memory m) {
    carom_device_begin();
    uint32_t i = blockIdx.x * BROAD_THREADS + threadIdx.x;
    for (uint64_t t = i; t <= scan_tiles(most_cells); t += (uint64_t)gridDim.x * BROAD_THREADS)
        m.tiles[t] = 0;
    if (i >= count) return;
    carom_box box = b.first_box(i);
    if (!(box.low[0] <= box.high[0])) {
        m.homes[i] = make_uint2(NOWHERE, 0);
        return;
    }
    const broad_cells &cells = s->cells;
    uint32_t level = level_of(cells, broad_extent(box));
    uint32_t x = cell_along(cells, 0, box.low[0], box.high[0]) >> level;
    uint32_t y = cell_along(cells, 1, box.low[1], box.high[1]) >> level;
    uint32_t z = cell_along(cells, 2, box.low[2], box.high[2]) >> level;
    uint32_t cell =
        cells.first[level] + z * plane_pitch(cells, level) + y * row_pitch(cells, level) + x;
    CAROM_ASSERT(level < cells.levels && cells.first[level] <= cell);
    CAROM_ASSERT(cell < cells.first[level + 1] && cell < most_cells);
    m.homes[i] = make_uint2(cell, atomicAdd(&m.counts[cell], 1u));
    if ((s->level_mask >> level & 1u) == 0) atomicOr(&s->level_mask, 1u << level);
}

/* What a tile tells the later ones: nothing, its own sum, or that of all up to it. */
#define TILE_SUM  (1ull << 32)
#define TILE_UPTO (2ull << 32)

/* The sum of all tiles before this one, by one warp: tiles are looked back at until one tells the
 * sum of all up to it. Those before it have begun, so that none is waited for in vain. */
static __device__ uint32_t sum_before(const carom_device_count *tiles, uint32_t tile) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint32_t sum = 0;
    for (int64_t last = (int64_t)tile - 1;; last -= CAROM_WARP) {
        int64_t at = last - (int64_t)lane;
        carom_device_count told = TILE_UPTO; /* before the first */
        if (at >= 0) do
                told = *(const volatile carom_device_count *)&tiles[at];
            while (told < TILE_SUM);
        unsigned upto = __ballot_sync(~0u, told >= TILE_UPTO);
        unsigned taken = upto != 0 ? (unsigned)__ffs((int)upto) - 1u : CAROM_WARP - 1u;
        sum += __reduce_add_sync(~0u, lane <= taken ? (uint32_t)told : 0u);
        if (upto != 0) return sum;
    }
}

/* Adds up the counts of cells in one pass (Merrill and Garland, "Single-pass parallel prefix scan
 * with decoupled look-back", 2016). */
static __global__ void __launch_bounds__(BROAD_THREADS)
    scan_cells(const broad_state *s, cell_memory m) {
    carom_device_begin();
    __shared__ uint32_t sums[BROAD_THREADS / CAROM_WARP], tile_shared, before_shared;
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    if (threadIdx.x == 0) tile_shared = (uint32_t)atomicAdd(&m.tiles[0], 1ull);
    __syncthreads();
    uint32_t tile = tile_shared, count = s->cells.first[s->cells.levels] + 1u;
    CAROM_ASSERT(s->cells.levels != 0 && s->cells.levels <= BROAD_LEVELS);
    if ((uint64_t)tile * SCAN_TILE >= count) return;
    uint32_t base = tile * SCAN_TILE + warp * (SCAN_EACH * CAROM_WARP) + 4u * lane, total = 0;
    uint4 x[SCAN_EACH / 4u];
    for (unsigned i = 0; i < SCAN_EACH / 4u; ++i) /* there is memory for whole tiles */
        x[i] = *(const uint4 *)&m.counts[base + i * 4u * CAROM_WARP];
    for (unsigned i = 0; i < SCAN_EACH / 4u; ++i) {
        uint32_t own = x[i].x + x[i].y + x[i].z + x[i].w, upto = own;
        for (unsigned step = 1; step < CAROM_WARP; step *= 2) {
            uint32_t left = __shfl_up_sync(~0u, upto, step);
            if (lane >= step) upto += left;
        }
        uint32_t start = total + (upto - own);
        total += __shfl_sync(~0u, upto, CAROM_WARP - 1);
        x[i] = make_uint4(start, start + x[i].x, start + x[i].x + x[i].y,
                          start + x[i].x + x[i].y + x[i].z);
    }
    if (lane == 0) sums[warp] = total;
    __syncthreads();
    uint32_t earlier = 0, all = 0;
    for (unsigned i = 0; i < BROAD_THREADS / CAROM_WARP; ++i) {
        if (i < warp) earlier += sums[i];
        all += sums[i];
    }
    if (warp == 0) {
        volatile carom_device_count *told = &m.tiles[1u + tile];
        if (lane == 0) *told = (tile == 0 ? TILE_UPTO : TILE_SUM) | all;
        uint32_t before = tile == 0 ? 0u : sum_before(m.tiles + 1, tile);
        if (lane == 0) {
            *told = TILE_UPTO | (before + all);
            before_shared = before;
        }
    }
    __syncthreads();
    earlier += before_shared;
    for (unsigned i = 0; i < SCAN_EACH / 4u; ++i)
        *(uint4 *)&m.starts[base + i * 4u * CAROM_WARP] =
            make_uint4(x[i].x + earlier, x[i].y + earlier, x[i].z + earlier, x[i].w + earlier);
}

/* Writes boxes in the order of cells: two lanes per box, so that 32 bytes are written at once.
 * Leaves all counts 0 for the next build. */
static __global__ void __launch_bounds__(BROAD_THREADS)
    sort_homes(broad_boxes b, uint32_t count, const broad_state *s, cell_memory m) {
    carom_device_begin();
    uint32_t i = blockIdx.x * BROAD_THREADS + threadIdx.x, slot = NOWHERE;
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint2 home = make_uint2(NOWHERE, 0);
    carom_box box = {};
    if (i < count) home = m.homes[i];
    if (home.x != NOWHERE) {
        slot = m.starts[home.x] + home.y;
        CAROM_ASSERT(slot < m.starts[home.x + 1] && slot < count);
        box = broad_boxes::round(s->space, broad_load(b.bounds, i));
    }
    for (unsigned half = 0; half < 2; ++half) {
        unsigned from = lane / 2u + half * (CAROM_WARP / 2u);
        uint32_t to = __shfl_sync(~0u, slot, from);
        float v[3];
        for (int k = 0; k < 3; ++k) {
            float low = __shfl_sync(~0u, box.low[k], from);
            float high = __shfl_sync(~0u, box.high[k], from);
            v[k] = lane % 2u == 0 ? low : high;
        }
        uint32_t id = __shfl_sync(~0u, i, from), cell = __shfl_sync(~0u, home.x, from);
        if (to != NOWHERE)
            m.sorted[2 * (uint64_t)to + lane % 2u] =
                make_float4(v[0], v[1], v[2], __uint_as_float(lane % 2u == 0 ? id : cell));
    }
    uint32_t last = s->cells.first[s->cells.levels];
    for (uint64_t c = i; c <= last; c += (uint64_t)gridDim.x * BROAD_THREADS) m.counts[c] = 0;
}

/* The pairs of one block of threads, collected in shared memory. */
struct block_found {
    unsigned long long keys[FOUND_BLOCK];
    unsigned used, candidates;
    carom_device_count first;
};

struct cell_search {
    const float4 *sorted;
    const uint32_t *starts;
    broad_decision d;
    bool inexact;
    carom_device_list<unsigned long long> found;
    block_found *block;
    float4 low, high; /* of the box that searches */

    __device__ void test(uint32_t slot) const {
        /* Most boxes of later cells begin after this one ends: their other corner is not read. */
        float4 a = __ldg(&sorted[2 * (uint64_t)slot]);
        if (!((a.x <= high.x) & (a.y <= high.y) & (a.z <= high.z))) return;
        float4 b = __ldg(&sorted[2 * (uint64_t)slot + 1]);
        if (!((low.x <= b.x) & (low.y <= b.y) & (low.z <= b.z))) return;
        unsigned long long key;
        atomicAdd(&block->candidates, 1u);
        if (!d.counts(__float_as_uint(low.w), __float_as_uint(a.w), inexact, &key)) return;
        unsigned at = atomicAdd(&block->used, 1u);
        if (at < FOUND_BLOCK) {
            block->keys[at] = key;
        } else {
            carom_device_count far = atomicAdd(found.count, 1ull);
            if (far < found.capacity) found.data[far] = key;
        }
    }
};

/* The boxes of the cells x - 1 to x + 1 of a row of neighbours, given by its middle cell. */
static __device__ inline uint2 row_range(const uint32_t *middle) {
    return make_uint2(__ldg(middle - 1), __ldg(middle + 2));
}

/* One thread per box, in the order of cells: half a neighbourhood on its own level, all of it on
 * each higher one. */
static __global__ void __launch_bounds__(BROAD_THREADS)
    broad_cuda_search_cells(cell_memory m, broad_decision d,
                            carom_device_list<unsigned long long> found,
                            carom_device_counters *counters) {
    carom_device_begin();
    __shared__ block_found block;
    const broad_state *s = d.s;
    const broad_cells &cells = s->cells;
    if (threadIdx.x == 0) block.used = block.candidates = 0;
    __syncthreads();
    uint32_t slot = blockIdx.x * BROAD_THREADS + threadIdx.x;
    uint32_t all = __ldg(&m.starts[cells.first[cells.levels]]);
    if (slot < all) {
        cell_search search = {m.sorted, m.starts, d, s->inexact != 0, found, &block, {}, {}};
        float4 low = search.low = __ldg(&m.sorted[2 * (uint64_t)slot]);
        float4 high = search.high = __ldg(&m.sorted[2 * (uint64_t)slot + 1]);
        uint32_t cell = __float_as_uint(high.w), mask = s->level_mask, level = 0;
        while (mask != 1u && cell >= cells.first[level + 1]) ++level;
        uint32_t row = row_pitch(cells, level), plane = plane_pitch(cells, level);
        const uint32_t *at = m.starts + cell;
        uint2 own = make_uint2(slot + 1u, __ldg(at + 2));
        uint2 r1 = row_range(at + row), r2 = row_range(at + plane - row);
        uint2 r3 = row_range(at + plane), r4 = row_range(at + plane + row);
        /* one loop over all five ranges, so that lanes differ less in its length */
        CAROM_ASSERT(own.x <= own.y && r1.x <= r1.y && r2.x <= r2.y && r3.x <= r3.y);
        CAROM_ASSERT(r4.x <= r4.y && CAROM_MAX(own.y, r4.y) <= all);
        uint32_t t1 = own.y - own.x, t2 = t1 + (r1.y - r1.x), t3 = t2 + (r2.y - r2.x);
        uint32_t t4 = t3 + (r3.y - r3.x), tests = t4 + (r4.y - r4.x);
        if (tests > MOST_TESTS) {
            counters->n[N_DENSE] = 1;
            tests = 0;
        }
#pragma unroll 2
        for (uint32_t t = 0; t < tests; ++t) {
            uint32_t from = t < t1   ? own.x
                            : t < t2 ? r1.x - t1
                            : t < t3 ? r2.x - t2
                            : t < t4 ? r3.x - t3
                                     : r4.x - t4;
            search.test(from + t);
        }
        uint32_t above = mask & ~0u << level & ~(1u << level);
        if (above != 0) {
            uint32_t x = cell_along(cells, 0, low.x, high.x);
            uint32_t y = cell_along(cells, 1, low.y, high.y);
            uint32_t z = cell_along(cells, 2, low.z, high.z);
            for (; above != 0 && tests <= MOST_TESTS; above &= above - 1u) {
                uint32_t higher = (uint32_t)__ffs((int)above) - 1u;
                row = row_pitch(cells, higher);
                plane = plane_pitch(cells, higher);
                at = m.starts + cells.first[higher] + (z >> higher) * plane + (y >> higher) * row +
                     (x >> higher);
                for (int i = 0; i < 9; ++i) {
                    int dy = i % 3 - 1, dz = i / 3 - 1;
                    if (((z >> higher) == 0 && dz < 0) || ((y >> higher) == 0 && dy < 0)) continue;
                    const uint32_t *middle = at + dz * (int64_t)plane + dy * (int64_t)row;
                    uint2 r = make_uint2(__ldg((x >> higher) == 0 ? middle : middle - 1),
                                         __ldg(middle + 2));
                    CAROM_ASSERT(r.x <= r.y && r.y <= all);
                    tests += r.y - r.x;
                    if (tests > MOST_TESTS) break;
                    for (uint32_t k = r.x; k < r.y; ++k) search.test(k);
                }
            }
        }
        if (tests > MOST_TESTS) counters->n[N_DENSE] = 1;
    }
    __syncthreads();
    unsigned used = CAROM_MIN(block.used, FOUND_BLOCK);
    if (threadIdx.x == 0 && block.candidates != 0) {
        atomicAdd(&counters->n[BROAD_CUDA_N_CANDIDATES], (carom_device_count)block.candidates);
        if (used != 0) block.first = atomicAdd(found.count, (carom_device_count)used);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < used; i += BROAD_THREADS)
        if (block.first + i < found.capacity) found.data[block.first + i] = block.keys[i];
}

/* ---- Queueing -------------------------------------------------------------------------------- */

uint32_t carom_broad_cells_most(uint32_t count) {
    return CELLS_PER_BOX * count + CELLS_LEAST;
}

/* The bytes that cells take but for their counts; with memory the addresses. */
static uint64_t lay_out_cells(uint32_t count, char *memory, cell_memory *m) {
    uint64_t at = 0, tiles = scan_tiles(carom_broad_cells_most(count));
    m->sorted = (float4 *)memory;
    at += carom_device_row(2 * sizeof(float4) * (uint64_t)count);
    m->homes = (uint2 *)(memory + at);
    at += carom_device_row(sizeof(uint2) * (uint64_t)count);
    m->starts = (uint32_t *)(memory + at);
    at += carom_device_row(sizeof(uint32_t) * SCAN_TILE * tiles);
    m->tiles = (carom_device_count *)(memory + at);
    return at + sizeof(*m->tiles) * (tiles + 1);
}

static cell_memory cells_of(const carom_device_broad *broad) {
    cell_memory m = {};
    (void)lay_out_cells(broad->def.count, (char *)broad->prepared.data, &m);
    m.counts = (uint32_t *)broad->counts.data;
    return m;
}

carom_status carom_broad_cells_reserve(carom_device *device, carom_device_broad *broad) {
    cell_memory m = {};
    uint64_t bytes =
        sizeof(uint32_t) * SCAN_TILE * scan_tiles(carom_broad_cells_most(broad->def.count));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &broad->prepared,
                                          lay_out_cells(broad->def.count, nullptr, &m), "cells"));
    return carom_device_reserve_zeros(device, &broad->counts, bytes, "cells");
}

void carom_broad_cells_build(carom_device *device, carom_device_op *op,
                             const carom_device_broad *broad) {
    uint32_t count = broad->def.count, most = carom_broad_cells_most(count);
    unsigned blocks = carom_device_blocks(count, BROAD_THREADS);
    broad_boxes b = broad_boxes_of(broad, op);
    cell_memory m = cells_of(broad);
    CAROM_DEVICE_CHECK_ZEROS(device, broad->counts.data, broad->counts.bytes);
    carom_device_step(device, "homes");
    carom_device_launch(device, find_homes, blocks, BROAD_THREADS, b, count, most, broad->s(), m);
    carom_device_step(device, "scan");
    carom_device_launch(device, scan_cells, scan_tiles(most), BROAD_THREADS, broad->s(), m);
    carom_device_step(device, "sort");
    carom_device_launch(device, sort_homes, blocks, BROAD_THREADS, b, count, broad->s(), m);
}

void carom_broad_cells_find(carom_device *device, carom_device_op *op,
                            const carom_device_broad *broad, const broad_decision &d,
                            const carom_device_list<unsigned long long> &found) {
    carom_device_step(device, "search");
    carom_device_launch(device, broad_cuda_search_cells,
                        carom_device_blocks(broad->def.count, BROAD_THREADS), BROAD_THREADS,
                        cells_of(broad), d, found, op->counters);
}
