/* SPDX-License-Identifier: MIT */
/* pack.h: what the source files of packings share; the structure is in spheres.h. */
#ifndef CAROM_SRC_PACK_PACK_H
#define CAROM_SRC_PACK_PACK_H

#include "spheres/spheres.h"

/* For tests and fuzzers: NULL, or the first invariant that does not hold. O(n^2). */
const char *carom_packing_validate(const carom_packing *packing);

#endif
