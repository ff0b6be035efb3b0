/* SPDX-License-Identifier: MIT */
/* bvh8_cuda.h: a box tree on the GPU for queries of one thread each: nearest triangles of
 * points, triangles that rays may meet.
 *
 * Items are in the order of the tree of bvh_cuda.h. Eight consecutive items are the children of a
 * node of level 0, eight consecutive nodes those of a node of the level above. So no node names its
 * children. A node has 64 bytes, four loads: the boxes of its children are integers from 0 to 255
 * in a frame of the node's own, rounded outwards (Ylitie, Karras, Laine, "Efficient incoherent ray
 * traversal on GPUs through compressed wide BVHs", 2017). A million triangles have 9 MiB of nodes.
 *
 * All is in a unit frame, in which no box has a coordinate above 1: the frame of the other tree's
 * boxes times a power of two. The records of triangles are there in floats, too.
 *
 * A thread keeps the nodes that are left to visit on a stack, each with the bound at which it
 * matters: the nearest is on top. */
#ifndef CAROM_SRC_BVH_BVH8_CUDA_H
#define CAROM_SRC_BVH_BVH8_CUDA_H

#include "bvh/bvh_layout_cuda.h"

#define CAROM_BVH8_CHILDREN 8u
#define CAROM_BVH8_LEVELS   11u /* 8^11 > 2^32 */
#define CAROM_BVH8_THREADS  128u
/* Each visit takes one entry from the stack and puts up to eight on it. */
#define CAROM_BVH8_STACK  ((CAROM_BVH8_CHILDREN - 1u) * CAROM_BVH8_LEVELS + 1u)
#define CAROM_BVH8_RECORD 3u /* float4 per item */

/* Reaches of the boxes of which a unit frame is made; beyond, floats might underflow or overflow.
 */
#define CAROM_BVH8_LEAST_REACH 0x1p-60
#define CAROM_BVH8_MOST_REACH  0x1p60

/* The frame: y = (x * scale - origin) * unit. */
struct carom_bvh8_frame {
    double scale, origin[3], unit;
    double reach; /* of the boxes, before `unit` */
    float leaf;   /* the median of the largest extents of leaves of the other tree, times `unit` */
    uint32_t usable;  /* 0: the reach is extreme, and there are no nodes */
    uint32_t bounded; /* 0: no item has a box */
};

/* Origin and exponents of the frame of a node: (8-bit coordinate) 2^(exponent - 127) + origin. The
 * fourth byte of the exponents marks the children that are there. Then eight bytes each for low x,
 * y, z and high x, y, z. */
struct carom_bvh8_node {
    float origin[3];
    uint32_t exponents;
    uint32_t low[3][2], high[3][2];
};
static_assert(sizeof(carom_bvh8_node) == 64, "a node is four loads");

struct carom_bvh8_tree {
    carom_bvh8_frame *frame;
    carom_bvh8_node *nodes;
    float4 *records; /* x, y, z of three corners; then item, face and whether it is in the tree */
    float2 *boxes;   /* three per node: low and high of each axis */
    uint32_t first[CAROM_BVH8_LEVELS]; /* node of each level */
    uint32_t count[CAROM_BVH8_LEVELS];
    uint32_t levels, items;
};

/* ---- Layout ---------------------------------------------------------------------------------- */

/* The bytes of a tree; with memory != NULL the addresses in it. */
static inline uint64_t carom_bvh8_lay_out(uint32_t items, char *memory, carom_bvh8_tree *tree) {
    uint64_t nodes = 0, at = CAROM_DEVICE_ALLOCATION, entries = items;
    tree->levels = 0;
    tree->items = items;
    do {
        entries = (entries + CAROM_BVH8_CHILDREN - 1) / CAROM_BVH8_CHILDREN;
        tree->first[tree->levels] = (uint32_t)nodes;
        tree->count[tree->levels++] = (uint32_t)entries;
        nodes += entries;
    } while (entries > 1);
    tree->frame = (carom_bvh8_frame *)memory;
    tree->nodes = (carom_bvh8_node *)(memory + at);
    at += carom_device_row(nodes * sizeof(carom_bvh8_node));
    tree->boxes = (float2 *)(memory + at);
    at += carom_device_row(3 * nodes * sizeof(float2));
    tree->records = (float4 *)(memory + at);
    return at + carom_device_row((uint64_t)items * CAROM_BVH8_RECORD * sizeof(float4));
}

/* ---- Build ----------------------------------------------------------------------------------- */

/* The frame, from the entries of the top level of the other tree; one warp. `scale`: scale and
 * origin of that tree's frame, NULL for the identity. */
static __global__ void carom_bvh8_begin(carom_bvh_cuda_tree from, const double *scale,
                                        carom_bvh8_frame *frame) {
    carom_device_begin();
    float reach = -1.0f;
    if (threadIdx.x < from.entries[from.levels - 1]) {
        carom_box box = carom_tree_entry(from.boxes[from.levels - 1], threadIdx.x);
        for (int k = 0; k < 3 && box.low[0] <= box.high[0]; ++k)
            reach = fmaxf(reach, fmaxf(fabsf(box.low[k]), fabsf(box.high[k])));
    }
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        reach = fmaxf(reach, __shfl_xor_sync(~0u, reach, step));
    float extent = 0.0f; /* of a sample of leaves */
    if (from.entries[1] != 0) {
        uint64_t leaf = (uint64_t)threadIdx.x * from.entries[1] / CAROM_WARP;
        carom_box box = carom_tree_entry(from.boxes[1], (uint32_t)leaf);
        for (int k = 0; k < 3; ++k) extent = fmaxf(box.high[k] - box.low[k], extent);
    }
    extent = carom_warp_select(extent, CAROM_WARP / 2);
    if (threadIdx.x != 0) return;
    frame->scale = scale != nullptr ? scale[0] : 1.0;
    for (int k = 0; k < 3; ++k) frame->origin[k] = scale != nullptr ? scale[1 + k] : 0.0;
    frame->reach = CAROM_MAX((double)reach, 0.0);
    frame->bounded = reach >= 0.0f ? 1u : 0u;
    frame->usable =
        reach == -1.0f || reach == 0.0f ||
                ((double)reach > CAROM_BVH8_LEAST_REACH && (double)reach < CAROM_BVH8_MOST_REACH)
            ? 1u
            : 0u;
    int exponent = 0;
    (void)frexp((double)reach, &exponent);
    frame->unit = reach > 0.0f && frame->usable != 0 ? ldexp(1.0, -exponent) : 1.0;
    frame->leaf = (float)((double)extent * frame->unit);
}

/* Writes the boxes of eight children, one per lane of a group of eight, into their node; returns
 * the node's box to all of them. All lanes of a warp call it. */
static __device__ inline carom_box carom_bvh8_join(carom_bvh8_node *node, bool there,
                                                   const carom_box &box) {
    unsigned lane = threadIdx.x % CAROM_WARP, child = lane % CAROM_BVH8_CHILDREN;
    unsigned mask = __ballot_sync(~0u, there) >> (lane - child) & 0xFFu, exponents = mask << 24;
    carom_box whole = there ? box : carom_box_empty();
    for (unsigned step = CAROM_BVH8_CHILDREN / 2; step != 0; step /= 2)
        for (int k = 0; k < 3; ++k) {
            whole.low[k] = fminf(whole.low[k], __shfl_xor_sync(~0u, whole.low[k], step));
            whole.high[k] = fmaxf(whole.high[k], __shfl_xor_sync(~0u, whole.high[k], step));
        }
    if (node == nullptr) return whole;
    for (int k = 0; k < 3; ++k) {
        int exponent = -126;
        unsigned low = 0, high = 0;
        if (mask != 0) {
            double extent = __dsub_ru((double)whole.high[k], (double)whole.low[k]);
            if (extent > 0x1p-110) {
                exponent = ilogb(extent) - 7;
                if (extent > ldexp(255.0, exponent)) ++exponent;
            }
            double per_step = ldexp(1.0, -exponent);
            if (there) {
                low =
                    (unsigned)floor(__dsub_rd((double)box.low[k], (double)whole.low[k]) * per_step);
                high =
                    (unsigned)ceil(__dsub_ru((double)box.high[k], (double)whole.low[k]) * per_step);
                CAROM_ASSERT(low <= high && high <= 255u);
            }
        }
        exponents |= (unsigned)(exponent + 127) << 8 * k;
        ((uint8_t *)node->low[k])[child] = (uint8_t)low;
        ((uint8_t *)node->high[k])[child] = (uint8_t)high;
        if (child == (unsigned)k) node->origin[k] = mask != 0 ? whole.low[k] : 0.0f;
    }
    if (child == 0) node->exponents = exponents;
    return whole;
}

/* Stores the box of a node for the level above. */
static __device__ inline void carom_bvh8_set_box(float2 *boxes, uint32_t node,
                                                 const carom_box &box) {
    for (int k = 0; k < 3; ++k)
        boxes[3 * (uint64_t)node + k] = make_float2(box.low[k], box.high[k]);
}

/* Level 0, a thread per item. ITEMS has a device function get(slot, frame, box, record): whether
 * the item of a slot is there; its box in the unit frame, and its record. */
template <typename ITEMS>
static __global__ void __launch_bounds__(CAROM_BVH8_THREADS)
    carom_bvh8_fill(ITEMS items, carom_bvh8_tree tree) {
    carom_device_begin();
    uint64_t slot = (uint64_t)blockIdx.x * CAROM_BVH8_THREADS + threadIdx.x;
    uint64_t node = slot / CAROM_BVH8_CHILDREN;
    bool in_tree = node < tree.count[0], there = false;
    carom_box box = carom_box_empty();
    if (tree.frame->usable == 0) return;
    if (slot < tree.items) {
        float4 record[CAROM_BVH8_RECORD];
        there = items.get((uint32_t)slot, *tree.frame, &box, record);
        record[CAROM_BVH8_RECORD - 1].w = there ? 1.0f : 0.0f;
        for (unsigned i = 0; i < CAROM_BVH8_RECORD; ++i)
            tree.records[CAROM_BVH8_RECORD * slot + i] = record[i];
    }
    box = carom_bvh8_join(in_tree ? tree.nodes + node : nullptr, there, box);
    if (in_tree && slot % CAROM_BVH8_CHILDREN == 0)
        carom_bvh8_set_box(tree.boxes, (uint32_t)node, box);
}

/* The levels above, a thread per node of the level below. */
static __global__ void __launch_bounds__(CAROM_BVH8_THREADS)
    carom_bvh8_fill_level(carom_bvh8_tree tree, uint32_t level) {
    carom_device_begin();
    uint64_t child = (uint64_t)blockIdx.x * CAROM_BVH8_THREADS + threadIdx.x;
    uint64_t node = child / CAROM_BVH8_CHILDREN;
    bool in_tree = node < tree.count[level];
    carom_box box = carom_box_empty();
    if (tree.frame->usable == 0) return;
    if (child < tree.count[level - 1])
        for (int k = 0; k < 3; ++k) {
            float2 ends = tree.boxes[3 * (tree.first[level - 1] + child) + k];
            box.low[k] = ends.x;
            box.high[k] = ends.y;
        }
    bool there = box.low[0] <= box.high[0];
    node += tree.first[level];
    box = carom_bvh8_join(in_tree ? tree.nodes + node : nullptr, there, box);
    if (in_tree && child % CAROM_BVH8_CHILDREN == 0)
        carom_bvh8_set_box(tree.boxes, (uint32_t)node, box);
}

/* Queues the build over the items of another tree. */
template <typename ITEMS>
static void carom_bvh8_build(carom_device *device, ITEMS items, const carom_bvh_cuda_tree &from,
                             const double *scale, const carom_bvh8_tree &tree) {
    const unsigned threads = CAROM_BVH8_THREADS;
    carom_device_launch(device, carom_bvh8_begin, 1, CAROM_WARP, from, scale, tree.frame);
    carom_device_launch(device, carom_bvh8_fill<ITEMS>,
                        carom_device_blocks((uint64_t)tree.count[0] * CAROM_BVH8_CHILDREN, threads),
                        threads, items, tree);
    for (uint32_t level = 1; level < tree.levels; ++level)
        carom_device_launch(
            device, carom_bvh8_fill_level,
            carom_device_blocks((uint64_t)tree.count[level] * CAROM_BVH8_CHILDREN, threads),
            threads, tree, level);
}

/* ---- Visiting nodes -------------------------------------------------------------------------- */

/* A node, loaded. */
struct carom_bvh8_boxes {
    float origin[3], step[3];
    unsigned mask;
    uint4 rows[3]; /* low x, low y; low z, high x; high y, high z */

    __device__ void load(const carom_bvh8_node *node) {
        const uint4 *words = (const uint4 *)node;
        uint4 head = words[0];
        origin[0] = __uint_as_float(head.x);
        origin[1] = __uint_as_float(head.y);
        origin[2] = __uint_as_float(head.z);
        for (int k = 0; k < 3; ++k) step[k] = __uint_as_float((head.w >> 8 * k & 0xFFu) << 23);
        mask = head.w >> 24;
        for (int i = 0; i < 3; ++i) rows[i] = words[1 + i];
    }

    /* The coordinate of a child, from 0 to 255, as a float; child and axis are constants where it
     * is called. */
    __device__ float low(unsigned child, int axis) const {
        return byte(axis == 0   ? (child < 4 ? rows[0].x : rows[0].y)
                    : axis == 1 ? (child < 4 ? rows[0].z : rows[0].w)
                                : (child < 4 ? rows[1].x : rows[1].y),
                    child % 4);
    }
    __device__ float high(unsigned child, int axis) const {
        return byte(axis == 0   ? (child < 4 ? rows[1].z : rows[1].w)
                    : axis == 1 ? (child < 4 ? rows[2].x : rows[2].y)
                                : (child < 4 ? rows[2].z : rows[2].w),
                    child % 4);
    }
    static __device__ float byte(uint32_t word, unsigned at) {
        return __uint2float_rn(word >> 8 * at & 0xFFu);
    }
};

/* Entries of a stack: a bound as the bits of a float >= 0, of which the last four say the level of
 * the node, and the node's number on its level. CAROM_BVH8_ITEM instead of a level: an item. */
#define CAROM_BVH8_LOW_BITS 15u
#define CAROM_BVH8_ITEM     15u

static __device__ inline void carom_bvh8_exchange(uint32_t &a, uint32_t &b) {
    uint32_t least = min(a, b), most = max(a, b);
    a = least;
    b = most;
}

/* Sorts eight keys (Batcher's network of 19 comparisons). */
static __device__ inline void carom_bvh8_sort(uint32_t *key) {
    const unsigned char pairs[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                        {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                        {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
#pragma unroll
    for (int i = 0; i < 19; ++i) carom_bvh8_exchange(key[pairs[i][0]], key[pairs[i][1]]);
}

/* Puts the children of a node on the stack, the one of the least bound last; the least itself goes
 * to *top without a way through memory, if there is any. keys[c] is the bound of child c as the
 * bits of a float, UINT32_MAX where it does not matter. */
static __device__ inline bool carom_bvh8_push(uint32_t *keys, uint32_t level, uint2 *stack,
                                              unsigned *count, uint2 *top) {
    uint32_t tag = level == 0 ? CAROM_BVH8_ITEM : level - 1, first = top->y * CAROM_BVH8_CHILDREN;
#pragma unroll
    for (unsigned c = 0; c < CAROM_BVH8_CHILDREN; ++c)
        if (keys[c] != UINT32_MAX) keys[c] = (keys[c] & ~CAROM_BVH8_LOW_BITS) | c;
    carom_bvh8_sort(keys);
#pragma unroll
    for (int c = (int)CAROM_BVH8_CHILDREN - 1; c > 0; --c)
        if (keys[c] != UINT32_MAX) {
            CAROM_ASSERT(*count < CAROM_BVH8_STACK);
            stack[(*count)++] = make_uint2((keys[c] & ~CAROM_BVH8_LOW_BITS) | tag,
                                           first + keys[c] % CAROM_BVH8_CHILDREN);
        }
    if (keys[0] == UINT32_MAX) return false;
    *top =
        make_uint2((keys[0] & ~CAROM_BVH8_LOW_BITS) | tag, first + keys[0] % CAROM_BVH8_CHILDREN);
    return true;
}

/* A root and a quotient, off by two units in the last place. */
static __device__ inline float carom_bvh8_root(float x) {
    float root;
#ifdef CAROM_CUDA_EMULATED
    root = carom_emulated_sqrt_approx(x);
#else
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
#endif
    return root;
}

/* Whether a record is that of a triangle which is not in the tree. */
static __device__ inline bool carom_bvh8_left_out(const float4 *record) {
    return record[CAROM_BVH8_RECORD - 1].w == 0.0f;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Triangles that may be the nearest one, or the first one. */
#define CAROM_BVH8_CANDIDATES 16u
/* Instead of a number of candidates: there are more, or none were looked for. */
#define CAROM_BVH8_MORE UINT32_MAX

/* Candidates with lower bounds, of which those above the least upper bound are dropped. */
struct carom_bvh8_found {
    float best; /* the least upper bound */
    unsigned count;
    uint32_t slot[CAROM_BVH8_CANDIDATES];
    float low[CAROM_BVH8_CANDIDATES];

    __device__ void keep_near() {
        unsigned kept = 0;
        for (unsigned i = 0; i < count; ++i)
            if (low[i] <= best) {
                slot[kept] = slot[i];
                low[kept++] = low[i];
            }
        count = kept;
    }

    /* False: there is no room for it. */
    __device__ bool offer(uint32_t at, float lower, float upper) {
        if (lower > best) return true;
        best = fminf(best, upper);
        if (count == CAROM_BVH8_CANDIDATES) keep_near();
        if (count == CAROM_BVH8_CANDIDATES) return false;
        slot[count] = at;
        low[count++] = lower;
        return true;
    }
};

/* ---- Triangles near a point ------------------------------------------------------------------ */

/* With e = 2^-24: a point in the unit frame in floats, what that rounds off, and bounds. */
struct carom_bvh8_point {
    float at[3], rest[3];
    /* Of the gap to a box: origin - at, the product and the sum with it are each off by e of
     * themselves, at by e / 2: below 4 e (1 + |at|); four times as much. */
    float margin;
    float error; /* of the places of the point and of corners in the records, together */
};

#define CAROM_BVH8_GAP_ERROR 0x1p-20f
/* Of the place of a point, in doubles and then in two floats, relative to 1 and its coordinates:
 * below 2^-47 per axis. */
#define CAROM_BVH8_POSITION_ERROR 0x1p-44f
/* Of a corner in a record, where it had to be rounded: 2^-25 per axis. */
#define CAROM_BVH8_RECORD_ERROR 0x1p-24f
/* Of squared distances in floats, relative: a few roundings. */
#define CAROM_BVH8_SQUARE_MARGIN 0x1p-20f
/* Exceeds all that underflows in the unit frame: the square of an edge below 2^-63, of which any
 * point may then be taken. */
#define CAROM_BVH8_UNDERFLOW 0x1p-60f
/* Points with a larger coordinate are left to doubles. */
#define CAROM_BVH8_FARTHEST 1024.0

/* Bounds of rounding of the triangle of a record seen from a point in floats. W is the largest
 * coordinate of a corner, seen from the point, off by 2 e of itself. U is the largest coordinate of
 * the edges at the first corner, off by e of themselves.
 *   EDGE     of the distance to an edge, in W: coordinates of its foot below 8 e, and the foot
 *            moves along the edge by below 16 e W; 64 e
 *   HEIGHT   of n.w for the normal n = u x v, in U^2 W: below 60 e; 128 e
 *   NORMAL   of n.n, in U^4: below 60 e; 128 e
 *   SIDE     of the side of an edge (n x u).w, in U^3 (W + U): below 200 e; 512 e
 *   QUOTIENT of a height divided by the normal's length: a root, a quotient, a product; 16 e
 * The true point and triangle are farther or nearer by carom_bvh8_point.error at most. */
#define CAROM_BVH8_EDGE_ERROR     0x1p-18f
#define CAROM_BVH8_HEIGHT_ERROR   0x1p-17f
#define CAROM_BVH8_NORMAL_ERROR   0x1p-17f
#define CAROM_BVH8_SIDE_ERROR     0x1p-15f
#define CAROM_BVH8_QUOTIENT_ERROR 0x1p-20f
/* Triangles of a size of which the fourth power might underflow are edges alone. */
#define CAROM_BVH8_LEAST_SIZE 0x1p-24f

struct carom_bvh8_vec {
    float x, y, z;
};

static __device__ inline carom_bvh8_vec carom_bvh8_sub(carom_bvh8_vec a, carom_bvh8_vec b) {
    return carom_bvh8_vec{a.x - b.x, a.y - b.y, a.z - b.z};
}

static __device__ inline float carom_bvh8_dot(carom_bvh8_vec a, carom_bvh8_vec b) {
    return __fmaf_rn(a.z, b.z, __fmaf_rn(a.y, b.y, a.x * b.x));
}

static __device__ inline carom_bvh8_vec carom_bvh8_cross(carom_bvh8_vec a, carom_bvh8_vec b) {
    return carom_bvh8_vec{__fmaf_rn(a.y, b.z, -(a.z * b.y)), __fmaf_rn(a.z, b.x, -(a.x * b.z)),
                          __fmaf_rn(a.x, b.y, -(a.y * b.x))};
}

static __device__ inline carom_bvh8_vec carom_bvh8_along(carom_bvh8_vec a, carom_bvh8_vec u,
                                                         float t) {
    return carom_bvh8_vec{__fmaf_rn(u.x, t, a.x), __fmaf_rn(u.y, t, a.y), __fmaf_rn(u.z, t, a.z)};
}

static __device__ inline float carom_bvh8_largest(carom_bvh8_vec a) {
    return fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fabsf(a.z));
}

/* The squared distance of w + t u, t in [0, 1], from 0. */
static __device__ inline float carom_bvh8_edge(carom_bvh8_vec w, carom_bvh8_vec u) {
    float square = carom_bvh8_dot(u, u);
    float t = square > 0.0f ? __fdividef(-carom_bvh8_dot(w, u), square) : 0.0f;
    t = fminf(fmaxf(t, 0.0f), 1.0f); /* NaN becomes 0 */
    carom_bvh8_vec foot = carom_bvh8_along(w, u, t);
    return carom_bvh8_dot(foot, foot);
}

/* Bounds of the distance of a triangle from a point. The lower one is the distance up to rounding
 * where the nearest point is certain to lie on an edge, else that of the plane. The upper one is
 * the distance of a point of the triangle, however its place was rounded. */
static __device__ inline void carom_bvh8_distance(const carom_bvh8_point &q, const float4 *record,
                                                  float *low, float *high) {
    float4 r0 = record[0], r1 = record[1];
    float cz = record[2].x;
    carom_bvh8_vec p[3] = {{r0.x, r0.y, r0.z}, {r0.w, r1.x, r1.y}, {r1.z, r1.w, cz}}, w[3];
    float far = 0.0f;
    for (int i = 0; i < 3; ++i) {
        w[i].x = (p[i].x - q.at[0]) - q.rest[0];
        w[i].y = (p[i].y - q.at[1]) - q.rest[1];
        w[i].z = (p[i].z - q.at[2]) - q.rest[2];
        far = fmaxf(far, carom_bvh8_largest(w[i]));
    }
    carom_bvh8_vec u = carom_bvh8_sub(p[1], p[0]), v = carom_bvh8_sub(p[2], p[0]);
    carom_bvh8_vec o = carom_bvh8_sub(p[2], p[1]);
    float size = fmaxf(carom_bvh8_largest(u), carom_bvh8_largest(v));
    float edges =
        fminf(fminf(carom_bvh8_edge(w[0], u), carom_bvh8_edge(w[1], o)), carom_bvh8_edge(w[0], v));
    float error = __fmaf_rn(CAROM_BVH8_EDGE_ERROR, far, CAROM_BVH8_UNDERFLOW) + q.error;
    float nearest = carom_bvh8_root(edges);
    *high = nearest + error;
    *low = nearest - error;
    if (!(size > CAROM_BVH8_LEAST_SIZE)) {
        *low -= 4.0f * CAROM_BVH8_LEAST_SIZE;
        return;
    }
    carom_bvh8_vec n = carom_bvh8_cross(u, v);
    float nn = carom_bvh8_dot(n, n), square = size * size;
    float doubt = CAROM_BVH8_SIDE_ERROR * (square * size) * (far + size);
    float along_u = carom_bvh8_dot(carom_bvh8_cross(n, u), w[0]); /* - n.n times v's weight */
    float along_v = carom_bvh8_dot(carom_bvh8_cross(v, n), w[0]); /* - n.n times u's weight */
    float across = -(nn + (along_u + along_v));
    if (along_u > doubt || along_v > doubt || across > doubt) return;
    float height = fabsf(carom_bvh8_dot(n, w[0])) - CAROM_BVH8_HEIGHT_ERROR * (square * far);
    float length = carom_bvh8_root(nn + CAROM_BVH8_NORMAL_ERROR * (square * square));
    float plane = __fdividef(height, length) * (1.0f - CAROM_BVH8_QUOTIENT_ERROR);
    *low = fminf(*low, plane - q.error);
    if (!(nn > 0.0f)) return;
    float by_v = fminf(fmaxf(__fdividef(-along_u, nn), 0.0f), 1.0f);
    float by_u = fminf(fmaxf(__fdividef(-along_v, nn), 0.0f), 1.0f - by_v);
    carom_bvh8_vec foot = carom_bvh8_along(carom_bvh8_along(w[0], u, by_u), v, by_v);
    *high = fminf(*high, carom_bvh8_root(carom_bvh8_dot(foot, foot)) + error);
}

/* The squared distance of a child's box from the point, a lower bound, as the bits of a float;
 * UINT32_MAX where it is above the limit. */
static __device__ inline uint32_t carom_bvh8_gap(const carom_bvh8_boxes &boxes, unsigned child,
                                                 const float *below, const float *above,
                                                 float limit) {
    float square = 0.0f;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        float low = __fmaf_rn(boxes.low(child, k), boxes.step[k], below[k]);
        float high = __fmaf_rn(boxes.high(child, k), -boxes.step[k], above[k]);
        float gap = fmaxf(fmaxf(low, high), 0.0f);
        square = __fmaf_rn(gap, gap, square);
    }
    bool matters = (boxes.mask >> child & 1u) != 0 && square <= limit;
    return matters ? __float_as_uint(square) : UINT32_MAX;
}

/* Finds the triangles that may be the nearest one; false: they are too many. */
static __device__ inline bool carom_bvh8_find_nearest(const carom_bvh8_tree &tree,
                                                      const carom_bvh8_point &q,
                                                      carom_bvh8_found &found) {
    uint2 stack[CAROM_BVH8_STACK];
    unsigned count = 0;
    float limit = HUGE_VALF; /* of squared distances */
    uint2 top = make_uint2(tree.levels - 1, 0);
    bool is_next = tree.items != 0; /* top is */
    found.count = 0;
    found.best = HUGE_VALF;
    while (is_next || count != 0) {
        if (!is_next) top = stack[--count];
        is_next = false;
        uint32_t level = top.x & CAROM_BVH8_LOW_BITS;
        if (__uint_as_float(top.x & ~CAROM_BVH8_LOW_BITS) > limit) continue;
        if (level == CAROM_BVH8_ITEM) {
            float low, high;
            carom_bvh8_distance(q, tree.records + CAROM_BVH8_RECORD * (uint64_t)top.y, &low, &high);
            if (!found.offer(top.y, low, high)) return false;
            limit = __fmaf_rn(found.best * found.best, 1.0f + CAROM_BVH8_SQUARE_MARGIN,
                              CAROM_BVH8_UNDERFLOW);
            continue;
        }
        carom_bvh8_boxes boxes;
        float below[3], above[3];
        uint32_t keys[CAROM_BVH8_CHILDREN];
        CAROM_ASSERT(level < tree.levels && top.y < tree.count[level]);
        boxes.load(tree.nodes + tree.first[level] + top.y);
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            below[k] = (boxes.origin[k] - q.at[k]) - q.margin;
            above[k] = (q.at[k] - boxes.origin[k]) - q.margin;
        }
#pragma unroll
        for (unsigned c = 0; c < CAROM_BVH8_CHILDREN; ++c)
            keys[c] = carom_bvh8_gap(boxes, c, below, above, limit);
        is_next = carom_bvh8_push(keys, level, stack, &count, &top);
    }
    found.keep_near();
    return true;
}

/* ---- Triangles along a ray ------------------------------------------------------------------- */

/* With e = 2^-24: the ray start + s direction in the unit frame in floats. It starts in the cube of
 * CAROM_BVH8_CUBE, or where it enters it; one component of the direction is 1 or -1. Within the
 * cube it is off by at most 2^-22: e of the start, and e / 2 of the direction over less than five
 * units. */
struct carom_bvh8_ray {
    float start[3], direction[3];
    float inverse[3], enter[3], leave[3]; /* as in carom_bvh_slabs */
    bool backward[3];
    int axis[3];        /* axis[2]: of the component that is 1 or -1 */
    float end_low, end; /* bounds of s at the end of the ray */
};

#define CAROM_BVH8_CUBE 1.0625 /* half its edge */
/* By which boxes are enlarged. What the ray is off by, and what entries and exits are off by, seen
 * as distances along an axis (a few e of less than five units), are below half of it. Within a
 * component of the direction below the least one, the ray moves by less than the rest; there the
 * reciprocal of the least is taken, by which half of the margin becomes 4, more than the ray is
 * long in the cube. */
#define CAROM_BVH8_RAY_MARGIN      0x1p-19f
#define CAROM_BVH8_LEAST_COMPONENT 0x1p-22f
/* Of a corner seen from the start and sheared along the ray, relative to 1 and its coordinates:
 * below 6 e, what the ray is off by, and the quotient of an advance; 16 e. */
#define CAROM_BVH8_SHEAR_ERROR 0x1p-20f
/* Of areas and advances, as in ray_item.h. */
#define CAROM_BVH8_AREA_ERROR    8.0f
#define CAROM_BVH8_TOTAL_ERRORS  64.0f
#define CAROM_BVH8_WEIGHT_ERRORS 16.0f

/* One of three values, by an index that is not a constant. */
static __device__ inline float carom_bvh8_choose(int axis, float x, float y, float z) {
    return axis == 0 ? x : axis == 1 ? y : z;
}

static __device__ inline void carom_bvh8_ray_begin(carom_bvh8_ray *ray) {
    for (int k = 0; k < 3; ++k) {
        float d = ray->direction[k];
        bool along = fabsf(d) < CAROM_BVH8_LEAST_COMPONENT;
        ray->backward[k] = !along && d < 0.0f;
        ray->inverse[k] = along ? 1.0f / CAROM_BVH8_LEAST_COMPONENT : 1.0f / d;
        float by = ray->backward[k] ? -CAROM_BVH8_RAY_MARGIN : CAROM_BVH8_RAY_MARGIN;
        ray->enter[k] = ray->start[k] + by;
        ray->leave[k] = ray->start[k] - by;
    }
}

/* Bounds of the s at which the ray meets the triangle of a record first. False: it certainly does
 * not. *high is infinite where it may not. The terms are those of carom_ray_filter. */
static __device__ inline bool carom_bvh8_meet(const carom_bvh8_ray &ray, const float4 *record,
                                              float *low, float *high) {
    float4 r0 = record[0], r1 = record[1];
    const float p[3][3] = {{r0.x, r0.y, r0.z}, {r0.w, r1.x, r1.y}, {r1.z, r1.w, record[2].x}};
    int kx = ray.axis[0], ky = ray.axis[1], kz = ray.axis[2];
    float sign = carom_bvh8_choose(kz, ray.direction[0], ray.direction[1], ray.direction[2]);
    float slope_x =
        sign * carom_bvh8_choose(kx, ray.direction[0], ray.direction[1], ray.direction[2]);
    float slope_y =
        sign * carom_bvh8_choose(ky, ray.direction[0], ray.direction[1], ray.direction[2]);
    float x[3], y[3], z[3], most = 0.0f, across = 0.0f;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        float c[3];
        for (int k = 0; k < 3; ++k) {
            c[k] = p[i][k] - ray.start[k];
            most = fmaxf(fabsf(c[k]), most);
        }
        z[i] = carom_bvh8_choose(kz, c[0], c[1], c[2]);
        x[i] = carom_bvh8_choose(kx, c[0], c[1], c[2]) - slope_x * z[i];
        y[i] = carom_bvh8_choose(ky, c[0], c[1], c[2]) - slope_y * z[i];
        z[i] *= sign;
        across = fmaxf(fmaxf(fabsf(x[i]), fabsf(y[i])), across);
    }
    float delta = CAROM_BVH8_SHEAR_ERROR * (1.0f + most);
    float area_error = CAROM_BVH8_AREA_ERROR * delta * (across + delta);
    float a0 = x[1] * y[2] - y[1] * x[2];
    float a1 = x[2] * y[0] - y[2] * x[0];
    float a2 = x[0] * y[1] - y[0] * x[1];
    float least = fminf(fminf(a0, a1), a2), largest = fmaxf(fmaxf(a0, a1), a2);
    if (least < -area_error && largest > area_error) return false;
    float first = fminf(fminf(z[0], z[1]), z[2]), last = fmaxf(fmaxf(z[0], z[1]), z[2]);
    float total = (a0 + a1) + a2;
    *low = first - delta;
    *high = last + delta;
    if (fabsf(total) > CAROM_BVH8_TOTAL_ERRORS * area_error) {
        float at = z[0] + __fdividef(a1 * (z[1] - z[0]) + a2 * (z[2] - z[0]), total);
        float width =
            __fdividef(CAROM_BVH8_WEIGHT_ERRORS * area_error, fabsf(total)) * (last - first) +
            delta;
        *low = fmaxf(at - width, *low);
        *high = fminf(at + width, *high);
    }
    if (*high < -2.0f * delta || *low > ray.end) return false;
    bool certain =
        (least > area_error || largest < -area_error) && *low > 2.0f * delta && *high < ray.end_low;
    if (!certain) *high = HUGE_VALF;
    return true;
}

/* The s at which the ray enters a child's box, as the bits of a float >= 0; UINT32_MAX where it
 * misses the box, or enters it beyond the limit. */
static __device__ inline uint32_t carom_bvh8_enter(const carom_bvh8_boxes &boxes, unsigned child,
                                                   const carom_bvh8_ray &ray, const float *step,
                                                   const float *in, const float *out, float limit) {
    float first = 0.0f, last = limit;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        float low = boxes.low(child, k), high = boxes.high(child, k);
        first = fmaxf(__fmaf_rn(ray.backward[k] ? high : low, step[k], in[k]), first);
        last = fminf(__fmaf_rn(ray.backward[k] ? low : high, step[k], out[k]), last);
    }
    bool matters = (boxes.mask >> child & 1u) != 0 && first <= last;
    return matters ? __float_as_uint(first) : UINT32_MAX;
}

/* Finds the triangles that the ray may meet first; false: they are too many. */
static __device__ inline bool carom_bvh8_find_first(const carom_bvh8_tree &tree,
                                                    const carom_bvh8_ray &ray,
                                                    carom_bvh8_found &found) {
    uint2 stack[CAROM_BVH8_STACK];
    unsigned count = 0;
    found.count = 0;
    found.best = HUGE_VALF;
    uint2 top = make_uint2(tree.levels - 1, 0);
    bool is_next = tree.items != 0; /* top is */
    while (is_next || count != 0) {
        if (!is_next) top = stack[--count];
        is_next = false;
        uint32_t level = top.x & CAROM_BVH8_LOW_BITS;
        float limit = fminf(found.best, ray.end);
        if (__uint_as_float(top.x & ~CAROM_BVH8_LOW_BITS) > limit) continue;
        if (level == CAROM_BVH8_ITEM) {
            float low, high;
            const float4 *record = tree.records + CAROM_BVH8_RECORD * (uint64_t)top.y;
            if (carom_bvh8_meet(ray, record, &low, &high) && !found.offer(top.y, low, high))
                return false;
            continue;
        }
        carom_bvh8_boxes boxes;
        float in[3], out[3], step[3];
        uint32_t keys[CAROM_BVH8_CHILDREN];
        CAROM_ASSERT(level < tree.levels && top.y < tree.count[level]);
        boxes.load(tree.nodes + tree.first[level] + top.y);
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            step[k] = boxes.step[k] * ray.inverse[k];
            in[k] = (boxes.origin[k] - ray.enter[k]) * ray.inverse[k];
            out[k] = (boxes.origin[k] - ray.leave[k]) * ray.inverse[k];
        }
#pragma unroll
        for (unsigned c = 0; c < CAROM_BVH8_CHILDREN; ++c)
            keys[c] = carom_bvh8_enter(boxes, c, ray, step, in, out, limit);
        is_next = carom_bvh8_push(keys, level, stack, &count, &top);
    }
    found.keep_near();
    return true;
}

#endif
