/* SPDX-License-Identifier: MIT */
/* The minimum distance of two soups, by branch and bound on both trees.
 *
 * First an exact search tests whether any faces meet; then the distance is 0. If none do, pairs of
 * boxes are opened nearest first and skipped if they are farther apart than the nearest triangles
 * so far. Every pair of triangles that could be as near as the nearest is measured, so the result,
 * the least of (distance, face of a, face of b), does not depend on the order. */
#include "base/progress.h"
#include "base/threads.h"
#include "bvh/bvh_obb_cpu.h"
#include "geom/distance_item.h"
#include "soup/soup_place.h"

#define ALONE_VISITS   2048u
#define VISITS_AT_ONCE 8192u /* between clock checks: some milliseconds */

typedef struct nearest {
    carom_closest closest;
    uint32_t face_a, face_b;
    bool any;
} nearest;

typedef struct search {
    carom_context *context;
    const carom_soup_placing *placing;
    _Atomic double limit; /* the least distance found by any worker */
    carom_obb_pair tasks[CAROM_OBB_STACK];
    struct seeker **seekers;
    carom_arena_mark *marks;
} search;

typedef struct seeker {
    carom_obb_walk walk;
    search *search;
    nearest best;
    uint64_t measured;
    uint32_t last_b; /* the triangle posed last */
    carom_triangle posed_b;
} seeker;

static bool is_nearer(const nearest *than, double distance, uint32_t a, uint32_t b) {
    if (!than->any || distance != than->closest.distance)
        return !than->any || distance < than->closest.distance;
    return a != than->face_a ? a < than->face_a : b < than->face_b;
}

static bool offer(nearest *best, const carom_soup_placing *placing, uint32_t a, uint32_t b,
                  const carom_closest *closest) {
    uint32_t face_a = carom_soup_face(placing->a.soup, a);
    uint32_t face_b = carom_soup_face(placing->b.soup, b);
    if (!is_nearer(best, closest->distance, face_a, face_b)) return false;
    *best = (nearest){*closest, face_a, face_b, true};
    return true;
}

/* Converts a distance to a float in a's frame, rounded up. It allows for an error of 2^-18 of the
 * bounds compared with it. */
static float limit_of(const carom_soup_placing *placing, double distance) {
    double scaled = carom_scale_apply(distance, placing->a.exponent) * (1.0 + 0x1p-16);
    return scaled < 0x1p60 ? (float)scaled + 0x1p-60f : HUGE_VALF;
}

/* Scales a vector to a length just below 1, or returns zero if its length is out of range. */
static carom_vec3 direction_of(carom_vec3 way) {
    double length = carom_length(way);
    if (!(length > 0x1p-900 && length < 0x1p900)) return carom_vec(0.0, 0.0, 0.0);
    return carom_vec_scale(way, (1.0 - 0x1p-50) / length);
}

/* Sets the directions from a to b in a's frame and from b to a in b's frame. They are scaled down
 * further, so that as floats they are not longer than 1. */
static void set_direction(carom_obb_walk *walk, const carom_soup_placing *placing, carom_vec3 way) {
    const double *ra = placing->a.frame.r, *rb = placing->b.frame.r;
    carom_vec3 u = carom_vec_scale(direction_of(way), 1.0 - 0x1p-20);
    for (int k = 0; k < 3; ++k) {
        walk->direction_a[k] = (float)((ra[k] * u.x + ra[3 + k] * u.y) + ra[6 + k] * u.z);
        walk->direction_b[k] = (float)-((rb[k] * u.x + rb[3 + k] * u.y) + rb[6 + k] * u.z);
    }
}

/* Whether the gap of two triangles along the direction of the nearest points so far is larger than
 * the distance of those points. Then the triangles need not be measured. */
static bool is_farther(const seeker *s, const carom_triangle *a, const carom_triangle *b) {
    const carom_closest *c = &s->best.closest;
    if (!s->best.any || !(c->distance > 0x1p-300 && c->distance < 0x1p300)) return false;
    carom_vec3 way = carom_vec_sub(c->b, c->a);
    double least = HUGE_VAL, size = 0.0;
    double last = -HUGE_VAL;
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = carom_vec_sub(a->corner[i], c->a), q = carom_vec_sub(b->corner[i], c->a);
        double at_a = carom_vec_dot(way, p), at_b = carom_vec_dot(way, q);
        last = CAROM_MAX(at_a, last);
        least = CAROM_MIN(at_b, least);
        size = CAROM_MAX(carom_vec_largest(p), size);
        size = CAROM_MAX(carom_vec_largest(q), size);
    }
    double error = 0x1p-48 * (size + carom_vec_largest(c->a)) * c->distance;
    return least - last - error > carom_vec_dot(way, way) * (1.0 + 0x1p-40);
}

static float measure(carom_obb_walk *walk, uint32_t place_a, uint32_t place_b) {
    seeker *s = walk->user;
    search *search = s->search;
    const carom_soup_placing *placing = search->placing;
    uint32_t a = placing->a.items[place_a], b = placing->b.items[place_b];
    carom_triangle posed_a = carom_soup_posed(&placing->a, a);
    if (b != s->last_b) s->posed_b = carom_soup_posed(&placing->b, s->last_b = b);
    carom_closest closest;
    double least = atomic_load_explicit(&search->limit, memory_order_relaxed);
    if (is_farther(s, &posed_a, &s->posed_b)) return limit_of(placing, least);
    carom_near_triangles(posed_a.corner, s->posed_b.corner, &closest);
    if (offer(&s->best, placing, a, b, &closest))
        set_direction(walk, placing, carom_vec_sub(closest.b, closest.a));
    ++s->measured;
    while (closest.distance < least &&
           !atomic_compare_exchange_weak(&search->limit, &least, closest.distance)) {
    }
    return limit_of(placing, CAROM_MIN(closest.distance, least));
}

static void seeker_begin(seeker *s, search *search) {
    s->search = search;
    s->best.any = false;
    s->measured = 0;
    s->last_b = CAROM_BVH_NONE;
    s->walk.measure = measure;
    s->walk.user = s;
    carom_soup_begin_walk(search->placing, &s->walk);
    set_direction(&s->walk, search->placing, search->placing->way);
}

/* Continues the traversal until the stack is empty or the query is cancelled. The pairs initially
 * on the stack are its units of progress. */
static void walk_on(seeker *s, uint32_t worker) {
    search *search = s->search;
    uint32_t left = s->walk.stack_count;
    while (s->walk.stack_count > 0 && !carom_progress_stop(search->context, worker)) {
        float limit = limit_of(search->placing, atomic_load(&search->limit));
        CAROM_CPU_CALL(search->context, carom_obb_nearest)(&s->walk, limit, VISITS_AT_ONCE);
        if (s->walk.stack_count >= left) continue;
        carom_progress_add(search->context, worker, left - s->walk.stack_count);
        left = s->walk.stack_count;
    }
}

/* ---- Tasks for several threads --------------------------------------------------------------- */

static seeker *seeker_of(search *search, uint32_t worker) {
    if (search->seekers[worker] != NULL) return search->seekers[worker];
    carom_arena *scratch = carom_scratch(search->context, worker);
    search->marks[worker] = carom_arena_get_mark(scratch);
    seeker *s = CAROM_ARENA_TAKE(scratch, seeker, 1);
    if (s == NULL) return NULL;
    seeker_begin(s, search);
    return search->seekers[worker] = s;
}

static carom_status run_tasks(void *argument, carom_range range) {
    search *search = argument;
    seeker *s = seeker_of(search, range.worker);
    if (s == NULL) return CAROM_NO_MEMORY;
    for (uint64_t task = range.begin; task < range.end; ++task) {
        s->walk.stack[0] = search->tasks[task];
        s->walk.stack_count = 1;
        walk_on(s, range.worker);
    }
    return CAROM_OK;
}

/* The pairs that the first seeker left on its stack become tasks. */
static carom_status share(search *search, seeker *first) {
    carom_context *context = search->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint32_t threads = context->threads, count = first->walk.stack_count;
    for (uint32_t i = 0; i < count; ++i) search->tasks[i] = first->walk.stack[count - 1 - i];
    search->seekers = CAROM_ARENA_TAKE(scratch, seeker *, threads);
    search->marks = CAROM_ARENA_TAKE(scratch, carom_arena_mark, threads);
    if (search->seekers == NULL || search->marks == NULL)
        return carom_fail_memory(context, threads * sizeof(seeker *), "a search");
    for (uint32_t w = 0; w < threads; ++w) search->seekers[w] = NULL;
    search->seekers[0] = first;
    carom_status status = carom_parallel_for(context, count, 1, run_tasks, search);
    for (uint32_t w = 1; w < threads; ++w) {
        const seeker *s = search->seekers[w];
        if (s == NULL) continue;
        const nearest *n = &s->best;
        if (n->any && is_nearer(&first->best, n->closest.distance, n->face_a, n->face_b))
            first->best = *n;
        first->walk.visits += s->walk.visits;
        first->measured += s->measured;
        carom_arena_rewind(carom_scratch(context, w), search->marks[w]);
    }
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, sizeof(seeker), "a search");
    return status;
}

/* ---- Query ----------------------------------------------------------------------------------- */

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
    all->limit = all->best.closest.distance * (1.0 + 0x1p-40);
    return true;
}

static carom_status compare_all(carom_context *context, const carom_soup_placing *placing,
                                nearest *best) {
    all_with_all all = {.placing = placing, .limit = HUGE_VAL};
    carom_status status = carom_soup_each_two(context, placing, direction_of(placing->way),
                                              &all.limit, measure_two, &all);
    context->work.candidates += all.measured;
    *best = all.best;
    return status;
}

static carom_status walk_trees(carom_context *context, const carom_soup_placing *placing,
                               nearest *best) {
    search search;
    seeker first;
    search.context = context;
    search.placing = placing;
    atomic_init(&search.limit, HUGE_VAL);
    seeker_begin(&first, &search);
    CAROM_CPU_CALL(context, carom_obb_nearest)(&first.walk, HUGE_VALF, ALONE_VISITS);
    carom_status status = CAROM_OK;
    carom_progress_expect(context, first.walk.stack_count);
    if (first.walk.stack_count > 0 && context->threads > 1)
        status = share(&search, &first);
    else
        walk_on(&first, 0);
    context->work.visits += first.walk.visits;
    context->work.candidates += first.measured;
    *best = first.best;
    return status;
}

static carom_status find_nearest(carom_context *context, const carom_soup_placing *placing,
                                 nearest *best) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding the least distance", 0);
    carom_status status = placing->extreme || placing->far ? compare_all(context, placing, best)
                                                           : walk_trees(context, placing, best);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_soup_cross_distance(carom_context *context, const carom_soup *a,
                                       const carom_pose *pose_a, const carom_soup *b,
                                       const carom_pose *pose_b, carom_soup_gap *gap) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(a != NULL && b != NULL, "a soup is NULL");
    CAROM_REQUIRE(gap != NULL, "the place for the distance is NULL");
    *gap = (carom_soup_gap){.distance = HUGE_VAL, .face_a = CAROM_NO_FACE, .face_b = CAROM_NO_FACE};
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
        CAROM_TRY(find_nearest(context, &placing, &best));
    }
    if (!best.any) return CAROM_OK;
    *gap = (carom_soup_gap){best.closest.distance, best.face_a, best.face_b, best.closest.a,
                            best.closest.b};
    return CAROM_OK;
}
