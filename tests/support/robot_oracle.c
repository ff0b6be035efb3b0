/* SPDX-License-Identifier: MIT */
#include "tests/support/robot_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;
#define PI_L 3.14159265358979323846264338327950288L

/* ---- Vectors --------------------------------------------------------------------------------- */

static void sub(const real *a, const real *b, real *to) {
    for (int i = 0; i < 3; ++i) to[i] = a[i] - b[i];
}

static real dot(const real *a, const real *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const real *a, const real *b, real *to) {
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

void robot_oracle_apply(const robot_oracle_frame *f, const real *p, real *to) {
    real q[3];
    for (int i = 0; i < 3; ++i)
        q[i] = f->r[3 * i] * p[0] + f->r[3 * i + 1] * p[1] + f->r[3 * i + 2] * p[2] + f->t[i];
    memcpy(to, q, sizeof(q));
}

static robot_oracle_frame frame_of(const carom_pose *pose) {
    real w = pose->q.w, x = pose->q.x, y = pose->q.y, z = pose->q.z;
    real n = w * w + x * x + y * y + z * z;
    if (n == 0) w = n = 1;
    robot_oracle_frame f = {
        {1 - 2 * (y * y + z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n,
         2 * (x * y + w * z) / n, 1 - 2 * (x * x + z * z) / n, 2 * (y * z - w * x) / n,
         2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, 1 - 2 * (x * x + y * y) / n},
        {pose->t.x, pose->t.y, pose->t.z}};
    return f;
}

static robot_oracle_frame compose(const robot_oracle_frame *a, const robot_oracle_frame *b) {
    robot_oracle_frame f;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            f.r[3 * i + k] = a->r[3 * i] * b->r[k] + a->r[3 * i + 1] * b->r[3 + k] +
                             a->r[3 * i + 2] * b->r[6 + k];
    robot_oracle_apply(a, b->t, f.t);
    return f;
}

/* ---- Distances ------------------------------------------------------------------------------- */

static real clamp(real x) {
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static real point_segment(const real *p, const real *a, const real *b) {
    real d[3], v[3], at[3];
    sub(b, a, d);
    sub(p, a, v);
    real n = dot(d, d), t = n > 0 ? clamp(dot(v, d) / n) : 0;
    for (int i = 0; i < 3; ++i) at[i] = v[i] - t * d[i];
    return sqrtl(dot(at, at));
}

/* The foot of a point inside of a triangle, or the nearest edge. */
static real point_triangle(const real *p, real (*t)[3]) {
    real u[3], v[3], n[3], w[3], c[3];
    real best = INFINITY;
    for (int i = 0; i < 3; ++i) best = fminl(best, point_segment(p, t[i], t[(i + 1) % 3]));
    sub(t[1], t[0], u);
    sub(t[2], t[0], v);
    cross(u, v, n);
    if (!(dot(n, n) > 0)) return best;
    for (int i = 0; i < 3; ++i) {
        sub(t[(i + 1) % 3], t[i], u);
        sub(p, t[i], w);
        cross(u, w, c);
        if (dot(c, n) < 0) return best;
    }
    return fminl(best, fabsl(dot(w, n)) / sqrtl(dot(n, n)));
}

/* Two segments: ends, and the common perpendicular where it meets both inside. */
static real segments(const real *a, const real *b, const real *c, const real *d) {
    real best = fminl(fminl(point_segment(a, c, d), point_segment(b, c, d)),
                      fminl(point_segment(c, a, b), point_segment(d, a, b)));
    real u[3], v[3], w[3], at[3];
    sub(b, a, u);
    sub(d, c, v);
    sub(a, c, w);
    real uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), uw = dot(u, w), vw = dot(v, w);
    real det = uu * vv - uv * uv;
    if (!(det > 0)) return best;
    real s = (uv * vw - vv * uw) / det, t = (uu * vw - uv * uw) / det;
    if (s < 0 || s > 1 || t < 0 || t > 1) return best;
    for (int i = 0; i < 3; ++i) at[i] = w[i] + s * u[i] - t * v[i];
    return fminl(best, sqrtl(dot(at, at)));
}

static bool pierces(const real *a, const real *b, real (*t)[3]) {
    real u[3], v[3], n[3], d[3], w[3], p[3], c[3];
    sub(t[1], t[0], u);
    sub(t[2], t[0], v);
    cross(u, v, n);
    sub(b, a, d);
    sub(t[0], a, w);
    real along = dot(d, n);
    if (along == 0) return false;
    real s = dot(w, n) / along;
    if (s < 0 || s > 1) return false;
    for (int i = 0; i < 3; ++i) p[i] = a[i] + s * d[i];
    for (int i = 0; i < 3; ++i) {
        sub(t[(i + 1) % 3], t[i], u);
        sub(p, t[i], w);
        cross(u, w, c);
        if (dot(c, n) < 0) return false;
    }
    return true;
}

real robot_oracle_triangles(real (*s)[3], real (*t)[3]) {
    real best = INFINITY;
    for (int i = 0; i < 3; ++i)
        if (pierces(s[i], s[(i + 1) % 3], t) || pierces(t[i], t[(i + 1) % 3], s)) return 0;
    for (int i = 0; i < 3; ++i) {
        best = fminl(best, fminl(point_triangle(s[i], t), point_triangle(t[i], s)));
        for (int k = 0; k < 3; ++k)
            best = fminl(best, segments(s[i], s[(i + 1) % 3], t[k], t[(k + 1) % 3]));
    }
    return best;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void reserve(robot_oracle_shape *s, uint64_t count, real radius) {
    s->triangles = calloc(count + 1, sizeof(*s->triangles));
    s->radii = calloc(count + 1, sizeof(*s->radii));
    s->count = count;
    for (uint64_t i = 0; i < count; ++i) s->radii[i] = radius;
}

static void put(robot_oracle_shape *s, uint64_t t, int corner, double x, double y, double z) {
    s->triangles[t][corner][0] = x;
    s->triangles[t][corner][1] = y;
    s->triangles[t][corner][2] = z;
}

static void make_box(const carom_vec3 *h, robot_oracle_shape *s) {
    reserve(s, 12, 0);
    /* Two triangles on each side: along axis k, at -1 or 1, outwards. */
    for (int side = 0; side < 6; ++side) {
        int k = side / 2, sign = side % 2 == 0 ? -1 : 1;
        for (int half = 0; half < 2; ++half)
            for (int c = 0; c < 3; ++c) {
                static const int u[2][3] = {{-1, 1, 1}, {-1, 1, -1}},
                                 v[2][3] = {{-1, -1, 1}, {-1, 1, 1}};
                double x[3];
                int corner = sign > 0 ? c : 2 - c;
                x[k] = sign;
                x[(k + 1) % 3] = u[half][corner];
                x[(k + 2) % 3] = v[half][corner];
                put(s, (uint64_t)(2 * side + half), c, x[0] * h->x, x[1] * h->y, x[2] * h->z);
            }
    }
    s->closed = true;
}

static void make_cylinder(double radius, double half, robot_oracle_shape *s) {
    const int n = 64;
    reserve(s, 4 * 64, 0);
    double out = (double)(radius / cosl(PI_L / n));
    for (int i = 0; i < n; ++i) {
        double a = (double)(2 * PI_L * i / n), b = (double)(2 * PI_L * ((i + 1) % n) / n);
        double ax = out * cos(a), ay = out * sin(a), bx = out * cos(b), by = out * sin(b);
        uint64_t t = 4 * (uint64_t)i;
        put(s, t, 0, ax, ay, -half), put(s, t, 1, bx, by, -half), put(s, t, 2, ax, ay, half);
        put(s, t + 1, 0, bx, by, -half), put(s, t + 1, 1, bx, by, half),
            put(s, t + 1, 2, ax, ay, half);
        put(s, t + 2, 0, 0, 0, half), put(s, t + 2, 1, ax, ay, half),
            put(s, t + 2, 2, bx, by, half);
        put(s, t + 3, 0, 0, 0, -half), put(s, t + 3, 1, bx, by, -half),
            put(s, t + 3, 2, ax, ay, -half);
    }
    s->closed = true;
}

void robot_oracle_shape_make(const carom_robot_shape *from, const carom_mesh_view *open,
                             robot_oracle_shape *s) {
    switch (from->kind) {
    case CAROM_ROBOT_SHAPE_KIND_BOX:
        make_box(&from->half, s);
        break;
    case CAROM_ROBOT_SHAPE_KIND_CYLINDER:
        make_cylinder(from->radius, from->half_height, s);
        break;
    case CAROM_ROBOT_SHAPE_KIND_SPHERE:
        reserve(s, 1, from->radius);
        break;
    case CAROM_ROBOT_SHAPE_KIND_CAPSULE:
        reserve(s, 1, from->radius);
        put(s, 0, 0, 0, 0, -from->half_height);
        put(s, 0, 1, 0, 0, from->half_height);
        put(s, 0, 2, 0, 0, from->half_height);
        break;
    case CAROM_ROBOT_SHAPE_KIND_BALLS:
        reserve(s, from->ball_count, 0);
        for (uint64_t i = 0; i < from->ball_count; ++i) {
            carom_vec3 c = from->balls[i].centre;
            s->radii[i] = (real)from->balls[i].radius + (real)from->radius;
            for (int k = 0; k < 3; ++k) put(s, i, k, c.x, c.y, c.z);
        }
        break;
    default:
        reserve(s, from->mesh->face_count, 0);
        for (uint64_t i = 0; i < 3 * from->mesh->face_count; ++i) {
            const double *p = (const double *)from->mesh->positions + 3 * from->mesh->corners[i];
            put(s, i / 3, (int)(i % 3), p[0], p[1], p[2]);
        }
        s->closed = from->mesh != open;
    }
    robot_oracle_frame f = frame_of(&from->pose);
    for (uint64_t i = 0; i < s->count; ++i)
        for (int k = 0; k < 3; ++k) robot_oracle_apply(&f, s->triangles[i][k], s->triangles[i][k]);
}

void robot_oracle_shape_free(robot_oracle_shape *s) {
    free(s->triangles);
    free(s->radii);
}

/* A copy that is moved. */
static robot_oracle_shape moved(const robot_oracle_shape *from, const robot_oracle_frame *f) {
    robot_oracle_shape s;
    reserve(&s, from->count, 0);
    s.closed = from->closed;
    for (uint64_t i = 0; i < s.count; ++i) {
        s.radii[i] = from->radii[i];
        for (int k = 0; k < 3; ++k) robot_oracle_apply(f, from->triangles[i][k], s.triangles[i][k]);
    }
    return s;
}

real robot_oracle_angle(const robot_oracle_shape *s, const real *p) {
    real sum = 0;
    for (uint64_t i = 0; i < s->count; ++i) {
        real a[3], b[3], c[3], n[3];
        sub(s->triangles[i][0], p, a);
        sub(s->triangles[i][1], p, b);
        sub(s->triangles[i][2], p, c);
        real la = sqrtl(dot(a, a)), lb = sqrtl(dot(b, b)), lc = sqrtl(dot(c, c));
        cross(b, c, n);
        sum +=
            2 * atan2l(dot(a, n), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
    }
    return sum;
}

static bool is_inside(const robot_oracle_shape *s, const real *p) {
    return fabsl(robot_oracle_angle(s, p)) > 2 * PI_L;
}

/* How far points of a triangle with its radius are from its first corner, at most. */
static real extent(const robot_oracle_shape *s, uint64_t i) {
    real u[3], v[3];
    sub(s->triangles[i][1], s->triangles[i][0], u);
    sub(s->triangles[i][2], s->triangles[i][0], v);
    return sqrtl(fmaxl(dot(u, u), dot(v, v))) + s->radii[i];
}

static real shapes_distance(const robot_oracle_shape *a, const robot_oracle_shape *b) {
    real best = INFINITY;
    for (uint64_t i = 0; i < a->count; ++i)
        for (uint64_t k = 0; k < b->count; ++k) {
            real u[3];
            sub(a->triangles[i][0], b->triangles[k][0], u);
            real least = sqrtl(dot(u, u)) - extent(a, i) - extent(b, k);
            if (least > best) continue;
            real d = robot_oracle_triangles(a->triangles[i], b->triangles[k]) - a->radii[i] -
                     b->radii[k];
            best = fminl(best, d);
            if (best <= 0) return 0;
        }
    for (uint64_t i = 0; i < b->count && a->closed; ++i)
        if (is_inside(a, b->triangles[i][0])) return 0;
    for (uint64_t i = 0; i < a->count && b->closed; ++i)
        if (is_inside(b, a->triangles[i][0])) return 0;
    return best;
}

/* ---- Robot ----------------------------------------------------------------------------------- */

static const carom_robot_joint *joint_above(const carom_robot_def *def, uint32_t link) {
    for (uint32_t i = 0; i < def->joint_count; ++i)
        if (def->joints[i].child == link) return &def->joints[i];
    return NULL;
}

uint8_t *robot_oracle_allowed(const carom_robot_def *def) {
    uint32_t n = def->link_count;
    uint8_t *allowed = calloc((size_t)n * n + 1, 1);
    for (uint64_t i = 0; i < def->allowed_count; ++i) {
        allowed[def->allowed[i].a * n + def->allowed[i].b] = 1;
        allowed[def->allowed[i].b * n + def->allowed[i].a] = 1;
    }
    /* Adjacent ones, and those that fixed joints alone connect: each link's rigid ancestor. */
    for (uint32_t i = 0; i < n; ++i) {
        const carom_robot_joint *j = joint_above(def, i);
        while (j != NULL && def->links[j->parent].shape_count == 0) j = joint_above(def, j->parent);
        if (j != NULL && !def->test_adjacent)
            allowed[i * n + j->parent] = allowed[j->parent * n + i] = 1;
        for (uint32_t k = 0; k < n; ++k) {
            uint32_t a = i, b = k;
            while ((j = joint_above(def, a)) != NULL && j->kind == CAROM_ROBOT_JOINT_KIND_FIXED)
                a = j->parent;
            while ((j = joint_above(def, b)) != NULL && j->kind == CAROM_ROBOT_JOINT_KIND_FIXED)
                b = j->parent;
            if (a == b) allowed[i * n + k] = allowed[k * n + i] = 1;
        }
    }
    return allowed;
}

void robot_oracle_create(const carom_robot_def *def, const carom_robot_shape *objects,
                         uint32_t object_count, const carom_mesh_view *open, robot_oracle *oracle) {
    uint64_t shapes = 0;
    uint32_t n = def->link_count;
    for (uint32_t i = 0; i < n; ++i) shapes += def->links[i].shape_count;
    *oracle = (robot_oracle){.def = def, .object_count = object_count};
    oracle->links = calloc(shapes + 1, sizeof(*oracle->links));
    oracle->link_starts = calloc(n + 1, sizeof(*oracle->link_starts));
    oracle->objects = calloc(object_count + 1, sizeof(*oracle->objects));
    shapes = 0;
    for (uint32_t i = 0; i < n; ++i) {
        oracle->link_starts[i] = shapes;
        for (uint64_t k = 0; k < def->links[i].shape_count; ++k)
            robot_oracle_shape_make(&def->links[i].shapes[k], open, &oracle->links[shapes++]);
    }
    oracle->link_starts[n] = shapes;
    for (uint32_t i = 0; i < object_count; ++i)
        robot_oracle_shape_make(&objects[i], open, &oracle->objects[i]);
    oracle->allowed = robot_oracle_allowed(def);
}

void robot_oracle_destroy(robot_oracle *oracle) {
    for (uint64_t i = 0; i < oracle->link_starts[oracle->def->link_count]; ++i)
        robot_oracle_shape_free(&oracle->links[i]);
    for (uint32_t i = 0; i < oracle->object_count; ++i)
        robot_oracle_shape_free(&oracle->objects[i]);
    free(oracle->links);
    free(oracle->link_starts);
    free(oracle->objects);
    free(oracle->allowed);
}

/* The number of a joint in a configuration. */
static double value_of(const carom_robot_def *def, const double *q,
                       const carom_robot_joint *joint) {
    uint32_t column = 0;
    if (joint->mimics)
        return value_of(def, q, &def->joints[joint->mimic]) * joint->multiplier + joint->offset;
    for (const carom_robot_joint *j = def->joints; j != joint; ++j)
        if (j->kind != CAROM_ROBOT_JOINT_KIND_FIXED && !j->mimics) ++column;
    return q[column];
}

robot_oracle_frame robot_oracle_move(const robot_oracle_frame *parent, const carom_robot_joint *j,
                                     double value) {
    static const carom_pose identity;
    robot_oracle_frame origin = frame_of(&j->origin), at = compose(parent, &origin);
    robot_oracle_frame own = frame_of(&identity);
    if (j->kind == CAROM_ROBOT_JOINT_KIND_FIXED) return at;
    real u[3] = {j->axis.x, j->axis.y, j->axis.z}, length = sqrtl(dot(u, u));
    real s = sinl(value), c = cosl(value);
    for (int i = 0; i < 3; ++i) u[i] /= length;
    if (j->kind == CAROM_ROBOT_JOINT_KIND_PRISMATIC) {
        for (int i = 0; i < 3; ++i) own.t[i] = (real)value * u[i];
        return compose(&at, &own);
    }
    const real k[9] = {0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0};
    for (int i = 0; i < 3; ++i)
        for (int m = 0; m < 3; ++m)
            own.r[3 * i + m] = (i == m ? c : 0) + s * k[3 * i + m] + (1 - c) * u[i] * u[m];
    return compose(&at, &own);
}

static robot_oracle_frame link_frame(const carom_robot_def *def, const double *q, uint32_t link) {
    static const carom_pose identity;
    const carom_robot_joint *j = joint_above(def, link);
    if (j == NULL) return frame_of(&identity);
    robot_oracle_frame parent = link_frame(def, q, j->parent);
    bool is_fixed = j->kind == CAROM_ROBOT_JOINT_KIND_FIXED;
    return robot_oracle_move(&parent, j, is_fixed ? 0.0 : value_of(def, q, j));
}

void robot_oracle_pose(const carom_robot_def *def, const double *q, uint32_t link, real r[9],
                       real t[3]) {
    robot_oracle_frame f = link_frame(def, q, link);
    memcpy(r, f.r, sizeof(f.r));
    memcpy(t, f.t, sizeof(f.t));
}

real robot_oracle_pair(const robot_oracle *o, const double *q, uint32_t a, uint32_t b,
                       bool with_object) {
    robot_oracle_frame fa = link_frame(o->def, q, a);
    real best = INFINITY;
    for (uint64_t i = o->link_starts[a]; i < o->link_starts[a + 1]; ++i) {
        robot_oracle_shape mine = moved(&o->links[i], &fa);
        if (with_object) {
            best = fminl(best, shapes_distance(&mine, &o->objects[b]));
        } else {
            robot_oracle_frame fb = link_frame(o->def, q, b);
            for (uint64_t k = o->link_starts[b]; k < o->link_starts[b + 1]; ++k) {
                robot_oracle_shape other = moved(&o->links[k], &fb);
                best = fminl(best, shapes_distance(&mine, &other));
                robot_oracle_shape_free(&other);
            }
        }
        robot_oracle_shape_free(&mine);
    }
    return best;
}

real robot_oracle_distance(const robot_oracle *o, const double *q) {
    uint32_t n = o->def->link_count;
    real best = INFINITY;
    for (uint32_t a = 0; a < n; ++a) {
        for (uint32_t b = a + 1; b < n; ++b)
            if (!o->allowed[a * n + b]) best = fminl(best, robot_oracle_pair(o, q, a, b, false));
        for (uint32_t b = 0; b < o->object_count; ++b)
            best = fminl(best, robot_oracle_pair(o, q, a, b, true));
    }
    return best;
}
