/* SPDX-License-Identifier: MIT */
/* soup_filter.h: the SIMD versions of the filters of face_item.h and triangle_filter.h. soup_cpu.c
 * includes this file once for doubles and once for floats, and defines beforehand:
 *
 *   NAME(x)             x with a suffix for the type
 *   VECTOR, FLAGS       SIMD vectors, and the type of their comparisons
 *   WIDTH               lanes of a vector
 *   MINIMUM, MAXIMUM, MAGNITUDE, LANES(flags)
 *   NAME(load)(points, list, which, at)   corner `which` of the pairs from `at` on
 *   UNIT, UNDERFLOW     of the error bound: 2^3 times the unit roundoff, and the error by underflow
 *
 * Floats: a difference of floats is rounded. The bound of triangle_filter.h includes this rounding,
 * for floats as for doubles, so the same code is correct for both. Floats leave a few more pairs
 * open and decide twice as many at a time. */

static inline NAME(vec) NAME(sub)(NAME(vec) a, NAME(vec) b) {
    return (NAME(vec)){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline NAME(vec) NAME(cross)(NAME(vec) a, NAME(vec) b) {
    return (NAME(vec)){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline VECTOR NAME(dot)(NAME(vec) a, NAME(vec) b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

/* The same corner, as seen from an origin. */
static inline NAME(vec) NAME(load_from)(const carom_soup_points *points, const list *list,
                                        uint32_t which, uint32_t at, NAME(vec) origin) {
    return NAME(sub)(NAME(load)(points, list, which, at), origin);
}

/* ---- Error bounds ---------------------------------------------------------------------------- */

/* carom_orient_error. */
static inline VECTOR NAME(orient_error)(VECTOR x, VECTOR y, VECTOR z) {
    VECTOR sum = (x + y) + (z + 1);
    return UNIT * (8 * x * y * z) + UNDERFLOW * (sum * sum);
}

static inline VECTOR NAME(most_of_4)(VECTOR a, VECTOR b, VECTOR c, VECTOR d) {
    return MAXIMUM(MAXIMUM(MAGNITUDE(a), MAGNITUDE(b)), MAXIMUM(MAGNITUDE(c), MAGNITUDE(d)));
}

/* The error of determinants of these vectors. */
static inline VECTOR NAME(error_of_4)(NAME(vec) a, NAME(vec) b, NAME(vec) c, NAME(vec) d) {
    return NAME(orient_error)(NAME(most_of_4)(a.x, b.x, c.x, d.x),
                              NAME(most_of_4)(a.y, b.y, c.y, d.y),
                              NAME(most_of_4)(a.z, b.z, c.z, d.z));
}

static inline VECTOR NAME(extent_of_6)(VECTOR a, VECTOR b, VECTOR c, VECTOR d, VECTOR e, VECTOR f) {
    VECTOR low = MINIMUM(MINIMUM(a, b), MINIMUM(c, d));
    VECTOR high = MAXIMUM(MAXIMUM(a, b), MAXIMUM(c, d));
    return MAXIMUM(high, MAXIMUM(e, f)) - MINIMUM(low, MINIMUM(e, f));
}

/* ---- Filters: lanes that are certainly no or certainly yes ----------------------------------- */

/* No common vertex. No: all of one triangle is on one side of the other's plane. Never yes. */
static inline answer NAME(filter_0)(const carom_soup_points *points, const list *list,
                                    uint32_t at) {
    NAME(vec) a0 = NAME(load)(points, list, 0, at);
    NAME(vec) a1 = NAME(load)(points, list, 1, at);
    NAME(vec) a2 = NAME(load)(points, list, 2, at);
    NAME(vec) b0 = NAME(load)(points, list, 3, at);
    NAME(vec) b1 = NAME(load)(points, list, 4, at);
    NAME(vec) b2 = NAME(load)(points, list, 5, at);
    VECTOR error = NAME(orient_error)(NAME(extent_of_6)(a0.x, a1.x, a2.x, b0.x, b1.x, b2.x),
                                      NAME(extent_of_6)(a0.y, a1.y, a2.y, b0.y, b1.y, b2.y),
                                      NAME(extent_of_6)(a0.z, a1.z, a2.z, b0.z, b1.z, b2.z));
    NAME(vec)
    nb = NAME(cross)(NAME(sub)(b1, b0), NAME(sub)(b2, b0)),
    na = NAME(cross)(NAME(sub)(a1, a0), NAME(sub)(a2, a0));
    VECTOR da0 = NAME(dot)(nb, NAME(sub)(a0, b0)), da1 = NAME(dot)(nb, NAME(sub)(a1, b0)),
           da2 = NAME(dot)(nb, NAME(sub)(a2, b0));
    VECTOR db0 = NAME(dot)(na, NAME(sub)(b0, a0)), db1 = NAME(dot)(na, NAME(sub)(b1, a0)),
           db2 = NAME(dot)(na, NAME(sub)(b2, a0));
    VECTOR a_low = MINIMUM(MINIMUM(da0, da1), da2);
    VECTOR a_high = MAXIMUM(MAXIMUM(da0, da1), da2);
    VECTOR b_low = MINIMUM(MINIMUM(db0, db1), db2);
    VECTOR b_high = MAXIMUM(MAXIMUM(db0, db1), db2);
    FLAGS no = (a_low > error) | (a_high < -error) | (b_low > error) | (b_high < -error);
    return (answer){LANES(no), 0};
}

/* One common vertex: as carom_face_filter_1. The vertices are v, a1, a2, b1, b2. */
static inline answer NAME(filter_1)(const carom_soup_points *points, const list *list,
                                    uint32_t at) {
    NAME(vec) v = NAME(load)(points, list, 0, at);
    NAME(vec) u1 = NAME(load_from)(points, list, 1, at, v);
    NAME(vec) u2 = NAME(load_from)(points, list, 2, at, v);
    NAME(vec) w1 = NAME(load_from)(points, list, 3, at, v);
    NAME(vec) w2 = NAME(load_from)(points, list, 4, at, v);
    VECTOR error = NAME(error_of_4)(u1, u2, w1, w2);
    NAME(vec) na = NAME(cross)(u1, u2), nb = NAME(cross)(w1, w2);
    VECTOR sb1 = NAME(dot)(na, w1), sb2 = NAME(dot)(na, w2), sa1 = NAME(dot)(nb, u1),
           sa2 = NAME(dot)(nb, u2);
    FLAGS b_same = (MINIMUM(sb1, sb2) > error) | (MAXIMUM(sb1, sb2) < -error);
    FLAGS a_same = (MINIMUM(sa1, sa2) > error) | (MAXIMUM(sa1, sa2) < -error);
    VECTOR least =
        MINIMUM(MINIMUM(MAGNITUDE(sb1), MAGNITUDE(sb2)), MINIMUM(MAGNITUDE(sa1), MAGNITUDE(sa2)));
    FLAGS apart = a_same | b_same, certain = least > error;
    FLAGS differ = (sa1 > 0) ^ (sb1 > 0);
    return (answer){LANES(apart | (certain & ~differ)), LANES(~apart & certain & differ)};
}

/* Two common vertices. No: the triangles are not coplanar. The vertices are those of the edge, then
 * the two apexes. Never yes. */
static inline answer NAME(filter_2)(const carom_soup_points *points, const list *list,
                                    uint32_t at) {
    NAME(vec) e0 = NAME(load)(points, list, 0, at), e1 = NAME(load_from)(points, list, 1, at, e0);
    NAME(vec) a = NAME(load_from)(points, list, 2, at, e0);
    NAME(vec) b = NAME(load_from)(points, list, 3, at, e0);
    VECTOR error = NAME(error_of_4)(e1, a, b, b);
    FLAGS no = MAGNITUDE(NAME(dot)(NAME(cross)(e1, a), b)) > error;
    return (answer){LANES(no), 0};
}

/* ---- Lists of pairs -------------------------------------------------------------------------- */

typedef answer NAME(filter_fn)(const carom_soup_points *points, const list *list, uint32_t at);

/* `filter` is a constant in every call, so that the compiler specialises the loop for it. */
static inline void NAME(run)(const carom_soup_points *points, NAME(filter_fn) * filter, list *list,
                             carom_soup_verdicts *verdicts) {
    uint32_t count = list->count;
    if (count == 0) return;
    for (uint32_t i = 0; i < WIDTH; ++i) /* pad the last vector */
        memcpy(list->vertex[count + i], list->vertex[0], sizeof(list->vertex[0]));
    for (uint32_t at = 0; at < count; at += WIDTH) {
        answer answer = filter(points, list, at);
        uint32_t left = count - at;
        carom_lanes inside = left >= WIDTH ? ~0u >> (32 - WIDTH) : (1u << left) - 1;
        for (carom_lanes yes = answer.yes & inside; yes != 0; yes &= yes - 1)
            verdicts->yes[verdicts->yes_count++] = list->pair[at + (uint32_t)__builtin_ctz(yes)];
        for (carom_lanes open = ~answer.no & ~answer.yes & inside; open != 0; open &= open - 1)
            verdicts->open[verdicts->open_count++] = list->pair[at + (uint32_t)__builtin_ctz(open)];
    }
}

static void NAME(decide)(const carom_soup_points *points, list *lists,
                         carom_soup_verdicts *verdicts) {
    NAME(run)(points, NAME(filter_0), &lists[NONE], verdicts);
    NAME(run)(points, NAME(filter_1), &lists[ONE], verdicts);
    NAME(run)(points, NAME(filter_2), &lists[TWO], verdicts);
}

#undef NAME
#undef VECTOR
#undef FLAGS
#undef WIDTH
#undef MINIMUM
#undef MAXIMUM
#undef MAGNITUDE
#undef LANES
#undef UNIT
#undef UNDERFLOW
