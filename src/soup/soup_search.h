/* SPDX-License-Identifier: MIT */
/* soup_search.h: the search for pairs of one soup, by tree or grid, whole or in windows. */
#ifndef CAROM_SRC_SOUP_SOUP_SEARCH_H
#define CAROM_SRC_SOUP_SOUP_SEARCH_H

#include <stdatomic.h>

#include "soup/soup.h"
#include "soup/soup_found.h"

typedef struct carom_soup_finder carom_soup_finder;

typedef struct carom_soup_search {
    carom_context *context;
    const carom_soup *soup;
    const carom_soup_grid *cells; /* NULL: the tree is searched */
    bool keep, stop_at_first;
    bool streams; /* in windows, whose progress is not that of the ranges of one of them */

    /* Windows. By tree: triangles [first, end), all of them without place_of. By grid: pairs whose
     * lower face is in [first_face, end_face). */
    uint32_t first, end;
    const uint32_t *place_of; /* each triangle's place in the tree */
    uint32_t first_face, end_face;
    uint32_t *face_counts; /* where to count pairs by lower face; NULL: nowhere */

    uint64_t most;   /* pairs a worker keeps before it gives up (`crowded`); 0: any number */
    uint64_t budget; /* work before all give up (`spent`) */
    _Atomic uint64_t work;
    _Atomic bool stop, crowded, spent;

    carom_soup_finder **finders; /* one a worker, NULL until it has worked */
    carom_arena_mark *marks;
    uint64_t count; /* found by all workers */
} carom_soup_search;

/* A search of everything by what the soup holds. */
void carom_soup_search_begin(carom_context *context, const carom_soup *soup,
                             carom_soup_search *search);

/* Searches and hands what was found to `finish` (NULL: nobody) before the scratch is given back;
 * not when the search was given up. Adds to the context's work unless given up. */
typedef carom_status carom_soup_finish_fn(carom_soup_search *search, void *argument);
carom_status carom_soup_search_run(carom_soup_search *search, carom_soup_finish_fn *finish,
                                   void *argument);

/* Puts a search that spent its budget on a grid, made in the scratch of worker 0 for the caller to
 * rewind. */
carom_status carom_soup_search_on_grid(carom_soup_search *search, carom_soup_grid *cells);

/* For `finish`: all that the workers found, and degenerate faces of triangles [first, end), sorted,
 * in scratch. */
carom_status carom_soup_search_gather(carom_soup_search *search, uint64_t **pairs, uint64_t *count);

#endif
