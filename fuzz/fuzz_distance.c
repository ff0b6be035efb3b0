/* SPDX-License-Identifier: MIT */
/* Distances, balls, lenses and triangle-box overlap on any doubles: good input gives finite answers
 * that agree with each other, bad input a status. */
#include "fuzz/fuzz.h"

#include <math.h>

#include "carom/carom.h"

/* Three points in a row as the triangle they are. */
#define AS_TRIANGLE(points) ((const carom_triangle *)(const void *)(points))

#define MOST_POINTS 64
#define LIMIT       0x1p1020

static bool usable(const double *numbers, int count) {
    for (int i = 0; i < count; ++i)
        if (!(fabs(numbers[i]) <= LIMIT)) return false;
    return true;
}

static double apart(carom_vec3 a, carom_vec3 b) {
    return hypot(hypot(b.x - a.x, b.y - a.y), b.z - a.z);
}

static double largest(const carom_vec3 *p, int count) {
    double most = 0.0;
    for (int i = 0; i < count; ++i)
        most = fmax(most, fmax(fabs(p[i].x), fmax(fabs(p[i].y), fabs(p[i].z))));
    return most;
}

/* Finite, the witnesses as far apart as it says, no corner of `b` nearer to `a`'s first. */
static void check_closest(const carom_closest *c, const carom_vec3 *a, const carom_vec3 *b, int nb,
                          double size) {
    double slack = size * 1e-14 + 0x1p-1060;
    FUZZ_CHECK(c->distance >= 0.0 && c->distance <= 0x1p1023);
    FUZZ_CHECK(c->squared >= 0.0);
    FUZZ_CHECK(fabs(apart(c->a, c->b) - c->distance) <= slack);
    for (int i = 0; i < nb; ++i) FUZZ_CHECK(c->distance <= apart(a[0], b[i]) + slack);
}

static void check_distances(carom_context *context, const carom_vec3 *p) {
    carom_closest ps, ss, pt, st, tt, turned;
    bool good = usable(&p[0].x, 18);
    carom_status status =
        carom_triangles_distance(context, AS_TRIANGLE(p), AS_TRIANGLE(p + 3), &tt);
    FUZZ_CHECK(status == (good ? CAROM_OK : CAROM_BAD_INPUT));
    if (!good) return;
    double size = largest(p, 6), slack = size * 1e-14 + 0x1p-1060;
    FUZZ_CHECK(carom_point_segment_distance(context, p, p + 3, &ps) == CAROM_OK);
    FUZZ_CHECK(carom_segments_distance(context, p, p + 3, &ss) == CAROM_OK);
    FUZZ_CHECK(carom_point_triangle_distance(context, p, AS_TRIANGLE(p + 3), &pt) == CAROM_OK);
    FUZZ_CHECK(carom_segment_triangle_distance(context, p, AS_TRIANGLE(p + 3), &st) == CAROM_OK);
    check_closest(&ps, p, p + 3, 2, size);
    check_closest(&ss, p, p + 3, 2, size);
    check_closest(&pt, p, p + 3, 3, size);
    check_closest(&st, p, p + 3, 3, size);
    check_closest(&tt, p, p + 3, 3, size);
    /* A part is never nearer than the whole. */
    FUZZ_CHECK(ps.distance + slack >= ss.distance && ps.distance + slack >= pt.distance);
    FUZZ_CHECK(ss.distance + slack >= st.distance && pt.distance + slack >= st.distance);
    FUZZ_CHECK(st.distance + slack >= tt.distance);
    carom_vec3 q[6] = {p[4], p[5], p[3], p[2], p[1], p[0]};
    FUZZ_CHECK(carom_triangles_distance(context, AS_TRIANGLE(q), AS_TRIANGLE(q + 3), &turned) ==
               CAROM_OK);
    FUZZ_CHECK(fabs(turned.distance - tt.distance) <= slack);
}

/* A triangle with a corner in the box meets it. */
static void check_box(carom_context *context, const carom_vec3 *p) {
    carom_bounds box = {p[3], p[4]};
    bool meets = false;
    bool good = usable(&p[0].x, 15);
    carom_status status = carom_triangle_meets_box(context, AS_TRIANGLE(p), &box, &meets);
    FUZZ_CHECK(status == (good ? CAROM_OK : CAROM_BAD_INPUT));
    for (int i = 0; good && i < 3; ++i)
        if (p[i].x >= box.low.x && p[i].x <= box.high.x && p[i].y >= box.low.y &&
            p[i].y <= box.high.y && p[i].z >= box.low.z && p[i].z <= box.high.z)
            FUZZ_CHECK(meets);
}

static void check_balls(carom_context *context, const double *numbers, int count) {
    static carom_vec3 points[MOST_POINTS];
    static carom_ball balls[MOST_POINTS];
    carom_ball ball;
    carom_lens lens;
    int n = count / 4;
    if (n == 0) return;
    bool good_points = true, good_balls = true;
    for (int i = 0; i < n; ++i) {
        memcpy(&balls[i], numbers + 4 * i, sizeof(balls[i]));
        points[i] = balls[i].centre;
        good_points = good_points && usable(&points[i].x, 3);
        good_balls = good_balls && balls[i].radius >= 0.0 && usable(&balls[i].radius, 1);
    }
    carom_status status = carom_ball_of_points(context, points, (uint64_t)n, &ball);
    FUZZ_CHECK(status == (good_points ? CAROM_OK : CAROM_BAD_INPUT));
    double size = largest(points, n), slack = 1e-14;
    if (good_points) {
        FUZZ_CHECK(ball.radius >= 0.0 && ball.radius <= 4.0 * size);
        for (int i = 0; i < n; ++i)
            FUZZ_CHECK(apart(ball.centre, points[i]) <= ball.radius * (1.0 + slack));
    }
    status = carom_ball_of_balls(context, balls, (uint64_t)n, &ball);
    FUZZ_CHECK(status == (good_points && good_balls ? CAROM_OK : CAROM_BAD_INPUT));
    if (!good_points || !good_balls) return;
    for (int i = 0; i < n; ++i)
        FUZZ_CHECK(apart(ball.centre, balls[i].centre) + balls[i].radius <=
                   ball.radius * (1.0 + slack));
    if (n >= 3) {
        carom_ball of_triangle;
        FUZZ_CHECK(carom_ball_of_triangle(context, AS_TRIANGLE(points), &of_triangle) == CAROM_OK);
        FUZZ_CHECK(of_triangle.radius >= 0.0 && of_triangle.radius <= 4.0 * size);
    }
    if (n >= 2) {
        FUZZ_CHECK(carom_ball_lens(context, &balls[0], &balls[1], &lens) == CAROM_OK);
        FUZZ_CHECK(lens.volume >= 0.0 && lens.derivative <= 0.0 && lens.radius >= 0.0);
        double smaller = fmin(balls[0].radius, balls[1].radius);
        FUZZ_CHECK(lens.radius <= smaller * (1.0 + slack) + 0x1p-1040);
        FUZZ_CHECK(isfinite(lens.centre.x) && isfinite(lens.centre.y) && isfinite(lens.centre.z));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static carom_context *context; /* kept for the life of the process */
    double numbers[4 * MOST_POINTS] = {0};
    if (context == NULL)
        FUZZ_CHECK(carom_context_create(&(carom_context_def){.threads = 1}, &context) == CAROM_OK);
    if (size > sizeof(numbers)) size = sizeof(numbers);
    memcpy(numbers, bytes, size);
    carom_vec3 points[6];
    memcpy(points, numbers, sizeof(points));
    check_distances(context, points);
    check_box(context, points);
    check_balls(context, numbers, (int)(size / sizeof(double)));
    return 0;
}
