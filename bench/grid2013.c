/* SPDX-License-Identifier: MIT */
/* The grid of Weller, Frese and Zachmann (2013) to the letter, one sphere at a time.
 *
 * What the paper leaves open: a pair is found in every cell that both spheres meet, in up to eight,
 * and how it is counted once is not told. Here an entry names its cell, and a pair counts in the
 * cell that is along each axis the larger of the two spheres' lowest: both meet it. Full buckets
 * continue in others. The other object's spheres are posed in this one's frame as they are looked
 * up, so both grids stay as they are. */
#include "bench/grid2013.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/paths.h"

#define BUCKET  24u                 /* entries, as printed */
#define TABLE   (UINT32_C(1) << 24) /* bytes, as printed */
#define NONE    UINT32_MAX
#define CORNERS 8u /* cells of a sphere, two along each axis */

/* Entries are 8 times the sphere plus the number of the cell among its own. */
struct grid2013_bucket {
    uint32_t count, next; /* the bucket that continues it, in the same array; NONE */
    uint32_t entries[BUCKET];
};

/* Cells [low, low + span], span 0 or 1, on a level. */
typedef struct block {
    int64_t low[3], span[3];
} block;

static double edge_of(const grid2013 *g, uint32_t level) {
    return ldexp(g->least, (int)level + 1); /* more than the largest diameter on the level */
}

static block block_of(const grid2013 *g, carom_vec3 centre, double radius, uint32_t level) {
    double edge = edge_of(g, level);
    const double at[3] = {centre.x, centre.y, centre.z};
    block b;
    for (int axis = 0; axis < 3; ++axis) {
        b.low[axis] = (int64_t)floor((at[axis] - radius) / edge);
        b.span[axis] = (int64_t)floor((at[axis] + radius) / edge) - b.low[axis];
    }
    return b;
}

static bool has_corner(const block *b, uint32_t corner) {
    for (int axis = 0; axis < 3; ++axis)
        if ((corner >> axis & 1u) != 0 && b->span[axis] == 0) return false;
    return true;
}

/* Algorithm 3, DJB2. */
static uint32_t bucket_of(const grid2013 *g, const block *b, uint32_t corner, uint32_t level) {
    uint32_t hash = 5381;
    for (int axis = 0; axis < 3; ++axis)
        hash = hash * 33u + (uint32_t)(uint64_t)(b->low[axis] + (corner >> axis & 1u));
    return (hash * 33u + level) % g->bucket_count;
}

static bool enter(grid2013 *g, uint32_t at, uint32_t entry) {
    while (g->buckets[at].count == BUCKET && g->buckets[at].next != NONE) at = g->buckets[at].next;
    if (g->buckets[at].count == BUCKET) {
        if (g->overflow_count == g->overflow_capacity) {
            uint32_t capacity = 2 * g->overflow_capacity + 1024;
            grid2013_bucket *grown =
                realloc(g->buckets, ((size_t)g->bucket_count + capacity) * sizeof(*grown));
            if (grown == NULL) return false;
            g->buckets = grown;
            g->overflow_capacity = capacity;
        }
        uint32_t next = g->bucket_count + g->overflow_count++;
        g->buckets[next].count = 0;
        g->buckets[next].next = NONE;
        g->buckets[at].next = next;
        at = next;
    }
    g->buckets[at].entries[g->buckets[at].count++] = entry;
    return true;
}

bool grid2013_refill(grid2013 *g) {
    for (uint32_t i = 0; i < g->bucket_count; ++i) {
        g->buckets[i].count = 0;
        g->buckets[i].next = NONE;
    }
    g->overflow_count = 0;
    g->least = HUGE_VAL;
    for (uint32_t i = 0; i < g->count; ++i) g->least = fmin(g->least, 2.0 * g->spheres[i].radius);
    g->top = 0;
    for (uint32_t i = 0; i < g->count; ++i) {
        const carom_packing_sphere *s = &g->spheres[i];
        uint32_t level = (uint32_t)ilogb(2.0 * s->radius / g->least);
        block b = block_of(g, s->centre, s->radius, level);
        g->level[i] = (uint8_t)level;
        if (level > g->top) g->top = level;
        for (uint32_t corner = 0; corner < CORNERS; ++corner)
            if (has_corner(&b, corner) &&
                !enter(g, bucket_of(g, &b, corner, level), CORNERS * i + corner))
                return false;
    }
    return true;
}

bool grid2013_build(const carom_packing_spheres *spheres, grid2013 *g) {
    *g = (grid2013){.spheres = spheres->data,
                    .count = (uint32_t)spheres->count,
                    .bucket_count = TABLE / sizeof(grid2013_bucket)};
    g->level = malloc(g->count + 1u);
    g->buckets = malloc(g->bucket_count * sizeof(*g->buckets));
    return g->level != NULL && g->buckets != NULL && grid2013_refill(g);
}

void grid2013_free(grid2013 *g) {
    free(g->level);
    free(g->buckets);
    *g = (grid2013){.spheres = NULL};
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* A sphere in the frame of a grid, its own level there, and whether equally large ones count. */
typedef struct query {
    carom_ball ball;
    uint32_t level;
    bool equal;
} query;

/* Whether a corner of the query's block is the cell in which a pair with the entry counts. */
static bool is_cell_of(const grid2013 *g, const block *b, uint32_t corner, uint32_t entry,
                       uint32_t level) {
    const carom_packing_sphere *s = &g->spheres[entry / CORNERS];
    block other = block_of(g, s->centre, s->radius, level);
    for (int axis = 0; axis < 3; ++axis) {
        int64_t cell = b->low[axis] + (corner >> axis & 1u);
        int64_t its = other.low[axis] + (entry % CORNERS >> axis & 1u);
        if (cell != its ||
            cell != (b->low[axis] > other.low[axis] ? b->low[axis] : other.low[axis]))
            return false;
    }
    return true;
}

/* The bucket of one cell. */
static void look_into(const grid2013 *g, const query *q, const block *b, uint32_t corner,
                      uint32_t level, grid2013_result *r) {
    ++r->cells;
    for (uint32_t at = bucket_of(g, b, corner, level); at != NONE; at = g->buckets[at].next)
        for (uint32_t i = 0; i < g->buckets[at].count; ++i) {
            uint32_t entry = g->buckets[at].entries[i];
            const carom_packing_sphere *s = &g->spheres[entry / CORNERS];
            ++r->tests;
            if (s->radius < q->ball.radius || (s->radius == q->ball.radius && !q->equal)) continue;
            double x = s->centre.x - q->ball.centre.x, y = s->centre.y - q->ball.centre.y;
            double z = s->centre.z - q->ball.centre.z, reach = s->radius + q->ball.radius;
            if (!(x * x + y * y + z * z < reach * reach)) continue;
            if (g->level[entry / CORNERS] != level || !is_cell_of(g, b, corner, entry, level))
                continue;
            carom_ball other = {s->centre, s->radius};
            ++r->pairs;
            r->volume += carom_ball_lens_value(&q->ball, &other).volume;
        }
}

/* Algorithm 2: the cells that the sphere meets, on its level and all above. */
static void look_up(const grid2013 *g, const query *q, grid2013_result *r) {
    for (uint32_t level = q->level; level <= g->top; ++level) {
        block b = block_of(g, q->ball.centre, q->ball.radius, level);
        for (uint32_t corner = 0; corner < CORNERS; ++corner)
            if (has_corner(&b, corner)) look_into(g, q, &b, corner, level, r);
    }
}

static carom_pose inverse_of(const carom_pose *pose) {
    carom_pose back = {{pose->q.w, -pose->q.x, -pose->q.y, -pose->q.z}, {0.0, 0.0, 0.0}};
    carom_vec3 t = scene_pose_apply(&back, pose->t);
    back.t = (carom_vec3){-t.x, -t.y, -t.z};
    return back;
}

static void look_up_all(const grid2013 *from, const carom_pose *pose, const grid2013 *g, bool equal,
                        grid2013_result *r) {
    for (uint32_t i = 0; i < from->count; ++i) {
        const carom_packing_sphere *s = &from->spheres[i];
        query q = {{scene_pose_apply(pose, s->centre), s->radius}, 0, equal};
        double ratio = 2.0 * s->radius / g->least;
        if (ratio >= 1.0) q.level = (uint32_t)ilogb(ratio);
        look_up(g, &q, r);
    }
}

void grid2013_query(const grid2013 *a, const grid2013 *b, const carom_pose *pose_b,
                    grid2013_result *result) {
    carom_pose back = inverse_of(pose_b);
    *result = (grid2013_result){.volume = 0.0};
    look_up_all(b, pose_b, a, true, result);
    look_up_all(a, &back, b, false, result);
}
