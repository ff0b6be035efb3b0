/* SPDX-License-Identifier: MIT */
/* Distances of two soups in many poses on the GPU, and whether faces meet.
 *
 * The answer of the CPU is the least of (distance, face of a, face of b, triangles) over all pairs
 * of triangles that are searched, by the items of distance_item.h, or that faces meet. Both do not
 * depend on the order of a search, so any search that leaves out nothing gives its bytes:
 *
 *   begin     a warp per pose: the frame of the boxes (soup_distance_cuda.h);
 *   dive      a block per pose: each warp goes down both trees to the triangles that look nearest
 *             and measures them. The least distance bounds that of all, and the direction of its
 *             points separates what lies behind;
 *   open      a warp per pair of nodes, level by level for all poses: first the nearest two points,
 *             one of each child, bound the distance; then pairs of children that can still matter.
 *             Both trees have leaves on one level, so that the levels of a list are known when it
 *             is queued;
 *   leaves    a warp per pair of leaves: pairs of triangles that can still matter;
 *   measure   a thread per pair: whether it meets, by the filter, and its distance, which lowers
 *             the bound of its pose;
 *   exact     pairs that the filter leaves open;
 *   pick      the pair of lowest faces among those at the least distance, and of polygons the
 *             lowest triangles; then the result is written.
 *
 * Where faces meet, the CPU names the first pair that its own search finds; the host does the same
 * when the work is finished. No list is bounded: one that is too small is enlarged and the search
 * repeated. */
#include <climits>
#include <cstdlib>

#include "geom/triangle_item.h"
#include "soup/soup_distance_cuda.h"

#define DISTANCE_WARPS      4u /* of a block: those of the dive try different ways */
#define DISTANCE_THREADS    (DISTANCE_WARPS * CAROM_WARP)
#define DISTANCE_BUFFER     128u /* pairs that a warp collects before it appends them */
#define DISTANCE_LEVEL_BITS 5u   /* of an entry: 32 children per node */
/* Pairs of nodes and of triangles per pose that there is room for at first. */
#define DISTANCE_PAIRS_PER_POSE 256u
/* Of the square of the way between the middles of two boxes, added to their distance: of boxes that
 * overlap, those that do so most are opened. */
#define DISTANCE_MIDDLE_WEIGHT 0x1p-6
#define DISTANCE_ALL_WAYS      UINT32_MAX

/* Counters of a search. */
enum {
    DISTANCE_N_BAD, /* poses after and with the first one out of range */
    DISTANCE_N_CANDIDATES,
    DISTANCE_N_UNDECIDED,
    DISTANCE_N_MEET, /* poses */
    DISTANCE_N_NODES /* of each list of pairs of nodes; the last one is of leaves */
};
static_assert(1u << DISTANCE_LEVEL_BITS == CAROM_WARP, "children per node");
static_assert(DISTANCE_N_NODES + CAROM_TREE_LEVELS + 1 <= CAROM_DEVICE_COUNTERS,
              "a counter for each level");

/* ---- Begin and dive -------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_begin(distance_view v, carom_device_list<uint4> roots,
                        carom_device_counters *counters) {
    carom_device_begin();
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint32_t index = blockIdx.x * DISTANCE_WARPS + threadIdx.x / CAROM_WARP;
    if (index >= v.count) return;
    carom_box boxes[2] = {distance_root(v.soup[0].tree), distance_root(v.soup[1].tree)};
    if (lane != 0) return;
    distance_pose p = {};
    bool in_range = distance_begin(v, index, boxes, &p);
    p.near.distance = (double)NAN;
    p.least = (unsigned long long)__double_as_longlong(v.limit);
    p.faces = p.items = ULLONG_MAX;
    p.bound = (unsigned long long)__double_as_longlong(HUGE_VAL);
    p.meet = in_range ? 0 : 1; /* nothing is searched */
    v.state[index] = p;
    if (!in_range) atomicMax(&counters->n[DISTANCE_N_BAD], (carom_device_count)(v.count - index));
    if (index < roots.capacity) roots.data[index] = make_uint4(index, 0, 0, 0);
    if (index == 0) *roots.count = v.count;
}

/* The levels of a pair of nodes. The higher one is opened, or both if they are equal. */
struct distance_levels {
    uint32_t a, b;

    __device__ __host__ bool opens_a() const {
        return a >= b;
    }
    __device__ __host__ bool opens_b() const {
        return b >= a;
    }
    __device__ __host__ distance_levels next() const {
        return {opens_a() ? a - 1 : a, opens_b() ? b - 1 : b};
    }
};

/* Whether the triangle at a slot is searched. */
static __device__ inline bool distance_searched(const distance_view &v, int side, uint32_t slot) {
    const carom_soup_cuda_arrays &soup = v.soup[side];
    return slot < soup.tree.entries[0] && carom_soup_cuda_searched(soup, soup.tree.items[slot]);
}

/* The box of a node, or of a triangle that is searched. */
static __device__ inline distance_box distance_child(const distance_view &v, const distance_pose &p,
                                                     int side, uint32_t level, uint32_t entry) {
    distance_box box = distance_entry(v, p, side, level, entry);
    if (level == 0) box.any = box.any && distance_searched(v, side, entry);
    return box;
}

/* The children of a pair of nodes: each lane has one of `lanes`, and all have `count` of the other
 * side in shared memory. */
struct distance_opened {
    bool lanes_of_b;
    uint32_t entry, first, count; /* of the lane; of the others */
    distance_box box;

    __device__ void open(const distance_view &v, const distance_pose &p, distance_levels level,
                         uint32_t a, uint32_t b, distance_box *others) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        distance_levels next = level.next();
        lanes_of_b = !level.opens_a();
        int mine = lanes_of_b ? 1 : 0;
        uint32_t node = lanes_of_b ? b : a, other = lanes_of_b ? a : b;
        bool both = level.opens_a() && level.opens_b();
        entry = node * CAROM_WARP + lane;
        first = both ? other * CAROM_WARP : other;
        count = both ? CAROM_WARP : 1u;
        box = distance_child(v, p, mine, lanes_of_b ? next.b : next.a, entry);
        __syncwarp();
        if (lane < count)
            others[lane] =
                distance_child(v, p, 1 - mine, lanes_of_b ? next.a : next.b, first + lane);
        __syncwarp();
    }
    __device__ const distance_box &box_a(const distance_box &other) const {
        return lanes_of_b ? other : box;
    }
    __device__ const distance_box &box_b(const distance_box &other) const {
        return lanes_of_b ? box : other;
    }
    __device__ uint32_t entry_a(uint32_t i) const {
        return lanes_of_b ? first + i : entry;
    }
    __device__ uint32_t entry_b(uint32_t i) const {
        return lanes_of_b ? entry : first + i;
    }
};

/* The pair of children, or of triangles, that looks nearest; the same for all lanes. */
struct distance_choice {
    double score;
    uint32_t a, b;

    __device__ void offer(double of, uint32_t in_a, uint32_t in_b) {
        if (!(of < score)) return;
        score = of;
        a = in_a;
        b = in_b;
    }
    __device__ void join() {
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
            double other = __shfl_xor_sync(~0u, score, step);
            uint32_t other_a = __shfl_xor_sync(~0u, a, step);
            uint32_t other_b = __shfl_xor_sync(~0u, b, step);
            bool tie = other == score && (other_a < a || (other_a == a && other_b < b));
            if (!(other < score) && !tie) continue;
            score = other;
            a = other_a;
            b = other_b;
        }
    }
};

/* Goes down from two nodes to two triangles, always to the children that look nearest; false where
 * there is no way. At the first step the lanes of a `way` take part, or all. */
static __device__ bool distance_descend(const distance_view &v, const distance_pose &p,
                                        distance_box *others, distance_levels level, unsigned way,
                                        uint32_t *a, uint32_t *b) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    for (; level.a > 0 || level.b > 0; level = level.next()) {
        distance_choice best = {HUGE_VAL, UINT32_MAX, UINT32_MAX};
        distance_opened o;
        o.open(v, p, level, *a, *b, others);
        bool there = o.box.any && (way == DISTANCE_ALL_WAYS || lane % DISTANCE_WARPS == way);
        for (uint32_t i = 0; i < o.count && there; ++i) {
            if (!others[i].any) continue;
            double bound = distance_bound(p, o.box_a(others[i]), o.box_b(others[i]));
            double middles = distance_middles(o.box, others[i]);
            best.offer(bound * bound + DISTANCE_MIDDLE_WEIGHT * middles, o.entry_a(i),
                       o.entry_b(i));
        }
        __syncwarp();
        best.join();
        if (best.a == UINT32_MAX) return false;
        *a = best.a;
        *b = best.b;
        way = DISTANCE_ALL_WAYS;
    }
    return true;
}

/* Sets the direction of the search from the nearest points so far. */
static __device__ void distance_turn(distance_pose *p) {
    const double *ra = p->frame[0].r, *rb = p->frame[1].r;
    if (!carom_soup_distance_usable(&p->near)) return;
    double down = DISTANCE_CUDA_DIRECTION_DOWN / p->near.distance;
    carom_vec3 d = carom_vec_scale(carom_vec_sub(p->near.b, p->near.a), down);
    for (int k = 0; k < 3; ++k) {
        p->direction_a[k] = (ra[k] * d.x + ra[3 + k] * d.y) + ra[6 + k] * d.z;
        p->direction_b[k] = (rb[k] * d.x + rb[3 + k] * d.y) + rb[6 + k] * d.z;
    }
}

static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_dive(distance_view v, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ distance_box others[DISTANCE_WARPS][CAROM_WARP];
    __shared__ carom_closest nearest[DISTANCE_WARPS];
    __shared__ bool meets[DISTANCE_WARPS];
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    distance_pose *p = &v.state[blockIdx.x];
    uint32_t a = 0, b = 0;
    if (p->meet != 0) return; /* out of range */
    distance_levels roots = {v.soup[0].tree.levels, v.soup[1].tree.levels};
    bool there = distance_descend(v, *p, others[warp], roots, warp, &a, &b);
    if (lane == 0) {
        nearest[warp].distance = (double)NAN;
        meets[warp] = false;
        if (there) {
            carom_triangle ta = distance_triangle(v, *p, 0, a);
            carom_triangle tb = distance_triangle(v, *p, 1, b);
            carom_near_triangles(ta.corner, tb.corner, &nearest[warp]);
            meets[warp] = carom_triangle_filter(&ta, &tb) == CAROM_YES;
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned w = 0; w < DISTANCE_WARPS; ++w) {
        if (meets[w] && p->meet == 0) {
            p->meet = 1;
            atomicAdd(&counters->n[DISTANCE_N_MEET], 1ull);
        }
        bool first = !(p->near.distance == p->near.distance);
        if (first || nearest[w].distance < p->near.distance) p->near = nearest[w];
    }
    distance_turn(p);
    double least = __longlong_as_double((long long)p->least);
    if (p->near.distance < least)
        p->least = (unsigned long long)__double_as_longlong(p->near.distance);
}

/* ---- Open ------------------------------------------------------------------------------------ */

static __device__ inline uint32_t distance_bound_bits(double bound) {
    return __float_as_uint((float)(bound * DISTANCE_CUDA_FLOAT_DOWN));
}

/* Whether a pair of the list can still matter. */
static __device__ inline bool distance_matters(const distance_pose &p, uint32_t bound_bits) {
    return !distance_done(p) && !((double)__uint_as_float(bound_bits) > distance_most(p));
}

static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_open(distance_view v, distance_levels level, carom_device_list<uint4> pairs,
                       carom_device_list<uint4> children) {
    carom_device_begin();
    __shared__ distance_box others[DISTANCE_WARPS][CAROM_WARP];
    __shared__ uint4 buffers[DISTANCE_WARPS][DISTANCE_BUFFER];
    unsigned warp = threadIdx.x / CAROM_WARP;
    carom_warp_buffer<uint4, DISTANCE_BUFFER> buffer = {buffers[warp], 0};
    uint64_t count = pairs.stored(), stride = (uint64_t)gridDim.x * DISTANCE_WARPS;
    for (uint64_t at = (uint64_t)blockIdx.x * DISTANCE_WARPS + warp; at < count; at += stride) {
        uint4 pair = pairs.data[at];
        const distance_pose &p = v.state[pair.x];
        if (__any_sync(~0u, !distance_matters(p, pair.w))) continue;
        double most = __shfl_sync(~0u, distance_most(p), 0);
        distance_opened o;
        o.open(v, p, level, pair.y, pair.z, others[warp]);
        for (uint32_t i = 0; i < o.count; ++i) {
            const distance_box &other = others[warp][i];
            bool left = o.box.any && other.any;
            double bound = left ? distance_bound(p, o.box_a(other), o.box_b(other)) : HUGE_VAL;
            left = left && !(bound > most);
            buffer.push(children, left,
                        make_uint4(pair.x, o.entry_a(i), o.entry_b(i), distance_bound_bits(bound)));
        }
    }
    buffer.flush(children);
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

/* A triangle of a leaf, along the direction too. */
struct distance_item {
    distance_box box;
    carom_soup_along along;

    /* Whether it can matter beside all of the other leaf. */
    __device__ bool load(const distance_view &v, const distance_pose &p, int side, uint32_t slot,
                         const distance_box &leaf, double most) {
        box = distance_child(v, p, side, 0, slot);
        if (!box.any) return false;
        double bound = side == 0 ? distance_bound(p, box, leaf) : distance_bound(p, leaf, box);
        if (bound > most) return false;
        if (!carom_soup_distance_usable(&p.near)) return true;
        carom_triangle t = distance_triangle(v, p, side, slot);
        along = carom_soup_along_of(&p.near, &t);
        return true;
    }
};

static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_leaves(distance_view v, carom_device_list<uint4> leaves,
                         carom_device_list<uint4> candidates) {
    carom_device_begin();
    __shared__ distance_item others[DISTANCE_WARPS][CAROM_WARP];
    __shared__ uint4 buffers[DISTANCE_WARPS][DISTANCE_BUFFER];
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    carom_warp_buffer<uint4, DISTANCE_BUFFER> buffer = {buffers[warp], 0};
    uint64_t count = leaves.stored(), stride = (uint64_t)gridDim.x * DISTANCE_WARPS;
    for (uint64_t at = (uint64_t)blockIdx.x * DISTANCE_WARPS + warp; at < count; at += stride) {
        uint4 pair = leaves.data[at];
        const distance_pose &p = v.state[pair.x];
        if (__any_sync(~0u, !distance_matters(p, pair.w))) continue;
        double most = __shfl_sync(~0u, distance_most(p), 0);
        double farthest = distance_limit(p) * p.near.distance;
        bool usable = carom_soup_distance_usable(&p.near);
        uint32_t slot_a = pair.y * CAROM_WARP + lane, first_b = pair.z * CAROM_WARP;
        /* the direction may be another one than that of the bound in the list */
        distance_box leaf_a = distance_entry(v, p, 0, 1, pair.y);
        distance_box leaf_b = distance_entry(v, p, 1, 1, pair.z);
        bool far = distance_bound(p, leaf_a, leaf_b) > most;
        if (__any_sync(~0u, far)) continue;
        distance_item mine;
        bool matters = mine.load(v, p, 0, slot_a, leaf_b, most);
        if (!__any_sync(~0u, matters)) continue;
        __syncwarp();
        bool other_matters = others[warp][lane].load(v, p, 1, first_b + lane, leaf_a, most);
        unsigned there = __ballot_sync(~0u, other_matters);
        __syncwarp();
        for (; there != 0; there &= there - 1) {
            uint32_t i = (uint32_t)__ffs((int)there) - 1u;
            const distance_item &other = others[warp][i];
            bool left = matters;
            double bound = left ? distance_bound(p, mine.box, other.box) : HUGE_VAL;
            left = left && !(bound > most);
            left = left && !(usable && carom_soup_distance_exceeds(&p.near, &mine.along,
                                                                   &other.along, farthest));
            buffer.push(candidates, left,
                        make_uint4(pair.x, slot_a, first_b + i, distance_bound_bits(bound)));
        }
    }
    buffer.flush(candidates);
}

/* The first triangle below the child of a node of a level; false where there is none, or it is not
 * searched. */
static __device__ inline bool distance_first_slot(const distance_view &v, int side, uint32_t level,
                                                  uint32_t child, uint32_t *slot) {
    uint64_t first = (uint64_t)child << DISTANCE_LEVEL_BITS * (level - 1);
    *slot = (uint32_t)first;
    return first < v.soup[side].tree.entries[0] && distance_searched(v, side, *slot);
}

/* The nearest points so far are from now on these, if they are nearer. */
static __device__ void distance_turn_to(distance_pose *p, carom_vec3 a, carom_vec3 b) {
    carom_vec3 way = carom_vec_sub(b, a);
    double length = carom_length(way);
    if (atomicExch(&p->turned, 1u) != 0 || length >= p->near.distance) return;
    p->near = {a, b, length, carom_vec_dot(way, way)};
    distance_turn(p);
}

static __device__ inline void distance_set_meet(distance_pose *p, carom_device_counters *counters) {
    if (atomicExch(&p->meet, 1u) == 0) atomicAdd(&counters->n[DISTANCE_N_MEET], 1ull);
}

static __device__ void distance_probe(const distance_view &v, distance_pose *p, uint32_t slot_a,
                                      uint32_t slot_b, carom_device_counters *counters) {
    carom_triangle a = distance_triangle(v, *p, 0, slot_a), b = distance_triangle(v, *p, 1, slot_b);
    if (distance_boxes_overlap(a, b) && carom_triangle_filter(&a, &b) == CAROM_YES)
        distance_set_meet(p, counters);
}

/* Bounds the distance by that of the nearest two points of a pair of nodes, one of each child: the
 * first corner of its first triangle. Far fewer pairs can matter then. `turn`, once all pairs have
 * done so, of leaves: searches along the direction of the points that gave the bound instead, and
 * probes whether triangles meet where boxes overlap, as where much overlaps that ends the search
 * before all of it is listed. */
static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_tighten(distance_view v, distance_levels level, carom_device_list<uint4> pairs,
                          bool turn, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ carom_vec3 corners[DISTANCE_WARPS][CAROM_WARP];
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    uint64_t count = pairs.stored(), stride = (uint64_t)gridDim.x * DISTANCE_WARPS;
    for (uint64_t at = (uint64_t)blockIdx.x * DISTANCE_WARPS + warp; at < count; at += stride) {
        uint4 pair = pairs.data[at];
        distance_pose *p = &v.state[pair.x];
        if (__any_sync(~0u, !distance_matters(*p, pair.w))) continue;
        uint32_t slot_a, slot_b;
        bool in_a = distance_first_slot(v, 0, level.a, pair.y * CAROM_WARP + lane, &slot_a);
        bool in_b = distance_first_slot(v, 1, level.b, pair.z * CAROM_WARP + lane, &slot_b);
        carom_vec3 mine = {};
        if (in_a) mine = distance_triangle(v, *p, 0, slot_a).corner[0];
        __syncwarp();
        if (in_b) corners[warp][lane] = distance_triangle(v, *p, 1, slot_b).corner[0];
        unsigned others = __ballot_sync(~0u, in_b), nearest = 0;
        double least = HUGE_VAL;
        for (unsigned left = in_a ? others : 0; left != 0; left &= left - 1) {
            unsigned other = (unsigned)__ffs((int)left) - 1u;
            carom_vec3 way = carom_vec_scale(carom_vec_sub(corners[warp][other], mine), p->unit);
            double square = carom_vec_dot(way, way);
            if (!(square < least)) continue;
            least = square;
            nearest = other;
        }
        double of_all = least;
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
            double other = __shfl_xor_sync(~0u, of_all, step);
            of_all = other < of_all ? other : of_all;
        }
        if (!(of_all < HUGE_VAL)) continue; /* no triangles, or out of range */
        unsigned long long bound = (unsigned long long)__double_as_longlong(sqrt(of_all));
        if (!turn && lane == 0) atomicMin(&p->bound, bound);
        if (turn && bound == p->bound && least == of_all)
            distance_turn_to(p, mine, corners[warp][nearest]);
        if (turn && pair.w == 0 && least < HUGE_VAL)
            distance_probe(v, p, slot_a, pair.z * CAROM_WARP + nearest, counters);
    }
}

/* ---- Triangles ------------------------------------------------------------------------------- */

/* `lengths`: of each candidate, or -1 where it does not matter. */
static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_measure(distance_view v, carom_device_list<uint4> candidates, double *lengths,
                          carom_device_list<unsigned long long> undecided,
                          carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = candidates.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint4 c = candidates.data[i];
        distance_pose *p = &v.state[c.x];
        lengths[i] = -1.0;
        if (!distance_matters(*p, c.w)) continue;
        carom_triangle a = distance_triangle(v, *p, 0, c.y), b = distance_triangle(v, *p, 1, c.z);
        if (distance_boxes_overlap(a, b)) {
            int verdict = carom_triangle_filter(&a, &b);
            if (verdict == CAROM_UNDECIDED) undecided.append((unsigned long long)i);
            if (verdict == CAROM_YES) {
                distance_set_meet(p, counters);
                continue;
            }
        }
        if (v.meet_only) continue;
        carom_closest closest;
        carom_near_triangles(a.corner, b.corner, &closest);
        if (!(closest.distance <= distance_least(*p))) continue;
        lengths[i] = closest.distance;
        atomicMin(&p->least, (unsigned long long)__double_as_longlong(closest.distance));
    }
}

static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_exact(distance_view v, carom_device_list<uint4> candidates,
                        carom_device_list<unsigned long long> undecided,
                        carom_device_counters *counters) {
    carom_device_begin();
    uint64_t count = undecided.stored(), threads = (uint64_t)gridDim.x * blockDim.x;
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x, warps = threads / CAROM_WARP;
    for (uint64_t i = thread % CAROM_WARP * warps + thread / CAROM_WARP; i < count; i += threads) {
        uint4 c = candidates.data[undecided.data[i]];
        distance_pose *p = &v.state[c.x];
        if (distance_done(*p)) continue;
        carom_triangle a = distance_triangle(v, *p, 0, c.y), b = distance_triangle(v, *p, 1, c.z);
        if (carom_triangle_meet_exact(&a, &b)) distance_set_meet(p, counters);
    }
}

/* ---- Result ---------------------------------------------------------------------------------- */

/* Keeps the lowest faces at the least distance; `items`: of these the lowest triangles. */
static __global__ void __launch_bounds__(DISTANCE_THREADS)
    distance_cuda_pick(distance_view v, carom_device_list<uint4> candidates, const double *lengths,
                       bool items) {
    carom_device_begin();
    uint64_t count = candidates.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint4 c = candidates.data[i];
        distance_pose *p = &v.state[c.x];
        if (!(lengths[i] >= 0.0) || distance_done(*p) || lengths[i] != distance_least(*p)) continue;
        const uint32_t item_a = v.soup[0].tree.items[c.y], item_b = v.soup[1].tree.items[c.z];
        unsigned long long faces = carom_pair_pack(carom_soup_cuda_face(v.soup[1], item_b),
                                                   carom_soup_cuda_face(v.soup[0], item_a));
        if (!items)
            atomicMin(&p->faces, faces);
        else if (faces == p->faces)
            atomicMin(&p->items, carom_pair_pack(item_b, item_a));
    }
}

static __global__ void distance_cuda_write(distance_view v, carom_soup_gap *gaps, bool *meet) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= v.count) return;
    const distance_pose &p = v.state[i];
    if (v.meet_only) {
        meet[v.first + i] = p.meet != 0;
        return;
    }
    carom_soup_gap gap = {};
    gap.distance = p.meet != 0 ? 0.0 : HUGE_VAL;
    gap.face_a = gap.face_b = UINT32_MAX;
    unsigned long long items = v.polygons() ? p.items : p.faces;
    if (p.meet == 0 && items != ULLONG_MAX) {
        uint32_t item_a = (uint32_t)(items >> 32), item_b = (uint32_t)items;
        carom_triangle a = distance_posed(p, 0, carom_soup_cuda_triangle(v.soup[0], item_a));
        carom_triangle b = distance_posed(p, 1, carom_soup_cuda_triangle(v.soup[1], item_b));
        carom_closest closest;
        carom_near_triangles(a.corner, b.corner, &closest);
        gap.distance = closest.distance;
        gap.face_a = (uint32_t)(p.faces >> 32);
        gap.face_b = (uint32_t)p.faces;
        gap.point_a = closest.a;
        gap.point_b = closest.b;
    }
    gaps[v.first + i] = gap;
}

#include "soup/soup_distance_queue_cuda.h"
#include "soup/soup_gaps_cuda.h"

extern "C" __attribute__((visibility("default")))
const carom_cuda_distance carom_cuda_distance_1 = {distance_find, distance_find_of_host,
                                                   distance_gaps};
