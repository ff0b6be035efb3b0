/* SPDX-License-Identifier: MIT */
/* double_parts.h: a double taken apart into sign, mantissa and exponent, as items. */
#ifndef CAROM_SRC_BASE_DOUBLE_PARTS_H
#define CAROM_SRC_BASE_DOUBLE_PARTS_H

#include <stdint.h>
#include <string.h>

#include "base/item.h"

/* The exponent of infinities and NaNs, above that of every finite double. */
#define CAROM_DOUBLE_NOT_FINITE (0x7FF - 1075)

/* |x| = mantissa 2^exponent with both integers, also for subnormals; zero has mantissa 0. */
CAROM_ITEM uint64_t carom_double_mantissa(double x, int *exponent) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    int field = (int)(bits >> 52 & 0x7FF);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    *exponent = (field != 0 ? field : 1) - 1075;
    return field != 0 ? mantissa | UINT64_C(1) << 52 : mantissa;
}

/* The bits that a number needs: 0 for 0, 64 at most. */
CAROM_ITEM int carom_bit_count(uint64_t x) {
#ifdef __CUDA_ARCH__
    return 64 - __clzll((long long)x);
#else
    return x != 0 ? 64 - __builtin_clzll(x) : 0;
#endif
}

/* The sign bit: 1 also for -0.0. */
CAROM_ITEM int carom_double_sign_bit(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return (int)(bits >> 63);
}

#endif
