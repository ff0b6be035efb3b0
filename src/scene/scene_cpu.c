/* SPDX-License-Identifier: MIT */
/* Boxes and separations of convex objects, from support points (convex_item.h).
 *
 * The extent of a shape along an axis is a product with its support point there. What is computed
 * is off by some units in the last place of sizes and translations; both functions allow for a
 * thousand times as much, so that they are on the safe side of every query (convex.h, tolerance e).
 */
#include "scene/scene_cpu.h"

#include "base/simd.h"
#include "geom/length.h"

/* Relative to sizes and translations: the tolerance of convex.h, and four times that. */
#define SCENE_CPU_BOX_SLACK 0x1p-42
#define GAP_SLACK           0x1p-40
/* Lengths of a direction that a query gave as a unit vector: beyond, it is none. */
#define SCENE_DIRECTION_LEAST 0.5
#define SCENE_DIRECTION_MOST  2.0

/* The most of d.x over the shape without margin, in the shape's own frame. */
static double scene_cpu_farthest(const carom_convex_core *core, carom_vec3 d) {
    uint32_t seed = UINT32_MAX;
    return carom_vec_dot(carom_convex_support(core, d, &seed), d);
}

/* Half the extent along each axis of a shape that is its own mirror image in the origin and has no
 * curved core; false for other shapes. */
static bool simple_extents(const carom_convex *s, const double *r, double *half) {
    double round = s->margin;
    carom_vec3 h = carom_vec(0.0, 0.0, 0.0);
    switch (s->kind) {
    case CAROM_CONVEX_KIND_POINT:
        break;
    case CAROM_CONVEX_KIND_CAPSULE:
        round += s->radius;
        h.z = s->half_height;
        break;
    case CAROM_CONVEX_KIND_SEGMENT:
        h.z = s->half_height;
        break;
    case CAROM_CONVEX_KIND_SPHERE:
        round += s->radius;
        break;
    case CAROM_CONVEX_KIND_BOX:
        h = s->half;
        break;
    default:
        return false;
    }
    for (int k = 0; k < 3; ++k)
        half[k] =
            ((fabs(r[3 * k]) * h.x + fabs(r[3 * k + 1]) * h.y) + fabs(r[3 * k + 2]) * h.z) + round;
    return true;
}

/* The extents of a small hull along an axis d and its opposite, in one pass over the vertices. */
static void hull_extents(const carom_hull_view *hull, carom_vec3 d, double *along, double *back) {
    enum { PARTS = CAROM_HULL_LANES / CAROM_LANES64 };
    carom_f64v x = carom_f64v_splat(d.x), y = carom_f64v_splat(d.y), z = carom_f64v_splat(d.z);
    carom_f64v most = carom_f64v_splat(-HUGE_VAL), least = most;
    for (uint32_t i = 0; i < hull->all_count * PARTS; ++i) {
        const carom_hull_block *b = &hull->all[i / PARTS];
        uint32_t lane = i % PARTS * CAROM_LANES64;
        carom_f64v px, py, pz;
        memcpy(&px, b->x + lane, sizeof(px));
        memcpy(&py, b->y + lane, sizeof(py));
        memcpy(&pz, b->z + lane, sizeof(pz));
        carom_f64v dot = (px * x + py * y) + pz * z;
        most = carom_f64v_max(dot, most);
        least = carom_f64v_max(-dot, least);
    }
    *along = carom_f64v_greatest(most);
    *back = carom_f64v_greatest(least);
}

carom_bounds CAROM_CPU(carom_scene_convex_box)(const carom_convex *shape,
                                               const carom_hull_view *hull,
                                               const carom_frame *frame) {
    double span = carom_convex_span(shape, hull);
    double size = CAROM_MAX(span, carom_convex_size(shape, hull)); /* e counts this */
    double low[3], high[3];
    const double t[3] = {frame->t.x, frame->t.y, frame->t.z};
    double slack = SCENE_CPU_BOX_SLACK * (size + (fabs(t[0]) + fabs(t[1]) + fabs(t[2])));
    if (simple_extents(shape, frame->r, high)) {
        for (int k = 0; k < 3; ++k) low[k] = high[k];
    } else {
        double unit = carom_convex_unit(span), back = 1.0 / unit;
        carom_convex_core core;
        carom_convex_core_make(shape, hull, unit, CAROM_CONVEX_SEARCH_AUTO, &core);
        for (int k = 0; k < 3; ++k) {
            carom_vec3 d = carom_vec(frame->r[3 * k], frame->r[3 * k + 1], frame->r[3 * k + 2]);
            if (hull != NULL && !core.climb) {
                hull_extents(hull, d, &high[k], &low[k]);
                high[k] = (high[k] * core.hull_unit + core.margin) * back;
                low[k] = (low[k] * core.hull_unit + core.margin) * back;
            } else {
                high[k] = (scene_cpu_farthest(&core, d) + core.margin) * back;
                low[k] = (scene_cpu_farthest(&core, carom_vec_scale(d, -1.0)) + core.margin) * back;
            }
        }
    }
    for (int k = 0; k < 3; ++k) {
        high[k] = (t[k] + high[k]) + slack;
        low[k] = (t[k] - low[k]) - slack;
    }
    return (carom_bounds){carom_vec(low[0], low[1], low[2]), carom_vec(high[0], high[1], high[2])};
}

/* The most of d.x over a small hull. */
static double hull_extent_along(const carom_hull_view *hull, carom_vec3 d) {
    enum { PARTS = CAROM_HULL_LANES / CAROM_LANES64 };
    carom_f64v x = carom_f64v_splat(d.x), y = carom_f64v_splat(d.y), z = carom_f64v_splat(d.z);
    carom_f64v most = carom_f64v_splat(-HUGE_VAL);
    for (uint32_t i = 0; i < hull->all_count * PARTS; ++i) {
        const carom_hull_block *b = &hull->all[i / PARTS];
        uint32_t lane = i % PARTS * CAROM_LANES64;
        carom_f64v dot = carom_f64v_load(b->x + lane) * x + carom_f64v_load(b->y + lane) * y;
        most = carom_f64v_max(dot + carom_f64v_load(b->z + lane) * z, most);
    }
    return carom_f64v_greatest(most);
}

/* The most of d.x over a shape without margin, in units of a query; *margin is in these, too. d is
 * in the shape's own frame. Nothing is read of a small hull but its vertices. */
static double scene_cpu_extent(const carom_scene_object *o, double unit, carom_vec3 d,
                               double *margin) {
    const carom_hull_view *hull = o->hull;
    if (hull != NULL && hull->count <= CAROM_HULL_SCANNED_VERTICES) {
        *margin = o->convex.margin * unit;
        return hull_extent_along(hull, d) * carom_scale_apply(unit, hull->exponent);
    }
    carom_convex_core core;
    carom_convex_core_make(&o->convex, hull, unit, CAROM_CONVEX_SEARCH_AUTO, &core);
    *margin = core.margin;
    return scene_cpu_farthest(&core, d);
}

/* How far a shape is from its origin at most, in any pose. */
static double scene_cpu_radius(const carom_scene_object *o) {
    const carom_hull_view *hull = o->hull;
    if (hull == NULL) return carom_convex_size(&o->convex, NULL);
    carom_vec3 c = hull->centre;
    return o->convex.margin +
           carom_scale_apply((fabs(c.x) + fabs(c.y) + fabs(c.z)) + hull->outer, hull->exponent);
}

/* Most pairs that are not in contact are decided by balls around the origins, without rotations. */
bool CAROM_CPU(carom_scene_separated)(const carom_scene_object *a, const carom_scene_object *b,
                                      carom_vec3 direction, double gap) {
    carom_vec3 t = carom_vec_sub(b->pose.t, a->pose.t), back = carom_vec_scale(direction, -1.0);
    /* Where the direction is not quite a unit vector, the true gap is that over its length. */
    double length = carom_vec_length(direction);
    if (!(length > SCENE_DIRECTION_LEAST && length < SCENE_DIRECTION_MOST)) return false;
    double sum = carom_convex_span(&a->convex, a->hull) + carom_convex_span(&b->convex, b->hull);
    sum += fabs(t.x) + fabs(t.y) + fabs(t.z);
    double balls = (scene_cpu_radius(a) + scene_cpu_radius(b)) + gap;
    if (carom_vec_dot(t, direction) > (balls + 2.0 * GAP_SLACK * sum) * length) return true;
    carom_frame fa = carom_frame_make(&a->pose), fb = carom_frame_make(&b->pose);
    double unit = carom_convex_unit(sum);
    double margin_a, margin_b;
    double between = carom_vec_dot(carom_vec_scale(t, unit), direction) -
                     scene_cpu_extent(a, unit, carom_convex_turn_back(fa.r, direction), &margin_a) -
                     scene_cpu_extent(b, unit, carom_convex_turn_back(fb.r, back), &margin_b);
    double need = (gap * unit + (margin_a + margin_b)) + GAP_SLACK * (sum * unit);
    return between > need * length;
}
