/* SPDX-License-Identifier: MIT */
/* Robots are free, or collide, as their definition says: against an oracle with kinematics in long
 * doubles and all faces, for configurations, clearance and motions; the same bytes for any number
 * of threads and any instruction set; the same after any history of changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "robot/robot.h"
#include "tests/support/robot_oracle.h"
#include "tests/support/robots.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

#define NEAR  1e-9L /* metres: nearer to the margin than this, nothing is compared */
#define MOST  40    /* configurations of a robot */
#define WIDTH ROBOTS_LINKS

static carom_robot *make(carom_context *with, const robots_case *m) {
    carom_robot *robot = NULL;
    assert_ok(with, carom_robot_create(with, &m->def, &robot));
    assert_ok(with, carom_robot_add_objects(with, robot, m->objects, m->object_count, NULL));
    assert_valid(carom_robot_validate(robot));
    carom_robot_info info;
    assert_ok(with, carom_robot_get_info(robot, &info));
    assert_int_equal(info.dof, m->dof);
    return robot;
}

/* Verdicts, pairs, intervals and stages of one robot, with both margins. */
static void compare(const robots_case *m, uint64_t seed, uint64_t counts[4]) {
    static double q[MOST * WIDTH];
    carom_random random = {seed};
    carom_robot *robot = make(context, m);
    robot_oracle oracle;
    robot_oracle_create(&m->def, m->objects, m->object_count, &m->open, &oracle);
    const int count = 12;
    for (int i = 0; i < count; ++i) robots_configuration(m, &random, q + (uint32_t)i * m->dof);
    const double margins[2] = {0.0, 0.05};
    carom_robot_result results[MOST], covers[MOST];
    carom_robot_gap gaps[MOST], rough[MOST];
    carom_robot_query cover_query = {.covers_only = true};
    assert_ok(context, carom_robot_clearance(context, robot, q, count, NULL, gaps));
    assert_ok(context, carom_robot_clearance(context, robot, q, count, &cover_query, rough));
    for (int which = 0; which < 2; ++which) {
        carom_robot_query query = {.margin = margins[which]};
        assert_ok(context, carom_robot_check(context, robot, q, count, &query, results));
        query.covers_only = true;
        assert_ok(context, carom_robot_check(context, robot, q, count, &query, covers));
        for (int i = 0; i < count; ++i) {
            const double *at = q + (uint32_t)i * m->dof;
            long double d = robot_oracle_distance(&oracle, at);
            const carom_robot_result *r = &results[i];
            assert_true(r->verdict != CAROM_ROBOT_VERDICT_OPEN);
            if (fabsl(d - (long double)margins[which]) < NEAR && d > 0) continue;
            bool collides = d <= (long double)margins[which];
            if ((r->verdict == CAROM_ROBOT_VERDICT_COLLIDING) != collides)
                fail_msg("seed %llu, configuration %d: %s at %s, but the distance is %.17Lg",
                         (unsigned long long)seed, i, carom_robot_verdict_name(r->verdict),
                         carom_robot_stage_name(r->stage), d);
            if (collides) {
                long double own = robot_oracle_pair(&oracle, at, r->a, r->b, r->with_object);
                assert_true(own <= (long double)margins[which] + NEAR);
            }
            if (covers[i].verdict != CAROM_ROBOT_VERDICT_OPEN)
                assert_int_equal(covers[i].verdict, r->verdict);
            ++counts[r->stage];
            if (which == 1) continue;
            if (!(gaps[i].distance.lower <= (double)(d + 1e-15L) &&
                  gaps[i].distance.upper >= (double)(d - 1e-15L)))
                fail_msg("seed %llu, configuration %d: distance %.17Lg is not in %.17g to %.17g",
                         (unsigned long long)seed, i, d, gaps[i].distance.lower,
                         gaps[i].distance.upper);
            assert_true(isinf(gaps[i].distance.upper) ||
                        gaps[i].distance.upper - gaps[i].distance.lower < 1e-9);
            if (!(rough[i].distance.lower <= (double)d && rough[i].distance.upper >= (double)d))
                fail_msg("seed %llu, configuration %d: distance %.17Lg is not in %.17g to %.17g by "
                         "covers",
                         (unsigned long long)seed, i, d, rough[i].distance.lower,
                         rough[i].distance.upper);
        }
    }
    robot_oracle_destroy(&oracle);
    carom_robot_destroy(robot);
}

static void verdicts_and_distances_are_those_of_the_oracle(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip(); /* one thread */
    static robots_case m;
    uint64_t counts[4] = {0};
    for (uint64_t seed = 1; seed <= TEST_CASES(160); ++seed) {
        robots_make(seed, &m);
        compare(&m, seed, counts);
    }
    for (int stage = 0; stage < CAROM_ROBOT_STAGE_COUNT && TEST_MANY_CASES; ++stage)
        assert_true(counts[stage] > 0);
}

/* Free motions are free at many times; colliding ones collide where they say and not before. */
static void motions_are_those_of_the_oracle(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip(); /* one thread */
    static robots_case m;
    uint64_t seen[CAROM_ROBOT_VERDICT_COUNT] = {0};
    for (uint64_t seed = 1; seed <= TEST_CASES(64); ++seed) {
        robots_make(seed, &m);
        carom_robot *robot = make(context, &m);
        robot_oracle oracle;
        robot_oracle_create(&m.def, m.objects, m.object_count, &m.open, &oracle);
        carom_random random = {seed};
        for (int i = 0; i < 4; ++i) {
            double from[WIDTH], to[WIDTH], q[WIDTH];
            robots_configuration(&m, &random, from);
            robots_configuration(&m, &random, to);
            for (uint32_t k = 0; k < m.dof; ++k) /* shorter ones, too */
                if (i % 2 == 0) to[k] = from[k] + 0.1 * (to[k] - from[k]);
            carom_robot_query query = {.margin = i < 2 ? 0.0 : 0.01, .tolerance = 1e-4};
            carom_robot_motion_result r;
            assert_ok(context, carom_robot_motion(context, robot, from, to, 1, &query, &r));
            ++seen[r.verdict];
            double end = r.verdict == CAROM_ROBOT_VERDICT_FREE ? 1.0 : r.free_until;
            assert_true(r.free_until >= 0.0 && r.free_until <= 1.0 && r.contact >= r.free_until);
            for (int step = 0; step < 12; ++step) {
                double t = end * (step / 12.0);
                for (uint32_t k = 0; k < m.dof; ++k) q[k] = (1.0 - t) * from[k] + t * to[k];
                long double d = robot_oracle_distance(&oracle, q);
                if (end > 0.0 && !(d > (long double)query.margin))
                    fail_msg("seed %llu, motion %d: %s until %g, but at %g the distance is %Lg",
                             (unsigned long long)seed, i, carom_robot_verdict_name(r.verdict), end,
                             t, d);
            }
            if (r.verdict != CAROM_ROBOT_VERDICT_COLLIDING) continue;
            for (uint32_t k = 0; k < m.dof; ++k)
                q[k] = (1.0 - r.contact) * from[k] + r.contact * to[k];
            assert_true(robot_oracle_distance(&oracle, q) <= (long double)query.margin + NEAR);
        }
        robot_oracle_destroy(&oracle);
        carom_robot_destroy(robot);
    }
    if (TEST_MANY_CASES)
        assert_true(seen[CAROM_ROBOT_VERDICT_FREE] > 0 && seen[CAROM_ROBOT_VERDICT_COLLIDING] > 0);
}

static void results_are_the_same_for_any_threads_and_instruction_set(void **state) {
    (void)state;
    static robots_case m;
    static double q[100 * WIDTH];
    carom_context *contexts[8];
    int with = test_contexts_of_isas(0, contexts, 0);
    contexts[with++] = test_context(16);
    for (uint64_t seed = 1; seed <= TEST_CASES(32); ++seed) {
        carom_random random = {seed};
        robots_make(seed, &m);
        for (uint32_t i = 0; i < 100; ++i) robots_configuration(&m, &random, q + i * m.dof);
        q[0] *= seed % 4 == 0 ? 1e7 : 1.0; /* beyond what floats are computed for */
        carom_robot *robot = make(context, &m);
        static carom_robot_result first[100], second[100];
        static carom_robot_gap gap[2][100], gap_of[2][100];
        static carom_robot_motion_result motion[50], motion_of[50];
        carom_robot_query covers = {.covers_only = true};
        for (int c = 0; c < with; ++c) {
            memset(second, 0, sizeof(second));
            memset(gap_of, 0, sizeof(gap_of));
            memset(motion_of, 0, sizeof(motion_of));
            assert_ok(contexts[c], carom_robot_check(contexts[c], robot, q, 100, NULL, second));
            assert_ok(contexts[c],
                      carom_robot_clearance(contexts[c], robot, q, 100, NULL, gap_of[0]));
            assert_ok(contexts[c],
                      carom_robot_clearance(contexts[c], robot, q, 100, &covers, gap_of[1]));
            assert_ok(contexts[c], carom_robot_motion(contexts[c], robot, q, q + 50 * m.dof, 50,
                                                      &covers, motion_of));
            if (c == 0) {
                memcpy(first, second, sizeof(first));
                memcpy(gap, gap_of, sizeof(gap));
                memcpy(motion, motion_of, sizeof(motion));
            }
            assert_memory_equal(first, second, sizeof(first));
            assert_memory_equal(gap, gap_of, sizeof(gap));
            assert_memory_equal(motion, motion_of, sizeof(motion));
        }
        carom_robot_destroy(robot);
    }
    for (int c = 0; c < with; ++c) carom_context_destroy(contexts[c]);
}

/* Objects and attached shapes that came and went leave a robot as one made anew. */
static void changes_are_those_of_a_new_robot(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip(); /* one thread */
    static robots_case m, other;
    static double q[32 * WIDTH];
    for (uint64_t seed = 1; seed <= TEST_CASES(32); ++seed) {
        carom_random random = {seed};
        robots_make(seed, &m);
        robots_make(seed + 1000, &other);
        if (m.object_count == 0 || other.object_count == 0) continue;
        for (uint32_t i = 0; i < 32; ++i) robots_configuration(&m, &random, q + i * m.dof);
        carom_robot *fresh = make(context, &m), *changed = NULL;
        uint32_t ids[ROBOTS_OBJECTS], body;
        assert_ok(context, carom_robot_create(context, &m.def, &changed));
        assert_ok(context, carom_robot_add_objects(context, changed, other.objects,
                                                   other.object_count, ids));
        assert_ok(context, carom_robot_attach(context, changed, m.def.link_count - 1,
                                              &other.objects[0], &body));
        assert_int_equal(body, m.def.link_count);
        assert_valid(carom_robot_validate(changed));
        assert_ok(context, carom_robot_set_object_allowed(context, changed,
                                                          &(carom_pair){body, ids[0]}, 1, true));
        assert_ok(context,
                  carom_robot_set_allowed(context, changed, &(carom_pair){0, body}, 1, true));
        assert_valid(carom_robot_validate(changed));
        assert_ok(context, carom_robot_detach(context, changed, body));
        for (uint32_t i = 0; i < other.object_count; ++i)
            assert_ok(context, carom_robot_remove_object(context, changed, ids[i]));
        assert_ok(context,
                  carom_robot_add_objects(context, changed, m.objects, m.object_count, ids));
        assert_ok(context, carom_robot_set_object(context, changed, ids[0], &other.objects[0]));
        assert_ok(context, carom_robot_set_object(context, changed, ids[0], &m.objects[0]));
        assert_valid(carom_robot_validate(changed));
        carom_robot_result a[32], b[32];
        memset(a, 0, sizeof(a));
        memset(b, 0, sizeof(b));
        assert_ok(context, carom_robot_check(context, fresh, q, 32, NULL, a));
        assert_ok(context, carom_robot_check(context, changed, q, 32, NULL, b));
        assert_memory_equal(a, b, sizeof(a));
        carom_robot_destroy(fresh);
        carom_robot_destroy(changed);
    }
}

/* An attached shape is where its link is. */
static void attached_shapes_move_with_their_link(void **state) {
    (void)state;
    if (TEST_THREADS_ONLY) skip(); /* one thread */
    const carom_robot_shape base = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.1, 0.1, 0.1}};
    const carom_robot_shape tool = {
        .kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .pose = {{0}, {1.0, 0.0, 0.0}}, .radius = 0.2};
    const carom_robot_shape wall = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                                    .pose = {{0}, {0.0, 1.25, 0.0}},
                                    .half = {0.5, 0.1, 0.5}};
    const carom_robot_link links[2] = {{"base", &base, 1}, {"arm", NULL, 0}};
    const carom_robot_joint joint = {.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                     .parent = 0,
                                     .child = 1,
                                     .axis = {0.0, 0.0, 1.0},
                                     .lower = -2.0,
                                     .upper = 2.0};
    const carom_robot_def def = {.links = links,
                                 .link_count = 2,
                                 .joints = &joint,
                                 .joint_count = 1,
                                 .spheres = TEST_FEW_CASES ? 8 : 0,
                                 .inner = TEST_FEW_CASES ? 4 : 0};
    const double q[2] = {0.0, 1.5707963267948966};
    carom_robot *robot = NULL;
    carom_robot_result r[2];
    uint32_t body;
    assert_ok(context, carom_robot_create(context, &def, &robot));
    assert_ok(context, carom_robot_add_objects(context, robot, &wall, 1, NULL));
    assert_ok(context, carom_robot_check(context, robot, q, 2, NULL, r));
    assert_true(r[0].verdict == CAROM_ROBOT_VERDICT_FREE && r[1].verdict == r[0].verdict);
    assert_ok(context, carom_robot_attach(context, robot, 1, &tool, &body));
    assert_ok(context, carom_robot_check(context, robot, q, 2, NULL, r));
    assert_int_equal(r[0].verdict, CAROM_ROBOT_VERDICT_FREE);
    assert_int_equal(r[1].verdict, CAROM_ROBOT_VERDICT_COLLIDING);
    assert_true(r[1].a == body && r[1].b == 0 && r[1].with_object);
    if (!TEST_FEW_CASES || TEST_SANITIZED) { /* seconds in an emulator */
        carom_robot_motion_result motion;
        assert_ok(context, carom_robot_motion(context, robot, q, q + 1, 1, NULL, &motion));
        assert_int_equal(motion.verdict, CAROM_ROBOT_VERDICT_COLLIDING);
        assert_true(motion.contact - motion.free_until < 1e-4 && motion.free_until > 0.5);
    }
    carom_pose poses[4];
    assert_ok(context, carom_robot_poses(context, robot, q, 2, poses));
    assert_true(fabs(poses[3].q.z - poses[3].q.w) < 1e-12 && fabs(poses[3].q.z) > 0.7);
    assert_true(fabs(poses[3].q.z * poses[3].q.z + poses[3].q.w * poses[3].q.w - 1.0) < 1e-15);
    carom_robot_destroy(robot);
}

/* Fingers that touch at the start leave a motion open from there; the collision with a wall
 * later on is of the arm, not of the fingers. */
static void a_collision_names_its_own_pair(void **state) {
    (void)state;
    const carom_robot_shape finger = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                                      .half = {0.01, 0.05, 0.05}};
    const carom_robot_shape wall = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
                                    .pose = {{0}, {0.0, 0.5, 0.0}},
                                    .half = {0.5, 0.1, 0.5}};
    const carom_robot_link links[3] = {
        {"hand", NULL, 0}, {"left", &finger, 1}, {"right", &finger, 1}};
    const carom_robot_joint joints[2] = {{.kind = CAROM_ROBOT_JOINT_KIND_PRISMATIC,
                                          .child = 1,
                                          .axis = {1.0, 0.0, 0.0},
                                          .upper = 1.0},
                                         {.kind = CAROM_ROBOT_JOINT_KIND_PRISMATIC,
                                          .child = 2,
                                          .axis = {0.0, 1.0, 0.0},
                                          .upper = 1.0}};
    const carom_robot_def def = {.links = links,
                                 .link_count = 3,
                                 .joints = joints,
                                 .joint_count = 2,
                                 .test_adjacent = true,
                                 .spheres = 4,
                                 .inner = 2};
    const double from[2] = {0.02000000000001, 0.0}, to[2] = {0.03, 0.7};
    carom_robot *robot;
    carom_robot_motion_result r;
    assert_ok(context, carom_robot_create(context, &def, &robot));
    assert_ok(context, carom_robot_add_objects(context, robot, &wall, 1, NULL));
    assert_ok(context, carom_robot_motion(context, robot, from, to, 1, NULL, &r));
    assert_int_equal(r.verdict, CAROM_ROBOT_VERDICT_COLLIDING);
    assert_true(r.free_until == 0.0 && r.contact >= 0.5);
    assert_true(r.a == 2 && r.b == 0 && r.with_object);
    carom_robot_destroy(robot);
}

/* Points are replaced by others, few and many, of one radius or of several: the tree holds, and the
 * nearest point is found. */
static void any_number_of_points_is_searched(void **state) {
    (void)state;
    static carom_ball points[20000];
    const carom_robot_shape ball = {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .radius = 0.25};
    const carom_robot_link link = {"ball", &ball, 1};
    const carom_robot_def def = {.links = &link, .link_count = 1};
    carom_robot *robot;
    uint32_t id;
    carom_random random = {5};
    carom_robot_shape cloud = {
        .kind = CAROM_ROBOT_SHAPE_KIND_BALLS, .balls = points, .ball_count = 1};
    assert_ok(context, carom_robot_create(context, &def, &robot));
    assert_ok(context, carom_robot_add_objects(context, robot, &cloud, 1, &id));
    for (uint32_t count = 1; count <= COUNT_OF(points); count += count < 150 ? 1 : 6617) {
        double nearest = HUGE_VAL;
        carom_robot_gap gap;
        for (uint32_t i = 0; i < count; ++i) {
            double x = carom_random_between(&random, 0.5, 2.0);
            double y = count % 7 == 0 ? 0.0 : carom_random_between(&random, -1.0, 1.0);
            double radius = count % 2 == 0 ? 0.01 : carom_random_between(&random, 0.0, 0.02);
            points[i] = (carom_ball){{x, y, count % 3 == 0 ? 0.0 : 0.2 * x * y}, radius};
            carom_vec3 c = points[i].centre;
            double d = sqrt(c.x * c.x + c.y * c.y + c.z * c.z) - radius - 0.25;
            nearest = fmin(d, nearest);
        }
        cloud.ball_count = count;
        assert_ok(context, carom_robot_set_object(context, robot, id, &cloud));
        assert_null(carom_robot_validate(robot));
        assert_ok(context, carom_robot_clearance(context, robot, NULL, 1, NULL, &gap));
        assert_true(fabs(gap.distance.value - nearest) < 1e-12);
    }
    carom_robot_destroy(robot);
}

static void bad_robots_are_refused(void **state) {
    (void)state;
    const carom_robot_link links[3] = {{0}};
    carom_robot_joint joints[2] = {
        {.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE, .parent = 0, .child = 1, .axis = {1.0, 0.0, 0.0}},
        {.kind = CAROM_ROBOT_JOINT_KIND_FIXED, .parent = 1, .child = 2}};
    carom_robot_def def = {.links = links, .link_count = 3, .joints = joints, .joint_count = 2};
    carom_robot *robot = NULL;
    joints[1].parent = 2;
    joints[1].child = 1;
    assert_fails(context, carom_robot_create(context, &def, &robot), CAROM_BAD_INPUT,
                 "child of two");
    joints[0].parent = 2;
    joints[1] = (carom_robot_joint){.parent = 1, .child = 2};
    assert_fails(context, carom_robot_create(context, &def, &robot), CAROM_BAD_INPUT, "ancestor");
    joints[0].parent = 0;
    joints[0].axis.x = 0.0;
    assert_fails(context, carom_robot_create(context, &def, &robot), CAROM_BAD_INPUT, "axis");
    joints[0].axis.x = 1.0;
    joints[0].lower = 1.0;
    assert_fails(context, carom_robot_create(context, &def, &robot), CAROM_BAD_INPUT, "limits");
    joints[0].lower = NAN;
    assert_fails(context, carom_robot_create(context, &def, &robot), CAROM_BAD_INPUT, "limits");
    joints[0].lower = -1.0;
    def.joint_count = 1;
    assert_fails(context, carom_robot_create(context, &def, &robot), CAROM_BAD_INPUT,
                 "need 2 joints");
    def.joint_count = 2;
    assert_ok(context, carom_robot_create(context, &def, &robot));
    const double q = NAN;
    carom_robot_result r;
    const carom_robot_def still = {.links = links, .link_count = 1};
    carom_robot *fixed = NULL; /* no joint moves: a configuration has no numbers */
    assert_ok(context, carom_robot_create(context, &still, &fixed));
    assert_ok(context, carom_robot_check(context, fixed, NULL, 1, NULL, &r));
    assert_int_equal(r.verdict, CAROM_ROBOT_VERDICT_FREE);
    carom_robot_destroy(fixed);
    assert_fails(context, carom_robot_check(context, robot, &q, 1, NULL, &r), CAROM_BAD_INPUT,
                 "finite");
    assert_fails(context, carom_robot_remove_object(context, robot, 0), CAROM_BAD_INPUT,
                 "object 0");
    assert_fails(context, carom_robot_detach(context, robot, 1), CAROM_BAD_INPUT, "is a link");
    carom_robot_destroy(robot);
}

/* A robot of capsules, which need no search for a cover, and a world of faces and balls; then all
 * that allocates: changes and queries. */
static carom_status create_and_query(carom_allocator allocator, void *argument) {
    const robots_case *m = argument;
    carom_context *with = NULL;
    carom_context_def of_context = {.threads = 1, .allocator = allocator};
    const carom_robot_shape capsule = {
        .kind = CAROM_ROBOT_SHAPE_KIND_CAPSULE, .radius = 0.1, .half_height = 0.3};
    const carom_robot_shape world[2] = {
        {.mesh = &m->closed, .pose = {{0}, {0.6, 0.0, 0.0}}},
        {.kind = CAROM_ROBOT_SHAPE_KIND_BALLS, .balls = m->balls, .ball_count = 40}};
    const carom_robot_link links[3] = {{"a", &capsule, 1}, {"b", &capsule, 1}, {"c", &capsule, 1}};
    const carom_robot_joint joints[2] = {
        {.kind = CAROM_ROBOT_JOINT_KIND_CONTINUOUS, .child = 1, .axis = {0.0, 1.0, 0.0}},
        {.kind = CAROM_ROBOT_JOINT_KIND_CONTINUOUS,
         .parent = 1,
         .child = 2,
         .origin = {{0}, {0.0, 0.0, 0.8}},
         .axis = {1.0, 0.0, 0.0}}};
    const carom_robot_def def = {
        .links = links, .link_count = 3, .joints = joints, .joint_count = 2, .spheres = 9};
    const double q[4] = {0.1, 0.2, 1.0, -0.4};
    carom_robot *robot = NULL;
    carom_robot_result results[2];
    carom_robot_gap gaps[2];
    carom_robot_motion_result motion;
    carom_robot_pair_counts counts = {0};
    carom_pose poses[6];
    carom_status status = carom_context_create(&of_context, &with);
    if (status == CAROM_OK) status = carom_robot_create(with, &def, &robot);
    assert_true((status == CAROM_OK) == (robot != NULL));
    if (status == CAROM_OK) status = carom_robot_add_objects(with, robot, world, 2, NULL);
    if (status == CAROM_OK) status = carom_robot_attach(with, robot, 2, &world[1], NULL);
    if (status == CAROM_OK)
        status = carom_robot_set_allowed(with, robot, &(carom_pair){0, 3}, 1, true);
    if (status == CAROM_OK) status = carom_robot_set_object(with, robot, 1, &world[0]);
    if (status == CAROM_OK) status = carom_robot_check(with, robot, q, 2, NULL, results);
    if (status == CAROM_OK) status = carom_robot_clearance(with, robot, q, 2, NULL, gaps);
    if (status == CAROM_OK) status = carom_robot_motion(with, robot, q, q + 2, 1, NULL, &motion);
    if (status == CAROM_OK) status = carom_robot_poses(with, robot, q, 2, poses);
    if (status == CAROM_OK) status = carom_robot_sample_pairs(with, robot, 4, 1, &counts);
    if (status == CAROM_OK) status = carom_robot_detach(with, robot, 3);
    if (status == CAROM_OK) status = carom_robot_remove_object(with, robot, 1);
    if (robot != NULL) assert_valid(carom_robot_validate(robot)); /* also after a failure */
    carom_robot_pair_counts_free(&counts);
    carom_robot_destroy(robot);
    carom_context_destroy(with);
    return status;
}

static void failing_allocations_are_reported(void **state) {
    (void)state;
    if (TEST_FEW_CASES && !TEST_SANITIZED) skip(); /* seconds in an emulator */
    static robots_case m;
    robots_make(1, &m);
    test_allocation_failures(create_and_query, &m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_distances_are_those_of_the_oracle),
        cmocka_unit_test(motions_are_those_of_the_oracle),
        cmocka_unit_test(results_are_the_same_for_any_threads_and_instruction_set),
        cmocka_unit_test(changes_are_those_of_a_new_robot),
        cmocka_unit_test(attached_shapes_move_with_their_link),
        cmocka_unit_test(a_collision_names_its_own_pair),
        cmocka_unit_test(any_number_of_points_is_searched),
        cmocka_unit_test(bad_robots_are_refused),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
