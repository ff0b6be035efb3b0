/* SPDX-License-Identifier: MIT */
/* The demo's section on packings: spheres enter a knot, the largest first, and the share of the
 * volume that they fill, by their number and by method. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

#define SIZES   3
#define DRAWN   1000u
#define BATCHES 40u /* in which the spheres appear */

static const uint64_t counts[SIZES] = {100, 300, 1000};

static carom_status measure(carom_context *context, const carom_mesh_view *mesh, uint64_t count,
                            carom_packing_method method, double *seconds,
                            carom_packing_info *info) {
    carom_packing *packing;
    carom_packing_def def = {
        .mesh = mesh, .method = method, .count = count, .voxels = 64, .skip_shares = true};
    double start = carom_time_seconds();
    carom_status status = carom_packing_create(context, &def, &packing);
    *seconds = carom_time_seconds() - start;
    if (status == CAROM_OK) status = carom_packing_get_info(packing, info);
    carom_packing_destroy(packing);
    return status;
}

/* Spheres in batches, each shown from its time on. */
static void add_batches(display *d, const carom_packing_spheres *spheres, double volume) {
    double times[BATCHES], fill[BATCHES], sum = 0.0;
    display_set_legend(d, "radius", NULL, spheres->data[spheres->count - 1].radius,
                       spheres->data[0].radius);
    for (uint64_t b = 0; b < BATCHES; ++b) {
        /* The first ones alone, then more and more at a time. */
        uint64_t first = b * b * spheres->count / (BATCHES * BATCHES);
        uint64_t end = (b + 1) * (b + 1) * spheres->count / (BATCHES * BATCHES);
        display_item *item = display_add(d, DISPLAY_SPHERES, "spheres");
        for (uint64_t i = first; i < end; ++i) {
            const carom_packing_sphere *s = &spheres->data[i];
            display_add_sphere(d, item, s->centre, s->radius);
            display_add_value(d, item, s->radius);
            sum += 4.18879020478639 * s->radius * s->radius * s->radius; /* 4 pi / 3 */
        }
        display_show_during(item, b, BATCHES);
        times[b] = 0.2 * (double)b;
        fill[b] = 100.0 * sum / volume;
        display_add_time(d, times[b]);
    }
    display_add_series(d, display_add_plot(d, "Filled, % of the volume", "time", ""), "filled",
                       times, fill, BATCHES);
    d->still = BATCHES - 1;
}

static carom_status show(demo *demo, demo_shape *knot) {
    carom_context *context = demo->cli->context;
    carom_packing_def def = {.mesh = &knot->view, .count = DRAWN};
    carom_packing *packing = NULL;
    carom_packing_info info;
    carom_packing_spheres spheres = {0};
    display d;
    display_begin(&d, demo->cli, "1,000 disjoint spheres fill a knot, the largest first.");
    carom_status status = carom_packing_create(context, &def, &packing);
    if (status == CAROM_OK) status = carom_packing_get_info(packing, &info);
    if (status == CAROM_OK) status = carom_packing_list_spheres(context, packing, &spheres);
    if (status == CAROM_OK) {
        demo_shape_add(&d, knot, "knot")->ghost = true;
        add_batches(&d, &spheres, info.volume);
        status = demo_show(demo, &d, "A knot filled with many disjoint spheres");
    }
    carom_packing_spheres_free(&spheres);
    carom_packing_destroy(packing);
    display_free(&d);
    return status;
}

static carom_status compare(demo *demo, const carom_mesh_view *mesh) {
    static const carom_packing_method methods[2] = {CAROM_PACKING_METHOD_OCTREE,
                                                    CAROM_PACKING_METHOD_GREEDY};
    double sizes[SIZES], fills[2][SIZES], seconds = 0.0;
    carom_packing_info info = {0};
    for (int i = 0; i < SIZES; ++i) {
        sizes[i] = (double)counts[i];
        for (int k = 1; k >= 0; --k) { /* ours last: its time is printed */
            carom_status status =
                measure(demo->cli->context, mesh, counts[i], methods[k], &seconds, &info);
            if (status != CAROM_OK) return status;
            fills[k][i] = info.fill;
        }
    }
    page_curve curves[] = {{"octree", sizes, fills[0], SIZES},
                           {"64 voxels", sizes, fills[1], SIZES}};
    page_chart(&demo->page,
               "The share of the knot's volume that is in spheres, against their number; beside it "
               "the method of balls around voxels.",
               "spheres", "share of the volume", curves, 2);
    snprintf(demo->number, sizeof(demo->number), "%.1f %%", 100.0 * info.fill);
    snprintf(demo->words, sizeof(demo->words),
             "of the knot's volume is in %llu spheres, found in %.2f s on this machine. No empty "
             "ball inside is more than 5 %% larger than the last sphere: that is proved.",
             (unsigned long long)info.spheres, seconds);
    snprintf(demo->result, sizeof(demo->result),
             "%llu spheres fill %.1f %% of a knot, certified, in %.2f s",
             (unsigned long long)info.spheres, 100.0 * info.fill, seconds);
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    demo_shape knot = {0};
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 96};
    carom_status status = demo_shape_open(demo, &shape, NULL, &knot);
    if (status == CAROM_OK) status = show(demo, &knot);
    if (status == CAROM_OK) status = compare(demo, &knot.view);
    demo_shape_close(&knot);
    return status;
}

const demo_part demo_pack = {
    68,
    "pack",
    "spheres that fill a solid",
    "Which disjoint spheres fill a solid best?",
    "The largest empty ball is taken again and again; an octree of bounds proves how large it can "
    "be.",
    "Balls around 128 voxels per side, the method published in 2009, filled 66 % of a knot with "
    "4,000 spheres (bench/results/shared-2core/pack.csv).",
    "carom make knot -o knot.stl\n"
    "carom pack knot.stl -n 500 -o spheres.html",
    run};
