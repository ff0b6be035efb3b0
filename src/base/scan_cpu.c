/* SPDX-License-Identifier: MIT */
/* The loops of the prefix sum. Integers may be added in any order, so the compiler vectorises the
 * total. The fill is one addition per item and limited by loads and stores. */
#include "base/scan_cpu.h"

uint64_t CAROM_CPU(carom_scan_total)(const uint32_t *counts, uint64_t count) {
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; ++i) total += counts[i];
    return total;
}

void CAROM_CPU(carom_scan_fill_u32)(const uint32_t *counts, uint64_t count, uint32_t start,
                                    uint32_t *offsets) {
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t here = counts[i]; /* before the store: both may be one array */
        offsets[i] = start;
        start += here;
    }
}

void CAROM_CPU(carom_scan_fill_u64)(const uint32_t *counts, uint64_t count, uint64_t start,
                                    uint64_t *offsets) {
    for (uint64_t i = 0; i < count; ++i) {
        offsets[i] = start;
        start += counts[i];
    }
}
