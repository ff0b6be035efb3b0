/* SPDX-License-Identifier: MIT */
/* A gas on several threads does, bit for bit, what it does on one: the same bodies, clock, counts
 * and virial, which depends on the order of events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/gas.h"
#include "tests/support/gas.h"

/* Words of a saved gas that count work, not events: crossings and predictions. */
#define HEAD_WORDS 34
#define CROSSINGS  23
#define MASKED     2

static const uint32_t threads_tried[] = {2, 3, 8};

/* Runs a new gas and saves it; the words that count work become 0. */
typedef struct run_def {
    carom_gas_def def;
    const carom_gas_sphere *spheres;
    uint64_t count, window_span; /* 0: chosen */
    double until;
    int pieces;
} run_def;

static void advance(carom_context *context, carom_gas *gas, const run_def *r, int from, int to) {
    if (context->threads > 1) gas->parallel_from = 1;
    for (int piece = from; piece < to; ++piece) {
        if (r->window_span != 0) gas->window_span = r->window_span;
        assert_ok(context,
                  carom_gas_advance(context, gas, r->until * (piece + 1) / r->pieces, NULL, NULL));
    }
    assert_valid(carom_gas_validate(context, gas));
}

static void save_masked(carom_context *context, const carom_gas *gas, carom_bytes *bytes) {
    assert_ok(context, carom_gas_save_memory(context, gas, CAROM_GAS_FORMAT_GUESS, bytes));
    memset((char *)bytes->data + 8 * CROSSINGS, 0, 8 * MASKED);
}

static void assert_same(const carom_bytes *a, const carom_bytes *b, const char *what) {
    assert_int_equal(a->count, b->count);
    const uint64_t *p = (const uint64_t *)(const void *)a->data,
                   *q = (const uint64_t *)(const void *)b->data;
    for (uint64_t i = 0; i < a->count / 8; ++i)
        if (p[i] != q[i]) {
            long long word = (long long)i;
            fail_msg("%s: word %lld, %s %lld of sphere %lld", what, word,
                     word < HEAD_WORDS ? "in the head" : "word", (word - HEAD_WORDS) % 11,
                     (word - HEAD_WORDS) / 11);
        }
}

static carom_gas_window_counts all;

static void add_counts(const carom_gas *gas) {
    all.windows += gas->counts.windows;
    all.undone += gas->counts.undone;
    all.steps += gas->counts.steps;
    all.kept += gas->counts.kept;
    all.serial += gas->counts.serial;
}

static void show_counts(const char *what) {
    print_message(
        "%s: %llu windows, %llu undone; of %llu steps %.1f %% kept in the first pass, %.1f "
        "%% on one thread\n",
        what, (unsigned long long)all.windows, (unsigned long long)all.undone,
        (unsigned long long)all.steps, 100.0 * (double)all.kept / (double)all.steps,
        100.0 * (double)all.serial / (double)all.steps);
    assert_true(all.windows > all.undone && all.steps > all.serial);
    memset(&all, 0, sizeof(all));
}

static void compare(const run_def *r, const char *what) {
    carom_bytes wanted = {0}, found = {0};
    carom_gas *gas;
    carom_context *one = test_context(1);
    assert_ok(one, gas_create(one, &r->def, r->spheres, r->count, &gas));
    advance(one, gas, r, 0, r->pieces);
    assert_int_equal(gas->counts.windows, 0);
    save_masked(one, gas, &wanted);
    carom_gas_destroy(gas);
    for (size_t t = 0; t < COUNT_OF(threads_tried); ++t) {
        carom_context *context = test_context(threads_tried[t]);
        assert_ok(context, gas_create(context, &r->def, r->spheres, r->count, &gas));
        advance(context, gas, r, 0, r->pieces);
        add_counts(gas);
        save_masked(context, gas, &found);
        assert_same(&wanted, &found, what);
        carom_gas_destroy(gas);
        carom_context_destroy(context);
    }
    carom_bytes_free(&wanted);
    carom_bytes_free(&found);
    carom_context_destroy(one);
}

/* Gases of some thousand spheres: fractions, boxes, mixtures, loss, acceleration. */
static void large_gases_are_the_same(void **state) {
    (void)state;
    static const double fractions[] = {0.02, 0.1, 0.3, 0.45, 0.49};
    int gases = TEST_CASES(80);
    for (int seed = 0; seed < gases; ++seed) {
        double fraction = fractions[seed % 5];
        uint64_t count = 6000 + 2000 * (uint64_t)(seed % 4);
        double edge = scene_gas_edge(count, 0.5, fraction);
        run_def r = {.def = {.edges = {edge, edge, edge}}, .count = count, .pieces = 2};
        for (int axis = 0; axis < 3; ++axis)
            r.def.periodic[axis] = ((seed / 5 + 7) >> axis & 1) != 0;
        carom_gas_sphere *spheres =
            scene_gas_lattice(count, 0.5, r.def.edges, 100 + (uint64_t)seed);
        assert_non_null(spheres);
        for (uint64_t i = 0; i < count && seed % 3 == 1; i += 3) {
            spheres[i].radius = seed % 2 == 0 ? 0.3 : 0.1;
            spheres[i].mass = 0.2;
        }
        scene_gas_keep_inside(spheres, count, &r.def);
        if (seed % 4 == 2) r.def.acceleration = (carom_vec3){0.0, 0.02, -0.3};
        if (seed % 7 == 3) r.def.loss = 0.05, r.def.wall_loss = 0.1, r.def.elastic_below = 0.02;
        r.spheres = spheres;
        r.until = fraction < 0.05 ? 4.0 : fraction < 0.2 ? 1.5 : 0.3;
        compare(&r, "large");
        free(spheres);
    }
    show_counts("large gases");
}

/* Windows so long that some must be undone. */
static void undone_windows_leave_no_trace(void **state) {
    (void)state;
    static const double fractions[] = {0.1, 0.3, 0.49};
    int gases = TEST_CASES(24);
    for (int seed = 0; seed < gases; ++seed) {
        uint64_t count = 4000;
        double edge = scene_gas_edge(count, 0.5, fractions[seed % 3]);
        run_def r = {.def = {.edges = {edge, edge, edge}}, .count = count, .pieces = 12};
        for (int axis = 0; axis < 3; ++axis) r.def.periodic[axis] = (seed >> axis & 1) == 0;
        carom_gas_sphere *spheres =
            scene_gas_lattice(count, 0.5, r.def.edges, 500 + (uint64_t)seed);
        assert_non_null(spheres);
        scene_gas_keep_inside(spheres, count, &r.def);
        r.spheres = spheres;
        r.until = seed % 3 == 0 ? 3.0 : 1.0;
        r.def.cell_edge = r.def.cutoff = 2.0; /* wide skins */
        r.window_span = UINT64_C(1) << 58; /* as long as may be */
        compare(&r, "undone");
        free(spheres);
    }
    assert_true(all.undone > 0);
    show_counts("long windows");
}

/* Small gases, in which nothing or little is deep inside a region. */
static void small_gases_are_the_same(void **state) {
    (void)state;
    carom_gas_sphere spheres[128];
    int gases = TEST_CASES(400);
    for (int seed = 0; seed < gases; ++seed) {
        run_def r = {.def = {.edges = {6.0 + seed % 3, 7.0, 5.0 + seed % 5}}, .pieces = 3};
        for (int axis = 0; axis < 3; ++axis) r.def.periodic[axis] = (seed >> axis & 1) != 0;
        bool endless = seed % 8 == 7 && seed % 5 == 4;
        if (seed % 4 == 3 && !endless) r.def.acceleration = (carom_vec3){0.0, 0.1, -0.5};
        if (seed % 5 == 4) r.def.loss = 0.1, r.def.wall_loss = 0.05, r.def.elastic_below = 0.05;
        int count = gas_random_spheres((uint64_t)seed, &r.def, 0.45, seed % 3 == 2 ? 3.0 : 1.0,
                                       2 + 30 * (seed % 4), spheres);
        r.spheres = spheres;
        r.count = (uint64_t)count;
        r.until = 2.0;
        if (seed % 2 == 0) r.def.method = CAROM_GAS_METHOD_NEIGHBOURS;
        compare(&r, "small");
    }
    memset(&all, 0, sizeof(all));
}

/* A state saved on some threads goes on in the same way on another number of them. */
static void states_resume_on_other_threads(void **state) {
    (void)state;
    for (int n = 0; n < 2; ++n) {
        double edge = scene_gas_edge(8000, 0.5, n == 0 ? 0.3 : 0.49);
        run_def r = {.def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}},
                     .count = 8000,
                     .until = 0.6,
                     .pieces = 4};
        carom_gas_sphere *spheres = scene_gas_lattice(8000, 0.5, r.def.edges, 9);
        assert_non_null(spheres);
        r.spheres = spheres;
        carom_bytes wanted = {0}, found = {0};
        static const uint32_t turns[2][4] = {{1, 1, 1, 1}, {8, 1, 3, 2}};
        for (int way = 0; way < 2; ++way) {
            carom_gas *gas = NULL;
            for (int piece = 0; piece < r.pieces; ++piece) {
                carom_context *context = test_context(turns[way][piece]);
                if (gas == NULL) {
                    assert_ok(context, gas_create(context, &r.def, spheres, r.count, &gas));
                } else {
                    assert_ok(context,
                              carom_gas_save_memory(context, gas, CAROM_GAS_FORMAT_GUESS, &found));
                    carom_gas_destroy(gas);
                    assert_ok(context,
                              carom_gas_load_memory(context, found.data, found.count,
                                                    CAROM_GAS_FORMAT_GUESS, NULL, NULL, &gas));
                }
                advance(context, gas, &r, piece, piece + 1);
                if (piece + 1 == r.pieces) save_masked(context, gas, way == 0 ? &wanted : &found);
                add_counts(gas);
                carom_gas_destroy(piece + 1 == r.pieces ? gas : NULL);
                carom_context_destroy(context);
            }
        }
        assert_same(&wanted, &found, "resumed");
        carom_bytes_free(&wanted);
        carom_bytes_free(&found);
        free(spheres);
    }
    show_counts("resumed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_gases_are_the_same),
        cmocka_unit_test(undone_windows_leave_no_trace),
        cmocka_unit_test(small_gases_are_the_same),
        cmocka_unit_test(states_resume_on_other_threads),
    };
    return cmocka_run_group_tests_name("gas threads", tests, NULL, NULL);
}
