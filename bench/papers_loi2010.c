/* SPDX-License-Identifier: MIT */
/* Loi 2010: the broad phase with cells that vary and with fixed ones (Figure 10), ISA-GJK with hill
 * climbing and without (11), the pairs that the broad phase leaves (12), both phases (13), in the
 * thesis's way, a sweep whose pairs all go to ISA-GJK, and in ours, a tree whose pairs are decided
 * by balls in and around the shapes where these suffice.
 *
 * The scene is the thesis's: spheres of 80 triangles, uniform, each with a random velocity; their
 * number is a cube. How full the thesis's room is, it does not tell: here their boxes fill 5 %. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/papers.h"
#include "scenes/boxes.h"

#define SEED  2010u
#define TURNS 7

static const uint64_t sizes[] = {1000, 8000, 27000, 64000, 125000};

static int size_count(const papers_lab *lab) {
    return lab->quick ? 2 : 5;
}

static uint64_t size_at(const papers_lab *lab, int i) {
    return lab->quick ? sizes[i] / 10 : sizes[i];
}

static int turns_of(const papers_lab *lab) {
    return lab->quick ? 1 : TURNS;
}

/* A row of bounds, which have no triangles, or of spheres of `triangles` in all. */
static void add(papers_plot *plot, const carom_context *context, const char *algorithm,
                uint64_t triangles, const char *series, const double *row) {
    const papers_source source = {algorithm, papers_backend_of(plot->lab, context), triangles};
    papers_add(plot, &source, series, row);
}

/* ---- Figures 10 and 12: the broad phase ------------------------------------------------------ */

#define FIXED_CELL 3.0 /* edge, for spheres of radius 1 */

typedef struct sweeping {
    carom_context *context;
    carom_broad_def def;
    carom_broad_info info;
    carom_work work;
    carom_pairs pairs;
} sweeping;

/* From bounds to the list of pairs. */
static bool sweep(void *input) {
    sweeping *s = input;
    carom_broad *broad;
    bool done = carom_broad_create(s->context, &s->def, &broad) == CAROM_OK &&
                carom_broad_pairs(s->context, broad, &s->pairs) == CAROM_OK &&
                carom_context_get_work(s->context, &s->work) == CAROM_OK &&
                carom_broad_get_info(broad, &s->info) == CAROM_OK;
    carom_broad_destroy(broad);
    return done;
}

static bool add_sweep(papers_plot *plot, carom_context *context, const char *series,
                      const scene_boxes *boxes, carom_broad_method method, double cell) {
    sweeping s = {.context = context,
                  .def = {.boxes = boxes->bounds,
                          .box_count = boxes->count,
                          .method = method,
                          .sweep_cell = cell}};
    double seconds = papers_best_seconds(plot->lab, context, sweep, &s, turns_of(plot->lab));
    const double row[] = {(double)boxes->count,      1e3 * seconds,          (double)s.pairs.count,
                          (double)s.info.cells,      (double)s.info.entries, (double)s.work.visits,
                          (double)s.info.sweep_bound};
    carom_pairs_free(&s.pairs);
    if (seconds < 0.0) return false;
    static const char *const algorithms[CAROM_BROAD_METHOD_COUNT] = {
        [CAROM_BROAD_METHOD_AUTO] = "grid of cells",
        [CAROM_BROAD_METHOD_TREE] = "box tree",
        [CAROM_BROAD_METHOD_SWEEP] = "sweep and prune"};
    add(plot, context, algorithms[method], 0, series, row);
    return true;
}

/* The edge of N/64000 cells, rounded up, or a few more: they are squares, side by side across the
 * axis of the sweep. Boxes are at most a quarter of the room beyond it. */
static double thesis_cell(const scene_boxes *boxes) {
    double cells = ceil((double)boxes->count / 64000.0);
    return 1.25 * boxes->edge / (cells > 1.0 ? ceil(sqrt(cells)) : 0.5);
}

static bool figure_10(papers_plot *plot) {
    papers_lab *lab = plot->lab;
    bool good = true;
    for (int i = 0; i < size_count(lab) && good; ++i) {
        scene_boxes boxes;
        good = scene_boxes_make(size_at(lab, i), SCENE_BOXES_MONO, SEED, &boxes) &&
               (lab->device_only ||
                (add_sweep(plot, lab->serial, "cells by density", &boxes, CAROM_BROAD_METHOD_SWEEP,
                           0.0) &&
                 add_sweep(plot, lab->serial, "N/64000 cells", &boxes, CAROM_BROAD_METHOD_SWEEP,
                           thesis_cell(&boxes)) &&
                 add_sweep(plot, lab->serial, "cells of 3", &boxes, CAROM_BROAD_METHOD_SWEEP,
                           FIXED_CELL) &&
                 add_sweep(plot, lab->serial, "tree", &boxes, CAROM_BROAD_METHOD_TREE, 0.0))) &&
               (lab->device == NULL || (add_sweep(plot, lab->device, "cells by density, GPU",
                                                  &boxes, CAROM_BROAD_METHOD_SWEEP, 0.0) &&
                                        add_sweep(plot, lab->device, "N/64000 cells, GPU", &boxes,
                                                  CAROM_BROAD_METHOD_SWEEP, thesis_cell(&boxes)) &&
                                        add_sweep(plot, lab->device, "cells of 3, GPU", &boxes,
                                                  CAROM_BROAD_METHOD_SWEEP, FIXED_CELL) &&
                                        add_sweep(plot, lab->device, "grid of cells, GPU", &boxes,
                                                  CAROM_BROAD_METHOD_AUTO, 0.0)));
        scene_boxes_free(&boxes);
    }
    return good;
}

static bool figure_12(papers_plot *plot) {
    papers_lab *lab = plot->lab;
    bool good = true;
    for (int i = 0; i < size_count(lab) && good; ++i) {
        scene_boxes boxes;
        sweeping s = {.context = lab->parallel};
        good = scene_boxes_make(size_at(lab, i), SCENE_BOXES_MONO, SEED, &boxes);
        s.def = (carom_broad_def){.boxes = boxes.bounds, .box_count = boxes.count};
        good = good && sweep(&s);
        if (good)
            add(plot, lab->parallel, "box tree", 0, "pairs of boxes",
                (const double[]){(double)boxes.count, (double)s.pairs.count,
                                 (double)s.pairs.count / (double)boxes.count});
        carom_pairs_free(&s.pairs);
        scene_boxes_free(&boxes);
    }
    return good;
}

/* ---- Figure 11: ISA-GJK ---------------------------------------------------------------------- */

#define MOST_POSES 500u
#define GAP        0.05 /* between the shapes, or how deep they are */

typedef struct duel {
    carom_context *context;
    carom_convex shape;
    carom_convex_query_def def;
    uint32_t count, met;
    carom_pose a[MOST_POSES], b[MOST_POSES];
} duel;

static bool meet_all(void *input) {
    duel *d = input;
    d->met = 0;
    for (uint32_t i = 0; i < d->count; ++i) {
        bool meet;
        if (carom_convex_meet(d->context, &d->shape, &d->a[i], &d->shape, &d->b[i], &d->def,
                              &meet) != CAROM_OK)
            return false;
        d->met += meet;
    }
    return true;
}

/* Random turns and directions, then b is moved along the line between nearest points. */
static bool pose_apart(duel *d, double gap) {
    carom_random random = {11};
    for (uint32_t i = 0; i < d->count; ++i) {
        double n[11], length = 0.0;
        for (int k = 0; k < 11; ++k) n[k] = carom_random_normal(&random);
        for (int k = 8; k < 11; ++k) length += n[k] * n[k];
        double far = 3.0 / sqrt(length);
        d->a[i] = (carom_pose){{n[0], n[1], n[2], n[3]}, {0.0, 0.0, 0.0}};
        d->b[i] = (carom_pose){{n[4], n[5], n[6], n[7]}, {far * n[8], far * n[9], far * n[10]}};
        carom_convex_result r;
        if (carom_convex_distance(d->context, &d->shape, &d->a[i], &d->shape, &d->b[i], NULL, &r) !=
            CAROM_OK)
            return false;
        double by = gap - r.distance;
        carom_vec3 *t = &d->b[i].t;
        *t = (carom_vec3){t->x + by * r.normal.x, t->y + by * r.normal.y, t->z + by * r.normal.z};
    }
    return true;
}

/* A sphere of radius 1, stretched to these half axes. */
static carom_hull *make_hull(carom_context *context, uint64_t detail, const double axes[3],
                             uint64_t *triangles) {
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_hull *hull = NULL;
    const carom_shape_def def = {.shape = CAROM_SHAPE_SPHERE, .detail = detail};
    if (carom_shape_make(context, &def, &mesh) != CAROM_OK) return NULL;
    if (carom_mesh_get_view(mesh, &view) == CAROM_OK) {
        const carom_vec3 *from = view.positions;
        carom_vec3 *points = malloc(view.vertex_count * sizeof(*points));
        for (uint64_t i = 0; i < view.vertex_count && points != NULL; ++i)
            points[i] = (carom_vec3){axes[0] * from[i].x, axes[1] * from[i].y, axes[2] * from[i].z};
        *triangles = view.face_count;
        view.positions = points;
        if (points == NULL ||
            carom_hull_create(context, &(carom_hull_def){.mesh = &view}, &hull) != CAROM_OK)
            hull = NULL;
        free(points);
    }
    carom_mesh_destroy(mesh);
    return hull;
}

/* The thesis's objects, and some of which balls inside and around decide less. */
static const struct {
    const char *name;
    double axes[3];
} shapes[] = {{"spheres", {1.0, 1.0, 1.0}}, {"stretched", {1.0, 0.6, 0.4}}};

/* In the thesis's way every pair goes to ISA-GJK; in ours, which is the default, those that balls
 * do not decide. */
static const struct {
    const char *algorithm, *name;
    carom_convex_query_def def;
} searches[] = {
    {"ISA-GJK: climbing", "climbing", {.search = CAROM_CONVEX_SEARCH_CLIMB, .gjk_only = true}},
    {"ISA-GJK: all vertices",
     "all vertices",
     {.search = CAROM_CONVEX_SEARCH_ALL, .gjk_only = true}},
    {"balls then ISA-GJK", "balls first", {.gjk_only = false}}};

enum {
    SHAPES = sizeof(shapes) / sizeof(shapes[0]),
    SEARCHES = sizeof(searches) / sizeof(searches[0])
};

/* Poses apart, then meeting, by each search. */
static bool add_duels(papers_plot *plot, duel *d, int shape, uint64_t triangles) {
    papers_lab *lab = plot->lab;
    for (int k = 0; k < 2 * SEARCHES; ++k) {
        bool apart = k % 2 == 0;
        char series[64];
        d->def = searches[k / 2].def;
        if (!pose_apart(d, apart ? GAP : -GAP)) return false;
        double seconds = papers_best_seconds(lab, d->context, meet_all, d, turns_of(lab));
        if (seconds < 0.0 || d->met != (apart ? 0 : d->count)) return false;
        snprintf(series, sizeof(series), "%s: %s, %s", shapes[shape].name, searches[k / 2].name,
                 apart ? "apart" : "meeting");
        add(plot, lab->serial, searches[k / 2].algorithm, triangles, series,
            (const double[]){(double)triangles, 1e6 * seconds / d->count});
    }
    return true;
}

static bool figure_11(papers_plot *plot) {
    static duel d; /* large: poses */
    papers_lab *lab = plot->lab;
    for (int shape = 0; shape < SHAPES; ++shape)
        for (uint64_t detail = 2; detail <= (lab->quick ? 3 : 7); ++detail) {
            uint64_t triangles = 0;
            carom_hull *hull = make_hull(lab->serial, detail, shapes[shape].axes, &triangles);
            d.context = lab->serial;
            d.count = lab->quick ? 20 : MOST_POSES;
            d.shape = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
            bool good = hull != NULL && add_duels(plot, &d, shape, triangles);
            carom_hull_destroy(hull);
            if (!good) return false;
        }
    return true;
}

/* ---- Figure 13: both phases ------------------------------------------------------------------ */

typedef struct pipeline {
    scene_boxes boxes;
    carom_broad *broad;
    carom_pairs pairs;
    carom_hull *hull;
    carom_convex shape;
    carom_convex_pair *posed_pairs; /* the pairs of boxes, with poses */
    bool *meet;
    uint64_t capacity;                    /* of these two */
    uint64_t triangles;                   /* of all spheres */
    uint64_t met;                         /* pairs of spheres */
    double broad_seconds, narrow_seconds; /* the best */
} pipeline;

/* How a frame is done. */
typedef struct phases {
    const char *series, *broad, *narrow; /* the algorithms */
    carom_broad_method method;
    carom_convex_query_def def;
} phases;

static const phases ours = {"", "box tree", "balls then ISA-GJK", CAROM_BROAD_METHOD_TREE, {0}};
static const phases ours_on_gpu = {
    "", "grid of cells", "balls then ISA-GJK", CAROM_BROAD_METHOD_AUTO, {0}};
static const phases thesis = {"sweep, every pair to GJK: ",
                              "sweep and prune",
                              "ISA-GJK",
                              CAROM_BROAD_METHOD_SWEEP,
                              {.gjk_only = true}};

/* The contexts of the two phases. In the thesis the first is on a GPU, the second on one core. */
typedef struct phase_contexts {
    carom_context *broad, *narrow;
} phase_contexts;

static bool pipeline_open(pipeline *p, const phase_contexts *at, const phases *way, uint64_t size) {
    carom_mesh *mesh;
    carom_mesh_view view;
    const carom_shape_def ball = {.shape = CAROM_SHAPE_SPHERE, .detail = 2};
    *p = (pipeline){.broad_seconds = HUGE_VAL, .narrow_seconds = HUGE_VAL};
    bool good = scene_boxes_make(size, SCENE_BOXES_MONO, SEED, &p->boxes) &&
                carom_shape_make(at->narrow, &ball, &mesh) == CAROM_OK;
    if (!good) return false;
    good = carom_mesh_get_view(mesh, &view) == CAROM_OK &&
           carom_hull_create(at->narrow, &(carom_hull_def){.mesh = &view}, &p->hull) == CAROM_OK;
    p->triangles = size * view.face_count;
    carom_mesh_destroy(mesh);
    const carom_broad_def def = {
        .boxes = p->boxes.bounds, .box_count = size, .method = way->method};
    p->shape = (carom_convex){.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = p->hull};
    return good && carom_broad_create(at->broad, &def, &p->broad) == CAROM_OK;
}

static void pipeline_close(pipeline *p) {
    free(p->posed_pairs);
    free(p->meet);
    carom_pairs_free(&p->pairs);
    carom_broad_destroy(p->broad);
    carom_hull_destroy(p->hull);
    scene_boxes_free(&p->boxes);
}

/* Gives each pair of boxes its spheres and their poses; false when there is no memory for it. */
static bool pose_pairs_of(pipeline *p) {
    uint64_t count = p->pairs.count;
    if (count > p->capacity) {
        free(p->posed_pairs);
        free(p->meet);
        p->capacity = 2 * count;
        p->posed_pairs = malloc(p->capacity * sizeof(*p->posed_pairs));
        p->meet = malloc(p->capacity * sizeof(*p->meet));
        if (p->posed_pairs == NULL || p->meet == NULL) return false;
    }
    for (uint64_t i = 0; i < count; ++i)
        p->posed_pairs[i] =
            (carom_convex_pair){.a = &p->shape,
                                .b = &p->shape,
                                .pose_a = {.t = p->boxes.centres[p->pairs.data[i].a]},
                                .pose_b = {.t = p->boxes.centres[p->pairs.data[i].b]}};
    return true;
}

/* One frame: boxes moved, pairs of boxes, whether the spheres in them meet. */
static bool step(const papers_lab *lab, pipeline *p, const phase_contexts *at, const phases *way) {
    scene_boxes_move(&p->boxes, 0, p->boxes.count);
    double start = papers_now(lab, at->broad);
    if (carom_broad_move(at->broad, p->broad, NULL, p->boxes.bounds, p->boxes.count) != CAROM_OK ||
        carom_broad_step(at->broad, p->broad, &p->pairs, NULL, NULL) != CAROM_OK)
        return false;
    double between = papers_now(lab, at->broad);
    if (!pose_pairs_of(p)) return false;
    double posed = papers_now(lab, at->narrow); /* posing them is no part of ISA-GJK */
    if (carom_convex_meet_batch(at->narrow, p->posed_pairs, p->pairs.count, &way->def, p->meet) !=
        CAROM_OK)
        return false;
    double end = papers_now(lab, at->narrow);
    p->met = 0;
    for (uint64_t i = 0; i < p->pairs.count; ++i) p->met += p->meet[i];
    p->broad_seconds = fmin(p->broad_seconds, between - start);
    p->narrow_seconds = fmin(p->narrow_seconds, end - posed);
    return true;
}

/* Adds two rows, or one where the second phase is not on the device of the first; `met` gets the
 * pairs of spheres in the last frame, which both ways have equally many of. */
static bool add_phases(papers_plot *plot, const phase_contexts *at, const phases *way,
                       const char *name, uint64_t size, uint64_t *met) {
    pipeline p;
    char series[64];
    bool good = pipeline_open(&p, at, way, size);
    for (int turn = 0; turn < 2 + turns_of(plot->lab) && good; ++turn) {
        good = step(plot->lab, &p, at, way);
        if (turn == 0) p.broad_seconds = p.narrow_seconds = HUGE_VAL; /* it warms up */
    }
    double pairs = (double)p.pairs.count, count = (double)size;
    double broad = 1e3 * p.broad_seconds, narrow = 1e3 * p.narrow_seconds;
    uint64_t triangles = p.triangles;
    *met = p.met;
    pipeline_close(&p);
    if (!good) return false;
    snprintf(series, sizeof(series), "%sbroad phase%s", way->series, name);
    add(plot, at->broad, way->broad, triangles, series, (const double[]){count, broad, pairs});
    snprintf(series, sizeof(series), "%sISA-GJK%s", way->series, name);
    if (at->broad == at->narrow)
        add(plot, at->narrow, way->narrow, triangles, series,
            (const double[]){count, narrow, pairs});
    return true;
}

static bool figure_13(papers_plot *plot) {
    papers_lab *lab = plot->lab;
    const phase_contexts one = {lab->serial, lab->serial}, all = {lab->parallel, lab->parallel};
    const phase_contexts gpu = {lab->device, lab->device}, as_printed = {lab->device, lab->serial};
    for (int i = 0; i < size_count(lab); ++i) {
        uint64_t size = size_at(lab, i), met[4];
        if (!lab->device_only &&
            (!add_phases(plot, &one, &thesis, "", size, &met[0]) ||
             !add_phases(plot, &one, &ours, "", size, &met[1]) ||
             !add_phases(plot, &all, &thesis, ", all threads", size, &met[2]) ||
             !add_phases(plot, &all, &ours, ", all threads", size, &met[3]) || met[0] != met[1] ||
             met[0] != met[2] || met[0] != met[3]))
            return false;
        if (lab->device != NULL &&
            (!add_phases(plot, &as_printed, &thesis, ", GPU", size, &met[0]) ||
             !add_phases(plot, &gpu, &ours_on_gpu, ", GPU", size, &met[1]) || met[0] != met[1]))
            return false;
    }
    return true;
}

static const papers_figure figures[] = {
    {"loi2010-fig10",
     "Figure 10: the broad phase with cells that vary with the scene, and with cells of edge 3",
     "Cells that vary with the objects, N/64000 of them rounded up, are faster than cells of 3. "
     "GeForce GTX 470; the axes' numbers are not in the text.",
     {"objects", "ms", "pairs", "cells", "entries", "steps", "bound"},
     {{"Bounds to pairs", "objects", "ms", 0, 1, 2, NULL, false, false}},
     figure_10,
     true,
     NULL},
    {"loi2010-fig11",
     "Figure 11: ISA-GJK with hill climbing and without, shapes apart and meeting",
     "Hill climbing is much faster as triangles get more; meeting takes longer than apart. AMD X2 "
     "5600+.",
     {"triangles", "us"},
     {{"Time of one pair of spheres", "triangles", "us", 0, 1, 2, "spheres", false, false},
      {"Time of one pair of stretched spheres", "triangles", "us", 0, 1, 2, "stretched", false,
       false}},
     figure_11,
     false,
     NULL},
    {"loi2010-fig12",
     "Figure 12: pairs that the broad phase leaves",
     "The pairs grow with the objects.",
     {"objects", "pairs", "pairs_per_object"},
     {{"Pairs of boxes", "objects", "pairs", 0, 1, 2, NULL, false, false}},
     figure_12,
     false,
     NULL},
    {"loi2010-fig13",
     "Figure 13: the broad phase and ISA-GJK",
     "The broad phase (GTX 470) scales well, ISA-GJK (one core) does not, as the pairs get more.",
     {"objects", "ms", "pairs"},
     {{"Time of a frame", "objects", "ms", 0, 1, 2, NULL, false, false},
      {"In the thesis's way", "objects", "ms", 0, 1, 2, "sweep, every pair to GJK", false, false}},
     figure_13,
     true,
     NULL},
};

const papers_paper papers_loi2010 = {2010, "loi2010",
                                     "Loi 2010: Fast GPU-based Collision Detection", figures,
                                     sizeof(figures) / sizeof(figures[0])};
