/* SPDX-License-Identifier: MIT */
/* The demo's section on many boxes: the cost of a frame by each method as the boxes get more, and
 * with a tenth of them moving. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "scenes/boxes.h"

#define SIZES  4
#define FRAMES 5 /* the fastest counts */

static const uint64_t counts[SIZES] = {1000, 10000, 50000, 200000};

typedef struct cost {
    double scratch, frame; /* seconds */
    uint64_t pairs;
} cost;

/* From scratch, and frames in which the first `moving` boxes move. */
static carom_status measure(carom_context *context, uint64_t count, carom_broad_method method,
                            uint64_t moving, cost *c) {
    scene_boxes scene;
    carom_broad *broad = NULL;
    carom_pairs pairs = {0}, begun = {0}, ended = {0};
    if (!scene_boxes_make(count, SCENE_BOXES_MONO, SCENE_BOXES_SEED, &scene)) {
        scene_boxes_free(&scene);
        return CAROM_NO_MEMORY;
    }
    carom_broad_def def = {.boxes = scene.bounds, .box_count = count, .method = method};
    double start = carom_time_seconds();
    carom_status status = carom_broad_create(context, &def, &broad);
    if (status == CAROM_OK) status = carom_broad_pairs(context, broad, &pairs);
    c->scratch = carom_time_seconds() - start;
    c->pairs = pairs.count;
    if (status == CAROM_OK) status = carom_broad_step(context, broad, &pairs, &begun, &ended);
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        scene_boxes_move(&scene, 0, moving);
        start = carom_time_seconds();
        status = carom_broad_move(context, broad, NULL, scene.bounds, moving);
        if (status == CAROM_OK) status = carom_broad_step(context, broad, &pairs, &begun, &ended);
        double seconds = carom_time_seconds() - start;
        if (i == 0 || seconds < c->frame) c->frame = seconds;
    }
    carom_broad_destroy(broad);
    carom_pairs_free(&pairs);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    scene_boxes_free(&scene);
    return status;
}

static void add_row(page *page, uint64_t count, const cost *tree, const cost *tenth,
                    const cost *sweep, const cost *grid) {
    char text[7][24];
    snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)count);
    snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)tree->pairs);
    snprintf(text[2], sizeof(text[2]), "%.2f ms", 1e3 * tree->scratch);
    snprintf(text[3], sizeof(text[3]), "%.2f ms", 1e3 * tree->frame);
    snprintf(text[4], sizeof(text[4]), "%.2f ms", 1e3 * tenth->frame);
    snprintf(text[5], sizeof(text[5]), "%.2f ms", 1e3 * sweep->scratch);
    snprintf(text[6], sizeof(text[6]), "%.2f ms", 1e3 * grid->scratch);
    const char *const cells[] = {text[0], text[1], text[2], text[3], text[4], text[5], text[6]};
    page_row(page, cells, 7);
}

static carom_status run(demo *demo) {
    static const char *const heads[] = {"boxes",         "pairs", "from scratch", "next frame",
                                        "a tenth moves", "sweep", "grid"};
    carom_context *context = demo->cli->context;
    page *page = &demo->page;
    double sizes[SIZES], cost_of[SIZES];
    page_section(
        page, "Many boxes",
        "Which of very many objects may touch? Their boxes are kept in a wide tree along a "
        "Hilbert curve, which is refitted while boxes move and rebuilt when they have "
        "moved too far. Two other methods, the hierarchical grid and the sweep along one "
        "axis, find exactly the same pairs.");
    page_begin_table(page, heads, 7);
    carom_status status = CAROM_OK;
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        cost tree = {0}, tenth = {0}, sweep = {0}, grid = {0};
        uint64_t n = counts[i];
        status = measure(context, n, CAROM_BROAD_METHOD_TREE, n, &tree);
        if (status == CAROM_OK)
            status = measure(context, n, CAROM_BROAD_METHOD_TREE, n / 10, &tenth);
        if (status == CAROM_OK) status = measure(context, n, CAROM_BROAD_METHOD_SWEEP, 1, &sweep);
        if (status == CAROM_OK) status = measure(context, n, CAROM_BROAD_METHOD_GRID, 1, &grid);
        if (status == CAROM_OK) add_row(page, n, &tree, &tenth, &sweep, &grid);
        sizes[i] = (double)n;
        cost_of[i] = 1e9 * tree.frame / sizes[i];
        snprintf(demo->result, sizeof(demo->result),
                 "%llu moving boxes: all %llu pairs that overlap, anew each frame, in %.1f ms",
                 (unsigned long long)n, (unsigned long long)tree.pairs, 1e3 * tree.frame);
    }
    page_end_table(page);
    if (status != CAROM_OK) return status;
    page_curve curve = {"next frame", sizes, cost_of, SIZES};
    page_chart(page, "Cost of a box against their number: level means linear growth.", "boxes",
               "nanoseconds per box", &curve, 1);
    return CAROM_OK;
}

const demo_part demo_broad = {66, "broad", "which of many moving boxes overlap", run};
