/* SPDX-License-Identifier: MIT */
/* The events of a gas against a simulator that tests all pairs after each event. CAROM_LONG=1 runs
 * the full campaign. One thread. */
#include <stdio.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/gas_course.h"

/* ---- equality with the oracle ---------------------------------------------------------------- */

static gas_course course;

/* Boxes of all kinds, by seed. */
static carom_gas_def varied_def(uint64_t seed) {
    carom_gas_def def = {.edges = {6.0 + (double)(seed % 3), 7.0, 5.0 + (double)(seed % 5)}};
    for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = (seed >> axis & 1) != 0;
    bool endless = seed % 8 == 7 && seed % 5 == 4; /* ever faster, and collisions ever rarer */
    if (seed % 4 == 3 && !endless) def.acceleration = (carom_vec3){0.0, 0.1, -0.5};
    if (seed % 5 == 4) /* what is slow loses nothing, or collisions would become rare */
        def.loss = 0.1, def.wall_loss = 0.05, def.elastic_below = 0.05;
    return def;
}

static const carom_gas_method methods[] = {CAROM_GAS_METHOD_CENTRE, CAROM_GAS_METHOD_EXTENT,
                                           CAROM_GAS_METHOD_NEIGHBOURS};

/* The oracle leaves out images that stay away; the plain one tests all. */
static void the_oracle_is_the_plain_one(void **state) {
    (void)state;
    static gas_oracle quick, plain;
    carom_gas_sphere spheres[64];
    int seeds = campaign_is_long() ? 40 : TEST_CASES(8), events = campaign_is_long() ? 2000 : 150,
        done = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        carom_gas_def def = varied_def((uint64_t)seed);
        int count = gas_random_spheres((uint64_t)seed, &def, 0.45, 3.0, 32, spheres);
        gas_oracle_init(&quick, &def, 0x1p-52, spheres, count);
        gas_oracle_init(&plain, &def, 0x1p-52, spheres, count);
        gas_oracle_make_plain(&plain);
        for (int i = 0; i < events; ++i) {
            gas_oracle_event p = gas_oracle_next(&quick), q = gas_oracle_next(&plain);
            assert_memory_equal(&p, &q, sizeof(p));
        }
        ++done;
    }
    print_message("%d seeds: %d events each of the oracle equal those of the plain one\n", done,
                  events);
}

static void events_equal_those_of_the_oracle(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[64];
    int seeds = campaign_is_long() ? 100 : TEST_CASES(10),
        events = campaign_is_long() ? GAS_COURSE_MOST : 1500;
    int done = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        carom_gas_def def = varied_def((uint64_t)seed);
        double ratio = seed % 3 == 2 ? 3.0 : 1.0;
        int count =
            gas_random_spheres((uint64_t)seed, &def, 0.45, ratio, 16 + 48 * (seed % 2), spheres);
        gas_course_query(context, &course, &def, spheres, count, events);
        gas_course_follow_all(context, &course, &def, spheres, count);
        ++done;
    }
    print_message("%d seeds: %d events each equal the oracle's, bit for bit, in %d ways\n", done,
                  events, GAS_WAYS);
    carom_context_destroy(context);
}

/* Bounds in floats must not hide what comes first: spheres that hardly move against each other, far
 * faster ones, tiny ones, at rest, in wide boxes, falling. */
static void odd_speeds_fool_no_bound(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[GAS_ORACLE_MOST];
    int seeds = campaign_is_long() ? 60 : TEST_CASES(6), events = campaign_is_long() ? 3000 : 500,
        done = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        double edge = seed % 3 == 0 ? 9.0 : seed % 3 == 1 ? 40.0 : 3000.0;
        carom_gas_def def = {.edges = {edge, 1.1 * edge, 0.9 * edge},
                             .periodic = {true, seed % 2 == 0, true}};
        if (seed % 4 == 3) def.acceleration = (carom_vec3){0.0, 0.3, -0.2};
        int count = gas_random_spheres((uint64_t)seed + 500, &def, seed % 3 == 2 ? 30.0 : 0.4,
                                       seed % 2 == 0 ? 1.0 : 4.0, GAS_ORACLE_MOST, spheres);
        for (int i = 0; i < count; ++i) {
            carom_vec3 *v = &spheres[i].velocity;
            double share = i % 4 == 0 ? 1e-9 : i % 4 == 1 ? 1e-5 : i % 4 == 2 ? 1e-3 : 1.0;
            if (i % 31 == 30) share = 3e3;
            *v = (carom_vec3){1.0 + share * v->x, -0.7 + share * v->y, 0.4 + share * v->z};
        }
        gas_course_query(context, &course, &def, spheres, count, events);
        for (size_t m = 0; m < COUNT_OF(methods); ++m) {
            def.method = methods[m];
            gas_course_follow(context, &course, &def, spheres, count);
        }
        ++done;
    }
    print_message("%d seeds of odd speeds: %d events each equal the oracle's, in 3 ways\n", done,
                  events);
    carom_context_destroy(context);
}

/* Every instruction set, and the run cut into small steps, saved and resumed on the way. */
static void cuts_and_instruction_sets_change_nothing(void **state) {
    (void)state;
    carom_gas_sphere spheres[64];
    carom_gas_def def = {.edges = {6.0, 5.5, 6.5}, .periodic = {true, true, false}};
    int count = gas_random_spheres(77, &def, 0.45, 1.0, 64, spheres), events = 800;
    carom_context *context = test_context(1);
    gas_course_query(context, &course, &def, spheres, count, events);
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        carom_context *other = test_context_isa(1, (carom_isa)isa);
        if (other == NULL) continue;
        for (size_t m = 0; m < COUNT_OF(methods); ++m) {
            def.method = methods[m];
            gas_course_follow(other, &course, &def, spheres, count);
        }
        carom_context_destroy(other);
    }
    const char path[] = CAROM_BINARY_DIR "/test_gas.saved";
    for (size_t m = 0; m < COUNT_OF(methods); ++m) {
        carom_gas *gas, *again;
        def.method = methods[m];
        assert_ok(context, gas_create(context, &def, spheres, (uint64_t)count, &gas));
        gas_follower f = {gas, &course, 0};
        for (int cut = 0; f.done < events; ++cut) {
            double until = carom_gas_get_time(gas) + 0.01 * (cut % 7);
            assert_ok(context, carom_gas_advance(context, gas, until, gas_follower_compare, &f));
            assert_valid(carom_gas_validate(context, gas));
            if (cut % 16 != 5) continue;
            assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, path));
            def.method = methods[(m + (size_t)cut) % COUNT_OF(methods)];
            assert_ok(context, carom_gas_load(context, path, CAROM_GAS_FORMAT_GUESS, &def, &again));
            carom_gas_measures one, two;
            assert_ok(context, carom_gas_measure(context, gas, &one));
            assert_ok(context, carom_gas_measure(context, again, &two));
            assert_memory_equal(&one, &two, sizeof(one) - sizeof(double) * 4);
            carom_gas_destroy(gas);
            f.gas = gas = again;
        }
        gas_assert_bodies(gas, &course.oracle);
        carom_gas_destroy(gas);
    }
    remove(path);
    carom_context_destroy(context);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct small_work {
    carom_gas_method method;
    carom_gas_queue queue;
} small_work;

static carom_status run_small_gas(carom_allocator allocator, void *argument) {
    const small_work *work = argument;
    carom_gas_def def = {.edges = {6.0, 6.0, 6.0},
                         .periodic = {true, false, true},
                         .method = work->method,
                         .queue = work->queue};
    carom_gas_sphere spheres[40];
    int count = gas_random_spheres(5, &def, 0.4, 1.0, 40, spheres);
    carom_context_def context_def = {.threads = 1, .allocator = allocator};
    carom_context *context;
    carom_gas *gas = NULL;
    carom_status status = carom_context_create(&context_def, &context);
    if (status != CAROM_OK) return status;
    status = gas_create(context, &def, spheres, (uint64_t)count - 1, &gas);
    if (status == CAROM_OK) status = carom_gas_add(context, gas, &spheres[count - 1], 1, NULL);
    if (status == CAROM_OK) status = carom_gas_advance(context, gas, 1.0, NULL, NULL);
    if (status == CAROM_OK) status = carom_gas_remove(context, gas, &(uint32_t){7}, 1);
    if (status == CAROM_OK) status = carom_gas_advance(context, gas, 2.0, NULL, NULL);
    carom_gas_spheres result = {0};
    if (status == CAROM_OK) status = carom_gas_list_spheres(context, gas, &result);
    carom_gas_spheres_free(&result);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
    return status;
}

/* Once the queue has seen the worst, time passes without a single allocation. */
static void a_steady_gas_allocates_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[100];
    carom_gas_def def = {.edges = {8.0, 8.0, 8.0}, .periodic = {true, true, true}};
    int count = gas_random_spheres(9, &def, 0.45, 1.0, 100, spheres);
    for (size_t m = 0; m < COUNT_OF(methods); ++m) {
        carom_gas *gas;
        def.method = methods[m];
        assert_ok(context, gas_create(context, &def, spheres, (uint64_t)count, &gas));
        assert_ok(context, carom_gas_advance(context, gas, 50.0, NULL, NULL));
        uint64_t before = test_malloc_count();
        assert_ok(context, carom_gas_advance(context, gas, 60.0, NULL, NULL));
        assert_int_equal(test_malloc_count(), before);
        carom_gas_destroy(gas);
    }
    carom_context_destroy(context);
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    for (size_t m = 0; m < COUNT_OF(methods); ++m)
        for (int queue = 0; queue < CAROM_GAS_QUEUE_COUNT; ++queue) {
            small_work work = {methods[m], (carom_gas_queue)queue};
            test_allocation_failures(run_small_gas, &work);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_is_the_plain_one),
        cmocka_unit_test(events_equal_those_of_the_oracle),
        cmocka_unit_test(odd_speeds_fool_no_bound),
        cmocka_unit_test(cuts_and_instruction_sets_change_nothing),
        cmocka_unit_test(a_steady_gas_allocates_nothing),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests_name("gas", tests, NULL, NULL);
}
