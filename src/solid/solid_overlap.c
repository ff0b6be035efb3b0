/* SPDX-License-Identifier: MIT */
/* The overlap of two solids: volume, centroid, area, force and torque from one traversal.
 *
 * Pairs of intersecting faces give their terms (solid_pair.c). One ray per connected component
 * tells whether its first vertex is inside the other solid. Everything else follows from prepared
 * sums (solid_spanning_tree.c, solid_prefix_sums.c). Each result comes with an error bound that
 * contains the exact value; where that is too large, the terms are evaluated again with more bits
 * (solid_precise.c). docs/solid.md derives the terms. */
#include <stdio.h>

#include "base/progress.h"
#include "geom/length.h"
#include "solid/solid_precise.h"
#include "solid/solid_relation.h"

/* Observed, below: on two equal globes of 224 to 65,024 triangles, 40 poses each, whose overlap is
 * 0.6, 0.09, 0.004 or 0.00004 of either; one thread of a processor with AVX-512. */

/* Rounding of a posed coordinate, relative to the largest coordinate plus the translation: typical,
 * 4 e with e = 2^-53; and an upper bound. A row of the rotation has a 1-norm of at most sqrt(3), so
 * three rounded products and three sums are off by less than 8 e. */
#define OVERLAP_POSE_TYPICAL 0x1p-51
#define OVERLAP_POSE_BOUND   0x1p-50

/* Typical error of the volume by the rounding of posed corners, in volumes of the smaller solid:
 * above it, prefix sums are not used and triangles are added one by one. Observed: that takes 2
 * times as long for 224 triangles and 3 to 5 times for 65,024, and its error bounds are 3 to 8
 * times smaller. */
#define OVERLAP_POSE_VOLUME 0x1p-45

/* Error bound of the volume, in volumes of the smaller solid: above it, terms cancelled, and
 * another search about a better origin is worth its time, that of the first. Observed: 2^-45 and
 * less, where terms do not cancel. */
#define OVERLAP_ORIGIN_VOLUME 0x1p-43

/* Extent of a triangle, in radii of the smaller solid: above it, its terms are so large that their
 * cancellation loses bits, and it is cut at the points nearest to the origin (solid_item.h). A
 * solid's own triangles are at most 2 radii wide. */
#define OVERLAP_FACE_SIZE 4.0

/* Triangles of both solids, up to which triangles larger than the overlap are cut, too, for which
 * all have to be visited. Observed: that adds 5 to 30 us to the 8 to 33 us of 448 triangles. */
#define OVERLAP_LOOP_TRIANGLES 512u

/* Distance of the points of terms from the origin, in extents from which on triangles are large,
 * for which the scales of sums leave room: triangles beside large ones reach a few of them. A term
 * that reaches farther is noticed, and the search repeated with scales that are always enough. */
#define OVERLAP_TERM_REACH 16.0

/* Rounding of a sum of two or three numbers, relative to it: up to 4 e. */
#define OVERLAP_SUM_ROUNDING 0x1p-51
/* Factor of an error bound: far more than the ten roundings of 2^-53 of its own evaluation. */
#define OVERLAP_ERROR_MARGIN (1.0 + 0x1p-40)

/* Errors above which terms are evaluated again in multiple precision, and the number of triangles
 * of both solids from which on only the volume counts. The first is relative to the result or to
 * the surface, the second to the volume. Observed: errors in doubles are 2^-44 to 2^-34 for an
 * overlap of 0.004 and more, 2^-34 to 2^-31 for one of 0.00004. Multiple precision takes 30 to 110
 * times as long up to 4,416 triangles of both, 2 to 11 ms for the largest overlap, and 50 to 450
 * times above. */
#define OVERLAP_PRECISION         0x1p-32
#define OVERLAP_VOLUME_PRECISION  0x1p-26
#define OVERLAP_PRECISE_TRIANGLES 4096u

/* ---- Summation ------------------------------------------------------------------------------- */

/* The typical error of posed corners, relative to the unrounded pose that transforms the sums; 0
 * for the identity. */
static double pose_error(const carom_solid_query *query, int of_b) {
    const carom_soup_side *side = carom_solid_side(query, of_b);
    const carom_frame *f = &side->frame;
    bool still = f->t.x == 0.0 && f->t.y == 0.0 && f->t.z == 0.0 && f->r[0] == 1.0 &&
                 f->r[4] == 1.0 && f->r[8] == 1.0;
    double largest = side->largest + carom_vec_largest(f->t);
    return still ? 0.0
                 : carom_scale_apply(OVERLAP_POSE_TYPICAL * largest + CAROM_SOLID_LEAST_ERROR,
                                     query->exponent);
}

static double pose_bound(const carom_solid_query *query, int of_b) {
    return OVERLAP_POSE_BOUND / OVERLAP_POSE_TYPICAL * pose_error(query, of_b);
}

/* A solid's volume in the query's units. */
static double solid_overlap_volume_of(const carom_solid_query *query, int of_b) {
    const carom_solid *solid = query->solids[of_b];
    return carom_scale_apply(solid->volume, 3 * (query->exponent - solid->sums.exponent));
}

/* Whether the pose rounds a solid's corners too much for prefix sums. These are transformed by the
 * unrounded pose, while everything else uses posed and rounded corners. The difference matters when
 * a solid is small relative to its position. Corners are rounded up and down alike, so the relative
 * effect on the volume falls with the square root of their number. */
static bool is_rounded(const carom_solid_query *query, int of_b) {
    const carom_solid *solid = query->solids[of_b];
    double volume = CAROM_MIN(solid_overlap_volume_of(query, 0), solid_overlap_volume_of(query, 1));
    double area = carom_scale_apply(solid->sums.area, 2 * (query->exponent - solid->sums.exponent));
    return pose_error(query, of_b) * area / sqrt((double)solid->info.vertices) >
           OVERLAP_POSE_VOLUME * volume;
}

/* Decides for which solid triangles are added one by one, and which of them are large: those much
 * larger than the smaller solid, or, where looping over all is cheap, larger than the overlap. Then
 * finer scales are possible. If they turn out too fine, `coarse` requests safe ones. */
static carom_status choose_sums(carom_solid_query *query, bool coarse) {
    uint64_t triangles = query->solids[0]->info.triangles + query->solids[1]->info.triangles;
    double size =
        OVERLAP_FACE_SIZE * CAROM_MIN(carom_solid_radius(query, 0), carom_solid_radius(query, 1));
    if ((triangles <= OVERLAP_LOOP_TRIANGLES || query->refined) && query->overlap > 0.0)
        size = CAROM_MIN(size, query->overlap);
    bool complement = query->solids[0]->info.complement || query->solids[1]->info.complement;
    bool any = false;
    query->long_edge = size;
    query->changes[0] = query->changes[1] = NULL; /* those of an earlier search are stale */
    for (int of_b = 0; of_b < 2; ++of_b) {
        bool large = query->solids[of_b]->longest * query->power > size;
        query->large[of_b] = large ? size : HUGE_VAL;
        any = any || large;
        query->rounded[of_b] = pose_bound(query, of_b) / CAROM_SOLID_TERM_ERROR;
        if (large || is_rounded(query, of_b))
            CAROM_TRY(carom_solid_query_keep_changes(query, of_b));
    }
    double near = any && !coarse && !complement ? OVERLAP_TERM_REACH * size : query->reach;
    carom_solid_query_scale(query, CAROM_MIN(near, query->reach));
    return CAROM_OK;
}

/* Casts one ray per connected component of a solid. Also adds the facts that hold if no faces
 * intersect. */
static void find_parts(const carom_solid_query *query, carom_solid_accumulator *acc, int of_b,
                       carom_solid_facts *facts) {
    const carom_solid *solid = query->solids[of_b];
    for (uint32_t i = 0; i < solid->root_count; ++i) {
        if (carom_progress_stop(query->context, 0)) return;
        CAROM_ASSERT(solid->roots[i] < solid->view.vertex_count);
        int winding = carom_solid_winding(query, of_b, solid->roots[i]);
        if (!acc->one_by_one[of_b])
            carom_solid_add_descendants(query, acc, of_b, solid->roots[i], winding);
        carom_solid_facts_add(facts, of_b, solid->sides[i], winding);
    }
    if (query->changes[of_b] != NULL && !acc->one_by_one[of_b])
        carom_solid_sum_changes(query, of_b);
}

static void add_parts(const carom_solid_query *query, carom_solid_accumulator *acc,
                      carom_solid_facts *facts) {
    *facts = (carom_solid_facts){false, false, false};
    for (int of_b = 0; of_b < 2; ++of_b) {
        find_parts(query, acc, of_b, facts);
        if (query->changes[of_b] != NULL && !acc->one_by_one[of_b])
            carom_solid_add_changed(query, acc, of_b);
    }
}

/* All results in the query's units, about its origin, and their error bounds; for vectors, per
 * component. */
typedef struct totals {
    double volume, area;
    carom_vec3 moment, normal, turn;
    double volume_error, area_error, moment_error, normal_error, turn_error;
} totals;

/* An upper bound of the accumulated rounding to fixed point. */
static double rounded_off(const carom_solid_query *query, const carom_solid_accumulator *acc,
                          unsigned i) {
    return (double)acc->added * carom_power_of_two(query->scales[i]);
}

/* The area of a solid's surface that was transformed as sums, each part with its weight. Where the
 * other solid's winding number may be negative, weights may cancel. Then the sum of all areas added
 * is used. */
static double moved_area(const carom_solid_query *query, const carom_solid_accumulator *acc,
                         int of_b, const carom_solid_integrals *i) {
    const carom_solid_prefix_sums *sums = &query->solids[of_b]->sums;
    if (!query->solids[!of_b]->info.by_winding) return fabs(i->area) + i->area_error;
    double swept =
        carom_sum_value(acc->swept[of_b], sums->scales[CAROM_SOLID_AREA] + CAROM_SOLID_AREA_SHIFT);
    return carom_scale_apply(swept, 2 * (query->exponent - sums->exponent));
}

static void add_sums(const carom_solid_query *query, const carom_solid_accumulator *acc, int of_b,
                     double span, totals *t) {
    const carom_solid *solid = query->solids[of_b];
    carom_vec3 origin = carom_solid_unscale_vector(query, query->origin, 1);
    carom_solid_integrals i =
        carom_solid_moments_pose(&solid->sums, &acc->moments[of_b],
                                 &carom_solid_side(query, of_b)->frame, origin, query->exponent);
    /* The pose's rounding displaces corners: the surface sweeps at most that times its area. */
    double off = pose_bound(query, of_b);
    double swept = 2.0 * off * moved_area(query, acc, of_b, &i);
    t->volume += i.volume;
    t->moment = carom_vec_add(t->moment, i.moment);
    t->area += i.area;
    t->volume_error += i.volume_error + swept + OVERLAP_SUM_ROUNDING * fabs(i.volume);
    t->moment_error +=
        i.moment_error + span * swept + OVERLAP_SUM_ROUNDING * carom_solid_norm(i.moment);
    t->area_error +=
        i.area_error + OVERLAP_SUM_ROUNDING * fabs(i.area) +
        off * carom_scale_apply(solid->side_lengths, query->exponent - solid->sums.exponent);
    if (!of_b) return;
    t->normal = carom_vec_add(t->normal, i.normal);
    t->turn = carom_vec_add(t->turn, i.turn);
    t->normal_error += i.normal_error + OVERLAP_SUM_ROUNDING * carom_solid_norm(i.normal);
    t->turn_error += i.turn_error + OVERLAP_SUM_ROUNDING * carom_solid_norm(i.turn);
}

static totals solid_overlap_add_up(const carom_solid_query *query,
                                   const carom_solid_accumulator *acc) {
    const carom_sum *terms = acc->terms;
    totals t = {.volume = carom_solid_sum_of(query, terms, CAROM_SOLID_VOLUME),
                .area = carom_solid_sum_of(query, terms, CAROM_SOLID_EXTENT),
                .moment = carom_solid_vector_of(query, terms, CAROM_SOLID_MOMENT),
                .normal = carom_solid_vector_of(query, terms, CAROM_SOLID_FORCE),
                .turn = carom_solid_vector_of(query, terms, CAROM_SOLID_TORQUE)};
    double volume = carom_solid_error_of(query, acc->errors, 0);
    double area = carom_solid_error_of(query, acc->errors, 1);
    double span = CAROM_MAX(acc->span, 3.0 * query->space);
    t.volume_error = volume + OVERLAP_SUM_ROUNDING * fabs(t.volume);
    if (acc->any_volume) t.volume_error += rounded_off(query, acc, CAROM_SOLID_VOLUME);
    t.area_error =
        area + rounded_off(query, acc, CAROM_SOLID_EXTENT) + OVERLAP_SUM_ROUNDING * fabs(t.area);
    t.moment_error = 2.0 * span * volume + rounded_off(query, acc, CAROM_SOLID_MOMENT) +
                     OVERLAP_SUM_ROUNDING * carom_solid_norm(t.moment);
    t.normal_error = area + rounded_off(query, acc, CAROM_SOLID_FORCE) +
                     OVERLAP_SUM_ROUNDING * carom_solid_norm(t.normal);
    t.turn_error = 2.0 * span * area + rounded_off(query, acc, CAROM_SOLID_TORQUE) +
                   OVERLAP_SUM_ROUNDING * carom_solid_norm(t.turn);
    for (int of_b = 0; of_b < 2; ++of_b)
        if (acc->moved[of_b]) add_sums(query, acc, of_b, span, &t);
    CAROM_ASSERT(!(t.volume_error < 0.0) && !(t.area_error < 0.0) && !(t.moment_error < 0.0) &&
                 !(t.normal_error < 0.0) && !(t.turn_error < 0.0));
    return t;
}

/* The point that the torque is about. */
static carom_vec3 pivot_of(const carom_solid_query *query) {
    const carom_solid *b = query->solids[1];
    carom_vec3 pivot = carom_frame_apply(&query->posed.b.frame, b->info.centroid);
    return carom_vec_scale(pivot, query->power);
}

/* An upper bound of the distance of the pivot from the mesh's exact centroid. The centroid was
 * computed as a displacement from the centre of the mesh's box, and the pose rounds it. */
static double pivot_error(const carom_solid_query *query) {
    const carom_solid *b = query->solids[1];
    double far = carom_vec_largest(carom_vec_sub(b->info.centroid, b->sums.centre)) +
                 carom_vec_largest(b->info.centroid) + carom_vec_largest(query->posed.b.frame.t);
    return carom_scale_apply(OVERLAP_POSE_BOUND * far, query->exponent);
}

static void solid_overlap_fill(const carom_solid_query *query, const totals *t,
                               carom_solid_result *overlap) {
    carom_vec3 arm = carom_vec_sub(pivot_of(query), query->origin), centroid = query->origin;
    double centroid_error = HUGE_VAL, least = fabs(t->volume) - t->volume_error;
    if (least > 0.0) {
        carom_vec3 direction = carom_vec_scale(t->moment, 1.0 / t->volume);
        double far = carom_vec_largest(direction);
        centroid = carom_vec_add(centroid, direction);
        centroid_error = (t->moment_error + far * t->volume_error) / least * OVERLAP_ERROR_MARGIN +
                         OVERLAP_SUM_ROUNDING * (far + carom_vec_largest(query->origin));
    }
    carom_vec3 turn = carom_vec_sub(carom_vec_cross(arm, t->normal), t->turn);
    double lever = carom_solid_norm(arm), force = carom_solid_norm(t->normal);
    double turn_error = t->turn_error + lever * t->normal_error +
                        4.0 * OVERLAP_SUM_ROUNDING * (lever * force + carom_solid_norm(t->turn)) +
                        2.0 * pivot_error(query) * force;
    /* a negative value within its error of zero is set to zero */
    double volume = t->volume < 0.0 && t->volume >= -t->volume_error ? 0.0 : t->volume;
    double area = t->area < 0.0 && t->area >= -t->area_error ? 0.0 : t->area;
    overlap->volume = carom_solid_unscale(query, volume, 3);
    overlap->volume_error = carom_solid_unscale_error(query, t->volume_error, fabs(volume), 3);
    overlap->area = carom_solid_unscale(query, area, 2);
    overlap->area_error = carom_solid_unscale_error(query, t->area_error, fabs(t->area), 2);
    overlap->centroid = carom_solid_unscale_vector(query, centroid, 1);
    overlap->centroid_error =
        carom_solid_unscale_error(query, centroid_error, carom_vec_largest(centroid), 1);
    overlap->force = carom_solid_unscale_vector(query, carom_vec_scale(t->normal, -1.0), 2);
    overlap->force_error =
        carom_solid_unscale_error(query, t->normal_error, carom_vec_largest(t->normal), 2);
    overlap->torque = carom_solid_unscale_vector(query, turn, 3);
    overlap->torque_error =
        carom_solid_unscale_error(query, turn_error, carom_vec_largest(turn), 3);
}

/* ---- Relation -------------------------------------------------------------------------------- */

static carom_relation solid_overlap_relate(const carom_solid_accumulator *acc,
                                           const carom_solid_facts *facts) {
    if (!facts->both) return acc->pairs == 0 ? CAROM_RELATION_APART : CAROM_RELATION_TOUCHING;
    if (!facts->only_a) return CAROM_RELATION_A_INSIDE_B;
    if (!facts->only_b) return CAROM_RELATION_B_INSIDE_A;
    return CAROM_RELATION_OVERLAPPING;
}

/* ---- Search ---------------------------------------------------------------------------------- */

static carom_status find_distance(const carom_solid_query *query, const carom_pose *pose_a,
                                  const carom_pose *pose_b, carom_solid_result *overlap) {
    carom_soup_gap gap;
    overlap->has_distance = true;
    if (overlap->relation != CAROM_RELATION_APART) return CAROM_OK;
    CAROM_TRY(carom_soup_cross_distance(query->context, query->solids[0]->soup, pose_a,
                                        query->solids[1]->soup, pose_b, 0.0, &gap));
    overlap->distance = gap.distance;
    overlap->point_a = gap.point_a;
    overlap->point_b = gap.point_b;
    return CAROM_OK;
}

/* The same of many on the GPU, together. Takes scratch of worker 0, which the caller rewinds. */
static carom_status solid_overlap_find_distances(carom_context *context, const carom_solid_pair *q,
                                                 uint32_t count, carom_solid_result *overlaps) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_soup_pair *pairs = CAROM_ARENA_TAKE(scratch, carom_soup_pair, count);
    carom_soup_gap *gaps = CAROM_ARENA_TAKE(scratch, carom_soup_gap, count);
    carom_work before = context->work;
    uint32_t apart = 0;
    if (pairs == NULL || gaps == NULL)
        return carom_fail_memory(context, count * (sizeof(*pairs) + sizeof(*gaps)), "distances");
    for (uint32_t i = 0; i < count; ++i) {
        overlaps[i].has_distance = true;
        if (overlaps[i].relation == CAROM_RELATION_APART)
            pairs[apart++] =
                (carom_soup_pair){q[i].a->soup, q[i].b->soup, q[i].pose_a, q[i].pose_b};
    }
    if (apart != 0) CAROM_TRY(carom_soup_device_distances_of_cpu(context, pairs, apart, gaps));
    context->work = before;
    for (uint32_t i = 0, k = 0; i < count; ++i) {
        if (overlaps[i].relation != CAROM_RELATION_APART) continue;
        overlaps[i].distance = gaps[k].distance;
        overlaps[i].point_a = gaps[k].point_a;
        overlaps[i].point_b = gaps[k++].point_b;
    }
    return CAROM_OK;
}

static bool solid_overlap_wants_distance(const carom_solid_query_def *def) {
    return def != NULL && def->distance;
}

/* Whether terms cancelled: their origin may be far from the intersection of the solids. */
static bool is_poor(const carom_solid_query *query, const totals *t) {
    return t->volume_error > OVERLAP_ORIGIN_VOLUME * CAROM_MIN(solid_overlap_volume_of(query, 0),
                                                               solid_overlap_volume_of(query, 1));
}

/* Whether more bits would reduce the errors much. */
static bool solid_overlap_is_weak(const carom_solid_query *query,
                                  const carom_solid_accumulator *acc, const totals *t) {
    uint64_t triangles = query->solids[0]->info.triangles + query->solids[1]->info.triangles;
    double volume = fabs(t->volume), span = 3.0 * query->space;
    if (acc->too_large) return true;
    if (triangles > OVERLAP_PRECISE_TRIANGLES)
        return is_poor(query, t) && !(t->volume_error <= OVERLAP_VOLUME_PRECISION * volume);
    bool empty = volume == 0.0 && t->volume_error == 0.0; /* there is no centroid */
    return !(t->volume_error <= OVERLAP_PRECISION * volume &&
             (empty || t->moment_error <= OVERLAP_PRECISION * volume * span) &&
             t->area_error <= OVERLAP_PRECISION * t->area &&
             t->normal_error <= OVERLAP_PRECISION * t->area &&
             t->turn_error <= OVERLAP_PRECISION * t->area * span);
}

/* One search, repeated with safe scales where the fine ones turn out too fine. */
static carom_status solid_overlap_search(carom_solid_query *query, carom_solid_accumulator *acc,
                                         carom_solid_facts *facts, totals *t) {
    bool coarse = false, again;
    do {
        carom_solid_accumulator_begin(acc);
        if (query->ready == NULL) CAROM_TRY(choose_sums(query, coarse));
        CAROM_TRY(carom_solid_search(query, acc));
        add_parts(query, acc, facts);
        CAROM_TRY(carom_progress_look(query->context));
        *t = solid_overlap_add_up(query, acc);
        again = acc->too_large && !coarse;
        coarse = coarse || again;
    } while (again);
    return CAROM_OK;
}

static carom_vec3 mean(carom_vec3 a, carom_vec3 b) {
    return carom_vec_add(carom_vec_scale(a, 0.5), carom_vec_scale(b, 0.5));
}

/* The error of the mean of two values with errors a and b; `size` is the mean, which is rounded. */
static double mean_error(double a, double b, double size) {
    return 0.5 * a + 0.5 * b + OVERLAP_SUM_ROUNDING * fabs(size);
}

/* Where faces share an area, the results that depend on the perturbation sign of b are replaced by
 * the means of both signs. Volume and moment do not depend on it. */
static carom_status solid_overlap_add_other_side(carom_solid_query *query, totals *t) {
    carom_solid_accumulator acc;
    carom_solid_facts unused;
    totals other;
    query->moved_sign = -query->moved_sign;
    carom_status status = solid_overlap_search(query, &acc, &unused, &other);
    query->moved_sign = -query->moved_sign;
    CAROM_TRY(status);
    t->area = 0.5 * t->area + 0.5 * other.area;
    t->normal = mean(t->normal, other.normal);
    t->turn = mean(t->turn, other.turn);
    t->area_error = mean_error(t->area_error, other.area_error, t->area);
    t->normal_error = mean_error(t->normal_error, other.normal_error, carom_solid_norm(t->normal));
    t->turn_error = mean_error(t->turn_error, other.turn_error, carom_solid_norm(t->turn));
    return CAROM_OK;
}

/* ---- Multiple precision ---------------------------------------------------------------------- */

/* One search that keeps records, and the evaluation of its terms with as many bits as needed. */
static carom_status search_precisely(carom_solid_query *query, carom_solid_accumulator *acc,
                                     carom_solid_facts *facts, carom_solid_results *results) {
    double size = CAROM_MIN(carom_solid_radius(query, 0), carom_solid_radius(query, 1));
    carom_solid_accumulator_begin(acc);
    CAROM_TRY(carom_solid_query_keep_changes(query, 0));
    CAROM_TRY(carom_solid_query_keep_changes(query, 1));
    query->record = true;
    CAROM_TRY(carom_solid_search(query, acc));
    query->record = false;
    *facts = (carom_solid_facts){false, false, false};
    for (int of_b = 0; of_b < 2; ++of_b) find_parts(query, acc, of_b, facts);
    CAROM_TRY(carom_progress_look(query->context));
    return carom_solid_measure_precisely(query, acc, pivot_of(query), size, results);
}

static carom_status measure_precisely(carom_solid_query *query, carom_solid_accumulator *acc,
                                      carom_solid_facts *facts, carom_solid_result *overlap) {
    carom_solid_results results;
    CAROM_TRY(search_precisely(query, acc, facts, &results));
    if (acc->one_sided) {
        carom_solid_accumulator other_acc;
        carom_solid_results other;
        carom_solid_facts unused;
        query->moved_sign = -query->moved_sign;
        carom_status status = search_precisely(query, &other_acc, &unused, &other);
        query->moved_sign = -query->moved_sign;
        CAROM_TRY(status);
        carom_solid_results_mean(&results, &other);
    }
    carom_solid_results_round(query, &results, overlap);
    double arm = 3.0 * carom_solid_unscale_error(query, pivot_error(query), 0.0, 1);
    double force = carom_vec_largest(overlap->force) + overlap->force_error;
    if (arm > 0.0 && force > 0.0) overlap->torque_error += arm * force + CAROM_SOLID_LEAST_ERROR;
    return CAROM_OK;
}

/* A query while it is computed. */
typedef struct solid_overlap_job {
    carom_solid_query query;
    carom_solid_accumulator acc;
    carom_solid_facts facts;
    totals t;
} solid_overlap_job;

/* One search; *again: another about a better origin is worth it. */
static carom_status search_once(solid_overlap_job *j, bool *again) {
    *again = false;
    if (j->query.wide) return CAROM_OK; /* more bits are needed anyway */
    CAROM_TRY(solid_overlap_search(&j->query, &j->acc, &j->facts, &j->t));
    *again = is_poor(&j->query, &j->t) && carom_solid_query_refine(&j->query, &j->acc);
    return CAROM_OK;
}

/* What remains after the last search. */
static carom_status finish_rest(solid_overlap_job *j, carom_solid_result *overlap) {
    carom_solid_query *query = &j->query;
    carom_solid_accumulator *acc = &j->acc;
    carom_solid_facts *facts = &j->facts, again;
    bool weak = query->wide;
    if (!weak) {
        if (acc->pairs != 0) CAROM_TRY(carom_solid_facts_find(query, acc, facts));
        if (!facts->both) j->t.volume = j->t.volume_error = 0.0;
        if (acc->one_sided) CAROM_TRY(solid_overlap_add_other_side(query, &j->t));
        weak = solid_overlap_is_weak(query, acc, &j->t);
    }
    if (weak) {
        CAROM_TRY(measure_precisely(query, acc, query->wide ? facts : &again, overlap));
        if (query->wide && acc->pairs != 0) CAROM_TRY(carom_solid_facts_find(query, acc, facts));
    } else {
        solid_overlap_fill(query, &j->t, overlap);
    }
    overlap->pairs = acc->pairs;
    overlap->one_sided = acc->one_sided;
    overlap->by_winding = query->solids[0]->info.by_winding || query->solids[1]->info.by_winding;
    overlap->relation = solid_overlap_relate(acc, facts);
    if (!facts->both) { /* regardless of rounding and of the range of doubles */
        overlap->volume = overlap->volume_error = 0.0;
        overlap->centroid_error = HUGE_VAL;
    }
    if (overlap->relation == CAROM_RELATION_APART) {
        overlap->area = overlap->area_error = 0.0;
        overlap->force = overlap->torque = carom_vec(0.0, 0.0, 0.0);
        overlap->force_error = overlap->torque_error = 0.0;
    }
    return CAROM_OK;
}

static carom_status solid_overlap_run(solid_overlap_job *j, bool again,
                                      carom_solid_result *overlap) {
    while (again) CAROM_TRY(search_once(j, &again));
    return finish_rest(j, overlap);
}

/* ---- Queries --------------------------------------------------------------------------------- */

static carom_status solid_overlap_check(carom_context *context, const carom_solid *a,
                                        const carom_solid *b) {
    CAROM_REQUIRE_BOTH(a, b, "solid");
    CAROM_TRY(carom_solid_check_backend(context, a));
    return carom_solid_check_backend(context, b);
}

/* Computes the rest of a query, but for distances on the GPU; `again`: from a search on. */
static carom_status solid_overlap_finish(solid_overlap_job *j, bool again,
                                         const carom_solid_pair *q,
                                         const carom_solid_query_def *def,
                                         carom_solid_result *overlap) {
    carom_context *context = j->query.context;
    carom_work before = context->work; /* a search for the distance replaces it */
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "overlapping solids", 0);
    carom_status status = carom_progress_finish(context, solid_overlap_run(j, again, overlap));
    carom_arena_rewind(scratch, mark);
    CAROM_TRY(status);
    if (solid_overlap_wants_distance(def) && context->backend != CAROM_BACKEND_CUDA)
        CAROM_TRY(find_distance(&j->query, &q->pose_a, &q->pose_b, overlap));
    context->work =
        (carom_work){before.visits + j->acc.visits, before.candidates + j->acc.candidates,
                     before.undecided + j->acc.undecided};
    return CAROM_OK;
}

/* ---- Many queries ---------------------------------------------------------------------------- */

/* Queries that the GPU searches for together: each takes 4 KB with its accumulators, so these take
 * 4 MB. */
#define OVERLAP_BATCH 1024u

typedef struct solid_overlap_batch {
    solid_overlap_job *jobs;
    carom_solid_accumulator *ready; /* accumulators that the GPU made ahead */
    bool *again;                    /* per job: another search is needed */
    const carom_solid_query **queries;
    carom_solid_accumulator **accs;
    uint32_t count;
} solid_overlap_batch;

static carom_status batch_make(carom_context *context, uint32_t count, solid_overlap_batch *b) {
    carom_arena *scratch = carom_scratch(context, 0);
    b->jobs = CAROM_ARENA_TAKE(scratch, solid_overlap_job, count);
    b->ready = CAROM_ARENA_TAKE(scratch, carom_solid_accumulator, count);
    b->again = CAROM_ARENA_TAKE(scratch, bool, count);
    b->queries = CAROM_ARENA_TAKE(scratch, const carom_solid_query *, count);
    b->accs = CAROM_ARENA_TAKE(scratch, carom_solid_accumulator *, count);
    b->count = count;
    if (b->jobs != NULL && b->ready != NULL && b->again != NULL && b->queries != NULL &&
        b->accs != NULL)
        return CAROM_OK;
    return carom_fail_memory(
        context, count * (sizeof(solid_overlap_job) + sizeof(carom_solid_accumulator)), "queries");
}

/* On the GPU, the next searches of all queries that need one, together; *at is the one that failed.
 * Queries that the CPU searches for, and those that visit all triangles, are left for later. */
static carom_status search_ahead(carom_context *context, solid_overlap_batch *b, uint32_t *at) {
    carom_arena *scratch = carom_scratch(context, 0);
    uint32_t queries = 0;
    for (uint32_t i = 0; i < b->count; ++i) {
        carom_solid_query *query = &b->jobs[i].query;
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        if (!b->again[i] || !carom_solid_device_can(query)) continue;
        CAROM_TRY(choose_sums(query, false));
        carom_arena_rewind(scratch, mark);
        if (query->changes[0] != NULL || query->changes[1] != NULL) continue;
        query->ready = &b->ready[i];
        b->queries[queries] = query;
        b->accs[queries++] = &b->ready[i];
    }
    CAROM_ASSERT(queries <= b->count);
    CAROM_TRY(carom_solid_device_search(context, b->queries, queries, b->accs));
    for (*at = 0; *at < b->count; ++*at)
        if (b->jobs[*at].query.ready != NULL) CAROM_TRY(search_once(&b->jobs[*at], &b->again[*at]));
    return CAROM_OK;
}

/* The queries of a part of a batch; *at is the one that failed. */
static carom_status overlap_some(carom_context *context, const carom_solid_pair *q, uint32_t count,
                                 const carom_solid_query_def *def, carom_solid_result *overlaps,
                                 uint32_t *at) {
    solid_overlap_batch b;
    CAROM_TRY(batch_make(context, count, &b));
    for (*at = 0; *at < count; ++*at) {
        const carom_solid_pair *one = &q[*at];
        CAROM_TRY(carom_solid_query_begin(context, one->a, &one->pose_a, one->b, &one->pose_b,
                                          &b.jobs[*at].query));
        carom_solid_accumulator_begin(&b.jobs[*at].acc);
        b.again[*at] = true;
    }
    *at = 0;
    CAROM_TRY(search_ahead(context, &b, at)); /* the first search, and where needed */
    CAROM_TRY(search_ahead(context, &b, at)); /* the second, about a better origin */
    carom_status status = CAROM_OK;
    for (*at = 0; *at < count && status == CAROM_OK; ++*at)
        status = solid_overlap_finish(&b.jobs[*at], b.again[*at], &q[*at], def, &overlaps[*at]);
    if (status != CAROM_OK) --*at;
    if (solid_overlap_wants_distance(def) && context->backend == CAROM_BACKEND_CUDA)
        CAROM_TRY(solid_overlap_find_distances(context, q, *at,
                                               overlaps)); /* also of those before a failure */
    return status;
}

carom_status carom_solid_overlap_batch(carom_context *context, const carom_solid_pair *pairs,
                                       uint64_t count, const carom_solid_query_def *def,
                                       carom_solid_result *overlaps) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_REQUIRE_OUTPUTS(overlaps, count, "overlaps");
    if (count != 0) memset(overlaps, 0, count * sizeof(*overlaps));
    for (uint64_t i = 0; i < count; ++i)
        CAROM_TRY(solid_overlap_check(context, pairs[i].a, pairs[i].b));
    context->work = (carom_work){0, 0, 0};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_status status = CAROM_OK;
    for (uint64_t first = 0; status == CAROM_OK && first < count; first += OVERLAP_BATCH) {
        uint32_t some = (uint32_t)CAROM_MIN(count - first, OVERLAP_BATCH), at = 0;
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        status = overlap_some(context, pairs + first, some, def, overlaps + first, &at);
        carom_arena_rewind(scratch, mark);
        if (status != CAROM_OK) status = carom_fail_at(context, status, "pair", first + at);
    }
    return status;
}

carom_status carom_solid_overlap(carom_context *context, const carom_solid *a,
                                 const carom_pose *pose_a, const carom_solid *b,
                                 const carom_pose *pose_b, const carom_solid_query_def *def,
                                 carom_solid_result *overlap) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(overlap, "overlap");
    const carom_pose identity = {.q = {.w = 1.0}};
    const carom_solid_pair q = {a, b, pose_a != NULL ? *pose_a : identity,
                                pose_b != NULL ? *pose_b : identity};
    solid_overlap_job j;
    memset(overlap, 0, sizeof(*overlap));
    CAROM_TRY(solid_overlap_check(context, a, b));
    context->work = (carom_work){0, 0, 0};
    carom_solid_accumulator_begin(&j.acc);
    CAROM_TRY(carom_solid_query_begin(context, a, &q.pose_a, b, &q.pose_b, &j.query));
    CAROM_TRY(solid_overlap_finish(&j, true, &q, def, overlap));
    if (!solid_overlap_wants_distance(def) || context->backend != CAROM_BACKEND_CUDA)
        return CAROM_OK;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = solid_overlap_find_distances(context, &q, 1, overlap);
    carom_arena_rewind(scratch, mark);
    return status;
}
