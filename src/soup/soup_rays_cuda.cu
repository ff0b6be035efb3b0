/* SPDX-License-Identifier: MIT */
/* The first face that each ray meets on the GPU: the steps of soup_batch_cuda.h, with the decisions
 * of soup_rays.c; all faces: soup_rays_all_cuda.h.
 *
 * Every triangle has bounds of where the ray meets it. The first one is certain where its upper
 * bound is below all lower bounds of the others, those that may be missed included. Ties and what
 * doubles leave open, as a ray through an edge, are decided in integers. */
#include "soup/soup_rays_cuda.h"

#include "soup/soup_batch_cuda.h"
#include "soup/soup_rays_item.h"

typedef carom_batch_view<carom_ray, carom_hit> rays_view;
typedef carom_device_ray_open rays_open;

/* Rays whose start is farther away, in edges of the cube, miss it: their largest component moves
 * them past it. */
#define RAYS_FARTHEST 2048.0
/* The cube of the view in floats, a little more than CAROM_BVH8_CUBE. */
#define RAYS_OUTSIDE 1.07
/* Relative error of the place where the ray enters the cube, in doubles: some roundings of 2^-53 of
 * the start and the way from there; as an advance. */
#define RAYS_ENTRY_ERROR 0x1p-40

/* Blocks per processor in floats: more than registers would allow, as most of the time is spent
 * waiting for nodes. */
#define RAYS_BLOCKS 8u

/* ---- Order ----------------------------------------------------------------------------------- */

/* The frame of boxes, or with `unit` the unit frame. */
static __device__ inline carom_ray_frame rays_frame(const carom_bvh8_frame &frame, double unit) {
    carom_ray_frame f;
    f.scale = frame.scale * unit;
    for (int k = 0; k < 3; ++k) f.shift[k] = frame.origin[k] * unit;
    f.reach = frame.reach * unit;
    return f;
}

enum { RAYS_MISS, RAYS_SEEN, RAYS_UNSEEN };

/* A ray for the step in floats; RAYS_UNSEEN: it needs doubles. */
static __device__ inline int rays_in_floats(const rays_view &v, const carom_ray &ray,
                                            carom_bvh8_ray *r) {
    const carom_bvh8_frame &wide = *v.tree.frame;
    carom_ray_frame frame = rays_frame(wide, wide.unit);
    carom_ray_view view;
    carom_ray_begin(ray.origin, ray.direction, ray.length, &frame, &view);
    if (view.misses) return RAYS_MISS;
    if (wide.usable == 0 || !(view.error < RAYS_ENTRY_ERROR)) return RAYS_UNSEEN;
    double entry = 0.0;
    for (int k = 0; k < 3; ++k) {
        double apart = fabs(view.start[k]) - CAROM_BVH8_CUBE, d = view.unit_direction[k];
        if (!(apart > 0.0)) continue;
        if (d == 0.0 || (d > 0.0) == (view.start[k] > 0.0)) return RAYS_MISS;
        entry = CAROM_MAX(apart / fabs(d), entry);
    }
    if (!(entry < RAYS_FARTHEST)) return RAYS_MISS;
    for (int k = 0; k < 3; ++k) {
        double at = view.start[k] + entry * view.unit_direction[k];
        if (!(fabs(at) < RAYS_OUTSIDE)) return RAYS_MISS;
        r->start[k] = (float)at;
        r->direction[k] = (float)view.unit_direction[k];
        r->axis[k] = view.axis[k];
    }
    r->end = __double2float_ru((view.limit_high - entry) + RAYS_ENTRY_ERROR);
    r->end_low = __double2float_rd((view.limit_low - entry) - RAYS_ENTRY_ERROR);
    if (r->end < 0.0f) return RAYS_MISS;
    return RAYS_SEEN;
}

/* Five bits of each of three coordinates from -1 to 1, in turns. */
static __device__ inline uint32_t rays_cell(const float *at) {
    uint32_t key = 0;
    for (int k = 0; k < 3; ++k) {
        uint32_t cell = carom_batch_cell(at[k]) / (CAROM_BVH_CELLS / 32u);
        key |= carom_tree_spread(cell) << (2 - k);
    }
    return key;
}

/* By where they enter, then by direction: rays of one eye, which lies outside, by where they enter
 * and then as they come. */
static __global__ void __launch_bounds__(CAROM_BATCH_THREADS)
    rays_make_keys(rays_view v, uint64_t first, uint32_t count, uint32_t *keys, uint32_t *numbers,
                   carom_device_counters *counters) {
    carom_device_begin();
    uint32_t i = blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    if (i >= count) return;
    carom_ray ray = v.in[first + i];
    carom_bvh8_ray r;
    numbers[i] = i;
    keys[i] = 0;
    if (!carom_ray_good(&ray)) {
        atomicAdd(&counters->n[CAROM_BATCH_N_BAD], 1ull); /* rare */
        return;
    }
    if (rays_in_floats(v, ray, &r) == RAYS_SEEN)
        keys[i] = rays_cell(r.start) << 15 | rays_cell(r.direction);
}

/* ---- Floats ---------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(CAROM_BATCH_THREADS, RAYS_BLOCKS)
    rays_find(rays_view v, uint64_t first, uint32_t count, const uint32_t *order,
              carom_batch_found found) {
    carom_device_begin();
    uint32_t i = blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    if (i >= count) return;
    carom_ray ray = v.in[first + order[i]];
    carom_bvh8_ray r;
    carom_bvh8_found f;
    f.count = 0;
    int seen = carom_ray_good(&ray) ? rays_in_floats(v, ray, &r) : RAYS_MISS;
    if (seen == RAYS_SEEN) {
        carom_bvh8_ray_begin(&r);
        if (!carom_bvh8_find_first(v.tree, r, f)) seen = RAYS_UNSEEN;
    }
    found.counts[i] = seen == RAYS_UNSEEN ? CAROM_BVH8_MORE : f.count;
    for (unsigned k = 0; seen == RAYS_SEEN && k < f.count; ++k)
        found.slots[CAROM_BVH8_CANDIDATES * (uint64_t)i + k] = f.slot[k];
}

/* ---- Doubles --------------------------------------------------------------------------------- */

/* The first of all triangles so far. */
struct rays_first {
    carom_ray_hit hit; /* of the certain one with the least upper bound */
    double rival;      /* the least lower bound of all others that are not certain to be missed */
    uint32_t item;     /* CAROM_NONE: no certain one */

    __device__ void clear() {
        item = CAROM_NONE;
        rival = HUGE_VAL;
        hit.low = hit.high = HUGE_VAL;
    }
    __device__ void offer(int verdict, const carom_ray_hit &other, uint32_t other_item) {
        if (verdict == CAROM_NO) return;
        if (verdict == CAROM_YES && other.high < hit.high) {
            if (item != CAROM_NONE) rival = CAROM_MIN(hit.low, rival);
            hit = other;
            item = other_item;
        } else {
            rival = CAROM_MIN(other.low, rival);
        }
    }
    __device__ bool open() const {
        return rival < HUGE_VAL && rival <= hit.high;
    }
};

/* Whether the ray meets a triangle within its length; may be CAROM_UNDECIDED. */
static __device__ inline int rays_meet(const carom_ray_view &view, const carom_triangle &t,
                                       carom_ray_hit *hit) {
    int verdict = carom_ray_filter(&view, t.corner, hit);
    if (verdict == CAROM_NO) return CAROM_NO;
    int within = carom_ray_within_filter(&view, hit);
    return verdict == CAROM_UNDECIDED && within == CAROM_YES ? CAROM_UNDECIDED : within;
}

/* The normal of the face of a triangle, of any length. */
static __device__ carom_vec3 rays_normal(const carom_soup_cuda_arrays &soup, uint32_t item) {
    carom_vec3 best = carom_vec(0.0, 0.0, 0.0);
    uint32_t face = carom_soup_cuda_face(soup, item), i = item;
    if (soup.faces != nullptr)
        while (i > 0 && soup.faces[i - 1] == face) --i;
    do {
        carom_triangle t = carom_soup_cuda_triangle(soup, i);
        best = carom_rays_better_normal(best, &t);
    } while (++i < soup.triangle_count && soup.faces != nullptr && soup.faces[i] == face);
    return best;
}

/* Writes the result for the first triangle; false: doubles do not decide how it rounds. */
static __device__ inline bool rays_answer(const rays_view &v, const carom_ray_view &view,
                                          const carom_ray &ray, const rays_first &first,
                                          carom_hit *to) {
    if (first.item == CAROM_NONE) {
        *to = carom_rays_miss(&ray);
        return true;
    }
    double t;
    carom_vec3 point;
    if (!carom_ray_answer_fast(&view, &first.hit, &t, &point)) return false;
    carom_hit hit = carom_rays_hit(&ray, carom_soup_cuda_face(v.soup, first.item),
                                   rays_normal(v.soup, first.item));
    hit.distance = t;
    hit.point = point;
    *to = hit;
    return true;
}

static __global__ void __launch_bounds__(CAROM_BATCH_THREADS)
    rays_decide(rays_view v, uint64_t first, uint32_t count, const uint32_t *order,
                carom_batch_found found, carom_device_list<uint32_t> left) {
    carom_device_begin();
    uint32_t i = blockIdx.x * CAROM_BATCH_THREADS + threadIdx.x;
    if (i >= count) return;
    const carom_batch_query query = carom_batch_query_of(found, order, first, i);
    carom_ray ray = v.in[query.index];
    if (query.candidates == CAROM_BVH8_MORE) {
        left.append((uint32_t)query.index);
        return;
    }
    carom_ray_view view;
    carom_ray_hit hit;
    rays_first best;
    best.clear();
    if (query.candidates != 0) {
        carom_ray_frame frame = rays_frame(*v.tree.frame, 1.0);
        carom_ray_begin(ray.origin, ray.direction, ray.length, &frame, &view);
    }
    for (unsigned k = 0; k < query.candidates && !view.misses; ++k) {
        uint32_t slot = query.slots[k];
        uint32_t item = carom_batch_item(v.tree, slot);
        int verdict = rays_meet(view, carom_soup_cuda_slot(v.soup, slot, item), &hit);
        best.offer(verdict, hit, item);
    }
    if (best.open() || !rays_answer(v, view, ray, best, &v.out[query.index]))
        left.append((uint32_t)query.index);
}

/* ---- A warp per ray -------------------------------------------------------------------------- */

/* Where a ray enters a box, if it does up to `end`; else infinite. */
static __device__ inline double rays_bound(const carom_bvh_slabs &slabs, double end,
                                           const carom_box &box) {
    double first = 0.0, last = end;
    for (int k = 0; k < 3; ++k) {
        double near = (double)(slabs.backward[k] ? box.high[k] : box.low[k]);
        double far = (double)(slabs.backward[k] ? box.low[k] : box.high[k]);
        double in = (near - slabs.enter[k]) * slabs.inverse[k];
        double out = (far - slabs.leave[k]) * slabs.inverse[k] * (1.0 + CAROM_RAY_LEAVE_MARGIN);
        first = CAROM_MAX(in, first);
        last = CAROM_MIN(out, last);
    }
    return box.low[0] <= box.high[0] && first <= last ? first : HUGE_VAL;
}

/* What the host needs to decide whether a ray meets a triangle, and where. */
static __device__ inline rays_open rays_open_entry(const rays_view &v, const carom_ray_view &view,
                                                   const carom_ray &ray, uint32_t query,
                                                   uint32_t item, const carom_triangle &triangle) {
    rays_open entry;
    entry.query = query;
    entry.item = item;
    entry.face = carom_soup_cuda_face(v.soup, item);
    entry.ray = ray;
    entry.frame = view.frame;
    entry.normal = rays_normal(v.soup, item);
    entry.triangle = triangle;
    return entry;
}

/* The first of all triangles so far, in integers where doubles do not decide. */
struct rays_exact {
    carom_ray_hit hit;
    uint32_t item, face; /* item CAROM_NONE: none so far */
    bool open;           /* integers on the device are too short for a triangle */

    __device__ void clear() {
        item = face = CAROM_NONE;
        open = false;
    }
    __device__ void offer(const rays_view &v, const carom_ray_view &view, const carom_ray &ray,
                          const carom_triangle &t, uint32_t other) {
        carom_ray_hit met;
        if (!carom_ray_fits(&ray, &t)) {
            open = true;
            return;
        }
        if (!carom_ray_meet(&view, t.corner, &met) || !carom_ray_within(&view, &met)) return;
        uint32_t other_face = carom_soup_cuda_face(v.soup, other);
        int order = item == CAROM_NONE ? -1 : carom_ray_compare(&view, &met, &hit);
        if (order > 0 || (order == 0 && other_face >= face)) return;
        hit = met;
        item = other;
        face = other_face;
    }
};

/* The search of carom_batch_walk: first for the least upper bound of a certain triangle, then for
 * the first triangle of each lane; with EXACT what doubles leave open is decided in integers. Where
 * these are too short, a third search lists all triangles that may be the first. */
template <bool EXACT> struct rays_search {
    const rays_view *v;
    carom_ray ray;
    carom_ray_view view;
    carom_bvh_slabs slabs;
    double margin, least, end; /* the least upper bound; how far to search */
    uint32_t query;
    int pass;
    rays_first best;
    rays_exact first; /* with EXACT */
    carom_device_list<rays_open> list;

    __device__ double bound(const carom_box &box) const {
        return rays_bound(slabs, end, box);
    }
    __device__ bool within(double entered) const {
        return entered <= end;
    }
    __device__ void limit() {
        end = carom_bvh_ray_limit(CAROM_MIN(least, view.limit_high), margin);
    }

    __device__ void visit(bool there, uint32_t slot) {
        uint32_t item = there ? v->soup.tree.items[slot] : 0;
        carom_ray_hit hit;
        carom_triangle triangle;
        int verdict = CAROM_NO;
        if (there && carom_soup_cuda_searched(v->soup, item)) {
            triangle = carom_soup_cuda_slot(v->soup, slot, item);
            verdict = rays_meet(view, triangle, &hit);
        }
        if (pass == 0) {
            double high = carom_warp_least(verdict == CAROM_YES ? hit.high : HUGE_VAL);
            least = CAROM_MIN(high, least);
            limit();
        } else if (pass == 1) {
            if constexpr (!EXACT)
                best.offer(verdict, hit, item);
            else if (verdict != CAROM_NO && hit.low <= least)
                first.offer(*v, view, ray, triangle, item);
        } else if (verdict != CAROM_NO && hit.low <= least) {
            list.append(rays_open_entry(*v, view, ray, query, item, triangle));
        }
    }
};

/* Whether the best triangles of all lanes leave the first one open; its lane, if there is one, has
 * the least upper bound. */
static __device__ bool rays_join_lanes(const rays_first &best, unsigned *first_lane) {
    double high = best.hit.high, least = carom_warp_least(high);
    unsigned lane = threadIdx.x % CAROM_WARP;
    *first_lane = (unsigned)__ffs((int)__ballot_sync(~0u, high == least)) - 1u;
    double rival = best.rival;
    if (lane != *first_lane && best.item != CAROM_NONE) rival = CAROM_MIN(best.hit.low, rival);
    rival = carom_warp_least(rival);
    return rival < HUGE_VAL && rival <= least;
}

/* The same in integers: lane 0 gets the first triangle of all lanes. */
static __device__ bool rays_join_exactly(rays_search<true> &s) {
    for (unsigned lane = 1; lane < CAROM_WARP; ++lane) {
        uint32_t item = __shfl_sync(~0u, s.first.item, lane);
        if (item == CAROM_NONE || threadIdx.x % CAROM_WARP != 0) continue;
        s.first.offer(*s.v, s.view, s.ray, carom_soup_cuda_triangle(s.v->soup, item), item);
    }
    return __any_sync(~0u, s.first.open) != 0;
}

/* Searches for one ray; false: it is not good, and finish fails. All lanes of a warp call it. */
template <bool EXACT>
static __device__ bool rays_search_one(const rays_view &v, uint32_t query, carom_batch_way &way,
                                       rays_search<EXACT> &s) {
    s.v = &v;
    s.query = query;
    s.ray = v.in[query];
    if (!carom_ray_good(&s.ray)) return false;
    carom_ray_frame frame = rays_frame(*v.tree.frame, 1.0);
    carom_ray_begin(s.ray.origin, s.ray.direction, s.ray.length, &frame, &s.view);
    carom_bvh_ray path = carom_rays_path(&s.view);
    s.slabs = carom_bvh_slabs_make(&path);
    s.margin = path.margin;
    s.least = HUGE_VAL;
    s.best.clear();
    s.first.clear();
    s.limit();
    for (s.pass = 0; s.pass < 2 && !s.view.misses; ++s.pass) {
        carom_batch_walk(v.soup.tree, way, s);
        __syncwarp();
    }
    return true;
}

/* In doubles; `open` gets the rays that these leave open. */
static __global__ void __launch_bounds__(CAROM_BATCH_SEARCHERS)
    rays_search_left(rays_view v, carom_device_list<uint32_t> left,
                     carom_device_list<uint32_t> list) {
    carom_device_begin();
    __shared__ carom_batch_way ways[CAROM_BATCH_WARPS];
    unsigned warp = threadIdx.x / CAROM_WARP, lane = threadIdx.x % CAROM_WARP, first;
    uint64_t count = left.stored(), stride = (uint64_t)gridDim.x * CAROM_BATCH_WARPS;
    for (uint64_t i = (uint64_t)blockIdx.x * CAROM_BATCH_WARPS + warp; i < count; i += stride) {
        rays_search<false> s;
        if (!rays_search_one(v, left.data[i], ways[warp], s)) continue;
        bool open = rays_join_lanes(s.best, &first);
        if (!open && lane == first) open = !rays_answer(v, s.view, s.ray, s.best, &v.out[s.query]);
        if (__any_sync(~0u, open) && lane == 0) list.append(s.query);
    }
}

/* In integers; `list` gets the triangles of rays for which these are too long. */
static __global__ void __launch_bounds__(CAROM_BATCH_SEARCHERS, CAROM_BATCH_EXACT_BLOCKS)
    rays_search_open(rays_view v, carom_device_list<uint32_t> open,
                     carom_device_list<rays_open> list) {
    carom_device_begin();
    __shared__ carom_batch_way ways[CAROM_BATCH_WARPS];
    unsigned warp = threadIdx.x / CAROM_WARP;
    uint64_t count = open.stored(), stride = (uint64_t)gridDim.x * CAROM_BATCH_WARPS;
    for (uint64_t i = (uint64_t)blockIdx.x * CAROM_BATCH_WARPS + warp; i < count; i += stride) {
        rays_search<true> s;
        s.list = list;
        if (!rays_search_one(v, open.data[i], ways[warp], s)) continue;
        if (rays_join_exactly(s)) {
            s.pass = 2;
            carom_batch_walk(v.soup.tree, ways[warp], s);
        } else if (threadIdx.x % CAROM_WARP == 0) {
            carom_hit hit = carom_rays_miss(&s.ray);
            if (s.first.item != CAROM_NONE) {
                hit = carom_rays_hit(&s.ray, s.first.face, rays_normal(v.soup, s.first.item));
                carom_ray_answer(&s.view, &s.first.hit, &hit.distance, &hit.point);
            }
            v.out[s.query] = hit;
        }
        __syncwarp();
    }
}

/* ---- Queueing -------------------------------------------------------------------------------- */

static carom_hit rays_decide_exactly(const rays_open *entries, uint64_t count,
                                     carom_ray_decide_fn *decide) {
    return decide(entries, count);
}

struct rays_kind {
    typedef carom_ray input;
    typedef carom_hit result;
    typedef rays_open open;
    typedef carom_ray_decide_fn decide_fn;
    static constexpr const char *name = "rays";
    static constexpr const char *bad = "are not finite, have a negative length or the direction "
                                       "(0, 0, 0): mend them or leave them out";
    static constexpr auto keys = rays_make_keys;
    static constexpr auto find = rays_find;
    static constexpr auto decide = rays_decide;
    static constexpr auto search = rays_search_left;
    static constexpr auto search_exactly = rays_search_open;
    static constexpr auto decide_exactly = rays_decide_exactly;
};

carom_status carom_rays_cast(carom_device *device, const carom_device_soup *soup,
                             const carom_ray *rays, uint64_t count, carom_hit *hits,
                             carom_ray_decide_fn *decide) {
    return carom_batch_submit<rays_kind>(device, soup, rays, count, hits, decide);
}

carom_status carom_rays_cast_of_host(carom_device *device, const carom_device_soup *soup,
                                     const carom_ray *rays, uint64_t count, carom_hit *hits,
                                     carom_ray_decide_fn *decide, uint64_t *on_host) {
    return carom_batch_of_host<rays_kind>(device, soup, rays, count, hits, decide, on_host);
}

#include "soup/soup_rays_all_cuda.h"
