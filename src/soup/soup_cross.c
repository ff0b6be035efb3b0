/* SPDX-License-Identifier: MIT */
/* Queries for the faces of two soups that meet.
 *
 * A traversal of both trees (bvh_obb.h) finds pairs of triangles whose boxes meet. These are posed
 * and decided exactly. The traversal starts on the calling thread, where most queries end within
 * microseconds. After a fixed number of visits the pairs left on its stack are distributed to all
 * threads.
 *
 * The stack also defines an order. Every traversal visits pairs of blocks in the same sequence,
 * because the trees alone decide which node to open, and the box tests only decide what to skip.
 * The first pair of blocks with triangles that meet is therefore the same for any number of threads
 * and any instruction set. */
#include "base/progress.h"
#include "base/threads.h"
#include "bvh/bvh_obb_cpu.h"
#include "soup/soup_found.h"
#include "soup/soup_place.h"

#define ALONE_VISITS   1024u  /* before other threads start: some 50 microseconds */
#define VISITS_AT_ONCE 16384u /* between checks of clock and budget: a few milliseconds */

typedef struct seeker {
    carom_obb_walk walk;
    struct search *search;
    const carom_soup_placing *placing;
    uint64_t visits_paid;
    uint32_t worker;
    carom_arena *scratch;
    carom_soup_list list;
    carom_work work;
    carom_status status;
    carom_soup_meeting first;
} seeker;

typedef struct search {
    carom_context *context;
    const carom_soup_placing *placing;
    bool first_only;
    uint64_t budget; /* work before all workers give up (`spent`) */
    _Atomic uint64_t work;
    _Atomic bool spent;
    carom_obb_pair tasks[CAROM_OBB_STACK];
    uint32_t task_count;
    seeker **seekers; /* one per worker, NULL until it has worked */
    carom_arena_mark *marks;
    carom_soup_meeting *meetings; /* of each task */
    _Atomic uint32_t first_task;  /* the lowest task that has one */
} search;

/* ---- Pair test ------------------------------------------------------------------------------- */

static bool keep_pair(seeker *s, uint32_t a, uint32_t b) {
    uint32_t face_a = carom_soup_face(s->placing->a.soup, a);
    uint32_t face_b = carom_soup_face(s->placing->b.soup, b);
    if (!carom_soup_list_put(&s->list, face_a, face_b)) s->status = CAROM_NO_MEMORY;
    return s->status == CAROM_OK;
}

/* Adds to the work of all workers; false if the sum exceeds the budget. */
static bool pay(seeker *s, uint64_t candidates) {
    search *search = s->search;
    if (search->budget == UINT64_MAX) return true;
    uint64_t units = s->walk.visits - s->visits_paid + candidates;
    s->visits_paid = s->walk.visits;
    if (atomic_fetch_add(&search->work, units) + units <= search->budget) return true;
    atomic_store(&search->spent, true);
    return false;
}

/* Continues the traversal until the stack is empty, the receiver stops it, the budget is spent or
 * the query is cancelled. The pairs initially on the stack are its units of progress. */
static void walk_on(seeker *s) {
    carom_context *context = s->search->context;
    uint32_t left = s->walk.stack_count;
    while (s->walk.stack_count > 0 && s->status == CAROM_OK && !s->first.any &&
           !atomic_load_explicit(&s->search->spent, memory_order_relaxed) &&
           !carom_progress_stop(context, s->worker)) {
        (void)CAROM_CPU_CALL(context, carom_obb_find)(&s->walk, VISITS_AT_ONCE);
        if (!pay(s, 0)) return;
        if (s->walk.stack_count >= left) continue;
        carom_progress_add(context, s->worker, left - s->walk.stack_count);
        left = s->walk.stack_count;
    }
}

static bool precedes(uint32_t a, uint32_t b, const carom_soup_meeting *than) {
    return !than->any || a < than->a || (a == than->a && b < than->b);
}

/* Decides the pairs of one or several pairs of blocks. If only the first pair is wanted, it is the
 * lowest of its pair of blocks, independent of the order in which they were received. */
static bool receive(carom_obb_walk *walk) {
    seeker *s = walk->user;
    const carom_soup_side *a = &s->placing->a, *b = &s->placing->b;
    carom_triangle posed_a, posed_b;
    uint32_t last_a = CAROM_BVH_NONE, last_b = CAROM_BVH_NONE;
    if (!pay(s, walk->found_count)) return false;
    s->work.candidates += walk->found_count;
    for (uint32_t i = 0; i < walk->found_count; ++i) {
        uint32_t triangle_a = a->items[walk->found_a[i]], triangle_b = b->items[walk->found_b[i]];
        if (triangle_a != last_a) posed_a = carom_soup_posed(a, last_a = triangle_a);
        if (triangle_b != last_b) posed_b = carom_soup_posed(b, last_b = triangle_b);
        if (!carom_soup_meet(&posed_a, &posed_b, &s->work.undecided)) continue;
        if (!walk->each_block) {
            if (!keep_pair(s, triangle_a, triangle_b)) return false;
        } else if (precedes(triangle_a, triangle_b, &s->first)) {
            s->first = (carom_soup_meeting){triangle_a, triangle_b, true};
        }
    }
    return !s->first.any && !carom_progress_stop(s->search->context, s->worker);
}

static void seeker_begin(seeker *s, search *search, uint32_t worker) {
    s->search = search;
    s->worker = worker;
    s->visits_paid = 0;
    s->placing = search->placing;
    s->scratch = carom_scratch(search->context, worker);
    carom_soup_list_begin(&s->list, s->scratch);
    s->work = (carom_work){0};
    s->status = CAROM_OK;
    s->first.any = false;
    s->walk.receive = receive;
    s->walk.each_block = search->first_only;
    s->walk.user = s;
    carom_soup_begin_walk(search->placing, &s->walk);
}

/* ---- Tasks for several threads --------------------------------------------------------------- */

/* The worker's seeker, created at its first task. */
static seeker *seeker_of(search *search, uint32_t worker) {
    if (search->seekers[worker] != NULL) return search->seekers[worker];
    carom_arena *scratch = carom_scratch(search->context, worker);
    search->marks[worker] = carom_arena_get_mark(scratch);
    seeker *s = CAROM_ARENA_TAKE(scratch, seeker, 1);
    if (s == NULL) return NULL;
    seeker_begin(s, search, worker);
    return search->seekers[worker] = s;
}

static void note_meeting(search *search, uint32_t task, const carom_soup_meeting *meeting) {
    search->meetings[task] = *meeting;
    uint32_t lowest = atomic_load(&search->first_task);
    while (task < lowest && !atomic_compare_exchange_weak(&search->first_task, &lowest, task)) {
    }
}

static carom_status run_tasks(void *argument, carom_range range) {
    search *search = argument;
    seeker *s = seeker_of(search, range.worker);
    if (s == NULL) return CAROM_NO_MEMORY;
    for (uint64_t task = range.begin; task < range.end; ++task) {
        if (task > atomic_load_explicit(&search->first_task, memory_order_relaxed)) continue;
        s->first.any = false;
        s->walk.stack[0] = search->tasks[task];
        s->walk.stack_count = 1;
        walk_on(s);
        if (s->first.any) note_meeting(search, (uint32_t)task, &s->first);
        if (s->status != CAROM_OK) return s->status;
    }
    return CAROM_OK;
}

/* The pairs that the first seeker left on its stack become tasks, starting with its next pair. */
static carom_status share(search *search, seeker *first) {
    carom_arena *scratch = first->scratch;
    uint32_t threads = search->context->threads, count = first->walk.stack_count;
    for (uint32_t i = 0; i < count; ++i) search->tasks[i] = first->walk.stack[count - 1 - i];
    search->seekers = CAROM_ARENA_TAKE(scratch, seeker *, threads);
    search->marks = CAROM_ARENA_TAKE(scratch, carom_arena_mark, threads);
    search->meetings = CAROM_ARENA_TAKE(scratch, carom_soup_meeting, count);
    if (search->seekers == NULL || search->marks == NULL || search->meetings == NULL)
        return carom_fail_memory(search->context, threads * sizeof(seeker *), "a search");
    for (uint32_t w = 0; w < threads; ++w) search->seekers[w] = NULL;
    search->seekers[0] = first;
    atomic_store(&search->first_task, UINT32_MAX);
    carom_status status = carom_parallel_for(search->context, count, 1, run_tasks, search);
    if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(search->context, sizeof(seeker), "a search");
    uint32_t found = atomic_load(&search->first_task);
    first->first.any = false;
    if (found != UINT32_MAX) first->first = search->meetings[found];
    return status;
}

/* ---- Search ---------------------------------------------------------------------------------- */

static bool decide_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                       const carom_triangle *posed_b) {
    seeker *s = user;
    ++s->work.candidates;
    if (!carom_soup_meet(posed_a, posed_b, &s->work.undecided)) return true;
    if (!s->walk.each_block) return keep_pair(s, a, b);
    s->first = (carom_soup_meeting){a, b, true};
    return false;
}

static carom_status seek(search *search, seeker *first) {
    carom_context *context = search->context;
    if (search->placing->extreme) {
        const double touching = 0.0;
        CAROM_TRY(carom_soup_each_two(context, search->placing, carom_vec(0.0, 0.0, 0.0), &touching,
                                      decide_two, first));
    } else {
        (void)CAROM_CPU_CALL(context, carom_obb_find)(&first->walk, ALONE_VISITS);
        bool more = first->walk.stack_count > 0 && first->status == CAROM_OK && !first->first.any;
        if (!pay(first, 0)) return CAROM_OK;
        if (more) carom_progress_expect(context, first->walk.stack_count);
        if (more && context->threads > 1) return share(search, first);
        if (more) walk_on(first);
    }
    if (first->status != CAROM_OK)
        return carom_fail_memory(context, sizeof(carom_soup_chunk), "the pairs found");
    return carom_progress_look(context);
}

static void add_work(carom_work *work, const seeker *s) {
    work->visits += s->walk.visits;
    work->candidates += s->work.candidates;
    work->undecided += s->work.undecided;
}

static void end(search *search, seeker *first) {
    carom_context *context = search->context;
    context->work = (carom_work){0};
    add_work(&context->work, first);
    for (uint32_t w = 1; search->seekers != NULL && w < context->threads; ++w) {
        if (search->seekers[w] == NULL) continue;
        add_work(&context->work, search->seekers[w]);
        carom_arena_rewind(carom_scratch(context, w), search->marks[w]);
    }
}

static carom_status gather(search *search, seeker *first, carom_pairs *out) {
    carom_context *context = search->context;
    const carom_soup_placing *placing = search->placing;
    uint32_t others = search->seekers != NULL ? context->threads : 1;
    uint64_t total = first->list.count;
    for (uint32_t w = 1; w < others; ++w)
        if (search->seekers[w] != NULL) total += search->seekers[w]->list.count;
    uint64_t *pairs = CAROM_ARENA_TAKE(first->scratch, uint64_t, total), *end;
    if (pairs == NULL) return carom_fail_memory(context, total * 8, "the list of pairs");
    end = carom_soup_list_copy(&first->list, pairs);
    for (uint32_t w = 1; w < others; ++w)
        if (search->seekers[w] != NULL) end = carom_soup_list_copy(&search->seekers[w]->list, end);
    bool repeats = placing->a.soup->faces != NULL || placing->b.soup->faces != NULL;
    CAROM_TRY(carom_soup_sort_pairs(context, pairs, &total, repeats));
    return carom_soup_fill_pairs(context, pairs, total, out);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Searches by trees: lists the pairs, or, if pairs is NULL, finds the first. If *spent is set, the
 * budget was spent and there is no result. */
static carom_status find(carom_context *context, const carom_soup_placing *placing, uint64_t budget,
                         carom_pairs *pairs, carom_soup_meeting *meeting, bool *spent) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    search search;
    seeker first;
    search.context = context;
    search.placing = placing;
    search.first_only = pairs == NULL;
    search.seekers = NULL;
    search.budget = budget;
    atomic_init(&search.work, 0);
    atomic_init(&search.spent, false);
    seeker_begin(&first, &search, 0);
    carom_progress_begin(context, "finding faces that meet", 0);
    carom_status status = seek(&search, &first);
    *spent = search.spent;
    if (status == CAROM_OK && pairs != NULL && !*spent) status = gather(&search, &first, pairs);
    if (meeting != NULL) *meeting = first.first;
    end(&search, &first);
    if (*spent) context->work = (carom_work){.visits = budget};
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

static uint64_t budget_of(const carom_soup *a, const carom_soup *b) {
    uint64_t triangles = (uint64_t)a->triangle_count + b->triangle_count;
    uint64_t budget_a = carom_soup_budget(a, triangles), budget_b = carom_soup_budget(b, triangles);
    return CAROM_MIN(budget_a, budget_b);
}

/* Searches by trees, or by grids if a soup has a grid or the trees exceed the budget. */
static carom_status ask(carom_context *context, const carom_soup *a, const carom_pose *pose_a,
                        const carom_soup *b, const carom_pose *pose_b, carom_pairs *pairs,
                        bool *any) {
    carom_soup_placing placing;
    carom_soup_meeting meeting = {.any = false};
    CAROM_TRY(carom_soup_place(context, a, pose_a, b, pose_b, &placing));
    bool by_grid = (a->method == CAROM_SOUP_METHOD_GRID || b->method == CAROM_SOUP_METHOD_GRID),
         spent = false;
    context->work = (carom_work){0};
    if (placing.extreme || !by_grid) {
        CAROM_TRY(find(context, &placing, budget_of(a, b), pairs, &meeting, &spent));
        if (any != NULL) *any = meeting.any;
        if (!spent) return CAROM_OK;
    }
    return carom_soup_cross_grid(context, &placing, pairs, any);
}

carom_status carom_soup_cross_pairs(carom_context *context, const carom_soup *a,
                                    const carom_pose *pose_a, const carom_soup *b,
                                    const carom_pose *pose_b, carom_pairs *pairs) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(a != NULL && b != NULL, "a soup is NULL");
    CAROM_REQUIRE_RESULT(pairs, "the place for the pairs");
    return ask(context, a, pose_a, b, pose_b, pairs, NULL);
}

carom_status carom_soup_cross_any(carom_context *context, const carom_soup *a,
                                  const carom_pose *pose_a, const carom_soup *b,
                                  const carom_pose *pose_b, bool *any) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(a != NULL && b != NULL, "a soup is NULL");
    CAROM_REQUIRE(any != NULL, "the place for the answer is NULL");
    *any = false;
    return ask(context, a, pose_a, b, pose_b, NULL, any);
}

carom_status carom_soup_find_first(carom_context *context, const carom_soup_placing *placing,
                                   carom_soup_meeting *meeting) {
    bool spent;
    return find(context, placing, UINT64_MAX, NULL, meeting, &spent);
}
