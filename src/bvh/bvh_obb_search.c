/* SPDX-License-Identifier: MIT */
/* The search of two trees, first on one thread, then on all.
 *
 * The traversal starts on the calling thread, where most queries end within microseconds. After a
 * fixed number of visits the pairs left on its stack become tasks for all threads, the next pair
 * first. Where all pairs are wanted, in any order, it is breadth first until there are enough tasks
 * for all threads, which are then of about the same size.
 *
 * The stack also defines an order. Every traversal visits pairs of blocks in the same sequence,
 * because the trees alone decide which node to open, and the box tests only decide what to skip. So
 * the first pair of blocks with a pair that counts is the same for any number of threads and any
 * instruction set: it is in the lowest task that has one. A worker skips tasks above the lowest
 * found so far, hence each find of a worker is in a lower task than the one before. */
#include "bvh/bvh_obb_search.h"

#include "base/progress.h"
#include "base/threads.h"
#include "bvh/bvh_obb_cpu.h"

/* Visits before other threads start: some 50 microseconds. A search for the nearest first has to
 * find a short distance, without which the other threads would visit too much. */
#define ALONE_FIND    1024u
#define ALONE_NEAREST 2048u

/* Breadth first: visits before other threads start, as waking them takes some 20 microseconds, and
 * tasks that are enough to keep them busy alike. */
#define LEAST_SPREAD 128u
#define ENOUGH_TASKS 256u
#define MOST_TASKS   1024u
#define RANGES       32u /* per thread, into which the tasks are divided */

/* Visits between checks of the clock and the budget: a few milliseconds. */
#define FIND_AT_ONCE    16384u
#define NEAREST_AT_ONCE 8192u

/* ---- One worker ------------------------------------------------------------------------------ */

/* Adds to the work of all workers; false if the sum exceeds the budget. */
static bool bvh_obb_search_pay(carom_obb_search *search, carom_obb_worker *w, uint64_t received) {
    if (search->budget == UINT64_MAX) return true;
    CAROM_ASSERT(w->traversal.visits >= w->visits_paid);
    uint64_t units = w->traversal.visits - w->visits_paid + received;
    w->visits_paid = w->traversal.visits;
    if (atomic_fetch_add(&search->work, units) + units <= search->budget) return true;
    atomic_store(&search->spent, true);
    atomic_store(&search->stop, true);
    return false;
}

static bool bvh_obb_search_receive(carom_obb_traversal *traversal) {
    carom_obb_worker *w = traversal->user;
    carom_obb_search *search = w->search;
    return bvh_obb_search_pay(search, w, traversal->found_count) && search->receive(w) &&
           !carom_progress_stop(search->context, w->index);
}

static bool bvh_obb_search_worker_begin(void *user, void *state, uint32_t worker) {
    carom_obb_search *search = user;
    carom_obb_worker *w = state;
    w->search = search;
    w->index = worker;
    w->visits_paid = 0;
    w->status = CAROM_OK;
    w->found = false;
    w->found_task = UINT32_MAX;
    w->traversal.receive = bvh_obb_search_receive;
    w->traversal.receive_blocks = search->receive_blocks;
    w->traversal.measure = search->measure;
    w->traversal.each_block = search->first_only;
    w->traversal.more = false;
    w->traversal.user = state;
    search->begin(search->user, state);
    return true;
}

static void bvh_obb_search_visit(carom_obb_search *search, carom_obb_worker *w, bool alone) {
    carom_context *context = search->context;
    carom_obb_traversal *t = &w->traversal;
    if (search->measure != NULL) {
        float limit = atomic_load(&search->limit);
        uint64_t visits = alone ? ALONE_NEAREST : NEAREST_AT_ONCE;
        CAROM_CPU_CALL(context, carom_obb_nearest)(t, limit, visits);
    } else {
        uint64_t visits = alone ? ALONE_FIND : FIND_AT_ONCE;
        (void)CAROM_CPU_CALL(context, carom_obb_find)(t, visits);
    }
    (void)bvh_obb_search_pay(search, w, 0);
}

static bool goes_on(carom_obb_search *search, const carom_obb_worker *w) {
    return w->traversal.stack_count > 0 && w->status == CAROM_OK && !w->found &&
           !atomic_load_explicit(&search->stop, memory_order_relaxed);
}

/* Continues until the worker's stack is empty or the search stops. */
static void finish_stack(carom_obb_search *search, carom_obb_worker *w) {
    uint32_t left = w->traversal.stack_count;
    while (goes_on(search, w) && !carom_progress_stop(search->context, w->index)) {
        bvh_obb_search_visit(search, w, false);
        if (w->traversal.stack_count >= left) continue;
        CAROM_ASSERT(left >= w->traversal.stack_count);
        carom_progress_add(search->context, w->index, left - w->traversal.stack_count);
        left = w->traversal.stack_count;
    }
}

/* ---- Tasks for several threads --------------------------------------------------------------- */

static void note_found(carom_obb_search *search, carom_obb_worker *w, uint32_t task) {
    CAROM_ASSERT(search->first_only && w->found);
    w->found_task = task;
    uint32_t lowest = atomic_load(&search->first_task);
    while (task < lowest && !atomic_compare_exchange_weak(&search->first_task, &lowest, task)) {
    }
}

static carom_status run_tasks(void *argument, carom_range range) {
    carom_obb_search *search = argument;
    carom_obb_worker *w = carom_worker_state(&search->states, range.worker);
    if (w == NULL) return CAROM_NO_MEMORY;
    for (uint64_t task = range.begin; task < range.end; ++task) {
        if (task > atomic_load_explicit(&search->first_task, memory_order_relaxed)) continue;
        w->found = false;
        w->traversal.stack[0] = search->tasks[task];
        w->traversal.stack_count = 1;
        w->traversal.more = task + 1 < range.end;
        finish_stack(search, w);
        if (w->found) note_found(search, w, (uint32_t)task);
        if (w->status != CAROM_OK) return w->status;
    }
    return CAROM_OK;
}

static carom_status bvh_obb_search_share(carom_obb_search *search, carom_obb_worker *first) {
    uint32_t count = first->traversal.stack_count;
    CAROM_ASSERT(count >= 1 && count <= CAROM_OBB_STACK);
    search->tasks = CAROM_ARENA_TAKE(carom_scratch(search->context, 0), carom_obb_pair, count);
    if (search->tasks == NULL) return CAROM_NO_MEMORY;
    for (uint32_t i = 0; i < count; ++i) search->tasks[i] = first->traversal.stack[count - 1 - i];
    return carom_parallel_for(search->context, count, 1, run_tasks, search);
}

/* ---- Breadth first --------------------------------------------------------------------------- */

static bool spreads(const carom_obb_search *search) {
    return search->context->threads > 1 && !search->alone && !search->first_only &&
           search->measure == NULL;
}

/* Opens pairs, the oldest first, until there are enough tasks or none. Returns how many. */
static uint32_t bvh_obb_search_spread(carom_obb_search *search, carom_obb_worker *w) {
    carom_obb_traversal *t = &w->traversal;
    uint32_t first = 0, end = t->stack_count;
    bool stopped = false; /* by who receives the pairs, who then wants no more */
    memcpy(search->tasks, t->stack, end * sizeof(*search->tasks));
    t->more = true;
    while (!stopped && first < end && w->status == CAROM_OK &&
           !atomic_load_explicit(&search->stop, memory_order_relaxed)) {
        bool enough = end - first >= ENOUGH_TASKS && t->visits >= LEAST_SPREAD;
        if (enough || t->visits >= ALONE_FIND || end - first + CAROM_BVH_WIDTH > MOST_TASKS) break;
        if (end + CAROM_BVH_WIDTH > MOST_TASKS) {
            memmove(search->tasks, search->tasks + first, (end - first) * sizeof(*search->tasks));
            end -= first;
            first = 0;
        }
        t->stack[0] = search->tasks[first++];
        t->stack_count = 1;
        stopped = !CAROM_CPU_CALL(search->context, carom_obb_find)(t, 1);
        CAROM_ASSERT(t->stack_count <= CAROM_BVH_WIDTH);
        memcpy(search->tasks + end, t->stack, t->stack_count * sizeof(*search->tasks));
        end += t->stack_count;
    }
    t->stack_count = 0;
    t->more = false;
    if (!stopped) /* passes on what was found */
        stopped = !CAROM_CPU_CALL(search->context, carom_obb_find)(t, 1);
    (void)bvh_obb_search_pay(search, w, 0);
    search->tasks += first;
    return stopped ? 0 : end - first;
}

static carom_status spread_and_share(carom_obb_search *search, carom_obb_worker *first) {
    carom_context *context = search->context;
    search->tasks = CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_obb_pair, MOST_TASKS);
    if (search->tasks == NULL) return CAROM_NO_MEMORY;
    uint32_t count = bvh_obb_search_spread(search, first);
    if (count == 0 || first->status != CAROM_OK || atomic_load(&search->stop)) return CAROM_OK;
    carom_progress_expect(context, count);
    uint64_t grain = count / (RANGES * (uint64_t)context->threads) + 1;
    return carom_parallel_for(context, count, grain, run_tasks, search);
}

/* ---- Search ---------------------------------------------------------------------------------- */

carom_status carom_obb_search_begin(carom_obb_search *search) {
    search->visits = 0;
    search->finder = NULL;
    search->states.states = NULL;
    atomic_init(&search->stop, false);
    atomic_init(&search->spent, false);
    atomic_init(&search->work, 0);
    atomic_init(&search->first_task, UINT32_MAX);
    CAROM_TRY(carom_worker_states_begin(&search->states, search->context, search->state_size,
                                        bvh_obb_search_worker_begin, search));
    if (carom_worker_state(&search->states, 0) != NULL) return CAROM_OK;
    return carom_fail_memory(search->context, search->state_size, "a search");
}

static carom_status search_in_order(carom_obb_search *search, carom_obb_worker *first) {
    carom_context *context = search->context;
    carom_status status = CAROM_OK;
    bvh_obb_search_visit(search, first, true);
    CAROM_ASSERT(first->index == 0);
    if (first->found) {
        search->finder = first;
    } else if (goes_on(search, first)) {
        carom_progress_expect(context, first->traversal.stack_count);
        if (context->threads > 1 && !search->alone) {
            status = bvh_obb_search_share(search, first);
        } else {
            finish_stack(search, first);
            if (first->found) search->finder = first;
        }
    }
    return status;
}

carom_status carom_obb_search_run(carom_obb_search *search) {
    carom_context *context = search->context;
    carom_obb_worker *first = carom_worker_state(&search->states, 0), *w;
    carom_status status =
        spreads(search) ? spread_and_share(search, first) : search_in_order(search, first);
    if (status == CAROM_OK) status = first->status;
    if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(context, search->state_size, "a search");
    for (uint32_t i = 0; (w = carom_worker_states_next(&search->states, &i)) != NULL;) {
        search->visits += w->traversal.visits;
        if (w->found_task != UINT32_MAX && w->found_task == search->first_task) search->finder = w;
    }
    return status == CAROM_OK ? carom_progress_look(context) : status;
}

float carom_obb_search_lower(carom_obb_search *search, float limit) {
    float least = atomic_load_explicit(&search->limit, memory_order_relaxed);
    while (limit < least && !atomic_compare_exchange_weak(&search->limit, &least, limit)) {
    }
    return limit < least ? limit : least;
}

void carom_obb_search_end(carom_obb_search *search) {
    carom_worker_states_release(&search->states);
}
