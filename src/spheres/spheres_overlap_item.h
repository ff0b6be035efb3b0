/* SPDX-License-Identifier: MIT */
/* spheres_overlap_item.h: the overlap of two posed packings, as a definition: which balls count for
 * what. All engines that compare packings decide by these items, so that they agree bit for bit;
 * tests/support/packing_oracle.c applies them to all pairs.
 *
 * With spheres i of A and j of B at their posed centres x':
 *   estimate   sum over all pairs of the lens of the secondary balls, with its force, torque and so
 *              on; pairs with a volume are counted (`pairs`).
 *   lower      sum over all pairs of the lens of the inner balls, less its error (`inner_pairs`).
 *              Inner balls of one packing are disjoint, so no space is counted twice.
 *   upper      lens of the inner balls, plus its error, plus the voids of all spheres whose cover
 *              meets a cover of the other packing (`flagged`); at most the volume of A or B. For a
 *              point in both solids lies in a share of A and in one of B, whose covers meet there;
 *              and either in inner balls of both, or in the void of one of the shares.
 *
 * The posed centre is x' = R (scale c) + t, by the arithmetic of geom/pose.h after rounding scale
 * c. `slack` bounds how far that is off the exact motion: for the balls, and once more for the
 * corners of the mesh that they stand for. So bounds hold for solids in their exact pose as well
 * as for those with rounded corners, up to what moving the surface by the slack does to their
 * volumes, which is far below CAROM_SPHERES_VOLUME_ERROR of them. */
#ifndef CAROM_SRC_SPHERES_SPHERES_OVERLAP_ITEM_H
#define CAROM_SRC_SPHERES_SPHERES_OVERLAP_ITEM_H

#include "carom/pack.h"
#include "geom/pose.h"
#include "spheres/spheres_item.h"

/* Relative error of the volume of a packing's solid, and of a share: far above that of their sums,
 * 2^-50 per triangle and cell, of which there are fewer than 2^20 at a point. */
#define CAROM_SPHERES_VOLUME_ERROR 1e-9

/* Sizes of packings and of posed pairs that can be compared, so that no volume times a length
 * overflows or loses bits. */
#define CAROM_SPHERES_LEAST_SIZE 0x1p-200
#define CAROM_SPHERES_MOST_SIZE  0x1p+200

/* Upper bound of the relative error of a posed centre: some ten roundings of 2^-53, times five for
 * safety, per coordinate of the largest. */
#define CAROM_SPHERES_POSE_ERROR 0x1p-47

/* By how much the volume of a lens changes with a distance or a radius, at most: the surface of the
 * smaller ball, 4 pi r^2, in squares of r, rounded up. And the rounding of posed radii, in their
 * sum. */
#define CAROM_SPHERES_BALL_SURFACE    13.0
#define CAROM_SPHERES_RADIUS_ROUNDING 0x1p-50

/* As an exponent of two, of the unit of voids: it and its inverse are normal numbers. */
#define CAROM_SPHERES_VOID_SCALE_MOST 1000

/* Voids in units are below this, so that a sum of two is below 2^63. */
#define CAROM_SPHERES_VOID_UNITS_MOST 0x1p62

/* What is known of a packing before its pose. Made by carom_spheres_extent_make. */
typedef struct carom_spheres_extent {
    uint64_t count;
    carom_vec3 pivot; /* the mean of the centres, weighted by the volumes of shares */
    double radius;    /* the largest of all inner and secondary radii */
    double reach;     /* from the pivot to the far side of each ball with these radii, at most */
    double size;      /* of the coordinates of balls with the cover's radius, the largest */
    double volume;    /* of the solid, rounded up; infinite: not known */
    int void_scale;   /* voids are multiples of 2^void_scale, whose sum is below 2^63 */
} carom_spheres_extent;

/* The void of a sphere in multiples of 2^void_scale, rounded up. */
CAROM_ITEM uint64_t carom_spheres_void_units(const carom_spheres_extent *extent,
                                             double void_volume) {
    double units = void_volume * carom_power_of_two(-extent->void_scale);
    uint64_t whole = (uint64_t)units;
    CAROM_ASSERT(units >= 0.0 && units <= CAROM_SPHERES_VOID_UNITS_MOST);
    return (double)whole < units ? whole + 1 : whole;
}

/* A packing's pose: x' = frame (scale x). */
typedef struct carom_spheres_transform {
    carom_frame frame;
    double scale;
    double slack;
} carom_spheres_transform;

/* Sets what a transform has besides its frame. */
CAROM_ITEM void carom_spheres_transform_finish(carom_spheres_transform *transform,
                                               const carom_spheres_extent *extent, double scale) {
    transform->scale = scale == 0.0 ? 1.0 : scale;
    transform->slack = CAROM_SPHERES_POSE_ERROR * (2.0 * extent->size * transform->scale +
                                                   carom_vec_largest(transform->frame.t));
}

CAROM_ITEM carom_spheres_transform carom_spheres_transform_make(const carom_spheres_extent *extent,
                                                                const carom_pose *pose,
                                                                double scale) {
    carom_spheres_transform transform;
    transform.frame = carom_frame_make(pose);
    carom_spheres_transform_finish(&transform, extent, scale);
    return transform;
}

/* A posed sphere. */
typedef struct carom_spheres_posed {
    carom_vec3 centre;
    double radius, secondary, cover;
} carom_spheres_posed;

CAROM_ITEM carom_vec3 carom_spheres_pose_centre(const carom_spheres_transform *transform,
                                                carom_vec3 centre) {
    return carom_frame_apply(&transform->frame, carom_vec_scale(centre, transform->scale));
}

CAROM_ITEM double carom_spheres_pose_cover(const carom_spheres_transform *transform, double cover) {
    return (cover * transform->scale + 2.0 * transform->slack) * CAROM_SPHERES_UP;
}

CAROM_ITEM carom_spheres_posed carom_spheres_pose_sphere(const carom_spheres_transform *transform,
                                                         carom_vec3 centre, double radius,
                                                         double secondary, double cover) {
    carom_spheres_posed posed;
    posed.centre = carom_spheres_pose_centre(transform, centre);
    posed.radius = radius * transform->scale;
    posed.secondary = secondary * transform->scale;
    posed.cover = carom_spheres_pose_cover(transform, cover);
    return posed;
}

/* What a query needs of both packings. */
typedef struct carom_spheres_posed_pair {
    carom_spheres_transform transform[2];
    carom_vec3 pivot; /* of B, posed */
    double slack;     /* of both, for the distance of two centres and of what they stand for */
    carom_spheres_scales scales;
} carom_spheres_posed_pair;

/* Whether scale and pose, which may be NULL, are numbers that keep a packing within the range of
 * sizes; `far` is how far it then reaches. */
CAROM_ITEM bool carom_spheres_transform_fits(const carom_spheres_extent *extent,
                                             const carom_pose *pose, double scale, double *far) {
    double factor = scale == 0.0 ? 1.0 : scale;
    *far = extent->size * factor;
    if (!(scale >= 0.0 && scale <= DBL_MAX)) return false;
    if (pose != 0) {
        if (!(carom_vec_finite(pose->t) &&
              carom_vec_finite(carom_vec(pose->q.x, pose->q.y, pose->q.z)) &&
              fabs(pose->q.w) <= DBL_MAX))
            return false;
        *far += carom_vec_largest(pose->t);
    }
    return *far <= CAROM_SPHERES_MOST_SIZE &&
           (extent->count == 0 || extent->radius * factor >= CAROM_SPHERES_LEAST_SIZE);
}

/* How far two posed centres may be off together. */
CAROM_ITEM double carom_spheres_posed_pair_slack(const carom_spheres_posed_pair *m) {
    return 2.0 * (m->transform[0].slack + m->transform[1].slack);
}

/* The rest of a posed pair whose transforms and slack are set. */
CAROM_ITEM void carom_spheres_posed_pair_finish(carom_spheres_posed_pair *m,
                                                const carom_spheres_extent *a,
                                                const carom_spheres_extent *b) {
    m->pivot = carom_spheres_pose_centre(&m->transform[1], b->pivot);
    double radius_a = a->radius * m->transform[0].scale,
           radius_b = b->radius * m->transform[1].scale;
    double radius = CAROM_MAX(radius_a, radius_b);
    /* Balls that overlap: the lens is in a ball of B, and the centres are two radii apart. */
    double lever = b->reach * m->transform[1].scale + 2.0 * radius + m->slack;
    uint64_t pairs = a->count * b->count;
    if ((a->count | b->count) >> 32 != 0 && b->count != 0 && a->count > UINT64_MAX / b->count)
        pairs = UINT64_MAX;
    m->scales = carom_spheres_scales_make(radius * CAROM_SPHERES_FAR_UP,
                                          lever * CAROM_SPHERES_FAR_UP, pairs);
}

CAROM_ITEM carom_spheres_posed_pair carom_spheres_posed_pair_make(
    const carom_spheres_extent *a, const carom_pose *pose_a, double scale_a,
    const carom_spheres_extent *b, const carom_pose *pose_b, double scale_b) {
    carom_spheres_posed_pair m;
    m.transform[0] = carom_spheres_transform_make(a, pose_a, scale_a);
    m.transform[1] = carom_spheres_transform_make(b, pose_b, scale_b);
    m.slack = carom_spheres_posed_pair_slack(&m);
    carom_spheres_posed_pair_finish(&m, a, b);
    return m;
}

/* What all pairs add up to. All zero: nothing yet. */
typedef struct carom_spheres_totals {
    carom_spheres_sum estimate;   /* its `error` is not used */
    carom_sum inner, inner_error; /* the lenses of inner balls */
    uint64_t pairs, inner_pairs;
} carom_spheres_totals;

/* Whether a pair of spheres may add to the estimate or the lower bound; false is certain, for
 * carom_spheres_totals_add. `reach` of a sphere is the larger of its inner and secondary radius. */
CAROM_ITEM double carom_spheres_reach(const carom_spheres_posed *s) {
    return CAROM_MAX(s->radius, s->secondary);
}

/* Volume and error of the lens of two inner balls; false where they have no volume in common. */
CAROM_ITEM bool carom_spheres_inner(double squared, double d, double r, double s, double slack,
                                    double *volume, double *error) {
    double sum = r + s;
    if (squared >= sum * sum) return false;
    carom_lens_shape lens = carom_lens_at(r, s, d);
    if (!(lens.volume > 0.0)) return false;
    double smaller = CAROM_MIN(r, s);
    *volume = lens.volume;
    /* The distance is off by the slack and both radii are rounded. The volume changes by at most
     * the surface of the smaller ball times these. */
    *error = CAROM_SPHERES_LENS_ERROR * (lens.volume + lens.area * d) +
             CAROM_SPHERES_BALL_SURFACE * (smaller * smaller) *
                 (slack + CAROM_SPHERES_RADIUS_ROUNDING * sum);
    return true;
}

/* Adds one pair of spheres. Every pair is added once, in any order; pairs whose inner and secondary
 * balls are apart add nothing and may be left out. */
CAROM_ITEM void carom_spheres_totals_add(carom_spheres_totals *totals,
                                         const carom_spheres_posed_pair *m,
                                         const carom_spheres_posed *a,
                                         const carom_spheres_posed *b) {
    carom_ball ball_a = {a->centre, a->secondary}, ball_b = {b->centre, b->secondary};
    carom_spheres_term term;
    if (carom_spheres_pair(&ball_a, &ball_b, m->pivot, &term)) {
        term.error = 0.0;
        carom_spheres_sum_add(&totals->estimate, &term, &m->scales);
        totals->pairs += 1;
    }
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double squared = carom_vec_dot(apart, apart), volume, error;
    if (carom_spheres_inner(squared, sqrt(squared), a->radius, b->radius, m->slack, &volume,
                            &error)) {
        totals->inner =
            carom_sum_add(totals->inner, carom_spheres_rounded(volume, &m->scales.volume));
        totals->inner_error =
            carom_sum_add(totals->inner_error, carom_spheres_rounded(error, &m->scales.volume));
        totals->inner_pairs += 1;
    }
}

CAROM_ITEM void carom_spheres_totals_join(carom_spheres_totals *totals,
                                          const carom_spheres_totals *other) {
    carom_spheres_sum_join(&totals->estimate, &other->estimate);
    totals->inner = carom_sum_add(totals->inner, other->inner);
    totals->inner_error = carom_sum_add(totals->inner_error, other->inner_error);
    totals->pairs += other->pairs;
    totals->inner_pairs += other->inner_pairs;
}

/* Whether the covers of two spheres may meet: both are then flagged. */
CAROM_ITEM bool carom_spheres_covers_meet(const carom_spheres_posed *a,
                                          const carom_spheres_posed *b) {
    carom_ball ball_a = {a->centre, a->cover}, ball_b = {b->centre, b->cover};
    return carom_spheres_may_meet(&ball_a, &ball_b);
}

/* The spheres of one packing that are flagged, and the sum of their voids in its units. */
typedef struct carom_spheres_flagged {
    uint64_t count, voids;
} carom_spheres_flagged;

/* A void of a posed packing, rounded up. */
CAROM_ITEM double carom_spheres_void_value(const carom_spheres_extent *extent,
                                           const carom_spheres_transform *transform,
                                           uint64_t units) {
    double cube = transform->scale * transform->scale * transform->scale;
    return (double)units * carom_power_of_two(extent->void_scale) * cube * CAROM_SPHERES_PRODUCT_UP;
}

/* Totals as numbers. */
typedef struct carom_spheres_values {
    carom_spheres_lenses lenses;
    double inner, inner_error;
    uint64_t pairs, inner_pairs;
} carom_spheres_values;

/* The bounds of the inner lenses, rounded outwards: lower, and what the voids are added to. */
CAROM_ITEM void carom_spheres_inner_bounds(const carom_spheres_values *values,
                                           const carom_spheres_posed_pair *m, double *lower,
                                           double *upper) {
    double volume = values->inner, error = values->inner_error;
    /* Each of the 2 terms of a pair was rounded to a multiple of the scale. */
    error += (double)values->inner_pairs * carom_power_of_two(m->scales.volume.scale);
    double less = (volume - error) * CAROM_SPHERES_DOWN;
    *lower = CAROM_MAX(less, 0.0);
    *upper = (volume + error) * CAROM_SPHERES_UP;
    CAROM_ASSERT(!(*lower > *upper));
}

/* The largest overlap that the volumes of the solids allow. */
CAROM_ITEM double carom_spheres_most_volume(const carom_spheres_extent *a,
                                            const carom_spheres_extent *b,
                                            const carom_spheres_posed_pair *m) {
    double scale_a = m->transform[0].scale, scale_b = m->transform[1].scale;
    double volume_a = a->volume * (scale_a * scale_a * scale_a) * CAROM_SPHERES_PRODUCT_UP;
    double volume_b = b->volume * (scale_b * scale_b * scale_b) * CAROM_SPHERES_PRODUCT_UP;
    return CAROM_MIN(volume_a, volume_b);
}

/* The result. `flagged` of A and of B; NULL: not looked for, then the upper bound is that of the
 * volumes, and the relation is touching, not decided, where secondary balls overlap. */
CAROM_ITEM void carom_spheres_overlap_of_values(const carom_spheres_values *totals,
                                                const carom_spheres_posed_pair *m,
                                                const carom_spheres_extent *a,
                                                const carom_spheres_extent *b,
                                                const carom_spheres_flagged *flagged,
                                                carom_packing_overlap *overlap) {
    const carom_spheres_lenses lenses = totals->lenses;
    double lower, upper, most = carom_spheres_most_volume(a, b, m);
    carom_spheres_inner_bounds(totals, m, &lower, &upper);
    if (flagged != 0) {
        double voids = carom_spheres_void_value(a, &m->transform[0], flagged[0].voids) +
                       carom_spheres_void_value(b, &m->transform[1], flagged[1].voids);
        upper = (upper + voids) * CAROM_SPHERES_UP;
        upper = CAROM_MIN(upper, most);
    } else {
        upper = most;
    }
    bool near = flagged != 0 ? flagged[0].count != 0 : totals->pairs != 0;
    overlap->relation = totals->inner_pairs != 0 && lower > 0.0 ? CAROM_RELATION_OVERLAPPING
                        : near                                  ? CAROM_RELATION_TOUCHING
                                                                : CAROM_RELATION_APART;
    overlap->volume.value = lenses.volume;
    overlap->volume.lower = CAROM_MIN(lower, upper);
    overlap->volume.upper = upper;
    CAROM_ASSERT(lower >= 0.0 && !(overlap->volume.lower > overlap->volume.upper));
    CAROM_ASSERT(flagged == 0 || (flagged[0].count == 0) == (flagged[1].count == 0));
    overlap->force = lenses.force;
    overlap->torque = lenses.torque;
    overlap->direction_2009 = lenses.direction;
    overlap->pivot = m->pivot;
    overlap->centroid =
        lenses.volume > 0.0
            ? carom_vec_add(m->pivot, carom_vec_scale(lenses.moment, 1.0 / lenses.volume))
            : m->pivot;
    overlap->pairs = totals->pairs;
    overlap->inner_pairs = totals->inner_pairs;
    overlap->flagged_a = flagged != 0 ? flagged[0].count : 0;
    overlap->flagged_b = flagged != 0 ? flagged[1].count : 0;
}

CAROM_ITEM void
carom_spheres_overlap_finish(const carom_spheres_totals *totals, const carom_spheres_posed_pair *m,
                             const carom_spheres_extent *a, const carom_spheres_extent *b,
                             const carom_spheres_flagged *flagged, carom_packing_overlap *overlap) {
    carom_spheres_values values;
    values.lenses = carom_spheres_sum_value(&totals->estimate, &m->scales);
    values.inner = carom_sum_value(totals->inner, m->scales.volume.scale);
    values.inner_error = carom_sum_value(totals->inner_error, m->scales.volume.scale);
    values.pairs = totals->pairs;
    values.inner_pairs = totals->inner_pairs;
    carom_spheres_overlap_of_values(&values, m, a, b, flagged, overlap);
}

#endif
