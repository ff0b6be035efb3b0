/* SPDX-License-Identifier: MIT */
/* Shapes: closed where they say so, outward, of the right size and number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/shapes.h"

static carom_mesh_report report_of(carom_context *context, const carom_shape_def *def) {
    carom_mesh_view view;
    carom_mesh_report report;
    carom_mesh *mesh = shape_mesh(context, def, &view);
    assert_int_equal(view.scalar, def->scalar);
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    carom_mesh_destroy(mesh);
    return report;
}

static bool is_sheet(carom_shape shape) {
    return shape == CAROM_SHAPE_CLOTH || shape == CAROM_SHAPE_GRID;
}

static void closed_shapes_are_closed_and_face_outward(void **state) {
    (void)state;
    static const uint64_t details[] = {0, 1, 2, 3, 4, 5, 7, 8, 17};
    carom_context *context = test_context(1);
    for (int shape = 0; shape < CAROM_SHAPE_COUNT; ++shape)
        for (size_t i = 0; i < COUNT_OF(details); ++i)
            for (int kind = 0; kind < 4; ++kind) {
                carom_shape_def def = {.shape = (carom_shape)shape,
                                       .detail = details[i],
                                       .parts = details[i],
                                       .polygons = kind % 2 == 1,
                                       .seed = i,
                                       .scalar =
                                           kind < 2 ? CAROM_SCALAR_FLOAT64 : CAROM_SCALAR_FLOAT32};
                bool round = shape == CAROM_SHAPE_GLOBE || shape == CAROM_SHAPE_TORUS ||
                             shape == CAROM_SHAPE_CONE || shape == CAROM_SHAPE_CYLINDER ||
                             shape == CAROM_SHAPE_KNOT || shape == CAROM_SHAPE_CHAIN;
                if (round && def.detail < 3) def.detail = 3;
                if (shape == CAROM_SHAPE_KNOT && def.detail < 24) def.detail += 24;
                if (shape == CAROM_SHAPE_SPHERE && def.detail > 7) continue;
                carom_mesh_report r = report_of(context, &def);
                const char *name = carom_shape_name(def.shape);
                if (r.closed == is_sheet(def.shape) || !r.oriented || r.nonmanifold_edges != 0 ||
                    r.duplicate_faces != 0 || r.unused_vertices != 0)
                    fail_msg("%s of detail %llu", name, (unsigned long long)def.detail);
                if (r.closed && !(r.volume > 0.0)) fail_msg("%s is inside out", name);
                if (shape != CAROM_SHAPE_SHARDS) assert_int_equal(r.degenerate_faces, 0);
                uint64_t shells = shape == CAROM_SHAPE_CHAIN    ? (def.parts != 0 ? def.parts : 8)
                                  : shape == CAROM_SHAPE_SHARDS ? (def.parts != 0 ? def.parts : 32)
                                                                : 1;
                assert_int_equal(r.shells, shells);
            }
    carom_context_destroy(context);
}

static void shapes_have_the_numbers_and_volumes_of_their_formulas(void **state) {
    (void)state;
    const double pi = 3.14159265358979323846;
    carom_context *context = test_context(2);
    for (uint64_t d = 1; d <= 7; ++d) {
        carom_shape_def def = {.detail = d, .size = 2.0};
        carom_mesh_report r = report_of(context, &def);
        uint64_t quarter = (uint64_t)1 << (2 * (d - 1));
        assert_int_equal(r.vertices, 10 * quarter + 2);
        assert_int_equal(r.faces, 20 * quarter);
        assert_true(r.volume < 32.0 / 3.0 * pi);
        assert_true(d < 6 || r.volume > 0.998 * 32.0 / 3.0 * pi);
    }
    carom_shape_def def = {.shape = CAROM_SHAPE_BOX, .detail = 7, .size = 3.0, .polygons = true};
    carom_mesh_report r = report_of(context, &def);
    assert_true(r.volume > 215.9999999 && r.volume < 216.0000001 && r.faces == 6 * 49);
    assert_int_equal(r.vertices, 6 * 49 + 2);
    def = (carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = 600, .ratio = 0.25};
    r = report_of(context, &def);
    assert_true(fabs(r.volume / (2.0 * pi * pi * 0.0625) - 1.0) < 1e-3);
    def = (carom_shape_def){.shape = CAROM_SHAPE_CYLINDER, .detail = 2000, .ratio = 2.0};
    assert_true(fabs(report_of(context, &def).volume / (4.0 * pi) - 1.0) < 1e-5);
    def.shape = CAROM_SHAPE_CONE;
    assert_true(fabs(report_of(context, &def).volume / (4.0 / 3.0 * pi) - 1.0) < 1e-5);
    def = (carom_shape_def){
        .shape = CAROM_SHAPE_SHARDS, .parts = 300, .ratio = 0.5, .polygons = true};
    r = report_of(context, &def);
    assert_true(fabs(r.volume - 1.0) < 1e-12); /* 8 (1/2)^3, whatever the cuts */
    for (uint64_t n = 1; n <= 40; n += 13) {
        def = (carom_shape_def){.shape = CAROM_SHAPE_CHAZELLE, .detail = n, .polygons = true};
        r = report_of(context, &def);
        assert_int_equal(r.vertices, 12 * n + 8);
        assert_int_equal(r.faces, 6 * n + 6);
        assert_int_equal(r.edges, 18 * n + 12);
    }
    carom_context_destroy(context);
}

static void shards_welded_stay_apart(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    for (uint64_t seed = 0; seed < 12; ++seed) {
        carom_shape_def def = {
            .shape = CAROM_SHAPE_SHARDS, .parts = 60, .seed = seed, .scalar = CAROM_SCALAR_FLOAT32};
        carom_mesh *mesh, *welded;
        carom_mesh_view view;
        carom_mesh_report r;
        mesh = shape_mesh(context, &def, &view);
        assert_ok(context, carom_mesh_weld(context, &view, &welded));
        assert_ok(context, carom_mesh_get_view(welded, &view));
        assert_ok(context, carom_mesh_inspect(context, &view, &r));
        assert_true(r.closed && r.shells == 60);
        carom_mesh_destroy(mesh);
        carom_mesh_destroy(welded);
    }
    carom_context_destroy(context);
}

static void the_cloth_is_that_of_the_benchmarks(void **state) {
    (void)state;
    static const uint64_t sizes[] = {100, 224};
    for (uint32_t threads = 1; threads <= 3; ++threads) {
        carom_context *context = test_context(threads);
        for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
            uint64_t w = sizes[i];
            carom_shape_def def = {
                .shape = CAROM_SHAPE_CLOTH, .detail = w, .scalar = CAROM_SCALAR_FLOAT32};
            carom_mesh_view view;
            char name[32];
            carom_mesh *mesh = shape_mesh(context, &def, &view);
            assert_int_equal(view.vertex_count, (w + 1) * (w + 1));
            assert_int_equal(view.face_count, 2 * w * w);
            uint32_t first[6] = {0, 1, (uint32_t)w + 2, 0, (uint32_t)w + 2, (uint32_t)w + 1};
            assert_memory_equal(view.corners, first, sizeof(first));
            snprintf(name, sizeof(name), "cloth%llu", (unsigned long long)w);
            test_golden("shapes.txt", name,
                        test_hash_numbers(view.positions, 12 * view.vertex_count, "4", 0));
            carom_mesh_destroy(mesh);
        }
        carom_context_destroy(context);
    }
}

static void impossible_shapes_are_refused_in_words(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh *mesh;
    for (int shape = 0; shape < CAROM_SHAPE_COUNT; ++shape) {
        carom_shape_def def = {
            .shape = (carom_shape)shape, .detail = UINT64_MAX, .parts = UINT64_MAX};
        assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_TOO_LARGE, "numbered");
        assert_null(mesh);
        def = (carom_shape_def){.shape = (carom_shape)shape, .size = -1.0};
        assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "size -1");
        def.size = (double)NAN;
        assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "size");
        def = (carom_shape_def){.shape = (carom_shape)shape, .ratio = HUGE_VAL};
        assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "ratio");
    }
    carom_shape_def def = {.shape = CAROM_SHAPE_CONE, .detail = 2};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "at least 3");
    def = (carom_shape_def){.shape = CAROM_SHAPE_KNOT, .p = 4, .q = 6};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT,
                 "no common factor");
    def = (carom_shape_def){.shape = CAROM_SHAPE_KNOT, .p = 5, .detail = 30};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "at least 40");
    def = (carom_shape_def){.shape = CAROM_SHAPE_TORUS, .ratio = 1.0};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "below 1");
    def = (carom_shape_def){.shape = CAROM_SHAPE_SHARDS, .ratio = 1.0};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "below 1");
    def = (carom_shape_def){.size = 1e40, .scalar = CAROM_SCALAR_FLOAT32};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "for float32");
    def = (carom_shape_def){.shape = CAROM_SHAPE_CLOTH, .size = 1e40};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "for float32");
    def = (carom_shape_def){.size = 1e-40, .scalar = CAROM_SCALAR_FLOAT32};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "for float32");
    def = (carom_shape_def){.shape = CAROM_SHAPE_CHAIN, .ratio = 0.3};
    assert_fails(context, carom_shape_make(context, &def, &mesh), CAROM_BAD_INPUT, "at most 0.25");
    test_asserts_begin();
    def = (carom_shape_def){.shape = (carom_shape)99};
    assert_int_equal(carom_shape_make(context, &def, &mesh), CAROM_INVALID);
    assert_int_equal(carom_shape_make(context, NULL, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 2);
    assert_string_equal(carom_shape_name((carom_shape)99), "unknown");
    assert_ok(context, carom_shape_make(context, NULL, &mesh));
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- Saved without being held ---------------------------------------------------------------- */

static void compare_saved(carom_context *context, const carom_shape_def *def,
                          carom_mesh_format format, const char *path) {
    carom_mesh_view view;
    carom_bytes bytes = {0};
    carom_mesh *mesh = shape_mesh(context, def, &view);
    assert_ok(context, carom_mesh_save_memory(context, &view, format, &bytes));
    assert_ok(context, carom_shape_save(context, def, format, path));
    FILE *file = fopen(path, "rb");
    uint8_t *read = malloc(bytes.count + 1);
    assert_true(file != NULL && read != NULL);
    assert_int_equal(fread(read, 1, bytes.count + 1, file), bytes.count);
    assert_memory_equal(read, bytes.data, bytes.count);
    free(read);
    (void)fclose(file);
    carom_bytes_free(&bytes);
    carom_mesh_destroy(mesh);
}

static void saved_shapes_are_the_bytes_of_held_ones(void **state) {
    (void)state;
    char path[] = CAROM_BINARY_DIR "/shape-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    carom_context *context = test_context(2);
    static const carom_mesh_format formats[] = {CAROM_MESH_FORMAT_PLY, CAROM_MESH_FORMAT_PLY_BIG,
                                                CAROM_MESH_FORMAT_OBJ};
    static const uint64_t details[] = {1, 2, 37, 700}; /* the last in two blocks */
    for (size_t i = 0; i < COUNT_OF(details) - (TEST_FEW_CASES ? 1 : 0); ++i)
        for (int kind = 0; kind < (i == 3 ? 1 : 12); ++kind) {
            carom_shape_def def = {.shape = CAROM_SHAPE_CLOTH,
                                   .detail = details[i],
                                   .seed = i,
                                   .size = 3.0,
                                   .phase = 0.25 * kind,
                                   .polygons = kind % 2 == 1,
                                   .scalar = (carom_scalar)(kind / 2 % 2)};
            compare_saved(context, &def, formats[kind / 4], path);
        }
    carom_shape_def other = {.shape = CAROM_SHAPE_BOX};
    compare_saved(context, &other, CAROM_MESH_FORMAT_PLY, path);
    other = (carom_shape_def){.shape = CAROM_SHAPE_CLOTH, .detail = 65536};
    assert_fails(context, carom_shape_save(context, &other, CAROM_MESH_FORMAT_PLY, path),
                 CAROM_TOO_LARGE, "numbered");
    other.detail = 4;
    assert_fails(context, carom_shape_save(context, &other, CAROM_MESH_FORMAT_PLY, "no/x.ply"),
                 CAROM_IO, "no/x.ply");
    (void)remove(path);
    carom_context_destroy(context);
}

static carom_status make_all(carom_allocator allocator, void *argument) {
    (void)argument;
    carom_context_def context_def = {.allocator = allocator, .threads = 1};
    carom_context *context;
    carom_status status = carom_context_create(&context_def, &context);
    for (int shape = 0; shape < CAROM_SHAPE_COUNT && status == CAROM_OK; ++shape) {
        carom_shape_def def = {.shape = (carom_shape)shape, .detail = 3, .parts = 9};
        if (shape == CAROM_SHAPE_KNOT) def.detail = 24;
        carom_mesh *mesh;
        status = carom_shape_make(context, &def, &mesh);
        carom_mesh_destroy(mesh);
    }
    const carom_shape_def cloth = {.shape = CAROM_SHAPE_CLOTH, .detail = 3, .polygons = true};
    if (status == CAROM_OK)
        status = carom_shape_save(context, &cloth, CAROM_MESH_FORMAT_PLY, "/dev/null");
    carom_context_destroy(context);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    test_allocation_failures(make_all, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_shapes_are_closed_and_face_outward),
        cmocka_unit_test(shapes_have_the_numbers_and_volumes_of_their_formulas),
        cmocka_unit_test(shards_welded_stay_apart),
        cmocka_unit_test(the_cloth_is_that_of_the_benchmarks),
        cmocka_unit_test(saved_shapes_are_the_bytes_of_held_ones),
        cmocka_unit_test(failing_allocations_leak_nothing),
        cmocka_unit_test(impossible_shapes_are_refused_in_words),
    };
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
