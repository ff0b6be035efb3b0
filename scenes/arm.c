/* SPDX-License-Identifier: MIT */
/* An arm whose joints turn about z and y in turn. Links are cylinders and boxes; twenty boxes stand
 * around it on two rings. */
#include "scenes/arm.h"

#include <string.h>

void scene_arm_make(scene_arm *arm) {
    static const char *const names[SCENE_ARM_JOINTS + 1] = {
        "base", "shoulder", "upper", "elbow", "forearm", "wrist", "flange", "hand"};
    static const double lengths[SCENE_ARM_JOINTS + 1] = {0.20, 0.15, 0.30, 0.12,
                                                         0.28, 0.10, 0.08, 0.12};
    /* Half a side along x and y of a ring of ten boxes, eighths of a turn written out. */
    static const double ring[10][2] = {{1.0, 0.0},    {0.81, 0.59}, {0.31, 0.95},   {-0.31, 0.95},
                                       {-0.81, 0.59}, {-1.0, 0.0},  {-0.81, -0.59}, {-0.31, -0.95},
                                       {0.31, -0.95}, {0.81, -0.59}};
    memset(arm, 0, sizeof(*arm));
    for (uint32_t i = 0; i <= SCENE_ARM_JOINTS; ++i) {
        double half = 0.5 * lengths[i];
        bool is_box = i == 0 || i == SCENE_ARM_JOINTS;
        arm->shapes[i] = (carom_robot_shape){.kind = is_box ? CAROM_ROBOT_SHAPE_KIND_BOX
                                                            : CAROM_ROBOT_SHAPE_KIND_CYLINDER,
                                             .pose = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, half}},
                                             .half = {0.09, 0.05, half},
                                             .radius = 0.06 - 0.004 * i,
                                             .half_height = half};
        arm->links[i] = (carom_robot_link){names[i], &arm->shapes[i], 1};
        if (i == 0) continue;
        bool about_z = i % 2 == 1;
        arm->joints[i - 1] =
            (carom_robot_joint){.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                .parent = i - 1,
                                .child = i,
                                .origin = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, lengths[i - 1]}},
                                .axis = {0.0, about_z ? 0.0 : 1.0, about_z ? 1.0 : 0.0},
                                .lower = about_z ? -2.9 : -2.1,
                                .upper = about_z ? 2.9 : 2.1};
    }
    for (uint32_t i = 0; i < SCENE_ARM_OBJECTS; ++i) {
        const double *at = ring[i % 10];
        double far = i < 10 ? 0.75 : 0.65, height = i < 10 ? 0.15 : 0.95;
        arm->objects[i] = (carom_robot_shape){
            .kind = CAROM_ROBOT_SHAPE_KIND_BOX,
            .pose = {{1.0, 0.0, 0.0, 0.1 * i}, {far * at[0], far * at[1], height}},
            .half = {0.08, 0.06, i < 10 ? 0.15 : 0.08}};
    }
    arm->def = (carom_robot_def){.links = arm->links,
                                 .link_count = SCENE_ARM_JOINTS + 1,
                                 .joints = arm->joints,
                                 .joint_count = SCENE_ARM_JOINTS};
}
