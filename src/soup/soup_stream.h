/* SPDX-License-Identifier: MIT */
/* soup_stream.h: passing pairs to a receiver in ascending order, window by window. */
#ifndef CAROM_SRC_SOUP_SOUP_STREAM_H
#define CAROM_SRC_SOUP_SOUP_STREAM_H

#include "base/pair_list.h"
#include "soup/soup.h"

typedef struct carom_soup_stream {
    carom_context *context;
    const carom_soup *soup; /* whose triangles are divided into windows */
    uint64_t most;          /* pairs of a window that the scratch holds */
    carom_pairs_fn *receive;
    void *user;
    uint64_t count; /* pairs of the last window */
    bool stopped;   /* by the receiver */
} carom_soup_stream;

/* Triangles [first, end), which are whole faces. */
typedef struct carom_soup_window {
    uint32_t first, end;
    uint64_t most;   /* pairs that a worker keeps before it gives up; 0: no limit */
    bool overflowed; /* set by the search: it gave up because of too many pairs */
    bool spent;      /* set by the search: it gave up because its budget is spent */
} carom_soup_window;

void carom_soup_stream_begin(carom_soup_stream *stream, carom_context *context,
                             const carom_soup *soup, carom_pairs_fn *receive, void *user);

/* Passes sorted pairs to the receiver; the argument is the stream. */
carom_pair_finish_fn carom_soup_stream_pass;

/* Calls `search` for windows from triangle *first on, until all are done, the receiver stops it or
 * the budget is spent. `search` passes the pairs of the window to carom_soup_stream_pass, or says
 * why it gave up. *first is then the first triangle not done. */
typedef carom_status carom_soup_window_fn(void *search, carom_soup_stream *stream,
                                          carom_soup_window *window);
carom_status carom_soup_stream_windows(carom_soup_stream *stream, carom_soup_window_fn *search,
                                       void *argument, uint64_t *first);

/* Calls `stream_all` as a phase of progress with triangles as units, and rewinds the scratch that
 * it takes. */
carom_status carom_soup_stream_run(carom_soup_stream *stream, const char *what,
                                   carom_status (*stream_all)(carom_soup_stream *stream,
                                                              void *argument),
                                   void *argument);

/* A carom_pairs_fn that adds up the counts in a uint64_t. */
carom_pairs_fn carom_soup_stream_count;

#endif
