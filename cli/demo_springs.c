/* SPDX-License-Identifier: MIT */
/* The demo's section on sphere springs: a soft knot falls on a ring, with the energies of its
 * motion. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo.h"
#include "scenes/springs.h"

#define FRAMES     61
#define FRAME_TIME 0.07
#define DAMPING    0.1

typedef struct energies {
    double at[FRAMES], kinetic[FRAMES], gravity[FRAMES], elastic[FRAMES], total[FRAMES];
} energies;

static display_item *add_spheres(display *d, const char *name, display_colour colour,
                                 const carom_packing_sphere *spheres, uint64_t count) {
    display_item *item = display_add(d, DISPLAY_SPHERES, name);
    item->colour = colour;
    for (uint64_t i = 0; i < count; ++i)
        display_add_sphere(d, item, spheres[i].centre, spheres[i].radius);
    return item;
}

/* Adds the scene as it is as a frame. */
static void add_frame(display *d, display_item *knot, const scene_springs *s, energies *e, int i) {
    carom_vec3 *at = malloc((size_t)(s->count + 1) * sizeof(*at));
    if (at == NULL) d->no_memory = true;
    for (uint64_t k = 0; k < s->count && at != NULL; ++k) at[k] = s->spheres[k].centre;
    if (at != NULL) display_add_frame(d, knot, at, s->count);
    free(at);
    scene_springs_energy now = scene_springs_get_energy(s);
    e->at[i] = s->time;
    e->kinetic[i] = now.kinetic;
    e->gravity[i] = now.gravity;
    e->elastic[i] = now.springs + now.contact;
    e->total[i] = now.kinetic + now.gravity + e->elastic[i];
    display_add_time(d, s->time);
}

/* Moves the scene through all frames; the steps that it takes and the seconds of each. */
static carom_status follow(demo *demo, display *d, scene_springs *s, energies *e, uint64_t *steps,
                           double *seconds) {
    display_item *knot =
        add_spheres(d, "knot", (display_colour){66, 133, 190, 255}, s->spheres, s->count);
    (void)add_spheres(d, "ring", (display_colour){219, 137, 60, 255}, s->obstacle.data,
                      s->obstacle.count);
    carom_status status = CAROM_OK;
    double start = carom_time_seconds();
    *steps = 0;
    for (int i = 0; i < FRAMES && status == CAROM_OK; ++i) {
        while (s->time < i * FRAME_TIME && status == CAROM_OK) {
            status = scene_springs_advance(demo->cli->context, s);
            ++*steps;
        }
        add_frame(d, knot, s, e, i);
    }
    *seconds = (carom_time_seconds() - start) / (double)*steps;
    return status;
}

static carom_status show(demo *demo, display *d, const scene_springs *s, const energies *e,
                         uint64_t steps, double seconds) {
    display_plot *plot = display_add_plot(d, "Energy", "time", "");
    display_add_series(d, plot, "all", e->at, e->total, FRAMES);
    display_add_series(d, plot, "of motion", e->at, e->kinetic, FRAMES);
    display_add_series(d, plot, "of height", e->at, e->gravity, FRAMES);
    display_add_series(d, plot, "of springs and contact", e->at, e->elastic, FRAMES);
    d->up = 'z';
    d->still = FRAMES / 2;
    snprintf(demo->number, sizeof(demo->number), "%.0f \302\265s", 1e6 * seconds);
    snprintf(demo->words, sizeof(demo->words),
             "per step on this machine: %llu spheres move, their grid is made anew, pairs with "
             "those of the ring are found, and forces follow from their lenses. %llu steps.",
             (unsigned long long)s->count, (unsigned long long)steps);
    snprintf(demo->result, sizeof(demo->result),
             "a knot of %llu spheres and %llu springs fell on a ring in steps of %.0f us",
             (unsigned long long)s->count, (unsigned long long)s->spring_count, 1e6 * seconds);
    return demo_show(demo, d, "A soft knot made of spheres slides over a ring made of spheres");
}

static carom_status run(demo *demo) {
    const scene_springs_def def = {.damping = DAMPING};
    scene_springs scene;
    energies e;
    uint64_t steps;
    double seconds;
    display d;
    display_begin(&d, demo->cli,
                  "Springs join neighbours in the packing of a knot; it falls on a ring and "
                  "slides off; energy goes into damping alone.");
    carom_status status = scene_springs_make(demo->cli->context, &def, &scene);
    if (status == CAROM_OK) status = follow(demo, &d, &scene, &e, &steps, &seconds);
    if (status == CAROM_OK) status = show(demo, &d, &scene, &e, steps, seconds);
    scene_springs_free(&scene);
    display_free(&d);
    return status;
}

const demo_part demo_springs = {
    74,
    "springs",
    "packings that deform",
    "What if the spheres of a packing move apart?",
    "The spheres are given to the grid anew in each step; the force on each is the derivative of "
    "the volume that it has in common with the other packing.",
    "No peer was measured: the papers of these packings leave bodies that deform to the future.",
    "carom make knot -o knot.stl\n"
    "carom pack knot.stl -n 150 -o knot.html",
    run};
