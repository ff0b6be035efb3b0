/* SPDX-License-Identifier: MIT */
/* Real models: closedness, volume and area of every file of the shared set agree with its truth.
 * Files above 100,000 triangles only with CAROM_LONG=1 in the environment. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "geom/exact_sum.h"
#include "mesh/mesh.h"
#include "tests/support/campaign.h"
#include "tests/support/shapes.h"

#define FEW_TRIANGLES 100000

/* One line of volumes.csv. */
typedef struct truth {
    char file[256];
    unsigned long long triangles;
    int closed, oriented;
    bool has_volume;
    double volume, area;
} truth;

static bool read_truth(char *line, truth *t) {
    char *end = strchr(line + 1, '"'), *fields[9];
    if (line[0] != '"' || end == NULL || (size_t)(end - line) > sizeof(t->file)) return false;
    memset(t, 0, sizeof(*t));
    memcpy(t->file, line + 1, (size_t)(end - line) - 1);
    int count = 0;
    for (char *at = end; at != NULL && count < 9; at = strchr(at, ',')) fields[count++] = ++at;
    assert_int_equal(count, 9);
    t->triangles = strtoull(fields[1], NULL, 10);
    t->closed = atoi(fields[2]);
    t->oriented = atoi(fields[3]);
    t->has_volume = fields[7][0] != ',';
    t->volume = strtod(fields[7], NULL);
    t->area = strtod(fields[8], NULL);
    return true;
}

/* The models of stats.tar.gz, unpacked into the build folder once. */
static void unpack_stats(const char *shared) {
    struct stat info;
    char command[1200];
    if (stat(CAROM_BINARY_DIR "/models/stats", &info) == 0) return;
    snprintf(command, sizeof(command),
             "mkdir -p '%s/models.part' && tar xzf '%s/models/stats.tar.gz' -C '%s/models.part' && "
             "mv '%s/models.part' '%s/models'",
             CAROM_BINARY_DIR, shared, CAROM_BINARY_DIR, CAROM_BINARY_DIR, CAROM_BINARY_DIR);
    assert_int_equal(system(command), 0);
}

/* The set's own rounding: the sum of determinants cut off after 53 bits, then divided by 6. Ours is
 * the nearest double to the exact sixth, so the two may differ by two units in the last place. */
static double volume_as_in_truth(const carom_mesh_view *view) {
    carom_exact_sum sum = {{0}};
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = carom_mesh_offset(view, f), end = carom_mesh_offset(view, f + 1);
        for (uint64_t i = begin + 2; i < end; ++i) {
            carom_vec3 a = carom_mesh_position(view, view->corners[begin]);
            carom_vec3 b = carom_mesh_position(view, view->corners[i - 1]);
            carom_vec3 c = carom_mesh_position(view, view->corners[i]);
            carom_exact_sum_add(&sum, c.x, a.y, b.z);
            carom_exact_sum_add(&sum, a.x, b.y, c.z);
            carom_exact_sum_add(&sum, b.x, c.y, a.z);
            carom_exact_sum_subtract(&sum, c.x, b.y, a.z);
            carom_exact_sum_subtract(&sum, a.x, c.y, b.z);
            carom_exact_sum_subtract(&sum, b.x, a.y, c.z);
        }
    }
    double nearest = carom_exact_sum_divide(&sum, 1);
    carom_exact_sum_subtract(&sum, nearest, 1.0, 1.0);
    int beyond = carom_exact_sum_sign(&sum);
    if ((nearest > 0.0 && beyond < 0) || (nearest < 0.0 && beyond > 0))
        nearest = nextafter(nearest, 0.0);
    return nearest / 6.0;
}

static void check_model(carom_context *context, const char *path, const truth *t) {
    carom_mesh *mesh, *welded, *fan;
    carom_mesh_view view;
    carom_mesh_report report, fan_report;
    carom_mesh_triangulate_def def = {.fan = true};
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_weld(context, &view, &welded));
    assert_ok(context, carom_mesh_get_view(welded, &view));
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    if (report.triangles != t->triangles || report.closed != t->closed)
        fail_msg("%s: %llu triangles, %s", path, (unsigned long long)report.triangles,
                 report.closed ? "closed" : "not closed");
    if (report.closed != (t->oriented && t->has_volume)) fail_msg("%s: volume", path);
    if (t->has_volume) {
        if (volume_as_in_truth(&view) != t->volume)
            fail_msg("%s: volume %.17g, not %.17g", path, volume_as_in_truth(&view), t->volume);
        if (!(fabs(report.volume - t->volume) <= 3.0 * 0x1p-53 * fabs(t->volume)))
            fail_msg("%s: volume %.17g, not %.17g", path, report.volume, t->volume);
    }
    assert_ok(context, carom_mesh_triangulate(context, &view, &def, &fan, NULL));
    assert_ok(context, carom_mesh_get_view(fan, &view));
    assert_ok(context, carom_mesh_inspect(context, &view, &fan_report));
    if (!(fabs(fan_report.area - t->area) <= 1e-7 * t->area))
        fail_msg("%s: area %.9g, not %.9g", path, fan_report.area, t->area);
    assert_true(fan_report.closed == report.closed && fan_report.volume == report.volume);
    assert_int_equal(fan_report.degenerate_triangles, report.degenerate_triangles);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(welded);
    carom_mesh_destroy(fan);
}

static void every_shared_model_agrees_with_its_truth(void **state) {
    (void)state;
    const char *shared = test_shared_folder();
    if (shared == NULL) skip();
    char path[1024], line[1024];
    snprintf(path, sizeof(path), "%s/models/truth/volumes.csv", shared);
    FILE *in = fopen(path, "r");
    if (in == NULL) skip();
    unpack_stats(shared);
    carom_context *context = test_context(1);
    bool all = campaign_is_long();
    int checked = 0, closed = 0;
    while (fgets(line, sizeof(line), in) != NULL) {
        truth t;
        if (!read_truth(line, &t) || (t.triangles > FEW_TRIANGLES && !all)) continue;
        if (strncmp(t.file, "stats/", 6) == 0)
            snprintf(path, sizeof(path), CAROM_BINARY_DIR "/models/%s", t.file);
        else
            snprintf(path, sizeof(path), "%s/models/%s", shared, t.file);
        check_model(context, path, &t);
        ++checked;
        closed += t.closed;
    }
    fclose(in);
    print_message("%d models, %d of them closed\n", checked, closed);
    assert_true(checked > 800 && closed > 600);
    carom_context_destroy(context);
}

/* Also keeps the count of allocations linked in. */
static void inspecting_again_allocates_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view view;
    carom_mesh_report report;
    carom_mesh *mesh = shape_mesh(context, NULL, &view);
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    assert_ok(context, carom_mesh_inspect(context, &view, &report)); /* scratch joins into one */
    uint64_t before = test_malloc_count();
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    assert_int_equal(test_malloc_count(), before);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shared_model_agrees_with_its_truth),
        cmocka_unit_test(inspecting_again_allocates_nothing),
    };
    return cmocka_run_group_tests_name("mesh_truth", tests, NULL, NULL);
}
