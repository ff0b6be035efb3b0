/* SPDX-License-Identifier: MIT */
/* scene_item.h: what CPU and GPU share of scenes: boxes of objects, also for the broad phase,
 * whether an answer is a contact, and the contact of two convex shapes. */
#ifndef CAROM_SRC_SCENE_SCENE_ITEM_H
#define CAROM_SRC_SCENE_SCENE_ITEM_H

#include <stddef.h>
#include <string.h>

#include "carom/scene.h"
#include "geom/length.h"
#include "geom/pose.h"

/* Of the box of a mesh, relative to coordinates: a hundred roundings. */
#define CAROM_SCENE_MESH_SLACK 0x1p-45

/* The box of a mesh or packing in a frame; `local` is the one in its own. */
CAROM_ITEM carom_bounds carom_scene_mesh_box(const carom_bounds *local, const carom_frame *f) {
    if (!(local->low.x <= local->high.x)) return carom_bounds_empty(); /* no vertices */
    carom_vec3 c = carom_vec(0.5 * local->low.x + 0.5 * local->high.x,
                             0.5 * local->low.y + 0.5 * local->high.y,
                             0.5 * local->low.z + 0.5 * local->high.z);
    carom_vec3 h = carom_vec_sub(local->high, c), at = carom_frame_apply(f, c), half;
    carom_vec3 most = carom_vec(CAROM_MAX(fabs(local->low.x), fabs(local->high.x)),
                                CAROM_MAX(fabs(local->low.y), fabs(local->high.y)),
                                CAROM_MAX(fabs(local->low.z), fabs(local->high.z)));
    double slack = CAROM_SCENE_MESH_SLACK *
                   ((most.x + most.y + most.z) + (fabs(f->t.x) + fabs(f->t.y) + fabs(f->t.z)));
    half.x = ((fabs(f->r[0]) * h.x + fabs(f->r[1]) * h.y) + fabs(f->r[2]) * h.z) + slack;
    half.y = ((fabs(f->r[3]) * h.x + fabs(f->r[4]) * h.y) + fabs(f->r[5]) * h.z) + slack;
    half.z = ((fabs(f->r[6]) * h.x + fabs(f->r[7]) * h.y) + fabs(f->r[8]) * h.z) + slack;
    carom_bounds box;
    box.low = carom_vec_sub(at, half);
    box.high = carom_vec_add(at, half);
    return box;
}

/* Of an enlarged box, relative to reach and coordinates: its sums are rounded by 2^-53. */
#define CAROM_SCENE_ENLARGE_SLACK 0x1p-50

/* The box of an object for the broad phase: enlarged by half the reach. */
CAROM_ITEM carom_bounds carom_scene_enlarge(const carom_bounds *box, double reach) {
    carom_bounds enlarged = *box;
    if (!(reach > 0.0) || !(box->low.x <= box->high.x)) return enlarged;
    double by = 0.5 * reach; /* the rounding of the sums is below the slack of the boxes */
    double low = carom_vec_largest(box->low), high = carom_vec_largest(box->high);
    by += CAROM_SCENE_ENLARGE_SLACK * (by + CAROM_MAX(low, high));
    carom_vec3 all = carom_vec(by, by, by);
    enlarged.low = carom_vec_sub(box->low, all);
    enlarged.high = carom_vec_add(box->high, all);
    CAROM_ASSERT(enlarged.low.x <= box->low.x && enlarged.low.y <= box->low.y &&
                 enlarged.low.z <= box->low.z && enlarged.high.x >= box->high.x &&
                 enlarged.high.y >= box->high.y && enlarged.high.z >= box->high.z);
    return enlarged;
}

/* Whether two convex shapes with this result are in contact. */
CAROM_ITEM bool carom_scene_is_contact(const carom_convex_result *r, double reach) {
    return r->relation != CAROM_RELATION_APART || (reach > 0.0 && r->distance <= reach);
}

/* Moves the deepest point to the front. */
CAROM_ITEM void carom_scene_put_deepest_first(carom_convex_contact *points, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; ++i)
        if (points[i].depth > points[best].depth) best = i;
    if (best == 0) return;
    CAROM_ASSERT(points[best].depth > points[0].depth);
    carom_convex_contact swap = points[0];
    points[0] = points[best];
    points[best] = swap;
}

/* Fills a contact but for its ids; puts the deepest of the points first. Clears no points that it
 * writes: the contact is 400 bytes long, and in no cache. */
CAROM_ITEM void carom_scene_fill_convex(const carom_convex_result *r, carom_convex_contact *points,
                                        uint32_t count, carom_scene_contact *c) {
    memset((void *)c, 0, offsetof(carom_scene_contact, points)); /* padding, too */
    c->relation = r->relation;
    c->method = CAROM_SCENE_CONTACT_METHOD_CONVEX;
    c->normal = r->normal;
    c->distance = r->distance;
    c->depth = r->depth;
    c->error = r->error;
    c->depth_bound = CAROM_MAX(r->depth - r->error, 0.0);
    c->point_count = count;
    carom_scene_put_deepest_first(points, count);
    for (uint32_t i = 0; i < count; ++i) c->points[i] = points[i];
    for (uint32_t i = count; i < CAROM_CONVEX_MOST_CONTACTS; ++i)
        memset((void *)&c->points[i], 0, sizeof(c->points[i]));
}

#endif
