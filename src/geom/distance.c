/* SPDX-License-Identifier: MIT */
/* Public functions of distance_item.h, triangle_box.h, enclosing_ball.h and lens.h: check the
 * input, then call the item. The forms with a context give bad input a message, those without one
 * pass it to the assert handler. */
#include "base/context.h"
#include "geom/distance_item.h"
#include "geom/enclosing_ball.h"
#include "geom/lens.h"
#include "geom/points_check.h"
#include "geom/triangle_box.h"

static bool usable_ball(const carom_ball *ball) {
    return carom_point_is_in_range(ball->centre) && ball->radius >= 0.0 &&
           ball->radius <= CAROM_LARGEST_COORDINATE;
}

/* Names the invalid input: "point 2 of the first triangle is …", "the point is …". */
static carom_status distance_check(carom_context *context, const carom_vec3 *points, int count,
                                   const char *what) {
    for (int i = 0; i < count; ++i) {
        carom_vec3 p = points[i];
        if (carom_point_is_in_range(p)) continue;
        if (count == 1)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "the %s is (%g, %g, %g); give finite coordinates up to 2^1020", what,
                              p.x, p.y, p.z);
        return carom_fail(
            context, CAROM_BAD_INPUT,
            "point %d of the %s is (%g, %g, %g); give finite coordinates up to 2^1020", i, what,
            p.x, p.y, p.z);
    }
    return CAROM_OK;
}

static carom_status distance_check_ball(carom_context *context, const carom_ball *ball,
                                        const char *what, const char *what_centre) {
    CAROM_TRY(distance_check(context, &ball->centre, 1, what_centre));
    if (!usable_ball(ball))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the radius of the %s is %g; give one from 0 to 2^1020", what,
                          ball->radius);
    return CAROM_OK;
}

#define BAD_VALUE CAROM_COORDINATES_IN_RANGE ", radii from 0 to 2^1020"

/* For the forms without a context: `pointers` are not NULL, and the input is `good`. */
#define REQUIRE_VALUE(pointers, good, result)                                                      \
    CAROM_REQUIRE_OR(pointers, CAROM_A_POINTER_IS_NULL, result);                                   \
    CAROM_REQUIRE_OR(good, BAD_VALUE, result)

#define REQUIRE_ALL(condition)                                                                     \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE(condition, CAROM_A_POINTER_IS_NULL)

carom_status carom_point_segment_distance(carom_context *context, const carom_vec3 *point,
                                          const carom_vec3 segment[2], carom_closest *closest) {
    REQUIRE_ALL(point != NULL && segment != NULL && closest != NULL);
    CAROM_TRY(distance_check(context, point, 1, "point"));
    CAROM_TRY(distance_check(context, segment, 2, "segment"));
    carom_near_point_segment(*point, segment, closest);
    return CAROM_OK;
}

carom_status carom_segments_distance(carom_context *context, const carom_vec3 a[2],
                                     const carom_vec3 b[2], carom_closest *closest) {
    REQUIRE_ALL(a != NULL && b != NULL && closest != NULL);
    CAROM_TRY(distance_check(context, a, 2, "first segment"));
    CAROM_TRY(distance_check(context, b, 2, "second segment"));
    carom_near_segments(a, b, closest);
    return CAROM_OK;
}

carom_status carom_point_triangle_distance(carom_context *context, const carom_vec3 *point,
                                           const carom_triangle *triangle, carom_closest *closest) {
    REQUIRE_ALL(point != NULL && triangle != NULL && closest != NULL);
    CAROM_TRY(distance_check(context, point, 1, "point"));
    CAROM_TRY(distance_check(context, triangle->corner, 3, "triangle"));
    carom_near_point_triangle(*point, triangle->corner, closest);
    return CAROM_OK;
}

carom_status carom_segment_triangle_distance(carom_context *context, const carom_vec3 segment[2],
                                             const carom_triangle *triangle,
                                             carom_closest *closest) {
    REQUIRE_ALL(segment != NULL && triangle != NULL && closest != NULL);
    CAROM_TRY(distance_check(context, segment, 2, "segment"));
    CAROM_TRY(distance_check(context, triangle->corner, 3, "triangle"));
    carom_near_segment_triangle(segment, triangle->corner, closest);
    return CAROM_OK;
}

carom_status carom_triangles_distance(carom_context *context, const carom_triangle *a,
                                      const carom_triangle *b, carom_closest *closest) {
    REQUIRE_ALL(a != NULL && b != NULL && closest != NULL);
    CAROM_TRY(distance_check(context, a->corner, 3, "first triangle"));
    CAROM_TRY(distance_check(context, b->corner, 3, "second triangle"));
    carom_near_triangles(a->corner, b->corner, closest);
    return CAROM_OK;
}

carom_status carom_triangle_meets_box(carom_context *context, const carom_triangle *triangle,
                                      const carom_bounds *box, bool *meets) {
    REQUIRE_ALL(triangle != NULL && box != NULL && meets != NULL);
    CAROM_TRY(distance_check(context, triangle->corner, 3, "triangle"));
    CAROM_TRY(distance_check(context, &box->low, 1, "box's lower end"));
    CAROM_TRY(distance_check(context, &box->high, 1, "box's upper end"));
    *meets = carom_triangle_meets_bounds(triangle->corner, box);
    return CAROM_OK;
}

carom_status carom_ball_of_triangle(carom_context *context, const carom_triangle *triangle,
                                    carom_ball *ball) {
    REQUIRE_ALL(triangle != NULL && ball != NULL);
    CAROM_TRY(distance_check(context, triangle->corner, 3, "triangle"));
    carom_ball_around_triangle(triangle->corner, ball);
    return CAROM_OK;
}

carom_status carom_ball_of_points(carom_context *context, const carom_vec3 *points, uint64_t count,
                                  carom_ball *ball) {
    uint64_t bad = 0;
    REQUIRE_ALL(points != NULL && ball != NULL);
    CAROM_REQUIRE(count > 0, "there must be a point");
    if (carom_ball_around_points(points, count, ball, &bad)) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "point %llu of %llu is (%g, %g, %g); give finite coordinates up to 2^1020",
                      (unsigned long long)bad, (unsigned long long)count, points[bad].x,
                      points[bad].y, points[bad].z);
}

carom_status carom_ball_of_balls(carom_context *context, const carom_ball *balls, uint64_t count,
                                 carom_ball *ball) {
    uint64_t bad = 0;
    REQUIRE_ALL(balls != NULL && ball != NULL);
    CAROM_REQUIRE(count > 0, "there must be a ball");
    if (carom_ball_around_balls(balls, count, ball, &bad)) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "ball %llu of %llu is (%g, %g, %g) with radius %g; give finite coordinates "
                      "and a radius from 0, all up to 2^1020",
                      (unsigned long long)bad, (unsigned long long)count, balls[bad].centre.x,
                      balls[bad].centre.y, balls[bad].centre.z, balls[bad].radius);
}

carom_status carom_ball_lens(carom_context *context, const carom_ball *a, const carom_ball *b,
                             carom_lens *lens) {
    REQUIRE_ALL(a != NULL && b != NULL && lens != NULL);
    CAROM_TRY(distance_check_ball(context, a, "first ball", "centre of the first ball"));
    CAROM_TRY(distance_check_ball(context, b, "second ball", "centre of the second ball"));
    carom_lens_of_balls(a, b, lens);
    return CAROM_OK;
}

/* ---- Value forms ----------------------------------------------------------------------------- */

carom_closest carom_point_segment_distance_value(const carom_vec3 *point,
                                                 const carom_vec3 segment[2]) {
    carom_closest closest = {.distance = 0.0};
    REQUIRE_VALUE(point != NULL && segment != NULL,
                  carom_point_is_in_range(*point) && carom_points_are_in_range(segment, 2),
                  closest);
    carom_near_point_segment(*point, segment, &closest);
    return closest;
}

carom_closest carom_segments_distance_value(const carom_vec3 a[2], const carom_vec3 b[2]) {
    carom_closest closest = {.distance = 0.0};
    REQUIRE_VALUE(a != NULL && b != NULL,
                  carom_points_are_in_range(a, 2) && carom_points_are_in_range(b, 2), closest);
    carom_near_segments(a, b, &closest);
    return closest;
}

carom_closest carom_point_triangle_distance_value(const carom_vec3 *point,
                                                  const carom_triangle *triangle) {
    carom_closest closest = {.distance = 0.0};
    REQUIRE_VALUE(point != NULL && triangle != NULL,
                  carom_point_is_in_range(*point) && carom_points_are_in_range(triangle->corner, 3),
                  closest);
    carom_near_point_triangle(*point, triangle->corner, &closest);
    return closest;
}

carom_closest carom_segment_triangle_distance_value(const carom_vec3 segment[2],
                                                    const carom_triangle *triangle) {
    carom_closest closest = {.distance = 0.0};
    REQUIRE_VALUE(segment != NULL && triangle != NULL,
                  carom_points_are_in_range(segment, 2) &&
                      carom_points_are_in_range(triangle->corner, 3),
                  closest);
    carom_near_segment_triangle(segment, triangle->corner, &closest);
    return closest;
}

carom_closest carom_triangles_distance_value(const carom_triangle *a, const carom_triangle *b) {
    carom_closest closest = {.distance = 0.0};
    REQUIRE_VALUE(a != NULL && b != NULL,
                  carom_points_are_in_range(a->corner, 3) &&
                      carom_points_are_in_range(b->corner, 3),
                  closest);
    carom_near_triangles(a->corner, b->corner, &closest);
    return closest;
}

bool carom_triangle_meets_box_value(const carom_triangle *triangle, const carom_bounds *box) {
    REQUIRE_VALUE(triangle != NULL && box != NULL,
                  carom_points_are_in_range(triangle->corner, 3) &&
                      carom_point_is_in_range(box->low) && carom_point_is_in_range(box->high),
                  false);
    return carom_triangle_meets_bounds(triangle->corner, box);
}

carom_ball carom_ball_of_triangle_value(const carom_triangle *triangle) {
    carom_ball ball = {.radius = 0.0};
    REQUIRE_VALUE(triangle != NULL, carom_points_are_in_range(triangle->corner, 3), ball);
    carom_ball_around_triangle(triangle->corner, &ball);
    return ball;
}

#define BALL_OF_SET_VALUE(function, type, around)                                                  \
    carom_ball function(const type *set, uint64_t count) {                                         \
        carom_ball ball = {.radius = 0.0};                                                         \
        uint64_t bad;                                                                              \
        CAROM_REQUIRE_OR(count > 0, "the set must not be empty", ball);                            \
        REQUIRE_VALUE(set != NULL, around(set, count, &ball, &bad), ball);                         \
        return ball;                                                                               \
    }

BALL_OF_SET_VALUE(carom_ball_of_points_value, carom_vec3, carom_ball_around_points)
BALL_OF_SET_VALUE(carom_ball_of_balls_value, carom_ball, carom_ball_around_balls)

carom_lens carom_ball_lens_value(const carom_ball *a, const carom_ball *b) {
    carom_lens lens = {.volume = 0.0};
    REQUIRE_VALUE(a != NULL && b != NULL, usable_ball(a) && usable_ball(b), lens);
    carom_lens_of_balls(a, b, &lens);
    return lens;
}
