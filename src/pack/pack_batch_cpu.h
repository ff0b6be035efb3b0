/* SPDX-License-Identifier: MIT */
/* pack_batch_cpu.h: the terms of many pairs of spheres at a time, one version per instruction set.
 */
#ifndef CAROM_SRC_PACK_PACK_BATCH_CPU_H
#define CAROM_SRC_PACK_PACK_BATCH_CPU_H

#include "base/isa.h"
#include "pack/pack_overlap_item.h"

/* Pairs of one batch: 512 are 40 KB, and parts of 2^50 of as many fit into 64 bits. */
#define CAROM_PACK_BATCH 512u

/* Pairs of posed spheres, in columns. Columns have room for one vector more. */
typedef struct carom_pack_side {
    double x[CAROM_PACK_BATCH + 8], y[CAROM_PACK_BATCH + 8], z[CAROM_PACK_BATCH + 8];
    double secondary[CAROM_PACK_BATCH + 8], radius[CAROM_PACK_BATCH + 8];
} carom_pack_side;

typedef struct carom_pack_batch {
    carom_pack_side a, b;
    uint32_t count;
    double inner[CAROM_PACK_BATCH +
                 8]; /* set with `inner`: the volumes of the lenses of inner balls */
} carom_pack_batch;

/* Adds all pairs to `totals` as carom_pack_totals_add does, bit for bit, and empties the batch.
 * Without `inner` the lenses of inner balls are left out. */
CAROM_CPU_DECLARE(void, carom_pack_batch_add, carom_pack_batch *batch, const carom_pack_meeting *m,
                  bool inner, carom_pack_totals *totals);

#endif
