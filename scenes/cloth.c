/* SPDX-License-Identifier: MIT */
/* Position-based dynamics (Mueller, Heidelberger, Hennix, Ratcliff 2007): points are moved by their
 * velocities, then distances between neighbours are restored one after the other, then points are
 * moved out of obstacles; velocities follow from the positions. The order is fixed, so that a cloth
 * has one course. The cloth does not notice itself: finding where it does is the task of the
 * benchmarks. */
#include "scenes/cloth.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/math.h"
#include "geom/vec.h"

#define STEPS      4     /* per frame */
#define ITERATIONS 5     /* per step; with fewer the cloth stretches visibly */
#define GRAVITY    9.8   /* downwards along z; the unit of length is about half a metre */
#define DRAG       0.998 /* share of the velocity that is left after a step */
#define BENDING    0.05  /* share of the error of a distance over two edges that is taken away */
#define RIPPLE     0.004 /* height of waves at the start: no cloth is flat to the last bit */
#define SHEARING   0.4   /* the same over a diagonal */

scene_contact scene_contact_nearer(scene_contact a, scene_contact b) {
    return b.distance < a.distance ? b : a;
}

static scene_contact contact_of(carom_vec3 away, double radius) {
    double length = carom_vec_length(away);
    scene_contact contact = {.distance = length - radius, .normal = {0.0, 0.0, 1.0}};
    if (length > 0.0) contact.normal = carom_vec_scale(away, 1.0 / length);
    return contact;
}

scene_contact scene_contact_capsule(carom_vec3 p, carom_vec3 a, carom_vec3 b, double radius) {
    carom_vec3 along = carom_vec_sub(b, a), from = carom_vec_sub(p, a);
    double square = carom_vec_dot(along, along), t = 0.0;
    if (square > 0.0) t = carom_vec_dot(from, along) / square;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return contact_of(carom_vec_sub(from, carom_vec_scale(along, t)), radius);
}

scene_contact scene_contact_wall(carom_vec3 p, const double a[2], const double b[2]) {
    double radius = sqrt(p.x * p.x + p.y * p.y);
    double x = radius > 0.0 ? p.x / radius : 1.0, y = radius > 0.0 ? p.y / radius : 0.0;
    carom_vec3 from = {a[0] * x, a[0] * y, a[1]}, to = {b[0] * x, b[0] * y, b[1]};
    return scene_contact_capsule(p, from, to, 0.0);
}

typedef struct cloth {
    const scene_cloth_def *def;
    uint32_t columns, rows;
    carom_vec3 *at, *before, *velocity;
} cloth;

/* Brings two points nearer to their distance in the flat cloth. */
static void restore(carom_vec3 *a, carom_vec3 *b, double rest, double share) {
    carom_vec3 d = carom_vec_sub(*b, *a);
    double length = carom_vec_length(d);
    if (!(length > 0.0)) return;
    d = carom_vec_scale(d, 0.5 * share * (length - rest) / length);
    *a = carom_vec_add(*a, d);
    *b = carom_vec_sub(*b, d);
}

/* All pairs of points that are so many columns and rows apart. One loop, not two: gcc 12 with -O3
 * computes two rows at a time (-floop-unroll-and-jam), although a row depends on the one before. */
static void restore_all(cloth *c, int32_t right, int32_t down, double share) {
    const scene_cloth_def *def = c->def;
    int32_t columns = (int32_t)c->columns, rows = (int32_t)c->rows;
    carom_vec3 flat = carom_vec_add(carom_vec_scale(def->across, right / (columns - 1.0)),
                                    carom_vec_scale(def->along, down / (rows - 1.0)));
    double rest = carom_vec_length(flat);
    ptrdiff_t count = (ptrdiff_t)(rows - down) * columns, apart = (ptrdiff_t)down * columns + right;
    for (ptrdiff_t i = 0; i < count; ++i) {
        int32_t column = (int32_t)(i % columns) + right;
        if (column >= 0 && column < columns) restore(&c->at[i], &c->at[i + apart], rest, share);
    }
}

static void push_out(cloth *c, double time, double step) {
    const scene_cloth_def *def = c->def;
    for (uint64_t i = 0; i < (uint64_t)c->columns * c->rows; ++i) {
        scene_contact contact = def->obstacle(def->user, c->at[i], time);
        if (contact.distance >= def->thickness) continue;
        carom_vec3 p = carom_vec_add(
            c->at[i], carom_vec_scale(contact.normal, def->thickness - contact.distance));
        carom_vec3 slip =
            carom_vec_sub(carom_vec_sub(p, c->before[i]), carom_vec_scale(contact.velocity, step));
        slip = carom_vec_sub(slip,
                             carom_vec_scale(contact.normal, carom_vec_dot(slip, contact.normal)));
        c->at[i] = carom_vec_sub(p, carom_vec_scale(slip, def->friction));
    }
}

static void advance(cloth *c, double time, double step) {
    uint64_t count = (uint64_t)c->columns * c->rows;
    for (uint64_t i = 0; i < count; ++i) {
        c->before[i] = c->at[i];
        c->velocity[i].z -= GRAVITY * step;
        c->at[i] = carom_vec_add(c->at[i], carom_vec_scale(c->velocity[i], step));
    }
    for (int i = 0; i < ITERATIONS; ++i) {
        restore_all(c, 2, 0, BENDING);
        restore_all(c, 0, 2, BENDING);
        restore_all(c, 1, 1, SHEARING);
        restore_all(c, -1, 1, SHEARING);
        restore_all(c, 1, 0, 1.0);
        restore_all(c, 0, 1, 1.0);
        if (i % 3 == 1) push_out(c, time, step); /* also after the last */
    }
    for (uint64_t i = 0; i < count; ++i)
        c->velocity[i] = carom_vec_scale(carom_vec_sub(c->at[i], c->before[i]), DRAG / step);
}

bool scene_cloth_simulate(const scene_cloth_def *def, uint32_t frames, carom_vec3 *points) {
    uint64_t count = (uint64_t)def->points[0] * def->points[1];
    cloth c = {.def = def, .columns = def->points[0], .rows = def->points[1]};
    c.at = malloc(count * sizeof(*c.at));
    c.before = malloc(count * sizeof(*c.before));
    c.velocity = calloc(count, sizeof(*c.velocity));
    bool good = c.at != NULL && c.before != NULL && c.velocity != NULL;
    for (uint64_t i = 0; i < count && good; ++i) {
        double u = (double)(i % c.columns) / (c.columns - 1.0);
        double v = (double)(i / c.columns) / (c.rows - 1.0);
        c.at[i] = carom_vec_add(def->origin, carom_vec_add(carom_vec_scale(def->across, u),
                                                           carom_vec_scale(def->along, v)));
        c.at[i].z += RIPPLE * carom_sin(17.0 * u + 3.0 * v) * carom_cos(2.0 * u + 13.0 * v);
    }
    for (uint32_t frame = 0; frame < frames && good; ++frame) {
        memcpy(points + frame * count, c.at, count * sizeof(*points));
        for (int i = 0; i < STEPS; ++i) {
            double step = SCENE_FRAME_SECONDS / STEPS;
            advance(&c, frame * SCENE_FRAME_SECONDS + (i + 1) * step, step);
        }
    }
    free(c.at);
    free(c.before);
    free(c.velocity);
    return good;
}
