/* SPDX-License-Identifier: MIT */
/* precise.h: the integrals of an overlap with as many bits as they need. */
#ifndef CAROM_SRC_SOLID_PRECISE_H
#define CAROM_SRC_SOLID_PRECISE_H

#include "geom/real.h"
#include "solid/query.h"

/* What was found, in the query's units, vectors by components. */
typedef struct carom_solid_results {
    int limbs;
    carom_real volume, area, centroid[3], force[3], torque[3];
} carom_solid_results;

/* Finds volume, area, centroid, force and torque from a search that has kept records, and changes
 * of both solids that have been made into winding numbers. The torque is about `pivot`; `size` is
 * that of the smaller solid; both in the query's units. Scratch of worker 0. */
carom_status carom_solid_measure_precisely(const carom_solid_query *query,
                                           const carom_solid_tally *tally, carom_vec3 pivot,
                                           double size, carom_solid_results *results);

/* Area, force and torque become the means of both. */
void carom_solid_results_mean(carom_solid_results *results, carom_solid_results *other);

/* Rounds them into an overlap, once, with their errors. */
void carom_solid_results_round(const carom_solid_query *query, const carom_solid_results *results,
                               carom_overlap *overlap);

#endif
