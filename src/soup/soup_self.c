/* SPDX-License-Identifier: MIT */
/* Queries for the pairs of one soup: list, count, or whether there are any (the problem of kDet:
 * Weller, Debowski, Zachmann 2017). */
#include "base/progress.h"
#include "soup/soup_search.h"

/* Searches by the soup's tree or grid, and by a new grid if the tree exceeds its budget. */
static carom_status run(carom_soup_search *s, carom_soup_finish_fn *finish, void *argument) {
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

static carom_status fill_result(carom_soup_search *s, void *argument) {
    uint64_t *pairs, count;
    CAROM_TRY(carom_soup_search_gather(s, &pairs, &count));
    return carom_soup_fill_pairs(s->context, pairs, count, argument);
}

carom_status carom_soup_self_pairs(carom_context *context, const carom_soup *soup,
                                   carom_pairs *pairs) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE_RESULT(pairs, "the place for the pairs");
    CAROM_TRY(carom_soup_check_any(context, soup));
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
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
    CAROM_TRY(carom_soup_check_any(context, soup));
    *count = 0;
    /* Two polygons may meet in several triangles: counting them needs the list without duplicates.
     */
    if (soup->faces != NULL) return carom_soup_self_each(context, soup, add_count, count);
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
    CAROM_TRY(run(&s, NULL, NULL));
    *count = s.count;
    if (soup->degenerate == CAROM_DEGENERATE_ALONE) *count += soup->degenerate_faces;
    return CAROM_OK;
}

carom_status carom_soup_self_any(carom_context *context, const carom_soup *soup, bool *any) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(soup != NULL, "the soup is NULL");
    CAROM_REQUIRE(any != NULL, "the place for the answer is NULL");
    CAROM_TRY(carom_soup_check_any(context, soup));
    carom_soup_search s;
    carom_soup_search_begin(context, soup, &s);
    *any = soup->degenerate == CAROM_DEGENERATE_ALONE && soup->degenerate_faces != 0;
    if (*any) return CAROM_OK;
    s.stop_at_first = true;
    CAROM_TRY(run(&s, NULL, NULL));
    *any = s.count != 0;
    return CAROM_OK;
}
