/* SPDX-License-Identifier: MIT */
/* The filter of times of impact (toi_item.h) with one motion per lane.
 *
 * All motions of a batch are halved together, level by level. At each level many are decided, and
 * those that are not move together, so that vectors stay full: in lanes that are filled once, the
 * deepest of eight motions costs as much as eight. Nearly always the cubic has a root in one half
 * only, by the signs of its coefficients; else both halves stay in the batch, and of what they show
 * the earlier counts. Those that meet are collected, with the part in which they do, and Newton's
 * method runs for all of them together.
 *
 * Every operation is that of the item, in the same order, so the results have the same bits. What
 * is rare is left to the item: values within the error of zero at an end of a part, and many parts.
 */
#include "base/simd.h"
#include "geom/toi_cpu.h"
#include "geom/toi_item.h"

/* Part of the time, in Bernstein form: q[0] is that of n. A point and a triangle have no q[4]. */
typedef struct toi_lanes_part {
    carom_f64v f[4], q[5][3];
    carom_f64v low, high;
    carom_f64v cubic, quadratic; /* what errors are multiples of */
    carom_f64v motion;           /* its column */
} toi_lanes_part;

/* Its vectors, and the places of those that follow f and q. */
enum {
    TOI_LANES_Q = 4,
    TOI_LANES_LOW = TOI_LANES_Q + 15,
    TOI_LANES_HIGH,
    TOI_LANES_CUBIC,
    TOI_LANES_QUADRATIC,
    TOI_LANES_MOTION,
    TOI_LANES_FIELDS
};
_Static_assert(TOI_LANES_FIELDS * sizeof(carom_f64v) == sizeof(toi_lanes_part), "a place each");

/* Parts kept apart in one motion: after n cuts the item has visited at most 2 n + 1 parts, each of
 * these has at most CAROM_TOI_DEPTH cuts, and the item gives up after CAROM_TOI_VISITS. */
#define TOI_LANES_PARTS 2
_Static_assert(2 * (TOI_LANES_PARTS + 1) * CAROM_TOI_DEPTH + 1 < CAROM_TOI_VISITS,
               "the item never gives up for the number of its visits");

/* Parts side by side: of all motions, and second halves of some. Past the last one a whole vector
 * can be written. */
#define TOI_LANES_ROOM   (CAROM_TOI_COLUMNS + 32u)
#define TOI_LANES_STRIDE (TOI_LANES_ROOM + CAROM_LANES64)
typedef struct toi_lanes_batch {
    uint32_t count;
    double of[TOI_LANES_FIELDS][TOI_LANES_STRIDE];
} toi_lanes_batch;

typedef struct toi_lanes_motion {
    carom_f64v u[2][3], v[2][3], w[2][3];
} toi_lanes_motion;

/* What Newton's method is given. */
typedef struct toi_lanes_root {
    carom_f64v f[4], low, high, error;
    carom_f64v motion;
} toi_lanes_root;

#define TOI_LANES_ROOT_FIELDS (sizeof(toi_lanes_root) / sizeof(carom_f64v))
typedef struct toi_lanes_roots {
    uint32_t count;
    double of[TOI_LANES_ROOT_FIELDS][TOI_LANES_STRIDE];
} toi_lanes_roots;

/* All motions that are decided together. */
typedef struct toi_lanes_work {
    toi_lanes_batch open;  /* parts of this level; those of the next are written over them */
    toi_lanes_batch later; /* of the next level: second halves */
    toi_lanes_roots roots;
    /* Of each motion: the start of the first part that was not apart, whether that is left to the
     * item, and how often both halves were kept. */
    double first[CAROM_TOI_COLUMNS];
    bool alone[CAROM_TOI_COLUMNS];
    uint8_t parts[CAROM_TOI_COLUMNS];
} toi_lanes_work;

CAROM_SIMD bool some_lane(carom_i64v lanes) {
    return carom_lanes_of64(lanes) != 0;
}

CAROM_SIMD carom_f64v toi_lanes_least(const carom_f64v *b, int count) {
    carom_f64v least = b[0];
    for (int i = 1; i < count; ++i) least = carom_f64v_min(b[i], least);
    return least;
}

CAROM_SIMD carom_f64v toi_lanes_greatest(const carom_f64v *b, int count) {
    carom_f64v most = b[0];
    for (int i = 1; i < count; ++i) most = carom_f64v_max(b[i], most);
    return most;
}

/* ---- Polynomials ----------------------------------------------------------------------------- */

CAROM_SIMD void toi_lanes_load(const carom_toi_columns *from, uint32_t lane, int edges,
                               toi_lanes_motion *m) {
    for (int t = 0; t < 2; ++t)
        for (int k = 0; k < 3; ++k) {
            carom_f64v x[4];
            for (int p = 0; p < 4; ++p) x[p] = carom_f64v_load(&from->at[t][p][k][lane]);
            m->u[t][k] = edges ? x[1] - x[0] : x[2] - x[1];
            m->v[t][k] = edges ? x[3] - x[2] : x[3] - x[1];
            m->w[t][k] = edges ? x[2] - x[0] : x[0] - x[1];
        }
}

/* carom_toi_cross, given the two components of each vector that it needs. */
CAROM_SIMD void toi_lanes_cross(const carom_f64v *xi, const carom_f64v *xj, const carom_f64v *yi,
                                const carom_f64v *yj, carom_f64v *b) {
    b[0] = xi[0] * yj[0] - xj[0] * yi[0];
    b[1] = ((xi[0] * yj[1] - xj[0] * yi[1]) + (xi[1] * yj[0] - xj[1] * yi[0])) * 0.5;
    b[2] = xi[1] * yj[1] - xj[1] * yi[1];
}

CAROM_SIMD carom_f64v toi_lanes_extent(const toi_lanes_motion *m, int k) {
    carom_f64v most = carom_f64v_abs(m->u[0][k]);
    most = carom_f64v_max(most, carom_f64v_abs(m->u[1][k]));
    for (int t = 0; t < 2; ++t) {
        most = carom_f64v_max(most, carom_f64v_abs(m->v[t][k]));
        most = carom_f64v_max(most, carom_f64v_abs(m->w[t][k]));
    }
    return most;
}

/* Component (axis + step) % 3 of each lane's axis at both times. */
CAROM_SIMD void choose_component(carom_f64v (*x)[3], int step, carom_i64v second, carom_i64v third,
                                 carom_f64v *chosen) {
    for (int t = 0; t < 2; ++t) {
        carom_f64v one = carom_f64v_select(second, x[t][(1 + step) % 3], x[t][step % 3]);
        chosen[t] = carom_f64v_select(third, x[t][(2 + step) % 3], one);
    }
}

/* The quadratics along the axis on which n is longest in the middle of the motion. */
CAROM_SIMD carom_f64v toi_lanes_quadratics(toi_lanes_motion *m, carom_f64v (*n)[3],
                                           const carom_f64v *extent, int edges,
                                           toi_lanes_part *part) {
    carom_f64v size[3], ui[2], uj[2], vi[2], vj[2], wi[2], wj[2], wv[3], wu[3];
    for (int k = 0; k < 3; ++k) size[k] = carom_f64v_abs(n[k][0] + 2.0 * n[k][1] + n[k][2]);
    carom_i64v third = size[2] > carom_f64v_max(size[0], size[1]);
    carom_i64v second = size[1] > size[0]; /* where not the third */
    choose_component(m->u, 1, second, third, ui);
    choose_component(m->u, 2, second, third, uj);
    choose_component(m->v, 1, second, third, vi);
    choose_component(m->v, 2, second, third, vj);
    choose_component(m->w, 1, second, third, wi);
    choose_component(m->w, 2, second, third, wj);
    toi_lanes_cross(wi, wj, vi, vj, wv);
    toi_lanes_cross(wi, wj, ui, uj, wu);
    for (int i = 0; i < 3; ++i) {
        carom_f64v own = carom_f64v_select(second, n[1][i], n[0][i]);
        carom_f64v a = wv[i], b = wu[i];
        own = carom_f64v_select(third, n[2][i], own);
        part->q[0][i] = own;
        part->q[1][i] = a;
        part->q[2][i] = edges ? own - a : -b;
        part->q[3][i] = edges ? b : (own - a) + b;
        part->q[4][i] = own - b;
    }
    carom_f64v area = carom_f64v_select(second, extent[2] * extent[0], extent[1] * extent[2]);
    return carom_f64v_select(third, extent[0] * extent[1], area);
}

/* carom_toi_make: returns the lanes that the filter can take. */
CAROM_SIMD carom_i64v toi_lanes_make(toi_lanes_motion *m, int edges, toi_lanes_part *part) {
    carom_f64v n[3][3], extent[3];
    carom_i64v usable = ~(carom_i64v){0};
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        carom_f64v ui[2] = {m->u[0][i], m->u[1][i]}, uj[2] = {m->u[0][j], m->u[1][j]};
        carom_f64v vi[2] = {m->v[0][i], m->v[1][i]}, vj[2] = {m->v[0][j], m->v[1][j]};
        toi_lanes_cross(ui, uj, vi, vj, n[k]);
        extent[k] = toi_lanes_extent(m, k);
        usable &= (extent[k] <= CAROM_TOI_EXTENT) &
                  ((extent[k] >= 1.0 / CAROM_TOI_EXTENT) | (extent[k] == 0.0));
    }
    carom_f64v f[4] = {{0}, {0}, {0}, {0}};
    for (int k = 0; k < 3; ++k) {
        carom_f64v twice = 2.0 * n[k][1];
        f[0] += n[k][0] * m->w[0][k];
        f[1] += twice * m->w[0][k] + n[k][0] * m->w[1][k];
        f[2] += n[k][2] * m->w[0][k] + twice * m->w[1][k];
        f[3] += n[k][2] * m->w[1][k];
    }
    part->f[0] = f[0];
    part->f[1] = f[1] / 3.0;
    part->f[2] = f[2] / 3.0;
    part->f[3] = f[3];
    part->cubic = extent[0] * extent[1] * extent[2];
    part->quadratic = toi_lanes_quadratics(m, n, extent, edges, part);
    return usable;
}

/* carom_toi_split; `whole`: all parts are the whole time. */
CAROM_SIMD void toi_lanes_split(toi_lanes_part *part, toi_lanes_part *right, int quadratics,
                                bool whole) {
    double r = whole ? CAROM_TOI_FIRST_SPLIT : 0.5, l = 1.0 - r;
    carom_f64v first = carom_f64v_splat(CAROM_TOI_FIRST_SPLIT);
    carom_f64v middle = whole ? first : (part->low + part->high) * 0.5;
    CAROM_TOI_SPLIT_CUBIC(carom_f64v, part->f, right->f, l, r);
    for (int i = 0; i < quadratics; ++i)
        CAROM_TOI_SPLIT_QUADRATIC(carom_f64v, part->q[i], right->q[i], l, r);
    for (int j = 0; j < 3 && quadratics == 4; ++j) right->q[4][j] = part->q[4][j]; /* not used */
    right->low = middle;
    right->high = part->high;
    part->high = middle;
    right->cubic = part->cubic;
    right->quadratic = part->quadratic;
    right->motion = part->motion;
}

/* ---- Roots ----------------------------------------------------------------------------------- */

/* carom_toi_value. */
CAROM_SIMD carom_f64v toi_lanes_value(const carom_f64v *f, carom_f64v s) {
    carom_f64v r = 1.0 - s;
    carom_f64v a = r * f[0] + s * f[1], b = r * f[1] + s * f[2], c = r * f[2] + s * f[3];
    return r * (r * a + s * b) + s * (r * b + s * c);
}

/* carom_toi_enclose: returns the lanes of `which` whose root was enclosed. */
CAROM_SIMD carom_i64v toi_lanes_enclose(const toi_lanes_root *root, carom_i64v which,
                                        carom_f64v *low, carom_f64v *high) {
    const carom_f64v *f = root->f, one = carom_f64v_splat(1.0);
    carom_f64v sign = carom_f64v_select(f[0] < 0.0, -one, one), zero = {0};
    carom_f64v s = 0.5 * one, from = zero, to = one;
    carom_i64v changed = {0}, active = which;
    for (int i = 1; i < 4; ++i) {
        carom_i64v against = sign * f[i] < -root->error;
        changed |= against;
        which &= ~changed | against;
    }
    carom_f64v d0 = f[1] - f[0], d1 = f[2] - f[1], d2 = f[3] - f[2];
    for (int i = 0; i < CAROM_TOI_NEWTON && some_lane(active); ++i) {
        carom_f64v value = sign * toi_lanes_value(f, s), r = 1.0 - s;
        carom_f64v slope = 3.0 * sign * ((r * r * d0 + 2.0 * r * s * d1) + s * s * d2);
        carom_i64v before = value > 0.0;
        from = carom_f64v_select(before, s, from);
        to = carom_f64v_select(before, to, s);
        carom_f64v step = value / slope, next = s - step, middle = 0.5 * (from + to);
        active &= ~(carom_f64v_abs(step) < CAROM_TOI_LAST_STEP);
        next = carom_f64v_select((next > from) & (next < to), next, middle);
        s = carom_f64v_select(active, next, s);
    }
    carom_f64v width = root->high - root->low, reach = CAROM_TOI_REACH / width;
    carom_f64v left = carom_f64v_select(s > reach, s - reach, zero);
    carom_f64v right = carom_f64v_select(s + reach < 1.0, s + reach, one);
    which &= (sign * toi_lanes_value(f, left) > root->error) &
             (sign * toi_lanes_value(f, right) < -root->error);
    *low = carom_f64v_max(root->low + left * width - CAROM_TOI_END_ERROR, root->low);
    *high = carom_f64v_min(root->low + right * width + CAROM_TOI_END_ERROR, root->high);
    return which;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* What a part shows of each lane. */
typedef struct toi_lanes_signs {
    carom_i64v apart, meet;
} toi_lanes_signs;

CAROM_SIMD toi_lanes_signs toi_lanes_look(const toi_lanes_part *part, int quadratics, carom_f64v ef,
                                          carom_f64v eq) {
    const carom_f64v *f = part->f;
    carom_i64v along = toi_lanes_least(part->q[0], 3) > eq;
    carom_i64v against = toi_lanes_greatest(part->q[0], 3) < -eq;
    /* of the least coefficients of all quadratics the least and the greatest; so of the greatest */
    carom_f64v least = {0}, greatest_least = {0}, greatest = {0}, least_greatest = {0};
    for (int i = 1; i < quadratics; ++i) {
        carom_f64v a = toi_lanes_least(part->q[i], 3), b = toi_lanes_greatest(part->q[i], 3);
        least = i == 1 ? a : carom_f64v_min(a, least);
        greatest_least = i == 1 ? a : carom_f64v_max(a, greatest_least);
        greatest = i == 1 ? b : carom_f64v_max(b, greatest);
        least_greatest = i == 1 ? b : carom_f64v_min(b, least_greatest);
    }
    toi_lanes_signs signs;
    signs.apart = (along & (least_greatest < -eq)) | (against & (greatest_least > eq));
    signs.meet = ((along & (least > eq)) | (against & (greatest < -eq))) &
                 (((f[0] > ef) & (f[3] < -ef)) | ((f[0] < -ef) & (f[3] > ef)));
    return signs;
}

/* The lanes whose cubic may have a root in a part. */
CAROM_SIMD carom_i64v may_have_root(const toi_lanes_part *part, carom_f64v ef) {
    return ~((toi_lanes_least(part->f, 4) > ef) | (toi_lanes_greatest(part->f, 4) < -ef));
}

CAROM_SIMD carom_f64v toi_lanes_cubic_error(const toi_lanes_part *part, double depth) {
    return (CAROM_TOI_CUBIC_ERROR + CAROM_TOI_CUBIC_SPLIT * depth) * part->cubic +
           CAROM_TOI_UNDERFLOW;
}

/* ---- Batches --------------------------------------------------------------------------------- */

#define TOI_LANES_ALL ((1u << CAROM_LANES64) - 1u)

/* The lanes of the vector from `at` that hold one of `count`. */
CAROM_SIMD carom_lanes toi_lanes_filled(uint32_t at, uint32_t count) {
    return count - at < CAROM_LANES64 ? (1u << (count - at)) - 1u : TOI_LANES_ALL;
}

/* Fields per turn of a loop that compilers unroll whole, so that vectors stay in registers. */
#define TOI_LANES_UNROLLED 8u
_Static_assert(TOI_LANES_FIELDS % TOI_LANES_UNROLLED == 0 &&
                   TOI_LANES_ROOT_FIELDS % TOI_LANES_UNROLLED == 0,
               "whole turns");

/* Appends the lanes of a set; fields are vectors side by side. */
CAROM_SIMD void toi_lanes_append(const carom_f64v *fields, uint32_t field_count, carom_lanes which,
                                 double (*to)[TOI_LANES_STRIDE], uint32_t *count) {
    CAROM_ASSERT(*count <= TOI_LANES_ROOM);
    for (uint32_t i = 0; i < field_count; i += TOI_LANES_UNROLLED)
        for (uint32_t j = i; j < i + TOI_LANES_UNROLLED; ++j)
            carom_f64v_store(to[j] + *count, carom_f64v_compress(fields[j], which));
    *count += (uint32_t)__builtin_popcount(which);
}

CAROM_SIMD void toi_lanes_put(toi_lanes_batch *batch, const toi_lanes_part *part,
                              carom_lanes which) {
    const carom_f64v fields[TOI_LANES_FIELDS] = {
        part->f[0],    part->f[1],    part->f[2],    part->f[3],    part->q[0][0],   part->q[0][1],
        part->q[0][2], part->q[1][0], part->q[1][1], part->q[1][2], part->q[2][0],   part->q[2][1],
        part->q[2][2], part->q[3][0], part->q[3][1], part->q[3][2], part->q[4][0],   part->q[4][1],
        part->q[4][2], part->low,     part->high,    part->cubic,   part->quadratic, part->motion};
    toi_lanes_append(fields, TOI_LANES_FIELDS, which, batch->of, &batch->count);
}

CAROM_SIMD toi_lanes_part toi_lanes_get(const toi_lanes_batch *batch, uint32_t at) {
    toi_lanes_part part;
    const double(*from)[TOI_LANES_STRIDE] = batch->of;
    for (int i = 0; i < 4; ++i) part.f[i] = carom_f64v_load(from[i] + at);
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 3; ++j)
            part.q[i][j] = carom_f64v_load(from[TOI_LANES_Q + 3 * i + j] + at);
    part.low = carom_f64v_load(from[TOI_LANES_LOW] + at);
    part.high = carom_f64v_load(from[TOI_LANES_HIGH] + at);
    part.cubic = carom_f64v_load(from[TOI_LANES_CUBIC] + at);
    part.quadratic = carom_f64v_load(from[TOI_LANES_QUADRATIC] + at);
    part.motion = carom_f64v_load(from[TOI_LANES_MOTION] + at);
    return part;
}

/* Notes that these parts are not apart. */
CAROM_SIMD void toi_lanes_note(toi_lanes_work *work, const toi_lanes_part *part, carom_lanes which,
                               bool alone) {
    double low[CAROM_LANES64], motion[CAROM_LANES64];
    carom_f64v_store(low, part->low);
    carom_f64v_store(motion, part->motion);
    for (; which != 0; which &= which - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(which), m = (uint32_t)motion[lane];
        if (!(low[lane] < work->first[m])) continue;
        work->first[m] = low[lane];
        work->alone[m] = alone;
    }
}

/* Keeps parts that meet for Newton's method. */
CAROM_SIMD void toi_lanes_keep(toi_lanes_work *work, const toi_lanes_part *part, carom_lanes which,
                               carom_f64v error) {
    const carom_f64v fields[TOI_LANES_ROOT_FIELDS] = {
        part->f[0], part->f[1], part->f[2], part->f[3], part->low, part->high, error, part->motion};
    bool full = work->roots.count + (uint32_t)__builtin_popcount(which) > TOI_LANES_ROOM;
    toi_lanes_note(work, part, which, full);
    if (full) return;
    toi_lanes_append(fields, TOI_LANES_ROOT_FIELDS, which, work->roots.of, &work->roots.count);
}

/* Keeps second halves for the next level. Returns the lanes whose motion is left to the item
 * instead: it has too many parts, or the batch no room. */
CAROM_SIMD carom_lanes toi_lanes_keep_later(toi_lanes_work *work, const toi_lanes_part *right,
                                            carom_lanes which, uint32_t room) {
    double motion[CAROM_LANES64];
    carom_lanes refused = 0;
    carom_f64v_store(motion, right->motion);
    for (carom_lanes w = which; w != 0; w &= w - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(w), m = (uint32_t)motion[lane];
        if (work->parts[m] == TOI_LANES_PARTS)
            refused |= 1u << lane;
        else
            ++work->parts[m];
    }
    which &= ~refused;
    if (work->later.count + (uint32_t)__builtin_popcount(which) > room) return refused | which;
    toi_lanes_put(&work->later, right, which);
    return refused;
}

/* Looks at the parts of one vector, which are no longer needed in the batch, and keeps of each what
 * must be looked at in the next level. */
CAROM_SIMD void toi_lanes_step(toi_lanes_work *work, uint32_t at, uint32_t count, int edges,
                               double depth) {
    int quadratics = edges ? 5 : 4;
    bool whole = depth == 0.0;
    carom_lanes open = toi_lanes_filled(at, count);
    toi_lanes_part part = toi_lanes_get(&work->open, at), right;
    carom_f64v ef = toi_lanes_cubic_error(&part, depth);
    carom_f64v eq =
        (CAROM_TOI_QUADRATIC_ERROR + CAROM_TOI_QUADRATIC_SPLIT * depth) * part.quadratic +
        CAROM_TOI_UNDERFLOW;
    toi_lanes_signs signs = toi_lanes_look(&part, quadratics, ef, eq);
    carom_lanes meet = carom_lanes_of64(signs.meet) & open;
    if (meet != 0) toi_lanes_keep(work, &part, meet, ef + 2.0 * CAROM_TOI_CUBIC_SPLIT * part.cubic);
    open &= ~(meet | carom_lanes_of64(signs.apart));
    /* where the item may give up */
    carom_f64v end = carom_f64v_min(carom_f64v_abs(part.f[0]), carom_f64v_abs(part.f[3]));
    carom_lanes small = carom_lanes_of64(end <= ef) & open;
    if (depth >= CAROM_TOI_DEPTH) small = open;
    if (small != 0) toi_lanes_note(work, &part, small, true);
    open &= ~small;
    if (open == 0) return;
    toi_lanes_split(&part, &right, quadratics, whole);
    ef = toi_lanes_cubic_error(&part, depth + (whole ? 2.0 : 1.0));
    carom_i64v in_left = may_have_root(&part, ef), in_right = may_have_root(&right, ef);
    open &= carom_lanes_of64(in_left | in_right);
    carom_lanes both = carom_lanes_of64(in_left & in_right) & open;
    if (both != 0) {
        /* as much as is free when all others of this level stay */
        uint32_t after = at + CAROM_LANES64 < count ? count - at - CAROM_LANES64 : 0;
        uint32_t taken = work->open.count + CAROM_LANES64 + after;
        uint32_t room = taken < TOI_LANES_ROOM ? TOI_LANES_ROOM - taken : 0;
        carom_lanes refused = toi_lanes_keep_later(work, &right, both, room);
        if (refused != 0) toi_lanes_note(work, &part, refused, true);
        open &= ~refused;
    }
    for (int i = 0; i < 4; ++i) part.f[i] = carom_f64v_select(in_left, part.f[i], right.f[i]);
    for (int i = 0; i < quadratics; ++i)
        for (int j = 0; j < 3; ++j)
            part.q[i][j] = carom_f64v_select(in_left, part.q[i][j], right.q[i][j]);
    part.low = carom_f64v_select(in_left, part.low, right.low);
    part.high = carom_f64v_select(in_left, part.high, right.high);
    toi_lanes_put(&work->open, &part, open);
}

/* Fills the batch with the motions whose cubic may have a root. */
CAROM_SIMD void toi_lanes_begin(toi_lanes_work *work, const carom_toi_columns *motions,
                                uint32_t count, int edges) {
    for (uint32_t at = 0; at < count; at += CAROM_LANES64) {
        toi_lanes_part part = {.low = {0}};
        toi_lanes_motion motion;
        double column[CAROM_LANES64];
        carom_lanes filled = toi_lanes_filled(at, count);
        for (uint32_t i = 0; i < CAROM_LANES64; ++i) column[i] = (double)(at + i);
        toi_lanes_load(motions, at, edges, &motion);
        carom_lanes usable = carom_lanes_of64(toi_lanes_make(&motion, edges, &part));
        part.high = carom_f64v_splat(1.0);
        part.motion = carom_f64v_load(column);
        if ((filled & ~usable) != 0) toi_lanes_note(work, &part, filled & ~usable, true);
        carom_i64v root = may_have_root(&part, toi_lanes_cubic_error(&part, 0.0));
        toi_lanes_put(&work->open, &part, filled & usable & carom_lanes_of64(root));
    }
}

/* One level: parts of the next are written in front of those that are yet to be looked at. */
CAROM_SIMD void toi_lanes_level(toi_lanes_work *work, int edges, double depth) {
    uint32_t count = work->open.count;
    work->open.count = work->later.count = 0;
    for (uint32_t at = 0; at < count; at += CAROM_LANES64)
        toi_lanes_step(work, at, count, edges, depth);
    CAROM_ASSERT(work->open.count + work->later.count <= TOI_LANES_ROOM);
    if (work->later.count == 0) return;
    for (uint32_t i = 0; i < TOI_LANES_FIELDS; ++i)
        memcpy(work->open.of[i] + work->open.count, work->later.of[i],
               work->later.count * sizeof(double));
    work->open.count += work->later.count;
}

/* Writes the times of those that meet in their first part that is not apart. */
CAROM_SIMD void toi_lanes_end(toi_lanes_work *work, int *verdict, double *low, double *high) {
    static const double numbers[8] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0};
    for (uint32_t at = 0; at < work->roots.count; at += CAROM_LANES64) {
        carom_f64v fields[TOI_LANES_ROOT_FIELDS], from, to;
        toi_lanes_root root;
        double lows[CAROM_LANES64], highs[CAROM_LANES64];
        for (uint32_t i = 0; i < TOI_LANES_ROOT_FIELDS; ++i)
            fields[i] = carom_f64v_load(work->roots.of[i] + at);
        memcpy(&root, fields, sizeof(root));
        carom_i64v filled = carom_f64v_load(numbers) < (double)(work->roots.count - at);
        carom_lanes enclosed = carom_lanes_of64(toi_lanes_enclose(&root, filled, &from, &to));
        carom_f64v_store(lows, from);
        carom_f64v_store(highs, to);
        for (uint32_t i = 0; i < CAROM_LANES64 && at + i < work->roots.count; ++i) {
            uint32_t m = (uint32_t)root.motion[i];
            if (work->alone[m] || work->first[m] != root.low[i]) continue;
            work->alone[m] = (enclosed >> i & 1) == 0;
            if (work->alone[m]) continue;
            verdict[m] = CAROM_TOI_HIT;
            low[m] = lows[i];
            high[m] = highs[i];
        }
    }
}

CAROM_SIMD void toi_lanes_decide(const carom_toi_columns *motions, uint32_t count, int edges,
                                 int *verdict, double *low, double *high) {
    toi_lanes_work work;
    work.open.count = work.later.count = work.roots.count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        work.first[i] = HUGE_VAL;
        work.alone[i] = false;
        work.parts[i] = 0;
        verdict[i] = CAROM_TOI_MISS;
        low[i] = high[i] = 0.0;
    }
    toi_lanes_begin(&work, motions, count, edges);
    toi_lanes_level(&work, edges, 0.0);
    for (double depth = 2.0; work.open.count != 0; depth += 1.0)
        toi_lanes_level(&work, edges, depth);
    toi_lanes_end(&work, verdict, low, high);
    for (uint32_t i = 0; i < count; ++i) {
        if (!work.alone[i]) continue;
        carom_vec3 start[4], end[4];
        carom_toi_column_get(motions, i, start, end);
        verdict[i] = CAROM_CPU(carom_toi_filter_fast)(start, end, edges, &low[i], &high[i]);
    }
}

void CAROM_CPU(carom_toi_filter_lanes)(const carom_toi_columns *motions, uint32_t count, int edges,
                                       int *verdict, double *low, double *high) {
    CAROM_ASSERT(count <= CAROM_TOI_COLUMNS);
    if (edges)
        toi_lanes_decide(motions, count, 1, verdict, low, high);
    else
        toi_lanes_decide(motions, count, 0, verdict, low, high);
}
