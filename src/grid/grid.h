/* SPDX-License-Identifier: MIT */
/* grid.h: the hierarchical hash grid over items with bounding boxes: faces, spheres or boxes.
 *
 * Items are indexed by rank: their order in a pre-sort by level and Morton code. The order is
 * computed when a grid is first built and kept as long as the number of items stays the same. It
 * does not affect which pairs are found, only their locality in memory. */
#ifndef CAROM_SRC_GRID_GRID_H
#define CAROM_SRC_GRID_GRID_H

#include "base/array.h"
#include "grid/grid_item.h"

/* Entries and boxes are padded, so that SIMD loads may read past the last: floats of the widest
 * vector. */
#define CAROM_GRID_PADDING 16u

/* Boxes computed at a time, 6 KB on the stack; and items of a range of a parallel loop, some tenths
 * of a millisecond. Observed (soups of 6,000 to 13,000 faces): batches of 32 and 1,024 and ranges
 * of 1,024 take as long on one thread. */
#define CAROM_GRID_BATCH           256u
#define CAROM_GRID_ITEMS_PER_RANGE 4096u

typedef struct carom_grid {
    carom_grid_view view;
    uint32_t *items; /* of each rank */
    bool ordered;    /* items holds the order for view.item_count items */
    /* The arrays that the view points to. */
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

/* The items to build over. */
typedef struct carom_grid_source {
    uint32_t count;
    carom_grid_boxes_fn *boxes; /* all finite or empty */
    const void *user;
} carom_grid_source;

/* Checks the values of a def; sets a message if one is invalid. */
carom_status carom_grid_check(carom_context *context, const carom_grid_def *def);

/* CAROM_OK if grids with this hash can be built on the GPU. */
carom_status carom_grid_require_device_hash(carom_context *context, carom_grid_hash hash);

/* Builds the grid with its own cells (space NULL) or with those of another grid. Takes memory from
 * `allocator` only if the capacity is too small. If `allocator` is NULL, it takes scratch of worker
 * 0, which the caller rewinds, and the grid must be new. On failure the grid is empty.
 * CAROM_TOO_LARGE for more than 2^32 entries. O(count) on all threads, except
 * CAROM_GRID_HASH_PERFECT, which runs on one thread. */
carom_status carom_grid_build(carom_context *context, const carom_allocator *allocator,
                              carom_grid *grid, const carom_grid_def *def,
                              const carom_grid_space *space, const carom_grid_source *source);

void carom_grid_free(carom_grid *grid, const carom_allocator *allocator);

uint64_t carom_grid_bytes(const carom_grid *grid);

/* For tests and fuzzers: NULL, or the first invariant of the grid that does not hold. `source` as
 * given to the build. O(entries log entries of a bucket). */
const char *carom_grid_validate(const carom_grid *grid, const carom_grid_source *source);

static inline carom_box carom_grid_box(const carom_grid_view *view, uint32_t rank) {
    const float *b = view->boxes + 8 * (uint64_t)rank;
    return (carom_box){{b[0], b[1], b[2]}, {-b[3], -b[4], -b[5]}};
}

/* Chooses the number of buckets for `count` items; a perfect hash chooses its own later. */
void carom_grid_choose_table(const carom_grid_def *def, uint32_t count, carom_grid_table *table);

/* Chooses the cells for the items. */
carom_status carom_grid_measure(carom_context *context, const carom_grid_source *source,
                                double cell_scale, carom_grid_space *space);

static inline bool carom_grid_is_empty(const carom_box *box) {
    return !(box->low[0] <= box->high[0]);
}

/* Computes a perfect hash for cells with these keys (carom_grid_perfect_key), which are sorted in
 * place and may repeat, and fills the table. *displacements is renewed where *capacity is too small
 * (carom_grid_renew). */
carom_status carom_grid_perfect_table(carom_context *context, const carom_allocator *allocator,
                                      uint64_t *keys, uint64_t count, carom_grid_table *table,
                                      uint32_t **displacements, uint64_t *capacity);

/* The same for all cells in use by a grid. */
carom_status carom_grid_make_perfect(carom_context *context, const carom_allocator *allocator,
                                     carom_grid *grid);

/* Allocates an array from `allocator`, or from the scratch of worker 0 if that is NULL, and
 * releases the old block. Returns NULL if out of memory. */
void *carom_grid_renew(carom_context *context, const carom_allocator *allocator, void *old,
                       uint64_t count, size_t size);

/* ---- Output buffer for overlapping pairs ----------------------------------------------------- */

/* The output buffer of a search, 32 KB as the innermost cache has. `flush` is called when fewer
 * than CAROM_GRID_FLUSH entries are free, and must free space; false stops the search. */
#define CAROM_GRID_FLUSH 256u
#define CAROM_GRID_FOUND 4096u

typedef struct carom_grid_found {
    uint32_t a[CAROM_GRID_FOUND], b[CAROM_GRID_FOUND]; /* ranks; a may be any index of the caller */
    uint32_t count;
    uint64_t visits; /* buckets */
    bool (*flush)(struct carom_grid_found *found);
    void *user;
} carom_grid_found;

#endif
