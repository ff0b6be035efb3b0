/* SPDX-License-Identifier: MIT */
/* Distances, enclosing balls and lenses through their public face: one call per answer, input
 * checks included. Then queries of many points against one soup. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"

/* Three points in a row as the triangle they are. */
#define AS_TRIANGLE(points) ((const carom_triangle *)(const void *)(points))

#define PAIRS 4096

typedef struct distance_input {
    carom_context *context;
    carom_vec3 *points; /* six per pair */
    carom_ball *balls;  /* two per pair */
    carom_bounds *boxes;
    uint64_t count;
    double least, most; /* what the distances must lie between */
} distance_input;

static carom_vec3 any_point(carom_random *random, double x, double size) {
    carom_vec3 p;
    p.x = x + carom_random_between(random, -size, size);
    p.y = carom_random_between(random, -size, size);
    p.z = carom_random_between(random, -size, size);
    return p;
}

static carom_vec3 along(carom_vec3 a, carom_vec3 b, double t) {
    carom_vec3 p = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
    return p;
}

static bool run_triangles(void *input) {
    distance_input *in = input;
    bool good = true;
    carom_closest c;
    for (uint64_t i = 0; i < in->count; ++i) {
        const carom_vec3 *p = in->points + 6 * i;
        good &= carom_triangles_distance(in->context, AS_TRIANGLE(p), AS_TRIANGLE(p + 3), &c) ==
                CAROM_OK;
        good &= c.distance >= in->least && c.distance <= in->most;
    }
    return good;
}

static bool run_point_triangle(void *input) {
    distance_input *in = input;
    bool good = true;
    carom_closest c;
    for (uint64_t i = 0; i < in->count; ++i) {
        const carom_vec3 *p = in->points + 6 * i;
        good &= carom_point_triangle_distance(in->context, p, AS_TRIANGLE(p + 3), &c) == CAROM_OK;
    }
    return good;
}

static bool run_segments(void *input) {
    distance_input *in = input;
    bool good = true;
    carom_closest c;
    for (uint64_t i = 0; i < in->count; ++i) {
        const carom_vec3 *p = in->points + 6 * i;
        good &= carom_segments_distance(in->context, p, p + 3, &c) == CAROM_OK;
    }
    return good;
}

static bool run_box(void *input) {
    distance_input *in = input;
    uint64_t meets = 0;
    for (uint64_t i = 0; i < in->count; ++i) {
        bool meet = false;
        if (carom_triangle_meets_box(in->context, AS_TRIANGLE(in->points + 6 * i), in->boxes + i,
                                     &meet) != CAROM_OK)
            return false;
        meets += meet;
    }
    return meets > 0 && meets < in->count;
}

static bool run_ball_of_triangle(void *input) {
    distance_input *in = input;
    bool good = true;
    carom_ball ball;
    for (uint64_t i = 0; i < in->count; ++i) {
        good &=
            carom_ball_of_triangle(in->context, AS_TRIANGLE(in->points + 6 * i), &ball) == CAROM_OK;
        good &= ball.radius > 0.0;
    }
    return good;
}

static bool run_lens(void *input) {
    distance_input *in = input;
    bool good = true;
    carom_lens lens;
    for (uint64_t i = 0; i < in->count; ++i) {
        good &= carom_ball_lens(in->context, in->balls + 2 * i, in->balls + 2 * i + 1, &lens) ==
                CAROM_OK;
        good &= lens.volume > 0.0;
    }
    return good;
}

static bool run_ball_of_points(void *input) {
    distance_input *in = input;
    carom_ball ball;
    return carom_ball_of_points(in->context, in->points, in->count, &ball) == CAROM_OK &&
           ball.radius > 0.9 && ball.radius < 2.0;
}

static bool run_ball_of_balls(void *input) {
    distance_input *in = input;
    carom_ball ball;
    return carom_ball_of_balls(in->context, in->balls, in->count, &ball) == CAROM_OK &&
           ball.radius > 0.9 && ball.radius < 2.0;
}

static void measure(bench *bench, const char *job, distance_input *input, bool (*run)(void *)) {
    bench_contender one = {"carom, one thread", NULL, run, input};
    bench_compare(bench, job, (double)input->count, &one, 1);
}

/* Triangles of size about 1 in two positions `gap` apart; or one edge of the second through the
 * middle of the first. */
static void make_pairs(distance_input *in, uint64_t seed, double gap, bool crossing) {
    carom_random random = {seed};
    for (uint64_t i = 0; i < PAIRS; ++i) {
        carom_vec3 *p = in->points + 6 * i;
        for (int k = 0; k < 6; ++k) p[k] = any_point(&random, k < 3 ? 0.0 : gap, 1.0);
        carom_vec3 middle = along(p[0], along(p[1], p[2], 0.5), 0.6);
        if (crossing) p[4] = along(p[3], middle, 2.0);
        in->boxes[i].low = any_point(&random, -0.5, 0.5);
        in->boxes[i].high = in->boxes[i].low;
        in->boxes[i].high.x += 1.0;
        in->boxes[i].high.y += 1.0;
        in->boxes[i].high.z += 1.0;
        for (int k = 0; k < 2; ++k) {
            in->balls[2 * i + k].centre = any_point(&random, 0.0, 0.3);
            in->balls[2 * i + k].radius = carom_random_between(&random, 0.6, 1.0);
        }
    }
    in->count = PAIRS;
}

static void bench_small(bench *bench, distance_input *in) {
    in->least = 0.0;
    in->most = 100.0;
    make_pairs(in, 1, 10.0, false);
    measure(bench, "triangle-triangle, far", in, run_triangles);
    make_pairs(in, 2, 2.0, false);
    measure(bench, "triangle-triangle, near", in, run_triangles);
    measure(bench, "segment-segment", in, run_segments);
    measure(bench, "point-triangle", in, run_point_triangle);
    measure(bench, "triangle-box", in, run_box);
    measure(bench, "ball of a triangle", in, run_ball_of_triangle);
    measure(bench, "lens of two balls", in, run_lens);
    make_pairs(in, 3, 0.0, true);
    in->most = 1e-15;
    measure(bench, "triangle-triangle, crossing", in, run_triangles);
}

static void bench_large(bench *bench, distance_input *in, uint64_t count, const char *name) {
    char job[64];
    carom_random random = {4};
    in->count = count;
    for (uint64_t i = 0; i < count; ++i) {
        in->points[i] = any_point(&random, 0.0, 1.0);
        in->balls[i].centre = any_point(&random, 0.0, 1.0);
        in->balls[i].radius = carom_random_between(&random, 0.0, 0.1);
    }
    snprintf(job, sizeof(job), "ball of %s points", name);
    measure(bench, job, in, run_ball_of_points);
    snprintf(job, sizeof(job), "ball of %s balls", name);
    measure(bench, job, in, run_ball_of_balls);
}

/* ---- points and a soup ----------------------------------------------------------------------- */

typedef struct point_input {
    carom_context *context;
    carom_soup *soup;
    carom_vec3 *points;
    carom_hit *hits;
    int32_t *windings;
    double *values;
    uint64_t count;
} point_input;

static bool run_closest(void *input) {
    point_input *in = input;
    return carom_soup_closest_points(in->context, in->soup, in->points, in->count, in->hits) ==
           CAROM_OK;
}

static bool run_winding(void *input) {
    point_input *in = input;
    return carom_soup_winding(in->context, in->soup, in->points, in->count, in->windings) ==
           CAROM_OK;
}

/* The soup is closed, so fractions are near the winding numbers. */
static bool run_fractions(void *input) {
    point_input *in = input;
    bool good = carom_soup_winding_fractions(in->context, in->soup, in->points, in->count,
                                             in->values) == CAROM_OK;
    for (uint64_t i = 0; i < in->count; ++i) {
        double error = in->values[i] - (double)in->windings[i];
        good &= in->windings[i] == CAROM_SOUP_ON_SURFACE || (error < 0.01 && error > -0.01);
    }
    return good;
}

static bool run_signed(void *input) {
    point_input *in = input;
    return carom_soup_signed_distances(in->context, in->soup, in->points, in->count, in->values,
                                       in->hits) == CAROM_OK;
}

static void measure_points(bench *bench, const char *job, point_input *in, bool (*run)(void *)) {
    bench_contender one = {"carom, one thread", NULL, run, in};
    bench_compare(bench, job, (double)in->count, &one, 1);
}

/* Points anywhere in the box of a knotted tube of 100k triangles. */
static void bench_points(bench *bench, carom_context *context) {
    enum { MOST = 20000 };
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 2048};
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_soup_def def = {.mesh = &view};
    point_input in = {.context = context,
                      .points = malloc(MOST * sizeof(carom_vec3)),
                      .hits = malloc(MOST * sizeof(carom_hit)),
                      .windings = malloc(MOST * sizeof(int32_t)),
                      .values = malloc(MOST * sizeof(double)),
                      .count = bench->quick ? MOST / 10 : MOST};
    carom_random random = {5};
    if (in.points != NULL && in.hits != NULL && in.windings != NULL && in.values != NULL &&
        carom_shape_make(context, &shape, &mesh) == CAROM_OK &&
        carom_mesh_get_view(mesh, &view) == CAROM_OK &&
        carom_soup_create(context, &def, &in.soup) == CAROM_OK) {
        for (uint64_t i = 0; i < in.count; ++i) {
            in.points[i] = any_point(&random, 0.0, 1.5);
            in.points[i].z *= 0.4;
        }
        measure_points(bench, "closest point, 98k faces", &in, run_closest);
        measure_points(bench, "winding number", &in, run_winding);
        measure_points(bench, "winding fraction", &in, run_fractions);
        measure_points(bench, "signed distance", &in, run_signed);
    }
    carom_soup_destroy(in.soup);
    carom_mesh_destroy(mesh);
    free(in.points);
    free(in.hits);
    free(in.windings);
    free(in.values);
}

static void run(bench *bench) {
    enum { MANY = 1000000 };
    carom_context_def def = *bench->def;
    distance_input in = {.points = malloc(MANY * sizeof(carom_vec3)),
                         .balls = malloc(MANY * sizeof(carom_ball)),
                         .boxes = malloc(PAIRS * sizeof(carom_bounds))};
    def.threads = 1;
    if (in.points != NULL && in.balls != NULL && in.boxes != NULL &&
        carom_context_create(&def, &in.context) == CAROM_OK) {
        bench_small(bench, &in);
        bench_large(bench, &in, 1000, "1k");
        bench_large(bench, &in, MANY, "1M");
        bench_points(bench, in.context);
        carom_context_destroy(in.context);
    }
    free(in.points);
    free(in.balls);
    free(in.boxes);
}

const bench_group bench_distance = {14, "distance",
                                    "distances, enclosing balls, lenses, points and a soup", run};
