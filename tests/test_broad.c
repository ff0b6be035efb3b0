/* SPDX-License-Identifier: MIT */
/* The broad phase from scratch: every method finds the pairs that brute force finds, on boxes of
 * all kinds and scales, with and without filters, for any number of threads and instruction set;
 * the published counts of the boxes that broad phases are compared on; failures and limits. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broad/broad.h"
#include "scenes/boxes.h"
#include "tests/support/broad.h"
#include "tests/support/campaign.h"
#include "tests/support/test.h"

#define MOST 400u

static carom_bounds boxes[MOST];
static carom_broad_filter filters[MOST];
static carom_pair expected[MOST * MOST / 2];

static void assert_pairs(const carom_pairs *pairs, const carom_pair *wanted, uint64_t count,
                         const char *what) {
    if (pairs->count != count)
        fail_msg("%s: %" PRIu64 " pairs, not %" PRIu64, what, pairs->count, count);
    if (count != 0 && memcmp(pairs->data, wanted, count * sizeof(*wanted)) != 0)
        fail_msg("%s: other pairs", what);
}

static carom_broad *create(carom_context *context, const carom_broad_def *def) {
    carom_broad *broad;
    assert_ok(context, carom_broad_create(context, def, &broad));
    assert_valid(carom_broad_validate(broad));
    return broad;
}

/* ---- brute force ----------------------------------------------------------------------------- */

static void compare_methods(carom_context *context, uint64_t count, bool filtered,
                            const char *what) {
    carom_broad_def def = {
        .boxes = boxes, .box_count = count, .filters = filtered ? filters : NULL};
    uint64_t wanted = broad_brute_force(boxes, def.filters, NULL, count, expected);
    carom_pairs pairs = {0};
    for (int method = 0; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        char words[96];
        def.method = (carom_broad_method)method;
        snprintf(words, sizeof(words), "%s, method %s", what, carom_broad_method_name(def.method));
        carom_broad *broad = create(context, &def);
        assert_ok(context, carom_broad_pairs(context, broad, &pairs));
        assert_pairs(&pairs, expected, wanted, words);
        assert_ok(context, carom_broad_step(context, broad, &pairs, NULL, NULL));
        assert_pairs(&pairs, expected, wanted, words);
        carom_broad_destroy(broad);
    }
    carom_pairs_free(&pairs);
}

static void all_methods_equal_brute_force(void **state) {
    (void)state;
    carom_random random = {18};
    carom_context *context = test_context(1);
    uint64_t rounds = campaign_is_long() ? 400 : 12;
    for (int kind = 0; kind < BROAD_KINDS; ++kind) {
        for (uint64_t round = 0; round < rounds; ++round) {
            uint64_t count = round < 3 ? round : 1 + carom_random_next(&random) % (MOST - 1);
            char words[64];
            snprintf(words, sizeof(words), "kind %d, %" PRIu64 " boxes", kind, count);
            broad_boxes((broad_kind)kind, &random, boxes, count);
            for (uint64_t i = 0; i < count; ++i) {
                filters[i].group =
                    (uint32_t)(carom_random_next(&random) & carom_random_next(&random));
                filters[i].mask = (uint32_t)carom_random_next(&random) & 0xF;
            }
            compare_methods(context, count, round % 2 == 1, words);
        }
    }
    carom_context_destroy(context);
}

/* Boxes at 1e-100 and 1e100 times their size, by powers of ten and of two. */
static void scale_changes_nothing(void **state) {
    (void)state;
    static const double scales[] = {1e-100, 0x1p-332, 1e30, 0x1p332, 1e100};
    static carom_bounds given[MOST];
    carom_random random = {19};
    carom_context *context = test_context(1);
    for (int kind = 0; kind < BROAD_KINDS; ++kind) {
        if (kind == BROAD_LARGEST) continue; /* has all scales */
        broad_boxes((broad_kind)kind, &random, given, MOST);
        uint64_t same = broad_brute_force(given, NULL, NULL, MOST, expected);
        for (uint32_t k = 0; k < COUNT_OF(scales); ++k) {
            char words[64];
            double by = scales[k];
            int exponent;
            snprintf(words, sizeof(words), "kind %d times %g", kind, by);
            for (uint32_t i = 0; i < MOST; ++i) {
                const carom_bounds *b = &given[i];
                boxes[i].low = (carom_vec3){b->low.x * by, b->low.y * by, b->low.z * by};
                boxes[i].high = (carom_vec3){b->high.x * by, b->high.y * by, b->high.z * by};
            }
            compare_methods(context, MOST, false, words);
            if (frexp(by, &exponent) == 0.5) /* a power of two rounds nothing */
                assert_int_equal(broad_brute_force(boxes, NULL, NULL, MOST, expected), same);
        }
    }
    carom_context_destroy(context);
}

/* Other cells and buckets, the same pairs. */
static void layouts_change_nothing(void **state) {
    (void)state;
    carom_random random = {7};
    carom_context *context = test_context(1);
    carom_pairs pairs = {0};
    for (int kind = 0; kind < BROAD_KINDS; ++kind) {
        broad_boxes((broad_kind)kind, &random, boxes, MOST);
        uint64_t wanted = broad_brute_force(boxes, NULL, NULL, MOST, expected);
        for (int i = 0; i < 12; ++i) {
            carom_broad_def def = {.boxes = boxes, .box_count = MOST};
            def.method = i < 8 ? CAROM_BROAD_METHOD_SWEEP : CAROM_BROAD_METHOD_GRID;
            def.sweep_cell = i == 0 ? 5e-324 : i == 7 ? DBL_MAX : ldexp(1.0, 4 * i - 12);
            def.grid.hash = (carom_grid_hash)(i % CAROM_GRID_HASH_COUNT);
            carom_broad *broad = create(context, &def);
            assert_ok(context, carom_broad_pairs(context, broad, &pairs));
            assert_pairs(&pairs, expected, wanted, "another layout");
            carom_broad_destroy(broad);
        }
    }
    carom_pairs_free(&pairs);
    carom_context_destroy(context);
}

/* ---- the published boxes --------------------------------------------------------------------- */

typedef struct published {
    uint64_t count;
    scene_boxes_sizes sizes;
    uint64_t pairs;
} published;

static const published counts[] = {
    {1000, SCENE_BOXES_MONO, 170},       {1000, SCENE_BOXES_POLY, 88},
    {10000, SCENE_BOXES_MONO, 1940},     {10000, SCENE_BOXES_POLY, 860},
    {100000, SCENE_BOXES_MONO, 19594},   {100000, SCENE_BOXES_POLY, 9547},
    {1000000, SCENE_BOXES_MONO, 198933}, {1000000, SCENE_BOXES_POLY, 97663}};

static void published_counts_are_found(void **state) {
    (void)state;
    carom_context *context = test_context(0);
    carom_pairs pairs = {0};
    for (uint32_t i = 0; i < COUNT_OF(counts); ++i) {
        scene_boxes scene;
        if (counts[i].count > (campaign_is_long() ? 1000000u : 100000u)) continue;
        assert_true(scene_boxes_make(counts[i].count, counts[i].sizes, SCENE_BOXES_SEED, &scene));
        uint64_t checksum = 0;
        for (int method = 1; method < CAROM_BROAD_METHOD_COUNT; ++method) {
            carom_broad_def def = {.boxes = scene.bounds, .box_count = scene.count};
            def.method = (carom_broad_method)method;
            carom_broad *broad = create(context, &def);
            assert_ok(context, carom_broad_pairs(context, broad, &pairs));
            assert_int_equal(pairs.count, counts[i].pairs);
            uint64_t sum = scene_boxes_checksum(pairs.data, pairs.count);
            assert_true(method == 1 || sum == checksum);
            checksum = sum;
            carom_broad_destroy(broad);
        }
        scene_boxes_free(&scene);
    }
    carom_pairs_free(&pairs);
    carom_context_destroy(context);
}

/* A box takes no more memory than the header says. */
static void memory_is_bounded(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    for (int sizes = 0; sizes < SCENE_BOXES_COUNT; ++sizes) {
        scene_boxes scene;
        carom_broad_info info;
        assert_true(scene_boxes_make(100000, (scene_boxes_sizes)sizes, 1, &scene));
        carom_broad_def def = {.boxes = scene.bounds, .box_count = scene.count};
        carom_broad *broad = create(context, &def);
        assert_ok(context, carom_broad_get_info(broad, &info));
        assert_int_equal(info.live, scene.count);
        assert_true(info.bytes <= 79 * scene.count);
        for (uint64_t frame = 0; frame < 6; ++frame) { /* a tenth, then all */
            uint64_t end = frame % 2 == 0 ? scene.count : scene.count / 10;
            scene_boxes_move(&scene, 0, end);
            assert_ok(context, carom_broad_move(context, broad, NULL, scene.bounds, end));
            assert_ok(context, carom_broad_step(context, broad, NULL, NULL, NULL));
        }
        assert_ok(context, carom_broad_get_info(broad, &info));
        assert_true(info.bytes <= 112 * scene.count);
        carom_broad_destroy(broad);
        scene_boxes_free(&scene);
    }
    carom_context_destroy(context);
}

/* ---- the same bytes everywhere --------------------------------------------------------------- */

static void threads_and_isas_change_nothing(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 5};
    scene_boxes scene;
    carom_random random = {99};
    assert_true(scene_boxes_make(20000, SCENE_BOXES_POLY, 5, &scene));
    for (uint64_t i = 0; i < scene.count; ++i) /* not floats */
        scene.bounds[i].low.x -= carom_random_uniform(&random);
    for (int method = 1; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        uint64_t first = 0;
        carom_work first_work = {0};
        for (uint32_t t = 0; t < COUNT_OF(threads); ++t) {
            for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
                carom_context *context = test_context_isa(threads[t], (carom_isa)isa);
                if (context == NULL) continue;
                carom_broad_def def = {.boxes = scene.bounds, .box_count = scene.count};
                def.method = (carom_broad_method)method;
                carom_broad *broad = create(context, &def);
                carom_pairs pairs = {0};
                carom_work work;
                assert_ok(context, carom_broad_pairs(context, broad, &pairs));
                assert_ok(context, carom_context_get_work(context, &work));
                assert_true(pairs.count > 1000);
                uint64_t hash = test_hash(pairs.data, pairs.count * sizeof(*pairs.data), 0);
                if (first == 0) {
                    first = hash;
                    first_work = work;
                }
                assert_true(hash == first);
                assert_memory_equal(&work, &first_work, sizeof(work));
                assert_int_equal(work.undecided, work.candidates);
                carom_pairs_free(&pairs);
                carom_broad_destroy(broad);
                carom_context_destroy(context);
            }
        }
    }
    scene_boxes_free(&scene);
}

/* ---- what a method says of its work ---------------------------------------------------------- */

static void work_is_reported(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    scene_boxes scene;
    carom_pairs pairs = {0};
    carom_broad_info info;
    carom_work work;
    assert_true(scene_boxes_make(5000, SCENE_BOXES_MONO, 3, &scene));
    carom_broad_def def = {.boxes = scene.bounds, .box_count = scene.count};
    for (int method = 1; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        def.method = (carom_broad_method)method;
        carom_broad *broad = create(context, &def);
        assert_ok(context, carom_broad_pairs(context, broad, &pairs));
        assert_ok(context, carom_broad_get_info(broad, &info));
        assert_ok(context, carom_context_get_work(context, &work));
        assert_int_equal(info.method, method);
        assert_int_equal(info.builds, 1);
        assert_true(work.visits > 0);
        assert_int_equal(work.candidates, pairs.count); /* exact as float32 */
        assert_int_equal(work.undecided, 0);
        if (def.method == CAROM_BROAD_METHOD_TREE) assert_int_equal(info.nodes, 313 + 20 + 2 + 1);
        if (def.method == CAROM_BROAD_METHOD_SWEEP) {
            assert_true(info.cells > 1 && info.lone_cells < info.cells);
            assert_true(info.entries >= scene.count && info.entries <= 3 * scene.count + 4096);
            assert_true(info.sweep_bound >= pairs.count);
            assert_true(info.sweep_cell > 2.0);
        }
        carom_broad_destroy(broad);
    }
    /* The axis of largest variance. */
    for (uint32_t axis = 0; axis < 3; ++axis) {
        for (uint64_t i = 0; i < scene.count; ++i) {
            double *low = axis == 0   ? &scene.bounds[i].low.x
                          : axis == 1 ? &scene.bounds[i].low.y
                                      : &scene.bounds[i].low.z;
            low[0] *= 3.0;
            low[3] *= 3.0;
        }
        def.method = CAROM_BROAD_METHOD_SWEEP;
        carom_broad *broad = create(context, &def);
        assert_ok(context, carom_broad_get_info(broad, &info));
        assert_int_equal(info.sweep_axis, axis);
        carom_broad_destroy(broad);
        for (uint64_t i = 0; i < scene.count; ++i) {
            double *low = axis == 0   ? &scene.bounds[i].low.x
                          : axis == 1 ? &scene.bounds[i].low.y
                                      : &scene.bounds[i].low.z;
            low[0] /= 3.0;
            low[3] /= 3.0;
        }
    }
    carom_pairs_free(&pairs);
    scene_boxes_free(&scene);
    carom_context_destroy(context);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void bad_input_gets_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {1};
    carom_broad *broad;
    broad_boxes(BROAD_UNIFORM, &random, boxes, MOST);
    carom_broad_def def = {.boxes = boxes, .box_count = MOST};
    boxes[17].high.y = (double)NAN;
    assert_fails(context, carom_broad_create(context, &def, &broad), CAROM_BAD_INPUT, "box 17");
    boxes[17].high.y = (double)INFINITY;
    assert_fails(context, carom_broad_create(context, &def, &broad), CAROM_BAD_INPUT, "box 17");
    assert_null(broad);
    boxes[17].high.y = 9.0;
    def.sweep_cell = -1.0;
    assert_fails(context, carom_broad_create(context, &def, &broad), CAROM_BAD_INPUT, "sweep_cell");
    def = (carom_broad_def){.boxes = boxes, .box_count = (uint64_t)1 << 31};
    assert_fails(context, carom_broad_create(context, &def, &broad), CAROM_TOO_LARGE, "more than");
    def = (carom_broad_def){.boxes = boxes, .box_count = MOST};
    broad = create(context, &def);
    carom_bounds bad = boxes[0];
    uint32_t id = MOST, twice[2] = {3, 3};
    assert_fails(context, carom_broad_move(context, broad, &id, boxes, 1), CAROM_BAD_INPUT,
                 "never given out");
    assert_fails(context, carom_broad_remove(context, broad, &id, 1), CAROM_BAD_INPUT,
                 "never given out");
    assert_fails(context, carom_broad_remove(context, broad, twice, 2), CAROM_BAD_INPUT, "twice");
    id = 5;
    assert_ok(context, carom_broad_remove(context, broad, &id, 1));
    assert_fails(context, carom_broad_move(context, broad, &id, boxes, 1), CAROM_BAD_INPUT,
                 "removed");
    bad.low.x = (double)NAN;
    id = 6;
    assert_fails(context, carom_broad_move(context, broad, &id, &bad, 1), CAROM_BAD_INPUT, "box 0");
    assert_fails(context, carom_broad_add(context, broad, &bad, 1, NULL), CAROM_BAD_INPUT, "box 0");
    carom_broad_destroy(broad);
    /* Methods without a tree. */
    carom_pairs pairs = {0};
    carom_hit hit;
    carom_ray ray = {{0, 0, 0}, {1, 0, 0}, 0};
    for (int method = CAROM_BROAD_METHOD_GRID; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        def.method = (carom_broad_method)method;
        broad = create(context, &def);
        assert_fails(context, carom_broad_query_boxes(context, broad, boxes, 1, &pairs),
                     CAROM_UNSUPPORTED, "method tree");
        assert_fails(context, carom_broad_query_rays(context, broad, &ray, 1, &pairs),
                     CAROM_UNSUPPORTED, "method tree");
        assert_fails(context, carom_broad_cast_rays(context, broad, &ray, 1, &hit),
                     CAROM_UNSUPPORTED, "method tree");
        assert_fails(context, carom_broad_closest_points(context, broad, &ray.origin, 1, &hit),
                     CAROM_UNSUPPORTED, "method tree");
        carom_broad_destroy(broad);
    }
    carom_context_destroy(context);
}

/* Create, pairs, changes and frames with each allocation failing in turn. */
static carom_status work(carom_allocator allocator, void *argument) {
    const carom_broad_method *method = argument;
    carom_context *context = NULL;
    carom_broad *broad = NULL;
    carom_pairs pairs = {0}, begun = {0}, ended = {0};
    static const uint32_t some[3] = {1, 3, 70};
    carom_broad_def def = {
        .boxes = boxes, .box_count = MOST, .filters = filters, .method = *method};
    carom_status status =
        carom_context_create(&(carom_context_def){.allocator = allocator, .threads = 2}, &context);
    if (status == CAROM_OK) status = carom_broad_create(context, &def, &broad);
    if (status == CAROM_OK) status = carom_broad_pairs(context, broad, &pairs);
    if (status == CAROM_OK) status = carom_broad_step(context, broad, &pairs, &begun, &ended);
    if (status == CAROM_OK) status = carom_broad_remove(context, broad, some, 3);
    if (status == CAROM_OK) status = carom_broad_add(context, broad, boxes, 40, NULL);
    if (status == CAROM_OK) status = carom_broad_step(context, broad, &pairs, &begun, &ended);
    if (status == CAROM_OK) status = carom_broad_move(context, broad, NULL, boxes + 9, 1);
    if (status == CAROM_OK) status = carom_broad_step(context, broad, &pairs, &begun, &ended);
    carom_pairs_free(&pairs);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    carom_broad_destroy(broad);
    carom_context_destroy(context);
    return status;
}

static void memory_may_run_out(void **state) {
    (void)state;
    carom_random random = {4};
    broad_boxes(BROAD_UNIFORM, &random, boxes, MOST);
    memset(filters, 0, sizeof(filters));
    for (int method = 1; method < CAROM_BROAD_METHOD_COUNT; ++method)
        test_allocation_failures(work, &(carom_broad_method){(carom_broad_method)method});
}

/* A caller's buffer is filled, and the true count given. */
static void buffers_may_be_too_small(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {5};
    carom_pair few[3];
    broad_boxes(BROAD_LATTICE, &random, boxes, MOST);
    uint64_t wanted = broad_brute_force(boxes, NULL, NULL, MOST, expected);
    carom_broad_def def = {.boxes = boxes, .box_count = MOST};
    carom_broad *broad = create(context, &def);
    carom_pairs pairs = {.data = few, .capacity = 3, .owner = CAROM_OWNER_CALLER}, all = {0};
    assert_int_equal(carom_broad_pairs(context, broad, &pairs), CAROM_MORE);
    assert_int_equal(pairs.count, wanted);
    assert_memory_equal(few, expected, sizeof(few));
    assert_int_equal(carom_broad_step(context, broad, &all, &pairs, NULL), CAROM_MORE);
    assert_int_equal(pairs.count, wanted);
    assert_pairs(&all, expected, wanted, "beside a small buffer");
    assert_ok(context, carom_broad_step(context, broad, &all, &pairs, NULL)); /* it was complete */
    assert_int_equal(pairs.count, 0);
    carom_pairs_free(&all);
    carom_broad_destroy(broad);
    carom_context_destroy(context);
}

/* Repeated queries and frames allocate nothing. */
static void warm_calls_allocate_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_random random = {6};
    carom_pairs pairs = {0}, begun = {0}, ended = {0};
    for (int method = 1; method < CAROM_BROAD_METHOD_COUNT; ++method) {
        broad_boxes(BROAD_UNIFORM, &random, boxes, MOST);
        carom_broad_def def = {.boxes = boxes, .box_count = MOST};
        def.method = (carom_broad_method)method;
        carom_broad *broad = create(context, &def);
        uint64_t before = 0;
        for (int round = 0; round < 40; ++round) {
            if (round == 20) before = test_malloc_count();
            uint64_t end = round % 2 == 0 ? MOST : MOST / 10;
            double by = round % 2 == 0 ? 0x1p-6 : -0x1p-6;
            for (uint64_t i = 0; i < MOST / 10; ++i) { /* there and back */
                boxes[i].low.x += by;
                boxes[i].high.x += by;
            }
            assert_ok(context, carom_broad_move(context, broad, NULL, boxes, end));
            assert_ok(context, carom_broad_step(context, broad, &pairs, &begun, &ended));
            assert_ok(context, carom_broad_pairs(context, broad, &pairs));
        }
        assert_int_equal(test_malloc_count(), before);
        carom_broad_destroy(broad);
    }
    carom_pairs_free(&pairs);
    carom_pairs_free(&begun);
    carom_pairs_free(&ended);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_methods_equal_brute_force),
        cmocka_unit_test(scale_changes_nothing),
        cmocka_unit_test(layouts_change_nothing),
        cmocka_unit_test(published_counts_are_found),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(threads_and_isas_change_nothing),
        cmocka_unit_test(work_is_reported),
        cmocka_unit_test(bad_input_gets_a_message),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(buffers_may_be_too_small),
        cmocka_unit_test(warm_calls_allocate_nothing),
    };
    return cmocka_run_group_tests_name("broad", tests, NULL, NULL);
}
