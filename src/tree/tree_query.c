/* SPDX-License-Identifier: MIT */
/* Queries of two trees, of one pair or of many: arguments are checked, the pair is posed
 * (tree_posed_pair.c), and its overlap (tree_overlap.c) or distance (tree_distance.c) computed.
 *
 * Invariant: a pair of a batch is computed by one worker from its own values alone, so that the
 * number of threads has no effect. */
#include "tree/tree_query.h"

#include "spheres/spheres_overlap.h"
#include "tree/tree_device.h"

carom_tree_budget carom_tree_budget_make(const carom_tree_query_def *def, double start,
                                         double finish_part) {
    bool timed = def->time_budget > 0.0;
    return (carom_tree_budget){.most_visits = def->work_budget != 0 ? def->work_budget : UINT64_MAX,
                               .deadline = timed ? start + def->time_budget * (1.0 - finish_part)
                                                 : HUGE_VAL,
                               .look_at = timed ? 0 : UINT64_MAX};
}

/* Visits that are expected at most: more than any query makes, and sums of two fit 64 bits. */
#define TREE_VISITS_MOST 0x1p60

bool carom_tree_look(carom_tree_budget *b) {
    double now = carom_time_seconds(), left = b->deadline - now;
    uint64_t step = CAROM_TREE_CLOCK_VISITS;
    if (b->looked > 0.0 && b->visits > b->looked_at) {
        double each = (now - b->looked) / (double)(b->visits - b->looked_at);
        b->slowest = CAROM_MAX(each, b->slowest);
        double visits = CAROM_MIN(CAROM_MAX(left, 0.0) / b->slowest, TREE_VISITS_MOST);
        step = CAROM_MAX(step, (uint64_t)(CAROM_TREE_CLOCK_PART * visits));
        if (b->begun > 0.0) {
            b->mean = (now - b->begun) / (double)(b->visits - b->begun_at);
        } else { /* the first ones were slow: nothing was in the cache */
            b->begun = now;
            b->begun_at = b->visits;
        }
    }
    b->looked = now;
    b->looked_at = b->visits;
    b->look_at = b->visits + step;
    return !(left > 0.0);
}

uint64_t carom_tree_visits_left(const carom_tree_budget *b) {
    uint64_t left = b->most_visits > b->visits ? b->most_visits - b->visits : 0;
    if (!(b->deadline < HUGE_VAL) || !(b->mean > 0.0)) return left;
    double time = b->deadline - b->looked - b->mean * (double)(b->visits - b->looked_at);
    double visits = CAROM_MIN(CAROM_MAX(time, 0.0) / b->mean, TREE_VISITS_MOST);
    return CAROM_MIN(left, (uint64_t)visits);
}

void carom_tree_count_work(const carom_tree_budget *budget, carom_work *work) {
    work->visits += budget->visits;
    work->candidates += budget->candidates;
}

carom_tree_pair carom_tree_pair_of(const carom_tree *a, const carom_pose *pose_a,
                                   const carom_tree *b, const carom_pose *pose_b,
                                   const carom_tree_query_def *def) {
    carom_tree_pair p = {.a = a, .b = b, .scale_a = def->scale_a, .scale_b = def->scale_b};
    if (pose_a != NULL) p.pose_a = *pose_a;
    if (pose_b != NULL) p.pose_b = *pose_b;
    p.hint = def->hint;
    return p;
}

carom_status carom_tree_fail_query(carom_context *context, carom_status status) {
    if (status != CAROM_NO_MEMORY) return status;
    return carom_fail_memory(context, 0, "a query of sphere trees");
}

carom_status carom_tree_check_query(carom_context *context, const carom_tree *a,
                                    const carom_pose *pose_a, const carom_tree *b,
                                    const carom_pose *pose_b, const carom_tree_query_def *def) {
    CAROM_TRY(carom_tree_check_backend(context, a, b));
    if (!(def->time_budget >= 0.0 && def->tolerance >= 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "a budget of %g s and a tolerance of %g: neither may be negative",
                          def->time_budget, def->tolerance);
    CAROM_TRY(carom_spheres_check_pose(context, &a->extent, pose_a, def->scale_a, "a"));
    return carom_spheres_check_pose(context, &b->extent, pose_b, def->scale_b, "b");
}

const carom_tree_query_def carom_tree_query_defaults = {0};

/* ---- One pair -------------------------------------------------------------------------------- */

/* Of a time budget: the rest is for the distance, which a few microseconds are enough to bound, and
 * some tens to bound well. */
#define TREE_OVERLAP_PART 0.75

/* Apart, the search for overlaps ends near the roots, so that the one for the distance may as well
 * follow it; overlapping, none is needed. */
static carom_status tree_query_run(carom_context *context, uint32_t worker,
                                   const carom_tree_pair *pair, const carom_tree_query_def *def,
                                   carom_tree_result *result, carom_work *work) {
    double start = carom_tree_start(def);
    carom_tree_posed_pair posed = carom_tree_pose(pair);
    carom_tree_query_def of_overlap = *def;
    of_overlap.time_budget *= TREE_OVERLAP_PART;
    memset(result, 0, sizeof(*result));
    CAROM_TRY(carom_tree_run_overlap(context, worker, &posed, &of_overlap, start, &result->overlap,
                                     work));
    if (result->overlap.relation >= CAROM_RELATION_OVERLAPPING) return CAROM_OK;
    if (result->overlap.relation == CAROM_RELATION_APART) posed.apart = true;
    carom_tree_run_distance(context, &posed, pair->hint, def, start, &result->gap, work);
    result->has_gap = true;
    return CAROM_OK;
}

carom_status carom_tree_query(carom_context *context, const carom_tree *a, const carom_pose *pose_a,
                              const carom_tree *b, const carom_pose *pose_b,
                              const carom_tree_query_def *def, carom_tree_result *result) {
    CAROM_TREE_ENTER(result);
    carom_tree_pair p = carom_tree_pair_of(a, pose_a, b, pose_b, def);
    if (carom_tree_on_device(context))
        return carom_tree_device_queries(context, &p, 1, def, result);
    context->work = (carom_work){0};
    return carom_tree_fail_query(context,
                                 tree_query_run(context, 0, &p, def, result, &context->work));
}

/* ---- Many pairs ------------------------------------------------------------------------------ */

/* One array of results is given. */
typedef struct tree_query_batch {
    carom_context *context;
    const carom_tree_pair *pairs;
    const carom_tree_query_def *def;
    carom_packing_overlap *overlaps;
    carom_tree_gap *gaps;
    carom_tree_result *results;
    carom_work *works; /* one per worker */
} tree_query_batch;

static carom_status tree_query_range(void *argument, carom_range range) {
    const tree_query_batch *all = argument;
    carom_context *context = all->context;
    carom_work *work = &all->works[range.worker];
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_tree_pair *p = &all->pairs[i];
        if (all->results != NULL) {
            CAROM_TRY(tree_query_run(context, range.worker, p, all->def, &all->results[i], work));
            continue;
        }
        double start = carom_tree_start(all->def);
        const carom_tree_posed_pair posed = carom_tree_pose(p);
        if (all->overlaps != NULL)
            CAROM_TRY(carom_tree_run_overlap(context, range.worker, &posed, all->def, start,
                                             &all->overlaps[i], work));
        else
            carom_tree_run_distance(context, &posed, p->hint, all->def, start, &all->gaps[i], work);
    }
    return CAROM_OK;
}

static carom_status tree_query_check_batch(const tree_query_batch *all, uint64_t count) {
    CAROM_REQUIRE(all->def->scale_a == 0.0 && all->def->scale_b == 0.0 && all->def->hint == NULL,
                  "the def has scales or a hint; each pair has its own");
    for (uint64_t i = 0; i < count; ++i) {
        const carom_tree_pair *p = &all->pairs[i];
        CAROM_REQUIRE_BOTH(p->a, p->b, "tree");
        carom_tree_query_def def = *all->def;
        def.scale_a = p->scale_a;
        def.scale_b = p->scale_b;
        carom_status status =
            carom_tree_check_query(all->context, p->a, &p->pose_a, p->b, &p->pose_b, &def);
        if (status != CAROM_OK) return carom_fail_at(all->context, status, "pair", i);
    }
    return CAROM_OK;
}

static carom_status tree_query_on_device(const tree_query_batch *all, uint64_t count) {
    if (all->gaps != NULL)
        return carom_tree_device_distances(all->context, all->pairs, count, all->def, all->gaps);
    if (all->overlaps != NULL)
        return carom_tree_device_overlaps(all->context, all->pairs, count, all->def, all->overlaps);
    return carom_tree_device_queries(all->context, all->pairs, count, all->def, all->results);
}

static carom_status tree_query_run_batch(tree_query_batch *all, uint64_t count) {
    carom_context *context = all->context;
    if (all->def == NULL) all->def = &carom_tree_query_defaults;
    CAROM_TRY(tree_query_check_batch(all, count));
    if (carom_tree_on_device(context)) return tree_query_on_device(all, count);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    all->works = CAROM_ARENA_TAKE(scratch, carom_work, context->threads);
    if (all->works == NULL)
        return carom_fail_memory(context, context->threads * sizeof(*all->works),
                                 "queries of sphere trees");
    memset(all->works, 0, context->threads * sizeof(*all->works));
    carom_status status =
        carom_parallel_phase(context, "comparing sphere trees", count, 1, tree_query_range, all);
    context->work = (carom_work){0};
    for (uint32_t i = 0; i < context->threads; ++i) {
        context->work.visits += all->works[i].visits;
        context->work.candidates += all->works[i].candidates;
    }
    carom_arena_rewind(scratch, mark);
    return carom_tree_fail_query(context, status);
}

#define TREE_REQUIRE_BATCH(results)                                                                \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");                                                   \
    CAROM_REQUIRE_OUTPUTS(results, count, "results");                                              \
    if (count == 0) return CAROM_OK

carom_status carom_tree_overlap_batch(carom_context *context, const carom_tree_pair *pairs,
                                      uint64_t count, const carom_tree_query_def *def,
                                      carom_packing_overlap *overlaps) {
    TREE_REQUIRE_BATCH(overlaps);
    tree_query_batch all = {.context = context, .pairs = pairs, .def = def, .overlaps = overlaps};
    return tree_query_run_batch(&all, count);
}

carom_status carom_tree_distance_batch(carom_context *context, const carom_tree_pair *pairs,
                                       uint64_t count, const carom_tree_query_def *def,
                                       carom_tree_gap *gaps) {
    TREE_REQUIRE_BATCH(gaps);
    tree_query_batch all = {.context = context, .pairs = pairs, .def = def, .gaps = gaps};
    return tree_query_run_batch(&all, count);
}

carom_status carom_tree_query_batch(carom_context *context, const carom_tree_pair *pairs,
                                    uint64_t count, const carom_tree_query_def *def,
                                    carom_tree_result *results) {
    TREE_REQUIRE_BATCH(results);
    tree_query_batch all = {.context = context, .pairs = pairs, .def = def, .results = results};
    return tree_query_run_batch(&all, count);
}
