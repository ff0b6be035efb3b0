/* SPDX-License-Identifier: MIT */
/* The events of a gas against a simulator that tests all pairs after each event. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gas/gas.h"
#include "tests/support/gas.h"

/* CAROM_LONG=1 runs the full campaign. */
static bool is_long(void) {
    const char *value = getenv("CAROM_LONG");
    return value != NULL && value[0] != '\0' && value[0] != '0';
}

/* ---- equality with the oracle ---------------------------------------------------------------- */

typedef struct follow {
    gas_oracle *oracle;
    carom_gas *gas;
    int left, done;
} follow;

static bool compare_event(void *user, const carom_gas_event *event) {
    follow *f = user;
    gas_oracle_event wanted = gas_oracle_next(f->oracle);
    uint64_t now = (uint64_t)f->gas->now + f->gas->epochs * (uint64_t)CAROM_GAS_EPOCH;
    if (wanted.since_create != now || wanted.kind != (int)event->kind ||
        wanted.a != (int)event->a || wanted.b != (int)event->b)
        fail_msg("event %d is kind %d of %u and %u at %lld, the oracle has kind %d of %d and %d at "
                 "%lld",
                 f->done, (int)event->kind, event->a, event->b, (long long)now, wanted.kind,
                 wanted.a, wanted.b, (long long)wanted.since_create);
    ++f->done;
    return --f->left == 0;
}

static void compare_bodies(const carom_gas *gas, const gas_oracle *oracle) {
    for (int i = 0; i < oracle->count; ++i) {
        const carom_gas_body *p = &gas->bodies[gas->slot_of[i]], *q = &oracle->bodies[i];
        assert_memory_equal(p->x, q->x, sizeof(p->x));
        assert_memory_equal(p->v, q->v, sizeof(p->v));
    }
}

static void follow_oracle(carom_context *context, const carom_gas_def *def,
                          const carom_gas_sphere *spheres, int count, int events) {
    static gas_oracle oracle;
    carom_gas *gas;
    carom_gas_info info;
    assert_ok(context, carom_gas_create(context, def, spheres, (uint64_t)count, &gas));
    assert_ok(context, carom_gas_get_info(gas, &info));
    gas_oracle_init(&oracle, def, info.tick, spheres, count);
    follow f = {&oracle, gas, events, 0};
    assert_ok(context, carom_gas_advance(context, gas, 1e6, compare_event, &f));
    assert_int_equal(f.done, events);
    compare_bodies(gas, &oracle);
    double overlap;
    assert_ok(context, carom_gas_overlap(context, gas, &overlap));
    assert_true(overlap < 1e-12);
    carom_gas_destroy(gas);
}

/* Boxes of all kinds, by seed. */
static carom_gas_def varied_def(uint64_t seed) {
    carom_gas_def def = {.edges = {6.0 + (double)(seed % 3), 7.0, 5.0 + (double)(seed % 5)}};
    for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = (seed >> axis & 1) != 0;
    if (seed % 4 == 3) def.acceleration = (carom_vec3){0.0, 0.1, -0.5};
    if (seed % 5 == 4) def.loss = 0.1, def.wall_loss = 0.05, def.elastic_below = 1e-3;
    return def;
}

static const carom_gas_method methods[] = {CAROM_GAS_CENTRE, CAROM_GAS_EXTENT,
                                           CAROM_GAS_NEIGHBOURS};

static void events_equal_those_of_the_oracle(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[64];
    int seeds = is_long() ? 100 : 8, events = is_long() ? 10000 : 1500;
    for (int seed = 0; seed < seeds; ++seed) {
        carom_gas_def def = varied_def((uint64_t)seed);
        double ratio = seed % 3 == 2 ? 3.0 : 1.0;
        int count =
            gas_random_spheres((uint64_t)seed, &def, 0.45, ratio, 16 + 48 * (seed % 2), spheres);
        for (size_t m = 0; m < COUNT_OF(methods); ++m)
            for (int queue = 0; queue < CAROM_GAS_QUEUE_COUNT; ++queue)
                for (int size = 0; size < 3; ++size) {
                    def.method = methods[m];
                    def.queue = (carom_gas_queue)queue;
                    def.cell_edge = size == 0 ? 0.0 : size == 1 ? 1.0 : 2.7;
                    follow_oracle(context, &def, spheres, count, events);
                }
    }
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
    status = carom_gas_create(context, &def, spheres, (uint64_t)count - 1, &gas);
    if (status == CAROM_OK) status = carom_gas_add(context, gas, &spheres[count - 1], 1, NULL);
    if (status == CAROM_OK) status = carom_gas_advance(context, gas, 1.0, NULL, NULL);
    if (status == CAROM_OK) status = carom_gas_remove(context, gas, &(uint32_t){7}, 1);
    if (status == CAROM_OK) status = carom_gas_advance(context, gas, 2.0, NULL, NULL);
    carom_gas_spheres result = {0};
    if (status == CAROM_OK) status = carom_gas_get_spheres(context, gas, &result);
    carom_gas_spheres_free(&result);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
    return status;
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
        cmocka_unit_test(events_equal_those_of_the_oracle),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests_name("gas", tests, NULL, NULL);
}
