/* SPDX-License-Identifier: MIT */
/* Overlaps at the edge of what doubles can hold, against the oracle: copies a hair apart, needles,
 * far positions; every way in which two small solids can touch; meshes that wind twice. One thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/shapes.h"
#include "tests/support/solid_check.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static solid_mesh a, b;

static void make_shape(carom_shape shape, uint64_t detail, solid_mesh *mesh) {
    carom_shape_def def = {.shape = shape, .detail = detail};
    carom_mesh_view view;
    carom_mesh *made = shape_mesh(context, &def, &view);
    assert_true(view.vertex_count <= SOLID_MOST_VERTICES && view.face_count <= SOLID_MOST_FACES);
    mesh->kind = carom_shape_name(shape);
    mesh->vertices = (uint32_t)view.vertex_count;
    mesh->faces = (uint32_t)view.face_count;
    memcpy(mesh->xyz, view.positions, view.vertex_count * sizeof(mesh->xyz[0]));
    memcpy(mesh->corners, view.corners, view.face_count * 3 * sizeof(uint32_t));
    /* 2^-40 is fine enough, and the oracle's integers stay short */
    for (uint32_t i = 0; i < 3 * mesh->vertices; ++i)
        mesh->xyz[i / 3][i % 3] = nearbyint(mesh->xyz[i / 3][i % 3] * 0x1p40) * 0x1p-40;
    carom_mesh_destroy(made);
}

static void make_any_shape(carom_random *random, solid_mesh *mesh) {
    switch (test_below(random, 5)) {
    case 0:
        make_shape(CAROM_SHAPE_SPHERE, 2, mesh);
        break;
    case 1:
        make_shape(CAROM_SHAPE_TORUS, 8, mesh);
        break;
    case 2:
        make_shape(CAROM_SHAPE_CYLINDER, 9, mesh);
        break;
    case 3:
        make_shape(CAROM_SHAPE_CONE, 7, mesh);
        break;
    default:
        make_shape(CAROM_SHAPE_BOX, 2, mesh);
    }
}

static void solids_in_any_pose_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 500 : TEST_CASES(40)); ++i) {
        carom_random random = {1000 + i};
        make_any_shape(&random, &a);
        make_any_shape(&random, &b);
        carom_pose pose = {{carom_random_normal(&random), carom_random_normal(&random),
                            carom_random_normal(&random), carom_random_normal(&random)},
                           {0.7 * carom_random_normal(&random), 0.7 * carom_random_normal(&random),
                            0.7 * carom_random_normal(&random)}};
        solid_check(context, &a, NULL, &b, &pose, 1e-6, solid_case(&a, &b, "any pose", i));
    }
}

static void copies_a_hair_apart_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 400 : TEST_CASES(40)); ++i) {
        carom_random random = {2000 + i};
        make_any_shape(&random, &a);
        b = a;
        double far = ldexp(1.0, -10 - (int)test_below(&random, 42));
        carom_pose pose = {0};
        if (i % 3 != 0) pose.t.x = far * carom_random_normal(&random);
        if (i % 3 != 1) pose.t.y = far * carom_random_normal(&random);
        if (i % 4 == 2) pose.t.z = far;
        if (i % 5 == 4) pose.q.w = 1.0, pose.q.x = far;
        /* planes that are so near cross in lines known to 2^-48 of the distance only */
        solid_check(context, &a, NULL, &b, &pose, 1e-6 + 0x1p-48 / far,
                    solid_case(&a, &b, "hair", i));
    }
}

/* Every coordinate goes to one of its neighbours, or stays. */
static void corners_a_bit_off_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 1000 : TEST_CASES(80)); ++i) {
        carom_random random = {3000 + i};
        solid_make_small(&random, 50, &a);
        solid_make_small(&random, 50, &b);
        if (i % 2 == 0) b = a;
        const double off[3] = {1, 1, 1};
        solid_move(&a, off); /* zero has neighbours too small for the oracle */
        solid_move(&b, off);
        for (uint32_t k = 0; k < 3 * b.vertices; ++k) {
            double *x = &b.xyz[k / 3][k % 3];
            if (*x == 0.0) *x = 0x1p-50;
            uint32_t way = test_below(&random, i % 4 < 2 ? 3 : 30);
            if (way < 2) *x = nextafter(*x, way == 0 ? 100.0 : -100.0);
        }
        solid_check(context, &a, NULL, &b, NULL, 1e-6, solid_case(&a, &b, "a bit off", i));
    }
}

static void needles_and_flakes_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 3000 : TEST_CASES(200)); ++i) {
        carom_random random = {4000 + i};
        solid_make_small(&random, 50, &a);
        solid_make_small(&random, 50, &b);
        if (i % 3 == 0) b = a;
        double thin[3];
        for (int k = 0; k < 3; ++k) thin[k] = ldexp(1.0, (int)test_below(&random, 24) - 12);
        for (uint32_t v = 0; v < a.vertices; ++v)
            for (int k = 0; k < 3; ++k) a.xyz[v][k] *= thin[k];
        if (i % 2 == 0)
            for (int k = 0; k < 3; ++k) thin[k] = ldexp(1.0, (int)test_below(&random, 24) - 12);
        for (uint32_t v = 0; v < b.vertices; ++v)
            for (int k = 0; k < 3; ++k) b.xyz[v][k] *= thin[k];
        solid_check(context, &a, NULL, &b, NULL, 1e-6, solid_case(&a, &b, "thin", i));
    }
}

static void far_solids_overlap_as_they_should(void **state) {
    (void)state;
    static const double offsets[] = {1e6, -0x1p30, 0x1p45, 1e3};
    for (uint64_t i = 0; i < (campaign_is_long() ? 4000 : TEST_CASES(300)); ++i) {
        carom_random random = {5000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        const double by[3] = {offsets[i % 4], offsets[i / 4 % 4], offsets[i / 16 % 4]};
        carom_pose pose = {.t = {by[0], by[1], by[2]}}, near = {.t = {1, 2, 0}};
        solid_move(&a, by);
        if (i % 2 == 0) {
            solid_check(context, &a, NULL, &b, &pose, 1e-6, solid_case(&a, &b, "far", i));
        } else {
            solid_move(&b, by);
            solid_check(context, &a, NULL, &b, &near, 1e-6, solid_case(&a, &b, "far", i));
        }
    }
}

/* A part on the ground: two triangles that are millions of times its size. */
static void small_parts_sink_into_large_faces(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 1000 : TEST_CASES(60)); ++i) {
        carom_random random = {10000 + i};
        double size = pow(10.0, (double)(i % 6)), half = 0.025;
        const double low[3] = {-size, -0.8 * size, -1}, high[3] = {size, size, 0};
        const double from[3] = {-half, -half, -half}, to[3] = {half, half, half};
        a.vertices = a.faces = b.vertices = b.faces = 0;
        a.kind = "ground", b.kind = "part";
        solid_add_box(&a, low, high, false);
        solid_add_box(&b, from, to, false);
        carom_pose pose = {.t = {size * carom_random_between(&random, -0.8, 0.8),
                                 size * carom_random_between(&random, -0.8, 0.8),
                                 carom_random_between(&random, -0.03, 0.03)}};
        if (i % 5 == 0) pose.t = (carom_vec3){0, 0, -half}; /* flush with the ground */
        if (i % 3 == 1) {
            pose.q.w = 1.0;
            pose.q.x = carom_random_normal(&random);
            pose.q.y = carom_random_normal(&random);
        }
        if (i % 2 == 0)
            solid_check(context, &a, NULL, &b, &pose, 1e-6, solid_case(&a, &b, "ground", i));
        else
            solid_check(context, &b, &pose, &a, NULL, 1e-6, solid_case(&a, &b, "ground", i));
    }
}

/* Faces without area, and corners that only their coordinates tell to be the same. */
static void untidy_meshes_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 10000 : TEST_CASES(400)); ++i) {
        carom_random random = {8000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 3 == 0) b = a;
        carom_pose pose = {
            .t = {test_below(&random, 5), test_below(&random, 5), test_below(&random, 3)}};
        if (i % 5 == 0) pose.t = (carom_vec3){0, 0, 0};
        if (i % 2 == 0) solid_slit(&random, &a, 1 + test_below(&random, 10));
        if (i % 7 < 3) solid_slit(&random, &b, 1 + test_below(&random, 10));
        if (i % 11 < 4) solid_unweld(&a);
        if (i % 13 < 5) solid_unweld(&b);
        solid_check(context, &a, NULL, &b, &pose, 1e-6, solid_case(&a, &b, "untidy", i));
    }
}

/* Turned, corners that split an edge leave it by a rounding: the slit opens. */
static void open_slits_let_nothing_out(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 1000 : TEST_CASES(50)); ++i) {
        carom_random random = {9000 + i};
        solid_make_small(&random, 60, &a);
        solid_make_small(&random, 60, &b);
        if (i % 3 == 0) b = a;
        solid_slit(&random, &a, 1 + test_below(&random, 10));
        solid_slit(&random, &b, 1 + test_below(&random, 10));
        carom_pose pose = {
            {1 + test_below(&random, 3), test_below(&random, 3), test_below(&random, 3),
             test_below(&random, 3)},
            {test_below(&random, 5), test_below(&random, 5), test_below(&random, 3)}};
        solid_check(context, &a, i % 2 == 0 ? &pose : NULL, &b, &pose, 1e-6,
                    solid_case(&a, &b, "slit", i));
    }
}

/* ---- every way to touch ---------------------------------------------------------------------- */

static void make_small(int which, solid_mesh *mesh) {
    static const double corners[][4][3] = {
        {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}},
        {{0, 0, 0}, {2, 2, 0}, {2, 0, 2}, {0, 2, 2}},
        {{1, 1, 2}, {0, 1, 0}, {2, 0, 0}, {2, 2, 0}},
    };
    static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    static const double low[3] = {0, 0, 0}, high[3] = {2, 2, 2}, half[3] = {1, 2, 2};
    mesh->vertices = mesh->faces = 0;
    mesh->kind = which == 0 ? "cube" : which == 1 ? "slab" : "tetrahedron";
    if (which < 2) {
        solid_add_box(mesh, low, which == 0 ? high : half, false);
        return;
    }
    mesh->vertices = mesh->faces = 4;
    memcpy(mesh->xyz, corners[which - 2], sizeof(corners[0]));
    memcpy(mesh->corners, faces, sizeof(faces));
    carom_mesh_view view = solid_view(mesh);
    if (solid_oracle_volume(&view) < 0) solid_flip(mesh);
}

static void small_solids_touch_in_every_way(void **state) {
    (void)state;
    uint64_t seen[CAROM_RELATION_COUNT] = {0}, i = 0;
    carom_random random = {6000};
    for (int one = 0; one < 5; ++one) {
        for (int other = 0; other < 5; ++other) {
            for (int step = 0; step < 343; ++step, ++i) {
                if (!campaign_is_long() && test_below(&random, 12) != 0) continue;
                make_small(one, &a);
                make_small(other, &b);
                solid_rotate(&b, test_below(&random, 24));
                carom_pose pose = {.t = {step % 7 - 3, step / 7 % 7 - 3, step / 49 - 3}};
                carom_solid_result overlap =
                    solid_check(context, &a, NULL, &b, &pose, 1e-6, solid_case(&a, &b, "touch", i));
                ++seen[overlap.relation];
            }
        }
    }
    for (int r = 0; r < CAROM_RELATION_COUNT; ++r) assert_true(seen[r] > 0 || !campaign_is_long());
}

/* ---- meshes that wind twice ------------------------------------------------------------------ */

static void overlapping_shells_count_twice(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 2000 : TEST_CASES(150)); ++i) {
        carom_random random = {7000 + i};
        static solid_mesh more;
        solid_make_random(&random, &a);
        solid_make_random(&random, &more);
        solid_append(&a, &more); /* crossing, nested or apart, as it comes */
        if (i % 3 == 0) {        /* a sheet with two sides and nothing between */
            static const uint32_t both[6] = {0, 1, 2, 2, 1, 0};
            more.vertices = 3;
            more.faces = 2;
            for (uint32_t k = 0; k < 9; ++k) more.xyz[k / 3][k % 3] = test_below(&random, 12);
            memcpy(more.corners, both, sizeof(both));
            solid_append(&a, &more);
        }
        solid_make_random(&random, &b);
        carom_mesh_view view_a = solid_view(&a), view_b = solid_view(&b);
        carom_pose pose = {
            .t = {test_below(&random, 5), test_below(&random, 5), 0.5 * test_below(&random, 5)}};
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        carom_solid_result overlap;
        solid_truth truth;
        carom_solid_info info_x, info_y;
        static solid_mesh moved;
        solid_pose(&b, &pose, &moved);
        view_b = solid_view(&moved);
        solid_oracle(&view_a, &view_b, &truth);
        assert_ok(context, carom_solid_get_info(x, &info_x));
        assert_ok(context, carom_solid_get_info(y, &info_y));
        assert_ok(context, carom_solid_overlap(context, x, NULL, y, &pose, NULL, &overlap));
        /* slivers have a large surface for their volume, and it is known to 2^-53 of its size */
        double tolerance = solid_tolerance((double)truth.volume, info_x.volume, info_y.volume) +
                           1e-16 * fmin(info_x.area, info_y.area);
        if (!(fabs(overlap.volume - (double)truth.volume) <= tolerance))
            fail_msg("%s: %.17g, not %.17g", solid_case(&a, &b, "twice", i), overlap.volume,
                     (double)truth.volume);
        solid_truth with_itself;
        solid_oracle(&view_a, &view_a, &with_itself);
        /* the square of the winding number is itself just where that is 0 or 1 */
        bool winds = (double)(with_itself.volume - solid_oracle_volume(&view_a)) > 1e-12;
        if (winds && !(info_x.by_winding && overlap.by_winding))
            fail_msg("%s: winds twice and does not say so", solid_case(&a, &b, "twice", i));
        carom_solid_destroy(x);
        carom_solid_destroy(y);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_in_any_pose_overlap_as_they_should),
        cmocka_unit_test(copies_a_hair_apart_overlap_as_they_should),
        cmocka_unit_test(corners_a_bit_off_overlap_as_they_should),
        cmocka_unit_test(needles_and_flakes_overlap_as_they_should),
        cmocka_unit_test(far_solids_overlap_as_they_should),
        cmocka_unit_test(small_parts_sink_into_large_faces),
        cmocka_unit_test(untidy_meshes_overlap_as_they_should),
        cmocka_unit_test(open_slits_let_nothing_out),
        cmocka_unit_test(small_solids_touch_in_every_way),
        cmocka_unit_test(overlapping_shells_count_twice),
    };
    return cmocka_run_group_tests_name("solid_limits", tests, set_up, tear_down);
}
