/* SPDX-License-Identifier: MIT */
/* k-freeness on the GPU has the CPU's bytes: lattice soups with exact ties and of all scales, every
 * shape, segments, changes. Skipped where there is no device. */
#include <math.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t compared, faces, undecided;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu soups with %llu faces are those of the CPU; %llu pairs were undecided "
                      "in doubles\n",
                      (unsigned long long)compared, (unsigned long long)faces,
                      (unsigned long long)undecided);
    return tear_down(state);
}

static void assert_same(carom_soup *on_cpu, carom_soup *on_cuda) {
    static carom_numbers expected_counts, counts;
    carom_kfree expected, k;
    carom_work work;
    assert_ok(cpu, carom_kfree_measure(cpu, on_cpu, &expected, &expected_counts));
    memset(&k, 0xA5, sizeof(k));
    assert_ok(cuda, carom_kfree_measure(cuda, on_cuda, &k, &counts));
    assert_int_equal(counts.count, expected_counts.count);
    for (uint64_t i = 0; i < counts.count; ++i)
        if (counts.data[i] != expected_counts.data[i])
            fail_msg("face %llu counts %u faces, not %u", (unsigned long long)i, counts.data[i],
                     expected_counts.data[i]);
    if (memcmp(&k, &expected, sizeof(k)) != 0)
        fail_msg("k %llu %llu, mean %.17g %.17g, neighbours %.17g %.17g, worst %u %u, discs %llu "
                 "%llu, diameters %.17g %.17g and %.17g %.17g",
                 (unsigned long long)k.k, (unsigned long long)expected.k, k.mean, expected.mean,
                 k.neighbours, expected.neighbours, k.worst_face, expected.worst_face,
                 (unsigned long long)k.discs, (unsigned long long)expected.discs, k.least_diameter,
                 expected.least_diameter, k.largest_diameter, expected.largest_diameter);
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    ++compared;
    faces += counts.count;
    undecided += work.undecided;
}

static void assert_def_same(const carom_soup_def *def) {
    carom_soup *on_cpu, *on_cuda;
    assert_ok(cpu, carom_soup_create(cpu, def, &on_cpu));
    assert_ok(cuda, carom_soup_create(cuda, def, &on_cuda));
    assert_same(on_cpu, on_cuda);
    carom_soup_destroy(on_cpu);
    carom_soup_destroy(on_cuda);
}

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup soup;
    carom_random random = {71};
    const double scales[] = {1.0, 0x1p-140, 0x1p130, 3.0, 0x1p-1000, 0x1p900};
    for (int i = 0; i < TEST_CASES(1500); ++i) {
        double scale = i % 3 == 0 ? scales[i / 3 % (int)COUNT_OF(scales)] : 1.0;
        lattice_make(&random, &soup);
        bool floats = i % 2 == 0 && scale == 1.0;
        lattice_move(&soup, i % 7 == 0 && !floats ? 0.1 : 0.0, scale);
        carom_mesh_view view = floats ? lattice_view_floats(&soup) : lattice_view(&soup);
        carom_soup_def def = {.mesh = &view,
                              .degenerate = i % 4 == 3 ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                       : CAROM_SOUP_DEGENERATE_ALONE};
        if (view.offsets != NULL) continue; /* polygons: refused */
        assert_def_same(&def);
    }
}

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 2; ++variant) {
            const carom_shape_def shape = {.shape = (carom_shape)s,
                                           .scalar = variant == 0 ? CAROM_SCALAR_FLOAT32
                                                                  : CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_soup_def def = {.mesh = &view};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            if (view.offsets == NULL) assert_def_same(&def);
            carom_mesh_destroy(mesh);
        }
}

static void changes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup soup;
    carom_random random = {72};
    for (int i = 0; i < TEST_CASES(100); ++i) {
        carom_soup *on_cpu, *on_cuda;
        lattice_make(&random, &soup);
        carom_mesh_view view = lattice_view(&soup);
        carom_soup_def def = {.mesh = &view};
        if (view.offsets != NULL || view.face_count == 0) continue;
        assert_ok(cpu, carom_soup_create(cpu, &def, &on_cpu));
        assert_ok(cuda, carom_soup_create(cuda, &def, &on_cuda));
        for (int change = 0; change < 3; ++change) {
            uint32_t face = (uint32_t)(carom_random_next(&random) % view.face_count);
            lattice_shake(&random, &soup);
            view = lattice_view(&soup);
            assert_ok(cpu, carom_soup_update(cpu, on_cpu, &view));
            assert_ok(cuda, carom_soup_update(cuda, on_cuda, &view));
            assert_ok(cpu, carom_soup_remove(cpu, on_cpu, &face, 1));
            assert_ok(cuda, carom_soup_remove(cuda, on_cuda, &face, 1));
            assert_same(on_cpu, on_cuda);
        }
        carom_soup_destroy(on_cpu);
        carom_soup_destroy(on_cuda);
    }
}

static void the_rest_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    const double far[3][3] = {{0, 0, 0}, {0x1p1022, 0, 0}, {0, 0x1p1022, 0}};
    const uint32_t corners[4] = {0, 1, 2, 3};
    const uint64_t offsets[2] = {0, 4};
    carom_soup *soup;
    carom_kfree k;
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = corner,
                                                     .scalar = CAROM_SCALAR_FLOAT64,
                                                     .vertex_count = 4,
                                                     .corners = corners,
                                                     .offsets = offsets,
                                                     .face_count = 1}};
    assert_ok(cuda, carom_soup_create(cuda, &def, &soup));
    assert_fails(cuda, carom_kfree_measure(cuda, soup, &k, NULL), CAROM_UNSUPPORTED, "polygons");
    assert_fails(cpu, carom_kfree_measure(cpu, soup, &k, NULL), CAROM_UNSUPPORTED, "made on cuda");
    carom_soup_destroy(soup);
    def.mesh = &(carom_mesh_view){.positions = far,
                                  .scalar = CAROM_SCALAR_FLOAT64,
                                  .vertex_count = 3,
                                  .corners = corners,
                                  .face_count = 1};
    assert_ok(cuda, carom_soup_create(cuda, &def, &soup));
    assert_fails(cuda, carom_kfree_measure(cuda, soup, &k, NULL), CAROM_BAD_INPUT, "2^1020");
    carom_soup_destroy(soup);
    assert_def_same(&(carom_soup_def){0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(changes_are_the_same),
        cmocka_unit_test(the_rest_is_refused),
    };
    return cmocka_run_group_tests_name("kfree_cuda", tests, set_up, report);
}
