/* SPDX-License-Identifier: MIT */
/* When two rigid soups first meet, by conservative advancement over both trees (Mirtich 1996; for
 * trees Tang, Kim, Manocha, "C2A: controlled conservative advancement", 2009).
 *
 * At time t two posed triangles are d apart in direction n, along which they close in at no more
 * than c per time (motion.h), so they cannot meet before t + d / c. The search for the nearest pair
 * finds the least of these times over all pairs: with C the most that any two points can close in,
 * a pair farther apart than C times the least time so far cannot make it less. Nor are pairs looked
 * at that are much farther apart than the nearest: they have the time that C leaves them. The
 * outcome does not depend on the order.
 *
 * Half of the tolerance is kept as distance, so that each step is longer than some minimum. */
#include "base/progress.h"
#include "geom/motion.h"
#include "soup/soup.h"
#include "soup/soup_nearest.h"

/* Of the sizes per root of the number of triangles: some hundredths of an edge. Two bunnies of 69k
 * triangles meet in 41 steps and 17 ms; with 1 instead in 35 steps and 160 ms. */
#define TOI_DETAIL   0.05
#define TOI_ROUNDING 0x1p-46 /* of sizes and movement: poses, distances and bounds of speeds */
/* Factors. Of a distance of double coordinates, rounded upwards: 4 unit roundoffs of 2^-53 are
 * lost, 32 are given. Of a reach from bounds in float32, which are rounded outwards themselves:
 * their sums in doubles lose a few of 2^-53, 2^-20 costs nothing. Of speeds, limits and steps, each
 * a few products and sums of doubles: more than all of their roundings, and too little to cost a
 * step. */
#define TOI_REACH_UP  (1.0 + 0x1p-48)
#define TOI_BOUNDS_UP (1.0 + 0x1p-20)
#define TOI_SPEED_UP  (1.0 + 0x1p-40)
#define TOI_STEP_DOWN (1.0 - 0x1p-40)

typedef struct soup_toi_advance {
    carom_context *context;
    const carom_soup *soups[2];
    carom_moving moving[2];
    double tolerance, reach, rounding;
    double closing; /* C */
    double detail;  /* TOI_DETAIL as a distance */
    double left;    /* time until the end */
    carom_soup_posed_pair posed;
} soup_toi_advance;

/* ---- Two triangles --------------------------------------------------------------------------- */

/* The farthest corner's distance from the centre of the motion. */
static double soup_toi_reach_of(const carom_moving *moving, const carom_triangle *t) {
    double most = 0.0;
    for (int i = 0; i < 3; ++i) {
        double reach = carom_length(carom_vec_sub(t->corner[i], moving->centre));
        most = CAROM_MAX(reach, most);
    }
    return most * TOI_REACH_UP;
}

/* The gap between two triangles along n; negative where it does not separate them. */
static double soup_toi_gap_along(const carom_triangle *a, const carom_triangle *b, carom_vec3 from,
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
static double free_time(const soup_toi_advance *v, uint32_t a, uint32_t b,
                        const carom_triangle *posed_a, const carom_triangle *posed_b,
                        const carom_closest *closest) {
    double kept = v->reach + 0.5 * v->tolerance + v->rounding;
    carom_vec3 n = carom_vec_sub(closest->b, closest->a);
    double length = carom_length(n), time = (closest->distance - kept) / v->closing;
    if (!(length > 0.0)) return time;
    n = carom_vec_scale(n, 1.0 / length);
    double gap = soup_toi_gap_along(posed_a, posed_b, closest->a, n) - kept;
    if (!(gap > 0.0)) return time;
    carom_triangle own_a = carom_soup_view_triangle(&v->posed.a.view, a);
    carom_triangle own_b = carom_soup_view_triangle(&v->posed.b.view, b);
    double closing =
        carom_moving_speed(&v->moving[0], n, soup_toi_reach_of(&v->moving[0], &own_a)) +
        carom_moving_speed(&v->moving[1], carom_vec_scale(n, -1.0),
                           soup_toi_reach_of(&v->moving[1], &own_b)) +
        v->rounding;
    double along = closing > 0.0 ? gap / closing : HUGE_VAL;
    return CAROM_MAX(along, time);
}

/* The time that may pass before they can meet; 0 where they are within the tolerance. */
static bool soup_toi_measure(const void *user, const carom_soup_nearest *best,
                             const carom_triangle *posed_a, const carom_triangle *posed_b,
                             carom_soup_nearest *found) {
    const soup_toi_advance *v = user;
    (void)best;
    carom_near_triangles(posed_a->corner, posed_b->corner, &found->closest);
    bool near = found->closest.distance - v->rounding - v->reach <= v->tolerance;
    found->time = near ? 0.0 : free_time(v, found->a, found->b, posed_a, posed_b, &found->closest);
    return true;
}

/* Pairs farther apart than this cannot meet in the time that is left. */
static double limit_for(const soup_toi_advance *v, double time) {
    time = CAROM_MIN(time, v->left);
    return time * v->closing * TOI_SPEED_UP + v->reach + v->tolerance + 2.0 * v->rounding;
}

/* Pairs farther apart than this are not looked at: where soups are far apart or turn, too many
 * could be the next to meet. */
static double horizon_of(const soup_toi_advance *v, double least) {
    return least + CAROM_MIN(least, v->detail);
}

static double soup_toi_limit_after(const void *user, const carom_soup_nearest *best) {
    const soup_toi_advance *v = user;
    double in_time = limit_for(v, best->time), near = horizon_of(v, best->least);
    return CAROM_MIN(in_time, near);
}

/* The time that may pass: that of the best pair, or before pairs that were not looked at can meet.
 * What is beyond the horizon and was looked at all the same has more time than that, so the result
 * does not depend on the order. */
static double step_after(const soup_toi_advance *v, const carom_soup_nearest *best) {
    double kept = v->reach + 0.5 * v->tolerance + v->rounding;
    double others = (horizon_of(v, best->least) - kept) / v->closing;
    return CAROM_MIN(best->time, others);
}

/* ---- All pairs at one time ------------------------------------------------------------------- */

static carom_status pose_at(soup_toi_advance *v, double t) {
    carom_pose pose_a = carom_moving_at(&v->moving[0], t);
    carom_pose pose_b = carom_moving_at(&v->moving[1], t);
    return carom_soup_pose(v->context, v->soups[0], &pose_a, v->soups[1], &pose_b, &v->posed);
}

static carom_status look_at_time(soup_toi_advance *v, double t, carom_soup_nearest *best) {
    v->left = 1.0 - t;
    CAROM_TRY(pose_at(v, t));
    carom_soup_nearest_search search = {.context = v->context,
                                        .posed = &v->posed,
                                        .user = v,
                                        .limit = limit_for(v, v->left),
                                        .measure = soup_toi_measure,
                                        .limit_after = soup_toi_limit_after};
    return carom_soup_find_nearest_two(&search, best);
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
    return carom_length(carom_vec(most[0], most[1], most[2])) * TOI_BOUNDS_UP;
}

static carom_status soup_toi_begin(soup_toi_advance *v, const carom_motion *motion_a,
                                   const carom_motion *motion_b, const carom_advance_def *def) {
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
        (speed + v->moving[0].angle * reach[0] + v->moving[1].angle * reach[1]) * TOI_SPEED_UP;
    double triangles = 1.0 + (double)v->soups[0]->triangle_count + v->soups[1]->triangle_count;
    v->detail = TOI_DETAIL * sizes / sqrt(triangles);
    sizes += speed;
    v->tolerance =
        def != NULL && def->tolerance > 0.0 ? def->tolerance : CAROM_ADVANCE_TOLERANCE * sizes;
    v->reach = def != NULL ? def->reach : 0.0;
    v->rounding = TOI_ROUNDING * (sizes + far);
    v->closing += v->rounding;
    context->work = (carom_work){0};
    return CAROM_OK;
}

static void report(const carom_soup_nearest *best, double time, carom_advance *toi) {
    toi->hit = true;
    toi->time = time;
    toi->distance = best->closest.distance;
    toi->face_a = best->face_a;
    toi->face_b = best->face_b;
    toi->point_a = best->closest.a;
    toi->point_b = best->closest.b;
}

/* Whether faces meet at time 0, exactly. */
static carom_status find_first_pair(soup_toi_advance *v, carom_soup_nearest *best) {
    carom_soup_first_pair first_pair;
    CAROM_TRY(pose_at(v, 0.0));
    CAROM_TRY(carom_soup_find_first(v->context, &v->posed, &first_pair));
    if (!first_pair.any) return CAROM_OK;
    carom_soup_nearest_of(&v->posed, first_pair.a, first_pair.b, best);
    best->closest.distance = 0.0;
    return CAROM_OK;
}

static carom_status soup_toi_run_steps(soup_toi_advance *v, uint64_t most_steps,
                                       carom_advance *toi) {
    carom_soup_nearest best = {.any = false};
    double t = 0.0;
    CAROM_TRY(find_first_pair(v, &best));
    if (best.any) {
        report(&best, 0.0, toi);
        return CAROM_OK;
    }
    for (;;) {
        CAROM_TRY(look_at_time(v, t, &best));
        ++toi->steps;
        if (best.any && (best.time == 0.0 || toi->steps >= most_steps)) {
            report(&best, t, toi);
            return CAROM_OK;
        }
        double step = best.any ? step_after(v, &best) : HUGE_VAL;
        if (!(step < 1.0 - t)) return CAROM_OK;
        t += step * TOI_STEP_DOWN;
        CAROM_TRY(carom_progress_look(v->context));
    }
}

carom_status carom_soup_cross_advance(carom_context *context, const carom_soup *a,
                                      const carom_motion *motion_a, const carom_soup *b,
                                      const carom_motion *motion_b, const carom_advance_def *def,
                                      carom_advance *toi) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(toi, "time");
    soup_toi_advance v = {.context = context, .soups = {a, b}};
    CAROM_TRY(soup_toi_begin(&v, motion_a, motion_b, def));
    memset(toi, 0, sizeof(*toi)); /* the padding, too */
    toi->time = 1.0;
    toi->face_a = toi->face_b = CAROM_NONE;
    carom_progress_begin(context, "advancing two soups", 0);
    uint64_t most_steps =
        def != NULL && def->most_steps > 0 ? def->most_steps : CAROM_ADVANCE_MOST_STEPS;
    return carom_progress_finish(context, soup_toi_run_steps(&v, most_steps, toi));
}
