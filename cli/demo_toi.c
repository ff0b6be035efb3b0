/* SPDX-License-Identifier: MIT */
/* The demo's section on times of impact: a torus thrown at another, ever faster, and what looking
 * at a number of equal steps would have seen; and the impacts of a crumpled cloth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

#define SPEEDS  6
#define SAMPLES 50 /* looks of a program that only asks whether they meet now */

static const double speeds[SPEEDS] = {5, 20, 100, 500, 2000, 10000};

static carom_status make(carom_context *context, carom_shape shape, uint64_t detail, double ratio,
                         carom_mesh **mesh, carom_soup **soup) {
    carom_shape_def def = {.shape = shape, .detail = detail, .ratio = ratio};
    carom_mesh_view view;
    carom_status status = carom_shape_make(context, &def, mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(*mesh, &view);
    if (status == CAROM_OK)
        status = carom_soup_create(context, &(carom_soup_def){.mesh = &view, .rigid = true}, soup);
    return status;
}

/* Whether any of some equally spaced times shows that they meet. */
static carom_status sample(carom_context *context, const carom_soup *a, const carom_soup *b,
                           const carom_motion *motion, bool *seen) {
    *seen = false;
    for (int i = 0; i <= SAMPLES && !*seen; ++i) {
        carom_pose pose;
        carom_status status = carom_motion_evaluate(context, motion, (double)i / SAMPLES, &pose);
        if (status == CAROM_OK) status = carom_soup_cross_meet(context, a, NULL, b, &pose, seen);
        if (status != CAROM_OK) return status;
    }
    return CAROM_OK;
}

static carom_status throw_tori(demo *demo, const carom_soup *a, const carom_soup *b, double speed,
                               double *seconds, uint64_t *steps) {
    carom_context *context = demo->cli->context;
    carom_motion motion = {.from = {.t = {-0.5 * speed, 0.1, 0.0}},
                           .to = {.q = {1.0, 2.0, 1.0, 0.0}, .t = {0.5 * speed, 0.0, 0.2}}};
    carom_advance toi;
    bool seen = false;
    double start = carom_time_seconds();
    carom_status status = carom_soup_cross_advance(context, a, NULL, b, &motion, NULL, &toi);
    *seconds = carom_time_seconds() - start;
    if (status == CAROM_OK) status = sample(context, a, b, &motion, &seen);
    if (status != CAROM_OK) return status;
    char cells[5][32];
    snprintf(cells[0], sizeof(cells[0]), "%g", speed);
    snprintf(cells[1], sizeof(cells[1]), "%s", toi.hit ? "hit" : "miss");
    snprintf(cells[2], sizeof(cells[2]), "%.6f", toi.time);
    snprintf(cells[3], sizeof(cells[3]), "%llu", (unsigned long long)toi.steps);
    snprintf(cells[4], sizeof(cells[4]), "%s", seen ? "hit" : "passed through");
    const char *row[5] = {cells[0], cells[1], cells[2], cells[3], cells[4]};
    page_row(&demo->page, row, 5);
    *steps = toi.steps;
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    static const char *const heads[] = {"torus radii per step", "answer", "time", "steps",
                                        "50 looks see"};
    carom_mesh *meshes[2] = {NULL, NULL};
    carom_soup *soups[2] = {NULL, NULL};
    carom_context *context = demo->cli->context;
    double x[SPEEDS], seconds[SPEEDS] = {0};
    uint64_t steps = 0;
    page_section(
        &demo->page, "Times of impact",
        "When does a torus that is thrown and turns first touch another? From the distance "
        "and the speed follows how long nothing can happen; so the search advances in few "
        "steps and never passes through, however fast the motion.");
    carom_status status = make(context, CAROM_SHAPE_TORUS, 64, 0.0, &meshes[0], &soups[0]);
    if (status == CAROM_OK)
        status = make(context, CAROM_SHAPE_TORUS, 48, 0.2, &meshes[1], &soups[1]);
    page_begin_table(&demo->page, heads, 5);
    for (int i = 0; i < SPEEDS && status == CAROM_OK; ++i) {
        x[i] = speeds[i];
        status = throw_tori(demo, soups[0], soups[1], speeds[i], &seconds[i], &steps);
    }
    page_end_table(&demo->page);
    for (int i = 0; i < 2; ++i) {
        carom_soup_destroy(soups[i]);
        carom_mesh_destroy(meshes[i]);
    }
    if (status != CAROM_OK) return status;
    page_curve curve = {"advancement", x, seconds, SPEEDS};
    page_chart(&demo->page, "Time of a query", "radii per step", "seconds", &curve, 1);
    snprintf(demo->result, sizeof(demo->result),
             "a torus at %g radii per step stopped at contact after %llu steps, %.2f ms",
             speeds[SPEEDS - 1], (unsigned long long)steps, 1e3 * seconds[SPEEDS - 1]);
    return CAROM_OK;
}

const demo_part demo_toi = {66, "toi", "when a fast torus first touches another", run};
