/* SPDX-License-Identifier: MIT */
/* Conversion from decimal to binary and back.
 *
 * Reading: a lower and an upper bound of w 10^q are computed with 128-bit powers of five, whose
 * error is below three units in the last place. Nearly always both bounds round to the same double.
 * If not, integers of a few thousand bits decide on which side of the midpoint the text lies. (The
 * single wide product is from Lemire, "Number parsing at a gigabyte per second", 2021; the bounds
 * replace its proof, so that a table of 26 powers is enough.)
 *
 * Writing: the value is rounded to 15, 16, then 17 digits with the same powers; the first result
 * that reads back as the value is taken. It is correct by construction, and differs from the
 * shortest only in the choice among results of equal length. */
#include "mesh/mesh_number.h"

#include <stdio.h>
#include <string.h>

#include "base/double_parts.h"

__extension__ typedef unsigned __int128 mesh_number_u128;

/* ---- Powers of five -------------------------------------------------------------------------- */

#define FINE_STEP     27
#define LEAST_POWER   (-351)
#define LARGEST_POWER 350

/* The leading 128 bits of 5^(27 k), k from -13 to 12, truncated. */
static const uint64_t coarse_powers[][2] = {
    {UINT64_C(0x8049A4AC0C5811AE), UINT64_C(0x205B896D777D6278)},
    {UINT64_C(0xCF42894A5DCE35EA), UINT64_C(0x52064CAC828675B9)},
    {UINT64_C(0xA76C582338ED2621), UINT64_C(0xAF2AF2B80AF6F24E)},
    {UINT64_C(0x873E4F75E2224E68), UINT64_C(0x5A7744A6E804A291)},
    {UINT64_C(0xDA7F5BF590966848), UINT64_C(0xAF39A475506A899E)},
    {UINT64_C(0xB080392CC4349DEC), UINT64_C(0xBD8D794D96AACFB3)},
    {UINT64_C(0x8E938662882AF53E), UINT64_C(0x547EB47B7282EE9C)},
    {UINT64_C(0xE65829B3046B0AFA), UINT64_C(0x0CB4A5A3112A5112)},
    {UINT64_C(0xBA121A4650E4DDEB), UINT64_C(0x92F34D62616CE413)},
    {UINT64_C(0x964E858C91BA2655), UINT64_C(0x3A6A07F8D510F86F)},
    {UINT64_C(0xF2D56790AB41C2A2), UINT64_C(0xFAE27299423FB9C3)},
    {UINT64_C(0xC428D05AA4751E4C), UINT64_C(0xAA97E14C3C26B886)},
    {UINT64_C(0x9E74D1B791E07E48), UINT64_C(0x775EA264CF55347D)},
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},
    {UINT64_C(0xCECB8F27F4200F3A), UINT64_C(0x0000000000000000)},
    {UINT64_C(0xA70C3C40A64E6C51), UINT64_C(0x999090B65F67D924)},
    {UINT64_C(0x86F0AC99B4E8DAFD), UINT64_C(0x69A028BB3DED71A3)},
    {UINT64_C(0xDA01EE641A708DE9), UINT64_C(0xE80E6F4820CC9495)},
    {UINT64_C(0xB01AE745B101E9E4), UINT64_C(0x5EC05DCFF72E7F8F)},
    {UINT64_C(0x8E41ADE9FBEBC27D), UINT64_C(0x14588F13BE847307)},
    {UINT64_C(0xE5D3EF282A242E81), UINT64_C(0x8F1668C8A86DA5FA)},
    {UINT64_C(0xB9A74A0637CE2EE1), UINT64_C(0x6D953E2BD7173692)},
    {UINT64_C(0x95F83D0A1FB69CD9), UINT64_C(0x4ABDAF101564F98E)},
    {UINT64_C(0xF24A01A73CF2DCCF), UINT64_C(0xBC633B39673C8CEC)},
    {UINT64_C(0xC3B8358109E84F07), UINT64_C(0x0A862F80EC4700C8)},
    {UINT64_C(0x9E19DB92B4E31BA9), UINT64_C(0x6C07A2C26A8346D1)},
};

/* 5^q is in [m, m + 3) 2^(power_exponent(q) - 127), and m has its top bit set. */
static int power_exponent(int q) {
    return (q * 152170) >> 16; /* floor(q log2(5)) in this range */
}

static mesh_number_u128 power_of_five(int q) {
    static const uint64_t fine_powers[FINE_STEP] = {UINT64_C(1),
                                                    UINT64_C(5),
                                                    UINT64_C(25),
                                                    UINT64_C(125),
                                                    UINT64_C(625),
                                                    UINT64_C(3125),
                                                    UINT64_C(15625),
                                                    UINT64_C(78125),
                                                    UINT64_C(390625),
                                                    UINT64_C(1953125),
                                                    UINT64_C(9765625),
                                                    UINT64_C(48828125),
                                                    UINT64_C(244140625),
                                                    UINT64_C(1220703125),
                                                    UINT64_C(6103515625),
                                                    UINT64_C(30517578125),
                                                    UINT64_C(152587890625),
                                                    UINT64_C(762939453125),
                                                    UINT64_C(3814697265625),
                                                    UINT64_C(19073486328125),
                                                    UINT64_C(95367431640625),
                                                    UINT64_C(476837158203125),
                                                    UINT64_C(2384185791015625),
                                                    UINT64_C(11920928955078125),
                                                    UINT64_C(59604644775390625),
                                                    UINT64_C(298023223876953125),
                                                    UINT64_C(1490116119384765625)};
    int k = (q - LEAST_POWER) / FINE_STEP, r = (q - LEAST_POWER) % FINE_STEP;
    uint64_t high = coarse_powers[k][0], low = coarse_powers[k][1], fine = fine_powers[r];
    if (r == 0) return (mesh_number_u128)high << 64 | low;
    mesh_number_u128 p0 = (mesh_number_u128)low * fine,
                     p1 = (mesh_number_u128)high * fine + (uint64_t)(p0 >> 64);
    int shift = __builtin_clzll((uint64_t)(p1 >> 64));
    return shift == 0 ? p1 : p1 << shift | (uint64_t)p0 >> (64 - shift);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The bits of the double nearest to t 2^x, ties to even; t has 126 bits or more. */
static uint64_t round_bits(mesh_number_u128 t, int x) {
    int length = 128 - __builtin_clzll((uint64_t)(t >> 64));
    int exponent = x + length - 1;
    if (exponent > 1023) return UINT64_C(0x7FF) << 52;
    int keep = exponent >= -1022 ? 53 : 53 + exponent + 1022;
    if (keep < 0) return 0;
    int shift = length - keep;
    mesh_number_u128 half = (mesh_number_u128)1 << (shift - 1),
                     rest = shift == 128 ? t : t & ((half << 1) - 1);
    uint64_t mantissa = shift == 128 ? 0 : (uint64_t)(t >> shift);
    if (rest > half || (rest == half && (mantissa & 1) != 0)) ++mantissa;
    /* The hidden bit, and a carry from rounding, increment the exponent by themselves. */
    return exponent >= -1022 ? ((uint64_t)(exponent + 1022) << 52) + mantissa : mantissa;
}

/* Big integers for the undecided cases. The largest have 780 digits, or are 5^1130 times 54
 * bits. */
#define BIG_WORDS  128
#define BIG_DIGITS 780 /* no midpoint has more; of the rest only "not zero" matters */

typedef struct mesh_number_big {
    uint32_t word[BIG_WORDS];
    int count;
} mesh_number_big;

static void big_multiply_add(mesh_number_big *b, uint32_t factor, uint32_t term) {
    uint64_t carry = term;
    for (int i = 0; i < b->count; ++i) {
        carry += (uint64_t)b->word[i] * factor;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0 && b->count < BIG_WORDS) b->word[b->count++] = (uint32_t)carry;
}

static void big_scale(mesh_number_big *b, int fives, int twos) {
    for (; fives >= 13; fives -= 13) big_multiply_add(b, 1220703125u, 0);
    for (; fives > 0; --fives) big_multiply_add(b, 5, 0);
    for (; twos >= 31; twos -= 31) big_multiply_add(b, 1u << 31, 0);
    if (twos > 0) big_multiply_add(b, 1u << twos, 0);
}

static int big_compare(const mesh_number_big *a, const mesh_number_big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count; i-- > 0;)
        if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

/* The digits as an integer: at most BIG_DIGITS of them, followed by a 1 if the rest is not zero.
 * *dropped: the number of digits left out, to be added to the exponent. */
static void big_from_digits(const carom_decimal *d, mesh_number_big *b, int64_t *dropped) {
    int used = 0;
    bool rest = false;
    int64_t left_out = 0;
    b->count = 0;
    for (const uint8_t *p = d->digits; p < d->digits_end; ++p) {
        if (*p == '.' || (used == 0 && *p == '0')) continue;
        if (used < BIG_DIGITS) {
            big_multiply_add(b, 10, *p - '0');
            ++used;
        } else {
            rest = rest || *p != '0';
            ++left_out;
        }
    }
    if (rest) {
        big_multiply_add(b, 10, 1);
        --left_out;
    }
    *dropped = left_out;
}

/* `bits` is the largest double that is not above the text. */
static uint64_t decide_midpoint(const carom_decimal *d, uint64_t bits) {
    double below;
    int exponent;
    memcpy(&below, &bits, sizeof(below));
    uint64_t mantissa = 2 * carom_double_mantissa(below, &exponent) + 1;
    --exponent; /* the midpoint is mantissa 2^exponent */
    mesh_number_big left, right = {.word = {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)}};
    right.count = mantissa >> 32 != 0 ? 2 : 1;
    int64_t dropped;
    big_from_digits(d, &left, &dropped);
    int power = (int)(d->exponent + dropped);
    big_scale(&left, power > 0 ? power : 0, power > exponent ? power - exponent : 0);
    big_scale(&right, power < 0 ? -power : 0, exponent > power ? exponent - power : 0);
    int order = big_compare(&left, &right);
    return order > 0 || (order == 0 && (bits & 1) != 0) ? bits + 1 : bits;
}

double carom_decimal_value(const carom_decimal *d) {
    uint64_t w = d->mantissa, bits;
    int64_t power = d->exponent;
    bool cut = false;
    if (d->digit_count > 19) { /* take the first 19 significant digits */
        int used = 0;
        w = 0;
        for (const uint8_t *p = d->digits; p < d->digits_end; ++p) {
            if (*p == '.' || (used == 0 && *p == '0')) continue;
            if (used < 19) {
                w = 10 * w + (*p - '0');
                ++used;
            } else {
                cut = cut || *p != '0';
                ++power;
            }
        }
    }
    if (w == 0 || power < -345) {
        bits = 0; /* w 10^power < 2e19 10^-345, far below the least double */
    } else if (power > 308) {
        bits = UINT64_C(0x7FF) << 52;
    } else {
        int q = (int)power, z = __builtin_clzll(w);
        mesh_number_u128 five = power_of_five(q);
        uint64_t wide = w << z;
        mesh_number_u128 low = (mesh_number_u128)wide * (uint64_t)five;
        mesh_number_u128 t =
            (mesh_number_u128)wide * (uint64_t)(five >> 64) + (uint64_t)(low >> 64);
        mesh_number_u128 above = t + 4 + (cut ? (mesh_number_u128)1 << (64 + z) : 0);
        int x = power_exponent(q) - 127 - z + 64 + q;
        bits = round_bits(t, x);
        if (above < t || round_bits(above, x) != bits) bits = decide_midpoint(d, bits);
    }
    if (d->negative) bits |= UINT64_C(1) << 63;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- Writing --------------------------------------------------------------------------------- */

char *carom_number_print_count(char *to, uint64_t value) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
                                "31323334353637383940414243444546474849505152535455565758596061"
                                "62636465666768697071727374757677787980818283848586878889909192"
                                "93949596979899";
    char text[20], *at = text + sizeof(text);
    for (; value >= 100; value /= 100) memcpy(at -= 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(at -= 2, pairs + 2 * value, 2);
    else
        *--at = (char)('0' + value);
    size_t length = (size_t)(text + sizeof(text) - at);
    memcpy(to, at, length);
    return to + length;
}

/* The decimal digits of a value above zero, rounded to `count` of them: value = digits 10^*power up
 * to rounding errors. */
static uint64_t round_digits(double value, int count, int *power) {
    static const uint64_t tens[] = {UINT64_C(1000000000000000), UINT64_C(10000000000000000),
                                    UINT64_C(100000000000000000)};
    int exponent;
    uint64_t mantissa = carom_double_mantissa(value, &exponent);
    int z = __builtin_clzll(mantissa), top = exponent + 63 - z; /* 2^top <= |value| */
    int q = count - 1 - ((top * 1262611) >> 22);                /* floor(top log10(2)) */
    for (;; --q) { /* the estimate of the decimal exponent may be one too low */
        mesh_number_u128 five = power_of_five(q);
        uint64_t wide = mantissa << z;
        mesh_number_u128 t = (mesh_number_u128)wide * (uint64_t)(five >> 64) +
                             (uint64_t)((mesh_number_u128)wide * (uint64_t)five >> 64);
        int shift = -(power_exponent(q) - 127 - z + 64 + q + exponent);
        uint64_t digits = (uint64_t)((t + ((mesh_number_u128)1 << (shift - 1))) >> shift);
        if (digits < tens[count - 15]) {
            *power = -q;
            return digits;
        }
    }
}

/* For values outside the range of these powers: the C library's digits, without its decimal
 * point. */
static uint64_t library_digits(double value, int *power) {
    char text[64];
    snprintf(text, sizeof(text), "%.16e", value);
    uint64_t digits = 0;
    const char *p = text;
    for (; *p != 'e' && *p != '\0'; ++p)
        if (carom_is_digit((uint8_t)*p)) digits = 10 * digits + (uint64_t)(*p - '0');
    bool down = *p != '\0' && p[1] == '-';
    int exponent = 0;
    for (; *p != '\0'; ++p)
        if (carom_is_digit((uint8_t)*p)) exponent = 10 * exponent + (*p - '0');
    *power = (down ? -exponent : exponent) - 16;
    return digits;
}

static bool reads_back(uint64_t digits, int power, double value) {
    if (digits <= UINT64_C(1) << 53 && power >= -22 && power <= 0) {
        static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        return (double)digits / tens[-power] == value;
    }
    char text[CAROM_NUMBER_SIZE];
    carom_decimal d = {.mantissa = digits, .exponent = power};
    d.digits = (const uint8_t *)text;
    d.digits_end = (const uint8_t *)carom_number_print_count(text, digits);
    d.digit_count = (uint64_t)(d.digits_end - d.digits);
    return carom_decimal_value(&d) == value;
}

static char *lay_out_digits(char *to, uint64_t digits, int power) {
    while (digits % 10 == 0) {
        digits /= 10;
        ++power;
    }
    char text[20];
    int count = (int)(carom_number_print_count(text, digits) - text);
    int point = count + power; /* digits before the point */
    if (point > 17 || point < -3) {
        *to++ = text[0];
        if (count > 1) *to++ = '.';
        memcpy(to, text + 1, (size_t)count - 1);
        to += count - 1;
        *to++ = 'e';
        if (point - 1 < 0) *to++ = '-';
        return carom_number_print_count(to, (uint64_t)(point - 1 < 0 ? 1 - point : point - 1));
    }
    if (point <= 0) {
        *to++ = '0';
        *to++ = '.';
        memset(to, '0', (size_t)-point);
        to += -point;
        memcpy(to, text, (size_t)count);
        return to + count;
    }
    int whole = point < count ? point : count;
    memcpy(to, text, (size_t)whole);
    to += whole;
    memset(to, '0', (size_t)(point - whole));
    to += point - whole;
    if (whole == count) return to;
    *to++ = '.';
    memcpy(to, text + whole, (size_t)(count - whole));
    return to + (count - whole);
}

char *carom_number_print(char *to, double value) {
    if (carom_double_sign_bit(value)) *to++ = '-';
    if (value == 0.0) {
        *to++ = '0';
        return to;
    }
    value = value < 0.0 ? -value : value;
    if (value < 9007199254740992.0 && value == (double)(uint64_t)value)
        return lay_out_digits(to, (uint64_t)value, 0);
    for (int count = 15; count <= 17; ++count) {
        int power;
        uint64_t digits = round_digits(value, count, &power);
        if (reads_back(digits, power, value)) return lay_out_digits(to, digits, power);
    }
    int power;
    uint64_t digits = library_digits(value, &power);
    return lay_out_digits(to, digits, power);
}
