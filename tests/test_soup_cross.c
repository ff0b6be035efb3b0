/* SPDX-License-Identifier: MIT */
#include "soup/soup_view.h"
#include "tests/support/campaign.h"
#include "tests/support/shapes.h"
#include "tests/support/soup_oracle.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

TEST_CONTEXT(2)

static carom_mesh_view view_of(const oracle_soup *soup, bool floats) {
    return (carom_mesh_view){.positions = floats ? (const void *)soup->floats : soup->positions,
                             .scalar = floats ? CAROM_SCALAR_FLOAT32 : CAROM_SCALAR_FLOAT64,
                             .vertex_count = soup->vertex_count,
                             .corners = soup->corners[0],
                             .face_count = soup->face_count};
}

static carom_soup *soup_of(const oracle_soup *from, bool floats, bool rigid) {
    carom_soup_def def = {.mesh = (carom_mesh_view[]){view_of(from, floats)},
                          .rigid = rigid,
                          .degenerate = from->as_segments ? CAROM_SOUP_DEGENERATE_AS_SEGMENT
                                                          : CAROM_SOUP_DEGENERATE_ALONE};
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_valid(carom_soup_validate(soup));
    return soup;
}

static double largest_of(const carom_triangle *t) {
    double most = 0.0;
    for (int i = 0; i < 3; ++i) {
        double size = carom_vec_largest(t->corner[i]);
        most = size > most ? size : most;
    }
    return most;
}

/* The witnesses lie on their faces, as far apart as was said. */
static void check_witnesses(const oracle_soup *a, const carom_pose *pose_a, const oracle_soup *b,
                            const carom_pose *pose_b, const carom_soup_gap *gap) {
    carom_triangle ta = oracle_triangle(a, gap->face_a, pose_a);
    carom_triangle tb = oracle_triangle(b, gap->face_b, pose_b);
    carom_closest on_a, on_b;
    double size = largest_of(&ta) + largest_of(&tb), error = 1e-14 * size + 0x1p-1068;
    carom_near_point_triangle(gap->point_a, ta.corner, &on_a);
    carom_near_point_triangle(gap->point_b, tb.corner, &on_b);
    assert_true(on_a.distance <= error);
    assert_true(on_b.distance <= error);
    double apart = carom_length(carom_vec_sub(gap->point_a, gap->point_b));
    assert_true(fabs(apart - gap->distance) <= error);
}

/* What a stream has to give, and how much of it has come. */
typedef struct streamed {
    const carom_pair *expected;
    uint64_t count, seen, stop_at;
} streamed;

static bool compare_streamed(void *user, const carom_pair *found, uint64_t count) {
    streamed *s = user;
    assert_true(count > 0 && count <= s->count - s->seen);
    assert_memory_equal(s->expected + s->seen, found, count * sizeof(*found));
    s->seen += count;
    return s->stop_at != 0 && s->seen >= s->stop_at;
}

/* The same pairs, counted and streamed. */
static void check_count_and_stream(carom_context *with, const carom_soup *a,
                                   const carom_pose *pose_a, const carom_soup *b,
                                   const carom_pose *pose_b, const carom_pair *expected,
                                   uint64_t expected_count) {
    uint64_t count;
    streamed s = {.expected = expected, .count = expected_count};
    assert_ok(with, carom_soup_cross_count(with, a, pose_a, b, pose_b, &count));
    assert_int_equal(count, expected_count);
    assert_ok(with, carom_soup_cross_each(with, a, pose_a, b, pose_b, compare_streamed, &s));
    assert_int_equal(s.seen, expected_count);
}

/* With a limit the answer is the same, or that there is none below it. */
static void check_limits(const carom_soup *a, const carom_pose *pose_a, const carom_soup *b,
                         const carom_pose *pose_b, const carom_soup_gap *gap) {
    const double d = gap->distance;
    const double limits[] = {0.5 * d, nextafter(d, 0.0), d,        nextafter(d, HUGE_VAL),
                             3.0 * d, HUGE_VAL,          0x1p-1074};
    for (uint32_t i = 0; i < COUNT_OF(limits); ++i) {
        carom_soup_gap limited;
        memset(&limited, 0, sizeof(limited));
        if (limits[i] == 0.0) continue; /* no limit */
        assert_ok(context,
                  carom_soup_cross_distance(context, a, pose_a, b, pose_b, limits[i], &limited));
        if (d <= limits[i]) {
            assert_true(limited.distance == d);
            assert_int_equal(limited.face_a, gap->face_a);
            assert_int_equal(limited.face_b, gap->face_b);
            assert_memory_equal(&limited.point_a, &gap->point_a, sizeof(limited.point_a));
            assert_memory_equal(&limited.point_b, &gap->point_b, sizeof(limited.point_b));
        } else {
            assert_true(limited.distance == HUGE_VAL);
            assert_int_equal(limited.face_a, CAROM_NONE);
            assert_int_equal(limited.face_b, CAROM_NONE);
        }
    }
}

static void check_queries(const oracle_soup *a, const carom_soup *sa, const carom_pose *pose_a,
                          const oracle_soup *b, const carom_soup *sb, const carom_pose *pose_b,
                          const oracle_answer *answer) {
    static carom_pairs pairs;
    carom_soup_gap gap;
    bool any;
    assert_ok(context, carom_soup_cross_pairs(context, sa, pose_a, sb, pose_b, &pairs));
    assert_int_equal(pairs.count, answer->count);
    if (pairs.count != 0)
        assert_memory_equal(pairs.data, answer->pairs, pairs.count * sizeof(carom_pair));
    check_count_and_stream(context, sa, pose_a, sb, pose_b, answer->pairs, answer->count);
    assert_ok(context, carom_soup_cross_meet(context, sa, pose_a, sb, pose_b, &any));
    assert_int_equal(any, answer->count != 0);
    assert_ok(context, carom_soup_cross_distance(context, sa, pose_a, sb, pose_b, 0.0, &gap));
    assert_true(gap.distance == answer->distance);
    check_limits(sa, pose_a, sb, pose_b, &gap);
    if (answer->count == 0) {
        assert_int_equal(gap.face_a, answer->nearest.a);
        assert_int_equal(gap.face_b, answer->nearest.b);
    } else {
        carom_pair found = {gap.face_a, gap.face_b};
        bool listed = false;
        for (uint64_t i = 0; i < answer->count; ++i)
            listed = listed || memcmp(&answer->pairs[i], &found, sizeof(found)) == 0;
        assert_true(listed);
    }
    if (gap.face_a != CAROM_NONE) check_witnesses(a, pose_a, b, pose_b, &gap);
}

/* Float input of the same values must give the same answers. */
static bool fits_floats(const oracle_soup *soup) {
    for (uint32_t v = 0; v < soup->vertex_count; ++v)
        for (int k = 0; k < 3; ++k)
            if ((double)soup->floats[v][k] != soup->positions[v][k]) return false;
    return true;
}

static void compare_all_kinds(const oracle_soup *a, const carom_pose *pose_a, const oracle_soup *b,
                              const carom_pose *pose_b) {
    static oracle_answer answer;
    oracle_compare(a, pose_a, b, pose_b, &answer);
    for (uint32_t kind = 0; kind < 4; ++kind) {
        bool rigid_a = (kind & 1) != 0, rigid_b = (kind & 2) != 0;
        carom_soup *sa = soup_of(a, kind == 1 && fits_floats(a), rigid_a);
        carom_soup *sb = soup_of(b, kind <= 1 && fits_floats(b), rigid_b);
        check_queries(a, sa, pose_a, b, sb, pose_b, &answer);
        carom_soup_destroy(sa);
        carom_soup_destroy(sb);
    }
}

static uint64_t long_factor(void) {
    return campaign_is_long() ? 40 : 1;
}

static carom_pose farther(carom_pose pose, double times) {
    pose.t = carom_vec_scale(pose.t, times);
    return pose;
}

static void soups_far_apart_agree(void **state) {
    (void)state;
    static oracle_soup a, b;
    uint64_t dice = 40;
    for (double times = 10.0; times < 1e40; times *= 10.0) {
        for (uint64_t i = 0; i < 10 * long_factor(); ++i) {
            oracle_make(&dice, oracle_below(&dice, 30), 7, 1.0, 0.0, &a);
            oracle_make(&dice, oracle_below(&dice, 30), 7, 1.0, 0.0, &b);
            carom_pose pose_a = farther(oracle_pose(&dice, 1.0), times);
            carom_pose pose_b = farther(oracle_pose(&dice, 1.0), times);
            compare_all_kinds(&a, &pose_a, &b, &pose_b);
            compare_all_kinds(&a, &pose_a, &b, &pose_a);
        }
    }
}

static void lattice_soups(uint64_t seed, uint64_t cases, uint32_t most_faces, double scale_a,
                          double scale_b, double offset) {
    static oracle_soup a, b;
    uint64_t state = seed;
    for (uint64_t i = 0; i < TEST_CASES(cases * long_factor()); ++i) {
        uint32_t size = 2 + oracle_below(&state, 6);
        oracle_make(&state, oracle_below(&state, most_faces), size, scale_a, offset, &a);
        oracle_make(&state, oracle_below(&state, most_faces), size, scale_b, offset, &b);
        a.as_segments = oracle_below(&state, 4) == 0;
        b.as_segments = oracle_below(&state, 4) == 0;
        carom_pose pose_a = oracle_pose(&state, scale_a), pose_b = oracle_pose(&state, scale_b);
        compare_all_kinds(&a, &pose_a, &b, &pose_b);
        compare_all_kinds(&a, NULL, &b, &pose_b);
    }
}

static void lattice_soups_in_any_pose_agree_with_all_pairs(void **state) {
    (void)state;
    lattice_soups(1, 2000, 8, 1.0, 1.0, 0.0);
    lattice_soups(2, 60, 40, 1.0, 1.0, 0.0);
    lattice_soups(3, 3, 300, 0.25, 0.25, 0.0);
}

static void soups_of_different_size_agree(void **state) {
    (void)state;
    lattice_soups(4, 40, 20, 1.0, 0x1p-9, 0.0);
    lattice_soups(5, 40, 20, 0x1p-20, 1.0, 0.0);
    lattice_soups(6, 40, 20, 0x1p40, 1.0, 0.0);
    lattice_soups(7, 40, 20, 1.0, 0x1p70, 0.0);
}

static void soups_far_from_the_origin_agree(void **state) {
    (void)state;
    lattice_soups(8, 200, 20, 1.0, 1.0, 1e6);
    lattice_soups(9, 40, 20, 1.0, 1.0, 1e15);
}

static void soups_at_the_ends_of_the_range_agree(void **state) {
    (void)state;
    const double scales[] = {0x1p300, 0x1p-300, 0x1p1000, 0x1p-1060};
    for (uint32_t i = 0; i < COUNT_OF(scales); ++i) {
        lattice_soups(10 + i, 20, 12, scales[i], scales[i], 0.0);
        lattice_soups(20 + i, 10, 12, scales[i], 1.0, 0.0);
    }
    lattice_soups(30, 10, 12, 0x1p300, 0x1p-300, 0.0);
}

static void faces_without_area_stay_out_unless_they_are_segments(void **state) {
    (void)state;
    oracle_soup a = {.positions = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}},
                     .corners = {{0, 1, 2}},
                     .vertex_count = 3,
                     .face_count = 1};
    oracle_soup b = {.positions = {{1, 1, -1}, {1, 1, 0}, {1, 1, 1}},
                     .corners = {{0, 1, 2}},
                     .vertex_count = 3,
                     .face_count = 1};
    for (int as_segments = 0; as_segments < 2; ++as_segments) {
        b.as_segments = as_segments != 0;
        carom_soup *sa = soup_of(&a, false, false), *sb = soup_of(&b, false, true);
        carom_soup_gap gap;
        assert_ok(context, carom_soup_cross_distance(context, sa, NULL, sb, NULL, 0.0, &gap));
        assert_true(gap.distance == (as_segments ? 0.0 : HUGE_VAL));
        assert_int_equal(gap.face_a, as_segments ? 0 : CAROM_NONE);
        carom_soup_destroy(sa);
        carom_soup_destroy(sb);
    }
}

/* A torus of quads through another: pairs of quads are pairs of their triangles, each once. */
static void polygons_count_once(void **state) {
    (void)state;
    carom_pose pose = {.q.w = 1.0, .q.x = 1.0, .t = {0.5, 0.0, 0.0}};
    carom_mesh_view view;
    carom_soup *quads, *fans;
    carom_pairs by_quads = {0}, by_fans = {0};
    carom_shape_def def = {.shape = CAROM_SHAPE_TORUS, .detail = 24, .polygons = true};
    carom_mesh *mesh = shape_mesh(context, &def, &view);
    assert_non_null(view.offsets);
    carom_soup_def polygons = {.mesh = &view, .rigid = true}, fan = {.mesh = &view, .fan = true};
    assert_ok(context, carom_soup_create(context, &polygons, &quads));
    assert_ok(context, carom_soup_create(context, &fan, &fans));
    assert_ok(context, carom_soup_cross_pairs(context, quads, NULL, quads, &pose, &by_quads));
    assert_ok(context, carom_soup_cross_pairs(context, fans, NULL, fans, &pose, &by_fans));
    assert_true(by_quads.count > 50 && by_fans.count > by_quads.count);
    check_count_and_stream(context, quads, NULL, quads, &pose, by_quads.data, by_quads.count);
    check_count_and_stream(context, fans, NULL, fans, &pose, by_fans.data, by_fans.count);
    for (uint64_t i = 1; i < by_quads.count; ++i) {
        carom_pair p = by_quads.data[i - 1], q = by_quads.data[i];
        assert_true(p.a < q.a || (p.a == q.a && p.b < q.b));
    }
    for (uint64_t i = 0; i < by_fans.count; ++i) { /* flat quads: any split meets the same ones */
        carom_pair quad = {by_fans.data[i].a / 2, by_fans.data[i].b / 2};
        bool listed = false;
        for (uint64_t k = 0; k < by_quads.count; ++k)
            listed = listed || memcmp(&by_quads.data[k], &quad, sizeof(quad)) == 0;
        assert_true(listed);
    }
    carom_pairs_free(&by_quads);
    carom_pairs_free(&by_fans);
    carom_soup_destroy(quads);
    carom_soup_destroy(fans);
    carom_mesh_destroy(mesh);
}

/* ---- streams --------------------------------------------------------------------------------- */

#define FEW_NEEDLES  100u
#define MANY_NEEDLES 1100u /* 64 of the few meet more of them than a window may have pairs */

/* Long thin faces: those along x meet all those along y. As polygons, each is a quad of two
 * triangles. */
static void make_needles(carom_context *with, int axis, bool quads, carom_soup_method method,
                         carom_soup **soup) {
    uint32_t needles = axis == 0 ? FEW_NEEDLES : MANY_NEEDLES;
    static double xyz[MANY_NEEDLES][4][3];
    static uint32_t corners[4 * MANY_NEEDLES];
    static uint64_t offsets[MANY_NEEDLES + 1];
    uint32_t per_face = quads ? 4 : 3;
    for (uint32_t i = 0; i < needles; ++i) {
        double at = 1.0 + i, width = axis == 0 ? 0.25 : 0.0, depth = axis == 0 ? 0.0 : 1.0;
        const double ends[4][3] = {{0.0, at, -depth},
                                   {MANY_NEEDLES + 1.0, at, -depth},
                                   {MANY_NEEDLES + 1.0, at + width, 1e6 * depth},
                                   {0.0, at + width, 1e6 * depth}};
        for (uint32_t c = 0; c < 4; ++c) {
            xyz[i][c][axis] = ends[c][0];
            xyz[i][c][1 - axis] = ends[c][1];
            xyz[i][c][2] = ends[c][2];
            if (c < per_face) corners[i * per_face + c] = 4 * i + c;
        }
        offsets[i + 1] = per_face * (i + 1);
    }
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = xyz,
                                                     .vertex_count = 4 * needles,
                                                     .corners = corners,
                                                     .offsets = quads ? offsets : NULL,
                                                     .face_count = needles},
                          .method = method};
    assert_ok(with, carom_soup_create(with, &def, soup));
}

/* More pairs than fit a window: windows are abandoned and made smaller, and method AUTO changes to
 * the grid on the way. All methods give the same stream with any number of threads. */
static void large_streams_equal_the_list(void **state) {
    (void)state;
    const uint32_t threads[] = {1, 3};
    static carom_pairs all;
    for (uint32_t t = 0; t < COUNT_OF(threads); ++t) {
        carom_context *with = test_context(threads[t]);
        for (int kind = 0; kind < 4; ++kind) {
            for (int method = 0; method < CAROM_SOUP_METHOD_COUNT * CAROM_SOUP_METHOD_COUNT;
                 ++method) {
                carom_soup *a, *b;
                if (!TEST_ALL_CASES && ((int)t + kind + method) % 2 != 0) continue;
                make_needles(with, 0, (kind & 1) != 0, (carom_soup_method)(method / 3), &a);
                make_needles(with, 1, (kind & 2) != 0, (carom_soup_method)(method % 3), &b);
                assert_ok(with, carom_soup_cross_pairs(with, a, NULL, b, NULL, &all));
                assert_int_equal(all.count, FEW_NEEDLES * MANY_NEEDLES);
                check_count_and_stream(with, a, NULL, b, NULL, all.data, all.count);
                streamed s = {.expected = all.data, .count = all.count, .stop_at = all.count / 2};
                assert_ok(with,
                          carom_soup_cross_each(with, a, NULL, b, NULL, compare_streamed, &s));
                assert_true(s.seen >= all.count / 2 && s.seen < all.count);
                carom_soup_destroy(a);
                carom_soup_destroy(b);
            }
        }
        carom_context_destroy(with);
    }
    carom_pairs_free(&all);
}

/* ---- one answer ------------------------------------------------------------------------------ */

typedef struct answers {
    uint64_t pairs_hash, pair_count;
    carom_soup_gap gaps[3];
} answers;

static carom_soup *knot_soup(carom_context *with, bool rigid) {
    const carom_shape_def knot = {.shape = CAROM_SHAPE_KNOT, .detail = 3000};
    return shape_soup(with, &knot, &(carom_soup_def){.rigid = rigid});
}

static void answer(carom_context *with, const carom_soup *soup, answers *out) {
    const carom_pose poses[3] = {{{1.0, 0.2, 0.3, 0.1}, {0.1, 0.2, 0.3}},
                                 {{0.5, 0.1, 0.7, 0.3}, {4.0, 0.5, 0.3}},
                                 {{1.0, 0.1, 0.0, 0.0}, {0.0, 0.2, 0.3}}};
    carom_pairs pairs = {0};
    memset(out, 0, sizeof(*out));
    for (int i = 0; i < 3; ++i) {
        assert_ok(with, carom_soup_cross_pairs(with, soup, NULL, soup, &poses[i], &pairs));
        out->pair_count += pairs.count;
        out->pairs_hash = test_hash(pairs.data, pairs.count * sizeof(carom_pair), out->pairs_hash);
        assert_ok(with,
                  carom_soup_cross_distance(with, soup, NULL, soup, &poses[i], 0.0, &out->gaps[i]));
    }
    carom_pairs_free(&pairs);
}

static void threads_and_instruction_sets_give_the_same_bytes(void **state) {
    (void)state;
    const uint32_t threads[] = {1, 2, 3, 8};
    const carom_isa isas[] = {CAROM_ISA_BASELINE, CAROM_ISA_AVX2, CAROM_ISA_AVX512};
    for (int rigid = 0; rigid < 2; ++rigid) {
        answers first, other;
        bool have_first = false;
        for (uint32_t t = 0; t < COUNT_OF(threads); ++t) {
            for (uint32_t i = 0; i < COUNT_OF(isas); ++i) {
                if (t == 1 && i != 0) continue;
                carom_context *with = test_context_isa(threads[t], isas[i]);
                if (with == NULL) continue;
                carom_soup *soup = knot_soup(with, rigid != 0);
                answer(with, soup, have_first ? &other : &first);
                if (have_first) assert_memory_equal(&first, &other, sizeof(first));
                have_first = true;
                carom_soup_destroy(soup);
                carom_context_destroy(with);
            }
        }
        assert_true(first.pair_count > 5000);
        assert_true(first.gaps[1].distance > 0.0);
    }
}

static void repeated_queries_allocate_nothing(void **state) {
    (void)state;
    carom_context *with = test_context(3);
    carom_soup *soup = knot_soup(with, true);
    carom_pose near_pose = {{1.0, 0.2, 0.3, 0.1}, {0.1, 0.2, 0.3}};
    carom_pose far_pose = {{0.5, 0.1, 0.7, 0.3}, {4.0, 0.5, 0.3}};
    carom_pairs pairs = {0};
    carom_soup_gap gap;
    bool any;
    /* Which worker finds how much varies; the arenas of all are warm when one has seen all. */
    int quiet = 0;
    for (int round = 0; round < 200 && quiet < 5; ++round) {
        uint64_t before = test_malloc_count();
        assert_ok(with, carom_soup_cross_pairs(with, soup, NULL, soup, &near_pose, &pairs));
        assert_ok(with, carom_soup_cross_meet(with, soup, NULL, soup, &far_pose, &any));
        assert_ok(with, carom_soup_cross_distance(with, soup, NULL, soup, &far_pose, 0.0, &gap));
        quiet = test_malloc_count() == before ? quiet + 1 : 0;
    }
    assert_int_equal(quiet, 5);
    carom_pairs_free(&pairs);
    carom_soup_destroy(soup);
    carom_context_destroy(with);

    with = test_context(1);
    soup = knot_soup(with, true);
    uint64_t before = 0;
    for (int round = 0; round < 3; ++round) {
        if (round == 2) before = test_malloc_count();
        assert_ok(with, carom_soup_cross_pairs(with, soup, NULL, soup, &near_pose, &pairs));
        assert_ok(with, carom_soup_cross_meet(with, soup, NULL, soup, &far_pose, &any));
        assert_ok(with, carom_soup_cross_distance(with, soup, NULL, soup, &far_pose, 0.0, &gap));
    }
    assert_int_equal(test_malloc_count(), before);
    carom_pairs_free(&pairs);
    carom_soup_destroy(soup);
    carom_context_destroy(with);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void empty_soups_meet_nothing(void **state) {
    (void)state;
    oracle_soup nothing = {.vertex_count = 0}, one;
    uint64_t dice = 5;
    oracle_make(&dice, 20, 5, 1.0, 0.0, &one);
    compare_all_kinds(&nothing, NULL, &one, NULL);
    compare_all_kinds(&one, NULL, &nothing, NULL);
    compare_all_kinds(&nothing, NULL, &nothing, NULL);
}

static void poses_that_are_no_numbers_are_refused(void **state) {
    (void)state;
    oracle_soup some;
    uint64_t dice = 5;
    oracle_make(&dice, 4, 5, 1.0, 0.0, &some);
    carom_soup *soup = soup_of(&some, false, false);
    carom_pose bad = {.q.w = 1.0, .t = {0.0, (double)NAN, 0.0}}, far = {.t = {DBL_MAX, 0.0, 0.0}};
    carom_pairs pairs = {0};
    carom_soup_gap gap;
    bool any;
    assert_fails(context, carom_soup_cross_pairs(context, soup, &bad, soup, NULL, &pairs),
                 CAROM_BAD_INPUT, "the pose of a holds");
    assert_fails(context, carom_soup_cross_meet(context, soup, NULL, soup, &bad, &any),
                 CAROM_BAD_INPUT, "the pose of b holds");
    bad.t.y = 0.0;
    bad.q.z = HUGE_VAL;
    assert_fails(context, carom_soup_cross_distance(context, soup, NULL, soup, &bad, 0.0, &gap),
                 CAROM_BAD_INPUT, "must be finite");
    assert_fails(context, carom_soup_cross_distance(context, soup, NULL, soup, NULL, -1.0, &gap),
                 CAROM_BAD_INPUT, "the limit of the distance is -1");
    assert_fails(context,
                 carom_soup_cross_distance(context, soup, NULL, soup, NULL, (double)NAN, &gap),
                 CAROM_BAD_INPUT, "or 0 for none");
    assert_true(gap.distance == HUGE_VAL && gap.face_a == CAROM_NONE);
    assert_ok(context, carom_soup_cross_meet(context, soup, NULL, soup, &far, &any));
    assert_false(any);
    test_asserts_begin();
    assert_int_equal(carom_soup_cross_meet(context, NULL, NULL, soup, NULL, &any), CAROM_INVALID);
    assert_int_equal(carom_soup_cross_pairs(context, soup, NULL, soup, NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_cross_distance(NULL, soup, NULL, soup, NULL, 0.0, &gap),
                     CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 3);
    carom_soup_destroy(soup);
}

static carom_status all_queries(carom_allocator allocator, void *argument) {
    const oracle_soup *from = argument;
    carom_context_def def = {.allocator = allocator, .threads = 2};
    carom_context *with;
    carom_status status = carom_context_create(&def, &with);
    if (status != CAROM_OK) return status;
    carom_soup *soup = NULL;
    carom_soup_def soup_def = {.mesh = (carom_mesh_view[]){view_of(from, false)}, .rigid = true};
    carom_pairs pairs = {0};
    carom_soup_gap gap;
    carom_pose pose = {.q.w = 1.0, .q.x = 0.2}, extreme = {.q.w = 1.0, .t = {1e80, 0.0, 0.0}};
    status = carom_soup_create(with, &soup_def, &soup);
    if (status == CAROM_OK) status = carom_soup_cross_pairs(with, soup, NULL, soup, &pose, &pairs);
    for (int grid = 0; grid < 2 && status == CAROM_OK; ++grid) {
        carom_soup *other = NULL;
        soup_def.method = grid != 0 ? CAROM_SOUP_METHOD_GRID : CAROM_SOUP_METHOD_AUTO;
        soup_def.rigid = false;
        status = carom_soup_create(with, &soup_def, &other);
        streamed s = {.expected = pairs.data, .count = pairs.count};
        uint64_t count;
        if (status == CAROM_OK)
            status = carom_soup_cross_each(with, soup, NULL, other, &pose, compare_streamed, &s);
        if (status == CAROM_OK)
            status = carom_soup_cross_count(with, other, NULL, soup, &pose, &count);
        if (status == CAROM_OK) assert_int_equal(s.seen, pairs.count);
        carom_soup_destroy(other);
    }
    if (status == CAROM_OK)
        status = carom_soup_cross_distance(with, soup, NULL, soup, &extreme, 0.0, &gap);
    carom_pairs_free(&pairs);
    carom_soup_destroy(soup);
    carom_context_destroy(with);
    return status;
}

static void no_memory_is_a_status(void **state) {
    (void)state;
    static oracle_soup soup;
    uint64_t dice = 6;
    oracle_make(&dice, 300, 9, 1.0, 0.0, &soup);
    test_allocation_failures(all_queries, &soup);
}

static void a_small_buffer_gets_the_first_pairs(void **state) {
    (void)state;
    static oracle_soup some;
    uint64_t dice = 7;
    oracle_make(&dice, 60, 5, 1.0, 0.0, &some);
    carom_soup *soup = soup_of(&some, false, true);
    carom_pair room[5];
    carom_pairs all = {0}, few = {.data = room, .capacity = 5, .owner = CAROM_OWNER_CALLER};
    assert_ok(context, carom_soup_cross_pairs(context, soup, NULL, soup, NULL, &all));
    assert_int_equal(carom_soup_cross_pairs(context, soup, NULL, soup, NULL, &few), CAROM_MORE);
    assert_int_equal(few.count, all.count);
    assert_memory_equal(room, all.data, sizeof(room));
    carom_pairs_free(&all);
    carom_soup_destroy(soup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_soups_in_any_pose_agree_with_all_pairs),
        cmocka_unit_test(soups_of_different_size_agree),
        cmocka_unit_test(soups_far_from_the_origin_agree),
        cmocka_unit_test(soups_far_apart_agree),
        cmocka_unit_test(soups_at_the_ends_of_the_range_agree),
        cmocka_unit_test(faces_without_area_stay_out_unless_they_are_segments),
        cmocka_unit_test(polygons_count_once),
        cmocka_unit_test(large_streams_equal_the_list),
        cmocka_unit_test(threads_and_instruction_sets_give_the_same_bytes),
        cmocka_unit_test(repeated_queries_allocate_nothing),
        cmocka_unit_test(empty_soups_meet_nothing),
        cmocka_unit_test(poses_that_are_no_numbers_are_refused),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(a_small_buffer_gets_the_first_pairs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
