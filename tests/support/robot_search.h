/* SPDX-License-Identifier: MIT */
/* robot_search.h: the questions of robot_oracle.h, fast enough for millions of configurations.
 *
 * Kinematics and distances of triangles are those of robot_oracle.h, in long doubles. Most
 * pairs are left out by balls and by trees of boxes whose separation exceeds the reach by
 * SEARCH_SLACK, which is far above what doubles round there. It shares nothing with the engine,
 * and finds no distances: only whether bodies are within reach, which is all that verdicts and
 * intervals claim. */
#ifndef CAROM_TESTS_ROBOT_SEARCH_H
#define CAROM_TESTS_ROBOT_SEARCH_H

#include "tests/support/robot_oracle.h"

typedef struct robot_search robot_search;

/* Keeps def, which must stay; shapes are copied. Meshes are triangles in doubles with shared
 * vertices; closed are those whose edges are balanced and whose volume is not 0. */
robot_search *robot_search_create(const carom_robot_def *def);
void robot_search_destroy(robot_search *search);

/* Replaces the objects of the world. */
void robot_search_set_objects(robot_search *search, const carom_robot_shape *objects,
                              uint32_t count);

/* Has a link and an object not tested. */
void robot_search_allow_object(robot_search *search, uint32_t link, uint32_t object);

/* Moves all links to a configuration, for the questions below. */
void robot_search_move(robot_search *search, const double *q);

typedef struct robot_search_pair {
    uint32_t a, b;
    bool with_object;
} robot_search_pair;

/* Whether two bodies have a common point, or points that are no farther apart than `reach`; a
 * negative reach is never met. */
bool robot_search_pair_within(const robot_search *search, const robot_search_pair *pair,
                              long double reach);

/* Whether any pair that is tested is; *pair is then the first. */
bool robot_search_any_within(const robot_search *search, long double reach,
                             robot_search_pair *pair);

/* The greatest distance of a point of the links from the origin. */
double robot_search_extent(const robot_search *search);

#endif
