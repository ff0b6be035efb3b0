/* SPDX-License-Identifier: MIT */
/* Contact points.
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
 * features of a contact, by which it is known again in the next step. */
#include <float.h>
#include <string.h>

#include "base/context.h"
#include "convex/convex.h"
#include "convex/convex_cpu.h"
#include "geom/length.h"
#include "geom/pose.h"

/* Cosine between normal and face beyond which a face counts as across: 2.6 degrees. */
#define ACROSS_COSINE 0.999

/* A corner of a polygon, with what it and the side to the next corner are: features of the shape
 * itself (convex.h) and, once the polygon is clipped, of the reference. */
typedef struct outline_corner {
    carom_vec3 at;
    uint32_t own, other; /* features that the corner is on */
    uint32_t side;       /* the edge to the next corner, or the face where clipping made it */
    uint32_t cut; /* the side of the reference that this edge lies along; OUTLINE_NO_CUT: none */
} outline_corner;

#define OUTLINE_NO_CUT UINT32_MAX

/* A polygon, or a segment, in the directions of the world. */
typedef struct outline {
    outline_corner *corners;
    uint32_t count;
    uint32_t face;     /* the feature that it is; of a segment its edge */
    carom_vec3 normal; /* outwards; of a segment 0 */
    double aligned;    /* cosine with the wanted direction; below 0: none */
} outline;

/* ---- Outlines -------------------------------------------------------------------------------- */

static carom_vec3 convex_manifold_unit_of(carom_vec3 v) {
    double length = carom_length(v);
    return length > 0.0 ? carom_vec(v.x / length, v.y / length, v.z / length) : v;
}

static uint32_t vertex_feature(uint64_t index) {
    return CAROM_CONVEX_FEATURE_VERTEX | ((uint32_t)index & CAROM_CONVEX_FEATURE_INDEX);
}

static uint32_t edge_feature(uint64_t index) {
    return CAROM_CONVEX_FEATURE_EDGE | ((uint32_t)index & CAROM_CONVEX_FEATURE_INDEX);
}

static uint32_t face_feature(uint64_t index) {
    return CAROM_CONVEX_FEATURE_FACE | ((uint32_t)index & CAROM_CONVEX_FEATURE_INDEX);
}

static void set_corner(outline *o, uint32_t i, carom_vec3 at, uint32_t own, uint32_t side) {
    o->corners[i] = (outline_corner){at, own, 0, side, OUTLINE_NO_CUT};
}

/* The edge of a box between two vertices: of the axes in which they differ, the first along which
 * the box has an extent. */
static uint32_t box_edge(uint32_t v, uint32_t w, const double *half) {
    int axis = -1;
    for (int i = 0; i < 3; ++i)
        if (((v ^ w) >> i & 1u) != 0 && (axis < 0 || !(half[axis] > 0.0))) axis = i;
    uint32_t first = (uint32_t)(axis + 1) % 3, second = (uint32_t)(axis + 2) % 3;
    return edge_feature(4 * (uint32_t)axis + (v >> first & 1u) + 2 * (v >> second & 1u));
}

static void box_outline(const carom_convex_core *s, const carom_frame *f, carom_vec3 d,
                        outline *o) {
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
    o->face = face_feature(2 * (uint32_t)axis + (sign > 0.0 ? 1 : 0));
    if (!(h[(axis + 1) % 3] > 0.0 && h[(axis + 2) % 3] > 0.0)) {
        /* The face has no area: a segment or a point. */
        o->aligned = -1.0;
        o->corners[1].at = o->corners[2].at;
        vertices[1] = vertices[2];
        o->count = h[(axis + 1) % 3] > 0.0 || h[(axis + 2) % 3] > 0.0 ? 2 : 1;
        o->face = box_edge(vertices[0], vertices[1], h);
    }
    for (uint32_t i = 0; i < o->count; ++i)
        set_corner(o, i, o->corners[i].at, vertex_feature(vertices[i]),
                   o->count > 1 ? box_edge(vertices[i], vertices[(i + 1) % o->count], h) : o->face);
}

static void hull_outline(const carom_context *context, const carom_hull_faces *h, double unit,
                         const carom_frame *f, carom_vec3 d, outline *o) {
    if (h->face_count == 0) { /* a segment or a point */
        o->count = (uint32_t)h->vertex_count;
        o->face = edge_feature(0);
        for (uint32_t i = 0; i < o->count; ++i)
            set_corner(o, i, carom_frame_apply(f, carom_vec_scale(h->vertices[i], unit)),
                       vertex_feature(i), o->face);
        return;
    }
    uint64_t best = CAROM_CPU_CALL(context, carom_hull_best_face)(h, f, d, &o->normal, &o->aligned);
    const uint32_t *corners = h->corners + h->offsets[best], *edges = h->edges + h->offsets[best];
    o->count = (uint32_t)(h->offsets[best + 1] - h->offsets[best]);
    o->face = face_feature(best);
    for (uint32_t i = 0; i < o->count; ++i)
        set_corner(o, i, carom_frame_apply(f, carom_vec_scale(h->vertices[corners[i]], unit)),
                   vertex_feature(corners[i]), edge_feature(edges[i]));
}

/* The face of a shape most across the direction d, or its segment; no corners for curved shapes. */
static void outline_of(const carom_context *context, const carom_hull_faces *faces,
                       const carom_convex_core *s, const carom_frame *f, carom_vec3 d, outline *o) {
    o->count = 0;
    o->aligned = -1.0;
    o->normal = carom_vec(0.0, 0.0, 0.0);
    if (s->kind == CAROM_CONVEX_KIND_BOX) {
        box_outline(s, f, d, o);
    } else if (s->kind == CAROM_CONVEX_KIND_HULL) {
        hull_outline(context, faces, s->hull_unit, f, d, o);
    } else if (s->kind == CAROM_CONVEX_KIND_SEGMENT) { /* or a capsule */
        o->face = edge_feature(0);
        set_corner(o, 0, carom_frame_apply(f, carom_vec(0.0, 0.0, -s->half_height)),
                   vertex_feature(0), o->face);
        set_corner(o, 1, carom_frame_apply(f, carom_vec(0.0, 0.0, s->half_height)),
                   vertex_feature(1), o->face);
        o->count = 2;
    }
}

static uint64_t most_corners(const carom_convex *s, const carom_hull_faces *faces) {
    return s->kind == CAROM_CONVEX_KIND_HULL ? faces->vertex_count + 2 : 4;
}

/* ---- Clipping -------------------------------------------------------------------------------- */

/* Where an edge of a clipped polygon crosses a side of the reference. An edge that lies along
 * another side of the reference crosses this one in the corner between them: a vertex of the
 * reference, over the face. */
static void set_crossing(const outline *reference, uint32_t side, const outline_corner *edge,
                         outline_corner *crossing) {
    uint32_t count = reference->count, cut = edge->cut;
    crossing->own = edge->side;
    crossing->other = reference->corners[side].side;
    if (cut == OUTLINE_NO_CUT) return;
    if ((cut + 1) % count == side)
        crossing->other = reference->corners[side].own;
    else if ((side + 1) % count == cut)
        crossing->other = reference->corners[cut].own;
}

/* Keeps the part of a polygon or segment with product at most `limit` along the normal of a side of
 * the reference. What is beyond it by rounding alone is kept as it is: a segment may lie along a
 * side. `face` is the feature that the polygon is. */
static uint32_t convex_manifold_clip(const outline_corner *from, uint32_t count, uint32_t face,
                                     const outline *reference, uint32_t side, carom_vec3 normal,
                                     double limit, outline_corner *to) {
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
            set_crossing(reference, side, &from[i], &to[kept++]);
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
static uint32_t clip_at(const outline *reference, carom_vec3 along, outline *o,
                        outline_corner *other, outline_corner **left) {
    outline_corner *from = o->corners, *to = other;
    uint32_t count = o->count;
    for (uint32_t i = 0; i < count; ++i) from[i].other = reference->face;
    for (uint32_t i = 0; i < reference->count && count != 0; ++i) {
        carom_vec3 a = reference->corners[i].at;
        carom_vec3 b = reference->corners[i + 1 < reference->count ? i + 1 : 0].at;
        carom_vec3 side = convex_manifold_unit_of(carom_vec_cross(carom_vec_sub(b, a), along));
        count = convex_manifold_clip(from, count, o->face, reference, i, side,
                                     carom_vec_dot(side, a), to);
        outline_corner *swap = from;
        from = to;
        to = swap;
    }
    *left = from;
    return count;
}

/* ---- Four of many ---------------------------------------------------------------------------- */

/* The power of two that brings the distances of points to about 1, so that areas are in range. */
static double spread_unit(const carom_convex_contact *p, uint32_t count) {
    double most = 0.0;
    for (uint32_t i = 1; i < count; ++i)
        most = CAROM_MAX(most, carom_vec_largest(carom_vec_sub(p[i].point_b, p[0].point_b)));
    return carom_power_of_two(-carom_exponent(most));
}

/* How well a point serves as the next: the deepest, the farthest from it, and the ones that make
 * the largest triangles with these on both sides. */
static double worth(const carom_convex_contact *p, uint32_t slot, uint32_t i, carom_vec3 n,
                    double unit) {
    carom_vec3 to[3] = {{0}}; /* from the first point to the second, the third and this one */
    for (uint32_t k = 1; k < slot; ++k)
        to[k - 1] = carom_vec_scale(carom_vec_sub(p[k].point_b, p[0].point_b), unit);
    to[2] = carom_vec_scale(carom_vec_sub(p[i].point_b, p[0].point_b), unit);
    if (slot == 0) return p[i].depth;
    if (slot == 1) return carom_vec_dot(to[2], to[2]);
    double area = carom_vec_dot(carom_vec_cross(to[0], to[2]), n);
    if (slot == 2) return area;
    return carom_vec_dot(carom_vec_cross(to[0], to[1]), n) < 0.0 ? area : -area;
}

/* Ties take the first. */
uint32_t carom_convex_choose_points(carom_convex_contact *p, uint32_t count, carom_vec3 n) {
    if (count <= CAROM_CONVEX_MOST_CONTACTS) return count;
    double unit = spread_unit(p, count);
    for (uint32_t slot = 0; slot < CAROM_CONVEX_MOST_CONTACTS; ++slot) {
        uint32_t best = slot;
        double most = -HUGE_VAL;
        for (uint32_t i = slot; i < count; ++i) {
            double value = worth(p, slot, i, n, unit);
            if (value > most) most = value, best = i;
        }
        carom_convex_contact swap = p[slot];
        p[slot] = p[best];
        p[best] = swap;
    }
    return CAROM_CONVEX_MOST_CONTACTS;
}

/* ---- The manifold ---------------------------------------------------------------------------- */

/* Two posed shapes in the units of the query, relative to a's origin. */
typedef struct convex_posed_pair {
    carom_convex_core a, b;
    carom_frame frame_a, frame_b;
    carom_vec3 origin; /* of a, in the caller's units */
    double back;       /* of the caller in units of the query */
    double reach;
} convex_posed_pair;

static void pose_shapes(const carom_convex_question_item *q, double reach, convex_posed_pair *s) {
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

/* A contact in the caller's units; its features are set later. */
static carom_convex_contact contact_of(const convex_posed_pair *s, carom_vec3 a, carom_vec3 b,
                                       double depth) {
    return (carom_convex_contact){.point_a = carom_vec_add(carom_vec_scale(a, s->back), s->origin),
                                  .point_b = carom_vec_add(carom_vec_scale(b, s->back), s->origin),
                                  .depth = depth * s->back};
}

/* The points of faces; 0 where no face is across the normal. */
static uint32_t face_points(const carom_context *context, const carom_convex_question_item *q,
                            const carom_hull_faces *faces_a, const carom_hull_faces *faces_b,
                            double reach, outline_corner *workspace, uint64_t most,
                            carom_convex_contact *found, carom_vec3 n) {
    outline oa = {.corners = workspace}, ob = {.corners = workspace + most};
    carom_vec3 back = carom_vec_scale(n, -1.0);
    outline_corner *left;
    convex_posed_pair s;
    pose_shapes(q, reach, &s);
    outline_of(context, faces_a, &s.a, &s.frame_a, n, &oa);
    outline_of(context, faces_b, &s.b, &s.frame_b, back, &ob);
    if (oa.count == 0 || ob.count == 0 ||
        (oa.aligned < ACROSS_COSINE && ob.aligned < ACROSS_COSINE))
        return 0;
    bool flip = ob.aligned > oa.aligned;
    const outline *reference = flip ? &ob : &oa;
    carom_vec3 along = flip ? back : n, r = reference->normal, origin = reference->corners[0].at;
    uint32_t kept = 0;
    uint32_t count = clip_at(reference, along, flip ? &oa : &ob, workspace + 2 * most, &left);
    double cosine = carom_vec_dot(r, along);
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 p = left[i].at;
        double above = carom_vec_dot(r, carom_vec_sub(p, origin)) / cosine;
        double depth = s.a.margin + s.b.margin - above;
        if (-depth > s.reach) continue;
        carom_vec3 on = carom_vec_sub(p, carom_vec_scale(along, above));
        carom_vec3 a = flip ? p : on, b = flip ? on : p;
        found[kept] = contact_of(&s, carom_vec_add(a, carom_vec_scale(n, s.a.margin)),
                                 carom_vec_sub(b, carom_vec_scale(n, s.b.margin)), depth);
        found[kept].feature_a = flip ? left[i].own : left[i].other;
        found[kept++].feature_b = flip ? left[i].other : left[i].own;
    }
    return carom_convex_choose_points(found, kept, n);
}

carom_status carom_convex_find_points(const carom_context *context, carom_arena *arena,
                                      const carom_convex_question_item *q,
                                      const carom_hull_faces *faces_a,
                                      const carom_hull_faces *faces_b, double reach,
                                      carom_convex_manifold *manifold) {
    carom_convex_result r = manifold->result;
    manifold->count = 0;
    if (r.distance > reach) return CAROM_OK;
    uint64_t most = most_corners(q->a, faces_a) + most_corners(q->b, faces_b) + 8;
    most *= 2; /* clipping adds at most one corner per side */
    carom_arena_mark mark = carom_arena_get_mark(arena);
    outline_corner *workspace = CAROM_ARENA_TAKE(arena, outline_corner, 3 * most);
    carom_convex_contact *found = CAROM_ARENA_TAKE(arena, carom_convex_contact, most);
    if (workspace == NULL || found == NULL) {
        carom_arena_rewind(arena, mark);
        return CAROM_NO_MEMORY;
    }
    uint32_t count =
        face_points(context, q, faces_a, faces_b, reach, workspace, most, found, r.normal);
    for (uint32_t i = 0; i < count; ++i) manifold->points[i] = found[i];
    manifold->count = count;
    carom_arena_rewind(arena, mark);
    if (count == 0) {
        manifold->count = 1;
        manifold->points[0] = (carom_convex_contact){
            .point_a = r.point_a, .point_b = r.point_b, .depth = r.depth - r.distance};
    }
    return CAROM_OK;
}

carom_status carom_convex_contacts(carom_context *context, const carom_convex *a,
                                   const carom_pose *pose_a, const carom_convex *b,
                                   const carom_pose *pose_b, double reach,
                                   const carom_convex_query_def *def,
                                   carom_convex_manifold *manifold) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_BOTH(a, b, "shape");
    CAROM_REQUIRE_OUTPUT(manifold, "manifold");
    if (!(reach >= 0.0 && reach <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the reach is %g; give a finite number, not below 0", reach);
    carom_convex_result r;
    CAROM_TRY(carom_context_require_cpu(context, "a manifold"));
    CAROM_TRY(carom_convex_depth(context, a, pose_a, b, pose_b, def, &r));
    memset(manifold, 0, sizeof(*manifold));
    manifold->result = r;
    carom_convex_question_item q = carom_convex_question_of(a, pose_a, b, pose_b);
    carom_status status =
        carom_convex_find_points(context, carom_scratch(context, 0), &q, carom_convex_hull_faces(a),
                                 carom_convex_hull_faces(b), reach, manifold);
    return status == CAROM_OK ? status : carom_fail_memory(context, 0, "contact points");
}
