/* SPDX-License-Identifier: MIT */
/* What opens the demo: a ring is dragged through a knot along a path; in each of its poses the
 * overlap is lit, and its volume and the force that separates them stand beside it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "cli/region.h"

#define FRAMES  97
#define SECONDS 9.6 /* of the motion on the page */
#define STILL   46  /* the frame with which the page opens: one with much overlap */
#define TURN    3.8 /* radians that the ring turns along the path */
#define PI      3.14159265358979323846

/* From right to left, rising and falling, turning about a fixed axis. */
static carom_pose pose_at(int frame) {
    double s = frame / (FRAMES - 1.0), half = 0.5 * TURN * s;
    return (carom_pose){{cos(half), 0.36 * sin(half), 0.48 * sin(half), 0.8 * sin(half)},
                        {3.3 - 6.1 * s, 0.9 * sin(2.0 * PI * s), 0.35 * sin(3.0 * PI * s)}};
}

typedef struct drag {
    demo_shape shapes[2]; /* the knot, which stays, and the ring */
    carom_solid *solids[2];
    display d;
    double times[FRAMES], volume[FRAMES], force[FRAMES];
    double seconds; /* of all queries */
    int overlapping;
} drag;

static carom_status prepare(demo *demo, drag *g) {
    static const carom_shape_def defs[2] = {{.shape = CAROM_SHAPE_KNOT, .detail = 128},
                                            {.shape = CAROM_SHAPE_TORUS, .detail = 40}};
    carom_status status = CAROM_OK;
    for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
        status = demo_shape_open(demo, &defs[i], NULL, &g->shapes[i]);
        carom_solid_def def = {.mesh = &g->shapes[i].view};
        if (status == CAROM_OK)
            status = carom_solid_create(demo->cli->context, &def, &g->solids[i]);
    }
    return status;
}

/* The overlap's surface and the force in one pose. */
static carom_status add_frame(demo *demo, drag *g, int frame) {
    carom_pose pose = pose_at(frame);
    carom_solid_result r;
    double start = carom_time_seconds();
    carom_status status =
        carom_solid_overlap(demo->cli->context, g->solids[0], NULL, g->solids[1], &pose, NULL, &r);
    g->seconds += carom_time_seconds() - start;
    if (status != CAROM_OK) return status;
    carom_vec3 f = r.force;
    g->volume[frame] = r.volume;
    g->force[frame] = sqrt(f.x * f.x + f.y * f.y + f.z * f.z);
    g->times[frame] = SECONDS * frame / (FRAMES - 1.0);
    if (!(r.volume > 0.0)) return CAROM_OK;
    ++g->overlapping;
    uint64_t before = g->d.item_count;
    display_mesh both[2] = {g->shapes[0].shown, {0}};
    status = display_mesh_open(demo->cli, &g->shapes[1].view, false, &pose, &both[1]);
    if (status == CAROM_OK) both[1].parts[0] = g->shapes[1].shown.parts[0];
    if (status == CAROM_OK) status = region_add(&g->d, both);
    display_mesh_close(&both[1]);
    if (status == CAROM_OK) display_add_arrow(&g->d, "force on the ring", r.centroid, f, NULL);
    for (uint64_t i = before; i < g->d.item_count; ++i)
        display_show_during(g->d.items[i], (uint64_t)frame, (uint64_t)frame + 1);
    return status;
}

static carom_status follow(demo *demo, drag *g) {
    carom_status status = CAROM_OK;
    (void)demo_shape_add(&g->d, &g->shapes[0], "knot");
    display_item *ring = demo_shape_add(&g->d, &g->shapes[1], "ring");
    ring->ghost = true;
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        status = add_frame(demo, g, i);
        display_add_pose(&g->d, ring, pose_at(i));
        display_add_time(&g->d, g->times[i]);
    }
    g->d.still = STILL;
    return status;
}

static carom_status run(demo *demo) {
    drag *g = calloc(1, sizeof(*g));
    if (g == NULL) return CAROM_NO_MEMORY;
    display_begin(&g->d, demo->cli,
                  "A ring is dragged through a knot. What they share is lit; the arrow is the "
                  "force that pushes the ring out.");
    carom_status status = prepare(demo, g);
    if (status == CAROM_OK) status = follow(demo, g);
    if (status == CAROM_OK) {
        display_add_series(&g->d, display_add_plot(&g->d, "Volume of the overlap", "time", ""),
                           "volume", g->times, g->volume, FRAMES);
        display_add_series(&g->d, display_add_plot(&g->d, "Force on the ring", "time", ""), "force",
                           g->times, g->force, FRAMES);
        status = demo_show(demo, &g->d, "A ring passes through a knot; their overlap is lit");
        double each = 1e6 * g->seconds / FRAMES;
        snprintf(demo->number, sizeof(demo->number), "%.0f µs", each);
        snprintf(demo->words, sizeof(demo->words),
                 "per pose on this machine, for volume, centroid, force and torque with their "
                 "error bounds: %llu and %llu triangles, %d poses, %d of them with an overlap.",
                 (unsigned long long)g->shapes[0].view.face_count,
                 (unsigned long long)g->shapes[1].view.face_count, FRAMES, g->overlapping);
        snprintf(demo->result, sizeof(demo->result),
                 "%d poses of a ring in a knot: volume and force of each in %.0f us", FRAMES, each);
    }
    display_free(&g->d);
    for (int i = 0; i < 2; ++i) {
        carom_solid_destroy(g->solids[i]);
        demo_shape_close(&g->shapes[i]);
    }
    free(g);
    return status;
}

const demo_part demo_drag = {
    1,
    "drag",
    "a ring dragged through a knot",
    NULL,
    "Do two bodies touch, where, how deep, and which way out? Every answer here is exact or comes "
    "with its error bound. Drag a scene to turn it; click it, and the wheel zooms.",
    NULL,
    "carom make knot -o knot.stl\n"
    "carom make torus -o ring.stl\n"
    "carom query knot.stl ring.stl --pose 1,0.3,0,0.8,0.2,0.3,0.5 -o overlap.html",
    run};
