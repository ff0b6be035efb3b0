/* SPDX-License-Identifier: MIT */
/* spheres_shares.h: the division of a solid among the balls of a packing. */
#ifndef CAROM_SRC_SPHERES_SPHERES_SHARES_H
#define CAROM_SRC_SPHERES_SPHERES_SHARES_H

#include "carom/pack.h"
#include "spheres/spheres_mesh.h"

CAROM_ARRAY(carom_spheres_cell_array, carom_packing_cell);

/* The share of one ball, in the frame. */
typedef struct carom_spheres_share {
    double volume; /* in the solid */
    double leak;   /* upper bound of the volume of the ball that is in cells of others */
    double cover;  /* radius */
} carom_spheres_share;

/* Computes the shares of `count` disjoint balls, at least one, inside the solid. `shares` has space
 * for them. `cells`, if not NULL, gets the cells in the caller's coordinates; *cell_count counts
 * them. `coarse`: by larger cells, in a seventh of the time, with larger voids and covers. The same
 * bits for any number of threads. */
carom_status carom_spheres_shares(const carom_spheres_mesh *mesh, const carom_spheres_ball *balls,
                                  uint32_t count, bool coarse, carom_spheres_share *shares,
                                  carom_spheres_cell_array *cells, uint64_t *cell_count);

/* Divides the solid into cells that belong to balls which together should cover it: each cell to
 * the ball that it is deepest in, by distance less radius. Cells are divided until they are within
 * the limit of their ball, or not larger than `finest`. covers[i] becomes the radius at which ball
 * i contains its cells, rounded up; 0 if it has none. Where the mesh is open, `faces_only` leaves
 * out the cells that no face meets. */
carom_status carom_spheres_cover_cells(const carom_spheres_mesh *mesh,
                                       const carom_spheres_ball *balls, const double *limits,
                                       uint32_t count, double finest, bool faces_only,
                                       double *covers, carom_spheres_cell_array *cells);

/* The volume where the winding number is 1 or more, in the frame, of a balanced mesh. */
carom_status carom_spheres_solid_volume(const carom_spheres_mesh *mesh, double *volume);

#endif
