/* SPDX-License-Identifier: MIT */
/* The search for faces that meet, and the sums of their terms, on the GPU: for many queries at a
 * time, each of which is one pair of solids in a pose.
 *
 *   blocks      a warp per block of 16 triangles of b finds the blocks of a whose boxes overlap its
 *               own, from the root of a's tree down
 *   candidates  a warp per pair of blocks: the pairs of triangles whose boxes overlap
 *   planes      in doubles: most pairs have one triangle on one side of the other's plane
 *   terms       the rest is decided exactly, and its terms are added (solid_pair_item.h)
 *   links       each crossed edge of a spanning tree adds a difference of two prefix sums, and the
 *               few triangles up to the next block boundary
 *   triangles   of solids whose triangles are added one by one: crossed edges change the winding
 *               numbers of vertices, these are added up, and a thread takes a triangle
 *
 * Boxes are those of the solids' own frames: nothing is built for a query. Items are those of the
 * CPU, and sums are integers (sum_item.h), so results are the CPU's bytes in any order of threads.
 * What hardly ever happens is listed for the CPU: pairs in degenerate position, whose intersection
 * it classifies. */
#include <cstddef>
#include <new>

#include "base/scan_cuda.h"
#include "solid/solid_cuda.h"

#define SOLID_CUDA_THREADS 256u
#define SOLID_CUDA_WARPS   (SOLID_CUDA_THREADS / CAROM_WARP)
#define DECIDERS           128u /* threads of a block that decides: they take many registers */
#define PER_WARP           64u  /* entries that a warp collects before it appends them */
#define STACK_NODES        256u /* two are taken and up to 32 added per level, on 7 levels */
#define SOLID_CUDA_LEVEL_SHIFT                                                                     \
    28u                      /* a node above the blocks: its level and its index, below 2^28 */
#define LIST_ENTRIES 262144u /* of a list at first: 3 MiB */
#define MOST_QUERIES 65535u  /* of a launch: rows that a grid of blocks may have */

/* Counters: */
enum { N_BLOCK_PAIRS, SOLID_CUDA_N_CANDIDATES, SOLID_CUDA_N_OPEN, N_LINKS, N_KEPT, N_DEGENERATE };

/* A query whose solids are arrays on the device. */
struct solid_cuda_query {
    carom_device_overlap q;
    carom_device_solid_arrays solids[2];
    /* Where triangles are added one by one, else NULL: as in carom_solid_query, for each vertex the
     * change of the winding number, one more for behind the last; and the sums before each. */
    int32_t *changes[2], *sums[2];
};

/* Two blocks, or two triangles. */
struct solid_cuda_entry {
    uint32_t query, a, b;
};

static_assert(CAROM_DEVICE_TREE_LEVELS == CAROM_BVH_LEVELS, "the levels of both trees");

/* ---- Boxes ----------------------------------------------------------------------------------- */

struct solid_cuda_box {
    float low[3], high[3];
};

static __device__ inline solid_cuda_box load_box(const carom_bvh_node *node, unsigned lane) {
    solid_cuda_box b;
    for (int k = 0; k < 3; ++k) {
        b.low[k] = node->low[k][lane];
        b.high[k] = node->high[k][lane];
    }
    return b;
}

static __device__ inline bool solid_cuda_overlap(const solid_cuda_box &a, const solid_cuda_box &b) {
    return a.low[0] <= b.high[0] && b.low[0] <= a.high[0] && a.low[1] <= b.high[1] &&
           b.low[1] <= a.high[1] && a.low[2] <= b.high[2] && b.low[2] <= a.high[2];
}

static __device__ inline void move_point(const carom_device_move &m, const float *x, float *y) {
    for (int k = 0; k < 3; ++k)
        y[k] = m.turn[k][0] * x[0] + m.turn[k][1] * x[1] + m.turn[k][2] * x[2] + m.shift[k];
}

/* A box around a moved box; an empty one stays empty. */
static __device__ inline solid_cuda_box move_box(const carom_device_move &m,
                                                 const solid_cuda_box &b) {
    float middle[3], half[3], moved[3];
    solid_cuda_box out;
    for (int k = 0; k < 3; ++k) {
        middle[k] = 0.5f * b.low[k] + 0.5f * b.high[k];
        half[k] = 0.5f * b.high[k] - 0.5f * b.low[k];
    }
    move_point(m, middle, moved);
    for (int k = 0; k < 3; ++k) {
        float reach = fabsf(m.turn[k][0]) * half[0] + fabsf(m.turn[k][1]) * half[1] +
                      fabsf(m.turn[k][2]) * half[2] + m.slack;
        out.low[k] = moved[k] - reach;
        out.high[k] = moved[k] + reach;
    }
    return out;
}

static __device__ inline const carom_bvh_node *nodes_of(const carom_device_solid_tree &tree,
                                                        uint32_t level) {
    return (const carom_bvh_node *)tree.nodes + tree.level_start[level];
}

/* ---- Pairs of blocks ------------------------------------------------------------------------- */

/* The box of a block, from the node above it; for a tree of one block, everywhere. */
static __device__ inline solid_cuda_box block_box(const carom_device_solid_tree &tree,
                                                  uint32_t block) {
    if (tree.level_count > 1)
        return load_box(nodes_of(tree, 1) + block / CAROM_BVH_WIDTH, block % CAROM_BVH_WIDTH);
    solid_cuda_box b;
    for (int k = 0; k < 3; ++k) {
        b.low[k] = -FLT_MAX;
        b.high[k] = FLT_MAX;
    }
    return b;
}

/* One row of the grid per query. */
static __global__ void __launch_bounds__(SOLID_CUDA_THREADS)
    find_block_pairs(const solid_cuda_query *queries, carom_device_list<solid_cuda_entry> found) {
    carom_device_begin();
    __shared__ uint32_t stacks[SOLID_CUDA_WARPS][STACK_NODES];
    __shared__ solid_cuda_entry buffers[SOLID_CUDA_WARPS][PER_WARP];
    const solid_cuda_query &q = queries[blockIdx.y];
    const carom_device_solid_tree &a = q.solids[0].tree, &b = q.solids[1].tree;
    unsigned warp = threadIdx.x / CAROM_WARP, lane = threadIdx.x % CAROM_WARP;
    unsigned child = lane % CAROM_BVH_WIDTH, second = lane / CAROM_BVH_WIDTH;
    uint32_t *stack = stacks[warp];
    carom_warp_buffer<solid_cuda_entry, PER_WARP> buffer = {buffers[warp], 0};
    bool whole = a.level_count == 1 || b.level_count == 1; /* all pairs: there are few */
    for (uint32_t block = blockIdx.x * SOLID_CUDA_WARPS + warp; block < b.block_count;
         block += gridDim.x * SOLID_CUDA_WARPS) {
        solid_cuda_box own = block_box(b, block), moved = move_box(q.q.b_to_a, own);
        if (whole) {
            for (uint32_t first = 0; first < a.block_count; first += CAROM_WARP) {
                solid_cuda_entry e = {blockIdx.y, first + lane, block};
                buffer.push(found, e.a < a.block_count, e);
                __syncwarp();
            }
            continue;
        }
        unsigned used = 1;
        if (lane == 0) stack[0] = (a.level_count - 1u) << SOLID_CUDA_LEVEL_SHIFT;
        __syncwarp();
        while (used != 0) {
            unsigned take = used < 2 ? used : 2;
            uint32_t node = second < take ? stack[used - 1 - second] : 0;
            __syncwarp();
            used -= take;
            uint32_t level = node >> SOLID_CUDA_LEVEL_SHIFT,
                     index = node & ((1u << SOLID_CUDA_LEVEL_SHIFT) - 1u);
            bool hit = second < take;
            if (hit) {
                solid_cuda_box other = load_box(nodes_of(a, level) + index, child);
                hit = solid_cuda_overlap(moved, other);
                if (hit && level == 1) hit = solid_cuda_overlap(move_box(q.q.a_to_b, other), own);
            }
            solid_cuda_entry e = {blockIdx.y, index * CAROM_BVH_WIDTH + child, block};
            CAROM_ASSERT(!hit || level != 1 || e.a < a.block_count);
            buffer.push(found, hit && level == 1, e);
            bool deeper = hit && level > 1;
            unsigned mask = __ballot_sync(~0u, deeper);
            CAROM_ASSERT(carom_warp_agrees(used) && used + __popc(mask) <= STACK_NODES);
            if (deeper)
                stack[used + __popc(mask & ((1u << lane) - 1u))] =
                    (level - 1u) << SOLID_CUDA_LEVEL_SHIFT | (index * CAROM_BVH_WIDTH + child);
            used += __popc(mask);
            __syncwarp();
        }
    }
    buffer.flush(found);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static __device__ inline carom_vec3 load_position(const carom_device_solid_arrays &s, uint32_t v) {
    const double *p = s.positions + 3 * (uint64_t)v;
    return carom_vec(p[0], p[1], p[2]);
}

/* The box of a triangle of b in the frame of a's tree; empty past the last. */
static __device__ inline solid_cuda_box solid_cuda_triangle_box(const solid_cuda_query &q,
                                                                uint32_t slot) {
    const carom_device_solid_arrays &s = q.solids[1];
    uint32_t triangle = s.tree.items[slot];
    solid_cuda_box out;
    for (int k = 0; k < 3; ++k) {
        out.low[k] = HUGE_VALF;
        out.high[k] = -HUGE_VALF;
    }
    if (triangle == CAROM_BVH_NONE) return out;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = load_position(s, s.corners[3 * (uint64_t)triangle + i]);
        const float x[3] = {(float)(p.x * s.tree.scale - s.tree.origin[0]),
                            (float)(p.y * s.tree.scale - s.tree.origin[1]),
                            (float)(p.z * s.tree.scale - s.tree.origin[2])};
        float y[3];
        move_point(q.q.b_to_a, x, y);
        for (int k = 0; k < 3; ++k) {
            out.low[k] = fminf(out.low[k], y[k]);
            out.high[k] = fmaxf(out.high[k], y[k]);
        }
    }
    for (int k = 0; k < 3; ++k) {
        out.low[k] -= q.q.b_to_a.slack;
        out.high[k] += q.q.b_to_a.slack;
    }
    return out;
}

static __global__ void __launch_bounds__(SOLID_CUDA_THREADS)
    solid_cuda_find_candidates(const solid_cuda_query *queries,
                               carom_device_list<solid_cuda_entry> pairs,
                               carom_device_list<solid_cuda_entry> found) {
    carom_device_begin();
    __shared__ solid_cuda_box boxes[SOLID_CUDA_WARPS][CAROM_BVH_WIDTH];
    __shared__ solid_cuda_entry buffers[SOLID_CUDA_WARPS][PER_WARP];
    unsigned warp = threadIdx.x / CAROM_WARP, lane = threadIdx.x % CAROM_WARP;
    unsigned mine = lane % CAROM_BVH_WIDTH, second = lane / CAROM_BVH_WIDTH;
    carom_warp_buffer<solid_cuda_entry, PER_WARP> buffer = {buffers[warp], 0};
    uint64_t count = pairs.stored();
    for (uint64_t i = (uint64_t)blockIdx.x * SOLID_CUDA_WARPS + warp; i < count;
         i += (uint64_t)gridDim.x * SOLID_CUDA_WARPS) {
        solid_cuda_entry pair = pairs.data[i];
        const solid_cuda_query &q = queries[pair.query];
        const carom_device_solid_tree &a = q.solids[0].tree, &b = q.solids[1].tree;
        CAROM_ASSERT(pair.a < a.block_count && pair.b < b.block_count);
        if (second == 0)
            boxes[warp][mine] = solid_cuda_triangle_box(q, pair.b * CAROM_BVH_WIDTH + mine);
        solid_cuda_box own = load_box(nodes_of(a, 0) + pair.a, mine);
        uint32_t item_a = a.items[pair.a * CAROM_BVH_WIDTH + mine];
        __syncwarp();
        for (unsigned k = 0; k < CAROM_BVH_WIDTH / 2; ++k) {
            unsigned other = second * (CAROM_BVH_WIDTH / 2) + k;
            bool hit = solid_cuda_overlap(own, boxes[warp][other]);
            CAROM_ASSERT(!hit || item_a < q.solids[0].triangle_count);
            solid_cuda_entry e = {pair.query, item_a,
                                  hit ? b.items[pair.b * CAROM_BVH_WIDTH + other] : CAROM_BVH_NONE};
            buffer.push(found, hit, e);
            __syncwarp();
        }
    }
    buffer.flush(found);
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static __device__ inline void solid_cuda_load_face(const solid_cuda_query &q, int of_b,
                                                   uint32_t triangle, carom_solid_face *face) {
    const carom_device_solid_arrays &s = q.solids[of_b];
    CAROM_ASSERT(triangle < s.triangle_count);
    for (int i = 0; i < 3; ++i) {
        face->v[i] = s.corners[3 * (uint64_t)triangle + i];
        carom_vec3 x = carom_frame_apply(&q.q.frames[of_b], load_position(s, face->v[i]));
        face->p[i] = carom_vec_scale(x, q.q.power);
    }
    face->index = triangle;
    face->represents = s.represents[triangle];
}

static __global__ void __launch_bounds__(DECIDERS)
    decide_by_planes(const solid_cuda_query *queries,
                     carom_device_list<solid_cuda_entry> candidates,
                     carom_device_list<solid_cuda_entry> open) {
    carom_device_begin();
    __shared__ solid_cuda_entry buffers[DECIDERS / CAROM_WARP][PER_WARP];
    carom_warp_buffer<solid_cuda_entry, PER_WARP> buffer = {buffers[threadIdx.x / CAROM_WARP], 0};
    uint64_t count = candidates.stored();
    for (uint64_t base = (uint64_t)blockIdx.x * DECIDERS; base < count;
         base += (uint64_t)gridDim.x * DECIDERS) {
        uint64_t i = base + threadIdx.x;
        solid_cuda_entry pair = {0, 0, 0};
        bool left = i < count;
        if (left) {
            carom_solid_face a, b;
            carom_solid_encounter e;
            pair = candidates.data[i];
            const solid_cuda_query &q = queries[pair.query];
            solid_cuda_load_face(q, 0, pair.a, &a);
            solid_cuda_load_face(q, 1, pair.b, &b);
            left = carom_solid_may_meet(&a, &b, &e) != 0;
        }
        buffer.push(open, left, pair);
        __syncwarp();
    }
    buffer.flush(open);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static __device__ inline void solid_cuda_raise(uint64_t *to, uint64_t x) {
    if (x != 0) (void)atomicMax((carom_device_count *)to, (carom_device_count)x);
}

static __device__ inline void solid_cuda_count(uint64_t *to, uint64_t n) {
    if (n != 0) (void)atomicAdd((carom_device_count *)to, (carom_device_count)n);
}

static __device__ inline uint64_t most_of_warp(uint64_t x) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        uint64_t other = __shfl_xor_sync(~0u, x, step);
        x = other > x ? other : x;
    }
    return x;
}

/* What one lane adds to an accumulator. */
#define SUMS    (CAROM_SOLID_TERMS + 2u) /* terms, then errors: adjacent in the accumulator */
#define MAXIMA  9u                       /* low, high, span, crossed: likewise */
#define NUMBERS 3u                       /* pairs, undecided, added */

struct gain {
    double terms[CAROM_SOLID_SLOTS];
    uint64_t maxima[MAXIMA];
    bool numbers[NUMBERS];
    uint64_t flags;
};

static_assert(SUMS + MAXIMA + NUMBERS <= CAROM_WARP, "a lane for each");
static_assert(offsetof(carom_device_accumulator, errors) ==
                  CAROM_SOLID_TERMS * sizeof(carom_solid_sum),
              "errors follow terms");
static_assert(offsetof(carom_device_accumulator, crossed) ==
                  offsetof(carom_device_accumulator, low) + 7 * sizeof(uint64_t),
              "the maxima are one array");
static_assert(offsetof(carom_device_accumulator, flags) ==
                  offsetof(carom_device_accumulator, pairs) + NUMBERS * sizeof(uint64_t),
              "the numbers are one array");

static __device__ inline void gain_begin(gain *g) {
    for (unsigned i = 0; i < CAROM_SOLID_SLOTS; ++i) g->terms[i] = 0.0;
    for (unsigned i = 0; i < MAXIMA; ++i) g->maxima[i] = 0;
    for (unsigned i = 0; i < NUMBERS; ++i) g->numbers[i] = false;
    g->flags = 0;
}

/* Sum i of a lane with terms, in fixed point. As add_terms in solid_pair.c: a term that exceeds its
 * bound ends the addition of its pair. */
static __device__ inline carom_solid_sum solid_cuda_fixed(const solid_cuda_query &q, const gain *g,
                                                          unsigned i, bool *has, uint64_t *flags) {
    carom_solid_sum out = {0, 0};
    if (!*has) return out;
    if (i < CAROM_SOLID_TERMS) {
        double term = g->terms[i];
        if (!(fabs(term) <= q.q.bounds[i])) {
            *flags |= CAROM_DEVICE_TOO_LARGE;
            *has = false;
            return out;
        }
        carom_sum sum = carom_sum_term(term, q.q.scales[i]);
        out.low = sum.low;
        out.high = sum.high;
        return out;
    }
    unsigned k = i - CAROM_SOLID_TERMS;
    if (!carom_solid_error_units(g->terms[CAROM_SOLID_VOLUME_ERROR + k] * q.q.error_units[k],
                                 &out.low))
        *flags |= CAROM_DEVICE_TOO_LARGE;
    return out;
}

/* Adds what all lanes of a warp gained; `has`: this lane has terms. Where all lanes have the same
 * accumulator (`one`), each number is summed over the warp and added by a lane of its own, all at
 * once.
 */
static __device__ void add_gains(const solid_cuda_query &q, carom_device_accumulator *acc, bool one,
                                 bool has, const gain *g) {
    unsigned lane = threadIdx.x % CAROM_WARP;
    carom_solid_sum *sums = acc->terms, mine = {0, 0};
    uint64_t *maxima = acc->low, *numbers = &acc->pairs, flags = g->flags, number = 0;
    for (unsigned i = 0; i < SUMS; ++i) {
        carom_solid_sum x = solid_cuda_fixed(q, g, i, &has, &flags);
        if (one) {
            x = carom_solid_cuda_sum_of_warp(x);
            if (lane == i) mine = x;
        } else {
            carom_solid_cuda_add(&sums[i], x.low, x.high);
        }
    }
    if (has && g->terms[CAROM_SOLID_VOLUME] != 0.0) flags |= CAROM_DEVICE_ANY_VOLUME;
    for (unsigned i = 0; i < MAXIMA; ++i) {
        uint64_t x = g->maxima[i];
        if (i == 6 && has) x = carom_solid_ordered(g->terms[CAROM_SOLID_SPAN]);
        if (one) {
            x = most_of_warp(x);
            if (lane == SUMS + i) number = x;
        } else {
            solid_cuda_raise(&maxima[i], x);
        }
    }
    for (unsigned i = 0; i < NUMBERS; ++i) {
        bool counts = i == 2 ? has : g->numbers[i];
        if (one) {
            unsigned mask = __ballot_sync(~0u, counts);
            if (lane == SUMS + MAXIMA + i) number = (uint64_t)__popc(mask);
        } else {
            solid_cuda_count(&numbers[i], counts ? 1u : 0u);
        }
    }
    if (one) {
        if (lane < SUMS)
            carom_solid_cuda_add(&sums[lane], mine.low, mine.high);
        else if (lane < SUMS + MAXIMA)
            solid_cuda_raise(&maxima[lane - SUMS], number);
        else if (lane < SUMS + MAXIMA + NUMBERS)
            solid_cuda_count(&numbers[lane - SUMS - MAXIMA], number);
        flags = __reduce_or_sync(~0u, (unsigned)flags);
        if (lane != 0) flags = 0;
    }
    if (flags != 0) (void)atomicOr((carom_device_count *)&acc->flags, (carom_device_count)flags);
}

/* ---- Terms ----------------------------------------------------------------------------------- */

struct lists {
    carom_device_list<carom_device_link> links, kept;
    carom_device_list<carom_device_encounter> degenerate;
};

static __device__ inline void solid_cuda_cross_link(const solid_cuda_query &q, const lists &to,
                                                    uint32_t number, const carom_solid_face *f,
                                                    int of_b, int side, int change) {
    uint32_t vertex = carom_solid_link(f, side, &change);
    carom_device_link link = {number, (uint32_t)of_b, vertex, change};
    if (change != 0) (q.q.params.summed[of_b] ? to.links : to.kept).append(link);
}

static __device__ __noinline__ void
solid_cuda_consider_flat(const solid_cuda_query &q, const lists &to, uint32_t number,
                         const carom_solid_face *f, const carom_solid_face *g, int g_of_b) {
    for (int side = 0; side < 3; ++side) {
        if (!(f->represents >> side & 1u)) continue;
        int change = carom_solid_side_crosses(
            f, side, g, g_of_b ? q.q.params.moved_sign : -q.q.params.moved_sign);
        if (change != 0) solid_cuda_cross_link(q, to, number, f, !g_of_b, side, change);
    }
}

static __global__ void __launch_bounds__(DECIDERS)
    solid_cuda_add_pairs(const solid_cuda_query *queries, carom_device_accumulator *accs,
                         carom_device_list<solid_cuda_entry> open, lists to) {
    carom_device_begin();
    uint64_t count = open.stored();
    for (uint64_t base = (uint64_t)blockIdx.x * DECIDERS; base < count;
         base += (uint64_t)gridDim.x * DECIDERS) {
        uint64_t warp_base = base + threadIdx.x / CAROM_WARP * CAROM_WARP;
        uint64_t i = base + threadIdx.x;
        bool there = i < count;
        if (warp_base >= count) continue; /* of all lanes */
        solid_cuda_entry pair = open.data[there ? i : warp_base];
        const solid_cuda_query &q = queries[pair.query];
        carom_device_accumulator *acc = &accs[pair.query];
        int same = 0;
        (void)__match_all_sync(~0u, pair.query, &same);
        carom_solid_face a, b;
        carom_solid_encounter e;
        gain g;
        gain_begin(&g);
        solid_cuda_load_face(q, 0, pair.a, &a);
        solid_cuda_load_face(q, 1, pair.b, &b);
        bool meets = there && carom_solid_may_meet(&a, &b, &e) != 0;
        if (meets) {
            carom_solid_decide(&a, &b, &q.q.params, &e);
            g.numbers[1] = e.m.undecided != 0;
            if (e.flat) {
                solid_cuda_consider_flat(q, to, pair.query, &a, &b, 1);
                solid_cuda_consider_flat(q, to, pair.query, &b, &a, 0);
                meets = false;
            }
        }
        if (meets && e.m.degenerate != 0) {
            carom_device_encounter d = {pair.query, pair.a, pair.b};
            to.degenerate.append(d);
        }
        meets = meets && e.m.count != 0;
        if (meets) {
            carom_solid_add_encounter(g.terms, &a, &b, &q.q.params, &e);
            for (int k = 0; k < 2; ++k) {
                const carom_solid_crossing *end = &e.m.ends[k];
                const carom_solid_face *f = end->of_b ? &b : &a;
                const double x[3] = {end->x.x, end->x.y, end->x.z};
                for (int j = 0; j < 3; ++j) {
                    uint64_t at = carom_solid_ordered(x[j]);
                    g.maxima[j] = ~at > g.maxima[j] ? ~at : g.maxima[j];
                    g.maxima[3 + j] = at > g.maxima[3 + j] ? at : g.maxima[3 + j];
                }
                if (f->represents >> end->side & 1u)
                    solid_cuda_cross_link(q, to, pair.query, f, end->of_b, end->side, end->change);
            }
            if (e.m.degenerate == 0) {
                g.numbers[0] = true;
                g.maxima[7] = (uint64_t)pair.a << 32 | pair.b;
                g.maxima[8] = ~g.maxima[7];
                g.flags |= CAROM_DEVICE_CROSSING;
                if (carom_solid_both_plain(&a, &b)) g.flags |= CAROM_DEVICE_PLAIN;
            }
        }
        __syncwarp();
        add_gains(q, acc, same != 0, meets, &g);
    }
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* A warp per link. Lanes 0 to 15 take one prefix sum each; lanes 16 to 23 the triangles between an
 * end of the range and the block boundary nearest to it, of which there are four at most. */
static __global__ void __launch_bounds__(DECIDERS)
    solid_cuda_add_links(const solid_cuda_query *queries, carom_device_accumulator *accs,
                         carom_device_list<carom_device_link> links) {
    carom_device_begin();
    const unsigned warps = DECIDERS / CAROM_WARP, near = CAROM_SOLID_BLOCK / 2;
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint64_t count = links.stored();
    for (uint64_t i = (uint64_t)blockIdx.x * warps + threadIdx.x / CAROM_WARP; i < count;
         i += (uint64_t)gridDim.x * warps) {
        carom_device_link link = links.data[i];
        int of_b = (int)link.of_b, weight = link.weight;
        const solid_cuda_query &q = queries[link.query];
        const carom_device_solid_arrays &s = q.solids[of_b];
        carom_device_accumulator *acc = &accs[link.query];
        CAROM_ASSERT(link.vertex < s.vertex_count && s.ends[link.vertex] <= s.vertex_count);
        uint64_t ends[2] = {s.firsts[s.ends[link.vertex]], s.firsts[link.vertex]};
        CAROM_ASSERT(ends[1] <= ends[0] && ends[0] <= s.triangle_count);
        gain g;
        bool has = false;
        gain_begin(&g);
        if (lane < CAROM_SOLID_SUMS) {
            carom_sum sum = {0, 0, 0};
            for (int k = 0; k < 2; ++k) {
                uint64_t block = carom_solid_nearest_block(ends[k]);
                sum =
                    carom_sum_add(sum, carom_solid_weigh(s.blocks[CAROM_SOLID_SUMS * block + lane],
                                                         k == 0 ? weight : -weight));
            }
            carom_solid_cuda_add(&acc->moments[of_b][lane], sum.low, sum.high);
        } else if (lane < CAROM_SOLID_SUMS + 2 * near) {
            unsigned k = (lane - CAROM_SOLID_SUMS) / near, at = (lane - CAROM_SOLID_SUMS) % near;
            uint64_t end = k == 0 ? ends[0] : ends[1];
            uint64_t there = carom_solid_nearest_block(end) * CAROM_SOLID_BLOCK;
            uint64_t first = there < end ? there : end, last = there < end ? end : there;
            int times = (there < end) == (k == 0) ? weight : -weight;
            uint64_t t = first + at;
            has = t < last && t < s.triangle_count;
            if (has) {
                carom_vec3 corner[3];
                for (int c = 0; c < 3; ++c) corner[c] = load_position(s, s.corners[3 * t + c]);
                carom_solid_find_posed(g.terms, corner, &q.q.frames[of_b], q.q.power, &q.q.params,
                                       of_b, times);
            }
        } else if (lane == CAROM_WARP - 1) {
            g.flags = of_b ? CAROM_DEVICE_MOVED_B : CAROM_DEVICE_MOVED_A;
            if (q.q.by_winding[!of_b]) {
                carom_sum area = carom_solid_area_between(s.blocks, ends[1], ends[0],
                                                          weight < 0 ? -weight : weight);
                carom_solid_cuda_add(&acc->swept[of_b], area.low, area.high);
            }
        }
        __syncwarp();
        add_gains(q, acc, true, has, &g);
    }
}

/* ---- Triangles one by one -------------------------------------------------------------------- */

/* A thread per link, or per root. */
static __global__ void __launch_bounds__(SOLID_CUDA_THREADS)
    solid_cuda_change(const solid_cuda_query *queries, const carom_device_link *roots,
                      uint32_t root_count, carom_device_list<carom_device_link> links) {
    carom_device_begin();
    uint64_t count = root_count + links.stored();
    for (uint64_t i = (uint64_t)blockIdx.x * SOLID_CUDA_THREADS + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * SOLID_CUDA_THREADS) {
        carom_device_link link = i < root_count ? roots[i] : links.data[i - root_count];
        const carom_device_solid_arrays &s = queries[link.query].solids[link.of_b];
        int32_t *changes = queries[link.query].changes[link.of_b];
        CAROM_ASSERT(link.vertex < s.vertex_count && s.ends[link.vertex] <= s.vertex_count);
        (void)atomicAdd(&changes[link.vertex], link.weight);
        (void)atomicAdd(&changes[s.ends[link.vertex]], -link.weight);
    }
}

/* A thread per triangle of a solid. The winding number at a vertex is the sum before the next. */
static __global__ void __launch_bounds__(DECIDERS)
    solid_cuda_add_changed(const solid_cuda_query *queries, uint32_t number, int of_b,
                           carom_device_accumulator *accs) {
    carom_device_begin();
    const solid_cuda_query &q = queries[number];
    const carom_device_solid_arrays &s = q.solids[of_b];
    const int32_t *sums = q.sums[of_b];
    for (uint64_t base = (uint64_t)blockIdx.x * DECIDERS; base < s.triangle_count;
         base += (uint64_t)gridDim.x * DECIDERS) {
        uint64_t t = base + threadIdx.x;
        int32_t w[3] = {0, 0, 0};
        gain g;
        bool has = false;
        gain_begin(&g);
        for (int i = 0; i < 3 && t < s.triangle_count; ++i) w[i] = sums[s.corners[3 * t + i] + 1];
        if (w[0] != 0 || w[1] != 0 || w[2] != 0) {
            carom_solid_face f;
            solid_cuda_load_face(q, of_b, (uint32_t)t, &f);
            has = carom_solid_find_changed(g.terms, &f, &q.q.params, w, of_b);
        }
        if (__ballot_sync(~0u, has) != 0) add_gains(q, &accs[number], true, has, &g);
    }
}

/* ---- Solids ---------------------------------------------------------------------------------- */

/* Copies arrays into one block of memory, aligned; without memory it only counts bytes. */
struct solid_cuda_packer {
    carom_device *device;
    char *memory;
    uint64_t used;
    cudaError_t error;

    template <typename T> const T *add(const T *from, uint64_t solid_cuda_count) {
        uint64_t bytes = solid_cuda_count * sizeof(T);
        char *to = memory != nullptr ? memory + used : nullptr;
        used += (bytes + CAROM_DEVICE_ALLOCATION - 1) / CAROM_DEVICE_ALLOCATION *
                CAROM_DEVICE_ALLOCATION;
        if (to != nullptr && error == cudaSuccess)
            error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, device->stream);
        return (const T *)to;
    }
};

static carom_device_solid_arrays pack_arrays(solid_cuda_packer *p,
                                             const carom_device_solid_arrays &from) {
    carom_device_solid_arrays to = from;
    to.positions = p->add(from.positions, 3 * from.vertex_count);
    to.corners = p->add(from.corners, 3 * from.triangle_count);
    to.ends = p->add(from.ends, from.vertex_count);
    to.firsts = p->add(from.firsts, from.vertex_count + 1);
    to.represents = p->add(from.represents, from.triangle_count);
    to.blocks = p->add(from.blocks, CAROM_SOLID_SUMS * from.block_count);
    to.tree.nodes = p->add((const carom_bvh_node *)from.tree.nodes, from.tree.node_count);
    to.tree.items = p->add(from.tree.items, (uint64_t)from.tree.block_count * CAROM_BVH_WIDTH);
    return to;
}

static void solid_destroy(carom_device_solid *solid) {
    carom_solid_cuda_release_updates(solid);
    carom_device_release(&solid->memory);
    delete solid;
}

static carom_status solid_fill(carom_device *device, const carom_device_solid_arrays *arrays,
                               carom_device_solid *solid) {
    solid_cuda_packer count = {device, nullptr, 0, cudaSuccess};
    (void)pack_arrays(&count, *arrays);
    CAROM_DEVICE_TRY(
        carom_device_check(device, cudaSetDevice(device->number), "choosing the device"));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &solid->memory, count.used, "a solid"));
    solid_cuda_packer copy = {device, (char *)solid->memory.data, 0, cudaSuccess};
    solid->arrays = pack_arrays(&copy, *arrays);
    CAROM_DEVICE_TRY(carom_device_check(device, copy.error, "copying a solid"));
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "copying a solid");
}

static carom_status solid_create(carom_device *device, const carom_device_solid_arrays *arrays,
                                 carom_device_solid **out) {
    *out = nullptr;
    carom_device_solid *solid = new (std::nothrow) carom_device_solid{};
    if (solid == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for a solid");
    carom_status status = solid_fill(device, arrays, solid);
    if (status != CAROM_OK) {
        solid_destroy(solid);
        return status;
    }
    *out = solid;
    return CAROM_OK;
}

static uint64_t solid_bytes(const carom_device_solid *solid) {
    return sizeof(*solid) + solid->memory.bytes + solid->updates.memory.bytes +
           solid->updates.joined.bytes;
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* Of all queries, on the host: queries and empty accumulators, which are copied to the device, then
 * the accumulators that come back, and roots. */
struct solid_cuda_search_arguments {
    solid_cuda_query *queries;
    carom_device_accumulator *empty, *accs;
    const carom_device_link *roots;
    uint32_t count, most_blocks, root_count;
    carom_device_found *found;
};

/* Memory for triangles that are added one by one, in the order: roots, scratch of sums, and for
 * each such solid two arrays, which the queries are told. Returns bytes; 0: there are none. */
static uint64_t lay_out_changes(const solid_cuda_search_arguments *s, char *memory) {
    uint64_t used = carom_device_row(s->root_count * sizeof(carom_device_link)), most = 0;
    for (uint32_t i = 0; i < 2 * s->count; ++i)
        if (!s->queries[i / 2].q.params.summed[i % 2])
            most = CAROM_MAX(most, s->queries[i / 2].solids[i % 2].vertex_count + 1);
    if (most == 0) return 0;
    used += carom_device_scan_bytes(most) + CAROM_DEVICE_ALLOCATION;
    used = carom_device_row(used);
    for (uint32_t i = 0; i < 2 * s->count; ++i) {
        solid_cuda_query *q = &s->queries[i / 2];
        if (q->q.params.summed[i % 2]) continue;
        uint64_t row = carom_device_row((q->solids[i % 2].vertex_count + 1) * sizeof(int32_t));
        if (memory != nullptr) {
            q->changes[i % 2] = (int32_t *)(memory + used);
            q->sums[i % 2] = (int32_t *)(memory + used + row);
        }
        used += 2 * row;
    }
    return used;
}

static const struct {
    carom_device_scratch block;
    int counter;
    size_t size;
    const char *what;
} SOLID_CUDA_LISTS[] = {
    {CAROM_SCRATCH_SOLID_BLOCK_PAIRS, N_BLOCK_PAIRS, sizeof(solid_cuda_entry), "pairs of blocks"},
    {CAROM_SCRATCH_SOLID_CANDIDATES, SOLID_CUDA_N_CANDIDATES, sizeof(solid_cuda_entry),
     "pairs of triangles"},
    {CAROM_SCRATCH_SOLID_OPEN, SOLID_CUDA_N_OPEN, sizeof(solid_cuda_entry), "pairs of triangles"},
    {CAROM_SCRATCH_SOLID_LINKS, N_LINKS, sizeof(carom_device_link), "crossed edges"},
    {CAROM_SCRATCH_SOLID_KEPT, N_KEPT, sizeof(carom_device_link), "crossed edges"},
    {CAROM_SCRATCH_SOLID_DEGENERATE, N_DEGENERATE, sizeof(carom_device_encounter),
     "degenerate pairs"},
};

/* Of queries and their accumulators, on the device. */
static uint64_t query_bytes(const solid_cuda_search_arguments *s) {
    return s->count * (sizeof(solid_cuda_query) + sizeof(carom_device_accumulator));
}

static carom_status solid_cuda_search_reserve(carom_device *device, carom_device_op *op) {
    const solid_cuda_search_arguments *s = carom_device_arguments<solid_cuda_search_arguments>(op);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_SOLID_QUERIES,
        carom_device_row(query_bytes(s)) + lay_out_changes(s, nullptr), "queries"));
    for (const auto &list : SOLID_CUDA_LISTS)
        CAROM_DEVICE_TRY(
            carom_device_reserve_list(device, list.block, LIST_ENTRIES, list.size, list.what));
    return CAROM_OK;
}

template <typename KERNEL, typename... ARGUMENTS>
static void solid_cuda_launch(carom_device *device, KERNEL kernel, unsigned threads,
                              ARGUMENTS... arguments) {
    carom_device_launch(device, kernel, carom_device_resident(device, kernel, threads), threads,
                        arguments...);
}

/* Queues the addition of triangles one by one. */
static void launch_changed(carom_device *device, const solid_cuda_search_arguments *s, char *memory,
                           const solid_cuda_query *queries, carom_device_accumulator *accs,
                           carom_device_list<carom_device_link> links) {
    const uint64_t roots = s->root_count * sizeof(carom_device_link);
    char *scratch = memory + carom_device_row(roots);
    carom_device_step(device, "triangles");
    if (roots != 0)
        (void)cudaMemcpyAsync(memory, s->roots, roots, cudaMemcpyHostToDevice, device->stream);
    for (uint32_t i = 0; i < 2 * s->count; ++i) {
        const solid_cuda_query &q = s->queries[i / 2];
        if (q.changes[i % 2] != nullptr)
            (void)cudaMemsetAsync(q.changes[i % 2], 0,
                                  (q.solids[i % 2].vertex_count + 1) * sizeof(int32_t),
                                  device->stream);
    }
    solid_cuda_launch(device, solid_cuda_change, SOLID_CUDA_THREADS, queries,
                      (const carom_device_link *)memory, s->root_count, links);
    for (uint32_t i = 0; i < 2 * s->count; ++i) {
        const solid_cuda_query &q = s->queries[i / 2];
        const carom_device_solid_arrays &solid = q.solids[i % 2];
        if (q.changes[i % 2] == nullptr) continue;
        size_t bytes = carom_device_scan_bytes(solid.vertex_count + 1);
        (void)cub::DeviceScan::ExclusiveSum(scratch, bytes, (const uint32_t *)q.changes[i % 2],
                                            (uint32_t *)q.sums[i % 2],
                                            (int64_t)(solid.vertex_count + 1), device->stream);
        carom_device_launch(device, solid_cuda_add_changed,
                            carom_device_blocks(solid.triangle_count, DECIDERS), DECIDERS, queries,
                            i / 2, (int)(i % 2), accs);
    }
}

static void solid_cuda_search_launch(carom_device *device, carom_device_op *op) {
    const solid_cuda_search_arguments *s = carom_device_arguments<solid_cuda_search_arguments>(op);
    solid_cuda_query *queries = carom_device_take<solid_cuda_query>(
        device, CAROM_SCRATCH_SOLID_QUERIES,
        carom_device_row(query_bytes(s)) + lay_out_changes(s, nullptr));
    carom_device_accumulator *accs = (carom_device_accumulator *)(queries + s->count);
    carom_device_list<solid_cuda_entry> blocks = carom_device_list_of<solid_cuda_entry>(
        device, CAROM_SCRATCH_SOLID_BLOCK_PAIRS, op, N_BLOCK_PAIRS);
    carom_device_list<solid_cuda_entry> candidates = carom_device_list_of<solid_cuda_entry>(
        device, CAROM_SCRATCH_SOLID_CANDIDATES, op, SOLID_CUDA_N_CANDIDATES);
    carom_device_list<solid_cuda_entry> open = carom_device_list_of<solid_cuda_entry>(
        device, CAROM_SCRATCH_SOLID_OPEN, op, SOLID_CUDA_N_OPEN);
    lists to = {
        carom_device_list_of<carom_device_link>(device, CAROM_SCRATCH_SOLID_LINKS, op, N_LINKS),
        carom_device_list_of<carom_device_link>(device, CAROM_SCRATCH_SOLID_KEPT, op, N_KEPT),
        carom_device_list_of<carom_device_encounter>(device, CAROM_SCRATCH_SOLID_DEGENERATE, op,
                                                     N_DEGENERATE)};
    char *changes = (char *)queries + carom_device_row(query_bytes(s));
    const bool one_by_one = lay_out_changes(s, changes) != 0;
    carom_device_step(device, "queries");
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    (void)cudaMemcpyAsync(queries, s->queries, query_bytes(s), cudaMemcpyHostToDevice,
                          device->stream);
    carom_device_step(device, "pairs of blocks");
    carom_device_launch_grid(device, find_block_pairs,
                             dim3(carom_device_blocks(s->most_blocks, SOLID_CUDA_WARPS), s->count),
                             SOLID_CUDA_THREADS, 0, queries, blocks);
    carom_device_step(device, "candidates");
    solid_cuda_launch(device, solid_cuda_find_candidates, SOLID_CUDA_THREADS,
                      (const solid_cuda_query *)queries, blocks, candidates);
    carom_device_step(device, "planes");
    solid_cuda_launch(device, decide_by_planes, DECIDERS, (const solid_cuda_query *)queries,
                      candidates, open);
    carom_device_step(device, "terms");
    solid_cuda_launch(device, solid_cuda_add_pairs, DECIDERS, (const solid_cuda_query *)queries,
                      accs, open, to);
    carom_device_step(device, "links");
    solid_cuda_launch(device, solid_cuda_add_links, DECIDERS, (const solid_cuda_query *)queries,
                      accs, to.links);
    if (one_by_one) launch_changed(device, s, changes, queries, accs, to.kept);
    carom_device_step(device, "sums");
    (void)cudaMemcpyAsync(s->accs, accs, s->count * sizeof(*accs), cudaMemcpyDeviceToHost,
                          device->stream);
}

static carom_status solid_cuda_search_finish(carom_device *device, carom_device_op *op,
                                             const carom_device_counters *counters, bool *again) {
    const solid_cuda_search_arguments *s = carom_device_arguments<solid_cuda_search_arguments>(op);
    const carom_device_count *n = counters->n;
    for (const auto &list : SOLID_CUDA_LISTS)
        *again = carom_device_list_grows(device, list.block, n[list.counter], list.size) || *again;
    if (*again) return CAROM_OK;
    device->steps.node_pairs = n[N_BLOCK_PAIRS];
    device->steps.candidates = n[SOLID_CUDA_N_CANDIDATES];
    device->steps.open_in_floats = n[SOLID_CUDA_N_CANDIDATES];
    device->steps.open_in_doubles = n[SOLID_CUDA_N_OPEN];
    s->found->degenerate = n[N_DEGENERATE];
    s->found->node_pairs = n[N_BLOCK_PAIRS];
    s->found->candidates = n[SOLID_CUDA_N_CANDIDATES];
    return CAROM_OK;
}

static carom_status solid_search(carom_device *device, const carom_device_overlap *overlaps,
                                 uint32_t count, const carom_device_link *roots,
                                 uint32_t root_count, carom_device_accumulator *accs,
                                 carom_device_found *found) {
    uint64_t sums = count * sizeof(*accs);
    *found = carom_device_found{};
    if (count == 0) return CAROM_OK;
    if (count > MOST_QUERIES)
        return carom_device_fail(device, CAROM_TOO_LARGE, "at most %u queries at a time",
                                 MOST_QUERIES);
    CAROM_DEVICE_TRY(carom_device_finish(device)); /* of what else uses pinned memory */
    const uint64_t root_bytes = root_count * sizeof(*roots);
    CAROM_DEVICE_TRY(carom_device_reserve_pinned(device, count * sizeof(solid_cuda_query) +
                                                             2 * sums + root_bytes));
    solid_cuda_query *queries = (solid_cuda_query *)device->pinned.data;
    solid_cuda_search_arguments s = {};
    s.queries = queries;
    s.empty = (carom_device_accumulator *)(queries + count);
    s.accs = s.empty + count;
    s.roots = (const carom_device_link *)(s.accs + count);
    s.count = count;
    s.root_count = root_count;
    s.found = found;
    if (root_count != 0) memcpy((void *)(s.accs + count), roots, root_bytes);
    for (uint32_t i = 0; i < count; ++i) {
        queries[i].q = overlaps[i];
        for (int of_b = 0; of_b < 2; ++of_b)
            queries[i].changes[of_b] = queries[i].sums[of_b] = nullptr;
        for (int of_b = 0; of_b < 2; ++of_b)
            queries[i].solids[of_b] = overlaps[i].solids[of_b]->arrays;
        uint32_t blocks = queries[i].solids[1].tree.block_count;
        s.most_blocks = blocks > s.most_blocks ? blocks : s.most_blocks;
    }
    memset(s.empty, 0, sums);
    carom_device_op op = {
        solid_cuda_search_reserve, solid_cuda_search_launch, solid_cuda_search_finish, nullptr, {}};
    *carom_device_arguments<solid_cuda_search_arguments>(&op) = s;
    CAROM_DEVICE_TRY(carom_device_submit(device, &op));
    CAROM_DEVICE_TRY(carom_device_finish(device));
    memcpy(accs, s.accs, sums);
    return CAROM_OK;
}

static carom_status read_list(carom_device *device, carom_device_scratch block, void *to,
                              uint64_t bytes) {
    if (bytes == 0) return CAROM_OK;
    CAROM_ASSERT(bytes <= carom_device_scratch_bytes(device, block));
    CAROM_DEVICE_TRY(
        carom_device_check(device,
                           cudaMemcpyAsync(to, carom_device_scratch_data<void>(device, block),
                                           bytes, cudaMemcpyDeviceToHost, device->stream),
                           "a copy"));
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "a copy");
}

static carom_status solid_get_degenerate(carom_device *device, carom_device_encounter *degenerate,
                                         uint64_t count) {
    return read_list(device, CAROM_SCRATCH_SOLID_DEGENERATE, degenerate,
                     count * sizeof(*degenerate));
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_solid carom_cuda_solid_1 = {
    solid_create, solid_destroy, solid_bytes, solid_search, solid_get_degenerate,
};
