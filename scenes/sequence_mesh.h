/* SPDX-License-Identifier: MIT */
/* sequence_mesh.h: surfaces of which sequences are made. */
#ifndef CAROM_SCENES_SEQUENCE_MESH_H
#define CAROM_SCENES_SEQUENCE_MESH_H

#include "scenes/sequence.h"

/* A point of a surface or of a solid; parameters are in [0, 1]. */
typedef carom_vec3 scene_surface_fn(const void *user, double u, double v);
typedef carom_vec3 scene_solid_fn(const void *user, double u, double v, double w);

/* Starts a part; the vertices that follow belong to it. Takes over the poses, an array of malloc
 * with one per frame; NULL: the part rests. */
void scene_begin_part(scene_sequence *s, carom_pose *poses);

uint32_t scene_add_vertex(scene_sequence *s, carom_vec3 p);
void scene_add_triangle(scene_sequence *s, uint32_t a, uint32_t b, uint32_t c);

/* A grid of columns x rows cells, two triangles each. */
void scene_add_grid(scene_sequence *s, uint32_t columns, uint32_t rows, scene_surface_fn *surface,
                    const void *user);

/* The same, closed in the direction of u. The first and the last row may be one point: a pole. */
void scene_add_tube(scene_sequence *s, uint32_t around, uint32_t along, bool first_pole,
                    bool last_pole, scene_surface_fn *surface, const void *user);

/* A sphere of 2 around (along - 1) triangles. */
void scene_add_ball(scene_sequence *s, carom_vec3 centre, double radius, uint32_t around,
                    uint32_t along);

/* The surface of a block of cells, 4 (ab + bc + ca) triangles. */
void scene_add_block(scene_sequence *s, const uint32_t cells[3], scene_solid_fn *solid,
                     const void *user);

/* A strip of any number of triangles between v = 0 and v = 1. */
void scene_add_strip(scene_sequence *s, uint64_t triangles, scene_surface_fn *surface,
                     const void *user);

#endif
