/* SPDX-License-Identifier: MIT */
/* convex_manifold_item.h: contact points, as items.
 *
 * Of all faces of both shapes the one best aligned with the normal is the reference. The
 * other shape's face, or segment, opposite to it is clipped at the planes through the reference's
 * sides along the normal (Sutherland and Hodgman 1974); what is left is on the other shape, and its
 * projection along the normal onto the reference is on that face. So every point lies on its shape,
 * the two of a contact are joined by a multiple of the normal, and margins, which lead from the
 * core along the normal, too, leave it at that. Lengths are in the units of the query
 * (convex_query_item.h) and positions relative to a's origin: areas neither overflow nor underflow,
 * and depths have the rounding of sizes, not of positions.
 *
 * A corner of what is left is a vertex of one face over the other face, or a crossing of an edge of
 * each, whichever of the two is the reference. Clipping keeps account of which: these are the
 * features of a contact, by which it is known again in the next step.
 *
 * Who calls finds the best faces of hulls, in vectors or one by one, and has the room. */
#ifndef CAROM_SRC_CONVEX_MANIFOLD_ITEM_H
#define CAROM_SRC_CONVEX_MANIFOLD_ITEM_H

#include "convex/convex_query_item.h"
#include "geom/length.h"
#include "geom/pose.h"

/* Cosine between normal and face beyond which a face counts as across: 2.6 degrees. */
#define CAROM_MANIFOLD_ACROSS_COSINE 0.999

/* The faces of a polytope as contact points need them, beside the view (convex_item.h). Units of
 * vertices are those of the view. */
typedef struct carom_hull_faces {
    const carom_vec3 *vertices;
    const uint64_t *offsets; /* face f has the corners [offsets[f], offsets[f + 1]) */
    const uint32_t *corners;
    const uint32_t *edges;     /* of each corner: the number of the edge to the next one */
    const carom_vec3 *normals; /* of the faces: unit, outwards; see carom_hull_face_normal */
    const carom_hull_block *normal_blocks; /* the same, the last block filled up with the last one;
                                              NULL where all are looked at */
    uint64_t vertex_count, face_count;
} carom_hull_faces;

/* The face of a hull that is best aligned with a direction. */
typedef struct carom_hull_best {
    uint64_t face; /* UINT64_MAX: none yet */
    carom_vec3 normal;
    double cosine;
} carom_hull_best;

/* A corner of a polygon, with what it and the side to the next corner are: features of the shape
 * itself (convex.h) and, once the polygon is clipped, of the reference. */
typedef struct carom_manifold_corner {
    carom_vec3 at;
    uint32_t own, other; /* features that the corner is on */
    uint32_t side;       /* the edge to the next corner, or the face where clipping made it */
    uint32_t cut; /* the side of the reference that this edge lies along; or the following: none */
} carom_manifold_corner;

#define CAROM_MANIFOLD_NO_CUT UINT32_MAX

/* A polygon, or a segment, in the directions of the world. */
typedef struct carom_manifold_outline {
    carom_manifold_corner *corners;
    uint32_t count;
    uint32_t face;     /* the feature that it is; of a segment its edge */
    carom_vec3 normal; /* outwards; of a segment 0 */
    double aligned;    /* cosine with the wanted direction; below 0: none */
} carom_manifold_outline;

/* Where polygons are clipped: 3 times `most` corners, and `most` points. */
typedef struct carom_manifold_room {
    carom_manifold_corner *corners;
    carom_convex_contact *found;
    uint64_t most;
} carom_manifold_room;

/* What a room needs for two polygons with so many corners together: twice what convex polygons
 * may become, as clipping adds at most one corner per side. */
CAROM_ITEM uint64_t carom_manifold_room_most(uint64_t corners) {
    return 2 * (corners + 8);
}

/* Two posed shapes in the units of the query, relative to a's origin. */
typedef struct carom_manifold_pair {
    carom_convex_core a, b;
    carom_frame frame_a, frame_b;
    carom_vec3 origin; /* of a, in the caller's units */
    double back;       /* of the caller in units of the query */
    double reach;
} carom_manifold_pair;

CAROM_ITEM void carom_manifold_pose(const carom_convex_question_item *q, double reach,
                                    carom_manifold_pair *s) {
    carom_vec3 t = carom_convex_between(q);
    double unit = carom_convex_query_unit(q, t);
    carom_convex_core_make(q->a, q->hull_a, unit, CAROM_CONVEX_SEARCH_AUTO, &s->a);
    carom_convex_core_make(q->b, q->hull_b, unit, CAROM_CONVEX_SEARCH_AUTO, &s->b);
    s->frame_a = carom_frame_make(q->pose_a);
    s->frame_b = carom_frame_make(q->pose_b);
    s->origin = s->frame_a.t;
    s->frame_a.t = carom_vec(0.0, 0.0, 0.0);
    s->frame_b.t = carom_vec_scale(t, unit);
    s->back = 1.0 / unit;
    s->reach = reach * unit;
}

/* ---- Outlines -------------------------------------------------------------------------------- */

CAROM_ITEM carom_vec3 carom_manifold_unit_of(carom_vec3 v) {
    double length = carom_length(v);
    return length > 0.0 ? carom_vec(v.x / length, v.y / length, v.z / length) : v;
}

CAROM_ITEM uint32_t carom_manifold_vertex(uint64_t index) {
    return CAROM_CONVEX_FEATURE_VERTEX | ((uint32_t)index & CAROM_CONVEX_FEATURE_INDEX);
}

CAROM_ITEM uint32_t carom_manifold_edge(uint64_t index) {
    return CAROM_CONVEX_FEATURE_EDGE | ((uint32_t)index & CAROM_CONVEX_FEATURE_INDEX);
}

CAROM_ITEM uint32_t carom_manifold_face(uint64_t index) {
    return CAROM_CONVEX_FEATURE_FACE | ((uint32_t)index & CAROM_CONVEX_FEATURE_INDEX);
}

CAROM_ITEM void carom_manifold_set_corner(carom_manifold_outline *o, uint32_t i, carom_vec3 at,
                                          uint32_t own, uint32_t side) {
    carom_manifold_corner *c = &o->corners[i];
    c->at = at;
    c->own = own;
    c->other = 0;
    c->side = side;
    c->cut = CAROM_MANIFOLD_NO_CUT;
}

/* Looks at one face of a hull: the first of the best aligned ones is kept. */
CAROM_ITEM void carom_hull_look_at_face(const carom_hull_faces *faces, const carom_frame *frame,
                                        carom_vec3 d, uint64_t face, carom_hull_best *best) {
    carom_vec3 n = carom_frame_turn(frame, faces->normals[face]);
    double value = carom_vec_dot(n, d);
    if (best->face != UINT64_MAX && !(value > best->cosine)) return;
    best->face = face;
    best->cosine = value;
    best->normal = n;
}

/* The edge of a box between two vertices: of the axes in which they differ, the first along which
 * the box has an extent. */
CAROM_ITEM uint32_t carom_manifold_box_edge(uint32_t v, uint32_t w, const double *half) {
    int axis = -1;
    for (int i = 0; i < 3; ++i)
        if (((v ^ w) >> i & 1u) != 0 && (axis < 0 || !(half[axis] > 0.0))) axis = i;
    uint32_t first = (uint32_t)(axis + 1) % 3, second = (uint32_t)(axis + 2) % 3;
    return carom_manifold_edge(4 * (uint32_t)axis + (v >> first & 1u) + 2 * (v >> second & 1u));
}

CAROM_ITEM void carom_manifold_outline_box(const carom_convex_core *s, const carom_frame *f,
                                           carom_vec3 d, carom_manifold_outline *o) {
    carom_vec3 local = carom_vec((f->r[0] * d.x + f->r[3] * d.y) + f->r[6] * d.z,
                                 (f->r[1] * d.x + f->r[4] * d.y) + f->r[7] * d.z,
                                 (f->r[2] * d.x + f->r[5] * d.y) + f->r[8] * d.z);
    const double x[3] = {local.x, local.y, local.z}, h[3] = {s->half.x, s->half.y, s->half.z};
    uint32_t vertices[4];
    int axis = 0;
    for (int i = 1; i < 3; ++i)
        if (fabs(x[i]) > fabs(x[axis])) axis = i;
    double sign = x[axis] < 0.0 ? -1.0 : 1.0;
    for (uint32_t i = 0; i < 4; ++i) {
        double p[3];
        p[axis] = sign * h[axis];
        p[(axis + 1) % 3] = (i == 0 || i == 3 ? -1.0 : 1.0) * sign * h[(axis + 1) % 3];
        p[(axis + 2) % 3] = (i < 2 ? -1.0 : 1.0) * h[(axis + 2) % 3];
        o->corners[i].at = carom_frame_apply(f, carom_vec(p[0], p[1], p[2]));
        bool up = (i != 0 && i != 3) == (sign > 0.0);
        vertices[i] = (sign > 0.0 ? 1u : 0u) << axis | (up ? 1u : 0u) << (axis + 1) % 3 |
                      (i < 2 ? 0u : 1u) << (axis + 2) % 3;
    }
    double n[3] = {0.0, 0.0, 0.0};
    n[axis] = sign;
    o->normal = carom_frame_turn(f, carom_vec(n[0], n[1], n[2]));
    o->aligned = fabs(x[axis]);
    o->count = 4;
    o->face = carom_manifold_face(2 * (uint32_t)axis + (sign > 0.0 ? 1 : 0));
    if (!(h[(axis + 1) % 3] > 0.0 && h[(axis + 2) % 3] > 0.0)) {
        /* The face has no area: a segment or a point. */
        o->aligned = -1.0;
        o->corners[1].at = o->corners[2].at;
        vertices[1] = vertices[2];
        o->count = h[(axis + 1) % 3] > 0.0 || h[(axis + 2) % 3] > 0.0 ? 2 : 1;
        o->face = carom_manifold_box_edge(vertices[0], vertices[1], h);
    }
    for (uint32_t i = 0; i < o->count; ++i)
        carom_manifold_set_corner(
            o, i, o->corners[i].at, carom_manifold_vertex(vertices[i]),
            o->count > 1 ? carom_manifold_box_edge(vertices[i], vertices[(i + 1) % o->count], h)
                         : o->face);
}

/* `best` is the best face of a hull that has faces. */
CAROM_ITEM void carom_manifold_outline_hull(const carom_hull_faces *h, const carom_hull_best *best,
                                            double unit, const carom_frame *f,
                                            carom_manifold_outline *o) {
    if (h->face_count == 0) { /* a segment or a point */
        o->count = (uint32_t)h->vertex_count;
        o->face = carom_manifold_edge(0);
        for (uint32_t i = 0; i < o->count; ++i)
            carom_manifold_set_corner(o, i,
                                      carom_frame_apply(f, carom_vec_scale(h->vertices[i], unit)),
                                      carom_manifold_vertex(i), o->face);
        return;
    }
    const uint32_t *corners = h->corners + h->offsets[best->face];
    const uint32_t *edges = h->edges + h->offsets[best->face];
    o->count = (uint32_t)(h->offsets[best->face + 1] - h->offsets[best->face]);
    o->face = carom_manifold_face(best->face);
    o->normal = best->normal;
    o->aligned = best->cosine;
    for (uint32_t i = 0; i < o->count; ++i)
        carom_manifold_set_corner(
            o, i, carom_frame_apply(f, carom_vec_scale(h->vertices[corners[i]], unit)),
            carom_manifold_vertex(corners[i]), carom_manifold_edge(edges[i]));
}

/* The face of a shape most across the direction d, or its segment; no corners for curved shapes.
 * `best` is that of hulls. */
CAROM_ITEM void carom_manifold_outline_of(const carom_hull_faces *faces,
                                          const carom_hull_best *best, const carom_convex_core *s,
                                          const carom_frame *f, carom_vec3 d,
                                          carom_manifold_outline *o) {
    o->count = 0;
    o->aligned = -1.0;
    o->normal = carom_vec(0.0, 0.0, 0.0);
    if (s->kind == CAROM_CONVEX_KIND_BOX) {
        carom_manifold_outline_box(s, f, d, o);
    } else if (s->kind == CAROM_CONVEX_KIND_HULL) {
        carom_manifold_outline_hull(faces, best, s->hull_unit, f, o);
    } else if (s->kind == CAROM_CONVEX_KIND_SEGMENT) { /* or a capsule */
        o->face = carom_manifold_edge(0);
        carom_manifold_set_corner(o, 0, carom_frame_apply(f, carom_vec(0.0, 0.0, -s->half_height)),
                                  carom_manifold_vertex(0), o->face);
        carom_manifold_set_corner(o, 1, carom_frame_apply(f, carom_vec(0.0, 0.0, s->half_height)),
                                  carom_manifold_vertex(1), o->face);
        o->count = 2;
    }
}

/* ---- Clipping -------------------------------------------------------------------------------- */

/* Where an edge of a clipped polygon crosses a side of the reference. An edge that lies along
 * another side of the reference crosses this one in the corner between them: a vertex of the
 * reference, over the face. */
CAROM_ITEM void carom_manifold_set_crossing(const carom_manifold_outline *reference, uint32_t side,
                                            const carom_manifold_corner *edge,
                                            carom_manifold_corner *crossing) {
    uint32_t count = reference->count, cut = edge->cut;
    crossing->own = edge->side;
    crossing->other = reference->corners[side].side;
    if (cut == CAROM_MANIFOLD_NO_CUT) return;
    if ((cut + 1) % count == side)
        crossing->other = reference->corners[side].own;
    else if ((side + 1) % count == cut)
        crossing->other = reference->corners[cut].own;
}

/* Keeps the part of a polygon or segment with product at most `limit` along the normal of a side of
 * the reference. What is beyond it by rounding alone is kept as it is: a segment may lie along a
 * side. `face` is the feature that the polygon is. */
CAROM_ITEM uint32_t carom_manifold_clip(const carom_manifold_corner *from, uint32_t count,
                                        uint32_t face, const carom_manifold_outline *reference,
                                        uint32_t side, carom_vec3 normal, double limit,
                                        carom_manifold_corner *to) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 p = from[i].at, q = from[i + 1 < count ? i + 1 : 0].at;
        double x = carom_vec_dot(normal, p) - limit, y = carom_vec_dot(normal, q) - limit;
        if (x <= CAROM_CONVEX_ROUNDING) to[kept++] = from[i];
        if (count < 3 && i == count - 1) break; /* a segment has no way back */
        if ((x < 0.0 && y > CAROM_CONVEX_ROUNDING) || (x > CAROM_CONVEX_ROUNDING && y < 0.0)) {
            double t = x / (x - y);
            to[kept] = from[i];
            to[kept].at = carom_vec_add(p, carom_vec_scale(carom_vec_sub(q, p), t));
            carom_manifold_set_crossing(reference, side, &from[i], &to[kept++]);
        }
        if (x <= CAROM_CONVEX_ROUNDING && y > CAROM_CONVEX_ROUNDING) { /* on along the side */
            to[kept - 1].side = face;
            to[kept - 1].cut = side;
        }
    }
    return kept;
}

/* Clips `o` at the sides of the reference, continued in the direction `along`; the corners end in
 * one of two positions. */
CAROM_ITEM uint32_t carom_manifold_clip_all(const carom_manifold_outline *reference,
                                            carom_vec3 along, carom_manifold_outline *o,
                                            carom_manifold_corner *other, uint64_t most,
                                            carom_manifold_corner **left) {
    carom_manifold_corner *from = o->corners, *to = other;
    uint32_t count = o->count;
    for (uint32_t i = 0; i < count; ++i) from[i].other = reference->face;
    for (uint32_t i = 0; i < reference->count && count != 0; ++i) {
        carom_vec3 a = reference->corners[i].at;
        carom_vec3 b = reference->corners[i + 1 < reference->count ? i + 1 : 0].at;
        carom_vec3 side = carom_manifold_unit_of(carom_vec_cross(carom_vec_sub(b, a), along));
        count = carom_manifold_clip(from, count, o->face, reference, i, side,
                                    carom_vec_dot(side, a), to);
        CAROM_ASSERT(count <= most);
        carom_manifold_corner *swap = from;
        from = to;
        to = swap;
    }
    (void)most;
    *left = from;
    return count;
}

/* ---- Four of many ---------------------------------------------------------------------------- */

/* The power of two that brings the distances of points to about 1, so that areas are in range. */
CAROM_ITEM double carom_manifold_spread_unit(const carom_convex_contact *p, uint32_t count) {
    double most = 0.0;
    for (uint32_t i = 1; i < count; ++i)
        most = CAROM_MAX(most, carom_vec_largest(carom_vec_sub(p[i].point_b, p[0].point_b)));
    return carom_power_of_two(-carom_exponent(most));
}

/* How well a point serves as the next: the deepest, the farthest from it, and the ones that make
 * the largest triangles with these on both sides. */
CAROM_ITEM double carom_manifold_worth(const carom_convex_contact *p, uint32_t slot, uint32_t i,
                                       carom_vec3 n, double unit) {
    carom_vec3 to[3]; /* from the first point to the second, the third and this one */
    to[0] = to[1] = carom_vec(0.0, 0.0, 0.0);
    for (uint32_t k = 1; k < slot; ++k)
        to[k - 1] = carom_vec_scale(carom_vec_sub(p[k].point_b, p[0].point_b), unit);
    to[2] = carom_vec_scale(carom_vec_sub(p[i].point_b, p[0].point_b), unit);
    if (slot == 0) return p[i].depth;
    if (slot == 1) return carom_vec_dot(to[2], to[2]);
    double area = carom_vec_dot(carom_vec_cross(to[0], to[2]), n);
    if (slot == 2) return area;
    return carom_vec_dot(carom_vec_cross(to[0], to[1]), n) < 0.0 ? area : -area;
}

/* Moves the points to keep to the front: the deepest, the farthest from it, and those that make the
 * largest triangles with these. Ties take the first. Returns their number, at most
 * CAROM_CONVEX_MOST_CONTACTS. */
CAROM_ITEM uint32_t carom_convex_choose_points(carom_convex_contact *p, uint32_t count,
                                               carom_vec3 n) {
    if (count <= CAROM_CONVEX_MOST_CONTACTS) return count;
    double unit = carom_manifold_spread_unit(p, count);
    for (uint32_t slot = 0; slot < CAROM_CONVEX_MOST_CONTACTS; ++slot) {
        uint32_t best = slot;
        double most = -HUGE_VAL;
        for (uint32_t i = slot; i < count; ++i) {
            double value = carom_manifold_worth(p, slot, i, n, unit);
            if (value > most) {
                most = value;
                best = i;
            }
        }
        carom_convex_contact swap = p[slot];
        p[slot] = p[best];
        p[best] = swap;
    }
    return CAROM_CONVEX_MOST_CONTACTS;
}

/* ---- The manifold ---------------------------------------------------------------------------- */

/* The points of the two faces, whose corners are the first and the second `most` of the room, along
 * the normal n; 0 where no face is across it. They are the first of room->found. */
CAROM_ITEM uint32_t carom_manifold_face_points(const carom_manifold_pair *s, carom_vec3 n,
                                               carom_manifold_outline *oa,
                                               carom_manifold_outline *ob,
                                               const carom_manifold_room *room) {
    if (oa->count == 0 || ob->count == 0 ||
        (oa->aligned < CAROM_MANIFOLD_ACROSS_COSINE && ob->aligned < CAROM_MANIFOLD_ACROSS_COSINE))
        return 0;
    bool flip = ob->aligned > oa->aligned;
    const carom_manifold_outline *reference = flip ? ob : oa;
    carom_vec3 along = flip ? carom_vec_scale(n, -1.0) : n, r = reference->normal;
    carom_vec3 origin = reference->corners[0].at;
    carom_manifold_corner *left;
    uint32_t kept = 0;
    uint32_t count = carom_manifold_clip_all(reference, along, flip ? oa : ob,
                                             room->corners + 2 * room->most, room->most, &left);
    double cosine = carom_vec_dot(r, along);
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 p = left[i].at;
        double above = carom_vec_dot(r, carom_vec_sub(p, origin)) / cosine;
        double depth = s->a.margin + s->b.margin - above;
        if (-depth > s->reach) continue;
        carom_vec3 on = carom_vec_sub(p, carom_vec_scale(along, above));
        carom_vec3 a = carom_vec_add(flip ? p : on, carom_vec_scale(n, s->a.margin));
        carom_vec3 b = carom_vec_sub(flip ? on : p, carom_vec_scale(n, s->b.margin));
        carom_convex_contact *c = &room->found[kept++];
        c->point_a = carom_vec_add(carom_vec_scale(a, s->back), s->origin);
        c->point_b = carom_vec_add(carom_vec_scale(b, s->back), s->origin);
        c->depth = depth * s->back;
        c->feature_a = flip ? left[i].own : left[i].other;
        c->feature_b = flip ? left[i].other : left[i].own;
    }
    return carom_convex_choose_points(room->found, kept, n);
}

/* The one point where there is none of faces: those of the result. */
CAROM_ITEM void carom_manifold_result_point(const carom_convex_result *r,
                                            carom_convex_contact *to) {
    to->point_a = r->point_a;
    to->point_b = r->point_b;
    to->depth = r->depth - r->distance;
    to->feature_a = 0;
    to->feature_b = 0;
}

#endif
