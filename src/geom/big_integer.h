/* SPDX-License-Identifier: MIT */
/* big_integer.h: signs of determinants of any finite doubles, as items: the last stage of orient.h.
 *
 * Every finite double is an integer times 2^-1074. Coordinates whose exponents lie too far apart
 * for expansions become two's complement integers of as many 32-bit limbs as their common range
 * needs (66 for all doubles). The determinant is computed by schoolbook arithmetic modulo a power
 * of two that exceeds its value. Slow (up to some 100 us), always exact. */
#ifndef CAROM_SRC_GEOM_BIG_INTEGER_H
#define CAROM_SRC_GEOM_BIG_INTEGER_H

#include "base/double_parts.h"
#include "geom/expansion.h"

/* A difference of two doubles has at most 2099 bits and a sign. */
#define CAROM_DOUBLE_LIMBS 66

/* bits 2^power to nearest even, also into subnormals; infinite where that is too large. */
CAROM_ITEM double carom_round_bits(uint64_t bits, int power) {
    CAROM_ASSERT(bits == 0 || power < 4096);
    int cut = -1074 - power; /* bits below the last that a subnormal has */
    if (cut > 0) {
        if (cut > 63) /* above half of the smallest, or below it */
            return cut == 64 && bits > UINT64_C(1) << 63 ? 0x1p-1074 : 0.0;
        uint64_t lost = bits & ((UINT64_C(1) << cut) - 1), half = UINT64_C(1) << (cut - 1);
        uint64_t kept = bits >> cut;
        if (kept >> 53 == 0) {
            kept += lost > half || (lost == half && (kept & 1) != 0);
            return ldexp((double)kept, -1074);
        }
    }
    return ldexp((double)bits, power);
}

/* a = -a. */
CAROM_ITEM void carom_limbs_negate(uint32_t *a, int n) {
    uint64_t carry = 1;
    for (int i = 0; i < n; ++i) {
        carry += (uint32_t)~a[i];
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* to = x / 2^base; the mantissa must fit. */
CAROM_ITEM void carom_limbs_load(double x, int base, uint32_t *to, int n) {
    int exponent;
    uint64_t mantissa = carom_double_mantissa(x, &exponent);
    for (int i = 0; i < n; ++i) to[i] = 0;
    if (mantissa == 0) return;
    int limb = (exponent - base) / 32, shift = (exponent - base) % 32;
    CAROM_ASSERT(exponent >= base && limb < n);
    uint32_t low = (uint32_t)mantissa, high = (uint32_t)(mantissa >> 32);
    uint64_t first = (uint64_t)low << shift, second = (uint64_t)high << shift;
    second += first >> 32;
    to[limb] = (uint32_t)first;
    if (limb + 1 < n) to[limb + 1] = (uint32_t)second;
    if (limb + 2 < n) to[limb + 2] = (uint32_t)(second >> 32);
    if (x < 0.0) carom_limbs_negate(to, n);
}

/* a -= b or a += b. */
CAROM_ITEM void carom_limbs_add(uint32_t *a, const uint32_t *b, int n, int subtract) {
    uint64_t carry = subtract ? 1 : 0;
    for (int i = 0; i < n; ++i) {
        carry += (uint64_t)a[i] + (subtract ? (uint32_t)~b[i] : b[i]);
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Limb i of an integer of n limbs, sign-extended. */
CAROM_ITEM uint32_t carom_limbs_limb(const uint32_t *a, int n, int i) {
    return i < n ? a[i] : a[n - 1] >> 31 != 0 ? UINT32_MAX : 0;
}

/* to += or -= a b modulo 2^(32 n). */
CAROM_ITEM void carom_limbs_add_product(uint32_t *to, int n, const uint32_t *a, int na,
                                        const uint32_t *b, int nb, int subtract) {
    uint32_t product[3 * CAROM_DOUBLE_LIMBS + 1];
    CAROM_ASSERT(n >= 1 && n <= 3 * CAROM_DOUBLE_LIMBS + 1 && na <= n && nb <= n);
    for (int i = 0; i < n; ++i) product[i] = 0;
    for (int i = 0; i < n; ++i) {
        uint64_t factor = carom_limbs_limb(a, na, i), carry = 0;
        if (factor == 0) continue;
        for (int j = 0; i + j < n; ++j) {
            carry += factor * carom_limbs_limb(b, nb, j) + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    carom_limbs_add(to, product, n, subtract);
}

CAROM_ITEM int carom_limbs_sign(const uint32_t *a, int n) {
    uint32_t any = 0;
    for (int i = 0; i < n; ++i) any |= a[i];
    return a[n - 1] >> 31 != 0 ? -1 : any != 0;
}

/* The power of two that divides all, and the limbs that hold any difference with its sign. */
CAROM_ITEM int carom_limbs_base(const double *x, int count, int *limbs) {
    int base = 1024, top = -1074;
    for (int i = 0; i < count; ++i) {
        int exponent;
        if (carom_double_mantissa(x[i], &exponent) == 0) continue;
        base = exponent < base ? exponent : base;
        top = exponent + 53 > top ? exponent + 53 : top;
    }
    *limbs = top > base ? (top - base + 2 + 31) / 32 : 1;
    CAROM_ASSERT(*limbs >= 1 && *limbs <= CAROM_DOUBLE_LIMBS);
    return base;
}

/* The sign of the determinant with the rows b - a, d - c; x holds a, b, c, d. */
CAROM_RARE_ITEM int carom_limbs_cross(const double *x) {
    uint32_t u[2][CAROM_DOUBLE_LIMBS], v[2][CAROM_DOUBLE_LIMBS], a[CAROM_DOUBLE_LIMBS];
    uint32_t sum[2 * CAROM_DOUBLE_LIMBS + 1];
    int n, base = carom_limbs_base(x, 8, &n), n2 = 2 * n + 1;
    for (int k = 0; k < 2; ++k) {
        carom_limbs_load(x[k], base, a, n);
        carom_limbs_load(x[2 + k], base, u[k], n);
        carom_limbs_add(u[k], a, n, 1);
        carom_limbs_load(x[4 + k], base, a, n);
        carom_limbs_load(x[6 + k], base, v[k], n);
        carom_limbs_add(v[k], a, n, 1);
    }
    for (int i = 0; i < n2; ++i) sum[i] = 0;
    carom_limbs_add_product(sum, n2, u[0], n, v[1], n, 0);
    carom_limbs_add_product(sum, n2, u[1], n, v[0], n, 1);
    return carom_limbs_sign(sum, n2);
}

/* The sign of the determinant with the rows b - a, c - a; x holds a, b, c. */
CAROM_RARE_ITEM int carom_limbs_orient2d(const double *x) {
    double rows[8];
    rows[0] = rows[4] = x[0], rows[1] = rows[5] = x[1];
    rows[2] = x[2], rows[3] = x[3];
    rows[6] = x[4], rows[7] = x[5];
    return carom_limbs_cross(rows);
}

/* Sign of the determinant with the rows b - a, c - a, d - a; x holds a, b, c, d. */
CAROM_RARE_ITEM int carom_limbs_orient3d(const double *x) {
    uint32_t u[3][CAROM_DOUBLE_LIMBS], v[3][CAROM_DOUBLE_LIMBS], w[3][CAROM_DOUBLE_LIMBS];
    uint32_t a[CAROM_DOUBLE_LIMBS];
    uint32_t minor[2 * CAROM_DOUBLE_LIMBS + 1], sum[3 * CAROM_DOUBLE_LIMBS + 1];
    int n, base = carom_limbs_base(x, 12, &n), n2 = 2 * n + 1, n3 = 3 * n + 1;
    for (int k = 0; k < 3; ++k) {
        carom_limbs_load(x[k], base, a, n);
        carom_limbs_load(x[3 + k], base, u[k], n);
        carom_limbs_load(x[6 + k], base, v[k], n);
        carom_limbs_load(x[9 + k], base, w[k], n);
        carom_limbs_add(u[k], a, n, 1);
        carom_limbs_add(v[k], a, n, 1);
        carom_limbs_add(w[k], a, n, 1);
    }
    for (int i = 0; i < n3; ++i) sum[i] = 0;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        for (int l = 0; l < n2; ++l) minor[l] = 0;
        carom_limbs_add_product(minor, n2, u[i], n, v[j], n, 0);
        carom_limbs_add_product(minor, n2, u[j], n, v[i], n, 1);
        carom_limbs_add_product(sum, n3, minor, n2, w[k], n, 0);
    }
    return carom_limbs_sign(sum, n3);
}

#endif
