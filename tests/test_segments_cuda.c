/* SPDX-License-Identifier: MIT */
/* Where faces meet has the CPU's bytes on the GPU: lattice soups of all scales, polygons, segments,
 * every shape, two soups in poses; pairs that meet, that do not, and repeated ones; pairs and
 * segments in device memory, also in frames. Skipped where there is no device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/both.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

#define MOST_PAIRS 60000u

static carom_pair pairs[MOST_PAIRS];
static carom_soup_segments found, expected;
static uint64_t compared, pairs_seen, on_host;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu segments of %llu pairs are those of the CPU; %llu pairs were decided "
                      "on the host\n",
                      (unsigned long long)compared, (unsigned long long)pairs_seen,
                      (unsigned long long)on_host);
    return tear_down(state);
}

static void assert_same(uint64_t count) {
    carom_work work;
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    for (uint64_t i = 0; i < found.count && i < expected.count; ++i) {
        const carom_soup_segment *x = &found.data[i], *y = &expected.data[i];
        if (memcmp(x, y, sizeof(*x)) == 0) continue;
        fail_msg("segment %llu of faces %u and %u is %d from %.17g %.17g %.17g, not %d of %u and "
                 "%u from %.17g %.17g %.17g",
                 (unsigned long long)i, x->pair.a, x->pair.b, (int)x->kind, x->p.x, x->p.y, x->p.z,
                 (int)y->kind, y->pair.a, y->pair.b, y->p.x, y->p.y, y->p.z);
    }
    assert_int_equal(found.count, expected.count);
    compared += found.count;
    pairs_seen += count;
    on_host += work.undecided;
}

/* Reads segments of the device and compares them with `expected`. */
static void assert_device_segments(const carom_cuda_segments *segments) {
    const uint64_t bytes = segments->count * sizeof(carom_soup_segment);
    assert_int_equal(segments->count, expected.count);
    carom_soup_segment *read = malloc(bytes + 1);
    assert_non_null(read);
    assert_ok(cuda, carom_cuda_read(cuda, read, segments->data, bytes));
    if (bytes != 0) assert_memory_equal(read, expected.data, bytes);
    free(read);
    compared += segments->count;
    on_host += segments->host_items;
}

/* The same pairs in device memory; b NULL: of one soup. */
static void assert_device_same(const both *a, const carom_pose *pose_a, const both *b,
                               const carom_pose *pose_b, uint64_t count) {
    carom_cuda_segments segments = {0};
    void *memory;
    assert_ok(cuda, carom_cuda_allocate(cuda, (count + 1) * sizeof(*pairs), &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, pairs, count * sizeof(*pairs)));
    const carom_cuda_pairs given = {.data = memory, .count = count, .capacity = count};
    if (b == NULL)
        assert_ok(cuda, carom_cuda_soup_self_segments(cuda, a->cuda, &given, &segments));
    else
        assert_ok(cuda, carom_cuda_soup_cross_segments(cuda, a->cuda, pose_a, b->cuda, pose_b,
                                                       &given, &segments));
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_device_segments(&segments);
    carom_cuda_segments_free(cuda, &segments);
    carom_cuda_release(cuda, memory);
}

/* The pairs that are given first, then some of any faces. */
static uint64_t choose_pairs(carom_random *random, const carom_pairs *given, uint64_t faces_a,
                             uint64_t faces_b, uint64_t more) {
    uint64_t count = 0;
    for (; count < given->count && count < MOST_PAIRS / 2; ++count)
        pairs[count] = given->data[count];
    for (uint64_t i = 0; i < more && faces_a != 0 && faces_b != 0 && count < MOST_PAIRS; ++i)
        pairs[count++] = (carom_pair){test_below(random, (uint32_t)faces_a),
                                      test_below(random, (uint32_t)faces_b)};
    return count;
}

static uint64_t faces_of(const both *b) {
    carom_soup_info info;
    carom_soup_get_info(b->cpu, &info);
    return info.faces;
}

static void assert_self_same(carom_random *random, const both *b, uint64_t more) {
    carom_pairs crossed = {0};
    assert_ok(cpu, carom_soup_self_pairs(cpu, b->cpu, &crossed));
    uint64_t count = choose_pairs(random, &crossed, faces_of(b), faces_of(b), more);
    assert_ok(cpu, carom_soup_self_segments(cpu, b->cpu, pairs, count, &expected));
    assert_ok(cuda, carom_soup_self_segments(cuda, b->cuda, pairs, count, &found));
    assert_same(count);
    assert_device_same(b, NULL, NULL, NULL, count);
    carom_pairs_free(&crossed);
}

static void assert_cross_same(carom_random *random, const both *a, const carom_pose *pose_a,
                              const both *b, const carom_pose *pose_b, uint64_t more) {
    carom_pairs crossed = {0};
    assert_ok(cpu, carom_soup_cross_pairs(cpu, a->cpu, pose_a, b->cpu, pose_b, &crossed));
    uint64_t count = choose_pairs(random, &crossed, faces_of(a), faces_of(b), more);
    assert_ok(cpu, carom_soup_cross_segments(cpu, a->cpu, pose_a, b->cpu, pose_b, pairs, count,
                                             &expected));
    assert_ok(cuda, carom_soup_cross_segments(cuda, a->cuda, pose_a, b->cuda, pose_b, pairs, count,
                                              &found));
    assert_same(count);
    assert_device_same(a, pose_a, b, pose_b, count);
    carom_pairs_free(&crossed);
}

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static both_lattice one, two;
    carom_random random = {97};
    for (int i = 0; i < TEST_CASES(1200); ++i) {
        both_lattice_make(&random, i, &one);
        both_lattice_make(&random, i, &two);
        const double scale = one.scale;
        const carom_pose pose = {{1.0, 0.5, -0.25, 0.125}, {0.5 * scale, 0.25 * scale, 0.0}};
        const carom_pose straight = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.5 * scale, scale}};
        both a = both_create(cpu, cuda, &one.def), b = both_create(cpu, cuda, &two.def);
        assert_self_same(&random, &a, 20);
        assert_cross_same(&random, &a, NULL, &b, NULL, 20);
        assert_cross_same(&random, &a, &pose, &b, i % 2 == 0 ? &straight : NULL, 20);
        both_destroy(&a);
        both_destroy(&b);
    }
}

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {98};
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 4; ++variant) {
            const carom_shape_def shape = {.shape = (carom_shape)s,
                                           .polygons = variant % 2 == 1,
                                           .scalar = variant < 2 ? CAROM_SCALAR_FLOAT32
                                                                 : CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
            const carom_pose pose = {{1.0, 0.25, 0.0, 0.125}, {0.125, 0.0, 0.25}};
            assert_self_same(&random, &b, (uint64_t)TEST_CASES(4000));
            assert_cross_same(&random, &b, NULL, &b, &pose, (uint64_t)TEST_CASES(4000));
            both_destroy(&b);
            carom_mesh_destroy(mesh);
        }
}

/* Positions that come from the device, which the host has not read. */
static void moved_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {99};
    both_cloths cloths;
    both_cloths_make(cpu, cuda, &cloths);
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &cloths.views[0]});
    for (int i = 1; i >= 0; --i) {
        assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, &cloths.positions[i]));
        assert_ok(cpu, carom_soup_update(cpu, b.cpu, &cloths.views[i]));
        assert_self_same(&random, &b, 1000);
    }
    both_destroy(&b);
    both_cloths_free(cuda, &cloths);
}

/* Positions, pairs and segments stay on the device: queued at once, and as a frame. */
static void frames_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    both_cloths cloths;
    carom_cuda_pairs crossed = {0};
    carom_cuda_segments segments = {0};
    carom_pairs on_cpu = {0};
    carom_cuda_frame *frame;
    both_cloths_make(cpu, cuda, &cloths);
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &cloths.views[0]});
    for (int i = 0; i < 4; ++i) {
        const carom_cuda_positions *positions = &cloths.positions[1 - i % 2];
        if (i >= 2) assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, positions));
        assert_ok(cuda,
                  carom_cuda_soup_self_pairs(cuda, b.cuda, CAROM_CUDA_ORDER_SORTED, &crossed));
        assert_ok(cuda, carom_cuda_soup_self_segments(cuda, b.cuda, &crossed, &segments));
        if (i == 2)
            assert_fails(cuda, carom_cuda_soup_self_segments(cuda, b.cuda, &crossed, &segments),
                         CAROM_UNSUPPORTED, "at most one search for segments");
        if (i >= 2) {
            assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
            for (int run = 0; run < 2; ++run) assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        }
        assert_ok(cuda, carom_cuda_finish(cuda));
        if (i >= 2) carom_cuda_frame_destroy(frame);
        assert_ok(cpu, carom_soup_update(cpu, b.cpu, &cloths.views[1 - i % 2]));
        assert_ok(cpu, carom_soup_self_pairs(cpu, b.cpu, &on_cpu));
        assert_ok(cpu, carom_soup_self_segments(cpu, b.cpu, on_cpu.data, on_cpu.count, &expected));
        assert_true(expected.count != 0);
        assert_device_segments(&segments);
    }
    carom_cuda_pairs_free(cuda, &crossed);
    carom_cuda_segments_free(cuda, &segments);
    carom_pairs_free(&on_cpu);
    both_destroy(&b);
    both_cloths_free(cuda, &cloths);
}

/* Pairs of a call that is finished are read whatever is queued by then: alone, behind another
 * search, and in a frame. */
static void pairs_of_a_finished_call_are_read(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    both_cloths cloths;
    carom_cuda_pairs crossed = {0}, others = {0};
    carom_cuda_segments segments = {0};
    carom_pairs on_cpu = {0};
    carom_cuda_frame *frame;
    both_cloths_make(cpu, cuda, &cloths);
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &cloths.views[0]});
    assert_ok(cpu, carom_soup_self_pairs(cpu, b.cpu, &on_cpu));
    assert_ok(cpu, carom_soup_self_segments(cpu, b.cpu, on_cpu.data, on_cpu.count, &expected));
    for (int i = 0; i < 4; ++i) {
        if (i != 2)
            assert_ok(cuda,
                      carom_cuda_soup_self_pairs(cuda, b.cuda, CAROM_CUDA_ORDER_SORTED, &crossed));
        assert_ok(cuda, carom_cuda_finish(cuda));
        if (i == 1)
            assert_ok(cuda,
                      carom_cuda_soup_self_pairs(cuda, b.cuda, CAROM_CUDA_ORDER_ANY, &others));
        if (i == 3) assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_soup_self_segments(cuda, b.cuda, &crossed, &segments));
        if (i == 3) {
            assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
            assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        }
        assert_ok(cuda, carom_cuda_finish(cuda));
        assert_int_equal(crossed.count, on_cpu.count);
        assert_device_segments(&segments);
    }
    carom_cuda_frame_destroy(frame);
    carom_cuda_pairs_free(cuda, &crossed);
    carom_cuda_pairs_free(cuda, &others);
    carom_cuda_segments_free(cuda, &segments);
    carom_pairs_free(&on_cpu);
    both_destroy(&b);
    both_cloths_free(cuda, &cloths);
}

/* Corners 2^300 apart: integers on the device are too short, between pairs for which they are not.
 */
static void leftovers_stay_in_order(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double at[9][3] = {{0, 0, 0},
                             {1, 0, 0},
                             {0, 1, 0},
                             {0.25, 0.25, -1},
                             {0.25, 0.25, 1},
                             {2, 0.25, 0},
                             {0.25, 0.3, -0x1p-300},
                             {0.25, 0.3, 1},
                             {2, 0.3, 0}};
    const uint32_t corners[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const carom_mesh_view view = {
        .positions = at, .vertex_count = 9, .corners = corners, .face_count = 3};
    const carom_pair given[] = {{0, 1}, {0, 2}, {1, 0}, {2, 0}, {0, 2}, {0, 0}};
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
    carom_work work;
    for (uint64_t count = 0; count <= COUNT_OF(given); ++count) {
        assert_ok(cpu, carom_soup_self_segments(cpu, b.cpu, given, count, &expected));
        assert_ok(cuda, carom_soup_self_segments(cuda, b.cuda, given, count, &found));
        assert_same(count);
        assert_ok(cuda, carom_context_get_work(cuda, &work));
        for (uint64_t i = 0; i < count; ++i) pairs[i] = given[i];
        assert_device_same(&b, NULL, NULL, NULL, count);
    }
    assert_int_equal(work.undecided, 3);
    both_destroy(&b);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double at[3][3] = {{0, 0, 0}, {0x1p1023, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    const carom_mesh_view view = {
        .positions = at, .vertex_count = 3, .corners = corners, .face_count = 1};
    const carom_pair good = {0, 0}, bad = {0, 1};
    const carom_pose far = {{1.0, 0.0, 0.0, 0.0}, {0x1p1023, 0.0, 0.0}};
    const carom_pose not_a_number = {{(double)NAN, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
    assert_fails(cuda, carom_soup_self_segments(cuda, b.cuda, &bad, 1, &found), CAROM_BAD_INPUT,
                 "pair 0 names face 1");
    carom_cuda_segments segments = {0};
    void *memory;
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(bad), &memory));
    assert_ok(cuda, carom_cuda_write(cuda, memory, &bad, sizeof(bad)));
    const carom_cuda_pairs given = {.data = memory, .count = 1, .capacity = 1};
    assert_ok(cuda, carom_cuda_soup_self_segments(cuda, b.cuda, &given, &segments));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "1 pairs have a face");
    carom_cuda_segments_free(cuda, &segments);
    carom_cuda_release(cuda, memory);
    assert_fails(cuda, carom_soup_self_segments(cuda, b.cpu, &good, 1, &found), CAROM_UNSUPPORTED,
                 "made on cpu");
    assert_fails(cpu, carom_soup_self_segments(cpu, b.cuda, &good, 1, &found), CAROM_UNSUPPORTED,
                 "made on cuda");
    assert_fails(cuda,
                 carom_soup_cross_segments(cuda, b.cuda, &far, b.cuda, NULL, &good, 1, &found),
                 CAROM_BAD_INPUT, "beyond the range of doubles");
    assert_fails(
        cuda,
        carom_soup_cross_segments(cuda, b.cuda, NULL, b.cuda, &not_a_number, &good, 1, &found),
        CAROM_BAD_INPUT, "the pose of b");
    both_destroy(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(moved_soups_are_the_same),
        cmocka_unit_test(leftovers_stay_in_order),
        cmocka_unit_test(frames_are_the_same),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(pairs_of_a_finished_call_are_read),
    };
    int failed = cmocka_run_group_tests_name("segments_cuda", tests, set_up, report);
    carom_soup_segments_free(&found);
    carom_soup_segments_free(&expected);
    return failed;
}
