/* SPDX-License-Identifier: MIT */
/* Weller, Frese, Zachmann 2013: polygons that meet against packings that meet (Figure 1), the
 * scenes (4), query times along a path and in the worst pose (5), building the grid (6).
 *
 * Each packing is on our grid, in Figure 5 (left) also on the paper's to the letter (grid2013.c).
 *
 * The path is the paper's: one object stands still, a turning copy slides into it, from a box
 * length apart. The paper's models are not public; a cow, a bunny and an armadillo stand for cow,
 * pig and armadillos, and shapes for these where the models are not there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/grid2013.h"
#include "bench/papers.h"
#include "carom/cuda.h"
#include "scenes/paths.h"

/* ---- Scenes ---------------------------------------------------------------------------------- */

#define SCENES 3

typedef struct scene {
    const char *name, *file;
    carom_shape_def stand_in;
} scene;

static const scene scenes[SCENES] = {
    {"cow", "cow.obj", {.shape = CAROM_SHAPE_KNOT}},
    {"bunny", "bunny_70k.off.gz", {.shape = CAROM_SHAPE_TORUS, .detail = 264}},
    {"armadillo", "armadillo_100k.obj.gz", {.shape = CAROM_SHAPE_CHAIN, .detail = 112}},
};

static const carom_shape_def small_scene = {.shape = CAROM_SHAPE_TORUS, .detail = 24};

static const papers_solid *solid_of(papers_lab *lab, const scene *s) {
    return papers_get_solid(lab, s->file, s->name, lab->quick ? &small_scene : &s->stand_in);
}

static const uint64_t counts[] = {4000, 10000, 20000, 60000}, quick_counts[] = {50, 100};

static int count_of_counts(const papers_lab *lab) {
    return lab->quick ? 2 : 4;
}

static uint64_t count_at(const papers_lab *lab, int i) {
    return lab->quick ? quick_counts[i] : counts[i];
}

/* A solid with a packing: by our octree, which Carom takes by default, or by Protosphere, as in the
 * paper. */
typedef struct packed {
    const papers_solid *solid;
    const carom_packing *packing;
    const char *algorithm; /* our grid, with the method of the packing */
} packed;

static bool pack(papers_lab *lab, const papers_solid *solid, uint64_t count, packed *p) {
    *p = (packed){solid, NULL, "ball grid: octree packing"};
    if (solid != NULL) p->packing = papers_get_packing(lab, solid, count);
    return p->packing != NULL;
}

/* Packed as in the paper. It takes ten times as long, so only the smallest number of spheres is. */
static bool pack_as_printed(papers_lab *lab, const papers_solid *solid, packed *p) {
    *p = (packed){solid, NULL, "ball grid: Protosphere packing"};
    if (solid != NULL)
        p->packing =
            papers_get_packing_by(lab, solid, count_at(lab, 0), CAROM_PACKING_METHOD_PROTOSPHERE);
    return p->packing != NULL;
}

static void add(papers_plot *plot, const carom_context *context, const packed *p,
                const char *series, const double *values) {
    const papers_source source = {p->algorithm, papers_backend_of(plot->lab, context),
                                  p->solid->view.face_count};
    papers_add(plot, &source, series, values);
}

/* ---- Queries along the path ------------------------------------------------------------------ */

#define MOST_POSES 101
#define TURNS      4

static uint32_t pose_count(const papers_lab *lab) {
    return lab->quick ? 9 : MOST_POSES;
}

/* A packing on the grid, in the poses of the path. */
typedef struct experiment {
    carom_context *context;
    carom_balls *balls;
    carom_packing_info info;
    carom_pose poses[MOST_POSES];
    uint32_t at;
    carom_balls_query_def def;
    carom_packing_overlap overlap;
} experiment;

static bool run_query(void *input) {
    experiment *m = input;
    return carom_balls_overlap(m->context, m->balls, NULL, m->balls, &m->poses[m->at], &m->def,
                               &m->overlap) == CAROM_OK;
}

static bool experiment_open(experiment *m, papers_lab *lab, carom_context *context,
                            const packed *p) {
    m->context = context;
    m->balls = NULL;
    m->def = (carom_balls_query_def){.skip_limits = false};
    if (p->packing == NULL || carom_packing_get_info(p->packing, &m->info) != CAROM_OK ||
        carom_balls_create(context, &(carom_balls_def){.packing = p->packing}, &m->balls) !=
            CAROM_OK)
        return false;
    scene_path_slide(&m->info.bounds, pose_count(lab), m->poses);
    return true;
}

/* Times of all poses; fills mean and worst. */
static bool time_path(papers_plot *plot, experiment *m, double *mean, double *worst,
                      double *milliseconds, double *shares) {
    uint32_t poses = pose_count(plot->lab);
    *mean = *worst = 0.0;
    for (uint32_t i = 0; i < poses; ++i) {
        m->at = i;
        double ms = 1e3 * papers_best_seconds(plot->lab, m->context, run_query, m,
                                              plot->lab->quick ? 1 : TURNS);
        if (ms < 0.0) return false;
        *mean += ms / poses;
        *worst = fmax(*worst, ms);
        if (milliseconds != NULL) milliseconds[i] = ms;
        if (shares != NULL) shares[i] = m->overlap.volume.value / m->info.volume;
    }
    return true;
}

/* ---- The grid as printed --------------------------------------------------------------------- */

/* A packing on the paper's grid, with a copy in a pose. */
typedef struct printed_grid {
    carom_packing_spheres spheres;
    grid2013 grid;
    const carom_pose *pose;
    grid2013_result result;
} printed_grid;

static bool printed_open(const papers_lab *lab, const packed *p, printed_grid *g) {
    *g = (printed_grid){.pose = NULL};
    return carom_packing_list_spheres(lab->serial, p->packing, &g->spheres) == CAROM_OK &&
           grid2013_build(&g->spheres, &g->grid);
}

static void printed_close(printed_grid *g) {
    grid2013_free(&g->grid);
    carom_packing_spheres_free(&g->spheres);
}

static bool query_printed(void *input) {
    printed_grid *g = input;
    grid2013_query(&g->grid, &g->grid, g->pose, &g->result);
    return true;
}

static bool build_printed(void *input) {
    printed_grid *g = input;
    return grid2013_refill(&g->grid);
}

static void add_printed(papers_plot *plot, const packed *p, const char *series,
                        const double *values) {
    packed as_printed = *p;
    const char *packing = strchr(p->algorithm, ':');
    char algorithm[48], name[64];
    snprintf(algorithm, sizeof(algorithm), "grid as printed%.30s", packing);
    snprintf(name, sizeof(name), "%.40s, grid as printed", series);
    as_printed.algorithm = algorithm;
    add(plot, plot->lab->serial, &as_printed, name, values);
}

#define NEARLY 1e-9 /* what sums in another order may differ by */

#define PRINTED_EVERY 4u /* poses: of them one is measured on the paper's grid, which is slow */

/* Times of some poses on the paper's grid, as time_path; a volume is that of our inner spheres, or
 * it fails. Fills the cells that are looked up and the entries that are tested, of each sphere of
 * both on average, by ours too. */
static bool time_printed(papers_plot *plot, experiment *m, printed_grid *g, double *mean,
                         double *worst, double *milliseconds, double per_sphere[4]) {
    papers_lab *lab = plot->lab;
    uint32_t poses = pose_count(lab);
    uint32_t measured = (poses + PRINTED_EVERY - 1) / PRINTED_EVERY;
    double share = 1.0 / (2.0 * (double)m->info.spheres * measured);
    *mean = *worst = 0.0;
    memset(per_sphere, 0, 4 * sizeof(*per_sphere));
    for (uint32_t i = 0; i < poses; i += PRINTED_EVERY) {
        carom_work work;
        m->at = i;
        g->pose = &m->poses[i];
        double ms = 1e3 * papers_best_seconds(lab, lab->serial, query_printed, g, 1);
        if (ms < 0.0 || !run_query(m) || carom_context_get_work(m->context, &work) != CAROM_OK)
            return false;
        double lower = m->overlap.volume.lower;
        if (fabs(g->result.volume - lower) > NEARLY + NEARLY * lower) return false;
        *mean += ms / measured;
        *worst = fmax(*worst, ms);
        if (milliseconds != NULL) milliseconds[i] = ms;
        per_sphere[0] += share * (double)g->result.cells;
        per_sphere[1] += share * (double)g->result.tests;
        per_sphere[2] += share * (double)work.visits;
        per_sphere[3] += share * (double)work.candidates;
    }
    return true;
}

/* ---- Figure 1 -------------------------------------------------------------------------------- */

typedef struct crossing {
    carom_context *context;
    carom_soup *soup;
    carom_pose pose;
    carom_pairs pairs;
} crossing;

static bool find_pairs(void *input) {
    crossing *c = input;
    return carom_soup_cross_pairs(c->context, c->soup, NULL, c->soup, &c->pose, &c->pairs) ==
           CAROM_OK;
}

/* Two Chazelle polyhedra of some detail, turned so that their wedges cross. */
static bool cross_chazelle(papers_plot *plot, uint64_t detail) {
    papers_lab *lab = plot->lab;
    char name[32];
    const carom_shape_def shape = {.shape = CAROM_SHAPE_CHAZELLE, .detail = detail};
    snprintf(name, sizeof(name), "chazelle %llu", (unsigned long long)detail);
    const papers_solid *solid = papers_get_solid(lab, "", name, &shape);
    packed p;
    (void)pack(lab, solid, lab->quick ? 40 : 1000, &p);
    crossing c = {.context = lab->serial, .pose = {{0.5, 0.5, 0.5, 0.5}, {0.003, 0.006, 0.009}}};
    static experiment m; /* large: poses */
    bool good = experiment_open(&m, lab, lab->serial, &p) &&
                carom_soup_create(lab->serial, &(carom_soup_def){.mesh = &solid->view}, &c.soup) ==
                    CAROM_OK;
    if (good) {
        m.poses[0] = c.pose;
        m.at = 0;
        double faces = papers_best_seconds(lab, lab->serial, find_pairs, &c, TURNS);
        double limits = papers_best_seconds(lab, lab->serial, run_query, &m, TURNS);
        m.def.skip_limits = true; /* as printed: pairs of balls alone */
        double balls = papers_best_seconds(lab, lab->serial, run_query, &m, TURNS);
        good = faces >= 0.0 && balls >= 0.0 && limits >= 0.0;
        add(plot, lab->serial, &p, "Chazelle",
            (const double[]){(double)solid->view.face_count, (double)c.pairs.count,
                             (double)m.overlap.pairs, 1e6 * faces, 1e6 * balls, 1e6 * limits,
                             m.info.fill});
    }
    carom_pairs_free(&c.pairs);
    carom_soup_destroy(c.soup);
    carom_balls_destroy(m.balls);
    return good;
}

static bool figure_1(papers_plot *plot) {
    papers_lab *lab = plot->lab;
    carom_mesh *mesh;
    const carom_shape_def shape = {.shape = CAROM_SHAPE_CHAZELLE, .detail = 8};
    for (uint64_t detail = 4; detail <= (lab->quick ? 8 : 64); detail *= 2)
        if (!cross_chazelle(plot, detail)) return false;
    if (carom_shape_make(lab->serial, &shape, &mesh) != CAROM_OK) return false;
    papers_add_mesh(plot, "Chazelle's polyhedron, detail 8", mesh);
    const papers_solid *cow = solid_of(lab, &scenes[0]);
    const carom_packing *packing =
        cow != NULL ? papers_get_packing(lab, cow, count_at(lab, 0)) : NULL;
    if (packing == NULL) return false;
    papers_add_balls(plot, "a packing: its 700 largest spheres", packing, NULL, NULL);
    return true;
}

/* ---- Figure 4 -------------------------------------------------------------------------------- */

/* The same solid with more and more triangles, packed by equally many spheres. */
static bool measure_triangles(papers_plot *plot, uint64_t detail) {
    papers_lab *lab = plot->lab;
    static experiment m; /* large: poses */
    char name[32];
    const carom_shape_def shape = {.shape = CAROM_SHAPE_TORUS, .detail = detail};
    snprintf(name, sizeof(name), "torus %llu", (unsigned long long)detail);
    const papers_solid *solid = papers_get_solid(lab, "", name, &shape);
    double mean, worst;
    packed p;
    bool good = pack(lab, solid, count_at(lab, 0), &p) &&
                experiment_open(&m, lab, lab->serial, &p) &&
                time_path(plot, &m, &mean, &worst, NULL, NULL);
    if (good)
        add(plot, lab->serial, &p, "torus",
            (const double[]){(double)solid->view.face_count, (double)m.info.spheres, m.info.fill,
                             mean, worst});
    carom_balls_destroy(m.balls);
    return good;
}

/* A row of a scene; the first packing of each, with `caption`, is drawn beside its copy. */
static bool measure_scene(papers_plot *plot, carom_context *context, const packed *p,
                          const char *series, const char *caption) {
    papers_lab *lab = plot->lab;
    static experiment m; /* large: poses */
    double mean, worst;
    bool good =
        experiment_open(&m, lab, context, p) && time_path(plot, &m, &mean, &worst, NULL, NULL);
    carom_balls_destroy(m.balls);
    if (!good) return false;
    add(plot, context, p, series,
        (const double[]){(double)p->solid->view.face_count, (double)m.info.spheres, m.info.fill,
                         mean, worst});
    if (caption != NULL)
        papers_add_balls(plot, caption, p->packing, p->packing, &m.poses[pose_count(lab) / 2]);
    return true;
}

/* All packings of a scene in one context. */
static bool measure_scenes(papers_plot *plot, carom_context *context, const papers_solid *solid) {
    papers_lab *lab = plot->lab;
    bool first = context == lab->serial;
    const char *on = first ? "" : ", GPU";
    char text[64], caption[64];
    packed p;
    snprintf(text, sizeof(text), "%s%s", solid->name, on);
    snprintf(caption, sizeof(caption), "%s and its copy", solid->name);
    for (int i = 0; i < count_of_counts(lab); ++i)
        if (!pack(lab, solid, count_at(lab, i), &p) ||
            !measure_scene(plot, context, &p, text, first && i == 0 ? caption : NULL))
            return false;
    snprintf(text, sizeof(text), "%s, Protosphere%s", solid->name, on);
    return pack_as_printed(lab, solid, &p) && measure_scene(plot, context, &p, text, NULL);
}

static bool figure_4(papers_plot *plot) {
    static const uint64_t details[] = {142, 420, 1184}; /* their squares are the triangles */
    papers_lab *lab = plot->lab;
    for (int k = 0; k < SCENES; ++k) {
        const papers_solid *solid = solid_of(lab, &scenes[k]);
        if (solid == NULL) return false;
        if (!lab->device_only && !measure_scenes(plot, lab->serial, solid)) return false;
        if (lab->device != NULL && !measure_scenes(plot, lab->device, solid)) return false;
    }
    for (int i = 0; i < (lab->quick ? 1 : 3) && !lab->device_only; ++i)
        if (!measure_triangles(plot, lab->quick ? 16 : details[i])) return false;
    return true;
}

/* ---- Figures 5 and 6 ------------------------------------------------------------------------- */

static bool add_path(papers_plot *plot, carom_context *context, const packed *p,
                     const char *series) {
    static experiment m; /* large: poses */
    static double milliseconds[MOST_POSES], shares[MOST_POSES];
    double mean, worst;
    bool good = experiment_open(&m, plot->lab, context, p) &&
                time_path(plot, &m, &mean, &worst, milliseconds, shares);
    for (uint32_t i = 0; i < pose_count(plot->lab) && good; ++i) {
        const double row[] = {i, shares[i], milliseconds[i]};
        add(plot, context, p, series, row);
    }
    carom_balls_destroy(m.balls);
    if (good) papers_note(plot, "%s: mean %.4f ms, worst %.4f ms", series, mean, worst);
    return good;
}

/* On one thread, by the paper's grid. */
static bool add_printed_path(papers_plot *plot, const packed *p, const char *series) {
    static experiment m; /* large: poses */
    static double milliseconds[MOST_POSES];
    double mean = 0.0, worst = 0.0, per_sphere[4];
    printed_grid g;
    bool good = printed_open(plot->lab, p, &g) &&
                experiment_open(&m, plot->lab, plot->lab->serial, p) &&
                time_printed(plot, &m, &g, &mean, &worst, milliseconds, per_sphere);
    for (uint32_t i = 0; i < pose_count(plot->lab) && good; i += PRINTED_EVERY) {
        m.at = i;
        good = run_query(&m);
        add_printed(plot, p, series,
                    (const double[]){i, m.overlap.volume.value / m.info.volume, milliseconds[i]});
    }
    carom_balls_destroy(m.balls);
    double built = good ? 1e3 * papers_best_seconds(plot->lab, plot->lab->serial, build_printed, &g,
                                                    plot->lab->quick ? 1 : 9)
                        : 0.0;
    printed_close(&g);
    if (!good) return false;
    papers_note(plot,
                "%s, grid as printed: mean %.4f ms, worst %.4f ms; built in %.3f ms; per sphere "
                "%.2f cells and %.1f entries, by ours %.2f cells and %.1f pairs in doubles",
                series, mean, worst, built, per_sphere[0], per_sphere[1], per_sphere[2],
                per_sphere[3]);
    return true;
}

/* On one thread, also by the paper's grid, and on the GPU. */
static bool add_paths(papers_plot *plot, const packed *p, const char *series) {
    papers_lab *lab = plot->lab;
    char name[64];
    snprintf(name, sizeof(name), "%.40s GPU", series);
    return (lab->device_only ||
            (add_path(plot, lab->serial, p, series) && add_printed_path(plot, p, series))) &&
           (lab->device == NULL || add_path(plot, lab->device, p, name));
}

static bool figure_5a(papers_plot *plot) {
    papers_lab *lab = plot->lab;
    const papers_solid *solid = solid_of(lab, &scenes[0]);
    char series[40];
    packed p;
    if (solid == NULL) return false;
    for (int i = 0; i < count_of_counts(lab); ++i) {
        snprintf(series, sizeof(series), "%llu", (unsigned long long)count_at(lab, i));
        if (!pack(lab, solid, count_at(lab, i), &p) || !add_paths(plot, &p, series)) return false;
    }
    snprintf(series, sizeof(series), "%llu, Protosphere", (unsigned long long)count_at(lab, 0));
    return pack_as_printed(lab, solid, &p) && add_paths(plot, &p, series);
}

static bool add_worst(papers_plot *plot, carom_context *context, const packed *p,
                      const char *series) {
    static experiment m; /* large: poses */
    double mean, worst;
    bool good = experiment_open(&m, plot->lab, context, p) &&
                time_path(plot, &m, &mean, &worst, NULL, NULL);
    carom_balls_destroy(m.balls);
    if (!good) return false;
    add(plot, context, p, series, (const double[]){(double)m.info.spheres, worst, mean});
    return true;
}

/* Building the grid of a packing, as for spheres that have moved. */
typedef struct building {
    carom_context *context;
    carom_balls *balls;
    carom_packing_spheres spheres;
    double kernels; /* the least, by the clock of the device, in ms */
} building;

static bool build(void *input) {
    building *b = input;
    return carom_balls_update(b->context, b->balls, b->spheres.data, b->spheres.count, 0.0) ==
           CAROM_OK;
}

static bool build_on_device(void *input) {
    building *b = input;
    carom_cuda_steps steps;
    double sum = 0.0;
    if (!build(input) || carom_cuda_get_steps(b->context, &steps) != CAROM_OK) return false;
    for (uint32_t i = 0; i < steps.count; ++i) sum += steps.milliseconds[i];
    b->kernels = fmin(b->kernels, sum);
    return true;
}

/* On a GPU: from arrays of the host, and the kernels alone. */
static bool add_building(papers_plot *plot, carom_context *context, const packed *p,
                         const char *series) {
    const papers_lab *lab = plot->lab;
    bool on_device = context == lab->device;
    building b = {.context = context, .kernels = HUGE_VAL};
    bool good = carom_packing_list_spheres(lab->serial, p->packing, &b.spheres) == CAROM_OK &&
                carom_balls_create(context, &(carom_balls_def){.packing = p->packing}, &b.balls) ==
                    CAROM_OK;
    double seconds = -1.0;
    if (on_device) good = good && carom_cuda_set_timing(context, true) == CAROM_OK;
    if (good)
        seconds = papers_best_seconds(lab, context, on_device ? build_on_device : build, &b,
                                      lab->quick ? 1 : 9);
    if (on_device) (void)carom_cuda_set_timing(context, false);
    double count = (double)b.spheres.count;
    carom_balls_destroy(b.balls);
    carom_packing_spheres_free(&b.spheres);
    if (seconds < 0.0) return false;
    add(plot, context, p, series, (const double[]){count, 1e3 * seconds});
    if (on_device) {
        char name[48];
        snprintf(name, sizeof(name), "%.30s kernels", series);
        add(plot, context, p, name, (const double[]){count, b.kernels});
    }
    return true;
}

typedef bool measuring(papers_plot *plot, carom_context *context, const packed *p,
                       const char *series);
/* A packing on one thread, on all, and on the GPU. */
static bool for_contexts(papers_plot *plot, measuring *measure, const packed *p, const char *name) {
    papers_lab *lab = plot->lab;
    char series[64];
    snprintf(series, sizeof(series), "%s, all threads", name);
    if (!lab->device_only &&
        (!measure(plot, lab->serial, p, name) || !measure(plot, lab->parallel, p, series)))
        return false;
    snprintf(series, sizeof(series), "%s GPU", name);
    return lab->device == NULL || measure(plot, lab->device, p, series);
}

/* Each scene at each resolution, and packed as printed. */
static bool for_all(papers_plot *plot, measuring *measure) {
    papers_lab *lab = plot->lab;
    for (int k = 0; k < SCENES; ++k) {
        const papers_solid *solid = solid_of(lab, &scenes[k]);
        packed p;
        char name[48];
        if (solid == NULL) return false;
        for (int i = 0; i < count_of_counts(lab); ++i)
            if (!pack(lab, solid, count_at(lab, i), &p) ||
                !for_contexts(plot, measure, &p, solid->name))
                return false;
        snprintf(name, sizeof(name), "%s, Protosphere", solid->name);
        if (!pack_as_printed(lab, solid, &p) || !for_contexts(plot, measure, &p, name))
            return false;
    }
    return true;
}

static bool figure_5b(papers_plot *plot) {
    return for_all(plot, add_worst);
}

static bool figure_6(papers_plot *plot) {
    return for_all(plot, add_building);
}

static const papers_printed figure_5a_numbers[] = {
    {"spheres each, mean of the path", "ms", NULL, 2, PAPERS_MEAN, 1.0, 0, NULL, 0},
    {.what = NULL}};

static const papers_figure figures[] = {
    {"weller2013-fig1",
     "Figure 1: two Chazelle polyhedra: pairs of polygons that meet, and pairs of spheres",
     "The pairs of polygons are quadratic in their number; packings do not depend on the surface.",
     {"triangles", "face_pairs", "sphere_pairs", "faces_us", "spheres_us", "spheres_limits_us",
      "fill"},
     {{"Pairs that meet", "triangles", "pairs", 0, 1, 3, NULL, false, false},
      {"Time of a query", "triangles", "us", 0, 3, 6, NULL, false, false},
      {"Fill", "triangles", "share of the volume", 0, 6, 7, NULL, false, false}},
     figure_1,
     false,
     NULL},
    {"weller2013-fig4",
     "Figure 4: the test scenes, and what a query costs with more triangles and more spheres",
     "20,000 triangles (pig) to 1.4 million (armadillos); 4,000 to 60,000 spheres fill 85 to 95 %; "
     "the time does not depend on the triangles.",
     {"triangles", "spheres", "fill", "mean_ms", "worst_ms"},
     {{"Fill", "spheres", "share of the volume", 1, 2, 3, NULL, false, true},
      {"One solid, equally many spheres, more triangles", "triangles", "ms, worst pose", 0, 4, 5,
       "torus", false, false}},
     figure_4,
     true,
     NULL},
    {"weller2013-fig5a",
     "Figure 5, left: the time of each query while the copy of the cow slides in",
     "About 1 ms, nearly constant along the path for each number of spheres; 4,000 to 60,000 "
     "spheres on a GTX 680. The numbers of the axes are not in the text.",
     {"frame", "overlap_share", "ms"},
     {{"Time of a query", "frame", "ms", 0, 2, 3, NULL, true, false},
      {"Overlap, of the volume", "frame", "share", 0, 1, 2, NULL, true, true}},
     figure_5a,
     true,
     figure_5a_numbers},
    {"weller2013-fig5b",
     "Figure 5, right: the time in the worst pose, for the three scenes",
     "About 1 ms up to 20,000 spheres, then linear: the GTX 680 is full.",
     {"spheres", "worst_ms", "mean_ms"},
     {{"Time in the worst pose, cow", "spheres", "ms", 0, 1, 2, "cow", false, false},
      {"Time in the worst pose, bunny", "spheres", "ms", 0, 1, 2, "bunny", false, false},
      {"Time in the worst pose, armadillo", "spheres", "ms", 0, 1, 2, "armadillo", false, false}},
     figure_5b,
     true,
     NULL},
    {"weller2013-fig6",
     "Figure 6: building the hierarchical grid",
     "A fraction of a millisecond on a GTX 680.",
     {"spheres", "ms"},
     {{"Time to build, cow", "spheres", "ms", 0, 1, 2, "cow", false, false},
      {"Time to build, bunny", "spheres", "ms", 0, 1, 2, "bunny", false, false},
      {"Time to build, armadillo", "spheres", "ms", 0, 1, 2, "armadillo", false, false}},
     figure_6,
     true,
     NULL},
};

const papers_paper papers_weller2013 = {
    2013, "weller2013",
    "Weller, Frese, Zachmann 2013: Parallel Collision Detection in Constant Time", figures,
    sizeof(figures) / sizeof(figures[0])};
