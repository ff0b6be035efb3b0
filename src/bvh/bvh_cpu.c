/* SPDX-License-Identifier: MIT */
/* Box tree queries with SIMD. One box is tested against the sixteen boxes of a node at a time; a
 * traversal with an explicit stack visits every node whose box overlaps the query. */
#include "bvh/bvh_cpu.h"

#include <string.h>

#include "base/simd.h"

/* ---- Morton keys ----------------------------------------------------------------------------- */

/* Spreads ten bits, with two zeros after each. */
static inline uint32_t spread(uint32_t x) {
    x = (x | x << 16) & 0x030000FFu;
    x = (x | x << 8) & 0x0300F00Fu;
    x = (x | x << 4) & 0x030C30C3u;
    return (x | x << 2) & 0x09249249u;
}

void CAROM_CPU(carom_bvh_keys)(const carom_bvh_space *space, const carom_box *boxes, uint32_t count,
                               uint32_t *keys) {
    for (uint32_t i = 0; i < count; ++i) {
        const carom_box *box = &boxes[i];
        uint32_t key = 0;
        for (int k = 0; k < 3; ++k) {
            float centre = 0.5f * box->low[k] + 0.5f * box->high[k];
            float cell = (centre - space->low[k]) * space->scale[k];
            cell = cell > 0.0f ? cell : 0.0f; /* empty boxes give NaN, which becomes 0 here */
            cell = cell < 1023.0f ? cell : 1023.0f;
            key |= spread((uint32_t)cell) << k;
        }
        int exponent = carom_bvh_size(box);
        uint32_t size_class = (exponent >= space->size_class[0] ? 1u : 0u) +
                              (exponent >= space->size_class[1] ? 1u : 0u) +
                              (exponent >= space->size_class[2] ? 1u : 0u);
        keys[i] = size_class << 30 | key;
    }
}

/* ---- Overlap test of one box with sixteen ---------------------------------------------------- */

typedef struct wide_box {
    carom_f32v low[3], high[3];
} wide_box;

static inline wide_box widen(const carom_box *box) {
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
    return widen(&box);
}

static inline uint32_t overlaps(const carom_bvh_node *node, const wide_box *box) {
    uint32_t lanes = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        carom_i32v hit = (carom_f32v_load(&node->low[0][at]) <= box->high[0]) &
                         (carom_f32v_load(&node->high[0][at]) >= box->low[0]) &
                         (carom_f32v_load(&node->low[1][at]) <= box->high[1]) &
                         (carom_f32v_load(&node->high[1][at]) >= box->low[1]) &
                         (carom_f32v_load(&node->low[2][at]) <= box->high[2]) &
                         (carom_f32v_load(&node->high[2][at]) >= box->low[2]);
        lanes |= carom_lanes_of(hit) << at;
    }
    return lanes;
}

static inline uint32_t lowest(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

static inline bool make_room(carom_bvh_found *found) {
    return found->count + CAROM_BVH_FLUSH <= CAROM_BVH_FOUND || found->flush(found);
}

/* ---- Traversals ------------------------------------------------------------------------------ */

/* The stack of nodes still to visit, as (level, index). A traversal opens one node at a time and
 * pushes at most its 16 children, so 16 entries per level are enough. */
typedef struct to_visit {
    uint32_t number[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    uint8_t level[CAROM_BVH_LEVELS * CAROM_BVH_WIDTH];
    uint32_t count;
} to_visit;

static inline void push(to_visit *stack, uint32_t level, uint32_t number) {
    stack->number[stack->count] = number;
    stack->level[stack->count++] = (uint8_t)level;
}

static inline void emit(carom_bvh_found *found, uint32_t a, uint32_t block_b, uint32_t lanes) {
    uint32_t count = found->count;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        carom_lanes some = lanes >> at & (0xFFFFu >> (16 - CAROM_LANES));
        carom_u32v_store(&found->a[count], carom_u32v_splat(a));
        count += carom_lanes_list(some, block_b * CAROM_BVH_WIDTH + at, &found->b[count]);
    }
    found->count = count;
}

static inline bool block_pair(const carom_bvh_node *blocks, uint32_t a, uint32_t b,
                              const wide_box *box_of_b, bool enlarged, float reach,
                              carom_bvh_found *found) {
    if (!make_room(found)) return false;
    const carom_bvh_node *block_a = &blocks[a], *block_b = &blocks[b];
    for (uint32_t near = overlaps(block_a, box_of_b); near != 0; near &= near - 1) {
        uint32_t lane = lowest(near);
        wide_box box = widen_lane(block_a, lane, enlarged, reach);
        emit(found, a * CAROM_BVH_WIDTH + lane, b, overlaps(block_b, &box));
    }
    return true;
}

static inline bool within_block(const carom_bvh_node *blocks, uint32_t block, bool enlarged,
                                float reach, carom_bvh_found *found) {
    if (!make_room(found)) return false;
    for (uint32_t lane = 0; lane + 1 < CAROM_BVH_WIDTH; ++lane) {
        wide_box box = widen_lane(&blocks[block], lane, enlarged, reach);
        uint32_t later = ~((2u << lane) - 1u);
        emit(found, block * CAROM_BVH_WIDTH + lane, block, overlaps(&blocks[block], &box) & later);
    }
    return true;
}

/* Finds the pairs within the block, then traverses the tree to all later blocks whose box overlaps
 * the block's. `enlarged` is a constant in both calls, so that the compiler specialises the loops.
 */
static inline bool self_block(const carom_bvh *bvh, uint32_t block, bool enlarged, float reach,
                              carom_bvh_found *found) {
    const carom_bvh_node *blocks = carom_bvh_level(bvh, 0);
    if (!within_block(blocks, block, enlarged, reach, found)) return false;
    if (bvh->level_count < 2) return true;
    const carom_bvh_node *parents = carom_bvh_level(bvh, 1);
    wide_box own =
        widen_lane(&parents[block / CAROM_BVH_WIDTH], block % CAROM_BVH_WIDTH, enlarged, reach);
    to_visit stack;
    stack.count = 0;
    push(&stack, bvh->level_count - 1, 0);
    while (stack.count > 0) {
        uint32_t level = stack.level[--stack.count], number = stack.number[stack.count];
        const carom_bvh_node *node = &carom_bvh_level(bvh, level)[number];
        /* Only children whose last block comes after `block`. */
        uint64_t span = (uint64_t)1 << (4 * (level - 1)), first = (uint64_t)number * 16 * span;
        uint64_t past = block + 1 > first ? (block + 1 - first) / span : 0;
        uint32_t later = past < 16 ? ~0u << past : 0u;
        uint32_t lanes = overlaps(node, &own) & later;
        ++found->visits;
        for (; lanes != 0; lanes &= lanes - 1) {
            uint32_t lane = lowest(lanes), child = number * CAROM_BVH_WIDTH + lane;
            if (level > 1) {
                push(&stack, level - 1, child);
            } else {
                wide_box box = widen_lane(node, lane, enlarged, reach);
                if (!block_pair(blocks, block, child, &box, enlarged, reach, found)) return false;
            }
        }
    }
    return true;
}

bool CAROM_CPU(carom_bvh_self_block)(const carom_bvh *bvh, uint32_t block, carom_bvh_found *found) {
    return self_block(bvh, block, false, 0.0f, found);
}

bool CAROM_CPU(carom_bvh_self_block_within)(const carom_bvh *bvh, uint32_t block, float reach,
                                            carom_bvh_found *found) {
    return self_block(bvh, block, true, reach, found);
}

bool CAROM_CPU(carom_bvh_find_box)(const carom_bvh *bvh, const carom_box *box, uint32_t a,
                                   carom_bvh_found *found) {
    if (bvh->level_count == 0) return true;
    wide_box wide = widen(box);
    to_visit stack;
    stack.count = 0;
    push(&stack, bvh->level_count - 1, 0);
    while (stack.count > 0) {
        uint32_t level = stack.level[--stack.count], number = stack.number[stack.count];
        uint32_t lanes = overlaps(&carom_bvh_level(bvh, level)[number], &wide);
        ++found->visits;
        if (level == 0) {
            if (!make_room(found)) return false;
            emit(found, a, number, lanes);
            continue;
        }
        for (; lanes != 0; lanes &= lanes - 1)
            push(&stack, level - 1, number * CAROM_BVH_WIDTH + lowest(lanes));
    }
    return true;
}
