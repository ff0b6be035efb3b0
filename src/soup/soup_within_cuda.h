/* SPDX-License-Identifier: MIT */
/* soup_within_cuda.h: faces within a margin on the GPU (soup_within.c), included by soup_cuda.cu
 * alone.
 *
 * Boxes are enlarged by half of the margin, so those of faces within it overlap. One search of the
 * soup's tree, in the order that it has, or of one tree over two posed soups gives each pair once;
 * the items of geom/within.h decide it in doubles, then in integers. Those whose integers are too
 * long for the device go to the host with their corners. Counters are those of a search for pairs.
 */
#ifndef CAROM_SRC_SOUP_SOUP_WITHIN_CUDA_H
#define CAROM_SRC_SOUP_SOUP_WITHIN_CUDA_H

#include "geom/within_exact_item.h"

/* The boxes of triangles, enlarged, for the tree. */
struct soup_within_cuda_boxes {
    soup_cuda_boxes plain;
    double margin;

    __device__ bool second(uint32_t item) const {
        return plain.second(item);
    }

    __device__ bool searched(uint32_t item) const {
        const soup_cuda_side &s = soup_cuda_side_of(plain.v, item);
        uint8_t state = s.states[soup_cuda_triangle_of(plain.v, item)];
        return state == 0 || (state == SOUP_CUDA_DEGENERATE && s.as_segments);
    }

    __device__ carom_box box(uint32_t item) const {
        uint32_t vertices[3];
        if (!searched(item)) return carom_box_empty();
        carom_box box = plain.box_of(load_triangle(plain.v, item, vertices));
        double scale = plain.v.frame != nullptr ? plain.v.frame->scale : 1.0;
        double by = 0.5 * margin * scale + KFREE_LEAST_REACH;
        for (int k = 0; k < 3; ++k) {
            float low = round_down((double)box.low[k] - by);
            float high = -round_down(-((double)box.high[k] + by));
            /* bounds of empty boxes alone are infinite, as in carom_box_enlarge */
            box.low[k] = CAROM_MAX(-FLT_MAX, low);
            box.high[k] = CAROM_MIN(FLT_MAX, high);
        }
        return box;
    }

    __device__ carom_box first_box(uint32_t item) const {
        return box(item);
    }

    __device__ carom_box box_at(uint32_t, uint32_t item) const {
        return box(item);
    }
};

static __global__ void __launch_bounds__(SOUP_CUDA_THREADS)
    soup_within_cuda_decide(soup_cuda_view v, const uint32_t *items, double margin,
                            carom_device_list<uint2> candidates, carom_device_list<uint2> undecided,
                            carom_found_pairs r) {
    carom_device_begin();
    __shared__ unsigned long long buffers[SOUP_CUDA_THREADS / CAROM_WARP][OPEN_PER_WARP];
    carom_warp_buffer<unsigned long long, OPEN_PER_WARP> found = {buffers[threadIdx.x / CAROM_WARP],
                                                                  0};
    uint64_t count = candidates.stored();
    for (uint64_t base = (uint64_t)blockIdx.x * SOUP_CUDA_THREADS; base < count;
         base += (uint64_t)gridDim.x * SOUP_CUDA_THREADS) {
        uint64_t i = base + threadIdx.x;
        int verdict = CAROM_NO;
        unsigned long long key = 0;
        if (i < count) {
            uint32_t vertices[2][3];
            uint2 pair = candidates.data[i];
            carom_triangle a = load_triangle(v, items[pair.x], vertices[0]);
            carom_triangle b = load_triangle(v, items[pair.y], vertices[1]);
            bool counts = v.cross || carom_common_make(vertices[0], vertices[1]).count == 0;
            counts = counts && found_key(v, items[pair.x], items[pair.y], &key);
            if (counts) verdict = carom_within_filter(&a, &b, margin);
            if (verdict == CAROM_YES) r.count(key);
            if (verdict == CAROM_UNDECIDED)
                undecided.append(make_uint2(items[pair.x], items[pair.y]));
        }
        __syncwarp();
        found.push(r.list, verdict == CAROM_YES, key);
    }
    found.flush(r.list);
}

/* Decides in integers; what is too long for these goes to the host, with its corners. */
static __global__ void soup_within_cuda_decide_exactly(soup_cuda_view v, double margin,
                                                       carom_device_list<uint2> undecided,
                                                       carom_device_list<carom_device_near> near,
                                                       carom_found_pairs r) {
    carom_device_begin();
    uint64_t count = undecided.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t vertices[3];
        unsigned long long key = 0;
        uint2 pair = undecided.data[i];
        carom_device_near n;
        (void)found_key(v, pair.x, pair.y, &key);
        n.face[0] = (uint32_t)key;
        n.face[1] = (uint32_t)(key >> 32);
        n.triangle[0] = load_triangle(v, pair.x, vertices);
        n.triangle[1] = load_triangle(v, pair.y, vertices);
        n.diameter[0] = n.diameter[1] = 0.0;
        int verdict = carom_within_decide(&n.triangle[0], &n.triangle[1], margin);
        if (verdict == CAROM_YES) r.add(key);
        if (verdict == CAROM_UNDECIDED) near.append(n);
    }
}

struct soup_within_cuda_arguments {
    soup_cuda_search_arguments search;
    double margin;
    carom_device_within *result; /* of the caller, who waits */
};

static carom_status soup_within_cuda_reserve(carom_device *device, carom_device_op *op) {
    const soup_within_cuda_arguments *arguments =
        carom_device_arguments<soup_within_cuda_arguments>(op);
    const soup_cuda_search_arguments *s = &arguments->search;
    uint64_t n = triangles_of(s), floats;
    cross_memory m = {};
    if (n > SOUP_MOST_TRIANGLES)
        return carom_device_fail(device, CAROM_TOO_LARGE,
                                 "the soups have %llu triangles together, too many to number",
                                 (unsigned long long)n);
    (void)wide_tree(s->a.soup, nullptr, &floats);
    if (is_cross(s)) CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, (uint32_t)n));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_SOUP_TREE,
        is_cross(s) ? lay_out_cross(s, nullptr, &m) : floats * sizeof(float), "a search"));
    CAROM_DEVICE_TRY(carom_tree_find_reserve(device, n / SOUP_TRIANGLES_PER_LEAF_PAIR));
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {{CAROM_SCRATCH_PAIRS_CANDIDATES, SOUP_CANDIDATES_PER_TRIANGLE * n, sizeof(uint2)},
                 {CAROM_SCRATCH_SOUP_UNDECIDED, n / SOUP_TRIANGLES_PER_UNDECIDED, sizeof(uint2)},
                 {CAROM_SCRATCH_SOUP_NEAR, KFREE_NEAR_ENTRIES, sizeof(carom_device_near)}};
    for (const auto &list : lists)
        CAROM_DEVICE_TRY(carom_device_reserve_list(
            device, list.block, list.entries + KFREE_NEAR_ENTRIES, list.size, "a search"));
    return carom_pairs_reserve(device, s->pairs, n / SOUP_TRIANGLES_PER_FOUND, by_faces(s),
                               first_faces(s), &op->counters->n[SOUP_CUDA_N_FOUND]);
}

/* Queues the tree of enlarged boxes; *v is the view of the search. */
static carom_bvh_cuda_tree soup_within_cuda_build(carom_device *device, carom_device_op *op,
                                                  soup_cuda_view *v) {
    const soup_within_cuda_arguments *arguments =
        carom_device_arguments<soup_within_cuda_arguments>(op);
    const soup_cuda_search_arguments *s = &arguments->search;
    uint64_t floats;
    *v = view_of_soup(s->a.soup);
    if (!is_cross(s)) {
        (void)wide_tree(s->a.soup, nullptr, &floats);
        carom_bvh_cuda_tree tree = wide_tree(
            s->a.soup,
            carom_device_take<float>(device, CAROM_SCRATCH_SOUP_TREE, floats * sizeof(float)),
            &floats);
        soup_within_cuda_boxes boxes = {{*v, nullptr, nullptr, {}}, arguments->margin};
        carom_device_step(device, "build");
        if (tree.entries[0] != 0) carom_tree_fill_all(device, boxes, tree);
        return tree;
    }
    cross_memory m = {};
    uint64_t bytes = lay_out_cross(s, nullptr, &m);
    (void)lay_out_cross(s, carom_device_take<char>(device, CAROM_SCRATCH_SOUP_TREE, bytes), &m);
    v->cross = true;
    v->b = soup_cuda_side_of_soup(s->b.soup);
    v->a.moved = s->a.moved;
    v->a.frame = s->a.frame;
    v->b.moved = s->b.moved;
    v->b.frame = s->b.frame;
    v->frame = m.frame;
    launch_bounds(device, *v, m.frame, op->counters);
    soup_within_cuda_boxes boxes = {{*v, nullptr, nullptr, {}}, arguments->margin};
    if (m.tree.entries[0] != 0)
        carom_bvh_cuda_build(device, boxes, m.tree, carom_tree_sort_take(device, m.tree.entries[0]),
                             false);
    return m.tree;
}

static void soup_within_cuda_launch(carom_device *device, carom_device_op *op) {
    const soup_within_cuda_arguments *arguments =
        carom_device_arguments<soup_within_cuda_arguments>(op);
    const soup_cuda_search_arguments *s = &arguments->search;
    soup_cuda_view v;
    carom_device_clear(device, op);
    carom_bvh_cuda_tree tree = soup_within_cuda_build(device, op, &v);
    carom_device_list<uint2> candidates = carom_device_list_of<uint2>(
        device, CAROM_SCRATCH_PAIRS_CANDIDATES, op, SOUP_CUDA_N_CANDIDATES);
    carom_device_list<uint2> undecided = carom_device_list_of<uint2>(
        device, CAROM_SCRATCH_SOUP_UNDECIDED, op, SOUP_CUDA_N_UNDECIDED);
    carom_device_list<carom_device_near> near = carom_device_list_of<carom_device_near>(
        device, CAROM_SCRATCH_SOUP_NEAR, op, SOUP_CUDA_N_HOST);
    carom_found_pairs r =
        carom_found_pairs_of(device, op, s->pairs, by_faces(s), first_faces(s), SOUP_CUDA_N_FOUND);
    if (tree.entries[0] != 0) {
        carom_tree_find(device, op, tree, N_LEAF_PAIRS, candidates);
        carom_device_step(device, "doubles");
        carom_device_launch(
            device, soup_within_cuda_decide,
            carom_device_resident(device, soup_within_cuda_decide, SOUP_CUDA_THREADS),
            SOUP_CUDA_THREADS, v, (const uint32_t *)tree.items, arguments->margin, candidates,
            undecided, r);
        carom_device_step(device, "integers");
        carom_device_launch(device, soup_within_cuda_decide_exactly, RARE_BLOCKS, RARE_THREADS, v,
                            arguments->margin, undecided, near, r);
    }
    if (by_faces(s))
        carom_pairs_sort(device, r, first_faces(s), s->pairs, &op->counters->n[SOUP_CUDA_N_LONG]);
}

static carom_status soup_within_cuda_finish(carom_device *device, carom_device_op *op,
                                            const carom_device_counters *counters, bool *again) {
    const soup_within_cuda_arguments *arguments =
        carom_device_arguments<soup_within_cuda_arguments>(op);
    const soup_cuda_search_arguments *s = &arguments->search;
    const carom_device_count *n = counters->n;
    if (n[SOUP_CUDA_N_NOT_FINITE] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a pose moves %llu coordinates beyond the range of doubles",
                                 n[SOUP_CUDA_N_NOT_FINITE]);
    const struct {
        carom_device_scratch block;
        uint64_t entries, size;
    } lists[] = {{CAROM_SCRATCH_PAIRS_CANDIDATES, n[SOUP_CUDA_N_CANDIDATES], sizeof(uint2)},
                 {CAROM_SCRATCH_SOUP_UNDECIDED, n[SOUP_CUDA_N_UNDECIDED], sizeof(uint2)},
                 {CAROM_SCRATCH_SOUP_NEAR, n[SOUP_CUDA_N_HOST], sizeof(carom_device_near)}};
    *again = carom_tree_find_grows(device, n[N_LEAF_PAIRS]);
    for (const auto &list : lists)
        *again = carom_device_list_grows(device, list.block, list.entries, list.size) || *again;
    *again = carom_pairs_grow(device, n[SOUP_CUDA_N_FOUND]) || *again;
    if (*again) return CAROM_OK;
    uint64_t count = n[SOUP_CUDA_N_FOUND];
    device->steps.node_pairs = n[N_LEAF_PAIRS];
    device->steps.candidates = device->steps.open_in_floats = n[SOUP_CUDA_N_CANDIDATES];
    device->steps.open_in_doubles = n[SOUP_CUDA_N_UNDECIDED];
    if (has_repeats(s) || n[SOUP_CUDA_N_LONG] != 0)
        CAROM_DEVICE_TRY(carom_pairs_sort_now(device, s->pairs, &count));
    CAROM_DEVICE_TRY(carom_device_end_pairs(device, s->pairs, count));
    *arguments->result = carom_device_within{
        carom_device_scratch_data<carom_device_near>(device, CAROM_SCRATCH_SOUP_NEAR),
        n[SOUP_CUDA_N_HOST]};
    return CAROM_OK;
}

static carom_status soup_within(carom_device *device, const carom_device_posed *a,
                                const carom_device_posed *b, double margin, carom_cuda_pairs *pairs,
                                carom_device_within *result) {
    carom_device_op op = {
        soup_within_cuda_reserve, soup_within_cuda_launch, soup_within_cuda_finish, nullptr, {}};
    CAROM_DEVICE_TRY(carom_device_finish(device));
    *carom_device_arguments<soup_within_cuda_arguments>(&op) = soup_within_cuda_arguments{
        {*a, b != nullptr ? *b : carom_device_posed{}, {}, CAROM_CUDA_ORDER_SORTED, pairs, nullptr},
        margin,
        result};
    CAROM_DEVICE_TRY(carom_device_submit(device, &op));
    return carom_device_finish(device);
}

#endif
