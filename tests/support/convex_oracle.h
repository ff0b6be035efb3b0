/* SPDX-License-Identifier: MIT */
/* convex_oracle.h: proofs of convex queries in 113 bits, independent of the library's code: support
 * values and distances of a point for every shape, poses normalised in 113 bits. */
#ifndef CAROM_TESTS_CONVEX_ORACLE_H
#define CAROM_TESTS_CONVEX_ORACLE_H

#include "carom/carom.h"
#include "tests/support/quad.h"

/* A shape in its pose. `mesh` is a hull's surface; a hull of less than three dimensions has no
 * faces, or two. */
typedef struct oracle_shape {
    const carom_convex *shape;
    carom_mesh_view mesh;
    quad r[9];
    quad3 t;
} oracle_shape;

oracle_shape oracle_posed_shape(const carom_convex *shape, const carom_mesh_view *mesh,
                                const carom_pose *pose);

/* The largest product of n with a point of the shape. */
quad oracle_support(const oracle_shape *s, quad3 n);

/* How far a point is outside the shape, 0 inside; right to some 1e-15 of the sizes. */
double oracle_outside(const oracle_shape *s, carom_vec3 p);

/* Sizes and translation as in convex.h. */
double oracle_scale(const oracle_shape *a, const oracle_shape *b);

/* By how much a result is refuted, relative to oracle_scale: distance against the separating plane
 * and the witness points, depth against the support values along the normal, points against the
 * shapes. A relation that is wrong beyond the tolerance gives 1, as does anything not finite. */
double oracle_refute(const oracle_shape *a, const oracle_shape *b, const carom_convex_result *r,
                     const char **why);

/* The depth (positive) or minus the largest gap found over all directions that can matter for two
 * polytopes: normals of faces and products of edges, both ways. */
quad oracle_polytope_depth(const oracle_shape *a, const oracle_shape *b);

/* The least support value of a - b from many starts and a descent of each: an upper bound of the
 * depth, nearly always the depth itself. */
quad oracle_least_reach(const oracle_shape *a, const oracle_shape *b, uint64_t seed, int starts);

#endif
