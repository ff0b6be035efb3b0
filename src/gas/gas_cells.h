/* SPDX-License-Identifier: MIT */
/* gas_cells.h: neighbour search by uniform cells; inlined into the loops that predict.
 *
 * A candidate is an entry: a slot and the code of the box it is seen in. The code has three digits
 * of base 3, one per axis: 0, 1, 2 for the box below, this one, the one above.
 *
 * One more layer of cells surrounds the grid. On periodic sides these cells are ghosts: each holds
 * the entries of the cell at the opposite end, with the code of the box it represents. At walls
 * they stay empty. So every cell has 26 neighbours, and their entries are used unchanged.
 * (CAROM_GAS_METHOD_EXTENT needs no ghosts and has none.) */
#ifndef CAROM_SRC_GAS_GAS_CELLS_H
#define CAROM_SRC_GAS_GAS_CELLS_H

#include <string.h>

#include "gas/gas.h"

#define CAROM_GAS_SLOT_BITS 27
#define CAROM_GAS_HERE      13u /* 1 + 3 + 9: this box */

#define CAROM_GAS_MOST_CELLS_AXIS 65535.0             /* coordinates have 16 bits */
#define CAROM_GAS_MOST_CELLS      (UINT64_C(1) << 30) /* of 16 bytes */

/* Limits the memory: 128 bytes of cells per sphere, and 16 KiB. */
#define CAROM_GAS_CELLS_PER_SPHERE 8.0
#define CAROM_GAS_SPARE_CELLS      1024.0

/* In diameters: some skin is faster in dense gases too, measured at 0.3. */
#define CAROM_GAS_LEAST_WISH 1.06

/* The least edge of a cell in which spheres are found up to this distance. */
double carom_gas_least_edge(const carom_gas *gas, double distance);

/* Sets the numbers of cells and what follows from them. `least`: the least edge. */
void carom_gas_cells_size(const carom_gas *gas, carom_gas_cells *cells, const double size[3],
                          double least);

/* Upper bound of the overflow cells used by one step: two spheres, each filed in up to 27 cells
 * where a box is one cell wide. */
#define CAROM_GAS_STEP_OVERFLOW 54

static inline uint32_t carom_gas_candidate(uint32_t slot, uint32_t code) {
    return slot | code << CAROM_GAS_SLOT_BITS;
}

static inline uint32_t carom_gas_candidate_slot(uint32_t entry) {
    return entry & ((UINT32_C(1) << CAROM_GAS_SLOT_BITS) - 1);
}

static inline uint32_t carom_gas_candidate_code(uint32_t entry) {
    return entry >> CAROM_GAS_SLOT_BITS;
}

/* Strides of the cell array along y and z. */
static inline int64_t carom_gas_row(const carom_gas_cells *cells) {
    return (int64_t)cells->size[0] + 2;
}

static inline int64_t carom_gas_layer(const carom_gas_cells *cells) {
    return carom_gas_row(cells) * ((int64_t)cells->size[1] + 2);
}

static inline uint64_t carom_gas_cell_index(const carom_gas_cells *cells, uint64_t x, uint64_t y,
                                            uint64_t z) {
    return ((z + 1) * (cells->size[1] + 2) + y + 1) * (cells->size[0] + 2) + x + 1;
}

/* Index of the cell of a home. */
static inline uint64_t carom_gas_home_index(const carom_gas_cells *cells,
                                            const carom_gas_home *home) {
    return carom_gas_cell_index(cells, home->at[0], home->at[1], home->at[2]);
}

static inline carom_gas_cell *carom_gas_linked(const carom_gas_cells *cells, uint32_t link) {
    return &cells->cells[cells->count + (link - CAROM_GAS_LINK)];
}

static inline bool carom_gas_is_link(uint32_t entry) {
    return entry >= CAROM_GAS_LINK && entry != CAROM_GAS_EMPTY;
}

/* The overflow cell linked from a cell, or NULL. */
static inline carom_gas_cell *carom_gas_cell_after(const carom_gas_cells *cells,
                                                   const carom_gas_cell *cell) {
    uint32_t last = cell->entry[CAROM_GAS_CELL_ENTRIES - 1];
    return carom_gas_is_link(last) ? carom_gas_linked(cells, last) : NULL;
}

/* ---- Filing ---------------------------------------------------------------------------------- */

static inline uint32_t carom_gas_cell_taken(const carom_gas_cell *cell) {
    uint32_t taken = 0;
    for (int k = 0; k < CAROM_GAS_CELL_ENTRIES; ++k) taken += cell->entry[k] < CAROM_GAS_LINK;
    return taken;
}

/* Add an entry to, or remove it from, a chain of overflow cells. */
void carom_gas_chain_add(carom_gas_cells *cells, uint64_t index, uint32_t entry);
void carom_gas_chain_remove(carom_gas_cells *cells, uint64_t index, uint32_t entry);

static inline void carom_gas_cell_add(carom_gas_cells *cells, uint64_t index, uint32_t entry) {
    carom_gas_cell *cell = &cells->cells[index];
    if (cell->entry[CAROM_GAS_CELL_ENTRIES - 1] == CAROM_GAS_EMPTY)
        cell->entry[carom_gas_cell_taken(cell)] = entry;
    else
        carom_gas_chain_add(cells, index, entry);
}

/* The last entry of the cell replaces the removed one. */
static inline void carom_gas_cell_remove(carom_gas_cells *cells, uint64_t index, uint32_t entry) {
    carom_gas_cell *cell = &cells->cells[index];
    if (carom_gas_is_link(cell->entry[CAROM_GAS_CELL_ENTRIES - 1])) {
        carom_gas_chain_remove(cells, index, entry);
        return;
    }
    uint32_t entry_at = 0, last = carom_gas_cell_taken(cell) - 1;
    for (uint32_t k = 1; k < CAROM_GAS_CELL_ENTRIES; ++k) entry_at += k * (cell->entry[k] == entry);
    cell->entry[entry_at] = cell->entry[last];
    cell->entry[last] = CAROM_GAS_EMPTY;
}

/* Nonzero when one of the three coordinates is zero. All three are tested at once, in the 16-bit
 * lanes of a 64-bit word. */
static inline uint64_t carom_gas_zero_lanes(uint64_t lanes) {
    static const carom_gas_home none = {{0, 0, 0}, UINT16_MAX}; /* excludes `extra` */
    uint64_t out;
    memcpy(&out, &none, sizeof(out));
    lanes |= out;
    return (lanes - UINT64_C(0x0001000100010001)) & ~lanes & UINT64_C(0x8000800080008000);
}

/* True when the cell has no ghosts and no wall next to it. */
static inline bool carom_gas_is_inside(const carom_gas_cells *cells, const carom_gas_home *home) {
    uint64_t at, last;
    memcpy(&at, home, sizeof(at));
    memcpy(&last, &cells->last, sizeof(last));
    return (carom_gas_zero_lanes(at) | carom_gas_zero_lanes(at ^ last)) == 0;
}

/* carom_gas_file for a cell with ghosts or next to a wall. */
void carom_gas_file_images(const carom_gas *gas, carom_gas_cells *cells, uint32_t slot,
                           const carom_gas_home *home, bool add);

/* Adds a sphere to the cell of its home and to the ghosts of that cell, or removes it. */
static inline void carom_gas_file(const carom_gas *gas, carom_gas_cells *cells, uint32_t slot,
                                  const carom_gas_home *home, bool add) {
    uint64_t index = carom_gas_home_index(cells, home);
    if (!carom_gas_is_inside(cells, home))
        carom_gas_file_images(gas, cells, slot, home, add);
    else if (add)
        carom_gas_cell_add(cells, index, carom_gas_candidate(slot, CAROM_GAS_HERE));
    else
        carom_gas_cell_remove(cells, index, carom_gas_candidate(slot, CAROM_GAS_HERE));
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* A growing list of candidates. */
#define CAROM_GAS_MOST_CANDIDATES 256 /* scanned at once; a dense gas has some forty */
#define CAROM_GAS_SPARE_ENTRIES   16  /* vectors write up to eight entries behind the last, twice */
typedef struct carom_gas_candidates {
    uint32_t count;
    uint32_t entries[CAROM_GAS_MOST_CANDIDATES + CAROM_GAS_SPARE_ENTRIES];
} carom_gas_candidates;

/* Cell n of the block of 27 around a home. */
static inline const carom_gas_cell *carom_gas_cell_beside(const carom_gas_cells *cells,
                                                          const carom_gas_home *home, int n) {
    return &cells->cells[carom_gas_home_index(cells, home)] + (n % 3 - 1) +
           (n / 3 % 3 - 1) * carom_gas_row(cells) + (n / 9 - 1) * carom_gas_layer(cells);
}

#endif
