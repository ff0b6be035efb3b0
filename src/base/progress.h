/* SPDX-License-Identifier: MIT */
/* progress.h: reports the progress of long work to the caller and checks for cancellation.
 *
 *   carom_progress_begin(context, "packing spheres", n);
 *   ... in the loops: carom_progress_add(context, range.worker, done_here);
 *   return carom_progress_finish(context, status);
 *
 * Every begin needs an end or a finish. A nested phase does not report: the outer phase keeps
 * reporting, and a cancellation names it. Loops through carom_parallel_for check the clock and stop
 * between ranges. Long ranges and serial loops must call carom_progress_stop or carom_progress_look
 * themselves, some twenty times a second or more often. */
#ifndef CAROM_SRC_BASE_PROGRESS_H
#define CAROM_SRC_BASE_PROGRESS_H

#include "base/context.h"

/* `what` must outlive the work: a literal. `total` in any unit; 0: not known yet. */
void carom_progress_begin(carom_context *context, const char *what, uint64_t total);

/* Sets the total when it becomes known; none of it is done yet. */
void carom_progress_expect(carom_context *context, uint64_t total);

/* Any worker may call it; only worker 0 invokes the callback. Cheap enough for once per thousand
 * items. */
void carom_progress_add(carom_context *context, uint32_t worker, uint64_t amount);

static inline bool carom_progress_cancelled(const carom_context *context) {
    return atomic_load_explicit(&context->progress.cancelled, memory_order_relaxed);
}

/* Whether to stop, for use inside long work: invokes the callback when it is due. */
static inline bool carom_progress_stop(carom_context *context, uint32_t worker) {
    if (context->progress.depth == 0) return false;
    carom_progress_add(context, worker, 0);
    return carom_progress_cancelled(context);
}

/* For use between the steps of serial work: CAROM_OK, or CAROM_CANCELLED with its message, and all
 * phases are closed. Not from inside parallel_for. */
carom_status carom_progress_look(carom_context *context);

/* CAROM_OK, or CAROM_CANCELLED as above. */
carom_status carom_progress_end(carom_context *context);

/* Ends the phase and returns `status`, or CAROM_CANCELLED when the callback cancels at the end of
 * successful work. */
carom_status carom_progress_finish(carom_context *context, carom_status status);

#endif
