/* SPDX-License-Identifier: MIT */
/* Sphere springs: without damping energy is kept, up to the square of the step; forces are those of
 * the engine; damping only takes energy; and the same motion on every machine. */
#include <math.h>
#include <string.h>

#include "scenes/springs.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static double total_of(const scene_springs *s) {
    scene_springs_energy e = scene_springs_get_energy(s);
    return e.kinetic + e.gravity + e.springs + e.contact;
}

static scene_springs begin(double damping) {
    const scene_springs_def def = {.count = 60, .height = 1.5, .damping = damping};
    scene_springs s;
    assert_ok(context, scene_springs_make(context, &def, &s));
    assert_int_equal(s.count, 60);
    assert_true(s.spring_count >= s.count - 1);
    return s;
}

/* Falls, hits and bounces; returns the largest change of the energy, relative to its range. */
static double fall(double step) {
    scene_springs s = begin(0.0);
    double first = total_of(&s), worst = 0.0, touched = 0.0;
    s.step *= step;
    while (s.time < 3.0) {
        assert_ok(context, scene_springs_advance(context, &s));
        worst = fmax(worst, fabs(total_of(&s) - first));
        touched = fmax(touched, s.energy.contact);
    }
    assert_true(touched > 0.01 * first); /* it did hit the ring */
    scene_springs_free(&s);
    return worst / first;
}

static void energy_is_kept_without_damping(void **state) {
    (void)state;
    double whole = fall(1.0), half = fall(0.5);
    if (!(whole < 1e-3 && half < 0.4 * whole))
        fail_msg("energy changes by %g, with half the step by %g", whole, half);
}

static void forces_are_those_of_balls(void **state) {
    (void)state;
    scene_springs s = begin(0.0);
    uint64_t compared = 0;
    while (s.time < 2.5) {
        assert_ok(context, scene_springs_advance(context, &s));
        if (s.pairs.count == 0) continue;
        carom_packing_overlap o;
        assert_ok(context, carom_balls_overlap(context, s.ring, NULL, s.knot, NULL, NULL, &o));
        assert_int_equal(o.pairs, s.pairs.count);
        double scale = s.stiffness, slack = 1e-9 * scale;
        assert_true(fabs(scale * o.volume.value - s.energy.contact) <= slack);
        assert_true(fabs(scale * o.force.x - s.contact_force.x) <= slack &&
                    fabs(scale * o.force.y - s.contact_force.y) <= slack &&
                    fabs(scale * o.force.z - s.contact_force.z) <= slack);
        ++compared;
    }
    assert_true(compared > 10);
    scene_springs_free(&s);
}

static void damping_only_takes_energy(void **state) {
    (void)state;
    scene_springs s = begin(0.1);
    double first = total_of(&s), last = first;
    double length = 0.0;
    while (s.time < 3.0) {
        assert_ok(context, scene_springs_advance(context, &s));
        double now = total_of(&s);
        assert_true(now <= last + 1e-3 * first);
        last = now;
        for (uint64_t i = 0; i < s.spring_count; ++i) {
            const scene_spring *p = &s.springs[i];
            const carom_vec3 *a = &s.spheres[p->a].centre, *b = &s.spheres[p->b].centre;
            double x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
            length = fmax(length, fabs(sqrt(x * x + y * y + z * z) / p->length - 1.0));
        }
    }
    assert_true(last < 0.95 * first);
    assert_true(length > 0.1); /* it deforms */
    scene_springs_free(&s);
}

static void all_machines_move_alike(void **state) {
    (void)state;
    carom_context *contexts[6];
    int count = test_contexts_of_isas(0, contexts, 0);
    uint64_t expected = 0;
    for (int i = 0; i < count; ++i) {
        const scene_springs_def def = {.count = 40, .height = 1.0};
        scene_springs s;
        assert_ok(contexts[i], scene_springs_make(contexts[i], &def, &s));
        while (s.time < 1.5) assert_ok(contexts[i], scene_springs_advance(contexts[i], &s));
        uint64_t hash = 0;
        for (uint64_t k = 0; k < s.count; ++k)
            hash = test_hash(&s.spheres[k].centre, sizeof(s.spheres[k].centre), hash);
        if (i == 0) expected = hash;
        assert_true(hash == expected);
        scene_springs_free(&s);
        carom_context_destroy(contexts[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_kept_without_damping),
        cmocka_unit_test(forces_are_those_of_balls),
        cmocka_unit_test(damping_only_takes_energy),
        cmocka_unit_test(all_machines_move_alike),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
