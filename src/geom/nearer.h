/* SPDX-License-Identifier: MIT */
/* nearer.h: which of two triangles is nearer to a point, exactly. */
#ifndef CAROM_SRC_GEOM_NEARER_H
#define CAROM_SRC_GEOM_NEARER_H

#include <stdbool.h>

#include "carom/geom.h"

/* Whether a is as near to the point as b, or nearer; triangles may be segments and points. Any
 * finite doubles: some 20 ns where b's nearest point lies on an edge or corner that a has too,
 * microseconds where not, up to a millisecond where the exponents lie far apart. */
bool carom_not_farther(carom_vec3 point, const carom_triangle *a, const carom_triangle *b);

#endif
