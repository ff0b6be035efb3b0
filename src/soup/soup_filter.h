/* SPDX-License-Identifier: MIT */
/* soup_filter.h: the SIMD versions of the filters of face_item.h and triangle_filter.h. soup_cpu.c
 * includes this file for doubles, for posed corners and for floats, and defines beforehand:
 *
 *   NAME(x)             x with a suffix for the type
 *   LOADED              the type that says where corners are
 *   VECTOR, FLAGS       SIMD vectors, and the type of their comparisons
 *   WIDTH               lanes of a vector
 *   MINIMUM, MAXIMUM, MAGNITUDE, SET_OF(flags)
 *   NAME(load)(points, list, which, at)   corner `which` of the pairs from `at` on
 *   UNIT, SUBNORMAL     of the error bound: 2^3 times the unit roundoff, and the error by underflow
 *
 * All of it is inlined: vectors that are returned through memory cost a twentieth of a search.
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

static inline VECTOR NAME(choose)(FLAGS which, VECTOR yes, VECTOR no) {
    return (VECTOR)(((FLAGS)yes & which) | ((FLAGS)no & ~which));
}

/* The same corner, as seen from an origin. */
static inline NAME(vec) NAME(load_from)(const LOADED *points, const pair_corners *list,
                                        uint32_t which, uint32_t at, NAME(vec) origin) {
    return NAME(sub)(NAME(load)(points, list, which, at), origin);
}

/* ---- Error bounds ---------------------------------------------------------------------------- */

/* carom_orient_error. */
static inline VECTOR NAME(orient_error)(VECTOR x, VECTOR y, VECTOR z) {
    return CAROM_ORIENT_ERROR(UNIT, SUBNORMAL, x, y, z);
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

static inline VECTOR NAME(error_of_pair)(const NAME(vec) * a, const NAME(vec) * b) {
    return NAME(orient_error)(NAME(extent_of_6)(a[0].x, a[1].x, a[2].x, b[0].x, b[1].x, b[2].x),
                              NAME(extent_of_6)(a[0].y, a[1].y, a[2].y, b[0].y, b[1].y, b[2].y),
                              NAME(extent_of_6)(a[0].z, a[1].z, a[2].z, b[0].z, b[1].z, b[2].z));
}

/* The determinants of the corners of a with the plane of b. */
static inline void NAME(sides)(const NAME(vec) * a, const NAME(vec) * b, VECTOR *d) {
    NAME(vec) n = NAME(cross)(NAME(sub)(b[1], b[0]), NAME(sub)(b[2], b[0]));
    for (int i = 0; i < 3; ++i) d[i] = NAME(dot)(n, NAME(sub)(a[i], b[0]));
}

static inline FLAGS NAME(same_side)(const VECTOR *d, VECTOR error) {
    return (MINIMUM(MINIMUM(d[0], d[1]), d[2]) > error) |
           (MAXIMUM(MAXIMUM(d[0], d[1]), d[2]) < -error);
}

/* Loads pairs without a common vertex, with the determinants of the corners of each triangle with
 * the other's plane; returns their error. */
static inline VECTOR NAME(load_sides)(const LOADED *points, const pair_corners *list, uint32_t at,
                                      NAME(vec) * a, NAME(vec) * b, VECTOR *da, VECTOR *db) {
    for (int i = 0; i < 3; ++i) {
        a[i] = NAME(load)(points, list, i, at);
        b[i] = NAME(load)(points, list, 3 + i, at);
    }
    NAME(sides)(a, b, da);
    NAME(sides)(b, a, db);
    return NAME(error_of_pair)(a, b);
}

/* No common vertex. No: all of one triangle is on one side of the other's plane. Never yes. */
__attribute__((always_inline)) static inline soup_cpu_answer
NAME(filter_0)(const LOADED *points, const pair_corners *list, uint32_t at) {
    NAME(vec) a[3], b[3];
    VECTOR da[3], db[3];
    VECTOR error = NAME(load_sides)(points, list, at, a, b, da, db);
    return (soup_cpu_answer){SET_OF(NAME(same_side)(da, error) | NAME(same_side)(db, error)), 0};
}

static inline NAME(vec) NAME(select)(FLAGS which, NAME(vec) yes, NAME(vec) no) {
    return (NAME(vec)){NAME(choose)(which, yes.x, no.x), NAME(choose)(which, yes.y, no.y),
                       NAME(choose)(which, yes.z, no.z)};
}

/* The corners of a triangle from the one that is alone on its side of the other's plane, at p.
 * `values` are those of the corners, of which no sign is uncertain. */
typedef struct NAME(lone) {
    NAME(vec) p, q, r;
    FLAGS up;
} NAME(lone);

static inline NAME(lone) NAME(from_lone)(const NAME(vec) * corner, const VECTOR *values) {
    FLAGS up0 = values[0] > 0, up1 = values[1] > 0, up2 = values[2] > 0;
    FLAGS first = ~(up1 ^ up2), second = ~first & ~(up0 ^ up2);
    NAME(lone)
    t = {.p = NAME(select)(first, corner[0], NAME(select)(second, corner[1], corner[2])),
         .q = NAME(select)(first, corner[1], NAME(select)(second, corner[2], corner[0])),
         .r = NAME(select)(first, corner[2], NAME(select)(second, corner[0], corner[1])),
         .up = (first & up0) | (second & up1) | (~first & ~second & up2)};
    return t;
}

static inline VECTOR NAME(orient3d)(NAME(vec) a, NAME(vec) b, NAME(vec) c, NAME(vec) d) {
    return NAME(dot)(NAME(cross)(NAME(sub)(b, a), NAME(sub)(c, a)), NAME(sub)(d, a));
}

static inline FLAGS NAME(certain_of_3)(const VECTOR *d, VECTOR error) {
    return (MAGNITUDE(d[0]) > error) & (MAGNITUDE(d[1]) > error) & (MAGNITUDE(d[2]) > error);
}

/* No common vertex, and neither triangle certainly on one side of the other's plane: the intervals
 * on the common line of the planes, as in carom_triangle_filter. */
__attribute__((always_inline)) static inline soup_cpu_answer
NAME(filter_intervals)(const LOADED *points, const pair_corners *list, uint32_t at) {
    NAME(vec) a[3], b[3];
    VECTOR da[3], db[3];
    VECTOR error = NAME(load_sides)(points, list, at, a, b, da, db);
    FLAGS certain = NAME(certain_of_3)(da, error) & NAME(certain_of_3)(db, error);
    NAME(lone) ta = NAME(from_lone)(a, da), tb = NAME(from_lone)(b, db);
    NAME(vec)
    low_a = NAME(select)(ta.up, ta.r, ta.q), high_a = NAME(select)(ta.up, ta.q, ta.r);
    NAME(vec)
    low_b = NAME(select)(tb.up, tb.q, tb.r), high_b = NAME(select)(tb.up, tb.r, tb.q);
    VECTOR ahead = NAME(orient3d)(ta.p, low_a, tb.p, high_b);
    VECTOR behind = NAME(orient3d)(ta.p, high_a, tb.p, low_b);
    FLAGS turned = ta.up ^ tb.up;
    ahead = NAME(choose)(turned, -ahead, ahead);
    behind = NAME(choose)(turned, -behind, behind);
    return (soup_cpu_answer){SET_OF(certain & ((ahead < -error) | (behind > error))),
                             SET_OF(certain & (ahead > error) & (behind < -error))};
}

/* One common vertex: as carom_face_filter_1. The vertices are v, a1, a2, b1, b2. */
__attribute__((always_inline)) static inline soup_cpu_answer
NAME(filter_1)(const LOADED *points, const pair_corners *list, uint32_t at) {
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
    return (soup_cpu_answer){SET_OF(apart | (certain & ~differ)),
                             SET_OF(~apart & certain & differ)};
}

/* Two common vertices. No: the triangles are not coplanar. The vertices are those of the edge, then
 * the two apexes. Never yes. */
__attribute__((always_inline)) static inline soup_cpu_answer
NAME(filter_2)(const LOADED *points, const pair_corners *list, uint32_t at) {
    NAME(vec) e0 = NAME(load)(points, list, 0, at), e1 = NAME(load_from)(points, list, 1, at, e0);
    NAME(vec) a = NAME(load_from)(points, list, 2, at, e0);
    NAME(vec) b = NAME(load_from)(points, list, 3, at, e0);
    VECTOR error = NAME(error_of_4)(e1, a, b, b);
    FLAGS no = MAGNITUDE(NAME(dot)(NAME(cross)(e1, a), b)) > error;
    return (soup_cpu_answer){SET_OF(no), 0};
}

/* ---- Filters in a plane ---------------------------------------------------------------------- */
/* For what the filters above leave open, as carom_face_filter_flat: no, where an edge separates the
 * faces, seen along the axis of the largest component of a's normal. Never yes. */

typedef struct NAME(point) {
    VECTOR x, y;
} NAME(point);

/* The axis: the lanes in which it is z, and those of the others in which it is y. */
typedef struct NAME(axis) {
    FLAGS z, y;
} NAME(axis);

static inline NAME(axis) NAME(axis_of)(NAME(vec) normal) {
    VECTOR x = MAGNITUDE(normal.x), y = MAGNITUDE(normal.y), z = MAGNITUDE(normal.z);
    return (NAME(axis)){(z >= x) & (z >= y), y >= x};
}

static inline NAME(point) NAME(project)(NAME(vec) v, NAME(axis) along) {
    return (NAME(point)){NAME(choose)(along.z, v.x, NAME(choose)(along.y, v.z, v.y)),
                         NAME(choose)(along.z, v.y, NAME(choose)(along.y, v.x, v.z))};
}

static inline NAME(point) NAME(from)(NAME(point) a, NAME(point) b) {
    return (NAME(point)){b.x - a.x, b.y - a.y};
}

static inline NAME(point) NAME(back_where)(FLAGS which, NAME(point) u) {
    return (NAME(point)){NAME(choose)(which, -u.x, u.x), NAME(choose)(which, -u.y, u.y)};
}

/* The determinant of two differences. It is off by three roundings of each product, and UNIT is
 * eight. */
typedef struct NAME(turn) {
    VECTOR value, error;
} NAME(turn);

static inline NAME(turn) NAME(turn_of)(NAME(point) u, NAME(point) v) {
    VECTOR left = u.x * v.y, right = u.y * v.x;
    return (NAME(turn)){left - right, UNIT * (MAGNITUDE(left) + MAGNITUDE(right)) + SUBNORMAL};
}

static inline FLAGS NAME(is_left)(NAME(point) u, NAME(point) v) {
    NAME(turn) t = NAME(turn_of)(u, v);
    return t.value > t.error;
}

/* Whether the turn from u to v is certain, and whether it is to the left. */
static inline FLAGS NAME(turns)(NAME(point) u, NAME(point) v, FLAGS *left) {
    NAME(turn) t = NAME(turn_of)(u, v);
    *left = t.value > 0;
    return MAGNITUDE(t.value) > t.error;
}

/* Whether an edge of p has all of q beyond it. */
static inline FLAGS NAME(beyond_edge_0)(const NAME(point) * p, const NAME(point) * q) {
    FLAGS left, certain = NAME(turns)(NAME(from)(p[0], p[1]), NAME(from)(p[0], p[2]), &left);
    FLAGS found = left ^ left;
    for (int i = 0; i < 3; ++i) {
        NAME(point) edge = NAME(back_where)(left, NAME(from)(p[i], p[i == 2 ? 0 : i + 1]));
        found |= NAME(is_left)(edge, NAME(from)(p[i], q[0])) &
                 NAME(is_left)(edge, NAME(from)(p[i], q[1])) &
                 NAME(is_left)(edge, NAME(from)(p[i], q[2]));
    }
    return certain & found;
}

__attribute__((always_inline)) static inline soup_cpu_answer
NAME(filter_flat_0)(const LOADED *points, const pair_corners *list, uint32_t at) {
    NAME(vec) a[3], b[3];
    NAME(point) p[3], q[3];
    for (int i = 0; i < 3; ++i) {
        a[i] = NAME(load)(points, list, i, at);
        b[i] = NAME(load)(points, list, 3 + i, at);
    }
    NAME(axis)
    along = NAME(axis_of)(NAME(cross)(NAME(sub)(a[1], a[0]), NAME(sub)(a[2], a[0])));
    for (int i = 0; i < 3; ++i) {
        p[i] = NAME(project)(a[i], along);
        q[i] = NAME(project)(b[i], along);
    }
    return (soup_cpu_answer){SET_OF(NAME(beyond_edge_0)(p, q) | NAME(beyond_edge_0)(q, p)), 0};
}

/* One common vertex, at the origin: whether one of the edges u1, u2 of a face has the corners w1
 * and w2 of the other beyond it. */
static inline FLAGS NAME(beyond_edge_1)(NAME(point) u1, NAME(point) u2, NAME(point) w1,
                                        NAME(point) w2) {
    FLAGS left, certain = NAME(turns)(u1, u2, &left);
    NAME(point) first = NAME(back_where)(left, u1), second = NAME(back_where)(~left, u2);
    return certain & ((NAME(is_left)(first, w1) & NAME(is_left)(first, w2)) |
                      (NAME(is_left)(second, w1) & NAME(is_left)(second, w2)));
}

__attribute__((always_inline)) static inline soup_cpu_answer
NAME(filter_flat_1)(const LOADED *points, const pair_corners *list, uint32_t at) {
    NAME(vec) v = NAME(load)(points, list, 0, at), from_v[4];
    NAME(point) p[4];
    for (uint32_t i = 0; i < 4; ++i) from_v[i] = NAME(load_from)(points, list, i + 1, at, v);
    NAME(axis) along = NAME(axis_of)(NAME(cross)(from_v[0], from_v[1]));
    for (int i = 0; i < 4; ++i) p[i] = NAME(project)(from_v[i], along);
    return (soup_cpu_answer){SET_OF(NAME(beyond_edge_1)(p[0], p[1], p[2], p[3]) |
                                    NAME(beyond_edge_1)(p[2], p[3], p[0], p[1])),
                             0};
}

/* Two common vertices: their edge alone can separate. */
__attribute__((always_inline)) static inline soup_cpu_answer
NAME(filter_flat_2)(const LOADED *points, const pair_corners *list, uint32_t at) {
    NAME(vec) e0 = NAME(load)(points, list, 0, at), from_e0[3];
    NAME(point) p[3];
    for (uint32_t i = 0; i < 3; ++i) from_e0[i] = NAME(load_from)(points, list, i + 1, at, e0);
    NAME(axis) along = NAME(axis_of)(NAME(cross)(from_e0[0], from_e0[1]));
    for (int i = 0; i < 3; ++i) p[i] = NAME(project)(from_e0[i], along);
    FLAGS left, certain = NAME(turns)(p[0], p[1], &left);
    return (soup_cpu_answer){SET_OF(certain & NAME(is_left)(NAME(back_where)(left, p[0]), p[2])),
                             0};
}

/* ---- Lists of pairs -------------------------------------------------------------------------- */

typedef soup_cpu_answer NAME(filter_fn)(const LOADED *points, const pair_corners *list,
                                        uint32_t at);

/* Keeps in the list what the filter leaves open. `filter` is a constant in every call, so that the
 * compiler specialises the loop for it. */
__attribute__((always_inline)) static inline void NAME(run)(const LOADED *points,
                                                            NAME(filter_fn) * filter,
                                                            pair_corners *list,
                                                            carom_soup_verdicts *verdicts) {
    uint32_t count = list->count, kept = 0;
    if (count == 0) return;
    for (uint32_t i = 0; i < WIDTH; ++i) /* pad the last vector */
        memcpy(list->vertex[count + i], list->vertex[0], sizeof(list->vertex[0]));
    for (uint32_t at = 0; at < count; at += WIDTH) {
        soup_cpu_answer soup_cpu_answer = filter(points, list, at);
        uint32_t left = count - at;
        carom_lanes inside = left >= WIDTH ? ~0u >> (32 - WIDTH) : (1u << left) - 1;
        for (carom_lanes yes = soup_cpu_answer.yes & inside; yes != 0; yes &= yes - 1)
            verdicts->yes[verdicts->yes_count++] = list->pair[at + (uint32_t)__builtin_ctz(yes)];
        for (carom_lanes open = ~soup_cpu_answer.no & ~soup_cpu_answer.yes & inside; open != 0;
             open &= open - 1) {
            uint32_t i = at + (uint32_t)__builtin_ctz(open);
            list->pair[kept] = list->pair[i];
            memmove(list->vertex[kept++], list->vertex[i], sizeof(list->vertex[i]));
        }
    }
    list->count = kept;
}

__attribute__((always_inline)) static inline void
NAME(decide)(const LOADED *points, pair_corners *lists, carom_soup_verdicts *verdicts) {
    pair_corners *none = &lists[SOUP_CPU_LIST_NONE], *one = &lists[SOUP_CPU_LIST_ONE];
    pair_corners *two = &lists[SOUP_CPU_LIST_TWO];
    NAME(run)(points, NAME(filter_0), none, verdicts);
    NAME(run)(points, NAME(filter_intervals), none, verdicts);
    NAME(run)(points, NAME(filter_flat_0), none, verdicts);
    NAME(run)(points, NAME(filter_1), one, verdicts);
    NAME(run)(points, NAME(filter_flat_1), one, verdicts);
    NAME(run)(points, NAME(filter_2), two, verdicts);
    NAME(run)(points, NAME(filter_flat_2), two, verdicts);
}

#undef NAME
#undef LOADED
#undef VECTOR
#undef FLAGS
#undef WIDTH
#undef MINIMUM
#undef MAXIMUM
#undef MAGNITUDE
#undef SET_OF
#undef UNIT
#undef SUBNORMAL
