/* SPDX-License-Identifier: MIT */
/* threads.h: parallel_for, the only parallel primitive. */
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
 * worker.
 * - The ranges depend on count and grain alone: if each range stores its results in memory of its
 *   own, the outcome is the same for any number of threads.
 * - When a body fails or the call is cancelled, ranges not yet begun are skipped, and the failure
 *   of the lowest failed range is returned.
 * - Calls do not nest. A single range runs on the calling thread. */
carom_status carom_parallel_for(carom_context *context, uint64_t count, uint64_t grain,
                                carom_range_fn *body, void *argument);

/* The same as a progress phase of its own (progress.h), with items as units. */
carom_status carom_parallel_phase(carom_context *context, const char *what, uint64_t count,
                                  uint64_t grain, carom_range_fn *body, void *argument);

/* A grain that gives each worker several ranges of at least `least` items. It depends on the number
 * of threads: use it only for bodies whose outcome does not depend on the ranges. */
uint64_t carom_grain(const carom_context *context, uint64_t count, uint64_t least);

/* Has the system provide the pages of new memory on all threads, and leaves the contents undefined.
 * Without it, the threads of the first loop that fills the memory arrive at each huge page together
 * and clear it several times. On one thread it does nothing. */
carom_status carom_touch_pages(carom_context *context, void *memory, uint64_t bytes);

/* Processors this process may run on, at least 1, at most CAROM_MOST_THREADS. */
uint32_t carom_processor_count(void);

/* NULL is fine. */
void carom_pool_destroy(carom_pool *pool);

/* Frees the memory of a parent's pool in a forked child, where its threads are missing: joining
 * them, or destroying the condition they waited for, would not end. NULL is fine. */
void carom_pool_release(carom_pool *pool);

#endif
