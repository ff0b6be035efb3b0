/* SPDX-License-Identifier: MIT */
/* The check of rays that every engine that casts them begins with. */
#include "geom/ray.h"

#include "base/status.h"
#include "geom/length.h"

carom_status carom_rays_check(carom_context *context, const carom_ray *rays, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        const carom_ray *ray = &rays[i];
        bool good =
            carom_vec_finite(ray->origin) && carom_vec_finite(ray->direction) && ray->length >= 0.0;
        bool moves = ray->direction.x != 0.0 || ray->direction.y != 0.0 || ray->direction.z != 0.0;
        if (!good || !moves)
            return carom_fail(context, CAROM_BAD_INPUT, "ray %llu %s; mend it or leave it out",
                              (unsigned long long)i,
                              good ? "has the direction (0, 0, 0)"
                                   : "is not finite or has a negative length");
    }
    return CAROM_OK;
}
