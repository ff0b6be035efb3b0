/* SPDX-License-Identifier: MIT */
/* Given pairs of faces: which triangles they consist of, and whether they are there.
 *
 * Triangles are stored in the order of their faces, so those of a face are found by bisection. */
#include "soup/soup_pairs.h"

#include "base/threads.h"

#define SOUP_PAIRS_PER_RANGE 4096u

carom_soup_span carom_soup_span_of(const carom_soup *soup, uint32_t face) {
    if (soup->faces == NULL) {
        uint32_t first = CAROM_MIN(face, soup->triangle_count);
        return (carom_soup_span){first, face < soup->triangle_count ? first + 1 : first};
    }
    uint32_t low = 0, high = soup->triangle_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (soup->faces[middle] < face)
            low = middle + 1;
        else
            high = middle;
    }
    carom_soup_span span = {low, low};
    while (span.end < soup->triangle_count && soup->faces[span.end] == face) ++span.end;
    return span;
}

static bool is_there(const carom_soup *soup, uint32_t face) {
    carom_soup_span span = carom_soup_span_of(soup, face);
    return span.first < span.end && (soup->states[span.first] & CAROM_SOUP_DEAD) == 0;
}

static carom_status soup_pairs_check_range(void *argument, carom_range range) {
    const carom_soup_pair_input *input = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        if (!is_there(input->a.soup, input->pairs[i].a) ||
            !is_there(input->b.soup, input->pairs[i].b))
            return CAROM_BAD_INPUT;
    return CAROM_OK;
}

carom_status carom_soup_pair_input_check(carom_soup_pair_input *input) {
    carom_context *context = input->context;
    carom_status status = carom_parallel_for(context, input->count, SOUP_PAIRS_PER_RANGE,
                                             soup_pairs_check_range, input);
    if (status != CAROM_BAD_INPUT) return status;
    for (uint64_t i = 0; i < input->count; ++i) {
        carom_pair pair = input->pairs[i];
        bool has_a = is_there(input->a.soup, pair.a);
        if (has_a && is_there(input->b.soup, pair.b)) continue;
        return carom_fail(context, CAROM_BAD_INPUT,
                          "pair %llu names face %u, which is removed or not one of the %u faces",
                          (unsigned long long)i, has_a ? pair.b : pair.a,
                          has_a ? input->b.soup->face_count : input->a.soup->face_count);
    }
    return status;
}

carom_status carom_soup_pair_input_self(carom_context *context, const carom_soup *soup,
                                        const carom_pair *pairs, uint64_t count,
                                        carom_soup_pair_input *input) {
    CAROM_TRY(carom_soup_check_any(context, soup));
    context->work = (carom_work){0};
    *input = (carom_soup_pair_input){.context = context,
                                     .a = {.soup = soup, .positions = soup->positions},
                                     .b = {.soup = soup, .positions = soup->positions},
                                     .pairs = pairs,
                                     .count = count};
    return carom_soup_pair_input_check(input);
}

carom_status carom_soup_pair_input_cross(carom_context *context, const carom_soup *a,
                                         const carom_pose *pose_a, const carom_soup *b,
                                         const carom_pose *pose_b, const carom_pair *pairs,
                                         uint64_t count, carom_soup_pair_input *input) {
    carom_soup_posed_pair posed; /* checks the poses */
    CAROM_TRY(carom_soup_check_any(context, a));
    CAROM_TRY(carom_soup_check_any(context, b));
    CAROM_TRY(carom_soup_pose(context, a, pose_a, b, pose_b, &posed));
    context->work = (carom_work){0};
    *input = (carom_soup_pair_input){.context = context,
                                     .a = {a, a->positions, true, posed.a.frame},
                                     .b = {b, b->positions, true, posed.b.frame},
                                     .pairs = pairs,
                                     .count = count};
    return carom_soup_pair_input_check(input);
}

carom_status carom_soup_pair_input_self_here(carom_context *context, const carom_soup *soup,
                                             const carom_pair *pairs, uint64_t count,
                                             carom_soup_pair_input *input) {
    if (!carom_soup_on_device(context))
        return carom_soup_pair_input_self(context, soup, pairs, count, input);
    CAROM_TRY(carom_soup_check_here(context, soup));
    *input = (carom_soup_pair_input){.context = context,
                                     .a = {.soup = soup},
                                     .b = {.soup = soup},
                                     .pairs = pairs,
                                     .count = count,
                                     .self = true};
    return carom_soup_pair_input_check(input);
}

carom_status carom_soup_pair_input_cross_here(carom_context *context, const carom_soup *a,
                                              const carom_pose *pose_a, const carom_soup *b,
                                              const carom_pose *pose_b, const carom_pair *pairs,
                                              uint64_t count, carom_soup_pair_input *input) {
    if (!carom_soup_on_device(context))
        return carom_soup_pair_input_cross(context, a, pose_a, b, pose_b, pairs, count, input);
    CAROM_TRY(carom_soup_check_here(context, a));
    CAROM_TRY(carom_soup_check_here(context, b));
    CAROM_TRY(carom_soup_check_pose(context, pose_a, "the pose of a"));
    CAROM_TRY(carom_soup_check_pose(context, pose_b, "the pose of b"));
    *input = (carom_soup_pair_input){.context = context,
                                     .a = {a, NULL, true, carom_frame_make(pose_a)},
                                     .b = {b, NULL, true, carom_frame_make(pose_b)},
                                     .pairs = pairs,
                                     .count = count};
    return carom_soup_pair_input_check(input);
}
