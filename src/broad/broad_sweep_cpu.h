/* SPDX-License-Identifier: MIT */
/* broad_sweep_cpu.h: the sweep over sorted entries, one version per instruction set. */
#ifndef CAROM_SRC_BROAD_BROAD_SWEEP_CPU_H
#define CAROM_SRC_BROAD_BROAD_SWEEP_CPU_H

#include "base/isa.h"
#include "broad/broad.h"

#define CAROM_BROAD_SWEEP_FLUSH 256u
#define CAROM_BROAD_SWEEP_FOUND 4096u

/* Flags of an entry's owner: the cell is the lowest that the box meets along that axis. */
#define CAROM_BROAD_SWEEP_LOW_U 0x40000000u
#define CAROM_BROAD_SWEEP_LOW_V 0x80000000u
#define CAROM_BROAD_SWEEP_ID    0x3FFFFFFFu

/* Entries are padded, so that SIMD loads may read past the last. */
#define CAROM_BROAD_SWEEP_PADDING 16u

/* The output buffer: ids of candidates. `flush` is called when fewer than CAROM_BROAD_SWEEP_FLUSH
 * entries are free, and must free space; false stops the search. */
typedef struct carom_broad_sweep_found {
    uint32_t a[CAROM_BROAD_SWEEP_FOUND], b[CAROM_BROAD_SWEEP_FOUND];
    uint32_t count;
    uint64_t steps; /* entries looked at along the axis */
    bool (*flush)(struct carom_broad_sweep_found *found);
    void *user;
} carom_broad_sweep_found;

/* The key of a coordinate along the axis, without the cell: monotone. */
static inline uint32_t carom_broad_sweep_key(const carom_broad_sweep *sweep, float x) {
    double at = ((double)x - sweep->low) * sweep->scale;
    double most = (double)(((uint64_t)1 << sweep->key_bits) - 1);
    at = at > 0.0 ? at : 0.0;
    at = at < most ? at : most;
    return (uint32_t)at;
}

/* Finds each pair of boxes whose first entry is in [first, end) once. Does not flush at the end.
 * Returns false if a flush did. */
CAROM_CPU_DECLARE(bool, carom_broad_sweep_entries, const carom_broad_sweep *sweep, uint64_t first,
                  uint64_t end, carom_broad_sweep_found *found);

#endif
