/* SPDX-License-Identifier: MIT */
/* From two triangles whose boxes meet to terms of the overlap. */
#include "base/progress.h"
#include "solid/query.h"

static void add_terms(const carom_solid_query *query, carom_solid_tally *tally,
                      const double terms[CAROM_SOLID_TERMS]) {
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i) {
        if (terms[i] == 0.0) continue;
        if (!(fabs(terms[i]) <= query->bounds[i])) tally->too_large = true;
        tally->terms[i] =
            carom_sum_add(tally->terms[i], carom_sum_term(terms[i], query->scales[i]));
    }
}

/* ---- large triangles ------------------------------------------------------------------------- */

/* One of many terms of a triangle: rounded to fixed point by itself, so that the same one taken
 * away leaves nothing. */
static void add_one(const carom_solid_query *query, carom_solid_tally *tally, carom_vec3 n,
                    carom_vec3 c, carom_vec3 u, carom_vec3 v, int weight, int of_b) {
    double terms[CAROM_SOLID_TERMS] = {0};
    carom_solid_add_triangle(terms, n, c, u, v, (double)weight, of_b);
    add_terms(query, tally, terms);
}

/* The same for a piece of the border, `sign` times. What is taken away again leaves no error
 * either, so its size is taken away, too. */
static void add_piece(const carom_solid_query *query, carom_solid_tally *tally, carom_vec3 n,
                      carom_vec3 c, carom_vec3 u, carom_vec3 v, int sign, int weight, int of_b) {
    double terms[CAROM_SOLID_TERMS] = {0};
    carom_solid_add_triangle(terms, n, c, u, v, (double)(sign * weight), of_b);
    if (weight < 0) terms[CAROM_SOLID_SIZE] = -terms[CAROM_SOLID_SIZE];
    add_terms(query, tally, terms);
}

/* Its border from the anchor of side `from` to corner 1, passing that only at the end; all of it
 * when from is 3. */
static void add_border(const carom_solid_query *query, carom_solid_tally *tally,
                       const carom_solid_anchors *a, carom_vec3 n, int from, int weight, int of_b) {
    static const int sides[3] = {1, 2, 0};
    bool on = from == 3;
    for (int i = 0; i < 3; ++i) {
        int side = sides[i], next = side == 2 ? 0 : side + 1;
        if (on) add_piece(query, tally, n, a->c, a->e[side], a->p[side], -1, weight, of_b);
        on = on || side == from;
        if (on) add_piece(query, tally, n, a->c, a->e[side], a->p[next], 1, weight, of_b);
    }
}

static bool is_large(const carom_solid_query *query, const carom_solid_face *f, carom_vec3 normal,
                     int of_b) {
    return query->large[of_b] < HUGE_VAL && carom_solid_extent(f->p) > query->large[of_b] &&
           carom_vec_dot(normal, normal) > 0.0;
}

/* What carom_solid_add_meeting gives for others. */
static void add_meeting(const carom_solid_query *query, carom_solid_tally *tally,
                        const carom_solid_face *f, carom_vec3 normal, const carom_solid_meeting *m,
                        int of_b) {
    carom_solid_anchors a = carom_solid_anchors_make(f, normal, query->origin);
    carom_vec3 n = carom_solid_unit(normal);
    add_one(query, tally, n, a.c, m->ends[of_b].x, m->ends[1 - of_b].x, 1, of_b);
    for (int i = 0; i < 2; ++i) {
        const carom_solid_crossing *end = &m->ends[i];
        if (end->of_b != of_b) continue;
        add_one(query, tally, n, a.c, end->x, a.e[end->side], end->change, of_b);
        add_border(query, tally, &a, n, end->side, end->change, of_b);
    }
}

/* ---- what hangs on a vertex ------------------------------------------------------------------ */

static void add_triangle(const carom_solid_query *query, carom_solid_tally *tally, int of_b,
                         uint32_t triangle, int weight) {
    carom_solid_face f;
    carom_solid_pose(query, of_b, triangle, &f);
    carom_vec3 normal = carom_solid_plane_make(f.p).normal, n = carom_solid_unit(normal);
    if (is_large(query, &f, normal, of_b)) {
        carom_solid_anchors a = carom_solid_anchors_make(&f, normal, query->origin);
        add_border(query, tally, &a, n, 3, weight, of_b);
        return;
    }
    for (int i = 0; i < 3; ++i) f.p[i] = carom_vec_sub(f.p[i], query->origin);
    add_one(query, tally, n, f.p[0], f.p[1], f.p[2], weight, of_b);
}

/* Triangles one by one. */
static void add_triangles(const carom_solid_query *query, carom_solid_tally *tally, int of_b,
                          uint64_t first, uint64_t last, int weight) {
    uint64_t count = query->solids[of_b]->soup->triangle_count;
    for (uint64_t t = first; t < last && t < count; ++t)
        add_triangle(query, tally, of_b, (uint32_t)t, weight);
}

/* All triangles before `end`: by the sum at the nearest block, and one by one from there. */
static void add_before(const carom_solid_query *query, carom_solid_tally *tally, int of_b,
                       uint64_t end, int weight) {
    uint64_t block = (end + CAROM_SOLID_BLOCK / 2) / CAROM_SOLID_BLOCK;
    uint64_t there = block * CAROM_SOLID_BLOCK;
    carom_solid_moments_add(&query->solids[of_b]->sums, &tally->moments[of_b], block, weight);
    add_triangles(query, tally, of_b, there, end, weight);
    add_triangles(query, tally, of_b, end, there, -weight);
}

void carom_solid_add_below(const carom_solid_query *query, carom_solid_tally *tally, int of_b,
                           uint32_t vertex, int weight) {
    const carom_solid *solid = query->solids[of_b];
    _Atomic int32_t *changes = query->changes[of_b];
    if (weight == 0) return;
    if (changes != NULL) {
        atomic_fetch_add_explicit(&changes[vertex], weight, memory_order_relaxed);
        atomic_fetch_sub_explicit(&changes[solid->ends[vertex]], weight, memory_order_relaxed);
        return;
    }
    add_before(query, tally, of_b, solid->firsts[solid->ends[vertex]], weight);
    add_before(query, tally, of_b, solid->firsts[vertex], -weight);
}

void carom_solid_add_changed(const carom_solid_query *query, carom_solid_tally *tally, int of_b) {
    const carom_solid *solid = query->solids[of_b];
    int32_t winding = 0;
    for (uint64_t v = 0; v < solid->soup->vertex_count; ++v) {
        if (v % 4096 == 0 && carom_progress_stop(query->context, 0)) return;
        winding += atomic_load_explicit(&query->changes[of_b][v], memory_order_relaxed);
        if (winding != 0)
            add_triangles(query, tally, of_b, solid->firsts[v], solid->firsts[v + 1], winding);
    }
}

/* A crossing of a link changes the winding number of all that hangs on it. */
static void cross_link(const carom_solid_query *query, carom_solid_tally *tally,
                       const carom_solid_face *f, int of_b, int side, int change) {
    uint32_t from = f->v[side], to = f->v[side == 2 ? 0 : side + 1];
    carom_solid_add_below(query, tally, of_b, CAROM_MAX(from, to), from < to ? change : -change);
}

static void keep_record(const carom_solid_query *query, carom_solid_tally *tally,
                        const carom_solid_face *a, const carom_solid_face *b,
                        const carom_solid_meeting *m) {
    if (tally->records == NULL || tally->records->count == CAROM_SOLID_RECORDS) {
        carom_solid_records *fresh =
            CAROM_ARENA_TAKE(carom_scratch(query->context, 0), carom_solid_records, 1);
        if (fresh == NULL) {
            tally->no_memory = true;
            return;
        }
        fresh->next = tally->records;
        fresh->count = 0;
        tally->records = fresh;
    }
    tally->records->data[tally->records->count++] =
        (carom_solid_record){{a->number, b->number}, {m->ends[0], m->ends[1]}};
}

/* ---- two triangles --------------------------------------------------------------------------- */

/* One has no area: it has no share in any surface, but the links it speaks for may pass through the
 * other. */
static void consider_flat(const carom_solid_query *query, carom_solid_tally *tally,
                          const carom_solid_face *f, const carom_solid_face *g, int g_of_b) {
    for (int side = 0; side < 3; ++side) {
        if (!(f->owns >> side & 1u)) continue;
        int change = carom_solid_side_crosses(f, side, g, g_of_b ? 1 : -1);
        if (change != 0) cross_link(query, tally, f, !g_of_b, side, change);
    }
}

/* Whether and how they touch, exactly, as they are. */
static void relate(carom_solid_tally *tally, const carom_solid_face *a, const carom_solid_face *b) {
    carom_triangle ta, tb;
    memcpy(ta.corner, a->p, sizeof(ta.corner));
    memcpy(tb.corner, b->p, sizeof(tb.corner));
    carom_simplex sa = carom_simplex_make(&ta), sb = carom_simplex_make(&tb);
    int dimension = carom_simplex_meet(&sa, &sb).dimension;
    tally->pairs += dimension >= 0 ? 1u : 0u;
    tally->one_sided |= dimension == 2;
}

void carom_solid_consider(const carom_solid_query *query, carom_solid_tally *tally,
                          const carom_solid_face *a, const carom_solid_face *b) {
    carom_solid_sides sides_a, sides_b;
    ++tally->candidates;
    carom_solid_plane plane_b = carom_solid_plane_make(b->p);
    if (carom_solid_find_values(b->p, &plane_b, a->p, &sides_a)) return;
    carom_solid_plane plane_a = carom_solid_plane_make(a->p);
    if (carom_solid_find_values(a->p, &plane_a, b->p, &sides_b)) return;

    const carom_solid_place place = {query->origin, query->long_edge};
    carom_solid_meeting m = {0};
    carom_solid_find_signs(b->p, a->p, -1, &sides_a, &m.tied, &m.undecided);
    carom_solid_find_signs(a->p, b->p, 1, &sides_b, &m.tied, &m.undecided);
    tally->undecided += m.undecided ? 1u : 0u;
    if (sides_a.sign[0] == 0 || sides_b.sign[0] == 0) {
        consider_flat(query, tally, a, b, 1);
        consider_flat(query, tally, b, a, 0);
        return;
    }
    if (!carom_solid_one_side(sides_a.sign) && !carom_solid_one_side(sides_b.sign))
        carom_solid_meet(a, &sides_a, b, &sides_b, &place, &m);
    if (m.tied)
        relate(tally, a, b);
    else if (m.count != 0)
        ++tally->pairs;
    if (m.count == 0) return;
    if (query->record) keep_record(query, tally, a, b, &m);

    double terms[CAROM_SOLID_TERMS] = {0};
    if (is_large(query, a, plane_a.normal, 0))
        add_meeting(query, tally, a, plane_a.normal, &m, 0);
    else
        carom_solid_add_meeting(terms, a, plane_a.normal, &m, 0, query->origin);
    if (is_large(query, b, plane_b.normal, 1))
        add_meeting(query, tally, b, plane_b.normal, &m, 1);
    else
        carom_solid_add_meeting(terms, b, plane_b.normal, &m, 1, query->origin);
    add_terms(query, tally, terms);
    for (int i = 0; i < 2; ++i) {
        const carom_solid_crossing *end = &m.ends[i];
        const carom_solid_face *f = end->of_b ? b : a;
        carom_solid_tally_hold(tally, end->x, end->x);
        if (f->owns >> end->side & 1u)
            cross_link(query, tally, f, end->of_b, end->side, end->change);
    }
}
