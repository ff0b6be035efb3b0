/* SPDX-License-Identifier: MIT */
/* The grid: every pair of overlapping boxes once and only once, for every hash, any number of
 * buckets, any sizes of cells, threads and instruction sets; levels and cells as the text says; the
 * same bytes everywhere. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "grid/grid_bound.h"
#include "grid/grid_cpu.h"
#include "tests/support/campaign.h"
#include "tests/support/grid_cloth.h"
#include "tests/support/grid_items.h"
#include "tests/support/test.h"

#define MOST 600u

typedef struct boxes {
    uint32_t count;
    carom_box data[MOST];
} boxes;

static void give_boxes(const void *user, const uint32_t *items, uint32_t first, uint32_t count,
                       carom_box *out) {
    const boxes *b = user;
    for (uint32_t i = 0; i < count; ++i) out[i] = b->data[items != NULL ? items[i] : first + i];
}

/* What the sets are like. */
enum { LATTICE, MIXED, HUGE_RATIO, FAR_AWAY, POINTS, KINDS };

/* About 2^e with e between the two, without libm, which is not the same everywhere. */
static double about_power(carom_random *random, double low, double high) {
    double e = carom_random_between(random, low, high), whole = (double)(int)(e + 100.0) - 100.0;
    return ldexp(1.0 + (e - whole), (int)whole);
}

static void make_boxes(carom_random *random, int kind, uint32_t count, boxes *b) {
    b->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        carom_box *box = &b->data[i];
        double size = kind == MIXED        ? about_power(random, -6.0, 1.0)
                      : kind == HUGE_RATIO ? about_power(random, -40.0, 0.0)
                                           : 1.0;
        for (int k = 0; k < 3; ++k) {
            double low = carom_random_between(random, 0.0, 4.0);
            if (kind == HUGE_RATIO) low = (low - 2.0) * about_power(random, -40.0, 0.0);
            double high = low + size * carom_random_uniform(random);
            if (kind == LATTICE || kind == FAR_AWAY) {
                low = (double)test_below(random, 9);
                high = low + (double)test_below(random, 4);
            }
            if (kind == FAR_AWAY) low += 1e6, high += 1e6;
            if (kind == POINTS) low = high = (double)test_below(random, 4);
            box->low[k] = (float)low;
            box->high[k] = (float)high;
        }
        if (test_below(random, 16) == 0) *box = carom_box_empty();
    }
}

/* ---- what the search finds ------------------------------------------------------------------- */

typedef struct totals {
    uint8_t *seen; /* how often each (a, b) */
    uint32_t rows, columns;
    const uint32_t *items_a, *items_b;
} totals;

static bool take(carom_grid_found *found) {
    totals *t = found->user;
    for (uint32_t i = 0; i < found->count; ++i) {
        uint32_t a = t->items_a != NULL ? t->items_a[found->a[i]] : found->a[i];
        uint32_t b = t->items_b[found->b[i]];
        assert_true(a < t->rows && b < t->columns);
        ++t->seen[(uint64_t)a * t->columns + b];
    }
    found->count = 0;
    return true;
}

static void check_self(carom_context *context, const boxes *b, const carom_grid *grid,
                       const char *what) {
    static uint8_t seen[MOST * MOST];
    static carom_grid_found found;
    memset(seen, 0, sizeof(seen));
    totals t = {seen, b->count, b->count, grid->items, grid->items};
    found.count = 0;
    found.flush = take;
    found.user = &t;
    for (uint32_t at = 0; at < b->count; at += 100) {
        uint32_t end = at + 100 < b->count ? at + 100 : b->count;
        assert_true(CAROM_CPU_CALL(context, carom_grid_self)(&grid->view, at, end, &found));
    }
    (void)take(&found);
    for (uint32_t i = 0; i < b->count; ++i)
        for (uint32_t j = 0; j <= i; ++j) {
            int times =
                i == j ? seen[i * b->count + i] : seen[i * b->count + j] + seen[j * b->count + i];
            int should = i != j && carom_box_overlap(&b->data[i], &b->data[j]);
            if (times != should)
                fail_msg("%s: boxes %u and %u found %d times, should be %d", what, i, j, times,
                         should);
        }
}

static void check_cross(carom_context *context, const boxes *a, const boxes *b,
                        const carom_grid *grid_a, const carom_grid *grid_b, const char *what) {
    static uint8_t seen[MOST * MOST], back[MOST * MOST];
    static carom_grid_found found;
    memset(seen, 0, sizeof(seen));
    memset(back, 0, sizeof(back));
    for (int way = 0; way < 2; ++way) {
        const carom_grid *from = way == 0 ? grid_b : grid_a, *in = way == 0 ? grid_a : grid_b;
        totals t = {way == 0 ? back : seen, from->view.item_count, in->view.item_count, from->items,
                    in->items};
        found.count = 0;
        found.flush = take;
        found.user = &t;
        for (uint32_t r = 0; r < from->view.item_count; ++r) {
            carom_box box = carom_grid_box(&from->view, r);
            uint32_t level = from->view.levels[r];
            if (level == CAROM_GRID_NOWHERE) continue;
            assert_true(CAROM_CPU_CALL(context, carom_grid_find)(
                &in->view, &box, way == 0 ? level : level + 1, r, &found));
        }
        (void)take(&found);
    }
    for (uint32_t i = 0; i < a->count; ++i)
        for (uint32_t j = 0; j < b->count; ++j) {
            int times = seen[i * b->count + j] + back[j * a->count + i];
            if (times != carom_box_overlap(&a->data[i], &b->data[j]))
                fail_msg("%s: %u of a and %u of b found %d times", what, i, j, times);
        }
}

static carom_grid_def any_def(int i) {
    static const double scales[] = {0.0, 0.5, 1.0, 2.0, 8.0};
    return (carom_grid_def){.hash = (carom_grid_hash)(i % CAROM_GRID_HASH_COUNT),
                            .buckets = i % 3 == 0 ? 0 : (uint32_t)(1 + i / 3 % 17),
                            .cell_scale = scales[i / 7 % 5]};
}

static void every_overlap_is_found_once(void **state) {
    (void)state;
    static boxes a, b;
    carom_context *contexts[2 * CAROM_ISA_COUNT];
    int context_count = test_contexts_of_isas(0, contexts, 0);
    carom_random random = {71};
    carom_allocator allocator = contexts[0]->allocator;
    for (int i = 0; i < TEST_CASES(3000); ++i) {
        char what[128];
        carom_context *context = contexts[i / 2 % context_count];
        carom_grid_def def = any_def(i), def_b = any_def(i + 1);
        int kind = (int)test_below(&random, KINDS);
        uint32_t most = i % 50 == 0 ? MOST : 60;
        make_boxes(&random, kind, test_below(&random, most), &a);
        make_boxes(&random, kind, test_below(&random, most), &b);
        carom_grid grid = {0}, other = {0};
        carom_grid_source source_a = {a.count, give_boxes, &a},
                          source_b = {b.count, give_boxes, &b};
        snprintf(what, sizeof(what), "set %d of kind %d, hash %d, %u buckets, scale %g", i, kind,
                 (int)def.hash, def.buckets, def.cell_scale);
        assert_ok(context, carom_grid_build(context, &allocator, &grid, &def, NULL, &source_a));
        assert_valid(carom_grid_validate(&grid, &source_a));
        check_self(context, &a, &grid, what);
        assert_ok(context, carom_grid_build(context, &allocator, &other, &def_b, &grid.view.space,
                                            &source_b));
        check_cross(context, &a, &b, &grid, &other, what);
        carom_grid_free(&grid, &allocator);
        carom_grid_free(&other, &allocator);
    }
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
}

/* ---- levels and cells ------------------------------------------------------------------------ */

static void items_live_on_the_lowest_level_that_will_do(void **state) {
    (void)state;
    carom_random random = {72};
    carom_grid_space space = {.inverse = 1.0};
    for (int i = 0; i < TEST_CASES(200000); ++i) {
        carom_grid_cells cells;
        for (int k = 0; k < 3; ++k) {
            cells.low[k] = (uint32_t)(carom_random_next(&random) >> (34 + test_below(&random, 30)));
            uint64_t high =
                cells.low[k] + (carom_random_next(&random) >> (34 + test_below(&random, 30)));
            cells.high[k] = (uint32_t)(high < CAROM_GRID_LAST ? high : CAROM_GRID_LAST);
            if (cells.low[k] > cells.high[k]) cells.low[k] = cells.high[k];
        }
        uint32_t lowest = 0;
        for (;; ++lowest) {
            carom_grid_cells on = carom_grid_cells_on(&cells, lowest);
            if (on.high[0] - on.low[0] <= 1 && on.high[1] - on.low[1] <= 1 &&
                on.high[2] - on.low[2] <= 1)
                break;
        }
        space.lift = 0;
        assert_int_equal(carom_grid_level(&space, &cells), lowest);
        space.lift = -1;
        assert_int_equal(carom_grid_level(&space, &cells), lowest > 0 ? lowest - 1 : 0);
        space.lift = 2;
        assert_int_equal(carom_grid_level(&space, &cells), lowest + 2 < 31 ? lowest + 2 : 31);
    }
}

/* Cells never go back where coordinates go on, whatever is rounded. */
static void cells_follow_coordinates(void **state) {
    (void)state;
    carom_random random = {73};
    for (int i = 0; i < TEST_CASES(200000); ++i) {
        carom_grid_space space = {.low = {(double)(float)carom_random_between(&random, -1e6, 1e6)},
                                  .inverse = pow(2.0, (double)test_below(&random, 120) - 60.0)};
        float x = (float)carom_random_between(&random, -1e6, 1e6);
        float y = test_below(&random, 2) == 0 ? -carom_float_below(-x)
                                              : (float)carom_random_between(&random, -1e6, 1e6);
        uint32_t cell_x = carom_grid_cell(&space, 0, x), cell_y = carom_grid_cell(&space, 0, y);
        assert_true(x <= y ? cell_x <= cell_y : cell_x >= cell_y);
        assert_true(cell_x <= CAROM_GRID_LAST);
    }
}

/* An item is entered in a bucket once, and in eight at most. */
static void items_enter_a_bucket_once(void **state) {
    (void)state;
    static boxes b;
    carom_context *context = test_context(1);
    carom_random random = {74};
    for (int i = 0; i < TEST_CASES(300); ++i) {
        carom_grid_def def = any_def(i);
        carom_grid grid = {0};
        def.cell_scale = i % 2 == 0 ? 1.0 : 4.0;
        make_boxes(&random, i % KINDS, 100, &b);
        carom_grid_source source = {b.count, give_boxes, &b};
        assert_ok(context,
                  carom_grid_build(context, &context->allocator, &grid, &def, NULL, &source));
        uint32_t times[MOST] = {0};
        const carom_grid_view *view = &grid.view;
        for (uint32_t bucket = 0; bucket < view->table.bucket_count; ++bucket)
            for (uint32_t at = view->starts[bucket]; at < view->starts[bucket + 1]; ++at) {
                if (at > view->starts[bucket]) assert_true(view->ranks[at - 1] < view->ranks[at]);
                ++times[view->ranks[at]];
            }
        for (uint32_t rank = 0; rank < view->item_count; ++rank) {
            bool there = view->levels[rank] != CAROM_GRID_NOWHERE;
            assert_true(times[rank] <= (there ? 8u : 0u) && times[rank] >= (there ? 1u : 0u));
        }
        carom_grid_free(&grid, &context->allocator);
    }
    carom_context_destroy(context);
}

/* A perfect hash gives every cell in use a bucket of its own. */
static void perfect_hashes_are_perfect(void **state) {
    (void)state;
    static boxes b;
    carom_context *context = test_context(1);
    carom_random random = {75};
    for (int i = 0; i < 100; ++i) {
        carom_grid_def def = {.hash = CAROM_GRID_HASH_PERFECT};
        carom_grid grid = {0};
        make_boxes(&random, i % KINDS, MOST, &b);
        carom_grid_source source = {b.count, give_boxes, &b};
        assert_ok(context,
                  carom_grid_build(context, &context->allocator, &grid, &def, NULL, &source));
        const carom_grid_view *view = &grid.view;
        for (uint32_t bucket = 0; bucket < view->table.bucket_count; ++bucket)
            for (uint32_t at = view->starts[bucket]; at < view->starts[bucket + 1]; ++at)
                assert_int_equal(view->tags[at] & CAROM_GRID_TAG_CELL_AND_LEVEL,
                                 view->tags[view->starts[bucket]] & CAROM_GRID_TAG_CELL_AND_LEVEL);
        carom_grid_free(&grid, &context->allocator);
    }
    carom_context_destroy(context);
}

/* ---- the same bytes -------------------------------------------------------------------------- */

static uint64_t hash_grid(const carom_grid *grid) {
    const carom_grid_view *v = &grid->view;
    uint64_t entries = v->starts[v->table.bucket_count];
    uint64_t hash = test_hash(v->levels, v->item_count, 0);
    hash = test_hash_numbers(v->starts, (v->table.bucket_count + UINT64_C(1)) * 4, "4", hash);
    hash = test_hash_numbers(v->ranks, entries * 4, "4", hash);
    return test_hash_numbers(v->tags, entries * 4, "4", hash);
}

static void any_threads_and_any_instruction_set_give_the_same_grid(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    static boxes b;
    carom_random random = {76};
    make_boxes(&random, MIXED, MOST, &b);
    for (int h = 0; h < CAROM_GRID_HASH_COUNT; ++h) {
        for (size_t i = 0; i < COUNT_OF(threads) * (CAROM_ISA_COUNT - 1); ++i) {
            carom_isa isa = (carom_isa)(CAROM_ISA_BASELINE + i / COUNT_OF(threads));
            carom_context *context = test_context_isa(threads[i % COUNT_OF(threads)], isa);
            if (context == NULL) continue;
            carom_grid_def def = {.hash = (carom_grid_hash)h};
            carom_grid grid = {0};
            carom_grid_source source = {b.count, give_boxes, &b};
            char name[32];
            assert_ok(context,
                      carom_grid_build(context, &context->allocator, &grid, &def, NULL, &source));
            snprintf(name, sizeof(name), "boxes-%d", h);
            test_golden("grid.txt", name, hash_grid(&grid));
            carom_grid_free(&grid, &context->allocator);
            carom_context_destroy(context);
        }
    }
}

/* Seeded items, decision by decision: what a GPU must give for the same ones. */
static void items_decide_as_ever(void **state) {
    (void)state;
    static const uint32_t displacements[] = {3, 1, 4, 1};
    carom_grid_space space = grid_items_space();
    carom_grid_table tables[GRID_TABLES];
    grid_items_tables(displacements, tables);
    carom_random random = {77};
    uint64_t levels = 0, corners = 0, buckets[GRID_TABLES] = {0};
    for (int i = 0; i < GRID_ITEMS; ++i) {
        carom_box box = grid_items_next(&random);
        for (int t = 0; t < GRID_TABLES; ++t) {
            grid_decision d = grid_decide(&space, &tables[t], &box);
            assert_true(d.count <= 8);
            if (t == 0) {
                levels = test_hash_numbers(&d.level, sizeof(d.level), "4", levels);
                corners = test_hash_numbers(&d.on, sizeof(d.on), "4", corners);
            }
            buckets[t] =
                test_hash_numbers(d.buckets, d.count * sizeof(d.buckets[0]), "4", buckets[t]);
            buckets[t] = test_hash_numbers(d.tags, d.count * sizeof(d.tags[0]), "4", buckets[t]);
        }
    }
    test_golden("grid.txt", "items-levels", levels);
    test_golden("grid.txt", "items-cells", corners);
    test_golden("grid.txt", "items-block", buckets[0]);
    test_golden("grid.txt", "items-djb2", buckets[1]);
    test_golden("grid.txt", "items-morton", buckets[2]);
    test_golden("grid.txt", "items-perfect", buckets[3]);
}

/* ---- the cloth ------------------------------------------------------------------------------- */

static void check_cloth(carom_context *context, uint64_t detail, const char *name) {
    grid_cloth cloth;
    grid_cloth_make(context, detail, &cloth);
    for (int h = 0; h < CAROM_GRID_HASH_PERFECT; ++h) {
        grid_content content;
        grid_content_build(context, &cloth, (carom_grid_hash)h, &content);
        grid_content_check(&content, cloth.count, name);
        grid_content_free(&content);
    }
    grid_cloth_free(&cloth);
}

static void the_cloth_is_where_it_was(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    check_cloth(context, 100, "cloth-20k");
    if (campaign_is_long()) check_cloth(context, 707, "cloth-1M");
    carom_context_destroy(context);
}

/* ---- failures -------------------------------------------------------------------------------- */

static carom_status build_one(carom_allocator allocator, void *argument) {
    carom_context *context;
    carom_context_def context_def = {.threads = 2, .allocator = allocator};
    carom_status status = carom_context_create(&context_def, &context);
    if (status != CAROM_OK) return status;
    carom_grid grid = {0};
    boxes *b = argument;
    carom_grid_source source = {b->count, give_boxes, b};
    carom_grid_def def = {.hash = CAROM_GRID_HASH_PERFECT};
    status = carom_grid_build(context, &allocator, &grid, &def, NULL, &source);
    if (status != CAROM_OK) assert_int_equal(grid.view.item_count, 0);
    carom_grid_free(&grid, &allocator);
    carom_context_destroy(context);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    static boxes b;
    carom_random random = {78};
    make_boxes(&random, MIXED, MOST, &b);
    test_allocation_failures(build_one, &b);
}

static void building_again_allocates_nothing(void **state) {
    (void)state;
    static boxes b;
    carom_context *context = test_context(1);
    carom_random random = {79};
    carom_grid grid = {0};
    for (int i = 0; i < 12; ++i) {
        make_boxes(&random, LATTICE, MOST, &b);
        carom_grid_source source = {b.count, give_boxes, &b};
        carom_grid_def def = {0};
        uint64_t before = test_malloc_count();
        assert_ok(context,
                  carom_grid_build(context, &context->allocator, &grid, &def, NULL, &source));
        if (i > 6) assert_int_equal(test_malloc_count(), before);
    }
    carom_grid_free(&grid, &context->allocator);
    carom_context_destroy(context);
}

/* ---- levels by size, and the bound on balls ---------------------------------------------------
 */

static void levels_by_size_are_the_lowest_with_cells_as_wide(void **state) {
    (void)state;
    carom_random random = {80};
    for (int i = 0; i < 200000; ++i) {
        int exponent = (int)test_below(&random, 41) - 20; /* of the cells of level 0 */
        carom_grid_space space = {.inverse = ldexp(1.0, -exponent)};
        double edge = ldexp(carom_random_between(&random, 1.0, 2.0),
                            exponent - 4 + (int)test_below(&random, 24));
        if (i % 8 == 0) edge = ldexp(1.0, carom_exponent(edge));
        uint32_t level = carom_grid_level_of_size(&space, edge);
        assert_true(ldexp(1.0, exponent + (int)level) >= edge);
        assert_true(level == 0 || ldexp(1.0, exponent + (int)level - 1) < edge);
        /* Wherever a box of that size lies, it spans at most two cells per axis. */
        for (int k = 0; k < 3; ++k) space.low[k] = carom_random_between(&random, -1e3, 0.0);
        double side = edge - ldexp(1.0, exponent - 22);
        float low = (float)(space.low[0] + carom_random_between(&random, 0.0, 1e3));
        float high = carom_float_down((double)low + side, 0.0);
        uint32_t span = (carom_grid_cell(&space, 0, high) >> level) -
                        (carom_grid_cell(&space, 0, low) >> level);
        if (side > 0.0 && high >= low) assert_true(span <= 1);
        space.lift = (int32_t)test_below(&random, 5) - 1;
        int lifted = (int)level + space.lift;
        assert_int_equal(carom_grid_level_of_size(&space, edge), lifted > 0 ? lifted : 0);
    }
    carom_grid_space space = {.inverse = 1.0};
    assert_int_equal(carom_grid_level_of_size(&space, 0.0), 0);
    assert_int_equal(carom_grid_level_of_size(&space, 0x1p31), 31);
}

typedef struct ball_set {
    uint32_t count;
    carom_ball data[200];
    double scale;
} ball_set;

static carom_ball give_ball(const void *user, uint32_t index) {
    const ball_set *set = user;
    carom_ball ball = set->data[index];
    ball.centre.x *= set->scale;
    ball.centre.y *= set->scale;
    ball.centre.z *= set->scale;
    ball.radius *= set->scale;
    return ball;
}

static void make_balls(carom_random *random, uint32_t count, ball_set *set) {
    double spread = ldexp(1.0, (int)test_below(random, 6));
    set->count = count;
    for (uint32_t i = 0; i < count; ++i) {
        carom_ball *ball = &set->data[i];
        ball->centre.x = carom_random_between(random, -spread, spread);
        ball->centre.y = carom_random_between(random, -spread, spread);
        ball->centre.z = carom_random_between(random, -spread, spread);
        ball->radius =
            ldexp(1.0, -(int)test_below(random, 12)) * carom_random_between(random, 0.5, 1.0);
        if (test_below(random, 8) == 0) ball->radius = test_below(random, 2) == 0 ? 0.0 : -1.0;
    }
}

/* The overlapping pairs when b is moved by t; within one set where b is a. */
static uint64_t overlapping_balls(const ball_set *a, const ball_set *b, carom_vec3 t) {
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < a->count; ++i)
        for (uint32_t j = a == b ? i + 1 : 0; j < b->count; ++j) {
            const carom_ball *p = &a->data[i], *q = &b->data[j];
            if (p->radius < 0.0 || q->radius < 0.0) continue;
            double x = p->centre.x - q->centre.x - t.x, y = p->centre.y - q->centre.y - t.y;
            double z = p->centre.z - q->centre.z - t.z, reach = p->radius + q->radius;
            pairs += x * x + y * y + z * z <= reach * reach;
        }
    return pairs;
}

static void balls_overlap_no_more_often_than_bounded(void **state) {
    (void)state;
    static ball_set a, b;
    carom_context *context = test_context(1);
    carom_random random = {81};
    for (int i = 0; i < (TEST_FEW_CASES ? 50 : 400); ++i) {
        /* Every fourth pair far apart in scale: 1e-100 to 1e100. */
        int far = i % 4 == 0 ? 302 : 0;
        int exponents[2] = {(int)test_below(&random, 61) - 30 - far,
                            (int)test_below(&random, 61) - 30 + far};
        uint64_t bound, same, one;
        make_balls(&random, test_below(&random, 200), &a);
        make_balls(&random, test_below(&random, 200), &b);
        a.scale = b.scale = 1.0;
        carom_grid_balls balls_a = {a.count, give_ball, &a, 0};
        carom_grid_balls balls_b = {b.count, give_ball, &b, 0};
        assert_ok(context, carom_grid_bound(context, &balls_a, &balls_b, &bound));
        assert_ok(context, carom_grid_bound(context, &balls_a, NULL, &one));
        assert_true(overlapping_balls(&a, &a, (carom_vec3){0.0, 0.0, 0.0}) <= one);
        for (int pose = 0; pose < 32; ++pose) {
            /* Every fourth brings a ball of b onto one of a. */
            carom_vec3 t = {0.0, 0.0, 0.0};
            if (pose % 4 == 0 && a.count > 0 && b.count > 0) {
                t = carom_vec_sub(a.data[test_below(&random, a.count)].centre,
                                  b.data[test_below(&random, b.count)].centre);
                assert_true(overlapping_balls(&a, &b, t) <= bound);
                continue;
            }
            if (pose > 0) t.x = carom_random_between(&random, -4.0, 4.0);
            if (pose > 1) t.y = carom_random_between(&random, -4.0, 4.0);
            assert_true(overlapping_balls(&a, &b, t) <= bound);
        }
        /* Frames of other scales give the same bound. */
        a.scale = ldexp(1.0, exponents[0]);
        b.scale = ldexp(1.0, exponents[1]);
        balls_a.scale_exponent = exponents[0];
        balls_b.scale_exponent = exponents[1];
        assert_ok(context, carom_grid_bound(context, &balls_b, &balls_a, &same));
        assert_int_equal(same, bound);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_overlap_is_found_once),
        cmocka_unit_test(items_live_on_the_lowest_level_that_will_do),
        cmocka_unit_test(levels_by_size_are_the_lowest_with_cells_as_wide),
        cmocka_unit_test(balls_overlap_no_more_often_than_bounded),
        cmocka_unit_test(cells_follow_coordinates),
        cmocka_unit_test(items_enter_a_bucket_once),
        cmocka_unit_test(perfect_hashes_are_perfect),
        cmocka_unit_test(any_threads_and_any_instruction_set_give_the_same_grid),
        cmocka_unit_test(items_decide_as_ever),
        cmocka_unit_test(the_cloth_is_where_it_was),
        cmocka_unit_test(failing_allocations_leak_nothing),
        cmocka_unit_test(building_again_allocates_nothing),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
