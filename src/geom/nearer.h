/* SPDX-License-Identifier: MIT */
/* nearer.h: which of two triangles is nearer to a point, exactly. */
#ifndef CAROM_SRC_GEOM_NEARER_H
#define CAROM_SRC_GEOM_NEARER_H

#include <stdbool.h>

#include "carom/geom.h"

/* Whether a is at most as far from the point as b; triangles may be segments and points. Any finite
 * doubles. Cost: some 20 ns where b's nearest point lies on an edge or corner that a has too,
 * microseconds elsewhere, up to a millisecond where the exponents lie far apart. */
bool carom_not_farther(carom_vec3 point, const carom_triangle *a, const carom_triangle *b);

#endif
