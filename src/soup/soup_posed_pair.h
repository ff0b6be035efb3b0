/* SPDX-License-Identifier: MIT */
/* soup_posed_pair.h: two posed soups, prepared for a search. */
#ifndef CAROM_SRC_SOUP_SOUP_POSED_PAIR_H
#define CAROM_SRC_SOUP_SOUP_POSED_PAIR_H

#include "bvh/bvh_obb.h"
#include "geom/length.h"
#include "geom/pose.h"
#include "geom/triangle_filter.h"
#include "geom/triangle_item.h"
#include "soup/soup_view.h"

/* The rounding of poses, m of soup_posed_pair.c: 256 unit roundoffs of the coordinates and
 * translations, and 2^8 times what a posed corner may lose by underflow. */
#define CAROM_SOUP_POSE_ERROR     0x1p-45
#define CAROM_SOUP_POSE_UNDERFLOW 0x1p-1064

/* A soup as a search sees it. */
typedef struct carom_soup_side {
    const carom_soup *soup;
    carom_soup_view view;
    uint32_t first, end; /* triangles that are searched: [first, end) */
    carom_frame frame;
    const uint32_t *items; /* triangles by slot in the tree */
    carom_obb_view tree;
    int exponent;      /* lengths times 2^exponent are lengths in the tree */
    carom_vec3 centre; /* of the tree's frame, in the soup */
    double largest;    /* at least the magnitude of every coordinate of the soup */
} carom_soup_side;

typedef struct carom_soup_posed_pair {
    carom_soup_side a, b;
    bool extreme; /* too far apart or too different in size for boxes in float32 */
    bool far;     /* float32 shows that they are apart, but hardly which triangles are nearest */
    carom_vec3 offset; /* vector from a's centre to b's, posed */
    carom_obb_move b_to_a, a_to_b;
    float slack_a, slack_b;
} carom_soup_posed_pair;

/* m before it is scaled, a length of the posed soups. */
static inline double carom_soup_pose_rounding(const carom_soup_side *a, const carom_soup_side *b) {
    double moved =
        (a->largest + b->largest) + (carom_vec_largest(a->frame.t) + carom_vec_largest(b->frame.t));
    return CAROM_SOUP_POSE_ERROR * moved + CAROM_SOUP_POSE_UNDERFLOW;
}

/* Checks soups, which must be on the CPU, and poses, and prepares the posed pair. Soups without a
 * tree have an empty one and no items.
 */
carom_status carom_soup_pose(carom_context *context, const carom_soup *a, const carom_pose *pose_a,
                             const carom_soup *b, const carom_pose *pose_b,
                             carom_soup_posed_pair *posed);

/* Restricts the posed pair to triangles [first, end) of a, for which it builds a tree. `bvh` is new
 * or from an earlier window; it takes scratch of worker 0, enough for all windows, which the caller
 * rewinds. */
carom_status carom_soup_pose_window(carom_context *context, carom_soup_posed_pair *posed,
                                    carom_bvh *bvh, uint32_t first, uint32_t end);

/* Starts a traversal at the pair of roots. */
void carom_soup_begin_traversal(const carom_soup_posed_pair *posed, carom_obb_traversal *traversal);

/* Converts a distance to a float in a's frame, rounded up, for a search for the nearest. It allows
 * for an error of a quarter of CAROM_SOUP_LIMIT_MARGIN of the bounds compared with it. */
float carom_soup_limit_of(const carom_soup_posed_pair *posed, double distance);

/* Scales a vector to a length just below 1, or returns zero if its length is out of range. */
carom_vec3 carom_soup_direction_of(carom_vec3 offset);

/* Sets the directions from a to b in a's frame and from b to a in b's frame. They are scaled down
 * further, so that as floats they are not longer than 1. */
void carom_soup_set_direction(carom_obb_traversal *traversal, const carom_soup_posed_pair *posed,
                              carom_vec3 offset);

static inline carom_triangle carom_soup_posed(const carom_soup_side *side, uint32_t triangle) {
    carom_triangle t = carom_soup_view_triangle(&side->view, triangle);
    for (int i = 0; i < 3; ++i) t.corner[i] = carom_frame_apply(&side->frame, t.corner[i]);
    return t;
}

/* Whether two posed triangles meet. Counts the pairs that the filter left undecided. */
static inline bool carom_soup_meet(const carom_triangle *a, const carom_triangle *b,
                                   uint64_t *undecided) {
    int verdict = carom_triangle_filter(a, b);
    if (verdict != CAROM_UNDECIDED) return verdict == CAROM_YES;
    ++*undecided;
    return carom_triangle_meet_exact(a, b) != 0;
}

/* Relative: gaps of boxes in float32 are too large by 2^-18 at most, because the axes of boxes may
 * be longer than 1 by rounding. */
#define CAROM_SOUP_LIMIT_MARGIN 0x1p-16
/* Relative: what is converted to a float is enlarged by it first, so that the conversion's 2^-24
 * does not make it smaller. */
#define CAROM_SOUP_FLOAT_MARGIN 0x1p-20

/* ---- All pairs of triangles ------------------------------------------------------------------ */

/* Calls fn for every two posed triangles whose boxes are at most *limit apart along each axis and
 * in the direction `along`, a vector of length at most 1 from a to b, or zero. With a direction
 * one pair may come twice. The search stops when fn returns false. For extreme and far posed pairs:
 * O(n_a n_b) where the direction does not help. Takes scratch of worker 0, which the caller
 * rewinds, because fn may take some too. */
typedef bool carom_soup_each_fn(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                                const carom_triangle *posed_b);
carom_status carom_soup_each_two(carom_context *context, const carom_soup_posed_pair *posed,
                                 carom_vec3 along, const double *limit, carom_soup_each_fn *fn,
                                 void *user);

/* ---- First pair that meets ------------------------------------------------------------------- */

/* Two triangles that meet: the same pair for the same input, found as early as possible. */
typedef struct carom_soup_first_pair {
    uint32_t a, b;
    bool any;
} carom_soup_first_pair;
carom_status carom_soup_find_first(carom_context *context, const carom_soup_posed_pair *posed,
                                   carom_soup_first_pair *first_pair); /* both have trees */

#endif
