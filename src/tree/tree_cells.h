/* SPDX-License-Identifier: MIT */
/* tree_cells.h: an octree over the solid of a tree with a mesh, for bounds of overlaps.
 *
 * A cell knows where the surface is: within the ball around its centre, of CAROM_TREE_CELL_REACH
 * times its side, all of the surface lies between two parallel planes, and each side of these is
 * known to be inside or outside of the solid. Where the surface is smooth, the planes are apart by
 * about the square of the side: so a cell tells its solid's volume, and the volume that the solid
 * takes of a cube within the ball, to second order.
 *
 *   [ root ][ 8 children of the root ][ 8 children of some cell ] ...
 *
 * The root is the cube around the ball that the surface is in. Children are in the order of their
 * octants: bit 0 for x, 1 for y, 2 for z; set: the upper half. */
#ifndef CAROM_SRC_TREE_TREE_CELLS_H
#define CAROM_SRC_TREE_TREE_CELLS_H

#include "tree/tree_surface.h"

/* Radius of the ball, in sides. A cube within half a side of the centre, along each axis, of half
 * the side fits: sqrt(3)/2 and sqrt(3)/4 are 1.2990. */
#define CAROM_TREE_CELL_REACH 1.3

/* Bits of `child`. */
#define CAROM_TREE_CELL_BELOW 1u /* points below `low` are inside the solid */
#define CAROM_TREE_CELL_ABOVE 2u /* points above `high` are */
#define CAROM_TREE_CELL_SHIFT 2

typedef struct carom_tree_cell {
    float normal[3];   /* of length 1, about; 0 where no surface is in the ball */
    float low, high;   /* planes, from the centre, along the normal. Infinite: nothing is known
                          below or above. Where no surface is in the ball, both +infinity: all is
                          below */
    float least, most; /* the solid's share of the cell, bounds */
    uint32_t child;    /* the first of eight, or 0, times 4; plus the bits */
} carom_tree_cell;

typedef struct carom_tree_cells {
    uint32_t count; /* 1 more than a multiple of 8; 0: there are none */
    carom_tree_cell *cells;
    carom_vec3 centre; /* of the root, in the frame; not stored in files */
    double side;
} carom_tree_cells;

static inline uint32_t carom_tree_cell_child(const carom_tree_cell *cell) {
    return cell->child >> CAROM_TREE_CELL_SHIFT;
}

/* The centre of a child of a cell with the given centre and side. */
static inline carom_vec3 carom_tree_cell_centre(carom_vec3 centre, double side, uint32_t octant) {
    double by = 0.25 * side;
    return carom_vec(centre.x + ((octant & 1) != 0 ? by : -by),
                     centre.y + ((octant & 2) != 0 ? by : -by),
                     centre.z + ((octant & 4) != 0 ? by : -by));
}

/* How planes with one normal cut a cube. */
typedef struct carom_tree_cut {
    double m[3];  /* sizes of the normal's coordinates, ascending, with a sum of 1 */
    double least; /* the smallest, if it is taken as 0; else 0 */
    double reach; /* from the centre to a plane that just touches the cube */
} carom_tree_cut;

carom_tree_cut carom_tree_cut_make(const double normal[3], double side);

/* Bounds of the share of a cube of which a solid is known, between planes that are at low and high
 * from its centre, as in a cell with these bits. */
void carom_tree_cut_share(const carom_tree_cut *cut, double low, double high, uint32_t bits,
                          double *least, double *most);

/* Sets root and side from the surface. */
void carom_tree_cells_set_cube(const carom_tree_surface *surface, carom_tree_cells *cells);

/* Builds up to `most` cells, refining first where the volume is known least. A surface whose
 * coordinates are too far from 0 for its size gets none. On failure free it, too. */
carom_status carom_tree_cells_make(carom_context *context, const carom_tree_surface *surface,
                                   carom_vec3 origin, int shift, uint32_t most,
                                   carom_tree_cells *cells);

/* ---- Overlap --------------------------------------------------------------------------------- */

/* What a search for the overlap of two solids is given and finds. The cells of the
 * moving solid are divided, and those of the fixed one tell how much of each is inside. Lengths of
 * results are in the moving frame. */
typedef struct carom_tree_cells_search {
    const carom_tree_cells *fixed, *moving;
    double turn[9], move[3], scale; /* y' = scale turn y + move: from the moving frame to the
                                       fixed one */
    double slack;                   /* how far that may be off, in the fixed frame */
    double tolerance;               /* stop where the bounds are at most this share of the estimate
                                       apart */
    bool give_up;                   /* stop also where that cannot be reached */
    uint32_t most;                  /* cells to visit; see carom_tree_cells_overlap */
    double deadline;                /* carom_time_seconds; infinite: none */
    bool skip_forces;               /* only bounds are wanted */

    double lower, upper, volume; /* volume: an estimate between the bounds */
    carom_vec3 force, torque;    /* on the fixed solid, in the moving frame; about its origin */
    carom_vec3 moment;           /* volume times its centroid */
    bool inside;                 /* the moving solid is inside the fixed one */
    bool reached;                /* the tolerance */
    uint64_t visits;             /* cells */
} carom_tree_cells_search;

/* Bytes of scratch memory that a search for up to `most` cells needs. */
uint64_t carom_tree_cells_scratch(uint32_t most);

/* Bounds the overlap, the largest uncertainty first. `scratch` is aligned for doubles. */
void carom_tree_cells_overlap(carom_tree_cells_search *search, void *scratch);

/* ---- Invariants ------------------------------------------------------------------------------ */

/* NULL, or the first invariant that does not hold: of what a search follows. */
const char *carom_tree_cells_validate(const carom_tree_cells *cells);

#endif
