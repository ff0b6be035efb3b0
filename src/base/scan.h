/* SPDX-License-Identifier: MIT */
/* scan.h: exclusive prefix sums on all threads, the middle step of count -> scan -> fill. */
#ifndef CAROM_SRC_BASE_SCAN_H
#define CAROM_SRC_BASE_SCAN_H

#include "carom/base.h"

/* offsets[i] = counts[0] + ... + counts[i-1] for i in [0, count]; there are count + 1 offsets, the
 * last is the total. offsets may be the array counts itself. CAROM_TOO_LARGE when the total does
 * not fit 32 bits; offsets are then unspecified. */
carom_status carom_scan_u32(carom_context *context, const uint32_t *counts, uint64_t count,
                            uint32_t *offsets);

/* The same with 64-bit offsets, which cannot overflow. */
carom_status carom_scan_u64(carom_context *context, const uint32_t *counts, uint64_t count,
                            uint64_t *offsets);

#endif
