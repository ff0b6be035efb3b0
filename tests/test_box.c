/* SPDX-License-Identifier: MIT */
/* Boxes hold what they were made of, in exact arithmetic, and hardly more. One thread. */
#include "tests/support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "geom/box.h"
#include "geom/triangle_item.h"
#include "tests/support/triangle_pairs.h"

#define BIG_WORDS 36
#define BIG(name) big_##name
#include "tests/support/triangle_oracle.h"

/* Sign of face - (x - origin), exactly. */
static int compare(float face, double x, double origin) {
    if (isinf(face)) return face > 0.0f ? 1 : -1;
    big_int d = big_sub(big_from_double(x, -1074), big_from_double(origin, -1074));
    return big_sign(big_sub(big_from_double((double)face, -1074), d));
}

static void check_coordinate(double x, double origin) {
    float low = carom_float_down(x, origin), high = carom_float_up(x, origin);
    assert_false(isnan(low) || isnan(high));
    assert_true(compare(low, x, origin) <= 0);
    assert_true(compare(high, x, origin) >= 0);
    /* One float further in is too far: two when the difference itself was rounded. */
    assert_true(compare(nextafterf(nextafterf(low, HUGE_VALF), HUGE_VALF), x, origin) >= 0);
    assert_true(compare(nextafterf(nextafterf(high, -HUGE_VALF), -HUGE_VALF), x, origin) <= 0);
    if (x - origin == (double)(float)(x - origin) && origin == 0.0)
        assert_true((double)low == x && (double)high == x);
}

static void rounding_is_outward(void **state) {
    (void)state;
    static const double special[] = {
        0.0,  -0.0,  1.0,     -1.0,    1e-46,  -1e-46,  1e-40,    (double)FLT_MAX, -(double)FLT_MAX,
        1e39, -1e39, DBL_MAX, DBL_MIN, 5e-324, -5e-324, 0x1p-149, 0x1p-150,        16777217.0};
    carom_random random = {21};
    for (size_t i = 0; i < COUNT_OF(special); ++i)
        for (size_t j = 0; j < COUNT_OF(special); ++j) check_coordinate(special[i], special[j]);
    check_coordinate(DBL_MAX, -DBL_MAX);
    check_coordinate(-DBL_MAX, DBL_MAX);
    for (int i = 0; i < TEST_CASES(100000); ++i) {
        double size = ldexp(1.0, (int)(carom_random_next(&random) % 280) - 140);
        double x = size * carom_random_normal(&random);
        double origin = i % 3 == 0   ? 0.0
                        : i % 3 == 1 ? 1e6
                                     : x * carom_random_between(&random, 0.0, 2.0);
        check_coordinate(x, origin);
        check_coordinate(origin, x);
        if (fabs(x) < (double)FLT_MAX) check_coordinate((double)(float)x, 0.0);
    }
}

static void triangles_that_meet_have_boxes_that_overlap(void **state) {
    (void)state;
    carom_random random = {22};
    int apart = 0;
    for (int i = 0; i < TEST_CASES(60000); ++i) {
        carom_triangle a, b;
        pair_make(&random, (pair_kind)(i % PAIR_KIND_COUNT), &a, &b);
        if (i % 2 == 0) a = pair_moved(&a, PAIR_MOVE, 1.0), b = pair_moved(&b, PAIR_MOVE, 1.0);
        carom_vec3 origin = pair_uniform_point(&random);
        if (i % 4 == 0) origin.x = origin.y = PAIR_MOVE;
        carom_box box_a = carom_box_of_triangle(&a, origin);
        carom_box box_b = carom_box_of_triangle(&b, origin);
        if (carom_triangle_meet(&a, &b)) assert_true(carom_box_overlap(&box_a, &box_b));
        apart += !carom_box_overlap(&box_a, &box_b);
        assert_int_equal(carom_box_overlap(&box_a, &box_b), carom_box_overlap(&box_b, &box_a));
        for (int j = 0; j < 3; ++j) {
            const double *p = &a.corner[j].x, *o = &origin.x;
            for (int k = 0; k < 3; ++k) {
                assert_true(compare(box_a.low[k], p[k], o[k]) <= 0);
                assert_true(compare(box_a.high[k], p[k], o[k]) >= 0);
            }
        }
        carom_box both = carom_box_join(carom_box_join(carom_box_empty(), box_a), box_b);
        assert_true(carom_box_overlap(&both, &box_a) && carom_box_overlap(&both, &box_b));
        for (int k = 0; k < 3; ++k)
            assert_true(both.low[k] <= box_b.low[k] && both.high[k] >= box_a.high[k]);
    }
    if (TEST_MANY_CASES) assert_true(apart > TEST_CASES(8000));
    carom_box empty = carom_box_empty();
    assert_false(carom_box_overlap(&empty, &empty));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_outward),
        cmocka_unit_test(triangles_that_meet_have_boxes_that_overlap),
    };
    return cmocka_run_group_tests_name("box", tests, NULL, NULL);
}
