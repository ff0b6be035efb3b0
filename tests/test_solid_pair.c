/* SPDX-License-Identifier: MIT */
/* Pairs of triangles in batches, on every instruction set, against one pair at a time: all sums,
 * counts and flags of a search are equal, for shapes, for lattice solids where everything
 * coincides, at odd scales, and where terms or edges exceed their bounds. One thread. */
#include <math.h>
#include <string.h>

#include "solid/solid_pair_cpu.h"
#include "tests/support/shapes.h"
#include "tests/support/solid_check.h"
#include "tests/support/solids.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

/* Another function, so that the search calls it for each pair. */
static void consider_one(const carom_solid_query *query, carom_solid_accumulator *acc,
                         const carom_solid_face *a, const carom_solid_face *b) {
    carom_solid_consider(query, acc, a, b);
}

/* Makes every zero positive: the first of equal numbers that is met stays. */
static void clean_bounds(carom_solid_accumulator *acc) {
    acc->low = carom_vec(acc->low.x + 0.0, acc->low.y + 0.0, acc->low.z + 0.0);
    acc->high = carom_vec(acc->high.x + 0.0, acc->high.y + 0.0, acc->high.z + 0.0);
}

static carom_solid_accumulator search(carom_context *with, carom_solid_query query) {
    carom_solid_accumulator acc;
    query.context = with;
    carom_solid_accumulator_begin(&acc);
    assert_ok(with, carom_solid_search(&query, &acc));
    clean_bounds(&acc);
    return acc;
}

typedef struct tried {
    uint64_t searches, pairs, undecided, too_large, links;
} tried;

static void compare(const carom_solid_query *query, carom_context *const isas[CAROM_ISA_COUNT],
                    tried *t) {
    carom_solid_query single = *query;
    single.consider = consider_one;
    assert_true(carom_solid_batch_can(query) && !carom_solid_batch_can(&single));
    carom_solid_accumulator expected;
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        if (isas[isa] == NULL) continue;
        carom_solid_accumulator acc = search(isas[isa], *query);
        expected = search(isas[isa], single);
        assert_memory_equal(&acc, &expected, sizeof(acc));
    }
    ++t->searches;
    t->pairs += expected.pairs;
    t->undecided += expected.undecided;
    t->too_large += expected.too_large;
    t->links += expected.moved[0] || expected.moved[1];
}

/* The query as it is, with long edges, with an error of its pose, and with bounds too narrow for
 * some terms. */
static void compare_variants(const carom_solid *a, const carom_solid *b, const carom_pose *pose,
                             carom_random *random, carom_context *const isas[CAROM_ISA_COUNT],
                             tried *t) {
    carom_solid_query query;
    assert_ok(context, carom_solid_query_begin(context, a, NULL, b, pose, &query));
    compare(&query, isas, t);
    carom_solid_query other = query;
    other.long_edge = query.reach * carom_random_uniform(random) * 0.2;
    other.rounded[0] = query.reach * carom_random_uniform(random);
    other.rounded[1] = query.reach * carom_random_uniform(random);
    other.moved_sign = -1;
    compare(&other, isas, t);
    other = query;
    carom_solid_query_scale(&other, query.reach * carom_random_uniform(random) * 0.3);
    compare(&other, isas, t);
    other = query;
    for (int i = 0; i < 2; ++i) other.error_units[i] *= 0x1p8 / carom_random_uniform(random);
    compare(&other, isas, t);
}

static void begin_all(carom_context *isas[CAROM_ISA_COUNT]) {
    isas[CAROM_ISA_BEST] = NULL;
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        isas[isa] = test_context_isa(1, (carom_isa)isa);
}

static void end_all(carom_context *isas[CAROM_ISA_COUNT]) {
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        carom_context_destroy(isas[isa]);
}

static carom_pose random_pose(carom_random *random, double far) {
    carom_pose pose = {.q.w = carom_random_normal(random), .q.x = carom_random_normal(random)};
    pose.q.y = carom_random_normal(random);
    pose.q.z = carom_random_normal(random);
    pose.t =
        carom_vec(carom_random_between(random, -far, far), carom_random_between(random, -far, far),
                  carom_random_between(random, -far, far));
    return pose;
}

/* Each kind of pair came up: in a few cases, not all of them need to. */
static void assert_kinds(const tried *t) {
    assert_true(t->searches > 0);
    if (TEST_MANY_CASES)
        assert_true(t->pairs > 0 && t->undecided > 0 && t->too_large > 0 && t->links > 0);
}

static void shapes_give_the_same_sums(void **state) {
    (void)state;
    static const carom_shape_def defs[] = {
        {.shape = CAROM_SHAPE_KNOT, .detail = 256},     {.shape = CAROM_SHAPE_TORUS, .detail = 12},
        {.shape = CAROM_SHAPE_GLOBE, .detail = 32},     {.shape = CAROM_SHAPE_CHAIN, .detail = 12},
        {.shape = CAROM_SHAPE_CYLINDER, .detail = 128}, {.shape = CAROM_SHAPE_SPHERE, .detail = 3}};
    carom_context *isas[CAROM_ISA_COUNT];
    carom_random random = {71};
    tried t = {0};
    carom_solid *solids[COUNT_OF(defs)];
    begin_all(isas);
    for (size_t i = 0; i < COUNT_OF(defs); ++i) solids[i] = shape_solid(context, &defs[i], i == 5);
    for (int i = 0; i < TEST_CASES(40); ++i) {
        const carom_solid *a = solids[carom_random_next(&random) % (COUNT_OF(defs) - 1)];
        const carom_solid *b = solids[carom_random_next(&random) % COUNT_OF(defs)];
        carom_pose pose = random_pose(&random, 0.8);
        if (i % 5 == 1 || i % 5 == 2) a = solids[1];
        if (i % 5 == 1) pose = (carom_pose){.t = {0x1p-40, 0.0, 0.25}};
        if (i % 5 == 2) pose = (carom_pose){.q.w = 1.0, .q.z = 0x1p-30};
        if (i % 10 == 3) a = b = solids[1], pose = (carom_pose){0};
        if (b == solids[5] && a == b) continue;
        compare_variants(a, b, &pose, &random, isas, &t);
    }
    print_message("%llu searches, %llu pairs, %llu undecided, %llu too large\n",
                  (unsigned long long)t.searches, (unsigned long long)t.pairs,
                  (unsigned long long)t.undecided, (unsigned long long)t.too_large);
    assert_kinds(&t);
    for (size_t i = 0; i < COUNT_OF(defs); ++i) carom_solid_destroy(solids[i]);
    end_all(isas);
}

static void lattice_solids_give_the_same_sums(void **state) {
    (void)state;
    static solid_mesh a, b;
    carom_context *isas[CAROM_ISA_COUNT];
    carom_random random = {72};
    tried t = {0};
    begin_all(isas);
    for (int i = 0; i < TEST_CASES(150); ++i) {
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 3 == 0) solid_append(&a, &b); /* winds twice */
        if (i % 4 == 1) solid_slit(&random, &b, 8);
        carom_pose pose =
            i % 2 == 0 ? solid_lattice_turn(&random, 5) : solid_lattice_shift(&random, 5);
        if (i % 5 == 4) pose = random_pose(&random, 6.0);
        double size = i % 6 == 5 ? 0x1p70 : i % 6 == 4 ? 0x1p-70 : 1.0;
        solid_scale(&a, size);
        solid_scale(&b, size);
        pose.t = carom_vec_scale(pose.t, size);
        carom_solid *x = solid_prepare(context, &a, false);
        carom_solid *y = solid_prepare(context, &b, i % 7 == 6);
        compare_variants(x, y, &pose, &random, isas, &t);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
    }
    print_message("%llu searches, %llu pairs, %llu undecided, %llu too large\n",
                  (unsigned long long)t.searches, (unsigned long long)t.pairs,
                  (unsigned long long)t.undecided, (unsigned long long)t.too_large);
    assert_kinds(&t);
    end_all(isas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_give_the_same_sums),
        cmocka_unit_test(lattice_solids_give_the_same_sums),
    };
    return cmocka_run_group_tests_name("solid_pair", tests, set_up, tear_down);
}
