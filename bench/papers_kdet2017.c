/* SPDX-License-Identifier: MIT */
/* kDet (Weller, Debowski, Zachmann 2017): Table 1, and Figures 5, 6, 8 and 9.
 *
 * Two algorithms are measured in each row, on the CPU and on the GPU: `grid` is the paper's, all
 * faces in one hierarchical grid with DJB2 hashing, and `tree` is ours, the box tree that Carom
 * takes by default.
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

#include "bench/kdet_models.h"
#include "bench/papers.h"
#include "bench/table1.h"
#include "carom/cuda.h"
#include "scenes/sequence.h"

#define FRAMES       120u
#define QUICK_FRAMES 4u
#define TURNS        2
#define DEVICE_TURNS 5   /* a frame takes a fraction of a millisecond there */
#define DEVICE_EVERY 4u  /* frames: of them one is measured where only the GPU's rows are wanted */
#define K_EVERY      10u /* frames: k takes ten times as long as the pairs */

/* Printed on page 9: k as the mean over polygons and the height, each with its deviation over the
 * frames, then milliseconds on a GTX 1080. */
const table1_row table1_rows[TABLE1_ROWS] = {
    {SCENE_EXPLODING, "Dragon", 252000, 8.4, 0.9, 7.8, 0.0, 1.0, 8.3, 9.3, 33.3},
    {SCENE_WHIRLING, "Whirling cloth", 92000, 6.6, 0.2, 3.4, 0.1, 0.2, 5.2, 6.1, 24.0},
    {SCENE_BODIES, "N-body", 146000, 9.7, 0.5, 4.4, 0.0, 0.3, 4.1, 4.4, 19.3},
    {SCENE_FUNNEL, "Funnel", 18000, 9.5, 2.0, 6.7, 1.0, 0.1, 1.6, 1.7, 13.3},
    {SCENE_CHAIR, "Chair", 40000, 19.0, 0.3, 10.7, 0.0, 0.1, 4.6, 4.7, 12.8},
    {SCENE_CHAIR, "Chair", 90000, 20.6, 0.5, 12.3, 0.0, 0.2, 10.0, 10.2, 24.5},
    {SCENE_CHAIR, "Chair", 130000, 21.3, 0.6, 11.8, 0.0, 0.3, 14.3, 14.6, 34.2},
    {SCENE_BREAKING, "Breaking Buddha", 38000, 16.8, 6.1, 8.3, 0.0, 0.2, 4.9, 5.1, 19.7},
    {SCENE_BREAKING, "Breaking Buddha", 68000, 16.8, 6.8, 8.3, 0.0, 0.2, 6.2, 6.3, 28.5},
    {SCENE_BREAKING, "Breaking Buddha", 100000, 13.3, 1.8, 8.3, 0.0, 0.3, 7.6, 7.9, 40.1},
    {SCENE_BREAKING, "Breaking Buddha", 120000, 13.3, 1.8, 8.3, 0.0, 0.4, 11.8, 12.2, 61.7},
    {SCENE_DRAPED, "Cloth on Buddha", 20000, 11.6, 2.0, 8.3, 0.0, 0.1, 1.8, 1.9, 8.6},
    {SCENE_DRAPED, "Cloth on Buddha", 40000, 11.1, 2.0, 8.0, 0.0, 0.1, 2.5, 2.6, 12.2},
    {SCENE_DRAPED, "Cloth on Buddha", 90000, 10.0, 1.4, 7.9, 0.0, 0.2, 4.4, 4.6, 18.7},
    {SCENE_DRAPED, "Cloth on Buddha", 200000, 8.3, 0.9, 7.6, 0.0, 0.5, 7.7, 8.2, 33.4},
    {SCENE_DRAPED, "Cloth on Buddha", 250000, 8.2, 0.6, 7.5, 0.0, 0.5, 9.2, 9.7, 41.6}};

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
static bool device_begin(player *p, carom_context *context, const play *play,
                         carom_soup_method method, carom_grid_hash hash) {
    carom_mesh_view view = play->view;
    uint64_t bytes = view.vertex_count * 3 * sizeof(float);
    if (!player_begin(p, context, play, method, hash) ||
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

/* Those of the CPU come in this order; the paper's own algorithm is the grid. */
enum { TREE_ONE, TREE_ALL, GRID_ONE, GRID_ALL, TREE_GPU, GRID_GPU, CONTENDERS };

static const struct {
    const char *series, *algorithm;
    papers_backend backend;
    carom_soup_method method;
} contenders[CONTENDERS] = {
    {"tree, 1 thread", "tree", PAPERS_ONE_THREAD, CAROM_SOUP_METHOD_TREE},
    {"tree, all threads", "tree", PAPERS_ALL_THREADS, CAROM_SOUP_METHOD_TREE},
    {"grid, 1 thread", "grid", PAPERS_ONE_THREAD, CAROM_SOUP_METHOD_GRID},
    {"grid, all threads", "grid", PAPERS_ALL_THREADS, CAROM_SOUP_METHOD_GRID},
    {"tree, GPU", "tree", PAPERS_GPU, CAROM_SOUP_METHOD_TREE},
    {"grid, GPU", "grid", PAPERS_GPU, CAROM_SOUP_METHOD_GRID},
};

typedef struct row_means {
    uint64_t triangles; /* of the soup that was measured */
    mean k, height, pairs, update[CONTENDERS], total[CONTENDERS];
} row_means;

/* A row as it was measured. Figures 8 (right) and 9 show rows of the table, frame by frame. */
typedef struct played {
    row_means means;
    uint32_t count, frames[FRAMES]; /* that were measured */
    times times[CONTENDERS][FRAMES];
} played;

static bool add_k(carom_context *context, const carom_soup *soup, row_means *means) {
    carom_kfree k_free;
    if (carom_kfree_measure(context, soup, &k_free, NULL) != CAROM_OK) return false;
    mean_add(&means->k, k_free.mean);
    mean_add(&means->height, k_free.height);
    return true;
}

/* All contenders find equally many pairs, or it fails. */
static bool run_contenders(const papers_lab *lab, play *p, player *players, uint32_t frame,
                           played *row) {
    scene_sequence_frame(&p->sequence, frame, p->positions);
    uint64_t pairs = 0;
    int first = lab->device_only ? TREE_ALL : TREE_ONE;
    for (int i = 0; i < CONTENDERS; ++i) {
        times *t = &row->times[i][row->count];
        if (players[i].context == NULL) continue;
        bool on_gpu = contenders[i].backend == PAPERS_GPU;
        if (on_gpu ? !run_device_frame(&players[i], &p->view, pairs, t)
                   : !run_frame(lab, &players[i], &p->view, t))
            return false;
        if (i == first) pairs = players[i].pairs.count;
        if (!on_gpu && players[i].pairs.count != pairs) return false;
        mean_add(&row->means.update[i], t->update);
        mean_add(&row->means.total[i], t->total);
    }
    mean_add(&row->means.pairs, (double)pairs);
    row->frames[row->count++] = frame;
    /* both give the same bytes */
    int fastest = players[TREE_GPU].context != NULL ? TREE_GPU : TREE_ALL;
    return frame % K_EVERY != 0 ||
           add_k(players[fastest].context, players[fastest].soup, &row->means);
}

static bool open_contenders(papers_lab *lab, const play *p, player *players) {
    for (int i = 0; i < CONTENDERS; ++i) {
        bool one = contenders[i].backend == PAPERS_ONE_THREAD;
        bool on_gpu = contenders[i].backend == PAPERS_GPU;
        if (on_gpu && lab->device == NULL) continue;
        if (!on_gpu && lab->device_only && i != TREE_ALL) continue; /* which checks the GPU */
        if (on_gpu ? !device_begin(&players[i], lab->device, p, contenders[i].method,
                                   CAROM_GRID_HASH_DJB2)
                   : !player_begin(&players[i], one ? lab->serial : lab->parallel, p,
                                   contenders[i].method, CAROM_GRID_HASH_DJB2))
            return false;
    }
    return true;
}

static bool run_row(papers_lab *lab, const table1_row *of, played *row) {
    player players[CONTENDERS] = {{.context = NULL}};
    play p;
    bool good = play_begin(lab, of, &p) && open_contenders(lab, &p, players);
    row->means.triangles = p.sequence.triangle_count;
    uint32_t step = lab->device_only && !lab->quick ? DEVICE_EVERY : 1;
    for (uint32_t frame = 0; frame < p.frames && good; frame += step)
        good = run_contenders(lab, &p, players, frame, row);
    for (int i = 0; i < CONTENDERS; ++i)
        if (players[i].context != NULL) player_end(&players[i]);
    play_end(&p);
    return good;
}

/* Plays a row of the table, once for all figures of a run; NULL: it failed. */
static const played *play_row(papers_lab *lab, int index) {
    char name[32];
    snprintf(name, sizeof(name), "kdet2017 row %d", index);
    played *row = papers_get_kept(lab, name);
    if (row != NULL) return row;
    row = calloc(1, sizeof(*row));
    if (row == NULL || !run_row(lab, &table1_rows[index], row) ||
        !papers_keep(lab, name, row, free)) {
        free(row);
        return NULL;
    }
    return row;
}

static void add(papers_plot *plot, int contender, uint64_t triangles, const char *series,
                const double *values) {
    if (contenders[contender].backend != PAPERS_GPU && plot->lab->device_only) return;
    const papers_source source = {contenders[contender].algorithm, contenders[contender].backend,
                                  triangles};
    papers_add(plot, &source, series, values);
}

static bool table_1(papers_plot *plot) {
    for (int i = 0; i < TABLE1_ROWS; ++i) {
        const table1_row *row = &table1_rows[i];
        const played *measured = play_row(plot->lab, i);
        char series[64];
        if (measured == NULL) return false;
        const row_means *means = &measured->means;
        for (int c = 0; c < CONTENDERS; ++c) {
            if (means->total[c].count == 0) continue;
            double update = mean_of(&means->update[c]), total = mean_of(&means->total[c]);
            const double values[TABLE1_COLUMNS] = {
                [TABLE1_POLYGONS] = (double)means->triangles,
                [TABLE1_K] = mean_of(&means->k),
                [TABLE1_K_DEVIATION] = deviation_of(&means->k),
                [TABLE1_HEIGHT] = mean_of(&means->height),
                [TABLE1_HEIGHT_DEVIATION] = deviation_of(&means->height),
                [TABLE1_PAIRS] = mean_of(&means->pairs),
                [TABLE1_UPDATE] = update,
                [TABLE1_DETECT] = total - update,
                [TABLE1_TOTAL] = total,
                [TABLE1_PRINTED_POLYGONS] = (double)row->triangles,
                [TABLE1_KDET] = row->total,
                [TABLE1_GPROXIMITY] = row->gproximity};
            snprintf(series, sizeof(series), "%s: %s", contenders[c].series, row->name);
            add(plot, c, means->triangles, series, values);
        }
    }
    return true;
}

/* A row of the table, frame by frame. */
static bool add_frames(papers_plot *plot, int index) {
    const played *row = play_row(plot->lab, index);
    for (uint32_t n = 0; row != NULL && n < row->count; ++n)
        for (int c = 0; c < CONTENDERS; ++c) {
            const times *t = &row->times[c][n];
            if (row->means.total[c].count == 0) continue;
            add(plot, c, row->means.triangles, contenders[c].series,
                (const double[]){row->frames[n], t->update, t->total - t->update, t->total});
        }
    return row != NULL;
}

/* ---- Figure 8 -------------------------------------------------------------------------------- */

/* Left: all balls in one grid, by hash; the tree beside it. */
static const struct {
    const char *name;
    carom_soup_method method;
    carom_grid_hash hash;
} ways[] = {{"grid: Morton", CAROM_SOUP_METHOD_GRID, CAROM_GRID_HASH_MORTON},
            {"grid: DJB2", CAROM_SOUP_METHOD_GRID, CAROM_GRID_HASH_DJB2},
            {"grid: blocks", CAROM_SOUP_METHOD_GRID, CAROM_GRID_HASH_BLOCK},
            {"tree", CAROM_SOUP_METHOD_TREE, CAROM_GRID_HASH_BLOCK}};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* On one thread, then on the GPU; `check` tells how many pairs there are. */
typedef struct hashing {
    play play;
    player check, players[2 * WAYS];
} hashing;

static bool hashing_begin(const papers_lab *lab, hashing *h) {
    *h = (hashing){.check = {.context = NULL}};
    if (!play_begin(lab, &table1_rows[TABLE1_BODIES], &h->play) ||
        !player_begin(&h->check, lab->parallel, &h->play, CAROM_SOUP_METHOD_TREE,
                      CAROM_GRID_HASH_BLOCK))
        return false;
    for (int i = 0; i < WAYS; ++i) {
        if (!lab->device_only &&
            !player_begin(&h->players[i], lab->serial, &h->play, ways[i].method, ways[i].hash))
            return false;
        if (lab->device != NULL && !device_begin(&h->players[WAYS + i], lab->device, &h->play,
                                                 ways[i].method, ways[i].hash))
            return false;
    }
    return true;
}

static void hashing_end(hashing *h) {
    if (h->check.context != NULL) player_end(&h->check);
    for (int i = 0; i < 2 * WAYS; ++i)
        if (h->players[i].context != NULL) player_end(&h->players[i]);
    play_end(&h->play);
}

static bool run_hashing(papers_plot *plot, hashing *h, uint32_t frame) {
    times t;
    char series[64];
    scene_sequence_frame(&h->play.sequence, frame, h->play.positions);
    if (!run_frame(plot->lab, &h->check, &h->play.view, &t)) return false;
    for (int i = 0; i < 2 * WAYS; ++i) {
        player *p = &h->players[i];
        uint64_t pairs = h->check.pairs.count;
        if (p->context == NULL) continue;
        if (i < WAYS ? !run_frame(plot->lab, p, &h->play.view, &t) || p->pairs.count != pairs
                     : !run_device_frame(p, &h->play.view, pairs, &t))
            return false;
        snprintf(series, sizeof(series), "%s%s", ways[i % WAYS].name, i < WAYS ? "" : ", GPU");
        const papers_source source = {ways[i % WAYS].name,
                                      i < WAYS ? PAPERS_ONE_THREAD : PAPERS_GPU,
                                      h->play.sequence.triangle_count};
        papers_add(plot, &source, series, (const double[]){frame, t.total - t.update, t.total});
    }
    return true;
}

static bool figure_8_left(papers_plot *plot) {
    static hashing h; /* large: players */
    bool good = hashing_begin(plot->lab, &h);
    uint32_t step = plot->lab->device_only && !plot->lab->quick ? DEVICE_EVERY : 1;
    for (uint32_t frame = 0; frame < h.play.frames && good; frame += step)
        good = run_hashing(plot, &h, frame);
    hashing_end(&h);
    return good;
}

static bool figure_8_right(papers_plot *plot) {
    return add_frames(plot, TABLE1_LARGEST_CHAIR);
}

/* ---- Figure 9 -------------------------------------------------------------------------------- */

static bool figure_9_left(papers_plot *plot) {
    for (int i = 0; i < TABLE1_ROWS; ++i) {
        const table1_row *row = &table1_rows[i];
        if (row->kind != SCENE_DRAPED) continue;
        const played *measured = play_row(plot->lab, i);
        if (measured == NULL) return false;
        const row_means *means = &measured->means;
        const papers_source kdet = {"grid", PAPERS_IN_PRINT, row->triangles};
        const papers_source gproximity = {"gProximity", PAPERS_IN_PRINT, row->triangles};
        double printed = (double)row->triangles, triangles = (double)means->triangles;
        papers_add(plot, &kdet, "kDet (printed)", (const double[]){printed, row->total});
        papers_add(plot, &gproximity, "gProximity (printed)",
                   (const double[]){printed, row->gproximity});
        for (int c = 0; c < CONTENDERS; ++c)
            if (means->total[c].count > 0)
                add(plot, c, means->triangles, contenders[c].series,
                    (const double[]){triangles, mean_of(&means->total[c])});
    }
    return true;
}

static bool figure_9_right(papers_plot *plot) {
    return add_frames(plot, TABLE1_LARGEST_BREAKING);
}

/* ---------------------------------------------------------------------------------------------- */

static const papers_printed table_1_numbers[] = {{"total of a frame", "ms", NULL, TABLE1_TOTAL,
                                                  PAPERS_EACH, 0.0, TABLE1_KDET, NULL,
                                                  TABLE1_PRINTED_POLYGONS},
                                                 {.what = NULL}};
static const papers_printed figure_5_numbers[] = {
    {"the largest k", "", "models", 1, PAPERS_MOST, 6000.0, 0, NULL, 0},
    {"the largest height", "", "models", 2, PAPERS_MOST, 29.0, 0, NULL, 0},
    {.what = NULL}};
static const papers_printed figure_6_numbers[] = {
    {"mean k", "", "all", 7, PAPERS_MEAN, 30.79, 0, NULL, 0},
    {"deviation of k", "", "all", 8, PAPERS_MEAN, 32.82, 0, NULL, 0},
    {"mean height", "", "all", 9, PAPERS_MEAN, 8.17, 0, NULL, 0},
    {"deviation of heights", "", "all", 10, PAPERS_MEAN, 4.03, 0, NULL, 0},
    {.what = NULL}};
static const papers_printed figure_8_left_numbers[] = {
    {"detection, mean of the frames", "ms", NULL, 1, PAPERS_MEAN, 4.1, 0, NULL, 0}, {.what = NULL}};
static const papers_printed figure_8_right_numbers[] = {
    {"update, mean of the frames", "ms", NULL, 1, PAPERS_MEAN, 0.3, 0, NULL, 0},
    {"total, mean of the frames", "ms", NULL, 3, PAPERS_MEAN, 14.6, 0, NULL, 0},
    {.what = NULL}};
static const papers_printed figure_9_left_numbers[] = {
    {"total of a frame, beside kDet", "ms", NULL, 1, PAPERS_EACH, 0.0, 0, "kDet (printed)", 0},
    {.what = NULL}};
static const papers_printed figure_9_right_numbers[] = {
    {"mean of the frames, beside kDet", "ms", NULL, 3, PAPERS_MEAN, 12.2, 0, NULL, 0},
    {"mean of the frames, beside gProximity", "ms", NULL, 3, PAPERS_MEAN, 61.7, 0, NULL, 0},
    {.what = NULL}};

const papers_figure table1_figures[] = {
    {"kdet2017-table1",
     "Table 1: all pairs of deforming and breaking soups, means over 120 frames",
     "In kDet's columns on a GTX 1080; gProximity's are 2.3 to 7.8 times as much.",
     {"polygons", "k", "k_deviation", "height", "height_deviation", "pairs", "update_ms",
      "detect_ms", "total_ms", "printed_polygons", "kdet_ms", "gproximity_ms"},
     {{"kDet's grid, one thread", "polygons", "ms per frame", 0, TABLE1_TOTAL, TABLE1_TOTAL + 1,
       "grid, 1 thread", false, false},
      {"Our tree, one thread", "polygons", "ms per frame", 0, TABLE1_TOTAL, TABLE1_TOTAL + 1,
       "tree, 1 thread", false, false},
      {"kDet's grid, all threads", "polygons", "ms per frame", 0, TABLE1_TOTAL, TABLE1_TOTAL + 1,
       "grid, all threads", false, false},
      {"Our tree, all threads", "polygons", "ms per frame", 0, TABLE1_TOTAL, TABLE1_TOTAL + 1,
       "tree, all threads", false, false},
      {"kDet's grid on a GPU", "polygons", "ms per frame", 0, TABLE1_TOTAL, TABLE1_TOTAL + 1,
       "grid, GPU", false, false},
      {"Our tree on a GPU", "polygons", "ms per frame", 0, TABLE1_TOTAL, TABLE1_TOTAL + 1,
       "tree, GPU", false, false},
      {"kDet, as printed, on a GTX 1080", "printed_polygons", "ms per frame",
       TABLE1_PRINTED_POLYGONS, TABLE1_KDET, TABLE1_KDET + 1, "grid, 1 thread", false, false}},
     table_1,
     true,
     table_1_numbers},
    {"kdet2017-fig5",
     "Figure 5: the meshes with the largest k and with the largest height of many",
     "Of 8,000 meshes one has a k of more than 6000 and one, of 40k polygons, a height of 29: a "
     "detailed object on a plane of two triangles.",
     {"faces", "k", "height", "mean_count", "mean_neighbours"},
     {{"k of each mesh", "faces", "k", 0, 1, 2, NULL, false, false},
      {"Its height", "faces", "height", 0, 2, 3, NULL, false, PAPERS_LINEAR}},
     kdet_models_worst,
     false,
     figure_5_numbers},
    {"kdet2017-fig6",
     "Figure 6: box plots of k by the number of faces: quartiles, whiskers, and the largest",
     "Of 8,000 meshes k is 30.79 on average, deviation 32.82, and does not depend on the number of "
     "polygons; the height is 8.17, deviation 4.03.",
     {"faces", "whisker_low", "quartile_1", "median", "quartile_3", "whisker_high", "most", "mean",
      "deviation", "height", "height_deviation", "models"},
     {{"k by the number of faces, from", "faces", "k", 0, 1, 7, "models", false, false}},
     kdet_models_boxes,
     false,
     figure_6_numbers},
    {"kdet2017-fig8-left",
     "Figure 8, left: the hash of the grid, balls flying about, per frame",
     "Morton codes and DJB2 perform equally well: 4.1 ms on average on a GTX 1080.",
     {"frame", "detect_ms", "total_ms"},
     {{"Detection", "frame", "ms", 0, 1, 2, NULL, true, false}},
     figure_8_left,
     true,
     figure_8_left_numbers},
    {"kdet2017-fig8-right",
     "Figure 8, right: update and detection, the largest chair, per frame",
     "Filling the grid is negligible: 0.3 ms of 14.6 ms on average on a GTX 1080.",
     {"frame", "update_ms", "detect_ms", "total_ms"},
     {{"kDet's grid, one thread", "frame", "ms", 0, 1, 3, "grid, 1 thread", true, PAPERS_STACKED},
      {"Our tree, one thread", "frame", "ms", 0, 1, 3, "tree, 1 thread", true, PAPERS_STACKED},
      {"kDet's grid, all threads", "frame", "ms", 0, 1, 3, "grid, all threads", true,
       PAPERS_STACKED},
      {"Our tree, all threads", "frame", "ms", 0, 1, 3, "tree, all threads", true, PAPERS_STACKED},
      {"kDet's grid on a GPU", "frame", "ms", 0, 1, 3, "grid, GPU", true, PAPERS_STACKED},
      {"Our tree on a GPU", "frame", "ms", 0, 1, 3, "tree, GPU", true, PAPERS_STACKED}},
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
