/* SPDX-License-Identifier: MIT */
/* solids.h: closed meshes with corners on a small lattice, where planes, edges and corners of two
 * solids coincide all the time. All face outward, but for cavities. */
#ifndef CAROM_TESTS_SOLIDS_H
#define CAROM_TESTS_SOLIDS_H

#include "carom/carom.h"

#define SOLID_MOST_VERTICES 4096
#define SOLID_MOST_FACES    8192

typedef struct solid_mesh {
    uint32_t vertices, faces; /* triangles */
    double xyz[SOLID_MOST_VERTICES][3];
    uint32_t corners[3 * SOLID_MOST_FACES];
    const char *kind;
} solid_mesh;

carom_mesh_view solid_view(const solid_mesh *mesh);

/* ---- made ------------------------------------------------------------------------------------ */

/* Adds a box, each face split along one diagonal; `cavity` faces inward. */
void solid_add_box(solid_mesh *mesh, const double low[3], const double high[3], bool cavity);

/* A random one of every kind: boxes, boxes in boxes, tetrahedra, hulls of points, cubes glued to
 * each other, prisms over polygons that are not convex, several shells. At most about 200 faces,
 * coordinates from 0 to 16. */
void solid_make_random(carom_random *random, solid_mesh *mesh);
/* The next of these with at most `most` faces. */
void solid_make_small(carom_random *random, uint32_t most, solid_mesh *mesh);

/* ---- changed --------------------------------------------------------------------------------- */

void solid_move(solid_mesh *mesh, const double by[3]);
void solid_scale(solid_mesh *mesh, double by);
/* One of the 24 rotations that map the axes onto each other. */
void solid_rotate(solid_mesh *mesh, uint32_t which);
void solid_rotation(uint32_t which, int rotation[3][3]);
/* All faces the other way round. */
void solid_flip(solid_mesh *mesh);
/* Adds the faces of another. */
void solid_append(solid_mesh *mesh, const solid_mesh *other);
/* Splits faces at random without changing the surface: edges at their middles, faces at a point
 * inside. Coordinates become multiples of 1/4 of what they were. */
void solid_split(carom_random *random, solid_mesh *mesh, uint32_t times);
/* Splits sides of single faces at their middles and closes the slits with faces without area. */
void solid_slit(carom_random *random, solid_mesh *mesh, uint32_t times);
/* Gives every face corners of its own, as STL does. */
void solid_unweld(solid_mesh *mesh);

/* A shift by whole numbers, at most `most` along each axis. */
carom_pose solid_lattice_shift(carom_random *random, uint32_t most);

/* Quaternions with small integers: quarter turns, and turns by Pythagorean angles, whose matrices
 * are rounded: what coincided is then some 1e-16 apart. Shifted as above. */
carom_pose solid_lattice_turn(carom_random *random, uint32_t shift);

#endif
