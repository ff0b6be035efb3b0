/* SPDX-License-Identifier: MIT */
/* Methods GRID and AUTO give the bytes of TREE and of the oracle: on lattice soups in many guises,
 * for every hash and tables of 1 to 16 buckets, with sizes 1e12 apart, in any pose, on real models,
 * for any number of threads and any instruction set. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soup/soup_view.h"
#include "tests/support/campaign.h"
#include "tests/support/integer_oracle.h"
#include "tests/support/lattice.h"
#include "tests/support/models.h"
#include "tests/support/shapes.h"
#include "tests/support/soup_oracle.h"

static carom_pairs pairs, others;

/* Ways to search: the grid in all its forms, and the tree with a budget that is spent at once, soon
 * or not at all. */
static void any_method(int i, carom_soup_def *def) {
    static const double scales[] = {0.0, 1.0, 0.5, 4.0};
    static const uint64_t budgets[] = {1, 40, 400, 0};
    def->method = i % 3 == 0 ? CAROM_SOUP_METHOD_AUTO : CAROM_SOUP_METHOD_GRID;
    def->work_budget = budgets[i / 3 % 4];
    def->grid.hash = (carom_grid_hash)(i / 2 % CAROM_GRID_HASH_COUNT);
    def->grid.buckets = i % 5 == 0 ? 0 : (uint32_t)(1 + i / 5 % 16);
    def->grid.cell_scale = scales[i / 7 % 4];
}

static bool compare_streamed(void *user, const carom_pair *found, uint64_t count) {
    uint64_t *seen = user;
    if (count > pairs.count - *seen ||
        memcmp(pairs.data + *seen, found, count * sizeof(*found)) != 0)
        return true;
    *seen += count;
    return false;
}

static void query(carom_context *context, const carom_soup_def *def, const oracle_pairs *expected,
                  const char *what) {
    carom_soup *soup;
    uint64_t count, seen = 0, bound;
    bool any;
    carom_work work;
    assert_ok(context, carom_soup_create(context, def, &soup));
    assert_valid(carom_soup_validate(soup));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_ok(context, carom_context_get_work(context, &work));
    oracle_assert_equal(&pairs, expected, what);
    assert_ok(context, carom_soup_self_bound(context, soup, &bound));
    if (def->method == CAROM_SOUP_METHOD_GRID && work.candidates > bound)
        fail_msg("%s: %" PRIu64 " candidates, the bound is %" PRIu64, what, work.candidates, bound);
    assert_ok(context, carom_soup_self_count(context, soup, &count));
    if (count != expected->count) fail_msg("%s: count is %" PRIu64, what, count);
    assert_ok(context, carom_soup_self_meet(context, soup, &any));
    if (any != (expected->count != 0)) fail_msg("%s: any is %d", what, any);
    assert_ok(context, carom_soup_self_each(context, soup, compare_streamed, &seen));
    if (seen != expected->count) fail_msg("%s: streamed up to pair %" PRIu64, what, seen);
    carom_soup_destroy(soup);
}

/* ---- one soup -------------------------------------------------------------------------------- */

static void lattice_soups_agree_with_the_oracle(void **state) {
    (void)state;
    static lattice_soup soup, moved;
    carom_context *contexts[CAROM_ISA_COUNT];
    int context_count = 0, soups = campaign_is_long() ? 100000 : TEST_CASES(4000);
    context_count = test_contexts_of_isas(0, contexts, context_count);
    carom_random random = {104};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    for (int i = 0; i < soups; ++i) {
        char what[128];
        lattice_make(&random, &soup);
        carom_context *context = contexts[i % context_count];
        carom_mesh_view view = lattice_view(&soup);
        carom_soup_def def = {.mesh = &view, .fan = soup.polygons && i % 2 == 1};
        oracle_self(context, &view, def.fan, NULL, expected);
        any_method(i, &def);
        for (int mode = 0; mode < CAROM_SOUP_DEGENERATE_COUNT; ++mode) {
            snprintf(what, sizeof(what), "soup %d of kind %d, mode %d", i, (int)soup.kind, mode);
            def.degenerate = (carom_soup_degenerate)mode;
            query(context, &def, &expected[mode], what);
        }
        const lattice_guise *guise = lattice_disguise(&soup, (uint32_t)i / 2, &moved, &view);
        def.degenerate = (carom_soup_degenerate)(i % CAROM_SOUP_DEGENERATE_COUNT);
        any_method(i + 1, &def);
        snprintf(what, sizeof(what), "soup %d of kind %d, (x + %g) * %g%s", i, (int)soup.kind,
                 guise->by, guise->scale, guise->floats ? "f" : "");
        query(context, &def, &expected[def.degenerate], what);
    }
    oracle_free_all(expected);
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
}

/* Several soups in one, each a thousand to 2^40 (1e12) times smaller than the one before. */
static void sizes_may_be_far_apart(void **state) {
    (void)state;
    static double xyz[3 * LATTICE_CORNERS][3];
    static uint32_t corners[3 * LATTICE_CORNERS];
    static lattice_soup piece;
    carom_context *context = test_context(1);
    carom_random random = {105};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    for (int i = 0; i < TEST_CASES(600); ++i) {
        uint32_t vertices = 0, faces = 0;
        for (int part = 0; part < 3; ++part) {
            do lattice_make(&random, &piece);
            while (piece.polygons);
            double scale = part == 0 ? 1.0 : ldexp(1.0, part == 1 ? -10 - i % 10 : -20 - i % 21);
            for (uint32_t c = 0; c < 3 * piece.faces; ++c)
                corners[3 * faces + c] = vertices + piece.corners[c];
            for (uint32_t v = 0; v < piece.vertices; ++v, ++vertices)
                for (int k = 0; k < 3; ++k)
                    xyz[vertices][k] = piece.xyz[v][k] * scale + (i % 2 == 0 ? 0.0 : 1e6);
            faces += piece.faces;
        }
        char what[64];
        snprintf(what, sizeof(what), "sizes apart, case %d", i);
        carom_mesh_view view = {
            .positions = xyz, .vertex_count = vertices, .corners = corners, .face_count = faces};
        carom_soup_def def = {
            .mesh = &view, .degenerate = (carom_soup_degenerate)(i % CAROM_SOUP_DEGENERATE_COUNT)};
        any_method(i, &def);
        oracle_self(context, &view, false, NULL, expected);
        query(context, &def, &expected[def.degenerate], what);
    }
    oracle_free_all(expected);
    carom_context_destroy(context);
}

/* ---- two soups ------------------------------------------------------------------------------- */

static carom_soup *soup_of(carom_context *context, const oracle_soup *from, int way) {
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = from->positions,
                                                     .vertex_count = from->vertex_count,
                                                     .corners = from->corners[0],
                                                     .face_count = from->face_count},
                          .degenerate = from->as_segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                          : CAROM_SOUP_DEGENERATE_ALONE};
    carom_soup *soup;
    any_method(way, &def);
    if (way % 4 == 3) def.method = CAROM_SOUP_METHOD_TREE;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_valid(carom_soup_validate(soup));
    return soup;
}

/* By grids and mixed with trees, in two poses. */
static void check_two(carom_context *context, const oracle_soup *a, const carom_pose *pose_a,
                      const oracle_soup *b, const carom_pose *pose_b, int seed) {
    static oracle_answer answer;
    oracle_compare(a, pose_a, b, pose_b, &answer);
    for (int way = 0; way < 3; ++way) {
        carom_soup *sa = soup_of(context, a, seed + 5 * way);
        carom_soup *sb = soup_of(context, b, seed + 7 * way + 1);
        bool any;
        assert_ok(context, carom_soup_cross_pairs(context, sa, pose_a, sb, pose_b, &pairs));
        assert_int_equal(pairs.count, answer.count);
        if (pairs.count != 0)
            assert_memory_equal(pairs.data, answer.pairs, pairs.count * sizeof(carom_pair));
        uint64_t count, seen = 0;
        assert_ok(context, carom_soup_cross_count(context, sa, pose_a, sb, pose_b, &count));
        assert_int_equal(count, pairs.count);
        assert_ok(context,
                  carom_soup_cross_each(context, sa, pose_a, sb, pose_b, compare_streamed, &seen));
        assert_int_equal(seen, pairs.count);
        assert_ok(context, carom_soup_cross_meet(context, sa, pose_a, sb, pose_b, &any));
        assert_int_equal(any, answer.count != 0);
        carom_soup_destroy(sa);
        carom_soup_destroy(sb);
    }
}

static void two_soups(uint64_t seed, uint64_t cases, uint32_t most_faces, double scale_a,
                      double scale_b, double offset) {
    static oracle_soup a, b;
    uint64_t dice = seed;
    carom_context *contexts[2] = {test_context(1), test_context(3)};
    cases = campaign_is_long() ? 40 * cases : TEST_CASES(cases);
    for (uint64_t i = 0; i < cases; ++i) {
        uint32_t size = 2 + oracle_below(&dice, 6);
        carom_context *context = contexts[i % 2];
        oracle_make(&dice, oracle_below(&dice, most_faces), size, scale_a, offset, &a);
        oracle_make(&dice, oracle_below(&dice, most_faces), size, scale_b, offset, &b);
        a.as_segments = oracle_below(&dice, 4) == 0;
        b.as_segments = oracle_below(&dice, 4) == 0;
        carom_pose pose_a = oracle_pose(&dice, scale_a), pose_b = oracle_pose(&dice, scale_b);
        if (i % 3 == 0) memset(&pose_a, 0, sizeof(pose_a));
        check_two(context, &a, &pose_a, &b, &pose_b, (int)(i % 84));
    }
    carom_context_destroy(contexts[0]);
    carom_context_destroy(contexts[1]);
}

static void soups_in_any_pose_agree_with_all_pairs(void **state) {
    (void)state;
    two_soups(1, 1500, 8, 1.0, 1.0, 0.0);
    two_soups(2, 60, 40, 1.0, 1.0, 0.0);
    two_soups(3, 3, 300, 0.25, 0.25, 0.0);
    two_soups(4, 60, 20, 1.0, 0x1p-9, 0.0);
    two_soups(5, 40, 20, 0x1p-20, 1.0, 0.0);
    two_soups(6, 40, 20, 0x1p40, 1.0, 0.0);
    two_soups(7, 40, 20, 1.0, 0x1p70, 0.0);
    two_soups(8, 200, 20, 1.0, 1.0, 1e6);
    two_soups(9, 40, 20, 1.0, 1.0, 1e15);
    two_soups(10, 20, 12, 0x1p300, 0x1p300, 0.0);
    two_soups(11, 20, 12, 0x1p-300, 0x1p-300, 0.0);
    two_soups(12, 20, 12, 0x1p1000, 1.0, 0.0);
    two_soups(13, 20, 12, 0x1p-1060, 0x1p-1060, 0.0);
}

/* Both moved so far that x' is rounded to coarse steps: what meets is what meets in those. */
static void soups_rounded_by_their_poses_agree(void **state) {
    (void)state;
    static oracle_soup a, b;
    uint64_t dice = 40, met = 0;
    carom_context *context = test_context(1);
    for (double far_away = 10.0; far_away < 1e18; far_away *= 10.0) {
        for (int i = 0; i < 30; ++i) {
            oracle_make(&dice, 1 + oracle_below(&dice, 20), 5, 1.0, 0.0, &a);
            oracle_make(&dice, 1 + oracle_below(&dice, 20), 5, 1.0, 0.0, &b);
            carom_pose pose = oracle_pose(&dice, far_away), other = pose;
            if (i % 2 == 0) other.t.x += 1.0;
            check_two(context, &a, &pose, &b, &other, i);
            met += pairs.count;
        }
    }
    assert_true(met > 1000);
    carom_context_destroy(context);
}

/* ---- models and shapes ----------------------------------------------------------------------- */

static uint64_t hash_of(const carom_pairs *list) {
    return test_hash(list->data, list->count * sizeof(*list->data), 0);
}

static carom_soup *make(carom_context *context, const carom_mesh_view *mesh,
                        carom_soup_method method, carom_grid_hash hash, uint64_t budget) {
    carom_soup_def def = {
        .mesh = mesh, .method = method, .grid = {.hash = hash}, .work_budget = budget};
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    return soup;
}

static void compare_methods(carom_context *context, const carom_mesh_view *mesh, const char *name) {
    carom_soup *tree = make(context, mesh, CAROM_SOUP_METHOD_TREE, 0, 0);
    assert_ok(context, carom_soup_self_pairs(context, tree, &others));
    carom_soup_destroy(tree);
    for (int h = 0; h <= CAROM_GRID_HASH_COUNT; ++h) {
        carom_soup_method method =
            h < CAROM_GRID_HASH_COUNT ? CAROM_SOUP_METHOD_GRID : CAROM_SOUP_METHOD_AUTO;
        carom_soup *soup = make(context, mesh, method, (carom_grid_hash)(h % 4), h == 4 ? 999 : 0);
        assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
        if (pairs.count != others.count || hash_of(&pairs) != hash_of(&others))
            fail_msg("%s: method %d, hash %d finds %" PRIu64 " pairs, the tree %" PRIu64, name,
                     (int)method, h, pairs.count, others.count);
        carom_soup_destroy(soup);
    }
}

static void shapes_have_the_same_pairs_by_any_method(void **state) {
    (void)state;
    static const carom_shape_def shapes[] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 100},
        {.shape = CAROM_SHAPE_CLOTH, .detail = 100, .scalar = CAROM_SCALAR_FLOAT32},
        {.shape = CAROM_SHAPE_CLOTH, .detail = 60, .polygons = true},
        {.shape = CAROM_SHAPE_CHAZELLE, .detail = 40, .polygons = true},
        {.shape = CAROM_SHAPE_SHARDS, .parts = 60, .ratio = 1e-9},
        {.shape = CAROM_SHAPE_KNOT},
        {.shape = CAROM_SHAPE_CHAIN},
    };
    carom_context *context = test_context(2);
    for (size_t s = 0; s < COUNT_OF(shapes); ++s) {
        carom_mesh_view view;
        carom_mesh *mesh = shape_mesh(context, &shapes[s], &view);
        compare_methods(context, &view, carom_shape_name(shapes[s].shape));
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

/* Numbers of pairs as counted by CGAL; with CAROM_LONG=1 all of them, else every fortieth. */
static void models_have_their_true_pairs_by_grid(void **state) {
    (void)state;
    char line[1024], path[1024];
    const char *shared = test_shared_folder();
    if (shared == NULL) skip();
    snprintf(path, sizeof(path), "%s/models/truth/self_intersections.csv", shared);
    FILE *in = fopen(path, "r");
    if (in == NULL) skip();
    carom_context *context = test_context(2);
    bool all = campaign_is_long();
    int row = 0, models = 0;
    while (fgets(line, sizeof(line), in) != NULL) {
        char file[256];
        unsigned long long vertices, triangles, total;
        if (sscanf(line, "\"%255[^\"]\",%llu,%llu,%llu", file, &vertices, &triangles, &total) != 4)
            continue;
        if (row++ % 40 != 7 && !all) continue;
        if (triangles > 200000 && !all) continue;
        carom_mesh *mesh = models_load_fan(context, file);
        carom_mesh_view view;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        carom_soup *tree = make(context, &view, CAROM_SOUP_METHOD_TREE, 0, 0);
        carom_soup *grid =
            make(context, &view, CAROM_SOUP_METHOD_GRID, (carom_grid_hash)(row % 4), 0);
        assert_ok(context, carom_soup_self_pairs(context, tree, &others));
        assert_ok(context, carom_soup_self_pairs(context, grid, &pairs));
        if (pairs.count != total || others.count != total || hash_of(&pairs) != hash_of(&others))
            fail_msg("%s: %" PRIu64 " pairs by grid, %" PRIu64 " by tree, truth is %llu", file,
                     pairs.count, others.count, total);
        carom_soup_destroy(tree);
        carom_soup_destroy(grid);
        carom_mesh_destroy(mesh);
        ++models;
    }
    fclose(in);
    print_message("%d models\n", models);
    carom_context_destroy(context);
}

/* ---- one answer ------------------------------------------------------------------------------ */

static void any_threads_and_any_instruction_set_give_the_same_bytes(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    static const carom_shape_def shapes[] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 90},
        {.shape = CAROM_SHAPE_CLOTH,
         .detail = 60,
         .scalar = CAROM_SCALAR_FLOAT32,
         .polygons = true},
        {.shape = CAROM_SHAPE_CHAZELLE, .detail = 30, .polygons = true},
    };
    for (size_t s = 0; s < 2 * COUNT_OF(shapes); ++s) {
        carom_soup_method method = s % 2 == 0 ? CAROM_SOUP_METHOD_GRID : CAROM_SOUP_METHOD_AUTO;
        uint64_t hash = 0, candidates = 0, visits = 0;
        for (size_t i = 0; i < COUNT_OF(threads) * (CAROM_ISA_COUNT - 1); ++i) {
            carom_isa isa = (carom_isa)(CAROM_ISA_BASELINE + i / COUNT_OF(threads));
            carom_context *context = test_context_isa(threads[i % COUNT_OF(threads)], isa);
            if (context == NULL) continue;
            carom_mesh_view view;
            carom_work work;
            uint64_t count, seen = 0;
            carom_mesh *mesh = shape_mesh(context, &shapes[s / 2], &view);
            carom_soup *soup = make(context, &view, method, CAROM_GRID_HASH_BLOCK, 5000);
            assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
            assert_ok(context, carom_context_get_work(context, &work));
            assert_ok(context, carom_soup_self_count(context, soup, &count));
            assert_int_equal(count, pairs.count);
            assert_ok(context, carom_soup_self_each(context, soup, compare_streamed, &seen));
            assert_int_equal(seen, count);
            if (hash == 0) {
                hash = hash_of(&pairs);
                candidates = work.candidates;
                visits = work.visits;
            }
            assert_int_equal(hash, hash_of(&pairs));
            assert_int_equal(candidates, work.candidates);
            assert_int_equal(visits, work.visits);
            carom_soup_destroy(soup);
            carom_mesh_destroy(mesh);
            carom_context_destroy(context);
        }
    }
}

/* A result far larger than the soup comes in windows. */
static void large_results_stream_by_grid(void **state) {
    (void)state;
    enum { SIDE = 400 };
    static double xyz[6 * SIDE][3];
    static uint32_t corners[6 * SIDE];
    carom_context *context = test_context(2);
    for (uint32_t i = 0; i < 2 * SIDE; ++i) { /* each of one half crosses each of the other */
        double at = (double)(i % SIDE) + 1.0;
        const double across[3][3] = {{at, 0.0, -1.0}, {at, SIDE + 1.0, -1.0}, {at, 200.0, 1.0}};
        const double along[3][3] = {
            {0.0, at + 0.5, -0.9}, {SIDE + 1.0, at + 0.5, -0.9}, {200.0, at + 0.5, 1.0}};
        memcpy(xyz[3 * i], i < SIDE ? across : along, sizeof(across));
    }
    for (uint32_t i = 0; i < 6 * SIDE; ++i) corners[i] = i;
    carom_mesh_view view = {
        .positions = xyz, .vertex_count = 6 * SIDE, .corners = corners, .face_count = 2 * SIDE};
    for (int way = 0; way < 3; ++way) {
        uint64_t seen = 0, count;
        carom_soup *soup =
            make(context, &view, way == 0 ? CAROM_SOUP_METHOD_GRID : CAROM_SOUP_METHOD_AUTO,
                 CAROM_GRID_HASH_BLOCK, way == 1 ? 30000 : 0);
        assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
        assert_true(pairs.count > 70000);
        assert_ok(context, carom_soup_self_each(context, soup, compare_streamed, &seen));
        assert_int_equal(seen, pairs.count);
        assert_ok(context, carom_soup_self_count(context, soup, &count));
        assert_int_equal(count, seen);
        carom_soup_destroy(soup);
    }
    carom_context_destroy(context);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void grids_without_a_tree_say_so(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view view;
    carom_shape_def shape = {0};
    carom_soup_gap gap;
    carom_hit hit;
    carom_vec3 point = {0.0, 0.0, 0.0};
    carom_ray ray = {.direction = {1.0, 0.0, 0.0}};
    int32_t winding;
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    carom_soup *grid = make(context, &view, CAROM_SOUP_METHOD_GRID, 0, 0);
    carom_soup *tree = make(context, &view, CAROM_SOUP_METHOD_TREE, 0, 0);
    assert_fails(context, carom_soup_cross_distance(context, tree, NULL, grid, NULL, 0.0, &gap),
                 CAROM_UNSUPPORTED, "GRID");
    assert_fails(context, carom_soup_closest_points(context, grid, &point, 1, &hit),
                 CAROM_UNSUPPORTED, "no tree");
    assert_fails(context, carom_soup_cast_rays(context, grid, &ray, 1, &hit), CAROM_UNSUPPORTED,
                 "AUTO or TREE");
    assert_fails(context, carom_soup_winding(context, grid, &point, 1, &winding), CAROM_UNSUPPORTED,
                 "GRID");
    carom_soup_destroy(grid);
    carom_soup_destroy(tree);
    carom_soup_def def = {.mesh = &view, .grid = {.cell_scale = 0.1}};
    assert_fails(context, carom_soup_create(context, &def, &grid), CAROM_BAD_INPUT, "cell_scale");
    def.grid = (carom_grid_def){.buckets = UINT32_MAX};
    assert_fails(context, carom_soup_create(context, &def, &grid), CAROM_BAD_INPUT, "buckets");
    test_asserts_begin();
    def.grid = (carom_grid_def){.hash = CAROM_GRID_HASH_COUNT};
    assert_int_equal(carom_soup_create(context, &def, &grid), CAROM_INVALID);
    def.grid = (carom_grid_def){0};
    def.method = CAROM_SOUP_METHOD_COUNT;
    assert_int_equal(carom_soup_create(context, &def, &grid), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 2);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void queries_allocate_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view view;
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 60};
    carom_pose pose = {.q.w = 1.0, .q.x = 0.3, .t = {0.1, 0.0, 0.0}};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    for (int way = 0; way < 2; ++way) {
        carom_soup *soup = make(context, &view,
                                way == 0 ? CAROM_SOUP_METHOD_GRID : CAROM_SOUP_METHOD_AUTO, 0, 100);
        for (int round = 0; round < 6; ++round) {
            uint64_t before = test_malloc_count(), count, bound;
            bool any;
            assert_ok(context, carom_soup_update(context, soup, &view));
            assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
            assert_ok(context, carom_soup_self_count(context, soup, &count));
            assert_ok(context, carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &others));
            assert_ok(context, carom_soup_cross_meet(context, soup, NULL, soup, &pose, &any));
            assert_ok(context, carom_soup_self_bound(context, soup, &bound));
            if (round > 3) assert_int_equal(test_malloc_count(), before);
        }
        carom_soup_destroy(soup);
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static carom_status live(carom_allocator allocator, void *argument) {
    const carom_soup_def *def = argument;
    carom_context *context;
    carom_context_def context_def = {.threads = 2, .allocator = allocator};
    carom_soup *soup = NULL;
    carom_pairs found = {0};
    carom_pose pose = {.q.w = 1.0, .q.z = 0.5};
    uint64_t count = 0;
    const uint32_t face = 3;
    carom_status status = carom_context_create(&context_def, &context);
    if (status != CAROM_OK) return status;
    status = carom_soup_create(context, def, &soup);
    if (status == CAROM_OK) status = carom_soup_add(context, soup, def->mesh, NULL);
    if (status == CAROM_OK) status = carom_soup_remove(context, soup, &face, 1);
    if (status == CAROM_OK) status = carom_soup_self_pairs(context, soup, &found);
    if (status == CAROM_OK) status = carom_soup_self_bound(context, soup, &count);
    if (status == CAROM_OK)
        status = carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &found);
    if (status != CAROM_OK) assert_true(carom_context_message(context)[0] != '\0');
    carom_pairs_free(&found);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 30};
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    for (int way = 0; way < 3; ++way) {
        def.method = way == 0 ? CAROM_SOUP_METHOD_AUTO : CAROM_SOUP_METHOD_GRID;
        def.work_budget = 10;
        def.grid.hash = way == 2 ? CAROM_GRID_HASH_PERFECT : CAROM_GRID_HASH_BLOCK;
        test_allocation_failures(live, &def);
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_agree_with_the_oracle),
        cmocka_unit_test(sizes_may_be_far_apart),
        cmocka_unit_test(soups_in_any_pose_agree_with_all_pairs),
        cmocka_unit_test(soups_rounded_by_their_poses_agree),
        cmocka_unit_test(shapes_have_the_same_pairs_by_any_method),
        cmocka_unit_test(models_have_their_true_pairs_by_grid),
        cmocka_unit_test(any_threads_and_any_instruction_set_give_the_same_bytes),
        cmocka_unit_test(large_results_stream_by_grid),
        cmocka_unit_test(grids_without_a_tree_say_so),
        cmocka_unit_test(queries_allocate_nothing),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    int failed = cmocka_run_group_tests_name("soup_grid", tests, NULL, NULL);
    carom_pairs_free(&pairs);
    carom_pairs_free(&others);
    return failed;
}
