/* SPDX-License-Identifier: MIT */
/* Trees of contexts of backend cuda. The tree is built by the code of the CPU and copied; the calls
 * of tree.h are passed on to the GPU library, and those of cuda.h.
 *
 * What depends on the order of the CPU's search is refused: budgets, tolerances, and distances of
 * faces that are not exact. */
#include "tree/tree_device.h"

#include "base/progress.h"
#include "spheres/spheres_overlap.h"
#include "tree/tree_query.h"

static const carom_cuda_tree *tree_device_table(void) {
    return carom_device_table(CAROM_CUDA_TREE);
}

/* ---- Trees ----------------------------------------------------------------------------------- */

carom_status carom_tree_device_copy(carom_context *context, carom_tree *tree) {
    if (context->backend == CAROM_BACKEND_CPU) return CAROM_OK;
    CAROM_TRY(carom_context_require_table(context, tree_device_table(), "sphere trees"));
    CAROM_TRY(carom_device_pass(context,
                                tree_device_table()->create(context->device, tree, &tree->device)));
    tree->info.bytes += tree_device_table()->bytes(tree->device);
    return CAROM_OK;
}

void carom_tree_device_release(carom_tree *tree) {
    if (tree->device != NULL) tree_device_table()->destroy(tree->device);
    tree->device = NULL;
}

/* ---- What is offered ------------------------------------------------------------------------- */

carom_status carom_tree_check_backend(carom_context *context, const carom_tree *a,
                                      const carom_tree *b) {
    CAROM_TRY(
        carom_context_require_made(context, carom_backend_of(a->device), "the first sphere tree"));
    return carom_context_require_made(context, carom_backend_of(b->device),
                                      "the second sphere tree");
}

static bool tree_device_has_faces(const carom_tree *a, const carom_tree *b) {
    return a->surface.triangle_count != 0 && b->surface.triangle_count != 0;
}

/* CAROM_OK where the answer does not depend on the order of the CPU's search. */
static carom_status tree_device_check(carom_context *context, const carom_tree_query_def *def) {
    if (def->work_budget == 0 && def->time_budget == 0.0 && def->tolerance == 0.0) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "a query of sphere trees with a budget or a tolerance is not implemented on "
                      "cuda: what it leaves out depends on the order of the CPU's search");
}

static carom_status tree_device_check_distance(carom_context *context, const carom_tree *a,
                                               const carom_tree *b,
                                               const carom_tree_query_def *def) {
    CAROM_TRY(tree_device_check(context, def));
    if (def->exact_distance || !tree_device_has_faces(a, b)) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "a distance of faces within a tolerance is not implemented on cuda: set "
                      "exact_distance");
}

/* Whether octrees are to bound the overlap, too. */
static bool tree_device_narrows(const carom_tree_query_def *def) {
    return def->narrow_limits && !def->skip_limits;
}

static carom_status tree_device_check_overlap(carom_context *context, const carom_tree *a,
                                              const carom_tree *b,
                                              const carom_tree_query_def *def) {
    CAROM_TRY(tree_device_check(context, def));
    if (tree_device_narrows(def) && (a->cells.count == 0 || b->cells.count == 0))
        return carom_context_require_cpu(
            context, "an overlap with narrow_limits of sphere trees without meshes");
    if (def->flip && a->outward != NULL && b->outward != NULL)
        return carom_context_require_cpu(context, "an overlap of sphere trees with flip");
    return CAROM_OK;
}

/* ---- Arrays of the host ---------------------------------------------------------------------- */

static carom_device_tree_query tree_device_query_of(const carom_tree_pair *pair) {
    return (carom_device_tree_query){
        .a = {.tree = pair->a, .pose = pair->pose_a, .scale = pair->scale_a},
        .b = {.tree = pair->b, .pose = pair->pose_b, .scale = pair->scale_b},
        .hint = {CAROM_NONE, CAROM_NONE}};
}

/* Runs a search and waits. Adds to the work of the context. */
static carom_status tree_device_run(carom_context *context,
                                    const carom_device_tree_search *search) {
    CAROM_TRY(carom_cuda_finish(context));
    carom_progress_begin(context, "comparing sphere trees", 0);
    return carom_progress_finish(
        context, carom_device_pass(context, tree_device_table()->search_of_host(
                                                context->device, search, &context->work)));
}

carom_status carom_tree_device_meet(carom_context *context, const carom_tree_pair *pair,
                                    bool *meet) {
    const carom_device_tree_query query = tree_device_query_of(pair);
    const carom_device_tree_search search = {.all = &query, .count = 1, .meet = meet};
    context->work = (carom_work){0};
    return tree_device_run(context, &search);
}

/* The pairs of a batch whose distance is that of faces, or of spheres, while they are searched. */
typedef struct tree_device_batch {
    const carom_tree_pair *pairs;
    uint64_t count;
    bool faces;
    uint64_t *order; /* which they are */
    carom_device_tree_query *queries;
    carom_tree_gap *gaps;
    uint32_t *nearest;
} tree_device_batch;

static bool tree_device_take(carom_arena *scratch, tree_device_batch *batch) {
    uint64_t n = batch->count;
    batch->order = CAROM_ARENA_TAKE(scratch, uint64_t, n);
    batch->queries = CAROM_ARENA_TAKE(scratch, carom_device_tree_query, n);
    batch->gaps = CAROM_ARENA_TAKE(scratch, carom_tree_gap, n);
    batch->nearest = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * n);
    return batch->order != NULL && batch->queries != NULL && batch->gaps != NULL &&
           batch->nearest != NULL;
}

/* `apart`: of each pair, whether it is known that no covers meet; NULL: of none. */
static carom_status tree_device_search(carom_context *context, tree_device_batch *batch,
                                       const bool *apart, carom_tree_gap *gaps) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < batch->count; ++i) {
        const carom_tree_pair *p = &batch->pairs[i];
        if (tree_device_has_faces(p->a, p->b) != batch->faces) continue;
        carom_device_tree_query *q = &batch->queries[count];
        *q = tree_device_query_of(p);
        if (p->hint != NULL) carom_tree_read_hint(p->hint, batch->faces, q->hint);
        q->apart = apart != NULL && apart[i];
        batch->order[count++] = i;
    }
    if (count == 0) return CAROM_OK;
    const carom_device_tree_search search = {.all = batch->queries,
                                             .count = count,
                                             .faces = batch->faces,
                                             .gaps = batch->gaps,
                                             .nearest = batch->nearest,
                                             .complete = carom_tree_complete_gap};
    CAROM_TRY(tree_device_run(context, &search));
    for (uint64_t i = 0; i < count; ++i) {
        const carom_tree_pair *p = &batch->pairs[batch->order[i]];
        gaps[batch->order[i]] = batch->gaps[i];
        if (p->hint != NULL) carom_tree_write_hint(&batch->nearest[2 * i], batch->faces, p->hint);
    }
    return CAROM_OK;
}

static carom_status tree_device_distances(carom_context *context, const carom_tree_pair *pairs,
                                          uint64_t count, const bool *apart, carom_tree_gap *gaps) {
    tree_device_batch batch = {.pairs = pairs, .count = count};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status =
        tree_device_take(scratch, &batch)
            ? CAROM_OK
            : carom_fail_memory(context, count * sizeof(*gaps), "queries of sphere trees");
    for (int faces = 0; faces < 2 && status == CAROM_OK; ++faces) {
        batch.faces = faces != 0;
        status = tree_device_search(context, &batch, apart, gaps);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

/* A check of what is offered. */
typedef carom_status tree_device_check_fn(carom_context *context, const carom_tree *a,
                                          const carom_tree *b, const carom_tree_query_def *def);

static carom_status tree_device_check_pairs(carom_context *context, const carom_tree_pair *pairs,
                                            uint64_t count, const carom_tree_query_def *def,
                                            tree_device_check_fn *check) {
    for (uint64_t i = 0; i < count; ++i) {
        carom_status status = check(context, pairs[i].a, pairs[i].b, def);
        if (status != CAROM_OK)
            return count == 1 ? status : carom_fail_at(context, status, "pair", i);
    }
    return CAROM_OK;
}

carom_status carom_tree_device_distances(carom_context *context, const carom_tree_pair *pairs,
                                         uint64_t count, const carom_tree_query_def *def,
                                         carom_tree_gap *gaps) {
    context->work = (carom_work){0};
    CAROM_TRY(tree_device_check_pairs(context, pairs, count, def, tree_device_check_distance));
    return tree_device_distances(context, pairs, count, NULL, gaps);
}

/* Overlaps whose bounds the host narrows, on all threads. */
typedef struct tree_device_narrowing {
    carom_context *context;
    const carom_tree_pair *pairs;
    const uint64_t *visits;
    carom_packing_overlap *overlaps;
} tree_device_narrowing;

static carom_status tree_device_narrow_range(void *argument, carom_range range) {
    const tree_device_narrowing *all = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        CAROM_TRY(carom_tree_narrow_overlap(all->context, range.worker, &all->pairs[i],
                                            all->visits[i], &all->overlaps[i]));
    return CAROM_OK;
}

static carom_status tree_device_narrow(const tree_device_narrowing *all, uint64_t count) {
    tree_device_narrowing narrowing = *all;
    carom_context *context = all->context;
    carom_status status = carom_parallel_phase(context, "bounding overlaps by octrees", count, 1,
                                               tree_device_narrow_range, &narrowing);
    context->work.undecided += count;
    if (status == CAROM_UNSUPPORTED)
        return carom_context_require_cpu(context,
                                         "an overlap with narrow_limits of trees so far apart");
    return carom_tree_fail_query(context, status);
}

/* What a batch of overlaps needs; visits where bounds are narrowed. */
static carom_status tree_device_overlaps(carom_context *context, const carom_tree_pair *pairs,
                                         uint64_t count, const carom_tree_query_def *def,
                                         carom_packing_overlap *overlaps) {
    bool narrows = tree_device_narrows(def);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_device_tree_query *queries = CAROM_ARENA_TAKE(scratch, carom_device_tree_query, count);
    uint64_t *visits = narrows ? CAROM_ARENA_TAKE(scratch, uint64_t, count) : NULL;
    carom_status status = CAROM_OK;
    if (queries == NULL || (narrows && visits == NULL))
        status = carom_fail_memory(context, count * sizeof(*queries), "queries of sphere trees");
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i)
        queries[i] = tree_device_query_of(&pairs[i]);
    const carom_device_tree_search search = {.all = queries,
                                             .count = count,
                                             .overlaps = overlaps,
                                             .bounds = !def->skip_limits,
                                             .visits = visits};
    const tree_device_narrowing narrowing = {context, pairs, visits, overlaps};
    if (status == CAROM_OK) status = tree_device_run(context, &search);
    if (status == CAROM_OK && narrows) status = tree_device_narrow(&narrowing, count);
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_tree_device_overlaps(carom_context *context, const carom_tree_pair *pairs,
                                        uint64_t count, const carom_tree_query_def *def,
                                        carom_packing_overlap *overlaps) {
    context->work = (carom_work){0};
    CAROM_TRY(tree_device_check_pairs(context, pairs, count, def, tree_device_check_overlap));
    return tree_device_overlaps(context, pairs, count, def, overlaps);
}

/* What queries need while they run. */
typedef struct tree_device_query_batch {
    carom_packing_overlap *overlaps;
    carom_tree_pair *open; /* pairs that do not certainly overlap */
    uint64_t *order;       /* which they are */
    bool *apart;
    carom_tree_gap *gaps;
} tree_device_query_batch;

static bool tree_device_take_queries(carom_arena *scratch, uint64_t count,
                                     tree_device_query_batch *batch) {
    batch->overlaps = CAROM_ARENA_TAKE(scratch, carom_packing_overlap, count);
    batch->open = CAROM_ARENA_TAKE(scratch, carom_tree_pair, count);
    batch->order = CAROM_ARENA_TAKE(scratch, uint64_t, count);
    batch->apart = CAROM_ARENA_TAKE(scratch, bool, count);
    batch->gaps = CAROM_ARENA_TAKE(scratch, carom_tree_gap, count);
    return batch->overlaps != NULL && batch->open != NULL && batch->order != NULL &&
           batch->apart != NULL && batch->gaps != NULL;
}

/* The overlaps of all, then the distances of those that do not certainly overlap. */
static carom_status tree_device_run_queries(carom_context *context, const carom_tree_pair *pairs,
                                            uint64_t count, const carom_tree_query_def *def,
                                            tree_device_query_batch *batch,
                                            carom_tree_result *results) {
    uint64_t open = 0;
    CAROM_TRY(tree_device_overlaps(context, pairs, count, def, batch->overlaps));
    for (uint64_t i = 0; i < count; ++i) {
        carom_relation relation = batch->overlaps[i].relation;
        memset(&results[i], 0, sizeof(results[i]));
        results[i].overlap = batch->overlaps[i];
        if (relation >= CAROM_RELATION_OVERLAPPING) continue;
        batch->open[open] = pairs[i];
        batch->apart[open] = relation == CAROM_RELATION_APART;
        batch->order[open++] = i;
    }
    if (open == 0) return CAROM_OK;
    CAROM_TRY(tree_device_distances(context, batch->open, open, batch->apart, batch->gaps));
    for (uint64_t i = 0; i < open; ++i) {
        results[batch->order[i]].gap = batch->gaps[i];
        results[batch->order[i]].has_gap = true;
    }
    return CAROM_OK;
}

carom_status carom_tree_device_queries(carom_context *context, const carom_tree_pair *pairs,
                                       uint64_t count, const carom_tree_query_def *def,
                                       carom_tree_result *results) {
    tree_device_query_batch batch;
    context->work = (carom_work){0};
    CAROM_TRY(tree_device_check_pairs(context, pairs, count, def, tree_device_check_overlap));
    CAROM_TRY(tree_device_check_pairs(context, pairs, count, def, tree_device_check_distance));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status =
        tree_device_take_queries(scratch, count, &batch)
            ? tree_device_run_queries(context, pairs, count, def, &batch, results)
            : carom_fail_memory(context, count * sizeof(*results), "queries of sphere trees");
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Arrays in device memory ----------------------------------------------------------------- */

/* Checks trees and scales, and sets the query. */
static carom_status tree_device_begin(carom_context *context, const carom_tree *a,
                                      const carom_pose *poses_a, const carom_tree *b,
                                      const carom_pose *poses_b, const carom_tree_query_def *def,
                                      carom_device_tree_query *query) {
    CAROM_REQUIRE(def->hint == NULL, "the def has a hint; poses in device memory have none");
    CAROM_TRY(carom_tree_check_query(context, a, NULL, b, NULL, def));
    CAROM_TRY(carom_context_require_table(context, tree_device_table(), "sphere trees"));
    const carom_tree_pair pair = carom_tree_pair_of(a, NULL, b, NULL, def);
    *query = tree_device_query_of(&pair);
    query->a.poses = poses_a;
    query->b.poses = poses_b;
    return CAROM_OK;
}

carom_status carom_cuda_tree_meet(carom_context *context, const carom_tree *a,
                                  const carom_pose *device_poses_a, const carom_tree *b,
                                  const carom_pose *device_poses_b, uint64_t count,
                                  const carom_tree_query_def *def, bool *device_meet) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "tree");
    CAROM_REQUIRE_OUTPUTS(device_meet, count, "device_meet");
    carom_device *device;
    carom_device_tree_search search = {.count = count, .meet = device_meet};
    if (def == NULL) def = &carom_tree_query_defaults;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(tree_device_begin(context, a, device_poses_a, b, device_poses_b, def, &search.one));
    return carom_device_pass(context, tree_device_table()->search(device, &search));
}

carom_status carom_cuda_tree_distance(carom_context *context, const carom_tree *a,
                                      const carom_pose *device_poses_a, const carom_tree *b,
                                      const carom_pose *device_poses_b, uint64_t count,
                                      const carom_tree_query_def *def,
                                      carom_tree_gap *device_gaps) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "tree");
    CAROM_REQUIRE_OUTPUTS(device_gaps, count, "device_gaps");
    carom_device *device;
    carom_device_tree_search search = {.count = count,
                                       .faces = tree_device_has_faces(a, b),
                                       .gaps = device_gaps,
                                       .complete = carom_tree_complete_gap};
    if (def == NULL) def = &carom_tree_query_defaults;
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(tree_device_begin(context, a, device_poses_a, b, device_poses_b, def, &search.one));
    CAROM_TRY(tree_device_check_distance(context, a, b, def));
    return carom_device_pass(context, tree_device_table()->search(device, &search));
}

carom_status carom_cuda_tree_overlap(carom_context *context, const carom_tree *a,
                                     const carom_pose *device_poses_a, const carom_tree *b,
                                     const carom_pose *device_poses_b, uint64_t count,
                                     const carom_tree_query_def *def,
                                     carom_packing_overlap *device_overlaps) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "tree");
    CAROM_REQUIRE_OUTPUTS(device_overlaps, count, "device_overlaps");
    carom_device *device;
    if (def == NULL) def = &carom_tree_query_defaults;
    carom_device_tree_search search = {
        .count = count, .overlaps = device_overlaps, .bounds = !def->skip_limits};
    CAROM_TRY(carom_device_of(context, "a result in device memory", &device));
    CAROM_TRY(tree_device_begin(context, a, device_poses_a, b, device_poses_b, def, &search.one));
    CAROM_TRY(tree_device_check_overlap(context, a, b, def));
    if (tree_device_narrows(def))
        return carom_context_require_cpu(context, "narrow_limits with poses in device memory");
    return carom_device_pass(context, tree_device_table()->search(device, &search));
}
