/* SPDX-License-Identifier: MIT */
/* An upper bound of the number of overlapping pairs of two sets of balls, for all poses.
 *
 * Balls do not change with the pose. Put each ball on a level: the least e with 2^e at least its
 * diameter and a thousandth more. Let i be in A, j in B, on levels e_i <= e_j, and overlap. Then
 * the centres are less than 2^e_j apart, and in B's own frame the centre of j is in a cube of edge
 * 2 2^e_j around that of i, in any pose: within 3 x 3 x 3 cells of edge 2^e_j. So i has at most
 * M_e(B) such partners on level e, where M_e(B) is the most balls of B on that level with centres
 * in any 3 x 3 x 3 cells, and
 *
 *   bound = sum over i in A, levels e >= e_i of M_e(B)  +  the same with A and B exchanged.
 *
 * This counts pairs on equal levels from both sides. Once is enough, so one of the two sums omits
 * them, whichever gives the smaller bound. Within one set half of them are omitted, and no ball is
 * its own partner.
 *
 * The thousandth covers rounding. Balls smaller than 2^-31 of the set's largest count as that
 * large: 32 levels are enough, and a larger cell holds no fewer balls.
 *
 * M is computed exactly. Centres are counted per cell; each count is added to the two preceding
 * cells along x, then along y; along z three counts are summed. A block with the largest count can
 * be shifted up until its lowest layer is not empty, so only blocks whose lowest layer is not empty
 * have to be considered. */
#include "grid/grid_bound.h"

#include "base/progress.h"
#include "geom/length.h"

#define LEVELS      32u
#define MARGIN      (1.0 + 0x1p-10)
#define NO_EXPONENT (-4000)
#define AT_ONCE     65536u /* balls or cells between two clock checks: some milliseconds */

/* ---- Counts by cell -------------------------------------------------------------------------- */

typedef struct cell {
    uint32_t x, y, z; /* modulo 2^32: distant cells that coincide only increase M */
    uint32_t count;   /* 0: free */
} cell;

/* A hash table with open addressing, at most half full. */
typedef struct table {
    cell *cells;
    uint32_t *used; /* slots in the order they were taken */
    uint64_t used_count, mask;
} table;

static uint64_t place_of(const table *t, uint32_t x, uint32_t y, uint32_t z) {
    uint64_t h = ((uint64_t)x << 32 | y) * 0x9E3779B97F4A7C15u ^ (uint64_t)z * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ h >> 32) * 0xBF58476D1CE4E5B9u;
    uint64_t at = (h ^ h >> 29) & t->mask;
    for (; t->cells[at].count != 0; at = (at + 1) & t->mask)
        if (t->cells[at].x == x && t->cells[at].y == y && t->cells[at].z == z) break;
    return at;
}

static void add(table *t, uint32_t x, uint32_t y, uint32_t z, uint32_t count) {
    uint64_t at = place_of(t, x, y, z);
    CAROM_ASSERT(2 * t->used_count <= t->mask + 1 && count != 0);
    cell *c = &t->cells[at];
    if (c->count == 0) t->used[t->used_count++] = (uint32_t)at;
    *c = (cell){x, y, z, c->count + count};
}

static bool table_make(carom_arena *scratch, uint64_t most, table *t) {
    uint64_t size = 16;
    while (size < 2 * most) size *= 2;
    t->cells = size <= UINT32_MAX ? CAROM_ARENA_TAKE(scratch, cell, size) : NULL;
    t->used = CAROM_ARENA_TAKE(scratch, uint32_t, most);
    t->used_count = 0;
    t->mask = size - 1;
    if (t->cells != NULL) memset(t->cells, 0, size * sizeof(*t->cells));
    return t->cells != NULL && t->used != NULL;
}

static carom_status fail_table(carom_context *context, uint64_t most) {
    return carom_fail_memory(context, most * 3 * sizeof(cell), "a bound");
}

/* Adds each count to its cell and to the two cells before it along an axis. */
static carom_status spread(carom_context *context, const table *from, int axis, table *to) {
    if (!table_make(carom_scratch(context, 0), 3 * from->used_count, to))
        return fail_table(context, 3 * from->used_count);
    for (uint64_t i = 0; i < from->used_count; ++i) {
        if (i % AT_ONCE == 0) CAROM_TRY(carom_progress_look(context));
        const cell *c = &from->cells[from->used[i]];
        for (uint32_t d = 0; d < 3; ++d)
            add(to, axis == 0 ? c->x - d : c->x, axis == 1 ? c->y - d : c->y, c->z, c->count);
    }
    return CAROM_OK;
}

static carom_status most_in_three(carom_context *context, const table *t, uint64_t *most) {
    *most = 0;
    for (uint64_t i = 0; i < t->used_count; ++i) {
        if (i % AT_ONCE == 0) CAROM_TRY(carom_progress_look(context));
        const cell *c = &t->cells[t->used[i]];
        uint64_t sum = c->count;
        for (uint32_t d = 1; d < 3; ++d) sum += t->cells[place_of(t, c->x, c->y, c->z + d)].count;
        *most = CAROM_MAX(sum, *most);
    }
    return CAROM_OK;
}

/* ---- Levels and largest counts of one set ---------------------------------------------------- */

/* A ball by its centre and level. */
typedef struct centred {
    carom_vec3 centre;
    int32_t exponent;
} centred;

/* What the bound needs of a set. The exponents of the levels are lowest, lowest + 1, ... */
typedef struct crowd {
    centred *items;
    uint64_t count;
    int lowest;
    uint64_t on_level[LEVELS]; /* items on each level */
    uint64_t most[LEVELS];     /* M */
} crowd;

static uint32_t cell_of(double x, double inverse) {
    double at = x * inverse;
    at = at > -0x1p62 ? at : -0x1p62;
    at = at < 0x1p62 ? at : 0x1p62;
    int64_t whole = (int64_t)at;
    return (uint32_t)(uint64_t)(whole - (at < (double)whole ? 1 : 0));
}

static int exponent_of(double diameter) {
    if (!(diameter > 0x1p-1000)) return NO_EXPONENT;
    int exponent = carom_exponent(diameter * MARGIN);
    return carom_power_of_two(exponent) < diameter * MARGIN ? exponent + 1 : exponent;
}

static carom_status find_most(carom_context *context, int level, crowd *c) {
    carom_arena *scratch = carom_scratch(context, 0);
    table cells, along_x, along_y;
    int exponent = c->lowest + level;
    double inverse = carom_power_of_two(CAROM_MAX(-1022, CAROM_MIN(-exponent, 1022)));
    if (!table_make(scratch, c->on_level[level], &cells))
        return fail_table(context, c->on_level[level]);
    for (uint64_t i = 0; i < c->count; ++i) {
        const centred *item = &c->items[i];
        if (i % AT_ONCE == 0) CAROM_TRY(carom_progress_look(context));
        if (CAROM_MAX(item->exponent, c->lowest) != exponent) continue;
        add(&cells, cell_of(item->centre.x, inverse), cell_of(item->centre.y, inverse),
            cell_of(item->centre.z, inverse), 1);
    }
    CAROM_TRY(spread(context, &cells, 0, &along_x));
    CAROM_TRY(spread(context, &along_x, 1, &along_y));
    return most_in_three(context, &along_y, &c->most[level]);
}

static carom_status list_items(carom_context *context, const carom_grid_balls *balls, crowd *c) {
    int highest = NO_EXPONENT;
    *c = (crowd){.items = CAROM_ARENA_TAKE(carom_scratch(context, 0), centred, balls->count)};
    if (c->items == NULL)
        return carom_fail_memory(context, balls->count * sizeof(*c->items), "a bound");
    for (uint32_t i = 0; i < balls->count; ++i) {
        if (i % AT_ONCE == 0) CAROM_TRY(carom_progress_look(context));
        carom_ball ball = balls->ball(balls->user, i);
        if (!(ball.radius >= 0.0)) continue;
        int exponent = exponent_of(2.0 * ball.radius);
        highest = CAROM_MAX(exponent, highest);
        c->items[c->count++] = (centred){ball.centre, exponent};
    }
    c->lowest = CAROM_MAX(highest - (int)LEVELS + 1, -1000);
    return CAROM_OK;
}

static carom_status make_crowd(carom_context *context, const carom_grid_balls *balls, crowd *c) {
    carom_arena *scratch = carom_scratch(context, 0);
    CAROM_TRY(list_items(context, balls, c));
    for (uint64_t i = 0; i < c->count; ++i) {
        CAROM_ASSERT(c->items[i].exponent - c->lowest < (int)LEVELS);
        ++c->on_level[CAROM_MAX(c->items[i].exponent, c->lowest) - c->lowest];
    }
    for (int level = 0; level < (int)LEVELS; ++level) {
        if (c->on_level[level] == 0) continue;
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        CAROM_TRY(find_most(context, level, c));
        carom_arena_rewind(scratch, mark);
        carom_progress_add(context, 0, c->on_level[level]);
    }
    /* From the frame of the set to the unit that two sets have in common. */
    c->lowest -= balls->scale_exponent;
    for (uint64_t i = 0; i < c->count; ++i) c->items[i].exponent -= balls->scale_exponent;
    return CAROM_OK;
}

/* ---- Sum over items -------------------------------------------------------------------------- */

static void add_saturated(uint64_t *sum, uint64_t term) {
    if (__builtin_add_overflow(*sum, term, sum)) *sum = UINT64_MAX;
}

/* The sum of `to`'s M over all items of `from` and, for each, over the levels from its own up, or
 * only above its own. */
static uint64_t sum_partners(const crowd *from, const crowd *to, bool own_level) {
    uint64_t above[LEVELS + 1] = {0}, sum = 0;
    for (int level = (int)LEVELS; level-- > 0;) {
        above[level] = above[level + 1];
        add_saturated(&above[level], to->most[level]);
    }
    for (uint64_t i = 0; i < from->count; ++i) {
        int level = from->items[i].exponent - to->lowest + (own_level ? 0 : 1);
        /* For items below the lowest level of `to` all its levels are above. */
        if (level < (int)LEVELS) add_saturated(&sum, above[CAROM_MAX(level, 0)]);
    }
    return sum;
}

static uint64_t bound_two(const crowd *a, const crowd *b) {
    uint64_t bounds[2];
    for (int i = 0; i < 2; ++i) {
        bounds[i] = sum_partners(a, b, i == 0);
        add_saturated(&bounds[i], sum_partners(b, a, i == 1));
    }
    return CAROM_MIN(bounds[0], bounds[1]);
}

static uint64_t bound_one(const crowd *c) {
    uint64_t sum = 0, above = 0;
    for (int level = (int)LEVELS; level-- > 0;) {
        uint64_t alike, larger;
        CAROM_ASSERT(c->most[level] <= c->on_level[level]);
        if (c->on_level[level] == 0) continue;
        if (__builtin_mul_overflow(c->on_level[level], c->most[level] - 1, &alike) ||
            __builtin_mul_overflow(c->on_level[level], above, &larger))
            return UINT64_MAX;
        add_saturated(&sum, alike / 2);
        add_saturated(&sum, larger);
        add_saturated(&above, c->most[level]);
    }
    return sum;
}

carom_status carom_grid_bound(carom_context *context, const carom_grid_balls *a,
                              const carom_grid_balls *b, uint64_t *bound) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    crowd crowd_a, crowd_b;
    *bound = 0;
    carom_progress_begin(context, "bounding the candidates",
                         (uint64_t)a->count + (b != NULL ? b->count : 0));
    carom_status status = make_crowd(context, a, &crowd_a);
    if (status == CAROM_OK && b != NULL) status = make_crowd(context, b, &crowd_b);
    status = carom_progress_finish(context, status);
    if (status == CAROM_OK)
        *bound = b != NULL ? bound_two(&crowd_a, &crowd_b) : bound_one(&crowd_a);
    carom_arena_rewind(scratch, mark);
    return status;
}
