/* SPDX-License-Identifier: MIT */
/* Callers' bugs in calls on convex shapes; see tests/test_caller_bugs.c. */
#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_hull *hull;

static int set_up(void **state) {
    (void)state;
    static const carom_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    carom_context_def def = {.threads = 1, .allocator = test_allocator(&bugs_memory)};
    carom_hull_def points_def = {.mesh = {.positions = points, .vertex_count = 4}};
    assert_ok(NULL, carom_context_create(&def, &context));
    assert_ok(context, carom_hull_create(context, &points_def, &hull));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    carom_hull_destroy(hull);
    carom_context_destroy(context);
    assert_int_equal(bugs_memory.live, 0);
    return 0;
}

static void hulls(void **state) {
    (void)state;
    carom_hull_def def = {0};
    carom_hull *made;
    carom_hull_info info;
    carom_mesh *mesh;
    BUG(carom_hull_create, context, BAD_CONTEXT, &def, &made);
    FINE(carom_hull_create, def, context, NULL, &made);
    BUG(carom_hull_create, hull, context, &def, NULL);
    FINE_VOID(carom_hull_destroy, hull, NULL);
    BUG(carom_hull_get_info, context, BAD_CONTEXT, hull, &info);
    BUG(carom_hull_get_info, hull, context, NULL, &info);
    BUG(carom_hull_get_info, info, context, hull, NULL);
    BUG(carom_hull_to_mesh, context, BAD_CONTEXT, hull, &mesh);
    BUG(carom_hull_to_mesh, hull, context, NULL, &mesh);
    BUG(carom_hull_to_mesh, mesh, context, hull, NULL);
}

/* The three queries have the same parameters but the last. */
#define QUERY(function, last, place)                                                               \
    do {                                                                                           \
        carom_convex unknown = {.kind = CAROM_CONVEX_KIND_COUNT};                                  \
        carom_convex bare = {.kind = CAROM_CONVEX_KIND_HULL};                                      \
        carom_convex silent = {.kind = CAROM_CONVEX_KIND_SUPPORT};                                 \
        carom_convex_def def = {.start = CAROM_CONVEX_START_COUNT};                                \
        BUG(function, context, BAD_CONTEXT, &a, NULL, &a, NULL, NULL, NULL, place);                \
        BUG(function, a, context, NULL, NULL, &a, NULL, NULL, NULL, place);                        \
        BUG(function, a, context, &unknown, NULL, &a, NULL, NULL, NULL, place);                    \
        BUG(function, a, context, &bare, NULL, &a, NULL, NULL, NULL, place);                       \
        BUG(function, b, context, &a, NULL, NULL, NULL, NULL, NULL, place);                        \
        BUG(function, b, context, &a, NULL, &silent, NULL, NULL, NULL, place);                     \
        FINE(function, pose_a, context, &a, NULL, &a, &pose, NULL, NULL, place);                   \
        FINE(function, pose_b, context, &a, &pose, &a, NULL, NULL, NULL, place);                   \
        FINE(function, def, context, &a, &pose, &a, NULL, NULL, NULL, place);                      \
        FINE(function, cache, context, &a, &pose, &a, NULL, NULL, NULL, place);                    \
        BUG(function, last, context, &a, NULL, &a, NULL, NULL, NULL, NULL);                        \
        BUG_IN(carom_convex_def, start, function, context, &a, NULL, &a, NULL, &def, NULL, place); \
        def = (carom_convex_def){.search = CAROM_CONVEX_SEARCH_COUNT};                             \
        BUG_IN(carom_convex_def, search, function, context, &a, NULL, &a, NULL, &def, NULL,        \
               place);                                                                             \
    } while (0)

static void queries(void **state) {
    (void)state;
    carom_convex a = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
    carom_pose pose = {.t = {3.0, 0.0, 0.0}};
    carom_convex_result found;
    carom_convex_most most;
    bool meet;
    QUERY(carom_convex_meet, meet, &meet);
    QUERY(carom_convex_distance, result, &found);
    QUERY(carom_convex_depth, result, &found);
    BUG(carom_convex_bound, context, BAD_CONTEXT, &a, &a, &most);
    BUG(carom_convex_bound, a, context, NULL, &a, &most);
    BUG(carom_convex_bound, b, context, &a, NULL, &most);
    BUG(carom_convex_bound, most, context, &a, &a, NULL);
}

static void contacts(void **state) {
    (void)state;
    carom_convex a = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
    carom_pose pose = {.t = {3.0, 0.0, 0.0}};
    carom_ray ray = {.origin = {9.0, 0.0, 0.0}, .direction = {-1.0, 0.0, 0.0}};
    carom_manifold m;
    carom_convex_hit hit;
    BUG(carom_convex_manifold, context, BAD_CONTEXT, &a, NULL, &a, NULL, 0.0, NULL, &m);
    BUG(carom_convex_manifold, a, context, NULL, NULL, &a, NULL, 0.0, NULL, &m);
    BUG(carom_convex_manifold, b, context, &a, NULL, NULL, NULL, 0.0, NULL, &m);
    FINE(carom_convex_manifold, pose_a, context, &a, NULL, &a, &pose, 0.0, NULL, &m);
    FINE(carom_convex_manifold, pose_b, context, &a, &pose, &a, NULL, 0.0, NULL, &m);
    FINE(carom_convex_manifold, cache, context, &a, &pose, &a, NULL, 0.0, NULL, &m);
    BUG(carom_convex_manifold, manifold, context, &a, NULL, &a, NULL, 0.0, NULL, NULL);
    BUG(carom_convex_ray, context, BAD_CONTEXT, &a, NULL, &ray, &hit);
    BUG(carom_convex_ray, shape, context, NULL, NULL, &ray, &hit);
    FINE(carom_convex_ray, pose, context, &a, NULL, &ray, &hit);
    BUG(carom_convex_ray, ray, context, &a, NULL, NULL, &hit);
    BUG(carom_convex_ray, hit, context, &a, NULL, &ray, NULL);
}

static void batches(void **state) {
    (void)state;
    carom_convex_results found = {0};
    carom_convex_body body = {0};
    carom_convex_batch batch = {0};
    BUG(carom_convex_pairs, context, BAD_CONTEXT, &batch, &found);
    BUG(carom_convex_pairs, batch, context, NULL, &found);
    BUG(carom_convex_pairs, results, context, &batch, NULL);
    BUG_RESULT(carom_convex_results, carom_convex_pairs, results, context, &batch, &result);
    batch.body_count = 1;
    BUG(carom_convex_pairs, batch, context, &batch, &found);
    batch.bodies = &body; /* without a shape */
    BUG(carom_convex_pairs, batch, context, &batch, &found);
    batch = (carom_convex_batch){.pair_count = 1};
    BUG(carom_convex_pairs, batch, context, &batch, &found);
    batch = (carom_convex_batch){.question = CAROM_CONVEX_QUESTION_COUNT};
    BUG(carom_convex_pairs, batch, context, &batch, &found);
    batch = (carom_convex_batch){.def = {.search = CAROM_CONVEX_SEARCH_COUNT}};
    BUG(carom_convex_pairs, batch, context, &batch, &found);
}

static void motions(void **state) {
    (void)state;
    carom_convex a = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0};
    carom_convex bare = {.kind = CAROM_CONVEX_KIND_HULL};
    carom_motion still = {.to = {.t = {0, 0, 0}}};
    carom_convex_moving pair = {&a, &a, still, still};
    carom_convex_toi toi;
    carom_convex_tois tois = {0};
    BUG(carom_convex_find_toi, context, BAD_CONTEXT, &a, NULL, &a, NULL, NULL, &toi);
    BUG(carom_convex_find_toi, a, context, NULL, NULL, &a, NULL, NULL, &toi);
    BUG(carom_convex_find_toi, a, context, &bare, NULL, &a, NULL, NULL, &toi);
    BUG(carom_convex_find_toi, b, context, &a, NULL, NULL, NULL, NULL, &toi);
    BUG(carom_convex_find_toi, b, context, &a, NULL, &bare, NULL, NULL, &toi);
    BUG(carom_convex_find_toi, toi, context, &a, NULL, &a, NULL, NULL, NULL);
    FINE(carom_convex_find_toi, motion_a, context, &a, NULL, &a, &still, NULL, &toi);
    FINE(carom_convex_find_toi, motion_b, context, &a, &still, &a, NULL, NULL, &toi);
    FINE(carom_convex_find_toi, def, context, &a, NULL, &a, NULL, NULL, &toi);
    BUG(carom_convex_find_tois, context, BAD_CONTEXT, &pair, 1, NULL, &tois);
    BUG(carom_convex_find_tois, pairs, context, NULL, 1, NULL, &tois);
    FINE(carom_convex_find_tois, pairs, context, NULL, 0, NULL, &tois);
    FINE(carom_convex_find_tois, def, context, NULL, 0, NULL, &tois);
    BUG(carom_convex_find_tois, tois, context, &pair, 1, NULL, NULL);
    BUG_RESULT(carom_convex_tois, carom_convex_find_tois, tois, context, &pair, 1, NULL, &result);
    pair.a = NULL;
    BUG_IN(carom_convex_moving, a, carom_convex_find_tois, context, &pair, 1, NULL, &tois);
    pair.a = &a;
    pair.b = &bare;
    BUG_IN(carom_convex_moving, b, carom_convex_find_tois, context, &pair, 1, NULL, &tois);
    carom_convex_tois_free(&tois);
}

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
    } while (0)

static void names(void **state) {
    (void)state;
    NAMES(carom_convex_kind, kind, CAROM_CONVEX_KIND_COUNT);
    NAMES(carom_convex_start, start, CAROM_CONVEX_START_COUNT);
    NAMES(carom_convex_search, search, CAROM_CONVEX_SEARCH_COUNT);
    NAMES(carom_convex_question, question, CAROM_CONVEX_QUESTION_COUNT);
}

static void nothing_was_left_out(void **state) {
    (void)state;
    static const char *const headers[] = {"convex.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls),
        cmocka_unit_test(queries),
        cmocka_unit_test(contacts),
        cmocka_unit_test(batches),
        cmocka_unit_test(motions),
        cmocka_unit_test(names),
        cmocka_unit_test(nothing_was_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
