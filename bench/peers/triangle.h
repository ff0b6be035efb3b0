// SPDX-License-Identifier: MIT
// triangle.h: do two closed triangles meet? In plain doubles, for peers that find boxes only: what
// their users would write. Not exact: near degeneracies it may be wrong either way.
//
// After Guigue and Devillers (Fast and robust triangle-triangle overlap test using orientation
// predicates, 2003): corners against the other's plane; then both triangles are turned so that
// their first corners lie alone on the positive side, and two orientations tell whether the
// intervals in which they cut the line of both planes overlap.
#ifndef CAROM_BENCH_PEERS_TRIANGLE_H
#define CAROM_BENCH_PEERS_TRIANGLE_H

#include <cmath>
#include <utility>

namespace peer {

struct point {
    double x, y, z;
};

inline point operator-(const point &a, const point &b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

inline point cross(const point &a, const point &b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

inline double dot(const point &a, const point &b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Positive when d is on the side of the plane a, b, c from which they turn counter-clockwise.
inline double side(const point &a, const point &b, const point &c, const point &d) {
    return dot(cross(b - a, c - a), d - a);
}

// ---- in one plane: u and v are the coordinates left ------------------------------------------

struct flat {
    double u, v;
};

inline double turn(const flat &a, const flat &b, const flat &c) {
    return (b.u - a.u) * (c.v - a.v) - (b.v - a.v) * (c.u - a.u);
}

inline bool between(double a, double b, double x) {
    return a < b ? a <= x && x <= b : b <= x && x <= a;
}

inline bool segments_meet(const flat &a, const flat &b, const flat &c, const flat &d) {
    double ac = turn(a, b, c), ad = turn(a, b, d), ca = turn(c, d, a), cb = turn(c, d, b);
    if (((ac > 0 && ad < 0) || (ac < 0 && ad > 0)) && ((ca > 0 && cb < 0) || (ca < 0 && cb > 0)))
        return true;
    return (ac == 0 && between(a.u, b.u, c.u) && between(a.v, b.v, c.v)) ||
           (ad == 0 && between(a.u, b.u, d.u) && between(a.v, b.v, d.v)) ||
           (ca == 0 && between(c.u, d.u, a.u) && between(c.v, d.v, a.v)) ||
           (cb == 0 && between(c.u, d.u, b.u) && between(c.v, d.v, b.v));
}

inline bool is_inside(const flat *t, const flat &p) {
    double a = turn(t[0], t[1], p), b = turn(t[1], t[2], p), c = turn(t[2], t[0], p);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

inline bool coplanar_meet(const point *a, const point *b, const point &normal) {
    double x = std::fabs(normal.x), y = std::fabs(normal.y), z = std::fabs(normal.z);
    flat s[3], t[3];
    for (int i = 0; i < 3; ++i) {
        bool by_x = x >= y && x >= z, by_y = !by_x && y >= z;
        s[i] = by_x ? flat{a[i].y, a[i].z} : by_y ? flat{a[i].z, a[i].x} : flat{a[i].x, a[i].y};
        t[i] = by_x ? flat{b[i].y, b[i].z} : by_y ? flat{b[i].z, b[i].x} : flat{b[i].x, b[i].y};
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            if (segments_meet(s[i], s[(i + 1) % 3], t[j], t[(j + 1) % 3])) return true;
    return is_inside(s, t[0]) || is_inside(t, s[0]);
}

// ---- in space ---------------------------------------------------------------------------------

// Which corner is alone on its side of the other's plane (a corner on it counts with those it
// leaves together), and whether that is the negative side.
inline int lone(const double *d, bool *negative) {
    for (int i = 0; i < 3; ++i) {
        double p = d[i], q = d[(i + 1) % 3], r = d[(i + 2) % 3];
        if (p > 0 && q <= 0 && r <= 0) return *negative = false, i;
        if (p < 0 && q >= 0 && r >= 0) return *negative = true, i;
    }
    for (int i = 0; i < 3; ++i) // one corner on the plane, the others beyond it on one side
        if (d[i] == 0) return *negative = d[(i + 1) % 3] > 0, i;
    return *negative = false, 0;
}

inline bool triangles_meet(const point *a, const point *b) {
    point normal_b = cross(b[1] - b[0], b[2] - b[0]);
    double da[3], db[3];
    for (int i = 0; i < 3; ++i) da[i] = dot(normal_b, a[i] - b[0]);
    if ((da[0] > 0 && da[1] > 0 && da[2] > 0) || (da[0] < 0 && da[1] < 0 && da[2] < 0))
        return false;
    point normal_a = cross(a[1] - a[0], a[2] - a[0]);
    for (int i = 0; i < 3; ++i) db[i] = dot(normal_a, b[i] - a[0]);
    if ((db[0] > 0 && db[1] > 0 && db[2] > 0) || (db[0] < 0 && db[1] < 0 && db[2] < 0))
        return false;
    if (da[0] == 0 && da[1] == 0 && da[2] == 0) return coplanar_meet(a, b, normal_b);

    bool a_below, b_below;
    int i = lone(da, &a_below), j = lone(db, &b_below);
    point p1 = a[i], q1 = a[(i + 1) % 3], r1 = a[(i + 2) % 3];
    point p2 = b[j], q2 = b[(j + 1) % 3], r2 = b[(j + 2) % 3];
    // Turning one triangle over moves the other's lone corner to the other side.
    if (b_below) std::swap(q1, r1);
    if (a_below) std::swap(q2, r2);
    return side(p1, q1, p2, q2) <= 0 && side(p1, r1, r2, p2) <= 0;
}

} // namespace peer

#endif
