/* SPDX-License-Identifier: MIT */
/* Callers' bugs in every function of scene.h: the assert handler is called once, the call returns
 * CAROM_INVALID, and nothing has changed. One thread. */
#include <stdlib.h>

#include "tests/support/caller_bugs.h"

static carom_context *context;
static carom_scene *scene;
static const carom_scene_object_def ball = {
    .convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0}};

static int set_up(void **state) {
    (void)state;
    const carom_scene_object_def balls[2] = {ball, ball};
    context = bugs_context();
    return carom_scene_create(context, NULL, &scene) != CAROM_OK ||
           carom_scene_add(context, scene, balls, 2, NULL) != CAROM_OK ||
           carom_scene_step(context, scene, NULL, NULL, NULL) != CAROM_OK;
}

static int tear_down(void **state) {
    (void)state;
    carom_scene_destroy(scene);
    carom_context_destroy(context);
    return bugs_memory.live != 0;
}

static void preparing(void **state) {
    (void)state;
    carom_scene *made = NULL;
    carom_scene_info info;
    carom_scene_def def = {0};
    BUG(carom_scene_create, context, BAD_CONTEXT, &def, &made);
    FINE(carom_scene_create, def, context, NULL, &made);
    carom_scene_destroy(made);
    BUG(carom_scene_create, scene, context, &def, NULL);
    FINE_VOID(carom_scene_destroy, scene, NULL);
    BUG(carom_scene_get_info, scene, NULL, &info);
    BUG(carom_scene_get_info, info, scene, NULL);
    carom_scene_object_kind kind = CAROM_SCENE_OBJECT_KIND_CONVEX;
    FINE_VOID(carom_scene_object_kind_name, kind, (carom_scene_object_kind)99);
    assert_string_equal(carom_scene_object_kind_name((carom_scene_object_kind)99), "unknown");
    BUG_VOID(carom_scene_object_kind_from_name, name, NULL, &kind);
    BUG_VOID(carom_scene_object_kind_from_name, kind, "soup", NULL);
    for (int i = 0; i < CAROM_SCENE_OBJECT_KIND_COUNT; ++i) {
        assert_true(carom_scene_object_kind_from_name(
            carom_scene_object_kind_name((carom_scene_object_kind)i), &kind));
        assert_int_equal(kind, i);
    }
    carom_scene_contact_method method = CAROM_SCENE_CONTACT_METHOD_CONVEX;
    FINE_VOID(carom_scene_contact_method_name, method, (carom_scene_contact_method)99);
    assert_string_equal(carom_scene_contact_method_name((carom_scene_contact_method)99), "unknown");
    BUG_VOID(carom_scene_contact_method_from_name, name, NULL, &method);
    BUG_VOID(carom_scene_contact_method_from_name, method, "faces", NULL);
    for (int i = 0; i < CAROM_SCENE_CONTACT_METHOD_COUNT; ++i) {
        const char *name = carom_scene_contact_method_name((carom_scene_contact_method)i);
        assert_true(carom_scene_contact_method_from_name(name, &method));
        assert_int_equal(method, i);
    }
}

static void changing(void **state) {
    (void)state;
    uint32_t ids[2] = {0, 1};
    carom_pose poses[2] = {{.t = {1.0, 0.0, 0.0}}, {.t = {0.0, 0.0, 0.0}}};
    carom_broad_filter filters[2] = {{0, 0}, {0, 0}};
    carom_pair pair = {0, 1};
    carom_scene_object_def def = ball;
    BUG(carom_scene_add, context, BAD_CONTEXT, scene, &def, 1, ids);
    BUG(carom_scene_add, scene, context, NULL, &def, 1, ids);
    BUG(carom_scene_add, objects, context, scene, NULL, 1, ids);
    FINE(carom_scene_add, ids, context, scene, &def, 0, NULL);
    def.kind = CAROM_SCENE_OBJECT_KIND_COUNT;
    BUG_IN(carom_scene_object_def, kind, carom_scene_add, context, scene, &def, 1, NULL);
    def.kind = CAROM_SCENE_OBJECT_KIND_SOUP;
    BUG_IN(carom_scene_object_def, borrowed_soup, carom_scene_add, context, scene, &def, 1, NULL);
    def.kind = CAROM_SCENE_OBJECT_KIND_SOLID;
    BUG_IN(carom_scene_object_def, borrowed_solid, carom_scene_add, context, scene, &def, 1, NULL);
    def.kind = CAROM_SCENE_OBJECT_KIND_PACKING;
    BUG_IN(carom_scene_object_def, borrowed_tree, carom_scene_add, context, scene, &def, 1, NULL);
    def.kind = CAROM_SCENE_OBJECT_KIND_CONVEX;
    def.convex.kind = CAROM_CONVEX_KIND_HULL;
    BUG_IN(carom_scene_object_def, convex, carom_scene_add, context, scene, &def, 1, NULL);
    BUG(carom_scene_move, context, BAD_CONTEXT, scene, ids, poses, 1);
    BUG(carom_scene_move, scene, context, NULL, ids, poses, 1);
    BUG(carom_scene_move, poses, context, scene, ids, NULL, 1);
    FINE(carom_scene_move, ids, context, scene, NULL, poses, 0);
    BUG(carom_scene_remove, context, BAD_CONTEXT, scene, ids, 1);
    BUG(carom_scene_remove, scene, context, NULL, ids, 1);
    BUG(carom_scene_remove, ids, context, scene, NULL, 1);
    BUG(carom_scene_set_filters, context, BAD_CONTEXT, scene, ids, filters, 1);
    BUG(carom_scene_set_filters, scene, context, NULL, ids, filters, 1);
    BUG(carom_scene_set_filters, filters, context, scene, ids, NULL, 1);
    FINE(carom_scene_set_filters, ids, context, scene, NULL, filters, 0);
    BUG(carom_scene_set_ignored, context, BAD_CONTEXT, scene, &pair, 1, true);
    BUG(carom_scene_set_ignored, scene, context, NULL, &pair, 1, true);
    BUG(carom_scene_set_ignored, pairs, context, scene, NULL, 1, true);
    BUG(carom_scene_commit, context, BAD_CONTEXT, scene);
    BUG(carom_scene_commit, scene, context, NULL);
}

static void stepping(void **state) {
    (void)state;
    carom_scene_contacts contacts = {0};
    carom_pairs begun = {0}, ended = {0};
    BUG(carom_scene_step, context, BAD_CONTEXT, scene, &contacts, &begun, &ended);
    BUG(carom_scene_step, scene, context, NULL, &contacts, &begun, &ended);
    BUG_RESULT(carom_scene_contacts, carom_scene_step, contacts, context, scene, &result, &begun,
               &ended);
    BUG_RESULT(carom_pairs, carom_scene_step, begun, context, scene, &contacts, &result, &ended);
    BUG_RESULT(carom_pairs, carom_scene_step, ended, context, scene, &contacts, &begun, &result);
    FINE(carom_scene_step, contacts, context, scene, NULL, NULL, NULL);
}

static void querying(void **state) {
    (void)state;
    carom_scene_contacts contacts = {0};
    carom_hit hit;
    carom_ray ray = {{0, 0, 0}, {1, 0, 0}, 0};
    carom_vec3 point = {0, 0, 0};
    carom_pose pose = {.t = {0.5, 0.0, 0.0}};
    BUG(carom_scene_query_objects, context, BAD_CONTEXT, scene, &ball, 1, &contacts);
    BUG(carom_scene_query_objects, scene, context, NULL, &ball, 1, &contacts);
    BUG(carom_scene_query_objects, objects, context, scene, NULL, 1, &contacts);
    BUG_RESULT(carom_scene_contacts, carom_scene_query_objects, contacts, context, scene, &ball, 1,
               &result);
    BUG(carom_scene_query_objects, contacts, context, scene, &ball, 1, NULL);
    BUG(carom_scene_cast_rays, context, BAD_CONTEXT, scene, &ray, 1, &hit);
    BUG(carom_scene_cast_rays, scene, context, NULL, &ray, 1, &hit);
    BUG(carom_scene_cast_rays, rays, context, scene, NULL, 1, &hit);
    BUG(carom_scene_cast_rays, hits, context, scene, &ray, 1, NULL);
    BUG(carom_scene_closest_points, context, BAD_CONTEXT, scene, &point, 1, &hit);
    BUG(carom_scene_closest_points, scene, context, NULL, &point, 1, &hit);
    BUG(carom_scene_closest_points, points, context, scene, NULL, 1, &hit);
    BUG(carom_scene_closest_points, hits, context, scene, &point, 1, NULL);
    /* After a change, before an update. */
    assert_ok(context, carom_scene_move(context, scene, NULL, &pose, 1));
    BUG(carom_scene_query_objects, scene, context, scene, &ball, 1, &contacts);
    BUG(carom_scene_cast_rays, scene, context, scene, &ray, 1, &hit);
    BUG(carom_scene_closest_points, scene, context, scene, &point, 1, &hit);
}

static void nothing_was_left_out(void **state) {
    (void)state;
    static const char *const headers[] = {"scene.h"};
    assert_true(bugs_assert_complete(headers, COUNT_OF(headers)) >= 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preparing),
        cmocka_unit_test(changing),
        cmocka_unit_test(stepping),
        cmocka_unit_test(querying),
        cmocka_unit_test(nothing_was_left_out),
    };
    return cmocka_run_group_tests_name("scene_bugs", tests, set_up, tear_down);
}
