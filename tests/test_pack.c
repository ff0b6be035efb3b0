/* SPDX-License-Identifier: MIT */
/* Packings hold what they claim: disjoint, inside, covering, certified, by every method; at every
 * position and scale; the same bytes for any number of threads and any instruction set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pack/pack.h"
#include "pack/pack_octree.h"
#include "pack/pack_prototypes_item.h"
#include "spheres/spheres_shares.h"
#include "tests/support/packing.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

/* ---- Helpers --------------------------------------------------------------------------------- */

/* Packs and proves. */
static pack_proof prove(const carom_packing_def *def, packing_lists *r, double volume) {
    pack_proof proof;
    double weighted;
    pack_claim claim;
    *r = packing_make(context, def);
    carom_triangle *triangles =
        packing_prove(context, def, r, "the packing", &claim, &proof, &weighted);
    if (volume == 0.0) volume = weighted;
    if (!def->skip_shares) {
        if (!(fabs(proof.secondary_volume - volume) <= 1e-6 * volume))
            fail_msg("the shares add up to %.9g, not %.9g", proof.secondary_volume, volume);
        assert_true(proof.void_volume >= (volume - proof.ball_volume) * (1.0 - 1e-6));
    }
    assert_true(fabs(r->info.volume - volume) <= 1e-6 * volume);
    assert_true(fabs(proof.ball_volume / volume - r->info.fill) <= 1e-6);
    free(triangles);
    return proof;
}

static carom_mesh_view view_of(const carom_mesh *mesh) {
    carom_mesh_view view;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    return view;
}

/* Boxes from low to high; those with low > high are inside out. */
static carom_mesh *make_boxes(const double (*boxes)[6], int count) {
    static const int corners[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                       {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                       {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    double positions[8 * 3 * 8];
    uint32_t indices[8 * 36];
    for (int b = 0; b < count; ++b) {
        for (int i = 0; i < 8; ++i)
            for (int k = 0; k < 3; ++k)
                positions[3 * (8 * b + i) + k] = boxes[b][(i >> k & 1) != 0 ? 3 + k : k];
        for (int i = 0; i < 36; ++i)
            indices[36 * b + i] = (uint32_t)(8 * b + corners[i / 3][i % 3]);
    }
    carom_mesh_view view = {.positions = positions,
                            .vertex_count = (uint64_t)(8 * count),
                            .corners = indices,
                            .face_count = (uint64_t)(12 * count)};
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_create(context, &view, &mesh));
    return mesh;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void shapes_are_packed_with_proof(void **state) {
    (void)state;
    static const struct {
        carom_shape shape;
        uint32_t detail;
    } shapes[] = {{CAROM_SHAPE_SPHERE, 2},    {CAROM_SHAPE_TORUS, 24}, {CAROM_SHAPE_BOX, 2},
                  {CAROM_SHAPE_CYLINDER, 24}, {CAROM_SHAPE_CONE, 17},  {CAROM_SHAPE_KNOT, 64},
                  {CAROM_SHAPE_CHAZELLE, 4},  {CAROM_SHAPE_CHAIN, 12}};
    const uint64_t most = TEST_FEW_CASES ? 10 : 40;
    for (size_t i = 0; i < (TEST_FEW_CASES ? 1 : COUNT_OF(shapes)); ++i) {
        carom_mesh *mesh = shape_detailed(context, shapes[i].shape, shapes[i].detail);
        carom_packing_def def = {.mesh = (carom_mesh_view[]){view_of(mesh)}, .keep_cells = true};
        for (int method = 0; method <= CAROM_PACKING_METHOD_COUNT; ++method) {
            packing_lists r;
            if (!TEST_ALL_CASES && ((int)i + method) % 4 != 0) continue;
            def.fast = method == CAROM_PACKING_METHOD_COUNT;
            def.method = def.fast ? CAROM_PACKING_METHOD_OCTREE : (carom_packing_method)method;
            def.count = def.method == CAROM_PACKING_METHOD_OCTREE ? most : 15;
            def.voxels = 16;
            (void)prove(&def, &r, 0.0);
            assert_int_equal(r.info.method, def.method);
            if (def.fast) assert_int_equal(r.info.spheres, most);
            if (method == CAROM_PACKING_METHOD_OCTREE) {
                assert_int_equal(r.info.spheres, most);
                assert_true(r.info.complete);
                assert_true(r.info.empty_radius <= 1.05 * r.info.least_radius);
            }
            packing_lists_free(&r);
        }
        carom_mesh_destroy(mesh);
    }
}

/* No search finds an empty ball larger than the certificate allows; and it is tight. */
static void no_larger_empty_ball_is_found(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_BOX, CAROM_SHAPE_CONE};
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
        carom_mesh *mesh = shape_detailed(context, shapes[i], 12);
        for (uint64_t count = 0; count < 30; count = 3 * count + 1) {
            packing_lists r;
            carom_mesh_view view = view_of(mesh);
            carom_packing_def def = {.mesh = &view, .count = count, .skip_shares = true};
            if (count == 0) { /* the first sphere is the largest of all */
                def.count = 1;
                def.epsilon = 0.002;
            }
            (void)prove(&def, &r, 0.0);
            pack_claim claim = {.spheres = r.spheres.data, .sphere_count = r.spheres.count};
            double volume;
            carom_triangle *triangles =
                pack_triangles(context, &view, &claim.triangle_count, &volume);
            claim.triangles = triangles;
            double found = pack_search_empty(&claim, 7 * count + i, TEST_CASES(16));
            assert_true(found <= r.info.empty_radius);
            assert_true(r.info.empty_radius <= 1.05 * r.info.least_radius);
            free(triangles);
            packing_lists_free(&r);
        }
        carom_mesh_destroy(mesh);
    }
}

/* The checker's own tool: cubes divide a ball. */
static void parts_of_a_ball_add_up(void **state) {
    (void)state;
    carom_random random = {5};
    for (int i = 0; i < TEST_CASES(100); ++i) {
        carom_ball ball = {{carom_random_between(&random, -1, 1),
                            carom_random_between(&random, -1, 1),
                            i % 5 == 0 ? 0.0 : carom_random_between(&random, -1, 1)},
                           carom_random_between(&random, 0.1, 2)};
        int n = 1 + i % 7;
        double sum = 0.0, step = 6.0 / n;
        for (int k = 0; k < n * n * n; ++k) {
            carom_vec3 low = {-3 + k % n * step, -3 + k / n % n * step, -3 + k / n / n * step};
            carom_bounds box = {low, {low.x + step, low.y + step, low.z + step}};
            double part = pack_ball_in_box(&ball, &box);
            assert_true(part >= -1e-12 && part <= step * step * step * (1 + 1e-12));
            sum += part;
        }
        double whole = 4.0 / 3.0 * 3.14159265358979323846 * pow(ball.radius, 3.0);
        assert_true(fabs(sum - whole) <= 1e-7 * whole);
    }
}

/* Voids are hardly larger than what is empty; that they are no smaller is part of every proof. */
static void voids_hold_what_is_empty(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_BOX};
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
        carom_mesh *mesh = shape_detailed(context, shapes[i], 12);
        packing_lists r;
        carom_packing_def def = {
            .mesh = (carom_mesh_view[]){view_of(mesh)}, .count = 12, .keep_cells = true};
        pack_proof proof = prove(&def, &r, 0.0);
        assert_true(proof.recomputed);
        assert_true(fabs(proof.empty_volume - (r.info.volume - proof.ball_volume)) <=
                    1e-6 * r.info.volume);
        assert_true(proof.void_volume <= 1.35 * proof.empty_volume);
        packing_lists_free(&r);
        carom_mesh_destroy(mesh);
    }
}

/* The share of the smaller of two balls, where no side of the solid is near. In the direction at
 * the angle t from the larger ball its boundary is at the distance rho from its centre, where
 * (rho - r) / sqrt(r) = (|x - C| - R) / sqrt(R): a root of a quadratic equation. */
static double share_of_two(double large, double small, double apart) {
    double k = sqrt(large / small), sum = 0.0, shift = large - k * small;
    enum { STEPS = 2000 };
    for (int i = 0; i < STEPS; ++i) {
        double cosine = -1.0 + 2.0 * (i + 0.5) / STEPS;
        /* apart^2 - 2 apart rho cosine + rho^2 = (shift + k rho)^2 */
        double a = k * k - 1.0, b = k * shift + apart * cosine, c = shift * shift - apart * apart;
        double rho = (-b + sqrt(b * b - a * c)) / a;
        sum += rho * rho * rho;
    }
    return 2.0 * 3.14159265358979323846 / 3.0 * sum * (2.0 / STEPS);
}

/* Shares match the closed form up to the cells through which the boundary passes. */
static void two_spheres_share_a_box(void **state) {
    (void)state;
    static const double box[1][6] = {{0, 0, 0, 3.75, 2, 2}}; /* a quarter of that in the frame */
    static const carom_spheres_ball balls[][2] = {
        {{0.25, 0.25, 0.25, 0.2}, {0.6875, 0.25, 0.25, 0.2}}, /* equal: a plane between them */
        {{0.3, 0.26, 0.24, 0.22}, {0.6, 0.2, 0.27, 0.05}},
        {{0.3, 0.26, 0.24, 0.22}, {0.58, 0.25, 0.25, 0.03}},
        {{0.3, 0.24, 0.26, 0.2}, {0.5, 0.36, 0.2, 0.02}}};
    carom_mesh *mesh = make_boxes(box, 1);
    carom_mesh_view view = view_of(mesh);
    carom_arena *scratch = carom_scratch(context, 0);
    for (size_t i = 0; i < COUNT_OF(balls); ++i) {
        const carom_spheres_ball *b = balls[i];
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        carom_spheres_mesh surface;
        carom_spheres_share shares[2];
        carom_spheres_cell_array cells = {0};
        uint64_t cell_count;
        assert_ok(context, carom_spheres_mesh_make(context, &view, false, &surface));
        assert_int_equal(surface.shift, -2);
        assert_ok(context,
                  carom_spheres_shares(&surface, b, 2, false, shares, &cells, &cell_count));
        assert_int_equal(cells.count, cell_count);
        assert_true(fabs(shares[0].volume + shares[1].volume - 15.0 / 64) < 1e-12);
        /* The boundary passes through cells in which the two balls are about as near. */
        double between = 0.0;
        for (uint64_t k = 0; k < cells.count; ++k) {
            const carom_packing_cell *cell = &cells.data[k];
            double edge = 0.25 * cell->edge, at[2], reach = 0.0;
            for (int m = 0; m < 2; ++m) {
                double x = 0.25 * cell->low.x + 0.5 * edge - b[m].x;
                double y = 0.25 * cell->low.y + 0.5 * edge - b[m].y;
                double z = 0.25 * cell->low.z + 0.5 * edge - b[m].z;
                at[m] = (sqrt(x * x + y * y + z * z) - b[m].radius) / sqrt(b[m].radius);
                reach += 0.5 * sqrt(3.0) * edge / sqrt(b[m].radius);
            }
            if (fabs(at[0] - at[1]) <= reach) between += edge * edge * edge;
        }
        double apart =
            sqrt(pow(b[0].x - b[1].x, 2.0) + pow(b[0].y - b[1].y, 2.0) + pow(b[0].z - b[1].z, 2.0));
        double expected = i == 0 ? 15.0 / 128 : share_of_two(b[0].radius, b[1].radius, apart);
        double error = fabs(shares[1].volume - expected);
        if (!(error <= between && error <= 0.05 * expected))
            fail_msg("share %g, expected %g, in cells between them %g", shares[1].volume, expected,
                     between);
        carom_spheres_cell_array_release(&cells, &context->allocator);
        carom_spheres_mesh_free(&surface);
        carom_arena_rewind(scratch, mark);
    }
    carom_mesh_destroy(mesh);
}

/* The greedy method with its local updates finds what trying all voxels against all spheres does.
 */
static void greedy_updates_equal_brute_force(void **state) {
    (void)state;
    enum { VOXELS = 14, COUNT = 40 };
    static float apart[(VOXELS + 1) * (VOXELS + 1) * (VOXELS + 1)], first[COUNT_OF(apart)];
    static carom_vec3 centres[COUNT_OF(apart)];
    static carom_bvh_found found;
    carom_arena *scratch = carom_scratch(context, 0);
    for (int shape = CAROM_SHAPE_SPHERE; shape <= CAROM_SHAPE_CONE; ++shape) {
        carom_mesh *mesh =
            shape_detailed(context, (carom_shape)shape, shape == CAROM_SHAPE_SPHERE ? 1 : 12);
        carom_mesh_view view = view_of(mesh);
        carom_packing_def def = {.mesh = &view,
                                 .method = CAROM_PACKING_METHOD_GREEDY,
                                 .voxels = VOXELS,
                                 .count = COUNT,
                                 .skip_shares = true};
        packing_lists r = packing_make(context, &def);
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        carom_spheres_mesh m;
        assert_ok(context, carom_spheres_mesh_make(context, &view, false, &m));
        double size[3] = {m.high.x - m.low.x, m.high.y - m.low.y, m.high.z - m.low.z};
        double edge = fmax(fmax(size[0], size[1]), size[2]) / VOXELS;
        uint32_t n[3], count = 0;
        for (int k = 0; k < 3; ++k) n[k] = (uint32_t)floor(size[k] / edge) + 1;
        for (uint32_t z = 0; z < n[2]; ++z)
            for (uint32_t y = 0; y < n[1]; ++y)
                for (uint32_t x = 0; x < n[0]; ++x, ++count) {
                    carom_vec3 p = {m.low.x + (x + 0.5) * edge, m.low.y + (y + 0.5) * edge,
                                    m.low.z + (z + 0.5) * edge};
                    centres[count] = p = carom_spheres_mesh_round(&m, p);
                    double d = carom_spheres_mesh_distance(&m, p, CAROM_BVH_NONE).distance;
                    bool inside = carom_spheres_mesh_inside(&m, p, &found);
                    first[count] = inside ? (float)carom_pack_radius(d, HUGE_VAL) : 0.0f;
                }
        for (uint64_t s = 0; s < r.spheres.count; ++s) {
            uint32_t best = 0;
            for (uint32_t i = 0; i < count; ++i) {
                double least = (double)first[i];
                for (uint64_t k = 0; k < s && least > 0.0; ++k) {
                    carom_vec3 c = carom_vec_scale(
                        carom_vec_sub(r.spheres.data[k].centre, m.origin), ldexp(1.0, m.shift));
                    double radius = ldexp(r.spheres.data[k].radius, m.shift);
                    double away = carom_vec_length(carom_vec_sub(centres[i], c)) - radius;
                    least = fmin(least, carom_pack_radius(HUGE_VAL, away));
                }
                apart[i] = least > 0.0 ? (float)least : 0.0f;
                if (apart[i] > apart[best]) best = i;
            }
            carom_vec3 c = carom_spheres_mesh_restore(&m, centres[best]);
            const carom_packing_sphere *sphere = &r.spheres.data[s];
            assert_true(ldexp(sphere->radius, m.shift) == (double)apart[best]);
            assert_true(sphere->centre.x == c.x && sphere->centre.y == c.y &&
                        sphere->centre.z == c.z);
        }
        assert_true(r.spheres.count > 10);
        carom_spheres_mesh_free(&m);
        carom_arena_rewind(scratch, mark);
        packing_lists_free(&r);
        carom_mesh_destroy(mesh);
    }
}

/* Crossing, nested and hollow boxes: the volume is that where the winding number is 1 or more. */
static void boxes_that_cross_count_once(void **state) {
    (void)state;
    if (TEST_FEW_CASES && !TEST_SANITIZED) skip(); /* seconds in an emulator */
    static const struct {
        double boxes[2][6], volume;
    } cases[] = {
        {{{0, 0, 0, 1, 1, 1}, {0.5, 0.25, 0.3, 1.5, 1.125, 0.7}}, 1.0 + 0.35 - 0.5 * 0.75 * 0.4},
        {{{0, 0, 0, 1, 1, 1}, {0.3, 0.3, 0.3, 0.6, 0.6, 0.6}}, 1.0},
        {{{0, 0, 0, 1, 1, 1}, {0.6, 0.3, 0.3, 0.3, 0.6, 0.6}}, 1.0 - 0.027},
        {{{0, 0, 0, 1, 1, 1}, {2, 0, 0, 3, 0.5, 0.5}}, 1.25},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        carom_mesh *mesh = make_boxes(cases[i].boxes, 2);
        packing_lists r;
        carom_packing_def def = {
            .mesh = (carom_mesh_view[]){view_of(mesh)}, .count = 20, .keep_cells = true};
        (void)prove(&def, &r, cases[i].volume);
        packing_lists_free(&r);
        /* The same spheres without that volume. */
        carom_packing *with = NULL, *without = NULL;
        assert_ok(context, carom_packing_create(context, &def, &with));
        assert_ok(context, carom_packing_create_without_volume(context, &def, &without));
        assert_int_equal(with->info.spheres, without->info.spheres);
        assert_memory_equal(with->spheres, without->spheres,
                            with->info.spheres * sizeof(*with->spheres));
        carom_packing_destroy(with);
        carom_packing_destroy(without);
        carom_mesh_destroy(mesh);
    }
}

/* A mesh moved, scaled and reversed. Powers of two scale everything exactly. */
static void position_and_scale_do_not_matter(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_TORUS, 16);
    carom_mesh_view view = view_of(mesh);
    uint64_t count = 3 * view.vertex_count;
    double *moved = malloc(count * sizeof(double));
    uint32_t *reversed = malloc(3 * view.face_count * sizeof(uint32_t));
    assert_int_equal(view.scalar, CAROM_SCALAR_FLOAT64);
    packing_lists first, r;
    carom_mesh_view mesh_view = view;
    carom_packing_def def = {
        .mesh = &mesh_view, .count = TEST_FEW_CASES ? 10 : 30, .keep_cells = true};
    (void)prove(&def, &first, 0.0);
    static const struct {
        double scale, shift[3];
    } cases[] = {{1e-6, {0, 0, 0}}, {1e6, {0, 0, 0}},      {1, {1e6, -2e6, 3e6}},
                 {1, {1e9, 0, 5}},  {0x1p-200, {0, 0, 0}}, {0x1p200, {0, 0, 0}}};
    mesh_view.positions = moved;
    for (size_t c = 0; c < (TEST_FEW_CASES ? 1 : COUNT_OF(cases)); ++c) {
        for (uint64_t i = 0; i < count; ++i)
            moved[i] = ((const double *)view.positions)[i] * cases[c].scale + cases[c].shift[i % 3];
        (void)prove(&def, &r, 0.0);
        assert_true(fabs(r.info.fill - first.info.fill) < 0.01);
        for (uint64_t i = 0; i < r.spheres.count; ++i) {
            carom_vec3 p = r.spheres.data[i].centre, o = r.info.origin;
            /* Relative to the origin, scaled to the size, centres are float32. */
            double x[3] = {p.x - o.x, p.y - o.y, p.z - o.z};
            for (int k = 0; k < 3; ++k)
                if (cases[c].scale > 1e-30 && cases[c].scale < 1e30)
                    assert_true((double)(float)x[k] == x[k]);
        }
        if (fabs(log2(cases[c].scale)) == 200.0) {
            for (uint64_t i = 0; i < r.spheres.count; ++i)
                assert_true(r.spheres.data[i].radius ==
                            first.spheres.data[i].radius * cases[c].scale);
        }
        packing_lists_free(&r);
    }
    /* Inside out: the same. */
    for (uint64_t i = 0; i < 3 * view.face_count; ++i)
        reversed[i] = view.corners[i % 3 == 0 ? i : i / 3 * 3 + 3 - i % 3];
    mesh_view = view;
    mesh_view.corners = reversed;
    (void)prove(&def, &r, 0.0);
    assert_true(r.info.inside_out);
    assert_true(fabs(r.info.fill - first.info.fill) < 0.01);
    packing_lists_free(&r);
    packing_lists_free(&first);
    free(moved);
    free(reversed);
    carom_mesh_destroy(mesh);
}

static uint64_t hash_of(const packing_lists *r) {
    uint64_t hash = test_hash_numbers(&r->info.spheres, sizeof(r->info.spheres), "8", 0);
    for (uint64_t i = 0; i < r->spheres.count; ++i) {
        const carom_packing_sphere *s = &r->spheres.data[i];
        const double numbers[7] = {s->centre.x, s->centre.y,  s->centre.z,   s->radius,
                                   s->cover,    s->secondary, s->void_volume};
        hash = test_hash_numbers(numbers, sizeof(numbers), "8", hash);
        hash = test_hash_numbers(&s->face, sizeof(s->face), "4", hash);
    }
    for (uint64_t i = 0; i < r->cells.count; ++i) {
        const carom_packing_cell *c = &r->cells.data[i];
        const double numbers[4] = {c->low.x, c->low.y, c->low.z, c->edge};
        hash = test_hash_numbers(numbers, sizeof(numbers), "8", hash);
        hash = test_hash_numbers(&c->sphere, sizeof(c->sphere), "4", hash);
    }
    return hash;
}

static void threads_and_instruction_sets_give_the_same_bytes(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_KNOT, 96);
    for (int method = 0; method <= CAROM_PACKING_METHOD_COUNT; ++method) {
        uint64_t expected = 0;
        carom_packing_def def = {.mesh = (carom_mesh_view[]){view_of(mesh)},
                                 .count = 50,
                                 .voxels = 16,
                                 .keep_cells = true};
        def.fast = method == CAROM_PACKING_METHOD_COUNT;
        def.method = def.fast ? CAROM_PACKING_METHOD_OCTREE : (carom_packing_method)method;
        for (uint32_t threads = 1; threads <= 3; ++threads) {
            /* The best one is one of the others: in emulators it is not run twice. */
            for (int isa = TEST_FEW_CASES ? 1 : 0; isa < CAROM_ISA_COUNT; ++isa) {
                if ((isa != 0 || TEST_FEW_CASES) && threads != 2) continue;
                carom_context *with = test_context_isa(threads, (carom_isa)isa);
                if (with == NULL) continue;
                packing_lists r = packing_make(with, &def);
                uint64_t hash = hash_of(&r);
                if (expected == 0) expected = hash;
                assert_true(hash == expected);
                packing_lists_free(&r);
                carom_context_destroy(with);
            }
        }
        static const char *const names[] = {"octree", "greedy", "prototype", "protosphere", "fast"};
        test_golden("pack.txt", names[method], expected);
    }
    carom_mesh_destroy(mesh);
}

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* No two prototypes of a batch try the same point. */
static void prototypes_try_points_of_their_own(void **state) {
    (void)state;
    static double tried[CAROM_PROTOTYPE_BATCH * CAROM_PROTOTYPE_TRIES];
    const carom_vec3 low = {0.0, 0.0, 0.0}, high = {1.0, 1.0, 1.0};
    for (uint64_t seed = 0; seed < 3; ++seed) {
        size_t count = 0;
        for (uint64_t i = 0; i < CAROM_PROTOTYPE_BATCH; ++i) {
            carom_random random = carom_prototype_random(seed, i);
            for (uint32_t k = 0; k < CAROM_PROTOTYPE_TRIES; ++k)
                tried[count++] = carom_prototype_guess(&random, low, high).x;
        }
        qsort(tried, count, sizeof(*tried), by_value);
        for (size_t i = 1; i < count; ++i) assert_true(tried[i - 1] < tried[i]);
    }
}

/* Plates, needles, shells: right, or fewer spheres. */
static void thin_solids_are_packed(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    static const double boxes[][2][6] = {
        {{0, 0, 0, 1, 1, 0.001}, {0}},                              /* a plate */
        {{0, 0, 0, 1, 0.002, 0.001}, {0}},                          /* a needle */
        {{0, 0, 0, 1, 1, 1}, {0.99, 0.01, 0.01, 0.01, 0.99, 0.99}}, /* a shell */
    };
    const uint64_t count = TEST_ALL_CASES ? 50 : 10;
    for (size_t i = 0; i < COUNT_OF(boxes); ++i) {
        carom_mesh *mesh = make_boxes(boxes[i], i == 2 ? 2 : 1);
        packing_lists r;
        carom_packing_def def = {
            .mesh = (carom_mesh_view[]){view_of(mesh)}, .count = count, .keep_cells = true};
        (void)prove(&def, &r, 0.0);
        assert_int_equal(r.info.spheres, count);
        assert_true(r.info.empty_radius <= 1.05 * r.info.least_radius);
        packing_lists_free(&r);
        carom_mesh_destroy(mesh);
    }
    /* Too thin for any sphere. */
    static const double film[1][6] = {{0, 0, 0, 1, 1, 1e-7}};
    carom_mesh *mesh = make_boxes(film, 1);
    packing_lists r;
    carom_packing_def def = {.mesh = (carom_mesh_view[]){view_of(mesh)}, .count = 100};
    r = packing_make(context, &def);
    assert_int_equal(r.info.spheres, 0);
    assert_false(r.info.complete);
    packing_lists_free(&r);
    carom_mesh_destroy(mesh);
}

static void stops_at_its_goals(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_TORUS, 16);
    packing_lists r;
    carom_packing_def def = {
        .mesh = (carom_mesh_view[]){view_of(mesh)}, .fill = 0.6, .skip_shares = true};
    (void)prove(&def, &r, 0.0);
    assert_true(r.info.fill >= 0.6 && r.info.fill < 0.65 && r.info.complete);
    assert_false(r.info.shares);
    packing_lists_free(&r);
    def.fill = 0.0;
    def.radius = 0.04;
    (void)prove(&def, &r, 0.0);
    assert_true(r.info.least_radius >= 0.04 && r.info.complete);
    assert_true(r.info.empty_radius <= 0.04 * 1.05);
    packing_lists_free(&r);
    def.radius = 0.0;
    (void)prove(&def, &r, 0.0);
    assert_int_equal(r.info.spheres, 1000);
    packing_lists_free(&r);
    carom_mesh_destroy(mesh);
}

static void open_meshes_are_named_or_allowed(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_TORUS, 16);
    carom_packing *packing;
    carom_mesh_view view = view_of(mesh);
    carom_packing_def def = {.mesh = &view, .count = 20};
    view.face_count -= 1;
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT,
                 "3 open edges");
    assert_null(packing);
    def.allow_open = true;
    packing_lists r = packing_make(context, &def);
    assert_int_equal(r.info.spheres, 20);
    packing_lists_free(&r);
    def.fill = 0.5;
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT, "fill");
    carom_mesh_destroy(mesh);
}

static void bad_input_gets_a_message(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_BOX, 1);
    carom_packing *packing;
    carom_mesh_view view = view_of(mesh), empty = view;
    carom_packing_def good = {.mesh = &view, .count = 5}, def = good;
    def.fill = 1.0;
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT, "fill");
    def = good;
    def.radius = NAN;
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT, "radius");
    def = good;
    def.epsilon = 1e-9;
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT,
                 "epsilon");
    def = good;
    def.voxels = 4096;
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT, "voxels");
    def = good;
    empty.face_count = 0;
    def.mesh = &empty;
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT,
                 "no face");
    carom_mesh_destroy(mesh);
    static const double flat[1][6] = {{0, 0, 0, 1, 1, 0}};
    mesh = make_boxes(flat, 1);
    def = good;
    view = view_of(mesh);
    assert_fails(context, carom_packing_create(context, &def, &packing), CAROM_BAD_INPUT,
                 "no volume");
    carom_mesh_destroy(mesh);
}

/* ---- Failures -------------------------------------------------------------------------------- */

static carom_status pack_once(carom_allocator allocator, void *argument) {
    const carom_packing_def *def = argument;
    carom_context_def of_context = {.allocator = allocator, .threads = 1};
    carom_context *with;
    carom_packing *packing = NULL;
    carom_packing_spheres spheres = {0};
    carom_packing_cells cells = {0};
    carom_status status = carom_context_create(&of_context, &with);
    if (status != CAROM_OK) return status;
    status = carom_packing_create(with, def, &packing);
    if (status == CAROM_OK) status = carom_packing_list_spheres(with, packing, &spheres);
    if (status == CAROM_OK) status = carom_packing_list_cells(with, packing, &cells);
    carom_packing_spheres_free(&spheres);
    carom_packing_cells_free(&cells);
    carom_packing_destroy(packing);
    carom_context_destroy(with);
    return status;
}

static void allocation_failure_leaks_nothing(void **state) {
    (void)state;
    if (TEST_FEW_CASES && !TEST_SANITIZED) skip(); /* seconds in an emulator */
    static const double box[1][6] = {{0, 0, 0, 1, 1, 1}};
    carom_mesh *mesh = make_boxes(box, 1);
    for (int method = 0; method < CAROM_PACKING_METHOD_COUNT; ++method) {
        carom_packing_def def = {.mesh = (carom_mesh_view[]){view_of(mesh)},
                                 .method = (carom_packing_method)method,
                                 .count = 2,
                                 .epsilon = 0.5,
                                 .voxels = 4,
                                 .skip_shares = method != 0,
                                 .keep_cells = method == 0};
        test_allocation_failures(pack_once, &def);
    }
    carom_mesh_destroy(mesh);
}

static bool cancel_after(void *user, const char *what, double fraction) {
    int *left = user;
    (void)what;
    assert_true(fraction >= 0.0 && fraction <= 1.0);
    return (*left)-- <= 0;
}

static void can_be_cancelled(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_TORUS, 16);
    for (int method = 0; method < CAROM_PACKING_METHOD_COUNT; ++method) {
        for (int after = 0, status = CAROM_CANCELLED; status == CAROM_CANCELLED; ++after) {
            int left = after;
            carom_context_def def = {.threads = 2,
                                     .progress = cancel_after,
                                     .progress_user = &left,
                                     .progress_interval = 1e300}; /* no clock */
            carom_context *with;
            carom_packing *packing;
            carom_packing_def of_packing = {.mesh = (carom_mesh_view[]){view_of(mesh)},
                                            .method = (carom_packing_method)method,
                                            .count = TEST_FEW_CASES ? 5 : 30,
                                            .voxels = 12};
            assert_int_equal(carom_context_create(&def, &with), CAROM_OK);
            status = (int)carom_packing_create(with, &of_packing, &packing);
            assert_true(status == CAROM_OK || packing == NULL);
            carom_packing_destroy(packing);
            carom_context_destroy(with);
            assert_true(after < 1000);
        }
    }
    carom_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_packed_with_proof),
        cmocka_unit_test(no_larger_empty_ball_is_found),
        cmocka_unit_test(parts_of_a_ball_add_up),
        cmocka_unit_test(voids_hold_what_is_empty),
        cmocka_unit_test(two_spheres_share_a_box),
        cmocka_unit_test(greedy_updates_equal_brute_force),
        cmocka_unit_test(boxes_that_cross_count_once),
        cmocka_unit_test(position_and_scale_do_not_matter),
        cmocka_unit_test(threads_and_instruction_sets_give_the_same_bytes),
        cmocka_unit_test(prototypes_try_points_of_their_own),
        cmocka_unit_test(thin_solids_are_packed),
        cmocka_unit_test(stops_at_its_goals),
        cmocka_unit_test(open_meshes_are_named_or_allowed),
        cmocka_unit_test(bad_input_gets_a_message),
        cmocka_unit_test(allocation_failure_leaks_nothing),
        cmocka_unit_test(can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
