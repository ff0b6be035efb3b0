/* SPDX-License-Identifier: MIT */
/* solid_precise.h: the integrals of an overlap in adaptive multiple precision. */
#ifndef CAROM_SRC_SOLID_SOLID_PRECISE_H
#define CAROM_SRC_SOLID_SOLID_PRECISE_H

#include "geom/real.h"
#include "solid/solid_query.h"

/* The results, in the query's units; vectors by components. */
typedef struct carom_solid_results {
    int limbs;
    carom_real volume, area, centroid[3], force[3], torque[3];
} carom_solid_results;

/* Lists the records of a search by their triangles of a, then of b, so that nothing depends on the
 * order in which trees are searched. Uses scratch of worker 0. */
carom_status carom_solid_sort_records(const carom_solid_query *query,
                                      const carom_solid_accumulator *acc,
                                      const carom_solid_record ***records, uint64_t *count);

/* Computes volume, area, centroid, force and torque. The search has kept records, and the changes
 * of both solids have been summed into winding numbers. The torque is about `pivot`; `size` is that
 * of the smaller solid; both are in the query's units. Uses scratch of worker 0. */
carom_status carom_solid_measure_precisely(const carom_solid_query *query,
                                           const carom_solid_accumulator *acc, carom_vec3 pivot,
                                           double size, carom_solid_results *results);

/* Replaces area, force and torque by the means of both results. */
void carom_solid_results_mean(carom_solid_results *results, carom_solid_results *other);

/* Rounds the results into an overlap, once, with their errors. */
void carom_solid_results_round(const carom_solid_query *query, const carom_solid_results *results,
                               carom_solid_result *overlap);

/* ---- Forces on vertices ---------------------------------------------------------------------- */

/* Initial number of limbs of 64 bits: 256 bits, where a product of three doubles has 159. */
#define CAROM_SOLID_PRECISE_LIMBS 4

/* Six times a force. */
typedef struct carom_solid_precise_vector {
    carom_real x[3];
} carom_solid_precise_vector;

void carom_solid_precise_clear(carom_solid_precise_vector *force, int limbs);

/* Adds the forces on the corners of a whole face, where the other solid's winding number is
 * `winding`. */
void carom_solid_precise_push_face(const carom_solid_query *query, int of_b, uint32_t triangle,
                                   int winding, int limbs,
                                   carom_solid_precise_vector *const corners[3]);

/* Adds the forces on the corners of a face by the segment that it shares with another. */
void carom_solid_precise_push_cut(const carom_solid_query *query, int of_b,
                                  const carom_solid_record *record, int limbs,
                                  carom_solid_precise_vector *const corners[3]);

/* Whether all forces are so accurate that more limbs gain nothing; `size` is that of the smaller
 * solid. */
bool carom_solid_precise_suffices(const carom_solid_precise_vector *forces, uint32_t count,
                                  double size, int limbs);

/* Rounds a force once, in the caller's units; *error is for each coordinate. */
carom_vec3 carom_solid_precise_round(const carom_solid_query *query,
                                     const carom_solid_precise_vector *force, int limbs,
                                     double *error);

/* ---- Sums over surface triangles ------------------------------------------------------------- */

/* A point of a surface: a vertex of a solid, or the point where its edge from `low` to `high`
 * crosses a face of the other solid. */
typedef struct carom_solid_spot {
    int of_b;
    uint32_t low, high;
    uint32_t face; /* CAROM_SOLID_NO_FACE: the vertex low */
} carom_solid_spot;
#define CAROM_SOLID_NO_FACE UINT32_MAX

/* Sums over triangles, about the query's origin: multiples of the results. */
typedef struct carom_solid_precise {
    carom_real volume;    /* 6 times */
    carom_real moment[3]; /* 24 times */
    carom_real area;      /* 2 times */
    carom_real normal[3]; /* 2 times, of b's surface */
    carom_real turn[3];   /* 6 times */
} carom_solid_precise;

void carom_solid_precise_begin(carom_solid_precise *sums, int limbs);

/* Adds `weight` times the triangle spanned by three points of a face. */
void carom_solid_precise_add(const carom_solid_query *query, carom_solid_precise *sums, int limbs,
                             int of_b, uint32_t triangle, const carom_solid_spot spots[3],
                             int weight);
void carom_solid_precise_join(carom_solid_precise *sums, const carom_solid_precise *other,
                              int limbs);

/* In the query's units. */
double carom_solid_precise_volume(const carom_solid_precise *sums, int limbs, double *error);

carom_solid_patch carom_solid_precise_patch(const carom_solid_query *query,
                                            const carom_solid_precise *sums, int limbs);

#endif
