/* SPDX-License-Identifier: MIT */
/* repair.h: the sides of a mesh sorted by edges, its boundary as loops, and the patch of a loop. */
#ifndef CAROM_SRC_REPAIR_REPAIR_H
#define CAROM_SRC_REPAIR_REPAIR_H

#include "carom/repair.h"
#include "mesh/mesh.h"
#include "soup/soup_view.h"

/* ---- Sides ----------------------------------------------------------------------------------- */

/* The side of a corner goes from its vertex to that of the next corner of the face. All arrays are
 * scratch of worker 0. */
typedef struct carom_repair_sides {
    const carom_mesh_view *view;
    uint64_t corner_count;
    uint32_t *next;  /* of each corner, the next one of its face */
    uint32_t *faces; /* of each corner */
    uint32_t *order; /* corners whose sides join two vertices, by the lower and the higher vertex;
                        those of one edge in the order of corners, so by face */
    uint64_t count;
} carom_repair_sides;

/* Sorts the sides of a view that carom_mesh_check accepts. */
carom_status carom_repair_sides_make(carom_context *context, const carom_mesh_view *view,
                                     carom_repair_sides *sides);

static inline uint32_t carom_repair_from(const carom_repair_sides *s, uint32_t corner) {
    return s->view->corners[corner];
}

static inline uint32_t carom_repair_to(const carom_repair_sides *s, uint32_t corner) {
    return s->view->corners[s->next[corner]];
}

/* An edge: order[begin, end) are its sides, of which `kept` remain when two of one face in opposite
 * directions cancel. `forward` of these go from low to high. */
typedef struct carom_repair_edge {
    uint64_t begin, end;
    uint32_t low, high;
    uint64_t kept, forward;
    uint32_t side, other; /* corners whose sides are kept, of the first two faces that have such;
                             CAROM_NONE: none */
} carom_repair_edge;

/* Gets the edge whose sides begin at *at and moves *at to the next; false after the last. */
bool carom_repair_next_edge(const carom_repair_sides *sides, uint64_t *at, carom_repair_edge *edge);

/* Whether two vertices have a side in common, cancelled or not. O(log n). */
bool carom_repair_has_edge(const carom_repair_sides *sides, uint32_t a, uint32_t b);

/* ---- Loops ----------------------------------------------------------------------------------- */

/* The boundary, as carom_repair_list_loops lists it; arrays are scratch of worker 0. */
typedef struct carom_repair_boundary {
    carom_repair_loop *loops;
    uint64_t loop_count;
    uint32_t *vertices;
    uint32_t *sides; /* of each vertex the corner of the side beside the edge to the next vertex;
                        undefined for the last of a chain */
    uint64_t vertex_count, open_edges;
} carom_repair_boundary;

carom_status carom_repair_boundary_make(carom_context *context, const carom_repair_sides *sides,
                                        carom_repair_boundary *boundary);

/* Copies the boundary to result arrays; either may be NULL. */
carom_status carom_repair_boundary_copy(carom_context *context,
                                        const carom_repair_boundary *boundary,
                                        carom_repair_loops *loops, carom_numbers *vertices);

/* ---- Patches --------------------------------------------------------------------------------- */

/* What a patch must not meet. */
typedef struct carom_repair_obstacles {
    carom_context *context;
    const carom_repair_sides *sides;
    carom_soup_view soup; /* of the same mesh */
} carom_repair_obstacles;

/* The triangles that fill the loop of `count` vertices: `triangles` has space for count - 2.
 * sides[i] is the corner of the side beside the edge from vertex i. *filled says whether they were
 * found. CAROM_NO_MEMORY, CAROM_CANCELLED; from inside parallel_for. */
carom_status carom_repair_patch(const carom_repair_obstacles *obstacles, uint32_t worker,
                                const uint32_t *vertices, const uint32_t *sides, uint32_t count,
                                uint32_t *triangles, bool *filled);

/* Whether all points lie on one line, exactly. */
bool carom_repair_on_line(const carom_mesh_view *view, const uint32_t *vertices, uint64_t count);

#endif
