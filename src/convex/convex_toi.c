/* SPDX-License-Identifier: MIT */
/* Times of impact of convex shapes, by conservative advancement (Mirtich 1996).
 *
 * At time t a plane with normal n separates the shapes by d. Along this fixed n a point of a shape
 * moves by at most n.velocity + |n x spin| reach per time (motion.h), where the reach is that of
 * the shape's core: a margin stays where it is when it turns. So the plane's direction separates
 * them until t + d / closing, and where they do not close in, for ever. Half of the tolerance is
 * kept as distance, so that each step is longer than some minimum. */
#include <stdio.h>

#include "base/array.h"
#include "base/progress.h"
#include "convex/convex.h"
#include "convex/convex_cpu.h"
#include "geom/length.h"
#include "geom/motion.h"

#define CONVEX_TOI_PAIRS_PER_RANGE 4u /* pairs per range: some 50 us of work */
/* Of sizes and movement: poses and what follows from them. */
#define POSE_ROUNDING             0x1p-47
#define CONVEX_TOI_STEPS_PER_LOOK 64u /* between checks of the clock: some 50 us */
#define REACH_ROUNDING            (1.0 + 0x1p-48)
/* A factor that lowers a step: its quotient, product and sum are rounded by 2^-53 each. */
#define CONVEX_TOI_STEP_DOWN (1.0 - 0x1p-50)

typedef struct body {
    const carom_convex *shape;
    carom_moving moving;
    double reach; /* of the core from the centre of the motion */
    double size;  /* the same with its margin */
} body;

typedef struct pair_motion {
    body a, b;
    double tolerance, reach, rounding;
    uint64_t most_steps;
} pair_motion;

/* ---- Prepare --------------------------------------------------------------------------------- */

/* At least the distance of any point of the core from c, and what surrounds the core. */
static double convex_toi_reach_of(const carom_convex *s, carom_vec3 c, double *around) {
    double x = fabs(c.x), y = fabs(c.y), z = fabs(c.z), length = carom_length(c);
    *around = s->margin;
    switch (s->kind) {
    case CAROM_CONVEX_KIND_SPHERE:
        *around += s->radius;
        return length;
    case CAROM_CONVEX_KIND_CAPSULE:
        *around += s->radius;
        return carom_length(carom_vec(x, y, z + s->half_height));
    case CAROM_CONVEX_KIND_SEGMENT:
        return carom_length(carom_vec(x, y, z + s->half_height));
    case CAROM_CONVEX_KIND_BOX:
        return carom_length(carom_vec(x + s->half.x, y + s->half.y, z + s->half.z));
    case CAROM_CONVEX_KIND_CYLINDER:
    case CAROM_CONVEX_KIND_CONE:
        return carom_length(
            carom_vec(carom_length(carom_vec(x, y, 0.0)) + s->radius, z + s->half_height, 0.0));
    case CAROM_CONVEX_KIND_ELLIPSOID:
        return length + CAROM_MAX(s->half.x, CAROM_MAX(s->half.y, s->half.z));
    case CAROM_CONVEX_KIND_HULL: {
        const carom_hull_view *hull = &s->borrowed_hull->view;
        carom_vec3 centre = carom_vec(carom_scale_apply(hull->centre.x, hull->exponent),
                                      carom_scale_apply(hull->centre.y, hull->exponent),
                                      carom_scale_apply(hull->centre.z, hull->exponent));
        return carom_length(carom_vec_sub(centre, c)) +
               carom_scale_apply(hull->outer, hull->exponent);
    }
    case CAROM_CONVEX_KIND_SUPPORT:
        return carom_length(carom_vec_sub(s->support_ball.centre, c)) + s->support_ball.radius;
    default:
        return length;
    }
}

static void make_body(const carom_convex *shape, const carom_motion *motion, body *b) {
    double around;
    b->shape = shape;
    carom_moving_make(motion, &b->moving);
    b->reach = convex_toi_reach_of(shape, b->moving.centre, &around) * REACH_ROUNDING;
    b->size = b->reach + around;
}

static carom_status make_pair_motion(carom_context *context, const carom_convex *a,
                                     const carom_motion *motion_a, const carom_convex *b,
                                     const carom_motion *motion_b, const carom_advance_def *def,
                                     const char *which_a, const char *which_b, pair_motion *f) {
    CAROM_TRY(carom_convex_check(context, a, NULL, which_a));
    CAROM_TRY(carom_convex_check(context, b, NULL, which_b));
    CAROM_TRY(carom_motion_check(context, motion_a, " of a"));
    CAROM_TRY(carom_motion_check(context, motion_b, " of b"));
    make_body(a, motion_a, &f->a);
    make_body(b, motion_b, &f->b);
    double sizes = f->a.size + f->b.size +
                   carom_length(carom_vec_sub(f->b.moving.velocity, f->a.moving.velocity));
    f->tolerance =
        def != NULL && def->tolerance > 0.0 ? def->tolerance : CAROM_ADVANCE_TOLERANCE * sizes;
    f->reach = def != NULL ? def->reach : 0.0;
    f->most_steps = def != NULL && def->most_steps > 0 ? def->most_steps : CAROM_ADVANCE_MOST_STEPS;
    f->rounding = POSE_ROUNDING * (sizes + f->a.moving.size + f->b.moving.size);
    return CAROM_OK;
}

/* ---- Advance --------------------------------------------------------------------------------- */

static carom_status convex_toi_advance(carom_context *context, uint32_t worker,
                                       const pair_motion *f, carom_advance *result) {
    carom_convex_learned cache = {0};
    double t = 0.0;
    memset(result, 0, sizeof(*result)); /* the padding, too */
    result->face_a = result->face_b = CAROM_NONE;
    for (;;) {
        carom_pose pose_a = carom_moving_at(&f->a.moving, t);
        carom_pose pose_b = carom_moving_at(&f->b.moving, t);
        carom_convex_question_item q = {.a = f->a.shape,
                                        .b = f->b.shape,
                                        .hull_a = carom_convex_hull_view(f->a.shape),
                                        .hull_b = carom_convex_hull_view(f->b.shape),
                                        .pose_a = &pose_a,
                                        .pose_b = &pose_b};
        carom_convex_result r;
        memset(&r, 0, sizeof(r));
        CAROM_TRY(CAROM_CPU_CALL(context, carom_convex_query)(
            &q, CAROM_CONVEX_QUESTION_DISTANCE, &cache, carom_scratch(context, worker), &r));
        ++result->steps;
        result->time = t;
        result->distance = r.distance;
        result->normal = r.normal;
        result->point_a = r.point_a;
        result->point_b = r.point_b;
        double least = r.distance - r.error - f->rounding - f->reach;
        result->hit = r.relation != CAROM_RELATION_APART || least <= f->tolerance ||
                      result->steps >= f->most_steps;
        if (result->hit) return CAROM_OK;
        double closing =
            carom_moving_speed(&f->a.moving, r.normal, f->a.reach) +
            carom_moving_speed(&f->b.moving, carom_vec_scale(r.normal, -1.0), f->b.reach);
        double free = least - 0.5 * f->tolerance;
        if (!(closing * (1.0 - t) > free)) {
            result->time = 1.0;
            return CAROM_OK;
        }
        t += free / closing * CONVEX_TOI_STEP_DOWN;
        if (result->steps % CONVEX_TOI_STEPS_PER_LOOK == 0 && carom_progress_stop(context, worker))
            return CAROM_CANCELLED;
    }
}

carom_status carom_convex_advance(carom_context *context, const carom_convex *a,
                                  const carom_motion *motion_a, const carom_convex *b,
                                  const carom_motion *motion_b, const carom_advance_def *def,
                                  carom_advance *result) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "shape");
    CAROM_REQUIRE_SHAPE(a);
    CAROM_REQUIRE_SHAPE(b);
    CAROM_REQUIRE_OUTPUT(result, "time");
    CAROM_TRY(carom_context_require_cpu(context, "a convex shape"));
    CAROM_TRY(carom_advance_check(context, def));
    pair_motion f;
    CAROM_TRY(make_pair_motion(context, a, motion_a, b, motion_b, def, "a", "b", &f));
    return convex_toi_advance(context, 0, &f, result);
}

/* ---- Many pairs ------------------------------------------------------------------------------ */

typedef struct convex_toi_job {
    carom_context *context;
    const carom_convex_moving_pair *pairs;
    const carom_advance_def *def;
    carom_advance *advances;
} convex_toi_job;

static carom_status make_pair(const convex_toi_job *j, uint64_t i, pair_motion *f) {
    const carom_convex_moving_pair *pair = &j->pairs[i];
    char which[2][64];
    snprintf(which[0], sizeof(which[0]), "a in pair %llu", (unsigned long long)i);
    snprintf(which[1], sizeof(which[1]), "b in pair %llu", (unsigned long long)i);
    return make_pair_motion(j->context, pair->a, &pair->motion_a, pair->b, &pair->motion_b, j->def,
                            which[0], which[1], f);
}

static carom_status advance_range(void *argument, carom_range range) {
    const convex_toi_job *j = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        pair_motion f;
        CAROM_TRY(make_pair(j, i, &f));
        CAROM_TRY(convex_toi_advance(j->context, range.worker, &f, &j->advances[i]));
    }
    return CAROM_OK;
}

carom_status carom_convex_advance_batch(carom_context *context,
                                        const carom_convex_moving_pair *pairs, uint64_t count,
                                        const carom_advance_def *def, carom_advance *advances) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_OUTPUTS(advances, count, "results");
    for (uint64_t i = 0; i < count; ++i) {
        CAROM_REQUIRE_BATCH_SHAPE(pairs[i].a);
        CAROM_REQUIRE_BATCH_SHAPE(pairs[i].b);
    }
    CAROM_TRY(carom_context_require_cpu(context, "a convex shape"));
    CAROM_TRY(carom_advance_check(context, def));
    convex_toi_job j = {context, pairs, def, advances};
    for (uint64_t i = 0; i < count; ++i) { /* before any work, so that the message is the first */
        pair_motion f;
        carom_status status = make_pair(&j, i, &f);
        if (status != CAROM_OK) return carom_fail_at(context, status, "pair", i);
    }
    return carom_parallel_phase(context, "advancing convex pairs", count,
                                CONVEX_TOI_PAIRS_PER_RANGE, advance_range, &j);
}
