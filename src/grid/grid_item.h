/* SPDX-License-Identifier: MIT */
/* grid_item.h: cells, levels, hashes and the duplicate test of the hierarchical hash grid, as
 * functions for CPU and GPU.
 *
 *   level 2   |               .               |       cells of edge c0 2^l, c0 a power of two
 *   level 1   |       .       |       .       |
 *   level 0   |   |   |   |   |   |   |   |   |       an item is on the lowest level where its
 *                 [=item=]                            box spans at most two cells per axis
 *
 * Cells. A coordinate becomes an integer, its cell on level 0, by one rounded formula; on level l
 * the cell is that integer shifted right by l. The only property needed of the formula is that it
 * is monotone, which rounding preserves. Hence boxes that overlap have cells in common on every
 * level.
 *
 * Each pair once. An item is entered in the bucket of each of its cells, at most 8; its query
 * searches its own level and those above. Two items can have several cells in common, and cells can
 * share a bucket. The pair is reported if and only if the bucket scanned is that of its
 * lower-corner cell, the componentwise maximum of the two lower cells (carom_grid_is_once). Entries
 * carry a word of tags that nearly always decides this by one masked comparison:
 *
 *   bits 0-2    the entered cell is the item's lower one along x, y, z
 *   bits 3-11   the three lowest bits of the cell along x, y, z
 *   bits 12-16  the level
 *   bit  17     several of the item's cells share this bucket: the tags cannot decide;
 *               carom_grid_is_once does
 *   bits 18-29  the quarters of the entered cell that the item covers, along x, y, z
 *
 * Let C be the cell a query scans, C' the cell of an entry of the bucket, and the boxes overlap.
 * Then along each axis the two ranges of at most 4 cells meet, so C and C' differ by at most 6, and
 * equal low bits mean C = C'. C is the lower-corner cell if along each axis it is the lower cell of
 * the query or of the entry. Conversely, if the lower-corner cell L shares the bucket of C and C'
 * but is not equal to both, then one of the two items has two cells in the bucket. Bit 17 of the
 * query's or the entry's tags marks this case.
 *
 * Boxes that overlap cover a quarter in common along each axis, and the lowest such quarter lies in
 * the lower-corner cell: entries without a common quarter there are skipped.
 *
 * Sources: Eitz and Lixu 2007; Weller, Frese, Zachmann 2013, 4; Weller, Debowski, Zachmann 2017, 4
 * and 5. The papers print cells no larger than the item; eight cells need the opposite. */
#ifndef CAROM_SRC_GRID_GRID_ITEM_H
#define CAROM_SRC_GRID_GRID_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/item.h"
#include "base/power.h"
#include "carom/grid.h"
#include "geom/box.h"
#include "geom/length.h"

/* Levels. The largest item has at most 2^31 cells of level 0 along an axis
 * (carom_grid_choose_space), so that it is on level 31 at most. */
#define CAROM_GRID_LEVELS 32u

/* The last cell of level 0 along an axis: the extent has at most 2^30, and others are clamped. Two
 * bits of 32 are left for the quarters of cells. */
#define CAROM_GRID_LAST 0x40000000u

/* Cells of an item: 2 per axis, and 4 where cells are shrunk (cell_scale 1/2). */
#define CAROM_GRID_MOST_CELLS 64u

#define CAROM_GRID_NOWHERE 255u /* the level of an item with an empty box: no level */

/* First bits and masks of the tags, as listed above. */
#define CAROM_GRID_TAG_CELL           3u
#define CAROM_GRID_TAG_LEVEL          12u
#define CAROM_GRID_TAG_MULTI          0x20000u
#define CAROM_GRID_TAG_CELL_AND_LEVEL 0x1FFF8u /* cell and level */

/* Quarters: four bits per axis. A pair must have a bit in common on all three axes. */
#define CAROM_GRID_TAG_QUARTERS 18u
#define CAROM_GRID_QUARTERS_LOW (0x777u << CAROM_GRID_TAG_QUARTERS)
#define CAROM_GRID_QUARTERS_TOP (0x888u << CAROM_GRID_TAG_QUARTERS)

/* The placement of cells. */
typedef struct carom_grid_space {
    double low[3];  /* where cell 0 begins */
    double inverse; /* 1 / c0 */
    int32_t lift;   /* levels above the lowest possible: -1 (shrunk cells) to 3 */
    uint32_t bits;  /* that coordinates of level 0 need */
} carom_grid_space;

/* A box in cells of level 0, first and last included. */
typedef struct carom_grid_cells {
    uint32_t low[3], high[3];
} carom_grid_cells;

/* The mapping of cells to buckets. */
typedef struct carom_grid_table {
    uint32_t hash; /* carom_grid_hash */
    uint32_t bucket_count;
    uint32_t block_shift; /* CAROM_GRID_HASH_BLOCK: bucket_count is 8 2^(32 - this); 0: no blocks */
    uint32_t group_count; /* CAROM_GRID_HASH_PERFECT */
    const uint32_t *displacements; /* of each group */
} carom_grid_table;

/* A grid as plain pointers, for loops and kernels. Items are indexed by rank, the order of the
 * pre-sort. */
typedef struct carom_grid_view {
    carom_grid_space space;
    carom_grid_table table;
    uint32_t item_count;
    uint32_t level_mask;    /* bit l: there are items on level l */
    const float *boxes;     /* eight per rank: low x, y, z, then -high x, y, z, two unused */
    const uint8_t *levels;  /* of each rank */
    const uint32_t *starts; /* of each bucket in the entries, and the end of the last */
    const uint32_t *ranks;  /* of each entry; ascending within a bucket */
    const uint32_t *tags;
} carom_grid_view;

/* ---- Choice of cells ------------------------------------------------------------------------- */

/* The extent of some items. */
typedef struct carom_grid_extent {
    double smallest, largest; /* of the items' longest sides; smallest: of those that are not 0 */
    float low[3], high[3];
} carom_grid_extent;

CAROM_ITEM carom_grid_extent carom_grid_extent_of_nothing(void) {
    carom_grid_extent e;
    e.smallest = HUGE_VAL;
    e.largest = 0.0;
    for (int k = 0; k < 3; ++k) {
        e.low[k] = HUGE_VALF;
        e.high[k] = -HUGE_VALF;
    }
    return e;
}

/* Of one item whose box is not empty. */
CAROM_ITEM carom_grid_extent carom_grid_extent_of(const carom_box *box) {
    carom_grid_extent e = carom_grid_extent_of_nothing();
    for (int k = 0; k < 3; ++k) {
        double side = (double)box->high[k] - (double)box->low[k];
        e.largest = CAROM_MAX(side, e.largest);
        e.low[k] = box->low[k];
        e.high[k] = box->high[k];
    }
    if (e.largest > 0.0) e.smallest = e.largest;
    return e;
}

CAROM_ITEM void carom_grid_extend(carom_grid_extent *e, const carom_grid_extent *by) {
    e->smallest = CAROM_MIN(by->smallest, e->smallest);
    e->largest = CAROM_MAX(by->largest, e->largest);
    for (int k = 0; k < 3; ++k) {
        e->low[k] = CAROM_MIN(by->low[k], e->low[k]);
        e->high[k] = CAROM_MAX(by->high[k], e->high[k]);
    }
}

/* The scale of cells by default, the fastest on processors: an item has 1.25 to 1.5 cells per axis
 * on average, at most 3.4 in all, where scale 1 has up to 8. */
#define CAROM_GRID_DEFAULT_SCALE 2.0

/* The levels by which carom_grid_def.cell_scale lifts items: the nearest power of two, by ratio, so
 * that limits are 2^(k + 1/2), to two digits: each twice the one before. */
#define CAROM_GRID_LEAST_LIFT       (-1)
#define CAROM_GRID_MOST_LIFT        3
#define CAROM_GRID_LEAST_LIFT_LIMIT 0.7

CAROM_ITEM int32_t carom_grid_lift_of(double cell_scale) {
    double scale = cell_scale == 0.0 ? CAROM_GRID_DEFAULT_SCALE : cell_scale;
    int32_t lift = CAROM_GRID_LEAST_LIFT;
    for (double limit = CAROM_GRID_LEAST_LIFT_LIMIT;
         lift < CAROM_GRID_MOST_LIFT && !(scale < limit); limit *= 2.0)
        ++lift;
    return lift;
}

CAROM_ITEM uint32_t carom_grid_highest_bit(uint32_t x) {
#ifdef __CUDA_ARCH__
    return 31u - (uint32_t)__clz((int)x);
#else
    return 31u - (uint32_t)__builtin_clz(x);
#endif
}

/* The smallest cells of level 0: of the largest item, of the extent of all items; and of the extent
 * where there are only points, for which any size works: this one has 2^10 cells per axis. */
#define CAROM_GRID_ITEM_PART   0x1p-31
#define CAROM_GRID_EXTENT_PART 0x1p-30
#define CAROM_GRID_POINT_PART  0x1p-10

/* Cells of level 0 are as large as the smallest item, rounded up to a power of two, but no smaller
 * than 2^-31 of the largest item or 2^-30 of the extent of all items. Hence 32 levels and 32-bit
 * cells are enough. */
CAROM_ITEM carom_grid_space carom_grid_choose_space(const carom_grid_extent *all, int32_t lift) {
    double size = 0.0, least = 0.0;
    carom_grid_space space;
    space.inverse = 1.0;
    space.lift = lift;
    space.bits = 0;
    for (int k = 0; k < 3; ++k) {
        bool any = all->low[0] <= all->high[0];
        double side = any ? (double)all->high[k] - (double)all->low[k] : 0.0;
        size = CAROM_MAX(side, size);
        space.low[k] = any ? (double)all->low[k] : 0.0;
    }
    if (!(size > 0.0)) return space; /* no items, or all items in one point */
    least = all->largest > 0.0 ? all->smallest : CAROM_GRID_POINT_PART * size;
    if (lift < 0) least *= 0.5;
    least = CAROM_MAX(CAROM_GRID_ITEM_PART * all->largest, least);
    least = CAROM_MAX(CAROM_GRID_EXTENT_PART * size, least);
    int exponent = carom_exponent(least);
    if (carom_power_of_two(exponent) < least) ++exponent;
    space.inverse = carom_power_of_two(-exponent);
    space.bits = 1u + carom_grid_highest_bit(1u | (uint32_t)(size * space.inverse));
    CAROM_ASSERT(size * space.inverse <= (double)CAROM_GRID_LAST && space.bits <= 31u);
    return space;
}

/* ---- Cells and levels ------------------------------------------------------------------------ */

CAROM_ITEM uint32_t carom_grid_cell(const carom_grid_space *space, int axis, float x) {
    double cell = ((double)x - space->low[axis]) * space->inverse;
    cell = cell > 0.0 ? cell : 0.0;
    cell = cell < (double)CAROM_GRID_LAST ? cell : (double)CAROM_GRID_LAST;
    CAROM_ASSERT(cell >= 0.0 && cell <= (double)CAROM_GRID_LAST);
    return (uint32_t)cell;
}

/* The cells of a box that is not empty. Coordinates outside are clamped to the outermost cells. */
CAROM_ITEM carom_grid_cells carom_grid_cells_of(const carom_grid_space *space,
                                                const carom_box *box) {
    carom_grid_cells cells;
    for (int k = 0; k < 3; ++k) {
        cells.low[k] = carom_grid_cell(space, k, box->low[k]);
        cells.high[k] = carom_grid_cell(space, k, box->high[k]);
    }
    return cells;
}

/* The cells of `level` that contain these cells of level 0. */
CAROM_ITEM carom_grid_cells carom_grid_cells_on(const carom_grid_cells *cells, uint32_t level) {
    carom_grid_cells above;
    for (int k = 0; k < 3; ++k) {
        CAROM_ASSERT(cells->low[k] <= cells->high[k] && level < CAROM_GRID_LEVELS);
        above.low[k] = cells->low[k] >> level;
        above.high[k] = cells->high[k] >> level;
    }
    return above;
}

/* The lowest level where the box spans at most two cells per axis, lifted. With s the largest span
 * on level 0 and f the index of its highest bit, spans on level f are one or two, and on level f +
 * 1 at most one. */
CAROM_ITEM uint32_t carom_grid_level(const carom_grid_space *space, const carom_grid_cells *cells) {
    uint32_t span = 0;
    for (int k = 0; k < 3; ++k) {
        uint32_t s = cells->high[k] - cells->low[k];
        span = CAROM_MAX(s, span);
    }
    uint32_t level = carom_grid_highest_bit(span | 1u), wide = 0;
    for (int k = 0; k < 3; ++k)
        wide |= (cells->high[k] >> level) - (cells->low[k] >> level) > 1u ? 1u : 0u;
    CAROM_ASSERT(level <= 30 && space->lift >= -1 && space->lift <= 3);
    int32_t lifted = (int32_t)(level + wide) + space->lift;
    lifted = CAROM_MAX(lifted, 0);
    return (uint32_t)CAROM_MIN(lifted, (int32_t)CAROM_GRID_LEVELS - 1);
}

/* The lowest level whose cells are at least as wide as `edge`, lifted. Unlike carom_grid_level it
 * depends on the size alone, so that grids in two frames agree. A box spans at most two cells per
 * axis there, unlifted, if its sides are at most `edge` less the rounding of carom_grid_cell: 2^-23
 * of the cells of level 0 at each end. `edge` is finite and at most 2^31 cells of level 0. */
CAROM_ITEM uint32_t carom_grid_level_of_size(const carom_grid_space *space, double edge) {
    double cells = edge * space->inverse;
    int level = cells > 1.0 ? carom_exponent(cells) : 0;
    level += carom_power_of_two(level) < cells ? 1 : 0;
    level = CAROM_MAX(level + space->lift, 0);
    return (uint32_t)CAROM_MIN(level, (int)CAROM_GRID_LEVELS - 1);
}

/* ---- Hashes ---------------------------------------------------------------------------------- */

/* DJB2 as printed, with its start and factor; the last line adds the level. */
CAROM_ITEM uint32_t carom_grid_djb2(uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    uint32_t hash = 5381u;
    hash = hash * 33u + x;
    hash = hash * 33u + y;
    hash = hash * 33u + z;
    return hash * 33u + level;
}

/* Spreads ten bits, with two zeros after each. */
CAROM_ITEM uint32_t carom_grid_spread(uint32_t x) {
    x = (x | x << 16) & 0x030000FFu;
    x = (x | x << 8) & 0x0300F00Fu;
    x = (x | x << 4) & 0x030C30C3u;
    return (x | x << 2) & 0x09249249u;
}

/* Wraps around after 1024 cells; each level has its own offset. */
CAROM_ITEM uint32_t carom_grid_morton(uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    uint32_t code = carom_grid_spread(x & 1023u) | carom_grid_spread(y & 1023u) << 1 |
                    carom_grid_spread(z & 1023u) << 2;
    return code + level * 0x9E3779B1u;
}

/* The multipliers below are odd and have about half of their bits set, most of them those of xxHash
 * and of the finalizers of MurmurHash3 and SplitMix64; the first is 2^32 over the golden ratio. */
CAROM_ITEM uint32_t carom_grid_mix(uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    uint32_t hash = (x * 0x9E3779B1u ^ y * 0x85EBCA77u) + (z * 0xC2B2AE3Du ^ level * 0x27D4EB2Fu);
    hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
    return hash ^ hash >> 13;
}

/* Maps a hash in [0, 2^32) to [0, count), monotonically. */
CAROM_ITEM uint32_t carom_grid_reduce(uint32_t hash, uint32_t count) {
    return (uint32_t)((uint64_t)hash * count >> 32);
}

/* The key of a cell: it selects the cell's group and distinguishes the cell within the group. */
CAROM_ITEM uint64_t carom_grid_perfect_key(uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    uint64_t key = (((uint64_t)x << 32 | y) * 0x9E3779B97F4A7C15u) ^
                   (((uint64_t)z << 32 | level) * 0xC2B2AE3D27D4EB4Fu);
    key = (key ^ key >> 29) * 0xBF58476D1CE4E5B9u;
    key = (key ^ key >> 32) * 0x94D049BB133111EBu;
    return key ^ key >> 31;
}

CAROM_ITEM uint32_t carom_grid_perfect_group(uint64_t key, uint32_t group_count) {
    return carom_grid_reduce((uint32_t)(key >> 32), group_count);
}

CAROM_ITEM uint32_t carom_grid_perfect_bucket(uint64_t key, uint32_t displacement,
                                              uint32_t bucket_count) {
    uint32_t hash = ((uint32_t)key ^ displacement * 0x9E3779B1u) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    return carom_grid_reduce(hash ^ hash >> 16, bucket_count);
}

/* The bucket of a cell. CAROM_GRID_HASH_BLOCK with blocks never maps two of eight neighbours to the
 * same bucket. */
CAROM_ITEM uint32_t carom_grid_bucket(const carom_grid_table *table, uint32_t x, uint32_t y,
                                      uint32_t z, uint32_t level) {
    if (table->block_shift != 0) {
        uint32_t block = carom_grid_mix(x >> 1, y >> 1, z >> 1, level) >> table->block_shift;
        return block << 3 | (x & 1u) | (y & 1u) << 1 | (z & 1u) << 2;
    }
    if (table->hash == CAROM_GRID_HASH_DJB2)
        return carom_grid_djb2(x, y, z, level) % table->bucket_count;
    if (table->hash == CAROM_GRID_HASH_MORTON)
        return carom_grid_morton(x, y, z, level) % table->bucket_count;
    if (table->hash == CAROM_GRID_HASH_PERFECT) {
        uint64_t key = carom_grid_perfect_key(x, y, z, level);
        uint32_t group = carom_grid_perfect_group(key, table->group_count);
        return carom_grid_perfect_bucket(key, table->displacements[group], table->bucket_count);
    }
    return carom_grid_reduce(carom_grid_mix(x, y, z, level), table->bucket_count);
}

/* ---- Entries of an item ---------------------------------------------------------------------- */

/* The quarters of cells of `level` that [low, high] of level 0 covers, four bits per cell, starting
 * at the cell of low. Level 0 has no quarters, level 1 halves. */
CAROM_ITEM uint32_t carom_grid_quarters(uint32_t low, uint32_t high, uint32_t level) {
    uint32_t up = level < 2u ? 2u - level : 0u, down = level > 2u ? level - 2u : 0u;
    uint32_t first = low >> level << 2;
    uint32_t from = (low << up >> down) - first;
    uint32_t to = ((high << up | ((1u << up) - 1u)) >> down) - first;
    CAROM_ASSERT(from <= to && to < 16);
    return (2u << to) - (1u << from);
}

/* The tags of an entry, or of a query, in one cell of its cells `on` a level; the quarters of the
 * item along each axis are those of carom_grid_quarters. */
CAROM_ITEM uint32_t carom_grid_tags(const carom_grid_cells *on, const uint32_t quarters[3],
                                    uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    uint32_t covered = (quarters[0] >> 4 * (x - on->low[0]) & 15u) |
                       (quarters[1] >> 4 * (y - on->low[1]) & 15u) << 4 |
                       (quarters[2] >> 4 * (z - on->low[2]) & 15u) << 8;
    return (x == on->low[0] ? 1u : 0u) | (y == on->low[1] ? 2u : 0u) | (z == on->low[2] ? 4u : 0u) |
           (x & 7u) << CAROM_GRID_TAG_CELL | (y & 7u) << (CAROM_GRID_TAG_CELL + 3) |
           (z & 7u) << (CAROM_GRID_TAG_CELL + 6) | level << CAROM_GRID_TAG_LEVEL |
           covered << CAROM_GRID_TAG_QUARTERS;
}

/* Computes the buckets of an item's cells on a level, each once, with the tags of the entry;
 * returns their count. `cells` are those of level 0. Both arrays have a capacity of
 * CAROM_GRID_MOST_CELLS. */
CAROM_ITEM uint32_t carom_grid_enter(const carom_grid_table *table, const carom_grid_cells *cells,
                                     uint32_t level, uint32_t *buckets, uint32_t *tags) {
    uint32_t count = 0, quarters[3], wide = 0;
    carom_grid_cells on = carom_grid_cells_on(cells, level);
    for (int k = 0; k < 3; ++k) {
        quarters[k] = carom_grid_quarters(cells->low[k], cells->high[k], level);
        wide |= on.high[k] - on.low[k];
    }
    uint32_t apart = table->block_shift != 0 && wide <= 1u ? 1u : 0u;
    for (uint32_t z = on.low[2]; z <= on.high[2]; ++z) {
        for (uint32_t y = on.low[1]; y <= on.high[1]; ++y) {
            for (uint32_t x = on.low[0]; x <= on.high[0]; ++x) {
                uint32_t bucket = carom_grid_bucket(table, x, y, z, level), seen = 0;
                for (; apart == 0 && seen < count && buckets[seen] != bucket;) ++seen;
                if (apart == 0 && seen < count) {
                    tags[seen] |= CAROM_GRID_TAG_MULTI;
                    continue;
                }
                CAROM_ASSERT(count < CAROM_GRID_MOST_CELLS && bucket < table->bucket_count);
                buckets[count] = bucket;
                tags[count++] = carom_grid_tags(&on, quarters, x, y, z, level);
            }
        }
    }
    return count;
}

/* ---- Duplicate test -------------------------------------------------------------------------- */

/* The mask and value that an entry's tags are compared with, given a query's tags for the same
 * bucket. They match if cell and level are equal and, along each axis where the cell is not the
 * query's lower cell, it is the entry's lower cell. Not for tags of several cells. */
CAROM_ITEM uint32_t carom_grid_match_mask(uint32_t tags) {
    return CAROM_GRID_TAG_CELL_AND_LEVEL | (~tags & 7u);
}

CAROM_ITEM uint32_t carom_grid_match_value(uint32_t tags) {
    return (tags & CAROM_GRID_TAG_CELL_AND_LEVEL) | (~tags & 7u);
}

/* Whether an entry matches a query, by their tags: the pair, if its boxes overlap, is reported in
 * this bucket only, and the two items have a quarter in common along each axis. The sum carries
 * into the highest of four bits when any of the lower three is set. */
CAROM_ITEM uint32_t carom_grid_match(uint32_t entry, uint32_t query) {
    uint32_t common = entry & query;
    uint32_t any = ((common & CAROM_GRID_QUARTERS_LOW) + CAROM_GRID_QUARTERS_LOW) | common;
    return ((entry & carom_grid_match_mask(query)) | (any & CAROM_GRID_QUARTERS_TOP)) ==
                   (carom_grid_match_value(query) | CAROM_GRID_QUARTERS_TOP)
               ? 1u
               : 0u;
}

/* Whether `bucket` is the bucket of the lower-corner cell of two items on `level`. `a` and `b` are
 * their cells of level 0. */
CAROM_ITEM uint32_t carom_grid_is_once(const carom_grid_table *table, const carom_grid_cells *a,
                                       const carom_grid_cells *b, uint32_t level, uint32_t bucket) {
    uint32_t corner[3];
    for (int k = 0; k < 3; ++k) corner[k] = CAROM_MAX(a->low[k], b->low[k]) >> level;
    return carom_grid_bucket(table, corner[0], corner[1], corner[2], level) == bucket ? 1u : 0u;
}

#endif
