/* SPDX-License-Identifier: MIT */
/* The placement and size of a grid's cells.
 *
 * Cells of level 0 are as large as the smallest item, rounded up to a power of two, but no smaller
 * than 2^-31 of the largest item or 2^-30 of the extent of all items. Hence 32 levels and 32-bit
 * cells are enough. */
#include "base/context.h"
#include "base/power.h"
#include "geom/length.h"
#include "grid/grid.h"

#define BATCH 256u /* boxes computed at a time */
#define GRAIN 4096u

/* The extent of a range of items. */
typedef struct extent {
    double smallest, largest; /* of the items' longest sides; smallest: of those that are not 0 */
    float low[3], high[3];
} extent;

typedef struct measuring {
    const carom_grid_source *source;
    extent *extents; /* of each range */
} measuring;

static extent extent_of_nothing(void) {
    return (extent){.smallest = HUGE_VAL,
                    .low = {HUGE_VALF, HUGE_VALF, HUGE_VALF},
                    .high = {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}};
}

static void extend(extent *e, const extent *by) {
    e->smallest = CAROM_MIN(by->smallest, e->smallest);
    e->largest = CAROM_MAX(by->largest, e->largest);
    for (int k = 0; k < 3; ++k) {
        e->low[k] = CAROM_MIN(by->low[k], e->low[k]);
        e->high[k] = CAROM_MAX(by->high[k], e->high[k]);
    }
}

static carom_status measure(void *argument, carom_range range) {
    measuring *m = argument;
    carom_box boxes[BATCH];
    extent all = extent_of_nothing();
    for (uint64_t at = range.begin; at < range.end; at += BATCH) {
        uint32_t count = (uint32_t)CAROM_MIN(range.end - at, BATCH);
        m->source->boxes(m->source->user, NULL, (uint32_t)at, count, boxes);
        for (uint32_t i = 0; i < count; ++i) {
            extent one = extent_of_nothing();
            if (carom_grid_is_empty(&boxes[i])) continue;
            memcpy(one.low, boxes[i].low, sizeof(one.low));
            memcpy(one.high, boxes[i].high, sizeof(one.high));
            for (int k = 0; k < 3; ++k) {
                double side = (double)one.high[k] - (double)one.low[k];
                one.largest = CAROM_MAX(side, one.largest);
            }
            if (one.largest > 0.0) one.smallest = one.largest;
            extend(&all, &one);
        }
    }
    m->extents[range.begin / GRAIN] = all;
    return CAROM_OK;
}

static int32_t lift_of(double cell_scale) {
    double scale = cell_scale == 0.0 ? 2.0 : cell_scale;
    return scale < 0.7 ? -1 : scale < 1.4 ? 0 : scale < 2.8 ? 1 : scale < 5.6 ? 2 : 3;
}

static void choose_space(const extent *all, double cell_scale, carom_grid_space *space) {
    double size = 0.0, least = 0.0;
    *space = (carom_grid_space){.inverse = 1.0, .lift = lift_of(cell_scale)};
    for (int k = 0; k < 3 && all->low[0] <= all->high[0]; ++k) {
        double side = (double)all->high[k] - (double)all->low[k];
        size = CAROM_MAX(side, size);
        space->low[k] = (double)all->low[k];
    }
    if (!(size > 0.0)) return; /* no items, or all items in one point */
    least = all->largest > 0.0 ? all->smallest : 0x1p-10 * size; /* only points: any size works */
    if (space->lift < 0) least *= 0.5;
    least = CAROM_MAX(0x1p-31 * all->largest, least);
    least = CAROM_MAX(0x1p-30 * size, least);
    int exponent = carom_exponent(least);
    if (carom_power_of_two(exponent) < least) ++exponent;
    space->inverse = carom_power_of_two(-exponent);
    space->bits = 1u + carom_grid_highest_bit(1u | (uint32_t)(size * space->inverse));
}

carom_status carom_grid_measure(carom_context *context, const carom_grid_source *source,
                                double cell_scale, carom_grid_space *space) {
    uint64_t count = source->count, ranges = (count + GRAIN - 1) / GRAIN;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    measuring m = {source, CAROM_ARENA_TAKE(scratch, extent, ranges)};
    if (m.extents == NULL)
        return carom_fail_memory(context, ranges * sizeof(extent), "building a grid");
    carom_status status = carom_parallel_for(context, count, GRAIN, measure, &m);
    extent all = extent_of_nothing();
    for (uint64_t i = 0; status == CAROM_OK && i < ranges; ++i) extend(&all, &m.extents[i]);
    choose_space(&all, cell_scale, space);
    carom_arena_rewind(scratch, mark);
    return status;
}
