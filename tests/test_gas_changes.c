/* SPDX-License-Identifier: MIT */
/* Spheres that come, go and are set while time passes: the oracle does the same and agrees on every
 * event and every bit, in all methods and queues. Refused changes change nothing. One thread. */
#include <stdio.h>

#include "tests/support/campaign.h"
#include "tests/support/gas_course.h"

#define MOST 100

static gas_oracle oracle;

typedef struct run {
    carom_context *context;
    carom_gas *gas;
    carom_gas_def def;
    carom_random random;
    uint64_t events, changes, refused;
} run;

/* The living ones but `without`, as the gas tells them. */
static int living(run *r, int without, carom_gas_sphere *spheres, uint32_t *ids) {
    int count = 0;
    for (uint32_t id = 0; id < (uint32_t)oracle.count; ++id) {
        if (!oracle.alive[id] || (int)id == without) continue;
        assert_ok(r->context, carom_gas_find_sphere(r->context, r->gas, id, &spheres[count]));
        if (ids != NULL) ids[count] = id;
        ++count;
    }
    return count;
}

/* Up to a random time, event by event. */
static void pass_time(run *r) {
    double until = carom_gas_get_time(r->gas) + carom_random_between(&r->random, 0.0, 0.2);
    bool to_event = carom_random_uniform(&r->random) < 0.3; /* change right behind an event */
    for (;;) {
        carom_gas_event event;
        gas_oracle_event wanted;
        uint64_t before = gas_ticks(r->gas);
        assert_ok(r->context, carom_gas_next(r->context, r->gas, until, &event));
        int64_t ticks = (int64_t)(gas_ticks(r->gas) - before);
        bool happens = gas_oracle_wait(&oracle, ticks, &wanted);
        assert_true(happens == (event.kind != CAROM_GAS_EVENT_KIND_NONE));
        if (!happens) break;
        gas_assert_event(r->gas, &event, &wanted);
        ++r->events;
        if (to_event) break;
    }
    assert_valid(carom_gas_validate(r->context, r->gas));
    gas_assert_bodies(r->gas, &oracle);
    gas_assert_apart(r->context, r->gas);
}

static void add_one(run *r) {
    carom_gas_sphere others[MOST], s = {.radius = 0.3};
    int count = living(r, -1, others, NULL);
    uint32_t id;
    if (oracle.count == MOST || !gas_random_position(&r->random, &r->def, others, count, &s))
        return;
    s.velocity = gas_random_velocity(&r->random);
    assert_ok(r->context, carom_gas_add(r->context, r->gas, &s, 1, &id));
    assert_int_equal(id, oracle.count);
    gas_oracle_put(&oracle, (int)id, &s);
    ++r->changes;
}

static void set_one(run *r) {
    carom_gas_sphere others[MOST], s = {.radius = 0.25, .mass = 3.0};
    uint32_t id = (uint32_t)(carom_random_next(&r->random) % (uint64_t)oracle.count);
    int count = living(r, (int)id, others, NULL);
    bool moves = carom_random_uniform(&r->random) < 0.5 || !oracle.alive[id];
    if (moves) {
        if (!gas_random_position(&r->random, &r->def, others, count, &s)) return;
    } else {
        assert_ok(r->context, carom_gas_find_sphere(r->context, r->gas, id, &s));
    }
    s.velocity = gas_random_velocity(&r->random);
    assert_ok(r->context, carom_gas_set(r->context, r->gas, &id, &s, 1));
    gas_oracle_put(&oracle, (int)id, &s);
    ++r->changes;
}

static void remove_one(run *r) {
    uint32_t id = (uint32_t)(carom_random_next(&r->random) % (uint64_t)oracle.count);
    if (!oracle.alive[id]) return;
    assert_ok(r->context, carom_gas_remove(r->context, r->gas, &id, 1));
    gas_oracle_take(&oracle, (int)id);
    ++r->changes;
}

/* Onto another sphere: refused, whether it lives, is dead or new. */
static void try_overlap(run *r) {
    carom_gas_sphere spheres[MOST];
    uint32_t ids[MOST];
    int count = living(r, -1, spheres, ids);
    if (count < 2) return;
    assert_int_equal(carom_gas_add(r->context, r->gas, &spheres[0], 1, NULL), CAROM_BAD_INPUT);
    for (uint32_t id = 0; id < (uint32_t)oracle.count; ++id)
        assert_int_equal(carom_gas_set(r->context, r->gas, &id, &spheres[ids[0] == id ? 1 : 0], 1),
                         CAROM_BAD_INPUT);
    ++r->refused;
}

static void changes_on_the_way_are_the_oracles(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    int seeds = campaign_is_long() ? 120 : TEST_CASES(24), rounds = campaign_is_long() ? 3000 : 200;
    uint64_t events = 0, changes = 0, refused = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        carom_gas_sphere spheres[MOST];
        run r = {.context = context,
                 .def = {.edges = {5.0, 4.0, 4.5},
                         .periodic = {seed % 2 == 0, true, seed % 4 < 2},
                         .method = (carom_gas_method)(CAROM_GAS_METHOD_CENTRE + seed % 3),
                         .queue = (carom_gas_queue)(seed / 3 % 2),
                         .tick = seed % 5 == 4 ? 0x1p-62 : 0x1p-50},
                 .random = {(uint64_t)seed}};
        if (seed % 3 == 1) r.def.acceleration = (carom_vec3){0.0, 0.0, -0.2};
        int count = gas_random_spheres((uint64_t)seed, &r.def, 0.3, 1.5, 40, spheres);
        assert_ok(context, gas_create(context, &r.def, spheres, (uint64_t)count, &r.gas));
        gas_oracle_init(&oracle, &r.def, r.def.tick, spheres, count);
        for (int round = 0; round < rounds; ++round) {
            pass_time(&r);
            double which = carom_random_uniform(&r.random);
            if (which < 0.3)
                add_one(&r);
            else if (which < 0.6)
                set_one(&r);
            else if (which < 0.85)
                remove_one(&r);
            else
                try_overlap(&r);
        }
        events += r.events, changes += r.changes, refused += r.refused;
        carom_gas_destroy(r.gas);
    }
    print_message("%llu events equal the oracle's between %llu changes and %llu refused ones\n",
                  (unsigned long long)events, (unsigned long long)changes,
                  (unsigned long long)refused);
    assert_true(changes > (uint64_t)rounds / 4);
    carom_context_destroy(context);
}

/* Ids are never used twice, so a gas may have given out far more than it has spheres. */
static void a_gas_of_many_dead_is_saved(void **state) {
    (void)state;
    enum { SIDE = 44, BATCH = SIDE * SIDE * SIDE, BATCHES = 13 };
    static carom_gas_sphere batch[BATCH];
    static uint32_t ids[BATCH];
    carom_context *context = test_context(1);
    carom_gas_def def = {.edges = {SIDE + 4.0, SIDE, SIDE}};
    carom_gas *gas, *again;
    carom_gas_sphere few[3] = {
        {.position = {SIDE + 2.0, 7.0, 7.0}, .velocity = {0.1, 2.0, 0.3}, .radius = 0.5},
        {.position = {SIDE + 2.0, 9.0, 7.0}, .velocity = {0.2, -1.0, 0.1}, .radius = 0.5},
        {.position = {SIDE + 2.0, 9.0, 9.0}, .velocity = {0.0, -1.0, 0.1}, .radius = 0.5}};
    for (int i = 0; i < BATCH; ++i)
        batch[i] = (carom_gas_sphere){
            .position = {0.5 + i % SIDE, 0.5 + i / SIDE % SIDE, 0.5 + i / SIDE / SIDE},
            .radius = 0.2};
    assert_ok(context, gas_create(context, &def, few, 2, &gas));
    for (int n = 0; n < BATCHES; ++n) {
        assert_ok(context, carom_gas_add(context, gas, batch, BATCH, ids));
        assert_ok(context, carom_gas_remove(context, gas, ids, BATCH));
    }
    assert_ok(context, carom_gas_add(context, gas, &few[2], 1, ids));
    assert_true(ids[0] > UINT32_C(1) << 20);
    const char path[] = CAROM_BINARY_DIR "/test_gas_changes.saved";
    assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, path));
    assert_ok(context, carom_gas_load(context, path, CAROM_GAS_FORMAT_GUESS, NULL, &again));
    for (int i = 0; i < 100; ++i) {
        carom_gas_event a, b;
        assert_ok(context, carom_gas_next(context, gas, 1e6, &a));
        assert_ok(context, carom_gas_next(context, again, 1e6, &b));
        assert_true(a.kind != CAROM_GAS_EVENT_KIND_NONE && a.time == b.time && a.kind == b.kind);
        assert_true(a.a == b.a && a.b == b.b && a.index == b.index);
    }
    carom_gas_sphere dead;
    assert_fails(context, carom_gas_find_sphere(context, again, 5, &dead), CAROM_BAD_INPUT, "id 5");
    carom_gas_destroy(again);
    /* Without its padding the file is not believed. */
    FILE *file = fopen(path, "rb");
    static unsigned char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_in_range(size, 8 * (34 + 3 * 11 + 1000), 8 * (34 + 3 * 11 + 1100));
    file = fopen(path, "wb");
    fwrite(bytes, 1, 8 * (34 + 3 * 11), file);
    fclose(file);
    assert_fails(context, carom_gas_load(context, path, CAROM_GAS_FORMAT_GUESS, NULL, &again),
                 CAROM_BAD_FILE, "cut short");
    remove(path);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_on_the_way_are_the_oracles),
        cmocka_unit_test(a_gas_of_many_dead_is_saved),
    };
    return cmocka_run_group_tests_name("gas changes", tests, NULL, NULL);
}
