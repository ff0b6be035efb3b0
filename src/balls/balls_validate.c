/* SPDX-License-Identifier: MIT */
/* The invariants of a grid of spheres. Cells of a sphere are found by looking at every cell around
 * it, with the nearest point of the cell in doubles. */
#include <stdlib.h>

#include "balls/balls.h"

/* Of a level's top, from its edge: a quotient and a difference in floats, each rounded by 2^-24. */
#define BALLS_EDGE_ROUNDING 1.000001f

static const char *balls_validate_check_spheres(const carom_balls_view *v) {
    uint8_t *seen = calloc((uint64_t)v->count + 1, 1);
    const char *broken = seen == NULL ? "no memory to validate" : NULL;
    for (uint32_t i = 0; i < v->count && broken == NULL; ++i) {
        const carom_balls_sphere *s = &v->spheres[i];
        double near = CAROM_MAX(s->radius, s->secondary), reach = CAROM_MAX(near, s->cover);
        if (s->index >= v->count || seen[s->index]++ != 0)
            broken = "balls: the indices of spheres are not a permutation";
        else if (v->x[i] != s->centre.x || v->y[i] != s->centre.y || v->z[i] != s->centre.z)
            broken = "balls: a column of centres differs from the spheres";
        else if ((double)v->reach[i] < reach * v->unit || (double)v->near[i] < near * v->unit)
            broken = "balls: a reach is too small";
        else if (v->covers_largest && reach > s->cover)
            broken = "balls: a cover is not the largest radius";
        else if (s->level >= v->level_count || v->reach[i] > v->top[s->level] ||
                 v->reach[i] < v->bottom[s->level] ||
                 (v->reach[i] + CAROM_BALLS_SLACK) * v->fit >
                     v->edge[s->level] * BALLS_EDGE_ROUNDING)
            broken = "balls: a sphere is not on the level of its size";
    }
    free(seen);
    return broken;
}

static const char *check_buckets(const carom_balls_grid *g) {
    const carom_balls_view *v = &g->view;
    uint64_t entries = 0;
    if (v->starts[0] != 0) return "balls: the first bucket does not start at 0";
    for (uint32_t bucket = 0; bucket < v->table.bucket_count; ++bucket)
        if (v->starts[bucket] > v->starts[bucket + 1])
            return "balls: the starts of buckets decrease";
    for (uint32_t bucket = 0; bucket < v->table.bucket_count; ++bucket) {
        float last = HUGE_VALF;
        for (uint32_t at = v->starts[bucket]; at < v->starts[bucket + 1]; ++at) {
            const carom_balls_block *b = &v->blocks[at];
            if (b->reach[0] < 0.0f) return "balls: a block is empty";
            for (uint32_t k = 0; k < CAROM_BALLS_BLOCK; ++k) {
                if (b->reach[k] > last) return "balls: the entries of a bucket are not in order";
                last = b->reach[k];
                if (b->reach[k] < 0.0f) continue;
                ++entries;
                if (b->rank[k] >= v->count || b->reach[k] != v->reach[b->rank[k]] ||
                    b->near[k] != v->near[b->rank[k]])
                    return "balls: an entry differs from its sphere";
            }
        }
    }
    return entries == g->entries ? NULL : "balls: the number of entries is wrong";
}

/* How often a sphere is in a bucket. */
static uint32_t times_in(const carom_balls_view *v, uint32_t bucket, uint32_t rank) {
    uint32_t times = 0;
    for (uint32_t at = v->starts[bucket]; at < v->starts[bucket + 1]; ++at)
        for (uint32_t k = 0; k < CAROM_BALLS_BLOCK; ++k)
            times += v->blocks[at].reach[k] >= 0.0f && v->blocks[at].rank[k] == rank ? 1u : 0u;
    return times;
}

/* The coordinates at which cells begin, in the formula of carom_balls_cell. */
static double begin_of(const carom_balls_view *v, uint32_t level, int axis, uint32_t cell) {
    return (double)v->box_low[axis] + (double)cell / (double)v->inverse[level];
}

/* Every query that can find a sphere looks into a cell that it is entered in. */
static const char *check_cells(const carom_balls_view *v) {
    for (uint32_t i = 0; i < v->count; ++i) {
        const carom_balls_sphere *s = &v->spheres[i];
        const double c[3] = {(s->centre.x - v->low[0]) * v->unit,
                             (s->centre.y - v->low[1]) * v->unit,
                             (s->centre.z - v->low[2]) * v->unit};
        double far = 2.0 * (double)v->reach[i] + (double)CAROM_BALLS_SLACK;
        uint32_t low[3], high[3];
        for (int k = 0; k < 3; ++k) {
            if (c[k] - far < (double)v->box_low[k] || c[k] + far > (double)v->box_high[k])
                return "balls: the box does not contain an entry";
            low[k] = carom_balls_cell(v, s->level, k, (float)(c[k] - far));
            high[k] = carom_balls_cell(v, s->level, k, (float)(c[k] + far));
        }
        for (uint32_t z = low[2]; z <= high[2]; ++z)
            for (uint32_t y = low[1]; y <= high[1]; ++y)
                for (uint32_t x = low[0]; x <= high[0]; ++x) {
                    const uint32_t cell[3] = {x, y, z};
                    double squared = 0.0;
                    for (int k = 0; k < 3; ++k) {
                        double begin = begin_of(v, s->level, k, cell[k]);
                        double end = begin_of(v, s->level, k, cell[k] + 1);
                        double gap = c[k] < begin ? begin - c[k] : c[k] > end ? c[k] - end : 0.0;
                        squared += gap * gap;
                    }
                    if (squared > far * far) continue;
                    uint32_t bucket = carom_grid_bucket(&v->table, x, y, z, s->level);
                    if (times_in(v, bucket, i) != 1)
                        return "balls: a sphere is not in a bucket once";
                }
    }
    return NULL;
}

const char *carom_balls_validate(const carom_balls *balls) {
    const carom_balls_view *v = &balls->grid.view;
    if (v->extent.count != v->count) return "balls: the extent is of another number of spheres";
    if (v->level_count > CAROM_BALLS_LEVELS || (v->count != 0 && v->level_count == 0))
        return "balls: the number of levels is wrong";
    const char *broken = balls_validate_check_spheres(v);
    if (broken == NULL) broken = check_buckets(&balls->grid);
    return broken == NULL ? check_cells(v) : broken;
}
