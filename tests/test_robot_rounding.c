/* SPDX-License-Identifier: MIT */
/* Bounds of the rounding of a robot hold: frames in doubles and in floats, and spheres, of
 * chains of up to 200 links beside long doubles; verdicts and distances of robots of any scale,
 * and of robots far from the origin, beside the oracle. One thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "robot/robot.h"
#include "tests/support/robot_oracle.h"
#include "tests/support/robots.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

/* ---- Kinematics ------------------------------------------------------------------------------ */

#define CHAIN_MOST 200
#define CHAIN_STEP 9 /* links from one that is compared to the next */

typedef struct chain {
    carom_robot_link links[CHAIN_MOST];
    carom_robot_joint joints[CHAIN_MOST];
    carom_robot_shape shape;
    carom_robot_def def;
    uint32_t dof;
} chain;

/* A chain of `count` links of about `size`, with axes of any length. */
static void make_chain(uint64_t seed, uint32_t count, double size, chain *c) {
    carom_random random = {seed};
    memset(c, 0, sizeof(*c));
    c->shape = (carom_robot_shape){.kind = CAROM_ROBOT_SHAPE_KIND_CAPSULE,
                                   .radius = 0.1 * size,
                                   .half_height = 0.4 * size,
                                   .pose.t = {0.1 * size, 0.0, 0.3 * size}};
    for (uint32_t i = 0; i < count; ++i) {
        c->links[i] = (carom_robot_link){.shapes = &c->shape, .shape_count = 1};
        if (i == 0) continue;
        carom_robot_joint *j = &c->joints[i - 1];
        uint64_t pick = carom_random_next(&random) % 8;
        double length = ldexp(1.0, (int)(carom_random_next(&random) % 60) - 30);
        *j = (carom_robot_joint){.kind = pick == 0   ? CAROM_ROBOT_JOINT_KIND_FIXED
                                         : pick == 1 ? CAROM_ROBOT_JOINT_KIND_PRISMATIC
                                                     : CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                 .parent = i - 1,
                                 .child = i,
                                 .lower = -3.0,
                                 .upper = 3.0};
        double *numbers[] = {&j->origin.q.w, &j->origin.q.x, &j->origin.q.y, &j->origin.q.z,
                             &j->origin.t.x, &j->origin.t.y, &j->origin.t.z, &j->axis.x,
                             &j->axis.y,     &j->axis.z};
        for (int k = 0; k < 10; ++k)
            *numbers[k] = carom_random_between(&random, -1.0, 1.0) * (k < 4   ? 1.0
                                                                      : k < 7 ? size
                                                                              : length);
        if (j->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC) j->lower *= size, j->upper *= size;
        if (j->kind != CAROM_ROBOT_JOINT_KIND_FIXED) ++c->dof;
    }
    c->def = (carom_robot_def){.links = c->links,
                               .link_count = count,
                               .joints = c->joints,
                               .joint_count = count - 1,
                               .spheres = 2 * count,
                               .fine = 4 * count,
                               .inner = 2};
}

/* The part of a bound that an error takes. */
static double part_of(long double error, double bound) {
    return error == 0 ? 0.0 : (double)(error / (long double)bound);
}

/* The larger part of the two bounds of a frame: |R' - R|, by the sum of squares, and |t' - t|. */
static double frame_error(const double *r, const double *t, const long double *true_r,
                          const long double *true_t, double turn, double shift) {
    long double squared = 0, moved = 0;
    for (int i = 0; i < 9; ++i) {
        long double d = (long double)r[i] - true_r[i];
        squared += d * d;
    }
    for (int i = 0; i < 3; ++i) {
        long double d = (long double)t[i] - true_t[i];
        moved += d * d;
    }
    return fmax(part_of(sqrtl(squared), turn), part_of(sqrtl(moved), shift));
}

static void read_lane(const float *rows, uint32_t lane, double *r, double *t) {
    for (uint32_t i = 0; i < 12; ++i)
        (i < 9 ? &r[i] : &t[i - 9])[0] = (double)rows[i * CAROM_ROBOT_BLOCK + lane];
}

/* By how much a sphere of the plan, moved by a frame in floats, leaves out what it is to
 * contain, or an inner one reaches out; at most 0. */
static long double sphere_lack(const float *sphere, const float *rows, uint32_t lane,
                               const carom_ball *ball, const long double *true_r,
                               const long double *true_t, bool inner) {
    long double squared = 0;
    for (uint32_t i = 0; i < 3; ++i) {
        const float *p = rows + lane;
        float at = ((p[3 * i * CAROM_ROBOT_BLOCK] * sphere[0] +
                     p[(3 * i + 1) * CAROM_ROBOT_BLOCK] * sphere[1]) +
                    p[(3 * i + 2) * CAROM_ROBOT_BLOCK] * sphere[2]) +
                   p[(9 + i) * CAROM_ROBOT_BLOCK];
        long double is = true_r[3 * i] * (long double)ball->centre.x +
                         true_r[3 * i + 1] * (long double)ball->centre.y +
                         true_r[3 * i + 2] * (long double)ball->centre.z + true_t[i];
        squared += (is - (long double)at) * (is - (long double)at);
    }
    long double off = sqrtl(squared);
    return inner ? off + (long double)sphere[3] - (long double)ball->radius
                 : off + (long double)ball->radius - (long double)sphere[3];
}

static void check_spheres(const carom_robot *robot, uint32_t link, const float *rows, uint32_t lane,
                          const long double *r, const long double *t) {
    const carom_robot_plan_body *b = &robot->plan.bodies[link];
    const carom_robot_body *body = &robot->bodies[link];
    const float *s = robot->plan.spheres;
    for (uint32_t k = 0; k < body->cover_count; ++k)
        assert_true(
            sphere_lack(s + 4 * (b->first + 1 + k), rows, lane, &body->cover[k], r, t, false) <= 0);
    for (uint32_t k = 0; k < body->fine_count; ++k)
        assert_true(sphere_lack(s + 4 * (b->fine + k), rows, lane, &body->fine[k], r, t, false) <=
                    0);
    if (b->inner_count != body->inner_count) return; /* smaller than the rounding: left out */
    for (uint32_t k = 0; k < b->inner_count; ++k)
        assert_true(sphere_lack(s + 4 * (b->first + 1 + b->cover_count + k), rows, lane,
                                &body->inner[k], r, t, true) <= 0);
}

/* Sixteen configurations of a chain; *doubles and *floats become the largest part of a bound. */
static void check_chain(const chain *c, uint64_t seed, double *doubles, double *floats) {
    static double q[CHAIN_MOST * CAROM_ROBOT_BLOCK];
    static carom_robot_pose poses[CHAIN_MOST];
    carom_random random = {seed};
    carom_robot *robot = NULL;
    assert_ok(context, carom_robot_create(context, &c->def, &robot));
    assert_int_equal(robot->dof, c->dof);
    const carom_robot_plan *plan = &robot->plan;
    for (uint32_t i = 0, column = 0; i < c->def.joint_count; ++i) {
        const carom_robot_joint *j = &c->joints[i];
        if (j->kind == CAROM_ROBOT_JOINT_KIND_FIXED) continue;
        for (uint32_t lane = 0; lane < CAROM_ROBOT_BLOCK; ++lane)
            q[column * CAROM_ROBOT_BLOCK + lane] =
                carom_random_between(&random, j->lower, j->upper) *
                (j->kind == CAROM_ROBOT_JOINT_KIND_REVOLUTE && lane % 4 == 3 ? 1e5 : 1.0);
        ++column;
    }
    carom_robot_block block = {.lanes = 0xFFFF, .q = q};
    block.frames = calloc((plan->joint_count + 1) * 12 * CAROM_ROBOT_BLOCK, sizeof(float));
    block.at = calloc((plan->sphere_count + 1) * 3 * CAROM_ROBOT_BLOCK, sizeof(float));
    block.gap = calloc((plan->pair_count + 1) * CAROM_ROBOT_BLOCK, sizeof(float));
    block.posed = calloc(plan->body_count + 1, sizeof(*block.posed));
    assert_true(block.frames && block.at && block.gap && block.posed);
    CAROM_CPU_CALL(context, carom_robot_plan_gaps)(plan, &block);
    for (uint32_t lane = 0; lane < CAROM_ROBOT_BLOCK; lane += 3) {
        double one[CHAIN_MOST];
        for (uint32_t k = 0; k < c->dof; ++k) one[k] = q[k * CAROM_ROBOT_BLOCK + lane];
        carom_robot_pose_links(robot, one, poses);
        for (uint32_t i = c->def.link_count; i-- > 0; i = i > CHAIN_STEP ? i - CHAIN_STEP : 0) {
            const carom_robot_node_link *link = &robot->links[i];
            const carom_robot_pose *p = &poses[i];
            const float *rows = block.frames + 12 * CAROM_ROBOT_BLOCK * link->frame;
            const double t[3] = {p->frame.t.x, p->frame.t.y, p->frame.t.z};
            long double true_r[9], true_t[3];
            robot_oracle_pose(&c->def, one, i, true_r, true_t);
            *doubles = fmax(*doubles, frame_error(p->frame.r, t, true_r, true_t, p->error.turn,
                                                  p->error.shift));
            if (!robot->has_floats) continue;
            check_spheres(robot, i, rows, lane, true_r, true_t);
            if (link->kind == CAROM_ROBOT_JOINT_KIND_FIXED) continue; /* has no frame of its own */
            double r32[9], t32[3];
            read_lane(rows, lane, r32, t32);
            *floats = fmax(*floats, frame_error(r32, t32, true_r, true_t, link->frame_error.turn,
                                                link->frame_error.shift));
        }
    }
    free(block.frames);
    free(block.at);
    free(block.gap);
    free(block.posed);
    carom_robot_destroy(robot);
}

static void frames_and_spheres_are_within_their_bounds(void **state) {
    (void)state;
    static chain c;
    static const double sizes[] = {1.0, 1e-30, 1e-3, 1e6, 1e9};
    double doubles = 0.0, floats = 0.0;
    for (uint64_t seed = 1; seed <= TEST_CASES(200); ++seed) {
        carom_random random = {seed};
        uint32_t count =
            seed % 8 == 1 ? CHAIN_MOST : 2 + (uint32_t)(carom_random_next(&random) % 40);
        make_chain(seed, count, sizes[seed % 5], &c);
        check_chain(&c, seed, &doubles, &floats);
        if (doubles >= 1.0 || floats >= 1.0)
            fail_msg("seed %llu, %u links: the error is %g of its bound in doubles, %g in floats",
                     (unsigned long long)seed, count, doubles, floats);
    }
    assert_true(doubles > 0.0 && floats > 0.0); /* something was compared */
}

/* ---- Scales ---------------------------------------------------------------------------------- */

#define SCALE_CONFIGURATIONS 8

/* Verdicts, distances and a motion of a case whose lengths are `scale` times those of metres;
 * bodies nearer to each other than `near` may collide. */
static void check_scaled(const robots_case *m, uint64_t seed, double scale, long double near) {
    double q[SCALE_CONFIGURATIONS * ROBOTS_LINKS];
    carom_random random = {seed};
    carom_robot *robot = NULL;
    robot_oracle oracle;
    carom_robot_result r[SCALE_CONFIGURATIONS], covers[SCALE_CONFIGURATIONS];
    carom_robot_gap gap[SCALE_CONFIGURATIONS], rough[SCALE_CONFIGURATIONS];
    const carom_robot_query only_covers = {.covers_only = true};
    const carom_robot_query motion_query = {.tolerance = 1e-3 * scale};
    assert_ok(context, carom_robot_create(context, &m->def, &robot));
    assert_ok(context, carom_robot_add_objects(context, robot, m->objects, m->object_count, NULL));
    assert_valid(carom_robot_validate(robot));
    robot_oracle_create(&m->def, m->objects, m->object_count, &m->open, &oracle);
    const uint32_t count = SCALE_CONFIGURATIONS;
    for (uint32_t i = 0; i < count; ++i) robots_configuration(m, &random, q + i * m->dof);
    assert_ok(context, carom_robot_check(context, robot, q, count, NULL, r));
    assert_ok(context, carom_robot_check(context, robot, q, count, &only_covers, covers));
    assert_ok(context, carom_robot_clearance(context, robot, q, count, NULL, gap));
    assert_ok(context, carom_robot_clearance(context, robot, q, count, &only_covers, rough));
    for (uint32_t i = 0; i < count; ++i) {
        long double d = robot_oracle_distance(&oracle, q + i * m->dof);
        bool free = r[i].verdict == CAROM_ROBOT_VERDICT_FREE;
        if (free ? !(d > 0) : !(d <= near))
            fail_msg("seed %llu, scale %g, configuration %u: %s, but the distance is %Lg",
                     (unsigned long long)seed, scale, i, carom_robot_verdict_name(r[i].verdict), d);
        if (covers[i].verdict != CAROM_ROBOT_VERDICT_OPEN && fabsl(d) > near)
            assert_int_equal(covers[i].verdict, r[i].verdict);
        if (covers[i].verdict == CAROM_ROBOT_VERDICT_FREE) assert_true(d > 0);
        const carom_interval both[2] = {gap[i].distance, rough[i].distance};
        for (int k = 0; k < 2; ++k)
            if (!((long double)both[k].lower <= d + near &&
                  (long double)both[k].upper >= d - near && both[k].lower >= 0.0 &&
                  both[k].lower <= both[k].upper))
                fail_msg("seed %llu, scale %g, configuration %u: %Lg is not in %g to %g",
                         (unsigned long long)seed, scale, i, d, both[k].lower, both[k].upper);
    }
    carom_robot_motion_result motion;
    assert_ok(context,
              carom_robot_motion(context, robot, q, q + m->dof, 1, &motion_query, &motion));
    double end = motion.verdict == CAROM_ROBOT_VERDICT_FREE ? 1.0 : motion.free_until;
    assert_true(end >= 0.0 && end <= 1.0 && motion.contact >= motion.free_until);
    for (int step = 0; step < 4 && end > 0.0; ++step) {
        double at[ROBOTS_LINKS], t = end * (step / 4.0);
        for (uint32_t k = 0; k < m->dof; ++k) at[k] = (1.0 - t) * q[k] + t * q[m->dof + k];
        assert_true(robot_oracle_distance(&oracle, at) > 0);
    }
    robot_oracle_destroy(&oracle);
    carom_robot_destroy(robot);
}

static void verdicts_hold_at_every_scale(void **state) {
    (void)state;
    static robots_case m;
    static const double scales[] = {1e-100, 1e-40, 1e-19, 1e-6, 1e5, 1e11};
    for (uint64_t seed = 1; seed <= TEST_CASES(96); ++seed) {
        double scale = scales[seed % 6];
        robots_make(seed, &m);
        robots_scale(&m, scale);
        check_scaled(&m, seed, scale, 1e-9L * (long double)scale);
    }
}

/* All but the root is 1e10 metres away. */
static void verdicts_hold_far_from_the_origin(void **state) {
    (void)state;
    static robots_case m;
    for (uint64_t seed = 1; seed <= TEST_CASES(64); ++seed) {
        robots_make(seed, &m);
        for (uint32_t i = 0; i < m.def.joint_count; ++i)
            if (m.joints[i].parent == 0)
                m.joints[i].origin.t.x += 6e9, m.joints[i].origin.t.y += 8e9;
        for (uint32_t i = 0; i < m.object_count; ++i)
            m.objects[i].pose.t.x += 6e9, m.objects[i].pose.t.y += 8e9;
        carom_robot *robot = NULL;
        carom_robot_info info;
        assert_ok(context, carom_robot_create(context, &m.def, &robot));
        assert_ok(context, carom_robot_get_info(robot, &info));
        carom_robot_destroy(robot);
        check_scaled(&m, seed, 1.0, 8.0L * (long double)info.rounding);
    }
}

static void what_is_out_of_range_is_refused(void **state) {
    (void)state;
    static robots_case m;
    carom_robot *robot = NULL;
    robots_make(1, &m);
    robots_scale(&m, 1e100);
    assert_fails(context, carom_robot_create(context, &m.def, &robot), CAROM_BAD_INPUT, "2^40");
    assert_null(robot);
    robots_make(1, &m);
    robots_scale(&m, 1e13);
    assert_fails(context, carom_robot_create(context, &m.def, &robot), CAROM_BAD_INPUT, "2^40");
    robots_make(1, &m);
    assert_ok(context, carom_robot_create(context, &m.def, &robot));
    m.objects[0] = (carom_robot_shape){.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .radius = 1e100};
    assert_fails(context, carom_robot_add_objects(context, robot, m.objects, 1, NULL),
                 CAROM_BAD_INPUT, "2^40");
    carom_robot_destroy(robot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_and_spheres_are_within_their_bounds),
        cmocka_unit_test(verdicts_hold_at_every_scale),
        cmocka_unit_test(verdicts_hold_far_from_the_origin),
        cmocka_unit_test(what_is_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
