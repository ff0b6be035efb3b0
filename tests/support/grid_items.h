/* SPDX-License-Identifier: MIT */
/* grid_items.h: seeded boxes and tables for the grid's decisions, the same for CPU and GPU. */
#ifndef CAROM_TESTS_GRID_ITEMS_H
#define CAROM_TESTS_GRID_ITEMS_H

#include "grid/grid_item.h"

#define GRID_ITEMS  200000
#define GRID_TABLES 4 /* block, djb2, morton, perfect */

static inline carom_grid_space grid_items_space(void) {
    carom_grid_space space = {{-100.0, -100.0, -100.0}, 0x1p10, 0, 18};
    return space;
}

/* `displacements` are { 3, 1, 4, 1 }, in the memory of whoever reads them. */
static inline void grid_items_tables(const uint32_t *displacements, carom_grid_table *tables) {
    carom_grid_table block = {CAROM_GRID_HASH_BLOCK, 1u << 20, 15, 0, 0};
    carom_grid_table djb2 = {CAROM_GRID_HASH_DJB2, 131101, 0, 0, 0};
    carom_grid_table morton = {CAROM_GRID_HASH_MORTON, 1u << 18, 0, 0, 0};
    carom_grid_table perfect = {CAROM_GRID_HASH_PERFECT, 99991, 0, 4, displacements};
    tables[0] = block, tables[1] = djb2, tables[2] = morton, tables[3] = perfect;
}

/* Three draws give the low corner in [-100, 100), three more the sides, about 2^(20 u - 15). */
static inline carom_box grid_items_next(carom_random *random) {
    carom_box box;
    for (int k = 0; k < 3; ++k) box.low[k] = (float)carom_random_between(random, -100.0, 100.0);
    for (int k = 0; k < 3; ++k) {
        /* A power of two times a number in [1, 2), without libm. */
        double u = 20.0 * carom_random_uniform(random);
        int whole = (int)u;
        double side = (1.0 + (u - (double)whole)) * (double)(1u << whole) * 0x1p-15;
        box.high[k] = box.low[k] + (float)side;
    }
    return box;
}

/* What the grid decides of one box. */
typedef struct grid_decision {
    uint32_t level;
    carom_grid_cells on; /* that level */
    uint32_t count;
    uint32_t buckets[8], tags[8];
} grid_decision;

CAROM_ITEM grid_decision grid_decide(const carom_grid_space *space, const carom_grid_table *table,
                                     const carom_box *box) {
    grid_decision d;
    uint32_t buckets[CAROM_GRID_MOST_CELLS], tags[CAROM_GRID_MOST_CELLS];
    carom_grid_cells cells = carom_grid_cells_of(space, box);
    d.level = carom_grid_level(space, &cells);
    d.on = carom_grid_cells_on(&cells, d.level);
    d.count = carom_grid_enter(table, &cells, d.level, buckets, tags);
    for (uint32_t i = 0; i < 8; ++i) {
        d.buckets[i] = i < d.count ? buckets[i] : 0;
        d.tags[i] = i < d.count ? tags[i] : 0;
    }
    return d;
}

#endif
