/* SPDX-License-Identifier: MIT */
/* solid_relation.h: what a solid is to itself and to another, by where space is inside what. */
#ifndef CAROM_SRC_SOLID_SOLID_RELATION_H
#define CAROM_SRC_SOLID_SOLID_RELATION_H

#include "solid/solid_query.h"

/* There is space, more than a surface, where both winding numbers are not 0, only a's, only b's. */
typedef struct carom_solid_facts {
    bool both, only_a, only_b;
} carom_solid_facts;

/* Finds by_winding and what queries need to know of a solid; `touching` are all pairs of its faces
 * that meet other than as neighbours. */
carom_status carom_solid_classify(carom_context *context, carom_solid *solid,
                                  const carom_mesh_report *report, const carom_pairs *touching);

/* What a connected part of a surface shows that no face of the other meets: its sides, and the
 * winding number of the other there. */
void carom_solid_facts_add(carom_solid_facts *facts, int of_b, unsigned sides, int winding);

/* Finds them where faces meet. Takes scratch of worker 0 for the caller to rewind. */
carom_status carom_solid_facts_find(const carom_solid_query *query, const carom_solid_tally *tally,
                                    carom_solid_facts *facts);

#endif
