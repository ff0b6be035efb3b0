/* SPDX-License-Identifier: MIT */
/* Whether triangles are within a reach of each other, at exact ties above all. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/within.h"
#include "tests/support/kfree_oracle.h"
#include "tests/support/test.h"

static carom_triangle random_triangle(carom_random *random, uint32_t size) {
    carom_triangle t;
    for (int i = 0; i < 3; ++i) {
        t.corner[i].x = (double)(carom_random_next(random) % size);
        t.corner[i].y = (double)(carom_random_next(random) % size);
        t.corner[i].z = (double)(carom_random_next(random) % size);
    }
    return t;
}

static carom_triangle scaled_triangle(carom_triangle t, double scale, double by) {
    for (int i = 0; i < 3; ++i) {
        t.corner[i].x = t.corner[i].x * scale + by;
        t.corner[i].y = t.corner[i].y * scale + by;
        t.corner[i].z = t.corner[i].z * scale + by;
    }
    return t;
}

/* Reaches that are exactly the distance are common on a lattice; so are those a hair less. */
static void within_is_exact_at_the_reach(void **state) {
    (void)state;
    static const double scales[] = {1.0, 0x1p-40, 0x1p300, 0x1p-600, 0x1p900};
    carom_random random = {31};
    int undecided = 0, yes = 0, ties = 0;
    for (int i = 0; i < TEST_CASES(200000); ++i) {
        uint32_t size = i % 2 == 0 ? 5 : 24;
        carom_triangle a = random_triangle(&random, size), b = random_triangle(&random, size);
        real3 ra[3], rb[3];
        double reach = (double)(carom_random_next(&random) % (size / 2));
        double moved = i % 3 == 0 ? (double)(size / 2) : 0.0; /* apart, most of the time */
        for (int k = 0; k < 3; ++k) b.corner[k].x += moved;
        for (int k = 0; k < 3; ++k) {
            ra[k] = real3_of(a.corner[k]);
            rb[k] = real3_of(b.corner[k]);
        }
        bool expected = oracle_within(ra, rb, (real)reach * (real)reach);
        double scale = scales[i % (int)COUNT_OF(scales)], by = scale == 1.0 ? 1e6 : 0.0;
        carom_triangle sa = scaled_triangle(a, scale, by), sb = scaled_triangle(b, scale, by);
        int verdict = carom_within_filter(&sa, &sb, reach * scale);
        if (verdict != CAROM_UNDECIDED && (verdict == CAROM_YES) != expected)
            fail_msg("pair %d, reach %g: the filter says %d", i, reach, verdict);
        if (verdict == CAROM_UNDECIDED || i % 16 == 0) {
            if (carom_within_exact(&sa, &sb, reach * scale) != expected ||
                carom_within_exact(&sb, &sa, reach * scale) != expected)
                fail_msg("pair %d, reach %g: the exact test is wrong", i, reach);
            if (expected && reach > 0.0) {
                double less = nextafter(reach, 0.0);
                real squared = (real)reach * (real)reach * (1.0L - 0x1p-50L);
                bool still = oracle_within(ra, rb, squared);
                ties += still ? 0 : 1;
                if (carom_within_exact(&sa, &sb, less * scale) != still)
                    fail_msg("pair %d, a hair below %g", i, reach);
            }
        }
        undecided += verdict == CAROM_UNDECIDED ? 1 : 0;
        yes += expected ? 1 : 0;
    }
    print_message("%d within, %d left open, %d at exactly the reach\n", yes, undecided, ties);
    if (TEST_MANY_CASES)
        assert_true(undecided > TEST_CASES(1000) && yes > TEST_CASES(10000) &&
                    ties > TEST_CASES(500));
}

/* Sizes 2^1000 apart in one pair: the filter must not guess. */
static void within_holds_at_any_scale(void **state) {
    (void)state;
    carom_triangle huge = {{{0, 0, 0}, {0x1p900, 0, 0}, {0, 0x1p900, 0}}};
    carom_triangle tiny = {{{1.0, 1.0, 0x1p-900}, {2.0, 1.0, 0x1p-900}, {1.0, 2.0, 0x1p-900}}};
    assert_true(carom_within(&huge, &tiny, 0x1p-900));
    assert_false(carom_within(&huge, &tiny, nextafter(0x1p-900, 0.0)));
    assert_false(carom_within(&huge, &tiny, 0.0));
    tiny.corner[0].z = 0.0;
    assert_true(carom_within(&tiny, &huge, 0.0));
    carom_triangle point = {{{3, 4, 0}, {3, 4, 0}, {3, 4, 0}}};
    carom_triangle other = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    assert_true(carom_within(&point, &point, 0.0));
    assert_true(carom_within(&point, &other, 5.0));
    assert_false(carom_within(&point, &other, nextafter(5.0, 0.0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_is_exact_at_the_reach),
        cmocka_unit_test(within_holds_at_any_scale),
    };
    return cmocka_run_group_tests_name("within", tests, NULL, NULL);
}
