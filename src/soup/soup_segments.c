/* SPDX-License-Identifier: MIT */
/* Where given pairs of faces meet, as segments (geom/intersection.h).
 *
 * How many segments a pair has is known only when they are computed. So each range of pairs keeps
 * its segments in chunks of its worker's scratch, and the chunks are copied to the result in the
 * order of the ranges, which does not depend on the number of threads. */
#include "base/names.h"
#include "base/progress.h"
#include "base/threads.h"
#include "base/worker_state.h"
#include "geom/intersection.h"
#include "soup/soup_pairs.h"

#define SOUP_SEGMENTS_PAIRS_PER_RANGE 64u
#define SEGMENTS_PER_CHUNK            64u

CAROM_RESULT_FILL(carom_soup_segments);
CAROM_RESULT_DEFINE_FREE(carom_soup_segments);

CAROM_ENUM_NAMES(carom_soup_segment_kind, CAROM_SOUP_SEGMENT_KIND_COUNT, "point", "segment",
                 "outline");

typedef struct chunk {
    struct chunk *next;
    uint32_t count;
    carom_soup_segment segments[SEGMENTS_PER_CHUNK];
} chunk;

/* The segments of one range of pairs. */
typedef struct soup_segments_found {
    chunk *first, *last;
    uint64_t count;
} soup_segments_found;

typedef struct cutting {
    const carom_soup_pair_input *input;
    soup_segments_found *ranges;
    carom_worker_states workers; /* their states are empty; they rewind the scratch */
} cutting;

static bool soup_segments_worker_begin(void *user, void *state, uint32_t worker) {
    (void)user;
    (void)state;
    (void)worker;
    return true;
}

static bool soup_segments_keep(soup_segments_found *f, carom_arena *scratch,
                               const carom_soup_segment *segment) {
    if (f->last == NULL || f->last->count == SEGMENTS_PER_CHUNK) {
        chunk *fresh = CAROM_ARENA_TAKE(scratch, chunk, 1);
        if (fresh == NULL) return false;
        fresh->next = NULL;
        fresh->count = 0;
        if (f->last != NULL) f->last->next = fresh;
        if (f->last == NULL) f->first = fresh;
        f->last = fresh;
    }
    f->last->segments[f->last->count++] = *segment;
    ++f->count;
    return true;
}

static bool soup_segments_intersect(soup_segments_found *f, carom_arena *scratch, carom_pair pair,
                                    const carom_triangle *a, const carom_triangle *b) {
    carom_intersection common;
    if (carom_triangle_filter(a, b) == CAROM_NO) return true;
    carom_triangle_intersect(a, b, &common);
    for (int i = 0; i < common.count; ++i) {
        carom_soup_segment segment;
        memset(&segment, 0, sizeof(segment)); /* padding too: results are compared by bytes */
        segment.pair = pair;
        segment.kind = common.dimension == 0   ? CAROM_SOUP_SEGMENT_KIND_POINT
                       : common.dimension == 1 ? CAROM_SOUP_SEGMENT_KIND_SEGMENT
                                               : CAROM_SOUP_SEGMENT_KIND_OUTLINE;
        segment.crossing = common.interior;
        segment.p = common.end[i][0];
        segment.q = common.end[i][1];
        if (!soup_segments_keep(f, scratch, &segment)) return false;
    }
    return true;
}

static carom_status cut_range(void *argument, carom_range range) {
    cutting *c = argument;
    const carom_soup_pair_input *input = c->input;
    carom_arena *scratch = carom_scratch(input->context, range.worker);
    if (carom_worker_state(&c->workers, range.worker) == NULL) return CAROM_NO_MEMORY;
    soup_segments_found *f = &c->ranges[range.begin / SOUP_SEGMENTS_PAIRS_PER_RANGE];
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_pair pair = input->pairs[i];
        carom_soup_span a = carom_soup_span_of(input->a.soup, pair.a);
        carom_soup_span b = carom_soup_span_of(input->b.soup, pair.b);
        for (uint32_t ta = a.first; ta < a.end; ++ta) {
            carom_triangle posed_a = carom_soup_pair_triangle(&input->a, ta);
            for (uint32_t tb = b.first; tb < b.end; ++tb) {
                carom_triangle posed_b = carom_soup_pair_triangle(&input->b, tb);
                if (!soup_segments_intersect(f, scratch, pair, &posed_a, &posed_b))
                    return CAROM_NO_MEMORY;
            }
            if (carom_progress_stop(input->context, range.worker)) return CAROM_CANCELLED;
        }
    }
    carom_progress_add(input->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

static carom_status soup_segments_fill(const cutting *c, uint64_t ranges,
                                       carom_soup_segments *segments) {
    carom_context *context = c->input->context;
    uint64_t count = 0, space, at = 0;
    for (uint64_t i = 0; i < ranges; ++i) count += c->ranges[i].count;
    CAROM_TRY(carom_soup_segments_begin(context, &context->allocator, segments, count, &space));
    for (uint64_t i = 0; i < ranges && at < space; ++i) {
        for (const chunk *k = c->ranges[i].first; k != NULL && at < space; k = k->next) {
            uint64_t some = CAROM_MIN(k->count, space - at);
            memcpy(segments->data + at, k->segments, some * sizeof(*k->segments));
            at += some;
        }
    }
    return carom_soup_segments_end(segments);
}

static carom_status cut_all(const carom_soup_pair_input *input, carom_soup_segments *segments) {
    carom_context *context = input->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t ranges =
        (input->count + SOUP_SEGMENTS_PAIRS_PER_RANGE - 1) / SOUP_SEGMENTS_PAIRS_PER_RANGE;
    cutting c = {.input = input};
    carom_progress_begin(context, "finding where faces meet", input->count);
    c.ranges = CAROM_ARENA_TAKE(scratch, soup_segments_found, ranges);
    carom_status status =
        c.ranges == NULL
            ? carom_fail_memory(context, ranges * sizeof(soup_segments_found), "a search")
            : CAROM_OK;
    if (status == CAROM_OK) {
        if (ranges != 0) memset(c.ranges, 0, ranges * sizeof(soup_segments_found));
        status =
            carom_worker_states_begin(&c.workers, context, 1, soup_segments_worker_begin, NULL);
    }
    if (status == CAROM_OK) {
        status =
            carom_parallel_for(context, input->count, SOUP_SEGMENTS_PAIRS_PER_RANGE, cut_range, &c);
        if (status == CAROM_NO_MEMORY)
            status = carom_fail_memory(context, sizeof(chunk), "the segments found");
        if (status == CAROM_OK) status = soup_segments_fill(&c, ranges, segments);
        carom_worker_states_release(&c.workers);
    }
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_soup_self_segments(carom_context *context, const carom_soup *soup,
                                      const carom_pair *pairs, uint64_t count,
                                      carom_soup_segments *segments) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_RESULT(segments, "segments");
    carom_soup_pair_input input;
    CAROM_TRY(carom_soup_pair_input_self(context, soup, pairs, count, &input));
    return cut_all(&input, segments);
}

carom_status carom_soup_cross_segments(carom_context *context, const carom_soup *a,
                                       const carom_pose *pose_a, const carom_soup *b,
                                       const carom_pose *pose_b, const carom_pair *pairs,
                                       uint64_t count, carom_soup_segments *segments) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_RESULT(segments, "segments");
    carom_soup_pair_input input;
    CAROM_TRY(carom_soup_pair_input_cross(context, a, pose_a, b, pose_b, pairs, count, &input));
    return cut_all(&input, segments);
}
