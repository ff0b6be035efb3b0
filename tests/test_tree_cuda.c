/* SPDX-License-Identifier: MIT */
/* Trees on the GPU give the CPU's answers, byte for byte: random packings of all methods and
 * arities, scales and poses, extreme poses; trees with meshes apart, touching, deep and in each
 * other; many pairs at once, hints, files, updates, device memory and frames. Skipped where there
 * is no device. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carom/cuda.h"
#include "geom/vec.h"
#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t compared_gaps, compared_zeros, compared_meets, compared_overlaps, apart_overlaps;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu distances, %llu of them 0, %llu overlaps, %llu of them apart, and %llu "
                      "verdicts are those of the CPU\n",
                      (unsigned long long)compared_gaps, (unsigned long long)compared_zeros,
                      (unsigned long long)compared_overlaps, (unsigned long long)apart_overlaps,
                      (unsigned long long)compared_meets);
    return tear_down(state);
}

/* ---- Both backends --------------------------------------------------------------------------- */

typedef struct both {
    carom_tree *cpu, *cuda;
    bool octree; /* bounds may be narrow */
} both;

static both make(const carom_tree_def *def) {
    both b = {0};
    assert_ok(cpu, carom_tree_create(cpu, def, &b.cpu));
    assert_ok(cuda, carom_tree_create(cuda, def, &b.cuda));
    return b;
}

/* A tree of a shape, with its mesh or without. */
static both make_shape(carom_shape shape, uint32_t detail, uint64_t count, bool with_mesh) {
    carom_mesh *mesh = NULL;
    carom_mesh_view view = {0};
    carom_packing *packing = packing_of_shape(cpu, shape, detail, count, &mesh);
    assert_ok(cpu, carom_mesh_get_view(mesh, &view));
    both b = make(&(carom_tree_def){.packing = packing, .mesh = with_mesh ? &view : NULL});
    b.octree = with_mesh;
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
    return b;
}

static void destroy(both *b) {
    carom_tree_destroy(b->cpu);
    carom_tree_destroy(b->cuda);
}

static void assert_gap(const carom_tree_gap *found, const carom_tree_gap *expected) {
    if (memcmp(found, expected, sizeof(*found)) != 0)
        fail_msg("%.17g <= %.17g <= %.17g of %u %u, %u %u, not %.17g <= %.17g <= %.17g of %u %u, "
                 "%u %u",
                 found->distance.lower, found->distance.value, found->distance.upper,
                 found->sphere_a, found->sphere_b, found->face_a, found->face_b,
                 expected->distance.lower, expected->distance.value, expected->distance.upper,
                 expected->sphere_a, expected->sphere_b, expected->face_a, expected->face_b);
    ++compared_gaps;
    compared_zeros += expected->distance.value == 0.0 ? 1u : 0u;
}

static void assert_overlap(const carom_packing_overlap *o, const carom_packing_overlap *expected) {
    ++compared_overlaps;
    apart_overlaps += expected->relation == CAROM_RELATION_APART ? 1u : 0u;
    if (memcmp(o, expected, sizeof(*o)) == 0) return;
    fail_msg("relation %d %d, volume %.17g %.17g, lower %.17g %.17g, upper %.17g %.17g, force "
             "%.17g %.17g, torque %.17g %.17g, pairs %llu %llu, inner %llu %llu, flagged %llu %llu "
             "and %llu %llu",
             o->relation, expected->relation, o->volume.value, expected->volume.value,
             o->volume.lower, expected->volume.lower, o->volume.upper, expected->volume.upper,
             o->force.x, expected->force.x, o->torque.x, expected->torque.x,
             (unsigned long long)o->pairs, (unsigned long long)expected->pairs,
             (unsigned long long)o->inner_pairs, (unsigned long long)expected->inner_pairs,
             (unsigned long long)o->flagged_a, (unsigned long long)expected->flagged_a,
             (unsigned long long)o->flagged_b, (unsigned long long)expected->flagged_b);
}

/* Compares a query's answers. */
static void assert_result(const carom_tree_result *found, const carom_tree_result *expected) {
    assert_overlap(&found->overlap, &expected->overlap);
    assert_int_equal(found->has_gap, expected->has_gap);
    if (expected->has_gap) assert_gap(&found->gap, &expected->gap);
    assert_memory_equal(found, expected, sizeof(*found));
}

/* Queries both for everything. */
static void assert_all_same(const both *a, const carom_pose *pose_a, double scale_a, const both *b,
                            const carom_pose *pose_b, double scale_b) {
    carom_tree_gap found, expected;
    bool meet, meets;
    carom_tree_query_def def = {.scale_a = scale_a, .scale_b = scale_b, .exact_distance = true};
    carom_packing_overlap overlap, expected_overlap;
    carom_tree_result result, expected_result;
    assert_ok(cpu, carom_tree_distance(cpu, a->cpu, pose_a, b->cpu, pose_b, &def, &expected));
    memset(&found, 0xA5, sizeof(found));
    assert_ok(cuda, carom_tree_distance(cuda, a->cuda, pose_a, b->cuda, pose_b, &def, &found));
    assert_gap(&found, &expected);
    assert_ok(cpu, carom_tree_meet(cpu, a->cpu, pose_a, b->cpu, pose_b, &def, &meet));
    assert_ok(cuda, carom_tree_meet(cuda, a->cuda, pose_a, b->cuda, pose_b, &def, &meets));
    assert_int_equal(meets, meet);
    ++compared_meets;
    for (int i = 0; i < 2; ++i) {
        def.skip_limits = i == 1;
        assert_ok(cpu,
                  carom_tree_overlap(cpu, a->cpu, pose_a, b->cpu, pose_b, &def, &expected_overlap));
        memset(&overlap, 0xA5, sizeof(overlap));
        assert_ok(cuda, carom_tree_overlap(cuda, a->cuda, pose_a, b->cuda, pose_b, &def, &overlap));
        assert_overlap(&overlap, &expected_overlap);
    }
    def.skip_limits = false;
    def.narrow_limits = a->octree && b->octree;
    memset(&result, 0xA5, sizeof(result));
    assert_ok(cpu, carom_tree_query(cpu, a->cpu, pose_a, b->cpu, pose_b, &def, &expected_result));
    assert_ok(cuda, carom_tree_query(cuda, a->cuda, pose_a, b->cuda, pose_b, &def, &result));
    assert_result(&result, &expected_result);
}

/* ---- One pose -------------------------------------------------------------------------------- */

static void random_packings_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {61};
    for (int n = 0; n < TEST_CASES(1200); ++n) {
        double size = n % 4 == 0 ? ldexp(1.0, n % 241 - 120) : 1.0;
        carom_packing *pa = packing_random(cpu, &random, 1 + (uint32_t)n % 300, size);
        carom_packing *pb = packing_random(cpu, &random, 1 + (uint32_t)n % 200, size);
        const carom_tree_def def_a = {.packing = pa,
                                      .method = (carom_tree_method)(n % CAROM_TREE_METHOD_COUNT),
                                      .arity = 2 + (uint32_t)n % 15};
        const carom_tree_def def_b = {
            .packing = pb, .method = (carom_tree_method)(n / 3 % CAROM_TREE_METHOD_COUNT)};
        both a = make(&def_a), b = make(&def_b);
        for (int k = 0; k < 4; ++k) {
            carom_pose pose_a = packing_random_pose(&random, k == 2 ? 100.0 * size : 0.0);
            carom_pose pose_b = packing_random_pose(&random, size * ldexp(8.0, k - n % 5));
            double scale_a = k == 2 ? ldexp(1.0, n % 7 - 3) : 0.0;
            double scale_b = k == 1 ? carom_random_between(&random, 0.25, 4.0) : 0.0;
            if (k == 2) pose_b.t = carom_vec_add(pose_b.t, pose_a.t);
            assert_all_same(&a, k == 0 ? NULL : &pose_a, scale_a, &b, &pose_b, scale_b);
        }
        assert_all_same(&a, NULL, 0.0, &a, NULL, 0.0);
        destroy(&a);
        destroy(&b);
        carom_packing_destroy(pa);
        carom_packing_destroy(pb);
    }
}

/* Sizes of 1e-100 and 1e100, far apart in size or position, far from the origin. */
static void extreme_poses_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {62};
    for (int n = 0; n < TEST_CASES(400); ++n) {
        carom_packing *pa = packing_random(cpu, &random, 80, 1.0);
        carom_packing *pb = packing_random(cpu, &random, 80, 1.0);
        both a = make(&(carom_tree_def){.packing = pa}), b = make(&(carom_tree_def){.packing = pb});
        /* up to 2^60 times, and so far that sizes stay below 2^200 */
        double far = ldexp(1.0, n % 60), tiny = ldexp(1.0, -180), huge = ldexp(1.0, 180);
        carom_pose pose_a = packing_random_pose(&random, far), pose_b, there, away;
        pose_b = packing_random_pose(&random, 1.0);
        there = packing_random_pose(&random, 3e-53);
        away = packing_random_pose(&random, 3e54);
        pose_b.t = carom_vec_add(pose_b.t, pose_a.t);
        assert_all_same(&a, &pose_a, 0.0, &b, &pose_b, 0.0);
        assert_all_same(&a, &pose_b, 1.0 / far, &b, NULL, 0.0);
        assert_all_same(&a, NULL, 0.0, &b, &pose_b, far);
        assert_all_same(&a, NULL, tiny, &b, &there, tiny);
        assert_all_same(&a, NULL, huge, &b, &away, huge);
        assert_all_same(&a, &away, tiny, &b, NULL, 1.0);
        assert_all_same(&a, &pose_a, 1e-50, &b, &away, 1e50);
        destroy(&a);
        destroy(&b);
        carom_packing_destroy(pa);
        carom_packing_destroy(pb);
    }
}

#define SHAPES 5u

static void make_shapes(both all[SHAPES], bool with_mesh) {
    all[0] = make_shape(CAROM_SHAPE_TORUS, 24, 600, with_mesh);
    all[1] = make_shape(CAROM_SHAPE_KNOT, 48, 400, with_mesh);
    all[2] = make_shape(CAROM_SHAPE_CONE, 0, 100, with_mesh);
    all[3] = make_shape(CAROM_SHAPE_BOX, 0, 30, with_mesh);   /* quads */
    all[4] = make_shape(CAROM_SHAPE_GLOBE, 0, 10, with_mesh); /* one leaf */
}

/* Apart, near, touching, deep, one in the other, and of sizes far apart. */
static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {63};
    static const double scales[] = {0.0, 0.05, 1e-3, 20.0, 1e-30};
    for (int with_mesh = 0; with_mesh < 2; ++with_mesh) {
        both all[SHAPES];
        make_shapes(all, with_mesh != 0);
        for (uint32_t i = 0; i < SHAPES; ++i)
            for (uint32_t j = 0; j < SHAPES; ++j) {
                assert_all_same(&all[i], NULL, 0.0, &all[j], NULL, 0.0);
                for (int k = 0; k < TEST_CASES(200); ++k) {
                    uint32_t n = SHAPES * i + j + (uint32_t)k;
                    double far = n % 4 == 0 ? 20.0 : n % 4 == 1 ? 1e6 : 3.0;
                    carom_pose pose_a = packing_random_pose(&random, k % 2),
                               pose_b = packing_random_pose(&random, far);
                    double scale = scales[n / 2 % COUNT_OF(scales)];
                    assert_all_same(&all[i], &pose_a, 0.0, &all[j], &pose_b, scale);
                    if (scale == 0.0) continue;
                    pose_b = packing_random_pose(&random, 0.5);
                    assert_all_same(&all[i], NULL, 0.0, &all[j], &pose_b, scale);
                }
            }
        for (uint32_t i = 0; i < SHAPES; ++i) destroy(&all[i]);
    }
}

/* Lattices: very many pairs are at the least gap, and faces touch. */
static void ties_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    both box = make_shape(CAROM_SHAPE_BOX, 0, 200, true), alone;
    alone = make_shape(CAROM_SHAPE_BOX, 0, 200, false);
    for (int n = 0; n < TEST_CASES(64); ++n) {
        const double step = 0.25;
        carom_pose pose = {.t = {step * (n % 16), step * (n / 4 % 4), step * (n % 3)}};
        if (n % 5 == 4) pose.q = (carom_quat){0.0, 0.0, 0.0, 1.0};
        assert_all_same(&box, NULL, 0.0, &box, &pose, 0.0);
        assert_all_same(&alone, NULL, 0.0, &alone, &pose, 0.0);
        assert_all_same(&box, NULL, 0.0, &alone, &pose, 0.0);
    }
    destroy(&box);
    destroy(&alone);
}

/* Spheres of one size around one point each: every pair of the two is about as near, so that lists
 * outgrow their first sizes. */
static void dense_inputs_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { SPHERES = 700 };
    static carom_packing_sphere spheres[SPHERES];
    carom_random random = {64};
    for (uint32_t i = 0; i < SPHERES; ++i) {
        carom_packing_sphere *s = &spheres[i];
        double far = 1e-9;
        s->centre = carom_vec(carom_random_between(&random, -far, far),
                              carom_random_between(&random, -far, far),
                              carom_random_between(&random, -far, far));
        s->radius = 0.5;
        s->secondary = 0.55;
        s->cover = 0.6;
        s->void_volume = 0.5;
        s->face = i;
    }
    carom_packing *packing = packing_of_spheres(cpu, spheres, SPHERES, 8.0);
    both dense = make(&(carom_tree_def){.packing = packing});
    const carom_pose beside = {.t = {1.5, 0.0, 0.0}}, near = {.t = {1.1, 0.0, 0.0}};
    assert_all_same(&dense, NULL, 0.0, &dense, NULL, 0.0);
    assert_all_same(&dense, NULL, 0.0, &dense, &beside, 0.0);
    assert_all_same(&dense, NULL, 0.0, &dense, &near, 0.0);
    destroy(&dense);
    carom_packing_destroy(packing);
}

/* ---- Many pairs, hints ----------------------------------------------------------------------- */

#define PAIRS 60u

static void batches_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static carom_tree_pair of_cpu[PAIRS], of_cuda[PAIRS];
    static carom_tree_gap expected[PAIRS], found[PAIRS];
    static carom_packing_overlap overlaps[PAIRS], expected_overlaps[PAIRS];
    static carom_tree_result results[PAIRS], expected_results[PAIRS];
    static carom_tree_hint hints[PAIRS];
    const carom_tree_query_def def = {.exact_distance = true};
    carom_random random = {65};
    both all[2 * SHAPES];
    make_shapes(all, false);
    make_shapes(all + SHAPES, true);
    for (int n = 0; n < TEST_CASES(120); ++n) {
        for (uint32_t i = 0; i < PAIRS; ++i) {
            const both *a = &all[test_below(&random, 2 * SHAPES)];
            const both *b = &all[test_below(&random, 2 * SHAPES)];
            of_cpu[i] = (carom_tree_pair){.a = a->cpu,
                                          .b = b->cpu,
                                          .pose_a = packing_random_pose(&random, 0.5),
                                          .pose_b = packing_random_pose(&random, 3.0),
                                          .scale_b = i % 3 == 0 ? 0.5 : 0.0};
            of_cuda[i] = of_cpu[i];
            of_cuda[i].a = a->cuda;
            of_cuda[i].b = b->cuda;
            /* from other poses and other trees: they save nothing, and change nothing */
            of_cuda[i].hint = i % 2 == 0 ? &hints[i] : NULL;
        }
        memset(found, 0xA5, sizeof(found));
        assert_ok(cpu, carom_tree_distance_batch(cpu, of_cpu, PAIRS, &def, expected));
        assert_ok(cuda, carom_tree_distance_batch(cuda, of_cuda, PAIRS, &def, found));
        for (uint32_t i = 0; i < PAIRS; ++i) assert_gap(&found[i], &expected[i]);
        assert_ok(cpu, carom_tree_overlap_batch(cpu, of_cpu, PAIRS, &def, expected_overlaps));
        assert_ok(cuda, carom_tree_overlap_batch(cuda, of_cuda, PAIRS, &def, overlaps));
        for (uint32_t i = 0; i < PAIRS; ++i) assert_overlap(&overlaps[i], &expected_overlaps[i]);
        assert_ok(cpu, carom_tree_query_batch(cpu, of_cpu, PAIRS, &def, expected_results));
        assert_ok(cuda, carom_tree_query_batch(cuda, of_cuda, PAIRS, &def, results));
        for (uint32_t i = 0; i < PAIRS; ++i) assert_result(&results[i], &expected_results[i]);
    }
    of_cuda[5].pose_b.t.x = NAN;
    assert_fails(cuda, carom_tree_distance_batch(cuda, of_cuda, 10, &def, found), CAROM_BAD_INPUT,
                 "pair 5");
    of_cuda[4].a = of_cpu[4].a;
    assert_fails(cuda, carom_tree_distance_batch(cuda, of_cuda, 10, &def, found), CAROM_UNSUPPORTED,
                 "made on cpu");
    for (uint32_t i = 0; i < 2 * SHAPES; ++i) destroy(&all[i]);
}

/* Along a path, each query with what the last one learned; the hint then serves the CPU. */
static void hints_change_nothing(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {66};
    for (int with_mesh = 0; with_mesh < 2; ++with_mesh) {
        both a = make_shape(CAROM_SHAPE_TORUS, 24, 500, with_mesh != 0);
        both b = make_shape(CAROM_SHAPE_KNOT, 48, 400, with_mesh != 0);
        carom_tree_hint hint = {{0}};
        carom_pose pose = packing_random_pose(&random, 0.0), turned;
        for (int n = 0; n < TEST_CASES(400); ++n) {
            double way = n % 100;
            carom_tree_gap found, expected, alone;
            carom_tree_query_def def = {.exact_distance = true}, hinted = def;
            hinted.hint = &hint;
            pose.t = carom_vec(4.0 - 0.1 * way, 0.02 * way, 0.0);
            turned = n % 7 == 6 ? packing_random_pose(&random, 3.0) : pose;
            assert_ok(cpu, carom_tree_distance(cpu, a.cpu, NULL, b.cpu, &turned, &def, &expected));
            assert_ok(cuda,
                      carom_tree_distance(cuda, a.cuda, NULL, b.cuda, &turned, &hinted, &found));
            assert_gap(&found, &expected);
            hinted.exact_distance = n % 2 == 0;
            assert_ok(cpu, carom_tree_distance(cpu, a.cpu, NULL, b.cpu, &turned, &hinted, &alone));
            if (hinted.exact_distance || with_mesh == 0) assert_gap(&alone, &expected);
        }
        destroy(&a);
        destroy(&b);
    }
}

/* ---- Files and updates ----------------------------------------------------------------------- */

static void files_and_updates_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {67};
    both a = make_shape(CAROM_SHAPE_TORUS, 24, 300, true), read = {0};
    carom_bytes bytes = {0}, again = {0};
    carom_tree_info info, info_cpu;
    assert_ok(cuda, carom_tree_save_memory(cuda, a.cuda, 0, &bytes));
    assert_ok(cpu, carom_tree_save_memory(cpu, a.cpu, 0, &again));
    assert_int_equal(bytes.count, again.count);
    assert_memory_equal(bytes.data, again.data, bytes.count);
    assert_ok(cuda, carom_tree_load_memory(cuda, bytes.data, bytes.count, 0, NULL, &read.cuda));
    assert_ok(cpu, carom_tree_load_memory(cpu, bytes.data, bytes.count, 0, NULL, &read.cpu));
    assert_ok(cuda, carom_tree_get_info(read.cuda, &info));
    assert_ok(cpu, carom_tree_get_info(read.cpu, &info_cpu));
    assert_true(info.bytes > info_cpu.bytes);
    for (int n = 0; n < TEST_CASES(64); ++n) {
        carom_pose pose = packing_random_pose(&random, 3.0);
        assert_all_same(&a, NULL, 0.0, &read, &pose, 0.0);
        carom_packing *packing = packing_random(cpu, &random, 200, 1.0);
        assert_ok(cpu, carom_tree_update(cpu, read.cpu, packing, NULL));
        assert_ok(cuda, carom_tree_update(cuda, read.cuda, packing, NULL));
        assert_all_same(&a, NULL, 0.0, &read, &pose, 0.0);
        assert_all_same(&read, NULL, 0.0, &read, &pose, 0.0);
        assert_fails(cuda, carom_tree_update(cuda, read.cpu, packing, NULL), CAROM_UNSUPPORTED,
                     "made on cpu");
        carom_packing_destroy(packing);
    }
    carom_bytes_free(&bytes);
    carom_bytes_free(&again);
    destroy(&a);
    destroy(&read);
}

/* ---- Device memory --------------------------------------------------------------------------- */

static void *on_device(const void *from, uint64_t bytes) {
    void *memory;
    assert_ok(cuda, carom_cuda_allocate(cuda, bytes, &memory));
    if (from != NULL) assert_ok(cuda, carom_cuda_write(cuda, memory, from, bytes));
    return memory;
}

#define POSES 40u

/* Compares what a run left in device memory. */
static void assert_frame(const both *a, const both *b, const carom_pose *poses,
                         const carom_tree_query_def *def, const carom_tree_gap *device_gaps,
                         const bool *device_meet, const carom_packing_overlap *device_overlaps) {
    static carom_packing_overlap overlaps[POSES], overlap;
    static carom_tree_gap found[POSES], expected;
    static bool meets[POSES], meet;
    assert_ok(cuda, carom_cuda_read(cuda, found, device_gaps, sizeof(found)));
    assert_ok(cuda, carom_cuda_read(cuda, meets, device_meet, sizeof(meets)));
    assert_ok(cuda, carom_cuda_read(cuda, overlaps, device_overlaps, sizeof(overlaps)));
    for (uint32_t i = 0; i < POSES; ++i) {
        assert_ok(cpu, carom_tree_distance(cpu, a->cpu, &poses[i], b->cpu, NULL, def, &expected));
        assert_gap(&found[i], &expected);
        assert_ok(cpu, carom_tree_meet(cpu, a->cpu, &poses[i], b->cpu, NULL, def, &meet));
        assert_int_equal(meets[i], meet);
        ++compared_meets;
        assert_ok(cpu, carom_tree_overlap(cpu, a->cpu, &poses[i], b->cpu, NULL, def, &overlap));
        assert_overlap(&overlaps[i], &overlap);
    }
}

/* A frame that is run for new poses, and after an update of a tree. */
static void frames_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static carom_pose poses[POSES];
    const carom_tree_query_def def = {.exact_distance = true, .scale_a = 0.75};
    carom_random random = {68};
    carom_pose *device_poses = on_device(NULL, sizeof(poses));
    carom_tree_gap *gaps = on_device(NULL, POSES * sizeof(*gaps));
    bool *meet = on_device(NULL, POSES * sizeof(*meet));
    carom_packing_overlap *overlaps = on_device(NULL, POSES * sizeof(*overlaps));
    for (int with_mesh = 0; with_mesh < 2; ++with_mesh) {
        both a = make_shape(CAROM_SHAPE_TORUS, 24, 400, with_mesh != 0);
        both b = make_shape(CAROM_SHAPE_KNOT, 48, 300, with_mesh != 0);
        carom_packing *packing = packing_random(cpu, &random, 300, 1.0);
        carom_cuda_frame *frame;
        assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_tree_distance(cuda, a.cuda, device_poses, b.cuda, NULL, POSES,
                                                 &def, gaps));
        assert_ok(cuda, carom_cuda_tree_meet(cuda, a.cuda, device_poses, b.cuda, NULL, POSES, &def,
                                             meet));
        assert_ok(cuda, carom_cuda_tree_overlap(cuda, a.cuda, device_poses, b.cuda, NULL, POSES,
                                                &def, overlaps));
        assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
        for (int n = 0; n < TEST_CASES(40) + 1; ++n) {
            if (n == 1 && with_mesh == 0) { /* the frame sees it */
                assert_ok(cpu, carom_tree_update(cpu, b.cpu, packing, NULL));
                assert_ok(cuda, carom_tree_update(cuda, b.cuda, packing, NULL));
            }
            for (uint32_t i = 0; i < POSES; ++i) poses[i] = packing_random_pose(&random, 3.0);
            assert_ok(cuda, carom_cuda_write(cuda, device_poses, poses, sizeof(poses)));
            assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
            assert_ok(cuda, carom_cuda_finish(cuda));
            assert_frame(&a, &b, poses, &def, gaps, meet, overlaps);
        }
        carom_cuda_frame_destroy(frame);
        carom_packing_destroy(packing);
        destroy(&a);
        destroy(&b);
    }
    carom_cuda_release(cuda, device_poses);
    carom_cuda_release(cuda, gaps);
    carom_cuda_release(cuda, meet);
    carom_cuda_release(cuda, overlaps);
}

/* ---- What is wrong --------------------------------------------------------------------------- */

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    both a = make_shape(CAROM_SHAPE_BOX, 0, 30, true),
         c = make_shape(CAROM_SHAPE_BOX, 0, 30, false);
    carom_tree_gap gap;
    carom_numbers faces_a = {0}, faces_b = {0};
    carom_tree_query_def def = {0};
    assert_fails(cuda, carom_tree_distance(cuda, a.cuda, NULL, a.cuda, NULL, &def, &gap),
                 CAROM_UNSUPPORTED, "exact_distance");
    def.exact_distance = true;
    def.work_budget = 10;
    assert_fails(cuda, carom_tree_distance(cuda, a.cuda, NULL, a.cuda, NULL, &def, &gap),
                 CAROM_UNSUPPORTED, "budget");
    def.work_budget = 0;
    assert_fails(cuda, carom_tree_distance(cuda, a.cpu, NULL, a.cuda, NULL, &def, &gap),
                 CAROM_UNSUPPORTED, "made on cpu");
    assert_fails(cpu, carom_tree_distance(cpu, a.cpu, NULL, a.cuda, NULL, &def, &gap),
                 CAROM_UNSUPPORTED, "made on cuda");
    assert_fails(cuda, carom_tree_faces(cuda, a.cuda, NULL, a.cuda, NULL, NULL, &faces_a, &faces_b),
                 CAROM_UNSUPPORTED, "faces");
    carom_packing_overlap overlap;
    carom_tree_result result;
    def.tolerance = 0.1;
    assert_fails(cuda, carom_tree_overlap(cuda, a.cuda, NULL, a.cuda, NULL, &def, &overlap),
                 CAROM_UNSUPPORTED, "tolerance");
    def.tolerance = 0.0;
    def.narrow_limits = true;
    assert_fails(cuda, carom_tree_query(cuda, a.cuda, NULL, c.cuda, NULL, &def, &result),
                 CAROM_UNSUPPORTED, "narrow_limits");
    assert_fails(cuda, carom_cuda_tree_overlap(cuda, a.cuda, NULL, a.cuda, NULL, 1, &def, &overlap),
                 CAROM_UNSUPPORTED, "narrow_limits");
    def.narrow_limits = false;
    def.flip = true;
    assert_fails(cuda, carom_tree_overlap(cuda, a.cuda, NULL, a.cuda, NULL, &def, &overlap),
                 CAROM_UNSUPPORTED, "flip");
    carom_pose poses[3] = {{.t = {1.0, 0.0, 0.0}}, {.t = {0.0, NAN, 0.0}}, {.t = {2.0, 0.0, 0.0}}};
    carom_pose *device_poses = on_device(poses, sizeof(poses));
    carom_tree_gap *gaps = on_device(NULL, 3 * sizeof(*gaps));
    assert_ok(cuda,
              carom_cuda_tree_distance(cuda, a.cuda, NULL, a.cuda, device_poses, 3, &def, gaps));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "pose 1");
    assert_fails(cuda,
                 carom_cuda_tree_distance(cuda, a.cuda, NULL, a.cuda, device_poses, 3, NULL, gaps),
                 CAROM_UNSUPPORTED, "exact_distance");
    carom_cuda_release(cuda, device_poses);
    carom_cuda_release(cuda, gaps);
    destroy(&a);
    destroy(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_packings_are_the_same),
        cmocka_unit_test(extreme_poses_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(ties_are_the_same),
        cmocka_unit_test(dense_inputs_are_the_same),
        cmocka_unit_test(batches_are_the_same),
        cmocka_unit_test(hints_change_nothing),
        cmocka_unit_test(files_and_updates_are_the_same),
        cmocka_unit_test(frames_are_the_same),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, report);
}
