/* SPDX-License-Identifier: MIT */
/* cover.h: covers of solids by balls from outside: where the balls are (cover_fit.c), and
 * how far they reach out (cover_measure.c). */
#ifndef CAROM_SRC_COVER_COVER_H
#define CAROM_SRC_COVER_COVER_H

#include "carom/cover.h"
#include "cover/cover_field.h"
#include "spheres/spheres_shares.h"

struct carom_cover {
    carom_allocator allocator;
    carom_cover_info info;
    carom_ball *spheres;       /* info.spheres of them, radii descending */
    carom_packing_cell *cells; /* NULL: not kept */
    uint64_t cell_count;
};

/* carom_cover_create, the same spheres, without the volume of the solid, which takes most of
 * the time where faces cross: solid_volume and outside_volume are 0. */
carom_status carom_cover_create_without_volume(carom_context *context, const carom_cover_def *def,
                                               carom_cover **cover);

/* For tests and fuzzers: NULL, or the first invariant that does not hold. */
const char *carom_cover_validate(const carom_cover *cover);

/* Balls that contain the points of a search. */
typedef struct carom_cover_fit {
    carom_vec3 *centres;
    double *radii;   /* each contains the points that belong to it */
    double *allowed; /* the radius up to which each reaches out no farther than `outside` */
    uint32_t count;
    double outside; /* the farthest, nearly */
} carom_cover_fit;

/* A search for balls; everything but growing arrays is scratch of worker 0. */
typedef struct carom_cover_fitting carom_cover_fitting;

/* Begins a search for up to `count` balls; finds that many, which contain points of the solid.
 * `fit` stays valid until the next call. */
carom_status carom_cover_fit_begin(const carom_spheres_mesh *mesh, uint32_t count,
                                   carom_cover_fitting **fitting);
carom_status carom_cover_fit_balls(carom_cover_fitting *fitting, uint32_t count,
                                   carom_cover_fit *fit);

/* The number of balls that the greedy method needs to reach out no farther than `outside`; more
 * than what the search began with: these do not suffice. */
carom_status carom_cover_fit_count(carom_cover_fitting *fitting, double outside, uint32_t *count);

/* Adds points that the balls must contain as well, and improves the balls; `moving`: also by moving
 * some to other regions. */
carom_status carom_cover_fit_more(carom_cover_fitting *fitting, const carom_vec3 *points,
                                  uint64_t point_count, bool moving, carom_cover_fit *fit);

/* The grid of distances of a search. */
const carom_cover_field *carom_cover_fit_field(const carom_cover_fitting *fitting);

/* Makes such a grid, for `count` balls. */
carom_status carom_cover_fit_make_field(const carom_spheres_mesh *mesh, uint32_t count,
                                        carom_cover_field *field);

/* Measures a union of balls, in the frame (carom_cover_measure). The grid is for open meshes. */
typedef struct carom_cover_outside {
    double worst, worst_lower, mean, volume;
} carom_cover_outside;
carom_status carom_cover_measure_union(const carom_spheres_mesh *mesh,
                                       const carom_cover_field *field,
                                       const carom_spheres_ball *balls, uint32_t count,
                                       carom_cover_outside *outside);

#endif
