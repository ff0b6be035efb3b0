/* SPDX-License-Identifier: MIT */
/* solid_relation.h: the relation of a solid to itself and to another, from winding numbers. */
#ifndef CAROM_SRC_SOLID_SOLID_RELATION_H
#define CAROM_SRC_SOLID_SOLID_RELATION_H

#include "solid/solid_query.h"

/* Whether there is a volume, not only a surface, where both winding numbers are nonzero, only a's,
 * only b's. */
typedef struct carom_solid_facts {
    bool both, only_a, only_b;
} carom_solid_facts;

/* Computes by_winding and the data that queries need of a solid with regions. `touching` holds all
 * pairs of its faces that intersect other than as neighbours. */
carom_status carom_solid_classify(carom_context *context, carom_solid *solid,
                                  const carom_pairs *touching,
                                  carom_solid_plain_faces_fn *find_plain_faces);

/* Triangles of a region: below, a sample costs more than it may save. */
#define CAROM_SOLID_LEAST_REGION 32u
/* A carom_solid_plain_faces_fn on the CPU. */
carom_status carom_solid_find_plain_faces(carom_context *context, carom_solid *solid,
                                          const carom_solid_query *query);
/* Whether the winding number is 0 on one side of a triangle and 1 on the other. */
bool carom_solid_is_plain_at(const carom_solid_query *query, uint32_t triangle);

/* Adds the facts from a connected component of a surface that no face of the other solid
 * intersects: from its sides, and from the winding number of the other solid there. */
void carom_solid_facts_add(carom_solid_facts *facts, int of_b, unsigned sides, int winding);

/* Computes the facts where faces intersect. Takes scratch of worker 0 that the caller rewinds. */
carom_status carom_solid_facts_find(const carom_solid_query *query,
                                    const carom_solid_accumulator *acc, carom_solid_facts *facts);

#endif
