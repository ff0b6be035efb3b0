/* SPDX-License-Identifier: MIT */
/* Callers' bugs in calls on convex shapes; see tests/test_caller_bugs.c. */
#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_hull *hull;

static int set_up(void **state) {
    (void)state;
    static const carom_vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    carom_hull_def points_def = {.mesh =
                                     &(carom_mesh_view){.positions = points, .vertex_count = 4}};
    context = bugs_context();
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
    BUG(carom_hull_get_info, hull, NULL, &info);
    BUG(carom_hull_get_info, info, hull, NULL);
    BUG(carom_hull_to_mesh, context, BAD_CONTEXT, hull, &mesh);
    BUG(carom_hull_to_mesh, hull, context, NULL, &mesh);
    BUG(carom_hull_to_mesh, mesh, context, hull, NULL);
}

/* The three queries have the same parameters but the last. */
#define QUERY(function, last, output)                                                              \
    do {                                                                                           \
        carom_convex unknown = {.kind = CAROM_CONVEX_KIND_COUNT};                                  \
        carom_convex bare = {.kind = CAROM_CONVEX_KIND_HULL};                                      \
        carom_convex silent = {.kind = CAROM_CONVEX_KIND_SUPPORT};                                 \
        carom_convex_query_def def = {.start = CAROM_CONVEX_START_COUNT};                          \
        BUG(function, context, BAD_CONTEXT, &a, NULL, &a, NULL, NULL, output);                     \
        BUG(function, a, context, NULL, NULL, &a, NULL, NULL, output);                             \
        BUG(function, a, context, &unknown, NULL, &a, NULL, NULL, output);                         \
        BUG(function, a, context, &bare, NULL, &a, NULL, NULL, output);                            \
        BUG(function, b, context, &a, NULL, NULL, NULL, NULL, output);                             \
        BUG(function, b, context, &a, NULL, &silent, NULL, NULL, output);                          \
        FINE(function, pose_a, context, &a, NULL, &a, &pose, NULL, output);                        \
        FINE(function, pose_b, context, &a, &pose, &a, NULL, NULL, output);                        \
        FINE(function, def, context, &a, &pose, &a, NULL, NULL, output);                           \
        BUG(function, last, context, &a, NULL, &a, NULL, NULL, NULL);                              \
        BUG_IN(carom_convex_query_def, start, function, context, &a, NULL, &a, NULL, &def,         \
               output);                                                                            \
        def = (carom_convex_query_def){.search = CAROM_CONVEX_SEARCH_COUNT};                       \
        BUG_IN(carom_convex_query_def, search, function, context, &a, NULL, &a, NULL, &def,        \
               output);                                                                            \
        def = (carom_convex_query_def){.hint = NULL};                                              \
        FINE(function, def, context, &a, &pose, &a, NULL, &def, output);                           \
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
    carom_convex_manifold m;
    carom_hit hit;
    BUG(carom_convex_contacts, context, BAD_CONTEXT, &a, NULL, &a, NULL, 0.0, NULL, &m);
    BUG(carom_convex_contacts, a, context, NULL, NULL, &a, NULL, 0.0, NULL, &m);
    BUG(carom_convex_contacts, b, context, &a, NULL, NULL, NULL, 0.0, NULL, &m);
    FINE(carom_convex_contacts, pose_a, context, &a, NULL, &a, &pose, 0.0, NULL, &m);
    FINE(carom_convex_contacts, pose_b, context, &a, &pose, &a, NULL, 0.0, NULL, &m);
    FINE(carom_convex_contacts, def, context, &a, &pose, &a, NULL, 0.0, NULL, &m);
    const carom_convex_query_def unknown = {.start = CAROM_CONVEX_START_COUNT};
    BUG(carom_convex_contacts, def, context, &a, &pose, &a, NULL, 0.0, &unknown, &m);
    BUG(carom_convex_contacts, manifold, context, &a, NULL, &a, NULL, 0.0, NULL, NULL);
    BUG(carom_convex_cast_rays, context, BAD_CONTEXT, &a, NULL, &ray, 1, &hit);
    BUG(carom_convex_cast_rays, shape, context, NULL, NULL, &ray, 1, &hit);
    FINE(carom_convex_cast_rays, pose, context, &a, NULL, &ray, 1, &hit);
    BUG(carom_convex_cast_rays, rays, context, &a, NULL, NULL, 1, &hit);
    BUG(carom_convex_cast_rays, hits, context, &a, NULL, &ray, 1, NULL);
    FINE(carom_convex_cast_rays, rays, context, &a, NULL, NULL, 0, NULL);
}

/* The three batches have the same parameters but the last. */
#define BATCH(function, last, output)                                                              \
    do {                                                                                           \
        carom_convex_hint hint = {0};                                                              \
        carom_convex unknown = {.kind = CAROM_CONVEX_KIND_COUNT};                                  \
        carom_convex bare = {.kind = CAROM_CONVEX_KIND_HULL};                                      \
        carom_convex_pair pair = {.a = &a, .b = &a, .hint = &hint}, bad = pair;                    \
        carom_convex_query_def def = {.start = CAROM_CONVEX_START_COUNT};                          \
        BUG(function, context, BAD_CONTEXT, &pair, 1, NULL, output);                               \
        BUG(function, pairs, context, NULL, 1, NULL, output);                                      \
        FINE(function, pairs, context, NULL, 0, NULL, NULL);                                       \
        FINE(function, def, context, &pair, 1, NULL, output);                                      \
        BUG(function, def, context, &pair, 1, &def, output);                                       \
        def = (carom_convex_query_def){.search = CAROM_CONVEX_SEARCH_COUNT};                       \
        BUG(function, def, context, &pair, 1, &def, output);                                       \
        def = (carom_convex_query_def){.hint = &hint};                                             \
        BUG(function, def, context, &pair, 1, &def, output);                                       \
        BUG(function, last, context, &pair, 1, NULL, NULL);                                        \
        bad.a = NULL;                                                                              \
        BUG_IN(carom_convex_pair, a, function, context, &bad, 1, NULL, output);                    \
        bad.a = &unknown;                                                                          \
        BUG_IN(carom_convex_pair, a, function, context, &bad, 1, NULL, output);                    \
        bad = pair;                                                                                \
        bad.b = NULL;                                                                              \
        BUG_IN(carom_convex_pair, b, function, context, &bad, 1, NULL, output);                    \
        bad.b = &bare;                                                                             \
        BUG_IN(carom_convex_pair, b, function, context, &bad, 1, NULL, output);                    \
        bad = pair;                                                                                \
        bad.hint = NULL;                                                                           \
        FINE(function, pairs, context, &bad, 1, NULL, output);                                     \
    } while (0)

static void batches(void **state) {
    (void)state;
    carom_convex a = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
    carom_convex_result found;
    bool meet;
    BATCH(carom_convex_meet_batch, meet, &meet);
    BATCH(carom_convex_distance_batch, results, &found);
    BATCH(carom_convex_depth_batch, results, &found);
}

static void motions(void **state) {
    (void)state;
    carom_convex a = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0};
    carom_convex bare = {.kind = CAROM_CONVEX_KIND_HULL};
    carom_motion still = {.to = {.t = {0, 0, 0}}};
    carom_convex_moving_pair pair = {&a, &a, still, still};
    carom_advance advance;
    BUG(carom_convex_advance, context, BAD_CONTEXT, &a, NULL, &a, NULL, NULL, &advance);
    BUG(carom_convex_advance, a, context, NULL, NULL, &a, NULL, NULL, &advance);
    BUG(carom_convex_advance, a, context, &bare, NULL, &a, NULL, NULL, &advance);
    BUG(carom_convex_advance, b, context, &a, NULL, NULL, NULL, NULL, &advance);
    BUG(carom_convex_advance, b, context, &a, NULL, &bare, NULL, NULL, &advance);
    BUG(carom_convex_advance, advance, context, &a, NULL, &a, NULL, NULL, NULL);
    FINE(carom_convex_advance, motion_a, context, &a, NULL, &a, &still, NULL, &advance);
    FINE(carom_convex_advance, motion_b, context, &a, &still, &a, NULL, NULL, &advance);
    FINE(carom_convex_advance, def, context, &a, NULL, &a, NULL, NULL, &advance);
    BUG(carom_convex_advance_batch, context, BAD_CONTEXT, &pair, 1, NULL, &advance);
    BUG(carom_convex_advance_batch, pairs, context, NULL, 1, NULL, &advance);
    FINE(carom_convex_advance_batch, pairs, context, NULL, 0, NULL, &advance);
    FINE(carom_convex_advance_batch, advances, context, NULL, 0, NULL, NULL);
    FINE(carom_convex_advance_batch, def, context, &pair, 1, NULL, &advance);
    BUG(carom_convex_advance_batch, advances, context, &pair, 1, NULL, NULL);
    pair.a = NULL;
    BUG_IN(carom_convex_moving_pair, a, carom_convex_advance_batch, context, &pair, 1, NULL,
           &advance);
    pair.a = &a;
    pair.b = &bare;
    BUG_IN(carom_convex_moving_pair, b, carom_convex_advance_batch, context, &pair, 1, NULL,
           &advance);
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
