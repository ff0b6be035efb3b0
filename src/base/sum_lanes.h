/* SPDX-License-Identifier: MIT */
/* sum_lanes.h: terms of sums in fixed point (sum_item.h), one per lane of a vector. */
#ifndef CAROM_SRC_BASE_SUM_LANES_H
#define CAROM_SRC_BASE_SUM_LANES_H

#include "base/simd.h"
#include "base/sum_item.h"

/* Adds to a sum of 128 bits, modulo 2^128. */
CAROM_SIMD void carom_sum_lanes_wide(carom_u64v *low, carom_u64v *high, carom_u64v add_low,
                                     carom_u64v add_high) {
    carom_u64v sum = *low + add_low;
    *low = sum;
    *high += add_high - (carom_u64v)(sum < add_low);
}

/* Adds carom_sum_term(value, scale). Values are within the range of terms, and the scale is
 * CAROM_SUM_LANES_SCALE or more. For a negative term its complement, -term - 1, is added, and
 * counted in `negative`: this number is added to the sum last. */
CAROM_SIMD void carom_sum_lanes_term(carom_u64v *low, carom_u64v *high, carom_u64v *negative,
                                     carom_f64v value, int scale) {
#if CAROM_LANES64 == 2 /* shifts by a count per lane are slower than two numbers one by one */
    (void)negative;
    for (int lane = 0; lane < 2; ++lane) {
        carom_sum term = carom_sum_term(value[lane], scale);
        uint64_t sum = (*low)[lane] + term.low;
        (*low)[lane] = sum;
        (*high)[lane] += term.high + (sum < term.low ? 1u : 0u);
    }
#else
    const carom_u64v one = (carom_u64v){0} + 1;
    carom_u64v bits = (carom_u64v)value, field = bits >> 52 & 0x7FF;
    carom_u64v mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    mantissa &= (carom_u64v)(field != 0);
    carom_u64v sign = (carom_u64v)((carom_i64v)bits >> 63);
    carom_i64v shift = (carom_i64v)field - (1075 + scale);
    carom_u64v half = carom_u64v_shift_left(one, -shift - 1);
    carom_u64v term_low =
        carom_u64v_shift_left(mantissa, shift) | carom_u64v_shift_right(mantissa + half, -shift);
    carom_u64v term_high =
        carom_u64v_shift_left(mantissa, shift - 64) | carom_u64v_shift_right(mantissa, 64 - shift);
    carom_sum_lanes_wide(low, high, term_low ^ sign, term_high ^ sign);
    *negative -= sign;
#endif
}

#endif
