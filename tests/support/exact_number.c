/* SPDX-License-Identifier: MIT */
/* Exact numbers: words in a pool, school arithmetic. */
#include "tests/support/exact_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 double_word;

/* ---- the pool -------------------------------------------------------------------------------- */

#define CHUNK_WORDS ((size_t)1 << 17)
#define MOST_CHUNKS 4096

static uint64_t *chunks[MOST_CHUNKS];
static size_t chunk, used; /* words of chunks[chunk] */

void number_reset(void) {
    chunk = 0;
    used = 0;
}

static uint64_t *take(size_t words) {
    if (words > CHUNK_WORDS) abort(); /* a bug in the test */
    if (used + words > CHUNK_WORDS) {
        if (++chunk == MOST_CHUNKS) abort();
        used = 0;
    }
    if (chunks[chunk] == NULL) {
        chunks[chunk] = malloc(CHUNK_WORDS * sizeof(uint64_t));
        if (chunks[chunk] == NULL) abort();
    }
    uint64_t *position = chunks[chunk] + used;
    used += words;
    return position;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Leaves out zeros at both ends. */
static number made(int sign, const uint64_t *word, int32_t count, int32_t low) {
    while (count > 0 && word[count - 1] == 0) --count;
    while (count > 0 && word[0] == 0) {
        ++word;
        ++low;
        --count;
    }
    if (count == 0) return (number){0};
    return (number){word, count, low, sign};
}

/* m 2^k */
static number shifted(int sign, uint64_t m, int k) {
    int low = k >= 0 ? k / 64 : -((-k + 63) / 64), shift = k - 64 * low;
    uint64_t *word = take(2);
    word[0] = m << shift;
    word[1] = shift == 0 ? 0 : m >> (64 - shift);
    return made(sign, word, 2, low);
}

number number_of(double x) {
    int exponent;
    double fraction = frexp(fabs(x), &exponent);
    if (!isfinite(x)) abort(); /* a bug in the test */
    return shifted(x < 0.0 ? -1 : 1, (uint64_t)ldexp(fraction, 53), exponent - 53);
}

number number_power(int k) {
    return shifted(1, 1, k);
}

number number_negate(number a) {
    a.sign = -a.sign;
    return a;
}

number number_abs(number a) {
    a.sign = a.sign != 0;
    return a;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* The word of weight 2^(64 position). */
static uint64_t word_at(const number *a, int32_t position) {
    int32_t i = position - a->low;
    return i >= 0 && i < a->count ? a->word[i] : 0;
}

static int compare_sizes(number a, number b) {
    if (a.count == 0 || b.count == 0) return (a.count != 0) - (b.count != 0);
    int32_t top_a = a.low + a.count, top_b = b.low + b.count;
    if (top_a != top_b) return top_a > top_b ? 1 : -1;
    int32_t low = a.low < b.low ? a.low : b.low;
    for (int32_t position = top_a - 1; position >= low; --position) {
        uint64_t wa = word_at(&a, position), wb = word_at(&b, position);
        if (wa != wb) return wa > wb ? 1 : -1;
    }
    return 0;
}

static number add_sizes(int sign, number a, number b) {
    int32_t low = a.low < b.low ? a.low : b.low;
    int32_t top_a = a.low + a.count, top_b = b.low + b.count, top = top_a > top_b ? top_a : top_b;
    uint64_t *word = take((size_t)(top - low + 1)), carry = 0;
    for (int32_t position = low; position <= top; ++position) {
        double_word sum = (double_word)word_at(&a, position) + word_at(&b, position) + carry;
        word[position - low] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    return made(sign, word, top - low + 1, low);
}

/* |a| >= |b| */
static number sub_sizes(int sign, number a, number b) {
    int32_t low = a.low < b.low ? a.low : b.low, top = a.low + a.count;
    uint64_t *word = take((size_t)(top - low)), borrow = 0;
    for (int32_t position = low; position < top; ++position) {
        double_word less = (double_word)word_at(&b, position) + borrow;
        uint64_t from = word_at(&a, position);
        word[position - low] = from - (uint64_t)less;
        borrow = less > from;
    }
    return made(sign, word, top - low, low);
}

number number_add(number a, number b) {
    if (a.sign == 0) return b;
    if (b.sign == 0) return a;
    if (a.sign == b.sign) return add_sizes(a.sign, a, b);
    int order = compare_sizes(a, b);
    if (order == 0) return (number){0};
    return order > 0 ? sub_sizes(a.sign, a, b) : sub_sizes(b.sign, b, a);
}

number number_sub(number a, number b) {
    return number_add(a, number_negate(b));
}

int number_compare(number a, number b) {
    if (a.sign != b.sign) return a.sign > b.sign ? 1 : -1;
    return a.sign * compare_sizes(a, b);
}

bool number_within(number a, number b, number bound) {
    return number_compare(number_abs(number_sub(a, b)), bound) <= 0;
}

/* ---- multiplying ----------------------------------------------------------------------------- */

number number_mul(number a, number b) {
    if (a.sign == 0 || b.sign == 0) return (number){0};
    int32_t count = a.count + b.count;
    uint64_t *word = take((size_t)count);
    memset(word, 0, (size_t)count * sizeof(*word));
    for (int32_t i = 0; i < a.count; ++i) {
        uint64_t carry = 0;
        for (int32_t j = 0; j < b.count; ++j) {
            double_word sum = (double_word)a.word[i] * b.word[j] + word[i + j] + carry;
            word[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        word[i + b.count] = carry;
    }
    return made(a.sign * b.sign, word, count, a.low + b.low);
}

number number_cut(number a, int bits) {
    int32_t keep = bits / 64 + 2;
    if (a.count <= keep) return a;
    int32_t drop = a.count - keep;
    return made(a.sign, a.word + drop, keep, a.low + drop);
}

/* ---- dividing -------------------------------------------------------------------------------- */

/* Knuth 4.3.1 D: the top word of the divisor has its highest bit set, so that each word guessed
 * from the top two is at most two too large. */
number number_div(number a, number b, int bits) {
    if (b.sign == 0) abort(); /* a bug in the test */
    if (a.sign == 0) return a;
    int sign = a.sign * b.sign;
    number shift = number_power(__builtin_clzll(b.word[b.count - 1]));
    a = number_mul(number_abs(a), shift);
    b = number_mul(number_abs(b), shift);
    int32_t wanted = bits / 64 + 2, n = b.count;
    int32_t pad = wanted + n - a.count; /* zeros below a, for enough words of the quotient */
    if (pad < 0) pad = 0;
    int32_t m = a.count + pad; /* the rest has m + 1 words, the quotient m - n + 1 */
    uint64_t *rest = take((size_t)m + 1), *quotient = take((size_t)(m - n) + 1);
    memset(rest, 0, (size_t)(m + 1) * sizeof(*rest));
    memcpy(rest + pad, a.word, (size_t)a.count * sizeof(*rest));
    uint64_t top = b.word[n - 1];
    for (int32_t j = m - n; j >= 0; --j) {
        double_word head = ((double_word)rest[j + n] << 64) | rest[j + n - 1];
        double_word guess = head / top;
        if (guess >> 64 != 0) guess = UINT64_MAX;
        uint64_t carry = 0, borrow = 0;
        for (int32_t i = 0; i < n; ++i) {
            double_word product = (double_word)(uint64_t)guess * b.word[i] + carry;
            carry = (uint64_t)(product >> 64);
            double_word less = (double_word)(uint64_t)product + borrow;
            borrow = less > rest[i + j];
            rest[i + j] -= (uint64_t)less;
        }
        double_word less = (double_word)carry + borrow;
        borrow = less > rest[j + n];
        rest[j + n] -= (uint64_t)less;
        while (borrow != 0) { /* guessed too large: add one divisor back */
            uint64_t over = 0;
            --guess;
            for (int32_t i = 0; i < n; ++i) {
                double_word sum = (double_word)rest[i + j] + b.word[i] + over;
                rest[i + j] = (uint64_t)sum;
                over = (uint64_t)(sum >> 64);
            }
            double_word sum = (double_word)rest[j + n] + over;
            rest[j + n] = (uint64_t)sum;
            if (sum >> 64 != 0) borrow = 0;
        }
        quotient[j] = (uint64_t)guess;
    }
    return made(sign, quotient, m - n + 1, a.low - pad - b.low);
}

int number_exponent(number a) {
    return 64 * (a.low + a.count) - 1 - __builtin_clzll(a.word[a.count - 1]);
}

number number_sqrt(number a, int bits) {
    if (a.sign == 0) return a;
    int half = number_exponent(a) / 2;
    number small = number_mul(a, number_power(-2 * half)); /* in [1/4, 4) */
    number root = number_of(sqrt(number_show(small)));
    for (int right = 48; right < bits + 4; right *= 2) { /* Newton doubles the digits */
        number other = number_div(small, root, bits + 64);
        root = number_mul(number_add(root, other), number_power(-1));
        root = number_cut(root, bits + 64);
    }
    return number_mul(root, number_power(half));
}

double number_show(number a) {
    if (a.sign == 0) return 0.0;
    double top = (double)a.word[a.count - 1];
    if (a.count > 1) top += ldexp((double)a.word[a.count - 2], -64);
    return a.sign * ldexp(top, 64 * (a.low + a.count - 1));
}

number number_ulp(double x) {
    int exponent;
    (void)frexp(x, &exponent);
    if (x == 0.0 || exponent < -1021) exponent = -1021;
    return number_power(exponent - 53);
}

/* ---- quotients ------------------------------------------------------------------------------- */

ratio ratio_of(number top, number bottom) {
    if (bottom.sign == 0) abort(); /* a bug in the test */
    if (bottom.sign < 0) return (ratio){number_negate(top), number_negate(bottom)};
    return (ratio){top, bottom};
}

int ratio_compare(ratio a, ratio b) {
    if (a.top.sign != b.top.sign) return a.top.sign > b.top.sign ? 1 : -1;
    return number_compare(number_mul(a.top, b.bottom), number_mul(b.top, a.bottom));
}

double ratio_show(ratio a) {
    return number_show(number_div(a.top, a.bottom, 64));
}

double ratio_round(ratio a) {
    return fabs(ratio_show(a));
}

bool ratio_within(double x, ratio a, number bound) {
    return number_within(number_mul(number_of(x), a.bottom), a.top, number_mul(bound, a.bottom));
}

bool ratio_root_within(double x, ratio a, number bound) {
    number low = number_sub(number_of(x), bound), high = number_add(number_of(x), bound);
    if (high.sign < 0) return false;
    if (number_compare(number_mul(number_mul(high, high), a.bottom), a.top) < 0) return false;
    return low.sign <= 0 || number_compare(number_mul(number_mul(low, low), a.bottom), a.top) <= 0;
}

/* ---- vectors --------------------------------------------------------------------------------- */

number3 number3_of(carom_vec3 v) {
    return (number3){{number_of(v.x), number_of(v.y), number_of(v.z)}};
}

number3 number3_add(number3 a, number3 b) {
    for (int k = 0; k < 3; ++k) a.x[k] = number_add(a.x[k], b.x[k]);
    return a;
}

number3 number3_sub(number3 a, number3 b) {
    for (int k = 0; k < 3; ++k) a.x[k] = number_sub(a.x[k], b.x[k]);
    return a;
}

number3 number3_scale(number3 a, number by) {
    for (int k = 0; k < 3; ++k) a.x[k] = number_mul(a.x[k], by);
    return a;
}

number3 number3_cross(number3 a, number3 b) {
    number3 c;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        c.x[k] = number_sub(number_mul(a.x[i], b.x[j]), number_mul(a.x[j], b.x[i]));
    }
    return c;
}

number number3_dot(number3 a, number3 b) {
    number sum = number_mul(a.x[0], b.x[0]);
    sum = number_add(sum, number_mul(a.x[1], b.x[1]));
    return number_add(sum, number_mul(a.x[2], b.x[2]));
}

bool number3_is_zero(number3 a) {
    return a.x[0].sign == 0 && a.x[1].sign == 0 && a.x[2].sign == 0;
}
