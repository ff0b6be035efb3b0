/* SPDX-License-Identifier: MIT */
/* The invariants of a packing, as code: for tests and fuzzers. Disjointness is decided in doubles,
 * with a margin for their rounding; tests/support/pack_check.c decides it exactly. */
#include <float.h>

#include "geom/length.h"
#include "pack/pack.h"

static const char *pack_validate_check_sphere(const carom_packing *p, uint64_t i) {
    const carom_packing_sphere *s = &p->spheres[i];
    if (!carom_vec_finite(s->centre)) return "pack: a centre is not finite";
    if (!(s->radius > 0.0 && s->radius <= DBL_MAX))
        return "pack: a radius is not positive and finite";
    if (i > 0 && s->radius > s[-1].radius) return "pack: radii do not descend";
    if (p->info.shares && !(s->cover >= s->radius))
        return "pack: a cover is smaller than its radius";
    if (!(s->secondary >= 0.0 && s->void_volume >= 0.0)) return "pack: a share is negative";
    for (uint64_t k = 0; k < i; ++k) {
        const carom_packing_sphere *t = &p->spheres[k];
        double apart = carom_length(carom_vec_sub(s->centre, t->centre));
        double size = carom_vec_largest(s->centre) + s->radius + t->radius;
        if (apart < s->radius + t->radius - CAROM_SPHERES_CHECK_ROUNDING * size)
            return "pack: two balls overlap";
    }
    return NULL;
}

static const char *check_cell(const carom_packing *p, const carom_packing_cell *c) {
    if (c->sphere >= p->info.spheres) return "pack: a cell belongs to no sphere";
    if (!(c->edge > 0.0)) return "pack: a cell has no edge";
    const carom_packing_sphere *s = &p->spheres[c->sphere];
    bool held = carom_spheres_hold_cell(s->centre, s->cover, c);
    return held ? NULL : "pack: a cell is not in its cover";
}

const char *carom_packing_validate(const carom_packing *packing) {
    uint64_t count = packing->info.spheres;
    const char *broken = NULL;
    for (uint64_t i = 0; i < count && broken == NULL; ++i)
        broken = pack_validate_check_sphere(packing, i);
    for (uint64_t i = 0; i < packing->cell_count && broken == NULL; ++i)
        broken = check_cell(packing, &packing->cells[i]);
    if (broken != NULL) return broken;
    double last = count != 0 ? packing->spheres[count - 1].radius : 0.0;
    return packing->info.least_radius == last ? NULL
                                              : "pack: least_radius is not that of the last sphere";
}
