/* SPDX-License-Identifier: MIT */
/* Overlaps of lattice solids, where everything coincides, against exact rational arithmetic. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/campaign.h"
#include "tests/support/solid_check.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static solid_mesh a, b, c;

/* ---- against the oracle ---------------------------------------------------------------------- */

static void shifted_solids_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 20000 : TEST_CASES(1000)); ++i) {
        carom_random random = {1000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        carom_pose shift = solid_lattice_shift(&random, 1 + test_below(&random, 8));
        solid_check(context, &a, NULL, &b, &shift, 1e-13, solid_case(&a, &b, "shifted", i));
    }
}

static void copies_of_a_solid_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 10000 : TEST_CASES(600)); ++i) {
        carom_random random = {100000 + i};
        solid_make_random(&random, &a);
        b = a;
        if (i % 4 == 1) solid_rotate(&b, test_below(&random, 24));
        if (i % 4 == 2) solid_split(&random, &b, 1 + test_below(&random, 20));
        if (i % 4 == 3) solid_split(&random, &a, 1 + test_below(&random, 20));
        carom_pose shift = solid_lattice_shift(&random, i % 8 < 4 ? 0 : 2);
        solid_check(context, &a, NULL, &b, &shift, 1e-13, solid_case(&a, &b, "copy", i));
    }
}

static void turned_solids_overlap_as_they_should(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 1000 : TEST_CASES(100)); ++i) {
        carom_random random = {200000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 3 == 0) b = a;
        carom_pose one = solid_lattice_turn(&random, 6), other = solid_lattice_turn(&random, 6);
        if (i % 2 == 0) other = one;
        solid_check(context, &a, i % 2 == 0 ? &one : NULL, &b, &other, 1e-13,
                    solid_case(&a, &b, "turned", i));
    }
}

/* ---- identities ------------------------------------------------------------------------------ */

static void inside_and_outside_make_a_whole(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 20000 : TEST_CASES(1500)); ++i) {
        carom_random random = {300000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 5 == 0) b = a;
        carom_pose pose =
            i % 3 == 0 ? solid_lattice_turn(&random, 5) : solid_lattice_shift(&random, 5);
        carom_pose both = solid_lattice_turn(&random, 100), there;
        const char *name = solid_case(&a, &b, "whole", i);
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        carom_solid *not_x = solid_prepare(context, &a, true);
        carom_solid *not_y = solid_prepare(context, &b, true);
        carom_solid_info info_x, info_y;
        assert_ok(context, carom_solid_get_info(x, &info_x));
        assert_ok(context, carom_solid_get_info(y, &info_y));
        double volume_x = info_x.volume, volume_y = info_y.volume;
        carom_solid_result common = solid_overlap_of(context, x, NULL, y, &pose);
        carom_solid_result rest = solid_overlap_of(context, x, NULL, not_y, &pose);
        double volume = common.volume, only_x = rest.volume;
        double tolerance = solid_tolerance(volume, volume_x, volume_y);
        solid_check_near(name, "a and not b", volume + only_x, volume_x,
                         tolerance + solid_tolerance(only_x, volume_x, volume_y));
        double small = 1e-13 * (info_x.area + info_y.area);
        solid_check_near(name, "force", common.force.x, -rest.force.x, small);
        solid_check_near(name, "force", common.force.y, -rest.force.y, small);
        solid_check_near(name, "force", common.force.z, -rest.force.z, small);
        solid_check_near(name, "torque", common.torque.y, -rest.torque.y, 100 * small);
        solid_check_near(name, "moment", volume * common.centroid.z + only_x * rest.centroid.z,
                         volume_x * info_x.centroid.z, 1e-12 * (100 + volume_x * 32));
        double only_y = solid_overlap_of(context, not_x, NULL, y, &pose).volume;
        solid_check_near(name, "b and not a", volume + only_y, volume_y,
                         tolerance + solid_tolerance(only_y, volume_x, volume_y));
        solid_check_near(name, "swapped", solid_overlap_of(context, y, &pose, x, NULL).volume,
                         volume, tolerance);
        there = pose;
        if (i % 3 != 0) { /* lattice shifts add up without rounding */
            carom_pose shift = solid_lattice_shift(&random, 1000);
            there.t.x += shift.t.x, there.t.y += shift.t.y, there.t.z += shift.t.z;
            solid_check_near(name, "shifted",
                             solid_overlap_of(context, x, &shift, y, &there).volume, volume,
                             tolerance);
            both.t = (carom_vec3){0, 0, 0}; /* a and b as far from each other as before */
        }
        solid_pose(&b, &pose, &c);
        carom_solid *posed = solid_prepare(context, &c, false);
        solid_check_near(name, "posed before",
                         solid_overlap_of(context, x, NULL, posed, NULL).volume, volume, tolerance);
        /* x' is rounded: by some 1e-16 of the solids' size, over the smaller one's surface */
        double area = fmin(info_x.area, info_y.area);
        solid_check_near(name, "moved", solid_overlap_of(context, x, &both, posed, &both).volume,
                         volume, tolerance + 1e-14 * area);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
        carom_solid_destroy(not_x);
        carom_solid_destroy(not_y);
        carom_solid_destroy(posed);
    }
}

static void splitting_faces_changes_nothing(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 10000 : TEST_CASES(600)); ++i) {
        carom_random random = {400000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 4 == 0) b = a;
        carom_pose pose =
            i % 3 == 0 ? solid_lattice_turn(&random, 5) : solid_lattice_shift(&random, 5);
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        solid_split(&random, &a, 1 + test_below(&random, 60));
        solid_split(&random, &b, 1 + test_below(&random, 60));
        carom_solid *fine_x = solid_prepare(context, &a, false);
        carom_solid *fine_y = solid_prepare(context, &b, false);
        carom_solid_info info_x, info_y;
        assert_ok(context, carom_solid_get_info(x, &info_x));
        assert_ok(context, carom_solid_get_info(y, &info_y));
        carom_solid_result rough = solid_overlap_of(context, x, NULL, y, &pose);
        double tolerance = solid_tolerance(rough.volume, info_x.volume, info_y.volume);
        const char *name = solid_case(&a, &b, "split", i);
        carom_solid_result fine[3] = {solid_overlap_of(context, fine_x, NULL, y, &pose),
                                      solid_overlap_of(context, x, NULL, fine_y, &pose),
                                      solid_overlap_of(context, fine_x, NULL, fine_y, &pose)};
        /* Where corners are rounded, those that split a face do not stay in its plane. */
        if (i % 3 == 0) tolerance += 1e-15 * info_y.area * 32;
        for (int k = 0; k < 3; ++k) {
            solid_check_near(name, "volume", fine[k].volume, rough.volume, tolerance);
            if (i % 3 == 0) continue;
            solid_check_near(name, "area", fine[k].area, rough.area,
                             1e-12 * (info_x.area + info_y.area));
            solid_check_near(name, "force", fine[k].force.x, rough.force.x,
                             1e-12 * (info_x.area + info_y.area));
            assert_int_equal(fine[k].relation, rough.relation);
        }
        carom_solid_destroy(x);
        carom_solid_destroy(y);
        carom_solid_destroy(fine_x);
        carom_solid_destroy(fine_y);
    }
}

/* ---- kinks ----------------------------------------------------------------------------------- */

/* The force where faces lie in one another is the mean for b moved by (e, e^2, e^3) and back. */
static void kinks_are_seen_from_both_sides(void **state) {
    (void)state;
    for (uint64_t i = 0; i < (campaign_is_long() ? 500 : TEST_CASES(60)); ++i) {
        carom_random random = {500000 + i};
        solid_make_small(&random, 60, &a);
        solid_make_small(&random, 60, &b);
        if (i % 3 == 0) b = a;
        carom_pose pose = solid_lattice_shift(&random, i % 2 == 0 ? 4 : 1);
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        carom_solid_result overlap = solid_overlap_of(context, x, NULL, y, &pose);
        double e = 0x1p-15; /* its cube must survive the sum with coordinates up to 32 */
        double area = 0.0, force[3] = {0.0, 0.0, 0.0};
        for (int side = -1; side <= 1; side += 2) {
            carom_pose moved = pose;
            moved.t.x += side * e, moved.t.y += side * e * e, moved.t.z += side * e * e * e;
            solid_pose(&b, &moved, &c);
            carom_mesh_view view_a = solid_view(&a), view_c = solid_view(&c);
            solid_truth truth;
            solid_oracle(&view_a, &view_c, &truth);
            area += 0.5 * (double)truth.area;
            for (int k = 0; k < 3; ++k) force[k] += 0.5 * (double)truth.force[k];
        }
        const char *name = solid_case(&a, &b, "kink", i);
        solid_check_near(name, "area", overlap.area, area, 0.05);
        solid_check_near(name, "force x", overlap.force.x, force[0], 0.05);
        solid_check_near(name, "force y", overlap.force.y, force[1], 0.05);
        solid_check_near(name, "force z", overlap.force.z, force[2], 0.05);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
    }
}

/* ---- the same bytes -------------------------------------------------------------------------- */

static uint64_t hash_of_overlaps(carom_context *with) {
    uint64_t hash = 0;
    for (uint64_t i = 0; i < 60; ++i) {
        carom_random random = {600000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        carom_pose pose =
            i % 2 == 0 ? solid_lattice_turn(&random, 5) : solid_lattice_shift(&random, 5);
        carom_solid *x = solid_prepare(with, &a, false), *y = solid_prepare(with, &b, i % 7 == 6);
        carom_solid_result overlap;
        carom_solid_query_def def = {.distance = i % 3 == 0};
        assert_ok(with, carom_solid_overlap(with, x, NULL, y, &pose, &def, &overlap));
        hash = solid_hash(&overlap, hash);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
    }
    return hash;
}

static void threads_and_instruction_sets_give_the_same_bytes(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    uint64_t expected = hash_of_overlaps(context);
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        for (size_t t = 0; t < COUNT_OF(threads); ++t) {
            carom_context *with = test_context_isa(threads[t], (carom_isa)isa);
            if (with == NULL) continue;
            assert_true(hash_of_overlaps(with) == expected);
            carom_context_destroy(with);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifted_solids_overlap_as_they_should),
        cmocka_unit_test(copies_of_a_solid_overlap_as_they_should),
        cmocka_unit_test(turned_solids_overlap_as_they_should),
        cmocka_unit_test(inside_and_outside_make_a_whole),
        cmocka_unit_test(splitting_faces_changes_nothing),
        cmocka_unit_test(kinks_are_seen_from_both_sides),
        cmocka_unit_test(threads_and_instruction_sets_give_the_same_bytes),
    };
    return cmocka_run_group_tests_name("solid_exact", tests, set_up, tear_down);
}
