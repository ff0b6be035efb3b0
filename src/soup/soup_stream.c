/* SPDX-License-Identifier: MIT */
/* Streaming of pairs in ascending order, for results too large for memory.
 *
 * Faces are processed in windows of consecutive faces, and each face lists its partners. A window
 * with too many pairs is abandoned and restarted with fewer faces; after one with few pairs the
 * next is twice as large. So scratch holds about as many pairs as there are triangles, and the
 * work that is lost is a part of the work done. */
#include "soup/soup_stream.h"

#include "base/progress.h"

#define FIRST_WINDOW_TRIANGLES 64u    /* doubled while pairs are few */
#define WINDOW_PAIR_MINIMUM    65536u /* pairs a window may have in the smallest soups: 0.5 MiB */
#define RECEIVED_PAIRS         1024u  /* passed to the receiver by one call */

void carom_soup_stream_begin(carom_soup_stream *stream, carom_context *context,
                             const carom_soup *soup, carom_pairs_fn *receive, void *user) {
    *stream = (carom_soup_stream){.context = context,
                                  .soup = soup,
                                  .most = CAROM_MAX(soup->triangle_count, WINDOW_PAIR_MINIMUM),
                                  .receive = receive,
                                  .user = user};
}

carom_status carom_soup_stream_pass(carom_context *context, const uint64_t *pairs, uint64_t count,
                                    void *argument) {
    carom_soup_stream *stream = argument;
    carom_pair some[RECEIVED_PAIRS];
    (void)context;
    stream->count = count;
    for (uint64_t at = 0; at < count && !stream->stopped; at += RECEIVED_PAIRS) {
        uint64_t passed = CAROM_MIN(count - at, RECEIVED_PAIRS);
        for (uint64_t i = 0; i < passed; ++i) some[i] = carom_pair_unpack(pairs[at + i]);
        stream->stopped = stream->receive(stream->user, some, passed);
    }
    return CAROM_OK;
}

carom_status carom_soup_stream_windows(carom_soup_stream *stream, carom_soup_window_fn *search,
                                       void *argument, uint64_t *first) {
    const carom_soup *soup = stream->soup;
    uint64_t size = FIRST_WINDOW_TRIANGLES;
    while (*first < soup->triangle_count && !stream->stopped) {
        uint64_t end = CAROM_MIN(*first + size, soup->triangle_count);
        while (end < soup->triangle_count &&
               carom_soup_face(soup, (uint32_t)end) == carom_soup_face(soup, (uint32_t)end - 1))
            ++end; /* do not split a face */
        bool one_face =
            carom_soup_face(soup, (uint32_t)*first) == carom_soup_face(soup, (uint32_t)end - 1);
        carom_soup_window window = {
            .first = (uint32_t)*first, .end = (uint32_t)end, .most = one_face ? 0 : stream->most};
        CAROM_TRY(search(argument, stream, &window));
        if (window.spent) return CAROM_OK;
        if (window.overflowed) {
            size = CAROM_MAX(1, (end - *first) / 8);
            continue;
        }
        if (stream->count < stream->most / 4) size = CAROM_MIN(2 * size, soup->triangle_count);
        carom_progress_add(stream->context, 0, end - *first);
        *first = end;
    }
    return CAROM_OK;
}

carom_status carom_soup_stream_run(carom_soup_stream *stream, const char *what,
                                   carom_status (*stream_all)(carom_soup_stream *stream,
                                                              void *argument),
                                   void *argument) {
    carom_arena *scratch = carom_scratch(stream->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(stream->context, what, stream->soup->triangle_count);
    carom_status status = stream_all(stream, argument);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(stream->context, status);
}

bool carom_soup_stream_count(void *user, const carom_pair *pairs, uint64_t count) {
    (void)pairs;
    *(uint64_t *)user += count;
    return false;
}
