/* SPDX-License-Identifier: MIT */
/* The small questions of geom.h and the sums of mesh reports, at every scale, size ratio and
 * distance from the origin, against exact numbers; and the exact numbers against themselves.
 * One thread. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scale_case.h"

#define BIG_WORDS 9
#define BIG(name) wide_##name
#include "tests/support/triangle_oracle.h"
#undef BIG_WORDS
#undef BIG

#define MOST_SPAN 116 /* binary places that 9 words hold: 4 (k + 2) bits */

/* ---- the oracle itself ----------------------------------------------------------------------- */

static number any_number(scale_case *c) {
    number sum = {0};
    int terms = scale_between(c, 1, 6);
    for (int i = 0; i < terms; ++i) {
        double x = ldexp(carom_random_between(&c->random, -1.0, 1.0), scale_between(c, -900, 900));
        if (scale_one_in(c, 4)) x = ldexp(1.0, scale_between(c, -900, 900));
        sum = number_add(sum, number_of(scale_one_in(c, 2) ? x : -x));
    }
    return sum;
}

/* Laws of arithmetic, and doubles where they are exact. */
static void arithmetic(scale_case *c) {
    number x = any_number(c), y = any_number(c), z = any_number(c);
    number left = number_mul(number_add(x, y), z);
    number right = number_add(number_mul(x, z), number_mul(y, z));
    scale_expect(c, number_compare(left, right) == 0, "(x + y) z is not x z + y z");
    scale_expect(c, number_compare(number_sub(number_add(x, y), y), x) == 0, "x + y - y is not x");
    int order = number_compare(x, y);
    scale_expect(c, order == number_sub(x, y).sign, "x - y has not the sign of their order");
    if (y.sign != 0) {
        number exact = number_div(number_mul(x, y), y, 4000);
        scale_expect(c, number_compare(exact, x) == 0, "x y / y is not x");
        int bits = scale_between(c, 10, 900);
        number rest = number_sub(x, number_mul(number_div(x, y, bits), y));
        scale_expect(
            c,
            number_compare(number_abs(rest), number_mul(number_abs(x), number_power(-bits))) <= 0,
            "x / y is not right to %d bits", bits);
        scale_expect(c, rest.sign == 0 || rest.sign == x.sign, "x / y is not towards zero");
    }
    int bits = scale_between(c, 10, 900);
    number root = number_sqrt(number_mul(x, x), bits);
    scale_expect(
        c, number_within(root, number_abs(x), number_mul(number_abs(x), number_power(1 - bits))),
        "the root of x x is not right to %d bits", bits);
    int64_t i = (int64_t)(carom_random_next(&c->random) >> 34), j = scale_between(c, -1000, 1000);
    double product = (double)i * (double)j;
    scale_expect(c,
                 number_compare(number_mul(number_of((double)i), number_of((double)j)),
                                number_of(product)) == 0 &&
                     number_show(number_of(product)) == product,
                 "%" PRId64 " * %" PRId64 " is not %g", i, j, product);
}

/* ---- predicates ------------------------------------------------------------------------------ */

/* Two faces of one soup. */
static void two_faces(scale_case *c, carom_vec3 corner[6]) {
    scale_soup soup;
    scale_make_soup(c, 8, &soup);
    scale_move_soup(c, &soup);
    scale_corners(&soup, scale_below(c, soup.faces), corner);
    scale_corners(&soup, scale_below(c, soup.faces), corner + 3);
    if (scale_one_in(c, 8)) corner[4] = corner[0];
    if (scale_one_in(c, 8)) corner[5] = corner[4];
    if (scale_one_in(c, 16)) corner[1] = corner[0];
}

static int span_of(const carom_vec3 *points, int count, int *bottom) {
    int low = 5000, high = -5000;
    for (int i = 0; i < 3 * count; ++i) {
        double x = i % 3 == 0 ? points[i / 3].x : i % 3 == 1 ? points[i / 3].y : points[i / 3].z;
        if (x == 0.0) continue;
        number n = number_of(x);
        int least = 64 * n.low + __builtin_ctzll(n.word[0]), most = number_exponent(n);
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    *bottom = low > 4000 ? 0 : low;
    return high - low;
}

static void predicates(scale_case *c) {
    carom_vec3 p[6];
    two_faces(c, p);
    int sign = 7, right = exact_orient_3d(p), base;
    if (scale_ok(c, carom_points_orient_3d(c->context, p, &sign)))
        scale_expect(c, sign == right, "orientation %d, right %d", sign, right);
    exact_triangle a = exact_triangle_of(p), b = exact_triangle_of(p + 3);
    for (uint32_t k = 0; k < 3; ++k)
        if (scale_ok(c, carom_points_orient_2d(c->context, p, k, &sign)))
            scale_expect(c, sign == a.normal.x[k].sign, "turn %d, right %d", sign,
                         a.normal.x[k].sign);
    carom_triangle ta = {{p[0], p[1], p[2]}}, tb = {{p[3], p[4], p[5]}};
    bool meet = false, meets = ratio_sign(exact_triangles(&a, &b)) == 0;
    carom_triangle_intersection relation;
    if (scale_ok(c, carom_triangles_meet(c->context, &ta, &tb, &meet)))
        scale_expect(c, meet == meets, "meet %d, right %d", meet, meets);
    if (!scale_ok(c, carom_triangles_relate(c->context, &ta, &tb, &relation))) return;
    scale_expect(c, (relation.relation != CAROM_TRIANGLE_RELATION_DISJOINT) == meets, "relation %s",
                 carom_triangle_relation_name(relation.relation));
    if (span_of(p, 6, &base) > MOST_SPAN) return;
    carom_triangle_intersection expected = wide_oracle(&ta, &tb, base);
    scale_expect(
        c,
        relation.relation == expected.relation && relation.dimension == expected.dimension &&
            relation.dimension_a == expected.dimension_a &&
            relation.dimension_b == expected.dimension_b && relation.coplanar == expected.coplanar,
        "relation %s, right %s", carom_triangle_relation_name(relation.relation),
        carom_triangle_relation_name(expected.relation));
}

/* ---- distances ------------------------------------------------------------------------------- */

static void check_closest(scale_case *c, const char *what, const carom_closest *got, ratio right,
                          const carom_vec3 *points, int count) {
    double extent = exact_extent(points, count);
    number bound = number_add(number_mul(number_of(1e-15), number_of(extent)), number_power(-1074));
    scale_expect(c,
                 isfinite(got->distance) && got->distance >= 0.0 &&
                     ratio_root_within(got->distance, right, bound),
                 "%s: distance %.17g, right %.17g, extent %g", what, got->distance,
                 number_show(number_sqrt(number_div(right.top, right.bottom, 80), 64)), extent);
    bool finite = isfinite(got->a.x) && isfinite(got->a.y) && isfinite(got->a.z) &&
                  isfinite(got->b.x) && isfinite(got->b.y) && isfinite(got->b.z);
    if (!scale_expect(c, finite, "%s: points are not finite", what)) return;
    /* As far apart as is said, up to the rounding of their coordinates. */
    double most = 0.0;
    for (int i = 0; i < count; ++i)
        most = fmax(most, fmax(fabs(points[i].x), fmax(fabs(points[i].y), fabs(points[i].z))));
    number loose =
        number_add(number_mul(number_of(4.0), bound), number_mul(number_of(4.0), number_ulp(most)));
    number3 apart = number3_sub(number3_of(got->b), number3_of(got->a));
    scale_expect(c,
                 ratio_root_within(got->distance,
                                   ratio_of(number3_dot(apart, apart), number_power(0)), loose),
                 "%s: points are not the distance %.17g apart", what, got->distance);
    double square = got->distance * got->distance;
    scale_expect(
        c, square < 0x1p-1000 || square > DBL_MAX || fabs(got->squared - square) <= 1e-14 * square,
        "%s: squared %.17g of %.17g", what, got->squared, got->distance);
    scale_expect(c, !isnan(got->squared), "%s: squared is not a number", what);
}

static void distances(scale_case *c) {
    carom_vec3 p[6], q[5];
    carom_closest got;
    two_faces(c, p);
    exact_triangle a = exact_triangle_of(p), b = exact_triangle_of(p + 3);
    carom_triangle ta = {{p[0], p[1], p[2]}}, tb = {{p[3], p[4], p[5]}};
    if (scale_ok(c, carom_triangles_distance(c->context, &ta, &tb, &got)))
        check_closest(c, "triangles", &got, exact_triangles(&a, &b), p, 6);
    if (scale_ok(c, carom_segment_triangle_distance(c->context, p, &tb, &got))) {
        memcpy(q, p, 2 * sizeof(*p));
        memcpy(q + 2, p + 3, 3 * sizeof(*p));
        check_closest(c, "segment and triangle", &got, exact_segment_triangle(a.p, &b), q, 5);
    }
    if (scale_ok(c, carom_point_triangle_distance(c->context, &p[2], &tb, &got)))
        check_closest(c, "point and triangle", &got, exact_point_triangle(a.p[2], &b), p + 2, 4);
    if (scale_ok(c, carom_segments_distance(c->context, p + 1, p + 3, &got)))
        check_closest(c, "segments", &got, exact_segments(a.p + 1, b.p), p + 1, 4);
    if (scale_ok(c, carom_point_segment_distance(c->context, &p[2], p + 3, &got)))
        check_closest(c, "point and segment", &got, exact_point_segment(a.p[2], b.p[0], b.p[1]),
                      p + 2, 3);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static bool meets_box(const exact_triangle *t, const carom_vec3 *corner, const carom_bounds *box) {
    static const uint8_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                         {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                         {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int i = 0; i < 3; ++i) {
        const carom_vec3 *p = &corner[i];
        if (p->x >= box->low.x && p->x <= box->high.x && p->y >= box->low.y &&
            p->y <= box->high.y && p->z >= box->low.z && p->z <= box->high.z)
            return true;
    }
    for (int f = 0; f < 12; ++f) {
        carom_vec3 q[3];
        for (int i = 0; i < 3; ++i)
            q[i] = (carom_vec3){(faces[f][i] & 1) != 0 ? box->high.x : box->low.x,
                                (faces[f][i] & 2) != 0 ? box->high.y : box->low.y,
                                (faces[f][i] & 4) != 0 ? box->high.z : box->low.z};
        exact_triangle side = exact_triangle_of(q);
        if (ratio_sign(exact_triangles(t, &side)) == 0) return true;
    }
    return false;
}

static void boxes(scale_case *c) {
    carom_vec3 p[6];
    two_faces(c, p);
    carom_bounds box = {p[3], p[3]};
    box.low.x = fmin(p[3].x, p[4].x), box.high.x = fmax(p[3].x, p[4].x);
    box.low.y = fmin(p[3].y, p[4].y), box.high.y = fmax(p[3].y, p[4].y);
    box.low.z = fmin(p[3].z, p[4].z), box.high.z = fmax(p[3].z, p[4].z);
    carom_triangle triangle = {{p[0], p[1], p[2]}};
    exact_triangle t = exact_triangle_of(p);
    bool meets = false;
    if (scale_ok(c, carom_triangle_meets_box(c->context, &triangle, &box, &meets)) && !meets)
        scale_expect(c, !meets_box(&t, p, &box), "a triangle and a box that meet do not");
}

/* ---- balls ----------------------------------------------------------------------------------- */

static bool ball_holds(const carom_ball *ball, number3 centre, double radius) {
    if (!isfinite(ball->radius) || !isfinite(ball->centre.x) || !isfinite(ball->centre.y) ||
        !isfinite(ball->centre.z))
        return false;
    number3 apart = number3_sub(centre, number3_of(ball->centre));
    number rest = number_sub(number_of(ball->radius), number_of(radius));
    return rest.sign >= 0 && number_compare(number3_dot(apart, apart), number_mul(rest, rest)) <= 0;
}

/* The square of the radius of the smallest ball around a triangle. */
static ratio smallest_radius(const exact_triangle *t) {
    number longest = {0};
    number edge[3];
    for (int i = 0; i < 3; ++i) {
        number3 e = number3_sub(t->p[(i + 1) % 3], t->p[i]);
        edge[i] = number3_dot(e, e);
        if (number_compare(edge[i], longest) > 0) longest = edge[i];
    }
    number sum = number_add(edge[0], number_add(edge[1], edge[2]));
    number four = number_of(4.0);
    if (number_compare(sum, number_add(longest, longest)) <= 0) /* not acute */
        return ratio_of(longest, four);
    number top = number_mul(edge[0], number_mul(edge[1], edge[2]));
    return ratio_of(top, number_mul(four, number3_dot(t->normal, t->normal)));
}

static void balls(scale_case *c) {
    carom_vec3 p[6];
    carom_ball ball;
    two_faces(c, p);
    double most = 0.0;
    for (int i = 0; i < 6; ++i)
        most = fmax(most, fmax(fabs(p[i].x), fmax(fabs(p[i].y), fabs(p[i].z))));
    carom_triangle triangle = {{p[0], p[1], p[2]}};
    exact_triangle t = exact_triangle_of(p);
    if (scale_ok(c, carom_ball_of_triangle(c->context, &triangle, &ball))) {
        bool holds = true;
        for (int i = 0; i < 3; ++i) holds = holds && ball_holds(&ball, t.p[i], 0.0);
        scale_expect(c, holds, "the ball of a triangle does not hold it: radius %a", ball.radius);
        /* (r - 8 ulp) / (1 + 1e-13) is no more than the smallest. */
        double largest = 0.0;
        for (int i = 0; i < 3; ++i)
            largest = fmax(largest, fmax(fabs(p[i].x), fmax(fabs(p[i].y), fabs(p[i].z))));
        number r =
            number_sub(number_of(ball.radius), number_mul(number_of(8.0), number_ulp(largest)));
        ratio right = smallest_radius(&t);
        number share = number_of(1.0 - 1e-13);
        r = number_mul(r, share);
        scale_expect(c,
                     r.sign <= 0 ||
                         number_compare(number_mul(number_mul(r, r), right.bottom), right.top) <= 0,
                     "the ball of a triangle is too large: %.17g, right %.17g", ball.radius,
                     number_show(number_sqrt(number_div(right.top, right.bottom, 80), 64)));
    }
    if (scale_ok(c, carom_ball_of_points(c->context, p, 6, &ball))) {
        bool holds = true;
        for (int i = 0; i < 6; ++i) holds = holds && ball_holds(&ball, number3_of(p[i]), 0.0);
        scale_expect(c, holds, "the ball of points does not hold them: radius %a", ball.radius);
        double extent = exact_extent(p, 6);
        scale_expect(c, ball.radius <= 0.6124 * extent + 8.0 * number_show(number_ulp(most)),
                     "the ball of points is too large: %g of %g", ball.radius, extent);
    }
    carom_ball some[6];
    bool holds = true;
    for (int i = 0; i < 6; ++i) {
        double radius =
            scale_one_in(c, 3) ? 0.0 : ldexp(exact_extent(p, 3), scale_between(c, -60, 3));
        some[i] = (carom_ball){p[i], fmin(radius, 0x1p1018)};
    }
    if (!scale_ok(c, carom_ball_of_balls(c->context, some, 6, &ball))) return;
    for (int i = 0; i < 6; ++i)
        holds = holds && ball_holds(&ball, number3_of(some[i].centre), some[i].radius);
    scale_expect(c, holds, "the ball of balls does not hold them: radius %a", ball.radius);
}

/* The same lens at every scale. */
static void lenses(scale_case *c) {
    carom_ball a = {{(double)scale_between(c, -9, 9), (double)scale_between(c, -9, 9), 1.0}, 0.0};
    carom_ball b = {{(double)scale_between(c, -9, 9), 2.0, (double)scale_between(c, -9, 9)}, 0.0};
    carom_lens lens, scaled;
    a.radius = scale_one_in(c, 4) ? 7.0 : carom_random_between(&c->random, 0.0, 12.0);
    b.radius = ldexp(carom_random_between(&c->random, 0.5, 1.0), scale_between(c, -60, 4));
    int k = scale_exponent(c, -1000, 1000);
    carom_ball sa = {scale_vec(a.centre, k), ldexp(a.radius, k)};
    carom_ball sb = {scale_vec(b.centre, k), ldexp(b.radius, k)};
    if (!scale_vec_exact(sa.centre, -k) || !scale_vec_exact(sb.centre, -k) ||
        ldexp(sa.radius, -k) != a.radius || ldexp(sb.radius, -k) != b.radius)
        return;
    if (!scale_ok(c, carom_ball_lens(c->context, &a, &b, &lens)) ||
        !scale_ok(c, carom_ball_lens(c->context, &sa, &sb, &scaled)))
        return;
    double volume = ldexp(lens.volume, 3 * k), derivative = ldexp(lens.derivative, 2 * k);
    scale_expect(c,
                 fabs(scaled.volume - volume) <= 4e-15 * volume + 0x1p-1073 ||
                     (isinf(volume) && scaled.volume >= DBL_MAX),
                 "lens of volume %.17g, right %.17g at 2^%d", scaled.volume, volume, k);
    scale_expect(c,
                 fabs(scaled.derivative - derivative) <= 4e-15 * fabs(derivative) + 0x1p-1073 ||
                     (isinf(derivative) && scaled.derivative <= -DBL_MAX),
                 "lens of derivative %.17g, right %.17g at 2^%d", scaled.derivative, derivative, k);
    double radius = ldexp(lens.radius, k);
    scale_expect(c, fabs(scaled.radius - radius) <= 4e-15 * radius + 0x1p-1073,
                 "lens of radius %.17g, right %.17g at 2^%d", scaled.radius, radius, k);
}

/* ---- reports --------------------------------------------------------------------------------- */

static void reports(scale_case *c) {
    scale_soup soup;
    carom_mesh_report report;
    scale_make_soup(c, SCALE_FEW_FACES, &soup);
    scale_move_soup(c, &soup);
    carom_mesh_view view = scale_view(&soup);
    if (!scale_ok(c, carom_mesh_inspect(c->context, &view, &report))) return;
    number volume = {0}, area = {0}, squares = {0};
    uint64_t degenerate = 0;
    for (uint32_t i = 0; i < soup.faces; ++i) {
        carom_vec3 corner[3];
        scale_corners(&soup, i, corner);
        exact_triangle t = exact_triangle_of(corner);
        volume = number_add(volume, number3_dot(number3_cross(t.p[0], t.p[1]), t.p[2]));
        area = number_add(area, number_sqrt(number3_dot(t.normal, t.normal), 128));
        degenerate += !t.has_area;
        number extent = number_of(exact_extent(corner, 3));
        squares = number_add(squares, number_mul(extent, extent));
    }
    area = number_mul(area, number_power(-1));
    ratio right = ratio_of(volume, number_of(6.0));
    double v = ratio_show(right), s = number_show(area);
    scale_expect(c,
                 isfinite(v)
                     ? isfinite(report.volume) && ratio_within(report.volume, right, number_ulp(v))
                     : fabs(report.volume) >= DBL_MAX,
                 "volume of a mesh: %.17g, right %.17g (%s)", report.volume, v, soup.kind);
    /* Right to the rounding of the sides, wherever they are; thin faces have no better. */
    number bound = number_add(number_mul(squares, number_of(2e-15)), number_power(-1074));
    scale_expect(
        c,
        isfinite(s) ? isfinite(report.area) && number_within(number_of(report.area), area, bound)
                    : report.area >= DBL_MAX,
        "area of a mesh: %.17g, right %.17g (%s, 2^%d)", report.area, s, soup.kind, soup.unit);
    scale_expect(c, report.degenerate_faces == degenerate,
                 "%" PRIu64 " degenerate faces, right %" PRIu64 " (%s)", report.degenerate_faces,
                 degenerate, soup.kind);
}

/* ---------------------------------------------------------------------------------------------- */

#define LONGER 60

static void test_arithmetic(void **state) {
    (void)state;
    scale_run("geom-oracle", arithmetic, 500, LONGER);
}

static void test_predicates(void **state) {
    (void)state;
    scale_run("geom-predicates", predicates, 1500, LONGER);
}

static void test_distances(void **state) {
    (void)state;
    scale_run("geom-distances", distances, 1500, LONGER);
}

static void test_boxes(void **state) {
    (void)state;
    scale_run("geom-boxes", boxes, 500, LONGER);
}

static void test_balls(void **state) {
    (void)state;
    scale_run("geom-balls", balls, 1500, LONGER);
}

static void test_lenses(void **state) {
    (void)state;
    scale_run("geom-lenses", lenses, 1500, LONGER);
}

static void test_reports(void **state) {
    (void)state;
    scale_run("geom-reports", reports, 500, LONGER);
}

int main(void) {
    if (!test_has_long_double()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_distances),  cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_balls),      cmocka_unit_test(test_lenses),
        cmocka_unit_test(test_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
