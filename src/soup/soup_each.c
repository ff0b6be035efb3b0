/* SPDX-License-Identifier: MIT */
/* All triangles of one soup with all of another, by boxes in doubles: slow, and right at any scale.
 *
 * For placings that boxes in float32 cannot hold: a speck beside a planet, soups as far apart as
 * doubles reach. The posed corners themselves are compared, which no rounding can spoil. */
#include "soup/soup_place.h"

typedef struct posed_box {
    carom_vec3 low, high;
} posed_box;

static posed_box box_of(const carom_triangle *t) {
    posed_box box = {t->corner[0], t->corner[0]};
    for (int i = 1; i < 3; ++i) {
        carom_vec3 p = t->corner[i];
        box.low = carom_vec(CAROM_MIN(p.x, box.low.x), CAROM_MIN(p.y, box.low.y),
                            CAROM_MIN(p.z, box.low.z));
        box.high = carom_vec(CAROM_MAX(p.x, box.high.x), CAROM_MAX(p.y, box.high.y),
                             CAROM_MAX(p.z, box.high.z));
    }
    return box;
}

static posed_box join(posed_box a, posed_box b) {
    return (posed_box){carom_vec(CAROM_MIN(a.low.x, b.low.x), CAROM_MIN(a.low.y, b.low.y),
                                 CAROM_MIN(a.low.z, b.low.z)),
                       carom_vec(CAROM_MAX(a.high.x, b.high.x), CAROM_MAX(a.high.y, b.high.y),
                                 CAROM_MAX(a.high.z, b.high.z))};
}

/* Differences round to nearest, so a gap of more than `limit` stays at least `limit`. */
static bool near(const posed_box *a, const posed_box *b, double limit) {
    return a->low.x - b->high.x <= limit && b->low.x - a->high.x <= limit &&
           a->low.y - b->high.y <= limit && b->low.y - a->high.y <= limit &&
           a->low.z - b->high.z <= limit && b->low.z - a->high.z <= limit;
}

/* Of all triangles that are searched; those that are not get a box that is near nothing. */
static posed_box *boxes_of(const carom_soup_side *side, carom_arena *scratch, posed_box *all) {
    const carom_soup *soup = side->soup;
    posed_box *boxes = CAROM_ARENA_TAKE(scratch, posed_box, soup->triangle_count);
    posed_box nowhere = {carom_vec(HUGE_VAL, HUGE_VAL, HUGE_VAL),
                         carom_vec(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL)};
    *all = nowhere;
    for (uint32_t i = 0; boxes != NULL && i < soup->triangle_count; ++i) {
        boxes[i] = nowhere;
        if (!carom_soup_searched(soup, i)) continue;
        carom_triangle t = carom_soup_posed(side, i);
        boxes[i] = box_of(&t);
        *all = join(*all, boxes[i]);
    }
    return boxes;
}

static bool compare(const carom_soup_placing *placing, const posed_box *boxes_a,
                    const posed_box *boxes_b, const posed_box *all_a, const double *limit,
                    carom_soup_each_fn *fn, void *user) {
    for (uint32_t b = 0; b < placing->b.soup->triangle_count; ++b) {
        if (!carom_soup_searched(placing->b.soup, b) || !near(&boxes_b[b], all_a, *limit)) continue;
        carom_triangle posed_b = carom_soup_posed(&placing->b, b);
        for (uint32_t a = 0; a < placing->a.soup->triangle_count; ++a) {
            if (!carom_soup_searched(placing->a.soup, a) || !near(&boxes_a[a], &boxes_b[b], *limit))
                continue;
            carom_triangle posed_a = carom_soup_posed(&placing->a, a);
            if (!fn(user, a, b, &posed_a, &posed_b)) return false;
        }
    }
    return true;
}

carom_status carom_soup_each_two(carom_context *context, const carom_soup_placing *placing,
                                 const double *limit, carom_soup_each_fn *fn, void *user) {
    carom_arena *scratch = carom_scratch(context, 0);
    posed_box all_a, all_b;
    posed_box *a = boxes_of(&placing->a, scratch, &all_a);
    posed_box *b = boxes_of(&placing->b, scratch, &all_b);
    if (a == NULL || b == NULL) {
        uint64_t count =
            (uint64_t)placing->a.soup->triangle_count + placing->b.soup->triangle_count;
        return carom_fail_memory(context, count * sizeof(posed_box), "comparing two soups");
    }
    (void)compare(placing, a, b, &all_a, limit, fn, user);
    return CAROM_OK;
}
