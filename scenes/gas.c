/* SPDX-License-Identifier: MIT */
/* Starts of moving spheres. A lattice melts within a few collisions a sphere below a packing
 * fraction of 0.49, and unlike random insertion it reaches that. */
#include "scenes/gas.h"

#include <math.h>
#include <stdlib.h>

#include "base/math.h"

double scene_gas_edge(uint64_t count, double radius, double fraction) {
    double volume = 4.0 / 3.0 * 3.14159265358979323846 * radius * radius * radius;
    return carom_cbrt((double)count * volume / fraction);
}

double scene_gas_radius(uint64_t count, double edge, double fraction) {
    double pi = 3.14159265358979323846;
    return 0.5 * carom_cbrt(6.0 * fraction * edge * edge * edge / (pi * (double)count));
}

/* Cells of the lattice along each axis, four sites each, at least `count` sites in all. */
static void lattice_cells(uint64_t count, carom_vec3 edges, uint64_t cells[3]) {
    double step = carom_cbrt(4.0 * edges.x * edges.y * edges.z / (double)(count > 0 ? count : 1));
    for (;; step *= 0.999) {
        cells[0] = (uint64_t)fmax(floor(edges.x / step * 1.0001), 1.0);
        cells[1] = (uint64_t)fmax(floor(edges.y / step * 1.0001), 1.0);
        cells[2] = (uint64_t)fmax(floor(edges.z / step * 1.0001), 1.0);
        if (4 * cells[0] * cells[1] * cells[2] >= count) return;
    }
}

double scene_gas_most_radius(uint64_t count, carom_vec3 edges) {
    uint64_t cells[3];
    lattice_cells(count, edges, cells);
    double a = edges.x / (double)cells[0], b = edges.y / (double)cells[1],
           c = edges.z / (double)cells[2];
    double nearest = fmin(carom_hypot(a, b), fmin(carom_hypot(b, c), carom_hypot(c, a)));
    nearest = fmin(0.5 * nearest, fmin(a, fmin(b, c)));
    return 0.5 * nearest * (1.0 - 1e-12);
}

static void stop_drift(carom_gas_sphere *spheres, uint64_t count) {
    carom_vec3 mean = {0.0, 0.0, 0.0};
    for (uint64_t i = 0; i < count; ++i) {
        mean.x += spheres[i].velocity.x / (double)count;
        mean.y += spheres[i].velocity.y / (double)count;
        mean.z += spheres[i].velocity.z / (double)count;
    }
    double square = 0.0;
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        v->x -= mean.x;
        v->y -= mean.y;
        v->z -= mean.z;
        square += v->x * v->x + v->y * v->y + v->z * v->z;
    }
    double scale = square > 0.0 ? sqrt(3.0 * (double)count / square) : 1.0;
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *v = &spheres[i].velocity;
        v->x *= scale;
        v->y *= scale;
        v->z *= scale;
    }
}

carom_gas_sphere *scene_gas_lattice(uint64_t count, double radius, carom_vec3 edges,
                                    uint64_t seed) {
    static const double corner[4][3] = {
        {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
    if (count == 0 || radius > scene_gas_most_radius(count, edges)) return NULL;
    uint64_t cells[3];
    lattice_cells(count, edges, cells);
    uint64_t sites = 4 * cells[0] * cells[1] * cells[2], taken = 0;
    carom_gas_sphere *spheres = malloc(count * sizeof(*spheres));
    if (spheres == NULL) return NULL;
    carom_random random = {seed};
    for (uint64_t site = 0; site < sites && taken < count; ++site) {
        double left = (double)(sites - site), needed = (double)(count - taken);
        if (carom_random_uniform(&random) * left >= needed) continue; /* each subset as likely */
        uint64_t cell = site / 4;
        const double *offset = corner[site % 4];
        carom_gas_sphere *s = &spheres[taken++];
        *s = (carom_gas_sphere){.radius = radius, .mass = 1.0};
        s->position.x = ((double)(cell % cells[0]) + offset[0]) * (edges.x / (double)cells[0]);
        cell /= cells[0];
        s->position.y = ((double)(cell % cells[1]) + offset[1]) * (edges.y / (double)cells[1]);
        cell /= cells[1];
        s->position.z = ((double)cell + offset[2]) * (edges.z / (double)cells[2]);
        s->velocity.x = carom_random_normal(&random);
        s->velocity.y = carom_random_normal(&random);
        s->velocity.z = carom_random_normal(&random);
    }
    stop_drift(spheres, count);
    return spheres;
}

void scene_gas_keep_inside(carom_gas_sphere *spheres, uint64_t count, const carom_gas_def *def) {
    const double edges[3] = {def->edges.x, def->edges.y, def->edges.z};
    for (int axis = 0; axis < 3; ++axis) {
        double low = HUGE_VAL, high = -HUGE_VAL, radius = 0.0;
        for (uint64_t i = 0; i < count; ++i) {
            double x = (&spheres[i].position.x)[axis];
            low = fmin(low, x);
            high = fmax(high, x);
            radius = fmax(radius, spheres[i].radius);
        }
        double to_low = fmax(low, radius), to_high = fmin(high, edges[axis] - radius);
        if (def->periodic[axis] || !(high > low) || !(to_high > to_low)) continue;
        for (uint64_t i = 0; i < count; ++i) {
            double *x = &(&spheres[i].position.x)[axis];
            *x = to_low + (*x - low) * ((to_high - to_low) / (high - low));
        }
    }
}

void scene_gas_set_speed(carom_gas_sphere *spheres, uint64_t count, double mean_speed) {
    double sum = 0.0;
    for (uint64_t i = 0; i < count; ++i)
        sum += carom_hypot(carom_hypot(spheres[i].velocity.x, spheres[i].velocity.y),
                           spheres[i].velocity.z);
    double scale = sum > 0.0 ? mean_speed * (double)count / sum : 0.0;
    for (uint64_t i = 0; i < count; ++i) {
        spheres[i].velocity.x *= scale;
        spheres[i].velocity.y *= scale;
        spheres[i].velocity.z *= scale;
    }
}
