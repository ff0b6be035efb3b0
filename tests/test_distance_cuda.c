/* SPDX-License-Identifier: MIT */
/* Distances of soups on the GPU are the CPU's, byte for byte: lattice soups with exact ties, apart,
 * touching and within each other, of all scales, far away, turned and flattened by rounding;
 * polygons, segments, every shape; one pose, many poses of many soups, with limits, in device
 * memory and in frames; distances of pairs of faces; whether faces meet. Skipped where there is no
 * device. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t compared, contact, gaps_compared;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu distances, %llu of them 0, and %llu gaps of faces are those of the "
                      "CPU\n",
                      (unsigned long long)compared, (unsigned long long)contact,
                      (unsigned long long)gaps_compared);
    return tear_down(state);
}

typedef struct both {
    carom_soup *cpu, *cuda;
} both;

static both make(const carom_soup_def *def) {
    both b;
    assert_ok(cpu, carom_soup_create(cpu, def, &b.cpu));
    assert_ok(cuda, carom_soup_create(cuda, def, &b.cuda));
    return b;
}

static void destroy(both *b) {
    carom_soup_destroy(b->cpu);
    carom_soup_destroy(b->cuda);
}

static void assert_gap(const carom_soup_gap *found, const carom_soup_gap *expected) {
    if (memcmp(found, expected, sizeof(*found)) != 0)
        fail_msg("the distance is %.17g of faces %u and %u, not %.17g of %u and %u",
                 found->distance, found->face_a, found->face_b, expected->distance,
                 expected->face_a, expected->face_b);
    ++compared;
    if (expected->distance == 0.0) ++contact;
}

static carom_soup_gap assert_same(const both *a, const carom_pose *pose_a, const both *b,
                                  const carom_pose *pose_b, double limit) {
    carom_soup_gap found, expected;
    memset(&found, 0, sizeof(found));
    memset(&expected, 0, sizeof(expected));
    assert_ok(cpu,
              carom_soup_cross_distance(cpu, a->cpu, pose_a, b->cpu, pose_b, limit, &expected));
    assert_ok(cuda,
              carom_soup_cross_distance(cuda, a->cuda, pose_a, b->cuda, pose_b, limit, &found));
    assert_gap(&found, &expected);
    return expected;
}

/* ---- One pose -------------------------------------------------------------------------------- */

/* Poses by number: at the same place, beside, on a lattice, turned, far and farther away. */
static carom_pose pose_of(carom_random *random, int number, double scale) {
    static const double away[] = {0.0, 8.0, 1.0, 3.0, 100.0, 1e6, 1e12, 0.5};
    carom_pose pose = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    double by = away[number % (int)COUNT_OF(away)];
    if (number % 3 == 1) pose.q = (carom_quat){1.0, 0.5, -0.25, 0.125};
    if (number % 3 == 2) pose.q = (carom_quat){1.0, 0.0, 0.0, 1.0};
    pose.t.x = by * scale;
    pose.t.y = (double)test_below(random, 4) * scale;
    pose.t.z = number % 2 == 0 ? 0.0 : 0.25 * by * scale;
    return pose;
}

static void lattice_distances_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two;
    carom_random random = {491};
    const double scales[] = {1.0, 0x1p-140, 0x1p130, 3.0, 0x1p-1000, 0x1p900, 1e-100, 1e100};
    for (int i = 0; i < TEST_CASES(2400); ++i) {
        double scale = i % 3 == 0 ? scales[i / 3 % (int)COUNT_OF(scales)] : 1.0;
        bool floats = i % 2 == 0 && scale == 1.0;
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        lattice_move(&one, 0.0, scale);
        lattice_move(&two, 0.0, scale);
        carom_mesh_view view_a = floats ? lattice_view_floats(&one) : lattice_view(&one);
        carom_mesh_view view_b =
            i % 4 == 0 && scale == 1.0 ? lattice_view_floats(&two) : lattice_view(&two);
        carom_soup_degenerate degenerate =
            i % 4 == 3 ? CAROM_SOUP_DEGENERATE_AS_SEGMENT : CAROM_SOUP_DEGENERATE_ALONE;
        both a =
            make(&(carom_soup_def){.mesh = &view_a, .degenerate = degenerate, .rigid = i % 5 == 0});
        both b =
            make(&(carom_soup_def){.mesh = &view_b, .degenerate = degenerate, .rigid = i % 7 == 0});
        carom_pose pose = pose_of(&random, i, scale), other = pose_of(&random, i / 3, -scale);
        carom_soup_gap gap = assert_same(&a, NULL, &b, &pose, 0.0);
        assert_same(&a, &other, &b, &pose, 0.0);
        assert_same(&b, &pose, &a, NULL, 0.0);
        if (gap.distance > 0.0 && gap.distance < DBL_MAX) {
            assert_same(&a, NULL, &b, &pose, gap.distance); /* just there */
            assert_same(&a, NULL, &b, &pose, 0.5 * gap.distance);
        }
        destroy(&a);
        destroy(&b);
    }
}

/* Soups of sizes far apart, one beside or within the other. */
static void sizes_far_apart_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two;
    carom_random random = {492};
    const double sizes[] = {1e-10, 0x1p-60, 1e10, 0x1p70, 1e-200};
    for (int i = 0; i < TEST_CASES(600); ++i) {
        double size = sizes[i % (int)COUNT_OF(sizes)];
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        lattice_move(&two, 0.0, size);
        carom_mesh_view view_a = lattice_view(&one), view_b = lattice_view(&two);
        both a = make(&(carom_soup_def){.mesh = &view_a, .rigid = i % 2 == 0});
        both b = make(&(carom_soup_def){.mesh = &view_b});
        carom_pose pose = pose_of(&random, i, i % 3 == 0 ? size : 1.0);
        assert_same(&a, NULL, &b, &pose, 0.0);
        assert_same(&b, &pose, &a, NULL, 0.0);
        destroy(&a);
        destroy(&b);
    }
}

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 4; ++variant) {
            const carom_shape_def shape = {.shape = (carom_shape)s,
                                           .polygons = variant % 2 == 1,
                                           .scalar = variant < 2 ? CAROM_SCALAR_FLOAT32
                                                                 : CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            both b = make(&(carom_soup_def){.mesh = &view, .rigid = variant % 2 == 0});
            const carom_pose beside = {{1.0, 0.25, 0.0, 0.125}, {3.0, 0.25, -0.5}};
            const carom_pose into = {{1.0, 0.25, 0.0, 0.125}, {0.125, 0.0, 0.25}};
            const carom_pose far = {{1.0, 0.25, 0.5, 0.125}, {3e4, 1.0, -2e4}};
            assert_same(&b, NULL, &b, &beside, 0.0);
            assert_same(&b, &into, &b, NULL, 0.0);
            assert_same(&b, NULL, &b, NULL, 0.0);
            assert_same(&b, NULL, &b, &far, 0.0);
            destroy(&b);
            carom_mesh_destroy(mesh);
        }
}

/* Trees of two, three and four levels with each other. */
static void depths_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const carom_shape_def shapes[] = {{.shape = CAROM_SHAPE_BOX},
                                      {.shape = CAROM_SHAPE_KNOT, .scalar = CAROM_SCALAR_FLOAT32},
                                      {.shape = CAROM_SHAPE_CLOTH, .detail = 150},
                                      {.shape = CAROM_SHAPE_GLOBE, .size = 0.25}};
    both soups[COUNT_OF(shapes)];
    carom_random random = {498};
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
        carom_mesh_view view = {0};
        carom_mesh *mesh = shape_mesh(cpu, &shapes[i], &view);
        soups[i] = make(&(carom_soup_def){.mesh = &view, .rigid = true});
        carom_mesh_destroy(mesh);
    }
    for (int i = 0; i < TEST_CASES(256); ++i)
        for (size_t a = 0; a < COUNT_OF(shapes); ++a)
            for (size_t b = 0; b < COUNT_OF(shapes); ++b) {
                carom_pose pose = pose_of(&random, (i + (int)a) % 6, 0.6), there = pose;
                there.t.x += 3.5;
                assert_same(&soups[a], NULL, &soups[b], &pose, 0.0);
                assert_same(&soups[a], NULL, &soups[b], &there, 0.0);
            }
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) destroy(&soups[i]);
}

/* Empty soups, and soups of one point. */
static void nothing_is_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double xyz[3][3] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
    const uint32_t corners[3] = {0, 1, 2};
    const carom_mesh_view point = {
        .positions = xyz, .vertex_count = 3, .corners = corners, .face_count = 1};
    both empty = make(NULL);
    both alone = make(&(carom_soup_def){.mesh = &point});
    both there =
        make(&(carom_soup_def){.mesh = &point, .degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT});
    const carom_pose pose = {.t = {0.0, 0.0, 7.0}};
    const both *all[] = {&empty, &alone, &there};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            assert_same(all[i], NULL, all[k], &pose, 0.0);
            assert_same(all[i], NULL, all[k], NULL, 0.0);
            assert_same(all[i], NULL, all[k], &pose, 6.0);
        }
    destroy(&empty);
    destroy(&alone);
    destroy(&there);
}

/* ---- Many poses ------------------------------------------------------------------------------ */

#define BATCH_SOUPS 3u
#define BATCH       40u

/* Both backends with pairs[i] of soups i % BATCH_SOUPS and i / 2 % BATCH_SOUPS. */
static void make_batch(carom_random *random, const both *soups, uint32_t count,
                       carom_soup_pair *of_cpu, carom_soup_pair *of_cuda) {
    for (uint32_t i = 0; i < count; ++i) {
        const both *a = &soups[i % BATCH_SOUPS], *b = &soups[i / 2 % BATCH_SOUPS];
        of_cpu[i] = (carom_soup_pair){.a = a->cpu, .b = b->cpu};
        of_cpu[i].pose_b = pose_of(random, (int)i, 1.0);
        if (i % 4 == 0) of_cpu[i].pose_a = pose_of(random, (int)i + 1, 1.0);
        of_cuda[i] = of_cpu[i];
        of_cuda[i].a = a->cuda;
        of_cuda[i].b = b->cuda;
    }
}

static void assert_batch(const carom_soup_pair *of_cpu, const carom_soup_pair *of_cuda,
                         uint32_t count, double limit) {
    static carom_soup_gap expected[BATCH], found[BATCH];
    static bool meet[BATCH], meets[BATCH];
    memset(expected, 0, sizeof(expected));
    memset(found, 0, sizeof(found));
    assert_ok(cpu, carom_soup_cross_distance_batch(cpu, of_cpu, count, limit, expected));
    assert_ok(cuda, carom_soup_cross_distance_batch(cuda, of_cuda, count, limit, found));
    for (uint32_t i = 0; i < count; ++i) assert_gap(&found[i], &expected[i]);
    assert_ok(cpu, carom_soup_cross_meet_batch(cpu, of_cpu, count, meet));
    assert_ok(cuda, carom_soup_cross_meet_batch(cuda, of_cuda, count, meets));
    assert_memory_equal(meets, meet, count * sizeof(bool));
}

static void batches_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup lattices[BATCH_SOUPS];
    static carom_soup_pair of_cpu[BATCH], of_cuda[BATCH];
    carom_random random = {493};
    for (int i = 0; i < TEST_CASES(120); ++i) {
        both soups[BATCH_SOUPS];
        for (uint32_t k = 0; k < BATCH_SOUPS; ++k) {
            lattice_make(&random, &lattices[k]);
            carom_mesh_view view = lattice_view(&lattices[k]);
            soups[k] = make(&(carom_soup_def){.mesh = &view, .rigid = i % 2 == 0});
        }
        make_batch(&random, soups, BATCH, of_cpu, of_cuda);
        assert_batch(of_cpu, of_cuda, BATCH, i % 3 == 0 ? 4.0 : 0.0);
        for (uint32_t k = 0; k < BATCH_SOUPS; ++k) destroy(&soups[k]);
    }
}

/* Updates, added and removed faces change what a soup keeps on the host. */
static void changed_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two;
    carom_random random = {494};
    for (int i = 0; i < TEST_CASES(120); ++i) {
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        carom_mesh_view view = lattice_view(&one), more = lattice_view(&two);
        both a = make(&(carom_soup_def){.mesh = &view, .rigid = i % 2 == 0});
        assert_same(&a, NULL, &a, NULL, 0.0);
        lattice_shake(&random, &one);
        view = lattice_view(&one);
        assert_ok(cpu, carom_soup_update(cpu, a.cpu, &view));
        assert_ok(cuda, carom_soup_update(cuda, a.cuda, &view));
        assert_same(&a, NULL, &a, NULL, 0.0);
        assert_ok(cpu, carom_soup_add(cpu, a.cpu, &more, NULL));
        assert_ok(cuda, carom_soup_add(cuda, a.cuda, &more, NULL));
        carom_pose pose = pose_of(&random, i, 1.0);
        assert_same(&a, NULL, &a, &pose, 0.0);
        const uint32_t gone[] = {0, 1};
        assert_ok(cpu, carom_soup_remove(cpu, a.cpu, gone, 2));
        assert_ok(cuda, carom_soup_remove(cuda, a.cuda, gone, 2));
        assert_same(&a, NULL, &a, &pose, 0.0);
        assert_same(&a, NULL, &a, NULL, 0.0);
        destroy(&a);
    }
}

/* ---- Device memory --------------------------------------------------------------------------- */

static void *on_device(const void *from, uint64_t bytes) {
    void *memory;
    assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &memory));
    if (from != NULL) assert_ok(cuda, carom_cuda_write(cuda, memory, from, bytes));
    return memory;
}

/* Positions come from device memory, in a frame with both searches that runs twice. */
static void frames_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one;
    static carom_pose poses[BATCH];
    static carom_soup_gap found[BATCH], expected;
    static bool meets[BATCH];
    carom_random random = {495};
    for (int i = 0; i < TEST_CASES(60); ++i) {
        lattice_make(&random, &one);
        carom_mesh_view view = lattice_view(&one);
        both a = make(&(carom_soup_def){.mesh = &view, .rigid = i % 2 == 0});
        uint64_t bytes = one.vertices * sizeof(one.xyz[0]);
        void *positions = on_device(one.xyz, bytes);
        carom_pose *device_poses = on_device(NULL, sizeof(poses));
        carom_soup_gap *gaps = on_device(NULL, sizeof(found));
        bool *meet = on_device(NULL, sizeof(meets));
        const carom_cuda_positions update = {positions, CAROM_SCALAR_FLOAT64, one.vertices};
        carom_cuda_frame *frame;
        assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_soup_update(cuda, a.cuda, &update));
        assert_ok(cuda, carom_cuda_soup_cross_distance(cuda, a.cuda, NULL, a.cuda, device_poses,
                                                       BATCH, 0.0, gaps));
        assert_ok(cuda, carom_cuda_soup_cross_meet(cuda, a.cuda, NULL, a.cuda, device_poses, BATCH,
                                                   meet));
        assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
        for (int run = 0; run < 2; ++run) {
            lattice_shake(&random, &one);
            view = lattice_view(&one);
            assert_ok(cpu, carom_soup_update(cpu, a.cpu, &view));
            for (uint32_t k = 0; k < BATCH; ++k) poses[k] = pose_of(&random, (int)k + run, 1.0);
            assert_ok(cuda, carom_cuda_write(cuda, positions, one.xyz, bytes));
            assert_ok(cuda, carom_cuda_write(cuda, device_poses, poses, sizeof(poses)));
            assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
            assert_ok(cuda, carom_cuda_finish(cuda));
            assert_ok(cuda, carom_cuda_read(cuda, found, gaps, sizeof(found)));
            assert_ok(cuda, carom_cuda_read(cuda, meets, meet, sizeof(meets)));
            for (uint32_t k = 0; k < BATCH; ++k) {
                bool any;
                memset(&expected, 0, sizeof(expected));
                assert_ok(cpu, carom_soup_cross_distance(cpu, a.cpu, NULL, a.cpu, &poses[k], 0.0,
                                                         &expected));
                assert_gap(&found[k], &expected);
                assert_ok(cpu, carom_soup_cross_meet(cpu, a.cpu, NULL, a.cpu, &poses[k], &any));
                assert_int_equal(meets[k], any);
            }
        }
        carom_cuda_frame_destroy(frame);
        carom_cuda_release(cuda, positions);
        carom_cuda_release(cuda, device_poses);
        carom_cuda_release(cuda, gaps);
        carom_cuda_release(cuda, meet);
        destroy(&a);
    }
}

/* A frame that was recorded before the positions came from device memory. */
static void later_positions_are_those_of_the_answer(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one;
    carom_random random = {499};
    for (int i = 0; i < TEST_CASES(60); ++i) {
        lattice_make(&random, &one);
        carom_mesh_view view = lattice_view(&one);
        both a = make(&(carom_soup_def){.mesh = &view});
        carom_soup_gap *gap = on_device(NULL, sizeof(*gap)), found, expected;
        carom_cuda_frame *frame;
        assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda,
                  carom_cuda_soup_cross_distance(cuda, a.cuda, NULL, a.cuda, NULL, 1, 0.0, gap));
        assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
        lattice_shake(&random, &one);
        view = lattice_view(&one);
        void *positions = on_device(one.xyz, one.vertices * sizeof(one.xyz[0]));
        const carom_cuda_positions update = {positions, CAROM_SCALAR_FLOAT64, one.vertices};
        assert_ok(cpu, carom_soup_update(cpu, a.cpu, &view));
        assert_ok(cuda, carom_cuda_soup_update(cuda, a.cuda, &update));
        assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        assert_ok(cuda, carom_cuda_finish(cuda));
        memset(&expected, 0, sizeof(expected));
        assert_ok(cuda, carom_cuda_read(cuda, &found, gap, sizeof(found)));
        assert_ok(cpu, carom_soup_cross_distance(cpu, a.cpu, NULL, a.cpu, NULL, 0.0, &expected));
        assert_gap(&found, &expected);
        carom_cuda_frame_destroy(frame);
        carom_cuda_release(cuda, positions);
        carom_cuda_release(cuda, gap);
        destroy(&a);
    }
}

/* What the host keeps of a soup for faces that meet is of before an update in device memory, and a
 * change that fails after it has read these positions. */
static void changes_that_fail_leave_current_positions(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one;
    carom_random random = {500};
    for (int i = 0; i < TEST_CASES(60); ++i) {
        lattice_make(&random, &one);
        carom_mesh_view view = lattice_view(&one);
        both a = make(&(carom_soup_def){.mesh = &view, .rigid = i % 2 == 0});
        assert_same(&a, NULL, &a, NULL, 0.0);
        lattice_shake(&random, &one);
        view = lattice_view(&one);
        void *positions = on_device(one.xyz, one.vertices * sizeof(one.xyz[0]));
        const carom_cuda_positions update = {positions, CAROM_SCALAR_FLOAT64, one.vertices};
        assert_ok(cpu, carom_soup_update(cpu, a.cpu, &view));
        assert_ok(cuda, carom_cuda_soup_update(cuda, a.cuda, &update));
        const uint32_t beyond[3] = {0, 1, UINT32_MAX - 1};
        const carom_mesh_view bad = {
            .positions = one.xyz, .vertex_count = one.vertices, .corners = beyond, .face_count = 1};
        assert_fails(cuda, carom_soup_add(cuda, a.cuda, &bad, NULL), CAROM_BAD_INPUT, "vert");
        carom_pose pose = pose_of(&random, i, 1.0);
        assert_same(&a, NULL, &a, NULL, 0.0);
        assert_same(&a, NULL, &a, &pose, 0.0);
        carom_cuda_release(cuda, positions);
        destroy(&a);
    }
}

/* ---- Pairs of faces -------------------------------------------------------------------------- */

#define PAIRS 200u

static void gaps_of_faces_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one, two;
    static carom_pair pairs[PAIRS];
    static carom_soup_gap expected[PAIRS], found[PAIRS];
    carom_random random = {496};
    for (int i = 0; i < TEST_CASES(1200); ++i) {
        double scale = i % 5 == 0 ? 0x1p-300 : 1.0;
        lattice_make(&random, &one);
        lattice_make(&random, &two);
        lattice_move(&one, 0.0, scale);
        lattice_move(&two, 0.0, scale);
        carom_mesh_view view_a = lattice_view(&one), view_b = lattice_view(&two);
        both a = make(&(carom_soup_def){.mesh = &view_a}),
             b = make(&(carom_soup_def){.mesh = &view_b,
                                        .method = i % 3 == 0 ? CAROM_SOUP_METHOD_GRID : 0});
        carom_pose pose = pose_of(&random, i, scale);
        for (uint32_t k = 0; k < PAIRS; ++k)
            pairs[k] = (carom_pair){test_below(&random, one.faces), test_below(&random, two.faces)};
        memset(expected, 0, sizeof(expected));
        memset(found, 0, sizeof(found));
        assert_ok(cpu,
                  carom_soup_cross_gaps(cpu, a.cpu, NULL, b.cpu, &pose, pairs, PAIRS, expected));
        assert_ok(cuda,
                  carom_soup_cross_gaps(cuda, a.cuda, NULL, b.cuda, &pose, pairs, PAIRS, found));
        assert_memory_equal(found, expected, sizeof(found));
        for (uint32_t k = 0; k < PAIRS; ++k) pairs[k].b = test_below(&random, one.faces);
        assert_ok(cpu, carom_soup_self_gaps(cpu, a.cpu, pairs, PAIRS, expected));
        assert_ok(cuda, carom_soup_self_gaps(cuda, a.cuda, pairs, PAIRS, found));
        assert_memory_equal(found, expected, sizeof(found));
        gaps_compared += 2 * PAIRS;
        destroy(&a);
        destroy(&b);
    }
}

/* ---- What is wrong --------------------------------------------------------------------------- */

static void wrong_input_is_named(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup one;
    carom_random random = {497};
    lattice_make(&random, &one);
    carom_mesh_view view = lattice_view(&one);
    both a = make(&(carom_soup_def){.mesh = &view});
    both grid = make(&(carom_soup_def){.mesh = &view, .method = CAROM_SOUP_METHOD_GRID});
    carom_soup_gap gap, gaps[3];
    bool meet[3];
    assert_fails(cuda, carom_soup_cross_distance(cuda, a.cuda, NULL, a.cuda, NULL, -1.0, &gap),
                 CAROM_BAD_INPUT, "limit");
    assert_fails(cuda, carom_soup_cross_distance(cuda, grid.cuda, NULL, a.cuda, NULL, 0.0, &gap),
                 CAROM_UNSUPPORTED, "GRID");
    assert_fails(cuda, carom_soup_cross_distance(cuda, a.cpu, NULL, a.cuda, NULL, 0.0, &gap),
                 CAROM_UNSUPPORTED, "made on cpu");
    const carom_pose bad = {.q = {NAN, 0.0, 0.0, 0.0}};
    const carom_pose out = {.t = {0.0, DBL_MAX, 0.0}, .q = {1.0, 0.5, 0.25, 0.125}};
    static lattice_soup far;
    far = one;
    lattice_move(&far, 1.0, 1e300);
    view = lattice_view(&far);
    both large = make(&(carom_soup_def){.mesh = &view});
    assert_fails(cuda, carom_soup_cross_distance(cuda, a.cuda, NULL, a.cuda, &bad, 0.0, &gap),
                 CAROM_BAD_INPUT, "finite");
    assert_fails(cuda, carom_soup_cross_distance(cuda, a.cuda, NULL, large.cuda, &out, 0.0, &gap),
                 CAROM_BAD_INPUT, "range of doubles");
    carom_pose *there = on_device(&out, sizeof(out));
    carom_soup_gap *on_gpu = on_device(NULL, sizeof(*on_gpu));
    assert_ok(cuda, carom_cuda_soup_cross_distance(cuda, a.cuda, NULL, large.cuda, there, 1, 0.0,
                                                   on_gpu));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "pose 0");
    carom_cuda_release(cuda, there);
    carom_cuda_release(cuda, on_gpu);
    carom_soup_pair pairs[3] = {{.a = a.cuda, .b = a.cuda}, {.a = a.cuda, .b = a.cuda}};
    pairs[2] = pairs[1];
    pairs[2].pose_a = bad;
    assert_fails(cuda, carom_soup_cross_distance_batch(cuda, pairs, 3, 0.0, gaps), CAROM_BAD_INPUT,
                 "pair 2");
    assert_true(gaps[0].distance == 0.0 && gaps[1].distance == 0.0);
    assert_fails(cuda, carom_soup_cross_meet_batch(cuda, pairs, 3, meet), CAROM_BAD_INPUT,
                 "pair 2");
    assert_true(meet[0] && meet[1]);
    const carom_pair none = {0, one.faces};
    assert_fails(cuda, carom_soup_self_gaps(cuda, a.cuda, &none, 1, gaps), CAROM_BAD_INPUT,
                 "pair 0");
    destroy(&a);
    destroy(&grid);
    destroy(&large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_distances_are_the_same),
        cmocka_unit_test(sizes_far_apart_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(depths_are_the_same),
        cmocka_unit_test(nothing_is_the_same),
        cmocka_unit_test(batches_are_the_same),
        cmocka_unit_test(changed_soups_are_the_same),
        cmocka_unit_test(frames_are_the_same),
        cmocka_unit_test(later_positions_are_those_of_the_answer),
        cmocka_unit_test(changes_that_fail_leave_current_positions),
        cmocka_unit_test(gaps_of_faces_are_the_same),
        cmocka_unit_test(wrong_input_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, report);
}
