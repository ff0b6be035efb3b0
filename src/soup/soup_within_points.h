/* SPDX-License-Identifier: MIT */
/* soup_within_points.h: what both certificates of geom/within.h are made from, with SIMD, a pair of
 * triangles per lane: the distances of points of two triangles, and what triangles cover along a
 * direction. soup_within_cpu.c includes this file once for doubles and once for floats, and defines
 * beforehand:
 *
 *   NAME(x)             x with a suffix for the type
 *   SCALAR              the type
 *   VECTOR, FLAGS       SIMD vectors, and the type of their comparisons
 *   LOAD, SPLAT, MINIMUM, MAXIMUM
 *   MULTIPLY_ADD(a, b, c)   a b + c, rounded once or twice
 *   LARGEST             the largest finite number
 *   DIVISOR_MINIMUM       a positive number with a finite inverse, below the usual squared lengths
 *
 * Roundings, of the largest coordinate: a difference of corners has one. A point along an edge has
 * two more, as its parameter is in [0, 1] whatever it was computed from, and a foot on a face has
 * four; so two points have at most eight with their difference. A dot product has three, and with
 * its argument's four. This is the count of geom/within.h, which holds for floats as for doubles in
 * their own unit; a MULTIPLY_ADD that rounds once has fewer. */

typedef struct NAME(vec) {
    VECTOR x, y, z;
} NAME(vec);

static inline NAME(vec) NAME(load)(const SCALAR *x, const SCALAR *y, const SCALAR *z) {
    return (NAME(vec)){LOAD(x), LOAD(y), LOAD(z)};
}

static inline NAME(vec) NAME(add)(NAME(vec) a, NAME(vec) b) {
    return (NAME(vec)){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline NAME(vec) NAME(sub)(NAME(vec) a, NAME(vec) b) {
    return (NAME(vec)){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline NAME(vec) NAME(cross)(NAME(vec) a, NAME(vec) b) {
    return (NAME(vec)){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline VECTOR NAME(dot)(NAME(vec) a, NAME(vec) b) {
    return MULTIPLY_ADD(a.z, b.z, MULTIPLY_ADD(a.y, b.y, a.x * b.x));
}

static inline NAME(vec) NAME(normal)(const NAME(vec) * t) {
    return NAME(cross)(NAME(sub)(t[1], t[0]), NAME(sub)(t[2], t[0]));
}

static inline NAME(vec) NAME(sum)(const NAME(vec) * t) {
    return NAME(add)(NAME(add)(t[0], t[1]), t[2]);
}

static inline VECTOR NAME(choose)(FLAGS which, VECTOR yes, VECTOR no) {
    return (VECTOR)(((FLAGS)yes & which) | ((FLAGS)no & ~which));
}

/* ---- Slabs ----------------------------------------------------------------------------------- */

/* What a triangle covers along a direction, in units of the direction's length. */
typedef struct NAME(shadow) {
    VECTOR low, high;
} NAME(shadow);

static inline NAME(shadow) NAME(shadow_of)(const NAME(vec) * t, NAME(vec) direction) {
    VECTOR x = NAME(dot)(direction, t[0]), y = NAME(dot)(direction, t[1]),
           z = NAME(dot)(direction, t[2]);
    return (NAME(shadow)){MINIMUM(MINIMUM(x, y), z), MAXIMUM(MAXIMUM(x, y), z)};
}

/* The width of the slab between two triangles; negative where there is none. */
static inline VECTOR NAME(gap)(NAME(shadow) a, NAME(shadow) b) {
    return MAXIMUM(b.low - a.high, a.low - b.high);
}

/* ---- Near points ----------------------------------------------------------------------------- */

/* The least squared distance of corners. */
static inline VECTOR NAME(least_of_corners)(const NAME(vec) * a, const NAME(vec) * b) {
    VECTOR least = SPLAT(LARGEST);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            NAME(vec) d = NAME(sub)(b[k], a[i]);
            least = MINIMUM(least, NAME(dot)(d, d));
        }
    }
    return least;
}

static inline VECTOR NAME(inverse)(VECTOR x) {
    return 1 / MAXIMUM(x, SPLAT(DIVISOR_MINIMUM));
}

/* To [0, 1]; NaN to 0. */
static inline VECTOR NAME(clamp)(VECTOR x) {
    return MINIMUM(MAXIMUM(x, SPLAT(0)), SPLAT(1));
}

/* p + s u */
static inline NAME(vec) NAME(along)(NAME(vec) p, NAME(vec) u, VECTOR s) {
    return (NAME(vec)){MULTIPLY_ADD(s, u.x, p.x), MULTIPLY_ADD(s, u.y, p.y),
                       MULTIPLY_ADD(s, u.z, p.z)};
}

/* The shortest vector so far from a point of a to a point of b. Whatever rounding did to the
 * parameters, the points are in the triangles. */
typedef struct NAME(nearest) {
    VECTOR squared;
    NAME(vec) across;
} NAME(nearest);

static inline void NAME(offer)(NAME(nearest) * n, FLAGS valid, NAME(vec) a, NAME(vec) b) {
    NAME(vec) across = NAME(sub)(b, a);
    VECTOR squared = NAME(dot)(across, across);
    FLAGS nearer = valid & (squared < n->squared);
    n->squared = NAME(choose)(nearer, squared, n->squared);
    n->across.x = NAME(choose)(nearer, across.x, n->across.x);
    n->across.y = NAME(choose)(nearer, across.y, n->across.y);
    n->across.z = NAME(choose)(nearer, across.z, n->across.z);
}

/* Edges as p + s u and q + t v: s is that of the nearest points of the lines, then t and once more
 * s are the best for the other. */
static inline void NAME(offer_edges)(NAME(nearest) * n, const NAME(vec) * a, const NAME(vec) * b) {
    NAME(vec) u[3], v[3];
    VECTOR uu[3], vv[3], inverse_uu[3], inverse_vv[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = NAME(sub)(a[i == 2 ? 0 : i + 1], a[i]);
        v[i] = NAME(sub)(b[i == 2 ? 0 : i + 1], b[i]);
        uu[i] = NAME(dot)(u[i], u[i]);
        vv[i] = NAME(dot)(v[i], v[i]);
        inverse_uu[i] = NAME(inverse)(uu[i]);
        inverse_vv[i] = NAME(inverse)(vv[i]);
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            NAME(vec) w = NAME(sub)(b[k], a[i]);
            VECTOR uv = NAME(dot)(u[i], v[k]), uw = NAME(dot)(u[i], w), vw = NAME(dot)(v[k], w);
            VECTOR s = NAME(clamp)((uw * vv[k] - uv * vw) * NAME(inverse)(uu[i] * vv[k] - uv * uv));
            VECTOR t = NAME(clamp)((s * uv - vw) * inverse_vv[k]);
            s = NAME(clamp)((t * uv + uw) * inverse_uu[i]);
            NAME(offer)(n, (FLAGS){0} == 0, NAME(along)(a[i], u[i], s), NAME(along)(b[k], v[k], t));
        }
    }
}

/* Corners of one triangle and their feet on the other, where these are inside. */
static inline void NAME(offer_feet)(NAME(nearest) * n, const NAME(vec) * corners,
                                    const NAME(vec) * face, bool of_a) {
    NAME(vec) u = NAME(sub)(face[1], face[0]), v = NAME(sub)(face[2], face[0]);
    VECTOR uu = NAME(dot)(u, u), uv = NAME(dot)(u, v), vv = NAME(dot)(v, v);
    VECTOR scale = NAME(inverse)(uu * vv - uv * uv);
    for (int i = 0; i < 3; ++i) {
        NAME(vec) w = NAME(sub)(corners[i], face[0]);
        VECTOR uw = NAME(dot)(u, w), vw = NAME(dot)(v, w);
        VECTOR s = (vv * uw - uv * vw) * scale, t = (uu * vw - uv * uw) * scale;
        NAME(vec) foot = NAME(along)(NAME(along)(face[0], u, s), v, t);
        FLAGS inside = (s >= 0) & (t >= 0) & (s + t <= 1);
        NAME(offer)(n, inside, of_a ? corners[i] : foot, of_a ? foot : corners[i]);
    }
}

/* Of edges, and of corners and faces. */
static inline NAME(nearest) NAME(nearest_of)(const NAME(vec) * a, const NAME(vec) * b) {
    NAME(nearest) n = {SPLAT(LARGEST), b[0]};
    NAME(offer_edges)(&n, a, b);
    NAME(offer_feet)(&n, a, b, true);
    NAME(offer_feet)(&n, b, a, false);
    return n;
}

#undef NAME
#undef SCALAR
#undef VECTOR
#undef FLAGS
#undef LOAD
#undef SPLAT
#undef MINIMUM
#undef MAXIMUM
#undef MULTIPLY_ADD
#undef LARGEST
#undef DIVISOR_MINIMUM
