/* SPDX-License-Identifier: MIT */
/* The depths of many pairs: EPA (convex_epa_item.h) for some pairs at once, each with its faces in
 * vectors.
 *
 * One search is a chain of short steps, each of which waits for the one before: the nearest face,
 * its support point, the faces that see it, their border, the new faces. Searches of different
 * pairs are independent: they take each step one after the other, so that the processor overlaps
 * them. A search that has ended makes way for the next pair.
 *
 * Faces are appended, so that those of a new point are measured together, from coordinates that are
 * picked out of tables; which face is nearest and which see a point is a pass over vectors. When
 * there is no place left, the faces that are gone are removed, and the others keep their order. An
 * edge names its face in a table, so that there are no neighbours to be kept.
 *
 * Invariant: each number is computed as in carom_epa_run, and each choice is the same, so that
 * results have the same bytes. The faces that see a point are found by looking at all, not from
 * neighbour to neighbour: as predicates are exact and the polytope is convex, they are the same
 * ones, and they are visited in the same order. Where that does not suffice (too many points, or
 * two ends that are equally good), the search begins anew in carom_epa_run. */
#include "convex/convex_cpu.h"

#include "base/simd.h"

/* Searches at once: measured, a step of a pile of hulls takes 106, 101, 100 and 104 ms with 1, 2, 4
 * and 8 (AVX-512; 111 without this file). */
#define EPA_SMALL_SEARCHES 4u
/* Points of a polytope. Of hulls of 32 points that are deep in each other one pair in 2,000 needs
 * more, of hulls of 64 one in 55; more than 16 points need one in five and one in two. */
#define EPA_SMALL_POINTS 24u
#define EPA_SMALL_FACES  64u /* a bit for each; 24 points have 44, and 20 are for a new one */
#define EPA_SMALL_PADDED (EPA_SMALL_FACES + CAROM_LANES64)

typedef struct epa_small {
    double normal[3][EPA_SMALL_PADDED]; /* rounded, and its error */
    double error[EPA_SMALL_PADDED];
    double origin[3][EPA_SMALL_PADDED]; /* the first corner */
    double unit[3][EPA_SMALL_PADDED];
    double distance[EPA_SMALL_PADDED]; /* HUGE_VAL: there is no face (any more) */
    double w[3][CAROM_PICK_TABLE];     /* of the points */
    uint8_t corners[3][EPA_SMALL_PADDED];
    uint8_t across[EPA_SMALL_POINTS * EPA_SMALL_POINTS]; /* the face with the edge from u to v */
    uint64_t alive;                                      /* a bit per face */
    uint32_t face_count, count;                          /* faces that have a place; points */
    uint32_t unmeasured;                                 /* the first face that is */
    uint32_t nearest;                                    /* the face that is expanded */
    uint32_t pair;                                       /* that is searched */
    uint32_t supports;                                   /* of it before the search */
    double close;
    carom_epa e;
    carom_convex_vertex points[EPA_SMALL_POINTS];
} epa_small;

/* All searches, and their pairs. */
typedef struct epa_small_many {
    epa_small searches[EPA_SMALL_SEARCHES];
    const carom_convex_question_item *items;
    carom_convex_work *work;
    carom_convex_result *results;
    uint32_t next, count;
    uint8_t pairs[CAROM_CONVEX_MANY]; /* to be searched */
    uint8_t given_up[CAROM_CONVEX_MANY];
    uint32_t given_up_count;
} epa_small_many;

/* ---- Faces ----------------------------------------------------------------------------------- */

static inline carom_f64v epa_small_extent(const carom_f64v *e) {
    carom_f64v yz = carom_f64v_max(carom_f64v_abs(e[1]), carom_f64v_abs(e[2]));
    return carom_f64v_max(carom_f64v_abs(e[0]), yz);
}

static inline carom_f64v epa_small_dot(const carom_f64v *a, const carom_f64v *b) {
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static inline carom_f64v epa_small_indices(uint32_t first) {
    carom_f64v lane = {0};
    for (int i = 0; i < CAROM_LANES64; ++i) lane[i] = i;
    return lane + carom_f64v_splat(first);
}

/* Measures a face whose normal is not to be had in doubles alone. */
static void epa_small_measure_thin(epa_small *s, uint32_t f) {
    const carom_convex_vertex *p = s->points;
    carom_vec3 a = p[s->corners[0][f]].w, b = p[s->corners[1][f]].w, c = p[s->corners[2][f]].w;
    carom_vec3 n = carom_vec_cross(carom_vec_sub(b, a), carom_vec_sub(c, a));
    s->distance[f] = carom_epa_distance(a, b, c, &n);
    s->unit[0][f] = n.x;
    s->unit[1][f] = n.y;
    s->unit[2][f] = n.z;
}

/* Normals and distances of faces from `first` on: carom_polytope_plane and carom_epa_distance. */
static inline void epa_small_measure_some(epa_small *s, uint32_t first) {
    carom_f64v a[3], u[3], v[3], n[3], unit[3];
    for (int k = 0; k < 3; ++k) {
        a[k] = carom_f64v_pick(s->w[k], s->count, s->corners[0] + first);
        u[k] = carom_f64v_pick(s->w[k], s->count, s->corners[1] + first) - a[k];
        v[k] = carom_f64v_pick(s->w[k], s->count, s->corners[2] + first) - a[k];
    }
    carom_f64v error =
        carom_f64v_splat(CAROM_POLYTOPE_ERROR) * epa_small_extent(u) * epa_small_extent(v) +
        carom_f64v_splat(CAROM_ORIENT_UNDERFLOW);
    for (int k = 0; k < 3; ++k)
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    carom_f64v square = epa_small_dot(n, n), length = carom_f64v_sqrt(square);
    carom_f64v thin =
        carom_f64v_splat(CAROM_EPA_SLIVER_SINE2) * epa_small_dot(u, u) * epa_small_dot(v, v);
    carom_i64v there = epa_small_indices(first) < carom_f64v_splat(s->face_count);
    carom_i64v fine =
        (square > thin) & (length > carom_f64v_splat(0.0)) & (length < carom_f64v_splat(HUGE_VAL));
    for (int k = 0; k < 3; ++k) {
        unit[k] = n[k] / length;
        carom_f64v_store(s->normal[k] + first, n[k]);
        carom_f64v_store(s->unit[k] + first, unit[k]);
        carom_f64v_store(s->origin[k] + first, a[k]);
    }
    carom_f64v_store(s->error + first, error);
    carom_f64v_store(s->distance + first,
                     carom_f64v_select(there, epa_small_dot(unit, a), carom_f64v_splat(HUGE_VAL)));
    for (carom_lanes left = carom_lanes_of64(there & ~fine); left != 0; left &= left - 1)
        epa_small_measure_thin(s, first + (uint32_t)__builtin_ctz(left));
}

static inline void epa_small_measure(epa_small *s) {
    for (; s->unmeasured < s->face_count; s->unmeasured += CAROM_LANES64)
        epa_small_measure_some(s, s->unmeasured);
    s->unmeasured = s->face_count;
}

/* Makes a face, which is to be measured. */
static inline void epa_small_link(epa_small *s, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t f = s->face_count++;
    s->corners[0][f] = (uint8_t)a, s->corners[1][f] = (uint8_t)b, s->corners[2][f] = (uint8_t)c;
    s->across[a * EPA_SMALL_POINTS + b] = (uint8_t)f;
    s->across[b * EPA_SMALL_POINTS + c] = (uint8_t)f;
    s->across[c * EPA_SMALL_POINTS + a] = (uint8_t)f;
}

/* ---- The search ------------------------------------------------------------------------------ */

static inline void epa_small_set_point(epa_small *s, uint32_t i) {
    s->w[0][i] = s->points[i].w.x;
    s->w[1][i] = s->points[i].w.y;
    s->w[2][i] = s->points[i].w.z;
}

/* Begins with the tetrahedron of a simplex: carom_polytope_begin. */
static void epa_small_begin(epa_small *s, const carom_gjk_simplex *simplex, int sign) {
    uint32_t a = 0, b = sign > 0 ? 2 : 1, c = sign > 0 ? 1 : 2, d = 3;
    memset(s->w, 0, sizeof(s->w));
    memset(s->corners, 0, sizeof(s->corners));
    for (uint32_t f = 0; f < EPA_SMALL_PADDED; ++f) s->distance[f] = HUGE_VAL;
    for (uint32_t k = 0; k < 4; ++k) {
        s->points[k] = simplex->p[k];
        epa_small_set_point(s, k);
    }
    s->count = 4;
    s->face_count = s->unmeasured = 0;
    s->alive = 15;
    epa_small_link(s, a, b, c);
    epa_small_link(s, b, a, d);
    epa_small_link(s, c, b, d);
    epa_small_link(s, a, c, d);
}

/* The faces that see the newest point: carom_polytope_sees. */
static inline uint64_t epa_small_seeing(const epa_small *s) {
    uint64_t seen = 0, unsure = 0;
    carom_vec3 at = s->points[s->count].w;
    const carom_f64v w[3] = {carom_f64v_splat(at.x), carom_f64v_splat(at.y),
                             carom_f64v_splat(at.z)};
    for (uint32_t f = 0; f < s->face_count; f += CAROM_LANES64) {
        carom_f64v n[3], away[3], error = carom_f64v_load(s->error + f);
        for (int k = 0; k < 3; ++k) {
            n[k] = carom_f64v_load(s->normal[k] + f);
            away[k] = w[k] - carom_f64v_load(s->origin[k] + f);
        }
        carom_f64v side = epa_small_dot(n, away);
        uint64_t out = carom_lanes_of64((carom_i64v)(side > error));
        uint64_t in = carom_lanes_of64((carom_i64v)(side < -error));
        seen |= out << f;
        unsure |= (~(out | in) & CAROM_LANES64_ALL) << f;
    }
    for (uint64_t left = unsure & s->alive; left != 0; left &= left - 1) {
        uint32_t f = (uint32_t)__builtin_ctzll(left);
        const carom_convex_vertex *p = s->points;
        int sign =
            carom_orient3d(p[s->corners[0][f]].w, p[s->corners[1][f]].w, p[s->corners[2][f]].w, at);
        seen |= (uint64_t)(sign > 0 ? 1 : 0) << f;
    }
    return seen & s->alive;
}

/* Removes the faces that are not among those to keep. All have been measured. */
static void epa_small_compact(epa_small *s, uint64_t keep) {
    uint32_t count = 0, before = s->face_count;
    for (uint64_t left = keep; left != 0; left &= left - 1, ++count) {
        uint32_t f = (uint32_t)__builtin_ctzll(left);
        uint32_t v[4];
        for (int k = 0; k < 3; ++k) {
            s->normal[k][count] = s->normal[k][f];
            s->origin[k][count] = s->origin[k][f];
            s->unit[k][count] = s->unit[k][f];
            v[k] = s->corners[k][count] = s->corners[k][f];
        }
        s->error[count] = s->error[f];
        s->distance[count] = s->distance[f];
        v[3] = v[0];
        for (int k = 0; k < 3; ++k) s->across[v[k] * EPA_SMALL_POINTS + v[k + 1]] = (uint8_t)count;
    }
    for (uint32_t f = count; f < before; ++f) s->distance[f] = HUGE_VAL;
    s->alive = ((uint64_t)1 << count) - 1;
    s->face_count = s->unmeasured = count;
}

/* Adds the newest point, which `start` and the other faces `seen` see: carom_polytope_add. Returns
 * false when there is no space. */
static inline bool epa_small_add(epa_small *s, uint32_t start, uint64_t seen) {
    uint8_t lost[EPA_SMALL_FACES + 1], border[2][EPA_SMALL_FACES];
    uint32_t lost_count = 1, edges = 0, first = s->face_count;
    uint64_t left = seen & ~((uint64_t)1 << start);
    lost[0] = (uint8_t)start;
    for (uint32_t at = 0; at < lost_count; ++at) {
        uint32_t f = lost[at];
        const uint32_t v[4] = {s->corners[0][f], s->corners[1][f], s->corners[2][f],
                               s->corners[0][f]};
        s->distance[f] = HUGE_VAL;
        for (int i = 0; i < 3; ++i) {
            uint32_t beyond = s->across[v[i + 1] * EPA_SMALL_POINTS + v[i]];
            CAROM_ASSERT((s->alive >> beyond & 1) != 0);
            /* No branch depends on what is seen. */
            lost[lost_count] = (uint8_t)beyond;
            lost_count += (uint32_t)(left >> beyond & 1);
            left &= ~((uint64_t)1 << beyond);
            border[0][edges] = (uint8_t)v[i];
            border[1][edges] = (uint8_t)v[i + 1];
            edges += (uint32_t)(~seen >> beyond & 1);
        }
    }
    CAROM_ASSERT(left == 0 && edges >= 3); /* one patch, with one border */
    s->alive &= ~seen;
    if (first + edges > EPA_SMALL_FACES) {
        epa_small_compact(s, s->alive);
        first = s->face_count;
    }
    if (first + edges > EPA_SMALL_FACES) return false;
    for (uint32_t i = 0; i < edges; ++i) epa_small_link(s, border[0][i], border[1][i], s->count);
    s->alive |= (((uint64_t)1 << edges) - 1) << first;
    epa_small_set_point(s, s->count++);
    return true;
}

/* The faces that the normal may end on: carom_epa_may_end_on. */
static inline uint64_t epa_small_ends(const epa_small *s, const carom_epa *e) {
    const carom_f64v normal[3] = {carom_f64v_splat(e->normal.x), carom_f64v_splat(e->normal.y),
                                  carom_f64v_splat(e->normal.z)};
    carom_f64v upper = carom_f64v_splat(e->upper),
               gap = carom_f64v_splat(CAROM_EPA_CURVED_BOUND_GAP);
    uint64_t ends = 0;
    for (uint32_t f = 0; f < s->face_count; f += CAROM_LANES64) {
        carom_f64v unit[3];
        for (int k = 0; k < 3; ++k) unit[k] = carom_f64v_load(s->unit[k] + f);
        carom_f64v beyond = carom_f64v_load(s->distance + f) - upper * epa_small_dot(unit, normal);
        ends |= (uint64_t)carom_lanes_of64((carom_i64v)(beyond <= gap)) << f;
    }
    return ends & s->alive;
}

static inline carom_gjk_simplex epa_small_triangle(const epa_small *s, uint32_t f, carom_vec3 end) {
    const carom_convex_vertex *p = s->points;
    return carom_epa_triangle(&p[s->corners[0][f]], &p[s->corners[1][f]], &p[s->corners[2][f]],
                              end);
}

/* The point of A where the normal ends: carom_epa_finish. Returns false where two faces are equally
 * near to it. */
static bool epa_small_finish(epa_small *s) {
    carom_epa *e = &s->e;
    carom_vec3 end = carom_vec_scale(e->normal, e->upper);
    uint64_t ends = epa_small_ends(s, e);
    if (ends == 0) return true;
    uint32_t best = (uint32_t)__builtin_ctzll(ends);
    if ((ends & (ends - 1)) != 0) {
        double least = HUGE_VAL;
        bool tie = false;
        for (; ends != 0; ends &= ends - 1) {
            uint32_t f = (uint32_t)__builtin_ctzll(ends);
            carom_gjk_simplex t = epa_small_triangle(s, f, end);
            double square = carom_gjk_simplex_solve_any(&t).square;
            tie = square == least || (tie && !(square < least));
            if (square < least) least = square, best = f;
        }
        if (tie) return false;
    }
    carom_gjk_simplex t = epa_small_triangle(s, best, end);
    carom_gjk_simplex_face nearest = carom_gjk_simplex_solve_any(&t);
    if (nearest.square < HUGE_VAL) carom_epa_end_on(&t, &nearest, e);
    return true;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* What becomes of a search in a step. */
typedef enum epa_small_state {
    EPA_SMALL_GOES_ON = 0,
    EPA_SMALL_ENDED,
    EPA_SMALL_TOO_LARGE
} epa_small_state;

/* The first step: finds the support point of the nearest face, as carom_epa_run and
 * carom_epa_expand. */
static inline epa_small_state epa_small_find_point(epa_small *s, carom_convex_posed_pair *pair) {
    double least = carom_scan_least(s->distance, s->face_count);
    uint32_t f = carom_scan_equal(s->distance, 0, s->face_count, least); /* the first of equals */
    if (!(least < HUGE_VAL)) return EPA_SMALL_TOO_LARGE;
    carom_epa *e = &s->e;
    s->nearest = f;
    e->lower = CAROM_MAX(e->lower, least);
    if (e->upper - least <= s->close) return EPA_SMALL_ENDED;
    if (s->count == EPA_SMALL_POINTS) return EPA_SMALL_TOO_LARGE;
    carom_vec3 n = carom_vec(s->unit[0][f], s->unit[1][f], s->unit[2][f]);
    carom_convex_farthest_into(pair, n, &s->points[s->count]);
    double h = carom_vec_dot(n, s->points[s->count].w);
    ++e->iterations;
    if (h < e->upper) {
        e->upper = h;
        e->normal = n;
    }
    return h - least <= s->close ? EPA_SMALL_ENDED : EPA_SMALL_GOES_ON;
}

/* The second step: adds it. */
static inline epa_small_state epa_small_add_point(epa_small *s) {
    uint64_t seen = epa_small_seeing(s);
    if ((seen >> s->nearest & 1) == 0) return EPA_SMALL_ENDED;
    return epa_small_add(s, s->nearest, seen) ? EPA_SMALL_GOES_ON : EPA_SMALL_TOO_LARGE;
}

/* Lets a search begin with the next pair. Returns false when there is none. */
static bool epa_small_take(epa_small_many *m, epa_small *s) {
    if (m->next == m->count) return false;
    s->pair = m->pairs[m->next++];
    const carom_gjk_simplex *simplex = &m->work[s->pair].g.s;
    const carom_convex_vertex *p = simplex->p;
    s->supports = m->work[s->pair].pair.supports;
    s->close = carom_convex_epa_close(&m->items[s->pair]);
    carom_epa_clear(&s->e);
    carom_epa_point_inside(simplex, &s->e);
    epa_small_begin(s, simplex, carom_orient3d(p[0].w, p[1].w, p[2].w, p[3].w));
    return true;
}

/* Ends a search. Returns whether the next pair has begun. */
static bool epa_small_end(epa_small_many *m, epa_small *s, epa_small_state state) {
    carom_convex_work *work = &m->work[s->pair];
    if (state == EPA_SMALL_ENDED && epa_small_finish(s)) {
        carom_convex_write_depth(work, &s->e, &m->results[s->pair]);
    } else {
        work->pair.supports = s->supports; /* as if it had not been tried */
        m->given_up[m->given_up_count++] = (uint8_t)s->pair;
    }
    return epa_small_take(m, s);
}

static void epa_small_run(epa_small_many *m) {
    epa_small *at[EPA_SMALL_SEARCHES]; /* those that have a pair */
    epa_small_state states[EPA_SMALL_SEARCHES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < EPA_SMALL_SEARCHES; ++i)
        if (epa_small_take(m, &m->searches[i])) at[count++] = &m->searches[i];
    while (count != 0) {
        for (uint32_t i = 0; i < count; ++i) epa_small_measure(at[i]);
        for (uint32_t i = 0; i < count; ++i)
            states[i] = epa_small_find_point(at[i], &m->work[at[i]->pair].pair);
        for (uint32_t i = 0; i < count; ++i)
            if (states[i] == EPA_SMALL_GOES_ON) states[i] = epa_small_add_point(at[i]);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; ++i)
            if (states[i] == EPA_SMALL_GOES_ON || epa_small_end(m, at[i], states[i]))
                at[kept++] = at[i];
        count = kept;
    }
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Whether a search begins with a tetrahedron and is likely to need few points, as with curved
 * shapes and large hulls it is not. */
static bool epa_small_suits(const carom_convex_question_item *q, const carom_convex_work *work) {
    const carom_gjk_simplex *s = &work->g.s;
    return !carom_convex_curved_pair(q) && !work->pair.a.climb && !work->pair.b.climb &&
           s->count == 4 && carom_orient3d(s->p[0].w, s->p[1].w, s->p[2].w, s->p[3].w) != 0;
}

carom_status CAROM_CPU(carom_convex_depth_many)(const carom_convex_question_item *items,
                                                uint32_t count, carom_arena *arena,
                                                carom_convex_result *results) {
    carom_status status = CAROM_OK;
    carom_arena_mark mark = carom_arena_get_mark(arena);
    epa_small_many *m = CAROM_ARENA_TAKE(arena, epa_small_many, 1);
    carom_convex_work *work = CAROM_ARENA_TAKE(arena, carom_convex_work, count);
    CAROM_ASSERT(count <= CAROM_CONVEX_MANY);
    if (m == NULL || work == NULL) {
        carom_arena_rewind(arena, mark);
        return CAROM_NO_MEMORY;
    }
    m->items = items;
    m->work = work;
    m->results = results;
    m->next = m->count = m->given_up_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!carom_convex_distance_item(&items[i], NULL, &work[i], &results[i])) continue;
        if (epa_small_suits(&items[i], &work[i]))
            m->pairs[m->count++] = (uint8_t)i;
        else
            m->given_up[m->given_up_count++] = (uint8_t)i;
    }
    epa_small_run(m);
    for (uint32_t k = 0; k < m->given_up_count && status == CAROM_OK; ++k) {
        uint32_t i = m->given_up[k];
        status = CAROM_CPU(carom_convex_deepen)(&items[i], &work[i], arena, &results[i]);
    }
    carom_arena_rewind(arena, mark);
    return status;
}
