/* SPDX-License-Identifier: MIT */
/* The terms of the overlap from two triangles whose boxes overlap.
 *
 * Exact signs decide whether and where the two intersect (solid_item.h). The shared segment and the
 * crossings at its ends give terms. A crossing of a tree edge also changes the winding number of
 * all descendants of that edge (solid_spanning_tree.c).
 *
 * Invariant: every term is within its bound, or the accumulator is marked too_large. */
#include <stdlib.h>

#include "base/progress.h"
#include "solid/solid_query.h"

void carom_solid_add_terms(const carom_solid_query *query, carom_solid_accumulator *acc,
                           const double terms[CAROM_SOLID_SLOTS]) {
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i) {
        if (terms[i] == 0.0) continue;
        if (!(fabs(terms[i]) <= query->bounds[i])) {
            acc->too_large = true; /* the sums cannot be used */
            return;
        }
        carom_sum term = carom_sum_term(terms[i], query->scales[i]), *sum = &acc->terms[i];
        CAROM_ASSERT(term.spoiled == 0);
        sum->low += term.low;
        sum->high += term.high + (sum->low < term.low ? 1u : 0u);
    }
    bool small = carom_solid_add_error(query, &acc->errors[0], terms, 0);
    small = carom_solid_add_error(query, &acc->errors[1], terms, 1) && small;
    acc->too_large |= !small;
    acc->any_volume |= terms[CAROM_SOLID_VOLUME] != 0.0;
    ++acc->added;
    acc->span = CAROM_MAX(acc->span, terms[CAROM_SOLID_SPAN]);
}

/* ---- Large triangles ------------------------------------------------------------------------- */

/* ---- Descendants of a vertex ----------------------------------------------------------------- */

/* Adds triangles one by one, consistent with prefix sums. */
static void add_triangles(const carom_solid_query *query, carom_solid_accumulator *acc, int of_b,
                          uint64_t first, uint64_t last, int weight) {
    const carom_soup_view *soup = &query->solids[of_b]->view;
    const carom_solid_params params = carom_solid_params_of(query);
    for (uint64_t t = first; t < last && t < soup->triangle_count; ++t) {
        double terms[CAROM_SOLID_SLOTS];
        carom_triangle c = carom_soup_view_triangle(soup, t);
        carom_solid_find_posed(terms, c.corner, &carom_solid_side(query, of_b)->frame, query->power,
                               &params, of_b, weight);
        carom_solid_add_terms(query, acc, terms);
    }
}

/* Adds all triangles before `end`: the prefix sum at the nearest block boundary, then single
 * triangles from there. */
static void solid_pair_add_before(const carom_solid_query *query, carom_solid_accumulator *acc,
                                  int of_b, uint64_t end, int weight) {
    uint64_t block = carom_solid_nearest_block(end), there = block * CAROM_SOLID_BLOCK;
    carom_solid_moments_add(&query->solids[of_b]->sums, &acc->moments[of_b], block, weight);
    add_triangles(query, acc, of_b, there, end, weight);
    add_triangles(query, acc, of_b, end, there, -weight);
}

void carom_solid_add_descendants(const carom_solid_query *query, carom_solid_accumulator *acc,
                                 int of_b, uint32_t vertex, int weight) {
    const carom_solid *solid = query->solids[of_b];
    _Atomic int32_t *changes = query->changes[of_b];
    if (weight == 0) return;
    if (changes != NULL) {
        atomic_fetch_add_explicit(&changes[vertex], weight, memory_order_relaxed);
        atomic_fetch_sub_explicit(&changes[solid->ends[vertex]], weight, memory_order_relaxed);
        return;
    }
    if (query->record) {
        carom_solid_keep_change(acc, of_b, vertex, weight);
        return;
    }
    uint64_t first = solid->firsts[vertex], last = solid->firsts[solid->ends[vertex]];
    CAROM_ASSERT(vertex < solid->ends[vertex] && solid->ends[vertex] <= solid->view.vertex_count);
    CAROM_ASSERT(first <= last && last <= solid->view.triangle_count);
    acc->moved[of_b] = true;
    solid_pair_add_before(query, acc, of_b, last, weight);
    solid_pair_add_before(query, acc, of_b, first, -weight);
    if (query->solids[!of_b]->info.by_winding)
        acc->swept[of_b] =
            carom_sum_add(acc->swept[of_b],
                          carom_solid_area_between(solid->sums.blocks, first, last, abs(weight)));
}

void carom_solid_sum_changes(const carom_solid_query *query, int of_b) {
    _Atomic int32_t *changes = query->changes[of_b];
    int32_t winding = 0;
    for (uint64_t v = 0; v < query->solids[of_b]->view.vertex_count; ++v) {
        winding += atomic_load_explicit(&changes[v], memory_order_relaxed);
        atomic_store_explicit(&changes[v], winding, memory_order_relaxed);
    }
    /* what was added at a vertex was subtracted behind its descendants */
    CAROM_ASSERT(winding + atomic_load(&changes[query->solids[of_b]->view.vertex_count]) == 0);
}

void carom_solid_add_changed(const carom_solid_query *query, carom_solid_accumulator *acc,
                             int of_b) {
    const carom_soup_view *soup = &query->solids[of_b]->view;
    const carom_solid_params params = carom_solid_params_of(query);
    for (uint32_t t = 0; t < soup->triangle_count; ++t) {
        if (t % CAROM_SOLID_PER_LOOK == 0 && carom_progress_stop(query->context, 0)) return;
        const uint32_t *v = soup->corners + 3 * (uint64_t)t;
        int32_t w[3];
        for (int i = 0; i < 3; ++i)
            w[i] = atomic_load_explicit(&query->changes[of_b][v[i]], memory_order_relaxed);
        if (w[0] == 0 && w[1] == 0 && w[2] == 0) continue;
        carom_solid_face f;
        double terms[CAROM_SOLID_SLOTS];
        carom_solid_pose(query, of_b, t, &f);
        if (carom_solid_find_changed(terms, &f, &params, w, of_b))
            carom_solid_add_terms(query, acc, terms);
    }
}

/* A crossing of a tree edge changes the winding number of all its descendants. */
static void solid_pair_cross_link(const carom_solid_query *query, carom_solid_accumulator *acc,
                                  const carom_solid_face *f, int of_b, int side, int change) {
    uint32_t vertex = carom_solid_link(f, side, &change);
    carom_solid_add_descendants(query, acc, of_b, vertex, change);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

carom_solid_record *carom_solid_new_record(carom_solid_accumulator *acc) {
    if (acc->records == NULL || acc->records->count == CAROM_SOLID_RECORDS) {
        carom_solid_records *fresh = CAROM_ARENA_TAKE(acc->scratch, carom_solid_records, 1);
        if (fresh == NULL) {
            acc->no_memory = true;
            return NULL;
        }
        fresh->next = acc->records;
        fresh->count = 0;
        acc->records = fresh;
    }
    CAROM_ASSERT(acc->records->count < CAROM_SOLID_RECORDS);
    return &acc->records->data[acc->records->count++];
}

void carom_solid_keep_change(carom_solid_accumulator *acc, int of_b, uint32_t vertex, int change) {
    if (acc->changes == NULL || acc->changes->count == CAROM_SOLID_RECORDS) {
        carom_solid_changes *fresh = CAROM_ARENA_TAKE(acc->scratch, carom_solid_changes, 1);
        if (fresh == NULL) {
            acc->no_memory = true;
            return;
        }
        fresh->next = acc->changes;
        fresh->count = 0;
        acc->changes = fresh;
    }
    CAROM_ASSERT(acc->changes->count < CAROM_SOLID_RECORDS);
    acc->changes->data[acc->changes->count++] = (carom_solid_change){vertex, change, of_b};
}

static void keep_record(carom_solid_accumulator *acc, const carom_solid_face *a,
                        const carom_solid_face *b, const carom_solid_intersection_segment *m) {
    carom_solid_record *record = carom_solid_new_record(acc);
    if (record != NULL)
        *record = (carom_solid_record){{a->index, b->index}, {m->ends[0], m->ends[1]}};
}

/* ---- Pairs of triangles ---------------------------------------------------------------------- */

/* One of the two has no area. It adds nothing to any surface, but the tree edges it represents may
 * cross the other. */
static void solid_pair_consider_flat(const carom_solid_query *query, carom_solid_accumulator *acc,
                                     const carom_solid_face *f, const carom_solid_face *g,
                                     int g_of_b) {
    for (int side = 0; side < 3; ++side) {
        if (!(f->represents >> side & 1u)) continue;
        int change =
            carom_solid_side_crosses(f, side, g, g_of_b ? query->moved_sign : -query->moved_sign);
        if (change != 0) solid_pair_cross_link(query, acc, f, !g_of_b, side, change);
    }
}

static void note_crossing(carom_solid_accumulator *acc, const carom_solid_face *a,
                          const carom_solid_face *b) {
    acc->crossing = true;
    if (carom_solid_both_plain(a, b)) acc->plain_crossing = true;
    uint64_t pair = (uint64_t)a->index << 32 | b->index;
    acc->crossed[0] = CAROM_MAX(pair, acc->crossed[0]);
    acc->crossed[1] = CAROM_MAX(~pair, acc->crossed[1]);
}

/* 1 when the corners are the same in the same order, -1 in the opposite one, 0 when they differ. */
static int compare_corners(const carom_vec3 *a, const carom_vec3 *b) {
    for (int k = 0; k < 3; ++k) {
        if (carom_vec_compare(a[0], b[k]) != 0) continue;
        int next = k == 2 ? 0 : k + 1, last = 3 - k - next;
        if (carom_vec_compare(a[1], b[next]) == 0 && carom_vec_compare(a[2], b[last]) == 0)
            return 1;
        if (carom_vec_compare(a[1], b[last]) == 0 && carom_vec_compare(a[2], b[next]) == 0)
            return -1;
    }
    return 0;
}

void carom_solid_relate(carom_solid_accumulator *acc, const carom_solid_face *a,
                        const carom_solid_face *b) {
    carom_triangle ta, tb;
    memcpy(ta.corner, a->p, sizeof(ta.corner));
    memcpy(tb.corner, b->p, sizeof(tb.corner));
    carom_simplex sa = carom_simplex_make(&ta), sb = carom_simplex_make(&tb);
    carom_simplex_intersection common = carom_simplex_meet(&sa, &sb);
    acc->pairs += common.dimension >= 0 ? 1u : 0u;
    acc->one_sided |= common.dimension == 2;
    if (common.dimension == 1 && common.interior) note_crossing(acc, a, b);
    if (common.dimension != 2) return;
    int copy = compare_corners(a->p, b->p);
    if (copy != 0) ++acc->copies[copy < 0];
}

void carom_solid_consider(const carom_solid_query *query, carom_solid_accumulator *acc,
                          const carom_solid_face *a, const carom_solid_face *b) {
    carom_solid_encounter e;
    ++acc->candidates;
    if (!carom_solid_may_meet(a, b, &e)) return;
    const carom_solid_params params = carom_solid_params_of(query);
    const carom_solid_intersection_segment *m = &e.m;
    carom_solid_decide(a, b, &params, &e);
    acc->undecided += m->undecided ? 1u : 0u;
    if (e.flat) {
        solid_pair_consider_flat(query, acc, a, b, 1);
        solid_pair_consider_flat(query, acc, b, a, 0);
        return;
    }
    if (m->degenerate) {
        carom_solid_relate(acc, a, b);
    } else if (m->count != 0) {
        ++acc->pairs;
        note_crossing(acc, a, b);
    }
    if (m->count == 0) return;
    if (query->record) {
        keep_record(acc, a, b, m);
    } else {
        double terms[CAROM_SOLID_SLOTS] = {0};
        carom_solid_add_encounter(terms, a, b, &params, &e);
        carom_solid_add_terms(query, acc, terms);
    }
    for (int i = 0; i < 2; ++i) {
        const carom_solid_crossing *end = &m->ends[i];
        const carom_solid_face *f = end->of_b ? b : a;
        carom_solid_accumulator_hold(acc, end->x, end->x);
        if (f->represents >> end->side & 1u)
            solid_pair_cross_link(query, acc, f, end->of_b, end->side, end->change);
    }
}
