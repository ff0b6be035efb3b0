/* SPDX-License-Identifier: MIT */
/* Building the grid: measure, sort, compute levels, count entries, prefix sum, fill.
 *
 * Entries are counted before buckets are filled, so no list grows and no bucket overflows. An entry
 * is eight bytes: a rank and its tags. With several threads the entries of a bucket arrive in any
 * order and are sorted afterwards, so the grid's bytes depend on the input alone. */
#include "grid/grid.h"

#include <string.h>

#include "base/names.h"
#include "base/progress.h"
#include "base/scan.h"
#include "base/sort.h"
#include "grid/grid_cpu.h"

/* Buckets of the smallest table with blocks: two blocks of 2 x 2 x 2 cells. */
#define GRID_LEAST_BUCKETS 16u
#define GRID_MOST_BUCKETS  (1u << 30) /* offsets take 4 GB then */

#define GRID_ITEM_BYTES (9 * sizeof(uint32_t) + 1) /* its number, box and level */

/* Entries of a bucket from which on its sort checks the clock: it takes some milliseconds. */
#define GRID_BUCKET_LENGTH 65536u

/* The key by which items are sorted: five bits of the level above a Morton code of nine bits per
 * axis, of the highest bits of the cell. 2^27 positions are enough for neighbours in memory. */
#define GRID_KEY_AXIS_BITS 9u
#define GRID_KEY_BITS      (3u * GRID_KEY_AXIS_BITS)

typedef struct grid_build {
    carom_context *context;
    const carom_allocator *allocator;
    carom_grid *grid;
    const carom_grid_source *source;
    uint32_t *keys;
    _Atomic uint32_t level_mask;
} grid_build;

void *carom_grid_renew(carom_context *context, const carom_allocator *allocator, void *old,
                       uint64_t count, size_t size) {
    if (allocator == NULL) return carom_arena_take(carom_scratch(context, 0), count, size);
    carom_release(allocator, old);
    return carom_allocate(allocator, count, size);
}

/* ---- Sorting items --------------------------------------------------------------------------- */

static carom_status grid_make_keys(void *argument, carom_range range) {
    grid_build *b = argument;
    const carom_grid_space *space = &b->grid->view.space;
    uint32_t shift = space->bits > GRID_KEY_AXIS_BITS ? space->bits - GRID_KEY_AXIS_BITS : 0;
    carom_box boxes[CAROM_GRID_BATCH];
    for (uint64_t at = range.begin; at < range.end; at += CAROM_GRID_BATCH) {
        uint32_t count = (uint32_t)CAROM_MIN(range.end - at, CAROM_GRID_BATCH);
        b->source->boxes(b->source->user, NULL, (uint32_t)at, count, boxes);
        for (uint32_t i = 0; i < count; ++i) {
            carom_grid_cells cells = carom_grid_cells_of(space, &boxes[i]);
            uint32_t level = carom_grid_is_empty(&boxes[i]) ? CAROM_GRID_LEVELS - 1
                                                            : carom_grid_level(space, &cells);
            uint32_t code = 0;
            for (int k = 0; k < 3; ++k)
                code |= carom_grid_spread(
                            CAROM_MIN(cells.low[k] >> shift, (1u << GRID_KEY_AXIS_BITS) - 1u))
                        << k;
            CAROM_ASSERT(level < CAROM_GRID_LEVELS && code >> GRID_KEY_BITS == 0);
            b->keys[at + i] = level << GRID_KEY_BITS | code;
            b->grid->items[at + i] = (uint32_t)(at + i);
        }
    }
    return CAROM_OK;
}

/* Sorts items by level, then along the Morton curve. Done once; later builds keep the order. */
static carom_status order(grid_build *b) {
    uint64_t count = b->source->count;
    if (b->grid->ordered && b->grid->view.item_count == count) return CAROM_OK;
    carom_arena *scratch = carom_scratch(b->context, 0);
    b->keys = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (b->keys == NULL)
        return carom_fail_memory(b->context, count * sizeof(*b->keys), "building a grid");
    CAROM_TRY(carom_parallel_for(b->context, count, CAROM_GRID_ITEMS_PER_RANGE, grid_make_keys, b));
    CAROM_TRY(carom_sort_keys(b->context, b->keys, b->grid->items, count));
    b->grid->ordered = true;
    return CAROM_OK;
}

/* ---- Boxes and levels by rank ---------------------------------------------------------------- */

static carom_status grid_enter_range(void *argument, carom_range range) {
    grid_build *b = argument;
    carom_grid *grid = b->grid;
    carom_box boxes[CAROM_GRID_BATCH];
    uint32_t mask = 0;
    for (uint64_t at = range.begin; at < range.end; at += CAROM_GRID_BATCH) {
        CAROM_ASSERT(range.end <= b->source->count);
        uint32_t count = (uint32_t)CAROM_MIN(range.end - at, CAROM_GRID_BATCH);
        b->source->boxes(b->source->user, grid->items + at, 0, count, boxes);
        for (uint32_t i = 0; i < count; ++i) {
            const carom_box *box = &boxes[i];
            float *to = grid->boxes + 8 * (at + i);
            for (int k = 0; k < 3; ++k) {
                to[k] = box->low[k];
                to[3 + k] = -box->high[k];
            }
            to[6] = to[7] = 0.0f;
            grid->levels[at + i] = CAROM_GRID_NOWHERE;
            if (carom_grid_is_empty(box)) continue;
            carom_grid_cells cells = carom_grid_cells_of(&grid->view.space, box);
            uint32_t level = carom_grid_level(&grid->view.space, &cells);
            CAROM_ASSERT(level < CAROM_GRID_LEVELS);
            grid->levels[at + i] = (uint8_t)level;
            mask |= 1u << level;
        }
    }
    atomic_fetch_or(&b->level_mask, mask);
    return CAROM_OK;
}

/* ---- Counting and filling buckets ------------------------------------------------------------ */

static carom_status grid_count_entries(void *argument, carom_range range) {
    grid_build *b = argument;
    CAROM_CPU_CALL(b->context, carom_grid_count)
    (&b->grid->view, (uint32_t)range.begin, (uint32_t)range.end, b->context->threads > 1,
     b->grid->offsets);
    return CAROM_OK;
}

/* Ranges are processed in descending order, so that a single thread fills buckets in order. */
static carom_status grid_fill_entries(void *argument, carom_range range) {
    grid_build *b = argument;
    uint64_t count = b->grid->view.item_count;
    CAROM_CPU_CALL(b->context, carom_grid_fill)
    (&b->grid->view, (uint32_t)(count - range.end), (uint32_t)(count - range.begin),
     b->context->threads > 1, b->grid->offsets + 1, b->grid->ranks, b->grid->tags);
    return CAROM_OK;
}

/* Shell sort. Buckets are short, except in tables that are far too small. For long buckets the
 * clock is checked, and they are left unsorted when cancelled. */
static void grid_sort_entries(carom_context *context, uint32_t worker, uint32_t *ranks,
                              uint32_t *tags, uint32_t count) {
    uint32_t gap = 1;
    while (gap < count / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        if (count > GRID_BUCKET_LENGTH && carom_progress_stop(context, worker)) return;
        for (uint32_t i = gap; i < count; ++i) {
            uint32_t rank = ranks[i], tag = tags[i], at = i;
            for (; at >= gap && ranks[at - gap] > rank; at -= gap) {
                ranks[at] = ranks[at - gap];
                tags[at] = tags[at - gap];
            }
            CAROM_ASSERT(at < gap || ranks[at - gap] <= rank);
            ranks[at] = rank;
            tags[at] = tag;
        }
    }
}

static carom_status grid_sort_buckets(void *argument, carom_range range) {
    grid_build *b = argument;
    const uint32_t *starts = b->grid->view.starts;
    for (uint64_t bucket = range.begin; bucket < range.end; ++bucket)
        grid_sort_entries(b->context, range.worker, b->grid->ranks + starts[bucket],
                          b->grid->tags + starts[bucket], starts[bucket + 1] - starts[bucket]);
    return CAROM_OK;
}

static carom_status grid_make_room_for_entries(grid_build *b, uint64_t count) {
    carom_grid *grid = b->grid;
    if (count + CAROM_GRID_PADDING > grid->entry_capacity) {
        /* An eighth more: items that move change the number of their cells. */
        uint64_t capacity = count + count / 8 + CAROM_GRID_PADDING;
        grid->ranks =
            carom_grid_renew(b->context, b->allocator, grid->ranks, capacity, sizeof(*grid->ranks));
        grid->tags =
            carom_grid_renew(b->context, b->allocator, grid->tags, capacity, sizeof(*grid->tags));
        grid->entry_capacity = grid->ranks != NULL && grid->tags != NULL ? capacity : 0;
        if (grid->entry_capacity == 0)
            return carom_fail_memory(b->context, capacity * 2 * sizeof(*grid->ranks), "a grid");
    }
    CAROM_ASSERT(count + CAROM_GRID_PADDING <= grid->entry_capacity);
    memset(grid->ranks + count, 0, CAROM_GRID_PADDING * sizeof(*grid->ranks));
    memset(grid->tags + count, 0, CAROM_GRID_PADDING * sizeof(*grid->tags));
    grid->view.ranks = grid->ranks;
    grid->view.tags = grid->tags;
    return CAROM_OK;
}

/* Filling has moved each end down to its bucket's start: the prefix sums match what was entered. */
static void grid_check_starts(const carom_grid_view *view, uint32_t total) {
    uint32_t buckets = view->table.bucket_count;
    CAROM_ASSERT(view->starts[0] == 0 && view->starts[buckets] == total);
    for (uint32_t i = 0; i < buckets; ++i) CAROM_ASSERT(view->starts[i] <= view->starts[i + 1]);
}

static carom_status enter_all(grid_build *b) {
    carom_grid *grid = b->grid;
    uint64_t buckets = grid->view.table.bucket_count, count = grid->view.item_count;
    memset(grid->offsets, 0, buckets * sizeof(*grid->offsets));
    CAROM_TRY(
        carom_parallel_for(b->context, count, CAROM_GRID_ITEMS_PER_RANGE, grid_count_entries, b));
    CAROM_TRY(carom_scan_u32(b->context, grid->offsets, buckets, grid->offsets));
    uint32_t total = grid->offsets[buckets];
    CAROM_ASSERT(grid->offsets[0] == 0);
    grid->offsets[buckets + 1] = total;
    CAROM_TRY(grid_make_room_for_entries(b, total));
    CAROM_TRY(
        carom_parallel_for(b->context, count, CAROM_GRID_ITEMS_PER_RANGE, grid_fill_entries, b));
    grid_check_starts(&grid->view, total);
    if (b->context->threads > 1)
        CAROM_TRY(carom_parallel_for(b->context, buckets, CAROM_GRID_ITEMS_PER_RANGE,
                                     grid_sort_buckets, b));
    return CAROM_OK;
}

/* ---- Allocation and build -------------------------------------------------------------------- */

carom_status carom_grid_check(carom_context *context, const carom_grid_def *def) {
    CAROM_REQUIRE_KNOWN(def->hash, CAROM_GRID_HASH_COUNT, "hash of the grid");
    if (def->cell_scale != 0.0 && !(def->cell_scale >= 0.5 && def->cell_scale <= 8.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a grid's cell_scale of %g cannot be; it is 0 or from 0.5 to 8",
                          def->cell_scale);
    if (def->buckets > GRID_MOST_BUCKETS)
        return carom_fail(context, CAROM_BAD_INPUT, "a grid of %u buckets; at most %u can be",
                          def->buckets, GRID_MOST_BUCKETS);
    return CAROM_OK;
}

carom_status carom_grid_require_device_hash(carom_context *context, carom_grid_hash hash) {
    if (hash != CAROM_GRID_HASH_PERFECT) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "a perfect hash cannot be computed on cuda; use another, or a context of "
                      "backend cpu");
}

/* 2^k minus below_power[k - 4] is prime: DJB2 needs a table size that is not a power of two. */
static const uint8_t below_power[27] = {3, 1, 3, 1, 5, 3,  3, 9,  3, 1,  3,  19, 15, 1,
                                        5, 1, 3, 9, 3, 15, 3, 39, 5, 39, 57, 3,  35};

void carom_grid_choose_table(const carom_grid_def *def, uint32_t count, carom_grid_table *table) {
    uint32_t power = 4;
    while ((1u << power) < CAROM_MIN(count, GRID_MOST_BUCKETS)) ++power;
    CAROM_ASSERT(power >= 4 && power <= 30);
    *table = (carom_grid_table){.hash = (uint32_t)def->hash, .bucket_count = 1u << power};
    if (def->hash == CAROM_GRID_HASH_DJB2) table->bucket_count -= below_power[power - 4];
    if (def->buckets != 0) table->bucket_count = def->buckets;
    if (def->hash == CAROM_GRID_HASH_BLOCK && table->bucket_count >= GRID_LEAST_BUCKETS) {
        for (power = 4; (1u << power) < table->bucket_count;) ++power;
        table->bucket_count = 1u << power;
        table->block_shift = 35u - power;
        CAROM_ASSERT(table->block_shift >= 5 && table->block_shift <= 31);
    }
}

static carom_status make_room_for_buckets(grid_build *b) {
    carom_grid *grid = b->grid;
    uint64_t capacity = (uint64_t)grid->view.table.bucket_count + 2;
    if (capacity > grid->bucket_capacity) {
        grid->offsets = carom_grid_renew(b->context, b->allocator, grid->offsets, capacity,
                                         sizeof(*grid->offsets));
        grid->bucket_capacity = grid->offsets != NULL ? capacity : 0;
        if (grid->offsets == NULL)
            return carom_fail_memory(b->context, capacity * sizeof(*grid->offsets), "a grid");
    }
    grid->view.starts = grid->offsets + 1;
    CAROM_ASSERT(grid->view.table.bucket_count != 0 && capacity <= grid->bucket_capacity);
    return CAROM_OK;
}

static carom_status make_room_for_items(grid_build *b) {
    carom_grid *grid = b->grid;
    uint64_t capacity = b->source->count;
    if (capacity > grid->item_capacity) {
        grid->items =
            carom_grid_renew(b->context, b->allocator, grid->items, capacity, sizeof(*grid->items));
        grid->boxes = carom_grid_renew(b->context, b->allocator, grid->boxes, capacity,
                                       8 * sizeof(*grid->boxes));
        grid->levels = carom_grid_renew(b->context, b->allocator, grid->levels, capacity,
                                        sizeof(*grid->levels));
        grid->ordered = false;
        bool made = grid->items != NULL && grid->boxes != NULL && grid->levels != NULL;
        grid->item_capacity = made ? capacity : 0;
        if (!made) return carom_fail_memory(b->context, capacity * GRID_ITEM_BYTES, "a grid");
    }
    grid->view.boxes = grid->boxes;
    CAROM_ASSERT(b->source->count <= grid->item_capacity);
    grid->view.levels = grid->levels;
    return CAROM_OK;
}

static carom_status grid_build_cells(grid_build *b, const carom_grid_def *def,
                                     const carom_grid_space *space) {
    carom_grid *grid = b->grid;
    uint32_t count = b->source->count;
    CAROM_TRY(make_room_for_items(b));
    if (space != NULL)
        grid->view.space = *space;
    else
        CAROM_TRY(carom_grid_measure(b->context, b->source, def->cell_scale, &grid->view.space));
    CAROM_TRY(order(b));
    grid->view.item_count = count;
    CAROM_TRY(
        carom_parallel_for(b->context, count, CAROM_GRID_ITEMS_PER_RANGE, grid_enter_range, b));
    grid->view.level_mask = atomic_load(&b->level_mask);
    carom_grid_choose_table(def, count, &grid->view.table);
    if (def->hash == CAROM_GRID_HASH_PERFECT)
        CAROM_TRY(carom_grid_make_perfect(b->context, b->allocator, grid));
    CAROM_ASSERT(grid->ordered);
    CAROM_TRY(make_room_for_buckets(b));
    return enter_all(b);
}

carom_status carom_grid_build(carom_context *context, const carom_allocator *allocator,
                              carom_grid *grid, const carom_grid_def *def,
                              const carom_grid_space *space, const carom_grid_source *source) {
    grid_build b = {.context = context, .allocator = allocator, .grid = grid, .source = source};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = grid_build_cells(&b, def, space);
    if (allocator != NULL) carom_arena_rewind(scratch, mark);
    if (status != CAROM_OK) {
        grid->view.item_count = grid->view.level_mask = 0;
        grid->ordered = false;
    }
    return status;
}

void carom_grid_free(carom_grid *grid, const carom_allocator *allocator) {
    CAROM_RELEASE_ALL(allocator, grid->items, grid->boxes, grid->levels, grid->offsets, grid->ranks,
                      grid->tags, grid->displacements);
    *grid = (carom_grid){0};
}

uint64_t carom_grid_bytes(const carom_grid *grid) {
    return grid->item_capacity * GRID_ITEM_BYTES + grid->bucket_capacity * sizeof(uint32_t) +
           grid->entry_capacity * 2 * sizeof(uint32_t) + grid->group_capacity * sizeof(uint32_t);
}

CAROM_ENUM_NAMES(carom_grid_hash, CAROM_GRID_HASH_COUNT, "block", "djb2", "morton", "perfect");
