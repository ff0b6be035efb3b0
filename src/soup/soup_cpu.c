/* SPDX-License-Identifier: MIT */
/* The filters of face_item.h and triangle_filter.h, several pairs at a time.
 *
 * In a mesh most triangles with overlapping boxes are neighbours: of the two million candidates of
 * the crumpled cloth three in four share a vertex. So pairs are first dealt into lists by common
 * vertices, and each list is run through its own determinants with as many pairs as a vector has
 * lanes: two planes' worth for no or one common vertex, a single one for an edge. Error bounds are
 * those of carom_orient_error; lanes within the bound are left open. */
#include "soup/soup_cpu.h"

#include "base/simd.h"
#include "geom/triangle_filter.h"

/* Four numbers in a row, the last of no interest. */
typedef uint32_t four __attribute__((vector_size(16)));
typedef int32_t four_signed __attribute__((vector_size(16)));

/* The corners of each pair of one list, and the pair's number in the batch. */
typedef struct list {
    uint32_t count;
    uint16_t pair[CAROM_SOUP_BATCH + CAROM_LANES64];
    uint32_t vertex[CAROM_SOUP_BATCH + CAROM_LANES64][8]; /* six are used */
} list;

typedef struct vec3v {
    carom_f64v x, y, z;
} vec3v;

static inline vec3v sub(vec3v a, vec3v b) {
    return (vec3v){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3v cross(vec3v a, vec3v b) {
    return (vec3v){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline carom_f64v dot(vec3v a, vec3v b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

/* ---- loading --------------------------------------------------------------------------------- */

#if CAROM_LANES64 == 8
#define LANES_OF(p, k)                                                                             \
    (carom_f64v) {                                                                                 \
        p[0][k], p[1][k], p[2][k], p[3][k], p[4][k], p[5][k], p[6][k], p[7][k]                     \
    }
#elif CAROM_LANES64 == 4
#define LANES_OF(p, k)                                                                             \
    (carom_f64v) {                                                                                 \
        p[0][k], p[1][k], p[2][k], p[3][k]                                                         \
    }
#else
#define LANES_OF(p, k)                                                                             \
    (carom_f64v) {                                                                                 \
        p[0][k], p[1][k]                                                                           \
    }
#endif

/* Corner `which` of the pairs from `at` on. */
static inline vec3v load(const carom_soup_points *points, bool is_double, const list *list,
                         int which, uint32_t at) {
    if (is_double) {
        const double *p[CAROM_LANES64];
        for (uint32_t i = 0; i < CAROM_LANES64; ++i)
            p[i] = (const double *)points->positions + 3 * (uint64_t)list->vertex[at + i][which];
        return (vec3v){LANES_OF(p, 0), LANES_OF(p, 1), LANES_OF(p, 2)};
    }
    const float *p[CAROM_LANES64];
    for (uint32_t i = 0; i < CAROM_LANES64; ++i)
        p[i] = (const float *)points->positions + 3 * (uint64_t)list->vertex[at + i][which];
    return (vec3v){LANES_OF(p, 0), LANES_OF(p, 1), LANES_OF(p, 2)};
}

/* ---- error bounds ---------------------------------------------------------------------------- */

static inline carom_f64v orient_error(carom_f64v x, carom_f64v y, carom_f64v z) {
    carom_f64v sum = (x + y) + (z + 1.0);
    return 0x1p-50 * (8.0 * x * y * z) + CAROM_ORIENT_UNDERFLOW * (sum * sum);
}

static inline carom_f64v most_of_4(carom_f64v a, carom_f64v b, carom_f64v c, carom_f64v d) {
    return carom_f64v_max(carom_f64v_max(carom_f64v_abs(a), carom_f64v_abs(b)),
                          carom_f64v_max(carom_f64v_abs(c), carom_f64v_abs(d)));
}

static inline carom_f64v extent_of_6(carom_f64v a, carom_f64v b, carom_f64v c, carom_f64v d,
                                     carom_f64v e, carom_f64v f) {
    carom_f64v low = carom_f64v_min(carom_f64v_min(a, b), carom_f64v_min(c, d));
    carom_f64v high = carom_f64v_max(carom_f64v_max(a, b), carom_f64v_max(c, d));
    return carom_f64v_max(high, carom_f64v_max(e, f)) - carom_f64v_min(low, carom_f64v_min(e, f));
}

/* ---- the three filters: lanes that are a certain no, a certain yes --------------------------- */

typedef struct answer {
    carom_lanes no, yes;
} answer;

/* No common vertex: all of one on one side of the other's plane. Never a yes. */
static inline answer filter_0(const carom_soup_points *points, bool is_double, const list *list,
                              uint32_t at) {
    vec3v a0 = load(points, is_double, list, 0, at);
    vec3v a1 = load(points, is_double, list, 1, at);
    vec3v a2 = load(points, is_double, list, 2, at);
    vec3v b0 = load(points, is_double, list, 3, at);
    vec3v b1 = load(points, is_double, list, 4, at);
    vec3v b2 = load(points, is_double, list, 5, at);
    carom_f64v error = orient_error(extent_of_6(a0.x, a1.x, a2.x, b0.x, b1.x, b2.x),
                                    extent_of_6(a0.y, a1.y, a2.y, b0.y, b1.y, b2.y),
                                    extent_of_6(a0.z, a1.z, a2.z, b0.z, b1.z, b2.z));
    vec3v nb = cross(sub(b1, b0), sub(b2, b0)), na = cross(sub(a1, a0), sub(a2, a0));
    carom_f64v da0 = dot(nb, sub(a0, b0)), da1 = dot(nb, sub(a1, b0)), da2 = dot(nb, sub(a2, b0));
    carom_f64v db0 = dot(na, sub(b0, a0)), db1 = dot(na, sub(b1, a0)), db2 = dot(na, sub(b2, a0));
    carom_f64v a_low = carom_f64v_min(carom_f64v_min(da0, da1), da2);
    carom_f64v a_high = carom_f64v_max(carom_f64v_max(da0, da1), da2);
    carom_f64v b_low = carom_f64v_min(carom_f64v_min(db0, db1), db2);
    carom_f64v b_high = carom_f64v_max(carom_f64v_max(db0, db1), db2);
    carom_i64v no = (a_low > error) | (a_high < -error) | (b_low > error) | (b_high < -error);
    return (answer){carom_lanes_of64(no), 0};
}

/* One: as carom_face_filter_1. The vertices are v, a1, a2, b1, b2. */
static inline answer filter_1(const carom_soup_points *points, bool is_double, const list *list,
                              uint32_t at) {
    vec3v v = load(points, is_double, list, 0, at);
    vec3v u1 = sub(load(points, is_double, list, 1, at), v);
    vec3v u2 = sub(load(points, is_double, list, 2, at), v);
    vec3v w1 = sub(load(points, is_double, list, 3, at), v);
    vec3v w2 = sub(load(points, is_double, list, 4, at), v);
    carom_f64v error =
        orient_error(most_of_4(u1.x, u2.x, w1.x, w2.x), most_of_4(u1.y, u2.y, w1.y, w2.y),
                     most_of_4(u1.z, u2.z, w1.z, w2.z));
    vec3v na = cross(u1, u2), nb = cross(w1, w2);
    carom_f64v sb1 = dot(na, w1), sb2 = dot(na, w2), sa1 = dot(nb, u1), sa2 = dot(nb, u2);
    carom_i64v b_same = (carom_f64v_min(sb1, sb2) > error) | (carom_f64v_max(sb1, sb2) < -error);
    carom_i64v a_same = (carom_f64v_min(sa1, sa2) > error) | (carom_f64v_max(sa1, sa2) < -error);
    carom_f64v least = carom_f64v_min(carom_f64v_min(carom_f64v_abs(sb1), carom_f64v_abs(sb2)),
                                      carom_f64v_min(carom_f64v_abs(sa1), carom_f64v_abs(sa2)));
    carom_i64v apart = a_same | b_same, certain = least > error;
    carom_i64v differ = (sa1 > 0.0) ^ (sb1 > 0.0);
    return (answer){carom_lanes_of64(apart | (certain & ~differ)),
                    carom_lanes_of64(~apart & certain & differ)};
}

/* Two: not coplanar. The vertices are the edge's and the apexes. Never a yes. */
static inline answer filter_2(const carom_soup_points *points, bool is_double, const list *list,
                              uint32_t at) {
    vec3v e0 = load(points, is_double, list, 0, at);
    vec3v e1 = sub(load(points, is_double, list, 1, at), e0);
    vec3v a = sub(load(points, is_double, list, 2, at), e0);
    vec3v b = sub(load(points, is_double, list, 3, at), e0);
    carom_f64v error = orient_error(most_of_4(e1.x, a.x, b.x, b.x), most_of_4(e1.y, a.y, b.y, b.y),
                                    most_of_4(e1.z, a.z, b.z, b.z));
    carom_i64v no = carom_f64v_abs(dot(cross(e1, a), b)) > error;
    return (answer){carom_lanes_of64(no), 0};
}

typedef answer filter_fn(const carom_soup_points *points, bool is_double, const list *list,
                         uint32_t at);

/* `filter` and `is_double` are constants in every call, so that each loop is compiled for its own.
 */
static inline void run(const carom_soup_points *points, bool is_double, filter_fn *filter,
                       list *list, carom_soup_verdicts *verdicts) {
    uint32_t count = list->count;
    if (count == 0) return;
    for (uint32_t i = 0; i < CAROM_LANES64; ++i) /* fill the last vector up */
        memcpy(list->vertex[count + i], list->vertex[0], sizeof(list->vertex[0]));
    for (uint32_t at = 0; at < count; at += CAROM_LANES64) {
        answer answer = filter(points, is_double, list, at);
        uint32_t left = count - at;
        carom_lanes inside = left >= CAROM_LANES64 ? ~0u >> (32 - CAROM_LANES64) : (1u << left) - 1;
        for (carom_lanes yes = answer.yes & inside; yes != 0; yes &= yes - 1)
            verdicts->yes[verdicts->yes_count++] = list->pair[at + (uint32_t)__builtin_ctz(yes)];
        for (carom_lanes open = ~answer.no & ~answer.yes & inside; open != 0; open &= open - 1)
            verdicts->open[verdicts->open_count++] = list->pair[at + (uint32_t)__builtin_ctz(open)];
    }
}

/* ---- dealing --------------------------------------------------------------------------------- */

/* Nine bits say which corners of a and b are the same vertex: bit 3 i + j for corner i of a and j
 * of b. A table, computed by the compiler, turns them into a list and the order of the six corners
 * in it, so that dealing has no branch to guess wrong. */
enum { NONE, ONE, TWO, OPEN, LISTS };

typedef struct deal {
    uint8_t order[6]; /* 0-2: corners of a, 4-6: corners of b */
    uint8_t fill, list;
} deal;

#define ROW(x, i)               ((x) >> (3 * (i)) & 7)
#define COUNT3(b)               (((b)&1) + ((b) >> 1 & 1) + ((b) >> 2 & 1))
#define COUNT(x)                (COUNT3(ROW(x, 0)) + COUNT3(ROW(x, 1)) + COUNT3(ROW(x, 2)))
#define IN_A(x)                 ((ROW(x, 0) ? 1 : 0) | (ROW(x, 1) ? 2 : 0) | (ROW(x, 2) ? 4 : 0))
#define IN_B(x)                 (ROW(x, 0) | ROW(x, 1) | ROW(x, 2))
#define FIRST(b)                ((b)&1 ? 0 : (b)&2 ? 1 : 2)
#define NEXT(i)                 (((i) + 1) % 3)
#define AFTER(i)                (((i) + 2) % 3)
#define IS_EDGE(x)              (COUNT(x) == 2 && COUNT3(IN_A(x)) == 2 && COUNT3(IN_B(x)) == 2)
#define LIST_OF(x)              (COUNT(x) == 0 ? NONE : COUNT(x) == 1 ? ONE : IS_EDGE(x) ? TWO : OPEN)
#define CORNER_A(x)             FIRST(IN_A(x)) /* the common one */
#define CORNER_B(x)             FIRST(IN_B(x))
#define APEX_A(x)               FIRST(~IN_A(x) & 7) /* the one that is not on the common edge */
#define APEX_B(x)               FIRST(~IN_B(x) & 7)
#define PICK(x, none, one, two) (LIST_OF(x) == ONE ? (one) : LIST_OF(x) == TWO ? (two) : (none))
#define DEAL(x)                                                                                    \
    {                                                                                              \
        {PICK(x, 0, CORNER_A(x), NEXT(APEX_A(x))),                                                 \
         PICK(x, 1, NEXT(CORNER_A(x)), AFTER(APEX_A(x))),                                          \
         PICK(x, 2, AFTER(CORNER_A(x)), APEX_A(x)),                                                \
         PICK(x, 4, 4 + NEXT(CORNER_B(x)), 4 + APEX_B(x)),                                         \
         PICK(x, 5, 4 + AFTER(CORNER_B(x)), 5),                                                    \
         6},                                                                                       \
            0, LIST_OF(x)                                                                          \
    }
#define DEAL_4(x)  DEAL(x), DEAL((x) + 1), DEAL((x) + 2), DEAL((x) + 3)
#define DEAL_16(x) DEAL_4(x), DEAL_4((x) + 4), DEAL_4((x) + 8), DEAL_4((x) + 12)
#define DEAL_64(x) DEAL_16(x), DEAL_16((x) + 16), DEAL_16((x) + 32), DEAL_16((x) + 48)

static const deal deals[512] = {DEAL_64(0),   DEAL_64(64),  DEAL_64(128), DEAL_64(192),
                                DEAL_64(256), DEAL_64(320), DEAL_64(384), DEAL_64(448)};

static inline uint32_t first_three(four_signed comparison) {
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)comparison) & 7u;
#else
    return ((uint32_t)comparison[0] & 1u) | ((uint32_t)comparison[1] & 2u) |
           ((uint32_t)comparison[2] & 4u);
#endif
}

static inline uint32_t alike_of(const uint32_t *a, four b) {
    return first_three(b == a[0]) | first_three(b == a[1]) << 3 | first_three(b == a[2]) << 6;
}

/* Writes the corners in the order of their deal. */
static inline void put_in_order(four a, four b, const deal *deal, uint32_t *to) {
#if defined(__AVX2__)
    __m256i both = _mm256_set_m128i((__m128i)b, (__m128i)a);
    __m256i order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)deal));
    /* Looks at the low three bits of each number. */
    _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(both, order));
#else
    uint32_t both[8];
    memcpy(both, &a, sizeof(a));
    memcpy(both + 4, &b, sizeof(b));
    for (int i = 0; i < 6; ++i) to[i] = both[deal->order[i]];
#endif
}

void CAROM_CPU(carom_soup_filter)(const carom_soup_points *points, const uint32_t *a,
                                  const uint32_t *b, uint32_t count,
                                  carom_soup_verdicts *verdicts) {
    list lists[LISTS];
    uint64_t counts = 0; /* of the four lists, sixteen bits each: in a register, not in memory */
    verdicts->yes_count = verdicts->open_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t *ca = points->corners + 3 * (uint64_t)a[i];
        four in_a, in_b;
        memcpy(&in_a, ca, sizeof(in_a));
        memcpy(&in_b, points->corners + 3 * (uint64_t)b[i], sizeof(in_b));
        const deal *deal = &deals[alike_of(ca, in_b)];
        list *list = &lists[deal->list];
        uint32_t at = counts >> (16 * deal->list) & 0xFFFF;
        counts += UINT64_C(1) << (16 * deal->list);
        list->pair[at] = (uint16_t)i;
        put_in_order(in_a, in_b, deal, list->vertex[at]);
    }
    for (int i = 0; i < LISTS; ++i) lists[i].count = counts >> (16 * i) & 0xFFFF;
    for (uint32_t i = 0; i < lists[OPEN].count; ++i)
        verdicts->open[verdicts->open_count++] = lists[OPEN].pair[i];
    if (points->is_double) {
        run(points, true, filter_0, &lists[NONE], verdicts);
        run(points, true, filter_1, &lists[ONE], verdicts);
        run(points, true, filter_2, &lists[TWO], verdicts);
    } else {
        run(points, false, filter_0, &lists[NONE], verdicts);
        run(points, false, filter_1, &lists[ONE], verdicts);
        run(points, false, filter_2, &lists[TWO], verdicts);
    }
}
