/* SPDX-License-Identifier: MIT */
/* The invariants of a packing, as code: for tests and fuzzers. Disjointness is decided in doubles,
 * with a margin for their rounding; tests/support/pack_check.c decides it exactly. */
#include <float.h>

#include "geom/length.h"
#include "pack/pack.h"
#include "pack/pack_cover.h"

/* Relative to the largest number: some ten operations of 2^-53 each, times nine. */
#define VALIDATE_ROUNDING 1e-14

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
        if (apart < s->radius + t->radius - VALIDATE_ROUNDING * size)
            return "pack: two balls overlap";
    }
    return NULL;
}

static bool is_in_cover(const carom_packing_sphere *s, const carom_packing_cell *c) {
    double half = 0.5 * c->edge;
    carom_vec3 middle = carom_vec_add(c->low, carom_vec(half, half, half));
    carom_vec3 away = carom_vec_sub(middle, s->centre);
    carom_vec3 far = carom_vec(fabs(away.x) + half, fabs(away.y) + half, fabs(away.z) + half);
    double size = carom_vec_largest(c->low) + s->cover;
    return carom_length(far) <= s->cover + VALIDATE_ROUNDING * size;
}

static const char *check_cell(const carom_packing *p, const carom_packing_cell *c) {
    if (c->sphere >= p->info.spheres) return "pack: a cell belongs to no sphere";
    if (!(c->edge > 0.0)) return "pack: a cell has no edge";
    return is_in_cover(&p->spheres[c->sphere], c) ? NULL : "pack: a cell is not in its cover";
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

static const char *pack_validate_check_ball(const carom_cover *c, uint64_t i) {
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
        broken = pack_validate_check_ball(cover, i);
    for (uint64_t i = 0; i < cover->cell_count && broken == NULL; ++i) {
        const carom_packing_cell *c = &cover->cells[i];
        if (c->sphere >= cover->info.spheres) return "cover: a cell belongs to no sphere";
        carom_packing_sphere s = {.centre = cover->spheres[c->sphere].centre,
                                  .cover = cover->spheres[c->sphere].radius - cover->info.margin};
        if (!is_in_cover(&s, c)) broken = "cover: a cell is not in its sphere";
    }
    if (broken != NULL) return broken;
    return m->worst.lower <= m->worst.upper && m->mean <= m->worst.upper && m->mean >= 0.0
               ? NULL
               : "cover: distances are not in order";
}
