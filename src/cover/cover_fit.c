/* SPDX-License-Identifier: MIT */
/* Where the balls of a cover are.
 *
 * A ball that reaches out of the solid by at most e is a ball inside the solid grown by e. So the
 * question for N balls is: the least e for which N balls inside the grown solid contain the solid.
 * Neither is there a ball larger than what its centre allows, nor does a ball that may be larger
 * cost anything: unlike enclosing balls of clusters, balls should lie deep inside and be large.
 *
 * 1. The solid is represented by points: of the surface, evenly by area, vertices, and of the
 *    inside. Candidates for centres are nodes inside and points of the surface.
 * 2. For a given e each candidate has the largest ball that e allows. The greedy method of set
 *    cover takes the ball with the most points that no ball contains yet. The least e for which N
 *    balls suffice is found by bisection.
 * 3. In turn, each point is assigned to the ball that it is deepest in, at the radii that the
 *    present e allows, and each ball moves to where the ball around its points reaches out least
 *    (as in Lloyd's method, with another cost than squares).
 * 4. Balls that others can replace move to those that reach out farthest.
 *
 * Everything is in terms of the distance on a grid (cover_field.h). The proof is not made here but
 * by cells (spheres_shares.c): what these find uncovered is added to the points. Each index of a
 * loop writes to elements of its own: the same bits for any number of threads. */
#include "base/progress.h"
#include "base/worker_state.h"
#include "cover/cover.h"

/* Constants of the search. What is observed below: covers by 64 balls of three closed meshes of
 * 6,000 to 13,000 faces (cheburashka, fandisk, spot), one thread. With the values here the worst
 * distance is 0.0395 of the longest side (geometric mean) after 2.6 s. The search is chaotic: any
 * change moves single covers by up to 15 % and the mean by 4 %, so that smaller differences mean
 * nothing; "(scatter)" says so. */

/* Floats of the widest vector: arrays are padded to a multiple of it. */
#define FIT_LANES 16u

/* Step of the grid of distances, of the edge of a cube with an N-th of the solid's box, N being the
 * number of balls. Observed: 0.24 is 12 % worse, 0.06 as good (scatter) in 1.5 times the time. */
#define FIT_FIELD_STEP 0.12

/* Nodes along the longest side. The least applies below some 14 balls in a cube, whose grid would
 * miss the shape of the solid. The most bounds memory: 200^3 floats with the border, 32 MB. */
#define FIT_LEAST_NODES 20.0
#define FIT_MOST_NODES  176.0

/* How far the grid reaches beyond the bounds, of the longest side: about as far as 64 balls reach
 * out. Farther points get the border's value and the way from there. Observed: 0.02 is 7 %
 * worse, 0.12 as good (scatter). */
#define FIT_FIELD_BORDER 0.06

/* Sides of the box count at least this much of the longest, so that sheets and rods have cubes. */
#define FIT_LEAST_SIDE 0.1

/* Factor by which the step falls in the search for its size, which need not be exact. */
#define FIT_STEP_RATIO 0.9

/* Points: of the surface and of the inside, as a number per ball and one for all. What no point
 * stands for is found by the cells of the proof and makes balls larger: by 5 to 14 % where there
 * were 40 points per ball and none were added later. Observed: 100 per ball as good (scatter), 900
 * too, in 1.5 times the time; 10 or 160 inside, 1,000 or 28,000 for all (scatter). */
#define FIT_POINTS_PER_BALL 300u
#define FIT_LEAST_POINTS    7000u
#define FIT_INNER_PER_BALL  40u
#define FIT_LEAST_INNER     400u

/* Candidates for centres inside. Observed: half of both as good (scatter), twice of both 7 % better
 * in 1.2 times the time: the greedy method reads all of them for each ball. */
#define FIT_CANDIDATES_PER_BALL 10u
#define FIT_LEAST_CANDIDATES    600u

/* The greedy method has every n-th point, and no more than some: bits of the points per candidate
 * are then 56 MB at most (27,000 candidates of 2 KiB, for 1,024 balls). Observed: 15 and 60 as good
 * (scatter), 15 in 1.3 times the time. */
#define FIT_GREEDY_STRIDE      30u
#define FIT_MOST_GREEDY_POINTS 16384u

/* Every n-th of those is a candidate on the surface. Observed: 1 and 9 as good
 * (scatter), 1 in 1.5 times the time. */
#define FIT_CANDIDATE_STRIDE 3u

/* Rounds of assigning and fitting: at first, after cells added points, after balls were added, and
 * after balls were moved. Observed: at most half and twice of each as good (scatter). */
#define FIT_ROUNDS              8
#define FIT_ROUNDS_LATER        4
#define FIT_ROUNDS_AFTER_ADDING 3
#define FIT_ROUNDS_AFTER_MOVING 4

/* Moves in turn that make nothing better, after which no more are tried: this many, and for few
 * balls, which take little time, a number divided by theirs; once cells have added points.
 * Observed for 64 balls, which have 2 more: nothing changes from 1 to 6 of the first. */
#define FIT_LEAST_FAILURES    3
#define FIT_FAILURES_BY_BALLS 128u
#define FIT_FAILURES_LATER    1

/* The reach at which balls are moved, of the best so far: a ball is not needed if the others
 * contain its points at a smaller one. Observed: 0.9 is 4 % worse, 1 is 3 % (scatter). */
#define FIT_MOVE_REACH 0.95

/* Parts of all balls that move at once at first, and that are added at once: one in n. */
#define FIT_BALLS_PER_MOVED 12u
#define FIT_BALLS_PER_ADDED 4u

/* Room for the points that cells add, times the number of the first points. Observed: 1 (none) is
 * 4 % worse, 4 the same. */
#define FIT_POINT_ROOM 2u

/* Multiples of these, less the whole part, fill the square evenly: 1 / p and 1 / p^2 for the
 * plastic number p, the root of x^3 = x + 1 (Roberts 2018). */
#define FIT_SEQUENCE_U 0.7548776662466927
#define FIT_SEQUENCE_V 0.5698402909980532

typedef struct cover_fit_point_set {
    float *x, *y, *z;
    uint64_t count, capacity;
} cover_fit_point_set;

struct carom_cover_fitting {
    carom_context *context;
    const carom_spheres_mesh *mesh;
    carom_cover_field field;
    carom_cover_spread spread;
    cover_fit_point_set points, candidates;
    uint32_t most;          /* balls */
    uint64_t first_points;  /* before cells add some */
    uint64_t greedy_points; /* every n-th of these is for the greedy method */
    uint64_t greedy_stride;

    /* Of the balls at work. */
    uint32_t count;
    carom_vec3 *centres, *best_centres;
    double *radii, *allowed, *outside;
    uint64_t *sets, *fitted, *best_fitted; /* hashes: of each ball's points; of those it was fitted
                                              to, and in the best state */
    double *best_radii, *best_outside;
    uint32_t *ranks;
    double *needs; /* how far points of a ball are out of others */
    double grown;  /* e */

    /* Of the points. */
    uint32_t *owners, *first; /* where each ball's points begin in `sorted` */
    cover_fit_point_set sorted;
    float *slack, *second;   /* how far out of the deepest ball, and of the next */
    carom_cover_floats deep; /* the balls with the radii allowed */

    /* Of the greedy method. */
    uint64_t *bits, *uncovered; /* words per candidate */
    uint64_t words;
    uint32_t *gains, *chosen;
};

static carom_vec3 point_at(const cover_fit_point_set *set, uint64_t i) {
    return carom_vec((double)set->x[i], (double)set->y[i], (double)set->z[i]);
}

static void add_point(cover_fit_point_set *set, carom_vec3 p) {
    if (set->count == set->capacity) return;
    set->x[set->count] = (float)p.x;
    set->y[set->count] = (float)p.y;
    set->z[set->count++] = (float)p.z;
}

static double cover_fit_square(double x) {
    return x * x;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static double cover_fit_area_of(const carom_triangle *t) {
    return 0.5 * carom_vec_length(carom_vec_cross(carom_vec_sub(t->corner[1], t->corner[0]),
                                                  carom_vec_sub(t->corner[2], t->corner[0])));
}

/* Points of the surface, evenly by area; within triangles by a sequence of low discrepancy
 * (multiples of the powers of the plastic number). */
static void add_surface(carom_cover_fitting *f, cover_fit_point_set *set, uint64_t wanted) {
    const carom_spheres_mesh *mesh = f->mesh;
    double area = 0.0, so_far = 0.0, u = 0.5, v = 0.5;
    for (uint32_t i = 0; i < mesh->triangle_count; ++i) {
        carom_triangle t = carom_spheres_mesh_triangle(mesh, i);
        area += cover_fit_area_of(&t);
    }
    double step = area / (double)wanted, next = 0.5 * step;
    for (uint32_t i = 0; i < mesh->triangle_count && step > 0.0; ++i) {
        carom_triangle t = carom_spheres_mesh_triangle(mesh, i);
        so_far += cover_fit_area_of(&t);
        for (; next < so_far; next += step) {
            u += FIT_SEQUENCE_U;
            v += FIT_SEQUENCE_V;
            u -= floor(u);
            v -= floor(v);
            double a = u + v > 1.0 ? 1.0 - u : u, b = u + v > 1.0 ? 1.0 - v : v;
            carom_vec3 p = t.corner[0];
            p = carom_vec_add(p, carom_vec_scale(carom_vec_sub(t.corner[1], t.corner[0]), a));
            p = carom_vec_add(p, carom_vec_scale(carom_vec_sub(t.corner[2], t.corner[0]), b));
            add_point(set, p);
        }
    }
}

static void add_vertices(carom_cover_fitting *f, cover_fit_point_set *set, uint64_t wanted) {
    uint64_t corners = 3 * (uint64_t)f->mesh->triangle_count;
    uint64_t stride = corners / wanted + 1;
    for (uint64_t i = 0; i < corners; i += stride) {
        carom_triangle t = carom_spheres_mesh_triangle(f->mesh, (uint32_t)(i / 3));
        add_point(set, t.corner[i % 3]);
    }
}

static uint64_t cover_fit_mix(uint64_t x) {
    x = (x ^ (x >> 31)) * UINT64_C(0x9E3779B97F4A7C15);
    return x ^ (x >> 29);
}

/* Nodes of the grid inside the solid, every n-th in no order. */
static void cover_fit_add_inner(carom_cover_fitting *f, cover_fit_point_set *set, uint64_t wanted,
                                bool surely) {
    const carom_cover_field *field = &f->field;
    carom_bvh_found found = {0};
    uint64_t row = field->counts[0], plane = row * field->counts[1];
    uint64_t nodes = plane * field->counts[2], inside = 0;
    for (uint64_t i = 0; i < nodes; ++i) inside += field->values[i] < 0.0f;
    uint64_t stride = inside / wanted + 1;
    for (uint64_t i = 0; i < nodes; ++i) {
        if (!(field->values[i] < 0.0f) || cover_fit_mix(i) % stride != 0) continue;
        carom_vec3 p = carom_vec(field->low[0] + (double)(i % row) * field->step,
                                 field->low[1] + (double)(i % plane / row) * field->step,
                                 field->low[2] + (double)(i / plane) * field->step);
        if (!surely || f->mesh->balanced || carom_spheres_mesh_surely_inside(f->mesh, p, &found))
            add_point(set, p);
    }
}

/* Candidates below points of the surface, at depths in units of e. Where the centre is d below the
 * faces of a cube, the ball that reaches out by e has the radius d + e. It contains a corner, which
 * is sqrt(3) d away, up to d = e / (sqrt(3) - 1) = 1.4 e, and a point of an edge up to
 * d = e / (sqrt(2) - 1) = 2.4 e. In sheets it is not deep at all. */
#define FIT_DEPTHS 3u
static const double depths[FIT_DEPTHS] = {0.0, 1.4, 2.4};

static uint64_t candidate_count(const carom_cover_fitting *f) {
    return f->candidates.count + FIT_DEPTHS * (f->greedy_points / FIT_CANDIDATE_STRIDE);
}

static carom_vec3 candidate_at(const carom_cover_fitting *f, uint64_t i) {
    if (i < f->candidates.count) return point_at(&f->candidates, i);
    i -= f->candidates.count;
    carom_vec3 p = point_at(&f->points, i / FIT_DEPTHS * f->greedy_stride * FIT_CANDIDATE_STRIDE),
               g;
    (void)carom_cover_field_at(&f->field, p, &g);
    double length = carom_vec_length(g), depth = depths[i % FIT_DEPTHS] * f->grown;
    return length > 0.0 ? carom_vec_sub(p, carom_vec_scale(g, depth / length)) : p;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

static bool take_set(carom_arena *scratch, cover_fit_point_set *set, uint64_t capacity) {
    uint64_t padded = (capacity / FIT_LANES + 1) * FIT_LANES; /* vectors read and write whole */
    set->x = CAROM_ARENA_TAKE(scratch, float, padded);
    set->y = CAROM_ARENA_TAKE(scratch, float, padded);
    set->z = CAROM_ARENA_TAKE(scratch, float, padded);
    set->count = 0;
    set->capacity = capacity;
    if (set->x == NULL || set->y == NULL || set->z == NULL) return false;
    memset(set->x, 0, padded * sizeof(float));
    memset(set->y, 0, padded * sizeof(float));
    memset(set->z, 0, padded * sizeof(float));
    return true;
}

static double field_step(const carom_spheres_mesh *mesh, uint32_t count) {
    const double sides[3] = {mesh->high.x - mesh->low.x, mesh->high.y - mesh->low.y,
                             mesh->high.z - mesh->low.z};
    double longest = CAROM_MAX(CAROM_MAX(sides[0], sides[1]), sides[2]), volume = 1.0;
    for (int k = 0; k < 3; ++k) volume *= CAROM_MAX(sides[k], FIT_LEAST_SIDE * longest);
    double step = longest / FIT_LEAST_NODES, least = longest / FIT_MOST_NODES;
    /* The cube root of volume / count, from above: only a rough size is needed. */
    while (step > least &&
           cover_fit_square(step / FIT_FIELD_STEP) * (step / FIT_FIELD_STEP) * count > volume)
        step *= FIT_STEP_RATIO;
    return step;
}

carom_status carom_cover_fit_make_field(const carom_spheres_mesh *mesh, uint32_t count,
                                        carom_cover_field *field) {
    double longest = CAROM_MAX(CAROM_MAX(mesh->high.x - mesh->low.x, mesh->high.y - mesh->low.y),
                               mesh->high.z - mesh->low.z);
    return carom_cover_field_make(mesh, field_step(mesh, count), FIT_FIELD_BORDER * longest, field);
}

const carom_cover_field *carom_cover_fit_field(const carom_cover_fitting *f) {
    return &f->field;
}

carom_status carom_cover_fit_begin(const carom_spheres_mesh *mesh, uint32_t count,
                                   carom_cover_fitting **fitting) {
    carom_context *context = mesh->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_cover_fitting *f = CAROM_ARENA_TAKE(scratch, carom_cover_fitting, 1);
    if (f == NULL) return carom_fail_memory(context, sizeof(*f), "a search for balls");
    *f = (carom_cover_fitting){.context = context, .mesh = mesh, .most = count};
    CAROM_TRY(carom_cover_fit_make_field(mesh, count, &f->field));
    uint64_t surface = (uint64_t)FIT_POINTS_PER_BALL * count + FIT_LEAST_POINTS;
    uint64_t inner = (uint64_t)FIT_INNER_PER_BALL * count + FIT_LEAST_INNER;
    uint64_t candidates = (uint64_t)FIT_CANDIDATES_PER_BALL * count + FIT_LEAST_CANDIDATES;
    uint64_t points = (2 * surface + 2 * inner) * FIT_POINT_ROOM;
    bool good = take_set(scratch, &f->points, points) &&
                take_set(scratch, &f->candidates, 2 * candidates) &&
                take_set(scratch, &f->sorted, points);
    if (good) {
        add_surface(f, &f->points, surface);
        add_vertices(f, &f->points, surface / 2);
        cover_fit_add_inner(f, &f->points, inner, true);
        cover_fit_add_inner(f, &f->candidates, candidates, false);
    }
    f->first_points = f->points.count;
    f->greedy_stride = CAROM_MAX(FIT_GREEDY_STRIDE, f->points.count / FIT_MOST_GREEDY_POINTS + 1);
    f->greedy_points = f->points.count / f->greedy_stride;
    candidates = candidate_count(f);
    f->words = (f->greedy_points + 63) / 64;
    carom_vec3 *vectors = CAROM_ARENA_TAKE(scratch, carom_vec3, 2 * (uint64_t)count);
    double *doubles = CAROM_ARENA_TAKE(scratch, double, 6 * (uint64_t)count);
    uint64_t *hashes = CAROM_ARENA_TAKE(scratch, uint64_t, 3 * (uint64_t)count);
    uint32_t *numbers = CAROM_ARENA_TAKE(scratch, uint32_t, 3 * (uint64_t)count + 1);
    f->deep.x = CAROM_ARENA_TAKE(scratch, float, 4 * (uint64_t)count);
    f->owners = CAROM_ARENA_TAKE(scratch, uint32_t, points + FIT_LANES);
    f->slack = CAROM_ARENA_TAKE(scratch, float, points + FIT_LANES);
    f->second = CAROM_ARENA_TAKE(scratch, float, points + FIT_LANES);
    f->bits = CAROM_ARENA_TAKE(scratch, uint64_t, (candidates + 1) * f->words);
    f->gains = CAROM_ARENA_TAKE(scratch, uint32_t, candidates);
    if (!good || vectors == NULL || doubles == NULL || hashes == NULL || numbers == NULL ||
        f->deep.x == NULL || f->owners == NULL || f->slack == NULL || f->second == NULL ||
        f->bits == NULL || f->gains == NULL)
        return carom_fail_memory(context, points * 36 + candidates * f->words * 8,
                                 "a search for balls");
    f->centres = vectors;
    f->best_centres = vectors + count;
    f->radii = doubles;
    f->allowed = doubles + count;
    f->outside = doubles + 2 * (uint64_t)count;
    f->best_radii = doubles + 3 * (uint64_t)count;
    f->best_outside = doubles + 4 * (uint64_t)count;
    f->needs = doubles + 5 * (uint64_t)count;
    f->sets = hashes;
    f->fitted = hashes + count;
    f->best_fitted = hashes + 2 * (uint64_t)count;
    f->ranks = numbers;
    f->chosen = numbers + count;
    f->first = numbers + 2 * (uint64_t)count;
    f->uncovered = f->bits + candidates * f->words;
    f->deep.y = f->deep.x + count;
    f->deep.z = f->deep.y + count;
    f->deep.radius = f->deep.z + count;
    carom_cover_spread_make(&f->spread);
    *fitting = f;
    return CAROM_OK;
}

/* ---- Set cover ------------------------------------------------------------------------------- */

static carom_status allow_candidates(void *argument, carom_range range) {
    carom_cover_fitting *f = argument;
    uint64_t points = f->greedy_points;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_vec3 c = candidate_at(f, i);
        double r = carom_cover_field_radius(&f->field, &f->spread, c, f->grown, 0.0);
        uint64_t *bits = f->bits + i * f->words;
        f->gains[i] = 0;
        for (uint64_t w = 0; w < f->words; ++w) bits[w] = 0;
        float limit = (float)cover_fit_square(r), cx = (float)c.x, cy = (float)c.y, cz = (float)c.z;
        for (uint64_t k = 0; k < points; ++k) {
            uint64_t at = k * f->greedy_stride;
            float x = f->points.x[at] - cx, y = f->points.y[at] - cy, z = f->points.z[at] - cz;
            uint64_t bit = x * x + y * y + z * z <= limit;
            bits[k / 64] |= bit << k % 64;
            f->gains[i] += (uint32_t)bit;
        }
    }
    return CAROM_OK;
}

static uint32_t gain_of(const carom_cover_fitting *f, uint64_t candidate) {
    const uint64_t *bits = f->bits + candidate * f->words;
    uint32_t gain = 0;
    for (uint64_t w = 0; w < f->words; ++w)
        gain += (uint32_t)__builtin_popcountll(bits[w] & f->uncovered[w]);
    return gain;
}

/* Takes candidates with the radii that `grown` allows until all points are covered; *count is more
 * than `most` if that many do not suffice. */
static carom_status cover_greedily(carom_cover_fitting *f, double grown, uint32_t most,
                                   uint32_t *count) {
    uint64_t points = f->greedy_points, left = points;
    uint64_t candidates = candidate_count(f);
    f->grown = grown;
    CAROM_TRY(carom_parallel_for(f->context, candidate_count(f), 16, allow_candidates, f));
    for (uint64_t w = 0; w < f->words; ++w) f->uncovered[w] = 0;
    for (uint64_t k = 0; k < points; ++k) f->uncovered[k / 64] |= UINT64_C(1) << k % 64;
    for (*count = 0; left != 0; ++*count) {
        uint64_t best = 0;
        for (;;) { /* gains only fall: one that is computed anew and still the largest is it */
            for (uint64_t i = 0; i < candidates; ++i)
                if (f->gains[i] > f->gains[best]) best = i;
            uint32_t gain = gain_of(f, best);
            if (gain == f->gains[best]) break;
            f->gains[best] = gain;
        }
        if (f->gains[best] == 0 || *count == most) {
            *count = most + 1;
            return CAROM_OK;
        }
        CAROM_ASSERT(f->gains[best] <= left);
        left -= f->gains[best];
        f->chosen[*count] = (uint32_t)best;
        for (uint64_t w = 0; w < f->words; ++w) f->uncovered[w] &= ~f->bits[best * f->words + w];
    }
    return CAROM_OK;
}

static void take_chosen(carom_cover_fitting *f, uint32_t count) {
    f->count = count;
    for (uint32_t k = 0; k < count; ++k) f->centres[k] = candidate_at(f, f->chosen[k]);
}

/* Bisection for the least e. It begins between bounds in the frame, where the solid is 1/2 to 1
 * long: below the least, a thirtieth of the finest grid's step, the grid says nothing; 1 suffices
 * but for the gaps of the grid, and is doubled up to the most where it does not. It ends at a ratio
 * that fitting makes up for. Observed: 1.02 is 8 % worse, 1.3 is 4 % better (scatter). */
#define FIT_LEAST_REACH 1e-4
#define FIT_FIRST_REACH 1.0
#define FIT_MOST_REACH  8.0
#define FIT_REACH_RATIO 1.08

static carom_status begin_greedily(carom_cover_fitting *f, uint32_t count) {
    double low = FIT_LEAST_REACH, high = FIT_FIRST_REACH;
    uint32_t used = 0;
    f->count = 0;
    while (high / low > FIT_REACH_RATIO || f->count == 0) {
        double middle = sqrt(low * high);
        if (high / low <= FIT_REACH_RATIO) middle = high *= 2.0; /* nothing sufficed yet */
        CAROM_TRY(carom_progress_look(f->context));
        CAROM_TRY(cover_greedily(f, middle, count, &used));
        if (used <= count) {
            take_chosen(f, used);
            high = middle;
        } else {
            low = middle;
        }
        if (high > FIT_MOST_REACH) break;
    }
    f->grown = high;
    return CAROM_OK;
}

/* ---- Alternation ----------------------------------------------------------------------------- */

static carom_status allow_balls(void *argument, carom_range range) {
    carom_cover_fitting *f = argument;
    for (uint64_t k = range.begin; k < range.end; ++k)
        f->allowed[k] =
            carom_cover_field_radius(&f->field, &f->spread, f->centres[k], f->grown, 0.0);
    return CAROM_OK;
}

/* The same, no less than what the points of the balls need. */
static carom_status widen_balls(void *argument, carom_range range) {
    carom_cover_fitting *f = argument;
    for (uint64_t k = range.begin; k < range.end; ++k)
        f->allowed[k] =
            carom_cover_field_radius(&f->field, &f->spread, f->centres[k], f->grown, f->radii[k]);
    return CAROM_OK;
}

static carom_status assign_points(void *argument, carom_range range) {
    carom_cover_fitting *f = argument;
    carom_cover_floats points = {f->points.x, f->points.y, f->points.z, NULL};
    CAROM_CPU_CALL(f->context, carom_cover_deepest)
    (&points, range.begin, range.end, &f->deep, f->count, f->owners, f->slack, f->second);
    return CAROM_OK;
}

/* Lists the points of each ball. */
static void cover_fit_list_points(carom_cover_fitting *f) {
    uint32_t *first = f->first, count = f->count;
    for (uint32_t k = 0; k <= count; ++k) first[k] = 0;
    for (uint32_t k = 0; k < count; ++k) f->sets[k] = 1;
    for (uint64_t i = 0; i < f->points.count; ++i) {
        CAROM_ASSERT(f->owners[i] < count && f->slack[i] <= f->second[i]);
        ++first[f->owners[i]];
        f->sets[f->owners[i]] += cover_fit_mix(i + 1);
    }
    uint32_t sum = 0;
    for (uint32_t k = 0; k <= count; ++k) {
        uint32_t here = k < count ? first[k] : 0;
        first[k] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < f->points.count; ++i) {
        uint32_t to = first[f->owners[i]]++;
        f->sorted.x[to] = f->points.x[i];
        f->sorted.y[to] = f->points.y[i];
        f->sorted.z[to] = f->points.z[i];
    }
    for (uint32_t k = count; k > 0; --k) first[k] = first[k - 1];
    first[0] = 0;
    CAROM_ASSERT(sum == f->points.count && first[count] == sum);
}

/* Points and centres are float32, rounded by up to 2^-25 of coordinates of about 1: sixteen times
 * that, relative to a radius of 0.5. Cells prove what is covered, so that less would do. */
#define FIT_POINT_ROUNDING 1e-6

/* The radius at which a ball around c contains its points; a little more, as they are rounded. */
static double radius_around(const carom_cover_fitting *f, uint32_t ball, carom_vec3 c) {
    carom_cover_floats points = {f->sorted.x, f->sorted.y, f->sorted.z, NULL};
    const float at[3] = {(float)c.x, (float)c.y, (float)c.z};
    float far = CAROM_CPU_CALL(f->context, carom_cover_farthest)(&points, f->first[ball],
                                                                 f->first[ball + 1], at);
    return sqrt((double)far) * (1.0 + FIT_POINT_ROUNDING);
}

/* Steps of a ball, of its radius: the first, the longest and the last one, and the factors after a
 * step that led to a better position and after none did. Observed: 0.05 and 0.2 at first, 0.1 and
 * 0.4 at most as good (scatter); 0.02 at last 1 % worse in 0.8 times the time, 0.001 as good in
 * 1.2. */
#define FIT_FIRST_STEP   0.10
#define FIT_LONGEST_STEP 0.20
#define FIT_LAST_STEP    0.005
#define FIT_STEP_GROWTH  1.5
#define FIT_STEP_FALL    0.5

/* Moves a ball to where it contains its points and reaches out least, by trying steps in the twelve
 * directions of an icosahedron. */
static carom_status fit_balls(void *argument, carom_range range) {
    /* The vertices of an icosahedron: (0, 1, p) and its like over their length, for the golden
     * ratio p. */
    static const double g = 0.85065080835203999, h = 0.52573111211913359;
    const carom_vec3 directions[12] = {{0, h, g},  {0, -h, -g}, {h, g, 0},  {-h, -g, 0},
                                       {g, 0, h},  {-g, 0, -h}, {0, -h, g}, {0, h, -g},
                                       {-h, g, 0}, {h, -g, 0},  {g, 0, -h}, {-g, 0, h}};
    carom_cover_fitting *f = argument;
    for (uint64_t k = range.begin; k < range.end; ++k) {
        uint32_t ball = (uint32_t)k;
        carom_vec3 c = f->centres[k];
        if (f->fitted[k] == f->sets[k]) continue; /* nothing has changed */
        f->fitted[k] = f->sets[k];
        double r = radius_around(f, ball, c);
        carom_vec3 farthest = carom_vec(0.0, 0.0, 1.0), there;
        double out = carom_cover_field_outside(&f->field, &f->spread, c, r, &farthest);
        int last = 0;
        for (double step = FIT_FIRST_STEP * r; step > FIT_LAST_STEP * r;) {
            bool moved = false;
            for (int i = 0; i < 12 && !moved; ++i) {
                int direction = (last + i) % 12;
                carom_vec3 d = carom_vec_add(c, carom_vec_scale(directions[direction], step));
                double radius = radius_around(f, ball, d);
                /* Mostly the point that was farthest is still too far. */
                carom_vec3 p = carom_vec_add(d, carom_vec_scale(farthest, radius));
                if (carom_cover_field_at(&f->field, p, NULL) >= out) continue;
                double value = carom_cover_field_outside(&f->field, &f->spread, d, radius, &there);
                if (value >= out) continue;
                moved = true;
                last = direction;
                c = d;
                r = radius;
                out = value;
                farthest = there;
            }
            if (!moved)
                step *= FIT_STEP_FALL;
            else if (step < FIT_LONGEST_STEP * r)
                step *= FIT_STEP_GROWTH;
        }
        f->centres[k] = c;
        f->radii[k] = r;
        f->outside[k] = out;
    }
    return CAROM_OK;
}

static double worst_of(const carom_cover_fitting *f) {
    double worst = 0.0;
    for (uint32_t k = 0; k < f->count; ++k) worst = CAROM_MAX(f->outside[k], worst);
    return worst;
}

#define FIT_POINTS_PER_RANGE 512 /* each is compared with all balls */

static carom_status assign(carom_cover_fitting *f) {
    CAROM_TRY(carom_parallel_for(f->context, f->count, 4, allow_balls, f));
    for (uint32_t k = 0; k < f->count; ++k) {
        f->deep.x[k] = (float)f->centres[k].x;
        f->deep.y[k] = (float)f->centres[k].y;
        f->deep.z[k] = (float)f->centres[k].z;
        f->deep.radius[k] = (float)f->allowed[k];
    }
    CAROM_TRY(
        carom_parallel_for(f->context, f->points.count, FIT_POINTS_PER_RANGE, assign_points, f));
    cover_fit_list_points(f);
    return CAROM_OK;
}

/* What is to be small: the worst reach first; among nearly equal ones a sum of high powers, in
 * which those count that are nearly as far. */
typedef struct score {
    double worst, sum;
} score;

static score score_of(const carom_cover_fitting *f) {
    score s = {worst_of(f), 0.0};
    for (uint32_t k = 0; k < f->count; ++k) {
        double x = s.worst > 0.0 ? f->outside[k] : 0.0;
        x = x > 0.0 ? x * x : 0.0;
        x *= x;
        s.sum += x * x;
    }
    return s;
}

/* Ratio of scores that count as equal, so that rounds do not go on for nothing: a tenth of the
 * tolerance at which balls grow (cover_field.c). Observed: 1 the same, 1.02 is 5 % worse. */
#define FIT_SCORE_RATIO 1.002

static bool cover_fit_is_better(score a, score b) {
    return a.worst * FIT_SCORE_RATIO < b.worst ||
           (a.worst < b.worst * FIT_SCORE_RATIO && a.sum * FIT_SCORE_RATIO < b.sum);
}

static void cover_fit_keep(carom_cover_fitting *f) {
    for (uint32_t k = 0; k < f->count; ++k) {
        f->best_centres[k] = f->centres[k];
        f->best_fitted[k] = f->fitted[k];
        f->best_radii[k] = f->radii[k];
        f->best_outside[k] = f->outside[k];
    }
}

static void cover_fit_restore(carom_cover_fitting *f) {
    for (uint32_t k = 0; k < f->count; ++k) {
        f->centres[k] = f->best_centres[k];
        f->fitted[k] = f->best_fitted[k];
        f->radii[k] = f->best_radii[k];
        f->outside[k] = f->best_outside[k];
    }
    f->grown = worst_of(f);
}

/* Alternates until it does not get better; the best state is kept, not restored. */
static carom_status alternate(carom_cover_fitting *f, int rounds, score *best, bool *better) {
    *better = false;
    for (int i = 0; i < rounds; ++i) {
        CAROM_TRY(carom_progress_look(f->context));
        CAROM_TRY(assign(f));
        CAROM_TRY(carom_parallel_for(f->context, f->count, 1, fit_balls, f));
        score now = score_of(f);
        if (cover_fit_is_better(now, *best)) {
            CAROM_ASSERT(now.worst < best->worst * FIT_SCORE_RATIO);
            *better = true;
            *best = now;
            cover_fit_keep(f);
        }
        f->grown = now.worst;
    }
    return CAROM_OK;
}

/* ---- Moving balls ---------------------------------------------------------------------------- */

/* How far the points of each ball are out of all others; -infinite: it has none. */
static void find_needs(carom_cover_fitting *f) {
    for (uint32_t k = 0; k < f->count; ++k) f->needs[k] = -HUGE_VAL;
    for (uint64_t i = 0; i < f->points.count; ++i) {
        double *need = &f->needs[f->owners[i]];
        *need = CAROM_MAX((double)f->second[i], *need);
    }
}

/* Where the new ball of a divided one is looked for: at tenths of the way from the farthest point
 * to the centre, up to half of it. */
#define FIT_WAY_STEP  0.1
#define FIT_WAY_STEPS 5

/* Divides a ball: the other one takes the side of its farthest point. */
static void cover_fit_divide(carom_cover_fitting *f, uint32_t from, uint32_t to) {
    carom_vec3 c = f->centres[from], far = c;
    double most = -1.0;
    for (uint32_t i = f->first[from]; i < f->first[from + 1]; ++i) {
        carom_vec3 p = point_at(&f->sorted, i), d = carom_vec_sub(p, c);
        double apart = carom_vec_dot(d, d);
        if (apart <= most) continue;
        most = apart;
        far = p;
    }
    /* Where on the way it contains that point best. */
    carom_vec3 d = carom_vec_sub(c, far);
    double best = -HUGE_VAL, length = carom_vec_length(d);
    for (int i = 0; i <= FIT_WAY_STEPS; ++i) {
        double part = FIT_WAY_STEP * i;
        carom_vec3 p = carom_vec_add(far, carom_vec_scale(d, part));
        double deep =
            carom_cover_field_radius(&f->field, &f->spread, p, f->grown, 0.0) - part * length;
        if (deep <= best) continue;
        best = deep;
        f->centres[to] = p;
    }
    f->fitted[from] = f->fitted[to] = 0;
}

/* The balls by falling reach, in `ranks`. */
static void rank_balls(carom_cover_fitting *f) {
    for (uint32_t k = 0; k < f->count; ++k) { /* by insertion: nearly sorted from call to call */
        uint32_t at = k;
        for (; at > 0 && f->outside[f->ranks[at - 1]] < f->outside[k]; --at)
            f->ranks[at] = f->ranks[at - 1];
        f->ranks[at] = k;
    }
    for (uint32_t i = 1; i < f->count; ++i)
        CAROM_ASSERT(f->outside[f->ranks[i]] <= f->outside[f->ranks[i - 1]]);
}

/* Uses up all balls. */
static carom_status add_balls(carom_cover_fitting *f, uint32_t wanted, score *best) {
    bool better;
    while (f->count < wanted) {
        uint32_t more = CAROM_MIN(wanted - f->count, f->count / FIT_BALLS_PER_ADDED + 1),
                 count = f->count;
        CAROM_TRY(assign(f));
        rank_balls(f);
        for (uint32_t i = 0; i < more; ++i) {
            cover_fit_divide(f, f->ranks[i % count], f->count);
            f->outside[f->count++] = 0.0;
        }
        *best = (score){HUGE_VAL, HUGE_VAL};
        CAROM_TRY(alternate(f, FIT_ROUNDS_AFTER_ADDING, best, &better));
        cover_fit_restore(f);
    }
    return CAROM_OK;
}

/* Moves the balls that are needed least to those that reach out farthest. */
static carom_status move_balls(carom_cover_fitting *f, int most_failures, score *best) {
    uint32_t moves = f->count / FIT_BALLS_PER_MOVED + 1, skip = 0;
    for (int failures = 0; failures < most_failures && f->count > 1;) {
        f->grown = best->worst * FIT_MOVE_REACH;
        CAROM_TRY(assign(f));
        rank_balls(f);
        find_needs(f);
        for (uint32_t i = 0; i < moves; ++i) {
            uint32_t from = f->ranks[i], least = UINT32_MAX;
            for (uint32_t tries = 0; tries <= skip; ++tries) {
                least = UINT32_MAX;
                for (uint32_t k = 0; k < f->count; ++k)
                    if (k != from && f->needs[k] < HUGE_VAL &&
                        (least == UINT32_MAX || f->needs[k] < f->needs[least]))
                        least = k;
                if (least != UINT32_MAX && tries < skip) f->needs[least] = HUGE_VAL;
            }
            if (least == UINT32_MAX) break;
            CAROM_ASSERT(least != from && least < f->count);
            f->needs[least] = HUGE_VAL;
            f->needs[from] = HUGE_VAL;
            cover_fit_divide(f, from, least);
        }
        bool better;
        CAROM_TRY(alternate(f, FIT_ROUNDS_AFTER_MOVING, best, &better));
        cover_fit_restore(f);
        if (better) {
            failures = 0;
            skip = 0;
        } else {
            ++failures;
            if (moves > 1)
                moves = moves / 2;
            else
                ++skip; /* the next one, as the least needed one did not help */
        }
    }
    return CAROM_OK;
}

static carom_status cover_fit_finish(carom_cover_fitting *f, carom_cover_fit *fit) {
    cover_fit_restore(f);
    CAROM_TRY(carom_parallel_for(f->context, f->count, 4, widen_balls, f));
    for (uint32_t k = 0; k < f->count; ++k) CAROM_ASSERT(f->radii[k] <= f->allowed[k]);
    *fit = (carom_cover_fit){.centres = f->centres,
                             .radii = f->radii,
                             .allowed = f->allowed,
                             .count = f->count,
                             .outside = f->grown};
    return CAROM_OK;
}

carom_status carom_cover_fit_balls(carom_cover_fitting *f, uint32_t count, carom_cover_fit *fit) {
    score best = {HUGE_VAL, HUGE_VAL};
    bool better;
    CAROM_TRY(begin_greedily(f, count));
    for (uint32_t k = 0; k < count; ++k) f->fitted[k] = 0;
    CAROM_TRY(alternate(f, FIT_ROUNDS, &best, &better));
    cover_fit_restore(f);
    CAROM_TRY(add_balls(f, count, &best));
    CAROM_TRY(move_balls(f, FIT_LEAST_FAILURES + (int)(FIT_FAILURES_BY_BALLS / count), &best));
    return cover_fit_finish(f, fit);
}

carom_status carom_cover_fit_count(carom_cover_fitting *f, double outside, uint32_t *count) {
    return cover_greedily(f, outside, f->most, count);
}

carom_status carom_cover_fit_more(carom_cover_fitting *f, const carom_vec3 *points,
                                  uint64_t point_count, bool moving, carom_cover_fit *fit) {
    score best = {HUGE_VAL, HUGE_VAL};
    bool better;
    uint64_t stride = point_count / (f->first_points / 2) + 1;
    for (uint64_t i = 0; i < point_count; i += stride) add_point(&f->points, points[i]);
    CAROM_TRY(alternate(f, FIT_ROUNDS_LATER, &best, &better));
    cover_fit_restore(f);
    if (moving) CAROM_TRY(move_balls(f, FIT_FAILURES_LATER, &best));
    return cover_fit_finish(f, fit);
}
