/* SPDX-License-Identifier: MIT */
/* Solids that deform: after any update a solid answers as a new one does, bit for bit, or is as it
 * was where the update fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solid/solid.h"
#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/shapes.h"
#include "tests/support/solid_check.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

static solid_mesh a, b, moved;

/* ---- equality -------------------------------------------------------------------------------- */

static void assert_same_overlap(carom_context *with, const carom_solid *x, const carom_solid *y,
                                const carom_solid *other, const carom_pose *pose, bool patches) {
    const carom_solid_query_def def = {.distance = true};
    carom_solid_result of_x, of_y;
    memset(&of_x, 0, sizeof(of_x));
    memset(&of_y, 0, sizeof(of_y));
    assert_ok(with, carom_solid_overlap(with, x, NULL, other, pose, &def, &of_x));
    assert_ok(with, carom_solid_overlap(with, y, NULL, other, pose, &def, &of_y));
    assert_memory_equal(&of_x, &of_y, sizeof(of_x));
    if (!patches) return;
    carom_solid_patches pieces_x = {0}, pieces_y = {0};
    assert_ok(with, carom_solid_overlap_patches(with, x, NULL, other, pose, &pieces_x));
    assert_ok(with, carom_solid_overlap_patches(with, y, NULL, other, pose, &pieces_y));
    assert_int_equal(pieces_x.count, pieces_y.count);
    if (pieces_x.count != 0)
        assert_memory_equal(pieces_x.data, pieces_y.data, pieces_x.count * sizeof(*pieces_x.data));
    carom_solid_patches_free(&pieces_x);
    carom_solid_patches_free(&pieces_y);
}

/* Triangles of a solid that is compared with itself in its own place, where all faces coincide and
 * are decided exactly: more would take long. */
#define MOST_COINCIDENT 200u

/* All that is known of both but for the bytes they hold. */
static void assert_same(carom_context *with, const carom_solid *x, const carom_solid *y,
                        const carom_pose *pose) {
    carom_solid_info of_x, of_y;
    memset(&of_x, 0, sizeof(of_x));
    memset(&of_y, 0, sizeof(of_y));
    assert_ok(with, carom_solid_get_info(x, &of_x));
    assert_ok(with, carom_solid_get_info(y, &of_y));
    of_x.bytes = of_y.bytes = 0;
    assert_memory_equal(&of_x, &of_y, sizeof(of_x));
    const char *broken = carom_solid_validate(with, x); /* its allocator may be out of memory */
    assert_true(broken == NULL || strstr(broken, "no memory to check") != NULL);
    if (of_x.complement) return;
    assert_same_overlap(with, x, y, y, pose, true);
    if (of_x.triangles <= MOST_COINCIDENT) assert_same_overlap(with, x, y, x, NULL, false);
}

/* Updates a solid, and compares it with a new one; or, where none can be made, with what it was. */
static void check_update(carom_context *with, carom_solid *solid, const carom_mesh_view *before,
                         const carom_mesh_view *after, const carom_pose *pose) {
    carom_solid_info info;
    assert_ok(with, carom_solid_get_info(solid, &info));
    carom_solid *fresh;
    carom_solid_def def = {.mesh = after, .complement = info.complement};
    carom_status expected = carom_solid_create(with, &def, &fresh);
    char message[256] = "";
    if (expected != CAROM_OK) snprintf(message, sizeof(message), "%s", carom_context_message(with));
    carom_status found = carom_solid_update(with, solid, after);
    if (found != expected) print_message("%s\n", carom_context_message(with));
    assert_int_equal(found, expected);
    if (expected != CAROM_OK) {
        assert_string_equal(carom_context_message(with), message);
        def.mesh = before;
        assert_ok(with, carom_solid_create(with, &def, &fresh));
    }
    assert_same(with, solid, fresh, pose);
    carom_solid_destroy(fresh);
}

/* ---- small meshes on a lattice --------------------------------------------------------------- */

/* Moves some vertices by whole numbers: corners coincide, faces lose their area, the mesh crosses
 * itself or turns inside out. In an unwelded mesh equal corners stay together, unless torn. */
static void deform(carom_random *random, const solid_mesh *from, solid_mesh *to, bool tear) {
    uint32_t times = 1 + (uint32_t)(carom_random_next(random) % 4);
    *to = *from;
    for (uint32_t i = 0; i < times; ++i) {
        uint32_t v = (uint32_t)(carom_random_next(random) % from->vertices);
        double by[3];
        for (int k = 0; k < 3; ++k) by[k] = (double)(carom_random_next(random) % 5) - 2.0;
        for (uint32_t w = 0; w < from->vertices; ++w)
            if (w == v || (!tear && memcmp(from->xyz[w], from->xyz[v], sizeof(by)) == 0))
                for (int k = 0; k < 3; ++k) to->xyz[w][k] += by[k];
    }
    if (carom_random_next(random) % 16 == 0) /* a mirror image */
        for (uint32_t w = 0; w < to->vertices; ++w) to->xyz[w][0] = 16.0 - to->xyz[w][0];
}

static void updated_solids_are_new_solids(void **state) {
    (void)state;
    carom_random random = {51};
    for (uint64_t i = 0; i < TEST_CASES(1000); ++i) {
        solid_make_small(&random, 120, &a);
        if (i % 5 == 1) solid_slit(&random, &a, 3);
        if (i % 3 == 0) solid_unweld(&a);
        carom_solid *solid = solid_prepare(context, &a, i % 7 == 0);
        for (int step = 0; step < 3; ++step) {
            carom_pose pose = solid_lattice_turn(&random, 4);
            deform(&random, &a, &moved, i % 9 == 0);
            carom_mesh_view before = solid_view(&a), after = solid_view(&moved);
            carom_solid_info info;
            check_update(context, solid, &before, &after, &pose);
            assert_ok(context, carom_solid_get_info(solid, &info));
            if (carom_solid_update(context, solid, &after) == CAROM_OK) a = moved;
        }
        carom_solid_destroy(solid);
    }
}

/* ---- shapes by formula ----------------------------------------------------------------------- */

/* A bend, a twist or waves of a mesh whose size is about 2. */
static void bend(carom_vec3 *p, uint64_t count, int kind, double by) {
    for (uint64_t i = 0; i < count; ++i) {
        double x = p[i].x, y = p[i].y, z = p[i].z, angle = by * (kind == 0 ? x : z);
        double c = cos(angle), s = sin(angle);
        if (kind == 0) p[i] = (carom_vec3){(2.0 + z) * s, y, (2.0 + z) * c - 2.0};
        if (kind == 1) p[i] = (carom_vec3){c * x - s * y, s * x + c * y, z};
        if (kind == 2) p[i] = (carom_vec3){x + 0.1 * sin(3.0 * z + by), y * (1.0 + 0.2 * by), z};
    }
}

static carom_mesh_view view_of(const carom_mesh_view *mesh, const carom_vec3 *positions) {
    return (carom_mesh_view){.positions = positions,
                             .vertex_count = mesh->vertex_count,
                             .corners = mesh->corners,
                             .face_count = mesh->face_count,
                             .offsets = mesh->offsets};
}

static void check_sequence(carom_context *with, const carom_mesh_view *mesh, int frames) {
    carom_vec3 *last = malloc(mesh->vertex_count * sizeof(*last));
    carom_vec3 *next = malloc(mesh->vertex_count * sizeof(*next));
    const carom_pose pose = {.q = {.w = 1.0, .x = 0.3}, .t = {0.4, 0.1, 0.2}};
    double *given = models_positions(mesh);
    carom_solid *solid;
    assert_ok(with, carom_solid_create(with, &(carom_solid_def){.mesh = mesh}, &solid));
    memcpy(last, given, mesh->vertex_count * sizeof(*last));
    for (int i = 0; i < frames; ++i) {
        memcpy(next, given, mesh->vertex_count * sizeof(*next));
        bend(next, mesh->vertex_count, i % 3, 0.02 * i * i);
        carom_mesh_view before = view_of(mesh, last), after = view_of(mesh, next);
        check_update(with, solid, &before, &after, &pose);
        memcpy(last, next, mesh->vertex_count * sizeof(*last));
    }
    carom_solid_destroy(solid);
    free(given);
    free(last);
    free(next);
}

static void shapes_bend_twist_and_wave(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_KNOT, CAROM_SHAPE_GLOBE};
    carom_context *contexts[4];
    int count = test_contexts_of_isas(3, contexts, 0);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        carom_mesh_view view;
        carom_mesh *mesh =
            shape_mesh(context, &(carom_shape_def){.shape = shapes[i], .detail = 24}, &view);
        check_sequence(contexts[i % (size_t)count], &view, 9);
        carom_mesh_destroy(mesh);
    }
    for (int i = 0; i < count; ++i) carom_context_destroy(contexts[i]);
}

/* Every instruction set and number of threads gives the same bytes. */
static void all_machines_update_alike(void **state) {
    (void)state;
    carom_context *contexts[5];
    int count = test_contexts_of_isas(1, contexts, 0);
    carom_mesh_view view;
    carom_mesh *mesh =
        shape_mesh(context, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = 40}, &view);
    double *given = models_positions(&view);
    carom_solid *solids[5];
    contexts[count++] = test_context(5);
    bend((carom_vec3 *)given, view.vertex_count, 1, 0.7);
    carom_mesh_view after = view_of(&view, (carom_vec3 *)given);
    for (int i = 0; i < count; ++i) {
        assert_ok(contexts[i],
                  carom_solid_create(contexts[i], &(carom_solid_def){.mesh = &view}, &solids[i]));
        assert_ok(contexts[i], carom_solid_update(contexts[i], solids[i], &after));
        assert_same(context, solids[0], solids[i], NULL);
    }
    for (int i = 0; i < count; ++i) {
        carom_solid_destroy(solids[i]);
        carom_context_destroy(contexts[i]);
    }
    carom_mesh_destroy(mesh);
    free(given);
}

/* ---- the shared sequences -------------------------------------------------------------------- */

static void check_frames(const char *folder, int step, int most) {
    char path[512], file[256];
    carom_mesh *mesh;
    carom_mesh_view view;
    snprintf(file, sizeof(file), "sequences/%s/frame0.ply", folder);
    models_path(file, path, sizeof(path));
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    snprintf(file, sizeof(file), "sequences/%s/frames.f32.gz", folder);
    FILE *frames = models_open_gzip(file);
    assert_non_null(frames);
    size_t floats = 3 * view.vertex_count;
    float *last = malloc(floats * sizeof(float)), *next = malloc(floats * sizeof(float));
    const carom_pose pose = {.q = {.w = 1.0, .z = 0.2}, .t = {0.1, 0.05, 0.0}};
    carom_solid *solid = NULL;
    for (int i = 0; i < most && fread(next, sizeof(float), floats, frames) == floats; ++i) {
        carom_mesh_view before = view, after = view;
        before.positions = last, after.positions = next;
        before.scalar = after.scalar = CAROM_SCALAR_FLOAT32;
        before.stride = after.stride = 0;
        if (solid == NULL)
            assert_ok(context,
                      carom_solid_create(context, &(carom_solid_def){.mesh = &after}, &solid));
        else if (i % step == 0)
            check_update(context, solid, &before, &after, &pose);
        if (i % step == 0) memcpy(last, next, floats * sizeof(float));
    }
    assert_non_null(solid);
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
    pclose(frames);
    free(last);
    free(next);
}

static void sequences_are_followed(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    bool all = campaign_is_long();
    check_frames("cactus_deform", all ? 1 : 40, 403);
    check_frames("cat_poses", all ? 1 : 40, 1000);
}

static void large_models_are_followed(void **state) {
    (void)state;
    if (test_shared_folder() == NULL || !campaign_is_long()) skip();
    char path[512];
    carom_mesh *mesh;
    carom_mesh_view view;
    models_path("bench/solid_bunny70k.ply", path, sizeof(path));
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    check_sequence(context, &view, 12);
    carom_mesh_destroy(mesh);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void many_steps_take_no_memory(void **state) {
    (void)state;
    carom_context *with = test_context(1);
    uint64_t steps = campaign_is_long() ? 1000000 : 300, count = 0;
    carom_solid_info info, first;
    carom_mesh_view view;
    carom_mesh *mesh =
        shape_mesh(with, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = 8}, &view);
    double *given = models_positions(&view), *now = models_positions(&view);
    carom_mesh_view after = view_of(&view, (carom_vec3 *)now);
    carom_solid *solid;
    assert_ok(with, carom_solid_create(with, &(carom_solid_def){.mesh = &view}, &solid));
    for (uint64_t i = 0; i < steps; ++i) {
        for (uint64_t k = 0; k < 3 * view.vertex_count; ++k)
            now[k] = given[k] * (1.0 + 0.1 * (double)((i + k) % 7));
        assert_ok(with, carom_solid_update(with, solid, &after));
        if (i == 16) {
            assert_ok(with, carom_solid_get_info(solid, &first));
            count = test_malloc_count();
        }
    }
    assert_int_equal(test_malloc_count(), count);
    assert_ok(with, carom_solid_get_info(solid, &info));
    assert_int_equal(info.bytes, first.bytes);
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
    carom_context_destroy(with);
    free(given);
    free(now);
}

/* Creates a solid, updates it twice, and looks at it wherever memory ran out. */
static carom_status update_twice(carom_allocator allocator, void *argument) {
    (void)argument;
    carom_context_def context_def = {.threads = 2, .allocator = allocator};
    carom_context *with;
    carom_solid *x = NULL, *truth;
    carom_status status = carom_context_create(&context_def, &with);
    if (status != CAROM_OK) return status;
    carom_mesh_view views[3] = {solid_view(&a), solid_view(&moved), solid_view(&b)};
    int at = 0;
    status = carom_solid_create(with, &(carom_solid_def){.mesh = &views[0]}, &x);
    while (status == CAROM_OK && at < 2) {
        status = carom_solid_update(with, x, &views[at + 1]);
        if (status == CAROM_OK) ++at;
    }
    if (x != NULL) { /* as it was, or as it is to be */
        assert_ok(context,
                  carom_solid_create(context, &(carom_solid_def){.mesh = &views[at]}, &truth));
        assert_same(context, x, truth, NULL);
        carom_solid_destroy(truth);
    }
    carom_solid_destroy(x);
    carom_context_destroy(with);
    return status;
}

static void want_of_memory_leaves_the_solid(void **state) {
    (void)state;
    const double low[3] = {0, 0, 0}, high[3] = {2, 2, 2};
    a.vertices = a.faces = 0;
    solid_add_box(&a, low, high, false);
    moved = b = a;
    for (uint32_t v = 0; v < a.vertices; ++v) {
        moved.xyz[v][0] *= 1.5;                             /* kept */
        b.xyz[v][0] = v % 2 == 0 ? 0.0 : 4.0 - a.xyz[v][0]; /* made anew: corners coincide */
    }
    test_allocation_failures(update_twice, NULL);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_updates_are_named(void **state) {
    (void)state;
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
    a.vertices = a.faces = 0;
    solid_add_box(&a, low, high, false);
    carom_solid *solid = solid_prepare(context, &a, false),
                *same = solid_prepare(context, &a, false);
    carom_mesh_view view = solid_view(&a);
    view.vertex_count = 7;
    assert_fails(context, carom_solid_update(context, solid, &view), CAROM_BAD_INPUT,
                 "made of 8 vertices, the update has 7");
    moved = a;
    moved.xyz[3][1] = NAN;
    view = solid_view(&moved);
    assert_int_equal(carom_solid_update(context, solid, &view), CAROM_BAD_INPUT);
    assert_same(context, solid, same, NULL);
    carom_solid_destroy(solid);
    solid_unweld(&a);
    solid = solid_prepare(context, &a, false);
    moved = a;
    moved.xyz[0][0] -= 0.5; /* one of three corners that were merged */
    view = solid_view(&moved);
    assert_fails(context, carom_solid_update(context, solid, &view), CAROM_BAD_INPUT, "not closed");
    assert_same(context, solid, same, NULL);
    carom_solid_destroy(solid);
    carom_solid_destroy(same);
}

/* Quads are split along other diagonals, and vertices that no face uses do not matter. */
static void polygons_are_split_anew(void **state) {
    (void)state;
    static const uint32_t quads[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                       2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    uint64_t offsets[7];
    double before[9][3], after[9][3];
    for (int v = 0; v < 9; ++v)
        for (int k = 0; k < 3; ++k) before[v][k] = v == 8 ? 9.0 : (double)(v >> k & 1);
    for (uint64_t i = 0; i < 7; ++i) offsets[i] = 4 * i;
    carom_mesh_view mesh = {.positions = before,
                            .vertex_count = 9,
                            .corners = quads,
                            .offsets = offsets,
                            .face_count = 6};
    carom_solid *solid;
    assert_ok(context, carom_solid_create(context, &(carom_solid_def){.mesh = &mesh}, &solid));
    memcpy(after, before, sizeof(after));
    after[7][0] = after[7][1] = after[7][2] = 0.75;
    carom_mesh_view next = mesh;
    next.positions = after;
    check_update(context, solid, &mesh, &next, NULL);
    carom_solid_destroy(solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updated_solids_are_new_solids),
        cmocka_unit_test(shapes_bend_twist_and_wave),
        cmocka_unit_test(all_machines_update_alike),
        cmocka_unit_test(sequences_are_followed),
        cmocka_unit_test(large_models_are_followed),
        cmocka_unit_test(many_steps_take_no_memory),
        cmocka_unit_test(want_of_memory_leaves_the_solid),
        cmocka_unit_test(bad_updates_are_named),
        cmocka_unit_test(polygons_are_split_anew),
    };
    return cmocka_run_group_tests_name("solid_update", tests, set_up, tear_down);
}
