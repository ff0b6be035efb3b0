/* SPDX-License-Identifier: MIT */
/* The invariants of a cover, as code: for tests and fuzzers. */
#include <float.h>

#include "cover/cover.h"
#include "geom/length.h"
#include "spheres/spheres.h"

static const char *cover_validate_ball(const carom_cover *c, uint64_t i) {
    const carom_ball *s = &c->spheres[i];
    if (!carom_vec_finite(s->centre)) return "cover: a centre is not finite";
    if (!(s->radius > 0.0 && s->radius <= DBL_MAX))
        return "cover: a radius is not positive and finite";
    return i > 0 && s->radius > s[-1].radius ? "cover: radii do not descend" : NULL;
}

const char *carom_cover_validate(const carom_cover *cover) {
    const carom_cover_measure *m = &cover->info.measure;
    const char *broken = NULL;
    for (uint64_t i = 0; i < cover->info.spheres && broken == NULL; ++i)
        broken = cover_validate_ball(cover, i);
    for (uint64_t i = 0; i < cover->cell_count && broken == NULL; ++i) {
        const carom_packing_cell *c = &cover->cells[i];
        if (c->sphere >= cover->info.spheres) return "cover: a cell belongs to no sphere";
        const carom_ball *s = &cover->spheres[c->sphere];
        if (!carom_spheres_hold_cell(s->centre, s->radius - cover->info.margin, c))
            broken = "cover: a cell is not in its sphere";
    }
    if (broken != NULL) return broken;
    return m->worst.lower <= m->worst.upper && m->mean <= m->worst.upper && m->mean >= 0.0
               ? NULL
               : "cover: distances are not in order";
}
