/* SPDX-License-Identifier: MIT */
/* Box tree queries with SIMD. One box is tested against the sixteen boxes of a node at a time; a
 * traversal with an explicit stack visits every node whose box overlaps the query. */
#include "bvh/bvh_cpu.h"

#include <stddef.h>
#include <string.h>

#include "base/simd.h"

/* ---- Hilbert keys ---------------------------------------------------------------------------- */

/* Spreads ten bits, with two zeros after each. */
static inline carom_u32v bvh_cpu_spread(carom_u32v x) {
    x = (x | x << 16) & 0x030000FFu;
    x = (x | x << 8) & 0x0300F00Fu;
    x = (x | x << 4) & 0x030C30C3u;
    return (x | x << 2) & 0x09249249u;
}

/* All ones where the bit is set. */
static inline carom_u32v is_set(carom_u32v x, uint32_t bit) {
    return (carom_u32v)((x & bit) != 0u);
}

/* The index along the Hilbert curve of 1024^3 cells (Skilling, "Programming the Hilbert curve",
 * 2004), for as many cells as a vector has lanes. */
static inline carom_u32v hilbert(carom_u32v x, carom_u32v y, carom_u32v z) {
    for (uint32_t bit = 512; bit > 1; bit >>= 1) {
        uint32_t below = bit - 1;
        x ^= is_set(x, bit) & below;
        carom_u32v set = is_set(y, bit), swap = (x ^ y) & below & ~set;
        x ^= (set & below) | swap;
        y ^= swap;
        set = is_set(z, bit);
        swap = (x ^ z) & below & ~set;
        x ^= (set & below) | swap;
        z ^= swap;
    }
    y ^= x;
    z ^= y;
    carom_u32v parity = z >> 1; /* of all higher bits of z */
    parity ^= parity >> 1;
    parity ^= parity >> 2;
    parity ^= parity >> 4;
    parity ^= parity >> 8;
    return bvh_cpu_spread(x ^ parity) << 2 | bvh_cpu_spread(y ^ parity) << 1 |
           bvh_cpu_spread(z ^ parity);
}

/* The sides of as many boxes as a vector has lanes. */
static inline void load_sides(const carom_box *boxes, carom_f32v low[3], carom_f32v high[3]) {
    carom_f32x4 first[CAROM_LANES], last[CAROM_LANES]; /* low and high[0]; low[2] and high */
    carom_f32v column[4];
    for (uint32_t i = 0; i < CAROM_LANES; ++i) {
        first[i] = carom_f32x4_load(boxes[i].low);
        last[i] = carom_f32x4_load(boxes[i].low + 2);
    }
    carom_f32v_transpose(first, column);
    for (int k = 0; k < 3; ++k) low[k] = column[k];
    carom_f32v_transpose(last, column);
    for (int k = 0; k < 3; ++k) high[k] = column[1 + k];
}

static inline carom_f32v bvh_cpu_choose(carom_i32v which, carom_f32v yes, carom_f32v no) {
    return (carom_f32v)(((carom_i32v)yes & which) | ((carom_i32v)no & ~which));
}

/* carom_bvh_key of as many boxes as a vector has lanes. */
static inline carom_u32v keys_of(const carom_bvh_space *space, const carom_box *boxes) {
    carom_f32v low[3], high[3], extent = carom_f32v_splat(0.0f);
    carom_u32v cell[3];
    load_sides(boxes, low, high);
    for (int k = 0; k < 3; ++k) {
        carom_f32v at = ((0.5f * low[k] + 0.5f * high[k]) - space->low[k]) * space->scale[k];
        at = bvh_cpu_choose(at > 0.0f, at, carom_f32v_splat(0.0f));
        at = bvh_cpu_choose(at < CAROM_BVH_CELLS - 1, at, carom_f32v_splat(CAROM_BVH_CELLS - 1));
        cell[k] = (carom_u32v)carom_f32v_truncate(at);
        carom_f32v size = high[k] - low[k];
        extent = bvh_cpu_choose(size > extent, size, extent);
    }
    carom_i32v exponent = (carom_i32v)((carom_u32v)extent >> 23 & 0xFF), large = {0};
    for (int c = 0; c < 3; ++c) large -= exponent >= space->size_class[c];
    carom_u32v empty = ~(carom_u32v)(low[0] <= high[0]);
    return empty | (carom_u32v)large << CAROM_BVH_CURVE_BITS | hilbert(cell[0], cell[1], cell[2]);
}

void CAROM_CPU(carom_bvh_keys)(const carom_bvh_space *space, const carom_box *boxes, uint32_t count,
                               uint32_t *keys) {
    carom_box rest[CAROM_LANES];
    uint32_t last[CAROM_LANES], whole = count / CAROM_LANES * CAROM_LANES, left = count - whole;
    for (uint32_t at = 0; at < whole; at += CAROM_LANES)
        carom_u32v_store(keys + at, keys_of(space, boxes + at));
    if (left == 0) return;
    for (uint32_t i = 0; i < CAROM_LANES; ++i) rest[i] = boxes[whole + CAROM_MIN(i, left - 1)];
    carom_u32v_store(last, keys_of(space, rest));
    memcpy(keys + whole, last, left * sizeof(*keys));
}

void CAROM_CPU(carom_bvh_put_boxes)(const carom_box *boxes, uint32_t count, carom_bvh_node *nodes) {
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
            carom_f32v low[3], high[3];
            load_sides(boxes + i * CAROM_BVH_WIDTH + at, low, high);
            for (int k = 0; k < 3; ++k) {
                memcpy(&nodes[i].low[k][at], &low[k], sizeof(low[k]));
                memcpy(&nodes[i].high[k][at], &high[k], sizeof(high[k]));
            }
        }
}

/* ---- Overlap test of one box with sixteen ---------------------------------------------------- */

typedef struct wide_box {
    carom_f32v low[3], high[3];
} wide_box;

static inline wide_box bvh_cpu_widen(const carom_box *box) {
    wide_box wide;
    for (int k = 0; k < 3; ++k) {
        wide.low[k] = carom_f32v_splat(box->low[k]);
        wide.high[k] = carom_f32v_splat(box->high[k]);
    }
    return wide;
}

static inline wide_box widen_lane(const carom_bvh_node *node, uint32_t lane, bool enlarged,
                                  float reach) {
    carom_box box;
    for (int k = 0; k < 3; ++k) {
        box.low[k] = node->low[k][lane];
        box.high[k] = node->high[k][lane];
    }
    if (enlarged) box = carom_box_enlarge(box, reach);
    return bvh_cpu_widen(&box);
}

static inline uint32_t bvh_cpu_overlaps(const carom_bvh_node *node, const wide_box *box) {
    uint32_t lanes = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        carom_f32v_test hit = carom_f32v_test_begin();
        for (int k = 0; k < 3; ++k) {
            carom_f32v low = carom_f32v_load(&node->low[k][at]);
            carom_f32v high = carom_f32v_load(&node->high[k][at]);
            hit = carom_f32v_test_at_most(hit, low, box->high[k]);
            hit = carom_f32v_test_at_most(hit, box->low[k], high);
        }
        lanes |= carom_f32v_test_lanes(hit) << at;
    }
    return lanes;
}

static inline bool bvh_cpu_make_room(carom_bvh_found *found) {
    return found->count + CAROM_BVH_FLUSH <= CAROM_BVH_FOUND || found->flush(found);
}

/* ---- Traversals ------------------------------------------------------------------------------ */

/* The stack of nodes still to visit, as (level, index). A traversal opens one node at a time and
 * pushes at most its 16 children, so 16 entries per level are enough. */
typedef struct to_visit {
    uint32_t index[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    uint8_t level[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    uint32_t count;
} to_visit;

static inline void bvh_cpu_push(to_visit *stack, uint32_t level, uint32_t index) {
    CAROM_ASSERT(stack->count < CAROM_BVH_LEVELS * CAROM_BVH_WIDTH && level < CAROM_BVH_LEVELS);
    stack->index[stack->count] = index;
    stack->level[stack->count++] = (uint8_t)level;
}

static inline void bvh_cpu_emit(carom_bvh_found *found, uint32_t a, uint32_t block_b,
                                uint32_t lanes) {
    uint32_t count = found->count;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        carom_lanes some = lanes >> at & (0xFFFFu >> (16 - CAROM_LANES));
        carom_u32v_store(&found->a[count], carom_u32v_splat(a));
        count += carom_lanes_list(some, block_b * CAROM_BVH_WIDTH + at, &found->b[count]);
    }
    CAROM_ASSERT(count <= CAROM_BVH_FOUND);
    found->count = count;
}

static inline bool block_pair(const carom_bvh_node *blocks, uint32_t a, uint32_t b,
                              const wide_box *box_of_b, bool enlarged, float reach,
                              carom_bvh_found *found) {
    if (!bvh_cpu_make_room(found)) return false;
    const carom_bvh_node *block_a = &blocks[a], *block_b = &blocks[b];
    for (uint32_t near = bvh_cpu_overlaps(block_a, box_of_b); near != 0; near &= near - 1) {
        uint32_t lane = carom_bvh_lowest_lane(near);
        wide_box box = widen_lane(block_a, lane, enlarged, reach);
        bvh_cpu_emit(found, a * CAROM_BVH_WIDTH + lane, b, bvh_cpu_overlaps(block_b, &box));
    }
    return true;
}

static inline bool within_block(const carom_bvh_node *blocks, uint32_t block, bool enlarged,
                                float reach, carom_bvh_found *found) {
    if (!bvh_cpu_make_room(found)) return false;
    for (uint32_t lane = 0; lane + 1 < CAROM_BVH_WIDTH; ++lane) {
        wide_box box = widen_lane(&blocks[block], lane, enlarged, reach);
        uint32_t later = ~((2u << lane) - 1u);
        bvh_cpu_emit(found, block * CAROM_BVH_WIDTH + lane, block,
                     bvh_cpu_overlaps(&blocks[block], &box) & later);
    }
    return true;
}

/* All block pairs of nodes a <= b of level 1, with their boxes. The node in which fewer blocks
 * overlap the other's box is opened block by block: beside a huge triangle that is one block, not
 * sixteen. */
static inline bool node_pair(const carom_bvh *bvh, uint32_t a, uint32_t b, const wide_box *box_of_a,
                             const wide_box *box_of_b, bool enlarged, float reach,
                             carom_bvh_found *found) {
    const carom_bvh_node *blocks = carom_bvh_level(bvh, 0), *parents = carom_bvh_level(bvh, 1);
    const carom_bvh_node *node_a = &parents[a], *node_b = &parents[b];
    uint32_t near_a = bvh_cpu_overlaps(node_a, box_of_b);
    uint32_t near_b = a == b ? near_a : bvh_cpu_overlaps(node_b, box_of_a);
    bool opens_b = __builtin_popcount(near_b) < __builtin_popcount(near_a);
    const carom_bvh_node *opened = opens_b ? node_b : node_a,
                         *other_node = opens_b ? node_a : node_b;
    for (uint32_t near = opens_b ? near_b : near_a; near != 0; near &= near - 1) {
        uint32_t lane = carom_bvh_lowest_lane(near);
        wide_box own = widen_lane(opened, lane, enlarged, reach);
        uint32_t lanes = bvh_cpu_overlaps(other_node, &own) & (opens_b ? near_a : near_b);
        if (a == b) lanes &= ~((2u << lane) - 1u);
        ++found->visits;
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t other = carom_bvh_lowest_lane(lanes), lane_a = opens_b ? other : lane;
            uint32_t lane_b = opens_b ? lane : other;
            wide_box box = widen_lane(node_b, lane_b, enlarged, reach);
            if (!block_pair(blocks, a * CAROM_BVH_WIDTH + lane_a, b * CAROM_BVH_WIDTH + lane_b,
                            &box, enlarged, reach, found))
                return false;
        }
    }
    return true;
}

static inline wide_box widen_bounds(const carom_bvh_node *node, bool enlarged, float reach) {
    carom_box box = carom_bvh_node_bounds(node);
    if (enlarged) box = carom_box_enlarge(box, reach);
    return bvh_cpu_widen(&box);
}

/* Finds the pairs within each block of the node and between its blocks, then traverses the tree to
 * all later nodes of level 1 whose box overlaps the node's: the upper levels are searched once for
 * sixteen blocks. `enlarged` is a constant in both calls, so that the compiler specialises the
 * loops. */
__attribute__((always_inline)) static inline bool
self_node(const carom_bvh *bvh, uint32_t node, bool enlarged, float reach, carom_bvh_found *found) {
    const carom_bvh_node *blocks = carom_bvh_level(bvh, 0);
    uint32_t first = node * CAROM_BVH_WIDTH;
    uint32_t end = CAROM_MIN(first + CAROM_BVH_WIDTH, bvh->node_count[0]);
    for (uint32_t block = first; block < end; ++block)
        if (!within_block(blocks, block, enlarged, reach, found)) return false;
    if (bvh->level_count < 2) return true;
    wide_box own = widen_bounds(&carom_bvh_level(bvh, 1)[node], enlarged, reach);
    if (!node_pair(bvh, node, node, &own, &own, enlarged, reach, found)) return false;
    if (bvh->level_count < 3) return true;
    to_visit stack;
    stack.count = 0;
    bvh_cpu_push(&stack, bvh->level_count - 1, 0);
    while (stack.count > 0) {
        uint32_t level = stack.level[--stack.count], index = stack.index[stack.count];
        const carom_bvh_node *here = &carom_bvh_level(bvh, level)[index];
        CAROM_ASSERT(level >= 2 && index < bvh->node_count[level]);
        /* Only children whose last node of level 1 comes after `node`. */
        uint64_t span = (uint64_t)1 << (4 * (level - 2)), begin = (uint64_t)index * 16 * span;
        uint64_t past = node + 1 > begin ? (node + 1 - begin) / span : 0;
        uint32_t lanes = past < 16 ? bvh_cpu_overlaps(here, &own) & ~0u << past : 0u;
        ++found->visits;
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t lane = carom_bvh_lowest_lane(lanes), child = index * CAROM_BVH_WIDTH + lane;
            if (level > 2) {
                bvh_cpu_push(&stack, level - 1, child);
            } else {
                wide_box box = widen_lane(here, lane, enlarged, reach);
                if (!node_pair(bvh, node, child, &own, &box, enlarged, reach, found)) return false;
            }
        }
    }
    return true;
}

bool CAROM_CPU(carom_bvh_self_node)(const carom_bvh *bvh, uint32_t node, carom_bvh_found *found) {
    return self_node(bvh, node, false, 0.0f, found);
}

bool CAROM_CPU(carom_bvh_self_node_within)(const carom_bvh *bvh, uint32_t node, float reach,
                                           carom_bvh_found *found) {
    return self_node(bvh, node, true, reach, found);
}

static bool find_box_deep(const carom_bvh *bvh, const wide_box *wide, uint32_t a,
                          carom_bvh_found *found) {
    to_visit stack;
    stack.count = 0;
    bvh_cpu_push(&stack, bvh->level_count - 1, 0);
    while (stack.count > 0) {
        uint32_t level = stack.level[--stack.count], index = stack.index[stack.count];
        CAROM_ASSERT(level < bvh->level_count && index < bvh->node_count[level]);
        uint32_t lanes = bvh_cpu_overlaps(&carom_bvh_level(bvh, level)[index], wide);
        ++found->visits;
        if (level == 0) {
            if (!bvh_cpu_make_room(found)) return false;
            bvh_cpu_emit(found, a, index, lanes);
            continue;
        }
        for (; lanes != 0; lanes &= lanes - 1)
            bvh_cpu_push(&stack, level - 1, index * CAROM_BVH_WIDTH + carom_bvh_lowest_lane(lanes));
    }
    return true;
}

/* Nodes of one level that a search keeps at a time; a box that overlaps more is searched with a
 * stack. */
#define BVH_CPU_STACK_NODES 128u

/* Appends the children that are in the set, without a branch. */
static inline uint32_t list_children(uint32_t lanes, uint32_t node, uint32_t *children) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        carom_lanes some = lanes >> at & (0xFFFFu >> (16 - CAROM_LANES));
        count += carom_lanes_list(some, node * CAROM_BVH_WIDTH + at, &children[count]);
    }
    return count;
}

/* Nodes of one level. */
typedef struct node_list {
    uint32_t count, index[BVH_CPU_STACK_NODES + CAROM_BVH_WIDTH];
} node_list;

/* Lists the nodes of `end` whose box overlaps, level by level: what overlaps is listed without a
 * branch, so that the processor mispredicts once per level and not once per node. False: too many.
 */
static inline bool list_nodes(const carom_bvh *bvh, const wide_box *box, uint32_t end,
                              node_list *list, uint64_t *visits) {
    node_list other, *from = list, *to = &other;
    from->count = 1;
    from->index[0] = 0;
    for (uint32_t level = bvh->level_count - 1; level > end; --level) {
        const carom_bvh_node *here = carom_bvh_level(bvh, level);
        to->count = 0;
        for (uint32_t i = 0; i < from->count; ++i) {
            uint32_t lanes = bvh_cpu_overlaps(&here[from->index[i]], box);
            to->count += list_children(lanes, from->index[i], &to->index[to->count]);
            if (to->count > BVH_CPU_STACK_NODES) return false;
        }
        *visits += from->count;
        node_list *swap = from;
        from = to;
        to = swap;
    }
    if (from != list) memcpy(list, from, offsetof(node_list, index) + from->count * 4);
    return true;
}

bool CAROM_CPU(carom_bvh_find_box)(const carom_bvh *bvh, const carom_box *box, uint32_t a,
                                   carom_bvh_found *found) {
    node_list list;
    uint64_t visits = 0;
    if (bvh->level_count == 0) return true;
    wide_box wide = bvh_cpu_widen(box);
    if (!list_nodes(bvh, &wide, 0, &list, &visits)) return find_box_deep(bvh, &wide, a, found);
    const carom_bvh_node *blocks = carom_bvh_level(bvh, 0);
    found->visits += visits + list.count;
    for (uint32_t i = 0; i < list.count; ++i) {
        if (!bvh_cpu_make_room(found)) return false;
        bvh_cpu_emit(found, a, list.index[i], bvh_cpu_overlaps(&blocks[list.index[i]], &wide));
    }
    return true;
}

/* ---- Many boxes of the tree itself ----------------------------------------------------------- */

/* Nodes of level 1 near a group of boxes, sixteen to a node of their own. */
typedef struct near_nodes {
    node_list list;
    carom_bvh_node boxes[BVH_CPU_STACK_NODES / CAROM_BVH_WIDTH + 1];
} near_nodes;

static void gather_near(const carom_bvh *bvh, near_nodes *near) {
    const carom_bvh_node *nodes = carom_bvh_level(bvh, 1), *above = carom_bvh_level(bvh, 2);
    uint32_t slots = (near->list.count + CAROM_BVH_WIDTH - 1) / CAROM_BVH_WIDTH * CAROM_BVH_WIDTH;
    for (uint32_t i = 0; i < slots; ++i) {
        carom_bvh_node *to = &near->boxes[i / CAROM_BVH_WIDTH];
        uint32_t lane = i % CAROM_BVH_WIDTH, node = i < near->list.count ? near->list.index[i] : 0;
        carom_box box = carom_box_empty();
        if (i < near->list.count && bvh->level_count == 2) box = carom_bvh_node_bounds(&nodes[0]);
        for (int k = 0; k < 3; ++k) {
            bool has = i < near->list.count && bvh->level_count > 2;
            const carom_bvh_node *parent = &above[node / CAROM_BVH_WIDTH];
            to->low[k][lane] = has ? parent->low[k][node % CAROM_BVH_WIDTH] : box.low[k];
            to->high[k][lane] = has ? parent->high[k][node % CAROM_BVH_WIDTH] : box.high[k];
        }
    }
}

/* Finds the partners of one box among the nodes near its group. */
static inline bool bvh_cpu_find_near(const carom_bvh *bvh, const near_nodes *near,
                                     const wide_box *box, uint32_t a, carom_bvh_found *found) {
    const carom_bvh_node *blocks = carom_bvh_level(bvh, 0), *nodes = carom_bvh_level(bvh, 1);
    uint32_t some[BVH_CPU_STACK_NODES + 2 * CAROM_BVH_WIDTH], count = 0;
    for (uint32_t i = 0; i < near->list.count; i += CAROM_BVH_WIDTH)
        count += list_children(bvh_cpu_overlaps(&near->boxes[i / CAROM_BVH_WIDTH], box),
                               i / CAROM_BVH_WIDTH, &some[count]);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t node = near->list.index[some[i]], children[2 * CAROM_BVH_WIDTH];
        uint32_t child_count = list_children(bvh_cpu_overlaps(&nodes[node], box), node, children);
        if (!bvh_cpu_make_room(found)) return false;
        for (uint32_t c = 0; c < child_count; ++c)
            bvh_cpu_emit(found, a, children[c], bvh_cpu_overlaps(&blocks[children[c]], box));
        found->visits += child_count + 1;
    }
    return true;
}

static inline wide_box widen_slot(const carom_bvh *bvh, uint32_t slot) {
    return widen_lane(&bvh->nodes[slot / CAROM_BVH_WIDTH], slot % CAROM_BVH_WIDTH, false, 0.0f);
}

static inline carom_box box_of_slot(const carom_bvh *bvh, uint32_t slot) {
    const carom_bvh_node *node = &bvh->nodes[slot / CAROM_BVH_WIDTH];
    carom_box box;
    for (int k = 0; k < 3; ++k) {
        box.low[k] = node->low[k][slot % CAROM_BVH_WIDTH];
        box.high[k] = node->high[k][slot % CAROM_BVH_WIDTH];
    }
    return box;
}

/* Boxes whose slots are in one node of level 1 are near each other: the nodes near all of them are
 * searched for once. */
bool CAROM_CPU(carom_bvh_find_slots)(const carom_bvh *bvh, const uint32_t *slots, uint64_t count,
                                     carom_bvh_found *found) {
    const uint32_t group = CAROM_BVH_WIDTH * CAROM_BVH_WIDTH;
    near_nodes near;
    for (uint64_t begin = 0, end; begin < count; begin = end) {
        carom_box all = box_of_slot(bvh, slots[begin]);
        for (end = begin + 1; end < count && slots[end] / group == slots[begin] / group; ++end)
            all = carom_box_join(all, box_of_slot(bvh, slots[end]));
        wide_box wide = bvh_cpu_widen(&all);
        bool shared = end - begin > 1 && bvh->level_count > 1 &&
                      list_nodes(bvh, &wide, 1, &near.list, &found->visits);
        if (shared) gather_near(bvh, &near);
        for (uint64_t i = begin; i < end; ++i) {
            wide_box box = widen_slot(bvh, slots[i]);
            carom_box own = box_of_slot(bvh, slots[i]);
            if (shared ? !bvh_cpu_find_near(bvh, &near, &box, slots[i], found)
                       : !CAROM_CPU(carom_bvh_find_box)(bvh, &own, slots[i], found))
                return false;
        }
    }
    return true;
}
