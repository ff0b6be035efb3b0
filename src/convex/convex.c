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

#define CONVEX_MOST_COORDINATE 1e300
#define CONVEX_PAIRS_PER_RANGE 64u /* pairs per range: some 50 us of work */

CAROM_ENUM_NAMES(carom_convex_kind, CAROM_CONVEX_KIND_COUNT, "point", "sphere", "segment",
                 "capsule", "box", "cylinder", "cone", "ellipsoid", "hull", "support");
CAROM_ENUM_NAMES(carom_convex_start, CAROM_CONVEX_START_COUNT, "centre", "four");
CAROM_ENUM_NAMES(carom_convex_search, CAROM_CONVEX_SEARCH_COUNT, "auto", "all", "climb");

/* ---- Checks ---------------------------------------------------------------------------------- */

/* What is wrong with a shape, as a phrase, or NULL. */
static const char *shape_trouble(const carom_convex *s) {
    if (!(s->margin >= 0.0 && s->margin <= CONVEX_MOST_COORDINATE)) return "margin";
    switch (s->kind) {
    case CAROM_CONVEX_KIND_BOX:
    case CAROM_CONVEX_KIND_ELLIPSOID: {
        double low = CAROM_MIN(s->half.x, CAROM_MIN(s->half.y, s->half.z));
        double sum = s->half.x + s->half.y + s->half.z;
        return low >= 0.0 && sum <= CONVEX_MOST_COORDINATE ? NULL : "half extent";
    }
    case CAROM_CONVEX_KIND_SPHERE:
        return s->radius >= 0.0 && s->radius <= CONVEX_MOST_COORDINATE ? NULL : "radius";
    case CAROM_CONVEX_KIND_SEGMENT:
        return s->half_height >= 0.0 && s->half_height <= CONVEX_MOST_COORDINATE ? NULL
                                                                                 : "half height";
    case CAROM_CONVEX_KIND_CAPSULE:
    case CAROM_CONVEX_KIND_CYLINDER:
    case CAROM_CONVEX_KIND_CONE:
        if (!(s->radius >= 0.0 && s->radius <= CONVEX_MOST_COORDINATE)) return "radius";
        return s->half_height >= 0.0 && s->half_height <= CONVEX_MOST_COORDINATE ? NULL
                                                                                 : "half height";
    case CAROM_CONVEX_KIND_SUPPORT: {
        carom_vec3 c = s->support_ball.centre;
        double sum = fabs(c.x) + fabs(c.y) + fabs(c.z) + s->support_ball.radius;
        return s->support_ball.radius >= 0.0 && sum <= CONVEX_MOST_COORDINATE ? NULL : "ball";
    }
    default:
        return NULL;
    }
}

static bool convex_pose_is_fine(const carom_pose *pose) {
    if (pose == NULL) return true;
    double turn = fabs(pose->q.w) + fabs(pose->q.x) + fabs(pose->q.y) + fabs(pose->q.z);
    double direction = fabs(pose->t.x) + fabs(pose->t.y) + fabs(pose->t.z);
    return turn <= CONVEX_MOST_COORDINATE && direction <= CONVEX_MOST_COORDINATE;
}

bool carom_convex_is_complete(const carom_convex *s) {
    if ((unsigned)s->kind >= CAROM_CONVEX_KIND_COUNT) return false;
    if (s->kind == CAROM_CONVEX_KIND_HULL) return s->borrowed_hull != NULL;
    return s->kind != CAROM_CONVEX_KIND_SUPPORT || s->support != NULL;
}

bool carom_convex_is_known(const carom_convex_query_def *def) {
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
    bool fine = shape_trouble(shape) == NULL && convex_pose_is_fine(pose);
    return fine ? CAROM_OK : refuse(context, shape, which);
}

/* A batch of one pair. */
static carom_status convex_query_device_one(carom_context *context,
                                            const carom_convex_question_item *q,
                                            carom_convex_question question, carom_convex_hint *hint,
                                            carom_convex_result *result) {
    carom_convex_pair pair = {.a = q->a, .b = q->b, .hint = hint};
    if (q->pose_a != NULL) pair.pose_a = *q->pose_a;
    if (q->pose_b != NULL) pair.pose_b = *q->pose_b;
    const carom_convex_batch batch = {
        .pairs = &pair, .count = 1, .question = question, .def = q->def};
    return carom_convex_device_query(context, &batch, result);
}

/* ---- One pair -------------------------------------------------------------------------------- */

static carom_status convex_query_pair(carom_context *context, const carom_convex *a,
                                      const carom_pose *pose_a, const carom_convex *b,
                                      const carom_pose *pose_b, const carom_convex_query_def *def,
                                      carom_convex_question question, carom_convex_result *result) {
    carom_convex_question_item q = carom_convex_question_of(a, pose_a, b, pose_b);
    carom_convex_hint *hint = def != NULL ? def->hint : NULL;
    if (def != NULL) q.def = *def;
    q.def.hint = NULL; /* given beside it */
    CAROM_TRY(carom_convex_check(context, a, pose_a, "a"));
    CAROM_TRY(carom_convex_check(context, b, pose_b, "b"));
    if (context->backend != CAROM_BACKEND_CPU)
        return convex_query_device_one(context, &q, question, hint, result);
    carom_convex_learned room, *learned = carom_convex_read_hint(hint, &room);
    carom_status status = CAROM_CPU_CALL(context, carom_convex_query)(
        &q, question, learned, carom_scratch(context, 0), result);
    carom_convex_write_hint(learned, hint);
    return status == CAROM_OK ? status : carom_fail_memory(context, 0, "the depth of two hulls");
}

carom_status carom_convex_depth_on_cpu(carom_context *context, const carom_convex *a,
                                       const carom_pose *pose_a, const carom_convex *b,
                                       const carom_pose *pose_b, carom_convex_result *result) {
    carom_convex_question_item q = carom_convex_question_of(a, pose_a, b, pose_b);
    CAROM_TRY(carom_convex_check(context, a, pose_a, "a"));
    CAROM_TRY(carom_convex_check(context, b, pose_b, "b"));
    carom_status status = CAROM_CPU_CALL(context, carom_convex_query)(
        &q, CAROM_CONVEX_QUESTION_DEPTH, NULL, carom_scratch(context, 0), result);
    return status == CAROM_OK ? status : carom_fail_memory(context, 0, "the depth of two hulls");
}

#define REQUIRE_PAIR(context, a, b, def)                                                           \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_BOTH(a, b, "shape");                                                             \
    CAROM_REQUIRE_SHAPE(a);                                                                        \
    CAROM_REQUIRE_SHAPE(b);                                                                        \
    CAROM_REQUIRE_CONVEX_DEF(def)

carom_status carom_convex_meet(carom_context *context, const carom_convex *a,
                               const carom_pose *pose_a, const carom_convex *b,
                               const carom_pose *pose_b, const carom_convex_query_def *def,
                               bool *meet) {
    carom_convex_result result;
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE_OUTPUT(meet, "answer");
    CAROM_TRY(
        convex_query_pair(context, a, pose_a, b, pose_b, def, CAROM_CONVEX_QUESTION_MEET, &result));
    *meet = result.relation != CAROM_RELATION_APART;
    return CAROM_OK;
}

carom_status carom_convex_distance(carom_context *context, const carom_convex *a,
                                   const carom_pose *pose_a, const carom_convex *b,
                                   const carom_pose *pose_b, const carom_convex_query_def *def,
                                   carom_convex_result *result) {
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE_OUTPUT(result, "result");
    return convex_query_pair(context, a, pose_a, b, pose_b, def, CAROM_CONVEX_QUESTION_DISTANCE,
                             result);
}

carom_status carom_convex_depth(carom_context *context, const carom_convex *a,
                                const carom_pose *pose_a, const carom_convex *b,
                                const carom_pose *pose_b, const carom_convex_query_def *def,
                                carom_convex_result *result) {
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE_OUTPUT(result, "result");
    return convex_query_pair(context, a, pose_a, b, pose_b, def, CAROM_CONVEX_QUESTION_DEPTH,
                             result);
}

carom_status carom_convex_bound(carom_context *context, const carom_convex *a,
                                const carom_convex *b, carom_convex_most *most) {
    const carom_convex_query_def *def = NULL;
    REQUIRE_PAIR(context, a, b, def);
    CAROM_REQUIRE_OUTPUT(most, "bound");
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
    carom_convex_result *results; /* or */
    bool *meet;
} batch_job;

static carom_convex_question_item convex_batch_item(const carom_convex_batch *batch, uint64_t i) {
    const carom_convex_pair *p = &batch->pairs[i];
    return (carom_convex_question_item){.a = p->a,
                                        .b = p->b,
                                        .hull_a = carom_convex_hull_view(p->a),
                                        .hull_b = carom_convex_hull_view(p->b),
                                        .pose_a = &p->pose_a,
                                        .pose_b = &p->pose_b,
                                        .def = batch->def};
}

/* The depths of pairs from `first` on, up to one with a hint; adds how many they are. */
static carom_status convex_depth_some(const batch_job *job, uint32_t worker, uint64_t end,
                                      uint64_t *first) {
    carom_convex_question_item items[CAROM_CONVEX_MANY];
    carom_convex_result *to = &job->results[*first];
    uint32_t count = 0;
    for (; *first < end && count < CAROM_CONVEX_MANY && job->batch->pairs[*first].hint == NULL;
         ++*first)
        items[count++] = convex_batch_item(job->batch, *first);
    memset(to, 0, count * sizeof(*to));
    return CAROM_CPU_CALL(job->context, carom_convex_depth_many)(
        items, count, carom_scratch(job->context, worker), to);
}

static carom_status convex_query_range(void *argument, carom_range range) {
    const batch_job *job = argument;
    const carom_convex_batch *batch = job->batch;
    carom_arena *arena = carom_scratch(job->context, range.worker);
    for (uint64_t i = range.begin; i < range.end;) {
        const carom_convex_pair *p = &batch->pairs[i];
        if (batch->question == CAROM_CONVEX_QUESTION_DEPTH && p->hint == NULL) {
            CAROM_TRY(convex_depth_some(job, range.worker, range.end, &i));
            continue;
        }
        carom_convex_question_item q = convex_batch_item(batch, i);
        carom_convex_result result, *to = job->results != NULL ? &job->results[i] : &result;
        memset(to, 0, sizeof(*to));
        carom_convex_learned room, *learned = carom_convex_read_hint(p->hint, &room);
        CAROM_TRY(CAROM_CPU_CALL(job->context, carom_convex_query)(&q, batch->question, learned,
                                                                   arena, to));
        carom_convex_write_hint(learned, p->hint);
        if (job->meet != NULL) job->meet[i] = to->relation != CAROM_RELATION_APART;
        ++i;
    }
    return CAROM_OK;
}

static carom_status convex_check_batch(carom_context *context, const carom_convex_batch *batch) {
    char which[64];
    for (uint64_t i = 0; i < batch->count; ++i) {
        const carom_convex_pair *p = &batch->pairs[i];
        const carom_convex *shapes[2] = {p->a, p->b};
        const carom_pose *poses[2] = {&p->pose_a, &p->pose_b};
        for (int k = 0; k < 2; ++k) {
            CAROM_REQUIRE_BATCH_SHAPE(shapes[k]);
            if (shape_trouble(shapes[k]) == NULL && convex_pose_is_fine(poses[k])) continue;
            snprintf(which, sizeof(which), "%c in pair %llu", 'a' + k, (unsigned long long)i);
            return refuse(context, shapes[k], which);
        }
    }
    return CAROM_OK;
}

static carom_status convex_query_device(carom_context *context, const carom_convex_batch *batch,
                                        carom_convex_result *results, bool *meet) {
    if (meet == NULL) return carom_convex_device_query(context, batch, results);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    results = CAROM_ARENA_TAKE(scratch, carom_convex_result, batch->count);
    carom_status status =
        results != NULL ? carom_convex_device_query(context, batch, results)
                        : carom_fail_memory(context, batch->count * sizeof(*results), "a batch");
    for (uint64_t i = 0; i < batch->count && status == CAROM_OK; ++i)
        meet[i] = results[i].relation != CAROM_RELATION_APART;
    carom_arena_rewind(scratch, mark);
    return status;
}

/* Fills either results or meet. */
static carom_status convex_query_batch(carom_context *context, const carom_convex_pair *pairs,
                                       uint64_t count, const carom_convex_query_def *def,
                                       carom_convex_question question, carom_convex_result *results,
                                       bool *meet) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE(count == 0 || results != NULL || meet != NULL, CAROM_NO_OUTPUT_FOR("results"));
    CAROM_REQUIRE_CONVEX_BATCH_DEF(def);
    carom_convex_batch batch = {.pairs = pairs, .count = count, .question = question};
    if (def != NULL) batch.def = *def;
    CAROM_TRY(convex_check_batch(context, &batch));
    if (context->backend != CAROM_BACKEND_CPU)
        return convex_query_device(context, &batch, results, meet);
    batch_job job = {context, &batch, results, meet};
    carom_status status = carom_parallel_phase(context, "testing convex pairs", count,
                                               CONVEX_PAIRS_PER_RANGE, convex_query_range, &job);
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "the depth of two hulls");
    return status;
}

carom_status carom_convex_meet_batch(carom_context *context, const carom_convex_pair *pairs,
                                     uint64_t count, const carom_convex_query_def *def,
                                     bool *meet) {
    return convex_query_batch(context, pairs, count, def, CAROM_CONVEX_QUESTION_MEET, NULL, meet);
}

carom_status carom_convex_distance_batch(carom_context *context, const carom_convex_pair *pairs,
                                         uint64_t count, const carom_convex_query_def *def,
                                         carom_convex_result *results) {
    return convex_query_batch(context, pairs, count, def, CAROM_CONVEX_QUESTION_DISTANCE, results,
                              NULL);
}

carom_status carom_convex_depth_batch(carom_context *context, const carom_convex_pair *pairs,
                                      uint64_t count, const carom_convex_query_def *def,
                                      carom_convex_result *results) {
    return convex_query_batch(context, pairs, count, def, CAROM_CONVEX_QUESTION_DEPTH, results,
                              NULL);
}
