/* SPDX-License-Identifier: MIT */
/* The filter of times of impact (toi_item.h) with one motion per lane.
 *
 * Each lane halves the time of its own motion. Nearly always the cubic has a root in one half only,
 * by the signs of its coefficients, and the lane continues there; else it keeps the later half in a
 * stack of its own. Those that meet are collected, with the part in which they do, and Newton's
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
    carom_f64v low, high, depth;
} toi_lanes_part;

#define TOI_LANES_FIELDS (sizeof(toi_lanes_part) / sizeof(carom_f64v))
/* Parts that the item visits after n of them were cut are at most 2 n + 1. */
#define TOI_LANES_CUTS (CAROM_TOI_VISITS / 2 - 1)

/* The parts that one lane has yet to visit. */
typedef struct toi_lanes_stack {
    uint32_t count;
    double of[CAROM_TOI_DEPTH + 2][TOI_LANES_FIELDS];
} toi_lanes_stack;

typedef struct toi_lanes_motion {
    carom_f64v u[2][3], v[2][3], w[2][3];
} toi_lanes_motion;

/* What Newton's method is given. */
typedef struct toi_lanes_root {
    carom_f64v f[4], low, high, error;
} toi_lanes_root;

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
CAROM_SIMD carom_i64v toi_lanes_make(toi_lanes_motion *m, int edges, toi_lanes_part *part,
                                     carom_f64v *cubic, carom_f64v *quadratic) {
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
    *cubic = extent[0] * extent[1] * extent[2];
    *quadratic = toi_lanes_quadratics(m, n, extent, edges, part);
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
    right->low = middle;
    right->high = part->high;
    part->high = middle;
    part->depth = right->depth = part->depth + (whole ? 2.0 : 1.0);
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

CAROM_SIMD carom_f64v toi_lanes_cubic_error(const toi_lanes_part *part, carom_f64v cubic) {
    return (CAROM_TOI_CUBIC_ERROR + CAROM_TOI_CUBIC_SPLIT * part->depth) * cubic +
           CAROM_TOI_UNDERFLOW;
}

CAROM_SIMD void toi_lanes_push(const toi_lanes_part *part, carom_lanes which,
                               toi_lanes_stack *stacks) {
    double values[TOI_LANES_FIELDS][CAROM_LANES64];
    memcpy(values, part, sizeof(values));
    for (; which != 0; which &= which - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(which);
        toi_lanes_stack *stack = &stacks[lane];
        CAROM_ASSERT(stack->count < CAROM_TOI_DEPTH + 2);
        for (uint32_t i = 0; i < TOI_LANES_FIELDS; ++i)
            stack->of[stack->count][i] = values[i][lane];
        ++stack->count;
    }
}

/* Returns the lanes of `which` that have no part left. */
CAROM_SIMD carom_lanes toi_lanes_pop(toi_lanes_part *part, carom_lanes which,
                                     toi_lanes_stack *stacks) {
    double values[TOI_LANES_FIELDS][CAROM_LANES64];
    carom_lanes none = 0;
    for (carom_lanes w = which; w != 0; w &= w - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(w);
        none |= (carom_lanes)(stacks[lane].count == 0) << lane;
    }
    if (none == which) return none;
    memcpy(values, part, sizeof(values));
    for (carom_lanes w = which & ~none; w != 0; w &= w - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(w);
        toi_lanes_stack *stack = &stacks[lane];
        --stack->count;
        for (uint32_t i = 0; i < TOI_LANES_FIELDS; ++i)
            values[i][lane] = stack->of[stack->count][i];
    }
    memcpy(part, values, sizeof(values));
    return none;
}

CAROM_SIMD void toi_lanes_keep(const toi_lanes_part *part, carom_i64v which, carom_f64v error,
                               toi_lanes_root *root) {
    for (int i = 0; i < 4; ++i) root->f[i] = carom_f64v_select(which, part->f[i], root->f[i]);
    root->low = carom_f64v_select(which, part->low, root->low);
    root->high = carom_f64v_select(which, part->high, root->high);
    root->error = carom_f64v_select(which, error, root->error);
}

/* Cuts a part. Each lane continues in the first half that may have a root, and keeps the other for
 * later if that may, too. Returns the lanes of `which` where none may. */
CAROM_SIMD carom_lanes toi_lanes_descend(toi_lanes_part *part, carom_lanes which, int quadratics,
                                         bool whole, carom_f64v cubic, toi_lanes_stack *stacks) {
    toi_lanes_part right;
    toi_lanes_split(part, &right, quadratics, whole);
    carom_f64v ef = toi_lanes_cubic_error(part, cubic);
    carom_i64v in_left = may_have_root(part, ef), in_right = may_have_root(&right, ef);
    carom_lanes both = carom_lanes_of64(in_left & in_right) & which;
    if (both != 0) toi_lanes_push(&right, both, stacks);
    for (int i = 0; i < 4; ++i) part->f[i] = carom_f64v_select(in_left, part->f[i], right.f[i]);
    for (int i = 0; i < quadratics; ++i)
        for (int j = 0; j < 3; ++j)
            part->q[i][j] = carom_f64v_select(in_left, part->q[i][j], right.q[i][j]);
    part->low = carom_f64v_select(in_left, part->low, right.low);
    part->high = carom_f64v_select(in_left, part->high, right.high);
    return which & ~carom_lanes_of64(in_left | in_right);
}

/* Decides CAROM_LANES64 motions; returns those of `wanted` that are left to the item. */
CAROM_SIMD carom_lanes toi_lanes_decide(const carom_toi_columns *from, uint32_t lane, int edges,
                                        carom_lanes wanted, carom_lanes *hit, carom_f64v *low,
                                        carom_f64v *high) {
    toi_lanes_stack stacks[CAROM_LANES64];
    toi_lanes_part part = {.low = {0}};
    toi_lanes_motion motion;
    toi_lanes_root root = {.low = {0}};
    carom_f64v cubic, quadratic;
    int quadratics = edges ? 5 : 4;
    carom_i64v hits = {0};
    for (uint32_t i = 0; i < CAROM_LANES64; ++i) stacks[i].count = 0;
    toi_lanes_load(from, lane, edges, &motion);
    carom_lanes usable =
        carom_lanes_of64(toi_lanes_make(&motion, edges, &part, &cubic, &quadratic));
    part.high = carom_f64v_splat(1.0);
    carom_lanes rest = wanted & ~usable;
    carom_lanes open = wanted & usable &
                       carom_lanes_of64(may_have_root(&part, toi_lanes_cubic_error(&part, cubic)));
    for (int cuts = 0; open != 0; ++cuts) {
        carom_f64v ef = toi_lanes_cubic_error(&part, cubic);
        carom_f64v eq =
            (CAROM_TOI_QUADRATIC_ERROR + CAROM_TOI_QUADRATIC_SPLIT * part.depth) * quadratic +
            CAROM_TOI_UNDERFLOW;
        toi_lanes_signs signs = toi_lanes_look(&part, quadratics, ef, eq);
        carom_lanes apart = carom_lanes_of64(signs.apart) & open;
        carom_lanes meet = carom_lanes_of64(signs.meet) & open;
        if (meet != 0) {
            carom_i64v fresh = signs.meet & ~hits;
            toi_lanes_keep(&part, fresh, ef + 2.0 * CAROM_TOI_CUBIC_SPLIT * cubic, &root);
            *hit |= meet;
            hits |= fresh;
        }
        open &= ~meet;
        /* where the item may give up */
        carom_f64v end = carom_f64v_min(carom_f64v_abs(part.f[0]), carom_f64v_abs(part.f[3]));
        carom_lanes small = carom_lanes_of64((end <= ef) | (part.depth >= CAROM_TOI_DEPTH));
        if (cuts >= TOI_LANES_CUTS) small = open;
        small &= open & ~apart;
        rest |= small;
        open &= ~small;
        carom_lanes leave = apart;
        if ((open & ~apart) != 0)
            leave |= toi_lanes_descend(&part, open & ~apart, quadratics, cuts == 0, cubic, stacks);
        if (leave != 0) open &= ~toi_lanes_pop(&part, leave, stacks);
    }
    if (*hit != 0) {
        carom_lanes enclosed = carom_lanes_of64(toi_lanes_enclose(&root, hits, low, high)) & *hit;
        rest |= *hit & ~enclosed;
        *hit = enclosed;
    }
    return rest;
}

/* By the item. */
static int toi_lanes_alone(const carom_toi_columns *from, uint32_t lane, int edges, double *low,
                           double *high) {
    carom_vec3 start[4], end[4];
    carom_toi_column_get(from, lane, start, end);
    return CAROM_CPU(carom_toi_filter_fast)(start, end, edges, low, high);
}

void CAROM_CPU(carom_toi_filter_lanes)(const carom_toi_columns *motions, uint32_t count, int edges,
                                       int *verdict, double *low, double *high) {
    for (uint32_t lane = 0; lane < count; lane += CAROM_LANES64) {
        double lows[CAROM_LANES64], highs[CAROM_LANES64];
        carom_lanes hits = 0, left, wanted = (1u << CAROM_LANES64) - 1;
        if (count - lane < CAROM_LANES64) wanted = (1u << (count - lane)) - 1;
        carom_f64v from = {0}, to = {0};
        if (edges)
            left = toi_lanes_decide(motions, lane, 1, wanted, &hits, &from, &to);
        else
            left = toi_lanes_decide(motions, lane, 0, wanted, &hits, &from, &to);
        carom_f64v_store(lows, from);
        carom_f64v_store(highs, to);
        for (uint32_t i = 0; i < CAROM_LANES64 && lane + i < count; ++i) {
            uint32_t at = lane + i;
            low[at] = lows[i];
            high[at] = highs[i];
            verdict[at] = (hits >> i & 1) != 0 ? CAROM_TOI_HIT
                          : (left >> i & 1) == 0
                              ? CAROM_TOI_MISS
                              : toi_lanes_alone(motions, at, edges, &low[at], &high[at]);
        }
    }
}
