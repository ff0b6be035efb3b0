/* SPDX-License-Identifier: MIT */
/* Packings in scenes: every bound of a contact holds for the solids that were packed, as the exact
 * engines know them; so do those of rays and points; the same bytes everywhere. */
#include <math.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/support/scene.h"
#include "tests/support/shapes.h"

/* Bounds of volumes hold up to this part of them (pack.h); other numbers have rounding errors. */
#define SLACK 1e-9

SCENE_THINGS(2)

/* What the exact engines say of two objects, of which b is moved. */
static scene_answer query_moved(const carom_scene_object_def *a, const carom_scene_object_def *b,
                                carom_vec3 along, double by) {
    carom_scene_object_def moved = *b;
    moved.pose.t.x += along.x * by;
    moved.pose.t.y += along.y * by;
    moved.pose.t.z += along.z * by;
    return scene_oracle_query(context, a, &moved, 0.0);
}

static bool overlap(const scene_answer *answer) {
    return answer->relation >= CAROM_RELATION_OVERLAPPING;
}

static void check_contact(const carom_scene_contact *c, const carom_scene_object_def *a,
                          const carom_scene_object_def *b, const scene_answer *exact) {
    double n =
        sqrt(c->normal.x * c->normal.x + c->normal.y * c->normal.y + c->normal.z * c->normal.z);
    assert_true(fabs(n - 1.0) <= 1e-12 && c->point_count == 1 && c->error >= 0.0);
    if (c->relation == CAROM_RELATION_APART) {
        assert_true(exact->relation == CAROM_RELATION_APART && c->distance > 0.0);
        assert_true(fabs(exact->distance - c->distance) <= c->error + SLACK);
    } else if (c->relation == CAROM_RELATION_TOUCHING) { /* open */
        scene_answer moved = query_moved(a, b, c->normal, c->error + SLACK);
        assert_true(exact->distance <= c->error + SLACK && !overlap(&moved));
        assert_true(c->distance == 0.0 && c->depth == 0.0);
    } else {
        scene_answer out = query_moved(a, b, c->normal, c->depth + SLACK);
        scene_answer in = query_moved(a, b, c->normal, fmax(c->depth - c->error - SLACK, 0.0));
        assert_true(overlap(exact) && c->depth > 0.0 && c->error < c->depth + SLACK);
        assert_true(!overlap(&out) && overlap(&in));
    }
    if (c->method == CAROM_SCENE_CONTACT_METHOD_PACKINGS)
        assert_true(fabs(c->volume - exact->volume) <= c->volume_error + SLACK);
    if (c->relation > CAROM_RELATION_OVERLAPPING && c->relation != exact->relation)
        fail_msg("%s instead of %s", carom_relation_name(c->relation),
                 carom_relation_name(exact->relation));
}

static void contacts_hold_for_the_solids(void **state) {
    (void)state;
    carom_random random = {7};
    uint64_t seen[CAROM_SCENE_CONTACT_METHOD_COUNT][CAROM_RELATION_COUNT] = {{0}}, none = 0;
    for (uint32_t i = 0; i < TEST_CASES(600); ++i) {
        static const double rooms[3] = {0.4, 0.9, 1.6};
        carom_scene_object_def o[2], exact[2];
        double reach = i % 3 == 0 ? 0.25 : 0.0;
        uint32_t packing = i % 2;
        for (uint32_t k = 0; k < 2; ++k) {
            o[k] = scene_object(&things, &random, rooms[i % 5 % 3], i % 4 == 0,
                                k == packing || i % 7 < 3 ? 8u : 7u);
            exact[k] = scene_exact(&things, &o[k]);
        }
        carom_scene *scene = scene_make(context, o, 2, reach);
        carom_scene_contacts contacts = {0};
        assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
        assert_valid(carom_scene_validate(scene));
        scene_answer answer = scene_oracle_query(context, &exact[0], &exact[1], reach);
        if (contacts.count == 0) {
            ++none;
            assert_true(!answer.in_contact);
        } else {
            const carom_scene_contact *c = &contacts.data[0];
            ++seen[c->method][c->relation];
            check_contact(c, &exact[0], &exact[1], &answer);
        }
        carom_scene_contacts_free(&contacts);
        carom_scene_destroy(scene);
    }
    if (!TEST_ALL_CASES) return;
    assert_true(none > 20);
    for (int m = CAROM_SCENE_CONTACT_METHOD_PACKINGS; m <= CAROM_SCENE_CONTACT_METHOD_SPHERES; ++m)
        for (int r = 0; r <= CAROM_RELATION_OVERLAPPING; ++r)
            if (seen[m][r] < 5)
                fail_msg("%llu contacts by %s are %s", (unsigned long long)seen[m][r],
                         carom_scene_contact_method_name((carom_scene_contact_method)m),
                         carom_relation_name((carom_relation)r));
}

/* A small packing in a large one, which trees can say for certain. */
static void known_contacts(void **state) {
    (void)state;
    carom_mesh_view view;
    carom_packing *packing;
    carom_tree *tree;
    carom_shape_def shape = {.shape = CAROM_SHAPE_SPHERE, .detail = 2, .size = 0.05};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    carom_packing_def pack = {.mesh = &view, .count = 50};
    assert_ok(context, carom_packing_create(context, &pack, &packing));
    assert_ok(context, carom_tree_create(context, &(carom_tree_def){.packing = packing}, &tree));
    carom_scene_object_def o[2] = {
        {.kind = CAROM_SCENE_OBJECT_KIND_PACKING, .borrowed_tree = things.trees[0]},
        {.kind = CAROM_SCENE_OBJECT_KIND_PACKING,
         .borrowed_tree = tree,
         .pose = {.t = {0.1, 0.0, 0.0}}}};
    carom_scene *scene = scene_make(context, o, 2, 0.0);
    carom_scene_contacts contacts = {0};
    assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
    assert_int_equal(contacts.count, 1);
    assert_int_equal(contacts.data[0].relation, CAROM_RELATION_B_INSIDE_A);
    /* The cube of edge 1 is left at x = 0.5 or at another face. */
    assert_true(contacts.data[0].depth >= 0.4);
    /* A ball beside the cube: its distance to the solid is 0.4. */
    o[1] = (carom_scene_object_def){.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 0.25},
                                    .pose = {.t = {1.15, 0.0, 0.0}}};
    carom_scene_destroy(scene);
    scene = scene_make(context, o, 2, 0.5);
    assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
    assert_int_equal(contacts.count, 1);
    const carom_scene_contact *c = &contacts.data[0];
    assert_int_equal(c->method, CAROM_SCENE_CONTACT_METHOD_SPHERES);
    assert_true(c->distance >= 0.4 - 1e-9 && c->distance - c->error <= 0.4);
    assert_true(c->normal.x > 0.7);
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    carom_tree_destroy(tree);
    carom_packing_destroy(packing);
    carom_mesh_destroy(mesh);
}

/* A packing cannot be moved out of the sizes that its engine compares. */
static void sizes_out_of_range_are_refused(void **state) {
    (void)state;
    carom_scene_object_def o = {.kind = CAROM_SCENE_OBJECT_KIND_PACKING,
                                .borrowed_tree = things.trees[0]};
    carom_scene *scene = scene_make(context, NULL, 0, 0.0);
    o.pose.t.x = 0x1p300;
    assert_fails(context, carom_scene_add(context, scene, &o, 1, NULL), CAROM_BAD_INPUT,
                 "object 0");
    o.pose.t.x = 1.0;
    assert_ok(context, carom_scene_add(context, scene, &o, 1, NULL));
    o.pose.t.x = 0x1p300;
    assert_fails(context, carom_scene_move(context, scene, NULL, &o.pose, 1), CAROM_BAD_INPUT,
                 "object 0");
    o.pose.t.x = NAN;
    assert_fails(context, carom_scene_move(context, scene, NULL, &o.pose, 1), CAROM_BAD_INPUT,
                 "object 0");
    carom_scene_destroy(scene);
}

/* The solid is no farther than its inner balls, and at most by the error nearer. */
static void rays_and_points_have_bounds(void **state) {
    (void)state;
    enum { COUNT = 64 };
    carom_random random = {3};
    uint32_t met = 0;
    for (uint32_t i = 0; i < TEST_CASES(30); ++i) {
        carom_scene_object_def o = scene_object(&things, &random, 0.5, false, 8u);
        carom_scene_object_def exact = scene_exact(&things, &o);
        carom_scene *scene = scene_make(context, &o, 1, 0.0),
                    *other = scene_make(context, &exact, 1, 0.0);
        carom_vec3 points[COUNT];
        carom_ray rays[COUNT];
        carom_hit hits[COUNT], truth[COUNT], inside[COUNT];
        for (uint32_t k = 0; k < COUNT; ++k) {
            points[k] = scene_pose(&random, 2.0, false).t;
            points[k].x -= 0.75;
            carom_vec3 to = scene_pose(&random, 1.0, false).t;
            rays[k].origin = points[k];
            rays[k].direction =
                (carom_vec3){to.x - points[k].x, to.y - points[k].y, to.z - points[k].z};
            rays[k].length = 0.0;
        }
        assert_ok(context, carom_scene_commit(context, scene));
        assert_ok(context, carom_scene_commit(context, other));
        assert_ok(context, carom_scene_closest_points(context, scene, points, COUNT, hits));
        assert_ok(context, carom_scene_closest_points(context, other, points, COUNT, inside));
        for (uint32_t k = 0; k < COUNT; ++k) {
            assert_int_equal(hits[k].id, 0);
            assert_true(inside[k].distance <= hits[k].distance + SLACK);
            assert_true(inside[k].distance >= hits[k].distance - hits[k].error - SLACK);
        }
        assert_ok(context, carom_scene_cast_rays(context, scene, rays, COUNT, hits));
        assert_ok(context, carom_scene_cast_rays(context, other, rays, COUNT, truth));
        for (uint32_t k = 0; k < COUNT; ++k) {
            if (hits[k].id == CAROM_NONE || inside[k].distance == 0.0) continue;
            ++met;
            assert_int_equal(truth[k].id, 0);
            assert_true(truth[k].distance <= hits[k].distance + SLACK);
            assert_true(truth[k].distance >= hits[k].distance - hits[k].error - SLACK);
        }
        carom_scene_destroy(scene);
        carom_scene_destroy(other);
    }
    assert_true(met > 10);
}

static uint64_t digest(carom_context *c, const carom_scene_object_def *objects, uint32_t count) {
    carom_scene *scene = scene_make(c, objects, count, 0.125);
    carom_scene_contacts contacts = {0};
    carom_vec3 points[32];
    carom_hit hits[32];
    carom_random random = {3};
    assert_ok(c, carom_scene_step(c, scene, &contacts, NULL, NULL));
    uint64_t hash = test_hash(contacts.data, contacts.count * sizeof(*contacts.data), 0);
    for (int i = 0; i < 32; ++i) points[i] = scene_pose(&random, 3.0, false).t;
    memset(hits, 0, sizeof(hits));
    assert_ok(c, carom_scene_closest_points(c, scene, points, 32, hits));
    hash = test_hash(hits, sizeof(hits), hash);
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    return hash;
}

static void bytes_are_the_same_everywhere(void **state) {
    (void)state;
    enum { COUNT = 30 };
    carom_random random = {19};
    carom_scene_object_def objects[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i)
        objects[i] = scene_object(&things, &random, 2.5, i % 2 == 0, i % 2 == 0 ? 8u : 15u);
    uint64_t hash = 0;
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            carom_context *c = test_context_isa(threads, (carom_isa)isa);
            if (c == NULL) continue;
            uint64_t own = digest(c, objects, COUNT);
            if (hash == 0) hash = own;
            assert_true(hash == own);
            carom_context_destroy(c);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_hold_for_the_solids),
        cmocka_unit_test(known_contacts),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(rays_and_points_have_bounds),
        cmocka_unit_test(bytes_are_the_same_everywhere),
    };
    return cmocka_run_group_tests_name("scene_pack", tests, set_up, tear_down);
}
