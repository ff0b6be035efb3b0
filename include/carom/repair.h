/* SPDX-License-Identifier: MIT */
/* repair.h: holes and other defects of a surface, where they are, and closing the holes.
 *
 *   carom_repair_list_loops(context, &view, &loops, &vertices);
 *   carom_repair_close(context, &view, NULL, &mesh, &result, NULL, NULL);
 *
 * Sides and edges are those of carom_mesh_report: vertices are the same when their indices are, so
 * weld first. */
#ifndef CAROM_REPAIR_H
#define CAROM_REPAIR_H

#include "carom/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Query: boundary loops ------------------------------------------------------------------- */

/* What became of a boundary loop. */
typedef enum carom_repair_outcome {
    CAROM_REPAIR_OUTCOME_LISTED = 0, /* nothing was tried */
    CAROM_REPAIR_OUTCOME_FILLED,
    CAROM_REPAIR_OUTCOME_CHAIN,    /* left: it does not close, as it ends at edges that are
                                      non-manifold or inconsistent */
    CAROM_REPAIR_OUTCOME_LONG,     /* left: it has more than max_edges */
    CAROM_REPAIR_OUTCOME_FLAT,     /* left: its vertices lie on one line */
    CAROM_REPAIR_OUTCOME_CROSSING, /* left: no triangles were found that meet no face and have no
                                      edge that is there already */
    CAROM_REPAIR_OUTCOME_COUNT
} carom_repair_outcome;

/* "listed", "filled", "chain", "long", "flat", "crossing". */
CAROM_API const char *carom_repair_outcome_name(carom_repair_outcome outcome);
CAROM_API bool carom_repair_outcome_from_name(const char *name, carom_repair_outcome *outcome);

/* A cycle of open edges that visits no vertex twice, or a chain of them. */
typedef struct carom_repair_loop {
    uint64_t first;      /* its vertices are [first, first + count) of the list of vertices */
    uint64_t count;      /* of vertices: a loop has as many edges, a chain one fewer */
    bool closed;         /* false: a chain */
    double length;       /* of its edges together */
    carom_vec3 centre;   /* the mean of its vertices */
    carom_bounds bounds; /* of its vertices */
    uint32_t first_face; /* of the triangles that fill it, in the closed mesh; else CAROM_NONE */
    uint32_t face_count; /* of them */
    carom_repair_outcome outcome;
} carom_repair_loop;

CAROM_RESULT_ARRAY(carom_repair_loops, carom_repair_loop);

/* Lists the boundary of a view that carom_mesh_check accepts: every open edge is in one loop or
 * chain.
 * - A loop goes round its hole as the sides of a face would that fills it: against the sides of the
 *   faces beside it. It begins with its lowest vertex. Loops are sorted by their first vertices.
 * - Holes that touch in a vertex are two loops.
 * - Where an end of an open edge also belongs to edges that are non-manifold or inconsistent, the
 *   boundary may not close: it is a chain.
 * - `vertices` gets the vertices of all loops, one after another.
 * - CAROM_BAD_INPUT as for carom_mesh_check, CAROM_TOO_LARGE from 2^32 - 1 corners on. A caller's
 *   buffer that is too small gives CAROM_MORE, with the other one complete.
 *
 * Cost: O(n). */
CAROM_API carom_status carom_repair_list_loops(carom_context *context, const carom_mesh_view *view,
                                               carom_repair_loops *loops, carom_numbers *vertices);

/* ---- Query: other defects -------------------------------------------------------------------- */

/* Lists the edges with more than two sides, as pairs of vertices, the lower first. O(n). */
CAROM_API carom_status carom_repair_list_edges(carom_context *context, const carom_mesh_view *view,
                                               carom_pairs *edges);

/* Lists the vertices at which surfaces touch in that point alone: those whose faces are not all
 * connected by edges at the vertex, and that are not on a non-manifold edge. O(n). */
CAROM_API carom_status carom_repair_list_vertices(carom_context *context,
                                                  const carom_mesh_view *view,
                                                  carom_numbers *vertices);

/* Lists the flipped faces. Faces are connected by edges with two sides. A connected set in which
 * reversing some faces makes all sides of such edges opposite is orientable; flipped are then those
 * faces, or the others if they are fewer (or as many, and the lowest face is among the first).
 * *twisted becomes the number of sets that are not orientable, such as Moebius strips, of which no
 * face is listed; it may be NULL. O(n). */
CAROM_API carom_status carom_repair_list_flipped(carom_context *context,
                                                 const carom_mesh_view *view, carom_numbers *faces,
                                                 uint64_t *twisted);

/* ---- Closing holes --------------------------------------------------------------------------- */

/* Which holes are filled. */
typedef struct carom_repair_def {
    uint64_t max_edges; /* longer loops are left; 0: none is too long */
} carom_repair_def;

/* What closing did. */
typedef struct carom_repair_result {
    uint64_t loops;      /* chains included */
    uint64_t filled;     /* of these */
    uint64_t left;       /* of these */
    uint64_t triangles;  /* new faces */
    uint64_t new_pairs;  /* of faces that meet (carom_soup_self_pairs), of which one is new: 0.
                            Counted in the closed mesh, by the search for pairs */
    uint64_t open_edges; /* that remain */
} carom_repair_result;

/* Fills holes with triangles of the vertices that are there, without a new intersection.
 * The new mesh has all vertices and faces of the view, in their order, and then the triangles of
 * the loops that were filled. def may be NULL. On failure *mesh is NULL.
 *
 * - A new triangle has area, meets no face as carom_soup_self_pairs defines it, old or new, and has
 *   no edge that is there already, but for those of its loop. All this is decided exactly. A loop
 *   for which no such triangles were found is left, and its outcome says why.
 * - Of the triangulations of a loop, the one with the fewest edges at which it folds back by more
 *   than a right angle is taken, and of these the one with the least sum of squared lengths of
 *   inner edges; for loops of more than 256 edges ears are cut until so many remain.
 * - Loops are filled in their order; where two patches would meet, the second is made anew around
 *   the first.
 * - New triangles are in the part, and have the properties, of the face at the first edge of their
 *   loop.
 * - Faces that meet already stay as they are; so do non-manifold edges.
 * - `loops` and `vertices` get what carom_repair_list_loops lists, with the outcome of each. Both
 *   may be NULL. A caller's buffer that is too small gives CAROM_MORE, with the mesh complete.
 * - CAROM_BAD_INPUT as for carom_mesh_check, CAROM_TOO_LARGE from 2^32 - 65 triangles on.
 * - Reports progress and can be cancelled. The result is the same for any number of threads.
 *
 * Cost: that of carom_soup_self_pairs of the mesh for each round (one, and another where patches
 * would meet), and for a loop of n edges O(n^3) up to 256, O(n^2) beyond: a tenth of a second at
 * 256. Loops are filled on all threads. */
CAROM_API carom_status carom_repair_close(carom_context *context, const carom_mesh_view *view,
                                          const carom_repair_def *def, carom_mesh **mesh,
                                          carom_repair_result *result, carom_repair_loops *loops,
                                          carom_numbers *vertices);

#ifdef __cplusplus
}
#endif

#endif
