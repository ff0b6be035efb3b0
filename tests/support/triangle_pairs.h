/* SPDX-License-Identifier: MIT */
/* triangle_pairs.h: seeded pairs of triangles, most of them degenerate in some way. */
#ifndef CAROM_TESTS_TRIANGLE_PAIRS_H
#define CAROM_TESTS_TRIANGLE_PAIRS_H

#include <math.h>

#include "carom/geom.h"

typedef enum pair_kind {
    PAIR_LATTICE, /* small integers: everything touches */
    PAIR_NEAR,    /* doubles within rounding of touching, coplanar, collinear */
    PAIR_RANDOM,  /* uniform in a cube */
    PAIR_KIND_COUNT
} pair_kind;

/* All coordinates are multiples of 2^PAIR_BASE and below 8; moved by 1e6, of 2^PAIR_MOVED_BASE. */
#define PAIR_BASE       (-56)
#define PAIR_MOVED_BASE (-33)
#define PAIR_MOVE       1e6

static inline uint64_t pair_below(carom_random *random, uint64_t bound) {
    return carom_random_next(random) % bound;
}

/* To a multiple of 2^PAIR_BASE. Below 2^-4 the addition rounds, above it does nothing. */
static inline double pair_round(double x) {
    return fabs(x) < 0x1p-4 ? (x + 0x1.8p-3) - 0x1.8p-3 : x;
}

static inline carom_vec3 pair_lattice_point(carom_random *random, uint64_t size) {
    carom_vec3 p;
    p.x = (double)pair_below(random, size);
    p.y = (double)pair_below(random, size);
    p.z = (double)pair_below(random, size);
    return p;
}

static inline carom_vec3 pair_uniform_point(carom_random *random) {
    carom_vec3 p;
    p.x = pair_round(carom_random_between(random, -1.0, 1.0));
    p.y = pair_round(carom_random_between(random, -1.0, 1.0));
    p.z = pair_round(carom_random_between(random, -1.0, 1.0));
    return p;
}

static inline double pair_combine(double u, double x, double v, double y, double w, double z) {
    return pair_round(u * x + v * y + w * z);
}

/* A point that is, up to rounding, a corner of t, on one of its edges' lines, or in its plane. */
static inline carom_vec3 pair_near_point(carom_random *random, const carom_vec3 *t) {
    uint64_t kind = pair_below(random, 10);
    uint64_t i = pair_below(random, 3), j = (i + 1) % 3, k = (i + 2) % 3;
    double u = carom_random_between(random, -0.5, 1.5), v = carom_random_between(random, -0.5, 1.0);
    if (kind == 0) return pair_uniform_point(random);
    if (kind == 1) return t[i];
    if (kind <= 4) v = 1.0 - u; /* on a line */
    if (kind == 5) {            /* at its quarters */
        u = (double)pair_below(random, 5) * 0.25;
        v = 1.0 - u;
    }
    double w = 1.0 - u - v;
    carom_vec3 p;
    p.x = pair_combine(u, t[i].x, v, t[j].x, w, t[k].x);
    p.y = pair_combine(u, t[i].y, v, t[j].y, w, t[k].y);
    p.z = pair_combine(u, t[i].z, v, t[j].z, w, t[k].z);
    if (kind == 9) { /* a few steps aside */
        p.x = pair_round(p.x + 0x1p-53 * ((double)pair_below(random, 5) - 2.0));
        p.z = pair_round(p.z + 0x1p-53 * ((double)pair_below(random, 5) - 2.0));
    }
    return p;
}

static inline void pair_make(carom_random *random, pair_kind kind, carom_triangle *a,
                             carom_triangle *b) {
    static const uint64_t sizes[] = {2, 2, 3, 3, 4, 5, 6, 8};
    uint64_t size = sizes[pair_below(random, 8)];
    for (int i = 0; i < 3; ++i) {
        if (kind == PAIR_LATTICE) {
            a->corner[i] = pair_lattice_point(random, size);
            b->corner[i] = pair_lattice_point(random, size);
        } else {
            a->corner[i] = pair_uniform_point(random);
            b->corner[i] = pair_uniform_point(random);
        }
    }
    if (kind != PAIR_NEAR) return;
    uint64_t flat = pair_below(random, 32);
    if (flat == 0) a->corner[2] = pair_near_point(random, a->corner); /* often thin */
    if (flat == 1) a->corner[1] = a->corner[2] = a->corner[0];
    uint64_t near = 1 + pair_below(random, 3);
    for (uint64_t i = 0; i < near; ++i) b->corner[i] = pair_near_point(random, a->corner);
    if (flat == 2) b->corner[2] = pair_near_point(random, b->corner);
    if (near == 1 && pair_below(random, 2) == 0) { /* an edge of b through a point near a */
        carom_vec3 m = b->corner[0], p = b->corner[1];
        b->corner[2].x = pair_round(2.0 * m.x - p.x);
        b->corner[2].y = pair_round(2.0 * m.y - p.y);
        b->corner[2].z = pair_round(2.0 * m.z - p.z);
        b->corner[0] = pair_uniform_point(random);
    }
}

static inline carom_triangle pair_moved(const carom_triangle *t, double by, double scale) {
    carom_triangle moved;
    for (int i = 0; i < 3; ++i) {
        moved.corner[i].x = (t->corner[i].x + by) * scale;
        moved.corner[i].y = (t->corner[i].y + by) * scale;
        moved.corner[i].z = (t->corner[i].z + by) * scale;
    }
    return moved;
}

/* The same triangle from another corner and, for odd `which`, the other way round. */
static inline carom_triangle pair_permuted(const carom_triangle *t, uint64_t which) {
    carom_triangle p;
    for (uint64_t i = 0; i < 3; ++i)
        p.corner[i] = t->corner[(which / 2 + (which % 2 == 0 ? i : 3 - i)) % 3];
    return p;
}

#endif
