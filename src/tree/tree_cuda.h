/* SPDX-License-Identifier: MIT */
/* tree_cuda.h: two posed trees as searches on the GPU see them: nodes and spheres in one frame,
 * what is known of a pose, and what can still matter.
 *
 * The floats are those of tree_cpu.c, in the same order, so that pairs of spheres that overlap are
 * sought below the same pairs of nodes as on the CPU. */
#ifndef CAROM_SRC_TREE_TREE_CUDA_H
#define CAROM_SRC_TREE_TREE_CUDA_H

#include "base/device_cuda.h"
#include "tree/tree_cylinder_item.h"
#include "tree/tree_device.h"
#include "tree/tree_gap_item.h"
#include "tree/tree_posed_pair_item.h"

#define TREE_CUDA_WARPS   4u /* of a block */
#define TREE_CUDA_THREADS (TREE_CUDA_WARPS * CAROM_WARP)
#define TREE_CUDA_BUFFER  128u /* pairs that a warp collects before it appends them */
#define TREE_CUDA_ROWS    (CAROM_WARP / CAROM_TREE_WIDTH) /* children of the moving node at once */

/* What is sought. */
enum tree_cuda_kind {
    TREE_CUDA_MEET,    /* inner balls that overlap */
    TREE_CUDA_SPHERES, /* the least gaps of balls */
    TREE_CUDA_FACES,   /* the nearest triangles */
    TREE_CUDA_LENSES,  /* the overlap: an estimate */
    TREE_CUDA_BOUNDS   /* the same with bounds */
};

/* The ball of a node: as a lane of its parent has it, or of the root. */
struct tree_cuda_ball {
    float x, y, z, radius, reach, cover;
};

/* A tree in device memory: its pointers lead to arrays there. Of those that searches need alone. */
struct tree_cuda_tree {
    carom_tree tree; /* the first member: posed pairs point to it */
    const tree_cuda_ball *balls;
};

struct carom_device_tree {
    carom_device_block memory; /* a tree_cuda_tree, then its arrays */
};

/* Two trees in a pose or in several. */
struct tree_cuda_query {
    const tree_cuda_tree *tree[2];
    carom_pose pose[2];
    const carom_pose *poses[2]; /* NULL: `pose` */
    double scale[2];
    uint32_t hint[2];
    bool apart;
    uint64_t flags; /* the first of its words of flags */
};

/* What is known of a pose. */
struct tree_cuda_pose {
    carom_tree_posed_pair pair;
    unsigned long long least, cover;  /* gaps so far, as bits; no gap of covers is below 0 */
    unsigned long long first, second; /* the best pair at the least gap */
    uint32_t bound;                   /* the least gap is at most this, in the frame: as bits */
    uint32_t done;                    /* nothing is sought any more */
    uint32_t found;                   /* balls overlap, or triangles meet */
    unsigned long long visits;        /* pairs of nodes that were opened, of overlaps */
    bool bad;                         /* the pose does not fit: there is no pair */
    bool aimed;                       /* there is a direction: */
    float toward[3];
};

/* The queries of a search. */
struct tree_cuda_view {
    tree_cuda_query one;
    const tree_cuda_query *all; /* NULL: `one`, in several poses */
    tree_cuda_pose *state;
    uint64_t first; /* of the poses, that of state[0] */
    uint32_t count;

    __device__ const tree_cuda_query &query(uint32_t index) const {
        return all != nullptr ? all[index] : one;
    }
};

/* ---- Poses ----------------------------------------------------------------------------------- */

/* The pair of a pose; false where it does not fit. */
static __device__ inline bool tree_cuda_pair(const tree_cuda_view &v, uint32_t index,
                                             carom_tree_pair *pair) {
    const tree_cuda_query &q = v.query(index);
    carom_pose *poses[2] = {&pair->pose_a, &pair->pose_b};
    bool fits = true;
    for (int i = 0; i < 2; ++i) {
        double far;
        *poses[i] = q.poses[i] != nullptr ? q.poses[i][v.first + index] : q.pose[i];
        fits = fits &&
               carom_spheres_transform_fits(&q.tree[i]->tree.extent, poses[i], q.scale[i], &far);
    }
    pair->a = &q.tree[0]->tree;
    pair->b = &q.tree[1]->tree;
    pair->scale_a = q.scale[0];
    pair->scale_b = q.scale[1];
    pair->hint = nullptr;
    return fits;
}

static __device__ inline unsigned long long tree_cuda_bits(double x) {
    return (unsigned long long)__double_as_longlong(x);
}

static __device__ inline double tree_cuda_number(const unsigned long long &bits) {
    return __longlong_as_double((long long)*(const volatile unsigned long long *)&bits);
}

static __device__ inline bool tree_cuda_is_done(const tree_cuda_pose &p) {
    return *(const volatile uint32_t *)&p.done != 0;
}

/* A float whose order as an integer is that of the numbers. */
static __device__ inline uint32_t tree_cuda_ordered(float x) {
    uint32_t bits = __float_as_uint(x);
    return (bits >> 31) != 0 ? ~bits : bits | 1u << 31;
}

/* A gap in the world as a float in the frame, rounded up. */
static __device__ inline float tree_cuda_limit_of(const carom_tree_posed_pair &p, double gap,
                                                  float margin) {
    double least = gap * p.to_frame - p.offset;
    return least > CAROM_TREE_FLOAT_MAX ? HUGE_VALF : (float)least + margin;
}

/* What is farther than this does not matter: of gaps of balls or triangles, and of covers. */
struct tree_cuda_limits {
    float near, cover;

    __device__ tree_cuda_limits(const tree_cuda_pose &p, float margin, bool covers) {
        float bound = __uint_as_float(*(const volatile uint32_t *)&p.bound) + margin;
        near = tree_cuda_limit_of(p.pair, tree_cuda_number(p.least), margin);
        near = bound < near ? bound : near;
        cover = -HUGE_VALF;
        double least = covers ? tree_cuda_number(p.cover) : 0.0;
        if (!(least > 0.0)) return;
        cover = tree_cuda_limit_of(p.pair, least, margin);
        cover = bound < cover ? bound : cover;
    }
};

/* Lowers the bound of a pose by the least of a warp's, which all lanes call. */
static __device__ inline void tree_cuda_lower(tree_cuda_pose *p, float bound) {
    float least = bound > 0.0f ? bound : 0.0f; /* infinite: none */
    uint32_t bits = __reduce_min_sync(~0u, __float_as_uint(least));
    if (threadIdx.x % CAROM_WARP == 0 && bits < *(const volatile uint32_t *)&p->bound)
        atomicMin(&p->bound, bits);
}

/* ---- Balls ----------------------------------------------------------------------------------- */

static __device__ inline const tree_cuda_tree &tree_cuda_of(const carom_tree *tree) {
    return *reinterpret_cast<const tree_cuda_tree *>(tree);
}

/* A child of a node, or the node itself; `any` is false past the last. */
static __device__ inline tree_cuda_ball tree_cuda_child(const carom_tree *tree, uint32_t node,
                                                        bool opened, uint32_t lane) {
    if (!opened) {
        tree_cuda_ball whole = tree_cuda_of(tree).balls[node];
        if (lane != 0) whole.x = whole.y = whole.z = NAN;
        return whole;
    }
    const carom_tree_node &n = tree->nodes[node];
    return {n.x[lane], n.y[lane], n.z[lane], n.radius[lane], n.reach[lane], n.cover[lane]};
}

/* A ball of the moving tree in the fixed tree's frame. */
static __device__ inline tree_cuda_ball tree_cuda_posed(const carom_tree_posed_pair &p,
                                                        tree_cuda_ball b) {
    const float *m = p.turn;
    return {m[0] * b.x + m[1] * b.y + m[2] * b.z + p.move[0],
            m[3] * b.x + m[4] * b.y + m[5] * b.z + p.move[1],
            m[6] * b.x + m[7] * b.y + m[8] * b.z + p.move[2],
            b.radius * p.scale,
            b.reach * p.scale,
            b.cover * p.scale};
}

/* A lower bound of the distance of two centres, less the offset. */
static __device__ inline float tree_cuda_between(const carom_tree_posed_pair &p,
                                                 const tree_cuda_ball &a, const tree_cuda_ball &b) {
    float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
    float d =
        p.far ? x * p.toward[0] + y * p.toward[1] + z * p.toward[2] : sqrtf(x * x + y * y + z * z);
    return d - p.margin;
}

/* Two nodes whose children a warp compares: a lane has one of the fixed one, and all have those of
 * the moving one in shared memory. A leaf beside a node stays as it is. */
struct tree_cuda_opened {
    const carom_tree *fixed, *moving;
    uint32_t node_fixed, node_moving, lane; /* the child of the fixed one */
    bool opens_fixed, opens_moving;
    tree_cuda_ball ball;

    __device__ void open(const carom_tree_posed_pair &p, uint32_t of_fixed, uint32_t of_moving,
                         tree_cuda_ball *others) {
        unsigned thread = threadIdx.x % CAROM_WARP;
        fixed = p.fixed;
        moving = p.moving;
        node_fixed = of_fixed;
        node_moving = of_moving;
        lane = thread % CAROM_TREE_WIDTH;
        bool leaf_fixed = of_fixed >= fixed->inner_count;
        bool leaf_moving = of_moving >= moving->inner_count;
        opens_fixed = !leaf_fixed || leaf_moving;
        opens_moving = !leaf_moving || leaf_fixed;
        ball = tree_cuda_child(fixed, of_fixed, opens_fixed, lane);
        __syncwarp();
        if (thread < CAROM_TREE_WIDTH)
            others[thread] =
                tree_cuda_posed(p, tree_cuda_child(moving, of_moving, opens_moving, thread));
        __syncwarp();
    }
    __device__ bool leaves() const {
        return node_fixed >= fixed->inner_count && node_moving >= moving->inner_count;
    }
    /* Children as nodes; of two leaves as slots. */
    __device__ uint32_t child_fixed() const {
        if (leaves()) return (node_fixed - fixed->inner_count) * CAROM_TREE_WIDTH + lane;
        return opens_fixed ? fixed->nodes[node_fixed].child[lane] : node_fixed;
    }
    __device__ uint32_t child_moving(uint32_t other) const {
        if (leaves()) return (node_moving - moving->inner_count) * CAROM_TREE_WIDTH + other;
        return opens_moving ? moving->nodes[node_moving].child[other] : node_moving;
    }
};

#endif
