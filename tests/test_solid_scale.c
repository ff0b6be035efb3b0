/* SPDX-License-Identifier: MIT */
/* Overlaps of solids of any size and any ratio of sizes, against the oracle: every result lies
 * within its error, every error is useful, and the relation is right. The oracle is run once for
 * each pair, on a lattice; the pair is then scaled by powers of two, which changes nothing but the
 * exponents, as long as coordinates are doubles. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/pose.h"
#include "tests/support/campaign.h"
#include "tests/support/solid_check.h"
#include "tests/support/solid_oracle.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

static solid_mesh a, b, scaled[2];

/* ---- pairs ----------------------------------------------------------------------------------- */

static void make_box(carom_random *random, solid_mesh *mesh) {
    double low[3], high[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = test_below(random, 8);
        high[k] = low[k] + 1 + test_below(random, 8);
    }
    mesh->vertices = mesh->faces = 0;
    mesh->kind = "box";
    solid_add_box(mesh, low, high, false);
}

static void make_tetrahedron(carom_random *random, solid_mesh *mesh) {
    static const uint32_t corners[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    double volume;
    mesh->vertices = mesh->faces = 4;
    mesh->kind = "tetrahedron";
    do {
        for (int i = 0; i < 12; ++i) mesh->xyz[i / 3][i % 3] = test_below(random, 17);
        double u[3][3];
        for (int i = 0; i < 9; ++i)
            u[i / 3][i % 3] = mesh->xyz[1 + i / 3][i % 3] - mesh->xyz[0][i % 3];
        volume = u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) -
                 u[0][1] * (u[1][0] * u[2][2] - u[1][2] * u[2][0]) +
                 u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0]);
    } while (volume == 0.0);
    memcpy(mesh->corners, corners, sizeof(corners));
    if (volume < 0.0) solid_flip(mesh);
}

static void make_one(carom_random *random, solid_mesh *mesh) {
    uint32_t kind = test_below(random, 8);
    if (kind < 3)
        make_box(random, mesh);
    else if (kind < 7)
        make_tetrahedron(random, mesh);
    else
        solid_make_random(random, mesh);
}

/* Moves a lattice point of its surface, or near to it, to the origin. */
static void centre(carom_random *random, solid_mesh *mesh) {
    const double *p = mesh->xyz[test_below(random, mesh->vertices)];
    const double *q = mesh->xyz[test_below(random, mesh->vertices)];
    double by[3];
    for (int k = 0; k < 3; ++k) by[k] = -floor((p[k] + q[k]) / 2);
    solid_move(mesh, by);
}

static void stretch(solid_mesh *mesh, const double by[3]) {
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        for (int k = 0; k < 3; ++k) mesh->xyz[v][k] *= by[k];
}

/* Two solids around the origin; b is 2^ratio as large, and both may be flat or thin. Returns the
 * exponent of the largest coordinate, at most. */
static int make_pair(carom_random *random, int ratio, int thin) {
    make_one(random, &a);
    make_one(random, &b);
    centre(random, &a);
    centre(random, &b);
    double flat[3] = {1, 1, 1}, large[3];
    uint32_t shape = test_below(random, 3); /* as it is, a plate, a needle */
    for (uint32_t k = 0; k < shape; ++k) flat[(k + test_below(random, 3)) % 3] = ldexp(1.0, -thin);
    for (int k = 0; k < 3; ++k) large[k] = ldexp(flat[k], ratio);
    if (test_below(random, 2) == 0) stretch(&a, flat);
    stretch(&b, large);
    return 5 + ratio;
}

/* ---- checks ---------------------------------------------------------------------------------- */

typedef struct expected {
    solid_truth truth;
    quad volume_a, volume_b;
    double common;  /* size of what the boxes have in common */
    double smaller; /* size of the smaller box: the oracle's terms are no larger */
    bool meet;
    const char *what;
} expected;

static quad scale_by(quad x, int power) {
    for (; power > 1000; power -= 1000) x *= 0x1p1000;
    for (; power < -1000; power += 1000) x *= 0x1p-1000;
    return x * ldexp(1.0, power);
}

/* A number that should be `truth` times 2^power within its error, which is at most `useful` of the
 * `size`, and what doubles hold least; the oracle is right to 2^-97 of the `terms` it adds up. */
static void check(const expected *e, const char *field, double value, double error, quad truth,
                  quad size, quad terms, int power, double useful) {
    if (quad_abs(truth) <= terms * 0x1p-97) truth = 0;
    quad exact = scale_by(truth, power), off = quad_abs((quad)value - exact);
    quad own = scale_by(terms, power) * 0x1p-97;
    if (!isfinite(value) || isnan(error) || error < 0.0)
        fail_msg("%s: %s %g +- %g is no number, at 2^%d", e->what, field, value, error, power);
    if (quad_abs(exact) > (quad)DBL_MAX) {
        bool most = fabs(value) == DBL_MAX || e->truth.coincident > 0; /* a mean of two */
        if (!(most && error == HUGE_VAL))
            fail_msg("%s: %s %g +- %g is beyond all doubles", e->what, field, value, error);
        return;
    }
    if (!(off <= (quad)error + own))
        fail_msg("%s: %s %.17g, not %.17g: off by %.3g, error %.3g, oracle %.3g at 2^%d", e->what,
                 field, value, (double)exact, (double)off, error, (double)own, power);
    quad most = scale_by(quad_abs(size), power) * useful;
    if (most < (quad)DBL_MAX && !((quad)error <= most + 0x1p-1060))
        fail_msg("%s: %s %.17g with an error of %.3g, more than %.3g", e->what, field, value, error,
                 (double)most);
}

static void check_vector(const expected *e, const char *field, carom_vec3 value, double error,
                         const quad truth[3], quad size, quad terms, int power, double useful) {
    const double xyz[3] = {value.x, value.y, value.z};
    bool beyond = false;
    for (int k = 0; k < 3; ++k)
        beyond = beyond || (quad_abs(truth[k]) > terms * 0x1p-97 &&
                            quad_abs(scale_by(truth[k], power)) > (quad)DBL_MAX);
    for (int k = 0; k < 3 && !beyond; ++k)
        check(e, field, xyz[k], error, truth[k], size, terms, power, useful);
    if (beyond && error != HUGE_VAL)
        fail_msg("%s: %s with an error of %g is beyond all doubles", e->what, field, error);
}

static carom_relation relation_of(const expected *e) {
    quad tiny = (quad)0x1p-90, volume = e->truth.volume;
    if (volume <= tiny * e->smaller * e->smaller * e->smaller)
        return e->meet ? CAROM_RELATION_TOUCHING : CAROM_RELATION_APART;
    if (e->volume_a - volume <= tiny * e->volume_a) return CAROM_RELATION_A_INSIDE_B;
    if (e->volume_b - volume <= tiny * e->volume_b) return CAROM_RELATION_B_INSIDE_A;
    return CAROM_RELATION_OVERLAPPING;
}

#define USEFUL 0x1p-28

static void check_overlap(const expected *e, const carom_solid_result *o, carom_vec3 pivot,
                          int power) {
    const solid_truth *t = &e->truth;
    quad volume = t->volume, common = e->common, surface = t->area;
    quad nothing = common * common * 0x1p-90; /* where a result is 0 */
    /* What the engine tells from nothing may be less than the oracle can. */
    if (o->relation == CAROM_RELATION_OVERLAPPING && relation_of(e) == CAROM_RELATION_TOUCHING &&
        (o->volume > o->volume_error || power != 0)) /* seen without scale, first */
        return;
    if (o->relation != relation_of(e))
        fail_msg("%s: %s, not %s", e->what, carom_relation_name(o->relation),
                 carom_relation_name(relation_of(e)));
    if (relation_of(e) == CAROM_RELATION_APART) return;
    bool empty = relation_of(e) == CAROM_RELATION_TOUCHING;
    quad square = (quad)e->smaller * e->smaller, cube = square * e->smaller;
    check(e, "volume", o->volume, o->volume_error, volume,
          empty ? common * common * common : volume, cube, 3 * power, USEFUL);
    check(e, "area", o->area, o->area_error, surface, surface + nothing, square, 2 * power, USEFUL);
    check_vector(e, "force", o->force, o->force_error, t->force, surface + nothing, square,
                 2 * power, USEFUL);
    quad centroid[3], torque[3], at[3] = {pivot.x, pivot.y, pivot.z}, lever = common, far = common;
    for (int k = 0; k < 3; ++k) {
        at[k] = scale_by(at[k], -power);
        lever += quad_abs(at[k]);
    }
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        torque[k] = t->torque[k] - (at[i] * t->force[j] - at[j] * t->force[i]);
        if (empty) continue;
        centroid[k] = t->moment[k] / volume;
        far += quad_abs(centroid[k]);
    }
    check_vector(e, "torque", o->torque, o->torque_error, torque, (surface + nothing) * lever,
                 square * lever, 3 * power, USEFUL);
    if (empty)
        assert_true(o->centroid_error == HUGE_VAL);
    else
        check_vector(e, "centroid", o->centroid, o->centroid_error, centroid, far,
                     far * (cube / volume), power, USEFUL);
}

static double common_size(const solid_mesh *p, const solid_mesh *q) {
    double size = 0.0;
    for (int k = 0; k < 3; ++k) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int i = 0; i < 2; ++i) {
            const solid_mesh *m = i == 0 ? p : q;
            for (uint32_t v = 0; v < m->vertices; ++v) {
                low[i] = fmin(low[i], m->xyz[v][k]);
                high[i] = fmax(high[i], m->xyz[v][k]);
            }
        }
        size = fmax(size, fmin(high[0], high[1]) - fmax(low[0], low[1]));
    }
    return fmax(size, 1.0);
}

static expected query_oracle(void) {
    expected e = {.common = common_size(&a, &b), .smaller = common_size(&a, &a)};
    carom_mesh_view view_a = solid_view(&a), view_b = solid_view(&b);
    solid_oracle(&view_a, &view_b, &e.truth);
    e.volume_a = solid_oracle_volume(&view_a);
    e.volume_b = solid_oracle_volume(&view_b);
    carom_soup *soup_a, *soup_b;
    carom_soup_def def_a = {.mesh = &view_a}, def_b = {.mesh = &view_b};
    assert_ok(context, carom_soup_create(context, &def_a, &soup_a));
    assert_ok(context, carom_soup_create(context, &def_b, &soup_b));
    assert_ok(context, carom_soup_cross_meet(context, soup_a, NULL, soup_b, NULL, &e.meet));
    carom_soup_destroy(soup_a);
    carom_soup_destroy(soup_b);
    return e;
}

/* The same pair 2^power as large, a and b in either order. */
static void check_scaled(const expected *e, int power, bool swap) {
    carom_solid *solids[2];
    carom_solid_info info;
    carom_solid_result overlap;
    for (int i = 0; i < 2; ++i) {
        scaled[i] = i == 0 ? a : b;
        for (uint32_t v = 0; v < scaled[i].vertices; ++v)
            for (int k = 0; k < 3; ++k) scaled[i].xyz[v][k] = ldexp(scaled[i].xyz[v][k], power);
        solids[i] = solid_prepare(context, &scaled[i], false);
    }
    assert_ok(context, carom_solid_get_info(solids[swap ? 0 : 1], &info));
    assert_ok(context, carom_solid_overlap(context, solids[swap ? 1 : 0], NULL,
                                           solids[swap ? 0 : 1], NULL, NULL, &overlap));
    expected other = *e;
    if (swap) { /* the force is the opposite one, and so is the torque but for its pivot */
        other.volume_a = e->volume_b;
        other.volume_b = e->volume_a;
        for (int k = 0; k < 3; ++k) {
            other.truth.force[k] = -e->truth.force[k];
            other.truth.torque[k] = -e->truth.torque[k];
        }
    }
    check_overlap(&other, &overlap, info.centroid, power);
    carom_solid_destroy(solids[0]);
    carom_solid_destroy(solids[1]);
}

static void check_pair(carom_random *random, int top, const char *what, int scales) {
    expected e = query_oracle();
    e.what = what;
    check_scaled(&e, 0, false);
    if (e.truth.coincident == 0) check_scaled(&e, 0, true);
    for (int i = 0; i < scales; ++i) {
        int lowest = -1010, highest = 1018 - top;
        int power = lowest + (int)test_below(random, (uint32_t)(highest - lowest));
        if (i == 0 && test_below(random, 2) == 0)
            power = test_below(random, 2) == 0 ? lowest : highest;
        check_scaled(&e, power, false);
    }
}

static void any_ratio_at_any_scale(void **state) {
    (void)state;
    int count = campaign_is_long() ? 40000 : TEST_CASES(400);
    for (int i = 0; i < count; ++i) {
        carom_random random = {1000 + (uint64_t)i};
        int ratio = (int)test_below(&random, 61), thin = (int)test_below(&random, 30);
        int top = make_pair(&random, ratio, thin);
        char what[128];
        snprintf(what, sizeof(what), "ratio 2^%d, case %d: %s and %s", ratio, i, a.kind, b.kind);
        check_pair(&random, top, what, 3);
    }
}

/* Both far away from the origin, where their coordinates are as coarse as they may be. */
static void far_from_the_origin(void **state) {
    (void)state;
    int count = campaign_is_long() ? 20000 : TEST_CASES(200);
    for (int i = 0; i < count; ++i) {
        carom_random random = {90000 + (uint64_t)i};
        int ratio = (int)test_below(&random, 3), far = 20 + (int)test_below(&random, 28);
        make_pair(&random, ratio, 0);
        double by[3];
        for (int k = 0; k < 3; ++k) by[k] = ldexp((double)test_below(&random, 4) - 2.0, far);
        solid_move(&a, by);
        solid_move(&b, by);
        char what[128];
        snprintf(what, sizeof(what), "2^%d away, case %d: %s and %s", far, i, a.kind, b.kind);
        check_pair(&random, far + 3, what, 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_ratio_at_any_scale),
        cmocka_unit_test(far_from_the_origin),
    };
    return cmocka_run_group_tests_name("solid_scale", tests, set_up, tear_down);
}
