/* SPDX-License-Identifier: MIT */
/* Weller, Zachmann 2009: paths, the volume and the force along one of them (Figure 6), distances
 * (7), volumes (8), and both per frame (9).
 *
 * The paper's paths were recorded by hand and are not public. Ours pass through key poses: around
 * the first object, turning, with the gaps (0 to 20 % of the diagonal) or overlaps (0 to 10 % of
 * the smaller volume, some of 50 %) that the paper names, found by exact queries. Between keys the
 * path is smooth, and distances and overlaps are what they are. The models stand for the paper's:
 * two cows for cow and pig, the armadillo for the oil pump, screw and nut for the bolt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/ist2009.h"
#include "bench/papers.h"
#include "bench/peers/peers.h"
#include "scenes/paths.h"

#define MOST_FRAMES 241
#define KEYS        13

/* Algorithms of the rows: the trees are of octree packings, with halves along the longest side. */
#define EXACT          "exact: faces"
#define TREE           "sphere tree"
#define TREE_AND_FACES "sphere tree and faces"

/* Two solids and a path of the second. */
typedef struct scene {
    const papers_solid *a, *b;
    carom_soup *soup_a, *soup_b;
    carom_solid *solid_a, *solid_b;
    double volume; /* the smaller */
    uint32_t frames;
    carom_pose poses[MOST_FRAMES];
    double truth[MOST_FRAMES]; /* exact distance or volume */
} scene;

/* A row measured on one thread; the triangles are those of both, once where one is a copy. */
static void add(papers_plot *plot, const scene *s, const char *algorithm, const char *series,
                const double *values) {
    uint64_t triangles = s->a->view.face_count + (s->a == s->b ? 0 : s->b->view.face_count);
    const papers_source source = {algorithm, PAPERS_ONE_THREAD, triangles};
    papers_add(plot, &source, series, values);
}

static void scene_close(scene *s) {
    carom_soup_destroy(s->soup_a);
    carom_soup_destroy(s->soup_b);
    carom_solid_destroy(s->solid_a);
    carom_solid_destroy(s->solid_b);
}

static bool scene_open(scene *s, papers_lab *lab, const papers_solid *a, const papers_solid *b) {
    carom_solid_info of_a, of_b;
    *s = (scene){.a = a, .b = b, .frames = lab->quick ? 17 : MOST_FRAMES};
    if (a == NULL || b == NULL) return false;
    const carom_soup_def soup_a = {.mesh = &a->view, .rigid = true};
    const carom_soup_def soup_b = {.mesh = &b->view, .rigid = true};
    if (carom_soup_create(lab->parallel, &soup_a, &s->soup_a) != CAROM_OK ||
        carom_soup_create(lab->parallel, &soup_b, &s->soup_b) != CAROM_OK ||
        carom_solid_create(lab->parallel, &(carom_solid_def){.mesh = &a->view}, &s->solid_a) !=
            CAROM_OK ||
        carom_solid_create(lab->parallel, &(carom_solid_def){.mesh = &b->view}, &s->solid_b) !=
            CAROM_OK ||
        carom_solid_get_info(s->solid_a, &of_a) != CAROM_OK ||
        carom_solid_get_info(s->solid_b, &of_b) != CAROM_OK)
        return false;
    s->volume = fmin(of_a.volume, of_b.volume);
    return true;
}

static bool get_distance(papers_lab *lab, const scene *s, const carom_pose *pose,
                         double *distance) {
    carom_soup_gap gap;
    if (carom_soup_cross_distance(lab->serial, s->soup_a, NULL, s->soup_b, pose, 0.0, &gap) !=
        CAROM_OK)
        return false;
    *distance = gap.distance;
    return true;
}

static bool get_overlap(papers_lab *lab, const scene *s, const carom_pose *pose,
                        carom_solid_result *overlap) {
    return carom_solid_overlap(lab->serial, s->solid_a, NULL, s->solid_b, pose, NULL, overlap) ==
           CAROM_OK;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* Key k: its direction from a, on a curve around it, and its turn. */
static carom_pose key_pose(int k, carom_vec3 *way) {
    double angle = 0.42 * k, lift = 0.6 * sin(0.9 * k);
    double length = sqrt(1.0 + lift * lift), turn = 0.25 * k;
    *way = (carom_vec3){cos(angle) / length, sin(angle) / length, lift / length};
    return (carom_pose){{cos(turn), 0.48 * sin(turn), 0.6 * sin(turn), 0.64 * sin(turn)},
                        {0.0, 0.0, 0.0}};
}

static void move_to(carom_pose *pose, carom_vec3 way, double far) {
    pose->t = (carom_vec3){far * way.x, far * way.y, far * way.z};
}

#define FAR 2.1 /* diagonals are 2: nothing meets there */

/* The distance is 1-Lipschitz, so steps of what is too much never go too far. */
static bool set_gap(papers_lab *lab, const scene *s, carom_pose *pose, carom_vec3 way,
                    double wanted, double *far) {
    double distance;
    *far = FAR;
    for (int i = 0; i < 60; ++i) {
        move_to(pose, way, *far);
        if (!get_distance(lab, s, pose, &distance)) return false;
        if (distance - wanted < 1e-4) break;
        *far -= distance - wanted;
    }
    return true;
}

/* Halves between contact and the middle; the overlap need not grow all the way, but it is found
 * somewhere where it is about as wanted. */
static bool set_overlap(papers_lab *lab, const scene *s, carom_pose *pose, carom_vec3 way,
                        double wanted) {
    double out, in = 0.0;
    if (!set_gap(lab, s, pose, way, 0.0, &out)) return false;
    for (int i = 0; i < 12; ++i) {
        double middle = 0.5 * (in + out);
        carom_solid_result overlap;
        move_to(pose, way, middle);
        if (!get_overlap(lab, s, pose, &overlap)) return false;
        if (overlap.volume > wanted * s->volume)
            in = middle;
        else
            out = middle;
    }
    return true;
}

/* Gaps of 0.5 to 20 % of the diagonal, and back. */
static bool path_apart(papers_lab *lab, scene *s) {
    carom_pose keys[KEYS];
    for (int k = 0; k < KEYS; ++k) {
        carom_vec3 way;
        double far, share = 0.005 + 0.195 * pow(0.5 - 0.5 * cos(1.05 * k), 2.0);
        keys[k] = key_pose(k, &way);
        if (!set_gap(lab, s, &keys[k], way, 2.0 * share, &far)) return false;
    }
    scene_path_through(keys, KEYS, s->frames, s->poses);
    for (uint32_t i = 0; i < s->frames; ++i)
        if (!get_distance(lab, s, &s->poses[i], &s->truth[i])) return false;
    return true;
}

/* Overlaps of 0 to 10 % of the smaller volume; two keys of 50 % where `deep`. */
static bool path_into(papers_lab *lab, scene *s, bool deep) {
    carom_pose keys[KEYS];
    for (int k = 0; k < KEYS; ++k) {
        carom_vec3 way;
        double wanted = 0.1 * (0.5 - 0.5 * cos(1.57 * k));
        keys[k] = key_pose(k, &way);
        if (deep && (k == 4 || k == 8)) wanted = 0.5;
        if (!set_overlap(lab, s, &keys[k], way, wanted)) return false;
    }
    scene_path_through(keys, KEYS, s->frames, s->poses);
    for (uint32_t i = 0; i < s->frames; ++i) {
        carom_solid_result overlap;
        if (!get_overlap(lab, s, &s->poses[i], &overlap)) return false;
        s->truth[i] = overlap.volume;
    }
    return true;
}

/* Along a's side, on a straight line past it, at the depth at which they overlap by 4 % in the
 * middle. */
static bool path_along(papers_lab *lab, scene *s) {
    carom_pose middle = {{0.966, 0.0, 0.0, 0.259}, {0.0, 0.0, 0.0}};
    if (!set_overlap(lab, s, &middle, (carom_vec3){0.0, 0.0, 1.0}, 0.04)) return false;
    for (uint32_t i = 0; i < s->frames; ++i) {
        double at = 2.0 * i / (s->frames - 1.0) - 1.0;
        carom_solid_result overlap;
        s->poses[i] = middle;
        s->poses[i].t.x += 1.6 * at;
        if (!get_overlap(lab, s, &s->poses[i], &overlap)) return false;
        s->truth[i] = overlap.volume;
    }
    return true;
}

/* ---- The scenes ------------------------------------------------------------------------------ */

static const carom_shape_def small_knot = {.shape = CAROM_SHAPE_KNOT, .detail = 32};
static const carom_shape_def small_torus = {.shape = CAROM_SHAPE_TORUS, .detail = 20};

static bool open_cows(scene *s, papers_lab *lab) {
    static const carom_shape_def knot = {.shape = CAROM_SHAPE_KNOT};
    static const carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS, .detail = 96};
    return scene_open(
        s, lab, papers_get_solid(lab, "cow.obj", "cow", lab->quick ? &small_knot : &knot),
        papers_get_solid(lab, "spot.obj", "spot", lab->quick ? &small_torus : &torus));
}

static bool open_armadillos(scene *s, papers_lab *lab) {
    static const carom_shape_def chain = {.shape = CAROM_SHAPE_CHAIN, .detail = 112};
    const papers_solid *solid = papers_get_solid(lab, "armadillo_100k.obj.gz", "armadillo",
                                                 lab->quick ? &small_torus : &chain);
    return scene_open(s, lab, solid, solid);
}

static bool open_screw(scene *s, papers_lab *lab) {
    static const carom_shape_def cone = {.shape = CAROM_SHAPE_CONE, .detail = 256};
    static const carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS, .detail = 128};
    return scene_open(
        s, lab, papers_get_solid(lab, "screw-big.stl", "screw", lab->quick ? &small_knot : &cone),
        papers_get_solid(lab, "nut-big.stl", "nut", lab->quick ? &small_torus : &torus));
}

/* ---- Trees ----------------------------------------------------------------------------------- */

typedef struct trees {
    papers_lab *lab;
    const scene *scene;
    carom_tree *a, *b;
    carom_tree_hint hint;
    uint32_t at;
    carom_packing_overlap overlap;
    carom_tree_gap gap;
    carom_solid_result exact;
    void *peer;
    peer_distance_fn *peer_distance;
    double peer_answer;
} trees;

static bool trees_open(trees *t, papers_lab *lab, const scene *s, uint64_t count, bool faces) {
    *t = (trees){.lab = lab, .scene = s};
    const carom_packing *of_a = papers_get_packing(lab, s->a, count);
    const carom_packing *of_b = papers_get_packing(lab, s->b, count);
    if (of_a == NULL || of_b == NULL) return false;
    carom_tree_def a = {.packing = of_a}, b = {.packing = of_b};
    if (faces) a.mesh = &s->a->view, b.mesh = &s->b->view;
    return carom_tree_create(lab->parallel, &a, &t->a) == CAROM_OK &&
           carom_tree_create(lab->parallel, &b, &t->b) == CAROM_OK;
}

static void trees_close(trees *t) {
    carom_tree_destroy(t->a);
    carom_tree_destroy(t->b);
}

static bool query_overlap(void *input) {
    trees *t = input;
    return carom_tree_overlap(t->lab->serial, t->a, NULL, t->b, &t->scene->poses[t->at], NULL,
                              &t->overlap) == CAROM_OK;
}

/* From the hint of the frame before, as along a path. */
static bool query_gap(void *input) {
    trees *t = input;
    carom_tree_hint hint = t->hint;
    const carom_tree_query_def def = {.hint = &hint};
    return carom_tree_distance(t->lab->serial, t->a, NULL, t->b, &t->scene->poses[t->at], &def,
                               &t->gap) == CAROM_OK;
}

/* The hint for the next frame. */
static bool keep_hint(trees *t) {
    const carom_tree_query_def def = {.hint = &t->hint};
    return carom_tree_distance(t->lab->serial, t->a, NULL, t->b, &t->scene->poses[t->at], &def,
                               &t->gap) == CAROM_OK;
}

static bool query_solid(void *input) {
    trees *t = input;
    return get_overlap(t->lab, t->scene, &t->scene->poses[t->at], &t->exact);
}

static bool query_soup(void *input) {
    trees *t = input;
    double distance;
    return get_distance(t->lab, t->scene, &t->scene->poses[t->at], &distance);
}

/* FCL's distance of a mesh to itself in a pose; single precision input. */
static bool query_fcl(void *input) {
    trees *t = input;
    const carom_pose *pose = &t->scene->poses[t->at];
    const carom_vec3 axes[4] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}};
    double m[12];
    for (int k = 0; k < 4; ++k) {
        carom_vec3 column = scene_pose_apply(pose, axes[k]);
        const double values[3] = {column.x, column.y, column.z};
        const double origin[3] = {pose->t.x, pose->t.y, pose->t.z};
        for (int row = 0; row < 3; ++row)
            m[4 * row + k] = k < 3 ? values[row] - origin[row] : values[row];
    }
    t->peer_answer = t->peer_distance(t->peer, m);
    return isfinite(t->peer_answer);
}

/* What the frames of a path take, and how far the answers are off. */
typedef struct path_times {
    double mean, most; /* seconds */
    double error;      /* mean of the relative errors of frames that count */
    uint32_t frames;   /* of these */
} path_times;

/* Times all frames; the answers of trees are compared with the truth where it is above `least`. */
static bool time_path(trees *t, bool (*query)(void *), double least, path_times *out) {
    const scene *s = t->scene;
    *out = (path_times){.mean = 0.0};
    t->hint = (carom_tree_hint){{0}};
    for (t->at = 0; t->at < s->frames; ++t->at) {
        double seconds =
            papers_best_seconds(t->lab, t->lab->serial, query, t, t->lab->quick ? 1 : 3);
        if (seconds < 0.0 || (query == query_gap && !keep_hint(t))) return false;
        out->mean += seconds / s->frames;
        out->most = fmax(out->most, seconds);
        double truth = s->truth[t->at];
        if (!(truth > least)) continue;
        double answer = query == query_gap       ? t->gap.distance.value
                        : query == query_overlap ? t->overlap.volume.value
                        : query == query_fcl     ? t->peer_answer
                                                 : truth;
        out->error += fabs(answer / truth - 1.0);
        ++out->frames;
    }
    if (out->frames > 0) out->error /= out->frames;
    return true;
}

/* ---- The paths as a figure ------------------------------------------------------------------- */

static bool add_path(papers_plot *plot, const char *series, scene *s) {
    papers_lab *lab = plot->lab;
    for (uint32_t i = 0; i < s->frames; ++i) {
        const carom_pose *p = &s->poses[i];
        carom_solid_result overlap;
        double distance;
        if (!get_distance(lab, s, p, &distance) || !get_overlap(lab, s, p, &overlap)) return false;
        add(plot, s, EXACT, series,
            (const double[]){i, p->t.x, p->t.y, p->t.z, p->q.w, p->q.x, p->q.y, p->q.z,
                             0.5 * distance, overlap.volume / s->volume});
    }
    const carom_packing *a = papers_get_packing(lab, s->a, lab->quick ? 30 : 1000);
    const carom_packing *b = papers_get_packing(lab, s->b, lab->quick ? 30 : 1000);
    if (a == NULL || b == NULL) return false;
    char caption[160];
    snprintf(caption, sizeof(caption), "%s: %s and %s, frame %u", series, s->a->name, s->b->name,
             s->frames / 2);
    papers_add_balls(plot, caption, a, b, &s->poses[s->frames / 2]);
    return true;
}

static bool paths(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    bool good = open_cows(&s, lab) && path_along(lab, &s) && add_path(plot, "along", &s);
    scene_close(&s);
    if (!good) return false;
    good = open_armadillos(&s, lab) && path_apart(lab, &s) && add_path(plot, "apart", &s);
    scene_close(&s);
    if (!good) return false;
    good = open_screw(&s, lab) && path_into(lab, &s, true) && add_path(plot, "into", &s);
    scene_close(&s);
    return good;
}

/* ---- Figure 6 -------------------------------------------------------------------------------- */

static double length_of(carom_vec3 v) {
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

static void add_force(papers_plot *plot, const scene *s, const char *algorithm, const char *series,
                      uint32_t frame, double volume, carom_vec3 v) {
    double length = length_of(v), scale = length > 0.0 ? 1.0 / length : 0.0;
    add(plot, s, algorithm, series,
        (const double[]){frame, volume, scale * v.x, scale * v.y, scale * v.z});
}

static bool figure_6(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    trees t = {.lab = lab};
    uint64_t spheres = lab->quick ? 100 : 20000;
    bool good =
        open_cows(&s, lab) && path_along(lab, &s) && trees_open(&t, lab, &s, spheres, false);
    double jump = 0.0, most = 0.0;
    carom_vec3 before = {0.0, 0.0, 0.0};
    for (t.at = 0; t.at < s.frames && good; ++t.at) {
        good = query_overlap(&t) && query_solid(&t);
        add_force(plot, &s, TREE, "spheres", t.at, t.overlap.volume.value, t.overlap.force);
        add_force(plot, &s, TREE, "spheres, 2009", t.at, t.overlap.volume.value,
                  t.overlap.direction_2009);
        add_force(plot, &s, EXACT, "exact", t.at, t.exact.volume, t.exact.force);
        carom_vec3 f = t.overlap.force;
        jump = fmax(jump, length_of((carom_vec3){f.x - before.x, f.y - before.y, f.z - before.z}));
        most = fmax(most, length_of(f));
        before = f;
    }
    if (good)
        papers_note(plot,
                    "%llu spheres each; the largest step of the force from frame to frame is "
                    "%.3g of a force of up to %.3g",
                    (unsigned long long)spheres, jump, most);
    trees_close(&t);
    scene_close(&s);
    return good;
}

/* ---- Figures 7, 8 and 9 ---------------------------------------------------------------------- */

static const uint64_t counts[] = {1000, 4000, 16000, 64000, 240000};

static int count_of_counts(const papers_lab *lab) {
    return lab->quick ? 2 : 5;
}

static uint64_t count_at(const papers_lab *lab, int i) {
    return lab->quick ? 50 * (uint64_t)(i + 1) : counts[i];
}

static void add_path_times(papers_plot *plot, const scene *s, const char *algorithm,
                           const char *series, uint64_t count, const path_times *t) {
    add(plot, s, algorithm, series,
        (const double[]){(double)count, 1e6 * t->mean, 1e6 * t->most, 100.0 * t->error});
}

/* The exact answers, which do not depend on the spheres: drawn as level lines. */
static bool add_exact(papers_plot *plot, const scene *s, bool (*query)(void *),
                      const char *series) {
    trees t = {.lab = plot->lab, .scene = s};
    path_times exact;
    if (!time_path(&t, query, HUGE_VAL, &exact)) return false;
    for (int i = 0; i < count_of_counts(plot->lab); ++i)
        add_path_times(plot, s, EXACT, series, count_at(plot->lab, i), &exact);
    return true;
}

#define LEAST_GAP 0.004 /* of 2: relative errors of smaller distances say little */

/* FCL instead of PQP, which is not free; left out where the peers were not built. */
static bool add_fcl(papers_plot *plot, const scene *s) {
    peer_prepare_fn *prepare = (peer_prepare_fn *)bench_peer("peer_fcl_prepare");
    peer_release_fn *release = (peer_release_fn *)bench_peer("peer_fcl_release");
    trees t = {.lab = plot->lab, .scene = s};
    t.peer_distance = (peer_distance_fn *)bench_peer("peer_fcl_distance");
    if (prepare == NULL || release == NULL || t.peer_distance == NULL) {
        papers_note(plot, "without FCL: the module of other libraries is not built (carom_peers)");
        return true;
    }
    const carom_mesh_view *view = &s->a->view;
    float *positions = malloc(3 * view->vertex_count * sizeof(*positions));
    path_times found;
    bool good = positions != NULL && s->a == s->b && view->offsets == NULL;
    if (good) {
        const double *from = view->positions;
        for (uint64_t i = 0; i < 3 * view->vertex_count; ++i) positions[i] = (float)from[i];
        const peer_mesh mesh = {positions, view->corners, view->vertex_count, view->face_count};
        t.peer = prepare(&mesh);
        good = t.peer != NULL && time_path(&t, query_fcl, LEAST_GAP, &found);
        if (t.peer != NULL) release(t.peer);
    }
    free(positions);
    for (int i = 0; i < count_of_counts(plot->lab) && good; ++i)
        add_path_times(plot, s, "FCL: OBBRSS tree", "FCL", count_at(plot->lab, i), &found);
    if (good)
        papers_note(plot,
                    "FCL: %.1f us on average, %.1f at most, %.2g %% off; on float32 positions",
                    1e6 * found.mean, 1e6 * found.most, 100.0 * found.error);
    return good;
}

static bool figure_7(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    bool good = open_armadillos(&s, lab) && path_apart(lab, &s) &&
                add_exact(plot, &s, query_soup, "exact (soup)") && add_fcl(plot, &s);
    for (int i = 0; i < count_of_counts(lab) && good; ++i) {
        for (int faces = 0; faces < 2 && good; ++faces) {
            trees t;
            path_times found;
            good = trees_open(&t, lab, &s, count_at(lab, i), faces != 0) &&
                   time_path(&t, query_gap, LEAST_GAP, &found);
            trees_close(&t);
            if (good)
                add_path_times(plot, &s, faces != 0 ? TREE_AND_FACES : TREE,
                               faces != 0 ? "spheres and faces" : "spheres", count_at(lab, i),
                               &found);
        }
    }
    scene_close(&s);
    return good;
}

#define LEAST_OVERLAP 0.001 /* of the smaller volume, for the same reason */

static bool figure_8(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    bool good = true;
    for (int deep = 0; deep < 2 && good; ++deep) {
        good = open_screw(&s, lab) && path_into(lab, &s, deep != 0) &&
               (deep != 0 || add_exact(plot, &s, query_solid, "exact (solid)"));
        for (int i = 0; i < count_of_counts(lab) && good; ++i) {
            trees t;
            path_times found;
            good = trees_open(&t, lab, &s, count_at(lab, i), false) &&
                   time_path(&t, query_overlap, LEAST_OVERLAP * s.volume, &found);
            trees_close(&t);
            if (good)
                add_path_times(plot, &s, TREE, deep != 0 ? "deep" : "light", count_at(lab, i),
                               &found);
        }
        scene_close(&s);
    }
    return good;
}

/* How far a curve of Figure 9 is from the exact one. */
typedef struct deviation {
    double sum, most;
    uint32_t frames;
} deviation;

static void deviation_add(deviation *d, double off) {
    d->sum += fabs(off);
    d->most = fmax(d->most, fabs(off));
    ++d->frames;
}

static void deviation_note(papers_plot *plot, const char *series, const char *unit,
                           const deviation *d) {
    papers_note(plot, "%s: %.3f %% of the %s off on average, at most %.3f %%", series,
                100.0 * d->sum / d->frames, unit, 100.0 * d->most);
}

static bool figure_9a(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    bool good = open_armadillos(&s, lab) && path_apart(lab, &s);
    for (uint32_t i = 0; i < s.frames && good; ++i)
        add(plot, &s, EXACT, "exact", (const double[]){i, 0.5 * s.truth[i]});
    for (int k = 0; k < (lab->quick ? 1 : 3) && good; ++k) {
        trees t;
        deviation off = {.frames = 0};
        char series[40];
        good = trees_open(&t, lab, &s, count_at(lab, k), false);
        snprintf(series, sizeof(series), "%llu spheres", (unsigned long long)count_at(lab, k));
        for (t.at = 0; t.at < s.frames && good; ++t.at) {
            good = keep_hint(&t);
            add(plot, &s, TREE, series, (const double[]){t.at, 0.5 * t.gap.distance.value});
            deviation_add(&off, 0.5 * (t.gap.distance.value - s.truth[t.at]));
        }
        deviation_note(plot, series, "diagonal", &off);
        trees_close(&t);
    }
    scene_close(&s);
    return good;
}

static bool figure_9b(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    bool good = open_screw(&s, lab) && path_into(lab, &s, false);
    for (uint32_t i = 0; i < s.frames && good; ++i)
        add(plot, &s, EXACT, "exact", (const double[]){i, s.truth[i] / s.volume});
    for (int k = 0; k < (lab->quick ? 1 : 3) && good; ++k) {
        trees t;
        deviation off = {.frames = 0};
        char series[40];
        good = trees_open(&t, lab, &s, count_at(lab, k), false);
        snprintf(series, sizeof(series), "%llu spheres", (unsigned long long)count_at(lab, k));
        for (t.at = 0; t.at < s.frames && good; ++t.at) {
            good = query_overlap(&t);
            add(plot, &s, TREE, series, (const double[]){t.at, t.overlap.volume.value / s.volume});
            deviation_add(&off, (t.overlap.volume.value - s.truth[t.at]) / s.volume);
        }
        deviation_note(plot, series, "smaller volume", &off);
        trees_close(&t);
    }
    scene_close(&s);
    return good;
}

/* ---- The unified algorithm ------------------------------------------------------------------- */

/* What the frames of a path cost, those that overlap and those that do not. */
typedef struct query_cost {
    double visits[2], seconds[2];
    uint32_t frames[2];
} query_cost;

typedef struct ist_input {
    const ist_tree *a, *b;
    const carom_pose *pose;
    bool twice;
    ist_result result;
} ist_input;

static bool query_ist(void *input) {
    ist_input *in = input;
    return (in->twice ? ist_query_twice : ist_query_unified)(in->a, in->b, in->pose, &in->result);
}

static void add_cost(papers_plot *plot, const scene *s, const char *algorithm, const char *series,
                     uint64_t spheres, const query_cost *c) {
    double values[5] = {(double)spheres};
    for (int k = 0; k < 2; ++k) {
        values[1 + k] = c->frames[k] > 0 ? c->visits[k] / c->frames[k] : 0.0;
        values[3 + k] = c->frames[k] > 0 ? 1e6 * c->seconds[k] / c->frames[k] : 0.0;
    }
    add(plot, s, algorithm, series, values);
}

#define NEARLY 1e-9 /* of the answer: what sums in another order may differ by */

/* The paper's queries on its hierarchy of one kind. Volumes and distances are those of our tree,
 * which are of the same spheres. */
static bool add_printed(papers_plot *plot, const scene *s, const trees *t, uint64_t count,
                        const ist_tree *a, const ist_tree *b, bool twice, const char *algorithm,
                        const char *series) {
    papers_lab *lab = plot->lab;
    query_cost cost = {.frames = {0, 0}};
    ist_input in = {.a = a, .b = b, .twice = twice};
    for (uint32_t i = 0; i < s->frames; ++i) {
        carom_tree_result ours;
        in.pose = &s->poses[i];
        double seconds = papers_best_seconds(lab, lab->serial, query_ist, &in, 1);
        if (seconds < 0.0 ||
            carom_tree_query(lab->serial, t->a, NULL, t->b, in.pose, NULL, &ours) != CAROM_OK)
            return false;
        bool apart = !(in.result.volume > 0.0);
        double volume = ours.overlap.volume.lower, distance = ours.gap.distance.value;
        if (fabs(in.result.volume - volume) > NEARLY * fmax(volume, NEARLY) + NEARLY ||
            (apart && ours.has_gap &&
             fabs(in.result.distance - distance) > NEARLY + distance * NEARLY))
            return false;
        cost.visits[apart] += (double)in.result.visits;
        cost.seconds[apart] += seconds;
        ++cost.frames[apart];
    }
    add_cost(plot, s, algorithm, series, count, &cost);
    return true;
}

typedef struct our_input {
    carom_context *context;
    const trees *t;
    const carom_pose *pose;
    carom_tree_result result;
} our_input;

static bool query_ours(void *input) {
    our_input *in = input;
    return carom_tree_query(in->context, in->t->a, NULL, in->t->b, in->pose, NULL, &in->result) ==
           CAROM_OK;
}

static bool add_ours(papers_plot *plot, const scene *s, const trees *t, uint64_t count,
                     const char *algorithm, const char *series) {
    papers_lab *lab = plot->lab;
    query_cost cost = {.frames = {0, 0}};
    our_input in = {.context = lab->serial, .t = t};
    for (uint32_t i = 0; i < s->frames; ++i) {
        carom_work work;
        in.pose = &s->poses[i];
        double seconds = papers_best_seconds(lab, lab->serial, query_ours, &in, 1);
        if (seconds < 0.0 || carom_context_get_work(lab->serial, &work) != CAROM_OK) return false;
        bool apart = !(in.result.overlap.volume.lower > 0.0);
        cost.visits[apart] += (double)work.visits;
        cost.seconds[apart] += seconds;
        ++cost.frames[apart];
    }
    add_cost(plot, s, algorithm, series, count, &cost);
    return true;
}

/* Our engine with the paper's clusters and with halves, of equal and of other arity. */
static bool add_all_ours(papers_plot *plot, const scene *s, uint64_t count) {
    static const struct {
        const char *algorithm, *series;
        carom_tree_method method;
        uint32_t arity;
    } ways[] = {
        {"sphere tree: halves of 16", "ours: halves, 16 children", CAROM_TREE_METHOD_MEDIAN, 16},
        {"sphere tree: halves of 4", "ours: halves, 4 children", CAROM_TREE_METHOD_MEDIAN, 4},
        {"sphere tree: neural gas of 16", "ours: neural gas, 16 children",
         CAROM_TREE_METHOD_NEURAL_GAS, 16},
        {"sphere tree: neural gas of 4", "ours: neural gas, 4 children",
         CAROM_TREE_METHOD_NEURAL_GAS, 4}};
    papers_lab *lab = plot->lab;
    for (int i = 0; i < 4; ++i) {
        trees t = {.lab = lab, .scene = s};
        carom_tree_def a = {.packing = papers_get_packing(lab, s->a, count),
                            .method = ways[i].method,
                            .arity = ways[i].arity};
        carom_tree_def b = a;
        b.packing = papers_get_packing(lab, s->b, count);
        bool good = a.packing != NULL && b.packing != NULL &&
                    carom_tree_create(lab->parallel, &a, &t.a) == CAROM_OK &&
                    carom_tree_create(lab->parallel, &b, &t.b) == CAROM_OK &&
                    add_ours(plot, s, &t, count, ways[i].algorithm, ways[i].series);
        trees_close(&t);
        if (!good) return false;
    }
    return true;
}

static const char *const split_names[IST_SPLITS] = {
    "neural gas", "biggest spheres", "most neighbours", "least volume", "least volume outside"};

static const char *split_kind(int split) {
    return split < IST_PRINTED_SPLITS ? "as printed" : "future work";
}

static bool add_all_printed(papers_plot *plot, const scene *s, uint64_t count) {
    papers_lab *lab = plot->lab;
    trees t;
    carom_packing_spheres of_a = {0}, of_b = {0};
    bool good = trees_open(&t, lab, s, count, false) &&
                carom_packing_list_spheres(lab->serial, papers_get_packing(lab, s->a, count),
                                           &of_a) == CAROM_OK &&
                carom_packing_list_spheres(lab->serial, papers_get_packing(lab, s->b, count),
                                           &of_b) == CAROM_OK;
    for (int split = 0; split < IST_SPLITS && good; ++split) {
        ist_tree a = {0}, b = {0};
        good = ist_build(&of_a, (ist_split)split, &a) && ist_build(&of_b, (ist_split)split, &b);
        for (int twice = 0; twice < 2 && good; ++twice) {
            char algorithm[48], series[64];
            const char *way = twice != 0 ? "two searches" : "unified";
            snprintf(algorithm, sizeof(algorithm), "%s: %s", split_kind(split), split_names[split]);
            snprintf(series, sizeof(series), "%s, %s: %s", split_kind(split), split_names[split],
                     way);
            good = add_printed(plot, s, &t, count, &a, &b, twice != 0, algorithm, series);
        }
        ist_free(&a);
        ist_free(&b);
    }
    carom_packing_spheres_free(&of_a);
    carom_packing_spheres_free(&of_b);
    trees_close(&t);
    return good;
}

static bool unified(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    bool good = open_cows(&s, lab) && path_along(lab, &s);
    for (int i = 0; i < 2 && good; ++i)
        good =
            add_all_printed(plot, &s, count_at(lab, i)) && add_all_ours(plot, &s, count_at(lab, i));
    scene_close(&s);
    papers_note(plot,
                "as printed: one pair of spheres at a time, inner spheres alone; ours also has "
                "secondary and cover spheres, and bounds");
    return good;
}

/* ---- IV-B2: directions that are flipped ------------------------------------------------------ */

/* The outward normals of the faces nearest to a packing's spheres. */
static carom_vec3 *make_normals(const carom_mesh_view *mesh, const carom_packing_spheres *spheres) {
    carom_vec3 *normals = malloc((spheres->count + 1) * sizeof(*normals));
    const carom_vec3 *points = mesh->positions; /* of papers_get_solid */
    for (uint64_t i = 0; i < spheres->count && normals != NULL; ++i) {
        uint64_t face = spheres->data[i].face;
        const uint32_t *c =
            mesh->corners + (mesh->offsets != NULL ? mesh->offsets[face] : 3 * face);
        carom_vec3 p = points[c[0]], q = points[c[1]], r = points[c[2]];
        carom_vec3 u = {q.x - p.x, q.y - p.y, q.z - p.z}, v = {r.x - p.x, r.y - p.y, r.z - p.z};
        carom_vec3 n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
        double length = sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
        normals[i] = length > 0.0 ? (carom_vec3){n.x / length, n.y / length, n.z / length}
                                  : (carom_vec3){0.0, 0.0, 1.0};
    }
    return normals;
}

static bool make_ist(papers_lab *lab, const papers_solid *solid, uint64_t count, ist_tree *tree) {
    const carom_packing *packing = papers_get_packing(lab, solid, count);
    carom_packing_spheres spheres = {0};
    bool good = packing != NULL &&
                carom_packing_list_spheres(lab->serial, packing, &spheres) == CAROM_OK &&
                ist_build(&spheres, IST_NEURAL_GAS, tree);
    carom_vec3 *normals = good ? make_normals(&solid->view, &spheres) : NULL;
    if (normals != NULL) ist_set_normals(tree, normals);
    free(normals);
    carom_packing_spheres_free(&spheres);
    return normals != NULL;
}

typedef struct flip_input {
    const ist_tree *a, *b;
    const carom_pose *pose;
    ist_flip flip;
    ist_force force;
} flip_input;

static bool query_flip(void *input) {
    flip_input *in = input;
    return ist_query_force(in->a, in->b, in->pose, in->flip, &in->force);
}

/* One way along the path; `sums` gets the directions of all frames added up, which do not depend on
 * how the same flips are found. */
static bool add_flips(papers_plot *plot, const scene *s, const ist_tree *a, const ist_tree *b,
                      uint64_t count, ist_flip flip, carom_vec3 *sum) {
    static const char *const names[] = {"as printed: no flips", "as printed: flips by pairs",
                                        "as printed: flips by normal cones"};
    papers_lab *lab = plot->lab;
    flip_input in = {.a = a, .b = b, .flip = flip};
    double pairs = 0.0, flipped = 0.0, by_cones = 0.0, seconds = 0.0;
    *sum = (carom_vec3){0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < s->frames; ++i) {
        in.pose = &s->poses[i];
        double taken = papers_best_seconds(lab, lab->serial, query_flip, &in, 1);
        if (taken < 0.0) return false;
        pairs += (double)in.force.pairs;
        flipped += (double)in.force.flipped;
        by_cones += (double)in.force.by_cones;
        seconds += taken;
        sum->x += in.force.direction.x;
        sum->y += in.force.direction.y;
        sum->z += in.force.direction.z;
    }
    double all = pairs > 0.0 ? pairs : 1.0;
    add(plot, s, names[flip], names[flip],
        (const double[]){(double)count, pairs / s->frames, flipped / all, by_cones / all,
                         1e6 * seconds / s->frames});
    return true;
}

static bool figure_cones(papers_plot *plot) {
    static scene s; /* large: poses */
    papers_lab *lab = plot->lab;
    bool good = open_screw(&s, lab) && path_into(lab, &s, true);
    for (int i = 0; i < 2 && good; ++i) {
        ist_tree a = {0}, b = {0};
        carom_vec3 sums[3];
        uint64_t count = count_at(lab, i);
        good = make_ist(lab, s.a, count, &a) && make_ist(lab, s.b, count, &b);
        for (int flip = 0; flip < 3 && good; ++flip)
            good = add_flips(plot, &s, &a, &b, count, (ist_flip)flip, &sums[flip]);
        const carom_vec3 *p = &sums[1], *q = &sums[2];
        if (good && fabs(p->x - q->x) + fabs(p->y - q->y) + fabs(p->z - q->z) > NEARLY)
            good = false;
        ist_free(&a);
        ist_free(&b);
    }
    scene_close(&s);
    return good;
}

/* ---- Figure 3: clusters ---------------------------------------------------------------------- */

#define DRAWN_CLUSTERS 1500u /* spheres in a picture */

#define NO_CLUSTER 255u

/* Gives all inner spheres below a node its colour. */
static void colour_below(const ist_tree *tree, uint32_t node, uint8_t colour, uint8_t *colours) {
    const ist_node *n = &tree->nodes[node];
    if (n->child_count == 0) colours[n->sphere] = colour;
    for (uint32_t k = 0; k < n->child_count; ++k)
        colour_below(tree, n->children[k], colour, colours);
}

/* The clusters of each child of the root, as pictures. */
static bool add_child_clusters(papers_plot *plot, const papers_solid *solid,
                               const carom_packing_spheres *spheres, const ist_tree *tree) {
    const ist_node *root = &tree->nodes[0];
    uint8_t *colours = malloc(spheres->count);
    bool good = colours != NULL;
    for (uint32_t c = 0; c < root->child_count && good; ++c) {
        const ist_node *child = &tree->nodes[root->children[c]];
        char caption[80];
        uint32_t drawn = 0;
        carom_ball *balls = malloc(DRAWN_CLUSTERS * sizeof(*balls));
        uint8_t *of_balls = malloc(DRAWN_CLUSTERS);
        memset(colours, NO_CLUSTER, spheres->count);
        for (uint32_t k = 0; k < child->child_count; ++k)
            colour_below(tree, child->children[k], (uint8_t)k, colours);
        good = balls != NULL && of_balls != NULL;
        for (uint32_t i = 0; i < spheres->count && drawn < DRAWN_CLUSTERS && good; ++i) {
            if (colours[i] == NO_CLUSTER) continue;
            balls[drawn] = (carom_ball){spheres->data[i].centre, spheres->data[i].radius};
            of_balls[drawn++] = colours[i];
        }
        snprintf(caption, sizeof(caption), "%s: the clusters of child %u of the root", solid->name,
                 c + 1);
        papers_add_coloured(plot, caption, balls, of_balls, drawn);
    }
    free(colours);
    return good;
}

/* The clusters of the root, as a picture and as numbers; of neural gas those of its children,
 * too. */
static bool add_clusters(papers_plot *plot, const papers_solid *solid,
                         const carom_packing_spheres *spheres, ist_split split) {
    ist_tree tree;
    double members[IST_ARITY] = {0.0}, volumes[IST_ARITY] = {0.0}, volume = 0.0;
    uint32_t drawn = spheres->count < DRAWN_CLUSTERS ? (uint32_t)spheres->count : DRAWN_CLUSTERS;
    char caption[80], algorithm[48];
    const papers_source source = {algorithm, PAPERS_ONE_THREAD, solid->view.face_count};
    bool good = ist_build(spheres, split, &tree);
    carom_ball *balls = malloc(drawn * sizeof(*balls));
    uint8_t *colours = malloc(drawn);
    for (uint32_t i = 0; i < spheres->count && good; ++i) {
        const carom_packing_sphere *s = &spheres->data[i];
        double cube = s->radius * s->radius * s->radius;
        members[tree.cluster[i]] += 1.0;
        volumes[tree.cluster[i]] += cube;
        volume += cube;
        if (i < drawn && balls != NULL && colours != NULL) {
            balls[i] = (carom_ball){s->centre, s->radius};
            colours[i] = tree.cluster[i];
        }
    }
    snprintf(caption, sizeof(caption), "%s: the clusters of the root, by %s", solid->name,
             split_names[split]);
    snprintf(algorithm, sizeof(algorithm), "as printed: %s", split_names[split]);
    papers_add_coloured(plot, caption, balls, colours, drawn);
    if (good && split == IST_NEURAL_GAS) good = add_child_clusters(plot, solid, spheres, &tree);
    for (uint32_t k = 0; k < IST_ARITY && good; ++k)
        papers_add(
            plot, &source, split_names[split],
            (const double[]){k + 1.0, members[k] / (double)spheres->count, volumes[k] / volume});
    ist_free(&tree);
    return good;
}

static bool figure_3(papers_plot *plot) {
    papers_lab *lab = plot->lab;
    static scene s; /* large: poses */
    carom_packing_spheres spheres = {0};
    bool good = open_cows(&s, lab);
    const carom_packing *packing = good ? papers_get_packing(lab, s.a, count_at(lab, 1)) : NULL;
    good =
        packing != NULL && carom_packing_list_spheres(lab->serial, packing, &spheres) == CAROM_OK;
    for (int split = 0; split < IST_PRINTED_SPLITS && good; ++split)
        good = add_clusters(plot, s.a, &spheres, (ist_split)split);
    carom_packing_spheres_free(&spheres);
    scene_close(&s);
    return good;
}

/* ---- Figure 1: from voxels to spheres -------------------------------------------------------- */

/* Voxels whose centres are inside, coloured by their distance from the surface where `depth`. */
static bool add_voxels(papers_plot *plot, const scene *s, bool depth) {
    const double low = -1.0;
    uint32_t cells = plot->lab->quick ? 12 : 48, count = 0;
    uint64_t total = (uint64_t)cells * cells * cells;
    double edge = 2.0 / cells, deepest = 0.0;
    carom_vec3 *points = malloc(total * sizeof(*points));
    double *distances = malloc(total * sizeof(*distances));
    carom_ball *balls = malloc(total * sizeof(*balls));
    uint8_t *colours = malloc(total);
    bool good = points != NULL && distances != NULL && balls != NULL && colours != NULL;
    for (uint64_t i = 0; i < total && good; ++i)
        points[i] = (carom_vec3){low + edge * ((double)(i % cells) + 0.5),
                                 low + edge * ((double)(i / cells % cells) + 0.5),
                                 low + edge * ((double)(i / cells / cells) + 0.5)};
    good = good && carom_soup_signed_distances(plot->lab->parallel, s->soup_a, points, total,
                                               distances, NULL) == CAROM_OK;
    for (uint64_t i = 0; i < total && good; ++i) deepest = fmax(deepest, -distances[i]);
    for (uint64_t i = 0; i < total && good; ++i) {
        if (!(distances[i] < 0.0)) continue;
        double share = -distances[i] / deepest;
        balls[count] = (carom_ball){points[i], depth ? 0.6 * edge * share : 0.5 * edge};
        colours[count++] = (uint8_t)(depth ? fmin(3.0, 4.0 * share) : 0.0);
    }
    free(points);
    free(distances);
    if (!good) {
        free(balls);
        free(colours);
        return false;
    }
    char caption[80];
    snprintf(caption, sizeof(caption), "%s, %u along the diagonal",
             depth ? "distances of voxels, larger where deeper" : "voxels, as balls", cells);
    papers_add_coloured(plot, caption, balls, colours, count);
    return true;
}

static bool figure_1(papers_plot *plot) {
    static const struct {
        const char *algorithm;
        carom_packing_method method;
    } ways[] = {{"greedy on voxels", CAROM_PACKING_METHOD_GREEDY},
                {"octree", CAROM_PACKING_METHOD_OCTREE}};
    papers_lab *lab = plot->lab;
    static scene s; /* large: poses */
    bool good = open_cows(&s, lab) && add_voxels(plot, &s, false) && add_voxels(plot, &s, true);
    for (int i = 0; i < 2 && good; ++i)
        for (uint64_t count = 100; count <= (lab->quick ? 100u : 1600u) && good; count *= 4) {
            carom_packing *packing = NULL;
            carom_packing_info info;
            char caption[80];
            const carom_packing_def def = {.mesh = &s.a->view,
                                           .count = count,
                                           .method = ways[i].method,
                                           .voxels = lab->quick ? 24 : 0};
            good = carom_packing_create(lab->parallel, &def, &packing) == CAROM_OK &&
                   carom_packing_get_info(packing, &info) == CAROM_OK;
            snprintf(caption, sizeof(caption), "%s: %llu spheres", ways[i].algorithm,
                     (unsigned long long)count);
            if (good && count * 4 > (lab->quick ? 100u : 1600u))
                papers_add_balls(plot, caption, packing, NULL, NULL);
            const papers_source source = {ways[i].algorithm, PAPERS_ALL_THREADS,
                                          s.a->view.face_count};
            if (good)
                papers_add(plot, &source, ways[i].algorithm,
                           (const double[]){(double)info.spheres, info.fill});
            carom_packing_destroy(packing);
        }
    scene_close(&s);
    return good;
}

/* With 327,000 and 237,000 spheres; ours have at most 240,000. */
static const papers_printed figure_7_numbers[] = {
    {"mean of the frames", "us", "spheres", 1, PAPERS_LAST, 50.0, 0, NULL, 0},
    {"slowest frame", "us", "spheres", 2, PAPERS_LAST, 2000.0, 0, NULL, 0},
    {"error", "%", "spheres", 3, PAPERS_LAST, 0.15, 0, NULL, 0},
    {.what = NULL}};
static const papers_printed figure_8_numbers[] = {
    {"mean of the frames", "us", "light", 1, PAPERS_LAST, 2500.0, 0, NULL, 0},
    {"error", "%", "light", 3, PAPERS_LAST, 0.5, 0, NULL, 0},
    {"mean of the frames, beside tetrahedra", "us", "exact (solid)", 1, PAPERS_LAST, 500000.0, 0,
     NULL, 0},
    {.what = NULL}};

static const papers_figure figures[] = {
    {"weller2009-fig1",
     "Figure 1: from voxels and their distance field to a packing",
     "A drawing of the three stages.",
     {"spheres", "fill"},
     {{"Share of the volume that is filled", "spheres", "fill", 0, 1, 2, NULL, false, true}},
     figure_1,
     false,
     NULL},
    {"weller2009-fig3",
     "Figure 3: clusters by neural gas, of the root and of its children, and of the root by the "
     "heuristics that are rejected",
     "A picture: spheres of one colour are in one bounding sphere.",
     {"cluster", "sphere_share", "volume_share"},
     {{"Spheres in each cluster", "cluster", "share", 0, 1, 2, NULL, true, PAPERS_LINEAR},
      {"Their volume", "cluster", "share", 0, 2, 3, NULL, true, PAPERS_LINEAR}},
     figure_3,
     false,
     NULL},
    {"weller2009-unified",
     "IV-C: the unified algorithm as printed, two searches, and ours, along the path of Figure 6",
     "One traversal, without visiting anything again; neural gas is much better than the biggest "
     "spheres or those with most neighbours. No numbers.",
     {"spheres", "visits_overlapping", "visits_apart", "us_overlapping", "us_apart"},
     {{"Visits of a frame that overlaps", "spheres", "visits", 0, 1, 2, NULL, false, false},
      {"Visits of a frame that is apart", "spheres", "visits", 0, 2, 3, NULL, false, false},
      {"Time of a frame that overlaps", "spheres", "us", 0, 3, 4, NULL, false, false},
      {"Time of a frame that is apart", "spheres", "us", 0, 4, 5, NULL, false, false}},
     unified,
     false,
     NULL},
    {"weller2009-cones",
     "IV-B2: directions that are flipped in deep penetrations, by the normals of pairs and by "
     "cones",
     "Normal cones throughout the hierarchy can help to find the directions to flip; no numbers.",
     {"spheres", "pairs", "flipped_share", "by_cones_share", "us"},
     {{"Time of a frame", "spheres", "us", 0, 4, 5, NULL, false, false},
      {"Directions that are flipped", "spheres", "share of the pairs", 0, 2, 3, NULL, false, true},
      {"Pairs for which cones decide", "spheres", "share of the pairs", 0, 3, 4, NULL, false,
       true}},
     figure_cones,
     false,
     NULL},
    {"weller2009-paths",
     "The paths: past each other, apart by 0 to 20 % of the diagonal, into each other",
     "Recorded by hand: distances of 0 to 20 % of the size, overlaps of 0 to 10 % of the volume, "
     "some of 50 %.",
     {"frame", "tx", "ty", "tz", "qw", "qx", "qy", "qz", "gap_share", "overlap_share"},
     {{"Distance, of the diagonal", "frame", "share", 0, 8, 9, NULL, true, true},
      {"Overlap, of the smaller volume", "frame", "share", 0, 9, 10, NULL, true, true}},
     paths,
     false,
     NULL},
    {"weller2009-fig6",
     "Figure 6: volume and direction of the force while one cow scrapes along another",
     "Both are continuous.",
     {"frame", "volume", "x", "y", "z"},
     {{"Volume of the overlap", "frame", "volume", 0, 1, 2, NULL, true, true},
      {"Direction of the force, x", "frame", "x", 0, 2, 3, NULL, true, true},
      {"y", "frame", "y", 0, 3, 4, NULL, true, true},
      {"z", "frame", "z", 0, 4, 5, NULL, true, true}},
     figure_6,
     false,
     NULL},
    {"weller2009-fig7",
     "Figure 7: distances along a path: time and error against the number of spheres",
     "Less than 2 ms in the worst case, 50 us on average with 327,000 spheres, 50 times as fast as "
     "PQP; 0.15 % off. Pentium IV, 3 GHz; 330,000 triangles.",
     {"spheres", "mean_us", "most_us", "error_percent"},
     {{"Mean of the frames", "spheres", "us", 0, 1, 2, NULL, false, false},
      {"Slowest frame", "spheres", "us", 0, 2, 3, NULL, false, false},
      {"Error", "spheres", "percent", 0, 3, 4, NULL, false, false}},
     figure_7,
     false,
     figure_7_numbers},
    {"weller2009-fig8",
     "Figure 8: volumes along a path: time and error against the number of spheres",
     "0.1 to 2.5 ms on average, the latter with 237,000 spheres; 0.5 % off; 0.5 s by tetrahedra. "
     "Pentium IV, 3 GHz; 171,000 triangles.",
     {"spheres", "mean_us", "most_us", "error_percent"},
     {{"Mean of the frames", "spheres", "us", 0, 1, 2, NULL, false, false},
      {"Slowest frame", "spheres", "us", 0, 2, 3, NULL, false, false},
      {"Error", "spheres", "percent", 0, 3, 4, NULL, false, false}},
     figure_8,
     false,
     figure_8_numbers},
    {"weller2009-fig9a",
     "Figure 9, left: the distance in each frame",
     "The curves of all resolutions are continuous and near the exact one.",
     {"frame", "gap_share"},
     {{"Distance, of the diagonal", "frame", "share", 0, 1, 2, NULL, true, true}},
     figure_9a,
     false,
     NULL},
    {"weller2009-fig9b",
     "Figure 9, right: the volume of the overlap in each frame",
     "The curves of all resolutions are continuous and near the exact one.",
     {"frame", "overlap_share"},
     {{"Overlap, of the smaller volume", "frame", "share", 0, 1, 2, NULL, true, true}},
     figure_9b,
     false,
     NULL},
};

const papers_paper papers_weller2009 = {
    2009, "weller2009",
    "Weller, Zachmann 2009: Inner Sphere Trees for Proximity and Penetration Queries", figures,
    sizeof(figures) / sizeof(figures[0])};
