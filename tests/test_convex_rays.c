/* SPDX-License-Identifier: MIT */
/* Rays at convex shapes against an oracle in 113 bits: all kinds, at scales from 2^-500 to 2^500,
 * from 1e-15 to 1e15 sizes away, in poses far from the origin; boxes also in integers. With
 * CAROM_LONG=1 a million rays.
 *
 * The oracle is a function of a point that is convex along every ray: the distance outside, minus a
 * lower bound of the depth inside. With it and the e of convex.h:
 *   a ray along which it falls below -e must hit, one along which it stays above e must miss;
 *   at a hit it is within e of 0, and nowhere before it is below -e. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/convex_pairs.h"
#include "tests/support/quad.h"

#define RAYS_PER_SHAPE 10u
/* Of the size: the e of carom_convex_cast_rays, for shapes that are clipped and for others; and
 * that of being inside. */
#define E_CLIPPED 0x1p-45
#define E_STEPPED 0x1p-43
#define E_INSIDE  0x1p-40
/* Golden sections: 0.618^90 is 2^-62 of a few sizes. */
#define SECTIONS 90

/* ---- shapes ---------------------------------------------------------------------------------- */

typedef struct target {
    convex_shape shape;
    carom_convex plain; /* what a support function is, else the shape itself */
    carom_pose pose;
    oracle_shape posed; /* of plain */
    quad3 *normals;     /* of a solid hull's faces: unit, in its frame */
    quad *heights;
    uint64_t face_count;
    double size, e;
} target;

static bool was_hit(const carom_hit *hit) {
    return hit->id != CAROM_NONE;
}

static bool is_inside(const carom_hit *hit) {
    return was_hit(hit) && hit->distance == 0.0 && hit->normal.x == 0.0 && hit->normal.y == 0.0 &&
           hit->normal.z == 0.0;
}

static double any(carom_random *random, double low, double high) {
    return carom_random_between(random, low, high);
}

static carom_vec3 any_normal(carom_random *random) {
    return (carom_vec3){carom_random_normal(random), carom_random_normal(random),
                        carom_random_normal(random)};
}

static bool one_in(carom_random *random, uint64_t n) {
    return carom_random_next(random) % n == 0;
}

static double any_size(carom_random *random, double scale) {
    if (one_in(random, 4)) return scale;
    if (one_in(random, 8)) return scale * pow(10.0, any(random, -12.0, 0.0));
    if (one_in(random, 24)) return 0.0;
    return scale * any(random, 0.1, 1.0);
}

/* The support point of a box or ellipsoid given as `user`. */
static carom_vec3 support_of(void *user, const carom_vec3 *d) {
    const carom_convex *c = user;
    carom_vec3 h = c->half;
    if (c->kind == CAROM_CONVEX_KIND_BOX)
        return (carom_vec3){copysign(h.x, d->x), copysign(h.y, d->y), copysign(h.z, d->z)};
    double most = fmax(fabs(d->x), fmax(fabs(d->y), fabs(d->z)));
    double x = h.x * (d->x / most), y = h.y * (d->y / most), z = h.z * (d->z / most);
    double large = fmax(fabs(x), fmax(fabs(y), fabs(z)));
    if (!(large > 0.0)) return (carom_vec3){0.0, 0.0, 0.0};
    x /= large, y /= large, z /= large;
    double length = sqrt(x * x + y * y + z * z);
    return (carom_vec3){h.x * (x / length), h.y * (y / length), h.z * (z / length)};
}

static void any_hull(carom_context *context, carom_random *random, double scale, target *g) {
    carom_vec3 points[60], shift = {0.0, 0.0, 0.0};
    uint64_t count = 4 + carom_random_next(random) % 56;
    double flat = one_in(random, 4) ? pow(10.0, any(random, -10.0, 0.0)) : 1.0;
    if (one_in(random, 3)) shift = any_normal(random);
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 p = any_normal(random);
        double length = one_in(random, 2) ? sqrt(p.x * p.x + p.y * p.y + p.z * p.z) : 2.0;
        points[i] = (carom_vec3){scale * (p.x / length + shift.x), scale * (p.y / length + shift.y),
                                 scale * flat * (p.z / length + shift.z)};
    }
    convex_shape_hull(context, &g->shape, points, count);
    const carom_mesh_view *m = &g->shape.view;
    const double *at = m->positions;
    g->face_count = m->face_count;
    g->normals = malloc((size_t)m->face_count * sizeof(quad3) + 1);
    g->heights = malloc((size_t)m->face_count * sizeof(quad) + 1);
    for (uint64_t f = 0; f < m->face_count; ++f) {
        const uint32_t *c = m->corners + (m->offsets != NULL ? m->offsets[f] : 3 * f);
        quad3 p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = (quad3){at[3 * c[k]], at[3 * c[k] + 1], at[3 * c[k] + 2]};
        quad3 n = quad3_cross(quad3_sub(p[1], p[0]), quad3_sub(p[2], p[0]));
        quad length = quad_sqrt(quad3_dot(n, n));
        g->normals[f] = (quad3){n.x / length, n.y / length, n.z / length};
        g->heights[f] = quad3_dot(g->normals[f], p[0]);
    }
}

static double size_of(const target *g) {
    const carom_convex *c = &g->plain;
    if (c->kind == CAROM_CONVEX_KIND_HULL) {
        carom_hull_info info;
        carom_context *context = test_context(1);
        assert_ok(context, carom_hull_get_info(g->shape.hull, &info));
        carom_context_destroy(context);
        return fabs(info.centre.x) + fabs(info.centre.y) + fabs(info.centre.z) +
               2.0 * info.outer_radius + c->margin;
    }
    carom_pose none = {{0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const carom_convex point = {0};
    oracle_shape a = oracle_posed_shape(c, NULL, &none),
                 b = oracle_posed_shape(&point, NULL, &none);
    return oracle_scale(&a, &b);
}

static bool is_clipped(const carom_convex *c) {
    switch (c->kind) {
    case CAROM_CONVEX_KIND_POINT:
    case CAROM_CONVEX_KIND_SPHERE:
    case CAROM_CONVEX_KIND_SEGMENT:
    case CAROM_CONVEX_KIND_CAPSULE:
        return true;
    case CAROM_CONVEX_KIND_BOX:
    case CAROM_CONVEX_KIND_CYLINDER:
    case CAROM_CONVEX_KIND_ELLIPSOID:
        return c->margin == 0.0;
    default:
        return false;
    }
}

static void make_target(carom_context *context, carom_random *random, uint64_t number, target *g) {
    memset(g, 0, sizeof(*g));
    double scale = ldexp(any(random, 0.5, 1.0), (int)any(random, -500.0, 500.0));
    carom_convex *c = &g->shape.convex;
    c->kind = (carom_convex_kind)(number % CAROM_CONVEX_KIND_COUNT);
    c->half =
        (carom_vec3){any_size(random, scale), any_size(random, scale), any_size(random, scale)};
    c->radius = any_size(random, scale);
    c->half_height = any_size(random, scale);
    if (c->kind == CAROM_CONVEX_KIND_HULL) any_hull(context, random, scale, g);
    if (one_in(random, 4) || c->kind == CAROM_CONVEX_KIND_POINT)
        c->margin = any_size(random, 0.3 * scale);
    g->plain = *c;
    if (c->kind == CAROM_CONVEX_KIND_SUPPORT) {
        g->plain.kind = one_in(random, 2) ? CAROM_CONVEX_KIND_BOX : CAROM_CONVEX_KIND_ELLIPSOID;
        c->support = support_of;
        c->support_user = &g->plain;
        c->support_ball.radius = c->half.x + c->half.y + c->half.z;
    }
    g->size = size_of(g);
    if (!one_in(random, 3)) {
        carom_vec3 q = any_normal(random), t = any_normal(random);
        double far = scale * pow(10.0, any(random, -3.0, one_in(random, 2) ? 15.0 : 2.0));
        g->pose.q = (carom_quat){carom_random_normal(random), q.x, q.y, q.z};
        g->pose.t = (carom_vec3){far * t.x, far * t.y, far * t.z};
    }
    g->posed = oracle_posed_shape(&g->plain, &g->shape.view, &g->pose);
    g->e = g->size * (is_clipped(c) ? E_CLIPPED : E_STEPPED);
}

static void free_target(target *g) {
    convex_shape_free(&g->shape);
    free(g->normals);
    free(g->heights);
}

/* ---- the oracle ------------------------------------------------------------------------------ */

static quad least(quad a, quad b) {
    return a < b ? a : b;
}

static quad most(quad a, quad b) {
    return a > b ? a : b;
}

static quad length_of(quad x, quad y) {
    return quad_sqrt(x * x + y * y);
}

/* Of a point given by how far it is beyond two planes at a right angle. */
static quad corner(quad x, quad y) {
    return x > 0 && y > 0 ? length_of(x, y) : most(x, y);
}

static quad box_value(const carom_convex *c, quad3 p) {
    quad x = quad_abs(p.x) - c->half.x, y = quad_abs(p.y) - c->half.y,
         z = quad_abs(p.z) - c->half.z;
    return corner(corner(x, y), z);
}

/* The distance of (x, z) from the segment, minus it on the inner side of all three lines. */
static quad cone_value(const carom_convex *c, quad3 p) {
    quad rho = length_of(p.x, p.y), r = c->radius, h = c->half_height, far = 0, inner = 0;
    const quad a[3][2] = {{r, -h}, {0, h}, {-r, -h}};
    for (int i = 0; i < 3; ++i) {
        const quad *u = a[i], *v = a[(i + 1) % 3];
        quad ex = v[0] - u[0], ey = v[1] - u[1], px = rho - u[0], py = p.z - u[1];
        quad square = ex * ex + ey * ey, s = square > 0 ? (px * ex + py * ey) / square : 0;
        quad beyond = square > 0 ? (px * ey - py * ex) / quad_sqrt(square) : 0;
        s = most(0, least(1, s));
        quad d = length_of(px - s * ex, py - s * ey);
        far = i == 0 ? d : least(far, d);
        inner = i == 0 ? beyond : most(inner, beyond);
    }
    return inner < 0 ? inner : far;
}

static quad ellipsoid_value(const carom_convex *c, quad3 p) {
    const quad h[3] = {c->half.x, c->half.y, c->half.z}, x[3] = {p.x, p.y, p.z};
    quad sum = 0, thin = least(h[0], least(h[1], h[2])), t = 0, square = 0;
    bool outside = false;
    for (int i = 0; i < 3; ++i) {
        if (h[i] == 0 && x[i] != 0) outside = true;
        if (h[i] > 0) sum += x[i] * x[i] / (h[i] * h[i]);
        t = most(t, h[i] * quad_abs(x[i]) - h[i] * h[i]);
    }
    if (!outside && sum <= 1) return thin * (quad_sqrt(sum) - 1);
    /* The nearest point is h^2 x / (t + h^2) for the t that puts it on the ellipsoid: the root of a
     * convex, falling function, which Newton's method approaches from the left. */
    for (int step = 0; step < 200; ++step) {
        quad value = -1, slope = 0;
        for (int i = 0; i < 3; ++i) {
            if (h[i] == 0) continue;
            quad below = t + h[i] * h[i], y = h[i] * x[i] / below;
            value += y * y;
            slope -= 2 * y * y / below;
        }
        if (!(value > 0x1p-100) || !(slope < 0)) break;
        t -= value / slope;
    }
    for (int i = 0; i < 3; ++i) {
        quad off = h[i] == 0 ? x[i] : x[i] * (t / (t + h[i] * h[i]));
        square += off * off;
    }
    return quad_sqrt(square);
}

static quad segment_distance(quad3 p, quad3 a, quad3 b) {
    quad3 e = quad3_sub(b, a), from = quad3_sub(p, a);
    quad square = quad3_dot(e, e), s = square > 0 ? quad3_dot(from, e) / square : 0;
    return quad3_distance(p, quad3_along(a, e, most(0, least(1, s))));
}

static quad3 vertex(const target *g, uint32_t v) {
    const double *p = (const double *)g->shape.view.positions + 3 * (size_t)v;
    return (quad3){p[0], p[1], p[2]};
}

/* The distance of a point beyond the plane of a face from it. */
static quad face_distance(const target *g, uint64_t f, quad3 p, quad beyond) {
    const carom_mesh_view *m = &g->shape.view;
    uint64_t begin = m->offsets != NULL ? m->offsets[f] : 3 * f;
    uint64_t end = m->offsets != NULL ? m->offsets[f + 1] : 3 * f + 3;
    bool above = true;
    quad border = -1;
    for (uint64_t i = begin; i < end; ++i) {
        quad3 a = vertex(g, m->corners[i]), b = vertex(g, m->corners[i + 1 < end ? i + 1 : begin]);
        quad3 out = quad3_cross(quad3_sub(b, a), g->normals[f]);
        if (quad3_dot(out, quad3_sub(p, a)) > 0) above = false;
        quad d = segment_distance(p, a, b);
        border = border < 0 ? d : least(border, d);
    }
    return above ? beyond : border;
}

static quad hull_value(const target *g, quad3 p) {
    quad value = 0, far = -1;
    for (uint64_t f = 0; f < g->face_count; ++f) {
        quad beyond = quad3_dot(g->normals[f], p) - g->heights[f];
        if (f == 0 || beyond > value) value = beyond;
    }
    if (value <= 0) return value;
    for (uint64_t f = 0; f < g->face_count; ++f) {
        quad beyond = quad3_dot(g->normals[f], p) - g->heights[f];
        if (beyond <= 0) continue; /* seen from behind: not the nearest */
        quad d = face_distance(g, f, p, beyond);
        far = far < 0 ? d : least(far, d);
    }
    return far;
}

static quad value_of(const target *g, quad3 p) {
    const carom_convex *c = &g->plain;
    quad rho = length_of(p.x, p.y), over = quad_abs(p.z) - c->half_height;
    switch (c->kind) {
    case CAROM_CONVEX_KIND_SPHERE:
        return length_of(rho, p.z) - c->radius - c->margin;
    case CAROM_CONVEX_KIND_SEGMENT:
        return length_of(rho, most(over, 0)) - c->margin;
    case CAROM_CONVEX_KIND_CAPSULE:
        return length_of(rho, most(over, 0)) - c->radius - c->margin;
    case CAROM_CONVEX_KIND_BOX:
        return box_value(c, p) - c->margin;
    case CAROM_CONVEX_KIND_CYLINDER:
        return corner(rho - c->radius, over) - c->margin;
    case CAROM_CONVEX_KIND_CONE:
        return cone_value(c, p) - c->margin;
    case CAROM_CONVEX_KIND_ELLIPSOID:
        return ellipsoid_value(c, p) - c->margin;
    case CAROM_CONVEX_KIND_HULL:
        return hull_value(g, p) - c->margin;
    default:
        return length_of(rho, p.z) - c->margin;
    }
}

/* The ray in the shape's frame. */
typedef struct course {
    const target *g;
    quad3 o, d;
    quad speed; /* |d| */
} course;

static quad3 turned_back(const quad *r, quad3 d) {
    return (quad3){r[0] * d.x + r[3] * d.y + r[6] * d.z, r[1] * d.x + r[4] * d.y + r[7] * d.z,
                   r[2] * d.x + r[5] * d.y + r[8] * d.z};
}

static course course_of(const target *g, const carom_ray *ray) {
    course c = {.g = g};
    c.o = turned_back(g->posed.r, quad3_sub(quad3_of(ray->origin), g->posed.t));
    c.d = turned_back(g->posed.r, quad3_of(ray->direction));
    c.speed = quad_sqrt(quad3_dot(c.d, c.d));
    return c;
}

static quad value_at(const course *c, quad t) {
    return value_of(c->g, quad3_along(c->o, c->d, most(t, 0)));
}

/* The least value between 0 and `end`; stops once it is below -e. */
static quad least_value(const course *c, quad end) {
    const quad ratio = (quad_sqrt(5) - 1) / 2;
    quad middle = -quad3_dot(c->o, c->d) / (c->speed * c->speed), reach = 2 * c->g->size / c->speed;
    quad low = most(middle - reach, 0), high = least(middle + reach, end);
    if (!(low < high)) return value_at(c, most(least(middle, end), 0));
    quad a = high - ratio * (high - low), b = low + ratio * (high - low);
    quad va = value_at(c, a), vb = value_at(c, b);
    for (int i = 0; i < SECTIONS && least(va, vb) >= -c->g->e; ++i) {
        if (va < vb) {
            high = b, b = a, vb = va, a = high - ratio * (high - low);
            va = value_at(c, a);
        } else {
            low = a, a = b, va = vb, b = low + ratio * (high - low);
            vb = value_at(c, b);
        }
    }
    return least(least(va, vb), least(value_at(c, low), value_at(c, high)));
}

/* ---- checks ---------------------------------------------------------------------------------- */

typedef struct totals {
    uint64_t rays, hits, inside;
    double worst; /* of hits: the value relative to the size */
} totals;

static bool is_finite(const carom_hit *h) {
    return (!was_hit(h) || isfinite(h->distance)) &&
           isfinite(h->point.x + h->point.y + h->point.z) &&
           isfinite(h->normal.x + h->normal.y + h->normal.z);
}

#define CHECK(condition, what, value)                                                              \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("ray %llu at a %s: %s: %g of the size, t %.17g, hit %d", number,              \
                     carom_convex_kind_name(g->shape.convex.kind), what,                           \
                     (double)((value) / g->size), h->distance, was_hit(h));                        \
    } while (0)

/* The point and the normal: a plane across the normal through the point supports the shape. */
static void check_surface(const target *g, const course *c, const carom_hit *h,
                          unsigned long long number, totals *sum) {
    quad3 p = quad3_of(h->point), n = quad3_of(h->normal);
    quad rounding =
        0x1p-51 * (quad_abs(p.x) + quad_abs(p.y) + quad_abs(p.z) + quad_abs(g->posed.t.x) +
                   quad_abs(g->posed.t.y) + quad_abs(g->posed.t.z));
    quad3 local = turned_back(g->posed.r, quad3_sub(p, g->posed.t));
    quad off = quad_abs(value_of(g, local));
    CHECK(off <= g->e + rounding, "the point is off the surface", off);
    CHECK(quad_abs(quad3_dot(n, n) - 1) < 1e-13, "the normal is not a unit vector", g->size);
    quad beyond = oracle_support(&g->posed, n) - quad3_dot(n, p);
    CHECK(beyond <= 8 * g->e + 2 * rounding, "the normal does not support", beyond);
    CHECK(quad3_dot(turned_back(g->posed.r, n), c->d) <= 1e-5 * c->speed,
          "the normal is that of a back", g->size);
    if (off - rounding > sum->worst * g->size) sum->worst = (double)((off - rounding) / g->size);
}

static void check_ray(const target *g, const carom_ray *ray, const carom_hit *h,
                      unsigned long long number, totals *sum) {
    course c = course_of(g, ray);
    quad e = g->e, start = value_at(&c, 0), end = ray->length > 0.0 ? ray->length : HUGE_VAL;
    ++sum->rays;
    CHECK(is_finite(h), "not finite", g->size);
    if (is_inside(h)) {
        ++sum->inside;
        CHECK(was_hit(h) && h->distance == 0.0 && h->normal.x == 0.0, "inside is not at 0",
              g->size);
        CHECK(start <= E_INSIDE * (quad)g->size, "starts outside", start);
        return;
    }
    CHECK(start >= -e, "starts inside", start);
    if (!was_hit(h)) {
        quad deepest = least_value(&c, end * (1 - (quad)0x1p-50));
        CHECK(deepest >= -e, "missed a shape", deepest);
        return;
    }
    ++sum->hits;
    /* t is rounded: somewhere within two units of its last place. */
    quad unit = 0x1p-51 * (quad)h->distance + 0x1p-1073, low = most(h->distance - unit, 0),
         high = h->distance + unit;
    CHECK(h->distance <= end, "beyond the end", g->size);
    quad before = value_at(&c, low), after = value_at(&c, high);
    quad span = (high - low) * c.speed; /* where it is beyond the shape, its middle may be in it */
    CHECK(least(before, after) <= e + span, "hit nothing", least(before, after));
    quad earlier = low - g->size * (quad)0x1p-30 / c.speed;
    if (!(before >= -e && value_at(&c, earlier) >= before)) {
        quad deepest = least_value(&c, low);
        CHECK(deepest >= -e, "hit later than first", deepest);
    }
    check_surface(g, &c, h, number, sum);
}

/* ---- rays ------------------------------------------------------------------------------------ */

/* A point of the shape's frame, in the world. */
static carom_vec3 posed_point(const target *g, quad3 p) {
    const quad *r = g->posed.r;
    quad3 t = g->posed.t;
    return (carom_vec3){(double)(r[0] * p.x + r[1] * p.y + r[2] * p.z + t.x),
                        (double)(r[3] * p.x + r[4] * p.y + r[5] * p.z + t.y),
                        (double)(r[6] * p.x + r[7] * p.y + r[8] * p.z + t.z)};
}

static quad3 random_point(const target *g, carom_random *random, double by) {
    const carom_convex *c = &g->plain;
    if (c->kind == CAROM_CONVEX_KIND_HULL) { /* about its vertices' mean */
        const double *p = (const double *)g->shape.view.positions;
        uint64_t count = g->shape.view.vertex_count, i = carom_random_next(random) % count,
                 k = carom_random_next(random) % count;
        quad s = any(random, 0.0, 1.0) * by;
        return (quad3){p[3 * i] + s * (p[3 * k] - p[3 * i]),
                       p[3 * i + 1] + s * (p[3 * k + 1] - p[3 * i + 1]),
                       p[3 * i + 2] + s * (p[3 * k + 2] - p[3 * i + 2])};
    }
    bool boxed = c->kind == CAROM_CONVEX_KIND_BOX || c->kind == CAROM_CONVEX_KIND_ELLIPSOID;
    bool round = c->kind == CAROM_CONVEX_KIND_POINT || c->kind == CAROM_CONVEX_KIND_SEGMENT;
    quad m = c->margin, r = round ? 0 : c->radius;
    quad h = c->kind == CAROM_CONVEX_KIND_SPHERE  ? r
             : c->kind == CAROM_CONVEX_KIND_POINT ? 0
                                                  : c->half_height;
    quad3 half = {(boxed ? c->half.x : r) + m, (boxed ? c->half.y : r) + m,
                  (boxed ? c->half.z : h) + m};
    return (quad3){half.x * any(random, -by, by), half.y * any(random, -by, by),
                   half.z * any(random, -by, by)};
}

static carom_ray any_ray(const target *g, carom_random *random) {
    carom_ray ray = {.length = 0.0};
    double by = one_in(random, 2) ? 0.5 : 1.2;
    double far = g->size * pow(10.0, any(random, -15.0, 15.0));
    quad3 aim = random_point(g, random, by);
    carom_vec3 way = any_normal(random);
    if (one_in(random, 4)) way.x = one_in(random, 2) ? 0.0 : way.x * 1e-9;
    if (one_in(random, 4)) way.y = 0.0;
    if (way.x == 0.0 && way.y == 0.0 && one_in(random, 2)) way.z = 1.0;
    if (one_in(random, 8)) { /* in the shape's plane z = 0, or along its axis */
        aim.z = one_in(random, 2) ? 0 : (quad)g->plain.half_height;
        way.z = 0.0;
        if (way.x == 0.0 && way.y == 0.0) way.x = 1.0;
    }
    quad3 from = {aim.x + (quad)far * way.x, aim.y + (quad)far * way.y, aim.z + (quad)far * way.z};
    carom_vec3 o = posed_point(g, from), to = posed_point(g, aim);
    ray.origin = o;
    ray.direction = (carom_vec3){to.x - o.x, to.y - o.y, to.z - o.z};
    if (one_in(random, 2)) /* the direction alone, not the rounded difference */
        ray.direction = posed_point(&(target){.posed = {.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}}},
                                    (quad3){-way.x, -way.y, -way.z});
    if (one_in(random, 16)) ray.direction = any_normal(random);
    double most_d = fmax(fabs(ray.direction.x), fmax(fabs(ray.direction.y), fabs(ray.direction.z)));
    if (!(most_d > 0.0)) ray.direction = (carom_vec3){0.0, 0.0, 1.0}, most_d = 1.0;
    /* t of some sizes to some 1e300 */
    int k = one_in(random, 2) ? 0 : -ilogb(most_d) + (int)any(random, -400.0, 400.0);
    ray.direction = (carom_vec3){ldexp(ray.direction.x, k), ldexp(ray.direction.y, k),
                                 ldexp(ray.direction.z, k)};
    double t = far / (most_d * ldexp(1.0, k));
    if (one_in(random, 8) && t > 1e-290 && t < 1e290) ray.length = t * any(random, 0.9, 1.1);
    return ray;
}

/* A ray along the surface at a point, a little inside or outside. */
static carom_ray grazing_ray(const target *g, carom_random *random) {
    quad3 aim = random_point(g, random, 1.0);
    quad step = g->size * (quad)0x1p-40, value = value_of(g, aim);
    quad3 n = {value_of(g, (quad3){aim.x + step, aim.y, aim.z}) - value,
               value_of(g, (quad3){aim.x, aim.y + step, aim.z}) - value,
               value_of(g, (quad3){aim.x, aim.y, aim.z + step}) - value};
    quad length = quad_sqrt(quad3_dot(n, n));
    if (!(length > 0)) return any_ray(g, random);
    n = (quad3){n.x / length, n.y / length, n.z / length};
    quad by = -value + g->e * any(random, -4.0, 4.0);
    aim = quad3_along(aim, n, by);
    carom_vec3 v = any_normal(random);
    quad3 d = quad3_cross(n, quad3_of(v));
    quad back = g->size * pow(10.0, any(random, -2.0, 2.0)) / quad_sqrt(quad3_dot(d, d));
    quad3 from = quad3_along(aim, d, -back);
    target turned = *g;
    turned.posed.t = (quad3){0, 0, 0};
    carom_ray ray = {.origin = posed_point(g, from), .direction = posed_point(&turned, d)};
    return ray;
}

static void same_in_a_scene(carom_context *context, const target *g, const carom_ray *rays,
                            const carom_hit *hits, uint32_t count) {
    carom_scene *scene;
    carom_hit found[RAYS_PER_SHAPE];
    carom_scene_object_def object = {.convex = g->shape.convex, .pose = g->pose};
    assert_ok(context, carom_scene_create(context, NULL, &scene));
    assert_ok(context, carom_scene_add(context, scene, &object, 1, NULL));
    assert_ok(context, carom_scene_commit(context, scene));
    assert_ok(context, carom_scene_cast_rays(context, scene, rays, count, found));
    for (uint32_t i = 0; i < count; ++i) {
        const carom_hit *f = &found[i];
        if (was_hit(&hits[i]) && f->id == CAROM_NONE) { /* it may pass by the box, within e */
            course c = course_of(g, &rays[i]);
            quad deepest = least_value(&c, HUGE_VAL);
            if (g->plain.kind == CAROM_CONVEX_KIND_HULL && g->face_count <= 2) continue;
            if (!(deepest >= -g->e))
                fail_msg("ray %u at a %s misses in a scene: %g of the size", i,
                         carom_convex_kind_name(g->shape.convex.kind), (double)deepest / g->size);
            continue;
        }
        assert_true(was_hit(&hits[i]) == (f->id != CAROM_NONE));
        if (!was_hit(&hits[i])) continue;
        assert_true(f->distance == hits[i].distance);
        assert_memory_equal(&f->point, &hits[i].point, sizeof(f->point));
        assert_memory_equal(&f->normal, &hits[i].normal, sizeof(f->normal));
    }
    carom_scene_destroy(scene);
}

static void rays_are_proved(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static totals sums[CAROM_CONVEX_KIND_COUNT][2];
    uint64_t shapes = campaign_is_long() ? 100000 : TEST_CASES(1500);
    for (uint64_t i = 0; i < shapes; ++i) {
        if (!campaign_has(i / 100)) continue;
        carom_random random = {i * UINT64_C(0x9E3779B97F4A7C15) + 5};
        carom_ray rays[RAYS_PER_SHAPE];
        carom_hit hits[RAYS_PER_SHAPE];
        target g;
        make_target(context, &random, i, &g);
        totals *sum = &sums[g.shape.convex.kind][is_clipped(&g.shape.convex)];
        /* of flat hulls the oracle knows no inside */
        bool known = g.plain.kind != CAROM_CONVEX_KIND_HULL || g.face_count > 2;
        for (uint32_t k = 0; k < RAYS_PER_SHAPE; ++k) {
            rays[k] = k % 5 == 4 ? grazing_ray(&g, &random) : any_ray(&g, &random);
            assert_ok(context, carom_convex_cast_rays(context, &g.shape.convex, &g.pose, &rays[k],
                                                      1, &hits[k]));
            if (known) check_ray(&g, &rays[k], &hits[k], i * RAYS_PER_SHAPE + k, sum);
        }
        same_in_a_scene(context, &g, rays, hits, RAYS_PER_SHAPE);
        free_target(&g);
    }
    for (int k = 0; k < CAROM_CONVEX_KIND_COUNT; ++k)
        for (int clipped = 0; clipped < 2; ++clipped) {
            const totals *sum = &sums[k][clipped];
            if (sum->rays == 0) continue;
            print_message("%s%s: %llu rays, %llu hits, %llu inside; points off by 2^%.1f\n",
                          carom_convex_kind_name((carom_convex_kind)k),
                          clipped ? "" : ", by planes", (unsigned long long)sum->rays,
                          (unsigned long long)sum->hits, (unsigned long long)sum->inside,
                          log2(sum->worst));
        }
    carom_context_destroy(context);
}

/* ---- known answers --------------------------------------------------------------------------- */

/* From as far as doubles go: rays whose numbers are exact meet the centre. */
static void distance_does_not_matter(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    const carom_vec3 corners[6] = {{1.0, 0.0, 0.0},  {-1.0, 0.0, 0.0}, {0.0, 1.0, 0.0},
                                   {0.0, -1.0, 0.0}, {0.0, 0.0, 1.0},  {0.0, 0.0, -1.0}};
    convex_shape hull = {0};
    convex_shape_hull(context, &hull, corners, 6);
    const carom_convex ball = {
        .kind = CAROM_CONVEX_KIND_ELLIPSOID, .half = {1.0, 1.0, 1.0}, .radius = 1.0};
    for (int kind = 0; kind < CAROM_CONVEX_KIND_COUNT; ++kind) {
        carom_convex c = {.kind = (carom_convex_kind)kind,
                          .half = {1.0, 0.5, 0.25},
                          .radius = 0.5,
                          .half_height = 1.0,
                          .borrowed_hull = hull.hull,
                          .support = support_of,
                          .support_user = &(carom_convex){.kind = ball.kind, .half = ball.half},
                          .support_ball = {.radius = 1.0}};
        for (int rounded = 0; rounded < 2; ++rounded)
            for (int turned = 0; turned < 2; ++turned)
                for (int k = 4; k < 1015; k += 7) {
                    carom_pose pose = {.q = {turned, 0.3, -0.2, 0.6 * turned}};
                    double far = ldexp(1.0, k);
                    carom_ray ray = {.origin = {3.0 * far, -4.0 * far, 5.0 * far},
                                     .direction = {-3.0, 4.0, -5.0}};
                    carom_hit h;
                    c.margin = rounded ? 0.125 : 0.0;
                    assert_ok(context, carom_convex_cast_rays(context, &c, &pose, &ray, 1, &h));
                    double off = fabs(h.point.x) + fabs(h.point.y) + fabs(h.point.z);
                    if (!was_hit(&h) || is_inside(&h) || !(off < 2.5) ||
                        !(fabs(far - h.distance) <= 1.0 + far / 1e15))
                        fail_msg("a %s from 2^%d: hit %d at %g, %g from the centre",
                                 carom_convex_kind_name(c.kind), k, was_hit(&h), h.distance, off);
                    /* aimed beside it by two sizes there */
                    ray.origin.z = nextafter(ray.origin.z, HUGE_VAL);
                    if (k > 56) {
                        assert_ok(context, carom_convex_cast_rays(context, &c, &pose, &ray, 1, &h));
                        assert_false(was_hit(&h));
                    }
                }
    }
    convex_shape_free(&hull);
    carom_context_destroy(context);
}

__extension__ typedef __int128 wide;

/* A quotient of integers, the divisor above 0. */
typedef struct quotient {
    wide num, den;
} quotient;

static bool is_less(quotient a, quotient b) {
    return a.num * b.den < b.num * a.den;
}

/* Boxes and rays with integer coordinates: the slabs in exact quotients. */
static void boxes_are_hit_as_in_integers(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {31};
    uint64_t hits = 0, count = campaign_is_long() ? 1000000 : TEST_CASES(20000);
    for (uint64_t i = 0; i < count; ++i) {
        double p[3], d[3], h[3], t[3];
        int bits = (int)(carom_random_next(&random) % 44); /* the start is 2^bits away */
        quotient enter = {-1, 1}, exit = {(wide)1 << 60, 1};
        bool misses = false, behind;
        for (int k = 0; k < 3; ++k) {
            h[k] = 1.0 + (double)(carom_random_next(&random) % 1000);
            t[k] = (double)(carom_random_next(&random) % 2001) - 1000.0;
            d[k] = (double)(carom_random_next(&random) % 41) - 20.0;
            /* through a point about the box */
            p[k] = t[k] + floor(any(&random, -1.3, 1.3) * h[k]) - ldexp(d[k], bits);
        }
        if (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) continue;
        for (int k = 0; k < 3; ++k) {
            wide from = (wide)(p[k] - t[k]), by = (wide)d[k], half = (wide)h[k];
            if (by == 0) {
                if (from < -half || from > half) misses = true;
                continue;
            }
            quotient in = by > 0 ? (quotient){-half - from, by} : (quotient){from - half, -by};
            quotient out = by > 0 ? (quotient){half - from, by} : (quotient){from + half, -by};
            if (is_less(enter, in)) enter = in;
            if (is_less(out, exit)) exit = out;
        }
        behind = enter.num < 0;
        if (is_less(exit, enter) || exit.num < 0) misses = true;
        bool grazes = !misses && !is_less(enter, exit);
        carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {h[0], h[1], h[2]}};
        carom_pose pose = {.t = {t[0], t[1], t[2]}};
        carom_ray ray = {.origin = {p[0], p[1], p[2]}, .direction = {d[0], d[1], d[2]}};
        carom_hit hit;
        assert_ok(context, carom_convex_cast_rays(context, &box, &pose, &ray, 1, &hit));
        if (grazes) continue; /* an edge or a corner: within e */
        if (misses) {
            assert_false(was_hit(&hit));
            continue;
        }
        double at = behind ? 0.0 : (double)((quad)enter.num / (quad)enter.den);
        double e = (h[0] + h[1] + h[2]) * 0x1p-48 + fabs(at) * 0x1p-51;
        if (!was_hit(&hit) || is_inside(&hit) != (enter.num <= 0) ||
            !(fabs(hit.distance - at) <= e))
            fail_msg("ray %llu: hit %d, inside %d at %.17g, not %.17g", (unsigned long long)i,
                     was_hit(&hit), is_inside(&hit), hit.distance, at);
        ++hits;
    }
    print_message("%llu hits\n", (unsigned long long)hits);
    assert_true(hits > count / 8);
    carom_context_destroy(context);
}

/* A box as a mesh in a scene is hit where the box is, from any distance. */
static void meshes_are_hit_from_afar(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const uint32_t corners[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                         2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    static const uint64_t offsets[7] = {0, 4, 8, 12, 16, 20, 24};
    carom_random random = {8};
    uint64_t hits = 0, count = TEST_CASES(2000);
    for (uint64_t i = 0; i < count; ++i) {
        double scale = ldexp(1.0, (int)any(&random, -300.0, 300.0));
        carom_vec3 h = {scale, 0.5 * scale, 0.25 * scale}, vertices[8];
        for (int k = 0; k < 8; ++k)
            vertices[k] = (carom_vec3){k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z};
        carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = vertices,
                                                         .vertex_count = 8,
                                                         .corners = corners,
                                                         .offsets = offsets,
                                                         .face_count = 6}};
        target g = {.shape = {.convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = h}}};
        carom_vec3 q = any_normal(&random), t = any_normal(&random);
        double far = one_in(&random, 2) ? 0.0 : scale * pow(10.0, any(&random, 0.0, 12.0));
        g.plain = g.shape.convex;
        g.pose.q = (carom_quat){1.0, q.x, q.y, q.z};
        g.pose.t = (carom_vec3){far * t.x, far * t.y, far * t.z};
        g.posed = oracle_posed_shape(&g.plain, NULL, &g.pose);
        g.size = size_of(&g);
        carom_soup *soup;
        carom_scene *scene;
        assert_ok(context, carom_soup_create(context, &def, &soup));
        carom_scene_object_def object = {
            .kind = CAROM_SCENE_OBJECT_KIND_SOUP, .borrowed_soup = soup, .pose = g.pose};
        assert_ok(context, carom_scene_create(context, NULL, &scene));
        assert_ok(context, carom_scene_add(context, scene, &object, 1, NULL));
        assert_ok(context, carom_scene_commit(context, scene));
        /* What the pose's rounding of the point, and e, may move the hit by. */
        double e = 0x1p-40 * g.size + 0x1p-50 * far * 4.0;
        for (int k = 0; k < 5; ++k) {
            carom_ray ray = any_ray(&g, &random);
            carom_hit h_box;
            carom_hit h_mesh;
            assert_ok(context, carom_convex_cast_rays(context, &g.plain, &g.pose, &ray, 1, &h_box));
            if (is_inside(&h_box)) continue;
            assert_ok(context, carom_scene_cast_rays(context, scene, &ray, 1, &h_mesh));
            if (was_hit(&h_box) != (h_mesh.id != CAROM_NONE)) { /* at an edge, or at the end */
                g.e = e;
                course c = course_of(&g, &ray);
                quad end = ray.length > 0.0 ? ray.length * (1.0 - 1e-9) : HUGE_VAL;
                quad deepest = least_value(&c, end);
                if (was_hit(&h_box) && deepest < -e)
                    fail_msg("case %llu: a mesh is missed, %g deep", (unsigned long long)i,
                             (double)deepest / g.size);
                if (!was_hit(&h_box) && ray.length == 0.0 && deepest > e)
                    fail_msg("case %llu: a mesh is hit, %g beside", (unsigned long long)i,
                             (double)deepest / g.size);
                continue;
            }
            if (!was_hit(&h_box)) continue;
            ++hits;
            course c = course_of(&g, &ray);
            double off = fabs(h_mesh.point.x - h_box.point.x) +
                         fabs(h_mesh.point.y - h_box.point.y) +
                         fabs(h_mesh.point.z - h_box.point.z);
            double steep = -(h_box.normal.x * ray.direction.x + h_box.normal.y * ray.direction.y +
                             h_box.normal.z * ray.direction.z) /
                           (double)c.speed;
            if (!(off * steep <= e))
                fail_msg("case %llu: %g of the size apart", (unsigned long long)i, off / g.size);
            double apart = fabs(h_mesh.distance - h_box.distance) - 0x1p-51 * h_box.distance;
            if (!(apart * (double)c.speed * steep <= e))
                fail_msg("case %llu: t is off by %g", (unsigned long long)i, apart);
        }
        carom_scene_destroy(scene);
        carom_soup_destroy(soup);
    }
    print_message("%llu hits\n", (unsigned long long)hits);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_are_proved),
        cmocka_unit_test(distance_does_not_matter),
        cmocka_unit_test(boxes_are_hit_as_in_integers),
        cmocka_unit_test(meshes_are_hit_from_afar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
