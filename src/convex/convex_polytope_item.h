/* SPDX-License-Identifier: MIT */
/* convex_polytope_item.h: a convex polytope that grows by one point at a time, as items.
 *
 * Which faces a new point sees is decided by exact predicates on the points as they are. So the
 * polytope is always the exact hull of its points: what is seen is one patch, its border one simple
 * loop, and no face is degenerate (a point in line with an edge sees neither of its faces). Nothing
 * can fail but the workspace for faces.
 *
 * Faces are triangles, seen counter-clockwise from outside; next[i] lies across the edge from v[i]
 * to v[(i + 1) % 3]. */
#ifndef CAROM_SRC_CONVEX_POLYTOPE_ITEM_H
#define CAROM_SRC_CONVEX_POLYTOPE_ITEM_H

#include "geom/orient.h"

#define CAROM_POLYTOPE_NONE UINT32_MAX

/* Rounding of a face's side of a point, in units of the product of its edges' largest components:
 * 8 units of 2^-53 for each component of the normal, times 6 for the product with a difference of
 * at most 2, and 48 for the roundings of that product: below 2^-46. */
#define CAROM_POLYTOPE_ERROR 0x1p-45

typedef struct carom_polytope_face {
    uint32_t v[3], next[3];
    uint32_t seen;     /* by the point of this number: its mark while the patch is collected */
    uint32_t alive;    /* 0: free, and next[0] is the next free one; else a number of its own */
    carom_vec3 normal; /* (v1 - v0) x (v2 - v0), rounded */
    double error;      /* of the normal's product with a point minus v0 */
} carom_polytope_face;

typedef struct carom_polytope {
    const char *points; /* carom_vec3 at every `stride` bytes, coordinates at most 1 */
    size_t stride;
    carom_polytope_face *faces;
    uint32_t face_count, face_capacity; /* used so far */
    uint32_t free_face;
    uint32_t numbered; /* faces made so far */
    uint32_t *border;  /* 3 per face of the capacity: the face beyond, and the edge's ends */
    uint32_t *from;    /* per point: the new face that starts there */
    uint32_t *made;    /* workspace for all faces: those that the last point made */
    uint32_t made_count;
    uint32_t *lost; /* the same: those that it removed */
    uint32_t lost_count;
} carom_polytope;

CAROM_ITEM carom_vec3 carom_polytope_point(const carom_polytope *p, uint32_t i) {
    return *(const carom_vec3 *)(const void *)(p->points + i * p->stride);
}

CAROM_ITEM double carom_polytope_extent(carom_vec3 e) {
    double x = fabs(e.x), y = fabs(e.y), z = fabs(e.z);
    return CAROM_MAX(x, CAROM_MAX(y, z));
}

CAROM_ITEM uint32_t carom_polytope_face_take(carom_polytope *p) {
    uint32_t f = p->free_face;
    if (f != CAROM_POLYTOPE_NONE)
        p->free_face = p->faces[f].next[0];
    else
        f = p->face_count++;
    p->faces[f].alive = ++p->numbered;
    p->faces[f].seen = CAROM_POLYTOPE_NONE;
    return f;
}

/* The normal of the plane through three points, rounded, and its error. */
CAROM_ITEM carom_vec3 carom_polytope_plane(carom_vec3 a, carom_vec3 b, carom_vec3 c,
                                           double *error) {
    carom_vec3 u = carom_vec_sub(b, a), v = carom_vec_sub(c, a);
    *error = CAROM_POLYTOPE_ERROR * carom_polytope_extent(u) * carom_polytope_extent(v) +
             CAROM_ORIENT_UNDERFLOW;
    return carom_vec_cross(u, v);
}

CAROM_ITEM void carom_polytope_link(carom_polytope *p, uint32_t f, uint32_t a, uint32_t b,
                                    uint32_t c, uint32_t across_ab, uint32_t across_bc,
                                    uint32_t across_ca) {
    carom_polytope_face *face = &p->faces[f];
    face->v[0] = a, face->v[1] = b, face->v[2] = c;
    face->next[0] = across_ab, face->next[1] = across_bc, face->next[2] = across_ca;
    face->normal = carom_polytope_plane(carom_polytope_point(p, a), carom_polytope_point(p, b),
                                        carom_polytope_point(p, c), &face->error);
}

/* Whether a point lies strictly outside the plane of a face; exact. */
CAROM_ITEM int carom_polytope_sees(const carom_polytope *p, uint32_t f, carom_vec3 w) {
    const carom_polytope_face *face = &p->faces[f];
    carom_vec3 o = carom_polytope_point(p, face->v[0]);
    double side = carom_vec_dot(face->normal, carom_vec_sub(w, o));
    if (side > face->error) return 1;
    if (side < -face->error) return 0;
    return carom_orient3d(o, carom_polytope_point(p, face->v[1]),
                          carom_polytope_point(p, face->v[2]), w) > 0;
}

/* Starts with the tetrahedron of the points 0 to 3, of orientation `sign`, which is not 0
 * (carom_orient3d). */
CAROM_ITEM void carom_polytope_begin(carom_polytope *p, int sign) {
    uint32_t a = 0, b = sign > 0 ? 2 : 1, c = sign > 0 ? 1 : 2, d = 3;
    p->face_count = p->numbered = 0;
    p->free_face = CAROM_POLYTOPE_NONE;
    p->made_count = p->lost_count = 0;
    /* d is on the inner side of a, b, c. */
    for (int i = 0; i < 4; ++i) p->made[p->made_count++] = carom_polytope_face_take(p);
    carom_polytope_link(p, 0, a, b, c, 1, 2, 3);
    carom_polytope_link(p, 1, b, a, d, 0, 3, 2);
    carom_polytope_link(p, 2, c, b, d, 0, 1, 3);
    carom_polytope_link(p, 3, a, c, d, 0, 2, 1);
}

/* Replaces the seen faces by those from the border to the new point. */
CAROM_ITEM int carom_polytope_close(carom_polytope *p, uint32_t point, uint32_t edges) {
    if (p->face_count + edges > p->face_capacity + p->lost_count) {
        for (uint32_t i = 0; i < p->lost_count; ++i)
            p->faces[p->lost[i]].seen = CAROM_POLYTOPE_NONE;
        return 0;
    }
    CAROM_ASSERT(edges >= 3 && p->made_count == 0); /* the border is one closed loop */
    for (uint32_t i = 0; i < p->lost_count; ++i) {
        carom_polytope_face *face = &p->faces[p->lost[i]];
        face->alive = 0;
        face->next[0] = p->free_face;
        p->free_face = p->lost[i];
    }
    for (uint32_t i = 0; i < edges; ++i) {
        uint32_t beyond = p->border[3 * i], u = p->border[3 * i + 1], v = p->border[3 * i + 2];
        uint32_t f = carom_polytope_face_take(p);
        carom_polytope_face *other = &p->faces[beyond];
        p->made[p->made_count++] = f;
        carom_polytope_link(p, f, u, v, point, beyond, CAROM_POLYTOPE_NONE, CAROM_POLYTOPE_NONE);
        for (int k = 0; k < 3; ++k)
            if (other->v[k] == v && other->v[(k + 1) % 3] == u) other->next[k] = f;
        p->from[u] = f;
    }
    for (uint32_t i = 0; i < edges; ++i) {
        uint32_t f = p->made[i], after = p->from[p->faces[f].v[1]];
        CAROM_ASSERT(p->faces[after].v[0] == p->faces[f].v[1] && p->faces[after].v[2] == point);
        p->faces[f].next[1] = after;
        p->faces[after].next[2] = f;
    }
    return 1;
}

/* Adds a point that the live face `start` sees. Returns 0 when there is no workspace for its faces;
 * the polytope is then as it was. Two faces per point suffice. */
CAROM_ITEM int carom_polytope_add(carom_polytope *p, uint32_t point, uint32_t start) {
    carom_vec3 w = carom_polytope_point(p, point);
    uint32_t edges = 0;
    p->made_count = 0;
    p->lost[0] = start;
    p->lost_count = 1;
    p->faces[start].seen = point;
    for (uint32_t at = 0; at < p->lost_count; ++at) {
        const carom_polytope_face *face = &p->faces[p->lost[at]];
        CAROM_ASSERT(face->alive != 0);
        for (int i = 0; i < 3; ++i) {
            uint32_t beyond = face->next[i];
            if (p->faces[beyond].seen == point) continue;
            if (carom_polytope_sees(p, beyond, w)) {
                p->faces[beyond].seen = point;
                p->lost[p->lost_count++] = beyond;
                continue;
            }
            p->border[3 * edges] = beyond;
            p->border[3 * edges + 1] = face->v[i];
            p->border[3 * edges + 2] = face->v[(i + 1) % 3];
            ++edges;
        }
    }
    return carom_polytope_close(p, point, edges);
}

#endif
