/* SPDX-License-Identifier: MIT */
/* grid.h: layout of the hierarchical hash grid, for every structure that uses one.
 *
 * All choices give the same results; they differ in speed and memory. */
#ifndef CAROM_GRID_H
#define CAROM_GRID_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which bucket a cell is mapped to. */
typedef enum carom_grid_hash {
    CAROM_GRID_HASH_BLOCK = 0, /* blocks of 2 x 2 x 2 cells scattered, the cells of a block
                                  adjacent */
    CAROM_GRID_HASH_DJB2,      /* as printed in the papers: every cell scattered */
    CAROM_GRID_HASH_MORTON, /* along the Morton curve, wrapped around: neighbours stay neighbours */
    CAROM_GRID_HASH_PERFECT, /* one bucket per cell in use: slow to prepare, for rigid sets */
    CAROM_GRID_HASH_COUNT
} carom_grid_hash;

/* "block", "djb2", "morton", "perfect". */
CAROM_API const char *carom_grid_hash_name(carom_grid_hash hash);
CAROM_API bool carom_grid_hash_from_name(const char *name, carom_grid_hash *hash);

/* The layout of a grid; all zero is the default. */
typedef struct carom_grid_def {
    carom_grid_hash hash;
    uint32_t buckets;  /* 0: about one per item; at most 2^30; CAROM_GRID_HASH_PERFECT chooses */
    double cell_scale; /* edge of cells relative to the least with which an item meets at most two
                          cells per axis, rounded to 1/2, 1, 2, 4 or 8; 0: 2, the fastest on
                          processors */
} carom_grid_def;

#ifdef __cplusplus
}
#endif

#endif
