/* SPDX-License-Identifier: MIT */
/* soup_search.h: the search for pairs within one soup, by tree or grid, at once or in windows. */
#ifndef CAROM_SRC_SOUP_SOUP_SEARCH_H
#define CAROM_SRC_SOUP_SOUP_SEARCH_H

#include <stdatomic.h>

#include "base/pair_list.h"
#include "base/worker_state.h"
#include "soup/soup.h"

typedef struct carom_soup_search {
    carom_context *context;
    const carom_soup *soup;
    const carom_soup_grid *cells; /* NULL: the tree is searched */
    bool keep, stop_at_first;
    bool within;   /* find pairs without a common vertex that are at most `margin` apart, by tree */
    double margin; /* at least 0 */
    float reach;   /* the same in the frame of the boxes */
    bool streams;  /* in windows; the ranges of one window are not reported as progress */

    /* Windows. By tree: triangles [first, end), or all triangles if slot_of is NULL. By grid:
     * pairs whose lower face is in [first_face, end_face). */
    uint32_t first, end;
    const uint32_t *slot_of; /* each triangle's slot in the tree */
    uint32_t first_face, end_face;
    uint32_t *face_counts; /* counts of pairs by lower face; NULL: not counted */

    uint64_t most;   /* pairs a worker keeps before it gives up (`overflowed`); 0: no limit */
    uint64_t budget; /* work before all workers give up (`spent`) */
    _Atomic uint64_t work;
    _Atomic bool stop, overflowed, spent;

    carom_worker_states finders;
    uint64_t count; /* found by all workers */
} carom_soup_search;

/* Starts a search of the whole soup, by its tree or grid. */
void carom_soup_search_begin(carom_context *context, const carom_soup *soup,
                             carom_soup_search *search);

/* Runs the search, then passes to `finish`, unless it is NULL, all pairs that were kept and the
 * degenerate faces of triangles [first, end). If the search gave up, it does not call `finish` and
 * does not add to the context's work. */
carom_status carom_soup_search_run(carom_soup_search *search, carom_pair_finish_fn *finish,
                                   void *argument);

/* Runs the search as a phase of progress by the soup's tree or grid, and by a new grid if the tree
 * exceeds its budget. */
carom_status carom_soup_search_all(carom_soup_search *search, carom_pair_finish_fn *finish,
                                   void *argument);

/* Passes all pairs to `receive` window by window (soup_self.c). */
carom_status carom_soup_search_stream(carom_soup_search *search, carom_pairs_fn *receive,
                                      void *user);

/* Switches a search that spent its budget to a grid. The grid is built in the scratch of worker 0,
 * which the caller rewinds. */
carom_status carom_soup_search_on_grid(carom_soup_search *search, carom_soup_grid *cells);

#endif
