/* SPDX-License-Identifier: MIT */
/* Balls and trees give the same bits, for larger packings than the oracle can do: every hash, 1 to
 * 16 buckets and as many as there is use for, cells of every size, threads and instruction sets.
 * With CAROM_LONG=1 100,000 poses; CAROM_PART=3/16 runs one share of them. */
#include <math.h>
#include <string.h>

#include "balls/balls.h"
#include "tests/support/campaign.h"
#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

enum { OBJECTS = 4, POSES = 100 };

static carom_packing *packing[OBJECTS];
static carom_tree *tree[OBJECTS];

static int set_up(void **state) {
    (void)state;
    static const carom_shape shapes[OBJECTS] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_KNOT,
                                                CAROM_SHAPE_CONE, CAROM_SHAPE_BOX};
    carom_context *context = test_context(2);
    for (int i = 0; i < OBJECTS; ++i) {
        packing[i] = packing_of_shape(context, shapes[i], 0, 3000 >> i, NULL);
        carom_tree_def def = {.packing = packing[i]};
        assert_ok(context, carom_tree_create(context, &def, &tree[i]));
    }
    carom_context_destroy(context);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < OBJECTS; ++i) {
        carom_tree_destroy(tree[i]);
        carom_packing_destroy(packing[i]);
    }
    return 0;
}

static void check_pose(carom_context *context, carom_balls *const balls[OBJECTS],
                       carom_random *random, int n) {
    int i = n % OBJECTS, j = n / OBJECTS % OBJECTS;
    carom_pose pose_a = packing_random_pose(random, 10.0 * (n % 2));
    carom_pose pose_b = packing_random_pose(random, 0.3 * (n % 7));
    double scale = n % 4 == 3 ? carom_random_between(random, 0.1, 3.0) : 0.0;
    pose_b.t = carom_vec_add(pose_a.t, pose_b.t);
    if (n % 25 == 24) pose_b = pose_a; /* the same place */
    carom_tree_query_def of_tree = {.scale_b = scale, .skip_limits = n % 5 == 4};
    carom_balls_query_def of_balls = {.scale_b = scale, .skip_limits = n % 5 == 4};
    carom_packing_overlap expected, o;
    assert_ok(context,
              carom_tree_overlap(context, tree[i], &pose_a, tree[j], &pose_b, &of_tree, &expected));
    assert_ok(context,
              carom_balls_overlap(context, balls[i], &pose_a, balls[j], &pose_b, &of_balls, &o));
    assert_memory_equal(&o, &expected, sizeof(o));
    carom_balls_most most;
    if (n % 20 != 0) return;
    assert_ok(context, carom_balls_bound(context, balls[i], balls[j],
                                         CAROM_BALLS_PAIR_KIND_SECONDARY, &of_balls, &most));
    assert_true(o.pairs <= most.pairs && o.inner_pairs <= most.disjoint);
}

static void trees_give_the_same_bits(void **state) {
    (void)state;
    uint64_t blocks = campaign_is_long() ? 1000 : TEST_CASES(16);
    for (uint64_t block = 0; block < blocks; ++block) {
        if (!campaign_has(block)) continue;
        carom_random random = {block};
        carom_isa isa = (carom_isa)(1 + block % (CAROM_ISA_COUNT - 1));
        carom_context *context = test_context_isa(1 + (uint32_t)(block / 2 % 3), isa);
        if (context == NULL) continue;
        carom_balls_def def = {
            NULL,
            {.hash = (carom_grid_hash)(block % CAROM_GRID_HASH_COUNT),
             .buckets = block % 8 == 7 ? 1 + (uint32_t)(block / 8 % 16) : 0,
             .cell_scale = block % 5 == 4 ? ldexp(0.5, (int)(block / 5 % 5)) : 0.0}};
        carom_balls *balls[OBJECTS];
        for (int i = 0; i < OBJECTS; ++i) {
            def.packing = packing[i];
            assert_ok(context, carom_balls_create(context, &def, &balls[i]));
        }
        for (int n = 0; n < (campaign_is_long() ? POSES : POSES / 4); ++n)
            check_pose(context, balls, &random, n);
        for (int i = 0; i < OBJECTS; ++i) carom_balls_destroy(balls[i]);
        carom_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_give_the_same_bits)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
