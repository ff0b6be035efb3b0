/* SPDX-License-Identifier: MIT */
/* Queries of boxes, rays and points against the tree.
 *
 * The tree's tests are conservative; what they let through is decided exactly with respect to the
 * bounds as doubles. A ray crosses the planes of a box at t = (p - o) / d. The quotient in doubles
 * is within 2^-51 of itself. Where that leaves the order of two crossings open, the sign of (p1 -
 * o1) d2 - (p2 - o2) d1 is computed without rounding (exact_sum.h). So are differences of squared
 * distances of a point to two boxes. */
#include "base/progress.h"
#include "broad/broad.h"
#include "bvh/bvh_cpu.h"
#include "bvh/bvh_nearest_cpu.h"
#include "bvh/bvh_ray_cpu.h"
#include "geom/exact_sum.h"
#include "geom/length.h"
#include "geom/ray.h"
#include "geom/ray_item.h"

#define BROAD_QUERY_QUERIES_PER_RANGE 64u
#define BROAD_QUERY_OFFERS_PER_LOOK   1024u /* boxes tested between checks of the clock */

/* Relative error of a quotient or of a distance: 2^-51 and 2^-50 are the bounds. */
#define BROAD_QUOTIENT_ERROR 0x1p-49

/* Quotients and distances out of this range may have lost bits to overflow or underflow. */
#define BROAD_QUOTIENT_LEAST 0x1p-900
#define BROAD_QUOTIENT_MOST  0x1p900

/* Of limits of a search in the frame, relative to them: some hundred roundings of entries
 * and advances. */
#define BROAD_LIMIT_SLACK 0x1p-45
/* Of positions in the frame, relative to its extent: a hundred roundings of a point that is scaled
 * and moved. */
#define BROAD_FRAME_SLACK 0x1p-46
/* Errors (carom_ray_view) in the margin of a ray: its start and a bound of a box are off by one
 * each; the rest is reserve. */
#define BROAD_RAY_ERRORS 4.0
/* Twice the least double: what a distance loses to underflow, in the caller's unit. */
#define BROAD_UNDERFLOW 0x1p-1073

typedef struct broad_query_job {
    carom_context *context;
    const carom_broad *broad;
    const carom_bounds *boxes;
    const carom_ray *rays;
    const carom_vec3 *points;
    carom_hit *hits;
    carom_ray_frame frame; /* that of the tree's boxes */
    carom_worker_states states;
} broad_query_job;

/* Of one worker. */
typedef struct broad_query_worker {
    broad_query_job *q;
    uint32_t worker;
    carom_pair_list list;
    carom_work work;
    carom_status status;
    carom_bvh_found found;
    uint32_t index; /* of the query */
    uint32_t offers;
} broad_query_worker;

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Candidates are (index of the query, slot). */
static bool decide_boxes(carom_bvh_found *found) {
    broad_query_worker *s = found->user;
    const carom_broad *broad = s->q->broad;
    uint32_t count = found->count;
    found->count = 0;
    s->work.candidates += count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t id = broad->tree.items[found->b[i]];
        CAROM_ASSERT(id < broad->id_count && (broad->states[id] & CAROM_BROAD_LIVE) != 0);
        if (!carom_bounds_overlap(&s->q->boxes[found->a[i]], &broad->boxes[id])) continue;
        if (!carom_pair_list_add(&s->list, found->a[i], id)) {
            s->status = CAROM_NO_MEMORY;
            return false;
        }
    }
    return !carom_progress_stop(s->q->context, s->worker);
}

static bool broad_query_begin_worker(void *user, void *state, uint32_t worker) {
    broad_query_job *q = user;
    broad_query_worker *s = state;
    s->q = q;
    s->worker = worker;
    s->work = (carom_work){0};
    s->status = CAROM_OK;
    s->offers = 0;
    s->found.count = 0;
    s->found.visits = 0;
    s->found.flush = decide_boxes;
    s->found.user = s;
    carom_pair_list_begin(&s->list, carom_scratch(q->context, worker));
    return true;
}

/* The tree's boxes are finite, and infinite bounds would overlap the slots that are empty. */
static carom_box clamp_box(carom_box box) {
    for (int k = 0; k < 3; ++k) {
        box.low[k] = CAROM_MAX(box.low[k], -FLT_MAX);
        box.high[k] = CAROM_MIN(box.high[k], FLT_MAX);
    }
    return box;
}

static carom_status query_boxes(void *argument, carom_range range) {
    broad_query_job *q = argument;
    broad_query_worker *s = carom_worker_state(&q->states, range.worker);
    if (s == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        if (carom_bounds_is_empty(&q->boxes[i])) continue;
        carom_box box = clamp_box(carom_broad_round(&q->broad->space, &q->boxes[i]));
        if (!CAROM_CPU_CALL(q->context, carom_bvh_find_box)(&q->broad->tree, &box, (uint32_t)i,
                                                            &s->found))
            return s->status;
    }
    (void)decide_boxes(&s->found);
    return s->status;
}

/* ---- Rays ------------------------------------------------------------------------------------ */

/* Where a ray crosses a plane across an axis: t = (p - o) / d. */
typedef struct broad_query_crossing {
    double p, o, d; /* d is not 0; p = o: t is 0 */
    double t;       /* rounded */
} broad_query_crossing;

static broad_query_crossing crossing_at(double p, double o, double d) {
    return (broad_query_crossing){p, o, d, p == o ? 0.0 : (p - o) / d};
}

static bool is_sure(double t) {
    double size = fabs(t);
    return t == 0.0 || (size > BROAD_QUOTIENT_LEAST && size < BROAD_QUOTIENT_MOST);
}

/* The sign of a's t minus b's. */
static int broad_query_compare(const broad_query_crossing *a, const broad_query_crossing *b) {
    if (is_sure(a->t) && is_sure(b->t)) {
        double apart = a->t - b->t, error = BROAD_QUOTIENT_ERROR * (fabs(a->t) + fabs(b->t));
        if (apart > error) return 1;
        if (apart < -error) return -1;
    }
    carom_exact_sum sum = {{0}};
    carom_exact_sum_add(&sum, a->p, b->d, 1.0);
    carom_exact_sum_subtract(&sum, a->o, b->d, 1.0);
    carom_exact_sum_subtract(&sum, b->p, a->d, 1.0);
    carom_exact_sum_add(&sum, b->o, a->d, 1.0);
    int sign = carom_exact_sum_sign(&sum);
    return (a->d < 0.0) != (b->d < 0.0) ? -sign : sign;
}

/* The sign of t minus the length. */
static int compare_length(const broad_query_crossing *a, double length) {
    if (is_sure(a->t) && is_sure(length)) {
        double apart = a->t - length, error = BROAD_QUOTIENT_ERROR * (fabs(a->t) + length);
        if (apart > error) return 1;
        if (apart < -error) return -1;
    }
    carom_exact_sum sum = {{0}};
    carom_exact_sum_add(&sum, a->p, 1.0, 1.0);
    carom_exact_sum_subtract(&sum, a->o, 1.0, 1.0);
    carom_exact_sum_subtract(&sum, length, a->d, 1.0);
    int sign = carom_exact_sum_sign(&sum);
    return a->d < 0.0 ? -sign : sign;
}

/* Whether the ray meets the box, which is not empty, and where it enters it: at t = 0 if the origin
 * is inside. */
static bool broad_query_meet(const carom_ray *ray, const carom_bounds *box,
                             broad_query_crossing *enter) {
    const double o[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
    const double d[3] = {ray->direction.x, ray->direction.y, ray->direction.z};
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    broad_query_crossing leave = {0.0, 0.0, 0.0, 0.0};
    bool starts_inside = true;
    *enter = (broad_query_crossing){0.0, 0.0, 1.0, 0.0};
    for (int k = 0; k < 3; ++k) {
        if (d[k] == 0.0) {
            if (o[k] < low[k] || o[k] > high[k]) return false;
            continue;
        }
        double near = d[k] > 0.0 ? low[k] : high[k], far = d[k] > 0.0 ? high[k] : low[k];
        if (d[k] > 0.0 ? far < o[k] : far > o[k]) return false; /* behind */
        broad_query_crossing out = crossing_at(far, o[k], d[k]);
        if (leave.d == 0.0 || broad_query_compare(&out, &leave) < 0) leave = out;
        if (d[k] > 0.0 ? near <= o[k] : near >= o[k]) continue; /* not in front */
        broad_query_crossing in = crossing_at(near, o[k], d[k]);
        if (starts_inside || broad_query_compare(&in, enter) > 0) *enter = in;
        starts_inside = false;
    }
    if (starts_inside) return true;
    if (broad_query_compare(enter, &leave) > 0) return false;
    bool ends = ray->length > 0.0 && ray->length <= DBL_MAX;
    return !ends || compare_length(enter, ray->length) <= 0;
}

/* The ray in the frame of the tree. */
typedef struct path {
    carom_ray_view view;
    carom_bvh_ray ray;
    double step;  /* of the advance in the frame per unit of t; 0: not known */
    double limit; /* of the advance, at the end of the ray */
} path;

/* False when the ray misses the tree. */
static bool path_begin(const broad_query_job *q, const carom_ray *ray, path *p) {
    carom_ray_begin(ray->origin, ray->direction, ray->length, &q->frame, &p->view);
    if (p->view.misses) return false;
    double far = q->frame.reach;
    for (int k = 0; k < 3; ++k) {
        p->ray.from[k] = p->view.start[k];
        p->ray.direction[k] = p->view.unit_direction[k];
        far = CAROM_MAX(fabs(p->ray.from[k]), far);
    }
    double margin = BROAD_RAY_ERRORS * p->view.error + BROAD_FRAME_SLACK * far;
    p->ray.margin = CAROM_MIN(margin, CAROM_BVH_EVERYWHERE);
    p->limit = carom_bvh_ray_limit(p->view.limit_high, p->ray.margin);
    double largest = fabs(carom_vec_component(ray->direction, p->view.axis[2]));
    p->step = largest * q->frame.scale;
    if (!(p->step > BROAD_QUOTIENT_LEAST && p->step < BROAD_QUOTIENT_MOST) ||
        !(margin < CAROM_BVH_EVERYWHERE))
        p->step = 0.0;
    return true;
}

/* The search along one ray. */
typedef struct broad_query_ray_search {
    broad_query_worker *worker;
    const carom_ray *ray;
    path path;
    bool all; /* boxes are listed; else the first is wanted */
    uint32_t id;
    broad_query_crossing first;
} broad_query_ray_search;

static double offer_ray(void *user, uint32_t slot) {
    broad_query_ray_search *r = user;
    broad_query_worker *s = r->worker;
    const carom_broad *broad = s->q->broad;
    uint32_t id = broad->tree.items[slot];
    broad_query_crossing enter;
    if (++s->offers % BROAD_QUERY_OFFERS_PER_LOOK == 0 &&
        carom_progress_stop(s->q->context, s->worker))
        return -HUGE_VAL;
    ++s->work.candidates;
    if (broad_query_meet(r->ray, &broad->boxes[id], &enter)) {
        if (r->all) {
            if (!carom_pair_list_add(&s->list, s->index, id)) {
                s->status = CAROM_NO_MEMORY;
                return -HUGE_VAL;
            }
        } else {
            int order = r->id == CAROM_NONE ? -1 : broad_query_compare(&enter, &r->first);
            if (order < 0 || (order == 0 && id < r->id)) {
                r->id = id;
                r->first = enter;
            }
        }
    }
    if (r->all || r->id == CAROM_NONE || r->path.step == 0.0) return r->path.limit;
    double advance = r->first.t * r->path.step, moved = r->path.view.moved;
    double end = (advance - moved) + BROAD_LIMIT_SLACK * (advance + moved);
    end = carom_bvh_ray_limit(end, r->path.ray.margin);
    return CAROM_MIN(end, r->path.limit);
}

static double broad_query_clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

static carom_vec3 clamp_to_box(carom_vec3 p, const carom_bounds *box) {
    return carom_vec(broad_query_clamp(p.x, box->low.x, box->high.x),
                     broad_query_clamp(p.y, box->low.y, box->high.y),
                     broad_query_clamp(p.z, box->low.z, box->high.z));
}

/* Where the ray enters the first box, and through which side: that which it reaches last. */
static carom_hit ray_hit(const broad_query_job *q, const broad_query_ray_search *r) {
    const carom_ray *ray = r->ray;
    carom_hit hit = {.id = r->id, .face = CAROM_NONE, .distance = HUGE_VAL, .point = ray->origin};
    if (r->id == CAROM_NONE) return hit;
    hit.distance = fabs(r->first.t);
    const carom_bounds *box = &q->broad->boxes[r->id];
    const double *from = &ray->origin.x, *by = &ray->direction.x;
    const double *low = &box->low.x, *high = &box->high.x;
    double *point = &hit.point.x, *normal = &hit.normal.x, last = 0.0;
    int side = -1;
    for (int k = 0; k < 3; ++k) {
        if (by[k] == 0.0) continue;
        double t = ((by[k] > 0.0 ? low[k] : high[k]) - from[k]) / by[k];
        if (hit.distance > 0.0 && (side < 0 || t > last)) side = k, last = t;
        if (hit.distance > 0.0)
            point[k] = broad_query_clamp(from[k] + hit.distance * by[k], low[k], high[k]);
    }
    if (side < 0) return hit;
    point[side] = by[side] > 0.0 ? low[side] : high[side];
    normal[side] = by[side] > 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; ++k) CAROM_ASSERT(low[k] <= point[k] && point[k] <= high[k]);
    return hit;
}

static carom_status query_rays(void *argument, carom_range range) {
    broad_query_job *q = argument;
    broad_query_worker *s = carom_worker_state(&q->states, range.worker);
    if (s == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end && s->status == CAROM_OK; ++i) {
        broad_query_ray_search r;
        r.worker = s;
        r.ray = &q->rays[i];
        r.all = q->hits == NULL;
        r.id = CAROM_NONE;
        s->index = (uint32_t)i;
        if (path_begin(q, r.ray, &r.path))
            s->found.visits += CAROM_CPU_CALL(q->context, carom_bvh_cast)(
                &q->broad->tree, &r.path.ray, r.path.limit, offer_ray, &r);
        if (!r.all) q->hits[i] = ray_hit(q, &r);
        if (carom_progress_stop(q->context, range.worker)) return CAROM_CANCELLED;
    }
    return s->status;
}

/* ---- Nearest --------------------------------------------------------------------------------- */

/* In the frame. Beyond this distance boxes there cannot tell which is nearest; squares of it are
 * finite. */
#define BROAD_NEAREST_REACH 0x1p200

typedef struct nearest_search {
    broad_query_worker *worker;
    double point[3];
    double slack; /* of distances in the frame, for underflow */
    bool blind;   /* the frame says nothing */
    uint32_t id;
    double distance;
} nearest_search;

/* The bound of a box nearest to the coordinate, or the coordinate itself. */
static void clamp_to(const carom_bounds *box, const double p[3], double nearest[3]) {
    const double low[3] = {box->low.x, box->low.y, box->low.z};
    const double high[3] = {box->high.x, box->high.y, box->high.z};
    for (int k = 0; k < 3; ++k)
        nearest[k] = p[k] < low[k] ? low[k] : p[k] > high[k] ? high[k] : p[k];
}

static double distance_to(const carom_bounds *box, const double p[3]) {
    double at[3];
    clamp_to(box, p, at);
    return carom_length(carom_vec(at[0] - p[0], at[1] - p[1], at[2] - p[2]));
}

/* Adds (at - p)^2, or subtracts it. */
static void add_square(carom_exact_sum *sum, double at, double p, bool minus) {
    if (at == p) return;
    if (minus) {
        carom_exact_sum_subtract(sum, at, at, 1.0);
        carom_exact_sum_subtract(sum, p, p, 1.0);
        carom_exact_sum_add(sum, at, p, 2.0);
    } else {
        carom_exact_sum_add(sum, at, at, 1.0);
        carom_exact_sum_add(sum, p, p, 1.0);
        carom_exact_sum_subtract(sum, at, p, 2.0);
    }
}

/* The sign of the distance to a minus that to b. */
static int compare_distances(const carom_bounds *a, double of_a, const carom_bounds *b, double of_b,
                             const double p[3]) {
    if (of_a == 0.0 && of_b == 0.0) return 0; /* carom_length is 0 for 0 only */
    if (is_sure(of_a) && is_sure(of_b)) {
        double error = BROAD_QUOTIENT_ERROR * (of_a + of_b);
        if (of_a - of_b > error) return 1;
        if (of_a - of_b < -error) return -1;
    }
    carom_exact_sum sum = {{0}};
    double at_a[3], at_b[3];
    clamp_to(a, p, at_a);
    clamp_to(b, p, at_b);
    for (int k = 0; k < 3; ++k) {
        add_square(&sum, at_a[k], p[k], false);
        add_square(&sum, at_b[k], p[k], true);
    }
    return carom_exact_sum_sign(&sum);
}

static void offer_nearest(nearest_search *n, uint32_t slot) {
    const carom_broad *broad = n->worker->q->broad;
    uint32_t id = broad->tree.items[slot];
    ++n->worker->work.candidates;
    double distance = distance_to(&broad->boxes[id], n->point);
    int order = n->id == CAROM_NONE
                    ? -1
                    : compare_distances(&broad->boxes[id], distance, &broad->boxes[n->id],
                                        n->distance, n->point);
    if (order < 0 || (order == 0 && id < n->id)) {
        n->id = id;
        n->distance = distance;
    }
}

static double broad_query_offer_lanes(void *user, uint32_t block, uint32_t lanes) {
    nearest_search *n = user;
    broad_query_worker *s = n->worker;
    if (++s->offers % BROAD_QUERY_OFFERS_PER_LOOK == 0 &&
        carom_progress_stop(s->q->context, s->worker))
        return -1.0;
    for (; lanes != 0; lanes &= lanes - 1)
        offer_nearest(n, block * CAROM_BVH_WIDTH + (uint32_t)__builtin_ctz(lanes));
    double limit = n->distance * s->q->frame.scale;
    limit += BROAD_LIMIT_SLACK * limit + n->slack;
    return !n->blind && limit <= BROAD_NEAREST_REACH ? limit : HUGE_VAL;
}

static carom_hit broad_query_find_nearest(broad_query_worker *s, carom_vec3 point) {
    const broad_query_job *q = s->q;
    nearest_search n = {
        .worker = s, .point = {point.x, point.y, point.z}, .id = CAROM_NONE, .distance = HUGE_VAL};
    carom_bvh_point at;
    double size = q->frame.reach;
    for (int k = 0; k < 3; ++k) {
        at.at[k] = n.point[k] * q->frame.scale - q->frame.shift[k];
        size = CAROM_MAX(fabs(at.at[k]), size);
    }
    at.margin = BROAD_FRAME_SLACK * size + CAROM_BROAD_LEAST_PRODUCT;
    n.slack = 2.0 * CAROM_BROAD_LEAST_PRODUCT + BROAD_UNDERFLOW * q->frame.scale;
    if (!(size <= BROAD_NEAREST_REACH)) {
        at.at[0] = at.at[1] = at.at[2] = 0.0;
        at.margin = BROAD_NEAREST_REACH;
        n.blind = true;
    }
    s->found.visits += CAROM_CPU_CALL(q->context, carom_bvh_nearest)(&q->broad->tree, &at, HUGE_VAL,
                                                                     broad_query_offer_lanes, &n);
    carom_hit hit = {.id = n.id, .face = CAROM_NONE, .distance = n.distance, .point = point};
    if (n.id == CAROM_NONE) return hit;
    CAROM_ASSERT(n.distance >= 0.0 && n.id < q->broad->id_count);
    hit.point = clamp_to_box(point, &q->broad->boxes[n.id]);
    hit.normal = carom_vec_unit(carom_vec_sub(point, hit.point));
    return hit;
}

static carom_status query_points(void *argument, carom_range range) {
    broad_query_job *q = argument;
    broad_query_worker *s = carom_worker_state(&q->states, range.worker);
    if (s == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        q->hits[i] = broad_query_find_nearest(s, q->points[i]);
        if (carom_progress_stop(q->context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* ---- Running a query ------------------------------------------------------------------------- */

static carom_status broad_query_gather(broad_query_job *q, carom_pairs *pairs) {
    carom_pair_list all;
    broad_query_worker *s;
    carom_work *work = &q->context->work;
    uint64_t *found, count;
    carom_pair_list_begin(&all, carom_scratch(q->context, 0));
    for (uint32_t w = 0; (s = carom_worker_states_next(&q->states, &w)) != NULL;) {
        carom_pair_list_join(&all, &s->list);
        work->candidates += s->work.candidates;
        work->visits += s->found.visits;
    }
    if (pairs == NULL) return CAROM_OK;
    CAROM_TRY(carom_pair_list_sort(q->context, &all, false, &found, &count));
    return carom_pair_list_fill(q->context, found, count, pairs);
}

static carom_status broad_query_run_batch(broad_query_job *q, const char *what, uint64_t count,
                                          carom_range_fn *range_fn, carom_pairs *pairs) {
    carom_context *context = q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    context->work = (carom_work){0};
    carom_status status = carom_worker_states_begin(&q->states, context, sizeof(broad_query_worker),
                                                    broad_query_begin_worker, q);
    if (status == CAROM_OK) {
        status =
            carom_parallel_phase(context, what, count, BROAD_QUERY_QUERIES_PER_RANGE, range_fn, q);
        if (status == CAROM_NO_MEMORY)
            status = carom_fail_memory(context, sizeof(broad_query_worker), "a query");
        if (status == CAROM_OK) status = broad_query_gather(q, pairs);
        carom_worker_states_release(&q->states);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

static carom_status broad_query_check(carom_context *context, const carom_broad *broad,
                                      uint64_t count) {
    CAROM_TRY(carom_broad_check_ready(context, broad));
    CAROM_TRY(carom_context_require_cpu(context, "a query of boxes, rays or points"));
    if (count > UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu queries at once are more than 2^32 - 1",
                          (unsigned long long)count);
    if (broad->method == CAROM_BROAD_METHOD_TREE) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "queries need a tree: prepare the boxes with method tree, not %s",
                      carom_broad_method_name(broad->method));
}

static carom_ray_frame broad_query_frame_of(const carom_broad *broad) {
    const carom_broad_space *space = &broad->space;
    carom_box bounds = carom_bvh_bounds(&broad->tree);
    carom_ray_frame frame = {
        space->scale, {space->origin[0], space->origin[1], space->origin[2]}, 0.0};
    for (int k = 0; k < 3 && bounds.low[0] <= bounds.high[0]; ++k) {
        double low = fabs((double)bounds.low[k]), high = fabs((double)bounds.high[k]);
        frame.reach = CAROM_MAX(CAROM_MAX(low, high), frame.reach);
    }
    return frame;
}

carom_status carom_broad_query_boxes(carom_context *context, const carom_broad *broad,
                                     const carom_bounds *boxes, uint64_t count,
                                     carom_pairs *pairs) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(boxes, count, "boxes");
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    CAROM_BROAD_REQUIRE_UPDATED(broad);
    CAROM_TRY(broad_query_check(context, broad, count));
    for (uint64_t i = 0; i < count; ++i)
        if (!carom_vec_finite(boxes[i].low) || !carom_vec_finite(boxes[i].high))
            return carom_fail(
                context, CAROM_BAD_INPUT,
                "box %llu has a bound that is NaN or infinite: leave it out or mend it",
                (unsigned long long)i);
    broad_query_job q = {.context = context, .broad = broad, .boxes = boxes};
    return broad_query_run_batch(&q, "finding boxes", count, query_boxes, pairs);
}

carom_status carom_broad_query_rays(carom_context *context, const carom_broad *broad,
                                    const carom_ray *rays, uint64_t count, carom_pairs *pairs) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(rays, count, "rays");
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    CAROM_BROAD_REQUIRE_UPDATED(broad);
    CAROM_TRY(broad_query_check(context, broad, count));
    CAROM_TRY(carom_rays_check(context, rays, count));
    broad_query_job q = {
        .context = context, .broad = broad, .rays = rays, .frame = broad_query_frame_of(broad)};
    return broad_query_run_batch(&q, "casting rays", count, query_rays, pairs);
}

carom_status carom_broad_cast_rays(carom_context *context, const carom_broad *broad,
                                   const carom_ray *rays, uint64_t count, carom_hit *hits) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(rays, count, "rays");
    CAROM_REQUIRE_OUTPUTS(hits, count, "hits");
    CAROM_BROAD_REQUIRE_UPDATED(broad);
    CAROM_TRY(broad_query_check(context, broad, count));
    CAROM_TRY(carom_rays_check(context, rays, count));
    if (count == 0) return CAROM_OK;
    broad_query_job q = {.context = context,
                         .broad = broad,
                         .rays = rays,
                         .hits = hits,
                         .frame = broad_query_frame_of(broad)};
    return broad_query_run_batch(&q, "casting rays", count, query_rays, NULL);
}

carom_status carom_broad_closest_points(carom_context *context, const carom_broad *broad,
                                        const carom_vec3 *points, uint64_t count, carom_hit *hits) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(points, count, "points");
    CAROM_REQUIRE_OUTPUTS(hits, count, "hits");
    CAROM_BROAD_REQUIRE_UPDATED(broad);
    CAROM_TRY(broad_query_check(context, broad, count));
    for (uint64_t i = 0; i < count; ++i)
        if (!carom_vec_finite(points[i]))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "point %llu is not finite: leave it out or mend it",
                              (unsigned long long)i);
    if (count == 0) return CAROM_OK;
    broad_query_job q = {.context = context,
                         .broad = broad,
                         .points = points,
                         .hits = hits,
                         .frame = broad_query_frame_of(broad)};
    return broad_query_run_batch(&q, "finding nearest boxes", count, query_points, NULL);
}
