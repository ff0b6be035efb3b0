/* SPDX-License-Identifier: MIT */
/* Where the links are, in doubles, and how far that may be off.
 *
 * A joint at `origin` with rotation Ro and axis u turns its child by Ro (u u^T + sin [u] + cos (1 -
 * u u^T)) = A + B sin + C cos. The rotation of the child is R_p (A + B sin + C cos), its
 * translation R_p o + t_p, where o is the origin, for prismatic joints with Ro u times the value
 * added.
 *
 * Rounding, with unit e = 2^-53. Elements of a computed Ro are off by at most 30 e, those of u by 5
 * e, so those of A, B and C by at most 76 e (three products of a row and a column of length 1, so
 * sums of magnitudes are at most sqrt(3)). With sines to 0.52 units, products and sums, each
 * element of the joint's rotation is off by at most 222 e, and the norm of the error matrix, at
 * most the root of the sum of nine squares, by 666 e: CAROM_ROBOT_TURN64 has 1024 e. A product of
 * two rotations adds at most 4 e per element, 12 e in norm; a moved vector at most 4 e of the
 * lengths. Then, with the norms of true rotations being 1,
 *
 *   |R' - R|  <=  |Rp' - Rp| |M'| + |Rp| |M' - M| + 12 e
 *   |t' - t|  <=  |tp' - tp| + |Rp' - Rp| |o'| + |Rp| |o' - o| + 4 e (sqrt(3) |o| + |t|)
 *
 * and carom_robot_error_step has these with room: factors of 16 and 24 for the e, 1.01 for products
 * of errors. In floats the same holds with e = 2^-24 and constants A, B and C rounded once more: 3
 * e for these, 2 e for the sines, 2 e for products, 6 e for sums: below 16 e per element, 48 e in
 * norm. */
#include "geom/length.h"
#include "robot/robot.h"

void carom_robot_link_set_joint(carom_robot_node_link *link, const carom_robot_joint *joint) {
    carom_frame origin = carom_frame_make(&joint->origin);
    link->kind = joint->kind;
    link->origin = origin.t;
    for (int i = 0; i < 9; ++i) {
        link->a[i] = origin.r[i];
        link->b[i] = link->c[i] = 0.0;
    }
    link->slide = carom_vec(0.0, 0.0, 0.0);
    if (joint->kind == CAROM_ROBOT_JOINT_KIND_FIXED) return;
    carom_vec3 u = carom_vec_unit(joint->axis);
    if (joint->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC) {
        link->slide = carom_frame_turn(&origin, u);
        return;
    }
    const double along[9] = {u.x * u.x, u.x * u.y, u.x * u.z, u.y * u.x, u.y * u.y,
                             u.y * u.z, u.z * u.x, u.z * u.y, u.z * u.z};
    const double across[9] = {0.0, -u.z, u.y, u.z, 0.0, -u.x, -u.y, u.x, 0.0};
    double rest[9];
    for (int i = 0; i < 9; ++i) rest[i] = (i % 4 == 0 ? 1.0 : 0.0) - along[i];
    carom_robot_matrix_times(origin.r, along, link->a);
    carom_robot_matrix_times(origin.r, across, link->b);
    carom_robot_matrix_times(origin.r, rest, link->c);
}

void carom_robot_pose_links(const carom_robot *robot, const double *q, carom_robot_pose *poses) {
    for (uint32_t i = 0; i < robot->link_count; ++i)
        carom_robot_pose_item(robot->links, robot->order[i], q, poses);
}
