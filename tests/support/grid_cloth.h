/* SPDX-License-Identifier: MIT */
/* grid_cloth.h: the crumpled cloth in the grid, in a form that does not depend on the order of
 * items or of a bucket's entries, for CPU and GPU to compare. */
#ifndef CAROM_TESTS_GRID_CLOTH_H
#define CAROM_TESTS_GRID_CLOTH_H

#include "grid/grid_item.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grid_cloth {
    uint32_t count;
    carom_box *boxes; /* of each triangle */
} grid_cloth;

void grid_cloth_make(carom_context *context, uint64_t detail, grid_cloth *cloth);
void grid_cloth_free(grid_cloth *cloth);

/* What building comes to. */
typedef struct grid_content {
    carom_grid_space space;
    carom_grid_table table;
    uint8_t *levels;  /* of each triangle */
    uint32_t *starts; /* of each bucket, and the end of the last */
    uint64_t *sums;   /* of grid_entry_digest over each bucket's entries */
} grid_content;

/* Builds the grid on the CPU, with as many buckets as are chosen for the number of items. */
void grid_content_build(carom_context *context, const grid_cloth *cloth, carom_grid_hash hash,
                        grid_content *content);
void grid_content_free(grid_content *content);

/* Compares with the lines NAME-levels, NAME-starts-HASH and NAME-buckets-HASH of
 * tests/golden/grid.txt. */
void grid_content_check(const grid_content *content, uint32_t count, const char *name);

/* splitmix64 of (triangle << 32 | tags). */
CAROM_ITEM uint64_t grid_entry_digest(uint32_t triangle, uint32_t tags) {
    uint64_t z = ((uint64_t)triangle << 32 | tags) + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

#ifdef __cplusplus
}
#endif

#endif
