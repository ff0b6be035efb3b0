/* SPDX-License-Identifier: MIT */
/* pack_error.h: as many spheres as a wanted error of overlaps takes. */
#ifndef CAROM_CLI_PACK_ERROR_H
#define CAROM_CLI_PACK_ERROR_H

#include "cli/command.h"
#include "cli/pack_goals.h"

#define PACK_ERROR_POSES 32

/* Packs with def->count spheres (0: 500), then with twice as many, and so on, until the overlaps
 * that a sphere tree estimates are within `wanted` of the exact ones, relative, on average over
 * PACK_ERROR_POSES seeded poses of 1 to 10 % overlap; or until a packing ends with fewer spheres
 * than it may have, or there are a million. *reached is the mean error of the packing that is
 * returned, infinite where no such pose was found; *stop says why it ended. */
carom_status pack_to_error(carom_context *context, const carom_packing_def *def, double wanted,
                           uint64_t seed, carom_packing **packing, double *reached,
                           pack_stop *stop);

#endif
