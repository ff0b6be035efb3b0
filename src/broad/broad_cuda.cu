/* SPDX-License-Identifier: MIT */
/* Broad phases on the GPU (broad_cuda.h): the survey that chooses frame and cells, the decision of
 * candidates, and the operations that prepare and search by one method or another. */
#include "broad/broad_cuda.h"

#include <new>

#include "base/pairs_cuda.h"

#define DECIDE_FOUND_WARP 128u /* pairs that a warp collects before it appends them */

/* Cells along an axis of the lowest level, so that the highest is one cell. */
#define MOST_CELLS_ALONG (1u << (BROAD_LEVELS - 1u))
/* Boxes up to this many times the edge that the density suggests are taken into the lowest level by
 * a larger edge. */
#define MOST_ENLARGED 2.0
#define SPARE_EDGE    1.1 /* of the edge over the largest box of the sample */
/* What an extent may be of its cell: leaves room for the rounding of extents, 2^-24, and of centres
 * in units of cells, which are below 2^26 and rounded to 2^-53 of that. */
#define FITTING_EXTENT (1.0 - 0x1p-16)
#define SURVEY_EDGE_STEP                                                                           \
    0.125f /* of the binary logarithm, from one edge that is tried to the next */
/* Sums over the sample along each axis: of centres, their squares and sizes; then boxes in use. */
#define SURVEY_LIVE    9u
#define SURVEY_MOMENTS 10u

/* Boxes per pair that there is room for at first. */
#define BROAD_BOXES_PER_FOUND 2u

/* ---- Survey ---------------------------------------------------------------------------------- */

/* Whether all levels together have at most this many cells where the lowest has cells of this edge.
 */
static __device__ bool cells_fit(const double *size, double edge, uint64_t most) {
    uint64_t along[3], all = 0;
    for (int k = 0; k < 3; ++k) {
        double cells = floor(size[k] / edge) + 1.0;
        if (!(cells <= (double)MOST_CELLS_ALONG)) return false;
        along[k] = (uint64_t)cells;
    }
    for (unsigned level = 0; level < BROAD_LEVELS; ++level) {
        uint64_t x = (along[0] - 1) >> level, y = (along[1] - 1) >> level;
        uint64_t z = (along[2] - 1) >> level;
        all += (x + 2) * (y + 2) * (z + 2);
        if (all > most || (x | y | z) == 0) break;
    }
    return all <= most;
}

/* By the first BROAD_LEVELS threads, one for each level. */
static __device__ void set_levels(broad_cells *cells, const carom_bvh_space &space,
                                  const double *size, double edge) {
    uint32_t along[3], first = 0, x = 0, y = 0, z = 0, level = 0;
    if (threadIdx.x >= BROAD_LEVELS) return;
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
    cells->fits = edge * FITTING_EXTENT;
    for (int k = 0; k < 3; ++k) {
        cells->low[k] = (double)space.low[k];
        cells->along[k] = along[k];
    }
}

/* As choose_cell and cut of broad_sweep.c, from the moments of the sample. */
#define BROAD_CUDA_STEPS_PER_ENTRY    6.0
#define BROAD_CUDA_LEAST_CELL_EXTENTS 2.0
#define BROAD_CUDA_MOST_CELL_BITS     20u

static __device__ void set_sweep(broad_sweep_space *sweep, const carom_bvh_space &space,
                                 const double *size, const double *moments, uint32_t count,
                                 double wanted) {
    double n = moments[SURVEY_LIVE] > 0.0 ? moments[SURVEY_LIVE] : 1.0, most = -1.0;
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
    double area = BROAD_CUDA_STEPS_PER_ENTRY * along[1] * along[2] * along[0] / (count * mean[0]);
    double cell = area > 0.0 && area <= DBL_MAX ? sqrt(area) : widest;
    cell = CAROM_MAX(BROAD_CUDA_LEAST_CELL_EXTENTS * 0.5 * (mean[1] + mean[2]), cell);
    cell = wanted > 0.0 ? wanted : CAROM_MIN(cell, widest);
    if (!(cell > 0.0)) cell = 1.0;
    uint32_t bits = 0;
    for (;; cell *= 2.0) {
        double u = floor(along[1] / cell) + 1.0, v = floor(along[2] / cell) + 1.0;
        if (!(u * v <= (double)(1u << BROAD_CUDA_MOST_CELL_BITS))) continue;
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

/* What the threads of a survey share. */
struct survey_block {
    double ends[6][CAROM_WARP];
    double moments[SURVEY_MOMENTS];
    carom_broad_space frame;
    carom_bvh_space space;
    unsigned finest, largest;
};

/* The least of the lanes' numbers, in all lanes. */
static __device__ inline double survey_least(double x) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        x = fmin(x, __shfl_xor_sync(~0u, x, step));
    return x;
}

/* Chooses the frame from the bounds of the samples that are in use. */
static __device__ inline void survey_frame(const carom_bounds &mine, bool used, survey_block *b) {
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    double x[6] = {mine.low.x, mine.low.y, mine.low.z, -mine.high.x, -mine.high.y, -mine.high.z};
    for (int k = 0; k < 6; ++k) {
        if (!used) x[k] = HUGE_VAL;
        x[k] = survey_least(x[k]);
        if (lane == 0) b->ends[k][warp] = x[k];
    }
    __syncthreads();
    if (warp == 0) {
        for (int k = 0; k < 6; ++k) x[k] = survey_least(b->ends[k][lane]);
        if (lane == 0) {
            carom_bounds all = {{x[0], x[1], x[2]}, {-x[3], -x[4], -x[5]}};
            b->frame = carom_broad_choose_space(&all);
        }
    }
    __syncthreads();
}

/* Adds up centres, their squares and sizes of the samples, for the sweep. */
static __device__ inline void survey_moments(const carom_box &box, bool used, survey_block *b) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    for (int k = 0; k < 3; ++k) {
        double low = (double)box.low[k], high = (double)box.high[k];
        double centre = used ? 0.5 * low + 0.5 * high - (double)b->space.low[k] : 0.0;
        double value[3] = {centre, centre * centre, used ? high - low : 0.0};
        for (int m = 0; m < 3; ++m) {
            for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
                value[m] += __shfl_xor_sync(~0u, value[m], step);
            if (lane == 0) atomicAdd(&b->moments[3 * m + k], value[m]);
        }
    }
    unsigned live = __popc(__ballot_sync(~0u, used));
    if (lane == 0) atomicAdd(&b->moments[SURVEY_LIVE], (double)live);
}

/* The edge of a number: each is an eighth root of two smaller than the one before. */
static __device__ inline double survey_edge(double most, unsigned number) {
    return most * (double)exp2f(-(float)number * SURVEY_EDGE_STEP);
}

/* Chooses the edge of the lowest cells: the smallest with which there are few enough, each thread
 * trying one, or one that holds most boxes. */
static __device__ inline double survey_cells(const double *size, double most, const carom_box &box,
                                             bool used, uint32_t most_cells, survey_block *b) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    double edge = survey_edge(most, threadIdx.x);
    bool fits = most > 0.0 && edge > 0.0 && cells_fit(size, edge, most_cells);
    unsigned fine = __reduce_max_sync(~0u, fits ? threadIdx.x : 0u);
    if (lane == 0 && fine != 0) atomicMax(&b->finest, fine);
    __syncthreads();
    edge = most > 0.0 ? survey_edge(most, b->finest) : 1.0;
    float extent = used ? broad_extent(box) : 0.0f;
    bool small = (double)extent <= MOST_ENLARGED * edge; /* of floats that are not negative the */
    unsigned large = __reduce_max_sync(~0u, small ? __float_as_uint(extent) : 0u); /* bits grow */
    if (lane == 0 && large != 0) atomicMax(&b->largest, large);
    __syncthreads();
    return CAROM_MAX(edge, SPARE_EDGE * (double)__uint_as_float(b->largest));
}

/* One block: chooses the frame, the cells and the space of the tree's keys from a sample that is
 * evenly spaced. Any choice is correct. It also clears the counters of `cleared` operations. */
static __global__ void __launch_bounds__(CAROM_TREE_SAMPLE)
    broad_cuda_survey(broad_boxes b, uint32_t count, uint32_t most_cells, bool by_sweep,
                      double sweep_cell, uint32_t cleared, broad_state *s) {
    carom_device_begin();
    __shared__ survey_block block;
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    uint32_t sampled = CAROM_MIN(count, CAROM_TREE_SAMPLE);
    uint32_t rank = lane * CAROM_WARP + warp; /* as in carom_tree_survey_block */
    carom_bounds mine = {{1.0, 1.0, 1.0}, {0.0, 0.0, 0.0}};
    if (rank < sampled) mine = broad_load(b.bounds, (uint32_t)((uint64_t)rank * count / sampled));
    bool used = !carom_bounds_is_empty(&mine);
    if (threadIdx.x < cleared * CAROM_DEVICE_COUNTERS)
        ((carom_device_count *)b.counters)[threadIdx.x] = 0;
    if (threadIdx.x < SURVEY_MOMENTS) block.moments[threadIdx.x] = 0.0;
    if (threadIdx.x == 0) block.finest = block.largest = 0u;
    survey_frame(mine, used, &block);
    carom_box box = used ? broad_boxes::round(block.frame, mine) : carom_box_empty();
    carom_tree_survey_block(sampled_box{box}, count, &block.space);
    __syncthreads();
    const carom_bvh_space &space = block.space;
    double size[3], most = 0.0;
    for (int k = 0; k < 3; ++k) {
        size[k] = space.scale[k] > 0.0f ? (double)CAROM_BVH_CELLS / (double)space.scale[k] : 0.0;
        most = CAROM_MAX(size[k], most);
    }
    if (by_sweep) survey_moments(box, used, &block);
    double edge = survey_cells(size, most, box, used, most_cells, &block);
    set_levels(&s->cells, space, size, edge);
    if (threadIdx.x != CAROM_WARP) return; /* in a warp that had no levels to set */
    s->space = block.frame;
    s->inexact = block.frame.plain ? 0u : 1u;
    s->level_mask = 0u;
    s->tree = space;
    if (by_sweep)
        set_sweep(&s->sweep, space, size, block.moments, count, sweep_cell * block.frame.scale);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

/* Candidates are slots of the tree's items, or ids where that is NULL. */
static __global__ void __launch_bounds__(BROAD_THREADS)
    broad_cuda_decide(broad_decision d, const uint32_t *items, uint32_t id_count,
                      carom_device_list<uint2> candidates,
                      carom_device_list<unsigned long long> found) {
    carom_device_begin();
    __shared__ unsigned long long buffers[BROAD_THREADS / CAROM_WARP][DECIDE_FOUND_WARP];
    carom_warp_buffer<unsigned long long, DECIDE_FOUND_WARP> buffer = {
        buffers[threadIdx.x / CAROM_WARP], 0};
    uint64_t count = candidates.stored();
    bool inexact = d.s->inexact != 0;
    for (uint64_t base = (uint64_t)blockIdx.x * BROAD_THREADS; base < count;
         base += (uint64_t)gridDim.x * BROAD_THREADS) {
        uint64_t i = base + threadIdx.x;
        bool counts = false;
        unsigned long long key = 0;
        if (i < count) {
            uint2 pair = candidates.data[i];
            if (items != nullptr) pair = make_uint2(items[pair.x], items[pair.y]);
            CAROM_ASSERT(pair.x != pair.y && pair.x < id_count && pair.y < id_count);
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
static __global__ void broad_cuda_check(broad_boxes b, uint32_t count) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) (void)b.first_box(i);
}

/* ---- The structure --------------------------------------------------------------------------- */

static bool by_cells(const carom_device_broad *broad) {
    return broad->def.method == CAROM_BROAD_METHOD_AUTO && !broad->dense;
}

static bool by_tree(const carom_device_broad *broad) {
    return broad->def.method == CAROM_BROAD_METHOD_TREE ||
           (broad->def.method == CAROM_BROAD_METHOD_AUTO && broad->dense);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

struct broad_cuda_prepare_arguments {
    carom_device_broad *broad;
    const carom_bounds *boxes; /* of the caller, on the device; NULL: the structure's own */
    uint32_t count;
};

static carom_status broad_cuda_prepare_reserve(carom_device *device, carom_device_op *op) {
    const broad_cuda_prepare_arguments *p =
        carom_device_arguments<broad_cuda_prepare_arguments>(op);
    carom_device_broad *broad = p->broad;
    if (p->count != broad->def.count)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a frame updates %u boxes of a broad phase, which has %u by now; "
                                 "record the frame anew",
                                 p->count, broad->def.count);
    broad->bounds = p->boxes != nullptr ? p->boxes : (const carom_bounds *)broad->own_bounds.data;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &broad->choices, sizeof(broad_state), "boxes"));
    if (by_cells(broad)) return carom_broad_cells_reserve(device, broad);
    if (broad->dense) { /* also makes graphs that were recorded for cells stale */
        carom_device_release(&broad->prepared);
        carom_device_release(&broad->counts);
    }
    return by_tree(broad) ? carom_broad_tree_reserve(device, broad) : CAROM_OK;
}

static void broad_cuda_prepare_launch(carom_device *device, carom_device_op *op) {
    const broad_cuda_prepare_arguments *p =
        carom_device_arguments<broad_cuda_prepare_arguments>(op);
    carom_device_broad *broad = p->broad;
    uint32_t count = broad->def.count;
    broad->bounds = p->boxes != nullptr ? p->boxes : (const carom_bounds *)broad->own_bounds.data;
    broad->has_tree = by_tree(broad);
    if (count == 0) {
        carom_device_clear(device, op);
        return;
    }
    broad_boxes b = broad_boxes_of(broad, op);
    uint32_t cleared = device->together > 0 ? device->together : 1u; /* as carom_device_clear */
    device->cleared = device->together > 0;
    carom_device_step(device, "survey");
    carom_device_launch(
        device, broad_cuda_survey, 1, CAROM_TREE_SAMPLE, b, count, carom_broad_cells_most(count),
        broad->def.method == CAROM_BROAD_METHOD_SWEEP, broad->def.sweep_cell, cleared, broad->s());
    if (by_tree(broad)) {
        carom_broad_tree_build(device, op, broad);
    } else if (by_cells(broad)) {
        carom_broad_cells_build(device, op, broad);
    } else {
        carom_device_step(device, "check");
        carom_device_launch(device, broad_cuda_check, carom_device_blocks(count, BROAD_THREADS),
                            BROAD_THREADS, b, count);
    }
}

static carom_status broad_cuda_prepare_finish(carom_device *device, carom_device_op *op,
                                              const carom_device_counters *counters, bool *again) {
    (void)op;
    *again = false;
    if (counters->n[N_NOT_FINITE] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT,
                             "%llu boxes have a bound that is NaN or infinite: leave them out or "
                             "mend them",
                             counters->n[N_NOT_FINITE]);
}

static carom_status broad_cuda_submit_prepare(carom_device *device, carom_device_broad *broad,
                                              const carom_bounds *boxes, carom_device_owner owner) {
    carom_device_op op = {broad_cuda_prepare_reserve,
                          broad_cuda_prepare_launch,
                          broad_cuda_prepare_finish,
                          nullptr,
                          {}};
    *carom_device_arguments<broad_cuda_prepare_arguments>(&op) =
        broad_cuda_prepare_arguments{broad, boxes, broad->def.count};
    op.changes = broad;
    op.owner = owner;
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

static carom_status broad_cuda_upload(carom_device *device, carom_device_block *block,
                                      const void *from, uint64_t bytes) {
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
    broad->dense = false;
    carom_device_outdate_frames(); /* kernels take their number by value */
    CAROM_DEVICE_TRY(
        carom_device_reserve(device, &broad->own_bounds, sizeof(carom_bounds), "boxes"));
    CAROM_DEVICE_TRY(broad_cuda_upload(device, &broad->own_bounds, def->boxes,
                                       def->count * sizeof(carom_bounds)));
    CAROM_DEVICE_TRY(broad_cuda_upload(device, &broad->filters, def->filters,
                                       def->count * sizeof(carom_broad_filter)));
    CAROM_DEVICE_TRY(broad_cuda_submit_prepare(device, broad, nullptr, {}));
    return carom_device_finish(device);
}

static carom_status broad_set_filters(carom_device *device, carom_device_broad *broad,
                                      const carom_broad_filter *filters) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    broad->def.filters = filters;
    CAROM_DEVICE_TRY(
        broad_cuda_upload(device, &broad->filters, filters, broad->def.count * sizeof(*filters)));
    return carom_device_finish(device);
}

static carom_status broad_update(carom_device *device, carom_device_broad *broad,
                                 const carom_bounds *boxes, carom_device_owner owner) {
    return broad_cuda_submit_prepare(device, broad, boxes, owner);
}

static carom_status broad_get_boxes(carom_device *device, const carom_device_broad *broad,
                                    carom_bounds *boxes) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    if (broad->def.count == 0) return CAROM_OK;
    return carom_device_copy(device, boxes, broad->bounds, broad->def.count * sizeof(*boxes),
                             cudaMemcpyDeviceToHost, "reading boxes");
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
    if (by_cells(broad)) info->cells = carom_broad_cells_most(broad->def.count);
    if (broad->def.method == CAROM_BROAD_METHOD_GRID) info->cells = broad->def.table.bucket_count;
    info->entries = by_tree(broad) ? 0 : broad->def.count;
}

/* ---- Searching ------------------------------------------------------------------------------- */

struct broad_cuda_search_arguments {
    carom_device_broad *broad; /* only `dense` is written */
    carom_cuda_order order;
    carom_cuda_pairs *pairs;
};

static bool is_sorted(const broad_cuda_search_arguments *s) {
    return s->order == CAROM_CUDA_ORDER_SORTED;
}

static carom_status broad_cuda_search_reserve(carom_device *device, carom_device_op *op) {
    const broad_cuda_search_arguments *s = carom_device_arguments<broad_cuda_search_arguments>(op);
    const carom_device_broad *broad = s->broad;
    uint64_t n = broad->def.count;
    if (by_tree(broad))
        CAROM_DEVICE_TRY(carom_broad_tree_find_reserve(device, broad));
    else if (broad->def.method == CAROM_BROAD_METHOD_GRID)
        CAROM_DEVICE_TRY(carom_broad_grid_reserve(device, broad));
    else if (broad->def.method == CAROM_BROAD_METHOD_SWEEP)
        CAROM_DEVICE_TRY(carom_broad_sweep_reserve(device, broad));
    if (!by_cells(broad))
        CAROM_DEVICE_TRY(carom_device_reserve_list(device, CAROM_SCRATCH_PAIRS_CANDIDATES,
                                                   n + CAROM_DEVICE_LIST_ENTRIES, sizeof(uint2),
                                                   "a search"));
    return carom_pairs_reserve(device, s->pairs, n / BROAD_BOXES_PER_FOUND, is_sorted(s),
                               (uint32_t)n, &op->counters->n[BROAD_CUDA_N_FOUND]);
}

/* Queues the search for candidates by a method other than cells, and their decision. */
static void find_and_decide(carom_device *device, carom_device_op *op,
                            const carom_device_broad *broad, const broad_decision &d,
                            const carom_device_list<unsigned long long> &found) {
    carom_device_list<uint2> candidates = carom_device_list_of<uint2>(
        device, CAROM_SCRATCH_PAIRS_CANDIDATES, op, BROAD_CUDA_N_CANDIDATES);
    const uint32_t *items = nullptr;
    if (by_tree(broad))
        items = carom_broad_tree_find(device, op, broad, candidates);
    else if (broad->def.method == CAROM_BROAD_METHOD_GRID)
        carom_broad_grid_find(device, op, broad, candidates);
    else
        carom_broad_sweep_find(device, op, broad, candidates);
    carom_device_step(device, "doubles");
    carom_device_launch(device, broad_cuda_decide,
                        carom_device_resident(device, broad_cuda_decide, BROAD_THREADS),
                        BROAD_THREADS, d, items, broad->def.count, candidates, found);
}

static void broad_cuda_search_launch(carom_device *device, carom_device_op *op) {
    const broad_cuda_search_arguments *s = carom_device_arguments<broad_cuda_search_arguments>(op);
    const carom_device_broad *broad = s->broad;
    uint32_t count = broad->def.count;
    if (!device->cleared)
        carom_device_launch(device, clear_counters, 1, CAROM_DEVICE_COUNTERS, op->counters);
    if (count == 0) return;
    carom_found_pairs r =
        carom_found_pairs_of(device, op, s->pairs, is_sorted(s), count, BROAD_CUDA_N_FOUND);
    const carom_broad_filter *filters =
        broad->def.filters != nullptr ? (const carom_broad_filter *)broad->filters.data : nullptr;
    broad_decision d = {broad->bounds, filters, broad->s(), r.pair_counts};
    if (by_cells(broad))
        carom_broad_cells_find(device, op, broad, d, r.list);
    else
        find_and_decide(device, op, broad, d, r.list);
    if (is_sorted(s)) carom_pairs_sort(device, r, count, s->pairs, &op->counters->n[N_LONG]);
}

static carom_status broad_cuda_search_finish(carom_device *device, carom_device_op *op,
                                             const carom_device_counters *counters, bool *again) {
    const broad_cuda_search_arguments *s = carom_device_arguments<broad_cuda_search_arguments>(op);
    carom_device_broad *broad = s->broad;
    const carom_device_count *n = counters->n;
    *again = false;
    if (by_cells(broad) && n[N_DENSE] != 0) {
        broad->dense = true;
        *again = true;
        return CAROM_OK;
    }
    if (by_tree(broad)) *again = carom_broad_tree_grows(device, n[N_ENTRIES]);
    if (broad->def.method == CAROM_BROAD_METHOD_GRID)
        *again = carom_broad_grid_grows(device, n[N_ENTRIES]);
    if (broad->def.method == CAROM_BROAD_METHOD_SWEEP)
        *again = carom_broad_sweep_grows(device, broad, n[N_ENTRIES]);
    if (!by_cells(broad))
        *again = carom_device_list_grows(device, CAROM_SCRATCH_PAIRS_CANDIDATES,
                                         n[BROAD_CUDA_N_CANDIDATES], sizeof(uint2)) ||
                 *again;
    *again = carom_pairs_grow(device, n[BROAD_CUDA_N_FOUND]) || *again;
    if (*again) return CAROM_OK;
    uint64_t count = n[BROAD_CUDA_N_FOUND];
    device->steps.node_pairs = n[N_ENTRIES];
    device->steps.candidates = n[BROAD_CUDA_N_CANDIDATES];
    device->steps.open_in_floats = n[BROAD_CUDA_N_CANDIDATES];
    device->steps.open_in_doubles = 0;
    if (is_sorted(s) && n[N_LONG] != 0)
        CAROM_DEVICE_TRY(carom_pairs_sort_now(device, s->pairs, &count));
    CAROM_DEVICE_TRY(carom_device_end_pairs(device, s->pairs, count));
    return CAROM_OK;
}

static carom_status broad_search(carom_device *device, const carom_device_broad *broad,
                                 carom_cuda_order order, carom_cuda_pairs *pairs) {
    carom_device_op op = {
        broad_cuda_search_reserve, broad_cuda_search_launch, broad_cuda_search_finish, nullptr, {}};
    *carom_device_arguments<broad_cuda_search_arguments>(&op) =
        broad_cuda_search_arguments{const_cast<carom_device_broad *>(broad), order, pairs};
    op.uses[0] = broad;
    return carom_device_submit(device, &op);
}

static carom_status broad_get_work(carom_device *device, carom_work *work) {
    *work = carom_work{device->steps.node_pairs, device->steps.candidates,
                       device->steps.open_in_floats};
    return CAROM_OK;
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_broad carom_cuda_broad_2 = {
    broad_create,    broad_destroy,  broad_set,    broad_set_filters, broad_update,
    broad_get_boxes, broad_get_info, broad_search, broad_get_work,
};
