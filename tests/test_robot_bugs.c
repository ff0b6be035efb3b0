/* SPDX-License-Identifier: MIT */
/* Callers' bugs in every function of robot.h and urdf.h: the assert handler is called once, the
 * call returns
 * CAROM_INVALID, and nothing has changed. One thread. */
#include <stdlib.h>

#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_robot *robot;
static const carom_robot_shape ball = {.kind = CAROM_ROBOT_SHAPE_KIND_SPHERE, .radius = 0.1};
static const carom_robot_link links[2] = {{"base", &ball, 1}, {"arm", &ball, 1}};
static const carom_robot_joint joint = {.kind = CAROM_ROBOT_JOINT_KIND_REVOLUTE,
                                        .child = 1,
                                        .axis = {0.0, 0.0, 1.0},
                                        .lower = -1.0,
                                        .upper = 1.0};
static const carom_robot_def def = {
    .links = links, .link_count = 2, .joints = &joint, .joint_count = 1};

static int set_up(void **state) {
    (void)state;
    context = bugs_context();
    return carom_robot_create(context, &def, &robot) != CAROM_OK ||
           carom_robot_add_objects(context, robot, &ball, 1, NULL) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_robot_destroy(robot);
    carom_context_destroy(context);
    return bugs_memory.live != 0;
}

static void names(void **state) {
    (void)state;
    carom_robot_shape_kind a_shape_kind = (carom_robot_shape_kind)0;
    FINE_VOID(carom_robot_shape_kind_name, kind, (carom_robot_shape_kind)99);
    assert_string_equal(carom_robot_shape_kind_name((carom_robot_shape_kind)99), "unknown");
    BUG_VOID(carom_robot_shape_kind_from_name, name, NULL, &a_shape_kind);
    BUG_VOID(carom_robot_shape_kind_from_name, kind, "mesh", NULL);
    for (int i = 0; i < CAROM_ROBOT_SHAPE_KIND_COUNT; ++i) {
        assert_true(carom_robot_shape_kind_from_name(
            carom_robot_shape_kind_name((carom_robot_shape_kind)i), &a_shape_kind));
        assert_int_equal(a_shape_kind, i);
    }
    carom_robot_joint_kind a_joint_kind = (carom_robot_joint_kind)0;
    FINE_VOID(carom_robot_joint_kind_name, kind, (carom_robot_joint_kind)99);
    assert_string_equal(carom_robot_joint_kind_name((carom_robot_joint_kind)99), "unknown");
    BUG_VOID(carom_robot_joint_kind_from_name, name, NULL, &a_joint_kind);
    BUG_VOID(carom_robot_joint_kind_from_name, kind, "fixed", NULL);
    for (int i = 0; i < CAROM_ROBOT_JOINT_KIND_COUNT; ++i) {
        assert_true(carom_robot_joint_kind_from_name(
            carom_robot_joint_kind_name((carom_robot_joint_kind)i), &a_joint_kind));
        assert_int_equal(a_joint_kind, i);
    }
    carom_robot_verdict a_verdict = (carom_robot_verdict)0;
    FINE_VOID(carom_robot_verdict_name, verdict, (carom_robot_verdict)99);
    assert_string_equal(carom_robot_verdict_name((carom_robot_verdict)99), "unknown");
    BUG_VOID(carom_robot_verdict_from_name, name, NULL, &a_verdict);
    BUG_VOID(carom_robot_verdict_from_name, verdict, "free", NULL);
    for (int i = 0; i < CAROM_ROBOT_VERDICT_COUNT; ++i) {
        assert_true(carom_robot_verdict_from_name(carom_robot_verdict_name((carom_robot_verdict)i),
                                                  &a_verdict));
        assert_int_equal(a_verdict, i);
    }
    carom_robot_stage a_stage = (carom_robot_stage)0;
    FINE_VOID(carom_robot_stage_name, stage, (carom_robot_stage)99);
    assert_string_equal(carom_robot_stage_name((carom_robot_stage)99), "unknown");
    BUG_VOID(carom_robot_stage_from_name, name, NULL, &a_stage);
    BUG_VOID(carom_robot_stage_from_name, stage, "covers", NULL);
    for (int i = 0; i < CAROM_ROBOT_STAGE_COUNT; ++i) {
        assert_true(
            carom_robot_stage_from_name(carom_robot_stage_name((carom_robot_stage)i), &a_stage));
        assert_int_equal(a_stage, i);
    }
}

static void preparing(void **state) {
    (void)state;
    carom_robot *made = NULL;
    carom_robot_info info;
    double lower[1], upper[1];
    carom_robot_shape bad_shape = {.kind = (carom_robot_shape_kind)99};
    carom_robot_link bad_link = {"base", &bad_shape, 1};
    carom_robot_joint bad_joint = {.kind = (carom_robot_joint_kind)99, .child = 1};
    carom_robot_def bad = def;
    BUG(carom_robot_create, context, BAD_CONTEXT, &def, &made);
    BUG(carom_robot_create, def, context, NULL, &made);
    BUG(carom_robot_create, robot, context, &def, NULL);
    bad.links = NULL;
    BUG_IN(carom_robot_def, links, carom_robot_create, context, &bad, &made);
    bad.links = &bad_link;
    bad.link_count = 1;
    BUG_IN(carom_robot_shape, kind, carom_robot_create, context, &bad, &made);
    bad_shape.kind = CAROM_ROBOT_SHAPE_KIND_MESH;
    BUG_IN(carom_robot_shape, mesh, carom_robot_create, context, &bad, &made);
    bad_shape.kind = CAROM_ROBOT_SHAPE_KIND_BALLS;
    bad_shape.ball_count = 1;
    BUG_IN(carom_robot_shape, balls, carom_robot_create, context, &bad, &made);
    bad = def;
    bad.joints = NULL;
    BUG_IN(carom_robot_def, joints, carom_robot_create, context, &bad, &made);
    bad.joints = &bad_joint;
    BUG_IN(carom_robot_joint, kind, carom_robot_create, context, &bad, &made);
    bad = def;
    bad.allowed_count = 1;
    BUG_IN(carom_robot_def, allowed, carom_robot_create, context, &bad, &made);
    assert_null(made);
    FINE_VOID(carom_robot_destroy, robot, NULL);
    BUG(carom_robot_get_info, robot, NULL, &info);
    BUG(carom_robot_get_info, info, robot, NULL);
    BUG(carom_robot_get_limits, robot, NULL, lower, upper);
    BUG(carom_robot_get_limits, lower, robot, NULL, upper);
    BUG(carom_robot_get_limits, upper, robot, lower, NULL);
}

static void changing(void **state) {
    (void)state;
    uint32_t id = 7;
    const carom_pair pair = {0, 1}, with = {0, 0};
    BUG(carom_robot_add_objects, context, BAD_CONTEXT, robot, &ball, 1, &id);
    BUG(carom_robot_add_objects, robot, context, NULL, &ball, 1, &id);
    BUG(carom_robot_add_objects, shapes, context, robot, NULL, 1, &id);
    assert_int_equal(id, 7);
    FINE(carom_robot_add_objects, ids, context, robot, &ball, 1, NULL);
    BUG(carom_robot_set_object, context, BAD_CONTEXT, robot, 0, &ball);
    BUG(carom_robot_set_object, robot, context, NULL, 0, &ball);
    BUG(carom_robot_set_object, shape, context, robot, 0, NULL);
    BUG(carom_robot_remove_object, context, BAD_CONTEXT, robot, 0);
    BUG(carom_robot_remove_object, robot, context, NULL, 0);
    BUG(carom_robot_attach, context, BAD_CONTEXT, robot, 1, &ball, &id);
    BUG(carom_robot_attach, robot, context, NULL, 1, &ball, &id);
    BUG(carom_robot_attach, shape, context, robot, 1, NULL, &id);
    FINE(carom_robot_attach, body, context, robot, 1, &ball, NULL);
    BUG(carom_robot_detach, context, BAD_CONTEXT, robot, 2);
    BUG(carom_robot_detach, robot, context, NULL, 2);
    BUG(carom_robot_set_allowed, context, BAD_CONTEXT, robot, &pair, 1, true);
    BUG(carom_robot_set_allowed, robot, context, NULL, &pair, 1, true);
    BUG(carom_robot_set_allowed, pairs, context, robot, NULL, 1, true);
    BUG(carom_robot_set_object_allowed, context, BAD_CONTEXT, robot, &with, 1, true);
    BUG(carom_robot_set_object_allowed, robot, context, NULL, &with, 1, true);
    BUG(carom_robot_set_object_allowed, pairs, context, robot, NULL, 1, true);
}

static void querying(void **state) {
    (void)state;
    const double q = 0.5;
    carom_robot_result r;
    carom_robot_gap gap;
    carom_robot_motion_result motion;
    carom_pose poses[2];
    carom_robot_balls balls = {0};
    carom_robot_pair_counts counts = {0};
    const carom_robot_query query = {0};
    BUG(carom_robot_check, context, BAD_CONTEXT, robot, &q, 1, &query, &r);
    BUG(carom_robot_check, robot, context, NULL, &q, 1, &query, &r);
    BUG(carom_robot_check, configurations, context, robot, NULL, 1, &query, &r);
    BUG(carom_robot_check, results, context, robot, &q, 1, &query, NULL);
    FINE(carom_robot_check, query, context, robot, &q, 1, NULL, &r);
    BUG(carom_robot_clearance, context, BAD_CONTEXT, robot, &q, 1, &query, &gap);
    BUG(carom_robot_clearance, robot, context, NULL, &q, 1, &query, &gap);
    BUG(carom_robot_clearance, configurations, context, robot, NULL, 1, &query, &gap);
    BUG(carom_robot_clearance, gaps, context, robot, &q, 1, &query, NULL);
    FINE(carom_robot_clearance, query, context, robot, &q, 1, NULL, &gap);
    BUG(carom_robot_motion, context, BAD_CONTEXT, robot, &q, &q, 1, &query, &motion);
    BUG(carom_robot_motion, robot, context, NULL, &q, &q, 1, &query, &motion);
    BUG(carom_robot_motion, from, context, robot, NULL, &q, 1, &query, &motion);
    BUG(carom_robot_motion, to, context, robot, &q, NULL, 1, &query, &motion);
    BUG(carom_robot_motion, results, context, robot, &q, &q, 1, &query, NULL);
    FINE(carom_robot_motion, query, context, robot, &q, &q, 1, NULL, &motion);
    BUG(carom_robot_poses, context, BAD_CONTEXT, robot, &q, 1, poses);
    BUG(carom_robot_poses, robot, context, NULL, &q, 1, poses);
    BUG(carom_robot_poses, configurations, context, robot, NULL, 1, poses);
    BUG(carom_robot_poses, poses, context, robot, &q, 1, NULL);
    BUG(carom_robot_list_cover, context, BAD_CONTEXT, robot, 0, &balls);
    BUG(carom_robot_list_cover, robot, context, NULL, 0, &balls);
    BUG(carom_robot_list_cover, balls, context, robot, 0, NULL);
    BUG_RESULT(carom_robot_balls, carom_robot_list_cover, balls, context, robot, 0, &result);
    BUG(carom_robot_list_inner, context, BAD_CONTEXT, robot, 0, &balls);
    BUG(carom_robot_list_inner, robot, context, NULL, 0, &balls);
    BUG(carom_robot_list_inner, balls, context, robot, 0, NULL);
    BUG(carom_robot_sample_pairs, context, BAD_CONTEXT, robot, 4, 1, &counts);
    BUG(carom_robot_sample_pairs, robot, context, NULL, 4, 1, &counts);
    BUG(carom_robot_sample_pairs, counts, context, robot, 4, 1, NULL);
    BUG_RESULT(carom_robot_pair_counts, carom_robot_sample_pairs, counts, context, robot, 4, 1,
               &result);
}

static void describing(void **state) {
    (void)state;
    static const char text[] = "<robot><link name='a'/></robot>";
    const carom_urdf_def how = {0};
    const carom_robot_def none = {0};
    const uint64_t size = sizeof(text) - 1;
    carom_urdf *urdf = NULL, *other = NULL;
    carom_urdf_view view;
    carom_mesh *mesh = NULL;
    carom_robot *made = NULL;
    BUG(carom_urdf_load, context, BAD_CONTEXT, "x", &how, &other);
    BUG(carom_urdf_load, path, context, NULL, &how, &other);
    BUG(carom_urdf_load, urdf, context, "x", &how, NULL);
    assert_int_equal(carom_urdf_load(context, "no such file", NULL, &other), CAROM_IO);
    bugs_note("carom_urdf_load", ' ', "def");
    BUG(carom_urdf_load_memory, context, BAD_CONTEXT, text, size, "x", &how, &other);
    BUG(carom_urdf_load_memory, bytes, context, NULL, size, "x", &how, &other);
    BUG(carom_urdf_load_memory, urdf, context, text, size, "x", &how, NULL);
    FINE(carom_urdf_load_memory, name, context, text, size, NULL, &how, &urdf);
    FINE(carom_urdf_load_memory, def, context, text, size, "x", NULL, &other);
    carom_urdf_destroy(other);
    FINE_VOID(carom_urdf_destroy, urdf, NULL);
    BUG(carom_urdf_load_srdf, context, BAD_CONTEXT, urdf, "x");
    BUG(carom_urdf_load_srdf, urdf, context, NULL, "x");
    BUG(carom_urdf_load_srdf, path, context, urdf, NULL);
    BUG(carom_urdf_load_srdf_memory, context, BAD_CONTEXT, urdf, text, size, "x");
    BUG(carom_urdf_load_srdf_memory, urdf, context, NULL, text, size, "x");
    BUG(carom_urdf_load_srdf_memory, bytes, context, urdf, NULL, size, "x");
    FINE(carom_urdf_load_srdf_memory, name, context, urdf, "<robot/>", 8, NULL);
    BUG(carom_urdf_get_view, urdf, NULL, &view);
    BUG(carom_urdf_get_view, view, urdf, NULL);
    BUG(carom_urdf_load_mesh, context, BAD_CONTEXT, urdf, 0, &mesh);
    BUG(carom_urdf_load_mesh, urdf, context, NULL, 0, &mesh);
    BUG(carom_urdf_load_mesh, element, context, urdf, 0, &mesh);
    BUG(carom_urdf_load_mesh, mesh, context, urdf, 0, NULL);
    BUG(carom_robot_create_urdf, context, BAD_CONTEXT, urdf, &none, &made);
    BUG(carom_robot_create_urdf, urdf, context, NULL, &none, &made);
    BUG(carom_robot_create_urdf, def, context, urdf, &def, &made);
    BUG(carom_robot_create_urdf, robot, context, urdf, &none, NULL);
    FINE(carom_robot_create_urdf, def, context, urdf, NULL, &made);
    carom_robot_destroy(made);
    carom_urdf_destroy(urdf);
}

static void saving(void **state) {
    (void)state;
    carom_bytes bytes = {0};
    carom_robot *loaded = NULL;
    carom_robot_audit audit;
    const carom_ball sphere = {{0.0, 0.0, 0.0}, 1.0};
    const carom_robot_format carom = CAROM_ROBOT_FORMAT_CAROM, bad = (carom_robot_format)99;
    carom_robot_format a_format = (carom_robot_format)0;
    FINE_VOID(carom_robot_format_name, format, bad);
    assert_string_equal(carom_robot_format_name(bad), "unknown");
    BUG_VOID(carom_robot_format_from_name, name, NULL, &a_format);
    BUG_VOID(carom_robot_format_from_name, format, "carom", NULL);
    assert_true(carom_robot_format_from_name("carom", &a_format) && a_format == carom);
    BUG_VOID(carom_robot_link_name, robot, NULL, 0);
    BUG_VOID(carom_robot_link_name, link, robot, 99);
    BUG_VOID(carom_robot_has_open_mesh, robot, NULL, 0, false);
    BUG(carom_robot_save, context, BAD_CONTEXT, robot, carom, "x.robot");
    BUG(carom_robot_save, robot, context, NULL, carom, "x.robot");
    BUG(carom_robot_save, format, context, robot, bad, "x.robot");
    BUG(carom_robot_save, path, context, robot, carom, NULL);
    BUG(carom_robot_save_memory, context, BAD_CONTEXT, robot, carom, &bytes);
    BUG(carom_robot_save_memory, robot, context, NULL, carom, &bytes);
    BUG(carom_robot_save_memory, format, context, robot, bad, &bytes);
    BUG(carom_robot_save_memory, bytes, context, robot, carom, NULL);
    BUG_RESULT(carom_bytes, carom_robot_save_memory, bytes, context, robot, carom, &result);
    assert_int_equal(carom_robot_save_memory(context, robot, carom, &bytes), CAROM_OK);
    BUG(carom_robot_load, context, BAD_CONTEXT, "x.robot", carom, &loaded);
    BUG(carom_robot_load, path, context, NULL, carom, &loaded);
    BUG(carom_robot_load, format, context, "x.robot", bad, &loaded);
    BUG(carom_robot_load, robot, context, "x.robot", carom, NULL);
    BUG(carom_robot_load_memory, context, BAD_CONTEXT, bytes.data, bytes.count, carom, "x",
        &loaded);
    BUG(carom_robot_load_memory, bytes, context, NULL, 8, carom, "x", &loaded);
    BUG(carom_robot_load_memory, format, context, bytes.data, bytes.count, bad, "x", &loaded);
    BUG(carom_robot_load_memory, robot, context, bytes.data, bytes.count, carom, "x", NULL);
    FINE(carom_robot_load_memory, name, context, bytes.data, bytes.count, carom, NULL, &loaded);
    carom_robot_destroy(loaded);
    carom_bytes_free(&bytes);
    BUG(carom_robot_audit_spheres, context, BAD_CONTEXT, robot, 0, &sphere, 1, &audit);
    BUG(carom_robot_audit_spheres, robot, context, NULL, 0, &sphere, 1, &audit);
    BUG(carom_robot_audit_spheres, spheres, context, robot, 0, NULL, 1, &audit);
    BUG(carom_robot_audit_spheres, audit, context, robot, 0, &sphere, 1, NULL);
}

static void nothing_was_left_out(void **state) {
    (void)state;
    static const char *const headers[] = {"robot.h", "urdf.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) >= 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(preparing),
        cmocka_unit_test(changing),
        cmocka_unit_test(querying),
        cmocka_unit_test(describing),
        cmocka_unit_test(saving),
        cmocka_unit_test(nothing_was_left_out),
    };
    return cmocka_run_group_tests_name("robot_bugs", tests, set_up, tear_down);
}
