/* SPDX-License-Identifier: MIT */
/* Spheres that all but miss each other, touch along the tangent, move alike, or meet at exactly the
 * same time. Whether two meet at all is judged in extended precision; lattices on powers of two
 * have no rounding to hide behind. One thread. */
#include <math.h>

#include "tests/support/campaign.h"
#include "tests/support/gas_course.h"

static gas_course course;

static carom_vec3 along(carom_vec3 p, double t, carom_vec3 q) {
    return (carom_vec3){p.x + t * q.x, p.y + t * q.y, p.z + t * q.z};
}

static carom_vec3 unit(carom_vec3 v) {
    double length = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    return (carom_vec3){v.x / length, v.y / length, v.z / length};
}

/* A direction and one across it. */
static void random_frame(carom_random *random, carom_vec3 *n, carom_vec3 *t) {
    *t = unit(gas_random_velocity(random));
    carom_vec3 w = gas_random_velocity(random);
    *n = unit(
        (carom_vec3){t->y * w.z - t->z * w.y, t->z * w.x - t->x * w.z, t->x * w.y - t->y * w.x});
}

/* Impact parameter over the sum of radii, minus one, of the two as they are, to long double. */
static long double miss_by(const carom_gas_sphere s[2]) {
    long double d[3] = {(long double)s[1].position.x - s[0].position.x,
                        (long double)s[1].position.y - s[0].position.y,
                        (long double)s[1].position.z - s[0].position.z};
    long double u[3] = {(long double)s[1].velocity.x - s[0].velocity.x,
                        (long double)s[1].velocity.y - s[0].velocity.y,
                        (long double)s[1].velocity.z - s[0].velocity.z};
    long double cross = 0, uu = 0;
    for (int axis = 0; axis < 3; ++axis) {
        int p = (axis + 1) % 3, q = (axis + 2) % 3;
        long double c = d[p] * u[q] - d[q] * u[p];
        cross += c * c, uu += u[axis] * u[axis];
    }
    return sqrtl(cross / uu) / ((long double)s[0].radius + s[1].radius) - 1;
}

/* Within a few units in the last place of a miss, on both sides of it. */
static void grazes_are_hits_or_misses(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {17};
    int cases = campaign_is_long() ? 400000 : TEST_CASES(20000), hits = 0, misses = 0, close = 0;
    for (int i = 0; i < cases; ++i) {
        carom_vec3 n = {0.0, 1.0, 0.0}, t = {1.0, 0.0, 0.0};
        if (i % 2 != 0) random_frame(&random, &n, &t);
        double reach = i % 3 == 0 ? 1.0 : carom_random_between(&random, 0.3, 1.3);
        double share = i % 5 == 0 ? 0.2 : 0.5, ahead = carom_random_between(&random, 0.1, 3.0);
        double speed = pow(10.0, carom_random_between(&random, -6.0, 3.0));
        double ulps = floor(carom_random_between(&random, -8.0, 9.0)) * (i % 7 == 0 ? 64.0 : 1.0);
        carom_vec3 centre = {5.0, 5.0, 5.0}, drift = {0.0, 0.0, 0.0};
        if (i % 4 == 0) drift = along(drift, speed, gas_random_velocity(&random));
        carom_gas_sphere s[2] = {{.position = centre, .velocity = drift, .radius = share * reach},
                                 {.radius = reach - share * reach}};
        s[1].mass = i % 9 == 0 ? 1e6 : 1.0;
        s[1].position = along(along(centre, reach * (1.0 + ulps * 0x1p-52), n), ahead, t);
        s[1].velocity = along(drift, -speed, t);
        carom_gas_def def = {.edges = {12.0, 12.0, 12.0},
                             .periodic = {true, true, true},
                             .method = (carom_gas_method)(1 + i % 3)};
        carom_gas *gas;
        carom_gas_event event;
        assert_ok(context, gas_create(context, &def, s, 2, &gas));
        assert_ok(context, carom_gas_next(context, gas, 1.2 * ahead / speed, &event));
        long double by = miss_by(s);
        bool hit = event.kind == CAROM_GAS_EVENT_KIND_PAIR;
        assert_true(hit || by > -1e-14L);
        assert_true(!hit || by < 1e-14L);
        hits += hit, misses += !hit, close += fabsl(by) < 1e-15L;
        assert_ok(context, carom_gas_next(context, gas, 1.3 * ahead / speed, &event));
        assert_int_equal(event.kind, CAROM_GAS_EVENT_KIND_NONE); /* a graze is one event */
        gas_assert_apart(context, gas);
        carom_gas_destroy(gas);
    }
    print_message("%d grazes: %d hits, %d misses as in long double, %d within 1e-15\n", cases, hits,
                  misses, close);
    carom_context_destroy(context);
}

/* A start in touch, moving along the tangent: apart at once, without an event or with one. */
static void touching_tangents_part(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {18};
    for (int i = 0; i < TEST_CASES(3000); ++i) {
        carom_vec3 n = {0.0, 1.0, 0.0}, t = {1.0, 0.0, 0.0};
        if (i % 2 != 0) random_frame(&random, &n, &t);
        carom_vec3 centre = {5.0, 5.0, 5.0}, drift = {0.0, 0.0, 0.0};
        double speed = pow(10.0, carom_random_between(&random, -6.0, 3.0));
        double ulps = floor(carom_random_between(&random, -8.0, 9.0));
        if (i % 4 != 0)
            drift = along(drift, speed * pow(10.0, i % 3), gas_random_velocity(&random));
        carom_gas_sphere s[2] = {{.position = centre, .velocity = drift, .radius = 0.37},
                                 {.velocity = along(drift, speed, t), .radius = 0.41}};
        s[1].position = along(centre, 0.78 * (1.0 + ulps * 0x1p-52), n);
        carom_gas_def def = {.edges = {12.0, 12.0, 12.0},
                             .periodic = {true, true, true},
                             .method = (carom_gas_method)(1 + i % 3)};
        carom_gas *gas;
        carom_gas_measures m;
        assert_ok(context, gas_create(context, &def, s, 2, &gas));
        assert_ok(context, carom_gas_advance(context, gas, 1.0 / speed, NULL, NULL));
        assert_ok(context, carom_gas_measure(context, gas, &m));
        assert_true(m.collisions <= 1);
        gas_assert_apart(context, gas);
        carom_gas_destroy(gas);
    }
    carom_context_destroy(context);
}

/* ---- at the same time ------------------------------------------------------------------------ */

typedef enum pattern { HEAD_ON, CORRIDORS, ALIKE, CHECKERED, PATTERNS } pattern;

/* 4 x 4 x 4 spheres of radius 1/2, spacing 2 or 1, on powers of two. */
static void lay(pattern pattern, carom_gas_sphere s[64]) {
    double step = pattern == ALIKE ? 1.0 : 2.0;
    for (int i = 0; i < 64; ++i) {
        int at[3] = {i % 4, i / 4 % 4, i / 16};
        double sign = at[0] % 2 == 0 ? 1.0 : -1.0;
        s[i] = (carom_gas_sphere){.radius = 0.5};
        s[i].position = (carom_vec3){0.5 + step * at[0], 0.5 + step * at[1], 0.5 + step * at[2]};
        if (pattern == HEAD_ON) s[i].velocity = (carom_vec3){sign, 0.0, 0.0};
        if (pattern == ALIKE) s[i].velocity = (carom_vec3){0.25, i == 21 ? -0.5 : 0.125, 0.0625};
        if (pattern == CHECKERED) {
            double v[3] = {0.0, 0.0, 0.0};
            v[(at[1] + at[2]) % 3] = at[(at[1] + at[2]) % 3] % 2 == 0 ? 1.0 : -1.0;
            s[i].velocity = (carom_vec3){v[0], v[1], v[2]};
        }
        /* Every other layer flies past those at rest, exactly in touch. */
        if (pattern == CORRIDORS) {
            s[i].position.z = 0.5 + at[2];
            if (at[2] % 2 == 1) s[i].velocity = (carom_vec3){sign, 0.0, 0.0};
        }
    }
}

static void exact_ties_keep_their_order(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_gas_sphere s[64];
    int events = campaign_is_long() ? 3000 : 400;
    uint64_t ties = 0, compared = 0;
    for (int n = 0; n < 8 * PATTERNS; ++n) {
        if (!campaign_has((uint64_t)n) || (!campaign_is_long() && n % 3 != 0)) continue;
        lay((pattern)(n / 8), s);
        carom_gas_def def = {.edges = {8.0, 8.0, 8.0}};
        for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = (n >> axis & 1) != 0;
        gas_course_query(context, &course, &def, s, 64, events);
        for (int i = 1; i < events; ++i)
            ties += course.wanted[i].since_create == course.wanted[i - 1].since_create;
        gas_course_follow_all(context, &course, &def, s, 64);
        compared += (uint64_t)events * GAS_WAYS;
    }
    print_message("lattices: %llu events equal the oracle's; %llu came with the one before\n",
                  (unsigned long long)compared, (unsigned long long)ties);
    assert_true(ties > 100);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grazes_are_hits_or_misses),
        cmocka_unit_test(touching_tangents_part),
        cmocka_unit_test(exact_ties_keep_their_order),
    };
    return cmocka_run_group_tests_name("gas grazes", tests, NULL, NULL);
}
