/* SPDX-License-Identifier: MIT */
/* convex_item.h: support points of shapes and the distance of two of them (GJK), as items.
 *
 * Two shapes A and B are a distance apart that is the distance of the origin from M = A - B, and
 * they meet when the origin is in M. M is known by its support points alone: the farthest point of
 * M in a direction d is that of A in d minus that of B in -d. Margins are left out of M and added
 * to the result, which is exact: the sum of a shape and a ball.
 *
 * GJK (Gilbert, Johnson, Keerthi 1988; van den Bergen 1999) keeps a simplex of up to four points of
 * M, its point v nearest to the origin, and adds the support point w in the direction -v. Then
 *     v.w / |v|  <=  distance of M  <=  |v|,
 * the left side because no point of M is nearer along v, the right side because v is in M. Both
 * hold whatever the rounding of v: they are the proof of the result. The loop ends when they agree,
 * when the lower bound decides the query, or when v gets no shorter. In the last case the
 * simplex is solved again in double-double, and from then on always.
 *
 * All lengths are in the units of the query, in which sizes and translation add up to [1/2, 1); so
 * tolerances are constants. The frame is that of A. */
#ifndef CAROM_SRC_CONVEX_ITEM_H
#define CAROM_SRC_CONVEX_ITEM_H

#include "carom/convex.h"
#include "convex/convex_scan.h"
#include "convex/convex_simplex_item.h"
#include "geom/pose.h"

/* The tolerance of relations: this part of the sum of sizes and distance of the origins. */
#define CAROM_CONVEX_EPSILON 0x1p-42
/* What follows is in units of the query. */
/* Bounds that agree to this are equal: some forty roundings. */
#define CAROM_CONVEX_BOUND_GAP 0x1p-48
/* A v shorter than this has no direction. */
#define CAROM_CONVEX_LEAST_LENGTH 0x1p-46
/* What poses, support points and products may be off by through rounding. */
#define CAROM_CONVEX_ROUNDING 0x1p-49

/* ---- Hulls ----------------------------------------------------------------------------------- */

#define CAROM_HULL_CELLS 8u /* of the table of directions, along an edge of its cube */
#define CAROM_HULL_SEEDS (6u * CAROM_HULL_CELLS * CAROM_HULL_CELLS)

/* A hull as items see it. Coordinates are the given ones times 2^-exponent, the largest of them in
 * [1/2, 1). */
typedef struct carom_hull_view {
    const carom_vec3 *vertices;
    const carom_hull_block *all; /* all vertices in order; the last block repeats the last vertex */
    uint32_t all_count;
    uint32_t count;
    const carom_hull_block *neighbours; /* of vertex v: blocks [first[v], first[v + 1]) */
    const uint32_t *first;
    const uint32_t *seeds; /* a farthest vertex for the direction of each cell of a cube map */
    int exponent;
    double extent;     /* the largest |x|, |y| and |z| of the vertices, added up */
    carom_vec3 centre; /* of a ball in the hull and of one around it */
    double inner, outer;
} carom_hull_view;

/* The cell of the cube map that a direction falls into. */
CAROM_ITEM uint32_t carom_hull_cell(carom_vec3 d) {
    double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z), most, u, v;
    uint32_t face;
    if (x >= y && x >= z)
        face = d.x < 0.0, most = x, u = d.y, v = d.z;
    else if (y >= z)
        face = 2 + (d.y < 0.0), most = y, u = d.z, v = d.x;
    else
        face = 4 + (d.z < 0.0), most = z, u = d.x, v = d.y;
    if (!(most > 0.0)) return 0;
    double half = 0.5 * CAROM_HULL_CELLS, scale = half / most;
    int i = (int)(u * scale + half), k = (int)(v * scale + half);
    int last = (int)CAROM_HULL_CELLS - 1;
    i = i < 0 ? 0 : i > last ? last : i;
    k = k < 0 ? 0 : k > last ? last : k;
    return (face * CAROM_HULL_CELLS + (uint32_t)i) * CAROM_HULL_CELLS + (uint32_t)k;
}

/* The middle of a cell. */
CAROM_ITEM carom_vec3 carom_hull_direction(uint32_t cell) {
    double u = (cell / CAROM_HULL_CELLS % CAROM_HULL_CELLS + 0.5) * (2.0 / CAROM_HULL_CELLS) - 1.0;
    double v = (cell % CAROM_HULL_CELLS + 0.5) * (2.0 / CAROM_HULL_CELLS) - 1.0;
    uint32_t face = cell / (CAROM_HULL_CELLS * CAROM_HULL_CELLS);
    double w = face % 2 != 0 ? -1.0 : 1.0;
    return face < 2 ? carom_vec(w, u, v) : face < 4 ? carom_vec(v, w, u) : carom_vec(u, v, w);
}

/* The farthest of all vertices. Four blocks, the most common number, are looked at without a loop.
 */
CAROM_CONVEX_HOT uint32_t carom_hull_scan_all(const carom_hull_view *h, carom_vec3 d) {
    double value = -HUGE_VAL;
    uint32_t at = h->all_count == 4 ? carom_hull_scan(h->all, 4, d, 0, &value)
                                    : carom_hull_scan(h->all, h->all_count, d, 0, &value);
    return CAROM_MIN(at, h->count - 1); /* the last block repeats the last vertex */
}

/* Climbs from neighbour to neighbour while the value grows: it ends, because no value comes twice,
 * and at a farthest vertex, because a linear function on a convex surface has no other maxima. */
CAROM_CONVEX_HOT uint32_t carom_hull_climb(const carom_hull_view *h, carom_vec3 d, uint32_t start) {
    uint32_t at = start;
    double value = carom_vec_dot(h->vertices[at], d);
    for (;;) {
        const carom_hull_block *blocks = h->neighbours + h->first[at];
        uint32_t count = h->first[at + 1] - h->first[at];
        uint32_t next = count == 1 ? carom_hull_scan(blocks, 1, d, UINT32_MAX, &value)
                                   : carom_hull_scan(blocks, count, d, UINT32_MAX, &value);
        if (next == UINT32_MAX) return at;
        at = blocks[next / CAROM_HULL_LANES].index[next % CAROM_HULL_LANES];
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* A shape without its margin, in units of the query. A sphere is a point, a capsule a segment. */
typedef struct carom_convex_core {
    carom_convex_kind kind;
    carom_vec3 half;            /* box, ellipsoid */
    double radius, half_height; /* cylinder, cone, segment */
    double margin;
    const carom_hull_view *hull;
    double hull_unit; /* of hull coordinates in units of the query */
    bool climb;
    carom_convex_support_fn *support;
    void *support_user;
    double unit; /* of the caller in units of the query, for `support` */
    carom_vec3 centre;
    double inner, outer; /* radii of balls about the centre, margin included */
} carom_convex_core;

/* Two shapes with B's pose in the frame of A. */
typedef struct carom_convex_posed_pair {
    carom_convex_core a, b;
    double r[9]; /* B's rotation */
    carom_vec3 t;
    double margin;           /* of both */
    double epsilon;          /* the tolerance of relations */
    uint32_t seed_a, seed_b; /* where climbing starts; UINT32_MAX: from the table */
    uint32_t supports;
} carom_convex_posed_pair;

CAROM_ITEM carom_vec3 carom_convex_turn(const double *r, carom_vec3 d) {
    return carom_vec((r[0] * d.x + r[1] * d.y) + r[2] * d.z, (r[3] * d.x + r[4] * d.y) + r[5] * d.z,
                     (r[6] * d.x + r[7] * d.y) + r[8] * d.z);
}

CAROM_ITEM carom_vec3 carom_convex_turn_back(const double *r, carom_vec3 d) {
    return carom_vec((r[0] * d.x + r[3] * d.y) + r[6] * d.z, (r[1] * d.x + r[4] * d.y) + r[7] * d.z,
                     (r[2] * d.x + r[5] * d.y) + r[8] * d.z);
}

/* The point of a circle of this radius in the plane of x and y that is farthest along (x, y). */
CAROM_ITEM void carom_convex_circle(double radius, double x, double y, double *px, double *py) {
    double length = sqrt(x * x + y * y);
    *px = length > 0.0 ? radius * (x / length) : 0.0;
    *py = length > 0.0 ? radius * (y / length) : 0.0;
}

/* The point of an ellipsoid that the unit sphere has along g; the centre where g has no length. */
CAROM_ITEM carom_vec3 carom_convex_ellipsoid_point(const carom_convex_core *s, carom_vec3 g) {
    double length = carom_vec_length(g);
    if (!(length > 0.0)) return carom_vec(0.0, 0.0, 0.0);
    return carom_vec(s->half.x * (g.x / length), s->half.y * (g.y / length),
                     s->half.z * (g.z / length));
}

CAROM_ITEM carom_vec3 carom_convex_called(const carom_convex_core *s, carom_vec3 d) {
    carom_vec3 p = carom_vec(0.0, 0.0, 0.0);
#ifndef __CUDACC__
    p = carom_vec_scale(s->support(s->support_user, &d), s->unit);
    double sum = fabs(p.x) + fabs(p.y) + fabs(p.z);
    if (!(sum < HUGE_VAL)) p = carom_vec(0.0, 0.0, 0.0);
#else
    (void)s, (void)d;
#endif
    return p;
}

CAROM_CONVEX_HOT carom_vec3 carom_hull_support(const carom_convex_core *s, carom_vec3 d,
                                               uint32_t *seed) {
    const carom_hull_view *h = s->hull;
    uint32_t v;
    if (!s->climb) {
        v = carom_hull_scan_all(h, d);
    } else {
        v = h->seeds[carom_hull_cell(d)];
        if (*seed < h->count &&
            carom_vec_dot(h->vertices[*seed], d) > carom_vec_dot(h->vertices[v], d))
            v = *seed;
        v = carom_hull_climb(h, d, v);
    }
    *seed = v;
    return carom_vec_scale(h->vertices[v], s->hull_unit);
}

/* A point of the core farthest in the direction d, in the shape's own frame. */
CAROM_CONVEX_HOT carom_vec3 carom_convex_support(const carom_convex_core *s, carom_vec3 d,
                                                 uint32_t *seed) {
    carom_vec3 p = carom_vec(0.0, 0.0, 0.0);
    switch (s->kind) {
    case CAROM_CONVEX_KIND_SEGMENT:
        p.z = d.z < 0.0 ? -s->half_height : s->half_height;
        break;
    case CAROM_CONVEX_KIND_BOX:
        p.x = d.x < 0.0 ? -s->half.x : s->half.x;
        p.y = d.y < 0.0 ? -s->half.y : s->half.y;
        p.z = d.z < 0.0 ? -s->half.z : s->half.z;
        break;
    case CAROM_CONVEX_KIND_CYLINDER:
        carom_convex_circle(s->radius, d.x, d.y, &p.x, &p.y);
        p.z = d.z < 0.0 ? -s->half_height : s->half_height;
        break;
    case CAROM_CONVEX_KIND_CONE:
        if (2.0 * s->half_height * d.z > s->radius * sqrt(d.x * d.x + d.y * d.y)) {
            p.z = s->half_height;
        } else {
            carom_convex_circle(s->radius, d.x, d.y, &p.x, &p.y);
            p.z = -s->half_height;
        }
        break;
    case CAROM_CONVEX_KIND_ELLIPSOID: {
        carom_vec3 g = carom_vec(s->half.x * d.x, s->half.y * d.y, s->half.z * d.z);
        p = carom_convex_ellipsoid_point(s, g);
        break;
    }
    case CAROM_CONVEX_KIND_HULL:
        p = carom_hull_support(s, d, seed);
        break;
    case CAROM_CONVEX_KIND_SUPPORT:
        p = carom_convex_called(s, d);
        break;
    default:
        break;
    }
    return p;
}

/* The point of M farthest in the direction d. */
CAROM_CONVEX_HOT void carom_convex_farthest_into(carom_convex_posed_pair *p, carom_vec3 d,
                                                 carom_convex_vertex *v) {
    carom_vec3 a = carom_convex_support(&p->a, d, &p->seed_a);
    carom_vec3 back = carom_convex_turn_back(p->r, carom_vec_scale(d, -1.0));
    carom_vec3 b = carom_convex_support(&p->b, back, &p->seed_b);
    b = carom_vec_add(carom_convex_turn(p->r, b), p->t);
    v->w = carom_vec_sub(a, b);
    v->a = a;
    v->b = b;
    p->supports += 2;
}

CAROM_ITEM carom_convex_vertex carom_convex_farthest(carom_convex_posed_pair *p, carom_vec3 d) {
    carom_convex_vertex v;
    carom_convex_farthest_into(p, d, &v);
    return v;
}

/* ---- GJK ------------------------------------------------------------------------------------- */

/* How a search for the distance of the cores ended. */
typedef enum carom_gjk_end {
    CAROM_GJK_APART = 0,    /* v is a distance away */
    CAROM_GJK_BEYOND_LIMIT, /* the bound suffices: apart by more than the limit */
    CAROM_GJK_CONTACT,      /* the origin is in M, or too near for a direction */
} carom_gjk_end;

typedef struct carom_gjk {
    carom_gjk_simplex s;
    double lower, upper;  /* of the distance of the cores; lower < 0: unknown */
    carom_vec3 direction; /* normal of the plane that gives the lower bound, of any length */
    uint32_t iterations;
    carom_gjk_end end;
} carom_gjk;

CAROM_ITEM int carom_gjk_has(const carom_gjk_simplex *s, carom_vec3 w) {
    for (int i = 0; i < s->count; ++i)
        if (s->p[i].w.x == w.x && s->p[i].w.y == w.y && s->p[i].w.z == w.z) return 1;
    return 0;
}

/* Finds the point of M farthest in the direction d and puts it behind the points of a simplex,
 * which does not count it yet. */
CAROM_CONVEX_HOT void carom_gjk_find_next(carom_convex_posed_pair *p, carom_vec3 d,
                                          carom_gjk_simplex *s) {
    carom_convex_farthest_into(p, d, &s->p[s->count]);
    s->vertex_a[s->count] = p->seed_a;
    s->vertex_b[s->count] = p->seed_b;
}

/* Whether v is what its weights make of the points. In a thin triangle the weights, the normal and
 * so v may be rounded badly. */
CAROM_ITEM int carom_gjk_honest(const carom_gjk_simplex *s) {
    carom_vec3 off = s->v;
    for (int i = 0; i < s->count; ++i)
        off = carom_vec_sub(off, carom_vec_scale(s->p[i].w, s->weight[i]));
    double x = fabs(off.x), y = fabs(off.y), z = fabs(off.z);
    return x <= CAROM_CONVEX_BOUND_GAP && y <= CAROM_CONVEX_BOUND_GAP &&
           z <= CAROM_CONVEX_BOUND_GAP;
}

/* Runs from a simplex, which may be empty, and `s.v`: its nearest point or, where it is empty, any
 * direction. Ends early when the cores are more than `apart` from each other or at most `meet`;
 * HUGE_VAL and -1: never. */
CAROM_ITEM void carom_gjk_run(carom_convex_posed_pair *p, carom_gjk *g, double apart, double meet,
                              uint32_t most) {
    carom_gjk_simplex *s = &g->s;
    double square = carom_vec_dot(s->v, s->v);
    double low = 0.0; /* what the square lacks: a step may gain less than a double shows */
    int careful = 0;
    g->end = CAROM_GJK_APART;
    g->lower = -1.0;
    g->upper = HUGE_VAL;
    g->direction = carom_vec(1.0, 0.0, 0.0);
    for (g->iterations = 0; g->iterations < most; ++g->iterations) {
        double length = sqrt(square);
        if (s->count != 0 && (length <= CAROM_CONVEX_LEAST_LENGTH || length <= meet)) {
            if (careful || carom_gjk_honest(s)) {
                g->upper = length;
                if (length <= CAROM_CONVEX_LEAST_LENGTH) g->end = CAROM_GJK_CONTACT;
                return;
            }
            careful = 1;
            carom_gjk_simplex_face face = carom_gjk_simplex_solve_carefully(s);
            carom_gjk_simplex_keep(s, &face);
            square = face.square;
            low = face.low;
            continue;
        }
        if (s->count != 0) g->upper = length;
        CAROM_ASSERT(s->count < 4); /* with four points the origin was inside */
        carom_gjk_find_next(p, carom_vec_scale(s->v, -1.0), s);
        carom_vec3 w = s->p[s->count].w;
        double bound = carom_vec_dot(s->v, w) / length;
        if (bound > g->lower) {
            g->lower = bound;
            g->direction = s->v;
            if (bound > apart) {
                g->end = CAROM_GJK_BEYOND_LIMIT;
                return;
            }
        }
        int close = g->upper - g->lower <= CAROM_CONVEX_BOUND_GAP;
        if (close && (careful || carom_gjk_honest(s))) return;
        int again = close || carom_gjk_has(s, w), empty = s->count == 0;
        if (again && careful) return;
        s->count += !again;
        carom_gjk_simplex_face face;
        if (!again && !careful) face = carom_gjk_simplex_solve(s);
        if (again || careful || !(face.square < square || empty)) {
            /* From here on squares are right; those in doubles may have been too small. */
            if (!careful) square = HUGE_VAL;
            careful = 1;
            face = carom_gjk_simplex_solve_carefully(s);
            if (!(face.square < square || (face.square == square && face.low < low))) {
                /* as short as it gets */
                s->count -= !again;
                return;
            }
        }
        carom_gjk_simplex_keep(s, &face);
        if (face.count == 4) {
            g->end = CAROM_GJK_CONTACT;
            g->upper = 0.0;
            return;
        }
        square = face.square;
        low = careful ? face.low : 0.0;
    }
    g->upper = sqrt(square);
}

#endif
