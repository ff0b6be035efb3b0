/* SPDX-License-Identifier: MIT */
/* hello_robot.c: a boom that turns beside a ball. */
#include <carom/carom.h>
#include <stdio.h>

int main(void) {
    carom_context *context;
    carom_robot *robot;
    carom_robot_shape boom = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                              .pose = {{1.0, 0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}},
                              .half = {0.9, 0.05, 0.05}};
    carom_robot_shape ball = {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE,
                              .pose = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.5, 0.0}},
                              .radius = 0.2};
    carom_robot_link links[2] = {{"base", NULL, 0}, {"boom", &boom, 1}};
    carom_robot_joint joint = {
        .kind = CAROM_ROBOT_JOINT_KIND_CONTINUOUS, .child = 1, .axis = {0.0, 0.0, 1.0}};
    carom_robot_def def = {.links = links, .link_count = 2, .joints = &joint, .joint_count = 1};
    double q[2] = {0.0, 1.5};
    carom_robot_result results[2];
    if (carom_context_create(NULL, &context) || carom_robot_create(context, &def, &robot) ||
        carom_robot_add_objects(context, robot, &ball, 1, NULL) ||
        carom_robot_check(context, robot, q, 2, NULL, results))
        return fprintf(stderr, "%s\n", carom_context_message(context)), 1;
    for (int i = 0; i < 2; ++i)
        printf("at %.1f rad: %s\n", q[i], carom_robot_verdict_name(results[i].verdict));
    carom_robot_destroy(robot);
    carom_context_destroy(context);
}
