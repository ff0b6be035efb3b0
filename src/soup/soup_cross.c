/* SPDX-License-Identifier: MIT */
/* Which faces of two soups meet.
 *
 * A walk over both trees (obb.h) hands over pairs of triangles whose boxes meet; they are posed and
 * decided exactly. The walk starts on the calling thread, where most queries end within
 * microseconds; what is left on its stack after a while is shared among all threads.
 *
 * The stack is also an order: every walk comes to pairs of blocks in the same sequence, as what to
 * open is decided by the trees alone and boxes only say what to leave out. The first pair of blocks
 * with triangles that meet is therefore the same for any number of threads and instruction set. */
#include "base/sort.h"
#include "base/threads.h"
#include "bvh/obb_cpu.h"
#include "soup/soup_place.h"

#define ALONE_VISITS  1024u /* before other threads are called: some 50 microseconds */
#define PAIRS_A_CHUNK 1022u

/* What a worker found: chunks from its scratch. */
typedef struct chunk {
    struct chunk *next;
    uint64_t count;
    uint64_t pairs[PAIRS_A_CHUNK]; /* face of a << 32 | face of b */
} chunk;

typedef struct seeker {
    carom_obb_walk walk;
    const carom_soup_placing *placing;
    carom_arena *scratch;
    chunk *chunks; /* newest first */
    uint64_t count;
    carom_work work;
    carom_status status;
    carom_soup_meeting first;
} seeker;

typedef struct search {
    carom_context *context;
    const carom_soup_placing *placing;
    bool first_only;
    carom_obb_pair tasks[CAROM_OBB_STACK];
    uint32_t task_count;
    seeker **seekers; /* one a worker, NULL until it has worked */
    carom_arena_mark *marks;
    carom_soup_meeting *meetings; /* of each task */
    _Atomic uint32_t first_task;  /* the lowest that has one */
} search;

/* ---- deciding -------------------------------------------------------------------------------- */

static bool keep_pair(seeker *s, uint32_t a, uint32_t b) {
    ++s->count;
    if (s->chunks == NULL || s->chunks->count == PAIRS_A_CHUNK) {
        chunk *fresh = CAROM_ARENA_TAKE(s->scratch, chunk, 1);
        if (fresh == NULL) {
            s->status = CAROM_NO_MEMORY;
            return false;
        }
        fresh->next = s->chunks;
        fresh->count = 0;
        s->chunks = fresh;
    }
    uint64_t face_a = carom_soup_face(s->placing->a.soup, a);
    uint64_t face_b = carom_soup_face(s->placing->b.soup, b);
    s->chunks->pairs[s->chunks->count++] = face_a << 32 | face_b;
    return true;
}

static bool meet(seeker *s, const carom_triangle *a, const carom_triangle *b) {
    int verdict = carom_triangle_filter(a, b);
    if (verdict != CAROM_UNDECIDED) return verdict == CAROM_YES;
    ++s->work.undecided;
    return carom_triangle_meet_exact(a, b) != 0;
}

static bool precedes(uint32_t a, uint32_t b, const carom_soup_meeting *than) {
    return !than->any || a < than->a || (a == than->a && b < than->b);
}

/* Of one pair of blocks, or of many. When only the first is wanted it is the lowest of its pair of
 * blocks, whatever order they were handed over in. */
static bool receive(carom_obb_walk *walk) {
    seeker *s = walk->user;
    const carom_soup_side *a = &s->placing->a, *b = &s->placing->b;
    carom_triangle posed_a, posed_b;
    uint32_t last_a = CAROM_BVH_NONE, last_b = CAROM_BVH_NONE;
    s->work.candidates += walk->found_count;
    for (uint32_t i = 0; i < walk->found_count; ++i) {
        uint32_t triangle_a = a->items[walk->found_a[i]], triangle_b = b->items[walk->found_b[i]];
        if (triangle_a != last_a) posed_a = carom_soup_posed(a, last_a = triangle_a);
        if (triangle_b != last_b) posed_b = carom_soup_posed(b, last_b = triangle_b);
        if (!meet(s, &posed_a, &posed_b)) continue;
        if (!walk->each_block) {
            if (!keep_pair(s, triangle_a, triangle_b)) return false;
        } else if (precedes(triangle_a, triangle_b, &s->first)) {
            s->first = (carom_soup_meeting){triangle_a, triangle_b, true};
        }
    }
    return !s->first.any;
}

static void seeker_begin(seeker *s, const search *search, uint32_t worker) {
    s->placing = search->placing;
    s->scratch = carom_scratch(search->context, worker);
    s->chunks = NULL;
    s->count = 0;
    s->work = (carom_work){0};
    s->status = CAROM_OK;
    s->first.any = false;
    s->walk.receive = receive;
    s->walk.each_block = search->first_only;
    s->walk.user = s;
    carom_soup_begin_walk(search->placing, &s->walk);
}

/* ---- several threads ------------------------------------------------------------------------- */

/* The worker's seeker, made at its first task. */
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
        (void)CAROM_CPU_CALL(search->context, carom_obb_find)(&s->walk, UINT64_MAX / 2);
        if (s->first.any) note_meeting(search, (uint32_t)task, &s->first);
        if (s->status != CAROM_OK) return s->status;
    }
    return CAROM_OK;
}

/* What the first seeker left on its stack, its next pair first. */
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

/* ---- the whole ------------------------------------------------------------------------------- */

static bool decide_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                       const carom_triangle *posed_b) {
    seeker *s = user;
    ++s->work.candidates;
    if (!meet(s, posed_a, posed_b)) return true;
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
        uint64_t visits = context->threads > 1 ? ALONE_VISITS : UINT64_MAX / 2;
        (void)CAROM_CPU_CALL(context, carom_obb_find)(&first->walk, visits);
        if (first->walk.stack_count > 0 && first->status == CAROM_OK && !first->first.any)
            return share(search, first);
    }
    if (first->status != CAROM_OK)
        return carom_fail_memory(context, sizeof(chunk), "the pairs found");
    return CAROM_OK;
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

static uint64_t remove_repeats(uint64_t *pairs, uint64_t count) {
    uint64_t kept = count != 0 ? 1 : 0;
    for (uint64_t i = 1; i < count; ++i)
        if (pairs[i] != pairs[i - 1]) pairs[kept++] = pairs[i];
    return kept;
}

static uint64_t take_chunks(const seeker *s, uint64_t *pairs) {
    uint64_t count = 0;
    for (const chunk *c = s->chunks; c != NULL; c = c->next) {
        memcpy(pairs + count, c->pairs, c->count * sizeof(*pairs));
        count += c->count;
    }
    return count;
}

static carom_status gather(search *search, seeker *first, carom_pairs *out) {
    carom_context *context = search->context;
    const carom_soup_placing *placing = search->placing;
    uint32_t others = search->seekers != NULL ? context->threads : 1;
    uint64_t total = first->count, count, room;
    for (uint32_t w = 1; w < others; ++w)
        if (search->seekers[w] != NULL) total += search->seekers[w]->count;
    uint64_t *pairs = CAROM_ARENA_TAKE(first->scratch, uint64_t, total);
    if (pairs == NULL) return carom_fail_memory(context, total * 8, "the list of pairs");
    count = take_chunks(first, pairs);
    for (uint32_t w = 1; w < others; ++w)
        if (search->seekers[w] != NULL) count += take_chunks(search->seekers[w], pairs + count);
    CAROM_TRY(carom_sort_words(context, pairs, count, 0, 64));
    if (placing->a.soup->faces != NULL || placing->b.soup->faces != NULL)
        count = remove_repeats(pairs, count);
    CAROM_TRY(carom_pairs_begin(context, &context->allocator, out, count, &room));
    for (uint64_t i = 0; i < room; ++i)
        out->data[i] = (carom_pair){(uint32_t)(pairs[i] >> 32), (uint32_t)pairs[i]};
    return carom_pairs_end(out);
}

carom_status carom_soup_cross_pairs(carom_context *context, const carom_soup *a,
                                    const carom_pose *pose_a, const carom_soup *b,
                                    const carom_pose *pose_b, carom_pairs *pairs) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(a != NULL && b != NULL, "a soup is NULL");
    CAROM_REQUIRE(pairs != NULL, "the place for the pairs is NULL");
    carom_soup_placing placing;
    CAROM_TRY(carom_soup_place(context, a, pose_a, b, pose_b, &placing));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    search search;
    seeker first;
    search.context = context;
    search.placing = &placing;
    search.first_only = false;
    search.seekers = NULL;
    seeker_begin(&first, &search, 0);
    carom_status status = seek(&search, &first);
    if (status == CAROM_OK) status = gather(&search, &first, pairs);
    end(&search, &first);
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_soup_find_first(carom_context *context, const carom_soup_placing *placing,
                                   carom_soup_meeting *meeting) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    search search;
    seeker first;
    search.context = context;
    search.placing = placing;
    search.first_only = true;
    search.seekers = NULL;
    seeker_begin(&first, &search, 0);
    carom_status status = seek(&search, &first);
    *meeting = first.first;
    end(&search, &first);
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_soup_cross_any(carom_context *context, const carom_soup *a,
                                  const carom_pose *pose_a, const carom_soup *b,
                                  const carom_pose *pose_b, bool *any) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(a != NULL && b != NULL, "a soup is NULL");
    CAROM_REQUIRE(any != NULL, "the place for the answer is NULL");
    *any = false;
    carom_soup_placing placing;
    carom_soup_meeting meeting;
    CAROM_TRY(carom_soup_place(context, a, pose_a, b, pose_b, &placing));
    CAROM_TRY(carom_soup_find_first(context, &placing, &meeting));
    *any = meeting.any;
    return CAROM_OK;
}
