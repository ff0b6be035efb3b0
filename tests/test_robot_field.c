/* SPDX-License-Identifier: MIT */
/* Distances in cells are right: bounds contain the distance from the faces, sides are those of
 * winding numbers, at several scales; and verdicts with them are those without. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "robot/robot.h"
#include "scenes/arm.h"
#include "scenes/robots.h"
#include "tests/support/test.h"

TEST_CONTEXT(2)

#define WORLD_DETAIL 24 /* of the knot: 48 triangles each */

static void check_point(const carom_robot_part *part, carom_vec3 p) {
    carom_robot_field_bounds at = carom_robot_field_at(&part->field, p);
    double d = carom_robot_tree_point_distance(&part->tree, p, HUGE_VAL, 0.0);
    assert_true(at.lower <= d && d <= at.upper);
    assert_true(carom_robot_field_lower(&part->field, p) <= d);
    if (at.side == 0) return;
    bool inside = part->closed && part->sign * carom_robot_tree_winding(&part->tree, p) >= 1;
    assert_true((at.side == 1) == inside);
}

static void bounds_contain_the_distance(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_KNOT, CAROM_SHAPE_BOX};
    static const double scales[] = {1.0, 0x1p-30, 0x1p30, 0x1p-200};
    for (uint32_t i = 0; i < 12; ++i) {
        const carom_shape_def def = {.shape = shapes[i % 3], .detail = 24, .size = scales[i / 3]};
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_robot_part part;
        carom_random random = {i + 1};
        uint64_t known = 0, count = TEST_CASES(4000);
        assert_ok(context, carom_shape_make(context, &def, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        const carom_robot_shape shape = {.mesh = &view};
        carom_allocator allocator = context->allocator;
        assert_ok(context, carom_robot_part_make(context, &allocator, &shape, "a", &part));
        assert_ok(context,
                  carom_robot_field_make(context, &allocator, &part, 1, 8000, &part.field));
        assert_null(carom_robot_field_validate(&part.field));
        assert_true((part.field.cells == NULL) == (scales[i / 3] == 0x1p-200));
        double most = 1.5 * part.tree.largest;
        for (uint64_t k = 0; k < count && part.field.cells != NULL; ++k) {
            carom_vec3 p = {carom_random_between(&random, -most, most),
                            carom_random_between(&random, -most, most),
                            carom_random_between(&random, -most, most)};
            if (k % 4 == 0) { /* near a corner of a face, or on it */
                const carom_triangle *t = &part.tree.triangles[k % part.tree.item_count];
                double off = k % 8 == 0 ? 0.0 : 0x1p-8;
                p = carom_vec_add(t->corner[0], carom_vec_scale(p, off));
            }
            check_point(&part, p);
            known += carom_robot_field_at(&part.field, p).side != 0 ? 1 : 0;
        }
        assert_true(part.field.cells == NULL || known > count / 2);
        carom_robot_part_free(&allocator, &part);
        carom_mesh_destroy(mesh);
    }
}

/* Takes the distances off, or puts them back. */
static void swap_cells(carom_robot *robot, uint32_t **kept) {
    for (uint32_t i = 0; i < robot->body_count; ++i) {
        uint32_t *cells = robot->bodies[i].field.cells;
        robot->bodies[i].field.cells = kept[i];
        kept[i] = cells;
    }
    uint32_t *cells = robot->objects[0].part.field.cells;
    robot->objects[0].part.field.cells = kept[robot->body_count];
    kept[robot->body_count] = cells;
}

static void verdicts_are_those_without(void **state) {
    (void)state;
    const uint64_t count = TEST_CASES(4000);
    scene_arm arm;
    scene_cell *cell = malloc(sizeof(*cell));
    carom_robot *robot;
    uint32_t *kept[SCENE_ARM_JOINTS + 2] = {NULL};
    carom_random random = {1};
    assert_non_null(cell);
    scene_arm_make(&arm);
    arm.def.spheres = 12;
    assert_ok(context, carom_robot_create(context, &arm.def, &robot));
    assert_ok(context, scene_cell_make(context, SCENE_CELL_KIND_KNOT, 1.3, WORLD_DETAIL, cell));
    assert_ok(context, carom_robot_add_objects(context, robot, cell->objects, cell->count, NULL));
    assert_non_null(robot->objects[0].part.field.cells);
    assert_non_null(robot->bodies[1].field.cells);
    double *q = malloc(count * SCENE_ARM_JOINTS * sizeof(*q));
    carom_robot_result *with = malloc(2 * count * sizeof(*with)), *without = with + count;
    assert_non_null(q);
    assert_non_null(with);
    for (uint64_t i = 0; i < count * SCENE_ARM_JOINTS; ++i)
        q[i] = carom_random_between(&random, -2.0, 2.0);
    for (int m = 0; m < 3; ++m) {
        const carom_robot_query query = {.margin = 0.02 * m};
        assert_ok(context, carom_robot_check(context, robot, q, count, &query, with));
        swap_cells(robot, kept);
        assert_ok(context, carom_robot_check(context, robot, q, count, &query, without));
        swap_cells(robot, kept);
        for (uint64_t i = 0; i < count; ++i) assert_int_equal(with[i].verdict, without[i].verdict);
    }
    carom_robot_destroy(robot);
    scene_cell_free(cell);
    free(cell);
    free(q);
    free(with);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_contain_the_distance),
        cmocka_unit_test(verdicts_are_those_without),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
