/* SPDX-License-Identifier: MIT */
/* A pair of bodies, by faces and by what they enclose.
 *
 * The second body is moved into the frame of the first by R_a'^T (R_b' x + t_b' - t_a') in doubles.
 * With the errors of both frames a point of it is off by at most
 *
 *   e = turn_a D + turn_b |x| + shift_a + shift_b + 64 2^-53 (D + |x|),   D = |t_a| + |t_b| + |x|
 *
 * (carom_robot_error_of has the same for objects, which do not move). Faces are compared exactly
 * with margin + 2 e: no pair that is as near as the margin in real numbers is missed. Where no
 * faces are so near, each component of one lies on one side of the other's faces, and so does its
 * point after rounding, which moves it by less than e: a winding number decides. */
#include "robot/robot.h"

/* The two bodies of a pair. */
typedef struct exact_pair {
    const carom_robot_part *a, *b;
    uint32_t a_count, b_count;
    carom_frame b_to_a;
    double error; /* of a point of b in a's frame */
    double size;  /* at least all lengths */
} exact_pair;

static exact_pair make_pair_of(const carom_robot *robot, const carom_robot_pose *poses,
                               uint32_t pair) {
    carom_robot_plan_pair p = robot->plan.pairs[pair];
    const carom_robot_body *first = &robot->bodies[p.a];
    const carom_robot_pose *at = &poses[first->link];
    exact_pair e;
    if (pair >= robot->plan.self_count) { /* the object is a, the body b */
        const carom_robot_part *object = &robot->objects[p.b].part;
        e = (exact_pair){
            .a = object,
            .a_count = 1,
            .b = first->parts,
            .b_count = first->part_count,
            .b_to_a = at->frame,
            .error = carom_robot_error_of(at->error, first->largest, 4.0 * CAROM_ROBOT_UNIT64),
            .size = at->error.size + first->largest + object->tree.largest};
        return e;
    }
    const carom_robot_body *second = &robot->bodies[p.b];
    const carom_robot_pose *other = &poses[second->link];
    carom_frame back = carom_robot_frame_inverse(&at->frame);
    double x = second->largest, far = at->error.size + other->error.size + x;
    e = (exact_pair){.a = first->parts,
                     .a_count = first->part_count,
                     .b = second->parts,
                     .b_count = second->part_count,
                     .b_to_a = carom_robot_frame_compose(&back, &other->frame),
                     .error = CAROM_ROBOT_PRODUCTS * (at->error.turn * far + other->error.turn * x +
                                                      at->error.shift + other->error.shift) +
                              64.0 * CAROM_ROBOT_UNIT64 * (far + x),
                     .size = far + first->largest};
    return e;
}

/* Whether one of two parts, no faces of which meet, encloses some of the other. */
static bool encloses(const carom_robot_part *a, const carom_robot_part *b,
                     const carom_frame *b_to_a) {
    if (a->closed &&
        carom_robot_tree_encloses(&a->tree, a->sign, carom_robot_part_points(b), b_to_a))
        return true;
    if (!b->closed) return false;
    carom_frame a_to_b = carom_robot_frame_inverse(b_to_a);
    return carom_robot_tree_encloses(&b->tree, b->sign, carom_robot_part_points(a), &a_to_b);
}

bool carom_robot_pair_collides(const carom_robot *robot, const carom_robot_pose *poses,
                               uint32_t pair, double margin) {
    exact_pair e = make_pair_of(robot, poses, pair);
    double reach = margin + 2.0 * e.error;
    CAROM_ASSERT(e.error >= 0.0 && margin >= 0.0 && e.size >= 0.0);
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k) {
            if (carom_robot_tree_separated(&e.a[i].tree, &e.b[k].tree, &e.b_to_a, reach)) continue;
            if (carom_robot_tree_within(&e.a[i].tree, &e.b[k].tree, &e.b_to_a, reach) ||
                encloses(&e.a[i], &e.b[k], &e.b_to_a))
                return true;
        }
    return false;
}

double carom_robot_pair_distance(const carom_robot *robot, const carom_robot_pose *poses,
                                 uint32_t pair, double limit, double *error) {
    exact_pair e = make_pair_of(robot, poses, pair);
    double best = limit;
    *error = e.error + 0x1p-44 * e.size;
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            best = carom_robot_tree_distance(&e.a[i].tree, &e.b[k].tree, &e.b_to_a, best);
    CAROM_ASSERT(best >= 0.0 && best <= limit && *error >= 0.0);
    if (best <= 2.0 * *error) return best; /* too near for points to be on one side */
    for (uint32_t i = 0; i < e.a_count; ++i)
        for (uint32_t k = 0; k < e.b_count; ++k)
            if (encloses(&e.a[i], &e.b[k], &e.b_to_a)) {
                *error = 0.0;
                return 0.0;
            }
    return best;
}

void carom_robot_pair_error(const carom_robot *robot, const carom_robot_pose *poses, uint32_t pair,
                            double *error) {
    exact_pair e = make_pair_of(robot, poses, pair);
    *error = e.error + 0x1p-44 * e.size;
}
