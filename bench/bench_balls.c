/* SPDX-License-Identifier: MIT */
/* Packings on the grid, as in the experiment of Weller, Frese and Zachmann (2013): an object stands
 * still while a turning copy slides through it, from a box apart to the same place.
 *
 * One run is the whole path, 32 poses. Figure 5: time against the number of spheres, and the worst
 * pose beside the mean (notes). Figure 6: building the grid. Rows of one job compare hashes,
 * threads and the sphere tree, which gives the same bits; a run whose bits differ from the first
 * contender's is marked wrong. There is no peer: no free library measures the overlap of packings.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "scenes/paths.h"

#define POSES 32

typedef struct player {
    const char *name;
    carom_context *context;
    carom_grid_hash hash;
    bool skip_limits, tree, build;
    carom_balls *balls;
    carom_tree *of_tree;
    const carom_packing_spheres *spheres;
    double volume;
    const carom_pose *poses;
    carom_packing_overlap overlaps[POSES];
    const struct player *same; /* whose bits are expected */
} player;

static bool run_query(player *p, int i) {
    carom_tree_query_def of_tree = {.skip_limits = p->skip_limits};
    carom_balls_query_def of_balls = {.skip_limits = p->skip_limits};
    return (p->tree ? carom_tree_overlap(p->context, p->of_tree, NULL, p->of_tree, &p->poses[i],
                                         &of_tree, &p->overlaps[i])
                    : carom_balls_overlap(p->context, p->balls, NULL, p->balls, &p->poses[i],
                                          &of_balls, &p->overlaps[i])) == CAROM_OK;
}

static bool run_path(void *input) {
    player *p = input;
    if (p->build)
        return carom_balls_update(p->context, p->balls, p->spheres->data, p->spheres->count,
                                  p->volume) == CAROM_OK;
    for (int i = 0; i < POSES; ++i)
        if (!run_query(p, i)) return false;
    return p->same == NULL || memcmp(p->overlaps, p->same->overlaps, sizeof(p->overlaps)) == 0;
}

/* The worst pose and the mean of a contender, best of several turns each, and its pairs. */
static void note_poses(bench *bench, const char *job, player *p) {
    double worst = 0.0, least = HUGE_VAL, sum = 0.0;
    uint64_t pairs = 0, inner = 0;
    for (int i = 0; i < POSES; ++i) {
        double best = HUGE_VAL;
        for (int turn = 0; turn < 7; ++turn) {
            double start = carom_time_seconds();
            if (!run_query(p, i)) return;
            double seconds = carom_time_seconds() - start;
            best = seconds < best ? seconds : best;
        }
        worst = best > worst ? best : worst;
        least = best < least ? best : least;
        sum += best;
        pairs = p->overlaps[i].pairs > pairs ? p->overlaps[i].pairs : pairs;
        inner = p->overlaps[i].inner_pairs > inner ? p->overlaps[i].inner_pairs : inner;
    }
    bench_note(bench, "%s, %s: a pose %.2f to %.2f ms, mean %.2f", job, p->name, 1e3 * least,
               1e3 * worst, 1e3 * sum / POSES);
    if (p->tree) return;
    /* The copy in the same place has more pairs than any pose of the path. */
    carom_balls_most most;
    uint64_t count = 0;
    if (carom_balls_count(p->context, p->balls, NULL, p->balls, NULL,
                          CAROM_BALLS_PAIR_KIND_SECONDARY, NULL, &count) == CAROM_OK)
        pairs = count > pairs ? count : pairs;
    if (carom_balls_bound(p->context, p->balls, p->balls, CAROM_BALLS_PAIR_KIND_SECONDARY, NULL,
                          &most) == CAROM_OK)
        bench_note(bench, "%s: at most %llu secondary pairs, in the same place; bound %.1fx", job,
                   (unsigned long long)pairs, (double)most.pairs / (double)pairs);
    if (!p->skip_limits)
        bench_note(bench, "%s: at most %llu inner pairs seen, 27 (n + n) is %llu", job,
                   (unsigned long long)inner, (unsigned long long)most.disjoint);
}

typedef struct setting {
    bench *bench;
    carom_context *serial, *parallel;
} setting;

static bool prepare(player *p, const carom_packing *packing) {
    carom_tree_def of_tree = {.packing = packing};
    carom_balls_def of_balls = {.packing = packing, .grid = {.hash = p->hash}};
    return (p->tree ? carom_tree_create(p->context, &of_tree, &p->of_tree)
                    : carom_balls_create(p->context, &of_balls, &p->balls)) == CAROM_OK;
}

#define PLAYERS 8

/* Figures 5 and 6. */
static void compare(const setting *s, const char *job, const carom_packing *packing, double size) {
    player players[PLAYERS] = {
        {.name = "balls, 1 thread", .context = s->serial},
        {.name = "balls", .context = s->parallel},
        {.name = "balls, no bounds", .context = s->serial, .skip_limits = true},
        {.name = "djb2", .context = s->serial, .hash = CAROM_GRID_HASH_DJB2},
        {.name = "morton", .context = s->serial, .hash = CAROM_GRID_HASH_MORTON},
        {.name = "perfect", .context = s->serial, .hash = CAROM_GRID_HASH_PERFECT},
        {.name = "tree", .context = s->serial, .tree = true},
        {.name = "build the grid, 1 thread", .context = s->serial, .build = true}};
    bench_contender contenders[PLAYERS];
    carom_packing_info info;
    carom_packing_spheres spheres = {0};
    carom_pose poses[POSES];
    bool good = carom_packing_get_info(packing, &info) == CAROM_OK &&
                carom_packing_list_spheres(s->serial, packing, &spheres) == CAROM_OK;
    if (good) scene_path_slide(&info.bounds, POSES, poses);
    for (int i = 0; i < PLAYERS; ++i) {
        player *p = &players[i];
        p->poses = poses;
        p->spheres = &spheres;
        p->volume = info.volume;
        p->same = p->skip_limits || p->build || i == 0 ? NULL : &players[0];
        good = good && prepare(p, packing);
        contenders[i] = (bench_contender){p->name, NULL, run_path, p};
    }
    if (good) {
        if (size > 0.0) bench_at_size(s->bench, "spheres", size);
        bench_compare(s->bench, job, (double)info.spheres * POSES, contenders, PLAYERS);
        note_poses(s->bench, job, &players[0]);
        note_poses(s->bench, job, &players[2]);
        note_poses(s->bench, job, &players[6]);
    }
    for (int i = 0; i < PLAYERS; ++i) {
        carom_balls_destroy(players[i].balls);
        carom_tree_destroy(players[i].of_tree);
    }
    carom_packing_spheres_free(&spheres);
}

static carom_packing *pack_shape(carom_context *context, carom_shape shape, uint32_t detail,
                                 uint64_t count, uint64_t *triangles) {
    carom_mesh *mesh = NULL;
    carom_packing *packing = NULL;
    carom_shape_def of_shape = {.shape = shape, .detail = detail};
    carom_mesh_view view;
    carom_packing_def def = {.mesh = &view, .count = count, .fast = true};
    if (carom_shape_make(context, &of_shape, &mesh) == CAROM_OK &&
        carom_mesh_get_view(mesh, &view) == CAROM_OK) {
        *triangles = view.face_count;
        (void)carom_packing_create(context, &def, &packing);
    }
    carom_mesh_destroy(mesh);
    return packing;
}

static void figures_5_and_6(const setting *s) {
    static const uint64_t counts[] = {4000, 10000, 20000, 60000};
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_KNOT, CAROM_SHAPE_CHAZELLE};
    for (int k = 0; k < (s->bench->quick ? 1 : 3); ++k) {
        for (int i = 0; i < (s->bench->quick ? 1 : 4); ++i) {
            char job[64];
            uint64_t triangles;
            uint32_t detail = shapes[k] == CAROM_SHAPE_CHAZELLE ? 12 : 96;
            carom_packing *packing =
                pack_shape(s->parallel, shapes[k], detail, counts[i], &triangles);
            snprintf(job, sizeof(job), "%s, %llu", carom_shape_name(shapes[k]),
                     (unsigned long long)counts[i]);
            if (packing != NULL) compare(s, job, packing, k == 0 ? (double)counts[i] : 0.0);
            carom_packing_destroy(packing);
        }
    }
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    setting s = {.bench = bench};
    if (carom_context_create(&def, &s.parallel) != CAROM_OK) return;
    def.threads = 1;
    if (carom_context_create(&def, &s.serial) == CAROM_OK) {
        figures_5_and_6(&s);
        carom_context_destroy(s.serial);
    }
    carom_context_destroy(s.parallel);
}

const bench_group bench_balls = {69, "balls", "packings compared in constant time: 2013", run};
