/* SPDX-License-Identifier: MIT */
/* The least distance of two surfaces, by branch and bound on their cylinders.
 *
 * The larger of two cylinders is replaced by its children, nearest first; what cannot be nearer
 * than the nearest triangles so far is left out. For every direction u of length at most 1, sets A
 * and B are at least u (c_B - c_A) - h_A(u) - h_B(u) apart, where h(u) = |n u| height + sqrt(1 -
 * (n u)^2) radius is how far a cylinder with the axis n reaches along u. Two directions are tried:
 * that between the nearest points so far, which is best near them, for it is normal to both
 * surfaces; and that between the centres, which is best elsewhere. */
#include "base/simd.h"
#include "geom/distance_item.h"
#include "tree/tree_cpu.h"

/* Added to 1 - (n u)^2: an upper bound of its error in float32. */
#define SINE_ERROR 0x1p-20f

/* Lengths of directions are rounded down by this. */
#define SHORTER (1.0f - 0x1p-20f)

#define TRIANGLE UINT32_MAX

/* A cylinder in the host's frame. */
typedef struct cylinder {
    float x, y, z, axis_x, axis_y, axis_z, radius, height;
    uint32_t level; /* of the node that has its children; TRIANGLE: it is one */
    uint32_t index;
} cylinder;

/* ---- Triangles ------------------------------------------------------------------------------- */

static void pose_triangle(carom_tree_side *side, uint32_t triangle) {
    if (side->posed_triangle == triangle) return;
    const carom_tree_surface *from = &side->tree->surface;
    const uint32_t *corners = from->corners + 3 * (uint64_t)triangle;
    side->posed_triangle = triangle;
    for (int i = 0; i < 3; ++i)
        side->corners[i] = carom_pack_pose_centre(side->place, from->vertices[corners[i]]);
}

/* Neighbours of the nearest triangles are no better if they are this little nearer, relative to the
 * distance: most of them share the nearest point. */
#define HARDLY 0x1p-30

/* Whether the slab between two triangles, along the direction between the nearest points so far, is
 * wider than `factor` times the distance of these. With a factor of 1 or more the triangles are not
 * nearer. */
static bool is_farther(const carom_tree_near *n, const carom_vec3 *a, const carom_vec3 *b,
                       double factor) {
    if (!(n->best.distance > 0x1p-300 && n->best.distance < 0x1p300)) return false;
    carom_vec3 way = carom_vec_sub(n->best.b, n->best.a), from_a[3], from_b[3];
    double size = carom_vec_largest(n->best.a);
    for (int i = 0; i < 3; ++i) {
        from_a[i] = carom_vec_sub(a[i], n->best.a);
        from_b[i] = carom_vec_sub(b[i], n->best.a);
        size = CAROM_MAX(carom_vec_largest(from_a[i]) + carom_vec_largest(from_b[i]), size);
    }
    double error = 0x1p-47 * size * n->best.distance;
    return carom_near_gap(from_a, from_b, way) - error >
           n->best.distance * n->best.distance * factor;
}

/* Sets what is derived from the best distance. */
static void set_limit(carom_tree_search *s) {
    carom_tree_near *n = &s->near;
    double limit = n->best.distance * s->to_frame - s->offset;
    n->limit = limit > 0x1p100 ? HUGE_VALF : (float)limit + n->margin;
}

/* Directions along which cylinders are compared first: from the host to the guest. */
static void set_direction(carom_tree_search *s, carom_vec3 way) {
    carom_tree_near *n = &s->near;
    double length = carom_vec_length(way);
    if (s->far || !(length > 0x1p-300)) return;
    const double *r = s->host.place->frame.r;
    carom_vec3 d = carom_vec_scale(way, (s->swapped ? -1.0 : 1.0) / length);
    n->toward[0] = (float)((r[0] * d.x + r[3] * d.y) + r[6] * d.z) * SHORTER;
    n->toward[1] = (float)((r[1] * d.x + r[4] * d.y) + r[7] * d.z) * SHORTER;
    n->toward[2] = (float)((r[2] * d.x + r[5] * d.y) + r[8] * d.z) * SHORTER;
    n->aimed = true;
}

/* Whether a pair of triangles comes before the nearest so far: by faces, then by triangles. */
static bool is_before(const carom_tree_search *s, uint32_t i, uint32_t j) {
    const carom_tree_near *n = &s->near;
    if (n->triangle_a == UINT32_MAX) return true;
    const uint32_t *a = (s->swapped ? s->guest.tree : s->host.tree)->surface.faces;
    const uint32_t *b = (s->swapped ? s->host.tree : s->guest.tree)->surface.faces;
    if (a[i] != a[n->triangle_a]) return a[i] < a[n->triangle_a];
    if (b[j] != b[n->triangle_b]) return b[j] < b[n->triangle_b];
    return i != n->triangle_a ? i < n->triangle_a : j < n->triangle_b;
}

static void measure(carom_tree_search *s, uint32_t host, uint32_t guest, double factor) {
    carom_tree_near *n = &s->near;
    pose_triangle(&s->host, host);
    pose_triangle(&s->guest, guest);
    const carom_vec3 *a = s->swapped ? s->guest.corners : s->host.corners;
    const carom_vec3 *b = s->swapped ? s->host.corners : s->guest.corners;
    uint32_t i = s->swapped ? guest : host, j = s->swapped ? host : guest;
    carom_closest found;
    ++s->candidates;
    if (is_farther(n, a, b, factor)) return;
    carom_near_triangles(a, b, &found);
    if (found.distance > n->best.distance) return;
    if (found.distance == n->best.distance && !is_before(s, i, j)) return;
    n->best = found;
    n->triangle_a = i;
    n->triangle_b = j;
    set_limit(s);
    set_direction(s, carom_vec_sub(found.b, found.a));
    s->found = !(found.distance > 0.0);
}

/* Measures the triangles around one of the nearest two with the other. */
static void measure_rings(carom_tree_search *s, bool of_guest) {
    const carom_tree_near *n = &s->near;
    const carom_tree_surface *surface = of_guest ? &s->guest.tree->surface : &s->host.tree->surface;
    uint32_t host = s->swapped ? n->triangle_b : n->triangle_a;
    uint32_t guest = s->swapped ? n->triangle_a : n->triangle_b;
    const uint32_t *corners = surface->corners + 3 * (uint64_t)(of_guest ? guest : host);
    uint32_t last = of_guest ? guest : host;
    for (int i = 0; i < 3 && !s->found; ++i) {
        for (uint32_t k = surface->ring_start[corners[i]];
             k < surface->ring_start[corners[i] + 1] && !s->found; ++k) {
            uint32_t t = surface->ring[k];
            if (t == last) continue;
            measure(s, of_guest ? host : t, of_guest ? t : guest, 1.0 - HARDLY);
        }
    }
}

/* Goes on to neighbours of the nearest two triangles, as long as these are nearer. Distances fall,
 * or pairs at the same distance come before: it ends. */
static void descend(carom_tree_search *s) {
    const carom_tree_near *n = &s->near;
    uint32_t a, b;
    do {
        a = n->triangle_a;
        b = n->triangle_b;
        measure_rings(s, false);
        measure_rings(s, true);
        ++s->visits;
    } while (!s->found && (n->triangle_a != a || n->triangle_b != b) && !carom_tree_must_stop(s));
}

void CAROM_CPU(carom_tree_search_triangles)(carom_tree_search *s, uint32_t host, uint32_t guest) {
    measure(s, host, guest, 1.0);
    if (!s->found) descend(s);
}

/* ---- Cylinders ------------------------------------------------------------------------------- */

/* How far a cylinder reaches along a direction, with `cosine` to its axis. */
static float reach_along(float cosine, float radius, float height) {
    float rest = 1.0f - cosine * cosine;
    rest = (rest < 0.0f ? 0.0f : rest) + SINE_ERROR;
    return fabsf(cosine) * height + sqrtf(rest) * radius;
}

CAROM_SIMD carom_f32v reach_lanes(carom_f32v cosine, carom_f32v radius, carom_f32v height) {
    carom_f32v rest = 1.0f - cosine * cosine, zero = carom_f32v_splat(0.0f);
    rest = carom_f32v_max(rest, zero) + SINE_ERROR;
    return carom_f32v_abs(cosine) * height + carom_f32v_sqrt(rest) * radius;
}

/* Lower bounds of the distances of sixteen cylinders from one, along the direction of the nearest
 * points so far. Lanes are left in their own frame: the direction is brought there instead. */
CAROM_SIMD void bound_aimed(const carom_tree_search *s, const carom_tree_cylinders *node,
                            const cylinder *other, bool of_guest,
                            float bounds[CAROM_TREE_CYLINDERS]) {
    const carom_tree_near *n = &s->near;
    const float *u = n->toward, *m = s->turn, *r = n->rotation;
    float at = u[0] * other->x + u[1] * other->y + u[2] * other->z, scale = 1.0f;
    float w[3] = {-u[0], -u[1], -u[2]}, v[3] = {u[0], u[1], u[2]}, base = at;
    if (of_guest) {
        base = u[0] * s->move[0] + u[1] * s->move[1] + u[2] * s->move[2] - at;
        scale = s->scale;
        for (int k = 0; k < 3; ++k) {
            w[k] = m[k] * u[0] + m[3 + k] * u[1] + m[6 + k] * u[2];
            v[k] = r[k] * u[0] + r[3 + k] * u[1] + r[6 + k] * u[2];
        }
    }
    float cosine = u[0] * other->axis_x + u[1] * other->axis_y + u[2] * other->axis_z;
    base -= reach_along(cosine, other->radius, other->height) + n->margin;
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

/* Sixteen cylinders of a node in the host's frame. */
typedef struct posed {
    float x[CAROM_TREE_CYLINDERS], y[CAROM_TREE_CYLINDERS], z[CAROM_TREE_CYLINDERS];
    float axis_x[CAROM_TREE_CYLINDERS], axis_y[CAROM_TREE_CYLINDERS], axis_z[CAROM_TREE_CYLINDERS];
} posed;

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

CAROM_SIMD void pose_cylinders(const carom_tree_search *s, const carom_tree_cylinders *node,
                               posed *to) {
    turn_lanes(s->turn, node->x, node->y, node->z, to->x, to->y, to->z);
    turn_lanes(s->near.rotation, node->axis_x, node->axis_y, node->axis_z, to->axis_x, to->axis_y,
               to->axis_z);
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v_store(&to->x[i], carom_f32v_load(&to->x[i]) + s->move[0]);
        carom_f32v_store(&to->y[i], carom_f32v_load(&to->y[i]) + s->move[1]);
        carom_f32v_store(&to->z[i], carom_f32v_load(&to->z[i]) + s->move[2]);
    }
}

/* The same along the directions between the centres; raises the bounds. */
CAROM_SIMD void bound_centres(const carom_tree_search *s, const carom_tree_cylinders *node,
                              const float *x, const float *y, const float *z, const float *axis_x,
                              const float *axis_y, const float *axis_z, const cylinder *other,
                              float scale, float bounds[CAROM_TREE_CYLINDERS]) {
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v dx = carom_f32v_load(&x[i]) - other->x, dy = carom_f32v_load(&y[i]) - other->y;
        carom_f32v dz = carom_f32v_load(&z[i]) - other->z;
        carom_f32v d = carom_f32v_sqrt(dx * dx + dy * dy + dz * dz);
        carom_f32v shrink = SHORTER / (d + 0x1p-60f); /* 0 / 0 is not wanted */
        carom_f32v to_lane = (dx * carom_f32v_load(&axis_x[i]) + dy * carom_f32v_load(&axis_y[i]) +
                              dz * carom_f32v_load(&axis_z[i])) *
                             shrink;
        carom_f32v to_other =
            (dx * other->axis_x + dy * other->axis_y + dz * other->axis_z) * shrink;
        carom_f32v reach =
            reach_lanes(to_lane, carom_f32v_load(&node->radius[i]) * scale,
                        carom_f32v_load(&node->height[i]) * scale) +
            reach_lanes(to_other, carom_f32v_splat(other->radius), carom_f32v_splat(other->height));
        carom_f32v bound = d * SHORTER - reach - s->near.margin;
        carom_f32v_store(&bounds[i], carom_f32v_max(carom_f32v_load(&bounds[i]), bound));
    }
}

/* Lanes whose bounds are at most a limit; keeps the least of those up to the tolerance above. */
CAROM_SIMD carom_lanes select_lanes(carom_tree_near *n, const float bounds[CAROM_TREE_CYLINDERS]) {
    carom_lanes near = 0, left = 0;
    float limit = n->limit - n->tolerance;
    for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; i += CAROM_LANES) {
        carom_f32v bound = carom_f32v_load(&bounds[i]);
        near |= carom_lanes_of(bound <= limit) << i;
        left |= carom_lanes_of(bound <= n->limit) << i;
    }
    for (left &= ~near; left != 0; left &= left - 1) {
        float bound = bounds[__builtin_ctz(left)];
        if (bound < n->pending) n->pending = bound;
    }
    return near;
}

static void approach(carom_tree_search *s, const cylinder *host, const cylinder *guest);

/* Replaces one of two cylinders by its children, nearest first. */
static void expand(carom_tree_search *s, const cylinder *host, const cylinder *guest,
                   bool of_guest) {
    carom_tree_near *n = &s->near;
    const cylinder *whole = of_guest ? guest : host, *other = of_guest ? host : guest;
    const carom_tree_surface *surface = of_guest ? &s->guest.tree->surface : &s->host.tree->surface;
    const carom_tree_cylinders *node =
        &surface->nodes[surface->level_start[whole->level] + whole->index];
    float bounds[CAROM_TREE_CYLINDERS], scale = of_guest ? s->scale : 1.0f;
    posed at;
    if (++s->visits >= n->widen_at && n->tolerance < n->widest) {
        n->tolerance *= 2.0f;
        n->widen_at += n->widen_by;
    }
    if (n->aimed) {
        bound_aimed(s, node, other, of_guest, bounds);
    } else {
        for (uint32_t i = 0; i < CAROM_TREE_CYLINDERS; ++i) bounds[i] = -HUGE_VALF;
    }
    carom_lanes set = n->aimed ? select_lanes(n, bounds) : UINT16_MAX;
    if (set == 0) return;
    if (of_guest) {
        pose_cylinders(s, node, &at);
        if (!s->far)
            bound_centres(s, node, at.x, at.y, at.z, at.axis_x, at.axis_y, at.axis_z, other, scale,
                          bounds);
    } else if (!s->far) {
        bound_centres(s, node, node->x, node->y, node->z, node->axis_x, node->axis_y, node->axis_z,
                      other, scale, bounds);
    }
    set &= select_lanes(n, bounds);
    while (set != 0) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        for (carom_lanes rest = set & (set - 1); rest != 0; rest &= rest - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(rest);
            if (bounds[i] < bounds[lane]) lane = i;
        }
        set &= ~(1u << lane);
        if (!(bounds[lane] <= n->limit - n->tolerance) ||
            (n->best.distance < HUGE_VAL && (s->stopped || carom_tree_must_stop(s)))) {
            if (bounds[lane] < n->pending) n->pending = bounds[lane];
            continue;
        }
        cylinder part = {of_guest ? at.x[lane] : node->x[lane],
                         of_guest ? at.y[lane] : node->y[lane],
                         of_guest ? at.z[lane] : node->z[lane],
                         of_guest ? at.axis_x[lane] : node->axis_x[lane],
                         of_guest ? at.axis_y[lane] : node->axis_y[lane],
                         of_guest ? at.axis_z[lane] : node->axis_z[lane],
                         node->radius[lane] * scale,
                         node->height[lane] * scale,
                         whole->level == 0 ? TRIANGLE : whole->level - 1,
                         whole->index * CAROM_TREE_CYLINDERS + lane};
        if (of_guest)
            approach(s, host, &part);
        else
            approach(s, &part, guest);
        if (s->found) return;
    }
}

static void approach(carom_tree_search *s, const cylinder *host, const cylinder *guest) {
    if (host->level == TRIANGLE && guest->level == TRIANGLE) {
        double before = s->near.best.distance;
        measure(s, host->index, guest->index, 1.0 + 0x1p-40);
        if (s->near.best.distance < before && !s->found) descend(s);
        return;
    }
    expand(s, host, guest,
           host->level == TRIANGLE || (guest->level != TRIANGLE && guest->radius > host->radius));
}

/* The ball around a surface, as a cylinder. */
static cylinder root_of(const carom_tree_surface *surface) {
    float radius = (float)surface->radius * (1.0f + 0x1p-20f);
    cylinder p = {(float)surface->centre.x,
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

void CAROM_CPU(carom_tree_search_surfaces)(carom_tree_search *s) {
    carom_tree_near *n = &s->near;
    cylinder host = root_of(&s->host.tree->surface), guest = root_of(&s->guest.tree->surface);
    const float *m = s->turn;
    float x = guest.x, y = guest.y, z = guest.z;
    guest.x = m[0] * x + m[1] * y + m[2] * z + s->move[0];
    guest.y = m[3] * x + m[4] * y + m[5] * z + s->move[1];
    guest.z = m[6] * x + m[7] * y + m[8] * z + s->move[2];
    guest.radius *= s->scale;
    guest.height *= s->scale;
    set_limit(s);
    if (s->far) {
        memcpy(n->toward, s->toward, sizeof(n->toward));
        n->aimed = true;
    }
    if (!s->found) approach(s, &host, &guest);
}
