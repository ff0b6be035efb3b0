/* SPDX-License-Identifier: MIT */
/* What is near in soups, and how far vertices may move: the search is that for impacts (impacts.h),
 * with gaps of the reach.
 *
 * Whether a pair is within reach is decided exactly (within.h), a point and a segment being
 * triangles without area. Its distance lies between two certificates, as there: two points of the
 * pair are not nearer than it is, and a slab between its shapes is not wider.
 *
 * A safe step is the least of those of all pairs, each found by conservative advancement
 * (advance_item.h). What the search leaves out is farther apart than the minimum until a time that
 * some pair does not reach, so the result does not depend on what was found when.
 *
 * Safe distances: let every vertex v move by at most b(v), along any path, and let d be the
 * distance of a pair with b(v) <= (d - m) / 2 for each of its vertices. A point of a triangle or an
 * edge moves by the mean of its vertices' movements with the weights that it has on it, so by at
 * most (d - m) / 2, and so does the point of the other shape. Their distance, at least d before, is
 * at least d - 2 (d - m) / 2 = m: for all points, so for the pair. Pairs beyond the reach r have d
 * > r and ask for (r - m) / 2 (Chen et al., "Offset geometric contact", 2025, with half the
 * distance instead of a share of it). */
#include <float.h>
#include <stdatomic.h>
#include <string.h>

#include "impacts/impacts.h"
#include "impacts/impacts_item.h"
#include "mesh/mesh.h"
#include "soup/soup_view.h"

#define NEAR_VERTICES 4 /* of a pair */
CAROM_RESULT_FILL(carom_soup_near_pairs);
CAROM_RESULT_DEFINE_FREE(carom_soup_near_pairs);

/* ---- Distance of a pair ---------------------------------------------------------------------- */

/* Whether the distance is at most `reach`. Returns false if that took integers. */
static bool impacts_near_within(const carom_vec3 *points, int edges, double reach, bool *within) {
    carom_triangle a, b;
    carom_impacts_near_triangles(points, edges, &a, &b);
    int verdict = carom_within_filter(&a, &b, reach);
    *within = verdict == CAROM_UNDECIDED ? carom_within_exact(&a, &b, reach) : verdict == CAROM_YES;
    return verdict != CAROM_UNDECIDED;
}

bool carom_impacts_decide_near(const carom_impacts_query *query, const carom_vec3 *start,
                               const carom_vec3 *end, int edges, carom_toi *found) {
    (void)end;
    double reach = query->reach;
    bool filtered = impacts_near_within(start, edges, reach, &found->hit), touch = false;
    if (!found->hit) return filtered;
    carom_interval d = carom_impacts_near_distance(start, edges);
    if (d.lower == 0.0) filtered = impacts_near_within(start, edges, 0.0, &touch) && filtered;
    if (touch) d = (carom_interval){0.0, 0.0, 0.0};
    found->time = carom_impacts_near_within_reach(d, reach);
    return filtered;
}

carom_impacts_decide_fn *carom_impacts_decider(carom_device_impacts_task task) {
    return task == CAROM_DEVICE_IMPACTS_MEET   ? carom_impacts_decide_meet
           : task == CAROM_DEVICE_IMPACTS_NEAR ? carom_impacts_decide_near
                                               : carom_impacts_decide_step;
}

/* ---- Near pairs ------------------------------------------------------------------------------ */

static carom_status check_length(carom_context *context, const char *what, double value) {
    if (value >= 0.0 && value <= DBL_MAX) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the %s is %g; it must be a finite number that is not negative", what, value);
}

carom_status carom_impacts_near_check(carom_context *context, double reach, double minimum) {
    CAROM_TRY(check_length(context, "reach", reach));
    CAROM_TRY(check_length(context, "minimum", minimum));
    if (minimum <= reach) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the minimum is %g, which is above the reach %g; pairs are searched within "
                      "reach",
                      minimum, reach);
}

static carom_impacts_query near_query(carom_context *context, const carom_soup *a,
                                      const carom_pose *pose_a, const carom_soup *b,
                                      const carom_pose *pose_b, double reach) {
    return (carom_impacts_query){.context = context,
                                 .a = a,
                                 .b = b,
                                 .pose_a = pose_a,
                                 .pose_b = pose_b,
                                 .what = "finding what is near",
                                 .whose_result = "a search for what is near",
                                 .decide = carom_impacts_decide_near,
                                 .task = CAROM_DEVICE_IMPACTS_NEAR,
                                 .near = true,
                                 .reach = reach};
}

/* A near pair is an impact whose time is a distance. */
static void fill_pair(const carom_soup_impact *from, carom_soup_near_pair *to) {
    carom_soup_impact passed;
    _Static_assert(sizeof(passed) == sizeof(*to) && offsetof(carom_soup_impact, time) ==
                                                        offsetof(carom_soup_near_pair, distance),
                   "near pairs and impacts have one layout");
    carom_impacts_pass(from, &passed);
    memcpy(to, &passed, sizeof(*to));
}

typedef struct near_pair_list {
    carom_context *context;
    carom_soup_near_pairs *pairs;
} near_pair_list;

static carom_status begin_near(void *user, uint64_t count, uint64_t *writable) {
    near_pair_list *list = user;
    return carom_soup_near_pairs_begin(list->context, &list->context->allocator, list->pairs, count,
                                       writable);
}

static void put_near(void *user, uint64_t at, const carom_soup_impact *found) {
    const near_pair_list *list = user;
    fill_pair(found, &list->pairs->data[at]);
}

static carom_status find_near_pairs(carom_impacts_query query, carom_soup_near_pairs *pairs) {
    near_pair_list list = {query.context, pairs};
    const carom_impacts_receiver receiver = {begin_near, put_near, &list};
    CAROM_TRY(carom_impacts_near_check(query.context, query.reach, 0.0));
    CAROM_TRY(carom_impacts_find_all(&query, &receiver));
    return carom_soup_near_pairs_end(pairs);
}

carom_status carom_soup_self_near(carom_context *context, const carom_soup *soup, double reach,
                                  carom_soup_near_pairs *pairs) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    return find_near_pairs(near_query(context, soup, NULL, NULL, NULL, reach), pairs);
}

carom_status carom_soup_cross_near(carom_context *context, const carom_soup *a,
                                   const carom_pose *pose_a, const carom_soup *b,
                                   const carom_pose *pose_b, double reach,
                                   carom_soup_near_pairs *pairs) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    return find_near_pairs(near_query(context, a, pose_a, b, pose_b, reach), pairs);
}

/* ---- Safe step ------------------------------------------------------------------------------- */

bool carom_impacts_decide_step(const carom_impacts_query *query, const carom_vec3 *start,
                               const carom_vec3 *end, int edges, carom_toi *found) {
    found->hit = carom_impacts_step(start, end, edges, query->reach, query->largest, &found->time);
    return true;
}

/* The positions of a vertex at a time, as callers compute them. */
static carom_vec3 impacts_near_position(const carom_soup_view *soup, const carom_mesh_view *end,
                                        double time, uint32_t vertex) {
    carom_vec3 p = carom_soup_view_position(soup, vertex);
    if (end == NULL) return p;
    carom_vec3 q = carom_mesh_position(end, vertex);
    return carom_vec_add(p, carom_vec_scale(carom_vec_sub(q, p), time));
}

/* The distance of the limiting pair at its time. */
static carom_status limit_distance(const carom_impacts_query *query, const carom_soup_impact *limit,
                                   carom_interval *distance) {
    carom_arena *scratch = carom_scratch(query->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_soup_view a, b;
    carom_status status = carom_soup_get_current_view(query->context, query->a, &a);
    b = a;
    if (status == CAROM_OK && query->b != NULL)
        status = carom_soup_get_current_view(query->context, query->b, &b);
    const carom_mesh_view *end_b = query->b != NULL ? query->end_b : query->end_a;
    bool edges = limit->kind == CAROM_SOUP_IMPACT_KIND_EDGE_EDGE;
    bool swap = limit->kind == CAROM_SOUP_IMPACT_KIND_FACE_VERTEX;
    uint32_t of_a = edges ? 2 : swap ? 3 : 1;
    carom_vec3 p[NEAR_VERTICES];
    for (uint32_t i = 0; i < NEAR_VERTICES && status == CAROM_OK; ++i) {
        uint32_t to = swap ? (i + 1) % NEAR_VERTICES : i;
        p[to] = i < of_a ? impacts_near_position(&a, query->end_a, limit->time.value, limit->a[i])
                         : impacts_near_position(&b, end_b, limit->time.value, limit->b[i - of_a]);
    }
    if (status == CAROM_OK) *distance = carom_impacts_near_distance(p, edges);
    carom_arena_rewind(scratch, mark);
    return status;
}

static carom_status find_step(carom_context *context, const carom_soup *a,
                              const carom_mesh_view *end_a, const carom_soup *b,
                              const carom_mesh_view *end_b, double minimum, carom_soup_step *step) {
    carom_impacts_query query = {.context = context,
                                 .a = a,
                                 .b = b,
                                 .end_a = end_a,
                                 .end_b = end_b,
                                 .what = "finding a safe step",
                                 .whose_result = "a search for a safe step",
                                 .decide = carom_impacts_decide_step,
                                 .task = CAROM_DEVICE_IMPACTS_STEP,
                                 .near = true,
                                 .reach = minimum};
    carom_soup_impact first;
    CAROM_TRY(check_length(context, "minimum", minimum));
    CAROM_TRY(carom_impacts_find_first(&query, &first));
    bool none = first.kind == CAROM_SOUP_IMPACT_KIND_NONE;
    if (!none) first.time = (carom_interval){first.time.lower, first.time.lower, first.time.lower};
    step->time = none ? 1.0 : first.time.value;
    fill_pair(&first, &step->limit);
    if (none) return CAROM_OK;
    CAROM_TRY(limit_distance(&query, &first, &step->limit.distance));
    /* the step keeps the minimum, unless there was less at the start */
    CAROM_ASSERT(step->time == 0.0 || step->limit.distance.upper >= minimum);
    return CAROM_OK;
}

carom_status carom_soup_self_safe_step(carom_context *context, const carom_soup *soup,
                                       const carom_mesh_view *end, double minimum,
                                       carom_soup_step *step) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE(end != NULL, CAROM_ARE_NULL("end positions"));
    CAROM_REQUIRE_OUTPUT(step, "step");
    return find_step(context, soup, end, NULL, NULL, minimum, step);
}

carom_status carom_soup_cross_safe_step(carom_context *context, const carom_soup *a,
                                        const carom_mesh_view *end_a, const carom_soup *b,
                                        const carom_mesh_view *end_b, double minimum,
                                        carom_soup_step *step) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(step, "step");
    return find_step(context, a, end_a, b, end_b, minimum, step);
}

/* ---- Safe distances -------------------------------------------------------------------------- */

/* The least distance of the pairs of each vertex, as bits of a double that is not negative: these
 * are in the order of the numbers. */
typedef struct least_distances {
    _Atomic uint64_t *of[2]; /* for one soup the same */
} least_distances;

static carom_status begin_least(void *user, uint64_t count, uint64_t *writable) {
    (void)user;
    *writable = count;
    return CAROM_OK;
}

static void lower_least(_Atomic uint64_t *least, double distance) {
    CAROM_ASSERT(!signbit(distance)); /* bits are in the order of the numbers */
    uint64_t bits, now = atomic_load_explicit(least, memory_order_relaxed);
    memcpy(&bits, &distance, sizeof(bits));
    while (bits < now && !atomic_compare_exchange_weak_explicit(
                             least, &now, bits, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void put_least(void *user, uint64_t at, const carom_soup_impact *found) {
    const least_distances *least = user;
    (void)at;
    for (int i = 0; i < 3; ++i) {
        if (found->a[i] != CAROM_NONE) lower_least(&least->of[0][found->a[i]], found->time.lower);
        if (found->b[i] != CAROM_NONE) lower_least(&least->of[1][found->b[i]], found->time.lower);
    }
}

static _Atomic uint64_t *begin_vertices(carom_context *context, uint64_t count, double reach) {
    _Atomic uint64_t *least =
        CAROM_ARENA_TAKE(carom_scratch(context, 0), _Atomic uint64_t, count + 1);
    uint64_t bits;
    memcpy(&bits, &reach, sizeof(bits));
    for (uint64_t v = 0; least != NULL && v < count; ++v) atomic_init(&least[v], bits);
    return least;
}

/* Half of what the least distance is above the minimum, rounded down. */
static void fill_distances(const carom_impacts_query *query, _Atomic uint64_t *least,
                           uint64_t count, double minimum, double *distances) {
    for (uint64_t v = 0; v < count; ++v) {
        uint64_t bits = atomic_load_explicit(&least[v], memory_order_relaxed);
        double distance;
        memcpy(&distance, &bits, sizeof(distance));
        CAROM_ASSERT(distance <= query->reach);
        distances[v] = carom_impacts_safe_distance(distance, minimum, query->largest);
        CAROM_ASSERT(distances[v] == 0.0 || minimum + 2.0 * distances[v] <= distance);
    }
}

static carom_status find_distances(carom_impacts_query query, double minimum, double *distances_a,
                                   double *distances_b) {
    carom_context *context = query.context;
    CAROM_TRY(carom_impacts_near_check(context, query.reach, minimum));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_soup_view a, b = {0};
    carom_soup_get_view(query.a, &a);
    if (query.b != NULL) carom_soup_get_view(query.b, &b);
    least_distances least;
    least.of[0] = begin_vertices(context, a.vertex_count, query.reach);
    least.of[1] =
        query.b != NULL ? begin_vertices(context, b.vertex_count, query.reach) : least.of[0];
    carom_status status = CAROM_OK;
    if (least.of[0] == NULL || least.of[1] == NULL)
        status = carom_fail_memory(context, (a.vertex_count + b.vertex_count) * sizeof(uint64_t),
                                   query.whose_result);
    const carom_impacts_receiver receiver = {begin_least, put_least, &least};
    if (status == CAROM_OK) status = carom_impacts_find_all(&query, &receiver);
    if (status == CAROM_OK)
        fill_distances(&query, least.of[0], a.vertex_count, minimum, distances_a);
    if (status == CAROM_OK && query.b != NULL)
        fill_distances(&query, least.of[1], b.vertex_count, minimum, distances_b);
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_soup_self_safe_distances(carom_context *context, const carom_soup *soup,
                                            double reach, double minimum, double *distances) {
    CAROM_REQUIRE_SOUP(context, soup);
    CAROM_REQUIRE_OUTPUT(distances, "distances");
    return find_distances(near_query(context, soup, NULL, NULL, NULL, reach), minimum, distances,
                          NULL);
}

carom_status carom_soup_cross_safe_distances(carom_context *context, const carom_soup *a,
                                             const carom_pose *pose_a, const carom_soup *b,
                                             const carom_pose *pose_b, double reach, double minimum,
                                             double *distances_a, double *distances_b) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE(distances_a != NULL && distances_b != NULL, CAROM_ARE_NULL("distances"));
    return find_distances(near_query(context, a, pose_a, b, pose_b, reach), minimum, distances_a,
                          distances_b);
}
