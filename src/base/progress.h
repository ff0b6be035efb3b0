/* SPDX-License-Identifier: MIT */
/* progress.h: telling the caller how far long work has come, and hearing that it should stop.
 *
 *   carom_progress_begin(context, "packing spheres", n);
 *   ... in the loops: carom_progress_add(context, range.worker, done_here);
 *   return carom_progress_finish(context, status);
 *
 * Every begin has its end or finish. A phase inside another is silent: the outer one goes on
 * reporting, and is what a cancellation names. Loops through carom_parallel_for look at the clock
 * and stop by themselves between ranges; inside long ranges and serial loops someone must ask
 * carom_progress_stop or carom_progress_look, some twenty times a second or more often. */
#ifndef CAROM_SRC_BASE_PROGRESS_H
#define CAROM_SRC_BASE_PROGRESS_H

#include "base/context.h"

/* `what` must outlive the work: a literal. `total` in any unit; 0: not known yet. */
void carom_progress_begin(carom_context *context, const char *what, uint64_t total);

/* The total, known now, and nothing of it done so far. */
void carom_progress_expect(carom_context *context, uint64_t total);

/* Any worker; only worker 0 calls back. Cheap enough to call per thousand items. */
void carom_progress_add(carom_context *context, uint32_t worker, uint64_t amount);

static inline bool carom_progress_cancelled(const carom_context *context) {
    return atomic_load_explicit(&context->progress.cancelled, memory_order_relaxed);
}

/* Whether to stop, for the inside of long work: calls back when it is time to. */
static inline bool carom_progress_stop(carom_context *context, uint32_t worker) {
    if (context->progress.depth == 0) return false;
    carom_progress_add(context, worker, 0);
    return carom_progress_cancelled(context);
}

/* Between the steps of serial work: CAROM_OK, or CAROM_CANCELLED with its message, and all phases
 * are closed. Not from inside parallel_for. */
carom_status carom_progress_look(carom_context *context);

/* CAROM_OK, or CAROM_CANCELLED as above. */
carom_status carom_progress_end(carom_context *context);

/* Ends the phase of work that ended with `status`, and returns that, or CAROM_CANCELLED where the
 * work was done when its end was cancelled. */
carom_status carom_progress_finish(carom_context *context, carom_status status);

#endif
