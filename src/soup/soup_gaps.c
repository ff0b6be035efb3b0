/* SPDX-License-Identifier: MIT */
/* Distances of given pairs of faces, and their nearest points.
 *
 * Whether two triangles meet is decided exactly before they are measured, so that a distance of 0
 * means that they do. Of the triangles of two polygons the nearest two count, the first of those
 * equally near. */
#include "base/progress.h"
#include "base/threads.h"
#include "soup/soup_distance_item.h"
#include "soup/soup_pairs.h"

#define SOUP_GAPS_PAIRS_PER_RANGE 64u

typedef struct soup_gaps_measuring {
    const carom_soup_pair_input *input;
    carom_soup_gap *gaps;
} soup_gaps_measuring;

static void soup_gaps_measure(const carom_triangle *a, const carom_triangle *b,
                              carom_soup_gap *gap) {
    carom_closest closest;
    carom_near_triangles(a->corner, b->corner, &closest);
    carom_soup_gap_offer(gap, &closest, carom_triangle_meet(a, b) != 0);
}

static carom_status soup_gaps_measure_range(void *argument, carom_range range) {
    const soup_gaps_measuring *m = argument;
    const carom_soup_pair_input *input = m->input;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_pair pair = input->pairs[i];
        carom_soup_span a = carom_soup_span_of(input->a.soup, pair.a);
        carom_soup_span b = carom_soup_span_of(input->b.soup, pair.b);
        carom_soup_gap gap = {.distance = HUGE_VAL, .face_a = pair.a, .face_b = pair.b};
        for (uint32_t ta = a.first; ta < a.end; ++ta) {
            carom_triangle posed_a = carom_soup_pair_triangle(&input->a, ta);
            for (uint32_t tb = b.first; tb < b.end && gap.distance > 0.0; ++tb) {
                carom_triangle posed_b = carom_soup_pair_triangle(&input->b, tb);
                soup_gaps_measure(&posed_a, &posed_b, &gap);
            }
        }
        m->gaps[i] = gap;
        if (carom_progress_stop(input->context, range.worker)) return CAROM_CANCELLED;
    }
    carom_progress_add(input->context, range.worker, range.end - range.begin);
    return CAROM_OK;
}

static carom_status soup_gaps_measure_all(const carom_soup_pair_input *input,
                                          carom_soup_gap *gaps) {
    soup_gaps_measuring m = {input, gaps};
    carom_progress_begin(input->context, "measuring pairs of faces", input->count);
    return carom_progress_finish(input->context, carom_parallel_for(input->context, input->count,
                                                                    SOUP_GAPS_PAIRS_PER_RANGE,
                                                                    soup_gaps_measure_range, &m));
}

carom_status carom_soup_self_gaps(carom_context *context, const carom_soup *soup,
                                  const carom_pair *pairs, uint64_t count, carom_soup_gap *gaps) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_OUTPUTS(gaps, count, "distances");
    carom_soup_pair_input input;
    if (carom_soup_on_device(context))
        return carom_soup_device_gaps(context, &(carom_soup_device_query){.a = soup}, pairs, count,
                                      gaps);
    CAROM_TRY(carom_soup_pair_input_self(context, soup, pairs, count, &input));
    return soup_gaps_measure_all(&input, gaps);
}

carom_status carom_soup_cross_gaps(carom_context *context, const carom_soup *a,
                                   const carom_pose *pose_a, const carom_soup *b,
                                   const carom_pose *pose_b, const carom_pair *pairs,
                                   uint64_t count, carom_soup_gap *gaps) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_OUTPUTS(gaps, count, "distances");
    carom_soup_pair_input input;
    const carom_soup_device_query query = {a, b, pose_a, pose_b};
    if (carom_soup_on_device(context))
        return carom_soup_device_gaps(context, &query, pairs, count, gaps);
    CAROM_TRY(carom_soup_pair_input_cross(context, a, pose_a, b, pose_b, pairs, count, &input));
    return soup_gaps_measure_all(&input, gaps);
}
