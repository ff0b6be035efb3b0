/* SPDX-License-Identifier: MIT */
/* The nearest two triangles of two posed soups, by branch and bound on both trees. Pairs of boxes
 * are opened nearest first and skipped if they are farther apart than what matters. Every pair that
 * could be the best is measured, so the result does not depend on the order. */
#include "soup/soup_nearest.h"

#include "bvh/bvh_obb_search.h"
#include "soup/soup.h"

/* Distances may be measured too large by less than this factor. */
#define LIMIT_MARGIN (1.0 + 0x1p-40)

typedef struct soup_nearest_worker {
    carom_obb_worker base;
    const carom_soup_nearest_search *search;
    carom_soup_nearest best;
    uint64_t measured;
    uint32_t last_b; /* the triangle posed last */
    carom_triangle posed_b;
} soup_nearest_worker;

static bool soup_nearest_is_better(const carom_soup_nearest *n, const carom_soup_nearest *than) {
    if (!than->any) return true;
    if (n->time != than->time) return n->time < than->time;
    if (n->closest.distance != than->closest.distance)
        return n->closest.distance < than->closest.distance;
    if (n->face_a != than->face_a) return n->face_a < than->face_a;
    if (n->face_b != than->face_b) return n->face_b < than->face_b;
    return n->a != than->a ? n->a < than->a : n->b < than->b; /* polygons have several */
}

void carom_soup_nearest_of(const carom_soup_posed_pair *posed, uint32_t a, uint32_t b,
                           carom_soup_nearest *found) {
    carom_triangle posed_a = carom_soup_posed(&posed->a, a);
    carom_triangle posed_b = carom_soup_posed(&posed->b, b);
    *found = (carom_soup_nearest){.any = true,
                                  .face_a = carom_soup_face(posed->a.soup, a),
                                  .face_b = carom_soup_face(posed->b.soup, b),
                                  .a = a,
                                  .b = b};
    carom_near_triangles(posed_a.corner, posed_b.corner, &found->closest);
    found->least = found->closest.distance;
}

/* Takes the better one, and the lesser of both distances; whether anything changed. */
static bool soup_nearest_offer(carom_soup_nearest *best, const carom_soup_nearest *n) {
    double least = best->any ? CAROM_MIN(n->least, best->least) : n->least;
    bool better = soup_nearest_is_better(n, best), nearer = !best->any || least < best->least;
    if (better) *best = *n;
    best->least = least;
    return better || nearer;
}

/* Measures two triangles; whether that changes the best so far. */
static inline bool soup_nearest_look_at(const carom_soup_nearest_search *s, uint32_t a, uint32_t b,
                                        const carom_triangle *posed_a,
                                        const carom_triangle *posed_b, carom_soup_nearest *best,
                                        uint64_t *measured) {
    carom_soup_nearest found = {.any = true, .a = a, .b = b};
    if (!s->measure(s->user, best, posed_a, posed_b, &found)) return false;
    ++*measured;
    found.face_a = carom_soup_face(s->posed->a.soup, a);
    found.face_b = carom_soup_face(s->posed->b.soup, b);
    found.least = found.closest.distance;
    return soup_nearest_offer(best, &found);
}

/* ---- On trees -------------------------------------------------------------------------------- */

static float soup_nearest_measure(carom_obb_traversal *traversal, uint32_t slot_a,
                                  uint32_t slot_b) {
    soup_nearest_worker *w = traversal->user;
    const carom_soup_nearest_search *s = w->search;
    const carom_soup_posed_pair *posed = s->posed;
    uint32_t a = posed->a.items[slot_a], b = posed->b.items[slot_b];
    carom_triangle posed_a = carom_soup_posed(&posed->a, a);
    if (b != w->last_b) w->posed_b = carom_soup_posed(&posed->b, w->last_b = b);
    if (!soup_nearest_look_at(s, a, b, &posed_a, &w->posed_b, &w->best, &w->measured))
        return atomic_load_explicit(&w->base.search->limit, memory_order_relaxed);
    const carom_closest *closest = &w->best.closest;
    if (s->turn) carom_soup_set_direction(traversal, posed, carom_vec_sub(closest->b, closest->a));
    return carom_obb_search_lower(w->base.search,
                                  carom_soup_limit_of(posed, s->limit_after(s->user, &w->best)));
}

static void soup_nearest_worker_begin(void *user, void *state) {
    const carom_soup_nearest_search *s = *(const carom_soup_nearest_search **)user;
    soup_nearest_worker *w = state;
    w->search = s;
    w->best.any = false;
    w->measured = 0;
    w->last_b = CAROM_BVH_NONE;
    carom_soup_begin_traversal(s->posed, &w->base.traversal);
    carom_soup_set_direction(&w->base.traversal, s->posed, s->posed->offset);
}

static carom_status soup_nearest_search_trees(const carom_soup_nearest_search *s,
                                              carom_soup_nearest *best) {
    const soup_nearest_worker *w;
    carom_obb_search search = {.context = s->context,
                               .state_size = sizeof(soup_nearest_worker),
                               .user = &s,
                               .begin = soup_nearest_worker_begin,
                               .measure = soup_nearest_measure,
                               .budget = UINT64_MAX,
                               .limit = carom_soup_limit_of(s->posed, s->limit)};
    CAROM_TRY(carom_obb_search_begin(&search));
    carom_status status = carom_obb_search_run(&search);
    s->context->work.visits += search.visits;
    for (uint32_t i = 0; (w = carom_worker_states_next(&search.states, &i)) != NULL;) {
        s->context->work.candidates += w->measured;
        if (w->best.any) (void)soup_nearest_offer(best, &w->best);
    }
    carom_obb_search_end(&search);
    return status;
}

/* ---- Without trees --------------------------------------------------------------------------- */

typedef struct all_with_all {
    const carom_soup_nearest_search *search;
    carom_soup_nearest best;
    double limit;
    uint64_t measured;
} all_with_all;

static bool measure_two(void *user, uint32_t a, uint32_t b, const carom_triangle *posed_a,
                        const carom_triangle *posed_b) {
    all_with_all *all = user;
    const carom_soup_nearest_search *s = all->search;
    if (soup_nearest_look_at(s, a, b, posed_a, posed_b, &all->best, &all->measured)) {
        double limit = s->limit_after(s->user, &all->best) * LIMIT_MARGIN;
        all->limit = CAROM_MIN(limit, all->limit);
    }
    return true;
}

static carom_status soup_nearest_compare_all(const carom_soup_nearest_search *s,
                                             carom_soup_nearest *best) {
    all_with_all all = {.search = s, .limit = s->limit * LIMIT_MARGIN};
    carom_status status =
        carom_soup_each_two(s->context, s->posed, carom_soup_direction_of(s->posed->offset),
                            &all.limit, measure_two, &all);
    s->context->work.candidates += all.measured;
    *best = all.best;
    return status;
}

carom_status carom_soup_find_nearest_two(const carom_soup_nearest_search *search,
                                         carom_soup_nearest *best) {
    carom_arena *scratch = carom_scratch(search->context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    *best = (carom_soup_nearest){.any = false};
    carom_status status = search->posed->extreme || search->posed->far
                              ? soup_nearest_compare_all(search, best)
                              : soup_nearest_search_trees(search, best);
    carom_arena_rewind(scratch, mark);
    return status;
}
