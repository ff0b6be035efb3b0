/* SPDX-License-Identifier: MIT */
/* Entering a context.
 *
 * Owner: an atomic pointer to a variable of the thread that is in a call; its address names the
 * thread without a system call. Only the owner reads and writes `depth`, so calls that nest need no
 * further atomic operation. Engines call public functions from their loops, too: while a thread
 * runs ranges for a context, it comes and goes as it likes.
 *
 * Forks: reading the process's number from the system at each call would cost more than short calls
 * take. So the child increments a counter, in a handler that is registered once, and a
 * call compares it with the context's. */
#include "base/entry.h"

#include "base/assert.h"
#include "base/context.h"
#include "base/platform.h"

/* ---- Forks ----------------------------------------------------------------------------------- */

#define OF_PARENT                                                                                  \
    "the context was created before this process was forked; create one in the child: the "        \
    "threads "                                                                                     \
    "of the parent's are not in it"

#define ELSEWHERE                                                                                  \
    "another thread is in a call on this context; give each thread a context of its own"

uint32_t carom_forks;

static carom_os_once entry_once = CAROM_OS_ONCE_INIT;
static bool watched;

static void count_fork(void) {
    ++carom_forks;
}

static void watch(void) {
    watched = carom_os_at_fork(count_fork);
}

bool carom_forks_watch(void) {
    carom_os_run_once(&entry_once, watch);
    return watched;
}

void carom_context_refuse(carom_context *context, const char *function) {
    if (context != NULL) (void)carom_fail(context, CAROM_INVALID, OF_PARENT);
    carom_assert_failed(function, context == NULL ? CAROM_IS_NULL("context") : OF_PARENT);
}

/* ---- Owner ----------------------------------------------------------------------------------- */

static _Thread_local const carom_context *worked_for;

const carom_context *carom_context_work_for(const carom_context *context) {
    const carom_context *before = worked_for;
    worked_for = context;
    return before;
}

static const void *this_thread(void) {
    static _Thread_local char own;
    return &own;
}

bool carom_context_own(carom_context *context, const char *function) {
    const void *none = NULL;
    if (worked_for == context) return true;
    if (atomic_load_explicit(&context->owner, memory_order_relaxed) != this_thread()) {
        if (!atomic_compare_exchange_strong_explicit(&context->owner, &none, this_thread(),
                                                     memory_order_acquire, memory_order_relaxed)) {
            carom_assert_failed(function, ELSEWHERE);
            return false;
        }
        CAROM_ASSERT(context->depth == 0);
    }
    ++context->depth;
    return true;
}

void carom_context_disown(carom_context *const *context) {
    if (*context == NULL || *context == worked_for) return;
    CAROM_ASSERT((*context)->owner == this_thread() && (*context)->depth > 0);
    if (--(*context)->depth == 0)
        atomic_store_explicit(&(*context)->owner, NULL, memory_order_release);
}

bool carom_context_is_elsewhere(const carom_context *context) {
    const void *owner = atomic_load_explicit(&context->owner, memory_order_relaxed);
    return context->forks == carom_forks && worked_for != context && owner != NULL &&
           owner != this_thread();
}

bool carom_context_may_look(const carom_context *context, const char *function) {
    const char *why = context == NULL                       ? CAROM_IS_NULL("context")
                      : context->forks != carom_forks       ? OF_PARENT
                      : carom_context_is_elsewhere(context) ? ELSEWHERE
                                                            : NULL;
    if (why != NULL) carom_assert_failed(function, why);
    return why == NULL;
}
