/* SPDX-License-Identifier: MIT */
/* worker_state.h: the state of each worker of a parallel loop, created at the worker's first range.
 *
 *   carom_worker_states_begin(&states, context, sizeof(finder), finder_begin, search);
 *   ... in a range: finder *f = carom_worker_state(&states, range.worker);
 *   for (uint32_t w = 0; (f = carom_worker_states_next(&states, &w)) != NULL;) ...
 *   carom_worker_states_release(&states);
 *
 * A state and what it takes later come from the scratch of its own worker, so workers never wait
 * for each other and a worker that gets no range takes nothing. */
#ifndef CAROM_SRC_BASE_WORKER_STATE_H
#define CAROM_SRC_BASE_WORKER_STATE_H

#include "base/context.h"

/* Initialises a state, whose memory is not cleared; false if out of memory. It may take scratch of
 * the worker. */
typedef bool carom_worker_begin_fn(void *user, void *state, uint32_t worker);

typedef struct carom_worker_states {
    carom_context *context;
    size_t size; /* of a state, in bytes */
    carom_worker_begin_fn *begin;
    void *user;
    void **states;           /* one per worker, NULL until it has worked */
    carom_arena_mark *marks; /* of their scratch */
} carom_worker_states;

/* Takes scratch of worker 0, which the caller rewinds. */
carom_status carom_worker_states_begin(carom_worker_states *states, carom_context *context,
                                       size_t size, carom_worker_begin_fn *begin, void *user);

/* Creates the state of a worker; NULL if out of memory. */
void *carom_worker_state_create(carom_worker_states *states, uint32_t worker);

/* Returns the state of a worker, which it creates at the first call; NULL if out of memory. */
static inline void *carom_worker_state(carom_worker_states *states, uint32_t worker) {
    void *state = states->states[worker];
    return state != NULL ? state : carom_worker_state_create(states, worker);
}

/* Returns the next state, starting with that of worker *worker, and sets *worker to the worker
 * after it; NULL if there are no more. */
void *carom_worker_states_next(const carom_worker_states *states, uint32_t *worker);

/* Rewinds the scratch of all workers except worker 0, the caller of the loop, which rewinds its own
 * later because it may have taken more for the result. */
void carom_worker_states_release(carom_worker_states *states);

#endif
