/* SPDX-License-Identifier: MIT */
/* Solids whose mesh deforms, on the GPU: after any update, from positions of the host or in device
 * memory, a solid has the bytes of a new one of the CPU, or is as it was where the update fails.
 * Skipped where there is no device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solid/solid.h"
#include "tests/support/models.h"
#include "tests/support/shapes.h"
#include "tests/support/solids.h"
#include "tests/support/test.h"

#define LATTICES 1000 /* small meshes, of several updates each */
#define SHAPES   100
#define FRAMES   6 /* updates of one shape */

TEST_BACKENDS

static uint64_t updates, on_host;

static int report(void **state) {
    print_message("%llu updates, of those in device memory %llu on the host\n",
                  (unsigned long long)updates, (unsigned long long)on_host);
    return tear_down(state);
}

/* ---- equality -------------------------------------------------------------------------------- */

static carom_solid_info info_of(const carom_solid *solid) {
    carom_solid_info info;
    memset(&info, 0, sizeof(info));
    assert_int_equal(carom_solid_get_info(solid, &info), CAROM_OK);
    info.bytes = 0;
    return info;
}

/* All that is known of a solid of either backend, and its overlap with a third. */
static void assert_same(const char *what, const carom_solid *cpu_solid, carom_solid *cuda_solid,
                        const carom_pose *pose) {
    carom_solid_info expected = info_of(cpu_solid), found = info_of(cuda_solid);
    carom_solid_result of_cpu, of_cuda;
    if (memcmp(&expected, &found, sizeof(found)) != 0)
        fail_msg("%s: area %.17g, volume %.17g; the CPU has %.17g, %.17g", what, found.area,
                 found.volume, expected.area, expected.volume);
    assert_true(cuda_solid->longest == cpu_solid->longest);
    assert_true(cuda_solid->side_lengths == cpu_solid->side_lengths);
    const char *broken = carom_solid_validate(cpu, cuda_solid);
    if (broken != NULL) fail_msg("%s: %s", what, broken);
    if (expected.complement) return;
    memset(&of_cpu, 0, sizeof(of_cpu));
    memset(&of_cuda, 0, sizeof(of_cuda));
    assert_ok(cpu, carom_solid_overlap(cpu, cpu_solid, NULL, cpu_solid, pose, NULL, &of_cpu));
    assert_ok(cuda, carom_solid_overlap(cuda, cuda_solid, NULL, cuda_solid, pose, NULL, &of_cuda));
    if (memcmp(&of_cpu, &of_cuda, sizeof(of_cpu)) != 0)
        fail_msg("%s: volume %.17g (%.3g), %s; the CPU has %.17g (%.3g), %s", what, of_cuda.volume,
                 of_cuda.volume_error, carom_relation_name(of_cuda.relation), of_cpu.volume,
                 of_cpu.volume_error, carom_relation_name(of_cpu.relation));
}

/* How positions are given. */
enum { OF_HOST, OF_DEVICE, OF_DEVICE_FLOATS, WAYS };

static carom_status update(carom_solid *solid, const carom_mesh_view *mesh, int way,
                           uint64_t *host_items) {
    void *memory;
    *host_items = 0;
    if (way == OF_HOST) return carom_solid_update(cuda, solid, mesh);
    uint64_t numbers = 3 * mesh->vertex_count,
             bytes =
                 numbers * (mesh->scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double));
    assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, mesh->positions, bytes));
    carom_cuda_positions positions = {memory, mesh->scalar, mesh->vertex_count};
    carom_status status = carom_cuda_solid_update(cuda, solid, &positions, host_items);
    carom_cuda_release(cuda, memory);
    return status;
}

/* Updates a solid and compares it with a new one of the CPU; `before`: the mesh it has. */
static bool check_update(const char *what, carom_solid *solid, const carom_mesh_view *before,
                         const carom_mesh_view *mesh, int way, const carom_pose *pose) {
    uint64_t host_items;
    carom_solid_info info = info_of(solid);
    carom_solid_def def = {.mesh = mesh, .complement = info.complement};
    carom_solid *fresh;
    carom_status expected = carom_solid_create(cpu, &def, &fresh);
    carom_status found = update(solid, mesh, way, &host_items);
    if (found != expected) print_message("%s: %s\n", what, carom_context_message(cuda));
    assert_int_equal(found, expected);
    if (expected != CAROM_OK) {
        def.mesh = before;
        assert_ok(cpu, carom_solid_create(cpu, &def, &fresh));
    }
    assert_same(what, fresh, solid, pose);
    ++updates;
    on_host += host_items == info.triangles;
    carom_solid_destroy(fresh);
    return expected == CAROM_OK;
}

/* ---- small meshes on a lattice --------------------------------------------------------------- */

/* Moves some vertices: little, or by whole numbers, so that corners coincide, faces lose their area
 * and the mesh crosses itself or turns inside out. */
static void deform(carom_random *random, const solid_mesh *from, solid_mesh *to, bool lattice) {
    *to = *from;
    for (uint32_t i = 0; i < (lattice ? 2u : 8u); ++i) {
        uint32_t v = test_below(random, from->vertices);
        double by[3];
        for (int k = 0; k < 3; ++k)
            by[k] = lattice ? (double)test_below(random, 5) - 2.0
                            : carom_random_between(random, -0.005, 0.005);
        for (uint32_t w = 0; w < from->vertices; ++w)
            if (memcmp(from->xyz[w], from->xyz[v], sizeof(by)) == 0)
                for (int k = 0; k < 3; ++k) to->xyz[w][k] += by[k];
    }
    if (lattice && test_below(random, 8) == 0) /* a mirror image */
        for (uint32_t w = 0; w < to->vertices; ++w) to->xyz[w][0] = 16.0 - to->xyz[w][0];
}

static void lattice_solids_are_followed(void **state) {
    (void)state;
    static solid_mesh mesh, moved;
    if (cuda == NULL) skip();
    carom_random random = {81};
    for (uint32_t i = 0; i < TEST_CASES(LATTICES); ++i) {
        carom_solid *solid;
        solid_make_small(&random, 120, &mesh);
        if (i % 5 == 1) solid_slit(&random, &mesh, 3);
        if (i % 3 == 0) solid_unweld(&mesh);
        if (i % 11 == 0) solid_scale(&mesh, i % 2 == 0 ? 0x1p-340 : 0x1p330);
        carom_mesh_view view = solid_view(&mesh);
        carom_solid_def def = {.mesh = &view, .complement = i % 7 == 0};
        assert_ok(cuda, carom_solid_create(cuda, &def, &solid));
        for (int step = 0; step < 4; ++step) {
            carom_pose pose = solid_lattice_turn(&random, 4);
            char what[80];
            snprintf(what, sizeof(what), "lattice %u (%s), step %d", i, mesh.kind, step);
            deform(&random, &mesh, &moved, i % 2 == 0 && step > 1);
            carom_mesh_view before = solid_view(&mesh), after = solid_view(&moved);
            if (check_update(what, solid, &before, &after, step % 2 == 0 ? OF_DEVICE : OF_HOST,
                             &pose))
                mesh = moved;
        }
        carom_solid_destroy(solid);
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static void bend(const double *from, double *to, uint64_t count, int kind, double by) {
    for (uint64_t i = 0; i < 3 * count; i += 3) {
        double x = from[i], y = from[i + 1], z = from[i + 2], angle = by * z;
        double c = cos(angle), s = sin(angle);
        double bent[3] = {x + 0.1 * by * sin(3.0 * z), y * (1.0 + 0.2 * by), z};
        double twisted[3] = {c * x - s * y, s * x + c * y, z};
        double folded[3] = {x > 0.0 ? -0.4 * x : x, y, z + 0.07 * x};
        memcpy(to + i, kind == 0 ? bent : kind == 1 ? twisted : folded, sizeof(bent));
    }
}

/* Updates in all ways; from the second on a solid of one region is updated on the device. */
static void follow(const char *what, const carom_mesh_view *mesh, double size, bool clean) {
    const carom_pose pose = {.q = {.w = 1.0, .x = 0.3}, .t = {0.4 * size, 0.1 * size, 0.2 * size}};
    uint64_t count = mesh->vertex_count, host_items;
    double *given = models_positions(mesh), *now = malloc(count * 24), *last = malloc(count * 24);
    float *floats = malloc(count * 12), *last_floats = malloc(count * 12);
    carom_mesh_view before = *mesh, after = *mesh;
    carom_solid *solid;
    assert_ok(cuda, carom_solid_create(cuda, &(carom_solid_def){.mesh = mesh}, &solid));
    for (int i = 0; i < FRAMES; ++i) {
        int way = i % WAYS;
        bend(given, now, count, i == 3 || i == 4 ? 2 : i % 2, 0.04 * i);
        for (uint64_t k = 0; k < 3 * count; ++k) now[k] *= size, floats[k] = (float)now[k];
        after.positions = way == OF_DEVICE_FLOATS ? (void *)floats : now;
        after.scalar = way == OF_DEVICE_FLOATS ? CAROM_SCALAR_FLOAT32 : CAROM_SCALAR_FLOAT64;
        after.stride = 0;
        if (way == OF_DEVICE_FLOATS && (size > 1e30 || size < 1e-30)) continue;
        assert_true(check_update(what, solid, &before, &after, way, &pose));
        memcpy(last, now, count * 24);
        memcpy(last_floats, floats, count * 12);
        before = after;
        before.positions = way == OF_DEVICE_FLOATS ? (void *)last_floats : last;
    }
    if (clean) { /* as it is: nothing is left to the host */
        assert_ok(cuda, update(solid, &before, OF_DEVICE, &host_items));
        assert_int_equal(host_items, 0);
    }
    carom_solid_destroy(solid);
    free(given);
    free(now);
    free(last);
    free(floats);
    free(last_floats);
}

static void shapes_are_followed(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_GLOBE, CAROM_SHAPE_KNOT,
                                         CAROM_SHAPE_CHAIN, CAROM_SHAPE_SPHERE};
    static const double sizes[] = {1.0, 1.0, 0x1p-400, 1e20, 1.0, 1e-3};
    for (uint32_t i = 0; i < CAROM_MAX(5u, TEST_CASES(SHAPES)); ++i) {
        carom_mesh_view view;
        char what[40];
        bool sphere = shapes[i % 5] == CAROM_SHAPE_SPHERE;
        carom_shape_def def = {.shape = shapes[i % 5], .detail = sphere ? 3 : 24 + i % 24};
        carom_mesh *mesh = shape_mesh(cpu, &def, &view);
        snprintf(what, sizeof(what), "shape %u", i);
        follow(what, &view, sizes[i % 6],
               shapes[i % 5] == CAROM_SHAPE_TORUS && sizes[i % 6] > 1e-30);
        carom_mesh_destroy(mesh);
    }
}

/* More triangles than a part of sums, and than blocks of one part of prefix sums, has. */
static void large_shapes_are_followed(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_mesh_view view;
    carom_mesh *mesh =
        shape_mesh(cpu, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = 90}, &view);
    assert_true(view.face_count > 256 * CAROM_SOLID_BLOCK * 2);
    follow("a large torus", &view, 1.0, true);
    carom_mesh_destroy(mesh);
}

/* The bunny crosses itself. */
static void models_are_followed(void **state) {
    (void)state;
    static const char *const files[] = {"bench/solid_cheburashka13k.ply",
                                        "bench/solid_bunny70k.ply"};
    if (cuda == NULL || test_shared_folder() == NULL) skip();
    for (int i = 0; i < (TEST_MANY_CASES ? 2 : 1); ++i) {
        char path[512];
        carom_mesh *mesh;
        carom_mesh_view view;
        models_path(files[i], path, sizeof(path));
        assert_ok(cpu, carom_mesh_load(cpu, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        assert_ok(cpu, carom_mesh_get_view(mesh, &view));
        follow(files[i], &view, 1.0, false);
        carom_mesh_destroy(mesh);
    }
}

/* ---- failure, and what is refused ------------------------------------------------------------ */

static void bad_positions_change_nothing(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_mesh_view view, other;
    uint64_t host_items;
    carom_mesh *mesh =
        shape_mesh(cpu, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = 12}, &view);
    double *given = models_positions(&view);
    carom_solid *solid, *fresh;
    other = view;
    other.positions = given, other.scalar = CAROM_SCALAR_FLOAT64, other.stride = 0;
    assert_ok(cuda, carom_solid_create(cuda, &(carom_solid_def){.mesh = &view}, &solid));
    assert_ok(cpu, carom_solid_create(cpu, &(carom_solid_def){.mesh = &view}, &fresh));
    for (int i = 0; i < 3; ++i) {
        double kept = given[7];
        assert_ok(cuda, update(solid, &other, OF_DEVICE, &host_items));
        given[7] = i == 0 ? (double)NAN : HUGE_VAL;
        assert_int_equal(update(solid, &other, OF_DEVICE, &host_items), CAROM_BAD_INPUT);
        given[7] = kept;
        assert_same("after bad positions", fresh, solid, NULL);
    }
    other.vertex_count -= 1;
    assert_fails(cuda, update(solid, &other, OF_DEVICE, &host_items), CAROM_BAD_INPUT,
                 "make a new solid");
    carom_cuda_positions positions = {given, CAROM_SCALAR_FLOAT64, view.vertex_count};
    assert_fails(cpu, carom_cuda_solid_update(cpu, fresh, &positions, NULL), CAROM_UNSUPPORTED,
                 "cuda");
    carom_solid_destroy(solid);
    carom_solid_destroy(fresh);
    carom_mesh_destroy(mesh);
    free(given);
}

/* Memory is taken by the first updates only. */
static void many_updates_take_no_memory(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_mesh_view view;
    carom_solid_info first, last;
    uint64_t host_items, steps = TEST_CASES(5000);
    carom_mesh *mesh =
        shape_mesh(cpu, &(carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = 8}, &view);
    double *given = models_positions(&view), *now = models_positions(&view);
    carom_mesh_view after = view;
    carom_solid *solid;
    after.positions = now, after.scalar = CAROM_SCALAR_FLOAT64, after.stride = 0;
    assert_ok(cuda, carom_solid_create(cuda, &(carom_solid_def){.mesh = &view}, &solid));
    for (uint64_t i = 0; i < steps + 4; ++i) {
        bend(given, now, view.vertex_count, 0, 0.01 * (double)(i % 7));
        assert_ok(cuda, update(solid, &after, OF_DEVICE, &host_items));
        assert_int_equal(host_items, i == 0 ? view.face_count : 0);
        if (i == 3) assert_ok(cuda, carom_solid_get_info(solid, &first));
    }
    assert_ok(cuda, carom_solid_get_info(solid, &last));
    assert_int_equal(last.bytes, first.bytes);
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
    free(given);
    free(now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_followed),
        cmocka_unit_test(large_shapes_are_followed),
        cmocka_unit_test(models_are_followed),
        cmocka_unit_test(lattice_solids_are_followed),
        cmocka_unit_test(bad_positions_change_nothing),
        cmocka_unit_test(many_updates_take_no_memory),
    };
    return cmocka_run_group_tests_name("solid_update_cuda", tests, set_up, report);
}
