/* SPDX-License-Identifier: MIT */
/* The demo's section on covers: spheres that contain a solid, and how far they reach out of it. */
#include <stdio.h>

#include "cli/demo.h"

#define SPHERES 32u

static carom_status show(demo *demo, demo_shape *knot, const carom_cover *cover,
                         const carom_cover_measure *m) {
    carom_cover_spheres spheres = {0};
    display d;
    display_begin(&d, demo->cli, "32 spheres that contain a knot.");
    carom_status status = carom_cover_list_spheres(demo->cli->context, cover, &spheres);
    if (status == CAROM_OK) {
        (void)demo_shape_add(&d, knot, "knot");
        display_item *item = display_add(&d, DISPLAY_SPHERES, "cover");
        item->ghost = true;
        for (uint64_t i = 0; i < spheres.count; ++i)
            display_add_sphere(&d, item, spheres.data[i].centre, spheres.data[i].radius);
        display_tell_count(&d, &d.answers, "spheres", spheres.count);
        display_tell(&d, &d.answers, "reach out at most", m->worst.value, NULL);
        display_tell(&d, &d.answers, "on average", m->mean, NULL);
        display_tell(&d, &d.answers, "volume outside, % of the solid",
                     100.0 * m->outside_volume / m->solid_volume, NULL);
        status = demo_show(demo, &d, "A knot inside of see-through spheres that contain it");
    }
    carom_cover_spheres_free(&spheres);
    display_free(&d);
    return status;
}

static carom_status run(demo *demo) {
    carom_context *context = demo->cli->context;
    demo_shape knot = {0};
    carom_cover *cover = NULL;
    carom_cover_info info;
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 48};
    carom_status status = demo_shape_open(demo, &shape, NULL, &knot);
    carom_cover_def def = {.mesh = &knot.view, .count = SPHERES};
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_cover_create(context, &def, &cover);
    double seconds = carom_time_seconds() - start;
    if (status == CAROM_OK) status = carom_cover_get_info(cover, &info);
    if (status == CAROM_OK) status = show(demo, &knot, cover, &info.measure);
    if (status == CAROM_OK) {
        double worst = info.measure.worst.value;
        snprintf(demo->number, sizeof(demo->number), "%.3f", worst);
        snprintf(demo->words, sizeof(demo->words),
                 "is the farthest that %llu spheres reach out of a knot that is 3 wide, found in "
                 "%.0f ms on this machine. That they contain it is proved.",
                 (unsigned long long)info.spheres, 1e3 * seconds);
        snprintf(demo->result, sizeof(demo->result),
                 "%llu spheres contain a knot, proved, and reach out of it by %.3f at most",
                 (unsigned long long)info.spheres, worst);
    }
    carom_cover_destroy(cover);
    demo_shape_close(&knot);
    return status;
}

const demo_part demo_cover = {
    69,
    "cover",
    "spheres that contain a solid",
    "Which spheres contain a solid and reach out least?",
    "Motion planners approximate robots by such spheres. The solid is divided into cells, each of "
    "which lies in a sphere: that is the proof.",
    "For the closed parts of a robot and 64 spheres each, clusters by k-means, as scripts make "
    "them, reached out on the order of 3 times as far (bench/results/any/pack.csv).",
    "carom make knot -o knot.stl\n"
    "carom pack knot.stl --outer -n 32 -o cover.html",
    run};
