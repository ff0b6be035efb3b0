/* SPDX-License-Identifier: MIT */
/* advance_item.h: conservative advancement of a point and a triangle, or of two segments, whose
 * points move along straight lines (Mirtich 1996; for deforming meshes Li, Kaufman, Jiang,
 * "Codimensional incremental potential contact", 2021), as items.
 *
 * At time t the nearest points are d apart in direction n. Along n a point of the one shape and a
 * point of the other approach each other at a constant speed, so the first time at which n no
 * longer separates the shapes is known, not only bounded: the least over all pairs of their points.
 * That is the next time looked at. Where rounding makes n useless, d over the largest speed of any
 * two points is the step.
 *
 * Coordinates are relative to the first point at each time, so that a common movement and the
 * distance from the origin cost no digits. Half of the tolerance is kept as distance: each step is
 * longer than some minimum. */
#ifndef CAROM_SRC_GEOM_ADVANCE_ITEM_H
#define CAROM_SRC_GEOM_ADVANCE_ITEM_H

#include "geom/distance_item.h"
#include "geom/motion.h"
#include "geom/scale.h"
#include "geom/toi_item.h"

/* Of the first distance: the default tolerance where that is less. So every motion that does not
 * start in contact advances. */
#define CAROM_ADVANCE_SHARE 0.125
/* Of the extent. Positions, distances, gaps along n and speeds are each off by less than 2^-49. */
#define CAROM_ADVANCE_ROUNDING 0x1p-46
#define CAROM_ADVANCE_EXTENT   0x1p100 /* extents beyond this, or below its inverse, are scaled */
/* A factor that raises the largest speed: a length is rounded by less than 2^-51 of itself, the
 * rest is reserve, at the cost of steps that are shorter by 2^-40. */
#define CAROM_ADVANCE_SPEED_UP (1.0 + 0x1p-40)
/* A factor that lowers a step: the quotient that it is, its product and the sum with the time,
 * which is at most 1, are rounded by 2^-53 each. */
#define CAROM_ADVANCE_STEP_DOWN (1.0 - 0x1p-50)

typedef struct carom_advance_pair {
    carom_vec3 at[4], by[4]; /* at time 0, and the movement until time 1 */
    int first;               /* points of the first shape: the others are the second's */
    double extent;           /* no coordinate is larger, at any time */
    double closing;          /* the most by which the distance shrinks per time */
    int scale;               /* coordinates are true ones times 2^scale */
} carom_advance_pair;

CAROM_ITEM void carom_advance_load(const carom_vec3 *start, const carom_vec3 *end, int edges,
                                   carom_advance_pair *pair) {
    double extent = 0.0, most = 0.0;
    for (int i = 0; i < 4; ++i) {
        carom_vec3 s = carom_vec_sub(start[i], start[0]), e = carom_vec_sub(end[i], end[0]);
        extent = CAROM_MAX(carom_vec_largest(s), extent);
        extent = CAROM_MAX(carom_vec_largest(e), extent);
        pair->at[i] = s;
        pair->by[i] = carom_vec_sub(e, s);
    }
    pair->first = edges ? 2 : 1;
    pair->scale = 0;
    if (extent > CAROM_ADVANCE_EXTENT || (extent < 1.0 / CAROM_ADVANCE_EXTENT && extent > 0.0)) {
        int k = pair->scale = -carom_exponent(extent);
        extent = carom_scale_apply(extent, k);
        for (int i = 0; i < 4; ++i) {
            double *at = &pair->at[i].x, *by = &pair->by[i].x;
            for (int j = 0; j < 3; ++j) {
                at[j] = carom_scale_apply(at[j], k);
                by[j] = carom_scale_apply(by[j], k);
            }
        }
    }
    for (int i = 0; i < pair->first; ++i)
        for (int j = pair->first; j < 4; ++j) {
            double speed = carom_vec_length(carom_vec_sub(pair->by[j], pair->by[i]));
            most = CAROM_MAX(speed, most);
        }
    pair->extent = extent;
    pair->closing = most * CAROM_ADVANCE_SPEED_UP + CAROM_ADVANCE_ROUNDING * extent;
}

/* The time that passes before the shapes at p, whose nearest points are given, can come as near as
 * `kept`. */
CAROM_ITEM double carom_advance_free(const carom_advance_pair *pair, const carom_vec3 *p,
                                     const carom_closest *closest, double kept) {
    double time = (closest->distance - kept) / pair->closing, along = HUGE_VAL;
    carom_vec3 n = carom_vec_scale(carom_vec_sub(closest->b, closest->a), 1.0 / closest->distance);
    for (int i = 0; i < pair->first; ++i)
        for (int j = pair->first; j < 4; ++j) {
            double gap = carom_vec_dot(n, carom_vec_sub(p[j], p[i]));
            double closing = -carom_vec_dot(n, carom_vec_sub(pair->by[j], pair->by[i]));
            /* one that has come nearer than it is kept */
            double until = gap > kept ? (closing > 0.0 ? (gap - kept) / closing : HUGE_VAL) : 0.0;
            along = CAROM_MIN(until, along);
        }
    return CAROM_MAX(along, time);
}

/* Advances until the shapes are nearer than reach + tolerance; a tolerance of 0 is the
 * default, one below the rounding is raised to it. */
CAROM_ITEM void carom_advance_run(const carom_advance_pair *pair, double reach, double tolerance,
                                  uint64_t most_steps, carom_advance *result) {
    double rounding = CAROM_ADVANCE_ROUNDING * pair->extent, t = 0.0;
    carom_vec3 p[4];
    carom_closest closest;
    const carom_vec3 zero = {0.0, 0.0, 0.0}; /* points are found for soups and convex shapes only */
    result->normal = result->point_a = result->point_b = zero;
    result->face_a = result->face_b = CAROM_NONE;
    result->steps = 0;
    for (;;) {
        for (int i = 0; i < 4; ++i)
            p[i] = carom_vec_add(pair->at[i], carom_vec_scale(pair->by[i], t));
        if (pair->first == 2)
            carom_near_segments(p, p + 2, &closest);
        else
            carom_near_point_triangle(p[0], p + 1, &closest);
        double least = closest.distance - reach - rounding;
        if (++result->steps == 1 && !(tolerance > 0.0)) {
            double share = CAROM_ADVANCE_SHARE * least;
            tolerance = CAROM_ADVANCE_TOLERANCE * pair->extent;
            tolerance = CAROM_MIN(share, tolerance);
        }
        tolerance = CAROM_MAX(tolerance, rounding);
        result->time = t;
        result->distance = carom_scale_apply(closest.distance, -pair->scale);
        result->hit = least <= tolerance || result->steps >= most_steps;
        if (result->hit) return;
        double kept = reach + rounding + 0.5 * tolerance;
        double time = carom_advance_free(pair, p, &closest, kept);
        if (!(time < 1.0 - t)) {
            result->time = 1.0;
            return;
        }
        t += time * CAROM_ADVANCE_STEP_DOWN;
    }
}

/* start and end are as in carom_toi_of, coordinates at most CAROM_LARGEST_COORDINATE. Without a
 * reach, what came within the tolerance is decided exactly. */
CAROM_ITEM carom_advance carom_advance_of(const carom_vec3 *start, const carom_vec3 *end, int edges,
                                          const carom_advance_def *def) {
    carom_advance_pair pair;
    carom_advance result;
    carom_advance_load(start, end, edges, &pair);
    uint64_t most_steps = def->most_steps > 0 ? def->most_steps : CAROM_ADVANCE_MOST_STEPS;
    carom_advance_run(&pair, carom_scale_apply(def->reach, pair.scale),
                      carom_scale_apply(def->tolerance, pair.scale), most_steps, &result);
    if (!result.hit || def->reach > 0.0) return result;
    carom_toi toi = carom_toi_of(start, end, edges);
    result.hit = toi.hit;
    double time = toi.hit ? toi.time.lower : 1.0;
    result.time = toi.hit ? CAROM_MIN(result.time, time) : time;
    return result;
}

#endif
