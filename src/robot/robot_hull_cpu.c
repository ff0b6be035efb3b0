/* SPDX-License-Identifier: MIT */
/* Planes between two hulls, compiled per instruction set.
 *
 * Directions are found by the separating vectors of Chung and Wang ("Quick collision detection of
 * polytopes in virtual environments", 1996): the last one is reflected at the vector between the
 * points that are farthest towards each other. Whatever they are, a gap along one is a proof. */
#include "base/simd.h"
#include "robot/robot_hull.h"
#include "robot/robot_tree_item.h"

#define HULL_PLANES 12 /* most that are found are found by the sixth */

/* The corner farthest along a direction; *far is how far. */
CAROM_SIMD carom_vec3 hull_support(const carom_robot_hull *h, carom_vec3 d, double *far) {
    *far = -HUGE_VAL;
    uint32_t at = carom_hull_scan(h->blocks, h->count, d, 0, far);
    const carom_hull_block *b = &h->blocks[at / CAROM_HULL_LANES];
    uint32_t lane = at % CAROM_HULL_LANES;
    return carom_vec(b->x[lane], b->y[lane], b->z[lane]);
}

bool CAROM_CPU(carom_robot_hulls_separated)(const carom_robot_hull *a, const carom_robot_hull *b,
                                            const carom_frame *b_to_a, carom_vec3 d, double reach) {
    const double *r = b_to_a->r;
    double both = a->round + b->round;
    for (int i = 0; i < HULL_PLANES; ++i) {
        carom_vec3 back = carom_vec(-((r[0] * d.x + r[3] * d.y) + r[6] * d.z),
                                    -((r[1] * d.x + r[4] * d.y) + r[7] * d.z),
                                    -((r[2] * d.x + r[5] * d.y) + r[8] * d.z));
        double from, to;
        carom_vec3 p = hull_support(a, d, &from), q = hull_support(b, back, &to);
        double gap = ((carom_vec_dot(b_to_a->t, d) - to) - from) - both;
        if (gap * (1.0 - CAROM_ROBOT_TREE_SLACK) > reach) return true;
        carom_vec3 between = carom_vec_unit(carom_vec_sub(carom_frame_apply(b_to_a, q), p));
        double along = carom_vec_dot(between, d);
        d = carom_vec_unit(carom_vec_sub(d, carom_vec_scale(between, 2.0 * along)));
        if (!(carom_vec_dot(d, d) > 0.5)) return false;
    }
    return false;
}
