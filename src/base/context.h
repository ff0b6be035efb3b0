/* SPDX-License-Identifier: MIT */
/* context.h: the members of a context. */
#ifndef CAROM_SRC_BASE_CONTEXT_H
#define CAROM_SRC_BASE_CONTEXT_H

#include <stdatomic.h>

#include "base/arena.h"
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
    double last_call; /* seconds; accessed by worker 0 only, as is: */
    double fraction;  /* the last one told */
} carom_progress;

struct carom_context {
    carom_allocator allocator;
    carom_backend backend;
    carom_isa isa;
    uint32_t threads;
    carom_run_fn *run; /* Carom's thread pool or the caller's */
    void *run_user;
    carom_pool *pool; /* NULL until first needed, or when the caller provides threads */
    bool in_parallel;
    carom_arena *arenas; /* one per worker; worker 0 is the calling thread */
    carom_progress progress;
    carom_work work; /* of the last query */
    char message[CAROM_SENTENCE_SIZE];
};

/* Scratch arena of a worker. Take a mark first, rewind to it at the end. */
static inline carom_arena *carom_scratch(carom_context *context, uint32_t worker) {
    return &context->arenas[worker];
}

/* CAROM_OK on the CPU; else CAROM_UNSUPPORTED: `what`, such as "a soup", is not implemented on the
 * context's backend. */
carom_status carom_context_require_cpu(carom_context *context, const char *what);

#endif
