/* SPDX-License-Identifier: MIT */
/* The filters of face_item.h and triangle_filter.h with SIMD, several pairs at a time.
 *
 * In a mesh most triangles with overlapping boxes are neighbours: of the two million candidates of
 * the crumpled cloth three in four share a vertex. So pairs are first sorted into lists by the
 * number of common vertices. Each list has its own determinants, evaluated for as many pairs as a
 * SIMD vector has lanes (soup_filter.h): those of two planes for no or one common vertex, a single
 * one for a common edge. Where two planes do not decide, the rest is compressed and the intervals
 * on their common line are compared. What is then left is mostly neighbours in a flat part of a
 * mesh, where determinants are near zero: these are compared in a plane, where an edge separates
 * them. Lanes within the error bound are left open: by floats to doubles, by doubles to the exact
 * test. */
#include "soup/soup_cpu.h"

#include "base/simd.h"
#include "geom/triangle_filter.h"
#include "soup/soup_filter_error.h"

/* The corners of each pair of one list, and the pair's index in the batch. */
typedef struct pair_corners {
    /* Six of eight are used: a row does not cross a cache line. */
    _Alignas(64) uint32_t vertex[CAROM_SOUP_BATCH + CAROM_LANES][8];
    uint32_t count;
    uint16_t pair[CAROM_SOUP_BATCH + CAROM_LANES];
} pair_corners;

/* Lists by the number of common vertices. SOUP_CPU_LIST_OPEN, the 0 of the table
 * below, is for pairs that no filter handles. */
enum {
    SOUP_CPU_LIST_OPEN,
    SOUP_CPU_LIST_NONE,
    SOUP_CPU_LIST_ONE,
    SOUP_CPU_LIST_TWO,
    SOUP_CPU_LISTS
};

/* The lanes that are certainly no, and certainly yes. */
typedef struct soup_cpu_answer {
    carom_lanes no, yes;
} soup_cpu_answer;

/* ---- Filter in doubles ----------------------------------------------------------------------- */

#define NAME(x)   x##_f64
#define LOADED    carom_soup_points
#define VECTOR    carom_f64v
#define FLAGS     carom_i64v
#define WIDTH     CAROM_LANES64
#define MINIMUM   carom_f64v_min
#define MAXIMUM   carom_f64v_max
#define MAGNITUDE carom_f64v_abs
#define SET_OF    carom_lanes_of64
#define UNIT      CAROM_PAIR_ERROR
#define SUBNORMAL CAROM_ORIENT_UNDERFLOW

typedef struct vec_f64 {
    carom_f64v x, y, z;
} vec_f64;

__attribute__((always_inline)) static inline vec_f64 load_vertices(const void *positions,
                                                                   bool is_double,
                                                                   const pair_corners *list,
                                                                   int which, uint32_t at) {
    carom_f64v column[3];
    if (is_double) {
        const double *p[CAROM_LANES64];
        for (uint32_t i = 0; i < CAROM_LANES64; ++i)
            p[i] = (const double *)positions + 3 * (uint64_t)list->vertex[at + i][which];
        carom_f64v_points(p, column);
    } else {
        float values[3][CAROM_LANES64];
        for (uint32_t i = 0; i < CAROM_LANES64; ++i) {
            const float *p = (const float *)positions + 3 * (uint64_t)list->vertex[at + i][which];
            for (int k = 0; k < 3; ++k) values[k][i] = p[k];
        }
        for (int k = 0; k < 3; ++k) column[k] = carom_f64v_floats(values[k]);
    }
    return (vec_f64){column[0], column[1], column[2]};
}

__attribute__((always_inline)) static inline vec_f64
load_f64(const carom_soup_points *points, const pair_corners *list, int which, uint32_t at) {
    return load_vertices(points->positions, points->is_double, list, which, at);
}

#include "soup/soup_filter.h"

/* ---- The same of two posed soups ------------------------------------------------------------- */

#define NAME(x)   x##_of_two
#define LOADED    carom_soup_posed_points
#define VECTOR    carom_f64v
#define FLAGS     carom_i64v
#define WIDTH     CAROM_LANES64
#define MINIMUM   carom_f64v_min
#define MAXIMUM   carom_f64v_max
#define MAGNITUDE carom_f64v_abs
#define SET_OF    carom_lanes_of64
#define UNIT      CAROM_PAIR_ERROR
#define SUBNORMAL CAROM_ORIENT_UNDERFLOW

typedef vec_f64 vec_of_two;

/* Corners 0 to 2 are of the first soup, 3 to 5 of the second; carom_frame_apply. */
__attribute__((always_inline)) static inline vec_of_two
load_of_two(const carom_soup_posed_points *points, const pair_corners *list, int which,
            uint32_t at) {
    const carom_soup_points *side = &points->side[which / 3];
    const double *r = points->frame[which / 3].r;
    carom_vec3 t = points->frame[which / 3].t;
    vec_f64 p = load_vertices(side->positions, side->is_double, list, which, at);
    return (vec_of_two){((r[0] * p.x + r[1] * p.y) + r[2] * p.z) + t.x,
                        ((r[3] * p.x + r[4] * p.y) + r[5] * p.z) + t.y,
                        ((r[6] * p.x + r[7] * p.y) + r[8] * p.z) + t.z};
}

#include "soup/soup_filter.h"

/* ---- Filter in floats ------------------------------------------------------------------------ */

#define NAME(x)   x##_f32
#define LOADED    carom_soup_points
#define VECTOR    carom_f32v
#define FLAGS     carom_i32v
#define WIDTH     CAROM_LANES
#define MINIMUM   carom_f32v_min
#define MAXIMUM   carom_f32v_max
#define MAGNITUDE carom_f32v_abs
#define SET_OF    carom_lanes_of
#define UNIT      CAROM_FILTER_UNIT32
#define SUBNORMAL CAROM_FILTER_UNDERFLOW32

typedef struct vec_f32 {
    carom_f32v x, y, z;
} vec_f32;

static inline const float *vertex_f32(const carom_soup_points *points, const pair_corners *list,
                                      int which, uint32_t at) {
    return (const float *)points->positions + 3 * (uint64_t)list->vertex[at][which];
}

__attribute__((always_inline)) static inline vec_f32
load_f32(const carom_soup_points *points, const pair_corners *list, int which, uint32_t at) {
    carom_f32x4 row[CAROM_LANES];
    carom_f32v column[4]; /* the fourth is not used */
    for (uint32_t i = 0; i < CAROM_LANES; ++i)
        row[i] = carom_f32x4_load(vertex_f32(points, list, which, at + i));
    carom_f32v_transpose(row, column);
    return (vec_f32){column[0], column[1], column[2]};
}

#include "soup/soup_filter.h"

/* ---- Sorting pairs into lists ---------------------------------------------------------------- */

/* Twelve bits say which corners of a and b are the same vertex: bit 4 i + j for corner i of a and j
 * of b; bits 3, 7 and 11 are 0. A table maps them to a list and the order of the six corners in it.
 * This avoids mispredicted branches. What the table does not name goes to the list
 * SOUP_CPU_LIST_OPEN, which has no order. */
typedef struct soup_cpu_deal {
    uint8_t order[6]; /* 0-2: corners of a, 4-6: corners of b */
    uint8_t shift;    /* 16 times the list */
    uint8_t list;
} soup_cpu_deal;

#define NEXT(i)                 (((i) + 1) % 3)
#define AFTER(i)                (((i) + 2) % 3)
#define SOUP_CPU_SAME_BIT(i, j) (1 << (4 * (i) + (j)))

/* Corner i of a is corner j of b; or i and j are the corners not on a common edge, which has one of
 * two directions. */
#define CORNER(i, j)                                                                               \
    {                                                                                              \
        {i, NEXT(i), AFTER(i), 4 + NEXT(j), 4 + AFTER(j), 6}, 16 * SOUP_CPU_LIST_ONE,              \
            SOUP_CPU_LIST_ONE                                                                      \
    }
#define EDGE(i, j)                                                                                 \
    { {NEXT(i), AFTER(i), i, 4 + (j), 5, 6}, 16 * SOUP_CPU_LIST_TWO, SOUP_CPU_LIST_TWO }
#define DEALS(i, j)                                                                                \
    [SOUP_CPU_SAME_BIT(i, j)] = CORNER(i, j),                                                      \
                          [SOUP_CPU_SAME_BIT(NEXT(i), NEXT(j)) |                                   \
                              SOUP_CPU_SAME_BIT(AFTER(i), AFTER(j))] = EDGE(i, j),                 \
                          [SOUP_CPU_SAME_BIT(NEXT(i), AFTER(j)) |                                  \
                              SOUP_CPU_SAME_BIT(AFTER(i), NEXT(j))] = EDGE(i, j)

static const soup_cpu_deal deals[2048] = {
    [0] = {{0, 1, 2, 4, 5, 6}, 16 * SOUP_CPU_LIST_NONE, SOUP_CPU_LIST_NONE},
    DEALS(0, 0),
    DEALS(0, 1),
    DEALS(0, 2),
    DEALS(1, 0),
    DEALS(1, 1),
    DEALS(1, 2),
    DEALS(2, 0),
    DEALS(2, 1),
    DEALS(2, 2)};

/* The bits above of two triangles. The fourth lane of each holds the next triangle's first corner.
 */
static inline uint32_t alike_of(carom_u32x4 a, carom_u32x4 b) {
    return carom_u32x4_matches(a, b) & 0x777u;
}

/* Each with a copy of the filters that knows the type of positions. */
__attribute__((noinline)) static void decide_doubles(const carom_soup_points *points,
                                                     pair_corners *lists,
                                                     carom_soup_verdicts *verdicts) {
    const carom_soup_points doubles = {points->positions, points->corners, true};
    decide_f64(&doubles, lists, verdicts);
}

__attribute__((noinline)) static void
decide_floats(const carom_soup_points *points, pair_corners *lists, carom_soup_verdicts *verdicts) {
    const carom_soup_points floats = {points->positions, points->corners, false};
    decide_f32(&floats, lists, verdicts);
    decide_f64(&floats, lists, verdicts);
}

void CAROM_CPU(carom_soup_filter)(const carom_soup_points *points, const uint32_t *a,
                                  const uint32_t *b, uint32_t count,
                                  carom_soup_verdicts *verdicts) {
    pair_corners lists[SOUP_CPU_LISTS];
    uint64_t counts = 0; /* of the four lists, sixteen bits each, to fit in a register */
    verdicts->yes_count = verdicts->open_count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        carom_u32x4 in_a = carom_u32x4_load(points->corners + 3 * (uint64_t)a[i]);
        carom_u32x4 in_b = carom_u32x4_load(points->corners + 3 * (uint64_t)b[i]);
        const soup_cpu_deal *deal = &deals[alike_of(in_a, in_b)];
        pair_corners *list = &lists[deal->list];
        uint32_t at = counts >> deal->shift & 0xFFFF;
        counts += UINT64_C(1) << deal->shift;
        list->pair[at] = (uint16_t)i;
        _Static_assert(sizeof(*deal) == 8, "eight bytes are read as an order, and six are used");
        carom_u32x4_take(in_a, in_b, (const uint8_t *)deal, 6, list->vertex[at]);
    }
    for (int i = 0; i < SOUP_CPU_LISTS; ++i) lists[i].count = counts >> (16 * i) & 0xFFFF;
    (points->is_double ? decide_doubles : decide_floats)(points, lists, verdicts);
    for (int k = 0; k < SOUP_CPU_LISTS; ++k)
        for (uint32_t i = 0; i < lists[k].count; ++i)
            verdicts->open[verdicts->open_count++] = lists[k].pair[i];
}

void CAROM_CPU(carom_soup_cross_filter)(const carom_soup_posed_points *points, const uint32_t *a,
                                        const uint32_t *b, uint32_t count,
                                        carom_soup_verdicts *verdicts) {
    pair_corners list;
    verdicts->yes_count = verdicts->open_count = 0;
    list.count = count;
    for (uint32_t i = 0; i < count; ++i) {
        list.pair[i] = (uint16_t)i;
        memcpy(list.vertex[i], points->side[0].corners + 3 * (uint64_t)a[i], 3 * sizeof(*a));
        memcpy(list.vertex[i] + 3, points->side[1].corners + 3 * (uint64_t)b[i], 3 * sizeof(*b));
    }
    run_of_two(points, filter_0_of_two, &list, verdicts);
    run_of_two(points, filter_intervals_of_two, &list, verdicts);
    run_of_two(points, filter_flat_0_of_two, &list, verdicts);
    for (uint32_t i = 0; i < list.count; ++i) verdicts->open[verdicts->open_count++] = list.pair[i];
}
