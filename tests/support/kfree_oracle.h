/* SPDX-License-Identifier: MIT */
/* kfree_oracle.h: which triangles are near each other, by trying every pair of corners, edges and
 * faces; and how large a polygon is, by trying every ball.
 *
 * In long doubles, without a division: for coordinates that are small integers, up to 500, all
 * numbers are integers below 2^63 and nothing is rounded. */
#ifndef CAROM_TESTS_KFREE_ORACLE_H
#define CAROM_TESTS_KFREE_ORACLE_H

#include <math.h>

#include "carom/geom.h"

typedef long double real;

typedef struct real3 {
    real x, y, z;
} real3;

static inline real3 real3_of(carom_vec3 v) {
    return (real3){v.x, v.y, v.z};
}

static inline real3 real3_sub(real3 a, real3 b) {
    return (real3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline real real3_dot(real3 a, real3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline real3 real3_cross(real3 a, real3 b) {
    return (real3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* ---- near? ----------------------------------------------------------------------------------- */

/* squared: of the reach. */
static inline bool oracle_point_edge(real3 p, real3 q, real3 r, real squared) {
    real3 u = real3_sub(r, q), w = real3_sub(p, q);
    real along = real3_dot(w, u), length = real3_dot(u, u);
    if (along <= 0) return real3_dot(w, w) <= squared;
    if (along >= length) return real3_dot(real3_sub(p, r), real3_sub(p, r)) <= squared;
    return real3_dot(w, w) * length - along * along <= squared * length;
}

static inline bool oracle_edges(const real3 *p, const real3 *q, real squared) {
    real3 u = real3_sub(p[1], p[0]), v = real3_sub(q[1], q[0]), w = real3_sub(q[0], p[0]);
    real3 n = real3_cross(u, v);
    real nn = real3_dot(n, n), s = real3_dot(real3_cross(w, v), n);
    real t = real3_dot(real3_cross(w, u), n), height = real3_dot(w, n);
    return nn > 0 && s >= 0 && s <= nn && t >= 0 && t <= nn && height * height <= squared * nn;
}

/* The foot is inside, or an edge from p to q goes through: then p and q need not be near. */
static inline bool oracle_point_face(real3 p, const real3 *f, real squared) {
    real3 n = real3_cross(real3_sub(f[1], f[0]), real3_sub(f[2], f[0]));
    real nn = real3_dot(n, n), height = real3_dot(real3_sub(p, f[0]), n);
    if (!(nn > 0) || height * height > squared * nn) return false;
    for (int i = 0; i < 3; ++i) {
        real3 edge = real3_sub(f[(i + 1) % 3], f[i]);
        if (real3_dot(real3_cross(edge, real3_sub(p, f[i])), n) < 0) return false;
    }
    return true;
}

static inline real oracle_volume(real3 a, real3 b, real3 c, real3 d) {
    return real3_dot(real3_cross(real3_sub(b, a), real3_sub(c, a)), real3_sub(d, a));
}

static inline bool oracle_goes_through(real3 p, real3 q, const real3 *f) {
    real sp = oracle_volume(f[0], f[1], f[2], p), sq = oracle_volume(f[0], f[1], f[2], q);
    if (!((sp < 0 && sq > 0) || (sp > 0 && sq < 0))) return false;
    bool up = true, down = true;
    for (int i = 0; i < 3; ++i) {
        real side = oracle_volume(p, q, f[i], f[(i + 1) % 3]);
        up = up && side >= 0;
        down = down && side <= 0;
    }
    return up || down;
}

static inline bool oracle_within(const real3 *a, const real3 *b, real squared) {
    for (int i = 0; i < 3; ++i) {
        real3 ea[2] = {a[i], a[(i + 1) % 3]}, eb[2] = {b[i], b[(i + 1) % 3]};
        if (oracle_goes_through(ea[0], ea[1], b) || oracle_goes_through(eb[0], eb[1], a))
            return true;
        if (oracle_point_face(a[i], b, squared) || oracle_point_face(b[i], a, squared)) return true;
        for (int j = 0; j < 3; ++j) {
            real3 other[2] = {b[j], b[(j + 1) % 3]};
            if (oracle_edges(ea, other, squared) ||
                oracle_point_edge(a[i], other[0], other[1], squared) ||
                oracle_point_edge(b[j], ea[0], ea[1], squared))
                return true;
        }
    }
    return false;
}

/* ---- how large ------------------------------------------------------------------------------- */

/* The centre of the smallest ball through 2, 3 or 4 points; false when there is none. */
static inline bool oracle_centre(const real3 *p, int count, real3 *centre) {
    real3 u = real3_sub(p[1], p[0]), sum = {u.x / 2, u.y / 2, u.z / 2};
    if (count >= 3) {
        real3 v = real3_sub(p[2], p[0]), n = real3_cross(u, v);
        real nn = real3_dot(n, n);
        if (nn == 0) return false;
        real3 w = {0, 0, 0};
        real extra = 0;
        if (count == 4) {
            w = real3_sub(p[3], p[0]);
            extra = real3_dot(w, n);
            if (extra == 0) return false;
        }
        real3 vn = real3_cross(v, n), nu = real3_cross(n, u);
        real uu = real3_dot(u, u) / (2 * nn), vv = real3_dot(v, v) / (2 * nn);
        sum = (real3){uu * vn.x + vv * nu.x, uu * vn.y + vv * nu.y, uu * vn.z + vv * nu.z};
        if (count == 4) { /* along the normal until the fourth is as far */
            real t = (real3_dot(w, w) / 2 - real3_dot(sum, w)) / extra;
            sum = (real3){sum.x + t * n.x, sum.y + t * n.y, sum.z + t * n.z};
        }
    }
    *centre = (real3){p[0].x + sum.x, p[0].y + sum.y, p[0].z + sum.z};
    return true;
}

/* Of the smallest ball around points, squared: the smallest of all balls through up to four of them
 * that hold the others. */
static inline real oracle_squared_diameter(const real3 *p, uint32_t count) {
    real best = INFINITY;
    uint32_t c[4];
    for (c[0] = 0; c[0] < count; ++c[0])
        for (c[1] = c[0]; c[1] < count; ++c[1])
            for (c[2] = c[1]; c[2] < count; ++c[2])
                for (c[3] = c[2]; c[3] < count; ++c[3]) {
                    real3 on[4], centre;
                    int size = 0;
                    for (int i = 0; i < 4; ++i)
                        if (i == 0 || c[i] != c[i - 1]) on[size++] = p[c[i]];
                    centre = on[0];
                    if (size > 1 && !oracle_centre(on, size, &centre)) continue;
                    real most = 0;
                    for (uint32_t i = 0; i < count; ++i) {
                        real3 apart = real3_sub(p[i], centre);
                        real squared = real3_dot(apart, apart);
                        most = squared > most ? squared : most;
                    }
                    best = 4 * most < best ? 4 * most : best;
                }
    return best;
}

#endif
