/* SPDX-License-Identifier: MIT */
/* cells.h: who is near, by uniform cells; inlined into the loops that predict.
 *
 * A near one is a slot with a code for the box it is seen in: three digits of base 3, one for each
 * axis, 0, 1, 2 for the box below, this one, the one above. */
#ifndef CAROM_SRC_GAS_CELLS_H
#define CAROM_SRC_GAS_CELLS_H

#include "gas/gas.h"

#define CAROM_GAS_SLOT_BITS 27
#define CAROM_GAS_HERE      13u /* 1 + 3 + 9: this box */

/* Overflow cells one step may take at most: eight cells entered. */
#define CAROM_GAS_STEP_OVERFLOW 16

static inline uint32_t carom_gas_near(uint32_t slot, uint32_t code) {
    return slot | code << CAROM_GAS_SLOT_BITS;
}

static inline uint64_t carom_gas_cell_index(const carom_gas_cells *cells, uint64_t x, uint64_t y,
                                            uint64_t z) {
    return (z * cells->size[1] + y) * cells->size[0] + x;
}

static inline carom_gas_cell *carom_gas_linked(const carom_gas_cells *cells, uint32_t link) {
    return &cells->cells[cells->count + (link & ~CAROM_GAS_LINK)];
}

static inline bool carom_gas_is_link(uint32_t value) {
    return value >= CAROM_GAS_LINK && value != CAROM_GAS_EMPTY;
}

static inline void carom_gas_cell_add(carom_gas_cells *cells, uint64_t index, uint32_t slot) {
    carom_gas_cell *cell = &cells->cells[index];
    uint32_t *last = &cell->slot[CAROM_GAS_CELL_SLOTS - 1];
    while (carom_gas_is_link(*last)) {
        cell = carom_gas_linked(cells, *last);
        last = &cell->slot[CAROM_GAS_CELL_SLOTS - 1];
    }
    for (int k = 0; k < CAROM_GAS_CELL_SLOTS; ++k)
        if (cell->slot[k] == CAROM_GAS_EMPTY) {
            cell->slot[k] = slot;
            return;
        }
    uint32_t fresh = cells->free_overflow;
    carom_gas_cell *next = &cells->cells[cells->count + fresh];
    cells->free_overflow = next->slot[0];
    --cells->free_count;
    next->slot[0] = *last;
    next->slot[1] = slot;
    for (int k = 2; k < CAROM_GAS_CELL_SLOTS; ++k) next->slot[k] = CAROM_GAS_EMPTY;
    *last = CAROM_GAS_LINK | fresh;
}

/* The last one of the cell takes the place of the one that goes; an overflow cell left with one
 * slot gives it back to the cell before. */
static inline void carom_gas_cell_remove(carom_gas_cells *cells, uint64_t index, uint32_t slot) {
    carom_gas_cell *cell = &cells->cells[index];
    uint32_t *found = NULL, *from = NULL;
    for (;;) {
        for (int k = 0; k < CAROM_GAS_CELL_SLOTS; ++k)
            if (cell->slot[k] == slot) found = &cell->slot[k];
        uint32_t *last = &cell->slot[CAROM_GAS_CELL_SLOTS - 1];
        if (!carom_gas_is_link(*last)) break;
        from = last;
        cell = carom_gas_linked(cells, *last);
    }
    int last = CAROM_GAS_CELL_SLOTS - 1;
    while (last > 0 && cell->slot[last] == CAROM_GAS_EMPTY) --last;
    *found = cell->slot[last];
    cell->slot[last] = CAROM_GAS_EMPTY;
    if (from == NULL || last != 1) return;
    uint32_t freed = *from & ~CAROM_GAS_LINK;
    *from = cell->slot[0];
    cell->slot[0] = cells->free_overflow;
    cells->free_overflow = freed;
    ++cells->free_count;
}

/* ---- walking cells --------------------------------------------------------------------------- */

/* A growing list of near ones. */
#define CAROM_GAS_MOST_NEAR 256
typedef struct carom_gas_nears {
    uint32_t count;
    uint32_t near[CAROM_GAS_MOST_NEAR + 16];
} carom_gas_nears;

/* All four places are written; only slots count. Occupation is random, so a branch would be guessed
 * wrong every other time. */
static inline uint32_t carom_gas_cell_collect(const carom_gas_cell *cell, uint32_t code,
                                              uint32_t *near, uint32_t count) {
    for (int k = 0; k < CAROM_GAS_CELL_SLOTS; ++k) {
        near[count] = carom_gas_near(cell->slot[k], code);
        count += cell->slot[k] < CAROM_GAS_LINK ? 1u : 0u;
    }
    return count;
}

/* Cells at `offset` (-1, 0, 1) along an axis: false when beyond a reflecting side. `digit` is that
 * of the box. */
static inline bool carom_gas_step_cell(const carom_gas *gas, int axis, uint32_t at, int offset,
                                       uint32_t *to, uint32_t *digit) {
    uint32_t size = gas->cells.size[axis];
    *digit = 1;
    *to = at + (uint32_t)offset;
    if (offset < 0 && at == 0) {
        *to = size - 1;
        *digit = 0;
        return gas->rules.periodic[axis];
    }
    if (offset > 0 && at + 1 == size) {
        *to = 0;
        *digit = 2;
        return gas->rules.periodic[axis];
    }
    return true;
}

/* Cell n of the 27 around, with its code; NULL beyond a reflecting side. */
static inline const carom_gas_cell *
carom_gas_cell_beside(const carom_gas *gas, const carom_gas_home *home, int n, uint32_t *code) {
    int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    uint32_t to[3], digit[3];
    for (int axis = 0; axis < 3; ++axis)
        if (!carom_gas_step_cell(gas, axis, home->at[axis], offset[axis], &to[axis], &digit[axis]))
            return NULL;
    *code = digit[0] + 3 * digit[1] + 9 * digit[2];
    return &gas->cells.cells[carom_gas_cell_index(&gas->cells, to[0], to[1], to[2])];
}

/* The overflow cell behind a cell, or NULL. */
static inline const carom_gas_cell *carom_gas_cell_after(const carom_gas_cells *cells,
                                                         const carom_gas_cell *cell) {
    uint32_t last = cell->slot[CAROM_GAS_CELL_SLOTS - 1];
    return carom_gas_is_link(last) ? carom_gas_linked(cells, last) : NULL;
}

#endif
