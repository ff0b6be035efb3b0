/* SPDX-License-Identifier: MIT */
/* The nearest face of each point on the GPU: the steps of soup_batch_cuda.h, with the decisions of
 * soup_points.c.
 *
 * The nearest face is that of the triangle of lowest index among those at exactly the least
 * distance. Floats give the triangles that may be it; these are compared in the order of their
 * indices, so that only "not farther" has to be decided: by a common edge or corner that holds the
 * nearest point, by distances in doubles with their error, or by differences of distances; then in
 * integers. */
#include "bvh/bvh_group_cuda.h"
#include "bvh/bvh_nearest_item.h"
#include "geom/nearer_exact_item.h"
#include "geom/nearer_item.h"
#include "soup/soup_batch_cuda.h"
#include "soup/soup_points_device.h"
#include "soup/soup_points_item.h"
#include "soup/soup_rays_cuda.h"

/* A triangle of a point that doubles leave open. */
struct points_open {
    uint32_t query, item, face;
    carom_vec3 point;
    carom_triangle triangle;
};

typedef carom_batch_view<carom_vec3, carom_hit> points_view;

/* ---- Order ----------------------------------------------------------------------------------- */

/* A point for the step in floats; false: it is too far away, or not finite. */
static __device__ inline bool points_in_floats(const points_view &v, carom_vec3 point,
                                               carom_bvh8_point *q) {
    const carom_bvh8_frame &frame = *v.tree.frame;
    double at[3], largest = 0.0;
    carom_batch_to_frame(frame, point, at);
    for (int k = 0; k < 3; ++k) q->at[k] = q->rest[k] = 0.0f;
    for (int k = 0; k < 3; ++k) {
        at[k] *= frame.unit;
        q->at[k] = (float)at[k];
        q->rest[k] = (float)(at[k] - (double)q->at[k]);
        largest = CAROM_MAX(fabs(at[k]), largest);
        if (!(fabs(at[k]) <= CAROM_BVH8_FARTHEST)) return false;
    }
    q->margin = CAROM_BVH8_GAP_ERROR * (1.0f + (float)largest);
    q->error = CAROM_BVH8_POSITION_ERROR * (1.0f + (float)largest) +
               (v.soup.doubles ? CAROM_BVH8_RECORD_ERROR : 0.0f);
    return true;
}

static __global__ void __launch_bounds__(CAROM_BATCH_THREADS)
    points_make_keys(points_view v, uint64_t first, uint32_t count, uint32_t *keys,
                     uint32_t *numbers, carom_device_counters *counters) {
    carom_device_begin();
    uint32_t i = blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    if (i >= count) return;
    carom_vec3 point = v.in[first + i];
    carom_bvh8_point q;
    if (!carom_vec_finite(point)) atomicAdd(&counters->n[CAROM_BATCH_N_BAD], 1ull); /* rare */
    keys[i] = points_in_floats(v, point, &q)
                  ? carom_tree_hilbert(carom_batch_cell(q.at[0]), carom_batch_cell(q.at[1]),
                                       carom_batch_cell(q.at[2]))
                  : 0;
    numbers[i] = i;
}

/* ---- Floats ---------------------------------------------------------------------------------- */

/* Points that lie near each other, 32 to a warp, are searched for together, others by a thread
 * each. */
static __global__ void __launch_bounds__(CAROM_BATCH_THREADS)
    points_find(points_view v, uint64_t first, uint32_t count, const uint32_t *order,
                carom_batch_found found) {
    carom_device_begin();
    __shared__ carom_group_way ways[CAROM_BATCH_THREADS / CAROM_WARP];
    uint32_t i = blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    carom_bvh8_found nearest;
    carom_group_search group = {v.soup.tree, v.tree};
    const carom_bvh8_frame &frame = *v.tree.frame;
    nearest.count = 0;
    group.unit = (float)frame.unit;
    group.there =
        i < count && frame.usable != 0 && points_in_floats(v, v.in[first + order[i]], &group.q);
    bool good = group.there;
    if (frame.usable != 0 && group.begin() <= CAROM_GROUP_LEAVES * frame.leaf) {
        group.run(ways[threadIdx.x / CAROM_WARP], nearest);
        good = good && !group.full;
    } else if (good) {
        good = carom_bvh8_find_nearest(v.tree, group.q, nearest);
    }
    if (i >= count) return;
    found.counts[i] = good ? nearest.count : CAROM_BVH8_MORE;
    for (unsigned k = 0; good && k < nearest.count; ++k)
        found.slots[CAROM_BVH8_CANDIDATES * (uint64_t)i + k] = nearest.slot[k];
}

/* ---- Doubles --------------------------------------------------------------------------------- */

/* Distances are compared in the frame of the boxes. */
struct points_errors {
    double scale, error;
    double at[3], margin; /* of the search by warps */
};

static __device__ inline points_errors points_errors_of(const carom_bvh8_frame &frame,
                                                        carom_vec3 point) {
    points_errors e;
    double size = frame.reach;
    carom_batch_to_frame(frame, point, e.at);
    for (int k = 0; k < 3; ++k) size = CAROM_MAX(fabs(e.at[k]), size);
    e.scale = frame.scale;
    e.margin = CAROM_BVH_QUERY_MARGIN * size;
    e.error = carom_points_error(size, frame.scale);
    if (!(size <= CAROM_POINTS_BOX_DISTANCE_LIMIT)) { /* every box may have the nearest face */
        for (int k = 0; k < 3; ++k) e.at[k] = 0.0;
        e.margin = CAROM_POINTS_BOX_DISTANCE_LIMIT;
        e.error = HUGE_VAL;
    }
    return e;
}

/* A triangle, measured when that is needed. */
struct points_candidate {
    carom_triangle triangle;
    carom_closest closest;
    uint32_t item, slot;
    bool measured;

    __device__ void load(const points_view &v, uint32_t at, uint32_t item_at) {
        slot = at;
        item = item_at;
        triangle = carom_soup_cuda_slot(v.soup, at, item_at);
        measured = false;
    }
    __device__ void measure(carom_vec3 point) {
        if (!measured) carom_near_point_triangle(point, triangle.corner, &closest);
        measured = true;
    }
};

/* Whether a, which has the lower index, is at most as far as b; may be CAROM_UNDECIDED. */
static __device__ inline int points_not_farther(carom_vec3 point, const points_errors &e,
                                                points_candidate &a, points_candidate &b) {
    if (carom_nearer_nearest_common(point, &a.triangle, &b.triangle)) return CAROM_YES;
    a.measure(point);
    b.measure(point);
    double of_a = a.closest.distance * e.scale, of_b = b.closest.distance * e.scale;
    if (of_b > of_a + e.error) return CAROM_YES;
    if (of_a > of_b + e.error) return CAROM_NO;
    if (carom_nearer_surely_nearer(point, &a.triangle, &b.triangle)) return CAROM_YES;
    return carom_nearer_surely_nearer(point, &b.triangle, &a.triangle) ? CAROM_NO : CAROM_UNDECIDED;
}

/* Sorts candidates by index: there are few. */
static __device__ inline void points_sort_candidates(uint32_t *slots, uint32_t *items,
                                                     unsigned count) {
    for (unsigned i = 1; i < count; ++i) {
        uint32_t slot = slots[i], item = items[i];
        unsigned at = i;
        for (; at > 0 && items[at - 1] > item; --at) {
            items[at] = items[at - 1];
            slots[at] = slots[at - 1];
        }
        items[at] = item;
        slots[at] = slot;
    }
}

static __global__ void __launch_bounds__(CAROM_BATCH_THREADS)
    points_decide(points_view v, uint64_t first, uint32_t count, const uint32_t *order,
                  carom_batch_found found, carom_device_list<uint32_t> left) {
    carom_device_begin();
    uint32_t i = blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    if (i >= count) return;
    const carom_batch_query query = carom_batch_query_of(found, order, first, i);
    carom_vec3 point = v.in[query.index];
    if (query.candidates == CAROM_BVH8_MORE) {
        left.append((uint32_t)query.index);
        return;
    }
    if (query.candidates == 0) {
        v.out[query.index] = carom_points_none(point);
        return;
    }
    uint32_t slots[CAROM_BVH8_CANDIDATES], items[CAROM_BVH8_CANDIDATES];
    for (unsigned k = 0; k < query.candidates; ++k) {
        slots[k] = query.slots[k];
        items[k] = carom_batch_item(v.tree, slots[k]);
    }
    points_sort_candidates(slots, items, query.candidates);
    points_errors e = points_errors_of(*v.tree.frame, point);
    points_candidate best, next;
    best.load(v, slots[0], items[0]);
    for (unsigned k = 1; k < query.candidates; ++k) {
        next.load(v, slots[k], items[k]);
        int verdict = points_not_farther(point, e, best, next);
        if (verdict == CAROM_UNDECIDED) {
            left.append((uint32_t)query.index);
            return;
        }
        if (verdict == CAROM_NO) best = next;
    }
    best.measure(point);
    v.out[query.index] =
        carom_points_hit(point, &best.triangle, carom_batch_face(v.tree, best.slot), &best.closest);
}

/* ---- A warp per point ------------------------------------------------------------------------ */

/* Decisions in integers per lane and point. A point needs one or two, the centre of a sphere one
 * per triangle: so many take seconds on one warp, and milliseconds on the host. */
#define POINTS_INTEGER_DECISIONS 4u

/* The search of carom_batch_walk: first for the least distance, then for the nearest triangle of
 * each lane. With EXACT what doubles leave open is decided in integers; where these do not fit, or
 * too much is open, a third search lists all triangles that may be the nearest. */
template <bool EXACT> struct points_search {
    const points_view *v;
    carom_vec3 point;
    points_errors e;
    double least, square;      /* of all distances; what squared bounds are compared with */
    uint32_t query, decisions; /* in integers, of this lane */
    bool any, found, open;     /* any triangle; one of this lane; one that is undecided */
    int pass;
    points_candidate best;
    carom_device_list<points_open> list;

    __device__ double bound(const carom_box &box) const {
        double square_of_gap = 0.0;
        for (int k = 0; k < 3; ++k) {
            double below = (double)box.low[k] - e.at[k], above = e.at[k] - (double)box.high[k];
            double gap = CAROM_MAX(below, above) - e.margin;
            gap = CAROM_MAX(gap, 0.0);
            square_of_gap += gap * gap;
        }
        return box.low[0] <= box.high[0] ? square_of_gap : HUGE_VAL;
    }
    __device__ bool within(double bound_of_box) const {
        return bound_of_box <= square;
    }
    __device__ void limit() {
        double most = least + e.error;
        square = carom_nearest_square(most <= CAROM_POINTS_BOX_DISTANCE_LIMIT ? most : HUGE_VAL);
    }

    __device__ void visit(bool there, uint32_t slot) {
        uint32_t item = there ? v->soup.tree.items[slot] : 0;
        double distance = HUGE_VAL;
        points_candidate next;
        there = there && carom_soup_cuda_searched(v->soup, item);
        if (there) {
            next.load(*v, slot, item);
            next.measure(point);
            distance = next.closest.distance * e.scale;
        }
        if (pass == 0) {
            any = __any_sync(~0u, there) || any;
            distance = carom_warp_least(distance);
            least = distance < least ? distance : least;
            limit();
            return;
        }
        there = there && !(distance > least + e.error);
        if (there && pass == 1) fold(next);
        if (there && pass == 2) {
            points_open entry;
            entry.query = query;
            entry.item = item;
            entry.face = carom_soup_cuda_face(v->soup, item);
            entry.point = point;
            entry.triangle = next.triangle;
            list.append(entry);
        }
    }

    __device__ int not_farther(points_candidate &a, points_candidate &b) {
        int verdict = points_not_farther(point, e, a, b);
        if (!EXACT || verdict != CAROM_UNDECIDED || open || decisions == POINTS_INTEGER_DECISIONS ||
            !carom_nearer_fits(point, &a.triangle, &b.triangle))
            return verdict;
        ++decisions;
        return carom_not_farther_in_integers(point, &a.triangle, &b.triangle) ? CAROM_YES
                                                                              : CAROM_NO;
    }

    /* Keeps the nearer one. */
    __device__ void fold(points_candidate &next) {
        bool lower = found && best.item < next.item;
        int verdict = CAROM_NO;
        if (found) verdict = lower ? not_farther(best, next) : not_farther(next, best);
        if (found && verdict == CAROM_UNDECIDED) {
            open = true;
            return;
        }
        if (!found || lower == (verdict == CAROM_NO)) best = next;
        found = true;
    }
};

/* The best triangles of all lanes become that of lane 0. */
template <bool EXACT> static __device__ void points_fold_lanes(points_search<EXACT> &s) {
    for (unsigned lane = 1; lane < CAROM_WARP; ++lane) {
        bool found = __shfl_sync(~0u, s.found, lane);
        uint32_t slot = __shfl_sync(~0u, s.best.slot, lane);
        uint32_t item = __shfl_sync(~0u, s.best.item, lane);
        if (!found || threadIdx.x % CAROM_WARP != 0) continue;
        points_candidate next;
        next.load(*s.v, slot, item);
        next.measure(s.point);
        s.fold(next);
    }
    __syncwarp();
}

/* Searches for one point; false: its nearest triangle is left open. All lanes of a warp call it. */
template <bool EXACT>
static __device__ bool points_search_one(const points_view &v, uint32_t query, carom_batch_way &way,
                                         points_search<EXACT> &s) {
    s.v = &v;
    s.query = query;
    s.decisions = 0;
    s.point = v.in[query];
    s.e = points_errors_of(*v.tree.frame, s.point);
    s.least = HUGE_VAL;
    s.any = s.found = s.open = false;
    s.best.slot = s.best.item = 0;
    if (!carom_vec_finite(s.point)) return true; /* finish fails */
    s.limit();
    for (s.pass = 0; s.pass < 2; ++s.pass) {
        carom_batch_walk(v.soup.tree, way, s);
        __syncwarp();
    }
    if (!__any_sync(~0u, s.open)) points_fold_lanes(s);
    if (__any_sync(~0u, s.open)) return false;
    if (threadIdx.x % CAROM_WARP == 0)
        v.out[query] =
            s.any ? carom_points_hit(s.point, &s.best.triangle,
                                     carom_soup_cuda_face(v.soup, s.best.item), &s.best.closest)
                  : carom_points_none(s.point);
    return true;
}

/* In doubles; `open` gets the points that these leave open. */
static __global__ void __launch_bounds__(CAROM_BATCH_SEARCHERS)
    points_search_left(points_view v, carom_device_list<uint32_t> left,
                       carom_device_list<uint32_t> open) {
    carom_device_begin();
    __shared__ carom_batch_way ways[CAROM_BATCH_WARPS];
    unsigned warp = threadIdx.x / CAROM_WARP;
    uint64_t count = left.stored(), stride = (uint64_t)gridDim.x * CAROM_BATCH_WARPS;
    for (uint64_t i = (uint64_t)blockIdx.x * CAROM_BATCH_WARPS + warp; i < count; i += stride) {
        points_search<false> s;
        if (!points_search_one(v, left.data[i], ways[warp], s) && threadIdx.x % CAROM_WARP == 0)
            open.append(left.data[i]);
    }
}

/* In integers; `list` gets the triangles of points for which these are too long. */
static __global__ void __launch_bounds__(CAROM_BATCH_SEARCHERS, CAROM_BATCH_EXACT_BLOCKS)
    points_search_open(points_view v, carom_device_list<uint32_t> open,
                       carom_device_list<points_open> list) {
    carom_device_begin();
    __shared__ carom_batch_way ways[CAROM_BATCH_WARPS];
    unsigned warp = threadIdx.x / CAROM_WARP;
    uint64_t count = open.stored(), stride = (uint64_t)gridDim.x * CAROM_BATCH_WARPS;
    for (uint64_t i = (uint64_t)blockIdx.x * CAROM_BATCH_WARPS + warp; i < count; i += stride) {
        points_search<true> s;
        s.list = list;
        if (points_search_one(v, open.data[i], ways[warp], s)) continue;
        s.pass = 2;
        carom_batch_walk(v.soup.tree, ways[warp], s);
        __syncwarp();
    }
}

/* ---- Queueing -------------------------------------------------------------------------------- */

/* The nearest of the triangles of one point, in the order of their indices. */
static carom_hit points_decide_exactly(const points_open *entries, uint64_t count,
                                       carom_not_farther_fn *not_farther) {
    const points_open *best = entries;
    for (const points_open *next = entries + 1; next < entries + count; ++next)
        if (!not_farther(best->point, &best->triangle, &next->triangle)) best = next;
    carom_closest closest;
    carom_near_point_triangle(best->point, best->triangle.corner, &closest);
    return carom_points_hit(best->point, &best->triangle, best->face, &closest);
}

struct points_kind {
    typedef carom_vec3 input;
    typedef carom_hit result;
    typedef points_open open;
    typedef carom_not_farther_fn decide_fn;
    static constexpr const char *name = "points";
    static constexpr const char *bad = "are not finite: leave them out or mend them";
    static constexpr auto keys = points_make_keys;
    static constexpr auto find = points_find;
    static constexpr auto decide = points_decide;
    static constexpr auto search = points_search_left;
    static constexpr auto search_exactly = points_search_open;
    static constexpr auto decide_exactly = points_decide_exactly;
};

static carom_status points_closest(carom_device *device, const carom_device_soup *soup,
                                   const carom_vec3 *points, uint64_t count, carom_hit *hits,
                                   carom_not_farther_fn *not_farther) {
    return carom_batch_submit<points_kind>(device, soup, points, count, hits, not_farther);
}

static carom_status points_closest_of_host(carom_device *device, const carom_device_soup *soup,
                                           const carom_vec3 *points, uint64_t count,
                                           carom_hit *hits, carom_not_farther_fn *not_farther,
                                           uint64_t *on_host) {
    return carom_batch_of_host<points_kind>(device, soup, points, count, hits, not_farther,
                                            on_host);
}

#include "soup/soup_signs_cuda.h"

extern "C" __attribute__((visibility("default"))) const carom_cuda_points carom_cuda_points_4 = {
    points_closest,   points_closest_of_host,   carom_rays_cast,  carom_rays_cast_of_host,
    points_winding,   points_winding_of_host,   points_signed,    points_signed_of_host,
    points_fractions, points_fractions_of_host, carom_rays_query, carom_rays_query_of_host,
    carom_rays_free,
};
