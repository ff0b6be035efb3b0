/* SPDX-License-Identifier: MIT */
/* Progress is one atomic counter that all workers increment. Only worker 0 checks the clock and
 * invokes the callback, so the callback needs no locks and the other workers never wait for it.
 *
 * A phase calls the callback at its beginning and at its end, however short it is; in between the
 * clock decides. So a callback that cancels immediately stops every call, however short, and a
 * short call never reads the clock.
 *
 * Invariant: outside phases `cancelled` is false. Only the callback sets it, and the function that
 * returns the cancellation as a status closes all phases. */
#include "base/progress.h"

#include "base/context.h"
#include "base/item.h"

#define CLOCK_NOT_READ (-1.0)

static void call_back(carom_progress *progress, double fraction) {
    if (progress->callback(progress->user, progress->what, fraction))
        atomic_store(&progress->cancelled, true);
}

void carom_progress_begin(carom_context *context, const char *what, uint64_t total) {
    carom_progress *progress = &context->progress;
    if (progress->callback == NULL || progress->depth++ != 0) return;
    progress->what = what;
    progress->total = total;
    progress->last_call = CLOCK_NOT_READ;
    progress->fraction = 0.0;
    atomic_store_explicit(&progress->done, 0, memory_order_relaxed);
    call_back(progress, 0.0);
}

/* Whether it is time for a call within a phase. */
static bool is_due(carom_progress *progress) {
    if (progress->interval < 0.0) return true;
    double now = carom_time_seconds();
    if (progress->last_call < 0.0) progress->last_call = now;
    if (now - progress->last_call < progress->interval) return false;
    progress->last_call = now;
    return true;
}

void carom_progress_expect(carom_context *context, uint64_t total) {
    carom_progress *progress = &context->progress;
    if (progress->depth != 1) return;
    progress->total = total;
    atomic_store_explicit(&progress->done, 0, memory_order_relaxed);
}

void carom_progress_add(carom_context *context, uint32_t worker, uint64_t amount) {
    carom_progress *progress = &context->progress;
    if (progress->depth == 0) return;
    if (progress->depth > 1) amount = 0;
    uint64_t done =
        atomic_fetch_add_explicit(&progress->done, amount, memory_order_relaxed) + amount;
    if (worker != 0 || !is_due(progress)) return;
    CAROM_ASSERT(worker == 0 && progress->callback != NULL);
    double fraction = progress->total != 0 ? (double)done / (double)progress->total : 0.0;
    /* A phase may expect several searches one after another; what is told does not go back. */
    progress->fraction = CAROM_MAX(progress->fraction, CAROM_MIN(fraction, 1.0));
    if (!carom_progress_cancelled(context)) call_back(progress, progress->fraction);
}

carom_status carom_progress_look(carom_context *context) {
    carom_progress *progress = &context->progress;
    if (progress->depth == 0) return CAROM_OK;
    carom_progress_add(context, 0, 0);
    if (!carom_progress_cancelled(context)) return CAROM_OK;
    progress->depth = 0;
    atomic_store_explicit(&progress->cancelled, false, memory_order_relaxed);
    return carom_fail(context, CAROM_CANCELLED, "cancelled by the progress callback: %s",
                      progress->what);
}

carom_status carom_progress_end(carom_context *context) {
    carom_progress *progress = &context->progress;
    if (progress->depth == 0) return CAROM_OK;
    if (progress->depth == 1 && !carom_progress_cancelled(context)) call_back(progress, 1.0);
    if (carom_progress_cancelled(context)) return carom_progress_look(context);
    CAROM_ASSERT(progress->depth >= 1);
    --progress->depth;
    return CAROM_OK;
}

carom_status carom_progress_finish(carom_context *context, carom_status status) {
    carom_progress *progress = &context->progress;
    if (progress->depth == 0) return status;
    if (status == CAROM_OK || status == CAROM_MORE) {
        carom_status ended = carom_progress_end(context);
        return ended != CAROM_OK ? ended : status;
    }
    /* The failure's own message stays; the callback gets no end of a failed phase. */
    if (--progress->depth == 0)
        atomic_store_explicit(&progress->cancelled, false, memory_order_relaxed);
    return status;
}
