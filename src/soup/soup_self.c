/* SPDX-License-Identifier: MIT */
/* All pairs of a soup with itself (the question of kDet: Weller, Debowski, Zachmann 2017).
 *
 * The tree hands over pairs of places whose boxes overlap, a few thousand at a time and still in
 * the first-level cache; they are decided at once: a filter on vectors, then, for the few it leaves
 * open, the exact test. What counts goes to a list of the worker's own, and in the end all lists
 * are sorted into one: the order in which workers found them does not show. */
#include "soup/soup.h"

#include "base/sort.h"
#include "base/threads.h"
#include "bvh/bvh_cpu.h"
#include "soup/soup_cpu.h"

#define BLOCKS_A_RANGE 32u
#define PAIRS_A_CHUNK  4094u

/* What a worker found: chunks from its scratch. */
typedef struct chunk {
    struct chunk *next;
    uint64_t count;
    uint64_t pairs[PAIRS_A_CHUNK]; /* lower face << 32 | higher face */
} chunk;

typedef struct finder {
    const carom_soup *soup;
    carom_context *context;
    carom_arena *scratch;
    carom_bvh_found found;
    carom_soup_verdicts verdicts;
    chunk *chunks; /* newest first */
    uint64_t count;
    carom_work work;
    carom_status status;
    _Atomic bool *stop;
    bool keep, stop_at_first;
} finder;

typedef struct search {
    carom_context *context;
    const carom_soup *soup;
    bool keep, stop_at_first;
    _Atomic bool stop;
    finder **finders; /* one a worker, NULL until it has worked */
    carom_arena_mark *marks;
} search;

static bool keep_pair(finder *f, uint32_t triangle_a, uint32_t triangle_b) {
    uint32_t a = carom_soup_face(f->soup, triangle_a), b = carom_soup_face(f->soup, triangle_b);
    if (a == b) return true;
    ++f->count;
    if (f->stop_at_first) atomic_store(f->stop, true);
    if (!f->keep) return !f->stop_at_first;
    if (f->chunks == NULL || f->chunks->count == PAIRS_A_CHUNK) {
        chunk *fresh = CAROM_ARENA_TAKE(f->scratch, chunk, 1);
        if (fresh == NULL) {
            f->status = CAROM_NO_MEMORY;
            return false;
        }
        fresh->next = f->chunks;
        fresh->count = 0;
        f->chunks = fresh;
    }
    f->chunks->pairs[f->chunks->count++] =
        (uint64_t)CAROM_MIN(a, b) << 32 | (uint64_t)CAROM_MAX(a, b);
    return true;
}

static bool counts_exactly(const carom_soup *soup, const uint32_t *ca, const uint32_t *cb) {
    carom_triangle ta = carom_soup_triangle(soup, ca), tb = carom_soup_triangle(soup, cb);
    carom_common common = carom_common_make(ca, cb);
    bool as_segments = soup->degenerate == CAROM_DEGENERATE_AS_SEGMENT;
    if (common.count == 0) {
        int verdict = carom_triangle_filter(&ta, &tb);
        if (verdict != CAROM_UNDECIDED) return verdict == CAROM_YES;
    }
    return carom_face_pair_exact(&ta, &tb, &common, as_segments) != 0;
}

static bool decide(carom_bvh_found *found) {
    finder *f = found->user;
    const carom_soup *soup = f->soup;
    const uint32_t *items = soup->bvh.items, *placed = soup->placed;
    carom_soup_points points = {soup->positions, placed, soup->scalar == CAROM_FLOAT64};
    carom_soup_verdicts *v = &f->verdicts;
    f->work.candidates += found->count;
    for (uint32_t at = 0; at < found->count; at += CAROM_SOUP_BATCH) {
        const uint32_t *a = found->a + at, *b = found->b + at;
        uint32_t count = CAROM_MIN(found->count - at, CAROM_SOUP_BATCH);
        CAROM_CPU_CALL(f->context, carom_soup_filter)(&points, a, b, count, v);
        f->work.undecided += v->open_count;
        for (uint32_t i = 0; i < v->yes_count; ++i)
            if (!keep_pair(f, items[a[v->yes[i]]], items[b[v->yes[i]]])) return false;
        for (uint32_t i = 0; i < v->open_count; ++i) {
            uint32_t pa = a[v->open[i]], pb = b[v->open[i]];
            if (counts_exactly(soup, placed + 3 * (uint64_t)pa, placed + 3 * (uint64_t)pb) &&
                !keep_pair(f, items[pa], items[pb]))
                return false;
        }
    }
    found->count = 0;
    return !atomic_load_explicit(f->stop, memory_order_relaxed);
}

/* The worker's finder, made at its first range. */
static finder *finder_of(search *s, uint32_t worker) {
    finder *f = s->finders[worker];
    if (f != NULL) return f;
    carom_arena *scratch = carom_scratch(s->context, worker);
    if (worker != 0) s->marks[worker] = carom_arena_get_mark(scratch);
    f = CAROM_ARENA_TAKE(scratch, finder, 1);
    if (f == NULL) return NULL;
    f->soup = s->soup;
    f->context = s->context;
    f->scratch = scratch;
    f->found.count = 0;
    f->found.visits = 0;
    f->found.flush = decide;
    f->found.user = f;
    f->chunks = NULL;
    f->count = 0;
    f->work = (carom_work){0};
    f->status = CAROM_OK;
    f->stop = &s->stop;
    f->keep = s->keep;
    f->stop_at_first = s->stop_at_first;
    s->finders[worker] = f;
    return f;
}

static carom_status search_blocks(void *argument, carom_range range) {
    search *s = argument;
    finder *f = finder_of(s, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t block = range.begin; block < range.end; ++block)
        if (atomic_load_explicit(&s->stop, memory_order_relaxed) ||
            !CAROM_CPU_CALL(s->context, carom_bvh_self_block)(&s->soup->bvh, (uint32_t)block,
                                                              &f->found))
            return f->status;
    (void)decide(&f->found);
    return f->status;
}

/* ---- putting it together --------------------------------------------------------------------- */

/* Degenerate faces are listed by themselves. */
static uint64_t put_degenerate(const carom_soup *soup, uint64_t *pairs) {
    uint64_t count = 0;
    if (soup->degenerate_faces == 0 || soup->degenerate != CAROM_DEGENERATE_ALONE) return 0;
    for (uint32_t t = 0; t < soup->triangle_count;) {
        uint64_t face = carom_soup_face(soup, t);
        bool all = true;
        for (; t < soup->triangle_count && carom_soup_face(soup, t) == face; ++t)
            all = all && soup->states[t] == CAROM_SOUP_DEGENERATE;
        if (all) pairs[count++] = face << 32 | face;
    }
    return count;
}

static uint64_t remove_repeats(uint64_t *pairs, uint64_t count) {
    uint64_t kept = count != 0 ? 1 : 0;
    for (uint64_t i = 1; i < count; ++i)
        if (pairs[i] != pairs[i - 1]) pairs[kept++] = pairs[i];
    return kept;
}

static carom_status gather(search *s, carom_pairs *out) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    uint64_t total = s->soup->degenerate_faces, count = 0, room;
    for (uint32_t w = 0; w < s->context->threads; ++w)
        if (s->finders[w] != NULL) total += s->finders[w]->count;
    uint64_t *pairs = CAROM_ARENA_TAKE(scratch, uint64_t, total);
    if (pairs == NULL) return carom_fail_memory(s->context, total * 8, "the list of pairs");
    count = put_degenerate(s->soup, pairs);
    for (uint32_t w = 0; w < s->context->threads; ++w) {
        for (const chunk *c = s->finders[w] != NULL ? s->finders[w]->chunks : NULL; c != NULL;
             c = c->next) {
            memcpy(pairs + count, c->pairs, c->count * sizeof(*pairs));
            count += c->count;
        }
    }
    CAROM_TRY(carom_sort_words(s->context, pairs, count, 0, 64));
    if (s->soup->faces != NULL) count = remove_repeats(pairs, count);
    CAROM_TRY(carom_pairs_begin(s->context, &s->context->allocator, out, count, &room));
    for (uint64_t i = 0; i < room; ++i)
        out->data[i] = (carom_pair){(uint32_t)(pairs[i] >> 32), (uint32_t)pairs[i]};
    return carom_pairs_end(out);
}

static carom_status run(search *s) {
    uint32_t blocks = s->soup->bvh.level_count != 0 ? s->soup->bvh.node_count[0] : 0;
    carom_status status = carom_parallel_for(s->context, blocks, BLOCKS_A_RANGE, search_blocks, s);
    s->context->work = (carom_work){0};
    for (uint32_t w = 0; w < s->context->threads; ++w) {
        if (s->finders[w] == NULL) continue;
        s->context->work.visits += s->finders[w]->found.visits;
        s->context->work.candidates += s->finders[w]->work.candidates;
        s->context->work.undecided += s->finders[w]->work.undecided;
    }
    return status;
}

/* Runs a search and hands its finders to `finish`. */
static carom_status search_self(search *s, carom_pairs *pairs, uint64_t *count) {
    carom_context *context = s->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    s->finders = CAROM_ARENA_TAKE(scratch, finder *, context->threads);
    s->marks = CAROM_ARENA_TAKE(scratch, carom_arena_mark, context->threads);
    carom_status status;
    if (s->finders == NULL || s->marks == NULL) {
        status = carom_fail_memory(context, context->threads * sizeof(finder *), "a search");
    } else {
        memset(s->finders, 0, context->threads * sizeof(*s->finders));
        status = run(s);
        if (status == CAROM_OK && pairs != NULL) status = gather(s, pairs);
        *count = 0;
        for (uint32_t w = 0; w < context->threads; ++w) {
            if (s->finders[w] == NULL) continue;
            *count += s->finders[w]->count;
            if (w != 0) carom_arena_rewind(carom_scratch(context, w), s->marks[w]);
        }
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                   carom_pairs *pairs) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(pairs != NULL, "the place for the pairs is NULL");
    search s = {.context = context, .soup = soup, .keep = true};
    uint64_t count;
    return search_self(&s, pairs, &count);
}
