/* SPDX-License-Identifier: MIT */
/* Rays on the GPU have the CPU's bytes, their first faces and all of them: lattice soups with rays
 * through edges, corners and along faces, of all scales and lengths, every shape, rays from near
 * and far, changes, device memory, frames. Skipped where there is no device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/cuda.h"
#include "tests/support/both.h"
#include "tests/support/mesh_points.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_BACKENDS

#define MOST_RAYS 20000u

static carom_ray rays[MOST_RAYS];
static carom_hit on_cpu_hits[MOST_RAYS], on_cuda_hits[MOST_RAYS];
static uint64_t compared, on_host, all_compared, all_on_host;

static int report(void **state) {
    if (cuda != NULL)
        print_message("%llu hits are those of the CPU; %llu were decided on the host\n",
                      (unsigned long long)compared, (unsigned long long)on_host);
    if (cuda != NULL)
        print_message("%llu faces along rays too; %llu rays were decided on the host\n",
                      (unsigned long long)all_compared, (unsigned long long)all_on_host);
    return tear_down(state);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void assert_same_hits(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_hit *a = &on_cpu_hits[i], *b = &on_cuda_hits[i];
        const carom_vec3 *o = &rays[i].origin, *d = &rays[i].direction;
        if (memcmp(a, b, sizeof(*a)) != 0)
            fail_msg("ray %llu from (%.17g %.17g %.17g) along (%.17g %.17g %.17g) of length %.17g: "
                     "face %d, not %d; distance %.17g, not %.17g",
                     (unsigned long long)i, o->x, o->y, o->z, d->x, d->y, d->z, rays[i].length,
                     (int)b->face, (int)a->face, b->distance, a->distance);
    }
    compared += count;
}

static void assert_same_lists(const carom_soup_ray_hits *a, const carom_soup_ray_hits *b) {
    uint64_t least = a->count < b->count ? a->count : b->count;
    for (uint64_t i = 0; i < least; ++i) {
        const carom_soup_ray_hit *x = &a->data[i], *y = &b->data[i];
        if (memcmp(x, y, sizeof(*x)) != 0)
            fail_msg("hit %llu of all: ray %u, not %u; face %u, not %u; at %.17g, not %.17g",
                     (unsigned long long)i, y->ray, x->ray, y->face, x->face, y->distance,
                     x->distance);
    }
    assert_true(a->count == b->count);
    all_compared += a->count;
}

/* All faces that the rays meet. */
static void assert_all_same(carom_soup *on_cpu, carom_soup *on_cuda, uint64_t count) {
    carom_soup_ray_hits of_cpu = {0}, of_cuda = {0};
    carom_work work;
    assert_ok(cpu, carom_soup_query_rays(cpu, on_cpu, rays, count, &of_cpu));
    assert_ok(cuda, carom_soup_query_rays(cuda, on_cuda, rays, count, &of_cuda));
    assert_same_lists(&of_cpu, &of_cuda);
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    all_on_host += work.undecided;
    if (of_cpu.count > 1) {
        carom_soup_ray_hit one; /* a caller's buffer */
        carom_soup_ray_hits mine = {.data = &one, .capacity = 1, .owner = CAROM_OWNER_CALLER};
        assert_int_equal(carom_soup_query_rays(cuda, on_cuda, rays, count, &mine), CAROM_MORE);
        assert_true(mine.count == of_cpu.count && memcmp(&one, of_cpu.data, sizeof(one)) == 0);
    }
    carom_soup_ray_hits_free(&of_cpu);
    carom_soup_ray_hits_free(&of_cuda);
}

static void assert_rays_same(carom_soup *on_cpu, carom_soup *on_cuda, uint64_t count) {
    carom_work work;
    memset(on_cpu_hits, 0xA5, count * sizeof(*on_cpu_hits));
    memset(on_cuda_hits, 0x5A, count * sizeof(*on_cuda_hits));
    assert_ok(cpu, carom_soup_cast_rays(cpu, on_cpu, rays, count, on_cpu_hits));
    assert_ok(cuda, carom_soup_cast_rays(cuda, on_cuda, rays, count, on_cuda_hits));
    assert_same_hits(count);
    assert_ok(cuda, carom_context_get_work(cuda, &work));
    on_host += work.undecided;
    assert_all_same(on_cpu, on_cuda, count);
}

/* ---- Rays ------------------------------------------------------------------------------------ */

static const double lengths[] = {0.0, 0.0, 0.0, 0.5, 1.0, 2.0, 1e-3, 1e9, HUGE_VAL};

static double any_length(carom_random *random) {
    return lengths[test_below(random, (uint32_t)COUNT_OF(lengths))];
}

/* From points of a lattice and its halves, to others. */
static uint64_t lattice_rays(carom_random *random, double by, double scale, uint64_t count) {
    for (uint64_t i = 0; i < count;) {
        double x[6];
        for (int k = 0; k < 6; ++k)
            x[k] = (double)(carom_random_next(random) % 16) / 2.0 - (k < 3 ? 2.0 : 4.0);
        if (i % 3 == 0) x[3 + test_below(random, 3)] = x[3 + test_below(random, 3)] = 0.0;
        if (x[3] == 0.0 && x[4] == 0.0 && x[5] == 0.0) continue;
        rays[i].origin =
            (carom_vec3){(x[0] + by) * scale, (x[1] + by) * scale, (x[2] + by) * scale};
        rays[i].direction = (carom_vec3){x[3] * scale, x[4] * scale, x[5] * scale};
        rays[i++].length = any_length(random);
    }
    return count;
}

/* Through points of faces, from near and far. */
static uint64_t rays_of_mesh(carom_random *random, const carom_mesh_view *view, uint64_t count) {
    const double away[] = {0.0, 1e-6, 1e-3, 0.03, 0.5, 3.0, 30.0, 1e3, 1e5, 1e9, 1e20, 1e150};
    for (uint64_t i = 0; i < count; ++i) {
        double by = away[test_below(random, i % 32 == 0 ? (uint32_t)COUNT_OF(away) : 9)];
        carom_vec3 p = mesh_any_point(random, view), q = mesh_any_point(random, view);
        carom_vec3 d = {carom_random_between(random, -1.0, 1.0),
                        carom_random_between(random, -1.0, 1.0),
                        carom_random_between(random, -1.0, 1.0)};
        if (i % 5 == 0) d.x = 0.0;
        if (i % 7 == 0) d.y = 1e-9 * d.z;
        rays[i].origin = (carom_vec3){p.x - by * d.x, p.y - by * d.y, p.z - by * d.z};
        rays[i].direction = d;
        if (i % 4 == 0 && (q.x != p.x || q.y != p.y || q.z != p.z))
            rays[i].direction = (carom_vec3){q.x - p.x, q.y - p.y, q.z - p.z};
        rays[i].length = any_length(random);
    }
    return count;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void lattice_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static both_lattice lattice;
    carom_random random = {91};
    for (int i = 0; i < TEST_CASES(600); ++i) {
        both_lattice_make(&random, i, &lattice);
        both b = both_create(cpu, cuda, &lattice.def);
        assert_rays_same(
            b.cpu, b.cuda,
            lattice_rays(&random, lattice.by, lattice.scale, 1 + test_below(&random, 40)));
        both_destroy(&b);
    }
}

static void shapes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {92};
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
            assert_rays_same(b.cpu, b.cuda, rays_of_mesh(&random, &view, TEST_CASES(8000)));
            both_destroy(&b);
            carom_mesh_destroy(mesh);
        }
}

static void uneven_soups_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {93};
    for (int i = 0; i < TEST_CASES(40); ++i) {
        carom_mesh_view view = both_uneven(&random);
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        assert_rays_same(b.cpu, b.cuda, rays_of_mesh(&random, &view, TEST_CASES(8000)));
        both_destroy(&b);
    }
}

static void changes_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    static lattice_soup soup;
    carom_random random = {94};
    for (int i = 0; i < TEST_CASES(100); ++i) {
        lattice_make(&random, &soup);
        carom_mesh_view view = lattice_view(&soup);
        if (view.face_count == 0) continue;
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view});
        for (int change = 0; change < 3; ++change) {
            both_change(&b, &random, &soup);
            assert_rays_same(b.cpu, b.cuda, lattice_rays(&random, 0.0, 1.0, 50));
        }
        both_destroy(&b);
    }
}

/* Rays and hits in device memory, positions too, as a frame; more rays than are sorted. */
static void device_memory_is_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    carom_random random = {95};
    both_cloths cloths;
    void *device_rays, *device_hits;
    carom_cuda_frame *frame;
    carom_cuda_ray_hits all = {0};
    carom_soup_ray_hits of_cpu = {0}, of_cuda = {0};
    both_cloths_make(cpu, cuda, &cloths);
    both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &cloths.views[0]});
    uint64_t count = rays_of_mesh(&random, &cloths.views[0], MOST_RAYS);
    for (uint64_t i = 0; i < count; ++i) /* not far away, where all takes long */
        if (!(fabs(rays[i].origin.x) < 1e4)) rays[i].origin = (carom_vec3){0.1, 0.2, 0.3};
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(rays), &device_rays));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(on_cuda_hits), &device_hits));
    for (uint64_t i = 0; i < 4; ++i) {
        assert_ok(cuda, carom_cuda_write(cuda, device_rays, rays, sizeof(rays)));
        memset(on_cuda_hits, 0x5A, sizeof(on_cuda_hits));
        assert_ok(cuda, carom_cuda_write(cuda, device_hits, on_cuda_hits, sizeof(on_cuda_hits)));
        if (i >= 2) assert_ok(cuda, carom_cuda_frame_begin(cuda));
        assert_ok(cuda, carom_cuda_soup_update(cuda, b.cuda, &cloths.positions[i % 2]));
        assert_ok(cuda, carom_cuda_soup_cast_rays(cuda, b.cuda, device_rays, count, device_hits));
        assert_ok(cuda, carom_cuda_soup_query_rays(cuda, b.cuda, device_rays, count / 4, &all));
        if (i == 2)
            assert_fails(cuda, carom_cuda_soup_query_rays(cuda, b.cuda, device_rays, 1, &all),
                         CAROM_UNSUPPORTED, "at most one search for all faces");
        if (i >= 2) {
            assert_ok(cuda, carom_cuda_frame_end(cuda, &frame));
            for (int run = 0; run < 3; ++run) assert_ok(cuda, carom_cuda_frame_run(cuda, frame));
        }
        assert_ok(cuda, carom_cuda_finish(cuda));
        if (i >= 2) carom_cuda_frame_destroy(frame);
        assert_ok(cuda, carom_cuda_read(cuda, on_cuda_hits, device_hits, sizeof(on_cuda_hits)));
        assert_ok(cpu, carom_soup_update(cpu, b.cpu, &cloths.views[i % 2]));
        assert_ok(cpu, carom_soup_cast_rays(cpu, b.cpu, rays, count, on_cpu_hits));
        assert_same_hits(count);
        assert_ok(cpu, carom_soup_query_rays(cpu, b.cpu, rays, count / 4, &of_cpu));
        of_cuda.data = malloc((all.count + 1) * sizeof(*of_cuda.data));
        assert_non_null(of_cuda.data);
        of_cuda.count = all.count;
        assert_ok(cuda,
                  carom_cuda_read(cuda, of_cuda.data, all.data, all.count * sizeof(*of_cuda.data)));
        assert_same_lists(&of_cpu, &of_cuda);
        free(of_cuda.data);
    }
    carom_soup_ray_hits_free(&of_cpu);
    carom_cuda_ray_hits_free(cuda, &all);
    both_destroy(&b);
    both_cloths_free(cuda, &cloths);
    carom_cuda_release(cuda, device_rays);
    carom_cuda_release(cuda, device_hits);
}

/* A ray along many faces, which no run holds, beside rays that meet few; and polygons. */
static void long_lists_are_the_same(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    enum { LAYERS = 300 };
    static double xyz[4 * LAYERS][3];
    static uint32_t corners[6 * LAYERS];
    static uint64_t offsets[LAYERS + 1];
    static const double square[4][2] = {{0, 0}, {2, 0}, {2, 2}, {0, 2}};
    carom_random random = {96};
    for (int fan = 0; fan < 2; ++fan) {
        for (uint32_t i = 0; i < LAYERS; ++i) {
            for (uint32_t k = 0; k < 4; ++k) {
                xyz[4 * i + k][0] = square[k][0];
                xyz[4 * i + k][1] = square[k][1];
                /* up to three at the same height, in any order */
                xyz[4 * i + k][2] = (double)(i * 7 % 100);
            }
            for (uint32_t k = 0; k < 4; ++k) corners[4 * i + k] = 4 * i + k;
        }
        for (uint32_t i = 0; i <= LAYERS; ++i) offsets[i] = 4 * i;
        const carom_mesh_view view = {.positions = xyz,
                                      .vertex_count = 4 * LAYERS,
                                      .corners = corners,
                                      .offsets = offsets,
                                      .face_count = LAYERS};
        both b = both_create(cpu, cuda, &(carom_soup_def){.mesh = &view, .fan = fan != 0});
        uint64_t count = lattice_rays(&random, 1.0, 0.5, 20);
        rays[3] = (carom_ray){.origin = {1.25, 0.5, -3.0}, .direction = {0.0, 0.0, 1.0}};
        rays[4] = (carom_ray){.origin = {1.0, 1.0, 200.0}, .direction = {0.0, 0.0, -0.3}};
        rays[5] = (carom_ray){.origin = {-1e140, 1.0, 50.0}, .direction = {1.0, 1e-141, 0.0}};
        assert_rays_same(b.cpu, b.cuda, count);
        both_destroy(&b);
    }
}

static void bad_input_is_refused(void **state) {
    (void)state;
    if (cuda == NULL) skip();
    const double corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t corners[3] = {0, 1, 2};
    const carom_ray bad[2] = {{.direction = {1.0, 0.0, 0.0}}, {.length = 1.0}};
    const carom_mesh_view view = {.positions = corner,
                                  .scalar = CAROM_SCALAR_FLOAT64,
                                  .vertex_count = 3,
                                  .corners = corners,
                                  .face_count = 1};
    carom_soup_def def = {.mesh = &view};
    void *device_rays, *device_hits;
    carom_hit hits[2];
    carom_soup *grid;
    both b = both_create(cpu, cuda, &def);
    assert_fails(cuda, carom_soup_cast_rays(cuda, b.cuda, bad, 2, hits), CAROM_BAD_INPUT,
                 "ray 1 has the direction");
    assert_fails(cuda, carom_soup_cast_rays(cuda, b.cpu, bad, 1, hits), CAROM_UNSUPPORTED,
                 "made on cpu");
    assert_fails(cpu, carom_cuda_soup_cast_rays(cpu, b.cpu, bad, 1, hits), CAROM_UNSUPPORTED,
                 "backend cuda");
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(bad), &device_rays));
    assert_ok(cuda, carom_cuda_allocate(cuda, sizeof(hits), &device_hits));
    assert_ok(cuda, carom_cuda_write(cuda, device_rays, bad, sizeof(bad)));
    assert_ok(cuda, carom_cuda_soup_cast_rays(cuda, b.cuda, device_rays, 2, device_hits));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "1 rays are not finite");
    carom_cuda_ray_hits all = {0};
    assert_ok(cuda, carom_cuda_soup_query_rays(cuda, b.cuda, device_rays, 2, &all));
    assert_fails(cuda, carom_cuda_finish(cuda), CAROM_BAD_INPUT, "1 rays are not finite");
    carom_cuda_ray_hits_free(cuda, &all);
    def.method = CAROM_SOUP_METHOD_GRID;
    assert_ok(cuda, carom_soup_create(cuda, &def, &grid));
    assert_fails(cuda, carom_soup_cast_rays(cuda, grid, bad, 1, hits), CAROM_UNSUPPORTED,
                 "method GRID");
    carom_soup_destroy(grid);
    both_destroy(&b);
    carom_cuda_release(cuda, device_rays);
    carom_cuda_release(cuda, device_hits);
    b = both_create(cpu, cuda, &(carom_soup_def){0}); /* no face at all */
    rays[0] = rays[1] = bad[0];
    assert_rays_same(b.cpu, b.cuda, 2);
    assert_rays_same(b.cpu, b.cuda, 0);
    both_destroy(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_are_the_same), cmocka_unit_test(shapes_are_the_same),
        cmocka_unit_test(uneven_soups_are_the_same),  cmocka_unit_test(changes_are_the_same),
        cmocka_unit_test(device_memory_is_the_same),  cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(long_lists_are_the_same),
    };
    return cmocka_run_group_tests_name("rays_cuda", tests, set_up, report);
}
