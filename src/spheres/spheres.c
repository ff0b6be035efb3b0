/* SPDX-License-Identifier: MIT */
/* A cell in a ball: for the checks of packings and of covers. */
#include "spheres/spheres.h"

#include "geom/length.h"

bool carom_spheres_hold_cell(carom_vec3 centre, double radius, const carom_packing_cell *cell) {
    double half = 0.5 * cell->edge;
    carom_vec3 middle = carom_vec_add(cell->low, carom_vec(half, half, half));
    carom_vec3 away = carom_vec_sub(middle, centre);
    carom_vec3 far = carom_vec(fabs(away.x) + half, fabs(away.y) + half, fabs(away.z) + half);
    double size = carom_vec_largest(cell->low) + radius;
    return carom_length(far) <= radius + CAROM_SPHERES_CHECK_ROUNDING * size;
}
