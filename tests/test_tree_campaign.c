/* SPDX-License-Identifier: MIT */
/* Bounds of sphere trees against exact overlaps and distances of the solids, over many poses:
 * apart, touching, deep, contained, scaled; and against the shared models' truth. CAROM_LONG=1 runs
 * 100,000 poses and all pairs of models, in parts with CAROM_PART, and prints what the answers are
 * like. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"
#include "tree/tree.h"

TEST_CONTEXT(2)

/* What the answers are like: for the report of the long form. */
typedef struct totals {
    uint64_t deep, middle, gaps; /* overlaps of 8 % and more, of 1 to 8 %, distances */
    uint64_t far_gaps;           /* distances of at least 1 % of the size */
    double deep_width, middle_width, error, gap_width, gap_worst, gap_error;
    uint64_t reached; /* overlaps of 1 % and more whose tolerance was reached early */
} totals;

/* Compares both kinds of bounds with the truth. */
static void check(const carom_tree *a, const carom_tree *b, const carom_pose *pose, double scale_b,
                  double volume, double error, double distance, double smaller, totals *t) {
    carom_tree_query_def def = {.scale_b = scale_b, .narrow_limits = true};
    carom_tree_result basic, narrow;
    assert_ok(context, carom_tree_query(context, a, NULL, b, pose, &def, &narrow));
    def.narrow_limits = false;
    assert_ok(context, carom_tree_query(context, a, NULL, b, pose, &def, &basic));
    carom_tree_result tolerant, hurried;
    carom_tree_query_def limits = {.scale_b = scale_b, .tolerance = 0.35};
    assert_ok(context, carom_tree_query(context, a, NULL, b, pose, &limits, &tolerant));
    limits = (carom_tree_query_def){.scale_b = scale_b, .work_budget = 400};
    assert_ok(context, carom_tree_query(context, a, NULL, b, pose, &limits, &hurried));
    const carom_tree_result *both[4] = {&basic, &narrow, &tolerant, &hurried};
    for (int i = 0; i < 4; ++i) {
        const carom_packing_overlap *o = &both[i]->overlap;
        if (o->relation > CAROM_RELATION_OVERLAPPING) assert_true(volume >= smaller - error);
        if (!(o->volume.lower <= volume + error && volume - error <= o->volume.upper))
            fail_msg("%.17g <= %.17g <= %.17g does not hold", o->volume.lower, volume,
                     o->volume.upper);
        if (o->relation >= CAROM_RELATION_OVERLAPPING) assert_true(volume > -error);
        if (both[i]->has_gap && distance >= 0.0 &&
            !(both[i]->gap.distance.lower <= distance * (1.0 + 1e-9) + error &&
              distance <= both[i]->gap.distance.upper * (1.0 + 1e-9)))
            fail_msg("distance: %.17g <= %.17g <= %.17g does not hold", both[i]->gap.distance.lower,
                     distance, both[i]->gap.distance.upper);
    }
    double share = volume / smaller;
    if (share >= 0.01) t->reached += tolerant.overlap.partial;
    double width = (narrow.overlap.volume.upper - narrow.overlap.volume.lower) / volume;
    if (share >= 0.01) t->error += fabs(narrow.overlap.volume.value / volume - 1.0);
    if (share >= 0.08) {
        t->deep += 1;
        t->deep_width += width;
    } else if (share >= 0.01) {
        t->middle += 1;
        t->middle_width += width;
    }
    if (narrow.has_gap && distance > 0.0) {
        double size = 2.0 * a->extent.size,
               gap = (narrow.gap.distance.upper - narrow.gap.distance.lower) / size;
        t->gaps += 1;
        t->gap_width += gap;
        t->gap_worst = fmax(t->gap_worst, gap);
        if (distance >= 0.01 * size) {
            t->far_gaps += 1;
            t->gap_error += fabs(narrow.gap.distance.value / distance - 1.0);
        }
    }
}

static void report(const char *name, const totals *t) {
    if (!campaign_is_long()) return;
    printf("%s: %llu deep, %.3f wide; %llu of 1 to 8 %%, %.3f wide; estimate %.3f %% off; "
           "tolerance reached in %llu; %llu gaps, %.5f wide, worst %.5f; distances %.4f %% off\n",
           name, (unsigned long long)t->deep, t->deep_width / fmax(1.0, (double)t->deep),
           (unsigned long long)t->middle, t->middle_width / fmax(1.0, (double)t->middle),
           100.0 * t->error / fmax(1.0, (double)(t->deep + t->middle)),
           (unsigned long long)t->reached, (unsigned long long)t->gaps,
           t->gap_width / fmax(1.0, (double)t->gaps), t->gap_worst,
           100.0 * t->gap_error / fmax(1.0, (double)t->far_gaps));
    fflush(stdout);
}

static carom_tree *tree_of(const carom_packing *packing, const carom_mesh *mesh) {
    carom_tree *tree = NULL;
    carom_mesh_view view = {0};
    carom_tree_def def = {.mesh = &view, .packing = packing};
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_tree_create(context, &def, &tree));
    return tree;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

#define SHAPES 4
#define SCALES 3

static void bounds_hold_in_all_poses(void **state) {
    (void)state;
    static const carom_shape shapes[SHAPES] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_KNOT,
                                               CAROM_SHAPE_CONE, CAROM_SHAPE_CYLINDER};
    static const double scales[SCALES] = {1.0, 0.25, 0.03125};
    uint64_t cases = campaign_is_long() ? 100000 : TEST_CASES(600);
    carom_tree *trees[SHAPES];
    carom_solid *solids[SHAPES][SCALES];
    double volumes[SHAPES];
    for (int i = 0; i < SHAPES; ++i) {
        carom_mesh *mesh;
        carom_packing *packing =
            packing_of_shape(context, shapes[i], 24 + 72 * (shapes[i] == CAROM_SHAPE_KNOT),
                             campaign_is_long() ? 4000 : 500, &mesh);
        carom_mesh_view view;
        trees[i] = tree_of(packing, mesh);
        volumes[i] = packing->info.volume;
        carom_packing_destroy(packing);
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        double *moved = malloc(3 * view.vertex_count * sizeof(*moved));
        assert_non_null(moved);
        for (int k = 0; k < SCALES; ++k) {
            carom_mesh_view mesh_view = view;
            carom_solid_def def = {.mesh = &mesh_view};
            for (uint64_t v = 0; v < 3 * view.vertex_count; ++v)
                moved[v] = ((const double *)view.positions)[v] * scales[k];
            mesh_view.positions = moved;
            mesh_view.stride = 0;
            assert_ok(context, carom_solid_create(context, &def, &solids[i][k]));
        }
        free(moved);
        carom_mesh_destroy(mesh);
    }
    totals t = {0};
    for (uint64_t n = 0; n < cases; ++n) {
        if (!campaign_has(n)) continue;
        carom_random random = {1000 + n};
        int a = (int)(n % SHAPES), b = (int)(n / SHAPES % SHAPES), k = (int)(n / 16 % SCALES);
        double far = n % 7 == 0 ? 0.05 : n % 7 == 1 ? 3.0 : 1.3;
        carom_pose pose = packing_random_pose(&random, far);
        carom_solid_query_def exact_def = {.distance = true};
        carom_solid_result exact;
        if (k > 0 && n % 2 == 0) { /* into the ring */
            double angle = carom_random_between(&random, 0.0, 6.0);
            pose.t = carom_vec(cos(angle), sin(angle), carom_random_between(&random, -0.3, 0.3));
        }
        assert_ok(context, carom_solid_overlap(context, solids[a][0], NULL, solids[b][k], &pose,
                                               &exact_def, &exact));
        double smaller = fmin(volumes[a], volumes[b] * pow(scales[k], 3.0));
        check(trees[a], trees[b], &pose, scales[k], exact.volume, exact.volume_error,
              exact.has_distance ? exact.distance : -1.0, smaller, &t);
    }
    report("shapes", &t);
    for (int i = 0; i < SHAPES; ++i) {
        carom_tree_destroy(trees[i]);
        for (int k = 0; k < SCALES; ++k) carom_solid_destroy(solids[i][k]);
    }
}

/* ---- Models ---------------------------------------------------------------------------------- */

static carom_tree *tree_of_model(const char *name, double *volume) {
    carom_mesh *mesh = models_load_fan(context, name);
    carom_packing *packing = NULL;
    const char *count = getenv("CAROM_SPHERES"); /* of the long form */
    carom_mesh_view view = {0};
    carom_packing_def def = {
        .mesh = &view, .count = campaign_is_long() ? 20000 : 400, .fast = true};
    if (campaign_is_long() && count != NULL) def.count = strtoull(count, NULL, 10);
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_packing_create(context, &def, &packing));
    carom_tree *tree = tree_of(packing, mesh);
    *volume = packing->info.volume;
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return tree;
}

static void models_are_within_their_bounds(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    char line[512], *cells[4];
    static char row[4096];
    FILE *files = models_open_text("truth/mesh_pairs_files.csv");
    uint64_t number = 0, checked = 0;
    assert_non_null(fgets(line, sizeof(line), files));
    while (fgets(line, sizeof(line), files) != NULL) {
        assert_true(models_cut_line(line, cells, 4) >= 4);
        char pair[64];
        snprintf(pair, sizeof(pair), "%s", cells[0]);
        char *name_a = cells[1] + 1, *name_b = cells[2] + 1; /* in quotes */
        name_a[strcspn(name_a, "\"")] = name_b[strcspn(name_b, "\"")] = '\0';
        bool quick = strcmp(pair, "bunny_spot") == 0 || strcmp(pair, "coupling_rotor") == 0;
        if (cells[3][0] != '1' || !campaign_has(number++) || !(quick || campaign_is_long()))
            continue;
        double volume_a, volume_b;
        totals t = {0};
        carom_tree *a = tree_of_model(name_a, &volume_a), *b = tree_of_model(name_b, &volume_b);
        FILE *rows = models_open_text("truth/mesh_pairs.csv");
        assert_non_null(fgets(row, sizeof(row), rows));
        while (fgets(row, sizeof(row), rows) != NULL) {
            char *values[32];
            double m[12];
            assert_true(models_cut_line(row, values, 32) >= 23);
            if (strcmp(values[0], pair) != 0) continue;
            double scale = strtod(values[2], NULL);
            for (int i = 0; i < 12; ++i) m[i] = strtod(values[3 + i], NULL);
            carom_pose pose = models_pose(context, m, scale);
            bool meets = strtoull(values[15], NULL, 10) != 0;
            double smaller = fmin(volume_a, volume_b * scale * scale * scale);
            check(a, b, &pose, scale, strtod(values[22], NULL), 1e-9 * smaller,
                  meets ? -1.0 : strtod(values[18], NULL), smaller, &t);
            ++checked;
        }
        fclose(rows);
        report(pair, &t);
        carom_tree_destroy(a);
        carom_tree_destroy(b);
    }
    assert_true(checked > 0 || getenv("CAROM_PART") != NULL);
    fclose(files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_in_all_poses),
        cmocka_unit_test(models_are_within_their_bounds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
