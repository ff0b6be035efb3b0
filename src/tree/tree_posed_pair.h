/* SPDX-License-Identifier: MIT */
/* tree_posed_pair.h: two trees in their poses, as one value.
 *
 * Queries work in the frame of the larger tree, which is fixed there; the smaller one is moving. Of
 * two equal ones a is fixed. Everything that follows from the poses alone is here, computed once
 * and never changed by a search. */
#ifndef CAROM_SRC_TREE_TREE_POSED_PAIR_H
#define CAROM_SRC_TREE_TREE_POSED_PAIR_H

#include "tree/tree.h"

typedef struct carom_tree_posed_pair {
    const carom_tree *a, *b, *fixed, *moving;
    bool swapped;                   /* the fixed tree is b */
    carom_spheres_posed_pair world; /* of a and b, in the world */
    double to_frame;                /* lengths of the world to the fixed tree's frame */
    bool apart;                     /* not even the balls around all covers meet */

    /* From the moving tree's frame to the fixed one's, y' = M y + m: M by rows, then m. In doubles;
     * the scale of M; and upper bound of the error of y'. */
    double motion[12], motion_scale, motion_error;

    /* The same in floats, for searches: y' = turn y + move. The scale is rounded up. */
    float turn[9], move[3], scale;
    float rotation[9];    /* turn without the scale */
    float margin;         /* upper bound of the error of distances of balls, in floats */
    float surface_margin; /* and of cylinders */

    bool far;        /* the trees are so far apart that only the direction between them matters: */
    float toward[3]; /* from fixed to moving, of length 1; else not set */
    double offset;   /* floats of distances are less by this; 0 where they are not far; `move` is
                        then 0 */
} carom_tree_posed_pair;

/* Poses the trees of a pair, whose poses and scales are checked. */
carom_tree_posed_pair carom_tree_pose(const carom_tree_pair *pair);

/* Where the trees are in the world. */
CAROM_ITEM const carom_spheres_transform *
carom_tree_fixed_transform(const carom_tree_posed_pair *p) {
    return &p->world.transform[p->swapped];
}

CAROM_ITEM const carom_spheres_transform *
carom_tree_moving_transform(const carom_tree_posed_pair *p) {
    return &p->world.transform[!p->swapped];
}

#endif
