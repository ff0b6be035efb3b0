/* SPDX-License-Identifier: MIT */
/* ist2009.h: inner sphere trees as Weller and Zachmann (2009) print them, to be measured beside
 * ours: four children, clusters of batch neural gas or of the heuristics that the paper rejects,
 * Algorithm 1, the proximity query, and the unified algorithm; and what it only names: normal cones
 * for deep penetrations, and hierarchies with the least volume outside of the object. */
#ifndef CAROM_BENCH_IST2009_H
#define CAROM_BENCH_IST2009_H

#include "carom/carom.h"

#define IST_ARITY 4u

/* Where the prototypes of the clusters of a node come from. */
typedef enum ist_split {
    IST_NEURAL_GAS = 0, /* batch neural gas with magnification control, (1) to (3) */
    IST_BIGGEST,        /* its biggest spheres */
    IST_NEIGHBOURS,     /* those with the largest number of neighbours */
    IST_PRINTED_SPLITS, /* those above; of the paper's future work: */
    /* neural gas, and then spheres at the borders of clusters change to others as long as that
     * lowers the sum of the volumes of their balls, or of the parts outside of the object */
    IST_LEAST_VOLUME = IST_PRINTED_SPLITS,
    IST_LEAST_OUTSIDE,
    IST_SPLITS
} ist_split;

/* A sphere of the hierarchy, or an inner sphere: that has no children. */
typedef struct ist_node {
    carom_ball ball;
    uint32_t children[IST_ARITY], child_count;
    uint32_t sphere;    /* of an inner sphere: its index in the packing */
    carom_ball centres; /* around the centres of its inner spheres: of ist_set_normals, as: */
    carom_vec3 axis;    /* of a cone around their normals, */
    double angle;       /* which deviate from it by at most this */
} ist_node;

typedef struct ist_tree {
    ist_node *nodes; /* the first is the root */
    uint32_t count;
    uint8_t *cluster; /* of each sphere of the packing, in its order: the child of the root */
} ist_tree;

/* Builds the hierarchy of a packing's spheres. False: no memory. Free it in any case. */
bool ist_build(const carom_packing_spheres *spheres, ist_split split, ist_tree *tree);
void ist_free(ist_tree *tree);

typedef struct ist_result {
    double volume;   /* of the overlap of inner spheres; 0: apart */
    double distance; /* of the nearest two, when apart; else 0 */
    uint64_t visits; /* pairs of spheres that were tested */
} ist_result;

/* IV-C: begins with the proximity query; from the first pair of inner spheres that overlap on, the
 * rest of the hierarchies is traversed by Algorithm 1. False: no memory. */
bool ist_query_unified(const ist_tree *a, const ist_tree *b, const carom_pose *pose_b,
                       ist_result *result);
/* Algorithm 1; then, where nothing overlaps, the proximity query from the roots again. */
bool ist_query_twice(const ist_tree *a, const ist_tree *b, const carom_pose *pose_b,
                     ist_result *result);

/* ---- Directions of forces -------------------------------------------------------------------- */

/* Sets the outward normals of the packing's spheres, unit vectors, and cones around them for all
 * spheres of the hierarchy. */
void ist_set_normals(ist_tree *tree, const carom_vec3 *normals);

/* Which directions are flipped: none; those against the normals, looked at pair by pair; or the
 * same, with cones that can decide for all pairs below two spheres of the hierarchies. */
typedef enum ist_flip { IST_FLIP_NONE = 0, IST_FLIP_PAIRS, IST_FLIP_CONES } ist_flip;

typedef struct ist_force {
    carom_vec3 direction; /* the sum of volumes times vectors between centres, from a to b */
    uint64_t pairs;       /* of inner spheres that overlap */
    uint64_t flipped;     /* of these */
    uint64_t by_cones;    /* those that a cone decided, of larger spheres than the pair's */
} ist_force;

/* IV-B2: Algorithm 1 with the direction of the force. False: no memory. */
bool ist_query_force(const ist_tree *a, const ist_tree *b, const carom_pose *pose_b, ist_flip flip,
                     ist_force *force);

#endif
