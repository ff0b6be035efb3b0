/* SPDX-License-Identifier: MIT */
/* progress.h: telling the caller how far long work has come, and hearing that it should stop.
 *
 *   carom_progress_begin(context, "packing spheres", n);
 *   ... in the loops: carom_progress_add(context, range.worker, done_here);
 *   CAROM_TRY(carom_progress_end(context));
 *
 * Loops through carom_parallel_for stop by themselves; others ask carom_progress_cancelled. */
#ifndef CAROM_SRC_BASE_PROGRESS_H
#define CAROM_SRC_BASE_PROGRESS_H

#include "carom/base.h"

/* `what` must outlive the work: a literal. `total` in any unit. */
void carom_progress_begin(carom_context *context, const char *what, uint64_t total);

/* Any worker; only worker 0 calls back. Cheap enough to call per thousand items. */
void carom_progress_add(carom_context *context, uint32_t worker, uint64_t amount);

bool carom_progress_cancelled(const carom_context *context);

/* CAROM_OK, or CAROM_CANCELLED with its sentence. */
carom_status carom_progress_end(carom_context *context);

#endif
