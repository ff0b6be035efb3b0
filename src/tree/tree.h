/* SPDX-License-Identifier: MIT */
/* tree.h: a wrapped hierarchy of spheres, with up to 16 children per node.
 *
 *   inner nodes     [ node 0 ][ node 1 ] ...      sixteen balls per node, one per child
 *   leaves          [leaf][leaf][leaf] ...        sixteen spheres of the packing per leaf
 *
 * A lane of a node has one centre and three radii around it, which enclose the inner balls, the
 * larger of inner and secondary balls, and the covers of all spheres below: not the balls of its
 * children, so that they are tight (a wrapped hierarchy). Inner nodes and leaves are one array of
 * one type, inner nodes first; node 0 is the root. Lanes past the last child have NaN centres,
 * which meet nothing.
 *
 * Nodes are float32 in a frame of their own, y = (x - origin) 2^shift, in which the packing's size
 * is 1/2 to 1. They are a filter: radii are rounded up, and searches allow for CAROM_TREE_ROUNDING.
 * What is reported comes from the doubles in `exact`. */
#ifndef CAROM_SRC_TREE_TREE_H
#define CAROM_SRC_TREE_TREE_H

#include "carom/tree.h"
#include "spheres/spheres_overlap_item.h"
#include "tree/tree_cells.h"
#include "tree/tree_surface.h"

#define CAROM_TREE_WIDTH 16u        /* lanes of a node: one vector of AVX-512 */
#define CAROM_TREE_NONE  UINT32_MAX /* the child of a lane past the end */

/* Of a function that only CAROM_ASSERT calls: release builds compile it, and never call it. */
#define CAROM_TREE_CHECK static inline __attribute__((unused))

typedef struct carom_tree_node {
    float x[CAROM_TREE_WIDTH], y[CAROM_TREE_WIDTH], z[CAROM_TREE_WIDTH];
    float radius[CAROM_TREE_WIDTH];   /* encloses inner balls */
    float reach[CAROM_TREE_WIDTH];    /* encloses the larger of inner and secondary balls */
    float cover[CAROM_TREE_WIDTH];    /* encloses covers, and what `reach` encloses */
    uint32_t child[CAROM_TREE_WIDTH]; /* a node; in a leaf: a sphere of the packing */
} carom_tree_node;

/* The spheres of a leaf in the packing's coordinates, exactly. Lanes past the end are NaN. */
typedef struct carom_tree_leaf {
    double x[CAROM_TREE_WIDTH], y[CAROM_TREE_WIDTH], z[CAROM_TREE_WIDTH];
    double radius[CAROM_TREE_WIDTH], secondary[CAROM_TREE_WIDTH], cover[CAROM_TREE_WIDTH];
    uint64_t void_units[CAROM_TREE_WIDTH]; /* carom_spheres_void_units; 0 past the end */

    float
        depth[CAROM_TREE_WIDTH]; /* in the frame, rounded down: the ball of this radius is inside */
} carom_tree_leaf;

/* The ball that stands for all secondary balls below a node, in the frame (tree_moments.h). */
typedef struct carom_tree_moment {
    float x, y, z, radius, density;
} carom_tree_moment;

/* Those of the children of a node; all zero past the last. */
typedef struct carom_tree_moment_lanes {
    float x[CAROM_TREE_WIDTH], y[CAROM_TREE_WIDTH], z[CAROM_TREE_WIDTH];
    float radius[CAROM_TREE_WIDTH], density[CAROM_TREE_WIDTH];
} carom_tree_moment_lanes;

/* Upper bound of the error of a distance that searches compute in float32, in the frame of the
 * larger tree, where no coordinate exceeds 8: some twenty roundings of 2^-24 of them. */
#define CAROM_TREE_ROUNDING 0x1p-17f

/* Relative: bounds in doubles are moved outwards by this, for all of their roundings of 2^-53; and
 * in floats, where up to 16 of 2^-24 follow each other. */
#define CAROM_TREE_SLACK       0x1p-40
#define CAROM_TREE_FLOAT_SLACK 0x1p-20f

/* Distances above this, in a frame, are infinite as floats, which hold up to 2^127. */
#define CAROM_TREE_FLOAT_MAX 0x1p100

/* Far below all lengths in the frame, whose squares float32 holds: keeps quotients from 0 / 0. */
#define CAROM_TREE_LEAST_LENGTH 0x1p-60f

/* Upper bound of the relative error of the volume of a share, from its secondary radius, which is
 * rounded to float32: three times 2^-24, and some additions. */
#define CAROM_TREE_SHARE_ERROR 1e-6

struct carom_tree {
    carom_allocator allocator; /* of the arrays */
    carom_allocator own;       /* of this */
    uint64_t seed;             /* of the method; 0 where the tree was loaded */
    carom_tree_info info;
    /* What a tree from a file was read from: its arrays lie there, and are not its own. */
    void *file;
    uint64_t file_size;
    bool is_mapped; /* by the system; else it is allocated */
    carom_spheres_extent extent;
    carom_vec3 origin;
    int shift;
    uint32_t inner_count, leaf_count, depth; /* depth: nodes from the root to a leaf, at most */
    carom_tree_node *nodes;                  /* inner_count + leaf_count of them */
    carom_tree_leaf *leaves;                 /* of node inner_count + i */
    double *volumes; /* of each node: the shares of all spheres below it, rounded up, as in the
                        packing */
    carom_tree_moment *moments;            /* of each node */
    carom_tree_moment_lanes *moment_lanes; /* of each inner node; NULL: there is none */
    uint32_t *slots;                       /* of each sphere: 16 * leaf + lane */
    uint32_t *faces; /* of each slot: the face of the mesh that is nearest to its sphere; UINT32_MAX
                        past the end */
    /* The balls around all, in the frame: centre, and the three radii. */
    carom_vec3 centre;
    double radius, reach, cover;
    carom_tree_surface surface; /* empty where no mesh was given */
    carom_tree_cells cells;     /* of its solid; the same */
    float *outward; /* of each slot: x, y, z of the direction from the centre to the nearest face,
                       of length 1; 0 where that is not known. NULL where there is no surface */
    uint64_t fingerprint; /* of the surface and the frame, to tell trees apart */
    bool odd_covers;      /* some are smaller than the secondary ball: not of a packing by Carom */
    struct carom_device_tree *device; /* its copy on the GPU; NULL: the tree is the CPU's */
};

static inline bool carom_tree_is_leaf(const carom_tree *tree, uint32_t node) {
    return node >= tree->inner_count;
}

/* What a tree is built over: a point, and whose it is. */
typedef struct carom_tree_point {
    double c[3];
    uint64_t code; /* Morton */
    uint32_t index;
} carom_tree_point;

/* Orders points so that each of `parts` runs of `size` (the last may be shorter) is compact: by
 * halves along the longest side, ties by index. */
void carom_tree_split_median(carom_tree_point *points, uint32_t count, uint32_t parts,
                             uint32_t size);

/* Builds the nodes from the spheres: tree_build.c. */
carom_status carom_tree_build(carom_context *context, const carom_tree_def *def,
                              const carom_packing_sphere *spheres, carom_tree *tree);

/* Unmaps or frees the file of a tree that has one: tree_file.c. */
void carom_tree_file_release(carom_tree *tree);

/* Computes volumes and moments of nodes, and the info, of a tree whose nodes, leaves and extent are
 * there. */
void carom_tree_finish(carom_tree *tree);

/* For tests and fuzzers, and for trees from files: NULL, or the first invariant that does not hold.
 * O(n depth). */
const char *carom_tree_validate(const carom_tree *tree);
#define CAROM_TREE_NO_MEMORY "tree: no memory to check it"

#endif
