/* SPDX-License-Identifier: MIT */
/* Queries for the faces of two soups that meet.
 *
 * A search of both trees (bvh_obb_search.h) finds pairs of triangles whose boxes meet. These are
 * posed and decided exactly. The first pair of blocks with triangles that meet is the same for any
 * number of threads; of its pairs the lowest is taken.
 *
 * A stream searches windows of faces of a (soup_stream.c). By trees, a tree is built over the
 * window's triangles, in time proportional to their number, and searched with that of b. By grids,
 * the window's triangles are entered into cells of b's grid. */
#include "soup/soup_cross.h"

#include "base/progress.h"
#include "bvh/bvh_obb_search.h"
#include "geom/within.h"
#include "soup/soup_cpu.h"
#include "soup/soup_stream.h"
#include "soup/soup_within.h"

/* ---- Pairs found ----------------------------------------------------------------------------- */

void carom_soup_found_begin(carom_soup_found *found, carom_soup_cross *cross, uint32_t worker) {
    found->cross = cross;
    carom_pair_list_begin(&found->list, carom_scratch(cross->context, worker));
    found->count = 0;
    found->work = (carom_work){0};
    found->status = CAROM_OK;
}

bool carom_soup_found_add(carom_soup_found *found, uint32_t a, uint32_t b) {
    carom_soup_cross *cross = found->cross;
    const carom_soup_posed_pair *posed = cross->posed;
    ++found->count;
    if (cross->finish == NULL) return true;
    if (cross->most != 0 && found->count > cross->most) {
        atomic_store(&cross->overflowed, true);
        return false;
    }
    if (!carom_pair_list_add(&found->list, carom_soup_face(posed->a.soup, a),
                             carom_soup_face(posed->b.soup, b)))
        found->status = CAROM_NO_MEMORY;
    return found->status == CAROM_OK;
}

void carom_soup_found_join(carom_soup_found *found, const carom_soup_found *other) {
    carom_pair_list_join(&found->list, &other->list);
    found->count += other->count;
    found->work.visits += other->work.visits;
    found->work.candidates += other->work.candidates;
    found->work.undecided += other->work.undecided;
}

carom_status carom_soup_found_finish(const carom_soup_found *found) {
    carom_soup_cross *cross = found->cross;
    carom_work *work = &cross->context->work;
    work->visits += found->work.visits;
    work->candidates += found->work.candidates;
    work->undecided += found->work.undecided;
    cross->count = found->count;
    if (cross->finish == NULL) return CAROM_OK;
    uint64_t *pairs, count;
    bool repeats = cross->posed->a.soup->faces != NULL || cross->posed->b.soup->faces != NULL;
    CAROM_TRY(carom_pair_list_sort(cross->context, &found->list, repeats, &pairs, &count));
    return cross->finish(cross->context, pairs, count, cross->argument);
}

/* ---- Search by trees ------------------------------------------------------------------------- */

/* The blocks of one side that were posed last, each in the slot of its index. A block meets some
 * ten blocks of the other side, which lie near each other. 64 blocks of both sides are 150 KiB. */
#define POSED_BLOCKS 64u
typedef struct posed_blocks {
    uint32_t index[POSED_BLOCKS];
    uint32_t posed[POSED_BLOCKS]; /* the lanes that hold their own triangle */
    carom_soup_within_block block[POSED_BLOCKS];
} posed_blocks;

typedef struct soup_cross_worker {
    carom_obb_worker base;
    carom_soup_found found;
    carom_soup_first_pair first;
    carom_soup_verdicts verdicts;

    /* Of searches within a margin. */
    posed_blocks posed_a, posed_b;
    carom_soup_within_rest rest;
    carom_soup_within_batch batch;
} soup_cross_worker;

static void soup_cross_worker_begin(void *user, void *state) {
    carom_soup_cross *cross = user;
    soup_cross_worker *w = state;
    carom_soup_found_begin(&w->found, cross, w->base.index);
    w->first.any = false;
    w->batch.count = w->rest.count = 0;
    for (uint32_t i = 0; i < POSED_BLOCKS; ++i)
        w->posed_a.index[i] = w->posed_b.index[i] = CAROM_BVH_NONE;
    carom_soup_begin_traversal(cross->posed, &w->base.traversal);
}

static bool soup_cross_add_pair(soup_cross_worker *w, uint32_t a, uint32_t b) {
    if (carom_soup_found_add(&w->found, a, b)) return true;
    w->base.status = w->found.status;
    atomic_store(&w->base.search->stop, true);
    return false;
}

static bool soup_cross_precedes(uint32_t a, uint32_t b, const carom_soup_first_pair *than) {
    return !than->any || a < than->a || (a == than->a && b < than->b);
}

static void soup_cross_set_lane(carom_soup_within_block *block, uint32_t lane,
                                const carom_triangle *t) {
    for (int i = 0; i < 3; ++i) {
        block->corner[3 * i][lane] = t->corner[i].x;
        block->corner[3 * i + 1][lane] = t->corner[i].y;
        block->corner[3 * i + 2][lane] = t->corner[i].z;
    }
}

static void fill_lanes(carom_soup_within_block *block, const carom_triangle *t) {
    for (int i = 0; i < 3; ++i) {
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
            block->corner[3 * i][lane] = t->corner[i].x;
            block->corner[3 * i + 1][lane] = t->corner[i].y;
            block->corner[3 * i + 2][lane] = t->corner[i].z;
        }
    }
}

/* A block with these lanes posed. All others are finite, and no farther away than some triangle of
 * the block. */
static const carom_soup_within_block *pose_block(posed_blocks *posed, const carom_soup_side *side,
                                                 uint32_t index, uint32_t lanes) {
    uint32_t slot = index % POSED_BLOCKS;
    carom_soup_within_block *block = &posed->block[slot];
    bool is_new = posed->index[slot] != index;
    if (is_new) posed->posed[slot] = 0;
    posed->index[slot] = index;
    const uint32_t *items = side->items + (uint64_t)index * CAROM_BVH_WIDTH;
    uint32_t missing = lanes & ~posed->posed[slot];
    for (uint32_t left = missing; left != 0; left &= left - 1)
        __builtin_prefetch(
            carom_soup_view_corners(&side->view, items[(uint32_t)__builtin_ctz(left)]));
    for (uint32_t left = missing; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        carom_triangle t = carom_soup_posed(side, items[lane]);
        if (is_new) fill_lanes(block, &t);
        is_new = false;
        soup_cross_set_lane(block, lane, &t);
    }
    posed->posed[slot] |= lanes;
    return block;
}

/* Adds two triangles within the margin, or ends a search for the first. */
static bool add_within(soup_cross_worker *w, uint32_t a, uint32_t b) {
    if (!w->found.cross->first_only) return soup_cross_add_pair(w, a, b);
    w->first = (carom_soup_first_pair){a, b, true};
    w->base.found = true;
    return false;
}

static bool soup_cross_decide_batch(soup_cross_worker *w) {
    const carom_soup_cross *cross = w->found.cross;
    carom_soup_within_batch *batch = &w->batch;
    if (!carom_soup_within_decide(cross->context, w->base.index, batch, cross->margin,
                                  &w->found.work.undecided))
        return false;
    for (uint64_t yes = batch->yes; yes != 0; yes &= yes - 1) {
        int i = __builtin_ctzll(yes);
        if (!add_within(w, batch->a[i], batch->b[i])) return false;
    }
    batch->count = 0;
    return true;
}

/* Decides the pairs that the certificates of whole blocks left open: in floats, then in doubles. */
static bool soup_cross_decide_rest(void *state) {
    soup_cross_worker *w = state;
    const carom_soup_posed_pair *posed = w->found.cross->posed;
    carom_soup_within_rest *rest = &w->rest;
    CAROM_CPU_CALL(w->found.cross->context, carom_soup_within_decide_rest)(rest);
    for (uint32_t i = 0; i < rest->count; ++i) {
        if (rest->verdict[i] == CAROM_NO) continue;
        uint32_t a = posed->a.items[rest->a[i]], b = posed->b.items[rest->b[i]];
        if (rest->verdict[i] == CAROM_YES) {
            if (!add_within(w, a, b)) return false;
            continue;
        }
        carom_triangle posed_a = carom_soup_posed(&posed->a, a);
        carom_triangle posed_b = carom_soup_posed(&posed->b, b);
        carom_soup_within_add(&w->batch, a, b, &posed_a, &posed_b);
        if (carom_soup_within_full(&w->batch) && !soup_cross_decide_batch(w)) return false;
    }
    rest->count = 0;
    return soup_cross_decide_batch(w);
}

/* Decides pairs within a margin, of two blocks. */
static bool decide_blocks(carom_obb_traversal *traversal, uint32_t block_a, uint32_t block_b,
                          uint32_t in_a, uint32_t in_b) {
    soup_cross_worker *w = traversal->user;
    const carom_soup_cross *cross = w->found.cross;
    const carom_soup_posed_pair *posed = cross->posed;
    carom_soup_within_rows rows;
    carom_soup_within_two two = {.a = pose_block(&w->posed_a, &posed->a, block_a, in_a),
                                 .b = pose_block(&w->posed_b, &posed->b, block_b, in_b),
                                 .first_a = block_a * CAROM_BVH_WIDTH,
                                 .first_b = block_b * CAROM_BVH_WIDTH,
                                 .in_a = in_a,
                                 .in_b = in_b};
    CAROM_CPU_CALL(cross->context, carom_soup_within_blocks)
    (&two, cross->margin, cross->scale, &rows, &w->rest);
    const uint32_t *items_a = posed->a.items + two.first_a;
    const uint32_t *items_b = posed->b.items + two.first_b;
    uint32_t count_a = (uint32_t)__builtin_popcount(in_a),
             count_b = (uint32_t)__builtin_popcount(in_b);
    traversal->visits += rows.of_a ? count_a : count_b;
    w->found.work.candidates += count_a * count_b;
    for (uint32_t left = rows.of_a ? in_a : in_b; left != 0; left &= left - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(left);
        for (uint32_t yes = rows.yes[row]; yes != 0; yes &= yes - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(yes);
            if (!add_within(w, items_a[rows.of_a ? row : lane], items_b[rows.of_a ? lane : row]))
                return false;
        }
    }
    return !(cross->first_only || carom_soup_within_rest_full(&w->rest)) ||
           soup_cross_decide_rest(w);
}

/* Decides some of the pairs found: with SIMD, then those that are left open alone. */
static bool soup_cross_decide_some(soup_cross_worker *w, const carom_soup_posed_points *points,
                                   const uint32_t *a, const uint32_t *b, uint32_t count) {
    const carom_soup_posed_pair *posed = w->found.cross->posed;
    carom_soup_verdicts *v = &w->verdicts;
    CAROM_CPU_CALL(w->found.cross->context, carom_soup_cross_filter)(points, a, b, count, v);
    for (uint32_t i = 0; i < v->yes_count; ++i)
        if (!soup_cross_add_pair(w, a[v->yes[i]], b[v->yes[i]])) return false;
    for (uint32_t i = 0; i < v->open_count; ++i) {
        uint32_t triangle_a = a[v->open[i]], triangle_b = b[v->open[i]];
        carom_triangle posed_a = carom_soup_posed(&posed->a, triangle_a);
        carom_triangle posed_b = carom_soup_posed(&posed->b, triangle_b);
        if (carom_soup_meet(&posed_a, &posed_b, &w->found.work.undecided) &&
            !soup_cross_add_pair(w, triangle_a, triangle_b))
            return false;
    }
    return true;
}

/* Decides all pairs found. */
static bool soup_cross_decide_found(soup_cross_worker *w) {
    const carom_obb_traversal *found = &w->base.traversal;
    const carom_soup_posed_pair *posed = w->found.cross->posed;
    const carom_soup_side *sides[2] = {&posed->a, &posed->b};
    carom_soup_posed_points points;
    uint32_t a[CAROM_SOUP_BATCH], b[CAROM_SOUP_BATCH];
    for (int k = 0; k < 2; ++k) {
        const carom_soup_view *view = &sides[k]->view;
        points.side[k] = (carom_soup_points){view->positions, view->corners,
                                             view->scalar == CAROM_SCALAR_FLOAT64};
        points.frame[k] = sides[k]->frame;
    }
    for (uint32_t at = 0; at < found->found_count; at += CAROM_SOUP_BATCH) {
        uint32_t some = CAROM_MIN(found->found_count - at, CAROM_SOUP_BATCH);
        for (uint32_t i = 0; i < some; ++i) {
            a[i] = sides[0]->items[found->found_a[at + i]];
            b[i] = sides[1]->items[found->found_b[at + i]];
            __builtin_prefetch(points.side[0].corners + 3 * (uint64_t)a[i]);
            __builtin_prefetch(points.side[1].corners + 3 * (uint64_t)b[i]);
        }
        if (!soup_cross_decide_some(w, &points, a, b, some)) return false;
    }
    return true;
}

/* Decides the pairs found in one pair of blocks: the first pair is the lowest, independent of the
 * order in which they were received. */
static bool soup_cross_decide_first(soup_cross_worker *w) {
    const carom_obb_traversal *found = &w->base.traversal;
    const carom_soup_posed_pair *posed = w->found.cross->posed;
    const carom_soup_side *a = &posed->a, *b = &posed->b;
    carom_triangle posed_a, posed_b;
    uint32_t last_a = CAROM_BVH_NONE, last_b = CAROM_BVH_NONE;
    carom_soup_first_pair first = {.any = false};
    for (uint32_t i = 0; i < found->found_count; ++i) {
        uint32_t triangle_a = a->items[found->found_a[i]], triangle_b = b->items[found->found_b[i]];
        if (triangle_a != last_a) posed_a = carom_soup_posed(a, last_a = triangle_a);
        if (triangle_b != last_b) posed_b = carom_soup_posed(b, last_b = triangle_b);
        if (carom_soup_meet(&posed_a, &posed_b, &w->found.work.undecided) &&
            soup_cross_precedes(triangle_a, triangle_b, &first))
            first = (carom_soup_first_pair){triangle_a, triangle_b, true};
    }
    if (first.any) w->first = first;
    w->base.found = first.any;
    return !first.any;
}

/* Decides the pairs of several pairs of blocks, or of one if only the first pair is wanted. */
static bool soup_cross_decide(void *state) {
    soup_cross_worker *w = state;
    w->found.work.candidates += w->base.traversal.found_count;
    return w->base.traversal.each_block ? soup_cross_decide_first(w) : soup_cross_decide_found(w);
}

static bool decide_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                       const carom_triangle *posed_b) {
    soup_cross_worker *w = user;
    const carom_soup_cross *cross = w->found.cross;
    ++w->found.work.candidates;
    bool counts = cross->within ? carom_within(posed_a, posed_b, cross->margin)
                                : carom_soup_meet(posed_a, posed_b, &w->found.work.undecided);
    if (!counts) return true;
    if (!cross->first_only) return soup_cross_add_pair(w, a, b);
    w->first = (carom_soup_first_pair){a, b, true};
    w->base.search->finder = &w->base;
    return false;
}

static carom_status soup_cross_compare_all(carom_soup_cross *cross, soup_cross_worker *first) {
    CAROM_TRY(carom_soup_each_two(cross->context, cross->posed, carom_vec(0.0, 0.0, 0.0),
                                  &cross->margin, decide_two, first));
    if (first->found.status == CAROM_OK) return CAROM_OK;
    return carom_fail_memory(cross->context, sizeof(carom_pair_chunk), "the pairs found");
}

static carom_status finish_trees(const carom_obb_search *search) {
    uint32_t next = 0;
    soup_cross_worker *first = carom_worker_states_next(&search->states, &next), *other;
    while ((other = carom_worker_states_next(&search->states, &next)) != NULL)
        carom_soup_found_join(&first->found, &other->found);
    first->found.work.visits = search->visits;
    return carom_soup_found_finish(&first->found);
}

static const char *phase_of(const carom_soup_cross *cross) {
    return cross->within ? "finding faces within the margin" : "finding faces that meet";
}

static carom_status soup_cross_search_trees(carom_soup_cross *cross) {
    carom_context *context = cross->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_obb_search search = {.context = context,
                               .state_size = sizeof(soup_cross_worker),
                               .user = cross,
                               .begin = soup_cross_worker_begin,
                               .receive =
                                   cross->within ? soup_cross_decide_rest : soup_cross_decide,
                               .receive_blocks = cross->within ? decide_blocks : NULL,
                               .first_only = cross->first_only,
                               .budget = cross->budget};
    carom_progress_begin(context, phase_of(cross), 0);
    carom_status status = carom_obb_search_begin(&search);
    if (status == CAROM_OK)
        status = cross->posed->extreme
                     ? soup_cross_compare_all(cross, carom_worker_state(&search.states, 0))
                     : carom_obb_search_run(&search);
    cross->spent = search.spent;
    cross->first_pair.any = search.finder != NULL;
    if (search.finder != NULL)
        cross->first_pair = ((const soup_cross_worker *)(const void *)search.finder)->first;
    if (status == CAROM_OK && !cross->spent && !cross->overflowed) status = finish_trees(&search);
    if (cross->budget != UINT64_MAX) cross->budget -= CAROM_MIN(search.work, cross->budget);
    carom_obb_search_end(&search);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

carom_status carom_soup_find_first(carom_context *context, const carom_soup_posed_pair *posed,
                                   carom_soup_first_pair *first_pair) {
    carom_soup_cross cross = {
        .context = context, .posed = posed, .first_only = true, .budget = UINT64_MAX};
    context->work = (carom_work){0};
    carom_status status = soup_cross_search_trees(&cross);
    *first_pair = cross.first_pair;
    return status;
}

/* ---- All pairs at once ----------------------------------------------------------------------- */

static bool has_grid(const carom_soup_posed_pair *posed) {
    return posed->a.soup->method == CAROM_SOUP_METHOD_GRID ||
           posed->b.soup->method == CAROM_SOUP_METHOD_GRID;
}

void carom_soup_cross_begin(carom_soup_cross *cross, carom_context *context,
                            const carom_soup_posed_pair *posed) {
    const carom_soup *a = posed->a.soup, *b = posed->b.soup;
    uint64_t triangles = (uint64_t)a->triangle_count + b->triangle_count;
    uint64_t budget_a = carom_soup_budget(a, triangles), budget_b = carom_soup_budget(b, triangles);
    *cross = (carom_soup_cross){
        .context = context, .posed = posed, .budget = CAROM_MIN(budget_a, budget_b)};
    context->work = (carom_work){0};
}

carom_status carom_soup_cross_search(carom_soup_cross *cross) {
    carom_context *context = cross->context;
    if (cross->posed->extreme || !has_grid(cross->posed)) {
        uint64_t budget = cross->budget;
        CAROM_TRY(soup_cross_search_trees(cross));
        if (!cross->spent) return CAROM_OK;
        context->work.visits = budget;
    }
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding faces that meet by grid",
                         (uint64_t)cross->posed->a.soup->triangle_count +
                             cross->posed->b.soup->triangle_count);
    carom_status status = carom_soup_cross_begin_grid(cross, false);
    if (status == CAROM_OK) status = carom_soup_cross_grid(cross);
    carom_arena_rewind(scratch, mark);
    return carom_progress_finish(context, status);
}

/* Poses the soups of a query on the CPU and begins its search. */
static carom_status cross_pose(carom_context *context, const carom_soup_device_query *query,
                               carom_soup_posed_pair *posed, carom_soup_cross *cross) {
    CAROM_TRY(carom_soup_pose(context, query->a, query->pose_a, query->b, query->pose_b, posed));
    carom_soup_cross_begin(cross, context, posed);
    return CAROM_OK;
}

carom_status carom_soup_cross_pairs(carom_context *context, const carom_soup *a,
                                    const carom_pose *pose_a, const carom_soup *b,
                                    const carom_pose *pose_b, carom_pairs *pairs) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_RESULT(pairs, "pairs");
    carom_soup_device_query query = {a, b, pose_a, pose_b};
    if (carom_soup_on_device(context)) return carom_soup_device_pairs(context, &query, pairs);
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    CAROM_TRY(cross_pose(context, &query, &posed, &cross));
    cross.finish = carom_pair_list_fill;
    cross.argument = pairs;
    return carom_soup_cross_search(&cross);
}

carom_status carom_soup_cross_meet(carom_context *context, const carom_soup *a,
                                   const carom_pose *pose_a, const carom_soup *b,
                                   const carom_pose *pose_b, bool *any) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(any, "answer");
    carom_soup_device_query query = {a, b, pose_a, pose_b};
    if (carom_soup_on_device(context)) return carom_soup_device_any(context, &query, any);
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    *any = false;
    CAROM_TRY(cross_pose(context, &query, &posed, &cross));
    cross.first_only = true;
    CAROM_TRY(carom_soup_cross_search(&cross));
    *any = cross.first_pair.any;
    return CAROM_OK;
}

carom_status carom_soup_cross_count(carom_context *context, const carom_soup *a,
                                    const carom_pose *pose_a, const carom_soup *b,
                                    const carom_pose *pose_b, uint64_t *count) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_OUTPUT(count, "count");
    carom_soup_device_query query = {a, b, pose_a, pose_b};
    if (carom_soup_on_device(context)) return carom_soup_device_count(context, &query, count);
    *count = 0;
    /* Two polygons may meet in several triangles: counting them needs the list without duplicates.
     */
    if (a->faces != NULL || b->faces != NULL)
        return carom_soup_cross_each(context, a, pose_a, b, pose_b, carom_soup_stream_count, count);
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    CAROM_TRY(cross_pose(context, &query, &posed, &cross));
    CAROM_TRY(carom_soup_cross_search(&cross));
    *count = cross.count;
    return CAROM_OK;
}

/* ---- Stream ---------------------------------------------------------------------------------- */

typedef struct windows {
    carom_soup_cross *cross;
    carom_soup_posed_pair *posed; /* of the window */
    carom_bvh bvh;
    bool by_grid;
} windows;

static carom_status soup_cross_search_window(void *argument, carom_soup_stream *stream,
                                             carom_soup_window *window) {
    windows *w = argument;
    carom_soup_cross *cross = w->cross;
    cross->finish = carom_soup_stream_pass;
    cross->argument = stream;
    cross->most = window->most;
    cross->overflowed = false;
    if (w->by_grid || w->posed->extreme) {
        w->posed->a.first = window->first;
        w->posed->a.end = window->end;
    } else {
        CAROM_TRY(
            carom_soup_pose_window(cross->context, w->posed, &w->bvh, window->first, window->end));
    }
    carom_progress_begin(cross->context, "finding faces of a window", 0); /* inside that of all */
    carom_status status =
        w->by_grid ? carom_soup_cross_grid(cross) : soup_cross_search_trees(cross);
    CAROM_TRY(carom_progress_finish(cross->context, status));
    window->overflowed = cross->overflowed;
    window->spent = !w->by_grid && cross->spent;
    return CAROM_OK;
}

static carom_status soup_cross_stream_all(carom_soup_stream *stream, void *argument) {
    windows *w = argument;
    uint64_t first = 0;
    if (w->posed->extreme || !has_grid(w->posed)) {
        uint64_t budget = w->cross->budget;
        CAROM_TRY(carom_soup_stream_windows(stream, soup_cross_search_window, w, &first));
        if (!w->cross->spent) return CAROM_OK;
        w->cross->context->work.visits += budget;
    }
    w->by_grid = true;
    CAROM_TRY(carom_soup_cross_begin_grid(w->cross, true));
    return carom_soup_stream_windows(stream, soup_cross_search_window, w, &first);
}

carom_status carom_soup_cross_stream(carom_soup_cross *cross, carom_soup_posed_pair *posed,
                                     carom_pairs_fn *receive, void *user) {
    windows w = {.cross = cross, .posed = posed};
    carom_soup_stream stream;
    carom_soup_stream_begin(&stream, cross->context, posed->a.soup, receive, user);
    stream.most = CAROM_MAX(stream.most, posed->b.soup->triangle_count);
    return carom_soup_stream_run(&stream, phase_of(cross), soup_cross_stream_all, &w);
}

carom_status carom_soup_cross_each(carom_context *context, const carom_soup *a,
                                   const carom_pose *pose_a, const carom_soup *b,
                                   const carom_pose *pose_b, carom_pairs_fn *receive, void *user) {
    CAROM_REQUIRE_SOUPS(context, a, b);
    CAROM_REQUIRE_INPUT(receive, "receiver");
    carom_soup_device_query query = {a, b, pose_a, pose_b};
    if (carom_soup_on_device(context))
        return carom_soup_device_each(context, &query, receive, user);
    carom_soup_posed_pair posed;
    carom_soup_cross cross;
    CAROM_TRY(cross_pose(context, &query, &posed, &cross));
    return carom_soup_cross_stream(&cross, &posed, receive, user);
}
