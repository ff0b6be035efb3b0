/* SPDX-License-Identifier: MIT */
/* Distances of all pairs: equal to those of two nested loops, for each number of threads and each
 * instruction set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum_item.h"
#include "scenes/gas.h"
#include "tests/support/gas.h"

#define MOST_BINS 2000

static double along(carom_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/* All pairs; the weights in units of 2^-51, so that their order does not matter. */
static void count_plainly(carom_context *context, const carom_gas *gas, const carom_gas_def *def,
                          double step, double *weights, uint64_t count) {
    carom_gas_spheres spheres = {0};
    double smallest = HUGE_VAL;
    assert_ok(context, carom_gas_list_spheres(context, gas, &spheres));
    for (uint64_t i = 0; i < spheres.count; ++i) smallest = fmin(smallest, spheres.data[i].radius);
    static carom_sum sums[MOST_BINS];
    memset(sums, 0, sizeof(sums));
    for (uint64_t i = 0; i < spheres.count; ++i)
        for (uint64_t k = 0; k < i; ++k) {
            double square = 0.0, share = 1.0;
            for (int axis = 0; axis < 3; ++axis) {
                double edge = along(def->edges, axis), d = along(spheres.data[i].position, axis) -
                                                           along(spheres.data[k].position, axis);
                d = fabs(d);
                if (def->periodic[axis])
                    d = fmin(d, edge - d);
                else
                    share *= 1.0 - d / (edge - 2.0 * smallest);
                square += d * d;
            }
            double bin = floor(sqrt(square) / step);
            if (!(bin < (double)count && share > 0.0)) continue;
            carom_sum *sum = &sums[(uint64_t)bin];
            *sum = carom_sum_add(*sum, carom_sum_term(floor(1.0 / share * 0x1p51), 0));
        }
    for (uint64_t k = 0; k < count; ++k) weights[k] = carom_sum_value(sums[k], -51);
    carom_gas_spheres_free(&spheres);
}

/* Boxes of all kinds, wide and narrow, with and without walls, few and many bins. */
static void pairs_are_those_of_two_loops(void **state) {
    (void)state;
    static carom_gas_sphere spheres[600];
    static double wanted[MOST_BINS], found[MOST_BINS];
    int boxes = TEST_CASES(160), done = 0;
    for (int seed = 0; seed < boxes; ++seed) {
        carom_random random = {(uint64_t)seed};
        carom_gas_def def = {.edges = {6.0 + seed % 5, seed % 3 == 0 ? 1.7 : 7.0, 5.0 + seed % 7}};
        for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = (seed >> axis & 1) != 0;
        int count = gas_random_spheres((uint64_t)seed, &def, 0.2, seed % 2 == 0 ? 1.0 : 4.0,
                                       seed % 4 == 3 ? 20 : 600, spheres);
        double half = HUGE_VAL;
        carom_gas *gas;
        carom_context *one = test_context(1);
        assert_ok(one, gas_create(one, &def, spheres, (uint64_t)count, &gas));
        assert_ok(one, carom_gas_advance(one, gas, 0.3, NULL, NULL));
        for (int axis = 0; axis < 3; ++axis) {
            double reached = along(def.edges, axis);
            half = fmin(half, 0.5 * (def.periodic[axis] ? reached : reached - 2.0 * gas->smallest));
        }
        uint64_t bins = 1 + (uint64_t)(carom_random_uniform(&random) * (seed % 2 ? 40.0 : 1900.0));
        double range = half * (seed % 3 == 0 ? 1.0 : 0.05 + 0.95 * carom_random_uniform(&random));
        double step = range / (double)bins;
        count_plainly(one, gas, &def, step, wanted, bins);
        for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
            for (uint32_t threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
                carom_context *context = test_context_isa(threads, (carom_isa)isa);
                if (context == NULL) continue;
                memset(found, 0xFF, sizeof(found));
                assert_ok(context, carom_gas_count_distances(context, gas, step, found, bins));
                assert_memory_equal(found, wanted, bins * sizeof(*found));
                carom_context_destroy(context);
                ++done;
            }
        carom_gas_destroy(gas);
        carom_context_destroy(one);
    }
    assert_true(done >= 3 * boxes);
}

/* A lattice whose distances are at the ends of bins, where a quotient must be rounded right. */
static void ends_of_bins_are_exact(void **state) {
    (void)state;
    static double wanted[MOST_BINS], found[MOST_BINS];
    carom_gas_sphere spheres[1000];
    carom_context *context = test_context(2);
    for (int i = 0; i < 1000; ++i)
        spheres[i] = (carom_gas_sphere){
            .position = {0.35 + 0.7 * (i % 10), 0.35 + 0.7 * (i / 10 % 10), 0.35 + 0.7 * (i / 100)},
            .radius = 0.2};
    for (int walls = 0; walls < 2; ++walls)
        for (uint64_t bins = 1; bins < 700; bins += bins < 20 ? 1 : 97) {
            carom_gas_def def = {.edges = {7.0, 7.0, 7.0}, .periodic = {true, walls == 0, true}};
            carom_gas *gas;
            assert_ok(context, gas_create(context, &def, spheres, 1000, &gas));
            double step = (walls == 0 ? 3.5 : 2.8) / (double)bins;
            count_plainly(context, gas, &def, step, wanted, bins);
            assert_ok(context, carom_gas_count_distances(context, gas, step, found, bins));
            assert_memory_equal(found, wanted, bins * sizeof(*found));
            carom_gas_destroy(gas);
        }
    carom_context_destroy(context);
}

static void bad_ranges_get_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[2] = {{{2, 2, 2}, {0, 0, 0}, 1.0, 0.0}, {{7, 7, 7}, {0, 0, 0}, 1, 0}};
    carom_gas_def def = {.edges = {10.0, 10.0, 12.0}, .periodic = {true, false, true}};
    carom_gas *gas;
    double weights[8];
    assert_ok(context, gas_create(context, &def, spheres, 2, &gas));
    static const struct {
        double step;
        uint64_t count;
        const char *says;
    } bad[] = {{0.0, 8, "above zero"},
               {-1.0, 8, "above zero"},
               {(double)NAN, 8, "finite"},
               {HUGE_VAL, 8, "finite"},
               {0.1, 0, "0 bins"},
               {1e-9, 1000001, "1000001 bins"},
               {0.51, 8, "half of what centres can move"}};
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        assert_int_equal(
            carom_gas_count_distances(context, gas, bad[i].step, weights, bad[i].count),
            CAROM_BAD_INPUT);
        if (strstr(carom_context_message(context), bad[i].says) == NULL)
            fail_msg("%s", carom_context_message(context));
    }
    assert_ok(context, carom_gas_count_distances(context, gas, 0.5, weights, 8));
    assert_ok(context, carom_gas_remove(context, gas, &(uint32_t){1}, 1));
    weights[0] = 7.0;
    assert_ok(context, carom_gas_count_distances(context, gas, 0.5, weights, 8));
    assert_true(weights[0] == 0.0);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

static bool cancel(void *user, const char *what, double fraction) {
    (void)what, (void)fraction;
    return --*(int *)user <= 0;
}

static void cancelled_counts_change_nothing(void **state) {
    (void)state;
    double edge = scene_gas_edge(20000, 0.5, 0.3), weights[50], kept[50];
    carom_gas_def def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}};
    carom_gas_sphere *spheres = scene_gas_lattice(20000, 0.5, def.edges, 3);
    assert_non_null(spheres);
    for (uint32_t threads = 1; threads <= 2; ++threads) {
        int left = 0;
        carom_context_def how = {.threads = threads,
                                 .progress = cancel,
                                 .progress_user = &left,
                                 .progress_interval = -1.0};
        carom_context *context;
        carom_gas *gas;
        assert_int_equal(carom_context_create(&how, &context), CAROM_OK);
        left = 1 << 30;
        assert_ok(context, gas_create(context, &def, spheres, 20000, &gas));
        left = 2;
        memset(weights, 0x55, sizeof(weights));
        memcpy(kept, weights, sizeof(kept));
        assert_int_equal(carom_gas_count_distances(context, gas, 0.1, weights, 50),
                         CAROM_CANCELLED);
        assert_memory_equal(weights, kept, sizeof(kept));
        left = 1 << 30;
        assert_ok(context, carom_gas_count_distances(context, gas, 0.1, weights, 50));
        carom_gas_destroy(gas);
        carom_context_destroy(context);
    }
    free(spheres);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_two_loops),
        cmocka_unit_test(ends_of_bins_are_exact),
        cmocka_unit_test(bad_ranges_get_a_message),
        cmocka_unit_test(cancelled_counts_change_nothing),
    };
    return cmocka_run_group_tests_name("gas distances", tests, NULL, NULL);
}
