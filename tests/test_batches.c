/* SPDX-License-Identifier: MIT */
/* Batches of soups and trees: every answer has the bytes of the single query, for any number of
 * threads and any instruction set; a failure names the pair, and what is before it is complete.
 * Batches of solids, balls and convex shapes are beside their engines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

#define SHAPES 5
#define PAIRS  160

static carom_context *context;                       /* one thread */
static carom_context *contexts[2 * CAROM_ISA_COUNT]; /* others */
static int context_count;
static carom_mesh *meshes[SHAPES];
static carom_soup *soups[SHAPES];
static carom_tree *trees[SHAPES]; /* the last one without a mesh */

static int set_up(void **state) {
    (void)state;
    static const carom_shape shapes[SHAPES] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_BOX, CAROM_SHAPE_KNOT,
                                               CAROM_SHAPE_CONE, CAROM_SHAPE_SPHERE};
    static const uint32_t details[SHAPES] = {24, 1, 64, 16, 3};
    context = test_context(1);
    for (uint32_t threads = 2; threads <= 5; threads += 3)
        context_count = test_contexts_of_isas(threads, contexts, context_count);
    for (int i = 0; i < SHAPES; ++i) {
        carom_packing *packing =
            packing_of_shape(context, shapes[i], details[i], 120 + 60 * (uint64_t)i, &meshes[i]);
        carom_mesh_view view;
        assert_ok(context, carom_mesh_get_view(meshes[i], &view));
        carom_soup_def of_soup = {.mesh = &view, .rigid = i % 2 == 0};
        carom_tree_def of_tree = {.packing = packing, .mesh = i + 1 < SHAPES ? &view : NULL};
        assert_ok(context, carom_soup_create(context, &of_soup, &soups[i]));
        assert_ok(context, carom_tree_create(context, &of_tree, &trees[i]));
        carom_packing_destroy(packing);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; ++i) {
        carom_mesh_destroy(meshes[i]);
        carom_soup_destroy(soups[i]);
        carom_tree_destroy(trees[i]);
    }
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
    carom_context_destroy(context);
    return 0;
}

/* ---- soups ----------------------------------------------------------------------------------- */

static void make_soup_pairs(carom_random *random, carom_soup_pair pairs[PAIRS]) {
    for (int i = 0; i < PAIRS; ++i) {
        pairs[i] = (carom_soup_pair){.a = soups[i % SHAPES], .b = soups[i / SHAPES % SHAPES]};
        if (i % 3 != 0) pairs[i].pose_a = packing_random_pose(random, 1.0);
        if (i % 4 != 0) pairs[i].pose_b = packing_random_pose(random, i % 2 == 0 ? 1.0 : 3.0);
    }
}

static void soups_in_a_batch_are_as_alone(void **state) {
    (void)state;
    static carom_soup_pair pairs[PAIRS];
    static carom_soup_gap gaps[PAIRS], expected[PAIRS];
    static bool meet[PAIRS], meet_expected[PAIRS];
    static const double limits[] = {0.0, 0.5, 1e-3};
    carom_random random = {61};
    uint64_t met = 0;
    make_soup_pairs(&random, pairs);
    for (int i = 0; i < PAIRS; ++i) {
        const carom_soup_pair *p = &pairs[i];
        assert_ok(context, carom_soup_cross_meet(context, p->a, &p->pose_a, p->b, &p->pose_b,
                                                 &meet_expected[i]));
        met += meet_expected[i];
    }
    assert_true(met > PAIRS / 8 && met < PAIRS - PAIRS / 8);
    for (int k = -1; k < context_count; ++k) {
        carom_context *with = k < 0 ? context : contexts[k];
        memset(meet, 0, sizeof(meet));
        assert_ok(with, carom_soup_cross_meet_batch(with, pairs, PAIRS, meet));
        assert_memory_equal(meet, meet_expected, sizeof(meet));
        assert_ok(with, carom_soup_cross_meet_batch(with, NULL, 0, NULL));
    }
    for (size_t l = 0; l < COUNT_OF(limits); ++l) {
        for (int i = 0; i < PAIRS; ++i) {
            const carom_soup_pair *p = &pairs[i];
            assert_ok(context, carom_soup_cross_distance(context, p->a, &p->pose_a, p->b,
                                                         &p->pose_b, limits[l], &expected[i]));
            assert_true((expected[i].distance == 0.0) == meet_expected[i]);
        }
        for (int k = -1; k < context_count; ++k) {
            carom_context *with = k < 0 ? context : contexts[k];
            memset(gaps, 0xA5, sizeof(gaps));
            assert_ok(with, carom_soup_cross_distance_batch(with, pairs, PAIRS, limits[l], gaps));
            assert_memory_equal(gaps, expected, sizeof(gaps));
            assert_ok(with, carom_soup_cross_distance_batch(with, NULL, 0, limits[l], NULL));
        }
    }
}

static void a_soup_that_fails_is_named(void **state) {
    (void)state;
    static carom_soup_pair pairs[PAIRS];
    static carom_soup_gap gaps[PAIRS];
    static bool meet[PAIRS];
    carom_random random = {62};
    make_soup_pairs(&random, pairs);
    pairs[23].pose_b.t.y = (double)NAN;
    memset(meet, 0xA5, sizeof(meet));
    for (int k = -1; k < context_count; ++k) {
        carom_context *with = k < 0 ? context : contexts[k];
        assert_fails(with, carom_soup_cross_meet_batch(with, pairs, PAIRS, meet), CAROM_BAD_INPUT,
                     "pair 23");
        assert_fails(with, carom_soup_cross_distance_batch(with, pairs, PAIRS, 0.0, gaps),
                     CAROM_BAD_INPUT, "pair 23");
        for (int i = 0; i < 23; ++i) { /* what was before it is complete */
            const carom_soup_pair *p = &pairs[i];
            carom_soup_gap gap;
            assert_ok(context, carom_soup_cross_distance(context, p->a, &p->pose_a, p->b,
                                                         &p->pose_b, 0.0, &gap));
            assert_memory_equal(&gap, &gaps[i], sizeof(gap));
            assert_int_equal(meet[i], gap.distance == 0.0);
        }
        assert_fails(with, carom_soup_cross_distance_batch(with, pairs, 3, -1.0, gaps),
                     CAROM_BAD_INPUT, "pair 0");
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void make_tree_pairs(carom_random *random, carom_tree_pair pairs[PAIRS]) {
    for (int i = 0; i < PAIRS; ++i) {
        pairs[i] = (carom_tree_pair){.a = trees[i % SHAPES], .b = trees[i / SHAPES % SHAPES]};
        if (i % 3 != 0) pairs[i].pose_a = packing_random_pose(random, 1.0);
        if (i % 4 != 0) pairs[i].pose_b = packing_random_pose(random, i % 2 == 0 ? 1.0 : 3.0);
        if (i % 5 == 0) pairs[i].scale_a = carom_random_between(random, 0.3, 2.0);
        if (i % 7 == 0) pairs[i].scale_b = carom_random_between(random, 0.3, 2.0);
    }
}

static carom_tree_query_def def_of(const carom_tree_pair *pair, const carom_tree_query_def *all,
                                   carom_tree_hint *hint) {
    carom_tree_query_def def = all != NULL ? *all : (carom_tree_query_def){0};
    def.scale_a = pair->scale_a;
    def.scale_b = pair->scale_b;
    def.hint = hint;
    return def;
}

static const carom_tree_query_def tree_defs[] = {
    {0},
    {.skip_limits = true},
    {.narrow_limits = true},
    {.work_budget = 200},
    {.tolerance = 0.3, .flip = true},
    {.exact_distance = true},
};

typedef struct tree_answers {
    carom_packing_overlap overlaps[PAIRS];
    carom_tree_gap gaps[PAIRS];
    carom_tree_result results[PAIRS];
    carom_tree_hint hints[PAIRS]; /* after two calls for distances */
} tree_answers;

static void query_one_by_one(const carom_tree_pair pairs[PAIRS], const carom_tree_query_def *all,
                             bool hinted, tree_answers *to) {
    memset(to, 0, sizeof(*to));
    for (int i = 0; i < PAIRS; ++i) {
        const carom_tree_pair *p = &pairs[i];
        carom_tree_query_def def = def_of(p, all, hinted ? &to->hints[i] : NULL);
        assert_ok(context, carom_tree_distance(context, p->a, &p->pose_a, p->b, &p->pose_b, &def,
                                               &to->gaps[i]));
        if (hinted)
            assert_ok(context, carom_tree_distance(context, p->a, &p->pose_a, p->b, &p->pose_b,
                                                   &def, &to->gaps[i]));
        def.hint = NULL;
        assert_ok(context, carom_tree_overlap(context, p->a, &p->pose_a, p->b, &p->pose_b, &def,
                                              &to->overlaps[i]));
        assert_ok(context, carom_tree_query(context, p->a, &p->pose_a, p->b, &p->pose_b, &def,
                                            &to->results[i]));
    }
}

static void query_all(carom_context *with, const carom_tree_pair pairs[PAIRS],
                      const carom_tree_query_def *def, bool hinted, tree_answers *to) {
    static carom_tree_pair own[PAIRS];
    memset(to, 0xA5, sizeof(*to));
    memset(to->hints, 0, sizeof(to->hints));
    assert_ok(with, carom_tree_overlap_batch(with, pairs, PAIRS, def, to->overlaps));
    assert_ok(with, carom_tree_query_batch(with, pairs, PAIRS, def, to->results));
    memcpy(own, pairs, sizeof(own));
    for (int i = 0; hinted && i < PAIRS; ++i) own[i].hint = &to->hints[i];
    assert_ok(with, carom_tree_distance_batch(with, own, PAIRS, def, to->gaps));
    if (hinted) assert_ok(with, carom_tree_distance_batch(with, own, PAIRS, def, to->gaps));
}

static void trees_in_a_batch_are_as_alone(void **state) {
    (void)state;
    static carom_tree_pair pairs[PAIRS];
    static tree_answers expected, found;
    carom_random random = {63};
    uint64_t apart = 0;
    make_tree_pairs(&random, pairs);
    for (size_t d = 0; d <= COUNT_OF(tree_defs); ++d)
        for (int hinted = 0; hinted < 2; ++hinted) {
            const carom_tree_query_def *def = d < COUNT_OF(tree_defs) ? &tree_defs[d] : NULL;
            query_one_by_one(pairs, def, hinted != 0, &expected);
            for (int k = -1; k < context_count; ++k) {
                carom_context *with = k < 0 ? context : contexts[k];
                query_all(with, pairs, def, hinted != 0, &found);
                assert_memory_equal(found.overlaps, expected.overlaps, sizeof(found.overlaps));
                assert_memory_equal(found.gaps, expected.gaps, sizeof(found.gaps));
                assert_memory_equal(found.results, expected.results, sizeof(found.results));
                assert_memory_equal(found.hints, expected.hints, sizeof(found.hints));
            }
            for (int i = 0; i < PAIRS; ++i) apart += expected.gaps[i].distance.lower > 0.0;
        }
    uint64_t all = 2 * (COUNT_OF(tree_defs) + 1) * PAIRS;
    assert_true(apart > all / 8 && apart < all - all / 8);
    assert_ok(context, carom_tree_overlap_batch(context, NULL, 0, NULL, NULL));
    assert_ok(context, carom_tree_distance_batch(context, NULL, 0, NULL, NULL));
    assert_ok(context, carom_tree_query_batch(context, NULL, 0, NULL, NULL));
}

/* The work is the sum of that of all pairs. */
static void trees_in_a_batch_work_as_much(void **state) {
    (void)state;
    static carom_tree_pair pairs[PAIRS];
    static tree_answers found;
    carom_random random = {64};
    carom_work sum = {0};
    make_tree_pairs(&random, pairs);
    for (int i = 0; i < PAIRS; ++i) {
        const carom_tree_pair *p = &pairs[i];
        carom_tree_query_def def = def_of(p, NULL, NULL);
        carom_work work;
        assert_ok(context, carom_tree_query(context, p->a, &p->pose_a, p->b, &p->pose_b, &def,
                                            &found.results[i]));
        assert_ok(context, carom_context_get_work(context, &work));
        sum.visits += work.visits;
        sum.candidates += work.candidates;
    }
    for (int k = -1; k < context_count; ++k) {
        carom_context *with = k < 0 ? context : contexts[k];
        carom_work work;
        assert_ok(with, carom_tree_query_batch(with, pairs, PAIRS, NULL, found.results));
        assert_ok(with, carom_context_get_work(with, &work));
        assert_int_equal(work.visits, sum.visits);
        assert_int_equal(work.candidates, sum.candidates);
    }
}

static void a_tree_that_fails_is_named(void **state) {
    (void)state;
    static carom_tree_pair pairs[PAIRS];
    static tree_answers found;
    carom_random random = {65};
    make_tree_pairs(&random, pairs);
    for (int bad = 0; bad < 3; ++bad) {
        carom_tree_pair kept = pairs[40 + bad];
        char name[16];
        snprintf(name, sizeof(name), "pair %d", 40 + bad);
        if (bad == 0) pairs[40 + bad].pose_a.t.x = (double)INFINITY;
        if (bad == 1) pairs[40 + bad].scale_b = -1.0;
        if (bad == 2) pairs[40 + bad].scale_a = 1e200;
        for (int k = -1; k < context_count; ++k) {
            carom_context *with = k < 0 ? context : contexts[k];
            assert_fails(with, carom_tree_overlap_batch(with, pairs, PAIRS, NULL, found.overlaps),
                         CAROM_BAD_INPUT, name);
            assert_fails(with, carom_tree_distance_batch(with, pairs, PAIRS, NULL, found.gaps),
                         CAROM_BAD_INPUT, name);
            assert_fails(with, carom_tree_query_batch(with, pairs, PAIRS, NULL, found.results),
                         CAROM_BAD_INPUT, name);
        }
        pairs[40 + bad] = kept;
    }
}

/* ---- memory and cancelling ------------------------------------------------------------------- */

/* Each kind of batch in turn. */
static carom_status query_some(carom_context *with, int which) {
    static carom_soup_pair of_soups[PAIRS];
    static carom_tree_pair of_trees[PAIRS];
    static carom_soup_gap gaps[PAIRS];
    static bool meet[PAIRS];
    static tree_answers found;
    carom_random random = {66};
    make_soup_pairs(&random, of_soups);
    make_tree_pairs(&random, of_trees);
    switch (which) {
    case 0:
        return carom_soup_cross_meet_batch(with, of_soups, PAIRS, meet);
    case 1:
        return carom_soup_cross_distance_batch(with, of_soups, PAIRS, 0.0, gaps);
    case 2:
        return carom_tree_overlap_batch(with, of_trees, PAIRS, NULL, found.overlaps);
    case 3:
        return carom_tree_distance_batch(with, of_trees, PAIRS, NULL, found.gaps);
    default:
        return carom_tree_query_batch(with, of_trees, PAIRS, NULL, found.results);
    }
}

static carom_status query_with(carom_allocator allocator, void *argument) {
    carom_context_def def = {.threads = 2, .allocator = allocator};
    carom_context *with;
    carom_status status = carom_context_create(&def, &with);
    if (status != CAROM_OK) return status;
    status = query_some(with, *(const int *)argument);
    if (status != CAROM_OK) assert_true(carom_context_message(with)[0] != '\0');
    carom_context_destroy(with);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    for (int which = 0; which < 5; ++which) test_allocation_failures(query_with, &which);
}

static void batches_allocate_nothing(void **state) {
    (void)state;
    for (int which = 0; which < 5; ++which) {
        for (int warm = 0; warm < 2; ++warm) assert_ok(context, query_some(context, which));
        uint64_t before = test_malloc_count();
        assert_ok(context, query_some(context, which));
        assert_int_equal(test_malloc_count(), before);
    }
}

static bool stop(void *user, const char *what, double fraction) {
    (void)what, (void)fraction;
    return --*(int *)user <= 0;
}

static void batches_of_trees_can_be_cancelled(void **state) {
    (void)state;
    for (int which = 2; which < 5; ++which)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            int left = 1;
            carom_context_def def = {.threads = threads, .progress = stop, .progress_user = &left};
            carom_context *with;
            assert_ok(NULL, carom_context_create(&def, &with));
            assert_int_equal(query_some(with, which), CAROM_CANCELLED);
            left = 1000000;
            assert_ok(with, query_some(with, which));
            carom_context_destroy(with);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(soups_in_a_batch_are_as_alone),
        cmocka_unit_test(a_soup_that_fails_is_named),
        cmocka_unit_test(trees_in_a_batch_are_as_alone),
        cmocka_unit_test(trees_in_a_batch_work_as_much),
        cmocka_unit_test(a_tree_that_fails_is_named),
        cmocka_unit_test(failing_allocations_leak_nothing),
        cmocka_unit_test(batches_allocate_nothing),
        cmocka_unit_test(batches_of_trees_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("batches", tests, set_up, tear_down);
}
