/* SPDX-License-Identifier: MIT */
/* The distance at time t is found by trying everything: inside, edges, corners. It changes by at
 * most the largest difference of two displacements, so that from a distance d no contact is less
 * than d / speed away. No polynomials. */
#include "tests/support/toi_oracle.h"

#include <math.h>

/* Products of lattice coordinates fit in 64 bits; numbers of 113 bits would be fifty times slower.
 */
typedef long double real;

typedef struct real3 {
    real x, y, z;
} real3;

static real3 real3_of(carom_vec3 v) {
    return (real3){v.x, v.y, v.z};
}

static real3 real3_sub(real3 a, real3 b) {
    return (real3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static real3 real3_along(real3 p, real3 u, real t) {
    return (real3){p.x + u.x * t, p.y + u.y * t, p.z + u.z * t};
}

static real real3_dot(real3 a, real3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static real3 real3_cross(real3 a, real3 b) {
    return (real3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static real real3_distance(real3 a, real3 b) {
    real3 apart = real3_sub(a, b);
    return sqrtl(real3_dot(apart, apart));
}

static real to_segment(real3 p, real3 a, real3 b) {
    real3 u = real3_sub(b, a), w = real3_sub(p, a);
    real length = real3_dot(u, u), s = length > 0 ? real3_dot(w, u) / length : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    return real3_distance(p, real3_along(a, u, s));
}

static real least(real a, real b) {
    return a < b ? a : b;
}

static real to_triangle(real3 p, real3 a, real3 b, real3 c) {
    real best = least(to_segment(p, a, b), least(to_segment(p, b, c), to_segment(p, c, a)));
    real3 n = real3_cross(real3_sub(b, a), real3_sub(c, a));
    if (!(real3_dot(n, n) > 0)) return best;
    bool inside = real3_dot(n, real3_cross(real3_sub(b, a), real3_sub(p, a))) >= 0 &&
                  real3_dot(n, real3_cross(real3_sub(c, b), real3_sub(p, b))) >= 0 &&
                  real3_dot(n, real3_cross(real3_sub(a, c), real3_sub(p, c))) >= 0;
    if (!inside) return best;
    return least(best, fabsl(real3_dot(n, real3_sub(p, a))) / sqrtl(real3_dot(n, n)));
}

static real of_segments(real3 a, real3 b, real3 c, real3 d) {
    real best = least(least(to_segment(a, c, d), to_segment(b, c, d)),
                      least(to_segment(c, a, b), to_segment(d, a, b)));
    real3 u = real3_sub(b, a), v = real3_sub(d, c), w = real3_sub(c, a), n = real3_cross(u, v);
    real square = real3_dot(n, n);
    if (!(square > 0)) return best;
    real s = real3_dot(real3_cross(w, v), n) / square, r = real3_dot(real3_cross(w, u), n) / square;
    if (s < 0 || s > 1 || r < 0 || r > 1) return best;
    return least(best, fabsl(real3_dot(n, w)) / sqrtl(square));
}

static real distance_at(const carom_vec3 *start, const carom_vec3 *end, bool edges, real t) {
    real3 p[4];
    for (int i = 0; i < 4; ++i) {
        real3 from = real3_of(start[i]), to = real3_of(end[i]);
        p[i] = real3_along(from, real3_sub(to, from), t);
    }
    return edges ? of_segments(p[0], p[1], p[2], p[3]) : to_triangle(p[0], p[1], p[2], p[3]);
}

double toi_oracle_distance(const carom_vec3 *start, const carom_vec3 *end, bool edges, double t) {
    return (double)distance_at(start, end, edges, t);
}

double toi_oracle_speed(const carom_vec3 *start, const carom_vec3 *end, bool edges) {
    real most = 0;
    int first = edges ? 2 : 1;
    for (int i = 0; i < first; ++i)
        for (int j = first; j < 4; ++j) {
            real3 a = real3_sub(real3_of(end[i]), real3_of(start[i]));
            real3 b = real3_sub(real3_of(end[j]), real3_of(start[j]));
            real speed = real3_distance(a, b);
            most = speed > most ? speed : most;
        }
    return (double)(most * (1 + 0x1p-50));
}

bool toi_oracle(const carom_vec3 *start, const carom_vec3 *end, bool edges, double near,
                double *time) {
    real speed = toi_oracle_speed(start, end, edges), t = 0;
    for (;;) {
        real d = distance_at(start, end, edges, t);
        *time = (double)t;
        if (d <= near * speed || !(d > 0)) return true;
        if (d > speed) return false;
        t += d / speed;
        if (t > 1) return false;
    }
}
