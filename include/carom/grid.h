/* SPDX-License-Identifier: MIT */
/* grid.h: how the hierarchical hash grid is laid out, wherever a structure is made with one.
 *
 * All choices give the same answers; they differ in speed and memory. */
#ifndef CAROM_GRID_H
#define CAROM_GRID_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which bucket a cell goes to. */
typedef enum carom_grid_hash {
    CAROM_GRID_HASH_BLOCK = 0, /* blocks of 2 x 2 x 2 cells scattered, their cells side by side */
    CAROM_GRID_HASH_DJB2,      /* as printed in the papers: every cell scattered */
    CAROM_GRID_HASH_MORTON, /* along the Morton curve, wrapped around: neighbours stay neighbours */
    CAROM_GRID_HASH_PERFECT, /* a bucket for every cell in use: slow to prepare, for rigid sets */
    CAROM_GRID_HASH_COUNT
} carom_grid_hash;

typedef struct carom_grid_def {
    carom_grid_hash hash;
    uint32_t
        buckets; /* 0: about one an item; at most 2^30; CAROM_GRID_HASH_PERFECT chooses itself */
    double cell_scale; /* edge of cells against the least that holds an item in two per axis,
                          rounded to 1/2, 1, 2, 4 or 8; 0: 2, the fastest on processors */
} carom_grid_def;

#ifdef __cplusplus
}
#endif

#endif
