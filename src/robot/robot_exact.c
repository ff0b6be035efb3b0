/* SPDX-License-Identifier: MIT */
/* A pair of bodies, by faces and by what they enclose (robot_decide_item.h), and its distance. */
#include "robot/robot.h"

bool carom_robot_pair_collides(const carom_context *context, const carom_robot *robot,
                               const carom_robot_pose *poses, uint32_t pair, double margin) {
    carom_robot_view view = carom_robot_view_of(robot);
    bool unsure = false;
    view.separated = CAROM_CPU_CALL(context, carom_robot_hulls_separated);
    return carom_robot_pair_collides_item(&view, poses, pair, margin, &unsure);
}

double carom_robot_pair_distance(const carom_robot *robot, const carom_robot_pose *poses,
                                 uint32_t pair, double limit, double *error) {
    carom_robot_view view = carom_robot_view_of(robot);
    carom_robot_exact_pair e = carom_robot_exact_pair_of(&view, poses, pair);
    double best = limit;
    *error = e.error + 0x1p-44 * e.size;
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            best = carom_robot_tree_distance(&e.a[i].tree, &e.b[k].tree, &e.b_to_a, best);
    CAROM_ASSERT(best >= 0.0 && best <= limit && *error >= 0.0);
    if (best <= 2.0 * *error) return best; /* too near for points to be on one side */
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            if (carom_robot_encloses(&e.a[i], &e.b[k], &e.b_to_a)) {
                *error = 0.0;
                return 0.0;
            }
    return best;
}

void carom_robot_pair_error(const carom_robot *robot, const carom_robot_pose *poses, uint32_t pair,
                            double *error) {
    carom_robot_view view = carom_robot_view_of(robot);
    carom_robot_exact_pair e = carom_robot_exact_pair_of(&view, poses, pair);
    *error = e.error + 0x1p-44 * e.size;
}
