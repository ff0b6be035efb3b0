/* SPDX-License-Identifier: MIT */
/* grid.h: the hierarchical hash grid over faces, spheres or boxes: anything with a box.
 *
 * Items are numbered by rank: their order in a pre-sort by level and Morton code, made when a grid
 * is first built and kept as long as the number of items stays the same. Which pairs are found does
 * not depend on it, only how far apart in memory they lie. */
#ifndef CAROM_SRC_GRID_GRID_H
#define CAROM_SRC_GRID_GRID_H

#include "base/array.h"
#include "grid/grid_item.h"

/* Entries and boxes are padded, so that vectors may read past the last. */
#define CAROM_GRID_PADDING 16u

typedef struct carom_grid {
    carom_grid_view view;
    uint32_t *items; /* of each rank */
    bool ordered;    /* items holds the order for view.item_count items */
    /* What the view points to. */
    float *boxes;
    uint8_t *levels;
    uint32_t *offsets; /* 0, then the starts */
    uint32_t *ranks, *tags;
    uint32_t *displacements;
    uint64_t item_capacity, bucket_capacity, entry_capacity, group_capacity;
} carom_grid;

/* Computes the boxes of `count` items: items[i], or first + i where items is NULL. Called from any
 * worker. An item with an empty box is never found. */
typedef void carom_grid_boxes_fn(const void *user, const uint32_t *items, uint32_t first,
                                 uint32_t count, carom_box *boxes);

/* What to build over. */
typedef struct carom_grid_source {
    uint32_t count;
    carom_grid_boxes_fn *boxes; /* all finite or empty */
    const void *user;
} carom_grid_source;

/* Whether the numbers of a def can be used; else a message. */
carom_status carom_grid_check(carom_context *context, const carom_grid_def *def);

/* Builds the grid in cells of its own (space NULL) or in those of another. Takes memory from
 * `allocator` only when it lacks room; NULL: from the scratch of worker 0, for the caller to
 * rewind, and the grid must be new. On failure the grid is empty. CAROM_TOO_LARGE for more than
 * 2^32 entries. O(count) on all threads, but for CAROM_GRID_HASH_PERFECT, which works alone. */
carom_status carom_grid_build(carom_context *context, const carom_allocator *allocator,
                              carom_grid *grid, const carom_grid_def *def,
                              const carom_grid_space *space, const carom_grid_source *source);

void carom_grid_free(carom_grid *grid, const carom_allocator *allocator);

uint64_t carom_grid_bytes(const carom_grid *grid);

static inline carom_box carom_grid_box(const carom_grid_view *view, uint32_t rank) {
    const float *b = view->boxes + 8 * (uint64_t)rank;
    return (carom_box){{b[0], b[1], b[2]}, {-b[3], -b[4], -b[5]}};
}

/* Chooses the cells for items. */
carom_status carom_grid_measure(carom_context *context, const carom_grid_source *source,
                                double cell_scale, carom_grid_space *space);

static inline bool carom_grid_is_empty(const carom_box *box) {
    return !(box->low[0] <= box->high[0]);
}

/* Makes a perfect hash for all cells that items are entered in: fills the table. */
carom_status carom_grid_make_perfect(carom_context *context, const carom_allocator *allocator,
                                     carom_grid *grid);

/* Room for a structure that lives in `allocator`, or in the scratch of worker 0 when that is NULL;
 * the old block is released. NULL when there is no memory. */
void *carom_grid_renew(carom_context *context, const carom_allocator *allocator, void *old,
                       uint64_t count, size_t size);

/* ---- pairs whose boxes overlap --------------------------------------------------------------- */

/* Where a search puts what it finds. `flush` is called when fewer than CAROM_GRID_FLUSH places are
 * left, and must make room; false stops the search. */
#define CAROM_GRID_FLUSH 256u
#define CAROM_GRID_FOUND 4096u

typedef struct carom_grid_found {
    uint32_t a[CAROM_GRID_FOUND], b[CAROM_GRID_FOUND]; /* ranks, or what the caller names a */
    uint32_t count;
    uint64_t visits; /* buckets */
    bool (*flush)(struct carom_grid_found *found);
    void *user;
} carom_grid_found;

#endif
