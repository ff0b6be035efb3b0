/* SPDX-License-Identifier: MIT */
/* Overlaps against the oracle. */
#include "tests/support/solid_check.h"

#include <math.h>
#include <stdio.h>

#include "geom/pose.h"
#include "solid/solid.h"

void solid_pose(const solid_mesh *mesh, const carom_pose *pose, solid_mesh *posed) {
    carom_frame frame = carom_frame_make(pose);
    *posed = *mesh;
    for (uint32_t v = 0; v < mesh->vertices; ++v) {
        const double *p = mesh->xyz[v];
        carom_vec3 moved = carom_frame_apply(&frame, (carom_vec3){p[0], p[1], p[2]});
        posed->xyz[v][0] = moved.x, posed->xyz[v][1] = moved.y, posed->xyz[v][2] = moved.z;
    }
}

carom_solid *solid_prepare(carom_context *context, const solid_mesh *mesh, bool complement) {
    carom_solid_def def = {.mesh = (carom_mesh_view[]){solid_view(mesh)}, .complement = complement};
    carom_solid *solid;
    assert_ok(context, carom_solid_create(context, &def, &solid));
    assert_valid(carom_solid_validate(context, solid));
    return solid;
}

double solid_tolerance(double volume, double volume_a, double volume_b) {
    return fmax(1e-12 * fabs(volume), 1e-14 * fmin(fabs(volume_a), fabs(volume_b)));
}

/* ---- what is expected ------------------------------------------------------------------------ */

static bool surfaces_meet(carom_context *context, const solid_mesh *a, const solid_mesh *b,
                          uint64_t *count) {
    carom_soup *soup_a, *soup_b;
    carom_pairs pairs = {0};
    carom_soup_def def_a = {.mesh = (carom_mesh_view[]){solid_view(a)}},
                   def_b = {.mesh = (carom_mesh_view[]){solid_view(b)}};
    assert_ok(context, carom_soup_create(context, &def_a, &soup_a));
    assert_ok(context, carom_soup_create(context, &def_b, &soup_b));
    assert_ok(context, carom_soup_cross_pairs(context, soup_a, NULL, soup_b, NULL, &pairs));
    *count = pairs.count;
    carom_pairs_free(&pairs);
    carom_soup_destroy(soup_a);
    carom_soup_destroy(soup_b);
    return *count != 0;
}

/* Whether a volume that is there or not fits a claim. On the lattice the oracle tells nothing from
 * something; elsewhere corners may stick out by 1e-16 and have a volume beyond what it sees. */
static bool claim_fits(bool claim, quad volume, quad nothing, bool lattice) {
    return claim ? volume > nothing || !lattice : volume <= nothing;
}

/* Says whether a relation fits, exactly. */
static bool relation_fits(carom_relation relation, bool meet, quad volume, quad volume_a,
                          quad volume_b, quad nothing, bool lattice) {
    bool both = relation != CAROM_RELATION_APART && relation != CAROM_RELATION_TOUCHING;
    bool only_a = relation != CAROM_RELATION_A_INSIDE_B,
         only_b = relation == CAROM_RELATION_OVERLAPPING;
    if (!claim_fits(both, volume, nothing, lattice)) return false;
    if (!both) return meet == (relation == CAROM_RELATION_TOUCHING);
    if (!claim_fits(only_a, volume_a - volume, nothing, lattice)) return false;
    return !only_a || claim_fits(only_b, volume_b - volume, nothing, lattice);
}

static bool is_lattice(const solid_mesh *mesh) {
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        for (int k = 0; k < 3; ++k)
            if (64 * mesh->xyz[v][k] != floor(64 * mesh->xyz[v][k])) return false;
    return true;
}

static double reach_of(const solid_mesh *mesh) {
    double reach = 0.0;
    for (uint32_t v = 0; v < mesh->vertices; ++v)
        for (int k = 0; k < 3; ++k) reach = fmax(reach, fabs(mesh->xyz[v][k]));
    return reach;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void check_number(const char *what, const char *field, double value, quad truth,
                         double tolerance) {
    double off = fabs((double)((quad)value - truth));
    if (!(off <= tolerance))
        fail_msg("%s: %s %.17g, not %.17g: off by %.3g, allowed %.3g", what, field, value,
                 (double)truth, off, tolerance);
}

static void check_vector(const char *what, const char *field, carom_vec3 value, const quad truth[3],
                         double tolerance) {
    const double xyz[3] = {value.x, value.y, value.z};
    for (int k = 0; k < 3; ++k) check_number(what, field, xyz[k], truth[k], tolerance);
}

carom_solid_result solid_check(carom_context *context, const solid_mesh *a,
                               const carom_pose *pose_a, const solid_mesh *b,
                               const carom_pose *pose_b, double off, const char *what) {
    static solid_mesh posed_a, posed_b;
    solid_pose(a, pose_a, &posed_a);
    solid_pose(b, pose_b, &posed_b);
    carom_mesh_view view_a = solid_view(&posed_a), view_b = solid_view(&posed_b);
    solid_truth truth;
    solid_oracle(&view_a, &view_b, &truth);

    carom_solid *solid_a = solid_prepare(context, a, false);
    carom_solid *solid_b = solid_prepare(context, b, false);
    carom_solid_info info_a, info_b;
    carom_solid_result overlap;
    assert_ok(context, carom_solid_get_info(solid_a, &info_a));
    assert_ok(context, carom_solid_get_info(solid_b, &info_b));
    assert_ok(context,
              carom_solid_overlap(context, solid_a, pose_a, solid_b, pose_b, NULL, &overlap));
    carom_solid_destroy(solid_a);
    carom_solid_destroy(solid_b);

    double volume_a = info_a.volume, volume_b = info_b.volume, volume = (double)truth.volume;
    double tolerance = solid_tolerance(volume, volume_a, volume_b);
    /* off the lattice, needles and flakes: a large surface for their volume */
    if (off > 1e-12) tolerance += 1e-16 * fmin(info_a.area, info_b.area);
    check_number(what, "volume", overlap.volume, truth.volume, tolerance);
    check_number(what, "volume beyond its error", overlap.volume, truth.volume,
                 overlap.volume_error + 1e-26 * fmin(volume_a, volume_b)); /* the oracle's own */

    uint64_t pairs;
    bool meet = surfaces_meet(context, &posed_a, &posed_b, &pairs);
    assert_int_equal(overlap.pairs, pairs);
    quad nothing = (quad)1e-25 * fmin(volume_a, volume_b);
    bool lattice = is_lattice(&posed_a) && is_lattice(&posed_b);
    if (!relation_fits(overlap.relation, meet, truth.volume, solid_oracle_volume(&view_a),
                       solid_oracle_volume(&view_b), nothing, lattice))
        fail_msg("%s: %s, with %llu pairs and volume %g (found %g +- %g) of %g and %g", what,
                 carom_relation_name(overlap.relation), (unsigned long long)pairs, volume,
                 overlap.volume, overlap.volume_error, volume_a, volume_b);

    double reach = fmax(reach_of(&posed_a), reach_of(&posed_b));
    double smaller = fmin(info_a.area, info_b.area);
    if (volume > 1e-9 * fmin(volume_a, volume_b)) {
        quad centroid[3];
        for (int k = 0; k < 3; ++k) centroid[k] = truth.moment[k] / truth.volume;
        check_vector(what, "centroid", overlap.centroid, centroid, 10 * tolerance / volume * reach);
    }
    /* Where faces lie in one another things jump, and theirs is the mean of both sides. */
    double small = off * fmax(smaller, overlap.area);
    check_number(what, "area", overlap.area, truth.area, small);
    check_vector(what, "force", overlap.force, truth.force, small);
    assert_int_equal(overlap.one_sided, truth.coincident > 0);
    carom_frame frame = carom_frame_make(pose_b);
    carom_vec3 c = carom_frame_apply(&frame, info_b.centroid);
    const quad at[3] = {c.x, c.y, c.z};
    quad torque[3];
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        torque[k] = truth.torque[k] - (at[i] * truth.force[j] - at[j] * truth.force[i]);
    }
    check_vector(what, "torque", overlap.torque, torque, 10 * small * reach);
    return overlap;
}

const char *solid_case(const solid_mesh *a, const solid_mesh *b, const char *test, uint64_t i) {
    static char name[128];
    snprintf(name, sizeof(name), "%s %llu: %s and %s", test, (unsigned long long)i, a->kind,
             b->kind);
    return name;
}

carom_solid_result solid_overlap_of(carom_context *context, const carom_solid *x,
                                    const carom_pose *pose_x, const carom_solid *y,
                                    const carom_pose *pose_y) {
    carom_solid_result overlap;
    assert_ok(context, carom_solid_overlap(context, x, pose_x, y, pose_y, NULL, &overlap));
    return overlap;
}

void solid_check_near(const char *what, const char *which, double value, double expected,
                      double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %s: %.17g, not %.17g", what, which, value, expected);
}

uint64_t solid_hash(const carom_solid_result *o, uint64_t seed) {
    const double numbers[] = {o->volume,     o->volume_error, o->centroid.x,  o->centroid.y,
                              o->centroid.z, o->area,         o->force.x,     o->force.y,
                              o->force.z,    o->torque.x,     o->torque.y,    o->torque.z,
                              o->distance,   o->point_a.x,    o->point_a.y,   o->point_a.z,
                              o->point_b.x,  o->point_b.y,    o->point_b.z,   o->centroid_error,
                              o->area_error, o->force_error,  o->torque_error};
    const uint64_t words[] = {(uint64_t)o->relation, o->one_sided, o->by_winding, o->has_distance,
                              o->pairs};
    seed = test_hash(numbers, sizeof(numbers), seed);
    return test_hash(words, sizeof(words), seed);
}
