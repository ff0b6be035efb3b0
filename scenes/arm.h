/* SPDX-License-Identifier: MIT */
/* arm.h: an arm of seven joints in a cell of boxes: the input on which robots are compared. */
#ifndef CAROM_SCENES_ARM_H
#define CAROM_SCENES_ARM_H

#include "carom/carom.h"

#define SCENE_ARM_JOINTS  7u
#define SCENE_ARM_OBJECTS 20u

/* In metres; reaches 1.3 m. Its def points into it: do not copy. */
typedef struct scene_arm {
    carom_robot_link links[SCENE_ARM_JOINTS + 1];
    carom_robot_shape shapes[SCENE_ARM_JOINTS + 1], objects[SCENE_ARM_OBJECTS];
    carom_robot_joint joints[SCENE_ARM_JOINTS];
    carom_robot_def def;
} scene_arm;

void scene_arm_make(scene_arm *arm);

#endif
