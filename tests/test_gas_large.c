/* SPDX-License-Identifier: MIT */
/* Gases too large for an oracle: memory is reserved ahead, two that met are predicted together,
 * cells overflow. Whatever the method, queue and cells, the events have to be the same.
 * One thread. */
#include <stdlib.h>
#include <string.h>

#include "scenes/gas.h"
#include "tests/support/gas_course.h"

/* What a run was like, in one number. */
typedef struct trail {
    uint64_t hash, left;
} trail;

static void add_bytes(trail *trail, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; ++i)
        trail->hash = (trail->hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001B3);
}

static bool add_event(void *user, const carom_gas_event *event) {
    trail *trail = user;
    uint32_t kind = (uint32_t)event->kind;
    add_bytes(trail, &event->time, sizeof(event->time));
    add_bytes(trail, &kind, sizeof(kind));
    add_bytes(trail, &event->a, sizeof(event->a));
    add_bytes(trail, &event->b, sizeof(event->b));
    return --trail->left == 0;
}

/* The trail of some events and of all positions after them. */
static uint64_t run(carom_context *context, const carom_gas_def *def,
                    const carom_gas_sphere *spheres, uint64_t count, uint64_t events) {
    carom_gas *gas;
    carom_gas_spheres now = {0};
    trail trail = {UINT64_C(0xCBF29CE484222325), events};
    double overlap;
    assert_ok(context, gas_create(context, def, spheres, count, &gas));
    assert_ok(context, carom_gas_advance(context, gas, 1e6, add_event, &trail));
    assert_int_equal(trail.left, 0);
    assert_ok(context, carom_gas_list_spheres(context, gas, &now));
    for (uint64_t i = 0; i < now.count; ++i) {
        add_bytes(&trail, &now.data[i].position, sizeof(now.data[i].position));
        add_bytes(&trail, &now.data[i].velocity, sizeof(now.data[i].velocity));
    }
    assert_ok(context, carom_gas_overlap(context, gas, &overlap));
    assert_true(overlap <= gas_most_overlap(gas));
    carom_gas_spheres_free(&now);
    carom_gas_destroy(gas);
    return trail.hash;
}

static void large_gases_agree(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const struct {
        uint64_t count;
        double fraction;
        bool periodic[3];
        double smallest;
    } gases[] = {{20000, 0.05, {true, true, true}, 0.5},
                 {40000, 0.3, {true, false, true}, 0.5},
                 {40000, 0.02, {false, false, false}, 0.3},
                 {35152, 0.45, {true, true, true}, 0.5}};
    static const carom_gas_method methods[] = {CAROM_GAS_METHOD_CENTRE, CAROM_GAS_METHOD_EXTENT,
                                               CAROM_GAS_METHOD_NEIGHBOURS};
    for (size_t g = TEST_ALL_CASES ? 0 : 1; g < COUNT_OF(gases); g += TEST_ALL_CASES ? 1 : 2) {
        double edge = scene_gas_edge(gases[g].count, 0.5, gases[g].fraction);
        carom_gas_def def = {.edges = {edge, edge, edge}};
        memcpy(def.periodic, gases[g].periodic, sizeof(def.periodic));
        carom_gas_sphere *spheres = scene_gas_lattice(gases[g].count, 0.5, def.edges, 7 + g);
        assert_non_null(spheres);
        for (uint64_t i = 0; i < gases[g].count; i += 3) {
            spheres[i].radius = gases[g].smallest;
            spheres[i].mass = gases[g].smallest == 0.5 ? 1.0 : 0.1;
        }
        scene_gas_keep_inside(spheres, gases[g].count, &def);
        uint64_t wanted = run(context, &def, spheres, gases[g].count, 15000);
        for (size_t m = 0; m < COUNT_OF(methods); ++m)
            for (int queue = 0; queue < CAROM_GAS_QUEUE_COUNT; ++queue) {
                def.method = methods[m];
                def.queue = (carom_gas_queue)queue;
                assert_true(run(context, &def, spheres, gases[g].count, 15000) == wanted);
            }
        free(spheres);
    }
    carom_context_destroy(context);
}

static void dense_cells_hold_all(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    double edge = scene_gas_edge(3000, 0.5, 0.1);
    for (int walls = 0; walls < 2; ++walls) {
        carom_gas_def def = {.edges = {edge, edge, edge}, .method = CAROM_GAS_METHOD_CENTRE};
        for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = walls == 0;
        carom_gas_sphere *spheres = scene_gas_lattice(3000, 0.5, def.edges, 11);
        assert_non_null(spheres);
        scene_gas_keep_inside(spheres, 3000, &def);
        uint64_t wanted = run(context, &def, spheres, 3000, 1000);
        for (double cell = 1.5; cell < 0.4 * edge; cell *= 1.7)
            for (int m = CAROM_GAS_METHOD_CENTRE; m <= CAROM_GAS_METHOD_EXTENT; ++m) {
                def.method = (carom_gas_method)m;
                def.cell_edge = cell;
                assert_true(run(context, &def, spheres, 3000, 1000) == wanted);
            }
        free(spheres);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_gases_agree),
        cmocka_unit_test(dense_cells_hold_all),
    };
    return cmocka_run_group_tests_name("gas large", tests, NULL, NULL);
}
