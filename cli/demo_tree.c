/* SPDX-License-Identifier: MIT */
/* The demo's section on sphere trees: a knot passes through a torus; volume and bounds along its
 * path, the exact volume beside them. */
#include <math.h>
#include <stdio.h>

#include "cli/demo.h"

#define FRAMES  41
#define SPHERES 1000u
#define DRAWN   600u /* the largest, in the scene */

typedef struct pair {
    carom_mesh *mesh[2];
    carom_solid *solid[2];
    carom_packing *packing[2];
    carom_tree *tree[2];
} pair;

static carom_status prepare(carom_context *context, pair *p) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        carom_shape_def shape = {.shape = i == 0 ? CAROM_SHAPE_TORUS : CAROM_SHAPE_KNOT,
                                 .detail = 96};
        carom_mesh_view view;
        carom_solid_def of_solid = {.mesh = &view};
        carom_packing_def of_packing = {.mesh = &view, .count = SPHERES, .fast = true};
        status = carom_shape_make(context, &shape, &p->mesh[i]);
        if (status == CAROM_OK) status = carom_mesh_get_view(p->mesh[i], &view);
        if (status == CAROM_OK) status = carom_solid_create(context, &of_solid, &p->solid[i]);
        if (status == CAROM_OK) status = carom_packing_create(context, &of_packing, &p->packing[i]);
        carom_tree_def of_tree = {.packing = p->packing[i]};
        if (status == CAROM_OK) status = carom_tree_create(context, &of_tree, &p->tree[i]);
    }
    return status;
}

static carom_status add_spheres(display *d, const carom_packing *packing, const char *name,
                                display_colour colour) {
    carom_packing_spheres spheres = {0};
    carom_status status = carom_packing_list_spheres(d->cli->context, packing, &spheres);
    if (status == CAROM_OK) {
        display_item *item = display_add(d, DISPLAY_SPHERES, name);
        item->colour = colour;
        for (uint64_t i = 0; i < spheres.count && i < DRAWN; ++i)
            display_add_sphere(d, item, spheres.data[i].centre, spheres.data[i].radius);
    }
    carom_packing_spheres_free(&spheres);
    return status;
}

typedef struct curves {
    double at[FRAMES], lower[FRAMES], volume[FRAMES], upper[FRAMES], exact[FRAMES];
    double slowest; /* seconds */
} curves;

static carom_status follow(carom_context *context, const pair *p, display *d, curves *c) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        carom_pose pose = {{0.8, 0.5, 0.2, 0.1}, {2.8 - 0.07 * i, 0.1, 0.05}};
        carom_tree_query_def def = {.narrow_limits = true};
        carom_tree_result answer;
        carom_solid_result truth;
        double start = carom_time_seconds();
        status = carom_tree_query(context, p->tree[0], NULL, p->tree[1], &pose, &def, &answer);
        c->slowest = fmax(c->slowest, carom_time_seconds() - start);
        if (status == CAROM_OK)
            status =
                carom_solid_overlap(context, p->solid[0], NULL, p->solid[1], &pose, NULL, &truth);
        if (status != CAROM_OK) break;
        const carom_interval *v = &answer.overlap.volume;
        c->at[i] = 0.15 * i;
        c->lower[i] = v->lower;
        c->volume[i] = v->value;
        c->upper[i] = v->upper;
        c->exact[i] = truth.volume;
        display_add_pose(d, d->items[1], pose);
        display_add_time(d, c->at[i]);
    }
    return status;
}

static carom_status run(demo *demo) {
    pair p = {{NULL, NULL}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}};
    curves c = {.slowest = 0.0};
    display d;
    display_begin(&d, demo->cli,
                  "A knot scrapes through a torus, each as 1,000 spheres, of which the largest are "
                  "drawn.");
    carom_status status = prepare(demo->cli->context, &p);
    if (status == CAROM_OK)
        status = add_spheres(&d, p.packing[0], "torus", (display_colour){66, 133, 190, 255});
    if (status == CAROM_OK)
        status = add_spheres(&d, p.packing[1], "knot", (display_colour){219, 137, 60, 255});
    if (status == CAROM_OK) status = follow(demo->cli->context, &p, &d, &c);
    if (status == CAROM_OK) {
        display_plot *plot = display_add_plot(&d, "Volume of the overlap", "time", "");
        display_add_series(&d, plot, "upper bound", c.at, c.upper, FRAMES);
        display_add_series(&d, plot, "exact", c.at, c.exact, FRAMES);
        display_add_series(&d, plot, "estimate", c.at, c.volume, FRAMES);
        display_add_series(&d, plot, "lower bound", c.at, c.lower, FRAMES);
        d.still = FRAMES / 2;
        status = demo_show(demo, &d, "Two solids made of spheres, one inside of the other's ring");
    }
    double off = 100.0 * fabs(c.volume[FRAMES - 1] / c.exact[FRAMES - 1] - 1.0);
    snprintf(demo->number, sizeof(demo->number), "%.0f µs", 1e6 * c.slowest);
    snprintf(demo->words, sizeof(demo->words),
             "was the slowest of %d poses on this machine, bounds included. In the last pose the "
             "estimate is %.1f %% off the exact volume.",
             FRAMES, off);
    snprintf(demo->result, sizeof(demo->result),
             "overlap of 1,000 spheres each within %.1f %% of the exact one, in at most %.0f us",
             off, 1e6 * c.slowest);
    for (int i = 0; i < 2; ++i) {
        carom_tree_destroy(p.tree[i]);
        carom_packing_destroy(p.packing[i]);
        carom_solid_destroy(p.solid[i]);
        carom_mesh_destroy(p.mesh[i]);
    }
    display_free(&d);
    return status;
}

const demo_part demo_tree = {
    70,
    "tree",
    "how much two solids overlap, from spheres",
    "How far apart are two solids, or how much do they overlap, whatever the size of their meshes?",
    "A tree over the spheres of two packings answers, with bounds that hold for the solids "
    "themselves; a query can be given a time at which it stops.",
    "For distances along a path of small steps FCL took on the order of 100 times as long "
    "(bench/results/shared-avx512-1core/tree.csv).",
    "carom make knot -o knot.stl\n"
    "carom make torus -o torus.stl\n"
    "carom query torus.stl knot.stl --engine tree --spheres 500 --pose 1.4,0,0,1,0,0,0 -o "
    "tree.html",
    run};
