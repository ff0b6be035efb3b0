/* SPDX-License-Identifier: MIT */
/* Rays, distances and winding numbers from their definitions. */
#include "tests/support/exact_geometry.h"

#include <math.h>
#include <stdlib.h>

static number zero(void) {
    return (number){0};
}

static number one(void) {
    return number_power(0);
}

exact_triangle exact_triangle_of(const carom_vec3 corner[3]) {
    exact_triangle t;
    for (int i = 0; i < 3; ++i) t.p[i] = number3_of(corner[i]);
    t.normal = number3_cross(number3_sub(t.p[1], t.p[0]), number3_sub(t.p[2], t.p[0]));
    t.has_area = !number3_is_zero(t.normal);
    return t;
}

static number determinant(number3 a, number3 b, number3 c) {
    return number3_dot(number3_cross(a, b), c);
}

int exact_orient_3d(const carom_vec3 p[4]) {
    number3 from = number3_of(p[0]);
    return determinant(number3_sub(number3_of(p[1]), from), number3_sub(number3_of(p[2]), from),
                       number3_sub(number3_of(p[3]), from))
        .sign;
}

/* ---- rays ------------------------------------------------------------------------------------ */

static bool ray_meets_segment(number3 o, number3 d, number3 a, number3 b, ratio *t) {
    number3 u = number3_sub(b, a), w = number3_sub(a, o), n = number3_cross(d, u);
    if (!number3_is_zero(n)) { /* o + t d = a + s u has one solution, where there is a plane */
        number nn = number3_dot(n, n);
        number s = number3_dot(number3_cross(w, d), n);
        if (number3_dot(w, n).sign != 0 || s.sign < 0 || number_compare(s, nn) > 0) return false;
        *t = ratio_of(number3_dot(number3_cross(w, u), n), nn);
        return ratio_sign(*t) >= 0;
    }
    if (!number3_is_zero(number3_cross(w, d))) return false;
    number near = number3_dot(w, d), far = number3_dot(number3_sub(b, o), d);
    if (number_compare(near, far) > 0) {
        number other = near;
        near = far;
        far = other;
    }
    if (far.sign < 0) return false;
    *t = ratio_of(near.sign < 0 ? zero() : near, number3_dot(d, d));
    return true;
}

/* For a point in the plane of a triangle with area. */
static bool plane_point_inside(number3 p, const exact_triangle *f) {
    for (int i = 0; i < 3; ++i) {
        number3 edge = number3_sub(f->p[(i + 1) % 3], f->p[i]);
        if (determinant(edge, number3_sub(p, f->p[i]), f->normal).sign < 0) return false;
    }
    return true;
}

/* Does the line from o along d, not parallel to the plane, pass through the closed triangle? */
static bool line_passes(number3 o, number3 d, const exact_triangle *f) {
    bool up = true, down = true;
    for (int i = 0; i < 3; ++i) {
        int side = determinant(d, number3_sub(f->p[i], o), number3_sub(f->p[(i + 1) % 3], o)).sign;
        up = up && side >= 0;
        down = down && side <= 0;
    }
    return up || down;
}

bool exact_ray_meets(number3 o, number3 d, const exact_triangle *f, ratio *t) {
    number towards = number3_dot(f->normal, d);
    if (towards.sign != 0) {
        *t = ratio_of(number3_dot(f->normal, number3_sub(f->p[0], o)), towards);
        return ratio_sign(*t) >= 0 && line_passes(o, d, f);
    }
    if (f->has_area) {
        if (number3_dot(f->normal, number3_sub(f->p[0], o)).sign != 0) return false;
        *t = ratio_of(zero(), one());
        if (plane_point_inside(o, f)) return true;
    }
    bool found = false;
    for (int i = 0; i < 3; ++i) {
        ratio at;
        if (!ray_meets_segment(o, d, f->p[i], f->p[(i + 1) % 3], &at)) continue;
        if (!found || ratio_compare(at, *t) < 0) *t = at;
        found = true;
    }
    return found;
}

/* ---- distances ------------------------------------------------------------------------------- */

static ratio lesser(ratio a, ratio b) {
    return ratio_compare(b, a) < 0 ? b : a;
}

ratio exact_point_segment(number3 p, number3 a, number3 b) {
    number3 u = number3_sub(b, a), w = number3_sub(p, a);
    number along = number3_dot(w, u), length = number3_dot(u, u);
    if (along.sign <= 0) return ratio_of(number3_dot(w, w), one());
    if (number_compare(along, length) >= 0) {
        number3 v = number3_sub(p, b);
        return ratio_of(number3_dot(v, v), one());
    }
    number top = number_mul(number3_dot(w, w), length);
    return ratio_of(number_sub(top, number_mul(along, along)), length);
}

/* Inside the prism above and below a triangle with area. */
static bool above(number3 p, const exact_triangle *f) {
    return f->has_area && plane_point_inside(p, f);
}

ratio exact_point_triangle(number3 p, const exact_triangle *f) {
    if (above(p, f)) {
        number height = number3_dot(f->normal, number3_sub(p, f->p[0]));
        return ratio_of(number_mul(height, height), number3_dot(f->normal, f->normal));
    }
    ratio least = exact_point_segment(p, f->p[0], f->p[1]);
    least = lesser(least, exact_point_segment(p, f->p[1], f->p[2]));
    return lesser(least, exact_point_segment(p, f->p[2], f->p[0]));
}

ratio exact_segments(const number3 a[2], const number3 b[2]) {
    number3 u = number3_sub(a[1], a[0]), v = number3_sub(b[1], b[0]), w = number3_sub(b[0], a[0]);
    number3 n = number3_cross(u, v);
    number nn = number3_dot(n, n);
    if (nn.sign > 0) {
        number s = number3_dot(number3_cross(w, v), n), t = number3_dot(number3_cross(w, u), n);
        if (s.sign >= 0 && t.sign >= 0 && number_compare(s, nn) <= 0 &&
            number_compare(t, nn) <= 0) {
            number height = number3_dot(w, n);
            return ratio_of(number_mul(height, height), nn);
        }
    }
    ratio least = exact_point_segment(a[0], b[0], b[1]);
    least = lesser(least, exact_point_segment(a[1], b[0], b[1]));
    least = lesser(least, exact_point_segment(b[0], a[0], a[1]));
    return lesser(least, exact_point_segment(b[1], a[0], a[1]));
}

/* Its ends on different sides, and the line through the closed face. */
static bool passes_through(const number3 s[2], const exact_triangle *f) {
    if (!f->has_area) return false;
    int from = number3_dot(f->normal, number3_sub(s[0], f->p[0])).sign;
    int to = number3_dot(f->normal, number3_sub(s[1], f->p[0])).sign;
    return from * to < 0 && line_passes(s[0], number3_sub(s[1], s[0]), f);
}

ratio exact_segment_triangle(const number3 s[2], const exact_triangle *f) {
    if (passes_through(s, f)) return ratio_of(zero(), one());
    ratio least = exact_point_triangle(s[0], f);
    least = lesser(least, exact_point_triangle(s[1], f));
    for (int i = 0; i < 3; ++i) {
        number3 edge[2] = {f->p[i], f->p[(i + 1) % 3]};
        least = lesser(least, exact_segments(s, edge));
    }
    return least;
}

ratio exact_triangles(const exact_triangle *a, const exact_triangle *b) {
    ratio least = exact_point_triangle(b->p[0], a);
    for (int i = 0; i < 3 && ratio_sign(least) > 0; ++i) {
        number3 edge[2] = {a->p[i], a->p[(i + 1) % 3]};
        least = lesser(least, exact_segment_triangle(edge, b));
    }
    for (int i = 0; i < 3 && ratio_sign(least) > 0; ++i) {
        number3 edge[2] = {b->p[i], b->p[(i + 1) % 3]};
        if (passes_through(edge, a)) return ratio_of(zero(), one());
        least = lesser(least, exact_point_triangle(b->p[i], a));
    }
    return least;
}

bool exact_point_on(number3 p, const exact_triangle *f) {
    if (f->has_area)
        return number3_dot(f->normal, number3_sub(p, f->p[0])).sign == 0 &&
               plane_point_inside(p, f);
    return ratio_sign(exact_point_triangle(p, f)) == 0;
}

/* ---- winding --------------------------------------------------------------------------------- */

/* +1, 0, -1: how a ray along d crosses the face; 2: through an edge, which decides nothing. */
static int crossing(number3 p, number3 d, const exact_triangle *f) {
    int side[3], zeros = 0, positive = 0, negative = 0;
    for (int i = 0; i < 3; ++i) {
        side[i] = determinant(d, number3_sub(f->p[i], p), number3_sub(f->p[(i + 1) % 3], p)).sign;
        zeros += side[i] == 0;
        positive += side[i] > 0;
        negative += side[i] < 0;
    }
    if (positive > 0 && negative > 0) return 0;
    if (zeros > 0) return 2;
    number towards = number3_dot(f->normal, d);
    number height = number3_dot(f->normal, number3_sub(f->p[0], p));
    if (height.sign * towards.sign <= 0) return 0; /* behind the point */
    return towards.sign;
}

int exact_winding(number3 p, const exact_triangle *triangles, uint64_t count,
                  carom_random *random) {
    for (int attempt = 0; attempt < 200; ++attempt) {
        number3 d;
        for (int k = 0; k < 3; ++k)
            d.x[k] = number_of((double)(carom_random_next(random) % 20001) - 10000.0);
        int sum = 0;
        uint64_t i = 0;
        for (; i < count; ++i) {
            if (!triangles[i].has_area) continue;
            int one_crossing = crossing(p, d, &triangles[i]);
            if (one_crossing == 2) break;
            sum += one_crossing;
        }
        if (i == count) return sum;
    }
    abort(); /* every direction met an edge: a bug in the test */
}

/* ---- rough sizes ----------------------------------------------------------------------------- */

double exact_extent(const carom_vec3 *p, int count) {
    long double most = 0;
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < i; ++j) {
            long double x = (long double)p[i].x - p[j].x, y = (long double)p[i].y - p[j].y;
            long double z = (long double)p[i].z - p[j].z, square = x * x + y * y + z * z;
            if (square > most) most = square;
        }
    return (double)(sqrtl(most) * (1 + 1e-12L));
}

static void range_of(const carom_vec3 *p, int count, long double low[3], long double high[3]) {
    for (int i = 0; i < count; ++i) {
        const double x[3] = {p[i].x, p[i].y, p[i].z};
        for (int k = 0; k < 3; ++k) {
            if (i == 0 || x[k] < low[k]) low[k] = x[k];
            if (i == 0 || x[k] > high[k]) high[k] = x[k];
        }
    }
}

long double exact_box_gap(const carom_vec3 *a, int count_a, const carom_vec3 *b, int count_b) {
    long double low_a[3], high_a[3], low_b[3], high_b[3], sum = 0;
    range_of(a, count_a, low_a, high_a);
    range_of(b, count_b, low_b, high_b);
    for (int k = 0; k < 3; ++k) {
        long double apart = 0;
        if (low_a[k] > high_b[k]) apart = low_a[k] - high_b[k];
        if (low_b[k] > high_a[k]) apart = low_b[k] - high_a[k];
        sum += apart * apart;
    }
    return sum;
}
