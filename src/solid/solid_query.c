/* SPDX-License-Identifier: MIT */
/* The frame in which a query adds up its terms.
 *
 * Terms are about an origin: the middle of the intersection of both boxes, or of the box of the
 * solid that is no complement. So the terms of a small overlap are small. The scales of the sums
 * follow from the farthest point of either solid; where only points near the overlap enter into
 * terms, they follow from those. The unit is a power of two, chosen per query where coordinates or
 * the overlap are too large or too small for products of four of them.
 *
 * Invariant: scaling to this unit rounds no coordinate. */
#include "solid/solid_query.h"

#include "geom/length.h"

/* Terms of a sum in fixed point: 33 of its 128 bits are for their number. */
#define QUERY_MOST_TERMS 0x1p33
/* Terms of each kind that two triangles add: their own, and up to 8 whole triangles, half a block
 * at either end, per tree edge crossed. These are two, or six where one has no area: 49, rounded
 * up. */
#define QUERY_TERMS_PER_PAIR 128.0
/* Size of the box of all crossings, in sizes of the overlap's box: below it a new origin saves two
 * bits per factor of a term, and six of a volume, which is worth another search. */
#define QUERY_REFINED_SIZE 0.25
/* Relative: boxes are float32, rounded outwards, and off by some 2^-22. */
#define QUERY_REACH_MARGIN 0x1p-20

/* An axis-aligned box around a posed solid; approximate bounds suffice. */
static void solid_query_box_of(const carom_solid_query *query, int of_b, double low[3],
                               double high[3]) {
    const carom_soup_side *side = carom_solid_side(query, of_b);
    const carom_soup_view *soup = &side->view;
    const double *r = side->frame.r, back = 1.0 / soup->scale;
    const double origin[3] = {soup->origin.x, soup->origin.y, soup->origin.z};
    double middle[3], half[3];
    for (int k = 0; k < 3; ++k) {
        double l = (double)soup->bounds.low[k], h = (double)soup->bounds.high[k];
        middle[k] = (0.5 * (l + h) + origin[k]) * back;
        half[k] = 0.5 * (h - l) * back;
    }
    carom_vec3 c = carom_frame_apply(&side->frame, carom_vec(middle[0], middle[1], middle[2]));
    const double centre[3] = {c.x, c.y, c.z};
    for (int k = 0; k < 3; ++k) {
        double reach = (fabs(r[3 * k]) * half[0] + fabs(r[3 * k + 1]) * half[1]) +
                       fabs(r[3 * k + 2]) * half[2];
        low[k] = centre[k] - reach;
        high[k] = centre[k] + reach;
        CAROM_ASSERT(!(low[k] > high[k]));
    }
}

/* Range of exponents in which terms of four coordinates, in double-double and with 120 bits below
 * them, neither overflow nor underflow: of the largest coordinate, and of the overlap. */
#define SOLID_QUERY_MOST_EXPONENT 200
#define LEAST_EXPONENT            (-150)
/* Within this range nothing is scaled. */
#define QUERY_PLAIN_MOST  60
#define QUERY_PLAIN_LEAST (-60)
/* Exponent of the unit: 2^k and 2^-k are normal doubles. */
#define QUERY_MOST_POWER 1020

/* Whether scaling down would round a coordinate. */
static bool loses_bits(const carom_solid_query *query) {
    carom_scale_range range = carom_scale_range_empty();
    for (int of_b = 0; of_b < 2; ++of_b)
        for (uint32_t v = 0; v < query->solids[of_b]->view.vertex_count; ++v) {
            carom_vec3 x = carom_solid_vertex(query, of_b, v);
            range = carom_scale_range_add(range, x.x);
            range = carom_scale_range_add(range, x.y);
            range = carom_scale_range_add(range, x.z);
        }
    return range.low <= range.high && range.low + query->exponent < -1074;
}

/* Chooses the unit such that neither the largest coordinate nor the overlap leaves the range of
 * doubles, and no coordinate loses a bit. If there is no such unit, nothing is scaled: signs are
 * exact at any scale, and the terms are evaluated by solid_precise.c. */
static void choose_scale(carom_solid_query *query, double largest, double overlap) {
    int high = carom_exponent(CAROM_MAX(largest, DBL_MIN)), low = carom_exponent(overlap);
    query->exponent = 0;
    query->power = 1.0;
    query->wide = false;
    if (high < QUERY_PLAIN_MOST && low > QUERY_PLAIN_LEAST) return;
    int k = CAROM_MIN(-low, SOLID_QUERY_MOST_EXPONENT - high);
    k = CAROM_MAX(CAROM_MIN(k, QUERY_MOST_POWER), -QUERY_MOST_POWER);
    query->exponent = k;
    query->wide = low + k < LEAST_EXPONENT || high + k > SOLID_QUERY_MOST_EXPONENT;
    if (!query->wide && k < 0) {
        query->power = 1.0;
        query->wide = loses_bits(query);
    }
    if (query->wide) query->exponent = 0;
    query->power = carom_power_of_two(query->exponent);
    /* scaling by it and back rounds nothing */
    CAROM_ASSERT(query->power * carom_power_of_two(-query->exponent) == 1.0);
}

static void solid_query_choose_frame(carom_solid_query *query) {
    double low[2][3], high[2][3], middle[3], largest = 0.0, reach = 0.0, overlap = 0.0;
    solid_query_box_of(query, 0, low[0], high[0]);
    solid_query_box_of(query, 1, low[1], high[1]);
    /* The overlap with a complement is a part of the other solid, whatever the complement's box. */
    int first = query->solids[0]->info.complement, last = !query->solids[1]->info.complement;
    for (int k = 0; k < 3; ++k) {
        double from = CAROM_MAX(low[first][k], low[last][k]);
        double to = CAROM_MIN(high[first][k], high[last][k]);
        middle[k] = 0.5 * from + 0.5 * to;
        double common = 0.5 * to - 0.5 * from;
        overlap = CAROM_MAX(overlap, common);
        for (int i = 0; i < 2; ++i) {
            double size = CAROM_MAX(fabs(low[i][k]), fabs(high[i][k]));
            double apart = CAROM_MAX(fabs(low[i][k] - middle[k]), fabs(high[i][k] - middle[k]));
            largest = CAROM_MAX(largest, size);
            reach = CAROM_MAX(reach, apart);
        }
    }
    choose_scale(query, largest, overlap > 0.0 ? overlap : reach);
    query->origin = carom_vec(carom_scale_apply(middle[0], query->exponent),
                              carom_scale_apply(middle[1], query->exponent),
                              carom_scale_apply(middle[2], query->exponent));
    query->reach = carom_scale_apply(reach, query->exponent) * (1.0 + QUERY_REACH_MARGIN);
    query->reach =
        CAROM_MAX(CAROM_MIN(query->reach, CAROM_SOLID_MOST_REACH), CAROM_SOLID_LEAST_REACH);
    query->overlap = CAROM_MAX(carom_scale_apply(overlap, query->exponent), 0.0);
    query->space = query->overlap;
}

bool carom_solid_query_refine(carom_solid_query *query, const carom_solid_accumulator *acc) {
    carom_vec3 low = acc->low, high = acc->high;
    carom_vec3 middle = carom_vec(0.5 * low.x + 0.5 * high.x, 0.5 * low.y + 0.5 * high.y,
                                  0.5 * low.z + 0.5 * high.z);
    double half = carom_solid_most(carom_vec_sub(high, middle));
    bool complement = query->solids[0]->info.complement || query->solids[1]->info.complement;
    if (complement) return false; /* the overlap may extend beyond the crossings */
    if (query->refined || !(half > 0.0 && half < QUERY_REFINED_SIZE * query->overlap)) return false;
    query->origin = carom_vec_add(query->origin, middle);
    query->reach += carom_solid_most(middle);
    query->space += carom_solid_most(middle);
    query->overlap = half;
    query->refined = true;
    return true;
}

/* Bounds of terms in products of the reach along an axis. A term is a sum of up to 6 products of
 * lengths along the axes, each of two reaches: areas are below 6 * 2^2 / 2 = 12, and torques, with
 * a lever of three corners over 3, below 4 of these. */
#define QUERY_AREA_PRODUCTS 16.0
#define QUERY_TORQUE_LEVERS 4.0
/* Units of an error have this exponent below that of the bound of a term: errors are sums of
 * products of norms and of the errors of crossings, so that a capacity of 2^12 times the bound is
 * enough for one, which fits into the 62 bits of CAROM_SOLID_MOST_ERROR. The least one keeps
 * 1 / 2^scale a double. */
#define QUERY_ERROR_BITS        50
#define QUERY_LEAST_ERROR_SCALE (-1000)

void carom_solid_query_scale(carom_solid_query *query, double near) {
    double a = (double)query->solids[0]->info.triangles;
    double b = (double)query->solids[1]->info.triangles,
           terms = QUERY_TERMS_PER_PAIR * (a * b + a + b);
    uint64_t count = (uint64_t)CAROM_MIN(terms, QUERY_MOST_TERMS);
    double square = near * near * QUERY_AREA_PRODUCTS, cube = square * near;
    for (unsigned i = 0; i < CAROM_SOLID_TERMS; ++i) {
        query->bounds[i] = i == CAROM_SOLID_VOLUME  ? cube
                           : i < CAROM_SOLID_EXTENT ? cube * near
                           : i < CAROM_SOLID_TORQUE ? square
                                                    : cube * QUERY_TORQUE_LEVERS;
        query->scales[i] = carom_sum_scale(query->bounds[i], count);
    }
    for (int i = 0; i < 2; ++i) {
        int scale = carom_exponent(i == 0 ? cube : square) - QUERY_ERROR_BITS;
        query->error_scales[i] = CAROM_MAX(scale, QUERY_LEAST_ERROR_SCALE);
        query->error_units[i] = carom_power_of_two(-query->error_scales[i]);
    }
}

carom_status carom_solid_query_begin(carom_context *context, const carom_solid *a,
                                     const carom_pose *pose_a, const carom_solid *b,
                                     const carom_pose *pose_b, carom_solid_query *query) {
    if (a->info.complement && b->info.complement)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "both solids are complements, and their overlap is infinite; make one of "
                          "them without `complement`");
    query->context = context;
    query->solids[0] = a;
    query->solids[1] = b;
    query->changes[0] = query->changes[1] = NULL;
    query->moved_sign = 1;
    query->consider = carom_solid_consider;
    query->record = query->refined = false;
    query->ready = NULL;
    query->large[0] = query->large[1] = query->long_edge = HUGE_VAL;
    query->rounded[0] = query->rounded[1] = 0.0;
    CAROM_TRY(carom_soup_pose(context, a->soup, pose_a, b->soup, pose_b, &query->posed));
    solid_query_choose_frame(query);
    carom_solid_query_scale(query, query->reach);
    return CAROM_OK;
}

carom_status carom_solid_query_keep_changes(carom_solid_query *query, int of_b) {
    uint64_t count = query->solids[of_b]->view.vertex_count + 1;
    _Atomic int32_t *changes =
        CAROM_ARENA_TAKE(carom_scratch(query->context, 0), _Atomic int32_t, count);
    if (changes == NULL)
        return carom_fail_memory(query->context, count * sizeof(*changes), "windings of vertices");
    for (uint64_t v = 0; v < count; ++v) atomic_init(&changes[v], 0);
    query->changes[of_b] = changes;
    return CAROM_OK;
}
