/* SPDX-License-Identifier: MIT */
/* Seeded pairs of convex shapes and their checks. */
#include "tests/support/convex_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

/* A wrong sign is allowed this far from touching, relative to sizes and translation; and so is an
 * error of distance, depth or a point. */
#define TOLERANCE 1e-12

void convex_shape_hull(carom_context *context, convex_shape *s, const carom_vec3 *points,
                       uint64_t count) {
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = points, .vertex_count = count}};
    assert_ok(context, carom_hull_create(context, &def, &s->hull));
    assert_ok(context, carom_hull_to_mesh(context, s->hull, &s->mesh));
    assert_ok(context, carom_mesh_get_view(s->mesh, &s->view));
    s->convex.kind = CAROM_CONVEX_KIND_HULL;
    s->convex.borrowed_hull = s->hull;
}

void convex_shape_free(convex_shape *s) {
    carom_hull_destroy(s->hull);
    carom_mesh_destroy(s->mesh);
}

/* ---- making ---------------------------------------------------------------------------------- */

static double any(carom_random *random, double low, double high) {
    return carom_random_between(random, low, high);
}

static bool one_in(carom_random *random, uint64_t n) {
    return carom_random_next(random) % n == 0;
}

/* A size about `scale`: often exactly it, sometimes much smaller, sometimes 0. */
static double any_size(carom_random *random, double scale) {
    switch (carom_random_next(random) % 8) {
    case 0:
        return scale;
    case 1:
        return scale * pow(10.0, any(random, -6.0, 0.0));
    case 2:
        return one_in(random, 4) ? 0.0 : scale * 0.5;
    default:
        return scale * any(random, 0.1, 1.0);
    }
}

static void any_hull(carom_context *context, carom_random *random, double scale, convex_shape *s) {
    carom_vec3 points[64];
    uint64_t count = 1 + carom_random_next(random) % 40;
    uint64_t form = carom_random_next(random) % 8;
    for (uint64_t i = 0; i < count; ++i) {
        carom_vec3 *p = &points[i];
        *p = (carom_vec3){carom_random_normal(random), carom_random_normal(random),
                          carom_random_normal(random)};
        double length = sqrt(p->x * p->x + p->y * p->y + p->z * p->z);
        if (form < 3) /* on a sphere */
            p->x /= length, p->y /= length, p->z /= length;
        if (form == 3) { /* on a lattice: many coplanar */
            p->x = floor(p->x * 2.0) * 0.5, p->y = floor(p->y * 2.0) * 0.5;
            p->z = floor(p->z * 2.0) * 0.5;
        }
        if (form == 4) p->z *= 1e-9; /* nearly flat */
        if (form == 5) p->z = 0.25 * p->x;
        if (form == 6) p->y = p->x, p->z = -p->x;
        p->x *= scale, p->y *= scale, p->z *= scale;
    }
    convex_shape_hull(context, s, points, count);
}

static void any_shape(carom_context *context, carom_random *random, carom_convex_kind kind,
                      double scale, convex_shape *s) {
    *s = (convex_shape){.convex = {.kind = kind}};
    carom_convex *c = &s->convex;
    c->half =
        (carom_vec3){any_size(random, scale), any_size(random, scale), any_size(random, scale)};
    c->radius = any_size(random, scale);
    c->half_height = any_size(random, scale);
    if (one_in(random, 4)) c->margin = any_size(random, 0.3 * scale);
    if (kind == CAROM_CONVEX_KIND_HULL) any_hull(context, random, scale, s);
}

static carom_quat any_turn(carom_random *random) {
    carom_quat q = {carom_random_normal(random), carom_random_normal(random),
                    carom_random_normal(random), carom_random_normal(random)};
    switch (carom_random_next(random) % 4) {
    case 0:
        return (carom_quat){0.0, 0.0, 0.0, 0.0};
    case 1:
        return (carom_quat){floor(q.w), floor(q.x), floor(q.y), floor(q.z)};
    default:
        return q;
    }
}

static carom_vec3 any_unit(carom_random *random) {
    carom_vec3 d = {carom_random_normal(random), carom_random_normal(random),
                    carom_random_normal(random)};
    double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    switch (carom_random_next(random) % 4) {
    case 0:
        return (carom_vec3){0.0, 0.0, 1.0};
    case 1:
        return (carom_vec3){1.0, 0.0, 0.0};
    default:
        return (carom_vec3){d.x / length, d.y / length, d.z / length};
    }
}

void convex_case_make(carom_context *context, uint64_t seed, uint64_t number, convex_case *c) {
    enum { KINDS = CAROM_CONVEX_KIND_SUPPORT };
    carom_random random = {seed * UINT64_C(0x100000001b3) ^ number * UINT64_C(0x9E3779B97F4A7C15)};
    memset(c, 0, sizeof(*c));
    c->seed = seed;
    c->number = number;
    double scale = pow(10.0, any(&random, -6.0, 6.0)), other = scale;
    if (one_in(&random, 3)) other *= pow(10.0, any(&random, -4.0, 4.0));
    any_shape(context, &random, (carom_convex_kind)(number % KINDS), scale, &c->a);
    any_shape(context, &random, (carom_convex_kind)(number / KINDS % KINDS), other, &c->b);
    c->pose_a.q = any_turn(&random);
    c->pose_b.q = one_in(&random, 4) ? c->pose_a.q : any_turn(&random);
    /* B where its own support plane along d is a gap away from A's. */
    carom_vec3 d = any_unit(&random);
    oracle_shape a = oracle_posed_shape(&c->a.convex, &c->a.view, &c->pose_a);
    oracle_shape b = oracle_posed_shape(&c->b.convex, &c->b.view, &c->pose_b);
    quad3 n = quad3_of(d), back = {-n.x, -n.y, -n.z};
    double reach = (double)(oracle_support(&a, n) + oracle_support(&b, back));
    double size = scale + other, gap;
    switch (carom_random_next(&random) % 8) {
    case 0:
        gap = 0.0;
        break;
    case 1:
        gap = size * pow(10.0, any(&random, -13.0, 0.0));
        break;
    case 2:
        gap = -size * pow(10.0, any(&random, -13.0, 0.0));
        break;
    case 3:
        gap = -reach; /* one origin */
        break;
    case 4:
        gap = -reach * any(&random, 0.0, 1.0);
        break;
    default:
        gap = size * any(&random, -0.5, 1.0);
        break;
    }
    double way = reach + gap;
    c->pose_b.t = (carom_vec3){d.x * way, d.y * way, d.z * way};
    if (one_in(&random, 3)) { /* both far from the origin */
        double far = size * pow(10.0, any(&random, -6.0, 6.0));
        carom_vec3 t = any_unit(&random);
        c->pose_a.t = (carom_vec3){t.x * far, t.y * far, t.z * far};
        c->pose_b.t.x += c->pose_a.t.x;
        c->pose_b.t.y += c->pose_a.t.y;
        c->pose_b.t.z += c->pose_a.t.z;
    }
}

void convex_case_free(convex_case *c) {
    convex_shape_free(&c->a);
    convex_shape_free(&c->b);
}

static carom_vec3 scaled(carom_vec3 v, int k) {
    return (carom_vec3){ldexp(v.x, k), ldexp(v.y, k), ldexp(v.z, k)};
}

static carom_vec3 vertex_of(const convex_shape *s, uint64_t i) {
    carom_vec3 v;
    memcpy(&v, (const char *)s->view.positions + i * sizeof(v), sizeof(v));
    return v;
}

static void shape_scale(carom_context *context, convex_shape *s, int k) {
    carom_convex *c = &s->convex;
    c->half = scaled(c->half, k);
    c->radius = ldexp(c->radius, k);
    c->half_height = ldexp(c->half_height, k);
    c->margin = ldexp(c->margin, k);
    if (s->hull == NULL) return;
    carom_vec3 points[64];
    uint64_t count = s->view.vertex_count;
    assert_true(s->view.scalar == CAROM_SCALAR_FLOAT64 && s->view.stride <= sizeof(carom_vec3) &&
                count <= COUNT_OF(points));
    for (uint64_t i = 0; i < count; ++i) points[i] = scaled(vertex_of(s, i), k);
    convex_shape_free(s);
    convex_shape_hull(context, s, points, count);
}

void convex_case_scale(carom_context *context, convex_case *c, int k) {
    shape_scale(context, &c->a, k);
    shape_scale(context, &c->b, k);
    c->pose_a.t = scaled(c->pose_a.t, k);
    c->pose_b.t = scaled(c->pose_b.t, k);
}

double convex_size(const convex_shape *s) {
    const carom_convex *c = &s->convex;
    switch (c->kind) {
    case CAROM_CONVEX_KIND_SPHERE:
        return c->margin + c->radius;
    case CAROM_CONVEX_KIND_SEGMENT:
        return c->margin + c->half_height;
    case CAROM_CONVEX_KIND_CAPSULE:
    case CAROM_CONVEX_KIND_CYLINDER:
    case CAROM_CONVEX_KIND_CONE:
        return c->margin + c->radius + c->half_height;
    case CAROM_CONVEX_KIND_BOX:
    case CAROM_CONVEX_KIND_ELLIPSOID:
        return c->margin + c->half.x + c->half.y + c->half.z;
    case CAROM_CONVEX_KIND_HULL: {
        carom_vec3 most = {0};
        for (uint64_t i = 0; i < s->view.vertex_count; ++i) {
            carom_vec3 v = vertex_of(s, i);
            most.x = fmax(most.x, fabs(v.x));
            most.y = fmax(most.y, fabs(v.y));
            most.z = fmax(most.z, fabs(v.z));
        }
        return c->margin + most.x + most.y + most.z;
    }
    default:
        return c->margin;
    }
}

double convex_tolerance(const convex_shape *a, const carom_pose *pose_a, const convex_shape *b,
                        const carom_pose *pose_b) {
    double x = pose_a->t.x - pose_b->t.x, y = pose_a->t.y - pose_b->t.y;
    double away = hypot(hypot(x, y), pose_a->t.z - pose_b->t.z);
    return ldexp(convex_size(a) + convex_size(b) + away, -42);
}

/* ---- checking -------------------------------------------------------------------------------- */

static void describe(const convex_case *c, const carom_convex_result *r) {
    const convex_shape *s[2] = {&c->a, &c->b};
    const carom_pose *poses[2] = {&c->pose_a, &c->pose_b};
    for (int i = 0; i < 2; ++i) {
        const carom_convex *x = &s[i]->convex;
        print_error("  %s half %.17g %.17g %.17g radius %.17g height %.17g margin %.17g\n",
                    carom_convex_kind_name(x->kind), x->half.x, x->half.y, x->half.z, x->radius,
                    x->half_height, x->margin);
        print_error("  q %.17g %.17g %.17g %.17g t %.17g %.17g %.17g, %llu vertices\n",
                    poses[i]->q.w, poses[i]->q.x, poses[i]->q.y, poses[i]->q.z, poses[i]->t.x,
                    poses[i]->t.y, poses[i]->t.z, (unsigned long long)s[i]->view.vertex_count);
    }
    print_error("  %s distance %.17g depth %.17g error %.3g normal %g %g %g, %u steps\n",
                carom_relation_name(r->relation), r->distance, r->depth, r->error, r->normal.x,
                r->normal.y, r->normal.z, r->iterations);
}

static void keep_most(uint32_t value, uint32_t *most) {
    if (value > *most) *most = value;
}

static void keep_share(uint32_t value, uint32_t most, double *share) {
    assert_true(value <= most);
    *share = fmax(*share, (double)value / most);
}

static bool is_curved(const carom_convex *s) {
    return s->kind == CAROM_CONVEX_KIND_CYLINDER || s->kind == CAROM_CONVEX_KIND_CONE ||
           s->kind == CAROM_CONVEX_KIND_ELLIPSOID;
}

void convex_case_check(carom_context *context, const convex_case *c,
                       convex_statistics *statistics) {
    const carom_convex *a = &c->a.convex, *b = &c->b.convex;
    carom_convex_result depth, distance;
    carom_convex_most most;
    const char *why;
    bool meet;
    assert_ok(context, carom_convex_depth(context, a, &c->pose_a, b, &c->pose_b, NULL, &depth));
    assert_ok(context,
              carom_convex_distance(context, a, &c->pose_a, b, &c->pose_b, NULL, &distance));
    assert_ok(context, carom_convex_meet(context, a, &c->pose_a, b, &c->pose_b, NULL, &meet));
    assert_ok(context, carom_convex_bound(context, a, b, &most));
    oracle_shape oa = oracle_posed_shape(a, &c->a.view, &c->pose_a);
    oracle_shape ob = oracle_posed_shape(b, &c->b.view, &c->pose_b);
    double refuted = oracle_refute(&oa, &ob, &depth, &why), scale = oracle_scale(&oa, &ob);
    /* Where curved shapes are about equally deep in many directions, the depth is known only up to
     * its stated error, and so are the points. */
    double allowed = TOLERANCE;
    if (depth.relation == CAROM_RELATION_OVERLAPPING && (is_curved(a) || is_curved(b)))
        allowed = fmax(allowed, fmin(depth.error / scale, 1e-2));
    bool wrong = refuted > allowed;
    if (!wrong && depth.relation == CAROM_RELATION_APART && depth.distance > TOLERANCE * scale &&
        meet)
        wrong = true, why = "apart and intersecting";
    if (!wrong && depth.relation == CAROM_RELATION_OVERLAPPING && !meet)
        wrong = true, why = "overlapping and not intersecting";
    if (!wrong && depth.relation == CAROM_RELATION_APART &&
        (distance.relation != CAROM_RELATION_APART || distance.distance != depth.distance))
        wrong = true, why = "two distances";
    if (!wrong && depth.relation == CAROM_RELATION_OVERLAPPING &&
        distance.relation == CAROM_RELATION_APART)
        wrong = true, why = "two relations";
    if (wrong) {
        print_error("seed %llu, case %llu: refuted by %.3g: %s\n", (unsigned long long)c->seed,
                    (unsigned long long)c->number, refuted, why);
        describe(c, &depth);
        fail();
    }
    if (statistics == NULL) return;
    double *worst = depth.relation == CAROM_RELATION_OVERLAPPING
                        ? &statistics->of[a->kind][b->kind].depth
                        : &statistics->of[a->kind][b->kind].distance;
    *worst = fmax(*worst, refuted);
    ++statistics->of[a->kind][b->kind].cases;
    ++statistics->of[a->kind][b->kind].relations[depth.relation];
    double *error = &statistics->of[a->kind][b->kind].error;
    *error = fmax(*error, depth.error / scale);
    keep_most(distance.iterations, &statistics->of[a->kind][b->kind].gjk);
    keep_most(depth.iterations - distance.iterations, &statistics->of[a->kind][b->kind].epa);
    double *share = &statistics->of[a->kind][b->kind].share;
    keep_share(distance.iterations, most.distance_iterations, share);
    keep_share(distance.supports, most.distance_supports, share);
    keep_share(depth.iterations, most.depth_iterations, share);
    keep_share(depth.supports, most.depth_supports, share);
}

void convex_case_check_depth(carom_context *context, const convex_case *c) {
    const carom_convex *a = &c->a.convex, *b = &c->b.convex;
    carom_convex_result r;
    assert_ok(context, carom_convex_depth(context, a, &c->pose_a, b, &c->pose_b, NULL, &r));
    if (r.relation != CAROM_RELATION_OVERLAPPING) return;
    oracle_shape oa = oracle_posed_shape(a, &c->a.view, &c->pose_a);
    oracle_shape ob = oracle_posed_shape(b, &c->b.view, &c->pose_b);
    double scale = oracle_scale(&oa, &ob);
    double least = (double)oracle_least_reach(&oa, &ob, c->number, 8);
    double corner = (double)oracle_polytope_depth(&oa, &ob);
    least = fmin(least, corner);
    double allowed = is_curved(a) || is_curved(b) ? fmax(1e-9 * scale, r.error) : 1e-9 * scale;
    if (r.depth <= least + allowed) return;
    print_error("seed %llu, case %llu: depth %.17g, and %.17g is possible\n",
                (unsigned long long)c->seed, (unsigned long long)c->number, r.depth, least);
    describe(c, &r);
    fail();
}

void convex_statistics_print(const convex_statistics *statistics) {
    for (int i = 0; i < CAROM_CONVEX_KIND_SUPPORT; ++i)
        for (int k = 0; k < CAROM_CONVEX_KIND_SUPPORT; ++k) {
            if (statistics->of[i][k].cases == 0) continue;
            print_message("%-9s %-9s %8llu (%llu %llu %llu) distance %.1e depth %.1e error %.1e "
                          "gjk %u epa %u share %.2f\n",
                          carom_convex_kind_name((carom_convex_kind)i),
                          carom_convex_kind_name((carom_convex_kind)k),
                          (unsigned long long)statistics->of[i][k].cases,
                          (unsigned long long)statistics->of[i][k].relations[0],
                          (unsigned long long)statistics->of[i][k].relations[1],
                          (unsigned long long)statistics->of[i][k].relations[2],
                          statistics->of[i][k].distance, statistics->of[i][k].depth,
                          statistics->of[i][k].error, statistics->of[i][k].gjk,
                          statistics->of[i][k].epa, statistics->of[i][k].share);
        }
}
