/* SPDX-License-Identifier: MIT */
/* Queries for the pairs of one soup: list, count, whether there are any, or a stream (the problem
 * of kDet: Weller, Debowski, Zachmann 2017).
 *
 * The stream by tree searches windows of faces (soup_stream.c), where each face lists its partners
 * with higher indices. By grid, where an item finds only its larger partners, one search counts
 * pairs by their lower face. Then faces are grouped so that the pairs of a group fill the scratch,
 * and one search per group keeps only the pairs of the group. The number of searches is
 * proportional to the number of pairs. */
#include "base/progress.h"
#include "soup/soup_search.h"
#include "soup/soup_stream.h"

/* ---- All pairs at once ----------------------------------------------------------------------- */

carom_status carom_soup_search_all(carom_soup_search *s, carom_pair_finish_fn *finish,
                                   void *argument) {
    carom_progress_begin(s->context, "finding pairs", s->soup->triangle_count);
    carom_status status =
        carom_progress_finish(s->context, carom_soup_search_run(s, finish, argument));
    if (status != CAROM_OK || !s->spent) return status;
    carom_arena *scratch = carom_scratch(s->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_soup_grid cells;
    carom_progress_begin(s->context, "finding pairs by grid", s->soup->triangle_count);
    status = carom_soup_search_on_grid(s, &cells);
    if (status == CAROM_OK) status = carom_soup_search_run(s, finish, argument);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(s->context, status);
}

carom_status carom_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                   carom_pairs *pairs) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    if (carom_soup_on_device(context))
        return carom_soup_device_pairs(context, &(carom_soup_device_query){.a = soup}, pairs);
    return carom_soup_self_pairs_on_cpu(context, soup, pairs);
}

carom_status carom_soup_self_pairs_on_cpu(carom_context *context, const carom_soup *soup,
                                          carom_pairs *pairs) {
    CAROM_TRY(carom_soup_check_on_cpu(context, soup));
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
    s.keep = true;
    return carom_soup_search_all(&s, carom_pair_list_fill, pairs);
}

carom_status carom_soup_self_meet(carom_context *context, const carom_soup *soup, bool *any) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_OUTPUT(any, "answer");
    if (carom_soup_on_device(context))
        return carom_soup_device_any(context, &(carom_soup_device_query){.a = soup}, any);
    CAROM_TRY(carom_soup_check_any(context, soup));
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
    *any = soup->degenerate == CAROM_SOUP_DEGENERATE_ALONE && soup->degenerate_faces != 0;
    if (*any) return CAROM_OK;
    s.stop_at_first = true;
    CAROM_TRY(carom_soup_search_all(&s, NULL, NULL));
    *any = s.count != 0;
    return CAROM_OK;
}

carom_status carom_soup_self_count(carom_context *context, const carom_soup *soup,
                                   uint64_t *count) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_OUTPUT(count, "count");
    if (carom_soup_on_device(context))
        return carom_soup_device_count(context, &(carom_soup_device_query){.a = soup}, count);
    CAROM_TRY(carom_soup_check_any(context, soup));
    *count = 0;
    /* Two polygons may meet in several triangles: counting them needs the list without duplicates.
     */
    if (soup->faces != NULL)
        return carom_soup_self_each(context, soup, carom_soup_stream_count, count);
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
    CAROM_TRY(carom_soup_search_all(&s, NULL, NULL));
    *count = s.count;
    if (soup->degenerate == CAROM_SOUP_DEGENERATE_ALONE) *count += soup->degenerate_faces;
    return CAROM_OK;
}

/* ---- Windows by tree ------------------------------------------------------------------------- */

static carom_status soup_self_search_window(void *argument, carom_soup_stream *stream,
                                            carom_soup_window *window) {
    carom_soup_search *s = argument;
    s->first = window->first;
    s->end = window->end;
    s->most = window->most;
    s->stop = s->overflowed = false;
    CAROM_TRY(carom_soup_search_run(s, carom_soup_stream_pass, stream));
    window->overflowed = s->overflowed;
    window->spent = s->spent;
    return CAROM_OK;
}

static carom_status begin_tree(carom_soup_search *s) {
    const carom_soup *soup = s->soup;
    uint32_t *slot_of =
        CAROM_ARENA_TAKE(carom_scratch(s->context, 0), uint32_t, soup->triangle_count);
    if (slot_of == NULL)
        return carom_fail_memory(s->context, soup->triangle_count * sizeof(*slot_of), "a search");
    if (soup->triangle_count != 0)
        for (uint64_t i = 0; i < (uint64_t)soup->bvh.node_count[0] * CAROM_BVH_WIDTH; ++i)
            if (soup->bvh.items[i] != CAROM_BVH_NONE) slot_of[soup->bvh.items[i]] = (uint32_t)i;
    s->slot_of = slot_of;
    return CAROM_OK;
}

/* ---- Windows by grid ------------------------------------------------------------------------- */

static uint32_t soup_self_face_of(const carom_soup *soup, uint64_t triangle) {
    return carom_soup_face(soup, (uint32_t)triangle);
}

/* The end of a window that starts at triangle `first`: its faces have at most `most` pairs
 * together, unless it is a single face. */
static uint64_t window_end(const carom_soup *soup, const uint32_t *counts, uint64_t first,
                           uint64_t most) {
    uint64_t pairs = 0, t = first;
    while (t < soup->triangle_count) {
        uint32_t face = soup_self_face_of(soup, t);
        if (t > first && pairs + counts[face] > most) break;
        pairs += counts[face];
        while (t < soup->triangle_count && soup_self_face_of(soup, t) == face) ++t;
    }
    return t;
}

static carom_status stream_grid(carom_soup_search *s, carom_soup_stream *stream, uint64_t first) {
    const carom_soup *soup = s->soup;
    if (first >= soup->triangle_count) return CAROM_OK;
    carom_arena *scratch = carom_scratch(s->context, 0);
    uint32_t *counts = CAROM_ARENA_TAKE(scratch, uint32_t, soup->face_count);
    if (counts == NULL)
        return carom_fail_memory(s->context, soup->face_count * sizeof(*counts), "a search");
    memset(counts, 0, soup->face_count * sizeof(*counts));
    s->most = 0;
    s->stop = s->keep = false;
    s->first_face = soup_self_face_of(soup, first);
    s->face_counts = counts;
    CAROM_TRY(carom_soup_search_run(s, NULL, NULL));
    s->keep = true;
    s->face_counts = NULL;
    while (first < soup->triangle_count && !stream->stopped) {
        uint64_t end = window_end(soup, counts, first, stream->most);
        s->first = (uint32_t)first;
        s->end = (uint32_t)end;
        s->first_face = soup_self_face_of(soup, first);
        s->end_face = end < soup->triangle_count ? soup_self_face_of(soup, end) : UINT32_MAX;
        CAROM_TRY(carom_soup_search_run(s, carom_soup_stream_pass, stream));
        carom_progress_add(s->context, 0, end - first);
        first = end;
    }
    return CAROM_OK;
}

/* ---- Stream ---------------------------------------------------------------------------------- */

static carom_status soup_self_stream_all(carom_soup_stream *stream, void *argument) {
    carom_soup_search *s = argument;
    uint64_t first = 0;
    if (s->cells == NULL) {
        CAROM_TRY(begin_tree(s));
        CAROM_TRY(carom_soup_stream_windows(stream, soup_self_search_window, s, &first));
        if (!s->spent) return CAROM_OK;
        carom_soup_grid cells;
        CAROM_TRY(carom_soup_search_on_grid(s, &cells));
        return stream_grid(s, stream, first);
    }
    return stream_grid(s, stream, first);
}

carom_status carom_soup_search_stream(carom_soup_search *s, carom_pairs_fn *receive, void *user) {
    carom_soup_stream stream;
    carom_soup_stream_begin(&stream, s->context, s->soup, receive, user);
    s->keep = s->streams = true;
    return carom_soup_stream_run(&stream, "finding pairs", soup_self_stream_all, s);
}

carom_status carom_soup_self_each(carom_context *context, const carom_soup *soup,
                                  carom_pairs_fn *receive, void *user) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_INPUT(receive, "receiver");
    if (carom_soup_on_device(context))
        return carom_soup_device_each(context, &(carom_soup_device_query){.a = soup}, receive,
                                      user);
    CAROM_TRY(carom_soup_check_any(context, soup));
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
    return carom_soup_search_stream(&s, receive, user);
}
