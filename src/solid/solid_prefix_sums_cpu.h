/* SPDX-License-Identifier: MIT */
/* solid_prefix_sums_cpu.h: integrals over triangles, several at a time, one version per instruction
 * set. */
#ifndef CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_CPU_H
#define CAROM_SRC_SOLID_SOLID_PREFIX_SUMS_CPU_H

#include "base/isa.h"
#include "solid/solid_prefix_sums.h"

/* Writes the sums over the triangles of each of the blocks [first, last), block after block. The
 * frame and the scales of `sums` are those of the solid. */
CAROM_CPU_DECLARE(void, carom_solid_integrate_blocks, const carom_solid_prefix_sums *sums,
                  const carom_soup_view *soup, uint64_t first, uint64_t last, carom_solid_sum *to);

/* Writes twice the areas of triangles [first, last), in units of 2^-exponent. */
CAROM_CPU_DECLARE(void, carom_solid_double_areas, const carom_soup_view *soup, int exponent,
                  uint64_t first, uint64_t last, double *to);

/* Writes of each of the triangles [first, last) the largest component of twice its vector area, in
 * units of 2^-exponent, and its largest extent along an axis. */
CAROM_CPU_DECLARE(void, carom_solid_sizes, const carom_soup_view *soup, int exponent,
                  uint64_t first, uint64_t last, double *normals, double *extents);

#endif
