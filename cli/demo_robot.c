/* SPDX-License-Identifier: MIT */
/* The demo's section on robots: an arm in a cell of boxes, a hundred thousand configurations. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "scenes/arm.h"

#define DEMO_CONFIGURATIONS 100000u

typedef struct robot_counts {
    uint64_t verdicts[CAROM_ROBOT_VERDICT_COUNT], covers;
    double seconds;
} robot_counts;

static carom_status add_cover(display *d, const carom_robot *robot, const carom_pose *poses,
                              uint32_t link, const char *name) {
    carom_robot_balls balls = {0};
    carom_status status = carom_robot_list_cover(d->cli->context, robot, link, &balls);
    if (status == CAROM_OK) {
        display_item *item = display_add(d, DISPLAY_SPHERES, name);
        item->colour = link % 2 == 0 ? (display_colour){66, 133, 190, 255}
                                     : (display_colour){219, 137, 60, 255};
        for (uint64_t i = 0; i < balls.count; ++i)
            display_add_sphere(d, item, carom_pose_apply_value(&poses[link], &balls.data[i].centre),
                               balls.data[i].radius);
    }
    carom_robot_balls_free(&balls);
    return status;
}

/* The edges of the boxes. */
static void add_boxes(display *d, const scene_arm *arm) {
    display_item *item = display_add(d, DISPLAY_CURVE, "boxes");
    for (uint32_t i = 0; i < SCENE_ARM_OBJECTS; ++i)
        for (uint32_t from = 0; from < 8; ++from)
            for (uint32_t axis = 1; axis < 8; axis *= 2) {
                carom_vec3 h = arm->objects[i].half, p[2];
                if ((from & axis) != 0) continue;
                for (uint32_t k = 0; k < 2; ++k) {
                    uint32_t at = k == 0 ? from : from | axis;
                    p[k] = (carom_vec3){(at & 1) != 0 ? h.x : -h.x, (at & 2) != 0 ? h.y : -h.y,
                                        (at & 4) != 0 ? h.z : -h.z};
                    p[k] = carom_pose_apply_value(&arm->objects[i].pose, &p[k]);
                }
                display_add_segment(d, item, p[0], p[1]);
            }
}

static carom_status count_all(carom_context *context, const carom_robot *robot, robot_counts *c) {
    const uint64_t values = (uint64_t)DEMO_CONFIGURATIONS * SCENE_ARM_JOINTS;
    double lower[SCENE_ARM_JOINTS], upper[SCENE_ARM_JOINTS], *q = malloc(values * sizeof(*q));
    carom_robot_result *results = malloc(DEMO_CONFIGURATIONS * sizeof(*results));
    carom_random random = {1};
    carom_status status = q == NULL || results == NULL ? CAROM_NO_MEMORY : CAROM_OK;
    if (status == CAROM_OK) status = carom_robot_get_limits(robot, lower, upper);
    for (uint64_t i = 0; i < values && status == CAROM_OK; ++i)
        q[i] =
            carom_random_between(&random, lower[i % SCENE_ARM_JOINTS], upper[i % SCENE_ARM_JOINTS]);
    double start = carom_time_seconds();
    if (status == CAROM_OK)
        status = carom_robot_check(context, robot, q, DEMO_CONFIGURATIONS, NULL, results);
    c->seconds = carom_time_seconds() - start;
    for (uint32_t i = 0; i < DEMO_CONFIGURATIONS && status == CAROM_OK; ++i) {
        ++c->verdicts[results[i].verdict];
        c->covers += results[i].stage != CAROM_ROBOT_STAGE_EXACT ? 1 : 0;
    }
    free(q);
    free(results);
    return status;
}

static carom_status run(demo *demo) {
    static const double q[SCENE_ARM_JOINTS] = {0.4, 0.8, 0.3, -1.2, 0.2, 0.9, 0.0};
    scene_arm arm;
    carom_robot *robot = NULL;
    carom_pose poses[SCENE_ARM_JOINTS + 1];
    robot_counts c = {.seconds = 0.0};
    display d;
    display_begin(&d, demo->cli,
                  "An arm of seven joints as the spheres that are proved to contain it, and boxes "
                  "around it.");
    scene_arm_make(&arm);
    carom_status status = carom_robot_create(demo->cli->context, &arm.def, &robot);
    if (status == CAROM_OK)
        status = carom_robot_add_objects(demo->cli->context, robot, arm.objects, SCENE_ARM_OBJECTS,
                                         NULL);
    if (status == CAROM_OK) status = carom_robot_poses(demo->cli->context, robot, q, 1, poses);
    for (uint32_t i = 0; i <= SCENE_ARM_JOINTS && status == CAROM_OK; ++i)
        status = add_cover(&d, robot, poses, i, arm.links[i].name);
    if (status == CAROM_OK) add_boxes(&d, &arm);
    if (status == CAROM_OK) status = demo_show(demo, &d, "An arm made of spheres");
    if (status == CAROM_OK) status = count_all(demo->cli->context, robot, &c);
    double each = c.seconds / DEMO_CONFIGURATIONS;
    snprintf(demo->number, sizeof(demo->number), "%.2f µs", 1e6 * each);
    snprintf(demo->words, sizeof(demo->words),
             "per configuration on this machine, on average, exactly: of %u random ones among 20 "
             "boxes %llu are free. Spheres alone decided %.0f %%.",
             DEMO_CONFIGURATIONS, (unsigned long long)c.verdicts[CAROM_ROBOT_VERDICT_FREE],
             100.0 * (double)c.covers / DEMO_CONFIGURATIONS);
    snprintf(demo->result, sizeof(demo->result),
             "%u configurations of an arm among 20 boxes, exactly, in %.1f ms", DEMO_CONFIGURATIONS,
             1e3 * c.seconds);
    carom_robot_destroy(robot);
    display_free(&d);
    return status;
}

const demo_part demo_robot = {
    67,
    "robot",
    "free configurations of a robot",
    "Which joint configurations of a robot are free of collisions?",
    "Spheres that are proved to contain the links decide most, many configurations at a time; "
    "faces decide the rest exactly. Free is proved, the rounding of the kinematics included.",
    "Not measured beside other libraries yet.",
    "carom robot robot.urdf --sample 100 -o arm.html",
    run};
