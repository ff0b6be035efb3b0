/* SPDX-License-Identifier: MIT */
/* How many pairs can ever meet: the bound that follows from k-free, and where the published one
 * does not hold. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/models.h"
#include "tests/support/shapes.h"

static carom_numbers counts;

static void query(carom_context *context, const carom_soup_def *def, carom_kfree *k) {
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, def, &soup));
    assert_ok(context, carom_kfree_measure(context, soup, k, &counts));
    carom_soup_destroy(soup);
}

/* An upright triangle of no width to speak of. */
static void stand(double x, double y, double height, double needle[3][3]) {
    double corners[3][3] = {{x, y, 0.0}, {x, y, height}, {x + 1e-4, y, 0.5 * height}};
    memcpy(needle, corners, sizeof(corners));
}

/* Equal triangles stacked a little over d/4 apart do not see each other; a triangle across them
 * meets four, where Lemma 3.1 of the paper allows three. Upright needles, fifteen of them in a
 * lattice, do not see each other either and all go through the four: 60 pairs, where Theorem 3.3
 * allows 3 (4 + 15). The mended bound holds. */
static void the_published_bounds_have_counterexamples(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    double d = 2.0 / sqrt(3.0), gap = 0.25 * d * 1.0001, length = 3.0 * gap + 1e-3;
    double stack[12][3], needles[45][3], base[3][2] = {{0.0, 0.0}, {1.0, 0.0}, {0.5, sqrt(0.75)}};
    uint32_t corners[45], count = 0;
    for (uint32_t i = 0; i < 45; ++i) corners[i] = i;
    for (uint32_t i = 0; i < 12; ++i) {
        stack[i][0] = base[i % 3][0];
        stack[i][1] = base[i % 3][1];
        stack[i][2] = 5e-4 + gap * (i / 3);
    }
    double step = 0.25 * length + 1e-3, edge = 4.0 * step;
    for (int row = 0; row < 5; ++row)
        for (int i = 0; i + row < 5; ++i)
            stand(0.5 * (1.0 - edge) + step * (i + 0.5 * row),
                  (1.0 - edge) * 0.5 / sqrt(3.0) + step * sqrt(0.75) * row, length,
                  &needles[3 * count++]);
    assert_int_equal(count, 15);
    carom_mesh_view view_a = {.positions = stack, .vertex_count = 12, .face_count = 4};
    carom_soup_def def_a = {.mesh = &view_a};
    carom_mesh_view view_b = {.positions = needles, .vertex_count = 45, .face_count = 15};
    carom_soup_def def_b = {.mesh = &view_b};
    view_a.scalar = view_b.scalar = CAROM_SCALAR_FLOAT64;
    view_a.corners = view_b.corners = corners;
    carom_soup *a, *b;
    carom_kfree k_a, k_b;
    carom_kfree_most bounds;
    carom_pairs pairs = {0};
    assert_ok(context, carom_soup_create(context, &def_a, &a));
    assert_ok(context, carom_soup_create(context, &def_b, &b));
    assert_ok(context, carom_kfree_measure(context, a, &k_a, NULL));
    assert_ok(context, carom_kfree_measure(context, b, &k_b, NULL));
    assert_true(k_a.k == 1 && k_b.k == 1 && k_b.largest_diameter < k_a.least_diameter);
    assert_ok(context, carom_soup_cross_pairs(context, a, NULL, b, NULL, &pairs));
    assert_int_equal(pairs.count, 15 * 4); /* each meets four: more than 3 k */
    assert_ok(context, carom_kfree_bound(context, &k_a, &k_b, &bounds));
    assert_int_equal(bounds.published, 3 * (4 + 15));
    assert_true(pairs.count > bounds.published);
    assert_int_equal(bounds.pairs, 60); /* all with all, which is less than 12 (4 + 15) */
    /* a hair closer, and each of the stack sees the next */
    for (uint32_t i = 0; i < 12; ++i) stack[i][2] *= 0.9998;
    query(context, &def_a, &k_a);
    assert_int_equal(k_a.k, 3);
    carom_pairs_free(&pairs);
    carom_soup_destroy(a);
    carom_soup_destroy(b);
    carom_context_destroy(context);
}

/* Definition 3.1 can be read in two ways: a face counts the others, as Carom does, or itself too,
 * which makes every k larger by one. Lemma 3.1 is false in both: ten needles, upright through a
 * triangle and larger than it, in a lattice of more than a quarter of their length, count nothing
 * but themselves, so that k is 1 or 2, and the lemma allows 3 or 6 of the ten. So no constant below
 * ten can be right, and twelve is. */
static void the_lemma_is_false_in_both_readings(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    double base[3][3] = {{0.0, 0.0, 0.5}, {1.0, 0.0, 0.5}, {0.5, sqrt(0.75), 0.5}};
    double needles[30][3], length = 1.16, step = 0.3, edge = 3.0 * step;
    uint32_t corners[30], count = 0;
    for (uint32_t i = 0; i < 30; ++i) corners[i] = i;
    for (int row = 0; row < 4; ++row)
        for (int i = 0; i + row < 4; ++i)
            stand(0.5 * (1.0 - edge) + step * (i + 0.5 * row),
                  (1.0 - edge) * 0.5 / sqrt(3.0) + step * sqrt(0.75) * row, length,
                  &needles[3 * count++]);
    assert_int_equal(count, 10);
    const carom_mesh_view one = {.positions = base,
                                 .vertex_count = 3,
                                 .face_count = 1,
                                 .scalar = CAROM_SCALAR_FLOAT64,
                                 .corners = corners};
    const carom_mesh_view ten = {.positions = needles,
                                 .vertex_count = 30,
                                 .face_count = 10,
                                 .scalar = CAROM_SCALAR_FLOAT64,
                                 .corners = corners};
    carom_soup *a, *b;
    carom_kfree k_a, k_b;
    carom_kfree_most bounds;
    carom_pairs pairs = {0};
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &one}, &a));
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &ten}, &b));
    assert_ok(context, carom_kfree_measure(context, a, &k_a, NULL));
    assert_ok(context, carom_kfree_measure(context, b, &k_b, NULL));
    assert_true(k_b.k == 1 && k_b.least_diameter > k_a.largest_diameter);
    assert_ok(context, carom_soup_cross_pairs(context, a, NULL, b, NULL, &pairs));
    assert_int_equal(pairs.count, 10);
    uint64_t others = k_b.k, itself_too = k_b.k + 1;
    assert_true(pairs.count > 3 * others && pairs.count > 3 * itself_too);
    assert_true(pairs.count <= 12 * others);
    assert_ok(context, carom_kfree_bound(context, &k_a, &k_b, &bounds));
    assert_true(pairs.count <= bounds.pairs);
    carom_pairs_free(&pairs);
    carom_soup_destroy(a);
    carom_soup_destroy(b);
    carom_context_destroy(context);
}

#define COPIES 20 /* of each face, the fewest that suffice: 60 c^2 > 3 (19 c) (c + 1) */

/* Where a face counts itself, the 60 pairs above are within what Theorem 3.3 allows, 3 (4 + 15) 2.
 * Twenty copies of every face, a hair apart, make the pairs 400 times as many, k + 1 only 21:
 * 24,000 pairs, where 3 (80 + 300) 21 = 23,940 are allowed. So the theorem is false in both
 * readings. */
static void the_theorem_is_false_in_both_readings(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static double stack[12 * COPIES][3], needles[45 * COPIES][3];
    static uint32_t corners[45 * COPIES];
    const double base[3][2] = {{0.0, 0.0}, {1.0, 0.0}, {0.5, sqrt(0.75)}}, hair = 1e-7;
    double d = 2.0 / sqrt(3.0), gap = 0.25 * d * 1.0001, length = 3.0 * gap + 1e-3;
    double step = 0.25 * length + 1e-3, edge = 4.0 * step;
    uint32_t triangles = 0, upright = 0;
    for (uint32_t i = 0; i < 45 * COPIES; ++i) corners[i] = i;
    for (int copy = 0; copy < COPIES; ++copy) {
        for (int i = 0; i < 4; ++i, ++triangles)
            for (int c = 0; c < 3; ++c) {
                double *to = stack[3 * triangles + (uint32_t)c];
                to[0] = base[c][0];
                to[1] = base[c][1];
                to[2] = 5e-4 + gap * i + hair * copy;
            }
        for (int row = 0; row < 5; ++row)
            for (int i = 0; i + row < 5; ++i, ++upright)
                stand(0.5 * (1.0 - edge) + step * (i + 0.5 * row) + hair * copy,
                      (1.0 - edge) * 0.5 / sqrt(3.0) + step * sqrt(0.75) * row, length,
                      &needles[3 * (size_t)upright]);
    }
    assert_true(triangles == 4 * COPIES && upright == 15 * COPIES);
    const carom_mesh_view of_a = {.positions = stack,
                                  .vertex_count = 12 * COPIES,
                                  .face_count = 4 * COPIES,
                                  .scalar = CAROM_SCALAR_FLOAT64,
                                  .corners = corners};
    const carom_mesh_view of_b = {.positions = needles,
                                  .vertex_count = 45 * COPIES,
                                  .face_count = 15 * COPIES,
                                  .scalar = CAROM_SCALAR_FLOAT64,
                                  .corners = corners};
    carom_soup *a, *b;
    carom_kfree k_a, k_b;
    carom_pairs pairs = {0};
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &of_a}, &a));
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &of_b}, &b));
    assert_ok(context, carom_kfree_measure(context, a, &k_a, NULL));
    assert_ok(context, carom_kfree_measure(context, b, &k_b, NULL));
    assert_true(k_a.k == COPIES && k_b.k <= COPIES);
    assert_ok(context, carom_soup_cross_pairs(context, a, NULL, b, NULL, &pairs));
    assert_int_equal(pairs.count, 60 * COPIES * COPIES);
    uint64_t itself_too = k_a.k + 1, faces = 19 * COPIES;
    assert_true(pairs.count > 3 * faces * itself_too);
    carom_pairs_free(&pairs);
    carom_soup_destroy(a);
    carom_soup_destroy(b);
    carom_context_destroy(context);
}

typedef struct tried {
    uint64_t pairs, poses;
    double fullest, fullest_published; /* most pairs in parts of the bounds */
} tried;

static carom_pose random_pose(carom_random *random, double reach) {
    carom_pose pose;
    pose.q.w = carom_random_normal(random);
    pose.q.x = carom_random_normal(random);
    pose.q.y = carom_random_normal(random);
    pose.q.z = carom_random_normal(random);
    pose.t.x = carom_random_between(random, -reach, reach);
    pose.t.y = carom_random_between(random, -reach, reach);
    pose.t.z = carom_random_between(random, -reach, reach);
    return pose;
}

static void check_pair(carom_context *context, const carom_soup *a, const carom_kfree *k_a,
                       const carom_soup *b, const carom_kfree *k_b, const carom_pose *pose,
                       const char *what, tried *all) {
    carom_pairs pairs = {0};
    carom_kfree_most bounds;
    assert_ok(context, carom_kfree_bound(context, k_a, k_b, &bounds));
    assert_ok(context, carom_soup_cross_pairs(context, a, NULL, b, pose, &pairs));
    if (pairs.count > bounds.pairs)
        fail_msg("%s: %" PRIu64 " pairs, bound %" PRIu64, what, pairs.count, bounds.pairs);
    all->pairs += pairs.count;
    ++all->poses;
    all->fullest = fmax(all->fullest, (double)pairs.count / (double)bounds.pairs);
    all->fullest_published =
        fmax(all->fullest_published, (double)pairs.count / (double)bounds.published);
    carom_pairs_free(&pairs);
}

static void bounds_hold_for_shapes_in_any_pose(void **state) {
    (void)state;
    static const carom_shape_def shapes[] = {{.shape = CAROM_SHAPE_SPHERE, .detail = 3},
                                             {.shape = CAROM_SHAPE_BOX, .polygons = true},
                                             {.shape = CAROM_SHAPE_CHAZELLE, .detail = 8},
                                             {.shape = CAROM_SHAPE_CLOTH, .detail = 20},
                                             {.shape = CAROM_SHAPE_CYLINDER, .polygons = true},
                                             {.shape = CAROM_SHAPE_SHARDS}};
    enum { COUNT = COUNT_OF(shapes) };
    carom_context *context = test_context(1);
    carom_random random = {9};
    carom_soup *soups[COUNT];
    carom_kfree k[COUNT];
    tried all = {0};
    for (size_t i = 0; i < COUNT; ++i) {
        carom_mesh_view view = {0};
        carom_soup_def def = {.mesh = &view, .rigid = true};
        carom_mesh *mesh = shape_mesh(context, &shapes[i], &view);
        assert_ok(context, carom_soup_create(context, &def, &soups[i]));
        assert_ok(context, carom_kfree_measure(context, soups[i], &k[i], NULL));
        assert_true(k[i].discs <= 49 * k[i].faces);
        carom_mesh_destroy(mesh);
    }
    for (size_t i = 0; i < COUNT; ++i)
        for (size_t j = i; j < COUNT; ++j)
            for (int n = 0; n < TEST_CASES(60); ++n) {
                carom_pose pose = random_pose(&random, 0.7);
                char what[64];
                snprintf(what, sizeof(what), "shapes %zu and %zu, pose %d", i, j, n);
                check_pair(context, soups[i], &k[i], soups[j], &k[j], &pose, what, &all);
            }
    print_message("%" PRIu64 " poses, %" PRIu64 " pairs, at most %.4f of the bound, %.4f of the "
                  "published one\n",
                  all.poses, all.pairs, all.fullest, all.fullest_published);
    for (size_t i = 0; i < COUNT; ++i) carom_soup_destroy(soups[i]);
    carom_context_destroy(context);
}

static carom_kfree k_free_of_file(carom_context *context, const char *file) {
    carom_mesh *mesh = models_load_fan(context, file);
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_kfree k;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    query(context, &def, &k);
    carom_mesh_destroy(mesh);
    return k;
}

/* Fifteen pairs of models in twenty poses each, whose intersecting faces were counted in exact
 * arithmetic. One of each pair is scaled by a power of two, which changes no number here. */
static void bounds_hold_for_the_pairs_of_truth(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    carom_context *context = test_context(2);
    char path[1024], line[4096], a[128], b[128], pair[64];
    tried all = {0};
    models_path("truth/mesh_pairs_files.csv", path, sizeof(path));
    FILE *files = fopen(path, "r");
    assert_non_null(files);
    while (fgets(line, sizeof(line), files) != NULL) {
        if (sscanf(line, "%63[^,],\"%127[^\"]\",\"%127[^\"]\"", pair, a, b) != 3) continue;
        carom_kfree k_a = k_free_of_file(context, a), k_b = k_free_of_file(context, b);
        carom_kfree_most bounds;
        assert_ok(context, carom_kfree_bound(context, &k_a, &k_b, &bounds));
        models_path("truth/mesh_pairs.csv", path, sizeof(path));
        FILE *rows = fopen(path, "r");
        assert_non_null(rows);
        while (fgets(line, sizeof(line), rows) != NULL) {
            const char *cell = line;
            if (strncmp(line, pair, strlen(pair)) != 0 || line[strlen(pair)] != ',') continue;
            for (int i = 0; i < 16; ++i) cell = strchr(cell, ',') + 1;
            uint64_t count = strtoull(cell, NULL, 10);
            if (count > bounds.pairs) fail_msg("%s: %" PRIu64 " pairs", pair, count);
            all.pairs += count;
            ++all.poses;
            all.fullest = fmax(all.fullest, (double)count / (double)bounds.pairs);
            all.fullest_published =
                fmax(all.fullest_published, (double)count / (double)bounds.published);
        }
        fclose(rows);
    }
    fclose(files);
    print_message("%" PRIu64 " poses, %" PRIu64 " pairs, at most %.6f of the bound, %.6f of the "
                  "published one\n",
                  all.poses, all.pairs, all.fullest, all.fullest_published);
    assert_int_equal(all.poses, 300);
    carom_context_destroy(context);
}

static void bounds_hold_for_models(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    static const char *const files[] = {"bench/bunny.ply", "bench/horse.ply", "bench/ogre.ply"};
    enum { COUNT = COUNT_OF(files) };
    carom_context *context = test_context(2);
    carom_random random = {10};
    carom_soup *soups[COUNT];
    carom_kfree k[COUNT];
    double reach[COUNT];
    carom_vec3 middle[COUNT];
    tried all = {0};
    for (size_t i = 0; i < COUNT; ++i) {
        char path[1024];
        models_path(files[i], path, sizeof(path));
        carom_mesh *mesh;
        carom_mesh_view view = {0};
        carom_soup_def def = {.mesh = &view, .rigid = true};
        carom_mesh_report report;
        assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_mesh_inspect(context, &view, &report));
        reach[i] = 0.5 * (report.bounds.high.x - report.bounds.low.x);
        middle[i].x = 0.5 * (report.bounds.high.x + report.bounds.low.x);
        middle[i].y = 0.5 * (report.bounds.high.y + report.bounds.low.y);
        middle[i].z = 0.5 * (report.bounds.high.z + report.bounds.low.z);
        assert_ok(context, carom_soup_create(context, &def, &soups[i]));
        assert_ok(context, carom_kfree_measure(context, soups[i], &k[i], NULL));
        carom_mesh_destroy(mesh);
    }
    for (size_t i = 0; i < COUNT; ++i)
        for (size_t j = 0; j < COUNT; ++j)
            for (int n = 0; n < 6; ++n) {
                carom_pose pose = random_pose(&random, reach[i]);
                pose.t.x += middle[i].x;
                pose.t.y += middle[i].y;
                pose.t.z += middle[i].z;
                char what[64];
                snprintf(what, sizeof(what), "%s and %s, pose %d", files[i], files[j], n);
                check_pair(context, soups[i], &k[i], soups[j], &k[j], &pose, what, &all);
            }
    print_message("%" PRIu64 " poses, %" PRIu64 " pairs, at most %.6f of the bound, %.6f of the "
                  "published one\n",
                  all.poses, all.pairs, all.fullest, all.fullest_published);
    for (size_t i = 0; i < COUNT; ++i) carom_soup_destroy(soups[i]);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_bounds_have_counterexamples),
        cmocka_unit_test(the_lemma_is_false_in_both_readings),
        cmocka_unit_test(the_theorem_is_false_in_both_readings),
        cmocka_unit_test(bounds_hold_for_shapes_in_any_pose),
        cmocka_unit_test(bounds_hold_for_models),
        cmocka_unit_test(bounds_hold_for_the_pairs_of_truth),
    };
    int failed = cmocka_run_group_tests_name("kfree_bounds", tests, NULL, NULL);
    carom_numbers_free(&counts);
    return failed;
}
