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

bool CAROM_CPU(carom_scene_separated)(const carom_scene_object *a, const carom_scene_object *b,
                                      carom_vec3 direction, double gap) {
    carom_frame fa = carom_frame_make(&a->pose), fb = carom_frame_make(&b->pose);
    carom_vec3 t = carom_vec_sub(fb.t, fa.t), back = carom_vec_scale(direction, -1.0);
    double sum = carom_convex_span(&a->convex, a->hull) + carom_convex_span(&b->convex, b->hull);
    sum += fabs(t.x) + fabs(t.y) + fabs(t.z);
    double unit = carom_convex_unit(sum);
    carom_convex_core core_a, core_b;
    carom_convex_core_make(&a->convex, a->hull, unit, CAROM_CONVEX_SEARCH_AUTO, &core_a);
    carom_convex_core_make(&b->convex, b->hull, unit, CAROM_CONVEX_SEARCH_AUTO, &core_b);
    double between = carom_vec_dot(carom_vec_scale(t, unit), direction) -
                     scene_cpu_farthest(&core_a, carom_convex_turn_back(fa.r, direction)) -
                     scene_cpu_farthest(&core_b, carom_convex_turn_back(fb.r, back));
    /* Where the direction is not quite a unit vector, the true gap is that over its length. */
    double length = carom_vec_length(direction);
    double need = (gap * unit + (core_a.margin + core_b.margin)) + GAP_SLACK * (sum * unit);
    return between > need * length && length > SCENE_DIRECTION_LEAST &&
           length < SCENE_DIRECTION_MOST;
}
