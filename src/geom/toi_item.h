/* SPDX-License-Identifier: MIT */
/* toi_item.h: the first time at which a moving point meets a moving triangle, or a moving segment
 * another, as items. All points move along straight lines from t = 0 to t = 1.
 *
 * Four points are coplanar at the roots of a cubic f(t) = (u x v).w, where u and v are two edges
 * and w joins the two shapes (Provot 1997). At a root the shapes meet when certain vectors Q_i,
 * all parallel to n = u x v there, do not point against n: barycentric coordinates are Q_i.n / n.n.
 *   point p, triangle a b c:  u = b - a, v = c - a, w = p - a
 *                             Q = w x v, u x w, n - (w x v) - (u x w)
 *   segments a b and c d:     u = b - a, v = d - c, w = c - a
 *                             Q = w x v, n - w x v, w x u, n - w x u
 * So one component k of n and of the Q_i is enough: quadratics in t.
 *
 * The filter works in doubles. Polynomials are in Bernstein form: coefficients of one sign prove a
 * sign on the whole interval, and values at both ends are coefficients. The interval is split until
 * it has no root, or some Q_i points against n in all of it (a miss), or it has a root and all Q_i
 * are certainly along n (a hit). Rounding is bounded by the extents: with e = 2^-53 and X, Y, Z the
 * largest components of u, v, w along each axis, f is off by less than 80 e XYZ, a quadratic of
 * axis z by less than 43 e XY; each split adds at most 18 e XYZ or 12 e XY, and the first, which is
 * not a halving, three times that. The constants below are larger. What stays undecided goes to
 * toi_exact.c. */
#ifndef CAROM_SRC_GEOM_TOI_ITEM_H
#define CAROM_SRC_GEOM_TOI_ITEM_H

#include "geom/toi.h"
#include "geom/toi_split.h"
#include "geom/vec.h"

#define CAROM_TOI_MISS      0
#define CAROM_TOI_HIT       1
#define CAROM_TOI_UNDECIDED 2

/* Errors of the cubic and of quadratics, in units of the extents, and what each split adds. */
#define CAROM_TOI_CUBIC_ERROR     0x1p-46
#define CAROM_TOI_CUBIC_SPLIT     0x1p-48
#define CAROM_TOI_QUADRATIC_ERROR 0x1p-47
#define CAROM_TOI_QUADRATIC_SPLIT 0x1p-49
/* Above all errors by underflow: 2^-1074 times the cube of the largest extent, with room. */
#define CAROM_TOI_UNDERFLOW 0x1p-760
#define CAROM_TOI_EXTENT    0x1p100 /* the filter takes extents of 0 or 2^-100 to 2^100 */
/* The first split: no fraction with a small power of two as denominator, at which designed motions
 * often meet, is then the end of an interval. */
#define CAROM_TOI_FIRST_SPLIT 0.453125
#define CAROM_TOI_DEPTH       24 /* splits before an interval is left undecided */
#define CAROM_TOI_FINE        40 /* splits once a hit is certain: the interval is 2^-39 wide */
#define CAROM_TOI_VISITS      160
#define CAROM_TOI_NEWTON      20      /* steps; most cubics need five */
#define CAROM_TOI_REACH       0x1p-36 /* to both sides of the root that they find */
/* Of a part: steps below this are over, because the root is proved in a reach that is larger by 2^9
 * or more. */
#define CAROM_TOI_LAST_STEP 0x1p-45
/* In time: the ends are a product and a sum of times up to 1, each rounded by 2^-53. */
#define CAROM_TOI_END_ERROR 0x1p-50

/* Part of the time: polynomials in Bernstein form, q[0] is that of n. */
typedef struct carom_toi_part {
    double f[4], q[5][3];
    double low, high;
    int depth;
} carom_toi_part;

/* Component k of x cross y, where x and y move from x[0], y[0] to x[1], y[1]. */
CAROM_ITEM void carom_toi_cross(double (*x)[3], double (*y)[3], int k, double *b) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    b[0] = x[0][i] * y[0][j] - x[0][j] * y[0][i];
    b[1] =
        ((x[0][i] * y[1][j] - x[0][j] * y[1][i]) + (x[1][i] * y[0][j] - x[1][j] * y[0][i])) * 0.5;
    b[2] = x[1][i] * y[1][j] - x[1][j] * y[1][i];
}

/* Cuts `part` at its middle (or at the first split): it becomes the left part. */
CAROM_ITEM void carom_toi_split(carom_toi_part *part, carom_toi_part *right, int quadratics) {
    double r = part->depth == 0 ? CAROM_TOI_FIRST_SPLIT : 0.5, l = 1.0 - r;
    double middle = part->depth == 0 ? CAROM_TOI_FIRST_SPLIT : (part->low + part->high) * 0.5;
    CAROM_TOI_SPLIT_CUBIC(double, part->f, right->f, l, r);
    for (int i = 0; i < quadratics; ++i)
        CAROM_TOI_SPLIT_QUADRATIC(double, part->q[i], right->q[i], l, r);
    right->low = middle;
    right->high = part->high;
    part->high = middle;
    part->depth = right->depth = part->depth == 0 ? 2 : part->depth + 1;
}

CAROM_ITEM int carom_toi_above(const double *b, int count, double error) {
    int above = 1;
    for (int i = 0; i < count; ++i) above &= b[i] > error;
    return above;
}

CAROM_ITEM int carom_toi_below(const double *b, int count, double error) {
    int below = 1;
    for (int i = 0; i < count; ++i) below &= b[i] < -error;
    return below;
}

/* Whether the boxes around the two motions are apart. Exact. */
CAROM_ITEM int carom_toi_boxes_apart(const carom_vec3 *start, const carom_vec3 *end, int edges) {
    int first = edges ? 2 : 1;
    const double *s = &start[0].x, *e = &end[0].x;
    int apart = 0;
    for (int k = 0; k < 3; ++k) {
        double low[2], high[2];
        for (int side = 0; side < 2; ++side) {
            int i = side == 0 ? 0 : first, last = side == 0 ? first : 4;
            low[side] = high[side] = s[3 * i + k];
            for (; i < last; ++i) {
                double x = s[3 * i + k], y = e[3 * i + k];
                low[side] = CAROM_MIN(x, low[side]);
                low[side] = CAROM_MIN(y, low[side]);
                high[side] = CAROM_MAX(x, high[side]);
                high[side] = CAROM_MAX(y, high[side]);
            }
        }
        apart |= low[0] > high[1] || low[1] > high[0];
    }
    return apart;
}

/* Fills the polynomials; the errors are those of depth 0, by extents. Returns whether the filter
 * can take them. */
CAROM_ITEM int carom_toi_make(const carom_vec3 *start, const carom_vec3 *end, int edges,
                              carom_toi_part *part, double *cubic, double *quadratic) {
    double u[2][3], v[2][3], w[2][3], n[3][3], extent[3];
    for (int t = 0; t < 2; ++t) {
        const double *x = t == 0 ? &start[0].x : &end[0].x;
        for (int k = 0; k < 3; ++k) {
            u[t][k] = edges ? x[3 + k] - x[k] : x[6 + k] - x[3 + k];
            v[t][k] = edges ? x[9 + k] - x[6 + k] : x[9 + k] - x[3 + k];
            w[t][k] = edges ? x[6 + k] - x[k] : x[k] - x[3 + k];
        }
    }
    for (int k = 0; k < 3; ++k) {
        double a = CAROM_MAX(fabs(u[0][k]), fabs(u[1][k]));
        double b = CAROM_MAX(fabs(v[0][k]), fabs(v[1][k]));
        double c = CAROM_MAX(fabs(w[0][k]), fabs(w[1][k]));
        a = CAROM_MAX(a, b);
        extent[k] = CAROM_MAX(a, c);
        if (!(extent[k] <= CAROM_TOI_EXTENT)) return 0;
        if (extent[k] < 1.0 / CAROM_TOI_EXTENT && extent[k] != 0.0) return 0;
        carom_toi_cross(u, v, k, n[k]);
    }
    double f[4] = {0.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < 3; ++k) {
        f[0] += n[k][0] * w[0][k];
        f[1] += 2.0 * n[k][1] * w[0][k] + n[k][0] * w[1][k];
        f[2] += n[k][2] * w[0][k] + 2.0 * n[k][1] * w[1][k];
        f[3] += n[k][2] * w[1][k];
    }
    part->f[0] = f[0];
    part->f[1] = f[1] / 3.0;
    part->f[2] = f[2] / 3.0;
    part->f[3] = f[3];
    part->low = 0.0;
    part->high = 1.0;
    part->depth = 0;
    *cubic = extent[0] * extent[1] * extent[2];
    double error = CAROM_TOI_CUBIC_ERROR * *cubic + CAROM_TOI_UNDERFLOW;
    if (carom_toi_above(part->f, 4, error) || carom_toi_below(part->f, 4, error)) return 1;

    /* the axis along which n is longest in the middle of the motion */
    int axis = 0;
    double longest = -1.0, wv[3], wu[3];
    for (int k = 0; k < 3; ++k) {
        double size = fabs(n[k][0] + 2.0 * n[k][1] + n[k][2]);
        if (size > longest) axis = k;
        longest = CAROM_MAX(size, longest);
    }
    carom_toi_cross(w, v, axis, wv);
    carom_toi_cross(w, u, axis, wu);
    *quadratic = extent[(axis + 1) % 3] * extent[(axis + 2) % 3];
    for (int i = 0; i < 3; ++i) {
        double m = n[axis][i], a = wv[i], b = wu[i];
        part->q[0][i] = m;
        part->q[1][i] = a;
        part->q[2][i] = edges ? m - a : -b;
        part->q[3][i] = edges ? b : (m - a) + b;
        part->q[4][i] = m - b;
    }
    return 1;
}

/* Whether the shapes are certainly apart at one end of the part (0: low, 1: high) if coplanar. */
CAROM_ITEM int carom_toi_outside_at(const carom_toi_part *part, int quadratics, int at,
                                    double error) {
    double n = part->q[0][2 * at], sign = n < 0.0 ? -1.0 : 1.0;
    int outside = 0;
    for (int i = 1; i < quadratics; ++i) outside |= sign * part->q[i][2 * at] < -error;
    return sign * n > error && outside;
}

/* MISS: there is no contact in a part whose cubic may have a root; HIT: there certainly is. */
CAROM_ITEM int carom_toi_look(const carom_toi_part *part, int quadratics, double ef, double eq) {
    const double *f = part->f;
    int along = carom_toi_above(part->q[0], 3, eq);
    int against = carom_toi_below(part->q[0], 3, eq);
    int inside = along | against, outside = 0;
    for (int i = 1; i < quadratics; ++i) {
        int above = carom_toi_above(part->q[i], 3, eq);
        int below = carom_toi_below(part->q[i], 3, eq);
        inside &= along ? above : below;
        outside |= along ? below : above;
    }
    if (outside && (along || against)) return CAROM_TOI_MISS;
    return inside && ((f[0] > ef && f[3] < -ef) || (f[0] < -ef && f[3] > ef)) ? CAROM_TOI_HIT
                                                                              : CAROM_TOI_UNDECIDED;
}

/* Whether splits will not show it. */
CAROM_ITEM int carom_toi_gives_up(const carom_toi_part *part, int quadratics, double ef,
                                  double eq) {
    const double *f = part->f;
    /* A root so near an end that splitting will not show on which side of it: give up now, unless
     * what is near that end is outside. */
    int first =
        fabs(f[0]) <= ef && (carom_toi_above(f + 1, 3, ef) || carom_toi_below(f + 1, 3, ef));
    int last = fabs(f[3]) <= ef && (carom_toi_above(f, 3, ef) || carom_toi_below(f, 3, ef));
    if ((first || last) && !carom_toi_outside_at(part, quadratics, last, eq)) return 1;
    int flat = fabs(f[0]) <= ef && fabs(f[1]) <= ef && fabs(f[2]) <= ef && fabs(f[3]) <= ef;
    return flat || part->depth >= CAROM_TOI_DEPTH;
}

/* The cubic at s in [0, 1] of the part; adds to the rounding what two splits do. */
CAROM_ITEM double carom_toi_value(const double *f, double s) {
    double r = 1.0 - s;
    double a = r * f[0] + s * f[1], b = r * f[1] + s * f[2], c = r * f[2] + s * f[3];
    return r * (r * a + s * b) + s * (r * b + s * c);
}

/* Encloses the only root of a part whose coefficients change their sign once, by Newton's method
 * and two values that prove it. Returns 0 where they do not. */
CAROM_ITEM int carom_toi_enclose(const carom_toi_part *part, double error, double *low,
                                 double *high) {
    const double *f = part->f;
    double sign = f[0] < 0.0 ? -1.0 : 1.0, s = 0.5, from = 0.0, to = 1.0;
    int changed = 0;
    for (int i = 1; i < 4; ++i) { /* + ... + - ... -, small ones only in between */
        if (sign * f[i] < -error) changed = 1;
        if (changed && !(sign * f[i] < -error)) return 0;
    }
    for (int i = 0; i < CAROM_TOI_NEWTON; ++i) {
        double value = sign * carom_toi_value(f, s);
        double r = 1.0 - s, d0 = f[1] - f[0], d1 = f[2] - f[1], d2 = f[3] - f[2];
        double slope = 3.0 * sign * ((r * r * d0 + 2.0 * r * s * d1) + s * s * d2);
        if (value > 0.0)
            from = s;
        else
            to = s;
        double step = value / slope, next = s - step;
        if (fabs(step) < CAROM_TOI_LAST_STEP) break; /* s may be an end by now: do not leave it */
        s = next > from && next < to ? next : 0.5 * (from + to);
    }
    double width = part->high - part->low, reach = CAROM_TOI_REACH / width;
    double left = s > reach ? s - reach : 0.0, right = s + reach < 1.0 ? s + reach : 1.0;
    if (!(sign * carom_toi_value(f, left) > error && sign * carom_toi_value(f, right) < -error))
        return 0;
    double a = part->low + left * width - CAROM_TOI_END_ERROR;
    double b = part->low + right * width + CAROM_TOI_END_ERROR;
    *low = CAROM_MAX(a, part->low);
    *high = CAROM_MIN(b, part->high);
    return 1;
}

/* MISS, HIT with the first time in [*low, *high], or UNDECIDED. Without arrays for the times they
 * are not found. start and end hold the point and
 * the triangle's corners, or the ends of the first segment and of the second (edges). */
CAROM_ITEM int carom_toi_filter(const carom_vec3 *start, const carom_vec3 *end, int edges,
                                double *low, double *high) {
    carom_toi_part stack[CAROM_TOI_FINE + 2];
    double cubic, quadratic = 0.0;
    int count = 1, hit = 0, quadratics = edges ? 5 : 4;
    if (!carom_toi_make(start, end, edges, &stack[0], &cubic, &quadratic))
        return CAROM_TOI_UNDECIDED;
    for (int visits = 0; count > 0; ++visits) {
        carom_toi_part *part = &stack[count - 1];
        double depth = (double)part->depth;
        double ef =
            (CAROM_TOI_CUBIC_ERROR + CAROM_TOI_CUBIC_SPLIT * depth) * cubic + CAROM_TOI_UNDERFLOW;
        double eq = (CAROM_TOI_QUADRATIC_ERROR + CAROM_TOI_QUADRATIC_SPLIT * depth) * quadratic +
                    CAROM_TOI_UNDERFLOW;
        const double *f = part->f;
        --count;
        if (carom_toi_above(f, 4, ef) || carom_toi_below(f, 4, ef)) continue;
        if (!hit) {
            int verdict = carom_toi_look(part, quadratics, ef, eq);
            if (verdict == CAROM_TOI_MISS) continue;
            hit = verdict == CAROM_TOI_HIT;
            if (hit && low == 0) return CAROM_TOI_HIT;
            if (hit) {
                double more = 2.0 * CAROM_TOI_CUBIC_SPLIT * cubic;
                if (carom_toi_enclose(part, ef + more, low, high)) return CAROM_TOI_HIT;
                *low = part->low;
                *high = part->high;
                count = 0; /* later parts no longer matter */
                stack[0] = *part;
                part = &stack[0];
            }
        } else if ((f[0] > ef && f[3] < -ef) || (f[0] < -ef && f[3] > ef)) {
            *low = part->low;
            *high = part->high;
            count = 0;
            stack[0] = *part;
            part = &stack[0];
        }
        if (hit && part->depth >= CAROM_TOI_FINE) return CAROM_TOI_HIT;
        if (!hit && (carom_toi_gives_up(part, quadratics, ef, eq) || visits >= CAROM_TOI_VISITS))
            return CAROM_TOI_UNDECIDED;
        int flat = fabs(f[0]) <= ef && fabs(f[1]) <= ef && fabs(f[2]) <= ef && fabs(f[3]) <= ef;
        if (hit && (flat || visits >= CAROM_TOI_VISITS)) {
            *low = part->low;
            return CAROM_TOI_HIT;
        }
        carom_toi_part right;
        carom_toi_split(part, &right, hit ? 0 : quadratics);
        stack[count + 1] = *part;
        stack[count] = right;
        count += 2;
    }
    /* A certain hit whose parts are all free of roots is a contradiction. */
    CAROM_ASSERT(!hit);
    return CAROM_TOI_MISS;
}

/* Decided exactly. */
CAROM_ITEM carom_toi carom_toi_of(const carom_vec3 *start, const carom_vec3 *end, int edges) {
    carom_toi toi;
    toi.hit = false;
    toi.time.lower = toi.time.value = toi.time.upper = 0.0;
    if (carom_toi_boxes_apart(start, end, edges)) return toi;
    int verdict = carom_toi_filter(start, end, edges, &toi.time.lower, &toi.time.upper);
    if (verdict == CAROM_TOI_MISS) return toi;
    toi.hit = verdict == CAROM_TOI_HIT;
    if (!toi.hit || toi.time.upper - toi.time.lower > CAROM_TOI_WIDTH)
        carom_toi_exact(start, end, edges, &toi);
    toi.time.value = toi.time.lower;
    return toi;
}

#endif
