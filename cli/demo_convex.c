/* SPDX-License-Identifier: MIT */
/* The demo's section on convex shapes: two hulls pass each other, with their nearest points, and
 * the time of a query as hulls get finer, with climbing from neighbour to neighbour and without. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

#define SIZES  5
#define POSES  100
#define ROUNDS 5 /* the fastest counts */
#define FRAMES 61
#define DRAWN  28u /* points of a hull in the scene */

static const uint64_t sizes[SIZES] = {32, 128, 512, 2048, 8192};

/* Points on a sphere, in no order. */
static void make_points(uint64_t seed, carom_vec3 *points, uint64_t count) {
    carom_random random = {seed};
    for (uint64_t i = 0; i < count; ++i) {
        double x = carom_random_normal(&random), y = carom_random_normal(&random);
        double z = carom_random_normal(&random), length = sqrt(x * x + y * y + z * z);
        points[i] = (carom_vec3){x / length, y / length, z / length};
    }
}

typedef struct hulls {
    carom_hull *hulls[2];
    carom_convex shapes[2];
} hulls;

static carom_status make(carom_context *context, carom_vec3 *points, uint64_t count, hulls *h) {
    carom_status status = CAROM_OK;
    for (int k = 0; k < 2 && status == CAROM_OK; ++k) {
        carom_mesh_view view = {.positions = points, .vertex_count = count};
        make_points(100 + (uint64_t)k, points, count);
        status = carom_hull_create(context, &(carom_hull_def){.mesh = &view}, &h->hulls[k]);
        h->shapes[k] = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = h->hulls[k]};
    }
    return status;
}

static void destroy(hulls *h) {
    for (int k = 0; k < 2; ++k) carom_hull_destroy(h->hulls[k]);
}

/* ---- The scene ------------------------------------------------------------------------------- */

static carom_pose pose_at(int frame) {
    double s = frame / (FRAMES - 1.0), half = 2.2 * s;
    return (carom_pose){{cos(half), 0.48 * sin(half), 0.6 * sin(half), 0.64 * sin(half)},
                        {2.6 - 1.2 * sin(3.14159265 * s), 2.2 - 4.4 * s, 0.4}};
}

static carom_status follow(demo *demo, display *d, const hulls *h, display_item *moving) {
    double times[FRAMES], distance[FRAMES];
    carom_status status = CAROM_OK;
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        carom_pose pose = pose_at(i);
        carom_convex_result r;
        status = carom_convex_depth(demo->cli->context, &h->shapes[0], NULL, &h->shapes[1], &pose,
                                    NULL, &r);
        if (status != CAROM_OK) break;
        times[i] = 0.1 * i;
        distance[i] = r.distance - r.depth;
        display_add_pose(d, moving, pose);
        display_add_time(d, times[i]);
        display_item *line = display_add(d, DISPLAY_CURVE, r.depth > 0.0 ? "depth" : "distance");
        display_item *ends = display_add(d, DISPLAY_POINTS, "nearest points");
        display_add_segment(d, line, r.point_a, r.point_b);
        display_add_point(d, ends, r.point_a);
        display_add_point(d, ends, r.point_b);
        display_show_during(line, (uint64_t)i, (uint64_t)i + 1);
        display_show_during(ends, (uint64_t)i, (uint64_t)i + 1);
    }
    if (status == CAROM_OK)
        display_add_series(d, display_add_plot(d, "Distance; below 0, depth", "time", ""),
                           "distance", times, distance, FRAMES);
    return status;
}

static carom_status show(demo *demo, carom_vec3 *points) {
    hulls h = {{NULL, NULL}, {{0}, {0}}};
    demo_shape shapes[2] = {{0}, {0}};
    display d;
    display_begin(&d, demo->cli, "Two hulls pass each other; the line joins their nearest points.");
    carom_status status = make(demo->cli->context, points, DRAWN, &h);
    for (int k = 0; k < 2 && status == CAROM_OK; ++k) {
        demo_shape *s = &shapes[k];
        status = carom_hull_to_mesh(demo->cli->context, h.hulls[k], &s->mesh);
        if (status == CAROM_OK) status = carom_mesh_get_view(s->mesh, &s->view);
        if (status == CAROM_OK)
            status = display_mesh_open(demo->cli, &s->view, false, NULL, &s->shown);
        if (status == CAROM_OK) demo_shape_add(&d, s, k == 0 ? "hull A" : "hull B")->ghost = k == 1;
    }
    if (status == CAROM_OK) status = follow(demo, &d, &h, display_mesh_part(&shapes[1].shown, 0));
    d.still = FRAMES / 4;
    if (status == CAROM_OK)
        status = demo_show(demo, &d, "Two convex polyhedra with the line of their least distance");
    for (int k = 0; k < 2; ++k) demo_shape_close(&shapes[k]);
    destroy(&h);
    display_free(&d);
    return status;
}

/* ---- Times ----------------------------------------------------------------------------------- */

/* Seconds per query, the mean over poses around the other hull, in the fastest of some rounds. */
static carom_status measure(carom_context *context, const hulls *h, carom_convex_search search,
                            double *seconds) {
    carom_random random = {7};
    carom_convex_query_def def = {.search = search};
    double start = carom_time_seconds();
    *seconds = HUGE_VAL;
    for (int i = 0; i < ROUNDS * POSES; ++i) {
        carom_pose pose = {.q = {carom_random_normal(&random), carom_random_normal(&random),
                                 carom_random_normal(&random), carom_random_normal(&random)},
                           .t = {2.05, 0.0, 0.0}};
        carom_convex_result r;
        carom_status status =
            carom_convex_distance(context, &h->shapes[0], NULL, &h->shapes[1], &pose, &def, &r);
        if (status != CAROM_OK) return status;
        if ((i + 1) % POSES != 0) continue;
        double now = carom_time_seconds();
        *seconds = fmin(*seconds, (now - start) / POSES);
        start = now;
    }
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    carom_context *context = demo->cli->context;
    carom_vec3 *points = malloc(sizes[SIZES - 1] * sizeof(*points));
    double x[SIZES], all[SIZES], climb[SIZES];
    carom_status status = points != NULL ? show(demo, points) : CAROM_NO_MEMORY;
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        hulls h = {{NULL, NULL}, {{0}, {0}}};
        x[i] = (double)sizes[i];
        status = make(context, points, sizes[i], &h);
        if (status == CAROM_OK) status = measure(context, &h, CAROM_CONVEX_SEARCH_ALL, &all[i]);
        if (status == CAROM_OK) status = measure(context, &h, CAROM_CONVEX_SEARCH_CLIMB, &climb[i]);
        all[i] *= 1e6;
        climb[i] *= 1e6;
        destroy(&h);
    }
    free(points);
    if (status != CAROM_OK) return status;
    page_curve curves[2] = {{"all vertices", x, all, SIZES}, {"climbing", x, climb, SIZES}};
    page_chart(&demo->page,
               "Time of a distance query: support points are found by climbing from "
               "vertex to vertex.",
               "vertices of each", "microseconds", curves, 2);
    snprintf(demo->number, sizeof(demo->number), "%.1f µs", climb[SIZES - 1]);
    snprintf(demo->words, sizeof(demo->words),
             "for the distance of two hulls of %llu vertices each, on this machine, without "
             "knowledge of an earlier pose.",
             (unsigned long long)sizes[SIZES - 1]);
    snprintf(demo->result, sizeof(demo->result),
             "distance of two hulls of %llu vertices in %.1f us",
             (unsigned long long)sizes[SIZES - 1], climb[SIZES - 1]);
    return CAROM_OK;
}

const demo_part demo_convex = {
    64,
    "convex",
    "how far two convex hulls are apart",
    "Do two convex shapes touch, how far apart or how deep are they?",
    "A handful of support points decide. Every answer comes with the plane and the points that "
    "prove it, and it ends on every input.",
    "The fastest peers took, for hulls of 642 vertices, on the order of 5 to 10 times as long "
    "(FCL), for 32 vertices 2 to 5 times (Bullet, FCL); Bullet's answers were wrong in 25 of 4,000 "
    "cases (bench/results/epyc-avx512-1core/convex.csv).",
    "carom make knot -o knot.stl\n"
    "carom make torus -o torus.stl\n"
    "carom hulls knot.stl torus.stl --pose 4,0,0,1,0,0,0",
    run};
