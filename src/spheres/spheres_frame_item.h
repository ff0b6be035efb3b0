/* SPDX-License-Identifier: MIT */
/* spheres_frame_item.h: balls in the frame of a solid (spheres_mesh.h), which CPU and GPU share:
 * their distances, and the directions in which a search keeps the nearest points of the surface. */
#ifndef CAROM_SRC_SPHERES_SPHERES_FRAME_ITEM_H
#define CAROM_SRC_SPHERES_SPHERES_FRAME_ITEM_H

#include "geom/vec.h"

/* Upper bound of the error of a computed distance in the frame: 1e-15 of the extent, at most 28, of
 * a point and a triangle, and the rounding of a few sums; times two. */
#define CAROM_SPHERES_ERROR 0x1p-43

/* Of the product of two squared edges: a triangle with a smaller square of its area is a needle, of
 * which the edges alone are looked at: its inside is less than 2^-20 of an edge away from them. */
#define CAROM_SPHERES_NEEDLE 0x1p-40
/* Multiples from here on are all that doubles hold: nothing is left to round. */
#define CAROM_SPHERES_WHOLE 0x1p52

/* No coordinate in the frame is as large. The solid's longest side is below 1; along an axis where
 * its origin is 0, its far side is at most CAROM_SPHERES_ORIGIN_RATIO = 4 sides away, and else it
 * is less than 1 away from the origin (spheres_mesh.c). */
#define CAROM_SPHERES_FRAME_SIZE 8.0

/* A ball in the frame. */
typedef struct carom_spheres_ball {
    double x, y, z, radius;
} carom_spheres_ball;

CAROM_ITEM double carom_spheres_ball_distance(const carom_spheres_ball *b, carom_vec3 p) {
    double x = p.x - b->x, y = p.y - b->y, z = p.z - b->z;
    return sqrt((x * x + y * y) + z * z) - b->radius;
}

/* The nearest multiple of a power of two. */
CAROM_ITEM double carom_spheres_round(double x, double step) {
    double n = x / step; /* a power of two: exact */
    return fabs(n) < CAROM_SPHERES_WHOLE ? floor(n + 0.5) * step : x;
}

/* The double nearest to 4/3 pi. The product of 4.0 / 3.0 and CAROM_PI is the one below it. */
#define CAROM_SPHERES_BALL_VOLUME 4.18879020478639098462

CAROM_ITEM double carom_spheres_volume(double radius) {
    return CAROM_SPHERES_BALL_VOLUME * (radius * radius * radius);
}

#define CAROM_SPHERES_HALF_DIAGONAL 0.86602540378443864676 /* of a cube of edge 1, sqrt(3) / 2 */

/* Obstacles near a point that are kept: one for each of 24 directions of the surface, and 40 balls.
 * Those without an entry are left out of bounds, which are then farther off and as certain. A
 * multiple of the doubles of all vectors. */
#define CAROM_SPHERES_NEAR 64u

/* Of all points of the surface in about the same direction the nearest is kept: one for each of
 * four quarters of the six sides of a cube. */
#define CAROM_SPHERES_DIRECTIONS 24u

CAROM_ITEM uint32_t carom_spheres_direction(double x, double y, double z) {
    double ax = fabs(x), ay = fabs(y), az = fabs(z);
    if (ax >= ay && ax >= az) return 0u + (x < 0.0) * 4u + (y < 0.0) * 2u + (z < 0.0);
    if (ay >= az) return 8u + (y < 0.0) * 4u + (z < 0.0) * 2u + (x < 0.0);
    return 16u + (z < 0.0) * 4u + (x < 0.0) * 2u + (y < 0.0);
}

#endif
