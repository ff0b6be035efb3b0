/* SPDX-License-Identifier: MIT */
/* Callers' bugs in every function of pack.h and cover.h: the assert handler is called once, the
 * call returns CAROM_INVALID, and nothing has changed. One thread. */
#include <stdlib.h>

#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_mesh *mesh;
static carom_mesh_view view;
static carom_packing_def def = {.mesh = &view, .count = 3};
static carom_packing *packing;

static int set_up(void **state) {
    (void)state;
    carom_shape_def of_shape = {.shape = CAROM_SHAPE_BOX, .detail = 1};
    context = bugs_context();
    return carom_shape_make(context, &of_shape, &mesh) != CAROM_OK ||
           carom_mesh_get_view(mesh, &view) != CAROM_OK ||
           carom_packing_create(context, &def, &packing) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return bugs_memory.live != 0;
}

static void preparing(void **state) {
    (void)state;
    carom_packing *made = NULL;
    carom_packing_info info;
    BUG(carom_packing_create, context, BAD_CONTEXT, &def, &made);
    BUG(carom_packing_create, def, context, NULL, &made);
    BUG(carom_packing_create, packing, context, &def, NULL);
    carom_packing_def bad = def;
    bad.method = CAROM_PACKING_METHOD_COUNT;
    BUG_IN(carom_packing_def, method, carom_packing_create, context, &bad, &made);
    carom_packing_deform_def follow = {.before = &view, .after = &view}, lost = follow;
    BUG(carom_packing_deform, context, BAD_CONTEXT, packing, &follow, &made);
    BUG(carom_packing_deform, packing, context, NULL, &follow, &made);
    BUG(carom_packing_deform, def, context, packing, NULL, &made);
    BUG(carom_packing_deform, deformed, context, packing, &follow, NULL);
    lost.before = NULL;
    BUG_IN(carom_packing_deform_def, before, carom_packing_deform, context, packing, &lost, &made);
    lost = follow;
    lost.after = NULL;
    BUG_IN(carom_packing_deform_def, after, carom_packing_deform, context, packing, &lost, &made);
    FINE_VOID(carom_packing_destroy, packing, NULL);
    BUG(carom_packing_get_info, packing, NULL, &info);
    BUG(carom_packing_get_info, info, packing, NULL);
    carom_packing_method method = CAROM_PACKING_METHOD_OCTREE;
    FINE_VOID(carom_packing_method_name, method, (carom_packing_method)99);
    assert_string_equal(carom_packing_method_name((carom_packing_method)99), "unknown");
    BUG_VOID(carom_packing_method_from_name, name, NULL, &method);
    BUG_VOID(carom_packing_method_from_name, method, "octree", NULL);
    for (int i = 0; i < CAROM_PACKING_METHOD_COUNT; ++i) {
        const char *name = carom_packing_method_name((carom_packing_method)i);
        assert_true(carom_packing_method_from_name(name, &method));
        assert_int_equal(method, i);
    }
    assert_false(carom_packing_method_from_name("no such name", &method));
}

static void results(void **state) {
    (void)state;
    carom_packing_spheres spheres = {0};
    carom_packing_cells cells = {0};
    BUG(carom_packing_list_spheres, context, BAD_CONTEXT, packing, &spheres);
    BUG(carom_packing_list_spheres, packing, context, NULL, &spheres);
    BUG(carom_packing_list_spheres, spheres, context, packing, NULL);
    BUG_RESULT(carom_packing_spheres, carom_packing_list_spheres, spheres, context, packing,
               &result);
    BUG(carom_packing_list_cells, context, BAD_CONTEXT, packing, &cells);
    BUG(carom_packing_list_cells, packing, context, NULL, &cells);
    BUG(carom_packing_list_cells, cells, context, packing, NULL);
    BUG_RESULT(carom_packing_cells, carom_packing_list_cells, cells, context, packing, &result);
    FINE_VOID(carom_packing_spheres_free, result, NULL);
    FINE_VOID(carom_packing_cells_free, result, NULL);
    /* A caller's buffer that is too small. */
    carom_packing_sphere two[2];
    carom_packing_spheres mine = {.data = two, .capacity = 2, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_packing_list_spheres(context, packing, &mine), CAROM_MORE);
    assert_int_equal(mine.count, 3);
}

static void files(void **state) {
    (void)state;
    carom_packing *made = NULL;
    carom_bytes bytes = {0};
    carom_packing_format format = CAROM_PACKING_FORMAT_PLY;
    BUG(carom_packing_save, context, BAD_CONTEXT, packing, format, "x");
    BUG(carom_packing_save, packing, context, NULL, format, "x");
    BUG(carom_packing_save, format, context, packing, CAROM_PACKING_FORMAT_COUNT, "x");
    BUG(carom_packing_save, path, context, packing, format, NULL);
    BUG(carom_packing_save_memory, context, BAD_CONTEXT, packing, format, &bytes);
    BUG(carom_packing_save_memory, packing, context, NULL, format, &bytes);
    BUG(carom_packing_save_memory, format, context, packing, CAROM_PACKING_FORMAT_GUESS, &bytes);
    BUG(carom_packing_save_memory, bytes, context, packing, format, NULL);
    BUG_RESULT(carom_bytes, carom_packing_save_memory, bytes, context, packing, format, &result);
    BUG(carom_packing_load, context, BAD_CONTEXT, "x", format, &made);
    BUG(carom_packing_load, path, context, NULL, format, &made);
    BUG(carom_packing_load, format, context, "x", CAROM_PACKING_FORMAT_COUNT, &made);
    BUG(carom_packing_load, packing, context, "x", format, NULL);
    BUG(carom_packing_load_memory, context, BAD_CONTEXT, "x", 1, format, "x", &made);
    BUG(carom_packing_load_memory, bytes, context, NULL, 1, format, "x", &made);
    BUG(carom_packing_load_memory, format, context, "x", 1, CAROM_PACKING_FORMAT_COUNT, "x", &made);
    BUG(carom_packing_load_memory, packing, context, "x", 1, format, "x", NULL);
    assert_int_equal(carom_packing_save_memory(context, packing, format, &bytes), CAROM_OK);
    FINE(carom_packing_load_memory, name, context, bytes.data, bytes.count, format, NULL, &made);
    carom_packing_destroy(made);
    carom_bytes_free(&bytes);
    FINE_VOID(carom_packing_format_name, format, (carom_packing_format)99);
    BUG_VOID(carom_packing_format_from_name, name, NULL, &format);
    BUG_VOID(carom_packing_format_from_name, format, "ply", NULL);
    for (int i = 0; i < CAROM_PACKING_FORMAT_COUNT; ++i) {
        assert_true(carom_packing_format_from_name(
            carom_packing_format_name((carom_packing_format)i), &format));
        assert_int_equal(format, i);
    }
}

static void covers(void **state) {
    (void)state;
    carom_cover *cover = NULL, *made = NULL;
    carom_cover_def of_cover = {.mesh = &view, .count = 3};
    carom_cover_info info;
    carom_cover_measure measure;
    carom_cover_spheres spheres = {0};
    carom_packing_cells cells = {0};
    const carom_ball ball = {{0.0, 0.0, 0.0}, 1.0};
    assert_int_equal(carom_cover_create(context, &of_cover, &cover), CAROM_OK);
    BUG(carom_cover_create, context, BAD_CONTEXT, &of_cover, &made);
    BUG(carom_cover_create, def, context, NULL, &made);
    BUG(carom_cover_create, cover, context, &of_cover, NULL);
    FINE_VOID(carom_cover_destroy, cover, NULL);
    BUG(carom_cover_get_info, cover, NULL, &info);
    BUG(carom_cover_get_info, info, cover, NULL);
    BUG(carom_cover_list_spheres, context, BAD_CONTEXT, cover, &spheres);
    BUG(carom_cover_list_spheres, cover, context, NULL, &spheres);
    BUG(carom_cover_list_spheres, spheres, context, cover, NULL);
    BUG_RESULT(carom_cover_spheres, carom_cover_list_spheres, spheres, context, cover, &result);
    BUG(carom_cover_list_cells, context, BAD_CONTEXT, cover, &cells);
    BUG(carom_cover_list_cells, cover, context, NULL, &cells);
    BUG(carom_cover_list_cells, cells, context, cover, NULL);
    BUG_RESULT(carom_packing_cells, carom_cover_list_cells, cells, context, cover, &result);
    FINE_VOID(carom_cover_spheres_free, result, NULL);
    BUG(carom_cover_measure_spheres, context, BAD_CONTEXT, &of_cover, &ball, 1, &measure);
    BUG(carom_cover_measure_spheres, def, context, NULL, &ball, 1, &measure);
    BUG(carom_cover_measure_spheres, spheres, context, &of_cover, NULL, 1, &measure);
    BUG(carom_cover_measure_spheres, measure, context, &of_cover, &ball, 1, NULL);
    /* A caller's buffer that is too small. */
    carom_ball one;
    carom_cover_spheres mine = {.data = &one, .capacity = 1, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_cover_list_spheres(context, cover, &mine), CAROM_MORE);
    assert_true(mine.count > 1);
    carom_cover_destroy(cover);
}

static void every_function_was_tried(void **state) {
    (void)state;
    static const char *const headers[] = {"pack.h", "cover.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparing),
        cmocka_unit_test(results),
        cmocka_unit_test(files),
        cmocka_unit_test(covers),
        cmocka_unit_test(every_function_was_tried),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
