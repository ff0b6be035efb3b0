/* SPDX-License-Identifier: MIT */
/* What is near, safe steps and safe distances on the GPU have the CPU's bytes: lattice soups of all
 * scales with exact ties, every shape, two soups in poses. Skipped where there is no device. */
#include <math.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/both.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t compared, pairs_seen, host_items, candidates;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu searches with %llu near pairs are those of the CPU; %llu of %llu pairs "
                      "were decided on the host\n",
                      (unsigned long long)compared, (unsigned long long)pairs_seen,
                      (unsigned long long)host_items, (unsigned long long)candidates);
    return tear_down(state);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

#define MOST_VERTICES 200000u
static carom_soup_near_pairs found, expected;
static double distances[2][MOST_VERTICES], expected_distances[2][MOST_VERTICES];

static void assert_same_pairs(void) {
    carom_work work;
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    for (uint64_t i = 0; i < found.count && i < expected.count; ++i) {
        const carom_soup_near_pair *x = &found.data[i], *y = &expected.data[i];
        if (memcmp(x, y, sizeof(*x)) == 0) continue;
        fail_msg("pair %llu is %d of %u and %u in [%.17g, %.17g], not %d of %u and %u in [%.17g, "
                 "%.17g]",
                 (unsigned long long)i, (int)x->kind, x->face_a, x->face_b, x->distance.lower,
                 x->distance.upper, (int)y->kind, y->face_a, y->face_b, y->distance.lower,
                 y->distance.upper);
    }
    assert_int_equal(found.count, expected.count);
    ++compared;
    pairs_seen += found.count;
    host_items += work.undecided;
    candidates += work.candidates;
}

static void assert_same_distances(uint64_t count, int side) {
    assert_true(count <= MOST_VERTICES);
    assert_memory_equal(distances[side], expected_distances[side], count * sizeof(double));
}

static void assert_self_near(const both *b, double reach) {
    assert_ok(cpu, carom_soup_self_near(cpu, b->cpu, reach, &expected));
    assert_ok(cuda, carom_soup_self_near(cuda, b->cuda, reach, &found));
    assert_same_pairs();
    double minimum = 0.25 * reach;
    assert_ok(cpu,
              carom_soup_self_safe_distances(cpu, b->cpu, reach, minimum, expected_distances[0]));
    assert_ok(cuda, carom_soup_self_safe_distances(cuda, b->cuda, reach, minimum, distances[0]));
    assert_same_distances(b->vertices, 0);
}

static void assert_cross_near(const both *a, const carom_pose *pose_a, const both *b,
                              const carom_pose *pose_b, double reach) {
    assert_ok(cpu, carom_soup_cross_near(cpu, a->cpu, pose_a, b->cpu, pose_b, reach, &expected));
    assert_ok(cuda, carom_soup_cross_near(cuda, a->cuda, pose_a, b->cuda, pose_b, reach, &found));
    assert_same_pairs();
    assert_ok(cpu, carom_soup_cross_safe_distances(cpu, a->cpu, pose_a, b->cpu, pose_b, reach, 0.0,
                                                   expected_distances[0], expected_distances[1]));
    assert_ok(cuda, carom_soup_cross_safe_distances(cuda, a->cuda, pose_a, b->cuda, pose_b, reach,
                                                    0.0, distances[0], distances[1]));
    assert_same_distances(a->vertices, 0);
    assert_same_distances(b->vertices, 1);
}

static void assert_same_step(const carom_soup_step *step, const carom_soup_step *other) {
    if (memcmp(step, other, sizeof(*step)) == 0) return;
    fail_msg("the step is %.17g by %d of %u and %u, not %.17g by %d of %u and %u", step->time,
             (int)step->limit.kind, step->limit.face_a, step->limit.face_b, other->time,
             (int)other->limit.kind, other->limit.face_a, other->limit.face_b);
}

static void assert_steps(const both *a, const carom_mesh_view *end_a, const both *b,
                         const carom_mesh_view *end_b, double minimum) {
    carom_soup_step step, other;
    memset(&step, 0, sizeof(step));
    memset(&other, 0, sizeof(other));
    assert_ok(cpu, carom_soup_self_safe_step(cpu, a->cpu, end_a, minimum, &other));
    assert_ok(cuda, carom_soup_self_safe_step(cuda, a->cuda, end_a, minimum, &step));
    assert_same_step(&step, &other);
    assert_ok(cpu, carom_soup_cross_safe_step(cpu, a->cpu, end_a, b->cpu, end_b, minimum, &other));
    assert_ok(cuda,
              carom_soup_cross_safe_step(cuda, a->cuda, end_a, b->cuda, end_b, minimum, &step));
    assert_same_step(&step, &other);
}

/* ---- Lattice soups --------------------------------------------------------------------------- */

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two, end;
    carom_random random = {91};
    const double reaches[] = {0.0, 1.0, 0.5, 1.4142135623730951, 2.0};
    for (int i = 0; i < TEST_CASES(1600); ++i) {
        double scale = both_scale(i);
        double reach = reaches[i % (int)COUNT_OF(reaches)] * scale;
        bool floats = i % 2 == 0 && scale == 1.0;
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        end = one;
        lattice_shake(&random, &end);
        const double by = i % 11 == 1 && !floats && i % 4 != 0 ? 1e10 : 0.0;
        lattice_move(&one, by, scale);
        lattice_move(&two, by, scale);
        lattice_move(&end, by + (i % 5 == 2 && !floats ? 2.5 : 0.0), scale);
        carom_mesh_view view_a = floats ? lattice_view_floats(&one) : lattice_view(&one);
        carom_mesh_view view_b =
            i % 4 == 0 && scale == 1.0 ? lattice_view_floats(&two) : lattice_view(&two);
        carom_mesh_view view_end = floats ? lattice_view_floats(&end) : lattice_view(&end);
        const carom_pose pose = {{1.0, 0.5, -0.25, 0.125}, {0.5 * scale, 0.25 * scale, 0.0}};
        both a = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view_a});
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view_b});
        assert_self_near(&a, reach);
        assert_cross_near(&a, NULL, &b, NULL, reach);
        assert_cross_near(&a, &pose, &b, i % 4 == 1 ? &pose : NULL, 0.5 * reach);
        assert_steps(&a, &view_end, &b, NULL, i % 3 == 1 ? 0.0625 * reach : 0.0);
        both_destroy(&a);
        both_destroy(&b);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static double moved[MOST_VERTICES][3];
    carom_random random = {92};
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 2; ++variant) {
            const carom_shape_def shape = {
                .shape = (carom_shape)s, .polygons = variant == 1, .scalar = CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
            const double *at = view.positions;
            for (uint64_t v = 0; v < view.vertex_count; ++v)
                for (int k = 0; k < 3; ++k)
                    moved[v][k] =
                        at[3 * v + (uint64_t)k] * 0.97 + carom_random_between(&random, -0.01, 0.01);
            const carom_mesh_view end = {.positions = moved, .vertex_count = view.vertex_count};
            const carom_pose pose = {{1.0, 0.25, 0.0, 0.125}, {0.125, 0.0, 0.25}};
            assert_self_near(&b, 0.01);
            assert_cross_near(&b, NULL, &b, &pose, 0.01);
            assert_steps(&b, &end, &b, NULL, 0.001);
            assert_steps(&b, &end, &b, NULL, 0.0);
            both_destroy(&b);
            carom_mesh_destroy(mesh);
        }
}

static void bad_input_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double at[3][3] = {{0, 0, 0}, {0x1p1022, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    const carom_mesh_view view = {
        .positions = at, .vertex_count = 3, .corners = corners, .face_count = 1};
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
    assert_fails(cuda, carom_soup_self_near(cuda, b.cuda, 1.0, &found), CAROM_BAD_INPUT, "2^1020");
    assert_fails(cuda, carom_soup_self_near(cuda, b.cuda, -1.0, &found), CAROM_BAD_INPUT, "reach");
    assert_fails(cuda, carom_soup_self_near(cuda, b.cpu, 1.0, &found), CAROM_UNSUPPORTED, "on cpu");
    both_destroy(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(bad_input_is_refused),
    };
    int failed = cmocka_run_group_tests_name("near_cuda", tests, set_up, report);
    carom_soup_near_pairs_free(&found);
    carom_soup_near_pairs_free(&expected);
    return failed;
}
