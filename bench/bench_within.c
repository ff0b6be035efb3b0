/* SPDX-License-Identifier: MIT */
/* Faces within a margin of a typical edge: two rigid meshes at the poses of bench_soup.c, beside
 * those that meet; and one mesh with itself, per candidate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/soup.h"

typedef struct player {
    carom_context *context;
    carom_soup *soup;
    const soup_poses *poses;
    double margin;
    carom_pairs pairs;
    uint64_t found; /* in all poses; 0: not known yet */
} player;

static bool same_as_before(player *p, uint64_t found) {
    bool same = p->found == 0 || p->found == found;
    p->found = found;
    return same;
}

static bool run_intersecting(void *input) {
    player *p = input;
    uint64_t found = 0;
    for (uint32_t k = 0; k < SOUP_POSES; ++k) {
        if (carom_soup_cross_pairs(p->context, p->soup, NULL, p->soup, &p->poses->poses[k],
                                   &p->pairs) != CAROM_OK)
            return false;
        found += p->pairs.count;
    }
    return same_as_before(p, found);
}

static bool run_within(void *input) {
    player *p = input;
    uint64_t found = 0;
    for (uint32_t k = 0; k < SOUP_POSES; ++k) {
        if (carom_soup_cross_pairs_within(p->context, p->soup, NULL, p->soup, &p->poses->poses[k],
                                          p->margin, &p->pairs) != CAROM_OK)
            return false;
        found += p->pairs.count;
    }
    return same_as_before(p, found);
}

static bool run_self(void *input) {
    player *p = input;
    return carom_soup_self_pairs_within(p->context, p->soup, p->margin, &p->pairs) == CAROM_OK &&
           same_as_before(p, p->pairs.count);
}

/* The mean length of the triangles' edges. */
static double typical_edge(const peer_mesh *mesh) {
    double sum = 0.0;
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; ++i) {
        const float *p = mesh->positions + 3 * (uint64_t)mesh->corners[i];
        const float *q = mesh->positions + 3 * (uint64_t)mesh->corners[i % 3 == 2 ? i - 2 : i + 1];
        double x = (double)(q[0] - p[0]), y = (double)(q[1] - p[1]), z = (double)(q[2] - p[2]);
        sum += sqrt(x * x + y * y + z * z);
    }
    return sum / (3.0 * (double)mesh->triangle_count);
}

static void measure_two(bench *bench, player *p, const char *name, const soup_poses *poses) {
    char job[64];
    player intersecting = *p, within = *p;
    intersecting.poses = within.poses = poses;
    bench_contender contenders[2] = {{"that meet", NULL, run_intersecting, &intersecting},
                                     {"within an edge", NULL, run_within, &within}};
    snprintf(job, sizeof(job), "%s pairs", name);
    uint32_t row = bench->row_count;
    bench_compare(bench, job, SOUP_POSES, contenders, 2);
    bench_note(bench, "%.1f and %.1f microseconds per pose; %llu and %llu pairs in all",
               1e6 * bench->rows[row].cpu_seconds / SOUP_POSES,
               1e6 * bench->rows[row + 1].cpu_seconds / SOUP_POSES,
               (unsigned long long)intersecting.found, (unsigned long long)within.found);
    carom_pairs_free(&intersecting.pairs);
    carom_pairs_free(&within.pairs);
}

static void measure_one(bench *bench, player *p, const char *name) {
    char job[64];
    carom_work work;
    bench_contender contender = {"carom", NULL, run_self, p};
    snprintf(job, sizeof(job), "%s with itself", name);
    uint32_t row = bench->row_count;
    bench_compare(bench, job, 1.0, &contender, 1);
    if (carom_context_get_work(p->context, &work) != CAROM_OK) return;
    bench_note(
        bench, "%llu candidates, %.1f ns each; %llu pairs", (unsigned long long)work.candidates,
        1e9 * bench->rows[row].cpu_seconds / (double)work.candidates, (unsigned long long)p->found);
}

static void run(bench *bench) {
    static const char *const models[] = {"bunny", "armadillo"};
    carom_context_def def = *bench->def;
    def.threads = 1;
    carom_context *context;
    soup_poses *poses = malloc(sizeof(*poses));
    if (carom_context_create(&def, &context) == CAROM_OK && poses != NULL) {
        for (int m = 0; m < 2; ++m) {
            soup_input input;
            if (!soup_input_load(context, models[m], &input)) continue;
            player p = {.context = context, .margin = typical_edge(&input.raw)};
            carom_soup_def rigid = {.mesh = &input.view, .rigid = true};
            if (carom_soup_create(context, &rigid, &p.soup) == CAROM_OK) {
                char deep[64];
                soup_poses_make(&input, 0.2, -0.1, poses);
                measure_two(bench, &p, models[m], poses);
                snprintf(deep, sizeof(deep), "%s_deep", models[m]);
                soup_poses_make(&input, 0.0, -0.5, poses);
                measure_two(bench, &p, deep, poses);
                measure_one(bench, &p, models[m]);
            }
            carom_pairs_free(&p.pairs);
            carom_soup_destroy(p.soup);
            soup_input_free(&input);
        }
    }
    free(poses);
    carom_context_destroy(context);
}

const bench_group bench_within = {45, "within", "faces within a margin of each other", run};
