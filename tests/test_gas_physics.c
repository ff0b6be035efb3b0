/* SPDX-License-Identifier: MIT */
/* What is known of hard spheres and was not made up here: the equation of state (Kolafa), Maxwell's
 * velocities, Enskog's collision rate, conservation; and events against extended precision.
 * CAROM_LONG=1 runs long enough for half a percent; otherwise runs are short and bounds wider.
 * One thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/gas.h"
#include "tests/support/campaign.h"
#include "tests/support/gas_course.h"

#define PI 3.14159265358979323846

static carom_gas *start(carom_context *context, uint64_t count, double fraction) {
    double edge = scene_gas_edge(count, 0.5, fraction);
    carom_gas_def def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}};
    carom_gas_sphere *spheres = scene_gas_lattice(count, 0.5, def.edges, 1);
    carom_gas *gas;
    assert_non_null(spheres);
    assert_ok(context, gas_create(context, &def, spheres, count, &gas));
    free(spheres);
    return gas;
}

static double kolafa(double f) {
    return (1.0 + f + f * f - 2.0 / 3.0 * f * f * f * (1.0 + f)) /
           ((1.0 - f) * (1.0 - f) * (1.0 - f));
}

/* Z, and with it Enskog's rate: collisions a sphere = 24 f g / sqrt(pi) with Z = 1 + 4 f g. */
static void the_equation_of_state_is_kolafas(void **state) {
    (void)state;
    static const double fractions[] = {0.1, 0.2, 0.3, 0.4, 0.49};
    carom_context *context = test_context(1);
    uint64_t count = campaign_is_long() ? 3650 : 1250; /* a lattice with gaps melts, even at 0.49 */
    for (size_t i = 0; i < COUNT_OF(fractions); ++i) {
        if (!campaign_has(1 + i)) continue;
        double f = fractions[i], z = kolafa(f), rate = 6.0 * (z - 1.0) / sqrt(PI);
        carom_gas *gas = start(context, count, f);
        double melt = (campaign_is_long() ? 400.0 : 60.0) / rate,
               length = (campaign_is_long() ? 3000.0 : 100.0) / rate;
        carom_gas_measures m;
        assert_ok(context, carom_gas_advance(context, gas, melt, NULL, NULL));
        assert_ok(context, carom_gas_reset_measures(context, gas));
        assert_ok(context, carom_gas_advance(context, gas, melt + length, NULL, NULL));
        assert_ok(context, carom_gas_measure(context, gas, &m));
        /* Without drift there are 3(n - 1) degrees of freedom: the finite-size correction. */
        double ours = 1.0 + (m.z - 1.0) * (1.0 - 1.0 / (double)count);
        print_message(
            "fraction %.2f: Z %.4f, Kolafa %.4f (%+.2f %%), rate %.4f, Enskog %.4f (%+.2f "
            "%%); %llu collisions\n",
            f, ours, z, 100.0 * (ours / z - 1.0), m.collision_rate, rate,
            100.0 * (m.collision_rate / rate - 1.0), (unsigned long long)m.collisions);
        assert_true(fabs(ours / z - 1.0) < (campaign_is_long() ? 0.005 : 0.03));
        assert_true(fabs(m.collision_rate / rate - 1.0) < (campaign_is_long() ? 0.005 : 0.03));
        carom_gas_destroy(gas);
    }
    carom_context_destroy(context);
}

/* All spheres start with one speed; collisions make them Maxwell's: second and fourth moments of
 * the components, and their distribution function at five points. */
static void velocities_become_maxwells(void **state) {
    (void)state;
    static const double at[] = {-1.5, -0.5, 0.0, 0.5, 1.5};
    if (!campaign_has(6)) return;
    carom_context *context = test_context(1);
    uint64_t count = 2916;
    double edge = scene_gas_edge(count, 0.5, 0.2);
    carom_gas_def def = {.edges = {edge, edge, edge}, .periodic = {true, true, true}};
    carom_gas_sphere *spheres = scene_gas_lattice(count, 0.5, def.edges, 3);
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        double scale = sqrt(3.0 / (v->x * v->x + v->y * v->y + v->z * v->z));
        *v = (carom_vec3){v->x * scale, v->y * scale, v->z * scale};
    }
    carom_gas *gas;
    assert_ok(context, gas_create(context, &def, spheres, count, &gas));
    double square = 0.0, fourth = 0.0, below[5] = {0.0}, samples = 0.0;
    for (int round = 0; round < 20; ++round) {
        carom_gas_spheres now = {0};
        assert_ok(context, carom_gas_advance(context, gas, 3.0 + round, NULL, NULL));
        assert_ok(context, carom_gas_list_spheres(context, gas, &now));
        for (uint64_t i = 0; i < now.count; ++i) {
            const double v[3] = {now.data[i].velocity.x, now.data[i].velocity.y,
                                 now.data[i].velocity.z};
            for (int axis = 0; axis < 3; ++axis, samples += 1.0) {
                square += v[axis] * v[axis];
                fourth += v[axis] * v[axis] * v[axis] * v[axis];
                for (int k = 0; k < 5; ++k) below[k] += v[axis] < at[k];
            }
        }
        carom_gas_spheres_free(&now);
    }
    assert_true(fabs(square / samples - 1.0) < 0.02);
    assert_true(fabs(fourth / samples - 3.0) < 0.1);
    for (int k = 0; k < 5; ++k)
        assert_true(fabs(below[k] / samples - 0.5 * erfc(-at[k] / sqrt(2.0))) < 0.01);
    free(spheres);
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

static void energy_and_momentum_stay_and_nothing_overlaps(void **state) {
    (void)state;
    if (!campaign_has(0)) return;
    carom_context *context = test_context(1);
    double wanted = campaign_is_long() ? 1e8 : 3e5;
    carom_gas *gas = start(context, 4000, 0.45);
    carom_gas_measures first, m;
    assert_ok(context, carom_gas_measure(context, gas, &first));
    carom_random random = {12};
    double deepest = 0.0;
    do {
        double overlap, step = wanted / 4000.0 / 10.0 / 40.0 * carom_random_uniform(&random);
        assert_ok(context,
                  carom_gas_advance(context, gas, carom_gas_get_time(gas) + step, NULL, NULL));
        assert_ok(context, carom_gas_overlap(context, gas, &overlap));
        deepest = fmax(deepest, overlap);
        assert_ok(context, carom_gas_measure(context, gas, &m));
    } while ((double)m.collisions < wanted);
    double drift = fabs(m.energy / first.energy - 1.0);
    print_message("%llu collisions: energy drift %.2e, momentum %.2e %.2e %.2e, overlap %.2e\n",
                  (unsigned long long)m.collisions, drift, m.momentum.x, m.momentum.y, m.momentum.z,
                  deepest);
    assert_true(drift < 1e-10);
    assert_true(fabs(m.momentum.x) < 1e-9 && fabs(m.momentum.y) < 1e-9 &&
                fabs(m.momentum.z) < 1e-9);
    assert_true(deepest <= gas_most_overlap(gas));
    carom_gas_destroy(gas);
    carom_context_destroy(context);
}

/* ---- extended precision ---------------------------------------------------------------------- */

typedef struct collision {
    long double delay;
    uint32_t a, b; /* b: count + side for a wall */
} collision;

static void look_at_walls(const carom_gas *gas, uint32_t i, const long double x[3],
                          const long double v[3], collision *best) {
    for (uint32_t side = 0; side < 6; ++side) {
        int axis = (int)side / 2;
        if (gas->rules.periodic[axis] || (side % 2 == 0 ? v[axis] >= 0 : v[axis] <= 0)) continue;
        long double r = carom_gas_radius(gas, gas->slot_of[i]);
        long double to = side % 2 == 0 ? r : (long double)gas->rules.edge[axis] - r;
        long double delay = fmaxl((to - x[axis]) / v[axis], 0.0L);
        if (delay < best->delay) *best = (collision){delay, i, (uint32_t)gas->count + side};
    }
}

static void look_at_pair(const carom_gas *gas, uint32_t i, uint32_t k, const long double x[3],
                         const long double v[3], const long double y[3], const long double w[3],
                         collision *best) {
    long double reach = (long double)carom_gas_radius(gas, gas->slot_of[i]) +
                        carom_gas_radius(gas, gas->slot_of[k]);
    long double near[3], u[3], uu = 0;
    for (int axis = 0; axis < 3; ++axis) {
        long double edge = gas->rules.edge[axis];
        near[axis] = y[axis] - x[axis];
        if (gas->rules.periodic[axis]) near[axis] -= edge * roundl(near[axis] / edge);
        u[axis] = w[axis] - v[axis];
        uu += u[axis] * u[axis];
    }
    for (int n = 0; n < 27; ++n) {
        long double b = 0, rr = 0;
        int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
        bool sensible = true;
        for (int axis = 0; axis < 3; ++axis) {
            long double d = near[axis] + offset[axis] * (long double)gas->rules.edge[axis];
            sensible &= gas->rules.periodic[axis] || offset[axis] == 0;
            b += d * u[axis], rr += d * d;
        }
        long double gap = rr - reach * reach, disc = b * b - uu * gap;
        if (!sensible || b >= 0 || disc < 0) continue;
        long double delay = fmaxl(gap, 0.0L) / (sqrtl(disc) - b);
        if (delay < best->delay) *best = (collision){delay, i, k};
    }
}

/* The next event from the present bodies, in long double, nearest images. */
static collision next_collision(const carom_gas *gas) {
    collision best = {1e30L, 0, 0};
    static long double x[128][3], v[128][3];
    for (uint32_t i = 0; i < gas->count; ++i)
        for (int axis = 0; axis < 3; ++axis) {
            const carom_gas_body *body = &gas->bodies[gas->slot_of[i]];
            v[i][axis] = body->v[axis];
            x[i][axis] = body->x[axis] + v[i][axis] * ((long double)(gas->now - body->t) *
                                                       (long double)gas->rules.tick);
        }
    for (uint32_t i = 0; i < gas->count; ++i) {
        look_at_walls(gas, i, x[i], v[i], &best);
        for (uint32_t k = i + 1; k < gas->count; ++k)
            look_at_pair(gas, i, k, x[i], v[i], x[k], v[k], &best);
    }
    return best;
}

/* Radii and masses mixed by a factor of ten, two axes with walls. */
static carom_gas *start_mixed(carom_context *context) {
    carom_gas_def def = {.edges = {7.0, 6.0, 8.0}, .periodic = {false, true, false}};
    carom_gas_sphere spheres[100];
    int count = gas_random_spheres(8, &def, 0.1, 10.0, 100, spheres);
    for (int i = 0; i < count; ++i) spheres[i].mass = i % 2 == 0 ? 1.0 : 10.0;
    carom_gas *gas;
    assert_ok(context, gas_create(context, &def, spheres, (uint64_t)count, &gas));
    return gas;
}

static void events_are_those_of_extended_precision(void **state) {
    (void)state;
    static const double fractions[] = {0.02, 0.3, 0.45};
    carom_context *context = test_context(1);
    int states = campaign_is_long() ? 2500 : 100, looked = 0, other = 0;
    double worst = 0.0;
    for (size_t f = 0; f <= COUNT_OF(fractions); ++f) {
        carom_gas *gas =
            f < COUNT_OF(fractions) ? start(context, 108, fractions[f]) : start_mixed(context);
        assert_ok(context, carom_gas_advance(context, gas, 3.0, NULL, NULL));
        for (int i = 0; i < states; ++i) {
            bool mine = campaign_has((uint64_t)i);
            collision wanted = mine ? next_collision(gas) : (collision){0};
            carom_gas_event event;
            uint64_t now = gas_ticks(gas);
            assert_ok(context, carom_gas_next(context, gas, 1e6, &event));
            if (!mine) continue;
            double delay = (double)(gas_ticks(gas) - now) * gas->rules.tick;
            double error = fabs(delay - (double)wanted.delay);
            uint32_t b =
                event.kind == CAROM_GAS_EVENT_KIND_WALL ? (uint32_t)gas->count + event.b : event.b;
            bool same = event.a == wanted.a && b == wanted.b;
            ++looked;
            other += !same;
            worst = fmax(worst, error);
            assert_true(same || error < 1e-12);
        }
        carom_gas_destroy(gas);
    }
    print_message("%d states: %d other events, times off by at most %.1e\n", looked, other, worst);
    assert_true(worst < 1e-9);
    assert_true(test_malloc_count() > 0);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_equation_of_state_is_kolafas),
        cmocka_unit_test(velocities_become_maxwells),
        cmocka_unit_test(energy_and_momentum_stay_and_nothing_overlaps),
        cmocka_unit_test(events_are_those_of_extended_precision),
    };
    return cmocka_run_group_tests_name("gas physics", tests, NULL, NULL);
}
