/* SPDX-License-Identifier: MIT */
/* ray_path.h: rays moved along themselves without rounding.
 *
 * A ray that starts far from a small shape cannot be brought into the shape's frame in doubles: its
 * start is rounded by 2^-53 of its distance, which may be more than the shape. So the ray is moved
 * first, in the world's axes, where origin - position + s direction is a sum of two doubles and a
 * product: exact as an expansion (expansion.h), for any double s. A move with a rounded s leaves
 * 2^-50 of the way, the next one 2^-100, until the point is as near to the shape as the ray gets.
 * Rounded then, it is off by 2^-53 of that small distance, wherever the ray started. */
#ifndef CAROM_SRC_GEOM_RAY_PATH_H
#define CAROM_SRC_GEOM_RAY_PATH_H

#include "geom/scale.h"
#include "geom/vec.h"

/* Moves that 2^1802 needs, the largest ratio of distance and radius, when each is right to 2^-29;
 * one or two where it is below 2^50. */
#define CAROM_RAY_MOVES 64

/* Lengths are the caller's times 2^unit; the direction's largest component is in [1/2, 1), and the
 * caller's direction is 2^speed times this one. */
typedef struct carom_ray_path {
    carom_vec3 direction;
    int unit, speed;
    double point[3][2 * CAROM_RAY_MOVES + 2]; /* expansions: the point relative to the position */
    int length[3];
    double moves[CAROM_RAY_MOVES]; /* in directions, longest first */
    int count;
} carom_ray_path;

/* v 2^k */
static inline carom_vec3 carom_vec_scaled(carom_vec3 v, int k) {
    return carom_vec(carom_scale_apply(v.x, k), carom_scale_apply(v.y, k),
                     carom_scale_apply(v.z, k));
}

/* Sets the point to the ray's origin, relative to the shape's position, for a shape of this size.
 * The ray is finite and has a direction. */
void carom_ray_path_begin(carom_ray_path *path, const carom_ray *ray, carom_vec3 position,
                          double size);

/* The least radius that carom_ray_path_approach takes: 2^-1800 of the ray's distance. */
#define CAROM_RAY_LEAST_EXPONENT (-900)
#define CAROM_RAY_LEAST_RADIUS   0x1p-900

/* Moves the point by s directions. */
void carom_ray_path_move(carom_ray_path *path, double s);

/* Moves the point to where the ray's line passes nearest to the centre of a ball, up to an eighth
 * of its radius. Centre, relative to the position, and radius are in units of the path. False when
 * the line certainly misses the ball; then the point is anywhere. */
bool carom_ray_path_approach(carom_ray_path *path, carom_vec3 centre, double radius);

/* The point, relative to the position: off by 2^-52 of each component, or 2^-1060. */
carom_vec3 carom_ray_path_point(const carom_ray_path *path);

/* The caller's t of the point that is s directions after the point; at most DBL_MAX. */
double carom_ray_path_t(const carom_ray_path *path, double s);

#endif
