/* SPDX-License-Identifier: MIT */
/* toi.h: the exact stage of times of impact. */
#ifndef CAROM_SRC_GEOM_TOI_H
#define CAROM_SRC_GEOM_TOI_H

#include "carom/geom.h"

/* The widest interval that encloses a time. */
#define CAROM_TOI_WIDTH 0x1p-32

/* Decides the motion of a point and a triangle, or of two segments (edges), as in toi_item.h. */
void carom_toi_exact(const carom_vec3 *start, const carom_vec3 *end, int edges, carom_toi *toi);

/* The first time at which two balls meet, whose centres and radii change linearly. */
void carom_toi_balls(const carom_ball start[2], const carom_ball end[2], carom_toi *toi);

#endif
