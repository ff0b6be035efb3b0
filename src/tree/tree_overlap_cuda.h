/* SPDX-License-Identifier: MIT */
/* tree_overlap_cuda.h: overlaps of two trees on the GPU, included by tree_cuda.cu alone.
 *
 * The CPU adds up the terms of all pairs of spheres that overlap, and flags the spheres whose
 * covers meet one of the other tree, by the items of spheres_overlap_item.h. Neither depends on an
 * order:
 *
 *   open     a warp per pair of nodes, level by level for all poses: the comparisons of tree_cpu.c;
 *   sum      a warp per run of pairs of leaves: pairs of spheres whose balls or covers may meet
 *            wait in shared memory until there is one for each lane; sums over a warp are kept as
 *            long as the pose is the same;
 *   finish   a warp per pose: the sums as numbers. */
#ifndef CAROM_SRC_TREE_TREE_OVERLAP_CUDA_H
#define CAROM_SRC_TREE_TREE_OVERLAP_CUDA_H

#define TREE_CUDA_WORD_BITS 32u /* of flags: a bit per slot */

/* Sums of a pose, all 0 between searches: the low and the high halves of SPHERES_VALUES, then: */
enum {
    TREE_CUDA_S_FLAGGED = 2 * SPHERES_VALUES, /* spheres of a, and of b */
    TREE_CUDA_S_VOIDS = TREE_CUDA_S_FLAGGED + 2,
    TREE_CUDA_S_SPOILED = TREE_CUDA_S_VOIDS + 2, /* a bit for each term that exceeded its scale */
    TREE_CUDA_S_NUMBERS
};

/* Words of flags of a tree. */
static __host__ __device__ inline uint64_t tree_cuda_words_of(const carom_tree &tree) {
    return ((uint64_t)tree.leaf_count * CAROM_TREE_WIDTH + TREE_CUDA_WORD_BITS - 1) /
           TREE_CUDA_WORD_BITS;
}

/* Where sums and flags of poses are. */
struct tree_cuda_sums {
    carom_device_count *states;
    uint32_t *flags; /* of a, then of b; NULL without bounds */

    __device__ carom_device_count *state(uint32_t index) const {
        return states + (uint64_t)index * TREE_CUDA_S_NUMBERS;
    }
    __device__ uint32_t *flags_of(const tree_cuda_view &v, uint32_t index) const {
        const tree_cuda_query &q = v.query(index);
        if (v.all != nullptr) return flags + q.flags;
        return flags +
               index * (tree_cuda_words_of(q.tree[0]->tree) + tree_cuda_words_of(q.tree[1]->tree));
    }
};

/* ---- Open ------------------------------------------------------------------------------------ */

template <bool BOUNDS> static __device__ inline float tree_cuda_radius(const tree_cuda_ball &b) {
    return BOUNDS ? b.cover : b.reach;
}

/* As tree_cpu_meet: a lane whose radius is given, and a ball with the margin in its radius. */
static __device__ inline bool tree_cuda_meets(const tree_cuda_ball &lane, float radius,
                                              const tree_cuda_ball &b, float wide) {
    float x = lane.x - b.x, y = lane.y - b.y, z = lane.z - b.z;
    float sum = radius + wide;
    return x * x + y * y + z * z <= sum * sum;
}

/* Whether the fixed child of a lane meets the moving node. */
template <bool BOUNDS>
static __device__ inline bool tree_cuda_meets_node(const carom_tree_posed_pair &p,
                                                   const tree_cuda_opened &o) {
    if (!o.opens_fixed) return o.lane == 0; /* a leaf, which met it before */
    tree_cuda_ball whole = tree_cuda_posed(p, tree_cuda_of(o.moving).balls[o.node_moving]);
    return tree_cuda_meets(o.ball, tree_cuda_radius<BOUNDS>(o.ball), whole,
                           tree_cuda_radius<BOUNDS>(whole) + p.margin);
}

template <bool BOUNDS>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_open_overlaps(tree_cuda_view v, carom_device_list<uint4> pairs,
                            carom_device_list<uint4> children, carom_device_list<uint4> leaves) {
    carom_device_begin();
    __shared__ tree_cuda_ball all[TREE_CUDA_WARPS][CAROM_TREE_WIDTH];
    __shared__ uint4 buffers[2][TREE_CUDA_WARPS][TREE_CUDA_BUFFER];
    unsigned thread = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    tree_cuda_buffer to_children = {buffers[0][warp], 0}, to_leaves = {buffers[1][warp], 0};
    tree_cuda_ball *others = all[warp];
    uint64_t count = pairs.stored(), stride = (uint64_t)gridDim.x * TREE_CUDA_WARPS;
    for (uint64_t at = (uint64_t)blockIdx.x * TREE_CUDA_WARPS + warp; at < count; at += stride) {
        uint4 pair = pairs.data[at];
        const carom_tree_posed_pair &p = v.state[pair.x].pair;
        tree_cuda_opened o;
        if (thread == 0) atomicAdd(&v.state[pair.x].visits, 1ull);
        o.open(p, pair.y, pair.z, others);
        bool meets = tree_cuda_meets_node<BOUNDS>(p, o);
        float wide = tree_cuda_radius<BOUNDS>(o.ball) + p.margin;
        for (uint32_t i = thread / CAROM_TREE_WIDTH; i < CAROM_TREE_WIDTH; i += TREE_CUDA_ROWS) {
            bool left = meets;
            if (o.opens_moving)
                left = left && tree_cuda_meets(others[i], tree_cuda_radius<BOUNDS>(others[i]),
                                               o.ball, wide);
            else
                left = left && i == 0;
            uint32_t fixed = left ? o.child_fixed() : 0, moving = left ? o.child_moving(i) : 0;
            bool ends = left && fixed >= o.fixed->inner_count && moving >= o.moving->inner_count;
            uint4 next = make_uint4(pair.x, fixed, moving, 0);
            to_children.push(children, left && !ends, next);
            to_leaves.push(leaves, ends, next);
        }
    }
    to_children.flush(children);
    to_leaves.flush(leaves);
}

/* ---- Sum ------------------------------------------------------------------------------------- */

#define TREE_CUDA_HITS (2u * CAROM_WARP) /* of a warp: up to one for each lane, and a row more */

/* Flags a sphere. */
static __device__ inline void tree_cuda_flag(const tree_cuda_pose &p, uint32_t *flags,
                                             carom_device_count *state, int side, uint32_t slot) {
    const carom_tree &tree = side == 0 ? *p.pair.a : *p.pair.b;
    uint32_t *word =
        flags + (side != 0 ? tree_cuda_words_of(*p.pair.a) : 0) + slot / TREE_CUDA_WORD_BITS;
    uint32_t bit = 1u << slot % TREE_CUDA_WORD_BITS;
    if ((__ldcg(word) & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;
    atomicAdd(&state[TREE_CUDA_S_FLAGGED + side], 1ull);
    atomicAdd(&state[TREE_CUDA_S_VOIDS + side],
              (carom_device_count)tree.leaves[slot / CAROM_TREE_WIDTH]
                  .void_units[slot % CAROM_TREE_WIDTH]);
}

/* The pairs of spheres of a warp, and their sums: those of one pose. */
template <bool BOUNDS> struct tree_cuda_summing {
    const tree_cuda_view &v;
    const tree_cuda_sums &to;
    uint2 *hits; /* slots of a and b */
    unsigned used;
    uint32_t pose;
    carom_device_count sum; /* of the value with the number of the lane */
    unsigned turns;
    carom_device_count *candidates;

    /* One pair for each lane of those that wait. */
    __device__ void take() {
        unsigned lane = threadIdx.x % CAROM_WARP, count = CAROM_MIN(used, CAROM_WARP);
        const tree_cuda_pose &p = v.state[pose];
        const carom_spheres_transform *transform = p.pair.world.transform;
        carom_device_count *state = to.state(pose);
        carom_spheres_posed a = {}, b = {};
        __syncwarp();
        bool there = lane < count;
        if (there) {
            uint2 hit = hits[lane];
            a = carom_tree_pose_slot(p.pair.a, &transform[0], hit.x);
            b = carom_tree_pose_slot(p.pair.b, &transform[1], hit.y);
            if (BOUNDS && carom_spheres_covers_meet(&a, &b)) {
                uint32_t *flags = to.flags_of(v, pose);
                tree_cuda_flag(p, flags, state, 0, hit.x);
                tree_cuda_flag(p, flags, state, 1, hit.y);
            }
        }
        if (lane == 0) atomicAdd(candidates, (carom_device_count)count);
        sum +=
            spheres_cuda_sum<BOUNDS>(p.pair.world, false, &state[TREE_CUDA_S_SPOILED], there, a, b);
        uint2 rest = make_uint2(0, 0);
        if (lane < used - count) rest = hits[count + lane];
        __syncwarp();
        if (lane < used - count) hits[lane] = rest;
        used -= count;
        if (++turns == SPHERES_MOST_TURNS) leave();
    }

    /* Adds the sums of the warp to those of the pose. */
    __device__ void leave() {
        unsigned lane = threadIdx.x % CAROM_WARP;
        carom_device_count *state = to.state(pose);
        if (turns == 0) return;
        atomicAdd(&state[lane], sum & 0xFFFFFFFFull);
        atomicAdd(&state[SPHERES_VALUES + lane], (carom_device_count)((long long)sum >> 32));
        sum = 0;
        turns = 0;
    }

    __device__ void finish() {
        while (used != 0) take();
        leave();
    }

    __device__ void push(bool has, uint2 hit) {
        unsigned lane = threadIdx.x % CAROM_WARP, mask = __ballot_sync(~0u, has);
        if (mask == 0) return;
        __syncwarp();
        if (has) hits[used + __popc(mask & ((1u << lane) - 1u))] = hit;
        used += __popc(mask);
        CAROM_ASSERT(used <= TREE_CUDA_HITS);
        if (used >= CAROM_WARP) take();
    }
};

template <bool BOUNDS>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_sum(tree_cuda_view v, carom_device_list<uint4> leaves, tree_cuda_sums to,
                  carom_device_counters *counters) {
    carom_device_begin();
    __shared__ tree_cuda_ball all[TREE_CUDA_WARPS][CAROM_TREE_WIDTH];
    __shared__ uint2 hits[TREE_CUDA_WARPS][TREE_CUDA_HITS];
    unsigned thread = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    tree_cuda_ball *others = all[warp];
    uint64_t count = leaves.stored(), warps = (uint64_t)gridDim.x * TREE_CUDA_WARPS;
    uint64_t each = (count + warps - 1) / warps;
    uint64_t first = ((uint64_t)blockIdx.x * TREE_CUDA_WARPS + warp) * each;
    uint64_t end = CAROM_MIN(first + each, count);
    tree_cuda_summing<BOUNDS> summing = {v, to, hits[warp], 0,
                                         0, 0,  0,          &counters->n[TREE_CUDA_N_CANDIDATES]};
    for (uint64_t at = first; at < end; ++at) {
        uint4 pair = leaves.data[at];
        if (pair.x != summing.pose) summing.finish();
        summing.pose = pair.x;
        const carom_tree_posed_pair &p = v.state[pair.x].pair;
        tree_cuda_opened o;
        if (thread == 0) atomicAdd(&v.state[pair.x].visits, 1ull);
        o.open(p, pair.y, pair.z, others);
        bool meets = tree_cuda_meets_node<BOUNDS>(p, o);
        float reach = o.ball.reach + p.margin, cover = o.ball.cover + p.margin;
        for (uint32_t i = thread / CAROM_TREE_WIDTH; i < CAROM_TREE_WIDTH; i += TREE_CUDA_ROWS) {
            const tree_cuda_ball &other = others[i];
            bool hit = meets && (tree_cuda_meets(other, other.reach, o.ball, reach) ||
                                 (BOUNDS && tree_cuda_meets(other, other.cover, o.ball, cover)));
            uint32_t fixed = o.child_fixed(), moving = o.child_moving(i);
            summing.push(hit, p.swapped ? make_uint2(moving, fixed) : make_uint2(fixed, moving));
        }
    }
    summing.finish();
}

/* ---- Finish ---------------------------------------------------------------------------------- */

/* The sums as numbers and the result from them; leaves sums and flags 0. */
template <bool BOUNDS>
static __global__ void __launch_bounds__(TREE_CUDA_THREADS)
    tree_cuda_finish_overlaps(tree_cuda_view v, tree_cuda_sums from,
                              carom_packing_overlap *overlaps, uint64_t *visits) {
    carom_device_begin();
    __shared__ double numbers[TREE_CUDA_WARPS][SPHERES_VALUES / 2];
    unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
    uint32_t index = blockIdx.x * TREE_CUDA_WARPS + warp;
    if (index >= v.count) return;
    const tree_cuda_pose &p = v.state[index];
    const tree_cuda_query &q = v.query(index);
    const carom_tree &a = q.tree[0]->tree, &b = q.tree[1]->tree;
    carom_device_count *state = from.state(index), number[TREE_CUDA_S_NUMBERS];
    for (unsigned i = TREE_CUDA_S_FLAGGED; i < TREE_CUDA_S_NUMBERS; ++i) number[i] = state[i];
    carom_device_count low = state[lane], high = state[SPHERES_VALUES + lane];
    __syncwarp();
    for (unsigned i = lane; i < TREE_CUDA_S_NUMBERS; i += CAROM_WARP) state[i] = 0;
    if (BOUNDS) {
        uint32_t *flags = from.flags_of(v, index);
        uint64_t words = tree_cuda_words_of(a) + tree_cuda_words_of(b);
        for (uint64_t i = lane; i < words; i += CAROM_WARP) flags[i] = 0;
    }
    if (p.bad) return; /* the search fails */
    carom_spheres_values values =
        spheres_cuda_values(p.pair.world, low, high, number[TREE_CUDA_S_SPOILED], numbers[warp]);
    if (lane != 0) return;
    if (visits != nullptr) visits[index] = p.visits;
    const carom_spheres_flagged flagged[2] = {
        {number[TREE_CUDA_S_FLAGGED], number[TREE_CUDA_S_VOIDS]},
        {number[TREE_CUDA_S_FLAGGED + 1], number[TREE_CUDA_S_VOIDS + 1]}};
    carom_packing_overlap overlap;
    memset(&overlap, 0, sizeof(overlap));
    carom_spheres_overlap_of_values(&values, &p.pair.world, &a.extent, &b.extent,
                                    BOUNDS ? flagged : nullptr, &overlap);
    memcpy(&overlaps[v.first + index], &overlap, sizeof(overlap));
}

#endif
