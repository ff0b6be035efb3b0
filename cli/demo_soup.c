/* SPDX-License-Identifier: MIT */
/* The demo's section on soups: a crumpled cloth with its intersecting faces lit, and the time of
 * finding all pairs of a fine one. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

#define DRAWN  90  /* cells per side of the cloth in the scene */
#define FINE   354 /* cells per side of the cloth that is measured: 250,632 triangles */
#define FRAMES 5   /* the fastest counts */

typedef struct cloth {
    demo_shape shape;
    carom_soup *soup;
    carom_pairs pairs;
} cloth;

static carom_status cloth_make(demo *demo, uint64_t detail, bool polygons, cloth *c) {
    carom_shape_def def = {.shape = CAROM_SHAPE_CLOTH, .detail = detail, .polygons = polygons};
    carom_status status = demo_shape_open(demo, &def, NULL, &c->shape);
    if (status == CAROM_OK)
        status = carom_soup_create(demo->cli->context, &(carom_soup_def){.mesh = &c->shape.view},
                                   &c->soup);
    if (status == CAROM_OK) status = carom_soup_self_pairs(demo->cli->context, c->soup, &c->pairs);
    return status;
}

static void cloth_free(cloth *c) {
    carom_pairs_free(&c->pairs);
    carom_soup_destroy(c->soup);
    demo_shape_close(&c->shape);
}

/* Quads; those that meet others are lit. */
static carom_status show(demo *demo) {
    cloth c = {0};
    display d;
    display_begin(&d, demo->cli, "A crumpled cloth. The faces that meet others are lit.");
    carom_status status = cloth_make(demo, DRAWN, true, &c);
    uint8_t *lit = calloc(c.shape.view.face_count + 1, sizeof(*lit));
    if (status == CAROM_OK && lit == NULL) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) {
        for (uint64_t i = 0; i < c.pairs.count; ++i)
            lit[c.pairs.data[i].a] = lit[c.pairs.data[i].b] = 1;
        (void)demo_shape_add(&d, &c.shape, "cloth");
        if (!d.no_memory)
            (void)display_add_marked(&d, &c.shape.shown, lit, "meets others", 0, NULL, 0);
        display_tell_count(&d, &d.answers, "faces", c.shape.view.face_count);
        display_tell_count(&d, &d.answers, "pairs that meet", c.pairs.count);
        display_bound(&d, &d.answers, "exact: none missed, none listed twice");
        status = demo_show(demo, &d, "A crumpled cloth; faces that cross others are red");
    }
    free(lit);
    cloth_free(&c);
    display_free(&d);
    return status;
}

static carom_status run(demo *demo) {
    carom_context *context = demo->cli->context;
    cloth c = {0};
    double best = 0.0;
    carom_status status = show(demo);
    if (status == CAROM_OK) status = cloth_make(demo, FINE, false, &c);
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        double start = carom_time_seconds();
        status = carom_soup_update(context, c.soup, &c.shape.view);
        if (status == CAROM_OK) status = carom_soup_self_pairs(context, c.soup, &c.pairs);
        double seconds = carom_time_seconds() - start;
        if (i == 0 || seconds < best) best = seconds;
    }
    unsigned long long faces = c.shape.view.face_count, pairs = c.pairs.count;
    snprintf(demo->number, sizeof(demo->number), "%.1f ms", 1e3 * best);
    snprintf(demo->words, sizeof(demo->words),
             "for new positions and all %llu pairs of a cloth of %llu triangles, on this machine.",
             pairs, faces);
    snprintf(demo->result, sizeof(demo->result),
             "a cloth of %llu triangles: all %llu pairs that meet, anew each frame, in %.1f ms",
             faces, pairs, 1e3 * best);
    cloth_free(&c);
    return status;
}

const demo_part demo_soup = {
    40,
    "soup",
    "which faces of a crumpled cloth meet",
    "Which faces of polygon soups meet?",
    "Any polygons, open, broken or crossing themselves: all pairs of faces that have a point in "
    "common are listed, decided exactly.",
    "On one core, from arrays to the sorted list of such a cloth, CGAL 5.5 took on the order of "
    "20 times as long, Embree 3.13, whose tests are not exact, about 6 times "
    "(bench/results/epyc-avx512-1core/soup.csv).",
    "carom make cloth -o cloth.obj\n"
    "carom pairs cloth.obj -o where.html",
    run};
