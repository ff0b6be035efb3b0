/* SPDX-License-Identifier: MIT */
/* mesh_number.h: decimal text to the nearest double and back, independent of the locale. */
#ifndef CAROM_SRC_MESH_MESH_NUMBER_H
#define CAROM_SRC_MESH_MESH_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pieces of [sign] digits [. digits] [e [sign] digits]. */
typedef struct carom_decimal {
    const uint8_t *digits, *digits_end; /* the digits, including the point */
    uint64_t mantissa;                  /* of all digits, if at most 19 */
    uint64_t digit_count;
    int64_t exponent; /* value = mantissa 10^exponent */
    bool negative;
} carom_decimal;

/* The nearest double, ties to even; infinite when out of range. */
double carom_decimal_value(const carom_decimal *decimal);

/* Writes the first of 15, 16 and 17 digits that reads back as `value`, which must be finite;
 * returns the end. Needs CAROM_NUMBER_SIZE bytes. */
#define CAROM_NUMBER_SIZE 32
char *carom_number_print(char *to, double value);
/* Writes decimal digits; CAROM_NUMBER_SIZE bytes are enough. */
char *carom_number_print_count(char *to, uint64_t value);

static inline bool carom_is_digit(uint8_t c) {
    return (uint8_t)(c - '0') < 10;
}

/* Reads a number at `at`; returns its end, or NULL when there is none. */
static inline const uint8_t *carom_number_parse(const uint8_t *at, const uint8_t *end,
                                                double *value) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    carom_decimal d = {0};
    if (at < end && (*at == '-' || *at == '+')) d.negative = *at++ == '-';
    d.digits = at;
    for (; at < end && carom_is_digit(*at); ++at) d.mantissa = 10 * d.mantissa + (*at - '0');
    d.digit_count = (uint64_t)(at - d.digits);
    if (at < end && *at == '.') {
        const uint8_t *fraction = ++at;
        for (; at < end && carom_is_digit(*at); ++at) d.mantissa = 10 * d.mantissa + (*at - '0');
        d.exponent = fraction - at;
        d.digit_count += (uint64_t)(at - fraction);
    }
    if (d.digit_count == 0) return NULL;
    d.digits_end = at;
    if (at < end && (*at | 0x20) == 'e') {
        const uint8_t *mark = at + 1;
        bool down = mark < end && *mark == '-';
        if (mark < end && (*mark == '-' || *mark == '+')) ++mark;
        if (mark < end && carom_is_digit(*mark)) {
            int64_t power = 0;
            for (at = mark; at < end && carom_is_digit(*at); ++at)
                if (power < INT64_C(1) << 50) power = 10 * power + (*at - '0');
            d.exponent += down ? -power : power;
        }
    }
    /* Both operands are exact, so the single operation rounds correctly. */
    if (d.digit_count <= 19 && d.mantissa <= UINT64_C(1) << 53 && d.exponent >= -22 &&
        d.exponent <= 22) {
        double v = (double)d.mantissa;
        v = d.exponent < 0 ? v / tens[-d.exponent] : v * tens[d.exponent];
        *value = d.negative ? -v : v;
    } else {
        *value = carom_decimal_value(&d);
    }
    return at;
}

#endif
