/* SPDX-License-Identifier: MIT */
/* Callers' bugs in every function of balls.h: the assert handler is called once, the call returns
 * CAROM_INVALID, and nothing has changed. One thread. */
#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_balls_def def;
static carom_packing *packing;
static carom_balls *balls;

static int set_up(void **state) {
    (void)state;
    static const char ply[] =
        "ply\nformat ascii 1.0\ncomment shares\nelement vertex 1\nproperty double x\n"
        "property double y\nproperty double z\nproperty double radius\n"
        "property double secondary\nproperty double cover\nproperty double void\n"
        "property uint face\nend_header\n0 0 0 1 1.1 1.2 0.1 0\n";
    context = bugs_context();
    if (carom_packing_load_memory(context, ply, sizeof(ply) - 1, CAROM_PACKING_FORMAT_GUESS, "one",
                                  &packing) != CAROM_OK)
        return 1;
    def.packing = packing;
    return carom_balls_create(context, &def, &balls) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_balls_destroy(balls);
    carom_packing_destroy(packing);
    carom_context_destroy(context);
    return bugs_memory.live != 0;
}

static void preparing(void **state) {
    (void)state;
    carom_balls *made = NULL;
    carom_balls_info info;
    carom_packing_sphere s = {.radius = 1.0, .secondary = 1.0, .cover = 1.0};
    BUG(carom_balls_create, context, BAD_CONTEXT, &def, &made);
    BUG(carom_balls_create, def, context, NULL, &made);
    BUG(carom_balls_create, balls, context, &def, NULL);
    carom_balls_def bad = {0};
    BUG_IN(carom_balls_def, packing, carom_balls_create, context, &bad, &made);
    bad = def;
    bad.grid.hash = CAROM_GRID_HASH_COUNT;
    BUG_IN(carom_grid_def, hash, carom_balls_create, context, &bad, &made);
    FINE_VOID(carom_balls_destroy, balls, NULL);
    BUG(carom_balls_update, context, BAD_CONTEXT, balls, &s, 1, 0.0);
    BUG(carom_balls_update, balls, context, NULL, &s, 1, 0.0);
    BUG(carom_balls_update, spheres, context, balls, NULL, 1, 0.0);
    BUG(carom_balls_get_info, balls, NULL, &info);
    BUG(carom_balls_get_info, info, balls, NULL);
}

static void overlaps(void **state) {
    (void)state;
    carom_packing_overlap o;
    carom_pose pose = {0};
    carom_balls_query_def q = {0};
    carom_balls_pair pair = {.a = balls, .b = balls}, none = {.a = NULL, .b = balls},
                     other = {.a = balls, .b = NULL};
    BUG(carom_balls_overlap, context, BAD_CONTEXT, balls, &pose, balls, &pose, &q, &o);
    BUG(carom_balls_overlap, a, context, NULL, &pose, balls, &pose, &q, &o);
    FINE(carom_balls_overlap, pose_a, context, balls, NULL, balls, &pose, &q, &o);
    BUG(carom_balls_overlap, b, context, balls, &pose, NULL, &pose, &q, &o);
    FINE(carom_balls_overlap, pose_b, context, balls, &pose, balls, NULL, &q, &o);
    FINE(carom_balls_overlap, def, context, balls, &pose, balls, &pose, NULL, &o);
    BUG(carom_balls_overlap, overlap, context, balls, &pose, balls, &pose, &q, NULL);
    const carom_balls_query_def scaled_a = {.scale_a = 2.0}, scaled_b = {.scale_b = 1.0};
    BUG(carom_balls_overlap_batch, context, BAD_CONTEXT, &pair, 1, NULL, &o);
    BUG(carom_balls_overlap_batch, pairs, context, NULL, 1, NULL, &o);
    FINE(carom_balls_overlap_batch, pairs, context, NULL, 0, NULL, NULL);
    FINE(carom_balls_overlap_batch, def, context, &pair, 1, NULL, &o);
    BUG(carom_balls_overlap_batch, def, context, &pair, 1, &scaled_a, &o);
    BUG(carom_balls_overlap_batch, def, context, &pair, 1, &scaled_b, &o);
    BUG(carom_balls_overlap_batch, overlaps, context, &pair, 1, NULL, NULL);
    BUG_IN(carom_balls_pair, a, carom_balls_overlap_batch, context, &none, 1, NULL, &o);
    BUG_IN(carom_balls_pair, b, carom_balls_overlap_batch, context, &other, 1, NULL, &o);
}

static void pairs_and_bounds(void **state) {
    (void)state;
    carom_pairs pairs = {0};
    carom_pose pose = {0};
    carom_balls_query_def q = {0};
    carom_balls_pair_kind kind = CAROM_BALLS_PAIR_KIND_INNER, bad = CAROM_BALLS_PAIR_KIND_COUNT;
    carom_balls_most most;
    uint64_t count;
    bool any;
    BUG(carom_balls_pairs, context, BAD_CONTEXT, balls, &pose, balls, &pose, kind, &q, &pairs);
    BUG(carom_balls_pairs, a, context, NULL, &pose, balls, &pose, kind, &q, &pairs);
    FINE(carom_balls_pairs, pose_a, context, balls, NULL, balls, &pose, kind, &q, &pairs);
    BUG(carom_balls_pairs, b, context, balls, &pose, NULL, &pose, kind, &q, &pairs);
    FINE(carom_balls_pairs, pose_b, context, balls, &pose, balls, NULL, kind, &q, &pairs);
    FINE(carom_balls_pairs, def, context, balls, &pose, balls, &pose, kind, NULL, &pairs);
    BUG(carom_balls_pairs, kind, context, balls, &pose, balls, &pose, bad, &q, &pairs);
    BUG(carom_balls_pairs, pairs, context, balls, &pose, balls, &pose, kind, &q, NULL);
    BUG_RESULT(carom_pairs, carom_balls_pairs, pairs, context, balls, &pose, balls, &pose, kind, &q,
               &result);
    BUG(carom_balls_count, context, BAD_CONTEXT, balls, &pose, balls, &pose, kind, &q, &count);
    BUG(carom_balls_count, a, context, NULL, &pose, balls, &pose, kind, &q, &count);
    FINE(carom_balls_count, pose_a, context, balls, NULL, balls, &pose, kind, &q, &count);
    BUG(carom_balls_count, b, context, balls, &pose, NULL, &pose, kind, &q, &count);
    FINE(carom_balls_count, pose_b, context, balls, &pose, balls, NULL, kind, &q, &count);
    FINE(carom_balls_count, def, context, balls, &pose, balls, &pose, kind, NULL, &count);
    BUG(carom_balls_count, kind, context, balls, &pose, balls, &pose, bad, &q, &count);
    BUG(carom_balls_count, count, context, balls, &pose, balls, &pose, kind, &q, NULL);
    BUG(carom_balls_meet, context, BAD_CONTEXT, balls, &pose, balls, &pose, kind, &q, &any);
    BUG(carom_balls_meet, a, context, NULL, &pose, balls, &pose, kind, &q, &any);
    FINE(carom_balls_meet, pose_a, context, balls, NULL, balls, &pose, kind, &q, &any);
    BUG(carom_balls_meet, b, context, balls, &pose, NULL, &pose, kind, &q, &any);
    FINE(carom_balls_meet, pose_b, context, balls, &pose, balls, NULL, kind, &q, &any);
    FINE(carom_balls_meet, def, context, balls, &pose, balls, &pose, kind, NULL, &any);
    BUG(carom_balls_meet, kind, context, balls, &pose, balls, &pose, bad, &q, &any);
    BUG(carom_balls_meet, meet, context, balls, &pose, balls, &pose, kind, &q, NULL);
    BUG(carom_balls_bound, context, BAD_CONTEXT, balls, balls, kind, &q, &most);
    BUG(carom_balls_bound, a, context, NULL, balls, kind, &q, &most);
    BUG(carom_balls_bound, b, context, balls, NULL, kind, &q, &most);
    FINE(carom_balls_bound, def, context, balls, balls, kind, NULL, &most);
    BUG(carom_balls_bound, kind, context, balls, balls, bad, &q, &most);
    BUG(carom_balls_bound, most, context, balls, balls, kind, &q, NULL);
    carom_pairs_free(&pairs);
}

static void names(void **state) {
    (void)state;
    carom_balls_pair_kind kind = CAROM_BALLS_PAIR_KIND_INNER;
    FINE_VOID(carom_balls_pair_kind_name, kind, (carom_balls_pair_kind)99);
    assert_string_equal(carom_balls_pair_kind_name((carom_balls_pair_kind)99), "unknown");
    BUG_VOID(carom_balls_pair_kind_from_name, name, NULL, &kind);
    BUG_VOID(carom_balls_pair_kind_from_name, kind, "inner", NULL);
    for (int i = 0; i < CAROM_BALLS_PAIR_KIND_COUNT; ++i) {
        assert_true(carom_balls_pair_kind_from_name(
            carom_balls_pair_kind_name((carom_balls_pair_kind)i), &kind));
        assert_int_equal(kind, i);
    }
    assert_false(carom_balls_pair_kind_from_name("no such name", &kind));
}

static void every_function_was_tried(void **state) {
    (void)state;
    static const char *const headers[] = {"balls.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparing),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(pairs_and_bounds),
        cmocka_unit_test(names),
        cmocka_unit_test(every_function_was_tried),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
