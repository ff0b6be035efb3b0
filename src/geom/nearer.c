/* SPDX-License-Identifier: MIT */
/* Which of two triangles is nearer to a point, for the ties that doubles leave open: filters in
 * doubles (nearer_item.h), which decide nearly all, then integers (nearer_exact_item.h). */
#include "geom/nearer.h"

#include "geom/nearer_exact_item.h"
#include "geom/nearer_item.h"

bool carom_not_farther(carom_vec3 point, const carom_triangle *a, const carom_triangle *b) {
    int verdict = carom_not_farther_filter(point, a, b);
    return verdict == CAROM_UNDECIDED ? carom_not_farther_in_integers(point, a, b)
                                      : verdict == CAROM_YES;
}
