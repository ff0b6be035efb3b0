/* SPDX-License-Identifier: MIT */
/* The overlap's integrals where doubles are not accurate enough.
 *
 * The terms are those of solid_item.h: per pair of intersecting faces, the segment they share; per
 * crossing x on the edge from corner 1 to corner 2, the segment x -> corner 2; and the whole face,
 * weighted by the other solid's winding number at its corner 1. They are evaluated from the posed
 * corners in ball arithmetic (geom/real.h), whose results contain the exact values by construction.
 * Where the balls are too wide, the evaluation is repeated with twice the bits. A cube of edge 1
 * that is cut by a face of one of edge 2^60 has terms of 2^180 that cancel: some 250 bits.
 *
 * Invariant: pairs are added in the order of their triangles, so both the results and their errors
 * are independent of the order in which pairs were found. */
#include "solid/solid_precise.h"

#include "base/sort.h"
#include "geom/length.h"
#include "geom/real.h"

/* Pairs of faces up to which it is doubled where that is not enough, which bounds the time. */
#define PRECISE_TERMS 65536u

/* A result is accurate enough when its error is at most 2^PRECISE_RESULT_BITS of itself, less than
 * it loses when it is rounded to a double; 2^PRECISE_FORCE_BITS of the surface's area, for forces
 * that may vanish; or 2^PRECISE_ZERO_BITS of the smaller solid's size, for results that are 0:
 * beyond all that is not. */
#define PRECISE_RESULT_BITS (-56)
#define PRECISE_FORCE_BITS  (-120)
#define PRECISE_ZERO_BITS   (-400)

typedef struct solid_precise_point {
    carom_real x[3];
} solid_precise_point;

typedef struct precise {
    const carom_solid_query *query;
    const carom_solid_record **records; /* in the order of their triangles */
    uint64_t count;
    int n; /* limbs */
    solid_precise_point origin;
    carom_solid_precise sums;
} precise;

/* ---- Points and vectors ---------------------------------------------------------------------- */

static void solid_precise_point_set(solid_precise_point *p, carom_vec3 v, int n) {
    carom_real_set(&p->x[0], v.x, n);
    carom_real_set(&p->x[1], v.y, n);
    carom_real_set(&p->x[2], v.z, n);
}

static void point_sub(solid_precise_point *r, const solid_precise_point *a,
                      const solid_precise_point *b, int n) {
    for (int k = 0; k < 3; ++k) carom_real_sub(&r->x[k], &a->x[k], &b->x[k], n);
}

static void point_add(solid_precise_point *r, const solid_precise_point *a,
                      const solid_precise_point *b, int n) {
    for (int k = 0; k < 3; ++k) carom_real_add(&r->x[k], &a->x[k], &b->x[k], n);
}

static void point_dot(carom_real *r, const solid_precise_point *a, const solid_precise_point *b,
                      int n) {
    carom_real t, sum;
    carom_real_mul(&sum, &a->x[0], &b->x[0], n);
    for (int k = 1; k < 3; ++k) {
        carom_real_mul(&t, &a->x[k], &b->x[k], n);
        carom_real_add(&sum, &sum, &t, n);
    }
    *r = sum;
}

static void point_cross(solid_precise_point *r, const solid_precise_point *a,
                        const solid_precise_point *b, int n) {
    carom_real t;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        carom_real_mul(&r->x[k], &a->x[i], &b->x[j], n);
        carom_real_mul(&t, &a->x[j], &b->x[i], n);
        carom_real_sub(&r->x[k], &r->x[k], &t, n);
    }
}

/* ---- Terms ----------------------------------------------------------------------------------- */

/* A face with its corners relative to the origin, and its normal. */
typedef struct solid_precise_plane {
    solid_precise_point p[3], normal;
    carom_real length; /* of the normal */
} solid_precise_plane;

static void solid_precise_plane_make(const precise *s, const carom_solid_face *f,
                                     solid_precise_plane *g) {
    solid_precise_point u, v;
    carom_real square;
    for (int i = 0; i < 3; ++i) {
        solid_precise_point_set(&g->p[i], f->p[i], s->n);
        point_sub(&g->p[i], &g->p[i], &s->origin, s->n);
    }
    point_sub(&u, &g->p[1], &g->p[0], s->n);
    point_sub(&v, &g->p[2], &g->p[0], s->n);
    point_cross(&g->normal, &u, &v, s->n);
    point_dot(&square, &g->normal, &g->normal, s->n);
    carom_real_root(&g->length, &square, s->n);
}

static void accumulate(carom_real *sum, const carom_real *term, int weight, int n) {
    carom_real many = *term;
    if (weight > 1 || weight < -1) carom_real_scale(&many, weight < 0 ? -weight : weight, n);
    if (weight > 0)
        carom_real_add(sum, sum, &many, n);
    else
        carom_real_sub(sum, sum, &many, n);
}

/* Adds `weight` times the triangle c u v of a face. */
static void add_triangle(carom_solid_precise *to, const solid_precise_plane *g,
                         const solid_precise_point *c, const solid_precise_point *u,
                         const solid_precise_point *v, int weight, int of_b, int n) {
    solid_precise_point arm, direction, area, sum, turn;
    carom_real volume, t;
    point_sub(&arm, u, c, n);
    point_sub(&direction, v, c, n);
    point_cross(&area, &arm, &direction, n);
    point_dot(&volume, c, &area, n);
    point_add(&sum, u, v, n);
    point_add(&sum, &sum, c, n);
    accumulate(&to->volume, &volume, weight, n);
    for (int k = 0; k < 3; ++k) {
        carom_real_mul(&t, &volume, &sum.x[k], n);
        accumulate(&to->moment[k], &t, weight, n);
    }
    point_dot(&t, &g->normal, &area, n);
    carom_real_divide(&t, &t, &g->length, n);
    accumulate(&to->area, &t, weight, n);
    if (!of_b) return;
    point_cross(&turn, &sum, &area, n);
    for (int k = 0; k < 3; ++k) {
        accumulate(&to->normal[k], &area.x[k], weight, n);
        accumulate(&to->turn[k], &turn.x[k], weight, n);
    }
}

/* The point where the edge from p to q crosses the plane of g. */
static void solid_precise_find_crossing(const solid_precise_point *p, const solid_precise_point *q,
                                        const solid_precise_plane *g, solid_precise_point *x,
                                        int n) {
    solid_precise_point direction;
    carom_real from, to, share;
    point_sub(&direction, p, &g->p[0], n);
    point_dot(&from, &direction, &g->normal, n);
    point_sub(&direction, q, &g->p[0], n);
    point_dot(&to, &direction, &g->normal, n);
    carom_real_sub(&to, &from, &to, n);
    carom_real_divide(&share, &from, &to, n);
    point_sub(&direction, q, p, n);
    for (int k = 0; k < 3; ++k) carom_real_mul(&x->x[k], &direction.x[k], &share, n);
    point_add(x, x, p, n);
}

static void add_record(precise *s, const carom_solid_record *record) {
    solid_precise_plane planes[2];
    solid_precise_point ends[2];
    for (int of_b = 0; of_b < 2; ++of_b) {
        carom_solid_face f;
        carom_solid_pose(s->query, of_b, record->triangle[of_b], &f);
        solid_precise_plane_make(s, &f, &planes[of_b]);
    }
    for (int i = 0; i < 2; ++i) {
        const carom_solid_crossing *end = &record->ends[i];
        const solid_precise_point *p = planes[end->of_b].p;
        solid_precise_find_crossing(&p[end->side], &p[end->side == 2 ? 0 : end->side + 1],
                                    &planes[!end->of_b], &ends[i], s->n);
    }
    for (int of_b = 0; of_b < 2; ++of_b) {
        add_triangle(&s->sums, &planes[of_b], &planes[of_b].p[0], &ends[of_b], &ends[1 - of_b], 1,
                     of_b, s->n);
        for (int i = 0; i < 2; ++i)
            if (record->ends[i].of_b == of_b && record->ends[i].side == 1)
                add_triangle(&s->sums, &planes[of_b], &planes[of_b].p[0], &ends[i],
                             &planes[of_b].p[2], record->ends[i].change, of_b, s->n);
    }
}

/* Adds whole faces, weighted by the other solid's winding number at their corner 1. */
static void add_faces(precise *s, int of_b) {
    const carom_solid *solid = s->query->solids[of_b];
    for (uint64_t v = 0; v < solid->view.vertex_count; ++v) {
        int winding = atomic_load_explicit(&s->query->changes[of_b][v], memory_order_relaxed);
        if (winding == 0) continue;
        for (uint32_t t = solid->firsts[v]; t < solid->firsts[v + 1]; ++t) {
            carom_solid_face f;
            solid_precise_plane g;
            carom_solid_pose(s->query, of_b, t, &f);
            if (carom_orient_axis(f.p[0], f.p[1], f.p[2]) < 0) continue; /* no area */
            solid_precise_plane_make(s, &f, &g);
            add_triangle(&s->sums, &g, &g.p[0], &g.p[1], &g.p[2], winding, of_b, s->n);
        }
    }
}

void carom_solid_precise_begin(carom_solid_precise *sums, int limbs) {
    carom_real_set(&sums->volume, 0.0, limbs);
    carom_real_set(&sums->area, 0.0, limbs);
    for (int k = 0; k < 3; ++k) {
        carom_real_set(&sums->moment[k], 0.0, limbs);
        carom_real_set(&sums->normal[k], 0.0, limbs);
        carom_real_set(&sums->turn[k], 0.0, limbs);
    }
}

static void add_all(precise *s, int limbs) {
    s->n = limbs;
    carom_solid_precise_begin(&s->sums, limbs);
    solid_precise_point_set(&s->origin, s->query->origin, limbs);
    for (uint64_t i = 0; i < s->count; ++i) add_record(s, s->records[i]);
    add_faces(s, 0);
    add_faces(s, 1);
}

/* ---- Results --------------------------------------------------------------------------------- */

static void divide_by(carom_real *r, int64_t by, int n) {
    carom_real divisor;
    carom_real_set(&divisor, (double)by, n);
    carom_real_divide(r, r, &divisor, n);
}

static void find_results(const precise *s, carom_vec3 pivot, carom_solid_results *out) {
    int n = s->n;
    solid_precise_point arm, lever, force;
    carom_real four;
    out->limbs = n;
    carom_real_set(&four, 4.0, n);
    carom_real_mul(&four, &four, &s->sums.volume, n);
    for (int k = 0; k < 3; ++k) {
        carom_real_divide(&out->centroid[k], &s->sums.moment[k], &four, n);
        carom_real_add(&out->centroid[k], &out->centroid[k], &s->origin.x[k], n);
        force.x[k] = s->sums.normal[k];
        divide_by(&force.x[k], 2, n);
        out->torque[k] = s->sums.turn[k];
        divide_by(&out->torque[k], 6, n);
    }
    out->volume = s->sums.volume;
    divide_by(&out->volume, 6, n);
    out->area = s->sums.area;
    divide_by(&out->area, 2, n);
    solid_precise_point_set(&arm, pivot, n);
    point_sub(&arm, &arm, &s->origin, n);
    point_cross(&lever, &arm, &force, n);
    for (int k = 0; k < 3; ++k) {
        carom_real_sub(&out->torque[k], &lever.x[k], &out->torque[k], n);
        out->force[k] = force.x[k];
        out->force[k].sign = -force.x[k].sign;
    }
}

static carom_bound greatest(const carom_real x[3], int n, bool radius) {
    carom_bound most = {0.0, 0};
    for (int k = 0; k < 3; ++k) {
        carom_bound b = radius ? x[k].radius : carom_real_lower(&x[k], n);
        if (!carom_bound_within(b, most, 0)) most = b;
    }
    return most;
}

/* Whether all results are accurate enough, so that more limbs gain nothing. */
static bool solid_precise_is_good(const carom_solid_results *r, const solid_precise_point *origin,
                                  carom_vec3 pivot, double size, int n) {
    carom_bound length = carom_bound_make(size), square = carom_bound_mul(length, length);
    carom_bound cube = carom_bound_mul(square, length), area = carom_real_lower(&r->area, n);
    carom_bound volume = carom_real_lower(&r->volume, n);
    bool nothing = volume.m == 0.0 && carom_bound_within(r->volume.radius, cube, PRECISE_ZERO_BITS);
    if (!carom_bound_within(r->volume.radius, volume, PRECISE_RESULT_BITS) && !nothing)
        return false;
    /* The error of the centroid is 2^PRECISE_RESULT_BITS of the surface's size, or of the
     * centroid's coordinates. */
    carom_bound direction = greatest(r->centroid, n, true);
    if (!nothing &&
        !carom_bound_within(carom_bound_mul(direction, direction), area, 2 * PRECISE_RESULT_BITS) &&
        !carom_bound_within(direction, greatest(r->centroid, n, false), PRECISE_RESULT_BITS))
        return false;
    if (!carom_bound_within(r->area.radius, area, PRECISE_RESULT_BITS) &&
        !carom_bound_within(r->area.radius, square, PRECISE_ZERO_BITS))
        return false;
    carom_bound force = greatest(r->force, n, true), torque = greatest(r->torque, n, true);
    if (!carom_bound_within(force, greatest(r->force, n, false), PRECISE_RESULT_BITS) &&
        !carom_bound_within(force, area, PRECISE_FORCE_BITS) &&
        !carom_bound_within(force, square, PRECISE_ZERO_BITS))
        return false;
    solid_precise_point arm;
    carom_bound lever = length;
    solid_precise_point_set(&arm, pivot, n);
    point_sub(&arm, &arm, origin, n);
    for (int k = 0; k < 3; ++k) lever = carom_bound_add(lever, carom_real_upper(&arm.x[k], n));
    return carom_bound_within(torque, greatest(r->torque, n, false), PRECISE_RESULT_BITS) ||
           carom_bound_within(torque, carom_bound_mul(area, lever), PRECISE_FORCE_BITS) ||
           carom_bound_within(torque, carom_bound_mul(square, lever), PRECISE_ZERO_BITS);
}

/* ---- Means and rounding ---------------------------------------------------------------------- */

static void take_mean(carom_real *a, const carom_real *b, int n) {
    carom_real_add(a, a, b, n);
    divide_by(a, 2, n);
}

static void extend(carom_solid_results *r, int n) {
    carom_real_extend(&r->volume, r->limbs, n);
    carom_real_extend(&r->area, r->limbs, n);
    for (int k = 0; k < 3; ++k) {
        carom_real_extend(&r->centroid[k], r->limbs, n);
        carom_real_extend(&r->force[k], r->limbs, n);
        carom_real_extend(&r->torque[k], r->limbs, n);
    }
    r->limbs = n;
}

void carom_solid_results_mean(carom_solid_results *r, carom_solid_results *other) {
    int n = CAROM_MAX(r->limbs, other->limbs);
    extend(r, n);
    extend(other, n);
    take_mean(&r->area, &other->area, n);
    for (int k = 0; k < 3; ++k) {
        take_mean(&r->force[k], &other->force[k], n);
        take_mean(&r->torque[k], &other->torque[k], n);
    }
}

static carom_vec3 round_vector(const carom_solid_query *query, const carom_real v[3], int power,
                               int n, double *error) {
    double x[3];
    *error = 0.0;
    for (int k = 0; k < 3; ++k) {
        double off;
        x[k] = carom_real_round(&v[k], -power * query->exponent, n, &off) + 0.0;
        *error = CAROM_MAX(*error, off);
    }
    return carom_vec(x[0], x[1], x[2]);
}

/* Sets a value to zero if zero is within its error. */
static bool clear_doubtful(carom_real *a, int n) {
    if (carom_real_lower(a, n).m != 0.0) return false;
    a->radius = carom_real_upper(a, n);
    a->sign = 0;
    return true;
}

void carom_solid_results_round(const carom_solid_query *query, const carom_solid_results *r,
                               carom_solid_result *overlap) {
    int n = r->limbs;
    carom_real volume = r->volume, area = r->area;
    bool may_vanish = clear_doubtful(&volume, n);
    (void)clear_doubtful(&area, n);
    overlap->volume = carom_real_round(&volume, -3 * query->exponent, n, &overlap->volume_error);
    overlap->area = carom_real_round(&area, -2 * query->exponent, n, &overlap->area_error);
    overlap->force = round_vector(query, r->force, 2, n, &overlap->force_error);
    overlap->torque = round_vector(query, r->torque, 3, n, &overlap->torque_error);
    if (may_vanish) {
        overlap->centroid = carom_solid_unscale_vector(query, query->origin, 1);
        overlap->centroid_error = HUGE_VAL;
    } else {
        overlap->centroid = round_vector(query, r->centroid, 1, n, &overlap->centroid_error);
    }
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

carom_status carom_solid_sort_records(const carom_solid_query *query,
                                      const carom_solid_accumulator *acc,
                                      const carom_solid_record ***out, uint64_t *out_count) {
    carom_context *context = query->context;
    carom_arena *scratch = carom_scratch(context, 0);
    uint64_t count = 0, at = 0;
    for (const carom_solid_records *c = acc->records; c != NULL; c = c->next) count += c->count;
    if (count >= UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "too many faces meet to be numbered");
    const carom_solid_record **records =
        CAROM_ARENA_TAKE(scratch, const carom_solid_record *, count);
    const carom_solid_record **found = CAROM_ARENA_TAKE(scratch, const carom_solid_record *, count);
    uint32_t *keys = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    uint32_t *order = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (records == NULL || found == NULL || keys == NULL || order == NULL)
        return carom_fail_memory(context, count * 24, "the faces that meet");
    for (const carom_solid_records *c = acc->records; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->count; ++i) found[at++] = &c->data[i];
    CAROM_ASSERT(at == count);
    for (int of_b = 1; of_b >= 0; --of_b) { /* by b; then, stable, by a */
        for (uint32_t i = 0; i < count; ++i) {
            keys[i] = found[i]->triangle[of_b];
            order[i] = i;
        }
        CAROM_TRY(carom_sort_keys(context, keys, order, count));
        for (uint32_t i = 0; i < count; ++i) records[i] = found[order[i]];
        memcpy(found, records, count * sizeof(*found));
    }
    for (uint64_t i = 1; i < count; ++i)
        CAROM_ASSERT(records[i - 1]->triangle[0] <= records[i]->triangle[0]);
    *out = records;
    *out_count = count;
    return CAROM_OK;
}

carom_status carom_solid_measure_precisely(const carom_solid_query *query,
                                           const carom_solid_accumulator *acc, carom_vec3 pivot,
                                           double size, carom_solid_results *results) {
    precise s = {.query = query};
    CAROM_TRY(carom_solid_sort_records(query, acc, &s.records, &s.count));
    for (int limbs = CAROM_SOLID_PRECISE_LIMBS;; limbs *= 2) {
        add_all(&s, limbs);
        find_results(&s, pivot, results);
        if (2 * limbs > CAROM_REAL_MOST || s.count > PRECISE_TERMS ||
            solid_precise_is_good(results, &s.origin, pivot, size, limbs))
            return CAROM_OK;
    }
}

/* ---- Forces on vertices ---------------------------------------------------------------------- */

/* The barycentric coordinates of corners 0, 1 and 2. */
typedef struct precise_share {
    carom_real x[3];
} precise_share;

void carom_solid_precise_clear(carom_solid_precise_vector *force, int limbs) {
    for (int k = 0; k < 3; ++k) carom_real_set(&force->x[k], 0.0, limbs);
}

void carom_solid_precise_push_face(const carom_solid_query *query, int of_b, uint32_t triangle,
                                   int winding, int limbs,
                                   carom_solid_precise_vector *const corners[3]) {
    precise s = {.query = query, .n = limbs};
    carom_solid_face f;
    solid_precise_plane g;
    solid_precise_point_set(&s.origin, query->origin, limbs);
    carom_solid_pose(query, of_b, triangle, &f);
    if (carom_orient_axis(f.p[0], f.p[1], f.p[2]) < 0) return; /* no area */
    solid_precise_plane_make(&s, &f, &g);
    for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) accumulate(&corners[j]->x[k], &g.normal.x[k], -winding, limbs);
}

static void precise_find_share(const solid_precise_plane *g, const solid_precise_point *x,
                               precise_share *share, int n) {
    solid_precise_point u, v, r, across;
    carom_real square;
    point_sub(&u, &g->p[1], &g->p[0], n);
    point_sub(&v, &g->p[2], &g->p[0], n);
    point_sub(&r, x, &g->p[0], n);
    point_dot(&square, &g->normal, &g->normal, n);
    point_cross(&across, &r, &v, n);
    point_dot(&share->x[1], &across, &g->normal, n);
    carom_real_divide(&share->x[1], &share->x[1], &square, n);
    point_cross(&across, &u, &r, n);
    point_dot(&share->x[2], &across, &g->normal, n);
    carom_real_divide(&share->x[2], &share->x[2], &square, n);
    carom_real_set(&share->x[0], 1.0, n);
    carom_real_sub(&share->x[0], &share->x[0], &share->x[1], n);
    carom_real_sub(&share->x[0], &share->x[0], &share->x[2], n);
}

/* Adds six times the integrals of the barycentric coordinates over the triangle from corner 0 to
 * two points. */
static void precise_add_part(carom_real sums[3], const precise_share *p, const precise_share *q,
                             int weight, int n) {
    carom_real area, t, one;
    carom_real_mul(&area, &p->x[1], &q->x[2], n);
    carom_real_mul(&t, &p->x[2], &q->x[1], n);
    carom_real_sub(&area, &area, &t, n);
    carom_real_set(&one, 1.0, n);
    for (int j = 0; j < 3; ++j) {
        carom_real_add(&t, &p->x[j], &q->x[j], n);
        if (j == 0) carom_real_add(&t, &t, &one, n);
        carom_real_mul(&t, &t, &area, n);
        accumulate(&sums[j], &t, weight, n);
    }
}

void carom_solid_precise_push_cut(const carom_solid_query *query, int of_b,
                                  const carom_solid_record *record, int limbs,
                                  carom_solid_precise_vector *const corners[3]) {
    precise s = {.query = query, .n = limbs};
    solid_precise_plane planes[2];
    precise_share ends[2], last;
    carom_real sums[3], t;
    solid_precise_point_set(&s.origin, query->origin, limbs);
    for (int i = 0; i < 2; ++i) {
        carom_solid_face f;
        carom_solid_pose(query, i, record->triangle[i], &f);
        solid_precise_plane_make(&s, &f, &planes[i]);
    }
    for (int i = 0; i < 2; ++i) {
        const carom_solid_crossing *end = &record->ends[i];
        const solid_precise_point *p = planes[end->of_b].p;
        solid_precise_point x;
        solid_precise_find_crossing(&p[end->side], &p[end->side == 2 ? 0 : end->side + 1],
                                    &planes[!end->of_b], &x, limbs);
        precise_find_share(&planes[of_b], &x, &ends[i], limbs);
    }
    for (int j = 0; j < 3; ++j) {
        carom_real_set(&sums[j], 0.0, limbs);
        carom_real_set(&last.x[j], j == 2 ? 1.0 : 0.0, limbs);
    }
    precise_add_part(sums, &ends[of_b], &ends[1 - of_b], 1, limbs);
    for (int i = 0; i < 2; ++i)
        if (record->ends[i].of_b == of_b && record->ends[i].side == 1)
            precise_add_part(sums, &ends[i], &last, record->ends[i].change, limbs);
    for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) {
            carom_real_mul(&t, &planes[of_b].normal.x[k], &sums[j], limbs);
            carom_real_sub(&corners[j]->x[k], &corners[j]->x[k], &t, limbs);
        }
}

bool carom_solid_precise_suffices(const carom_solid_precise_vector *forces, uint32_t count,
                                  double size, int limbs) {
    carom_bound length = carom_bound_make(size), square = carom_bound_mul(length, length);
    carom_bound largest = {0.0, 0};
    for (uint32_t i = 0; i < count; ++i) {
        carom_bound one = greatest(forces[i].x, limbs, false);
        if (!carom_bound_within(one, largest, 0)) largest = one;
    }
    for (uint32_t i = 0; i < count; ++i) {
        carom_bound error = greatest(forces[i].x, limbs, true);
        if (!carom_bound_within(error, greatest(forces[i].x, limbs, false), PRECISE_RESULT_BITS) &&
            !carom_bound_within(error, largest, PRECISE_FORCE_BITS) &&
            !carom_bound_within(error, square, PRECISE_ZERO_BITS))
            return false;
    }
    return true;
}

carom_vec3 carom_solid_precise_round(const carom_solid_query *query,
                                     const carom_solid_precise_vector *force, int limbs,
                                     double *error) {
    carom_solid_precise_vector one = *force;
    for (int k = 0; k < 3; ++k) divide_by(&one.x[k], 6, limbs);
    return round_vector(query, one.x, 2, limbs, error);
}

/* ---- Sums over surface triangles ------------------------------------------------------------- */

static void find_spot(const precise *s, const carom_solid_spot *spot, solid_precise_point *x) {
    solid_precise_point q;
    solid_precise_plane g;
    carom_solid_face f;
    solid_precise_point_set(x, carom_solid_vertex(s->query, spot->of_b, spot->low), s->n);
    point_sub(x, x, &s->origin, s->n);
    if (spot->face == CAROM_SOLID_NO_FACE) return;
    solid_precise_point_set(&q, carom_solid_vertex(s->query, spot->of_b, spot->high), s->n);
    point_sub(&q, &q, &s->origin, s->n);
    carom_solid_pose(s->query, !spot->of_b, spot->face, &f);
    solid_precise_plane_make(s, &f, &g);
    solid_precise_point p = *x;
    solid_precise_find_crossing(&p, &q, &g, x, s->n);
}

void carom_solid_precise_add(const carom_solid_query *query, carom_solid_precise *sums, int limbs,
                             int of_b, uint32_t triangle, const carom_solid_spot spots[3],
                             int weight) {
    precise s = {.query = query, .n = limbs};
    carom_solid_face f;
    solid_precise_plane g;
    solid_precise_point x[3];
    solid_precise_point_set(&s.origin, query->origin, limbs);
    carom_solid_pose(query, of_b, triangle, &f);
    if (carom_orient_axis(f.p[0], f.p[1], f.p[2]) < 0) return; /* no area */
    solid_precise_plane_make(&s, &f, &g);
    for (int i = 0; i < 3; ++i) find_spot(&s, &spots[i], &x[i]);
    add_triangle(sums, &g, &x[0], &x[1], &x[2], weight, of_b, limbs);
}

void carom_solid_precise_join(carom_solid_precise *sums, const carom_solid_precise *other,
                              int limbs) {
    carom_real_add(&sums->volume, &sums->volume, &other->volume, limbs);
    carom_real_add(&sums->area, &sums->area, &other->area, limbs);
    for (int k = 0; k < 3; ++k) {
        carom_real_add(&sums->moment[k], &sums->moment[k], &other->moment[k], limbs);
        carom_real_add(&sums->normal[k], &sums->normal[k], &other->normal[k], limbs);
        carom_real_add(&sums->turn[k], &sums->turn[k], &other->turn[k], limbs);
    }
}

double carom_solid_precise_volume(const carom_solid_precise *sums, int limbs, double *error) {
    carom_real volume = sums->volume;
    divide_by(&volume, 6, limbs);
    return carom_real_round(&volume, 0, limbs, error);
}

carom_solid_patch carom_solid_precise_patch(const carom_solid_query *query,
                                            const carom_solid_precise *sums, int limbs) {
    precise s = {.query = query, .n = limbs, .sums = *sums};
    carom_solid_results r;
    carom_solid_result overlap;
    solid_precise_point_set(&s.origin, query->origin, limbs);
    find_results(&s, query->origin, &r);
    carom_solid_results_round(query, &r, &overlap);
    return (carom_solid_patch){.volume = overlap.volume,
                               .centroid = overlap.centroid,
                               .area = overlap.area,
                               .force = overlap.force};
}
