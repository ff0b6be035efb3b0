/* SPDX-License-Identifier: MIT */
/* figure.h: a seated figure, two units high, as a radius around the z axis. */
#ifndef CAROM_SCENES_FIGURE_H
#define CAROM_SCENES_FIGURE_H

#include "scenes/cloth.h"

#define SCENE_FIGURE_HEIGHT 2.0

/* The point at `around` in [0, 1] about the axis, `up` in [0, 1] of the height and `out` in [0, 1]
 * from the axis to the surface. */
carom_vec3 scene_figure_point(double around, double up, double out);

/* The figure as an obstacle at rest, without the floor: distances are right to first order near the
 * surface. */
scene_contact scene_figure_contact(carom_vec3 p);

#endif
