/* SPDX-License-Identifier: MIT */
/* Packings made on the GPU have the CPU's bytes: every closed shape, certified, fast and by
 * prototypes, lattice solids with cavities and several shells, every goal, extreme scales and
 * positions, models. Some are proved as well. Skipped where there is no device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/models.h"
#include "tests/support/packing.h"
#include "tests/support/shapes.h"
#include "tests/support/solids.h"
#include "tests/support/test.h"

#define LATTICES  200
#define POSITIONS 40

TEST_BACKENDS

static uint64_t packings, compared, proved;

static int report(void **state) {
    print_message("%llu packings with %llu spheres compared, %llu of them proved\n",
                  (unsigned long long)packings, (unsigned long long)compared,
                  (unsigned long long)proved);
    return tear_down(state);
}

/* ---- both backends --------------------------------------------------------------------------- */

static bool same_sphere(const carom_packing_sphere *a, const carom_packing_sphere *b) {
    return a->centre.x == b->centre.x && a->centre.y == b->centre.y && a->centre.z == b->centre.z &&
           a->radius == b->radius && a->secondary == b->secondary && a->cover == b->cover &&
           a->void_volume == b->void_volume && a->face == b->face && a->depth == b->depth;
}

static void assert_same(const char *what, const packing_lists *found,
                        const packing_lists *expected) {
    const carom_packing_info *a = &found->info, *b = &expected->info;
    uint64_t least = a->spheres < b->spheres ? a->spheres : b->spheres;
    for (uint64_t i = 0; i < least; ++i) {
        const carom_packing_sphere *s = &found->spheres.data[i], *t = &expected->spheres.data[i];
        if (!same_sphere(s, t))
            fail_msg("%s: sphere %llu is (%.17g, %.17g, %.17g), radius %.9g; the CPU has (%.17g, "
                     "%.17g, %.17g), %.9g",
                     what, (unsigned long long)i, s->centre.x, s->centre.y, s->centre.z, s->radius,
                     t->centre.x, t->centre.y, t->centre.z, t->radius);
    }
    if (a->spheres != b->spheres || a->fill != b->fill || a->empty_radius != b->empty_radius ||
        a->complete != b->complete || a->cells != b->cells || a->volume != b->volume ||
        found->visits != expected->visits)
        fail_msg("%s: %llu spheres, fill %.17g, empty %.17g, %llu cells, %llu visits; the CPU has "
                 "%llu, %.17g, %.17g, %llu, %llu",
                 what, (unsigned long long)a->spheres, a->fill, a->empty_radius,
                 (unsigned long long)a->cells, (unsigned long long)found->visits,
                 (unsigned long long)b->spheres, b->fill, b->empty_radius,
                 (unsigned long long)b->cells, (unsigned long long)expected->visits);
    ++packings;
    compared += b->spheres;
}

static void compare(const char *what, const carom_packing_def *def) {
    packing_lists expected = packing_make(cpu, def), found = packing_make(cuda, def);
    assert_same(what, &found, &expected);
    packing_lists_free(&expected);
    packing_lists_free(&found);
}

/* The packing of the GPU alone, proved from its spheres and cells. */
static void prove(const char *what, const carom_packing_def *def) {
    packing_lists r = packing_make(cuda, def);
    pack_proof proof;
    double volume;
    pack_claim claim;
    carom_triangle *triangles = packing_prove(cpu, def, &r, what, &claim, &proof, &volume);
    if (!def->fast && def->method == CAROM_PACKING_METHOD_OCTREE) {
        assert_true(r.info.empty_radius <= 1.05 * r.info.least_radius);
        assert_true(pack_search_empty(&claim, 5, 4) <= r.info.empty_radius);
    }
    ++proved;
    free(triangles);
    packing_lists_free(&r);
}

static carom_mesh *make_shape(carom_shape shape, double size, carom_mesh_view *view) {
    carom_shape_def shape_def = {.shape = shape, .size = size};
    return shape_mesh(cpu, &shape_def, view);
}

static const carom_shape shapes[] = {CAROM_SHAPE_TORUS,    CAROM_SHAPE_BOX,  CAROM_SHAPE_CYLINDER,
                                     CAROM_SHAPE_CONE,     CAROM_SHAPE_KNOT, CAROM_SHAPE_CHAIN,
                                     CAROM_SHAPE_CHAZELLE, CAROM_SHAPE_GLOBE};

/* ---- tests ----------------------------------------------------------------------------------- */

static void shapes_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (size_t i = 0; i < TEST_CASES(COUNT_OF(shapes)); ++i) {
        carom_mesh_view view;
        carom_packing_def def = {.mesh = &view, .skip_shares = true};
        carom_mesh *mesh = make_shape(shapes[i], 1.0, &view);
        for (uint64_t count = 1; count <= TEST_CASES(500); count = 3 * count + 1) {
            char what[64];
            def.count = count;
            for (int fast = 0; fast < 2; ++fast) {
                def.fast = fast != 0;
                snprintf(what, sizeof(what), "%s, %llu%s", carom_shape_name(shapes[i]),
                         (unsigned long long)count, def.fast ? ", fast" : "");
                compare(what, &def);
            }
        }
        carom_mesh_destroy(mesh);
    }
}

static void every_goal_has_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_mesh_view view;
    carom_packing_def torus = {.mesh = &view, .skip_shares = true};
    carom_mesh *mesh = make_shape(CAROM_SHAPE_TORUS, 1.0, &view);
    for (int i = 0; i < TEST_CASES(8); ++i) {
        carom_packing_def def = torus;
        char what[32];
        if (i == 0) def.fill = 0.7;
        if (i == 1) def.radius = 0.02;
        if (i == 2) def.epsilon = 0.01, def.count = 50;
        if (i == 3) def.epsilon = 0.3, def.count = 500;
        if (i == 4) def.fill = 0.6, def.count = 20;
        if (i == 5) def.radius = 10.0; /* nothing fits */
        if (i == 6) def.skip_shares = false, def.keep_cells = true, def.count = 100;
        if (i == 7) def.fill = 0.5, def.fast = true;
        snprintf(what, sizeof(what), "goal %d", i);
        compare(what, &def);
    }
    carom_mesh_destroy(mesh);
}

static const carom_packing_method with_prototypes[] = {CAROM_PACKING_METHOD_PROTOSPHERE,
                                                       CAROM_PACKING_METHOD_PROTOTYPE};

static void prototypes_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (size_t i = 0; i < TEST_CASES(COUNT_OF(shapes)); ++i)
        for (size_t m = 0; m < COUNT_OF(with_prototypes); ++m) {
            carom_mesh_view view;
            carom_packing_def def = {
                .mesh = &view, .method = with_prototypes[m], .skip_shares = true, .seed = i};
            carom_mesh *mesh = make_shape(shapes[i], 1.0, &view);
            for (uint64_t count = 1; count <= TEST_CASES(100); count = 4 * count + 1) {
                char what[64];
                def.count = count;
                snprintf(what, sizeof(what), "%s, %llu by %s", carom_shape_name(shapes[i]),
                         (unsigned long long)count, carom_packing_method_name(def.method));
                compare(what, &def);
            }
            carom_mesh_destroy(mesh);
        }
}

static void prototypes_reach_every_goal(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_mesh_view view;
    carom_mesh *mesh = make_shape(CAROM_SHAPE_TORUS, 1.0, &view);
    for (int i = 0; i < TEST_CASES(4); ++i) {
        carom_packing_def def = {
            .mesh = &view, .method = with_prototypes[i % 2], .skip_shares = true};
        char what[32];
        if (i == 0) def.fill = 0.5;
        if (i == 1) def.radius = 0.03;
        if (i == 2) def.radius = 10.0; /* nothing fits */
        if (i == 3) def.fill = 0.6, def.count = 20;
        snprintf(what, sizeof(what), "prototypes, goal %d", i);
        compare(what, &def);
    }
    carom_mesh_destroy(mesh);
}

static void lattice_solids_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {81};
    for (uint32_t i = 0; i < TEST_CASES(LATTICES); ++i) {
        static solid_mesh mesh, other;
        char what[64];
        solid_make_random(&random, &mesh);
        if (i % 3 == 0) { /* shells that cross or touch */
            const double by[3] = {(double)(carom_random_next(&random) % 8),
                                  (double)(carom_random_next(&random) % 8), 0.0};
            solid_make_random(&random, &other);
            solid_move(&other, by);
            solid_append(&mesh, &other);
        }
        if (i % 5 == 0) solid_split(&random, &mesh, 20);
        if (i % 7 == 0) solid_slit(&random, &mesh, 3);
        carom_packing_def def = {.mesh = (carom_mesh_view[]){solid_view(&mesh)},
                                 .count = 1 + carom_random_next(&random) % 60,
                                 .fast = i % 2 == 1,
                                 .skip_shares = i % 4 != 0};
        if (i % 10 == 9) def.method = with_prototypes[i / 10 % 2];
        snprintf(what, sizeof(what), "lattice %u (%s)", i, mesh.kind);
        compare(what, &def);
    }
}

static void any_size_and_position_has_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static const double sizes[] = {1.0, 1e-30, 1e30, 0x1p-280, 0x1p280, 1e-3};
    carom_random random = {82};
    for (uint32_t i = 0; i < TEST_CASES(POSITIONS); ++i) {
        static solid_mesh mesh;
        char what[64];
        double size = sizes[i % COUNT_OF(sizes)];
        solid_make_random(&random, &mesh);
        solid_scale(&mesh, size);
        if (i % 2 == 1) {
            double far = size * (double)(UINT64_C(1) << carom_random_next(&random) % 30);
            const double by[3] = {far, -far, 0.5 * far};
            solid_move(&mesh, by);
        }
        carom_packing_def def = {
            .mesh = (carom_mesh_view[]){solid_view(&mesh)}, .count = 40, .skip_shares = true};
        snprintf(what, sizeof(what), "position %u", i);
        compare(what, &def);
    }
}

static void shapes_are_proved(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (size_t i = 0; i < TEST_CASES(COUNT_OF(shapes)); ++i) {
        carom_mesh_view view;
        carom_packing_def def = {
            .mesh = &view, .count = TEST_CASES(400), .keep_cells = true, .fast = i % 2 == 1};
        carom_mesh *mesh = make_shape(shapes[i], 1.0, &view);
        prove(carom_shape_name(shapes[i]), &def);
        def.method = with_prototypes[i % 2];
        def.count = TEST_CASES(200);
        prove(carom_shape_name(shapes[i]), &def);
        carom_mesh_destroy(mesh);
    }
}

static void models_have_the_same_bytes(void **state) {
    (void)state;
    if (cuda == NULL || test_shared_folder() == NULL) skip();
    static const char *const names[] = {"cheburashka13k", "bunny70k", "armadillo100k"};
    for (int m = 0; m < 3; ++m) {
        char path[1024], file[64];
        carom_mesh *mesh;
        carom_mesh_view view = {0};
        carom_packing_def def = {.mesh = &view, .skip_shares = true};
        snprintf(file, sizeof(file), "bench/solid_%s.ply", names[m]);
        models_path(file, path, sizeof(path));
        assert_ok(cpu, carom_mesh_load(cpu, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        assert_ok(cpu, carom_mesh_get_view(mesh, &view));
        def.count = 2000;
        compare(names[m], &def);
        def.count = 5000;
        def.fast = true;
        compare(names[m], &def);
        carom_mesh_destroy(mesh);
    }
}

/* ---- progress and what is refused ------------------------------------------------------------ */

typedef struct listener {
    uint64_t left, calls;
} listener;

static bool cancel_after(void *user, const char *what, double fraction) {
    listener *l = user;
    (void)what;
    (void)fraction;
    ++l->calls;
    return l->left-- == 0;
}

static void can_be_cancelled(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_mesh_view view;
    carom_packing_def def = {.mesh = &view, .count = TEST_CASES(1000), .skip_shares = true};
    carom_mesh *mesh = make_shape(CAROM_SHAPE_KNOT, 1.0, &view);
    packing_lists expected = packing_make(cpu, &def);
    for (uint64_t calls = 0; calls < 4; ++calls) {
        listener l = {calls, 0};
        carom_context_def context_def = {
            .backend = CAROM_BACKEND_CUDA, .progress = cancel_after, .progress_user = &l};
        carom_context *context;
        carom_packing *packing;
        assert_int_equal(carom_context_create(&context_def, &context), CAROM_OK);
        carom_status status = carom_packing_create(context, &def, &packing);
        if (status == CAROM_OK) { /* it was faster than the first calls */
            carom_packing_destroy(packing);
        } else {
            assert_int_equal(status, CAROM_CANCELLED);
            assert_null(packing);
        }
        l.left = UINT64_MAX;
        packing_lists found = packing_make(context, &def); /* the context still works */
        assert_same("after cancelling", &found, &expected);
        packing_lists_free(&found);
        carom_context_destroy(context);
    }
    packing_lists_free(&expected);
    carom_mesh_destroy(mesh);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_mesh_view view = {0};
    carom_packing_def def = {.mesh = &view, .method = CAROM_PACKING_METHOD_GREEDY};
    carom_packing *packing;
    carom_mesh *mesh = make_shape(CAROM_SHAPE_BOX, 1.0, &view);
    assert_int_equal(carom_packing_create(cuda, &def, &packing), CAROM_UNSUPPORTED);
    assert_null(packing);
    def.method = CAROM_PACKING_METHOD_OCTREE;
    view.face_count -= 1;
    assert_int_equal(carom_packing_create(cuda, &def, &packing), CAROM_BAD_INPUT);
    def.allow_open = true;
    assert_int_equal(carom_packing_create(cuda, &def, &packing), CAROM_UNSUPPORTED);
    assert_null(packing);
    carom_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_the_same_bytes),
        cmocka_unit_test(every_goal_has_the_same_bytes),
        cmocka_unit_test(prototypes_have_the_same_bytes),
        cmocka_unit_test(prototypes_reach_every_goal),
        cmocka_unit_test(lattice_solids_have_the_same_bytes),
        cmocka_unit_test(any_size_and_position_has_the_same_bytes),
        cmocka_unit_test(shapes_are_proved),
        cmocka_unit_test(models_have_the_same_bytes),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, report);
}
