/* SPDX-License-Identifier: MIT */
/* A superaccumulator (Kulisch; the lazy carries are Neal's, "Fast exact summation using small and
 * large superaccumulators", 2015): one long fixed-point number that covers the range of all
 * products, in digits that are wider than their base. A product of three doubles has 159 bits, so
 * it changes only six neighbouring digits.
 *
 * Invariant: integer sums do not depend on the order, so any division among threads gives the same
 * number, and only the final conversion rounds. */
#include "geom/exact_sum.h"

#include <math.h>
#include <string.h>

#include "geom/big_integer.h"

__extension__ typedef unsigned __int128 exact_sum_wide;

#define BASE_BITS 32
#define LOW_DIGIT UINT64_C(0xFFFFFFFF)

/* The mantissa of a factor; its exponent and sign are joined to those of the product. */
static inline uint64_t exact_sum_split(double value, int *exponent, int *negative) {
    int own;
    uint64_t mantissa = carom_double_mantissa(value, &own);
    *exponent += own;
    *negative ^= carom_double_sign_bit(value);
    return mantissa;
}

/* The digits of word << shift with the carry of the previous word; flip is 0 or -1. */
static inline uint64_t add_word(int64_t *digits, uint64_t word, uint32_t shift, uint64_t below,
                                int64_t flip) {
    CAROM_ASSERT(shift < BASE_BITS && below < UINT64_C(1) << BASE_BITS);
    uint64_t moved = word << shift | below;
    digits[0] += ((int64_t)(moved & LOW_DIGIT) ^ flip) - flip;
    digits[1] += ((int64_t)(moved >> BASE_BITS) ^ flip) - flip;
    return word >> 1 >> (63 - shift);
}

static inline void exact_sum_add_product(carom_exact_sum *sum, double a, double b, double c,
                                         int negative) {
    int exponent = 0;
    uint64_t ma = exact_sum_split(a, &exponent, &negative);
    uint64_t mb = exact_sum_split(b, &exponent, &negative);
    uint64_t mc = exact_sum_split(c, &exponent, &negative);
    exact_sum_wide ab = (exact_sum_wide)ma * mb;
    exact_sum_wide low = (exact_sum_wide)(uint64_t)ab * mc,
                   high = (exact_sum_wide)(uint64_t)(ab >> 64) * mc + (low >> 64);
    uint32_t bit = (uint32_t)(exponent - CAROM_EXACT_BOTTOM), shift = bit % BASE_BITS;
    int64_t *digits = sum->digits + bit / BASE_BITS, flip = -(int64_t)negative;
    CAROM_ASSERT(exponent >= CAROM_EXACT_BOTTOM);
    CAROM_ASSERT(bit / BASE_BITS + 6 <= CAROM_EXACT_DIGITS);
    CAROM_ASSERT(negative == 0 || negative == 1);
    uint64_t up = add_word(digits, (uint64_t)low, shift, 0, flip);
    up = add_word(digits + 2, (uint64_t)high, shift, up, flip);
    (void)add_word(digits + 4, (uint64_t)(high >> 64), shift, up, flip);
}

void carom_exact_sum_add(carom_exact_sum *sum, double a, double b, double c) {
    exact_sum_add_product(sum, a, b, c, 0);
}

void carom_exact_sum_subtract(carom_exact_sum *sum, double a, double b, double c) {
    exact_sum_add_product(sum, a, b, c, 1);
}

void carom_exact_sum_add_determinant(carom_exact_sum *sum, carom_vec3 a, carom_vec3 b,
                                     carom_vec3 c) {
    exact_sum_add_product(sum, a.x, b.y, c.z, 0);
    exact_sum_add_product(sum, a.x, b.z, c.y, 1);
    exact_sum_add_product(sum, a.y, b.z, c.x, 0);
    exact_sum_add_product(sum, a.y, b.x, c.z, 1);
    exact_sum_add_product(sum, a.z, b.x, c.y, 0);
    exact_sum_add_product(sum, a.z, b.y, c.x, 1);
}

void carom_exact_sum_normalize(carom_exact_sum *sum) {
    int64_t carry = 0;
    for (int i = 0; i < CAROM_EXACT_DIGITS - 1; ++i) {
        int64_t digit = sum->digits[i] + carry;
        uint64_t low = (uint64_t)digit & LOW_DIGIT;
        CAROM_ASSERT((digit - (int64_t)low) % ((int64_t)1 << BASE_BITS) == 0);
        carry = (digit - (int64_t)low) / ((int64_t)1 << BASE_BITS); /* exact: floor */
        sum->digits[i] = (int64_t)low;
    }
    sum->digits[CAROM_EXACT_DIGITS - 1] += carry;
}

void carom_exact_sum_merge(carom_exact_sum *sum, const carom_exact_sum *other) {
    for (int i = 0; i < CAROM_EXACT_DIGITS; ++i) sum->digits[i] += other->digits[i];
    carom_exact_sum_normalize(sum);
}

int carom_exact_sum_sign(carom_exact_sum *sum) {
    carom_exact_sum_normalize(sum);
    if (sum->digits[CAROM_EXACT_DIGITS - 1] < 0) return -1;
    for (int i = 0; i < CAROM_EXACT_DIGITS; ++i)
        if (sum->digits[i] != 0) return 1;
    return 0;
}

/* The top 64 bits of normalized digits of a sum that is not negative; lower bits matter only as
 * "not zero" and set the lowest bit. *power is the exponent of that bit. */
static uint64_t top_bits(const int64_t *digits, int *power) {
    int top = CAROM_EXACT_DIGITS - 1;
    while (top > 0 && digits[top] == 0) --top;
    if (top < 2) top = 2; /* all digits above are zero: equivalent */
    CAROM_ASSERT(digits[top] >= 0 && (uint64_t)digits[top] <= LOW_DIGIT);
    uint64_t bits = (uint64_t)digits[top] << 32 | (uint64_t)digits[top - 1];
    uint64_t below = (uint64_t)digits[top - 2];
    int free = 0;
    while (free < 32 && bits >> (63 - free) == 0) ++free;
    uint64_t result = bits << free | below >> (32 - free);
    uint64_t lost = below & ((UINT64_C(1) << (32 - free)) - 1);
    for (int i = 0; i < top - 2; ++i) lost |= (uint64_t)digits[i];
    *power = (top - 1) * BASE_BITS + CAROM_EXACT_BOTTOM - free;
    return lost != 0 ? result | 1 : result;
}

double carom_exact_sum_divide(carom_exact_sum *sum, uint32_t divisor) {
    int sign = carom_exact_sum_sign(sum);
    if (sign == 0) return 0.0;
    carom_exact_sum quotient = *sum;
    if (sign < 0) {
        for (int i = 0; i < CAROM_EXACT_DIGITS; ++i) quotient.digits[i] = -quotient.digits[i];
        carom_exact_sum_normalize(&quotient);
    }
    uint64_t rest = 0;
    for (int i = CAROM_EXACT_DIGITS - 1; i >= 0; --i) {
        uint64_t part = rest << BASE_BITS | (uint64_t)quotient.digits[i];
        quotient.digits[i] = (int64_t)(part / divisor);
        rest = part % divisor;
        CAROM_ASSERT(rest < divisor && quotient.digits[i] >= 0);
    }
    if (rest != 0)
        quotient.digits[0] |= 1; /* 42 bits below the last bit of any sum: ties are not
                                    affected */
    int power;
    uint64_t bits = top_bits(quotient.digits, &power);
    double value = carom_round_bits(bits, power);
    return sign < 0 ? -value : value;
}
