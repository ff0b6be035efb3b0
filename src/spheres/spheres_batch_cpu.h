/* SPDX-License-Identifier: MIT */
/* spheres_batch_cpu.h: the terms of many pairs of spheres at a time, one version per instruction
 * set.
 */
#ifndef CAROM_SRC_SPHERES_SPHERES_BATCH_CPU_H
#define CAROM_SRC_SPHERES_SPHERES_BATCH_CPU_H

#include "base/isa.h"
#include "spheres/spheres_overlap_item.h"

/* Pairs of one batch: 512 are 40 KB, and parts of 2^50 of as many fit into 64 bits. */
#define CAROM_SPHERES_BATCH 512u

/* Pairs of posed spheres, in columns. Columns have room for one vector more. */
typedef struct carom_spheres_side {
    double x[CAROM_SPHERES_BATCH + 8], y[CAROM_SPHERES_BATCH + 8], z[CAROM_SPHERES_BATCH + 8];
    double secondary[CAROM_SPHERES_BATCH + 8], radius[CAROM_SPHERES_BATCH + 8];
} carom_spheres_side;

typedef struct carom_spheres_batch {
    carom_spheres_side a, b;
    uint32_t count;
    double inner[CAROM_SPHERES_BATCH +
                 8]; /* set with `inner`: the volumes of the lenses of inner balls */
} carom_spheres_batch;

/* Adds all pairs to `totals` as carom_spheres_totals_add does, with the same values bit for bit,
 * and empties the batch. Without `inner` the lenses of inner balls are left out. */
CAROM_CPU_DECLARE(void, carom_spheres_batch_add, carom_spheres_batch *batch,
                  const carom_spheres_posed_pair *m, bool inner, carom_spheres_totals *totals);

#endif
