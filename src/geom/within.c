/* SPDX-License-Identifier: MIT */
/* Whether two triangles are within a given distance, in integers of any length: the items of
 * within_exact_item.h. */
#include "geom/within.h"

#include "geom/within_exact_item.h"

bool carom_within_exact(const carom_triangle *a, const carom_triangle *b, double reach) {
    return carom_within_in_integers(a, b, reach);
}
