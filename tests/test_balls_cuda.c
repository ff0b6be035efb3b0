/* SPDX-License-Identifier: MIT */
/* Balls on the GPU give the CPU's overlaps and pairs, byte for byte: random packings of all hashes,
 * scales and poses, extreme poses, packings of shapes, updates, many queries at once; from host
 * memory, from device memory and as recorded frames. Skipped where there is no device. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "geom/vec.h"
#include "tests/support/campaign.h"
#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

static uint64_t compared_overlaps, compared_pairs;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu overlaps and %llu lists of pairs are those of the CPU\n",
                      (unsigned long long)compared_overlaps, (unsigned long long)compared_pairs);
    return tear_down(state);
}

/* ---- Both backends --------------------------------------------------------------------------- */

typedef struct both {
    carom_balls *cpu, *cuda;
} both;

static both make(const carom_packing *packing, const carom_grid_def *grid) {
    both b;
    carom_balls_def def = {.packing = packing};
    if (grid != NULL) def.grid = *grid;
    assert_ok(cuda, carom_balls_create(cuda, &def, &b.cuda));
    assert_ok(cpu, carom_balls_create(cpu, &def, &b.cpu));
    return b;
}

static void destroy(both *b) {
    carom_balls_destroy(b->cpu);
    carom_balls_destroy(b->cuda);
}

static void assert_same(const carom_packing_overlap *expected, const carom_packing_overlap *o) {
    ++compared_overlaps;
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

static void assert_same_pairs(const carom_pairs *expected, const carom_pairs *found) {
    ++compared_pairs;
    assert_int_equal(found->count, expected->count);
    if (expected->count != 0)
        assert_memory_equal(found->data, expected->data, expected->count * sizeof(*found->data));
}

/* Queries both for everything. */
static void assert_all_same(const both *a, const carom_pose *pose_a, double scale_a, const both *b,
                            const carom_pose *pose_b, double scale_b) {
    static carom_pairs expected_pairs, pairs;
    carom_packing_overlap expected, o;
    carom_balls_query_def def = {.scale_a = scale_a, .scale_b = scale_b};
    for (int i = 0; i < 2; ++i) {
        def.skip_limits = i == 1;
        assert_ok(cpu, carom_balls_overlap(cpu, a->cpu, pose_a, b->cpu, pose_b, &def, &expected));
        memset(&o, 0xA5, sizeof(o));
        assert_ok(cuda, carom_balls_overlap(cuda, a->cuda, pose_a, b->cuda, pose_b, &def, &o));
        assert_same(&expected, &o);
    }
    for (int k = 0; k < CAROM_BALLS_PAIR_KIND_COUNT; ++k) {
        carom_balls_pair_kind kind = (carom_balls_pair_kind)k;
        uint64_t count;
        bool any;
        assert_ok(cpu, carom_balls_pairs(cpu, a->cpu, pose_a, b->cpu, pose_b, kind, &def,
                                         &expected_pairs));
        assert_ok(cuda,
                  carom_balls_pairs(cuda, a->cuda, pose_a, b->cuda, pose_b, kind, &def, &pairs));
        assert_same_pairs(&expected_pairs, &pairs);
        assert_ok(cuda,
                  carom_balls_count(cuda, a->cuda, pose_a, b->cuda, pose_b, kind, &def, &count));
        assert_int_equal(count, expected_pairs.count);
        assert_ok(cuda, carom_balls_meet(cuda, a->cuda, pose_a, b->cuda, pose_b, kind, &def, &any));
        assert_int_equal(any, expected_pairs.count != 0);
    }
}

/* ---- Random packings ------------------------------------------------------------------------- */

static void random_packings_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {41};
    for (int n = 0; n < TEST_CASES(600); ++n) {
        double size = n % 4 == 0 ? ldexp(1.0, n % 301 - 150) : 1.0;
        carom_packing *pa = packing_random(cpu, &random, 1 + (uint32_t)n % 300, size);
        carom_packing *pb = packing_random(cpu, &random, 1 + (uint32_t)n % 200, size);
        carom_grid_def grid = {.hash = (carom_grid_hash)(n % CAROM_GRID_HASH_PERFECT),
                               .buckets = n % 3 == 0 ? 1u + (uint32_t)n % 16 : 0,
                               .cell_scale = n % 5 == 0 ? ldexp(0.5, n / 5 % 5) : 0.0};
        both a = make(pa, n % 7 == 0 ? NULL : &grid), b = make(pb, &grid);
        for (int k = 0; k < 3; ++k) {
            carom_pose pose_a = packing_random_pose(&random, k == 2 ? 100.0 * size : 0.0);
            carom_pose pose_b = packing_random_pose(&random, size * ldexp(1.0, k - n % 9));
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

/* Far apart in size or position: floats cannot tell. */
static void extreme_poses_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {42};
    for (int n = 0; n < TEST_CASES(200); ++n) {
        carom_packing *pa = packing_random(cpu, &random, 80, 1.0);
        carom_packing *pb = packing_random(cpu, &random, 80, 1.0);
        both a = make(pa, NULL), b = make(pb, NULL);
        double far = ldexp(1.0, n % 60);
        carom_pose pose_a = packing_random_pose(&random, far);
        carom_pose pose_b = packing_random_pose(&random, 1.0);
        pose_b.t = carom_vec_add(pose_b.t, pose_a.t);
        assert_all_same(&a, &pose_a, 0.0, &b, &pose_b, 0.0);
        assert_all_same(&a, &pose_b, 1.0 / far, &b, NULL, 0.0);
        assert_all_same(&a, NULL, 0.0, &b, &pose_b, far);
        destroy(&a);
        destroy(&b);
        carom_packing_destroy(pa);
        carom_packing_destroy(pb);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_BOX, CAROM_SHAPE_KNOT};
    carom_random random = {43};
    both all[COUNT_OF(shapes)];
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
        carom_packing *packing = packing_of_shape(cpu, shapes[i], 24, 3000, NULL);
        all[i] = make(packing, NULL);
        carom_packing_destroy(packing);
    }
    for (size_t i = 0; i < COUNT_OF(shapes); ++i)
        for (size_t j = 0; j < COUNT_OF(shapes); ++j) {
            assert_all_same(&all[i], NULL, 0.0, &all[j], NULL, 0.0);
            for (int k = 0; k < TEST_CASES(20); ++k) {
                carom_pose pose_a = packing_random_pose(&random, 0.3);
                carom_pose pose_b = packing_random_pose(&random, 0.1 * k);
                assert_all_same(&all[i], &pose_a, 0.0, &all[j], &pose_b, k % 3 == 0 ? 0.7 : 0.0);
            }
        }
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) destroy(&all[i]);
}

/* A packing against itself in very many poses, one frame each: the estimate alone, and bounds for
 * some. */
static void many_poses_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    int poses = campaign_is_long() ? 10000 : TEST_CASES(200);
    uint64_t overlapping = 0;
    carom_random random = {50};
    carom_packing *packing =
        packing_of_shape(cpu, CAROM_SHAPE_TORUS, 48, campaign_is_long() ? 20000 : 3000, NULL);
    both b = make(packing, NULL);
    carom_packing_overlap expected, found;
    for (int i = 0; i < poses; ++i) {
        carom_pose pose = packing_random_pose(&random, 1.0);
        carom_balls_query_def def = {.skip_limits = i % 16 != 0};
        assert_ok(cpu, carom_balls_overlap(cpu, b.cpu, NULL, b.cpu, &pose, &def, &expected));
        assert_ok(cuda, carom_balls_overlap(cuda, b.cuda, NULL, b.cuda, &pose, &def, &found));
        assert_same(&expected, &found);
        overlapping += expected.volume.value > 0.0 ? 1u : 0u;
    }
    print_message("%d poses, %llu of them with an overlap\n", poses,
                  (unsigned long long)overlapping);
    assert_true(overlapping > 0);
    destroy(&b);
    carom_packing_destroy(packing);
}

/* Balls that all meet: lists that outgrow their first sizes, very many terms of one lane. */
static void dense_inputs_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { SPHERES = 2500 };
    static carom_packing_sphere spheres[SPHERES];
    carom_random random = {44};
    for (uint32_t i = 0; i < SPHERES; ++i) {
        carom_packing_sphere *s = &spheres[i];
        s->centre = carom_vec(carom_random_between(&random, -0.1, 0.1),
                              carom_random_between(&random, -0.1, 0.1),
                              carom_random_between(&random, -0.1, 0.1));
        s->radius = carom_random_between(&random, 0.5, 1.0);
        s->secondary = 1.1 * s->radius;
        s->cover = 1.3 * s->radius;
        s->void_volume = 0.5;
        s->face = i;
    }
    carom_packing *packing = packing_of_spheres(cpu, spheres, SPHERES, 8.0);
    both dense = make(packing, NULL);
    assert_all_same(&dense, NULL, 0.0, &dense, NULL, 0.0);
    destroy(&dense);
    carom_packing_destroy(packing);
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void updates_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {45};
    carom_packing *first = packing_random(cpu, &random, 100, 1.0);
    both b = make(first, NULL);
    for (int n = 0; n < TEST_CASES(100); ++n) {
        carom_packing *next = packing_random(cpu, &random, 1 + (uint32_t)n * 7 % 900, 1.0);
        carom_packing_spheres spheres = {0};
        assert_ok(cpu, carom_packing_list_spheres(cpu, next, &spheres));
        assert_ok(cpu, carom_balls_update(cpu, b.cpu, spheres.data, spheres.count, 8.0));
        assert_ok(cuda, carom_balls_update(cuda, b.cuda, spheres.data, spheres.count, 8.0));
        carom_pose pose = packing_random_pose(&random, 0.5);
        assert_all_same(&b, NULL, 0.0, &b, &pose, 0.0);
        double cover = spheres.data[0].cover;
        spheres.data[0].cover = NAN; /* a failure changes nothing */
        assert_fails(cuda, carom_balls_update(cuda, b.cuda, spheres.data, spheres.count, 8.0),
                     CAROM_BAD_INPUT, "sphere 0");
        spheres.data[0].cover = cover;
        assert_all_same(&b, NULL, 0.0, &b, &pose, 0.0);
        carom_packing_spheres_free(&spheres);
        carom_packing_destroy(next);
    }
    destroy(&b);
    carom_packing_destroy(first);
}

/* ---- Many queries ---------------------------------------------------------------------------- */

static void many_queries_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { SETS = 8, PAIRS = 1000 };
    static carom_balls_pair of_cpu[PAIRS], of_cuda[PAIRS];
    static carom_packing_overlap expected[PAIRS], found[PAIRS];
    carom_random random = {46};
    both sets[SETS];
    for (int i = 0; i < SETS; ++i) {
        carom_packing *packing = packing_random(cpu, &random, 300, 1.0);
        sets[i] = make(packing, NULL);
        carom_packing_destroy(packing);
    }
    for (int i = 0; i < PAIRS; ++i) {
        both a = sets[carom_random_next(&random) % SETS];
        both b = sets[carom_random_next(&random) % SETS];
        of_cpu[i] = (carom_balls_pair){.a = a.cpu,
                                       .b = b.cpu,
                                       .pose_a = packing_random_pose(&random, 0.5),
                                       .pose_b = packing_random_pose(&random, 1.0),
                                       .scale_b = i % 3 == 0 ? 0.5 : 0.0};
        of_cuda[i] = of_cpu[i];
        of_cuda[i].a = a.cuda;
        of_cuda[i].b = b.cuda;
    }
    for (int count = 1; count <= PAIRS; count = count * 3 + 1)
        for (int i = 0; i < 2; ++i) {
            uint64_t some = (uint64_t)count;
            const carom_balls_query_def def = {.skip_limits = i == 1};
            assert_ok(cpu, carom_balls_overlap_batch(cpu, of_cpu, some, &def, expected));
            assert_ok(cuda, carom_balls_overlap_batch(cuda, of_cuda, some, &def, found));
            for (int k = 0; k < count; ++k) assert_same(&expected[k], &found[k]);
        }
    of_cuda[5].pose_b.t.x = NAN;
    assert_fails(cuda, carom_balls_overlap_batch(cuda, of_cuda, 10, NULL, found), CAROM_BAD_INPUT,
                 "pair 5");
    of_cuda[5].a = of_cpu[5].a;
    assert_fails(cuda, carom_balls_overlap_batch(cuda, of_cuda, 10, NULL, found), CAROM_UNSUPPORTED,
                 "made on cpu");
    for (int i = 0; i < SETS; ++i) destroy(&sets[i]);
}

/* ---- Device memory and frames ---------------------------------------------------------------- */

/* Poses and results in device memory, one at a time and many, queued and as a frame; the frame also
 * after an update of the balls. */
static void frames_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { POSES = 50 };
    carom_pose poses[POSES];
    carom_packing_overlap expected, found[POSES];
    carom_cuda_frame *frame;
    carom_cuda_pairs sorted = {0}, any = {0};
    carom_pairs expected_pairs = {0};
    void *of_poses, *of_overlaps;
    carom_random random = {47};
    carom_packing *torus = packing_of_shape(cpu, CAROM_SHAPE_TORUS, 24, 2000, NULL);
    carom_packing *knot = packing_of_shape(cpu, CAROM_SHAPE_KNOT, 24, 1500, NULL);
    both a = make(torus, NULL), b = make(knot, NULL);
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(poses), &of_poses));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(found), &of_overlaps));
    for (int bounds = 0; bounds < 2; ++bounds) {
        carom_balls_query_def def = {.skip_limits = bounds == 0};
        assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_balls_overlap(cuda, a.cuda, NULL, b.cuda, of_poses, 1, &def,
                                                 of_overlaps));
        assert_ok(cuda, carom_cuda_balls_pairs(cuda, a.cuda, of_poses, b.cuda, NULL,
                                               CAROM_BALLS_PAIR_KIND_INNER, CAROM_CUDA_ORDER_SORTED,
                                               NULL, &sorted));
        assert_ok(cuda, carom_cuda_balls_pairs(cuda, a.cuda, of_poses, b.cuda, NULL,
                                               CAROM_BALLS_PAIR_KIND_INNER, CAROM_CUDA_ORDER_ANY,
                                               NULL, &any));
        assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
        for (int i = 0; i < TEST_CASES(40); ++i) {
            if (i == 20) { /* the frame sees it */
                carom_packing_spheres spheres = {0};
                assert_ok(cpu,
                          carom_packing_list_spheres(cpu, bounds == 0 ? torus : knot, &spheres));
                assert_ok(cpu, carom_balls_update(cpu, b.cpu, spheres.data, spheres.count, 1.0));
                assert_ok(cuda, carom_balls_update(cuda, b.cuda, spheres.data, spheres.count, 1.0));
                carom_packing_spheres_free(&spheres);
            }
            poses[0] = packing_random_pose(&random, 0.5);
            assert_ok(cuda, carom_cuda_write(cuda, of_poses, poses, sizeof(*poses)));
            assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
            assert_ok(cuda, carom_cuda_finish(cuda));
            assert_ok(cuda, carom_cuda_read(cuda, found, of_overlaps, sizeof(*found)));
            assert_ok(cpu, carom_balls_overlap(cpu, a.cpu, NULL, b.cpu, poses, &def, &expected));
            assert_same(&expected, &found[0]);
            assert_ok(cpu, carom_balls_pairs(cpu, a.cpu, poses, b.cpu, NULL,
                                             CAROM_BALLS_PAIR_KIND_INNER, NULL, &expected_pairs));
            assert_int_equal(sorted.count, expected_pairs.count);
            assert_int_equal(any.count, expected_pairs.count);
            carom_pair *read = malloc((sorted.count + 1) * sizeof(*read));
            assert_non_null(read);
            assert_ok(cuda, carom_cuda_read(cuda, read, sorted.data, sorted.count * sizeof(*read)));
            assert_memory_equal(read, expected_pairs.data, sorted.count * sizeof(*read));
            free(read);
        }
        carom_cuda_frame_destroy(frame);
        for (int i = 0; i < POSES; ++i) poses[i] = packing_random_pose(&random, 0.5);
        assert_ok(cuda, carom_cuda_write(cuda, of_poses, poses, sizeof(poses)));
        assert_ok(cuda, carom_cuda_balls_overlap(cuda, a.cuda, of_poses, b.cuda, NULL, POSES, &def,
                                                 of_overlaps));
        assert_ok(cuda, carom_cuda_finish(cuda));
        assert_ok(cuda, carom_cuda_read(cuda, found, of_overlaps, sizeof(found)));
        for (int i = 0; i < POSES; ++i) {
            assert_ok(cpu,
                      carom_balls_overlap(cpu, a.cpu, &poses[i], b.cpu, NULL, &def, &expected));
            assert_same(&expected, &found[i]);
        }
    }
    poses[0].t.y = INFINITY;
    assert_ok(cuda, carom_cuda_write(cuda, of_poses, poses, sizeof(*poses)));
    assert_ok(cuda,
              carom_cuda_balls_overlap(cuda, a.cuda, of_poses, b.cuda, NULL, 2, NULL, of_overlaps));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "1 poses in device memory");
    carom_cuda_release(cuda, of_poses);
    carom_cuda_release(cuda, of_overlaps);
    carom_cuda_pairs_free(cuda, &sorted);
    carom_cuda_pairs_free(cuda, &any);
    carom_pairs_free(&expected_pairs);
    destroy(&a);
    destroy(&b);
    carom_packing_destroy(torus);
    carom_packing_destroy(knot);
}

/* Several sorted searches that are queued before anyone waits. */
static void queued_searches_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { QUEUED = 3 };
    carom_cuda_pairs found[QUEUED] = {{0}};
    carom_pairs expected = {0}, read = {0};
    carom_packing *torus = packing_of_shape(cpu, CAROM_SHAPE_TORUS, 24, 1000, NULL);
    carom_packing *knot = packing_of_shape(cpu, CAROM_SHAPE_KNOT, 24, 800, NULL);
    both a = make(torus, NULL), b = make(knot, NULL);
    for (int i = 0; i < QUEUED; ++i)
        assert_ok(cuda,
                  carom_cuda_balls_pairs(cuda, a.cuda, NULL, b.cuda, NULL, (carom_balls_pair_kind)i,
                                         CAROM_CUDA_ORDER_SORTED, NULL, &found[i]));
    assert_ok(cuda, carom_cuda_finish(cuda));
    for (int i = 0; i < QUEUED; ++i) {
        assert_ok(cpu, carom_balls_pairs(cpu, a.cpu, NULL, b.cpu, NULL, (carom_balls_pair_kind)i,
                                         NULL, &expected));
        read.count = found[i].count;
        read.data = malloc((read.count + 1) * sizeof(*read.data));
        assert_non_null(read.data);
        assert_ok(cuda,
                  carom_cuda_read(cuda, read.data, found[i].data, read.count * sizeof(*read.data)));
        assert_same_pairs(&expected, &read);
        free(read.data);
        carom_cuda_pairs_free(cuda, &found[i]);
    }
    carom_pairs_free(&expected);
    destroy(&a);
    destroy(&b);
    carom_packing_destroy(torus);
    carom_packing_destroy(knot);
}

/* ---- What the GPU cannot do ------------------------------------------------------------------ */

static void the_rest_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {48};
    carom_balls *perfect;
    carom_balls_most most;
    carom_packing_overlap o;
    carom_balls_info info;
    carom_packing *packing = packing_random(cpu, &random, 50, 1.0);
    const carom_balls_def def = {.packing = packing, .grid = {.hash = CAROM_GRID_HASH_PERFECT}};
    both b = make(packing, NULL);
    assert_fails(cuda, carom_balls_create(cuda, &def, &perfect), CAROM_UNSUPPORTED, "perfect");
    assert_null(perfect);
    assert_fails(cuda,
                 carom_balls_bound(cuda, b.cuda, b.cuda, CAROM_BALLS_PAIR_KIND_INNER, NULL, &most),
                 CAROM_UNSUPPORTED, "cuda");
    assert_fails(cpu, carom_balls_overlap(cpu, b.cpu, NULL, b.cuda, NULL, NULL, &o),
                 CAROM_UNSUPPORTED, "made on cuda");
    assert_fails(cuda, carom_balls_overlap(cuda, b.cuda, NULL, b.cpu, NULL, NULL, &o),
                 CAROM_UNSUPPORTED, "made on cpu");
    assert_ok(cuda, carom_balls_get_info(b.cuda, &info));
    assert_true(info.spheres > 0 && info.entries >= info.spheres && info.bytes > 0);
    destroy(&b);
    carom_packing_destroy(packing);
}

static void without_a_device_calls_say_so(void **state) {
    (void)state;
    carom_random random = {49};
    carom_packing_overlap o;
    carom_cuda_pairs pairs = {0};
    carom_balls *balls;
    carom_packing *packing = packing_random(cpu, &random, 50, 1.0);
    const carom_balls_def def = {.packing = packing};
    assert_ok(cpu, carom_balls_create(cpu, &def, &balls));
    assert_fails(cpu, carom_cuda_balls_overlap(cpu, balls, NULL, balls, NULL, 1, NULL, &o),
                 CAROM_UNSUPPORTED, "backend cuda");
    assert_fails(cpu,
                 carom_cuda_balls_pairs(cpu, balls, NULL, balls, NULL, CAROM_BALLS_PAIR_KIND_COVER,
                                        CAROM_CUDA_ORDER_ANY, NULL, &pairs),
                 CAROM_UNSUPPORTED, "backend cuda");
    carom_balls_destroy(balls);
    carom_packing_destroy(packing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_packings_are_the_same),
        cmocka_unit_test(extreme_poses_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(many_poses_are_the_same),
        cmocka_unit_test(dense_inputs_are_the_same),
        cmocka_unit_test(updates_are_the_same),
        cmocka_unit_test(many_queries_are_the_same),
        cmocka_unit_test(frames_are_the_same),
        cmocka_unit_test(queued_searches_are_the_same),
        cmocka_unit_test(the_rest_is_refused),
        cmocka_unit_test(without_a_device_calls_say_so),
    };
    return cmocka_run_group_tests_name("balls_cuda", tests, set_up, report);
}
