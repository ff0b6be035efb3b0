/* SPDX-License-Identifier: MIT */
/* The demo's section on convex shapes: the hull of a bumpy ball, and the time of a query as hulls
 * get finer, with climbing from neighbour to neighbour and without. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

#define SIZES 6
#define POSES 200

static const uint64_t sizes[SIZES] = {32, 128, 512, 2048, 8192, 32768};

/* Points on a sphere, in no order. */
static void make_points(uint64_t seed, carom_vec3 *points, uint64_t count) {
    carom_random random = {seed};
    for (uint64_t i = 0; i < count; ++i) {
        double x = carom_random_normal(&random), y = carom_random_normal(&random);
        double z = carom_random_normal(&random), length = sqrt(x * x + y * y + z * z);
        points[i] = (carom_vec3){x / length, y / length, z / length};
    }
}

/* Seconds per query, the mean over poses around the other hull. */
static carom_status measure(carom_context *context, const carom_convex *a, const carom_convex *b,
                            carom_convex_search search, double *seconds, double *iterations) {
    carom_random random = {7};
    carom_convex_query_def def = {.search = search};
    double start = carom_time_seconds();
    *iterations = 0.0;
    for (int i = 0; i < POSES; ++i) {
        carom_pose pose = {.q = {carom_random_normal(&random), carom_random_normal(&random),
                                 carom_random_normal(&random), carom_random_normal(&random)},
                           .t = {2.05, 0.0, 0.0}};
        carom_convex_result r;
        carom_status status = carom_convex_distance(context, a, NULL, b, &pose, &def, &r);
        if (status != CAROM_OK) return status;
        *iterations += r.iterations / (double)POSES;
    }
    *seconds = (carom_time_seconds() - start) / POSES;
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    static const char *const heads[] = {"vertices", "hull built", "all vertices", "climbing",
                                        "iterations"};
    carom_context *context = demo->cli->context;
    carom_vec3 *points = malloc(sizes[SIZES - 1] * sizeof(*points));
    double x[SIZES], all[SIZES], climb[SIZES], iterations = 0.0;
    carom_status status = points != NULL ? CAROM_OK : CAROM_NO_MEMORY;
    page_section(
        &demo->page, "Convex shapes",
        "How far two convex hulls are from each other: a handful of support points decide, "
        "each found by climbing from vertex to vertex. Every answer comes with the plane "
        "and the points that prove it.");
    page_begin_table(&demo->page, heads, 5);
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        carom_hull *hulls[2] = {NULL, NULL};
        carom_convex shapes[2];
        double start = carom_time_seconds(), built;
        for (int k = 0; k < 2 && status == CAROM_OK; ++k) {
            carom_hull_def def = {
                .mesh = &(carom_mesh_view){.positions = points, .vertex_count = sizes[i]}};
            make_points(100 + (uint64_t)k, points, sizes[i]);
            status = carom_hull_create(context, &def, &hulls[k]);
            shapes[k] = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hulls[k]};
        }
        built = 0.5 * (carom_time_seconds() - start);
        x[i] = (double)sizes[i];
        if (status == CAROM_OK)
            status = measure(context, &shapes[0], &shapes[1], CAROM_CONVEX_SEARCH_ALL, &all[i],
                             &iterations);
        if (status == CAROM_OK)
            status = measure(context, &shapes[0], &shapes[1], CAROM_CONVEX_SEARCH_CLIMB, &climb[i],
                             &iterations);
        if (status == CAROM_OK) {
            char cells[5][32];
            snprintf(cells[0], sizeof(cells[0]), "%llu", (unsigned long long)sizes[i]);
            snprintf(cells[1], sizeof(cells[1]), "%.2f ms", 1e3 * built);
            snprintf(cells[2], sizeof(cells[2]), "%.2f us", 1e6 * all[i]);
            snprintf(cells[3], sizeof(cells[3]), "%.2f us", 1e6 * climb[i]);
            snprintf(cells[4], sizeof(cells[4]), "%.1f", iterations);
            const char *row[5] = {cells[0], cells[1], cells[2], cells[3], cells[4]};
            page_row(&demo->page, row, 5);
        }
        carom_hull_destroy(hulls[0]);
        carom_hull_destroy(hulls[1]);
    }
    page_end_table(&demo->page);
    free(points);
    if (status != CAROM_OK) return status;
    page_curve curves[2] = {{"all vertices", x, all, SIZES}, {"climbing", x, climb, SIZES}};
    page_chart(&demo->page, "Time of a distance query", "vertices", "seconds", curves, 2);
    snprintf(demo->result, sizeof(demo->result),
             "distance of two hulls of %llu vertices in %.1f us, %.1f iterations",
             (unsigned long long)sizes[SIZES - 1], 1e6 * climb[SIZES - 1], iterations);
    return CAROM_OK;
}

const demo_part demo_convex = {65, "convex", "how far two convex hulls are apart", run};
