/* SPDX-License-Identifier: MIT */
/* Every closed model of ../shared as a solid: its volume, whether it crosses itself, and what it
 * has in common with itself moved, which must add up with the rest to the whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

static FILE *open_truth(const char *name) {
    char path[1024];
    snprintf(path, sizeof(path), "%s/models/truth/%s", test_shared_folder(), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

/* Cuts a line whose first field is in quotes. */
static bool cut(char *line, char *fields[], int most) {
    char *end = line[0] == '"' ? strchr(line + 1, '"') : NULL;
    if (end == NULL) return false;
    *end = '\0';
    fields[0] = line + 1;
    int count = 1;
    for (char *at = end + 1; *at == ',' && count < most; at = strchr(at + 1, ',')) {
        fields[count++] = at + 1;
        if (strchr(at + 1, ',') == NULL) break;
    }
    return count == most;
}

/* Pairs of a model's own faces that meet; the files list the models in one and the same order. */
static uint64_t self_pairs_of(FILE *file, const char *model) {
    static char line[1024];
    char *fields[4];
    while (fgets(line, sizeof(line), file) != NULL)
        if (cut(line, fields, 4) && strcmp(fields[0], model) == 0)
            return strtoull(fields[3], NULL, 10);
    fail_msg("%s is not among the self-intersections", model);
    return 0;
}

static carom_solid *prepare(const carom_mesh *mesh, bool complement) {
    carom_mesh_view view = {0};
    carom_solid_def def = {.mesh = &view, .complement = complement};
    carom_solid *solid;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_solid_create(context, &def, &solid));
    return solid;
}

static double overlap_of(const carom_solid *a, const carom_solid *b, const carom_pose *pose) {
    carom_solid_result overlap;
    assert_ok(context, carom_solid_overlap(context, a, NULL, b, pose, NULL, &overlap));
    return overlap.volume;
}

static void check_near(const char *model, const char *what, double value, double expected,
                       double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %s %.17g, not %.17g: off by %.2g, allowed %.2g", model, what, value, expected,
                 fabs(value - expected), tolerance);
}

static void check_model(const char *model, double volume, uint64_t self_pairs) {
    carom_mesh *mesh = models_load_fan(context, model);
    carom_solid *solid = prepare(mesh, false), *outside = prepare(mesh, true);
    carom_solid_info info;
    carom_mesh_view view;
    carom_mesh_report report;
    assert_ok(context, carom_solid_get_info(solid, &info));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    double whole = fabs(volume), size = report.bounds.high.x - report.bounds.low.x;
    double tolerance = 1e-12 * whole;
    check_near(model, "volume", info.volume, whole, 1e-14 * whole);
    check_near(model, "area", info.area, report.area, 1e-12 * report.area);
    assert_int_equal(info.inside_out, volume < 0.0);
    if (info.self_intersecting != (self_pairs > report.degenerate_faces))
        fail_msg("%s: %llu pairs of its own faces meet", model, (unsigned long long)self_pairs);
    if (!info.by_winding)
        check_near(model, "copy", overlap_of(solid, solid, NULL), whole, tolerance);
    for (int k = 0; k < 3; ++k) {
        /* About the centroid, so that much stays in common: aside, turned, both. */
        carom_vec3 c = info.centroid;
        carom_pose pose = {.t = {0.125 * size, 0.0625 * size, 0.0}};
        if (k > 0) { /* a half turn about the diagonal of x and y, exact */
            pose = (carom_pose){{0, 1, 1, 0}, {c.x - c.y, c.y - c.x, 2 * c.z}};
            if (k == 2) pose.q.w = 0.3, pose.q.z = -0.2, pose.t.x += 0.1 * size;
        }
        double common = overlap_of(solid, solid, &pose), rest = overlap_of(solid, outside, &pose);
        check_near(model, "common and rest", common + rest, whole, tolerance);
        carom_solid_result back;
        assert_ok(context, carom_solid_overlap(context, solid, &pose, solid, NULL, NULL, &back));
        check_near(model, "swapped", back.volume, common, tolerance);
        if (!info.by_winding) assert_true(common >= -tolerance && common <= whole + tolerance);
    }
    carom_solid_destroy(solid);
    carom_solid_destroy(outside);
    carom_mesh_destroy(mesh);
}

static void every_closed_model_is_a_solid(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    FILE *volumes = open_truth("volumes.csv"), *pairs = open_truth("self_intersections.csv");
    static char line[1024];
    uint64_t checked = 0, seen = 0;
    while (fgets(line, sizeof(line), volumes) != NULL) {
        char *fields[9];
        if (!cut(line, fields, 9)) continue;
        bool closed = atoi(fields[2]) != 0 && atoi(fields[3]) != 0;
        uint64_t triangles = strtoull(fields[1], NULL, 10);
        if (!closed ||
            (!campaign_is_long() && (triangles > 5000 || ++seen % (3 * CAROM_TEST_SHARE) != 0)))
            continue;
        check_model(fields[0], strtod(fields[7], NULL), self_pairs_of(pairs, fields[0]));
        ++checked;
    }
    if (TEST_MANY_CASES) assert_true(checked >= 100 / CAROM_TEST_SHARE);
    print_message("%llu models\n", (unsigned long long)checked);
    fclose(volumes);
    fclose(pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_closed_model_is_a_solid)};
    return cmocka_run_group_tests_name("solid_models", tests, set_up, tear_down);
}
