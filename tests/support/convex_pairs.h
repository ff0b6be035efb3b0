/* SPDX-License-Identifier: MIT */
/* convex_pairs.h: seeded pairs of convex shapes, all kinds at all scales, degenerate ones above
 * all, and the check of every query on them. */
#ifndef CAROM_TESTS_CONVEX_PAIRS_H
#define CAROM_TESTS_CONVEX_PAIRS_H

#include "tests/support/convex_oracle.h"

/* A shape and, for a hull, what it owns. */
typedef struct convex_shape {
    carom_convex convex;
    carom_hull *hull;
    carom_mesh *mesh;
    carom_mesh_view view;
} convex_shape;

void convex_shape_hull(carom_context *context, convex_shape *s, const carom_vec3 *points,
                       uint64_t count);
void convex_shape_free(convex_shape *s);

typedef struct convex_case {
    convex_shape a, b;
    carom_pose pose_a, pose_b;
    uint64_t seed, number;
} convex_case;

/* The same for the same seed and number. */
void convex_case_make(carom_context *context, uint64_t seed, uint64_t number, convex_case *c);
void convex_case_free(convex_case *c);

/* Multiplies sizes and positions by 2^k. Hulls are made anew of their vertices: the first time,
 * their faces may come in another order. */
void convex_case_scale(carom_context *context, convex_case *c, int k);

/* The size of a shape and e of two posed ones, as convex.h defines them. */
double convex_size(const convex_shape *s);
double convex_tolerance(const convex_shape *a, const carom_pose *pose_a, const convex_shape *b,
                        const carom_pose *pose_b);

/* The worst seen, by kinds of shapes; user functions are in no pair. */
typedef struct convex_statistics {
    struct {
        uint64_t cases, relations[3];
        double distance, depth, error; /* relative to the sizes: refuted by at most */
        uint32_t gjk, meet, epa;       /* iterations */
        double share;                  /* of carom_convex_bound */
    } of[CAROM_CONVEX_KIND_COUNT][CAROM_CONVEX_KIND_COUNT];
} convex_statistics;

/* Fails the test when anything is wrong. */
void convex_case_check(carom_context *context, const convex_case *c, convex_statistics *statistics);

/* Depth by an independent solver, too: slow. */
void convex_case_check_depth(carom_context *context, const convex_case *c);

void convex_statistics_print(const convex_statistics *statistics);

#endif
