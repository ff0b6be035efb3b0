/* SPDX-License-Identifier: MIT */
/* Spheres whose radii are of any ratio, in levels of cells, against all pairs: the same events, bit
 * for bit, on any number of threads, after resuming and after changes of the set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gas/gas_levels.h"
#include "tests/support/campaign.h"
#include "tests/support/gas_course.h"
#include "tests/support/gas_pairs.h"

#define MOST_SPHERES 10000

static carom_gas_sphere spheres[MOST_SPHERES];
static gas_course course;

/* Adds up to `count` spheres of radii from `least` to `most`, evenly in their logarithms; every
 * other one just beside a sphere that is there already, of whatever size. */
static int add_spheres(carom_random *random, const carom_gas_def *def, int made, int count,
                       double least, double most) {
    const bool walls[3] = {!def->periodic[0], !def->periodic[1], !def->periodic[2]};
    const double edge[3] = {def->edges.x, def->edges.y, def->edges.z};
    const int first = made;
    for (int attempt = 0; attempt < 30 * count && made < first + count; ++attempt) {
        carom_gas_sphere *s = &spheres[made];
        double r = least * pow(most / least, carom_random_uniform(random));
        *s = (carom_gas_sphere){.radius = r, .mass = pow(r / most, 2.0)};
        s->velocity = gas_random_velocity(random);
        if (made % 2 == 0 || first == 0) {
            made += gas_random_position(random, def, spheres, made, s);
            continue;
        }
        const carom_gas_sphere *at = &spheres[(int)(carom_random_uniform(random) * first)];
        carom_vec3 n = gas_random_velocity(random);
        double far = (at->radius + r * carom_random_between(random, 1.001, 3.0)) /
                     sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
        double x[3] = {at->position.x + n.x * far, at->position.y + n.y * far,
                       at->position.z + n.z * far};
        bool inside = true;
        for (int axis = 0; axis < 3; ++axis) {
            if (walls[axis]) inside = inside && x[axis] > r && x[axis] < edge[axis] - r;
            if (!walls[axis]) x[axis] -= edge[axis] * floor(x[axis] / edge[axis]);
        }
        s->position = (carom_vec3){x[0], x[1], x[2]};
        made += inside && gas_fits(def, spheres, made, s);
    }
    return made;
}

/* Radii from 1 to `least`: few large ones, and the more the smaller. */
static int fill(uint64_t seed, const carom_gas_def *def, double least, int count) {
    carom_random random = {seed};
    int made = 0;
    spheres[made++] = (carom_gas_sphere){.position = {def->edges.x / 2, def->edges.y / 2, 1.001},
                                         .velocity = gas_random_velocity(&random),
                                         .radius = 1.0,
                                         .mass = 1.0};
    made = add_spheres(&random, def, made, 3, 0.4, 0.9);
    made = add_spheres(&random, def, made, count / 30, 0.1, 0.4);
    made = add_spheres(&random, def, made, count / 4, least < 0.05 ? 0.05 : least, 0.1);
    made = add_spheres(&random, def, made, count - made - 1, least, sqrt(least) * 0.3);
    int before = made;
    for (int tries = 0; tries < 100 && made == before; ++tries)
        made = add_spheres(&random, def, made, 1, least, least);
    assert_true(made > before && spheres[made - 1].radius == least);
    return made;
}

static carom_gas_def make_def(int seed) {
    carom_gas_def def = {.edges = {3.1, 3.7, 4.3}};
    for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = ((seed + 5) >> axis & 1) != 0;
    if (seed % 4 == 1) def.acceleration = (carom_vec3){0.0, 0.1, -0.3};
    if (seed % 4 == 2) def.loss = 0.2, def.wall_loss = 0.1, def.elastic_below = 0.01;
    return def;
}

static uint32_t levels_of(carom_context *context, const carom_gas_def *def, int count) {
    carom_gas *gas;
    assert_ok(context, gas_create(context, def, spheres, (uint64_t)count, &gas));
    assert_valid(carom_gas_validate(context, gas));
    uint32_t levels = gas->levels.count;
    carom_gas_destroy(gas);
    return levels;
}

static void few_spheres_follow_the_oracle(void **state) {
    (void)state;
    static const double least[] = {0.08, 0.01, 1e-3, 1e-3, 1e-6, 1e-12};
    carom_context *context = test_context(1);
    int seeds = campaign_is_long() ? 24 : TEST_CASES(24);
    int events = campaign_is_long() ? 2000 : 500;
    uint64_t compared = 0, levels = 0, gases = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        carom_gas_def def = make_def(seed);
        int count = fill(100 + (uint64_t)seed, &def, least[seed % (int)COUNT_OF(least)], 90);
        levels += levels_of(context, &def, count);
        ++gases;
        gas_course_query(context, &course, &def, spheres, count, events);
        gas_course_follow_all(context, &course, &def, spheres, count);
        compared += (uint64_t)events * GAS_WAYS;
    }
    print_message("few spheres, %.1f levels: %llu events equal the oracle's\n",
                  (double)levels / (double)gases, (unsigned long long)compared);
    assert_true(levels >= 2 * gases);
    carom_context_destroy(context);
}

typedef struct pairs_follower {
    const carom_gas *gas;
    gas_pairs *pairs;
    int left;
} pairs_follower;

static bool follow_pairs(void *user, const carom_gas_event *event) {
    pairs_follower *f = user;
    gas_oracle_event wanted = gas_pairs_next(f->pairs);
    gas_assert_event(f->gas, event, &wanted);
    return --f->left == 0;
}

/* Steps in windows, and those that several threads took. */
static uint64_t steps_in_windows, steps_at_once;

static void add_steps(const carom_gas *gas) {
    steps_in_windows += gas->counts.steps;
    steps_at_once += gas->counts.steps - gas->counts.kept;
}

/* Thousands of spheres of radii 1 : 1000, on one thread and on several. */
static void many_spheres_follow_all_pairs(void **state) {
    (void)state;
    int gases = campaign_is_long() ? 12 : TEST_CASES(16);
    uint64_t compared = 0;
    for (int seed = 0; seed < gases; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        static const uint32_t threads[] = {1, 2, 3, 8};
        carom_context *context = test_context(threads[seed % 4]);
        carom_gas_def def = make_def(seed);
        carom_gas_info info;
        carom_gas *gas;
        /* Many cells are wholly inside the largest sphere, and some just outside. */
        if (seed % 2 == 0) def.edges = (carom_vec3){2.1, 2.3, 2.2};
        int count = fill((uint64_t)seed, &def, 1e-3, campaign_is_long() ? MOST_SPHERES : 1500);
        int events = campaign_is_long() ? 5000 : 400;
        assert_ok(context, gas_create(context, &def, spheres, (uint64_t)count, &gas));
        gas->parallel_from = 1;
        assert_ok(context, carom_gas_get_info(gas, &info));
        assert_true(gas->levels.count >= 3);
        pairs_follower f = {gas, gas_pairs_create(&def, info.tick, spheres, count), events};
        assert_ok(context, carom_gas_advance(context, gas, 1e9, follow_pairs, &f));
        assert_int_equal(f.left, 0);
        for (int i = 0; i < count; ++i) {
            const carom_gas_body *p = &gas->bodies[gas->slot_of[i]],
                                 *q = gas_pairs_body(f.pairs, i);
            assert_memory_equal(p->x, q->x, sizeof(p->x));
            assert_memory_equal(p->v, q->v, sizeof(p->v));
        }
        assert_valid(carom_gas_validate(context, gas));
        assert_ok(context, carom_gas_get_info(gas, &info));
        assert_true(seed % 4 == 0 || info.threads_used > 1);
        assert_true(seed % 4 == 0 || gas->counts.windows > 0);
        add_steps(gas);
        gas_pairs_destroy(f.pairs);
        carom_gas_destroy(gas);
        carom_context_destroy(context);
        compared += (uint64_t)events;
    }
    print_message("many spheres: %llu events equal those of all pairs\n",
                  (unsigned long long)compared);
    print_message("%llu of %llu steps in windows were on several threads\n",
                  (unsigned long long)steps_at_once, (unsigned long long)steps_in_windows);
}

/* A gas that is saved and resumed on other threads ends in the same state. */
static void a_resumed_gas_goes_the_same_way(void **state) {
    (void)state;
    carom_context *one = test_context(1), *three = test_context(3);
    int seeds = TEST_CASES(16);
    for (int seed = 0; seed < seeds; ++seed) {
        carom_gas_def def = make_def(seed);
        int count = fill(500 + (uint64_t)seed, &def, 1e-3, 1000);
        carom_bytes bytes = {0}, wanted = {0}, found = {0};
        carom_gas *gas;
        assert_ok(one, gas_create(one, &def, spheres, (uint64_t)count, &gas));
        assert_ok(one, carom_gas_advance(one, gas, 0.02, NULL, NULL));
        assert_ok(one, carom_gas_save_memory(one, gas, CAROM_GAS_FORMAT_GUESS, &bytes));
        assert_ok(one, carom_gas_advance(one, gas, 0.04, NULL, NULL));
        assert_valid(carom_gas_validate(one, gas));
        assert_ok(one, carom_gas_reset_measures(one, gas));
        assert_ok(one, carom_gas_save_memory(one, gas, CAROM_GAS_FORMAT_GUESS, &wanted));
        carom_gas_destroy(gas);
        assert_ok(three, carom_gas_load_memory(three, bytes.data, bytes.count,
                                               CAROM_GAS_FORMAT_GUESS, NULL, NULL, &gas));
        assert_ok(three, carom_gas_advance(three, gas, 0.04, NULL, NULL));
        assert_ok(three, carom_gas_reset_measures(three, gas));
        assert_ok(three, carom_gas_save_memory(three, gas, CAROM_GAS_FORMAT_GUESS, &found));
        assert_int_equal(wanted.count, found.count);
        assert_memory_equal(wanted.data, found.data, wanted.count);
        carom_gas_destroy(gas);
        carom_bytes_free(&bytes);
        carom_bytes_free(&wanted);
        carom_bytes_free(&found);
    }
    carom_context_destroy(one);
    carom_context_destroy(three);
}

static void assert_follows(carom_context *context, const carom_gas_def *def, carom_gas *gas,
                           gas_oracle *oracle, int events) {
    (void)def;
    for (int i = 0; i < events; ++i) {
        carom_gas_event event;
        gas_oracle_event wanted = gas_oracle_next(oracle);
        assert_ok(context, carom_gas_next(context, gas, 1e9, &event));
        gas_assert_event(gas, &event, &wanted);
    }
    assert_valid(carom_gas_validate(context, gas));
}

static void scale_all(carom_gas_def *def, int count, double factor) {
    carom_vec3 *vectors[] = {&def->edges, &def->acceleration};
    for (int i = 0; i < 2 * count + 2; ++i) {
        carom_gas_sphere *s = &spheres[i / 2];
        carom_vec3 *v = i >= 2 * count ? vectors[i - 2 * count]
                        : i % 2        ? &s->velocity
                                       : &s->position;
        *v = (carom_vec3){v->x * factor, v->y * factor, v->z * factor};
        if (i < 2 * count && i % 2 == 0) s->radius *= factor;
    }
    def->elastic_below *= factor;
}

typedef struct event_list {
    carom_gas_event events[300];
    uint64_t ticks[300];
    const carom_gas *gas;
    int count;
} event_list;

static bool list_event(void *user, const carom_gas_event *event) {
    event_list *list = user;
    list->events[list->count] = *event;
    list->ticks[list->count] = gas_ticks(list->gas);
    return ++list->count == (int)COUNT_OF(list->events);
}

/* In other units of length, by powers of two, the events are the same, at the same ticks. */
static void units_of_length_do_not_matter(void **state) {
    (void)state;
    static const double factors[] = {1.0, 0x1p-180, 0x1p180};
    static event_list lists[COUNT_OF(factors)];
    carom_context *context = test_context(1);
    for (int seed = 0; seed < 4; ++seed)
        for (size_t k = 0; k < COUNT_OF(factors); ++k) {
            carom_gas_def def = make_def(seed);
            int count = fill(900 + (uint64_t)seed, &def, 1e-3, 200);
            carom_gas *gas;
            scale_all(&def, count, factors[k]);
            assert_ok(context, gas_create(context, &def, spheres, (uint64_t)count, &gas));
            assert_true(gas->levels.count > 1);
            lists[k].gas = gas, lists[k].count = 0;
            assert_ok(context, carom_gas_advance(context, gas, 1e9, list_event, &lists[k]));
            assert_memory_equal(lists[k].ticks, lists[0].ticks, sizeof(lists[0].ticks));
            for (int i = 0; i < lists[0].count; ++i)
                assert_true(lists[k].events[i].a == lists[0].events[i].a &&
                            lists[k].events[i].b == lists[0].events[i].b);
            carom_gas_destroy(gas);
        }
    carom_context_destroy(context);
}

/* The first tiny sphere makes levels, and without the tiny ones there is one grid again. */
static void levels_come_and_go(void **state) {
    (void)state;
    static gas_oracle oracle;
    carom_context *context = test_context(1);
    carom_gas_def def = make_def(0);
    int count = fill(77, &def, 1e-3, 90), alike = 0;
    while (spheres[alike].radius > 0.12) ++alike;
    carom_gas *gas;
    carom_gas_info info;
    def.tick = 0x1p-62;
    assert_ok(context, gas_create(context, &def, spheres, (uint64_t)alike, &gas));
    assert_int_equal(gas->levels.count, 0);
    assert_ok(context, carom_gas_get_info(gas, &info));
    gas_oracle_init(&oracle, &def, info.tick, spheres, alike);
    uint32_t ids[128];
    assert_ok(context,
              carom_gas_add(context, gas, &spheres[alike], (uint64_t)(count - alike), ids));
    for (int i = alike; i < count; ++i) gas_oracle_put(&oracle, i, &spheres[i]);
    assert_true(gas->levels.count > 1);
    assert_follows(context, &def, gas, &oracle, 200);
    assert_ok(context, carom_gas_remove(context, gas, ids, (uint64_t)(count - alike)));
    for (int i = alike; i < count; ++i) gas_oracle_take(&oracle, i);
    assert_int_equal(gas->levels.count, 0);
    assert_follows(context, &def, gas, &oracle, 100);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

/* A gas whose tick suits only spheres that were removed can be saved and read. */
static void the_tick_of_removed_spheres_is_kept(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_def def = make_def(2);
    int count = fill(9, &def, 1e-6, 60);
    const uint32_t tiny = (uint32_t)count - 1;
    carom_bytes bytes = {0};
    carom_gas *gas;
    def.tick = 1e-6 / CAROM_GAS_MOST_PACE * 2.0;
    assert_ok(context, gas_create(context, &def, spheres, (uint64_t)count, &gas));
    for (uint32_t id = 1; id <= tiny; ++id)
        assert_ok(context, carom_gas_remove(context, gas, &id, 1));
    assert_ok(context, carom_gas_save_memory(context, gas, CAROM_GAS_FORMAT_GUESS, &bytes));
    carom_gas_destroy(gas);
    assert_ok(context, carom_gas_load_memory(context, bytes.data, bytes.count,
                                             CAROM_GAS_FORMAT_GUESS, NULL, NULL, &gas));
    carom_gas_destroy(gas);
    carom_bytes_free(&bytes);
    carom_context_destroy(context);
}

/* Where radii are unlike, the methods that need one grid become CENTRE. */
static void other_methods_become_centre(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_def def = make_def(3);
    int count = fill(5, &def, 1e-2, 60);
    for (int method = 0; method < CAROM_GAS_METHOD_COUNT; ++method) {
        carom_gas *gas;
        carom_gas_info info;
        def.method = (carom_gas_method)method;
        assert_ok(context, gas_create(context, &def, spheres, (uint64_t)count, &gas));
        assert_ok(context, carom_gas_get_info(gas, &info));
        assert_int_equal(info.method, CAROM_GAS_METHOD_CENTRE);
        carom_gas_destroy(gas);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_spheres_follow_the_oracle),
        cmocka_unit_test(many_spheres_follow_all_pairs),
        cmocka_unit_test(a_resumed_gas_goes_the_same_way),
        cmocka_unit_test(units_of_length_do_not_matter),
        cmocka_unit_test(levels_come_and_go),
        cmocka_unit_test(the_tick_of_removed_spheres_is_kept),
        cmocka_unit_test(other_methods_become_centre),
    };
    return cmocka_run_group_tests_name("gas levels", tests, NULL, NULL);
}
