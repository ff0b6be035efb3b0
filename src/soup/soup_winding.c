/* SPDX-License-Identifier: MIT */
/* Inside and outside of a soup: exact winding numbers where the soup is balanced, generalised ones
 * for any soup, and distances with the sign that follows from them (bvh_winding.c). */
#include "base/progress.h"
#include "mesh/mesh_report.h"
#include "soup/soup_points.h"

static bool soup_winding_triangle_at(const void *user, uint32_t slot, carom_triangle *triangle) {
    const carom_soup *soup = user;
    *triangle = carom_soup_triangle(soup, soup->slot_corners + 3 * (uint64_t)slot);
    return soup->states[soup->bvh.items[slot]] == 0;
}

typedef struct winding_query {
    carom_soup_batch batch;
    const carom_vec3 *points;
    carom_bvh_faces faces;
    carom_bvh_field field;
    bool exact;
    int32_t *windings; /* the results, depending on the query */
    double *values;
    carom_hit *hits;
} winding_query;

static winding_query query_make(carom_context *context, const carom_soup *soup,
                                const carom_vec3 *points) {
    return (winding_query){
        .batch = {.context = context, .soup = soup},
        .points = points,
        .faces = {&soup->bvh, soup->scale, soup->origin, soup_winding_triangle_at, soup},
    };
}

/* ---- One point ------------------------------------------------------------------------------- */

/* The exact winding number, or CAROM_SOUP_ON_SURFACE. */
static carom_status wind(const winding_query *q, uint64_t i, uint32_t worker, int32_t *winding) {
    carom_arena *scratch = carom_scratch(q->batch.context, worker);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_bvh_found *found = CAROM_ARENA_TAKE(scratch, carom_bvh_found, 1);
    if (found == NULL) return CAROM_NO_MEMORY;
    if (!carom_bvh_winding(q->batch.context, &q->faces, q->points[i], found, winding))
        *winding = CAROM_SOUP_ON_SURFACE;
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

static double fraction(const winding_query *q, uint64_t i) {
    return carom_bvh_winding_fraction(q->batch.context, &q->faces, &q->field, q->points[i]);
}

static carom_status answer_winding(const carom_soup_batch *batch, uint64_t i,
                                   carom_soup_turn *turn) {
    const winding_query *q = (const winding_query *)batch;
    return wind(q, i, turn->worker, &q->windings[i]);
}

static carom_status answer_fraction(const carom_soup_batch *batch, uint64_t i,
                                    carom_soup_turn *turn) {
    const winding_query *q = (const winding_query *)batch;
    (void)turn;
    q->values[i] = fraction(q, i);
    return CAROM_OK;
}

static carom_status answer_distance(const carom_soup_batch *batch, uint64_t i,
                                    carom_soup_turn *turn) {
    const winding_query *q = (const winding_query *)batch;
    carom_hit hit = carom_soup_find_nearest(batch->context, batch->soup, q->points[i], turn);
    int32_t winding = 0;
    if (!q->exact)
        winding = fraction(q, i) >= 0.5 ? 1 : 0;
    else
        CAROM_TRY(wind(q, i, turn->worker, &winding));
    double distance = winding == CAROM_SOUP_ON_SURFACE ? 0.0 : hit.distance;
    q->values[i] = winding >= 1 && distance > 0.0 ? -distance : distance;
    if (q->hits != NULL) q->hits[i] = hit;
    return CAROM_OK;
}

/* ---- Preparations of a batch ----------------------------------------------------------------- */

/* Takes scratch of worker 0. */
static carom_status make_field(winding_query *q) {
    carom_context *context = q->batch.context;
    return carom_bvh_field_make(context, carom_scratch(context, 0), &q->faces, &q->field);
}

carom_status carom_soup_make_field(carom_context *context, const carom_soup *on_cpu,
                                   carom_device_field *field) {
    const carom_bvh *bvh = &on_cpu->bvh;
    winding_query q = query_make(context, on_cpu, NULL);
    CAROM_TRY(make_field(&q));
    CAROM_ASSERT(bvh->level_count < CAROM_DEVICE_FIELD_LEVELS);
    *field =
        (carom_device_field){.corners = q.field.corners,
                             .moments = q.field.moments,
                             .moment_bytes = carom_bvh_field_nodes(bvh) * sizeof(*q.field.moments),
                             .level_count = bvh->level_count,
                             .scale = on_cpu->scale,
                             .origin = on_cpu->origin};
    if (bvh->level_count != 0) field->corner_bytes = bvh->node_count[0] * sizeof(*q.field.corners);
    for (uint32_t level = 1; level <= bvh->level_count; ++level)
        field->first[level] = carom_bvh_field_first(bvh, level);
    return CAROM_OK;
}

/* Whether the faces that are not removed are balanced. Takes scratch of worker 0. */
static carom_status compute_balanced(carom_context *context, const carom_soup *soup,
                                     bool *balanced) {
    carom_mesh_view view = {.vertex_count = soup->vertex_count,
                            .corners = soup->corners,
                            .face_count = soup->triangle_count};
    carom_mesh_report report = {0};
    if (soup->dead_faces != 0) {
        uint32_t *corners = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t,
                                             3 * (uint64_t)soup->triangle_count);
        if (corners == NULL)
            return carom_fail_memory(context, 12 * (uint64_t)soup->triangle_count, "a soup");
        view.corners = corners;
        view.face_count = 0;
        for (uint64_t t = 0; t < soup->triangle_count; ++t) {
            if ((soup->states[t] & CAROM_SOUP_DEAD) != 0) continue;
            memcpy(corners + 3 * view.face_count++, soup->corners + 3 * t, 3 * sizeof(uint32_t));
        }
    }
    CAROM_TRY(carom_report_edges(context, &view, &report));
    *balanced = report.balanced;
    return CAROM_OK;
}

/* The same, computed by the first query after a change and kept in the soup's cache. */
carom_status carom_soup_find_balanced(carom_context *context, const carom_soup *soup,
                                      bool *balanced) {
    _Atomic uint8_t *known = &soup->cache->balanced;
    uint8_t value = atomic_load_explicit(known, memory_order_relaxed);
    *balanced = value == CAROM_SOUP_BALANCED_YES;
    if (value != CAROM_SOUP_BALANCED_UNKNOWN) return CAROM_OK;
    CAROM_TRY(compute_balanced(context, soup, balanced));
    value = *balanced ? CAROM_SOUP_BALANCED_YES : CAROM_SOUP_BALANCED_NO;
    atomic_store_explicit(known, value, memory_order_relaxed);
    return CAROM_OK;
}

static carom_status prepare_signs(winding_query *q) {
    CAROM_TRY(carom_soup_find_balanced(q->batch.context, q->batch.soup, &q->exact));
    return q->exact ? CAROM_OK : make_field(q);
}

/* Prepares in scratch, then answers all points, as one phase of progress. */
static carom_status soup_winding_answer_all(winding_query *q,
                                            carom_status (*prepare)(winding_query *q),
                                            const char *what, uint64_t count) {
    carom_context *context = q->batch.context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, what, count);
    carom_status status = count != 0 ? prepare(q) : CAROM_OK;
    if (status == CAROM_OK) status = carom_soup_batch_sort(&q->batch, q->points, count);
    if (status == CAROM_OK) status = carom_soup_batch_run(&q->batch, what, count);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

/* ---- Queries --------------------------------------------------------------------------------- */

carom_status carom_soup_winding(carom_context *context, const carom_soup *soup,
                                const carom_vec3 *points, uint64_t count, int32_t *windings) {
    CAROM_REQUIRE_BATCH(context, soup, points, count, windings);
    if (carom_soup_on_device(context))
        return carom_soup_device_winding(context, soup, points, count, windings);
    CAROM_TRY(carom_soup_check_points(context, soup, points, count));
    winding_query q = query_make(context, soup, points);
    q.batch.answer = answer_winding;
    q.windings = windings;
    return carom_soup_batch_run(&q.batch, "counting windings", count);
}

carom_status carom_soup_winding_fractions(carom_context *context, const carom_soup *soup,
                                          const carom_vec3 *points, uint64_t count,
                                          double *windings) {
    CAROM_REQUIRE_BATCH(context, soup, points, count, windings);
    if (carom_soup_on_device(context))
        return carom_soup_device_winding_fractions(context, soup, points, count, windings);
    CAROM_TRY(carom_soup_check_points(context, soup, points, count));
    winding_query q = query_make(context, soup, points);
    q.batch.answer = answer_fraction;
    q.values = windings;
    return soup_winding_answer_all(&q, make_field, "adding solid angles", count);
}

carom_status carom_soup_signed_distances(carom_context *context, const carom_soup *soup,
                                         const carom_vec3 *points, uint64_t count,
                                         double *distances, carom_hit *hits) {
    CAROM_REQUIRE_BATCH(context, soup, points, count, distances);
    if (carom_soup_on_device(context))
        return carom_soup_device_signed_distances(context, soup, points, count, distances, hits);
    CAROM_TRY(carom_soup_check_points(context, soup, points, count));
    winding_query q = query_make(context, soup, points);
    q.batch.answer = answer_distance;
    q.values = distances;
    q.hits = hits;
    return soup_winding_answer_all(&q, prepare_signs, "finding signed distances", count);
}
