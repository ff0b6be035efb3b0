/* SPDX-License-Identifier: MIT */
/* repair_check.h: what carom_repair_close and the lists of defects promise, checked on small meshes
 * by counting sides of all faces and by trying every pair of faces in integers (integer_oracle.h).
 * Nothing is shared with the library. */
#ifndef CAROM_TESTS_REPAIR_CHECK_H
#define CAROM_TESTS_REPAIR_CHECK_H

#include "tests/support/integer_oracle.h"

/* The sides between two vertices that do not cancel within their face. */
typedef struct repair_sides_count {
    uint32_t forward, backward; /* from a to b, from b to a */
} repair_sides_count;
repair_sides_count repair_count_sides(const carom_mesh_view *view, uint32_t a, uint32_t b);

/* What closing a mesh gave; start with {0}, free with repair_closed_free. */
typedef struct repair_closed {
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_repair_result result;
    carom_repair_loops loops;
    carom_numbers vertices;
} repair_closed;
void repair_closed_free(repair_closed *closed);

/* Closes the mesh and checks the loops, the new faces, their edges and that nothing new meets. */
void repair_close_checked(carom_context *context, const carom_mesh_view *view,
                          const carom_repair_def *def, repair_closed *closed);

/* Whether there is any way to fill a loop of at most REPAIR_MOST_TRIED vertices of a mesh of
 * triangles: all triangulations are tried. */
#define REPAIR_MOST_TRIED 7
bool repair_can_fill(carom_context *context, const carom_mesh_view *view, const uint32_t *loop,
                     uint32_t count);

/* Checks the lists of non-manifold edges and vertices and of flipped faces. */
void repair_check_lists(carom_context *context, const carom_mesh_view *view);

#endif
