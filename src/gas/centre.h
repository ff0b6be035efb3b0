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
 * time, so all are written and only slots are counted. `links` gathers the places plus one: the
 * highest bit is then set by links alone. */

typedef uint32_t places4 __attribute__((vector_size(16)));

/* The slots among the four places of a cell, to the end of the near ones. */
static inline uint32_t collect_cell(const carom_gas_cell *cell, uint32_t code, uint32_t *near,
                                    places4 *links) {
    places4 places;
    memcpy(&places, cell->slot, sizeof(places));
    *links |= places + 1;
    uint64_t pair[2];
    const uint64_t high = UINT64_C(0x8000000080000000);
    memcpy(pair, cell->slot, sizeof(pair));
    int empty = __builtin_popcountll((pair[0] & high) | (pair[1] & high) >> 1);
    places |= code; /* slots fill a cell from the front */
    memcpy(near, &places, sizeof(places));
    return (uint32_t)(CAROM_GAS_CELL_SLOTS - empty);
}

/* The same for three cells side by side. */
static inline uint32_t collect_three(const carom_gas_cell *cell, uint32_t code, uint32_t *near,
                                     places4 *links) {
#if defined(__AVX2__)
    const __m256i one = _mm256_set1_epi32(1), codes = _mm256_set1_epi32((int)code);
    __m256i two = _mm256_loadu_si256((const __m256i *)(const void *)cell);
    __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(cell + 2));
    uint32_t taken = ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(two)) & 0xFF;
    uint32_t taken_last = ~(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(last)) & 0xF;
    __m256i more = _mm256_add_epi32(two, one);
    __m128i all = _mm_or_si128(_mm256_castsi256_si128(more), _mm256_extracti128_si256(more, 1));
    *links |= (places4)all | (places4)_mm_add_epi32(last, _mm256_castsi256_si128(one));
    two = _mm256_or_si256(two, codes);
#if CAROM_LANES == 16
    two = _mm256_maskz_compress_epi32((__mmask8)taken, two);
#else
    __m128i numbers = _mm_loadl_epi64((const __m128i *)(const void *)carom_lane_numbers[taken]);
    two = _mm256_permutevar8x32_epi32(two, _mm256_cvtepu8_epi32(numbers));
#endif
    _mm256_storeu_si256((__m256i *)(void *)near, two);
    uint32_t count = (uint32_t)__builtin_popcount(taken);
    _mm_storeu_si128((__m128i *)(void *)(near + count),
                     _mm_or_si128(last, _mm256_castsi256_si128(codes)));
    return count + (uint32_t)__builtin_popcount(taken_last);
#else
    uint32_t count = collect_cell(cell, code, near, links);
    count += collect_cell(cell + 1, code, near + count, links);
    return count + collect_cell(cell + 2, code, near + count, links);
#endif
}

/* The cells at from..to along one axis, as steps in memory, and the digits of their boxes. */
typedef struct steps {
    int count;
    int64_t offset[3];
    uint32_t code[3]; /* shifted to its place above a slot */
} steps;

/* A block of cells around one. */
typedef struct block {
    const carom_gas_cell *own;
    int64_t row, layer;
    bool inside; /* no cell of the block is in another box */
    bool linked; /* some are behind links; `along` is set then, or when not inside */
    int from[3], to[3];
    steps along[3];
} block;

static inline void find_steps(const carom_gas *gas, const carom_gas_home *home, block *block) {
    const int64_t stride[3] = {1, block->row, block->layer};
    uint32_t unit = UINT32_C(1) << CAROM_GAS_SLOT_BITS;
    for (int axis = 0; axis < 3; ++axis, unit *= 3) {
        steps *steps = &block->along[axis];
        steps->count = 0;
        for (int offset = block->from[axis]; offset <= block->to[axis]; ++offset) {
            uint32_t cell, digit, at = home->at[axis];
            if (!carom_gas_step_cell(gas, axis, at, offset, &cell, &digit)) continue;
            steps->offset[steps->count] = ((int64_t)cell - (int64_t)at) * stride[axis];
            steps->code[steps->count++] = unit * digit;
        }
    }
}

/* Whose cell has none of its neighbours in another box. */
static inline bool is_inside(const carom_gas *gas, const carom_gas_home *home) {
    const uint32_t *size = gas->cells.size;
    return (home->at[0] - 1u < size[0] - 2u) & (home->at[1] - 1u < size[1] - 2u) &
           (home->at[2] - 1u < size[2] - 2u) & (size[0] > 2) & (size[1] > 2) & (size[2] > 2);
}

/* The cells from..to around a home. */
static inline __attribute__((always_inline)) void
collect_block(const carom_gas *gas, const carom_gas_home *home, const int from[3], const int to[3],
              block *block, carom_gas_nears *nears) {
    const carom_gas_cells *cells = &gas->cells;
    places4 links = {0};
    uint32_t count = 0;
    block->row = cells->size[0];
    block->layer = block->row * cells->size[1];
    block->own = &cells->cells[home->at[0] + home->at[1] * block->row + home->at[2] * block->layer];
    block->inside = is_inside(gas, home);
    if (block->inside) {
        const uint32_t here = CAROM_GAS_HERE << CAROM_GAS_SLOT_BITS;
        for (int k = from[2]; k <= to[2]; ++k)
            for (int j = from[1]; j <= to[1]; ++j) {
                const carom_gas_cell *cell = block->own + (k * block->layer + j * block->row);
                if (from[0] < to[0])
                    count += collect_three(cell - 1, here, &nears->near[count], &links);
                else
                    count += collect_cell(cell + from[0], here, &nears->near[count], &links);
            }
    } else {
        memcpy(block->from, from, sizeof(block->from));
        memcpy(block->to, to, sizeof(block->to));
        find_steps(gas, home, block);
        const steps *x = &block->along[0], *y = &block->along[1], *z = &block->along[2];
        for (int k = 0; k < z->count; ++k)
            for (int j = 0; j < y->count; ++j)
                for (int i = 0; i < x->count; ++i)
                    count += collect_cell(block->own + (z->offset[k] + y->offset[j] + x->offset[i]),
                                          z->code[k] + y->code[j] + x->code[i], &nears->near[count],
                                          &links);
    }
    nears->count = count;
    block->linked = ((links[0] | links[1] | links[2] | links[3]) & CAROM_GAS_LINK) != 0;
    if (block->linked && block->inside) {
        memcpy(block->from, from, sizeof(block->from));
        memcpy(block->to, to, sizeof(block->to));
        find_steps(gas, home, block);
    }
}

/* Where the walk along the links of a block has come to. */
typedef struct link_walk {
    const carom_gas_cell *cell; /* NULL: begin with cell `next` of the block */
    uint32_t code;
    int next;
} link_walk;

/* Adds those behind links while there is room; true when all are there. */
static inline bool collect_links(const carom_gas *gas, const block *block, link_walk *walk,
                                 carom_gas_nears *nears) {
    const steps *x = &block->along[0], *y = &block->along[1], *z = &block->along[2];
    for (;;) {
        while (walk->cell != NULL) {
            if (nears->count > CAROM_GAS_MOST_NEAR) return false;
            nears->count =
                carom_gas_cell_collect(walk->cell, walk->code, nears->near, nears->count);
            walk->cell = carom_gas_cell_after(&gas->cells, walk->cell);
        }
        if (walk->next == 27) return true;
        int i = walk->next % 3, j = walk->next / 3 % 3, k = walk->next / 9;
        ++walk->next;
        if (i >= x->count || j >= y->count || k >= z->count) continue;
        walk->code = (z->code[k] + y->code[j] + x->code[i]) >> CAROM_GAS_SLOT_BITS;
        walk->cell = carom_gas_cell_after(
            &gas->cells, block->own + (z->offset[k] + y->offset[j] + x->offset[i]));
    }
}

/* The block of cells around the sphere's own, limited to from..to along each axis. */
static inline __attribute__((always_inline)) void scan_block(const carom_gas *gas, uint32_t slot,
                                                             const int from[3], const int to[3],
                                                             carom_gas_plan *plan) {
    carom_gas_nears nears;
    block block;
    collect_block(gas, &gas->homes[slot], from, to, &block, &nears);
    link_walk walk = {.next = 0};
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
    carom_gas_home *home = &gas->homes[slot];
    carom_gas_cells *cells = &gas->cells;
    const uint64_t before = carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]);
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
    carom_gas_cell_remove(cells, before, slot);
    carom_gas_cell_add(cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                       slot);
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
    carom_gas_cells *cells = &gas->cells;
    int axis = plan->side / 2, offset = plan->side % 2 != 0 ? 1 : -1;
    carom_gas_cell_remove(cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                          slot);
    if (step_home(gas, slot, axis, offset)) carom_gas_flight_set(gas, slot);
    carom_gas_cell_add(cells, carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]),
                       slot);
    scan_ahead(gas, slot, axis, offset, plan);
    carom_gas_view view = view_from_cell(gas, slot);
    plan_crossing(gas, slot, &view, plan);
}

#endif
