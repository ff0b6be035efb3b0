/* SPDX-License-Identifier: MIT */
/* Robots: a random robot and world by a seed, then operations: configurations, which are compared
 * with an oracle of its own kinematics, motions, and objects and attached shapes that come and go.
 * The structure is valid after each. */
#include "fuzz/oracle.h"

#include "robot/robot.h"
#include "tests/support/robot_oracle.c"
#include "tests/support/robots.c"

#define MOST_STEPS 4
#define NEAR       1e-9L /* metres: nearer to the margin than this, nothing is compared */

/* Values of joints: within the limits, or far beyond. */
static void make_values(fuzz_bytes *bytes, const robots_case *m, double *q) {
    carom_random random = {fuzz_below(bytes, 256)};
    robots_configuration(m, &random, q);
    if (fuzz_below(bytes, 8) == 7 && m->dof != 0) q[0] *= 1e6;
}

static void check(carom_context *context, fuzz_bytes *bytes, const robots_case *m,
                  const carom_robot *robot, const robot_oracle *oracle) {
    double q[ROBOTS_LINKS];
    carom_robot_query query = {.margin = 0.01 * fuzz_below(bytes, 4)};
    carom_robot_result r, covers;
    carom_robot_gap gap;
    make_values(bytes, m, q);
    FUZZ_CHECK(carom_robot_check(context, robot, q, 1, &query, &r) == CAROM_OK);
    FUZZ_CHECK(carom_robot_clearance(context, robot, q, 1, NULL, &gap) == CAROM_OK);
    query.covers_only = true;
    FUZZ_CHECK(carom_robot_check(context, robot, q, 1, &query, &covers) == CAROM_OK);
    FUZZ_CHECK(covers.verdict == CAROM_ROBOT_VERDICT_OPEN || covers.verdict == r.verdict);
    long double d = robot_oracle_distance(oracle, q);
    FUZZ_CHECK((long double)gap.distance.lower <= d + NEAR &&
               (long double)gap.distance.upper >= d - NEAR);
    if (d > 0 && fabsl(d - (long double)query.margin) < NEAR) return;
    FUZZ_CHECK((r.verdict == CAROM_ROBOT_VERDICT_COLLIDING) == (d <= (long double)query.margin));
}

static void move(carom_context *context, fuzz_bytes *bytes, const robots_case *m,
                 const carom_robot *robot, const robot_oracle *oracle) {
    double from[ROBOTS_LINKS], to[ROBOTS_LINKS], q[ROBOTS_LINKS];
    carom_robot_query query = {.tolerance = 1e-3, .covers_only = fuzz_below(bytes, 2) == 1};
    carom_robot_motion_result r;
    make_values(bytes, m, from);
    make_values(bytes, m, to);
    for (uint32_t k = 0; k < m->dof; ++k) to[k] = from[k] + 0.05 * (to[k] - from[k]);
    FUZZ_CHECK(carom_robot_motion(context, robot, from, to, 1, &query, &r) == CAROM_OK);
    double t = 0.5 * r.free_until;
    for (uint32_t k = 0; k < m->dof; ++k) q[k] = (1.0 - t) * from[k] + t * to[k];
    if (r.free_until > 0.0) FUZZ_CHECK(robot_oracle_distance(oracle, q) > 0);
}

/* Comes and goes: the world is as before. */
static void change(carom_context *context, fuzz_bytes *bytes, const robots_case *m,
                   carom_robot *robot) {
    carom_robot_shape box = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.1, 0.2, 0.3}};
    uint32_t link = fuzz_below(bytes, m->def.link_count), body, id;
    FUZZ_CHECK(carom_robot_attach(context, robot, link, &box, &body) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_robot_validate(robot));
    FUZZ_CHECK(carom_robot_add_objects(context, robot, &box, 1, &id) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_robot_validate(robot));
    FUZZ_CHECK(carom_robot_detach(context, robot, body) == CAROM_OK);
    FUZZ_CHECK(carom_robot_remove_object(context, robot, id) == CAROM_OK);
    FUZZ_CHECK_VALID(carom_robot_validate(robot));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static robots_case m;
    fuzz_bytes bytes = {data, size};
    carom_context_def def = {.threads = 1};
    carom_context *context;
    carom_robot *robot;
    robot_oracle oracle;
    uint64_t seed = fuzz_below(&bytes, 256);
    seed = 256 * seed + fuzz_below(&bytes, 256);
    robots_make(seed, &m);
    FUZZ_CHECK(carom_context_create(&def, &context) == CAROM_OK);
    FUZZ_CHECK(carom_robot_create(context, &m.def, &robot) == CAROM_OK);
    FUZZ_CHECK(carom_robot_add_objects(context, robot, m.objects, m.object_count, NULL) ==
               CAROM_OK);
    FUZZ_CHECK_VALID(carom_robot_validate(robot));
    robot_oracle_create(&m.def, m.objects, m.object_count, &m.open, &oracle);
    for (int step = 0; step < MOST_STEPS && (step == 0 || bytes.left != 0); ++step) {
        uint32_t which = fuzz_below(&bytes, 8);
        if (which < 5)
            check(context, &bytes, &m, robot, &oracle);
        else if (which < 7)
            move(context, &bytes, &m, robot, &oracle);
        else
            change(context, &bytes, &m, robot);
    }
    robot_oracle_destroy(&oracle);
    carom_robot_destroy(robot);
    carom_context_destroy(context);
    return 0;
}
