/* SPDX-License-Identifier: MIT */
/* soup_pairs.h: given pairs of faces of one soup or of two, whose triangles are looked at again. */
#ifndef CAROM_SRC_SOUP_SOUP_PAIRS_H
#define CAROM_SRC_SOUP_SOUP_PAIRS_H

#include "soup/soup.h"
#include "soup/soup_posed_pair.h"

typedef struct carom_soup_pair_side {
    const carom_soup *soup;
    const void *positions; /* of the soup; of one on the GPU NULL until the host needs them */
    bool posed;            /* false: the identity, which changes no bit */
    carom_frame frame;
} carom_soup_pair_side;

typedef struct carom_soup_pair_input {
    carom_context *context;
    carom_soup_pair_side a, b;
    const carom_pair *pairs;
    uint64_t count;
    bool self; /* both are one soup; set on the GPU */
} carom_soup_pair_input;

/* Check the soups, poses and faces. */
carom_status carom_soup_pair_input_self(carom_context *context, const carom_soup *soup,
                                        const carom_pair *pairs, uint64_t count,
                                        carom_soup_pair_input *input);
carom_status carom_soup_pair_input_cross(carom_context *context, const carom_soup *a,
                                         const carom_pose *pose_a, const carom_soup *b,
                                         const carom_pose *pose_b, const carom_pair *pairs,
                                         uint64_t count, carom_soup_pair_input *input);

/* The same for a context of any backend. */
carom_status carom_soup_pair_input_self_here(carom_context *context, const carom_soup *soup,
                                             const carom_pair *pairs, uint64_t count,
                                             carom_soup_pair_input *input);
carom_status carom_soup_pair_input_cross_here(carom_context *context, const carom_soup *a,
                                              const carom_pose *pose_a, const carom_soup *b,
                                              const carom_pose *pose_b, const carom_pair *pairs,
                                              uint64_t count, carom_soup_pair_input *input);

/* Finds on the GPU where pairs [first, first + count) of the input meet. */
carom_status carom_soup_device_find_segments(const carom_soup_pair_input *input, uint64_t first,
                                             uint64_t count, carom_device_segments *result);

/* Checks the faces of an input whose other members are set. */
carom_status carom_soup_pair_input_check(carom_soup_pair_input *input);

/* The triangles [first, end) of a face; none if there is no such face. */
typedef struct carom_soup_span {
    uint32_t first, end;
} carom_soup_span;
carom_soup_span carom_soup_span_of(const carom_soup *soup, uint32_t face);

static inline carom_triangle carom_soup_pair_triangle(const carom_soup_pair_side *side,
                                                      uint32_t triangle) {
    const uint32_t *corners = side->soup->corners + 3 * (uint64_t)triangle;
    carom_triangle t;
    for (int i = 0; i < 3; ++i) {
        t.corner[i] = carom_soup_read_position(side->positions, side->soup->scalar, corners[i]);
        if (side->posed) t.corner[i] = carom_frame_apply(&side->frame, t.corner[i]);
    }
    return t;
}

#endif
