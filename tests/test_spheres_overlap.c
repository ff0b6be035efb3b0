/* SPDX-License-Identifier: MIT */
/* The overlap of two packings as defined: its bounds hold for the solids, force and torque are
 * derivatives of the estimate, a batch of pairs gives the bits of the items, at every scale. */
#include <math.h>
#include <string.h>

#include "spheres/spheres_batch_cpu.h"
#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

static void a_batch_has_the_bits_of_the_items(void **state) {
    (void)state;
    static carom_spheres_batch batch;
    carom_random random = {11};
    for (int n = 0; n < TEST_CASES(150); ++n) {
        double size = ldexp(1.0, 7 * (n % 41) - 140);
        carom_packing *a = packing_random(context, &random, 60, size);
        carom_packing *b = packing_random(context, &random, 60, size);
        carom_pose pose = packing_random_pose(&random, size);
        carom_spheres_extent extent[2];
        if (n % 4 == 0) memset(&pose, 0, sizeof(pose));
        assert_ok(context, carom_spheres_extent_make(context, a, "a", &extent[0]));
        assert_ok(context, carom_spheres_extent_make(context, b, "b", &extent[1]));
        carom_spheres_posed_pair m =
            carom_spheres_posed_pair_make(&extent[0], NULL, n % 3, &extent[1], &pose, 0.0);
        for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
            carom_context *with = test_context_isa(1, (carom_isa)isa);
            if (with == NULL) continue;
            carom_spheres_totals expected, totals;
            memset(&expected, 0, sizeof(expected));
            memset(&totals, 0, sizeof(totals));
            batch.count = 0;
            for (uint64_t k = 0; k < a->info.spheres * b->info.spheres; ++k) {
                const carom_packing_sphere *s = &a->spheres[k % a->info.spheres];
                const carom_packing_sphere *t = &b->spheres[k / a->info.spheres];
                carom_spheres_posed p = carom_spheres_pose_sphere(
                    &m.transform[0], s->centre, s->radius, s->secondary, s->cover);
                carom_spheres_posed q = carom_spheres_pose_sphere(
                    &m.transform[1], t->centre, t->radius, t->secondary, t->cover);
                carom_spheres_totals_add(&expected, &m, &p, &q);
                uint32_t i = batch.count++;
                batch.a.x[i] = p.centre.x, batch.a.y[i] = p.centre.y, batch.a.z[i] = p.centre.z;
                batch.b.x[i] = q.centre.x, batch.b.y[i] = q.centre.y, batch.b.z[i] = q.centre.z;
                batch.a.secondary[i] = p.secondary, batch.a.radius[i] = p.radius;
                batch.b.secondary[i] = q.secondary, batch.b.radius[i] = q.radius;
                if (batch.count == 1 + k % CAROM_SPHERES_BATCH ||
                    batch.count == CAROM_SPHERES_BATCH)
                    CAROM_CPU_CALL(with, carom_spheres_batch_add)(&batch, &m, true, &totals);
            }
            CAROM_CPU_CALL(with, carom_spheres_batch_add)(&batch, &m, true, &totals);
            assert_memory_equal(&totals, &expected, sizeof(totals));
            assert_int_equal(totals.estimate.volume.spoiled, 0);
            carom_context_destroy(with);
        }
        carom_packing_destroy(a);
        carom_packing_destroy(b);
    }
}

/* Compares with the solids' exact overlap. */
static void bounds_hold(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_BOX, CAROM_SHAPE_CONE,
                                         CAROM_SHAPE_KNOT};
    carom_random random = {12};
    for (uint32_t k = 0; k < COUNT_OF(shapes); ++k) {
        carom_mesh *mesh[2];
        carom_solid *solid[2];
        carom_packing *packing[2];
        for (int i = 0; i < 2; ++i) {
            carom_mesh_view view = {0};
            carom_solid_def def = {.mesh = &view};
            packing[i] = packing_of_shape(context, shapes[(k + (uint32_t)i) % COUNT_OF(shapes)], 0,
                                          300, &mesh[i]);
            assert_ok(context, carom_mesh_get_view(mesh[i], &view));
            assert_ok(context, carom_solid_create(context, &def, &solid[i]));
        }
        double width = 0.0, depth = 0.0;
        for (int n = 0; n < TEST_CASES(200); ++n) {
            double far = n % 2 == 0 ? 1.0 : ldexp(1.0, n % 40 - 30);
            carom_pose pose_a = packing_random_pose(&random, n % 5 == 0 ? 100.0 : 0.0);
            carom_pose pose_b = packing_random_pose(&random, far);
            carom_solid_result exact;
            carom_packing_overlap o;
            pose_b.t = carom_vec_add(pose_b.t, pose_a.t);
            if (n == 0) pose_b = pose_a;
            assert_ok(context, carom_solid_overlap(context, solid[0], &pose_a, solid[1], &pose_b,
                                                   NULL, &exact));
            packing_oracle_overlap(context, packing[0], &pose_a, 0.0, packing[1], &pose_b, 0.0, &o);
            if (!(o.volume.lower <= exact.volume + exact.volume_error &&
                  exact.volume - exact.volume_error <= o.volume.upper))
                fail_msg("%.9g <= %.9g <= %.9g does not hold", o.volume.lower, exact.volume,
                         o.volume.upper);
            if (o.relation == CAROM_RELATION_APART)
                assert_true(exact.relation == CAROM_RELATION_APART);
            if (o.relation == CAROM_RELATION_OVERLAPPING)
                assert_true(exact.relation >= CAROM_RELATION_OVERLAPPING);
            width += o.volume.upper - o.volume.lower;
            depth += exact.volume;
        }
        if (!(width < 6.0 * depth)) /* they say something */
            fail_msg("bounds are %g of the volume apart", width / depth);
        for (int i = 0; i < 2; ++i) {
            carom_packing_destroy(packing[i]);
            carom_solid_destroy(solid[i]);
            carom_mesh_destroy(mesh[i]);
        }
    }
}

static double volume_at(const carom_packing *a, const carom_packing *b, const carom_pose *pose,
                        double scale) {
    carom_packing_overlap o;
    packing_oracle_overlap(context, a, NULL, 0.0, b, pose, scale, &o);
    return o.volume.value;
}

/* The pose after another translation and, about the pivot, another rotation by a small angle. */
static carom_pose moved(const carom_pose *pose, carom_vec3 pivot, int axis, double by, bool turn) {
    carom_pose to = *pose;
    double step[3] = {0.0, 0.0, 0.0};
    step[axis] = by;
    if (!turn) {
        to.t = carom_vec_add(to.t, carom_vec(step[0], step[1], step[2]));
        return to;
    }
    carom_pose small = {{cos(by / 2), sin(step[0] / 2), sin(step[1] / 2), sin(step[2] / 2)},
                        {0.0, 0.0, 0.0}};
    carom_frame frame = carom_frame_make(&small);
    const carom_quat *p = &small.q, *q = &pose->q;
    to.q = (carom_quat){p->w * q->w - p->x * q->x - p->y * q->y - p->z * q->z,
                        p->w * q->x + p->x * q->w + p->y * q->z - p->z * q->y,
                        p->w * q->y - p->x * q->z + p->y * q->w + p->z * q->x,
                        p->w * q->z + p->x * q->y - p->y * q->x + p->z * q->w};
    carom_vec3 arm = carom_vec_sub(pose->t, pivot);
    to.t = carom_vec_add(pivot, carom_frame_turn(&frame, arm));
    return to;
}

static void force_and_torque_are_derivatives(void **state) {
    (void)state;
    carom_random random = {13};
    carom_packing *a = packing_of_shape(context, CAROM_SHAPE_TORUS, 0, 150, NULL);
    carom_packing *b = packing_of_shape(context, CAROM_SHAPE_CONE, 0, 150, NULL);
    for (int n = 0; n < TEST_CASES(60); ++n) {
        carom_pose pose = packing_random_pose(&random, 0.7);
        double scale = n % 2 == 0 ? 0.0 : 1.25, step = 1e-5;
        carom_packing_overlap o;
        packing_oracle_overlap(context, a, NULL, 0.0, b, &pose, scale, &o);
        const double force[3] = {o.force.x, o.force.y, o.force.z};
        const double torque[3] = {o.torque.x, o.torque.y, o.torque.z};
        for (int k = 0; k < 3; ++k) {
            for (int turn = 0; turn < 2; ++turn) {
                carom_pose less = moved(&pose, o.pivot, k, -step, turn);
                carom_pose more = moved(&pose, o.pivot, k, step, turn);
                double slope =
                    (volume_at(a, b, &more, scale) - volume_at(a, b, &less, scale)) / (2 * step);
                assert_true(fabs(slope + (turn ? torque : force)[k]) < 1e-4);
            }
        }
    }
    carom_packing_destroy(a);
    carom_packing_destroy(b);
}

static void swapping_changes_signs_only(void **state) {
    (void)state;
    carom_random random = {14};
    for (int n = 0; n < TEST_CASES(100); ++n) {
        carom_packing *a = packing_random(context, &random, 40, 1.0);
        carom_packing *b = packing_random(context, &random, 40, 1.0);
        carom_pose pose = packing_random_pose(&random, 1.0);
        carom_packing_overlap o, p;
        packing_oracle_overlap(context, a, NULL, 0.0, b, &pose, 0.0, &o);
        packing_oracle_overlap(context, b, &pose, 0.0, a, NULL, 0.0, &p);
        assert_true(o.relation == p.relation && o.pairs == p.pairs);
        assert_true(o.inner_pairs == p.inner_pairs && o.flagged_a == p.flagged_b);
        /* Scales depend on the reach of b: equal up to their rounding. */
        assert_true(fabs(o.volume.value - p.volume.value) <= 1e-15 * o.volume.value);
        assert_true(fabs(o.volume.upper - p.volume.upper) <= 1e-14 * o.volume.upper);
        assert_true(fabs(o.force.x + p.force.x) <= 1e-12);
        carom_packing_destroy(a);
        carom_packing_destroy(b);
    }
}

static void bad_packings_are_refused(void **state) {
    (void)state;
    carom_spheres_extent extent;
    carom_packing_sphere s = {{0, 0, 0}, 1.0, 1.1, 1.2, 0.5, 0, 1.0}, t = s;
    carom_packing *one = packing_of_spheres(context, &s, 1, 5.0);
    t.cover = 0.5;
    carom_packing *two = packing_of_spheres(context, &t, 1, 5.0);
    t.cover = 0x1p300;
    carom_packing *three = packing_of_spheres(context, &t, 1, 5.0);
    assert_ok(context, carom_spheres_extent_make(context, one, "one", &extent));
    carom_pose far = {{1, 0, 0, 0}, {0x1p300, 0, 0}}, nan = {{1, 0, 0, 0}, {NAN, 0, 0}};
    assert_ok(context, carom_spheres_check_pose(context, &extent, NULL, 2.0, "one"));
    assert_fails(context, carom_spheres_check_pose(context, &extent, NULL, -1.0, "one"),
                 CAROM_BAD_INPUT, "must be positive");
    assert_fails(context, carom_spheres_check_pose(context, &extent, NULL, 0x1p-300, "one"),
                 CAROM_BAD_INPUT, "between 2^-200 and 2^200");
    assert_fails(context, carom_spheres_check_pose(context, &extent, &far, 0.0, "one"),
                 CAROM_BAD_INPUT, "between 2^-200 and 2^200");
    assert_fails(context, carom_spheres_check_pose(context, &extent, &nan, 0.0, "one"),
                 CAROM_BAD_INPUT, "not finite");
    assert_fails(context, carom_spheres_extent_make(context, two, "two", &extent), CAROM_BAD_INPUT,
                 "two: sphere 0 has cover 0.5");
    assert_fails(context, carom_spheres_extent_make(context, three, "three", &extent),
                 CAROM_BAD_INPUT, "between 2^-200 and 2^200");
    one->info.shares = false;
    assert_fails(context, carom_spheres_extent_make(context, one, "one", &extent), CAROM_BAD_INPUT,
                 "one has no shares");
    carom_packing_destroy(one);
    carom_packing_destroy(two);
    carom_packing_destroy(three);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_has_the_bits_of_the_items),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(force_and_torque_are_derivatives),
        cmocka_unit_test(swapping_changes_signs_only),
        cmocka_unit_test(bad_packings_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
