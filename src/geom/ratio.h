/* SPDX-License-Identifier: MIT */
/* ratio.h: quotients of determinants of any finite doubles: compared exactly, rounded once.
 *
 * A row is the difference of two points. Every row is scaled to integers by its own power of two,
 * so that points far from the origin and very short directions cost nothing extra. The determinant
 * of three rows is computed by big_integer.h. A ratio is num / den 2^exponent with integers num and
 * den. Two ratios are compared by cross multiplication. A ratio is rounded by long division to 64
 * bits, of which the last is also set when any lower bit is.
 *
 * Two kinds of integers: determinants are sums of products of one fixed length, which two's
 * complement computes without cases for signs (big_integer.h). Quotients compare, shift and divide
 * numbers of very different lengths, so carom_big has a sign, a magnitude and only the limbs they
 * need: some ten at ordinary scales (a microsecond or two), up to 200 where the exponents cover the
 * whole range of doubles. */
#ifndef CAROM_SRC_GEOM_RATIO_H
#define CAROM_SRC_GEOM_RATIO_H

#include <limits.h>
#include <stdbool.h>

#include "geom/big_integer.h"

#include "geom/vec.h"

/* to - from. */
typedef struct carom_row {
    carom_vec3 from, to;
} carom_row;

/* A determinant has 3 * 66 + 1 limbs. The product of two of them, shifted by the difference of two
 * exponents of rows (2,098 bits), has 464; a coordinate of a point (see carom_ratio_along) fewer.
 * The most is needed to compare two squared distances (nearer_exact_item.h): products of ten
 * differences of 2,099 bits with a few bits for sums, 658.
 *
 * In the GPU library, where every thread has such numbers in its own memory, they are a tenth as
 * long: room for rows of CAROM_DEVICE_ROW_LIMBS limbs. Who computes with them there asks
 * carom_ratio_fits before, and leaves what does not fit to the host. */
#define CAROM_DEVICE_ROW_LIMBS 6
#ifdef __CUDACC__
#define CAROM_BIG_LIMBS (10 * CAROM_DEVICE_ROW_LIMBS + 4)
#else
#define CAROM_BIG_LIMBS (10 * CAROM_DOUBLE_LIMBS + 4)
#endif

/* sign * sum of limb[i] 2^(32 i); the highest of `count` limbs is not zero; zero has none. */
typedef struct carom_big {
    int sign, count;
    uint32_t limb[CAROM_BIG_LIMBS];
} carom_big;

/* num / den 2^exponent, den above zero. */
typedef struct carom_ratio {
    carom_big num, den;
    int exponent;
} carom_ratio;

/* Whether all differences of these numbers have room on a GPU: their bits lie in a range of 190,
 * which those of doubles from 2^-100 to 2^90 of less than 53 bits do. */
CAROM_ITEM bool carom_ratio_fits(const double *x, int count) {
    int limbs;
    (void)carom_limbs_base(x, count, &limbs);
    return limbs <= CAROM_DEVICE_ROW_LIMBS;
}

/* ---- Integers -------------------------------------------------------------------------------- */

CAROM_ITEM void carom_big_trim(carom_big *a) {
    while (a->count > 0 && a->limb[a->count - 1] == 0) --a->count;
    if (a->count == 0) a->sign = 0;
}

CAROM_ITEM void carom_big_set(carom_big *a, uint64_t magnitude, int sign) {
    a->sign = sign;
    a->count = 2;
    a->limb[0] = (uint32_t)magnitude;
    a->limb[1] = (uint32_t)(magnitude >> 32);
    carom_big_trim(a);
}

/* The limbs in use alone. */
CAROM_ITEM void carom_big_copy(const carom_big *from, carom_big *to) {
    to->sign = from->sign;
    to->count = from->count;
    for (int i = 0; i < from->count; ++i) to->limb[i] = from->limb[i];
}

/* Converts the first n limbs from two's complement. */
CAROM_ITEM void carom_big_normalize(carom_big *a, int n) {
    a->sign = carom_limbs_sign(a->limb, n);
    a->count = n;
    if (a->sign < 0) carom_limbs_negate(a->limb, n);
    carom_big_trim(a);
}

CAROM_ITEM int carom_big_bits(const carom_big *a) {
    int bits = 32 * a->count;
    for (uint32_t top = a->limb[a->count - 1]; top >> 31 == 0; top <<= 1) --bits;
    return bits; /* a is not zero */
}

CAROM_ITEM void carom_big_multiply(const carom_big *a, const carom_big *b, carom_big *to) {
    to->sign = a->sign * b->sign;
    to->count = a->count + b->count;
    CAROM_ASSERT(to->count <= CAROM_BIG_LIMBS);
    for (int i = 0; i < to->count; ++i) to->limb[i] = 0;
    for (int i = 0; i < a->count; ++i) {
        uint64_t factor = a->limb[i], carry = 0;
        for (int j = 0; j < b->count; ++j) {
            carry += factor * b->limb[j] + to->limb[i + j];
            to->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        to->limb[i + b->count] = (uint32_t)carry;
    }
    carom_big_trim(to);
}

CAROM_ITEM void carom_big_shift_left(carom_big *a, int bits) {
    int limbs = bits / 32, shift = bits % 32;
    if (a->sign == 0 || bits == 0) return;
    CAROM_ASSERT(a->count + limbs < CAROM_BIG_LIMBS);
    a->limb[a->count] = 0;
    for (int i = a->count; i >= 0; --i) {
        uint64_t both = (uint64_t)a->limb[i] << 32 | (i > 0 ? a->limb[i - 1] : 0);
        a->limb[i + limbs] = (uint32_t)(both << shift >> 32);
    }
    for (int i = 0; i < limbs; ++i) a->limb[i] = 0;
    a->count += limbs + 1;
    carom_big_trim(a);
}

CAROM_ITEM void carom_big_halve(carom_big *a) {
    for (int i = 0; i < a->count; ++i) {
        uint32_t above = i + 1 < a->count ? a->limb[i + 1] : 0;
        a->limb[i] = a->limb[i] >> 1 | above << 31;
    }
    carom_big_trim(a);
}

/* The sign of |a| - |b|. */
CAROM_ITEM int carom_big_compare(const carom_big *a, const carom_big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; --i)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* |a| -= |b|, which is not larger; the sign of a stays. */
CAROM_ITEM void carom_big_reduce(carom_big *a, const carom_big *b) {
    uint64_t carry = 1;
    for (int i = 0; i < a->count; ++i) {
        carry += (uint64_t)a->limb[i] + (uint32_t) ~(i < b->count ? b->limb[i] : 0);
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    carom_big_trim(a);
}

/* a += b. */
CAROM_ITEM void carom_big_add(carom_big *a, carom_big *b) {
    if (a->sign * b->sign < 0) {
        if (carom_big_compare(a, b) >= 0) {
            carom_big_reduce(a, b);
        } else {
            carom_big_reduce(b, a);
            carom_big_copy(b, a);
        }
        return;
    }
    uint64_t carry = 0;
    int count = CAROM_MAX(a->count, b->count);
    CAROM_ASSERT(count < CAROM_BIG_LIMBS);
    for (int i = 0; i < count; ++i) {
        carry += (uint64_t)(i < a->count ? a->limb[i] : 0) + (i < b->count ? b->limb[i] : 0);
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a->limb[count] = (uint32_t)carry;
    a->count = count + 1;
    a->sign = a->sign != 0 ? a->sign : b->sign;
    carom_big_trim(a);
}

/* ---- Determinants ---------------------------------------------------------------------------- */

/* The row as integers times 2^*base; returns the limbs of each. */
CAROM_ITEM int carom_row_load(const carom_row *row, uint32_t (*to)[CAROM_DOUBLE_LIMBS], int *base) {
    uint32_t from[CAROM_DOUBLE_LIMBS];
    double x[6];
    int limbs;
    x[0] = row->from.x, x[1] = row->from.y, x[2] = row->from.z;
    x[3] = row->to.x, x[4] = row->to.y, x[5] = row->to.z;
    *base = carom_limbs_base(x, 6, &limbs);
    for (int k = 0; k < 3; ++k) {
        carom_limbs_load(x[k], *base, from, limbs);
        carom_limbs_load(x[3 + k], *base, to[k], limbs);
        carom_limbs_add(to[k], from, limbs, 1);
    }
    return limbs;
}

/* det = the determinant of three rows / 2^exponent, which is returned. */
CAROM_RARE_ITEM int carom_rows_determinant(const carom_row *ru, const carom_row *rv,
                                           const carom_row *rw, carom_big *det) {
    uint32_t u[3][CAROM_DOUBLE_LIMBS], v[3][CAROM_DOUBLE_LIMBS], w[3][CAROM_DOUBLE_LIMBS];
    uint32_t minor[2 * CAROM_DOUBLE_LIMBS + 1];
    int bu, bv, bw, nu = carom_row_load(ru, u, &bu), nv = carom_row_load(rv, v, &bv),
                    nw = carom_row_load(rw, w, &bw);
    int n2 = nu + nv + 1, n3 = nu + nv + nw + 1;
    CAROM_ASSERT(n3 <= CAROM_BIG_LIMBS);
    for (int i = 0; i < n3; ++i) det->limb[i] = 0;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        for (int l = 0; l < n2; ++l) minor[l] = 0;
        carom_limbs_add_product(minor, n2, u[i], nu, v[j], nv, 0);
        carom_limbs_add_product(minor, n2, u[j], nu, v[i], nv, 1);
        carom_limbs_add_product(det->limb, n3, minor, n2, w[k], nw, 0);
    }
    carom_big_normalize(det, n3);
    return bu + bv + bw;
}

CAROM_RARE_ITEM int carom_rows_sign(const carom_row *u, const carom_row *v, const carom_row *w) {
    carom_big det;
    (void)carom_rows_determinant(u, v, w, &det);
    return det.sign;
}

/* ---- Ratios ---------------------------------------------------------------------------------- */

/* det(u, v, w) / det(u, v, d); the second is not zero. */
CAROM_RARE_ITEM void carom_ratio_make(const carom_row *u, const carom_row *v, const carom_row *w,
                                      const carom_row *d, carom_ratio *ratio) {
    int top = carom_rows_determinant(u, v, w, &ratio->num);
    int bottom = carom_rows_determinant(u, v, d, &ratio->den);
    ratio->exponent = top - bottom;
    ratio->num.sign *= ratio->den.sign;
    ratio->den.sign = 1;
}

/* x, which is finite. */
CAROM_ITEM void carom_ratio_of(double x, carom_ratio *ratio) {
    carom_big_set(&ratio->num, carom_double_mantissa(x, &ratio->exponent), x < 0.0 ? -1 : 1);
    carom_big_set(&ratio->den, 1, 1);
}

/* The sign of a - b. */
CAROM_RARE_ITEM int carom_ratio_compare(const carom_ratio *a, const carom_ratio *b) {
    carom_big left, right;
    if (a->num.sign != b->num.sign || a->num.sign == 0)
        return (a->num.sign > b->num.sign) - (a->num.sign < b->num.sign);
    carom_big_multiply(&a->num, &b->den, &left);
    carom_big_multiply(&b->num, &a->den, &right);
    int shift = a->exponent - b->exponent;
    /* Far apart: the shifted value then stays within the available limbs. */
    int bits = carom_big_bits(&left) + shift - carom_big_bits(&right);
    if (bits > 1 || bits < -1) return bits > 0 ? a->num.sign : -a->num.sign;
    carom_big_shift_left(shift > 0 ? &left : &right, shift > 0 ? shift : -shift);
    return a->num.sign * carom_big_compare(&left, &right);
}

/* num / den 2^exponent to nearest even, infinite where that is too large; den is above zero. Both
 * are used up. */
CAROM_RARE_ITEM double carom_big_quotient(carom_big *num, carom_big *den, int exponent) {
    if (num->sign == 0) return 0.0;
    double sign = num->sign < 0 ? -1.0 : 1.0;
    int bits = carom_big_bits(num) - carom_big_bits(den) + exponent;
    if (bits < -1075) return 0.0 * sign; /* the quotient is below 2^(bits + 1) */
    if (bits > 1025) return HUGE_VAL * sign;
    int unit = bits - 63; /* the quotient is above 2^62 and below 2^64 of these */
    if (exponent > unit)
        carom_big_shift_left(num, exponent - unit);
    else
        carom_big_shift_left(den, unit - exponent);
    carom_big_shift_left(den, 63);
    uint64_t quotient = 0;
    for (int i = 63; i >= 0; --i) {
        if (carom_big_compare(num, den) >= 0) {
            carom_big_reduce(num, den);
            quotient |= UINT64_C(1) << i;
        }
        carom_big_halve(den);
    }
    if (num->count != 0) quotient |= 1;
    return sign * carom_round_bits(quotient, unit);
}

CAROM_RARE_ITEM double carom_ratio_round(const carom_ratio *ratio) {
    carom_big num, den;
    carom_big_copy(&ratio->num, &num);
    carom_big_copy(&ratio->den, &den);
    return carom_big_quotient(&num, &den, ratio->exponent);
}

/* start + ratio step, rounded once. */
CAROM_RARE_ITEM double carom_ratio_along(const carom_ratio *ratio, double start, double step) {
    carom_big factor, sum, moved, den;
    int at, by;
    carom_big_copy(&ratio->den, &den);
    carom_big_set(&factor, carom_double_mantissa(start, &at), start < 0.0 ? -1 : 1);
    carom_big_multiply(&den, &factor, &sum);
    carom_big_set(&factor, carom_double_mantissa(step, &by), step < 0.0 ? -1 : 1);
    carom_big_multiply(&ratio->num, &factor, &moved);
    by += ratio->exponent;
    if (sum.sign == 0) at = by;
    if (moved.sign == 0) by = at;
    if (at > by)
        carom_big_shift_left(&sum, at - by);
    else
        carom_big_shift_left(&moved, by - at);
    carom_big_add(&sum, &moved);
    return carom_big_quotient(&sum, &den, CAROM_MIN(at, by));
}

/* from + ratio (to - from), rounded once. */
CAROM_RARE_ITEM double carom_ratio_between(const carom_ratio *ratio, double from, double to) {
    carom_big factor, term[3], den;
    int at[3], least = INT_MAX;
    carom_big_set(&factor, carom_double_mantissa(from, &at[0]), from < 0.0 ? -1 : 1);
    carom_big_multiply(&ratio->den, &factor, &term[0]);
    factor.sign = -factor.sign;
    carom_big_multiply(&ratio->num, &factor, &term[1]);
    at[1] = at[0] + ratio->exponent;
    carom_big_set(&factor, carom_double_mantissa(to, &at[2]), to < 0.0 ? -1 : 1);
    carom_big_multiply(&ratio->num, &factor, &term[2]);
    at[2] += ratio->exponent;
    for (int i = 0; i < 3; ++i)
        if (term[i].sign != 0) least = CAROM_MIN(at[i], least);
    for (int i = 0; i < 3; ++i)
        if (term[i].sign != 0) carom_big_shift_left(&term[i], at[i] - least);
    carom_big_add(&term[0], &term[1]);
    carom_big_add(&term[0], &term[2]);
    carom_big_copy(&ratio->den, &den);
    return carom_big_quotient(&term[0], &den, least);
}

#endif
