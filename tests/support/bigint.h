/* SPDX-License-Identifier: MIT */
/* bigint.h: integers of BIG_WORDS 64-bit words in two's complement, for oracles. School arithmetic,
 * nothing clever; the caller sees to it that values fit. Include it through triangle_oracle.h. */
typedef struct BIG(int) {
    uint64_t word[BIG_WORDS];
} BIG(int);

static inline BIG(int) BIG(from)(int64_t value) {
    BIG(int) a;
    a.word[0] = (uint64_t)value;
    for (int i = 1; i < BIG_WORDS; ++i) a.word[i] = value < 0 ? UINT64_MAX : 0;
    return a;
}

static inline BIG(int) BIG(add)(BIG(int) a, BIG(int) b) {
    uint64_t carry = 0;
    for (int i = 0; i < BIG_WORDS; ++i) {
        uint64_t sum = a.word[i] + b.word[i];
        uint64_t over = sum < b.word[i];
        a.word[i] = sum + carry;
        carry = over | (a.word[i] < carry);
    }
    return a;
}

static inline BIG(int) BIG(negate)(BIG(int) a) {
    for (int i = 0; i < BIG_WORDS; ++i) a.word[i] = ~a.word[i];
    return BIG(add)(a, BIG(from)(1));
}

static inline BIG(int) BIG(sub)(BIG(int) a, BIG(int) b) {
    return BIG(add)(a, BIG(negate)(b));
}

static inline int BIG(sign)(BIG(int) a) {
    if (a.word[BIG_WORDS - 1] >> 63 != 0) return -1;
    for (int i = 0; i < BIG_WORDS; ++i)
        if (a.word[i] != 0) return 1;
    return 0;
}

/* Words up to the highest that is not zero. */
static inline int BIG(length)(const BIG(int) * a) {
    int n = BIG_WORDS;
    while (n > 0 && a->word[n - 1] == 0) --n;
    return n;
}

static inline BIG(int) BIG(mul)(BIG(int) a, BIG(int) b) {
    BIG(int) product = BIG(from)(0);
    int negative = (BIG(sign)(a) < 0) != (BIG(sign)(b) < 0);
    if (BIG(sign)(a) < 0) a = BIG(negate)(a);
    if (BIG(sign)(b) < 0) b = BIG(negate)(b);
    int na = BIG(length)(&a), nb = BIG(length)(&b);
    if (na + nb > BIG_WORDS + 1) abort(); /* a bug in the test */
    for (int i = 0; i < na; ++i) {
        uint64_t carry = 0;
        for (int j = 0; j < nb && i + j < BIG_WORDS; ++j) {
            bigint_double_word sum = (bigint_double_word)a.word[i] * b.word[j];
            sum += product.word[i + j];
            sum += carry;
            product.word[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        if (i + nb < BIG_WORDS) product.word[i + nb] = carry;
    }
    return negative ? BIG(negate)(product) : product;
}

/* x / 2^base, which must be an integer. */
static inline BIG(int) BIG(from_double)(double x, int base) {
    int exponent;
    double fraction = frexp(x, &exponent); /* x = fraction 2^exponent */
    int64_t mantissa = (int64_t)ldexp(fraction, 53);
    int shift = exponent - 53 - base;
    if (mantissa == 0) return BIG(from)(0);
    for (; shift < 0 && mantissa % 2 == 0; ++shift) mantissa /= 2;
    uint64_t size = (uint64_t)(mantissa < 0 ? -mantissa : mantissa);
    if (shift < 0 || shift + 53 >= 64 * BIG_WORDS) abort(); /* a bug in the test */
    BIG(int) a = BIG(from)(0);
    a.word[shift / 64] = size << shift % 64;
    if (shift % 64 != 0 && shift / 64 + 1 < BIG_WORDS)
        a.word[shift / 64 + 1] = size >> (64 - shift % 64);
    return mantissa < 0 ? BIG(negate)(a) : a;
}
