/* SPDX-License-Identifier: MIT */
/* How deep solids are in each other: known least depths; bounds that hold in every direction; the
 * same at other scales. */
#include <math.h>
#include <string.h>

#include "scene/scene.h"
#include "tests/support/scene.h"
#include "tests/support/shapes.h"

SCENE_THINGS(2)

static carom_scene *make_scene(const carom_scene_object_def *objects, bool least) {
    carom_scene *scene;
    carom_scene_def def = {.least_depth = least};
    assert_ok(context, carom_scene_create(context, &def, &scene));
    assert_ok(context, carom_scene_add(context, scene, objects, 2, NULL));
    return scene;
}

/* The contact of two solids; false when there is none. */
static bool contact_of(const carom_scene_object_def *objects, bool least, carom_scene_contact *c) {
    carom_scene *scene = make_scene(objects, least);
    carom_scene_contacts contacts = {0};
    assert_ok(context, carom_scene_step(context, scene, &contacts, NULL, NULL));
    bool found = contacts.count == 1;
    if (found) *c = contacts.data[0];
    carom_scene_contacts_free(&contacts);
    carom_scene_destroy(scene);
    return found;
}

static carom_solid *make_box(double x, double y, double z, double scale) {
    carom_mesh *mesh;
    carom_solid *solid;
    carom_mesh_view view;
    double positions[24];
    carom_shape_def def = {.shape = CAROM_SHAPE_BOX};
    assert_ok(context, carom_shape_make(context, &def, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.vertex_count, 8);
    for (int i = 0; i < 24; ++i) {
        double half = i % 3 == 0 ? x : i % 3 == 1 ? y : z;
        positions[i] = ((const double *)view.positions)[i] > 0.0 ? half * scale : -half * scale;
    }
    view.positions = positions;
    carom_solid_def solid_def = {.mesh = &view};
    assert_ok(context, carom_solid_create(context, &solid_def, &solid));
    carom_mesh_destroy(mesh);
    return solid;
}

static carom_scene_object_def object_of(const carom_solid *solid, double x, double y, double z) {
    return (carom_scene_object_def){
        .kind = CAROM_SCENE_OBJECT_KIND_SOLID, .borrowed_solid = solid, .pose = {.t = {x, y, z}}};
}

static void assert_near(double x, double y, double tolerance) {
    if (!(fabs(x - y) <= tolerance)) fail_msg("%.17g instead of %.17g", x, y);
}

/* Boxes with the same middle: there is no force, and the shortest way is along z. At any scale. */
static void no_force_is_no_excuse(void **state) {
    (void)state;
    static const double scales[] = {1.0, 0x1p-330, 0x1p330, 0x1p-20};
    double first = 0.0;
    for (int i = 0; i < 4; ++i) {
        double s = scales[i];
        carom_solid *a = make_box(40.0, 40.0, 4.0, s), *b = make_box(25.0, 25.0, 25.0, s);
        carom_scene_object_def objects[2] = {object_of(a, 0.0, 0.0, 0.0),
                                             object_of(b, 0.0, 0.0, 0.0)};
        carom_scene_contact c;
        assert_true(contact_of(objects, false, &c));
        assert_near(c.depth / s, 29.0, 1e-4);
        assert_near(fabs(c.normal.z), 1.0, 1e-9);
        assert_true(c.depth_bound >= (1.0 - 1e-3) * c.depth && c.depth_bound <= c.depth);
        if (i == 0) first = c.depth;
        assert_true(c.depth == first * s);
        carom_solid_destroy(a);
        carom_solid_destroy(b);
    }
}

/* A long rod through a plate, off its middle: the force leads along the rod or sideways; moving the
 * plate along the rod is not the shortest way where its edge is near. */
static void the_least_is_found_and_proved(void **state) {
    (void)state;
    carom_solid *plate = make_box(10.0, 10.0, 1.0, 1.0), *rod = make_box(1.0, 1.0, 30.0, 1.0);
    carom_scene_object_def objects[2] = {object_of(plate, 0.0, 0.0, 0.0),
                                         object_of(rod, 7.0, 0.5, 2.0)};
    carom_scene_contact c;
    assert_true(contact_of(objects, true, &c));
    assert_near(c.depth, 4.0, 1e-4); /* along x, to the edge: 10 - 7 + 1 */
    assert_near(c.normal.x, 1.0, 1e-9);
    assert_true(c.depth_bound >= (1.0 - 1e-3) * c.depth);
    assert_true(contact_of(objects, false, &c));
    assert_true(c.depth_bound <= c.depth);
    carom_solid_destroy(plate);
    carom_solid_destroy(rod);
}

/* Moved in any direction by less than the bound, they overlap; the depth is still proved. */
static void bounds_hold_in_every_direction(void **state) {
    (void)state;
    carom_random random = {77};
    uint32_t tried = 0, bounded = 0;
    for (uint32_t i = 0; i < TEST_CASES(48); ++i) {
        carom_scene_object_def o[2];
        carom_scene_contact c, plain;
        for (int k = 0; k < 2; ++k)
            o[k] = scene_object(&things, &random, 0.6, i % 2 == 0,
                                1u << CAROM_SCENE_OBJECT_KIND_SOLID);
        if (!contact_of(o, true, &c) || c.relation < CAROM_RELATION_OVERLAPPING) continue;
        assert_true(contact_of(o, false, &plain));
        assert_true(c.depth <= plain.depth * (1.0 + 0x1p-18));
        assert_true(c.depth_bound >= 0.0 && c.depth_bound <= c.depth);
        bounded += c.depth_bound > 0.0;
        ++tried;
        for (int k = 0; k < 14; ++k) {
            carom_vec3 d = {carom_random_uniform(&random) - 0.5,
                            carom_random_uniform(&random) - 0.5,
                            carom_random_uniform(&random) - 0.5};
            if (k == 0) d = c.normal;
            double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
            if (!(length > 0.1)) continue;
            double shift = 0.9999 * c.depth_bound / length;
            carom_pose pose = o[1].pose;
            carom_solid_result overlap;
            pose.t.x += d.x * shift;
            pose.t.y += d.y * shift;
            pose.t.z += d.z * shift;
            assert_ok(context, carom_solid_overlap(context, o[0].borrowed_solid, &o[0].pose,
                                                   o[1].borrowed_solid, &pose, NULL, &overlap));
            assert_true(overlap.relation >= CAROM_RELATION_OVERLAPPING);
        }
    }
    if (TEST_MANY_CASES) assert_true(tried > TEST_CASES(16) && bounded > TEST_CASES(10));
}

/* Of two convex shapes the error says the same. */
static void convex_shapes_have_bounds(void **state) {
    (void)state;
    carom_scene_object_def o[2] = {
        {.convex = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 1.0, 1.0}}},
        {.convex = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 1.0},
         .pose = {.t = {1.5, 0.0, 0.0}}}};
    carom_scene_contact c;
    assert_true(contact_of(o, false, &c));
    assert_near(c.depth, 0.5, 1e-9);
    assert_near(c.depth_bound, 0.5, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_force_is_no_excuse),
        cmocka_unit_test(the_least_is_found_and_proved),
        cmocka_unit_test(bounds_hold_in_every_direction),
        cmocka_unit_test(convex_shapes_have_bounds),
    };
    return cmocka_run_group_tests_name("scene_depth", tests, set_up, tear_down);
}
