/* SPDX-License-Identifier: MIT */
/* Faces within a margin on the GPU are the CPU's: lattice soups with exact ties and of all scales,
 * polygons, segments, every shape, two soups in poses; as a list, a number, an answer and a stream.
 * Skipped where there is no device. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/both.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t compared, pairs_seen, undecided;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu searches with %llu pairs are those of the CPU; %llu pairs were "
                      "undecided in doubles\n",
                      (unsigned long long)compared, (unsigned long long)pairs_seen,
                      (unsigned long long)undecided);
    return tear_down(state);
}

static carom_pairs found, expected;

static void assert_same(void) {
    carom_work work;
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    for (uint64_t i = 0; i < found.count && i < expected.count; ++i)
        if (found.data[i].a != expected.data[i].a || found.data[i].b != expected.data[i].b)
            fail_msg("pair %llu is (%u, %u), not (%u, %u)", (unsigned long long)i, found.data[i].a,
                     found.data[i].b, expected.data[i].a, expected.data[i].b);
    assert_int_equal(found.count, expected.count);
    ++compared;
    pairs_seen += found.count;
    undecided += work.undecided;
}

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    uint64_t *at = user;
    assert_true(*at + count <= expected.count);
    assert_memory_equal(pairs, expected.data + *at, count * sizeof(*pairs));
    *at += count;
    return false;
}

static void assert_self_same(const both *b, double margin) {
    uint64_t count, at = 0;
    bool any;
    assert_ok(cpu, carom_soup_self_pairs_within(cpu, b->cpu, margin, &expected));
    assert_ok(cuda, carom_soup_self_pairs_within(cuda, b->cuda, margin, &found));
    assert_same();
    assert_ok(cuda, carom_soup_self_count_within(cuda, b->cuda, margin, &count));
    assert_int_equal(count, expected.count);
    assert_ok(cuda, carom_soup_self_meet_within(cuda, b->cuda, margin, &any));
    assert_int_equal(any, expected.count != 0);
    assert_ok(cuda, carom_soup_self_each_within(cuda, b->cuda, margin, receive, &at));
    assert_int_equal(at, expected.count);
}

static void assert_cross_same(const both *a, const carom_pose *pose_a, const both *b,
                              const carom_pose *pose_b, double margin) {
    uint64_t count, at = 0;
    bool any;
    assert_ok(
        cpu, carom_soup_cross_pairs_within(cpu, a->cpu, pose_a, b->cpu, pose_b, margin, &expected));
    assert_ok(cuda, carom_soup_cross_pairs_within(cuda, a->cuda, pose_a, b->cuda, pose_b, margin,
                                                  &found));
    assert_same();
    assert_ok(cuda, carom_soup_cross_count_within(cuda, a->cuda, pose_a, b->cuda, pose_b, margin,
                                                  &count));
    assert_int_equal(count, expected.count);
    assert_ok(cuda,
              carom_soup_cross_meet_within(cuda, a->cuda, pose_a, b->cuda, pose_b, margin, &any));
    assert_int_equal(any, expected.count != 0);
    assert_ok(cuda, carom_soup_cross_each_within(cuda, a->cuda, pose_a, b->cuda, pose_b, margin,
                                                 receive, &at));
    assert_int_equal(at, expected.count);
}

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two;
    carom_random random = {95};
    const double margins[] = {0.0, 1.0, 0.5, 1.4142135623730951, 2.0};
    for (int i = 0; i < TEST_CASES(1200); ++i) {
        double scale = both_scale(i);
        double margin = margins[i % (int)COUNT_OF(margins)] * scale;
        bool floats = i % 2 == 0 && scale == 1.0;
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        const double by = i % 11 == 1 && !floats && i % 4 != 0 ? 1e10 : 0.0;
        lattice_move(&one, by, scale);
        lattice_move(&two, by, scale);
        carom_mesh_view view_a = floats ? lattice_view_floats(&one) : lattice_view(&one);
        carom_mesh_view view_b =
            i % 4 == 0 && scale == 1.0 ? lattice_view_floats(&two) : lattice_view(&two);
        carom_soup_degenerate degenerate =
            i % 4 == 3 ? CAROM_SOUP_DEGENERATE_AS_SEGMENT : CAROM_SOUP_DEGENERATE_ALONE;
        const carom_pose pose = {{1.0, 0.5, -0.25, 0.125}, {0.5 * scale, 0.25 * scale, 0.0}};
        both a =
            both_create(cpu, cuda, &(carom_soup_def){.mesh = &view_a, .degenerate = degenerate});
        both b =
            both_create(cpu, cuda, &(carom_soup_def){.mesh = &view_b, .degenerate = degenerate});
        assert_self_same(&a, margin);
        assert_cross_same(&a, NULL, &b, NULL, margin);
        assert_cross_same(&a, &pose, &b, i % 4 == 1 ? &pose : NULL, 0.5 * margin);
        both_destroy(&a);
        both_destroy(&b);
    }
}

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 4; ++variant) {
            const carom_shape_def shape = {.shape = (carom_shape)s,
                                           .polygons = variant % 2 == 1,
                                           .scalar = variant < 2 ? CAROM_SCALAR_FLOAT32
                                                                 : CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
            const carom_pose pose = {{1.0, 0.25, 0.0, 0.125}, {0.125, 0.0, 0.25}};
            assert_self_same(&b, 0.01);
            assert_cross_same(&b, NULL, &b, &pose, 0.01);
            both_destroy(&b);
            carom_mesh_destroy(mesh);
        }
}

static void bad_input_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double at[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    const carom_mesh_view view = {
        .positions = at, .vertex_count = 3, .corners = corners, .face_count = 1};
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
    both none = both_create(cpu, cuda, &(carom_soup_def){0});
    both grid =
        both_create(cpu, cuda, &(carom_soup_def){.mesh = &view, .method = CAROM_SOUP_METHOD_GRID});
    assert_fails(cuda, carom_soup_self_pairs_within(cuda, b.cuda, -1.0, &found), CAROM_BAD_INPUT,
                 "margin");
    assert_fails(cuda, carom_soup_self_pairs_within(cuda, b.cpu, 1.0, &found), CAROM_UNSUPPORTED,
                 "on cpu");
    assert_fails(cuda, carom_soup_self_pairs_within(cuda, grid.cuda, 1.0, &found),
                 CAROM_UNSUPPORTED, "GRID");
    assert_self_same(&none, 1.0);
    assert_self_same(&b, DBL_MAX);
    assert_cross_same(&b, NULL, &none, NULL, 1.0);
    assert_cross_same(&b, NULL, &b, NULL, 1e300);
    both_destroy(&b);
    both_destroy(&none);
    both_destroy(&grid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(bad_input_is_refused),
    };
    int failed = cmocka_run_group_tests_name("within_cuda", tests, set_up, report);
    carom_pairs_free(&found);
    carom_pairs_free(&expected);
    return failed;
}
