/* SPDX-License-Identifier: MIT */
/* solid_formulas.h: the formulas of planes, crossings and terms, and of their error bounds
 * (solid_error.h). solid_item.h includes this file for doubles, solid_pair_cpu.c for SIMD lanes.
 * They define beforehand:
 *
 *   NAME(x)             x with a prefix for the type
 *   FUNCTION            how functions are declared
 *   NUMBER, FLAGS       a double or lanes of them, and the type of their comparisons
 *   VECTOR, VECTOR_OF(x, y, z), VECTOR_NAME(op)   three numbers, and add, sub, scale, dot, cross
 *   MAGNITUDE(x), MAXIMUM(a, b), ROOT(x)
 *   SELECT(flags, yes, no), KEEP(flags, x)        the second is x, or 0 where the flag is not set
 *
 * Lanes thus have the bits of items: each operation is rounded once, in the order written here. */

FUNCTION NUMBER NAME(norm)(VECTOR v) {
    return (MAGNITUDE(v.x) + MAGNITUDE(v.y)) + MAGNITUDE(v.z);
}

FUNCTION NUMBER NAME(most)(VECTOR v) {
    NUMBER x = MAGNITUDE(v.x), y = MAGNITUDE(v.y), z = MAGNITUDE(v.z), xy = MAXIMUM(x, y);
    return MAXIMUM(xy, z);
}

/* ---- Planes ---------------------------------------------------------------------------------- */

/* The plane of a face: the rounded normal, and the sums of the magnitudes of its products. */
typedef struct NAME(plane) {
    VECTOR normal, size;
} NAME(plane);

FUNCTION NAME(plane) NAME(plane_make)(const VECTOR *p) {
    VECTOR u = VECTOR_NAME(sub)(p[1], p[0]), v = VECTOR_NAME(sub)(p[2], p[0]);
    NUMBER yz = u.y * v.z, zy = u.z * v.y, zx = u.z * v.x;
    NUMBER xz = u.x * v.z, xy = u.x * v.y, yx = u.y * v.x;
    NAME(plane) plane;
    plane.normal = VECTOR_OF(yz - zy, zx - xz, xy - yx);
    plane.size = VECTOR_OF(MAGNITUDE(yz) + MAGNITUDE(zy), MAGNITUDE(zx) + MAGNITUDE(xz),
                           MAGNITUDE(xy) + MAGNITUDE(yx));
    return plane;
}

/* The determinant of a point and a plane through `corner`, and an upper bound of its error: that of
 * carom_orient3d_filter. */
FUNCTION NUMBER NAME(plane_value)(const NAME(plane) * plane, VECTOR corner, VECTOR p,
                                  NUMBER *error) {
    VECTOR w = VECTOR_NAME(sub)(p, corner);
    VECTOR a = VECTOR_OF(MAGNITUDE(w.x), MAGNITUDE(w.y), MAGNITUDE(w.z));
    *error = CAROM_ORIENT3D_ERROR * VECTOR_NAME(dot)(plane->size, a) +
             CAROM_ORIENT_UNDERFLOW * ((a.x + a.y) + (a.z + 1.0));
    return VECTOR_NAME(dot)(plane->normal, w);
}

/* Whether the normal in doubles points in the right direction; and 1 over its length. */
FUNCTION FLAGS NAME(plane_inverse)(const NAME(plane) * plane, NUMBER *inverse) {
    NUMBER length = ROOT(VECTOR_NAME(dot)(plane->normal, plane->normal));
    *inverse = 1.0 / length;
    return NAME(norm)(plane->size) < CAROM_SOLID_NORMAL_RATIO * length;
}

/* ---- Crossings ------------------------------------------------------------------------------- */

/* Whether a determinant of this size is precise enough for a crossing. */
FUNCTION FLAGS NAME(value_suffices)(NUMBER size, NUMBER error) {
    return size > CAROM_SOLID_VALUE_RATIO * error;
}

/* from + t direction, relative to the origin. */
FUNCTION VECTOR NAME(crossing_point)(VECTOR from, VECTOR direction, NUMBER t, VECTOR origin) {
    return VECTOR_NAME(add)(VECTOR_NAME(sub)(from, origin), VECTOR_NAME(scale)(direction, t));
}

/* Upper bounds for the crossing x of an edge with the plane of a face. Let d and d' be the
 * determinants of the edge's ends, with errors of at most o and o'. Then the parameter
 * t = d / (d - d') has an error of at most (o (1 - t) + o' t) / |d - d'|. The numerator bounds the
 * point's distance from the plane, as a determinant: `off`. */
FUNCTION NUMBER NAME(crossing_off)(NUMBER off, NUMBER off_to, NUMBER t) {
    return off + t * off_to;
}

/* Its error along the edge, without the rounding of x itself; `whole` is d - d'. */
FUNCTION NUMBER NAME(crossing_slide)(NUMBER length, NUMBER off, NUMBER whole) {
    return length * (off / MAGNITUDE(whole));
}

/* The 1-norm of the cross product of the edge and any point of the gap at x. */
FUNCTION NUMBER NAME(crossing_lever)(VECTOR direction, VECTOR x, NUMBER length) {
    return NAME(norm)(VECTOR_NAME(cross)(direction, x)) + CAROM_SOLID_GAP_LEVER * length * length;
}

/* The uncertainty of the points of a term. */
typedef struct NAME(doubt) {
    NUMBER edges; /* lengths of the edges that crossings are on */
    NUMBER slide; /* error along them, in units of CAROM_SOLID_TERM_ERROR */
    NUMBER off;   /* distance from the face's plane, in the same units */
} NAME(doubt);

/* In units of CAROM_SOLID_TERM_ERROR: an error along an edge, and a distance from a plane that was
 * a determinant; `inverse` is 1 over the length of the normal. */
FUNCTION NUMBER NAME(slide_units)(NUMBER slide) {
    return slide * (1.0 / CAROM_SOLID_TERM_ERROR);
}

FUNCTION NUMBER NAME(off_units)(NUMBER off, NUMBER inverse) {
    return off * inverse * (1.0 / CAROM_SOLID_TERM_ERROR);
}

/* ---- Terms ----------------------------------------------------------------------------------- */

/* The integrals over a triangle c u v: `sum` is c + u + v, `area` the area vector, `extent` the
 * area, of either sign. FORCE and TORQUE are for a face of b only. */
FUNCTION void NAME(find_integrals)(NUMBER *terms, VECTOR u, VECTOR sum, VECTOR area, NUMBER extent,
                                   int of_b) {
    NUMBER volume = VECTOR_NAME(dot)(u, area) / 3.0;
    terms[CAROM_SOLID_VOLUME] = volume;
    terms[CAROM_SOLID_MOMENT] = volume * sum.x * 0.25;
    terms[CAROM_SOLID_MOMENT + 1] = volume * sum.y * 0.25;
    terms[CAROM_SOLID_MOMENT + 2] = volume * sum.z * 0.25;
    terms[CAROM_SOLID_EXTENT] = extent;
    if (of_b) {
        VECTOR turn = VECTOR_NAME(cross)(sum, area);
        terms[CAROM_SOLID_FORCE] = area.x;
        terms[CAROM_SOLID_FORCE + 1] = area.y;
        terms[CAROM_SOLID_FORCE + 2] = area.z;
        terms[CAROM_SOLID_TORQUE] = turn.x / 3.0;
        terms[CAROM_SOLID_TORQUE + 1] = turn.y / 3.0;
        terms[CAROM_SOLID_TORQUE + 2] = turn.z / 3.0;
    } else {
        const NUMBER zero = {0};
        for (unsigned i = CAROM_SOLID_FORCE; i < CAROM_SOLID_TERMS; ++i) terms[i] = zero;
    }
}

/* The terms of the triangle c u v of a face with the unit normal n, times a weight, which is given
 * as its half and its magnitude; c, u and v are relative to the origin. */
FUNCTION void NAME(find_triangle)(NUMBER *terms, VECTOR n, VECTOR c, VECTOR u, VECTOR v,
                                  NUMBER half, NUMBER times, int of_b, const NAME(doubt) * doubt) {
    VECTOR arm = VECTOR_NAME(sub)(u, c), direction = VECTOR_NAME(sub)(v, u);
    VECTOR area = VECTOR_NAME(scale)(VECTOR_NAME(cross)(arm, direction), half);
    VECTOR sum = VECTOR_NAME(add)(VECTOR_NAME(add)(u, v), c);
    NUMBER extent = VECTOR_NAME(dot)(n, area);
    NUMBER la = NAME(norm)(arm), lw = NAME(norm)(direction);
    NUMBER near = NAME(norm)(c) + NAME(norm)(u), far = lw + doubt->edges;
    NAME(find_integrals)(terms, u, sum, area, extent, of_b);
    terms[CAROM_SOLID_VOLUME_ERROR] =
        times * la * lw * (CAROM_SOLID_VOLUME_NEAR * near + CAROM_SOLID_VOLUME_FAR * far) +
        MAGNITUDE(extent) * doubt->off;
    terms[CAROM_SOLID_AREA_ERROR] =
        times * (la + lw) *
        ((CAROM_SOLID_AREA_NEAR * near + CAROM_SOLID_AREA_FAR * far) + doubt->slide);
    terms[CAROM_SOLID_SPAN] = near + far;
}

/* The terms of a whole triangle, times a weight. Prefix sums (solid_prefix_sums.h) are of posed
 * corners that are not rounded, and triangles added beside them are evaluated in the same way: from
 * a corner u relative to the origin, with an error of `rounded` units along each axis, and the
 * rotated sides before and after it. */
FUNCTION void NAME(find_whole)(NUMBER *terms, VECTOR u, VECTOR arm, VECTOR direction, NUMBER weight,
                               int of_b, double rounded) {
    VECTOR area = VECTOR_NAME(scale)(VECTOR_NAME(cross)(arm, direction), 0.5 * weight);
    VECTOR sum = VECTOR_NAME(add)(VECTOR_NAME(sub)(direction, arm),
                                  VECTOR_OF(u.x * 3.0, u.y * 3.0, u.z * 3.0));
    NUMBER times = MAGNITUDE(weight), length = ROOT(VECTOR_NAME(dot)(area, area));
    NUMBER la = NAME(norm)(arm), lw = NAME(norm)(direction), near = NAME(norm)(u);
    NAME(find_integrals)(terms, u, sum, area, SELECT(weight < 0.0, -length, length), of_b);
    terms[CAROM_SOLID_VOLUME_ERROR] =
        times * la * lw * (CAROM_SOLID_WHOLE_NEAR * near + CAROM_SOLID_WHOLE_ROUNDING * rounded);
    terms[CAROM_SOLID_AREA_ERROR] = times * la * lw * CAROM_SOLID_WHOLE_AREA;
    terms[CAROM_SOLID_SPAN] = 3.0 * near + la + lw;
}

/* Adds the terms of a triangle of a or of b, where the flag is set. */
FUNCTION void NAME(add_found)(NUMBER *terms, const NUMBER *more, FLAGS where, int of_b) {
    for (unsigned i = 0; i < CAROM_SOLID_SPAN; ++i) {
        int of_b_only = i >= CAROM_SOLID_FORCE && i < CAROM_SOLID_TERMS;
        if (of_b || !of_b_only) terms[i] += KEEP(where, more[i]);
    }
    NUMBER span = KEEP(where, more[CAROM_SOLID_SPAN]);
    terms[CAROM_SOLID_SPAN] = MAXIMUM(terms[CAROM_SOLID_SPAN], span);
}

/* Adds the errors by the gap at a crossing x; `rounded` bounds the rounding of posed corners along
 * each axis, in units of CAROM_SOLID_TERM_ERROR. */
FUNCTION void NAME(add_gap)(NUMBER *terms, VECTOR x, NUMBER edge, NUMBER lever, NUMBER rounded) {
    NUMBER wide = rounded + CAROM_SOLID_ROUNDOFF * (NAME(norm)(x) + edge);
    terms[CAROM_SOLID_VOLUME_ERROR] += CAROM_SOLID_GAP_VOLUME * wide * lever;
    terms[CAROM_SOLID_AREA_ERROR] += CAROM_SOLID_GAP_AREA * wide * edge;
}

#undef NAME
#undef FUNCTION
#undef NUMBER
#undef FLAGS
#undef VECTOR
#undef VECTOR_OF
#undef VECTOR_NAME
#undef MAGNITUDE
#undef MAXIMUM
#undef ROOT
#undef SELECT
#undef KEEP
