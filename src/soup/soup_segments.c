/* SPDX-License-Identifier: MIT */
/* Where given pairs of faces meet, as segments (geom/intersection.h).
 *
 * How many segments a pair has is known only when they are computed. So each range of pairs keeps
 * its segments in chunks of its worker's scratch, and the chunks are copied to the result in the
 * order of the ranges, which does not depend on the number of threads. A GPU finds the segments of
 * some millions of pairs at a time (soup_segments_cuda.h). */
#include <stdlib.h>

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

/* Adds the segments of a pair. */
static carom_status cut_pair(const carom_soup_pair_input *input, carom_pair pair, uint32_t worker,
                             soup_segments_found *f) {
    carom_arena *scratch = carom_scratch(input->context, worker);
    carom_soup_span a = carom_soup_span_of(input->a.soup, pair.a);
    carom_soup_span b = carom_soup_span_of(input->b.soup, pair.b);
    for (uint32_t ta = a.first; ta < a.end; ++ta) {
        carom_triangle posed_a = carom_soup_pair_triangle(&input->a, ta);
        for (uint32_t tb = b.first; tb < b.end; ++tb) {
            carom_triangle posed_b = carom_soup_pair_triangle(&input->b, tb);
            if (!soup_segments_intersect(f, scratch, pair, &posed_a, &posed_b))
                return CAROM_NO_MEMORY;
        }
        if (carom_progress_stop(input->context, worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

static carom_status cut_range(void *argument, carom_range range) {
    cutting *c = argument;
    const carom_soup_pair_input *input = c->input;
    if (carom_worker_state(&c->workers, range.worker) == NULL) return CAROM_NO_MEMORY;
    soup_segments_found *f = &c->ranges[range.begin / SOUP_SEGMENTS_PAIRS_PER_RANGE];
    for (uint64_t i = range.begin; i < range.end; ++i)
        CAROM_TRY(cut_pair(input, input->pairs[i], range.worker, f));
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

/* ---- On the GPU ------------------------------------------------------------------------------ */

/* Pairs searched at a time. */
#define SEGMENTS_PAIRS_ON_DEVICE 4194304u

/* What the GPU found of some pairs, in scratch of worker 0. */
typedef struct device_cut {
    const carom_soup_segment *segments;
    const uint32_t *starts; /* of the pairs, and the end */
    uint32_t *rest;         /* sorted: pairs whose segments are in `found` */
    soup_segments_found *found;
    uint64_t pairs, rest_count, count; /* the last of all segments */
} device_cut;

static int compare_pairs(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The pairs that integers on the device are too short for. */
static carom_status cut_rest(const carom_soup_pair_input *input, uint64_t first, device_cut *cut) {
    carom_context *context = input->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_soup_view a, b;
    carom_soup_pair_input here = *input;
    cut->found = CAROM_ARENA_TAKE(scratch, soup_segments_found, cut->rest_count + 1);
    if (cut->found == NULL) return carom_fail_memory(context, 0, "the segments found");
    memset(cut->found, 0, (cut->rest_count + 1) * sizeof(*cut->found));
    if (cut->rest_count == 0) return CAROM_OK;
    qsort(cut->rest, cut->rest_count, sizeof(*cut->rest), compare_pairs);
    CAROM_TRY(carom_soup_get_current_view(context, input->a.soup, &a));
    CAROM_TRY(carom_soup_get_current_view(context, input->b.soup, &b));
    here.a.positions = a.positions;
    here.b.positions = b.positions;
    for (uint64_t i = 0; i < cut->rest_count; ++i) {
        carom_status status =
            cut_pair(&here, input->pairs[first + cut->rest[i]], 0, &cut->found[i]);
        if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "the segments found");
        if (status != CAROM_OK) return status;
        cut->count += cut->found[i].count;
    }
    return CAROM_OK;
}

/* Reads what is on the device, which the next query overwrites. */
static carom_status read_cut(carom_context *context, const carom_device_segments *result,
                             device_cut *cut) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint32_t *starts = CAROM_ARENA_TAKE(scratch, uint32_t, cut->pairs + 1);
    cut->rest = CAROM_ARENA_TAKE(scratch, uint32_t, result->rest_count + 1);
    if (starts == NULL || cut->rest == NULL)
        return carom_fail_memory(context, 0, "the segments found");
    CAROM_TRY(carom_cuda_read(context, starts, result->starts, (cut->pairs + 1) * sizeof(*starts)));
    CAROM_TRY(
        carom_cuda_read(context, cut->rest, result->rest, result->rest_count * sizeof(*cut->rest)));
    cut->starts = starts;
    cut->rest_count = result->rest_count;
    cut->count = starts[cut->pairs];
    carom_soup_segment *segments = CAROM_ARENA_TAKE(scratch, carom_soup_segment, cut->count + 1);
    if (segments == NULL) return carom_fail_memory(context, 0, "the segments found");
    cut->segments = segments;
    return carom_cuda_read(context, segments, result->segments, cut->count * sizeof(*segments));
}

/* Appends some segments to a result with room for `space`. */
static void append_segments(carom_soup_segments *to, uint64_t space, uint64_t *at,
                            const carom_soup_segment *from, uint64_t count) {
    uint64_t some = CAROM_MIN(count, space - *at);
    if (some != 0) memcpy(to->data + *at, from, some * sizeof(*from));
    *at += some;
}

/* Segments of the device, with those of the pairs of the rest between them. */
static void append_cut(const device_cut *cut, uint64_t space, uint64_t *at,
                       carom_soup_segments *to) {
    uint32_t from = 0;
    for (uint64_t i = 0; i < cut->rest_count; ++i) {
        uint32_t start = cut->starts[cut->rest[i]];
        append_segments(to, space, at, cut->segments + from, start - from);
        for (const chunk *k = cut->found[i].first; k != NULL; k = k->next)
            append_segments(to, space, at, k->segments, k->count);
        from = start;
    }
    append_segments(to, space, at, cut->segments + from, cut->starts[cut->pairs] - from);
}

static carom_status cut_on_device(const carom_soup_pair_input *input, device_cut *cuts,
                                  uint64_t *all) {
    carom_context *context = input->context;
    carom_device_segments result;
    *all = 0;
    for (uint64_t at = 0; at < input->count; at += SEGMENTS_PAIRS_ON_DEVICE) {
        device_cut *cut = &cuts[at / SEGMENTS_PAIRS_ON_DEVICE];
        *cut = (device_cut){.pairs = CAROM_MIN(input->count - at, SEGMENTS_PAIRS_ON_DEVICE)};
        CAROM_TRY(carom_soup_device_find_segments(input, at, cut->pairs, &result));
        CAROM_TRY(read_cut(context, &result, cut));
        CAROM_TRY(cut_rest(input, at, cut));
        context->work.undecided += cut->rest_count;
        *all += cut->count;
        if (carom_progress_stop(context, 0)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

static carom_status cut_all_on_device(const carom_soup_pair_input *input,
                                      carom_soup_segments *segments) {
    carom_context *context = input->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t all = 0, space, at = 0, parts = input->count / SEGMENTS_PAIRS_ON_DEVICE + 1;
    context->work = (carom_work){0};
    carom_progress_begin(context, "finding where faces meet", 0);
    device_cut *cuts = CAROM_ARENA_TAKE(scratch, device_cut, parts);
    carom_status status = cuts != NULL ? cut_on_device(input, cuts, &all)
                                       : carom_fail_memory(context, 0, "the segments found");
    if (status == CAROM_OK)
        status = carom_soup_segments_begin(context, &context->allocator, segments, all, &space);
    for (uint64_t i = 0; status == CAROM_OK && i * SEGMENTS_PAIRS_ON_DEVICE < input->count; ++i)
        append_cut(&cuts[i], space, &at, segments);
    if (status == CAROM_OK) status = carom_soup_segments_end(segments);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static carom_status cut_here(const carom_soup_pair_input *input, carom_soup_segments *segments) {
    return carom_soup_on_device(input->context) ? cut_all_on_device(input, segments)
                                                : cut_all(input, segments);
}

carom_status carom_soup_self_segments(carom_context *context, const carom_soup *soup,
                                      const carom_pair *pairs, uint64_t count,
                                      carom_soup_segments *segments) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_RESULT(segments, "segments");
    carom_soup_pair_input input;
    CAROM_TRY(carom_soup_pair_input_self_here(context, soup, pairs, count, &input));
    return cut_here(&input, segments);
}

carom_status carom_soup_cross_segments(carom_context *context, const carom_soup *a,
                                       const carom_pose *pose_a, const carom_soup *b,
                                       const carom_pose *pose_b, const carom_pair *pairs,
                                       uint64_t count, carom_soup_segments *segments) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_RESULT(segments, "segments");
    carom_soup_pair_input input;
    CAROM_TRY(
        carom_soup_pair_input_cross_here(context, a, pose_a, b, pose_b, pairs, count, &input));
    return cut_here(&input, segments);
}
