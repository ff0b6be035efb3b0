/* SPDX-License-Identifier: MIT */
/* Checks of a finished grid, from what grid.h and grid_item.h say of it.
 *
 * Ranks are a permutation of the items; boxes and levels are those of the items; buckets partition
 * the entries; within a bucket ranks ascend, each at most once; each item is entered in the buckets
 * of all its cells with the right tags, and there are no other entries. */
#include "grid/grid.h"

#include "base/memory.h"

static const char *validate_items(const carom_grid *grid) {
    const carom_allocator allocator = carom_allocator_default();
    const char *message = NULL;
    uint32_t count = grid->view.item_count;
    uint8_t *seen = carom_allocate(&allocator, count, 1);
    if (seen == NULL) return "grid: no memory to check the items";
    memset(seen, 0, count);
    for (uint32_t rank = 0; rank < count && message == NULL; ++rank) {
        uint32_t item = grid->items[rank];
        if (item >= count)
            message = "grid: an item is out of range";
        else if (seen[item]++ != 0)
            message = "grid: an item has two ranks";
    }
    carom_release(&allocator, seen);
    return message;
}

static const char *validate_boxes(const carom_grid *grid, const carom_grid_source *source) {
    const carom_grid_view *view = &grid->view;
    uint32_t mask = 0;
    for (uint32_t rank = 0; rank < view->item_count; ++rank) {
        carom_box box, stored = carom_grid_box(view, rank);
        source->boxes(source->user, &grid->items[rank], 0, 1, &box);
        if (carom_grid_is_empty(&box)) {
            if (view->levels[rank] != CAROM_GRID_NOWHERE)
                return "grid: an item with an empty box has a level";
            continue;
        }
        for (int k = 0; k < 3; ++k)
            if (stored.low[k] != box.low[k] || stored.high[k] != box.high[k])
                return "grid: a rank does not have the box of its item";
        carom_grid_cells cells = carom_grid_cells_of(&view->space, &box);
        if (view->levels[rank] != carom_grid_level(&view->space, &cells))
            return "grid: a rank is on the wrong level";
        mask |= 1u << view->levels[rank];
    }
    return mask == view->level_mask ? NULL : "grid: the mask of levels is not that of the items";
}

static const char *validate_buckets(const carom_grid_view *view) {
    uint32_t buckets = view->table.bucket_count, total = view->starts[buckets];
    if (view->starts[0] != 0) return "grid: the first bucket does not begin at 0";
    for (uint32_t b = 0; b < buckets; ++b) {
        if (view->starts[b] > view->starts[b + 1] || view->starts[b + 1] > total)
            return "grid: a bucket ends before it begins";
        for (uint32_t i = view->starts[b]; i < view->starts[b + 1]; ++i) {
            if (view->ranks[i] >= view->item_count) return "grid: the rank of an entry is too high";
            if (i > view->starts[b] && view->ranks[i - 1] >= view->ranks[i])
                return "grid: the ranks of a bucket do not ascend";
        }
    }
    for (uint32_t i = total; i < total + CAROM_GRID_PADDING; ++i)
        if (view->ranks[i] != 0 || view->tags[i] != 0) return "grid: the padding is not zero";
    return NULL;
}

/* The entry of a rank in a bucket, or UINT32_MAX. */
static uint32_t grid_validate_find(const carom_grid_view *view, uint32_t bucket, uint32_t rank) {
    uint32_t low = view->starts[bucket], high = view->starts[bucket + 1], end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && view->ranks[low] == rank ? low : UINT32_MAX;
}

static const char *grid_validate_entries(const carom_grid_view *view) {
    uint64_t total = 0;
    for (uint32_t rank = 0; rank < view->item_count; ++rank) {
        uint32_t buckets[CAROM_GRID_MOST_CELLS], tags[CAROM_GRID_MOST_CELLS];
        if (view->levels[rank] == CAROM_GRID_NOWHERE) continue;
        carom_box box = carom_grid_box(view, rank);
        carom_grid_cells cells = carom_grid_cells_of(&view->space, &box);
        uint32_t count = carom_grid_enter(&view->table, &cells, view->levels[rank], buckets, tags);
        total += count;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t entry = grid_validate_find(view, buckets[i], rank);
            if (entry == UINT32_MAX) return "grid: an item is missing in the bucket of a cell";
            if (view->tags[entry] != tags[i]) return "grid: the tags of an entry are wrong";
        }
    }
    return total == view->starts[view->table.bucket_count]
               ? NULL
               : "grid: there are entries that belong to no cell of their item";
}

const char *carom_grid_validate(const carom_grid *grid, const carom_grid_source *source) {
    const carom_grid_view *view = &grid->view;
    if (view->item_count != source->count) return "grid: the number of items is wrong";
    if (view->item_count > grid->item_capacity ||
        (uint64_t)view->table.bucket_count + 2 > grid->bucket_capacity ||
        view->starts[view->table.bucket_count] + (uint64_t)CAROM_GRID_PADDING >
            grid->entry_capacity)
        return "grid: the arrays are smaller than the grid";
    const char *message = validate_items(grid);
    if (message == NULL) message = validate_boxes(grid, source);
    if (message == NULL) message = validate_buckets(view);
    if (message == NULL) message = grid_validate_entries(view);
    return message;
}
