/* SPDX-License-Identifier: MIT */
/* balls_item.h: the grid of spheres: levels, cells, entries, and which sphere of a pair is looked
 * up, as functions for CPU and GPU.
 *
 *   level 1   |               .               |       cells of edge c, 16 times that of the level
 *   level 0   |.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|       below
 *                    ( (b) )    o q                   entered: all cells within 2 reach_b of b
 *
 * The reach of a sphere is the largest of its radii: inner, secondary, cover. It is on the lowest
 * level whose cells are as wide as that, so its level depends on its size alone. Of two spheres the
 * one with the smaller reach is the query: a sphere q looks up the larger spheres b. Where
 * their balls meet, the centre of q is within 2 reach_b of b. So b is entered in all cells that
 * near to it, at most six along an axis, and q looks into one cell per level: that of its centre,
 * on its own level and those above. Each pair is found once: a sphere is entered in a bucket once,
 * and a query looks into one bucket for each level, where it takes entries of that level only. (In
 * the paper a sphere is entered in the at most eight cells that it meets, and a query visits the at
 * most eight cells that it meets, on levels a factor of 2 apart: 50 visits instead of 2, for as
 * many pairs.)
 *
 * The entries of a bucket are blocks of columns with what the filter needs, largest reach first:
 * a query stops at the first block whose entries are all smaller than its own sphere.
 *
 * Grids are in units of their own: a packing's centres lie in [0, 1]. Floats there are off by less
 * than CAROM_BALLS_SLACK, roundings of poses included: balls_query.c compares all spheres with all
 * where that would not hold. Floats are only a filter; pairs are decided in doubles, by the items
 * of spheres_overlap_item.h.
 *
 * Source: Weller, Frese, Zachmann 2013, 4. */
#ifndef CAROM_SRC_BALLS_BALLS_ITEM_H
#define CAROM_SRC_BALLS_BALLS_ITEM_H

#include "geom/box.h"
#include "grid/grid_item.h"
#include "spheres/spheres_overlap_item.h"

/* Edges of cells on two levels. With 8 or 4 there are fewer entries per bucket and more lookups. */
#define CAROM_BALLS_STEP 16.0f

/* Cells of level 0 to the smallest reach. The smallest spheres are the most, and are few per cell.
 */
#define CAROM_BALLS_FIRST_EDGE 16.0f

/* The same on a GPU, where several lanes compare entries of a bucket at once. */
#define CAROM_BALLS_CUDA_FIRST_EDGE 8.0f

/* On a GPU, spheres of higher levels are also entered on level 0, where that makes at most so many
 * entries per sphere of the packing. Spheres of level 0, nearly all, then look up one cell. */
#define CAROM_BALLS_FINE_ENTRIES 4.0

/* Cells along an axis that such a sphere is entered in, fewer than 2^9. */
#define CAROM_BALLS_FINE_SIDE 500.0

/* From the slack to a reach of 1 there are 2^19, and 16^5 is more. */
#define CAROM_BALLS_LEVELS 8u

/* Entries of a block: a vector of AVX-512. */
#define CAROM_BALLS_BLOCK 16u

/* More than all errors of the filter together, in grid units, where reaches are at most 1 and
 * coordinates below 4: some 2^-21 for the pose, 2^-22 for a position, 2^-22 each for a distance and
 * a sum of radii. */
#define CAROM_BALLS_SLACK 0x1p-19f

/* Poses may move a centre by this much, in grid units. */
#define CAROM_BALLS_POSE_ERROR 0x1p-21

/* Bits of a Morton code per axis. */
#define CAROM_BALLS_KEY_BITS 10

/* Cells that a sphere is entered in, with cell_scale 1/2: ten along each axis, and room for one
 * more. */
#define CAROM_BALLS_MOST_SIDE  10u
#define CAROM_BALLS_MOST_CELLS 1001u

/* A sphere as it was given. 64 bytes, for one line of the cache. */
typedef struct carom_balls_sphere {
    carom_vec3 centre;
    double radius, secondary, cover;
    uint64_t voids; /* in units of the packing (carom_spheres_void_units) */
    uint32_t index; /* in the packing */
    uint32_t level;
} carom_balls_sphere;

/* Entries of a bucket, in columns. Unused ones have a reach of -1. */
typedef struct carom_balls_block {
    float x[CAROM_BALLS_BLOCK], y[CAROM_BALLS_BLOCK], z[CAROM_BALLS_BLOCK];
    float reach[CAROM_BALLS_BLOCK]; /* descending; rounded up, as is: */
    float near[CAROM_BALLS_BLOCK];  /* the larger of inner and secondary radius */
    uint32_t rank[CAROM_BALLS_BLOCK];
} carom_balls_block;

/* A grid as plain pointers, for loops and kernels. Spheres are indexed by rank, their order along a
 * Morton curve. */
typedef struct carom_balls_view {
    uint32_t count;
    uint32_t level_count;
    carom_spheres_extent extent;
    carom_ball ball;                /* around all balls, up to rounding */
    double low[3], unit;            /* grid coordinate = (x - low) unit */
    float box_low[3], box_high[3];  /* of all entries, in grid units */
    float edge[CAROM_BALLS_LEVELS]; /* of the cells of a level */
    float inverse[CAROM_BALLS_LEVELS];
    float bottom[CAROM_BALLS_LEVELS],
        top[CAROM_BALLS_LEVELS]; /* reaches on a level, both included */
    float fit;                   /* cells are at least this times as wide as reaches */
    uint32_t fine_levels; /* GPU: spheres of so many levels above level 0 are also entered there */
    bool covers_largest;  /* every reach is a cover */
    carom_grid_table table;
    const carom_balls_sphere *spheres;
    const double *x, *y, *z;   /* their centres in columns */
    const float *reach, *near; /* in grid units, rounded up */
    const uint32_t *starts;    /* of each bucket in the blocks, and the end of the last */
    const carom_balls_block *blocks;
} carom_balls_view;

/* ---- Cells ----------------------------------------------------------------------------------- */

CAROM_ITEM double carom_balls_reach(const carom_packing_sphere *s) {
    double near = CAROM_MAX(s->radius, s->secondary);
    return CAROM_MAX(near, s->cover);
}

/* A centre in grid units. */
CAROM_ITEM void carom_balls_position(const carom_balls_view *view, carom_vec3 centre,
                                     float position[3]) {
    position[0] = (float)((centre.x - view->low[0]) * view->unit);
    position[1] = (float)((centre.y - view->low[1]) * view->unit);
    position[2] = (float)((centre.z - view->low[2]) * view->unit);
}

/* The index of a position along a Morton curve. */
CAROM_ITEM uint32_t carom_balls_key(const float position[3]) {
    uint32_t code = 0;
    for (int k = 0; k < 3; ++k) {
        uint32_t cell = (uint32_t)(position[k] * (float)(1 << CAROM_BALLS_KEY_BITS));
        code |= carom_grid_spread(CAROM_MIN(cell, (1u << CAROM_BALLS_KEY_BITS) - 1u)) << k;
    }
    return code;
}

/* The lowest level that a reach fits; level_count if none. */
CAROM_ITEM uint32_t carom_balls_level(const carom_balls_view *view, float reach) {
    uint32_t level = 0;
    while (level < view->level_count && reach > view->top[level]) ++level;
    return level;
}

/* The cell of a coordinate; monotone, as the rounding of each step is. */
CAROM_ITEM uint32_t carom_balls_cell(const carom_balls_view *view, uint32_t level, int axis,
                                     float x) {
    float cell = (x - view->box_low[axis]) * view->inverse[level];
    return cell > 0.0f ? (uint32_t)cell : 0u;
}

/* How far from its centre a sphere is entered. */
CAROM_ITEM float carom_balls_entry_reach(float reach) {
    return 2.0f * reach + 2.0f * CAROM_BALLS_SLACK;
}

/* The same on any level up to its own: spheres that are looked up there reach at most as far as the
 * level allows, and theirs is off by one slack more. */
CAROM_ITEM float carom_balls_entry_reach_on(const carom_balls_view *view, float reach,
                                            uint32_t level) {
    return reach <= view->top[level] ? carom_balls_entry_reach(reach)
                                     : reach + view->top[level] + 4.0f * CAROM_BALLS_SLACK;
}

/* The cells within a distance of a centre, first and last included. */
CAROM_ITEM carom_grid_cells carom_balls_box_within(const carom_balls_view *view,
                                                   const float centre[3], float far,
                                                   uint32_t level) {
    carom_grid_cells box;
    for (int k = 0; k < 3; ++k) {
        box.low[k] = carom_balls_cell(view, level, k, centre[k] - far);
        box.high[k] = carom_balls_cell(view, level, k, centre[k] + far);
    }
    return box;
}

/* The cells around a sphere, on its own level. */
CAROM_ITEM carom_grid_cells carom_balls_box(const carom_balls_view *view, const float centre[3],
                                            float reach, uint32_t level) {
    carom_grid_cells box =
        carom_balls_box_within(view, centre, carom_balls_entry_reach(reach), level);
    for (int k = 0; k < 3; ++k) CAROM_ASSERT(box.high[k] - box.low[k] < CAROM_BALLS_MOST_SIDE);
    return box;
}

/* Computes the cells that a sphere is entered in, x, y, z in turn, and returns their number: those
 * of the box whose nearest point is near enough. */
CAROM_ITEM uint32_t carom_balls_cells(const carom_balls_view *view, const float centre[3],
                                      float reach, uint32_t level,
                                      uint32_t cells[3 * CAROM_BALLS_MOST_CELLS]) {
    carom_grid_cells box = carom_balls_box(view, centre, reach, level);
    float limit = carom_balls_entry_reach(reach) + CAROM_BALLS_SLACK;
    float gaps[3][CAROM_BALLS_MOST_SIDE]; /* squares, along an axis */
    uint32_t count = 0;
    for (int k = 0; k < 3; ++k) {
        for (uint32_t i = box.low[k]; i <= box.high[k]; ++i) {
            float begin = view->box_low[k] + (float)i * view->edge[level];
            float end = begin + view->edge[level];
            float gap = centre[k] < begin ? begin - centre[k]
                        : centre[k] > end ? centre[k] - end
                                          : 0.0f;
            gaps[k][i - box.low[k]] = gap * gap;
        }
    }
    for (uint32_t z = box.low[2]; z <= box.high[2]; ++z) {
        for (uint32_t y = box.low[1]; y <= box.high[1]; ++y) {
            float squared = gaps[2][z - box.low[2]] + gaps[1][y - box.low[1]];
            for (uint32_t x = box.low[0]; x <= box.high[0]; ++x) {
                cells[3 * count] = x;
                cells[3 * count + 1] = y;
                cells[3 * count + 2] = z;
                count += squared + gaps[0][x - box.low[0]] <= limit * limit ? 1u : 0u;
            }
        }
    }
    return count;
}

/* Eight cells along each axis. */
#define CAROM_BALLS_CURVE_BUCKETS 512u

/* Whether cells of one sphere may share a bucket. Along the Morton curve eight cells along each
 * axis have buckets of their own, and spheres have six at most where cells are as wide as reaches.
 */
CAROM_ITEM bool carom_balls_may_share(const carom_balls_view *view) {
    uint32_t buckets = view->table.bucket_count;
    return view->table.hash != CAROM_GRID_HASH_MORTON || view->fit < 1.0f ||
           buckets < CAROM_BALLS_CURVE_BUCKETS || (buckets & (buckets - 1)) != 0;
}

/* The buckets of cells on a level, each once; returns their number. */
CAROM_ITEM uint32_t carom_balls_buckets(const carom_balls_view *view, const uint32_t *cells,
                                        uint32_t count, uint32_t level,
                                        uint32_t buckets[CAROM_BALLS_MOST_CELLS]) {
    const carom_grid_table *table = &view->table;
    uint32_t kept = 0;
    bool share = carom_balls_may_share(view);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t seen = 0, bucket = carom_grid_bucket(table, cells[3 * i], cells[3 * i + 1],
                                                      cells[3 * i + 2], level);
        CAROM_ASSERT(bucket < table->bucket_count);
        while (share && seen < kept && buckets[seen] != bucket) ++seen;
        if (share && seen < kept) continue;
        buckets[kept++] = bucket;
    }
    return kept;
}

/* ---- Which sphere is the query --------------------------------------------------------------- */

/* The least reach of a partner that a sphere looks up, in units of the partner's grid. A sphere of
 * A looks up those of B that are at least as large; a sphere of B those of A that are larger.
 * `ratio` converts units of A's grid to those of B's. Larger is decided in floats, the same way
 * from both sides: a is the query where reach_b >= (float)(reach_a ratio), else b is. That is
 * monotone in reach_a, so b is the query from the least float on for which it does not hold. */
CAROM_ITEM float carom_balls_threshold(float reach, double ratio, bool from_b) {
    if (!from_b) return (float)((double)reach * ratio);
    float least = (float)((double)reach / ratio);
    while ((float)((double)least * ratio) > reach) least = carom_float_below(least);
    while (!((float)((double)least * ratio) > reach)) least = -carom_float_below(-least);
    return least;
}

/* A packing's spheres looked up in the grid of another. */
typedef struct carom_balls_lookup {
    const carom_balls_view *from, *grid;
    const carom_spheres_posed_pair *posed;
    const carom_spheres_transform *from_transform, *grid_transform;
    bool from_b;       /* `from` is B */
    bool bounds;       /* flag spheres whose covers meet, add lenses of inner balls */
    bool wide;         /* hits are pairs that are within their reaches, not only near */
    double ratio;      /* units of A's grid to those of B's */
    double from_ratio; /* units of `from` to those of `grid` */
    double turn[9];    /* grid coordinate = turn (x' - t) - shift */
    double shift[3];
} carom_balls_lookup;

/* Whether positions and radii in grid units are within the slack. */
CAROM_ITEM bool carom_balls_is_regular(const carom_balls_view *grid,
                                       const carom_spheres_transform *transform,
                                       const carom_spheres_posed_pair *posed) {
    return 4.0 * posed->slack * grid->unit <= CAROM_BALLS_POSE_ERROR * transform->scale;
}

/* A factor: the sum of two products and the distance are rounded by less than 2^-50. */
#define CAROM_BALLS_SUM_UP (1.0 + 0x1p-40)

/* Whether two balls of posed packings are apart by more than all rounding. */
CAROM_ITEM bool carom_balls_apart(const carom_spheres_posed_pair *posed, carom_ball a,
                                  carom_ball b) {
    carom_vec3 p = carom_spheres_pose_centre(&posed->transform[0], a.centre);
    carom_vec3 q = carom_spheres_pose_centre(&posed->transform[1], b.centre);
    double sum = a.radius * posed->transform[0].scale + b.radius * posed->transform[1].scale;
    return carom_length(carom_vec_sub(q, p)) > sum * CAROM_BALLS_SUM_UP + 4.0 * posed->slack;
}

CAROM_ITEM carom_balls_lookup carom_balls_lookup_make(const carom_balls_view *a,
                                                      const carom_balls_view *b,
                                                      const carom_spheres_posed_pair *posed,
                                                      bool from_b) {
    carom_balls_lookup lookup;
    double unit_a = a->unit / posed->transform[0].scale,
           unit_b = b->unit / posed->transform[1].scale;
    lookup.from = from_b ? b : a;
    lookup.grid = from_b ? a : b;
    lookup.posed = posed;
    lookup.from_transform = &posed->transform[from_b ? 1 : 0];
    lookup.grid_transform = &posed->transform[from_b ? 0 : 1];
    lookup.from_b = from_b;
    lookup.bounds = lookup.wide = false;
    lookup.ratio = unit_b / unit_a;
    lookup.from_ratio = from_b ? unit_a / unit_b : lookup.ratio;
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column)
            lookup.turn[3 * row + column] =
                lookup.grid_transform->frame.r[3 * column + row] * (from_b ? unit_a : unit_b);
        lookup.shift[row] = lookup.grid->low[row] * lookup.grid->unit;
    }
    return lookup;
}

#endif
