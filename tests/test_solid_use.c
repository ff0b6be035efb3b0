/* SPDX-License-Identifier: MIT */
/* Solids as they are used: what is refused and in which words, what is repaired, memory, threads.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/shapes.h"
#include "tests/support/solid_check.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

static solid_mesh a, b;

static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, two[3] = {2, 2, 2};

static void make_box(solid_mesh *mesh, const double low[3], const double high[3]) {
    mesh->vertices = mesh->faces = 0;
    solid_add_box(mesh, low, high, false);
}

static carom_solid *make_knot(carom_context *with) {
    return shape_solid(with, &(carom_shape_def){.shape = CAROM_SHAPE_KNOT}, false);
}

static const carom_pose deep = {{1.0, 0.2, 0.3, 0.1}, {0.1, 0.2, 0.3}};
static const carom_pose away = {{0.5, 0.1, 0.7, 0.3}, {4.0, 0.5, 0.3}};

/* ---- what comes in --------------------------------------------------------------------------- */

static void bad_meshes_are_named(void **state) {
    (void)state;
    carom_solid *solid = (carom_solid *)&a;
    make_box(&a, zero, one);
    carom_mesh_view view = solid_view(&a);
    carom_solid_def def = {.mesh = &view};
    view.face_count = 11; /* a triangle is missing */
    assert_fails(context, carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT, "not closed");
    assert_null(solid);
    view.face_count = 0;
    assert_int_equal(carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT);
    view = solid_view(&a);
    uint32_t swap = a.corners[0]; /* one face the other way round */
    a.corners[0] = a.corners[1];
    a.corners[1] = swap;
    assert_int_equal(carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT);
    a.corners[1] = a.corners[0];
    a.corners[0] = swap;
    a.xyz[3][1] = NAN;
    assert_int_equal(carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT);
    a.xyz[3][1] = 1.0;
    a.corners[7] = 8;
    assert_int_equal(carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT);
}

static void bad_poses_are_refused(void **state) {
    (void)state;
    make_box(&a, zero, one);
    carom_solid *x = solid_prepare(context, &a, false), *not_x = solid_prepare(context, &a, true);
    carom_solid_result overlap;
    carom_solid_patches patches = {0};
    carom_solid_vertex_forces on_a = {0}, on_b = {0};
    carom_pose bad[] = {{.q.w = NAN}, {.t = {INFINITY, 0, 0}}, {.t = {0, 1.7e308, 0}, .q.z = 1}};
    for (size_t i = 0; i < 2; ++i) {
        assert_int_equal(carom_solid_overlap(context, x, &bad[i], x, NULL, NULL, &overlap),
                         CAROM_BAD_INPUT);
        assert_int_equal(carom_solid_overlap(context, x, NULL, x, &bad[i], NULL, &overlap),
                         CAROM_BAD_INPUT);
        assert_int_equal(carom_solid_overlap_patches(context, x, NULL, x, &bad[i], &patches),
                         CAROM_BAD_INPUT);
        assert_int_equal(carom_solid_overlap_gradient(context, x, NULL, x, &bad[i], &on_a, &on_b),
                         CAROM_BAD_INPUT);
    }
    carom_status status = carom_solid_overlap(context, x, NULL, x, &bad[2], NULL, &overlap);
    assert_true(status == CAROM_BAD_INPUT || (status == CAROM_OK && overlap.volume == 0.0));
    assert_fails(context, carom_solid_overlap(context, not_x, NULL, not_x, NULL, NULL, &overlap),
                 CAROM_BAD_INPUT, "complement");
    test_asserts_begin();
    assert_int_equal(carom_solid_overlap(context, NULL, NULL, x, NULL, NULL, &overlap),
                     CAROM_INVALID);
    assert_int_equal(carom_solid_overlap(context, x, NULL, NULL, NULL, NULL, &overlap),
                     CAROM_INVALID);
    assert_int_equal(carom_solid_overlap(context, x, NULL, x, NULL, NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_solid_overlap_patches(context, x, NULL, x, NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_solid_get_info(NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_solid_create(context, NULL, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 6);
    carom_solid_destroy(NULL);
    carom_solid_destroy(x);
    carom_solid_destroy(not_x);
    carom_solid_patches_free(&patches);
}

/* The same solid, however it comes: turned inside out, in floats, as quads, loose as in STL. */
static void the_same_solid_in_any_form(void **state) {
    (void)state;
    static const uint32_t quads[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                       2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    uint64_t offsets[7];
    float floats[24];
    make_box(&a, zero, two);
    make_box(&b, one, (const double[3]){3, 3, 3});
    for (uint64_t i = 0; i < 7; ++i) offsets[i] = 4 * i;
    for (int i = 0; i < 24; ++i) floats[i] = (float)a.xyz[i / 3][i % 3];
    carom_solid *other = solid_prepare(context, &b, false);
    for (int form = 0; form < 4; ++form) {
        carom_mesh_view view = solid_view(&a);
        carom_solid_def def = {.mesh = &view};
        carom_solid *solid;
        carom_solid_info info;
        carom_solid_result overlap;
        static solid_mesh changed;
        changed = a;
        if (form == 0) solid_flip(&changed);
        if (form == 1) solid_unweld(&changed);
        if (form < 2) view = solid_view(&changed);
        if (form >= 2) view.positions = floats, view.scalar = CAROM_SCALAR_FLOAT32;
        if (form == 3) view.corners = quads, view.offsets = offsets;
        if (form == 3) view.face_count = 6;
        assert_ok(context, carom_solid_create(context, &def, &solid));
        assert_ok(context, carom_solid_get_info(solid, &info));
        assert_true(info.volume == 8.0 && info.area == 24.0 && info.centroid.x == 1.0);
        assert_true(info.vertices == 8 && info.triangles == 12 && info.shells == 1);
        assert_int_equal(info.inside_out, form == 0);
        assert_false(info.self_intersecting || info.by_winding || info.complement);
        assert_ok(context, carom_solid_overlap(context, solid, NULL, other, NULL, NULL, &overlap));
        assert_true(fabs(overlap.volume - 1.0) < 1e-15 && overlap.force.x > 0.0);
        carom_solid_destroy(solid);
    }
    carom_solid_destroy(other);
}

static void distances_are_those_of_the_surfaces(void **state) {
    (void)state;
    carom_solid *intersection = make_knot(context);
    make_box(&a, (const double[3]){-10, -10, -10}, (const double[3]){10, 10, 10});
    carom_solid *hall = solid_prepare(context, &a, false);
    carom_solid_query_def def = {.distance = true};
    carom_solid_result overlap;
    assert_ok(context, carom_solid_overlap(context, intersection, NULL, intersection, &away, &def,
                                           &overlap));
    assert_int_equal(overlap.relation, CAROM_RELATION_APART);
    assert_true(overlap.has_distance && overlap.distance > 0.5 && overlap.volume == 0.0);
    double x = overlap.point_a.x - overlap.point_b.x, y = overlap.point_a.y - overlap.point_b.y;
    double z = overlap.point_a.z - overlap.point_b.z;
    assert_true(fabs(sqrt(x * x + y * y + z * z) - overlap.distance) < 1e-14);
    assert_ok(context, carom_solid_overlap(context, intersection, NULL, intersection, &away, NULL,
                                           &overlap));
    assert_false(overlap.has_distance);
    assert_ok(context,
              carom_solid_overlap(context, intersection, NULL, hall, &deep, &def, &overlap));
    assert_int_equal(overlap.relation, CAROM_RELATION_A_INSIDE_B);
    assert_true(overlap.has_distance && overlap.distance == 0.0 && overlap.pairs == 0);
    carom_solid_destroy(intersection);
    carom_solid_destroy(hall);
}

/* ---- memory and threads ---------------------------------------------------------------------- */

static carom_status everything(carom_allocator allocator, void *argument) {
    (void)argument;
    carom_context_def context_def = {.threads = 2, .allocator = allocator};
    carom_context *with;
    carom_solid *x = NULL, *y = NULL;
    carom_solid_result overlap;
    carom_solid_query_def def = {.distance = true};
    carom_solid_patches patches = {0};
    carom_solid_vertex_forces on_x = {0}, on_y = {0};
    carom_status status = carom_context_create(&context_def, &with);
    if (status != CAROM_OK) return status;
    carom_solid_def def_x = {.mesh = (carom_mesh_view[]){solid_view(&a)}},
                    def_y = {.mesh = (carom_mesh_view[]){solid_view(&b)}};
    status = carom_solid_create(with, &def_x, &x);
    if (status == CAROM_OK) status = carom_solid_create(with, &def_y, &y);
    if (status == CAROM_OK) status = carom_solid_overlap(with, x, NULL, y, &deep, &def, &overlap);
    if (status == CAROM_OK) status = carom_solid_overlap(with, x, NULL, y, &away, &def, &overlap);
    if (status == CAROM_OK) status = carom_solid_overlap_patches(with, x, NULL, y, &deep, &patches);
    if (status == CAROM_OK)
        status = carom_solid_overlap_gradient(with, x, NULL, y, &deep, &on_x, &on_y);
    carom_solid_patches_free(&patches);
    carom_solid_vertex_forces_free(&on_x);
    carom_solid_vertex_forces_free(&on_y);
    carom_solid_destroy(x);
    carom_solid_destroy(y);
    carom_context_destroy(with);
    return status;
}

static void want_of_memory_is_survived(void **state) {
    (void)state;
    carom_random random = {12};
    do {
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
    } while (a.faces < 40 || b.faces < 40);
    test_allocation_failures(everything, NULL);
}

static void repeated_queries_allocate_nothing(void **state) {
    (void)state;
    carom_context *with = test_context(1);
    carom_solid *intersection = make_knot(with);
    carom_solid_query_def def = {.distance = true};
    carom_solid_result overlap;
    carom_solid_patches patches = {0};
    carom_solid_vertex_forces on_a = {0}, on_b = {0};
    uint64_t before = 0;
    for (int round = 0; round < 3; ++round) {
        if (round == 2) before = test_malloc_count();
        assert_ok(with, carom_solid_overlap(with, intersection, NULL, intersection, &deep, &def,
                                            &overlap));
        assert_ok(with, carom_solid_overlap(with, intersection, NULL, intersection, &away, &def,
                                            &overlap));
        assert_ok(with, carom_solid_overlap(with, intersection, NULL, intersection, NULL, &def,
                                            &overlap));
        assert_ok(with, carom_solid_overlap_patches(with, intersection, NULL, intersection, &deep,
                                                    &patches));
        assert_ok(with, carom_solid_overlap_gradient(with, intersection, NULL, intersection, &deep,
                                                     &on_a, &on_b));
        assert_ok(with, carom_solid_overlap_gradient(with, intersection, NULL, intersection, NULL,
                                                     &on_a, &on_b));
    }
    assert_int_equal(test_malloc_count(), before);
    carom_solid_patches_free(&patches);
    carom_solid_vertex_forces_free(&on_a);
    carom_solid_vertex_forces_free(&on_b);
    carom_solid_destroy(intersection);
    carom_context_destroy(with);
}

typedef struct query_thread {
    const carom_solid *solid;
    uint64_t hash;
} query_thread;

static void *query(void *argument) {
    query_thread *who = argument;
    carom_context *with;
    if (carom_context_create(&(carom_context_def){.threads = 2}, &with) != CAROM_OK) return NULL;
    for (int i = 0; i < 10; ++i) {
        carom_solid_result overlap;
        carom_pose pose = deep;
        pose.t.x += 0.1 * i;
        if (carom_solid_overlap(with, who->solid, NULL, who->solid, &pose, NULL, &overlap) ==
            CAROM_OK)
            who->hash = solid_hash(&overlap, who->hash);
    }
    carom_context_destroy(with);
    return NULL;
}

static void a_solid_may_be_queried_by_many_at_once(void **state) {
    (void)state;
    carom_solid *intersection = make_knot(context);
    pthread_t threads[4];
    query_thread query_threads[4];
    for (int i = 0; i < 4; ++i) {
        query_threads[i] = (query_thread){intersection, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, query, &query_threads[i]), 0);
    }
    for (int i = 0; i < 4; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 1; i < 4; ++i) assert_true(query_threads[i].hash == query_threads[0].hash);
    assert_true(query_threads[0].hash != 0);
    carom_solid_destroy(intersection);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_meshes_are_named),
        cmocka_unit_test(bad_poses_are_refused),
        cmocka_unit_test(the_same_solid_in_any_form),
        cmocka_unit_test(distances_are_those_of_the_surfaces),
        cmocka_unit_test(want_of_memory_is_survived),
        cmocka_unit_test(repeated_queries_allocate_nothing),
        cmocka_unit_test(a_solid_may_be_queried_by_many_at_once),
    };
    return cmocka_run_group_tests_name("solid_use", tests, set_up, tear_down);
}
