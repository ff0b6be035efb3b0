/* SPDX-License-Identifier: MIT */
/* Where faces meet: against the hull of all common corners and crossings of edges and faces, as
 * fractions of integers; and closed loops. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/intersection.h"
#include "tests/support/exact_geometry.h"
#include "tests/support/shapes.h"

__extension__ typedef __int128 wide;

/* ---- oracle: points as fractions of integers ------------------------------------------------- */

typedef struct fraction3 {
    wide x[3], w; /* x / w, w > 0 */
} fraction3;

typedef struct whole3 {
    int64_t x[3];
} whole3;

static whole3 whole_sub(whole3 a, whole3 b) {
    return (whole3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static whole3 whole_cross(whole3 a, whole3 b) {
    return (whole3){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                     a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static int64_t whole_dot(whole3 a, whole3 b) {
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static bool whole_is_zero(whole3 a) {
    return a.x[0] == 0 && a.x[1] == 0 && a.x[2] == 0;
}

/* (p - f) w. */
static fraction3 from_corner(const fraction3 *p, whole3 f) {
    fraction3 d = {.w = p->w};
    for (int k = 0; k < 3; ++k) d.x[k] = p->x[k] - f.x[k] * p->w;
    return d;
}

static wide along(const fraction3 *d, whole3 n) {
    return d->x[0] * n.x[0] + d->x[1] * n.x[1] + d->x[2] * n.x[2];
}

static bool on_segment(const fraction3 *p, whole3 a, whole3 b) {
    fraction3 d = from_corner(p, a);
    whole3 u = whole_sub(b, a);
    if (whole_is_zero(u)) return d.x[0] == 0 && d.x[1] == 0 && d.x[2] == 0;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if (d.x[i] * u.x[j] != d.x[j] * u.x[i]) return false;
    }
    wide at = along(&d, u);
    return at >= 0 && at <= (wide)whole_dot(u, u) * p->w;
}

static bool in_triangle(const fraction3 *p, const whole3 *t) {
    whole3 n = whole_cross(whole_sub(t[1], t[0]), whole_sub(t[2], t[0]));
    if (whole_is_zero(n))
        return on_segment(p, t[0], t[1]) || on_segment(p, t[1], t[2]) || on_segment(p, t[2], t[0]);
    fraction3 d = from_corner(p, t[0]);
    if (along(&d, n) != 0) return false;
    for (int i = 0; i < 3; ++i) {
        whole3 inward = whole_cross(n, whole_sub(t[(i + 1) % 3], t[i]));
        d = from_corner(p, t[i]);
        if (along(&d, inward) < 0) return false;
    }
    return true;
}

#define MOST_POINTS 64
typedef struct points {
    fraction3 p[MOST_POINTS];
    int count;
} points;

static bool are_equal(const fraction3 *a, const fraction3 *b) {
    for (int k = 0; k < 3; ++k)
        if (a->x[k] * b->w != b->x[k] * a->w) return false;
    return true;
}

static void offer(points *s, const fraction3 *p, const whole3 *a, const whole3 *b) {
    if (!in_triangle(p, a) || !in_triangle(p, b)) return;
    for (int i = 0; i < s->count; ++i)
        if (are_equal(&s->p[i], p)) return;
    s->p[s->count++] = *p;
}

/* Where the line of p and q crosses the plane through f with normal n. */
static bool cross_plane(whole3 p, whole3 q, whole3 f, whole3 n, fraction3 *at) {
    int64_t hp = whole_dot(whole_sub(p, f), n), hq = whole_dot(whole_sub(q, f), n);
    if (hp == hq) return false;
    at->w = hp > hq ? hp - hq : hq - hp;
    for (int k = 0; k < 3; ++k) {
        at->x[k] = (wide)q.x[k] * hp - (wide)p.x[k] * hq;
        if (hp < hq) at->x[k] = -at->x[k];
    }
    return true;
}

/* All corners and crossings that are in both: the intersection is their hull. */
static void collect(const whole3 *a, const whole3 *b, points *s) {
    s->count = 0;
    for (int turn = 0; turn < 2; ++turn) {
        const whole3 *t = turn == 0 ? a : b, *o = turn == 0 ? b : a;
        whole3 normal = whole_cross(whole_sub(o[1], o[0]), whole_sub(o[2], o[0]));
        for (int i = 0; i < 3; ++i) {
            whole3 p = t[i], q = t[(i + 1) % 3];
            fraction3 at = {{p.x[0], p.x[1], p.x[2]}, 1};
            offer(s, &at, a, b);
            if (cross_plane(p, q, o[0], normal, &at)) offer(s, &at, a, b);
            for (int j = 0; j < 3; ++j) {
                whole3 u = whole_sub(q, p), v = whole_sub(o[(j + 1) % 3], o[j]);
                whole3 n = whole_cross(v, whole_cross(u, v));
                if (cross_plane(p, q, o[j], n, &at)) offer(s, &at, a, b);
            }
        }
    }
}

/* Whether b is between a and c, or all three are on one line. */
static bool on_line(const fraction3 *a, const fraction3 *b, const fraction3 *c) {
    wide u[3], v[3];
    for (int k = 0; k < 3; ++k) {
        u[k] = b->x[k] * a->w - a->x[k] * b->w;
        v[k] = c->x[k] * a->w - a->x[k] * c->w;
    }
    return u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
}

static int dimension_of(const points *s) {
    if (s->count < 3) return s->count - 1;
    for (int i = 2; i < s->count; ++i)
        if (!on_line(&s->p[0], &s->p[1], &s->p[i])) return 2;
    return 1;
}

static carom_vec3 rounded(const fraction3 *p, double scale) {
    double w = (double)p->w; /* all are below 2^53, so each quotient is rounded once */
    return (carom_vec3){(double)p->x[0] / w * scale, (double)p->x[1] / w * scale,
                        (double)p->x[2] / w * scale};
}

static bool same_point(carom_vec3 a, carom_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Whether the point is between two others of a set: not an end, nor a corner of the outline. A
 * point of the inside is on no edge, so that no piece ends there. */
static bool is_between(const points *s, int i) {
    for (int j = 0; j < s->count; ++j) {
        for (int k = j + 1; k < s->count; ++k) {
            if (i == j || i == k || !on_line(&s->p[j], &s->p[i], &s->p[k])) continue;
            carom_vec3 p = rounded(&s->p[i], 1.0), a = rounded(&s->p[j], 1.0),
                       b = rounded(&s->p[k], 1.0);
            double at =
                (p.x - a.x) * (b.x - p.x) + (p.y - a.y) * (b.y - p.y) + (p.z - a.z) * (b.z - p.z);
            if (at > 0.0) return true;
        }
    }
    return false;
}

/* Every end is a point of the set; in an outline each is the end of two pieces. */
static void check_ends(const carom_intersection *r, const points *s, double scale, int round) {
    int times[MOST_POINTS] = {0};
    for (int i = 0; i < 2 * r->count; ++i) {
        int found = -1;
        for (int k = 0; k < s->count; ++k)
            if (same_point(r->end[i / 2][i % 2], rounded(&s->p[k], scale))) found = k;
        if (found < 0)
            fail_msg("round %d: (%.17g, %.17g, %.17g) is not an end", round, r->end[i / 2][i % 2].x,
                     r->end[i / 2][i % 2].y, r->end[i / 2][i % 2].z);
        ++times[found];
    }
    for (int k = 0; k < s->count; ++k) {
        if (r->dimension == 0) assert_int_equal(times[k], 2);
        if (r->dimension == 1) assert_int_equal(times[k], is_between(s, k) ? 0 : 1);
        if (r->dimension == 2 && times[k] != (is_between(s, k) ? 0 : 2))
            fail_msg("round %d: point %d of %d of an outline of %d is an end %d times", round, k,
                     s->count, r->count, times[k]);
    }
}

static void pieces_are_the_hull_of_common_points(void **state) {
    (void)state;
    static const double scales[] = {1.0, 0x1p-300, 0x1p500, 0x1p-30};
    carom_random random = {41};
    uint64_t dimensions[4] = {0};
    for (int round = 0; round < TEST_CASES(200000); ++round) {
        whole3 t[6];
        carom_triangle a, b;
        points s;
        carom_intersection r;
        uint64_t size = round % 3 == 0 ? 3 : round % 3 == 1 ? 5 : 40;
        double scale = scales[round % (int)COUNT_OF(scales)];
        for (int i = 0; i < 6; ++i) {
            for (int k = 0; k < 3; ++k) t[i].x[k] = (int64_t)(carom_random_next(&random) % size);
            if (round % 4 == 0) t[i].x[2] = t[i].x[0]; /* one plane */
            carom_vec3 p = {(double)t[i].x[0] * scale, (double)t[i].x[1] * scale,
                            (double)t[i].x[2] * scale};
            if (i < 3) a.corner[i] = p;
            if (i >= 3) b.corner[i - 3] = p;
        }
        collect(t, t + 3, &s);
        carom_triangle_intersect(&a, &b, &r);
        carom_triangle_intersection relation = carom_triangles_relate_value(&a, &b);
        if (r.dimension != dimension_of(&s))
            fail_msg("round %d: dimension %d, not %d", round, r.dimension, dimension_of(&s));
        assert_int_equal(r.interior,
                         relation.relation == CAROM_TRIANGLE_RELATION_CROSSING ||
                             relation.relation == CAROM_TRIANGLE_RELATION_COPLANAR_OVERLAP);
        check_ends(&r, &s, scale, round);
        ++dimensions[r.dimension + 1];
    }
    print_message("%" PRIu64 " apart, %" PRIu64 " points, %" PRIu64 " segments, %" PRIu64
                  " areas\n",
                  dimensions[0], dimensions[1], dimensions[2], dimensions[3]);
    for (int i = 0; i < 4 && TEST_MANY_CASES; ++i) assert_true(dimensions[i] > TEST_CASES(1000));
}

/* ---- any doubles ----------------------------------------------------------------------------- */

/* Whether the point is one where edges of t cross the plane of o, each coordinate rounded once. */
static bool is_cut(carom_vec3 at, const carom_triangle *t, const carom_triangle *o) {
    exact_triangle plane = exact_triangle_of(o->corner);
    const double x[3] = {at.x, at.y, at.z};
    for (int i = 0; i < 3; ++i) {
        number3 p = number3_of(t->corner[i]), q = number3_of(t->corner[(i + 1) % 3]);
        number hp = number3_dot(number3_sub(p, plane.p[0]), plane.normal);
        number hq = number3_dot(number3_sub(q, plane.p[0]), plane.normal);
        number range = number_sub(hp, hq);
        if (range.sign == 0) continue;
        bool right = true;
        for (int k = 0; k < 3 && right; ++k) {
            number top = number_sub(number_mul(q.x[k], hp), number_mul(p.x[k], hq));
            number half = number_mul(number_ulp(x[k]), number_of(0.5));
            right = ratio_within(x[k], ratio_of(top, range), half);
        }
        if (right) return true;
    }
    return false;
}

static void ends_are_rounded_once(void **state) {
    (void)state;
    carom_random random = {42};
    int segments = 0;
    for (int round = 0; round < TEST_CASES(20000); ++round) {
        carom_triangle a, b;
        carom_intersection r;
        number_reset();
        double offset = round % 3 == 0 ? 0.0 : round % 3 == 1 ? 1000.0 : 1e12;
        double thin = round % 5 == 0 ? 1e-9 : 1.0;
        for (int i = 0; i < 3; ++i) {
            a.corner[i].x = offset + carom_random_uniform(&random);
            a.corner[i].y = carom_random_uniform(&random);
            a.corner[i].z = thin * carom_random_uniform(&random);
            b.corner[i].x = offset + carom_random_uniform(&random);
            b.corner[i].y = carom_random_uniform(&random);
            b.corner[i].z = thin * carom_random_uniform(&random);
        }
        carom_triangle_intersect(&a, &b, &r);
        if (r.dimension != 1) continue;
        ++segments;
        for (int i = 0; i < 2; ++i)
            if (!is_cut(r.end[0][i], &a, &b) && !is_cut(r.end[0][i], &b, &a))
                fail_msg("round %d: end %d is not rounded from a crossing", round, i);
    }
    print_message("%d segments\n", segments);
    if (TEST_MANY_CASES) assert_true(segments > TEST_CASES(1000));
}

/* ---- soups ----------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b) {
    return memcmp(a, b, sizeof(carom_vec3));
}

static void two_closed_meshes_meet_in_loops(void **state) {
    (void)state;
    carom_context *context = test_context(1), *several = test_context(3);
    carom_shape_def shape = {.detail = 4};
    carom_mesh_view view;
    carom_soup *soup;
    carom_pairs pairs = {0};
    carom_soup_segments segments = {0}, others = {0};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
    carom_random random = {43};
    for (int round = 0; round < 20; ++round) {
        carom_pose pose = {.q = {carom_random_uniform(&random), carom_random_uniform(&random),
                                 carom_random_uniform(&random), 1.0},
                           .t = {0.5 * carom_random_uniform(&random), 0.3, 0.6}};
        assert_ok(context, carom_soup_cross_pairs(context, soup, NULL, soup, &pose, &pairs));
        assert_ok(context, carom_soup_cross_segments(context, soup, NULL, soup, &pose, pairs.data,
                                                     pairs.count, &segments));
        assert_ok(several, carom_soup_cross_segments(several, soup, NULL, soup, &pose, pairs.data,
                                                     pairs.count, &others));
        assert_int_equal(segments.count, pairs.count);
        assert_int_equal(others.count, pairs.count);
        assert_memory_equal(segments.data, others.data, pairs.count * sizeof(*segments.data));
        carom_vec3 *ends = malloc(2 * pairs.count * sizeof(*ends)); /* all starts, then all ends */
        assert_non_null(ends);
        for (uint64_t i = 0; i < pairs.count; ++i) {
            const carom_soup_segment *s = &segments.data[i];
            assert_int_equal(s->kind, CAROM_SOUP_SEGMENT_KIND_SEGMENT);
            assert_true(s->crossing);
            assert_int_equal(s->pair.a, pairs.data[i].a);
            assert_int_equal(s->pair.b, pairs.data[i].b);
            ends[i] = s->p;
            ends[pairs.count + i] = s->q;
        }
        qsort(ends, pairs.count, sizeof(*ends), compare_points);
        qsort(ends + pairs.count, pairs.count, sizeof(*ends), compare_points);
        assert_memory_equal(ends, ends + pairs.count, pairs.count * sizeof(*ends));
        for (uint64_t i = 1; i < pairs.count; ++i)
            assert_memory_not_equal(&ends[i - 1], &ends[i], sizeof(*ends));
        free(ends);
    }
    assert_true(segments.count > 50);
    /* A caller's buffer. */
    carom_soup_segment few[3];
    carom_soup_segments own = {few, 0, 3, CAROM_OWNER_CALLER};
    assert_int_equal(carom_soup_self_segments(context, soup, pairs.data, 0, &own), CAROM_OK);
    assert_int_equal(own.count, 0);
    carom_pair alike[4] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}}; /* each is the outline of a face */
    assert_int_equal(carom_soup_self_segments(context, soup, alike, 4, &own), CAROM_MORE);
    assert_int_equal(own.count, 12);
    assert_int_equal(few[2].kind, CAROM_SOUP_SEGMENT_KIND_OUTLINE);
    assert_int_equal(few[2].pair.a, 0);
    carom_pair wrong = {0, (uint32_t)view.face_count};
    assert_fails(context, carom_soup_self_segments(context, soup, &wrong, 1, &segments),
                 CAROM_BAD_INPUT, "pair 0");
    carom_pairs_free(&pairs);
    carom_soup_segments_free(&segments);
    carom_soup_segments_free(&others);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    carom_context_destroy(several);
}

static carom_status query(carom_allocator allocator, void *argument) {
    const double xyz[8][3] = {{0, 0, 0},  {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                              {1, 1, -1}, {1, 1, 1}, {5, 1, 1}, {5, 1, -1}};
    const uint32_t corners[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint64_t offsets[3] = {0, 4, 8};
    carom_context_def def = {.threads = 2, .allocator = allocator};
    carom_soup_def made = {.mesh = &(carom_mesh_view){.positions = xyz,
                                                      .scalar = CAROM_SCALAR_FLOAT64,
                                                      .vertex_count = 8,
                                                      .corners = corners,
                                                      .offsets = offsets,
                                                      .face_count = 2}};
    carom_context *context;
    carom_soup *soup;
    carom_soup_segments segments = {0};
    const carom_pair pair = {0, 1};
    (void)argument;
    carom_status status = carom_context_create(&def, &context);
    if (status != CAROM_OK) return status;
    status = carom_soup_create(context, &made, &soup);
    if (status == CAROM_OK) status = carom_soup_self_segments(context, soup, &pair, 1, &segments);
    if (status == CAROM_OK) { /* from (1, 1, 0) to (2, 1, 0), in pieces */
        double length = 0.0;
        for (uint64_t i = 0; i < segments.count; ++i)
            length += fabs(segments.data[i].q.x - segments.data[i].p.x);
        assert_true(length == 1.0);
    }
    carom_soup_segments_free(&segments);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void polygons_have_the_pieces_of_their_triangles(void **state) {
    (void)state;
    test_allocation_failures(query, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_the_hull_of_common_points),
        cmocka_unit_test(ends_are_rounded_once),
        cmocka_unit_test(two_closed_meshes_meet_in_loops),
        cmocka_unit_test(polygons_have_the_pieces_of_their_triangles),
    };
    return cmocka_run_group_tests_name("soup_segments", tests, NULL, NULL);
}
