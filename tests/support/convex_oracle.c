/* SPDX-License-Identifier: MIT */
/* Proofs of convex queries in 113 bits. */
#include "tests/support/convex_oracle.h"

#include <stdlib.h>

static quad3 turn(const quad *r, quad3 d) {
    return (quad3){r[0] * d.x + r[1] * d.y + r[2] * d.z, r[3] * d.x + r[4] * d.y + r[5] * d.z,
                   r[6] * d.x + r[7] * d.y + r[8] * d.z};
}

static quad3 turn_back(const quad *r, quad3 d) {
    return (quad3){r[0] * d.x + r[3] * d.y + r[6] * d.z, r[1] * d.x + r[4] * d.y + r[7] * d.z,
                   r[2] * d.x + r[5] * d.y + r[8] * d.z};
}

static quad3 vertex(const oracle_shape *s, uint64_t v) {
    const double *p = (const double *)s->mesh.positions + 3 * v;
    return (quad3){p[0], p[1], p[2]};
}

oracle_shape oracle_posed_shape(const carom_convex *shape, const carom_mesh_view *mesh,
                                const carom_pose *pose) {
    oracle_shape s = {.shape = shape};
    quad w = 1, x = 0, y = 0, z = 0;
    if (mesh != NULL) s.mesh = *mesh;
    if (pose != NULL) {
        s.t = quad3_of(pose->t);
        quad n = (quad)pose->q.w * pose->q.w + (quad)pose->q.x * pose->q.x +
                 (quad)pose->q.y * pose->q.y + (quad)pose->q.z * pose->q.z;
        if (n > 0) {
            quad l = quad_sqrt(n);
            w = pose->q.w / l, x = pose->q.x / l, y = pose->q.y / l, z = pose->q.z / l;
        }
    }
    quad r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                 2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                 2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    for (int i = 0; i < 9; ++i) s.r[i] = r[i];
    return s;
}

static quad most(quad a, quad b) {
    return a > b ? a : b;
}

quad oracle_support(const oracle_shape *s, quad3 n) {
    const carom_convex *c = s->shape;
    quad3 d = turn_back(s->r, n);
    quad length = quad_sqrt(quad3_dot(n, n)), value = 0;
    quad across = quad_sqrt(d.x * d.x + d.y * d.y);
    switch (c->kind) {
    case CAROM_CONVEX_KIND_SPHERE:
        value = c->radius * length;
        break;
    case CAROM_CONVEX_KIND_SEGMENT:
        value = c->half_height * quad_abs(d.z);
        break;
    case CAROM_CONVEX_KIND_CAPSULE:
        value = c->half_height * quad_abs(d.z) + c->radius * length;
        break;
    case CAROM_CONVEX_KIND_BOX:
        value = c->half.x * quad_abs(d.x) + c->half.y * quad_abs(d.y) + c->half.z * quad_abs(d.z);
        break;
    case CAROM_CONVEX_KIND_CYLINDER:
        value = c->half_height * quad_abs(d.z) + c->radius * across;
        break;
    case CAROM_CONVEX_KIND_CONE:
        value = most(c->half_height * d.z, c->radius * across - c->half_height * d.z);
        break;
    case CAROM_CONVEX_KIND_ELLIPSOID: {
        quad x = c->half.x * d.x, y = c->half.y * d.y, z = c->half.z * d.z;
        value = quad_sqrt(x * x + y * y + z * z);
        break;
    }
    case CAROM_CONVEX_KIND_HULL:
        for (uint64_t v = 0; v < s->mesh.vertex_count; ++v) {
            quad dot = quad3_dot(vertex(s, v), d);
            if (v == 0 || dot > value) value = dot;
        }
        break;
    default:
        break;
    }
    return value + c->margin * length + quad3_dot(s->t, n);
}

/* ---- How far a point is outside -------------------------------------------------------------- */

/* The distance of (x, y) from a triangle in the plane, 0 inside. */
static double outside_triangle(double x, double y, const double *c) {
    carom_triangle t;
    carom_vec3 p = {x, y, 0.0};
    for (int i = 0; i < 3; ++i) t.corner[i] = (carom_vec3){c[2 * i], c[2 * i + 1], 0.0};
    return carom_point_triangle_distance_value(&p, &t).distance;
}

static double outside_ellipsoid(const double *h, const double *p) {
    quad sum = 0, low = 0, high = 0;
    for (int i = 0; i < 3; ++i) {
        if (h[i] == 0.0 && p[i] != 0.0) sum = 2;
        if (h[i] > 0.0) sum += (quad)p[i] * p[i] / ((quad)h[i] * h[i]);
        high += quad_abs(p[i]) * h[i];
    }
    if (sum <= 1) return 0.0;
    /* The nearest point is h^2 p / (t + h^2) with the t >= 0 that puts it on the ellipsoid. */
    high = high * 2 + 1e-300;
    for (int step = 0; step < 240; ++step) {
        quad t = (low + high) / 2;
        sum = 0;
        for (int i = 0; i < 3; ++i) {
            quad x = h[i] == 0.0 ? 0 : (quad)h[i] * p[i] / (t + (quad)h[i] * h[i]);
            sum += x * x;
        }
        if (sum > 1)
            low = t;
        else
            high = t;
    }
    quad square = 0;
    for (int i = 0; i < 3; ++i) {
        quad x = h[i] == 0.0 ? p[i] : p[i] - (quad)h[i] * h[i] * p[i] / (high + (quad)h[i] * h[i]);
        square += x * x;
    }
    return (double)quad_sqrt(square);
}

static double outside_hull(const oracle_shape *s, carom_vec3 p) {
    const carom_mesh_view *m = &s->mesh;
    double least = HUGE_VAL;
    bool inside = m->face_count > 2;
    if (m->face_count == 0) {
        carom_vec3 ends[2];
        for (uint64_t v = 0; v < 2; ++v) {
            quad3 q = vertex(s, v < m->vertex_count ? v : 0);
            ends[v] = (carom_vec3){(double)q.x, (double)q.y, (double)q.z};
        }
        return carom_point_segment_distance_value(&p, ends).distance;
    }
    for (uint64_t f = 0; f < m->face_count; ++f) {
        uint64_t begin = m->offsets != NULL ? m->offsets[f] : 3 * f;
        uint64_t end = m->offsets != NULL ? m->offsets[f + 1] : 3 * f + 3;
        for (uint64_t i = begin + 2; i < end; ++i) {
            carom_triangle t;
            uint32_t c[3] = {m->corners[begin], m->corners[i - 1], m->corners[i]};
            for (int k = 0; k < 3; ++k) {
                quad3 q = vertex(s, c[k]);
                t.corner[k] = (carom_vec3){(double)q.x, (double)q.y, (double)q.z};
            }
            carom_vec3 four[4] = {t.corner[0], t.corner[1], t.corner[2], p};
            if (carom_points_orient_3d_value(four) > 0) inside = false;
            double d = carom_point_triangle_distance_value(&p, &t).distance;
            if (d < least) least = d;
        }
    }
    return inside ? 0.0 : least;
}

double oracle_outside(const oracle_shape *s, carom_vec3 point) {
    const carom_convex *c = s->shape;
    quad3 q = turn_back(s->r, quad3_sub(quad3_of(point), s->t));
    carom_vec3 p = {(double)q.x, (double)q.y, (double)q.z};
    double rho = (double)quad_sqrt(q.x * q.x + q.y * q.y), h = c->half_height;
    double half[3] = {c->half.x, c->half.y, c->half.z}, x[3] = {p.x, p.y, p.z}, out = 0.0;
    switch (c->kind) {
    case CAROM_CONVEX_KIND_SEGMENT:
    case CAROM_CONVEX_KIND_CAPSULE:
        out = hypot(rho, fmax(fabs(p.z) - h, 0.0));
        break;
    case CAROM_CONVEX_KIND_BOX:
        for (int i = 0; i < 3; ++i) out = hypot(out, fmax(fabs(x[i]) - half[i], 0.0));
        break;
    case CAROM_CONVEX_KIND_CYLINDER:
        out = hypot(fmax(rho - c->radius, 0.0), fmax(fabs(p.z) - h, 0.0));
        break;
    case CAROM_CONVEX_KIND_CONE: {
        double corners[6] = {0.0, h, c->radius, -h, 0.0, -h};
        out = outside_triangle(rho, p.z, corners);
        break;
    }
    case CAROM_CONVEX_KIND_ELLIPSOID:
        out = outside_ellipsoid(half, x);
        break;
    case CAROM_CONVEX_KIND_HULL:
        out = outside_hull(s, p);
        break;
    default:
        out = hypot(rho, p.z);
        break;
    }
    double round = c->margin;
    if (c->kind == CAROM_CONVEX_KIND_SPHERE || c->kind == CAROM_CONVEX_KIND_CAPSULE)
        round += c->radius;
    return fmax(out - round, 0.0);
}

/* ---- Results --------------------------------------------------------------------------------- */

static double size_of(const oracle_shape *s) {
    const carom_convex *c = s->shape;
    double size = c->margin;
    if (c->kind == CAROM_CONVEX_KIND_HULL) {
        double low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
        for (uint64_t v = 0; v < s->mesh.vertex_count; ++v) {
            const double *p = (const double *)s->mesh.positions + 3 * v;
            for (int i = 0; i < 3; ++i) {
                low[i] = fmin(low[i], p[i]);
                high[i] = fmax(high[i], p[i]);
            }
        }
        for (int i = 0; i < 3; ++i) size += fmax(-low[i], high[i]);
        return size;
    }
    if (c->kind == CAROM_CONVEX_KIND_BOX || c->kind == CAROM_CONVEX_KIND_ELLIPSOID)
        return size + c->half.x + c->half.y + c->half.z;
    if (c->kind != CAROM_CONVEX_KIND_POINT && c->kind != CAROM_CONVEX_KIND_SEGMENT)
        size += c->radius;
    if (c->kind != CAROM_CONVEX_KIND_POINT && c->kind != CAROM_CONVEX_KIND_SPHERE)
        size += c->half_height;
    return size;
}

double oracle_scale(const oracle_shape *a, const oracle_shape *b) {
    /* absolute translations, too: witness points are rounded to them */
    double sum = size_of(a) + size_of(b);
    sum += (double)(quad_abs(a->t.x) + quad_abs(a->t.y) + quad_abs(a->t.z));
    sum += (double)(quad_abs(b->t.x) + quad_abs(b->t.y) + quad_abs(b->t.z));
    return sum > 0.0 ? sum : 1.0;
}

static bool is_finite(const carom_convex_result *r) {
    double sum = fabs(r->distance) + fabs(r->depth) + fabs(r->error);
    const double *v[3] = {&r->normal.x, &r->point_a.x, &r->point_b.x};
    for (int i = 0; i < 3; ++i) sum += fabs(v[i][0]) + fabs(v[i][1]) + fabs(v[i][2]);
    return isfinite(sum);
}

double oracle_refute(const oracle_shape *a, const oracle_shape *b, const carom_convex_result *r,
                     const char **why) {
    double scale = oracle_scale(a, b), worst = 0.0, off;
    quad3 n = quad3_of(r->normal), back = {-n.x, -n.y, -n.z};
    quad reach = oracle_support(a, n) + oracle_support(b, back);
    double between = (double)quad3_distance(quad3_of(r->point_a), quad3_of(r->point_b));
    *why = "";
#define WORSE(value, text)                                                                         \
    do {                                                                                           \
        off = (value) / scale;                                                                     \
        if (!(off <= worst)) worst = off, *why = (text);                                           \
    } while (0)
    if (!is_finite(r)) {
        *why = "not finite";
        return 1.0;
    }
    WORSE(fabs((double)(quad_sqrt(quad3_dot(n, n)) - 1)) * 1e-3 * scale, "normal is not unit");
    WORSE(oracle_outside(a, r->point_a), "point_a is outside a");
    WORSE(oracle_outside(b, r->point_b), "point_b is outside b");
    if (r->relation == CAROM_RELATION_APART) {
        WORSE(fabs((double)-reach - r->distance), "the plane does not separate by the distance");
        WORSE(fabs(between - r->distance), "the points are not the distance apart");
        if (!(reach < 0)) worst = 1.0, *why = "apart, and no plane";
    } else if (r->relation == CAROM_RELATION_OVERLAPPING) {
        WORSE(fabs((double)reach - r->depth), "the depth is not that along the normal");
        WORSE(fabs(between - r->depth), "the points are not the depth apart");
        if (!(reach > 0)) worst = 1.0, *why = "overlapping, and a plane separates";
    } else {
        WORSE(between, "touching, and the points are apart");
        WORSE(fabs((double)reach), "touching, and not along the normal");
    }
#undef WORSE
    return worst;
}

/* ---- Depth ----------------------------------------------------------------------------------- */

/* Normals of faces and edges of a polytope, in the world. */
typedef struct features {
    quad3 *normals, *edges;
    uint64_t normal_count, edge_count;
} features;

static features features_of(const oracle_shape *s) {
    const carom_mesh_view *m = &s->mesh;
    features f = {0};
    quad3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint64_t corners = m->face_count == 0 ? 0
                       : m->offsets       ? m->offsets[m->face_count]
                                          : 3 * m->face_count;
    f.normals = malloc((m->face_count + 3) * sizeof(quad3));
    f.edges = malloc((corners + 3) * sizeof(quad3));
    if (s->shape->kind == CAROM_CONVEX_KIND_BOX) {
        for (int i = 0; i < 3; ++i) f.normals[i] = f.edges[i] = turn(s->r, axes[i]);
        f.normal_count = f.edge_count = 3;
    } else if (s->shape->kind == CAROM_CONVEX_KIND_SEGMENT ||
               s->shape->kind == CAROM_CONVEX_KIND_CAPSULE) {
        f.edges[f.edge_count++] = turn(s->r, axes[2]);
    } else if (s->shape->kind == CAROM_CONVEX_KIND_HULL) {
        for (uint64_t i = 0; i < m->face_count; ++i) {
            uint64_t begin = m->offsets ? m->offsets[i] : 3 * i;
            uint64_t end = m->offsets ? m->offsets[i + 1] : 3 * i + 3;
            quad3 o = vertex(s, m->corners[begin]);
            f.normals[f.normal_count++] =
                turn(s->r, quad3_cross(quad3_sub(vertex(s, m->corners[begin + 1]), o),
                                       quad3_sub(vertex(s, m->corners[begin + 2]), o)));
            for (uint64_t k = begin; k < end; ++k) {
                uint32_t u = m->corners[k], v = m->corners[k + 1 < end ? k + 1 : begin];
                if (u < v)
                    f.edges[f.edge_count++] = turn(s->r, quad3_sub(vertex(s, v), vertex(s, u)));
            }
        }
        if (m->face_count == 0 && m->vertex_count == 2)
            f.edges[f.edge_count++] = turn(s->r, quad3_sub(vertex(s, 1), vertex(s, 0)));
    }
    return f;
}

static void try_normal(const oracle_shape *a, const oracle_shape *b, quad3 n, quad *least) {
    quad length = quad_sqrt(quad3_dot(n, n));
    if (!(length > 0)) return;
    for (int side = 0; side < 2; ++side) {
        quad sign = side == 0 ? 1 / length : -1 / length;
        quad3 unit = {n.x * sign, n.y * sign, n.z * sign}, back = {-unit.x, -unit.y, -unit.z};
        quad reach = oracle_support(a, unit) + oracle_support(b, back);
        if (reach < *least) *least = reach;
    }
}

quad oracle_polytope_depth(const oracle_shape *a, const oracle_shape *b) {
    features fa = features_of(a), fb = features_of(b);
    quad least = HUGE_VAL;
    for (uint64_t i = 0; i < fa.normal_count; ++i) try_normal(a, b, fa.normals[i], &least);
    for (uint64_t i = 0; i < fb.normal_count; ++i) try_normal(a, b, fb.normals[i], &least);
    for (uint64_t i = 0; i < fa.edge_count; ++i)
        for (uint64_t k = 0; k < fb.edge_count; ++k)
            try_normal(a, b, quad3_cross(fa.edges[i], fb.edges[k]), &least);
    free(fa.normals);
    free(fa.edges);
    free(fb.normals);
    free(fb.edges);
    return least;
}

/* Tries of one descent, some sixty times what it usually takes. Where the reach is nearly the same
 * in all directions, 113 bits show ever smaller gains, and it would not end. */
#define MOST_TRIES 20000

quad oracle_least_reach(const oracle_shape *a, const oracle_shape *b, uint64_t seed, int starts) {
    carom_random random = {seed};
    quad least = HUGE_VAL;
    for (int start = 0; start < starts; ++start) {
        quad3 n = {carom_random_normal(&random), carom_random_normal(&random),
                   carom_random_normal(&random)};
        quad best = HUGE_VAL;
        try_normal(a, b, n, &best);
        double step = 0.5;
        /* A random descent on the sphere. */
        for (int tries = 0; step > 1e-14 && tries < MOST_TRIES; ++tries) {
            quad length = quad_sqrt(quad3_dot(n, n)), before = best;
            quad3 tried = {n.x / length + step * carom_random_normal(&random),
                           n.y / length + step * carom_random_normal(&random),
                           n.z / length + step * carom_random_normal(&random)};
            try_normal(a, b, tried, &best);
            if (best < before)
                n = tried, step *= 1.5;
            else
                step *= 0.9;
        }
        if (best < least) least = best;
    }
    return least;
}
