/* SPDX-License-Identifier: MIT */
/* Streaming the pairs of a soup in ascending order, for results too large for memory.
 *
 * By tree: faces are processed in windows, and each face lists its partners with higher indices. A
 * window with too many pairs is abandoned and restarted with fewer faces.
 *
 * By grid, where an item finds only its larger partners: one search counts pairs by their lower
 * face. Then faces are grouped so that the pairs of a group fill the scratch, and one search per
 * group keeps only the pairs of the group. The number of searches is proportional to the number of
 * pairs. */
#include "base/progress.h"
#include "soup/soup_search.h"

#define FIRST_WINDOW       64u
#define LEAST_WINDOW_PAIRS 65536u
#define PAIRS_AT_ONCE      1024u

typedef struct stream {
    carom_pairs_fn *receive;
    void *user;
    uint64_t count; /* pairs of the last window */
    bool stopped;
} stream;

static carom_status emit_window(carom_soup_search *s, void *argument) {
    stream *stream = argument;
    uint64_t *pairs;
    carom_pair some[PAIRS_AT_ONCE];
    CAROM_TRY(carom_soup_search_gather(s, &pairs, &stream->count));
    for (uint64_t at = 0; at < stream->count && !stream->stopped; at += PAIRS_AT_ONCE) {
        uint64_t count = CAROM_MIN(stream->count - at, PAIRS_AT_ONCE);
        for (uint64_t i = 0; i < count; ++i)
            some[i] = (carom_pair){(uint32_t)(pairs[at + i] >> 32), (uint32_t)pairs[at + i]};
        stream->stopped = stream->receive(stream->user, some, count);
    }
    return CAROM_OK;
}

static uint32_t face_of(const carom_soup *soup, uint64_t triangle) {
    return carom_soup_face(soup, (uint32_t)triangle);
}

static uint64_t most_pairs(const carom_soup *soup) {
    return CAROM_MAX(soup->triangle_count, LEAST_WINDOW_PAIRS);
}

/* ---- Windows by tree ------------------------------------------------------------------------- */

/* Runs until all faces are done, the receiver stops it, or the budget is spent. *first is then the
 * first triangle not done. */
static carom_status stream_tree(carom_soup_search *s, stream *stream, uint64_t *first) {
    const carom_soup *soup = s->soup;
    uint64_t most = most_pairs(soup), size = FIRST_WINDOW;
    while (*first < soup->triangle_count && !stream->stopped) {
        uint64_t end = CAROM_MIN(*first + size, soup->triangle_count);
        while (end < soup->triangle_count && face_of(soup, end) == face_of(soup, end - 1))
            ++end; /* do not split a face */
        s->first = (uint32_t)*first;
        s->end = (uint32_t)end;
        s->most = face_of(soup, *first) != face_of(soup, end - 1) ? most : 0;
        s->stop = s->crowded = false;
        CAROM_TRY(carom_soup_search_run(s, emit_window, stream));
        if (s->spent) return CAROM_OK;
        if (s->crowded) {
            size = CAROM_MAX(1, (end - *first) / 8);
            continue;
        }
        if (stream->count < most / 4) size = CAROM_MIN(2 * size, soup->triangle_count);
        carom_progress_add(s->context, 0, end - *first);
        *first = end;
    }
    return CAROM_OK;
}

static carom_status begin_tree(carom_soup_search *s, carom_arena *scratch) {
    const carom_soup *soup = s->soup;
    uint32_t *place_of = CAROM_ARENA_TAKE(scratch, uint32_t, soup->triangle_count);
    if (place_of == NULL)
        return carom_fail_memory(s->context, soup->triangle_count * sizeof(*place_of), "a search");
    if (soup->triangle_count != 0)
        for (uint64_t i = 0; i < (uint64_t)soup->bvh.node_count[0] * CAROM_BVH_WIDTH; ++i)
            if (soup->bvh.items[i] != CAROM_BVH_NONE) place_of[soup->bvh.items[i]] = (uint32_t)i;
    s->place_of = place_of;
    return CAROM_OK;
}

/* ---- Windows by grid ------------------------------------------------------------------------- */

/* The end of a window that starts at triangle `first`: its faces have at most `most` pairs
 * together, unless it is a single face. */
static uint64_t window_end(const carom_soup *soup, const uint32_t *counts, uint64_t first,
                           uint64_t most) {
    uint64_t pairs = 0, t = first;
    while (t < soup->triangle_count) {
        uint32_t face = face_of(soup, t);
        if (t > first && pairs + counts[face] > most) break;
        pairs += counts[face];
        while (t < soup->triangle_count && face_of(soup, t) == face) ++t;
    }
    return t;
}

static carom_status stream_grid(carom_soup_search *s, stream *stream, uint64_t first) {
    const carom_soup *soup = s->soup;
    if (first >= soup->triangle_count) return CAROM_OK;
    carom_arena *scratch = carom_scratch(s->context, 0);
    uint32_t *counts = CAROM_ARENA_TAKE(scratch, uint32_t, soup->face_count);
    if (counts == NULL)
        return carom_fail_memory(s->context, soup->face_count * sizeof(*counts), "a search");
    memset(counts, 0, soup->face_count * sizeof(*counts));
    s->most = 0;
    s->stop = s->keep = false;
    s->first_face = face_of(soup, first);
    s->face_counts = counts;
    CAROM_TRY(carom_soup_search_run(s, NULL, NULL));
    s->keep = true;
    s->face_counts = NULL;
    while (first < soup->triangle_count && !stream->stopped) {
        uint64_t end = window_end(soup, counts, first, most_pairs(soup));
        s->first = (uint32_t)first;
        s->end = (uint32_t)end;
        s->first_face = face_of(soup, first);
        s->end_face = end < soup->triangle_count ? face_of(soup, end) : UINT32_MAX;
        CAROM_TRY(carom_soup_search_run(s, emit_window, stream));
        carom_progress_add(s->context, 0, end - first);
        first = end;
    }
    return CAROM_OK;
}

/* ---- Query ----------------------------------------------------------------------------------- */

static carom_status stream_all(carom_soup_search *s, stream *stream, carom_arena *scratch) {
    uint64_t first = 0;
    if (s->cells == NULL) {
        CAROM_TRY(begin_tree(s, scratch));
        CAROM_TRY(stream_tree(s, stream, &first));
        if (!s->spent) return CAROM_OK;
        carom_soup_grid cells;
        CAROM_TRY(carom_soup_search_on_grid(s, &cells));
        return stream_grid(s, stream, first);
    }
    return stream_grid(s, stream, first);
}

carom_status carom_soup_self_each(carom_context *context, const carom_soup *soup,
                                  carom_pairs_fn *receive, void *user) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(receive != NULL, "the receiver is NULL");
    CAROM_TRY(carom_soup_check_any(context, soup));
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
    s.keep = s.streams = true;
    stream stream = {.receive = receive, .user = user};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding pairs", soup->triangle_count);
    carom_status status = stream_all(&s, &stream, scratch);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}
