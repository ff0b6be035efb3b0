/* SPDX-License-Identifier: MIT */
/* The demo's section on soups: a crumpled cloth with its intersecting faces highlighted, and the
 * cost of finding them as the cloth gets finer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo.h"
#include "cli/picture.h"

#define DRAWN  90 /* cells per side of the cloth in the picture */
#define SIZES  4
#define FRAMES 5 /* the fastest counts */

static const uint64_t details[SIZES] = {50, 100, 200, 354};

typedef struct cloth {
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_soup *soup;
    carom_pairs pairs;
    double prepare, query, again; /* seconds; `again`: new positions and their pairs */
    carom_work work;
} cloth;

static void cloth_free(cloth *c) {
    carom_pairs_free(&c->pairs);
    carom_soup_destroy(c->soup);
    carom_mesh_destroy(c->mesh);
}

static carom_status cloth_make(carom_context *context, uint64_t detail, bool polygons, cloth *c) {
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = detail, .polygons = polygons};
    *c = (cloth){0};
    carom_soup_def def = {.mesh = &c->view};
    carom_status status = carom_shape_make(context, &shape, &c->mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(c->mesh, &c->view);
    double start = carom_time_seconds();
    if (status == CAROM_OK) status = carom_soup_create(context, &def, &c->soup);
    double made = carom_time_seconds();
    if (status == CAROM_OK) status = carom_soup_self_pairs(context, c->soup, &c->pairs);
    double found = carom_time_seconds();
    if (status == CAROM_OK) status = carom_context_get_work(context, &c->work);
    c->prepare = made - start;
    c->query = found - made;
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        start = carom_time_seconds();
        status = carom_soup_update(context, c->soup, &c->view);
        if (status == CAROM_OK) status = carom_soup_self_pairs(context, c->soup, &c->pairs);
        double seconds = carom_time_seconds() - start;
        if (i == 0 || seconds < c->again) c->again = seconds;
    }
    return status;
}

/* Draws quads, so that the page stays small; a quad is highlighted when it meets another. */
static carom_status draw(demo *demo) {
    cloth c;
    carom_status status = cloth_make(demo->cli->context, DRAWN, true, &c);
    bool *lit = calloc(c.view.face_count + 1, sizeof(*lit));
    if (status == CAROM_OK && lit == NULL) status = CAROM_NO_MEMORY;
    if (status == CAROM_OK) {
        for (uint64_t i = 0; i < c.pairs.count; ++i)
            lit[c.pairs.data[i].a] = lit[c.pairs.data[i].b] = true;
        char words[160];
        picture_def look = {.edge = 560, .lit = lit};
        snprintf(words, sizeof(words),
                 "A cloth of %llu quads. %llu pairs of them meet: those are lit.",
                 (unsigned long long)c.view.face_count, (unsigned long long)c.pairs.count);
        status = picture_draw(&demo->page, &c.view, &look, words);
    }
    free(lit);
    cloth_free(&c);
    return status;
}

static void add_row(page *page, const cloth *c) {
    char faces[24], pairs[24], candidates[24], prepare[24], query[24], again[24];
    snprintf(faces, sizeof(faces), "%llu", (unsigned long long)c->view.face_count);
    snprintf(pairs, sizeof(pairs), "%llu", (unsigned long long)c->pairs.count);
    snprintf(candidates, sizeof(candidates), "%llu", (unsigned long long)c->work.candidates);
    snprintf(prepare, sizeof(prepare), "%.2f ms", 1e3 * c->prepare);
    snprintf(query, sizeof(query), "%.2f ms", 1e3 * c->query);
    snprintf(again, sizeof(again), "%.2f ms", 1e3 * c->again);
    const char *const cells[] = {faces, candidates, pairs, prepare, query, again};
    page_row(page, cells, 6);
}

static carom_status run(demo *demo) {
    static const char *const heads[] = {"triangles", "candidates", "pairs",
                                        "prepared",  "all pairs",  "next frame"};
    page *page = &demo->page;
    double sizes[SIZES], cost[SIZES];
    page_section(page, "Soups",
                 "Which faces meet? A tree of boxes finds candidates, a filter decides nearly all "
                 "of them on vectors, exact arithmetic the rest: no pair is missed, none is "
                 "invented, none comes twice. Moved vertices are only another frame.");
    carom_status status = draw(demo);
    if (status != CAROM_OK) return status;
    page_begin_table(page, heads, 6);
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        cloth c;
        status = cloth_make(demo->cli->context, details[i], false, &c);
        if (status == CAROM_OK) add_row(page, &c);
        sizes[i] = (double)c.view.face_count;
        cost[i] = 1e9 * c.again / sizes[i];
        snprintf(demo->result, sizeof(demo->result),
                 "a cloth of %.0f triangles: all %llu pairs that meet, anew each frame, in %.1f ms",
                 sizes[i], (unsigned long long)c.pairs.count, 1e3 * c.again);
        cloth_free(&c);
    }
    page_end_table(page);
    if (status != CAROM_OK) return status;
    page_curve curve = {"next frame", sizes, cost, SIZES};
    page_chart(page, "Cost of a triangle against their number: level means linear growth.",
               "triangles", "nanoseconds a triangle", &curve, 1);
    return CAROM_OK;
}

const demo_part demo_soup = {40, "soup", "which faces of a crumpled cloth meet", run};
