/* SPDX-License-Identifier: MIT */
/* toi_split.h: polynomials in Bernstein form, cut in two by de Casteljau's algorithm: one text for
 * numbers (toi_item.h), for one motion in the lanes of a vector (toi_cpu.c) and for a motion per
 * lane (toi_lanes_cpu.c), so that all have the same bits. */
#ifndef CAROM_SRC_GEOM_TOI_SPLIT_H
#define CAROM_SRC_GEOM_TOI_SPLIT_H

/* Cuts the cubic f, an array of four coefficients of type NUMBER, at r = 1 - l: f becomes the left
 * part, `right` the other. */
#define CAROM_TOI_SPLIT_CUBIC(NUMBER, f, right, l, r)                                              \
    do {                                                                                           \
        NUMBER a_ = (l) * (f)[0] + (r) * (f)[1], b_ = (l) * (f)[1] + (r) * (f)[2];                 \
        NUMBER c_ = (l) * (f)[2] + (r) * (f)[3];                                                   \
        NUMBER ab_ = (l)*a_ + (r)*b_, bc_ = (l)*b_ + (r)*c_;                                       \
        (right)[3] = (f)[3];                                                                       \
        (right)[2] = c_;                                                                           \
        (right)[1] = bc_;                                                                          \
        (f)[1] = a_;                                                                               \
        (f)[2] = ab_;                                                                              \
        (f)[3] = (right)[0] = (l)*ab_ + (r)*bc_;                                                   \
    } while (0)

/* The same for a quadratic. */
#define CAROM_TOI_SPLIT_QUADRATIC(NUMBER, q, right, l, r)                                          \
    do {                                                                                           \
        NUMBER d_ = (l) * (q)[0] + (r) * (q)[1], e_ = (l) * (q)[1] + (r) * (q)[2];                 \
        (right)[2] = (q)[2];                                                                       \
        (right)[1] = e_;                                                                           \
        (q)[1] = d_;                                                                               \
        (q)[2] = (right)[0] = (l)*d_ + (r)*e_;                                                     \
    } while (0)

#endif
