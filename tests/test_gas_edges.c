/* SPDX-License-Identifier: MIT */
/* Gases at their edges: simultaneous, touching, resting and grazing spheres, collapse, own laws,
 * changes of the set, bad input, damaged files. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gas/gas.h"
#include "tests/support/gas_course.h"

static const carom_gas_method methods[] = {CAROM_GAS_METHOD_CENTRE, CAROM_GAS_METHOD_EXTENT,
                                           CAROM_GAS_METHOD_NEIGHBOURS};

static carom_gas *make(carom_context *context, const carom_gas_def *def,
                       const carom_gas_sphere *spheres, int count) {
    carom_gas *gas;
    assert_ok(context, gas_create(context, def, spheres, (uint64_t)count, &gas));
    return gas;
}

/* ---- exact situations ------------------------------------------------------------------------ */

static void a_cradle_passes_the_blow_on_at_once(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[6];
    for (size_t m = 0; m < COUNT_OF(methods); ++m) {
        for (int i = 0; i < 6; ++i)
            spheres[i] = (carom_gas_sphere){.position = {i == 0 ? 1.0 : 3.0 + i, 2.0, 2.0},
                                            .velocity = {i == 0 ? 1.0 : 0.0, 0.0, 0.0},
                                            .radius = 0.5};
        carom_gas_def def = {.edges = {20.0, 4.0, 4.0}, .method = methods[m]};
        carom_gas *gas = make(context, &def, spheres, 6);
        for (uint32_t i = 0; i < 5; ++i) { /* touching spheres pass it on in the same instant */
            carom_gas_event event;
            assert_ok(context, carom_gas_next(context, gas, 100.0, &event));
            assert_int_equal(event.kind, CAROM_GAS_EVENT_KIND_PAIR);
            assert_int_equal(event.a, i);
            assert_int_equal(event.b, i + 1);
            assert_true(fabs(event.time - 2.0) < 1e-12);
        }
        carom_gas_sphere last;
        assert_ok(context, carom_gas_advance(context, gas, 3.0, NULL, NULL));
        assert_ok(context, carom_gas_find_sphere(context, gas, 5, &last));
        assert_true(fabs(last.position.x - 9.0) < 1e-12 && fabs(last.velocity.x - 1.0) < 1e-15);
        carom_gas_destroy(gas);
    }
    carom_context_destroy(context);
}

/* A touching cubic lattice, all in motion: many collisions at tick zero, equal for all methods. */
static void a_touching_lattice_separates(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[64];
    static gas_oracle oracle;
    carom_random random = {3};
    for (int i = 0; i < 64; ++i) {
        spheres[i] = (carom_gas_sphere){.position = {0.5 + i % 4, 0.5 + i / 4 % 4, 0.5 + i / 16},
                                        .radius = 0.5};
        spheres[i].velocity =
            (carom_vec3){carom_random_normal(&random), carom_random_normal(&random),
                         carom_random_normal(&random)};
    }
    for (size_t m = 0; m < COUNT_OF(methods); ++m) {
        carom_gas_def def = {
            .edges = {5.0, 5.0, 5.0}, .periodic = {true, false, false}, .method = methods[m]};
        carom_gas *gas = make(context, &def, spheres, 64);
        carom_gas_info info;
        assert_ok(context, carom_gas_get_info(gas, &info));
        gas_oracle_init(&oracle, &def, info.tick, spheres, 64);
        for (int i = 0; i < 600; ++i) {
            carom_gas_event event;
            gas_oracle_event wanted = gas_oracle_next(&oracle);
            assert_ok(context, carom_gas_next(context, gas, 100.0, &event));
            assert_int_equal(event.kind, wanted.kind);
            assert_int_equal(event.a, wanted.a);
            assert_int_equal(event.b, wanted.b);
            assert_true((uint64_t)gas->now == wanted.since_create);
        }
        double overlap;
        assert_ok(context, carom_gas_overlap(context, gas, &overlap));
        assert_true(overlap <= gas_most_overlap(gas));
        carom_gas_destroy(gas);
    }
    carom_context_destroy(context);
}

static void nothing_happens_where_nothing_moves(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[2] = {{.position = {1.0, 1.0, 1.0}, .radius = 0.5},
                                   {.position = {2.0, 1.0, 1.0}, .radius = 0.5}};
    carom_gas_def def = {.edges = {4.0, 4.0, 4.0}};
    for (size_t m = 0; m < COUNT_OF(methods); ++m) {
        def.method = methods[m];
        carom_gas *gas = make(context, &def, spheres, 2);
        carom_gas_event event;
        assert_ok(context, carom_gas_next(context, gas, 1e7, &event));
        assert_int_equal(event.kind, CAROM_GAS_EVENT_KIND_NONE);
        assert_true(event.time == 1e7);
        carom_gas_destroy(gas);
    }
    carom_gas *empty = make(context, &def, NULL, 0);
    assert_ok(context, carom_gas_advance(context, empty, 5.0, NULL, NULL));
    assert_true(carom_gas_get_time(empty) == 5.0);
    carom_gas_destroy(empty);
    carom_context_destroy(context);
}

/* One sphere alone flies through thousands of periodic boxes. */
static void a_lonely_sphere_keeps_its_way(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere sphere = {
        .position = {1.0, 1.0, 1.0}, .velocity = {3.0, -2.0, 0.25}, .radius = 0.5};
    carom_gas_def def = {.edges = {4.0, 4.0, 4.0}, .periodic = {true, true, true}};
    for (size_t m = 0; m < COUNT_OF(methods); ++m) {
        def.method = methods[m];
        carom_gas *gas = make(context, &def, &sphere, 1);
        assert_ok(context, carom_gas_advance(context, gas, 40000.0, NULL, NULL));
        carom_gas_sphere after;
        assert_ok(context, carom_gas_find_sphere(context, gas, 0, &after));
        assert_true(fabs(after.position.x - 1.0) < 1e-8 && fabs(after.position.z - 1.0) < 1e-8);
        carom_gas_destroy(gas);
    }
    carom_context_destroy(context);
}

/* ---- losses and laws ------------------------------------------------------------------------- */

static void inelastic_collapse_ends_with_a_status(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere ball = {.position = {2.0, 2.0, 3.0}, .radius = 0.5};
    carom_gas_def def = {
        .edges = {4.0, 4.0, 8.0}, .acceleration = {0.0, 0.0, -10.0}, .wall_loss = 0.5};
    carom_gas *gas = make(context, &def, &ball, 1);
    assert_fails(context, carom_gas_advance(context, gas, 100.0, NULL, NULL), CAROM_UNSUPPORTED,
                 "inelastic collapse: sphere 0");
    /* A ball dropped from 2.5 with restitution 1/2 rests after 3 falls' time. */
    assert_true(fabs(carom_gas_get_time(gas) - 3.0 * sqrt(2.0 * 2.5 / 10.0)) < 1e-6);
    carom_gas_destroy(gas);
    def.elastic_below = 1e-3;
    gas = make(context, &def, &ball, 1);
    assert_ok(context, carom_gas_advance(context, gas, 10.0, NULL, NULL));
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

static int law_calls;

static void mirror_law(void *user, const carom_gas_event *event, const carom_vec3 *normal,
                       carom_gas_sphere *a, carom_gas_sphere *b) {
    ++law_calls;
    assert_ptr_equal(user, &law_calls);
    assert_true(fabs(normal->x * normal->x + normal->y * normal->y + normal->z * normal->z - 1.0) <
                1e-12);
    carom_vec3 u = a->velocity;
    if (b != NULL) u = (carom_vec3){u.x - b->velocity.x, u.y - b->velocity.y, u.z - b->velocity.z};
    double speed = u.x * normal->x + u.y * normal->y + u.z * normal->z;
    double share = b != NULL ? 2.0 * b->mass / (a->mass + b->mass) : 2.0;
    a->velocity = (carom_vec3){a->velocity.x - share * speed * normal->x,
                               a->velocity.y - share * speed * normal->y,
                               a->velocity.z - share * speed * normal->z};
    if (b == NULL) {
        assert_int_equal(event->kind, CAROM_GAS_EVENT_KIND_WALL);
        return;
    }
    double d = (b->position.x - a->position.x) * normal->x +
               (b->position.y - a->position.y) * normal->y +
               (b->position.z - a->position.z) * normal->z;
    assert_true(fabs(d - a->radius - b->radius) < 1e-12);
    share = 2.0 * a->mass / (a->mass + b->mass);
    b->velocity = (carom_vec3){b->velocity.x + share * speed * normal->x,
                               b->velocity.y + share * speed * normal->y,
                               b->velocity.z + share * speed * normal->z};
}

static void broken_law(void *user, const carom_gas_event *event, const carom_vec3 *normal,
                       carom_gas_sphere *a, carom_gas_sphere *b) {
    (void)user, (void)event, (void)normal, (void)b;
    a->velocity.x = (double)NAN;
}

static void the_callers_law_decides(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[30];
    carom_gas_def def = {.edges = {6.0, 6.0, 6.0},
                         .periodic = {true, false, true},
                         .response = mirror_law,
                         .response_user = &law_calls};
    int count = gas_random_spheres(21, &def, 0.4, 1.0, 30, spheres);
    carom_gas *gas = make(context, &def, spheres, count);
    carom_gas_measures before, after;
    assert_ok(context, carom_gas_measure(context, gas, &before));
    law_calls = 0;
    assert_ok(context, carom_gas_advance(context, gas, 5.0, NULL, NULL));
    assert_ok(context, carom_gas_measure(context, gas, &after));
    assert_int_equal(law_calls, after.collisions + after.wall_hits);
    assert_true(law_calls > 50 && fabs(after.energy / before.energy - 1.0) < 1e-12);
    carom_gas_destroy(gas);
    def.response = broken_law;
    gas = make(context, &def, spheres, count);
    assert_fails(context, carom_gas_advance(context, gas, 5.0, NULL, NULL), CAROM_BAD_INPUT,
                 "velocity that is not finite");
    double overlap;
    assert_ok(context, carom_gas_overlap(context, gas, &overlap));
    assert_true(overlap <= gas_most_overlap(gas));
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

/* ---- changes of the set ---------------------------------------------------------------------- */

static void spheres_come_and_go(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[40];
    carom_gas_def def = {.edges = {7.0, 7.0, 7.0}, .periodic = {true, true, true}};
    int count = gas_random_spheres(4, &def, 0.4, 1.0, 40, spheres);
    carom_gas *gas = make(context, &def, spheres, count - 2);
    uint32_t ids[2];
    assert_ok(context, carom_gas_add(context, gas, &spheres[count - 2], 2, ids));
    assert_int_equal(ids[0], count - 2);
    assert_int_equal(ids[1], count - 1);
    /* From here on as if all had been there from the start: same tick, same events. */
    def.tick = gas->rules.tick;
    carom_gas *whole = make(context, &def, spheres, count);
    for (int i = 0; i < TEST_CASES(300); ++i) {
        carom_gas_event a, b;
        assert_ok(context, carom_gas_next(context, gas, 100.0, &a));
        assert_ok(context, carom_gas_next(context, whole, 100.0, &b));
        assert_true(a.time == b.time && a.kind == b.kind && a.a == b.a && a.b == b.b);
    }
    carom_gas_destroy(whole);
    assert_ok(context, carom_gas_remove(context, gas, (uint32_t[]){3, 7}, 2));
    carom_gas_sphere sphere;
    assert_fails(context, carom_gas_find_sphere(context, gas, 3, &sphere), CAROM_BAD_INPUT,
                 "no sphere with the id 3");
    assert_fails(context, carom_gas_remove(context, gas, (uint32_t[]){3}, 1), CAROM_BAD_INPUT,
                 "id 3 to remove");
    carom_gas_spheres all = {0};
    assert_ok(context, carom_gas_list_spheres(context, gas, &all));
    assert_int_equal(all.count, count - 2);
    assert_ok(context, carom_gas_advance(context, gas, carom_gas_get_time(gas) + 1.0, NULL, NULL));
    /* Setting: a live one to rest, a position that is taken refused and nothing changed. */
    assert_ok(context, carom_gas_find_sphere(context, gas, 5, &sphere));
    carom_gas_sphere other = sphere;
    assert_fails(
        context,
        carom_gas_set(context, gas, (uint32_t[]){6, 3}, (carom_gas_sphere[]){other, other}, 2),
        CAROM_BAD_INPUT, "overlap");
    assert_fails(context, carom_gas_find_sphere(context, gas, 3, &other), CAROM_BAD_INPUT, "3");
    sphere.velocity = (carom_vec3){0.0, 0.0, 0.0};
    assert_ok(context, carom_gas_set(context, gas, (uint32_t[]){5}, &sphere, 1));
    assert_ok(context, carom_gas_find_sphere(context, gas, 5, &other));
    assert_true(other.velocity.x == 0.0 && other.position.x == sphere.position.x);
    assert_ok(context, carom_gas_advance(context, gas, carom_gas_get_time(gas) + 1.0, NULL, NULL));
    double overlap;
    assert_ok(context, carom_gas_overlap(context, gas, &overlap));
    assert_true(overlap <= gas_most_overlap(gas));
    carom_gas_spheres_free(&all);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

/* ---- what cannot be used --------------------------------------------------------------------- */

static void bad_input_gets_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas *gas, *none;
    carom_gas_def def = {.edges = {4.0, 4.0, 4.0}};
    carom_gas_sphere good = {.position = {1.0, 1.0, 1.0}, .radius = 0.5}, s = good;
    s.velocity.y = (double)NAN;
    assert_fails(context, gas_create(context, &def, &s, 1, &gas), CAROM_BAD_INPUT, "sphere 0");
    s = good, s.position.z = (double)INFINITY;
    assert_fails(context, gas_create(context, &def, &s, 1, &gas), CAROM_BAD_INPUT, "finite");
    s = good, s.radius = 0.0;
    assert_fails(context, gas_create(context, &def, &s, 1, &gas), CAROM_BAD_INPUT, "radius");
    s = good, s.position.x = 0.4;
    assert_fails(context, gas_create(context, &def, &s, 1, &gas), CAROM_BAD_INPUT, "wall");
    s = good, s.radius = 2.5;
    assert_fails(context, gas_create(context, &def, &s, 1, &gas), CAROM_BAD_INPUT, "fit");
    carom_gas_sphere two[2] = {good, good};
    two[1].position.x = 1.9;
    assert_fails(context, gas_create(context, &def, two, 2, &gas), CAROM_BAD_INPUT,
                 "spheres 0 and 1 overlap");
    two[1] = (carom_gas_sphere){.position = {1.4, 1.0, 1.0}, .radius = 1e-6}; /* inside the other */
    assert_fails(context, gas_create(context, &def, two, 2, &gas), CAROM_BAD_INPUT,
                 "overlap by 0.2");
    def.edges.y = 0.0;
    assert_fails(context, gas_create(context, &def, &good, 1, &gas), CAROM_BAD_INPUT, "edges");
    def.edges.y = 4.0, def.loss = 1.5;
    assert_fails(context, gas_create(context, &def, &good, 1, &gas), CAROM_BAD_INPUT, "loss");
    def.loss = 0.0, def.tick = -1.0;
    assert_fails(context, gas_create(context, &def, &good, 1, &gas), CAROM_BAD_INPUT, "tick");
    assert_null(gas);
    def.tick = 1e-3, s = good, s.velocity.x = 1.0;
    assert_fails(context, gas_create(context, &def, &s, 1, &gas), CAROM_BAD_INPUT, "too fast");
    def.tick = 0.0;
    gas = make(context, &def, &good, 1);
    s.velocity.x = 1e30; /* a tick was chosen for a gas at rest */
    assert_fails(context, carom_gas_set(context, gas, &(uint32_t){0}, &s, 1), CAROM_BAD_INPUT,
                 "too fast");
    assert_ok(context, carom_gas_advance(context, gas, 1.0, NULL, NULL));
    assert_fails(context, carom_gas_advance(context, gas, 0.5, NULL, NULL), CAROM_BAD_INPUT,
                 "not before 1");
    assert_fails(context, carom_gas_advance(context, gas, (double)NAN, NULL, NULL), CAROM_BAD_INPUT,
                 "finite");
    assert_fails(context, gas_create(context, NULL, &good, 1, &none), CAROM_BAD_INPUT, "edges");
    test_asserts_begin();
    assert_int_equal(carom_gas_next(context, NULL, 1.0, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 1);
    carom_gas_destroy(gas);
    carom_gas_destroy(NULL);
    carom_context_destroy(context);
}

static void damaged_files_get_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere spheres[8];
    carom_gas_def def = {.edges = {5.0, 5.0, 5.0}};
    int count = gas_random_spheres(2, &def, 0.4, 1.0, 8, spheres);
    carom_gas *gas = make(context, &def, spheres, count), *again;
    const char path[] = CAROM_BINARY_DIR "/test_gas_edges.saved";
    assert_ok(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, path));
    unsigned char bytes[4096];
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t i = 0; i < size + 40; i += 29) { /* one byte wrong, or cut off: never a crash */
        file = fopen(path, "wb");
        unsigned char kept = i < size ? bytes[i] : 0;
        if (i < size) bytes[i] ^= (unsigned char)(i % 3 == 0 ? 0xFF : 0x40);
        fwrite(bytes, 1, i < size ? size : size - 7 * (i - size + 1), file);
        fclose(file);
        if (i < size) bytes[i] = kept;
        carom_status status = carom_gas_load(context, path, CAROM_GAS_FORMAT_GUESS, NULL, &again);
        assert_true(status == CAROM_OK || again == NULL);
        if (i >= size) assert_int_equal(status, CAROM_BAD_FILE);
        if (status == CAROM_OK) { /* perhaps another gas, but a sound one */
            status = carom_gas_advance(context, again, carom_gas_get_time(again), NULL, NULL);
            assert_true(status == CAROM_OK || status == CAROM_UNSUPPORTED);
        }
        carom_gas_destroy(again);
    }
    remove(path);
    assert_fails(context, carom_gas_load(context, path, CAROM_GAS_FORMAT_GUESS, NULL, &again),
                 CAROM_IO, "cannot be opened");
    assert_fails(context, carom_gas_save(context, gas, CAROM_GAS_FORMAT_GUESS, "/nowhere/x"),
                 CAROM_IO, "/nowhere/x: cannot be created");
    assert_true(test_malloc_count() > 0);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cradle_passes_the_blow_on_at_once),
        cmocka_unit_test(a_touching_lattice_separates),
        cmocka_unit_test(nothing_happens_where_nothing_moves),
        cmocka_unit_test(a_lonely_sphere_keeps_its_way),
        cmocka_unit_test(inelastic_collapse_ends_with_a_status),
        cmocka_unit_test(the_callers_law_decides),
        cmocka_unit_test(spheres_come_and_go),
        cmocka_unit_test(bad_input_gets_a_message),
        cmocka_unit_test(damaged_files_get_a_message),
    };
    return cmocka_run_group_tests_name("gas edges", tests, NULL, NULL);
}
