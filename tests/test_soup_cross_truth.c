/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* popen */
/* Real meshes against counts and distances from exact arithmetic, where ../shared is there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

static carom_mesh *load(const char *path) {
    char whole[1024];
    carom_mesh *mesh;
    snprintf(whole, sizeof(whole), "%s/models/%s", test_shared_folder(), path);
    assert_ok(context, carom_mesh_load(context, whole, CAROM_MESH_FORMAT_GUESS, &mesh));
    return mesh;
}

/* ---- posed ----------------------------------------------------------------------------------- */

/* A soup of the mesh with its vertices moved by a matrix, in doubles. */
static carom_soup *moved_soup(const carom_mesh *mesh, const double *m, bool rigid) {
    carom_mesh_view view;
    assert_int_equal(carom_mesh_get_view(mesh, &view), CAROM_OK);
    double *moved = malloc(view.vertex_count * 3 * sizeof(double));
    assert_non_null(moved);
    for (uint64_t v = 0; v < view.vertex_count; ++v) {
        double p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = view.scalar == CAROM_SCALAR_FLOAT32
                       ? (double)((const float *)view.positions)[3 * v + k]
                       : ((const double *)view.positions)[3 * v + k];
        for (int i = 0; i < 3; ++i)
            moved[3 * v + i] =
                ((m[4 * i] * p[0] + m[4 * i + 1] * p[1]) + m[4 * i + 2] * p[2]) + m[4 * i + 3];
    }
    carom_mesh_view mesh_view = view;
    carom_soup_def def = {.mesh = &mesh_view, .fan = true, .rigid = rigid};
    mesh_view.positions = moved;
    mesh_view.scalar = CAROM_SCALAR_FLOAT64;
    mesh_view.stride = 0;
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    free(moved);
    return soup;
}

typedef struct posed_row {
    char pair[64];
    double scale, m[12], distance;
    uint64_t count;
} posed_row;

static bool next_row(FILE *file, posed_row *row) {
    static char line[4096];
    char *cells[32];
    if (fgets(line, sizeof(line), file) == NULL) return false;
    assert_true(models_cut_line(line, cells, 32) >= 22);
    snprintf(row->pair, sizeof(row->pair), "%s", cells[0]);
    row->scale = strtod(cells[2], NULL);
    for (int i = 0; i < 12; ++i) row->m[i] = strtod(cells[3 + i], NULL);
    row->count = strtoull(cells[16], NULL, 10);
    row->distance = cells[18][0] != '\0' ? strtod(cells[18], NULL) : 0.0;
    return true;
}

static void check_row(const posed_row *row, const carom_soup *a, const carom_soup *b,
                      const carom_pose *pose_b) {
    static carom_pairs pairs;
    carom_soup_gap gap;
    bool any;
    assert_ok(context, carom_soup_cross_pairs(context, a, NULL, b, pose_b, &pairs));
    if (pairs.count != row->count)
        fail_msg("%s: %llu pairs, not %llu", row->pair, (unsigned long long)pairs.count,
                 (unsigned long long)row->count);
    assert_ok(context, carom_soup_cross_meet(context, a, NULL, b, pose_b, &any));
    assert_int_equal(any, row->count != 0);
    assert_ok(context, carom_soup_cross_distance(context, a, NULL, b, pose_b, 0.0, &gap));
    if (!(fabs(gap.distance - row->distance) <= 1e-12 * row->distance))
        fail_msg("%s: distance %.17g, not %.17g", row->pair, gap.distance, row->distance);
}

static void posed_meshes_have_the_true_pairs_and_distances(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    char line[512], *cells[4];
    FILE *files = models_open_text("truth/mesh_pairs_files.csv"),
         *rows = models_open_text("truth/mesh_pairs.csv");
    posed_row row;
    assert_non_null(fgets(line, sizeof(line), files));
    static char header[4096];
    assert_non_null(fgets(header, sizeof(header), rows));
    bool more = next_row(rows, &row);
    uint64_t checked = 0;
    while (fgets(line, sizeof(line), files) != NULL) {
        assert_true(models_cut_line(line, cells, 4) >= 3);
        char pair[64];
        snprintf(pair, sizeof(pair), "%s", cells[0]);
        char *name_a = cells[1] + 1, *name_b = cells[2] + 1; /* in quotes */
        name_a[strcspn(name_a, "\"")] = name_b[strcspn(name_b, "\"")] = '\0';
        bool wanted =
            campaign_is_long() || (strstr(pair, "dragon") == NULL && strstr(pair, "100k") == NULL);
        carom_mesh *mesh_a = wanted ? load(name_a) : NULL, *mesh_b = wanted ? load(name_b) : NULL;
        carom_soup *a = NULL, *b = NULL;
        for (uint64_t i = 0; more && strcmp(row.pair, pair) == 0;
             more = next_row(rows, &row), ++i) {
            if (!wanted) continue;
            if (a == NULL) {
                carom_mesh_view view = {0};
                carom_soup_def def = {.mesh = &view, .fan = true, .rigid = true};
                const double scaling[12] = {row.scale, 0, 0, 0, 0,        row.scale,
                                            0,         0, 0, 0, row.scale};
                assert_ok(context, carom_mesh_get_view(mesh_a, &view));
                assert_ok(context, carom_soup_create(context, &def, &a));
                b = moved_soup(mesh_b, scaling, true);
            }
            carom_pose pose = models_pose(context, row.m, row.scale);
            check_row(&row, a, b, &pose);
            carom_soup *moved = moved_soup(mesh_b, row.m, i % 2 == 0);
            check_row(&row, a, moved, NULL);
            carom_soup_destroy(moved);
            ++checked;
        }
        carom_soup_destroy(a);
        carom_soup_destroy(b);
        carom_mesh_destroy(mesh_a);
        carom_mesh_destroy(mesh_b);
    }
    assert_true(checked >= 20);
    fclose(files);
    fclose(rows);
}

/* ---- the benchmark's poses ------------------------------------------------------------------- */

static void check_set(const carom_soup *soup, const char *name, uint64_t pairs_expected,
                      uint64_t colliding_expected) {
    char path[128];
    static char line[4096];
    snprintf(path, sizeof(path), "bench/j4_%s.csv", name);
    FILE *file = models_open_text(path);
    carom_pairs pairs = {0};
    uint64_t total = 0, colliding = 0;
    assert_non_null(fgets(line, sizeof(line), file));
    while (fgets(line, sizeof(line), file) != NULL) {
        char *cells[12];
        double m[12];
        bool any;
        carom_soup_gap gap;
        assert_int_equal(models_cut_line(line, cells, 12), 12);
        for (int i = 0; i < 12; ++i) m[i] = strtod(cells[i], NULL);
        carom_pose pose = models_pose(context, m, 1.0);
        assert_ok(context, carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &pairs));
        assert_ok(context, carom_soup_cross_meet(context, soup, NULL, soup, &pose, &any));
        assert_int_equal(any, pairs.count != 0);
        if (campaign_is_long()) {
            assert_ok(context,
                      carom_soup_cross_distance(context, soup, NULL, soup, &pose, 0.0, &gap));
            assert_int_equal(gap.distance == 0.0, any);
        }
        total += pairs.count;
        colliding += any ? 1 : 0;
    }
    assert_int_equal(total, pairs_expected);
    assert_int_equal(colliding, colliding_expected);
    carom_pairs_free(&pairs);
    fclose(file);
}

static void moving_models_meet_as_often_as_others_say(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    for (int model = 0; model < 2; ++model) {
        carom_mesh *mesh = load(model == 0 ? "bench/bunny.ply" : "bench/armadillo.ply");
        carom_mesh_view view = {0};
        carom_soup_def def = {.mesh = &view, .rigid = true};
        carom_soup *soup;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_soup_create(context, &def, &soup));
        check_set(soup, model == 0 ? "bunny" : "armadillo", model == 0 ? 2787 : 1711,
                  model == 0 ? 16 : 10);
        check_set(soup, model == 0 ? "bunny_deep" : "armadillo_deep", model == 0 ? 105334 : 73254,
                  model == 0 ? 143 : 112);
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
    }
}

/* ---- scenes of parts ------------------------------------------------------------------------- */

typedef struct scene {
    float *positions;
    uint32_t *corners; /* sorted by part */
    uint32_t *first;   /* face of each part, and the end */
    uint32_t part_count;
    carom_soup **soups;
} scene;

/* The faces of these files are triangles and carry their part's number behind the corners. */
static void load_scene(const char *name, scene *s) {
    char command[1024], line[256];
    uint32_t vertices = 0, faces = 0;
    snprintf(command, sizeof(command), "gzip -dc %s/models/scenes/%s.ply.gz", test_shared_folder(),
             name);
    FILE *file = popen(command, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL && strncmp(line, "end_header", 10) != 0) {
        (void)sscanf(line, "element vertex %u", &vertices);
        (void)sscanf(line, "element face %u", &faces);
    }
    s->positions = malloc(vertices * 3 * sizeof(float));
    s->corners = malloc(faces * 3 * sizeof(uint32_t));
    uint32_t(*raw)[4] = malloc(faces * sizeof(*raw));
    assert_int_equal(fread(s->positions, 12, vertices, file), vertices);
    s->part_count = 0;
    for (uint32_t f = 0; f < faces; ++f) {
        assert_int_equal(fgetc(file), 3);
        assert_int_equal(fread(raw[f], 4, 4, file), 4);
        if (raw[f][3] >= s->part_count) s->part_count = raw[f][3] + 1;
    }
    pclose(file);
    s->first = calloc(s->part_count + 1, sizeof(uint32_t));
    s->soups = calloc(s->part_count, sizeof(*s->soups));
    uint32_t at = 0;
    for (uint32_t part = 0; part < s->part_count; ++part) {
        s->first[part] = at;
        for (uint32_t f = 0; f < faces; ++f)
            if (raw[f][3] == part) memcpy(s->corners + 3 * at++, raw[f], 12);
        carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = s->positions,
                                                         .scalar = CAROM_SCALAR_FLOAT32,
                                                         .vertex_count = vertices,
                                                         .corners = s->corners + 3 * s->first[part],
                                                         .face_count = at - s->first[part]},
                              .rigid = part % 2 == 0};
        assert_ok(context, carom_soup_create(context, &def, &s->soups[part]));
    }
    free(raw);
}

static void free_scene(scene *s) {
    for (uint32_t part = 0; part < s->part_count; ++part) carom_soup_destroy(s->soups[part]);
    free(s->soups);
    free(s->first);
    free(s->corners);
    free(s->positions);
}

static void check_scene(const char *name) {
    scene s;
    char path[256], line[256];
    carom_pairs pairs = {0};
    load_scene(name, &s);
    uint64_t *expected = calloc((size_t)s.part_count * s.part_count, sizeof(uint64_t));
    snprintf(path, sizeof(path), "truth/clash_%s.csv", name);
    FILE *file = models_open_text(path);
    assert_non_null(fgets(line, sizeof(line), file));
    uint32_t a, b;
    unsigned long long count;
    while (fscanf(file, "%u,%u,%llu", &a, &b, &count) == 3)
        expected[(size_t)a * s.part_count + b] = count;
    fclose(file);
    for (a = 0; a < s.part_count; ++a) {
        for (b = a + 1; b < s.part_count; ++b) {
            assert_ok(context,
                      carom_soup_cross_pairs(context, s.soups[a], NULL, s.soups[b], NULL, &pairs));
            if (pairs.count != expected[(size_t)a * s.part_count + b])
                fail_msg("%s: parts %u and %u have %llu pairs, not %llu", name, a, b,
                         (unsigned long long)pairs.count,
                         (unsigned long long)expected[(size_t)a * s.part_count + b]);
        }
    }
    free(expected);
    carom_pairs_free(&pairs);
    free_scene(&s);
}

static void parts_of_scenes_clash_as_they_should(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    check_scene("hand_bones_parts");
    check_scene("panda_robot_parts");
    if (!campaign_is_long()) return;
    check_scene("2CylinderEngine_parts");
    check_scene("leg_muscle_parts");
    check_scene("buggy_474k_parts");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posed_meshes_have_the_true_pairs_and_distances),
        cmocka_unit_test(moving_models_meet_as_often_as_others_say),
        cmocka_unit_test(parts_of_scenes_clash_as_they_should),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
