/* SPDX-License-Identifier: MIT */
/* integer_oracle.h: which faces of a soup meet, by trying every pair in integers.
 *
 * It reads the rules of carom/soup.h word for word and shares nothing with the engine: no boxes, no
 * tree, no filters, and triangles are decided by separating axes (triangle_oracle.h) instead of
 * orientations. Coordinates may be any finite doubles whose bits, all together, span at most some
 * 120 binary places. */
#ifndef CAROM_TESTS_INTEGER_ORACLE_H
#define CAROM_TESTS_INTEGER_ORACLE_H

#include "tests/support/test.h"

/* A sorted list that the oracle owns; start with {0}, free with oracle_free. */
typedef struct oracle_pairs {
    carom_pair *data;
    uint64_t count, capacity;
} oracle_pairs;

void oracle_free(oracle_pairs *pairs);
void oracle_free_all(oracle_pairs pairs[CAROM_SOUP_DEGENERATE_COUNT]);

/* All pairs of a mesh with itself, one list for each choice of `degenerate`. Polygons are split as
 * carom_mesh_triangulate splits them; with `fan` the triangles are the faces. dead[f] takes face f
 * out; NULL: none. */
void oracle_self(carom_context *context, const carom_mesh_view *mesh, bool fan, const bool *dead,
                 oracle_pairs pairs[CAROM_SOUP_DEGENERATE_COUNT]);

/* All pairs (face of a, face of b) whose closed faces meet; faces without area are left out, or
 * taken as what they are. */
void oracle_cross(carom_context *context, const carom_mesh_view *a, const carom_mesh_view *b,
                  bool fan, carom_soup_degenerate degenerate, oracle_pairs *pairs);

/* Fails the test unless both lists are the same; `what` names the case. */
void oracle_assert_equal(const carom_pairs *pairs, const oracle_pairs *expected, const char *what);

#endif
