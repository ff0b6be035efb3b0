/* SPDX-License-Identifier: MIT */
/* Broad phases on the GPU give the CPU's pairs, byte for byte: boxes of all kinds and scales, by
 * every method, with filters, over changes and frames; from host memory, from device memory and as
 * recorded frames. Skipped where there is no device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "scenes/boxes.h"
#include "tests/support/broad.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

#define MOST  3000u
#define CASES 120

TEST_BACKENDS

static carom_bounds boxes[MOST];
static carom_broad_filter filters[MOST];
static uint64_t lists, pairs_compared;

static int report(void **state) {
    print_message("%llu lists of pairs compared, %llu pairs\n", (unsigned long long)lists,
                  (unsigned long long)pairs_compared);
    return tear_down(state);
}

static void assert_same(const carom_pairs *expected, const carom_pairs *found, const char *what) {
    if (found->count != expected->count)
        fail_msg("%s: %llu pairs, not %llu", what, (unsigned long long)found->count,
                 (unsigned long long)expected->count);
    for (uint64_t i = 0; i < expected->count; ++i)
        if (found->data[i].a != expected->data[i].a || found->data[i].b != expected->data[i].b)
            fail_msg("%s: pair %llu is (%u, %u), not (%u, %u)", what, (unsigned long long)i,
                     found->data[i].a, found->data[i].b, expected->data[i].a, expected->data[i].b);
    ++lists;
    pairs_compared += expected->count;
}

static void random_filters(carom_random *random, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        filters[i].group = (uint32_t)(carom_random_next(random) & carom_random_next(random));
        filters[i].mask = (uint32_t)carom_random_next(random) & 0xF;
    }
}

static void compare_methods(const carom_broad_def *given, const char *what) {
    carom_pairs expected = {0}, found = {0};
    carom_broad_def def = *given;
    carom_broad *on_cpu;
    assert_ok(cpu, carom_broad_create(cpu, &def, &on_cpu));
    assert_ok(cpu, carom_broad_pairs(cpu, on_cpu, &expected));
    for (int method = 0; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        char words[96];
        carom_broad *on_cuda;
        def.method = (carom_broad_method)method;
        snprintf(words, sizeof(words), "%s, method %s", what, carom_broad_method_name(def.method));
        assert_ok(cuda, carom_broad_create(cuda, &def, &on_cuda));
        assert_ok(cuda, carom_broad_pairs(cuda, on_cuda, &found));
        assert_same(&expected, &found, words);
        carom_broad_destroy(on_cuda);
    }
    carom_broad_destroy(on_cpu);
    carom_pairs_free(&expected);
    carom_pairs_free(&found);
}

/* ---- boxes of all kinds ---------------------------------------------------------------------- */

static void all_kinds_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {1925};
    for (int kind = 0; kind < BROAD_KINDS; ++kind)
        for (int round = 0; round < TEST_CASES(CASES); ++round) {
            uint64_t most = round % 4 == 0 ? MOST : 200;
            uint64_t count = round < 3 ? (uint64_t)round : carom_random_next(&random) % most;
            char what[64];
            snprintf(what, sizeof(what), "kind %d, %llu boxes", kind, (unsigned long long)count);
            broad_boxes((broad_kind)kind, &random, boxes, count);
            random_filters(&random, count);
            carom_broad_def def = {.boxes = boxes,
                                   .box_count = count,
                                   .filters = round % 3 == 1 ? filters : NULL,
                                   .grid = {.hash = (carom_grid_hash)(round % 3)},
                                   .sweep_cell = round % 5 == 0 ? 0.3 : 0.0};
            compare_methods(&def, what);
        }
}

static void known_scenes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (int sizes = 0; sizes < SCENE_BOXES_COUNT; ++sizes)
        for (uint64_t count = 1000; count <= 100000; count *= 10) {
            scene_boxes scene;
            assert_true(
                scene_boxes_make(count, (scene_boxes_sizes)sizes, SCENE_BOXES_SEED, &scene));
            carom_broad_def def = {.boxes = scene.bounds, .box_count = count};
            compare_methods(&def, sizes == 0 ? "mono" : "poly");
            /* one box around all others, one of a size between, all others in one cell of it */
            scene.bounds[7] = (carom_bounds){{-1e9, -1e9, -1e9}, {1e9, 1e9, 1e9}};
            scene.bounds[11] = (carom_bounds){{-20.5, -20.0, -30.0}, {40.0, 21.0, 11.0}};
            compare_methods(&def, "giants");
            scene_boxes_free(&scene);
        }
}

/* Dense boxes: the cells give way to the tree. */
static void dense_inputs_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { DENSE = 20000 };
    static carom_bounds dense[DENSE];
    carom_random random = {31};
    for (int kind = 0; kind < 3; ++kind) {
        for (uint32_t i = 0; i < DENSE; ++i) {
            double size = kind == 0 ? 1e-7 : 1e-4, far = i % 2 == 0 ? 1.0 : kind == 1 ? 1e-3 : 1.0;
            double p[3];
            for (int k = 0; k < 3; ++k) p[k] = carom_random_between(&random, 0.0, 1.0) * far;
            if (kind == 2 && i % 16 == 0) size = 3.0 * carom_random_between(&random, 0.0, 0.01);
            if (kind == 0 && i % 2 == 0) p[0] = p[1] = p[2] = 0.25; /* half of all at one point */
            if (kind == 0 && i % 2 == 0 && i > 4000) p[0] += 1e-5 * (double)(i % 5000);
            dense[i] = (carom_bounds){{p[0], p[1], p[2]}, {p[0] + size, p[1] + size, p[2] + size}};
        }
        carom_broad_def def = {.boxes = dense, .box_count = DENSE};
        compare_methods(&def, "dense boxes");
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

static bool accept_odd(void *user, uint32_t a, uint32_t b) {
    (void)user;
    return ((a ^ b) & 1u) != 0;
}

static void changes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {77};
    for (int round = 0; round < TEST_CASES(40); ++round) {
        carom_broad *on[2];
        carom_context *contexts[2] = {cpu, cuda};
        carom_pairs results[2][3] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
        uint64_t count = 1 + carom_random_next(&random) % 500;
        broad_boxes((broad_kind)(round % BROAD_KINDS), &random, boxes, MOST);
        carom_broad_def def = {.boxes = boxes,
                               .box_count = count,
                               .accept = round % 3 == 0 ? accept_odd : NULL,
                               .method = (carom_broad_method)(round % CAROM_BROAD_METHOD_COUNT)};
        for (int i = 0; i < 2; ++i)
            assert_ok(contexts[i], carom_broad_create(contexts[i], &def, &on[i]));
        for (int frame = 0; frame < 8; ++frame) {
            uint32_t ids[16], added[2][16];
            uint32_t first = (uint32_t)(carom_random_next(&random) % MOST / 2);
            random_filters(&random, 16);
            for (uint32_t k = 0; k < 16; ++k)
                ids[k] = (uint32_t)(carom_random_next(&random) % count);
            for (int i = 0; i < 2; ++i) {
                carom_context *c = contexts[i];
                if (frame % 4 == 1)
                    assert_ok(c, carom_broad_move(c, on[i], ids, boxes + first, 16));
                if (frame % 4 == 2)
                    assert_ok(c, carom_broad_add(c, on[i], boxes + first, 16, added[i]));
                if (frame % 4 == 3)
                    assert_ok(c, carom_broad_set_filters(c, on[i], ids, filters, 16));
                if (frame == 6) assert_ok(c, carom_broad_remove(c, on[i], added[i], 3));
                assert_ok(
                    c, carom_broad_step(c, on[i], &results[i][0], &results[i][1], &results[i][2]));
            }
            if (frame % 4 == 2) assert_memory_equal(added[0], added[1], sizeof(added[0]));
            assert_same(&results[0][0], &results[1][0], "frame");
            assert_same(&results[0][1], &results[1][1], "begun");
            assert_same(&results[0][2], &results[1][2], "ended");
        }
        for (int i = 0; i < 2; ++i) {
            for (int k = 0; k < 3; ++k) carom_pairs_free(&results[i][k]);
            carom_broad_destroy(on[i]);
        }
    }
}

/* ---- device memory and frames ---------------------------------------------------------------- */

static void read_pairs(const carom_cuda_pairs *from, carom_pairs *to) {
    to->count = to->capacity = from->count;
    to->data = malloc(from->count * sizeof(carom_pair) + 1);
    assert_non_null(to->data);
    assert_ok(cuda, carom_cuda_read(cuda, to->data, from->data, from->count * sizeof(carom_pair)));
}

static void frames_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { COUNT = 20000, SCENES = 3 };
    scene_boxes scene;
    void *memory[SCENES];
    carom_pairs expected[SCENES] = {{0}}, found = {0};
    carom_cuda_pairs sorted = {0}, any = {0};
    carom_cuda_frame *frames[SCENES];
    carom_broad *broad, *on_cpu;
    assert_true(scene_boxes_make(COUNT, SCENE_BOXES_POLY, 5, &scene));
    carom_broad_def def = {.boxes = scene.bounds, .box_count = COUNT};
    assert_ok(cuda, carom_broad_create(cuda, &def, &broad));
    assert_ok(cpu, carom_broad_create(cpu, &def, &on_cpu));
    for (int i = 0; i < SCENES; ++i) {
        for (int k = 0; k < 20; ++k) scene_boxes_move(&scene, 0, COUNT);
        if (i == 2) /* these are dense: a frame recorded for cells takes the tree */
            for (uint32_t k = 0; k < COUNT; k += 2)
                scene.bounds[k] = (carom_bounds){{1e-3 * k, 0, 0}, {1e-3 * k + 1e-4, 1e-4, 1e-4}};
        assert_ok(cpu, carom_broad_move(cpu, on_cpu, NULL, scene.bounds, COUNT));
        assert_ok(cpu, carom_broad_step(cpu, on_cpu, &expected[i], NULL, NULL));
        uint64_t bytes = COUNT * sizeof(carom_bounds);
        assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &memory[i]));
        assert_ok(cuda, carom_cuda_write(cuda, memory[i], scene.bounds, bytes));
        assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_broad_update(cuda, broad, memory[i], COUNT));
        assert_ok(cuda, carom_cuda_broad_pairs(cuda, broad, CAROM_CUDA_ORDER_SORTED, &sorted));
        assert_ok(cuda, carom_cuda_broad_pairs(cuda, broad, CAROM_CUDA_ORDER_ANY, &any));
        assert_ok(cuda, carom_cuda_frame_end(cuda, &frames[i]));
    }
    for (int round = 0; round < 24; ++round) {
        int i = round < 8 ? round % 2 : round % SCENES;
        assert_ok(cuda, carom_cuda_frame_run(cuda, frames[i]));
        assert_ok(cuda, carom_cuda_finish(cuda));
        read_pairs(&sorted, &found);
        assert_same(&expected[i], &found, "as a frame");
        free(found.data);
        assert_int_equal(any.count, expected[i].count);
    }
    /* a change on the host after one from device memory: its boxes are not lost */
    uint32_t id = 5;
    carom_pairs results[2] = {{0}, {0}};
    assert_ok(cuda, carom_cuda_broad_update(cuda, broad, memory[1], COUNT));
    assert_ok(cuda, carom_cuda_read(cuda, scene.bounds, memory[1], COUNT * sizeof(carom_bounds)));
    assert_ok(cpu, carom_broad_move(cpu, on_cpu, NULL, scene.bounds, COUNT));
    const carom_bounds large = {{-30, -30, -30}, {30, 30, 30}};
    assert_ok(cuda, carom_broad_move(cuda, broad, &id, &large, 1));
    assert_ok(cpu, carom_broad_move(cpu, on_cpu, &id, &large, 1));
    assert_ok(cuda, carom_broad_step(cuda, broad, &results[1], NULL, NULL));
    assert_ok(cpu, carom_broad_step(cpu, on_cpu, &results[0], NULL, NULL));
    assert_same(&results[0], &results[1], "after a change on the host");
    /* what only the device sees */
    const carom_bounds bad = {{0, NAN, 0}, {1, 1, 1}};
    assert_ok(cuda, carom_cuda_write(cuda, memory[0], &bad, sizeof(bad)));
    assert_ok(cuda, carom_cuda_broad_update(cuda, broad, memory[0], COUNT));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "NaN");
    assert_fails(cuda, carom_cuda_broad_update(cuda, broad, memory[0], 3), CAROM_BAD_INPUT,
                 "20000");
    for (int i = 0; i < SCENES; ++i) {
        carom_cuda_frame_destroy(frames[i]);
        carom_cuda_release(cuda, memory[i]);
        carom_pairs_free(&expected[i]);
    }
    for (int i = 0; i < 2; ++i) carom_pairs_free(&results[i]);
    carom_cuda_pairs_free(cuda, &sorted);
    carom_cuda_pairs_free(cuda, &any);
    carom_broad_destroy(broad);
    carom_broad_destroy(on_cpu);
    scene_boxes_free(&scene);
}

static carom_bounds lattice_box(uint32_t at) {
    double x = (double)(at % 8), y = (double)(at / 8 % 8), z = (double)(at / 64);
    return (carom_bounds){{x, y, z}, {x + 0.75, y + 0.75, z + 0.75}};
}

/* Frames with an update among changes of the host: neither loses what the other changed. */
static void frames_run_between_changes_of_the_host(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { COUNT = 300 };
    carom_bounds here[COUNT], there[COUNT];
    const carom_bounds large = {{-1, -1, -1}, {3, 3, 3}};
    const uint32_t ids[2] = {7, 11};
    carom_broad *broad, *on_cpu;
    carom_cuda_frame *frame;
    carom_cuda_pairs pairs = {0};
    carom_pairs results[2] = {{0}, {0}};
    void *memory;
    for (uint32_t i = 0; i < COUNT; ++i) {
        here[i] = lattice_box(i);
        there[i] = lattice_box(COUNT - 1 - i / 2);
    }
    const carom_broad_def def = {.boxes = here, .box_count = COUNT};
    assert_ok(cuda, carom_broad_create(cuda, &def, &broad));
    assert_ok(cpu, carom_broad_create(cpu, &def, &on_cpu));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(there), &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, there, sizeof(there)));
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_ok(cuda, carom_cuda_broad_update(cuda, broad, memory, COUNT));
    assert_ok(cuda, carom_cuda_broad_pairs(cuda, broad, CAROM_CUDA_ORDER_SORTED, &pairs));
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    for (int round = 0; round < 3; ++round) {
        assert_ok(cuda, carom_broad_move(cuda, broad, &ids[0], &large, 1));
        assert_fails(cuda, carom_cuda_frame_run(cuda, frame), CAROM_UNSUPPORTED, "commit these");
        assert_ok(cuda, carom_broad_commit(cuda, broad));
        assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        assert_ok(cuda, carom_cuda_finish(cuda));
        assert_ok(cuda, carom_broad_move(cuda, broad, &ids[1], &large, 1));
        assert_ok(cuda, carom_broad_step(cuda, broad, &results[1], NULL, NULL));
        assert_ok(cpu, carom_broad_move(cpu, on_cpu, NULL, there, COUNT));
        assert_ok(cpu, carom_broad_move(cpu, on_cpu, &ids[1], &large, 1));
        assert_ok(cpu, carom_broad_step(cpu, on_cpu, &results[0], NULL, NULL));
        assert_same(&results[0], &results[1], "after a frame and a change of the host");
    }
    assert_ok(cuda, carom_broad_add(cuda, broad, &large, 1, NULL));
    assert_ok(cuda, carom_broad_commit(cuda, broad));
    assert_fails(cuda, carom_cuda_frame_run(cuda, frame), CAROM_BAD_INPUT, "record the frame anew");
    carom_cuda_frame_destroy(frame);
    carom_cuda_pairs_free(cuda, &pairs);
    carom_cuda_release(cuda, memory);
    for (int i = 0; i < 2; ++i) carom_pairs_free(&results[i]);
    carom_broad_destroy(broad);
    carom_broad_destroy(on_cpu);
}

/* Engines share the memory of a context: what one leaves there does not disturb another. */
static void engines_share_a_context(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { COUNT = 30000 };
    scene_boxes scene;
    carom_solid *solid;
    carom_mesh_view view = {0};
    carom_solid_def def = {.mesh = &view};
    carom_solid_result overlap;
    const carom_pose pose = {{1.0, 0.2, 0.1, 0.0}, {0.1, 0.05, 0.02}};
    const carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS};
    assert_true(scene_boxes_make(COUNT, SCENE_BOXES_MONO, 3, &scene));
    carom_broad_def boxes_def = {.boxes = scene.bounds, .box_count = COUNT};
    carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
    assert_ok(cuda, carom_solid_create(cuda, &def, &solid));
    for (int round = 0; round < 3; ++round) {
        assert_ok(cuda, carom_solid_overlap(cuda, solid, NULL, solid, &pose, NULL, &overlap));
        compare_methods(&boxes_def, "after a solid");
    }
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
    scene_boxes_free(&scene);
}

/* ---- backends -------------------------------------------------------------------------------- */

static void what_cuda_cannot_do_is_said(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const carom_vec3 point = {0, 0, 0};
    carom_broad *broad, *on_cpu;
    carom_hit hit;
    carom_pairs pairs = {0};
    carom_cuda_pairs device_pairs = {0};
    const carom_broad_def def = {.accept = accept_odd};
    assert_ok(cuda, carom_broad_create(cuda, &def, &broad));
    assert_ok(cpu, carom_broad_create(cpu, NULL, &on_cpu));
    assert_fails(cuda, carom_broad_closest_points(cuda, broad, &point, 1, &hit), CAROM_UNSUPPORTED,
                 "cuda");
    assert_fails(cuda, carom_broad_pairs(cuda, on_cpu, &pairs), CAROM_UNSUPPORTED, "made on cpu");
    assert_fails(cpu, carom_broad_pairs(cpu, broad, &pairs), CAROM_UNSUPPORTED, "made on cuda");
    assert_fails(cuda, carom_cuda_broad_pairs(cuda, broad, CAROM_CUDA_ORDER_ANY, &device_pairs),
                 CAROM_UNSUPPORTED, "accept");
    assert_fails(cpu, carom_cuda_broad_pairs(cpu, on_cpu, CAROM_CUDA_ORDER_ANY, &device_pairs),
                 CAROM_UNSUPPORTED, "backend cuda");
    carom_broad_destroy(broad);
    carom_broad_destroy(on_cpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_are_the_same),
        cmocka_unit_test(known_scenes_are_the_same),
        cmocka_unit_test(dense_inputs_are_the_same),
        cmocka_unit_test(changes_are_the_same),
        cmocka_unit_test(frames_are_the_same),
        cmocka_unit_test(engines_share_a_context),
        cmocka_unit_test(frames_run_between_changes_of_the_host),
        cmocka_unit_test(what_cuda_cannot_do_is_said),
    };
    return cmocka_run_group_tests_name("broad_cuda", tests, set_up, report);
}
