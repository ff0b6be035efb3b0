/* SPDX-License-Identifier: MIT */
/* Queries of convex shapes: checks of the input, then the items, compiled per instruction set
 * (convex_cpu.c). Pairs are independent of each other and each writes its own result, so that any
 * number of threads gives the same bytes. */
#include <stdio.h>

#include "base/array.h"
#include "base/names.h"
#include "base/progress.h"
#include "convex/convex.h"
#include "convex/convex_cpu.h"
#include "geom/length.h"

#define MOST_SIZE 1e300
#define GRAIN     64u /* pairs per range: some 50 us of work */

CAROM_RESULT_FILL(carom_convex_results);
CAROM_RESULT_DEFINE_FREE(carom_convex_results);

CAROM_ENUM_NAMES(carom_convex_kind, CAROM_CONVEX_KIND_COUNT, "point", "sphere", "segment",
                 "capsule", "box", "cylinder", "cone", "ellipsoid", "hull", "support");
CAROM_ENUM_NAMES(carom_convex_start, CAROM_CONVEX_START_COUNT, "centre", "four");
CAROM_ENUM_NAMES(carom_convex_search, CAROM_CONVEX_SEARCH_COUNT, "auto", "all", "climb");
CAROM_ENUM_NAMES(carom_convex_question, CAROM_CONVEX_QUESTION_COUNT, "depth", "distance", "meet");

/* ---- Checks ---------------------------------------------------------------------------------- */

/* What is wrong with a shape, as a phrase, or NULL. */
static const char *shape_trouble(const carom_convex *s) {
    if (!(s->margin >= 0.0 && s->margin <= MOST_SIZE)) return "margin";
    switch (s->kind) {
    case CAROM_CONVEX_KIND_BOX:
    case CAROM_CONVEX_KIND_ELLIPSOID: {
        double low = CAROM_MIN(s->half.x, CAROM_MIN(s->half.y, s->half.z));
        double sum = s->half.x + s->half.y + s->half.z;
        return low >= 0.0 && sum <= MOST_SIZE ? NULL : "half extent";
    }
    case CAROM_CONVEX_KIND_SPHERE:
        return s->radius >= 0.0 && s->radius <= MOST_SIZE ? NULL : "radius";
    case CAROM_CONVEX_KIND_SEGMENT:
        return s->half_height >= 0.0 && s->half_height <= MOST_SIZE ? NULL : "half height";
    case CAROM_CONVEX_KIND_CAPSULE:
    case CAROM_CONVEX_KIND_CYLINDER:
    case CAROM_CONVEX_KIND_CONE:
        if (!(s->radius >= 0.0 && s->radius <= MOST_SIZE)) return "radius";
        return s->half_height >= 0.0 && s->half_height <= MOST_SIZE ? NULL : "half height";
    case CAROM_CONVEX_KIND_SUPPORT: {
        carom_vec3 c = s->support_ball.centre;
        double sum = fabs(c.x) + fabs(c.y) + fabs(c.z) + s->support_ball.radius;
        return s->support_ball.radius >= 0.0 && sum <= MOST_SIZE ? NULL : "ball";
    }
    default:
        return NULL;
    }
}

static bool pose_is_fine(const carom_pose *pose) {
    if (pose == NULL) return true;
    double turn = fabs(pose->q.w) + fabs(pose->q.x) + fabs(pose->q.y) + fabs(pose->q.z);
    double direction = fabs(pose->t.x) + fabs(pose->t.y) + fabs(pose->t.z);
    return turn <= MOST_SIZE && direction <= MOST_SIZE;
}

bool carom_convex_is_complete(const carom_convex *s) {
    if ((unsigned)s->kind >= CAROM_CONVEX_KIND_COUNT) return false;
    if (s->kind == CAROM_CONVEX_KIND_HULL) return s->borrowed_hull != NULL;
    return s->kind != CAROM_CONVEX_KIND_SUPPORT || s->support != NULL;
}

bool carom_convex_is_known(const carom_convex_def *def) {
    return (unsigned)def->start < CAROM_CONVEX_START_COUNT &&
           (unsigned)def->search < CAROM_CONVEX_SEARCH_COUNT;
}

static carom_status refuse(carom_context *context, const carom_convex *s, const char *which) {
    const char *trouble = shape_trouble(s);
    if (trouble != NULL)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the %s of %s (a %s) is not finite, negative or beyond 1e300", trouble,
                          which, carom_convex_kind_name(s->kind));
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the pose of %s is not finite or beyond 1e300; give finite numbers", which);
}

carom_status carom_convex_check(carom_context *context, const carom_convex *shape,
                                const carom_pose *pose, const char *which) {
    bool fine = shape_trouble(shape) == NULL && pose_is_fine(pose);
    return fine ? CAROM_OK : refuse(context, shape, which);
}

/* A batch of one pair. */
static carom_status ask_device(carom_context *context, const carom_convex_question_item *q,
                               carom_convex_question question, carom_convex_cache *cache,
                               carom_convex_result *result) {
    const carom_pose none = {{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const carom_convex_body bodies[2] = {{q->a, q->pose_a != NULL ? *q->pose_a : none},
                                         {q->b, q->pose_b != NULL ? *q->pose_b : none}};
    const carom_pair pair = {0, 1};
    const carom_convex_batch batch = {.bodies = bodies,
                                      .body_count = 2,
                                      .pairs = &pair,
                                      .pair_count = 1,
                                      .question = question,
                                      .def = q->def,
                                      .caches = cache};
    return carom_convex_device_ask(context, &batch, 1, result);
}

/* ---- One pair -------------------------------------------------------------------------------- */

static carom_status ask(carom_context *context, const carom_convex *a, const carom_pose *pose_a,
                        const carom_convex *b, const carom_pose *pose_b,
                        const carom_convex_def *def, carom_convex_cache *cache,
                        carom_convex_question question, carom_convex_result *result) {
    carom_convex_question_item q = {.a = a,
                                    .b = b,
                                    .hull_a = carom_convex_hull_view(a),
                                    .hull_b = carom_convex_hull_view(b),
                                    .pose_a = pose_a,
                                    .pose_b = pose_b};
    if (def != NULL) q.def = *def;
    CAROM_TRY(carom_convex_check(context, a, pose_a, "a"));
    CAROM_TRY(carom_convex_check(context, b, pose_b, "b"));
    if (context->backend != CAROM_BACKEND_CPU)
        return ask_device(context, &q, question, cache, result);
    carom_status status = CAROM_CPU_CALL(context, carom_convex_ask)(
        &q, question, cache, carom_scratch(context, 0), result);
    return status == CAROM_OK ? status : carom_fail_memory(context, 0, "the depth of two hulls");
}

#define REQUIRE_PAIR(context, a, b, def)                                                           \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE((a) != NULL && (b) != NULL, "a shape is NULL");                                  \
    CAROM_REQUIRE(carom_convex_is_complete(a) && carom_convex_is_complete(b),                      \
                  "a shape has an unknown kind, or no hull or support function");                  \
    CAROM_REQUIRE((def) == NULL || carom_convex_is_known(def),                                     \
                  "the def has an unknown start or search")

carom_status carom_convex_meet(carom_context *context, const carom_convex *a,
                               const carom_pose *pose_a, const carom_convex *b,
                               const carom_pose *pose_b, const carom_convex_def *def,
                               carom_convex_cache *cache, bool *meet) {
    carom_convex_result result;
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE(meet != NULL, "the place for the answer is NULL");
    CAROM_TRY(ask(context, a, pose_a, b, pose_b, def, cache, CAROM_CONVEX_QUESTION_MEET, &result));
    *meet = result.relation != CAROM_RELATION_APART;
    return CAROM_OK;
}

carom_status carom_convex_distance(carom_context *context, const carom_convex *a,
                                   const carom_pose *pose_a, const carom_convex *b,
                                   const carom_pose *pose_b, const carom_convex_def *def,
                                   carom_convex_cache *cache, carom_convex_result *result) {
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE(result != NULL, "the place for the result is NULL");
    return ask(context, a, pose_a, b, pose_b, def, cache, CAROM_CONVEX_QUESTION_DISTANCE, result);
}

carom_status carom_convex_depth(carom_context *context, const carom_convex *a,
                                const carom_pose *pose_a, const carom_convex *b,
                                const carom_pose *pose_b, const carom_convex_def *def,
                                carom_convex_cache *cache, carom_convex_result *result) {
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE(result != NULL, "the place for the result is NULL");
    return ask(context, a, pose_a, b, pose_b, def, cache, CAROM_CONVEX_QUESTION_DEPTH, result);
}

carom_status carom_convex_bound(carom_context *context, const carom_convex *a,
                                const carom_convex *b, carom_convex_most *most) {
    const carom_convex_def *def = NULL;
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE(most != NULL, "the place for the bound is NULL");
    carom_convex_question_item q = {
        .a = a, .b = b, .hull_a = carom_convex_hull_view(a), .hull_b = carom_convex_hull_view(b)};
    bool curved = carom_convex_curved(a) || carom_convex_curved(b);
    uint32_t epa = carom_convex_epa_steps(&q);
    /* Four points of the start. */
    most->meet_iterations = curved ? CAROM_GJK_MOST_CURVED : CAROM_GJK_MOST;
    most->meet_supports = 2 * (most->meet_iterations + 4);
    most->distance_iterations = most->meet_iterations;
    most->distance_supports = most->meet_supports;
    most->depth_iterations = most->distance_iterations + epa;
    most->depth_supports = most->distance_supports + 2 * epa;
    return CAROM_OK;
}

/* ---- Many pairs ------------------------------------------------------------------------------ */

typedef struct batch_job {
    carom_context *context;
    const carom_convex_batch *batch;
    carom_convex_result *results;
} batch_job;

static carom_status ask_range(void *argument, carom_range range) {
    const batch_job *job = argument;
    const carom_convex_batch *batch = job->batch;
    carom_arena *arena = carom_scratch(job->context, range.worker);
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_convex_body *a = &batch->bodies[batch->pairs[i].a];
        const carom_convex_body *b = &batch->bodies[batch->pairs[i].b];
        carom_convex_question_item q = {.a = a->shape,
                                        .b = b->shape,
                                        .hull_a = carom_convex_hull_view(a->shape),
                                        .hull_b = carom_convex_hull_view(b->shape),
                                        .pose_a = &a->pose,
                                        .pose_b = &b->pose,
                                        .def = batch->def};
        memset(&job->results[i], 0, sizeof(job->results[i]));
        CAROM_TRY(CAROM_CPU_CALL(job->context, carom_convex_ask)(
            &q, batch->question, batch->caches != NULL ? &batch->caches[i] : NULL, arena,
            &job->results[i]));
    }
    return CAROM_OK;
}

static carom_status check_batch(carom_context *context, const carom_convex_batch *batch) {
    char which[64];
    for (uint64_t i = 0; i < batch->body_count; ++i) {
        const carom_convex_body *body = &batch->bodies[i];
        CAROM_REQUIRE(body->shape != NULL && carom_convex_is_complete(body->shape),
                      "a body has no shape, or one of unknown kind, without hull or function");
        if (shape_trouble(body->shape) == NULL && pose_is_fine(&body->pose)) continue;
        snprintf(which, sizeof(which), "body %llu", (unsigned long long)i);
        return refuse(context, body->shape, which);
    }
    for (uint64_t i = 0; i < batch->pair_count; ++i)
        if (batch->pairs[i].a >= batch->body_count || batch->pairs[i].b >= batch->body_count)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "pair %llu names the bodies %u and %u; there are %llu",
                              (unsigned long long)i, batch->pairs[i].a, batch->pairs[i].b,
                              (unsigned long long)batch->body_count);
    return CAROM_OK;
}

carom_status carom_convex_pairs(carom_context *context, const carom_convex_batch *batch,
                                carom_convex_results *results) {
    uint64_t workspace;
    CAROM_ENTER(context);
    CAROM_REQUIRE(batch != NULL, "the batch is NULL");
    CAROM_REQUIRE(batch->bodies != NULL || batch->body_count == 0, "the bodies are NULL");
    CAROM_REQUIRE(batch->pairs != NULL || batch->pair_count == 0, "the pairs are NULL");
    CAROM_REQUIRE((unsigned)batch->question < CAROM_CONVEX_QUESTION_COUNT,
                  "the question is unknown");
    CAROM_REQUIRE(carom_convex_is_known(&batch->def), "the def has an unknown start or search");
    CAROM_REQUIRE_RESULT(results, "the result array");
    CAROM_TRY(check_batch(context, batch));
    CAROM_TRY(carom_convex_results_begin(context, &context->allocator, results, batch->pair_count,
                                         &workspace));
    if (context->backend != CAROM_BACKEND_CPU) {
        CAROM_TRY(carom_convex_device_ask(context, batch, workspace, results->data));
        return carom_convex_results_end(results);
    }
    batch_job job = {context, batch, results->data};
    carom_status status =
        carom_parallel_phase(context, "asking convex pairs", workspace, GRAIN, ask_range, &job);
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "the depth of two hulls");
    CAROM_TRY(status);
    return carom_convex_results_end(results);
}
