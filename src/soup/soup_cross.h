/* SPDX-License-Identifier: MIT */
/* soup_cross.h: the search for pairs of faces of two soups, by trees or grids, at once or in
 * windows of faces of a. */
#ifndef CAROM_SRC_SOUP_SOUP_CROSS_H
#define CAROM_SRC_SOUP_SOUP_CROSS_H

#include <stdatomic.h>

#include "base/pair_list.h"
#include "soup/soup.h"
#include "soup/soup_posed_pair.h"

typedef struct carom_soup_cross {
    carom_context *context;
    const carom_soup_posed_pair *posed;
    bool first_only;
    bool within;   /* find pairs at most `margin` apart, by trees; its slack includes that */
    double margin; /* at least 0 */
    double scale;  /* of lengths, to the size of a's tree: a power of two, or 0 */
    carom_pair_finish_fn *finish; /* gets the pairs of faces; NULL: pairs are counted only */
    void *argument;
    uint64_t most;   /* pairs that a worker keeps before all give up (`overflowed`); 0: no limit */
    uint64_t budget; /* work by trees before all workers give up (`spent`); UINT64_MAX: no limit */

    bool spent;
    _Atomic bool overflowed;
    uint64_t count;                   /* pairs of triangles that meet */
    carom_soup_first_pair first_pair; /* of first_only; by grids only whether there is one */

    /* By grids. */
    const carom_soup_grid *cells; /* of one soup, g; NULL: not chosen */
    bool turned;                  /* g is b */
    carom_soup_grid made;         /* the cells, if g has none of its own */
} carom_soup_cross;

/* What a worker found. */
typedef struct carom_soup_found {
    carom_soup_cross *cross;
    carom_pair_list list;
    uint64_t count;
    carom_work work;
    carom_status status;
} carom_soup_found;

void carom_soup_found_begin(carom_soup_found *found, carom_soup_cross *cross, uint32_t worker);

/* Adds two triangles that meet, of a and of b; false if the search gives up. */
bool carom_soup_found_add(carom_soup_found *found, uint32_t a, uint32_t b);

/* Adds what another worker found. Then neither changes any more. */
void carom_soup_found_join(carom_soup_found *found, const carom_soup_found *other);

/* Adds the sum of all workers to the context's work and the count, and passes the pairs on. */
carom_status carom_soup_found_finish(const carom_soup_found *found);

/* Starts a search of the posed pair; the caller adds what it wants. */
void carom_soup_cross_begin(carom_soup_cross *cross, carom_context *context,
                            const carom_soup_posed_pair *posed);

/* Searches by trees, or by grids if a soup has a grid or the trees exceed the budget. */
carom_status carom_soup_cross_search(carom_soup_cross *cross);

/* Passes all pairs to `receive` in windows of faces of a. Changes the posed pair, which is that of
 * the search. */
carom_status carom_soup_cross_stream(carom_soup_cross *cross, carom_soup_posed_pair *posed,
                                     carom_pairs_fn *receive, void *user);

/* Chooses the grid, and builds it in scratch of worker 0, which the caller rewinds, if neither soup
 * has one. With `windows` it is that of b. */
carom_status carom_soup_cross_begin_grid(carom_soup_cross *cross, bool windows);

/* Searches by grids. Works for all soups, but not for extreme posed pairs. */
carom_status carom_soup_cross_grid(carom_soup_cross *cross);

#endif
