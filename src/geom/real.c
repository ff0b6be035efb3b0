/* SPDX-License-Identifier: MIT */
/* Ball arithmetic (Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval
 * arithmetic", 2017): every operation rounds its midpoint and adds to the radius its rounding error
 * and the errors of its operands. So no error analysis is needed where speed does not matter: the
 * radius bounds the error, and the caller repeats the computation with more limbs if it is too
 * large.
 *
 * Radii are doubles with an exponent of their own, always rounded up: each operation on them is
 * within 2^-52 of its exact result, and is made larger by 2^-50 of itself. Quotients and roots are
 * computed by Newton's iteration on midpoints and bounded afterwards by their residue. */
#include "geom/real.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"

__extension__ typedef unsigned __int128 real_wide;

/* Factors that bound a value which a few operations rounded, from above and from below. */
#define ROUNDED_UP        (1.0 + 0x1p-50)
#define REAL_ROUNDED_DOWN (1.0 - 0x1p-50)
/* The same for a midpoint of which 53 bits are kept: less than 2^-52 of it is cut off, and the
 * product with this rounds once. */
#define REAL_CUT_UP (1.0 + 0x1p-51)

/* Bits between the exponents of two bounds beyond which the smaller, whose fraction is below 1,
 * counts as this part of 2^(the larger's exponent): twice 2^-60, and nothing beside 2^-50. */
#define REAL_NEGLIGIBLE_BITS 60
#define REAL_NEGLIGIBLE      0x1p-59

/* As exponents of two, of bounds as doubles: larger ones are infinite, smaller ones, whose last
 * bits a subnormal would lose, are the least bound. */
#define REAL_BOUND_EXPONENT_MOST  1023
#define REAL_BOUND_EXPONENT_LEAST (-1072)
#define REAL_BOUND_LEAST          0x1p-1072
/* Bounds below the first may have been rounded down by half of 2^-1074, which they are multiples
 * of, where they are subnormal; the second is added. */
#define REAL_BOUND_COARSE 0x1p-1000
#define REAL_BOUND_STEP   0x1p-1073

/* ---- Bounds ---------------------------------------------------------------------------------- */

static const carom_bound unbounded = {HUGE_VAL, 0};

static carom_bound bound_normal(double m, int e) {
    carom_bound b = {m, 0};
    int shift = 0;
    if (!(m > 0.0) || m > DBL_MAX) return b;
    b.m = frexp(m, &shift);
    b.e = e + shift;
    return b;
}

carom_bound carom_bound_make(double x) {
    return bound_normal(fabs(x), 0);
}

carom_bound carom_bound_add(carom_bound a, carom_bound b) {
    if (a.m == 0.0 || b.m > DBL_MAX) return b;
    if (b.m == 0.0 || a.m > DBL_MAX) return a;
    if (a.e < b.e) {
        carom_bound c = a;
        a = b;
        b = c;
    }
    double low = a.e - b.e < REAL_NEGLIGIBLE_BITS ? ldexp(b.m, b.e - a.e) : REAL_NEGLIGIBLE;
    return bound_normal((a.m + low) * ROUNDED_UP, a.e);
}

carom_bound carom_bound_mul(carom_bound a, carom_bound b) {
    if (a.m > DBL_MAX || b.m > DBL_MAX) return unbounded;
    return bound_normal(a.m * b.m * ROUNDED_UP, a.e + b.e);
}

/* a / b, rounded up; b is a lower bound. */
static carom_bound bound_divide(carom_bound a, carom_bound b) {
    if (a.m > DBL_MAX || b.m == 0.0) return unbounded;
    return bound_normal(a.m / b.m * ROUNDED_UP, a.e - b.e);
}

static carom_bound power_of_two(int e) {
    carom_bound b = {0.5, e + 1};
    return b;
}

bool carom_bound_within(carom_bound a, carom_bound b, int power) {
    if (a.m == 0.0) return true;
    if (a.m > DBL_MAX || b.m == 0.0) return false;
    return a.e != b.e + power ? a.e < b.e + power : a.m <= b.m;
}

/* ---- Midpoints ------------------------------------------------------------------------------- */

static void set_zero(carom_real *r, carom_bound radius) {
    r->sign = 0;
    r->exponent = 0;
    r->radius = radius;
}

/* r = sign 0.limbs 2^exponent from `count` limbs that need not be normal, rounded towards zero. */
static void real_normalize(carom_real *r, int sign, int exponent, const uint64_t *limb, int count,
                           carom_bound radius, int n) {
    int top = count;
    while (top > 0 && limb[top - 1] == 0) --top;
    if (top == 0) {
        set_zero(r, radius);
        return;
    }
    exponent -= 64 * (count - top);
    int shift = 0;
    while (limb[top - 1] << shift >> 63 == 0) ++shift;
    bool lost = false;
    for (int i = 0; i < n; ++i) {
        int from = top - 1 - i;
        uint64_t high = from >= 0 ? limb[from] << shift : 0;
        if (shift != 0 && from >= 1) high |= limb[from - 1] >> (64 - shift);
        r->limb[n - 1 - i] = high;
    }
    if (top > n) {
        lost = shift != 0 && limb[top - 1 - n] << shift != 0;
        for (int i = top - 1 - n - (shift != 0 ? 1 : 0); i >= 0 && !lost; --i) lost = limb[i] != 0;
        if (shift == 0) lost = lost || limb[top - 1 - n] != 0;
    }
    r->sign = sign;
    r->exponent = exponent - shift;
    r->radius = lost ? carom_bound_add(radius, power_of_two(r->exponent - 64 * n)) : radius;
}

void carom_real_set(carom_real *r, double x, int n) {
    int exponent;
    double fraction = frexp(x, &exponent);
    set_zero(r, (carom_bound){0.0, 0});
    if (x == 0.0) return;
    memset(r->limb, 0, (size_t)n * sizeof(r->limb[0]));
    r->sign = x < 0.0 ? -1 : 1;
    r->exponent = exponent;
    r->limb[n - 1] = (uint64_t)ldexp(fabs(fraction), 64);
}

void carom_real_extend(carom_real *r, int from, int n) {
    if (from == n || r->sign == 0) return;
    memmove(r->limb + (n - from), r->limb, (size_t)from * sizeof(r->limb[0]));
    memset(r->limb, 0, (size_t)(n - from) * sizeof(r->limb[0]));
}

/* An upper and, for REAL_ROUNDED_DOWN, a lower bound of the midpoint's magnitude. */
static carom_bound real_middle(const carom_real *a, int n, double direction) {
    if (a->sign == 0) return (carom_bound){0.0, 0};
    return bound_normal(ldexp((double)(a->limb[n - 1] >> 11), -53) *
                            (direction > 1.0 ? REAL_CUT_UP : 1.0),
                        a->exponent);
}

carom_bound carom_real_upper(const carom_real *a, int n) {
    return carom_bound_add(real_middle(a, n, ROUNDED_UP), a->radius);
}

carom_bound carom_real_lower(const carom_real *a, int n) {
    carom_bound low = real_middle(a, n, REAL_ROUNDED_DOWN), none = {0.0, 0};
    if (!carom_bound_within(a->radius, low, 0)) return none;
    int apart = low.e - a->radius.e;
    double off = a->radius.m == 0.0             ? 0.0
                 : apart < REAL_NEGLIGIBLE_BITS ? ldexp(a->radius.m, -apart)
                                                : REAL_NEGLIGIBLE;
    double left = (low.m - off) * REAL_ROUNDED_DOWN;
    return left > 0.0 ? bound_normal(left, low.e) : none;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* r = a + sign b. One limb more than n is kept below the larger operand's. */
static void add_signed(carom_real *r, const carom_real *a, const carom_real *b, int sign, int n) {
    carom_bound radius = carom_bound_add(a->radius, b->radius);
    int sign_a = a->sign, sign_b = sign * b->sign;
    if (sign_a == 0 || sign_b == 0) {
        const carom_real *other = sign_a == 0 ? b : a;
        int keep = sign_a == 0 ? sign_b : sign_a;
        if (r != other) {
            r->exponent = other->exponent;
            memcpy(r->limb, other->limb, (size_t)n * sizeof(r->limb[0]));
        }
        r->sign = keep;
        r->radius = radius;
        return;
    }
    if (a->exponent < b->exponent) {
        const carom_real *c = a;
        a = b;
        b = c;
        int s = sign_a;
        sign_a = sign_b;
        sign_b = s;
    }
    uint64_t x[CAROM_REAL_MOST + 2], y[CAROM_REAL_MOST + 2]; /* x >= y / 2, one limb for a carry */
    int count = n + 2, apart = a->exponent - b->exponent, limbs = apart / 64, bits = apart % 64;
    x[0] = 0;
    memcpy(x + 1, a->limb, (size_t)n * sizeof(x[0]));
    x[n + 1] = 0;
    bool lost = false;
    for (int i = 0; i <= n; ++i) {
        int from = i + limbs - 1; /* the limb of b that lands here, before the shift by bits */
        uint64_t low = from >= 0 && from < n ? b->limb[from] : 0;
        uint64_t high = from + 1 >= 0 && from + 1 < n ? b->limb[from + 1] : 0;
        y[i] = bits == 0 ? low : low >> bits | high << (64 - bits);
    }
    y[n + 1] = 0;
    for (int i = 0; i < n && i <= limbs - 2 && !lost; ++i) lost = b->limb[i] != 0;
    if (limbs >= 1 && limbs - 1 < n && bits != 0 && b->limb[limbs - 1] << (64 - bits) != 0)
        lost = true;
    CAROM_ASSERT(apart >= 0 && n >= 1 && n <= CAROM_REAL_MOST);
    if (lost) radius = carom_bound_add(radius, power_of_two(a->exponent - 64 * (n + 1)));
    uint64_t carry = 0;
    if (sign_a == sign_b) {
        for (int i = 0; i < count; ++i) {
            real_wide sum = (real_wide)x[i] + y[i] + carry;
            x[i] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    } else {
        for (int i = 0; i < count; ++i) {
            real_wide difference = (real_wide)x[i] - y[i] - carry;
            x[i] = (uint64_t)difference;
            carry = (uint64_t)(difference >> 64) & 1u;
        }
        if (carry != 0) { /* equal exponents, and b the larger */
            uint64_t up = 1;
            for (int i = 0; i < count; ++i) {
                x[i] = ~x[i] + up;
                up = up != 0 && x[i] == 0 ? 1 : 0;
            }
            sign_a = -sign_a;
        }
    }
    real_normalize(r, sign_a, a->exponent + 64, x, count, radius, n);
}

void carom_real_add(carom_real *r, const carom_real *a, const carom_real *b, int n) {
    add_signed(r, a, b, 1, n);
}

void carom_real_sub(carom_real *r, const carom_real *a, const carom_real *b, int n) {
    add_signed(r, a, b, -1, n);
}

/* ---- Products -------------------------------------------------------------------------------- */

void carom_real_mul(carom_real *r, const carom_real *a, const carom_real *b, int n) {
    carom_bound radius = {0.0, 0};
    if (a->radius.m != 0.0 || b->radius.m != 0.0) {
        carom_bound size_a = real_middle(a, n, ROUNDED_UP), size_b = carom_real_upper(b, n);
        radius =
            carom_bound_add(carom_bound_mul(a->radius, size_b), carom_bound_mul(size_a, b->radius));
    }
    if (a->sign == 0 || b->sign == 0) {
        set_zero(r, radius);
        return;
    }
    uint64_t product[2 * CAROM_REAL_MOST];
    CAROM_ASSERT(n >= 1 && n <= CAROM_REAL_MOST);
    memset(product, 0, 2 * (size_t)n * sizeof(product[0]));
    for (int i = 0; i < n; ++i) {
        uint64_t factor = a->limb[i], carry = 0;
        if (factor == 0) continue;
        for (int j = 0; j < n; ++j) {
            real_wide sum = (real_wide)factor * b->limb[j] + product[i + j] + carry;
            product[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        product[i + n] = carry;
    }
    real_normalize(r, a->sign * b->sign, a->exponent + b->exponent, product, 2 * n, radius, n);
}

void carom_real_scale(carom_real *r, int64_t times, int n) {
    carom_real factor;
    carom_real_set(&factor, (double)times, n);
    carom_real_mul(r, r, &factor, n);
}

/* ---- Quotients and roots --------------------------------------------------------------------- */

/* The midpoint as a number without error, and its leading bits with an exponent of 0 or 1. */
static void exact_middle(carom_real *r, const carom_real *a, int n) {
    if (r != a) memcpy(r, a, sizeof(*r) - sizeof(r->limb) + (size_t)n * sizeof(r->limb[0]));
    r->radius = (carom_bound){0.0, 0};
}

static int rounds_for(int n) {
    int rounds = 0;
    for (int bits = 48; bits < 64 * n + 8; bits *= 2) ++rounds;
    return rounds;
}

static void real_half(carom_real *r) {
    if (r->sign != 0) --r->exponent;
}

void carom_real_divide(carom_real *r, const carom_real *a, const carom_real *b, int n) {
    carom_bound least = carom_real_lower(b, n);
    if (least.m == 0.0) {
        set_zero(r, unbounded);
        return;
    }
    carom_real one, inverse, divisor, q, t;
    CAROM_ASSERT(b->sign != 0 && b->limb[n - 1] >> 63 == 1);
    exact_middle(&divisor, b, n);
    carom_real_set(&one, 1.0, n);
    carom_real_set(&inverse, 1.0 / ldexp((double)(b->limb[n - 1] >> 11), -53), n);
    inverse.sign = b->sign;
    inverse.exponent -= b->exponent;
    for (int i = rounds_for(n); i > 0; --i) { /* 1/b = x + x (1 - b x) */
        carom_real_mul(&t, &divisor, &inverse, n);
        carom_real_sub(&t, &one, &t, n);
        carom_real_mul(&t, &t, &inverse, n);
        carom_real_add(&inverse, &inverse, &t, n);
        exact_middle(&inverse, &inverse, n);
    }
    carom_real_mul(&q, a, &inverse, n);
    exact_middle(&q, &q, n);
    carom_real_mul(&t, &q, b, n);
    carom_real_sub(&t, a, &t, n);
    q.radius = bound_divide(carom_real_upper(&t, n), least);
    *r = q;
}

void carom_real_root(carom_real *r, const carom_real *a, int n) {
    carom_bound least = carom_real_lower(a, n);
    if (a->sign <= 0 || least.m == 0.0) {
        set_zero(r, unbounded);
        return;
    }
    carom_real one, inverse, radicand, s, t;
    CAROM_ASSERT(a->sign > 0 && a->limb[n - 1] >> 63 == 1);
    exact_middle(&radicand, a, n);
    carom_real_set(&one, 1.0, n);
    int odd = a->exponent & 1;
    double lead = ldexp((double)(a->limb[n - 1] >> 11), -53 + odd);
    carom_real_set(&inverse, 1.0 / sqrt(lead), n);
    inverse.exponent -= (a->exponent - odd) / 2;
    for (int i = rounds_for(n); i > 0; --i) { /* 1/sqrt(a) = x + x (1 - a x^2) / 2 */
        carom_real_mul(&t, &inverse, &inverse, n);
        carom_real_mul(&t, &t, &radicand, n);
        carom_real_sub(&t, &one, &t, n);
        carom_real_mul(&t, &t, &inverse, n);
        real_half(&t);
        carom_real_add(&inverse, &inverse, &t, n);
        exact_middle(&inverse, &inverse, n);
    }
    carom_real_mul(&s, &radicand, &inverse, n);
    exact_middle(&s, &s, n);
    /* |sqrt a - s| = |a - s^2| / (sqrt a + s) */
    carom_real_mul(&t, &s, &s, n);
    carom_real_sub(&t, a, &t, n);
    s.radius = bound_divide(carom_real_upper(&t, n), carom_real_lower(&s, n));
    *r = s;
}

/* ---- Conversion to doubles ------------------------------------------------------------------- */

/* The double nearest to the midpoint times 2^power, but for the largest finite one. */
static double real_nearest(const carom_real *a, int power, int n) {
    if (a->sign == 0) return 0.0;
    int exponent = a->exponent + power, keep = exponent < -1021 ? exponent + 1074 : 53;
    if (exponent > 1024) return a->sign < 0 ? -DBL_MAX : DBL_MAX;
    if (keep < 0) return 0.0;
    /* keep bits of the top limb, the rest decides by its highest bit and whether any other is set
     */
    uint64_t top = a->limb[n - 1], kept = keep == 0 ? 0 : top >> (64 - keep);
    uint64_t rest = top << keep, half_bit = UINT64_C(1) << 63;
    bool more = false;
    for (int i = 0; i < n - 1 && !more; ++i) more = a->limb[i] != 0;
    if (rest > half_bit || (rest == half_bit && (more || (kept & 1) != 0))) ++kept;
    double value = ldexp((double)kept, exponent - keep);
    value = value <= DBL_MAX ? value : DBL_MAX;
    return a->sign < 0 ? -value : value;
}

double carom_real_round(const carom_real *a, int power, int n, double *error) {
    carom_real rounded, off;
    if (a->radius.m > DBL_MAX) {
        *error = HUGE_VAL;
        return 0.0;
    }
    double value = real_nearest(a, power, n);
    if (fabs(value) == DBL_MAX) {
        *error = HUGE_VAL;
        return value;
    }
    carom_real_set(&rounded, value, n);
    rounded.exponent -= rounded.sign != 0 ? power : 0;
    carom_real_sub(&off, a, &rounded, n);
    carom_bound most = carom_real_upper(&off, n);
    int e = most.e + power;
    *error = most.m == 0.0                   ? 0.0
             : e > REAL_BOUND_EXPONENT_MOST  ? HUGE_VAL
             : e < REAL_BOUND_EXPONENT_LEAST ? REAL_BOUND_LEAST
                                             : ldexp(most.m, e);
    if (*error > 0.0 && *error < REAL_BOUND_COARSE) *error += REAL_BOUND_STEP;
    return value;
}
