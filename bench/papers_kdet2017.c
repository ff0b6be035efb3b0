/* SPDX-License-Identifier: MIT */
/* kDet (Weller, Debowski, Zachmann 2017): Table 1, and Figures 8 and 9.
 *
 * A frame is new positions to the list of all pairs of faces that intersect, of one soup with
 * itself: `update` takes the positions and prepares the search, `detect` finds the pairs. Times are
 * means over the frames of a sequence, as in the paper: of processor time for one thread, else each
 * the better of two turns, or best of five on the GPU. There positions are in device memory, update
 * and search are one graph, pairs stay on the device, and the time is that of the device's clock;
 * the number of pairs is compared with the CPU's in every frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/papers.h"
#include "bench/table1.h"
#include "carom/cuda.h"
#include "scenes/sequence.h"

#define FRAMES       120u
#define QUICK_FRAMES 4u
#define TURNS        2
#define DEVICE_TURNS 5   /* a frame takes a fraction of a millisecond there */
#define K_EVERY      10u /* frames: k takes ten times as long as the pairs */

/* Printed on page 9: milliseconds on a GTX 1080, k as the mean over polygons. */
const table1_row table1_rows[TABLE1_ROWS] = {
    {SCENE_EXPLODING, "Dragon", 252000, 8.4, 7.8, 1.0, 8.3, 9.3, 33.3},
    {SCENE_WHIRLING, "Whirling cloth", 92000, 6.6, 3.4, 0.2, 5.2, 6.1, 24.0},
    {SCENE_BODIES, "N-body", 146000, 9.7, 4.4, 0.3, 4.1, 4.4, 19.3},
    {SCENE_FUNNEL, "Funnel", 18000, 9.5, 6.7, 0.1, 1.6, 1.7, 13.3},
    {SCENE_CHAIR, "Chair", 40000, 19.0, 10.7, 0.1, 4.6, 4.7, 12.8},
    {SCENE_CHAIR, "Chair", 90000, 20.6, 12.3, 0.2, 10.0, 10.2, 24.5},
    {SCENE_CHAIR, "Chair", 130000, 21.3, 11.8, 0.3, 14.3, 14.6, 34.2},
    {SCENE_BREAKING, "Breaking Buddha", 38000, 16.8, 8.3, 0.2, 4.9, 5.1, 19.7},
    {SCENE_BREAKING, "Breaking Buddha", 68000, 16.8, 8.3, 0.2, 6.2, 6.3, 28.5},
    {SCENE_BREAKING, "Breaking Buddha", 100000, 13.3, 8.3, 0.3, 7.6, 7.9, 40.1},
    {SCENE_BREAKING, "Breaking Buddha", 120000, 13.3, 8.3, 0.4, 11.8, 12.2, 61.7},
    {SCENE_DRAPED, "Cloth on Buddha", 20000, 11.6, 8.3, 0.1, 1.8, 1.9, 8.6},
    {SCENE_DRAPED, "Cloth on Buddha", 40000, 11.1, 8.0, 0.1, 2.5, 2.6, 12.2},
    {SCENE_DRAPED, "Cloth on Buddha", 90000, 10.0, 7.9, 0.2, 4.4, 4.6, 18.7},
    {SCENE_DRAPED, "Cloth on Buddha", 200000, 8.3, 7.6, 0.5, 7.7, 8.2, 33.4},
    {SCENE_DRAPED, "Cloth on Buddha", 250000, 8.2, 7.5, 0.5, 9.2, 9.7, 41.6}};

/* ---- A sequence, played ---------------------------------------------------------------------- */

/* One contender: a context with a soup. */
typedef struct player {
    carom_context *context;
    carom_soup *soup;
    carom_pairs pairs;
    /* On the GPU only. */
    void *positions;                        /* in device memory */
    carom_cuda_frame *update_graph, *graph; /* update alone; update and search */
    carom_cuda_pairs found;
} player;

typedef struct times {
    double update, total; /* milliseconds */
} times;

typedef struct play {
    scene_sequence sequence;
    float (*positions)[3]; /* of the present frame */
    carom_mesh_view view;
    uint32_t frames;
} play;

static bool play_begin(const papers_lab *lab, const table1_row *row, play *p) {
    uint64_t triangles = row->triangles;
    *p = (play){.frames = lab->quick ? QUICK_FRAMES : FRAMES};
    if (lab->quick) triangles = SCENE_LEAST_TRIANGLES + triangles / 100;
    if (!scene_sequence_make(row->kind, triangles, p->frames, &p->sequence)) return false;
    p->positions = malloc(p->sequence.vertex_count * sizeof(*p->positions));
    p->view = (carom_mesh_view){.positions = p->positions,
                                .vertex_count = p->sequence.vertex_count,
                                .scalar = CAROM_SCALAR_FLOAT32,
                                .corners = p->sequence.corners[0],
                                .face_count = p->sequence.triangle_count};
    if (p->positions != NULL) scene_sequence_frame(&p->sequence, 0, p->positions);
    return p->positions != NULL;
}

static void play_end(play *p) {
    free(p->positions);
    scene_sequence_free(&p->sequence);
}

static bool player_begin(player *p, carom_context *context, const play *play,
                         carom_soup_method method, carom_grid_hash hash) {
    const carom_soup_def def = {.mesh = &play->view, .method = method, .grid = {.hash = hash}};
    *p = (player){.context = context};
    return carom_soup_create(context, &def, &p->soup) == CAROM_OK;
}

static void player_end(player *p) {
    carom_cuda_frame_destroy(p->update_graph);
    carom_cuda_frame_destroy(p->graph);
    if (p->positions != NULL) {
        (void)carom_cuda_pairs_free(p->context, &p->found);
        (void)carom_cuda_release(p->context, p->positions);
    }
    carom_pairs_free(&p->pairs);
    carom_soup_destroy(p->soup);
}

static bool run_frame(const papers_lab *lab, player *p, const carom_mesh_view *view, times *best) {
    int turns = p->context == lab->serial || lab->device_only ? 1 : TURNS;
    *best = (times){HUGE_VAL, HUGE_VAL};
    for (int turn = 0; turn < turns; ++turn) {
        double start = papers_now(lab, p->context);
        if (carom_soup_update(p->context, p->soup, view) != CAROM_OK) return false;
        double middle = papers_now(lab, p->context);
        if (carom_soup_self_pairs(p->context, p->soup, &p->pairs) != CAROM_OK) return false;
        double end = papers_now(lab, p->context);
        if (1e3 * (end - start) < best->total)
            *best = (times){1e3 * (middle - start), 1e3 * (end - start)};
    }
    return true;
}

/* ---- The same on the GPU --------------------------------------------------------------------- */

/* Records the two graphs. Pairs come in any order, as in the paper. */
static bool device_begin(player *p, carom_context *context, const play *play) {
    carom_mesh_view view = play->view;
    uint64_t bytes = view.vertex_count * 3 * sizeof(float);
    if (!player_begin(p, context, play, CAROM_SOUP_METHOD_TREE, CAROM_GRID_HASH_BLOCK) ||
        carom_cuda_set_timing(context, true) != CAROM_OK ||
        carom_cuda_allocate(context, bytes, &p->positions) != CAROM_OK ||
        carom_cuda_write(context, p->positions, view.positions, bytes) != CAROM_OK)
        return false;
    const carom_cuda_positions on_device = {p->positions, view.scalar, view.vertex_count};
    return carom_cuda_frame_begin(context) == CAROM_OK &&
           carom_cuda_soup_update(context, p->soup, &on_device) == CAROM_OK &&
           carom_cuda_frame_end(context, &p->update_graph) == CAROM_OK &&
           carom_cuda_frame_begin(context) == CAROM_OK &&
           carom_cuda_soup_update(context, p->soup, &on_device) == CAROM_OK &&
           carom_cuda_soup_self_pairs(context, p->soup, CAROM_CUDA_ORDER_ANY, &p->found) ==
               CAROM_OK &&
           carom_cuda_frame_end(context, &p->graph) == CAROM_OK;
}

static bool run_graph(player *p, carom_cuda_frame *graph, double *best) {
    carom_cuda_steps steps;
    if (carom_cuda_frame_run(p->context, graph) != CAROM_OK ||
        carom_cuda_finish(p->context) != CAROM_OK ||
        carom_cuda_get_steps(p->context, &steps) != CAROM_OK)
        return false;
    if (steps.milliseconds[0] < *best) *best = steps.milliseconds[0];
    return true;
}

/* The first turn is not timed: it may take memory, and run twice. */
static bool run_device_frame(player *p, const carom_mesh_view *view, uint64_t pairs, times *best) {
    uint64_t bytes = view->vertex_count * 3 * sizeof(float);
    double first = HUGE_VAL;
    *best = (times){HUGE_VAL, HUGE_VAL};
    if (carom_cuda_write(p->context, p->positions, view->positions, bytes) != CAROM_OK)
        return false;
    for (int turn = 0; turn < DEVICE_TURNS + 1; ++turn)
        if (!run_graph(p, p->graph, turn == 0 ? &first : &best->total) || p->found.count != pairs)
            return false;
    for (int turn = 0; turn < DEVICE_TURNS; ++turn)
        if (!run_graph(p, p->update_graph, &best->update)) return false;
    return true;
}

/* ---- Means ----------------------------------------------------------------------------------- */

typedef struct mean {
    double sum, squares;
    uint32_t count;
} mean;

static void mean_add(mean *m, double value) {
    m->sum += value;
    m->squares += value * value;
    ++m->count;
}

static double mean_of(const mean *m) {
    return m->count > 0 ? m->sum / m->count : 0.0;
}

static double deviation_of(const mean *m) {
    double variance = m->count > 0 ? m->squares / m->count - mean_of(m) * mean_of(m) : 0.0;
    return variance > 0.0 ? sqrt(variance) : 0.0;
}

/* ---- Table 1 --------------------------------------------------------------------------------- */

enum { ONE, ALL, GPU, CONTENDERS };

static const char *const contender_names[CONTENDERS] = {"1 thread", "all threads", "GPU"};

/* What is told of each frame. */
typedef bool frame_fn(papers_plot *plot, uint32_t frame, int contender, const times *t);

typedef struct row_means {
    mean k, height, pairs, update[CONTENDERS], total[CONTENDERS];
} row_means;

static bool add_k(carom_context *context, const carom_soup *soup, row_means *means) {
    carom_kfree k_free;
    if (carom_kfree_measure(context, soup, &k_free, NULL) != CAROM_OK) return false;
    mean_add(&means->k, k_free.mean);
    mean_add(&means->height, k_free.height);
    return true;
}

static bool run_contenders(papers_plot *plot, play *p, player *players, uint32_t frame, bool with_k,
                           frame_fn *on_frame, row_means *means) {
    scene_sequence_frame(&p->sequence, frame, p->positions);
    for (int i = 0; i < CONTENDERS; ++i) {
        times t;
        if (players[i].context == NULL) continue;
        if (i == GPU ? !run_device_frame(&players[i], &p->view, players[ALL].pairs.count, &t)
                     : !run_frame(plot->lab, &players[i], &p->view, &t))
            return false;
        mean_add(&means->update[i], t.update);
        mean_add(&means->total[i], t.total);
        if (on_frame != NULL && !on_frame(plot, frame, i, &t)) return false;
    }
    mean_add(&means->pairs, (double)players[ALL].pairs.count);
    int fastest = players[GPU].context != NULL ? GPU : ALL; /* both give the same bytes */
    return !with_k || add_k(players[fastest].context, players[fastest].soup, means);
}

/* Plays a row of the table. */
static bool run_row(papers_plot *plot, const table1_row *row, bool with_k, frame_fn *on_frame,
                    row_means *means) {
    papers_lab *lab = plot->lab;
    player players[CONTENDERS] = {{.context = NULL}};
    play p;
    *means = (row_means){.k = {.sum = 0.0}};
    bool good = play_begin(lab, row, &p) &&
                (lab->device_only ||
                 player_begin(&players[ONE], lab->serial, &p, CAROM_SOUP_METHOD_TREE, 0)) &&
                player_begin(&players[ALL], lab->parallel, &p, CAROM_SOUP_METHOD_TREE, 0) &&
                (lab->device == NULL || device_begin(&players[GPU], lab->device, &p));
    for (uint32_t frame = 0; frame < p.frames && good; ++frame)
        good = run_contenders(plot, &p, players, frame, with_k && frame % K_EVERY == 0, on_frame,
                              means);
    for (int i = 0; i < CONTENDERS; ++i)
        if (players[i].context != NULL) player_end(&players[i]);
    play_end(&p);
    return good;
}

static void add(papers_plot *plot, int contender, const char *series, const double *values) {
    if (contender == GPU)
        papers_add_device(plot, series, values);
    else if (!plot->lab->device_only)
        papers_add(plot, series, values);
}

static bool table_1(papers_plot *plot) {
    for (int i = 0; i < TABLE1_ROWS; ++i) {
        const table1_row *row = &table1_rows[i];
        row_means means;
        char series[40];
        if (!run_row(plot, row, true, NULL, &means)) return false;
        for (int c = 0; c < CONTENDERS; ++c) {
            if (means.total[c].count == 0) continue;
            double update = mean_of(&means.update[c]), total = mean_of(&means.total[c]);
            const double values[] = {(double)row->triangles,
                                     mean_of(&means.k),
                                     deviation_of(&means.k),
                                     mean_of(&means.height),
                                     mean_of(&means.pairs),
                                     update,
                                     total - update,
                                     total,
                                     row->total,
                                     row->gproximity};
            snprintf(series, sizeof(series), "%s: %s", contender_names[c], row->name);
            add(plot, c, series, values);
        }
    }
    return true;
}

/* ---- Figure 8 -------------------------------------------------------------------------------- */

/* Left: all balls in one grid, by hash; the tree beside it. One thread. */
static bool figure_8_left(papers_plot *plot) {
    static const struct {
        const char *name;
        carom_soup_method method;
        carom_grid_hash hash;
    } ways[] = {{"grid: Morton", CAROM_SOUP_METHOD_GRID, CAROM_GRID_HASH_MORTON},
                {"grid: DJB2", CAROM_SOUP_METHOD_GRID, CAROM_GRID_HASH_DJB2},
                {"grid: blocks", CAROM_SOUP_METHOD_GRID, CAROM_GRID_HASH_BLOCK},
                {"tree", CAROM_SOUP_METHOD_TREE, CAROM_GRID_HASH_BLOCK}};
    enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
    player players[WAYS] = {{.context = NULL}};
    play p;
    bool good = play_begin(plot->lab, &table1_rows[TABLE1_BODIES], &p);
    for (int i = 0; i < WAYS && good; ++i)
        good = player_begin(&players[i], plot->lab->serial, &p, ways[i].method, ways[i].hash);
    for (uint32_t frame = 0; frame < p.frames && good; ++frame) {
        scene_sequence_frame(&p.sequence, frame, p.positions);
        for (int i = 0; i < WAYS && good; ++i) {
            times t;
            good = run_frame(plot->lab, &players[i], &p.view, &t) &&
                   players[i].pairs.count == players[0].pairs.count;
            if (good)
                papers_add(plot, ways[i].name,
                           (const double[]){frame, t.total - t.update, t.total});
        }
    }
    for (int i = 0; i < WAYS; ++i)
        if (players[i].context != NULL) player_end(&players[i]);
    play_end(&p);
    return good;
}

static bool add_frame(papers_plot *plot, uint32_t frame, int contender, const times *t) {
    add(plot, contender, contender_names[contender],
        (const double[]){frame, t->update, t->total - t->update, t->total});
    return true;
}

static bool figure_8_right(papers_plot *plot) {
    row_means means;
    return run_row(plot, &table1_rows[TABLE1_LARGEST_CHAIR], false, add_frame, &means);
}

/* ---- Figure 9 -------------------------------------------------------------------------------- */

static bool figure_9_left(papers_plot *plot) {
    for (int i = 0; i < TABLE1_ROWS; ++i) {
        const table1_row *row = &table1_rows[i];
        row_means means;
        if (row->kind != SCENE_DRAPED) continue;
        if (!run_row(plot, row, false, NULL, &means)) return false;
        double triangles = (double)row->triangles;
        papers_add(plot, "kDet (printed)", (const double[]){triangles, row->total});
        papers_add(plot, "gProximity (printed)", (const double[]){triangles, row->gproximity});
        for (int c = 0; c < CONTENDERS; ++c)
            if (means.total[c].count > 0)
                add(plot, c, contender_names[c],
                    (const double[]){triangles, mean_of(&means.total[c])});
    }
    return true;
}

static bool figure_9_right(papers_plot *plot) {
    row_means means;
    return run_row(plot, &table1_rows[TABLE1_LARGEST_BREAKING], false, add_frame, &means);
}

/* ---------------------------------------------------------------------------------------------- */

static const papers_printed table_1_numbers[] = {
    {"total of a frame", "ms", NULL, 7, PAPERS_EACH, 0.0, 8, NULL}, {.what = NULL}};
static const papers_printed figure_8_left_numbers[] = {
    {"detection, mean of the frames", "ms", NULL, 1, PAPERS_MEAN, 4.1, 0, NULL}, {.what = NULL}};
static const papers_printed figure_8_right_numbers[] = {
    {"update, mean of the frames", "ms", NULL, 1, PAPERS_MEAN, 0.3, 0, NULL},
    {"total, mean of the frames", "ms", NULL, 3, PAPERS_MEAN, 14.6, 0, NULL},
    {.what = NULL}};
static const papers_printed figure_9_left_numbers[] = {
    {"total of a frame, beside kDet", "ms", NULL, 1, PAPERS_EACH, 0.0, 0, "kDet (printed)"},
    {.what = NULL}};
static const papers_printed figure_9_right_numbers[] = {
    {"mean of the frames, beside kDet", "ms", NULL, 3, PAPERS_MEAN, 12.2, 0, NULL},
    {"mean of the frames, beside gProximity", "ms", NULL, 3, PAPERS_MEAN, 61.7, 0, NULL},
    {.what = NULL}};

const papers_figure table1_figures[] = {
    {"kdet2017-table1",
     "Table 1: all pairs of deforming and breaking soups, means over 120 frames",
     "In kDet's columns on a GTX 1080; gProximity's are 2.3 to 7.8 times as much.",
     {"polygons", "k", "k_deviation", "height", "pairs", "update_ms", "detect_ms", "total_ms",
      "kdet_ms", "gproximity_ms"},
     {{"One thread", "polygons", "ms per frame", 0, 7, 8, "1 thread", false, false},
      {"All threads", "polygons", "ms per frame", 0, 7, 8, "all threads", false, false},
      {"GPU", "polygons", "ms per frame", 0, 7, 8, "GPU", false, false},
      {"kDet, as printed", "polygons", "ms per frame", 0, 8, 9, "1 thread", false, false}},
     table_1,
     true,
     table_1_numbers},
    {"kdet2017-fig8-left",
     "Figure 8, left: the hash of the grid, balls flying about, per frame",
     "Morton codes and DJB2 perform equally well: 4.1 ms on average on a GTX 1080.",
     {"frame", "detect_ms", "total_ms"},
     {{"Detection", "frame", "ms", 0, 1, 2, NULL, true, PAPERS_LINEAR}},
     figure_8_left,
     false,
     figure_8_left_numbers},
    {"kdet2017-fig8-right",
     "Figure 8, right: update and detection, the largest chair, per frame",
     "Filling the grid is negligible: 0.3 ms of 14.6 ms on average on a GTX 1080.",
     {"frame", "update_ms", "detect_ms", "total_ms"},
     {{"One thread", "frame", "ms", 0, 1, 3, "1 thread", true, PAPERS_STACKED},
      {"All threads", "frame", "ms", 0, 1, 3, "all threads", true, PAPERS_STACKED},
      {"GPU", "frame", "ms", 0, 1, 3, "GPU", true, PAPERS_STACKED}},
     figure_8_right,
     true,
     figure_8_right_numbers},
    {"kdet2017-fig9-left",
     "Figure 9, left: the mean time of a frame by the number of polygons, a cloth on a figure",
     "Both grow linearly, gProximity (refitting) with about four times the slope. GTX 1080.",
     {"polygons", "total_ms"},
     {{"Time of a frame", "polygons", "ms", 0, 1, 2, NULL, true, false}},
     figure_9_left,
     true,
     figure_9_left_numbers},
    {"kdet2017-fig9-right",
     "Figure 9, right: the time of each frame, the largest breaking figure",
     "kDet takes 12.2 ms on average, gProximity 61.7 ms, on a GTX 1080.",
     {"frame", "update_ms", "detect_ms", "total_ms"},
     {{"Time of a frame", "frame", "ms", 0, 3, 4, NULL, true, false}},
     figure_9_right,
     true,
     figure_9_right_numbers},
};

const papers_paper papers_kdet2017 = {2017, "kdet2017", "Weller, Debowski, Zachmann 2017: kDet",
                                      table1_figures,
                                      sizeof(table1_figures) / sizeof(table1_figures[0])};
