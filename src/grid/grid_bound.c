/* SPDX-License-Identifier: MIT */
/* An upper bound of the number of overlapping pairs of two sets of balls, for all poses.
 *
 * Balls do not change with the pose. Put the balls of each set into classes by radius. Let i be in
 * class c of A and j in class s of B, and let them overlap: their centres are at most R = r_c + r_s
 * apart, where r is the largest radius of a class. So, in B's own frame and in any pose, all
 * partners of i in class s have their centres in a ball of radius R around one point, and there are
 * at most M_B(s, R) of them: the most centres of the class that any ball of radius R contains. The
 * same holds with A and B exchanged, so of classes with n_c and n_s balls at most
 *
 *   min(n_c M_B(s, R), n_s M_A(c, R))
 *
 * pairs overlap, and the bound is the sum over all classes c and s. Within one set the pairs of a
 * class with itself are counted once, and no ball is its own partner: n_c (M - 1) / 2.
 *
 * M is computed from above (`most_near`). Space is divided into cells of edge 2 R, so a ball of
 * radius R meets 2 x 2 x 2 of them at most, and its centre is in the cube of edge 2 R in their
 * middle. Cubes are split into eight, and for each the centres within R of any of its points are
 * counted: no ball around a point of the cube contains more. Cubes that have few are not split
 * (branch and bound).
 *
 * R is increased by a thousandth against rounding. */
#include "grid/grid_bound.h"

#include "base/progress.h"
#include "geom/length.h"

/* Classes of radii: two in an octave, so that R is at most 1.41 times too large for a pair; 32
 * octaves, and the lowest class has all radii below 2^-32 of the largest. */
#define BOUND_CLASSES 64

/* How often a cube of edge 2 R is halved: to an edge of R / 8. Cubes with at most 1/16 more than
 * the most found are not split. Observed (candidates of cheburashka with itself): the bound is 51.5
 * per face; 58 with 3 halvings in 0.9 times the time, 47 with 5 in 1.4 times; 57 with a tolerance
 * of 1/4 in 0.8 times, 49 with 1/64 in 1.2 times. */
#define BOUND_SPLITS    4
#define BOUND_TOLERANCE 16

/* R is increased by this against rounding: that of float32 coordinates, up to 2 R in units of R, is
 * 2^-23, far below. */
#define GRID_BOUND_MARGIN (1.0 + 0x1p-10)

#define BOUND_LEAST_REACH   0x1p-30 /* R where coordinates are at most 1: int32 counts the cells */
#define BOUND_WORK_PER_LOOK 65536u  /* centres or cells between clock checks: some milliseconds */

#define BOUND_ROOT_OF_TWO 0x1.6a09e667f3bcdp0

/* ---- Counts by cell -------------------------------------------------------------------------- */

typedef struct grid_bound_cell {
    int32_t x, y, z;
    uint32_t count; /* 0: free */
} grid_bound_cell;

/* A hash table with open addressing, at most half full. */
typedef struct grid_bound_table {
    grid_bound_cell *cells;
    uint32_t *used; /* slots in the order they were taken */
    uint64_t used_count, mask;
} grid_bound_table;

static uint64_t grid_bound_slot_of(const grid_bound_table *t, int32_t x, int32_t y, int32_t z) {
    uint64_t xy = (uint64_t)(uint32_t)x << 32 | (uint32_t)y;
    uint64_t h = xy * 0x9E3779B97F4A7C15u ^ (uint64_t)(uint32_t)z * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ h >> 32) * 0xBF58476D1CE4E5B9u;
    uint64_t at = (h ^ h >> 29) & t->mask;
    for (; t->cells[at].count != 0; at = (at + 1) & t->mask)
        if (t->cells[at].x == x && t->cells[at].y == y && t->cells[at].z == z) break;
    return at;
}

static uint32_t count_at(const grid_bound_table *t, int32_t x, int32_t y, int32_t z) {
    return t->cells[grid_bound_slot_of(t, x, y, z)].count;
}

/* Returns the slot of the cell. */
static uint64_t grid_bound_add(grid_bound_table *t, int32_t x, int32_t y, int32_t z,
                               uint32_t count) {
    uint64_t at = grid_bound_slot_of(t, x, y, z);
    CAROM_ASSERT(2 * t->used_count <= t->mask + 1 && count != 0);
    grid_bound_cell *c = &t->cells[at];
    if (c->count == 0) t->used[t->used_count++] = (uint32_t)at;
    *c = (grid_bound_cell){x, y, z, c->count + count};
    return at;
}

static bool table_make(carom_arena *scratch, uint64_t most, grid_bound_table *t) {
    uint64_t size = 16;
    while (size < 2 * most) size *= 2;
    t->cells = size <= UINT32_MAX ? CAROM_ARENA_TAKE(scratch, grid_bound_cell, size) : NULL;
    t->used = CAROM_ARENA_TAKE(scratch, uint32_t, most);
    t->used_count = 0;
    t->mask = size - 1;
    if (t->cells != NULL) memset(t->cells, 0, size * sizeof(*t->cells));
    return t->cells != NULL && t->used != NULL;
}

static carom_status fail_table(carom_context *context, uint64_t most) {
    return carom_fail_memory(context, most * 3 * sizeof(grid_bound_cell), "a bound");
}

/* Adds each count to its cell and to the one before it along an axis. */
static carom_status grid_bound_spread(carom_context *context, const grid_bound_table *from,
                                      int axis, grid_bound_table *to) {
    if (!table_make(carom_scratch(context, 0), 2 * from->used_count, to))
        return fail_table(context, 2 * from->used_count);
    for (uint64_t i = 0; i < from->used_count; ++i) {
        if (i % BOUND_WORK_PER_LOOK == 0) CAROM_TRY(carom_progress_look(context));
        const grid_bound_cell *c = &from->cells[from->used[i]];
        (void)grid_bound_add(to, c->x, c->y, c->z, c->count);
        (void)grid_bound_add(to, axis == 0 ? c->x - 1 : c->x, axis == 1 ? c->y - 1 : c->y, c->z,
                             c->count);
    }
    return CAROM_OK;
}

/* ---- The most centres in a ball ------------------------------------------------------------- */

/* Centres around the middle of a cell, in units of R: floats, so that many are compared at once.
 * Their rounding is far below the thousandth. */
typedef struct nearby {
    float *x, *y, *z;
} nearby;

/* A search for the most centres of one class within R of a point. */
typedef struct grid_bound_search {
    carom_context *context;
    carom_vec3 *centres;       /* by cell */
    uint64_t *end;             /* by slot of `cells`: the end of the cell's centres */
    grid_bound_table cells;    /* centres of each cell */
    grid_bound_table squares;  /* centres of 2 x 2 cells, by the one with the least x and y */
    double reach;              /* R */
    nearby near[BOUND_SPLITS]; /* those near the cube of each depth */
    uint64_t found;            /* the most near a smallest cube */
    uint64_t most;             /* the most near any cube that was not split */
    uint64_t work;             /* centres looked at since the last clock check */
} grid_bound_search;

static float beyond(float x, float middle, float half) {
    float away = fabsf(x - middle) - half;
    return away > 0.0f ? away : 0.0f;
}

static bool grid_bound_is_near(const nearby *from, uint64_t i, const float middle[3], float half) {
    float x = beyond(from->x[i], middle[0], half), y = beyond(from->y[i], middle[1], half);
    float z = beyond(from->z[i], middle[2], half);
    return x * x + y * y + z * z <= 1.0f;
}

static uint64_t grid_bound_count_near(const nearby *from, uint64_t count, const float middle[3],
                                      float half) {
    uint64_t near = 0;
    for (uint64_t begin = 0; begin < count; begin += BOUND_WORK_PER_LOOK) {
        uint64_t end = CAROM_MIN(begin + BOUND_WORK_PER_LOOK, count);
        uint32_t some = 0;
        for (uint64_t i = begin; i < end; ++i)
            some += grid_bound_is_near(from, i, middle, half) ? 1 : 0;
        near += some;
    }
    return near;
}

static uint64_t copy_near(const nearby *from, uint64_t count, const float middle[3], float half,
                          const nearby *to) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; ++i) {
        to->x[kept] = from->x[i];
        to->y[kept] = from->y[i];
        to->z[kept] = from->z[i];
        kept += grid_bound_is_near(from, i, middle, half) ? 1 : 0;
    }
    return kept;
}

/* Counts the centres near each eighth of a cube, and splits those that may have the most.
 * Recursive to depth BOUND_SPLITS. */
static carom_status grid_bound_split(grid_bound_search *s, int depth, uint64_t count,
                                     const float middle[3], float half) {
    const nearby *here = &s->near[depth];
    s->work += count;
    if (s->work > BOUND_WORK_PER_LOOK) {
        s->work = 0;
        CAROM_TRY(carom_progress_look(s->context));
    }
    for (unsigned octant = 0; octant < 8; ++octant) {
        float quarter = 0.5f * half, at[3];
        for (unsigned k = 0; k < 3; ++k)
            at[k] = middle[k] + ((octant >> k & 1) != 0 ? quarter : -quarter);
        uint64_t kept = grid_bound_count_near(here, count, at, quarter);
        if (depth + 1 == BOUND_SPLITS) s->found = CAROM_MAX(kept, s->found);
        if (depth + 1 == BOUND_SPLITS || kept <= s->found + s->found / BOUND_TOLERANCE) {
            s->most = CAROM_MAX(kept, s->most);
        } else {
            uint64_t copied = copy_near(here, count, at, quarter, &s->near[depth + 1]);
            CAROM_ASSERT(copied == kept && kept <= count);
            CAROM_TRY(grid_bound_split(s, depth + 1, kept, at, quarter));
        }
    }
    return CAROM_OK;
}

/* Searches the cube of edge 2 R in the middle of 2 x 2 x 2 cells, the least of which is given. */
static carom_status grid_bound_search_block(grid_bound_search *s, int32_t x, int32_t y, int32_t z) {
    static const float origin[3] = {0.0f, 0.0f, 0.0f};
    double edge = 2.0 * s->reach, inverse = 1.0 / s->reach;
    carom_vec3 middle = {(double)(x + 1) * edge, (double)(y + 1) * edge, (double)(z + 1) * edge};
    uint64_t count = 0;
    for (int32_t k = 0; k < 8; ++k) {
        uint64_t slot = grid_bound_slot_of(&s->cells, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
        uint64_t end = s->cells.cells[slot].count == 0 ? 0 : s->end[slot];
        for (uint64_t i = end - s->cells.cells[slot].count; i < end; ++i) {
            carom_vec3 at = carom_vec_scale(carom_vec_sub(s->centres[i], middle), inverse);
            s->near[0].x[count] = (float)at.x;
            s->near[0].y[count] = (float)at.y;
            s->near[0].z[count++] = (float)at.z;
        }
    }
    return grid_bound_split(s, 0, count, origin, 1.0f);
}

/* Finds the fullest block of 2 x 2 x 2 cells or, where fullest is NULL, searches those that have
 * more centres than the most so far. Each is visited once, from its lowest layer with centres. */
static carom_status visit_blocks(grid_bound_search *s, grid_bound_cell *fullest) {
    for (uint64_t i = 0; i < s->squares.used_count; ++i) {
        const grid_bound_cell *c = &s->squares.cells[s->squares.used[i]];
        if (i % BOUND_WORK_PER_LOOK == 0) CAROM_TRY(carom_progress_look(s->context));
        uint32_t below = count_at(&s->squares, c->x, c->y, c->z - 1);
        uint32_t above = count_at(&s->squares, c->x, c->y, c->z + 1);
        for (int32_t d = 0; d <= (below == 0 ? 1 : 0); ++d) {
            uint32_t count = c->count + (d == 0 ? above : 0);
            if (fullest != NULL && count > fullest->count)
                *fullest = (grid_bound_cell){c->x, c->y, c->z - d, count};
            if (fullest == NULL && count > s->most)
                CAROM_TRY(grid_bound_search_block(s, c->x, c->y, c->z - d));
        }
    }
    return CAROM_OK;
}

static int32_t grid_bound_cell_of(double x, double inverse) {
    double at = x * inverse;
    int32_t whole = (int32_t)at;
    return whole - (at < (double)whole ? 1 : 0);
}

/* Counts centres by cell and puts them in the order of cells. */
static carom_status sort_centres(grid_bound_search *s, const carom_vec3 *from, uint64_t count) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    double inverse = 0.5 / s->reach;
    uint32_t *slots = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    s->centres = CAROM_ARENA_TAKE(scratch, carom_vec3, count);
    if (slots == NULL || s->centres == NULL || !table_make(scratch, count, &s->cells))
        return fail_table(s->context, count);
    for (uint64_t i = 0; i < count; ++i) {
        if (i % BOUND_WORK_PER_LOOK == 0) CAROM_TRY(carom_progress_look(s->context));
        slots[i] = (uint32_t)grid_bound_add(&s->cells, grid_bound_cell_of(from[i].x, inverse),
                                            grid_bound_cell_of(from[i].y, inverse),
                                            grid_bound_cell_of(from[i].z, inverse), 1);
    }
    s->end = CAROM_ARENA_TAKE(scratch, uint64_t, s->cells.mask + 1);
    if (s->end == NULL) return fail_table(s->context, count);
    for (uint64_t i = 0, sum = 0; i < s->cells.used_count; ++i) {
        uint32_t slot = s->cells.used[i];
        s->end[slot] = sum; /* the beginning, until its centres are entered */
        sum += s->cells.cells[slot].count;
    }
    for (uint64_t i = 0; i < count; ++i) s->centres[s->end[slots[i]]++] = from[i];
    uint64_t begin = 0; /* cells follow one another, each with its centres */
    for (uint64_t i = 0; i < s->cells.used_count; ++i) {
        uint32_t slot = s->cells.used[i];
        CAROM_ASSERT(s->end[slot] == begin + s->cells.cells[slot].count);
        begin = s->end[slot];
    }
    CAROM_ASSERT(begin == count);
    return CAROM_OK;
}

/* An upper bound of the centres that any ball of radius `reach` contains. Coordinates are at most 1
 * in size. */
static carom_status most_near(carom_context *context, const carom_vec3 *from, uint64_t count,
                              double reach, uint64_t *most) {
    carom_arena *scratch = carom_scratch(context, 0);
    grid_bound_search s = {.context = context, .reach = CAROM_MAX(reach, BOUND_LEAST_REACH)};
    grid_bound_table pairs;
    grid_bound_cell fullest = {0};
    *most = count;
    if (count <= 1 || reach >= 2.0) return CAROM_OK; /* a ball of radius 2 can contain the cube */
    CAROM_TRY(sort_centres(&s, from, count));
    CAROM_TRY(grid_bound_spread(context, &s.cells, 0, &pairs));
    CAROM_TRY(grid_bound_spread(context, &pairs, 1, &s.squares));
    CAROM_TRY(visit_blocks(&s, &fullest));
    for (int depth = 0; depth < BOUND_SPLITS; ++depth) {
        uint64_t room = (uint64_t)fullest.count + 1;
        float *xyz = CAROM_ARENA_TAKE(scratch, float, 3 * room);
        if (xyz == NULL) return fail_table(context, room);
        s.near[depth] = (nearby){xyz, xyz + room, xyz + 2 * room};
    }
    CAROM_TRY(grid_bound_search_block(&s, fullest.x, fullest.y, fullest.z));
    CAROM_TRY(visit_blocks(&s, NULL));
    CAROM_ASSERT(s.found >= 1 && s.found <= s.most && s.most <= count);
    *most = s.most;
    return CAROM_OK;
}

/* ---- Classes of one set ---------------------------------------------------------------------- */

/* Balls by class, the smallest first, in a unit in which coordinates and radii are at most 1. */
typedef struct grid_bound_classes {
    carom_vec3 *centres;
    uint64_t first[BOUND_CLASSES + 1]; /* of each class, in `centres` */
    double radius[BOUND_CLASSES];      /* the largest of each class */
    int unit;             /* lengths are 2^unit times those that two sets have in common */
    uint64_t class_count; /* classes that are not empty */
} grid_bound_classes;

/* Half octaves below 1. */
static int class_of(double radius) {
    int exponent = carom_exponent(radius); /* of radii at most 1: 0 or less */
    bool upper = radius * carom_power_of_two(-exponent) >= BOUND_ROOT_OF_TWO;
    int class = BOUND_CLASSES - 2 + 2 * exponent + (upper ? 1 : 0);
    return CAROM_MAX(0, CAROM_MIN(class, BOUND_CLASSES - 1));
}

/* The balls that count, as the set gives them, and the largest of their coordinates and radii. */
static carom_status grid_bound_list_balls(carom_context *context, const carom_grid_balls *balls,
                                          carom_ball *list, uint64_t *count, double *largest) {
    *count = 0;
    *largest = 0.0;
    for (uint32_t i = 0; i < balls->count; ++i) {
        if (i % BOUND_WORK_PER_LOOK == 0) CAROM_TRY(carom_progress_look(context));
        carom_ball ball = balls->ball(balls->user, i);
        if (!(ball.radius >= 0.0)) continue;
        double size = carom_vec_largest(ball.centre);
        size = CAROM_MAX(size, ball.radius);
        *largest = CAROM_MAX(size, *largest);
        list[(*count)++] = ball;
    }
    return CAROM_OK;
}

static carom_status make_classes(carom_context *context, const carom_grid_balls *balls,
                                 grid_bound_classes *c) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count, at[BOUND_CLASSES + 1] = {0};
    double largest;
    *c = (grid_bound_classes){.centres = CAROM_ARENA_TAKE(scratch, carom_vec3, balls->count)};
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_ball *list = CAROM_ARENA_TAKE(scratch, carom_ball, balls->count);
    if (c->centres == NULL || list == NULL)
        return carom_fail_memory(context, balls->count * sizeof(*list), "a bound");
    CAROM_TRY(grid_bound_list_balls(context, balls, list, &count, &largest));
    /* 2^exponent is above the largest, but at 2^1022 and above, where it may be half of it. */
    int exponent = CAROM_MIN(carom_exponent(largest) + 1, 1022);
    double unit = carom_power_of_two(-exponent);
    c->unit = balls->scale_exponent - exponent;
    for (uint64_t i = 0; i < count; ++i) {
        list[i].centre = carom_vec_scale(list[i].centre, unit);
        list[i].radius *= unit;
        ++at[class_of(list[i].radius) + 1];
    }
    for (int k = 0; k < BOUND_CLASSES; ++k) {
        c->class_count += at[k + 1] != 0;
        at[k + 1] += at[k];
    }
    CAROM_ASSERT(at[BOUND_CLASSES] == count);
    memcpy(c->first, at, sizeof(at));
    for (uint64_t i = 0; i < count; ++i) {
        int k = class_of(list[i].radius);
        c->centres[at[k]++] = list[i].centre;
        c->radius[k] = CAROM_MAX(list[i].radius, c->radius[k]);
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* ---- Sum over classes ------------------------------------------------------------------------ */

static uint64_t add_saturated(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t multiply_saturated(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* As an exponent of two: half of it is that of a normal number. */
#define BOUND_EXPONENT_MOST 2000

/* A length of one set's unit in that of another: 0 or infinite where they are too different. */
static double convert(double length, int from, int to) {
    int exponent = CAROM_MAX(-BOUND_EXPONENT_MOST, CAROM_MIN(to - from, BOUND_EXPONENT_MOST));
    return length * carom_power_of_two(exponent / 2) * carom_power_of_two(exponent - exponent / 2);
}

/* The most partners in class `to` of `of` of a ball in class `from` of `a`. */
static carom_status most_partners(carom_context *context, const grid_bound_classes *a, int from,
                                  const grid_bound_classes *of, int to, uint64_t *most) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t count = of->first[to + 1] - of->first[to];
    double reach =
        (convert(a->radius[from], a->unit, of->unit) + of->radius[to]) * GRID_BOUND_MARGIN;
    CAROM_TRY(most_near(context, of->centres + of->first[to], count, reach, most));
    carom_arena_rewind(scratch, mark);
    carom_progress_add(context, 0, count);
    return CAROM_OK;
}

/* Adds the pairs of class k of a and class l of b. */
static carom_status grid_bound_add_pairs(carom_context *context, const grid_bound_classes *a, int k,
                                         const grid_bound_classes *b, int l, uint64_t *bound) {
    uint64_t of_a = a->first[k + 1] - a->first[k], of_b = b->first[l + 1] - b->first[l], most;
    if (of_a == 0 || of_b == 0) return CAROM_OK;
    CAROM_TRY(most_partners(context, a, k, b, l, &most));
    uint64_t pairs = multiply_saturated(of_a, most);
    if (pairs > of_b) { /* from the other side there are at least of_b */
        CAROM_TRY(most_partners(context, b, l, a, k, &most));
        uint64_t other = multiply_saturated(of_b, most);
        pairs = CAROM_MIN(pairs, other);
    }
    CAROM_ASSERT(pairs >= 1 && pairs <= multiply_saturated(of_a, of_b));
    *bound = add_saturated(*bound, pairs);
    return CAROM_OK;
}

static carom_status bound_two(carom_context *context, const grid_bound_classes *a,
                              const grid_bound_classes *b, uint64_t *bound) {
    carom_progress_expect(context, b->class_count * a->first[BOUND_CLASSES] +
                                       a->class_count * b->first[BOUND_CLASSES]);
    for (int k = 0; k < BOUND_CLASSES; ++k)
        for (int l = 0; l < BOUND_CLASSES; ++l)
            CAROM_TRY(grid_bound_add_pairs(context, a, k, b, l, bound));
    return CAROM_OK;
}

static carom_status bound_one(carom_context *context, const grid_bound_classes *c,
                              uint64_t *bound) {
    carom_progress_expect(context, c->class_count * c->first[BOUND_CLASSES]);
    for (int k = 0; k < BOUND_CLASSES; ++k) {
        uint64_t count = c->first[k + 1] - c->first[k], most;
        if (count == 0) continue;
        CAROM_TRY(most_partners(context, c, k, c, k, &most));
        /* Counted from both sides; an even product of 64 bits is halved before it overflows. */
        uint64_t twice = multiply_saturated(count, most - 1);
        *bound = add_saturated(*bound, twice == UINT64_MAX ? twice : twice / 2);
        for (int l = k + 1; l < BOUND_CLASSES; ++l)
            CAROM_TRY(grid_bound_add_pairs(context, c, k, c, l, bound));
    }
    return CAROM_OK;
}

carom_status carom_grid_bound(carom_context *context, const carom_grid_balls *a,
                              const carom_grid_balls *b, uint64_t *bound) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    grid_bound_classes classes_a, classes_b;
    *bound = 0;
    carom_progress_begin(context, "bounding the candidates", 0);
    carom_status status = make_classes(context, a, &classes_a);
    if (status == CAROM_OK && b != NULL) status = make_classes(context, b, &classes_b);
    if (status == CAROM_OK)
        status = b != NULL ? bound_two(context, &classes_a, &classes_b, bound)
                           : bound_one(context, &classes_a, bound);
    status = carom_progress_finish(context, status);
    if (status != CAROM_OK) *bound = 0;
    carom_arena_rewind(scratch, mark);
    return status;
}
