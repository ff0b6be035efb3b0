/* SPDX-License-Identifier: MIT */
/* The placement and size of a grid's cells.
 *
 * Both follow from the extent of the items (carom_grid_choose_space), which is measured here. */
#include "base/context.h"
#include "base/power.h"
#include "geom/length.h"
#include "grid/grid.h"

typedef struct grid_space_measuring {
    const carom_grid_source *source;
    carom_grid_extent *extents; /* of each range */
} grid_space_measuring;

static carom_status grid_space_measure(void *argument, carom_range range) {
    grid_space_measuring *m = argument;
    carom_box boxes[CAROM_GRID_BATCH];
    carom_grid_extent all = carom_grid_extent_of_nothing();
    for (uint64_t at = range.begin; at < range.end; at += CAROM_GRID_BATCH) {
        uint32_t count = (uint32_t)CAROM_MIN(range.end - at, CAROM_GRID_BATCH);
        m->source->boxes(m->source->user, NULL, (uint32_t)at, count, boxes);
        for (uint32_t i = 0; i < count; ++i) {
            carom_grid_extent one = carom_grid_extent_of(&boxes[i]);
            if (!carom_grid_is_empty(&boxes[i])) carom_grid_extend(&all, &one);
        }
    }
    m->extents[range.begin / CAROM_GRID_ITEMS_PER_RANGE] = all;
    return CAROM_OK;
}

carom_status carom_grid_measure(carom_context *context, const carom_grid_source *source,
                                double cell_scale, carom_grid_space *space) {
    uint64_t count = source->count,
             ranges = (count + CAROM_GRID_ITEMS_PER_RANGE - 1) / CAROM_GRID_ITEMS_PER_RANGE;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    grid_space_measuring m = {source, CAROM_ARENA_TAKE(scratch, carom_grid_extent, ranges)};
    if (m.extents == NULL)
        return carom_fail_memory(context, ranges * sizeof(carom_grid_extent), "building a grid");
    carom_status status =
        carom_parallel_for(context, count, CAROM_GRID_ITEMS_PER_RANGE, grid_space_measure, &m);
    carom_grid_extent all = carom_grid_extent_of_nothing();
    for (uint64_t i = 0; status == CAROM_OK && i < ranges; ++i)
        carom_grid_extend(&all, &m.extents[i]);
    *space = carom_grid_choose_space(&all, carom_grid_lift_of(cell_scale));
    carom_arena_rewind(scratch, mark);
    return status;
}
