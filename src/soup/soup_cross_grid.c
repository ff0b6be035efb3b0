/* SPDX-License-Identifier: MIT */
/* The search for faces of two soups that meet, by grids (kDet, 4.2).
 *
 * One soup, g, has a grid in its own frame, built once. The other, q, is transformed into that
 * frame, and its items that overlap g's bounds are entered into a second grid with the same cells.
 * Then every item of q queries g's grid on its own level and above, and every item of g queries q's
 * grid on levels above its own. So each pair is found once, by its smaller item. Boxes of q are
 * widened by an upper bound of the rounding error (soup_posed_pair.c). Decisions are made on x', as
 * in all queries.
 *
 * In a stream q is a window of a's triangles, and g is all of b. */
#include "base/progress.h"
#include "base/threads.h"
#include "base/worker_state.h"
#include "geom/length.h"
#include "geom/scale.h"
#include "grid/grid_cpu.h"
#include "soup/soup_cross.h"

#define CROSS_RANKS_PER_RANGE 512u /* ranks of a grid, or triangles that are moved */

typedef struct soup_cross_grid_search {
    carom_context *context;
    carom_soup_cross *cross;
    const carom_soup_side *g, *q;
    double slack; /* in g's frame of boxes */

    const carom_soup_grid *cells; /* of g */
    carom_grid q_grid;            /* item i is triangle q->first + i */
    carom_box *q_boxes;           /* of the items, in g's frame of boxes */
    carom_ball *q_balls;
    carom_box q_bounds;

    _Atomic bool stop;
    carom_worker_states finders;
} soup_cross_grid_search;

typedef struct soup_cross_grid_finder {
    soup_cross_grid_search *search;
    uint32_t worker;
    bool from_g; /* a is a rank of g, b one of q; else vice versa */
    carom_soup_found pairs;
    uint32_t last_g, last_q; /* the triangles posed last */
    carom_triangle posed_g, posed_q;
    carom_grid_found found;
} soup_cross_grid_finder;

/* ---- Transforming q into g's frame ----------------------------------------------------------- */

/* Transforms posed coordinates to g's frame of boxes. */
static carom_vec3 into_frame(const carom_soup_side *g, carom_vec3 p) {
    const double *r = g->frame.r;
    carom_vec3 d = carom_vec_sub(p, g->frame.t);
    carom_vec3 own =
        carom_vec((r[0] * d.x + r[3] * d.y) + r[6] * d.z, (r[1] * d.x + r[4] * d.y) + r[7] * d.z,
                  (r[2] * d.x + r[5] * d.y) + r[8] * d.z);
    return carom_vec_sub(carom_vec_scale(own, g->soup->scale), g->soup->origin);
}

static carom_box soup_cross_grid_moved_box(const soup_cross_grid_search *s,
                                           const carom_triangle *posed) {
    carom_vec3 low = into_frame(s->g, posed->corner[0]), high = low;
    for (int i = 1; i < 3; ++i) {
        carom_vec3 p = into_frame(s->g, posed->corner[i]);
        low = carom_vec(CAROM_MIN(low.x, p.x), CAROM_MIN(low.y, p.y), CAROM_MIN(low.z, p.z));
        high = carom_vec(CAROM_MAX(high.x, p.x), CAROM_MAX(high.y, p.y), CAROM_MAX(high.z, p.z));
    }
    carom_vec3 slack = carom_vec(s->slack, s->slack, s->slack);
    return carom_box_of_bounds(carom_vec_sub(low, slack), carom_vec_add(high, slack),
                               carom_vec(0.0, 0.0, 0.0));
}

static carom_ball moved_ball(const soup_cross_grid_search *s, uint32_t triangle) {
    const carom_soup *soup = s->q->soup;
    carom_ball ball = carom_soup_ball(soup, triangle);
    int scale = carom_exponent(soup->scale);
    carom_vec3 c = carom_vec_add(ball.centre, soup->origin);
    c = carom_vec(carom_scale_apply(c.x, -scale), carom_scale_apply(c.y, -scale),
                  carom_scale_apply(c.z, -scale));
    ball.centre = into_frame(s->g, carom_frame_apply(&s->q->frame, c));
    ball.radius = carom_scale_apply(ball.radius, carom_exponent(s->g->soup->scale) - scale);
    return ball;
}

static carom_status move_triangles(void *argument, carom_range range) {
    soup_cross_grid_search *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t triangle = s->q->first + (uint32_t)i;
        s->q_boxes[i] = carom_box_empty();
        if (!carom_soup_searched(s->q->soup, triangle)) continue;
        carom_triangle posed = carom_soup_posed(s->q, triangle);
        carom_box box = soup_cross_grid_moved_box(s, &posed);
        if (!carom_box_overlap(&box, &s->g->soup->bounds)) continue;
        s->q_boxes[i] = box;
        s->q_balls[i] = moved_ball(s, triangle);
    }
    return CAROM_OK;
}

static void soup_cross_grid_give_boxes(const void *user, const uint32_t *items, uint32_t first,
                                       uint32_t count, carom_box *boxes) {
    const soup_cross_grid_search *s = user;
    for (uint32_t i = 0; i < count; ++i)
        boxes[i] = s->q_boxes[items != NULL ? items[i] : first + i];
}

static carom_status move_q(soup_cross_grid_search *s) {
    carom_arena *scratch = carom_scratch(s->context, 0);
    uint32_t count = s->q->end - s->q->first;
    s->q_boxes = CAROM_ARENA_TAKE(scratch, carom_box, count);
    s->q_balls = CAROM_ARENA_TAKE(scratch, carom_ball, count);
    if (s->q_boxes == NULL || s->q_balls == NULL)
        return carom_fail_memory(s->context, (uint64_t)count * sizeof(carom_ball), "a search");
    CAROM_TRY(carom_parallel_for(s->context, count, CROSS_RANKS_PER_RANGE, move_triangles, s));
    s->q_bounds = carom_box_empty();
    for (uint32_t i = 0; i < count; ++i)
        if (s->q_boxes[i].low[0] <= s->q_boxes[i].high[0])
            s->q_bounds = carom_box_join(s->q_boxes[i], s->q_bounds);
    carom_grid_def def = {.hash = CAROM_GRID_HASH_BLOCK};
    carom_grid_source source = {count, soup_cross_grid_give_boxes, s};
    return carom_grid_build(s->context, NULL, &s->q_grid, &def, &s->cells->grid.view.space,
                            &source);
}

/* ---- Pair test ------------------------------------------------------------------------------- */

static bool soup_cross_grid_decide(soup_cross_grid_finder *f, uint32_t g, uint32_t q) {
    soup_cross_grid_search *s = f->search;
    if (g != f->last_g) f->posed_g = carom_soup_posed(s->g, f->last_g = g);
    if (q != f->last_q) f->posed_q = carom_soup_posed(s->q, f->last_q = q);
    ++f->pairs.work.candidates;
    if (!carom_soup_meet(&f->posed_g, &f->posed_q, &f->pairs.work.undecided)) return true;
    bool turned = s->cross->turned;
    if (!s->cross->first_only && carom_soup_found_add(&f->pairs, turned ? q : g, turned ? g : q))
        return true;
    atomic_store(&s->stop, true);
    return false;
}

static bool soup_cross_grid_take(carom_grid_found *found) {
    soup_cross_grid_finder *f = found->user;
    soup_cross_grid_search *s = f->search;
    for (uint32_t i = 0; i < found->count; ++i) {
        uint32_t rank = f->from_g ? found->a[i] : found->b[i];
        uint32_t item = s->q_grid.items[f->from_g ? found->b[i] : found->a[i]];
        if (!carom_soup_balls_meet(&s->cells->balls[rank], &s->q_balls[item], s->slack)) continue;
        if (!soup_cross_grid_decide(f, s->cells->grid.items[rank], s->q->first + item))
            return false;
    }
    found->count = 0;
    return !atomic_load_explicit(&s->stop, memory_order_relaxed) &&
           !carom_progress_stop(s->context, f->worker);
}

/* ---- Traversal of the grids ------------------------------------------------------------------ */

static bool soup_cross_grid_finder_begin(void *user, void *state, uint32_t worker) {
    soup_cross_grid_search *s = user;
    soup_cross_grid_finder *f = state;
    f->search = s;
    f->worker = worker;
    carom_soup_found_begin(&f->pairs, s->cross, worker);
    f->last_g = f->last_q = UINT32_MAX;
    f->found.count = 0;
    f->found.visits = 0;
    f->found.flush = soup_cross_grid_take;
    f->found.user = f;
    return true;
}

static soup_cross_grid_finder *finder_of(soup_cross_grid_search *s, uint32_t worker, bool from_g) {
    soup_cross_grid_finder *f = carom_worker_state(&s->finders, worker);
    if (f != NULL) f->from_g = from_g;
    return f;
}

static bool soup_cross_grid_stops(soup_cross_grid_search *s, carom_range range, uint64_t rank) {
    return rank % CAROM_SOUP_RANKS_PER_CHECK == 0 && carom_progress_stop(s->context, range.worker);
}

static carom_status soup_cross_grid_end_range(soup_cross_grid_search *s, soup_cross_grid_finder *f,
                                              carom_range range) {
    (void)soup_cross_grid_take(&f->found);
    carom_progress_add(s->context, range.worker, range.end - range.begin);
    return f->pairs.status;
}

static carom_status search_from_q(void *argument, carom_range range) {
    soup_cross_grid_search *s = argument;
    soup_cross_grid_finder *f = finder_of(s, range.worker, false);
    if (f == NULL) return CAROM_NO_MEMORY;
    const carom_grid_view *q = &s->q_grid.view;
    for (uint64_t rank = range.begin; rank < range.end; ++rank) {
        carom_box box = carom_grid_box(q, (uint32_t)rank);
        if (q->levels[rank] == CAROM_GRID_NOWHERE) continue;
        if (!CAROM_CPU_CALL(s->context, carom_grid_find)(
                &s->cells->grid.view, &box, q->levels[rank], (uint32_t)rank, &f->found) ||
            soup_cross_grid_stops(s, range, rank))
            return f->pairs.status;
    }
    return soup_cross_grid_end_range(s, f, range);
}

static carom_status search_from_g(void *argument, carom_range range) {
    soup_cross_grid_search *s = argument;
    soup_cross_grid_finder *f = finder_of(s, range.worker, true);
    if (f == NULL) return CAROM_NO_MEMORY;
    const carom_grid_view *g = &s->cells->grid.view, *q = &s->q_grid.view;
    if (atomic_load_explicit(&s->stop, memory_order_relaxed)) return CAROM_OK;
    for (uint64_t rank = range.begin; rank < range.end; ++rank) {
        uint32_t level = g->levels[rank];
        if (level == CAROM_GRID_NOWHERE || q->level_mask >> level <= 1u) continue;
        carom_box box = carom_grid_box(g, (uint32_t)rank);
        if (!carom_box_overlap(&box, &s->q_bounds)) continue;
        if (!CAROM_CPU_CALL(s->context, carom_grid_find)(q, &box, level + 1, (uint32_t)rank,
                                                         &f->found) ||
            soup_cross_grid_stops(s, range, rank))
            return f->pairs.status;
    }
    return soup_cross_grid_end_range(s, f, range);
}

static carom_status search_both(soup_cross_grid_search *s) {
    CAROM_TRY(carom_parallel_for(s->context, s->q_grid.view.item_count, CROSS_RANKS_PER_RANGE,
                                 search_from_q, s));
    if (s->stop) return CAROM_OK;
    return carom_parallel_for(s->context, s->cells->grid.view.item_count, CROSS_RANKS_PER_RANGE,
                              search_from_g, s);
}

static carom_status soup_cross_grid_finish(soup_cross_grid_search *s) {
    carom_soup_found all;
    soup_cross_grid_finder *f;
    carom_soup_found_begin(&all, s->cross, 0);
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;) {
        f->pairs.work.visits = f->found.visits;
        carom_soup_found_join(&all, &f->pairs);
    }
    return carom_soup_found_finish(&all);
}

static carom_status soup_cross_grid_run_search(soup_cross_grid_search *s) {
    carom_context *context = s->context;
    CAROM_TRY(move_q(s));
    CAROM_TRY(carom_worker_states_begin(&s->finders, context, sizeof(soup_cross_grid_finder),
                                        soup_cross_grid_finder_begin, s));
    carom_status status = search_both(s);
    if (status == CAROM_NO_MEMORY) status = carom_fail_memory(context, 0, "the pairs found");
    s->cross->first_pair.any = s->cross->first_only && s->stop;
    if (status == CAROM_OK && !s->cross->overflowed) status = soup_cross_grid_finish(s);
    carom_worker_states_release(&s->finders);
    return status;
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* Chooses g: the soup that already has a grid, else the larger one. */
static bool b_is_gridded(const carom_soup *a, const carom_soup *b) {
    bool grid_a = a->method == CAROM_SOUP_METHOD_GRID, grid_b = b->method == CAROM_SOUP_METHOD_GRID;
    return grid_a != grid_b ? grid_b : b->triangle_count > a->triangle_count;
}

carom_status carom_soup_cross_begin_grid(carom_soup_cross *cross, bool windows) {
    const carom_soup *a = cross->posed->a.soup, *b = cross->posed->b.soup;
    cross->turned = windows || b_is_gridded(a, b);
    const carom_soup *g = cross->turned ? b : a;
    cross->cells = &g->cells;
    if (g->method == CAROM_SOUP_METHOD_GRID) return CAROM_OK;
    cross->made = (carom_soup_grid){0};
    cross->cells = &cross->made;
    return carom_soup_grid_build(cross->context, NULL, g, &g->grid_def, &cross->made);
}

carom_status carom_soup_cross_grid(carom_soup_cross *cross) {
    carom_arena *scratch = carom_scratch(cross->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    const carom_soup_side *a = &cross->posed->a, *b = &cross->posed->b;
    soup_cross_grid_search s = {.context = cross->context, .cross = cross, .cells = cross->cells};
    s.g = cross->turned ? b : a;
    s.q = cross->turned ? a : b;
    s.slack = carom_scale_apply(carom_soup_pose_rounding(a, b), carom_exponent(s.g->soup->scale));
    carom_status status = soup_cross_grid_run_search(&s);
    carom_arena_rewind(scratch, mark);
    return status;
}
