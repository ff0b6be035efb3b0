/* SPDX-License-Identifier: MIT */
/* The demo's section on covers: how far spheres reach out of a solid that they contain. */
#include <stdio.h>

#include "cli/demo.h"

#define SIZES 4

static const uint64_t counts[SIZES] = {4, 8, 16, 32};

static carom_status compare(demo *demo, const carom_mesh_view *mesh) {
    static const char *const heads[] = {"spheres", "worst distance", "mean distance",
                                        "volume outside", "time"};
    page *page = &demo->page;
    carom_context *context = demo->cli->context;
    double sizes[SIZES], worst[SIZES], mean[SIZES];
    carom_status status = CAROM_OK;
    page_begin_table(page, heads, 5);
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        carom_cover *cover;
        carom_cover_info info;
        carom_cover_def def = {.mesh = mesh, .count = counts[i]};
        char text[5][24];
        double start = carom_time_seconds();
        status = carom_cover_create(context, &def, &cover);
        double seconds = carom_time_seconds() - start;
        if (status == CAROM_OK) status = carom_cover_get_info(cover, &info);
        carom_cover_destroy(cover);
        if (status != CAROM_OK) break;
        const carom_cover_measure *m = &info.measure;
        sizes[i] = (double)info.spheres;
        worst[i] = m->worst.value;
        mean[i] = m->mean;
        snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)info.spheres);
        snprintf(text[1], sizeof(text[1]), "%.3f", m->worst.value);
        snprintf(text[2], sizeof(text[2]), "%.3f", m->mean);
        snprintf(text[3], sizeof(text[3]), "%.0f %%", 100.0 * m->outside_volume / m->solid_volume);
        snprintf(text[4], sizeof(text[4]), "%.0f ms", 1e3 * seconds);
        const char *const cells[] = {text[0], text[1], text[2], text[3], text[4]};
        page_row(page, cells, 5);
        snprintf(demo->result, sizeof(demo->result),
                 "%llu spheres contain a knot, proved, and reach out of it by %.3f at most",
                 (unsigned long long)info.spheres, m->worst.value);
    }
    page_end_table(page);
    if (status != CAROM_OK) return status;
    page_curve curves[] = {{"worst", sizes, worst, SIZES}, {"mean", sizes, mean, SIZES}};
    page_chart(page, "How far the spheres reach out of the knot, against their number.", "spheres",
               "distance", curves, 2);
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    carom_context *context = demo->cli->context;
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 48};
    page_section(&demo->page, "Covering from outside",
                 "Motion planners approximate robots by spheres that contain them. These are "
                 "proved to: the solid is divided into cells, each of which lies in a sphere. The "
                 "farthest point outside is brought as near to the solid as possible.");
    carom_status status = carom_shape_make(context, &shape, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = compare(demo, &view);
    carom_mesh_destroy(mesh);
    return status;
}

const demo_part demo_cover = {69, "cover", "spheres that contain a solid", run};
