/* SPDX-License-Identifier: MIT */
/* Rays at convex shapes.
 *
 * The ray is moved first, exactly, to where it passes nearest to the shape's centre (ray_path.h),
 * then turned into the shape's frame and scaled so that the shape's size is in [1/2, 1). What is
 * rounded on this way moves the ray by a few 2^-52 of the size, however far away it started: the
 * rounded rotation is linear, and so turns the shape a little, but does not part it from the ray.
 *
 * A shape that is an intersection of slabs and of sets { |W x| <= r }, or a union of such, is
 * clipped: spheres, capsules, boxes, cylinders, ellipsoids. Each set gives a span of the ray. That
 * of a quadratic set is taken from the point of the ray where |W x| is least, computed in
 * double-double: no digits cancel there, however thin the shape and however near the ray grazes it.
 *
 * For other shapes (cones, hulls, functions, and all that are rounded by a margin): from a point
 * outside, the plane across the shortest way to the core separates the two, and the ray cannot come
 * within the margin before it has crossed that plane moved by the margin. Stepping to the crossing
 * never enters the shape; it lands on a face's plane at once and approaches curved surfaces
 * quadratically: it is Newton's method for the distance, which is convex along the ray. */
#include <float.h>
#include <string.h>

#include "base/double_double.h"
#include "convex/convex.h"
#include "convex/convex_cpu.h"
#include "geom/length.h"
#include "geom/ray.h"
#include "geom/ray_path.h"

/* Of rays by planes. Grazing rays halve their distance per step; 25 were the most in
 * tests/test_convex_rays.c, 5 the mean. */
#define MOST_STEPS 128
/* Lengths in units of the shape, whose size is in [1/2, 1). What is thinner than this is taken to
 * be as thick, so that roundings, some 2^-50, do not decide whether a ray meets a disc or a
 * segment. */
#define LEAST_THICKNESS 0x1p-47
/* Distances to a rounded surface that end the stepping: the bounds of a distance agree to this. */
#define STEP_END_GAP 0x1p-47
/* Speed towards a surface, in lengths per length of the ray: what is slower grazes it. */
#define GRAZING_SPEED (-0x1p-10)
/* Of balls around shapes, for their rounding. */
#define BALL_SLACK (1.0 + 0x1p-20)
/* Square of a direction across an axis below which the ray runs along the axis: it moves by 2^-95
 * across it. */
#define ALONG_AXIS 0x1p-200

/* Where the line p + s d is in the shape; enter > exit: nowhere. */
typedef struct convex_ray_span {
    double enter, exit;
    carom_vec3 normal; /* at `enter`, of any length */
} convex_ray_span;

static const convex_ray_span no_span = {.enter = HUGE_VAL, .exit = -HUGE_VAL};

/* A ray near a shape, in the shape's frame and units. */
typedef struct convex_ray_cast {
    carom_context *context;
    carom_convex core; /* without margin, in units of the shape */
    double margin;
    carom_hull_view hull;
    bool has_hull;
    carom_convex_support_fn *support; /* the caller's */
    void *support_user;
    int unit; /* the shape's lengths are the caller's times 2^unit */
    carom_vec3 centre;
    double outer; /* of a ball about the centre, around the shape and its margin */
    double r[9];  /* the pose's rotation */
    carom_vec3 p, d;
    double start; /* the ray begins at p + start d */
} convex_ray_cast;

/* ---- Preparing ------------------------------------------------------------------------------- */

static carom_vec3 scaled_support(void *user, const carom_vec3 *direction) {
    const convex_ray_cast *c = user;
    return carom_vec_scaled(c->support(c->support_user, direction), c->unit);
}

/* Spheres and capsules become points and segments with a margin. */
static void prepare_shape(const carom_convex *shape, convex_ray_cast *c) {
    carom_convex_core whole;
    int k = c->unit;
    c->core = *shape;
    c->core.half = carom_vec_scaled(shape->half, k);
    c->core.radius = carom_scale_apply(shape->radius, k);
    c->core.half_height = carom_scale_apply(shape->half_height, k);
    c->core.margin = carom_scale_apply(shape->margin, k);
    c->core.support = scaled_support;
    c->core.support_user = c;
    c->core.support_ball.centre = carom_vec_scaled(shape->support_ball.centre, k);
    c->core.support_ball.radius = carom_scale_apply(shape->support_ball.radius, k);
    c->support = shape->support;
    c->support_user = shape->support_user;
    c->has_hull = shape->kind == CAROM_CONVEX_KIND_HULL;
    if (c->has_hull) {
        c->hull = shape->borrowed_hull->view;
        c->hull.exponent += k;
    }
    carom_convex_core_make(&c->core, c->has_hull ? &c->hull : NULL, 1.0, CAROM_CONVEX_SEARCH_AUTO,
                           &whole);
    c->centre = whole.centre;
    c->outer = whole.outer * BALL_SLACK + LEAST_THICKNESS;
    c->margin = c->core.margin;
    c->core.margin = 0.0;
    if (shape->kind == CAROM_CONVEX_KIND_SPHERE || shape->kind == CAROM_CONVEX_KIND_CAPSULE) {
        c->margin += c->core.radius;
        c->core.kind = shape->kind == CAROM_CONVEX_KIND_SPHERE ? CAROM_CONVEX_KIND_POINT
                                                               : CAROM_CONVEX_KIND_SEGMENT;
    }
}

/* The relation and distance of a point to the core. */
static void convex_ray_query(const convex_ray_cast *c, carom_vec3 at, double margin,
                             carom_convex_result *r) {
    const carom_convex point = {.margin = margin};
    const carom_pose pose = {.t = at};
    const carom_convex_question_item q = {
        .a = &c->core, .b = &point, .hull_a = c->has_hull ? &c->hull : NULL, .pose_b = &pose};
    /* Distances take nothing from the arena. */
    (void)CAROM_CPU_CALL(c->context, carom_convex_query)(&q, CAROM_CONVEX_QUESTION_DISTANCE, NULL,
                                                         NULL, r);
}

/* ---- Clipping -------------------------------------------------------------------------------- */

static carom_vec3 convex_ray_along(const convex_ray_cast *c, double s) {
    return carom_vec_add(c->p, carom_vec_scale(c->d, s));
}

static convex_ray_span convex_ray_intersect(convex_ray_span a, convex_ray_span b) {
    convex_ray_span both = a.enter >= b.enter ? a : b;
    both.exit = CAROM_MIN(a.exit, b.exit);
    return both.enter <= both.exit ? both : no_span;
}

/* The convex union of two. */
static convex_ray_span convex_ray_join(convex_ray_span a, convex_ray_span b) {
    convex_ray_span both = a.enter <= b.enter ? a : b;
    both.exit = CAROM_MAX(a.exit, b.exit);
    return both;
}

/* -half <= x <= half along an axis. */
static convex_ray_span slab(const convex_ray_cast *c, int axis, double half) {
    const double p[3] = {c->p.x, c->p.y, c->p.z}, d[3] = {c->d.x, c->d.y, c->d.z};
    double n[3] = {0.0, 0.0, 0.0};
    half = CAROM_MAX(half, LEAST_THICKNESS);
    if (d[axis] == 0.0) {
        const convex_ray_span all = {.enter = -HUGE_VAL, .exit = HUGE_VAL};
        return fabs(p[axis]) <= half ? all : no_span;
    }
    double front = d[axis] > 0.0 ? -half : half;
    n[axis] = d[axis] > 0.0 ? -1.0 : 1.0;
    return (convex_ray_span){.enter = (front - p[axis]) / d[axis],
                             .exit = (-front - p[axis]) / d[axis],
                             .normal = carom_vec(n[0], n[1], n[2])};
}

/* |W (x - centre)| <= radius for W = diag(w); w.z = 0 makes a cylinder. */
static convex_ray_span quadratic(const convex_ray_cast *c, carom_vec3 centre, carom_vec3 w,
                                 double radius) {
    const double p[3] = {c->p.x, c->p.y, c->p.z}, d[3] = {c->d.x, c->d.y, c->d.z};
    const double o[3] = {centre.x, centre.y, centre.z}, scale[3] = {w.x, w.y, w.z};
    carom_dd u[3], v[3];
    double a = 0.0, b = 0.0, rest = 0.0, m[3];
    radius = CAROM_MAX(radius, LEAST_THICKNESS);
    for (int k = 0; k < 3; ++k) {
        u[k] = carom_dd_multiply(carom_dd_diff(p[k], o[k]), carom_dd_of(scale[k]));
        v[k] = carom_dd_product(d[k], scale[k]);
        a += v[k].high * v[k].high;
        b += u[k].high * v[k].high;
    }
    bool still = a < ALONG_AXIS;
    double middle = still ? 0.0 : -b / a;
    carom_dd square = carom_dd_negate(carom_dd_product(radius, radius)); /* |W x|^2 - radius^2 */
    for (int k = 0; k < 3; ++k) {
        carom_dd x = carom_dd_add(u[k], carom_dd_multiply(v[k], carom_dd_of(middle)));
        square = carom_dd_add(square, carom_dd_multiply(x, x));
        rest += x.high * v[k].high;
        m[k] = x.high;
    }
    if (still) {
        const convex_ray_span all = {.enter = -HUGE_VAL, .exit = HUGE_VAL};
        return square.high <= 0.0 ? all : no_span;
    }
    double discriminant = rest * rest - a * square.high;
    if (!(discriminant >= 0.0)) return no_span;
    double root = sqrt(discriminant), in = (-rest - root) / a, out = (-rest + root) / a;
    return (convex_ray_span){.enter = middle + in,
                             .exit = middle + out,
                             .normal = carom_vec((m[0] + in * v[0].high) * w.x,
                                                 (m[1] + in * v[1].high) * w.y,
                                                 (m[2] + in * v[2].high) * w.z)};
}

static convex_ray_span convex_ray_ball(const convex_ray_cast *c, carom_vec3 centre, double radius) {
    return quadratic(c, centre, carom_vec(1.0, 1.0, 1.0), radius);
}

static convex_ray_span tube(const convex_ray_cast *c, double radius) {
    return quadratic(c, carom_vec(0.0, 0.0, 0.0), carom_vec(1.0, 1.0, 0.0), radius);
}

/* A tube between two balls. Only the outer halves of the balls and the side of the tube are its
 * surface; the ray may enter each of the three earlier by rounding where two of them meet. */
static convex_ray_span capsule(const convex_ray_cast *c) {
    double h = c->core.half_height;
    convex_ray_span low = convex_ray_ball(c, carom_vec(0.0, 0.0, -h), c->margin);
    convex_ray_span high = convex_ray_ball(c, carom_vec(0.0, 0.0, h), c->margin);
    convex_ray_span side = tube(c, c->margin), between = slab(c, 2, h),
                    straight = convex_ray_intersect(side, between);
    convex_ray_span all = convex_ray_join(convex_ray_join(low, high), straight), outer = no_span;
    if (low.normal.z <= 0.0) outer = convex_ray_join(outer, low);
    if (high.normal.z >= 0.0) outer = convex_ray_join(outer, high);
    if (side.enter >= between.enter) outer = convex_ray_join(outer, straight);
    if (outer.enter <= outer.exit) all.enter = outer.enter, all.normal = outer.normal;
    return all;
}

static convex_ray_span ellipsoid(const convex_ray_cast *c) {
    carom_vec3 h = c->core.half;
    carom_vec3 w =
        carom_vec(1.0 / CAROM_MAX(h.x, LEAST_THICKNESS), 1.0 / CAROM_MAX(h.y, LEAST_THICKNESS),
                  1.0 / CAROM_MAX(h.z, LEAST_THICKNESS));
    return quadratic(c, carom_vec(0.0, 0.0, 0.0), w, 1.0);
}

static convex_ray_span convex_ray_box(const convex_ray_cast *c) {
    carom_vec3 h = c->core.half;
    return convex_ray_intersect(convex_ray_intersect(slab(c, 0, h.x), slab(c, 1, h.y)),
                                slab(c, 2, h.z));
}

/* ---- Stepping -------------------------------------------------------------------------------- */

static convex_ray_span convex_ray_step(const convex_ray_cast *c) {
    convex_ray_span around = convex_ray_ball(c, c->centre, c->outer);
    if (!(c->start <= around.exit)) return no_span;
    double s = CAROM_MAX(around.enter, c->start);
    carom_vec3 normal = carom_vec_sub(convex_ray_along(c, s), c->centre); /* of the ball */
    for (int i = 0; i < MOST_STEPS; ++i) {
        carom_convex_result r;
        convex_ray_query(c, convex_ray_along(c, s), 0.0, &r);
        if (r.relation == CAROM_RELATION_OVERLAPPING) return (convex_ray_span){s, s, normal};
        /* Where the two are said to touch, the distance is that of the points, and the error holds
         * it once more. */
        double distance = carom_length(carom_vec_sub(r.point_b, r.point_a));
        bool touches = r.relation == CAROM_RELATION_TOUCHING;
        double gap = distance - c->margin, least = gap - r.error + (touches ? distance : 0.0);
        if (!(least > STEP_END_GAP)) {
            if (touches) return (convex_ray_span){s, s, normal};
            double speed = carom_vec_dot(r.normal, c->d);
            if (c->margin > 0.0 && speed < GRAZING_SPEED) s += gap / -speed; /* onto the surface */
            return (convex_ray_span){s, s, r.normal};
        }
        double speed = carom_vec_dot(r.normal, c->d);
        if (!(speed < 0.0)) return no_span;
        normal = r.normal;
        s += least / -speed;
    }
    return no_span;
}

/* ---- The ray --------------------------------------------------------------------------------- */

static convex_ray_span convex_ray_find(const convex_ray_cast *c) {
    const carom_vec3 zero = {0.0, 0.0, 0.0};
    switch (c->core.kind) {
    case CAROM_CONVEX_KIND_POINT:
        return convex_ray_ball(c, zero, c->margin);
    case CAROM_CONVEX_KIND_SEGMENT:
        return capsule(c);
    case CAROM_CONVEX_KIND_BOX:
        if (c->margin == 0.0) return convex_ray_box(c);
        break;
    case CAROM_CONVEX_KIND_CYLINDER:
        if (c->margin == 0.0)
            return convex_ray_intersect(tube(c, c->core.radius), slab(c, 2, c->core.half_height));
        break;
    case CAROM_CONVEX_KIND_ELLIPSOID:
        if (c->margin == 0.0) return ellipsoid(c);
        break;
    default:
        break;
    }
    return convex_ray_step(c);
}

/* Whether the ray starts in the shape, or within its tolerance. */
static bool starts_inside(const convex_ray_cast *c, const carom_ray_path *path) {
    carom_vec3 at = carom_convex_turn_back(
        c->r, carom_vec_scaled(carom_ray_path_point(path), c->unit - path->unit));
    if (!(carom_length(carom_vec_sub(at, c->centre)) <= c->outer)) return false;
    carom_convex_result r;
    convex_ray_query(c, at, c->margin, &r);
    return r.relation != CAROM_RELATION_APART;
}

static carom_vec3 convex_ray_unit_of(carom_vec3 v) {
    double length = carom_length(v);
    return length > 0.0 ? carom_vec_scale(v, 1.0 / length) : v;
}

static void cast_ray(convex_ray_cast *c, const carom_convex *shape, const carom_pose *pose,
                     const carom_ray *ray, carom_hit *hit) {
    const carom_vec3 position = pose != NULL ? pose->t : carom_vec(0.0, 0.0, 0.0);
    carom_ray_path path;
    double size = carom_convex_size(shape, carom_convex_hull_view(shape));
    carom_ray_path_begin(&path, ray, position, size);
    /* Sizes below the path's least are beyond what a path resolves. */
    carom_scale_range range = carom_scale_range_add(carom_scale_range_empty(), size);
    c->unit = path.unit - CAROM_RAY_LEAST_EXPONENT;
    if (size > 0.0) c->unit = CAROM_MIN(c->unit, -range.high);
    prepare_shape(shape, c);
    carom_convex_matrix(carom_convex_quat(pose), c->r);
    if (starts_inside(c, &path)) {
        hit->id = 0;
        hit->distance = 0.0;
        hit->point = ray->origin;
        return;
    }
    int back = path.unit - c->unit;
    carom_vec3 centre = carom_vec_scaled(carom_convex_turn(c->r, c->centre), back);
    double radius = CAROM_MAX(carom_scale_apply(c->outer, back), CAROM_RAY_LEAST_RADIUS);
    if (!carom_ray_path_approach(&path, centre, radius)) return;
    c->p = carom_convex_turn_back(c->r, carom_vec_scaled(carom_ray_path_point(&path), -back));
    c->d = carom_convex_turn_back(c->r, path.direction);
    c->start = 0.0;
    for (int i = path.count - 1; i >= 0; --i) c->start -= path.moves[i];
    c->start = carom_scale_apply(c->start, -back);
    convex_ray_span found = convex_ray_find(c);
    if (!(found.enter <= found.exit) || found.exit < c->start) return;
    double t = carom_ray_path_t(&path, carom_scale_apply(found.enter, back));
    if (ray->length > 0.0 && t > ray->length) return;
    hit->id = 0;
    hit->distance = CAROM_MAX(t, 0.0);
    hit->normal = carom_convex_turn(c->r, convex_ray_unit_of(found.normal));
    hit->point = carom_vec_add(
        carom_vec_scaled(carom_convex_turn(c->r, convex_ray_along(c, found.enter)), -c->unit),
        position);
}

carom_status carom_convex_cast_rays(carom_context *context, const carom_convex *shape,
                                    const carom_pose *pose, const carom_ray *rays, uint64_t count,
                                    carom_hit *hits) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(shape, "shape");
    CAROM_REQUIRE_SHAPE(shape);
    CAROM_REQUIRE_INPUTS(rays, count, "rays");
    CAROM_REQUIRE_OUTPUTS(hits, count, "hits");
    CAROM_TRY(carom_context_require_cpu(context, "a ray at a convex shape"));
    CAROM_TRY(carom_convex_check(context, shape, pose, "the shape"));
    CAROM_TRY(carom_rays_check(context, rays, count));
    for (uint64_t i = 0; i < count; ++i) {
        convex_ray_cast c = {.context = context};
        hits[i] = (carom_hit){
            .id = CAROM_NONE, .face = CAROM_NONE, .distance = HUGE_VAL, .point = rays[i].origin};
        cast_ray(&c, shape, pose, &rays[i], &hits[i]);
    }
    return CAROM_OK;
}
