/* SPDX-License-Identifier: MIT */
/* The nearest face of a point.
 *
 * Boxes are opened in order of distance, up to the best distance so far (bvh_nearest_cpu.c). Faces
 * in them are compared by lower bounds (soup_points_cpu.c), then by distances in doubles. All faces
 * within the error of the least distance are kept, and at the end exact comparisons (nearer.h) find
 * the nearest of them, or the one with the lowest index if several are equally near. The search
 * continues up to the least distance plus that error, and all bounds are lower bounds, so none of
 * them is missed.
 *
 * Points are answered in the order of a Morton curve, and each starts from the face that is nearest
 * to the point before it. This changes the time, not the answer. */
#include "soup/soup_points.h"

#include "base/progress.h"
#include "base/sort.h"
#include "bvh/bvh_cpu.h"
#include "bvh/bvh_nearest_cpu.h"
#include "geom/nearer.h"
#include "soup/soup_points_cpu.h"
#include "soup/soup_points_item.h"

#define SOUP_POINTS_QUERIES_PER_RANGE 16u
#define POINTS_PER_RANGE              4096u /* when sorting */
#define SORT_POINT_MINIMUM            64u   /* points: fewer do not repay sorting */

/* ---- Batches --------------------------------------------------------------------------------- */

static carom_status soup_points_answer_range(void *argument, carom_range range) {
    const carom_soup_batch *batch = *(const carom_soup_batch **)argument;
    carom_soup_turn turn = {range.worker, CAROM_BVH_NONE};
    for (uint64_t i = range.begin; i < range.end; ++i) {
        CAROM_TRY(batch->answer(batch, batch->order != NULL ? batch->order[i] : i, &turn));
        if (carom_progress_stop(batch->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

carom_status carom_soup_batch_run(const carom_soup_batch *batch, const char *what, uint64_t count) {
    return carom_parallel_phase(batch->context, what, count, SOUP_POINTS_QUERIES_PER_RANGE,
                                soup_points_answer_range, &batch);
}

typedef struct sorting {
    const carom_soup *soup;
    const carom_vec3 *points;
    carom_bvh_space space;
    carom_context *context;
    uint32_t *keys, *order;
} sorting;

/* A point in the frame of the soup's boxes; infinite if it overflows. */
static carom_vec3 soup_points_to_frame(const carom_soup *soup, carom_vec3 p) {
    return carom_vec_sub(carom_vec_scale(p, soup->scale), soup->origin);
}

static carom_status soup_points_make_keys(void *argument, carom_range range) {
    const sorting *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_vec3 p = soup_points_to_frame(s->soup, s->points[i]);
        const double at[3] = {p.x, p.y, p.z};
        carom_box box;
        for (int k = 0; k < 3; ++k) {
            double low = (double)s->soup->bounds.low[k], high = (double)s->soup->bounds.high[k];
            double x = CAROM_MIN(CAROM_MAX(at[k], low), high);
            box.low[k] = box.high[k] = (float)x;
        }
        CAROM_CPU_CALL(s->context, carom_bvh_keys)(&s->space, &box, 1, &s->keys[i]);
        s->order[i] = (uint32_t)i;
    }
    return CAROM_OK;
}

carom_status carom_soup_batch_sort(carom_soup_batch *batch, const carom_vec3 *points,
                                   uint64_t count) {
    carom_context *context = batch->context;
    const carom_soup *soup = batch->soup;
    if (count < SORT_POINT_MINIMUM || count > UINT32_MAX || soup->vertex_count == 0)
        return CAROM_OK;
    carom_arena *scratch = carom_scratch(context, 0);
    sorting s = {.soup = soup, .points = points, .context = context};
    s.keys = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    s.order = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (s.keys == NULL || s.order == NULL)
        return carom_fail_memory(context, 2 * count * sizeof(uint32_t), "sorting points");
    s.space = carom_bvh_space_of(&soup->bounds);
    CAROM_TRY(carom_parallel_for(context, count, POINTS_PER_RANGE, soup_points_make_keys, &s));
    CAROM_TRY(carom_sort_keys(context, s.keys, s.order, count));
    batch->order = s.order;
    return CAROM_OK;
}

carom_status carom_soup_points_finite(carom_context *context, const carom_vec3 *points,
                                      uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        if (!carom_vec_finite(points[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "point %llu is not finite: leave it out or mend it",
                              (unsigned long long)i);
    return CAROM_OK;
}

carom_status carom_soup_check_points(carom_context *context, const carom_soup *soup,
                                     const carom_vec3 *points, uint64_t count) {
    CAROM_TRY(carom_soup_check_ready(context, soup));
    return carom_soup_points_finite(context, points, count);
}

/* ---- Nearest face ---------------------------------------------------------------------------- */

/* A candidate for the nearest face. */
typedef struct soup_points_candidate {
    carom_closest closest;
    uint32_t slot;
} soup_points_candidate;

/* About six faces meet at a corner. If there are more candidates, they are reduced to the nearest.
 */
#define NEAREST_CANDIDATE_LIMIT 16u

/* The search for one point. Distances are compared in the frame of the boxes, where they do not
 * overflow. */
typedef struct seeker {
    carom_context *context;
    const carom_soup *soup;
    carom_vec3 point;
    double error; /* upper bound of the sum of the errors of two distances */
    double least; /* of all distances */
    uint32_t worker, offers, count;
    uint32_t seed;                                             /* the slot offered first */
    bool seeded;                                               /* it has been */
    soup_points_candidate candidates[NEAREST_CANDIDATE_LIMIT]; /* all faces within least + error */
} seeker;

/* From the centre of a sphere all faces are about equally near, so the clock is checked now and
 * then. */
#define SOUP_POINTS_OFFERS_PER_LOOK 1024u

static carom_triangle soup_points_triangle_at(const seeker *s, uint32_t slot) {
    return carom_soup_triangle(s->soup, s->soup->slot_corners + 3 * (uint64_t)slot);
}

/* Whether doubles show that a distance is not the least. */
static bool too_far(const seeker *s, double distance) {
    return distance * s->soup->scale > s->least + s->error;
}

/* Reduces the candidates to the nearest one, the lowest of those equally near. Triangles are in the
 * order of their faces. */
static void soup_points_choose(seeker *s) {
    const uint32_t *items = s->soup->bvh.items;
    const soup_points_candidate *best = NULL;
    carom_triangle nearest;
    for (const soup_points_candidate *c = s->candidates; c < s->candidates + s->count; ++c) {
        if (too_far(s, c->closest.distance)) continue;
        carom_triangle t = soup_points_triangle_at(s, c->slot);
        if (best == NULL ||
            (items[c->slot] < items[best->slot] ? carom_not_farther(s->point, &t, &nearest)
                                                : !carom_not_farther(s->point, &nearest, &t))) {
            best = c;
            nearest = t;
        }
    }
    /* One is left: the face of the least distance, or one found to be as near or nearer. */
    CAROM_ASSERT(best != NULL);
    s->candidates[0] = *best;
    s->count = 1;
}

/* How far to search. */
static double limit_of(const seeker *s) {
    double limit = s->least + s->error;
    return limit <= CAROM_POINTS_BOX_DISTANCE_LIMIT ? limit : HUGE_VAL;
}

static void soup_points_offer(seeker *s, uint32_t slot, const carom_triangle *t) {
    const carom_soup *soup = s->soup;
    carom_closest closest;
    carom_near_point_triangle(s->point, t->corner, &closest);
    if (too_far(s, closest.distance)) return;
    double distance = closest.distance * soup->scale; /* may underflow */
    if (distance + s->error < s->least) s->count = 0;
    if (s->count == NEAREST_CANDIDATE_LIMIT) soup_points_choose(s);
    if (distance < s->least) s->least = distance;
    CAROM_ASSERT(s->count < NEAREST_CANDIDATE_LIMIT && s->least <= distance + s->error);
    s->candidates[s->count++] = (soup_points_candidate){closest, slot};
}

static void soup_points_put_vec(double (*rows)[CAROM_BVH_WIDTH], uint32_t at, carom_vec3 v) {
    rows[0][at] = v.x;
    rows[1][at] = v.y;
    rows[2][at] = v.z;
}

/* Loads the triangles of some lanes of a block; returns how many. */
static uint32_t load_lanes(const seeker *s, uint32_t block, uint32_t lanes, uint32_t *slots,
                           carom_triangle *triangles, carom_soup_seen *seen) {
    uint32_t count = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t slot = block * CAROM_BVH_WIDTH + (uint32_t)__builtin_ctz(lanes);
        if (slot == s->seed) continue;
        carom_triangle t = soup_points_triangle_at(s, slot);
        for (int i = 0; i < 3; ++i)
            soup_points_put_vec(seen->corner + 3 * i, count, carom_vec_sub(t.corner[i], s->point));
        for (int i = 0; i < 2; ++i)
            soup_points_put_vec(seen->edge + 3 * i, count,
                                carom_vec_sub(t.corner[i + 1], t.corner[0]));
        CAROM_ASSERT(count < CAROM_BVH_WIDTH && slot < s->soup->bvh.item_count);
        triangles[count] = t;
        slots[count++] = slot;
    }
    return count;
}

/* Offers the faces of a block, nearest first by their lower bounds, as long as these are within the
 * limit. */
static double soup_points_offer_lanes(void *user, uint32_t block, uint32_t lanes) {
    seeker *s = user;
    uint32_t slots[CAROM_BVH_WIDTH];
    carom_triangle triangles[CAROM_BVH_WIDTH];
    carom_soup_seen seen;
    double bounds[CAROM_BVH_WIDTH];
    s->offers += (uint32_t)__builtin_popcount(lanes);
    if (s->offers >= SOUP_POINTS_OFFERS_PER_LOOK) {
        s->offers = 0;
        if (carom_progress_stop(s->context, s->worker))
            return -1.0; /* nothing can be nearer: the search ends */
    }
    uint32_t count = load_lanes(s, block, lanes, slots, triangles, &seen);
    if (count == 0) return limit_of(s); /* nothing was seen */
    CAROM_CPU_CALL(s->context, carom_soup_lower_bounds)(&seen, count, bounds);
    for (uint32_t left = (1u << count) - 1; left != 0;) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(rest);
            i = bounds[k] < bounds[i] ? k : i;
        }
        if (too_far(s, bounds[i])) break;
        soup_points_offer(s, slots[i], &triangles[i]);
        left &= ~(1u << i);
    }
    return limit_of(s);
}

carom_hit carom_soup_find_nearest(carom_context *context, const carom_soup *soup, carom_vec3 point,
                                  carom_soup_turn *turn) {
    seeker s;
    s.context = context;
    s.soup = soup;
    s.point = point;
    s.worker = turn->worker;
    s.offers = s.count = 0;
    s.least = HUGE_VAL;
    carom_bvh_point at;
    carom_vec3 p = soup_points_to_frame(soup, point);
    at.at[0] = p.x;
    at.at[1] = p.y;
    at.at[2] = p.z;
    double size = 0.0;
    for (int k = 0; k < 3; ++k) {
        double low = (double)soup->bounds.low[k], high = (double)soup->bounds.high[k];
        size = CAROM_MAX(fabs(at.at[k]), size);
        size = CAROM_MAX(CAROM_MAX(fabs(low), fabs(high)), size);
    }
    at.margin = CAROM_BVH_QUERY_MARGIN * size;
    s.error = carom_points_error(size, soup->scale);
    if (!(size <= CAROM_POINTS_BOX_DISTANCE_LIMIT)) { /* every box may contain the nearest face */
        at.at[0] = at.at[1] = at.at[2] = 0.0;
        at.margin = CAROM_POINTS_BOX_DISTANCE_LIMIT;
        s.error = HUGE_VAL;
    }
    s.seed = turn->slot;
    if (s.seed != CAROM_BVH_NONE) {
        carom_triangle t = soup_points_triangle_at(&s, s.seed);
        soup_points_offer(&s, s.seed, &t);
    }
    CAROM_CPU_CALL(context, carom_bvh_nearest)
    (&soup->bvh, &at, limit_of(&s), soup_points_offer_lanes, &s);
    if (s.count == 0) return carom_points_none(point);
    if (s.count > 1) soup_points_choose(&s);
    CAROM_ASSERT(s.count == 1);
    const soup_points_candidate *best = &s.candidates[0];
    carom_triangle t = soup_points_triangle_at(&s, best->slot);
    turn->slot = best->slot;
    return carom_points_hit(point, &t, carom_soup_face(soup, soup->bvh.items[best->slot]),
                            &best->closest);
}

typedef struct nearest_query {
    carom_soup_batch batch;
    const carom_vec3 *points;
    carom_hit *hits;
} nearest_query;

static carom_status answer_nearest(const carom_soup_batch *batch, uint64_t i,
                                   carom_soup_turn *turn) {
    const nearest_query *q = (const nearest_query *)batch;
    q->hits[i] = carom_soup_find_nearest(batch->context, batch->soup, q->points[i], turn);
    return CAROM_OK;
}

carom_status carom_soup_closest_points(carom_context *context, const carom_soup *soup,
                                       const carom_vec3 *points, uint64_t count, carom_hit *hits) {
    CAROM_REQUIRE_BATCH(context, soup, points, count, hits);
    if (carom_soup_on_device(context))
        return carom_soup_device_closest_points(context, soup, points, count, hits);
    CAROM_TRY(carom_soup_check_points(context, soup, points, count));
    nearest_query q = {{context, soup, answer_nearest, NULL}, points, hits};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = carom_soup_batch_sort(&q.batch, points, count);
    if (status == CAROM_OK) status = carom_soup_batch_run(&q.batch, "finding nearest faces", count);
    carom_arena_rewind(scratch, mark);
    return status;
}
