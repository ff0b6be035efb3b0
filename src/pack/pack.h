/* SPDX-License-Identifier: MIT */
/* pack.h: a packing. */
#ifndef CAROM_SRC_PACK_PACK_H
#define CAROM_SRC_PACK_PACK_H

#include "base/array.h"
#include "base/context.h"
#include "carom/pack.h"

CAROM_RESULT_FILL(carom_packing_cells);

struct carom_packing {
    carom_allocator allocator;
    carom_packing_info info;
    carom_packing_sphere *spheres; /* info.spheres of them, radii descending */
    carom_packing_cell *cells;     /* NULL: not kept */
    uint64_t cell_count;
};

/* For tests and fuzzers: NULL, or the first invariant that does not hold. O(n^2). */
const char *carom_packing_validate(const carom_packing *packing);

#endif
