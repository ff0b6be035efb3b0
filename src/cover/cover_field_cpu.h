/* SPDX-License-Identifier: MIT */
/* cover_field_cpu.h: the vector loops of the search for covers, one version per instruction set.
 * All give the same bits. */
#ifndef CAROM_SRC_COVER_COVER_FIELD_CPU_H
#define CAROM_SRC_COVER_COVER_FIELD_CPU_H

#include "base/isa.h"
#include "carom/geom.h"

/* A grid of distances (cover_field.h). */
typedef struct carom_cover_field {
    carom_context *context;
    float *values; /* x first */
    uint32_t counts[3];
    double low[3];
    double step, inverse;
    carom_ball *peaks; /* local maxima outside of the solid, that is in hollows; the distance as the
                          radius, the largest first */
    uint32_t peak_count;
} carom_cover_field;

/* Points of the unit sphere at which distances are looked up, 0.44 radii apart: the best ones climb
 * from there. A multiple of 16, the floats of the widest vector. */
#define CAROM_COVER_SPREAD 64u

typedef struct carom_cover_spread {
    float x[CAROM_COVER_SPREAD], y[CAROM_COVER_SPREAD], z[CAROM_COVER_SPREAD];
} carom_cover_spread;

/* The distances at the points of a ball, between the nodes by linear interpolation, and beyond the
 * grid from its border on. */
CAROM_CPU_DECLARE(void, carom_cover_field_values, const carom_cover_field *field,
                  const carom_cover_spread *spread, const double centre[3], double radius,
                  float values[CAROM_COVER_SPREAD]);

/* Points, or balls. Arrays are readable up to a multiple of 16. */
typedef struct carom_cover_floats {
    float *x, *y, *z, *radius;
} carom_cover_floats;

/* The largest squared distance of points begin to end - 1 from c; 0 if there are none. */
CAROM_CPU_DECLARE(float, carom_cover_farthest, const carom_cover_floats *points, uint64_t begin,
                  uint64_t end, const float c[3]);

/* For points begin to end - 1, `begin` a multiple of 16: the ball with the least distance less
 * radius, the first of equals; that value; and the next larger one of another ball. */
CAROM_CPU_DECLARE(void, carom_cover_deepest, const carom_cover_floats *points, uint64_t begin,
                  uint64_t end, const carom_cover_floats *balls, uint32_t ball_count,
                  uint32_t *owners, float *first, float *second);

#endif
