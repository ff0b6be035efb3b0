/* SPDX-License-Identifier: MIT */
/* soup_kfree_cuda.h: k-freeness on the GPU (kfree.c), included by soup_cuda.cu alone.
 *
 * Of two faces, the one with the smaller diameter counts the other where they are at most a quarter
 * of that diameter apart. So every box is enlarged by half of its own face's reach: where faces are
 * within the smaller reach, their enlarged boxes overlap. One search of the tree, in the order that
 * the soup already has, finds each pair once; each is decided by the items of geom/within.h. Those
 * that doubles cannot decide, some in a million, go to the host with their corners. */
#ifndef CAROM_SRC_SOUP_SOUP_KFREE_CUDA_H
#define CAROM_SRC_SOUP_SOUP_KFREE_CUDA_H

#include "geom/diameter_item.h"
#include "geom/within.h"

/* Counters: */
enum { K_LEAF_PAIRS, K_CANDIDATES, K_MEASURED, K_UNDECIDED, K_NEIGHBOURS, K_BEYOND };

/* The diameter of triangles that are ignored. */
#define KFREE_NOT_THERE (-1.0)

/* Candidates per triangle that there is room for at first: a cloth has 20. */
#define KFREE_CANDIDATES_PER_TRIANGLE 24u
/* Triangles per undecided pair that there is room for at first, and undecided pairs that go to the
 * host: some in a million are. */
#define KFREE_TRIANGLES_PER_UNDECIDED 4u
#define KFREE_NEAR_ENTRIES            4096u
/* By which boxes are enlarged at least, so that rounding never shrinks one; far below any size. */
#define KFREE_LEAST_REACH 0x1p-1000

/* Arrays of one number per face. */
struct soup_kfree_cuda_counts {
    double *diameters;
    uint32_t *counts, *neighbours;
};

static uint64_t lay_out_counts(uint32_t faces, char *memory, soup_kfree_cuda_counts *c) {
    uint64_t row = carom_device_row((uint64_t)faces * sizeof(double));
    c->diameters = (double *)memory;
    c->counts = (uint32_t *)(memory + row);
    c->neighbours = (uint32_t *)(memory + 2 * row);
    return 3 * row;
}

static __global__ void measure_faces(soup_cuda_view v, soup_kfree_cuda_counts c,
                                     carom_device_counters *counters) {
    carom_device_begin();
    uint32_t vertices[3], i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= v.a.triangle_count) return;
    uint8_t state = v.a.states[i];
    double diameter = KFREE_NOT_THERE;
    if (state == 0 || (state == SOUP_CUDA_DEGENERATE && v.a.as_segments)) {
        carom_triangle t = load_triangle(v, i, vertices);
        for (int k = 0; k < 3; ++k)
            if (!carom_vec_within(t.corner[k], CAROM_LARGEST_COORDINATE))
                atomicAdd(&counters->n[K_BEYOND], 1ull); /* rare */
        diameter = carom_triangle_diameter(t.corner);
    }
    c.diameters[i] = diameter;
    c.counts[i] = c.neighbours[i] = 0;
}

/* The boxes of triangles, enlarged, for the tree. */
struct wide_boxes {
    soup_cuda_boxes plain;
    const double *diameters;

    __device__ bool second(uint32_t) const {
        return false;
    }

    __device__ carom_box box_at(uint32_t, uint32_t item) const {
        uint32_t vertices[3];
        if (diameters[item] < 0.0) return carom_box_empty();
        carom_box box = plain.box_of(load_triangle(plain.v, item, vertices));
        double scale = plain.v.frame != nullptr ? plain.v.frame->scale : 1.0;
        double by = 0.5 * carom_diameter_reach(diameters[item]) * scale + KFREE_LEAST_REACH;
        for (int k = 0; k < 3; ++k) {
            box.low[k] = round_down((double)box.low[k] - by);
            box.high[k] = -round_down(-((double)box.high[k] + by));
        }
        return box;
    }
};

/* Adds a number of each lane to a counter; all lanes call it. */
static __device__ inline void add_to_counter(carom_device_count *counter, unsigned mine) {
    unsigned all = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % CAROM_WARP == 0 && all != 0) atomicAdd(counter, (carom_device_count)all);
}

static __global__ void __launch_bounds__(SOUP_CUDA_THREADS)
    soup_kfree_cuda_count_near(soup_cuda_view v, const uint32_t *items, const float4 *records,
                               soup_kfree_cuda_counts c, carom_device_list<uint2> candidates,
                               carom_device_list<uint2> undecided,
                               carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = candidates.stored();
    unsigned measured = 0, neighbours = 0;
    for (uint64_t i = blockIdx.x * SOUP_CUDA_THREADS + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * SOUP_CUDA_THREADS) {
        uint32_t ia[3], ib[3];
        uint2 pair = candidates.data[i];
        uint32_t item_a = items[pair.x], item_b = items[pair.y];
        carom_triangle a, b;
        CAROM_ASSERT(pair.x != pair.y && pair.x < v.a.triangle_count);
        if (records != nullptr) {
            a = from_record(records + 3 * (uint64_t)pair.x, ia);
            b = from_record(records + 3 * (uint64_t)pair.y, ib);
        } else {
            a = load_triangle(v, item_a, ia);
            b = load_triangle(v, item_b, ib);
        }
        double of_a = c.diameters[item_a], of_b = c.diameters[item_b];
        carom_common shared = carom_common_make(ia, ib);
        int verdict = CAROM_YES;
        bool common = shared.count != 0;
        if (!common) {
            ++measured;
            verdict = carom_within_filter(&a, &b, carom_diameter_reach(CAROM_MIN(of_a, of_b)));
        }
        if (verdict == CAROM_UNDECIDED) undecided.append(make_uint2(item_a, item_b));
        if (verdict != CAROM_YES) continue;
        if (of_a <= of_b) {
            atomicAdd(&c.counts[item_a], 1u);
            if (common) atomicAdd(&c.neighbours[item_a], 1u);
            neighbours += common ? 1u : 0u;
        }
        if (of_b <= of_a) {
            atomicAdd(&c.counts[item_b], 1u);
            if (common) atomicAdd(&c.neighbours[item_b], 1u);
            neighbours += common ? 1u : 0u;
        }
    }
    __syncwarp();
    add_to_counter(&counters->n[K_MEASURED], measured);
    add_to_counter(&counters->n[K_NEIGHBOURS], neighbours);
}

/* Undecided pairs with their corners, for the host. */
static __global__ void gather_undecided(soup_cuda_view v, soup_kfree_cuda_counts c,
                                        carom_device_list<uint2> undecided, carom_device_near *near,
                                        uint64_t capacity) {
    carom_device_begin();
    uint64_t count = undecided.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count && i < capacity;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t vertices[3];
        uint2 pair = undecided.data[i];
        carom_device_near n;
        n.face[0] = pair.x;
        n.face[1] = pair.y;
        n.triangle[0] = load_triangle(v, pair.x, vertices);
        n.triangle[1] = load_triangle(v, pair.y, vertices);
        n.diameter[0] = c.diameters[pair.x];
        n.diameter[1] = c.diameters[pair.y];
        near[i] = n;
    }
}

struct neighbours_arguments {
    const carom_device_soup *soup;
    carom_device_k_free *result; /* of the caller, who waits */
};

/* The soup's tree with boxes of its own. */
static carom_bvh_cuda_tree wide_tree(const carom_device_soup *soup, float *memory,
                                     uint64_t *floats) {
    carom_bvh_cuda_tree tree = {};
    *floats = carom_tree_shape(soup->def.triangle_count, &tree);
    carom_bvh_cuda_tree_lay_out(&tree, memory);
    tree.items = soup->tree.items;
    return tree;
}

static carom_status neighbours_reserve(carom_device *device, carom_device_op *op) {
    const carom_device_soup *soup = carom_device_arguments<neighbours_arguments>(op)->soup;
    uint64_t n = soup->def.triangle_count, floats;
    soup_kfree_cuda_counts c = {};
    (void)wide_tree(soup, nullptr, &floats);
    CAROM_DEVICE_TRY(carom_tree_find_reserve(device, n));
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } wanted[] = {{CAROM_SCRATCH_PAIRS_CANDIDATES,
                   KFREE_CANDIDATES_PER_TRIANGLE * n + CAROM_DEVICE_LIST_ENTRIES, sizeof(uint2)},
                  {CAROM_SCRATCH_SOUP_UNDECIDED,
                   n / KFREE_TRIANGLES_PER_UNDECIDED + CAROM_DEVICE_LIST_ENTRIES, sizeof(uint2)},
                  {CAROM_SCRATCH_SOUP_NEAR, KFREE_NEAR_ENTRIES, sizeof(carom_device_near)}};
    for (const auto &list : wanted)
        CAROM_DEVICE_TRY(carom_device_reserve_list(device, list.block, list.entries, list.size,
                                                   "counting faces"));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_SOUP_TREE,
                                                  floats * sizeof(float), "counting faces"));
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_SOUP_NEIGHBOURS,
                                        lay_out_counts((uint32_t)n, nullptr, &c), "counting faces");
}

static void neighbours_launch(carom_device *device, carom_device_op *op) {
    const carom_device_soup *soup = carom_device_arguments<neighbours_arguments>(op)->soup;
    uint32_t n = soup->def.triangle_count;
    uint64_t floats;
    soup_cuda_view v = view_of_soup(soup);
    soup_kfree_cuda_counts c = {};
    uint64_t bytes = lay_out_counts(n, nullptr, &c);
    (void)lay_out_counts(n, carom_device_take<char>(device, CAROM_SCRATCH_SOUP_NEIGHBOURS, bytes),
                         &c);
    (void)wide_tree(soup, nullptr, &floats);
    carom_bvh_cuda_tree tree = wide_tree(
        soup, carom_device_take<float>(device, CAROM_SCRATCH_SOUP_TREE, floats * sizeof(float)),
        &floats);
    carom_device_list<uint2> candidates =
        carom_device_list_of<uint2>(device, CAROM_SCRATCH_PAIRS_CANDIDATES, op, K_CANDIDATES);
    carom_device_list<uint2> undecided =
        carom_device_list_of<uint2>(device, CAROM_SCRATCH_SOUP_UNDECIDED, op, K_UNDECIDED);
    carom_device_list<carom_device_near> near =
        carom_device_list_of<carom_device_near>(device, CAROM_SCRATCH_SOUP_NEAR, op, K_UNDECIDED);
    wide_boxes boxes_of_tree = {{v, nullptr, nullptr, {}}, c.diameters};
    const float4 *records = v.a.doubles ? nullptr : (const float4 *)soup->records.data;
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (n == 0) return;
    carom_device_step(device, "diameters");
    carom_device_launch(device, measure_faces, carom_device_blocks(n, SOUP_CUDA_THREADS),
                        SOUP_CUDA_THREADS, v, c, op->counters);
    carom_device_step(device, "build");
    carom_tree_fill_all(device, boxes_of_tree, tree);
    carom_tree_find(device, op, tree, K_LEAF_PAIRS, candidates);
    carom_device_step(device, "doubles");
    carom_device_launch(
        device, soup_kfree_cuda_count_near,
        carom_device_resident(device, soup_kfree_cuda_count_near, SOUP_CUDA_THREADS),
        SOUP_CUDA_THREADS, v, (const uint32_t *)tree.items, records, c, candidates, undecided,
        op->counters);
    carom_device_launch(device, gather_undecided, RARE_BLOCKS, RARE_THREADS, v, c, undecided,
                        near.data, near.capacity);
}

static carom_status neighbours_finish(carom_device *device, carom_device_op *op,
                                      const carom_device_counters *counters, bool *again) {
    const neighbours_arguments *arguments = carom_device_arguments<neighbours_arguments>(op);
    const carom_device_count *n = counters->n;
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } found[] = {{CAROM_SCRATCH_PAIRS_CANDIDATES, n[K_CANDIDATES], sizeof(uint2)},
                 {CAROM_SCRATCH_SOUP_UNDECIDED, n[K_UNDECIDED], sizeof(uint2)},
                 {CAROM_SCRATCH_SOUP_NEAR, n[K_UNDECIDED], sizeof(carom_device_near)}};
    *again = carom_tree_find_grows(device, n[K_LEAF_PAIRS]);
    for (const auto &list : found)
        *again = carom_device_list_grows(device, list.block, list.entries, list.size) || *again;
    if (*again) return CAROM_OK;
    device->steps.node_pairs = n[K_LEAF_PAIRS];
    device->steps.candidates = n[K_MEASURED];
    device->steps.open_in_floats = n[K_MEASURED];
    device->steps.open_in_doubles = n[K_UNDECIDED];
    soup_kfree_cuda_counts c = {};
    (void)lay_out_counts(arguments->soup->def.triangle_count,
                         carom_device_scratch_data<char>(device, CAROM_SCRATCH_SOUP_NEIGHBOURS),
                         &c);
    *arguments->result = carom_device_k_free{
        c.diameters,
        c.counts,
        c.neighbours,
        n[K_NEIGHBOURS],
        n[K_BEYOND] != 0,
        carom_device_scratch_data<carom_device_near>(device, CAROM_SCRATCH_SOUP_NEAR),
        n[K_UNDECIDED]};
    return CAROM_OK;
}

static carom_status soup_k_free(carom_device *device, const carom_device_soup *soup,
                                carom_device_k_free *result) {
    carom_device_op op = {neighbours_reserve, neighbours_launch, neighbours_finish, nullptr, {}};
    CAROM_DEVICE_TRY(carom_device_finish(device));
    *carom_device_arguments<neighbours_arguments>(&op) = neighbours_arguments{soup, result};
    CAROM_DEVICE_TRY(carom_device_submit(device, &op));
    return carom_device_finish(device);
}

#endif
