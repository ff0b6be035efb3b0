/* SPDX-License-Identifier: MIT */
/* turn.h: which way three points turn, exactly. */
#ifndef CAROM_SRC_GEOM_TURN_H
#define CAROM_SRC_GEOM_TURN_H

#include <stdbool.h>

#include "carom/geom.h"

/* A point of a plane. */
typedef struct carom_vec2 {
    double x, y;
} carom_vec2;

/* 1 when a, b, c turn left (counter-clockwise), -1 right, 0 on one line. Exact for all finite
 * coordinates. */
int carom_turn(carom_vec2 a, carom_vec2 b, carom_vec2 c);

/* Whether three points of space lie on one line. Exact. */
bool carom_collinear(carom_vec3 a, carom_vec3 b, carom_vec3 c);

#endif
