/* SPDX-License-Identifier: MIT */
/* The demo's section on balls: the time of a query along a path, for growing packings. */
#include <math.h>
#include <stdio.h>

#include "cli/demo.h"

#define SIZES 3
#define POSES 25

static const uint64_t counts[SIZES] = {500, 1000, 2000};

/* Turns and slides the copy from apart to deep inside. */
static carom_pose pose_at(int step) {
    double turn = 0.2 + 0.1 * step;
    return (carom_pose){{cos(turn), 0.6 * sin(turn), 0.8 * sin(turn), 0.0},
                        {3.0 * (1.0 - step / (POSES - 1.0)), 0.0, 0.0}};
}

static carom_status measure(carom_context *context, const carom_balls *balls, double *at,
                            double *microseconds, double *volume) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < POSES && status == CAROM_OK; ++i) {
        carom_pose pose = pose_at(i);
        carom_packing_overlap overlap;
        at[i] = 1.0 + i;
        microseconds[i] = HUGE_VAL;
        for (int turn = 0; turn < 5 && status == CAROM_OK; ++turn) {
            double start = carom_time_seconds();
            status = carom_balls_overlap(context, balls, NULL, balls, &pose, NULL, &overlap);
            double us = 1e6 * (carom_time_seconds() - start);
            microseconds[i] = us < microseconds[i] ? us : microseconds[i];
        }
        volume[i] = overlap.volume.value;
    }
    return status;
}

static carom_status one_size(demo *demo, const carom_mesh_view *mesh, uint64_t count, double *at,
                             double *microseconds, double *volume) {
    carom_context *context = demo->cli->context;
    carom_packing *packing = NULL;
    carom_balls *balls = NULL;
    carom_packing_def def = {.mesh = mesh, .count = count, .fast = true};
    carom_balls_most most;
    carom_status status = carom_packing_create(context, &def, &packing);
    carom_balls_def of = {.packing = packing};
    if (status == CAROM_OK) status = carom_balls_create(context, &of, &balls);
    if (status == CAROM_OK) status = measure(context, balls, at, microseconds, volume);
    if (status == CAROM_OK)
        status = carom_balls_bound(context, balls, balls, CAROM_BALLS_PAIR_KIND_INNER, NULL, &most);
    if (status == CAROM_OK) {
        double least = HUGE_VAL, worst = 0.0;
        for (int i = 0; i < POSES; ++i) {
            least = microseconds[i] < least ? microseconds[i] : least;
            worst = microseconds[i] > worst ? microseconds[i] : worst;
        }
        char text[4][32];
        snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)count);
        snprintf(text[1], sizeof(text[0]), "%.0f us", least);
        snprintf(text[2], sizeof(text[0]), "%.0f us", worst);
        snprintf(text[3], sizeof(text[0]), "%llu",
                 (unsigned long long)(most.pairs < most.disjoint ? most.pairs : most.disjoint));
        const char *const cells[] = {text[0], text[1], text[2], text[3]};
        page_row(&demo->page, cells, 4);
        snprintf(demo->result, sizeof(demo->result),
                 "two knots of %llu spheres compared in %.0f us in the worst of %d poses",
                 (unsigned long long)count, worst, POSES);
    }
    carom_balls_destroy(balls);
    carom_packing_destroy(packing);
    return status;
}

static carom_status run(demo *demo) {
    static const char *const heads[] = {"spheres", "fastest pose", "slowest pose",
                                        "most inner pairs in any pose"};
    carom_context *context = demo->cli->context;
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 96};
    double at[POSES], microseconds[SIZES][POSES], volume[POSES];
    page_section(
        &demo->page, "Sphere packings in constant time",
        "A turning copy of a knot slides into it. Spheres of each packing are entered in a "
        "grid of their own; a query asks, for every sphere, for the larger ones of the "
        "other near it. The work is bounded for every pose before the first one.");
    carom_status status = carom_shape_make(context, &shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    page_begin_table(&demo->page, heads, 4);
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i)
        status = one_size(demo, &view, counts[i], at, microseconds[i], volume);
    page_end_table(&demo->page);
    if (status == CAROM_OK) {
        page_curve times[] = {{"500", at, microseconds[0], POSES},
                              {"1000", at, microseconds[1], POSES},
                              {"2000", at, microseconds[2], POSES}};
        page_curve overlap[] = {{"volume", at, volume, POSES}};
        page_chart(&demo->page, "The time of a query along the path.", "step", "us", times, 3);
        page_chart(&demo->page, "The estimated overlap along the path.", "step", "volume", overlap,
                   1);
    }
    carom_mesh_destroy(mesh);
    return status;
}

const demo_part demo_balls = {69, "balls", "packings compared in constant time", run};
