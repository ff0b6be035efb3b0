/* SPDX-License-Identifier: MIT */
/* A seated figure: knees, trunk, shoulders, neck, head, and a knot of hair on it. Its outline is a
 * curve through a few radii; the knees reach out sideways, a robe has folds. */
#include "scenes/figure.h"

#include <math.h>

#include "base/math.h"
#include "geom/vec.h"

#define TURN 6.283185307179586477 /* 2 pi */

/* Radii at equal steps of the height. */
static const double outline[] = {0.86, 0.92, 0.93, 0.86, 0.68, 0.52, 0.46, 0.46, 0.49, 0.52, 0.53,
                                 0.49, 0.36, 0.22, 0.24, 0.29, 0.31, 0.30, 0.25, 0.16, 0.13, 0.0};
#define OUTLINE_STEPS ((int)(sizeof(outline) / sizeof(outline[0])) - 1)

#define LEAST_RADIUS 0.004 /* of the outline below its top, so that no two rows coincide there */

/* A Catmull-Rom spline through the radii. */
static double radius_at(double up) {
    double x = up * OUTLINE_STEPS;
    int i = (int)floor(x);
    i = i < 0 ? 0 : i >= OUTLINE_STEPS ? OUTLINE_STEPS - 1 : i;
    double t = x - i;
    double a = outline[i > 0 ? i - 1 : 0], b = outline[i], c = outline[i + 1];
    double d = outline[i + 2 <= OUTLINE_STEPS ? i + 2 : OUTLINE_STEPS];
    double r =
        b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)));
    return r > LEAST_RADIUS ? r : LEAST_RADIUS;
}

/* Knees low down, folds of a robe on the trunk. */
static double widen(double angle, double up) {
    double knees = up < 0.3 ? 0.22 * (0.3 - up) / 0.3 : 0.0;
    double robe = up < 0.55 ? 0.025 * carom_sin(0.5 * TURN * up / 0.55) : 0.0;
    return (1.0 + knees * carom_cos(2.0 * angle)) *
           (1.0 + robe * carom_cos(14.0 * angle + 9.0 * up));
}

carom_vec3 scene_figure_point(double around, double up, double out) {
    double angle = TURN * around, radius = out * radius_at(up) * widen(angle, up);
    return carom_vec(radius * carom_cos(angle), radius * carom_sin(angle),
                     SCENE_FIGURE_HEIGHT * up);
}

/* How far outside of the outline a point is, along the radius. */
static double outside(carom_vec3 p) {
    double up = p.z / SCENE_FIGURE_HEIGHT;
    up = up < 0.0 ? 0.0 : up;
    return sqrt(p.x * p.x + p.y * p.y) - radius_at(up) * widen(carom_atan2(p.y, p.x), up);
}

scene_contact scene_figure_contact(carom_vec3 p) {
    const double small = 1e-3; /* for differences; the folds are a hundred times wider */
    carom_vec3 top = {0.0, 0.0, SCENE_FIGURE_HEIGHT};
    if (p.z >= SCENE_FIGURE_HEIGHT - small) return scene_contact_capsule(p, top, top, 0.0);
    scene_contact contact = {.distance = outside(p), .normal = {0.0, 0.0, 1.0}};
    if (contact.distance > 0.1) return contact; /* far away: the rest is not needed */
    carom_vec3 x = {small, 0.0, 0.0}, y = {0.0, small, 0.0}, z = {0.0, 0.0, small};
    carom_vec3 slope = {outside(carom_vec_add(p, x)) - outside(carom_vec_sub(p, x)),
                        outside(carom_vec_add(p, y)) - outside(carom_vec_sub(p, y)),
                        outside(carom_vec_add(p, z)) - outside(carom_vec_sub(p, z))};
    double length = carom_vec_length(slope);
    if (!(length > 0.0)) return contact;
    contact.normal = carom_vec_scale(slope, 1.0 / length);
    contact.distance *= 2.0 * small / length;
    return contact;
}
