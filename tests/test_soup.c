/* SPDX-License-Identifier: MIT */
/* Which faces meet: 20,000 lattice soups against the oracle, in many guises; soups within rounding
 * of touching; the cloths of known count; any number of threads, any instruction set. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/integer_oracle.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"
#include "tests/support/triangle_pairs.h"

#define SOUPS TEST_CASES(20000)

static carom_pairs pairs;

static void list_pairs(carom_context *context, const carom_soup_def *def) {
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, def, &soup));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    carom_soup_destroy(soup);
}

static bool count_pairs(void *user, const carom_pair *found, uint64_t count) {
    uint64_t *seen = user;
    if (count > pairs.count - *seen ||
        memcmp(pairs.data + *seen, found, count * sizeof(*found)) != 0)
        return true;
    *seen += count;
    return false;
}

static void query(carom_context *context, const carom_soup_def *def, int way,
                  const oracle_pairs *expected, const char *what) {
    carom_soup *soup;
    uint64_t count = expected->count, seen = count;
    bool any = count != 0;
    assert_ok(context, carom_soup_create(context, def, &soup));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    oracle_assert_equal(&pairs, expected, what);
    if (way % 4 == 1) assert_ok(context, carom_soup_self_count(context, soup, &count));
    if (count != expected->count) fail_msg("%s: count is %" PRIu64, what, count);
    if (way % 4 == 2) assert_ok(context, carom_soup_self_meet(context, soup, &any));
    if (any != (expected->count != 0)) fail_msg("%s: any is %d", what, any);
    if (way % 4 == 3) seen = 0;
    if (way % 4 == 3) assert_ok(context, carom_soup_self_each(context, soup, count_pairs, &seen));
    if (seen != expected->count) fail_msg("%s: streamed up to pair %" PRIu64, what, seen);
    carom_soup_destroy(soup);
}

/* ---- lattice soups --------------------------------------------------------------------------- */

static void lattice_soups_agree_with_the_oracle(void **state) {
    (void)state;
    static lattice_soup soup, moved;
    carom_context *contexts[CAROM_ISA_COUNT];
    int context_count = test_contexts_of_isas(0, contexts, 0);
    carom_random random = {4};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    uint64_t total = 0;
    for (int i = 0; i < SOUPS; ++i) {
        lattice_make(&random, &soup);
        carom_context *context = contexts[i % context_count];
        carom_mesh_view view = lattice_view(&soup);
        carom_soup_def def = {
            .mesh = &view, .fan = soup.polygons && i % 2 == 1, .rigid = i % 5 == 0};
        char what[128];
        oracle_self(context, &view, def.fan, NULL, expected);
        for (int mode = 0; mode < CAROM_SOUP_DEGENERATE_COUNT; ++mode) {
            snprintf(what, sizeof(what), "soup %d of kind %d, mode %d", i, (int)soup.kind, mode);
            def.degenerate = (carom_soup_degenerate)mode;
            total += expected[mode].count;
            query(context, &def, i / 2, &expected[mode], what);
        }
        const lattice_guise *guise = lattice_disguise(&soup, (uint32_t)i / 2, &moved, &view);
        def.degenerate = (carom_soup_degenerate)(i % CAROM_SOUP_DEGENERATE_COUNT);
        snprintf(what, sizeof(what), "soup %d of kind %d, (x + %g) * %g%s", i, (int)soup.kind,
                 guise->by, guise->scale, guise->floats ? "f" : "");
        query(context, &def, 0, &expected[def.degenerate], what);
    }
    print_message("%" PRIu64 " pairs\n", total);
    oracle_free_all(expected);
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
}

/* One soup against another, both as they are, one moved by whole numbers and turned half round. */
static void two_lattice_soups_agree_with_the_oracle(void **state) {
    (void)state;
    static lattice_soup a, b;
    carom_context *context = test_context(1);
    carom_random random = {10};
    oracle_pairs expected = {0};
    for (int i = 0; i < TEST_CASES(3000); ++i) {
        lattice_make(&random, &a);
        lattice_make(&random, &b);
        carom_mesh_view view_a = lattice_view(&a);
        carom_soup_def def_a = {.mesh = &view_a,
                                .degenerate =
                                    (carom_soup_degenerate)(i % CAROM_SOUP_DEGENERATE_COUNT),
                                .fan = i % 3 == 0,
                                .rigid = i % 4 == 0};
        carom_mesh_view view_b = i % 5 == 0 ? lattice_view_floats(&b) : lattice_view(&b);
        carom_soup_def def_b = def_a;
        def_b.mesh = &view_b;
        carom_soup *soup_a, *soup_b;
        carom_pose pose = {.q.z = 1.0, .t = {5.0, 4.0, (double)(i % 3)}};
        char what[64];
        snprintf(what, sizeof(what), "two soups, case %d", i);
        assert_ok(context, carom_soup_create(context, &def_a, &soup_a));
        assert_ok(context, carom_soup_create(context, &def_b, &soup_b));
        oracle_cross(context, &view_a, &view_b, def_a.fan, def_a.degenerate, &expected);
        assert_ok(context, carom_soup_cross_pairs(context, soup_a, NULL, soup_b, NULL, &pairs));
        oracle_assert_equal(&pairs, &expected, what);
        for (uint32_t v = 0; v < b.vertices; ++v) { /* keeps the triangles of polygons */
            b.xyz[v][0] = pose.t.x - b.xyz[v][0];
            b.xyz[v][1] = pose.t.y - b.xyz[v][1];
            b.xyz[v][2] = pose.t.z + b.xyz[v][2];
        }
        view_b = lattice_view(&b);
        oracle_cross(context, &view_a, &view_b, def_a.fan, def_a.degenerate, &expected);
        assert_ok(context, carom_soup_cross_pairs(context, soup_a, NULL, soup_b, &pose, &pairs));
        oracle_assert_equal(&pairs, &expected, what);
        carom_soup_destroy(soup_a);
        carom_soup_destroy(soup_b);
    }
    oracle_free(&expected);
    carom_context_destroy(context);
}

/* ---- within rounding ------------------------------------------------------------------------- */

/* Pairs of triangles a few last places from touching, many in one soup, with common vertices. */
static void soups_within_rounding_agree_with_the_oracle(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {5};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    for (int i = 0; i < TEST_CASES(250); ++i) {
        carom_triangle t[8];
        uint32_t corners[24];
        for (uint32_t k = 0; k < 24; ++k) corners[k] = k;
        for (int k = 0; k < 8; k += 2) pair_make(&random, PAIR_NEAR, &t[k], &t[k + 1]);
        for (uint32_t k = 0; k < 24; k += 6) { /* give the second a corner or edge of the first */
            uint64_t common = pair_below(&random, 3);
            for (uint32_t c = 0; c < common; ++c) corners[k + 3 + c] = corners[k + c];
        }
        carom_mesh_view view = {
            .positions = t, .vertex_count = 24, .corners = corners, .face_count = 8};
        carom_soup_def def = {.mesh = &view};
        oracle_self(context, &view, false, NULL, expected);
        for (int mode = 0; mode < CAROM_SOUP_DEGENERATE_COUNT; ++mode) {
            char what[64];
            snprintf(what, sizeof(what), "near soup %d, mode %d", i, mode);
            def.degenerate = (carom_soup_degenerate)mode;
            query(context, &def, i, &expected[mode], what);
        }
    }
    oracle_free_all(expected);
    carom_context_destroy(context);
}

/* Faces with common vertices in a plane that is tilted, so that rounding moves each vertex out of
 * it a little: in space hardly a sign is certain, and in the plane nearly all are. */
static void faces_nearly_in_a_plane_agree_with_the_oracle(void **state) {
    (void)state;
    enum { VERTICES = 14, FACES = 24 };
    carom_context *contexts[CAROM_ISA_COUNT];
    int context_count = test_contexts_of_isas(1, contexts, 0);
    carom_random random = {15};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    for (int i = 0; i < TEST_CASES(1600); ++i) {
        double doubles[VERTICES][3];
        float floats[VERTICES][3];
        uint32_t corners[FACES][3];
        double slope[2] = {carom_random_between(&random, -3.0, 3.0),
                           carom_random_between(&random, -3.0, 3.0)};
        for (int v = 0; v < VERTICES; ++v) {
            double u = carom_random_between(&random, -1.0, 1.0);
            double w = carom_random_between(&random, -1.0, 1.0);
            const double at[3] = {u, w, slope[0] * u + slope[1] * w};
            for (int k = 0; k < 3; ++k) {
                doubles[v][(k + i) % 3] = at[k];
                floats[v][(k + i) % 3] = (float)at[k];
            }
        }
        for (int f = 0; f < FACES; ++f)
            for (int k = 0; k < 3; ++k) corners[f][k] = (uint32_t)pair_below(&random, VERTICES);
        carom_mesh_view view = {.positions = doubles,
                                .vertex_count = VERTICES,
                                .corners = corners[0],
                                .face_count = FACES};
        if (i % 2 != 0) view.positions = floats, view.scalar = CAROM_SCALAR_FLOAT32;
        carom_context *context = contexts[i / 2 % context_count];
        carom_soup_def def = {.mesh = &view};
        char what[64];
        oracle_self(context, &view, false, NULL, expected);
        snprintf(what, sizeof(what), "nearly flat soup %d", i);
        query(context, &def, i, &expected[def.degenerate], what);
    }
    oracle_free_all(expected);
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
}

/* ---- cloths ---------------------------------------------------------------------------------- */

/* Counts with and without faces that have a vertex in common, and the checksum of the latter: sum
 * of splitmix64's finaliser over (a << 32 | b). Found by CGAL and by exact tests on all pairs. */
typedef struct cloth {
    uint64_t detail, disjoint, checksum, all;
    bool quick;
} cloth;

static const cloth cloths[] = {
    {100, 5190, UINT64_C(0xb95522c4faaea549), 5440, true},
    {224, 12328, UINT64_C(0xf9438ed29f18797d), 12598, true},
    {354, 19696, UINT64_C(0x868ea7c9bd16bd3b), 19972, false},
    {707, 39535, UINT64_C(0xc8c8b16fde651b4f), 39816, false},
};

static bool have_common_vertex(const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < 9; ++i)
        if (a[i / 3] == b[i % 3]) return true;
    return false;
}

static void cloths_have_their_known_pairs(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    for (size_t i = 0; i < COUNT_OF(cloths); ++i) {
        const cloth *c = &cloths[i];
        if (!c->quick && getenv("CAROM_LONG") == NULL) continue;
        for (int scalar = 0; scalar < CAROM_SCALAR_COUNT; ++scalar) {
            carom_shape_def shape = {
                .shape = CAROM_SHAPE_CLOTH, .detail = c->detail, .scalar = (carom_scalar)scalar};
            carom_mesh_view view = {0};
            carom_soup_def def = {.mesh = &view};
            carom_mesh *mesh = shape_mesh(context, &shape, &view);
            for (uint64_t k = 0; scalar == CAROM_SCALAR_FLOAT64 && k < 3 * view.vertex_count; ++k) {
                volatile float rounded = (float)((const double *)view.positions)[k];
                assert_true((double)rounded == ((const double *)view.positions)[k]);
            }
            list_pairs(context, &def);
            uint64_t disjoint = 0, checksum = 0;
            for (uint64_t k = 0; k < pairs.count; ++k) {
                carom_pair p = pairs.data[k];
                if (have_common_vertex(view.corners + 3 * (uint64_t)p.a,
                                       view.corners + 3 * (uint64_t)p.b))
                    continue;
                carom_random mix = {(uint64_t)p.a << 32 | p.b};
                checksum += carom_random_next(&mix);
                ++disjoint;
            }
            assert_int_equal(pairs.count, c->all);
            assert_int_equal(disjoint, c->disjoint);
            assert_int_equal(checksum, c->checksum);
            carom_mesh_destroy(mesh);
        }
    }
    carom_context_destroy(context);
}

/* ---- one answer ------------------------------------------------------------------------------ */

static void any_threads_and_any_instruction_set_give_the_same_bytes(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    static const carom_shape_def shapes[] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 120},
        {.shape = CAROM_SHAPE_CLOTH,
         .detail = 90,
         .scalar = CAROM_SCALAR_FLOAT32,
         .polygons = true},
        {.shape = CAROM_SHAPE_CHAZELLE, .detail = 60, .polygons = true},
        {.shape = CAROM_SHAPE_SHARDS, .parts = 60, .ratio = 1e-9},
    };
    for (size_t s = 0; s < COUNT_OF(shapes); ++s) {
        uint64_t hash = 0, work_hash = 0;
        for (size_t i = 0; i < COUNT_OF(threads) * (CAROM_ISA_COUNT - 1); ++i) {
            carom_isa isa = (carom_isa)(CAROM_ISA_BASELINE + i / COUNT_OF(threads));
            carom_context *context = test_context_isa(threads[i % COUNT_OF(threads)], isa);
            if (context == NULL) continue;
            carom_soup *soup;
            carom_mesh_view view = {0};
            carom_soup_def def = {.mesh = &view};
            carom_work work;
            uint64_t count, seen = 0;
            carom_mesh *mesh = shape_mesh(context, &shapes[s], &view);
            assert_ok(context, carom_soup_create(context, &def, &soup));
            assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
            assert_ok(context, carom_context_get_work(context, &work));
            assert_ok(context, carom_soup_self_count(context, soup, &count));
            assert_int_equal(count, pairs.count);
            assert_ok(context, carom_soup_self_each(context, soup, count_pairs, &seen));
            assert_int_equal(seen, count);
            uint64_t bytes = test_hash(pairs.data, pairs.count * sizeof(*pairs.data), 0);
            uint64_t candidates = test_hash(&work.candidates, sizeof(work.candidates), 0);
            if (hash == 0) {
                hash = bytes;
                work_hash = candidates;
            }
            assert_int_equal(hash, bytes);
            assert_int_equal(work_hash, candidates);
            carom_soup_destroy(soup);
            carom_mesh_destroy(mesh);
            carom_context_destroy(context);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_agree_with_the_oracle),
        cmocka_unit_test(two_lattice_soups_agree_with_the_oracle),
        cmocka_unit_test(soups_within_rounding_agree_with_the_oracle),
        cmocka_unit_test(faces_nearly_in_a_plane_agree_with_the_oracle),
        cmocka_unit_test(cloths_have_their_known_pairs),
        cmocka_unit_test(any_threads_and_any_instruction_set_give_the_same_bytes),
    };
    int failed = cmocka_run_group_tests_name("soup", tests, NULL, NULL);
    carom_pairs_free(&pairs);
    return failed;
}
