/* SPDX-License-Identifier: MIT */
/* Callers' bugs in every function of tree.h and query.h: the assert handler is called once, the
 * call returns CAROM_INVALID, and nothing has changed. One thread. */
#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_packing *packing;
static carom_tree *tree;

static int set_up(void **state) {
    (void)state;
    carom_shape_def of_shape = {.shape = CAROM_SHAPE_BOX, .detail = 1};
    carom_mesh *mesh = NULL;
    carom_mesh_view view = {0};
    carom_packing_def of_packing = {.mesh = &view, .count = 20};
    context = bugs_context();
    if (carom_shape_make(context, &of_shape, &mesh) != CAROM_OK ||
        carom_mesh_get_view(mesh, &view) != CAROM_OK ||
        carom_packing_create(context, &of_packing, &packing) != CAROM_OK)
        return 1;
    carom_mesh_destroy(mesh);
    carom_tree_def def = {.packing = packing};
    return carom_tree_create(context, &def, &tree) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    carom_context_destroy(context);
    return bugs_memory.live != 0;
}

static void preparing(void **state) {
    (void)state;
    carom_tree *made = NULL;
    carom_tree_info info;
    carom_tree_def def = {.packing = packing}, bad = def;
    BUG(carom_tree_create, context, BAD_CONTEXT, &def, &made);
    BUG(carom_tree_create, def, context, NULL, &made);
    BUG(carom_tree_create, tree, context, &def, NULL);
    bad.packing = NULL;
    BUG_IN(carom_tree_def, packing, carom_tree_create, context, &bad, &made);
    bad = def;
    bad.method = CAROM_TREE_METHOD_COUNT;
    BUG_IN(carom_tree_def, method, carom_tree_create, context, &bad, &made);
    BUG(carom_tree_update, context, BAD_CONTEXT, tree, packing, NULL);
    BUG(carom_tree_update, tree, context, NULL, packing, NULL);
    BUG(carom_tree_update, packing, context, tree, NULL, NULL);
    FINE(carom_tree_update, mesh, context, tree, packing, NULL);
    FINE_VOID(carom_tree_destroy, tree, NULL);
    BUG(carom_tree_get_info, tree, NULL, &info);
    BUG(carom_tree_get_info, info, tree, NULL);
    carom_tree_method method = CAROM_TREE_METHOD_MEDIAN;
    FINE_VOID(carom_tree_method_name, method, (carom_tree_method)99);
    BUG_VOID(carom_tree_method_from_name, name, NULL, &method);
    BUG_VOID(carom_tree_method_from_name, method, "median", NULL);
    for (int i = 0; i < CAROM_TREE_METHOD_COUNT; ++i) {
        const char *name = carom_tree_method_name((carom_tree_method)i);
        assert_true(carom_tree_method_from_name(name, &method));
        assert_int_equal(method, i);
    }
    assert_false(carom_tree_method_from_name("no such name", &method));
}

#define QUERY(function, result_name, result)                                                       \
    do {                                                                                           \
        carom_tree_hint hint = {{0}};                                                              \
        carom_tree_query_def def = {.hint = &hint};                                                \
        carom_pose pose = {{1, 0, 0, 0}, {0, 0, 0}};                                               \
        BUG(function, context, BAD_CONTEXT, tree, NULL, tree, NULL, NULL, result);                 \
        BUG(function, a, context, NULL, NULL, tree, NULL, NULL, result);                           \
        FINE(function, pose_a, context, tree, NULL, tree, &pose, &def, result);                    \
        BUG(function, b, context, tree, NULL, NULL, NULL, NULL, result);                           \
        FINE(function, pose_b, context, tree, &pose, tree, NULL, &def, result);                    \
        FINE(function, def, context, tree, &pose, tree, &pose, NULL, result);                      \
        BUG(function, result_name, context, tree, NULL, tree, NULL, NULL, NULL);                   \
    } while (0)

static void queries(void **state) {
    (void)state;
    bool meet;
    carom_packing_overlap overlap;
    carom_tree_gap gap;
    carom_tree_result answer;
    QUERY(carom_tree_meet, meet, &meet);
    QUERY(carom_tree_overlap, overlap, &overlap);
    QUERY(carom_tree_distance, gap, &gap);
    QUERY(carom_tree_query, result, &answer);
    carom_numbers faces[2] = {{0}, {0}}, *one = &faces[0], *two = &faces[1];
    BUG(carom_tree_faces, context, BAD_CONTEXT, tree, NULL, tree, NULL, NULL, one, two);
    BUG(carom_tree_faces, a, context, NULL, NULL, tree, NULL, NULL, one, two);
    FINE(carom_tree_faces, pose_a, context, tree, NULL, tree, NULL, NULL, one, two);
    BUG(carom_tree_faces, b, context, tree, NULL, NULL, NULL, NULL, one, two);
    FINE(carom_tree_faces, pose_b, context, tree, NULL, tree, NULL, NULL, one, two);
    FINE(carom_tree_faces, def, context, tree, NULL, tree, NULL, NULL, one, two);
    BUG(carom_tree_faces, faces_a, context, tree, NULL, tree, NULL, NULL, NULL, two);
    BUG(carom_tree_faces, faces_b, context, tree, NULL, tree, NULL, NULL, one, NULL);
    BUG_RESULT(carom_numbers, carom_tree_faces, faces_a, context, tree, NULL, tree, NULL, NULL,
               &result, two);
    BUG_RESULT(carom_numbers, carom_tree_faces, faces_b, context, tree, NULL, tree, NULL, NULL, one,
               &result);
    carom_numbers_free(one);
    carom_numbers_free(two);
}

#define BATCH(function, results_name, results)                                                     \
    do {                                                                                           \
        carom_tree_hint hint = {{0}};                                                              \
        const carom_tree_pair pair = {.a = tree, .b = tree, .hint = &hint};                        \
        const carom_tree_pair no_a = {.b = tree}, no_b = {.a = tree};                              \
        const carom_tree_query_def hinted = {.hint = &hint};                                       \
        const carom_tree_query_def scaled_a = {.scale_a = 2.0}, scaled_b = {.scale_b = 2.0};       \
        BUG(function, context, BAD_CONTEXT, &pair, 1, NULL, results);                              \
        BUG(function, pairs, context, NULL, 1, NULL, results);                                     \
        FINE(function, pairs, context, NULL, 0, NULL, NULL);                                       \
        FINE(function, def, context, &pair, 1, NULL, results);                                     \
        BUG(function, def, context, &pair, 1, &hinted, results);                                   \
        BUG(function, def, context, &pair, 1, &scaled_a, results);                                 \
        BUG(function, def, context, &pair, 1, &scaled_b, results);                                 \
        BUG(function, results_name, context, &pair, 1, NULL, NULL);                                \
        BUG_IN(carom_tree_pair, a, function, context, &no_a, 1, NULL, results);                    \
        BUG_IN(carom_tree_pair, b, function, context, &no_b, 1, NULL, results);                    \
    } while (0)

static void batches(void **state) {
    (void)state;
    carom_packing_overlap overlap;
    carom_tree_gap gap;
    carom_tree_result answer;
    BATCH(carom_tree_overlap_batch, overlaps, &overlap);
    BATCH(carom_tree_distance_batch, gaps, &gap);
    BATCH(carom_tree_query_batch, results, &answer);
}

static void files(void **state) {
    (void)state;
    carom_tree *made = NULL;
    carom_bytes bytes = {0};
    carom_tree_format format = CAROM_TREE_FORMAT_CAROM;
    const carom_tree_format none = CAROM_TREE_FORMAT_COUNT;
    BUG(carom_tree_save, context, BAD_CONTEXT, tree, format, "x");
    BUG(carom_tree_save, tree, context, NULL, format, "x");
    BUG(carom_tree_save, format, context, tree, none, "x");
    BUG(carom_tree_save, path, context, tree, format, NULL);
    BUG(carom_tree_save_memory, context, BAD_CONTEXT, tree, format, &bytes);
    BUG(carom_tree_save_memory, tree, context, NULL, format, &bytes);
    BUG(carom_tree_save_memory, format, context, tree, none, &bytes);
    BUG(carom_tree_save_memory, bytes, context, tree, format, NULL);
    BUG_RESULT(carom_bytes, carom_tree_save_memory, bytes, context, tree, format, &result);
    BUG(carom_tree_load, context, BAD_CONTEXT, "x", format, &made);
    BUG(carom_tree_load, path, context, NULL, format, &made);
    BUG(carom_tree_load, format, context, "x", none, &made);
    BUG(carom_tree_load, tree, context, "x", format, NULL);
    BUG(carom_tree_load_memory, context, BAD_CONTEXT, "x", 1, format, "x", &made);
    BUG(carom_tree_load_memory, bytes, context, NULL, 1, format, "x", &made);
    BUG(carom_tree_load_memory, format, context, "x", 1, none, "x", &made);
    BUG(carom_tree_load_memory, tree, context, "x", 1, format, "x", NULL);
    assert_int_equal(carom_tree_save_memory(context, tree, format, &bytes), CAROM_OK);
    FINE(carom_tree_load_memory, name, context, bytes.data, bytes.count, format, NULL, &made);
    carom_tree_destroy(made);
    carom_bytes_free(&bytes);
    FINE_VOID(carom_tree_format_name, format, (carom_tree_format)99);
    assert_string_equal(carom_tree_format_name((carom_tree_format)99), "unknown");
    BUG_VOID(carom_tree_format_from_name, name, NULL, &format);
    BUG_VOID(carom_tree_format_from_name, format, "carom", NULL);
    for (int i = 0; i < CAROM_TREE_FORMAT_COUNT; ++i) {
        const char *name = carom_tree_format_name((carom_tree_format)i);
        assert_true(carom_tree_format_from_name(name, &format));
        assert_int_equal(format, i);
    }
    assert_false(carom_tree_format_from_name("no such name", &format));
}

static void advising(void **state) {
    (void)state;
    carom_query_def def = {.triangles_a = 100, .triangles_b = 100};
    carom_query_advice advice;
    carom_query_engine engine = CAROM_QUERY_ENGINE_SOLID;
    BUG(carom_query_advise, context, BAD_CONTEXT, &def, &advice);
    BUG(carom_query_advise, def, context, NULL, &advice);
    BUG(carom_query_advise, advice, context, &def, NULL);
    FINE_VOID(carom_query_engine_name, engine, (carom_query_engine)99);
    BUG_VOID(carom_query_engine_from_name, name, NULL, &engine);
    BUG_VOID(carom_query_engine_from_name, engine, "tree", NULL);
    for (int i = 0; i < CAROM_QUERY_ENGINE_COUNT; ++i) {
        const char *name = carom_query_engine_name((carom_query_engine)i);
        assert_true(carom_query_engine_from_name(name, &engine));
        assert_int_equal(engine, i);
    }
    assert_false(carom_query_engine_from_name("no such name", &engine));
}

static void every_function_was_tried(void **state) {
    (void)state;
    static const char *const headers[] = {"tree.h", "query.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparing), cmocka_unit_test(queries),
        cmocka_unit_test(batches),   cmocka_unit_test(files),
        cmocka_unit_test(advising),  cmocka_unit_test(every_function_was_tried),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
