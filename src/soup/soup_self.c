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

/* Streaming: triangles whose partners are listed at a time, and pairs handed over at a time. */
#define TRIANGLES_A_RANGE  64u
#define FIRST_WINDOW       64u
#define LEAST_WINDOW_PAIRS 65536u
#define PAIRS_AT_ONCE      1024u

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
    _Atomic bool *stop, *crowded;
    uint64_t most;
    bool keep, stop_at_first;
} finder;

typedef struct search {
    carom_context *context;
    const carom_soup *soup;
    uint32_t first, end;      /* triangles of the window; all of them without streaming */
    const uint32_t *place_of; /* each triangle's place in the tree, for windows; else NULL */
    bool keep, stop_at_first;
    _Atomic bool stop;
    uint64_t most; /* pairs a worker keeps before it gives up (`crowded`); 0: any number */
    _Atomic bool crowded;
    finder **finders; /* one a worker, NULL until it has worked */
    carom_arena_mark *marks;
    uint64_t count; /* found by all workers */
} search;

static bool keep_pair(finder *f, uint32_t triangle_a, uint32_t triangle_b) {
    uint32_t a = carom_soup_face(f->soup, triangle_a), b = carom_soup_face(f->soup, triangle_b);
    if (a == b) return true;
    ++f->count;
    if (f->stop_at_first) atomic_store(f->stop, true);
    if (!f->keep) return !f->stop_at_first;
    if (f->most != 0 && f->count > f->most) {
        atomic_store(f->crowded, true);
        atomic_store(f->stop, true);
        return false;
    }
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
    int verdict = carom_face_filter(&ta, &tb, &common);
    if (verdict != CAROM_UNDECIDED) return verdict == CAROM_YES;
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

/* In a window each triangle looks for all others; those before it have found it themselves. */
static bool decide_later_ones(carom_bvh_found *found) {
    finder *f = found->user;
    const uint32_t *items = f->soup->bvh.items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < found->count; ++i) {
        uint32_t a = items[found->a[i]], b = items[found->b[i]];
        found->a[kept] = found->a[i];
        found->b[kept] = found->b[i];
        kept += carom_soup_face(f->soup, a) < carom_soup_face(f->soup, b) ? 1 : 0;
    }
    found->count = kept;
    return decide(found);
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
    f->found.flush = s->place_of != NULL ? decide_later_ones : decide;
    f->found.user = f;
    f->chunks = NULL;
    f->count = 0;
    f->work = (carom_work){0};
    f->status = CAROM_OK;
    f->stop = &s->stop;
    f->crowded = &s->crowded;
    f->most = s->most;
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

static carom_status search_window(void *argument, carom_range range) {
    search *s = argument;
    const carom_soup *soup = s->soup;
    finder *f = finder_of(s, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t triangle = s->first + (uint32_t)i;
        if (!carom_soup_searched(soup, triangle)) continue;
        carom_box box = carom_soup_box(soup, triangle);
        if (!CAROM_CPU_CALL(s->context, carom_bvh_find_box)(&soup->bvh, &box, s->place_of[triangle],
                                                            &f->found))
            return f->status;
    }
    (void)f->found.flush(&f->found);
    return f->status;
}

/* ---- putting it together --------------------------------------------------------------------- */

/* Degenerate faces among triangles [first, end) are listed by themselves. */
static uint64_t put_degenerate(const carom_soup *soup, uint32_t first, uint32_t end,
                               uint64_t *pairs) {
    uint64_t count = 0;
    if (soup->degenerate_faces == 0 || soup->degenerate != CAROM_DEGENERATE_ALONE) return 0;
    for (uint32_t t = first; t < end;) {
        uint64_t face = carom_soup_face(soup, t);
        bool all = true;
        for (; t < end && carom_soup_face(soup, t) == face; ++t)
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

/* All that the workers found, sorted, in scratch. */
static carom_status gather(search *s, uint64_t **out, uint64_t *out_count) {
    const carom_soup *soup = s->soup;
    uint64_t total = CAROM_MIN(s->end - s->first, soup->degenerate_faces), count;
    for (uint32_t w = 0; w < s->context->threads; ++w)
        if (s->finders[w] != NULL) total += s->finders[w]->count;
    uint64_t *pairs = CAROM_ARENA_TAKE(carom_scratch(s->context, 0), uint64_t, total);
    if (pairs == NULL) return carom_fail_memory(s->context, total * 8, "the list of pairs");
    count = put_degenerate(soup, s->first, s->end, pairs);
    for (uint32_t w = 0; w < s->context->threads; ++w) {
        for (const chunk *c = s->finders[w] != NULL ? s->finders[w]->chunks : NULL; c != NULL;
             c = c->next) {
            memcpy(pairs + count, c->pairs, c->count * sizeof(*pairs));
            count += c->count;
        }
    }
    CAROM_TRY(carom_sort_words(s->context, pairs, count, 0, 64));
    *out = pairs;
    *out_count = soup->faces != NULL ? remove_repeats(pairs, count) : count;
    return CAROM_OK;
}

static void add_work(search *s) {
    for (uint32_t w = 0; w < s->context->threads; ++w) {
        if (s->finders[w] == NULL) continue;
        s->context->work.visits += s->finders[w]->found.visits;
        s->context->work.candidates += s->finders[w]->work.candidates;
        s->context->work.undecided += s->finders[w]->work.undecided;
        s->count += s->finders[w]->count;
    }
}

/* Searches all blocks, or the window's triangles, and hands what was found to `finish` (NULL:
 * nobody) before the scratch is given back. */
typedef carom_status finish_fn(search *search, void *argument);

static carom_status run(search *s, finish_fn *finish, void *argument) {
    carom_context *context = s->context;
    const carom_bvh *bvh = &s->soup->bvh;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    s->finders = CAROM_ARENA_TAKE(scratch, finder *, context->threads);
    s->marks = CAROM_ARENA_TAKE(scratch, carom_arena_mark, context->threads);
    carom_status status = CAROM_OK;
    s->count = 0;
    if (s->finders == NULL || s->marks == NULL) {
        status = carom_fail_memory(context, context->threads * sizeof(finder *), "a search");
    } else {
        memset(s->finders, 0, context->threads * sizeof(*s->finders));
        if (s->place_of != NULL)
            status =
                carom_parallel_for(context, s->end - s->first, TRIANGLES_A_RANGE, search_window, s);
        else if (bvh->level_count != 0)
            status =
                carom_parallel_for(context, bvh->node_count[0], BLOCKS_A_RANGE, search_blocks, s);
        if (!s->crowded) add_work(s);
        if (status == CAROM_OK && finish != NULL && !s->crowded) status = finish(s, argument);
        for (uint32_t w = 1; w < context->threads; ++w)
            if (s->finders[w] != NULL) carom_arena_rewind(carom_scratch(context, w), s->marks[w]);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

static search search_all(carom_context *context, const carom_soup *soup) {
    context->work = (carom_work){0};
    return (search){.context = context, .soup = soup, .end = soup->triangle_count};
}

/* ---- the queries ----------------------------------------------------------------------------- */

static carom_status fill_result(search *s, void *argument) {
    carom_pairs *out = argument;
    uint64_t *pairs, count, room;
    CAROM_TRY(gather(s, &pairs, &count));
    CAROM_TRY(carom_pairs_begin(s->context, &s->context->allocator, out, count, &room));
    for (uint64_t i = 0; i < room; ++i)
        out->data[i] = (carom_pair){(uint32_t)(pairs[i] >> 32), (uint32_t)pairs[i]};
    return carom_pairs_end(out);
}

carom_status carom_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                   carom_pairs *pairs) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(pairs != NULL, "the place for the pairs is NULL");
    CAROM_TRY(carom_soup_check_ready(context, soup));
    search s = search_all(context, soup);
    s.keep = true;
    return run(&s, fill_result, pairs);
}

static bool add_count(void *user, const carom_pair *pairs, uint64_t count) {
    (void)pairs;
    *(uint64_t *)user += count;
    return false;
}

carom_status carom_soup_self_count(carom_context *context, const carom_soup *soup,
                                   uint64_t *count) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(count != NULL, "the place for the count is NULL");
    CAROM_TRY(carom_soup_check_ready(context, soup));
    *count = 0;
    /* Polygons may meet in several triangles: only a list tells. */
    if (soup->faces != NULL) return carom_soup_each_pair(context, soup, add_count, count);
    search s = search_all(context, soup);
    CAROM_TRY(run(&s, NULL, NULL));
    *count = s.count;
    if (soup->degenerate == CAROM_DEGENERATE_ALONE) *count += soup->degenerate_faces;
    return CAROM_OK;
}

carom_status carom_soup_self_any(carom_context *context, const carom_soup *soup, bool *any) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(any != NULL, "the place for the answer is NULL");
    CAROM_TRY(carom_soup_check_ready(context, soup));
    search s = search_all(context, soup);
    *any = soup->degenerate == CAROM_DEGENERATE_ALONE && soup->degenerate_faces != 0;
    if (*any) return CAROM_OK;
    s.stop_at_first = true;
    CAROM_TRY(run(&s, NULL, NULL));
    *any = s.count != 0;
    return CAROM_OK;
}

/* ---- streaming ------------------------------------------------------------------------------- */

typedef struct stream {
    carom_pairs_fn *receive;
    void *user;
    uint64_t count; /* pairs of the last window */
    bool stopped;
} stream;

static carom_status emit_window(search *s, void *argument) {
    stream *stream = argument;
    uint64_t *pairs;
    carom_pair chunk_of_pairs[PAIRS_AT_ONCE];
    CAROM_TRY(gather(s, &pairs, &stream->count));
    for (uint64_t at = 0; at < stream->count && !stream->stopped; at += PAIRS_AT_ONCE) {
        uint64_t count = CAROM_MIN(stream->count - at, PAIRS_AT_ONCE);
        for (uint64_t i = 0; i < count; ++i)
            chunk_of_pairs[i] =
                (carom_pair){(uint32_t)(pairs[at + i] >> 32), (uint32_t)pairs[at + i]};
        stream->stopped = stream->receive(stream->user, chunk_of_pairs, count);
    }
    return CAROM_OK;
}

static uint32_t face_of(const carom_soup *soup, uint64_t triangle) {
    return carom_soup_face(soup, (uint32_t)triangle);
}

/* Window after window. One that turns out to hold too many pairs is given up and begun again with
 * fewer triangles, so that the scratch stays in the order of the soup's size however many pairs
 * there are, and wherever. */
static carom_status stream_windows(search *s, stream *stream) {
    const carom_soup *soup = s->soup;
    uint64_t most = CAROM_MAX(soup->triangle_count, LEAST_WINDOW_PAIRS), size = FIRST_WINDOW;
    for (uint64_t first = 0; first < soup->triangle_count && !stream->stopped;) {
        uint64_t end = CAROM_MIN(first + size, soup->triangle_count);
        while (end < soup->triangle_count && face_of(soup, end) == face_of(soup, end - 1))
            ++end; /* whole faces only */
        s->first = (uint32_t)first;
        s->end = (uint32_t)end;
        s->most = face_of(soup, first) != face_of(soup, end - 1) ? most : 0;
        s->stop = s->crowded = false;
        CAROM_TRY(run(s, emit_window, stream));
        if (s->crowded) {
            size = CAROM_MAX(1, (end - first) / 8);
            continue;
        }
        if (stream->count < most / 4) size = CAROM_MIN(2 * size, soup->triangle_count);
        first = end;
    }
    return CAROM_OK;
}

carom_status carom_soup_each_pair(carom_context *context, const carom_soup *soup,
                                  carom_pairs_fn *receive, void *user) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(receive != NULL, "the receiver is NULL");
    CAROM_TRY(carom_soup_check_ready(context, soup));
    search s = search_all(context, soup);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t *place_of = CAROM_ARENA_TAKE(scratch, uint32_t, soup->triangle_count);
    if (place_of == NULL)
        return carom_fail_memory(context, soup->triangle_count * sizeof(*place_of), "a search");
    if (soup->triangle_count != 0)
        for (uint64_t i = 0; i < (uint64_t)soup->bvh.node_count[0] * CAROM_BVH_WIDTH; ++i)
            if (soup->bvh.items[i] != CAROM_BVH_NONE) place_of[soup->bvh.items[i]] = (uint32_t)i;
    s.keep = true;
    s.place_of = place_of;
    stream stream = {.receive = receive, .user = user};
    carom_status status = stream_windows(&s, &stream);
    carom_arena_rewind(scratch, mark);
    return status;
}
