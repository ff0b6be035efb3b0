/* SPDX-License-Identifier: MIT */
/* scan_cpu.h: the loops of the prefix sum, one version per instruction set. */
#ifndef CAROM_SRC_BASE_SCAN_CPU_H
#define CAROM_SRC_BASE_SCAN_CPU_H

#include "base/isa.h"

CAROM_CPU_DECLARE(uint64_t, carom_scan_total, const uint32_t *counts, uint64_t count);

/* offsets[i] = start + the sum of the counts before i, for i in [0, count). */
CAROM_CPU_DECLARE(void, carom_scan_fill_u32, const uint32_t *counts, uint64_t count, uint32_t start,
                  uint32_t *offsets);
CAROM_CPU_DECLARE(void, carom_scan_fill_u64, const uint32_t *counts, uint64_t count, uint64_t start,
                  uint64_t *offsets);

#endif
