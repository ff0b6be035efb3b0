/* SPDX-License-Identifier: MIT */
/* convex_query_item.h: the queries of two posed shapes, as items: from shapes and poses in
 * the caller's units to a result in these units.
 *
 * Spans and translation are scaled by one power of two, so that they add up to [1/2, 1); then
 * nothing overflows or underflows that matters, and every tolerance is a constant. */
#ifndef CAROM_SRC_CONVEX_QUERY_ITEM_H
#define CAROM_SRC_CONVEX_QUERY_ITEM_H

#include "base/power.h"
#include "convex/convex_epa_item.h"

/* The most steps of GJK: for polytopes, and where a shape is curved. The campaign of
 * tests/test_convex_campaign.c needs up to 13 and 77 (docs/figures.md). */
#define CAROM_GJK_MOST        64u
#define CAROM_GJK_MOST_CURVED 160u

/* Points of an expanding polytope: as many as fit a stack, and for hulls that need more. */
#define CAROM_EPA_STACK_POINTS 256u
#define CAROM_EPA_MOST_POINTS  4096u
/* Support points that complete the first tetrahedron: two in each of eight tries. */
#define CAROM_EPA_FIRST 16u

/* Sizes and distance of the origins, in units of the query: at least a fifth of 1/2, unless the
 * unit is the largest there is, for sizes below 2^-1000. Then e is 2^-1046. */
#define CAROM_CONVEX_LEAST_SUM 0x1p-4

/* A direction in a cache that is shorter has none: those that are stored are longer than 2^-101,
 * the least between centres. */
#define CAROM_CACHE_SHORTEST 0x1p-110
/* A quaternion whose largest component is above this, or below its inverse, is scaled: squares of
 * the others, and their inverses, are in range. */
#define CAROM_CONVEX_QUAT_MOST 0x1p100
/* A square of lengths, which are about 1: centres that are nearer to each other, by 2^-100, give no
 * direction to start with, and any will do. */
#define CAROM_CONVEX_LEAST_TOWARDS 0x1p-200

/* Hulls with at most this many vertices are searched all through: measured, climbing starts to win
 * at 96 (AVX2, AVX-512). */
#define CAROM_HULL_SCANNED_VERTICES 96u

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* The size of a shape as convex.h has it, in the caller's units. */
CAROM_ITEM double carom_convex_size(const carom_convex *s, const carom_hull_view *hull) {
    double size = s->margin;
    switch (s->kind) {
    case CAROM_CONVEX_KIND_SPHERE:
        return size + s->radius;
    case CAROM_CONVEX_KIND_SEGMENT:
        return size + s->half_height;
    case CAROM_CONVEX_KIND_CAPSULE:
    case CAROM_CONVEX_KIND_CYLINDER:
    case CAROM_CONVEX_KIND_CONE:
        return size + (s->radius + s->half_height);
    case CAROM_CONVEX_KIND_BOX:
    case CAROM_CONVEX_KIND_ELLIPSOID:
        return size + (s->half.x + s->half.y + s->half.z);
    case CAROM_CONVEX_KIND_HULL:
        return size + carom_scale_apply(hull->extent, hull->exponent);
    case CAROM_CONVEX_KIND_SUPPORT: {
        carom_vec3 c = s->support_ball.centre;
        return size + ((fabs(c.x) + fabs(c.y) + fabs(c.z)) + s->support_ball.radius);
    }
    default:
        return size;
    }
}

/* What a shape adds to the scale of a query, in the caller's units: the size, but for hulls what
 * their balls say, which is up to five times that. */
CAROM_ITEM double carom_convex_span(const carom_convex *s, const carom_hull_view *hull) {
    if (s->kind != CAROM_CONVEX_KIND_HULL) return carom_convex_size(s, hull);
    carom_vec3 c = hull->centre;
    return s->margin + carom_scale_apply((fabs(c.x) + fabs(c.y) + fabs(c.z)) + 2.0 * hull->outer,
                                         hull->exponent);
}

CAROM_ITEM int carom_convex_curved(const carom_convex *s) {
    return s->kind == CAROM_CONVEX_KIND_CYLINDER || s->kind == CAROM_CONVEX_KIND_CONE ||
           s->kind == CAROM_CONVEX_KIND_ELLIPSOID || s->kind == CAROM_CONVEX_KIND_SUPPORT;
}

/* The core of a shape; unit is a power of two. */
CAROM_ITEM void carom_convex_core_make(const carom_convex *s, const carom_hull_view *hull,
                                       double unit, carom_convex_search search,
                                       carom_convex_core *c) {
    c->kind = s->kind;
    c->margin = s->margin * unit;
    c->radius = s->radius * unit;
    c->half_height = s->half_height * unit;
    c->half = carom_vec_scale(s->half, unit);
    c->centre = carom_vec(0.0, 0.0, 0.0);
    c->inner = 0.0;
    c->outer = 0.0;
    c->hull = hull;
    c->climb = false;
    c->unit = unit;
    switch (s->kind) {
    case CAROM_CONVEX_KIND_SPHERE:
        c->margin += c->radius;
        c->kind = CAROM_CONVEX_KIND_POINT;
        break;
    case CAROM_CONVEX_KIND_CAPSULE:
        c->margin += c->radius;
        c->kind = CAROM_CONVEX_KIND_SEGMENT;
        c->outer = c->half_height;
        break;
    case CAROM_CONVEX_KIND_SEGMENT:
        c->outer = c->half_height;
        break;
    case CAROM_CONVEX_KIND_BOX:
        c->outer = carom_vec_length(c->half);
        c->inner = CAROM_MIN(c->half.x, CAROM_MIN(c->half.y, c->half.z));
        break;
    case CAROM_CONVEX_KIND_ELLIPSOID:
        c->outer = CAROM_MAX(c->half.x, CAROM_MAX(c->half.y, c->half.z));
        c->inner = CAROM_MIN(c->half.x, CAROM_MIN(c->half.y, c->half.z));
        if (c->inner == c->outer) { /* a sphere */
            c->margin += c->inner;
            c->kind = CAROM_CONVEX_KIND_POINT;
            c->inner = c->outer = 0.0;
        }
        break;
    case CAROM_CONVEX_KIND_CYLINDER:
    case CAROM_CONVEX_KIND_CONE:
        c->outer = sqrt(c->radius * c->radius + c->half_height * c->half_height);
        c->inner = CAROM_MIN(c->radius, c->half_height);
        if (s->kind == CAROM_CONVEX_KIND_CONE) {
            double side = sqrt(c->radius * c->radius + 4.0 * c->half_height * c->half_height);
            c->inner = side > 0.0 ? c->radius * c->half_height / side : 0.0;
        }
        break;
    case CAROM_CONVEX_KIND_HULL:
        c->hull_unit = carom_scale_apply(unit, hull->exponent);
        c->centre = carom_vec_scale(hull->centre, c->hull_unit);
        c->inner = hull->inner * c->hull_unit;
        c->outer = hull->outer * c->hull_unit;
        c->climb =
            search == CAROM_CONVEX_SEARCH_CLIMB ||
            (search == CAROM_CONVEX_SEARCH_AUTO && hull->count > CAROM_HULL_SCANNED_VERTICES);
        break;
    case CAROM_CONVEX_KIND_SUPPORT:
        c->support = s->support;
        c->support_user = s->support_user;
        c->centre = carom_vec_scale(s->support_ball.centre, unit);
        c->outer = s->support_ball.radius * unit;
        break;
    default:
        break;
    }
    c->inner += c->margin;
    c->outer += c->margin;
}

/* Corners of a core that is a polytope. */
CAROM_ITEM uint32_t carom_convex_corners(const carom_convex *s, const carom_hull_view *hull) {
    return s->kind == CAROM_CONVEX_KIND_HULL  ? hull->count
           : s->kind == CAROM_CONVEX_KIND_BOX ? 8u
           : s->kind == CAROM_CONVEX_KIND_SEGMENT || s->kind == CAROM_CONVEX_KIND_CAPSULE ? 2u
                                                                                          : 1u;
}

/* ---- Poses ----------------------------------------------------------------------------------- */

/* What leads back to the caller's units: A's pose. */
typedef struct carom_convex_transform {
    double r[9];
    carom_vec3 t;
    double unit; /* of the query: caller's lengths times this are the query's */
    double back; /* 1 / unit */
} carom_convex_transform;

/* A quaternion whose square neither overflows nor underflows; the identity for zero. */
CAROM_ITEM carom_quat carom_convex_quat(const carom_pose *pose) {
    carom_quat q = {1.0, 0.0, 0.0, 0.0};
    if (pose == 0) return q;
    double most = CAROM_MAX(CAROM_MAX(fabs(pose->q.w), fabs(pose->q.x)),
                            CAROM_MAX(fabs(pose->q.y), fabs(pose->q.z)));
    if (!(most > 0.0)) return q;
    q = pose->q;
    if (most > 1.0 / CAROM_CONVEX_QUAT_MOST && most < CAROM_CONVEX_QUAT_MOST) return q;
    int k = -carom_scale_range_add(carom_scale_range_empty(), most).high;
    q.w = carom_scale_apply(q.w, k);
    q.x = carom_scale_apply(q.x, k);
    q.y = carom_scale_apply(q.y, k);
    q.z = carom_scale_apply(q.z, k);
    return q;
}

/* The rotation matrix of a quaternion of any length. */
CAROM_ITEM void carom_convex_matrix(carom_quat q, double *r) {
    double s = 2.0 / (((q.w * q.w + q.x * q.x) + q.y * q.y) + q.z * q.z);
    double x = q.x * s, y = q.y * s, z = q.z * s;
    r[0] = 1.0 - (y * q.y + z * q.z);
    r[1] = x * q.y - z * q.w;
    r[2] = x * q.z + y * q.w;
    r[3] = x * q.y + z * q.w;
    r[4] = 1.0 - (x * q.x + z * q.z);
    r[5] = y * q.z - x * q.w;
    r[6] = x * q.z - y * q.w;
    r[7] = y * q.z + x * q.w;
    r[8] = 1.0 - (x * q.x + y * q.y);
}

/* As exponents of two, of units: they and their inverses are normal numbers. */
#define CAROM_CONVEX_UNIT_LEAST (-1000)
#define CAROM_CONVEX_UNIT_MOST  1020

/* The power of two that brings a sum of sizes to [1/2, 1), within these. */
CAROM_ITEM double carom_convex_unit(double sum) {
    uint64_t bits;
    memcpy(&bits, &sum, sizeof(bits));
    int exponent = (int)(bits >> 52) - 1022;
    exponent = exponent < CAROM_CONVEX_UNIT_LEAST  ? CAROM_CONVEX_UNIT_LEAST
               : exponent > CAROM_CONVEX_UNIT_MOST ? CAROM_CONVEX_UNIT_MOST
                                                   : exponent;
    return sum > 0.0 ? carom_power_of_two(-exponent) : 1.0;
}

/* Two posed shapes; finite input, as checked by convex.c. */
/* What carom_convex_hint holds: the simplex of an earlier query, as parts of the shapes from which
 * its points are computed anew, and where hulls were climbed. */
typedef struct carom_convex_learned {
    uint32_t count; /* of parts */
    uint32_t seed_a, seed_b;
    carom_vec3 direction;
    carom_vec3 parts_a[4], parts_b[4];
} carom_convex_learned;

typedef enum carom_convex_question {
    CAROM_CONVEX_QUESTION_DEPTH = 0,
    CAROM_CONVEX_QUESTION_DISTANCE,
    CAROM_CONVEX_QUESTION_MEET /* results have a relation only: apart, or overlapping when they meet
                                */
} carom_convex_question;

typedef struct carom_convex_question_item {
    const carom_convex *a, *b;
    const carom_hull_view *hull_a, *hull_b; /* of kind HULL, read instead of the shape's own hull;
                                               else NULL */
    const carom_pose *pose_a, *pose_b;      /* or NULL */
    carom_convex_query_def def;
} carom_convex_question_item;

CAROM_ITEM int carom_convex_curved_pair(const carom_convex_question_item *q) {
    return carom_convex_curved(q->a) || carom_convex_curved(q->b);
}

/* How many points the expanding polytope of a pair may have in all: three per corner for polytopes.
 * Where all faces are about equally deep, half a point to one point per corner is what it takes
 * (tests/test_convex.c). */
CAROM_ITEM uint32_t carom_convex_epa_points(const carom_convex_question_item *q) {
    if (carom_convex_curved_pair(q)) return CAROM_EPA_STACK_POINTS;
    uint32_t a = carom_convex_corners(q->a, q->hull_a), b = carom_convex_corners(q->b, q->hull_b);
    uint32_t most = CAROM_EPA_MOST_POINTS / 3;
    uint32_t points = 3 * (CAROM_MIN(a, most) + CAROM_MIN(b, most));
    return points < CAROM_EPA_STACK_POINTS ? CAROM_EPA_STACK_POINTS
                                           : CAROM_MIN(points, CAROM_EPA_MOST_POINTS);
}

/* The points of the search on the stack: where a larger one may follow, half of what fits, as pairs
 * that need more mostly need many more. */
CAROM_ITEM uint32_t carom_convex_epa_first_points(uint32_t points) {
    return points > CAROM_EPA_STACK_POINTS ? CAROM_EPA_STACK_POINTS / 2 : CAROM_EPA_STACK_POINTS;
}

/* The points of a last search that are kept for its second part. */
CAROM_ITEM uint32_t carom_convex_epa_local(const carom_convex_question_item *q, uint32_t points) {
    return points / (carom_convex_curved_pair(q) ? CAROM_EPA_LOCAL_CURVED : CAROM_EPA_LOCAL);
}

/* The most steps of EPA. A step adds a point or ends one of two parts of a search. The points of
 * two polytopes are differences of corners, each of which can be added once. */
CAROM_ITEM uint32_t carom_convex_epa_steps(const carom_convex_question_item *q) {
    uint32_t points = carom_convex_epa_points(q), first = carom_convex_epa_first_points(points);
    if (carom_convex_curved_pair(q)) return CAROM_EPA_FIRST + first;
    uint64_t corners_a = carom_convex_corners(q->a, q->hull_a);
    uint64_t all = corners_a * carom_convex_corners(q->b, q->hull_b) + 2;
    if (all <= first) return CAROM_EPA_FIRST + (uint32_t)all;
    if (points <= CAROM_EPA_STACK_POINTS) return CAROM_EPA_FIRST + first;
    return CAROM_EPA_FIRST + first + CAROM_EPA_FIRST + (uint32_t)CAROM_MIN(points, all);
}

/* From A's origin to B's, in the caller's units. */
CAROM_ITEM carom_vec3 carom_convex_between(const carom_convex_question_item *q) {
    carom_vec3 zero = carom_vec(0.0, 0.0, 0.0);
    return carom_vec_sub(q->pose_b != 0 ? q->pose_b->t : zero,
                         q->pose_a != 0 ? q->pose_a->t : zero);
}

/* The unit of a query, in which spans and translation t add up to [1/2, 1). */
CAROM_ITEM double carom_convex_query_unit(const carom_convex_question_item *q, carom_vec3 t) {
    double span = carom_convex_span(q->a, q->hull_a) + carom_convex_span(q->b, q->hull_b);
    return carom_convex_unit(span + (fabs(t.x) + fabs(t.y) + fabs(t.z)));
}

CAROM_ITEM void carom_convex_put(const carom_convex_question_item *q, carom_convex_posed_pair *p,
                                 carom_convex_transform *transform) {
    carom_quat qa = carom_convex_quat(q->pose_a), qb = carom_convex_quat(q->pose_b), c;
    carom_vec3 t = carom_convex_between(q);
    double size = carom_convex_size(q->a, q->hull_a) + carom_convex_size(q->b, q->hull_b);
    transform->unit = carom_convex_query_unit(q, t);
    transform->back = 1.0 / transform->unit;
    transform->t = q->pose_a != 0 ? q->pose_a->t : carom_vec(0.0, 0.0, 0.0);
    carom_convex_core_make(q->a, q->hull_a, transform->unit, q->def.search, &p->a);
    carom_convex_core_make(q->b, q->hull_b, transform->unit, q->def.search, &p->b);
    c.w = ((qa.w * qb.w + qa.x * qb.x) + qa.y * qb.y) + qa.z * qb.z;
    c.x = ((qa.w * qb.x - qa.x * qb.w) - qa.y * qb.z) + qa.z * qb.y;
    c.y = ((qa.w * qb.y + qa.x * qb.z) - qa.y * qb.w) - qa.z * qb.x;
    c.z = ((qa.w * qb.z - qa.x * qb.y) + qa.y * qb.x) - qa.z * qb.w;
    carom_convex_matrix(c, p->r);
    carom_convex_matrix(qa, transform->r);
    p->t = carom_convex_turn_back(transform->r, carom_vec_scale(t, transform->unit));
    p->margin = p->a.margin + p->b.margin;
    double sum = size * transform->unit + carom_vec_length(p->t);
    p->epsilon = CAROM_CONVEX_EPSILON * CAROM_MAX(sum, CAROM_CONVEX_LEAST_SUM);
    p->seed_a = p->seed_b = UINT32_MAX;
    p->supports = 0;
}

/* ---- Starts and caches ----------------------------------------------------------------------- */

/* From the centre of M towards the origin. */
CAROM_ITEM carom_vec3 carom_convex_towards(const carom_convex_posed_pair *p) {
    carom_vec3 b = carom_vec_add(carom_convex_turn(p->r, p->b.centre), p->t);
    carom_vec3 v = carom_vec_sub(p->a.centre, b);
    return carom_vec_dot(v, v) > CAROM_CONVEX_LEAST_TOWARDS ? v : carom_vec(1.0, 0.0, 0.0);
}

CAROM_ITEM void carom_convex_begin(carom_convex_posed_pair *p, carom_convex_start start,
                                   carom_gjk *g) {
    carom_gjk_simplex *s = &g->s;
    s->count = 0;
    s->v = carom_convex_towards(p);
    if (start != CAROM_CONVEX_START_FOUR) return;
    for (int i = 0; i < 4; ++i) { /* the corners of a cube that make a tetrahedron */
        carom_vec3 d =
            carom_vec(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, (i == 1 || i == 2) ? -1.0 : 1.0);
        carom_gjk_find_next(p, d, s);
        s->count += !carom_gjk_has(s, s->p[s->count].w);
    }
    carom_gjk_simplex_face face = carom_gjk_simplex_solve_any(s);
    carom_gjk_simplex_keep(s, &face);
}

/* A cache holds which points of the shapes a simplex is made of, not where they are: coordinates
 * would keep the rounding of the pose that they come from, and an error is that of the present
 * pose. A part is three numbers from which a point of the core follows anew: of a hull the vertex,
 * of an ellipsoid the point of the unit sphere, of other shapes a direction in which the point is
 * farthest. Whatever the numbers are, the point is one of the core. */
CAROM_ITEM double carom_convex_clamp(double x) {
    return x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x;
}

/* The part of a core that a point of it is, in the shape's own frame and up to rounding. */
CAROM_ITEM carom_vec3 carom_convex_part(const carom_convex_core *s, carom_vec3 p, uint32_t vertex) {
    if (s->kind == CAROM_CONVEX_KIND_HULL) return carom_vec((double)vertex, 0.0, 0.0);
    if (s->kind != CAROM_CONVEX_KIND_ELLIPSOID) return p;
    return carom_vec(s->half.x > 0.0 ? carom_convex_clamp(p.x / s->half.x) : 0.0,
                     s->half.y > 0.0 ? carom_convex_clamp(p.y / s->half.y) : 0.0,
                     s->half.z > 0.0 ? carom_convex_clamp(p.z / s->half.z) : 0.0);
}

/* The point of a part, in the shape's own frame. Returns 0 when there is no such part. */
CAROM_ITEM int carom_convex_part_point(const carom_convex_core *s, carom_vec3 part,
                                       uint32_t *vertex, carom_vec3 *p) {
    *vertex = UINT32_MAX;
    if (s->kind == CAROM_CONVEX_KIND_HULL) {
        if (!(part.x >= 0.0 && part.x < s->hull->count)) return 0;
        *vertex = (uint32_t)part.x;
        *p = carom_vec_scale(s->hull->vertices[*vertex], s->hull_unit);
        return 1;
    }
    double sum = fabs(part.x) + fabs(part.y) + fabs(part.z);
    if (!(sum <= 3.0)) return 0; /* coordinates are below 1 */
    if (s->kind == CAROM_CONVEX_KIND_ELLIPSOID) {
        *p = carom_convex_ellipsoid_point(s, part);
        return 1;
    }
    *p = carom_convex_support(s, part, vertex);
    return 1;
}

/* Takes the simplex of an earlier query to the present poses. Returns 0 when the cache is empty. */
CAROM_ITEM int carom_convex_resume(const carom_convex_learned *cache, carom_convex_posed_pair *p,
                                   carom_gjk *g) {
    carom_gjk_simplex *s = &g->s;
    carom_vec3 d = cache->direction;
    double sum = fabs(d.x) + fabs(d.y) + fabs(d.z);
    if (cache->count > 4 || !(sum > CAROM_CACHE_SHORTEST && sum <= 3.0)) return 0;
    s->count = 0;
    s->v = d;
    p->seed_a = cache->seed_a;
    p->seed_b = cache->seed_b;
    for (uint32_t i = 0; i < cache->count; ++i) {
        carom_convex_vertex *v = &s->p[s->count];
        if (!carom_convex_part_point(&p->a, cache->parts_a[i], &s->vertex_a[s->count], &v->a) ||
            !carom_convex_part_point(&p->b, cache->parts_b[i], &s->vertex_b[s->count], &v->b))
            return 0; /* not of these shapes */
        v->b = carom_vec_add(carom_convex_turn(p->r, v->b), p->t);
        v->w = carom_vec_sub(v->a, v->b);
        s->count += !carom_gjk_has(s, v->w);
    }
    if (s->count == 0) return 1;
    carom_gjk_simplex_face face = carom_gjk_simplex_solve_any(s);
    carom_gjk_simplex_keep(s, &face);
    return 1;
}

CAROM_ITEM void carom_convex_store(const carom_convex_posed_pair *p, const carom_gjk *g,
                                   int resumed, carom_convex_learned *cache) {
    /* Which point a caller's function gave is not known: the direction is all there is. */
    int named = p->a.kind != CAROM_CONVEX_KIND_SUPPORT && p->b.kind != CAROM_CONVEX_KIND_SUPPORT;
    uint32_t count = g->end == CAROM_GJK_BEYOND_LIMIT || !named ? 0 : (uint32_t)g->s.count;
    cache->direction = g->direction;
    cache->seed_a = p->seed_a;
    cache->seed_b = p->seed_b;
    if (resumed && g->iterations == 0 && count == cache->count) return; /* the same points */
    cache->count = count;
    for (uint32_t i = 0; i < cache->count; ++i) {
        const carom_convex_vertex *v = &g->s.p[i];
        carom_vec3 b = carom_convex_turn_back(p->r, carom_vec_sub(v->b, p->t));
        cache->parts_a[i] = carom_convex_part(&p->a, v->a, g->s.vertex_a[i]);
        cache->parts_b[i] = carom_convex_part(&p->b, b, g->s.vertex_b[i]);
    }
}

/* GJK from the cache or from the start. */
CAROM_ITEM void carom_convex_search_pair(const carom_convex_question_item *q,
                                         carom_convex_posed_pair *p, carom_convex_learned *cache,
                                         double apart, double meet, carom_gjk *g) {
    uint32_t most = carom_convex_curved(q->a) || carom_convex_curved(q->b) ? CAROM_GJK_MOST_CURVED
                                                                           : CAROM_GJK_MOST;
    g->iterations = 0;
    int resumed = cache != 0 && carom_convex_resume(cache, p, g);
    if (!resumed)
        carom_convex_begin(p, q->def.start, g);
    else if (g->s.count == 4) { /* still inside: nothing to search */
        g->end = CAROM_GJK_CONTACT;
        g->lower = -1.0;
        g->upper = 0.0;
        g->direction = cache->direction;
        return;
    }
    if (g->s.count == 4) {
        g->end = CAROM_GJK_CONTACT;
        g->lower = -1.0;
        g->upper = 0.0;
        g->direction = carom_vec(1.0, 0.0, 0.0);
        return;
    }
    carom_gjk_run(p, g, apart, meet, most);
    if (cache != 0) carom_convex_store(p, g, resumed, cache);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Whether the shapes meet: balls around and inside them first, then ISA-GJK. */
CAROM_ITEM int carom_convex_meet_item(const carom_convex_question_item *q,
                                      carom_convex_learned *cache, carom_convex_result *result) {
    carom_convex_posed_pair p;
    carom_convex_transform transform;
    carom_gjk g;
    carom_convex_put(q, &p, &transform);
    carom_vec3 between =
        carom_vec_sub(carom_vec_add(carom_convex_turn(p.r, p.b.centre), p.t), p.a.centre);
    double square = carom_vec_dot(between, between);
    double outer = p.a.outer + p.b.outer + 2.0 * p.epsilon;
    double inner = p.a.inner + p.b.inner - 2.0 * p.epsilon;
    if (!q->def.gjk_only && square > outer * outer) return 0;
    if (!q->def.gjk_only && inner > 0.0 && square < inner * inner) return 1;
    carom_convex_search_pair(q, &p, cache, p.margin + p.epsilon, p.margin, &g);
    result->iterations = g.iterations;
    result->supports = p.supports;
    return g.end != CAROM_GJK_BEYOND_LIMIT;
}

/* What a search leaves to be done. */
typedef struct carom_convex_work {
    carom_convex_posed_pair pair;
    carom_convex_transform transform;
    carom_gjk g;
} carom_convex_work;

CAROM_ITEM carom_vec3 carom_convex_world(const carom_convex_transform *transform, carom_vec3 p) {
    return carom_vec_add(carom_vec_scale(carom_convex_turn(transform->r, p), transform->back),
                         transform->t);
}

/* Writes a result: the points of the cores of A and B, the unit vector between them along which
 * margins lead to the surfaces, and the normal from A to B, all in the frame of A. The signed
 * distance is in [lower, upper]. */
CAROM_ITEM void carom_convex_write(const carom_convex_work *w, carom_vec3 a, carom_vec3 b,
                                   carom_vec3 direction, carom_vec3 normal, double lower,
                                   double upper, carom_relation relation, carom_convex_result *r) {
    const carom_convex_posed_pair *p = &w->pair;
    double value = relation == CAROM_RELATION_APART ? upper : lower;
    r->relation = relation;
    r->distance = relation == CAROM_RELATION_APART ? value * w->transform.back : 0.0;
    r->depth = relation == CAROM_RELATION_OVERLAPPING ? -value * w->transform.back : 0.0;
    r->error = (CAROM_MAX(upper - lower, 0.0) + CAROM_CONVEX_ROUNDING) * w->transform.back;
    if (relation == CAROM_RELATION_TOUCHING) /* 0 is said, and the value may be anything here */
        r->error += CAROM_MAX(fabs(lower), fabs(upper)) * w->transform.back;
    r->normal = carom_convex_turn(w->transform.r, normal);
    r->point_a = carom_convex_world(&w->transform,
                                    carom_vec_add(a, carom_vec_scale(direction, p->a.margin)));
    r->point_b = carom_convex_world(&w->transform,
                                    carom_vec_sub(b, carom_vec_scale(direction, p->b.margin)));
}

/* The distance. Returns 1 when the cores overlap, and so the depth is left to EPA. */
CAROM_ITEM int carom_convex_distance_item(const carom_convex_question_item *q,
                                          carom_convex_learned *cache, carom_convex_work *w,
                                          carom_convex_result *result) {
    carom_vec3 a, b, normal;
    carom_convex_put(q, &w->pair, &w->transform);
    carom_convex_search_pair(q, &w->pair, cache, HUGE_VAL, -1.0, &w->g);
    /* The bounds hold whatever the rounding, unless a caller's support function is not convex. */
    CAROM_ASSERT(q->a->kind == CAROM_CONVEX_KIND_SUPPORT ||
                 q->b->kind == CAROM_CONVEX_KIND_SUPPORT ||
                 w->g.upper >= w->g.lower - w->pair.epsilon);
    result->iterations = w->g.iterations;
    result->supports = w->pair.supports;
    carom_gjk_simplex_witness(&w->g.s, &a, &b);
    if (w->g.end == CAROM_GJK_CONTACT) {
        carom_vec3 none = carom_vec(0.0, 0.0, 0.0);
        carom_convex_write(w, a, a, none, none, 0.0, 0.0, CAROM_RELATION_OVERLAPPING, result);
        normal = carom_vec_scale(w->g.direction, -1.0 / carom_vec_length(w->g.direction));
        result->normal = carom_convex_turn(w->transform.r, normal);
        result->error += w->g.upper * w->transform.back; /* not 0 where too near for a direction */
        return 1;
    }
    double upper = w->g.upper - w->pair.margin, lower = w->g.lower - w->pair.margin;
    carom_relation relation = CAROM_RELATION_TOUCHING;
    if (lower > w->pair.epsilon) relation = CAROM_RELATION_APART;
    if (upper < -w->pair.epsilon) relation = CAROM_RELATION_OVERLAPPING, lower = upper;
    /* The plane that proves the distance; v itself may have lost its direction to rounding. */
    normal = carom_vec_scale(w->g.direction, -1.0 / carom_vec_length(w->g.direction));
    carom_vec3 direction = carom_vec_scale(w->g.s.v, -1.0 / carom_vec_length(w->g.s.v));
    carom_convex_write(w, a, b, direction, normal, lower, upper, relation, result);
    if (relation == CAROM_RELATION_OVERLAPPING)
        result->error += CAROM_MAX(w->g.upper - w->g.lower, 0.0) * w->transform.back;
    return 0;
}

/* Writes the result of EPA. */
CAROM_ITEM void carom_convex_write_depth(const carom_convex_work *w, const carom_epa *e,
                                         carom_convex_result *result) {
    result->iterations += e->iterations;
    result->supports = w->pair.supports;
    double deep = e->upper + w->pair.margin;
    double least = CAROM_MIN(e->lower, e->upper) + w->pair.margin;
    carom_vec3 b = carom_vec_sub(e->point_a, carom_vec_scale(e->normal, e->upper));
    carom_convex_write(
        w, e->point_a, b, e->normal, e->normal, -deep, -least,
        deep > w->pair.epsilon ? CAROM_RELATION_OVERLAPPING : CAROM_RELATION_TOUCHING, result);
    /* Where M is thin and curved, depths that agree to e leave the point within sqrt(e r), r the
     * radius of curvature. */
    double off = (e->off + CAROM_CONVEX_ROUNDING) * w->transform.back;
    result->error = CAROM_MAX(result->error, off);
    /* Cores that were too near for a direction may still be apart. */
    if (!(e->lower > 0.0)) result->error += w->g.upper * w->transform.back;
}

/* How far the bounds of a depth may stay apart. */
CAROM_ITEM double carom_convex_epa_close(const carom_convex_question_item *q) {
    return carom_convex_curved_pair(q) ? CAROM_EPA_CURVED_BOUND_GAP : CAROM_CONVEX_BOUND_GAP;
}

/* The depth of overlapping cores. Returns 1 when the workspace was too small for the bounds to
 * agree: the result is as good as it allows. */
CAROM_ITEM int carom_convex_depth_item(const carom_convex_question_item *q, carom_convex_work *w,
                                       carom_epa_workspace *workspace,
                                       carom_convex_result *result) {
    carom_epa e;
    carom_epa_run(&w->pair, &w->g.s, workspace, carom_convex_epa_close(q), &e);
    carom_convex_write_depth(w, &e, result);
    return e.full;
}

#endif
