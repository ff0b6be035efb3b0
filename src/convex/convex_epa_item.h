/* SPDX-License-Identifier: MIT */
/* convex_epa_item.h: how deep two shapes overlap (EPA), as items.
 *
 * The depth is the least support value h(n) of M over all unit directions n: the distance from the
 * origin to the surface of M. The expanding-polytope algorithm (van den Bergen 2001) keeps a
 * polytope inside M that holds the origin, takes its face nearest to the origin, and adds the
 * support point of M in that face's normal n. Then
 *     distance of the nearest face  <=  depth  <=  h(n).
 * The right side holds for every n, however n was rounded: the result is the least h(n) found, and
 * its difference from the left side is the error. The polytope is exact (convex_polytope_item.h).
 *
 * On curved surfaces many directions may be equally deep, and the faces to expand without number:
 * two coaxial cylinders. When the workspace is used up, the search goes on where the best direction
 * leaves the polytope alone. Replacing n by the normal of M where the ray along n leaves M never
 * increases h (a step of Frank and Wolfe's method on the polar body), so this ends in a minimum. */
#ifndef CAROM_SRC_CONVEX_EPA_ITEM_H
#define CAROM_SRC_CONVEX_EPA_ITEM_H

#include "convex/convex_item.h"
#include "convex/convex_polytope_item.h"

/* Faces whose edges have a smaller squared sine get their normal in double-double. */
#define CAROM_EPA_SLIVER_SINE2 1e-6
/* How near the bounds of a depth must come where a shape is curved: about 1e-13. */
#define CAROM_EPA_CURVED_BOUND_GAP 0x1p-43
/* In squares of lengths, which are about 1: only a product of equal or opposite vectors is shorter,
 * and the inverse of a longer one is a normal number. */
#define CAROM_EPA_LEAST_NORMAL 0x1p-900
/* Share of the points that is kept for the second search, where no larger one follows: a third, and
 * half of them where a shape is curved. */
#define CAROM_EPA_LOCAL        3u
#define CAROM_EPA_LOCAL_CURVED 2u

typedef struct carom_epa_entry {
    double distance;
    uint32_t face, alive;
} carom_epa_entry;

/* Room for a search; all arrays belong to the caller. */
typedef struct carom_epa_workspace {
    carom_convex_vertex *points;
    uint32_t point_capacity;
    uint32_t local_points; /* of the capacity, kept for the second search */
    carom_polytope polytope;
    carom_vec3 *normals;                /* unit, per face */
    double *distances;                  /* per face; space for a multiple of CAROM_SCAN_PADDING */
    carom_epa_entry *heap;              /* NULL: all faces are looked at */
    uint32_t heap_count, heap_capacity; /* twice the faces */
    uint32_t cleared;                   /* distances that have been written; without a heap */
} carom_epa_workspace;

typedef struct carom_epa {
    carom_vec3 normal; /* unit: moving A against it, or B along it, by the depth separates them */
    double upper, lower;
    carom_vec3 point_a; /* of A, deepest in B */
    double off; /* how far the end of the normal is from the polytope: of B's point, from B */
    uint32_t iterations;
    int full; /* the workspace was used up before the bounds agreed */
} carom_epa;

/* ---- Faces by distance ----------------------------------------------------------------------- */

CAROM_ITEM int carom_epa_before(const carom_epa_entry *a, const carom_epa_entry *b) {
    return a->distance < b->distance || (a->distance == b->distance && a->alive < b->alive);
}

CAROM_ITEM void carom_epa_push(carom_epa_workspace *workspace, carom_epa_entry e) {
    uint32_t i = workspace->heap_count++;
    for (; i > 0 && carom_epa_before(&e, &workspace->heap[(i - 1) / 2]); i = (i - 1) / 2)
        workspace->heap[i] = workspace->heap[(i - 1) / 2];
    workspace->heap[i] = e;
}

CAROM_ITEM void carom_epa_pop(carom_epa_workspace *workspace) {
    CAROM_ASSERT(workspace->heap_count != 0);
    carom_epa_entry e = workspace->heap[--workspace->heap_count];
    uint32_t i = 0, k;
    for (; (k = 2 * i + 1) < workspace->heap_count; i = k) {
        if (k + 1 < workspace->heap_count &&
            carom_epa_before(&workspace->heap[k + 1], &workspace->heap[k]))
            ++k;
        if (!carom_epa_before(&workspace->heap[k], &e)) break;
        workspace->heap[i] = workspace->heap[k];
    }
    workspace->heap[i] = e;
}

/* The normal of a thin triangle, of any length. */
CAROM_CONVEX_COLD carom_vec3 carom_epa_thin_normal(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    carom_dd3 n = carom_dd3_cross(carom_dd3_diff(b, a), carom_dd3_diff(c, a));
    double most = carom_polytope_extent(carom_vec(n.x.high, n.y.high, n.z.high));
    return carom_vec(n.x.high / most, n.y.high / most, n.z.high / most);
}

/* The distance of a face a, b, c with this rounded normal, which becomes unit. */
CAROM_ITEM double carom_epa_distance(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 *normal) {
    carom_vec3 u = carom_vec_sub(b, a), v = carom_vec_sub(c, a), n = *normal;
    double square = carom_vec_dot(n, n);
    if (!(square > CAROM_EPA_SLIVER_SINE2 * carom_vec_dot(u, u) * carom_vec_dot(v, v))) {
        n = carom_epa_thin_normal(a, b, c);
        square = carom_vec_dot(n, n);
    }
    double length = sqrt(square);
    if (!(length > 0.0 && length < HUGE_VAL)) { /* out of the range of doubles: never nearest */
        *normal = carom_vec(1.0, 0.0, 0.0);
        return HUGE_VAL;
    }
    *normal = carom_vec(n.x / length, n.y / length, n.z / length);
    return carom_vec_dot(*normal, a);
}

/* Normal and distance of a face. */
CAROM_ITEM void carom_epa_measure(carom_epa_workspace *workspace, uint32_t f) {
    const carom_polytope_face *face = &workspace->polytope.faces[f];
    const carom_convex_vertex *p = workspace->points;
    carom_vec3 n = face->normal;
    workspace->distances[f] =
        carom_epa_distance(p[face->v[0]].w, p[face->v[1]].w, p[face->v[2]].w, &n);
    workspace->normals[f] = n;
}

/* ---- Faces without a heap -------------------------------------------------------------------- */

/* Up to some hundred faces are looked at in vectors faster than a heap is kept in order, which
 * mispredicts branches. Faces that are gone have the distance HUGE_VAL. The face found is that of
 * the heap. */
CAROM_CONVEX_HOT void carom_epa_enter_all(carom_epa_workspace *workspace) {
    carom_polytope *p = &workspace->polytope;
    for (; workspace->cleared < p->face_count; workspace->cleared += CAROM_SCAN_PADDING)
        for (uint32_t i = 0; i < CAROM_SCAN_PADDING; ++i)
            workspace->distances[workspace->cleared + i] = HUGE_VAL;
    for (uint32_t i = 0; i < p->lost_count; ++i) workspace->distances[p->lost[i]] = HUGE_VAL;
    for (uint32_t i = 0; i < p->made_count; ++i) carom_epa_measure(workspace, p->made[i]);
}

CAROM_CONVEX_HOT uint32_t carom_epa_nearest_of_all(const carom_epa_workspace *workspace) {
    const carom_polytope_face *faces = workspace->polytope.faces;
    const double *distances = workspace->distances;
    uint32_t count = workspace->polytope.face_count, best = CAROM_POLYTOPE_NONE;
    double least = carom_scan_least(distances, count);
    for (uint32_t f = carom_scan_equal(distances, 0, count, least); f < count;
         f = carom_scan_equal(distances, f + 1, count, least)) {
        if (faces[f].alive == 0) continue;
        if (best == CAROM_POLYTOPE_NONE || faces[f].alive < faces[best].alive) best = f;
    }
    CAROM_ASSERT(best != CAROM_POLYTOPE_NONE);
    return best;
}

/* Enters the faces that the last point made. */
CAROM_ITEM void carom_epa_enter(carom_epa_workspace *workspace) {
    if (workspace->heap == 0) {
        carom_epa_enter_all(workspace);
        return;
    }
    carom_polytope *p = &workspace->polytope;
    if (workspace->heap_count + p->made_count >
        workspace->heap_capacity) { /* drop those that are gone */
        workspace->heap_count = 0;
        for (uint32_t f = 0; f < p->face_count; ++f) {
            if (p->faces[f].alive == 0) continue;
            int made = 0;
            for (uint32_t i = 0; i < p->made_count; ++i) made |= p->made[i] == f;
            if (made) continue;
            carom_epa_entry e = {workspace->distances[f], f, p->faces[f].alive};
            carom_epa_push(workspace, e);
        }
    }
    for (uint32_t i = 0; i < p->made_count; ++i) {
        uint32_t f = p->made[i];
        carom_epa_measure(workspace, f);
        carom_epa_entry e = {workspace->distances[f], f, p->faces[f].alive};
        carom_epa_push(workspace, e);
    }
}

/* The face nearest to the origin. */
CAROM_ITEM uint32_t carom_epa_nearest(carom_epa_workspace *workspace) {
    if (workspace->heap == 0) return carom_epa_nearest_of_all(workspace);
    for (;;) {
        const carom_epa_entry *e = &workspace->heap[0];
        if (workspace->polytope.faces[e->face].alive == e->alive) return e->face;
        carom_epa_pop(workspace);
    }
}

/* The face through which the ray from the origin along n leaves the polytope. */
CAROM_ITEM uint32_t carom_epa_pierced(const carom_epa_workspace *workspace, carom_vec3 n) {
    uint32_t best = CAROM_POLYTOPE_NONE;
    double least = HUGE_VAL;
    for (uint32_t f = 0; f < workspace->polytope.face_count; ++f) {
        if (workspace->polytope.faces[f].alive == 0) continue;
        double cosine = carom_vec_dot(workspace->normals[f], n);
        if (!(cosine > 0.0)) continue;
        double along = workspace->distances[f] / cosine;
        if (along < least) least = along, best = f;
    }
    return best;
}

/* ---- The search ------------------------------------------------------------------------------ */

/* Completes a simplex around the origin to a tetrahedron p that is not flat. Returns its
 * orientation, or 0 when M is flat up to the tolerance: then e->normal is across it, and the depth
 * is 0. */
CAROM_ITEM int carom_epa_begin(carom_convex_posed_pair *pair, const carom_gjk_simplex *s,
                               carom_convex_vertex *p, carom_epa *e) {
    int count = s->count;
    carom_vec3 across = carom_vec(1.0, 0.0, 0.0);
    double least = HUGE_VAL; /* support value, that of `across` */
    for (int i = 0; i < count; ++i) p[i] = s->p[i];
    if (count == 4) {
        int sign = carom_orient3d(p[0].w, p[1].w, p[2].w, p[3].w);
        if (sign != 0) return sign;
        count = 3;
    }
    for (int tries = 0; tries < 8; ++tries) {
        carom_vec3 n = carom_vec(1.0, 0.0, 0.0);
        carom_vec3 u = carom_vec(0.0, 0.0, 0.0);
        if (count > 1) {
            /* Across the edge; along the axis in which it is shortest where there is only one. */
            u = carom_vec_sub(p[1].w, p[0].w);
            double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
            carom_vec3 axis = x <= y && x <= z ? carom_vec(1.0, 0.0, 0.0)
                              : y <= z         ? carom_vec(0.0, 1.0, 0.0)
                                               : carom_vec(0.0, 0.0, 1.0);
            carom_vec3 v = count > 2 ? carom_vec_sub(p[2].w, p[0].w) : axis;
            n = carom_vec_cross(u, v);
            if (count > 2 && carom_vec_dot(n, n) <= CAROM_EPA_SLIVER_SINE2 * carom_vec_dot(u, u) *
                                                        carom_vec_dot(v, v)) {
                carom_dd3 c =
                    carom_dd3_cross(carom_dd3_diff(p[1].w, p[0].w), carom_dd3_diff(p[2].w, p[0].w));
                n = carom_vec(c.x.high, c.y.high, c.z.high);
            }
            double most = carom_polytope_extent(n);
            if (!(most >
                  CAROM_EPA_LEAST_NORMAL)) { /* the points are in line: one of them is of no use */
                carom_vec3 w = carom_vec_sub(p[count - 1].w, p[0].w);
                if (count > 2 && carom_vec_dot(w, w) > carom_vec_dot(u, u)) p[1] = p[2];
                --count;
                continue;
            }
            n = carom_vec_scale(n, 1.0 / most);
            n = carom_vec_scale(n, 1.0 / carom_vec_length(n));
        }
        carom_convex_vertex out = carom_convex_farthest(pair, n);
        carom_convex_vertex in = carom_convex_farthest(pair, carom_vec_scale(n, -1.0));
        double h = carom_vec_dot(out.w, n), k = -carom_vec_dot(in.w, n);
        e->iterations += 2;
        if (k < h) n = carom_vec_scale(n, -1.0);
        if (CAROM_MIN(h, k) < least) {
            least = CAROM_MIN(h, k);
            across = n;
        }
        if (CAROM_MIN(h, k) <= CAROM_CONVEX_LEAST_LENGTH) { /* the surface is as near as that */
            e->normal = n;
            e->upper = CAROM_MAX(CAROM_MIN(h, k), 0.0);
            e->lower = 0.0;
            return 0;
        }
        p[count] = h > k ? out : in;
        if (++count < 4) continue;
        int sign = carom_orient3d(p[0].w, p[1].w, p[2].w, p[3].w);
        if (sign != 0) return sign;
        count = 3;
    }
    /* Flat beyond the tolerance, by rounding: the best of the directions across. */
    e->normal = across;
    e->upper = carom_vec_dot(carom_convex_farthest(pair, across).w, across);
    e->upper = CAROM_MAX(e->upper, 0.0);
    e->lower = 0.0;
    return 0;
}

/* A face, given by its corners, moved so that the end of the normal is the origin. */
CAROM_ITEM carom_gjk_simplex carom_epa_triangle(const carom_convex_vertex *a,
                                                const carom_convex_vertex *b,
                                                const carom_convex_vertex *c, carom_vec3 end) {
    carom_gjk_simplex s;
    s.count = 3;
    s.p[0] = *a, s.p[1] = *b, s.p[2] = *c;
    for (int i = 0; i < 3; ++i) {
        s.p[i].w = carom_vec_sub(s.p[i].w, end);
        s.vertex_a[i] = s.vertex_b[i] = UINT32_MAX; /* not kept by polytopes */
    }
    return s;
}

/* Whether the end of the normal may lie on a face with this unit normal and distance. */
CAROM_ITEM int carom_epa_may_end_on(const carom_epa *e, carom_vec3 normal, double distance) {
    double cosine = carom_vec_dot(normal, e->normal);
    return distance - e->upper * cosine <= CAROM_EPA_CURVED_BOUND_GAP;
}

/* The point of A where the normal ends, on a face whose nearest point to that end is known. */
CAROM_ITEM void carom_epa_end_on(const carom_gjk_simplex *face,
                                 const carom_gjk_simplex_face *nearest, carom_epa *e) {
    carom_gjk_simplex s = *face;
    carom_vec3 b;
    e->off = sqrt(nearest->square);
    carom_gjk_simplex_keep(&s, nearest);
    if (!carom_gjk_honest(&s)) {
        s = *face;
        carom_gjk_simplex_face careful = carom_gjk_simplex_solve_carefully(&s);
        carom_gjk_simplex_keep(&s, &careful);
    }
    carom_gjk_simplex_witness(&s, &e->point_a, &b);
}

/* The point of A where the normal ends, on the surface of the polytope and of M. Of the faces that
 * lie in one plane there it is on the nearest. */
CAROM_ITEM void carom_epa_finish(const carom_epa_workspace *workspace, carom_epa *e) {
    const carom_polytope_face *best = 0, *face = workspace->polytope.faces;
    const carom_convex_vertex *p = workspace->points;
    double least = HUGE_VAL;
    carom_vec3 end = carom_vec_scale(e->normal, e->upper);
    for (uint32_t f = 0; f < workspace->polytope.face_count; ++f, ++face) {
        if (face->alive == 0) continue;
        if (!carom_epa_may_end_on(e, workspace->normals[f], workspace->distances[f])) continue;
        carom_gjk_simplex s =
            carom_epa_triangle(&p[face->v[0]], &p[face->v[1]], &p[face->v[2]], end);
        double square = carom_gjk_simplex_solve_any(&s).square;
        if (square < least) least = square, best = face;
    }
    if (best == 0) return;
    carom_gjk_simplex s = carom_epa_triangle(&p[best->v[0]], &p[best->v[1]], &p[best->v[2]], end);
    carom_gjk_simplex_face nearest = carom_gjk_simplex_solve_any(&s);
    carom_epa_end_on(&s, &nearest, e);
}

/* Expands a face. Returns 0 when M ends there, up to `close`. */
CAROM_ITEM int carom_epa_expand(carom_convex_posed_pair *pair, carom_epa_workspace *workspace,
                                carom_epa *e, uint32_t f, uint32_t *count, double close) {
    carom_polytope *p = &workspace->polytope;
    carom_vec3 n = workspace->normals[f];
    carom_convex_vertex *next = &workspace->points[*count]; /* there is space: see the callers */
    carom_convex_farthest_into(pair, n, next);
    carom_vec3 w = next->w;
    double h = carom_vec_dot(n, w);
    ++e->iterations;
    if (h < e->upper) {
        e->upper = h;
        e->normal = n;
    }
    if (h - workspace->distances[f] <= close || !carom_polytope_sees(p, f, w)) return 0;
    if (!carom_polytope_add(p, *count, f)) return 0;
    ++*count;
    carom_epa_enter(workspace);
    return 1;
}

/* What is known before the search. */
CAROM_ITEM void carom_epa_clear(carom_epa *e) {
    e->iterations = 0;
    e->full = 0;
    e->off = 0.0;
    e->upper = HUGE_VAL;
    e->lower = 0.0;
    e->normal = carom_vec(1.0, 0.0, 0.0);
}

/* A point of A where the search finds none: that of the origin in the simplex. */
CAROM_ITEM void carom_epa_point_inside(const carom_gjk_simplex *s, carom_epa *e) {
    carom_vec3 b;
    carom_gjk_simplex_witness(s, &e->point_a, &b);
}

/* The depth of the cores from a simplex of GJK that holds the origin. `close` is how far the bounds
 * may stay apart. */
CAROM_CONVEX_COLD void carom_epa_run(carom_convex_posed_pair *pair, const carom_gjk_simplex *s,
                                     carom_epa_workspace *workspace, double close, carom_epa *e) {
    uint32_t count = 4, global = workspace->point_capacity - workspace->local_points;
    carom_epa_clear(e);
    carom_epa_point_inside(s, e);
    int sign = carom_epa_begin(pair, s, workspace->points, e);
    if (sign == 0) return;
    workspace->polytope.points = (const char *)(const void *)workspace->points;
    workspace->polytope.stride = sizeof(*workspace->points);
    workspace->heap_count = workspace->cleared = 0;
    carom_polytope_begin(&workspace->polytope, sign);
    CAROM_ASSERT(workspace->point_capacity >= count && global <= workspace->point_capacity);
    carom_epa_enter(workspace);
    int more = 1;
    while (more) {
        uint32_t f = carom_epa_nearest(workspace);
        e->lower = CAROM_MAX(e->lower, workspace->distances[f]);
        if (e->upper - workspace->distances[f] <= close) break;
        if (count >= global) {
            e->full = 1;
            break;
        }
        more = carom_epa_expand(pair, workspace, e, f, &count, close);
    }
    while (e->full && count < workspace->point_capacity) {
        uint32_t f = carom_epa_pierced(workspace, e->normal);
        if (f == CAROM_POLYTOPE_NONE ||
            !carom_epa_expand(pair, workspace, e, f, &count, CAROM_CONVEX_BOUND_GAP))
            break;
    }
    carom_epa_finish(workspace, e);
}

#endif
