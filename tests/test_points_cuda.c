/* SPDX-License-Identifier: MIT */
/* Nearest faces, winding numbers and signed distances on the GPU have the CPU's bytes: lattice
 * soups with exact ties and of all scales, every shape, points near and far, on faces and on their
 * corners, changes, device memory, frames. Skipped where there is no device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/both.h"
#include "tests/support/mesh_points.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

#define MOST_POINTS 20000u

static carom_vec3 points[MOST_POINTS];
static carom_hit on_cpu_hits[MOST_POINTS], on_cuda_hits[MOST_POINTS];
static uint64_t compared, signs, on_host;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu hits and %llu signed distances and generalised winding numbers are "
                      "those of the CPU; %llu hits were decided on the host\n",
                      (unsigned long long)compared, (unsigned long long)signs,
                      (unsigned long long)on_host);
    return tear_down(state);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void assert_same_hits(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_hit *a = &on_cpu_hits[i], *b = &on_cuda_hits[i];
        if (memcmp(a, b, sizeof(*a)) != 0)
            fail_msg("point %llu (%.17g %.17g %.17g): face %d, not %d; distance %.17g, not %.17g; "
                     "point %.17g %.17g %.17g, not %.17g %.17g %.17g",
                     (unsigned long long)i, points[i].x, points[i].y, points[i].z, (int)b->face,
                     (int)a->face, b->distance, a->distance, b->point.x, b->point.y, b->point.z,
                     a->point.x, a->point.y, a->point.z);
    }
    compared += count;
}

static void assert_points_same(carom_soup *on_cpu, carom_soup *on_cuda, uint64_t count) {
    carom_work work;
    memset(on_cpu_hits, 0xA5, count * sizeof(*on_cpu_hits));
    memset(on_cuda_hits, 0x5A, count * sizeof(*on_cuda_hits));
    assert_ok(cpu, carom_soup_closest_points(cpu, on_cpu, points, count, on_cpu_hits));
    assert_ok(cuda, carom_soup_closest_points(cuda, on_cuda, points, count, on_cuda_hits));
    assert_same_hits(count);
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    on_host += work.undecided;
}

static void assert_signs_same(carom_soup *on_cpu, carom_soup *on_cuda, uint64_t count) {
    static int32_t windings[2][MOST_POINTS];
    static double distances[2][MOST_POINTS];
    memset(windings, 0xA5, sizeof(windings));
    memset(distances, 0xA5, sizeof(distances));
    memset(on_cuda_hits, 0x5A, count * sizeof(*on_cuda_hits));
    assert_ok(cpu, carom_soup_winding(cpu, on_cpu, points, count, windings[0]));
    assert_ok(cuda, carom_soup_winding(cuda, on_cuda, points, count, windings[1]));
    for (uint64_t i = 0; i < count; ++i)
        if (windings[0][i] != windings[1][i])
            fail_msg("point %llu (%.17g %.17g %.17g): winding number %d, not %d",
                     (unsigned long long)i, points[i].x, points[i].y, points[i].z, windings[1][i],
                     windings[0][i]);
    assert_ok(cuda, carom_soup_signed_distances(cuda, on_cuda, points, count, distances[1],
                                                on_cuda_hits));
    assert_ok(cpu,
              carom_soup_signed_distances(cpu, on_cpu, points, count, distances[0], on_cpu_hits));
    assert_memory_equal(distances[0], distances[1], count * sizeof(double));
    assert_same_hits(count);
    memset(distances[1], 0xA5, sizeof(distances[1]));
    assert_ok(cuda, carom_soup_signed_distances(cuda, on_cuda, points, count, distances[1], NULL));
    assert_memory_equal(distances[0], distances[1], count * sizeof(double));
    assert_ok(cpu, carom_soup_winding_fractions(cpu, on_cpu, points, count, distances[0]));
    assert_ok(cuda, carom_soup_winding_fractions(cuda, on_cuda, points, count, distances[1]));
    for (uint64_t i = 0; i < count; ++i)
        if (memcmp(&distances[0][i], &distances[1][i], sizeof(double)) != 0)
            fail_msg("point %llu (%.17g %.17g %.17g): generalised winding number %.17g, not %.17g",
                     (unsigned long long)i, points[i].x, points[i].y, points[i].z, distances[1][i],
                     distances[0][i]);
    signs += count;
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* Points of a lattice, of its halves and thirds, in and around the cube of lattice soups. */
static uint64_t lattice_points(carom_random *random, double by, double scale, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        double x[3], fine = (double)(1 + carom_random_next(random) % 3);
        for (int k = 0; k < 3; ++k)
            x[k] = ((double)(carom_random_next(random) % 30) / fine - 3.0 + by) * scale;
        points[i] = (carom_vec3){x[0], x[1], x[2]};
    }
    return count;
}

/* Points of faces and beside them, near and far. */
static uint64_t points_of_mesh(carom_random *random, const carom_mesh_view *view, uint64_t count) {
    const double away[] = {0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.5, 3.0, 1e3, 1e5, 1e9, 1e20, 1e150};
    for (uint64_t i = 0; i < count; ++i) {
        double by = away[test_below(random, i % 64 == 0 ? (uint32_t)COUNT_OF(away) : 7)];
        carom_vec3 p = mesh_any_point(random, view);
        points[i] = (carom_vec3){p.x + by * carom_random_between(random, -1.0, 1.0),
                                 p.y + by * carom_random_between(random, -1.0, 1.0),
                                 p.z + by * carom_random_between(random, -1.0, 1.0)};
    }
    if (view->face_count < 5000) points[0] = (carom_vec3){0.0, 0.0, 0.0}; /* often the centre */
    return count;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static both_lattice lattice;
    carom_random random = {81};
    for (int i = 0; i < TEST_CASES(600); ++i) {
        both_lattice_make(&random, i, &lattice);
        both b = both_create(cpu, cuda, &lattice.def);
        assert_points_same(
            b.cpu, b.cuda,
            lattice_points(&random, lattice.by, lattice.scale, 1 + test_below(&random, 40)));
        if (i % 2 == 1)
            assert_signs_same(b.cpu, b.cuda,
                              lattice_points(&random, lattice.by, lattice.scale, 40));
        both_destroy(&b);
    }
}

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {82};
    for (int s = 0; s < CAROM_SHAPE_COUNT; ++s)
        for (int variant = 0; variant < 2; ++variant) {
            const carom_shape_def shape = {.shape = (carom_shape)s,
                                           .detail = s == CAROM_SHAPE_CLOTH ? 60 : 0,
                                           .scalar = variant == 0 ? CAROM_SCALAR_FLOAT32
                                                                  : CAROM_SCALAR_FLOAT64};
            carom_mesh_view view = {0};
            carom_soup_def def = {.mesh = &view};
            carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
            both b = both_create(cpu, cuda, &def);
            assert_points_same(b.cpu, b.cuda, points_of_mesh(&random, &view, TEST_CASES(8000)));
            assert_signs_same(b.cpu, b.cuda, points_of_mesh(&random, &view, TEST_CASES(8000)));
            both_destroy(&b);
            carom_mesh_destroy(mesh);
        }
}

static void uneven_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {83};
    for (int i = 0; i < TEST_CASES(40); ++i) {
        carom_mesh_view view = both_uneven(&random);
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        assert_points_same(b.cpu, b.cuda, points_of_mesh(&random, &view, TEST_CASES(8000)));
        both_destroy(&b);
    }
}

static void changes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup soup;
    carom_random random = {84};
    for (int i = 0; i < TEST_CASES(100); ++i) {
        lattice_make(&random, &soup);
        carom_mesh_view view = lattice_view(&soup);
        if (view.face_count == 0) continue;
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        for (int change = 0; change < 3; ++change) {
            both_change(&b, &random, &soup);
            assert_points_same(b.cpu, b.cuda, lattice_points(&random, 0.0, 1.0, 50));
            assert_signs_same(b.cpu, b.cuda, lattice_points(&random, 0.0, 1.0, 20));
        }
        both_destroy(&b);
    }
}

/* Points and hits in device memory, positions too, as a frame; more points than are sorted. */
static void device_memory_is_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {85};
    both_cloths cloths;
    void *device_points, *device_hits;
    carom_cuda_frame *frame;
    both_cloths_make(cpu, cuda, &cloths);
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &cloths.views[0]});
    uint64_t count = points_of_mesh(&random, &cloths.views[0], MOST_POINTS);
    for (uint64_t i = 0; i < count; ++i) /* not far away, where all takes long */
        if (!(fabs(points[i].x) < 100.0)) points[i] = (carom_vec3){0.1, 0.2, 0.3};
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(points), &device_points));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(on_cuda_hits), &device_hits));
    for (uint64_t i = 0; i < 4; ++i) {
        assert_ok(cuda, carom_cuda_write(cuda, device_points, points, sizeof(points)));
        memset(on_cuda_hits, 0x5A, sizeof(on_cuda_hits));
        assert_ok(cuda, carom_cuda_write(cuda, device_hits, on_cuda_hits, sizeof(on_cuda_hits)));
        if (i >= 2) assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, &cloths.positions[i % 2]));
        assert_ok(cuda,
                  carom_cuda_soup_closest_points(cuda, b.cuda, device_points, count, device_hits));
        if (i >= 2) {
            assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
            for (int run = 0; run < 3; ++run) assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        }
        assert_ok(cuda, carom_cuda_finish(cuda));
        if (i >= 2) carom_cuda_frame_destroy(frame);
        assert_ok(cuda, carom_cuda_read(cuda, on_cuda_hits, device_hits, sizeof(on_cuda_hits)));
        assert_ok(cpu, carom_soup_update(cpu, b.cpu, &cloths.views[i % 2]));
        assert_ok(cpu, carom_soup_closest_points(cpu, b.cpu, points, count, on_cpu_hits));
        assert_same_hits(count);
    }
    both_destroy(&b);
    both_cloths_free(cuda, &cloths);
    carom_cuda_release(cuda, device_points);
    carom_cuda_release(cuda, device_hits);
}

/* Winding numbers and signed distances in device memory, queued twice before they are finished. */
static void signs_in_device_memory_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { COUNT = 6000 };
    static int32_t windings[2][COUNT];
    static double distances[2][COUNT];
    carom_random random = {86};
    carom_mesh_view view = {0};
    const carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh *mesh = shape_mesh(cpu, &shape, &view);
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
    void *device_points, *device_hits, *device_windings, *device_distances;
    (void)points_of_mesh(&random, &view, COUNT);
    assert_ok(cuda, carom_cuda_allocate(cuda, COUNT * sizeof(*points), &device_points));
    assert_ok(cuda, carom_cuda_allocate(cuda, COUNT * sizeof(carom_hit), &device_hits));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(windings[0]), &device_windings));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(distances[0]), &device_distances));
    assert_ok(cuda, carom_cuda_write(cuda, device_points, points, COUNT * sizeof(*points)));
    for (int i = 0; i < 2; ++i) {
        assert_ok(cuda,
                  carom_cuda_soup_winding(cuda, b.cuda, device_points, COUNT, device_windings));
        assert_ok(cuda, carom_cuda_soup_signed_distances(cuda, b.cuda, device_points, COUNT,
                                                         device_distances, device_hits));
    }
    assert_ok(cuda, carom_cuda_finish(cuda));
    assert_ok(cuda, carom_cuda_read(cuda, windings[1], device_windings, sizeof(windings[1])));
    assert_ok(cuda, carom_cuda_read(cuda, distances[1], device_distances, sizeof(distances[1])));
    assert_ok(cpu, carom_soup_winding(cpu, b.cpu, points, COUNT, windings[0]));
    assert_ok(cpu, carom_soup_signed_distances(cpu, b.cpu, points, COUNT, distances[0], NULL));
    assert_memory_equal(windings[0], windings[1], sizeof(windings[0]));
    assert_memory_equal(distances[0], distances[1], sizeof(distances[0]));
    carom_cuda_release(cuda, device_points);
    carom_cuda_release(cuda, device_hits);
    carom_cuda_release(cuda, device_windings);
    carom_cuda_release(cuda, device_distances);
    both_destroy(&b);
    carom_mesh_destroy(mesh);
}

/* The same of a soup with holes, whose positions on the host are stale. */
static void signs_of_open_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { COUNT = 3000 };
    static double fractions[2][COUNT], distances[2][COUNT];
    carom_random random = {87};
    both_cloths cloths;
    carom_cuda_frame *frame;
    void *device_points, *device_hits, *device_fractions, *device_distances;
    both_cloths_make(cpu, cuda, &cloths);
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &cloths.views[0]});
    (void)points_of_mesh(&random, &cloths.views[0], COUNT);
    assert_ok(cuda, carom_cuda_allocate(cuda, COUNT * sizeof(*points), &device_points));
    assert_ok(cuda, carom_cuda_allocate(cuda, COUNT * sizeof(carom_hit), &device_hits));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(fractions[0]), &device_fractions));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(distances[0]), &device_distances));
    assert_ok(cuda, carom_cuda_write(cuda, device_points, points, COUNT * sizeof(*points)));
    for (int i = 1; i >= 0; --i) {
        assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, &cloths.positions[i]));
        assert_ok(cuda, carom_cuda_soup_winding_fractions(cuda, b.cuda, device_points, COUNT,
                                                          device_fractions));
        for (int again = 0; again < 2; ++again)
            assert_ok(cuda, carom_cuda_soup_signed_distances(cuda, b.cuda, device_points, COUNT,
                                                             device_distances, device_hits));
        assert_ok(cuda, carom_cuda_finish(cuda));
        assert_ok(cuda, carom_cuda_read(cuda, fractions[1], device_fractions, sizeof(*fractions)));
        assert_ok(cuda, carom_cuda_read(cuda, distances[1], device_distances, sizeof(*distances)));
        assert_ok(cpu, carom_soup_update(cpu, b.cpu, &cloths.views[i]));
        assert_ok(cpu, carom_soup_winding_fractions(cpu, b.cpu, points, COUNT, fractions[0]));
        assert_ok(cpu, carom_soup_signed_distances(cpu, b.cpu, points, COUNT, distances[0], NULL));
        assert_memory_equal(fractions[0], fractions[1], sizeof(fractions[0]));
        assert_memory_equal(distances[0], distances[1], sizeof(distances[0]));
    }
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_fails(
        cuda,
        carom_cuda_soup_winding_fractions(cuda, b.cuda, device_points, COUNT, device_fractions),
        CAROM_UNSUPPORTED, "a frame is being recorded");
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    carom_cuda_frame_destroy(frame);
    carom_cuda_release(cuda, device_points);
    carom_cuda_release(cuda, device_hits);
    carom_cuda_release(cuda, device_fractions);
    carom_cuda_release(cuda, device_distances);
    both_destroy(&b);
    both_cloths_free(cuda, &cloths);
}

/* A lattice, so that every step has something to do, at three scales; nearest faces, first faces of
 * rays and winding numbers as frames, many times. */
enum { FRAME_POINTS, FRAME_RAYS, FRAME_WINDING, FRAME_COUNT = 300 };

static carom_status queue_frame(carom_soup *soup, int kind, const void *in, void *out) {
    if (kind == FRAME_POINTS)
        return carom_cuda_soup_closest_points(cuda, soup, in, FRAME_COUNT, out);
    if (kind == FRAME_RAYS) return carom_cuda_soup_cast_rays(cuda, soup, in, FRAME_COUNT, out);
    return carom_cuda_soup_winding(cuda, soup, in, FRAME_COUNT, out);
}

static void assert_frame_same(const both *b, int kind, const void *in, const void *out) {
    static carom_hit truth[FRAME_COUNT], read[FRAME_COUNT];
    uint64_t bytes = FRAME_COUNT * (kind == FRAME_WINDING ? sizeof(int32_t) : sizeof(carom_hit));
    carom_status status =
        kind == FRAME_POINTS ? carom_soup_closest_points(cpu, b->cpu, in, FRAME_COUNT, truth)
        : kind == FRAME_RAYS ? carom_soup_cast_rays(cpu, b->cpu, in, FRAME_COUNT, truth)
                             : carom_soup_winding(cpu, b->cpu, in, FRAME_COUNT, (void *)truth);
    assert_ok(cpu, status);
    assert_ok(cuda, carom_cuda_read(cuda, read, out, bytes));
    assert_memory_equal(read, truth, bytes);
}

static uint64_t scratch_of_cuda(void) {
    carom_context_info info;
    assert_ok(cuda, carom_context_get_info(cuda, &info));
    return info.scratch_bytes;
}

static void run_frames(const both *b, int kind, const void *in, uint64_t in_bytes) {
    carom_cuda_frame *frame;
    void *device_in, *device_out;
    uint64_t before = 0;
    assert_ok(cuda, carom_cuda_allocate(cuda, in_bytes, &device_in));
    assert_ok(cuda, carom_cuda_allocate(cuda, FRAME_COUNT * sizeof(carom_hit), &device_out));
    assert_ok(cuda, carom_cuda_write(cuda, device_in, in, in_bytes));
    assert_ok(cuda, carom_cuda_frame_begin(cuda));
    assert_ok(cuda, queue_frame(b->cuda, kind, device_in, device_out));
    assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
    for (int round = 0; round < TEST_CASES(10000); ++round) {
        if (round == 2) before = scratch_of_cuda();
        assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        assert_ok(cuda, carom_cuda_finish(cuda));
        if (round == 0) assert_frame_same(b, kind, in, device_out);
    }
    assert_frame_same(b, kind, in, device_out);
    assert_true(scratch_of_cuda() <= before);
    carom_cuda_frame_destroy(frame);
    carom_cuda_release(cuda, device_in);
    carom_cuda_release(cuda, device_out);
}

static void frames_do_not_grow(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static const double scales[] = {1.0, 1e-100, 1e100};
    static carom_ray rays[FRAME_COUNT];
    static lattice_soup soup;
    carom_random random = {88};
    for (int s = 0; s < (int)COUNT_OF(scales); ++s) {
        double by = s == 0 ? 1e10 : 0.0; /* far away */
        lattice_make(&random, &soup);
        lattice_move(&soup, by, scales[s]);
        carom_mesh_view view = lattice_view(&soup);
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        (void)lattice_points(&random, by, scales[s], FRAME_COUNT);
        for (int i = 0; i < FRAME_COUNT; ++i) {
            carom_vec3 p = points[i], q = points[(i + 1) % FRAME_COUNT];
            rays[i] = (carom_ray){.origin = p, .direction = {q.x - p.x, q.y - p.y, scales[s]}};
        }
        run_frames(&b, FRAME_POINTS, points, FRAME_COUNT * sizeof(*points));
        run_frames(&b, FRAME_RAYS, rays, sizeof(rays));
        run_frames(&b, FRAME_WINDING, points, FRAME_COUNT * sizeof(*points));
        both_destroy(&b);
    }
}

static void bad_input_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    const carom_vec3 bad[2] = {{0.0, 0.0, 0.0}, {0.0, HUGE_VAL, 0.0}};
    const carom_mesh_view view = {.positions = corner,
                                  .scalar = CAROM_SCALAR_FLOAT64,
                                  .vertex_count = 3,
                                  .corners = corners,
                                  .face_count = 1};
    carom_soup_def def = {.mesh = &view};
    void *device_points, *device_hits;
    carom_hit hits[2];
    carom_soup *grid;
    both b = both_create(cpu, cuda, &def);
    assert_fails(cuda, carom_soup_closest_points(cuda, b.cuda, bad, 2, hits), CAROM_BAD_INPUT,
                 "point 1 is not finite");
    assert_fails(cuda, carom_soup_closest_points(cuda, b.cpu, bad, 1, hits), CAROM_UNSUPPORTED,
                 "made on cpu");
    assert_fails(cpu, carom_cuda_soup_closest_points(cpu, b.cpu, bad, 1, hits), CAROM_UNSUPPORTED,
                 "backend cuda");
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(bad), &device_points));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(hits), &device_hits));
    assert_ok(cuda, carom_cuda_write(cuda, device_points, bad, sizeof(bad)));
    assert_ok(cuda, carom_cuda_soup_closest_points(cuda, b.cuda, device_points, 2, device_hits));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "1 points are not finite");
    def.method = CAROM_SOUP_METHOD_GRID;
    assert_ok(cuda, carom_soup_create(cuda, &def, &grid));
    assert_fails(cuda, carom_soup_closest_points(cuda, grid, bad, 1, hits), CAROM_UNSUPPORTED,
                 "method GRID");
    carom_soup_destroy(grid);
    both_destroy(&b);
    carom_cuda_release(cuda, device_points);
    carom_cuda_release(cuda, device_hits);
    b = both_create(cpu, cuda, &(carom_soup_def){0}); /* no face at all */
    points[0] = points[1] = bad[0];
    assert_points_same(b.cpu, b.cuda, 2);
    assert_points_same(b.cpu, b.cuda, 0);
    both_destroy(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same),
        cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(uneven_soups_are_the_same),
        cmocka_unit_test(changes_are_the_same),
        cmocka_unit_test(device_memory_is_the_same),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(signs_in_device_memory_are_the_same),
        cmocka_unit_test(signs_of_open_soups_are_the_same),
        cmocka_unit_test(frames_do_not_grow),
    };
    return cmocka_run_group_tests_name("points_cuda", tests, set_up, report);
}
