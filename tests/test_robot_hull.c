/* SPDX-License-Identifier: MIT */
/* Hulls of parts contain them, planes between hulls are proofs and are found in every instruction
 * set, and verdicts with hulls are those without. One thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/length.h"
#include "robot/robot.h"
#include "scenes/arm.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

#define MOST_CONTEXTS 8

static void make_part(uint32_t kind, double size, carom_robot_part *part) {
    static const carom_shape shapes[] = {CAROM_SHAPE_SPHERE, CAROM_SHAPE_KNOT, CAROM_SHAPE_BOX};
    static const uint32_t details[] = {2, 24, 4};
    const carom_shape_def def = {
        .shape = shapes[kind % 3], .detail = details[kind % 3], .size = size};
    carom_allocator allocator = context->allocator;
    carom_robot_shape shape = {.radius = 0.2 * size, .half_height = 0.4 * size};
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    if (kind < 3) {
        assert_ok(context, carom_shape_make(context, &def, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        shape.mesh = &view;
    } else {
        shape.kind = kind == 3   ? CAROM_ROBOT_SHAPE_KIND_CAPSULE
                     : kind == 4 ? CAROM_ROBOT_SHAPE_KIND_CYLINDER
                                 : CAROM_ROBOT_SHAPE_KIND_SPHERE;
    }
    assert_ok(context, carom_robot_part_make(context, &allocator, &shape, "a", part));
    carom_mesh_destroy(mesh);
}

/* The farthest of the hull is that of the triangles: no corner is missing and none is added. */
static void check_hull(const carom_robot_part *part, carom_vec3 d) {
    double by_hull = -HUGE_VAL, by_faces = -HUGE_VAL;
    const carom_robot_tree *t = &part->tree;
    for (uint32_t i = 0; i < part->hull.count; ++i)
        for (uint32_t k = 0; k < CAROM_HULL_LANES; ++k) {
            const carom_hull_block *b = &part->hull.blocks[i];
            by_hull = fmax(by_hull, carom_vec_dot(d, carom_vec(b->x[k], b->y[k], b->z[k])));
        }
    for (uint32_t i = 0; i < t->item_count; ++i)
        for (int k = 0; k < 3; ++k)
            by_faces = fmax(by_faces, carom_vec_dot(d, t->triangles[i].corner[k]));
    assert_true(by_hull == by_faces && part->hull.round == t->radius);
}

static carom_vec3 random_vector(carom_random *random, double size) {
    return (carom_vec3){carom_random_between(random, -size, size),
                        carom_random_between(random, -size, size),
                        carom_random_between(random, -size, size)};
}

static void planes_are_proofs(void **state) {
    (void)state;
    static const double sizes[] = {1.0, 0x1p-60, 0x1p30};
    carom_context *contexts[MOST_CONTEXTS];
    int isas = test_contexts_of_isas(1, contexts, 0);
    carom_random random = {1};
    uint64_t found = 0, apart = 0;
    for (uint32_t i = 0; i < 75; ++i) {
        double size = sizes[i / 25];
        carom_robot_part a, b;
        carom_allocator allocator = context->allocator;
        make_part(i % 5, size, &a);
        make_part(i / 5 % 5, size, &b);
        assert_true(a.hull.count != 0 && b.hull.count != 0);
        for (uint64_t k = 0; k < TEST_CASES(160); ++k) {
            carom_pose pose = {{1.0, 0.0, 0.0, 0.0}, random_vector(&random, 1.5 * size)};
            pose.q.x = carom_random_between(&random, -1.0, 1.0);
            pose.q.y = carom_random_between(&random, -1.0, 1.0);
            if (k % 8 == 0) pose.t = (carom_vec3){0.0, 0.0, size}; /* may touch */
            carom_frame frame = carom_frame_make(&pose);
            double reach = k % 3 == 0 ? 0.1 * size : 1e-12 * size;
            double d = carom_robot_tree_distance(&a.tree, &b.tree, &frame, HUGE_VAL);
            carom_vec3 first = carom_vec_unit(random_vector(&random, 1.0));
            if (k % 2 == 0) first = carom_vec_unit(frame.t);
            check_hull(&a, first);
            bool is_apart = false;
            for (int c = 0; c < isas; ++c) {
                bool by = CAROM_CPU_CALL(contexts[c], carom_robot_hulls_separated)(
                    &a.hull, &b.hull, &frame, first, reach);
                assert_true(c == 0 || by == is_apart);
                is_apart = by;
            }
            assert_true(!is_apart || d > reach - 1e-14 * size);
            found += is_apart ? 1 : 0;
            apart += d > reach && a.tree.item_count != 0 ? 1 : 0;
        }
        carom_robot_part_free(&allocator, &a);
        carom_robot_part_free(&allocator, &b);
    }
    assert_true(2 * found > apart); /* knots are not convex */
    for (int c = 0; c < isas; ++c) carom_context_destroy(contexts[c]);
}

/* Spheres and packings have none. */
static void only_faces_have_hulls(void **state) {
    (void)state;
    carom_allocator allocator = context->allocator;
    carom_robot_part part;
    make_part(5, 1.0, &part);
    assert_int_equal(part.hull.count, 0);
    carom_robot_part_free(&allocator, &part);
}

/* Takes hulls off, or puts them back. */
static void swap_hulls(carom_robot *robot, uint32_t *kept) {
    for (uint32_t i = 0; i < robot->body_count + robot->object_count; ++i) {
        carom_robot_part *part = i < robot->body_count
                                     ? &robot->bodies[i].parts[0]
                                     : &robot->objects[i - robot->body_count].part;
        uint32_t count = part->hull.count;
        part->hull.count = kept[i];
        kept[i] = count;
    }
}

static void verdicts_are_those_without(void **state) {
    (void)state;
    const uint64_t count = TEST_CASES(16000);
    scene_arm arm;
    carom_robot *robot, *loaded;
    carom_bytes bytes = {0};
    uint32_t kept[SCENE_ARM_JOINTS + 1 + SCENE_ARM_OBJECTS] = {0};
    carom_random random = {1};
    scene_arm_make(&arm);
    arm.def.spheres = 12;
    assert_ok(context, carom_robot_create(context, &arm.def, &robot));
    assert_ok(context,
              carom_robot_add_objects(context, robot, arm.objects, SCENE_ARM_OBJECTS, NULL));
    assert_ok(context, carom_robot_save_memory(context, robot, CAROM_ROBOT_FORMAT_CAROM, &bytes));
    assert_ok(context, carom_robot_load_memory(context, bytes.data, bytes.count,
                                               CAROM_ROBOT_FORMAT_CAROM, "saved", &loaded));
    for (uint32_t i = 0; i <= SCENE_ARM_JOINTS; ++i) {
        const carom_robot_hull *a = &robot->bodies[i].parts[0].hull;
        const carom_robot_hull *b = &loaded->bodies[i].parts[0].hull;
        assert_true(a->count != 0 && a->count == b->count);
        assert_memory_equal(a->blocks, b->blocks, a->count * sizeof(*a->blocks));
    }
    double *q = malloc(count * SCENE_ARM_JOINTS * sizeof(*q));
    carom_robot_result *with = calloc(2 * count, sizeof(*with)), *without = with + count;
    assert_non_null(q);
    assert_non_null(with);
    for (uint64_t i = 0; i < count * SCENE_ARM_JOINTS; ++i)
        q[i] = carom_random_between(&random, -2.0, 2.0);
    for (int m = 0; m < 3; ++m) {
        const carom_robot_query query = {.margin = 0.02 * m};
        assert_ok(context, carom_robot_check(context, robot, q, count, &query, with));
        swap_hulls(robot, kept);
        assert_ok(context, carom_robot_check(context, robot, q, count, &query, without));
        swap_hulls(robot, kept);
        assert_memory_equal(with, without, count * sizeof(*with));
    }
    carom_bytes_free(&bytes);
    carom_robot_destroy(robot);
    carom_robot_destroy(loaded);
    free(q);
    free(with);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_proofs),
        cmocka_unit_test(only_faces_have_hulls),
        cmocka_unit_test(verdicts_are_those_without),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
