/* SPDX-License-Identifier: MIT */
/* Queries of two packings: the spheres of each are looked up in the grid of the other
 * (balls_item.h), on all threads; what they find is added up in fixed point, listed or counted.
 *
 * Where a pose moves centres by more than the grid's slack, or the packings differ in size by
 * nearly as much as floats can tell, all spheres are compared with all. */
#include "balls/balls.h"

#include <stdio.h>

#include "balls/balls_cpu.h"
#include "base/array.h"
#include "base/pair_list.h"
#include "base/progress.h"
#include "base/worker_state.h"
#include "grid/grid_bound.h"
#include "spheres/spheres_overlap.h"

#define LEAST_GRAIN 8192u /* spheres: some 300 us, more than it takes to wake a thread */

/* Disjoint balls at least as large as a ball that can meet it: each has a ball of the same radius
 * within one of three times that radius, whose volume is 27 times as large (docs/balls.md). */
#define BALLS_DISJOINT_PARTNERS 27u

/* ---- Search ---------------------------------------------------------------------------------- */

typedef struct balls_query_search {
    carom_context *context;
    const carom_balls_view *view[2]; /* A and B */
    carom_spheres_posed_pair posed;
    carom_balls_lookup lookup[2]; /* of A in B, of B in A */
    uint8_t *flags[2];            /* NULL: covers are not looked for */
    bool apart;                   /* so far that nothing can meet */
    bool regular;                 /* the grids can be used */
    bool sum;                     /* add up; else list, count or find pairs */
    bool list;
    bool first; /* stop at the first pair */
    carom_balls_pair_kind kind;
    carom_worker_states states;
    _Atomic bool any;
} balls_query_search;

/* The state of a worker. */
typedef struct balls_query_finder {
    carom_balls_worker worker;
    balls_query_search *search;
    carom_pair_list list;
    uint64_t count;
    bool no_memory;
} balls_query_finder;

static carom_spheres_posed balls_query_posed(const balls_query_search *s, int side, uint32_t rank) {
    const carom_balls_sphere *sphere = &s->view[side]->spheres[rank];
    return carom_spheres_pose_sphere(&s->posed.transform[side], sphere->centre, sphere->radius,
                                     sphere->secondary, sphere->cover);
}

/* Whether two posed spheres are a pair, by the items that make the overlap. */
static bool balls_query_is_pair(const balls_query_search *s, const carom_spheres_posed *a,
                                const carom_spheres_posed *b) {
    if (s->kind == CAROM_BALLS_PAIR_KIND_COVER) return carom_spheres_covers_meet(a, b);
    if (s->kind == CAROM_BALLS_PAIR_KIND_SECONDARY) {
        carom_ball ball_a = {a->centre, a->secondary}, ball_b = {b->centre, b->secondary};
        carom_spheres_term term;
        return carom_spheres_pair(&ball_a, &ball_b, s->posed.pivot, &term);
    }
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double volume, error;
    return carom_spheres_inner(carom_vec_dot(apart, apart), carom_length(apart), a->radius,
                               b->radius, s->posed.slack, &volume, &error);
}

/* Takes a pair; false stops the search. */
static bool take_pair(balls_query_finder *f, uint32_t rank_a, uint32_t rank_b) {
    balls_query_search *s = f->search;
    CAROM_ASSERT(rank_a < s->view[0]->count && rank_b < s->view[1]->count);
    ++f->count;
    if (s->first) {
        atomic_store_explicit(&s->any, true, memory_order_relaxed);
        return false;
    }
    if (!s->list) return true;
    f->no_memory = !carom_pair_list_add(&f->list, s->view[0]->spheres[rank_a].index,
                                        s->view[1]->spheres[rank_b].index);
    return !f->no_memory;
}

/* Decides about the pairs that the filter left. */
static bool balls_query_found(carom_balls_worker *w, const carom_balls_lookup *lookup) {
    balls_query_finder *f = w->user;
    const balls_query_search *s = f->search;
    for (uint32_t i = 0; i < w->hit_count; ++i) {
        uint32_t rank = w->first + w->hit_sphere[i];
        uint32_t other = carom_balls_entry_rank(lookup->grid, w->hit_entry[i]);
        uint32_t rank_a = lookup->from_b ? other : rank, rank_b = lookup->from_b ? rank : other;
        carom_spheres_posed a = balls_query_posed(s, 0, rank_a),
                            b = balls_query_posed(s, 1, rank_b);
        if (balls_query_is_pair(s, &a, &b) && !take_pair(f, rank_a, rank_b)) return false;
    }
    w->hit_count = 0;
    return true;
}

static bool balls_query_begin_finder(void *user, void *state, uint32_t worker) {
    balls_query_search *s = user;
    balls_query_finder *f = state;
    carom_balls_worker *w = &f->worker;
    memset(&w->totals, 0, sizeof(w->totals));
    w->visits = w->candidates = w->undecided = 0;
    w->flags[0] = s->flags[0];
    w->flags[1] = s->flags[1];
    w->found = s->sum ? NULL : balls_query_found;
    w->user = f;
    w->hit_count = w->doubt_count = w->batch.count = 0;
    memset(w->p, 0, sizeof(w->p)); /* vectors read past the last sphere */
    f->search = s;
    f->count = 0;
    f->no_memory = false;
    carom_pair_list_begin(&f->list, carom_scratch(s->context, worker));
    return true;
}

/* The ball of a sphere with its reach. */
static carom_ball balls_query_ball_of(const carom_balls_view *view, uint32_t rank) {
    return (carom_ball){view->spheres[rank].centre, (double)view->reach[rank] / view->unit};
}

/* Compares spheres of A that are near B with all of B. */
static bool balls_query_compare_all(const balls_query_search *s, balls_query_finder *f,
                                    uint64_t begin, uint64_t end, uint32_t worker) {
    carom_balls_worker *w = &f->worker;
    for (uint64_t i = begin; i < end && !carom_progress_stop(s->context, worker); ++i) {
        carom_spheres_posed a = balls_query_posed(s, 0, (uint32_t)i);
        if (carom_balls_apart(&s->posed, balls_query_ball_of(s->view[0], (uint32_t)i),
                              s->view[1]->ball))
            continue;
        for (uint32_t j = 0; j < s->view[1]->count; ++j) {
            carom_spheres_posed b = balls_query_posed(s, 1, j);
            if (!s->sum) {
                if (balls_query_is_pair(s, &a, &b) && !take_pair(f, (uint32_t)i, j)) return false;
                continue;
            }
            carom_spheres_totals_add(&w->totals, &s->posed, &a, &b);
            if (s->flags[0] == NULL || !carom_spheres_covers_meet(&a, &b)) continue;
            __atomic_store_n(&s->flags[0][i], 1, __ATOMIC_RELAXED);
            __atomic_store_n(&s->flags[1][j], 1, __ATOMIC_RELAXED);
        }
        w->candidates += s->view[1]->count;
    }
    return true;
}

/* Spheres [begin, end) of A, then of B. */
static bool look_up_some(balls_query_search *s, balls_query_finder *f, uint64_t begin, uint64_t end,
                         uint32_t worker) {
    uint64_t count = s->view[0]->count;
    if (s->apart) return true;
    if (!s->regular)
        return begin >= count ||
               balls_query_compare_all(s, f, begin, CAROM_MIN(end, count), worker);
    if (begin < count &&
        !CAROM_CPU_CALL(s->context, carom_balls_look_up)(
            &s->lookup[0], (uint32_t)begin, (uint32_t)CAROM_MIN(end, count), &f->worker))
        return false;
    return end <= count || CAROM_CPU_CALL(s->context, carom_balls_look_up)(
                               &s->lookup[1], (uint32_t)(CAROM_MAX(begin, count) - count),
                               (uint32_t)(end - count), &f->worker);
}

static carom_status balls_query_look_up_range(void *argument, carom_range range) {
    balls_query_search *s = argument;
    balls_query_finder *f = carom_worker_state(&s->states, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    if (atomic_load_explicit(&s->any, memory_order_relaxed)) return CAROM_OK;
    (void)look_up_some(s, f, range.begin, range.end, range.worker);
    return f->no_memory ? CAROM_NO_MEMORY : CAROM_OK;
}

/* Sets the poses of the packings. `flags`: two arrays, all 0, or NULL. */
static void balls_query_set_poses(balls_query_search *s, const carom_balls *a,
                                  const carom_pose *pose_a, double scale_a, const carom_balls *b,
                                  const carom_pose *pose_b, double scale_b) {
    const carom_balls_view *view_a = &a->grid.view, *view_b = &b->grid.view;
    s->view[0] = view_a;
    s->view[1] = view_b;
    s->posed = carom_spheres_posed_pair_make(&view_a->extent, pose_a, scale_a, &view_b->extent,
                                             pose_b, scale_b);
    s->apart = carom_balls_apart(&s->posed, view_a->ball, view_b->ball);
    s->regular = carom_balls_is_regular(view_a, &s->posed.transform[0], &s->posed) &&
                 carom_balls_is_regular(view_b, &s->posed.transform[1], &s->posed);
    for (int i = 0; i < 2; ++i) {
        s->lookup[i] = carom_balls_lookup_make(view_a, view_b, &s->posed, i == 1);
        s->lookup[i].bounds = s->flags[0] != NULL;
        s->lookup[i].wide = !s->sum && s->kind == CAROM_BALLS_PAIR_KIND_COVER;
    }
}

static bool take_flags(balls_query_search *s, carom_arena *scratch, uint32_t count_a,
                       uint32_t count_b) {
    s->flags[0] = CAROM_ARENA_TAKE(scratch, uint8_t, count_a);
    s->flags[1] = CAROM_ARENA_TAKE(scratch, uint8_t, count_b);
    if (s->flags[0] == NULL || s->flags[1] == NULL) return false;
    memset(s->flags[0], 0, count_a);
    memset(s->flags[1], 0, count_b);
    return true;
}

static carom_status balls_query_look_up_all(balls_query_search *s) {
    uint64_t count = (uint64_t)s->view[0]->count + s->view[1]->count;
    carom_context *context = s->context;
    CAROM_TRY(carom_worker_states_begin(&s->states, context, sizeof(balls_query_finder),
                                        balls_query_begin_finder, s));
    carom_status status = carom_parallel_for(
        context, count, carom_grain(context, count, LEAST_GRAIN), balls_query_look_up_range, s);
    if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(context, sizeof(balls_query_finder), "a query of balls");
    balls_query_finder *f;
    context->work = (carom_work){0};
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->states, &w)) != NULL;) {
        context->work.visits += f->worker.visits;
        context->work.candidates += f->worker.candidates;
        context->work.undecided += f->worker.undecided;
    }
    return status;
}

/* ---- Overlap --------------------------------------------------------------------------------- */

static carom_spheres_flagged count_flags(const carom_balls_view *view, const uint8_t *flags) {
    carom_spheres_flagged flagged = {0, 0};
    for (uint32_t i = 0; i < view->count; ++i) {
        flagged.count += flags[i];
        CAROM_ASSERT(flags[i] <= 1);
        flagged.voids += flags[i] != 0 ? view->spheres[i].voids : 0;
    }
    CAROM_ASSERT(flagged.count <= view->count);
    return flagged;
}

static void balls_query_finish(const balls_query_search *s, const carom_spheres_totals *totals,
                               carom_packing_overlap *overlap) {
    carom_spheres_flagged flagged[2];
    carom_spheres_totals all = *totals;
    bool bounds = s->flags[0] != NULL;
    for (int i = 0; i < 2 && bounds; ++i) flagged[i] = count_flags(s->view[i], s->flags[i]);
    if (!bounds) { /* balls_query_compare_all adds them */
        memset(&all.inner, 0, sizeof(all.inner));
        memset(&all.inner_error, 0, sizeof(all.inner_error));
        all.inner_pairs = 0;
    }
    memset(overlap, 0, sizeof(*overlap));
    carom_spheres_overlap_finish(&all, &s->posed, &s->view[0]->extent, &s->view[1]->extent,
                                 bounds ? flagged : NULL, overlap);
}

/* Adds the pairs that are left in a worker's batch. */
static void empty_batch(const balls_query_search *s, balls_query_finder *f) {
    if (f->worker.batch.count != 0) CAROM_CPU_CALL(s->context, carom_spheres_batch_add)
    (&f->worker.batch, &s->posed, s->flags[0] != NULL, &f->worker.totals);
}

static carom_status balls_query_run_overlap(balls_query_search *s, carom_packing_overlap *overlap) {
    carom_spheres_totals totals;
    CAROM_TRY(balls_query_look_up_all(s));
    memset(&totals, 0, sizeof(totals));
    balls_query_finder *f;
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->states, &w)) != NULL;) {
        empty_batch(s, f);
        carom_spheres_totals_join(&totals, &f->worker.totals);
    }
    balls_query_finish(s, &totals, overlap);
    return CAROM_OK;
}

static carom_status balls_query_check_poses(carom_context *context, const carom_balls *a,
                                            const carom_pose *pose_a, double scale_a,
                                            const carom_balls *b, const carom_pose *pose_b,
                                            double scale_b) {
    CAROM_TRY(carom_balls_check_backend(context, a, b));
    CAROM_TRY(carom_spheres_check_pose(context, &a->grid.view.extent, pose_a, scale_a, "a"));
    return carom_spheres_check_pose(context, &b->grid.view.extent, pose_b, scale_b, "b");
}

static carom_balls_pair balls_query_pair_of(const carom_balls *a, const carom_pose *pose_a,
                                            const carom_balls *b, const carom_pose *pose_b,
                                            const carom_balls_query_def *def) {
    const carom_pose identity = {0};
    return (carom_balls_pair){.a = a,
                              .b = b,
                              .pose_a = pose_a != NULL ? *pose_a : identity,
                              .pose_b = pose_b != NULL ? *pose_b : identity,
                              .scale_a = def->scale_a,
                              .scale_b = def->scale_b};
}

/* Ends a query: releases the workers' states. */
static carom_status end_search(balls_query_search *s, carom_arena_mark mark, carom_status status) {
    if (s->states.states != NULL) carom_worker_states_release(&s->states);
    carom_arena_rewind(carom_scratch(s->context, 0), mark);
    return carom_progress_finish(s->context, status);
}

carom_status carom_balls_overlap(carom_context *context, const carom_balls *a,
                                 const carom_pose *pose_a, const carom_balls *b,
                                 const carom_pose *pose_b, const carom_balls_query_def *def,
                                 carom_packing_overlap *overlap) {
    const carom_balls_query_def defaults = {0};
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "set of balls");
    CAROM_REQUIRE_OUTPUT(overlap, "overlap");
    if (def == NULL) def = &defaults;
    CAROM_TRY(balls_query_check_poses(context, a, pose_a, def->scale_a, b, pose_b, def->scale_b));
    if (carom_balls_on_device(context)) {
        carom_balls_pair pair = balls_query_pair_of(a, pose_a, b, pose_b, def);
        return carom_balls_device_overlap(context, &pair, 1, def->skip_limits, overlap);
    }
    balls_query_search s = {.context = context, .sum = true};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = CAROM_OK;
    carom_progress_begin(context, "comparing balls", 0);
    if (!def->skip_limits && !take_flags(&s, scratch, a->grid.view.count, b->grid.view.count))
        status =
            carom_fail_memory(context, a->grid.view.count + b->grid.view.count, "a query of balls");
    if (status == CAROM_OK) {
        balls_query_set_poses(&s, a, pose_a, def->scale_a, b, pose_b, def->scale_b);
        status = balls_query_run_overlap(&s, overlap);
    }
    return end_search(&s, mark, status);
}

/* ---- Many overlaps --------------------------------------------------------------------------- */

typedef struct many {
    carom_context *context;
    const carom_balls_pair *pairs;
    carom_packing_overlap *overlaps;
    carom_worker_states states;
    bool skip_limits;
} many;

static bool begin_many(void *user, void *state, uint32_t worker) {
    (void)user, (void)state, (void)worker;
    return true;
}

/* A whole query on one worker. */
static carom_status overlap_one(many *all, uint32_t worker, uint64_t at, balls_query_finder *f) {
    const carom_balls_pair *m = &all->pairs[at];
    balls_query_search s = {.context = all->context, .sum = true};
    if (!all->skip_limits && !take_flags(&s, carom_scratch(all->context, worker),
                                         m->a->grid.view.count, m->b->grid.view.count))
        return CAROM_NO_MEMORY;
    balls_query_set_poses(&s, m->a, &m->pose_a, m->scale_a, m->b, &m->pose_b, m->scale_b);
    (void)balls_query_begin_finder(&s, f, worker);
    (void)look_up_some(&s, f, 0, (uint64_t)s.view[0]->count + s.view[1]->count, worker);
    empty_batch(&s, f);
    balls_query_finish(&s, &f->worker.totals, &all->overlaps[at]);
    return CAROM_OK;
}

static carom_status overlap_range(void *argument, carom_range range) {
    many *all = argument;
    balls_query_finder *f = carom_worker_state(&all->states, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    carom_arena *scratch = carom_scratch(all->context, range.worker);
    carom_status status = CAROM_OK;
    for (uint64_t i = range.begin; i < range.end && status == CAROM_OK; ++i) {
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        status = overlap_one(all, range.worker, i, f);
        carom_arena_rewind(scratch, mark);
    }
    return status;
}

static carom_status balls_query_check_pairs(carom_context *context, const carom_balls_pair *pairs,
                                            uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_balls_pair *m = &pairs[i];
        char name[64];
        CAROM_REQUIRE_BOTH(m->a, m->b, "set of balls");
        CAROM_TRY(carom_balls_check_backend(context, m->a, m->b));
        (void)snprintf(name, sizeof(name), "a of pair %llu", (unsigned long long)i);
        CAROM_TRY(carom_spheres_check_pose(context, &m->a->grid.view.extent, &m->pose_a, m->scale_a,
                                           name));
        name[0] = 'b';
        CAROM_TRY(carom_spheres_check_pose(context, &m->b->grid.view.extent, &m->pose_b, m->scale_b,
                                           name));
    }
    return CAROM_OK;
}

carom_status carom_balls_overlap_batch(carom_context *context, const carom_balls_pair *pairs,
                                       uint64_t count, const carom_balls_query_def *def,
                                       carom_packing_overlap *overlaps) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE(def == NULL || (def->scale_a == 0.0 && def->scale_b == 0.0),
                  "the def has scales; each pair has its own");
    bool skip_limits = def != NULL && def->skip_limits;
    CAROM_REQUIRE_OUTPUTS(overlaps, count, "overlaps");
    CAROM_TRY(balls_query_check_pairs(context, pairs, count));
    if (carom_balls_on_device(context))
        return carom_balls_device_overlap(context, pairs, count, skip_limits, overlaps);
    many all = {
        .context = context, .pairs = pairs, .overlaps = overlaps, .skip_limits = skip_limits};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "comparing many balls", count);
    carom_status status = carom_worker_states_begin(&all.states, context,
                                                    sizeof(balls_query_finder), begin_many, &all);
    if (status == CAROM_OK) status = carom_parallel_for(context, count, 1, overlap_range, &all);
    if (status == CAROM_NO_MEMORY)
        status = carom_fail_memory(context, sizeof(balls_query_finder), "a query of balls");
    if (all.states.states != NULL) carom_worker_states_release(&all.states);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static carom_status list_pairs(balls_query_search *s, carom_pairs *pairs) {
    carom_pair_list all;
    carom_pair_list_begin(&all, carom_scratch(s->context, 0));
    balls_query_finder *f;
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->states, &w)) != NULL;)
        carom_pair_list_join(&all, &f->list);
    uint64_t *sorted, count;
    CAROM_TRY(carom_pair_list_sort(s->context, &all, false, &sorted, &count));
    return carom_pair_list_fill(s->context, sorted, count, pairs);
}

static carom_status balls_query_find_pairs(balls_query_search *s, const carom_balls *a,
                                           const carom_pose *pose_a, const carom_balls *b,
                                           const carom_pose *pose_b,
                                           const carom_balls_query_def *def, carom_pairs *pairs,
                                           uint64_t *count) {
    const carom_balls_query_def defaults = {0};
    carom_context *context = s->context;
    if (def == NULL) def = &defaults;
    CAROM_TRY(balls_query_check_poses(context, a, pose_a, def->scale_a, b, pose_b, def->scale_b));
    if (carom_balls_on_device(context)) {
        carom_balls_pair pair = balls_query_pair_of(a, pose_a, b, pose_b, def);
        return carom_balls_device_pairs(context, &pair, s->kind, s->first, pairs, count);
    }
    carom_arena_mark mark = carom_arena_get_mark(carom_scratch(context, 0));
    carom_progress_begin(context, "comparing balls", 0);
    balls_query_set_poses(s, a, pose_a, def->scale_a, b, pose_b, def->scale_b);
    carom_status status = balls_query_look_up_all(s);
    balls_query_finder *f;
    if (status == CAROM_OK)
        for (uint32_t w = 0; (f = carom_worker_states_next(&s->states, &w)) != NULL;)
            *count += f->count;
    if (status == CAROM_OK && s->list) status = list_pairs(s, pairs);
    if (status != CAROM_MORE) return end_search(s, mark, status);
    CAROM_TRY(end_search(s, mark, CAROM_OK));
    return CAROM_MORE;
}

carom_status carom_balls_pairs(carom_context *context, const carom_balls *a,
                               const carom_pose *pose_a, const carom_balls *b,
                               const carom_pose *pose_b, carom_balls_pair_kind kind,
                               const carom_balls_query_def *def, carom_pairs *pairs) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "set of balls");
    CAROM_REQUIRE_KNOWN(kind, CAROM_BALLS_PAIR_KIND_COUNT, "kind");
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    balls_query_search s = {.context = context, .kind = kind, .list = true};
    uint64_t count = 0;
    return balls_query_find_pairs(&s, a, pose_a, b, pose_b, def, pairs, &count);
}

carom_status carom_balls_count(carom_context *context, const carom_balls *a,
                               const carom_pose *pose_a, const carom_balls *b,
                               const carom_pose *pose_b, carom_balls_pair_kind kind,
                               const carom_balls_query_def *def, uint64_t *count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "set of balls");
    CAROM_REQUIRE_KNOWN(kind, CAROM_BALLS_PAIR_KIND_COUNT, "kind");
    CAROM_REQUIRE_OUTPUT(count, "count");
    balls_query_search s = {.context = context, .kind = kind};
    *count = 0;
    return balls_query_find_pairs(&s, a, pose_a, b, pose_b, def, NULL, count);
}

carom_status carom_balls_meet(carom_context *context, const carom_balls *a,
                              const carom_pose *pose_a, const carom_balls *b,
                              const carom_pose *pose_b, carom_balls_pair_kind kind,
                              const carom_balls_query_def *def, bool *any) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "set of balls");
    CAROM_REQUIRE_KNOWN(kind, CAROM_BALLS_PAIR_KIND_COUNT, "kind");
    CAROM_REQUIRE_OUTPUT(any, "answer");
    balls_query_search s = {.context = context, .kind = kind, .first = true};
    uint64_t count = 0;
    *any = false;
    CAROM_TRY(balls_query_find_pairs(&s, a, pose_a, b, pose_b, def, NULL, &count));
    *any = count != 0;
    return CAROM_OK;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

typedef struct balls_query_scaled {
    const carom_balls_view *view;
    double scale;
    carom_balls_pair_kind kind;
} balls_query_scaled;

static carom_ball scaled_ball(const void *user, uint32_t rank) {
    const balls_query_scaled *s = user;
    const carom_balls_sphere *sphere = &s->view->spheres[rank];
    double radius = s->kind == CAROM_BALLS_PAIR_KIND_SECONDARY ? sphere->secondary
                    : s->kind == CAROM_BALLS_PAIR_KIND_INNER   ? sphere->radius
                                                               : sphere->cover;
    return (carom_ball){carom_vec_scale(sphere->centre, s->scale), radius * s->scale};
}

carom_status carom_balls_bound(carom_context *context, const carom_balls *a, const carom_balls *b,
                               carom_balls_pair_kind kind, const carom_balls_query_def *def,
                               carom_balls_most *most) {
    const carom_balls_query_def defaults = {0};
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "set of balls");
    CAROM_REQUIRE_KNOWN(kind, CAROM_BALLS_PAIR_KIND_COUNT, "kind");
    CAROM_REQUIRE_OUTPUT(most, "bound");
    if (def == NULL) def = &defaults;
    CAROM_TRY(carom_context_require_cpu(context, "a bound on pairs of balls"));
    CAROM_TRY(balls_query_check_poses(context, a, NULL, def->scale_a, b, NULL, def->scale_b));
    const carom_balls_view *view_a = &a->grid.view, *view_b = &b->grid.view;
    balls_query_scaled of_a = {view_a, def->scale_a == 0.0 ? 1.0 : def->scale_a, kind};
    balls_query_scaled of_b = {view_b, def->scale_b == 0.0 ? 1.0 : def->scale_b, kind};
    carom_grid_balls balls_a = {view_a->count, scaled_ball, &of_a, 0};
    carom_grid_balls balls_b = {view_b->count, scaled_ball, &of_b, 0};
    CAROM_TRY(carom_grid_bound(context, &balls_a, &balls_b, &most->pairs));
    most->disjoint = BALLS_DISJOINT_PARTNERS * ((uint64_t)view_a->count + view_b->count);
    return CAROM_OK;
}
