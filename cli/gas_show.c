/* SPDX-License-Identifier: MIT */
/* Shows a gas: the spheres at each sample as frames, the box, and plots of g(r), of the
 * compressibility factor and of the energy. */
#include "cli/gas_show.h"

#include <math.h>
#include <stdlib.h>

#define CONSERVED 1e-9 /* relative change of an energy that is rounding alone */

void gas_show_begin(gas_show *show, cli *cli, bool still) {
    *show = (gas_show){.still = still};
    display_begin(&show->d, cli, "Hard spheres");
}

void gas_show_free(gas_show *show) {
    display_free(&show->d);
    free(show->z);
    free(show->energy);
    *show = (gas_show){0};
}

/* The twelve edges of the box. */
static void add_box(display *d, carom_vec3 edges) {
    display_item *item = display_add(d, DISPLAY_EDGES, "box");
    item->colour = (display_colour){120, 126, 134, 255};
    for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 4; ++side) {
            double p[3] = {0.0, 0.0, 0.0}, e[3] = {edges.x, edges.y, edges.z};
            p[(axis + 1) % 3] = side & 1 ? e[(axis + 1) % 3] : 0.0;
            p[(axis + 2) % 3] = side & 2 ? e[(axis + 2) % 3] : 0.0;
            carom_vec3 from = {p[0], p[1], p[2]};
            p[axis] = e[axis];
            display_add_segment(d, item, from, (carom_vec3){p[0], p[1], p[2]});
        }
}

/* Different sizes are told apart by a legend, spheres of one size by a few colours. */
static void add_spheres(gas_show *show, const carom_gas_spheres *spheres) {
    static const display_colour colours[] = {{66, 133, 190, 255},  {219, 137, 60, 255},
                                             {88, 160, 110, 255},  {180, 92, 110, 255},
                                             {128, 116, 180, 255}, {196, 172, 70, 255}};
    display *d = &show->d;
    double least = HUGE_VAL, most = 0.0;
    for (uint64_t i = 0; i < spheres->count; ++i) {
        least = fmin(least, spheres->data[i].radius);
        most = fmax(most, spheres->data[i].radius);
    }
    show->spheres = display_add(d, DISPLAY_SPHERES, "spheres");
    for (uint64_t i = 0; i < spheres->count; ++i) {
        const carom_gas_sphere *s = &spheres->data[i];
        display_add_sphere(d, show->spheres, s->position, s->radius);
        if (least < most)
            display_add_value(d, show->spheres, s->radius);
        else
            display_add_colour(d, show->spheres, colours[i % (sizeof(colours) / sizeof(*colours))]);
    }
    if (least < most) display_set_legend(d, "radius", NULL, least, most);
}

static bool reserve(gas_show *show) {
    if (show->d.time_count < show->capacity) return true;
    uint64_t capacity = 2 * show->capacity + 128;
    double *z = realloc(show->z, (size_t)capacity * sizeof(*z));
    if (z != NULL) show->z = z;
    double *energy = realloc(show->energy, (size_t)capacity * sizeof(*energy));
    if (energy != NULL) show->energy = energy;
    if (z == NULL || energy == NULL) show->d.no_memory = true;
    if (z == NULL || energy == NULL) return false;
    show->capacity = capacity;
    return true;
}

void gas_show_add(gas_show *show, const carom_gas_spheres *spheres, const carom_gas_info *info,
                  const carom_gas_measures *measures, double time) {
    display *d = &show->d;
    if (!reserve(show)) return;
    if (!show->still && show->spheres == NULL) {
        add_box(d, info->edges);
        add_spheres(show, spheres);
        if (info->periodic[0] || info->periodic[1] || info->periodic[2]) d->box = info->edges;
    }
    if (!show->still) {
        carom_vec3 *at = malloc((size_t)(spheres->count + 1) * sizeof(*at));
        if (at == NULL) d->no_memory = true;
        for (uint64_t i = 0; i < spheres->count && at != NULL; ++i)
            at[i] = spheres->data[i].position;
        if (at != NULL) display_add_frame(d, show->spheres, at, spheres->count);
        free(at);
    }
    show->z[d->time_count] = measures->z;
    show->energy[d->time_count] = measures->energy;
    display_add_time(d, time);
}

static void add_gr(display *d, const gas_gr *gr) {
    double *r = malloc((size_t)(2 * gr->bins + 1) * sizeof(*r)), *g = r + gr->bins;
    if (r == NULL) {
        d->no_memory = true;
        return;
    }
    for (uint64_t k = 0; k < gr->bins; ++k) g[k] = gas_gr_value(gr, k, &r[k]);
    display_add_series(d, display_add_plot(d, "Radial distribution function", "r", "g(r)"), "g(r)",
                       r, g, gr->bins);
    free(r);
}

void gas_show_end(gas_show *show, const gas_gr *gr, const carom_gas_measures *m) {
    display *d = &show->d;
    uint64_t first = 0; /* Z is known once time has passed */
    while (first < d->time_count && !isfinite(show->z[first])) ++first;
    if (gr->bins != 0 && gr->expected > 0.0) add_gr(d, gr);
    if (first + 1 < d->time_count)
        display_add_series(
            d, display_add_plot(d, "Pressure, from the start to each time", "time", "Z = PV/NkT"),
            "Z", d->times + first, show->z + first, d->time_count - first);
    double least = HUGE_VAL, most = 0.0;
    for (uint64_t i = 0; i < d->time_count; ++i) {
        least = fmin(least, show->energy[i]);
        most = fmax(most, show->energy[i]);
    }
    if (most - least > CONSERVED * most)
        display_add_series(d, display_add_plot(d, "Kinetic energy", "time", "energy"), "energy",
                           d->times, show->energy, d->time_count);
    display_tell_count(d, &d->answers, "spheres", m->spheres);
    display_tell(d, &d->answers, "packing fraction", m->packing_fraction, NULL);
    display_tell_count(d, &d->answers, "collisions", m->collisions);
    if (isfinite(m->z)) display_tell(d, &d->answers, "Z = PV/NkT", m->z, NULL);
    display_tell(d, &d->answers, "collision rate", m->collision_rate, NULL);
    if (isfinite(m->mean_free_path))
        display_tell(d, &d->answers, "mean free path", m->mean_free_path, NULL);
    display_tell(d, &d->answers, "energy", m->energy, NULL);
}
