/* SPDX-License-Identifier: MIT */
/* States of workers: an array of pointers, and a mark of each worker's scratch from before its
 * state was taken. A state that could not be created is taken back at once, so that scratch holds
 * the complete states only. */
#include "base/worker_state.h"

#include <string.h>

#include "base/item.h"

carom_status carom_worker_states_begin(carom_worker_states *states, carom_context *context,
                                       size_t size, carom_worker_begin_fn *begin, void *user) {
    carom_arena *scratch = carom_scratch(context, 0);
    *states = (carom_worker_states){
        .context = context, .size = size, .begin = begin, .user = user, .states = NULL};
    void **pointers = CAROM_ARENA_TAKE(scratch, void *, context->threads);
    states->marks = CAROM_ARENA_TAKE(scratch, carom_arena_mark, context->threads);
    if (pointers == NULL || states->marks == NULL)
        return carom_fail_memory(context, context->threads * sizeof(void *), "a search");
    memset(pointers, 0, context->threads * sizeof(*pointers));
    states->states = pointers;
    return CAROM_OK;
}

void *carom_worker_state_create(carom_worker_states *states, uint32_t worker) {
    carom_arena *scratch = carom_scratch(states->context, worker);
    CAROM_ASSERT(worker < states->context->threads && states->states[worker] == NULL);
    states->marks[worker] = carom_arena_get_mark(scratch);
    void *state = carom_arena_take(scratch, 1, states->size);
    if (state == NULL) return NULL;
    if (!states->begin(states->user, state, worker)) {
        carom_arena_rewind(scratch, states->marks[worker]);
        return NULL;
    }
    return states->states[worker] = state;
}

void *carom_worker_states_next(const carom_worker_states *states, uint32_t *worker) {
    if (states->states == NULL) return NULL;
    while (*worker < states->context->threads) {
        void *state = states->states[(*worker)++];
        CAROM_ASSERT(*worker <= states->context->threads);
        if (state != NULL) return state;
    }
    return NULL;
}

void carom_worker_states_release(carom_worker_states *states) {
    if (states->states == NULL) return;
    for (uint32_t w = 1; w < states->context->threads; ++w)
        if (states->states[w] != NULL)
            carom_arena_rewind(carom_scratch(states->context, w), states->marks[w]);
    states->states = NULL;
}
