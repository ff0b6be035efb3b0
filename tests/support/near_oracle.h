/* SPDX-License-Identifier: MIT */
/* near_oracle.h: the squared distance of a point and a triangle, segment or point, as a fraction of
 * integers. The least of the distances to the corners, to those edges that hold the foot of the
 * point, and to the plane where the foot lies inside. Include it after ray_oracle.h. */

static inline void BIG(near_keep)(BIG(fraction) * best, BIG(int) num, BIG(int) den) {
    BIG(fraction) f = BIG(fraction_make)(num, den);
    if (BIG(fraction_compare)(&f, best) < 0) *best = f;
}

static inline BIG(fraction)
    BIG(near_face)(const BIG(vec) * point, const carom_triangle *face, int base) {
    BIG(vec) p[3], w[3];
    for (int i = 0; i < 3; ++i) {
        p[i] = BIG(vec_of)(face->corner[i], base);
        w[i] = BIG(vec_sub)(point, &p[i]);
    }
    BIG(fraction) best = {BIG(vec_dot)(&w[0], &w[0]), BIG(from)(1)};
    BIG(vec) e[3];
    for (int i = 0; i < 3; ++i) {
        e[i] = BIG(vec_sub)(&p[(i + 1) % 3], &p[i]);
        BIG(int) ww = BIG(vec_dot)(&w[i], &w[i]), uu = BIG(vec_dot)(&e[i], &e[i]);
        BIG(int) along = BIG(vec_dot)(&w[i], &e[i]);
        BIG(near_keep)(&best, ww, BIG(from)(1));
        if (BIG(sign)(along) <= 0 || BIG(sign)(BIG(sub)(uu, along)) <= 0) continue;
        BIG(vec) area = BIG(vec_cross)(&w[i], &e[i]);
        BIG(near_keep)(&best, BIG(vec_dot)(&area, &area), uu);
    }
    BIG(vec) n = BIG(vec_cross)(&e[0], &e[1]);
    if (BIG(vec_is_zero)(&n)) return best;
    for (int i = 0; i < 3; ++i) {
        BIG(vec) inward = BIG(vec_cross)(&n, &e[i]);
        if (BIG(sign)(BIG(vec_dot)(&inward, &w[i])) < 0) return best;
    }
    BIG(int) height = BIG(vec_dot)(&n, &w[0]);
    BIG(near_keep)(&best, BIG(mul)(height, height), BIG(vec_dot)(&n, &n));
    return best;
}

/* The sign of sqrt(f) 2^base - x. */
static inline int BIG(root_against)(const BIG(fraction) * f, int base, double x) {
    int e;
    if (x < 0.0) return 1;
    if (x == 0.0) return BIG(sign)(f->num);
    if (isinf(x)) return -1;
    BIG(int) m = BIG(from)((int64_t)ldexp(frexp(x, &e), 53));
    BIG(int) left = f->num, right = BIG(mul)(BIG(mul)(m, m), f->den);
    int shift = 2 * (base - (e - 53));
    if (shift > 0)
        left = BIG(shift_left)(left, shift);
    else
        right = BIG(shift_left)(right, -shift);
    return BIG(sign)(BIG(sub)(left, right));
}
