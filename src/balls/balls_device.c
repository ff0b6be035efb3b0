/* SPDX-License-Identifier: MIT */
/* Balls of contexts of backend cuda: the calls of balls.h passed on to the GPU library, and those
 * of cuda.h.
 *
 * What a packing's spheres have in common is computed on the host, in their order, so that it has
 * the bits of all engines; the spheres and their grid are on the device alone. */
#include "balls/balls.h"

#include "base/array.h"
#include "base/progress.h"
#include "grid/grid.h"
#include "spheres/spheres_overlap.h"

static const carom_cuda_balls *balls_device_table(void) {
    return carom_device_table(CAROM_CUDA_BALLS);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

carom_status carom_balls_check_backend(carom_context *context, const carom_balls *a,
                                       const carom_balls *b) {
    CAROM_TRY(
        carom_context_require_made(context, carom_backend_of(a->device), "the first set of balls"));
    return carom_context_require_made(context, carom_backend_of(b->device),
                                      "the second set of balls");
}

static carom_status balls_device_build(carom_context *context, carom_balls *balls,
                                       const carom_spheres_view *spheres, const char *what) {
    carom_balls_view view;
    CAROM_TRY(carom_balls_describe(context, &balls->def, spheres, what, &view));
    if (balls->device == NULL)
        CAROM_TRY(carom_device_pass(context,
                                    balls_device_table()->create(context->device, &balls->device)));
    CAROM_TRY(carom_device_pass(
        context, balls_device_table()->set(context->device, balls->device, &view, spheres->data)));
    balls->grid.view = view;
    return CAROM_OK;
}

carom_status carom_balls_device_build(carom_context *context, carom_balls *balls,
                                      const carom_spheres_view *spheres, const char *what) {
    CAROM_TRY(carom_context_require_table(context, balls_device_table(), "balls"));
    CAROM_TRY(carom_grid_require_device_hash(context, balls->def.hash));
    carom_progress_begin(context, "entering spheres in a grid", 0);
    return carom_progress_finish(context, balls_device_build(context, balls, spheres, what));
}

void carom_balls_device_release(carom_balls *balls) {
    if (balls->device != NULL) balls_device_table()->destroy(balls->device);
    balls->device = NULL;
}

uint64_t carom_balls_device_bytes(const carom_balls *balls) {
    return balls->device != NULL ? balls_device_table()->bytes(balls->device) : 0;
}

uint64_t carom_balls_device_entries(const carom_balls *balls) {
    return balls_device_table()->entries(balls->device);
}

/* ---- Queries with results on the host -------------------------------------------------------- */

static carom_device_balls_query balls_device_query_of(const carom_balls_pair *m) {
    return (carom_device_balls_query){
        .a = {.balls = m->a->device, .pose = m->pose_a, .scale = m->scale_a},
        .b = {.balls = m->b->device, .pose = m->pose_b, .scale = m->scale_b}};
}

static carom_status overlap_all(carom_context *context, const carom_balls_pair *queries,
                                uint64_t count, bool skip_limits, carom_packing_overlap *overlaps) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_device_balls_query *all = CAROM_ARENA_TAKE(scratch, carom_device_balls_query, count);
    if (all == NULL) return carom_fail_memory(context, count * sizeof(*all), "a query of balls");
    for (uint64_t i = 0; i < count; ++i) all[i] = balls_device_query_of(&queries[i]);
    carom_status status =
        carom_device_pass(context, balls_device_table()->overlap_many(context->device, all, count,
                                                                      !skip_limits, overlaps));
    carom_arena_rewind(scratch, mark);
    CAROM_TRY(status);
    return carom_device_pass(context,
                             balls_device_table()->get_work(context->device, &context->work));
}

carom_status carom_balls_device_overlap(carom_context *context, const carom_balls_pair *queries,
                                        uint64_t count, bool skip_limits,
                                        carom_packing_overlap *overlaps) {
    context->work = (carom_work){0};
    if (count == 0) return CAROM_OK;
    carom_progress_begin(context, "comparing balls", 0);
    return carom_progress_finish(context,
                                 overlap_all(context, queries, count, skip_limits, overlaps));
}

static carom_status balls_device_find(carom_context *context, const carom_balls_pair *query,
                                      carom_balls_pair_kind kind, bool any, carom_cuda_pairs *pairs,
                                      uint64_t *count) {
    carom_device_balls_query m = balls_device_query_of(query);
    CAROM_TRY(carom_cuda_finish(context));
    context->work = (carom_work){0};
    CAROM_TRY(carom_device_pass(context, balls_device_table()->search(context->device, &m, kind,
                                                                      any, CAROM_CUDA_ORDER_SORTED,
                                                                      pairs, count)));
    CAROM_TRY(carom_cuda_finish(context));
    return carom_device_pass(context,
                             balls_device_table()->get_work(context->device, &context->work));
}

carom_status carom_balls_device_pairs(carom_context *context, const carom_balls_pair *query,
                                      carom_balls_pair_kind kind, bool any, carom_pairs *pairs,
                                      uint64_t *count) {
    uint64_t space;
    carom_cuda_pairs *found = pairs != NULL ? &context->device_pairs : NULL;
    carom_progress_begin(context, "comparing balls", 0);
    CAROM_TRY(
        carom_progress_finish(context, balls_device_find(context, query, kind, any, found, count)));
    if (pairs == NULL) return CAROM_OK;
    CAROM_TRY(carom_pairs_begin(context, &context->allocator, pairs, *count, &space));
    CAROM_TRY(carom_cuda_read(context, pairs->data, found->data, space * sizeof(carom_pair)));
    return carom_pairs_end(pairs);
}

/* ---- Input and results on the device --------------------------------------------------------- */

/* Checks scales; the packings without a pose. */
static carom_status balls_device_check(carom_context *context, const carom_balls *a,
                                       const carom_balls *b, const carom_balls_query_def *def) {
    CAROM_TRY(carom_balls_check_backend(context, a, b));
    CAROM_TRY(carom_spheres_check_pose(context, &a->grid.view.extent, NULL, def->scale_a, "a"));
    return carom_spheres_check_pose(context, &b->grid.view.extent, NULL, def->scale_b, "b");
}

carom_status carom_cuda_balls_overlap(carom_context *context, const carom_balls *a,
                                      const carom_pose *poses_a, const carom_balls *b,
                                      const carom_pose *poses_b, uint64_t count,
                                      const carom_balls_query_def *def,
                                      carom_packing_overlap *overlaps) {
    const carom_balls_query_def defaults = {0};
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "set of balls");
    CAROM_REQUIRE_OUTPUTS(overlaps, count, "overlaps");
    if (def == NULL) def = &defaults;
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(balls_device_check(context, a, b, def));
    if (count == 0) return CAROM_OK;
    const carom_device_balls_query m = {
        .a = {.balls = a->device, .poses = poses_a, .scale = def->scale_a},
        .b = {.balls = b->device, .poses = poses_b, .scale = def->scale_b}};
    return carom_device_pass(
        context, balls_device_table()->overlap(device, &m, count, !def->skip_limits, overlaps));
}

carom_status carom_cuda_balls_pairs(carom_context *context, const carom_balls *a,
                                    const carom_pose *pose_a, const carom_balls *b,
                                    const carom_pose *pose_b, carom_balls_pair_kind kind,
                                    carom_cuda_order order, const carom_balls_query_def *def,
                                    carom_cuda_pairs *pairs) {
    const carom_balls_query_def defaults = {0};
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "set of balls");
    CAROM_REQUIRE_KNOWN(kind, CAROM_BALLS_PAIR_KIND_COUNT, "kind");
    CAROM_REQUIRE_KNOWN(order, CAROM_CUDA_ORDER_COUNT, "order");
    CAROM_REQUIRE_OUTPUT(pairs, "pairs");
    if (def == NULL) def = &defaults;
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(balls_device_check(context, a, b, def));
    const carom_device_balls_query m = {
        .a = {.balls = a->device, .poses = pose_a, .scale = def->scale_a},
        .b = {.balls = b->device, .poses = pose_b, .scale = def->scale_b}};
    return carom_device_pass(
        context, balls_device_table()->search(device, &m, kind, false, order, pairs, NULL));
}
