/* SPDX-License-Identifier: MIT */
/* The demo's section on balls: the work and the time of a query along a path from apart to one
 * that tumbles in the other, beside the bound that is known before the first pose, and the time of
 * the exact overlap of the same solids in the same poses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

#define POSES   61
#define SPHERES 1500u
#define TURNS   5 /* the fastest counts */
#define SIZES   4
#define APART   10 /* poses of the way in, and of the way out */

typedef struct path {
    double at[POSES], pairs[POSES], bound[POSES], microseconds[POSES], exact[POSES], volume[POSES];
} path;

static bool is_inside(int step) {
    return step >= APART && step < POSES - APART;
}

/* Slides the copy from apart into the other knot, turns it there, and slides it out again. */
static carom_pose pose_at(int step) {
    double s = step / (POSES - 1.0), half = 0.1 + 2.6 * s, way = 0.0;
    if (step < APART) way = 3.4 * (APART - step) / APART;
    if (step >= POSES - APART) way = -3.4 * (step - (POSES - APART - 1)) / APART;
    return (carom_pose){{cos(half), 0.6 * sin(half), 0.8 * sin(half), 0.0}, {way, 0.0, 0.0}};
}

/* A knot as a solid and as spheres. */
typedef struct knot {
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_packing *packing;
    carom_balls *balls;
    carom_solid *solid;
} knot;

static carom_status open_knot(carom_context *context, uint32_t detail, knot *k) {
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = detail};
    carom_status status = carom_shape_make(context, &shape, &k->mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(k->mesh, &k->view);
    carom_packing_def def = {.mesh = &k->view, .count = SPHERES, .fast = true};
    if (status == CAROM_OK) status = carom_packing_create(context, &def, &k->packing);
    carom_balls_def of = {.packing = k->packing};
    if (status == CAROM_OK) status = carom_balls_create(context, &of, &k->balls);
    if (status == CAROM_OK)
        status = carom_solid_create(context, &(carom_solid_def){.mesh = &k->view}, &k->solid);
    return status;
}

static void close_knot(knot *k) {
    carom_solid_destroy(k->solid);
    carom_balls_destroy(k->balls);
    carom_packing_destroy(k->packing);
    carom_mesh_destroy(k->mesh);
}

/* The fastest of some queries by spheres and of as many exact ones, in microseconds. */
static carom_status time_pose(carom_context *context, const knot *k, const carom_pose *pose,
                              double *spheres, double *exact, carom_packing_overlap *overlap) {
    carom_packing_overlap own;
    carom_solid_result r;
    carom_status status = CAROM_OK;
    *spheres = *exact = HUGE_VAL;
    for (int turn = 0; turn < TURNS && status == CAROM_OK; ++turn) {
        double start = carom_time_seconds();
        status = carom_balls_overlap(context, k->balls, NULL, k->balls, pose, NULL,
                                     overlap != NULL ? overlap : &own);
        double between = carom_time_seconds();
        if (status == CAROM_OK)
            status = carom_solid_overlap(context, k->solid, NULL, k->solid, pose, NULL, &r);
        *spheres = fmin(*spheres, 1e6 * (between - start));
        *exact = fmin(*exact, 1e6 * (carom_time_seconds() - between));
    }
    return status;
}

static carom_status follow(carom_context *context, const knot *k, display *d, path *p) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < POSES && status == CAROM_OK; ++i) {
        carom_pose pose = pose_at(i);
        carom_packing_overlap overlap;
        uint64_t count = 0;
        status = time_pose(context, k, &pose, &p->microseconds[i], &p->exact[i], &overlap);
        if (status == CAROM_OK)
            status = carom_balls_count(context, k->balls, NULL, k->balls, &pose,
                                       CAROM_BALLS_PAIR_KIND_INNER, NULL, &count);
        if (status != CAROM_OK) break;
        p->at[i] = 0.12 * i;
        p->pairs[i] = (double)count;
        p->volume[i] = overlap.volume.value;
        display_add_pose(d, d->items[1], pose);
        display_add_time(d, p->at[i]);
    }
    return status;
}

static carom_status add_packing(display *d, const carom_packing *packing, display_colour colour) {
    carom_packing_spheres spheres = {0};
    carom_status status = carom_packing_list_spheres(d->cli->context, packing, &spheres);
    if (status == CAROM_OK) {
        display_item *item = display_add(d, DISPLAY_SPHERES, "knot");
        item->colour = colour;
        for (uint64_t i = 0; i < spheres.count && i < SPHERES / 4; ++i)
            display_add_sphere(d, item, spheres.data[i].centre, spheres.data[i].radius);
    }
    carom_packing_spheres_free(&spheres);
    return status;
}

static carom_status show(demo *demo, display *d, path *p, uint64_t most) {
    double least = HUGE_VAL, worst = 0.0, pairs = 0.0, fast = HUGE_VAL, slow = 0.0;
    for (int i = 0; i < POSES; ++i) {
        p->bound[i] = (double)most;
        worst = fmax(worst, p->microseconds[i]);
        if (is_inside(i)) {
            least = fmin(least, p->microseconds[i]);
            fast = fmin(fast, p->exact[i]);
            slow = fmax(slow, p->exact[i]);
        }
        pairs = fmax(pairs, p->pairs[i]);
    }
    display_plot *work = display_add_plot(d, "Pairs of spheres, and their bound", "time", "");
    display_add_series(d, work, "bound in any pose", p->at, p->bound, POSES);
    display_add_series(d, work, "pairs", p->at, p->pairs, POSES);
    display_plot *took = display_add_plot(d, "Time of the query, µs", "time", "");
    display_add_series(d, took, "exact overlap, µs", p->at, p->exact, POSES);
    display_add_series(d, took, "spheres, µs", p->at, p->microseconds, POSES);
    display_add_series(d, display_add_plot(d, "Volume of the overlap", "time", ""), "volume", p->at,
                       p->volume, POSES);
    d->still = POSES / 2;
    snprintf(demo->number, sizeof(demo->number), "%.0f to %.0f µs", least, worst);
    snprintf(
        demo->words, sizeof(demo->words),
        "per query on this machine while one knot of %u spheres tumbles in the other; the "
        "exact overlap takes %.0f to %.0f µs there. At most %.0f pairs of spheres met; no pose "
        "can have more than %llu.",
        SPHERES, fast, slow, pairs, (unsigned long long)most);
    snprintf(demo->result, sizeof(demo->result),
             "two knots of %u spheres compared in %.0f us in the worst of %d poses", SPHERES, worst,
             POSES);
    return demo_show(demo, d, "A knot made of spheres slides through its turning copy");
}

/* The time of a query, by spheres and of the exact overlap, of meshes of several sizes. */
static carom_status measure_sizes(demo *demo) {
    static const uint32_t details[SIZES] = {48, 96, 192, 384};
    double sizes[SIZES], spheres[SIZES], exact[SIZES];
    carom_pose pose = pose_at(POSES / 3);
    carom_status status = CAROM_OK;
    for (int i = 0; i < SIZES && status == CAROM_OK; ++i) {
        knot k = {0};
        status = open_knot(demo->cli->context, details[i], &k);
        if (status == CAROM_OK)
            status = time_pose(demo->cli->context, &k, &pose, &spheres[i], &exact[i], NULL);
        if (status == CAROM_OK) sizes[i] = (double)k.view.face_count;
        close_knot(&k);
    }
    if (status != CAROM_OK) return status;
    page_curve curves[] = {{"exact overlap", sizes, exact, SIZES},
                           {"1,500 spheres", sizes, spheres, SIZES}};
    page_chart(
        &demo->page,
        "Constant time: as many spheres take as long for the finest mesh as for the coarsest.",
        "triangles of each", "microseconds", curves, 2);
    return CAROM_OK;
}

static carom_status run(demo *demo) {
    carom_context *context = demo->cli->context;
    carom_balls_most most = {0};
    knot k = {0};
    path *p = calloc(1, sizeof(*p));
    display d;
    display_begin(
        &d, demo->cli,
        "A copy of a knot slides into it, tumbles there and leaves: 1,500 spheres each, of "
        "which the largest are drawn.");
    carom_status status = p != NULL ? open_knot(context, 96, &k) : CAROM_NO_MEMORY;
    if (status == CAROM_OK)
        status =
            carom_balls_bound(context, k.balls, k.balls, CAROM_BALLS_PAIR_KIND_INNER, NULL, &most);
    if (status == CAROM_OK)
        status = add_packing(&d, k.packing, (display_colour){66, 133, 190, 255});
    if (status == CAROM_OK)
        status = add_packing(&d, k.packing, (display_colour){219, 137, 60, 255});
    if (status == CAROM_OK) status = follow(context, &k, &d, p);
    if (status == CAROM_OK)
        status = show(demo, &d, p, most.pairs < most.disjoint ? most.pairs : most.disjoint);
    if (status == CAROM_OK) status = measure_sizes(demo);
    display_free(&d);
    free(p);
    close_knot(&k);
    return status;
}

const demo_part demo_balls = {
    71,
    "balls",
    "packings compared in constant time",
    "How much do two packings overlap, with work that is bounded for every pose?",
    "Every sphere looks up its neighbours in a grid of the other packing: the work does not depend "
    "on the meshes, and has a bound for all poses, known before the first one.",
    "The paper prints about 1 ms per pose for up to 20,000 spheres on a GTX 680; here one core "
    "took "
    "0.2 to 0.9 ms for 20,000 (bench/results/epyc-avx512-1core/balls.csv).",
    "carom make knot -o knot.stl\n"
    "carom query knot.stl knot.stl --engine balls --spheres 500 --pose 1,0,0,0.8,0.6,0,0 "
    "-o balls.html",
    run};
