/* SPDX-License-Identifier: MIT */
/* Overlaps of solids on the GPU have the CPU's bytes: lattice solids, where faces, edges and
 * corners coincide all the time, every closed shape, complements, extreme scales, models; one by
 * one and in batches. Skipped where there is no device; only what needs none is then tested. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/models.h"
#include "tests/support/shapes.h"
#include "tests/support/solids.h"
#include "tests/support/test.h"

#define LATTICES 2000 /* pairs of solids, three poses each */
#define SHAPES   400
#define MOST     64u /* queries of a batch */

TEST_BACKENDS

static uint64_t compared, overlapping, one_sided, distances;

static int report(void **state) {
    print_message("%llu overlaps compared, %llu with volume, %llu one-sided, %llu distances\n",
                  (unsigned long long)compared, (unsigned long long)overlapping,
                  (unsigned long long)one_sided, (unsigned long long)distances);
    return tear_down(state);
}

/* ---- both backends --------------------------------------------------------------------------- */

typedef struct both {
    carom_solid *cpu, *cuda;
} both;

static both make(const carom_solid_def *def) {
    both b;
    assert_ok(cpu, carom_solid_create(cpu, def, &b.cpu));
    assert_ok(cuda, carom_solid_create(cuda, def, &b.cuda));
    return b;
}

static void destroy(both *b) {
    carom_solid_destroy(b->cpu);
    carom_solid_destroy(b->cuda);
}

static void assert_same(const char *what, const carom_solid_result *found,
                        const carom_solid_result *expected) {
    ++compared;
    overlapping += expected->volume > 0.0;
    one_sided += expected->one_sided;
    if (memcmp(found, expected, sizeof(*found)) == 0) return;
    fail_msg("%s: %s, volume %.17g (%.3g), area %.17g, force %.17g %.17g %.17g, torque %.17g, %llu "
             "pairs; the CPU has %s, %.17g (%.3g), %.17g, %.17g %.17g %.17g, %.17g, %llu pairs",
             what, carom_relation_name(found->relation), found->volume, found->volume_error,
             found->area, found->force.x, found->force.y, found->force.z, found->torque.x,
             (unsigned long long)found->pairs, carom_relation_name(expected->relation),
             expected->volume, expected->volume_error, expected->area, expected->force.x,
             expected->force.y, expected->force.z, expected->torque.x,
             (unsigned long long)expected->pairs);
}

static void compare(const char *what, const both *a, const carom_pose *pose_a, const both *b,
                    const carom_pose *pose_b) {
    const carom_solid_query_def with_distance = {.distance = true};
    carom_solid_result expected, found;
    assert_ok(cpu,
              carom_solid_overlap(cpu, a->cpu, pose_a, b->cpu, pose_b, &with_distance, &expected));
    assert_ok(cuda,
              carom_solid_overlap(cuda, a->cuda, pose_a, b->cuda, pose_b, &with_distance, &found));
    assert_same(what, &found, &expected);
    distances += expected.distance > 0.0;
}

static carom_pose random_pose(carom_random *random, double far) {
    carom_pose pose;
    pose.q = (carom_quat){carom_random_normal(random), carom_random_normal(random),
                          carom_random_normal(random), carom_random_normal(random)};
    pose.t = (carom_vec3){carom_random_between(random, -far, far),
                          carom_random_between(random, -far, far),
                          carom_random_between(random, -far, far)};
    return pose;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void lattice_solids_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {71};
    for (uint32_t i = 0; i < TEST_CASES(LATTICES); ++i) {
        static solid_mesh meshes[2];
        both solids[2];
        for (int k = 0; k < 2; ++k) {
            solid_make_random(&random, &meshes[k]);
            if (i % 5 == 0) solid_split(&random, &meshes[k], 20);
            if (i % 7 == 0) solid_slit(&random, &meshes[k], 3);
            if (i % 11 == 0) solid_scale(&meshes[k], k == 0 ? 1.0 : 0x1p-8);
            carom_solid_def def = {.mesh = (carom_mesh_view[]){solid_view(&meshes[k])},
                                   .complement = i % 13 == 0 && k == 0};
            solids[k] = make(&def);
        }
        for (int k = 0; k < 3; ++k) {
            carom_pose pose = k == 0   ? solid_lattice_shift(&random, 8)
                              : k == 1 ? solid_lattice_turn(&random, 8)
                                       : random_pose(&random, 8.0);
            char what[96];
            snprintf(what, sizeof(what), "lattice %u (%s, %s), pose %d", i, meshes[0].kind,
                     meshes[1].kind, k);
            compare(what, &solids[0], NULL, &solids[1], &pose);
            if (k == 0 && i % 13 != 0) compare(what, &solids[1], &pose, &solids[1], &pose);
        }
        destroy(&solids[0]);
        destroy(&solids[1]);
    }
}

static both make_shape(carom_random *random, double size) {
    static const carom_shape shapes[] = {
        CAROM_SHAPE_SPHERE,   CAROM_SHAPE_GLOBE, CAROM_SHAPE_TORUS, CAROM_SHAPE_BOX,
        CAROM_SHAPE_CYLINDER, CAROM_SHAPE_CONE,  CAROM_SHAPE_KNOT,  CAROM_SHAPE_CHAZELLE,
        CAROM_SHAPE_CHAIN,    CAROM_SHAPE_SHARDS};
    carom_shape_def def = {.shape = shapes[carom_random_next(random) % 10], .size = size};
    carom_mesh_view view = {0};
    carom_solid_def solid_def = {.mesh = &view};
    carom_mesh *mesh = shape_mesh(cpu, &def, &view);
    both solid = make(&solid_def);
    carom_mesh_destroy(mesh);
    return solid;
}

static void shapes_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {72};
    static const double sizes[] = {1.0, 1.0, 1.0, 1.0, 0.1, 1e-3, 1e-7, 1e-12, 1e5, 1e20, 1e-20};
    for (uint32_t i = 0; i < TEST_CASES(SHAPES); ++i) {
        double size = i % 17 == 0 ? 0x1p-400 : 1.0;
        double other = size * sizes[i % 11];
        both a = make_shape(&random, size), b = make_shape(&random, other);
        for (int k = 0; k < 4; ++k) {
            carom_pose pose_a = random_pose(&random, k == 3 ? 1e6 * size : size);
            carom_pose pose_b = random_pose(&random, 1.0 * (size + other));
            if (k == 3) pose_b.t = pose_a.t;
            char what[64];
            snprintf(what, sizeof(what), "shape %u, pose %d", i, k);
            compare(what, &a, &pose_a, &b, &pose_b);
        }
        compare("a copy in place", &a, NULL, &a, NULL);
        destroy(&a);
        destroy(&b);
    }
}

/* On either backend: a batch gives what single queries give. */
static void check_batch(carom_context *context, uint64_t seed) {
    carom_random random = {seed};
    carom_solid *solids[4];
    carom_solid_pair queries[MOST];
    carom_solid_result found[MOST], expected;
    const carom_solid_query_def def_of_query = {.distance = true};
    for (int k = 0; k < 4; ++k) {
        static solid_mesh mesh;
        solid_make_random(&random, &mesh);
        carom_solid_def def = {.mesh = (carom_mesh_view[]){solid_view(&mesh)}};
        assert_ok(context, carom_solid_create(context, &def, &solids[k]));
    }
    for (uint32_t i = 0; i < MOST; ++i) {
        queries[i] = (carom_solid_pair){.a = solids[carom_random_next(&random) % 4],
                                        .b = solids[carom_random_next(&random) % 4],
                                        .pose_b = solid_lattice_shift(&random, 8)};
        if (i % 3 == 0) queries[i].pose_a = random_pose(&random, 8.0);
        if (i % 16 == 0) queries[i].pose_b = random_pose(&random, 1e7);
    }
    for (uint32_t count = 0; count <= MOST; count = 2 * count + 1) {
        assert_ok(context, carom_solid_overlap_batch(context, queries + MOST - count, count,
                                                     &def_of_query, found));
        for (uint32_t i = 0; i < count; ++i) {
            const carom_solid_pair *q = &queries[MOST - count + i];
            assert_ok(context, carom_solid_overlap(context, q->a, &q->pose_a, q->b, &q->pose_b,
                                                   &def_of_query, &expected));
            assert_same("a query of a batch", &found[i], &expected);
        }
    }
    queries[5].pose_b.t.x = (double)NAN;
    assert_int_equal(carom_solid_overlap_batch(context, queries, MOST, &def_of_query, found),
                     CAROM_BAD_INPUT);
    assert_non_null(strstr(carom_context_message(context), "pair 5"));
    for (int k = 0; k < 4; ++k) carom_solid_destroy(solids[k]);
}

static void batches_equal_single_queries(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < TEST_CASES(20); ++seed) check_batch(cpu, 100 + seed);
}

/* 1e-100 and 1e100: the bytes of a single query, and the volume of half a cube. */
static void batches_of_any_size_are_right(void **state) {
    (void)state;
    static const double sizes[] = {1e-100, 1.0, 1e100};
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        static solid_mesh mesh;
        const double low[3] = {0, 0, 0}, high[3] = {sizes[i], sizes[i], sizes[i]};
        carom_solid *cube;
        carom_solid_result found, expected;
        mesh.vertices = mesh.faces = 0;
        solid_add_box(&mesh, low, high, false);
        carom_solid_def def = {.mesh = (carom_mesh_view[]){solid_view(&mesh)}};
        assert_ok(cpu, carom_solid_create(cpu, &def, &cube));
        carom_solid_pair query = {.a = cube, .b = cube, .pose_b = {.t = {sizes[i] / 2, 0, 0}}};
        assert_ok(cpu, carom_solid_overlap_batch(cpu, &query, 1, NULL, &found));
        assert_ok(cpu, carom_solid_overlap(cpu, cube, NULL, cube, &query.pose_b, NULL, &expected));
        assert_same("a cube", &found, &expected);
        double volume = sizes[i] * sizes[i] * sizes[i] / 2;
        assert_true(fabs(found.volume - volume) <= found.volume_error + 1e-15 * volume);
        assert_true(found.volume_error <= 1e-9 * volume);
        carom_solid_destroy(cube);
    }
}

static void batches_on_the_gpu_equal_single_queries(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (uint64_t seed = 0; seed < TEST_CASES(100); ++seed) check_batch(cuda, 200 + seed);
}

/* A batch of one pair of models in many poses. */
static void models_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL || test_shared_folder() == NULL) skip();
    static const char *const names[] = {"cheburashka13k", "bunny70k", "armadillo100k"};
    for (int m = 0; m < 3; ++m) {
        char path[1024], file[64];
        carom_mesh *mesh;
        carom_mesh_view view = {0};
        carom_solid_def def = {.mesh = &view};
        carom_solid_info info;
        carom_random random = {(uint64_t)(73 + m)};
        static carom_solid_pair queries[1000];
        static carom_solid_result found[1000];
        snprintf(file, sizeof(file), "bench/solid_%s.ply", names[m]);
        models_path(file, path, sizeof(path));
        assert_ok(cpu, carom_mesh_load(cpu, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        assert_ok(cpu, carom_mesh_get_view(mesh, &view));
        both solid = make(&def);
        carom_mesh_destroy(mesh);
        assert_ok(cpu, carom_solid_get_info(solid.cpu, &info));
        double size = cbrt(info.volume);
        for (int i = 0; i < 1000; ++i) {
            queries[i] = (carom_solid_pair){.a = solid.cuda, .b = solid.cuda};
            queries[i].pose_b = random_pose(&random, 0.7 * size);
            if (i % 10 == 0) queries[i].pose_b = random_pose(&random, 0x1p-20 * size);
        }
        assert_ok(cuda, carom_solid_overlap_batch(cuda, queries, 1000, NULL, found));
        for (int i = 0; i < 1000; i += m == 0 ? 1 : 10) {
            carom_solid_result expected;
            assert_ok(cpu, carom_solid_overlap(cpu, solid.cpu, NULL, solid.cpu, &queries[i].pose_b,
                                               NULL, &expected));
            assert_same(names[m], &found[i], &expected);
        }
        destroy(&solid);
    }
}

static both scaled_model(const char *file, double scale) {
    const double m[12] = {scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0};
    carom_mesh_view view = {0};
    carom_solid_def def = {.mesh = &view};
    carom_mesh *mesh = models_load_fan(cpu, file);
    double *positions = models_move(mesh, m, &view);
    both solid = make(&def);
    free(positions);
    carom_mesh_destroy(mesh);
    return solid;
}

/* All poses whose volumes are known from exact constructions, both ways round. */
static void poses_of_the_truth_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL || test_shared_folder() == NULL) skip();
    char line[512], *cells[4];
    static char header[4096];
    FILE *files = models_open_text("truth/mesh_pairs_files.csv"),
         *rows = models_open_text("truth/mesh_pairs.csv");
    models_posed_row row;
    uint64_t checked = 0;
    assert_non_null(fgets(line, sizeof(line), files));
    assert_non_null(fgets(header, sizeof(header), rows));
    bool more = models_next_posed_row(rows, &row);
    while (fgets(line, sizeof(line), files) != NULL) {
        assert_true(models_cut_line(line, cells, 4) >= 4);
        char *names[2] = {cells[1] + 1, cells[2] + 1}; /* in quotes */
        bool take = cells[3][0] == '1';
        both solids[2] = {{NULL, NULL}, {NULL, NULL}};
        for (int k = 0; k < 2; ++k) {
            names[k][strcspn(names[k], "\"")] = '\0';
            if (take) solids[k] = scaled_model(names[k], k == 0 ? 1.0 : row.scale);
        }
        for (; more && strcmp(row.pair, cells[0]) == 0; more = models_next_posed_row(rows, &row)) {
            if (!take) continue;
            carom_pose pose = models_pose(cpu, row.m, row.scale);
            compare(row.pair, &solids[0], NULL, &solids[1], &pose);
            compare(row.pair, &solids[1], &pose, &solids[0], NULL);
            ++checked;
        }
        destroy(&solids[0]);
        destroy(&solids[1]);
    }
    assert_true(checked == 240);
    fclose(files);
    fclose(rows);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {74};
    carom_solid_result overlap;
    carom_solid_patches patches = {0};
    both box = make_shape(&random, 1.0);
    assert_int_equal(carom_solid_overlap(cuda, box.cpu, NULL, box.cuda, NULL, NULL, &overlap),
                     CAROM_UNSUPPORTED);
    assert_int_equal(carom_solid_overlap(cpu, box.cpu, NULL, box.cuda, NULL, NULL, &overlap),
                     CAROM_UNSUPPORTED);
    assert_int_equal(carom_solid_overlap_patches(cuda, box.cuda, NULL, box.cuda, NULL, &patches),
                     CAROM_UNSUPPORTED);
    destroy(&box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_equal_single_queries),
        cmocka_unit_test(batches_of_any_size_are_right),
        cmocka_unit_test(lattice_solids_have_the_same_bytes),
        cmocka_unit_test(shapes_have_the_same_bytes),
        cmocka_unit_test(batches_on_the_gpu_equal_single_queries),
        cmocka_unit_test(models_have_the_same_bytes),
        cmocka_unit_test(poses_of_the_truth_have_the_same_bytes),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, report);
}
