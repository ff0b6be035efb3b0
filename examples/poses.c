/* SPDX-License-Identifier: MIT */
/* Poses: where the hand of an arm of two links is, the way back, and a pose half way. */
#include <stdio.h>
#include <stdlib.h>

#include "carom/carom.h"

static const double quarter = 1.5707963267948966; /* of a turn, in radians */

int main(void) {
    /* The shoulder turns about z; the elbow, 2 along the upper arm, about y. */
    const carom_vec3 z = {0.0, 0.0, 1.0}, hand = {1.0, 0.0, 0.0};
    carom_pose shoulder = carom_pose_from_axis_angle_value(&z, quarter);
    carom_pose elbow = carom_pose_from_euler_value(0.0, -quarter, 0.0);
    elbow.t.x = 2.0;

    /* compose(a, b): b first, then a. Points of the forearm go through the elbow, then the
     * shoulder. */
    carom_pose arm = carom_pose_compose_value(&shoulder, &elbow);
    carom_vec3 tip = carom_pose_apply_value(&arm, &hand);
    printf("the hand is at (%.3f, %.3f, %.3f)\n", tip.x, tip.y, tip.z);

    carom_pose back = carom_pose_invert_value(&arm);
    carom_vec3 own = carom_pose_apply_value(&back, &tip);
    printf("for the forearm that is (%.3f, %.3f, %.3f)\n", own.x, own.y, own.z);

    /* With a context, bad input is a status and a message; arrays may be moved in place. */
    carom_context *context;
    carom_pose half;
    carom_vec3 points[2] = {{0.0, 0.0, 0.0}, hand};
    if (carom_context_create(NULL, &context) != CAROM_OK) return EXIT_FAILURE;
    carom_status status = carom_pose_interpolate(context, NULL, &shoulder, 0.5, &half);
    if (status == CAROM_OK) status = carom_pose_apply(context, &half, points, 2, points);
    if (status == CAROM_OK)
        printf("half way the upper arm points to (%.3f, %.3f, %.3f)\n", points[1].x, points[1].y,
               points[1].z);
    else
        fprintf(stderr, "%s\n", carom_context_message(context));
    carom_context_destroy(context);
    return status == CAROM_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
