/* SPDX-License-Identifier: MIT */
/* Public functions of the exact predicates: check the input, then call the items, which are exact
 * for all finite doubles. */
#include "geom/triangle_item.h"

#include "base/context.h"
#include "base/names.h"
#include "geom/points_check.h"

static carom_status triangle_check_points(carom_context *context, const carom_vec3 *points,
                                          int count, const char *whose) {
    for (int i = 0; i < count; ++i)
        if (!carom_vec_finite(points[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "point %d%s is (%g, %g, %g); " CAROM_COORDINATES_FINITE, i, whose,
                              points[i].x, points[i].y, points[i].z);
    return CAROM_OK;
}

carom_status carom_points_orient_2d(carom_context *context, const carom_vec3 points[3],
                                    uint32_t axis, int *sign) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(points != NULL && sign != NULL, CAROM_A_POINTER_IS_NULL);
    CAROM_REQUIRE(axis < 3, "the axis must be 0, 1 or 2");
    CAROM_TRY(triangle_check_points(context, points, 3, ""));
    *sign = carom_orient_along(points[0], points[1], points[2], (int)axis);
    return CAROM_OK;
}

int carom_points_orient_2d_value(const carom_vec3 points[3], uint32_t axis) {
    CAROM_REQUIRE_OR(points != NULL, CAROM_A_POINTER_IS_NULL, 0);
    CAROM_REQUIRE_OR(axis < 3, "the axis must be 0, 1 or 2", 0);
    CAROM_REQUIRE_OR(carom_points_are_finite(points, 3), CAROM_COORDINATES_FINITE, 0);
    return carom_orient_along(points[0], points[1], points[2], (int)axis);
}

carom_status carom_points_orient_3d(carom_context *context, const carom_vec3 points[4], int *sign) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(points != NULL && sign != NULL, CAROM_A_POINTER_IS_NULL);
    CAROM_TRY(triangle_check_points(context, points, 4, ""));
    *sign = carom_orient3d(points[0], points[1], points[2], points[3]);
    return CAROM_OK;
}

int carom_points_orient_3d_value(const carom_vec3 points[4]) {
    CAROM_REQUIRE_OR(points != NULL, CAROM_A_POINTER_IS_NULL, 0);
    CAROM_REQUIRE_OR(carom_points_are_finite(points, 4), CAROM_COORDINATES_FINITE, 0);
    return carom_orient3d(points[0], points[1], points[2], points[3]);
}

carom_status carom_triangles_relate(carom_context *context, const carom_triangle *a,
                                    const carom_triangle *b,
                                    carom_triangle_intersection *relation) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(a != NULL && b != NULL && relation != NULL, CAROM_A_POINTER_IS_NULL);
    CAROM_TRY(triangle_check_points(context, a->corner, 3, " of triangle a"));
    CAROM_TRY(triangle_check_points(context, b->corner, 3, " of triangle b"));
    *relation = carom_triangle_relate(a, b);
    return CAROM_OK;
}

carom_triangle_intersection carom_triangles_relate_value(const carom_triangle *a,
                                                         const carom_triangle *b) {
    const carom_triangle_intersection none = {.relation = CAROM_TRIANGLE_RELATION_DISJOINT};
    CAROM_REQUIRE_OR(a != NULL && b != NULL, CAROM_A_POINTER_IS_NULL, none);
    CAROM_REQUIRE_OR(carom_points_are_finite(a->corner, 3) && carom_points_are_finite(b->corner, 3),
                     CAROM_COORDINATES_FINITE, none);
    return carom_triangle_relate(a, b);
}

carom_status carom_triangles_meet(carom_context *context, const carom_triangle *a,
                                  const carom_triangle *b, bool *meet) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(a != NULL && b != NULL && meet != NULL, CAROM_A_POINTER_IS_NULL);
    CAROM_TRY(triangle_check_points(context, a->corner, 3, " of triangle a"));
    CAROM_TRY(triangle_check_points(context, b->corner, 3, " of triangle b"));
    *meet = carom_triangle_meet(a, b) != 0;
    return CAROM_OK;
}

bool carom_triangles_meet_value(const carom_triangle *a, const carom_triangle *b) {
    CAROM_REQUIRE_OR(a != NULL && b != NULL, CAROM_A_POINTER_IS_NULL, false);
    CAROM_REQUIRE_OR(carom_points_are_finite(a->corner, 3) && carom_points_are_finite(b->corner, 3),
                     CAROM_COORDINATES_FINITE, false);
    return carom_triangle_meet(a, b) != 0;
}

CAROM_ENUM_NAMES(carom_relation, CAROM_RELATION_COUNT, "apart", "touching", "overlapping",
                 "a-inside-b", "b-inside-a");

CAROM_ENUM_NAMES(carom_triangle_relation, CAROM_TRIANGLE_RELATION_COUNT, "disjoint", "touching",
                 "crossing", "coplanar-overlap");
