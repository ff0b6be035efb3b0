/* SPDX-License-Identifier: MIT */
/* What a packing's spheres have in common: largest radii, a pivot, units of voids. Computed once
 * for a packing, in the order of its spheres, so that all engines have the same bits. */
#include "spheres/spheres_overlap.h"

#include <float.h>

#include "geom/length.h"

/* The sum of all voids is below 2^61 units: each is rounded up, and 2^32 of them fit with it. */
#define VOID_BITS 61

static carom_status spheres_overlap_check_sphere(carom_context *context,
                                                 const carom_packing_sphere *s, uint64_t i,
                                                 const char *what) {
    double size = carom_vec_largest(s->centre) + s->cover;
    if (!(s->cover >= s->radius && s->secondary >= 0.0 && s->void_volume >= 0.0))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%s: sphere %llu has cover %g, radius %g, secondary %g, void %g: covers "
                          "are not smaller than radii, and nothing is negative",
                          what, (unsigned long long)i, s->cover, s->radius, s->secondary,
                          s->void_volume);
    if (!(size <= CAROM_SPHERES_MOST_SIZE && s->radius >= CAROM_SPHERES_LEAST_SIZE &&
          s->void_volume <=
              CAROM_SPHERES_MOST_SIZE * CAROM_SPHERES_MOST_SIZE * CAROM_SPHERES_MOST_SIZE &&
          s->secondary <= CAROM_SPHERES_MOST_SIZE))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%s: sphere %llu has radius %g and reaches to %g: sizes must be between "
                          "2^-200 and 2^200",
                          what, (unsigned long long)i, s->radius, size);
    return CAROM_OK;
}

/* All voids together fit into 63 bits, as engines add those of flagged spheres. */
static void extent_check_voids(const carom_spheres_view *spheres,
                               const carom_spheres_extent *extent) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < spheres->count; ++i) {
        sum += carom_spheres_void_units(extent, spheres->data[i].void_volume);
        CAROM_ASSERT(sum < UINT64_C(1) << 63);
    }
}

carom_status carom_spheres_of(carom_context *context, const carom_packing *packing,
                              const char *what, carom_spheres_view *spheres) {
    *spheres = (carom_spheres_view){packing->spheres, packing->info.spheres, packing->info.volume};
    if (packing->info.shares) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "%s has no shares: secondary radii, covers and voids are needed", what);
}

carom_status carom_spheres_extent_of(carom_context *context, const carom_spheres_view *spheres,
                                     const char *what, carom_spheres_extent *extent) {
    uint64_t count = spheres->count;
    carom_vec3 moment = {0.0, 0.0, 0.0};
    double weight = 0.0, voids = 0.0;
    *extent = (carom_spheres_extent){.count = count};
    if (count == 0)
        return carom_fail(context, CAROM_BAD_INPUT, "%s has no spheres: nothing bounds its solid",
                          what);
    for (uint64_t i = 0; i < count; ++i) {
        const carom_packing_sphere *s = &spheres->data[i];
        CAROM_TRY(spheres_overlap_check_sphere(context, s, i, what));
        double larger = CAROM_MAX(s->radius, s->secondary);
        double size = carom_vec_largest(s->centre) + s->cover;
        double share = s->secondary * s->secondary * s->secondary;
        extent->radius = CAROM_MAX(larger, extent->radius);
        extent->size = CAROM_MAX(size, extent->size);
        moment = carom_vec_add(moment, carom_vec_scale(s->centre, share));
        weight += share;
        voids += s->void_volume;
    }
    if (weight > 0.0) extent->pivot = carom_vec_scale(moment, 1.0 / weight);
    for (uint64_t i = 0; i < count; ++i) {
        const carom_packing_sphere *s = &spheres->data[i];
        double larger = CAROM_MAX(s->radius, s->secondary);
        double reach = carom_length(carom_vec_sub(s->centre, extent->pivot)) + larger;
        extent->reach = CAROM_MAX(reach, extent->reach);
    }
    extent->volume =
        spheres->volume > 0.0 ? spheres->volume * (1.0 + CAROM_SPHERES_VOLUME_ERROR) : HUGE_VAL;
    extent->void_scale =
        CAROM_MAX(carom_exponent(voids) + 1 - VOID_BITS, -CAROM_SPHERES_VOID_SCALE_MOST);
    extent_check_voids(spheres, extent);
    return CAROM_OK;
}

carom_status carom_spheres_extent_make(carom_context *context, const carom_packing *packing,
                                       const char *what, carom_spheres_extent *extent) {
    carom_spheres_view spheres;
    CAROM_TRY(carom_spheres_of(context, packing, what, &spheres));
    return carom_spheres_extent_of(context, &spheres, what, extent);
}

carom_status carom_spheres_check_pose(carom_context *context, const carom_spheres_extent *extent,
                                      const carom_pose *pose, double scale, const char *what) {
    if (!(scale >= 0.0 && scale <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the scale of %s is %g: it must be positive, or 0 for 1", what, scale);
    if (pose != NULL) {
        const carom_quat *q = &pose->q;
        if (!(carom_vec_finite(pose->t) && carom_vec_finite(carom_vec(q->x, q->y, q->z)) &&
              fabs(q->w) <= DBL_MAX))
            return carom_fail(context, CAROM_BAD_INPUT, "the pose of %s is not finite", what);
    }
    double far, factor = scale == 0.0 ? 1.0 : scale;
    if (!carom_spheres_transform_fits(extent, pose, scale, &far))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%s in its pose has radii up to %g and reaches to %g: sizes must be "
                          "between 2^-200 and 2^200",
                          what, extent->radius * factor, far);
    return CAROM_OK;
}
