/* SPDX-License-Identifier: MIT */
/* Gases as unlike as they may be, against the oracle in all ways: radii of ratio ten, masses of
 * ratio a million, boxes hardly wider than a sphere or a cell, walls along some axes, falling, over
 * many epochs. One thread. */
#include <math.h>

#include "tests/support/campaign.h"
#include "tests/support/gas_course.h"

static gas_course course;
static carom_gas_sphere spheres[GAS_ORACLE_MOST];

/* Large ones first, then small ones between them; `large` and `small` are radii. */
static int fill(uint64_t seed, const carom_gas_def *def, double large, int larges, double small,
                int smalls) {
    carom_random random = {seed};
    int count = 0, made_large = 0;
    for (int attempt = 0; attempt < 20000 && count < larges + smalls; ++attempt) {
        bool is_large = made_large < larges && attempt < 5000;
        carom_gas_sphere *s = &spheres[count];
        *s = (carom_gas_sphere){.radius = is_large ? large : small};
        if (!gas_random_position(&random, def, spheres, count, s)) continue;
        s->mass = pow(10.0, carom_random_between(&random, -3.0, 3.0));
        s->velocity = gas_random_velocity(&random);
        made_large += is_large;
        ++count;
    }
    assert_true(made_large > 0 && count > made_large);
    spheres[0].mass = 1e3, spheres[count - 1].mass = 1e-3;
    return count;
}

static uint64_t follow(carom_context *context, const carom_gas_def *def, int count, int events) {
    gas_course_query(context, &course, def, spheres, count, events);
    gas_course_follow_all(context, &course, def, spheres, count);
    return (uint64_t)events * GAS_WAYS;
}

static void radii_of_ratio_ten_and_masses_of_a_million(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    int seeds = campaign_is_long() ? 64 : TEST_CASES(4), events = campaign_is_long() ? 5000 : 600;
    uint64_t compared = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        carom_gas_def def = {.edges = {5.0, 6.0, 5.5}};
        for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = ((seed + 5) >> axis & 1) != 0;
        int count = fill((uint64_t)seed, &def, 1.0, 5, 0.1, 59);
        compared += follow(context, &def, count, events);
    }
    print_message("radii 10 : 1, masses 10^6 : 1: %llu events equal the oracle's\n",
                  (unsigned long long)compared);
    carom_context_destroy(context);
}

/* A sphere is near its neighbours in more than one image; boxes of one, two and three cells. */
static void boxes_hardly_wider_than_a_cell(void **state) {
    (void)state;
    static const double widths[] = {2.001, 2.1, 3.9, 4.0, 4.01, 6.02};
    carom_context *context = test_context(1);
    int rounds = campaign_is_long() ? 8 : 1, events = campaign_is_long() ? 4000 : 300;
    uint64_t compared = 0, number = 0;
    for (int round = 0; round < rounds; ++round)
        for (size_t w = 0; w < COUNT_OF(widths); ++w)
            for (int walls = 0; walls < 8; walls += campaign_is_long() ? 1 : 3) {
                if (!campaign_has(number++)) continue;
                double r = 0.5, other = widths[(w + 1 + (size_t)round) % COUNT_OF(widths)];
                carom_gas_def def = {.edges = {widths[w] * r, other * r, 9.0 * r}};
                for (int axis = 0; axis < 3; ++axis) def.periodic[axis] = (walls >> axis & 1) == 0;
                int count = fill(number, &def, r, 6, 0.3 * r, 10);
                compared += follow(context, &def, count, events);
            }
    print_message("narrow boxes: %llu events equal the oracle's\n", (unsigned long long)compared);
    carom_context_destroy(context);
}

/* Falling onto a floor, losing little: spheres come to lie on it and on each other, hopping below
 * elastic_below. */
static void heaps_that_come_to_rest(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    int seeds = campaign_is_long() ? 32 : TEST_CASES(3), events = campaign_is_long() ? 10000 : 1500;
    uint64_t compared = 0;
    for (int seed = 0; seed < seeds; ++seed) {
        if (!campaign_has((uint64_t)seed)) continue;
        carom_gas_def def = {.edges = {4.0, 4.5, 12.0},
                             .periodic = {seed % 2 == 0, seed % 3 == 0, false},
                             .acceleration = {seed % 3 == 1 ? 0.2 : 0.0, 0.0, -1.0},
                             .loss = 0.3,
                             .wall_loss = 0.4,
                             .elastic_below = 0.02};
        int count = fill((uint64_t)seed, &def, 0.5, 20, 0.4, 12);
        for (int i = 0; i < count; ++i) spheres[i].mass = 0.0;
        compared += follow(context, &def, count, events);
    }
    print_message("heaps: %llu events equal the oracle's\n", (unsigned long long)compared);
    carom_context_destroy(context);
}

/* Ticks so short that an epoch is a fraction of a collision time, and as long as allowed. */
static void any_tick_and_many_epochs(void **state) {
    (void)state;
    static const double ticks[] = {0x1p-66, 0x1p-63, 0x1p-60, 0x1p-40, 0x1p-25};
    carom_context *context = test_context(1);
    int events = campaign_is_long() ? 10000 : 800;
    uint64_t compared = 0, epochs = 0;
    for (size_t t = 0; t < COUNT_OF(ticks); ++t) {
        if (!campaign_has(t)) continue;
        carom_gas_def def = {
            .edges = {5.0, 6.0, 5.5}, .periodic = {true, t % 2 == 0, true}, .tick = ticks[t]};
        if (t % 2 == 1) def.acceleration = (carom_vec3){0.0, -0.1, 0.0};
        int count = fill(900 + t, &def, 0.5, 40, 0.25, 20);
        for (int i = 0; i < count; ++i) spheres[i].mass = 0.0;
        compared += follow(context, &def, count, events);
        epochs += course.oracle.epochs;
    }
    print_message("ticks: %llu events equal the oracle's, over %llu epochs\n",
                  (unsigned long long)compared, (unsigned long long)epochs);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radii_of_ratio_ten_and_masses_of_a_million),
        cmocka_unit_test(boxes_hardly_wider_than_a_cell),
        cmocka_unit_test(heaps_that_come_to_rest),
        cmocka_unit_test(any_tick_and_many_epochs),
    };
    return cmocka_run_group_tests_name("gas mixed", tests, NULL, NULL);
}
