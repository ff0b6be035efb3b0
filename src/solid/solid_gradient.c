/* SPDX-License-Identifier: MIT */
/* The force of an overlap's volume on each vertex of both meshes.
 *
 * A vertex of a that moves by dx carries its faces along: the point with the barycentric coordinate
 * l of the vertex moves by l dx. So the volume changes by the integral of l w n over these faces,
 * where w is the winding number of b and n the normal. With N the cross product of two sides of a
 * face, the force on its corner j is minus N times the integral of w l_j over the triangle of
 * barycentric coordinates. That integral has the terms of solid_item.h: per pair of intersecting
 * faces, the segment they share; per crossing x on the edge from corner 1 to corner 2, the segment
 * x -> corner 2; and 1/6, weighted by w at corner 1.
 *
 * The search keeps the pairs that meet, and the changes of w on the spanning tree. These, sorted,
 * give the ranges of vertices where w is not 0, and so the triangles. Vertices that take part are
 * marked in a bitmap, and get a slot each. So the time depends on the pairs that meet and on the
 * faces inside, and on the meshes by two bits per vertex.
 *
 * Invariant: pairs are added in the order of their triangles, so no result depends on the order in
 * which they were found. */
#include "base/progress.h"
#include "base/sort.h"
#include "solid/solid_precise.h"

CAROM_RESULT_FILL(carom_solid_vertex_forces);
CAROM_RESULT_DEFINE_FREE(carom_solid_vertex_forces);

/* Extent of an edge, in radii of the smaller solid, above which its crossings are computed in
 * double-double, as for overlaps (OVERLAP_FACE_SIZE). */
#define GRADIENT_EDGE_SIZE 4.0

/* ---- Error bounds ---------------------------------------------------------------------------- */

/* Errors are counted in units of e = 2^-53. Norms are sums of magnitudes. u and v are two sides of
 * a face, and each coordinate of N = u x v has an error of at most 4 e |u| |v|. */
#define GRADIENT_UNIT 0x1p-53

/* A whole face: 4 for N, and 2 for the weight over 6 and the product, of |u| |v| times the weight.
 * Rounded up. So a force is at most an eighth of its units, as below, where they are more; and the
 * sum of several is rounded by an eighth of their units for each. */
#define GRADIENT_WHOLE 8.0

/* A point x of a face, relative to corner 0, is r = x - (corner 0 - origin). As a crossing, x has
 * an error of 3 e (|x| + 2 |edge|) and its slide along the edge; the corner of e |corner|, the
 * difference of e |r|. Its barycentric coordinate is (r x v) . N / (N . N), whose error is that of
 * r times |v|, 4 e |r| |v| for the cross product and 5 e |r| |v| for the scalar product and the
 * quotient; and twice that of N, all over |N|. SPAN is the factor of |r| (|u| + |v|), 1 + 4 + 5,
 * and CORNERS that of |u| |v|; both are rounded up. */
#define GRADIENT_CROSSING 3.0
#define GRADIENT_EDGE     6.0
#define GRADIENT_SPAN     11.0
#define GRADIENT_CORNERS  16.0

/* A part of a face is the area of the triangle of barycentric coordinates times the mean of one of
 * them. Both are at most 1, so an error d in the coordinates of an end changes it by d (1 + 1/6) at
 * most. Its own arithmetic, its product with N and the error of N add less than 16 e |u| |v|. */
#define GRADIENT_PART          1.25
#define GRADIENT_PART_ROUNDING 16.0

/* A face so thin that double-double does not know its normal has an area below 2^-70 |u| |v|, and
 * no more weight than 4 of that: in units of e. */
#define GRADIENT_THIN 0x1p-15

/* Factor of a bound, for the roundings of its own evaluation; and what numbers too small for
 * doubles may add, in the query's unit, far below what counts. */
#define GRADIENT_MARGIN    (1.0 + 0x1p-20)
#define GRADIENT_UNDERFLOW 0x1p-1000

/* Error of a force relative to the sum of all forces, above which they are computed again in
 * multiple precision; and the number of pairs and faces up to which they are, for some 20
 * microseconds each. */
#define GRADIENT_PRECISION     0x1p-32
#define GRADIENT_PRECISE_TERMS 8192u

/* ---- What takes part ------------------------------------------------------------------------- */

/* Vertices [first, last) of a solid, where the other's winding number is `winding`. */
typedef struct gradient_range {
    uint32_t first, last;
    int32_t winding;
} gradient_range;

/* What one search found: for one sign of the perturbation of b. */
typedef struct gradient_side {
    const carom_solid_record **records;
    uint64_t record_count;
    gradient_range *ranges[2];
    uint32_t range_count[2];
} gradient_side;

/* A vertex that takes part; a cache line. */
typedef struct gradient_slot {
    carom_vec3 p;     /* posed, in the query's units */
    uint32_t vertex;  /* of the solid */
    uint32_t added;   /* the number of terms of the sum */
    carom_vec3 force; /* the sum so far */
    double units;     /* the sum of the error bounds of its terms */
} gradient_slot;

/* The vertices of one solid that take part, in its own order. */
typedef struct gradient_vertices {
    uint64_t *marks; /* a bit per vertex of the solid */
    uint32_t *slots; /* per vertex that is marked: its slot */
    uint32_t count;
    gradient_slot *data[2]; /* per side */
} gradient_vertices;

typedef struct gradient {
    carom_solid_query query;
    gradient_side sides[2];
    int side_count; /* 2 where faces share an area */
    gradient_vertices vertices[2];
    carom_work work;
} gradient;

/* ---- Search ---------------------------------------------------------------------------------- */

/* Turns the changes along the spanning tree of one solid into ranges. */
static carom_status gradient_find_ranges(const carom_solid_query *query,
                                         const carom_solid_accumulator *acc, int of_b,
                                         gradient_side *side) {
    carom_context *context = query->context;
    carom_arena *scratch = carom_scratch(context, 0);
    const uint32_t *ends = query->solids[of_b]->ends;
    uint64_t count = 0, at = 0;
    for (const carom_solid_changes *c = acc->changes; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->count; ++i) count += c->data[i].of_b == of_b ? 2u : 0u;
    if (count >= UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "too many faces meet to be numbered");
    uint32_t *keys = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint32_t *steps = CAROM_ARENA_TAKE(scratch, uint32_t, count); /* of an int32_t each */
    gradient_range *ranges = CAROM_ARENA_TAKE(scratch, gradient_range, count);
    if (keys == NULL || steps == NULL || ranges == NULL)
        return carom_fail_memory(context, count * 20, "the vertices inside");
    for (const carom_solid_changes *c = acc->changes; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->count; ++i) {
            const carom_solid_change *change = &c->data[i];
            if (change->of_b != of_b) continue;
            keys[at] = change->vertex;
            steps[at++] = (uint32_t)change->change;
            keys[at] = ends[change->vertex];
            steps[at++] = 0u - (uint32_t)change->change;
        }
    CAROM_ASSERT(at == count);
    CAROM_TRY(carom_sort_keys(context, keys, steps, count));
    uint32_t winding = 0, found = 0;
    for (uint64_t i = 0; i < count; ++i) {
        winding += steps[i];
        if (winding == 0 || i + 1 == count || keys[i + 1] == keys[i]) continue;
        ranges[found++] = (gradient_range){keys[i], keys[i + 1], (int32_t)winding};
    }
    CAROM_ASSERT(winding == 0); /* what began at a vertex ended behind its descendants */
    side->ranges[of_b] = ranges;
    side->range_count[of_b] = found;
    return CAROM_OK;
}

/* One search; *one_sided: faces share an area. */
static carom_status gradient_search(gradient *g, gradient_side *side, bool *one_sided) {
    carom_solid_query *query = &g->query;
    carom_context *context = query->context;
    carom_solid_accumulator acc;
    carom_solid_accumulator_begin(&acc);
    acc.scratch = carom_scratch(context, 0);
    query->record = true;
    query->long_edge =
        GRADIENT_EDGE_SIZE * CAROM_MIN(carom_solid_radius(query, 0), carom_solid_radius(query, 1));
    CAROM_TRY(carom_solid_search_and_cast(query, &acc));
    if (acc.no_memory)
        return carom_fail_memory(context, sizeof(carom_solid_changes), "the vertices inside");
    CAROM_TRY(carom_solid_sort_records(query, &acc, &side->records, &side->record_count));
    for (int of_b = 0; of_b < 2; ++of_b) CAROM_TRY(gradient_find_ranges(query, &acc, of_b, side));
    g->work.visits += acc.visits;
    g->work.candidates += acc.candidates;
    g->work.undecided += acc.undecided;
    *one_sided = acc.one_sided;
    return CAROM_OK;
}

/* ---- Vertices that take part ----------------------------------------------------------------- */

static inline void gradient_mark(gradient_vertices *v, uint32_t vertex) {
    v->marks[vertex / 64] |= (uint64_t)1 << (vertex % 64);
}

/* Marks the vertices [first, last). */
static void gradient_mark_range(gradient_vertices *v, uint32_t first, uint32_t last) {
    for (; first < last && first % 64 != 0; ++first) gradient_mark(v, first);
    for (; last - first >= 64; first += 64) v->marks[first / 64] = UINT64_MAX;
    for (; first < last; ++first) gradient_mark(v, first);
}

static void gradient_mark_side(const gradient *g, const gradient_side *side, int of_b,
                               gradient_vertices *v) {
    const carom_solid *solid = g->query.solids[of_b];
    const uint32_t *corners = solid->view.corners;
    for (uint32_t i = 0; i < side->range_count[of_b]; ++i) {
        gradient_range r = side->ranges[of_b][i];
        uint32_t count = r.last - r.first;
        gradient_mark_range(v, r.first, r.last);
        /* corner 1 of each triangle is in the range */
        const uint32_t *end = corners + 3 * (uint64_t)solid->firsts[r.last];
        for (const uint32_t *c = corners + 3 * (uint64_t)solid->firsts[r.first]; c < end; c += 3)
            if (CAROM_MAX(c[0] - r.first, c[2] - r.first) >= count) {
                gradient_mark(v, c[0]);
                gradient_mark(v, c[2]);
            }
    }
    for (uint64_t i = 0; i < side->record_count; ++i) {
        const uint32_t *c = corners + 3 * (uint64_t)side->records[i]->triangle[of_b];
        for (int k = 0; k < 3; ++k) gradient_mark(v, c[k]);
    }
}

/* Gives each marked vertex a slot. */
static carom_status gradient_make_slots(gradient *g, int of_b, uint64_t words) {
    carom_context *context = g->query.context;
    carom_arena *scratch = carom_scratch(context, 0);
    gradient_vertices *v = &g->vertices[of_b];
    v->count = 0;
    for (uint64_t w = 0; w < words; ++w)
        for (uint64_t bits = v->marks[w]; bits != 0; bits &= bits - 1)
            v->slots[64 * w + (uint64_t)__builtin_ctzll(bits)] = v->count++;
    for (int s = 0; s < g->side_count; ++s) {
        v->data[s] = CAROM_ARENA_TAKE(scratch, gradient_slot, v->count);
        if (v->data[s] == NULL)
            return carom_fail_memory(context, v->count * sizeof(gradient_slot),
                                     "the vertices inside");
    }
    uint32_t at = 0;
    for (uint64_t w = 0; w < words; ++w)
        for (uint64_t bits = v->marks[w]; bits != 0; bits &= bits - 1, ++at) {
            uint32_t vertex = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(bits);
            gradient_slot *slot = &v->data[0][at]; /* field by field: a copy would take longer */
            slot->p = carom_solid_vertex(&g->query, of_b, vertex);
            slot->vertex = vertex;
            slot->added = 0;
            slot->force = carom_vec(0.0, 0.0, 0.0);
            slot->units = 0.0;
        }
    CAROM_ASSERT(at == v->count);
    if (g->side_count == 2 && at != 0) memcpy(v->data[1], v->data[0], at * sizeof(gradient_slot));
    return CAROM_OK;
}

static carom_status gradient_find_vertices(gradient *g, int of_b) {
    carom_context *context = g->query.context;
    carom_arena *scratch = carom_scratch(context, 0);
    gradient_vertices *v = &g->vertices[of_b];
    uint64_t vertices = g->query.solids[of_b]->view.vertex_count, words = (vertices + 63) / 64;
    v->marks = CAROM_ARENA_TAKE(scratch, uint64_t, words);
    v->slots = CAROM_ARENA_TAKE(scratch, uint32_t, vertices);
    if (v->marks == NULL || v->slots == NULL)
        return carom_fail_memory(context, 4 * vertices, "the vertices inside");
    memset(v->marks, 0, words * sizeof(*v->marks));
    for (int s = 0; s < g->side_count; ++s) gradient_mark_side(g, &g->sides[s], of_b, v);
    return gradient_make_slots(g, of_b, words);
}

/* ---- Sums in doubles ------------------------------------------------------------------------- */

static inline void gradient_push(gradient_slot *slot, carom_vec3 force, double units) {
    slot->force = carom_vec_add(slot->force, force);
    slot->units += units;
    ++slot->added;
}

static inline void gradient_find_slots(const gradient_vertices *v, int side,
                                       const uint32_t *corners, gradient_slot *slots[3]) {
    for (int k = 0; k < 3; ++k) slots[k] = &v->data[side][v->slots[corners[k]]];
}

/* Adds the triangles [first, last) of one solid, as a whole. */
static void gradient_add_whole(gradient *g, int side, int of_b, gradient_range range) {
    const carom_solid *solid = g->query.solids[of_b];
    const gradient_vertices *v = &g->vertices[of_b];
    const double weight = (double)-range.winding / 6.0, times = GRADIENT_WHOLE * fabs(weight);
    uint32_t last = solid->firsts[range.last];
    for (uint32_t t = solid->firsts[range.first]; t < last; ++t) {
        if (t % CAROM_SOLID_PER_LOOK == 0 && carom_progress_stop(g->query.context, 0)) return;
        gradient_slot *slots[3];
        gradient_find_slots(v, side, solid->view.corners + 3 * (uint64_t)t, slots);
        carom_vec3 a = carom_vec_sub(slots[1]->p, slots[0]->p);
        carom_vec3 b = carom_vec_sub(slots[2]->p, slots[0]->p);
        carom_vec3 force = carom_vec_scale(carom_vec_cross(a, b), weight);
        double units = times * carom_solid_norm(a) * carom_solid_norm(b);
        for (int k = 0; k < 3; ++k) gradient_push(slots[k], force, units);
    }
}

/* A face that is cut, and two points of it. */
typedef struct gradient_face {
    carom_vec3 u, v; /* the sides from corner 0 */
    carom_vec3 c;    /* corner 0, relative to the origin */
    carom_vec3 n;    /* u x v */
    double square;   /* n . n */
    double sides;    /* |u| + |v| */
    double size;     /* |u| |v| */
    double sum[3];   /* integrals of the barycentric coordinates */
    double units;    /* upper bound of the error of their products with n */
} gradient_face;

/* The barycentric coordinates of corners 1 and 2, and an upper bound of their error, times |n|. */
typedef struct gradient_point {
    double x, y, units;
} gradient_point;

/* False where not even double-double knows the normal. */
static bool gradient_make_face(gradient_slot *const slots[3], carom_vec3 origin, gradient_face *f) {
    const carom_vec3 p[3] = {slots[0]->p, slots[1]->p, slots[2]->p};
    f->u = carom_vec_sub(p[1], p[0]);
    f->v = carom_vec_sub(p[2], p[0]);
    f->c = carom_vec_sub(p[0], origin);
    f->n = carom_vec_cross(f->u, f->v);
    f->square = carom_vec_dot(f->n, f->n);
    double u = carom_solid_norm(f->u), v = carom_solid_norm(f->v);
    f->sides = u + v;
    f->size = u * v;
    f->sum[0] = f->sum[1] = f->sum[2] = f->units = 0.0;
    if (f->size < CAROM_SOLID_NORMAL_RATIO * sqrt(f->square)) return true;
    f->n = carom_solid_normal_fine(p);
    f->square = carom_vec_dot(f->n, f->n);
    return f->size < CAROM_SOLID_NORMAL_RATIO_DD * sqrt(f->square);
}

static double gradient_limit(double x) {
    x = x > 0.0 ? x : 0.0;
    return x < 1.0 ? x : 1.0;
}

static gradient_point gradient_locate(const gradient_face *f, const carom_solid_crossing *end) {
    carom_vec3 r = carom_vec_sub(end->x, f->c);
    double length = carom_solid_norm(r), inverse = 1.0 / f->square;
    double off = end->slide * (1.0 / GRADIENT_UNIT) + GRADIENT_CROSSING * carom_solid_norm(end->x) +
                 GRADIENT_EDGE * end->edge + carom_solid_norm(f->c) + GRADIENT_SPAN * length;
    return (gradient_point){
        .x = gradient_limit(carom_vec_dot(carom_vec_cross(r, f->v), f->n) * inverse),
        .y = gradient_limit(carom_vec_dot(carom_vec_cross(f->u, r), f->n) * inverse),
        .units = off * f->sides + GRADIENT_CORNERS * f->size};
}

/* Adds the triangle from corner 0 to two points of the face. */
static void gradient_add_part(gradient_face *f, gradient_point p, gradient_point q, double weight) {
    double area = weight * (p.x * q.y - p.y * q.x) * 0.5, x = (p.x + q.x) / 3.0,
           y = (p.y + q.y) / 3.0;
    f->sum[0] += area * (1.0 - (x + y));
    f->sum[1] += area * x;
    f->sum[2] += area * y;
    f->units += GRADIENT_PART * (p.units + q.units) + GRADIENT_PART_ROUNDING * f->size;
}

/* Adds a face that is cut, along the segment it shares with another. */
static void gradient_add_cut(gradient *g, int side, int of_b, const carom_solid_record *record) {
    const gradient_point last = {0.0, 1.0, 0.0}; /* corner 2 */
    const uint32_t *corners =
        g->query.solids[of_b]->view.corners + 3 * (uint64_t)record->triangle[of_b];
    gradient_slot *slots[3];
    gradient_face f;
    gradient_point ends[2];
    gradient_find_slots(&g->vertices[of_b], side, corners, slots);
    if (!gradient_make_face(slots, g->query.origin, &f)) {
        for (int k = 0; k < 3; ++k) slots[k]->units += GRADIENT_THIN * f.size;
        return;
    }
    for (int i = 0; i < 2; ++i) ends[i] = gradient_locate(&f, &record->ends[i]);
    gradient_add_part(&f, ends[of_b], ends[1 - of_b], 1.0);
    for (int i = 0; i < 2; ++i)
        if (record->ends[i].of_b == of_b && record->ends[i].side == 1)
            gradient_add_part(&f, ends[i], last, (double)record->ends[i].change);
    for (int k = 0; k < 3; ++k) gradient_push(slots[k], carom_vec_scale(f.n, -f.sum[k]), f.units);
}

static carom_status gradient_add_up(gradient *g, int side) {
    const gradient_side *s = &g->sides[side];
    for (int of_b = 0; of_b < 2; ++of_b) {
        for (uint32_t i = 0; i < s->range_count[of_b]; ++i)
            gradient_add_whole(g, side, of_b, s->ranges[of_b][i]);
        for (uint64_t i = 0; i < s->record_count; ++i) {
            if (i % CAROM_SOLID_PER_LOOK == 0 && carom_progress_stop(g->query.context, 0)) break;
            gradient_add_cut(g, side, of_b, s->records[i]);
        }
    }
    return carom_progress_look(g->query.context);
}

/* ---- Multiple precision ---------------------------------------------------------------------- */

static double gradient_error(const gradient_slot *slot) {
    if (!(slot->units > 0.0)) return 0.0;
    double units = slot->units * (1.0 + (double)slot->added / GRADIENT_WHOLE);
    return GRADIENT_MARGIN * GRADIENT_UNIT * units + GRADIENT_UNDERFLOW;
}

/* Whether more bits would reduce the errors of a side much, and are worth their time. */
static bool gradient_is_weak(const gradient *g, int side) {
    const gradient_side *s = &g->sides[side];
    double all = 0.0, worst = 0.0;
    uint64_t terms = s->record_count;
    for (int of_b = 0; of_b < 2; ++of_b) {
        const carom_solid *solid = g->query.solids[of_b];
        for (uint32_t i = 0; i < s->range_count[of_b]; ++i)
            terms +=
                solid->firsts[s->ranges[of_b][i].last] - solid->firsts[s->ranges[of_b][i].first];
        for (uint32_t i = 0; i < g->vertices[of_b].count; ++i) {
            const gradient_slot *slot = &g->vertices[of_b].data[side][i];
            all += carom_solid_norm(slot->force);
            worst = CAROM_MAX(worst, gradient_error(slot));
        }
    }
    return terms <= GRADIENT_PRECISE_TERMS && !(worst <= GRADIENT_PRECISION * all);
}

/* Adds everything that the forces on the vertices of one solid consist of. */
static carom_status gradient_add_precisely(gradient *g, int side, int of_b, int limbs,
                                           carom_solid_precise_vector *forces) {
    const gradient_side *s = &g->sides[side];
    const carom_solid *solid = g->query.solids[of_b];
    const uint32_t *slots = g->vertices[of_b].slots;
    carom_solid_precise_vector *to[3];
    for (uint32_t i = 0; i < g->vertices[of_b].count; ++i)
        carom_solid_precise_clear(&forces[i], limbs);
    for (uint32_t i = 0; i < s->range_count[of_b]; ++i) {
        gradient_range r = s->ranges[of_b][i];
        for (uint32_t t = solid->firsts[r.first]; t < solid->firsts[r.last]; ++t) {
            const uint32_t *c = solid->view.corners + 3 * (uint64_t)t;
            CAROM_TRY(carom_progress_look(g->query.context));
            for (int k = 0; k < 3; ++k) to[k] = &forces[slots[c[k]]];
            carom_solid_precise_push_face(&g->query, of_b, t, r.winding, limbs, to);
        }
    }
    for (uint64_t i = 0; i < s->record_count; ++i) {
        const uint32_t *c = solid->view.corners + 3 * (uint64_t)s->records[i]->triangle[of_b];
        CAROM_TRY(carom_progress_look(g->query.context));
        for (int k = 0; k < 3; ++k) to[k] = &forces[slots[c[k]]];
        carom_solid_precise_push_cut(&g->query, of_b, s->records[i], limbs, to);
    }
    return CAROM_OK;
}

/* Adds up a side again with as many bits as needed, and rounds once into forces in the caller's
 * units. */
static carom_status gradient_measure_precisely(gradient *g, int side, int of_b,
                                               carom_solid_vertex_force *out) {
    carom_context *context = g->query.context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint32_t count = g->vertices[of_b].count;
    carom_solid_precise_vector *forces =
        CAROM_ARENA_TAKE(scratch, carom_solid_precise_vector, count);
    if (forces == NULL)
        return carom_fail_memory(context, count * sizeof(*forces), "precise forces");
    double size = CAROM_MIN(carom_solid_radius(&g->query, 0), carom_solid_radius(&g->query, 1));
    for (int limbs = CAROM_SOLID_PRECISE_LIMBS;; limbs *= 2) {
        CAROM_TRY(gradient_add_precisely(g, side, of_b, limbs, forces));
        if (2 * limbs <= CAROM_REAL_MOST &&
            !carom_solid_precise_suffices(forces, count, size, limbs))
            continue;
        for (uint32_t i = 0; i < count; ++i)
            out[i].force = carom_solid_precise_round(&g->query, &forces[i], limbs, &out[i].error);
        break;
    }
    carom_arena_rewind(scratch, mark);
    return CAROM_OK;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* A force in the caller's units. */
static inline void gradient_round(const carom_solid_query *query, const gradient_slot *slot,
                                  carom_solid_vertex_force *out) {
    out->force = carom_solid_unscale_vector(query, slot->force, 2);
    out->error =
        carom_solid_unscale_error(query, gradient_error(slot), carom_vec_largest(slot->force), 2);
}

/* The forces of one side on the vertices of both solids, in scratch; NULL: those of the slots,
 * where nothing else is done to them. */
static carom_status gradient_measure(gradient *g, int side, carom_solid_vertex_force *out[2]) {
    bool weak = g->query.wide;
    if (!weak) {
        CAROM_TRY(gradient_add_up(g, side));
        weak = gradient_is_weak(g, side);
    }
    out[0] = out[1] = NULL;
    for (int of_b = 0; of_b < 2 && (weak || g->side_count == 2); ++of_b) {
        uint32_t count = g->vertices[of_b].count;
        out[of_b] =
            CAROM_ARENA_TAKE(carom_scratch(g->query.context, 0), carom_solid_vertex_force, count);
        if (out[of_b] == NULL)
            return carom_fail_memory(g->query.context, count * sizeof(**out), "forces");
        if (weak)
            CAROM_TRY(gradient_measure_precisely(g, side, of_b, out[of_b]));
        else
            for (uint32_t i = 0; i < count; ++i)
                gradient_round(&g->query, &g->vertices[of_b].data[side][i], &out[of_b][i]);
    }
    return CAROM_OK;
}

/* Replaces forces by their means with those of the other side. */
static void gradient_take_means(carom_solid_vertex_force *forces,
                                const carom_solid_vertex_force *other, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        carom_solid_vertex_force *f = &forces[i];
        f->force =
            carom_vec_add(carom_vec_scale(f->force, 0.5), carom_vec_scale(other[i].force, 0.5));
        double error = 0.5 * f->error + 0.5 * other[i].error;
        f->error = GRADIENT_MARGIN * error + GRADIENT_UNIT * carom_vec_largest(f->force);
        if (f->error > 0.0) f->error += CAROM_SOLID_LEAST_ERROR;
    }
}

/* Writes the forces in the order of the caller's vertices; `from` is NULL for those of the
 * slots. */
static carom_status gradient_write(const gradient *g, int of_b,
                                   const carom_solid_vertex_force *from,
                                   carom_solid_vertex_forces *out) {
    const gradient_vertices *v = &g->vertices[of_b];
    carom_context *context = g->query.context;
    carom_arena *scratch = carom_scratch(context, 0);
    const carom_solid *solid = g->query.solids[of_b];
    uint64_t space, at = 0, words = (solid->given.vertex_count + 63) / 64;
    uint64_t *marks = CAROM_ARENA_TAKE(scratch, uint64_t, words);
    uint32_t *slots = CAROM_ARENA_TAKE(scratch, uint32_t, solid->given.vertex_count);
    if (marks == NULL || slots == NULL)
        return carom_fail_memory(context, 4 * solid->given.vertex_count, "the vertices inside");
    CAROM_TRY(carom_solid_vertex_forces_begin(context, &context->allocator, out, v->count, &space));
    memset(marks, 0, words * sizeof(*marks));
    for (uint32_t i = 0; i < v->count; ++i) {
        uint32_t source = solid->given.sources[v->data[0][i].vertex];
        marks[source / 64] |= (uint64_t)1 << (source % 64);
        slots[source] = i;
    }
    for (uint64_t w = 0; w < words && at < space; ++w)
        for (uint64_t bits = marks[w]; bits != 0 && at < space; bits &= bits - 1, ++at) {
            uint64_t vertex = 64 * w + (uint64_t)__builtin_ctzll(bits);
            uint32_t slot = slots[vertex];
            carom_solid_vertex_force *to = &out->data[at];
            memset(to, 0, sizeof(*to)); /* the padding, too */
            to->vertex = (uint32_t)vertex;
            if (from == NULL) {
                gradient_round(&g->query, &v->data[0][slot], to);
            } else {
                to->force = from[slot].force;
                to->error = from[slot].error;
            }
        }
    CAROM_ASSERT(at == space);
    return carom_solid_vertex_forces_end(out);
}

static carom_status gradient_run(gradient *g, carom_solid_vertex_forces *on_a,
                                 carom_solid_vertex_forces *on_b) {
    bool one_sided, unused;
    carom_solid_vertex_force *forces[2], *others[2];
    CAROM_TRY(gradient_search(g, &g->sides[0], &one_sided));
    g->side_count = 1;
    if (one_sided) {
        g->query.moved_sign = -g->query.moved_sign;
        CAROM_TRY(gradient_search(g, &g->sides[1], &unused));
        g->side_count = 2;
    }
    for (int of_b = 0; of_b < 2; ++of_b) CAROM_TRY(gradient_find_vertices(g, of_b));
    CAROM_TRY(gradient_measure(g, 0, forces));
    if (one_sided) {
        CAROM_TRY(gradient_measure(g, 1, others));
        for (int of_b = 0; of_b < 2; ++of_b)
            gradient_take_means(forces[of_b], others[of_b], g->vertices[of_b].count);
    }
    carom_status a = gradient_write(g, 0, forces[0], on_a);
    if (a != CAROM_OK && a != CAROM_MORE) return a;
    carom_status b = gradient_write(g, 1, forces[1], on_b);
    return b == CAROM_OK ? a : b;
}

carom_status carom_solid_overlap_gradient(carom_context *context, const carom_solid *a,
                                          const carom_pose *pose_a, const carom_solid *b,
                                          const carom_pose *pose_b, carom_solid_vertex_forces *on_a,
                                          carom_solid_vertex_forces *on_b) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "solid");
    CAROM_REQUIRE_RESULT(on_a, "forces on a");
    CAROM_REQUIRE_RESULT(on_b, "forces on b");
    gradient g = {.side_count = 0};
    CAROM_TRY(carom_context_require_cpu(context, "the forces of an overlap on vertices"));
    CAROM_TRY(carom_solid_check_backend(context, a));
    CAROM_TRY(carom_solid_check_backend(context, b));
    CAROM_TRY(carom_solid_query_begin(context, a, pose_a, b, pose_b, &g.query));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "finding forces on vertices", 0);
    carom_status status = carom_progress_finish(context, gradient_run(&g, on_a, on_b));
    carom_arena_rewind(scratch, mark);
    context->work = g.work;
    return status;
}
