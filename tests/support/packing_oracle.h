/* SPDX-License-Identifier: MIT */
/* packing_oracle.h: the overlap of two packings by all pairs of their spheres, and packings to try
 * it on. */
#ifndef CAROM_TESTS_PACKING_ORACLE_H
#define CAROM_TESTS_PACKING_ORACLE_H

#include "carom/shapes.h"
#include "spheres/spheres_overlap.h"

/* The definition, word for word (spheres_overlap_item.h). O(n_a n_b). Poses may be NULL, scales 0.
 */
void packing_oracle_overlap(carom_context *context, const carom_packing *a,
                            const carom_pose *pose_a, double scale_a, const carom_packing *b,
                            const carom_pose *pose_b, double scale_b,
                            carom_packing_overlap *overlap);

/* A packing of spheres as they are given, through a file in memory; with shares. */
carom_packing *packing_of_spheres(carom_context *context, const carom_packing_sphere *spheres,
                                  uint64_t count, double volume);

/* Seeded: up to `most` spheres that may overlap, nest, touch and coincide, on a lattice and off it;
 * coordinates up to `size`. Not inside any solid. */
carom_packing *packing_random(carom_context *context, carom_random *random, uint32_t most,
                              double size);

/* A random rotation, and a translation up to `far` along each axis. */
carom_pose packing_random_pose(carom_random *random, double far);

#endif
