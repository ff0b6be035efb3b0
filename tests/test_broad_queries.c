/* SPDX-License-Identifier: MIT */
/* Boxes, rays and points against many boxes: every answer is that of a test of all boxes with 113
 * bits, which are exact for the coordinates used; for any threads and instruction set, at any
 * scale, after changes. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/broad.h"
#include "tests/support/campaign.h"
#include "tests/support/quad.h"
#include "tests/support/test.h"

#define MOST    300u
#define QUERIES 64u

static carom_bounds boxes[MOST];

/* Kinds whose coordinates have few enough bits for products to be exact in 113. */
static const broad_kind kinds[] = {BROAD_LATTICE, BROAD_FLAT,   BROAD_EMPTY, BROAD_ONE_POINT,
                                   BROAD_UNIFORM, BROAD_NEARLY, BROAD_COVER};

static bool is_empty(const carom_bounds *b) {
    return b->low.x > b->high.x || b->low.y > b->high.y || b->low.z > b->high.z;
}

/* ---- oracles --------------------------------------------------------------------------------- */

/* t as a fraction with a denominator above 0. */
typedef struct fraction {
    quad top, bottom;
} fraction;

static bool less(fraction a, fraction b) {
    return a.top * b.bottom < b.top * a.bottom;
}

static fraction at(double p, double o, double d) {
    quad top = (quad)p - (quad)o;
    return d > 0.0 ? (fraction){top, d} : (fraction){-top, -(quad)d};
}

static bool meets(const carom_ray *ray, const carom_bounds *box, fraction *enter) {
    const double *o = &ray->origin.x, *d = &ray->direction.x;
    const double *low = &box->low.x, *high = &box->high.x;
    fraction last = {ray->length > 0.0 && isfinite(ray->length) ? (quad)ray->length : (quad)1e300,
                     1};
    *enter = (fraction){0, 1};
    if (is_empty(box)) return false;
    for (int k = 0; k < 3; ++k) {
        if (d[k] == 0.0) {
            if (o[k] < low[k] || o[k] > high[k]) return false;
            continue;
        }
        fraction in = at(d[k] > 0.0 ? low[k] : high[k], o[k], d[k]);
        fraction out = at(d[k] > 0.0 ? high[k] : low[k], o[k], d[k]);
        if (less(*enter, in)) *enter = in;
        if (less(out, last)) last = out;
    }
    return !less(last, *enter);
}

static quad squared_distance(const carom_vec3 *point, const carom_bounds *box) {
    const double *p = &point->x, *low = &box->low.x, *high = &box->high.x;
    quad sum = 0;
    for (int k = 0; k < 3; ++k) {
        double to = p[k] < low[k] ? low[k] : p[k] > high[k] ? high[k] : p[k];
        quad gap = (quad)to - (quad)p[k];
        sum += gap * gap;
    }
    return sum;
}

/* ---- queries --------------------------------------------------------------------------------- */

/* A coordinate that often lies on bounds, with few bits. */
static double coordinate(broad_kind kind, carom_random *random) {
    if (kind == BROAD_LATTICE || kind == BROAD_FLAT)
        return (double)test_below(random, 25) * 0.5 - 1.0;
    return ldexp(floor(carom_random_between(random, -1.0, 7.0) * 1024.0), -10);
}

static carom_vec3 some_point(broad_kind kind, carom_random *random) {
    carom_vec3 p = {coordinate(kind, random), coordinate(kind, random), coordinate(kind, random)};
    if (test_below(random, 3) == 0) { /* on a corner of a box */
        const carom_bounds *b = &boxes[test_below(random, MOST)];
        p = (carom_vec3){test_below(random, 2) ? b->low.x : b->high.x,
                         test_below(random, 2) ? b->low.y : b->high.y,
                         test_below(random, 2) ? b->low.z : b->high.z};
    }
    return p;
}

static carom_ray some_ray(broad_kind kind, carom_random *random) {
    carom_ray ray = {.origin = some_point(kind, random)};
    do {
        ray.direction =
            (carom_vec3){(double)test_below(random, 9) - 4.0, (double)test_below(random, 9) - 4.0,
                         (double)test_below(random, 9) - 4.0};
        if (test_below(random, 2) == 0) ray.direction.y = 0.0;
        if (test_below(random, 2) == 0) ray.direction.z = 0.0;
    } while (ray.direction.x == 0.0 && ray.direction.y == 0.0 && ray.direction.z == 0.0);
    if (test_below(random, 2) == 0) ray.length = (double)(1 + test_below(random, 8)) * 0.25;
    return ray;
}

typedef struct queries {
    carom_bounds boxes[QUERIES];
    carom_ray rays[QUERIES];
    carom_vec3 points[QUERIES];
} queries;

typedef struct answers {
    carom_pairs of_boxes, of_rays;
    carom_hit first[QUERIES], nearest[QUERIES];
} answers;

static void run_queries(carom_context *context, const carom_broad *broad, const queries *q,
                        answers *a) {
    assert_ok(context, carom_broad_query_boxes(context, broad, q->boxes, QUERIES, &a->of_boxes));
    assert_ok(context, carom_broad_query_rays(context, broad, q->rays, QUERIES, &a->of_rays));
    assert_ok(context, carom_broad_cast_rays(context, broad, q->rays, QUERIES, a->first));
    assert_ok(context, carom_broad_closest_points(context, broad, q->points, QUERIES, a->nearest));
}

static void check_listed(const carom_pairs *pairs, uint64_t *at, uint32_t query, uint32_t id) {
    if (*at >= pairs->count || pairs->data[*at].a != query || pairs->data[*at].b != id)
        fail_msg("query %u, box %u is not in the list", query, id);
    ++*at;
}

/* Of a ray: the normal is that of one side, which it reaches at that time. Where t is beyond the
 * normal doubles, rounding may take another. */
static void check_side(const carom_hit *hit, const carom_ray *ray, fraction t) {
    const double *o = &ray->origin.x, *d = &ray->direction.x, *n = &hit->normal.x;
    int across = 0;
    for (int k = 0; k < 3; ++k) {
        if (n[k] == 0.0) continue;
        const carom_bounds *box = &boxes[hit->id];
        fraction there = at(d[k] > 0.0 ? (&box->low.x)[k] : (&box->high.x)[k], o[k], d[k]);
        assert_true(n[k] == (d[k] > 0.0 ? -1.0 : 1.0) && d[k] != 0.0);
        if (hit->distance >= DBL_MIN && hit->distance <= DBL_MAX)
            assert_true(!less(there, t) && !less(t, there));
        ++across;
    }
    bool enters = hit->id != CAROM_NONE && hit->distance > 0.0;
    assert_int_equal(across, enters ? 1 : 0);
    if (hit->id != CAROM_NONE && t.top == 0) assert_true(hit->distance == 0.0);
}

/* Of a ray: where it enters the box; the origin for nothing, and where it starts inside. */
static void check_entry(const carom_hit *hit, const carom_ray *ray, fraction t) {
    const double *o = &ray->origin.x, *d = &ray->direction.x, *p = &hit->point.x;
    assert_true(hit->face == CAROM_NONE && hit->error == 0.0);
    check_side(hit, ray, t);
    if (hit->id == CAROM_NONE || t.top == 0) {
        assert_memory_equal(p, o, sizeof(hit->point));
        return;
    }
    const double *low = &boxes[hit->id].low.x, *high = &boxes[hit->id].high.x;
    for (int k = 0; k < 3; ++k) {
        double exact = (double)((quad)o[k] + (quad)d[k] * t.top / t.bottom);
        double size = fabs(o[k]) + fabs(low[k]) + fabs(high[k]);
        assert_true(p[k] >= low[k] && p[k] <= high[k]);
        assert_true(fabs(p[k] - exact) <= 0x1p-49 * size);
        if ((&hit->normal.x)[k] != 0.0) assert_true(p[k] == (d[k] > 0.0 ? low[k] : high[k]));
    }
}

/* Of a point: the nearest of the box, and the way from there. */
static void check_nearest(const carom_hit *hit, const carom_vec3 *point) {
    const double *p = &point->x, *at_box = &hit->point.x, *n = &hit->normal.x;
    quad length = 0;
    assert_true(hit->face == CAROM_NONE && hit->error == 0.0);
    for (int k = 0; k < 3; ++k) {
        length += (quad)n[k] * n[k];
        if (hit->id == CAROM_NONE) {
            assert_true(at_box[k] == p[k] && n[k] == 0.0);
            continue;
        }
        double low = (&boxes[hit->id].low.x)[k], high = (&boxes[hit->id].high.x)[k];
        assert_true(at_box[k] == (p[k] < low ? low : p[k] > high ? high : p[k]));
        if (hit->distance == 0.0) assert_true(n[k] == 0.0);
        assert_true(fabs(hit->distance * n[k] - (p[k] - at_box[k])) <= 0x1p-49 * hit->distance);
    }
    if (hit->id != CAROM_NONE && hit->distance > 0.0)
        assert_true(fabs((double)(length - 1)) <= 0x1p-49);
}

static void check(const queries *q, const answers *a, uint32_t count) {
    uint64_t box_at = 0, ray_at = 0;
    for (uint32_t i = 0; i < QUERIES; ++i) {
        uint32_t first = CAROM_NONE, nearest = CAROM_NONE;
        fraction first_t = {0, 1}, t;
        quad least = 0;
        for (uint32_t id = 0; id < count; ++id) {
            if (broad_overlap(&q->boxes[i], &boxes[id])) check_listed(&a->of_boxes, &box_at, i, id);
            if (meets(&q->rays[i], &boxes[id], &t)) {
                check_listed(&a->of_rays, &ray_at, i, id);
                if (first == CAROM_NONE || less(t, first_t)) {
                    first = id;
                    first_t = t;
                }
            }
            if (is_empty(&boxes[id])) continue;
            quad squared = squared_distance(&q->points[i], &boxes[id]);
            if (nearest == CAROM_NONE || squared < least) {
                nearest = id;
                least = squared;
            }
        }
        assert_int_equal(a->first[i].id, first);
        assert_int_equal(a->nearest[i].id, nearest);
        check_entry(&a->first[i], &q->rays[i], first_t);
        check_nearest(&a->nearest[i], &q->points[i]);
        if (first == CAROM_NONE) {
            assert_true(isinf(a->first[i].distance));
        } else {
            double exact = (double)(first_t.top / first_t.bottom);
            assert_true(fabs(a->first[i].distance - exact) <= 0x1p-51 * exact);
        }
        if (nearest == CAROM_NONE) {
            assert_true(isinf(a->nearest[i].distance));
        } else {
            double exact = (double)quad_sqrt(least);
            assert_true(fabs(a->nearest[i].distance - exact) <= 0x1p-50 * exact);
        }
    }
    assert_int_equal(box_at, a->of_boxes.count);
    assert_int_equal(ray_at, a->of_rays.count);
}

static void make_queries(broad_kind kind, carom_random *random, queries *q) {
    for (uint32_t i = 0; i < QUERIES; ++i) {
        q->boxes[i] = broad_box(kind, random);
        q->rays[i] = some_ray(kind, random);
        q->points[i] = some_point(kind, random);
    }
}

static void queries_equal_the_oracle(void **state) {
    (void)state;
    static queries q;
    static answers a;
    carom_random random = {181};
    carom_context *context = test_context(2);
    uint64_t rounds = campaign_is_long() ? 300 : 12;
    for (uint32_t k = 0; k < COUNT_OF(kinds); ++k) {
        for (uint64_t round = 0; round < rounds; ++round) {
            carom_broad *broad;
            uint32_t count = round == 0 ? 0 : round == 1 ? 1 : 1 + test_below(&random, MOST);
            broad_boxes(kinds[k], &random, boxes, MOST);
            make_queries(kinds[k], &random, &q);
            carom_broad_def def = {.boxes = boxes, .box_count = count};
            assert_ok(context, carom_broad_create(context, &def, &broad));
            run_queries(context, broad, &q, &a);
            check(&q, &a, count);
            /* After some of them moved. */
            uint32_t some = count / (1 + test_below(&random, 20));
            broad_boxes(kinds[k], &random, boxes, some);
            assert_ok(context, carom_broad_move(context, broad, NULL, boxes, some));
            assert_ok(context, carom_broad_commit(context, broad));
            run_queries(context, broad, &q, &a);
            check(&q, &a, count);
            carom_broad_destroy(broad);
        }
    }
    carom_pairs_free(&a.of_boxes);
    carom_pairs_free(&a.of_rays);
    carom_context_destroy(context);
}

/* ---- scale ----------------------------------------------------------------------------------- */

static carom_vec3 scaled(carom_vec3 v, double by) {
    return (carom_vec3){v.x * by, v.y * by, v.z * by};
}

/* Everything multiplied by a power of two: the same ids, distances multiplied; so are directions,
 * by another power. */
static void scale_changes_nothing(void **state) {
    (void)state;
    static queries q, moved;
    static answers a, b;
    static carom_bounds larger[MOST];
    static const int powers[] = {-1000, -500, -200, -60, 30, 90, 130, 400, 990};
    carom_random random = {182};
    carom_context *context = test_context(1);
    for (uint32_t k = 0; k < COUNT_OF(kinds); ++k) {
        carom_broad *broad;
        broad_boxes(kinds[k], &random, boxes, MOST);
        make_queries(kinds[k], &random, &q);
        carom_broad_def def = {.boxes = boxes, .box_count = MOST};
        assert_ok(context, carom_broad_create(context, &def, &broad));
        run_queries(context, broad, &q, &a);
        check(&q, &a, MOST);
        carom_broad_destroy(broad);
        for (uint32_t p = 0; p < COUNT_OF(powers); ++p) {
            double by = ldexp(1.0, powers[p]), step = ldexp(1.0, -powers[(p + 3) % 9]);
            if (kinds[k] == BROAD_UNIFORM && powers[p] < -900) continue; /* would lose bits */
            for (uint32_t i = 0; i < MOST; ++i) {
                larger[i].low = scaled(boxes[i].low, by);
                larger[i].high = scaled(boxes[i].high, by);
            }
            for (uint32_t i = 0; i < QUERIES; ++i) {
                moved.boxes[i].low = scaled(q.boxes[i].low, by);
                moved.boxes[i].high = scaled(q.boxes[i].high, by);
                moved.points[i] = scaled(q.points[i], by);
                moved.rays[i] = q.rays[i];
                moved.rays[i].origin = scaled(q.rays[i].origin, by);
                moved.rays[i].direction = scaled(q.rays[i].direction, step);
                moved.rays[i].length = 0.0;
            }
            def.boxes = larger;
            assert_ok(context, carom_broad_create(context, &def, &broad));
            run_queries(context, broad, &moved, &b);
            assert_int_equal(a.of_boxes.count, b.of_boxes.count);
            assert_memory_equal(a.of_boxes.data, b.of_boxes.data,
                                a.of_boxes.count * sizeof(*a.of_boxes.data));
            uint64_t at = 0;
            for (uint32_t i = 0; i < QUERIES; ++i) {
                fraction t;
                uint32_t first = CAROM_NONE;
                fraction first_t = {0, 1};
                carom_ray ray = q.rays[i];
                ray.length = 0.0;
                for (uint32_t id = 0; id < MOST; ++id) {
                    if (!meets(&ray, &boxes[id], &t)) continue;
                    check_listed(&b.of_rays, &at, i, id);
                    if (first == CAROM_NONE || less(t, first_t)) {
                        first = id;
                        first_t = t;
                    }
                }
                assert_int_equal(b.first[i].id, first);
                check_side(&b.first[i], &ray, first_t);
                assert_int_equal(b.nearest[i].id, a.nearest[i].id);
                if (powers[p] < 400)
                    assert_true(b.nearest[i].distance == a.nearest[i].distance * by);
            }
            carom_broad_destroy(broad);
        }
    }
    carom_pairs_free(&a.of_boxes);
    carom_pairs_free(&a.of_rays);
    carom_pairs_free(&b.of_boxes);
    carom_pairs_free(&b.of_rays);
    carom_context_destroy(context);
}

/* Two boxes that are equally near have the same nearest point here, or nearest points on both sides
 * along some axes: with coordinates of all exponents no other tie comes up. */
static void assert_equally_near(const carom_vec3 *point, uint32_t a, uint32_t b) {
    const double *p = &point->x;
    for (int k = 0; k < 3 && a != b; ++k) {
        double at_a = fmin(fmax(p[k], (&boxes[a].low.x)[k]), (&boxes[a].high.x)[k]);
        double at_b = fmin(fmax(p[k], (&boxes[b].low.x)[k]), (&boxes[b].high.x)[k]);
        assert_true(at_a == at_b || (quad)at_a + (quad)at_b == 2 * (quad)p[k]);
    }
}

/* Two boxes that a ray enters first, at the same time: here only through one plane, as some bounds
 * are shared by many boxes. Each order of the boxes gives the one that is first in it. */
static void assert_entered_together(const carom_ray *ray, const carom_hit *a, uint32_t b_in_a,
                                    const carom_hit *b, uint32_t a_in_b) {
    const double *o = &ray->origin.x, *d = &ray->direction.x;
    const carom_bounds *first = &boxes[a->id], *second = &boxes[b_in_a];
    bool together = false;
    if (a->id == b_in_a) return;
    for (int k = 0; k < 3; ++k) {
        if (d[k] == 0.0) continue;
        double p = (d[k] > 0.0 ? &first->low.x : &first->high.x)[k];
        if (p != (d[k] > 0.0 ? &second->low.x : &second->high.x)[k]) continue;
        fraction t = at(p, o[k], d[k]);
        double exact = (double)(t.top / t.bottom);
        together = together || fabs(a->distance - exact) <= 0x1p-51 * exact;
    }
    assert_true(together);
    assert_true(a->id < b_in_a && b->id < a_in_b);
}

/* Boxes and queries of all exponents at once: whatever the rounding, the answers of all boxes in
 * random order are the same. */
static void order_changes_nothing(void **state) {
    (void)state;
    static queries q;
    static answers a, b;
    static carom_bounds other[MOST];
    uint32_t id_of[MOST], slot_of[MOST];
    carom_random random = {183};
    carom_context *context = test_context(1);
    for (uint32_t round = 0; round < (campaign_is_long() ? 200u : 10u); ++round) {
        broad_kind kind = round % 2 == 0 ? BROAD_LARGEST : BROAD_HUGE;
        carom_broad *broad;
        broad_boxes(kind, &random, boxes, MOST);
        for (uint32_t i = 0; i < QUERIES; ++i) {
            q.boxes[i] = broad_box(kind, &random);
            q.points[i] = broad_box(kind, &random).low;
            q.rays[i] = (carom_ray){broad_box(kind, &random).low, broad_box(kind, &random).high, 0};
            if (q.rays[i].direction.x == 0.0) q.rays[i].direction.x = 1.0;
        }
        for (uint32_t i = 0; i < MOST; ++i) id_of[i] = i;
        for (uint32_t i = MOST - 1; i > 0; --i) {
            uint32_t j = test_below(&random, i + 1), swap = id_of[i];
            id_of[i] = id_of[j];
            id_of[j] = swap;
        }
        for (uint32_t i = 0; i < MOST; ++i) {
            other[i] = boxes[id_of[i]];
            slot_of[id_of[i]] = i;
        }
        carom_broad_def def = {.boxes = boxes, .box_count = MOST};
        assert_ok(context, carom_broad_create(context, &def, &broad));
        run_queries(context, broad, &q, &a);
        carom_broad_destroy(broad);
        def.boxes = other;
        assert_ok(context, carom_broad_create(context, &def, &broad));
        run_queries(context, broad, &q, &b);
        carom_broad_destroy(broad);
        uint64_t count = 0;
        for (uint32_t i = 0; i < QUERIES; ++i) {
            for (uint32_t id = 0; id < MOST; ++id)
                if (broad_overlap(&q.boxes[i], &boxes[id]))
                    check_listed(&a.of_boxes, &count, i, id);
            assert_true(a.nearest[i].distance == b.nearest[i].distance);
            assert_true(a.first[i].distance == b.first[i].distance);
            if (a.first[i].distance > 0.0 && a.first[i].id != CAROM_NONE)
                assert_entered_together(&q.rays[i], &a.first[i], id_of[b.first[i].id], &b.first[i],
                                        slot_of[a.first[i].id]);
            if (a.nearest[i].distance > 0.0)
                assert_equally_near(&q.points[i], a.nearest[i].id, id_of[b.nearest[i].id]);
        }
        assert_int_equal(count, a.of_boxes.count);
        assert_int_equal(a.of_rays.count, b.of_rays.count);
    }
    carom_pairs_free(&a.of_boxes);
    carom_pairs_free(&a.of_rays);
    carom_pairs_free(&b.of_boxes);
    carom_pairs_free(&b.of_rays);
    carom_context_destroy(context);
}

/* A box far larger than all others, and far away from them. */
static void queries_may_be_huge(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {186};
    carom_pairs pairs = {0};
    const carom_bounds huge[3] = {{{-1e308, -1e308, -1e308}, {1e308, 1e308, 1e308}},
                                  {{1e300, 0, 0}, {1e301, 9, 9}},
                                  {{-1e308, 1, 1}, {1.5, 2, 2}}};
    for (uint32_t count = 1; count < MOST; count += 7) {
        carom_broad *broad;
        uint64_t at = 0;
        broad_boxes(BROAD_EMPTY, &random, boxes, count);
        carom_broad_def def = {.boxes = boxes, .box_count = count};
        assert_ok(context, carom_broad_create(context, &def, &broad));
        assert_ok(context, carom_broad_query_boxes(context, broad, huge, 3, &pairs));
        for (uint32_t i = 0; i < 3; ++i)
            for (uint32_t id = 0; id < count; ++id)
                if (broad_overlap(&huge[i], &boxes[id])) check_listed(&pairs, &at, i, id);
        assert_int_equal(at, pairs.count);
        carom_broad_destroy(broad);
    }
    carom_pairs_free(&pairs);
    carom_context_destroy(context);
}

static void threads_and_isas_change_nothing(void **state) {
    (void)state;
    static queries q;
    static answers a;
    carom_random random = {184};
    broad_boxes(BROAD_UNIFORM, &random, boxes, MOST);
    make_queries(BROAD_UNIFORM, &random, &q);
    for (uint32_t threads = 1; threads < 4; ++threads) {
        for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
            carom_context *context = test_context_isa(threads, (carom_isa)isa);
            carom_broad *broad;
            if (context == NULL) continue;
            carom_broad_def def = {.boxes = boxes, .box_count = MOST};
            assert_ok(context, carom_broad_create(context, &def, &broad));
            run_queries(context, broad, &q, &a);
            check(&q, &a, MOST);
            carom_broad_destroy(broad);
            carom_context_destroy(context);
        }
    }
    carom_pairs_free(&a.of_boxes);
    carom_pairs_free(&a.of_rays);
}

static void bad_queries_get_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {185};
    carom_broad *broad;
    carom_pairs pairs = {0};
    carom_hit hit;
    broad_boxes(BROAD_UNIFORM, &random, boxes, MOST);
    carom_broad_def def = {.boxes = boxes, .box_count = MOST};
    assert_ok(context, carom_broad_create(context, &def, &broad));
    carom_ray ray = {{0, 0, 0}, {0, 0, 0}, 0};
    carom_vec3 point = {0, (double)INFINITY, 0};
    carom_bounds box = {{0, 0, 0}, {1, 1, (double)NAN}};
    assert_fails(context, carom_broad_query_rays(context, broad, &ray, 1, &pairs), CAROM_BAD_INPUT,
                 "(0, 0, 0)");
    ray.direction.x = (double)NAN;
    assert_fails(context, carom_broad_cast_rays(context, broad, &ray, 1, &hit), CAROM_BAD_INPUT,
                 "ray 0");
    ray.direction.x = 1.0;
    ray.length = -1.0;
    assert_fails(context, carom_broad_cast_rays(context, broad, &ray, 1, &hit), CAROM_BAD_INPUT,
                 "negative length");
    assert_fails(context, carom_broad_closest_points(context, broad, &point, 1, &hit),
                 CAROM_BAD_INPUT, "point 0");
    assert_fails(context, carom_broad_query_boxes(context, broad, &box, 1, &pairs), CAROM_BAD_INPUT,
                 "box 0");
    carom_broad_destroy(broad);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_equal_the_oracle),
        cmocka_unit_test(scale_changes_nothing),
        cmocka_unit_test(order_changes_nothing),
        cmocka_unit_test(queries_may_be_huge),
        cmocka_unit_test(threads_and_isas_change_nothing),
        cmocka_unit_test(bad_queries_get_a_message),
    };
    return cmocka_run_group_tests_name("broad_queries", tests, NULL, NULL);
}
