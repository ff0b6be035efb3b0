/* SPDX-License-Identifier: MIT */
/* cover_field.h: the signed distance from the surface on a grid, to look up quickly: positive
 * outside of the solid. Only a guide for searches: what is claimed is computed from the mesh. */
#ifndef CAROM_SRC_COVER_COVER_FIELD_H
#define CAROM_SRC_COVER_COVER_FIELD_H

#include "cover/cover_field_cpu.h"
#include "spheres/spheres_mesh.h"

/* Fills the grid, which reaches `around` beyond the bounds of the mesh. The values are scratch of
 * worker 0. */
carom_status carom_cover_field_make(const carom_spheres_mesh *mesh, double step, double around,
                                    carom_cover_field *field);

/* The distance at a point, between the nodes by linear interpolation, and beyond the grid from its
 * border on. `gradient` may be NULL. */
double carom_cover_field_at(const carom_cover_field *field, carom_vec3 p, carom_vec3 *gradient);

/* An upper bound of the distance at a point, where the signs of the nodes are right: by way of the
 * nodes around it, or of the nearest cell where it is beyond the grid. */
double carom_cover_field_most(const carom_cover_field *field, carom_vec3 p);

/* The points of balls at which distances are looked up. */
void carom_cover_spread_make(carom_cover_spread *spread);

/* How far a ball reaches out of the solid: the largest distance in it, nearly. *farthest is the
 * point of the unit sphere below the point of the ball's surface that is farthest; may be NULL. */
double carom_cover_field_outside(const carom_cover_field *field, const carom_cover_spread *spread,
                                 carom_vec3 centre, double radius, carom_vec3 *farthest);

/* Nearly the largest radius at which the ball around `centre` reaches out no farther than
 * `outside`. The search starts at `radius`, at which it does not; 0 is such. */
double carom_cover_field_radius(const carom_cover_field *field, const carom_cover_spread *spread,
                                carom_vec3 centre, double outside, double radius);

#endif
