/* SPDX-License-Identifier: MIT */
/* Contact points and rays.
 *
 * Points: of all faces of both shapes the one best aligned with the normal is the reference. The
 * other shape's face, or segment, opposite to it is clipped at the reference's sides (Sutherland
 * and Hodgman 1974); what is left is on the other shape, and its projection onto the reference is
 * on that face. So every point lies on its shape, whatever the normal.
 *
 * Rays: from a point outside, the plane across the shortest way to the shape separates the two, and
 * the ray cannot enter before it crosses that plane. Stepping to the crossing never enters the
 * shape; it lands on a face's plane at once and approaches curved surfaces quadratically. */
#include <float.h>
#include <string.h>

#include "base/context.h"
#include "convex/convex.h"
#include "geom/length.h"
#include "geom/pose.h"

/* Cosine between normal and face beyond which a face counts as across: 2.6 degrees. */
#define ALIGNED    0.999
#define MOST_STEPS 128 /* of a ray; 12 were enough in all tests but grazing ones */

/* A polygon, or a segment, in the world. */
typedef struct outline {
    carom_vec3 *corners;
    uint32_t count;
    carom_vec3 normal; /* outwards; of a segment 0 */
    double aligned;    /* cosine with the wanted direction; below 0: none */
} outline;

/* ---- Outlines -------------------------------------------------------------------------------- */

static carom_vec3 unit_of(carom_vec3 v) {
    double length = carom_vec_length(v);
    return length > 0.0 ? carom_vec_scale(v, 1.0 / length) : v;
}

static void box_outline(const carom_convex *s, const carom_frame *f, carom_vec3 d, outline *o) {
    carom_vec3 local = carom_vec((f->r[0] * d.x + f->r[3] * d.y) + f->r[6] * d.z,
                                 (f->r[1] * d.x + f->r[4] * d.y) + f->r[7] * d.z,
                                 (f->r[2] * d.x + f->r[5] * d.y) + f->r[8] * d.z);
    const double x[3] = {local.x, local.y, local.z}, h[3] = {s->half.x, s->half.y, s->half.z};
    int axis = 0;
    for (int i = 1; i < 3; ++i)
        if (fabs(x[i]) > fabs(x[axis])) axis = i;
    double sign = x[axis] < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; ++i) {
        double p[3];
        p[axis] = sign * h[axis];
        p[(axis + 1) % 3] = (i == 0 || i == 3 ? -1.0 : 1.0) * sign * h[(axis + 1) % 3];
        p[(axis + 2) % 3] = (i < 2 ? -1.0 : 1.0) * h[(axis + 2) % 3];
        o->corners[i] = carom_frame_apply(f, carom_vec(p[0], p[1], p[2]));
    }
    double n[3] = {0.0, 0.0, 0.0};
    n[axis] = sign;
    o->normal = carom_frame_turn(f, carom_vec(n[0], n[1], n[2]));
    o->aligned = fabs(x[axis]);
    o->count = 4;
    if (h[(axis + 1) % 3] > 0.0 && h[(axis + 2) % 3] > 0.0) return;
    /* The face has no area: a segment or a point. */
    o->aligned = -1.0;
    o->corners[1] = o->corners[2];
    o->count = h[(axis + 1) % 3] > 0.0 || h[(axis + 2) % 3] > 0.0 ? 2 : 1;
}

static carom_vec3 hull_corner(const carom_hull *h, uint32_t v) {
    int k = h->view.exponent;
    return carom_vec(carom_scale_apply(h->vertices[v].x, k), carom_scale_apply(h->vertices[v].y, k),
                     carom_scale_apply(h->vertices[v].z, k));
}

static void hull_outline(const carom_hull *h, const carom_frame *f, carom_vec3 d, outline *o) {
    uint64_t best = UINT64_MAX;
    for (uint64_t i = 0; i < h->info.faces; ++i) {
        carom_vec3 n = carom_frame_turn(f, h->normals[i]);
        double cosine = carom_vec_dot(n, d);
        if (best != UINT64_MAX && !(cosine > o->aligned)) continue;
        best = i;
        o->aligned = cosine;
        o->normal = n;
    }
    if (best == UINT64_MAX) { /* a segment or a point */
        o->count = (uint32_t)h->info.vertices;
        for (uint32_t i = 0; i < o->count; ++i)
            o->corners[i] = carom_frame_apply(f, hull_corner(h, i));
        return;
    }
    o->count = (uint32_t)(h->offsets[best + 1] - h->offsets[best]);
    for (uint32_t i = 0; i < o->count; ++i)
        o->corners[i] = carom_frame_apply(f, hull_corner(h, h->corners[h->offsets[best] + i]));
}

/* The face of a shape most across the direction d, or its segment; no corners for curved shapes. */
static void outline_of(const carom_convex *s, const carom_pose *pose, carom_vec3 d, outline *o) {
    carom_frame f = carom_frame_make(pose);
    o->count = 0;
    o->aligned = -1.0;
    o->normal = carom_vec(0.0, 0.0, 0.0);
    if (s->kind == CAROM_CONVEX_KIND_BOX) {
        box_outline(s, &f, d, o);
    } else if (s->kind == CAROM_CONVEX_KIND_HULL) {
        hull_outline(s->borrowed_hull, &f, d, o);
    } else if (s->kind == CAROM_CONVEX_KIND_CAPSULE || s->kind == CAROM_CONVEX_KIND_SEGMENT) {
        o->corners[0] = carom_frame_apply(&f, carom_vec(0.0, 0.0, -s->half_height));
        o->corners[1] = carom_frame_apply(&f, carom_vec(0.0, 0.0, s->half_height));
        o->count = 2;
    }
}

static uint64_t most_corners(const carom_convex *s) {
    return s->kind == CAROM_CONVEX_KIND_HULL ? s->borrowed_hull->info.vertices + 2 : 4;
}

/* ---- Clipping -------------------------------------------------------------------------------- */

/* Keeps the part of a polygon or segment with product at most `limit` along a side's normal. */
static uint32_t clip(const carom_vec3 *from, uint32_t count, carom_vec3 side, double limit,
                     carom_vec3 *to) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        carom_vec3 p = from[i], q = from[i + 1 < count ? i + 1 : 0];
        double x = carom_vec_dot(side, p) - limit, y = carom_vec_dot(side, q) - limit;
        if (x <= 0.0) to[kept++] = p;
        if (count < 3 && i == count - 1) break; /* a segment has no way back */
        if ((x < 0.0 && y > 0.0) || (x > 0.0 && y < 0.0)) {
            double t = x / (x - y);
            to[kept++] = carom_vec_add(p, carom_vec_scale(carom_vec_sub(q, p), t));
        }
    }
    return kept;
}

/* Clips `o` at the sides of the reference; the corners end in one of two places. */
static uint32_t clip_at(const outline *reference, outline *o, carom_vec3 *other,
                        carom_vec3 **left) {
    carom_vec3 *from = o->corners, *to = other;
    uint32_t count = o->count;
    for (uint32_t i = 0; i < reference->count && count != 0; ++i) {
        carom_vec3 a = reference->corners[i];
        carom_vec3 b = reference->corners[i + 1 < reference->count ? i + 1 : 0];
        carom_vec3 side = unit_of(carom_vec_cross(carom_vec_sub(b, a), reference->normal));
        count = clip(from, count, side, carom_vec_dot(side, a), to);
        carom_vec3 *swap = from;
        from = to;
        to = swap;
    }
    *left = from;
    return count;
}

/* ---- Four of many ---------------------------------------------------------------------------- */

static double area_of(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 n) {
    return carom_vec_dot(carom_vec_cross(carom_vec_sub(b, a), carom_vec_sub(c, a)), n);
}

/* Moves the four points to keep to the front: the deepest, the farthest from it, and the ones that
 * make the largest triangles with these on both sides. Ties take the first. */
uint32_t carom_convex_choose_points(carom_contact *p, uint32_t count, carom_vec3 n) {
    if (count <= CAROM_MANIFOLD_POINTS) return count;
    for (uint32_t place = 0; place < CAROM_MANIFOLD_POINTS; ++place) {
        uint32_t best = place;
        double most = -HUGE_VAL;
        for (uint32_t i = place; i < count; ++i) {
            carom_vec3 direction = carom_vec_sub(p[i].point_b, p[0].point_b);
            double value = p[i].depth;
            if (place == 1) value = carom_vec_dot(direction, direction);
            if (place >= 2) value = area_of(p[0].point_b, p[1].point_b, p[i].point_b, n);
            if (place == 3) value = -value;
            if (place == 3 && area_of(p[0].point_b, p[1].point_b, p[2].point_b, n) < 0.0)
                value = -value;
            if (value > most) most = value, best = i;
        }
        carom_contact swap = p[place];
        p[place] = p[best];
        p[best] = swap;
    }
    return CAROM_MANIFOLD_POINTS;
}

/* ---- The manifold ---------------------------------------------------------------------------- */

static double margin_of(const carom_convex *s) {
    bool round = s->kind == CAROM_CONVEX_KIND_CAPSULE || s->kind == CAROM_CONVEX_KIND_SPHERE;
    return s->margin + (round ? s->radius : 0.0);
}

/* The points of faces; 0 where no face is across the normal. */
static uint32_t face_points(const carom_convex *a, const carom_pose *pose_a, const carom_convex *b,
                            const carom_pose *pose_b, double reach, carom_vec3 *workspace,
                            uint64_t most, carom_contact *found, carom_vec3 n) {
    outline oa = {.corners = workspace}, ob = {.corners = workspace + most};
    carom_vec3 back = carom_vec_scale(n, -1.0), *left;
    outline_of(a, pose_a, n, &oa);
    outline_of(b, pose_b, back, &ob);
    if (oa.count == 0 || ob.count == 0 || (oa.aligned < ALIGNED && ob.aligned < ALIGNED)) return 0;
    bool flip = ob.aligned > oa.aligned;
    const outline *reference = flip ? &ob : &oa;
    uint32_t count = clip_at(reference, flip ? &oa : &ob, workspace + 2 * most, &left), kept = 0;
    carom_vec3 r = reference->normal, origin = reference->corners[0];
    double rounded = margin_of(a) + margin_of(b);
    for (uint32_t i = 0; i < count; ++i) {
        double above = carom_vec_dot(r, carom_vec_sub(left[i], origin));
        carom_vec3 on = carom_vec_sub(left[i], carom_vec_scale(r, above));
        carom_contact c = {.depth = rounded - above};
        if (-c.depth > reach) continue;
        carom_vec3 pa = flip ? left[i] : on, pb = flip ? on : left[i];
        carom_vec3 out = flip ? carom_vec_scale(r, -1.0) : r; /* from a to b */
        c.point_a = carom_vec_add(pa, carom_vec_scale(out, margin_of(a)));
        c.point_b = carom_vec_sub(pb, carom_vec_scale(out, margin_of(b)));
        found[kept++] = c;
    }
    return carom_convex_choose_points(found, kept, n);
}

carom_status carom_convex_find_points(carom_arena *arena, const carom_convex *a,
                                      const carom_pose *pose_a, const carom_convex *b,
                                      const carom_pose *pose_b, double reach,
                                      carom_manifold *manifold) {
    carom_convex_result r = manifold->result;
    manifold->count = 0;
    if (r.distance > reach) return CAROM_OK;
    uint64_t most = most_corners(a) + most_corners(b) + 8;
    most *= 2; /* clipping adds at most one corner per side */
    carom_arena_mark mark = carom_arena_get_mark(arena);
    carom_vec3 *workspace = CAROM_ARENA_TAKE(arena, carom_vec3, 3 * most);
    carom_contact *found = CAROM_ARENA_TAKE(arena, carom_contact, most);
    if (workspace == NULL || found == NULL) {
        carom_arena_rewind(arena, mark);
        return CAROM_NO_MEMORY;
    }
    uint32_t count = face_points(a, pose_a, b, pose_b, reach, workspace, most, found, r.normal);
    for (uint32_t i = 0; i < count; ++i) manifold->points[i] = found[i];
    manifold->count = count;
    carom_arena_rewind(arena, mark);
    if (count == 0) {
        manifold->count = 1;
        manifold->points[0] = (carom_contact){r.point_a, r.point_b, r.depth - r.distance};
    }
    return CAROM_OK;
}

carom_status carom_convex_manifold(carom_context *context, const carom_convex *a,
                                   const carom_pose *pose_a, const carom_convex *b,
                                   const carom_pose *pose_b, double reach,
                                   carom_convex_cache *cache, carom_manifold *manifold) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(a != NULL && b != NULL, "a shape is NULL");
    CAROM_REQUIRE(manifold != NULL, "the place for the manifold is NULL");
    if (!(reach >= 0.0 && reach <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the reach is %g; give a finite number, not below 0", reach);
    carom_convex_result r;
    CAROM_TRY(carom_context_require_cpu(context, "a manifold"));
    CAROM_TRY(carom_convex_depth(context, a, pose_a, b, pose_b, NULL, cache, &r));
    memset(manifold, 0, sizeof(*manifold));
    manifold->result = r;
    carom_status status =
        carom_convex_find_points(carom_scratch(context, 0), a, pose_a, b, pose_b, reach, manifold);
    return status == CAROM_OK ? status : carom_fail_memory(context, 0, "contact points");
}

/* ---- Rays ------------------------------------------------------------------------------------ */

carom_status carom_convex_ray(carom_context *context, const carom_convex *shape,
                              const carom_pose *pose, const carom_ray *ray, carom_convex_hit *hit) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(shape != NULL, "the shape is NULL");
    CAROM_REQUIRE(ray != NULL, "the ray is NULL");
    CAROM_REQUIRE(hit != NULL, "the place for the hit is NULL");
    carom_vec3 d = ray->direction;
    double largest = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    CAROM_TRY(carom_context_require_cpu(context, "a ray at a convex shape"));
    if (!carom_vec_finite(d) || !(largest > 0.0) || isnan(ray->length) || ray->length < 0.0 ||
        !carom_vec_finite(ray->origin))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the ray is not finite, or its direction has no length");
    /* Steps are taken along a direction of about unit length, so that nothing is lost. */
    int k = carom_scale_range_add(carom_scale_range_empty(), largest).high;
    d = carom_vec(carom_scale_apply(d.x, -k), carom_scale_apply(d.y, -k),
                  carom_scale_apply(d.z, -k));
    double end = ray->length > 0.0 ? carom_scale_apply(ray->length, k) : HUGE_VAL;
    double t = 0.0;
    carom_convex point = {0};
    carom_convex_cache cache = {0};
    carom_convex_result r;
    memset(hit, 0, sizeof(*hit));
    for (int step = 0; step < MOST_STEPS && t <= end; ++step) {
        carom_pose at = {.t = carom_vec_add(ray->origin, carom_vec_scale(d, t))};
        CAROM_TRY(carom_convex_distance(context, shape, pose, &point, &at, NULL, &cache, &r));
        if (r.relation != CAROM_RELATION_APART) {
            hit->hit = true;
            hit->inside = step == 0;
            hit->t = carom_scale_apply(t, -k);
            hit->point = at.t;
            return CAROM_OK;
        }
        hit->normal = r.normal;
        double speed = carom_vec_dot(r.normal, d);
        if (!(speed < 0.0)) break;
        t += r.distance / -speed;
    }
    hit->normal = carom_vec(0.0, 0.0, 0.0);
    return CAROM_OK;
}
