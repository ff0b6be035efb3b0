/* SPDX-License-Identifier: MIT */
/* solid_pair_cpu.h: carom_solid_consider for many pairs at a time, one version per instruction
 * set. */
#ifndef CAROM_SRC_SOLID_SOLID_PAIR_CPU_H
#define CAROM_SRC_SOLID_SOLID_PAIR_CPU_H

#include "base/isa.h"
#include "solid/solid_query.h"

/* Pairs: their corners are 18 KiB, which the first cache holds. */
#define CAROM_SOLID_BATCH        128u
#define CAROM_SOLID_BEYOND       16u  /* lanes that vectors read and write past the last pair */
#define CAROM_SOLID_QUEUE        512u /* single triangles of one solid */
#define CAROM_SOLID_MOST_SINGLES CAROM_SOLID_BLOCK /* of one link: half a block at either end */

/* A crossed tree edge. */
typedef struct carom_solid_crossed_link {
    uint32_t vertex; /* below it */
    int32_t change;
    int of_b;
    uint32_t first, last; /* triangles [first, last) of its descendants */
} carom_solid_crossed_link;

/* Memory of one worker for a batch; nothing in it outlasts a call. */
typedef struct carom_solid_batch {
    double corners[18][CAROM_SOLID_BATCH + CAROM_SOLID_BEYOND]; /* of a: x, y, z of each; of b */
    double facts[2][CAROM_SOLID_BATCH + CAROM_SOLID_BEYOND];    /* bits of an integer */
    uint32_t triangles[2][CAROM_SOLID_BATCH];
    uint32_t index[CAROM_SOLID_BATCH + CAROM_SOLID_BEYOND]; /* of the pairs that are left */
    carom_solid_crossed_link links[2 * CAROM_SOLID_BATCH];
    uint32_t link_count;
    /* Per solid: triangles beside prefix sums, and their weights. */
    uint32_t single_count[2];
    uint32_t singles[2][CAROM_SOLID_QUEUE + CAROM_SOLID_BEYOND];
    double weights[2][CAROM_SOLID_QUEUE + CAROM_SOLID_BEYOND];
} carom_solid_batch;

/* Whether a query can be processed in batches: no large triangles, no changes per vertex, and no
 * subnormal term that would count. */
bool carom_solid_batch_can(const carom_solid_query *query);

/* Processes the pairs (a[i], b[i]) of triangles as carom_solid_consider does. */
CAROM_CPU_DECLARE(void, carom_solid_consider_batch, const carom_solid_query *query,
                  carom_solid_accumulator *acc, carom_solid_batch *batch, const uint32_t *a,
                  const uint32_t *b, uint32_t count);

#endif
