/* SPDX-License-Identifier: MIT */
/* entry.h: what is checked where a call enters a context (CAROM_ENTER, context.h).
 *
 * - In all builds: the context was created in this process. In a forked child the threads of the
 *   parent's contexts are missing, and a loop would wait for them for ever.
 * - In checked builds: no other thread is in a call on the context. */
#ifndef CAROM_SRC_BASE_ENTRY_H
#define CAROM_SRC_BASE_ENTRY_H

#include "carom/base.h"

/* How many forks lie between this process and the one that created the first context. Written only
 * in a child that has just begun, which has one thread. */
extern uint32_t carom_forks;

/* Has carom_forks incremented in every child from now on; false if out of memory. Any thread. */
bool carom_forks_watch(void);

/* Tells the assert handler that `context` is NULL or the parent's; of the parent's it leaves the
 * message on the context, too. */
void carom_context_refuse(carom_context *context, const char *function);

/* Makes the calling thread the owner, or tells the assert handler that another thread is, and
 * returns false. Each true needs a disown. */
bool carom_context_own(carom_context *context, const char *function);
void carom_context_disown(carom_context *const *context); /* of NULL: nothing */

/* Whether another thread of this process is in a call on the context. */
bool carom_context_is_elsewhere(const carom_context *context);

/* Whether a getter may read the context; tells the assert handler if not. */
bool carom_context_may_look(const carom_context *context, const char *function);

/* Says that this thread runs ranges of a loop of the context (NULL: of none), and so may enter the
 * context although another thread owns it. Returns for which one it did before. */
const carom_context *carom_context_work_for(const carom_context *context);

#if defined(CAROM_CHECKS) && defined(__GNUC__)
#define CAROM_LEAVES                   __attribute__((cleanup(carom_context_disown)))
#define CAROM_OWNED(context, function) carom_context_own(context, function)
#define CAROM_WORK_FOR(context)        carom_context_work_for(context)
#else
#define CAROM_LEAVES
#define CAROM_OWNED(context, function) true
#define CAROM_WORK_FOR(context)        (context)
#endif

#endif
