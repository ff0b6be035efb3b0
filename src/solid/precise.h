/* SPDX-License-Identifier: MIT */
/* precise.h: the integrals of an overlap with as many bits as they need. */
#ifndef CAROM_SRC_SOLID_PRECISE_H
#define CAROM_SRC_SOLID_PRECISE_H

#include "solid/query.h"

/* What a volume says of the solids: none at all, or as much as a solid has, up to its error. */
typedef struct carom_solid_amounts {
    bool none, all[2];
} carom_solid_amounts;

/* Fills volume, area, centroid, force and torque and their errors from a search that has kept
 * records, and changes of both solids that have been made into winding numbers. The torque is about
 * `pivot`; `size` is that of the smaller solid; both in the query's units. Scratch of worker 0. */
carom_status carom_solid_measure_precisely(const carom_solid_query *query,
                                           const carom_solid_tally *tally, carom_vec3 pivot,
                                           double size, carom_overlap *overlap,
                                           carom_solid_amounts *amounts);

#endif
