/* SPDX-License-Identifier: MIT */
/* All pairs of triangles of two solids whose boxes overlap, each pair once.
 *
 * As in soup_cross.c: a traversal of both trees starts on the calling thread. After a number of
 * visits, the rest of its stack is shared among all threads. Each worker adds up the pairs that it
 * gets.
 *
 * Invariant: the sums are in fixed point, so the result does not depend on the distribution of
 * pairs among workers. */
#include "base/progress.h"
#include "bvh/bvh_obb_cpu.h"
#include "solid/solid_query.h"

#define ALONE_VISITS   1024u  /* before other threads are used */
#define VISITS_AT_ONCE 16384u /* between checks of the clock: some milliseconds */

typedef struct seeker {
    carom_obb_walk walk;
    const carom_solid_query *query;
    uint32_t worker;
    carom_solid_tally tally;
} seeker;

typedef struct search {
    const carom_solid_query *query;
    carom_obb_pair tasks[CAROM_OBB_STACK];
    seeker **seekers; /* one per worker, NULL until it has worked */
    carom_arena_mark *marks;
} search;

static bool receive(carom_obb_walk *walk) {
    seeker *s = walk->user;
    const carom_solid_query *query = s->query;
    const uint32_t *items_a = query->placing.a.items, *items_b = query->placing.b.items;
    carom_solid_face a, b;
    uint32_t last_a = CAROM_BVH_NONE, last_b = CAROM_BVH_NONE;
    for (uint32_t i = 0; i < walk->found_count; ++i) {
        uint32_t triangle_a = items_a[walk->found_a[i]], triangle_b = items_b[walk->found_b[i]];
        if (triangle_a != last_a) carom_solid_pose(query, 0, last_a = triangle_a, &a);
        if (triangle_b != last_b) carom_solid_pose(query, 1, last_b = triangle_b, &b);
        query->consider(query, &s->tally, &a, &b);
    }
    return !carom_progress_stop(query->context, s->worker);
}

/* Continues the traversal until the stack is empty or the query is cancelled. The initial entries
 * of the stack are the units of progress. */
static void walk_on(seeker *s) {
    carom_context *context = s->query->context;
    uint32_t left = s->walk.stack_count;
    while (s->walk.stack_count > 0 && !carom_progress_stop(context, s->worker)) {
        (void)CAROM_CPU_CALL(context, carom_obb_find)(&s->walk, VISITS_AT_ONCE);
        if (s->walk.stack_count >= left) continue;
        carom_progress_add(context, s->worker, left - s->walk.stack_count);
        left = s->walk.stack_count;
    }
}

static void seeker_begin(seeker *s, const carom_solid_query *query, uint32_t worker) {
    s->query = query;
    s->worker = worker;
    carom_solid_tally_begin(&s->tally);
    s->walk.receive = receive;
    s->walk.each_block = false;
    s->walk.user = s;
    carom_soup_begin_walk(&query->placing, &s->walk);
}

static seeker *seeker_of(search *search, uint32_t worker) {
    if (search->seekers[worker] != NULL) return search->seekers[worker];
    carom_arena *scratch = carom_scratch(search->query->context, worker);
    search->marks[worker] = carom_arena_get_mark(scratch);
    seeker *s = CAROM_ARENA_TAKE(scratch, seeker, 1);
    if (s == NULL) return NULL;
    seeker_begin(s, search->query, worker);
    return search->seekers[worker] = s;
}

static carom_status run_tasks(void *argument, carom_range range) {
    search *search = argument;
    seeker *s = seeker_of(search, range.worker);
    if (s == NULL) return CAROM_NO_MEMORY;
    for (uint64_t task = range.begin; task < range.end; ++task) {
        s->walk.stack[0] = search->tasks[task];
        s->walk.stack_count = 1;
        walk_on(s);
    }
    return CAROM_OK;
}

static void add_tally(carom_solid_tally *to, const seeker *s) {
    const carom_solid_tally *from = &s->tally;
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i)
        to->terms[i] = carom_sum_add(to->terms[i], from->terms[i]);
    for (int of_b = 0; of_b < 2; ++of_b)
        for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i)
            to->moments[of_b].sums[i] =
                carom_sum_add(to->moments[of_b].sums[i], from->moments[of_b].sums[i]);
    for (int of_b = 0; of_b < 2; ++of_b) {
        to->swept[of_b] = carom_sum_add(to->swept[of_b], from->swept[of_b]);
        to->moved[of_b] |= from->moved[of_b];
    }
    carom_solid_tally_hold(to, from->low, from->high);
    to->added += from->added;
    to->any_volume |= from->any_volume;
    for (int i = 0; i < 2; ++i) to->errors[i] = carom_sum_add(to->errors[i], from->errors[i]);
    to->span = CAROM_MAX(to->span, from->span);
    to->pairs += from->pairs;
    to->candidates += from->candidates;
    to->undecided += from->undecided;
    to->visits += s->walk.visits;
    to->too_large |= from->too_large;
    to->one_sided |= from->one_sided;
    to->crossing |= from->crossing;
    if (from->crossing) memcpy(to->crossed, from->crossed, sizeof(to->crossed));
    for (int i = 0; i < 2; ++i) to->copies[i] += from->copies[i];
    if (from->records != NULL) to->records = from->records;
    to->no_memory |= from->no_memory;
}

/* Shares the rest of the first seeker's stack among all threads. */
static carom_status share(const carom_solid_query *query, seeker *first, carom_solid_tally *tally) {
    carom_context *context = query->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint32_t threads = context->threads, count = first->walk.stack_count;
    search search = {.query = query};
    memcpy(search.tasks, first->walk.stack, count * sizeof(search.tasks[0]));
    search.seekers = CAROM_ARENA_TAKE(scratch, seeker *, threads);
    search.marks = CAROM_ARENA_TAKE(scratch, carom_arena_mark, threads);
    if (search.seekers == NULL || search.marks == NULL)
        return carom_fail_memory(context, threads * sizeof(seeker *), "a search");
    for (uint32_t w = 0; w < threads; ++w) search.seekers[w] = NULL;
    search.seekers[0] = first;
    carom_status status = carom_parallel_for(context, count, 1, run_tasks, &search);
    if (status == CAROM_NO_MEMORY) status = carom_fail_memory(context, sizeof(seeker), "a search");
    for (uint32_t w = 1; w < threads; ++w) {
        if (search.seekers[w] == NULL) continue;
        add_tally(tally, search.seekers[w]);
        carom_arena_rewind(carom_scratch(context, w), search.marks[w]);
    }
    return status;
}

static bool consider_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                         const carom_triangle *posed_b) {
    seeker *s = user;
    carom_solid_face face_a, face_b;
    (void)posed_a, (void)posed_b;
    carom_solid_pose(s->query, 0, a, &face_a);
    carom_solid_pose(s->query, 1, b, &face_b);
    s->query->consider(s->query, &s->tally, &face_a, &face_b);
    return true;
}

carom_status carom_solid_search(const carom_solid_query *query, carom_solid_tally *tally) {
    carom_context *context = query->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = CAROM_OK;
    seeker *first = CAROM_ARENA_TAKE(scratch, seeker, 1);
    if (first == NULL) return carom_fail_memory(context, sizeof(*first), "a search");
    seeker_begin(first, query, 0);
    if (query->placing.extreme) {
        const double touching = 0.0;
        status = carom_soup_each_two(context, &query->placing, carom_vec(0.0, 0.0, 0.0), &touching,
                                     consider_two, first);
    } else {
        bool alone = context->threads == 1 || query->record;
        (void)CAROM_CPU_CALL(context, carom_obb_find)(&first->walk, ALONE_VISITS);
        carom_progress_expect(context, first->walk.stack_count);
        if (first->walk.stack_count > 0 && !alone)
            status = share(query, first, tally);
        else
            walk_on(first);
        if (status == CAROM_OK) status = carom_progress_look(context);
    }
    add_tally(tally, first);
    if (!query->record) carom_arena_rewind(scratch, mark);
    if (tally->no_memory)
        return carom_fail_memory(context, sizeof(carom_solid_records), "the faces that meet");
    return status;
}
