/* SPDX-License-Identifier: MIT */
/* The demo's section on times of impact: a ball passes a thin plate between two of the times at
 * which a program would look, which is called tunnelling; conservative advancement finds when it
 * touches. Then the same with a torus thrown at another, ever faster. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"

#define LOOKS  10 /* steps of the program that only tests whether they meet now */
#define FRAMES 101
#define SPEEDS 5
#define FAST   51 /* steps between looks at the torus: none is just in the middle */

static const double speeds[SPEEDS] = {10, 20, 100, 500, 2000};

typedef struct thrown {
    demo_shape shapes[2]; /* what stays, and what moves */
    carom_soup *soups[2];
    carom_motion motion;
    carom_advance answer;
    bool seen; /* by looks at equal times */
    double seconds;
} thrown;

static carom_status make(demo *demo, thrown *t, const carom_shape_def defs[2]) {
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        status = demo_shape_open(demo, &defs[i], NULL, &t->shapes[i]);
        carom_soup_def def = {.mesh = &t->shapes[i].view, .rigid = true};
        if (status == CAROM_OK) status = carom_soup_create(demo->cli->context, &def, &t->soups[i]);
    }
    return status;
}

static void destroy(thrown *t) {
    for (int i = 0; i < 2; ++i) {
        carom_soup_destroy(t->soups[i]);
        demo_shape_close(&t->shapes[i]);
    }
}

/* When they touch, and whether any of some equally spaced times shows that they meet. */
static carom_status answer(carom_context *context, thrown *t, int looks) {
    double start = carom_time_seconds();
    carom_status status = carom_soup_cross_advance(context, t->soups[0], NULL, t->soups[1],
                                                   &t->motion, NULL, &t->answer);
    t->seconds = carom_time_seconds() - start;
    t->seen = false;
    for (int i = 0; i <= looks && status == CAROM_OK && !t->seen; ++i) {
        carom_pose pose;
        status = carom_motion_evaluate(context, &t->motion, (double)i / looks, &pose);
        if (status == CAROM_OK)
            status =
                carom_soup_cross_meet(context, t->soups[0], NULL, t->soups[1], &pose, &t->seen);
    }
    return status;
}

/* ---- The scene ------------------------------------------------------------------------------- */

/* The looks as see-through balls, one ball that goes on, and one that stops at the impact. */
static carom_status fill(demo *demo, display *d, thrown *t) {
    carom_context *context = demo->cli->context;
    (void)demo_shape_add(d, &t->shapes[0], "plate");
    display_item *stops = demo_shape_add(d, &t->shapes[1], "stops at the time of impact");
    stops->colour = (display_colour){219, 137, 60, 255};
    display_item *passes = display_add(d, DISPLAY_SPHERES, "the steps");
    display_item *goes_on = display_add(d, DISPLAY_SPHERES, "passes, by the steps");
    passes->ghost = goes_on->ghost = true;
    carom_status status = CAROM_OK;
    for (int i = 0; i <= LOOKS && status == CAROM_OK; ++i) {
        carom_pose pose = {0};
        status = carom_motion_evaluate(context, &t->motion, (double)i / LOOKS, &pose);
        display_add_sphere(d, passes, pose.t, 1.0);
    }
    display_add_sphere(d, goes_on, (carom_vec3){0.0, 0.0, 0.0}, 1.0);
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        double time = i / (FRAMES - 1.0);
        carom_pose pose = {0}, stopped = {0};
        status =
            carom_motion_evaluate(context, &t->motion, floor(time * LOOKS + 1e-9) / LOOKS, &pose);
        if (status == CAROM_OK)
            status =
                carom_motion_evaluate(context, &t->motion, fmin(time, t->answer.time), &stopped);
        display_add_time(d, 8.0 * time);
        display_add_pose(d, goes_on, pose);
        display_add_pose(d, stops, stopped);
    }
    display_item *points = display_add(d, DISPLAY_POINTS, "first contact");
    display_add_point(d, points, t->answer.point_a);
    display_show_during(points, (uint64_t)ceil(t->answer.time * (FRAMES - 1)), FRAMES);
    d->still = FRAMES - 1;
    return status;
}

static carom_status show(demo *demo) {
    /* The ball moves by 2.4 of its radii from look to look, past a plate 0.1 thick. */
    static const carom_shape_def defs[2] = {
        {.shape = CAROM_SHAPE_CYLINDER, .detail = 48, .size = 4.0, .ratio = 0.0125},
        {.shape = CAROM_SHAPE_SPHERE, .detail = 3}};
    thrown t = {.motion = {.from = {.t = {0.3, 0.2, -10.8}}, .to = {.t = {0.3, 0.2, 13.2}}}};
    display d;
    display_begin(
        &d, demo->cli,
        "Looks after each of ten equal steps (see-through) never see the ball in the plate; it "
        "stops where it really touches.");
    carom_status status = make(demo, &t, defs);
    if (status == CAROM_OK) status = answer(demo->cli->context, &t, LOOKS);
    if (status == CAROM_OK) status = fill(demo, &d, &t);
    if (status == CAROM_OK) {
        display_tell_text(&d, &d.answers, "looks after equal steps",
                          t.seen ? "see it" : "see nothing");
        display_tell(&d, &d.answers, "time of impact", t.answer.time, NULL);
        display_bound(&d, &d.answers, "from 0 to 1; never after the first contact");
        display_tell(&d, &d.answers, "distance then", t.answer.distance, NULL);
        display_tell_count(&d, &d.answers, "distances computed", t.answer.steps);
        demo_tell_time(&d, t.seconds);
        status = demo_show(demo, &d, "A ball passes a thin plate between two steps and is stopped");
    }
    if (status == CAROM_OK && t.answer.hit) {
        snprintf(demo->number, sizeof(demo->number), "t = %.4f", t.answer.time);
        snprintf(demo->words, sizeof(demo->words),
                 "is when the ball touches the plate, found in %.2f ms on this machine; looks "
                 "after each "
                 "of %d equal steps %s.",
                 1e3 * t.seconds, LOOKS, t.seen ? "see it too" : "miss it");
    }
    destroy(&t);
    display_free(&d);
    return status;
}

/* ---- Ever faster ----------------------------------------------------------------------------- */

static carom_status run(demo *demo) {
    static const carom_shape_def defs[2] = {
        {.shape = CAROM_SHAPE_TORUS, .detail = 64},
        {.shape = CAROM_SHAPE_TORUS, .detail = 48, .ratio = 0.2}};
    static const char *const heads[] = {"radii per step", "52 looks", "time of impact",
                                        "distances"};
    thrown t = {.seen = false};
    carom_status status = show(demo);
    if (status == CAROM_OK) status = make(demo, &t, defs);
    fputs("<p>A torus is thrown at another, ever faster:</p>\n", demo->page.out);
    page_begin_table(&demo->page, heads, 4);
    for (int i = 0; i < SPEEDS && status == CAROM_OK; ++i) {
        char cells[3][32];
        double half = 0.5 * speeds[i];
        t.motion = (carom_motion){.from = {.t = {-half, 0.1, 0.0}},
                                  .to = {.q = {1.0, 2.0, 1.0, 0.0}, .t = {half, 0.0, 0.2}}};
        status = answer(demo->cli->context, &t, FAST);
        snprintf(cells[0], sizeof(cells[0]), "%g", speeds[i]);
        snprintf(cells[1], sizeof(cells[1]), t.answer.hit ? "%.6f" : "none", t.answer.time);
        snprintf(cells[2], sizeof(cells[2]), "%llu", (unsigned long long)t.answer.steps);
        const char *row[4] = {cells[0], t.seen ? "see it" : "miss it", cells[1], cells[2]};
        page_row(&demo->page, row, 4);
    }
    page_end_table(&demo->page);
    snprintf(demo->result, sizeof(demo->result),
             "a torus at %g radii per step stopped at contact after %llu distances, %.2f ms",
             speeds[SPEEDS - 1], (unsigned long long)t.answer.steps, 1e3 * t.seconds);
    destroy(&t);
    return status;
}

const demo_part demo_toi = {
    73,
    "toi",
    "when a fast ball first touches a plate",
    "When do moving bodies first touch, however fast they are?",
    "From the distance and the speed follows how long nothing can happen; so the search takes few "
    "steps and never passes through.",
    "For motions of two convex hulls FCL and Bullet took on the order of 6 times as long; on "
    "published queries FCL missed 27 of 297 hits (bench/results/epyc-avx512-1core/toi.csv).",
    "carom make torus -o torus.stl\n"
    "carom make knot -o knot.stl\n"
    "carom toi torus.stl knot.stl --pose 9,0,0,1,0,0,0 --to -9,0,0,1,1,0,0 -o impact.html",
    run};
