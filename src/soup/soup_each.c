/* SPDX-License-Identifier: MIT */
/* Comparison of all triangles of one soup with all of another, by boxes in doubles; correct at any
 * scale.
 *
 * It serves posed pairs that boxes in float32 cannot represent: soups of very different sizes, or
 * very far apart. The posed corners themselves are compared, so rounding loses no pair. Besides x,
 * y and z there may be a fourth axis, the direction from a to b. For soups far apart only the
 * foremost triangles along it can be nearest, so few triangles are left to compare. */
#include "base/progress.h"
#include "geom/length.h"
#include "soup/soup.h"
#include "soup/soup_posed_pair.h"

typedef struct posed_box {
    carom_vec3 low, high;
    double low_along, high_along; /* rounded */
    uint32_t triangle;
} posed_box;

typedef struct soup_each_boxes {
    posed_box *data;
    uint32_t count;
    posed_box all;
} soup_each_boxes;

static posed_box box_nowhere(void) {
    return (posed_box){.low = carom_vec(HUGE_VAL, HUGE_VAL, HUGE_VAL),
                       .high = carom_vec(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL),
                       .low_along = HUGE_VAL,
                       .high_along = -HUGE_VAL};
}

static posed_box soup_each_join(posed_box a, const posed_box *b) {
    a.low = carom_vec(CAROM_MIN(b->low.x, a.low.x), CAROM_MIN(b->low.y, a.low.y),
                      CAROM_MIN(b->low.z, a.low.z));
    a.high = carom_vec(CAROM_MAX(b->high.x, a.high.x), CAROM_MAX(b->high.y, a.high.y),
                       CAROM_MAX(b->high.z, a.high.z));
    a.low_along = CAROM_MIN(b->low_along, a.low_along);
    a.high_along = CAROM_MAX(b->high_along, a.high_along);
    return a;
}

static posed_box soup_each_box_of(const carom_soup_side *side, uint32_t triangle,
                                  carom_vec3 along) {
    carom_triangle t = carom_soup_posed(side, triangle);
    posed_box box = box_nowhere();
    for (int i = 0; i < 3; ++i) {
        carom_vec3 p = t.corner[i];
        double at = carom_vec_dot(p, along);
        posed_box point = {.low = p, .high = p, .low_along = at, .high_along = at};
        box = soup_each_join(box, &point);
    }
    box.triangle = triangle;
    return box;
}

/* Error of a comparison with a limit, relative to the largest coordinate M. A limit is a measured
 * distance, off by 1e-15 of an extent of at most 2 sqrt(3) M: less than 2^-48 M. Two positions
 * along the direction have 3 roundings each of at most 2^-53 sqrt(3) M, and their difference has
 * one: less than 2^-49 M. This is more than twice the sum. */
#define EACH_LIMIT_ERROR 0x1p-46

/* Whether two boxes are at most `limit` apart. Differences round to nearest, which is monotone, so
 * no gap within the limit is rounded above it. A NaN along the direction, from sums out of range,
 * does not separate boxes. */
static bool soup_each_is_near(const posed_box *a, const posed_box *b, double limit) {
    return a->low.x - b->high.x <= limit && b->low.x - a->high.x <= limit &&
           a->low.y - b->high.y <= limit && b->low.y - a->high.y <= limit &&
           a->low.z - b->high.z <= limit && b->low.z - a->high.z <= limit &&
           !(b->low_along - a->high_along > limit);
}

/* Box comparisons between two checks of the clock, and the number of comparisons that a call of fn
 * counts for. A call may take a millisecond. */
#define WORK_PER_CHECK 65536u
#define WORK_OF_CALL   2048u

/* The boxes of all triangles that are searched. */
static carom_status boxes_make(carom_context *context, const carom_soup_side *side,
                               carom_vec3 along, soup_each_boxes *out) {
    const carom_soup *soup = side->soup;
    uint32_t count = side->end - side->first;
    out->data = CAROM_ARENA_TAKE(carom_scratch(context, 0), posed_box, count);
    out->count = 0;
    out->all = box_nowhere();
    if (out->data == NULL)
        return carom_fail_memory(context, count * sizeof(posed_box), "comparing two soups");
    for (uint32_t i = side->first; i < side->end; ++i) {
        if (i % WORK_PER_CHECK == 0) CAROM_TRY(carom_progress_look(context));
        if (!carom_soup_searched(soup, i)) continue;
        posed_box box = soup_each_box_of(side, i, along);
        out->data[out->count++] = box;
        out->all = soup_each_join(out->all, &box);
    }
    return CAROM_OK;
}

/* Calls fn for one pair; false if fn stops the search. */
static bool call(const carom_soup_posed_pair *posed, const posed_box *a, const posed_box *b,
                 carom_soup_each_fn *fn, void *user) {
    carom_triangle posed_a = carom_soup_posed(&posed->a, a->triangle);
    carom_triangle posed_b = carom_soup_posed(&posed->b, b->triangle);
    return fn(user, a->triangle, b->triangle, &posed_a, &posed_b);
}

/* Calls fn for the foremost triangle of each soup, which sets a first limit. */
static bool call_foremost(const carom_soup_posed_pair *posed, const soup_each_boxes *a,
                          const soup_each_boxes *b, carom_soup_each_fn *fn, void *user) {
    uint32_t last = 0, first = 0;
    for (uint32_t i = 1; i < a->count; ++i)
        if (a->data[i].high_along > a->data[last].high_along) last = i;
    for (uint32_t i = 1; i < b->count; ++i)
        if (b->data[i].low_along < b->data[first].low_along) first = i;
    return call(posed, &a->data[last], &b->data[first], fn, user);
}

static void soup_each_compare(carom_context *context, const carom_soup_posed_pair *posed,
                              soup_each_boxes *a, soup_each_boxes *b, const double *limit,
                              double slack, carom_soup_each_fn *fn, void *user) {
    uint32_t kept = 0;
    uint64_t work = 0;
    for (uint32_t i = 0; i < a->count; ++i)
        if (soup_each_is_near(&a->data[i], &b->all, *limit + slack)) a->data[kept++] = a->data[i];
    a->count = kept;
    for (uint32_t k = 0; k < b->count; ++k) {
        const posed_box *box = &b->data[k];
        if (!soup_each_is_near(&a->all, box, *limit + slack)) continue;
        for (uint32_t i = 0; i < a->count; ++i) {
            if (!soup_each_is_near(&a->data[i], box, *limit + slack)) continue;
            if (!call(posed, &a->data[i], box, fn, user)) return;
            work += WORK_OF_CALL;
            if (work < WORK_PER_CHECK) continue;
            work = 0;
            if (carom_progress_stop(context, 0)) return;
        }
        work += a->count;
        if (work < WORK_PER_CHECK) continue;
        work = 0;
        if (carom_progress_stop(context, 0)) return;
    }
}

carom_status carom_soup_each_two(carom_context *context, const carom_soup_posed_pair *posed,
                                 carom_vec3 along, const double *limit, carom_soup_each_fn *fn,
                                 void *user) {
    soup_each_boxes a, b;
    CAROM_TRY(boxes_make(context, &posed->a, along, &a));
    CAROM_TRY(boxes_make(context, &posed->b, along, &b));
    if (a.count == 0 || b.count == 0) return CAROM_OK;
    double size = CAROM_MAX(carom_vec_largest(a.all.low), carom_vec_largest(a.all.high));
    size = CAROM_MAX(carom_vec_largest(b.all.low), size);
    size = CAROM_MAX(carom_vec_largest(b.all.high), size);
    double slack = *limit > 0.0 ? EACH_LIMIT_ERROR * size : 0.0;
    bool directed = carom_vec_largest(along) > 0.0;
    if (directed && !call_foremost(posed, &a, &b, fn, user)) return CAROM_OK;
    soup_each_compare(context, posed, &a, &b, limit, slack, fn, user);
    return carom_progress_look(context);
}
