/* SPDX-License-Identifier: MIT */
/* The relation of two triangles against integers, on lattices, near degeneracies and real cases.
 * CAROM_LONG=1 runs ten million pairs of each kind. One thread. */
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/face_item.h"
#include "tests/support/cases.h"
#include "tests/support/triangle_pairs.h"

#define BIG_WORDS 4
#define BIG(name) narrow_##name
#include "tests/support/triangle_oracle.h"
#undef BIG_WORDS
#undef BIG

#define BIG_WORDS 134
#define BIG(name) widest_##name
#include "tests/support/triangle_oracle.h"

static uint64_t campaign(uint64_t quick) {
    const char *mode = getenv("CAROM_LONG");
    return mode != NULL && strcmp(mode, "0") != 0 ? UINT64_C(10000000) : TEST_CASES(quick);
}

static void print_triangle(const char *name, const carom_triangle *t) {
    for (int i = 0; i < 3; ++i)
        print_error("%s %a %a %a\n", name, t->corner[i].x, t->corner[i].y, t->corner[i].z);
}

/* ---- one pair -------------------------------------------------------------------------------- */

static bool same(carom_triangle_intersection r, carom_triangle_intersection s) {
    return r.relation == s.relation && r.dimension == s.dimension &&
           r.dimension_a == s.dimension_a && r.dimension_b == s.dimension_b &&
           r.coplanar == s.coplanar;
}

/* The exact relation, the yes/no and the filter agree with the truth. */
static void check(const carom_triangle *a, const carom_triangle *b,
                  carom_triangle_intersection truth, const char *variant) {
    carom_triangle_intersection r = carom_triangle_relate_exact(a, b);
    int meet = truth.dimension >= 0, verdict = carom_triangle_filter(a, b);
    if (same(r, truth) && same(carom_triangle_relate(a, b), truth) &&
        carom_triangle_meet(a, b) == meet && (verdict == CAROM_UNDECIDED || verdict == meet))
        return;
    print_triangle("a", a);
    print_triangle("b", b);
    fail_msg("%.40s: truth %s dimension %d (%d %d %d), relation %s %d (%d %d %d), filter %d",
             variant, carom_triangle_relation_name(truth.relation), truth.dimension,
             truth.dimension_a, truth.dimension_b, truth.coplanar,
             carom_triangle_relation_name(r.relation), r.dimension, r.dimension_a, r.dimension_b,
             r.coplanar, verdict);
}

static carom_triangle_intersection swapped(carom_triangle_intersection r) {
    int d = r.dimension_a;
    r.dimension_a = r.dimension_b;
    r.dimension_b = d;
    return r;
}

/* One pair and its relatives. */
static carom_triangle_intersection check_pair(carom_random *random, pair_kind kind,
                                              const carom_triangle *a, const carom_triangle *b) {
    int base = kind == PAIR_LATTICE ? 0 : PAIR_BASE;
    carom_triangle_intersection truth = narrow_oracle(a, b, base);
    check(a, b, truth, "as made");
    check(b, a, swapped(truth), "swapped");
    carom_triangle pa = pair_permuted(a, pair_below(random, 6));
    carom_triangle pb = pair_permuted(b, pair_below(random, 6));
    check(&pa, &pb, truth, "permuted");
    carom_triangle ba = pair_moved(a, 0.0, 0x1p300), bb = pair_moved(b, 0.0, 0x1p300);
    check(&ba, &bb, truth, "scaled by 2^300");
    carom_triangle sa = pair_moved(a, 0.0, 0x1p-300), sb = pair_moved(b, 0.0, 0x1p-300);
    check(&sa, &sb, truth, "scaled by 2^-300");
    carom_triangle ma = pair_moved(a, PAIR_MOVE, 1.0), mb = pair_moved(b, PAIR_MOVE, 1.0);
    check(&ma, &mb, kind == PAIR_LATTICE ? truth : narrow_oracle(&ma, &mb, PAIR_MOVED_BASE),
          "moved by 1e6");
    return truth;
}

/* ---- self pairs ------------------------------------------------------------------------------ */

static bool equal(carom_vec3 p, carom_vec3 q) {
    return p.x == q.x && p.y == q.y && p.z == q.z;
}

/* Whether the point e lies inside the segment from o to p, its ends excluded. */
static bool goes_past(carom_vec3 o, carom_vec3 e, carom_vec3 p, int base) {
    carom_triangle point = {{e, e, e}}, segment = {{o, p, p}};
    return narrow_oracle(&point, &segment, base).relation ==
           CAROM_TRIANGLE_RELATION_COPLANAR_OVERLAP;
}

/* The rules of a self pair, read off the intersection's dimension. */
static bool counts(const carom_triangle *a, const carom_triangle *b, const carom_common *common,
                   carom_triangle_intersection truth, bool as_segments, int base) {
    bool thin = truth.dimension_a < 2 || truth.dimension_b < 2;
    if (thin && !as_segments) return false;
    if (common->count == 3) return true;
    if (common->count < 2) return truth.dimension >= common->count;
    if (truth.dimension == 1 && truth.dimension_a == 1 && truth.dimension_b == 1) {
        carom_vec3 c0 = a->corner[common->a[0]], c1 = a->corner[common->a[1]];
        carom_vec3 pa = a->corner[3 - common->a[0] - common->a[1]];
        carom_vec3 pb = b->corner[3 - common->b[0] - common->b[1]];
        return (goes_past(c0, c1, pa, base) && goes_past(c0, c1, pb, base)) ||
               (goes_past(c1, c0, pa, base) && goes_past(c1, c0, pb, base));
    }
    return truth.dimension == 2;
}

static carom_triangle scaled(const carom_triangle *t, int exponent) {
    carom_triangle to;
    for (int i = 0; i < 3; ++i) {
        const carom_vec3 *p = &t->corner[i];
        to.corner[i] =
            (carom_vec3){ldexp(p->x, exponent), ldexp(p->y, exponent), ldexp(p->z, exponent)};
    }
    return to;
}

static uint64_t separated; /* pairs that carom_face_filter_flat decided */

/* Pairs that the filter for flat faces separates do not count, at 1e-100 and 1e100 either. */
static void check_flat(const carom_triangle *a, const carom_triangle *b, const carom_common *common,
                       bool expected) {
    static const int exponents[] = {0, -332, 332};
    for (size_t i = 0; i < COUNT_OF(exponents); ++i) {
        carom_triangle sa = scaled(a, exponents[i]), sb = scaled(b, exponents[i]);
        int verdict = carom_face_filter_flat(&sa, &sb, common);
        assert_true(verdict == CAROM_UNDECIDED || (verdict == CAROM_NO && !expected));
        separated += verdict == CAROM_NO;
    }
}

static void check_faces(const carom_triangle *a, const carom_triangle *b,
                        carom_triangle_intersection truth, int base) {
    /* Indices as welding gives them: the first corner with these coordinates. */
    carom_vec3 all[6];
    uint32_t index[6];
    for (uint32_t i = 0; i < 6; ++i) {
        all[i] = i < 3 ? a->corner[i] : b->corner[i - 3];
        index[i] = i;
        for (uint32_t j = i; j-- > 0;)
            if (equal(all[j], all[i])) index[i] = j;
    }
    carom_common common = carom_common_make(index, index + 3);
    assert_int_equal(carom_face_degenerate(a), truth.dimension_a < 2);
    for (int as_segments = 0; as_segments < 2; ++as_segments) {
        bool expected = counts(a, b, &common, truth, as_segments != 0, base);
        check_flat(a, b, &common, expected);
        int got = carom_face_pair(a, index, b, index + 3, as_segments);
        int other = carom_face_pair(b, index + 3, a, index, as_segments);
        if (got == (int)expected && other == (int)expected) continue;
        print_triangle("a", a);
        print_triangle("b", b);
        fail_msg("%d common, as_segments %d: expected %d, got %d and %d", common.count, as_segments,
                 expected, got, other);
    }
    /* Unwelded faces have nothing in common but their positions. */
    uint32_t own_a[3] = {0, 1, 2}, own_b[3] = {3, 4, 5};
    assert_int_equal(carom_face_pair(a, own_a, b, own_b, 1), truth.dimension >= 0);
}

/* ---- campaigns ------------------------------------------------------------------------------- */

static void run_campaign(pair_kind kind, uint64_t count, uint64_t seed) {
    static const char *const names[] = {"lattice", "near-degenerate", "random"};
    carom_random random = {seed};
    uint64_t relations[CAROM_TRIANGLE_RELATION_COUNT] = {0}, thin = 0, filtered = 0;
    double start = carom_time_seconds();
    for (uint64_t i = 0; i < count; ++i) {
        carom_triangle a, b;
        pair_make(&random, kind, &a, &b);
        carom_triangle_intersection truth = check_pair(&random, kind, &a, &b);
        check_faces(&a, &b, truth, kind == PAIR_LATTICE ? 0 : PAIR_BASE);
        ++relations[truth.relation];
        thin += truth.dimension_a < 2 || truth.dimension_b < 2;
        filtered += carom_triangle_filter(&a, &b) != CAROM_UNDECIDED;
    }
    print_message("%s: %" PRIu64 " pairs and five relatives of each agree with the oracle: %" PRIu64
                  " disjoint, %" PRIu64 " touching, %" PRIu64 " crossing, %" PRIu64
                  " coplanar; %" PRIu64 " with a degenerate face; filter decided %.4f %%; %.1f s\n",
                  names[kind], count, relations[0], relations[1], relations[2], relations[3], thin,
                  100.0 * (double)filtered / (double)count, carom_time_seconds() - start);
    if (kind == PAIR_RANDOM) assert_true((double)filtered >= 0.999 * (double)count);
    assert_true(separated > count / 100);
    separated = 0;
}

static void lattice_pairs_agree_with_the_oracle(void **state) {
    (void)state;
    run_campaign(PAIR_LATTICE, campaign(100000), 1);
}

static void near_degenerate_pairs_agree_with_the_oracle(void **state) {
    (void)state;
    run_campaign(PAIR_NEAR, campaign(100000), 2);
}

static void random_pairs_agree_and_the_filter_decides_nearly_all(void **state) {
    (void)state;
    run_campaign(PAIR_RANDOM, campaign(50000), 3);
}

/* Magnitudes of all kinds in one pair: the last resort of the predicates. */
static void pairs_of_mixed_magnitudes_agree_with_the_oracle(void **state) {
    (void)state;
    static const double magnitudes[] = {0x1p-1074, 0x1p-1022, 1e-300, 1e-160, 1.0, 1e150, 0x1p1020};
    carom_random random = {4};
    for (int i = 0; i < TEST_CASES(200); ++i) {
        carom_triangle a, b;
        double *x = &a.corner[0].x, *y = &b.corner[0].x;
        pair_make(&random, PAIR_LATTICE, &a, &b);
        uint64_t spread = 1 + pair_below(&random, COUNT_OF(magnitudes));
        double by[6];
        for (int j = 0; j < 6; ++j) by[j] = magnitudes[pair_below(&random, spread)];
        bool by_axis = pair_below(&random, 2) == 0; /* keeps degeneracies; by corner mixes */
        for (int j = 0; j < 9; ++j) {
            x[j] *= by[by_axis ? j % 3 : j / 3];
            y[j] *= by[by_axis ? j % 3 : 3 + j / 3];
        }
        check(&a, &b, widest_oracle(&a, &b, -1074), "mixed magnitudes");
    }
}

/* Stretched along each axis by another power of two: the relation stays, the numbers do not, and
 * any product may overflow or underflow on the way. */
static void stretched_pairs_keep_their_relation(void **state) {
    (void)state;
    carom_random random = {5};
    uint64_t decided = 0, count = TEST_CASES(200000);
    for (uint64_t i = 0; i < count; ++i) {
        carom_triangle a, b;
        double *x = &a.corner[0].x, *y = &b.corner[0].x;
        pair_kind kind = (pair_kind)pair_below(&random, PAIR_KIND_COUNT);
        pair_make(&random, kind, &a, &b);
        carom_triangle_intersection truth =
            narrow_oracle(&a, &b, kind == PAIR_LATTICE ? 0 : PAIR_BASE);
        double by[3];
        for (int k = 0; k < 3; ++k) by[k] = ldexp(1.0, (int)pair_below(&random, 2000) - 1000);
        for (int j = 0; j < 9; ++j) {
            if (fabs(x[j]) * by[j % 3] < 0x1p-1000 || fabs(y[j]) * by[j % 3] < 0x1p-1000)
                by[j % 3] = 1.0; /* keep all bits */
        }
        for (int j = 0; j < 9; ++j) x[j] *= by[j % 3], y[j] *= by[j % 3];
        int verdict = carom_triangle_filter(&a, &b);
        if (verdict != CAROM_UNDECIDED) assert_int_equal(verdict, truth.dimension >= 0);
        decided += verdict != CAROM_UNDECIDED;
        if (i % 1000 == 0) check(&a, &b, truth, "stretched");
    }
    print_message("filter decided %.1f %% of stretched pairs\n",
                  100.0 * (double)decided / (double)count);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static carom_triangle case_triangle(const char *text, const char *key) {
    carom_triangle t;
    double *x = &t.corner[0].x;
    const char *text_at = cases_after_key(text, key);
    for (int i = 0; i < 9; ++i) {
        text_at += strspn(text_at, "[], \n");
        char *end;
        x[i] = strtod(text_at, &end);
        assert_true(end != text_at);
        text_at = end;
    }
    return t;
}

static void all_shared_cases_are_right(void **state) {
    (void)state;
    char path[1000];
    if (test_shared_folder() == NULL) skip();
    snprintf(path, sizeof(path), "%s/cases/triangles.json", test_shared_folder());
    char *text = cases_read(path);
    if (text == NULL) skip();
    carom_context *context = test_context(1);
    int count = 0;
    for (const char *text_at = text; (text_at = strstr(text_at, "\"id\":")) != NULL;
         ++text_at, ++count) {
        carom_triangle a = case_triangle(text_at, "a"), b = case_triangle(text_at, "b");
        carom_triangle_intersection truth = {
            .dimension = atoi(cases_after_key(text_at, "isect_dim")),
            .dimension_a = atoi(cases_after_key(text_at, "dim_a")),
            .dimension_b = atoi(cases_after_key(text_at, "dim_b"))};
        truth.coplanar = strncmp(cases_after_key(text_at, "coplanar"), " true", 5) == 0;
        const char *name = cases_after_key(text_at, "truth") + 2;
        while (strncmp(name, carom_triangle_relation_name(truth.relation),
                       strlen(carom_triangle_relation_name(truth.relation))) != 0)
            assert_true(++truth.relation < CAROM_TRIANGLE_RELATION_COUNT);
        check(&a, &b, truth, cases_after_key(text_at, "id"));
        check(&b, &a, swapped(truth), cases_after_key(text_at, "id"));
        carom_triangle_intersection r;
        bool meet;
        assert_ok(context, carom_triangles_relate(context, &a, &b, &r));
        assert_true(same(r, truth));
        assert_ok(context, carom_triangles_meet(context, &a, &b, &meet));
        assert_int_equal(meet, truth.dimension >= 0);
    }
    print_message("%d cases\n", count);
    assert_true(count > 700);
    carom_context_destroy(context);
    free(text);
}

/* Results of seeded pairs, for machines and backends to compare with. */
static void results_are_golden(void **state) {
    (void)state;
    static const char *const names[] = {"lattice", "near", "random"};
    for (pair_kind kind = 0; kind < PAIR_KIND_COUNT; ++kind) {
        carom_random random = {100 + (uint64_t)kind};
        uint64_t exact = 0, filter = 0;
        for (int i = 0; i < 20000; ++i) {
            carom_triangle a, b;
            pair_make(&random, kind, &a, &b);
            carom_triangle_intersection r = carom_triangle_relate_exact(&a, &b);
            int sign = carom_orient3d(a.corner[0], a.corner[1], a.corner[2], b.corner[0]);
            int verdict = carom_triangle_filter(&a, &b);
            signed char bytes[] = {(signed char)r.relation,    (signed char)r.dimension,
                                   (signed char)r.dimension_a, (signed char)r.dimension_b,
                                   (signed char)r.coplanar,    (signed char)sign};
            exact = test_hash(bytes, sizeof(bytes), exact);
            filter = test_hash(&(signed char){(signed char)verdict}, 1, filter);
        }
        char name[64];
        snprintf(name, sizeof(name), "relation-%s", names[kind]);
        test_golden("geom.txt", name, exact);
        snprintf(name, sizeof(name), "filter-%s", names[kind]);
        test_golden("geom.txt", name, filter);
    }
}

static void bad_input_gets_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_triangle a = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}, b = a;
    carom_triangle_intersection r;
    bool meet;
    int sign;
    b.corner[1].y = (double)NAN;
    assert_fails(context, carom_triangles_relate(context, &a, &b, &r), CAROM_BAD_INPUT,
                 "point 1 of triangle b");
    b.corner[1].y = (double)INFINITY;
    assert_fails(context, carom_triangles_meet(context, &b, &a, &meet), CAROM_BAD_INPUT,
                 "point 1 of triangle a");
    assert_fails(context, carom_points_orient_2d(context, b.corner, 0, &sign), CAROM_BAD_INPUT,
                 "must be finite");
    assert_ok(context, carom_points_orient_2d(context, a.corner, 2, &sign));
    assert_int_equal(sign, 1);
    carom_vec3 p[4] = {a.corner[0], a.corner[1], a.corner[2], {0, 0, -0x1p-1074}};
    assert_ok(context, carom_points_orient_3d(context, p, &sign));
    assert_int_equal(sign, -1);
    assert_int_equal(carom_points_orient_2d_value(a.corner, 2), 1);
    assert_int_equal(carom_points_orient_3d_value(p), -1);
    assert_int_equal(carom_triangles_relate_value(&a, &a).relation,
                     CAROM_TRIANGLE_RELATION_COPLANAR_OVERLAP);
    assert_true(carom_triangles_meet_value(&a, &a));
    test_asserts_begin();
    assert_int_equal(carom_triangles_relate(context, &a, NULL, &r), CAROM_INVALID);
    assert_int_equal(carom_triangles_meet(context, NULL, &a, &meet), CAROM_INVALID);
    assert_int_equal(carom_points_orient_2d(context, p, 3, &sign), CAROM_INVALID);
    assert_int_equal(carom_points_orient_3d(context, NULL, &sign), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 4);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shared_cases_are_right),
        cmocka_unit_test(lattice_pairs_agree_with_the_oracle),
        cmocka_unit_test(near_degenerate_pairs_agree_with_the_oracle),
        cmocka_unit_test(random_pairs_agree_and_the_filter_decides_nearly_all),
        cmocka_unit_test(pairs_of_mixed_magnitudes_agree_with_the_oracle),
        cmocka_unit_test(stretched_pairs_keep_their_relation),
        cmocka_unit_test(results_are_golden),
        cmocka_unit_test(bad_input_gets_a_message),
    };
    return cmocka_run_group_tests_name("triangle", tests, NULL, NULL);
}
