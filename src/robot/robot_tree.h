/* SPDX-License-Identifier: MIT */
/* robot_tree.h: a binary tree of triangles or balls, each node with a box and a ball.
 *
 * One of two trees is searched by its boxes in its own frame, the other by its balls, of which only
 * the centres need to be moved. All of it is scalar: many configurations are searched side by side,
 * one per worker. Every bound contains what it bounds up to CAROM_ROBOT_TREE_SLACK. */
#ifndef CAROM_SRC_ROBOT_ROBOT_TREE_H
#define CAROM_SRC_ROBOT_ROBOT_TREE_H

#include "base/context.h"
#include "robot/robot_tree_item.h"

/* Builds a tree of triangles, or of balls where triangles is NULL; copies them. On failure the tree
 * is empty. O(n log n). */
carom_status carom_robot_tree_build(carom_context *context, const carom_allocator *allocator,
                                    const carom_triangle *triangles, const carom_ball *balls,
                                    uint32_t count, double radius, carom_robot_tree *tree);
void carom_robot_tree_free(const carom_allocator *allocator, carom_robot_tree *tree);
uint64_t carom_robot_tree_bytes(const carom_robot_tree *tree);
const char *carom_robot_tree_validate(const carom_robot_tree *tree);

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

#endif
