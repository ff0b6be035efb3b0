/* SPDX-License-Identifier: MIT */
/* ray.h: the check of rays. */
#ifndef CAROM_SRC_GEOM_RAY_H
#define CAROM_SRC_GEOM_RAY_H

#include "carom/geom.h"

/* CAROM_BAD_INPUT: a ray that is not finite, of negative length or with the direction (0, 0, 0). */
carom_status carom_rays_check(carom_context *context, const carom_ray *rays, uint64_t count);

#endif
