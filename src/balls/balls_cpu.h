/* SPDX-License-Identifier: MIT */
/* balls_cpu.h: lookups of spheres in a grid, one version per instruction set. */
#ifndef CAROM_SRC_BALLS_BALLS_CPU_H
#define CAROM_SRC_BALLS_BALLS_CPU_H

#include "balls/balls_item.h"
#include "spheres/spheres_batch_cpu.h"

#define CAROM_BALLS_BATCH 256u  /* spheres that are looked up at a time */
#define CAROM_BALLS_HITS  2048u /* pairs that the filter left, before they are decided */
#define CAROM_BALLS_LANES 8u    /* doubles of the widest vector, which may read past a batch */

/* A bucket to be scanned for a sphere. */
typedef struct carom_balls_visit {
    uint32_t sphere, at, end; /* in the batch; blocks */
    float low, high;          /* reaches of partners, both included */
} carom_balls_visit;

/* The state of a worker. */
typedef struct carom_balls_worker {
    carom_spheres_totals totals;
    uint64_t visits, candidates, undecided;
    uint8_t *flags[2]; /* of the spheres of A and B, by rank: 1 where covers meet. Shared */

    /* Instead of adding pairs up: called with `hits` filled, must empty it; false stops. */
    bool (*found)(struct carom_balls_worker *worker, const carom_balls_lookup *lookup);
    void *user;

    /* The spheres of a lookup: posed, and in units of the grid. */
    uint32_t first; /* their ranks are first, first + 1, ... */
    double x[CAROM_BALLS_BATCH + CAROM_BALLS_LANES], y[CAROM_BALLS_BATCH + CAROM_BALLS_LANES],
        z[CAROM_BALLS_BATCH + CAROM_BALLS_LANES];
    float p[3][CAROM_BALLS_BATCH + CAROM_BALLS_LANES];
    uint32_t inside[CAROM_BALLS_BATCH + CAROM_BALLS_BLOCK];  /* those in the box of the grid */
    uint32_t bucket[CAROM_BALLS_BATCH + CAROM_BALLS_BLOCK];  /* of their cells on a level */
    float near[CAROM_BALLS_BATCH], reach[CAROM_BALLS_BATCH]; /* enlarged by the slack */
    float least[CAROM_BALLS_BATCH];                          /* least reach of a partner */

    uint32_t visit_count, hit_count, doubt_count;
    carom_balls_visit visit[CAROM_BALLS_BATCH * CAROM_BALLS_LEVELS];
    /* Pairs: a sphere of the batch and an entry, 16 times its block and its lane there. */
    uint32_t hit_sphere[CAROM_BALLS_HITS + CAROM_BALLS_BLOCK];
    uint32_t hit_entry[CAROM_BALLS_HITS + CAROM_BALLS_BLOCK];
    uint32_t doubt_sphere[CAROM_BALLS_HITS + CAROM_BALLS_BLOCK];
    uint32_t doubt_entry[CAROM_BALLS_HITS + CAROM_BALLS_BLOCK];
    carom_spheres_batch batch;
} carom_balls_worker;

static inline uint32_t carom_balls_entry_rank(const carom_balls_view *grid, uint32_t entry) {
    return grid->blocks[entry / CAROM_BALLS_BLOCK].rank[entry % CAROM_BALLS_BLOCK];
}

/* Looks up spheres of ranks [first, end) in the grid. Pairs are added to the worker's totals, the
 * last of them stay in its batch; or they are given to `found`. Covers that meet are flagged. False
 * if `found` returned that. */
CAROM_CPU_DECLARE(bool, carom_balls_look_up, const carom_balls_lookup *lookup, uint32_t first,
                  uint32_t end, carom_balls_worker *worker);

#endif
