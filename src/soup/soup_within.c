/* SPDX-License-Identifier: MIT */
/* Queries for the faces of one soup, or of two, that are within a margin of each other.
 *
 * The searches are those for faces that meet, with boxes enlarged by the margin: self_node of the
 * wide tree (bvh_cpu.h), or the search of two trees with more slack (bvh_obb_search.h). Candidates
 * are decided by certificates with SIMD (soup_within_cpu.c): of two soups block by block in floats
 * first, then in batches in doubles. The rest is decided one by one, and what lies within rounding
 * of the margin in integers (geom/within.h). So ties, a distance of exactly the margin, count.
 *
 * Two polygons have a common vertex if any of their triangles do, which one pair of triangles does
 * not show. The list of pairs is sorted by the first face, so its vertices are marked once and the
 * second face of each pair is compared with the marks. */
#include "soup/soup_within.h"

#include "base/progress.h"
#include "geom/within.h"
#include "soup/soup_cross.h"
#include "soup/soup_pairs.h"
#include "soup/soup_search.h"
#include "soup/soup_stream.h"

#define WITHIN_PAIRS_PER_CHECK 65536u /* pairs between checks of the clock: about a millisecond */

/* ---- Decision -------------------------------------------------------------------------------- */

static carom_triangle soup_within_triangle_of(const carom_soup_within_batch *batch, int first,
                                              uint32_t at) {
    carom_triangle t;
    for (int i = 0; i < 3; ++i)
        t.corner[i] =
            carom_vec(batch->corner[first + 3 * i][at], batch->corner[first + 3 * i + 1][at],
                      batch->corner[first + 3 * i + 2][at]);
    return t;
}

bool carom_soup_within_decide(carom_context *context, uint32_t worker,
                              carom_soup_within_batch *batch, double margin, uint64_t *undecided) {
    uint32_t exact = 0;
    CAROM_CPU_CALL(context, carom_soup_within_filter)(batch, margin);
    for (uint64_t open = batch->open; open != 0; open &= open - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(open);
        carom_triangle a = soup_within_triangle_of(batch, 0, i),
                       b = soup_within_triangle_of(batch, 9, i);
        int verdict = carom_within_filter(&a, &b, margin);
        if (verdict == CAROM_UNDECIDED) {
            ++*undecided;
            if (exact++ % CAROM_SOUP_EXACT_PER_CHECK == 0 && carom_progress_stop(context, worker))
                return false;
            verdict = carom_within_exact(&a, &b, margin) ? CAROM_YES : CAROM_NO;
        }
        if (verdict == CAROM_YES) batch->yes |= UINT64_C(1) << i;
    }
    return true;
}

/* Of a reach and of coordinates: enlarging a box in float32 is wrong by 2^-24 of the sum, making
 * the reach a float by as much. */
#define WITHIN_FLOAT_ERROR 0x1p-22

float carom_soup_within_reach(const carom_soup *soup, double margin) {
    double most = 0.0;
    for (int k = 0; k < 3; ++k) {
        most = CAROM_MAX(fabs((double)soup->bounds.low[k]), most);
        most = CAROM_MAX(fabs((double)soup->bounds.high[k]), most);
    }
    double reach = margin * soup->scale;
    double enlarged = reach + WITHIN_FLOAT_ERROR * (reach + most) + (double)FLT_MIN;
    return enlarged < (double)FLT_MAX ? (float)enlarged : HUGE_VALF;
}

/* ---- Faces with a common vertex -------------------------------------------------------------- */

static void mark_corners(const carom_soup *soup, uint32_t face, uint64_t *marks, bool marked) {
    carom_soup_span span = carom_soup_span_of(soup, face);
    for (uint64_t i = 3 * (uint64_t)span.first; i < 3 * (uint64_t)span.end; ++i) {
        uint32_t vertex = soup->corners[i];
        if (marked)
            marks[vertex / 64] |= UINT64_C(1) << vertex % 64;
        else
            marks[vertex / 64] = 0;
    }
}

static bool has_marked(const carom_soup *soup, uint32_t face, const uint64_t *marks) {
    carom_soup_span span = carom_soup_span_of(soup, face);
    for (uint64_t i = 3 * (uint64_t)span.first; i < 3 * (uint64_t)span.end; ++i) {
        uint32_t vertex = soup->corners[i];
        if ((marks[vertex / 64] >> vertex % 64 & 1) != 0) return true;
    }
    return false;
}

carom_status carom_soup_within_remove_neighbours(carom_context *context, const carom_soup *soup,
                                                 uint64_t *pairs, uint64_t *count) {
    uint64_t words = soup->vertex_count / 64 + 1, kept = 0;
    uint64_t *marks = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint64_t, words);
    if (marks == NULL) return carom_fail_memory(context, words * sizeof(*marks), "a search");
    memset(marks, 0, words * sizeof(*marks));
    for (uint64_t i = 0; i < *count; ++i) {
        if (i % WITHIN_PAIRS_PER_CHECK == 0 && carom_progress_stop(context, 0))
            return CAROM_CANCELLED;
        carom_pair pair = carom_pair_unpack(pairs[i]);
        bool is_new = i == 0 || carom_pair_unpack(pairs[i - 1]).a != pair.a;
        if (is_new) mark_corners(soup, pair.a, marks, true);
        if (!has_marked(soup, pair.b, marks)) pairs[kept++] = pairs[i];
        bool is_last = i + 1 == *count || carom_pair_unpack(pairs[i + 1]).a != pair.a;
        if (is_last) mark_corners(soup, pair.a, marks, false);
    }
    *count = kept;
    return CAROM_OK;
}

/* ---- One soup -------------------------------------------------------------------------------- */

static carom_status check_margin(carom_context *context, double margin) {
    if (margin >= 0.0 && margin <= DBL_MAX) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the margin is %g; it must be a finite number that is not negative", margin);
}

/* The same of a context of backend cuda, for the queries below. */
static carom_status within_on_device(carom_context *context, const carom_soup_device_query *query,
                                     double margin, carom_pair_finish_fn *finish, void *argument) {
    CAROM_TRY(check_margin(context, margin));
    return carom_soup_device_within(context, query, margin, finish, argument);
}

static carom_status within_count_here(carom_context *context, const uint64_t *pairs, uint64_t count,
                                      void *argument) {
    (void)context;
    (void)pairs;
    *(uint64_t *)argument = count;
    return CAROM_OK;
}

static carom_status within_any_here(carom_context *context, const uint64_t *pairs, uint64_t count,
                                    void *argument) {
    (void)context;
    (void)pairs;
    *(bool *)argument = count != 0;
    return CAROM_OK;
}

/* Who receives pairs one batch after the other. */
typedef struct within_receiver {
    carom_pairs_fn *receive;
    void *user;
} within_receiver;

#define WITHIN_PER_BATCH 1024u

static carom_status within_each_here(carom_context *context, const uint64_t *pairs, uint64_t count,
                                     void *argument) {
    const within_receiver *r = argument;
    carom_pair batch[WITHIN_PER_BATCH];
    (void)context;
    for (uint64_t at = 0; at < count; at += WITHIN_PER_BATCH) {
        uint64_t some = CAROM_MIN(count - at, WITHIN_PER_BATCH);
        for (uint64_t i = 0; i < some; ++i) batch[i] = carom_pair_unpack(pairs[at + i]);
        if (r->receive(r->user, batch, some)) break;
    }
    return CAROM_OK;
}

static carom_status begin_self(carom_context *context, const carom_soup *soup, double margin,
                               carom_soup_search *search) {
    CAROM_TRY(check_margin(context, margin));
    CAROM_TRY(carom_soup_check_ready(context, soup));
    carom_soup_search_begin(context, soup, search);
    search->budget = UINT64_MAX; /* a grid could not take over */
    search->within = true;
    search->margin = margin;
    search->reach = carom_soup_within_reach(soup, margin);
    return CAROM_OK;
}

carom_status carom_soup_self_pairs_within(carom_context *context, const carom_soup *soup,
                                          double margin, carom_pairs *pairs) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){.a = soup}, margin,
                                carom_pair_list_fill, pairs);
    carom_soup_search search;
    CAROM_TRY(begin_self(context, soup, margin, &search));
    search.keep = true;
    return carom_soup_search_all(&search, carom_pair_list_fill, pairs);
}

carom_status carom_soup_self_count_within(carom_context *context, const carom_soup *soup,
                                          double margin, uint64_t *count) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_OUTPUT(count, "count");
    carom_soup_search search;
    *count = 0;
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){.a = soup}, margin,
                                within_count_here, count);
    CAROM_TRY(begin_self(context, soup, margin, &search));
    /* Polygons are found in several triangles, and with neighbours. */
    if (soup->faces != NULL)
        return carom_soup_search_stream(&search, carom_soup_stream_count, count);
    CAROM_TRY(carom_soup_search_all(&search, NULL, NULL));
    *count = search.count;
    return CAROM_OK;
}

static bool soup_within_stop_at_first(void *user, const carom_pair *pairs, uint64_t count) {
    (void)pairs;
    *(bool *)user = count != 0;
    return count != 0;
}

carom_status carom_soup_self_meet_within(carom_context *context, const carom_soup *soup,
                                         double margin, bool *any) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_OUTPUT(any, "answer");
    carom_soup_search search;
    *any = false;
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){.a = soup}, margin,
                                within_any_here, any);
    CAROM_TRY(begin_self(context, soup, margin, &search));
    if (soup->faces != NULL)
        return carom_soup_search_stream(&search, soup_within_stop_at_first, any);
    search.stop_at_first = true;
    CAROM_TRY(carom_soup_search_all(&search, NULL, NULL));
    *any = search.count != 0;
    return CAROM_OK;
}

carom_status carom_soup_self_each_within(carom_context *context, const carom_soup *soup,
                                         double margin, carom_pairs_fn *receive, void *user) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_INPUT(receive, "receiver");
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){.a = soup}, margin,
                                within_each_here, &(within_receiver){receive, user});
    carom_soup_search search;
    CAROM_TRY(begin_self(context, soup, margin, &search));
    return carom_soup_search_stream(&search, receive, user);
}

/* ---- Two soups ------------------------------------------------------------------------------- */

/* Far above all that boxes reach (soup_posed_pair.c), far below the gap to CAROM_OBB_NOWHERE. */
#define WITHIN_SLACK_LIMIT 0x1p80

/* Of a scale: such a power of two is a double with an inverse, and so are its products with lengths
 * of the soup. */
#define WITHIN_EXPONENT_LIMIT 1000

/* Adds the margin to the slack. Axes of boxes may be longer than 1 by rounding, and so may gaps. */
static float soup_within_widen(float slack, double margin, int exponent) {
    double sum =
        (double)slack + carom_scale_apply(margin, exponent) * (1.0 + CAROM_SOUP_LIMIT_MARGIN);
    return sum < WITHIN_SLACK_LIMIT ? (float)(sum * (1.0 + CAROM_SOUP_FLOAT_MARGIN))
                                    : (float)WITHIN_SLACK_LIMIT;
}

static carom_status begin_cross(carom_context *context, const carom_soup *a,
                                const carom_pose *pose_a, const carom_soup *b,
                                const carom_pose *pose_b, double margin,
                                carom_soup_posed_pair *posed, carom_soup_cross *cross) {
    CAROM_TRY(check_margin(context, margin));
    CAROM_TRY(carom_soup_check_ready(context, a));
    CAROM_TRY(carom_soup_check_ready(context, b));
    CAROM_TRY(carom_soup_pose(context, a, pose_a, b, pose_b, posed));
    if (!posed->extreme) {
        posed->slack_a = soup_within_widen(posed->slack_a, margin, posed->a.exponent);
        posed->slack_b = soup_within_widen(posed->slack_b, margin, posed->b.exponent);
    }
    carom_soup_cross_begin(cross, context, posed);
    cross->budget = UINT64_MAX;
    cross->within = true;
    cross->margin = margin;
    int exponent = posed->a.exponent;
    cross->scale = exponent > -WITHIN_EXPONENT_LIMIT && exponent < WITHIN_EXPONENT_LIMIT
                       ? carom_power_of_two(exponent)
                       : 0.0;
    return CAROM_OK;
}

carom_status carom_soup_cross_pairs_within(carom_context *context, const carom_soup *a,
                                           const carom_pose *pose_a, const carom_soup *b,
                                           const carom_pose *pose_b, double margin,
                                           carom_pairs *pairs) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){a, b, pose_a, pose_b}, margin,
                                carom_pair_list_fill, pairs);
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    CAROM_TRY(begin_cross(context, a, pose_a, b, pose_b, margin, &posed, &cross));
    cross.finish = carom_pair_list_fill;
    cross.argument = pairs;
    return carom_soup_cross_search(&cross);
}

carom_status carom_soup_cross_count_within(carom_context *context, const carom_soup *a,
                                           const carom_pose *pose_a, const carom_soup *b,
                                           const carom_pose *pose_b, double margin,
                                           uint64_t *count) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(count, "count");
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    *count = 0;
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){a, b, pose_a, pose_b}, margin,
                                within_count_here, count);
    CAROM_TRY(begin_cross(context, a, pose_a, b, pose_b, margin, &posed, &cross));
    /* Two polygons may be near in several triangles. */
    if (a->faces != NULL || b->faces != NULL)
        return carom_soup_cross_stream(&cross, &posed, carom_soup_stream_count, count);
    CAROM_TRY(carom_soup_cross_search(&cross));
    *count = cross.count;
    return CAROM_OK;
}

carom_status carom_soup_cross_meet_within(carom_context *context, const carom_soup *a,
                                          const carom_pose *pose_a, const carom_soup *b,
                                          const carom_pose *pose_b, double margin, bool *any) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(any, "answer");
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    *any = false;
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){a, b, pose_a, pose_b}, margin,
                                within_any_here, any);
    CAROM_TRY(begin_cross(context, a, pose_a, b, pose_b, margin, &posed, &cross));
    cross.first_only = true;
    CAROM_TRY(carom_soup_cross_search(&cross));
    *any = cross.first_pair.any;
    return CAROM_OK;
}

carom_status carom_soup_cross_each_within(carom_context *context, const carom_soup *a,
                                          const carom_pose *pose_a, const carom_soup *b,
                                          const carom_pose *pose_b, double margin,
                                          carom_pairs_fn *receive, void *user) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_INPUT(receive, "receiver");
    if (carom_soup_on_device(context))
        return within_on_device(context, &(carom_soup_device_query){a, b, pose_a, pose_b}, margin,
                                within_each_here, &(within_receiver){receive, user});
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    CAROM_TRY(begin_cross(context, a, pose_a, b, pose_b, margin, &posed, &cross));
    return carom_soup_cross_stream(&cross, &posed, receive, user);
}
