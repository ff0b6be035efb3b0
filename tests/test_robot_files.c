/* SPDX-License-Identifier: MIT */
/* Files of robots: what is loaded gives the same bytes and the same answers as what was saved;
 * damaged files are refused. Audits of spheres against points of the faces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "robot/robot.h"
#include "tests/support/cli_run.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

static carom_context *context;

#define CONFIGURATIONS 400

/* An arm with a mesh, a cylinder, a capsule and balls, a mimic and a prismatic joint; a world of a
 * box, a mesh and balls; an attached shape; allowed pairs. */
static carom_robot *make_robot(void) {
    const carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS, .detail = 4};
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(context, &torus, &view);
    const carom_ball balls[3] = {
        {{0.0, 0.0, 0.0}, 0.1}, {{0.3, 0.0, 0.0}, 0.2}, {{0.6, 0, 0}, 0.1}};
    const carom_robot_shape shapes[] = {
        {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.3, 0.3, 0.1}},
        {.mesh = &view, .pose = {{1.0, 0.0, 0.0, 0.0}, {1.2, 0.0, 0.3}}},
        {.kind = CAROM_ROBOT_SHAPE_KIND_CYLINDER, .radius = 0.1, .half_height = 0.6},
        {.kind = CAROM_ROBOT_SHAPE_KIND_CAPSULE, .radius = 0.1, .half_height = 0.4},
        {.kind = CAROM_ROBOT_SHAPE_KIND_BALLS, .balls = balls, .ball_count = 3, .radius = 0.01},
        {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .radius = 0.2}};
    const carom_robot_link links[5] = {{"base", &shapes[0], 1},
                                       {"", &shapes[1], 1},
                                       {"three", &shapes[2], 2},
                                       {NULL, NULL, 0},
                                       {"hand \xc3\xa9", &shapes[4], 1}};
    const carom_robot_joint joints[4] = {{.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                          .parent = 0,
                                          .child = 1,
                                          .axis = {0.0, 0.3, 1.0},
                                          .lower = -3.0,
                                          .upper = 2.0},
                                         {.kind = CAROM_ROBOT_JOINT_KIND_CONTINUOUS,
                                          .parent = 1,
                                          .child = 2,
                                          .origin = {{1.0, 0.1, 0.0, 0.0}, {1.5, 0.0, 0.0}},
                                          .axis = {0.0, 1.0, 0.0}},
                                         {.kind = CAROM_ROBOT_JOINT_KIND_PRISMATIC,
                                          .parent = 2,
                                          .child = 3,
                                          .axis = {0.0, 0.0, 1.0},
                                          .lower = -1.0,
                                          .upper = 1.0},
                                         {.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                          .parent = 3,
                                          .child = 4,
                                          .axis = {1.0, 0.0, 0.0},
                                          .mimics = true,
                                          .mimic = 0,
                                          .multiplier = -0.5,
                                          .offset = 0.25}};
    const carom_pair allowed = {2, 4};
    const carom_robot_def def = {.links = links,
                                 .link_count = 5,
                                 .joints = joints,
                                 .joint_count = 4,
                                 .allowed = &allowed,
                                 .allowed_count = 1,
                                 .spheres = 8,
                                 .inner = 4};
    const carom_robot_shape world[3] = {
        {.kind = CAROM_ROBOT_SHAPE_KIND_BOX,
         .half = {0.2, 0.2, 2.0},
         .pose = {{1, 0, 0, 0}, {0, 2, 0}}},
        {.mesh = &view, .pose = {{1.0, 0.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}}},
        {.kind = CAROM_ROBOT_SHAPE_KIND_BALLS,
         .balls = balls,
         .ball_count = 3,
         .pose = {{0}, {2, -2, 0}}}};
    carom_robot *robot;
    const carom_pair base_and_box = {0, 0};
    assert_ok(context, carom_robot_create(context, &def, &robot));
    assert_ok(context, carom_robot_add_objects(context, robot, world, 3, NULL));
    assert_ok(context, carom_robot_attach(context, robot, 4, &shapes[5], NULL));
    assert_ok(context, carom_robot_set_object_allowed(context, robot, &base_and_box, 1, true));
    carom_mesh_destroy(mesh);
    return robot;
}

static void assert_same_answers(const carom_robot *a, const carom_robot *b) {
    static double q[3 * CONFIGURATIONS];
    static carom_robot_result checks[2][CONFIGURATIONS];
    static carom_robot_gap gaps[2][CONFIGURATIONS];
    static carom_robot_motion_result motions[2][CONFIGURATIONS / 8];
    carom_random random = {9};
    for (int i = 0; i < 3 * CONFIGURATIONS; ++i) q[i] = carom_random_between(&random, -3.0, 3.0);
    memset(checks, 0, sizeof(checks));
    memset(gaps, 0, sizeof(gaps));
    memset(motions, 0, sizeof(motions));
    for (int i = 0; i < 2; ++i) {
        const carom_robot *r = i == 0 ? a : b;
        assert_ok(context, carom_robot_check(context, r, q, CONFIGURATIONS, NULL, checks[i]));
        assert_ok(context, carom_robot_clearance(context, r, q, CONFIGURATIONS / 8, NULL, gaps[i]));
        assert_ok(context,
                  carom_robot_motion(context, r, q, q + 600, CONFIGURATIONS / 8, NULL, motions[i]));
    }
    assert_memory_equal(checks[0], checks[1], sizeof(checks[0]));
    assert_memory_equal(gaps[0], gaps[1], sizeof(gaps[0]));
    assert_memory_equal(motions[0], motions[1], sizeof(motions[0]));
}

static void saved_robots_are_the_same(void **state) {
    (void)state;
    carom_robot *robot = make_robot(), *again, *file;
    carom_bytes bytes = {0}, second = {0};
    carom_robot_info a, b;
    assert_ok(context, carom_robot_save_memory(context, robot, CAROM_ROBOT_FORMAT_GUESS, &bytes));
    assert_ok(context, carom_robot_load_memory(context, bytes.data, bytes.count,
                                               CAROM_ROBOT_FORMAT_CAROM, NULL, &again));
    assert_ok(context, carom_robot_save_memory(context, again, CAROM_ROBOT_FORMAT_CAROM, &second));
    assert_int_equal(bytes.count, second.count);
    assert_memory_equal(bytes.data, second.data, bytes.count);
    assert_null(carom_robot_validate(again));
    assert_int_equal(carom_robot_get_info(robot, &a), CAROM_OK);
    assert_int_equal(carom_robot_get_info(again, &b), CAROM_OK);
    assert_true(a.pairs == b.pairs && a.fine == b.fine && a.overhang == b.overhang &&
                a.fine_overhang == b.fine_overhang && a.rounding == b.rounding);
    assert_true(a.fine > a.spheres && a.fine_overhang < a.overhang);
    assert_string_equal(carom_robot_link_name(again, 4), "hand \xc3\xa9");
    assert_string_equal(carom_robot_link_name(again, 1), "");
    assert_same_answers(robot, again);
    /* Changes of a loaded robot work like those of the other. */
    assert_ok(context, carom_robot_detach(context, robot, 5));
    assert_ok(context, carom_robot_detach(context, again, 5));
    assert_ok(context, carom_robot_remove_object(context, robot, 1));
    assert_ok(context, carom_robot_remove_object(context, again, 1));
    assert_same_answers(robot, again);
    assert_ok(context, carom_robot_save(context, again, CAROM_ROBOT_FORMAT_GUESS, "r.robot"));
    assert_ok(context, carom_robot_load(context, "r.robot", CAROM_ROBOT_FORMAT_GUESS, &file));
    assert_int_equal(remove("r.robot"), 0);
    assert_same_answers(again, file);
    carom_bytes_free(&bytes);
    carom_bytes_free(&second);
    carom_robot_destroy(robot);
    carom_robot_destroy(again);
    carom_robot_destroy(file);
}

static carom_status try_load(const uint8_t *bytes, uint64_t size) {
    carom_robot *robot;
    carom_status status =
        carom_robot_load_memory(context, bytes, size, CAROM_ROBOT_FORMAT_GUESS, "f.robot", &robot);
    if (status == CAROM_OK)
        assert_null(carom_robot_validate(robot));
    else
        assert_true(robot == NULL && strncmp(carom_context_message(context), "f.robot: ", 9) == 0);
    carom_robot_destroy(robot);
    return status;
}

/* Any changed bit is noticed. With the sum made right, what is accepted is valid. */
static void damaged_files_are_refused(void **state) {
    (void)state;
    carom_robot *robot = make_robot();
    carom_bytes bytes = {0};
    carom_random random = {3};
    assert_ok(context, carom_robot_save_memory(context, robot, CAROM_ROBOT_FORMAT_GUESS, &bytes));
    uint8_t *copy = malloc(bytes.count + 8);
    assert_non_null(copy);
    for (int i = 0; i < TEST_CASES(240); ++i) {
        memcpy(copy, bytes.data, bytes.count);
        uint64_t at = carom_random_next(&random) % bytes.count;
        uint8_t bit = (uint8_t)(1u << carom_random_next(&random) % 8);
        copy[at] ^= bit;
        assert_int_equal(try_load(copy, bytes.count), CAROM_BAD_FILE);
        if (at < 32) continue;
        uint64_t sum = carom_robot_file_sum(copy + 32, bytes.count - 32);
        for (int k = 0; k < 8; ++k) copy[24 + k] = (uint8_t)(sum >> 8 * k);
        (void)try_load(copy, bytes.count);
    }
    memcpy(copy, bytes.data, bytes.count);
    for (int i = 0; i < TEST_CASES(80); ++i) {
        uint64_t size = i < 40 ? (uint64_t)i : carom_random_next(&random) % bytes.count;
        assert_int_equal(try_load(copy, size), CAROM_BAD_FILE);
    }
    memset(copy + bytes.count, 0, 8);
    assert_int_equal(try_load(copy, bytes.count + 8), CAROM_BAD_FILE);
    assert_int_equal(try_load((const uint8_t *)"solid x\nendsolid x\n and more than a head", 40),
                     CAROM_BAD_FILE);
    assert_non_null(strstr(carom_context_message(context), "not a robot by Carom"));
    free(copy);
    carom_bytes_free(&bytes);
    carom_robot_destroy(robot);
}

/* ---- Audits ---------------------------------------------------------------------------------- */

/* Random spheres about a box, against a grid of points of its faces. */
static void audits_contain_the_truth(void **state) {
    (void)state;
    carom_random random = {17};
    const carom_robot_shape box = {.kind = CAROM_ROBOT_SHAPE_KIND_BOX, .half = {0.5, 0.4, 0.3}};
    const carom_robot_link link = {"a", &box, 1};
    const carom_robot_def def = {.links = &link, .link_count = 1};
    carom_robot *robot;
    carom_robot_audit audit;
    assert_ok(context, carom_robot_create(context, &def, &robot));
    for (int round = 0; round < TEST_CASES(16); ++round) {
        carom_ball balls[12];
        uint32_t count = 1 + (uint32_t)(carom_random_next(&random) % 12);
        double worst = 0.0, outside = 0.0, total = 0.0;
        const double half[3] = {0.5, 0.4, 0.3};
        for (uint32_t i = 0; i < count; ++i)
            balls[i] = (carom_ball){{carom_random_between(&random, -0.5, 0.5),
                                     carom_random_between(&random, -0.4, 0.4),
                                     carom_random_between(&random, -0.3, 0.3)},
                                    carom_random_between(&random, 0.1, 0.5)};
        assert_ok(context, carom_robot_audit_spheres(context, robot, 0, balls, count, &audit));
        for (int face = 0; face < 6; ++face)
            for (int i = 0; i < 60; ++i)
                for (int k = 0; k < 60; ++k) {
                    int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
                    double p[3], least = HUGE_VAL;
                    p[axis] = face % 2 == 0 ? half[axis] : -half[axis];
                    p[u] = half[u] * ((i + 0.5) / 30.0 - 1.0);
                    p[v] = half[v] * ((k + 0.5) / 30.0 - 1.0);
                    for (uint32_t b = 0; b < count; ++b) {
                        double x = p[0] - balls[b].centre.x, y = p[1] - balls[b].centre.y;
                        double z = p[2] - balls[b].centre.z;
                        least = fmin(least, sqrt(x * x + y * y + z * z) - balls[b].radius);
                    }
                    worst = fmax(worst, least);
                    total += half[u] * half[v];
                    if (least > 0.0) outside += half[u] * half[v];
                }
        assert_true(worst <= audit.worst.upper);
        assert_true(audit.worst.lower <= audit.worst.upper &&
                    audit.worst.upper <= audit.worst.lower * 1.0101 + 2e-6);
        assert_true(audit.worst.lower <= worst + 0.02); /* the grid is that fine */
        assert_true(fabs(audit.area - 3.76) < 1e-12);
        assert_true(outside / total > audit.outside_share.lower - 0.02 &&
                    outside / total < audit.outside_share.upper + 0.02);
        assert_true(audit.outside_share.upper - audit.outside_share.lower < 0.02);
    }
    const carom_ball all = {{0.0, 0.0, 0.0}, 0.8};
    assert_ok(context, carom_robot_audit_spheres(context, robot, 0, &all, 1, &audit));
    assert_true(audit.worst.upper == 0.0 && audit.outside_share.upper == 0.0);
    assert_ok(context, carom_robot_audit_spheres(context, robot, 0, NULL, 0, &audit));
    assert_true(audit.outside_share.lower > 0.999 && audit.worst.upper == HUGE_VAL);
    /* The robot's own covers leave nothing outside. */
    carom_robot_balls cover = {0};
    assert_ok(context, carom_robot_list_cover(context, robot, 0, &cover));
    assert_ok(context,
              carom_robot_audit_spheres(context, robot, 0, cover.data, cover.count, &audit));
    assert_true(audit.worst.lower == 0.0 && audit.worst.upper < 1e-5);
    const carom_ball bad = {{NAN, 0.0, 0.0}, 1.0};
    assert_int_equal(carom_robot_audit_spheres(context, robot, 0, &bad, 1, &audit),
                     CAROM_BAD_INPUT);
    assert_int_equal(carom_robot_audit_spheres(context, robot, 1, &all, 1, &audit),
                     CAROM_BAD_INPUT);
    carom_robot_balls_free(&cover);
    carom_robot_destroy(robot);
}

/* Pairs that collide wherever the robot is may, and are named, and so are meshes that are surfaces.
 */
static void the_tool_names_pairs_and_surfaces(void **state) {
    (void)state;
    write_file(
        "p.urdf",
        "<robot><link name='base'><collision><geometry><box size='1 1 1'/></geometry></collision>"
        "</link><link name='mid'><collision><origin xyz='5 0 0'/><geometry><box size='1 1 1'/>"
        "</geometry></collision></link><link name='tip'><collision><geometry><box size='0.5 0.5 "
        "2'/></geometry></collision></link><link name='far'><collision><origin xyz='9 0 0'/>"
        "<geometry><box size='1 1 1'/></geometry></collision></link>"
        "<joint name='j' type='continuous'><parent link='base'/><child link='mid'/><axis "
        "xyz='0 0 1'/></joint><joint name='k' type='continuous'><parent link='mid'/><child "
        "link='tip'/><axis xyz='0 0 1'/></joint><joint name='l' type='continuous'><parent "
        "link='mid'/><child link='far'/><axis xyz='0 0 1'/></joint></robot>");
    write_file("sheet.obj", "v 50 0 0\nv 51 0 0\nv 50 1 0\nf 1 2 3\n");
    assert_int_equal(carom("robot p.urdf --spheres 3 --sample 50"), 0);
    assert_said("0 free, 50 colliding");
    assert_int_equal(carom("robot p.urdf --spheres 3 --pairs 100 --world sheet.obj --sample 50 "
                           "--save p.robot"),
                     0);
    assert_said("meshes that are not closed were taken as surfaces: sheet.obj\n");
    assert_said("collided in all 100 random configurations, and may: base with tip\n");
    assert_said("did not collide in any of 100 and are tested: base with far, tip with far\n");
    assert_said("50 free, 0 colliding");
    assert_int_equal(carom("robot p.urdf --spheres 3 --pairs 100 --world sheet.obj --json"), 0);
    assert_said("\"surfaces\": [\"sheet.obj\"]");
    assert_said("\"always\": [[\"base\", \"tip\"]]");
    assert_int_equal(carom("robot p.robot --sample 50"), 0); /* they are saved with it */
    assert_said("50 free, 0 colliding");
    assert_int_equal(carom("robot p.urdf --audit a.yml --pairs 3"), 2);
}

static void the_tool_saves_and_audits(void **state) {
    (void)state;
    write_file(
        "a.urdf",
        "<robot><link name='base'><collision><geometry><box size='2 1 1'/></geometry>"
        "</collision></link><link name='arm'><collision><origin xyz='3 0 0'/><geometry><box "
        "size='1 1 1'/></geometry></collision></link><joint name='j' type='revolute'><parent "
        "link='base'/><child link='arm'/><axis xyz='0 0 1'/><limit lower='-1' upper='1'/>"
        "</joint></robot>");
    write_file("a.yml", "robot_cfg:\n  collision_spheres:\n    base: # comment\n"
                        "      - center: [0.5, 0.0, 0.0]\n        radius: 0.9\n"
                        "      - \"center\": [-0.5, 0, 0]\n        \"radius\": 0.9\n"
                        "      - center: [9, 9, 9]\n        radius: -1\n"
                        "    arm:\n      - {center: [3, 0, 0], radius: 0.5}\n    gone: []\n"
                        "  other: 1\n");
    assert_int_equal(carom("robot a.urdf --audit a.yml --json"), 0);
    assert_said("\"foreign\": 1");
    assert_said("\"name\": \"base\", \"spheres\": 2, \"area\": 10, \"outside_share\": 0,");
    assert_said("\"name\": \"arm\", \"spheres\": 1, \"area\": 6, \"outside_share\": ");
    assert_said("\"worst\": 0.36602"); /* sqrt(3) / 2 - 0.5, at a corner */
    assert_int_equal(carom("robot a.urdf --audit a.yml --picture a.html"), 0);
    assert_said("arm  1 spheres, ");
    write_file("b.urdf",
               "<robot><link name='base'><collision><geometry><box size='2 1 1'/></geometry>"
               "</collision></link><link name='ball'><collision><geometry><sphere radius='1'/>"
               "</geometry></collision></link><joint name='j' type='fixed'><parent link='base'/>"
               "<child link='ball'/></joint></robot>");
    write_file("b.yml", "spheres:\n base:\n  - {center: [0, 0, 0], radius: 2}\n");
    assert_int_equal(carom("robot b.urdf --audit b.yml --picture b.png"), 0);
    assert_said("base  1 spheres, nothing outside\n");
    assert_said("ball  0 spheres, no faces, 1 round shapes not measured\n");
    assert_int_equal(carom("pack a.urdf --outer -n 4 -o s.urdf"), 0);
    assert_int_equal(carom("robot a.urdf --audit s.urdf --json"), 0);
    assert_said("\"outside_share\": 0,");
    write_file("bad.yml", "collision_spheres:\n  base:\n    - center: [1, 2]\n      radius: 1\n");
    assert_int_equal(carom("robot a.urdf --audit bad.yml"), CLI_INPUT);
    assert_said("bad.yml:3: center takes three numbers in brackets");
    write_file("bad.yml", "collision_spheres:\n  base:\n    - center: [1, 2, 3]\n");
    assert_int_equal(carom("robot a.urdf --audit bad.yml"), CLI_INPUT);
    assert_said("lacks its center or radius");
    write_file("bad.yml", "spheres:\n  base:\n    center: [1, 2, 3]\n    radius: 1\n");
    assert_int_equal(carom("robot a.urdf --audit bad.yml"), CLI_INPUT);
    assert_said("bad.yml:3: a sphere should begin with -");
    write_file("bad.yml", "spheres:\n  base:\n    - {center: [1, 2, 3], radius: 1, radius: 2}\n");
    assert_int_equal(carom("robot a.urdf --audit bad.yml"), CLI_INPUT);
    assert_said("bad.yml:3: a sphere has two centers or radii");
    write_file("bad.yml", "a: 1\n");
    assert_int_equal(carom("robot a.urdf --audit bad.yml"), CLI_INPUT);
    assert_said("there is no map collision_spheres");
    assert_int_equal(carom("robot a.urdf --spheres 4 --sample 50 --save a.robot -o 1.csv"), 0);
    assert_int_equal(carom("robot a.robot --sample 50 -o 2.csv"), 0);
    assert_int_equal(shell("cmp 1.csv 2.csv"), 0);
    assert_int_equal(carom("robot a.robot --sample 5 --visual"), CLI_USAGE);
    assert_int_equal(shell("head -c 500 a.robot > cut.robot; \"$carom\" robot cut.robot 2>&1"),
                     CLI_INPUT);
    assert_said("cut.robot: byte 500: the file ends here");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_robots_are_the_same),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(audits_contain_the_truth),
        cmocka_unit_test(the_tool_names_pairs_and_surfaces),
        cmocka_unit_test(the_tool_saves_and_audits),
    };
    if (!cli_run_begin("robot_files") || carom_context_create(NULL, &context) != CAROM_OK) return 1;
    int code = cli_run_end(cmocka_run_group_tests_name("robot_files", tests, NULL, NULL));
    carom_context_destroy(context);
    return code;
}
