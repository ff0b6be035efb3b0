/* SPDX-License-Identifier: MIT */
/* context.h: the members of a context. */
#ifndef CAROM_SRC_BASE_CONTEXT_H
#define CAROM_SRC_BASE_CONTEXT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/device.h"
#include "base/entry.h"
#include "base/status.h"
#include "base/threads.h"

#define CAROM_MOST_THREADS 256u

typedef struct carom_progress {
    carom_progress_fn *callback;
    void *user;
    uint32_t depth; /* open phases, nested; always 0 without a callback */
    const char *what;
    uint64_t total;
    _Atomic uint64_t done;
    _Atomic bool cancelled;
    double interval;  /* least seconds between two calls; negative: no clock is read */
    double last_call; /* seconds; accessed by worker 0 only, as is: */
    double fraction;  /* the last one told */
} carom_progress;

struct carom_context {
    uint32_t forks;              /* carom_forks of the process that created it */
    _Atomic(const void *) owner; /* the thread in a call, NULL: none. Checked builds only, as is: */
    uint32_t depth;              /* calls of the owner, nested */
    carom_allocator allocator;
    carom_backend backend;
    carom_isa isa;
    uint64_t input_limit; /* bytes of one file */
    uint32_t threads;
    carom_run_fn *run; /* Carom's thread pool or the caller's */
    void *run_user;
    carom_pool *pool; /* NULL until first needed, or when the caller provides threads */
    bool in_parallel;
    carom_arena *arenas; /* one per worker; worker 0 is the calling thread */
    carom_progress progress;
    carom_work work;               /* of the last query */
    double slowness;               /* of the machine, for advice (query.h); 0: not measured yet */
    carom_device *device;          /* NULL on the CPU */
    uint32_t device_number;        /* of it */
    carom_cuda_pairs device_pairs; /* of queries whose result goes to the host */
    char message[CAROM_MESSAGE_SIZE];
};

/* Scratch arena of a worker. Take a mark first, rewind to it at the end. */
static inline carom_arena *carom_scratch(carom_context *context, uint32_t worker) {
    return &context->arenas[worker];
}

/* ---- Entering -------------------------------------------------------------------------------- */

static inline carom_context *carom_context_enter(carom_context *context, const char *function) {
    if (context == NULL || context->forks != carom_forks) {
        carom_context_refuse(context, function);
        return NULL;
    }
    return CAROM_OWNED(context, function) ? context : NULL;
}

/* First line of a public function that is given a context. Until the function returns, the context
 * is this thread's; calls within calls of one thread are fine. */
#define CAROM_ENTER(context)                                                                       \
    CAROM_LEAVES carom_context *const entered_ = carom_context_enter(context, __func__);           \
    if (entered_ == NULL) return CAROM_INVALID

/* The same for a function that returns nothing. */
#define CAROM_ENTER_VOID(context)                                                                  \
    CAROM_LEAVES carom_context *const entered_ = carom_context_enter(context, __func__);           \
    if (entered_ == NULL) return

/* The same for a getter, which leaves the context as it is. */
#define CAROM_LOOK(context)                                                                        \
    if (!carom_context_may_look(context, __func__)) return CAROM_INVALID

/* ---- Other ----------------------------------------------------------------------------------- */

/* The device of a new CUDA context, its end, the bytes it holds for reuse, and freeing them. */
carom_status carom_device_open(const carom_context_def *def, carom_device **device);
void carom_device_close(carom_device *device, carom_cuda_pairs *pairs);
uint64_t carom_device_bytes(const carom_device *device);
carom_status carom_device_trim(carom_context *context);

/* CAROM_OK on the CPU; else CAROM_UNSUPPORTED: `what`, such as "a soup", is not implemented on the
 * context's backend. */
carom_status carom_context_require_cpu(carom_context *context, const char *what);

/* CAROM_OK where the GPU library has the `table` of an engine, for `what`, such as "soups". */
carom_status carom_context_require_table(carom_context *context, const void *table,
                                         const char *what);

/* The backend on which something was made, by its part on the device, which may be NULL. */
static inline carom_backend carom_backend_of(const void *device) {
    return device != NULL ? CAROM_BACKEND_CUDA : CAROM_BACKEND_CPU;
}

/* CAROM_OK where the context computes on the backend on which `what`, such as "the soup", was
 * made. */
carom_status carom_context_require_made(carom_context *context, carom_backend made,
                                        const char *what);

#endif
