/* SPDX-License-Identifier: MIT */
/* Which engine to take, by sizes and by the speed of the machine. Times are laws of cost with one
 * measured factor each (docs/figures.md, tree, solid and balls; one core with AVX-512, overlaps of
 * up to 10 %). All are multiplied by what the machine takes for some lenses of spheres, beside what
 * that one took; so the speed matters only to a time budget, and to no other choice. */
#include "base/context.h"
#include "base/names.h"
#include "carom/query.h"
#include "spheres/spheres_item.h"
#include "tree/tree.h"

CAROM_ENUM_NAMES(carom_query_engine, CAROM_QUERY_ENGINE_COUNT, "solid", "tree", "balls");

/* Seconds of solid per square root of the number of triangles, for each of the two: 0.08 ms for two
 * tori of 4,096 triangles, 0.18 for 20,736, 0.25 for 36,864, 0.81 for 262,144. */
#define ADVISE_SOLID_SECONDS 7e-7

/* Seconds per sphere of both packings, with bounds: 0.08 ms for two of 5,000 by tree, 0.25 for
 * 20,000, 2.3 for 240,000; 1.3 ms for 20,000 by balls, 4.4 for 60,000. */
#define ADVISE_TREE_SECONDS  6e-9
#define ADVISE_BALLS_SECONDS 3.5e-8

/* Seconds to prepare: a triangle of a solid, a sphere to be packed, a sphere of a tree or grid. */
#define ADVISE_TRIANGLE_SECONDS 1e-6
#define ADVISE_PACK_SECONDS     3e-4
#define ADVISE_SPHERE_SECONDS   5e-6

/* Errors of volumes are this by the square root of the number of spheres: 2.1 % of 2,000, 0.77 of
 * 20,000, 0.23 of 240,000. */
#define ADVISE_ERROR 1.0

/* How often the mean time a pose takes that is slow: solid keeps a budget only if it is this much
 * faster. */
#define ADVISE_SLOW_POSE 4.0

/* Lenses of pairs of spheres that tell how fast a machine is, and how many seconds they take where
 * the times above were measured; the least of ADVISE_ROUNDS, which an interrupt does not reach. */
#define ADVISE_LENSES       256u
#define ADVISE_ROUNDS       5
#define ADVISE_LENS_SECONDS 2.2e-6

/* How many times as long as there this machine takes, measured when it is first needed. */
static double advise_slowness(carom_context *context) {
    if (context->slowness > 0.0) return context->slowness;
    double least = HUGE_VAL;
    for (int round = 0; round < ADVISE_ROUNDS; ++round) {
        double begun = carom_time_seconds(), sum = 0.0;
        carom_spheres_term term;
        for (uint32_t i = 0; i < ADVISE_LENSES; ++i) {
            double by = (double)i / ADVISE_LENSES; /* from inside each other to just apart */
            carom_ball a = {carom_vec(0.0, 0.0, 0.0), 1.0}, b = {carom_vec(2.0 * by, by, 0.0), 1.0};
            if (carom_spheres_pair(&a, &b, a.centre, &term)) sum += term.volume;
        }
        volatile double kept = sum; /* not optimized away */
        (void)kept;
        double time = carom_time_seconds() - begun;
        least = CAROM_MIN(time, least);
    }
    context->slowness =
        CAROM_MAX(least, 0x1p-30) / ADVISE_LENS_SECONDS; /* a clock may stand still */
    return context->slowness;
}

static carom_status advise_check(carom_context *context, const carom_query_def *def) {
    bool meshes = def->triangles_a != 0 && def->triangles_b != 0;
    bool packings = def->spheres_a != 0 && def->spheres_b != 0;
    if (!meshes && !packings)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "neither two meshes nor two packings: nothing can compare them");
    if (def->spheres_to_pack > def->spheres_a &&
        def->spheres_to_pack - def->spheres_a > def->spheres_b)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%llu spheres are yet to be packed, of %llu and %llu",
                          (unsigned long long)def->spheres_to_pack,
                          (unsigned long long)def->spheres_a, (unsigned long long)def->spheres_b);
    if (!(def->time_budget >= 0.0 && def->error >= 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a budget of %g s and an error of %g: neither may be negative",
                          def->time_budget, def->error);
    return CAROM_OK;
}

/* Sets the times on the machine of the figures, and the error. */
static void advise_measure(const carom_query_def *def, carom_query_advice *advice) {
    double spheres = (double)def->spheres_a + (double)def->spheres_b;
    advice->solid_seconds = advice->tree_seconds = advice->balls_seconds = HUGE_VAL;
    advice->tree_error = HUGE_VAL;
    if (def->triangles_a != 0 && def->triangles_b != 0)
        advice->solid_seconds = ADVISE_SOLID_SECONDS *
                                (sqrt((double)def->triangles_a) + sqrt((double)def->triangles_b));
    if (def->spheres_a == 0 || def->spheres_b == 0) return;
    advice->tree_seconds = ADVISE_TREE_SECONDS * spheres;
    if (!def->distance) advice->balls_seconds = ADVISE_BALLS_SECONDS * spheres;
    advice->tree_error = ADVISE_ERROR / sqrt((double)CAROM_MIN(def->spheres_a, def->spheres_b));
}

/* The time of all queries, and of preparing them, per query. */
static double advise_cost(const carom_query_def *def, double seconds, double prepare) {
    return def->queries == 0 ? seconds : seconds + prepare / (double)def->queries;
}

/* Chooses by these times; a time budget is that of the same machine. */
static void advise_choose(const carom_query_def *def, double time_budget,
                          carom_query_advice *advice) {
    double spheres = (double)def->spheres_a + (double)def->spheres_b;
    double triangles = (double)def->triangles_a + (double)def->triangles_b;
    double solid = advise_cost(def, advice->solid_seconds, ADVISE_TRIANGLE_SECONDS * triangles);
    double prepare = ADVISE_PACK_SECONDS * (double)def->spheres_to_pack;
    double tree = advise_cost(def, advice->tree_seconds, prepare + ADVISE_SPHERE_SECONDS * spheres);
    bool is_steady = def->steady && advice->balls_seconds < HUGE_VAL;
    advice->engine = CAROM_QUERY_ENGINE_SOLID;
    if (!(tree < HUGE_VAL)) {
        advice->reason = "there are no packings of both";
    } else if (solid < HUGE_VAL && def->error > 0.0 && advice->tree_error > def->error) {
        advice->reason = "the spheres are too few for that error";
    } else if (def->time_budget > 0.0 && solid < HUGE_VAL &&
               ADVISE_SLOW_POSE * advice->solid_seconds <= time_budget) {
        advice->reason = "it is exact, and slow poses keep the budget, too";
    } else if (def->time_budget > 0.0) {
        advice->engine = CAROM_QUERY_ENGINE_TREE;
        advice->reason = "it ends in time, with the best estimate and bounds so far";
    } else if (is_steady) {
        advice->engine = CAROM_QUERY_ENGINE_BALLS;
        advice->reason = "its time hardly depends on the pose";
    } else if (!(solid < HUGE_VAL)) {
        advice->engine = CAROM_QUERY_ENGINE_TREE;
        advice->reason = "there are no meshes of both, and it is faster than balls";
    } else if (tree < solid) {
        advice->engine = CAROM_QUERY_ENGINE_TREE;
        advice->reason = "there are few spheres for meshes of that size";
    } else {
        advice->reason = def->queries != 0 && advice->tree_seconds < advice->solid_seconds
                             ? "it is exact, and preparing spheres takes longer than it saves"
                             : "it is exact, and faster with meshes of that size";
    }
}

carom_status carom_query_advise(carom_context *context, const carom_query_def *def,
                                carom_query_advice *advice) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(def, "definition");
    CAROM_REQUIRE_OUTPUT(advice, "advice");
    memset(advice, 0, sizeof(*advice));
    CAROM_TRY(advise_check(context, def));
    advise_measure(def, advice);
    double slowness = advise_slowness(context);
    advise_choose(def, def->time_budget / slowness, advice);
    advice->solid_seconds *= slowness;
    advice->tree_seconds *= slowness;
    advice->balls_seconds *= slowness;
    return CAROM_OK;
}
