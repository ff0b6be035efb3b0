/* SPDX-License-Identifier: MIT */
/* The certificates of geom/within.h with SIMD, one pair of triangles per lane.
 *
 * Where the margin is about an edge long, which is the usual case, most candidates have two corners
 * within it, and most others are separated along one of three directions. Both take a few
 * nanoseconds per pair here. The error bound is that of within.h, and so is its proof: seen from
 * the first corner of a, all coordinates are at most `size`. Rounding differs between instruction
 * sets only in which pairs stay open. */
#include "soup/soup_within_cpu.h"

#include "base/simd.h"
#include "geom/within.h"

typedef struct vec {
    carom_f64v x, y, z;
} vec;

static inline vec sub(vec a, vec b) {
    return (vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec add(vec a, vec b) {
    return (vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec cross(vec a, vec b) {
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline carom_f64v dot(vec a, vec b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

static inline carom_f64v size_of(vec a) {
    return (carom_f64v_abs(a.x) + carom_f64v_abs(a.y)) + carom_f64v_abs(a.z);
}

static inline vec load(const carom_soup_within_batch *batch, int corner, uint32_t at) {
    return (vec){carom_f64v_load(&batch->corner[3 * corner][at]),
                 carom_f64v_load(&batch->corner[3 * corner + 1][at]),
                 carom_f64v_load(&batch->corner[3 * corner + 2][at])};
}

/* carom_within_apart. */
static inline carom_i64v apart(const vec *a, const vec *b, vec way, carom_f64v squared_reach) {
    carom_f64v a0 = dot(way, a[0]), a1 = dot(way, a[1]), a2 = dot(way, a[2]);
    carom_f64v b0 = dot(way, b[0]), b1 = dot(way, b[1]), b2 = dot(way, b[2]);
    carom_f64v a_low = carom_f64v_min(carom_f64v_min(a0, a1), a2);
    carom_f64v a_high = carom_f64v_max(carom_f64v_max(a0, a1), a2);
    carom_f64v b_low = carom_f64v_min(carom_f64v_min(b0, b1), b2);
    carom_f64v b_high = carom_f64v_max(carom_f64v_max(b0, b1), b2);
    carom_f64v gap = carom_f64v_max(b_low - a_high, a_low - b_high);
    carom_f64v squared = dot(way, way) * (1.0 + 0x1p-48);
    return (gap > 0.0) & (squared > 0x1p-400) & (gap * gap > squared_reach * squared);
}

static inline carom_f64v least_of_corners(const vec *a, const vec *b) {
    carom_f64v least = carom_f64v_splat(DBL_MAX);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            vec d = sub(b[k], a[i]);
            least = carom_f64v_min(least, dot(d, d));
        }
    }
    return least;
}

/* ---- Nearest points of edges, and of corners and faces --------------------------------------- */

/* The least squared length that is divided by: far below any that occurs, and its inverse is
 * finite. */
#define LEAST_SQUARE 0x1p-900

static inline carom_f64v choose(carom_i64v which, carom_f64v yes, carom_f64v no) {
    return (carom_f64v)(((carom_i64v)yes & which) | ((carom_i64v)no & ~which));
}

static inline carom_f64v inverse(carom_f64v x) {
    return 1.0 / carom_f64v_max(x, carom_f64v_splat(LEAST_SQUARE));
}

static inline carom_f64v clamp(carom_f64v x) {
    return carom_f64v_min(carom_f64v_max(x, carom_f64v_splat(0.0)), carom_f64v_splat(1.0));
}

static inline vec along(vec p, vec u, carom_f64v s) {
    return (vec){p.x + s * u.x, p.y + s * u.y, p.z + s * u.z};
}

/* The shortest vector so far from a point of a to a point of b. Whatever rounding did to the
 * parameters, the points are in the triangles. */
typedef struct nearest {
    carom_f64v squared;
    vec across;
} nearest;

static inline void offer(nearest *n, carom_i64v valid, vec a, vec b) {
    vec across = sub(b, a);
    carom_f64v squared = dot(across, across);
    carom_i64v nearer = valid & (squared < n->squared);
    n->squared = choose(nearer, squared, n->squared);
    n->across.x = choose(nearer, across.x, n->across.x);
    n->across.y = choose(nearer, across.y, n->across.y);
    n->across.z = choose(nearer, across.z, n->across.z);
}

/* Edges as p + s u and q + t v: s is that of the nearest points of the lines, then t and once more
 * s are the best for the other. */
static inline void offer_edges(nearest *n, const vec *a, const vec *b) {
    vec u[3], v[3];
    carom_f64v uu[3], vv[3], inverse_uu[3], inverse_vv[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = sub(a[i == 2 ? 0 : i + 1], a[i]);
        v[i] = sub(b[i == 2 ? 0 : i + 1], b[i]);
        uu[i] = dot(u[i], u[i]);
        vv[i] = dot(v[i], v[i]);
        inverse_uu[i] = inverse(uu[i]);
        inverse_vv[i] = inverse(vv[i]);
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            vec w = sub(b[k], a[i]);
            carom_f64v uv = dot(u[i], v[k]), uw = dot(u[i], w), vw = dot(v[k], w);
            carom_f64v s = clamp((uw * vv[k] - uv * vw) * inverse(uu[i] * vv[k] - uv * uv));
            carom_f64v t = clamp((s * uv - vw) * inverse_vv[k]);
            s = clamp((t * uv + uw) * inverse_uu[i]);
            offer(n, (carom_i64v){0} == 0, along(a[i], u[i], s), along(b[k], v[k], t));
        }
    }
}

/* Corners of one triangle and their feet on the other, where these are inside. */
static inline void offer_feet(nearest *n, const vec *corners, const vec *face, bool of_a) {
    vec u = sub(face[1], face[0]), v = sub(face[2], face[0]);
    carom_f64v uu = dot(u, u), uv = dot(u, v), vv = dot(v, v);
    carom_f64v scale = inverse(uu * vv - uv * uv);
    for (int i = 0; i < 3; ++i) {
        vec w = sub(corners[i], face[0]);
        carom_f64v uw = dot(u, w), vw = dot(v, w);
        carom_f64v s = (vv * uw - uv * vw) * scale, t = (uu * vw - uv * uw) * scale;
        vec foot = along(along(face[0], u, s), v, t);
        carom_i64v inside = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0);
        offer(n, inside, of_a ? corners[i] : foot, of_a ? foot : corners[i]);
    }
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

/* Pairs of triangles seen from the first corner of a, and what holds for them. */
typedef struct lanes {
    vec a[3], b[3];
    carom_i64v usual; /* sizes for which nothing below overflows or underflows */
    carom_f64v less, squared_reach;
} lanes;

static inline lanes lanes_make(const vec *a, const vec *b, double margin) {
    lanes l;
    carom_f64v size = {0};
    for (int i = 0; i < 3; ++i) {
        l.a[i] = sub(a[i], a[0]);
        l.b[i] = sub(b[i], a[0]);
        size = (size + size_of(l.a[i])) + size_of(l.b[i]);
    }
    l.usual = (size > 0x1p-100) & (size < 0x1p100);
    carom_f64v error = size * CAROM_WITHIN_ERROR, more = margin + error;
    l.less = margin - error;
    l.squared_reach = more * more;
    return l;
}

static inline carom_i64v near_enough(const lanes *l, carom_f64v squared) {
    return l->usual & (l->less > 0.0) & (squared <= l->less * l->less);
}

static inline carom_i64v separated(const lanes *l, vec direction) {
    return l->usual & apart(l->a, l->b, direction, l->squared_reach);
}

/* The pairs that corners and three slabs leave open, CAROM_LANES64 at a time: lanes are filled
 * from the batch, so that none is idle. */
static void decide_open(carom_soup_within_batch *batch, double margin) {
    uint64_t open = batch->open;
    while (open != 0) {
        double column[18][CAROM_LANES64];
        uint32_t from[CAROM_LANES64], count = 0;
        for (; count < CAROM_LANES64 && open != 0; open &= open - 1)
            from[count++] = (uint32_t)__builtin_ctzll(open);
        for (uint32_t i = 0; i < CAROM_LANES64; ++i) /* the last one again in lanes that are left */
            for (int k = 0; k < 18; ++k)
                column[k][i] = batch->corner[k][from[i < count ? i : count - 1]];
        vec a[3], b[3];
        for (int i = 0; i < 3; ++i) {
            a[i] = (vec){carom_f64v_load(column[3 * i]), carom_f64v_load(column[3 * i + 1]),
                         carom_f64v_load(column[3 * i + 2])};
            b[i] = (vec){carom_f64v_load(column[9 + 3 * i]), carom_f64v_load(column[10 + 3 * i]),
                         carom_f64v_load(column[11 + 3 * i])};
        }
        lanes l = lanes_make(a, b, margin);
        nearest n = {carom_f64v_splat(DBL_MAX), l.b[0]};
        offer_edges(&n, l.a, l.b);
        offer_feet(&n, l.a, l.b, true);
        offer_feet(&n, l.b, l.a, false);
        carom_lanes yes = carom_lanes_of64(near_enough(&l, n.squared));
        carom_lanes no = carom_lanes_of64(separated(&l, n.across));
        for (uint32_t i = 0; i < count; ++i) {
            batch->yes |= (uint64_t)(yes >> i & 1) << from[i];
            batch->open &= ~((uint64_t)((yes | no) >> i & 1) << from[i]);
        }
    }
}

void CAROM_CPU(carom_soup_within_filter)(carom_soup_within_batch *batch, double margin) {
    uint64_t yes_of_all = 0, no_of_all = 0;
    for (uint32_t at = 0; at < batch->count; at += CAROM_LANES64) {
        vec a[3], b[3];
        for (int i = 0; i < 3; ++i) {
            a[i] = load(batch, i, at);
            b[i] = load(batch, 3 + i, at);
        }
        lanes l = lanes_make(a, b, margin);
        carom_i64v yes = near_enough(&l, least_of_corners(l.a, l.b));
        vec between = sub(add(add(l.b[0], l.b[1]), l.b[2]), add(l.a[1], l.a[2]));
        carom_i64v no = separated(&l, between) | separated(&l, cross(l.a[1], l.a[2])) |
                        separated(&l, cross(sub(l.b[1], l.b[0]), sub(l.b[2], l.b[0])));
        yes_of_all |= (uint64_t)carom_lanes_of64(yes) << at;
        no_of_all |= (uint64_t)carom_lanes_of64(no) << at;
    }
    uint64_t all = batch->count < 64 ? (UINT64_C(1) << batch->count) - 1 : UINT64_MAX;
    batch->yes = yes_of_all & all;
    batch->open = all & ~yes_of_all & ~no_of_all;
    decide_open(batch, margin);
}

/* ---- Two blocks in float32 ------------------------------------------------------------------- */

/* That of doubles, 2^-46, times 2^29, as floats have 29 bits fewer. `size` is the largest
 * coordinate, seen from a corner in one of the blocks. */
#define FLOAT_ERROR 0x1p-17

/* Sizes for which the squares below are far from overflow and underflow. */
#define LEAST_SIZE 0x1p-20
#define MOST_SIZE  0x1p20

/* Above all distances of corners, with a square that is a float. */
#define MOST_MARGIN 0x1p30f

/* The least squared length of a direction: 2^-40 of the square of the least size, so that what its
 * products lose by underflow is far below the error. */
#define LEAST_DIRECTION 0x1p-80f

/* Covers the rounding of a square and of its product with another. */
#define SQUARE_ERROR 0x1p-20

typedef struct float_block {
    float corner[9][CAROM_BVH_WIDTH];
} float_block;

/* Seen from `origin`. Returns the largest coordinate; NaN and infinity make it infinite. */
static double float_block_make(const carom_soup_within_block *from, const double origin[3],
                               double scale, float_block *to) {
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

typedef struct float_vec {
    carom_f32v x, y, z;
} float_vec;

static inline carom_f32v float_dot(float_vec a, float_vec b) {
    return carom_f32v_fma(a.z, b.z, carom_f32v_fma(a.y, b.y, a.x * b.x));
}

static inline float_vec float_sub(float_vec a, float_vec b) {
    return (float_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline float_vec float_cross(float_vec a, float_vec b) {
    return (float_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float_vec float_load(const float_block *block, int corner, uint32_t at) {
    return (float_vec){carom_f32v_load(&block->corner[3 * corner][at]),
                       carom_f32v_load(&block->corner[3 * corner + 1][at]),
                       carom_f32v_load(&block->corner[3 * corner + 2][at])};
}

static inline float_vec float_splat(const float_block *block, int corner, uint32_t lane) {
    return (float_vec){carom_f32v_splat(block->corner[3 * corner][lane]),
                       carom_f32v_splat(block->corner[3 * corner + 1][lane]),
                       carom_f32v_splat(block->corner[3 * corner + 2][lane])};
}

/* What a triangle covers along a direction, and the square of the direction's length, infinite
 * where the direction is too short to tell anything. */
typedef struct shadow {
    carom_f32v low, high;
} shadow;

static inline shadow shadow_of(const float_vec *t, float_vec direction) {
    carom_f32v x = float_dot(direction, t[0]), y = float_dot(direction, t[1]),
               z = float_dot(direction, t[2]);
    return (shadow){carom_f32v_min(carom_f32v_min(x, y), z),
                    carom_f32v_max(carom_f32v_max(x, y), z)};
}

/* reach^2 times the square of the direction's length. */
static inline carom_f32v least_gap(float_vec direction, float squared_reach) {
    carom_f32v squared = float_dot(direction, direction);
    carom_i32v good = squared > LEAST_DIRECTION;
    carom_f32v infinite = carom_f32v_splat(HUGE_VALF);
    return (carom_f32v)(((carom_i32v)(squared * squared_reach) & good) |
                        ((carom_i32v)infinite & ~good));
}

static inline carom_i32v float_apart(shadow a, shadow b, carom_f32v squared_gap) {
    carom_f32v gap = carom_f32v_max(b.low - a.high, a.low - b.high);
    return (gap > 0.0f) & (gap * gap > squared_gap);
}

/* Sixteen triangles with their normals and sums, which all rows share. */
typedef struct others {
    float normal[3][CAROM_BVH_WIDTH], sum[3][CAROM_BVH_WIDTH];
    float low[CAROM_BVH_WIDTH], high[CAROM_BVH_WIDTH]; /* along the normal */
    float squared_gap[CAROM_BVH_WIDTH];
} others;

static inline float_vec normal_of(const float_vec *t) {
    return float_cross(float_sub(t[1], t[0]), float_sub(t[2], t[0]));
}

static inline float_vec sum_of(const float_vec *t) {
    return (float_vec){(t[0].x + t[1].x) + t[2].x, (t[0].y + t[1].y) + t[2].y,
                       (t[0].z + t[1].z) + t[2].z};
}

static inline void float_store(float to[3][CAROM_BVH_WIDTH], uint32_t at, float_vec v) {
    carom_f32v_store(&to[0][at], v.x);
    carom_f32v_store(&to[1][at], v.y);
    carom_f32v_store(&to[2][at], v.z);
}

static inline float_vec float_fetch(float from[3][CAROM_BVH_WIDTH], uint32_t at) {
    return (float_vec){carom_f32v_load(&from[0][at]), carom_f32v_load(&from[1][at]),
                       carom_f32v_load(&from[2][at])};
}

static inline void others_make(const float_block *block, float squared_reach, others *o) {
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        float_vec t[3] = {float_load(block, 0, at), float_load(block, 1, at),
                          float_load(block, 2, at)};
        float_vec normal = normal_of(t);
        shadow own = shadow_of(t, normal);
        float_store(o->normal, at, normal);
        float_store(o->sum, at, sum_of(t));
        carom_f32v_store(&o->low[at], own.low);
        carom_f32v_store(&o->high[at], own.high);
        carom_f32v_store(&o->squared_gap[at], least_gap(normal, squared_reach));
    }
}

static inline carom_f32v least_of_float_corners(const float_vec *s, const float_vec *t) {
    carom_f32v least = carom_f32v_splat(HUGE_VALF);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            float_vec d = float_sub(t[k], s[i]);
            least = carom_f32v_min(least, float_dot(d, d));
        }
    }
    return least;
}

/* One triangle of a block with the sixteen of the other. */
static inline void decide_row(const float_block *block, uint32_t lane, const float_block *other,
                              others *o, float sure, float squared_reach, uint32_t *yes_row,
                              uint32_t *no_row) {
    float_vec s[3] = {float_splat(block, 0, lane), float_splat(block, 1, lane),
                      float_splat(block, 2, lane)};
    float_vec normal = normal_of(s), sum = sum_of(s);
    shadow own = shadow_of(s, normal);
    carom_f32v squared_gap = least_gap(normal, squared_reach);
    uint32_t yes = 0, no = 0;
    for (uint32_t at = 0; at < CAROM_BVH_WIDTH; at += CAROM_LANES) {
        float_vec t[3] = {float_load(other, 0, at), float_load(other, 1, at),
                          float_load(other, 2, at)};
        yes |= carom_lanes_of(least_of_float_corners(s, t) <= sure) << at;
        float_vec across = float_fetch(o->normal, at);
        float_vec between = float_sub(float_fetch(o->sum, at), sum);
        shadow of_other = {carom_f32v_load(&o->low[at]), carom_f32v_load(&o->high[at])};
        carom_i32v apart =
            float_apart(own, shadow_of(t, normal), squared_gap) |
            float_apart(shadow_of(s, across), of_other, carom_f32v_load(&o->squared_gap[at])) |
            float_apart(shadow_of(s, between), shadow_of(t, between),
                        least_gap(between, squared_reach));
        no |= carom_lanes_of(apart) << at;
    }
    *yes_row = yes;
    *no_row = no;
}

static void add_to_rest(carom_soup_within_rest *rest, const float_block *a, uint32_t lane_a,
                        const float_block *b, uint32_t lane_b, const carom_soup_within_two *two) {
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
    float_block a, b;
    others o;
    uint32_t first = (uint32_t)__builtin_ctz(two->in_a), begin = rest->count;
    const double origin[3] = {two->a->corner[0][first], two->a->corner[1][first],
                              two->a->corner[2][first]};
    double size_a = float_block_make(two->a, origin, scale, &a);
    double size_b = float_block_make(two->b, origin, scale, &b);
    double size = size_a > size_b ? size_a : size_b;
    bool usual = size > LEAST_SIZE && size < MOST_SIZE;
    double local = margin * scale, error = size * FLOAT_ERROR;
    local = local < (double)MOST_MARGIN ? local : (double)MOST_MARGIN;
    double less = local - error, more = local + error;
    float sure = usual && less > 0.0 ? (float)(less * less * (1.0 - SQUARE_ERROR)) : -1.0f;
    float squared_reach = usual ? (float)(more * more * (1.0 + SQUARE_ERROR)) : HUGE_VALF;
    bool of_a = __builtin_popcount(two->in_a) <= __builtin_popcount(two->in_b);
    uint32_t lanes = of_a ? two->in_b : two->in_a;
    rows->of_a = of_a;
    others_make(of_a ? &b : &a, squared_reach, &o);
    for (uint32_t left = of_a ? two->in_a : two->in_b; left != 0; left &= left - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(left), yes, no;
        decide_row(of_a ? &a : &b, row, of_a ? &b : &a, &o, sure, squared_reach, &yes, &no);
        rows->yes[row] = (uint16_t)(yes & lanes);
        for (uint32_t open = lanes & ~yes & ~no; open != 0; open &= open - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(open);
            add_to_rest(rest, &a, of_a ? row : lane, &b, of_a ? lane : row, two);
        }
    }
    for (uint32_t i = begin; i < rest->count; ++i) {
        rest->sure[i] = sure;
        rest->squared_reach[i] = squared_reach;
    }
}

/* ---- The rest in float32 --------------------------------------------------------------------- */

/* As LEAST_SQUARE, for floats. */
#define LEAST_FLOAT_SQUARE 0x1p-100f

static inline carom_f32v float_choose(carom_i32v which, carom_f32v yes, carom_f32v no) {
    return (carom_f32v)(((carom_i32v)yes & which) | ((carom_i32v)no & ~which));
}

static inline carom_f32v float_inverse(carom_f32v x) {
    return 1.0f / carom_f32v_max(x, carom_f32v_splat(LEAST_FLOAT_SQUARE));
}

static inline carom_f32v float_clamp(carom_f32v x) {
    return carom_f32v_min(carom_f32v_max(x, carom_f32v_splat(0.0f)), carom_f32v_splat(1.0f));
}

static inline float_vec float_along(float_vec p, float_vec u, carom_f32v s) {
    return (float_vec){carom_f32v_fma(s, u.x, p.x), carom_f32v_fma(s, u.y, p.y),
                       carom_f32v_fma(s, u.z, p.z)};
}

typedef struct float_nearest {
    carom_f32v squared;
    float_vec across;
} float_nearest;

static inline void float_offer(float_nearest *n, carom_i32v valid, float_vec a, float_vec b) {
    float_vec across = float_sub(b, a);
    carom_f32v squared = float_dot(across, across);
    carom_i32v nearer = valid & (squared < n->squared);
    n->squared = float_choose(nearer, squared, n->squared);
    n->across.x = float_choose(nearer, across.x, n->across.x);
    n->across.y = float_choose(nearer, across.y, n->across.y);
    n->across.z = float_choose(nearer, across.z, n->across.z);
}

static inline void float_offer_edges(float_nearest *n, const float_vec *a, const float_vec *b) {
    float_vec u[3], v[3];
    carom_f32v uu[3], vv[3], inverse_uu[3], inverse_vv[3];
    for (int i = 0; i < 3; ++i) {
        u[i] = float_sub(a[i == 2 ? 0 : i + 1], a[i]);
        v[i] = float_sub(b[i == 2 ? 0 : i + 1], b[i]);
        uu[i] = float_dot(u[i], u[i]);
        vv[i] = float_dot(v[i], v[i]);
        inverse_uu[i] = float_inverse(uu[i]);
        inverse_vv[i] = float_inverse(vv[i]);
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            float_vec w = float_sub(b[k], a[i]);
            carom_f32v uv = float_dot(u[i], v[k]), uw = float_dot(u[i], w), vw = float_dot(v[k], w);
            carom_f32v s =
                float_clamp((uw * vv[k] - uv * vw) * float_inverse(uu[i] * vv[k] - uv * uv));
            carom_f32v t = float_clamp((s * uv - vw) * inverse_vv[k]);
            s = float_clamp((t * uv + uw) * inverse_uu[i]);
            float_offer(n, (carom_i32v){0} == 0, float_along(a[i], u[i], s),
                        float_along(b[k], v[k], t));
        }
    }
}

static inline void float_offer_feet(float_nearest *n, const float_vec *corners,
                                    const float_vec *face, bool of_a) {
    float_vec u = float_sub(face[1], face[0]), v = float_sub(face[2], face[0]);
    carom_f32v uu = float_dot(u, u), uv = float_dot(u, v), vv = float_dot(v, v);
    carom_f32v scale = float_inverse(uu * vv - uv * uv);
    for (int i = 0; i < 3; ++i) {
        float_vec w = float_sub(corners[i], face[0]);
        carom_f32v uw = float_dot(u, w), vw = float_dot(v, w);
        carom_f32v s = (vv * uw - uv * vw) * scale, t = (uu * vw - uv * uw) * scale;
        float_vec foot = float_along(float_along(face[0], u, s), v, t);
        carom_i32v inside = (s >= 0.0f) & (t >= 0.0f) & (s + t <= 1.0f);
        float_offer(n, inside, of_a ? corners[i] : foot, of_a ? foot : corners[i]);
    }
}

/* The columns of lanes past the last pair are not used, so that they may hold anything. */
void CAROM_CPU(carom_soup_within_decide_rest)(carom_soup_within_rest *rest) {
    for (uint32_t at = 0; at < rest->count; at += CAROM_LANES) {
        float_vec t[6];
        for (int i = 0; i < 6; ++i)
            t[i] = (float_vec){carom_f32v_load(&rest->corner[3 * i][at]),
                               carom_f32v_load(&rest->corner[3 * i + 1][at]),
                               carom_f32v_load(&rest->corner[3 * i + 2][at])};
        float_nearest n = {carom_f32v_splat(FLT_MAX), t[0]};
        float_offer_edges(&n, t, t + 3);
        float_offer_feet(&n, t, t + 3, true);
        float_offer_feet(&n, t + 3, t, false);
        carom_f32v squared = float_dot(n.across, n.across);
        carom_i32v apart =
            float_apart(shadow_of(t, n.across), shadow_of(t + 3, n.across),
                        float_choose(squared > LEAST_DIRECTION,
                                     squared * carom_f32v_load(&rest->squared_reach[at]),
                                     carom_f32v_splat(HUGE_VALF)));
        carom_lanes yes = carom_lanes_of(n.squared <= carom_f32v_load(&rest->sure[at]));
        carom_lanes no = carom_lanes_of(apart);
        for (uint32_t i = 0; i < CAROM_LANES && at + i < rest->count; ++i)
            rest->verdict[at + i] = (yes >> i & 1) != 0  ? CAROM_YES
                                    : (no >> i & 1) != 0 ? CAROM_NO
                                                         : CAROM_UNDECIDED;
    }
}
