/* SPDX-License-Identifier: MIT */
/* Times of impact of convex shapes and soups that move as a whole, against many samples of the
 * motion, and against balls. CAROM_LONG=1: 10,000 motions with 2,000 samples each, in
 * parts by CAROM_PART. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/shapes.h"

static double between(carom_random *random, double low, double high) {
    return carom_random_between(random, low, high);
}

static carom_vec3 random_point(carom_random *random, double size) {
    carom_vec3 p;
    p.x = between(random, -size, size);
    p.y = between(random, -size, size);
    p.z = between(random, -size, size);
    return p;
}

static carom_pose random_pose(carom_random *random, double size) {
    carom_pose pose = {.t = random_point(random, size)};
    pose.q.w = carom_random_normal(random);
    pose.q.x = carom_random_normal(random);
    pose.q.y = carom_random_normal(random);
    pose.q.z = carom_random_normal(random);
    return pose;
}

/* Every third only translates, every fifth turns about another point than the origin. */
static carom_motion random_motion(carom_random *random, int number, double size) {
    carom_motion m = {random_pose(random, size), random_pose(random, size), {0.0, 0.0, 0.0}};
    if (number % 3 == 0) m.to.q = m.from.q;
    if (number % 5 == 0) m.centre = random_point(random, 0.5);
    if (number % 7 == 0) m.to = m.from;
    return m;
}

/* ---- Motions --------------------------------------------------------------------------------- */

static carom_vec3 apply(const carom_pose *pose, carom_vec3 p) {
    double w = pose->q.w, x = pose->q.x, y = pose->q.y, z = pose->q.z;
    double n = sqrt(w * w + x * x + y * y + z * z);
    if (n == 0.0) w = n = 1.0;
    w /= n, x /= n, y /= n, z /= n;
    carom_vec3 r = {(1 - 2 * (y * y + z * z)) * p.x + 2 * (x * y - w * z) * p.y +
                        2 * (x * z + w * y) * p.z + pose->t.x,
                    2 * (x * y + w * z) * p.x + (1 - 2 * (x * x + z * z)) * p.y +
                        2 * (y * z - w * x) * p.z + pose->t.y,
                    2 * (x * z - w * y) * p.x + 2 * (y * z + w * x) * p.y +
                        (1 - 2 * (x * x + y * y)) * p.z + pose->t.z};
    return r;
}

static double apart(carom_vec3 a, carom_vec3 b) {
    double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/* The centre moves along a line; all other points move at constant speed around it, and the ends
 * are the poses given. */
static void motions_are_lines_and_turns(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {1};
    for (int i = 0; i < TEST_CASES(2000); ++i) {
        carom_motion m = random_motion(&random, i, 2.0);
        carom_vec3 p = random_point(&random, 1.0);
        carom_pose at[5];
        for (int k = 0; k < 5; ++k)
            assert_ok(context, carom_motion_evaluate(context, &m, 0.25 * k, &at[k]));
        assert_memory_equal(&at[0], &m.from, sizeof(m.from));
        assert_memory_equal(&at[4], &m.to, sizeof(m.to));
        carom_vec3 from = apply(&m.from, m.centre), to = apply(&m.to, m.centre);
        double around = 0.0;
        for (int k = 0; k < 5; ++k) {
            double t = 0.25 * k;
            carom_vec3 c = apply(&at[k], m.centre), x = apply(&at[k], p);
            carom_vec3 line = {from.x + t * (to.x - from.x), from.y + t * (to.y - from.y),
                               from.z + t * (to.z - from.z)};
            assert_true(apart(c, line) < 1e-14);
            assert_true(fabs(apart(c, x) - apart(m.centre, p)) < 1e-14);
            if (k == 0) continue;
            carom_vec3 before = apply(&at[k - 1], p), c_before = apply(&at[k - 1], m.centre);
            carom_vec3 still = {before.x - c_before.x, before.y - c_before.y,
                                before.z - c_before.z};
            carom_vec3 now = {x.x - c.x, x.y - c.y, x.z - c.z};
            if (k > 1) assert_true(fabs(apart(still, now) - around) < 1e-13);
            around = apart(still, now);
        }
    }
    carom_pose pose;
    carom_motion bad = {.to = {.t = {NAN, 0, 0}}};
    assert_fails(context, carom_motion_evaluate(context, &bad, 0.5, &pose), CAROM_BAD_INPUT,
                 "motion");
    assert_fails(context, carom_motion_evaluate(context, NULL, 1.5, &pose), CAROM_BAD_INPUT,
                 "time");
    carom_context_destroy(context);
}

/* ---- Convex shapes --------------------------------------------------------------------------- */

static carom_convex random_shape(carom_random *random, const carom_hull *hull) {
    carom_convex s = {.kind = (carom_convex_kind)(carom_random_next(random) % 9)};
    s.half = (carom_vec3){between(random, 0.1, 0.6), between(random, 0.1, 0.6),
                          between(random, 0.1, 0.6)};
    s.radius = between(random, 0.1, 0.5);
    s.half_height = between(random, 0.1, 0.7);
    s.margin = carom_random_next(random) % 3 == 0 ? 0.1 : 0.0;
    if (s.kind == CAROM_CONVEX_KIND_HULL) s.borrowed_hull = hull;
    return s;
}

static carom_hull *random_hull(carom_context *context, carom_random *random) {
    carom_vec3 points[20];
    carom_hull *hull;
    for (int i = 0; i < 20; ++i) points[i] = random_point(random, 0.5);
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = points, .vertex_count = 20}};
    assert_ok(context, carom_hull_create(context, &def, &hull));
    return hull;
}

/* What samples of a motion say. */
typedef struct samples {
    double first;   /* the first sample at which they meet; above 1: none */
    double nearest; /* the least distance of all samples */
} samples;

static void check(const char *what, int number, bool hit, double time, double distance,
                  double tolerance, const samples *s, int *near_misses) {
    bool right = time >= 0.0 && time <= 1.0;
    if (s->first <= 1.0) right = right && hit && time <= s->first;
    if (hit) right = right && distance <= tolerance * 1.001;
    if (hit && s->first > 1.0 && s->nearest > 2.0 * tolerance) ++*near_misses;
    if (!right)
        fail_msg("%s %d: %s at %.17g, %g apart; samples: first %.17g, nearest %g", what, number,
                 hit ? "hit" : "miss", time, distance, s->first, s->nearest);
}

static void convex_shapes_never_pass_through(void **state) {
    (void)state;
    carom_context *context = test_context(1), *three = test_context(3);
    carom_random random = {2};
    carom_hull *hull = random_hull(context, &random);
    bool is_long = campaign_is_long();
    int count = TEST_CASES(is_long ? 10000 : 400), steps = is_long ? 2000 : 200;
    int near_misses = 0, hits = 0;
    carom_convex *shapes = malloc(2 * (size_t)count * sizeof(*shapes));
    carom_convex_moving_pair *pairs = calloc((size_t)count, sizeof(*pairs));
    assert_true(shapes != NULL && pairs != NULL);
    const double tolerance = 1e-6;
    carom_advance_def def = {.tolerance = tolerance};
    for (int i = 0; i < count; ++i) {
        carom_convex *a = &shapes[2 * i], *b = &shapes[2 * i + 1];
        *a = random_shape(&random, hull);
        *b = random_shape(&random, hull);
        pairs[i] = (carom_convex_moving_pair){a, b, random_motion(&random, i, 1.5),
                                              random_motion(&random, i / 2, 1.5)};
        if (!campaign_has((uint64_t)i)) continue;
        carom_advance toi;
        assert_ok(context, carom_convex_advance(context, a, &pairs[i].motion_a, b,
                                                &pairs[i].motion_b, &def, &toi));
        hits += toi.hit;
        samples s = {2.0, HUGE_VAL};
        carom_convex_hint cache = {0};
        for (int k = 0; k <= steps && s.first > 1.0; ++k) {
            double t = (double)k / steps;
            carom_pose pose_a, pose_b;
            carom_convex_result r;
            assert_ok(context, carom_motion_evaluate(context, &pairs[i].motion_a, t, &pose_a));
            assert_ok(context, carom_motion_evaluate(context, &pairs[i].motion_b, t, &pose_b));
            assert_ok(context,
                      carom_convex_distance(context, a, &pose_a, b, &pose_b,
                                            &(carom_convex_query_def){.hint = &cache}, &r));
            s.nearest = fmin(s.nearest, r.distance);
            if (r.relation == CAROM_RELATION_OVERLAPPING) s.first = t;
        }
        check("motion", i, toi.hit, toi.time, toi.distance, tolerance, &s, &near_misses);
    }
    printf("%d motions, %d hits, %d of them where no sample meets\n", count, hits, near_misses);
    assert_true(near_misses * 100 <= count);
    /* the batch gives the same bytes */
    carom_advance *one = malloc((size_t)count * sizeof(*one));
    carom_advance *other = malloc((size_t)count * sizeof(*other));
    assert_true(one != NULL && other != NULL);
    memset(one, 0xA5, (size_t)count * sizeof(*one));
    memset(other, 0x5A, (size_t)count * sizeof(*other));
    assert_ok(context, carom_convex_advance_batch(context, pairs, (uint64_t)count, &def, one));
    assert_ok(three, carom_convex_advance_batch(three, pairs, (uint64_t)count, &def, other));
    assert_memory_equal(one, other, (size_t)count * sizeof(*one));
    for (int i = 0; i < count; ++i) {
        carom_advance alone;
        assert_ok(context, carom_convex_advance(context, pairs[i].a, &pairs[i].motion_a, pairs[i].b,
                                                &pairs[i].motion_b, &def, &alone));
        assert_memory_equal(&alone, &one[i], sizeof(alone));
        assert_true(alone.face_a == CAROM_NONE && alone.face_b == CAROM_NONE);
    }
    pairs[1].motion_b.from.t.x = NAN;
    assert_fails(context, carom_convex_advance_batch(context, pairs, 3, &def, one), CAROM_BAD_INPUT,
                 "pair 1");
    def.tolerance = -1.0;
    assert_fails(context, carom_convex_advance_batch(context, pairs, 1, &def, one), CAROM_BAD_INPUT,
                 "tolerance");
    free(one);
    free(other);
    free(shapes);
    free(pairs);
    carom_hull_destroy(hull);
    carom_context_destroy(context);
    carom_context_destroy(three);
}

/* Spheres, as shapes that advance and as balls with a closed form. */
static void spheres_are_balls(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {3};
    int disagree = 0, hits = 0, count = TEST_CASES(2000);
    for (int i = 0; i < count; ++i) {
        carom_convex a = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = between(&random, 0.1, 0.5)};
        carom_convex b = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = between(&random, 0.1, 0.5)};
        carom_motion ma = {random_pose(&random, 1.5), random_pose(&random, 1.5), {0, 0, 0}};
        carom_motion mb = {random_pose(&random, 1.5), random_pose(&random, 1.5), {0, 0, 0}};
        carom_ball start[2] = {{ma.from.t, a.radius}, {mb.from.t, b.radius}};
        carom_ball end[2] = {{ma.to.t, a.radius}, {mb.to.t, b.radius}};
        carom_toi exact = carom_ball_toi_value(start, end);
        carom_advance toi;
        carom_advance_def def = {.tolerance = 1e-9};
        assert_ok(context, carom_convex_advance(context, &a, &ma, &b, &mb, &def, &toi));
        hits += exact.hit;
        if (exact.hit && (!toi.hit || toi.time > exact.time.upper + 1e-15))
            fail_msg("case %d: passed through: %g, exactly %g", i, toi.time, exact.time.upper);
        if (exact.hit != toi.hit || (exact.hit && exact.time.lower - toi.time > 1e-4)) ++disagree;
    }
    printf("%d pairs, %d hits, %d grazing\n", count, hits, disagree);
    assert_true(disagree * 100 <= count);
    carom_context_destroy(context);
}

/* ---- Soups ----------------------------------------------------------------------------------- */

static carom_soup *make_soup(carom_context *context, carom_shape shape, uint64_t detail,
                             bool rigid) {
    const carom_shape_def def = {.shape = shape, .detail = detail, .size = 0.5};
    return shape_soup(context, &def, &(carom_soup_def){.rigid = rigid});
}

static void soups_never_pass_through(void **state) {
    (void)state;
    carom_context *context = test_context(1), *three = test_context(3);
    carom_random random = {4};
    carom_soup *soups[3] = {make_soup(context, CAROM_SHAPE_TORUS, 12, true),
                            make_soup(context, CAROM_SHAPE_CHAZELLE, 3, false),
                            make_soup(context, CAROM_SHAPE_CLOTH, 6, true)};
    bool is_long = campaign_is_long();
    int count = TEST_CASES(is_long ? 10000 : 120), steps = is_long ? 2000 : 200;
    int near_misses = 0, hits = 0, started = 0;
    const double tolerance = 1e-5;
    carom_advance_def def = {.tolerance = tolerance};
    for (int i = 0; i < count; ++i) {
        const carom_soup *a = soups[i % 3], *b = soups[i / 3 % 3];
        carom_motion ma = random_motion(&random, i, 1.0), mb = random_motion(&random, i / 2, 1.0);
        if (!campaign_has((uint64_t)i)) continue;
        carom_advance toi, other;
        assert_ok(context, carom_soup_cross_advance(context, a, &ma, b, &mb, &def, &toi));
        assert_ok(three, carom_soup_cross_advance(three, a, &ma, b, &mb, &def, &other));
        assert_memory_equal(&toi, &other, sizeof(toi));
        hits += toi.hit;
        samples s = {2.0, HUGE_VAL};
        for (int k = 0; k <= steps && s.first > 1.0; ++k) {
            double t = (double)k / steps;
            carom_pose pose_a, pose_b;
            bool any;
            assert_ok(context, carom_motion_evaluate(context, &ma, t, &pose_a));
            assert_ok(context, carom_motion_evaluate(context, &mb, t, &pose_b));
            assert_ok(context, carom_soup_cross_meet(context, a, &pose_a, b, &pose_b, &any));
            if (any) s.first = t;
            if (k == 0 && any) {
                ++started;
                assert_true(toi.hit && toi.time == 0.0 && toi.distance == 0.0);
            }
            if (!toi.hit || s.first <= 1.0) continue;
            carom_soup_gap gap;
            assert_ok(context, carom_soup_cross_distance(context, a, &pose_a, b, &pose_b,
                                                         4.0 * tolerance, &gap));
            s.nearest = fmin(s.nearest, gap.distance);
        }
        check("soups", i, toi.hit, toi.time, toi.distance, tolerance, &s, &near_misses);
        assert_true(toi.hit == (toi.face_a != CAROM_NONE));
    }
    printf("%d motions, %d hits, %d at the start, %d where no sample meets\n", count, hits, started,
           near_misses);
    assert_true(near_misses * 50 <= count); /* samples miss short contacts */
    carom_advance toi;
    carom_motion bad = {.to = {.t = {NAN, 0, 0}}};
    assert_fails(context,
                 carom_soup_cross_advance(context, soups[0], &bad, soups[1], NULL, NULL, &toi),
                 CAROM_BAD_INPUT, "motion of a");
    def.tolerance = NAN;
    assert_fails(context,
                 carom_soup_cross_advance(context, soups[0], NULL, soups[1], NULL, &def, &toi),
                 CAROM_BAD_INPUT, "tolerance");
    for (int i = 0; i < 3; ++i) carom_soup_destroy(soups[i]);
    carom_context_destroy(context);
    carom_context_destroy(three);
}

/* They stay farther apart than the separation until the time, and are little farther then. */
static void check_separation(const char *what, int number, bool hit, double time, double distance,
                             const carom_advance_def *def, const samples *s) {
    bool right = s->nearest > def->reach - 1e-9;
    if (hit && time > 0.0) right = right && distance > def->reach;
    if (hit) right = right && distance <= def->reach + 1.001 * def->tolerance;
    if (!right)
        fail_msg("%s %d: %s at %.17g, %g apart, before that %g", what, number, hit ? "hit" : "miss",
                 time, distance, s->nearest);
}

static void a_separation_is_kept(void **state) {
    (void)state;
    enum { SAMPLES = 100 };
    carom_context *context = test_context(1);
    carom_random random = {6};
    carom_hull *hull = random_hull(context, &random);
    carom_soup *soups[2] = {make_soup(context, CAROM_SHAPE_TORUS, 12, true),
                            make_soup(context, CAROM_SHAPE_CHAZELLE, 3, false)};
    carom_advance_def def = {.tolerance = 1e-4, .reach = 0.1};
    int hits[2] = {0, 0}, count = TEST_CASES(200);
    for (int i = 0; i < count; ++i) {
        carom_convex a = random_shape(&random, hull), b = random_shape(&random, hull);
        carom_motion ma = random_motion(&random, i, 1.5), mb = random_motion(&random, i / 2, 1.5);
        const carom_soup *soup_a = soups[i % 2], *soup_b = soups[i / 2 % 2];
        carom_advance toi;
        carom_advance soup_toi;
        samples s = {2.0, HUGE_VAL}, soup_s = {2.0, HUGE_VAL};
        assert_ok(context, carom_convex_advance(context, &a, &ma, &b, &mb, &def, &toi));
        assert_ok(context,
                  carom_soup_cross_advance(context, soup_a, &ma, soup_b, &mb, &def, &soup_toi));
        for (int k = 0; k <= SAMPLES; ++k) {
            double t = (double)k / SAMPLES;
            carom_pose pose_a, pose_b;
            assert_ok(context, carom_motion_evaluate(context, &ma, t, &pose_a));
            assert_ok(context, carom_motion_evaluate(context, &mb, t, &pose_b));
            if (t < toi.time || (!toi.hit && k == SAMPLES)) {
                carom_convex_result r;
                assert_ok(context,
                          carom_convex_distance(context, &a, &pose_a, &b, &pose_b, NULL, &r));
                s.nearest = fmin(s.nearest, r.distance);
            }
            if (t < soup_toi.time || (!soup_toi.hit && k == SAMPLES)) {
                carom_soup_gap gap;
                assert_ok(context, carom_soup_cross_distance(context, soup_a, &pose_a, soup_b,
                                                             &pose_b, 0.2, &gap));
                soup_s.nearest = fmin(soup_s.nearest, gap.distance);
            }
        }
        check_separation("shapes", i, toi.hit, toi.time, toi.distance, &def, &s);
        check_separation("soups", i, soup_toi.hit, soup_toi.time, soup_toi.distance, &def, &soup_s);
        hits[0] += toi.hit;
        hits[1] += soup_toi.hit;
    }
    if (TEST_ALL_CASES) assert_true(hits[0] > count / 4 && hits[1] > count / 4);
    def.reach = -1.0;
    carom_advance toi;
    assert_fails(context,
                 carom_soup_cross_advance(context, soups[0], NULL, soups[1], NULL, &def, &toi),
                 CAROM_BAD_INPUT, "reach");
    for (int i = 0; i < 2; ++i) carom_soup_destroy(soups[i]);
    carom_hull_destroy(hull);
    carom_context_destroy(context);
}

/* A rigid translation is also a deformation: the exact first impact is the time, up to the
 * tolerance. */
static void translations_agree_with_impacts(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_random random = {5};
    carom_mesh_view view;
    carom_soup *soup;
    carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS, .detail = 12, .size = 0.5};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    assert_ok(context,
              carom_soup_create(context, &(carom_soup_def){.mesh = &view, .rigid = true}, &soup));
    double *start = malloc(3 * view.vertex_count * sizeof(double));
    double *end = malloc(3 * view.vertex_count * sizeof(double));
    assert_true(start != NULL && end != NULL);
    int hits = 0;
    for (int i = 0; i < TEST_CASES(60); ++i) {
        carom_vec3 from = random_point(&random, 2.0), to = random_point(&random, 2.0);
        for (uint64_t v = 0; v < 3 * view.vertex_count; ++v) {
            double x = ((const double *)view.positions)[v];
            start[v] = x + (&from.x)[v % 3];
            end[v] = x + (&to.x)[v % 3];
        }
        carom_mesh_view moved = view, there = {.positions = end, .vertex_count = view.vertex_count};
        moved.positions = start;
        carom_soup *second;
        carom_soup_impact impact;
        carom_advance toi;
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &moved}, &second));
        assert_ok(context,
                  carom_soup_cross_first_impact(context, soup, NULL, second, &there, &impact));
        carom_motion motion = {.from = {.t = from}, .to = {.t = to}};
        carom_advance_def def = {.tolerance = 1e-9};
        assert_ok(context,
                  carom_soup_cross_advance(context, soup, NULL, soup, &motion, &def, &toi));
        bool exact = impact.face_a != CAROM_NONE;
        hits += exact;
        /* soups that cross at the start need not have an impact */
        if (toi.hit && toi.time == 0.0 && toi.distance == 0.0) {
            carom_soup_destroy(second);
            continue;
        }
        if (exact != toi.hit || (exact && fabs(toi.time - impact.time.lower) > 1e-6))
            fail_msg("case %d: %d %.17g, exactly %d %.17g", i, toi.hit, toi.time, exact,
                     impact.time.lower);
        if (exact) assert_true(toi.time <= impact.time.upper + 1e-14);
        carom_soup_destroy(second);
    }
    if (TEST_ALL_CASES) assert_true(hits > 5);
    free(start);
    free(end);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motions_are_lines_and_turns),
        cmocka_unit_test(convex_shapes_never_pass_through),
        cmocka_unit_test(spheres_are_balls),
        cmocka_unit_test(soups_never_pass_through),
        cmocka_unit_test(a_separation_is_kept),
        cmocka_unit_test(translations_agree_with_impacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
