/* SPDX-License-Identifier: MIT */
/* solid_oracle.h: what two closed meshes have in common, in exact arithmetic; the oracle of solid.
 *
 * A solid is the signed sum of the tetrahedra from one apex to its faces, so the overlap is the
 * signed sum over all pairs of tetrahedra, one of each mesh, of what these two have in common
 * (solid_terms.h). It shares nothing with the engine: no crossing points of surfaces, no inside
 * test, no perturbation (what has no volume counts nothing), no tree. The sum holds for winding
 * numbers too: it is the integral of w_A w_B. All decisions and every term's numerator and
 * denominator are integers; each term is rounded once to 113 bits. */
#ifndef CAROM_TESTS_SOLID_ORACLE_H
#define CAROM_TESTS_SOLID_ORACLE_H

#include "tests/support/quad.h"
#include "tests/support/test.h"

typedef struct solid_truth {
    quad volume;
    quad moment[3]; /* integral of the position: the centroid times the volume */
    /* The rest is right where no faces of A and B lie on each other. Where some do, each counts as
     * half inside: the mean of what is on either side of the kink. */
    quad area;       /* of the overlap's surface */
    quad force[3];   /* on B: minus the derivative of the volume by B's translation */
    quad torque[3];  /* about the origin */
    quad coincident; /* area that A's and B's faces have in common */
} solid_truth;

/* Triangle meshes of doubles, packed. The bits of all coordinates, taken together, span at most 120
 * binary places. About a millisecond for two solids of 200 faces on a small lattice. */
void solid_oracle(const carom_mesh_view *a, const carom_mesh_view *b, solid_truth *truth);

/* Also minus the derivatives of the volume by each vertex; of vertices in one place, each has its
 * own share. Where faces lie on each other, means as for the force. */
void solid_oracle_forces(const carom_mesh_view *a, const carom_mesh_view *b, solid_truth *truth,
                         quad (*on_a)[3], quad (*on_b)[3]);

/* The volume of one mesh, exact and rounded once. */
quad solid_oracle_volume(const carom_mesh_view *mesh);

#endif
