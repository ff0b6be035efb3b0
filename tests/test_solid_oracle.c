/* SPDX-License-Identifier: MIT */
/* The oracle of solid against what can be known without it. One thread. */
#include <math.h>

#include "tests/support/solid_oracle.h"
#include "tests/support/solids.h"

static solid_mesh a, b;

static bool near(quad x, quad y) {
    return quad_abs(x - y) <= (quad)1e-24 * (1 + quad_abs(y));
}

static void random_box(carom_random *random, double unit, double low[3], double high[3]) {
    for (int k = 0; k < 3; ++k) {
        low[k] = unit * (double)(carom_random_next(random) % 10);
        high[k] = low[k] + unit * (double)(1 + carom_random_next(random) % 10);
    }
}

static void boxes_have_a_box_in_common(void **state) {
    (void)state;
    carom_random random = {1};
    for (int i = 0; i < TEST_CASES(500); ++i) {
        double low[2][3], high[2][3], l[3], h[3];
        double unit = i % 2 == 0 ? 1.0 : 0x1.921fb54442d18p-3; /* the long integers as well */
        a.vertices = a.faces = b.vertices = b.faces = 0;
        random_box(&random, unit, low[0], high[0]);
        random_box(&random, unit, low[1], high[1]);
        /* No planes in common: the sides of the kinks are told apart elsewhere. */
        for (int k = 0; k < 3; ++k) low[1][k] += unit * 0.5, high[1][k] += unit * 0.25;
        solid_add_box(&a, low[0], high[0], false);
        solid_add_box(&b, low[1], high[1], false);
        carom_mesh_view view_a = solid_view(&a), view_b = solid_view(&b);
        solid_truth truth;
        solid_oracle(&view_a, &view_b, &truth);
        bool empty = false;
        for (int k = 0; k < 3; ++k) {
            l[k] = fmax(low[0][k], low[1][k]);
            h[k] = fmin(high[0][k], high[1][k]);
            empty = empty || !(l[k] < h[k]);
        }
        for (int k = 0; k < 3 && empty; ++k) l[k] = h[k] = 0.0;
        quad side[3], force[3], middle[3];
        for (int k = 0; k < 3; ++k)
            side[k] = (quad)h[k] - l[k], middle[k] = ((quad)h[k] + l[k]) / 2;
        quad volume = side[0] * side[1] * side[2];
        assert_true(near(truth.volume, volume));
        assert_true(
            near(truth.area, 2 * (side[0] * side[1] + side[1] * side[2] + side[2] * side[0])));
        assert_true(truth.coincident == 0);
        for (int k = 0; k < 3; ++k) {
            quad cut = side[(k + 1) % 3] * side[(k + 2) % 3];
            force[k] = cut * ((l[k] == low[1][k] && !empty) - (h[k] == high[1][k] && !empty));
            assert_true(near(truth.moment[k], volume * middle[k]));
            assert_true(near(truth.force[k], force[k]));
        }
        for (int k = 0; k < 3; ++k) {
            int n = (k + 1) % 3, o = (k + 2) % 3;
            assert_true(near(truth.torque[k], middle[n] * force[o] - middle[o] * force[n]));
        }
        quad size = 1;
        for (int k = 0; k < 3; ++k) size *= (quad)high[0][k] - low[0][k];
        assert_true(near(solid_oracle_volume(&view_a), size));
    }
}

static void solids_are_closed_and_agree_with_themselves(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {5};
    for (int i = 0; i < TEST_CASES(300); ++i) {
        solid_truth with_itself, one, other;
        carom_mesh_report report;
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 4 == 0) solid_split(&random, &a, 20);
        carom_mesh_view view_a = solid_view(&a), view_b = solid_view(&b);
        assert_ok(context, carom_mesh_inspect(context, &view_a, &report));
        assert_true(report.balanced && report.volume > 0.0 && report.triangles <= 300);
        assert_true((double)solid_oracle_volume(&view_a) == report.volume);
        solid_oracle(&view_a, &view_a, &with_itself);
        if (report.closed) assert_true(near(with_itself.volume, solid_oracle_volume(&view_a)));
        if (report.closed)
            assert_true(fabs((double)with_itself.coincident / report.area - 1) < 1e-12);
        solid_oracle(&view_a, &view_b, &one);
        solid_oracle(&view_b, &view_a, &other);
        assert_true(near(one.volume, other.volume));
        assert_true(near(one.area, other.area));
        for (int k = 0; k < 3; ++k) {
            assert_true(near(one.moment[k], other.moment[k]));
            assert_true(near(one.force[k], -other.force[k]));
            assert_true(near(one.torque[k], -other.torque[k]));
        }
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_have_a_box_in_common),
        cmocka_unit_test(solids_are_closed_and_agree_with_themselves),
    };
    return cmocka_run_group_tests_name("solid_oracle", tests, NULL, NULL);
}
