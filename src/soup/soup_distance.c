/* SPDX-License-Identifier: MIT */
/* The minimum distance of two soups, by branch and bound on both trees.
 *
 * First an exact search tests whether any faces meet; then the distance is 0. If none do, pairs of
 * boxes are opened nearest first and skipped if they are farther apart than the nearest triangles
 * so far, or than the caller's limit. Every pair of triangles that could be as near as the nearest
 * is measured, so the result, the least of (distance, face of a, face of b), does not depend on the
 * order. */
#include "base/progress.h"
#include "bvh/bvh_obb_search.h"
#include "geom/distance_item.h"
#include "soup/soup.h"
#include "soup/soup_place.h"

typedef struct nearest {
    carom_closest closest;
    uint32_t face_a, face_b;
    uint32_t a, b; /* triangles */
    bool any;
} nearest;

typedef struct worker {
    carom_obb_worker base;
    const carom_soup_placing *placing;
    nearest best;
    uint64_t measured;
    uint32_t last_b; /* the triangle posed last */
    carom_triangle posed_b;
} worker;

/* Orders by distance, then faces, then triangles: two polygons may be nearest in several. */
static bool is_nearer(const nearest *n, const nearest *than) {
    if (!than->any) return true;
    if (n->closest.distance != than->closest.distance)
        return n->closest.distance < than->closest.distance;
    if (n->face_a != than->face_a) return n->face_a < than->face_a;
    if (n->face_b != than->face_b) return n->face_b < than->face_b;
    return n->a != than->a ? n->a < than->a : n->b < than->b;
}

static bool offer(nearest *best, const carom_soup_placing *placing, uint32_t a, uint32_t b,
                  const carom_closest *closest) {
    if (best->any && closest->distance > best->closest.distance) return false;
    nearest n = {
        *closest, carom_soup_face(placing->a.soup, a), carom_soup_face(placing->b.soup, b), a, b,
        true};
    if (!is_nearer(&n, best)) return false;
    *best = n;
    return true;
}

/* Whether the gap of two triangles along the direction of the nearest points so far is larger than
 * the distance of those points. Then the triangles need not be measured. */
static bool is_farther(const nearest *best, const carom_triangle *a, const carom_triangle *b) {
    const carom_closest *c = &best->closest;
    if (!best->any || !(c->distance > 0x1p-300 && c->distance < 0x1p300)) return false;
    carom_vec3 d = carom_vec_sub(c->b, c->a);
    double least = HUGE_VAL, size = 0.0;
    double last = -HUGE_VAL;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = carom_vec_sub(a->corner[i], c->a), q = carom_vec_sub(b->corner[i], c->a);
        double at_a = carom_vec_dot(d, p), at_b = carom_vec_dot(d, q);
        last = CAROM_MAX(at_a, last);
        least = CAROM_MIN(at_b, least);
        size = CAROM_MAX(carom_vec_largest(p), size);
        size = CAROM_MAX(carom_vec_largest(q), size);
    }
    double error = 0x1p-48 * (size + carom_vec_largest(c->a)) * c->distance;
    return least - last - error > carom_vec_dot(d, d) * (1.0 + 0x1p-40);
}

static float measure(carom_obb_traversal *traversal, uint32_t place_a, uint32_t place_b) {
    worker *w = traversal->user;
    carom_obb_search *search = w->base.search;
    const carom_soup_placing *placing = w->placing;
    uint32_t a = placing->a.items[place_a], b = placing->b.items[place_b];
    carom_triangle posed_a = carom_soup_posed(&placing->a, a);
    if (b != w->last_b) w->posed_b = carom_soup_posed(&placing->b, w->last_b = b);
    carom_closest closest;
    if (is_farther(&w->best, &posed_a, &w->posed_b))
        return atomic_load_explicit(&search->limit, memory_order_relaxed);
    carom_near_triangles(posed_a.corner, w->posed_b.corner, &closest);
    if (offer(&w->best, placing, a, b, &closest))
        carom_soup_set_direction(traversal, placing, carom_vec_sub(closest.b, closest.a));
    ++w->measured;
    return carom_obb_search_lower(search, carom_soup_limit_of(placing, closest.distance));
}

static void worker_begin(void *user, void *state) {
    const carom_soup_placing *placing = *(const carom_soup_placing **)user;
    worker *w = state;
    w->placing = placing;
    w->best.any = false;
    w->measured = 0;
    w->last_b = CAROM_BVH_NONE;
    carom_soup_begin_traversal(placing, &w->base.traversal);
    carom_soup_set_direction(&w->base.traversal, placing, placing->offset);
}

/* ---- Query ----------------------------------------------------------------------------------- */

/* Distances may be measured too large by less than this factor. */
#define LIMIT_MARGIN (1.0 + 0x1p-40)

typedef struct all_with_all {
    const carom_soup_placing *placing;
    nearest best;
    double limit;
    uint64_t measured;
} all_with_all;

static bool measure_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                        const carom_triangle *posed_b) {
    all_with_all *all = user;
    carom_closest closest;
    carom_near_triangles(posed_a->corner, posed_b->corner, &closest);
    ++all->measured;
    (void)offer(&all->best, all->placing, a, b, &closest);
    all->limit = CAROM_MIN(all->best.closest.distance * LIMIT_MARGIN, all->limit);
    return true;
}

static carom_status compare_all(carom_context *context, const carom_soup_placing *placing,
                                double limit, nearest *best) {
    all_with_all all = {.placing = placing, .limit = limit * LIMIT_MARGIN};
    carom_status status = carom_soup_each_two(
        context, placing, carom_soup_direction_of(placing->offset), &all.limit, measure_two, &all);
    context->work.candidates += all.measured;
    *best = all.best;
    return status;
}

static carom_status search_trees(carom_context *context, const carom_soup_placing *placing,
                                 double limit, nearest *best) {
    const worker *w;
    carom_obb_search search = {.context = context,
                               .state_size = sizeof(worker),
                               .user = &placing,
                               .begin = worker_begin,
                               .measure = measure,
                               .budget = UINT64_MAX,
                               .limit = carom_soup_limit_of(placing, limit)};
    CAROM_TRY(carom_obb_search_begin(&search));
    carom_status status = carom_obb_search_run(&search);
    context->work.visits += search.visits;
    for (uint32_t i = 0; (w = carom_worker_states_next(&search.states, &i)) != NULL;) {
        context->work.candidates += w->measured;
        if (w->best.any && is_nearer(&w->best, best)) *best = w->best;
    }
    carom_obb_search_end(&search);
    return status;
}

static carom_status find_nearest(carom_context *context, const carom_soup_placing *placing,
                                 double limit, nearest *best) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding the least distance", 0);
    carom_status status = placing->extreme || placing->far
                              ? compare_all(context, placing, limit, best)
                              : search_trees(context, placing, limit, best);
    if (best->any && best->closest.distance > limit) best->any = false;
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_soup_cross_distance(carom_context *context, const carom_soup *a,
                                       const carom_pose *pose_a, const carom_soup *b,
                                       const carom_pose *pose_b, double limit,
                                       carom_soup_gap *gap) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE(gap != NULL, "the place for the distance is NULL");
    *gap = (carom_soup_gap){.distance = HUGE_VAL, .face_a = CAROM_NO_FACE, .face_b = CAROM_NO_FACE};
    if (!(limit >= 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the limit of the distance is %g; it must be positive, or 0 for none",
                          limit);
    if (limit == 0.0) limit = HUGE_VAL;
    carom_soup_placing placing;
    carom_soup_meeting meeting;
    nearest best = {.any = false};
    CAROM_TRY(carom_soup_check_ready(context, a));
    CAROM_TRY(carom_soup_check_ready(context, b));
    CAROM_TRY(carom_soup_place(context, a, pose_a, b, pose_b, &placing));
    CAROM_TRY(carom_soup_find_first(context, &placing, &meeting));
    if (meeting.any) {
        carom_triangle posed_a = carom_soup_posed(&placing.a, meeting.a);
        carom_triangle posed_b = carom_soup_posed(&placing.b, meeting.b);
        carom_near_triangles(posed_a.corner, posed_b.corner, &best.closest);
        best.closest.distance = 0.0;
        best.any = true;
        best.face_a = carom_soup_face(a, meeting.a);
        best.face_b = carom_soup_face(b, meeting.b);
    } else {
        CAROM_TRY(find_nearest(context, &placing, limit, &best));
    }
    if (!best.any) return CAROM_OK;
    *gap = (carom_soup_gap){best.closest.distance, best.face_a, best.face_b, best.closest.a,
                            best.closest.b};
    return CAROM_OK;
}
