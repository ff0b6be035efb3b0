/* SPDX-License-Identifier: MIT */
/* centre.h: CAROM_GAS_CENTRE: a sphere is filed in one cell and looks into the 27 around; part of
 * the loop in run_cpu.c.
 *
 * Two spheres that touch have to be in the same cell or in neighbouring ones. Where cells are wider
 * than two that touch are apart, half of what is too much is leeway: a sphere may stray from its
 * cell by that on either side before it has to cross. And as it looks all around after a collision
 * anyway, it may move then to a cell beside at no cost: to the one furthest ahead. */
#ifndef CAROM_SRC_GAS_CENTRE_H
#define CAROM_SRC_GAS_CENTRE_H

#include "gas/scan.h"

/* ---- collecting ------------------------------------------------------------------------------
 * Which places of a cell are taken is random and a branch on it would be guessed wrong every other
 * time, so all are written and only words are counted. */

typedef uint32_t words4 __attribute__((vector_size(16)));
typedef uint32_t words8 __attribute__((vector_size(32)));

/* Largest of what was met plus one: above CAROM_GAS_LINK by links alone. */
typedef struct link_marks {
    words4 four;
    words8 eight;
} link_marks;

static inline words4 larger4(words4 a, words4 b) {
#if defined(__AVX2__)
    return (words4)_mm_max_epu32((__m128i)a, (__m128i)b);
#else
    words4 larger = (words4)(a > b);
    return (a & larger) | (b & ~larger);
#endif
}

/* The words of a cell, to the end of the near ones. */
static inline uint32_t collect_cell(const carom_gas_cell *cell, uint32_t *near, link_marks *marks) {
    words4 words;
    memcpy(&words, cell->word, sizeof(words));
    marks->four = larger4(marks->four, words + 1);
    memcpy(near, &words, sizeof(words));
    return carom_gas_cell_taken(cell);
}

/* The same for three cells side by side. */
static inline uint32_t collect_three(const carom_gas_cell *cell, uint32_t *near,
                                     link_marks *marks) {
#if defined(__AVX2__)
    const __m256i one = _mm256_set1_epi32(1), most = _mm256_set1_epi32((int)(CAROM_GAS_LINK - 1));
    __m256i two = _mm256_loadu_si256((const __m256i *)(const void *)cell);
    __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(cell + 2));
    __m256i words = _mm256_cmpeq_epi32(two, _mm256_min_epu32(two, most));
    __m128i words_last = _mm_cmpeq_epi32(last, _mm_min_epu32(last, _mm256_castsi256_si128(most)));
    uint32_t taken = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(words));
    uint32_t taken_last = (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(words_last));
    marks->eight = (words8)_mm256_max_epu32((__m256i)marks->eight, _mm256_add_epi32(two, one));
    marks->four = (words4)_mm_max_epu32((__m128i)marks->four,
                                        _mm_add_epi32(last, _mm256_castsi256_si128(one)));
#if CAROM_LANES == 16
    two = _mm256_maskz_compress_epi32((__mmask8)taken, two);
#else
    __m128i numbers = _mm_loadl_epi64((const __m128i *)(const void *)carom_lane_numbers[taken]);
    two = _mm256_permutevar8x32_epi32(two, _mm256_cvtepu8_epi32(numbers));
#endif
    _mm256_storeu_si256((__m256i *)(void *)near, two);
    uint32_t count = (uint32_t)__builtin_popcount(taken);
    _mm_storeu_si128((__m128i *)(void *)(near + count), last); /* words are at the front */
    return count + (uint32_t)__builtin_popcount(taken_last);
#else
    uint32_t count = collect_cell(cell, near, marks);
    count += collect_cell(cell + 1, near + count, marks);
    return count + collect_cell(cell + 2, near + count, marks);
#endif
}

static inline bool are_linked(const link_marks *marks) {
    words4 high, low;
    memcpy(&low, &marks->eight, sizeof(low));
    memcpy(&high, (const char *)&marks->eight + sizeof(low), sizeof(high));
    high = larger4(larger4(high, low), marks->four);
    return (high[0] > CAROM_GAS_LINK) | (high[1] > CAROM_GAS_LINK) | (high[2] > CAROM_GAS_LINK) |
           (high[3] > CAROM_GAS_LINK);
}

/* A block of cells around one. */
typedef struct block {
    const carom_gas_cell *own;
    int64_t row, layer;
    bool inside; /* no cell of the block is in another box */
    bool linked; /* some are behind links */
    int from[3], to[3];
} block;

/* The cells from..to around a home, without those behind links. */
static inline __attribute__((always_inline)) void
collect_block(const carom_gas *gas, const carom_gas_home *home, const int from[3], const int to[3],
              block *block, carom_gas_nears *nears) {
    const carom_gas_cells *cells = &gas->cells;
    link_marks marks = {{0}, {0}};
    uint32_t count = 0;
    block->row = carom_gas_row(cells);
    block->layer = carom_gas_layer(cells);
    block->own = &cells->cells[carom_gas_home_index(cells, home)];
    block->inside = carom_gas_is_inside(cells, home);
    for (int k = from[2]; k <= to[2]; ++k)
        for (int j = from[1]; j <= to[1]; ++j) {
            const carom_gas_cell *cell = block->own + (k * block->layer + j * block->row);
            if (from[0] < to[0])
                count += collect_three(cell - 1, &nears->near[count], &marks);
            else
                count += collect_cell(cell + from[0], &nears->near[count], &marks);
        }
    nears->count = count;
    block->linked = are_linked(&marks);
    memcpy(block->from, from, sizeof(block->from));
    memcpy(block->to, to, sizeof(block->to));
}

/* Where the walk along the links of a block has come to. */
typedef struct link_walk {
    const carom_gas_cell *cell; /* the last one collected, NULL at the start of a chain */
    int at[3];
} link_walk;

static inline link_walk begin_links(const block *block) {
    return (link_walk){NULL, {block->from[0], block->from[1], block->from[2]}};
}

/* Adds those behind links while there is room; true when all are there. */
static inline bool collect_links(const carom_gas *gas, const block *block, link_walk *walk,
                                 carom_gas_nears *nears) {
    int *at = walk->at;
    for (; at[2] <= block->to[2]; at[1] = block->from[1], ++at[2])
        for (; at[1] <= block->to[1]; at[0] = block->from[0], ++at[1])
            for (; at[0] <= block->to[0]; walk->cell = NULL, ++at[0]) {
                const carom_gas_cell *after;
                if (walk->cell == NULL)
                    walk->cell = block->own + (at[2] * block->layer + at[1] * block->row + at[0]);
                while ((after = carom_gas_cell_after(&gas->cells, walk->cell)) != NULL) {
                    if (nears->count > CAROM_GAS_MOST_NEAR) return false;
                    memcpy(&nears->near[nears->count], after->word, sizeof(after->word));
                    nears->count += carom_gas_cell_taken(after);
                    walk->cell = after;
                }
            }
    return true;
}

/* The block of cells around the sphere's own, limited to from..to along each axis. */
static inline __attribute__((always_inline)) void scan_block(const carom_gas *gas, uint32_t slot,
                                                             const int from[3], const int to[3],
                                                             carom_gas_plan *plan) {
    carom_gas_nears nears;
    block block;
    collect_block(gas, &gas->homes[slot], from, to, &block, &nears);
    link_walk walk = begin_links(&block);
    bool all = !block.linked || collect_links(gas, &block, &walk, &nears);
    if (nears.count != 0) scan(gas, slot, nears.near, nears.count, !block.inside, plan);
    while (!all) {
        nears.count = 0;
        all = collect_links(gas, &block, &walk, &nears);
        scan(gas, slot, nears.near, nears.count, !block.inside, plan);
    }
}

/* ---- crossing -------------------------------------------------------------------------------- */

/* Where a sphere is now and how it moves, seen from the low corner of its cell. */
typedef struct carom_gas_view {
    double x[3], v[3];
} carom_gas_view;

static inline carom_gas_view view_from_cell(const carom_gas *gas, uint32_t slot) {
    const carom_gas_rules *rules = &gas->rules;
    const carom_gas_body *body = &gas->bodies[slot];
    const carom_gas_home *home = &gas->homes[slot];
    carom_gas_view view;
    carom_gas_place(rules, body, carom_gas_span(rules, gas->now - body->t), view.x, view.v);
    for (int axis = 0; axis < 3; ++axis)
        view.x[axis] -= (double)body->wraps[axis] * rules->edge[axis] +
                        (double)home->at[axis] * gas->cells.edge[axis];
    return view;
}

/* Is the cell the last one before a wall on that side? */
static inline bool is_at_wall(const carom_gas *gas, const carom_gas_home *home, int axis,
                              uint32_t side) {
    return (home->at[axis] == side * (gas->cells.size[axis] - 1)) & !gas->rules.periodic[axis];
}

/* Under an acceleration: both sides of each axis. */
static inline double find_fall(const carom_gas *gas, const carom_gas_home *home,
                               const carom_gas_view *view, uint8_t *first) {
    double best = CAROM_GAS_NEVER_DELAY;
    for (int axis = 0; axis < 3; ++axis) {
        double a = gas->rules.acceleration[axis], leeway = gas->cells.leeway[axis];
        double x = view->x[axis], v = view->v[axis], edge = gas->cells.edge[axis];
        for (uint32_t side = 0; side < 2; ++side) {
            if (is_at_wall(gas, home, axis, side)) continue;
            double delay = side == 0 ? carom_gas_fall_delay(leeway + x, v, a)
                                     : carom_gas_fall_delay(edge + leeway - x, -v, -a);
            if (delay < best) {
                best = delay;
                *first = (uint8_t)(2 * axis + (int)side);
            }
        }
    }
    return best;
}

/* Without: the side ahead along each axis. */
static inline double find_side(const carom_gas *gas, const carom_gas_home *home,
                               const carom_gas_view *view, uint8_t *first) {
    double delay[3];
    uint8_t sides[3];
    for (int axis = 0; axis < 3; ++axis) {
        double v = view->v[axis], leeway = gas->cells.leeway[axis];
        uint32_t side = v > 0.0;
        double plane = side != 0 ? gas->cells.edge[axis] + leeway : -leeway;
        bool stays = (v == 0.0) | is_at_wall(gas, home, axis, side);
        delay[axis] = stays ? CAROM_GAS_NEVER_DELAY : (plane - view->x[axis]) / v;
        sides[axis] = (uint8_t)(2 * axis + (int)side);
    }
    int best = delay[1] < delay[0] ? 1 : 0;
    best = delay[2] < delay[best] ? 2 : best;
    *first = sides[best];
    return delay[best];
}

static inline void plan_crossing(const carom_gas *gas, uint32_t slot, const carom_gas_view *view,
                                 carom_gas_plan *plan) {
    const carom_gas_home *home = &gas->homes[slot];
    double delay = gas->rules.accelerated ? find_fall(gas, home, view, &plan->side)
                                          : find_side(gas, home, view, &plan->side);
    plan->crossing = carom_gas_after(&gas->rules, gas->now, delay > 0.0 ? delay : 0.0);
}

/* Moves the home one cell along an axis; true when into another box. */
static inline bool step_home(carom_gas *gas, uint32_t slot, int axis, int offset) {
    carom_gas_home *home = &gas->homes[slot];
    uint32_t to, digit;
    (void)carom_gas_step_cell(gas, axis, home->at[axis], offset, &to, &digit);
    home->at[axis] = (uint16_t)to;
    gas->bodies[slot].wraps[axis] = (int8_t)(gas->bodies[slot].wraps[axis] + (int)digit - 1);
    return digit != 1;
}

/* Of the cells a sphere may be filed in the one furthest ahead, so that it stays there longest. All
 * around it has to be looked at afterwards. */
static inline void settle(carom_gas *gas, uint32_t slot, carom_gas_view *view) {
    const carom_gas_cells *cells = &gas->cells;
    const carom_gas_home *home = &gas->homes[slot], before = *home;
    bool moves = false, turns = false;
    for (int axis = 0; axis < 3; ++axis) {
        double v = view->v[axis], edge = cells->edge[axis], leeway = cells->leeway[axis];
        uint32_t side = v > 0.0;
        bool ahead = side != 0 ? view->x[axis] > edge - leeway : view->x[axis] < leeway;
        if (!ahead | (v == 0.0) | is_at_wall(gas, home, axis, side)) continue;
        turns |= step_home(gas, slot, axis, side != 0 ? 1 : -1);
        view->x[axis] += side != 0 ? -edge : edge;
        moves = true;
    }
    if (!moves) return;
    carom_gas_file(gas, slot, &before, false);
    carom_gas_file(gas, slot, home, true);
    if (turns) carom_gas_flight_set(gas, slot);
}

static inline void predict_centre(carom_gas *gas, uint32_t slot, carom_gas_plan *plan) {
    static const int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    carom_gas_view view = view_from_cell(gas, slot);
    settle(gas, slot, &view);
    plan_crossing(gas, slot, &view, plan);
    scan_block(gas, slot, from, to, plan);
}

/* The nine cells that have come near, one step ahead along an axis. */
static inline void scan_ahead(const carom_gas *gas, uint32_t slot, int axis, int offset,
                              carom_gas_plan *plan) {
    int from[3] = {-1, -1, -1}, to[3] = {1, 1, 1};
    from[axis] = to[axis] = offset;
    if (axis == 0)
        scan_block(gas, slot, (int[3]){offset, -1, -1}, (int[3]){offset, 1, 1}, plan);
    else
        scan_block(gas, slot, (int[3]){-1, from[1], from[2]}, (int[3]){1, to[1], to[2]}, plan);
}

static inline void cross_centre(carom_gas *gas, uint32_t slot) {
    carom_gas_plan *plan = &gas->plans[slot];
    const carom_gas_home *home = &gas->homes[slot];
    int axis = plan->side / 2, offset = plan->side % 2 != 0 ? 1 : -1;
    carom_gas_file(gas, slot, home, false);
    if (step_home(gas, slot, axis, offset)) carom_gas_flight_set(gas, slot);
    carom_gas_file(gas, slot, home, true);
    scan_ahead(gas, slot, axis, offset, plan);
    carom_gas_view view = view_from_cell(gas, slot);
    plan_crossing(gas, slot, &view, plan);
}

#endif
