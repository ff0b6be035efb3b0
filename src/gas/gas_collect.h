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

typedef uint32_t entries4 __attribute__((vector_size(16)));
typedef uint32_t entries8 __attribute__((vector_size(32)));

/* Largest value read so far, plus one. Only links make it exceed CAROM_GAS_LINK; an empty place
 * wraps to 0. */
typedef struct link_marks {
    entries4 four;
    entries8 eight;
} link_marks;

#if defined(__AVX2__)
/* Appends the entries of a cell to the candidates; returns their count. */
static inline uint32_t collect_cell(const carom_gas_cell *cell, uint32_t *near, link_marks *marks) {
    const __m128i one = _mm_set1_epi32(1), most = _mm_set1_epi32((int)(CAROM_GAS_LINK - 1));
    __m128i places = _mm_loadu_si128((const __m128i *)(const void *)cell);
    __m128i entries = _mm_cmpeq_epi32(places, _mm_min_epu32(places, most));
    marks->four = (entries4)_mm_max_epu32((__m128i)marks->four, _mm_add_epi32(places, one));
    _mm_storeu_si128((__m128i *)(void *)near, places); /* entries are at the front */
    return (uint32_t)__builtin_popcount((unsigned)_mm_movemask_ps(_mm_castsi128_ps(entries)));
}

/* The same for three adjacent cells. */
static inline uint32_t collect_three(const carom_gas_cell *cell, uint32_t *near,
                                     link_marks *marks) {
    const __m256i one = _mm256_set1_epi32(1), most = _mm256_set1_epi32((int)(CAROM_GAS_LINK - 1));
    __m256i two = _mm256_loadu_si256((const __m256i *)(const void *)cell);
    __m256i entries = _mm256_cmpeq_epi32(two, _mm256_min_epu32(two, most));
    uint32_t taken = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(entries));
    marks->eight = (entries8)_mm256_max_epu32((__m256i)marks->eight, _mm256_add_epi32(two, one));
#if CAROM_LANES == 16
    two = _mm256_maskz_compress_epi32((__mmask8)taken, two);
#else
    __m128i numbers = _mm_loadl_epi64((const __m128i *)(const void *)carom_lane_numbers[taken]);
    two = _mm256_permutevar8x32_epi32(two, _mm256_cvtepu8_epi32(numbers));
#endif
    _mm256_storeu_si256((__m256i *)(void *)near, two);
    uint32_t count = (uint32_t)__builtin_popcount(taken);
    return count + collect_cell(cell + 2, near + count, marks);
}

static inline bool are_linked(const link_marks *marks) {
    const __m128i most = _mm_set1_epi32((int)CAROM_GAS_LINK);
    __m256i eight = (__m256i)marks->eight;
    __m128i all = _mm_max_epu32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    all = _mm_max_epu32(all, (__m128i)marks->four);
    return _mm_movemask_epi8(_mm_cmpeq_epi32(all, _mm_min_epu32(all, most))) != 0xFFFF;
}
#else
static inline uint32_t collect_cell(const carom_gas_cell *cell, uint32_t *near, link_marks *marks) {
    entries4 places, larger;
    memcpy(&places, cell->entry, sizeof(places));
    memcpy(near, &places, sizeof(places));
    larger = (entries4)(places + 1 > marks->four);
    marks->four = ((places + 1) & larger) | (marks->four & ~larger);
    return carom_gas_cell_taken(cell);
}

static inline uint32_t collect_three(const carom_gas_cell *cell, uint32_t *near,
                                     link_marks *marks) {
    uint32_t count = collect_cell(cell, near, marks);
    count += collect_cell(cell + 1, near + count, marks);
    return count + collect_cell(cell + 2, near + count, marks);
}

static inline bool are_linked(const link_marks *marks) {
    entries4 linked = (entries4)(marks->four > CAROM_GAS_LINK);
    return (linked[0] | linked[1] | linked[2] | linked[3]) != 0;
}
#endif

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
typedef struct link_walk {
    const carom_gas_cell *cell; /* the last cell collected, NULL at the start of a chain */
    int at[3];
} link_walk;

static inline link_walk begin_links(const block *block) {
    return (link_walk){NULL, {block->from[0], block->from[1], block->from[2]}};
}

/* Adds the entries of overflow cells while there is capacity; true when all have been added. */
static inline bool collect_links(const carom_gas *gas, const block *block, link_walk *walk,
                                 carom_gas_candidates *candidates) {
    int *at = walk->at;
    for (; at[2] <= block->to[2]; at[1] = block->from[1], ++at[2])
        for (; at[1] <= block->to[1]; at[0] = block->from[0], ++at[1])
            for (; at[0] <= block->to[0]; walk->cell = NULL, ++at[0]) {
                const carom_gas_cell *after;
                if (walk->cell == NULL)
                    walk->cell = block->own + (at[2] * block->layer + at[1] * block->row + at[0]);
                while ((after = carom_gas_cell_after(&gas->cells, walk->cell)) != NULL) {
                    if (candidates->count > CAROM_GAS_MOST_CANDIDATES) return false;
                    memcpy(&candidates->near[candidates->count], after->entry,
                           sizeof(after->entry));
                    candidates->count += carom_gas_cell_taken(after);
                    walk->cell = after;
                }
            }
    return true;
}

#endif
