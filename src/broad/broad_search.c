/* SPDX-License-Identifier: MIT */
/* The search for overlapping boxes, by any method.
 *
 * A method finds candidates in batches of a few thousand: pairs of float32 boxes that overlap. Each
 * batch is decided while it is in the first-level cache: doubles where boxes were rounded, then the
 * masks. What remains goes to a list per worker; the lists are joined and sorted. `accept` is
 * called last, on the calling thread, so that its calls are in order. */
#include "base/progress.h"
#include "broad/broad.h"
#include "broad/broad_sweep_cpu.h"
#include "bvh/bvh_cpu.h"
#include "grid/grid_cpu.h"

#define BROAD_SEARCH_NODES_PER_RANGE 8u /* of level 1: 2,048 boxes */
#define SLOTS_PER_RANGE              256u
#define BROAD_SEARCH_RANKS_PER_RANGE 512u
#define BROAD_SEARCH_RANKS_PER_LOOK                                                                \
    16u /* between clock checks: each may scan a cell that holds all */
#define ENTRIES_PER_RANGE 2048u
#define ENTRIES_AT_ONCE   32u
#define ACCEPTS_PER_LOOK  1024u

typedef struct broad_search_finder {
    const carom_broad_search *search;
    const carom_broad *broad;
    uint32_t worker;
    const uint32_t *items; /* ids by slot in the tree, or by rank; NULL: they are ids */
    carom_pair_list list;
    carom_work work;
    carom_status status;
    union {
        carom_bvh_found tree;
        carom_grid_found grid;
        carom_broad_sweep_found sweep;
    } found;
} broad_search_finder;

/* ---- Deciding candidates --------------------------------------------------------------------- */

static inline uint32_t broad_search_id_of(const broad_search_finder *f, uint32_t number) {
    return f->items != NULL ? f->items[number] : number;
}

/* Decides a batch; false stops the search. */
static bool broad_search_decide(broad_search_finder *f, const uint32_t *a, const uint32_t *b,
                                uint32_t count) {
    const carom_broad *broad = f->broad;
    bool exact = broad->exact;
    f->work.candidates += count;
    f->work.undecided += exact ? 0 : count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t first = broad_search_id_of(f, a[i]), second = broad_search_id_of(f, b[i]);
        CAROM_ASSERT(first != second && first < broad->id_count && second < broad->id_count);
        CAROM_ASSERT((broad->states[first] & broad->states[second] & CAROM_BROAD_LIVE) != 0);
        CAROM_ASSERT(!exact || carom_bounds_overlap(&broad->boxes[first], &broad->boxes[second]));
        if (!exact && !carom_bounds_overlap(&broad->boxes[first], &broad->boxes[second])) continue;
        if (broad->filters != NULL &&
            !carom_broad_allows(broad->filters[first], broad->filters[second]))
            continue;
        if (!carom_pair_list_add(&f->list, CAROM_MIN(first, second), CAROM_MAX(first, second))) {
            f->status = CAROM_NO_MEMORY;
            return false;
        }
    }
    return !carom_progress_stop(f->search->context, f->worker);
}

static bool broad_search_decide_tree(carom_bvh_found *found) {
    broad_search_finder *f = found->user;
    uint32_t count = found->count;
    found->count = 0;
    return broad_search_decide(f, found->a, found->b, count);
}

/* A box that changed finds all its partners. Of two that changed, the one of lower id reports the
 * pair. */
static bool decide_changed(carom_bvh_found *found) {
    broad_search_finder *f = found->user;
    const uint8_t *states = f->broad->states;
    uint32_t kept = 0, count = found->count;
    found->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t a = f->items[found->a[i]], b = f->items[found->b[i]];
        found->a[kept] = found->a[i];
        found->b[kept] = found->b[i];
        kept += a < b || (a != b && (states[b] & CAROM_BROAD_CHANGED) == 0) ? 1u : 0u;
    }
    return broad_search_decide(f, found->a, found->b, kept);
}

static bool broad_search_decide_grid(carom_grid_found *found) {
    broad_search_finder *f = found->user;
    uint32_t count = found->count;
    found->count = 0;
    return broad_search_decide(f, found->a, found->b, count);
}

static bool decide_sweep(carom_broad_sweep_found *found) {
    broad_search_finder *f = found->user;
    uint32_t count = found->count;
    found->count = 0;
    return broad_search_decide(f, found->a, found->b, count);
}

static bool broad_search_begin_finder(void *user, void *state, uint32_t worker) {
    const carom_broad_search *s = user;
    const carom_broad *broad = s->broad;
    broad_search_finder *f = state;
    f->search = s;
    f->broad = broad;
    f->worker = worker;
    f->items = NULL;
    f->work = (carom_work){0};
    f->status = CAROM_OK;
    carom_pair_list_begin(&f->list, carom_scratch(s->context, worker));
    if (broad->method == CAROM_BROAD_METHOD_TREE) {
        f->items = broad->tree.items;
        f->found.tree.count = 0;
        f->found.tree.visits = 0;
        f->found.tree.flush = s->slots != NULL ? decide_changed : broad_search_decide_tree;
        f->found.tree.user = f;
    } else if (broad->method == CAROM_BROAD_METHOD_GRID) {
        f->items = broad->grid.items;
        f->found.grid.count = 0;
        f->found.grid.visits = 0;
        f->found.grid.flush = broad_search_decide_grid;
        f->found.grid.user = f;
    } else {
        f->found.sweep.count = 0;
        f->found.sweep.steps = 0;
        f->found.sweep.flush = decide_sweep;
        f->found.sweep.user = f;
    }
    return true;
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

static carom_status broad_search_nodes(void *argument, carom_range range) {
    carom_broad_search *s = argument;
    broad_search_finder *f = carom_worker_state(&s->states, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t node = range.begin; node < range.end; ++node)
        if (!CAROM_CPU_CALL(s->context, carom_bvh_self_node)(&s->broad->tree, (uint32_t)node,
                                                             &f->found.tree))
            return f->status;
    (void)broad_search_decide_tree(&f->found.tree);
    return f->status;
}

static carom_status search_slots(void *argument, carom_range range) {
    carom_broad_search *s = argument;
    broad_search_finder *f = carom_worker_state(&s->states, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    if (CAROM_CPU_CALL(s->context, carom_bvh_find_slots)(&s->broad->tree, s->slots + range.begin,
                                                         range.end - range.begin, &f->found.tree))
        (void)decide_changed(&f->found.tree);
    return f->status;
}

static carom_status broad_search_ranks(void *argument, carom_range range) {
    carom_broad_search *s = argument;
    broad_search_finder *f = carom_worker_state(&s->states, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t at = range.begin; at < range.end; at += BROAD_SEARCH_RANKS_PER_LOOK) {
        uint64_t end = CAROM_MIN(at + BROAD_SEARCH_RANKS_PER_LOOK, range.end);
        if (!CAROM_CPU_CALL(s->context, carom_grid_self)(&s->broad->grid.view, (uint32_t)at,
                                                         (uint32_t)end, &f->found.grid) ||
            carom_progress_stop(s->context, range.worker))
            return f->status;
    }
    (void)broad_search_decide_grid(&f->found.grid);
    return f->status;
}

static carom_status search_entries(void *argument, carom_range range) {
    carom_broad_search *s = argument;
    broad_search_finder *f = carom_worker_state(&s->states, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t at = range.begin; at < range.end; at += ENTRIES_AT_ONCE) {
        uint64_t end = CAROM_MIN(at + ENTRIES_AT_ONCE, range.end);
        if (!CAROM_CPU_CALL(s->context, carom_broad_sweep_entries)(&s->broad->sweep, at, end,
                                                                   &f->found.sweep) ||
            carom_progress_stop(s->context, range.worker))
            return f->status;
    }
    (void)decide_sweep(&f->found.sweep);
    return f->status;
}

static carom_status broad_search_all(carom_broad_search *s) {
    const carom_broad *broad = s->broad;
    carom_context *context = s->context;
    if (s->slots != NULL)
        return carom_parallel_phase(context, "finding pairs", s->slot_count, SLOTS_PER_RANGE,
                                    search_slots, s);
    if (broad->method == CAROM_BROAD_METHOD_GRID)
        return carom_parallel_phase(context, "finding pairs", broad->grid.view.item_count,
                                    BROAD_SEARCH_RANKS_PER_RANGE, broad_search_ranks, s);
    if (broad->method == CAROM_BROAD_METHOD_SWEEP)
        return carom_parallel_phase(context, "finding pairs", broad->sweep.count, ENTRIES_PER_RANGE,
                                    search_entries, s);
    return carom_parallel_phase(context, "finding pairs", carom_bvh_self_nodes(&broad->tree),
                                BROAD_SEARCH_NODES_PER_RANGE, broad_search_nodes, s);
}

/* ---- Result ---------------------------------------------------------------------------------- */

/* Keeps the pairs that the caller's function accepts. */
static carom_status filter_by_caller(carom_context *context, const carom_broad *broad,
                                     uint64_t *pairs, uint64_t *count) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < *count; ++i) {
        if (broad->accept(broad->accept_user, (uint32_t)(pairs[i] >> 32), (uint32_t)pairs[i]))
            pairs[kept++] = pairs[i];
        if (i % ACCEPTS_PER_LOOK == 0) CAROM_TRY(carom_progress_look(context));
    }
    *count = kept;
    return CAROM_OK;
}

static carom_status broad_search_gather(carom_broad_search *s, uint64_t **pairs, uint64_t *count) {
    carom_pair_list all;
    broad_search_finder *f;
    carom_work *work = &s->context->work;
    carom_pair_list_begin(&all, carom_scratch(s->context, 0));
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->states, &w)) != NULL;) {
        carom_pair_list_join(&all, &f->list);
        work->candidates += f->work.candidates;
        work->undecided += f->work.undecided;
        work->visits += s->broad->method == CAROM_BROAD_METHOD_TREE   ? f->found.tree.visits
                        : s->broad->method == CAROM_BROAD_METHOD_GRID ? f->found.grid.visits
                                                                      : f->found.sweep.steps;
    }
    CAROM_TRY(carom_pair_list_sort(s->context, &all, false, pairs, count));
    CAROM_ASSERT(carom_pair_words_are_canonical(*pairs, *count, s->broad->id_count));
    return s->broad->accept != NULL ? filter_by_caller(s->context, s->broad, *pairs, count)
                                    : CAROM_OK;
}

carom_status carom_broad_search_run(carom_broad_search *s, uint64_t **pairs, uint64_t *count) {
    *count = 0;
    if (s->broad->device != NULL) {
        CAROM_TRY(carom_broad_device_search(s->context, s->broad, pairs, count));
        if (s->broad->accept == NULL) return CAROM_OK;
        return filter_by_caller(s->context, s->broad, *pairs, count);
    }
    CAROM_TRY(carom_worker_states_begin(&s->states, s->context, sizeof(broad_search_finder),
                                        broad_search_begin_finder, s));
    carom_status status = broad_search_all(s);
    if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(s->context, sizeof(broad_search_finder), "finding pairs");
    if (status == CAROM_OK) status = broad_search_gather(s, pairs, count);
    carom_worker_states_release(&s->states);
    return status;
}

carom_status carom_broad_pairs(carom_context *context, const carom_broad *broad,
                               carom_pairs *pairs) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    CAROM_BROAD_REQUIRE_UPDATED(broad);
    CAROM_TRY(carom_broad_check_ready(context, broad));
    carom_broad_search s = {.context = context, .broad = broad};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t *found, count;
    context->work = (carom_work){0};
    carom_status status = carom_broad_search_run(&s, &found, &count);
    if (status == CAROM_OK) status = carom_pair_list_fill(context, found, count, pairs);
    carom_arena_rewind(scratch, mark);
    return status;
}
