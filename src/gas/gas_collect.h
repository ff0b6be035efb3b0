/* SPDX-License-Identifier: MIT */
/* gas_collect.h: collecting the entries of a block of cells; part of the loop in gas_run_cpu.c.
 *
 * The number of entries in a cell is random, and a branch on it would be mispredicted every other
 * time. So all places are copied, and only entries are counted. */
#ifndef CAROM_SRC_GAS_GAS_COLLECT_H
#define CAROM_SRC_GAS_GAS_COLLECT_H

#include <string.h>

#include "base/simd.h"
#include "gas/gas_cells.h"

/* Largest value read so far, plus one. Only links make it exceed CAROM_GAS_LINK; an empty place
 * wraps to 0. */
typedef struct link_marks {
    carom_u32x4 four;
    carom_u32x8 eight;
} link_marks;

/* Appends the entries of a cell to the candidates; returns their count. */
static inline uint32_t collect_cell(const carom_gas_cell *cell, uint32_t *near, link_marks *marks) {
    carom_u32x4 places = carom_u32x4_load(cell->entry);
    marks->four = carom_u32x4_max(marks->four, places + 1);
    carom_u32x4_store(near, places); /* entries are at the front */
    carom_lanes taken = carom_i32x4_lanes((carom_i32x4)(places < CAROM_GAS_LINK));
    return (uint32_t)__builtin_ctz(~taken);
}

/* The same for three adjacent cells. */
static inline uint32_t collect_three(const carom_gas_cell *cell, uint32_t *near,
                                     link_marks *marks) {
    uint32_t count;
#if CAROM_LANES >= 8
    carom_u32x8 two;
    memcpy(&two, cell, sizeof(two));
    marks->eight = carom_u32x8_max(marks->eight, two + 1);
    carom_lanes taken = carom_i32x8_lanes((carom_i32x8)(two < CAROM_GAS_LINK));
    carom_u32x8_store(near, carom_u32x8_compress(two, taken));
    count = (uint32_t)__builtin_popcount(taken);
#else
    count = collect_cell(cell, near, marks);
    count += collect_cell(cell + 1, near + count, marks);
#endif
    return count + collect_cell(cell + 2, near + count, marks);
}

static inline bool are_linked(const link_marks *marks) {
    carom_lanes four = carom_i32x4_lanes((carom_i32x4)(marks->four > CAROM_GAS_LINK));
    return (four | carom_i32x8_lanes((carom_i32x8)(marks->eight > CAROM_GAS_LINK))) != 0;
}

/* The same for three rows of three cells, `step` apart, centred on `cell`. */
static inline __attribute__((always_inline)) uint32_t
collect_rows(const carom_gas_cell *cell, int64_t step, uint32_t *near, link_marks *marks) {
    uint32_t count = collect_three(cell - step - 1, near, marks);
    count += collect_three(cell - 1, near + count, marks);
    return count + collect_three(cell + step - 1, near + count, marks);
}

/* A box of cells among the 27 around one, given by its two corners. */
typedef struct block {
    const carom_gas_cell *own;
    int64_t row, layer;
    const int *from, *to;
    bool linked; /* some entries are in overflow cells */
} block;

static inline void find_block(const carom_gas *gas, const carom_gas_home *home, block *block) {
    const carom_gas_cells *cells = &gas->cells;
    block->row = carom_gas_row(cells);
    block->layer = carom_gas_layer(cells);
    block->own = &cells->cells[carom_gas_home_index(cells, home)];
}

/* Collects all 27 cells around a home, without overflow cells. */
static inline void collect_block(const carom_gas *gas, const carom_gas_home *home, block *block,
                                 carom_gas_candidates *candidates) {
    static const int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    link_marks marks = {{0}, {0}};
    uint32_t count = 0;
    find_block(gas, home, block);
    block->from = from;
    block->to = to;
    for (int k = -1; k <= 1; ++k)
        count += collect_rows(block->own + k * block->layer, block->row, &candidates->near[count],
                              &marks);
    candidates->count = count;
    block->linked = are_linked(&marks);
}

/* Collects the nine cells on one side. The side is random, so one loop handles all. */
static inline void collect_side(const carom_gas *gas, const carom_gas_home *home, uint8_t side,
                                block *block, carom_gas_candidates *candidates) {
    static const int from[6][3] = {{-1, -1, -1}, {1, -1, -1},  {-1, -1, -1},
                                   {-1, 1, -1},  {-1, -1, -1}, {-1, -1, 1}};
    static const int to[6][3] = {{-1, 1, 1}, {1, 1, 1},  {1, -1, 1},
                                 {1, 1, 1},  {1, 1, -1}, {1, 1, 1}};
    link_marks marks = {{0}, {0}};
    uint32_t count = 0;
    find_block(gas, home, block);
    block->from = from[side];
    block->to = to[side];
    const int64_t stride[5] = {1, block->row, block->layer, 1, block->row};
    const int64_t *along = &stride[side / 2]; /* strides of the axis and of the two others */
    const carom_gas_cell *cell = block->own + (side % 2 != 0 ? along[0] : -along[0]);
    for (int n = 0; n < 9; ++n)
        count += collect_cell(cell + (n / 3 - 1) * along[1] + (n % 3 - 1) * along[2],
                              &candidates->near[count], &marks);
    candidates->count = count;
    block->linked = are_linked(&marks);
}

/* State of the traversal of a block's overflow cells. */
typedef struct link_cursor {
    const carom_gas_cell *cell; /* the last cell collected, NULL at the start of a chain */
    int at[3];
} link_cursor;

static inline link_cursor begin_links(const block *block) {
    return (link_cursor){NULL, {block->from[0], block->from[1], block->from[2]}};
}

/* Adds the entries of overflow cells while there is capacity; true when all have been added. */
static inline bool collect_links(const carom_gas *gas, const block *block, link_cursor *cursor,
                                 carom_gas_candidates *candidates) {
    int *at = cursor->at;
    for (; at[2] <= block->to[2]; at[1] = block->from[1], ++at[2])
        for (; at[1] <= block->to[1]; at[0] = block->from[0], ++at[1])
            for (; at[0] <= block->to[0]; cursor->cell = NULL, ++at[0]) {
                const carom_gas_cell *after;
                if (cursor->cell == NULL)
                    cursor->cell = block->own + (at[2] * block->layer + at[1] * block->row + at[0]);
                while ((after = carom_gas_cell_after(&gas->cells, cursor->cell)) != NULL) {
                    if (candidates->count > CAROM_GAS_MOST_CANDIDATES) return false;
                    memcpy(&candidates->near[candidates->count], after->entry,
                           sizeof(after->entry));
                    candidates->count += carom_gas_cell_taken(after);
                    cursor->cell = after;
                }
            }
    return true;
}

#endif
