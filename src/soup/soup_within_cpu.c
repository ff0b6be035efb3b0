/* SPDX-License-Identifier: MIT */
/* The certificates of geom/within.h with SIMD, one pair of triangles per lane.
 *
 * Where the margin is about an edge long, which is the usual case, most candidates have two corners
 * within it, and most others are separated along one of three directions. Both take a few
 * nanoseconds per pair here. The error bound is that of within.h, and so is its proof: seen from
 * the first corner of a, all coordinates are at most `size` (soup_within_points.h counts the
 * roundings). Rounding differs between instruction sets only in which pairs stay open. */
#include "soup/soup_within_cpu.h"

#include "base/simd.h"
#include "geom/within.h"

/* Addresses of x, y and z of a corner from lane `at` on, in columns. */
#define CORNER_COLUMNS(columns, corner, at)                                                        \
    &(columns)[3 * (corner)][at], &(columns)[3 * (corner) + 1][at], &(columns)[3 * (corner) + 2][at]

/* ---- Points and slabs in doubles ------------------------------------------------------------- */

#define NAME(x)               within_##x##_f64
#define SCALAR                double
#define VECTOR                carom_f64v
#define FLAGS                 carom_i64v
#define LOAD                  carom_f64v_load
#define SPLAT                 carom_f64v_splat
#define MINIMUM               carom_f64v_min
#define MAXIMUM               carom_f64v_max
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define LARGEST               DBL_MAX
#define DIVISOR_MINIMUM       CAROM_NEAR_ZERO

#include "soup/soup_within_points.h"

/* ---- Points and slabs in floats -------------------------------------------------------------- */

#define NAME(x)         within_##x##_f32
#define SCALAR          float
#define VECTOR          carom_f32v
#define FLAGS           carom_i32v
#define LOAD            carom_f32v_load
#define SPLAT           carom_f32v_splat
#define MINIMUM         carom_f32v_min
#define MAXIMUM         carom_f32v_max
#define MULTIPLY_ADD    carom_f32v_fma
#define LARGEST         FLT_MAX
#define DIVISOR_MINIMUM 0x1p-100f /* far below 2^-40, the square of FLOAT_SIZE_MINIMUM */

#include "soup/soup_within_points.h"

/* ---- Pairs in doubles ------------------------------------------------------------------------ */

/* Sizes that carom_near_localise does not rescale: in the range of geom/within.h. */
#define DOUBLE_SIZE_MINIMUM 0x1p-100
#define DOUBLE_SIZE_LIMIT   0x1p100

/* Pairs of triangles seen from the first corner of a, and what holds for them. */
typedef struct within_lanes {
    within_vec_f64 a[3], b[3];
    carom_i64v usual; /* sizes for which nothing below overflows or underflows */
    carom_f64v less, squared_reach;
} within_lanes;

static inline carom_f64v within_size_of(within_vec_f64 a) {
    return (carom_f64v_abs(a.x) + carom_f64v_abs(a.y)) + carom_f64v_abs(a.z);
}

static inline within_lanes within_lanes_make(const within_vec_f64 *a, const within_vec_f64 *b,
                                             double margin) {
    within_lanes l;
    carom_f64v size = {0};
    for (int i = 0; i < 3; ++i) {
        l.a[i] = within_sub_f64(a[i], a[0]);
        l.b[i] = within_sub_f64(b[i], a[0]);
        size = (size + within_size_of(l.a[i])) + within_size_of(l.b[i]);
    }
    l.usual = (size > DOUBLE_SIZE_MINIMUM) & (size < DOUBLE_SIZE_LIMIT);
    carom_f64v error = size * CAROM_WITHIN_ERROR, more = margin + error;
    l.less = margin - error;
    l.squared_reach = more * more;
    return l;
}

static inline carom_i64v soup_within_near_enough(const within_lanes *l, carom_f64v squared) {
    return l->usual & (l->less > 0.0) & (squared <= l->less * l->less);
}

/* carom_within_apart. */
static inline carom_i64v within_separated(const within_lanes *l, within_vec_f64 direction) {
    carom_f64v gap = within_gap_f64(within_shadow_of_f64(l->a, direction),
                                    within_shadow_of_f64(l->b, direction));
    carom_f64v squared = within_dot_f64(direction, direction) * (1.0 + CAROM_WITHIN_SQUARE_ERROR);
    return l->usual & (gap > 0.0) & (squared > CAROM_WITHIN_DIRECTION_MINIMUM) &
           (gap * gap > l->squared_reach * squared);
}

/* The pairs that corners and three slabs leave open, CAROM_LANES64 at a time: lanes are filled
 * from the batch, so that none is idle. */
static void within_decide_open(carom_soup_within_batch *batch, double margin) {
    uint64_t open = batch->open;
    while (open != 0) {
        double column[18][CAROM_LANES64];
        uint32_t from[CAROM_LANES64], count = 0;
        for (; count < CAROM_LANES64 && open != 0; open &= open - 1)
            from[count++] = (uint32_t)__builtin_ctzll(open);
        for (uint32_t i = 0; i < CAROM_LANES64; ++i) /* the last one again in lanes that are left */
            for (int k = 0; k < 18; ++k)
                column[k][i] = batch->corner[k][from[i < count ? i : count - 1]];
        within_vec_f64 t[6];
        for (int i = 0; i < 6; ++i) t[i] = within_load_f64(CORNER_COLUMNS(column, i, 0));
        within_lanes l = within_lanes_make(t, t + 3, margin);
        within_nearest_f64 n = within_nearest_of_f64(l.a, l.b);
        carom_lanes yes = carom_lanes_of64(soup_within_near_enough(&l, n.squared));
        carom_lanes no = carom_lanes_of64(within_separated(&l, n.across));
        for (uint32_t i = 0; i < count; ++i) {
            batch->yes |= (uint64_t)(yes >> i & 1) << from[i];
            batch->open &= ~((uint64_t)((yes | no) >> i & 1) << from[i]);
        }
    }
}

void CAROM_CPU(carom_soup_within_filter)(carom_soup_within_batch *batch, double margin) {
    uint64_t yes_of_all = 0, no_of_all = 0;
    for (uint32_t at = 0; at < batch->count; at += CAROM_LANES64) {
        within_vec_f64 t[6];
        for (int i = 0; i < 6; ++i) t[i] = within_load_f64(CORNER_COLUMNS(batch->corner, i, at));
        within_lanes l = within_lanes_make(t, t + 3, margin);
        carom_i64v yes = soup_within_near_enough(&l, within_least_of_corners_f64(l.a, l.b));
        /* l.a[0] is the origin. */
        within_vec_f64 between =
            within_sub_f64(within_sum_f64(l.b), within_add_f64(l.a[1], l.a[2]));
        carom_i64v no = within_separated(&l, between) |
                        within_separated(&l, within_cross_f64(l.a[1], l.a[2])) |
                        within_separated(&l, within_normal_f64(l.b));
        yes_of_all |= (uint64_t)carom_lanes_of64(yes) << at;
        no_of_all |= (uint64_t)carom_lanes_of64(no) << at;
    }
    uint64_t all = batch->count < 64 ? (UINT64_C(1) << batch->count) - 1 : UINT64_MAX;
    batch->yes = yes_of_all & all;
    batch->open = all & ~yes_of_all & ~no_of_all;
    within_decide_open(batch, margin);
}

/* ---- Two blocks in floats -------------------------------------------------------------------- */

/* That of doubles times 2^29, the ratio of the roundings 2^-24 and 2^-53. `size` is the largest
 * coordinate, seen from a corner in one of the blocks. */
#define FLOAT_ERROR (CAROM_WITHIN_ERROR * 0x1p29)

/* Sizes about 1, as `scale` makes them. Squared lengths are then far from overflow and underflow.
 * The square of a gap along a normal has up to six times the exponent of the size: where it
 * overflows it is rightly above what is finite, and rounding to subnormals keeps the order. */
#define FLOAT_SIZE_MINIMUM 0x1p-20
#define FLOAT_SIZE_LIMIT   0x1p20

/* Above all distances of corners, with a square that is a float. */
#define FLOAT_MARGIN_LIMIT 0x1p30f

/* The least squared length of a direction: 2^-40 of the square of the least size, so that what its
 * products lose by underflow is far below the error. */
#define FLOAT_DIRECTION_MINIMUM 0x1p-80f

/* Relative: covers the rounding of a square and of its product with another, eight of 2^-24 at
 * most. It is part of the squared reach here, which is computed in doubles. */
#define FLOAT_SQUARE_ERROR 0x1p-20

typedef struct within_float_block {
    float corner[9][CAROM_BVH_WIDTH];
} within_float_block;

/* Seen from `origin`. Returns the largest coordinate; NaN and infinity make it infinite. */
static double within_float_block_make(const carom_soup_within_block *from, const double origin[3],
                                      double scale, within_float_block *to) {
    carom_f64v most = {0};
    double size = 0.0;
    for (int k = 0; k < 9; ++k) {
        for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES64) {
            carom_f64v x = (carom_f64v_load(&from->corner[k][at]) - origin[k % 3]) * scale;
            carom_f64v_store_floats(&to->corner[k][at], x);
            most = carom_f64v_max(carom_f64v_abs(x), most);
        }
    }
    for (int i = 0; i < CAROM_LANES64; ++i) size = most[i] > size ? most[i] : size;
    return size;
}

static inline within_vec_f32 within_splat_f32(const within_float_block *block, int corner,
                                              uint32_t lane) {
    return (within_vec_f32){carom_f32v_splat(block->corner[3 * corner][lane]),
                            carom_f32v_splat(block->corner[3 * corner + 1][lane]),
                            carom_f32v_splat(block->corner[3 * corner + 2][lane])};
}

/* The square of the gap that separates two triangles by their reach: reach^2 times the square of
 * the direction's length; infinite where the direction is too short to tell anything. */
static inline carom_f32v within_needed_gap(within_vec_f32 direction, carom_f32v squared_reach) {
    carom_f32v squared = within_dot_f32(direction, direction);
    return within_choose_f32(squared > FLOAT_DIRECTION_MINIMUM, squared * squared_reach,
                             carom_f32v_splat(HUGE_VALF));
}

static inline carom_i32v within_gap_exceeds(within_shadow_f32 a, within_shadow_f32 b,
                                            carom_f32v needed_gap) {
    carom_f32v gap = within_gap_f32(a, b);
    return (gap > 0.0f) & (gap * gap > needed_gap);
}

/* Sixteen triangles with their normals and sums, which all rows share. */
typedef struct within_others {
    float normal[3][CAROM_BVH_WIDTH], sum[3][CAROM_BVH_WIDTH];
    float low[CAROM_BVH_WIDTH], high[CAROM_BVH_WIDTH]; /* along the normal */
    float needed_gap[CAROM_BVH_WIDTH];
} within_others;

static inline void within_store_f32(float to[3][CAROM_BVH_WIDTH], uint32_t at, within_vec_f32 v) {
    carom_f32v_store(&to[0][at], v.x);
    carom_f32v_store(&to[1][at], v.y);
    carom_f32v_store(&to[2][at], v.z);
}

static inline void within_others_make(const within_float_block *block, carom_f32v squared_reach,
                                      within_others *o) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        within_vec_f32 t[3];
        for (int i = 0; i < 3; ++i) t[i] = within_load_f32(CORNER_COLUMNS(block->corner, i, at));
        within_vec_f32 normal = within_normal_f32(t);
        within_shadow_f32 own = within_shadow_of_f32(t, normal);
        within_store_f32(o->normal, at, normal);
        within_store_f32(o->sum, at, within_sum_f32(t));
        carom_f32v_store(&o->low[at], own.low);
        carom_f32v_store(&o->high[at], own.high);
        carom_f32v_store(&o->needed_gap[at], within_needed_gap(normal, squared_reach));
    }
}

/* One triangle of a block with the sixteen of the other. */
static inline void within_decide_row(const within_float_block *block, uint32_t lane,
                                     const within_float_block *other, within_others *o, float sure,
                                     carom_f32v squared_reach, uint32_t *yes_row,
                                     uint32_t *no_row) {
    within_vec_f32 s[3];
    for (int i = 0; i < 3; ++i) s[i] = within_splat_f32(block, i, lane);
    within_vec_f32 normal = within_normal_f32(s), sum = within_sum_f32(s);
    within_shadow_f32 own = within_shadow_of_f32(s, normal);
    carom_f32v needed_gap = within_needed_gap(normal, squared_reach);
    uint32_t yes = 0, no = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        within_vec_f32 t[3];
        for (int i = 0; i < 3; ++i) t[i] = within_load_f32(CORNER_COLUMNS(other->corner, i, at));
        yes |= carom_lanes_of(within_least_of_corners_f32(s, t) <= sure) << at;
        within_vec_f32 across = within_load_f32(CORNER_COLUMNS(o->normal, 0, at));
        within_vec_f32 between =
            within_sub_f32(within_load_f32(CORNER_COLUMNS(o->sum, 0, at)), sum);
        within_shadow_f32 of_other = {carom_f32v_load(&o->low[at]), carom_f32v_load(&o->high[at])};
        carom_i32v apart =
            within_gap_exceeds(own, within_shadow_of_f32(t, normal), needed_gap) |
            within_gap_exceeds(within_shadow_of_f32(s, across), of_other,
                               carom_f32v_load(&o->needed_gap[at])) |
            within_gap_exceeds(within_shadow_of_f32(s, between), within_shadow_of_f32(t, between),
                               within_needed_gap(between, squared_reach));
        no |= carom_lanes_of(apart) << at;
    }
    *yes_row = yes;
    *no_row = no;
}

static void within_add_to_rest(carom_soup_within_rest *rest, const within_float_block *a,
                               uint32_t lane_a, const within_float_block *b, uint32_t lane_b,
                               const carom_soup_within_two *two) {
    uint32_t at = rest->count++;
    rest->a[at] = two->first_a + lane_a;
    rest->b[at] = two->first_b + lane_b;
    for (int k = 0; k < 9; ++k) {
        rest->corner[k][at] = a->corner[k][lane_a];
        rest->corner[9 + k][at] = b->corner[k][lane_b];
    }
}

void CAROM_CPU(carom_soup_within_blocks)(const carom_soup_within_two *two, double margin,
                                         double scale, carom_soup_within_rows *rows,
                                         carom_soup_within_rest *rest) {
    within_float_block a, b;
    within_others o;
    uint32_t first = (uint32_t)__builtin_ctz(two->in_a), begin = rest->count;
    const double origin[3] = {two->a->corner[0][first], two->a->corner[1][first],
                              two->a->corner[2][first]};
    double size_a = within_float_block_make(two->a, origin, scale, &a);
    double size_b = within_float_block_make(two->b, origin, scale, &b);
    double size = size_a > size_b ? size_a : size_b;
    bool usual = size > FLOAT_SIZE_MINIMUM && size < FLOAT_SIZE_LIMIT;
    double local = margin * scale, error = size * FLOAT_ERROR;
    local = local < (double)FLOAT_MARGIN_LIMIT ? local : (double)FLOAT_MARGIN_LIMIT;
    double less = local - error, more = local + error;
    float sure = usual && less > 0.0 ? (float)(less * less * (1.0 - FLOAT_SQUARE_ERROR)) : -1.0f;
    float squared_reach = usual ? (float)(more * more * (1.0 + FLOAT_SQUARE_ERROR)) : HUGE_VALF;
    carom_f32v reaches = carom_f32v_splat(squared_reach);
    bool of_a = __builtin_popcount(two->in_a) <= __builtin_popcount(two->in_b);
    uint32_t lanes = of_a ? two->in_b : two->in_a;
    rows->of_a = of_a;
    within_others_make(of_a ? &b : &a, reaches, &o);
    for (uint32_t left = of_a ? two->in_a : two->in_b; left != 0; left &= left - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(left), yes, no;
        within_decide_row(of_a ? &a : &b, row, of_a ? &b : &a, &o, sure, reaches, &yes, &no);
        rows->yes[row] = (uint16_t)(yes & lanes);
        for (uint32_t open = lanes & ~yes & ~no; open != 0; open &= open - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(open);
            within_add_to_rest(rest, &a, of_a ? row : lane, &b, of_a ? lane : row, two);
        }
    }
    for (uint32_t i = begin; i < rest->count; ++i) {
        rest->sure[i] = sure;
        rest->squared_reach[i] = squared_reach;
    }
}

/* ---- The rest in floats ---------------------------------------------------------------------- */

/* The columns of lanes past the last pair are not used, so that they may hold anything. */
void CAROM_CPU(carom_soup_within_decide_rest)(carom_soup_within_rest *rest) {
    for (uint32_t at = 0; at < rest->count; at += CAROM_LANES) {
        within_vec_f32 t[6];
        for (int i = 0; i < 6; ++i) t[i] = within_load_f32(CORNER_COLUMNS(rest->corner, i, at));
        within_nearest_f32 n = within_nearest_of_f32(t, t + 3);
        carom_f32v squared_reach = carom_f32v_load(&rest->squared_reach[at]);
        carom_i32v apart = within_gap_exceeds(within_shadow_of_f32(t, n.across),
                                              within_shadow_of_f32(t + 3, n.across),
                                              within_needed_gap(n.across, squared_reach));
        carom_lanes yes = carom_lanes_of(n.squared <= carom_f32v_load(&rest->sure[at]));
        carom_lanes no = carom_lanes_of(apart);
        for (uint32_t i = 0; i < CAROM_LANES && at + i < rest->count; ++i)
            rest->verdict[at + i] = (yes >> i & 1) != 0  ? CAROM_YES
                                    : (no >> i & 1) != 0 ? CAROM_NO
                                                         : CAROM_UNDECIDED;
    }
}
