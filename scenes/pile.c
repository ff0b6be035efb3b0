/* SPDX-License-Identifier: MIT */
/* A pile of hulls: a lattice whose points are moved aside at random. Hulls turn back after every
 * PILE_TURN_STEPS steps, so that the number of contacts stays about the same. */
#include "scenes/pile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PILE_POINTS     32u   /* of a hull */
#define PILE_ROW        25u   /* hulls in a row, and rows in a layer */
#define PILE_SPACING    1.795 /* of the lattice: measured, 4.7 contacts per hull */
#define PILE_JITTER     0.05  /* aside from it, along each axis */
#define PILE_SPEED      0.001 /* per step: length, and radians */
#define PILE_TURN_STEPS 32u   /* until hulls go back */
#define PILE_FLATTENED  0.05  /* how much a point may be nearer than the unit sphere */
#define PILE_TRIES      32u   /* directions of which the best becomes a point */

static carom_vec3 random_direction(carom_random *random) {
    double e[3];
    for (int k = 0; k < 3; ++k) e[k] = carom_random_normal(random);
    double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    return (carom_vec3){e[0] / length, e[1] / length, e[2] / length};
}

static carom_vec3 scaled(carom_vec3 v, double s) {
    return (carom_vec3){v.x * s, v.y * s, v.z * s};
}

/* The one of several random directions that is farthest from those before. */
static carom_vec3 next_direction(const carom_vec3 *before, uint32_t count, carom_random *random) {
    carom_vec3 best = random_direction(random);
    double least = 2.0; /* the greatest cosine with one before */
    for (uint32_t tries = 0; tries < PILE_TRIES; ++tries) {
        carom_vec3 d = random_direction(random);
        double most = -1.0;
        for (uint32_t i = 0; i < count; ++i) {
            double cosine = d.x * before[i].x + d.y * before[i].y + d.z * before[i].z;
            most = cosine > most ? cosine : most;
        }
        if (most < least) least = most, best = d;
    }
    return best;
}

static carom_status make_hull(carom_context *context, carom_random *random, carom_hull **hull) {
    carom_vec3 points[PILE_POINTS];
    for (uint32_t i = 0; i < PILE_POINTS; ++i) points[i] = next_direction(points, i, random);
    for (uint32_t i = 0; i < PILE_POINTS; ++i)
        points[i] = scaled(points[i], 1.0 - PILE_FLATTENED * carom_random_uniform(random));
    carom_mesh_view view = {.positions = &points[0].x, .vertex_count = PILE_POINTS};
    return carom_hull_create(context, &(carom_hull_def){.mesh = &view}, hull);
}

static carom_pose make_pose(uint64_t i, carom_random *random) {
    const uint64_t at[3] = {i % PILE_ROW, i / PILE_ROW % PILE_ROW, i / PILE_ROW / PILE_ROW};
    double q[4], t[3];
    for (int k = 0; k < 4; ++k) q[k] = carom_random_normal(random);
    for (int k = 0; k < 3; ++k)
        t[k] =
            PILE_SPACING * (double)at[k] + PILE_JITTER * (2.0 * carom_random_uniform(random) - 1.0);
    return (carom_pose){{q[0], q[1], q[2], q[3]}, {t[0], t[1], t[2]}};
}

carom_status scene_pile_make(carom_context *context, uint64_t count, uint64_t seed,
                             scene_pile *pile) {
    carom_random random = {seed};
    *pile = (scene_pile){.count = count};
    pile->poses = calloc(count + 1, sizeof(*pile->poses));
    pile->velocity = calloc(count + 1, sizeof(*pile->velocity));
    pile->turning = calloc(count + 1, sizeof(*pile->turning));
    if (pile->poses == NULL || pile->velocity == NULL || pile->turning == NULL)
        return CAROM_NO_MEMORY;
    for (uint32_t i = 0; i < SCENE_PILE_SHAPES; ++i) {
        carom_status status = make_hull(context, &random, &pile->hulls[i]);
        if (status != CAROM_OK) return status;
    }
    for (uint64_t i = 0; i < count; ++i) {
        pile->poses[i] = make_pose(i, &random);
        pile->velocity[i] = scaled(random_direction(&random), PILE_SPEED);
        pile->turning[i] = scaled(random_direction(&random), PILE_SPEED);
    }
    return CAROM_OK;
}

void scene_pile_free(scene_pile *pile) {
    for (uint32_t i = 0; i < SCENE_PILE_SHAPES; ++i) carom_hull_destroy(pile->hulls[i]);
    free(pile->poses);
    free(pile->velocity);
    free(pile->turning);
    *pile = (scene_pile){0};
}

carom_status scene_pile_add(carom_context *context, const scene_pile *pile, carom_scene *scene) {
    carom_scene_object_def *objects = calloc(pile->count + 1, sizeof(*objects));
    if (objects == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = 0; i < pile->count; ++i) {
        objects[i].convex.kind = CAROM_CONVEX_KIND_HULL;
        objects[i].convex.borrowed_hull = pile->hulls[i % SCENE_PILE_SHAPES];
        objects[i].pose = pile->poses[i];
    }
    carom_status status = carom_scene_add(context, scene, objects, pile->count, NULL);
    free(objects);
    return status;
}

void scene_pile_move(scene_pile *pile) {
    double way = pile->steps++ / PILE_TURN_STEPS % 2 == 0 ? 1.0 : -1.0;
    for (uint64_t i = 0; i < pile->count; ++i) {
        carom_pose *p = &pile->poses[i];
        carom_quat q = p->q;
        carom_vec3 w = scaled(pile->turning[i], 0.5 * way), v = scaled(pile->velocity[i], way);
        p->t = (carom_vec3){p->t.x + v.x, p->t.y + v.y, p->t.z + v.z};
        p->q.w -= w.x * q.x + w.y * q.y + w.z * q.z;
        p->q.x += w.x * q.w + w.y * q.z - w.z * q.y;
        p->q.y += w.y * q.w + w.z * q.x - w.x * q.z;
        p->q.z += w.z * q.w + w.x * q.y - w.y * q.x;
    }
}
