/* SPDX-License-Identifier: MIT */
/* A pair of bodies, by faces and by what they enclose (robot_decide_item.h). */
#include "robot/robot.h"

bool carom_robot_pair_collides(const carom_context *context, const carom_robot *robot,
                               const carom_robot_pose *poses, uint32_t pair, double margin) {
    carom_robot_view view = carom_robot_view_of(robot);
    bool unsure = false;
    view.separated = CAROM_CPU_CALL(context, carom_robot_hulls_separated);
    return carom_robot_pair_collides_item(&view, poses, pair, margin, &unsure);
}
