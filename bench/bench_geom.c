/* SPDX-License-Identifier: MIT */
/* The inner loop of all-pairs search: orientations and triangle pairs, one at a time on one core.
 * Looks behind the public headers, as engines call the items and not the checked functions. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "geom/face_item.h"

#define PAIRS 4096u /* 600 kB: in the second cache, as in an engine */

typedef struct geom_input {
    carom_triangle a[PAIRS], b[PAIRS];
    uint32_t common;   /* vertices shared by all pairs: corners 0 .. common - 1 */
    uint32_t repeats;  /* passes over the pairs per run */
    uint32_t meet;     /* how many meet, by the exact stage */
    uint32_t positive; /* how many orientations are positive */
    double decided;    /* share of pairs that the filter decides */
    double orient_decided;
} geom_input;

static int verdict(const geom_input *g, uint32_t i) {
    carom_common common = {(int)g->common, {0, 1, 2}, {0, 1, 2}};
    return carom_face_filter(&g->a[i], &g->b[i], &common);
}

static int exact(const geom_input *g, uint32_t i) {
    carom_common common = {(int)g->common, {0, 1, 2}, {0, 1, 2}};
    return carom_face_pair_exact(&g->a[i], &g->b[i], &common, 0);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static carom_vec3 near_point(carom_random *random, carom_vec3 centre, double size) {
    carom_vec3 p;
    p.x = centre.x + size * carom_random_normal(random);
    p.y = centre.y + size * carom_random_normal(random);
    p.z = centre.z + size * carom_random_normal(random);
    return p;
}

static bool boxes_overlap(const carom_triangle *a, const carom_triangle *b) {
    for (int k = 0; k < 3; ++k) {
        const double *x = &a->corner[0].x + k, *y = &b->corner[0].x + k;
        double a_low = CAROM_MIN(CAROM_MIN(x[0], x[3]), x[6]);
        double a_high = CAROM_MAX(CAROM_MAX(x[0], x[3]), x[6]);
        double b_low = CAROM_MIN(CAROM_MIN(y[0], y[3]), y[6]);
        double b_high = CAROM_MAX(CAROM_MAX(y[0], y[3]), y[6]);
        if (a_low > b_high || b_low > a_high) return false;
    }
    return true;
}

/* Random pairs whose boxes overlap and which meet or not, as requested. */
static void make_pairs(geom_input *g, uint32_t common, int meet, uint64_t seed) {
    carom_random random = {seed};
    g->common = common;
    for (uint32_t i = 0; i < PAIRS;) {
        carom_vec3 centre = near_point(&random, (carom_vec3){0.0, 0.0, 0.0}, 10.0);
        for (uint32_t j = 0; j < 3; ++j) {
            g->a[i].corner[j] = near_point(&random, centre, 1.0);
            g->b[i].corner[j] = j < common ? g->a[i].corner[j] : near_point(&random, centre, 1.0);
        }
        if (!boxes_overlap(&g->a[i], &g->b[i])) continue;
        if (meet >= 0 && exact(g, i) != meet) continue;
        ++i;
    }
}

/* Corners on a small lattice: nearly all pairs touch or are coplanar, the worst for a filter. */
static void make_lattice(geom_input *g, uint64_t seed) {
    carom_random random = {seed};
    g->common = 0;
    for (uint32_t i = 0; i < PAIRS; ++i) {
        double *x = &g->a[i].corner[0].x, *y = &g->b[i].corner[0].x;
        for (int j = 0; j < 9; ++j) {
            x[j] = (double)(carom_random_next(&random) % 3);
            y[j] = (double)(carom_random_next(&random) % 3);
        }
    }
}

static void take_stock(geom_input *g) {
    uint32_t decided = 0, orient_decided = 0;
    g->meet = g->positive = 0;
    for (uint32_t i = 0; i < PAIRS; ++i) {
        const carom_vec3 *a = g->a[i].corner, *b = g->b[i].corner;
        decided += verdict(g, i) != CAROM_UNDECIDED;
        orient_decided += carom_orient3d_filter(a[0], a[1], a[2], b[2]) != CAROM_ORIENT_UNDECIDED;
        g->meet += (uint32_t)exact(g, i);
        g->positive += carom_orient3d(a[0], a[1], a[2], b[2]) > 0;
    }
    g->decided = decided / (double)PAIRS;
    g->orient_decided = orient_decided / (double)PAIRS;
}

/* ---- contenders ------------------------------------------------------------------------------ */

static bool run_orient(void *input) {
    geom_input *g = input;
    uint32_t positive = 0;
    for (uint32_t r = 0; r < g->repeats; ++r)
        for (uint32_t i = 0; i < PAIRS; ++i) {
            const carom_vec3 *a = g->a[i].corner;
            positive += carom_orient3d(a[0], a[1], a[2], g->b[i].corner[2]) > 0;
        }
    return positive == g->positive * g->repeats;
}

static bool run_orient_exact(void *input) {
    geom_input *g = input;
    uint32_t positive = 0;
    for (uint32_t r = 0; r < g->repeats; ++r)
        for (uint32_t i = 0; i < PAIRS; ++i) {
            const carom_vec3 *a = g->a[i].corner;
            positive += carom_orient3d_exact(a[0], a[1], a[2], g->b[i].corner[2]) > 0;
        }
    return positive == g->positive * g->repeats;
}

static bool run_pairs(void *input) {
    geom_input *g = input;
    uint32_t meet = 0;
    for (uint32_t r = 0; r < g->repeats; ++r)
        for (uint32_t i = 0; i < PAIRS; ++i) {
            int v = verdict(g, i);
            meet += (uint32_t)(v != CAROM_UNDECIDED ? v : exact(g, i));
        }
    return meet == g->meet * g->repeats;
}

static bool run_pairs_exact(void *input) {
    geom_input *g = input;
    uint32_t meet = 0;
    for (uint32_t r = 0; r < g->repeats; ++r)
        for (uint32_t i = 0; i < PAIRS; ++i) meet += (uint32_t)exact(g, i);
    return meet == g->meet * g->repeats;
}

static void measure(bench *bench, geom_input *g, const char *what) {
    char job[64];
    take_stock(g);
    snprintf(job, sizeof(job), "%s (filter decides %.3f %%)", what, 100.0 * g->decided);
    bench_contender pairs[] = {{"filter, then exact", NULL, run_pairs, g},
                               {"exact stage only", NULL, run_pairs_exact, g}};
    bench_compare(bench, job, (double)PAIRS * g->repeats, pairs, 2);
}

static void measure_orient(bench *bench, geom_input *g, const char *what) {
    char job[64];
    take_stock(g);
    snprintf(job, sizeof(job), "%s (filter decides %.3f %%)", what, 100.0 * g->orient_decided);
    bench_contender orients[] = {{"filter, then exact", NULL, run_orient, g},
                                 {"expansions only", NULL, run_orient_exact, g}};
    bench_compare(bench, job, (double)PAIRS * g->repeats, orients, 2);
}

static void run(bench *bench) {
    geom_input *g = malloc(sizeof(*g));
    if (g == NULL) return;
    g->repeats = bench->quick ? 10 : 50;
    make_pairs(g, 0, -1, 1);
    measure_orient(bench, g, "orient3d");
    measure(bench, g, "pair, any");
    make_pairs(g, 0, 1, 2);
    measure(bench, g, "pair, crossing");
    make_pairs(g, 0, 0, 3);
    measure(bench, g, "pair, disjoint");
    make_pairs(g, 1, -1, 4);
    measure(bench, g, "pair, common vertex");
    make_pairs(g, 2, -1, 5);
    measure(bench, g, "pair, common edge");
    make_lattice(g, 6);
    measure_orient(bench, g, "orient3d, lattice");
    measure(bench, g, "pair, lattice");
    free(g);
}

const bench_group bench_geom = {12, "geom", "exact orientations and triangle pairs, ns each", run};
