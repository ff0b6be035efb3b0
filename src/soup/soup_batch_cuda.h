/* SPDX-License-Identifier: MIT */
/* soup_batch_cuda.h: what the queries of points and of rays share on the GPU: the wide tree of a
 * soup, the order in which queries are answered, what is left to the host, and arrays of the host.
 *
 * Queries are answered in steps, each for what the step before left open:
 *   floats   a thread per query finds the few triangles that matter (bvh8_cuda.h), with bounds
 *            that allow for all rounding. Queries are sorted, so that the threads of a warp visit
 *            the same nodes;
 *   doubles  a thread per query decides between these triangles by the items of the CPU;
 *   warps    queries of which floats found too many triangles, or that need more than doubles: a
 *            warp searches the tree of bvh_cuda.h with the bounds of the CPU, first in doubles,
 *            then, for what these leave open, once more in integers (ratio.h). Where the numbers of
 *            a query are too far apart for integers on the device, its triangles are listed and
 *            decided by the host, at finish.
 * So a result never depends on the order in which triangles are found. */
#ifndef CAROM_SRC_SOUP_SOUP_BATCH_CUDA_H
#define CAROM_SRC_SOUP_SOUP_BATCH_CUDA_H

#include <cstdlib>

#include "bvh/bvh8_cuda.h"
#include "bvh/bvh_cuda.h"
#include "soup/soup_cuda.h"

/* Queries that are sorted and answered together: memory for some 100 bytes each. */
#define CAROM_BATCH_CHUNK 4194304u
/* Fewer than this do not repay sorting. */
#define CAROM_BATCH_SORTED 4096u
/* Queries of the host that are copied and answered together. */
#define CAROM_BATCH_FROM_HOST 8388608u
#define CAROM_BATCH_THREADS   128u
#define CAROM_BATCH_WARPS     4u /* of a block that searches with a warp per query */
#define CAROM_BATCH_SEARCHERS (CAROM_BATCH_WARPS * CAROM_WARP)
/* Such blocks per processor that decide in integers, for which a thread needs some kilobytes. */
#define CAROM_BATCH_EXACT_BLOCKS 2u
#define CAROM_BATCH_KEY_BITS     30u /* of what queries are sorted by */
/* Queries per one that is left to warps, and triangles for the host, that there is room for at
 * first. */
#define CAROM_BATCH_QUERIES_PER_LEFT 16u
#define CAROM_BATCH_OPEN_ENTRIES     4096u
/* Of a triangle for the host at most: so no kind of query makes the memory grow while another one,
 * whose list is read when it is finished, is queued. */
#define CAROM_BATCH_OPEN_BYTES 256u

/* Counters of a batch. */
enum { CAROM_BATCH_N_BAD, CAROM_BATCH_N_LEFT, CAROM_BATCH_N_OPEN, CAROM_BATCH_N_EXACT };

/* ---- Tree ------------------------------------------------------------------------------------ */

/* The triangles of a soup, for its wide tree. */
struct carom_batch_items {
    carom_soup_cuda_arrays soup;

    __device__ bool get(uint32_t slot, const carom_bvh8_frame &frame, carom_box *box,
                        float4 *record) const {
        uint32_t item = soup.tree.items[slot];
        carom_triangle t = carom_soup_cuda_slot(soup, slot, item);
        float p[9];
        for (int i = 0; i < 3; ++i) {
            p[3 * i] = (float)((t.corner[i].x * frame.scale - frame.origin[0]) * frame.unit);
            p[3 * i + 1] = (float)((t.corner[i].y * frame.scale - frame.origin[1]) * frame.unit);
            p[3 * i + 2] = (float)((t.corner[i].z * frame.scale - frame.origin[2]) * frame.unit);
        }
        record[0] = make_float4(p[0], p[1], p[2], p[3]);
        record[1] = make_float4(p[4], p[5], p[6], p[7]);
        record[2] = make_float4(p[8], __uint_as_float(item),
                                __uint_as_float(carom_soup_cuda_face(soup, item)), 0.0f);
        carom_box plain = carom_tree_entry(soup.tree.boxes[0], slot);
        for (int k = 0; k < 3; ++k) {
            box->low[k] = __double2float_rd((double)plain.low[k] * frame.unit);
            box->high[k] = __double2float_ru((double)plain.high[k] * frame.unit);
        }
        return plain.low[0] <= plain.high[0] && carom_soup_cuda_searched(soup, item);
    }
};

static __device__ inline uint32_t carom_batch_item(const carom_bvh8_tree &tree, uint32_t slot) {
    return __float_as_uint(tree.records[CAROM_BVH8_RECORD * (uint64_t)slot + 2].y);
}

static __device__ inline uint32_t carom_batch_face(const carom_bvh8_tree &tree, uint32_t slot) {
    return __float_as_uint(tree.records[CAROM_BVH8_RECORD * (uint64_t)slot + 2].z);
}

/* A point in the frame of the tree of bvh_cuda.h. */
static __device__ inline void carom_batch_to_frame(const carom_bvh8_frame &frame, carom_vec3 p,
                                                   double *at) {
    at[0] = p.x * frame.scale - frame.origin[0];
    at[1] = p.y * frame.scale - frame.origin[1];
    at[2] = p.z * frame.scale - frame.origin[2];
}

static inline carom_status carom_batch_reserve_tree(carom_device *device, uint32_t triangles) {
    carom_bvh8_tree tree = {};
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_BATCH_TREE,
                                        carom_bvh8_lay_out(triangles, nullptr, &tree), "a search");
}

/* Queues the build of the wide tree. */
static inline carom_bvh8_tree carom_batch_build(carom_device *device,
                                                const carom_soup_cuda_arrays &soup) {
    carom_bvh8_tree tree = {};
    uint64_t bytes = carom_bvh8_lay_out(soup.triangle_count, nullptr, &tree);
    (void)carom_bvh8_lay_out(soup.triangle_count,
                             carom_device_take<char>(device, CAROM_SCRATCH_BATCH_TREE, bytes),
                             &tree);
    carom_device_step(device, "wide tree");
    carom_bvh8_build(device, carom_batch_items{soup}, soup.tree, soup.frame, tree);
    return tree;
}

/* ---- Order ----------------------------------------------------------------------------------- */

struct carom_batch_order {
    uint32_t *keys, *sorted_keys, *numbers, *order; /* the last is the result */
    void *temporary;
    size_t temporary_bytes;
};

static inline uint64_t carom_batch_lay_out_order(uint32_t count, char *memory,
                                                 carom_batch_order *o) {
    uint64_t row = carom_device_row((uint64_t)count * sizeof(uint32_t));
    uint32_t *none = nullptr;
    o->temporary_bytes = 0;
    (void)cub::DeviceRadixSort::SortPairs(nullptr, o->temporary_bytes, none, none, none, none,
                                          (int64_t)count, 0, CAROM_BATCH_KEY_BITS,
                                          (cudaStream_t) nullptr);
    o->keys = (uint32_t *)memory;
    o->sorted_keys = (uint32_t *)(memory + row);
    o->numbers = (uint32_t *)(memory + 2 * row);
    o->order = (uint32_t *)(memory + 3 * row);
    o->temporary = memory + 4 * row;
    return 4 * row + o->temporary_bytes;
}

/* Queues the sorting of `count` keys; order[i] is then the number of the i-th. */
static inline void carom_batch_sort(carom_device *device, carom_batch_order *o, uint32_t count) {
    if (count < CAROM_BATCH_SORTED)
        o->order = o->numbers;
    else
        (void)cub::DeviceRadixSort::SortPairs(o->temporary, o->temporary_bytes, o->keys,
                                              o->sorted_keys, o->numbers, o->order, (int64_t)count,
                                              0, CAROM_BATCH_KEY_BITS, device->stream);
}

/* A coordinate from -1 to 1 as one of CAROM_BVH_CELLS. */
static __device__ inline uint32_t carom_batch_cell(float x) {
    float cell = (x + 1.0f) * (0.5f * CAROM_BVH_CELLS);
    return (uint32_t)fminf(fmaxf(cell, 0.0f), (float)(CAROM_BVH_CELLS - 1));
}

/* ---- A warp per query ------------------------------------------------------------------------ */

/* Bounds of the children of the nodes on the way down, in shared memory. */
struct carom_batch_way {
    double bound[CAROM_TREE_LEVELS][CAROM_WARP];
};

static __device__ inline double carom_warp_least(double x) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        double other = __shfl_xor_sync(~0u, x, step);
        x = other < x ? other : x;
    }
    return x;
}

/* Visits the leaves of a tree, least bound first. QUERY has these device functions, which all lanes
 * call together:
 *   bound(box)          a lower bound for a box; infinite for one that does not matter
 *   within(bound)       whether it matters still
 *   visit(there, slot)  a slot per lane, where `there` */
template <typename QUERY>
static __device__ void carom_batch_walk(const carom_bvh_cuda_tree &tree, carom_batch_way &way,
                                        QUERY &query) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint32_t top = tree.levels - 1, level = top, node[CAROM_TREE_LEVELS];
    for (uint32_t i = 0; i < CAROM_TREE_LEVELS; ++i) node[i] = 0;
    way.bound[top][lane] =
        lane < tree.entries[top] ? query.bound(carom_tree_entry(tree.boxes[top], lane)) : HUGE_VAL;
    for (;;) {
        double mine = way.bound[level][lane], least = carom_warp_least(mine);
        if (!(least < HUGE_VAL) || !query.within(least)) {
            if (level == top) return;
            ++level;
            continue;
        }
        unsigned next = (unsigned)__ffs((int)__ballot_sync(~0u, mine == least)) - 1u;
        uint32_t child = node[level] * CAROM_WARP + next;
        if (lane == next) way.bound[level][lane] = HUGE_VAL;
        uint64_t entry = (uint64_t)child * CAROM_WARP + lane;
        CAROM_ASSERT(level >= 1 && child < tree.entries[level]);
        --level;
        double bound = entry < tree.entries[level]
                           ? query.bound(carom_tree_entry(tree.boxes[level], (uint32_t)entry))
                           : HUGE_VAL;
        if (level == 0) {
            query.visit(bound < HUGE_VAL && query.within(bound), (uint32_t)entry);
            level = 1;
        } else {
            way.bound[level][lane] = bound;
            node[level] = child;
        }
    }
}

/* ---- What is left to the host ---------------------------------------------------------------- */

/* The list of one operation: several may be queued before the first is finished, so each has a part
 * of the memory for itself. */
template <typename OPEN>
static carom_device_list<OPEN> carom_batch_open_list(carom_device *device, carom_device_op *op) {
    uint64_t bytes =
        carom_device_scratch_bytes(device, CAROM_SCRATCH_BATCH_OPEN) / CAROM_DEVICE_MOST_OPS;
    bytes -= bytes % CAROM_BATCH_OPEN_BYTES;
    char *memory = carom_device_scratch_data<char>(device, CAROM_SCRATCH_BATCH_OPEN);
    static_assert(sizeof(OPEN) <= CAROM_BATCH_OPEN_BYTES, "enlarge CAROM_BATCH_OPEN_BYTES");
    return {(OPEN *)(memory + bytes * (uint64_t)(op->counters - device->counters)),
            bytes / sizeof(OPEN), &op->counters->n[CAROM_BATCH_N_OPEN]};
}

/* Results of the host, by query. */
template <typename RESULT> struct carom_batch_answer {
    RESULT result;
    uint32_t query;
};

template <typename RESULT>
static __global__ void carom_batch_scatter(const carom_batch_answer<RESULT> *answers,
                                           uint64_t count, RESULT *results) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        results[answers[i].query] = answers[i].result;
}

template <typename ENTRY> static int carom_batch_compare(const void *a, const void *b) {
    const ENTRY *x = (const ENTRY *)a, *y = (const ENTRY *)b;
    if (x->query != y->query) return x->query < y->query ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Reads the entries of a list, groups them by query in the order of items, computes each result and
 * writes these to the device. Entries begin with query and item and are no smaller than an answer.
 * Waits. */
template <typename KIND>
static carom_status carom_batch_decide_on_host(carom_device *device, void *on_device,
                                               uint64_t count, typename KIND::result *results,
                                               typename KIND::decide_fn *decide,
                                               uint64_t *queries) {
    typedef typename KIND::open ENTRY;
    typedef typename KIND::result RESULT;
    typedef carom_batch_answer<RESULT> answer;
    static_assert(sizeof(answer) <= sizeof(ENTRY), "answers take the memory of entries");
    *queries = 0;
    if (count == 0) return CAROM_OK;
    ENTRY *entries = (ENTRY *)malloc(count * sizeof(ENTRY));
    if (entries == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for %llu undecided triangles",
                                 (unsigned long long)count);
    carom_status status = carom_device_copy(device, entries, on_device, count * sizeof(ENTRY),
                                            cudaMemcpyDeviceToHost, "reading what is undecided");
    if (status == CAROM_OK) {
        answer *answers = (answer *)entries; /* each is written after its entries were read */
        qsort(entries, count, sizeof(ENTRY), carom_batch_compare<ENTRY>);
        for (uint64_t i = 0, end; i < count; i = end) {
            for (end = i + 1; end < count && entries[end].query == entries[i].query;) ++end;
            answer a;
            a.query = entries[i].query;
            a.result = KIND::decide_exactly(entries + i, end - i, decide);
            memcpy((char *)(answers + (*queries)++), &a, sizeof(a));
        }
        status = carom_device_check(device,
                                    cudaMemcpyAsync(on_device, entries, *queries * sizeof(answer),
                                                    cudaMemcpyHostToDevice, device->stream),
                                    "writing what was undecided");
    }
    if (status == CAROM_OK) {
        carom_device_launch(device, carom_batch_scatter<RESULT>,
                            carom_device_blocks(*queries, CAROM_BATCH_THREADS), CAROM_BATCH_THREADS,
                            (const answer *)on_device, *queries, results);
        status = carom_device_check(device, cudaStreamSynchronize(device->stream),
                                    "writing what was undecided");
    }
    free(entries);
    return status;
}

/* ---- Queueing -------------------------------------------------------------------------------- */

template <typename INPUT, typename RESULT> struct carom_batch_view {
    carom_soup_cuda_arrays soup;
    carom_bvh8_tree tree;
    const INPUT *in;
    RESULT *out;
};

/* The slots of the triangles that matter to queries, in their order. */
struct carom_batch_found {
    uint32_t *counts; /* or CAROM_BVH8_MORE */
    uint32_t *slots;  /* CAROM_BVH8_CANDIDATES each */
};

/* The query of a thread in the step in doubles: its index, and what the step in floats found. */
struct carom_batch_query {
    uint64_t index;
    const uint32_t *slots;
    unsigned candidates; /* or CAROM_BVH8_MORE */
};

static __device__ inline carom_batch_query carom_batch_query_of(const carom_batch_found &found,
                                                                const uint32_t *order,
                                                                uint64_t first, uint32_t i) {
    return {first + order[i], found.slots + CAROM_BVH8_CANDIDATES * (uint64_t)i, found.counts[i]};
}

static inline uint64_t carom_batch_lay_out_found(uint32_t count, char *memory,
                                                 carom_batch_found *f) {
    uint64_t row = carom_device_row((uint64_t)count * sizeof(uint32_t));
    f->counts = (uint32_t *)memory;
    f->slots = (uint32_t *)(memory + row);
    return row + (uint64_t)count * CAROM_BVH8_CANDIDATES * sizeof(uint32_t);
}

/* KIND has the types input, result, open (of entries for the host) and decide_fn; the kernels keys,
 * find, decide, search and search_exactly; and decide_exactly(entries, count, decide_fn) for the
 * host. */
template <typename KIND> struct carom_batch_arguments {
    const carom_device_soup *soup;
    const typename KIND::input *in; /* on the device, as is: */
    typename KIND::result *out;
    uint64_t count;
    typename KIND::decide_fn *decide;

    uint32_t chunk() const {
        return (uint32_t)CAROM_MIN(count, (uint64_t)CAROM_BATCH_CHUNK);
    }
};

template <typename KIND>
static carom_status carom_batch_reserve(carom_device *device, carom_device_op *op) {
    const carom_batch_arguments<KIND> *a = carom_device_arguments<carom_batch_arguments<KIND>>(op);
    carom_batch_order order = {};
    carom_batch_found found = {};
    if (a->count > UINT32_MAX)
        return carom_device_fail(device, CAROM_TOO_LARGE, "%llu %s are too many to number",
                                 (unsigned long long)a->count, KIND::name);
    CAROM_DEVICE_TRY(
        carom_batch_reserve_tree(device, carom_soup_cuda_arrays_of(a->soup).triangle_count));
    const struct {
        carom_device_scratch block;
        uint64_t bytes;
    } wanted[] = {
        {CAROM_SCRATCH_BATCH_SORT, carom_batch_lay_out_order(a->chunk(), nullptr, &order)},
        {CAROM_SCRATCH_BATCH_FOUND, carom_batch_lay_out_found(a->chunk(), nullptr, &found)}};
    for (const auto &block : wanted)
        CAROM_DEVICE_TRY(
            carom_device_reserve_scratch(device, block.block, block.bytes, KIND::name));
    CAROM_DEVICE_TRY(carom_device_reserve_list(device, CAROM_SCRATCH_BATCH_LEFT,
                                               a->count / CAROM_BATCH_QUERIES_PER_LEFT +
                                                   CAROM_DEVICE_LIST_ENTRIES,
                                               sizeof(uint32_t), KIND::name));
    CAROM_DEVICE_TRY(carom_device_reserve_list(device, CAROM_SCRATCH_BATCH_EXACT,
                                               CAROM_DEVICE_LIST_ENTRIES, sizeof(uint32_t),
                                               KIND::name));
    return carom_device_reserve_list(device, CAROM_SCRATCH_BATCH_OPEN,
                                     CAROM_DEVICE_MOST_OPS * CAROM_BATCH_OPEN_ENTRIES,
                                     CAROM_BATCH_OPEN_BYTES, KIND::name);
}

/* Queues the steps in floats and doubles, some millions of queries at a time. */
template <typename KIND, typename VIEW>
static void carom_batch_launch_chunks(carom_device *device, carom_device_op *op, const VIEW &v,
                                      carom_batch_order order, const carom_batch_found &found,
                                      const carom_device_list<uint32_t> &left) {
    const carom_batch_arguments<KIND> *a = carom_device_arguments<carom_batch_arguments<KIND>>(op);
    for (uint64_t first = 0; first < a->count; first += a->chunk()) {
        uint32_t some = (uint32_t)CAROM_MIN(a->count - first, (uint64_t)a->chunk());
        unsigned blocks = carom_device_blocks(some, CAROM_BATCH_THREADS);
        carom_batch_order sorted = order;
        carom_device_step(device, "order");
        carom_device_launch(device, KIND::keys, blocks, CAROM_BATCH_THREADS, v, first, some,
                            order.keys, order.numbers, op->counters);
        carom_batch_sort(device, &sorted, some);
        carom_device_step(device, "floats");
        carom_device_launch(device, KIND::find, blocks, CAROM_BATCH_THREADS, v, first, some,
                            sorted.order, found);
        carom_device_step(device, "doubles");
        carom_device_launch(device, KIND::decide, blocks, CAROM_BATCH_THREADS, v, first, some,
                            sorted.order, found, left);
    }
}

template <typename KIND> static void carom_batch_launch(carom_device *device, carom_device_op *op) {
    const carom_batch_arguments<KIND> *a = carom_device_arguments<carom_batch_arguments<KIND>>(op);
    carom_device_clear(device, op);
    if (a->count == 0) return;
    carom_batch_view<typename KIND::input, typename KIND::result> v = {
        carom_soup_cuda_arrays_of(a->soup), {}, a->in, a->out};
    v.tree = carom_batch_build(device, v.soup);
    carom_batch_order order = {};
    carom_batch_found found = {};
    uint64_t bytes = carom_batch_lay_out_order(a->chunk(), nullptr, &order);
    (void)carom_batch_lay_out_order(
        a->chunk(), carom_device_take<char>(device, CAROM_SCRATCH_BATCH_SORT, bytes), &order);
    bytes = carom_batch_lay_out_found(a->chunk(), nullptr, &found);
    (void)carom_batch_lay_out_found(
        a->chunk(), carom_device_take<char>(device, CAROM_SCRATCH_BATCH_FOUND, bytes), &found);
    carom_device_list<uint32_t> left =
        carom_device_list_of<uint32_t>(device, CAROM_SCRATCH_BATCH_LEFT, op, CAROM_BATCH_N_LEFT);
    carom_device_list<uint32_t> exact =
        carom_device_list_of<uint32_t>(device, CAROM_SCRATCH_BATCH_EXACT, op, CAROM_BATCH_N_EXACT);
    carom_device_list<typename KIND::open> open =
        carom_batch_open_list<typename KIND::open>(device, op);
    carom_batch_launch_chunks<KIND>(device, op, v, order, found, left);
    carom_device_step(device, "left by floats");
    carom_device_launch(device, KIND::search,
                        carom_device_resident(device, KIND::search, CAROM_BATCH_SEARCHERS),
                        CAROM_BATCH_SEARCHERS, v, left, exact);
    carom_device_step(device, "left by doubles");
    carom_device_launch(device, KIND::search_exactly,
                        CAROM_BATCH_EXACT_BLOCKS * (unsigned)device->processors,
                        CAROM_BATCH_SEARCHERS, v, exact, open);
}

template <typename KIND>
static carom_status carom_batch_finish(carom_device *device, carom_device_op *op,
                                       const carom_device_counters *counters, bool *again) {
    const carom_batch_arguments<KIND> *a = carom_device_arguments<carom_batch_arguments<KIND>>(op);
    const carom_device_count *n = counters->n;
    uint64_t queries = 0;
    if (n[CAROM_BATCH_N_BAD] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT, "%llu %s %s", n[CAROM_BATCH_N_BAD],
                                 KIND::name, KIND::bad);
    *again = carom_device_list_grows(device, CAROM_SCRATCH_BATCH_LEFT, n[CAROM_BATCH_N_LEFT],
                                     sizeof(uint32_t));
    *again = carom_device_list_grows(device, CAROM_SCRATCH_BATCH_EXACT, n[CAROM_BATCH_N_EXACT],
                                     sizeof(uint32_t)) ||
             *again;
    carom_device_list<typename KIND::open> open =
        carom_batch_open_list<typename KIND::open>(device, op);
    if (n[CAROM_BATCH_N_OPEN] > open.capacity)
        *again = carom_device_list_grows(device, CAROM_SCRATCH_BATCH_OPEN,
                                         (n[CAROM_BATCH_N_OPEN] + 1) * CAROM_DEVICE_MOST_OPS,
                                         CAROM_BATCH_OPEN_BYTES) ||
                 *again;
    if (*again) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_batch_decide_on_host<KIND>(device, open.data, n[CAROM_BATCH_N_OPEN],
                                                      a->out, a->decide, &queries));
    device->steps.open_in_floats = n[CAROM_BATCH_N_LEFT];
    device->steps.open_in_doubles = queries;
    return CAROM_OK;
}

/* Queues the answer of `count` queries; all arrays are in device memory. */
template <typename KIND>
static carom_status carom_batch_submit(carom_device *device, const carom_device_soup *soup,
                                       const typename KIND::input *in, uint64_t count,
                                       typename KIND::result *out,
                                       typename KIND::decide_fn *decide) {
    carom_device_op op = {
        carom_batch_reserve<KIND>, carom_batch_launch<KIND>, carom_batch_finish<KIND>, nullptr, {}};
    *carom_device_arguments<carom_batch_arguments<KIND>>(&op) =
        carom_batch_arguments<KIND>{soup, in, out, count, decide};
    op.uses[0] = soup;
    return carom_device_submit(device, &op);
}

/* The same with arrays of the host, some millions at a time. Waits; adds to *on_host how many the
 * host decided. */
template <typename KIND>
static carom_status carom_batch_of_host(carom_device *device, const carom_device_soup *soup,
                                        const typename KIND::input *in, uint64_t count,
                                        typename KIND::result *out,
                                        typename KIND::decide_fn *decide, uint64_t *on_host) {
    typedef typename KIND::input input;
    typedef typename KIND::result result;
    const uint64_t most = CAROM_MIN(count, (uint64_t)CAROM_BATCH_FROM_HOST);
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_BATCH_INPUT,
                                                  most * sizeof(input), KIND::name));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_BATCH_OUTPUT,
                                                  most * sizeof(result), KIND::name));
    input *from = carom_device_scratch_data<input>(device, CAROM_SCRATCH_BATCH_INPUT);
    result *to = carom_device_scratch_data<result>(device, CAROM_SCRATCH_BATCH_OUTPUT);
    for (uint64_t at = 0; at < count; at += most) {
        uint64_t some = CAROM_MIN(count - at, most);
        CAROM_DEVICE_TRY(carom_device_check(device,
                                            cudaMemcpyAsync(from, in + at, some * sizeof(input),
                                                            cudaMemcpyHostToDevice, device->stream),
                                            "copying queries"));
        CAROM_DEVICE_TRY(carom_batch_submit<KIND>(device, soup, from, some, to, decide));
        CAROM_DEVICE_TRY(carom_device_finish(device));
        *on_host += device->steps.open_in_doubles;
        CAROM_DEVICE_TRY(carom_device_copy(device, out + at, to, some * sizeof(result),
                                           cudaMemcpyDeviceToHost, "copying results"));
    }
    return CAROM_OK;
}

#endif
