/* SPDX-License-Identifier: MIT */
/* When two rigid soups first meet, by conservative advancement over both trees (Mirtich 1996; for
 * trees Tang, Kim, Manocha, "C2A: controlled conservative advancement", 2009).
 *
 * At time t two posed triangles are d apart in direction n, along which they close in at no more
 * than c per time (motion.h), so they cannot meet before t + d / c. The search for the nearest pair
 * finds the least of these times over all pairs: with C the most that any two points can close in,
 * a pair farther apart than C times the least time so far cannot make it less. Every pair that
 * could is measured, so the outcome does not depend on the order.
 *
 * Half of the tolerance is kept as distance, so that each step is longer than some minimum. */
#include "base/progress.h"
#include "bvh/bvh_obb_search.h"
#include "geom/distance_item.h"
#include "geom/motion.h"
#include "soup/soup.h"
#include "soup/soup_place.h"

#define ROUNDING 0x1p-46 /* of sizes and movement: poses, distances and bounds of speeds */

/* What is found at one time. */
typedef struct outcome {
    double time;   /* that may pass before any pair can meet; 0 where one is near */
    bool near;     /* a pair is within the tolerance: the nearest of them follows */
    bool measured; /* it has been measured at all */
    carom_closest closest;
    uint32_t face_a, face_b, a, b;
} outcome;

typedef struct advance {
    carom_context *context;
    const carom_soup *soups[2];
    carom_moving moving[2];
    double tolerance, separation, rounding;
    double closing; /* C */
    double left;    /* time until the end */
    carom_soup_placing placing;
} advance;

typedef struct worker {
    carom_obb_worker base;
    const advance *advance;
    outcome best;
    uint64_t measured;
    uint32_t last_b; /* the triangle posed last */
    carom_triangle posed_b;
} worker;

/* ---- Two triangles --------------------------------------------------------------------------- */

/* The farthest corner's distance from the centre of the motion. */
static double reach_of(const carom_moving *moving, const carom_triangle *t) {
    double most = 0.0;
    for (int i = 0; i < 3; ++i) {
        double reach = carom_length(carom_vec_sub(t->corner[i], moving->centre));
        most = CAROM_MAX(reach, most);
    }
    return most * (1.0 + 0x1p-48);
}

/* The gap between two triangles along n; negative where it does not separate them. */
static double gap_along(const carom_triangle *a, const carom_triangle *b, carom_vec3 from,
                        carom_vec3 n) {
    double last = -HUGE_VAL, first = HUGE_VAL;
    for (int i = 0; i < 3; ++i) {
        double at_a = carom_vec_dot(carom_vec_sub(a->corner[i], from), n);
        double at_b = carom_vec_dot(carom_vec_sub(b->corner[i], from), n);
        last = CAROM_MAX(at_a, last);
        first = CAROM_MIN(at_b, first);
    }
    return first - last;
}

/* The time that may pass before two triangles meet, infinite when they never do. Two bounds: by
 * their distance, and by the gap along the direction between the nearest points. */
static double free_time(const advance *v, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                        const carom_triangle *posed_b, const carom_closest *closest) {
    double kept = v->separation + 0.5 * v->tolerance + v->rounding;
    carom_vec3 n = carom_vec_sub(closest->b, closest->a);
    double length = carom_length(n), time = (closest->distance - kept) / v->closing;
    if (!(length > 0.0)) return time;
    n = carom_vec_scale(n, 1.0 / length);
    double gap = gap_along(posed_a, posed_b, closest->a, n) - kept;
    if (!(gap > 0.0)) return time;
    carom_triangle own_a = carom_soup_view_triangle(&v->placing.a.view, a);
    carom_triangle own_b = carom_soup_view_triangle(&v->placing.b.view, b);
    double closing = carom_moving_speed(&v->moving[0], n, reach_of(&v->moving[0], &own_a)) +
                     carom_moving_speed(&v->moving[1], carom_vec_scale(n, -1.0),
                                        reach_of(&v->moving[1], &own_b)) +
                     v->rounding;
    double along = closing > 0.0 ? gap / closing : HUGE_VAL;
    return CAROM_MAX(along, time);
}

static bool is_nearer(const outcome *x, const outcome *than) {
    if (x->closest.distance != than->closest.distance)
        return x->closest.distance < than->closest.distance;
    if (x->face_a != than->face_a) return x->face_a < than->face_a;
    if (x->face_b != than->face_b) return x->face_b < than->face_b;
    return x->a != than->a ? x->a < than->a : x->b < than->b;
}

/* Takes what is earlier; of pairs within the tolerance, or equally early, the nearest. */
static void offer(outcome *best, const outcome *x) {
    if (!x->measured) return;
    bool better =
        !best->measured || x->time < best->time || (x->time == best->time && is_nearer(x, best));
    if (better) *best = *x;
}

static outcome look_at(const advance *v, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                       const carom_triangle *posed_b) {
    outcome x = {.measured = true,
                 .face_a = carom_soup_face(v->soups[0], a),
                 .face_b = carom_soup_face(v->soups[1], b),
                 .a = a,
                 .b = b};
    carom_near_triangles(posed_a->corner, posed_b->corner, &x.closest);
    x.near = x.closest.distance - v->rounding - v->separation <= v->tolerance;
    x.time = x.near ? 0.0 : free_time(v, a, b, posed_a, posed_b, &x.closest);
    return x;
}

/* Pairs farther apart than this matter no more. */
static double limit_after(const advance *v, const outcome *best) {
    double time = best->measured ? CAROM_MIN(best->time, v->left) : v->left;
    return time * v->closing * (1.0 + 0x1p-40) + v->separation + v->tolerance + 2.0 * v->rounding;
}

/* ---- All pairs at one time ------------------------------------------------------------------- */

static float measure(carom_obb_traversal *traversal, uint32_t place_a, uint32_t place_b) {
    worker *w = traversal->user;
    const advance *v = w->advance;
    const carom_soup_placing *placing = &v->placing;
    uint32_t a = placing->a.items[place_a], b = placing->b.items[place_b];
    carom_triangle posed_a = carom_soup_posed(&placing->a, a);
    if (b != w->last_b) w->posed_b = carom_soup_posed(&placing->b, w->last_b = b);
    outcome x = look_at(v, a, b, &posed_a, &w->posed_b);
    offer(&w->best, &x);
    ++w->measured;
    return carom_obb_search_lower(w->base.search,
                                  carom_soup_limit_of(placing, limit_after(v, &w->best)));
}

static void worker_begin(void *user, void *state) {
    const advance *v = *(const advance **)user;
    worker *w = state;
    w->advance = v;
    w->best.measured = false;
    w->measured = 0;
    w->last_b = CAROM_BVH_NONE;
    carom_soup_begin_traversal(&v->placing, &w->base.traversal);
    carom_soup_set_direction(&w->base.traversal, &v->placing, v->placing.offset);
}

static carom_status search_trees(advance *v, outcome *best) {
    const worker *w;
    const advance *user = v;
    carom_obb_search search = {.context = v->context,
                               .state_size = sizeof(worker),
                               .user = &user,
                               .begin = worker_begin,
                               .measure = measure,
                               .budget = UINT64_MAX,
                               .limit = carom_soup_limit_of(&v->placing, limit_after(v, best))};
    CAROM_TRY(carom_obb_search_begin(&search));
    carom_status status = carom_obb_search_run(&search);
    v->context->work.visits += search.visits;
    for (uint32_t i = 0; (w = carom_worker_states_next(&search.states, &i)) != NULL;) {
        v->context->work.candidates += w->measured;
        offer(best, &w->best);
    }
    carom_obb_search_end(&search);
    return status;
}

typedef struct all_with_all {
    const advance *advance;
    outcome best;
    double limit;
} all_with_all;

static bool look_at_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                        const carom_triangle *posed_b) {
    all_with_all *all = user;
    outcome x = look_at(all->advance, a, b, posed_a, posed_b);
    offer(&all->best, &x);
    all->limit = CAROM_MIN(limit_after(all->advance, &all->best), all->limit);
    return true;
}

static carom_status compare_all(advance *v, outcome *best) {
    all_with_all all = {.advance = v, .limit = limit_after(v, best)};
    CAROM_TRY(carom_soup_each_two(v->context, &v->placing,
                                  carom_soup_direction_of(v->placing.offset), &all.limit,
                                  look_at_two, &all));
    *best = all.best;
    return CAROM_OK;
}

static carom_status look_at_time(advance *v, double t, outcome *best) {
    carom_pose pose_a = carom_moving_at(&v->moving[0], t);
    carom_pose pose_b = carom_moving_at(&v->moving[1], t);
    *best = (outcome){.time = HUGE_VAL};
    v->left = 1.0 - t;
    CAROM_TRY(
        carom_soup_place(v->context, v->soups[0], &pose_a, v->soups[1], &pose_b, &v->placing));
    carom_arena *scratch = carom_scratch(v->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status =
        v->placing.extreme || v->placing.far ? compare_all(v, best) : search_trees(v, best);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Advance --------------------------------------------------------------------------------- */

/* At least the distance of every vertex from the centre of the motion. */
static double soup_reach(const carom_soup *soup, const carom_moving *moving) {
    const double centre[3] = {moving->centre.x, moving->centre.y, moving->centre.z};
    const double origin[3] = {soup->origin.x, soup->origin.y, soup->origin.z};
    double most[3] = {0.0, 0.0, 0.0};
    if (soup->vertex_count == 0) return 0.0;
    for (int k = 0; k < 3; ++k) {
        double low = ((double)soup->bounds.low[k] + origin[k]) / soup->scale - centre[k];
        double high = ((double)soup->bounds.high[k] + origin[k]) / soup->scale - centre[k];
        most[k] = CAROM_MAX(fabs(low), fabs(high));
    }
    return carom_length(carom_vec(most[0], most[1], most[2])) * (1.0 + 0x1p-20);
}

static carom_status begin(advance *v, const carom_motion *motion_a, const carom_motion *motion_b,
                          const carom_advance_def *def) {
    carom_context *context = v->context;
    CAROM_TRY(carom_context_require_cpu(context, "the time of impact of soups"));
    CAROM_TRY(carom_advance_check(context, def));
    CAROM_TRY(carom_motion_check(context, motion_a, " of a"));
    CAROM_TRY(carom_motion_check(context, motion_b, " of b"));
    for (int i = 0; i < 2; ++i) CAROM_TRY(carom_soup_check_ready(context, v->soups[i]));
    carom_moving_make(motion_a, &v->moving[0]);
    carom_moving_make(motion_b, &v->moving[1]);
    double reach[2], sizes = 0.0, far = 0.0;
    for (int i = 0; i < 2; ++i) {
        reach[i] = soup_reach(v->soups[i], &v->moving[i]);
        sizes += reach[i];
        far += v->moving[i].size;
    }
    double speed = carom_length(carom_vec_sub(v->moving[1].velocity, v->moving[0].velocity));
    v->closing =
        (speed + v->moving[0].angle * reach[0] + v->moving[1].angle * reach[1]) * (1.0 + 0x1p-40);
    sizes += speed;
    v->tolerance =
        def != NULL && def->tolerance > 0.0 ? def->tolerance : CAROM_ADVANCE_TOLERANCE * sizes;
    v->separation = def != NULL ? def->separation : 0.0;
    v->rounding = ROUNDING * (sizes + far);
    v->closing += v->rounding;
    context->work = (carom_work){0};
    return CAROM_OK;
}

static void report(const outcome *best, double time, carom_soup_toi *toi) {
    toi->hit = true;
    toi->time = time;
    toi->distance = best->closest.distance;
    toi->face_a = best->face_a;
    toi->face_b = best->face_b;
    toi->point_a = best->closest.a;
    toi->point_b = best->closest.b;
}

/* Whether faces meet at time 0, exactly. */
static carom_status find_meeting(advance *v, outcome *best) {
    carom_soup_meeting meeting;
    carom_pose pose_a = carom_moving_at(&v->moving[0], 0.0);
    carom_pose pose_b = carom_moving_at(&v->moving[1], 0.0);
    CAROM_TRY(
        carom_soup_place(v->context, v->soups[0], &pose_a, v->soups[1], &pose_b, &v->placing));
    CAROM_TRY(carom_soup_find_first(v->context, &v->placing, &meeting));
    if (!meeting.any) return CAROM_OK;
    carom_triangle a = carom_soup_posed(&v->placing.a, meeting.a);
    carom_triangle b = carom_soup_posed(&v->placing.b, meeting.b);
    *best = look_at(v, meeting.a, meeting.b, &a, &b);
    best->closest.distance = 0.0;
    best->near = true;
    return CAROM_OK;
}

static carom_status run(advance *v, uint64_t most_steps, carom_soup_toi *toi) {
    outcome best = {.near = false};
    double t = 0.0;
    CAROM_TRY(find_meeting(v, &best));
    if (best.near) {
        report(&best, 0.0, toi);
        return CAROM_OK;
    }
    for (;;) {
        CAROM_TRY(look_at_time(v, t, &best));
        ++toi->steps;
        if (best.measured && (best.near || toi->steps >= most_steps)) {
            report(&best, t, toi);
            return CAROM_OK;
        }
        if (!best.measured || !(best.time < 1.0 - t)) return CAROM_OK;
        t += best.time * (1.0 - 0x1p-50);
        CAROM_TRY(carom_progress_look(v->context));
    }
}

carom_status carom_soup_cross_toi(carom_context *context, const carom_soup *a,
                                  const carom_motion *motion_a, const carom_soup *b,
                                  const carom_motion *motion_b, const carom_advance_def *def,
                                  carom_soup_toi *toi) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE(toi != NULL, "the place for the time is NULL");
    advance v = {.context = context, .soups = {a, b}};
    CAROM_TRY(begin(&v, motion_a, motion_b, def));
    memset(toi, 0, sizeof(*toi)); /* the padding, too */
    toi->time = 1.0;
    toi->face_a = toi->face_b = CAROM_NO_FACE;
    carom_progress_begin(context, "advancing two soups", 0);
    uint64_t most_steps =
        def != NULL && def->most_steps > 0 ? def->most_steps : CAROM_ADVANCE_MOST_STEPS;
    return carom_progress_finish(context, run(&v, most_steps, toi));
}
