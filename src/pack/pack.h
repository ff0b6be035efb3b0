/* SPDX-License-Identifier: MIT */
/* pack.h: what the source files of packings share; the structure is in spheres.h. */
#ifndef CAROM_SRC_PACK_PACK_H
#define CAROM_SRC_PACK_PACK_H

#include "spheres/spheres.h"

/* For tests and fuzzers: NULL, or the first invariant that does not hold. O(n^2). */
const char *carom_packing_validate(const carom_packing *packing);

/* carom_packing_create, the same spheres, without the volume of the solid, which takes most of the
 * time where faces cross: that of the info is the one that faces enclose, parts that overlap twice.
 * For goals other than `fill`. */
carom_status carom_packing_create_without_volume(carom_context *context,
                                                 const carom_packing_def *def,
                                                 carom_packing **packing);

#endif
