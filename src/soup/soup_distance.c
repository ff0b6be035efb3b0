/* SPDX-License-Identifier: MIT */
/* The minimum distance of two soups, by branch and bound on both trees.
 *
 * First an exact search tests whether any faces meet; then the distance is 0. If none do,
 * soup_nearest.c finds the nearest two: the least of (distance, face of a, face of b). */
#include "base/progress.h"
#include "soup/soup.h"
#include "soup/soup_distance_item.h"
#include "soup/soup_nearest.h"

/* Whether the gap of two triangles along the direction of the nearest points so far is larger than
 * the distance of those points. Then the triangles need not be measured. */
static bool soup_distance_is_farther(const carom_soup_nearest *best, const carom_triangle *a,
                                     const carom_triangle *b) {
    const carom_closest *c = &best->closest;
    if (!best->any || !carom_soup_distance_usable(c)) return false;
    carom_vec3 d = carom_vec_sub(c->b, c->a);
    carom_soup_along along_a = carom_soup_along_of(c, a), along_b = carom_soup_along_of(c, b);
    return carom_soup_distance_exceeds(c, &along_a, &along_b, carom_vec_dot(d, d));
}

static bool soup_distance_measure(const void *user, const carom_soup_nearest *best,
                                  const carom_triangle *posed_a, const carom_triangle *posed_b,
                                  carom_soup_nearest *found) {
    (void)user;
    if (soup_distance_is_farther(best, posed_a, posed_b)) return false;
    carom_near_triangles(posed_a->corner, posed_b->corner, &found->closest);
    return true;
}

static double soup_distance_limit_after(const void *user, const carom_soup_nearest *best) {
    (void)user;
    return best->closest.distance;
}

/* ---- Query ----------------------------------------------------------------------------------- */

static carom_status soup_distance_find_nearest(carom_context *context,
                                               const carom_soup_posed_pair *posed, double limit,
                                               carom_soup_nearest *best) {
    carom_soup_nearest_search search = {.context = context,
                                        .posed = posed,
                                        .limit = limit,
                                        .turn = true,
                                        .measure = soup_distance_measure,
                                        .limit_after = soup_distance_limit_after};
    carom_progress_begin(context, "finding the least distance", 0);
    carom_status status = carom_soup_find_nearest_two(&search, best);
    if (best->any && best->closest.distance > limit) best->any = false;
    return carom_progress_finish(context, status);
}

carom_status carom_soup_check_limit(carom_context *context, double *limit) {
    if (!(*limit >= 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the limit of the distance is %g; it must be positive, or 0 for none",
                          *limit);
    if (*limit == 0.0) *limit = HUGE_VAL;
    return CAROM_OK;
}

carom_status carom_soup_cross_distance(carom_context *context, const carom_soup *a,
                                       const carom_pose *pose_a, const carom_soup *b,
                                       const carom_pose *pose_b, double limit,
                                       carom_soup_gap *gap) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(gap, "distance");
    *gap = (carom_soup_gap){.distance = HUGE_VAL, .face_a = CAROM_NONE, .face_b = CAROM_NONE};
    CAROM_TRY(carom_soup_check_limit(context, &limit));
    if (carom_soup_on_device(context))
        return carom_soup_device_cross_distance(
            context, &(carom_soup_device_query){a, b, pose_a, pose_b}, limit, gap);
    carom_soup_posed_pair posed;
    carom_soup_first_pair first_pair;
    carom_soup_nearest best = {.any = false};
    CAROM_TRY(carom_soup_check_ready(context, a));
    CAROM_TRY(carom_soup_check_ready(context, b));
    CAROM_TRY(carom_soup_pose(context, a, pose_a, b, pose_b, &posed));
    CAROM_TRY(carom_soup_find_first(context, &posed, &first_pair));
    if (first_pair.any) {
        carom_soup_nearest_of(&posed, first_pair.a, first_pair.b, &best);
        best.closest.distance = 0.0;
    } else {
        CAROM_TRY(soup_distance_find_nearest(context, &posed, limit, &best));
    }
    if (!best.any) return CAROM_OK;
    *gap = (carom_soup_gap){best.closest.distance, best.face_a, best.face_b, best.closest.a,
                            best.closest.b};
    return CAROM_OK;
}

/* ---- Many pairs ------------------------------------------------------------------------------ */

/* One pair after the other: each search runs on all threads. On the GPU all poses of two soups
 * together, where both have trees. */

static bool soup_distance_all_have_trees(const carom_soup_pair *pairs, uint64_t count) {
    bool all = true;
    for (uint64_t i = 0; i < count; ++i)
        all = all && pairs[i].a != NULL && pairs[i].a->method != CAROM_SOUP_METHOD_GRID &&
              pairs[i].b != NULL && pairs[i].b->method != CAROM_SOUP_METHOD_GRID;
    return all;
}

carom_status carom_soup_cross_meet_batch(carom_context *context, const carom_soup_pair *pairs,
                                         uint64_t count, bool *meet) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_OUTPUTS(meet, count, "answers");
    if (carom_soup_on_device(context) && soup_distance_all_have_trees(pairs, count))
        return carom_soup_device_meets(context, pairs, count, meet);
    for (uint64_t i = 0; i < count; ++i) {
        const carom_soup_pair *p = &pairs[i];
        carom_status status =
            carom_soup_cross_meet(context, p->a, &p->pose_a, p->b, &p->pose_b, &meet[i]);
        if (status != CAROM_OK) return carom_fail_at(context, status, "pair", i);
    }
    return CAROM_OK;
}

carom_status carom_soup_cross_distance_batch(carom_context *context, const carom_soup_pair *pairs,
                                             uint64_t count, double limit, carom_soup_gap *gaps) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_OUTPUTS(gaps, count, "distances");
    if (carom_soup_on_device(context)) {
        if (count != 0) CAROM_TRY(carom_soup_check_limit(context, &limit));
        return carom_soup_device_distances(context, pairs, count, limit, gaps);
    }
    for (uint64_t i = 0; i < count; ++i) {
        const carom_soup_pair *p = &pairs[i];
        carom_status status =
            carom_soup_cross_distance(context, p->a, &p->pose_a, p->b, &p->pose_b, limit, &gaps[i]);
        if (status != CAROM_OK) return carom_fail_at(context, status, "pair", i);
    }
    return CAROM_OK;
}
