/* SPDX-License-Identifier: MIT */
/* Soups on the GPU: the tree of bvh_cuda.h over triangles, then three stages that each decide what
 * the stage before left open (the problem of kDet: Weller, Debowski, Zachmann 2017).
 *
 *   float32    for float32 input: only "they do not meet", with the error bound of soup_filter.h.
 *              Fused operations are used; they make fewer roundings than the bound allows for.
 *   doubles    the filters of face_item.h and triangle_filter.h, the same items as on the CPU
 *   exact      expansions and integers, again the items of the CPU
 *
 * So every decision is exact, and the set of pairs is that of the CPU. Sorting makes the list the
 * same, too: pairs are counted by their first face, the counts are added up, and each pair finds
 * its index among the pairs of its first face.
 *
 * A search of two soups builds one tree over the posed triangles of both, and takes only pairs of
 * one triangle of each. Its cost does not depend on the poses. */
#include <climits>
#include <new>

#include "base/pairs_cuda.h"
#include "bvh/bvh_cuda.h"
#include "geom/face_item.h"
#include "geom/scale.h"
#include "grid/grid_cuda.h"
#include "soup/soup_cuda.h"
#include "soup/soup_filter_cuda.h"
#include "soup/soup_view_cuda.h"

#define SOUP_CUDA_THREADS 256u
#define OPEN_PER_WARP     128u /* pairs that a warp collects before it appends them */
/* For what hardly ever has work: the launch is all that it costs. */
#define RARE_BLOCKS  64u
#define RARE_THREADS 128u
#define BOUNDS_BLOCKS                                                                              \
    4u /* per processor that look for the bounds: each thread takes many vertices */

/* Triangles that can be numbered: those of two soups together, rounded up to whole leaves. */
#define SOUP_MOST_TRIANGLES (UINT32_MAX - 2u * CAROM_WARP)

/* Entries of lists per triangle that there is room for at first. Usual surfaces have some nine
 * pairs of leaves per leaf of 32 and nine candidates per triangle; of these, floats leave one open,
 * and doubles hardly any. */
#define SOUP_TRIANGLES_PER_LEAF_PAIR 2u
#define SOUP_CANDIDATES_PER_TRIANGLE 10u
#define SOUP_OPEN_PER_TRIANGLE       1u
#define SOUP_TRIANGLES_PER_UNDECIDED 4u
#define SOUP_TRIANGLES_PER_FOUND     4u

/* Counters of a search. */
/* By grid, N_LEAF_PAIRS counts its entries. */
enum {
    N_LEAF_PAIRS,
    SOUP_CUDA_N_CANDIDATES,
    SOUP_CUDA_N_OPEN,
    SOUP_CUDA_N_UNDECIDED,
    SOUP_CUDA_N_HOST, /* of these, within a margin, what integers there leave open */
    SOUP_CUDA_N_FOUND,
    SOUP_CUDA_N_LONG,
    SOUP_CUDA_N_NOT_FINITE
};

/* ---- Boxes ----------------------------------------------------------------------------------- */

static __global__ void begin_bounds(box_frame *frame) {
    carom_device_begin();
    if (threadIdx.x >= 3) return;
    frame->low[threadIdx.x] = ULLONG_MAX;
    frame->high[threadIdx.x] = 0;
}

static __global__ void soup_cuda_find_bounds(soup_cuda_view v, box_frame *frame,
                                             carom_device_counters *counters) {
    carom_device_begin();
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    uint64_t count = (uint64_t)v.a.vertex_count + (v.cross ? v.b.vertex_count : 0);
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        bool first = i < v.a.vertex_count;
        carom_vec3 p =
            soup_cuda_load_posed(first ? v.a : v.b, (uint32_t)(first ? i : i - v.a.vertex_count));
        double x[3] = {p.x, p.y, p.z};
        for (int k = 0; k < 3; ++k) {
            if (!isfinite(x[k])) atomicAdd(&counters->n[SOUP_CUDA_N_NOT_FINITE], 1ull);
            low[k] = fmin(low[k], x[k]);
            high[k] = fmax(high[k], x[k]);
        }
    }
    soup_cuda_add_bounds(low, high, frame->low, frame->high);
}

/* As soup_prepare_choose_frame. */
static __global__ void end_bounds(box_frame *frame) {
    carom_device_begin();
    double low[3], high[3];
    double most = soup_cuda_get_bounds(frame->low, frame->high, low, high);
    frame->scale = 1.0;
    if (most >= CAROM_SCALE_LIMIT || (most < CAROM_SCALE_LEAST && most > 0.0)) {
        int exponent;
        (void)frexp(most, &exponent);
        frame->scale =
            ldexp(1.0, CAROM_MAX(DBL_MIN_EXP - 1, CAROM_MIN(-exponent, 1 - DBL_MIN_EXP)));
    }
    for (int k = 0; k < 3; ++k)
        frame->origin[k] = 0.5 * (low[k] * frame->scale + high[k] * frame->scale);
}

/* The boxes of the triangles of a view, for the tree. */
struct soup_cuda_boxes {
    soup_cuda_view v;
    float4 *records; /* of the triangles in sorted order (record_of), or NULL */
    uint8_t *states; /* of a soup that is being prepared, else NULL; and its lists: */
    carom_device_list<uint32_t> thin;

    __device__ bool second(uint32_t item) const {
        return item >= v.a.triangle_count;
    }

    __device__ carom_box box_of(const carom_triangle &t) const {
        carom_box box;
        const double p[3][3] = {{t.corner[0].x, t.corner[0].y, t.corner[0].z},
                                {t.corner[1].x, t.corner[1].y, t.corner[1].z},
                                {t.corner[2].x, t.corner[2].y, t.corner[2].z}};
        for (int k = 0; k < 3; ++k) {
            double low = CAROM_MIN(p[0][k], p[1][k]), high = CAROM_MAX(p[0][k], p[1][k]);
            low = CAROM_MIN(low, p[2][k]);
            high = CAROM_MAX(high, p[2][k]);
            if (v.frame == nullptr) {
                box.low[k] = (float)low;
                box.high[k] = (float)high;
            } else {
                box.low[k] = round_down(low * v.frame->scale - v.frame->origin[k]);
                box.high[k] = -round_down(-(high * v.frame->scale - v.frame->origin[k]));
            }
        }
        return box;
    }

    /* Whether searches consider the triangle. A degenerate one of a single soup may stay: the exact
     * stage leaves it out. */
    __device__ bool searched(uint32_t item) const {
        const soup_cuda_side &s = soup_cuda_side_of(v, item);
        uint8_t state = s.states[soup_cuda_triangle_of(v, item)];
        if (!v.cross) return (state & SOUP_CUDA_DEAD) == 0;
        return state == 0 || (state == SOUP_CUDA_DEGENERATE && s.as_segments);
    }

    __device__ carom_box box(uint32_t item) const {
        uint32_t vertices[3];
        if (!searched(item)) return carom_box_empty();
        return box_of(load_triangle(v, item, vertices));
    }

    __device__ carom_box first_box(uint32_t item) const {
        uint32_t vertices[3];
        if (states == nullptr) return box(item);
        carom_triangle t = load_triangle(v, item, vertices);
        uint8_t state = states[item] & SOUP_CUDA_DEAD;
        states[item] = state;
        if (!carom_face_has_area(&t)) { /* rare; there is room for all */
            carom_device_count at = atomicAdd(thin.count, 1ull);
            CAROM_ASSERT(at < thin.capacity);
            thin.data[at] = item;
        }
        return state != 0 ? carom_box_empty() : box_of(t);
    }

    __device__ carom_box box_at(uint32_t slot, uint32_t item) const {
        uint32_t vertices[3];
        carom_triangle t = load_triangle(v, item, vertices);
        if (records != nullptr) record_set(records + 3 * (uint64_t)slot, t, vertices);
        return searched(item) ? box_of(t) : carom_box_empty();
    }
};

/* ---- Degenerate triangles -------------------------------------------------------------------- */

/* Lists a face without area; there is room for all. */
static __device__ inline void add_alone(const carom_device_list<uint32_t> &alone, uint32_t face,
                                        carom_device_count *count) {
    carom_device_count at = atomicAdd(alone.count, 1ull);
    CAROM_ASSERT(at < alone.capacity);
    alone.data[at] = face;
    atomicAdd(count, 1ull);
}

/* Lists triangles that are faces at once; `count` is for the host. */
static __global__ void soup_cuda_find_degenerate(soup_cuda_view v, carom_device_list<uint32_t> thin,
                                                 uint8_t *states, carom_device_list<uint32_t> alone,
                                                 carom_device_count *count) {
    carom_device_begin();
    uint32_t vertices[3];
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < *thin.count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_triangle t = load_triangle(v, thin.data[i], vertices);
        if (!carom_face_degenerate(&t)) continue;
        uint8_t state = states[thin.data[i]] |= SOUP_CUDA_DEGENERATE;
        if (v.a.faces != nullptr || state != SOUP_CUDA_DEGENERATE) continue;
        add_alone(alone, thin.data[i], count);
    }
}

/* The same for polygons: those of which all triangles are degenerate, from their first one. */
static __global__ void find_alone(soup_cuda_view v, carom_device_list<uint32_t> thin,
                                  carom_device_list<uint32_t> alone, carom_device_count *count) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < *thin.count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint32_t t = thin.data[i], face = soup_cuda_face_of(v, t);
        bool all = t == 0 || soup_cuda_face_of(v, t - 1) != face;
        for (; all && t < v.a.triangle_count && soup_cuda_face_of(v, t) == face; ++t)
            all = v.a.states[t] == SOUP_CUDA_DEGENERATE;
        if (!all) continue;
        add_alone(alone, face, count);
    }
}

/* ---- The stage in floats --------------------------------------------------------------------- */

/* Pairs that the planes do not separate are few: they wait until a warp is full of them. */
#define STRADDLING (2u * CAROM_WARP)

static __global__ void __launch_bounds__(SOUP_CUDA_THREADS)
    decide_in_floats(const float4 *records, bool cross_search, carom_device_list<uint2> candidates,
                     carom_device_list<uint2> open) {
    carom_device_begin();
    __shared__ uint2 buffers[SOUP_CUDA_THREADS / CAROM_WARP][OPEN_PER_WARP];
    __shared__ uint2 straddling[SOUP_CUDA_THREADS / CAROM_WARP][STRADDLING];
    unsigned warp = threadIdx.x / CAROM_WARP, lane = threadIdx.x % CAROM_WARP, waiting = 0;
    carom_warp_buffer<uint2, OPEN_PER_WARP> buffer = {buffers[warp], 0};
    uint64_t count = candidates.stored(), stride = (uint64_t)gridDim.x * SOUP_CUDA_THREADS;
    for (uint64_t base = (uint64_t)blockIdx.x * SOUP_CUDA_THREADS + warp * CAROM_WARP;
         base < count + stride; base += stride) {
        bool last = base >= count; /* one more turn for the pairs that wait */
        bool left = base + lane < count;
        uint2 pair = make_uint2(0, 0);
        soup_filter_cuda_vec a[3], b[3];
        if (left) {
            pair = candidates.data[base + lane];
            three va = record_get(records + 3 * (uint64_t)pair.x, a);
            three vb = record_get(records + 3 * (uint64_t)pair.y, b);
            left = !apart_by_planes(a, b, va, vb, cross_search);
        }
        unsigned mask = __ballot_sync(~0u, left);
        CAROM_ASSERT(carom_warp_agrees(waiting) && waiting + __popc(mask) <= STRADDLING);
        if (left) straddling[warp][waiting + __popc(mask & ((1u << lane) - 1u))] = pair;
        waiting += __popc(mask);
        __syncwarp();
        if (waiting < CAROM_WARP && !last) continue;
        unsigned some = waiting < CAROM_WARP ? waiting : CAROM_WARP;
        waiting -= some;
        left = lane < some;
        if (left) {
            pair = straddling[warp][waiting + lane];
            three va = record_get(records + 3 * (uint64_t)pair.x, a);
            three vb = record_get(records + 3 * (uint64_t)pair.y, b);
            left = !apart_by_intervals(a, b, va, vb, cross_search);
        }
        __syncwarp();
        buffer.push(open, left, pair);
        if (last) break;
    }
    buffer.flush(open);
}

/* ---- The stages in doubles, and exact -------------------------------------------------------- */

static __device__ inline bool found_key(const soup_cuda_view &v, uint32_t item_a, uint32_t item_b,
                                        unsigned long long *key) {
    if (v.cross && item_a > item_b) {
        uint32_t swap = item_a;
        item_a = item_b;
        item_b = swap;
    }
    uint32_t a = soup_cuda_face_of(v, item_a), b = soup_cuda_face_of(v, item_b);
    if (!v.cross && a == b) return false; /* triangles of one polygon */
    uint32_t low = v.cross ? a : CAROM_MIN(a, b), high = v.cross ? b : CAROM_MAX(a, b);
    CAROM_ASSERT(low < v.a.face_count && high < (v.cross ? v.b : v.a).face_count);
    *key = carom_pair_pack(low, high);
    return true;
}

/* A triangle from its record in sorted order: one step instead of three that wait for each other.
 */
static __device__ inline carom_triangle from_record(const float4 *record, uint32_t *vertices) {
    soup_filter_cuda_vec p[3];
    three v = record_get(record, p);
    carom_triangle t;
    for (int i = 0; i < 3; ++i) {
        t.corner[i] = carom_vec((double)p[i].x, (double)p[i].y, (double)p[i].z);
        vertices[i] = v.v[i];
    }
    return t;
}

/* Two triangles, from `records` where there are some. */
static __device__ inline void load_pair(const soup_cuda_view &v, const uint32_t *items,
                                        const float4 *records, uint2 pair, carom_triangle *t,
                                        uint32_t (*vertices)[3]) {
    if (records != nullptr) {
        t[0] = from_record(records + 3 * (uint64_t)pair.x, vertices[0]);
        t[1] = from_record(records + 3 * (uint64_t)pair.y, vertices[1]);
    } else {
        t[0] = load_triangle(v, items[pair.x], vertices[0]);
        t[1] = load_triangle(v, items[pair.y], vertices[1]);
    }
}

/* `records` may be NULL. */
static __global__ void __launch_bounds__(SOUP_CUDA_THREADS)
    decide_in_doubles(soup_cuda_view v, const uint32_t *items, const float4 *records,
                      carom_device_list<uint2> open, carom_device_list<uint2> undecided,
                      carom_found_pairs r) {
    carom_device_begin();
    __shared__ uint2 undecided_buffers[SOUP_CUDA_THREADS / CAROM_WARP][OPEN_PER_WARP];
    __shared__ unsigned long long found_buffers[SOUP_CUDA_THREADS / CAROM_WARP][OPEN_PER_WARP];
    unsigned warp = threadIdx.x / CAROM_WARP;
    carom_warp_buffer<uint2, OPEN_PER_WARP> left = {undecided_buffers[warp], 0};
    carom_warp_buffer<unsigned long long, OPEN_PER_WARP> found = {found_buffers[warp], 0};
    uint64_t count = open.stored();
    for (uint64_t base = (uint64_t)blockIdx.x * SOUP_CUDA_THREADS; base < count;
         base += (uint64_t)gridDim.x * SOUP_CUDA_THREADS) {
        uint64_t i = base + threadIdx.x;
        int verdict = CAROM_NO;
        uint2 pair = make_uint2(0, 0);
        unsigned long long key = 0;
        if (i < count) {
            uint32_t vertices[2][3];
            carom_triangle t[2];
            pair = open.data[i];
            load_pair(v, items, records, pair, t, vertices);
            carom_common common = {};
            if (v.cross) {
                verdict = carom_triangle_filter(&t[0], &t[1]);
            } else {
                common = carom_common_make(vertices[0], vertices[1]);
                verdict = carom_face_filter(&t[0], &t[1], &common);
            }
            if (verdict == CAROM_UNDECIDED) verdict = carom_face_filter_flat(&t[0], &t[1], &common);
            if (verdict == CAROM_YES) {
                if (found_key(v, items[pair.x], items[pair.y], &key))
                    r.count(key);
                else
                    verdict = CAROM_NO;
            }
        }
        left.push(undecided, verdict == CAROM_UNDECIDED, pair);
        found.push(r.list, verdict == CAROM_YES, key);
    }
    left.flush(undecided);
    found.flush(r.list);
}

#define EXACT_THREADS 128u
#define EXACT_BLOCKS  4u /* per processor */

/* The pairs that are left, and (f, f) for faces f without area. Pairs take different ways through
 * the exact stage, and lanes of a warp go one after the other where they do. So consecutive pairs
 * go to different warps: those of a usual frame are a few per warp. */
static __global__ void __launch_bounds__(EXACT_THREADS, EXACT_BLOCKS)
    decide_exactly(soup_cuda_view v, const uint32_t *items, const float4 *records,
                   carom_device_list<uint2> undecided, carom_device_list<uint32_t> alone,
                   carom_found_pairs r) {
    carom_device_begin();
    uint64_t count = undecided.stored(), threads = (uint64_t)gridDim.x * blockDim.x;
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x, warps = threads / CAROM_WARP;
    for (uint64_t i = thread % CAROM_WARP * warps + thread / CAROM_WARP; i < count; i += threads) {
        uint2 pair = undecided.data[i];
        uint32_t vertices[2][3];
        carom_triangle t[2];
        load_pair(v, items, records, pair, t, vertices);
        int counts;
        if (v.cross) {
            counts = carom_triangle_meet_exact(&t[0], &t[1]);
        } else {
            carom_common common = carom_common_make(vertices[0], vertices[1]);
            counts = carom_face_pair_exact(&t[0], &t[1], &common, v.a.as_segments);
        }
        unsigned long long key;
        if (counts && found_key(v, items[pair.x], items[pair.y], &key)) r.add(key);
    }
    if (v.cross || v.a.as_segments) return;
    for (uint64_t i = thread; i < *alone.count; i += threads)
        r.add(carom_pair_pack(alone.data[i], alone.data[i]));
}

/* ---- Preparing a soup ------------------------------------------------------------------------ */

static soup_cuda_view view_of_soup(const carom_device_soup *soup) {
    soup_cuda_view v = {};
    v.a = soup_cuda_side_of_soup(soup);
    v.frame = soup->def.doubles ? (const box_frame *)soup->frame.data : nullptr;
    return v;
}

static carom_device_list<uint32_t> thin_of(const carom_device_soup *soup) {
    return {(uint32_t *)soup->thin.data, soup->def.triangle_count, &soup->counts()[0]};
}

static carom_device_list<uint32_t> alone_of(const carom_device_soup *soup) {
    return {(uint32_t *)((char *)soup->alone.data + CAROM_DEVICE_ALLOCATION),
            soup->def.triangle_count, &soup->counts()[1]};
}

/* Copies positions and empties the lists `counts` of; the first block surveys the triangles
 * meanwhile. */
template <typename T>
static __global__ void __launch_bounds__(CAROM_TREE_SAMPLE)
    soup_cuda_copy_positions(const T *from, T *to, uint64_t count, soup_cuda_boxes of_source,
                             carom_bvh_space *space, carom_device_count *counts,
                             carom_device_counters *counters) {
    carom_device_begin();
    if (blockIdx.x == 0) {
        if (threadIdx.x < 2) counts[threadIdx.x] = 0;
        if (space != nullptr)
            carom_tree_survey_block(of_source, of_source.v.a.triangle_count, space);
        return;
    }
    for (uint64_t i = (blockIdx.x - 1u) * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)(gridDim.x - 1u) * blockDim.x) {
        T x = from[i];
        if (!isfinite(x)) atomicAdd(&counters->n[SOUP_CUDA_N_NOT_FINITE], 1ull);
        to[i] = x;
    }
}

struct soup_cuda_prepare_arguments {
    carom_device_soup *soup;
    const void *positions; /* on the device, to be copied; NULL: they are there */
    uint32_t vertex_count; /* of these positions */
    bool doubles;
};

static carom_status soup_cuda_prepare_reserve(carom_device *device, carom_device_op *op) {
    const soup_cuda_prepare_arguments *arguments =
        carom_device_arguments<soup_cuda_prepare_arguments>(op);
    const carom_device_soup *soup = arguments->soup;
    if (arguments->vertex_count != soup->def.vertex_count ||
        arguments->doubles != soup->def.doubles)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a frame updates a soup with %u vertices of %s, which has %u of "
                                 "%s by now; record the frame anew",
                                 arguments->vertex_count,
                                 arguments->doubles ? "float64" : "float32", soup->def.vertex_count,
                                 soup->def.doubles ? "float64" : "float32");
    return carom_tree_sort_reserve(device, soup->def.triangle_count);
}

/* Chooses the frame of boxes of double coordinates. */
static void launch_bounds(carom_device *device, const soup_cuda_view &v, box_frame *frame,
                          carom_device_counters *counters) {
    carom_device_launch(device, begin_bounds, 1, CAROM_WARP, frame);
    carom_device_launch(device, soup_cuda_find_bounds, BOUNDS_BLOCKS * (unsigned)device->processors,
                        SOUP_CUDA_THREADS, v, frame, counters);
    carom_device_launch(device, end_bounds, 1, 1, frame);
}

static void soup_cuda_prepare_launch(carom_device *device, carom_device_op *op) {
    const soup_cuda_prepare_arguments *arguments =
        carom_device_arguments<soup_cuda_prepare_arguments>(op);
    carom_device_soup *soup = arguments->soup;
    uint32_t count = soup->def.triangle_count;
    uint64_t scalars = 3 * (uint64_t)soup->def.vertex_count;
    unsigned grid = 1u + (unsigned)device->processors;
    carom_tree_sort sort = carom_tree_sort_take(device, count);
    soup_cuda_boxes b = {view_of_soup(soup), (float4 *)soup->records.data,
                         (uint8_t *)soup->states.data, thin_of(soup)},
                    of_source = b;
    carom_bvh_space *no_space = nullptr;
    bool surveyed = arguments->positions != nullptr && !soup->def.doubles && count != 0;
    of_source.v.a.positions = arguments->positions;
    carom_device_step(device, "positions");
    carom_device_clear(device, op);
    if (arguments->positions == nullptr)
        (void)cudaMemsetAsync(soup->counts(), 0, 2 * sizeof(carom_device_count), device->stream);
    if (arguments->positions != nullptr && soup->def.doubles)
        carom_device_launch(device, soup_cuda_copy_positions<double>, grid, CAROM_TREE_SAMPLE,
                            (const double *)arguments->positions, (double *)soup->positions.data,
                            scalars, of_source, no_space, soup->counts(), op->counters);
    else if (arguments->positions != nullptr)
        carom_device_launch(device, soup_cuda_copy_positions<float>, grid, CAROM_TREE_SAMPLE,
                            (const float *)arguments->positions, (float *)soup->positions.data,
                            scalars, of_source, surveyed ? sort.space : no_space, soup->counts(),
                            op->counters);
    if (soup->def.doubles) launch_bounds(device, b.v, (box_frame *)soup->frame.data, op->counters);
    if (count == 0) return;
    carom_bvh_cuda_build(device, b, soup->tree, sort, surveyed);
    carom_device_step(device, "degenerate faces");
    carom_device_launch(device, soup_cuda_find_degenerate, RARE_BLOCKS, RARE_THREADS, b.v, b.thin,
                        b.states, alone_of(soup), &op->counters->n[SOUP_CUDA_N_FOUND]);
    if (soup->def.faces != nullptr)
        carom_device_launch(device, find_alone, RARE_BLOCKS, RARE_THREADS, b.v, b.thin,
                            alone_of(soup), &op->counters->n[SOUP_CUDA_N_FOUND]);
}

static carom_status soup_cuda_prepare_finish(carom_device *device, carom_device_op *op,
                                             const carom_device_counters *counters, bool *again) {
    carom_device_soup *soup = carom_device_arguments<soup_cuda_prepare_arguments>(op)->soup;
    *again = false;
    if (counters->n[SOUP_CUDA_N_NOT_FINITE] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "%llu coordinates of the new positions are not finite numbers",
                                 counters->n[SOUP_CUDA_N_NOT_FINITE]);
    soup->degenerate_faces = (uint32_t)counters->n[SOUP_CUDA_N_FOUND];
    return CAROM_OK;
}

static carom_status soup_cuda_submit_prepare(carom_device *device, carom_device_soup *soup,
                                             const void *positions, carom_device_owner owner) {
    carom_device_op op = {
        soup_cuda_prepare_reserve, soup_cuda_prepare_launch, soup_cuda_prepare_finish, nullptr, {}};
    *carom_device_arguments<soup_cuda_prepare_arguments>(&op) =
        soup_cuda_prepare_arguments{soup, positions, soup->def.vertex_count, soup->def.doubles};
    op.changes = soup;
    op.owner = owner;
    return carom_device_submit(device, &op);
}

static carom_status soup_create(carom_device *device, carom_device_soup **out) {
    *out = new (std::nothrow) carom_device_soup{};
    if (*out == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for a soup");
    return CAROM_OK;
}

static void soup_destroy(carom_device_soup *soup) {
    carom_device_block *blocks[] = {&soup->positions, &soup->corners,     &soup->faces,
                                    &soup->states,    &soup->items,       &soup->records,
                                    &soup->boxes,     &soup->thin,        &soup->alone,
                                    &soup->frame,     &soup->owners.block};
    for (carom_device_block *block : blocks) carom_device_release(block);
    delete soup;
}

static uint64_t soup_bytes(const carom_device_soup *soup) {
    return soup->positions.bytes + soup->corners.bytes + soup->faces.bytes + soup->states.bytes +
           soup->items.bytes + soup->records.bytes + soup->boxes.bytes + soup->thin.bytes +
           soup->alone.bytes + soup->frame.bytes + soup->owners.block.bytes;
}

/* Makes all arrays large enough. */
static carom_status reserve_soup(carom_device *device, carom_device_soup *soup) {
    const carom_device_soup_def *def = &soup->def;
    uint64_t count = def->triangle_count, scalar = def->doubles ? sizeof(double) : sizeof(float);
    uint64_t floats = carom_tree_shape(def->triangle_count, &soup->tree);
    const struct {
        carom_device_block *block;
        uint64_t bytes;
    } wanted[] = {
        {&soup->positions, 3 * scalar * def->vertex_count + 16},
        {&soup->corners, 3 * sizeof(uint32_t) * count + 16},
        {&soup->faces, def->faces != nullptr ? sizeof(uint32_t) * count : 0},
        {&soup->states, count + 1},
        {&soup->items, sizeof(uint32_t) * count + 16},
        {&soup->records, def->doubles ? 0 : 3 * sizeof(float4) * count + 16},
        {&soup->boxes, floats * sizeof(float)},
        {&soup->thin, sizeof(uint32_t) * count + 16},
        {&soup->alone, sizeof(uint32_t) * count + CAROM_DEVICE_ALLOCATION},
        {&soup->frame, sizeof(box_frame)},
    };
    for (const auto &array : wanted)
        CAROM_DEVICE_TRY(carom_device_reserve(device, array.block, array.bytes, "a soup"));
    soup->tree.items = (uint32_t *)soup->items.data;
    soup->tree.sides = nullptr;
    carom_bvh_cuda_tree_lay_out(&soup->tree, (float *)soup->boxes.data);
    return CAROM_OK;
}

static carom_status soup_cuda_upload(carom_device *device, const carom_device_block *block,
                                     const void *from, uint64_t bytes) {
    if (bytes == 0 || from == nullptr) return CAROM_OK;
    return carom_device_check(
        device, cudaMemcpyAsync(block->data, from, bytes, cudaMemcpyHostToDevice, device->stream),
        "copying a soup");
}

static uint64_t position_bytes(const carom_device_soup *soup) {
    uint64_t scalar = soup->def.doubles ? sizeof(double) : sizeof(float);
    return 3 * scalar * soup->def.vertex_count;
}

static carom_status soup_set(carom_device *device, carom_device_soup *soup,
                             const carom_device_soup_def *def) {
    uint64_t count = def->triangle_count;
    bool same = soup->def.corners == def->corners && soup->def.faces == def->faces;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    soup->def = *def;
    soup->owners.there = false;
    carom_device_outdate_frames(); /* kernels take sizes and addresses by value */
    CAROM_DEVICE_TRY(reserve_soup(device, soup));
    CAROM_DEVICE_TRY(
        soup_cuda_upload(device, &soup->positions, def->positions, position_bytes(soup)));
    if (!same) {
        CAROM_DEVICE_TRY(
            soup_cuda_upload(device, &soup->corners, def->corners, 3 * sizeof(uint32_t) * count));
        CAROM_DEVICE_TRY(
            soup_cuda_upload(device, &soup->faces, def->faces, sizeof(uint32_t) * count));
    }
    CAROM_DEVICE_TRY(soup_cuda_upload(device, &soup->states, def->states, count));
    CAROM_DEVICE_TRY(soup_cuda_submit_prepare(device, soup, nullptr, {}));
    return carom_device_finish(device);
}

static carom_status soup_update(carom_device *device, carom_device_soup *soup,
                                const void *positions, carom_device_owner owner) {
    return soup_cuda_submit_prepare(device, soup, positions, owner);
}

static carom_status soup_get_positions(carom_device *device, const carom_device_soup *soup,
                                       void *positions) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    return carom_device_copy(device, positions, soup->positions.data, position_bytes(soup),
                             cudaMemcpyDeviceToHost, "reading positions");
}

static uint32_t soup_degenerate_faces(const carom_device_soup *soup) {
    return soup->degenerate_faces;
}

carom_soup_cuda_arrays carom_soup_cuda_arrays_of(const carom_device_soup *soup) {
    static_assert(offsetof(box_frame, origin) == sizeof(double), "scale, then origin");
    const soup_cuda_side s = soup_cuda_side_of_soup(soup);
    return {s.positions,
            s.corners,
            s.faces,
            s.states,
            s.vertex_count,
            s.triangle_count,
            s.face_count,
            s.doubles,
            s.as_segments,
            s.doubles ? nullptr : (const float4 *)soup->records.data,
            s.doubles ? (const double *)soup->frame.data : nullptr,
            soup->tree};
}

/* ---- Searching ------------------------------------------------------------------------------- */

struct soup_cuda_search_arguments {
    carom_device_posed a, b; /* b.soup NULL: one soup */
    carom_device_method method;
    carom_cuda_order order;
    carom_cuda_pairs *pairs; /* NULL: count only */
    uint64_t *count;         /* on the host, may be NULL */
};

static bool is_cross(const soup_cuda_search_arguments *s) {
    return s->b.soup != nullptr;
}

/* Two polygons may meet in several triangles: their pairs have to be sorted to find duplicates. */
static bool has_repeats(const soup_cuda_search_arguments *s) {
    return s->a.soup->def.faces != nullptr || (is_cross(s) && s->b.soup->def.faces != nullptr);
}

static uint64_t triangles_of(const soup_cuda_search_arguments *s) {
    return (uint64_t)s->a.soup->def.triangle_count +
           (is_cross(s) ? s->b.soup->def.triangle_count : 0);
}

/* Whether pairs are put into order by faces while they are on the device. Others are appended to
 * the result at once: those that need no order, and those that are sorted there later. */
static bool by_faces(const soup_cuda_search_arguments *s) {
    return s->pairs != nullptr && s->order == CAROM_CUDA_ORDER_SORTED && !has_repeats(s);
}

/* Memory of the tree of two posed soups, in one block. */
struct cross_memory {
    carom_bvh_cuda_tree tree;
    box_frame *frame;
    float4 *records;
};

static uint64_t lay_out_cross(const soup_cuda_search_arguments *s, char *memory, cross_memory *m) {
    uint32_t count = (uint32_t)triangles_of(s);
    uint64_t at = CAROM_DEVICE_ALLOCATION;
    static_assert(sizeof(box_frame) <= CAROM_DEVICE_ALLOCATION, "the frame is one row");
    uint64_t floats = carom_tree_shape(count, &m->tree);
    m->frame = (box_frame *)memory;
    carom_bvh_cuda_tree_lay_out(&m->tree, (float *)(memory + at));
    at += carom_device_row(floats * sizeof(float));
    m->records = (float4 *)(memory + at);
    at += carom_device_row(3 * sizeof(float4) * (uint64_t)count);
    m->tree.items = (uint32_t *)(memory + at);
    at += carom_device_row(sizeof(uint32_t) * (uint64_t)count);
    m->tree.sides = (uint32_t *)(memory + at);
    return at + sizeof(uint32_t) * ((uint64_t)m->tree.entries[1] + CAROM_WARP);
}

static uint32_t first_faces(const soup_cuda_search_arguments *s) {
    return s->a.soup->def.face_count;
}

static carom_status soup_cuda_search_reserve(carom_device *device, carom_device_op *op) {
    soup_cuda_search_arguments *s = carom_device_arguments<soup_cuda_search_arguments>(op);
    uint64_t n = triangles_of(s);
    if (n > SOUP_MOST_TRIANGLES)
        return carom_device_fail(device, CAROM_TOO_LARGE,
                                 "the soups have %llu triangles together, too many to number",
                                 (unsigned long long)n);
    if (is_cross(s)) {
        cross_memory m = {};
        CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, (uint32_t)n));
        CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_SOUP_TREE,
                                                      lay_out_cross(s, nullptr, &m), "a search"));
    }
    if (s->method.by_grid)
        CAROM_DEVICE_TRY(carom_grid_reserve(device, (uint32_t)n, s->method.table));
    else
        CAROM_DEVICE_TRY(carom_tree_find_reserve(device, n / SOUP_TRIANGLES_PER_LEAF_PAIR));
    const struct {
        carom_device_scratch block;
        uint64_t entries;
    } lists[] = {{CAROM_SCRATCH_PAIRS_CANDIDATES, SOUP_CANDIDATES_PER_TRIANGLE * n},
                 {CAROM_SCRATCH_SOUP_OPEN, SOUP_OPEN_PER_TRIANGLE * n},
                 {CAROM_SCRATCH_SOUP_UNDECIDED, n / SOUP_TRIANGLES_PER_UNDECIDED}};
    for (const auto &list : lists)
        CAROM_DEVICE_TRY(carom_device_reserve_list(device, list.block,
                                                   list.entries + CAROM_DEVICE_LIST_ENTRIES,
                                                   sizeof(uint2), "a search"));
    if (s->pairs == nullptr) return CAROM_OK;
    return carom_pairs_reserve(device, s->pairs, n / SOUP_TRIANGLES_PER_FOUND, by_faces(s),
                               first_faces(s), &op->counters->n[SOUP_CUDA_N_FOUND]);
}

/* The view of a search, and its tree, which for two soups is queued to be built. */
static soup_cuda_view begin_search(carom_device *device, carom_device_op *op,
                                   carom_bvh_cuda_tree *tree, const float4 **records) {
    const soup_cuda_search_arguments *s = carom_device_arguments<soup_cuda_search_arguments>(op);
    soup_cuda_view v = view_of_soup(s->a.soup);
    *tree = s->a.soup->tree;
    *records = v.a.doubles ? nullptr : (const float4 *)s->a.soup->records.data;
    if (!is_cross(s)) return v;
    cross_memory m = {};
    uint64_t bytes = lay_out_cross(s, nullptr, &m);
    (void)lay_out_cross(s, carom_device_take<char>(device, CAROM_SCRATCH_SOUP_TREE, bytes), &m);
    v.cross = true;
    v.b = soup_cuda_side_of_soup(s->b.soup);
    v.a.moved = s->a.moved;
    v.a.frame = s->a.frame;
    v.b.moved = s->b.moved;
    v.b.frame = s->b.frame;
    bool floats = !v.a.doubles && !v.b.doubles && !v.a.moved && !v.b.moved;
    v.frame = floats ? nullptr : m.frame;
    if (!floats) launch_bounds(device, v, m.frame, op->counters);
    *tree = m.tree;
    *records = floats ? m.records : nullptr;
    soup_cuda_boxes b = {v, floats ? m.records : nullptr, nullptr, {}};
    if (m.tree.entries[0] != 0)
        carom_bvh_cuda_build(device, b, m.tree, carom_tree_sort_take(device, m.tree.entries[0]),
                             false);
    return v;
}

/* The boxes of a tree's items in their order, for a grid over them. */
struct boxes_in_order {
    carom_bvh_cuda_tree tree;

    __device__ carom_box box(uint32_t slot) const {
        return carom_tree_entry(tree.boxes[0], slot);
    }
    __device__ bool second(uint32_t slot) const {
        return (tree.sides[slot / CAROM_WARP] >> slot % CAROM_WARP & 1u) != 0;
    }
    __device__ bool paired(uint32_t a, uint32_t b) const {
        return tree.sides == nullptr || second(a) != second(b);
    }
};

/* Queues the search for pairs whose boxes overlap. */
static void soup_cuda_find_candidates(carom_device *device, carom_device_op *op,
                                      const carom_bvh_cuda_tree &tree,
                                      const carom_device_list<uint2> &candidates) {
    const soup_cuda_search_arguments *s = carom_device_arguments<soup_cuda_search_arguments>(op);
    if (s->method.by_grid)
        carom_grid_find(device, boxes_in_order{tree}, tree.entries[0], s->method.table,
                        s->method.lift, &op->counters->n[N_LEAF_PAIRS], candidates);
    else
        carom_tree_find(device, op, tree, N_LEAF_PAIRS, candidates);
}

static void soup_cuda_search_launch(carom_device *device, carom_device_op *op) {
    const soup_cuda_search_arguments *s = carom_device_arguments<soup_cuda_search_arguments>(op);
    carom_bvh_cuda_tree tree;
    const float4 *records;
    carom_found_pairs r = {{nullptr, 0, &op->counters->n[SOUP_CUDA_N_FOUND]}, nullptr};
    carom_device_clear(device, op);
    soup_cuda_view v = begin_search(device, op, &tree, &records);
    carom_device_list<uint2> candidates = carom_device_list_of<uint2>(
        device, CAROM_SCRATCH_PAIRS_CANDIDATES, op, SOUP_CUDA_N_CANDIDATES);
    carom_device_list<uint2> open =
        carom_device_list_of<uint2>(device, CAROM_SCRATCH_SOUP_OPEN, op, SOUP_CUDA_N_OPEN);
    carom_device_list<uint2> undecided = carom_device_list_of<uint2>(
        device, CAROM_SCRATCH_SOUP_UNDECIDED, op, SOUP_CUDA_N_UNDECIDED);
    if (s->pairs != nullptr)
        r = carom_found_pairs_of(device, op, s->pairs, by_faces(s), first_faces(s),
                                 SOUP_CUDA_N_FOUND);
    if (tree.entries[0] != 0) {
        soup_cuda_find_candidates(device, op, tree, candidates);
        if (records != nullptr) {
            carom_device_step(device, "floats");
            carom_device_launch(device, decide_in_floats,
                                carom_device_resident(device, decide_in_floats, SOUP_CUDA_THREADS),
                                SOUP_CUDA_THREADS, records, v.cross, candidates, open);
        }
        carom_device_step(device, "doubles");
        carom_device_launch(device, decide_in_doubles,
                            carom_device_resident(device, decide_in_doubles, SOUP_CUDA_THREADS),
                            SOUP_CUDA_THREADS, v, tree.items, records,
                            records != nullptr ? open : candidates, undecided, r);
        carom_device_step(device, "exact");
        carom_device_launch(device, decide_exactly, EXACT_BLOCKS * (unsigned)device->processors,
                            EXACT_THREADS, v, tree.items, records, undecided, alone_of(s->a.soup),
                            r);
    }
    if (by_faces(s))
        carom_pairs_sort(device, r, first_faces(s), s->pairs, &op->counters->n[SOUP_CUDA_N_LONG]);
}

static carom_status soup_cuda_search_finish(carom_device *device, carom_device_op *op,
                                            const carom_device_counters *counters, bool *again) {
    const soup_cuda_search_arguments *s = carom_device_arguments<soup_cuda_search_arguments>(op);
    const carom_device_count *n = counters->n;
    if (n[SOUP_CUDA_N_NOT_FINITE] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a pose moves %llu coordinates beyond the range of doubles",
                                 n[SOUP_CUDA_N_NOT_FINITE]);
    *again = s->method.by_grid ? carom_grid_grows(device, n[N_LEAF_PAIRS])
                               : carom_tree_find_grows(device, n[N_LEAF_PAIRS]);
    const struct {
        carom_device_scratch block;
        uint64_t entries;
    } lists[] = {{CAROM_SCRATCH_PAIRS_CANDIDATES, n[SOUP_CUDA_N_CANDIDATES]},
                 {CAROM_SCRATCH_SOUP_OPEN, n[SOUP_CUDA_N_OPEN]},
                 {CAROM_SCRATCH_SOUP_UNDECIDED, n[SOUP_CUDA_N_UNDECIDED]}};
    for (const auto &list : lists)
        *again = carom_device_list_grows(device, list.block, list.entries, sizeof(uint2)) || *again;
    if (s->pairs != nullptr) *again = carom_pairs_grow(device, n[SOUP_CUDA_N_FOUND]) || *again;
    if (*again) return CAROM_OK;
    uint64_t count = n[SOUP_CUDA_N_FOUND];
    bool floats = n[SOUP_CUDA_N_OPEN] != 0 || (!s->a.soup->def.doubles && !is_cross(s));
    device->steps.node_pairs = n[N_LEAF_PAIRS];
    device->steps.candidates = n[SOUP_CUDA_N_CANDIDATES];
    device->steps.open_in_floats = floats ? n[SOUP_CUDA_N_OPEN] : n[SOUP_CUDA_N_CANDIDATES];
    device->steps.open_in_doubles = n[SOUP_CUDA_N_UNDECIDED];
    if (s->pairs != nullptr && (has_repeats(s) || n[SOUP_CUDA_N_LONG] != 0))
        CAROM_DEVICE_TRY(carom_pairs_sort_now(device, s->pairs, &count));
    if (s->pairs != nullptr) CAROM_DEVICE_TRY(carom_device_end_pairs(device, s->pairs, count));
    if (s->count != nullptr) *s->count = count;
    return CAROM_OK;
}

static carom_status soup_search(carom_device *device, const carom_device_posed *a,
                                const carom_device_posed *b, const carom_device_method *method,
                                carom_cuda_order order, carom_cuda_pairs *pairs, uint64_t *count) {
    carom_device_op op = {
        soup_cuda_search_reserve, soup_cuda_search_launch, soup_cuda_search_finish, nullptr, {}};
    *carom_device_arguments<soup_cuda_search_arguments>(&op) = soup_cuda_search_arguments{
        *a, b != nullptr ? *b : carom_device_posed{}, *method, order, pairs, count};
    op.uses[0] = a->soup;
    op.uses[1] = b != nullptr ? b->soup : nullptr;
    return carom_device_submit(device, &op);
}

static carom_status soup_get_work(carom_device *device, carom_work *work) {
    *work = carom_work{device->steps.node_pairs, device->steps.candidates,
                       device->steps.open_in_doubles};
    return CAROM_OK;
}

#include "soup/soup_kfree_cuda.h"
#include "soup/soup_segments_cuda.h"
#include "soup/soup_within_cuda.h"

extern "C" __attribute__((visibility("default"))) const carom_cuda_soup carom_cuda_soup_6 = {
    soup_create,
    soup_destroy,
    soup_set,
    soup_update,
    soup_get_positions,
    soup_degenerate_faces,
    soup_bytes,
    soup_search,
    soup_get_work,
    soup_k_free,
    soup_within,
    soup_segments,
    soup_segments_on_device,
    soup_segments_free_device,
};
