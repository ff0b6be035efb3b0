/* SPDX-License-Identifier: MIT */
/* The search for pairs of faces within one soup.
 *
 * The tree or the grid finds candidates, pairs whose boxes overlap, in batches of a few thousand. A
 * batch is decided at once, while it is in the first-level cache: by a SIMD filter, then, for the
 * few pairs it leaves open, by the exact test. Pairs that count are appended to a list per worker.
 *
 * Method AUTO gives the tree a budget of work. Whether all workers together stay below it depends
 * on the input alone. If they exceed it, all stop, and the search is repeated on a grid. */
#include "soup/soup_search.h"

#include "base/progress.h"
#include "base/threads.h"
#include "bvh/bvh_cpu.h"
#include "grid/grid_cpu.h"
#include "soup/soup_cpu.h"
#include "soup/soup_within.h"

#define SOUP_SEARCH_NODES_PER_RANGE     2u /* of level 1: 512 triangles */
#define SOUP_SEARCH_RANKS_PER_RANGE     512u
#define SOUP_SEARCH_TRIANGLES_PER_RANGE 64u /* of a window */

typedef struct soup_search_finder {
    carom_soup_search *search;
    uint32_t worker;
    const uint32_t *items,
        *entry_corners; /* triangles and corners by slot in the tree, or by rank */
    carom_pair_list list;
    uint64_t count; /* pairs that count, kept or not */
    uint64_t visits_paid;
    carom_work work;
    carom_status status;
    carom_soup_verdicts verdicts;
    carom_soup_within_batch batch;
    union {
        carom_bvh_found tree;
        carom_grid_found grid;
    } found;
} soup_search_finder;

/* ---- Pair test ------------------------------------------------------------------------------- */

static bool keep_pair(soup_search_finder *f, uint32_t triangle_a, uint32_t triangle_b) {
    carom_soup_search *s = f->search;
    uint32_t a = carom_soup_face(s->soup, triangle_a), b = carom_soup_face(s->soup, triangle_b);
    uint32_t low = CAROM_MIN(a, b), high = CAROM_MAX(a, b);
    if (a == b || low < s->first_face || low >= s->end_face) return true;
    ++f->count;
    if (s->stop_at_first) atomic_store(&s->stop, true);
    if (s->face_counts != NULL)
        (void)__atomic_fetch_add(&s->face_counts[low], 1u, __ATOMIC_RELAXED);
    if (!s->keep) return !s->stop_at_first;
    if (s->most != 0 && f->count > s->most) {
        atomic_store(&s->overflowed, true);
        atomic_store(&s->stop, true);
        return false;
    }
    if (!carom_pair_list_add(&f->list, low, high)) f->status = CAROM_NO_MEMORY;
    return f->status == CAROM_OK;
}

/* Decides a pair that the SIMD filters left open; those of face_item.h would leave it open, too. */
static bool counts_exactly(const carom_soup *soup, const uint32_t *ca, const uint32_t *cb) {
    carom_triangle ta = carom_soup_triangle(soup, ca), tb = carom_soup_triangle(soup, cb);
    carom_common common = carom_common_make(ca, cb);
    bool as_segments = soup->degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT;
    return carom_face_pair_exact(&ta, &tb, &common, as_segments) != 0;
}

static bool soup_search_decide_batch(soup_search_finder *f) {
    carom_soup_search *s = f->search;
    carom_soup_within_batch *batch = &f->batch;
    if (!carom_soup_within_decide(s->context, f->worker, batch, s->margin, &f->work.undecided))
        return false;
    for (uint64_t yes = batch->yes; yes != 0; yes &= yes - 1) {
        int i = __builtin_ctzll(yes);
        if (!keep_pair(f, batch->a[i], batch->b[i])) return false;
    }
    batch->count = 0;
    return true;
}

/* Decides pairs within a margin. */
static bool decide_within(soup_search_finder *f, const uint32_t *a, const uint32_t *b,
                          uint32_t count) {
    const carom_soup *soup = f->search->soup;
    f->batch.count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t *ca = f->entry_corners + 3 * (uint64_t)a[i],
                       *cb = f->entry_corners + 3 * (uint64_t)b[i];
        uint32_t triangle_a = f->items[a[i]], triangle_b = f->items[b[i]];
        if (carom_soup_common_vertex(ca, cb)) continue;
        if (carom_soup_face(soup, triangle_a) == carom_soup_face(soup, triangle_b)) continue;
        carom_triangle ta = carom_soup_triangle(soup, ca), tb = carom_soup_triangle(soup, cb);
        carom_soup_within_add(&f->batch, triangle_a, triangle_b, &ta, &tb);
        ++f->work.candidates;
        if (carom_soup_within_full(&f->batch) && !soup_search_decide_batch(f)) return false;
    }
    return soup_search_decide_batch(f) &&
           !atomic_load_explicit(&f->search->stop, memory_order_relaxed) &&
           !carom_progress_stop(f->search->context, f->worker);
}

static bool soup_search_decide(soup_search_finder *f, const uint32_t *a, const uint32_t *b,
                               uint32_t count) {
    if (f->search->within) return decide_within(f, a, b, count);
    const carom_soup *soup = f->search->soup;
    carom_soup_points points = {soup->positions, f->entry_corners,
                                soup->scalar == CAROM_SCALAR_FLOAT64};
    carom_soup_verdicts *v = &f->verdicts;
    f->work.candidates += count;
    for (uint32_t at = 0; at < count;
         at += CAROM_SOUP_BATCH, a += CAROM_SOUP_BATCH, b += CAROM_SOUP_BATCH) {
        uint32_t some = CAROM_MIN(count - at, CAROM_SOUP_BATCH);
        CAROM_CPU_CALL(f->search->context, carom_soup_filter)(&points, a, b, some, v);
        f->work.undecided += v->open_count;
        for (uint32_t i = 0; i < v->yes_count; ++i)
            if (!keep_pair(f, f->items[a[v->yes[i]]], f->items[b[v->yes[i]]])) return false;
        for (uint32_t i = 0; i < v->open_count; ++i) {
            uint32_t pa = a[v->open[i]], pb = b[v->open[i]];
            if (counts_exactly(soup, f->entry_corners + 3 * (uint64_t)pa,
                               f->entry_corners + 3 * (uint64_t)pb) &&
                !keep_pair(f, f->items[pa], f->items[pb]))
                return false;
            if (i % CAROM_SOUP_EXACT_PER_CHECK == 0 &&
                carom_progress_stop(f->search->context, f->worker))
                return false;
        }
    }
    return !atomic_load_explicit(&f->search->stop, memory_order_relaxed) &&
           !carom_progress_stop(f->search->context, f->worker);
}

/* Adds to the work of all workers; false if the sum exceeds the budget. */
static bool soup_search_pay(soup_search_finder *f, uint64_t visits, uint64_t candidates) {
    carom_soup_search *s = f->search;
    if (s->budget == UINT64_MAX) return true;
    uint64_t units = visits - f->visits_paid + candidates;
    f->visits_paid = visits;
    if (atomic_fetch_add(&s->work, units) + units <= s->budget) return true;
    atomic_store(&s->spent, true);
    atomic_store(&s->stop, true);
    return false;
}

static bool soup_search_decide_tree(carom_bvh_found *found) {
    soup_search_finder *f = found->user;
    uint32_t count = found->count;
    found->count = 0;
    return soup_search_pay(f, found->visits, count) &&
           soup_search_decide(f, found->a, found->b, count);
}

/* In a window each triangle finds all its partners. Pairs with an earlier face are dropped: that
 * face has reported them. */
static bool decide_later_ones(carom_bvh_found *found) {
    soup_search_finder *f = found->user;
    const carom_soup *soup = f->search->soup;
    uint32_t kept = 0, count = found->count;
    found->count = 0;
    if (!soup_search_pay(f, found->visits, count)) return false;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t a = f->items[found->a[i]], b = f->items[found->b[i]];
        found->a[kept] = found->a[i];
        found->b[kept] = found->b[i];
        kept += carom_soup_face(soup, a) < carom_soup_face(soup, b) ? 1 : 0;
    }
    return soup_search_decide(f, found->a, found->b, kept);
}

/* Candidates of the grid are pairs whose balls overlap too. */
static bool soup_search_decide_grid(carom_grid_found *found) {
    soup_search_finder *f = found->user;
    const carom_ball *balls = f->search->cells->balls;
    uint32_t kept = 0, count = found->count;
    found->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t a = found->a[i], b = found->b[i];
        found->a[kept] = a;
        found->b[kept] = b;
        kept += carom_soup_balls_meet(&balls[a], &balls[b], 0.0) ? 1u : 0u;
    }
    return soup_search_decide(f, found->a, found->b, kept);
}

/* ---- Traversal by tree or grid --------------------------------------------------------------- */

static bool soup_search_finder_begin(void *user, void *state, uint32_t worker) {
    carom_soup_search *s = user;
    soup_search_finder *f = state;
    f->search = s;
    f->worker = worker;
    carom_pair_list_begin(&f->list, carom_scratch(s->context, worker));
    f->count = f->visits_paid = 0;
    f->work = (carom_work){0};
    f->status = CAROM_OK;
    if (s->cells != NULL) {
        f->items = s->cells->grid.items;
        f->entry_corners = s->cells->rank_corners;
        f->found.grid.count = 0;
        f->found.grid.visits = 0;
        f->found.grid.flush = soup_search_decide_grid;
        f->found.grid.user = f;
    } else {
        f->items = s->soup->bvh.items;
        f->entry_corners = s->soup->slot_corners;
        f->found.tree.count = 0;
        f->found.tree.visits = 0;
        f->found.tree.flush = s->slot_of != NULL ? decide_later_ones : soup_search_decide_tree;
        f->found.tree.user = f;
    }
    return true;
}

static bool search_node(soup_search_finder *f, uint32_t node) {
    const carom_soup_search *s = f->search;
    const carom_bvh *bvh = &s->soup->bvh;
    carom_bvh_found *found = &f->found.tree;
    if (s->within)
        return CAROM_CPU_CALL(s->context, carom_bvh_self_node_within)(bvh, node, s->reach, found);
    return CAROM_CPU_CALL(s->context, carom_bvh_self_node)(bvh, node, found);
}

static carom_status soup_search_nodes(void *argument, carom_range range) {
    carom_soup_search *s = argument;
    soup_search_finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t node = range.begin; node < range.end; ++node)
        if (atomic_load_explicit(&s->stop, memory_order_relaxed) || !search_node(f, (uint32_t)node))
            return f->status;
    (void)soup_search_decide_tree(&f->found.tree);
    carom_progress_add(s->context, range.worker,
                       (range.end - range.begin) * CAROM_BVH_WIDTH * CAROM_BVH_WIDTH);
    return f->status;
}

static carom_status soup_search_window(void *argument, carom_range range) {
    carom_soup_search *s = argument;
    const carom_soup *soup = s->soup;
    soup_search_finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t triangle = s->first + (uint32_t)i;
        if (!carom_soup_searched(soup, triangle)) continue;
        carom_box box = carom_soup_box(soup, triangle);
        if (s->within) box = carom_box_enlarge(box, s->reach);
        if (!CAROM_CPU_CALL(s->context, carom_bvh_find_box)(&soup->bvh, &box, s->slot_of[triangle],
                                                            &f->found.tree))
            return f->status;
    }
    (void)decide_later_ones(&f->found.tree);
    return f->status;
}

static carom_status soup_search_ranks(void *argument, carom_range range) {
    carom_soup_search *s = argument;
    soup_search_finder *f = carom_worker_state(&s->finders, range.worker);
    if (f == NULL) return CAROM_NO_MEMORY;
    if (atomic_load_explicit(&s->stop, memory_order_relaxed)) return CAROM_OK;
    for (uint64_t at = range.begin; at < range.end; at += CAROM_SOUP_RANKS_PER_CHECK) {
        uint64_t end = CAROM_MIN(at + CAROM_SOUP_RANKS_PER_CHECK, range.end);
        if (!CAROM_CPU_CALL(s->context, carom_grid_self)(&s->cells->grid.view, (uint32_t)at,
                                                         (uint32_t)end, &f->found.grid) ||
            carom_progress_stop(s->context, range.worker))
            return f->status;
    }
    (void)soup_search_decide_grid(&f->found.grid);
    if (!s->streams) carom_progress_add(s->context, range.worker, range.end - range.begin);
    return f->status;
}

static carom_status soup_search_all(carom_soup_search *s) {
    const carom_bvh *bvh = &s->soup->bvh;
    if (s->cells != NULL)
        return carom_parallel_for(s->context, s->cells->grid.view.item_count,
                                  SOUP_SEARCH_RANKS_PER_RANGE, soup_search_ranks, s);
    if (s->slot_of != NULL)
        return carom_parallel_for(s->context, s->end - s->first, SOUP_SEARCH_TRIANGLES_PER_RANGE,
                                  soup_search_window, s);
    return carom_parallel_for(s->context, carom_bvh_self_nodes(bvh), SOUP_SEARCH_NODES_PER_RANGE,
                              soup_search_nodes, s);
}

/* ---- Result ---------------------------------------------------------------------------------- */

/* Lists each degenerate face f among triangles [first, end) as the pair (f, f); false if out of
 * memory. */
static bool add_degenerate(const carom_soup *soup, uint32_t first, uint32_t end,
                           carom_pair_list *list) {
    if (soup->degenerate_faces == 0 || soup->degenerate != CAROM_SOUP_DEGENERATE_ALONE) return true;
    for (uint32_t t = first; t < end;) {
        uint32_t face = carom_soup_face(soup, t);
        bool all = true;
        for (; t < end && carom_soup_face(soup, t) == face; ++t)
            all = all && soup->states[t] == CAROM_SOUP_DEGENERATE;
        if (all && !carom_pair_list_add(list, face, face)) return false;
    }
    return true;
}

static carom_status pass_pairs(carom_soup_search *s, carom_pair_finish_fn *finish, void *argument) {
    const soup_search_finder *f;
    uint64_t *pairs, count;
    carom_pair_list all;
    carom_pair_list_begin(&all, carom_scratch(s->context, 0));
    if (!s->within && !add_degenerate(s->soup, s->first, s->end, &all))
        return carom_fail_memory(s->context, sizeof(carom_pair_chunk), "the list of pairs");
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;)
        carom_pair_list_join(&all, &f->list);
    CAROM_TRY(carom_pair_list_sort(s->context, &all, s->soup->faces != NULL, &pairs, &count));
    if (s->within && s->soup->faces != NULL)
        CAROM_TRY(carom_soup_within_remove_neighbours(s->context, s->soup, pairs, &count));
    return finish(s->context, pairs, count, argument);
}

static void add_work(carom_soup_search *s) {
    const soup_search_finder *f;
    for (uint32_t w = 0; (f = carom_worker_states_next(&s->finders, &w)) != NULL;) {
        s->context->work.visits += s->cells != NULL ? f->found.grid.visits : f->found.tree.visits;
        s->context->work.candidates += f->work.candidates;
        s->context->work.undecided += f->work.undecided;
        s->count += f->count;
    }
}

carom_status carom_soup_search_run(carom_soup_search *s, carom_pair_finish_fn *finish,
                                   void *argument) {
    carom_context *context = s->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    s->count = 0;
    carom_status status = carom_worker_states_begin(
        &s->finders, context, sizeof(soup_search_finder), soup_search_finder_begin, s);
    if (status == CAROM_OK) {
        status = soup_search_all(s);
        bool given_up = s->overflowed || s->spent;
        if (status == CAROM_NO_MEMORY) status = carom_fail_memory(context, 0, "the pairs found");
        if (!given_up) add_work(s);
        if (status == CAROM_OK && finish != NULL && !given_up)
            status = pass_pairs(s, finish, argument);
        carom_worker_states_release(&s->finders);
    }
    carom_arena_rewind(scratch, mark);
    return status;
}

void carom_soup_search_begin(carom_context *context, const carom_soup *soup,
                             carom_soup_search *search) {
    context->work = (carom_work){0};
    *search =
        (carom_soup_search){.context = context,
                            .soup = soup,
                            .cells = soup->method == CAROM_SOUP_METHOD_GRID ? &soup->cells : NULL,
                            .end = soup->triangle_count,
                            .end_face = UINT32_MAX,
                            .budget = carom_soup_budget(soup, soup->triangle_count)};
}

carom_status carom_soup_search_on_grid(carom_soup_search *s, carom_soup_grid *cells) {
    s->context->work.visits += s->budget;
    s->budget = UINT64_MAX;
    /* One worker may have kept too many pairs while another spent the budget. */
    s->stop = s->spent = s->overflowed = false;
    s->slot_of = NULL;
    *cells = (carom_soup_grid){0};
    s->cells = cells;
    return carom_soup_grid_build(s->context, NULL, s->soup, &s->soup->grid_def, cells);
}
