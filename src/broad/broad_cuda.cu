/* SPDX-License-Identifier: MIT */
/* All overlapping pairs of boxes on the GPU, everything made anew for each update.
 *
 *   cells   The default. Each box lies in one cell, that of its centre, on the lowest level whose
 *           cells are as large as it is. Two boxes that overlap then lie in neighbouring cells of
 *           the higher of their levels: their centres differ by less than one of its cells. Boxes
 *           are sorted by cell, by counting. Along x the three cells of a neighbourhood are one
 *           range of boxes, so that half a neighbourhood is five ranges. The edge of the lowest
 *           level is chosen from a sample, so that most boxes are on it and its cells hold less
 *           than one box on average. A large box is never the work of one thread: all that are
 *           smaller look for it. Where a thread would have to look at too many boxes, they crowd,
 *           and the tree is taken instead.
 *   tree    bvh_cuda.h
 *   grid    the hash grid of grid_cuda.h, in which a box has an entry in each of its cells
 *   sweep   the method of Loi, "Fast GPU-based collision detection", 2010, 6.1: see broad_sweep.c
 *
 * The float32 boxes that all methods search contain the boxes; what they find is decided by doubles
 * unless all of them are exact. So the set of pairs is that of the CPU. */
#include <new>

#include "base/pairs_cuda.h"
#include "broad/broad_device.h"
#include "broad/broad_item.h"
#include "bvh/bvh_cuda.h"
#include "grid/grid_cuda.h"

#define THREADS       256u
#define FOUND_BLOCK   768u   /* pairs that a block of threads collects before it appends them */
#define FOUND_WARP    128u   /* the same for a warp */
#define FEWEST        65536u /* entries of a list at first */
#define LEVELS        22u    /* of cells; the highest is one cell */
#define MOST_ALONG    (1u << (LEVELS - 1u)) /* cells along an axis of the lowest level */
#define CELLS_PER_BOX 2u                    /* on J1 2 to 4 take the same time within 5 % */
#define FEWEST_CELLS  64u
#define MOST_TESTS    4096u /* of one box with others, before the tree is taken */
/* Boxes up to this many times the edge that the density suggests are taken into the lowest level by
 * a larger edge. */
#define MOST_ENLARGED 2.0
#define SPARE         1.1 /* of the edge over the largest box of the sample */
/* What an extent may be of its cell: leaves room for the rounding of extents, 2^-24, and of centres
 * in units of cells, which are below 2^26 and rounded to 2^-53 of that. */
#define FITS (1.0 - 0x1p-16)

/* Blocks of scratch; BINS, which must stay zero, is that of soup_cuda.cu. */
enum {
    GRID,
    ENTRIES,
    SORT,
    BINS,
    LEAF_PAIRS,
    CANDIDATES,
    SWEEP,
    ROWS,
    FOUND,
    SCATTERED,
    TALLY,
    TREE
};

/* Counters of a search; N_ENTRIES: pairs of leaves, or entries of a grid or a sweep. */
enum { N_ENTRIES, N_CANDIDATES, N_FOUND, N_LONG, N_NOT_FINITE, N_CROWDED };

/* ---- On the device --------------------------------------------------------------------------- */

/* Cells of a level are numbered along x first, then y, then z. After the last cell of each row, row
 * of each plane, and plane there is one that stays empty, so that neighbours need no test for the
 * border: before the first cell of a row comes the empty one of the row before it. */
struct cell_levels {
    double low[3], inverse;     /* cell 0 of an axis begins at low; 1 / edge, on the lowest level */
    double fits;                /* the largest extent on the lowest level */
    uint32_t levels, along[3];  /* cells along the axes of the lowest level */
    uint32_t first[LEVELS + 1]; /* cell of each level */
};

struct sweep_cells {
    int axis[3];          /* that of the sweep first */
    double low[3], scale; /* of keys along the axis: (x - low) * scale */
    double inverse;       /* 1 / edge of a cell, across the sweep */
    uint32_t along[3], key_bits;
};

/* What a survey of a sample chooses, and what the first pass over all boxes learns. */
struct state {
    carom_broad_space space;
    carom_bvh_space tree;
    cell_levels cells;
    sweep_cells sweep;
    unsigned inexact;    /* a float32 box is not the box itself */
    unsigned level_mask; /* levels that hold boxes */
};

static __device__ inline carom_bounds load_bounds(const carom_bounds *bounds, uint32_t id) {
    const double *p = (const double *)(bounds + id);
    carom_bounds b;
    if (((uintptr_t)bounds & 15u) == 0) { /* 48 bytes are three times 16 */
        const double2 *q = (const double2 *)p;
        double2 x = __ldg(q), y = __ldg(q + 1), z = __ldg(q + 2);
        b.low = carom_vec(x.x, x.y, y.x);
        b.high = carom_vec(y.y, z.x, z.y);
    } else {
        b.low = carom_vec(p[0], p[1], p[2]);
        b.high = carom_vec(p[3], p[4], p[5]);
    }
    return b;
}

/* Whether it is carom_bounds_empty(), the box of an id that is not in use. */
static __device__ inline bool is_removed(const carom_bounds &b) {
    return b.low.x == HUGE_VAL && b.low.y == HUGE_VAL && b.low.z == HUGE_VAL &&
           b.high.x == -HUGE_VAL && b.high.y == -HUGE_VAL && b.high.z == -HUGE_VAL;
}

/* The boxes by id, rounded; for the tree and the grid as well. */
struct boxes {
    const carom_bounds *bounds;
    state *s;
    carom_device_counters *counters;

    static __device__ carom_box round(const carom_broad_space &space, const carom_bounds &b) {
        if (!space.plain) return carom_broad_round(&space, &b);
        if (carom_bounds_is_empty(&b)) return carom_box_empty();
        carom_box box = {
            {__double2float_rd(b.low.x), __double2float_rd(b.low.y), __double2float_rd(b.low.z)},
            {__double2float_ru(b.high.x), __double2float_ru(b.high.y),
             __double2float_ru(b.high.z)}};
        return box;
    }

    __device__ carom_box box(uint32_t id) const {
        return round(s->space, load_bounds(bounds, id));
    }

    /* Called once per box: checks it, and whether it is exact. */
    __device__ carom_box first_box(uint32_t id) const {
        carom_bounds b = load_bounds(bounds, id);
        double zero = ((b.low.x - b.low.x) + (b.low.y - b.low.y)) + (b.low.z - b.low.z);
        zero += ((b.high.x - b.high.x) + (b.high.y - b.high.y)) + (b.high.z - b.high.z);
        if (!(zero == 0.0) && !is_removed(b)) atomicAdd(&counters->n[N_NOT_FINITE], 1ull);
        carom_box box = round(s->space, b);
        if (box.low[0] <= box.high[0] && !carom_broad_is_exact(&box, &b) && s->inexact == 0)
            s->inexact = 1u; /* of many that write, all write the same */
        return box;
    }

    __device__ carom_box place(uint32_t, uint32_t id) const {
        return box(id);
    }
    __device__ bool second(uint32_t) const {
        return false;
    }
    __device__ bool paired(uint32_t, uint32_t) const {
        return true;
    }
};

static __device__ inline float extent_of(const carom_box &box) {
    float x = box.high[0] - box.low[0], y = box.high[1] - box.low[1], z = box.high[2] - box.low[2];
    return fmaxf(x, fmaxf(y, z));
}

/* ---- Survey ---------------------------------------------------------------------------------- */

/* Whether all levels together have at most this many cells where the lowest has cells of this edge.
 */
static __device__ bool cells_fit(const double *size, double edge, uint64_t most) {
    uint64_t along[3], all = 0;
    for (int k = 0; k < 3; ++k) {
        double cells = floor(size[k] / edge) + 1.0;
        if (!(cells <= (double)MOST_ALONG)) return false;
        along[k] = (uint64_t)cells;
    }
    for (unsigned level = 0; level < LEVELS; ++level) {
        uint64_t x = (along[0] - 1) >> level, y = (along[1] - 1) >> level;
        uint64_t z = (along[2] - 1) >> level;
        all += (x + 2) * (y + 2) * (z + 2);
        if (all > most || (x | y | z) == 0) break;
    }
    return all <= most;
}

/* By the first LEVELS threads, one for each level. */
static __device__ void set_levels(cell_levels *cells, const carom_bvh_space &space,
                                  const double *size, double edge) {
    uint32_t along[3], first = 0, x = 0, y = 0, z = 0, level = 0;
    if (threadIdx.x >= LEVELS) return;
    for (int k = 0; k < 3; ++k) along[k] = (uint32_t)(floor(size[k] / edge) + 1.0);
    for (;; ++level) { /* up to its own level, or the last */
        x = (along[0] - 1) >> level, y = (along[1] - 1) >> level, z = (along[2] - 1) >> level;
        if (level == threadIdx.x || (x | y | z) == 0) break;
        first += (x + 2) * (y + 2) * (z + 2);
    }
    if (level != threadIdx.x) return;
    cells->first[level] = first;
    if ((x | y | z) == 0) {
        cells->first[level + 1] = first + (x + 2) * (y + 2) * (z + 2);
        cells->levels = level + 1;
    }
    if (level != 0) return;
    cells->inverse = 1.0 / edge;
    cells->fits = edge * FITS;
    for (int k = 0; k < 3; ++k) {
        cells->low[k] = (double)space.low[k];
        cells->along[k] = along[k];
    }
}

/* As choose_cell and cut of broad_sweep.c, from the moments of the sample. */
#define STEPS_PER_ENTRY 6.0
#define LEAST_CELL      2.0
#define MOST_CELL_BITS  20u

static __device__ void set_sweep(sweep_cells *sweep, const carom_bvh_space &space,
                                 const double *size, const double *moments, uint32_t count,
                                 double wanted) {
    double n = moments[9] > 0.0 ? moments[9] : 1.0, most = -1.0;
    int best = 0;
    for (int k = 0; k < 3; ++k) {
        double mean = moments[k] / n, variance = moments[3 + k] / n - mean * mean;
        if (variance > most) {
            most = variance;
            best = k;
        }
    }
    double along[3], mean[3];
    for (int i = 0; i < 3; ++i) {
        int axis = sweep->axis[i] = (best + i) % 3;
        along[i] = size[axis];
        mean[i] = moments[6 + axis] / n;
        sweep->low[i] = (double)space.low[axis];
    }
    double widest = CAROM_MAX(along[1], along[2]);
    double area = STEPS_PER_ENTRY * along[1] * along[2] * along[0] / (count * mean[0]);
    double cell = area > 0.0 && area <= DBL_MAX ? sqrt(area) : widest;
    cell = CAROM_MAX(LEAST_CELL * 0.5 * (mean[1] + mean[2]), cell);
    cell = wanted > 0.0 ? wanted : CAROM_MIN(cell, widest);
    if (!(cell > 0.0)) cell = 1.0;
    uint32_t bits = 0;
    for (;; cell *= 2.0) {
        double u = floor(along[1] / cell) + 1.0, v = floor(along[2] / cell) + 1.0;
        if (!(u * v <= (double)(1u << MOST_CELL_BITS))) continue;
        sweep->along[1] = (uint32_t)u;
        sweep->along[2] = (uint32_t)v;
        while ((double)(1u << bits) < u * v) ++bits;
        break;
    }
    sweep->inverse = 1.0 / cell;
    sweep->key_bits = CAROM_MIN(32u - bits, 30u);
    sweep->scale = along[0] > 0.0 ? (double)(1ull << sweep->key_bits) / along[0] : 0.0;
}

/* The box of a sample that its thread has loaded already. */
struct sampled_box {
    carom_box mine;

    __device__ carom_box box(uint32_t) const {
        return mine;
    }
};

/* One block: chooses the frame, the cells and the space of the tree's keys from a sample that is
 * evenly spaced. Any choice is correct. It also clears the counters of `cleared` operations. */
static __global__ void __launch_bounds__(CAROM_TREE_SAMPLE)
    survey(boxes b, uint32_t count, uint32_t most_cells, bool by_sweep, double sweep_cell,
           uint32_t cleared, state *s) {
    carom_device_begin();
    __shared__ double ends[6][CAROM_WARP];
    __shared__ double moments[10];
    __shared__ carom_broad_space frame;
    __shared__ carom_bvh_space space;
    __shared__ unsigned finest, largest;
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    uint32_t sampled = CAROM_MIN(count, CAROM_TREE_SAMPLE);
    uint32_t rank = lane * CAROM_WARP + warp; /* as in carom_tree_survey_block */
    carom_bounds mine = {{1.0, 1.0, 1.0}, {0.0, 0.0, 0.0}};
    if (rank < sampled) mine = load_bounds(b.bounds, (uint32_t)((uint64_t)rank * count / sampled));
    bool used = !carom_bounds_is_empty(&mine);
    double x[6] = {mine.low.x, mine.low.y, mine.low.z, -mine.high.x, -mine.high.y, -mine.high.z};
    for (int k = 0; k < 6; ++k) {
        if (!used) x[k] = HUGE_VAL;
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
            x[k] = fmin(x[k], __shfl_xor_sync(~0u, x[k], step));
        if (lane == 0) ends[k][warp] = x[k];
    }
    if (threadIdx.x < cleared * CAROM_DEVICE_COUNTERS)
        ((carom_device_count *)b.counters)[threadIdx.x] = 0;
    if (threadIdx.x < 10) moments[threadIdx.x] = 0.0;
    if (threadIdx.x == 0) finest = largest = 0u;
    __syncthreads();
    if (warp == 0) {
        for (int k = 0; k < 6; ++k) {
            x[k] = ends[k][lane];
            for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
                x[k] = fmin(x[k], __shfl_xor_sync(~0u, x[k], step));
        }
        if (lane == 0) {
            carom_bounds all = {{x[0], x[1], x[2]}, {-x[3], -x[4], -x[5]}};
            frame = carom_broad_choose_space(&all);
        }
    }
    __syncthreads();
    carom_box box = used ? boxes::round(frame, mine) : carom_box_empty();
    carom_tree_survey_block(sampled_box{box}, count, &space);
    __syncthreads();
    double size[3], most = 0.0;
    for (int k = 0; k < 3; ++k) {
        size[k] = space.scale[k] > 0.0f ? (double)CAROM_BVH_CELLS / (double)space.scale[k] : 0.0;
        most = CAROM_MAX(size[k], most);
    }
    double edge = most * (double)exp2f(-(float)threadIdx.x * 0.125f);
    bool fits = most > 0.0 && edge > 0.0 && cells_fit(size, edge, most_cells);
    unsigned fine = __reduce_max_sync(~0u, fits ? threadIdx.x : 0u);
    if (lane == 0 && fine != 0) atomicMax(&finest, fine);
    if (by_sweep) { /* of all samples */
        for (int k = 0; k < 3; ++k) {
            double low = (double)box.low[k], high = (double)box.high[k];
            double centre = used ? 0.5 * low + 0.5 * high - (double)space.low[k] : 0.0;
            double value[3] = {centre, centre * centre, used ? high - low : 0.0};
            for (int m = 0; m < 3; ++m) {
                for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
                    value[m] += __shfl_xor_sync(~0u, value[m], step);
                if (lane == 0) atomicAdd(&moments[3 * m + k], value[m]);
            }
        }
        unsigned live = __popc(__ballot_sync(~0u, used));
        if (lane == 0) atomicAdd(&moments[9], (double)live);
    }
    __syncthreads();
    edge = most > 0.0 ? most * (double)exp2f(-(float)finest * 0.125f) : 1.0;
    float extent = used ? extent_of(box) : 0.0f;
    bool small = (double)extent <= MOST_ENLARGED * edge; /* of floats that are not negative the */
    unsigned large = __reduce_max_sync(~0u, small ? __float_as_uint(extent) : 0u); /* bits grow */
    if (lane == 0 && large != 0) atomicMax(&largest, large);
    __syncthreads();
    edge = CAROM_MAX(edge, SPARE * (double)__uint_as_float(largest));
    set_levels(&s->cells, space, size, edge);
    if (threadIdx.x != CAROM_WARP) return; /* in a warp that had no levels to set */
    s->space = frame;
    s->inexact = frame.plain ? 0u : 1u;
    s->level_mask = 0u;
    s->tree = space;
    if (by_sweep) set_sweep(&s->sweep, space, size, moments, count, sweep_cell * frame.scale);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

/* Which pairs whose float32 boxes overlap count, and where they go. */
struct decision {
    const carom_bounds *bounds;
    const carom_broad_filter *filters; /* or NULL */
    const state *s;
    uint32_t *tally;

    __device__ bool counts(uint32_t a, uint32_t b, bool inexact, unsigned long long *key) const {
        if (inexact) {
            carom_bounds x = load_bounds(bounds, a), y = load_bounds(bounds, b);
            if (!carom_bounds_overlap(&x, &y)) return false;
        }
        if (filters != nullptr && !carom_broad_allows(filters[a], filters[b])) return false;
        *key = carom_pair_pack(CAROM_MIN(a, b), CAROM_MAX(a, b));
        if (tally != nullptr) atomicAdd(&tally[(uint32_t)*key], 1u);
        return true;
    }
};

/* Candidates are places of the tree's items, or ids where that is NULL. */
static __global__ void __launch_bounds__(THREADS)
    decide(decision d, const uint32_t *items, carom_device_list<uint2> candidates,
           carom_device_list<unsigned long long> found) {
    carom_device_begin();
    __shared__ unsigned long long buffers[THREADS / CAROM_WARP][FOUND_WARP];
    carom_warp_buffer<unsigned long long, FOUND_WARP> buffer = {buffers[threadIdx.x / CAROM_WARP],
                                                                0};
    uint64_t count = candidates.stored();
    bool inexact = d.s->inexact != 0;
    for (uint64_t base = (uint64_t)blockIdx.x * THREADS; base < count;
         base += (uint64_t)gridDim.x * THREADS) {
        uint64_t i = base + threadIdx.x;
        bool counts = false;
        unsigned long long key = 0;
        if (i < count) {
            uint2 pair = candidates.data[i];
            if (items != nullptr) pair = make_uint2(items[pair.x], items[pair.y]);
            counts = d.counts(pair.x, pair.y, inexact, &key);
        }
        buffer.push(found, counts, key);
    }
    buffer.flush(found);
}

/* As a memset, but kernels around it may be launched early. */
static __global__ void clear_counters(carom_device_counters *counters) {
    carom_device_begin();
    counters->n[threadIdx.x] = 0;
}

/* Looks at all boxes once where the method's first step does not. */
static __global__ void check(boxes b, uint32_t count) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) (void)b.first_box(i);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

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

static __device__ inline uint32_t level_of(const cell_levels &cells, float extent) {
    uint32_t level = 0;
    for (double fits = cells.fits; !((double)extent <= fits) && level + 1 < cells.levels;
         fits *= 2.0)
        ++level;
    return level;
}

/* The cell of a box's centre on the lowest level. */
static __device__ inline uint32_t cell_along(const cell_levels &cells, int k, float low,
                                             float high) {
    double at = ((0.5 * (double)low + 0.5 * (double)high) - cells.low[k]) * cells.inverse;
    double last = (double)(cells.along[k] - 1u);
    at = at > 0.0 ? at : 0.0; /* NaN becomes 0; it is then on the highest level */
    at = at < last ? at : last;
    return (uint32_t)at;
}

/* From one row of cells of a level to the next, and from one plane to the next. */
static __device__ inline uint32_t row_pitch(const cell_levels &cells, uint32_t level) {
    return ((cells.along[0] - 1u) >> level) + 2u;
}

static __device__ inline uint32_t plane_pitch(const cell_levels &cells, uint32_t level) {
    return row_pitch(cells, level) * (((cells.along[1] - 1u) >> level) + 2u);
}

#define SCAN_EACH 16u                   /* cells that a thread adds up */
#define SCAN_TILE (SCAN_EACH * THREADS) /* and a block */

static __host__ __device__ inline uint64_t scan_tiles(uint32_t most_cells) {
    return (uint64_t)most_cells / SCAN_TILE + 1u; /* there is one more start than cells */
}

static __global__ void __launch_bounds__(THREADS)
    find_homes(boxes b, uint32_t count, uint32_t most_cells, state *s, cell_memory m) {
    carom_device_begin();
    uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    for (uint64_t t = i; t <= scan_tiles(most_cells); t += (uint64_t)gridDim.x * THREADS)
        m.tiles[t] = 0;
    if (i >= count) return;
    carom_box box = b.first_box(i);
    if (!(box.low[0] <= box.high[0])) {
        m.homes[i] = make_uint2(NOWHERE, 0);
        return;
    }
    const cell_levels &cells = s->cells;
    uint32_t level = level_of(cells, extent_of(box));
    uint32_t x = cell_along(cells, 0, box.low[0], box.high[0]) >> level;
    uint32_t y = cell_along(cells, 1, box.low[1], box.high[1]) >> level;
    uint32_t z = cell_along(cells, 2, box.low[2], box.high[2]) >> level;
    uint32_t cell =
        cells.first[level] + z * plane_pitch(cells, level) + y * row_pitch(cells, level) + x;
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
static __global__ void __launch_bounds__(THREADS) scan_cells(const state *s, cell_memory m) {
    carom_device_begin();
    __shared__ uint32_t sums[THREADS / CAROM_WARP], tile_shared, before_shared;
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    if (threadIdx.x == 0) tile_shared = (uint32_t)atomicAdd(&m.tiles[0], 1ull);
    __syncthreads();
    uint32_t tile = tile_shared, count = s->cells.first[s->cells.levels] + 1u;
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
    for (unsigned i = 0; i < THREADS / CAROM_WARP; ++i) {
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
static __global__ void __launch_bounds__(THREADS)
    sort_homes(boxes b, uint32_t count, const state *s, cell_memory m) {
    carom_device_begin();
    uint32_t i = blockIdx.x * THREADS + threadIdx.x, place = NOWHERE;
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint2 home = make_uint2(NOWHERE, 0);
    carom_box box = {};
    if (i < count) home = m.homes[i];
    if (home.x != NOWHERE) {
        place = m.starts[home.x] + home.y;
        box = boxes::round(s->space, load_bounds(b.bounds, i));
    }
    for (unsigned half = 0; half < 2; ++half) {
        unsigned from = lane / 2u + half * (CAROM_WARP / 2u);
        uint32_t to = __shfl_sync(~0u, place, from);
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
    for (uint64_t c = i; c <= last; c += (uint64_t)gridDim.x * THREADS) m.counts[c] = 0;
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
    decision d;
    bool inexact;
    carom_device_list<unsigned long long> found;
    block_found *block;
    float4 low, high; /* of the box that searches */

    __device__ void test(uint32_t place) const {
        /* Most boxes of later cells begin after this one ends: their other corner is not read. */
        float4 a = __ldg(&sorted[2 * (uint64_t)place]);
        if (!((a.x <= high.x) & (a.y <= high.y) & (a.z <= high.z))) return;
        float4 b = __ldg(&sorted[2 * (uint64_t)place + 1]);
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
static __global__ void __launch_bounds__(THREADS)
    search_cells(cell_memory m, decision d, carom_device_list<unsigned long long> found,
                 carom_device_counters *counters) {
    carom_device_begin();
    __shared__ block_found block;
    const state *s = d.s;
    const cell_levels &cells = s->cells;
    if (threadIdx.x == 0) block.used = block.candidates = 0;
    __syncthreads();
    uint32_t place = blockIdx.x * THREADS + threadIdx.x;
    uint32_t all = __ldg(&m.starts[cells.first[cells.levels]]);
    if (place < all) {
        cell_search search = {m.sorted, m.starts, d, s->inexact != 0, found, &block, {}, {}};
        float4 low = search.low = __ldg(&m.sorted[2 * (uint64_t)place]);
        float4 high = search.high = __ldg(&m.sorted[2 * (uint64_t)place + 1]);
        uint32_t cell = __float_as_uint(high.w), mask = s->level_mask, level = 0;
        while (mask != 1u && cell >= cells.first[level + 1]) ++level;
        uint32_t row = row_pitch(cells, level), plane = plane_pitch(cells, level);
        const uint32_t *at = m.starts + cell;
        uint2 own = make_uint2(place + 1u, __ldg(at + 2));
        uint2 r1 = row_range(at + row), r2 = row_range(at + plane - row);
        uint2 r3 = row_range(at + plane), r4 = row_range(at + plane + row);
        /* one loop over all five ranges, so that lanes differ less in its length */
        uint32_t t1 = own.y - own.x, t2 = t1 + (r1.y - r1.x), t3 = t2 + (r2.y - r2.x);
        uint32_t t4 = t3 + (r3.y - r3.x), tests = t4 + (r4.y - r4.x);
        if (tests > MOST_TESTS) {
            counters->n[N_CROWDED] = 1;
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
                    tests += r.y - r.x;
                    if (tests > MOST_TESTS) break;
                    for (uint32_t k = r.x; k < r.y; ++k) search.test(k);
                }
            }
        }
        if (tests > MOST_TESTS) counters->n[N_CROWDED] = 1;
    }
    __syncthreads();
    unsigned used = CAROM_MIN(block.used, FOUND_BLOCK);
    if (threadIdx.x == 0 && block.candidates != 0) {
        atomicAdd(&counters->n[N_CANDIDATES], (carom_device_count)block.candidates);
        if (used != 0) block.first = atomicAdd(found.count, (carom_device_count)used);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < used; i += THREADS)
        if (block.first + i < found.capacity) found.data[block.first + i] = block.keys[i];
}

/* ---- Sweep ----------------------------------------------------------------------------------- */

#define SWEEP_LOW_U 0x40000000u /* flags of an owner, as in broad_sweep_cpu.h */
#define SWEEP_LOW_V 0x80000000u
#define SWEEP_ID    0x3FFFFFFFu

#define SWEEP_LANES 1u  /* of an entry */
#define SWEEP_SHORT 16u /* steps of these before the whole warp takes over: see docs/cuda.md */

struct sweep_memory {
    uint32_t *counts, *offsets;    /* entries of each box, and one more */
    uint32_t *keys[2], *owners[2]; /* unsorted, sorted */
    float4 *rows;                  /* two per sorted entry, along the axes of the sweep */
    uint64_t capacity;             /* of entries */
    void *temporary;
    size_t temporary_bytes;
};

static __device__ inline uint32_t sweep_key(const sweep_cells &sweep, float x) {
    double at = ((double)x - sweep.low[0]) * sweep.scale;
    double most = (double)((1ull << sweep.key_bits) - 1ull);
    at = at > 0.0 ? at : 0.0;
    at = at < most ? at : most;
    return (uint32_t)at;
}

static __device__ inline uint32_t sweep_cell(const sweep_cells &sweep, int i, float x) {
    double at = ((double)x - sweep.low[i]) * sweep.inverse, last = (double)(sweep.along[i] - 1u);
    at = at > 0.0 ? at : 0.0;
    at = at < last ? at : last;
    return (uint32_t)at;
}

struct sweep_span {
    uint32_t low[2], high[2];
};

static __device__ inline sweep_span span_of(const sweep_cells &sweep, const carom_box &box) {
    sweep_span span;
    for (int i = 0; i < 2; ++i) {
        span.low[i] = sweep_cell(sweep, i + 1, box.low[sweep.axis[i + 1]]);
        span.high[i] = sweep_cell(sweep, i + 1, box.high[sweep.axis[i + 1]]);
    }
    return span;
}

static __global__ void sweep_count(boxes b, uint32_t count, const state *s, sweep_memory m) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > count) return;
    uint32_t entries = 0;
    if (i < count) {
        carom_box box = b.box(i);
        sweep_span span = span_of(s->sweep, box);
        if (box.low[0] <= box.high[0])
            entries = (span.high[0] - span.low[0] + 1u) * (span.high[1] - span.low[1] + 1u);
    }
    m.counts[i] = entries;
}

static __global__ void sweep_enter(boxes b, uint32_t count, const state *s, sweep_memory m,
                                   carom_device_count *total) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *total = m.offsets[count];
    if (i >= count || m.offsets[i] == m.offsets[i + 1]) return;
    const sweep_cells &sweep = s->sweep;
    carom_box box = b.box(i);
    sweep_span span = span_of(sweep, box);
    uint32_t begins = sweep_key(sweep, box.low[sweep.axis[0]]);
    uint64_t at = m.offsets[i];
    for (uint32_t u = span.low[0]; u <= span.high[0]; ++u)
        for (uint32_t v = span.low[1]; v <= span.high[1]; ++v, ++at) {
            if (at >= m.capacity) return; /* it will be repeated */
            m.keys[0][at] = (u * sweep.along[2] + v) << sweep.key_bits | begins;
            m.owners[0][at] =
                i | (u == span.low[0] ? SWEEP_LOW_U : 0u) | (v == span.low[1] ? SWEEP_LOW_V : 0u);
        }
}

static __global__ void sweep_rows(boxes b, const state *s, sweep_memory m,
                                  const carom_device_count *total) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *total || i >= m.capacity) return;
    const int *axis = s->sweep.axis;
    uint32_t owner = m.owners[1][i];
    carom_box box = b.box(owner & SWEEP_ID);
    float low[3], high[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = axis[k] == 0 ? box.low[0] : axis[k] == 1 ? box.low[1] : box.low[2];
        high[k] = axis[k] == 0 ? box.high[0] : axis[k] == 1 ? box.high[1] : box.high[2];
    }
    m.rows[2 * i] = make_float4(low[0], low[1], low[2], __uint_as_float(owner));
    m.rows[2 * i + 1] = make_float4(high[0], high[1], high[2], __uint_as_float(m.keys[1][i]));
}

/* An entry of the sweep that looks at those after it. */
struct sweep_look {
    float4 low, high;
    uint32_t owner, last; /* last: the greatest key that it reaches */

    /* Whether the entry there meets it; *more becomes false behind the last. */
    __device__ bool meets(const sweep_memory &m, uint64_t at, uint32_t *other, bool *more) const {
        const uint32_t both = SWEEP_LOW_U | SWEEP_LOW_V;
        float4 a = __ldg(&m.rows[2 * at]), b = __ldg(&m.rows[2 * at + 1]);
        *other = __float_as_uint(a.w);
        *more = __float_as_uint(b.w) <= last;
        return *more && (a.x <= high.x) & (low.x <= b.x) & (a.y <= high.y) & (low.y <= b.y) &
                            (a.z <= high.z) & (low.z <= b.z) & (((*other | owner) & both) == both);
    }
};

static __device__ inline float4 float4_of_lane(float4 v, unsigned lane) {
    return make_float4(__shfl_sync(~0u, v.x, lane), __shfl_sync(~0u, v.y, lane),
                       __shfl_sync(~0u, v.z, lane), __shfl_sync(~0u, v.w, lane));
}

/* LANES lanes share an entry for the first SHORT steps; what is left of the longer ones is looked
 * at by the whole warp, one after the other: more threads for larger boxes. */
template <unsigned LANES, unsigned SHORT>
static __global__ void __launch_bounds__(THREADS)
    sweep_find(const state *s, sweep_memory m, const carom_device_count *total,
               carom_device_list<uint2> found) {
    carom_device_begin();
    __shared__ uint2 buffers[THREADS / CAROM_WARP][FOUND_WARP];
    carom_warp_buffer<uint2, FOUND_WARP> buffer = {buffers[threadIdx.x / CAROM_WARP], 0};
    uint64_t count = *total, group = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) / LANES;
    unsigned lane = threadIdx.x % CAROM_WARP;
    if (count > m.capacity) return; /* it will be repeated */
    bool more = group < count;
    sweep_look look = {};
    if (more) {
        look.low = m.rows[2 * group];
        look.high = m.rows[2 * group + 1];
        look.owner = __float_as_uint(look.low.w);
        uint32_t within = (uint32_t)((1ull << s->sweep.key_bits) - 1ull);
        look.last = (__float_as_uint(look.high.w) & ~within) | sweep_key(s->sweep, look.high.x);
    }
    uint64_t at = group + 1 + lane % LANES;
    for (unsigned step = 0; step < SHORT && __ballot_sync(~0u, more) != 0; ++step, at += LANES) {
        bool meets = false;
        uint32_t other = 0;
        more = more && at < count;
        if (more) meets = look.meets(m, at, &other, &more);
        buffer.push(found, meets, make_uint2(look.owner & SWEEP_ID, other & SWEEP_ID));
    }
    for (unsigned left = __ballot_sync(~0u, more); left != 0;) {
        unsigned from = (unsigned)__ffs((int)left) - 1u; /* a lane with all to come behind it */
        sweep_look one = {float4_of_lane(look.low, from), float4_of_lane(look.high, from),
                          __shfl_sync(~0u, look.owner, from), __shfl_sync(~0u, look.last, from)};
        left &= ~((LANES == CAROM_WARP ? ~0u : (1u << LANES) - 1u) << from / LANES * LANES);
        uint64_t next = __shfl_sync(~0u, group, from) + 1 + (uint64_t)SHORT * LANES + lane;
        bool on = true;
        for (; __ballot_sync(~0u, on) != 0; next += CAROM_WARP) {
            bool meets = false;
            uint32_t other = 0;
            on = on && next < count;
            if (on) meets = one.meets(m, next, &other, &on);
            buffer.push(found, meets, make_uint2(one.owner & SWEEP_ID, other & SWEEP_ID));
        }
    }
    buffer.flush(found);
}

/* ---- The structure --------------------------------------------------------------------------- */

struct carom_device_broad {
    carom_device_broad_def def; /* its pointers are only compared */
    carom_device_block own_bounds, filters, prepared, counts, tree_memory, choices;
    const carom_bounds *bounds; /* own, or the caller's */
    carom_tree tree;
    bool crowded;  /* AUTO takes the tree */
    bool has_tree; /* what is prepared, once the kernels queued so far are done */
    uint64_t entries;

    state *s() const {
        return (state *)choices.data;
    }
};

static bool by_cells(const carom_device_broad *broad) {
    return broad->def.method == CAROM_BROAD_METHOD_AUTO && !broad->crowded;
}

static bool by_tree(const carom_device_broad *broad) {
    return broad->def.method == CAROM_BROAD_METHOD_TREE ||
           (broad->def.method == CAROM_BROAD_METHOD_AUTO && broad->crowded);
}

static uint32_t most_cells(uint32_t count) {
    return CELLS_PER_BOX * count + FEWEST_CELLS;
}

static uint64_t row(uint64_t bytes) {
    return (bytes + CAROM_DEVICE_ALLOCATION) / CAROM_DEVICE_ALLOCATION * CAROM_DEVICE_ALLOCATION;
}

static size_t scan_bytes(uint64_t count) {
    size_t bytes = 0;
    uint32_t *none = nullptr;
    (void)cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, none, (int64_t)count,
                                        (cudaStream_t) nullptr);
    return bytes;
}

/* The bytes that cells take but for their counts; with memory the addresses. */
static uint64_t place_cells(uint32_t count, char *memory, cell_memory *m) {
    uint64_t at = 0, tiles = scan_tiles(most_cells(count));
    m->sorted = (float4 *)memory;
    at += row(2 * sizeof(float4) * (uint64_t)count);
    m->homes = (uint2 *)(memory + at);
    at += row(sizeof(uint2) * (uint64_t)count);
    m->starts = (uint32_t *)(memory + at);
    at += row(sizeof(uint32_t) * SCAN_TILE * tiles);
    m->tiles = (carom_device_count *)(memory + at);
    return at + sizeof(*m->tiles) * (tiles + 1);
}

static cell_memory cells_of(const carom_device_broad *broad) {
    cell_memory m = {};
    (void)place_cells(broad->def.count, (char *)broad->prepared.data, &m);
    m.counts = (uint32_t *)broad->counts.data;
    return m;
}

/* The same for a tree. */
static uint64_t place_tree(uint32_t count, char *memory, carom_tree *tree) {
    uint64_t floats = carom_tree_shape(count, tree);
    carom_tree_place(tree, (float *)memory);
    tree->items = (uint32_t *)(memory + row(floats * sizeof(float)));
    tree->sides = nullptr;
    return row(floats * sizeof(float)) + sizeof(uint32_t) * (uint64_t)count + 16;
}

static carom_status reserve_cells(carom_device *device, carom_device_broad *broad) {
    cell_memory m = {};
    uint64_t bytes = sizeof(uint32_t) * SCAN_TILE * scan_tiles(most_cells(broad->def.count));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &broad->prepared,
                                          place_cells(broad->def.count, nullptr, &m), "cells"));
    if (bytes <= broad->counts.bytes) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &broad->counts, bytes, "cells"));
    return carom_device_check(device, cudaMemsetAsync(broad->counts.data, 0, bytes, device->stream),
                              "cells");
}

static boxes boxes_of(const carom_device_broad *broad, carom_device_op *op) {
    return boxes{broad->bounds, broad->s(), op->counters};
}

static void build_tree(carom_device *device, const carom_device_broad *broad, carom_device_op *op,
                       const carom_tree &tree) {
    carom_tree_sort sort = {};
    (void)carom_tree_sort_place(broad->def.count, (char *)device->scratch[SORT].data,
                                (uint32_t *)device->scratch[BINS].data, &sort);
    sort.space = &broad->s()->tree;
    carom_tree_build(device, boxes_of(broad, op), tree, sort, true);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

struct prepare_arguments {
    carom_device_broad *broad;
    const carom_bounds *boxes; /* of the caller, on the device; NULL: the structure's own */
};

static carom_status prepare_reserve(carom_device *device, carom_device_op *op) {
    const prepare_arguments *p = carom_device_arguments<prepare_arguments>(op);
    carom_device_broad *broad = p->broad;
    uint32_t count = broad->def.count;
    broad->bounds = p->boxes != nullptr ? p->boxes : (const carom_bounds *)broad->own_bounds.data;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &broad->choices, sizeof(state), "boxes"));
    if (by_cells(broad)) return reserve_cells(device, broad);
    if (broad->crowded) { /* also makes graphs that were recorded for cells stale */
        carom_device_release(&broad->prepared);
        carom_device_release(&broad->counts);
    }
    if (!by_tree(broad)) return CAROM_OK;
    CAROM_DEVICE_TRY(
        carom_tree_sort_reserve(device, count, &device->scratch[SORT], &device->scratch[BINS]));
    carom_tree tree = {};
    CAROM_DEVICE_TRY(carom_device_reserve(device, &broad->tree_memory,
                                          place_tree(count, nullptr, &tree), "a tree"));
    (void)place_tree(count, (char *)broad->tree_memory.data, &broad->tree);
    return CAROM_OK;
}

static void prepare_launch(carom_device *device, carom_device_op *op) {
    const prepare_arguments *p = carom_device_arguments<prepare_arguments>(op);
    carom_device_broad *broad = p->broad;
    uint32_t count = broad->def.count;
    unsigned blocks = carom_device_blocks(count, THREADS);
    broad->bounds = p->boxes != nullptr ? p->boxes : (const carom_bounds *)broad->own_bounds.data;
    broad->has_tree = by_tree(broad);
    if (count == 0) {
        carom_device_clear(device, op);
        return;
    }
    boxes b = boxes_of(broad, op);
    uint32_t cleared = device->together > 0 ? device->together : 1u; /* as carom_device_clear */
    device->cleared = device->together > 0;
    carom_device_step(device, "survey");
    carom_device_launch(device, survey, 1, CAROM_TREE_SAMPLE, b, count, most_cells(count),
                        broad->def.method == CAROM_BROAD_METHOD_SWEEP, broad->def.sweep_cell,
                        cleared, broad->s());
    if (by_tree(broad)) {
        build_tree(device, broad, op, broad->tree);
    } else if (by_cells(broad)) {
        cell_memory m = cells_of(broad);
        carom_device_step(device, "homes");
        carom_device_launch(device, find_homes, blocks, THREADS, b, count, most_cells(count),
                            broad->s(), m);
        carom_device_step(device, "scan");
        carom_device_launch(device, scan_cells, scan_tiles(most_cells(count)), THREADS, broad->s(),
                            m);
        carom_device_step(device, "sort");
        carom_device_launch(device, sort_homes, blocks, THREADS, b, count, broad->s(), m);
    } else {
        carom_device_step(device, "check");
        carom_device_launch(device, check, blocks, THREADS, b, count);
    }
}

static carom_status prepare_settle(carom_device *device, carom_device_op *op,
                                   const carom_device_counters *counters, bool *again) {
    (void)op;
    *again = false;
    if (counters->n[N_NOT_FINITE] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT,
                             "%llu boxes have a bound that is NaN or infinite: leave them out or "
                             "mend them",
                             counters->n[N_NOT_FINITE]);
}

static carom_status submit_prepare(carom_device *device, carom_device_broad *broad,
                                   const carom_bounds *boxes) {
    carom_device_op op = {prepare_reserve, prepare_launch, prepare_settle, nullptr, {}};
    *carom_device_arguments<prepare_arguments>(&op) = prepare_arguments{broad, boxes};
    return carom_device_submit(device, &op);
}

static carom_status broad_create(carom_device *device, carom_device_broad **out) {
    *out = new (std::nothrow) carom_device_broad{};
    if (*out != nullptr) return CAROM_OK;
    return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for a broad phase");
}

static void broad_destroy(carom_device_broad *broad) {
    carom_device_block *blocks[] = {&broad->own_bounds, &broad->filters,     &broad->prepared,
                                    &broad->counts,     &broad->tree_memory, &broad->choices};
    for (carom_device_block *block : blocks) carom_device_release(block);
    delete broad;
}

static carom_status upload(carom_device *device, carom_device_block *block, const void *from,
                           uint64_t bytes) {
    if (from == nullptr || bytes == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve(device, block, bytes, "boxes"));
    return carom_device_check(
        device, cudaMemcpyAsync(block->data, from, bytes, cudaMemcpyHostToDevice, device->stream),
        "copying boxes");
}

static carom_status broad_set(carom_device *device, carom_device_broad *broad,
                              const carom_device_broad_def *def) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    broad->def = *def;
    broad->crowded = false;
    CAROM_DEVICE_TRY(
        carom_device_reserve(device, &broad->own_bounds, sizeof(carom_bounds), "boxes"));
    CAROM_DEVICE_TRY(
        upload(device, &broad->own_bounds, def->boxes, def->count * sizeof(carom_bounds)));
    CAROM_DEVICE_TRY(
        upload(device, &broad->filters, def->filters, def->count * sizeof(carom_broad_filter)));
    CAROM_DEVICE_TRY(submit_prepare(device, broad, nullptr));
    return carom_device_finish(device);
}

static carom_status broad_set_filters(carom_device *device, carom_device_broad *broad,
                                      const carom_broad_filter *filters) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    broad->def.filters = filters;
    CAROM_DEVICE_TRY(upload(device, &broad->filters, filters, broad->def.count * sizeof(*filters)));
    return carom_device_finish(device);
}

static carom_status broad_update(carom_device *device, carom_device_broad *broad,
                                 const carom_bounds *boxes) {
    return submit_prepare(device, broad, boxes);
}

static carom_status broad_get_boxes(carom_device *device, const carom_device_broad *broad,
                                    carom_bounds *boxes) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    if (broad->def.count == 0) return CAROM_OK;
    return carom_device_check(
        device,
        cudaMemcpy(boxes, broad->bounds, broad->def.count * sizeof(*boxes), cudaMemcpyDeviceToHost),
        "reading boxes");
}

static void broad_get_info(const carom_device_broad *broad, carom_device_broad_info *info) {
    *info = carom_device_broad_info{};
    info->method = by_tree(broad)    ? CAROM_BROAD_METHOD_TREE
                   : by_cells(broad) ? CAROM_BROAD_METHOD_GRID
                                     : broad->def.method;
    info->bytes = broad->own_bounds.bytes + broad->filters.bytes + broad->prepared.bytes +
                  broad->counts.bytes + broad->tree_memory.bytes + broad->choices.bytes;
    for (uint32_t level = 1; by_tree(broad) && level < broad->tree.levels; ++level)
        info->nodes += broad->tree.entries[level];
    if (by_cells(broad)) info->cells = most_cells(broad->def.count);
    if (broad->def.method == CAROM_BROAD_METHOD_GRID) info->cells = broad->def.table.bucket_count;
    info->entries = by_tree(broad) ? 0 : broad->def.count;
}

/* ---- Searching ------------------------------------------------------------------------------- */

struct search_arguments {
    carom_device_broad *broad; /* only `crowded` is written */
    carom_cuda_order order;
    carom_cuda_pairs *pairs;
};

static bool is_sorted(const search_arguments *s) {
    return s->order == CAROM_CUDA_ORDER_SORTED;
}

static uint64_t place_sweep(uint32_t count, uint64_t capacity, char *memory, sweep_memory *m) {
    uint64_t at = 0, boxes = row(((uint64_t)count + 1) * sizeof(uint32_t));
    uint64_t entries = row(capacity * sizeof(uint32_t));
    size_t sort = 0;
    uint32_t *none = nullptr;
    (void)cub::DeviceRadixSort::SortPairs(nullptr, sort, none, none, none, none, (int64_t)capacity,
                                          0, 32, (cudaStream_t) nullptr);
    m->capacity = capacity;
    m->temporary_bytes = CAROM_MAX(scan_bytes((uint64_t)count + 1), sort);
    m->counts = (uint32_t *)memory;
    m->offsets = (uint32_t *)(memory + (at += boxes));
    at += boxes;
    for (int i = 0; i < 2; ++i, at += 2 * entries) {
        m->keys[i] = (uint32_t *)(memory + at);
        m->owners[i] = (uint32_t *)(memory + at + entries);
    }
    m->rows = (float4 *)(memory + at);
    m->temporary = memory + (at += row(2 * sizeof(float4) * capacity));
    return at + m->temporary_bytes;
}

/* Entries that a sweep has room for. */
static uint64_t sweep_capacity(const carom_device *device, uint32_t count) {
    uint64_t usual = 3 * (uint64_t)count + 4096u;
    return CAROM_MAX(usual, device->wanted[SWEEP]);
}

static carom_status search_reserve(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    const carom_device_broad *broad = s->broad;
    uint64_t n = broad->def.count;
    if (by_tree(broad)) {
        carom_tree tree = {};
        CAROM_DEVICE_TRY(
            carom_device_reserve_list(device, LEAF_PAIRS, n / 2 + FEWEST, sizeof(uint2)));
        if (!broad->has_tree) { /* boxes turned out to crowd: the tree is made for this search */
            CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, (uint32_t)n, &device->scratch[SORT],
                                                     &device->scratch[BINS]));
            CAROM_DEVICE_TRY(carom_device_reserve(
                device, &device->scratch[TREE], place_tree((uint32_t)n, nullptr, &tree), "a tree"));
        }
    } else if (broad->def.method == CAROM_BROAD_METHOD_GRID) {
        carom_grid_memory grid = {};
        uint64_t bytes =
            carom_grid_place((uint32_t)n, broad->def.table.bucket_count, nullptr, &grid);
        CAROM_DEVICE_TRY(carom_device_reserve(device, &device->scratch[GRID], bytes, "a grid"));
        CAROM_DEVICE_TRY(carom_device_reserve_list(device, ENTRIES, 3 * n + FEWEST, sizeof(uint2)));
    } else if (broad->def.method == CAROM_BROAD_METHOD_SWEEP) {
        sweep_memory m = {};
        uint64_t capacity = sweep_capacity(device, (uint32_t)n);
        if (capacity > INT32_MAX)
            return carom_device_fail(device, CAROM_TOO_LARGE,
                                     "the sweep has %llu entries, too many",
                                     (unsigned long long)capacity);
        CAROM_DEVICE_TRY(carom_device_reserve(device, &device->scratch[SWEEP],
                                              place_sweep((uint32_t)n, capacity, nullptr, &m),
                                              "a sweep"));
    }
    if (!by_cells(broad))
        CAROM_DEVICE_TRY(carom_device_reserve_list(device, CANDIDATES, n + FEWEST, sizeof(uint2)));
    CAROM_DEVICE_TRY(carom_device_reserve_list(device, FOUND, n / 2 + FEWEST, sizeof(uint64_t)));
    uint64_t found = device->scratch[FOUND].bytes / sizeof(uint64_t);
    CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, s->pairs, found));
    s->pairs->device_count = (uint64_t *)&op->counters->n[N_FOUND];
    if (!is_sorted(s)) return CAROM_OK;
    return carom_pairs_sort_reserve(device, (uint32_t)n, found, &device->scratch[SCATTERED],
                                    &device->scratch[TALLY]);
}

static void find_by_tree(carom_device *device, carom_device_op *op, const carom_tree &tree,
                         const carom_device_list<uint2> &candidates) {
    const unsigned threads = CAROM_TREE_WARPS * CAROM_WARP;
    carom_device_list<uint2> leaves =
        carom_device_list_of<uint2>(device, LEAF_PAIRS, op, N_ENTRIES);
    carom_device_step(device, "pairs of leaves");
    carom_device_launch(device, carom_tree_pairs,
                        carom_device_resident(device, carom_tree_pairs, threads), threads, tree,
                        leaves);
    carom_device_step(device, "candidates");
    carom_device_launch(device, carom_tree_candidates,
                        carom_device_resident(device, carom_tree_candidates, threads), threads,
                        tree, leaves, candidates);
}

static void find_by_sweep(carom_device *device, carom_device_op *op,
                          const carom_device_broad *broad,
                          const carom_device_list<uint2> &candidates) {
    const unsigned lanes = SWEEP_LANES;
    uint32_t count = broad->def.count;
    unsigned blocks = carom_device_blocks((uint64_t)count + 1, THREADS);
    carom_device_count *total = &op->counters->n[N_ENTRIES];
    boxes b = boxes_of(broad, op);
    sweep_memory m = {};
    (void)place_sweep(count, sweep_capacity(device, count), (char *)device->scratch[SWEEP].data,
                      &m);
    carom_device_step(device, "entries");
    /* keys beyond the entries come last; their owners, next in memory, are never used */
    uint64_t bytes = (uint64_t)((char *)m.owners[0] - (char *)m.keys[0]);
    (void)cudaMemsetAsync(m.keys[0], 0xFF, bytes + m.capacity * sizeof(uint32_t), device->stream);
    carom_device_launch(device, sweep_count, blocks, THREADS, b, count, broad->s(), m);
    (void)cub::DeviceScan::ExclusiveSum(m.temporary, m.temporary_bytes, m.counts, m.offsets,
                                        (int64_t)count + 1, device->stream);
    carom_device_launch(device, sweep_enter, blocks, THREADS, b, count, broad->s(), m, total);
    carom_device_step(device, "sort");
    (void)cub::DeviceRadixSort::SortPairs(m.temporary, m.temporary_bytes, m.keys[0], m.keys[1],
                                          m.owners[0], m.owners[1], (int64_t)m.capacity, 0, 32,
                                          device->stream);
    carom_device_step(device, "rows");
    carom_device_launch(device, sweep_rows, carom_device_blocks(m.capacity, THREADS), THREADS, b,
                        broad->s(), m, total);
    carom_device_step(device, "candidates");
    carom_device_launch(device, sweep_find<lanes, SWEEP_SHORT>,
                        carom_device_blocks(lanes * m.capacity, THREADS), THREADS, broad->s(), m,
                        total, candidates);
}

static void find_by_grid(carom_device *device, carom_device_op *op, const carom_device_broad *broad,
                         const carom_device_list<uint2> &candidates) {
    carom_grid_memory grid = {};
    (void)carom_grid_place(broad->def.count, broad->def.table.bucket_count,
                           (char *)device->scratch[GRID].data, &grid);
    grid.entries = (uint2 *)device->scratch[ENTRIES].data;
    grid.entry_capacity = device->scratch[ENTRIES].bytes / sizeof(uint2);
    carom_grid_find(device, boxes_of(broad, op), broad->def.count, broad->def.table,
                    broad->def.lift, grid, &op->counters->n[N_ENTRIES], candidates);
}

static void search_launch(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    const carom_device_broad *broad = s->broad;
    uint32_t count = broad->def.count;
    if (!device->cleared)
        carom_device_launch(device, clear_counters, 1, CAROM_DEVICE_COUNTERS, op->counters);
    if (count == 0) return;
    carom_found_pairs r = {
        {(unsigned long long *)s->pairs->data, s->pairs->capacity, &op->counters->n[N_FOUND]},
        nullptr};
    if (is_sorted(s)) {
        r.list = carom_device_list_of<unsigned long long>(device, FOUND, op, N_FOUND);
        r.tally = carom_pairs_tally(device, count, &device->scratch[TALLY]);
    }
    const carom_broad_filter *filters =
        broad->def.filters != nullptr ? (const carom_broad_filter *)broad->filters.data : nullptr;
    decision d = {broad->bounds, filters, broad->s(), r.tally};
    if (by_cells(broad)) {
        carom_device_step(device, "search");
        carom_device_launch(device, search_cells, carom_device_blocks(count, THREADS), THREADS,
                            cells_of(broad), d, r.list, op->counters);
    } else {
        carom_device_list<uint2> candidates =
            carom_device_list_of<uint2>(device, CANDIDATES, op, N_CANDIDATES);
        const uint32_t *items = nullptr;
        carom_tree tree = broad->tree;
        if (by_tree(broad) && !broad->has_tree) {
            (void)place_tree(count, (char *)device->scratch[TREE].data, &tree);
            build_tree(device, broad, op, tree);
        }
        if (by_tree(broad)) {
            items = tree.items;
            find_by_tree(device, op, tree, candidates);
        } else if (broad->def.method == CAROM_BROAD_METHOD_GRID) {
            find_by_grid(device, op, broad, candidates);
        } else {
            find_by_sweep(device, op, broad, candidates);
        }
        carom_device_step(device, "doubles");
        carom_device_launch(device, decide, carom_device_resident(device, decide, THREADS), THREADS,
                            d, items, candidates, r.list);
    }
    if (is_sorted(s))
        carom_pairs_sort(device, r, count, &device->scratch[SCATTERED], &device->scratch[TALLY],
                         s->pairs, &op->counters->n[N_LONG]);
}

static carom_status search_settle(carom_device *device, carom_device_op *op,
                                  const carom_device_counters *counters, bool *again) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    carom_device_broad *broad = s->broad;
    const carom_device_count *n = counters->n;
    *again = false;
    if (by_cells(broad) && n[N_CROWDED] != 0) {
        broad->crowded = true;
        *again = true;
        return CAROM_OK;
    }
    if (by_tree(broad)) *again = carom_device_list_grows(device, LEAF_PAIRS, n[N_ENTRIES], 8);
    if (broad->def.method == CAROM_BROAD_METHOD_GRID)
        *again = carom_device_list_grows(device, ENTRIES, n[N_ENTRIES], 8);
    if (broad->def.method == CAROM_BROAD_METHOD_SWEEP &&
        n[N_ENTRIES] > sweep_capacity(device, broad->def.count)) {
        device->wanted[SWEEP] = n[N_ENTRIES] + n[N_ENTRIES] / 4;
        *again = true;
    }
    if (!by_cells(broad))
        *again = carom_device_list_grows(device, CANDIDATES, n[N_CANDIDATES], 8) || *again;
    *again = carom_device_list_grows(device, FOUND, n[N_FOUND], 8) || *again;
    if (*again) return CAROM_OK;
    uint64_t count = n[N_FOUND];
    device->steps.node_pairs = n[N_ENTRIES];
    device->steps.candidates = n[N_CANDIDATES];
    device->steps.open_in_floats = n[N_CANDIDATES];
    device->steps.open_in_doubles = 0;
    if (is_sorted(s) && n[N_LONG] != 0)
        CAROM_DEVICE_TRY(carom_pairs_sort_now(device, &device->scratch[SCATTERED],
                                              &device->scratch[TALLY], s->pairs, &count));
    s->pairs->count = count;
    return CAROM_OK;
}

static carom_status broad_search(carom_device *device, const carom_device_broad *broad,
                                 carom_cuda_order order, carom_cuda_pairs *pairs) {
    carom_device_op op = {search_reserve, search_launch, search_settle, nullptr, {}};
    *carom_device_arguments<search_arguments>(&op) =
        search_arguments{const_cast<carom_device_broad *>(broad), order, pairs};
    return carom_device_submit(device, &op);
}

static carom_status broad_get_work(carom_device *device, carom_work *work) {
    *work = carom_work{device->steps.node_pairs, device->steps.candidates,
                       device->steps.open_in_floats};
    return CAROM_OK;
}

extern "C"
    __attribute__((visibility("default"))) extern const carom_cuda_broad carom_cuda_broad_1 = {
        broad_create,    broad_destroy,  broad_set,    broad_set_filters, broad_update,
        broad_get_boxes, broad_get_info, broad_search, broad_get_work,
};
