/* SPDX-License-Identifier: MIT */
/* scale_solid.h: closed meshes whose winding number is known piece by piece, and what two of them
 * have in common, exactly, at any scale.
 *
 * A model is a mesh and a list of convex pieces with whole weights: its winding number at a point
 * is the sum of the weights of the pieces around it. The overlap of two models is the integral of
 * the product of both winding numbers. By the divergence theorem volume, moments, area, force and
 * torque are integrals over the faces of each mesh, weighted by the winding number of the other:
 * every face is cut by the planes of every piece of the other, in the face's own plane, where the
 * cut polygon is a list of lines with exact coefficients. Corners of these polygons are rounded
 * once, to SCALE_BITS binary places, far below anything that is compared.
 *
 * Where a face lies in a plane of the other, it is decided as if b had been moved by +(e, e^2, e^3)
 * or by -(e, e^2, e^3); both are given. */
#ifndef CAROM_TESTS_SCALE_SOLID_H
#define CAROM_TESTS_SCALE_SOLID_H

#include "tests/support/scale_case.h"

#define SCALE_BITS        768
#define MODEL_MOST_POINTS 160
#define MODEL_MOST_FACES  256
#define MODEL_MOST_PIECES 16

typedef struct scale_piece {
    int weight, planes;
    uint32_t plane[6][3]; /* points; the normal looks outwards */
} scale_piece;

typedef struct scale_model {
    const char *kind;
    uint32_t points, faces, pieces;
    carom_vec3 point[MODEL_MOST_POINTS];
    uint32_t corners[3 * MODEL_MOST_FACES];
    scale_piece piece[MODEL_MOST_PIECES];
    bool simple;     /* the winding number is 0 or 1 everywhere */
    int least, most; /* winding numbers that were found */
} scale_model;

carom_mesh_view model_view(const scale_model *model);

/* ---- made of small integers ------------------------------------------------------------------ */

void model_add_box(scale_model *model, carom_vec3 low, carom_vec3 high, int weight);
/* Corners in any order; false when they are in one plane. */
bool model_add_tetrahedron(scale_model *model, const carom_vec3 corner[4], int weight);
/* Cells of a small uneven grid, glued to each other. */
void model_add_cells(scale_case *c, scale_model *model);
/* Any of these, with cavities, several shells or shells that overlap; coordinates from -8 to 8. */
void model_make(scale_case *c, bool simple, scale_model *model);

/* ---- moved ----------------------------------------------------------------------------------- */

/* As scale_offset and scale_by_power: false, and nothing is changed, where that would round. */
bool model_offset(scale_model *model, carom_vec3 by);
bool model_by_power(scale_model *model, int kx, int ky, int kz);

/* ---- measured -------------------------------------------------------------------------------- */

typedef struct model_measure {
    number volume;    /* with weights */
    number3 centroid; /* where volume is not 0 */
    number area;
} model_measure;

void model_get_measure(const scale_model *model, model_measure *measure);

typedef struct scale_overlap {
    number volume;
    number3 moment;              /* the centroid times the volume, about the origin */
    number area[2];              /* b moved by +(e, e^2, e^3), by - */
    number3 force[2], torque[2]; /* on b; torque about `about` */
    bool jumps;                  /* some face lies in a plane of the other */
} scale_overlap;

void scale_get_overlap(const scale_model *a, const scale_model *b, number3 about,
                       scale_overlap *overlap);

#endif
