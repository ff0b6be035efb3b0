/* SPDX-License-Identifier: MIT */
/* ray_oracle.h: where a ray first meets a triangle, a segment or a point, as a fraction of
 * integers; the oracle of src/geom/ray_item.h. It shares neither code nor method with it: a
 * triangle is met where the crossing with its plane, as a point in integers, lies on the inner side
 * of each edge; a ray in the plane is clipped by the edges (Liang, Barsky 1984); a segment is met
 * where the two parameters of crossing lines say so.
 *
 * Include it with BIG_WORDS and BIG(name) defined, after triangle_oracle.h. Numbers are of degree 8
 * in points and direction, and rounding is checked with 1100 bits more. */

/* num / den with den > 0, in units that depend on the caller. */
typedef struct BIG(fraction) {
    BIG(int) num, den;
} BIG(fraction);

static inline BIG(fraction) BIG(fraction_make)(BIG(int) num, BIG(int) den) {
    BIG(fraction) f = {num, den};
    if (BIG(sign)(den) < 0) {
        f.num = BIG(negate)(num);
        f.den = BIG(negate)(den);
    }
    return f;
}

static inline int BIG(fraction_compare)(const BIG(fraction) * a, const BIG(fraction) * b) {
    return BIG(sign)(BIG(sub)(BIG(mul)(a->num, b->den), BIG(mul)(b->num, a->den)));
}

static inline BIG(vec) BIG(vec_of)(carom_vec3 v, int base) {
    BIG(vec) r;
    r.x[0] = BIG(from_double)(v.x, base);
    r.x[1] = BIG(from_double)(v.y, base);
    r.x[2] = BIG(from_double)(v.z, base);
    return r;
}

static inline BIG(vec) BIG(vec_times)(const BIG(vec) * v, BIG(int) s) {
    BIG(vec) r;
    for (int k = 0; k < 3; ++k) r.x[k] = BIG(mul)(v->x[k], s);
    return r;
}

/* Cuts the parameters from *low on, and up to *high if there is one, to where a + t b >= 0. */
static inline bool BIG(clip)(BIG(int) a, BIG(int) b, BIG(fraction) * low, BIG(fraction) * high,
                             bool *ends) {
    int side = BIG(sign)(b);
    if (side == 0) return BIG(sign)(a) >= 0;
    BIG(fraction) at = BIG(fraction_make)(BIG(negate)(a), b);
    if (side > 0 && BIG(fraction_compare)(&at, low) > 0) *low = at;
    if (side < 0 && (!*ends || BIG(fraction_compare)(&at, high) < 0)) *high = at, *ends = true;
    return !*ends || BIG(fraction_compare)(low, high) <= 0;
}

/* A triangle with area. */
static inline bool BIG(ray_triangle)(const BIG(vec) * o, const BIG(vec) * d, const BIG(vec) * p,
                                     const BIG(vec) * n, BIG(fraction) * t) {
    BIG(vec) w = BIG(vec_sub)(&p[0], o);
    BIG(int) den = BIG(vec_dot)(n, d), num = BIG(vec_dot)(n, &w);
    if (BIG(sign)(den) != 0) {
        *t = BIG(fraction_make)(num, den);
        if (BIG(sign)(t->num) < 0) return false;
        BIG(vec) x = BIG(vec_times)(d, t->num), start = BIG(vec_times)(o, t->den);
        for (int k = 0; k < 3; ++k) x.x[k] = BIG(add)(x.x[k], start.x[k]); /* times den */
        for (int i = 0; i < 3; ++i) {
            BIG(vec) edge = BIG(vec_sub)(&p[(i + 1) % 3], &p[i]);
            BIG(vec) at = BIG(vec_times)(&p[i], t->den);
            at = BIG(vec_sub)(&x, &at);
            BIG(vec) inward = BIG(vec_cross)(n, &edge);
            if (BIG(sign)(BIG(vec_dot)(&inward, &at)) < 0) return false;
        }
        return true;
    }
    if (BIG(sign)(num) != 0) return false;
    BIG(fraction) low = {BIG(from)(0), BIG(from)(1)}, high = low;
    bool ends = false;
    for (int i = 0; i < 3; ++i) {
        BIG(vec) edge = BIG(vec_sub)(&p[(i + 1) % 3], &p[i]), from = BIG(vec_sub)(o, &p[i]);
        BIG(vec) inward = BIG(vec_cross)(n, &edge);
        if (!BIG(clip)(BIG(vec_dot)(&inward, &from), BIG(vec_dot)(&inward, d), &low, &high, &ends))
            return false;
    }
    *t = low;
    return true;
}

/* A segment from a to b, or a point where they are one. */
static inline bool BIG(ray_segment)(const BIG(vec) * o, const BIG(vec) * d, const BIG(vec) * a,
                                    const BIG(vec) * b, BIG(fraction) * t) {
    BIG(vec) s = BIG(vec_sub)(b, a), w = BIG(vec_sub)(a, o), c = BIG(vec_cross)(d, &s);
    BIG(int) cc = BIG(vec_dot)(&c, &c);
    if (BIG(sign)(cc) != 0) {
        BIG(vec) ws = BIG(vec_cross)(&w, &s), wd = BIG(vec_cross)(&w, d);
        if (BIG(sign)(BIG(vec_dot)(&w, &c)) != 0) return false;
        *t = BIG(fraction_make)(BIG(vec_dot)(&ws, &c), cc);
        BIG(int) u = BIG(vec_dot)(&wd, &c); /* the parameter on the segment times cc */
        return BIG(sign)(t->num) >= 0 && BIG(sign)(u) >= 0 && BIG(sign)(BIG(sub)(cc, u)) >= 0;
    }
    BIG(vec) off = BIG(vec_cross)(&w, d);
    if (!BIG(vec_is_zero)(&off)) return false;
    /* On the ray's line: along it, by products with the direction. */
    BIG(vec) w2 = BIG(vec_sub)(b, o);
    BIG(int) dd = BIG(vec_dot)(d, d), at_a = BIG(vec_dot)(&w, d), at_b = BIG(vec_dot)(&w2, d);
    int sa = BIG(sign)(at_a), sb = BIG(sign)(at_b);
    if (sa < 0 && sb < 0) return false;
    BIG(int) zero = BIG(from)(0);
    BIG(int) first = BIG(sign)(BIG(sub)(at_a, at_b)) < 0 ? at_a : at_b;
    *t = BIG(fraction_make)(BIG(sign)(first) < 0 ? zero : first, dd);
    return true;
}

/* Whether the ray meets the face, and the first t. Faces without area are met only with `segments`.
 */
static inline bool BIG(ray_face)(const BIG(vec) * o, const BIG(vec) * d, const carom_triangle *face,
                                 int base, bool segments, BIG(fraction) * t) {
    BIG(vec) p[3];
    for (int i = 0; i < 3; ++i) p[i] = BIG(vec_of)(face->corner[i], base);
    BIG(vec) e = BIG(vec_sub)(&p[1], &p[0]), f = BIG(vec_sub)(&p[2], &p[0]);
    BIG(vec) n = BIG(vec_cross)(&e, &f);
    if (!BIG(vec_is_zero)(&n)) return BIG(ray_triangle)(o, d, p, &n, t);
    if (!segments) return false;
    /* One of the edges holds the others; all three are tried. */
    bool found = false;
    for (int i = 0; i < 3; ++i) {
        BIG(fraction) here;
        if (!BIG(ray_segment)(o, d, &p[i], &p[(i + 1) % 3], &here)) continue;
        if (!found || BIG(fraction_compare)(&here, t) < 0) *t = here;
        found = true;
    }
    return found;
}

static inline BIG(int) BIG(shift_left)(BIG(int) a, int bits) {
    BIG(int) r = BIG(from)(0);
    int words = bits / 64, shift = bits % 64;
    bool negative = BIG(sign)(a) < 0;
    if (negative) a = BIG(negate)(a);
    if (BIG(length)(&a) + words + 1 > BIG_WORDS) abort(); /* a bug in the test */
    for (int i = BIG_WORDS - 1; i >= words; --i) {
        r.word[i] = a.word[i - words] << shift;
        if (shift != 0 && i > words) r.word[i] |= a.word[i - words - 1] >> (64 - shift);
    }
    return negative ? BIG(negate)(r) : r;
}

/* The sign of f 2^power - mantissa 2^exponent, mantissa in 64 bits. */
static inline int BIG(fraction_against)(const BIG(fraction) * f, int power, int64_t mantissa,
                                        int exponent) {
    BIG(int) left = f->num, right = BIG(mul)(f->den, BIG(from)(mantissa));
    if (power > exponent)
        left = BIG(shift_left)(left, power - exponent);
    else
        right = BIG(shift_left)(right, exponent - power);
    return BIG(sign)(BIG(sub)(left, right));
}

/* Whether `value` is f 2^power rounded to nearest, ties to even. */
static inline bool BIG(fraction_rounds_to)(const BIG(fraction) * f, int power, double value) {
    int exponent = 0;
    double size = fabs(value);
    int sign = BIG(sign)(f->num);
    if (isnan(value)) return false;
    if (sign == 0) return value == 0.0;
    if (value != 0.0 && (value < 0.0) != (sign < 0)) return false;
    BIG(fraction) a = *f;
    if (sign < 0) a.num = BIG(negate)(a.num);
    if (isinf(size)) return BIG(fraction_against)(&a, power, ((int64_t)1 << 54) - 1, 970) >= 0;
    (void)frexp(size, &exponent);
    exponent = exponent - 53 < -1074 || size == 0.0 ? -1074 : exponent - 53;
    int64_t m = (int64_t)ldexp(size, -exponent);
    bool even = m % 2 == 0;
    /* Halfway to the next above and below; below a power of two the spacing is half as wide. */
    int above = BIG(fraction_against)(&a, power, 2 * m + 1, exponent - 1);
    if (above > 0 || (above == 0 && !even)) return false;
    if (m == 0) return true;
    bool narrow = m == (int64_t)1 << 52 && exponent > -1074;
    int below = narrow ? BIG(fraction_against)(&a, power, 4 * m - 1, exponent - 2)
                       : BIG(fraction_against)(&a, power, 2 * m - 1, exponent - 1);
    return below > 0 || (below == 0 && even);
}
