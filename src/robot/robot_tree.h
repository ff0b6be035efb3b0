/* SPDX-License-Identifier: MIT */
/* robot_tree.h: a binary tree of triangles or balls, each node with a box and a ball.
 *
 * One of two trees is searched by its boxes in its own frame, the other by its balls, of which only
 * the centres need to be moved. All of it is scalar: many configurations are searched side by side,
 * one per worker. Every bound contains what it bounds up to CAROM_ROBOT_TREE_SLACK. */
#ifndef CAROM_SRC_ROBOT_ROBOT_TREE_H
#define CAROM_SRC_ROBOT_ROBOT_TREE_H

#include "base/context.h"
#include "geom/pose.h"

#define CAROM_ROBOT_LEAF  4u  /* items of a leaf at most */
#define CAROM_ROBOT_STACK 160 /* entries: a search of two trees needs the sum of their depths */

/* Nodes from the root to a leaf at most: halving 2^30 items needs 31, and a search of two trees has
 * space for the sum. */
#define CAROM_ROBOT_TREE_MOST_DEPTH (CAROM_ROBOT_STACK / 2 - 1)

/* Relative: balls and boxes are enlarged by this, some thousand times what rounding takes. */
#define CAROM_ROBOT_TREE_SLACK 0x1p-40

typedef struct carom_robot_node {
    double low[3], high[3]; /* of the items, with their radii */
    carom_ball ball;        /* the same; its centre is that of the box */
    uint32_t first, count;  /* of a leaf: its items. Count 0: the children are first, first + 1 */
} carom_robot_node;

typedef struct carom_robot_tree {
    carom_robot_node *nodes; /* the root first; children after their parent */
    carom_triangle *triangles;
    carom_ball *balls; /* instead of triangles */
    uint32_t item_count, node_count;
    double radius;  /* of triangles: all points at most this far from them belong to the shape */
    double largest; /* no point is farther from the origin */
} carom_robot_tree;

/* Builds a tree of triangles, or of balls where triangles is NULL; copies them. On failure the tree
 * is empty. O(n log n). */
carom_status carom_robot_tree_build(carom_context *context, const carom_allocator *allocator,
                                    const carom_triangle *triangles, const carom_ball *balls,
                                    uint32_t count, double radius, carom_robot_tree *tree);
void carom_robot_tree_free(const carom_allocator *allocator, carom_robot_tree *tree);
uint64_t carom_robot_tree_bytes(const carom_robot_tree *tree);
const char *carom_robot_tree_validate(const carom_robot_tree *tree);

/* Whether a plane between a and b, moved to a's frame, was found that leaves more than `reach`
 * between them: then they are apart, and neither encloses any of the other. False proves nothing.
 */
bool carom_robot_tree_separated(const carom_robot_tree *a, const carom_robot_tree *b,
                                const carom_frame *b_to_a, double reach);

/* Whether items of a and of b, moved to a's frame, are at most `reach` apart. */
bool carom_robot_tree_within(const carom_robot_tree *a, const carom_robot_tree *b,
                             const carom_frame *b_to_a, double reach);

/* The items of a node of b, moved to a's frame, with what they may be from items of a. */
typedef struct carom_robot_leaf {
    carom_triangle items[CAROM_ROBOT_LEAF];
    double reach[CAROM_ROBOT_LEAF];
    uint32_t count;
} carom_robot_leaf;
carom_robot_leaf carom_robot_tree_leaf(const carom_robot_tree *b, const carom_robot_node *node,
                                       const carom_frame *b_to_a, double reach);

/* The same as carom_robot_tree_within for a leaf of b. */
bool carom_robot_tree_touches(const carom_robot_tree *a, const carom_robot_leaf *leaf);

/* The least distance of items, or `limit` if that is at least the limit. Right to 2^-44 of the
 * largest coordinate. Never negative. */
double carom_robot_tree_distance(const carom_robot_tree *a, const carom_robot_tree *b,
                                 const carom_frame *b_to_a, double limit);

/* Whether any item is at most `reach` from a point, decided up to 2^-44 of the largest coordinate.
 */
bool carom_robot_tree_near(const carom_robot_tree *tree, carom_vec3 point, double reach);

/* The distance from a point to the nearest item, or the limit, likewise; or up to `tolerance` more
 * than that. */
double carom_robot_tree_point_distance(const carom_robot_tree *tree, carom_vec3 point, double limit,
                                       double tolerance);

/* The winding number of closed triangles about a point that is not on them; exact. */
int carom_robot_tree_winding(const carom_robot_tree *tree, carom_vec3 point);

/* Whether the centre of any ball of `points`, moved to the frame of `closed`, has there a winding
 * number of at least 1 times `sign`. */
bool carom_robot_tree_encloses(const carom_robot_tree *closed, int sign,
                               const carom_robot_tree *points, const carom_frame *to_closed);

#endif
