/* SPDX-License-Identifier: MIT */
/* Pairs of triangles of two solids with SIMD, several at a time.
 *
 * The steps are those of carom_solid_consider (solid_pair.c), each for as many pairs as a vector
 * has lanes, by the formulas of the items (solid_formulas.h):
 *   - pose the corners and compare both triangles with each other's plane; compress what is left;
 *   - order the ends of both intervals on the common line of the planes (triangle_filter.h);
 *   - compute the two crossings and the terms, and add the terms in fixed point, lane by lane.
 *
 * Crossed tree edges are collected. Then their prefix sums are added, and the single triangles
 * beside prefix sums are processed in lanes, too.
 *
 * Invariant: all sums have the bits that carom_solid_consider gives. Each lane does what the item
 * does for one pair, and sums in fixed point do not depend on the order. Pairs that need more than
 * doubles, or a term that exceeds its bound, are left to the scalar functions. */
#include "solid/solid_pair_cpu.h"

#include <stdlib.h>

#include "base/sum_lanes.h"

typedef struct solid_pair_cpu_vec {
    carom_f64v x, y, z;
} solid_pair_cpu_vec;

CAROM_SIMD solid_pair_cpu_vec lanes_add(solid_pair_cpu_vec a, solid_pair_cpu_vec b) {
    return (solid_pair_cpu_vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

CAROM_SIMD solid_pair_cpu_vec lanes_sub(solid_pair_cpu_vec a, solid_pair_cpu_vec b) {
    return (solid_pair_cpu_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

CAROM_SIMD solid_pair_cpu_vec lanes_scale(solid_pair_cpu_vec a, carom_f64v s) {
    return (solid_pair_cpu_vec){a.x * s, a.y * s, a.z * s};
}

CAROM_SIMD carom_f64v lanes_dot(solid_pair_cpu_vec a, solid_pair_cpu_vec b) {
    return (a.x * b.x + a.y * b.y) + a.z * b.z;
}

CAROM_SIMD solid_pair_cpu_vec lanes_cross(solid_pair_cpu_vec a, solid_pair_cpu_vec b) {
    return (solid_pair_cpu_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z,
                                a.x * b.y - a.y * b.x};
}

CAROM_SIMD solid_pair_cpu_vec solid_pair_cpu_choose(carom_i64v which, solid_pair_cpu_vec yes,
                                                    solid_pair_cpu_vec no) {
    return (solid_pair_cpu_vec){carom_f64v_select(which, yes.x, no.x),
                                carom_f64v_select(which, yes.y, no.y),
                                carom_f64v_select(which, yes.z, no.z)};
}

/* The value where the comparison is true, else 0. */
CAROM_SIMD carom_f64v solid_pair_cpu_keep(carom_i64v where, carom_f64v value) {
    return (carom_f64v)((carom_i64v)value & where);
}

CAROM_SIMD solid_pair_cpu_vec solid_pair_cpu_splat(carom_vec3 v) {
    return (solid_pair_cpu_vec){carom_f64v_splat(v.x), carom_f64v_splat(v.y),
                                carom_f64v_splat(v.z)};
}

CAROM_SIMD solid_pair_cpu_vec solid_pair_cpu_turn(const double *r, solid_pair_cpu_vec d) {
    return (solid_pair_cpu_vec){(r[0] * d.x + r[1] * d.y) + r[2] * d.z,
                                (r[3] * d.x + r[4] * d.y) + r[5] * d.z,
                                (r[6] * d.x + r[7] * d.y) + r[8] * d.z};
}

/* The formulas of solid_item.h for lanes: solid_lanes_plane_make, solid_lanes_find_triangle and
 * others. */
#define NAME(x)                solid_lanes_##x
#define FUNCTION               CAROM_SIMD
#define NUMBER                 carom_f64v
#define FLAGS                  carom_i64v
#define VECTOR                 solid_pair_cpu_vec
#define VECTOR_OF(x, y, z)     ((solid_pair_cpu_vec){x, y, z})
#define VECTOR_NAME(op)        lanes_##op
#define MAGNITUDE(x)           carom_f64v_abs(x)
#define MAXIMUM(a, b)          carom_f64v_max(a, b)
#define ROOT(x)                carom_f64v_sqrt(x)
#define SELECT(flags, yes, no) carom_f64v_select(flags, yes, no)
#define KEEP(flags, x)         solid_pair_cpu_keep(flags, x)
#include "solid/solid_formulas.h"

/* All ones in the first `count` lanes. */
CAROM_SIMD carom_i64v first_lanes(uint32_t count) {
    carom_i64v lane;
    for (int i = 0; i < CAROM_LANES64; ++i) lane[i] = i;
    return lane < (int64_t)count;
}

static inline uint32_t solid_pair_cpu_lowest(carom_lanes lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

/* ---- Sums in fixed point, per lane ----------------------------------------------------------- */

/* Terms and errors as integers of 128 bits modulo 2^128 (sum_lanes.h). */
typedef struct pair_sums {
    carom_u64v low[CAROM_SOLID_TERMS + 2], high[CAROM_SOLID_TERMS + 2];
    carom_u64v negative[CAROM_SOLID_TERMS];
    carom_f64v span;
    solid_pair_cpu_vec lowest, highest; /* bounds of crossings */
    carom_u64v any_volume;
    /* Prefix sums to add (0) and to subtract (1), per solid: low and high words alternate. */
    carom_u64v moments[2][2][2 * CAROM_SOLID_SUMS / CAROM_LANES64];
} pair_sums;

/* Adds the terms of the lanes in `live`; those out of bounds by the scalar function, which notes
 * that. */
CAROM_SIMD void add_terms(const carom_solid_query *query, carom_solid_accumulator *acc,
                          pair_sums *s, const carom_f64v terms[CAROM_SOLID_SLOTS],
                          carom_i64v live) {
    carom_f64v error[2];
    carom_i64v fits = live;
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i)
        fits &= carom_f64v_abs(terms[i]) <= query->bounds[i];
    for (unsigned i = 0; i < 2; ++i) {
        error[i] = terms[CAROM_SOLID_VOLUME_ERROR + i] * query->error_units[i];
        fits &= error[i] < CAROM_SOLID_MOST_ERROR;
    }
    for (carom_lanes odd = carom_lanes_of64(live & ~fits); odd != 0; odd &= odd - 1) {
        double one[CAROM_SOLID_SLOTS];
        for (unsigned i = 0; i < CAROM_SOLID_SLOTS; ++i)
            one[i] = terms[i][solid_pair_cpu_lowest(odd)];
        carom_solid_add_terms(query, acc, one);
    }
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i)
        carom_sum_lanes_term(&s->low[i], &s->high[i], &s->negative[i],
                             solid_pair_cpu_keep(fits, terms[i]), query->scales[i]);
    for (unsigned i = 0; i < 2; ++i) {
        carom_f64v units = solid_pair_cpu_keep(fits, error[i]);
        carom_i64v whole = carom_f64v_truncate(units) - (units != 0.0);
        carom_sum_lanes_wide(&s->low[CAROM_SOLID_TERMS + i], &s->high[CAROM_SOLID_TERMS + i],
                             (carom_u64v)whole, (carom_u64v){0});
    }
    s->any_volume |= (carom_u64v)(fits & (terms[CAROM_SOLID_VOLUME] != 0.0));
    s->span = carom_f64v_max(s->span, solid_pair_cpu_keep(fits, terms[CAROM_SOLID_SPAN]));
    acc->added += (uint64_t)__builtin_popcount(carom_lanes_of64(fits));
}

static void add_to_accumulator(const pair_sums *s, carom_solid_accumulator *acc) {
    for (int lane = 0; lane < CAROM_LANES64; ++lane) {
        for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i) {
            carom_sum sum = {s->low[i][lane], s->high[i][lane], 0};
            carom_sum negative = {s->negative[i][lane], 0, 0};
            acc->terms[i] = carom_sum_add(acc->terms[i], carom_sum_add(sum, negative));
        }
        for (unsigned i = 0; i < 2; ++i) {
            carom_sum sum = {s->low[CAROM_SOLID_TERMS + i][lane],
                             s->high[CAROM_SOLID_TERMS + i][lane], 0};
            acc->errors[i] = carom_sum_add(acc->errors[i], sum);
        }
        acc->span = CAROM_MAX(acc->span, s->span[lane]);
        carom_solid_accumulator_hold(
            acc, carom_vec(s->lowest.x[lane], s->lowest.y[lane], s->lowest.z[lane]),
            carom_vec(s->highest.x[lane], s->highest.y[lane], s->highest.z[lane]));
    }
    for (int of_b = 0; of_b < 2; ++of_b) {
        carom_solid_sum plus[CAROM_SOLID_SUMS], minus[CAROM_SOLID_SUMS];
        memcpy(plus, s->moments[of_b][0], sizeof(plus));
        memcpy(minus, s->moments[of_b][1], sizeof(minus));
        for (unsigned i = 0; acc->moved[of_b] && i < CAROM_SOLID_SUMS; ++i) {
            carom_sum *sum = &acc->moments[of_b].sums[i];
            *sum = carom_sum_add(*sum, carom_solid_weigh(plus[i], 1));
            *sum = carom_sum_add(*sum, carom_solid_weigh(minus[i], -1));
        }
    }
    acc->any_volume |= carom_lanes_of64((carom_i64v)s->any_volume) != 0;
}

/* ---- Planes ---------------------------------------------------------------------------------- */

/* carom_solid_sides. */
typedef struct sides {
    carom_f64v value[3], error[3];
} sides;

CAROM_SIMD sides find_values(const solid_pair_cpu_vec *face, const solid_lanes_plane *plane,
                             const solid_pair_cpu_vec *p) {
    sides s;
    for (int i = 0; i < 3; ++i)
        s.value[i] = solid_lanes_plane_value(plane, face[0], p[i], &s.error[i]);
    return s;
}

/* Whether all three are certainly on one side. */
CAROM_SIMD carom_i64v one_side(const sides *s) {
    return ((s->value[0] > s->error[0]) & (s->value[1] > s->error[1]) &
            (s->value[2] > s->error[2])) |
           ((s->value[0] < -s->error[0]) & (s->value[1] < -s->error[1]) &
            (s->value[2] < -s->error[2]));
}

/* The pairs of faces of a vector's lanes, posed. */
typedef struct pair_lanes {
    solid_pair_cpu_vec a[3], b[3];
    carom_i64v facts_a, facts_b;
    solid_lanes_plane plane_a, plane_b;
    sides sides_a, sides_b; /* of a's corners at b's plane, of b's at a's */
} pair_lanes;

CAROM_SIMD void compare_planes(pair_lanes *p) {
    p->plane_a = solid_lanes_plane_make(p->a);
    p->plane_b = solid_lanes_plane_make(p->b);
    p->sides_a = find_values(p->b, &p->plane_b, p->a);
    p->sides_b = find_values(p->a, &p->plane_a, p->b);
}

/* ---- Corners --------------------------------------------------------------------------------- */

/* Facts of a face: its bits `represents`, and whether corner j has a lower index than the next. */
#define LOWER_BIT 4

static void solid_pair_cpu_read_face(const carom_solid_query *query, carom_solid_batch *batch,
                                     int of_b, uint32_t triangle, uint32_t at) {
    const carom_solid *solid = query->solids[of_b];
    const uint32_t *v = solid->view.corners + 3 * (uint64_t)triangle;
    double(*row)[CAROM_SOLID_BATCH + CAROM_SOLID_BEYOND] = batch->corners + 9 * of_b;
    for (int i = 0; i < 3; ++i) {
        const double *p = (const double *)solid->view.positions + 3 * (uint64_t)v[i];
        for (int k = 0; k < 3; ++k) row[3 * i + k][at] = p[k];
    }
    uint64_t facts = solid->represents[triangle] | (uint64_t)(v[0] < v[1]) << LOWER_BIT |
                     (uint64_t)(v[1] < v[2]) << (LOWER_BIT + 1) |
                     (uint64_t)(v[2] < v[0]) << (LOWER_BIT + 2);
    memcpy(&batch->facts[of_b][at], &facts, sizeof(facts));
    batch->triangles[of_b][at] = triangle;
}

CAROM_SIMD void solid_pair_cpu_load_face(const carom_solid_batch *batch, int of_b, uint32_t at,
                                         solid_pair_cpu_vec p[3]) {
    for (int i = 0; i < 3; ++i) {
        const double(*row)[CAROM_SOLID_BATCH + CAROM_SOLID_BEYOND] =
            batch->corners + 9 * of_b + 3 * i;
        p[i] = (solid_pair_cpu_vec){carom_f64v_load(row[0] + at), carom_f64v_load(row[1] + at),
                                    carom_f64v_load(row[2] + at)};
    }
}

CAROM_SIMD void solid_pair_cpu_pose(const carom_solid_query *query, int of_b,
                                    solid_pair_cpu_vec p[3]) {
    const carom_frame *f = &carom_solid_side(query, of_b)->frame;
    for (int i = 0; i < 3; ++i)
        p[i] = lanes_scale(lanes_add(solid_pair_cpu_turn(f->r, p[i]), solid_pair_cpu_splat(f->t)),
                           carom_f64v_splat(query->power));
}

CAROM_SIMD void store_kept(carom_solid_batch *batch, int of_b, uint32_t at,
                           const solid_pair_cpu_vec p[3], carom_lanes lanes) {
    for (int i = 0; i < 3; ++i) {
        double(*row)[CAROM_SOLID_BATCH + CAROM_SOLID_BEYOND] = batch->corners + 9 * of_b + 3 * i;
        carom_f64v_store(row[0] + at, carom_f64v_compress(p[i].x, lanes));
        carom_f64v_store(row[1] + at, carom_f64v_compress(p[i].y, lanes));
        carom_f64v_store(row[2] + at, carom_f64v_compress(p[i].z, lanes));
    }
}

/* Poses all pairs and keeps those that may meet, as in carom_solid_may_meet. Returns how many. */
static uint32_t keep_near(const carom_solid_query *query, carom_solid_batch *batch,
                          uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t at = 0; at < count; at += CAROM_LANES64) {
        pair_lanes p;
        solid_pair_cpu_load_face(batch, 0, at, p.a);
        solid_pair_cpu_load_face(batch, 1, at, p.b);
        solid_pair_cpu_pose(query, 0, p.a);
        solid_pair_cpu_pose(query, 1, p.b);
        compare_planes(&p);
        carom_lanes lanes = carom_lanes_of64(first_lanes(count - at) & ~one_side(&p.sides_a) &
                                             ~one_side(&p.sides_b));
        if (lanes == 0) continue;
        store_kept(batch, 0, kept, p.a, lanes);
        store_kept(batch, 1, kept, p.b, lanes);
        for (int i = 0; i < 2; ++i) {
            carom_f64v facts = carom_f64v_load(batch->facts[i] + at);
            carom_f64v_store(batch->facts[i] + kept, carom_f64v_compress(facts, lanes));
        }
        kept += carom_lanes_list(lanes, at, batch->index + kept);
        CAROM_ASSERT(kept <= at + CAROM_LANES64 && kept <= count); /* not read yet: never behind */
    }
    return kept;
}

/* ---- Crossings ------------------------------------------------------------------------------- */

/* The edge from the corner that is alone on its side of the other plane to another corner, and the
 * values of both ends. */
typedef struct lane_edge {
    solid_pair_cpu_vec lone, other;
    carom_f64v value_lone, value_other, error_lone, error_other;
    carom_i64v rises; /* the index of `lone` is the lower one */
    carom_i64v side;  /* of its face */
} lane_edge;

CAROM_SIMD lane_edge select_edge(carom_i64v which, const lane_edge *yes, const lane_edge *no) {
    return (lane_edge){solid_pair_cpu_choose(which, yes->lone, no->lone),
                       solid_pair_cpu_choose(which, yes->other, no->other),
                       carom_f64v_select(which, yes->value_lone, no->value_lone),
                       carom_f64v_select(which, yes->value_other, no->value_other),
                       carom_f64v_select(which, yes->error_lone, no->error_lone),
                       carom_f64v_select(which, yes->error_other, no->error_other),
                       (yes->rises & which) | (no->rises & ~which),
                       (yes->side & which) | (no->side & ~which)};
}

/* The edges from the lone corner to the next one and to the one before, and whether the lone corner
 * is above the other plane. */
typedef struct fan {
    lane_edge next, last;
    carom_i64v up;
} fan;

CAROM_SIMD fan fan_make(const solid_pair_cpu_vec p[3], const sides *s, carom_i64v facts) {
    carom_i64v up0 = s->value[0] > 0.0, up1 = s->value[1] > 0.0, up2 = s->value[2] > 0.0;
    carom_i64v first = ~(up1 ^ up2), second = ~first & ~(up0 ^ up2), third = ~first & ~second;
    fan f;
    f.up = (first & up0) | (second & up1) | (third & up2);
#define ROTATE(pick, x, y, z) pick(first, x, pick(second, y, z))
    f.next.lone = ROTATE(solid_pair_cpu_choose, p[0], p[1], p[2]);
    f.next.other = ROTATE(solid_pair_cpu_choose, p[1], p[2], p[0]);
    f.last.other = ROTATE(solid_pair_cpu_choose, p[2], p[0], p[1]);
    f.next.value_lone = ROTATE(carom_f64v_select, s->value[0], s->value[1], s->value[2]);
    f.next.value_other = ROTATE(carom_f64v_select, s->value[1], s->value[2], s->value[0]);
    f.last.value_other = ROTATE(carom_f64v_select, s->value[2], s->value[0], s->value[1]);
    f.next.error_lone = ROTATE(carom_f64v_select, s->error[0], s->error[1], s->error[2]);
    f.next.error_other = ROTATE(carom_f64v_select, s->error[1], s->error[2], s->error[0]);
    f.last.error_other = ROTATE(carom_f64v_select, s->error[2], s->error[0], s->error[1]);
#undef ROTATE
    f.last.lone = f.next.lone;
    f.last.value_lone = f.next.value_lone;
    f.last.error_lone = f.next.error_lone;
    f.next.side = (second & 1) | (third & 2);
    f.last.side = (first & 2) | (third & 1);
    /* a side from the lone corner rises if its first corner is lower, one to it if not */
    carom_u64v bits = (carom_u64v)facts;
    f.next.rises = (carom_i64v)(carom_u64v_shift_right(bits, f.next.side + LOWER_BIT) & 1) != 0;
    f.last.rises = (carom_i64v)(carom_u64v_shift_right(bits, f.last.side + LOWER_BIT) & 1) == 0;
    return f;
}

/* carom_solid_crossing, and the lanes for which it has to be computed otherwise. */
typedef struct solid_pair_cpu_crossing {
    solid_pair_cpu_vec x;
    carom_f64v edge, lever, slide, off;
    carom_i64v of_b, side;
} solid_pair_cpu_crossing;

/* carom_solid_crossing_locate. */
CAROM_SIMD solid_pair_cpu_crossing crossing_make(const lane_edge *e, carom_i64v of_b,
                                                 solid_pair_cpu_vec origin, double long_edge,
                                                 carom_i64v *odd) {
    solid_pair_cpu_crossing c;
    carom_f64v size_lone = carom_f64v_abs(e->value_lone);
    carom_f64v size_other = carom_f64v_abs(e->value_other);
    carom_i64v from_lone = (size_lone < size_other) | ((size_lone == size_other) & e->rises);
    solid_pair_cpu_vec from = solid_pair_cpu_choose(from_lone, e->lone, e->other),
                       to = solid_pair_cpu_choose(from_lone, e->other, e->lone);
    carom_f64v d = carom_f64v_select(from_lone, e->value_lone, e->value_other);
    carom_f64v d_to = carom_f64v_select(from_lone, e->value_other, e->value_lone);
    carom_f64v off = carom_f64v_select(from_lone, e->error_lone, e->error_other);
    carom_f64v off_to = carom_f64v_select(from_lone, e->error_other, e->error_lone);
    solid_pair_cpu_vec direction = lanes_sub(to, from);
    carom_f64v whole = d - d_to, t = d / whole, length = solid_lanes_norm(direction);
    *odd |= ~(solid_lanes_value_suffices(size_lone, e->error_lone) &
              solid_lanes_value_suffices(size_other, e->error_other) &
              (solid_lanes_most(direction) <= long_edge));
    c.x = solid_lanes_crossing_point(from, direction, t, origin);
    c.edge = length;
    c.lever = solid_lanes_crossing_lever(direction, c.x, length);
    c.off = solid_lanes_crossing_off(off, off_to, t);
    c.slide = solid_lanes_crossing_slide(length, c.off, whole);
    c.of_b = of_b;
    c.side = e->side;
    return c;
}

/* ---- Terms ----------------------------------------------------------------------------------- */

/* A face with its plane, for its terms. */
typedef struct spanned {
    solid_pair_cpu_vec c, last; /* corners 0 and 2, relative to the origin */
    solid_pair_cpu_vec n;       /* the unit normal */
    carom_f64v off;
} spanned;

/* carom_solid_direction and carom_solid_off_plane. */
CAROM_SIMD spanned solid_pair_cpu_span(const solid_pair_cpu_vec p[3],
                                       const solid_lanes_plane *plane, solid_pair_cpu_vec origin,
                                       carom_i64v mine_0, carom_i64v mine_1,
                                       const solid_pair_cpu_crossing ends[2], carom_i64v *odd) {
    spanned s;
    carom_f64v inverse;
    *odd |= ~solid_lanes_plane_inverse(plane, &inverse);
    s.c = lanes_sub(p[0], origin);
    s.last = lanes_sub(p[2], origin);
    s.n = lanes_scale(plane->normal, inverse);
    carom_f64v off =
        solid_pair_cpu_keep(~mine_0, ends[0].off) + solid_pair_cpu_keep(~mine_1, ends[1].off);
    s.off = solid_lanes_off_units(off, inverse);
    return s;
}

/* The terms of the pairs in the lanes `meet`: carom_solid_add_segment for a, then for b; then the
 * gaps. */
CAROM_SIMD void find_terms(carom_f64v terms[CAROM_SOLID_SLOTS],
                           const solid_pair_cpu_crossing ends[2], const spanned *a,
                           const spanned *b, const double rounded[2], carom_i64v meet) {
    carom_f64v more[CAROM_SOLID_SLOTS], tail[2][CAROM_SOLID_SLOTS];
    const carom_f64v half = carom_f64v_splat(0.5), one = carom_f64v_splat(1.0);
    const carom_f64v edges = ends[0].edge + ends[1].edge;
    const carom_f64v slide = solid_lanes_slide_units(ends[0].slide + ends[1].slide);
    carom_i64v cut[2];
    for (int i = 0; i < 2; ++i) {
        solid_pair_cpu_vec n = solid_pair_cpu_choose(ends[i].of_b, b->n, a->n),
                           c = solid_pair_cpu_choose(ends[i].of_b, b->c, a->c);
        solid_pair_cpu_vec end = solid_pair_cpu_choose(ends[i].of_b, b->last, a->last);
        solid_lanes_doubt doubt = {edges, slide, carom_f64v_select(ends[i].of_b, b->off, a->off)};
        /* the change is -1 and 1 for a's edges, 1 and -1 for b's */
        carom_i64v minus = (i == 0 ? ~ends[i].of_b : ends[i].of_b) & INT64_MIN;
        carom_f64v signed_half = (carom_f64v)((carom_i64v)half ^ minus);
        cut[i] = ends[i].side == 1;
        solid_lanes_find_triangle(tail[i], n, c, ends[i].x, end, signed_half, one, true, &doubt);
    }
    const solid_lanes_doubt doubt_a = {edges, slide, a->off}, doubt_b = {edges, slide, b->off};
    solid_lanes_find_triangle(terms, a->n, a->c, ends[0].x, ends[1].x, half, one, false, &doubt_a);
    for (int i = 0; i < 2; ++i)
        solid_lanes_add_found(terms, tail[i], cut[i] & ~ends[i].of_b, false);
    solid_lanes_find_triangle(more, b->n, b->c, ends[1].x, ends[0].x, half, one, true, &doubt_b);
    solid_lanes_add_found(terms, more, meet, true);
    for (int i = 0; i < 2; ++i) solid_lanes_add_found(terms, tail[i], cut[i] & ends[i].of_b, true);
    for (int i = 0; i < 2; ++i) {
        carom_f64v pose = carom_f64v_select(ends[i].of_b, carom_f64v_splat(rounded[1]),
                                            carom_f64v_splat(rounded[0]));
        solid_lanes_add_gap(terms, ends[i].x, ends[i].edge, ends[i].lever, pose);
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Notes the crossed tree edges of one end of the segments of all lanes. */
static void note_links(const carom_solid_query *query, carom_solid_batch *batch, carom_lanes lanes,
                       carom_lanes of_b, carom_i64v side, uint32_t at, int change_a) {
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t lane = solid_pair_cpu_lowest(lanes), pair = batch->index[at + lane];
        int b = of_b >> lane & 1, change = b ? -change_a : change_a;
        const uint32_t *v =
            query->solids[b]->view.corners + 3 * (uint64_t)batch->triangles[b][pair];
        uint32_t from = v[side[lane]], to = v[side[lane] == 2 ? 0 : side[lane] + 1];
        uint32_t vertex = CAROM_MAX(from, to);
        CAROM_ASSERT(batch->link_count < 2 * CAROM_SOLID_BATCH && pair < CAROM_SOLID_BATCH);
        batch->links[batch->link_count++] = (carom_solid_crossed_link){
            .vertex = vertex, .change = from < to ? change : -change, .of_b = b};
        __builtin_prefetch(query->solids[b]->ends + vertex);
        __builtin_prefetch(query->solids[b]->firsts + vertex);
    }
}

static void note_crossings(const carom_solid_batch *batch, carom_solid_accumulator *acc,
                           carom_lanes lanes, uint32_t at) {
    if (lanes == 0) return;
    acc->crossing = true;
    acc->pairs += (uint64_t)__builtin_popcount(lanes);
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t i = batch->index[at + solid_pair_cpu_lowest(lanes)];
        uint64_t pair = (uint64_t)batch->triangles[0][i] << 32 | batch->triangles[1][i];
        acc->crossed[0] = CAROM_MAX(pair, acc->crossed[0]);
        acc->crossed[1] = CAROM_MAX(~pair, acc->crossed[1]);
    }
}

/* Extends the bounds of all crossings. */
CAROM_SIMD void hold(pair_sums *s, solid_pair_cpu_vec x, carom_i64v where) {
    const carom_f64v far = carom_f64v_splat(HUGE_VAL);
    solid_pair_cpu_vec low = solid_pair_cpu_choose(where, x, (solid_pair_cpu_vec){far, far, far}),
                       high =
                           solid_pair_cpu_choose(where, x, (solid_pair_cpu_vec){-far, -far, -far});
    s->lowest =
        (solid_pair_cpu_vec){carom_f64v_min(low.x, s->lowest.x), carom_f64v_min(low.y, s->lowest.y),
                             carom_f64v_min(low.z, s->lowest.z)};
    s->highest = (solid_pair_cpu_vec){carom_f64v_max(high.x, s->highest.x),
                                      carom_f64v_max(high.y, s->highest.y),
                                      carom_f64v_max(high.z, s->highest.z)};
}

CAROM_SIMD carom_f64v extent_of_6(carom_f64v a, carom_f64v b, carom_f64v c, carom_f64v d,
                                  carom_f64v e, carom_f64v f) {
    carom_f64v low = carom_f64v_min(carom_f64v_min(a, b), carom_f64v_min(c, d));
    carom_f64v high = carom_f64v_max(carom_f64v_max(a, b), carom_f64v_max(c, d));
    return carom_f64v_max(high, carom_f64v_max(e, f)) - carom_f64v_min(low, carom_f64v_min(e, f));
}

/* carom_pair_error. */
CAROM_SIMD carom_f64v pair_error(const solid_pair_cpu_vec *a, const solid_pair_cpu_vec *b) {
    carom_f64v x = extent_of_6(a[0].x, a[1].x, a[2].x, b[0].x, b[1].x, b[2].x);
    carom_f64v y = extent_of_6(a[0].y, a[1].y, a[2].y, b[0].y, b[1].y, b[2].y);
    carom_f64v z = extent_of_6(a[0].z, a[1].z, a[2].z, b[0].z, b[1].z, b[2].z);
    return CAROM_ORIENT_ERROR(CAROM_PAIR_ERROR, CAROM_ORIENT_UNDERFLOW, x, y, z);
}

CAROM_SIMD carom_i64v solid_pair_cpu_certain(const sides *s) {
    return (carom_f64v_abs(s->value[0]) > s->error[0]) &
           (carom_f64v_abs(s->value[1]) > s->error[1]) &
           (carom_f64v_abs(s->value[2]) > s->error[2]);
}

/* The segments that the faces of pairs share. */
typedef struct segments {
    lane_edge first, last;            /* the edges that they begin and end on */
    carom_i64v first_of_b, last_of_b; /* these are b's */
    carom_i64v meet;                  /* the lanes that have a segment */
    carom_i64v odd;                   /* the lanes left to the scalar functions */
} segments;

/* carom_solid_meet: the order of the ends of both intervals on the common line. */
CAROM_SIMD segments find_segments(const pair_lanes *p, carom_i64v present) {
    segments s;
    fan fan_a = fan_make(p->a, &p->sides_a, p->facts_a);
    fan fan_b = fan_make(p->b, &p->sides_b, p->facts_b);
    lane_edge low_a = select_edge(fan_a.up, &fan_a.last, &fan_a.next);
    lane_edge high_a = select_edge(fan_a.up, &fan_a.next, &fan_a.last);
    lane_edge low_b = select_edge(fan_b.up, &fan_b.next, &fan_b.last);
    lane_edge high_b = select_edge(fan_b.up, &fan_b.last, &fan_b.next);
    solid_pair_cpu_vec apex = low_a.lone, across = lanes_sub(low_b.lone, apex);
    solid_pair_cpu_vec turned_low = lanes_cross(lanes_sub(low_a.other, apex), across);
    solid_pair_cpu_vec turned_high = lanes_cross(lanes_sub(high_a.other, apex), across);
    solid_pair_cpu_vec to_low = lanes_sub(low_b.other, apex),
                       to_high = lanes_sub(high_b.other, apex);
    carom_f64v error = pair_error(p->a, p->b);
    carom_i64v flip = (fan_a.up ^ fan_b.up) & INT64_MIN;
#define ORDER(x, y) (carom_f64v)((carom_i64v)lanes_dot(x, y) ^ flip)
    carom_f64v low_high = ORDER(turned_low, to_high), high_low = ORDER(turned_high, to_low);
    carom_f64v low_low = ORDER(turned_low, to_low), high_high = ORDER(turned_high, to_high);
#undef ORDER
    carom_i64v sure = solid_pair_cpu_certain(&p->sides_a) & solid_pair_cpu_certain(&p->sides_b);
    carom_i64v apart = sure & ((low_high < -error) | (high_low > error));
    s.meet = present & sure & (low_high > error) & (high_low < -error) &
             (carom_f64v_abs(low_low) > error) & (carom_f64v_abs(high_high) > error);
    s.odd = present & ~apart & ~s.meet;
    s.first_of_b = low_low > 0.0;
    s.last_of_b = ~(high_high > 0.0);
    s.first = select_edge(s.first_of_b, &low_b, &low_a);
    s.last = select_edge(s.last_of_b, &high_b, &high_a);
    return s;
}

/* Notes the pairs in the lanes `meet`, the ends of their segments and the tree edges crossed. */
CAROM_SIMD void note_segments(const carom_solid_query *query, carom_solid_accumulator *acc,
                              carom_solid_batch *batch, pair_sums *s, const pair_lanes *p,
                              const solid_pair_cpu_crossing ends[2], carom_i64v meet, uint32_t at) {
    note_crossings(batch, acc, carom_lanes_of64(meet), at);
    carom_i64v plain = p->facts_a & p->facts_b & meet & CAROM_SOLID_PLAIN_FACE;
    acc->plain_crossing |= carom_lanes_of64(plain != 0) != 0;
    for (int i = 0; i < 2; ++i) {
        carom_i64v facts = (p->facts_b & ends[i].of_b) | (p->facts_a & ~ends[i].of_b);
        carom_i64v link =
            (carom_i64v)(carom_u64v_shift_right((carom_u64v)facts, ends[i].side) & 1) != 0;
        hold(s, ends[i].x, meet);
        note_links(query, batch, carom_lanes_of64(link & meet), carom_lanes_of64(ends[i].of_b),
                   ends[i].side, at, i == 0 ? -1 : 1);
    }
}

/* Keeps the pairs in the lanes `lanes` as records. */
static void keep_records(carom_solid_accumulator *acc, const carom_solid_batch *batch,
                         const solid_pair_cpu_crossing ends[2], carom_lanes lanes, uint32_t at) {
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t lane = solid_pair_cpu_lowest(lanes), pair = batch->index[at + lane];
        carom_solid_record *record = carom_solid_new_record(acc);
        if (record == NULL) return;
        record->triangle[0] = batch->triangles[0][pair];
        record->triangle[1] = batch->triangles[1][pair];
        for (int i = 0; i < 2; ++i) {
            const solid_pair_cpu_crossing *from = &ends[i];
            int of_b = from->of_b[lane] != 0;
            record->ends[i] = (carom_solid_crossing){
                .x = carom_vec(from->x.x[lane], from->x.y[lane], from->x.z[lane]),
                .edge = from->edge[lane],
                .lever = from->lever[lane],
                .slide = from->slide[lane],
                .off = from->off[lane],
                .of_b = of_b,
                .side = (int)from->side[lane],
                .change = (i == 0) == of_b ? 1 : -1};
        }
    }
}

/* Pairs that may meet, from lane `at` on. Returns the lanes left to the scalar functions. */
static carom_lanes consider_lanes(const carom_solid_query *query, carom_solid_accumulator *acc,
                                  carom_solid_batch *batch, pair_sums *s, uint32_t at,
                                  uint32_t count) {
    const solid_pair_cpu_vec origin = solid_pair_cpu_splat(query->origin);
    pair_lanes p;
    solid_pair_cpu_load_face(batch, 0, at, p.a);
    solid_pair_cpu_load_face(batch, 1, at, p.b);
    compare_planes(&p);
    p.facts_a = (carom_i64v)carom_f64v_load(batch->facts[0] + at);
    p.facts_b = (carom_i64v)carom_f64v_load(batch->facts[1] + at);
    segments found = find_segments(&p, first_lanes(count - at));
    carom_i64v meet = found.meet, odd = found.odd, poor = {0};
    if (carom_lanes_of64(meet) == 0) return carom_lanes_of64(odd);

    const solid_pair_cpu_crossing ends[2] = {
        crossing_make(&found.first, found.first_of_b, origin, query->long_edge, &poor),
        crossing_make(&found.last, found.last_of_b, origin, query->long_edge, &poor)};
    if (query->record) {
        keep_records(acc, batch, ends, carom_lanes_of64(meet & ~poor), at);
        note_segments(query, acc, batch, s, &p, ends, meet & ~poor, at);
        return carom_lanes_of64(odd | (meet & poor));
    }
    spanned face_a = solid_pair_cpu_span(p.a, &p.plane_a, origin, ~found.first_of_b,
                                         ~found.last_of_b, ends, &poor);
    spanned face_b = solid_pair_cpu_span(p.b, &p.plane_b, origin, found.first_of_b, found.last_of_b,
                                         ends, &poor);
    odd |= meet & poor;
    meet &= ~poor;

    carom_f64v terms[CAROM_SOLID_SLOTS];
    find_terms(terms, ends, &face_a, &face_b, query->rounded, meet);
    add_terms(query, acc, s, terms, meet);
    note_segments(query, acc, batch, s, &p, ends, meet, at);
    return carom_lanes_of64(odd);
}

/* ---- Descendants of a vertex ----------------------------------------------------------------- */

/* carom_solid_find_posed for the queued triangles of one solid. */
static void add_singles(const carom_solid_query *query, carom_solid_accumulator *acc,
                        carom_solid_batch *batch, pair_sums *s, int of_b) {
    const carom_soup_view *view = &query->solids[of_b]->view;
    const carom_frame *f = &carom_solid_side(query, of_b)->frame;
    const carom_f64v power = carom_f64v_splat(query->power);
    const solid_pair_cpu_vec origin = solid_pair_cpu_splat(query->origin);
    uint32_t count = batch->single_count[of_b];
    for (uint32_t at = 0; at < count; at += CAROM_LANES64) {
        double x[9][CAROM_LANES64];
        for (uint32_t lane = 0; lane < CAROM_LANES64; ++lane) {
            uint32_t i = CAROM_MIN(at + lane, count - 1);
            const uint32_t *v = view->corners + 3 * (uint64_t)batch->singles[of_b][i];
            for (int k = 0; k < 3; ++k) {
                const double *p = (const double *)view->positions + 3 * (uint64_t)v[k];
                for (int j = 0; j < 3; ++j) x[3 * k + j][lane] = p[j];
            }
        }
        solid_pair_cpu_vec p[3];
        for (int k = 0; k < 3; ++k)
            p[k] = (solid_pair_cpu_vec){carom_f64v_load(x[3 * k]), carom_f64v_load(x[3 * k + 1]),
                                        carom_f64v_load(x[3 * k + 2])};
        carom_i64v present = first_lanes(count - at);
        carom_f64v weight =
            solid_pair_cpu_keep(present, carom_f64v_load(batch->weights[of_b] + at));
        solid_pair_cpu_vec u = lanes_sub(
            lanes_scale(lanes_add(solid_pair_cpu_turn(f->r, p[1]), solid_pair_cpu_splat(f->t)),
                        power),
            origin);
        solid_pair_cpu_vec arm =
            lanes_scale(solid_pair_cpu_turn(f->r, lanes_sub(p[1], p[0])), power);
        solid_pair_cpu_vec direction =
            lanes_scale(solid_pair_cpu_turn(f->r, lanes_sub(p[2], p[1])), power);

        carom_f64v terms[CAROM_SOLID_SLOTS];
        solid_lanes_find_whole(terms, u, arm, direction, weight, of_b, query->rounded[of_b]);
        add_terms(query, acc, s, terms, present);
    }
    batch->single_count[of_b] = 0;
}

static void queue(const carom_solid_query *query, carom_solid_batch *batch, int of_b,
                  uint64_t first, uint64_t last, int weight) {
    for (uint64_t t = first; t < last && t < query->solids[of_b]->view.triangle_count; ++t) {
        uint32_t at = batch->single_count[of_b]++;
        CAROM_ASSERT(at < CAROM_SOLID_QUEUE);
        batch->singles[of_b][at] = (uint32_t)t;
        batch->weights[of_b][at] = (double)weight;
    }
}

/* Adds a prefix sum. */
CAROM_SIMD void add_block(const carom_solid_sum *block, carom_u64v *to) {
    const uint64_t *words = &block->low;
    for (unsigned i = 0; i < 2 * CAROM_SOLID_SUMS / CAROM_LANES64; ++i) {
        carom_u64v value, sum;
        memcpy(&value, words + i * CAROM_LANES64, sizeof(value));
        sum = to[i] + value;
        /* a carry of a low word is -1 there, and is subtracted from the high word after it */
        to[i] = sum - carom_u64v_even_to_odd((carom_u64v)(sum < value));
    }
}

static void solid_pair_cpu_add_before(const carom_solid_query *query, carom_solid_accumulator *acc,
                                      carom_solid_batch *batch, pair_sums *s, int of_b,
                                      uint64_t end, int weight) {
    const carom_solid_prefix_sums *prefix = &query->solids[of_b]->sums;
    uint64_t block = carom_solid_nearest_block(end), there = block * CAROM_SOLID_BLOCK;
    if (abs(weight) == 1)
        add_block(prefix->blocks + CAROM_SOLID_SUMS * block, s->moments[of_b][weight < 0]);
    else
        carom_solid_moments_add(prefix, &acc->moments[of_b], block, weight);
    queue(query, batch, of_b, there, end, weight);
    queue(query, batch, of_b, end, there, -weight);
}

/* Prefetches the memory of a prefix sum. */
static inline void expect_block(const carom_solid *solid, uint64_t end) {
    const carom_solid_sum *block =
        solid->sums.blocks + CAROM_SOLID_SUMS * carom_solid_nearest_block(end);
    for (unsigned i = 0; i < CAROM_SOLID_SUMS; i += 64 / sizeof(*block))
        __builtin_prefetch(block + i);
}

/* carom_solid_add_descendants for all links of a batch. */
static void solid_pair_cpu_add_links(const carom_solid_query *query, carom_solid_accumulator *acc,
                                     carom_solid_batch *batch, pair_sums *s) {
    for (uint32_t i = 0; i < batch->link_count; ++i) {
        carom_solid_crossed_link *link = &batch->links[i];
        const carom_solid *solid = query->solids[link->of_b];
        link->first = solid->firsts[link->vertex];
        link->last = solid->firsts[solid->ends[link->vertex]];
        CAROM_ASSERT(link->first <= link->last && link->last <= solid->view.triangle_count);
        expect_block(solid, link->first);
        expect_block(solid, link->last);
    }
    for (uint32_t i = 0; i < batch->link_count; ++i) {
        const carom_solid_crossed_link *link = &batch->links[i];
        int of_b = link->of_b;
        if (batch->single_count[of_b] + CAROM_SOLID_MOST_SINGLES > CAROM_SOLID_QUEUE)
            add_singles(query, acc, batch, s, of_b);
        acc->moved[of_b] = true;
        solid_pair_cpu_add_before(query, acc, batch, s, of_b, link->last, link->change);
        solid_pair_cpu_add_before(query, acc, batch, s, of_b, link->first, -link->change);
        if (query->solids[!of_b]->info.by_winding)
            acc->swept[of_b] =
                carom_sum_add(acc->swept[of_b],
                              carom_solid_area_between(query->solids[of_b]->sums.blocks,
                                                       link->first, link->last, abs(link->change)));
    }
    batch->link_count = 0;
}

/* Keeps the links of a batch in the accumulator's list. */
static void keep_links(carom_solid_accumulator *acc, carom_solid_batch *batch) {
    for (uint32_t i = 0; i < batch->link_count; ++i)
        carom_solid_keep_change(acc, batch->links[i].of_b, batch->links[i].vertex,
                                batch->links[i].change);
    batch->link_count = 0;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void consider_one(const carom_solid_query *query, carom_solid_accumulator *acc,
                         const carom_solid_batch *batch, uint32_t pair) {
    carom_solid_face a, b;
    carom_solid_pose(query, 0, batch->triangles[0][pair], &a);
    carom_solid_pose(query, 1, batch->triangles[1][pair], &b);
    --acc->candidates; /* counted already */
    carom_solid_consider(query, acc, &a, &b);
}

void CAROM_CPU(carom_solid_consider_batch)(const carom_solid_query *query,
                                           carom_solid_accumulator *acc, carom_solid_batch *batch,
                                           const uint32_t *a, const uint32_t *b, uint32_t count) {
    pair_sums s;
    memset(&s, 0, sizeof(s));
    s.lowest = solid_pair_cpu_splat(carom_vec(HUGE_VAL, HUGE_VAL, HUGE_VAL));
    s.highest = solid_pair_cpu_splat(carom_vec(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL));
    batch->link_count = batch->single_count[0] = batch->single_count[1] = 0;
    acc->candidates += count;
    for (uint32_t first = 0; first < count; first += CAROM_SOLID_BATCH) {
        uint32_t pairs = CAROM_MIN(count - first, CAROM_SOLID_BATCH);
        for (uint32_t i = 0; i < pairs; ++i) {
            __builtin_prefetch(query->solids[0]->view.corners + 3 * (uint64_t)a[first + i]);
            __builtin_prefetch(query->solids[1]->view.corners + 3 * (uint64_t)b[first + i]);
        }
        /* The last vector is filled up with the last pair: lanes that do not count are defined. */
        for (uint32_t i = 0; i < pairs || i % CAROM_LANES64 != 0; ++i) {
            uint32_t from = first + CAROM_MIN(i, pairs - 1);
            solid_pair_cpu_read_face(query, batch, 0, a[from], i);
            solid_pair_cpu_read_face(query, batch, 1, b[from], i);
        }
        uint32_t kept = keep_near(query, batch, pairs);
        for (uint32_t at = 0; at < kept; at += CAROM_LANES64)
            for (carom_lanes odd = consider_lanes(query, acc, batch, &s, at, kept); odd != 0;
                 odd &= odd - 1)
                consider_one(query, acc, batch, batch->index[at + solid_pair_cpu_lowest(odd)]);
        if (query->record)
            keep_links(acc, batch);
        else
            solid_pair_cpu_add_links(query, acc, batch, &s);
    }
    add_singles(query, acc, batch, &s, 0);
    add_singles(query, acc, batch, &s, 1);
    CAROM_ASSERT(batch->link_count == 0 && acc->pairs <= acc->candidates);
    add_to_accumulator(&s, acc);
}
