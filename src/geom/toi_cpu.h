/* SPDX-License-Identifier: MIT */
/* toi_cpu.h: carom_toi_filter with SIMD; one version per instruction set. */
#ifndef CAROM_SRC_GEOM_TOI_CPU_H
#define CAROM_SRC_GEOM_TOI_CPU_H

#include "base/isa.h"
#include "carom/geom.h"

/* carom_toi_filter of toi_item.h, with the same verdict and the same bits in *low and *high, which
 * are not NULL. */
CAROM_CPU_DECLARE(int, carom_toi_filter_fast, const carom_vec3 *start, const carom_vec3 *end,
                  int edges, double *low, double *high);

#endif
