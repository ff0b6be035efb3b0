/* SPDX-License-Identifier: MIT */
/* Trees with meshes: exact distances are those of carom_soup_cross_distance, bit for bit, on every
 * instruction set; others have bounds that hold, with hints along paths, too; solids in one another
 * have the distance 0. Faces and flipped directions are those of all pairs of spheres. Forces are
 * continuous. Files hold all of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/campaign.h"
#include "tests/support/packing_oracle.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"
#include "tree/tree.h"
#include "tree/tree_cpu.h"

TEST_CONTEXT(2)

/* A shape in all forms. */
typedef struct body {
    carom_mesh *mesh;
    carom_packing *packing;
    carom_tree *tree;
    carom_soup *soup;
    carom_solid *solid;
    double size;
} body;

static body make(carom_shape shape, uint32_t detail, uint64_t count) {
    body b = {0};
    b.packing = packing_of_shape(context, shape, detail, count, &b.mesh);
    carom_mesh_view view = {0};
    carom_tree_def def = {.mesh = &view, .packing = b.packing};
    carom_soup_def of_soup = {.mesh = &view, .rigid = true};
    carom_solid_def of_solid = {.mesh = &view};
    assert_ok(context, carom_mesh_get_view(b.mesh, &view));
    assert_ok(context, carom_tree_create(context, &def, &b.tree));
    assert_valid(carom_tree_validate(b.tree));
    assert_ok(context, carom_soup_create(context, &of_soup, &b.soup));
    assert_ok(context, carom_solid_create(context, &of_solid, &b.solid));
    b.size =
        carom_vec_length(carom_vec_sub(b.packing->info.bounds.high, b.packing->info.bounds.low));
    return b;
}

static void destroy(body *b) {
    carom_tree_destroy(b->tree);
    carom_soup_destroy(b->soup);
    carom_solid_destroy(b->solid);
    carom_packing_destroy(b->packing);
    carom_mesh_destroy(b->mesh);
}

#define BODIES 4

static void make_bodies(body bodies[BODIES]) {
    bodies[0] = make(CAROM_SHAPE_TORUS, 0, 300);
    bodies[1] = make(CAROM_SHAPE_KNOT, 96, 300);
    bodies[2] = make(CAROM_SHAPE_CONE, 0, 200);
    bodies[3] = make(CAROM_SHAPE_BOX, 0, 100); /* quads */
}

static void assert_within(const carom_tree_gap *gap, double distance) {
    if (!(gap->distance.lower <= distance * (1.0 + 1e-12) &&
          distance <= gap->distance.upper * (1.0 + 1e-12)))
        fail_msg("%.17g <= %.17g <= %.17g does not hold", gap->distance.lower, distance,
                 gap->distance.upper);
}

/* ---- Distances ------------------------------------------------------------------------------- */

static void exact_distances_are_those_of_soups(void **state) {
    (void)state;
    carom_random random = {31};
    body bodies[BODIES];
    carom_context *contexts[CAROM_ISA_COUNT] = {NULL};
    uint64_t apart = 0;
    make_bodies(bodies);
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        contexts[isa] = test_context_isa(1, (carom_isa)isa);
    for (int n = 0; n < TEST_CASES(500); ++n) {
        const body *a = &bodies[n % BODIES], *b = &bodies[n / BODIES % BODIES];
        double far = n % 5 == 0 ? 20.0 : n % 5 == 1 ? 1e5 : 3.0;
        carom_pose pose_a = packing_random_pose(&random, n % 2), pose_b;
        pose_b = packing_random_pose(&random, far);
        carom_soup_gap exact;
        carom_solid_result overlap;
        carom_solid_query_def overlap_def = {.distance = true};
        assert_ok(context, carom_soup_cross_distance(context, a->soup, &pose_a, b->soup, &pose_b,
                                                     0.0, &exact));
        assert_ok(context, carom_solid_overlap(context, a->solid, &pose_a, b->solid, &pose_b,
                                               &overlap_def, &overlap));
        bool solids_apart = overlap.relation == CAROM_RELATION_APART;
        carom_tree_gap first[2];
        for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
            if (contexts[isa] == NULL) continue;
            for (int mode = 0; mode < 2; ++mode) {
                carom_tree_query_def def = {.exact_distance = mode == 1};
                carom_tree_gap gap;
                assert_ok(contexts[isa], carom_tree_distance(contexts[isa], a->tree, &pose_a,
                                                             b->tree, &pose_b, &def, &gap));
                if (isa == CAROM_ISA_BASELINE) first[mode] = gap;
                assert_memory_equal(&gap, &first[mode], sizeof(gap));
                assert_within(&gap, solids_apart ? exact.distance : 0.0);
                if (mode == 0 && solids_apart)
                    assert_true(gap.distance.upper - gap.distance.lower <=
                                0.02 * fmax(a->size, b->size));
                if (mode == 0 || !solids_apart) continue;
                assert_true(gap.distance.value == exact.distance);
                assert_int_equal(gap.face_a, exact.face_a);
                assert_int_equal(gap.face_b, exact.face_b);
                assert_true(carom_vec_compare(gap.point_a, exact.point_a) == 0);
            }
        }
        apart += solids_apart;
    }
    if (TEST_MANY_CASES) assert_true(apart > TEST_CASES(150) && apart < TEST_CASES(490));
    for (int isa = 0; isa < CAROM_ISA_COUNT; ++isa) carom_context_destroy(contexts[isa]);
    for (int i = 0; i < BODIES; ++i) destroy(&bodies[i]);
}

#define SCALES 7

static carom_solid *make_scaled(const body *b, double scale) {
    carom_mesh_view view;
    carom_solid *solid;
    assert_ok(context, carom_mesh_get_view(b->mesh, &view));
    double *moved = malloc(3 * view.vertex_count * sizeof(*moved));
    assert_non_null(moved);
    for (uint64_t v = 0; v < 3 * view.vertex_count; ++v)
        moved[v] = ((const double *)view.positions)[v] * scale;
    carom_solid_def of_solid = {.mesh = &view};
    view.positions = moved;
    assert_ok(context, carom_solid_create(context, &of_solid, &solid));
    free(moved);
    return solid;
}

/* One inside the other, in a hole of it, at the surface; scaled. */
static void solids_in_solids_are_not_apart(void **state) {
    (void)state;
    static carom_solid *solids[BODIES][SCALES];
    carom_random random = {32};
    body bodies[BODIES];
    uint64_t inside = 0, outside = 0;
    make_bodies(bodies);
    for (int n = 0; n < TEST_CASES(500); ++n) {
        const body *a = &bodies[n % BODIES], *b = &bodies[n / BODIES % BODIES];
        int k = n % SCALES;
        double scale = ldexp(1.0, -(2 + k));
        carom_pose pose = packing_random_pose(&random, 0.0);
        const carom_packing_sphere *s = &a->packing->spheres[carom_random_next(&random) % 20];
        carom_vec3 off = packing_random_pose(&random, n % 3 == 0 ? 0.0 : 0.3).t;
        pose.t = carom_vec_add(s->centre, off);
        carom_solid_result exact;
        carom_solid_query_def def = {.distance = true};
        carom_solid **small = &solids[n / BODIES % BODIES][k];
        if (*small == NULL) *small = make_scaled(b, scale);
        assert_ok(context,
                  carom_solid_overlap(context, a->solid, NULL, *small, &pose, &def, &exact));
        for (int mode = 0; mode < 2; ++mode) {
            carom_tree_query_def query = {.scale_b = scale, .exact_distance = mode == 1};
            carom_tree_gap gap, other;
            assert_ok(context,
                      carom_tree_distance(context, a->tree, NULL, b->tree, &pose, &query, &gap));
            assert_within(&gap, exact.relation == CAROM_RELATION_APART ? exact.distance : 0.0);
            query.scale_a = scale;
            query.scale_b = 0.0;
            assert_ok(context,
                      carom_tree_distance(context, b->tree, &pose, a->tree, NULL, &query, &other));
            assert_true(mode == 0 || fabs(gap.distance.value - other.distance.value) <= 1e-12);
        }
        inside += exact.relation == CAROM_RELATION_B_INSIDE_A;
        outside += exact.relation == CAROM_RELATION_APART;
    }
    for (int i = 0; i < BODIES * SCALES; ++i) carom_solid_destroy(solids[i / SCALES][i % SCALES]);
    if (TEST_MANY_CASES) assert_true(inside > TEST_CASES(30) && outside > TEST_CASES(30));
    for (int i = 0; i < BODIES; ++i) destroy(&bodies[i]);
}

/* Small steps, with a hint; now and then a jump, or a hint of other trees. */
static void bounds_hold_along_paths(void **state) {
    (void)state;
    carom_random random = {33};
    body bodies[BODIES];
    make_bodies(bodies);
    carom_tree_hint hint;
    memset(&hint, 0, sizeof(hint));
    uint64_t searched = 0, steps = 0;
    for (int n = 0; n < TEST_CASES(40); ++n) {
        const body *a = &bodies[n % BODIES], *b = &bodies[n / BODIES % BODIES];
        carom_pose pose = packing_random_pose(&random, 1.7),
                   way = packing_random_pose(&random, 1.0);
        double pace = ldexp(1.0, -5 - n % 8);
        for (int k = 0; k < 50; ++k) {
            carom_soup_gap exact;
            carom_solid_result overlap;
            carom_tree_query_def def = {.hint = &hint};
            carom_tree_gap gap, sharp, cold;
            carom_work work;
            pose.t = carom_vec_add(pose.t, carom_vec_scale(way.t, pace));
            pose.q.x += pace * way.q.x;
            pose.q.y += pace * way.q.y;
            if (k == 25) pose.t = carom_vec_scale(pose.t, 0.5);
            assert_ok(context,
                      carom_tree_distance(context, a->tree, NULL, b->tree, &pose, &def, &gap));
            assert_ok(context, carom_context_get_work(context, &work));
            searched += work.visits > 10;
            ++steps;
            assert_ok(context, carom_soup_cross_distance(context, a->soup, NULL, b->soup, &pose,
                                                         0.0, &exact));
            assert_ok(context, carom_solid_overlap(context, a->solid, NULL, b->solid, &pose, NULL,
                                                   &overlap));
            bool apart = overlap.relation == CAROM_RELATION_APART;
            assert_within(&gap, apart ? exact.distance : 0.0);
            if (apart)
                assert_true(gap.distance.upper - gap.distance.lower <=
                            0.02 * fmax(a->size, b->size));
            carom_tree_hint copy = hint;
            def = (carom_tree_query_def){.hint = &copy, .exact_distance = true};
            assert_ok(context,
                      carom_tree_distance(context, a->tree, NULL, b->tree, &pose, &def, &sharp));
            def.hint = NULL;
            assert_ok(context,
                      carom_tree_distance(context, a->tree, NULL, b->tree, &pose, &def, &cold));
            assert_memory_equal(&sharp, &cold, sizeof(cold)); /* hints change nothing exact */
        }
    }
    if (TEST_ALL_CASES) assert_true(searched > 50 && searched < steps * 3 / 4);
    for (int i = 0; i < BODIES; ++i) destroy(&bodies[i]);
}

/* Budgets, sizes from 1e-12 to 1e12, identical solids. */
static void budgets_and_sizes_keep_the_bounds(void **state) {
    (void)state;
    carom_random random = {34};
    body bodies[BODIES];
    make_bodies(bodies);
    for (int n = 0; n < TEST_CASES(600); ++n) {
        const body *a = &bodies[n % BODIES], *b = &bodies[n / BODIES % BODIES];
        double size = n % 3 == 0 ? 1.0 : n % 3 == 1 ? 1e-12 : 1e12;
        carom_pose pose = packing_random_pose(&random, 3.0);
        carom_tree_gap one, gap, again;
        carom_tree_query_def def = {.exact_distance = true};
        assert_ok(context, carom_tree_distance(context, a->tree, NULL, b->tree, &pose, &def, &one));
        pose.t = carom_vec_scale(pose.t, size);
        def = (carom_tree_query_def){
            .scale_a = size, .scale_b = size, .work_budget = 1 + carom_random_next(&random) % 200};
        assert_ok(context, carom_tree_distance(context, a->tree, NULL, b->tree, &pose, &def, &gap));
        assert_ok(context,
                  carom_tree_distance(context, a->tree, NULL, b->tree, &pose, &def, &again));
        assert_memory_equal(&gap, &again, sizeof(gap));
        assert_true(gap.distance.lower <= one.distance.upper * size * (1.0 + 1e-9) &&
                    gap.distance.upper >= one.distance.lower * size * (1.0 - 1e-9));
        assert_ok(context, carom_tree_distance(context, a->tree, NULL, a->tree, NULL, NULL, &gap));
        assert_true(gap.distance.lower == 0.0 && gap.distance.upper <= 1e-9);
    }
    for (int i = 0; i < BODIES; ++i) destroy(&bodies[i]);
}

/* ---- Faces, directions ----------------------------------------------------------------------- */

static carom_vec3 outward_of(const carom_tree *t, const carom_spheres_transform *transform,
                             uint32_t sphere) {
    const float *d = t->outward + 3 * (uint64_t)t->slots[sphere];
    return carom_frame_turn(&transform->frame, carom_vec((double)d[0], (double)d[1], (double)d[2]));
}

static void faces_and_directions_are_those_of_all_pairs(void **state) {
    (void)state;
    carom_random random = {35};
    body bodies[BODIES];
    carom_numbers faces[2] = {{0}, {0}};
    make_bodies(bodies);
    uint64_t listed = 0;
    for (int n = 0; n < TEST_CASES(150); ++n) {
        const body *both[2] = {&bodies[n % BODIES], &bodies[n / BODIES % BODIES]};
        const carom_tree *a = both[0]->tree, *b = both[1]->tree;
        carom_pose pose = packing_random_pose(&random, 1.2);
        carom_tree_query_def def = {.flip = true, .scale_b = n % 2 == 0 ? 0.0 : 0.5};
        carom_spheres_posed_pair m =
            carom_spheres_posed_pair_make(&a->extent, NULL, 0.0, &b->extent, &pose, def.scale_b);
        uint8_t *seen[2];
        for (int i = 0; i < 2; ++i) {
            seen[i] = calloc(20000, 1);
            assert_non_null(seen[i]);
        }
        carom_sum sums[3];
        memset(sums, 0, sizeof(sums));
        for (uint32_t i = 0; i < a->extent.count; ++i) {
            const carom_packing_sphere *s = &both[0]->packing->spheres[i];
            carom_spheres_posed p = carom_spheres_pose_sphere(&m.transform[0], s->centre, s->radius,
                                                              s->secondary, s->cover);
            for (uint32_t j = 0; j < b->extent.count; ++j) {
                const carom_packing_sphere *t = &both[1]->packing->spheres[j];
                carom_spheres_posed q = carom_spheres_pose_sphere(
                    &m.transform[1], t->centre, t->radius, t->secondary, t->cover);
                carom_vec3 apart = carom_vec_sub(q.centre, p.centre);
                double squared = carom_vec_dot(apart, apart), volume, error;
                if (carom_spheres_inner(squared, sqrt(squared), p.radius, q.radius, m.slack,
                                        &volume, &error)) {
                    seen[0][s->face] = 1;
                    seen[1][t->face] = 1;
                }
                carom_ball ball_a = {p.centre, p.secondary}, ball_b = {q.centre, q.secondary};
                carom_spheres_term term;
                if (!carom_spheres_pair(&ball_a, &ball_b, m.pivot, &term)) continue;
                double weight =
                    carom_tree_flip_weight(apart, carom_vec_sub(outward_of(a, &m.transform[0], i),
                                                                outward_of(b, &m.transform[1], j)));
                carom_spheres_add_vec(sums, carom_vec_scale(term.direction, weight),
                                      &m.scales.direction);
            }
        }
        carom_packing_overlap overlap;
        assert_ok(context, carom_tree_overlap(context, a, NULL, b, &pose, &def, &overlap));
        carom_vec3 direction = carom_spheres_vec_value(sums, &m.scales.direction);
        assert_true(carom_vec_compare(direction, overlap.direction_2009) == 0);
        assert_ok(context,
                  carom_tree_faces(context, a, NULL, b, &pose, &def, &faces[0], &faces[1]));
        for (int i = 0; i < 2; ++i) {
            uint64_t at = 0;
            for (uint32_t face = 0; face < 20000; ++face)
                if (seen[i][face] != 0) {
                    assert_true(at < faces[i].count);
                    assert_int_equal(faces[i].data[at++], face);
                }
            assert_int_equal(at, faces[i].count);
            listed += at;
            free(seen[i]);
        }
    }
    if (TEST_MANY_CASES) assert_true(listed > TEST_CASES(1000));
    uint32_t room[1];
    carom_numbers small = {.data = room, .capacity = 1, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_tree_faces(context, bodies[0].tree, NULL, bodies[0].tree, NULL, NULL,
                                      &small, &faces[1]),
                     CAROM_MORE);
    assert_true(small.count > 1);
    carom_numbers_free(&faces[0]);
    carom_numbers_free(&faces[1]);
    for (int i = 0; i < BODIES; ++i) destroy(&bodies[i]);
}

/* Pushed deep into a torus from above, past its middle: flipped directions still push back, while
 * those of centres push on. */
static void flipped_directions_push_out(void **state) {
    (void)state;
    body torus = make(CAROM_SHAPE_TORUS, 0, 2000), box = make(CAROM_SHAPE_BOX, 0, 1000);
    carom_vec3 low = torus.packing->info.bounds.low, high = torus.packing->info.bounds.high;
    int better = 0;
    for (int n = 0; n < 20; ++n) {
        /* A small box near the lower side of the ring, above its middle line or below. */
        double scale = 0.05 * (high.z - low.z), z = low.z + (0.2 + 0.015 * n) * (high.z - low.z);
        carom_pose pose = {{1, 0, 0, 0}, {0.0, 0.0, 0.0}};
        pose.t =
            carom_vec(torus.packing->spheres[0].centre.x, torus.packing->spheres[0].centre.y, z);
        carom_tree_query_def def = {.scale_b = scale, .flip = true};
        carom_packing_overlap with, without;
        assert_ok(context,
                  carom_tree_overlap(context, torus.tree, NULL, box.tree, &pose, &def, &with));
        def.flip = false;
        assert_ok(context,
                  carom_tree_overlap(context, torus.tree, NULL, box.tree, &pose, &def, &without));
        assert_true(with.volume.value == without.volume.value);
        better += with.direction_2009.z < 0.0;
    }
    assert_true(better >= 10); /* out by the near, lower side */
    destroy(&torus);
    destroy(&box);
}

/* The largest change of a vector along a path, in steps. */
static void jumps(const body *a, const body *b, bool flip, int steps, double largest[3]) {
    carom_packing_overlap last = {0};
    for (int k = 0; k < 3; ++k) largest[k] = 0.0;
    for (int i = 0; i <= steps; ++i) {
        double at = (double)i / steps;
        carom_pose pose = {{1.0, 0.3 * at, 0.2, -0.4 * at}, {0.9 - 0.5 * at, 0.3 * at, 0.2}};
        carom_tree_query_def def = {.flip = flip, .skip_limits = true};
        carom_packing_overlap o;
        assert_ok(context, carom_tree_overlap(context, a->tree, NULL, b->tree, &pose, &def, &o));
        const carom_vec3 now[3] = {o.force, o.torque, o.direction_2009};
        const carom_vec3 then[3] = {last.force, last.torque, last.direction_2009};
        for (int k = 0; k < 3 && i > 0; ++k) {
            double jump = carom_vec_length(carom_vec_sub(now[k], then[k]));
            largest[k] = fmax(jump, largest[k]);
        }
        last = o;
    }
}

static void half_the_step_is_half_the_jump(void **state) {
    (void)state;
    const uint64_t spheres = TEST_ALL_CASES ? 2000 : 400;
    body a = make(CAROM_SHAPE_TORUS, 0, spheres), b = make(CAROM_SHAPE_KNOT, 96, spheres);
    for (int flip = 0; flip < 2; ++flip) {
        double coarse[3], fine[3];
        jumps(&a, &b, flip != 0, 1500, coarse);
        jumps(&a, &b, flip != 0, 3000, fine);
        for (int k = 0; k < 3; ++k) {
            double ratio = fine[k] / coarse[k];
            if (!(ratio >= 0.4 && ratio <= 0.6)) fail_msg("a ratio of %g of vector %d", ratio, k);
        }
    }
    destroy(&a);
    destroy(&b);
}

/* ---- Trees ----------------------------------------------------------------------------------- */

static void seeds_hardly_matter(void **state) {
    (void)state;
    carom_packing *packing = packing_of_shape(context, CAROM_SHAPE_TORUS, 0, 4000, NULL);
    enum { SEEDS = TEST_ALL_CASES ? 10 : 4 };
    uint64_t visits[SEEDS], sum = 0;
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        carom_tree_def def = {
            .packing = packing, .method = CAROM_TREE_METHOD_NEURAL_GAS, .seed = seed};
        carom_random random = {36};
        carom_tree *tree;
        assert_ok(context, carom_tree_create(context, &def, &tree));
        visits[seed] = 0;
        for (int n = 0; n < 60; ++n) {
            carom_pose pose = packing_random_pose(&random, 1.0);
            carom_packing_overlap o;
            carom_work work;
            assert_ok(context, carom_tree_overlap(context, tree, NULL, tree, &pose, NULL, &o));
            assert_ok(context, carom_context_get_work(context, &work));
            visits[seed] += work.visits;
        }
        sum += visits[seed];
        carom_tree_destroy(tree);
    }
    for (int seed = 0; seed < SEEDS; ++seed)
        if (!(fabs((double)visits[seed] * SEEDS / (double)sum - 1.0) <= 0.05))
            fail_msg("seed %d: %llu visits, %llu on average", seed,
                     (unsigned long long)visits[seed], (unsigned long long)(sum / SEEDS));
    carom_packing_destroy(packing);
}

static void files_hold_the_surface(void **state) {
    (void)state;
    carom_random random = {37};
    body b = make(CAROM_SHAPE_KNOT, 48, 100);
    carom_bytes bytes = {0};
    char path[] = "/tmp/carom_tree_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_ok(context, carom_tree_save(context, b.tree, CAROM_TREE_FORMAT_GUESS, path));
    assert_ok(context, carom_tree_save_memory(context, b.tree, CAROM_TREE_FORMAT_GUESS, &bytes));
    carom_tree *mapped, *copy;
    assert_ok(context, carom_tree_load(context, path, CAROM_TREE_FORMAT_GUESS, &mapped));
    unlink(path);
    assert_ok(context, carom_tree_load_memory(context, bytes.data, bytes.count,
                                              CAROM_TREE_FORMAT_GUESS, NULL, &copy));
    assert_true(mapped->is_mapped && !copy->is_mapped);
    assert_memory_equal(&mapped->info, &b.tree->info, sizeof(mapped->info));
    for (int n = 0; n < 30; ++n) {
        carom_pose pose = packing_random_pose(&random, 2.0);
        carom_tree_query_def def = {.narrow_limits = true, .flip = true, .exact_distance = n % 2};
        carom_tree_result one, two, three;
        assert_ok(context, carom_tree_query(context, b.tree, NULL, b.tree, &pose, &def, &one));
        assert_ok(context, carom_tree_query(context, mapped, NULL, mapped, &pose, &def, &two));
        assert_ok(context, carom_tree_query(context, copy, NULL, mapped, &pose, &def, &three));
        assert_memory_equal(&one, &two, sizeof(one));
        assert_memory_equal(&one, &three, sizeof(one));
    }
    carom_tree_destroy(mapped);
    carom_tree_destroy(copy);
    for (int n = 0; n < TEST_CASES(1500); ++n) {
        uint64_t at = carom_random_next(&random) % bytes.count, size = bytes.count;
        uint8_t kept = bytes.data[at];
        bytes.data[at] ^= (uint8_t)(1 + carom_random_next(&random) % 255);
        if (n % 20 == 0) size = carom_random_next(&random) % bytes.count;
        carom_status status =
            carom_tree_load_memory(context, bytes.data, size, CAROM_TREE_FORMAT_GUESS, "a", &copy);
        assert_true(status == CAROM_OK || (status == CAROM_BAD_FILE && copy == NULL));
        if (status == CAROM_OK) {
            carom_tree_result answer;
            carom_pose pose = packing_random_pose(&random, 1.5);
            (void)carom_tree_query(context, copy, NULL, b.tree, &pose, NULL, &answer);
        }
        carom_tree_destroy(copy);
        bytes.data[at] = kept;
    }
    carom_bytes_free(&bytes);
    destroy(&b);
}

/* CAROM_LONG=1: a million poses. */
static void many_poses_allocate_nothing(void **state) {
    (void)state;
    body b = make(CAROM_SHAPE_KNOT, 96, 500);
    carom_context *alone = test_context(1);
    carom_tree_result answer;
    carom_tree_hint hint;
    memset(&hint, 0, sizeof(hint));
    assert_ok(alone, carom_tree_query(alone, b.tree, NULL, b.tree, NULL, NULL, &answer));
    carom_tree_query_def warm = {.narrow_limits = true, .tolerance = 0.1, .flip = true};
    assert_ok(alone, carom_tree_query(alone, b.tree, NULL, b.tree, NULL, &warm, &answer));
    uint64_t cases = campaign_is_long() ? 1000000 : (uint64_t)TEST_CASES(2000);
    uint64_t before = test_malloc_count();
    for (uint64_t n = 0; n < cases; ++n) {
        if (!campaign_has(n)) continue;
        carom_random random = {5000 + n};
        carom_pose pose = packing_random_pose(&random, n % 4 == 0 ? 3.0 : 1.2);
        carom_tree_query_def def = {.narrow_limits = n % 3 == 0,
                                    .hint = n % 2 == 0 ? &hint : NULL,
                                    .tolerance = n % 5 == 0 ? 0.3 : 0.0,
                                    .flip = n % 7 == 0,
                                    .exact_distance = n % 11 == 0};
        carom_status status = carom_tree_query(alone, b.tree, NULL, b.tree, &pose, &def, &answer);
        const carom_packing_overlap *o = &answer.overlap;
        double all = o->volume.value + o->volume.lower + o->volume.upper + o->force.x + o->force.y +
                     o->force.z + o->torque.x + o->torque.y + o->torque.z + o->centroid.x +
                     o->direction_2009.x + answer.gap.distance.lower + answer.gap.distance.upper +
                     answer.gap.distance.value + answer.gap.point_a.x + answer.gap.point_b.x;
        if (status != CAROM_OK || !(fabs(all) < 1e300))
            fail_msg("pose %llu: status %d, sum %g", (unsigned long long)n, (int)status, all);
    }
    assert_int_equal(test_malloc_count(), before);
    carom_context_destroy(alone);
    destroy(&b);
}

static carom_status build_and_query(carom_allocator allocator, void *argument) {
    const body *b = argument;
    carom_context_def def = {.allocator = allocator, .threads = 1};
    carom_context *with = NULL;
    carom_tree *tree = NULL, *again = NULL;
    carom_tree_result answer;
    carom_numbers faces[2] = {{0}, {0}};
    carom_bytes bytes = {0};
    carom_mesh_view view = {0};
    carom_tree_def tree_def = {.mesh = &view, .packing = b->packing};
    carom_status status = carom_mesh_get_view(b->mesh, &view);
    if (status == CAROM_OK) status = carom_context_create(&def, &with);
    if (status == CAROM_OK) status = carom_tree_create(with, &tree_def, &tree);
    if (status == CAROM_OK) status = carom_tree_query(with, tree, NULL, tree, NULL, NULL, &answer);
    if (status == CAROM_OK)
        status = carom_tree_faces(with, tree, NULL, tree, NULL, NULL, &faces[0], &faces[1]);
    if (status == CAROM_OK)
        status = carom_tree_save_memory(with, tree, CAROM_TREE_FORMAT_GUESS, &bytes);
    if (status == CAROM_OK)
        status = carom_tree_load_memory(with, bytes.data, bytes.count, CAROM_TREE_FORMAT_GUESS,
                                        NULL, &again);
    carom_bytes_free(&bytes);
    carom_numbers_free(&faces[0]);
    carom_numbers_free(&faces[1]);
    carom_tree_destroy(tree);
    carom_tree_destroy(again);
    carom_context_destroy(with);
    return status;
}

static void no_memory_leaks_nothing(void **state) {
    (void)state;
    body b = make(CAROM_SHAPE_BOX, 0, 50);
    test_allocation_failures(build_and_query, &b);
    destroy(&b);
}

static void meshes_are_checked(void **state) {
    (void)state;
    body box = make(CAROM_SHAPE_BOX, 0, 20);
    carom_tree *tree;
    carom_mesh_view view = {0};
    carom_tree_def def = {.mesh = &view, .packing = box.packing};
    assert_ok(context, carom_mesh_get_view(box.mesh, &view));
    view.face_count -= 1;
    assert_fails(context, carom_tree_create(context, &def, &tree), CAROM_BAD_INPUT,
                 "the mesh of a tree is not closed");
    assert_null(tree);
    carom_shape_def shape = {.shape = CAROM_SHAPE_BOX, .size = 1000.0};
    carom_mesh *other = shape_mesh(context, &shape, &view);
    assert_fails(context, carom_tree_create(context, &def, &tree), CAROM_BAD_INPUT,
                 "times as far as its spheres");
    carom_mesh_destroy(other);
    destroy(&box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_distances_are_those_of_soups),
        cmocka_unit_test(solids_in_solids_are_not_apart),
        cmocka_unit_test(bounds_hold_along_paths),
        cmocka_unit_test(budgets_and_sizes_keep_the_bounds),
        cmocka_unit_test(faces_and_directions_are_those_of_all_pairs),
        cmocka_unit_test(flipped_directions_push_out),
        cmocka_unit_test(half_the_step_is_half_the_jump),
        cmocka_unit_test(seeds_hardly_matter),
        cmocka_unit_test(files_hold_the_surface),
        cmocka_unit_test(many_poses_allocate_nothing),
        cmocka_unit_test(no_memory_leaks_nothing),
        cmocka_unit_test(meshes_are_checked),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
