/* SPDX-License-Identifier: MIT */
/* Overlaps of real meshes against volumes from exact constructions, where ../shared is there; near
 * copies, other scales and far positions keep their accuracy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

/* ---- meshes moved ---------------------------------------------------------------------------- */

/* A solid of the mesh with its vertices moved by a matrix, in doubles. */
static carom_solid *moved_solid(const carom_mesh *mesh, const double *m, bool complement) {
    carom_mesh_view view = {0};
    carom_solid_def def = {.mesh = &view, .complement = complement};
    carom_solid *solid;
    double *moved = models_move(mesh, m, &view);
    assert_ok(context, carom_solid_create(context, &def, &solid));
    free(moved);
    return solid;
}

static carom_solid *scaled_solid(const carom_mesh *mesh, double scale, bool complement) {
    const double m[12] = {scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0};
    return moved_solid(mesh, m, complement);
}

static double volume_of(const carom_solid *solid) {
    carom_solid_info info;
    assert_ok(context, carom_solid_get_info(solid, &info));
    return info.volume;
}

static carom_solid_result overlap_of(const carom_solid *a, const carom_pose *pose_a,
                                     const carom_solid *b, const carom_pose *pose_b) {
    carom_solid_result overlap;
    assert_ok(context, carom_solid_overlap(context, a, pose_a, b, pose_b, NULL, &overlap));
    return overlap;
}

/* To 1e-9 of itself or 1e-13 of the smaller solid. */
static void check_volume(const char *name, double volume, double truth, double smaller) {
    if (!(fabs(volume - truth) <= fmax(1e-9 * truth, 1e-13 * smaller)))
        fail_msg("%s: volume %.17g, not %.17g: off by %.2g of itself, %.2g of the smaller solid",
                 name, volume, truth, fabs(volume / truth - 1), fabs(volume - truth) / smaller);
}

/* ---- pairs of models ------------------------------------------------------------------------- */

static void check_row(const models_posed_row *row, const carom_solid *a, const carom_solid *b,
                      const carom_pose *pose_b) {
    carom_solid_result overlap = overlap_of(a, NULL, b, pose_b);
    double smaller = fmin(volume_of(a), volume_of(b));
    check_volume(row->pair, overlap.volume, row->volume, smaller);
    carom_solid_result back = overlap_of(b, pose_b, a, NULL);
    if (!(fabs(overlap.volume - back.volume) <= fmax(1e-12 * overlap.volume, 1e-14 * smaller)))
        fail_msg("%s: %.17g, but swapped %.17g", row->pair, overlap.volume, back.volume);
    assert_int_equal(overlap.relation,
                     row->meets ? CAROM_RELATION_OVERLAPPING : CAROM_RELATION_APART);
    assert_true(fabs(overlap.volume - row->volume) <=
                overlap.volume_error + 1e-11 * smaller); /* m is a rounded rotation */
}

static bool wanted(const char *pair) {
    static const char *const quick[] = {"bunny_spot", "screw_nut", "fandisk_rockerarm",
                                        "thingi_featuretype", "coupling_rotor"};
    for (size_t i = 0; i < COUNT_OF(quick); ++i)
        if (strcmp(pair, quick[i]) == 0) return true;
    return campaign_is_long();
}

static void posed_meshes_have_the_true_volumes(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    char line[512], *cells[4];
    FILE *files = models_open_text("truth/mesh_pairs_files.csv"),
         *rows = models_open_text("truth/mesh_pairs.csv");
    models_posed_row row;
    static char header[4096];
    assert_non_null(fgets(line, sizeof(line), files));
    assert_non_null(fgets(header, sizeof(header), rows));
    bool more = models_next_posed_row(rows, &row);
    uint64_t checked = 0;
    while (fgets(line, sizeof(line), files) != NULL) {
        assert_true(models_cut_line(line, cells, 4) >= 4);
        char pair[64];
        snprintf(pair, sizeof(pair), "%s", cells[0]);
        char *name_a = cells[1] + 1, *name_b = cells[2] + 1; /* in quotes */
        name_a[strcspn(name_a, "\"")] = name_b[strcspn(name_b, "\"")] = '\0';
        bool take = cells[3][0] == '1' && wanted(pair);
        carom_mesh *mesh_a = take ? models_load_fan(context, name_a) : NULL;
        carom_mesh *mesh_b = take ? models_load_fan(context, name_b) : NULL;
        carom_solid *a = NULL, *b = NULL;
        for (uint64_t i = 0; more && strcmp(row.pair, pair) == 0;
             more = models_next_posed_row(rows, &row), ++i) {
            if (!take || i % CAROM_TEST_SHARE != 0) continue;
            if (a == NULL) {
                a = scaled_solid(mesh_a, 1.0, false);
                b = scaled_solid(mesh_b, row.scale, false);
            }
            carom_pose pose = models_pose(context, row.m, row.scale);
            check_row(&row, a, b, &pose);
            if (i % 4 == 0 || campaign_is_long()) {
                carom_solid *moved = moved_solid(mesh_b, row.m, false);
                check_row(&row, a, moved, NULL);
                carom_solid_destroy(moved);
            }
            ++checked;
        }
        carom_solid_destroy(a);
        carom_solid_destroy(b);
        carom_mesh_destroy(mesh_a);
        carom_mesh_destroy(mesh_b);
    }
    assert_true(checked > (TEST_MANY_CASES ? 60 / CAROM_TEST_SHARE - 1 : 0));
    fclose(files);
    fclose(rows);
}

static void the_benchmarks_poses_have_the_true_volumes(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    static const char *const names[] = {"cheburashka13k", "bunny70k", "armadillo100k"};
    for (size_t n = 0; n < (campaign_is_long() ? COUNT_OF(names) : 2u); ++n) {
        char path[128];
        static char line[4096];
        snprintf(path, sizeof(path), "bench/solid_%s.ply", names[n]);
        carom_mesh *mesh = models_load_fan(context, path);
        carom_solid *solid = scaled_solid(mesh, 1.0, false);
        snprintf(path, sizeof(path), "bench/j6_%s.csv", names[n]);
        FILE *file = models_open_text(path);
        assert_non_null(fgets(line, sizeof(line), file));
        while (fgets(line, sizeof(line), file) != NULL) {
            char *cells[13];
            double m[12];
            assert_int_equal(models_cut_line(line, cells, 13), 13);
            for (int i = 0; i < 12; ++i) m[i] = strtod(cells[i], NULL);
            carom_pose pose = models_pose(context, m, 1.0);
            check_volume(names[n], overlap_of(solid, NULL, solid, &pose).volume,
                         strtod(cells[12], NULL), volume_of(solid));
        }
        fclose(file);
        carom_solid_destroy(solid);
        carom_mesh_destroy(mesh);
    }
}

/* ---- near copies, other scales, far positions ------------------------------------------------ */

/* The mesh on a lattice of 2^-20 of its size, so that it can be moved far without rounding. */
static carom_mesh *rounded_mesh(const carom_mesh *mesh) {
    carom_mesh_view view;
    carom_mesh_report report;
    carom_mesh *rounded;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    double size = fmax(report.bounds.high.x - report.bounds.low.x,
                       fmax(report.bounds.high.y - report.bounds.low.y,
                            report.bounds.high.z - report.bounds.low.z));
    double unit = ldexp(1.0, ilogb(size) - 20), scale = ldexp(1.0, -ilogb(size));
    double *p = models_positions(&view);
    for (uint64_t i = 0; i < 3 * view.vertex_count; ++i)
        p[i] = nearbyint(p[i] / unit) * unit * scale;
    view.positions = p;
    view.scalar = CAROM_SCALAR_FLOAT64;
    view.stride = 0;
    assert_ok(context, carom_mesh_create(context, &view, &rounded));
    free(p);
    return rounded;
}

static const char *const small_models[] = {"watertight/bunny_5k.ply", "watertight/spot.obj",
                                           "watertight/fandisk.obj", "watertight/screw-big.stl"};

static carom_pose turn(double angle, double x, double y, double z) {
    double length = sqrt(x * x + y * y + z * z), s = sin(0.5 * angle) / length;
    return (carom_pose){{cos(0.5 * angle), s * x, s * y, s * z}, {0, 0, 0}};
}

static void scales_and_positions_keep_the_volume(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    static const double scales[] = {0x1p-13, 0x1p20, 1e-4, 1e6};
    for (size_t n = 0; n < COUNT_OF(small_models); n += TEST_ALL_CASES ? 1 : 2) {
        carom_mesh *loaded = models_load_fan(context, small_models[n]);
        carom_mesh *mesh = rounded_mesh(loaded); /* some 1 in size */
        carom_solid *solid = scaled_solid(mesh, 1.0, false);
        double whole = volume_of(solid);
        for (int k = 0; k < (campaign_is_long() ? 12 : 6); ++k) {
            carom_pose pose = turn(k % 3 == 0 ? 0.0 : 0.1 + 0.4 * k, 1, k, 3);
            pose.t = (carom_vec3){0.125 * (k % 4), 0.0625 * (k % 3), 0.0};
            if (k % 4 == 3) pose.t = (carom_vec3){0x1p-20, 0, 0}; /* nearly a copy, or turned */
            double volume = overlap_of(solid, NULL, solid, &pose).volume;
            for (size_t s = 0; s < COUNT_OF(scales); ++s) {
                double cube = scales[s] * scales[s] * scales[s];
                carom_solid *scaled = scaled_solid(mesh, scales[s], false);
                carom_pose there = pose;
                there.t.x *= scales[s], there.t.y *= scales[s], there.t.z *= scales[s];
                double again = overlap_of(scaled, NULL, scaled, &there).volume / cube;
                check_volume(small_models[n], again, volume, whole);
                if (s < 2 && again != volume) /* powers of two round alike */
                    check_volume(small_models[n], 1e3 * again, 1e3 * volume, 1e-3 * whole);
                carom_solid_destroy(scaled);
            }
            /* Far away, by the coordinates and by the pose; turning would round there. */
            if (k % 3 != 0) continue;
            const double far[12] = {1, 0, 0, 1e6, 0, 1, 0, -1e6, 0, 0, 1, 1e6};
            carom_solid *moved = moved_solid(mesh, far, false);
            check_volume(small_models[n], overlap_of(moved, NULL, moved, &pose).volume, volume,
                         whole);
            carom_pose away = {.t = {1e6, -1e6, 1e6}}, both = pose;
            both.t.x += 1e6, both.t.y -= 1e6, both.t.z += 1e6;
            check_volume(small_models[n], overlap_of(solid, &away, solid, &both).volume, volume,
                         whole);
            check_volume(small_models[n], overlap_of(moved, NULL, solid, &both).volume, volume,
                         whole);
            carom_solid_destroy(moved);
        }
        carom_solid_destroy(solid);
        carom_mesh_destroy(mesh);
        carom_mesh_destroy(loaded);
    }
}

/* The integral of max(0, n t) over the surface: what a shift by a tiny t uncovers. */
static double uncovered_by(const carom_mesh *mesh, carom_vec3 t) {
    carom_mesh_view view;
    double sum = 0.0;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    double *p = models_positions(&view);
    for (uint64_t f = 0; f < view.face_count; ++f) {
        const double *a = p + 3 * view.corners[3 * f], *b = p + 3 * view.corners[3 * f + 1];
        const double *c = p + 3 * view.corners[3 * f + 2];
        double u[3], v[3];
        for (int k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k];
        double flux = (u[1] * v[2] - u[2] * v[1]) * t.x + (u[2] * v[0] - u[0] * v[2]) * t.y +
                      (u[0] * v[1] - u[1] * v[0]) * t.z;
        sum += fmax(0.0, 0.5 * flux);
    }
    free(p);
    return sum;
}

static void near_copies_lose_what_their_surface_sweeps(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    for (size_t n = 0; n < COUNT_OF(small_models); n += TEST_ALL_CASES ? 1 : 2) {
        carom_mesh *loaded = models_load_fan(context, small_models[n]);
        carom_mesh *mesh = rounded_mesh(loaded);
        carom_solid *solid = scaled_solid(mesh, 1.0, false);
        carom_solid *outside = scaled_solid(mesh, 1.0, true);
        double whole = volume_of(solid);
        carom_solid_result same = overlap_of(solid, NULL, solid, NULL);
        check_volume(small_models[n], same.volume, whole, whole);
        assert_int_equal(same.relation, CAROM_RELATION_A_INSIDE_B);
        assert_true(same.one_sided);
        assert_true(fabs(overlap_of(solid, NULL, outside, NULL).volume) <= 1e-14 * whole);
        for (int k = 0; k < 10; k += campaign_is_long() ? 1 : 3) {
            double far = ldexp(1.0, -22 - 3 * k); /* 2e-7 to 2e-15 */
            carom_pose shift = {.t = {far, 0.75 * far, k % 2 == 0 ? -0.5 * far : 0.0}};
            double kept = overlap_of(solid, NULL, solid, &shift).volume;
            double lost = overlap_of(solid, NULL, outside, &shift).volume;
            if (!(fabs(kept + lost - whole) <= 1e-12 * whole))
                fail_msg("%s: %.17g and %.17g are not %.17g", small_models[n], kept, lost, whole);
            /* b moved by t leaves behind what faces against t sweep */
            carom_vec3 back = {-shift.t.x, -shift.t.y, -shift.t.z};
            double expected = uncovered_by(mesh, back);
            /* x' is rounded by up to 2^-53, which uncovers the more the smaller the shift is */
            if (!(fabs(lost / expected - 1) <= 1e-3 + 0x1p-51 / far))
                fail_msg("%s: a shift by %g uncovers %.17g, not %.17g", small_models[n], far, lost,
                         expected);
        }
        carom_solid_destroy(solid);
        carom_solid_destroy(outside);
        carom_mesh_destroy(mesh);
        carom_mesh_destroy(loaded);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posed_meshes_have_the_true_volumes),
        cmocka_unit_test(the_benchmarks_poses_have_the_true_volumes),
        cmocka_unit_test(scales_and_positions_keep_the_volume),
        cmocka_unit_test(near_copies_lose_what_their_surface_sweeps),
    };
    return cmocka_run_group_tests_name("solid_truth", tests, set_up, tear_down);
}
