/* SPDX-License-Identifier: MIT */
/* solid_error.h: the terms of the overlap, and the constants of their error bounds, each with the
 * roundings that it counts. The formulas that use them are in solid_formulas.h, one text for
 * doubles and for SIMD lanes.
 *
 * e = 2^-53 is the unit roundoff. Norms |v| are sums of magnitudes (1-norms), so that
 * |a x b| <= |a| |b|. A triangle c u v has arm = u - c and direction = v - u; W is the sum of the
 * norms of the edges that its crossings are on. */
#ifndef CAROM_SRC_SOLID_SOLID_ERROR_H
#define CAROM_SRC_SOLID_SOLID_ERROR_H

/* ---- Terms ----------------------------------------------------------------------------------- */

/* Indices of the terms, about the origin: the overlap's volume, its moment and its surface area;
 * then integrals over the part of b's surface inside a; then error bounds of the terms, in units of
 * CAROM_SOLID_TERM_ERROR, for volumes and for areas. */
#define CAROM_SOLID_VOLUME       0u
#define CAROM_SOLID_MOMENT       1u  /* 3 */
#define CAROM_SOLID_EXTENT       4u  /* area */
#define CAROM_SOLID_FORCE        5u  /* 3: integral of n */
#define CAROM_SOLID_TORQUE       8u  /* 3: integral of x x n */
#define CAROM_SOLID_TERMS        11u /* the number of terms */
#define CAROM_SOLID_VOLUME_ERROR 11u
#define CAROM_SOLID_AREA_ERROR   12u
#define CAROM_SOLID_SPAN         13u /* maximum, not a sum: how far any term's points reach */
#define CAROM_SOLID_SLOTS        14u

/* The unit of the error bounds of terms, 4 e, and e in this unit. */
#define CAROM_SOLID_TERM_ERROR 0x1p-51
#define CAROM_SOLID_ROUNDOFF   0.25

/* ---- A triangle of a face that is cut -------------------------------------------------------- */

/* Volume. Each component of arm x direction has 4 roundings. Scaling, the product with u, its sums
 * and the division by 3 make it 9: 9 e |arm| |direction| |u| / 6. Points are rounded, too: corners
 * by e of themselves, crossings by 3 e (|x| + 2 |edge|). A point has the same bits in all triangles
 * that share it, so these form a closed surface. Displacing a point by d changes the volume by a
 * third of d times the area vectors of the triangles around it. With |v| <= |u| + |direction| that
 * is e |arm| |direction| (|c| / 6 + |u| + |direction| / 2 + W) for all three points of a triangle.
 * A crossing displaced along its edge stays in the planes of the faces of that edge. It changes the
 * volume only by its distance from the plane of the face crossed.
 * The factors of |arm| |direction| (|c| + |u|) and of |arm| |direction| (|direction| + W), each the
 * larger of its two: 9 / 6 + 1 = 2.5 e, and 1 e. */
#define CAROM_SOLID_VOLUME_NEAR 0.625
#define CAROM_SOLID_VOLUME_FAR  0.25

/* Area. Every displacement d of a point changes areas, by half of d times the opposite side: e
 * (|arm| + |direction|) (3 |u| + |c| / 2 + 1.5 |direction| + 3 W), and 6.5 e |arm| |direction| of
 * rounding, with |arm| <= |c| + |u|; the slide of a crossing along its edge, too.
 * The factors of (|arm| + |direction|) (|c| + |u|): 3 + 6.5 = 9.5 e, rounded up to 10 e; and of
 * (|arm| + |direction|) (|direction| + W): 3 e. */
#define CAROM_SOLID_AREA_NEAR 2.5
#define CAROM_SOLID_AREA_FAR  0.75

/* ---- A whole triangle beside prefix sums ----------------------------------------------------- */

/* Factors of |arm| |direction| |u|, of |arm| |direction| times the rounding of posed corners, and
 * of |arm| |direction|. Rotated sides have errors of 6 e each.
 * Volume: 9 e / 6 as above, 12 e / 6 for the sides and e / 6 for the corner make 22 e / 6, rounded
 * up to 4 e; the rounding displaces the triangle as a whole, a third of it times the area vector,
 * |arm| |direction| / 2, makes 1 / 6, rounded up.
 * Area: 12 e / 2 for the sides and 6.5 e as above make 12.5 e, rounded up to 16 e. */
#define CAROM_SOLID_WHOLE_NEAR     1.0
#define CAROM_SOLID_WHOLE_ROUNDING 0.25
#define CAROM_SOLID_WHOLE_AREA     4.0

/* ---- The gap between both kinds -------------------------------------------------------------- */

/* Prefix sums are of corners that are not rounded, so between their triangles and the triangles
 * that are crossed there is a gap. It is as wide as the rounding of corners: that of the pose, and
 * e of themselves along each axis. It runs along sides of the crossed triangles, each a crossed
 * edge or the difference of two. A gap of d along the edge E at x takes a third of d . (E x x) from
 * the volume and its own area, d times E, from the area vector.
 * LEVER, in |E|: the distance of the gap's points from the crossing. It is 1 along the crossed
 * edge, and 2 where the side is a difference of two edges.
 * VOLUME: a third, rounded up. AREA: the length of a vector d with components up to the width is
 * sqrt(3) of it, rounded up. */
#define CAROM_SOLID_GAP_LEVER  2.0
#define CAROM_SOLID_GAP_VOLUME 0.34
#define CAROM_SOLID_GAP_AREA   1.75

/* ---- Crossings ------------------------------------------------------------------------------- */

/* A determinant, divided by its error bound: above it doubles are used, with a relative error of
 * 2^-32 at most; below it double-double. */
#define CAROM_SOLID_VALUE_RATIO 0x1p32
/* The error of a determinant in double-double, a few 2^-104 of all its terms, in units of the
 * filter's bound for doubles, which is 10 e of the same terms (CAROM_ORIENT3D_ERROR): below
 * 2^-102 / 2^-50, times 16. */
#define CAROM_SOLID_DD_ERROR 0x1p-48
/* The error of an exact determinant that was rounded to a double, relative to it: one rounding per
 * component of the expansion, of which only the first few count. */
#define CAROM_SOLID_EXPANSION_ERROR 0x1p-50
/* The error of a crossing in double-double before it is rounded to doubles, 2^-96 of its
 * displacement along the edge, in units of e. */
#define CAROM_SOLID_DD_EDGE 0x1p-43

/* The size that a normal is summed from, in its lengths. A unit normal may be tilted by 2^-26: then
 * the effect on areas, a square, is less than rounding. Above the first ratio, doubles (2^-50 of
 * the size) tilt it by more than 2^-30; above the second, double-double (2^-100) does. */
#define CAROM_SOLID_NORMAL_RATIO    0x1p20
#define CAROM_SOLID_NORMAL_RATIO_DD 0x1p70

#endif
