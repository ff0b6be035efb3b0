/* SPDX-License-Identifier: MIT */
/* The least distance of two surfaces, by branch and bound on their cylinders.
 *
 * The larger of two cylinders is replaced by its children, nearest first (tree_descent.h). For
 * every direction u of length at most 1, sets A
 * and B are at least u (c_B - c_A) - h_A(u) - h_B(u) apart, where h(u) = |n u| height + sqrt(1 -
 * (n u)^2) radius is how far a cylinder with the axis n reaches along u. Two directions are tried:
 * that between the nearest points so far, which is best near them, for it is normal to both
 * surfaces; and that between the centres, which is best elsewhere. */
#include "base/assert.h"
#include "base/simd.h"
#include "geom/distance_item.h"
#include "tree/tree_cpu.h"
#include "tree/tree_cylinder_item.h"

/* Lengths whose squares are far from the ends of the range of doubles. */
#define TREE_LENGTH_MIN 0x1p-300
#define TREE_LENGTH_MAX 0x1p+300

/* Error of the width of a slab, of the sizes of triangles: some 32 roundings of 2^-53, twice. */
#define TREE_SLAB_ERROR 0x1p-47

/* The level of a triangle, which has no children. */
#define TREE_TRIANGLE_LEVEL UINT32_MAX

#define DESCENT(x) tree_surface_##x

typedef carom_tree_surface_search tree_surface_search;

/* A cylinder in the fixed tree's frame. */
typedef struct tree_surface_piece {
    float x, y, z, axis_x, axis_y, axis_z, radius, height;
    uint32_t level; /* of the node that has its children; TREE_TRIANGLE_LEVEL: it is one */
    uint32_t index;
} tree_surface_piece;

/* ---- Triangles ------------------------------------------------------------------------------- */

static void pose_triangle(carom_tree_surface_side *side, uint32_t triangle) {
    CAROM_ASSERT(triangle < side->surface->triangle_count);
    if (side->posed_triangle == triangle) return;
    const carom_tree_surface *from = side->surface;
    const uint32_t *corners = from->corners + 3 * (uint64_t)triangle;
    side->posed_triangle = triangle;
    for (int i = 0; i < 3; ++i)
        side->corners[i] = carom_spheres_pose_centre(side->transform, from->vertices[corners[i]]);
}

/* Neighbours of the nearest triangles are no better if they are nearer by this part of the distance
 * or less: most of them share the nearest point, and differ by rounding, 2^-47, alone. */
#define TREE_NEIGHBOUR_GAIN 0x1p-30

/* Whether the slab between two triangles, along the direction between the nearest points so far, is
 * wider than `factor` times the distance of these. With a factor of 1 or more the triangles are not
 * nearer. */
static bool tree_surface_cpu_is_farther(const carom_tree_surface_search *s, const carom_vec3 *a,
                                        const carom_vec3 *b, double factor) {
    if (!(s->best.distance > TREE_LENGTH_MIN && s->best.distance < TREE_LENGTH_MAX)) return false;
    carom_vec3 way = carom_vec_sub(s->best.b, s->best.a), from_a[3], from_b[3];
    double size = carom_vec_largest(s->best.a);
    for (int i = 0; i < 3; ++i) {
        from_a[i] = carom_vec_sub(a[i], s->best.a);
        from_b[i] = carom_vec_sub(b[i], s->best.a);
        size = CAROM_MAX(carom_vec_largest(from_a[i]) + carom_vec_largest(from_b[i]), size);
    }
    double error = TREE_SLAB_ERROR * size * s->best.distance;
    return carom_near_gap(from_a, from_b, way) - error >
           s->best.distance * s->best.distance * factor;
}

/* Sets what is derived from the best distance. */
static void set_limit(carom_tree_surface_search *s) {
    double limit = s->best.distance * s->posed->to_frame - s->posed->offset;
    s->limit = limit > CAROM_TREE_FLOAT_MAX ? HUGE_VALF : (float)limit + s->posed->surface_margin;
}

/* Directions along which cylinders are compared first: from fixed to moving. */
static void set_direction(carom_tree_surface_search *s, carom_vec3 way) {
    double length = carom_vec_length(way);
    if (s->posed->far || !(length > TREE_LENGTH_MIN)) return;
    const double *r = s->fixed.transform->frame.r;
    carom_vec3 d = carom_vec_scale(way, (s->posed->swapped ? -1.0 : 1.0) / length);
    s->toward[0] = (float)((r[0] * d.x + r[3] * d.y) + r[6] * d.z) * CAROM_TREE_DIRECTION_LENGTH;
    s->toward[1] = (float)((r[1] * d.x + r[4] * d.y) + r[7] * d.z) * CAROM_TREE_DIRECTION_LENGTH;
    s->toward[2] = (float)((r[2] * d.x + r[5] * d.y) + r[8] * d.z) * CAROM_TREE_DIRECTION_LENGTH;
    s->aimed = true;
}

/* Whether a pair of triangles comes before the nearest so far: by faces, then by triangles. */
static bool tree_surface_cpu_is_before(const carom_tree_surface_search *s, uint32_t i, uint32_t j) {
    if (s->triangle_a == UINT32_MAX) return true;
    const uint32_t *a = s->posed->a->surface.faces;
    const uint32_t *b = s->posed->b->surface.faces;
    if (a[i] != a[s->triangle_a]) return a[i] < a[s->triangle_a];
    if (b[j] != b[s->triangle_b]) return b[j] < b[s->triangle_b];
    return i != s->triangle_a ? i < s->triangle_a : j < s->triangle_b;
}

static void tree_surface_measure_triangles(carom_tree_surface_search *s, uint32_t fixed,
                                           uint32_t moving, double factor) {
    pose_triangle(&s->fixed, fixed);
    pose_triangle(&s->moving, moving);
    const carom_vec3 *a = s->posed->swapped ? s->moving.corners : s->fixed.corners;
    const carom_vec3 *b = s->posed->swapped ? s->fixed.corners : s->moving.corners;
    uint32_t i = s->posed->swapped ? moving : fixed, j = s->posed->swapped ? fixed : moving;
    carom_closest found;
    ++s->budget.candidates;
    if (tree_surface_cpu_is_farther(s, a, b, factor)) return;
    carom_near_triangles(a, b, &found);
    if (found.distance > s->best.distance) return;
    if (found.distance == s->best.distance && !tree_surface_cpu_is_before(s, i, j)) return;
    s->best = found;
    s->triangle_a = i;
    s->triangle_b = j;
    set_limit(s);
    set_direction(s, carom_vec_sub(found.b, found.a));
    s->found = !(found.distance > 0.0);
}

/* Measures the triangles around one of the nearest two with the other. */
static void measure_rings(carom_tree_surface_search *s, bool of_moving) {
    const carom_tree_surface *surface = of_moving ? s->moving.surface : s->fixed.surface;
    uint32_t fixed = s->posed->swapped ? s->triangle_b : s->triangle_a;
    uint32_t moving = s->posed->swapped ? s->triangle_a : s->triangle_b;
    const uint32_t *corners = surface->corners + 3 * (uint64_t)(of_moving ? moving : fixed);
    uint32_t last = of_moving ? moving : fixed;
    for (int i = 0; i < 3 && !s->found; ++i) {
        for (uint32_t k = surface->ring_start[corners[i]];
             k < surface->ring_start[corners[i] + 1] && !s->found; ++k) {
            uint32_t t = surface->ring[k];
            if (t == last) continue;
            tree_surface_measure_triangles(s, of_moving ? fixed : t, of_moving ? t : moving,
                                           1.0 - TREE_NEIGHBOUR_GAIN);
        }
    }
}

/* Goes on to neighbours of the nearest two triangles, as long as these are nearer. Distances fall,
 * or pairs at the same distance come before: it ends. */
static void tree_surface_slide(carom_tree_surface_search *s) {
    uint32_t a, b;
    do {
        a = s->triangle_a;
        b = s->triangle_b;
        measure_rings(s, false);
        measure_rings(s, true);
        ++s->budget.visits;
    } while (!s->found && (s->triangle_a != a || s->triangle_b != b) &&
             !carom_tree_must_stop(&s->budget));
}

void CAROM_CPU(carom_tree_search_triangles)(carom_tree_surface_search *s, uint32_t fixed,
                                            uint32_t moving) {
    tree_surface_measure_triangles(s, fixed, moving, 1.0);
    if (!s->found) tree_surface_slide(s);
}

/* ---- Cylinders ------------------------------------------------------------------------------- */

/* carom_tree_reach_along of several cylinders. */
CAROM_SIMD carom_f32v reach_lanes(carom_f32v cosine, carom_f32v radius, carom_f32v height) {
    carom_f32v rest = 1.0f - cosine * cosine, zero = carom_f32v_splat(0.0f);
    rest = carom_f32v_max(rest, zero) + CAROM_TREE_SINE_ERROR;
    return carom_f32v_abs(cosine) * height + carom_f32v_sqrt(rest) * radius;
}

/* Lower bounds of the distances of sixteen cylinders from one, along the direction of the nearest
 * points so far. Lanes are left in their own frame: the direction is brought there instead. */
CAROM_SIMD void bound_aimed(const carom_tree_surface_search *s, const carom_tree_cylinders *node,
                            const tree_surface_piece *other, bool of_moving,
                            float bounds[CAROM_TREE_CYLINDERS]) {
    const float *u = s->toward, *m = s->posed->turn, *r = s->posed->rotation;
    float at = u[0] * other->x + u[1] * other->y + u[2] * other->z, scale = 1.0f;
    float w[3] = {-u[0], -u[1], -u[2]}, v[3] = {u[0], u[1], u[2]}, base = at;
    if (of_moving) {
        base = u[0] * s->posed->move[0] + u[1] * s->posed->move[1] + u[2] * s->posed->move[2] - at;
        scale = s->posed->scale;
        for (int k = 0; k < 3; ++k) {
            w[k] = m[k] * u[0] + m[3 + k] * u[1] + m[6 + k] * u[2];
            v[k] = r[k] * u[0] + r[3 + k] * u[1] + r[6 + k] * u[2];
        }
    }
    float cosine = u[0] * other->axis_x + u[1] * other->axis_y + u[2] * other->axis_z;
    base -= carom_tree_reach_along(cosine, other->radius, other->height) + s->posed->surface_margin;
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v along = carom_f32v_load(&node->x[i]) * w[0] +
                           carom_f32v_load(&node->y[i]) * w[1] +
                           carom_f32v_load(&node->z[i]) * w[2];
        carom_f32v to_axis = carom_f32v_load(&node->axis_x[i]) * v[0] +
                             carom_f32v_load(&node->axis_y[i]) * v[1] +
                             carom_f32v_load(&node->axis_z[i]) * v[2];
        carom_f32v reach = reach_lanes(to_axis, carom_f32v_load(&node->radius[i]),
                                       carom_f32v_load(&node->height[i]));
        carom_f32v_store(&bounds[i], base + along - reach * scale);
    }
}

/* Sixteen cylinders of a node in the fixed tree's frame. */
typedef struct tree_surface_cpu_posed {
    float x[CAROM_TREE_CYLINDERS], y[CAROM_TREE_CYLINDERS], z[CAROM_TREE_CYLINDERS];
    float axis_x[CAROM_TREE_CYLINDERS], axis_y[CAROM_TREE_CYLINDERS], axis_z[CAROM_TREE_CYLINDERS];
} tree_surface_cpu_posed;

CAROM_SIMD void turn_lanes(const float *m, const float *x, const float *y, const float *z,
                           float *to_x, float *to_y, float *to_z) {
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v a = carom_f32v_load(&x[i]), b = carom_f32v_load(&y[i]);
        carom_f32v c = carom_f32v_load(&z[i]);
        carom_f32v_store(&to_x[i], m[0] * a + m[1] * b + m[2] * c);
        carom_f32v_store(&to_y[i], m[3] * a + m[4] * b + m[5] * c);
        carom_f32v_store(&to_z[i], m[6] * a + m[7] * b + m[8] * c);
    }
}

CAROM_SIMD void pose_cylinders(const carom_tree_surface_search *s, const carom_tree_cylinders *node,
                               tree_surface_cpu_posed *to) {
    turn_lanes(s->posed->turn, node->x, node->y, node->z, to->x, to->y, to->z);
    turn_lanes(s->posed->rotation, node->axis_x, node->axis_y, node->axis_z, to->axis_x, to->axis_y,
               to->axis_z);
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v_store(&to->x[i], carom_f32v_load(&to->x[i]) + s->posed->move[0]);
        carom_f32v_store(&to->y[i], carom_f32v_load(&to->y[i]) + s->posed->move[1]);
        carom_f32v_store(&to->z[i], carom_f32v_load(&to->z[i]) + s->posed->move[2]);
    }
}

/* The same along the directions between the centres; raises the bounds. */
CAROM_SIMD void bound_centres(const carom_tree_surface_search *s, const carom_tree_cylinders *node,
                              const float *x, const float *y, const float *z, const float *axis_x,
                              const float *axis_y, const float *axis_z,
                              const tree_surface_piece *other, float scale,
                              float bounds[CAROM_TREE_CYLINDERS]) {
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v dx = carom_f32v_load(&x[i]) - other->x, dy = carom_f32v_load(&y[i]) - other->y;
        carom_f32v dz = carom_f32v_load(&z[i]) - other->z;
        carom_f32v d = carom_f32v_sqrt(dx * dx + dy * dy + dz * dz);
        /* Equal centres give 0, not NaN. */
        carom_f32v shrink = CAROM_TREE_DIRECTION_LENGTH / (d + CAROM_TREE_LEAST_LENGTH);
        carom_f32v to_lane = (dx * carom_f32v_load(&axis_x[i]) + dy * carom_f32v_load(&axis_y[i]) +
                              dz * carom_f32v_load(&axis_z[i])) *
                             shrink;
        carom_f32v to_other =
            (dx * other->axis_x + dy * other->axis_y + dz * other->axis_z) * shrink;
        carom_f32v reach =
            reach_lanes(to_lane, carom_f32v_load(&node->radius[i]) * scale,
                        carom_f32v_load(&node->height[i]) * scale) +
            reach_lanes(to_other, carom_f32v_splat(other->radius), carom_f32v_splat(other->height));
        carom_f32v bound = d * CAROM_TREE_DIRECTION_LENGTH - reach - s->posed->surface_margin;
        carom_f32v_store(&bounds[i], carom_f32v_max(carom_f32v_load(&bounds[i]), bound));
    }
}

/* Lanes whose bounds are at most a limit; keeps the least of those up to the tolerance above. */
CAROM_SIMD carom_lanes select_lanes(carom_tree_surface_search *s,
                                    const float bounds[CAROM_TREE_CYLINDERS]) {
    carom_lanes near = 0, left = 0;
    float limit = s->limit - s->tolerance;
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v bound = carom_f32v_load(&bounds[i]);
        near |= carom_lanes_of(bound <= limit) << i;
        left |= carom_lanes_of(bound <= s->limit) << i;
    }
    for (left &= ~near; left != 0; left &= left - 1) {
        float bound = bounds[__builtin_ctz(left)];
        if (bound < s->pending) s->pending = bound;
    }
    return near;
}

/* ---- Branch and bound ------------------------------------------------------------------------ */

/* The children of a cylinder. */
typedef struct tree_surface_lanes {
    const carom_tree_cylinders *node;
    float bounds[CAROM_TREE_CYLINDERS];
    tree_surface_cpu_posed at; /* in the fixed tree's frame; of the moving surface only */
} tree_surface_lanes;

CAROM_SIMD bool tree_surface_is_primitive(const tree_surface_piece *p) {
    return p->level == TREE_TRIANGLE_LEVEL;
}

CAROM_SIMD bool tree_surface_has_answer(const carom_tree_surface_search *s) {
    return s->best.distance < HUGE_VAL;
}

CAROM_SIMD void tree_surface_defer(carom_tree_surface_search *s, const tree_surface_lanes *l,
                                   uint32_t lane) {
    if (l->bounds[lane] < s->pending) s->pending = l->bounds[lane];
}

CAROM_SIMD bool tree_surface_is_open(carom_tree_surface_search *s, const tree_surface_lanes *l,
                                     uint32_t lane) {
    if (l->bounds[lane] <= s->limit - s->tolerance) return true;
    tree_surface_defer(s, l, lane); /* it may be nearer, by less than the tolerance */
    return false;
}

CAROM_SIMD carom_lanes tree_surface_bound(carom_tree_surface_search *s,
                                          const tree_surface_piece *whole,
                                          const tree_surface_piece *other, bool of_moving,
                                          tree_surface_lanes *l) {
    const carom_tree_surface *surface = of_moving ? s->moving.surface : s->fixed.surface;
    const carom_tree_cylinders *node =
        &surface->nodes[surface->level_start[whole->level] + whole->index];
    float scale = of_moving ? s->posed->scale : 1.0f;
    const tree_surface_cpu_posed *at = &l->at;
    l->node = node;
    if (s->budget.visits >= s->widen_at && s->tolerance < s->widest) {
        s->tolerance *= 2.0f;
        s->widen_at += s->widen_by;
    }
    if (s->aimed) {
        bound_aimed(s, node, other, of_moving, l->bounds);
    } else {
        for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; ++i) l->bounds[i] = -HUGE_VALF;
    }
    carom_lanes set = s->aimed ? select_lanes(s, l->bounds) : UINT16_MAX;
    if (set == 0) return 0;
    if (of_moving) {
        pose_cylinders(s, node, &l->at);
        if (!s->posed->far)
            bound_centres(s, node, at->x, at->y, at->z, at->axis_x, at->axis_y, at->axis_z, other,
                          scale, l->bounds);
    } else if (!s->posed->far) {
        bound_centres(s, node, node->x, node->y, node->z, node->axis_x, node->axis_y, node->axis_z,
                      other, scale, l->bounds);
    }
    return set & select_lanes(s, l->bounds);
}

CAROM_SIMD tree_surface_piece tree_surface_child(const carom_tree_surface_search *s,
                                                 const tree_surface_piece *whole, bool of_moving,
                                                 const tree_surface_lanes *l, uint32_t lane) {
    const carom_tree_cylinders *node = l->node;
    const tree_surface_cpu_posed *at = &l->at;
    float scale = of_moving ? s->posed->scale : 1.0f;
    return (tree_surface_piece){of_moving ? at->x[lane] : node->x[lane],
                                of_moving ? at->y[lane] : node->y[lane],
                                of_moving ? at->z[lane] : node->z[lane],
                                of_moving ? at->axis_x[lane] : node->axis_x[lane],
                                of_moving ? at->axis_y[lane] : node->axis_y[lane],
                                of_moving ? at->axis_z[lane] : node->axis_z[lane],
                                node->radius[lane] * scale,
                                node->height[lane] * scale,
                                whole->level == 0 ? TREE_TRIANGLE_LEVEL : whole->level - 1,
                                whole->index * CAROM_TREE_CYLINDERS + lane};
}

/* Whether floats gave a lower bound of the distance of the two triangles that are the nearest. */
CAROM_TREE_CHECK bool tree_surface_is_bound(const carom_tree_surface_search *s,
                                            const tree_surface_piece *fixed,
                                            const tree_surface_piece *moving) {
    const carom_tree_posed_pair *p = s->posed;
    float x = moving->x - fixed->x, y = moving->y - fixed->y, z = moving->z - fixed->z;
    float d = p->far ? x * p->toward[0] + y * p->toward[1] + z * p->toward[2]
                     : sqrtf(x * x + y * y + z * z);
    d -= fixed->radius + fixed->height + moving->radius + moving->height + p->surface_margin;
    return (double)d <= s->best.distance * p->to_frame - p->offset;
}

static void tree_surface_measure(carom_tree_surface_search *s, const tree_surface_piece *fixed,
                                 const tree_surface_piece *moving) {
    double before = s->best.distance;
    tree_surface_measure_triangles(s, fixed->index, moving->index, 1.0 + CAROM_TREE_SLACK);
    CAROM_ASSERT(s->best.distance <= before);
    CAROM_ASSERT(s->best.distance == before || tree_surface_is_bound(s, fixed, moving));
    if (s->best.distance < before && !s->found) tree_surface_slide(s);
}

#include "tree/tree_descent.h"

/* The ball around a surface, as a cylinder. */
static tree_surface_piece tree_surface_cpu_root_of(const carom_tree_surface *surface) {
    float radius = (float)surface->radius * (1.0f + CAROM_TREE_FLOAT_SLACK);
    tree_surface_piece p = {(float)surface->centre.x,
                            (float)surface->centre.y,
                            (float)surface->centre.z,
                            0.0f,
                            0.0f,
                            1.0f,
                            radius,
                            radius,
                            surface->level_count - 1,
                            0};
    return p;
}

void CAROM_CPU(carom_tree_search_surfaces)(carom_tree_surface_search *s) {
    tree_surface_piece fixed = tree_surface_cpu_root_of(s->fixed.surface),
                       moving = tree_surface_cpu_root_of(s->moving.surface);
    const float *m = s->posed->turn;
    float x = moving.x, y = moving.y, z = moving.z;
    moving.x = m[0] * x + m[1] * y + m[2] * z + s->posed->move[0];
    moving.y = m[3] * x + m[4] * y + m[5] * z + s->posed->move[1];
    moving.z = m[6] * x + m[7] * y + m[8] * z + s->posed->move[2];
    moving.radius *= s->posed->scale;
    moving.height *= s->posed->scale;
    set_limit(s);
    if (s->posed->far) {
        memcpy(s->toward, s->posed->toward, sizeof(s->toward));
        s->aimed = true;
    }
    if (!s->found) tree_surface_approach(s, &fixed, &moving);
}
