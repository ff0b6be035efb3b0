/* SPDX-License-Identifier: MIT */
/* bvh_obb_search.h: a search of two trees on all threads, for pairs of boxes that overlap or for
 * the nearest pair. The engine decides what is found; the search does the rest.
 *
 *   carom_obb_search search = {.context = context, .begin = begin, .receive = receive, ...};
 *   carom_obb_search_begin(&search);     takes scratch of worker 0, which the caller rewinds
 *   carom_obb_search_run(&search);
 *   ... read the workers' states: carom_worker_states_next(&search.states, &w)
 *   carom_obb_search_end(&search); */
#ifndef CAROM_SRC_BVH_BVH_OBB_SEARCH_H
#define CAROM_SRC_BVH_BVH_OBB_SEARCH_H

#include "base/worker_state.h"
#include "bvh/bvh_obb.h"

/* The part of a worker's state that the search uses. It is the first member of the engine's. */
typedef struct carom_obb_worker {
    carom_obb_traversal traversal; /* `user` is the engine's state */
    struct carom_obb_search *search;
    uint32_t index;       /* of the worker */
    uint64_t visits_paid; /* of the budget */
    carom_status status;  /* set by `receive` when it fails */
    bool found;           /* set by `receive` of a search for the first pair */
    uint32_t found_task;  /* the lowest task in which this worker found a pair */
} carom_obb_worker;

typedef struct carom_obb_search {
    carom_context *context;

    /* Set by the engine. */
    size_t state_size; /* of a worker's state, which starts with a carom_obb_worker */
    void *user;
    /* Initialises the engine's part of a state and the traversal's trees and motion. */
    void (*begin)(void *user, void *state);
    /* Decides the pairs found (carom_obb_traversal); false stops this worker's traversal. NULL in
     * a search for the nearest. */
    bool (*receive)(void *state);
    /* Instead decides pairs of blocks (carom_obb_traversal); `receive` finishes what it began.
     * NULL: pairs of boxes are received. */
    bool (*receive_blocks)(carom_obb_traversal *traversal, uint32_t block_a, uint32_t block_b,
                           uint32_t in_a, uint32_t in_b);
    /* Measures two slots (carom_obb_traversal): NULL in a search for pairs that overlap. */
    float (*measure)(carom_obb_traversal *traversal, uint32_t slot_a, uint32_t slot_b);
    bool first_only;     /* find the first pair of blocks for which `receive` sets `found` */
    bool alone;          /* use the calling thread only */
    uint64_t budget;     /* visits and pairs received before all workers stop; UINT64_MAX: none */
    _Atomic float limit; /* of the nearest: distance in a's frame, lowered by all workers */

    /* Results. */
    _Atomic bool stop;        /* all workers stop; the engine may set it too */
    _Atomic bool spent;       /* the budget was exceeded */
    _Atomic uint64_t work;    /* as the budget counts it, if there is one */
    uint64_t visits;          /* of all workers */
    carom_obb_worker *finder; /* the worker that found the first pair; NULL: there is none */
    carom_worker_states states;

    /* Its own. */
    _Atomic uint32_t first_task; /* the lowest task with a pair */
    carom_obb_pair *tasks;
} carom_obb_search;

/* Creates the state of worker 0. */
carom_status carom_obb_search_begin(carom_obb_search *search);

/* Searches until all is done, `receive` or the engine stopped it, the budget is spent, or the call
 * is cancelled. The units of progress are entries of the stack. */
carom_status carom_obb_search_run(carom_obb_search *search);

/* Lowers the limit of a search for the nearest to `limit` and returns the least so far. */
float carom_obb_search_lower(carom_obb_search *search, float limit);

/* Releases the states of all workers. */
void carom_obb_search_end(carom_obb_search *search);

#endif
