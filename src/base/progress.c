/* SPDX-License-Identifier: MIT */
/* Progress is one atomic counter that all workers raise. Only worker 0 looks at the clock and
 * calls back, so the callback needs no locks and the others never wait for it. */
#include "base/progress.h"

#include "base/context.h"
#include "base/item.h"

#define SECONDS_BETWEEN_CALLS 0.05

static void call_back(carom_progress *progress, double fraction) {
    progress->last_call = carom_time_seconds();
    if (progress->callback(progress->user, progress->what, fraction))
        atomic_store(&progress->cancelled, true);
}

void carom_progress_begin(carom_context *context, const char *what, uint64_t total) {
    carom_progress *progress = &context->progress;
    progress->what = what;
    progress->total = total;
    atomic_store(&progress->done, 0);
    atomic_store(&progress->cancelled, false);
    if (progress->callback != NULL) call_back(progress, 0.0);
}

void carom_progress_add(carom_context *context, uint32_t worker, uint64_t amount) {
    carom_progress *progress = &context->progress;
    if (progress->callback == NULL) return;
    uint64_t done = atomic_fetch_add(&progress->done, amount) + amount;
    if (worker != 0 || carom_time_seconds() - progress->last_call < SECONDS_BETWEEN_CALLS) return;
    double fraction = progress->total != 0 ? (double)done / (double)progress->total : 0.0;
    call_back(progress, CAROM_MIN(fraction, 1.0));
}

bool carom_progress_cancelled(const carom_context *context) {
    return atomic_load(&context->progress.cancelled);
}

carom_status carom_progress_end(carom_context *context) {
    carom_progress *progress = &context->progress;
    if (progress->callback != NULL && !carom_progress_cancelled(context)) call_back(progress, 1.0);
    bool cancelled = atomic_exchange(&progress->cancelled, false);
    if (cancelled)
        return carom_fail(context, CAROM_CANCELLED, "cancelled by the progress callback: %s",
                          progress->what);
    return CAROM_OK;
}
