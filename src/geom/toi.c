/* SPDX-License-Identifier: MIT */
/* Public functions for times of impact: check the input, then call the items. */
#include "base/context.h"
#include "geom/advance_item.h"
#include "geom/points_check.h"

static carom_status toi_find(carom_context *context, const carom_vec3 *start, const carom_vec3 *end,
                             int edges, carom_toi *toi) {
    for (int i = 0; i < 8; ++i) {
        carom_vec3 p = i < 4 ? start[i] : end[i - 4];
        if (!carom_vec_finite(p))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "point %d at the %s is (%g, %g, %g); " CAROM_COORDINATES_FINITE,
                              i % 4, i < 4 ? "start" : "end", p.x, p.y, p.z);
    }
    *toi = carom_toi_of(start, end, edges);
    return CAROM_OK;
}

carom_status carom_point_triangle_toi(carom_context *context, const carom_vec3 start[4],
                                      const carom_vec3 end[4], carom_toi *toi) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(start != NULL && end != NULL && toi != NULL, CAROM_A_POINTER_IS_NULL);
    return toi_find(context, start, end, 0, toi);
}

carom_status carom_segments_toi(carom_context *context, const carom_vec3 start[4],
                                const carom_vec3 end[4], carom_toi *toi) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(start != NULL && end != NULL && toi != NULL, CAROM_A_POINTER_IS_NULL);
    return toi_find(context, start, end, 1, toi);
}

carom_toi carom_point_triangle_toi_value(const carom_vec3 start[4], const carom_vec3 end[4]) {
    const carom_toi none = {.hit = false};
    CAROM_REQUIRE_OR(start != NULL && end != NULL, CAROM_A_POINTER_IS_NULL, none);
    CAROM_REQUIRE_OR(carom_points_are_finite(start, 4) && carom_points_are_finite(end, 4),
                     CAROM_COORDINATES_FINITE, none);
    return carom_toi_of(start, end, 0);
}

carom_toi carom_segments_toi_value(const carom_vec3 start[4], const carom_vec3 end[4]) {
    const carom_toi none = {.hit = false};
    CAROM_REQUIRE_OR(start != NULL && end != NULL, CAROM_A_POINTER_IS_NULL, none);
    CAROM_REQUIRE_OR(carom_points_are_finite(start, 4) && carom_points_are_finite(end, 4),
                     CAROM_COORDINATES_FINITE, none);
    return carom_toi_of(start, end, 1);
}

/* ---- Advancement ----------------------------------------------------------------------------- */

static carom_advance advance_of(const carom_vec3 *start, const carom_vec3 *end, int edges,
                                const carom_advance_def *def) {
    const carom_advance_def none = {.tolerance = 0.0};
    return carom_advance_of(start, end, edges, def != NULL ? def : &none);
}

static carom_status advance_checked(carom_context *context, const carom_vec3 *start,
                                    const carom_vec3 *end, int edges, const carom_advance_def *def,
                                    carom_advance *advance) {
    CAROM_TRY(carom_advance_check(context, def));
    if (!carom_points_are_in_range(start, 4) || !carom_points_are_in_range(end, 4))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a coordinate at the %s is not finite or beyond 2^1020",
                          carom_points_are_in_range(start, 4) ? "end" : "start");
    *advance = advance_of(start, end, edges, def);
    return CAROM_OK;
}

carom_status carom_point_triangle_advance(carom_context *context, const carom_vec3 start[4],
                                          const carom_vec3 end[4], const carom_advance_def *def,
                                          carom_advance *advance) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(start != NULL && end != NULL && advance != NULL, CAROM_A_POINTER_IS_NULL);
    return advance_checked(context, start, end, 0, def, advance);
}

carom_status carom_segments_advance(carom_context *context, const carom_vec3 start[4],
                                    const carom_vec3 end[4], const carom_advance_def *def,
                                    carom_advance *advance) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(start != NULL && end != NULL && advance != NULL, CAROM_A_POINTER_IS_NULL);
    return advance_checked(context, start, end, 1, def, advance);
}

/* Negative, infinite and NaN are callers' bugs here. */
static bool def_ok(const carom_advance_def *def) {
    return def == NULL || (def->tolerance >= 0.0 && def->tolerance <= DBL_MAX &&
                           def->reach >= 0.0 && def->reach <= DBL_MAX);
}

static carom_advance advance_value(const carom_vec3 *start, const carom_vec3 *end, int edges,
                                   const carom_advance_def *def) {
    const carom_advance none = {.hit = false};
    CAROM_REQUIRE_OR(start != NULL && end != NULL, CAROM_A_POINTER_IS_NULL, none);
    CAROM_REQUIRE_OR(carom_points_are_in_range(start, 4) && carom_points_are_in_range(end, 4),
                     CAROM_COORDINATES_IN_RANGE, none);
    CAROM_REQUIRE_OR(def_ok(def), "tolerance and reach must be finite, not negative", none);
    return advance_of(start, end, edges, def);
}

carom_advance carom_point_triangle_advance_value(const carom_vec3 start[4], const carom_vec3 end[4],
                                                 const carom_advance_def *def) {
    return advance_value(start, end, 0, def);
}

carom_advance carom_segments_advance_value(const carom_vec3 start[4], const carom_vec3 end[4],
                                           const carom_advance_def *def) {
    return advance_value(start, end, 1, def);
}

/* ---- Balls ----------------------------------------------------------------------------------- */

static bool ball_ok(const carom_ball *ball) {
    return carom_vec_finite(ball->centre) && ball->radius >= 0.0 && ball->radius <= DBL_MAX;
}

carom_status carom_ball_toi(carom_context *context, const carom_ball start[2],
                            const carom_ball end[2], carom_toi *toi) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(start != NULL && end != NULL && toi != NULL, CAROM_A_POINTER_IS_NULL);
    for (int i = 0; i < 4; ++i) {
        const carom_ball *ball = i < 2 ? &start[i] : &end[i - 2];
        if (!ball_ok(ball))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "ball %d at the %s has centre (%g, %g, %g) and radius %g; both must "
                              "be finite, the radius not negative",
                              i % 2, i < 2 ? "start" : "end", ball->centre.x, ball->centre.y,
                              ball->centre.z, ball->radius);
    }
    carom_toi_balls(start, end, toi);
    return CAROM_OK;
}

carom_toi carom_ball_toi_value(const carom_ball start[2], const carom_ball end[2]) {
    carom_toi toi = {.hit = false};
    CAROM_REQUIRE_OR(start != NULL && end != NULL, CAROM_A_POINTER_IS_NULL, toi);
    for (int i = 0; i < 2; ++i)
        CAROM_REQUIRE_OR(ball_ok(&start[i]) && ball_ok(&end[i]),
                         "centres and radii must be finite, radii not negative", toi);
    carom_toi_balls(start, end, &toi);
    return toi;
}
