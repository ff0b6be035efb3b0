/* SPDX-License-Identifier: MIT */
/* threads.h: the one parallel primitive. */
#ifndef CAROM_SRC_BASE_THREADS_H
#define CAROM_SRC_BASE_THREADS_H

#include "carom/base.h"

typedef struct carom_pool carom_pool;

/* Items [begin, end) for `worker`, which is below the context's number of threads. */
typedef struct carom_range {
    uint64_t begin, end;
    uint32_t worker;
} carom_range;

typedef carom_status carom_range_fn(void *argument, carom_range range);

/* Calls body for the ranges [k grain, (k+1) grain) of [0, count), each once, in any order on any
 * worker. The ranges depend on count and grain alone: give each its own place for its results and
 * the outcome is the same for any number of threads.
 * When a body fails, ranges not yet begun are left out and the failure of the lowest failed range
 * is returned; so with cancellation. Does not nest. Calls that fit one range run on the spot. */
carom_status carom_parallel_for(carom_context *context, uint64_t count, uint64_t grain,
                                carom_range_fn *body, void *argument);

/* The same as a phase of its own (progress.h), with items as its units. */
carom_status carom_parallel_phase(carom_context *context, const char *what, uint64_t count,
                                  uint64_t grain, carom_range_fn *body, void *argument);

/* A grain that gives each worker several ranges but none fewer than `least` items. It depends on
 * the number of threads: only for bodies whose outcome does not depend on the ranges. */
uint64_t carom_grain(const carom_context *context, uint64_t count, uint64_t least);

/* Processors this process may run on, at least 1, at most CAROM_MOST_THREADS. */
uint32_t carom_processor_count(void);

/* NULL is fine. */
void carom_pool_destroy(carom_pool *pool);

#endif
