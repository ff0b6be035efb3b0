/* SPDX-License-Identifier: MIT */
/* Callers' bugs: every public function gets NULL for each of its pointers, enums out of range and
 * result arrays whose fields contradict each other. The assert handler must hear of it, the call
 * must return CAROM_INVALID, and nothing must have happened. Where NULL is documented as fine, that
 * is tried, too.
 *
 * What is tried is named, function and parameter, and compared with the headers themselves: a
 * function, a pointer, an enum or an enum field of a def that is added and not tried here fails the
 * last test. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/caller_bugs.h"
#include "tests/support/shapes.h"

/* ---- what the calls are given ---------------------------------------------------------------- */

static carom_context *context;
static carom_mesh *mesh;
static carom_mesh_view view;
static carom_soup *soup;
static carom_solid *solid;
static carom_gas *gas;
static char *path;
static const carom_vec3 edges = {4.0, 4.0, 4.0};
static const carom_gas_sphere spheres[2] = {
    {.position = {1.0, 1.0, 1.0}, .velocity = {1.0, 0.0, 0.0}, .radius = 0.5},
    {.position = {3.0, 3.0, 3.0}, .velocity = {0.0, 1.0, 0.0}, .radius = 0.5}};

/* A hash of all that the structures say of themselves. */
static uint64_t state_of_all(void) {
    carom_pairs pairs = {0};
    carom_soup_info soup_info;
    carom_solid_info solid_info;
    carom_gas_spheres found = {0};
    carom_context_info info;
    memset(&solid_info, 0, sizeof(solid_info));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_ok(context, carom_soup_get_info(soup, &soup_info));
    assert_ok(context, carom_solid_get_info(solid, &solid_info));
    assert_ok(context, carom_gas_list_spheres(context, gas, &found));
    assert_ok(context, carom_context_get_info(context, &info));
    uint64_t hash = test_hash(pairs.data, pairs.count * sizeof(*pairs.data), 0);
    hash = test_hash(&soup_info, sizeof(soup_info), hash);
    hash = test_hash(&solid_info.bytes, sizeof(solid_info.bytes), hash);
    hash = test_hash(found.data, found.count * sizeof(*found.data), hash);
    carom_pairs_free(&pairs);
    carom_gas_spheres_free(&found);
    return hash;
}

static int set_up(void **state) {
    (void)state;
    static char name[] = "/tmp/carom_bugs_XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0);
    (void)close(file);
    path = name;
    carom_shape_def shape = {.detail = 2};
    carom_gas_def box = {.spheres = spheres, .sphere_count = 2, .edges = edges};
    context = bugs_context();
    mesh = shape_mesh(context, &shape, &view);
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &view}, &solid));
    assert_ok(context, carom_gas_create(context, &box, &gas));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    carom_gas_destroy(gas);
    carom_solid_destroy(solid);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    (void)unlink(path);
    assert_int_equal(bugs_memory.live, 0);
    return 0;
}

/* ---- base ------------------------------------------------------------------------------------ */

static bool is_null(const void *pointer) {
    return pointer == NULL;
}

static void base(void **state) {
    (void)state;
    carom_context *out = context;
    carom_context_info info;
    carom_work work;
    /* Names are given for any number, known or not. */
    FINE_VOID(carom_isa_available, isa, (carom_isa)999);
    bugs_note("carom_assert_set_handler", ' ', "handler"); /* NULL: test_asserts_end */
    BUG(carom_context_create, context, NULL, NULL);
    FINE(carom_context_create, def, NULL, &out);
    carom_context_destroy(out);
    bugs_note("carom_abi", ' ', "");
    BUG(carom_context_create_abi, context, CAROM_ABI, NULL, NULL);
    FINE(carom_context_create_abi, def, CAROM_ABI, NULL, &out);
    carom_context_destroy(out);
    carom_context_def def = {.backend = (carom_backend)7};
    BUG_IN(carom_context_def, backend, carom_context_create, &def, &out);
    assert_true(is_null(out));
    def = (carom_context_def){.isa = (carom_isa)-1};
    BUG_IN(carom_context_def, isa, carom_context_create, &def, &out);
    def = (carom_context_def){.allocator = test_allocator(&bugs_memory)};
    def.allocator.release = NULL;
    BUG_IN(carom_context_def, allocator, carom_context_create, &def, &out);
    def.allocator.allocate = NULL;
    def.allocator.release = test_allocator(&bugs_memory).release;
    BUG_IN(carom_context_def, allocator, carom_context_create, &def, &out);
    FINE_VOID(carom_context_destroy, context, NULL);
    FINE_VOID(carom_context_message, context, NULL);
    BUG(carom_context_get_info, context, BAD_CONTEXT, &info);
    BUG(carom_context_get_info, info, context, NULL);
    BUG(carom_context_get_work, context, BAD_CONTEXT, &work);
    BUG(carom_context_get_work, work, context, NULL);
    BUG(carom_context_trim, context, BAD_CONTEXT);
    bugs_note("carom_build_get", ' ', "");
    bugs_note("carom_time_seconds", ' ', "");
    FINE_VOID(carom_cuda_describe, line, NULL, 0);
    BUG_VOID(carom_cuda_describe, line, NULL, 16);
    BUG_VOID(carom_random_next, random, NULL);
    BUG_VOID(carom_random_uniform, random, NULL);
    BUG_VOID(carom_random_between, random, NULL, 0.0, 1.0);
    bugs_note("carom_random_normal", ' ', "random");
    test_asserts_begin();
    (void)carom_random_normal(NULL); /* draws twice */
    assert_true(test_asserts_end() > 0);
}

/* ---- geom ------------------------------------------------------------------------------------ */

static void geom(void **state) {
    (void)state;
    carom_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    carom_triangle t = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    carom_bounds box = {{0, 0, 0}, {1, 1, 1}};
    carom_ball balls[2] = {{{0, 0, 0}, 1}, {{1, 0, 0}, 1}}, ball = {{7, 7, 7}, 7};
    carom_triangle_intersection relation;
    carom_closest closest;
    carom_toi toi = {0};
    carom_advance advance;
    carom_pose pose;
    carom_lens lens;
    int sign = 7;
    bool meet = true;
    BUG(carom_points_orient_2d, context, BAD_CONTEXT, p, 0, &sign);
    BUG(carom_points_orient_2d, points, context, NULL, 0, &sign);
    BUG(carom_points_orient_2d, axis, context, p, 3, &sign);
    BUG(carom_points_orient_2d, sign, context, p, 0, NULL);
    BUG(carom_points_orient_3d, context, BAD_CONTEXT, p, &sign);
    BUG(carom_points_orient_3d, points, context, NULL, &sign);
    BUG(carom_points_orient_3d, sign, context, p, NULL);
    assert_int_equal(sign, 7);
    BUG(carom_triangles_relate, context, BAD_CONTEXT, &t, &t, &relation);
    BUG(carom_triangles_relate, a, context, NULL, &t, &relation);
    BUG(carom_triangles_relate, b, context, &t, NULL, &relation);
    BUG(carom_triangles_relate, relation, context, &t, &t, NULL);
    BUG(carom_triangles_meet, context, BAD_CONTEXT, &t, &t, &meet);
    BUG(carom_triangles_meet, a, context, NULL, &t, &meet);
    BUG(carom_triangles_meet, b, context, &t, NULL, &meet);
    BUG(carom_triangles_meet, meet, context, &t, &t, NULL);
    BUG(carom_point_segment_distance, context, BAD_CONTEXT, p, p, &closest);
    BUG(carom_point_segment_distance, point, context, NULL, p, &closest);
    BUG(carom_point_segment_distance, segment, context, p, NULL, &closest);
    BUG(carom_point_segment_distance, closest, context, p, p, NULL);
    BUG(carom_segments_distance, context, BAD_CONTEXT, p, p, &closest);
    BUG(carom_segments_distance, a, context, NULL, p, &closest);
    BUG(carom_segments_distance, b, context, p, NULL, &closest);
    BUG(carom_segments_distance, closest, context, p, p, NULL);
    BUG(carom_point_triangle_distance, context, BAD_CONTEXT, p, &t, &closest);
    BUG(carom_point_triangle_distance, point, context, NULL, &t, &closest);
    BUG(carom_point_triangle_distance, triangle, context, p, NULL, &closest);
    BUG(carom_point_triangle_distance, closest, context, p, &t, NULL);
    BUG(carom_segment_triangle_distance, context, BAD_CONTEXT, p, &t, &closest);
    BUG(carom_segment_triangle_distance, segment, context, NULL, &t, &closest);
    BUG(carom_segment_triangle_distance, triangle, context, p, NULL, &closest);
    BUG(carom_segment_triangle_distance, closest, context, p, &t, NULL);
    BUG(carom_triangles_distance, context, BAD_CONTEXT, &t, &t, &closest);
    BUG(carom_triangles_distance, a, context, NULL, &t, &closest);
    BUG(carom_triangles_distance, b, context, &t, NULL, &closest);
    BUG(carom_triangles_distance, closest, context, &t, &t, NULL);
    BUG(carom_triangle_meets_box, context, BAD_CONTEXT, &t, &box, &meet);
    BUG(carom_triangle_meets_box, triangle, context, NULL, &box, &meet);
    BUG(carom_triangle_meets_box, box, context, &t, NULL, &meet);
    BUG(carom_triangle_meets_box, meets, context, &t, &box, NULL);
    BUG(carom_ball_of_triangle, context, BAD_CONTEXT, &t, &ball);
    BUG(carom_ball_of_triangle, triangle, context, NULL, &ball);
    BUG(carom_ball_of_triangle, ball, context, &t, NULL);
    BUG(carom_ball_of_points, context, BAD_CONTEXT, p, 4, &ball);
    BUG(carom_ball_of_points, points, context, NULL, 4, &ball);
    BUG(carom_ball_of_points, count, context, p, 0, &ball);
    BUG(carom_ball_of_points, ball, context, p, 4, NULL);
    BUG(carom_ball_of_balls, context, BAD_CONTEXT, balls, 2, &ball);
    BUG(carom_ball_of_balls, balls, context, NULL, 2, &ball);
    BUG(carom_ball_of_balls, count, context, balls, 0, &ball);
    BUG(carom_ball_of_balls, ball, context, balls, 2, NULL);
    assert_true(ball.radius == 7.0);
    BUG(carom_ball_lens, context, BAD_CONTEXT, &balls[0], &balls[1], &lens);
    BUG(carom_ball_lens, a, context, NULL, &balls[1], &lens);
    BUG(carom_ball_lens, b, context, &balls[0], NULL, &lens);
    BUG(carom_ball_lens, lens, context, &balls[0], &balls[1], NULL);
    BUG(carom_point_triangle_toi, context, BAD_CONTEXT, p, p, &toi);
    BUG(carom_point_triangle_toi, start, context, NULL, p, &toi);
    BUG(carom_point_triangle_toi, end, context, p, NULL, &toi);
    BUG(carom_point_triangle_toi, toi, context, p, p, NULL);
    BUG(carom_segments_toi, context, BAD_CONTEXT, p, p, &toi);
    BUG(carom_segments_toi, start, context, NULL, p, &toi);
    BUG(carom_segments_toi, end, context, p, NULL, &toi);
    BUG(carom_segments_toi, toi, context, p, p, NULL);
    BUG(carom_point_triangle_advance, context, BAD_CONTEXT, p, p, NULL, &advance);
    BUG(carom_point_triangle_advance, start, context, NULL, p, NULL, &advance);
    BUG(carom_point_triangle_advance, end, context, p, NULL, NULL, &advance);
    FINE(carom_point_triangle_advance, def, context, p, p, NULL, &advance);
    BUG(carom_point_triangle_advance, advance, context, p, p, NULL, NULL);
    BUG(carom_segments_advance, context, BAD_CONTEXT, p, p, NULL, &advance);
    BUG(carom_segments_advance, start, context, NULL, p, NULL, &advance);
    BUG(carom_segments_advance, end, context, p, NULL, NULL, &advance);
    FINE(carom_segments_advance, def, context, p, p, NULL, &advance);
    BUG(carom_segments_advance, advance, context, p, p, NULL, NULL);
    BUG(carom_motion_evaluate, context, BAD_CONTEXT, NULL, 0.5, &pose);
    FINE(carom_motion_evaluate, motion, context, NULL, 0.5, &pose);
    BUG(carom_motion_evaluate, pose, context, NULL, 0.5, NULL);
    BUG(carom_ball_toi, context, BAD_CONTEXT, balls, balls, &toi);
    BUG(carom_ball_toi, start, context, NULL, balls, &toi);
    BUG(carom_ball_toi, end, context, balls, NULL, &toi);
    BUG(carom_ball_toi, toi, context, balls, balls, NULL);
    const double matrix[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    BUG(carom_pose_from_matrix, context, BAD_CONTEXT, matrix, &pose);
    BUG(carom_pose_from_matrix, matrix, context, NULL, &pose);
    BUG(carom_pose_from_matrix, pose, context, matrix, NULL);
    BUG(carom_pose_from_matrices, context, BAD_CONTEXT, matrix, 3, 1, &pose);
    BUG(carom_pose_from_matrices, matrices, context, NULL, 3, 1, &pose);
    BUG(carom_pose_from_matrices, rows, context, matrix, 5, 1, &pose);
    BUG(carom_pose_from_matrices, poses, context, matrix, 3, 1, NULL);
    FINE(carom_pose_from_matrices, matrices, context, NULL, 3, 0, NULL);
}

static void poses(void **state) {
    (void)state;
    carom_pose pose = {.q.w = 1.0};
    carom_vec3 p[2] = {{1, 0, 0}, {0, 1, 0}};
    double m[12];
    BUG(carom_pose_compose, context, BAD_CONTEXT, NULL, NULL, &pose);
    FINE(carom_pose_compose, a, context, NULL, &pose, &pose);
    FINE(carom_pose_compose, b, context, &pose, NULL, &pose);
    BUG(carom_pose_compose, pose, context, NULL, NULL, NULL);
    BUG(carom_pose_invert, context, BAD_CONTEXT, &pose, &pose);
    FINE(carom_pose_invert, pose, context, NULL, &pose);
    BUG(carom_pose_invert, inverse, context, &pose, NULL);
    BUG(carom_pose_apply, context, BAD_CONTEXT, &pose, p, 2, p);
    FINE(carom_pose_apply, pose, context, NULL, p, 2, p);
    BUG(carom_pose_apply, points, context, &pose, NULL, 2, p);
    BUG(carom_pose_apply, moved, context, &pose, p, 2, NULL);
    BUG(carom_pose_rotate, context, BAD_CONTEXT, &pose, p, 2, p);
    FINE(carom_pose_rotate, pose, context, NULL, p, 2, p);
    BUG(carom_pose_rotate, directions, context, &pose, NULL, 2, p);
    BUG(carom_pose_rotate, rotated, context, &pose, p, 2, NULL);
    BUG(carom_pose_from_axis_angle, context, BAD_CONTEXT, p, 1.0, &pose);
    BUG(carom_pose_from_axis_angle, axis, context, NULL, 1.0, &pose);
    BUG(carom_pose_from_axis_angle, pose, context, p, 1.0, NULL);
    BUG(carom_pose_from_euler, context, BAD_CONTEXT, 1.0, 1.0, 1.0, &pose);
    BUG(carom_pose_from_euler, pose, context, 1.0, 1.0, 1.0, NULL);
    BUG(carom_pose_interpolate, context, BAD_CONTEXT, NULL, NULL, 0.5, &pose);
    FINE(carom_pose_interpolate, from, context, NULL, &pose, 0.5, &pose);
    FINE(carom_pose_interpolate, to, context, &pose, NULL, 0.5, &pose);
    BUG(carom_pose_interpolate, pose, context, NULL, NULL, 0.5, NULL);
    BUG(carom_pose_to_matrix, context, BAD_CONTEXT, &pose, m);
    FINE(carom_pose_to_matrix, pose, context, NULL, m);
    BUG(carom_pose_to_matrix, matrix, context, &pose, NULL);
}

static void pose_values(void **state) {
    (void)state;
    const double bad_number = (double)NAN;
    const carom_vec3 p = {1, 0, 0}, zero = {0, 0, 0}, bad_p = {0, bad_number, 0};
    const carom_pose pose = {.q.w = 1.0}, bad = {.t.x = bad_number};
    BUG_VOID(carom_pose_compose_value, a, &bad, &pose);
    BUG_VOID(carom_pose_compose_value, b, &pose, &bad);
    BUG_VOID(carom_pose_invert_value, pose, &bad);
    BUG_VOID(carom_pose_apply_value, pose, &bad, &p);
    BUG_VOID(carom_pose_apply_value, point, &pose, NULL);
    BUG_VOID(carom_pose_apply_value, point, &pose, &bad_p);
    BUG_VOID(carom_pose_rotate_value, pose, &bad, &p);
    BUG_VOID(carom_pose_rotate_value, direction, &pose, NULL);
    BUG_VOID(carom_pose_rotate_value, direction, &pose, &bad_p);
    BUG_VOID(carom_pose_from_axis_angle_value, axis, NULL, 1.0);
    BUG_VOID(carom_pose_from_axis_angle_value, axis, &zero, 1.0);
    BUG_VOID(carom_pose_from_axis_angle_value, angle, &p, bad_number);
    BUG_VOID(carom_pose_from_euler_value, pitch, 0.0, bad_number, 0.0);
    BUG_VOID(carom_pose_interpolate_value, from, &bad, &pose, 0.5);
    BUG_VOID(carom_pose_interpolate_value, to, &pose, &bad, 0.5);
    BUG_VOID(carom_pose_interpolate_value, time, &pose, &pose, 1.5);
}

/* The forms without a context take bad input for a bug, too. */
static void geom_values(void **state) {
    (void)state;
    carom_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, bad[4] = {{(double)NAN, 0, 0}};
    carom_triangle t = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}, bad_t = {{{0, (double)INFINITY, 0}}};
    carom_bounds box = {{0, 0, 0}, {1, 1, 1}}, bad_box = {{0, 0, (double)NAN}, {1, 1, 1}};
    carom_ball balls[2] = {{{0, 0, 0}, 1}, {{1, 0, 0}, 1}}, bad_ball = {{0, 0, 0}, -1};
    carom_ball bad_balls[2] = {{{0, 0, 0}, 1}, {{0, 0, 0}, -1}};
    BUG_VOID(carom_points_orient_2d_value, points, NULL, 0);
    BUG_VOID(carom_points_orient_2d_value, points, bad, 0);
    BUG_VOID(carom_points_orient_2d_value, axis, p, 3);
    BUG_VOID(carom_points_orient_3d_value, points, NULL);
    BUG_VOID(carom_points_orient_3d_value, points, bad);
    BUG_VOID(carom_triangles_relate_value, a, NULL, &t);
    BUG_VOID(carom_triangles_relate_value, a, &bad_t, &t);
    BUG_VOID(carom_triangles_relate_value, b, &t, NULL);
    BUG_VOID(carom_triangles_relate_value, b, &t, &bad_t);
    BUG_VOID(carom_triangles_meet_value, a, NULL, &t);
    BUG_VOID(carom_triangles_meet_value, a, &bad_t, &t);
    BUG_VOID(carom_triangles_meet_value, b, &t, NULL);
    BUG_VOID(carom_triangles_meet_value, b, &t, &bad_t);
    BUG_VOID(carom_point_segment_distance_value, point, NULL, p);
    BUG_VOID(carom_point_segment_distance_value, point, bad, p);
    BUG_VOID(carom_point_segment_distance_value, segment, p, NULL);
    BUG_VOID(carom_point_segment_distance_value, segment, p, bad);
    BUG_VOID(carom_segments_distance_value, a, NULL, p);
    BUG_VOID(carom_segments_distance_value, a, bad, p);
    BUG_VOID(carom_segments_distance_value, b, p, NULL);
    BUG_VOID(carom_segments_distance_value, b, p, bad);
    BUG_VOID(carom_point_triangle_distance_value, point, NULL, &t);
    BUG_VOID(carom_point_triangle_distance_value, point, bad, &t);
    BUG_VOID(carom_point_triangle_distance_value, triangle, p, NULL);
    BUG_VOID(carom_point_triangle_distance_value, triangle, p, &bad_t);
    BUG_VOID(carom_segment_triangle_distance_value, segment, NULL, &t);
    BUG_VOID(carom_segment_triangle_distance_value, segment, bad, &t);
    BUG_VOID(carom_segment_triangle_distance_value, triangle, p, NULL);
    BUG_VOID(carom_segment_triangle_distance_value, triangle, p, &bad_t);
    BUG_VOID(carom_triangles_distance_value, a, NULL, &t);
    BUG_VOID(carom_triangles_distance_value, a, &bad_t, &t);
    BUG_VOID(carom_triangles_distance_value, b, &t, NULL);
    BUG_VOID(carom_triangles_distance_value, b, &t, &bad_t);
    BUG_VOID(carom_triangle_meets_box_value, triangle, NULL, &box);
    BUG_VOID(carom_triangle_meets_box_value, triangle, &bad_t, &box);
    BUG_VOID(carom_triangle_meets_box_value, box, &t, NULL);
    BUG_VOID(carom_triangle_meets_box_value, box, &t, &bad_box);
    BUG_VOID(carom_ball_of_triangle_value, triangle, NULL);
    BUG_VOID(carom_ball_of_triangle_value, triangle, &bad_t);
    BUG_VOID(carom_ball_of_points_value, points, NULL, 4);
    BUG_VOID(carom_ball_of_points_value, points, bad, 4);
    BUG_VOID(carom_ball_of_points_value, count, p, 0);
    BUG_VOID(carom_ball_of_balls_value, balls, NULL, 2);
    BUG_VOID(carom_ball_of_balls_value, balls, &bad_ball, 1);
    BUG_VOID(carom_ball_of_balls_value, count, balls, 0);
    BUG_VOID(carom_point_triangle_toi_value, start, NULL, p);
    BUG_VOID(carom_point_triangle_toi_value, start, bad, p);
    BUG_VOID(carom_point_triangle_toi_value, end, p, NULL);
    BUG_VOID(carom_point_triangle_toi_value, end, p, bad);
    BUG_VOID(carom_segments_toi_value, start, NULL, p);
    BUG_VOID(carom_segments_toi_value, start, bad, p);
    BUG_VOID(carom_segments_toi_value, end, p, NULL);
    BUG_VOID(carom_segments_toi_value, end, p, bad);
    const carom_advance_def bad_def = {.reach = -1.0};
    BUG_VOID(carom_point_triangle_advance_value, start, NULL, p, NULL);
    BUG_VOID(carom_point_triangle_advance_value, start, bad, p, NULL);
    BUG_VOID(carom_point_triangle_advance_value, end, p, NULL, NULL);
    BUG_VOID(carom_point_triangle_advance_value, end, p, bad, NULL);
    BUG_VOID(carom_point_triangle_advance_value, def, p, p, &bad_def);
    FINE_VOID(carom_point_triangle_advance_value, def, p, p, NULL);
    BUG_VOID(carom_segments_advance_value, start, NULL, p, NULL);
    BUG_VOID(carom_segments_advance_value, start, bad, p, NULL);
    BUG_VOID(carom_segments_advance_value, end, p, NULL, NULL);
    BUG_VOID(carom_segments_advance_value, end, p, bad, NULL);
    BUG_VOID(carom_segments_advance_value, def, p, p, &bad_def);
    FINE_VOID(carom_segments_advance_value, def, p, p, NULL);
    BUG_VOID(carom_ball_toi_value, start, NULL, balls);
    BUG_VOID(carom_ball_toi_value, start, bad_balls, balls);
    BUG_VOID(carom_ball_toi_value, end, balls, NULL);
    BUG_VOID(carom_ball_toi_value, end, balls, bad_balls);
    BUG_VOID(carom_ball_lens_value, a, NULL, &balls[1]);
    BUG_VOID(carom_ball_lens_value, a, &bad_ball, &balls[1]);
    BUG_VOID(carom_ball_lens_value, b, &balls[0], NULL);
    BUG_VOID(carom_ball_lens_value, b, &balls[0], &bad_ball);
}

/* ---- names of enums -------------------------------------------------------------------------- */

#define NAMES(type, parameter, number)                                                             \
    do {                                                                                           \
        type value = (type)0;                                                                      \
        FINE_VOID(type##_name, parameter, (type)99);                                               \
        assert_string_equal(type##_name((type)99), "unknown");                                     \
        BUG_VOID(type##_from_name, name, NULL, &value);                                            \
        BUG_VOID(type##_from_name, parameter, "auto", NULL);                                       \
        for (int i = 0; i < (int)(number); ++i) {                                                  \
            assert_true(type##_from_name(type##_name((type)i), &value));                           \
            assert_int_equal(value, i);                                                            \
        }                                                                                          \
        assert_false(type##_from_name("no such name", &value));                                    \
        assert_int_equal(value, (int)(number)-1);                                                  \
    } while (0)

static void names(void **state) {
    (void)state;
    NAMES(carom_status, status, CAROM_STATUS_COUNT);
    NAMES(carom_backend, backend, CAROM_BACKEND_COUNT);
    NAMES(carom_isa, isa, CAROM_ISA_COUNT);
    NAMES(carom_owner, owner, CAROM_OWNER_COUNT);
    NAMES(carom_scalar, scalar, CAROM_SCALAR_COUNT);
    NAMES(carom_mesh_format, format, CAROM_MESH_FORMAT_COUNT);
    NAMES(carom_mesh_property_type, type, CAROM_MESH_PROPERTY_TYPE_COUNT);
    NAMES(carom_shape, shape, CAROM_SHAPE_COUNT);
    NAMES(carom_repair_outcome, outcome, CAROM_REPAIR_OUTCOME_COUNT);
    NAMES(carom_triangle_relation, relation, CAROM_TRIANGLE_RELATION_COUNT);
    NAMES(carom_relation, relation, CAROM_RELATION_COUNT);
    NAMES(carom_soup_degenerate, degenerate, CAROM_SOUP_DEGENERATE_COUNT);
    NAMES(carom_soup_segment_kind, kind, CAROM_SOUP_SEGMENT_KIND_COUNT);
    NAMES(carom_soup_impact_kind, kind, CAROM_SOUP_IMPACT_KIND_COUNT);
    NAMES(carom_soup_method, method, CAROM_SOUP_METHOD_COUNT);
    NAMES(carom_grid_hash, hash, CAROM_GRID_HASH_COUNT);
    NAMES(carom_gas_event_kind, kind, CAROM_GAS_EVENT_KIND_COUNT);
    NAMES(carom_gas_method, method, CAROM_GAS_METHOD_COUNT);
    NAMES(carom_gas_queue, queue, CAROM_GAS_QUEUE_COUNT);
    NAMES(carom_gas_format, format, CAROM_GAS_FORMAT_COUNT);
}

/* ---- mesh and shapes ------------------------------------------------------------------------- */

/* All that a view can have wrong with it. */
static void bad_views(void) {
    carom_mesh_view bad = view;
    bad.scalar = (carom_scalar)7;
    BUG_IN(carom_mesh_view, scalar, carom_mesh_check, context, &bad);
    bad = view;
    bad.positions = NULL;
    BUG_IN(carom_mesh_view, positions, carom_mesh_check, context, &bad);
    bad = view;
    bad.positions = (const char *)view.positions + 1;
    BUG_IN(carom_mesh_view, positions, carom_mesh_check, context, &bad);
    bad = view;
    bad.corners = NULL;
    BUG_IN(carom_mesh_view, corners, carom_mesh_check, context, &bad);
    bad = view;
    bad.stride = 8;
    BUG_IN(carom_mesh_view, stride, carom_mesh_check, context, &bad);
    bad.stride = 31;
    BUG_IN(carom_mesh_view, stride, carom_mesh_check, context, &bad);
    const char *const names[2] = {"a", NULL};
    bad = view;
    bad.part_names = names;
    bad.part_count = 2;
    BUG_IN(carom_mesh_view, part_names, carom_mesh_check, context, &bad);
    bad = view;
    bad.property_count = 1;
    BUG_IN(carom_mesh_view, properties, carom_mesh_check, context, &bad);
    carom_mesh_property property = {.name = "a", .values = view.positions};
    bad.properties = &property;
    property.name = NULL;
    BUG_IN(carom_mesh_property, name, carom_mesh_check, context, &bad);
    property.name = "a";
    property.type = CAROM_MESH_PROPERTY_TYPE_COUNT;
    BUG_IN(carom_mesh_property, type, carom_mesh_check, context, &bad);
    property.type = CAROM_MESH_PROPERTY_TYPE_FLOAT64;
    property.values = NULL;
    BUG_IN(carom_mesh_property, values, carom_mesh_check, context, &bad);
    property.values = (const char *)view.positions + 1;
    BUG_IN(carom_mesh_property, values, carom_mesh_check, context, &bad);
}

/* Every function that is given a view passes it on to the check. */
static void bad_views_everywhere(void) {
    carom_mesh *made = mesh;
    carom_mesh_report report;
    carom_bytes bytes = {0};
    carom_numbers numbers = {0};
    carom_mesh_view bad = view;
    bad.scalar = (carom_scalar)7;
    BUG_IN(carom_mesh_view, scalar, carom_mesh_create, context, &bad, &made);
    assert_null(made);
    BUG_IN(carom_mesh_view, scalar, carom_mesh_weld, context, &bad, &made);
    BUG_IN(carom_mesh_view, scalar, carom_mesh_weld_parts, context, &bad, &made);
    BUG_IN(carom_mesh_view, scalar, carom_mesh_inspect, context, &bad, &report);
    BUG_IN(carom_mesh_view, scalar, carom_mesh_triangulate, context, &bad, NULL, &made, &numbers);
    BUG_IN(carom_mesh_view, scalar, carom_mesh_save, context, &bad, CAROM_MESH_FORMAT_OBJ, path);
    BUG_IN(carom_mesh_view, scalar, carom_mesh_save_memory, context, &bad, CAROM_MESH_FORMAT_OBJ,
           &bytes);
    carom_soup *new_soup = soup;
    carom_solid *new_solid = solid;
    uint32_t first = 7;
    BUG_IN(carom_soup_def, mesh, carom_soup_create, context, &(carom_soup_def){.mesh = &bad},
           &new_soup);
    BUG_IN(carom_solid_def, mesh, carom_solid_create, context, &(carom_solid_def){.mesh = &bad},
           &new_solid);
    assert_true(new_soup == NULL && new_solid == NULL);
    BUG_IN(carom_mesh_view, scalar, carom_soup_update, context, soup, &bad);
    BUG_IN(carom_mesh_view, scalar, carom_soup_add, context, soup, &bad, &first);
    assert_int_equal(first, 7);
}

static void meshes(void **state) {
    (void)state;
    carom_mesh *made = mesh;
    carom_mesh_view got;
    carom_mesh_origin origin;
    carom_mesh_report report;
    carom_numbers numbers = {0};
    bad_views();
    bad_views_everywhere();
    BUG(carom_mesh_check, context, BAD_CONTEXT, &view);
    BUG(carom_mesh_check, view, context, NULL);
    BUG(carom_mesh_create, context, BAD_CONTEXT, &view, &made);
    BUG(carom_mesh_create, view, context, NULL, &made);
    BUG(carom_mesh_create, mesh, context, &view, NULL);
    FINE_VOID(carom_mesh_destroy, mesh, NULL);
    BUG(carom_mesh_get_view, mesh, NULL, &got);
    BUG(carom_mesh_get_view, view, mesh, NULL);
    FINE_VOID(carom_mesh_format_guess, name, NULL, "OFF", 3);
    FINE_VOID(carom_mesh_format_guess, bytes, "a.obj", NULL, 0);
    BUG(carom_mesh_get_origin, mesh, NULL, &origin);
    BUG(carom_mesh_get_origin, origin, mesh, NULL);
    BUG(carom_mesh_load, context, BAD_CONTEXT, path, CAROM_MESH_FORMAT_OFF, &made);
    BUG(carom_mesh_load, path, context, NULL, CAROM_MESH_FORMAT_OFF, &made);
    BUG(carom_mesh_load, format, context, path, CAROM_MESH_FORMAT_COUNT, &made);
    BUG(carom_mesh_load, format, context, path, (carom_mesh_format)-1, &made);
    BUG(carom_mesh_load, mesh, context, path, CAROM_MESH_FORMAT_OFF, NULL);
    BUG(carom_mesh_load_memory, context, BAD_CONTEXT, "OFF", 3, CAROM_MESH_FORMAT_OFF, NULL, &made);
    BUG(carom_mesh_load_memory, bytes, context, NULL, 3, CAROM_MESH_FORMAT_OFF, NULL, &made);
    BUG(carom_mesh_load_memory, format, context, "OFF", 3, CAROM_MESH_FORMAT_COUNT, NULL, &made);
    BUG(carom_mesh_load_memory, format, context, "OFF", 3, (carom_mesh_format)-1, NULL, &made);
    BUG(carom_mesh_load_memory, mesh, context, "OFF", 3, CAROM_MESH_FORMAT_OFF, NULL, NULL);
    FINE(carom_mesh_load_memory, name, context, "OFF 0 0 0", 9, CAROM_MESH_FORMAT_OFF, NULL, &made);
    carom_mesh_destroy(made);
    BUG(carom_mesh_save, context, BAD_CONTEXT, &view, CAROM_MESH_FORMAT_OBJ, path);
    BUG(carom_mesh_save, view, context, NULL, CAROM_MESH_FORMAT_OBJ, path);
    BUG(carom_mesh_save, format, context, &view, CAROM_MESH_FORMAT_COUNT, path);
    BUG(carom_mesh_save, path, context, &view, CAROM_MESH_FORMAT_OBJ, NULL);
    carom_bytes bytes = {0};
    BUG(carom_mesh_save_memory, context, BAD_CONTEXT, &view, CAROM_MESH_FORMAT_OBJ, &bytes);
    BUG(carom_mesh_save_memory, view, context, NULL, CAROM_MESH_FORMAT_OBJ, &bytes);
    BUG(carom_mesh_save_memory, format, context, &view, CAROM_MESH_FORMAT_GUESS, &bytes);
    BUG(carom_mesh_save_memory, format, context, &view, CAROM_MESH_FORMAT_COUNT, &bytes);
    BUG(carom_mesh_save_memory, bytes, context, &view, CAROM_MESH_FORMAT_OBJ, NULL);
    BUG_RESULT(carom_bytes, carom_mesh_save_memory, bytes, context, &view, CAROM_MESH_FORMAT_OBJ,
               &result);
    BUG(carom_mesh_weld, context, BAD_CONTEXT, &view, &made);
    BUG(carom_mesh_weld, view, context, NULL, &made);
    BUG(carom_mesh_weld, mesh, context, &view, NULL);
    BUG(carom_mesh_weld_parts, context, BAD_CONTEXT, &view, &made);
    BUG(carom_mesh_weld_parts, view, context, NULL, &made);
    BUG(carom_mesh_weld_parts, mesh, context, &view, NULL);
    carom_bounds bounds;
    BUG(carom_mesh_bounds, context, BAD_CONTEXT, &view, &bounds);
    BUG(carom_mesh_bounds, view, context, NULL, &bounds);
    BUG(carom_mesh_bounds, bounds, context, &view, NULL);
    BUG(carom_mesh_inspect, context, BAD_CONTEXT, &view, &report);
    BUG(carom_mesh_inspect, view, context, NULL, &report);
    BUG(carom_mesh_inspect, report, context, &view, NULL);
    BUG(carom_mesh_triangulate, context, BAD_CONTEXT, &view, NULL, &made, &numbers);
    BUG(carom_mesh_triangulate, view, context, NULL, NULL, &made, &numbers);
    BUG(carom_mesh_triangulate, mesh, context, &view, NULL, NULL, &numbers);
    FINE(carom_mesh_triangulate, def, context, &view, NULL, &made, NULL);
    carom_mesh_destroy(made);
    BUG_RESULT(carom_numbers, carom_mesh_triangulate, faces, context, &view, NULL, &made, &result);
    BUG(carom_shape_make, context, BAD_CONTEXT, NULL, &made);
    FINE(carom_shape_make, def, context, NULL, &made);
    carom_mesh_destroy(made);
    BUG(carom_shape_make, mesh, context, NULL, NULL);
    BUG(carom_shape_save, context, BAD_CONTEXT, NULL, CAROM_MESH_FORMAT_OBJ, path);
    FINE(carom_shape_save, def, context, NULL, CAROM_MESH_FORMAT_OBJ, path);
    BUG(carom_shape_save, format, context, NULL, CAROM_MESH_FORMAT_COUNT, path);
    BUG(carom_shape_save, path, context, NULL, CAROM_MESH_FORMAT_OBJ, NULL);
    carom_shape_def shape = {.shape = CAROM_SHAPE_COUNT};
    BUG_IN(carom_shape_def, shape, carom_shape_save, context, &shape, CAROM_MESH_FORMAT_OBJ, path);
    BUG_IN(carom_shape_def, shape, carom_shape_make, context, &shape, &made);
    shape = (carom_shape_def){.scalar = CAROM_SCALAR_COUNT};
    BUG_IN(carom_shape_def, scalar, carom_shape_make, context, &shape, &made);
    BUG_IN(carom_shape_def, scalar, carom_shape_save, context, &shape, CAROM_MESH_FORMAT_OBJ, path);
}

/* ---- repair ---------------------------------------------------------------------------------- */

static void repair(void **state) {
    (void)state;
    uint64_t before = state_of_all(), twisted = 7;
    carom_mesh *made = NULL;
    carom_repair_result report;
    carom_repair_loops loops = {0};
    carom_numbers numbers = {0};
    carom_pairs shared_edges = {0};
    carom_mesh_view bad = view;
    bad.scalar = (carom_scalar)7;
    BUG_IN(carom_mesh_view, scalar, carom_repair_close, context, &bad, NULL, &made, &report, NULL,
           NULL);
    BUG_IN(carom_mesh_view, scalar, carom_repair_list_loops, context, &bad, &loops, &numbers);
    BUG_IN(carom_mesh_view, scalar, carom_repair_list_edges, context, &bad, &shared_edges);
    BUG_IN(carom_mesh_view, scalar, carom_repair_list_vertices, context, &bad, &numbers);
    BUG_IN(carom_mesh_view, scalar, carom_repair_list_flipped, context, &bad, &numbers, &twisted);
    BUG(carom_repair_list_loops, context, BAD_CONTEXT, &view, &loops, &numbers);
    BUG(carom_repair_list_loops, view, context, NULL, &loops, &numbers);
    BUG(carom_repair_list_loops, loops, context, &view, NULL, &numbers);
    BUG(carom_repair_list_loops, vertices, context, &view, &loops, NULL);
    BUG_RESULT(carom_repair_loops, carom_repair_list_loops, loops, context, &view, &result,
               &numbers);
    BUG_RESULT(carom_numbers, carom_repair_list_loops, vertices, context, &view, &loops, &result);
    BUG(carom_repair_list_edges, context, BAD_CONTEXT, &view, &shared_edges);
    BUG(carom_repair_list_edges, view, context, NULL, &shared_edges);
    BUG(carom_repair_list_edges, edges, context, &view, NULL);
    BUG_RESULT(carom_pairs, carom_repair_list_edges, edges, context, &view, &result);
    BUG(carom_repair_list_vertices, context, BAD_CONTEXT, &view, &numbers);
    BUG(carom_repair_list_vertices, view, context, NULL, &numbers);
    BUG(carom_repair_list_vertices, vertices, context, &view, NULL);
    BUG_RESULT(carom_numbers, carom_repair_list_vertices, vertices, context, &view, &result);
    BUG(carom_repair_list_flipped, context, BAD_CONTEXT, &view, &numbers, &twisted);
    BUG(carom_repair_list_flipped, view, context, NULL, &numbers, &twisted);
    BUG(carom_repair_list_flipped, faces, context, &view, NULL, &twisted);
    BUG_RESULT(carom_numbers, carom_repair_list_flipped, faces, context, &view, &result, &twisted);
    assert_int_equal(twisted, 7);
    FINE(carom_repair_list_flipped, twisted, context, &view, &numbers, NULL);
    BUG(carom_repair_close, context, BAD_CONTEXT, &view, NULL, &made, &report, NULL, NULL);
    BUG(carom_repair_close, view, context, NULL, NULL, &made, &report, NULL, NULL);
    BUG(carom_repair_close, mesh, context, &view, NULL, NULL, &report, NULL, NULL);
    BUG(carom_repair_close, result, context, &view, NULL, &made, NULL, NULL, NULL);
    BUG_RESULT(carom_repair_loops, carom_repair_close, loops, context, &view, NULL, &made, &report,
               &result, NULL);
    BUG_RESULT(carom_numbers, carom_repair_close, vertices, context, &view, NULL, &made, &report,
               NULL, &result);
    FINE(carom_repair_close, def, context, &view, NULL, &made, &report, &loops, &numbers);
    carom_mesh_destroy(made);
    FINE(carom_repair_close, loops, context, &view, NULL, &made, &report, NULL, &numbers);
    carom_mesh_destroy(made);
    FINE(carom_repair_close, vertices, context, &view, NULL, &made, &report, &loops, NULL);
    carom_mesh_destroy(made);
    carom_repair_loops_free(&loops);
    carom_numbers_free(&numbers);
    assert_true(state_of_all() == before);
}

/* ---- soups ----------------------------------------------------------------------------------- */

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    (void)user;
    (void)pairs;
    (void)count;
    return true;
}

static void soup_changes(void **state) {
    (void)state;
    carom_soup *made = soup;
    carom_soup_info info;
    uint32_t number = 7;
    uint64_t before = state_of_all();
    carom_soup_def def = {.mesh = &view};
    BUG(carom_soup_create, context, BAD_CONTEXT, &def, &made);
    BUG(carom_soup_create, soup, context, &def, NULL);
    FINE(carom_soup_create, def, context, NULL, &made);
    carom_soup_destroy(made);
    def.degenerate = CAROM_SOUP_DEGENERATE_COUNT;
    BUG_IN(carom_soup_def, degenerate, carom_soup_create, context, &def, &made);
    assert_null(made);
    def = (carom_soup_def){.mesh = &view, .method = CAROM_SOUP_METHOD_COUNT};
    BUG_IN(carom_soup_def, method, carom_soup_create, context, &def, &made);
    def = (carom_soup_def){.mesh = &view, .grid = {.hash = CAROM_GRID_HASH_COUNT}};
    BUG_IN(carom_grid_def, hash, carom_soup_create, context, &def, &made);
    FINE_VOID(carom_soup_destroy, soup, NULL);
    BUG(carom_soup_update, context, BAD_CONTEXT, soup, &view);
    BUG(carom_soup_update, soup, context, NULL, &view);
    BUG(carom_soup_update, mesh, context, soup, NULL);
    BUG(carom_soup_add, context, BAD_CONTEXT, soup, &view, &number);
    BUG(carom_soup_add, soup, context, NULL, &view, &number);
    BUG(carom_soup_add, mesh, context, soup, NULL, &number);
    bugs_note("carom_soup_add", ' ', "first"); /* NULL: test_soup_changes */
    BUG(carom_soup_remove, context, BAD_CONTEXT, soup, &number, 1);
    BUG(carom_soup_remove, soup, context, NULL, &number, 1);
    BUG(carom_soup_remove, faces, context, soup, NULL, 1);
    FINE(carom_soup_remove, faces, context, soup, NULL, 0);
    BUG(carom_soup_get_info, soup, NULL, &info);
    BUG(carom_soup_get_info, info, soup, NULL);
    assert_int_equal(number, 7);
    assert_true(state_of_all() == before);
}

static void soup_queries(void **state) {
    (void)state;
    carom_soup_gap gap;
    carom_kfree k;
    carom_kfree_most bounds;
    carom_pairs pairs = {0};
    uint64_t count = 7;
    bool any = true;
    uint64_t before = state_of_all();
    BUG(carom_soup_self_pairs, context, BAD_CONTEXT, soup, &pairs);
    BUG(carom_soup_self_pairs, soup, context, NULL, &pairs);
    BUG(carom_soup_self_pairs, pairs, context, soup, NULL);
    BUG_RESULT(carom_pairs, carom_soup_self_pairs, pairs, context, soup, &result);
    BUG(carom_soup_self_count, context, BAD_CONTEXT, soup, &count);
    BUG(carom_soup_self_count, soup, context, NULL, &count);
    BUG(carom_soup_self_count, count, context, soup, NULL);
    BUG(carom_soup_self_meet, context, BAD_CONTEXT, soup, &any);
    BUG(carom_soup_self_meet, soup, context, NULL, &any);
    BUG(carom_soup_self_meet, meet, context, soup, NULL);
    BUG(carom_soup_self_each, context, BAD_CONTEXT, soup, receive, NULL);
    BUG(carom_soup_self_each, soup, context, NULL, receive, NULL);
    BUG(carom_soup_self_each, receive, context, soup, NULL, NULL);
    FINE(carom_soup_self_each, user, context, soup, receive, NULL);
    BUG(carom_soup_cross_pairs, context, BAD_CONTEXT, soup, NULL, soup, NULL, &pairs);
    BUG(carom_soup_cross_pairs, a, context, NULL, NULL, soup, NULL, &pairs);
    BUG(carom_soup_cross_pairs, b, context, soup, NULL, NULL, NULL, &pairs);
    BUG(carom_soup_cross_pairs, pairs, context, soup, NULL, soup, NULL, NULL);
    BUG_RESULT(carom_pairs, carom_soup_cross_pairs, pairs, context, soup, NULL, soup, NULL,
               &result);
    FINE(carom_soup_cross_pairs, pose_a, context, soup, NULL, soup, NULL, &pairs);
    FINE(carom_soup_cross_pairs, pose_b, context, soup, NULL, soup, NULL, &pairs);
    BUG(carom_soup_cross_meet, context, BAD_CONTEXT, soup, NULL, soup, NULL, &any);
    BUG(carom_soup_cross_meet, a, context, NULL, NULL, soup, NULL, &any);
    BUG(carom_soup_cross_meet, b, context, soup, NULL, NULL, NULL, &any);
    BUG(carom_soup_cross_meet, meet, context, soup, NULL, soup, NULL, NULL);
    FINE(carom_soup_cross_meet, pose_a, context, soup, NULL, soup, NULL, &any);
    FINE(carom_soup_cross_meet, pose_b, context, soup, NULL, soup, NULL, &any);
    BUG(carom_soup_cross_count, context, BAD_CONTEXT, soup, NULL, soup, NULL, &count);
    BUG(carom_soup_cross_count, a, context, NULL, NULL, soup, NULL, &count);
    BUG(carom_soup_cross_count, b, context, soup, NULL, NULL, NULL, &count);
    BUG(carom_soup_cross_count, count, context, soup, NULL, soup, NULL, NULL);
    BUG(carom_soup_cross_each, context, BAD_CONTEXT, soup, NULL, soup, NULL, receive, NULL);
    BUG(carom_soup_cross_each, a, context, NULL, NULL, soup, NULL, receive, NULL);
    BUG(carom_soup_cross_each, b, context, soup, NULL, NULL, NULL, receive, NULL);
    BUG(carom_soup_cross_each, receive, context, soup, NULL, soup, NULL, NULL, NULL);
    FINE(carom_soup_cross_each, pose_a, context, soup, NULL, soup, NULL, receive, NULL);
    FINE(carom_soup_cross_each, pose_b, context, soup, NULL, soup, NULL, receive, NULL);
    FINE(carom_soup_cross_each, user, context, soup, NULL, soup, NULL, receive, NULL);
    BUG(carom_soup_cross_distance, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.0, &gap);
    BUG(carom_soup_cross_distance, a, context, NULL, NULL, soup, NULL, 0.0, &gap);
    BUG(carom_soup_cross_distance, b, context, soup, NULL, NULL, NULL, 0.0, &gap);
    BUG(carom_soup_cross_distance, gap, context, soup, NULL, soup, NULL, 0.0, NULL);
    FINE(carom_soup_cross_distance, pose_a, context, soup, NULL, soup, NULL, 0.0, &gap);
    FINE(carom_soup_cross_distance, pose_b, context, soup, NULL, soup, NULL, 0.0, &gap);
    const carom_soup_pair pair = {.a = soup, .b = soup}, no_a = {.b = soup}, no_b = {.a = soup};
    BUG(carom_soup_cross_meet_batch, context, BAD_CONTEXT, &pair, 1, &any);
    BUG(carom_soup_cross_meet_batch, pairs, context, NULL, 1, &any);
    BUG(carom_soup_cross_meet_batch, meet, context, &pair, 1, NULL);
    FINE(carom_soup_cross_meet_batch, pairs, context, NULL, 0, NULL);
    BUG_IN(carom_soup_pair, a, carom_soup_cross_meet_batch, context, &no_a, 1, &any);
    BUG_IN(carom_soup_pair, b, carom_soup_cross_meet_batch, context, &no_b, 1, &any);
    BUG(carom_soup_cross_distance_batch, context, BAD_CONTEXT, &pair, 1, 0.0, &gap);
    BUG(carom_soup_cross_distance_batch, pairs, context, NULL, 1, 0.0, &gap);
    BUG(carom_soup_cross_distance_batch, gaps, context, &pair, 1, 0.0, NULL);
    FINE(carom_soup_cross_distance_batch, pairs, context, NULL, 0, 0.0, NULL);
    BUG_IN(carom_soup_pair, a, carom_soup_cross_distance_batch, context, &no_a, 1, 0.0, &gap);
    BUG_IN(carom_soup_pair, b, carom_soup_cross_distance_batch, context, &no_b, 1, 0.0, &gap);
    BUG(carom_soup_cross_bound, context, BAD_CONTEXT, soup, soup, &count);
    BUG(carom_soup_cross_bound, a, context, NULL, soup, &count);
    BUG(carom_soup_cross_bound, b, context, soup, NULL, &count);
    BUG(carom_soup_cross_bound, most, context, soup, soup, NULL);
    BUG(carom_soup_self_bound, context, BAD_CONTEXT, soup, &count);
    BUG(carom_soup_self_bound, soup, context, NULL, &count);
    BUG(carom_soup_self_bound, most, context, soup, NULL);
    assert_int_equal(count, 7);
    FINE(carom_soup_cross_count, pose_a, context, soup, NULL, soup, NULL, &count);
    FINE(carom_soup_cross_count, pose_b, context, soup, NULL, soup, NULL, &count);
    BUG(carom_kfree_measure, context, BAD_CONTEXT, soup, &k, NULL);
    BUG(carom_kfree_measure, soup, context, NULL, &k, NULL);
    BUG(carom_kfree_measure, kfree, context, soup, NULL, NULL);
    BUG_RESULT(carom_numbers, carom_kfree_measure, counts, context, soup, &k, &result);
    FINE(carom_kfree_measure, counts, context, soup, &k, NULL);
    BUG(carom_kfree_bound, context, BAD_CONTEXT, &k, &k, &bounds);
    BUG(carom_kfree_bound, a, context, NULL, &k, &bounds);
    BUG(carom_kfree_bound, b, context, &k, NULL, &bounds);
    BUG(carom_kfree_bound, most, context, &k, &k, NULL);
    carom_pairs_free(&pairs);
    assert_true(state_of_all() == before);
}

static void soup_margins(void **state) {
    (void)state;
    carom_pairs pairs = {0};
    carom_soup_gap gap;
    carom_pair pair = {0, 1};
    carom_soup_segments segments = {0};
    uint64_t count = 7;
    bool any = true;
    uint64_t before = state_of_all();
    BUG(carom_soup_self_pairs_within, context, BAD_CONTEXT, soup, 0.1, &pairs);
    BUG(carom_soup_self_pairs_within, soup, context, NULL, 0.1, &pairs);
    BUG(carom_soup_self_pairs_within, pairs, context, soup, 0.1, NULL);
    BUG_RESULT(carom_pairs, carom_soup_self_pairs_within, pairs, context, soup, 0.1, &result);
    BUG(carom_soup_self_count_within, context, BAD_CONTEXT, soup, 0.1, &count);
    BUG(carom_soup_self_count_within, soup, context, NULL, 0.1, &count);
    BUG(carom_soup_self_count_within, count, context, soup, 0.1, NULL);
    BUG(carom_soup_self_meet_within, context, BAD_CONTEXT, soup, 0.1, &any);
    BUG(carom_soup_self_meet_within, soup, context, NULL, 0.1, &any);
    BUG(carom_soup_self_meet_within, meet, context, soup, 0.1, NULL);
    BUG(carom_soup_self_each_within, context, BAD_CONTEXT, soup, 0.1, receive, NULL);
    BUG(carom_soup_self_each_within, soup, context, NULL, 0.1, receive, NULL);
    BUG(carom_soup_self_each_within, receive, context, soup, 0.1, NULL, NULL);
    FINE(carom_soup_self_each_within, user, context, soup, 0.1, receive, NULL);
    BUG(carom_soup_self_gaps, context, BAD_CONTEXT, soup, &pair, 1, &gap);
    BUG(carom_soup_self_gaps, soup, context, NULL, &pair, 1, &gap);
    BUG(carom_soup_self_gaps, pairs, context, soup, NULL, 1, &gap);
    BUG(carom_soup_self_gaps, gaps, context, soup, &pair, 1, NULL);
    FINE(carom_soup_self_gaps, pairs, context, soup, NULL, 0, NULL);
    BUG(carom_soup_cross_pairs_within, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.1, &pairs);
    BUG(carom_soup_cross_pairs_within, a, context, NULL, NULL, soup, NULL, 0.1, &pairs);
    BUG(carom_soup_cross_pairs_within, b, context, soup, NULL, NULL, NULL, 0.1, &pairs);
    BUG(carom_soup_cross_pairs_within, pairs, context, soup, NULL, soup, NULL, 0.1, NULL);
    FINE(carom_soup_cross_pairs_within, pose_a, context, soup, NULL, soup, NULL, 0.1, &pairs);
    FINE(carom_soup_cross_pairs_within, pose_b, context, soup, NULL, soup, NULL, 0.1, &pairs);
    BUG_RESULT(carom_pairs, carom_soup_cross_pairs_within, pairs, context, soup, NULL, soup, NULL,
               0.1, &result);
    BUG(carom_soup_cross_count_within, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.1, &count);
    BUG(carom_soup_cross_count_within, a, context, NULL, NULL, soup, NULL, 0.1, &count);
    BUG(carom_soup_cross_count_within, b, context, soup, NULL, NULL, NULL, 0.1, &count);
    BUG(carom_soup_cross_count_within, count, context, soup, NULL, soup, NULL, 0.1, NULL);
    FINE(carom_soup_cross_count_within, pose_a, context, soup, NULL, soup, NULL, 0.1, &count);
    FINE(carom_soup_cross_count_within, pose_b, context, soup, NULL, soup, NULL, 0.1, &count);
    BUG(carom_soup_cross_meet_within, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.1, &any);
    BUG(carom_soup_cross_meet_within, a, context, NULL, NULL, soup, NULL, 0.1, &any);
    BUG(carom_soup_cross_meet_within, b, context, soup, NULL, NULL, NULL, 0.1, &any);
    BUG(carom_soup_cross_meet_within, meet, context, soup, NULL, soup, NULL, 0.1, NULL);
    FINE(carom_soup_cross_meet_within, pose_a, context, soup, NULL, soup, NULL, 0.1, &any);
    FINE(carom_soup_cross_meet_within, pose_b, context, soup, NULL, soup, NULL, 0.1, &any);
    BUG(carom_soup_cross_each_within, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.1, receive,
        NULL);
    BUG(carom_soup_cross_each_within, a, context, NULL, NULL, soup, NULL, 0.1, receive, NULL);
    BUG(carom_soup_cross_each_within, b, context, soup, NULL, NULL, NULL, 0.1, receive, NULL);
    BUG(carom_soup_cross_each_within, receive, context, soup, NULL, soup, NULL, 0.1, NULL, NULL);
    FINE(carom_soup_cross_each_within, pose_a, context, soup, NULL, soup, NULL, 0.1, receive, NULL);
    FINE(carom_soup_cross_each_within, pose_b, context, soup, NULL, soup, NULL, 0.1, receive, NULL);
    FINE(carom_soup_cross_each_within, user, context, soup, NULL, soup, NULL, 0.1, receive, NULL);
    BUG(carom_soup_cross_gaps, context, BAD_CONTEXT, soup, NULL, soup, NULL, &pair, 1, &gap);
    BUG(carom_soup_cross_gaps, a, context, NULL, NULL, soup, NULL, &pair, 1, &gap);
    BUG(carom_soup_cross_gaps, b, context, soup, NULL, NULL, NULL, &pair, 1, &gap);
    BUG(carom_soup_cross_gaps, pairs, context, soup, NULL, soup, NULL, NULL, 1, &gap);
    BUG(carom_soup_cross_gaps, gaps, context, soup, NULL, soup, NULL, &pair, 1, NULL);
    FINE(carom_soup_cross_gaps, pose_a, context, soup, NULL, soup, NULL, &pair, 1, &gap);
    FINE(carom_soup_cross_gaps, pose_b, context, soup, NULL, soup, NULL, &pair, 1, &gap);
    FINE(carom_soup_cross_gaps, pairs, context, soup, NULL, soup, NULL, NULL, 0, NULL);
    BUG(carom_soup_self_segments, context, BAD_CONTEXT, soup, &pair, 1, &segments);
    BUG(carom_soup_self_segments, soup, context, NULL, &pair, 1, &segments);
    BUG(carom_soup_self_segments, pairs, context, soup, NULL, 1, &segments);
    BUG(carom_soup_self_segments, segments, context, soup, &pair, 1, NULL);
    BUG_RESULT(carom_soup_segments, carom_soup_self_segments, segments, context, soup, &pair, 1,
               &result);
    FINE(carom_soup_self_segments, pairs, context, soup, NULL, 0, &segments);
    BUG(carom_soup_cross_segments, context, BAD_CONTEXT, soup, NULL, soup, NULL, &pair, 1,
        &segments);
    BUG(carom_soup_cross_segments, a, context, NULL, NULL, soup, NULL, &pair, 1, &segments);
    BUG(carom_soup_cross_segments, b, context, soup, NULL, NULL, NULL, &pair, 1, &segments);
    BUG(carom_soup_cross_segments, pairs, context, soup, NULL, soup, NULL, NULL, 1, &segments);
    BUG(carom_soup_cross_segments, segments, context, soup, NULL, soup, NULL, &pair, 1, NULL);
    BUG_RESULT(carom_soup_segments, carom_soup_cross_segments, segments, context, soup, NULL, soup,
               NULL, &pair, 1, &result);
    FINE(carom_soup_cross_segments, pose_a, context, soup, NULL, soup, NULL, &pair, 1, &segments);
    FINE(carom_soup_cross_segments, pose_b, context, soup, NULL, soup, NULL, &pair, 1, &segments);
    FINE(carom_soup_cross_segments, pairs, context, soup, NULL, soup, NULL, NULL, 0, &segments);
    assert_true(state_of_all() == before);
    carom_pairs_free(&pairs);
    carom_soup_segments_free(&segments);
}

static void parts(void **state) {
    (void)state;
    uint64_t before = state_of_all();
    carom_parts_def def = {.a.mesh = &view};
    carom_parts_report report;
    BUG(carom_parts_pairs, context, BAD_CONTEXT, &def, receive, NULL, &report);
    BUG(carom_parts_pairs, def, context, NULL, receive, NULL, &report);
    BUG(carom_parts_pairs, receive, context, &def, NULL, NULL, &report);
    FINE(carom_parts_pairs, user, context, &def, receive, NULL, &report);
    FINE(carom_parts_pairs, report, context, &def, receive, NULL, NULL);
    carom_kfree kfree;
    BUG(carom_parts_kfree, context, BAD_CONTEXT, &def, NULL, NULL, &kfree, &report);
    BUG(carom_parts_kfree, def, context, NULL, NULL, NULL, &kfree, &report);
    BUG(carom_parts_kfree, kfree, context, &def, NULL, NULL, NULL, &report);
    FINE(carom_parts_kfree, receive, context, &def, NULL, NULL, &kfree, &report);
    FINE(carom_parts_kfree, user, context, &def, NULL, NULL, &kfree, &report);
    FINE(carom_parts_kfree, report, context, &def, NULL, NULL, &kfree, NULL);
    def.degenerate = CAROM_SOUP_DEGENERATE_COUNT;
    BUG_IN(carom_parts_def, degenerate, carom_parts_kfree, context, &def, NULL, NULL, &kfree,
           &report);
    BUG_IN(carom_parts_def, degenerate, carom_parts_pairs, context, &def, receive, NULL, &report);
    assert_true(state_of_all() == before);
}

static void soup_motions(void **state) {
    (void)state;
    carom_soup_impacts impacts = {0};
    carom_soup_impact first;
    carom_advance toi;
    uint64_t before = state_of_all();
    BUG(carom_soup_self_impacts, context, BAD_CONTEXT, soup, &view, &impacts);
    BUG(carom_soup_self_impacts, soup, context, NULL, &view, &impacts);
    BUG(carom_soup_self_impacts, end, context, soup, NULL, &impacts);
    BUG(carom_soup_self_impacts, impacts, context, soup, &view, NULL);
    BUG_RESULT(carom_soup_impacts, carom_soup_self_impacts, impacts, context, soup, &view, &result);
    BUG(carom_soup_self_first_impact, context, BAD_CONTEXT, soup, &view, &first);
    BUG(carom_soup_self_first_impact, soup, context, NULL, &view, &first);
    BUG(carom_soup_self_first_impact, end, context, soup, NULL, &first);
    BUG(carom_soup_self_first_impact, impact, context, soup, &view, NULL);
    BUG(carom_soup_cross_impacts, context, BAD_CONTEXT, soup, NULL, soup, NULL, &impacts);
    BUG(carom_soup_cross_impacts, a, context, NULL, NULL, soup, NULL, &impacts);
    BUG(carom_soup_cross_impacts, b, context, soup, NULL, NULL, NULL, &impacts);
    BUG(carom_soup_cross_impacts, impacts, context, soup, NULL, soup, NULL, NULL);
    BUG_RESULT(carom_soup_impacts, carom_soup_cross_impacts, impacts, context, soup, NULL, soup,
               NULL, &result);
    FINE(carom_soup_cross_impacts, end_a, context, soup, NULL, soup, NULL, &impacts);
    FINE(carom_soup_cross_impacts, end_b, context, soup, NULL, soup, NULL, &impacts);
    BUG(carom_soup_cross_first_impact, context, BAD_CONTEXT, soup, NULL, soup, NULL, &first);
    BUG(carom_soup_cross_first_impact, a, context, NULL, NULL, soup, NULL, &first);
    BUG(carom_soup_cross_first_impact, b, context, soup, NULL, NULL, NULL, &first);
    BUG(carom_soup_cross_first_impact, impact, context, soup, NULL, soup, NULL, NULL);
    FINE(carom_soup_cross_first_impact, end_a, context, soup, NULL, soup, NULL, &first);
    FINE(carom_soup_cross_first_impact, end_b, context, soup, NULL, soup, NULL, &first);
    BUG(carom_soup_cross_advance, context, BAD_CONTEXT, soup, NULL, soup, NULL, NULL, &toi);
    BUG(carom_soup_cross_advance, a, context, NULL, NULL, soup, NULL, NULL, &toi);
    BUG(carom_soup_cross_advance, b, context, soup, NULL, NULL, NULL, NULL, &toi);
    BUG(carom_soup_cross_advance, advance, context, soup, NULL, soup, NULL, NULL, NULL);
    FINE(carom_soup_cross_advance, motion_a, context, soup, NULL, soup, NULL, NULL, &toi);
    FINE(carom_soup_cross_advance, motion_b, context, soup, NULL, soup, NULL, NULL, &toi);
    FINE(carom_soup_cross_advance, def, context, soup, NULL, soup, NULL, NULL, &toi);
    assert_true(state_of_all() == before);
    carom_soup_impacts_free(&impacts);
}

static void soup_near(void **state) {
    (void)state;
    carom_soup_near_pairs pairs = {0};
    carom_soup_step step;
    double *safe = calloc(2 * view.vertex_count, sizeof(*safe)), *of_b = safe + view.vertex_count;
    assert_non_null(safe);
    uint64_t before = state_of_all();
    BUG(carom_soup_self_near, context, BAD_CONTEXT, soup, 0.1, &pairs);
    BUG(carom_soup_self_near, soup, context, NULL, 0.1, &pairs);
    BUG(carom_soup_self_near, pairs, context, soup, 0.1, NULL);
    BUG_RESULT(carom_soup_near_pairs, carom_soup_self_near, pairs, context, soup, 0.1, &result);
    BUG(carom_soup_cross_near, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.1, &pairs);
    BUG(carom_soup_cross_near, a, context, NULL, NULL, soup, NULL, 0.1, &pairs);
    BUG(carom_soup_cross_near, b, context, soup, NULL, NULL, NULL, 0.1, &pairs);
    BUG(carom_soup_cross_near, pairs, context, soup, NULL, soup, NULL, 0.1, NULL);
    BUG_RESULT(carom_soup_near_pairs, carom_soup_cross_near, pairs, context, soup, NULL, soup, NULL,
               0.1, &result);
    FINE(carom_soup_cross_near, pose_a, context, soup, NULL, soup, NULL, 0.1, &pairs);
    FINE(carom_soup_cross_near, pose_b, context, soup, NULL, soup, NULL, 0.1, &pairs);
    BUG(carom_soup_self_safe_step, context, BAD_CONTEXT, soup, &view, 0.0, &step);
    BUG(carom_soup_self_safe_step, soup, context, NULL, &view, 0.0, &step);
    BUG(carom_soup_self_safe_step, end, context, soup, NULL, 0.0, &step);
    BUG(carom_soup_self_safe_step, step, context, soup, &view, 0.0, NULL);
    BUG(carom_soup_cross_safe_step, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.0, &step);
    BUG(carom_soup_cross_safe_step, a, context, NULL, NULL, soup, NULL, 0.0, &step);
    BUG(carom_soup_cross_safe_step, b, context, soup, NULL, NULL, NULL, 0.0, &step);
    BUG(carom_soup_cross_safe_step, step, context, soup, NULL, soup, NULL, 0.0, NULL);
    FINE(carom_soup_cross_safe_step, end_a, context, soup, NULL, soup, NULL, 0.0, &step);
    FINE(carom_soup_cross_safe_step, end_b, context, soup, NULL, soup, NULL, 0.0, &step);
    BUG(carom_soup_self_safe_distances, context, BAD_CONTEXT, soup, 0.1, 0.0, safe);
    BUG(carom_soup_self_safe_distances, soup, context, NULL, 0.1, 0.0, safe);
    BUG(carom_soup_self_safe_distances, distances, context, soup, 0.1, 0.0, NULL);
    BUG(carom_soup_cross_safe_distances, context, BAD_CONTEXT, soup, NULL, soup, NULL, 0.1, 0.0,
        safe, of_b);
    BUG(carom_soup_cross_safe_distances, a, context, NULL, NULL, soup, NULL, 0.1, 0.0, safe, of_b);
    BUG(carom_soup_cross_safe_distances, b, context, soup, NULL, NULL, NULL, 0.1, 0.0, safe, of_b);
    BUG(carom_soup_cross_safe_distances, distances_a, context, soup, NULL, soup, NULL, 0.1, 0.0,
        NULL, of_b);
    BUG(carom_soup_cross_safe_distances, distances_b, context, soup, NULL, soup, NULL, 0.1, 0.0,
        safe, NULL);
    FINE(carom_soup_cross_safe_distances, pose_a, context, soup, NULL, soup, NULL, 0.1, 0.0, safe,
         of_b);
    FINE(carom_soup_cross_safe_distances, pose_b, context, soup, NULL, soup, NULL, 0.1, 0.0, safe,
         of_b);
    assert_true(state_of_all() == before);
    carom_soup_near_pairs_free(&pairs);
    free(safe);
}

static void soup_points(void **state) {
    (void)state;
    const carom_vec3 point = {0.1, 0.2, 0.3};
    const carom_ray ray = {.direction = {1.0, 0.0, 0.0}};
    carom_hit hit;
    int32_t winding = 7;
    double value = 7.0;
    BUG(carom_soup_closest_points, context, BAD_CONTEXT, soup, &point, 1, &hit);
    BUG(carom_soup_closest_points, soup, context, NULL, &point, 1, &hit);
    BUG(carom_soup_closest_points, points, context, soup, NULL, 1, &hit);
    BUG(carom_soup_closest_points, hits, context, soup, &point, 1, NULL);
    FINE(carom_soup_closest_points, points, context, soup, NULL, 0, NULL);
    BUG(carom_soup_cast_rays, context, BAD_CONTEXT, soup, &ray, 1, &hit);
    BUG(carom_soup_cast_rays, soup, context, NULL, &ray, 1, &hit);
    BUG(carom_soup_cast_rays, rays, context, soup, NULL, 1, &hit);
    BUG(carom_soup_cast_rays, hits, context, soup, &ray, 1, NULL);
    FINE(carom_soup_cast_rays, rays, context, soup, NULL, 0, NULL);
    carom_soup_ray_hits all = {0};
    BUG(carom_soup_query_rays, context, BAD_CONTEXT, soup, &ray, 1, &all);
    BUG(carom_soup_query_rays, soup, context, NULL, &ray, 1, &all);
    BUG(carom_soup_query_rays, rays, context, soup, NULL, 1, &all);
    BUG(carom_soup_query_rays, hits, context, soup, &ray, 1, NULL);
    BUG_RESULT(carom_soup_ray_hits, carom_soup_query_rays, hits, context, soup, &ray, 1, &result);
    FINE(carom_soup_query_rays, rays, context, soup, NULL, 0, &all);
    carom_soup_ray_hits_free(&all);
    BUG(carom_soup_winding, context, BAD_CONTEXT, soup, &point, 1, &winding);
    BUG(carom_soup_winding, soup, context, NULL, &point, 1, &winding);
    BUG(carom_soup_winding, points, context, soup, NULL, 1, &winding);
    BUG(carom_soup_winding, windings, context, soup, &point, 1, NULL);
    FINE(carom_soup_winding, points, context, soup, NULL, 0, NULL);
    BUG(carom_soup_winding_fractions, context, BAD_CONTEXT, soup, &point, 1, &value);
    BUG(carom_soup_winding_fractions, soup, context, NULL, &point, 1, &value);
    BUG(carom_soup_winding_fractions, points, context, soup, NULL, 1, &value);
    BUG(carom_soup_winding_fractions, windings, context, soup, &point, 1, NULL);
    FINE(carom_soup_winding_fractions, points, context, soup, NULL, 0, NULL);
    BUG(carom_soup_signed_distances, context, BAD_CONTEXT, soup, &point, 1, &value, &hit);
    BUG(carom_soup_signed_distances, soup, context, NULL, &point, 1, &value, &hit);
    BUG(carom_soup_signed_distances, points, context, soup, NULL, 1, &value, &hit);
    BUG(carom_soup_signed_distances, distances, context, soup, &point, 1, NULL, &hit);
    FINE(carom_soup_signed_distances, points, context, soup, NULL, 0, NULL, NULL);
    FINE(carom_soup_signed_distances, hits, context, soup, NULL, 0, NULL, NULL);
    assert_int_equal(winding, 7);
    assert_true(value == 7.0);
}

/* ---- solids ---------------------------------------------------------------------------------- */

static void solids(void **state) {
    (void)state;
    carom_solid *made = solid;
    carom_solid_def def = {.mesh = &view};
    carom_solid_info info;
    carom_solid_result overlap;
    carom_solid_patches patches = {0};
    carom_solid_vertex_forces on_a = {0}, on_b = {0};
    uint64_t before = state_of_all();
    BUG(carom_solid_create, context, BAD_CONTEXT, &def, &made);
    BUG(carom_solid_create, solid, context, &def, NULL);
    FINE(carom_solid_create, def, context, NULL, &made); /* a mesh of no faces is bad input */
    assert_null(made);
    FINE_VOID(carom_solid_destroy, solid, NULL);
    BUG(carom_solid_update, context, BAD_CONTEXT, solid, &view);
    BUG(carom_solid_update, solid, context, NULL, &view);
    BUG(carom_solid_update, mesh, context, solid, NULL);
    BUG(carom_solid_get_info, solid, NULL, &info);
    BUG(carom_solid_get_info, info, solid, NULL);
    BUG(carom_solid_overlap, context, BAD_CONTEXT, solid, NULL, solid, NULL, NULL, &overlap);
    BUG(carom_solid_overlap, a, context, NULL, NULL, solid, NULL, NULL, &overlap);
    BUG(carom_solid_overlap, b, context, solid, NULL, NULL, NULL, NULL, &overlap);
    BUG(carom_solid_overlap, overlap, context, solid, NULL, solid, NULL, NULL, NULL);
    FINE(carom_solid_overlap, pose_a, context, solid, NULL, solid, NULL, NULL, &overlap);
    FINE(carom_solid_overlap, pose_b, context, solid, NULL, solid, NULL, NULL, &overlap);
    FINE(carom_solid_overlap, def, context, solid, NULL, solid, NULL, NULL, &overlap);
    const carom_solid_pair query = {.a = solid, .b = solid}, no_a = {.b = solid},
                           no_b = {.a = solid};
    BUG(carom_solid_overlap_batch, context, BAD_CONTEXT, &query, 1, NULL, &overlap);
    BUG(carom_solid_overlap_batch, pairs, context, NULL, 1, NULL, &overlap);
    BUG(carom_solid_overlap_batch, overlaps, context, &query, 1, NULL, NULL);
    FINE(carom_solid_overlap_batch, def, context, &query, 1, NULL, &overlap);
    FINE(carom_solid_overlap_batch, pairs, context, NULL, 0, NULL, NULL);
    BUG_IN(carom_solid_pair, a, carom_solid_overlap_batch, context, &no_a, 1, NULL, &overlap);
    BUG_IN(carom_solid_pair, b, carom_solid_overlap_batch, context, &no_b, 1, NULL, &overlap);
    BUG(carom_solid_overlap_patches, context, BAD_CONTEXT, solid, NULL, solid, NULL, &patches);
    BUG(carom_solid_overlap_patches, a, context, NULL, NULL, solid, NULL, &patches);
    BUG(carom_solid_overlap_patches, b, context, solid, NULL, NULL, NULL, &patches);
    BUG(carom_solid_overlap_patches, patches, context, solid, NULL, solid, NULL, NULL);
    BUG_RESULT(carom_solid_patches, carom_solid_overlap_patches, patches, context, solid, NULL,
               solid, NULL, &result);
    FINE(carom_solid_overlap_patches, pose_a, context, solid, NULL, solid, NULL, &patches);
    FINE(carom_solid_overlap_patches, pose_b, context, solid, NULL, solid, NULL, &patches);
    carom_solid_patches_free(&patches);
    BUG(carom_solid_overlap_gradient, context, BAD_CONTEXT, solid, NULL, solid, NULL, &on_a, &on_b);
    BUG(carom_solid_overlap_gradient, a, context, NULL, NULL, solid, NULL, &on_a, &on_b);
    BUG(carom_solid_overlap_gradient, b, context, solid, NULL, NULL, NULL, &on_a, &on_b);
    BUG(carom_solid_overlap_gradient, on_a, context, solid, NULL, solid, NULL, NULL, &on_b);
    BUG(carom_solid_overlap_gradient, on_b, context, solid, NULL, solid, NULL, &on_a, NULL);
    BUG_RESULT(carom_solid_vertex_forces, carom_solid_overlap_gradient, on_a, context, solid, NULL,
               solid, NULL, &result, &on_b);
    BUG_RESULT(carom_solid_vertex_forces, carom_solid_overlap_gradient, on_b, context, solid, NULL,
               solid, NULL, &on_a, &result);
    FINE(carom_solid_overlap_gradient, pose_a, context, solid, NULL, solid, NULL, &on_a, &on_b);
    FINE(carom_solid_overlap_gradient, pose_b, context, solid, NULL, solid, NULL, &on_a, &on_b);
    carom_solid_vertex_forces_free(&on_a);
    carom_solid_vertex_forces_free(&on_b);
    assert_true(state_of_all() == before);
}

/* ---- gases ----------------------------------------------------------------------------------- */

static void gas_changes(void **state) {
    (void)state;
    carom_gas *made = gas;
    const carom_gas_def good = {.spheres = spheres, .sphere_count = 2, .edges = edges};
    const carom_gas_format format = CAROM_GAS_FORMAT_CAROM;
    carom_gas_def def = good;
    uint32_t ids[2] = {0, 1};
    uint64_t before = state_of_all();
    BUG(carom_gas_create, context, BAD_CONTEXT, &def, &made);
    FINE(carom_gas_create, def, context, NULL, &made);
    assert_null(made); /* a box without edges is bad input */
    BUG(carom_gas_create, gas, context, &def, NULL);
    def.spheres = NULL;
    BUG_IN(carom_gas_def, spheres, carom_gas_create, context, &def, &made);
    assert_null(made);
    def.sphere_count = 0;
    FINE(carom_gas_create, def, context, &def, &made);
    carom_gas_destroy(made);
    def = good;
    def.method = CAROM_GAS_METHOD_COUNT;
    BUG_IN(carom_gas_def, method, carom_gas_create, context, &def, &made);
    assert_null(made);
    BUG_IN(carom_gas_def, method, carom_gas_load, context, path, format, &def, &made);
    BUG_IN(carom_gas_def, method, carom_gas_load_memory, context, "x", 1, format, NULL, &def,
           &made);
    def = good;
    def.queue = (carom_gas_queue)-1;
    BUG_IN(carom_gas_def, queue, carom_gas_create, context, &def, &made);
    BUG_IN(carom_gas_def, queue, carom_gas_load, context, path, format, &def, &made);
    BUG_IN(carom_gas_def, queue, carom_gas_load_memory, context, "x", 1, format, NULL, &def, &made);
    FINE_VOID(carom_gas_destroy, gas, NULL);
    BUG(carom_gas_add, context, BAD_CONTEXT, gas, spheres, 2, ids);
    BUG(carom_gas_add, gas, context, NULL, spheres, 2, ids);
    BUG(carom_gas_add, spheres, context, gas, NULL, 2, ids);
    FINE(carom_gas_add, ids, context, gas, NULL, 0, NULL);
    BUG(carom_gas_set, context, BAD_CONTEXT, gas, ids, spheres, 2);
    BUG(carom_gas_set, gas, context, NULL, ids, spheres, 2);
    BUG(carom_gas_set, ids, context, gas, NULL, spheres, 2);
    BUG(carom_gas_set, spheres, context, gas, ids, NULL, 2);
    BUG(carom_gas_remove, context, BAD_CONTEXT, gas, ids, 2);
    BUG(carom_gas_remove, gas, context, NULL, ids, 2);
    BUG(carom_gas_remove, ids, context, gas, NULL, 2);
    assert_true(ids[0] == 0 && ids[1] == 1);
    assert_true(state_of_all() == before);
}

static void gas_queries(void **state) {
    (void)state;
    carom_gas_event event;
    carom_gas_spheres found = {0};
    carom_gas_sphere sphere;
    carom_gas_measures measures;
    carom_gas_info info;
    double overlap;
    uint64_t before = state_of_all();
    BUG(carom_gas_next, context, BAD_CONTEXT, gas, 1.0, &event);
    BUG(carom_gas_next, gas, context, NULL, 1.0, &event);
    BUG(carom_gas_next, event, context, gas, 1.0, NULL);
    BUG(carom_gas_advance, context, BAD_CONTEXT, gas, 1.0, NULL, NULL);
    BUG(carom_gas_advance, gas, context, NULL, 1.0, NULL, NULL);
    FINE(carom_gas_advance, on_event, context, gas, 0.0, NULL, NULL);
    FINE(carom_gas_advance, user, context, gas, 0.0, NULL, NULL);
    BUG_VOID(carom_gas_get_time, gas, NULL);
    BUG(carom_gas_list_spheres, context, BAD_CONTEXT, gas, &found);
    BUG(carom_gas_list_spheres, gas, context, NULL, &found);
    BUG(carom_gas_list_spheres, spheres, context, gas, NULL);
    BUG_RESULT(carom_gas_spheres, carom_gas_list_spheres, spheres, context, gas, &result);
    BUG(carom_gas_find_sphere, context, BAD_CONTEXT, gas, 0, &sphere);
    BUG(carom_gas_find_sphere, gas, context, NULL, 0, &sphere);
    BUG(carom_gas_find_sphere, sphere, context, gas, 0, NULL);
    BUG(carom_gas_measure, context, BAD_CONTEXT, gas, &measures);
    BUG(carom_gas_measure, gas, context, NULL, &measures);
    BUG(carom_gas_measure, measures, context, gas, NULL);
    BUG(carom_gas_reset_measures, context, BAD_CONTEXT, gas);
    BUG(carom_gas_reset_measures, gas, context, NULL);
    BUG(carom_gas_overlap, context, BAD_CONTEXT, gas, &overlap);
    BUG(carom_gas_overlap, gas, context, NULL, &overlap);
    BUG(carom_gas_overlap, overlap, context, gas, NULL);
    BUG(carom_gas_count_distances, context, BAD_CONTEXT, gas, 1.0, &overlap, 1);
    BUG(carom_gas_count_distances, gas, context, NULL, 1.0, &overlap, 1);
    BUG(carom_gas_count_distances, weights, context, gas, 1.0, NULL, 1);
    BUG(carom_gas_get_info, gas, NULL, &info);
    BUG(carom_gas_get_info, info, gas, NULL);
    assert_true(state_of_all() == before);
}

static void gas_files(void **state) {
    (void)state;
    const carom_gas_format format = CAROM_GAS_FORMAT_CAROM, none = CAROM_GAS_FORMAT_COUNT;
    carom_gas *made = gas;
    carom_bytes bytes = {0};
    uint64_t before = state_of_all();
    BUG(carom_gas_save, context, BAD_CONTEXT, gas, format, path);
    BUG(carom_gas_save, gas, context, NULL, format, path);
    BUG(carom_gas_save, format, context, gas, none, path);
    BUG(carom_gas_save, path, context, gas, format, NULL);
    BUG(carom_gas_save_memory, context, BAD_CONTEXT, gas, format, &bytes);
    BUG(carom_gas_save_memory, gas, context, NULL, format, &bytes);
    BUG(carom_gas_save_memory, format, context, gas, none, &bytes);
    BUG(carom_gas_save_memory, bytes, context, gas, format, NULL);
    BUG_RESULT(carom_bytes, carom_gas_save_memory, bytes, context, gas, format, &result);
    assert_ok(context, carom_gas_save(context, gas, format, path));
    assert_ok(context, carom_gas_save_memory(context, gas, format, &bytes));
    BUG(carom_gas_load, context, BAD_CONTEXT, path, format, NULL, &made);
    BUG(carom_gas_load, path, context, NULL, format, NULL, &made);
    BUG(carom_gas_load, format, context, path, none, NULL, &made);
    BUG(carom_gas_load, gas, context, path, format, NULL, NULL);
    FINE(carom_gas_load, def, context, path, format, NULL, &made);
    carom_gas_destroy(made);
    BUG(carom_gas_load_memory, context, BAD_CONTEXT, bytes.data, bytes.count, format, "x", NULL,
        &made);
    BUG(carom_gas_load_memory, bytes, context, NULL, bytes.count, format, "x", NULL, &made);
    BUG(carom_gas_load_memory, format, context, bytes.data, bytes.count, none, "x", NULL, &made);
    BUG(carom_gas_load_memory, gas, context, bytes.data, bytes.count, format, "x", NULL, NULL);
    FINE(carom_gas_load_memory, name, context, bytes.data, bytes.count, format, NULL, NULL, &made);
    carom_gas_destroy(made);
    FINE(carom_gas_load_memory, def, context, bytes.data, bytes.count, format, "x", NULL, &made);
    carom_gas_destroy(made);
    carom_bytes_free(&bytes);
    assert_true(state_of_all() == before);
}

/* ---- the headers ----------------------------------------------------------------------------- */

/* Last, when all has been tried. */
static void nothing_was_left_out(void **state) {
    (void)state;
    static const char *const headers[] = {
        "base.h",   "gas.h",    "geom.h",   "grid.h",  "kfree.h", "mesh.h",        "parts.h",
        "repair.h", "result.h", "shapes.h", "solid.h", "soup.h",  "soup_motion.h", "soup_points.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) >
                80); /* the headers were understood */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base),         cmocka_unit_test(geom),
        cmocka_unit_test(geom_values),  cmocka_unit_test(poses),
        cmocka_unit_test(pose_values),  cmocka_unit_test(names),
        cmocka_unit_test(meshes),       cmocka_unit_test(repair),
        cmocka_unit_test(soup_changes), cmocka_unit_test(soup_queries),
        cmocka_unit_test(soup_points),  cmocka_unit_test(soup_margins),
        cmocka_unit_test(parts),        cmocka_unit_test(soup_motions),
        cmocka_unit_test(soup_near),    cmocka_unit_test(solids),
        cmocka_unit_test(gas_changes),  cmocka_unit_test(gas_queries),
        cmocka_unit_test(gas_files),    cmocka_unit_test(nothing_was_left_out),
    };
    return cmocka_run_group_tests_name("caller_bugs", tests, set_up, tear_down);
}
