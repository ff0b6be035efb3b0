/* SPDX-License-Identifier: MIT */
/* Times of impact in integers: the last stage of toi_item.h, for any finite doubles.
 *
 * Coordinates are integers times one power of two. A polynomial is homogeneous in x = 1 - t and
 * y = t: sum of c[i] x^(n-i) y^i. So products are convolutions, coefficients are Bernstein
 * coefficients up to binomials, and halving the interval takes additions and shifts.
 *
 * f is not zero: contact is at one of its roots. They are isolated by counting sign changes of the
 * coefficients (Descartes' rule in Bernstein form; Collins, Akritas 1976), which ends because
 * multiple roots are rational and found first, by the discriminant. At a root r:
 *   - whether a vector V of three quadratics vanishes there is decided by the resultants of its
 *     components. Every V in use (n and the Q_i) makes f vanish as well, so a common root in
 *     r's interval is r;
 *   - a quadratic that does not vanish at r gets its sign by halving r's interval until its
 *     coefficients have one sign;
 *   - n is not zero: the Q_i are parallel to n, so one component of each is compared;
 *   - n is zero: the triangle is a segment, or the segments are parallel. Then they meet where
 *     a point lies on a segment: Q_i = 0 and h = (p - a).(p - b) <= 0.
 *
 * f is zero: all four points stay in one plane. They meet at t = 0, or first where a point gets on
 * a segment: the Q_i = 0 with h <= 0 again.
 *
 * Sizes. With coordinates of b bits the discriminant has 12 b, a resultant 8 b. The value of a
 * quadratic at a root of f, if not zero, is at least some 2^-12b of its size: so many halvings are
 * the most. Then f has 39 b bits and a quadratic 26 b, and halving them takes 13 times the first
 * and three times the second: the memory suffices for b = 220. Beyond, and only if more is needed
 * than there is, the answer is a hit at an unknown time, never a miss. */
#include "geom/toi.h"

#include <string.h>

#include "base/double_parts.h"
#include "geom/triangle_item.h"

__extension__ typedef unsigned __int128 toi_exact_wide;

/* Memory, in words of 64 bits, that suffices for coordinates of 220 bits (see "Sizes" above). */
#define LIMB_BITS     64
#define KEEP_LIMBS    5120 /* 40 KiB: polynomials */
#define SCRATCH_LIMBS 2048 /* 16 KiB, twice: polynomials on part of the interval */
/* Halvings of an interval, 12 b: enough for coordinates of 170 bits. */
#define MOST_DEPTH 2048

/* Times are enclosed by multiples of 2^-TIME_DEPTH, which is TIME_UNIT: those below 1 are doubles,
 * with three bits left for the roundings of a bisection. */
#define TIME_DEPTH 50
#define TIME_UNIT  0x1p-50
/* Of these, from a root found in doubles: an interval of 2^-37. Three reaches are tried, each
 * larger by the ratio than the one before. */
#define TIGHT_REACH       4096
#define TIGHT_REACH_LEAST 1
#define TIGHT_REACH_RATIO 64

/* Bits by which a bracket is narrowed at a time: with the 13 of a span of 2 TIGHT_REACH they fit a
 * double, whose 53 bits give the place in it. NARROW_UNITS is 2^NARROW_BITS. */
#define NARROW_BITS  40
#define NARROW_UNITS 0x1p40
/* In units of the narrowed bracket, around the secant's root: three reaches are tried, up to
 * TIGHT_REACH. */
#define NARROW_REACH_LEAST 16
#define NARROW_REACH_RATIO 16
/* Times that a bracket is narrowed, by more bits in all than MOST_DEPTH; then halving continues. */
#define TOI_EXACT_NARROWING_STEPS 64

/* Above the exponents of the mantissas of all doubles, which are at most 971. */
#define BASE_OF_NONE 1024

/* ---- Integers -------------------------------------------------------------------------------- */

/* Bump allocation. When it is full, results are zero and `full` says that they are wrong. */
typedef struct toi_exact_pool {
    uint64_t *limbs;
    int used, size;
    bool full;
} toi_exact_pool;

typedef struct integer {
    int sign, count; /* the highest limb is not zero */
    const uint64_t *limb;
} integer;

static const integer zero = {0, 0, NULL};

static uint64_t *toi_exact_take(toi_exact_pool *p, int count) {
    if (p->full || count > p->size - p->used) {
        p->full = true;
        return NULL;
    }
    uint64_t *limbs = p->limbs + p->used;
    p->used += count;
    return limbs;
}

/* Drops leading zeros of the last limbs taken, and gives them back. */
static integer toi_exact_normalize(toi_exact_pool *p, uint64_t *limb, int count, int sign) {
    while (count > 0 && limb[count - 1] == 0) --count;
    p->used = (int)(limb - p->limbs) + count;
    return (integer){count == 0 ? 0 : sign, count, limb};
}

static integer toi_exact_copy(toi_exact_pool *p, integer a) {
    uint64_t *limb = toi_exact_take(p, a.count);
    if (limb == NULL) return zero;
    if (a.count != 0) memcpy(limb, a.limb, (size_t)a.count * sizeof(*limb));
    return (integer){a.sign, a.count, limb};
}

static integer negate(integer a) {
    a.sign = -a.sign;
    return a;
}

static int compare_size(integer a, integer b) {
    if (a.count != b.count) return a.count < b.count ? -1 : 1;
    for (int i = a.count - 1; i >= 0; --i)
        if (a.limb[i] != b.limb[i]) return a.limb[i] < b.limb[i] ? -1 : 1;
    return 0;
}

static integer toi_exact_add(toi_exact_pool *p, integer a, integer b) {
    if (a.count < b.count) {
        integer c = a;
        a = b;
        b = c;
    }
    if (b.sign == 0) return a;
    if (a.sign != b.sign) {
        int order = compare_size(a, b);
        if (order == 0) return zero;
        if (order < 0) {
            integer c = a;
            a = b;
            b = c;
        }
    }
    bool subtract = a.sign != b.sign;
    uint64_t *limb = toi_exact_take(p, a.count + 1), carry = subtract ? 1 : 0;
    if (limb == NULL) return zero;
    for (int i = 0; i < a.count; ++i) {
        uint64_t other = i < b.count ? b.limb[i] : 0;
        toi_exact_wide sum = (toi_exact_wide)a.limb[i] + (subtract ? ~other : other) + carry;
        limb[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> LIMB_BITS);
    }
    limb[a.count] = subtract ? 0 : carry;
    return toi_exact_normalize(p, limb, a.count + 1, a.sign);
}

static integer toi_exact_sub(toi_exact_pool *p, integer a, integer b) {
    return toi_exact_add(p, a, negate(b));
}

static integer toi_exact_multiply(toi_exact_pool *p, integer a, integer b) {
    if (a.sign == 0 || b.sign == 0) return zero;
    uint64_t *limb = toi_exact_take(p, a.count + b.count);
    if (limb == NULL) return zero;
    memset(limb, 0, (size_t)b.count * sizeof(*limb));
    for (int i = 0; i < a.count; ++i) {
        uint64_t carry = 0;
        for (int j = 0; j < b.count; ++j) {
            toi_exact_wide sum = (toi_exact_wide)a.limb[i] * b.limb[j] + limb[i + j] + carry;
            limb[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> LIMB_BITS);
        }
        limb[i + b.count] = carry;
    }
    return toi_exact_normalize(p, limb, a.count + b.count, a.sign * b.sign);
}

static integer toi_exact_shift(toi_exact_pool *p, integer a, int bits) {
    if (a.sign == 0 || bits == 0) return a;
    int limbs = bits / LIMB_BITS, low = bits % LIMB_BITS;
    uint64_t *limb = toi_exact_take(p, a.count + limbs + 1);
    if (limb == NULL) return zero;
    memset(limb, 0, (size_t)(limbs + 1) * sizeof(*limb));
    limb[a.count + limbs] = 0;
    for (int i = 0; i < a.count; ++i) {
        if (low == 0) {
            limb[i + limbs] = a.limb[i];
        } else {
            limb[i + limbs] |= a.limb[i] << low;
            limb[i + limbs + 1] = a.limb[i] >> (LIMB_BITS - low);
        }
    }
    return toi_exact_normalize(p, limb, a.count + limbs + 1, a.sign);
}

static integer small(toi_exact_pool *p, uint64_t value) {
    uint64_t *limb = toi_exact_take(p, 1);
    if (limb == NULL) return zero;
    limb[0] = value;
    return toi_exact_normalize(p, limb, 1, 1);
}

static integer toi_exact_times(toi_exact_pool *p, integer a, uint64_t factor) {
    return toi_exact_multiply(p, a, small(p, factor));
}

/* x / 2^base, which is an integer. */
static integer toi_exact_load(toi_exact_pool *p, double x, int base) {
    int exponent;
    uint64_t mantissa = carom_double_mantissa(x, &exponent);
    integer a = small(p, mantissa);
    if (mantissa != 0) a = toi_exact_shift(p, a, exponent - base);
    return x < 0.0 ? negate(a) : a;
}

/* ---- Polynomials ----------------------------------------------------------------------------- */

#define MOST_DEGREE 3

typedef struct poly {
    int degree;
    integer c[MOST_DEGREE + 1];
} poly;

/* A vector of polynomials of one degree. */
typedef struct vector {
    poly k[3];
} vector;

typedef struct solver {
    toi_exact_pool keep; /* polynomials on the whole interval, and everything made from them */
    toi_exact_pool scratch[2]; /* on parts of it: one halving goes from one pool to the other */
    uint64_t memory[KEEP_LIMBS + 2 * SCRATCH_LIMBS];
} solver;

static void toi_exact_begin(solver *s) {
    s->keep = (toi_exact_pool){s->memory, 0, KEEP_LIMBS, false};
    for (int i = 0; i < 2; ++i)
        s->scratch[i] =
            (toi_exact_pool){s->memory + KEEP_LIMBS + i * SCRATCH_LIMBS, 0, SCRATCH_LIMBS, false};
}

static bool failed(const solver *s) {
    return s->keep.full || s->scratch[0].full || s->scratch[1].full;
}

/* Sums are made in scratch, the result is kept. */
static toi_exact_pool *temporary(solver *s) {
    s->scratch[0].used = 0;
    return &s->scratch[0];
}

static bool is_zero(const poly *a) {
    for (int i = 0; i <= a->degree; ++i)
        if (a->c[i].sign != 0) return false;
    return true;
}

/* a + factor b, of one degree. */
static poly poly_add(solver *s, const poly *a, const poly *b, int factor) {
    poly sum = {.degree = a->degree};
    for (int i = 0; i <= a->degree; ++i)
        sum.c[i] = toi_exact_copy(
            &s->keep, toi_exact_add(temporary(s), a->c[i], factor < 0 ? negate(b->c[i]) : b->c[i]));
    return sum;
}

/* The sum of left[k] right[k], with signs. */
static poly toi_exact_products(solver *s, int count, const poly *const *left,
                               const poly *const *right, const int *signs) {
    poly sum = {.degree = left[0]->degree + right[0]->degree};
    CAROM_ASSERT(sum.degree <= MOST_DEGREE);
    for (int n = 0; n <= sum.degree; ++n) {
        toi_exact_pool *p = temporary(s);
        integer total = zero;
        for (int k = 0; k < count; ++k)
            for (int i = 0; i <= left[k]->degree; ++i) {
                int j = n - i;
                if (j < 0 || j > right[k]->degree) continue;
                integer term = toi_exact_multiply(p, left[k]->c[i], right[k]->c[j]);
                total = toi_exact_add(p, total, signs[k] < 0 ? negate(term) : term);
            }
        sum.c[n] = toi_exact_copy(&s->keep, total);
    }
    return sum;
}

static vector toi_exact_cross(solver *s, const vector *a, const vector *b) {
    static const int signs[2] = {1, -1};
    vector v;
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        const poly *left[2] = {&a->k[i], &a->k[j]}, *right[2] = {&b->k[j], &b->k[i]};
        v.k[k] = toi_exact_products(s, 2, left, right, signs);
    }
    return v;
}

static poly toi_exact_dot(solver *s, const vector *a, const vector *b) {
    static const int signs[3] = {1, 1, 1};
    const poly *left[3] = {&a->k[0], &a->k[1], &a->k[2]};
    const poly *right[3] = {&b->k[0], &b->k[1], &b->k[2]};
    return toi_exact_products(s, 3, left, right, signs);
}

static vector vector_add(solver *s, const vector *a, const vector *b, int factor) {
    vector v;
    for (int k = 0; k < 3; ++k) v.k[k] = poly_add(s, &a->k[k], &b->k[k], factor);
    return v;
}

/* Times x + y = 1: the same function of t, one degree higher. */
static poly toi_exact_raise(solver *s, const poly *a) {
    poly r = {.degree = a->degree + 1};
    for (int i = 0; i <= r.degree; ++i) {
        integer low = i > 0 ? a->c[i - 1] : zero, high = i <= a->degree ? a->c[i] : zero;
        r.c[i] = toi_exact_copy(&s->keep, toi_exact_add(temporary(s), low, high));
    }
    return r;
}

/* The value at (x, y), up to the power of x + y. */
static integer value_at_point(toi_exact_pool *p, const poly *a, integer x, integer y) {
    integer sum = a->c[0], power = y;
    for (int i = 1; i <= a->degree; ++i) { /* sum x + c[i] y^i */
        sum =
            toi_exact_add(p, toi_exact_multiply(p, sum, x), toi_exact_multiply(p, a->c[i], power));
        if (i < a->degree) power = toi_exact_multiply(p, power, y);
    }
    return sum;
}

static int sign_at_point(solver *s, const poly *a, integer x, integer y) {
    return value_at_point(temporary(s), a, x, y).sign;
}

/* Sign changes between coefficients: the roots inside the interval, or more by an even number. */
static int sign_changes(const poly *a) {
    int changes = 0, last = 0;
    for (int i = 0; i <= a->degree; ++i) {
        int sign = a->c[i].sign;
        if (sign == 0) continue;
        changes += last != 0 && sign != last;
        last = sign;
    }
    return changes;
}

/* The sign inside the interval, where no coefficient has another; else 0. */
static int sign_inside(const poly *a) {
    int sign = 0;
    if (sign_changes(a) != 0) return 0;
    for (int i = 0; i <= a->degree; ++i) sign = a->c[i].sign != 0 ? a->c[i].sign : sign;
    return sign;
}

/* The polynomial on the left (0) or right (1) half, times 2^degree: (x, y) become (2 x + y, y) or
 * (x, x + 2 y). The result is packed, so that the pool holds nothing else of this call. */
static poly toi_exact_half(toi_exact_pool *p, const poly *a, int side) {
    int n = a->degree, start = p->used;
    poly h = {.degree = n};
    for (int i = 0; i <= n; ++i) h.c[i] = a->c[side == 0 ? i : n - i];
    for (int j = n; j > 0; --j)
        for (int i = 1; i <= j; ++i) h.c[i] = toi_exact_add(p, h.c[i], h.c[i - 1]);
    for (int i = 0; i <= n; ++i) h.c[i] = toi_exact_shift(p, h.c[i], n - i);
    int total = 0;
    for (int i = 0; i <= n; ++i) total += h.c[i].count;
    uint64_t *packed = toi_exact_take(p, total);
    for (int i = 0; i <= n && packed != NULL; ++i) {
        if (h.c[i].count != 0) memcpy(packed, h.c[i].limb, (size_t)h.c[i].count * sizeof(*packed));
        packed += h.c[i].count;
    }
    if (p->full) return (poly){.degree = n};
    memmove(p->limbs + start, packed - total, (size_t)total * sizeof(*packed));
    p->used = start + total;
    const uint64_t *limb = p->limbs + start;
    for (int i = 0; i <= n; ++i) {
        h.c[i].limb = limb;
        limb += h.c[i].count;
    }
    for (int i = 0; side == 1 && i < n - i; ++i) {
        integer c = h.c[i];
        h.c[i] = h.c[n - i];
        h.c[n - i] = c;
    }
    return h;
}

/* ---- Parts of the interval ------------------------------------------------------------------- */

#define LEFT      0
#define RIGHT     1
#define LEFT_ONLY 2 /* left, and there is no root on the right */

/* Two times, low 2^-depth and high 2^-depth, with one simple root of f in between. */
typedef struct bracket {
    integer low, high;
    int depth;
} bracket;

/* A root of f in [0, 1]: a point (x : y), or the only root inside a part of the interval, which is
 * reached by `depth` halvings. */
typedef struct toi_exact_root {
    bool exact;
    integer x, y;
    bool tight; /* `toi_exact_between` encloses it */
    bracket between;
    int depth;
    uint8_t path[MOST_DEPTH]; /* LEFT, RIGHT ... */
} toi_exact_root;

/* Polynomials on a part of the interval. */
typedef struct toi_exact_frame {
    solver *s;
    poly p[4];
    int count, turn;
} toi_exact_frame;

static void toi_exact_step(toi_exact_frame *f, int side) {
    toi_exact_pool *to = &f->s->scratch[f->turn];
    to->used = 0;
    f->turn = 1 - f->turn;
    for (int i = 0; i < f->count; ++i) f->p[i] = toi_exact_half(to, &f->p[i], side);
}

static void follow(toi_exact_frame *f, const toi_exact_root *r) {
    for (int i = 0; i < r->depth; ++i) toi_exact_step(f, r->path[i] == RIGHT);
}

/* Halves the part towards the only root of p[0] inside it. 0, 1: it is in the left or right half;
 * 2: it is the middle, and the part is now the left half. */
static int toi_exact_approach(toi_exact_frame *f) {
    toi_exact_pool *to = &f->s->scratch[f->turn];
    to->used = 0;
    poly left = toi_exact_half(to, &f->p[0], 0);
    int side = sign_changes(&left) == 1 ? 0 : left.c[left.degree].sign == 0 ? 2 : 1;
    toi_exact_step(f, side == 1);
    return side;
}

/* ---- Short intervals ------------------------------------------------------------------------- */

/* The time m 2^-depth as a point. */
static void time_point(toi_exact_pool *p, integer m, int depth, integer *x, integer *y) {
    *x = toi_exact_sub(p, toi_exact_shift(p, small(p, 1), depth), m);
    *y = m;
}

static integer value_at_time(toi_exact_pool *p, const poly *a, integer m, int depth) {
    integer x, y;
    time_point(p, m, depth, &x, &y);
    return value_at_point(p, a, x, y);
}

/* The sign of a quadratic on all of a bracket, or 0 where its Bernstein coefficients there have
 * several: its values at the ends, and its polar form between them. */
static int sign_between(solver *s, const poly *a, const bracket *b) {
    CAROM_ASSERT(a->degree == 2);
    toi_exact_pool *p = temporary(s);
    integer x[2], y[2];
    time_point(p, b->low, b->depth, &x[0], &y[0]);
    time_point(p, b->high, b->depth, &x[1], &y[1]);
    int sign = 0;
    for (int k = 0; k < 3; ++k) {
        integer sum;
        if (k < 2) {
            sum = value_at_point(p, a, x[k], y[k]); /* the ends */
        } else {
            integer mixed = toi_exact_add(p, toi_exact_multiply(p, x[0], y[1]),
                                          toi_exact_multiply(p, x[1], y[0]));
            sum = toi_exact_shift(
                p, toi_exact_multiply(p, a->c[0], toi_exact_multiply(p, x[0], x[1])), 1);
            sum = toi_exact_add(p, sum, toi_exact_multiply(p, a->c[1], mixed));
            sum = toi_exact_add(
                p, sum,
                toi_exact_shift(
                    p, toi_exact_multiply(p, a->c[2], toi_exact_multiply(p, y[0], y[1])), 1));
        }
        if (sum.sign == 0 || (sign != 0 && sum.sign != sign)) return 0;
        sign = sum.sign;
    }
    return sign;
}

/* |a| / 2^(64 limbs), right to some 2^-52 of itself where it is not far below 1. */
static double to_double(integer a, int limbs) {
    double value = 0.0;
    for (int k = a.count; k > 0 && k > limbs - 3; --k)
        value += ldexp((double)a.limb[k - 1], LIMB_BITS * (k - limbs - 1));
    return value;
}

/* Narrows a bracket by some 2^40: the secant of f between its ends is nearly f. 1: narrower, 2: the
 * root is the point x, y; 0: it did not work. */
static int toi_exact_narrow(solver *s, const poly *f, bracket *b, integer *x, integer *y) {
    toi_exact_pool *p = temporary(s);
    integer at_low = value_at_time(p, f, b->low, b->depth);
    integer at_high = value_at_time(p, f, b->high, b->depth);
    integer sum = toi_exact_sub(p, at_low, at_high), span = toi_exact_sub(p, b->high, b->low);
    if (at_low.sign * at_high.sign >= 0 || span.count != 1 || span.limb[0] > 2 * TIGHT_REACH)
        return 0;
    int first = at_low.sign;
    double share = to_double(at_low, sum.count) / to_double(sum, sum.count);
    double most = (double)span.limb[0] * NARROW_UNITS;
    uint64_t end = span.limb[0] << NARROW_BITS, at = (uint64_t)CAROM_MIN(share * most, most);
    integer base = toi_exact_copy(&s->keep, toi_exact_shift(p, b->low, NARROW_BITS));
    int depth = b->depth + NARROW_BITS;
    for (uint64_t reach = NARROW_REACH_LEAST; reach <= TIGHT_REACH; reach *= NARROW_REACH_RATIO) {
        uint64_t low = at > reach ? at - reach : 0, high = CAROM_MIN(at + reach, end);
        integer to[2] = {toi_exact_add(&s->keep, base, small(&s->keep, low)),
                         toi_exact_add(&s->keep, base, small(&s->keep, high))};
        int signs[2];
        for (int i = 0; i < 2; ++i) {
            signs[i] = value_at_time(temporary(s), f, to[i], depth).sign;
            if (signs[i] != 0) continue;
            time_point(&s->keep, to[i], depth, x, y);
            return 2;
        }
        if (signs[0] != first || signs[1] != -first) continue;
        *b = (bracket){to[0], to[1], depth};
        return 1;
    }
    return 0;
}

/* Moves a bracket to where the pool was first used for it. */
static void pack_bracket(solver *s, int used, bracket *b) {
    toi_exact_pool *p = temporary(s);
    integer low = toi_exact_copy(p, b->low), high = toi_exact_copy(p, b->high);
    s->keep.used = used;
    b->low = toi_exact_copy(&s->keep, low);
    b->high = toi_exact_copy(&s->keep, high);
}

/* Encloses the only root of f in a part of the interval, found in doubles, between two times that
 * are proved by exact signs; or finds that it is such a time. Where that fails the root stays as it
 * is. */
static void tighten(solver *s, const poly *f, toi_exact_root *r) {
    double c[MOST_DEGREE + 1], from = 0.0, width = 1.0;
    if (r->depth >= TIME_DEPTH) return;
    toi_exact_frame part = {.s = s, .p = {*f}, .count = 1};
    follow(&part, r);
    int first = 0; /* the sign before the root */
    for (int i = 0; i <= f->degree && first == 0; ++i) first = part.p[0].c[i].sign;
    for (int i = 0; i < r->depth; ++i) {
        width *= 0.5;
        from += r->path[i] == RIGHT ? width : 0.0;
    }
    int limbs = 0; /* coefficients as doubles, scaled alike */
    for (int i = 0; i <= f->degree; ++i) limbs = CAROM_MAX(f->c[i].count, limbs);
    for (int i = 0; i <= f->degree; ++i) c[i] = f->c[i].sign * to_double(f->c[i], limbs);
    double low = from, high = from + width, end = high;
    for (int i = 0; i < TIME_DEPTH && high - low > TIME_UNIT; ++i) {
        double t = 0.5 * (low + high), x = 1.0 - t, sum = c[0], power = t;
        for (int k = 1; k <= f->degree; ++k, power *= t) sum = sum * x + c[k] * power;
        if ((sum > 0.0) == (first > 0))
            low = t;
        else
            high = t;
    }
    double unit = ldexp(1.0, TIME_DEPTH);
    uint64_t m = (uint64_t)(low * unit), least = (uint64_t)(from * unit);
    uint64_t most = (uint64_t)(end * unit);
    for (uint64_t reach = TIGHT_REACH_LEAST; reach <= TIGHT_REACH; reach *= TIGHT_REACH_RATIO) {
        uint64_t at[3] = {m - least > reach ? m - reach : least, m, CAROM_MIN(m + reach, most)};
        int signs[3] = {first, 0, -first}; /* at the ends of the part, zeros of f are not meant */
        for (int i = 0; i < 3; ++i) {
            if ((i == 0 && at[i] == least) || (i == 2 && at[i] == most)) continue;
            if (i == 1 && (m == least || m == most)) {
                signs[i] = 1;
                continue;
            }
            integer time = small(&s->keep, at[i]);
            signs[i] = value_at_time(temporary(s), f, time, TIME_DEPTH).sign;
            if (signs[i] != 0) continue;
            r->exact = true;
            time_point(&s->keep, time, TIME_DEPTH, &r->x, &r->y);
            return;
        }
        if (signs[0] != first || signs[2] != -first) continue;
        r->tight = true;
        r->between = (bracket){small(&s->keep, at[0]), small(&s->keep, at[2]), TIME_DEPTH};
        return;
    }
}

/* ---- Signs at roots -------------------------------------------------------------------------- */

/* The sign of a at a root of f, where it is not zero if the root is not a point. */
static int sign_at(solver *s, const poly *f, const poly *a, const toi_exact_root *r) {
    if (r->exact) return sign_at_point(s, a, r->x, r->y);
    bracket b = r->between;
    int used = s->keep.used;
    for (int i = 0; i < TOI_EXACT_NARROWING_STEPS && r->tight && a->degree == 2 && !failed(s);
         ++i) {
        int sign = sign_between(s, a, &b);
        if (sign != 0) return sign;
        integer x, y;
        int how = toi_exact_narrow(s, f, &b, &x, &y);
        if (how == 2) return sign_at_point(s, a, x, y);
        if (how == 0) break;
        pack_bracket(s, used, &b);
    }
    toi_exact_frame part = {.s = s, .p = {*f, *a}, .count = 2};
    follow(&part, r);
    for (int depth = r->depth; depth < MOST_DEPTH && !failed(s); ++depth) {
        int sign = sign_inside(&part.p[1]);
        if (sign != 0) return sign;
        if (toi_exact_approach(&part) == 2) return part.p[1].c[a->degree].sign;
    }
    s->keep.full = true;
    return 0;
}

/* ---- Roots ----------------------------------------------------------------------------------- */

static bool same_direction(solver *s, const poly *a, const poly *b, integer minor[3]) {
    toi_exact_pool *p = &s->keep;
    static const int low[3] = {1, 0, 0}, high[3] = {2, 2, 1}; /* without x^2, x y, y^2 */
    bool same = true;
    for (int k = 0; k < 3; ++k) {
        minor[k] = toi_exact_sub(p, toi_exact_multiply(p, a->c[low[k]], b->c[high[k]]),
                                 toi_exact_multiply(p, a->c[high[k]], b->c[low[k]]));
        same &= minor[k].sign == 0;
    }
    return same;
}

#define ROOTS_NONE      0
#define ROOTS_ALL       1 /* it vanishes always */
#define ROOTS_POINT     2 /* at *x, *y, or outside the interval */
#define ROOTS_QUADRATIC 3 /* where *q does */

/* Where three quadratics vanish together. Of two that are not multiples of each other, (x^2, x y,
 * y^2) is a multiple of the cross product of their coefficients. */
static int common_roots(solver *s, const poly *k, poly *q, integer *x, integer *y) {
    int kind = ROOTS_ALL;
    toi_exact_pool *p = &s->keep;
    for (int i = 0; i < 3; ++i) {
        integer minor[3];
        if (is_zero(&k[i])) continue;
        if (kind == ROOTS_ALL) {
            *q = k[i];
            kind = ROOTS_QUADRATIC;
        } else if (kind == ROOTS_QUADRATIC) {
            if (same_direction(s, q, &k[i], minor)) continue;
            if (toi_exact_sub(p, toi_exact_multiply(p, minor[1], minor[1]),
                              toi_exact_multiply(p, minor[0], minor[2]))
                    .sign != 0)
                return ROOTS_NONE;
            *x = minor[0];
            *y = negate(minor[1]);
            if (x->sign == 0) {
                *x = zero;
                *y = small(p, 1);
            }
            if (x->sign < 0) {
                *x = negate(*x);
                *y = negate(*y);
            }
            kind = ROOTS_POINT;
        } else if (sign_at_point(s, &k[i], *x, *y) != 0) {
            return ROOTS_NONE;
        }
    }
    return kind;
}

/* Whether v, of degree 2, is zero at a root. Inside the root's part, v vanishes nowhere else. */
static bool vanishes(solver *s, const vector *v, const toi_exact_root *r) {
    if (r->exact) {
        for (int k = 0; k < 3; ++k)
            if (sign_at_point(s, &v->k[k], r->x, r->y) != 0) return false;
        return true;
    }
    for (int k = 0; k < 3 && r->tight; ++k)
        if (sign_between(s, &v->k[k], &r->between) != 0) return false;
    toi_exact_frame part = {.s = s, .p = {v->k[0], v->k[1], v->k[2]}, .count = 3};
    follow(&part, r);
    for (int k = 0; k < 3; ++k)
        if (sign_inside(&part.p[k]) != 0) return false;
    poly q;
    integer x = zero, y = zero;
    int used = s->keep.used;
    for (int k = 0; k < 3; ++k) /* out of the scratch that is used now */
        for (int i = 0; i <= 2; ++i) part.p[k].c[i] = toi_exact_copy(&s->keep, part.p[k].c[i]);
    int kind = common_roots(s, part.p, &q, &x, &y);
    bool inside = kind == ROOTS_ALL || (kind == ROOTS_POINT && x.sign * y.sign > 0);
    if (kind == ROOTS_QUADRATIC) {
        int changes = sign_changes(&q);
        inside = changes == 1;
        if (changes == 2) { /* both roots inside are one */
            toi_exact_pool *p = &s->keep;
            integer square = toi_exact_multiply(p, q.c[1], q.c[1]);
            inside = toi_exact_sub(p, square,
                                   toi_exact_shift(p, toi_exact_multiply(p, q.c[0], q.c[2]), 2))
                         .sign == 0;
        }
    }
    s->keep.used = used;
    return inside;
}

static void toi_exact_put_point(toi_exact_root *r, integer x, integer y) {
    r->exact = true;
    r->tight = false;
    r->depth = 0;
    r->x = x;
    r->y = y;
}

/* The point y / x = top / bottom of the interval's inside; false where it is outside. */
static bool put_ratio(toi_exact_root *r, integer top, integer bottom) {
    if (top.sign * bottom.sign <= 0) return false;
    top.sign = bottom.sign = 1;
    toi_exact_put_point(r, bottom, top);
    return true;
}

/* The roots of a cubic with a multiple root, none at an end. */
static int multiple_roots(solver *s, const poly *f, integer delta, toi_exact_root *roots) {
    toi_exact_pool *p = &s->keep;
    integer a = f->c[3], b = f->c[2], c = f->c[1], d = f->c[0];
    if (delta.sign == 0) return put_ratio(&roots[0], negate(b), toi_exact_times(p, a, 3));
    integer ad = toi_exact_multiply(p, a, d), bc = toi_exact_multiply(p, b, c);
    integer top = toi_exact_sub(p, toi_exact_times(p, ad, 9), bc);
    int count = put_ratio(&roots[0], top, toi_exact_shift(p, delta, 1));
    /* the other root: (4 a b c - 9 a^2 d - b^3) / (a delta) */
    integer cube = toi_exact_multiply(p, toi_exact_multiply(p, b, b), b);
    top = toi_exact_sub(p, toi_exact_shift(p, toi_exact_multiply(p, a, bc), 2),
                        toi_exact_times(p, toi_exact_multiply(p, a, ad), 9));
    count += put_ratio(&roots[count], toi_exact_sub(p, top, cube), toi_exact_multiply(p, a, delta));
    if (count == 2) {
        integer left = toi_exact_multiply(p, roots[0].y, roots[1].x);
        integer right = toi_exact_multiply(p, roots[1].y, roots[0].x);
        if (compare_size(left, right) > 0) {
            integer x = roots[0].x, y = roots[0].y;
            toi_exact_put_point(&roots[0], roots[1].x, roots[1].y);
            toi_exact_put_point(&roots[1], x, y);
        }
    }
    return count;
}

/* The discriminant's sign of a polynomial of degree 2 or 3; *delta is b^2 - 3 a c of a cubic. */
static int discriminant(solver *s, const poly *f, integer *delta) {
    toi_exact_pool *p = &s->keep;
    if (f->degree == 2)
        return toi_exact_sub(p, toi_exact_multiply(p, f->c[1], f->c[1]),
                             toi_exact_shift(p, toi_exact_multiply(p, f->c[0], f->c[2]), 2))
            .sign;
    integer a = f->c[3], b = f->c[2], c = f->c[1], d = f->c[0];
    integer bb = toi_exact_multiply(p, b, b), cc = toi_exact_multiply(p, c, c),
            ad = toi_exact_multiply(p, a, d);
    integer ac = toi_exact_multiply(p, a, c), bd = toi_exact_multiply(p, b, d),
            bc = toi_exact_multiply(p, b, c);
    *delta = toi_exact_sub(p, bb, toi_exact_times(p, ac, 3));
    integer sum = toi_exact_times(p, toi_exact_multiply(p, ad, bc), 18);
    sum = toi_exact_sub(p, sum, toi_exact_shift(p, toi_exact_multiply(p, bb, bd), 2));
    sum = toi_exact_add(p, sum, toi_exact_multiply(p, bb, cc));
    sum = toi_exact_sub(p, sum, toi_exact_shift(p, toi_exact_multiply(p, ac, cc), 2));
    return toi_exact_sub(p, sum, toi_exact_times(p, toi_exact_multiply(p, ad, ad), 27)).sign;
}

/* The first point of a part. */
static void put_start(solver *s, const toi_exact_root *at, toi_exact_root *r) {
    integer y = zero, whole = toi_exact_shift(&s->keep, small(&s->keep, 1), at->depth);
    for (int i = 0; i < at->depth; ++i) {
        y = toi_exact_shift(&s->keep, y, 1);
        if (at->path[i] == RIGHT) y = toi_exact_add(&s->keep, y, small(&s->keep, 1));
    }
    toi_exact_put_point(r, toi_exact_sub(&s->keep, whole, y), y);
}

/* Which halves of a part have roots: RIGHT or LEFT_ONLY, or LEFT for both or where the middle is
 * one. */
static uint8_t next_half(toi_exact_frame *part) {
    int changes[2];
    bool middle = false;
    for (int side = 0; side < 2; ++side) {
        toi_exact_pool *to = &part->s->scratch[part->turn];
        to->used = 0;
        poly h = toi_exact_half(to, &part->p[0], side);
        changes[side] = sign_changes(&h);
        if (side == 0) middle = h.c[h.degree].sign == 0;
    }
    if (middle || (changes[0] != 0 && changes[1] != 0)) return LEFT;
    return changes[0] != 0 ? LEFT_ONLY : RIGHT;
}

/* Isolates the roots of f, which has no multiple root and none at an end, from left to right. Near
 * roots lead deep, but apart from the few parts with roots in both halves only downwards. */
static int isolate(solver *s, const poly *f, toi_exact_root *roots) {
    toi_exact_root at = {.exact = false, .depth = 0};
    int count = 0;
    for (;;) {
        toi_exact_frame part = {.s = s, .p = {*f}, .count = 1};
        follow(&part, &at);
        if (!failed(s) && part.p[0].c[0].sign == 0) put_start(s, &at, &roots[count++]);
        while (sign_changes(&part.p[0]) >= 2 && at.depth < MOST_DEPTH && !failed(s)) {
            at.path[at.depth] = next_half(&part);
            toi_exact_step(&part, at.path[at.depth++] == RIGHT);
        }
        if (at.depth == MOST_DEPTH) s->keep.full = true;
        if (failed(s)) return count;
        if (sign_changes(&part.p[0]) == 1) roots[count++] = at;
        while (at.depth > 0 && at.path[at.depth - 1] != LEFT) --at.depth;
        if (at.depth == 0) return count;
        at.path[at.depth - 1] = RIGHT;
    }
}

#define MOST_ROOTS 5 /* both ends and three inside */

/* All roots in [0, 1], ascending. `inner` is f without its roots at the ends: the polynomial that
 * roots which are not points belong to. f is not zero. */
static int find_roots(solver *s, const poly *f, poly *inner, toi_exact_root *roots) {
    int count = 0;
    bool at_end = false;
    *inner = *f;
    if (f->c[0].sign == 0) toi_exact_put_point(&roots[count++], small(&s->keep, 1), zero);
    while (inner->c[0].sign == 0) {
        for (int i = 0; i < inner->degree; ++i) inner->c[i] = inner->c[i + 1];
        --inner->degree;
    }
    while (inner->c[inner->degree].sign == 0) {
        at_end = true;
        --inner->degree;
    }
    int changes = sign_changes(inner);
    if (changes == 1) {
        if (inner->degree == 1)
            count += put_ratio(&roots[count], negate(inner->c[0]), inner->c[1]);
        else
            roots[count++] = (toi_exact_root){.exact = false, .depth = 0};
    } else if (changes >= 2) {
        integer delta = zero;
        int used = s->keep.used, sign = discriminant(s, inner, &delta);
        if (sign != 0) s->keep.used = used; /* delta is for multiple roots only */
        if (sign != 0)
            count += isolate(s, inner, roots + count);
        else if (inner->degree == 3)
            count += multiple_roots(s, inner, delta, roots + count);
        else
            count += put_ratio(&roots[count], negate(inner->c[1]),
                               toi_exact_shift(&s->keep, inner->c[2], 1));
    }
    for (int i = 0; i < count && !failed(s); ++i)
        if (!roots[i].exact) tighten(s, inner, &roots[i]);
    if (at_end) toi_exact_put_point(&roots[count++], zero, small(&s->keep, 1));
    CAROM_ASSERT(count <= MOST_ROOTS);
    return count;
}

/* The time of a root as an interval, equal ends where the time is a short fraction. */
static void toi_exact_enclose(solver *s, const poly *f, const toi_exact_root *r, carom_toi *toi) {
    *toi = (carom_toi){.hit = true};
    if (r->tight) {
        CAROM_ASSERT(r->between.depth == TIME_DEPTH);
        toi->time.lower =
            r->between.low.count == 0 ? 0.0 : ldexp((double)r->between.low.limb[0], -TIME_DEPTH);
        toi->time.upper = ldexp((double)r->between.high.limb[0], -TIME_DEPTH);
        return;
    }
    if (r->exact && (r->x.sign == 0 || r->y.sign == 0)) {
        toi->time.lower = toi->time.upper = r->x.sign == 0 ? 1.0 : 0.0;
        return;
    }
    if (r->exact) { /* the root of y' x - x' y */
        poly line = {.degree = 1, .c = {r->y, negate(r->x)}};
        toi_exact_root only = {.exact = false};
        tighten(s, &line, &only);
        if (only.exact) { /* a short fraction: its x and y are those of time_point */
            uint64_t m = only.y.count == 0 ? 0 : only.y.limb[0];
            toi->time.lower = toi->time.upper = ldexp((double)m, -TIME_DEPTH);
            return;
        }
        if (only.tight) {
            toi_exact_enclose(s, &line, &only, toi);
            return;
        }
    }
    toi_exact_frame part = {.s = s, .p = {*f}, .count = 1};
    if (r->exact) part.p[0] = (poly){.degree = 1, .c = {r->y, negate(r->x)}};
    double width = 1.0;
    for (int depth = 0; depth < TIME_DEPTH && !failed(s); ++depth) {
        int side = depth < r->depth ? r->path[depth] == RIGHT : 3;
        if (side == 3)
            side = toi_exact_approach(&part);
        else
            toi_exact_step(&part, side);
        width *= 0.5;
        if (side != 0) toi->time.lower += width;
        if (side == 2) width = 0.0;
        if (side == 2) break;
    }
    toi->time.upper = toi->time.lower + width;
}

/* ---- Points on segments ---------------------------------------------------------------------- */

/* The points that move, as given. */
typedef struct input {
    const carom_vec3 *start, *end;
    int base; /* coordinates are integers times 2^base */
} input;

/* A point and a segment: `line` is 0 where the point is on the segment's line. */
typedef struct incidence {
    const input *in;
    int point, ends[2];
    vector line;
} incidence;

/* The vector from point i to point j. */
static vector toi_exact_between(solver *s, const input *in, int i, int j) {
    vector v;
    for (int k = 0; k < 3; ++k) {
        v.k[k].degree = 1;
        for (int t = 0; t < 2; ++t) {
            const double *x = t == 0 ? &in->start[0].x : &in->end[0].x;
            toi_exact_pool *p = temporary(s);
            v.k[k].c[t] =
                toi_exact_copy(&s->keep, toi_exact_sub(p, toi_exact_load(p, x[3 * j + k], in->base),
                                                       toi_exact_load(p, x[3 * i + k], in->base)));
        }
    }
    return v;
}

/* The scalar product of the vectors to the point from both ends: not above 0 on the segment. */
static poly toi_exact_along(solver *s, const incidence *m, vector to[2]) {
    for (int e = 0; e < 2; ++e) to[e] = toi_exact_between(s, m->in, m->ends[e], m->point);
    return toi_exact_dot(s, &to[0], &to[1]);
}

/* Whether the point is on the segment at a root at which it is on the line. */
static bool on_segment(solver *s, const poly *f, const incidence *m, const toi_exact_root *r) {
    vector to[2];
    poly h = toi_exact_along(s, m, to);
    if (r->exact) return sign_at_point(s, &h, r->x, r->y) <= 0;
    for (int i = 0; i < 2; ++i) { /* h is zero where the point is an end */
        vector end;
        for (int k = 0; k < 3; ++k) end.k[k] = toi_exact_raise(s, &to[i].k[k]);
        if (vanishes(s, &end, r)) return true;
    }
    return sign_at(s, f, &h, r) < 0;
}

static void include(carom_toi *first, const carom_toi *toi) {
    if (!first->hit) *first = *toi;
    first->time.lower = CAROM_MIN(toi->time.lower, first->time.lower);
    first->time.upper = CAROM_MIN(toi->time.upper, first->time.upper);
}

/* The first time at which h <= 0. */
static bool first_below(solver *s, const poly *h, carom_toi *toi) {
    toi_exact_root roots[MOST_ROOTS];
    poly inner;
    *toi = (carom_toi){.hit = true};
    if (h->c[0].sign <= 0) return true;
    if (find_roots(s, h, &inner, roots) == 0 || failed(s)) return false;
    toi_exact_enclose(s, &inner, &roots[0], toi);
    return true;
}

/* The first time at which the point is on the segment, where both stay in one plane. */
static void first_on_segment(solver *s, const incidence *m, carom_toi *first) {
    poly q, inner = {.degree = 0};
    toi_exact_root roots[MOST_ROOTS];
    integer x = zero, y = zero;
    carom_toi toi;
    int kind = common_roots(s, m->line.k, &q, &x, &y), count = 0;
    if (kind == ROOTS_ALL) {
        vector to[2];
        poly h = toi_exact_along(s, m, to);
        if (first_below(s, &h, &toi)) include(first, &toi);
        return;
    }
    if (kind == ROOTS_POINT && y.sign >= 0) toi_exact_put_point(&roots[count++], x, y);
    if (kind == ROOTS_QUADRATIC) count = find_roots(s, &q, &inner, roots);
    for (int i = 0; i < count && !failed(s); ++i) {
        if (!on_segment(s, &inner, m, &roots[i])) continue;
        toi_exact_enclose(s, &inner, &roots[i], &toi);
        include(first, &toi);
        return;
    }
}

/* ---- Motions --------------------------------------------------------------------------------- */

typedef struct motion {
    input in;
    vector n;
    incidence incidences[4];
    int count;
} motion;

/* The power of two that divides all. */
static int find_base(const double *x, int count, int base) {
    for (int i = 0; i < count; ++i) {
        int exponent;
        if (carom_double_mantissa(x[i], &exponent) != 0) base = CAROM_MIN(exponent, base);
    }
    return base;
}

static poly make_motion(solver *s, const carom_vec3 *start, const carom_vec3 *end, int edges,
                        motion *m) {
    int base = find_base(&start[0].x, 12, BASE_OF_NONE); /* 12: coordinates of four points */
    m->in = (input){start, end, find_base(&end[0].x, 12, base)};
    int from = edges ? 0 : 1;
    vector u = toi_exact_between(s, &m->in, from, from + 1);
    vector v = toi_exact_between(s, &m->in, edges ? 2 : 1, 3);
    vector w = edges ? toi_exact_between(s, &m->in, 0, 2) : toi_exact_between(s, &m->in, 1, 0);
    vector wv = toi_exact_cross(s, &w, &v), wu = toi_exact_cross(s, &w, &u);
    m->n = toi_exact_cross(s, &u, &v);
    m->count = edges ? 4 : 3;
    m->incidences[0].line = wv;
    m->incidences[1].line = edges ? vector_add(s, &m->n, &wv, -1) : wu;
    m->incidences[2].line = wu;
    if (!edges) {
        for (int k = 0; k < 3; ++k) /* u x w */
            for (int i = 0; i <= 2; ++i)
                m->incidences[1].line.k[k].c[i] = negate(m->incidences[1].line.k[k].c[i]);
        vector rest = vector_add(s, &m->n, &wv, -1);
        m->incidences[2].line = vector_add(s, &rest, &wu, 1);
    } else {
        m->incidences[3].line = vector_add(s, &m->n, &wu, -1);
    }
    /* the point and the ends of the segment of each */
    static const int points[2][4][3] = {{{0, 1, 3}, {0, 1, 2}, {0, 2, 3}, {0, 0, 0}},
                                        {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}}};
    for (int i = 0; i < m->count; ++i) {
        const int *of = points[edges ? 1 : 0][i];
        m->incidences[i].in = &m->in;
        m->incidences[i].point = of[0];
        m->incidences[i].ends[0] = of[1];
        m->incidences[i].ends[1] = of[2];
    }
    return toi_exact_dot(s, &m->n, &w);
}

/* A component of n that is not zero at the root, with its sign. */
static int pick_component(solver *s, const poly *f, const motion *m, const toi_exact_root *r,
                          int *sign) {
    if (r->exact) {
        for (int k = 0; k < 3; ++k) {
            *sign = sign_at_point(s, &m->n.k[k], r->x, r->y);
            if (*sign != 0) return k;
        }
        CAROM_ASSERT(false);
    }
    for (int k = 0; k < 3 && r->tight; ++k) {
        *sign = sign_between(s, &m->n.k[k], &r->between);
        if (*sign != 0) return k;
    }
    toi_exact_frame part = {.s = s, .p = {*f, m->n.k[0], m->n.k[1], m->n.k[2]}, .count = 4};
    follow(&part, r);
    for (int depth = r->depth; depth < MOST_DEPTH && !failed(s); ++depth) {
        for (int k = 0; k < 3; ++k) {
            *sign = sign_inside(&part.p[1 + k]);
            if (*sign != 0) return k;
        }
        if (toi_exact_approach(&part) != 2) continue;
        for (int k = 0; k < 3; ++k) {
            *sign = part.p[1 + k].c[2].sign;
            if (*sign != 0) return k;
        }
    }
    s->keep.full = true;
    return 0;
}

/* Whether the shapes meet at a root of f. */
static bool meets_at(solver *s, const poly *f, const motion *m, const toi_exact_root *r) {
    if (vanishes(s, &m->n, r)) {
        for (int i = 0; i < m->count; ++i)
            if (vanishes(s, &m->incidences[i].line, r) && on_segment(s, f, &m->incidences[i], r))
                return true;
        return false;
    }
    int sign, k = pick_component(s, f, m, r, &sign);
    for (int i = 0; i < m->count && !failed(s); ++i) {
        if (vanishes(s, &m->incidences[i].line, r)) continue;
        if (sign_at(s, f, &m->incidences[i].line.k[k], r) != sign) return false;
    }
    return true;
}

static void toi_exact_decide(solver *s, const carom_vec3 *start, const carom_vec3 *end, int edges,
                             carom_toi *toi) {
    motion m;
    poly f = make_motion(s, start, end, edges, &m);
    if (failed(s)) return;
    if (!is_zero(&f)) {
        toi_exact_root roots[MOST_ROOTS];
        poly inner;
        int count = find_roots(s, &f, &inner, roots);
        for (int i = 0; i < count && !failed(s); ++i) {
            if (!meets_at(s, &inner, &m, &roots[i])) continue;
            toi_exact_enclose(s, &inner, &roots[i], toi);
            return;
        }
        return;
    }
    carom_triangle a = {{start[0], edges ? start[1] : start[0], edges ? start[1] : start[0]}};
    carom_triangle b = {{edges ? start[2] : start[1], edges ? start[3] : start[2], start[3]}};
    if (carom_triangle_meet(&a, &b)) {
        *toi = (carom_toi){.hit = true};
        return;
    }
    for (int i = 0; i < m.count && !failed(s); ++i) first_on_segment(s, &m.incidences[i], toi);
}

/* Without enough memory nothing is excluded. */
static void toi_exact_finish(const solver *s, carom_toi *toi) {
    if (failed(s)) *toi = (carom_toi){.hit = true, .time = {0.0, 0.0, 1.0}};
}

void carom_toi_exact(const carom_vec3 *start, const carom_vec3 *end, int edges, carom_toi *toi) {
    solver s;
    toi_exact_begin(&s);
    *toi = (carom_toi){.hit = false};
    toi_exact_decide(&s, start, end, edges, toi);
    toi_exact_finish(&s, toi);
}

/* ---- Balls ----------------------------------------------------------------------------------- */

void carom_toi_balls(const carom_ball start[2], const carom_ball end[2], carom_toi *toi) {
    solver s;
    toi_exact_begin(&s);
    const carom_vec3 from[2] = {start[0].centre, start[1].centre};
    const carom_vec3 to[2] = {end[0].centre, end[1].centre};
    const double radii[4] = {start[0].radius, start[1].radius, end[0].radius, end[1].radius};
    int base = find_base(&to[0].x, 6, BASE_OF_NONE); /* 6: coordinates of two centres */
    base = find_base(radii, 4, find_base(&from[0].x, 6, base));
    const input in = {from, to, base};
    vector w = toi_exact_between(&s, &in, 0, 1);
    poly reach = {.degree = 1};
    for (int t = 0; t < 2; ++t) {
        toi_exact_pool *p = temporary(&s);
        integer sum = toi_exact_add(p, toi_exact_load(p, radii[2 * t], base),
                                    toi_exact_load(p, radii[2 * t + 1], base));
        reach.c[t] = toi_exact_copy(&s.keep, sum);
    }
    static const int signs[4] = {1, 1, 1, -1};
    const poly *factors[4] = {&w.k[0], &w.k[1], &w.k[2], &reach};
    poly h = toi_exact_products(&s, 4, factors, factors, signs);
    *toi = (carom_toi){.hit = false};
    carom_toi first;
    if (!failed(&s) && first_below(&s, &h, &first)) *toi = first;
    toi_exact_finish(&s, toi);
    toi->time.value = toi->time.lower;
}
