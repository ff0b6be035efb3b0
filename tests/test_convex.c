/* SPDX-License-Identifier: MIT */
/* Convex queries against proofs in 113 bits: cases that other libraries got wrong, and seeded pairs
 * of all shapes at all scales. tests/test_convex_campaign.c runs the long form. */
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cases.h"
#include "tests/support/convex_pairs.h"

/* ---- cases ----------------------------------------------------------------------------------- */

/* Numbers of a list, nested or not, until its brackets close. */
static uint32_t numbers_of(const char *text, const char *key, double *to, uint32_t most) {
    const char *text_at = cases_after_key(text, key);
    uint32_t count = 0;
    int depth = 0;
    do {
        text_at += strspn(text_at, ", \n");
        if (*text_at == '[') {
            ++depth, ++text_at;
        } else if (*text_at == ']') {
            --depth, ++text_at;
        } else {
            char *end;
            assert_true(count < most);
            to[count++] = strtod(text_at, &end);
            assert_true(end != text_at);
            text_at = end;
        }
    } while (depth > 0);
    return count;
}

static void read_shape(carom_context *context, const char *text, convex_shape *s) {
    static double points[3000];
    const char *type = cases_after_key(text, "type") + 2;
    *s = (convex_shape){0};
    for (int kind = 0; kind < CAROM_CONVEX_KIND_COUNT; ++kind) {
        const char *name = carom_convex_kind_name((carom_convex_kind)kind);
        if (strncmp(type, name, strlen(name)) == 0) s->convex.kind = (carom_convex_kind)kind;
    }
    carom_convex *c = &s->convex;
    if (c->kind == CAROM_CONVEX_KIND_BOX)
        numbers_of(text, "half_extents", &c->half.x, 3);
    else if (c->kind == CAROM_CONVEX_KIND_ELLIPSOID)
        numbers_of(text, "radii", &c->half.x, 3);
    else if (c->kind == CAROM_CONVEX_KIND_HULL)
        convex_shape_hull(context, s, (const carom_vec3 *)(const void *)points,
                          numbers_of(text, "vertices", points, 3000) / 3);
    else
        numbers_of(text, "radius", &c->radius, 1);
    if (c->kind == CAROM_CONVEX_KIND_CAPSULE || c->kind == CAROM_CONVEX_KIND_CYLINDER ||
        c->kind == CAROM_CONVEX_KIND_CONE)
        numbers_of(text, "half_height", &c->half_height, 1);
}

static carom_pose read_pose(const char *text) {
    carom_pose pose;
    numbers_of(text, "q", &pose.q.w, 4);
    numbers_of(text, "t", &pose.t.x, 3);
    return pose;
}

static void cases_of_other_libraries_are_right(void **state) {
    (void)state;
    char path[1000];
    if (test_shared_folder() == NULL) skip();
    snprintf(path, sizeof(path), "%s/cases/convex.json", test_shared_folder());
    char *text = cases_read(path);
    if (text == NULL) skip();
    carom_context *context = test_context(1);
    int count = 0;
    double worst = 0.0;
    for (const char *text_at = text; (text_at = strstr(text_at, "\"id\":")) != NULL;
         ++text_at, ++count) {
        convex_shape a, b;
        carom_convex_result r;
        const char *why, *truth = cases_after_key(text_at, "truth");
        read_shape(context, cases_after_key(text_at, "shape_a"), &a);
        read_shape(context, cases_after_key(text_at, "shape_b"), &b);
        carom_pose pose_a = read_pose(cases_after_key(text_at, "pose_a"));
        carom_pose pose_b = read_pose(cases_after_key(text_at, "pose_b"));
        double right, tolerance, size;
        numbers_of(truth, "signed_double", &right, 1);
        numbers_of(truth, "tolerance_double", &tolerance, 1);
        numbers_of(truth, "size", &size, 1);
        bool near = strncmp(cases_after_key(truth, "near_touching"), " true", 5) == 0;
        assert_ok(context,
                  carom_convex_depth(context, &a.convex, &pose_a, &b.convex, &pose_b, NULL, &r));
        double value = r.distance - r.depth, off = fabs(value - right);
        bool wrong = off > fmax(1e-9 * size, tolerance);
        if (!near) {
            wrong |= right > 0.0 && r.relation != CAROM_RELATION_APART;
            wrong |= right < 0.0 && r.relation != CAROM_RELATION_OVERLAPPING;
        }
        oracle_shape oa = oracle_posed_shape(&a.convex, &a.view, &pose_a);
        oracle_shape ob = oracle_posed_shape(&b.convex, &b.view, &pose_b);
        double refuted = oracle_refute(&oa, &ob, &r, &why);
        if (wrong || refuted > 1e-12)
            print_error("%.24s: %s %.17g, truth %.17g (%.3g of the size; error %.3g; %u steps), "
                        "refuted by %.3g: %s\n",
                        text_at + 5, carom_relation_name(r.relation), value, right, off / size,
                        r.error, r.iterations, refuted, why);
        assert_false(wrong || refuted > 1e-12);
        worst = fmax(worst, off / fmax(size, 1e-300));
        convex_shape_free(&a);
        convex_shape_free(&b);
    }
    print_message("%d cases, off by at most %.2g of the size\n", count, worst);
    assert_true(count > 200);
    carom_context_destroy(context);
    free(text);
}

/* ---- seeded pairs ---------------------------------------------------------------------------- */

static void all_pairs_of_shapes_are_proved(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static convex_statistics statistics;
    for (uint64_t i = 0; i < 40000; ++i) {
        convex_case c;
        convex_case_make(context, 1, i, &c);
        convex_case_check(context, &c, &statistics);
        convex_case_free(&c);
    }
    convex_statistics_print(&statistics);
    carom_context_destroy(context);
}

/* Pairs of the long campaign that were wrong once: thin and curved shapes, whose point of B was
 * farther from B than the error said, and two segments around one centre, far from the origin. */
static void found_by_the_campaign(void **state) {
    (void)state;
    static const uint64_t numbers[] = {5151112, 5168391, 8914800};
    carom_context *context = test_context(1);
    for (uint32_t i = 0; i < COUNT_OF(numbers); ++i) {
        convex_case c;
        convex_case_make(context, 77, numbers[i], &c);
        convex_case_check(context, &c, NULL);
        convex_case_free(&c);
    }
    carom_context_destroy(context);
}

/* The independent solver finds no direction in which the shapes get apart sooner. */
static void no_other_direction_is_shallower(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    for (uint64_t i = 0; i < 120; ++i) {
        convex_case c;
        convex_case_make(context, 2, i * 7, &c);
        convex_case_check_depth(context, &c);
        convex_case_free(&c);
    }
    carom_context_destroy(context);
}

/* ---- scale ----------------------------------------------------------------------------------- */

static carom_vec3 scaled(carom_vec3 v, double by) {
    return (carom_vec3){v.x * by, v.y * by, v.z * by};
}

/* A case with all lengths multiplied. A hull is that of the multiplied vertices. */
static void scale_case(carom_context *context, const convex_case *c, double by, convex_case *out) {
    const convex_shape *from[2] = {&c->a, &c->b};
    convex_shape *to[2] = {&out->a, &out->b};
    *out = (convex_case){.seed = c->seed, .number = c->number};
    for (int i = 0; i < 2; ++i) {
        const carom_convex *s = &from[i]->convex;
        carom_vec3 points[64];
        to[i]->convex = (carom_convex){.kind = s->kind,
                                       .half = scaled(s->half, by),
                                       .radius = s->radius * by,
                                       .half_height = s->half_height * by,
                                       .margin = s->margin * by};
        if (s->kind != CAROM_CONVEX_KIND_HULL) continue;
        const carom_vec3 *own = from[i]->view.positions;
        for (uint64_t k = 0; k < from[i]->view.vertex_count; ++k) points[k] = scaled(own[k], by);
        convex_shape_hull(context, to[i], points, from[i]->view.vertex_count);
    }
    out->pose_a = (carom_pose){c->pose_a.q, scaled(c->pose_a.t, by)};
    out->pose_b = (carom_pose){c->pose_b.q, scaled(c->pose_b.t, by)};
}

static void assert_scaled(carom_vec3 a, carom_vec3 b, double by) {
    assert_true(a.x * by == b.x && a.y * by == b.y && a.z * by == b.z);
}

/* Multiplied by a power of two, every result is multiplied, to the last bit; by 1e-100 and 1e100
 * the oracle proves it. */
static void scale_changes_nothing(void **state) {
    (void)state;
    static const int powers[] = {-332, 332};
    static convex_statistics statistics;
    carom_context *context = test_context(1);
    for (uint64_t i = 0; i < TEST_CASES(4000); ++i) {
        convex_case made, c, other;
        carom_convex_result r, s;
        convex_case_make(context, 4, i, &made);
        scale_case(context, &made, 1.0, &c);
        convex_case_free(&made);
        assert_ok(context, carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                              &c.pose_b, NULL, &r));
        for (uint32_t k = 0; k < COUNT_OF(powers); ++k) {
            double by = ldexp(1.0, powers[k]);
            scale_case(context, &c, by, &other);
            assert_ok(context, carom_convex_depth(context, &other.a.convex, &other.pose_a,
                                                  &other.b.convex, &other.pose_b, NULL, &s));
            assert_int_equal(r.relation, s.relation);
            assert_int_equal(r.iterations, s.iterations);
            assert_true(r.distance * by == s.distance && r.depth * by == s.depth);
            if (s.error != r.error * by) /* two equal points have no size: the unit is 1 */
                assert_true(s.error == r.error && r.error == 0x1p-49 && r.distance == 0.0);
            assert_scaled(r.normal, s.normal, 1.0);
            assert_scaled(r.point_a, s.point_a, by);
            assert_scaled(r.point_b, s.point_b, by);
            convex_case_free(&other);
            scale_case(context, &c, k == 0 ? 1e-100 : 1e100, &other);
            convex_case_check(context, &other, &statistics);
            convex_case_free(&other);
        }
        convex_case_free(&c);
    }
    carom_context_destroy(context);
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* Points of which every face is at distance 1 from the origin: the polar of random points on the
 * sphere, which has a vertex x with n x = 1 for the three points n of each face of their hull. */
static uint64_t polar_points(carom_context *context, uint64_t seed, uint64_t count,
                             carom_vec3 *points) {
    carom_random random = {seed};
    convex_shape s = {0};
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 p = {carom_random_normal(&random), carom_random_normal(&random),
                        carom_random_normal(&random)};
        points[i] = scaled(p, 1.0 / sqrt(p.x * p.x + p.y * p.y + p.z * p.z));
    }
    convex_shape_hull(context, &s, points, count);
    const carom_vec3 *v = s.view.positions;
    assert_null(s.view.offsets);
    for (uint64_t f = 0; f < s.view.face_count; ++f) {
        const uint32_t *corner = (const uint32_t *)s.view.corners + 3 * f;
        carom_vec3 a = v[corner[0]], b = v[corner[1]], c = v[corner[2]];
        carom_vec3 u = {b.x - a.x, b.y - a.y, b.z - a.z}, w = {c.x - a.x, c.y - a.y, c.z - a.z};
        carom_vec3 n = {u.y * w.z - u.z * w.y, u.z * w.x - u.x * w.z, u.x * w.y - u.y * w.x};
        points[f] = scaled(n, 1.0 / (n.x * a.x + n.y * a.y + n.z * a.z));
    }
    count = s.view.face_count;
    convex_shape_free(&s);
    return count;
}

/* All faces are as near as each other, so that EPA needs every corner: the bound on its steps is at
 * most ten times what is taken. */
static void the_bound_is_nearly_reached(void **state) {
    (void)state;
    static const uint64_t counts[] = {6, 12, 22, 60, 322};
    static carom_vec3 points[700];
    carom_context *context = test_context(1);
    for (uint32_t i = 0; i < COUNT_OF(counts); ++i)
        for (uint32_t k = 0; k <= i + 1; ++k) {
            convex_shape a = {0}, b = {0};
            carom_convex_result r;
            carom_convex_most most;
            uint64_t count = polar_points(context, 7 + i, counts[i], points), other = 1;
            convex_shape_hull(context, &a, points, count);
            if (k > 0) { /* B much smaller than A, else a point */
                other = polar_points(context, 70 + k, counts[k - 1], points);
                for (uint64_t l = 0; l < other; ++l) points[l] = scaled(points[l], 1e-6);
                convex_shape_hull(context, &b, points, other);
            }
            assert_ok(context,
                      carom_convex_depth(context, &a.convex, NULL, &b.convex, NULL, NULL, &r));
            assert_ok(context, carom_convex_bound(context, &a.convex, &b.convex, &most));
            print_message("%3d and %3d corners: %u steps of at most %u, %u supports of %u\n",
                          (int)count, (int)other, r.iterations, most.depth_iterations, r.supports,
                          most.depth_supports);
            assert_true(r.iterations <= most.depth_iterations && r.supports <= most.depth_supports);
            if (count >= 40) assert_true(most.depth_iterations <= 10 * r.iterations);
            convex_shape_free(&a);
            convex_shape_free(&b);
        }
    carom_context_destroy(context);
}

/* ---- starts, searches, hints ----------------------------------------------------------------- */

/* All ways to search give one answer up to its error. */
static void starts_searches_and_hints_agree(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    for (uint64_t i = 0; i < 4000; ++i) {
        convex_case c;
        carom_convex_result first, r;
        carom_convex_hint hint = {0};
        convex_case_make(context, 3, i, &c);
        assert_ok(context, carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                              &c.pose_b, NULL, &first));
        for (int way = 0; way < 8; ++way) {
            carom_convex_query_def def = {.start = (carom_convex_start)(way & 1),
                                          .search = (carom_convex_search)(way / 2 % 3),
                                          .hint = way < 2 ? NULL : &hint};
            assert_ok(context, carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                  &c.pose_b, &def, &r));
            double off = fabs((r.distance - r.depth) - (first.distance - first.depth));
            oracle_shape a = oracle_posed_shape(&c.a.convex, &c.a.view, &c.pose_a);
            oracle_shape b = oracle_posed_shape(&c.b.convex, &c.b.view, &c.pose_b);
            if (off > r.error + first.error + 1e-12 * oracle_scale(&a, &b))
                fail_msg("case %llu, way %d: %.17g and %.17g, error %g", (unsigned long long)i, way,
                         first.distance - first.depth, r.distance - r.depth, r.error);
        }
        bool by_balls, by_gjk; /* ISA-GJK alone finds what balls decide without it */
        assert_ok(context, carom_convex_meet(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                             &c.pose_b, NULL, &by_balls));
        assert_ok(context,
                  carom_convex_meet(context, &c.a.convex, &c.pose_a, &c.b.convex, &c.pose_b,
                                    &(carom_convex_query_def){.gjk_only = true}, &by_gjk));
        assert_int_equal(by_balls, by_gjk);
        /* The hint of other shapes gives anything, but it ends and is finite. */
        memset(&hint, (int)(i % 256), sizeof(hint));
        assert_ok(context,
                  carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex, &c.pose_b,
                                     &(carom_convex_query_def){.hint = &hint}, &r));
        assert_true(isfinite(r.distance + r.depth + r.error + r.normal.x + r.point_a.x));
        convex_case_free(&c);
    }
    carom_context_destroy(context);
}

/* ---- the tolerance --------------------------------------------------------------------------- */

static void move_along(carom_pose *pose, carom_vec3 n, double by) {
    pose->t.x += by * n.x;
    pose->t.y += by * n.y;
    pose->t.z += by * n.z;
}

/* Moves b along the normal until the shapes are `parts` of e apart, or as deep where that is
 * negative. Returns false where the distance is not known well enough to tell. */
static bool pose_at(carom_context *context, convex_case *c, double parts) {
    for (int tries = 0; tries < 3; ++tries) {
        carom_convex_result r;
        assert_ok(context, carom_convex_depth(context, &c->a.convex, &c->pose_a, &c->b.convex,
                                              &c->pose_b, NULL, &r));
        double e = convex_tolerance(&c->a, &c->pose_a, &c->b, &c->pose_b);
        if (r.relation == CAROM_RELATION_TOUCHING || r.error > 0.02 * e) return false;
        double by = parts * e - (r.distance - r.depth);
        if (fabs(by) < 0.02 * e) return true;
        move_along(&c->pose_b, r.normal, by);
    }
    return false;
}

/* What is 0.9 e apart or deep touches, what is 1.1 e apart or deep does not. */
static void relations_keep_to_the_tolerance(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    uint64_t seen[3] = {0};
    for (uint64_t i = 0; i < TEST_CASES(8000); ++i) {
        convex_case c;
        carom_convex_result r;
        bool meet;
        convex_case_make(context, 14, i, &c);
        c.pose_b.t.x -= c.pose_a.t.x; /* e does not count where both are */
        c.pose_b.t.y -= c.pose_a.t.y;
        c.pose_b.t.z -= c.pose_a.t.z;
        c.pose_a.t = (carom_vec3){0.0, 0.0, 0.0};
        double parts = i / 81 % 2 == 0 ? 1.3 : -1.3;
        bool known = pose_at(context, &c, parts);
        for (int inside = 0; inside < 2 && known; ++inside) {
            double e = convex_tolerance(&c.a, &c.pose_a, &c.b, &c.pose_b);
            double to = inside ? 0.9 : 1.1;
            assert_ok(context, carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                  &c.pose_b, NULL, &r));
            if (r.relation == CAROM_RELATION_TOUCHING || r.error > 0.02 * e) break;
            move_along(&c.pose_b, r.normal, (parts > 0.0 ? to : -to) * e - (r.distance - r.depth));
            assert_ok(context, carom_convex_depth(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                  &c.pose_b, NULL, &r));
            assert_ok(context, carom_convex_meet(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                 &c.pose_b, NULL, &meet));
            carom_relation wanted = inside        ? CAROM_RELATION_TOUCHING
                                    : parts > 0.0 ? CAROM_RELATION_APART
                                                  : CAROM_RELATION_OVERLAPPING;
            bool right = r.relation == wanted && meet == (wanted != CAROM_RELATION_APART);
            /* Depths of curved shapes may be less certain here than they were at 1.3 e. */
            if (!right && (r.relation == CAROM_RELATION_TOUCHING || r.error <= 0.05 * e))
                fail_msg("case %llu (%s, %s), %g e: %s, meet %d; e %g, error %g",
                         (unsigned long long)i, carom_convex_kind_name(c.a.convex.kind),
                         carom_convex_kind_name(c.b.convex.kind), parts > 0.0 ? to : -to,
                         carom_relation_name(r.relation), meet, e, r.error);
            ++seen[wanted];
        }
        convex_case_free(&c);
    }
    print_message("%llu apart, %llu touching, %llu overlapping\n", (unsigned long long)seen[0],
                  (unsigned long long)seen[1], (unsigned long long)seen[2]);
    if (TEST_MANY_CASES)
        assert_true(seen[0] > TEST_CASES(500) && seen[1] > TEST_CASES(500) &&
                    seen[2] > TEST_CASES(500));
    carom_context_destroy(context);
}

/* A point 0.46 above a triangle 2e12 wide, for which e is 0.23. */
static void a_wide_triangle_does_not_touch_beyond_the_tolerance(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    const carom_vec3 corners[3] = {{0.0, -1e6, 1e6}, {-1e12, 1e6, 0.0}, {1e12, -1e6, 0.0}};
    convex_shape wide = {0};
    convex_shape_hull(context, &wide, corners, 3);
    carom_convex point = {0};
    carom_pose at = {.t = {0.085106360027398797, 0.38311342871881726, 0.26288394641247925}};
    carom_pose pose = {.t = {2e-7, 2.2155781999310919e-08, 1e-7}};
    carom_convex_result r;
    bool meet;
    assert_ok(context, carom_convex_depth(context, &point, &at, &wide.convex, &pose, NULL, &r));
    assert_ok(context, carom_convex_meet(context, &point, &at, &wide.convex, &pose, NULL, &meet));
    assert_int_equal(r.relation, CAROM_RELATION_APART);
    assert_false(meet);
    assert_true(fabs(r.distance - 0.46463304) <= r.error); /* by rational numbers */
    convex_shape_free(&wide);
    carom_context_destroy(context);
}

/* ---- the same bytes -------------------------------------------------------------------------- */

enum { BODIES = 300, PAIRS = 3000 };

typedef struct batch_input {
    convex_shape shapes[BODIES];
    carom_pose poses[BODIES];
    carom_convex_pair pairs[PAIRS];
} batch_input;

static void make_batch(carom_context *context, batch_input *in) {
    carom_random random = {11};
    for (uint32_t i = 0; i < BODIES; i += 2) {
        convex_case c;
        convex_case_make(context, 4, i, &c);
        in->shapes[i] = c.a;
        in->shapes[i + 1] = c.b;
        in->poses[i] = c.pose_a;
        in->poses[i + 1] = c.pose_b;
    }
    for (uint32_t i = 0; i < PAIRS; ++i) {
        uint32_t a = (uint32_t)(carom_random_next(&random) % BODIES);
        uint32_t b = i % 2 != 0 ? a ^ 1 : (a + i) % BODIES;
        in->pairs[i] = (carom_convex_pair){.a = &in->shapes[a].convex,
                                           .b = &in->shapes[b].convex,
                                           .pose_a = in->poses[a],
                                           .pose_b = in->poses[b]};
    }
}

typedef carom_status batch_fn(carom_context *, const carom_convex_pair *, uint64_t,
                              const carom_convex_query_def *, carom_convex_result *);
typedef carom_status single_fn(carom_context *, const carom_convex *, const carom_pose *,
                               const carom_convex *, const carom_pose *,
                               const carom_convex_query_def *, carom_convex_result *);

/* By any context, and one by one; with hints, too. */
static void check_batch(carom_context *const *contexts, int count, batch_input *in,
                        const carom_convex_query_def *def, batch_fn *batch, single_fn *single) {
    static carom_convex_result first[PAIRS], other[PAIRS];
    static carom_convex_hint hints[2][PAIRS];
    for (int hinted = 0; hinted < 2; ++hinted) {
        for (int k = 0; k < count; ++k) {
            carom_convex_result *to = k == 0 ? first : other;
            memset(hints[k != 0], 0, sizeof(hints[0]));
            memset(to, k == 0 ? 0xA5 : 0x5A, sizeof(first));
            for (uint32_t i = 0; i < PAIRS; ++i)
                in->pairs[i].hint = hinted != 0 ? &hints[k != 0][i] : NULL;
            for (int turn = 0; turn <= hinted; ++turn)
                assert_ok(contexts[k], batch(contexts[k], in->pairs, PAIRS, def, to));
            if (k != 0) assert_memory_equal(other, first, sizeof(first));
            if (k != 0) assert_memory_equal(hints[1], hints[0], sizeof(hints[0]));
        }
        for (uint32_t i = 0; i < PAIRS; ++i) {
            const carom_convex_pair *p = &in->pairs[i];
            carom_convex_hint hint = {0};
            carom_convex_query_def with = def != NULL ? *def : (carom_convex_query_def){0};
            carom_convex_result r;
            memset(&r, 0, sizeof(r));
            if (hinted != 0) with.hint = &hint;
            for (int turn = 0; turn <= hinted; ++turn)
                assert_ok(contexts[0],
                          single(contexts[0], p->a, &p->pose_a, p->b, &p->pose_b, &with, &r));
            assert_memory_equal(&r, &first[i], sizeof(r));
        }
    }
    for (uint32_t i = 0; i < PAIRS; ++i) in->pairs[i].hint = NULL;
}

static void check_meet_batch(carom_context *const *contexts, int count, const batch_input *in,
                             const carom_convex_query_def *def) {
    static bool first[PAIRS], other[PAIRS];
    uint64_t met = 0;
    for (int k = 0; k < count; ++k) {
        bool *to = k == 0 ? first : other;
        assert_ok(contexts[k], carom_convex_meet_batch(contexts[k], in->pairs, PAIRS, def, to));
        if (k != 0) assert_memory_equal(other, first, sizeof(first));
    }
    for (uint32_t i = 0; i < PAIRS; ++i) {
        const carom_convex_pair *p = &in->pairs[i];
        bool meet;
        assert_ok(contexts[0],
                  carom_convex_meet(contexts[0], p->a, &p->pose_a, p->b, &p->pose_b, def, &meet));
        assert_int_equal(meet, first[i]);
        met += meet;
    }
    assert_true(met > PAIRS / 10 && met < PAIRS - PAIRS / 10);
}

static void threads_and_instruction_sets_give_the_same_bytes(void **state) {
    (void)state;
    static batch_input in;
    carom_context *contexts[1 + 2 * CAROM_ISA_COUNT];
    int count = 1;
    contexts[0] = test_context(1);
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            contexts[count] = test_context_isa(threads, (carom_isa)isa);
            if (contexts[count] != NULL) ++count;
        }
    make_batch(contexts[0], &in);
    const carom_convex_query_def four = {.start = CAROM_CONVEX_START_FOUR,
                                         .search = CAROM_CONVEX_SEARCH_CLIMB};
    for (int way = 0; way < 2; ++way) {
        const carom_convex_query_def *def = way == 0 ? NULL : &four;
        check_batch(contexts, count, &in, def, carom_convex_distance_batch, carom_convex_distance);
        check_batch(contexts, count, &in, def, carom_convex_depth_batch, carom_convex_depth);
        check_meet_batch(contexts, count, &in, def);
    }
    for (uint32_t i = 0; i < BODIES; ++i) convex_shape_free(&in.shapes[i]);
    for (int k = 0; k < count; ++k) carom_context_destroy(contexts[k]);
}

/* A hull of some points of a small lattice, or a box: faces in one plane, and many equal depths. */
static void make_on_lattice(carom_context *context, carom_random *random, convex_shape *s) {
    carom_vec3 points[24];
    uint32_t count = 4 + test_below(random, 21), wide = 1 + test_below(random, 3);
    *s = (convex_shape){0};
    if (test_below(random, 3) == 0) {
        s->convex.kind = CAROM_CONVEX_KIND_BOX;
        s->convex.half = (carom_vec3){1.0, 1 + test_below(random, 2), 1 + test_below(random, 2)};
        return;
    }
    for (uint32_t i = 0; i < count; ++i)
        points[i] = (carom_vec3){test_below(random, 2 * wide + 1) - (double)wide,
                                 test_below(random, 2 * wide + 1) - (double)wide,
                                 test_below(random, 2 * wide + 1) - (double)wide};
    convex_shape_hull(context, s, points, count);
}

/* A hull of many points on a ball, rounded to a lattice or not: searches with many faces, some of
 * which are removed to make place, and some with too many for the search of many pairs. */
static void make_round_hull(carom_context *context, carom_random *random, convex_shape *s) {
    carom_vec3 points[80];
    uint32_t count = 20 + test_below(random, 61);
    bool rounded = test_below(random, 2) == 0;
    for (uint32_t i = 0; i < count; ++i) {
        double p[3];
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
            p[k] = carom_random_normal(random);
            square += p[k] * p[k];
        }
        for (int k = 0; k < 3; ++k) {
            p[k] /= sqrt(square);
            if (rounded) p[k] = round(8.0 * p[k]) / 8.0;
        }
        points[i] = (carom_vec3){p[0], p[1], p[2]};
    }
    *s = (convex_shape){0};
    convex_shape_hull(context, s, points, count);
}

static carom_pose make_lattice_pose(carom_random *random) {
    carom_pose p = {.t = {0.5 * test_below(random, 5) - 1.0, 0.5 * test_below(random, 5) - 1.0,
                          0.5 * test_below(random, 5) - 1.0}};
    uint32_t turn = test_below(random, 4);
    if (turn == 1) p.q = (carom_quat){1.0, 0.0, 0.0, 1.0};
    if (turn == 2) p.q = (carom_quat){1.0, 1.0, 1.0, 1.0};
    if (turn == 3)
        p.q = (carom_quat){carom_random_uniform(random), carom_random_uniform(random),
                           carom_random_uniform(random), carom_random_uniform(random)};
    return p;
}

static void depths_of_many_are_those_of_each(void **state) {
    (void)state;
    enum { SHAPES = 24, MOST = 70 };
    carom_context *contexts[1 + CAROM_ISA_COUNT];
    int count = test_contexts_of_isas(1, contexts, 0);
    carom_random random = {46};
    uint64_t overlapping = 0, asked = 0, long_searches = 0;
    for (uint32_t round = 0; round < TEST_CASES(400); ++round) {
        convex_shape shapes[SHAPES];
        carom_convex_pair pairs[MOST];
        static carom_convex_result results[MOST];
        for (int i = 0; i < SHAPES; ++i)
            (i % 3 == 2 ? make_round_hull : make_on_lattice)(contexts[0], &random, &shapes[i]);
        uint32_t pair_count = 1 + test_below(&random, MOST);
        for (uint32_t i = 0; i < pair_count; ++i)
            pairs[i] = (carom_convex_pair){.a = &shapes[test_below(&random, SHAPES)].convex,
                                           .b = &shapes[test_below(&random, SHAPES)].convex,
                                           .pose_a = make_lattice_pose(&random),
                                           .pose_b = make_lattice_pose(&random)};
        for (int k = 0; k < count; ++k) {
            assert_ok(contexts[k],
                      carom_convex_depth_batch(contexts[k], pairs, pair_count, NULL, results));
            for (uint32_t i = 0; i < pair_count; ++i) {
                carom_convex_result r;
                memset(&r, 0, sizeof(r));
                assert_ok(contexts[k], carom_convex_depth(contexts[k], pairs[i].a, &pairs[i].pose_a,
                                                          pairs[i].b, &pairs[i].pose_b, NULL, &r));
                assert_memory_equal(&r, &results[i], sizeof(r));
                overlapping += r.relation == CAROM_RELATION_OVERLAPPING;
                long_searches += r.iterations > 20;
                ++asked;
            }
        }
        for (int i = 0; i < SHAPES; ++i) convex_shape_free(&shapes[i]);
    }
    assert_true(2 * overlapping > asked);
    assert_true(long_searches != 0);
    for (int k = 0; k < count; ++k) carom_context_destroy(contexts[k]);
}

/* ---- input ----------------------------------------------------------------------------------- */

static carom_vec3 support_of_ball(void *user, const carom_vec3 *d) {
    double radius = *(double *)user, length = sqrt(d->x * d->x + d->y * d->y + d->z * d->z);
    return (carom_vec3){d->x / length * radius, d->y / length * radius, d->z / length * radius};
}

static carom_vec3 support_of_nonsense(void *user, const carom_vec3 *d) {
    (void)user, (void)d;
    return (carom_vec3){(double)NAN, (double)INFINITY, 0.0};
}

static void user_functions_are_shapes(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    double radius = 2.0;
    carom_convex ball = {.kind = CAROM_CONVEX_KIND_SUPPORT,
                         .support = support_of_ball,
                         .support_user = &radius,
                         .support_ball = {{0.0, 0.0, 0.0}, 2.0}};
    carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 2.0, 3.0}, .margin = 0.5};
    carom_pose pose = {.t = {4.0, 0.0, 0.0}};
    carom_convex_result r;
    assert_ok(context, carom_convex_depth(context, &ball, NULL, &box, &pose, NULL, &r));
    assert_true(r.relation == CAROM_RELATION_APART && fabs(r.distance - 0.5) < 1e-14);
    pose.t.x = 3.0;
    assert_ok(context, carom_convex_depth(context, &ball, NULL, &box, &pose, NULL, &r));
    assert_true(r.relation == CAROM_RELATION_OVERLAPPING && fabs(r.depth - 0.5) < 1e-12);
    ball.support = support_of_nonsense;
    assert_ok(context, carom_convex_depth(context, &ball, NULL, &box, &pose, NULL, &r));
    assert_true(isfinite(r.distance) && isfinite(r.depth) && isfinite(r.normal.x));
    carom_context_destroy(context);
}

static void extreme_sizes_are_finite(void **state) {
    (void)state;
    static const double sizes[] = {0.0, 1e-320, 1e-300, 1e-150, 1.0, 1e150, 1e299};
    carom_context *context = test_context(1);
    for (int kind = 0; kind < CAROM_CONVEX_KIND_HULL; ++kind)
        for (uint32_t i = 0; i < COUNT_OF(sizes); ++i)
            for (uint32_t k = 0; k < COUNT_OF(sizes); ++k)
                for (uint32_t l = 0; l < COUNT_OF(sizes); ++l) {
                    double s = sizes[i], far = sizes[l];
                    carom_convex a = {.kind = (carom_convex_kind)kind,
                                      .half = {s, s / 2.0, s / 3.0},
                                      .radius = s,
                                      .half_height = s};
                    carom_convex b = {.kind = CAROM_CONVEX_KIND_BOX,
                                      .half = {sizes[k], sizes[k], sizes[k]}};
                    carom_pose pose = {.q = {1e-200, 1e-201, 0.0, 1e-200}, .t = {far, far, 0.0}};
                    carom_convex_result r;
                    bool meet;
                    assert_ok(context, carom_convex_depth(context, &a, NULL, &b, &pose, NULL, &r));
                    assert_ok(context,
                              carom_convex_meet(context, &a, NULL, &b, &pose, NULL, &meet));
                    double sum = r.distance + r.depth + r.error + r.normal.x + r.normal.y +
                                 r.normal.z + r.point_a.x / 8.0 + r.point_b.y / 8.0;
                    assert_true(isfinite(sum));
                    if (r.relation == CAROM_RELATION_OVERLAPPING) assert_true(meet);
                }
    carom_context_destroy(context);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_convex a = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = -1.0}, b = {0};
    carom_convex_result r;
    carom_convex_result results[2];
    bool meet[2];
    const carom_convex_pair pairs[2] = {{.a = &b, .b = &b}, {.a = &b, .b = &a}};
    assert_fails(context, carom_convex_depth(context, &a, NULL, &b, NULL, NULL, &r),
                 CAROM_BAD_INPUT, "radius of a");
    assert_fails(context, carom_convex_meet_batch(context, pairs, 2, NULL, meet), CAROM_BAD_INPUT,
                 "radius of b in pair 1");
    assert_fails(context, carom_convex_distance_batch(context, pairs, 2, NULL, results),
                 CAROM_BAD_INPUT, "radius of b in pair 1");
    assert_fails(context, carom_convex_depth_batch(context, pairs, 2, NULL, results),
                 CAROM_BAD_INPUT, "radius of b in pair 1");
    a.radius = (double)NAN;
    assert_fails(context, carom_convex_depth(context, &b, NULL, &a, NULL, NULL, &r),
                 CAROM_BAD_INPUT, "radius of b");
    a.radius = 1.0;
    a.margin = (double)INFINITY;
    assert_fails(context, carom_convex_depth(context, &b, NULL, &a, NULL, NULL, &r),
                 CAROM_BAD_INPUT, "margin of b");
    a.margin = 0.0;
    carom_pose pose = {.t = {0.0, (double)NAN, 0.0}};
    assert_fails(context, carom_convex_depth(context, &b, &pose, &a, NULL, NULL, &r),
                 CAROM_BAD_INPUT, "pose of a");
    const carom_convex_pair nowhere[2] = {{.a = &a, .b = &b}, {.a = &a, .b = &b, .pose_a = pose}};
    assert_fails(context, carom_convex_depth_batch(context, nowhere, 2, NULL, results),
                 CAROM_BAD_INPUT, "pose of a in pair 1");
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_of_other_libraries_are_right),
        cmocka_unit_test(all_pairs_of_shapes_are_proved),
        cmocka_unit_test(found_by_the_campaign),
        cmocka_unit_test(no_other_direction_is_shallower),
        cmocka_unit_test(scale_changes_nothing),
        cmocka_unit_test(the_bound_is_nearly_reached),
        cmocka_unit_test(starts_searches_and_hints_agree),
        cmocka_unit_test(relations_keep_to_the_tolerance),
        cmocka_unit_test(a_wide_triangle_does_not_touch_beyond_the_tolerance),
        cmocka_unit_test(threads_and_instruction_sets_give_the_same_bytes),
        cmocka_unit_test(depths_of_many_are_those_of_each),
        cmocka_unit_test(user_functions_are_shapes),
        cmocka_unit_test(extreme_sizes_are_finite),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
