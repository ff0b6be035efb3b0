/* SPDX-License-Identifier: MIT */
/* Callers' bugs in every function of broad.h: the assert handler is called once, the call returns
 * CAROM_INVALID, and nothing has changed. */
#include <stdlib.h>

#include "tests/support/broad.h"
#include "tests/support/caller_bugs.h"

#define COUNT 40u

static carom_context *context;
static carom_broad *broad;
static carom_bounds boxes[COUNT];

static int set_up(void **state) {
    (void)state;
    carom_random random = {1};
    broad_boxes(BROAD_LATTICE, &random, boxes, COUNT);
    carom_broad_def of_broad = {.boxes = boxes, .box_count = COUNT};
    context = bugs_context();
    return carom_broad_create(context, &of_broad, &broad) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_broad_destroy(broad);
    carom_context_destroy(context);
    return bugs_memory.live != 0;
}

static void preparing(void **state) {
    (void)state;
    carom_broad *made = NULL;
    carom_broad_info info;
    carom_broad_def def = {.boxes = boxes, .box_count = COUNT};
    BUG(carom_broad_create, context, BAD_CONTEXT, &def, &made);
    FINE(carom_broad_create, def, context, NULL, &made);
    carom_broad_destroy(made);
    BUG(carom_broad_create, broad, context, &def, NULL);
    def.boxes = NULL;
    BUG_IN(carom_broad_def, boxes, carom_broad_create, context, &def, &made);
    def.boxes = boxes;
    def.method = CAROM_BROAD_METHOD_COUNT;
    BUG_IN(carom_broad_def, method, carom_broad_create, context, &def, &made);
    FINE_VOID(carom_broad_destroy, broad, NULL);
    BUG(carom_broad_get_info, broad, NULL, &info);
    BUG(carom_broad_get_info, info, broad, NULL);
    carom_broad_method method = CAROM_BROAD_METHOD_AUTO;
    FINE_VOID(carom_broad_method_name, method, (carom_broad_method)99);
    assert_string_equal(carom_broad_method_name((carom_broad_method)99), "unknown");
    BUG_VOID(carom_broad_method_from_name, name, NULL, &method);
    BUG_VOID(carom_broad_method_from_name, method, "tree", NULL);
    for (int i = 0; i < CAROM_BROAD_METHOD_COUNT; ++i) {
        const char *name = carom_broad_method_name((carom_broad_method)i);
        assert_true(carom_broad_method_from_name(name, &method));
        assert_int_equal(method, i);
    }
    assert_false(carom_broad_method_from_name("no such name", &method));
}

static void changing(void **state) {
    (void)state;
    uint32_t ids[2] = {0, 1};
    carom_broad_filter filters[2] = {{0, 0}, {0, 0}};
    BUG(carom_broad_move, context, BAD_CONTEXT, broad, ids, boxes, 1);
    BUG(carom_broad_move, broad, context, NULL, ids, boxes, 1);
    BUG(carom_broad_move, boxes, context, broad, ids, NULL, 1);
    FINE(carom_broad_move, ids, context, broad, NULL, boxes, 1);
    BUG(carom_broad_add, context, BAD_CONTEXT, broad, boxes, 1, ids);
    BUG(carom_broad_add, broad, context, NULL, boxes, 1, ids);
    BUG(carom_broad_add, boxes, context, broad, NULL, 1, ids);
    FINE(carom_broad_add, ids, context, broad, boxes, 0, NULL);
    BUG(carom_broad_remove, context, BAD_CONTEXT, broad, ids, 1);
    BUG(carom_broad_remove, broad, context, NULL, ids, 1);
    BUG(carom_broad_remove, ids, context, broad, NULL, 1);
    BUG(carom_broad_set_filters, context, BAD_CONTEXT, broad, ids, filters, 1);
    BUG(carom_broad_set_filters, broad, context, NULL, ids, filters, 1);
    BUG(carom_broad_set_filters, filters, context, broad, ids, NULL, 1);
    FINE(carom_broad_set_filters, ids, context, broad, NULL, filters, 0);
    BUG(carom_broad_commit, context, BAD_CONTEXT, broad);
    BUG(carom_broad_commit, broad, context, NULL);
    /* Boxes moved above, and there was no update. */
    carom_pairs pairs = {0};
    carom_hit hit;
    carom_ray ray = {{0, 0, 0}, {1, 0, 0}, 0};
    BUG(carom_broad_pairs, broad, context, broad, &pairs);
    BUG(carom_broad_query_boxes, broad, context, broad, boxes, 1, &pairs);
    BUG(carom_broad_query_rays, broad, context, broad, &ray, 1, &pairs);
    BUG(carom_broad_cast_rays, broad, context, broad, &ray, 1, &hit);
    BUG(carom_broad_closest_points, broad, context, broad, &ray.origin, 1, &hit);
    assert_ok(context, carom_broad_commit(context, broad));
    carom_pairs begun = {0}, ended = {0};
    BUG(carom_broad_step, context, BAD_CONTEXT, broad, &pairs, &begun, &ended);
    BUG(carom_broad_step, broad, context, NULL, &pairs, &begun, &ended);
    BUG_RESULT(carom_pairs, carom_broad_step, pairs, context, broad, &result, &begun, &ended);
    BUG_RESULT(carom_pairs, carom_broad_step, begun, context, broad, &pairs, &result, &ended);
    BUG_RESULT(carom_pairs, carom_broad_step, ended, context, broad, &pairs, &begun, &result);
    FINE(carom_broad_step, pairs, context, broad, NULL, NULL, NULL);
}

static void querying(void **state) {
    (void)state;
    carom_pairs pairs = {0};
    carom_hit hit;
    carom_ray ray = {{0, 0, 0}, {1, 0, 0}, 0};
    carom_vec3 point = {0, 0, 0};
    BUG(carom_broad_pairs, context, BAD_CONTEXT, broad, &pairs);
    BUG(carom_broad_pairs, broad, context, NULL, &pairs);
    BUG(carom_broad_pairs, pairs, context, broad, NULL);
    BUG_RESULT(carom_pairs, carom_broad_pairs, pairs, context, broad, &result);
    BUG(carom_broad_query_boxes, context, BAD_CONTEXT, broad, boxes, 1, &pairs);
    BUG(carom_broad_query_boxes, broad, context, NULL, boxes, 1, &pairs);
    BUG(carom_broad_query_boxes, boxes, context, broad, NULL, 1, &pairs);
    BUG(carom_broad_query_boxes, pairs, context, broad, boxes, 1, NULL);
    BUG_RESULT(carom_pairs, carom_broad_query_boxes, pairs, context, broad, boxes, 1, &result);
    BUG(carom_broad_query_rays, context, BAD_CONTEXT, broad, &ray, 1, &pairs);
    BUG(carom_broad_query_rays, broad, context, NULL, &ray, 1, &pairs);
    BUG(carom_broad_query_rays, rays, context, broad, NULL, 1, &pairs);
    BUG(carom_broad_query_rays, pairs, context, broad, &ray, 1, NULL);
    BUG_RESULT(carom_pairs, carom_broad_query_rays, pairs, context, broad, &ray, 1, &result);
    BUG(carom_broad_cast_rays, context, BAD_CONTEXT, broad, &ray, 1, &hit);
    BUG(carom_broad_cast_rays, broad, context, NULL, &ray, 1, &hit);
    BUG(carom_broad_cast_rays, rays, context, broad, NULL, 1, &hit);
    BUG(carom_broad_cast_rays, hits, context, broad, &ray, 1, NULL);
    BUG(carom_broad_closest_points, context, BAD_CONTEXT, broad, &point, 1, &hit);
    BUG(carom_broad_closest_points, broad, context, NULL, &point, 1, &hit);
    BUG(carom_broad_closest_points, points, context, broad, NULL, 1, &hit);
    BUG(carom_broad_closest_points, hits, context, broad, &point, 1, NULL);
}

static void nothing_was_left_out(void **state) {
    (void)state;
    static const char *const headers[] = {"broad.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) >= 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparing),
        cmocka_unit_test(changing),
        cmocka_unit_test(querying),
        cmocka_unit_test(nothing_was_left_out),
    };
    return cmocka_run_group_tests_name("broad_bugs", tests, set_up, tear_down);
}
