/* SPDX-License-Identifier: MIT */
/* Searches of two trees in many poses on the GPU.
 *
 * The CPU's distance is the least gap over all pairs of spheres, ties by their indices, with the
 * least gap of two covers, or the least distance over all pairs of triangles, ties by their faces,
 * each by the same item; or the balls or triangles meet. None of it depends on the order of a
 * search, so any search that leaves out nothing gives its bytes:
 *
 *   begin     a thread per pose: the posed pair, and the pair of the roots;
 *   dive      a warp per pose goes down both trees to the leaves that look nearest and measures
 *             their pairs: the least gap bounds that of all;
 *   open      a warp per pair of nodes, level by level for all poses: first a bound of the gap from
 *             above, then pairs of children that can still matter;
 *   leaves    of spheres, a warp per pair of leaves: pairs of spheres that can still matter;
 *   measure   a thread per pair, which lowers the bound of its pose;
 *   pick      the first pair at the least gap; then the result is written.
 *
 * Whether one solid is in the other, of surfaces that do not meet, is left to the host. No list is
 * bounded: one that is too small is enlarged and the search repeated. Lists of nodes take turns in
 * two blocks; each has a counter of its own, as trees may have many levels. */
#include "tree/tree_cuda.h"

#include <climits>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "spheres/spheres_sum_cuda.h"
#include "tree/tree_surface_cuda.h"

/* Pairs of nodes and of spheres per pose that there is room for at first. */
#define TREE_CUDA_PAIRS_PER_POSE 128u

/* A gap of two spheres is at most its bound in floats and so many margins: one of their distance,
 * which the bound is less by, one for its error, and two of radii that were rounded up. */
#define TREE_CUDA_MARGINS 4.0f

/* Counters of a search. */
enum {
    TREE_CUDA_N_BAD,    /* poses after and with the first one that does not fit */
    TREE_CUDA_N_HOST,   /* poses whose distance the host completes */
    TREE_CUDA_N_LEAVES, /* pairs of leaves */
    TREE_CUDA_N_CANDIDATES,
    TREE_CUDA_N_NODES, /* pairs of nodes of all levels */
    TREE_CUDA_N_LEVEL  /* of the level with the most */
};

typedef carom_warp_buffer<uint4, TREE_CUDA_BUFFER> tree_cuda_buffer;

/* What one kind of search compares. */
template <int KIND> struct tree_cuda_rules {
    typedef tree_cuda_ball piece;
    typedef tree_cuda_opened opened;

    static __device__ float margin(const carom_tree_posed_pair &p) {
        return p.margin;
    }
    static __device__ uint32_t root(const carom_tree *) {
        return 0;
    }
    /* Whether the children of the roots are those of leaves. */
    static __device__ bool ends(const carom_tree_posed_pair &p) {
        return p.fixed->inner_count == 0 && p.moving->inner_count == 0;
    }
    static __device__ bool ends(const opened &o, uint32_t fixed, uint32_t moving) {
        return fixed >= o.fixed->inner_count && moving >= o.moving->inner_count;
    }
    static __device__ const piece &mine(const opened &o) {
        return o.ball;
    }
    /* Lower bounds of the gaps of a pair, of covers, too; an upper bound of the first. */
    static __device__ float bound(const tree_cuda_pose &p, const piece &a, const piece &b,
                                  float *cover, float *most) {
        float d = tree_cuda_between(p.pair, a, b);
        *cover = d - a.cover - b.cover;
        *most = p.pair.far ? HUGE_VALF : d + 2.0f * p.pair.margin + a.radius + b.radius;
        return d - a.radius - b.radius;
    }
};

template <> struct tree_cuda_rules<TREE_CUDA_FACES> {
    typedef tree_cuda_cylinder piece;
    typedef tree_cuda_opened_surfaces opened;

    static __device__ float margin(const carom_tree_posed_pair &p) {
        return p.surface_margin;
    }
    static __device__ uint32_t root(const carom_tree *tree) {
        return tree_cuda_root_name(tree);
    }
    static __device__ bool ends(const carom_tree_posed_pair &) {
        return false; /* pairs of triangles follow pairs of nodes */
    }
    static __device__ bool ends(const opened &o, uint32_t, uint32_t) {
        return o.leaves();
    }
    static __device__ const piece &mine(const opened &o) {
        return o.cylinder;
    }
    static __device__ float bound(const tree_cuda_pose &p, const piece &a, const piece &b,
                                  float *cover, float *most) {
        *cover = HUGE_VALF;
        return tree_cuda_apart(p, a, b, most);
    }
};

/* ---- Begin ----------------------------------------------------------------------------------- */

template <int KIND>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_begin(tree_cuda_view v, carom_device_list<uint4> roots,
                    carom_device_list<uint4> leaves, carom_device_counters *counters) {
    carom_device_begin();
    typedef tree_cuda_rules<KIND> rules;
    uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= v.count) return;
    tree_cuda_pose *p = &v.state[index];
    carom_tree_pair pair;
    bool fits = tree_cuda_pair(v, index, &pair);
    p->done = p->found = 0;
    p->bad = !fits;
    p->aimed = false;
    p->least = p->cover = tree_cuda_bits(KIND == TREE_CUDA_MEET ? 0.0 : HUGE_VAL);
    p->first = p->second = ULLONG_MAX;
    p->visits = 0;
    p->bound = __float_as_uint(HUGE_VALF);
    if (!fits) {
        p->done = 1;
        atomicMax(&counters->n[TREE_CUDA_N_BAD], (carom_device_count)(v.count - index));
        return;
    }
    p->pair = carom_tree_pose_item(&pair);
    if (v.query(index).apart) p->pair.apart = true;
    if (p->pair.far) {
        for (int k = 0; k < 3; ++k) p->toward[k] = p->pair.toward[k];
        p->aimed = true;
    }
    bool distance = KIND == TREE_CUDA_SPHERES || KIND == TREE_CUDA_FACES;
    if (!distance && p->pair.apart) p->done = 1;
    if (p->done != 0) return;
    uint4 root = make_uint4(index, rules::root(p->pair.fixed), rules::root(p->pair.moving),
                            __float_as_uint(-HUGE_VALF)); /* bounds may be negative */
    if (rules::ends(p->pair))
        leaves.append(root);
    else
        roots.append(root);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Measures two spheres by their slots. Returns their gap, or -1 where it does not matter. */
template <int KIND>
static __device__ double tree_cuda_measure_pair(tree_cuda_pose *p, uint32_t fixed,
                                                uint32_t moving) {
    const carom_tree_posed_pair &pair = p->pair;
    carom_spheres_posed f =
        carom_tree_pose_slot(pair.fixed, carom_tree_fixed_transform(&pair), fixed);
    carom_spheres_posed m =
        carom_tree_pose_slot(pair.moving, carom_tree_moving_transform(&pair), moving);
    carom_vec3 apart = carom_vec_sub(m.centre, f.centre);
    double d = carom_vec_length(apart), gap = d - (f.radius + m.radius);
    if (KIND == TREE_CUDA_MEET) {
        double volume = 0.0, error = 0.0;
        if (carom_spheres_inner(carom_vec_dot(apart, apart), d, f.radius, m.radius,
                                pair.world.slack, &volume, &error) &&
            volume > error)
            p->found = p->done = 1;
        return -1.0;
    }
    if (gap <= 0.0) {
        p->found = p->done = 1;
        return -1.0;
    }
    double cover = d - (f.cover + m.cover);
    atomicMin(&p->cover, tree_cuda_bits(cover > 0.0 ? cover : 0.0));
    atomicMin(&p->least, tree_cuda_bits(gap));
    return gap;
}

/* The same for two triangles. */
static __device__ double tree_cuda_measure_triangles(tree_cuda_pose *p, uint32_t fixed,
                                                     uint32_t moving, carom_closest *closest) {
    bool swapped = p->pair.swapped;
    tree_cuda_nearest(p->pair, swapped ? moving : fixed, swapped ? fixed : moving, closest);
    if (!(closest->distance > 0.0)) {
        p->found = p->done = 1;
        return -1.0;
    }
    atomicMin(&p->least, tree_cuda_bits(closest->distance));
    return closest->distance;
}

template <>
__device__ double tree_cuda_measure_pair<TREE_CUDA_FACES>(tree_cuda_pose *p, uint32_t fixed,
                                                          uint32_t moving) {
    carom_closest closest;
    return tree_cuda_measure_triangles(p, fixed, moving, &closest);
}

/* The index in the packing of the sphere at a slot; CAROM_TREE_NONE past the last of a leaf. */
static __device__ inline uint32_t tree_cuda_sphere_at(const carom_tree *tree, uint32_t slot) {
    return tree->nodes[tree->inner_count + slot / CAROM_TREE_WIDTH].child[slot % CAROM_TREE_WIDTH];
}

/* Whether there is something at a slot, or a triangle. */
template <int KIND>
static __device__ inline bool tree_cuda_is_there(const carom_tree *tree, uint32_t at) {
    if (KIND == TREE_CUDA_FACES) return at < tree->surface.triangle_count;
    return tree_cuda_sphere_at(tree, at) != CAROM_TREE_NONE;
}

/* Measures the pair of a hint. */
template <int KIND>
static __device__ void tree_cuda_measure_hint(tree_cuda_pose *p, const uint32_t hint[2]) {
    const carom_tree *a = p->pair.a, *b = p->pair.b;
    uint64_t count_a = KIND == TREE_CUDA_FACES ? a->surface.triangle_count : a->extent.count;
    uint64_t count_b = KIND == TREE_CUDA_FACES ? b->surface.triangle_count : b->extent.count;
    if (hint[0] >= count_a || hint[1] >= count_b) return;
    uint32_t of_a = KIND == TREE_CUDA_FACES ? hint[0] : a->slots[hint[0]];
    uint32_t of_b = KIND == TREE_CUDA_FACES ? hint[1] : b->slots[hint[1]];
    bool swapped = p->pair.swapped;
    (void)tree_cuda_measure_pair<KIND>(p, swapped ? of_b : of_a, swapped ? of_a : of_b);
}

/* ---- Dive ------------------------------------------------------------------------------------ */

/* The least of a number over a warp. */
static __device__ inline unsigned long long tree_cuda_warp_min(unsigned long long key) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        unsigned long long other = __shfl_xor_sync(~0u, key, step);
        key = other < key ? other : key;
    }
    return key;
}

template <int KIND>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS) tree_cuda_dive(tree_cuda_view v) {
    carom_device_begin();
    typedef tree_cuda_rules<KIND> rules;
    __shared__ typename rules::piece all[TREE_CUDA_WARPS][CAROM_TREE_WIDTH];
    unsigned thread = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    uint32_t index = blockIdx.x * TREE_CUDA_WARPS + warp;
    if (index >= v.count) return;
    tree_cuda_pose *p = &v.state[index];
    if (__any_sync(~0u, tree_cuda_is_done(*p))) return;
    if (thread == 0) tree_cuda_measure_hint<KIND>(p, v.query(index).hint);
    typename rules::piece *others = all[warp];
    uint32_t fixed = rules::root(p->pair.fixed), moving = rules::root(p->pair.moving);
    typename rules::opened o;
    for (;;) {
        unsigned long long best = ULLONG_MAX;
        o.open(p->pair, fixed, moving, others);
        if (o.leaves()) break;
        for (uint32_t i = thread / CAROM_TREE_WIDTH; i < CAROM_TREE_WIDTH; i += TREE_CUDA_ROWS) {
            float cover, most, bound = rules::bound(*p, rules::mine(o), others[i], &cover, &most);
            unsigned long long key =
                (unsigned long long)tree_cuda_ordered(bound) << 32 | o.lane * CAROM_TREE_WIDTH | i;
            if (bound < HUGE_VALF && key < best) best = key;
        }
        best = tree_cuda_warp_min(best);
        CAROM_ASSERT(best != ULLONG_MAX);
        uint32_t of_fixed = (uint32_t)best / CAROM_TREE_WIDTH % CAROM_TREE_WIDTH;
        uint32_t of_moving = (uint32_t)best % CAROM_TREE_WIDTH;
        fixed = __shfl_sync(~0u, o.child_fixed(), (int)of_fixed);
        moving = o.child_moving(of_moving);
    }
    uint32_t at = o.child_fixed();
    bool there = tree_cuda_is_there<KIND>(p->pair.fixed, at);
    double least = HUGE_VAL;
    for (uint32_t i = thread / CAROM_TREE_WIDTH; i < CAROM_TREE_WIDTH; i += TREE_CUDA_ROWS) {
        uint32_t other = o.child_moving(i);
        if (!there || !tree_cuda_is_there<KIND>(p->pair.moving, other)) continue;
        double gap = tree_cuda_measure_pair<KIND>(p, at, other);
        if (gap >= 0.0 && gap < least) least = gap;
    }
    if (KIND != TREE_CUDA_FACES) return;
    /* the first lane with the least distance gives the direction */
    unsigned long long nearest = tree_cuda_warp_min(tree_cuda_bits(least));
    unsigned first = __ballot_sync(~0u, tree_cuda_bits(least) == nearest);
    if (!(least < HUGE_VAL) || thread != (unsigned)__ffs((int)first) - 1u) return;
    for (uint32_t i = thread / CAROM_TREE_WIDTH; i < CAROM_TREE_WIDTH; i += TREE_CUDA_ROWS) {
        uint32_t other = o.child_moving(i);
        bool swapped = p->pair.swapped;
        carom_closest closest;
        if (!tree_cuda_is_there<KIND>(p->pair.moving, other)) continue;
        tree_cuda_nearest(p->pair, swapped ? other : at, swapped ? at : other, &closest);
        if (closest.distance != least) continue;
        tree_cuda_aim(p, closest);
        return;
    }
}

/* ---- Open ------------------------------------------------------------------------------------ */

/* Pairs of children that can still matter, of pairs of nodes or of leaves. */
template <int KIND>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_open(tree_cuda_view v, carom_device_list<uint4> pairs,
                   carom_device_list<uint4> children, carom_device_list<uint4> ends) {
    carom_device_begin();
    typedef tree_cuda_rules<KIND> rules;
    __shared__ typename rules::piece all[TREE_CUDA_WARPS][CAROM_TREE_WIDTH];
    __shared__ uint4 buffers[2][TREE_CUDA_WARPS][TREE_CUDA_BUFFER];
    unsigned thread = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    tree_cuda_buffer to_children = {buffers[0][warp], 0}, to_ends = {buffers[1][warp], 0};
    typename rules::piece *others = all[warp];
    uint64_t count = pairs.stored(), stride = (uint64_t)gridDim.x * TREE_CUDA_WARPS;
    for (uint64_t at = (uint64_t)blockIdx.x * TREE_CUDA_WARPS + warp; at < count; at += stride) {
        uint4 pair = pairs.data[at];
        tree_cuda_pose *p = &v.state[pair.x];
        float margin = rules::margin(p->pair);
        tree_cuda_limits before(*p, margin, KIND == TREE_CUDA_SPHERES);
        bool far = !(__uint_as_float(pair.w) <= before.near) && before.cover == -HUGE_VALF;
        if (__any_sync(~0u, tree_cuda_is_done(*p) || far)) continue;
        typename rules::opened o;
        o.open(p->pair, pair.y, pair.z, others);
        float least = HUGE_VALF, cover, most;
        if (KIND != TREE_CUDA_MEET) {
            for (uint32_t i = thread / CAROM_TREE_WIDTH; i < CAROM_TREE_WIDTH;
                 i += TREE_CUDA_ROWS) {
                float bound = rules::bound(*p, rules::mine(o), others[i], &cover, &most);
                if (KIND == TREE_CUDA_SPHERES && o.leaves() && !p->pair.far)
                    most = bound + TREE_CUDA_MARGINS * margin; /* spheres */
                if (most < least) least = most;
            }
            tree_cuda_lower(p, least);
            __syncwarp();
        }
        tree_cuda_limits limits(*p, margin, KIND == TREE_CUDA_SPHERES);
        for (uint32_t i = thread / CAROM_TREE_WIDTH; i < CAROM_TREE_WIDTH; i += TREE_CUDA_ROWS) {
            float bound = rules::bound(*p, rules::mine(o), others[i], &cover, &most);
            bool matters = bound <= limits.near || cover <= limits.cover;
            uint32_t fixed = o.child_fixed(), moving = o.child_moving(i);
            bool end = o.leaves() || rules::ends(o, fixed, moving);
            uint4 next = make_uint4(pair.x, fixed, moving, __float_as_uint(bound));
            to_children.push(children, matters && !end, next);
            to_ends.push(ends, matters && end, next);
        }
    }
    to_children.flush(children);
    to_ends.flush(ends);
}

/* Adds up the counters of the levels. One thread. */
static __global__ void __launch_bounds__(1)
    tree_cuda_count(const carom_device_count *levels, uint32_t count,
                    carom_device_counters *counters) {
    carom_device_begin();
    carom_device_count all = 0, most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        all += levels[i];
        most = levels[i] > most ? levels[i] : most;
    }
    counters->n[TREE_CUDA_N_NODES] = all;
    counters->n[TREE_CUDA_N_LEVEL] = most;
}

/* ---- Measure, pick, write -------------------------------------------------------------------- */

/* `lengths`: of each candidate, or -1 where it does not matter. */
template <int KIND>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_measure(tree_cuda_view v, carom_device_list<uint4> candidates, double *lengths) {
    carom_device_begin();
    uint64_t count = candidates.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint4 c = candidates.data[i];
        tree_cuda_pose *p = &v.state[c.x];
        lengths[i] = -1.0;
        if (tree_cuda_is_done(*p)) continue;
        lengths[i] = tree_cuda_measure_pair<KIND>(p, c.y, c.z);
    }
}

/* A pair of candidates as one number: of spheres their indices; of triangles, those of their faces,
 * or their own. */
template <int KIND>
static __device__ inline unsigned long long tree_cuda_key(const tree_cuda_pose &p, const uint4 &c,
                                                          bool triangles) {
    uint32_t a = p.pair.swapped ? c.z : c.y, b = p.pair.swapped ? c.y : c.z;
    if (KIND == TREE_CUDA_SPHERES) {
        a = tree_cuda_sphere_at(p.pair.a, a);
        b = tree_cuda_sphere_at(p.pair.b, b);
    } else if (!triangles) {
        a = p.pair.a->surface.faces[a];
        b = p.pair.b->surface.faces[b];
    }
    return (unsigned long long)a << 32 | b;
}

/* Keeps the first pair at the least gap; `triangles`: of those with these faces. */
template <int KIND>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_pick(tree_cuda_view v, carom_device_list<uint4> candidates, const double *lengths,
                   bool triangles) {
    carom_device_begin();
    uint64_t count = candidates.stored();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint4 c = candidates.data[i];
        tree_cuda_pose *p = &v.state[c.x];
        if (!(lengths[i] >= 0.0) || p->done != 0 || tree_cuda_bits(lengths[i]) != p->least)
            continue;
        unsigned long long key = tree_cuda_key<KIND>(*p, c, false);
        if (!triangles)
            atomicMin(&p->first, key);
        else if (key == p->first)
            atomicMin(&p->second, tree_cuda_key<KIND>(*p, c, true));
    }
}

/* Where results go. */
struct tree_cuda_results {
    bool *meet;
    carom_tree_gap *gaps;
    uint2 *nearest; /* of each pose; or NULL */
};

template <int KIND>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_write(tree_cuda_view v, tree_cuda_results to, carom_device_counters *counters) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= v.count) return;
    const tree_cuda_pose &p = v.state[i];
    if (KIND == TREE_CUDA_MEET) {
        to.meet[v.first + i] = p.found != 0;
        return;
    }
    unsigned long long pair = KIND == TREE_CUDA_FACES ? p.second : p.first;
    uint32_t a = (uint32_t)(pair >> 32), b = (uint32_t)pair;
    carom_tree_gap gap;
    memset(&gap, 0, sizeof(gap));
    gap.face_a = gap.face_b = CAROM_NONE;
    if (KIND == TREE_CUDA_FACES) gap.sphere_a = gap.sphere_b = CAROM_NONE;
    bool known = p.done == 0 && pair != ULLONG_MAX;
    if (known && KIND == TREE_CUDA_FACES) {
        carom_closest closest;
        tree_cuda_nearest(p.pair, a, b, &closest);
        carom_tree_gap_of_faces(&p.pair, &closest, a, b, HUGE_VAL, 0, &gap);
        gap.partial = !p.pair.apart; /* until the host has completed it */
        if (gap.partial) atomicAdd(&counters->n[TREE_CUDA_N_HOST], 1ull);
    }
    if (known && KIND == TREE_CUDA_SPHERES)
        carom_tree_gap_of_spheres(&p.pair, a, b, tree_cuda_number(p.least),
                                  tree_cuda_number(p.cover), HUGE_VAL, &gap);
    if (to.nearest != nullptr)
        to.nearest[i] = known ? make_uint2(a, b) : make_uint2(CAROM_NONE, CAROM_NONE);
    to.gaps[v.first + i] = gap;
}

#include "tree/tree_overlap_cuda.h"
#include "tree/tree_queue_cuda.h"

extern "C" __attribute__((visibility("default")))
const carom_cuda_tree carom_cuda_tree_1 = {tree_cuda_create, tree_cuda_destroy, tree_cuda_bytes,
                                           tree_cuda_search, tree_cuda_search_of_host};
