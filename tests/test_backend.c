/* SPDX-License-Identifier: MIT */
/* A context of a backend that an engine does not have gives CAROM_UNSUPPORTED and a message: never
 * an answer from another backend. The backend is set in the context itself, so that this is tested
 * without a device, too. */
#include "base/context.h"
#include "tests/support/shapes.h"

static carom_context *cpu, *cuda;

static int set_up(void **state) {
    (void)state;
    cpu = test_context(1);
    cuda = test_context(1);
    cuda->backend = CAROM_BACKEND_CUDA;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    carom_context_destroy(cpu);
    carom_context_destroy(cuda);
    return 0;
}

#define REFUSED(call) assert_fails(cuda, call, CAROM_UNSUPPORTED, "cuda")

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    (void)user, (void)pairs, (void)count;
    return true;
}

static void soups_and_solids_refuse(void **state) {
    (void)state;
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_mesh *mesh = shape_mesh(cpu, NULL, &view);
    carom_solid_def solid_def = {.mesh = &view};
    carom_soup *soup, *none;
    carom_solid *solid, *no_solid;
    assert_ok(cpu, carom_soup_create(cpu, &def, &soup));
    assert_ok(cpu, carom_solid_create(cpu, &solid_def, &solid));
    REFUSED(carom_soup_create(cuda, &def, &none));
    REFUSED(carom_solid_create(cuda, &solid_def, &no_solid));
    assert_true(none == NULL && no_solid == NULL);
    carom_pairs pairs = {0};
    carom_solid_patches patches = {0};
    carom_solid_vertex_forces on_a = {0}, on_b = {0};
    carom_pair pair = {0, 1};
    carom_soup_segments segments = {0};
    carom_soup_gap gap;
    carom_hit hit;
    carom_vec3 point = {0.0, 0.0, 0.0};
    carom_ray ray = {.direction = {1.0, 0.0, 0.0}};
    carom_kfree k_free;
    carom_solid_result overlap;
    bool any;
    uint64_t count;
    int32_t winding;
    REFUSED(carom_soup_self_pairs(cuda, soup, &pairs));
    REFUSED(carom_soup_self_count(cuda, soup, &count));
    REFUSED(carom_soup_self_meet(cuda, soup, &any));
    REFUSED(carom_soup_self_bound(cuda, soup, &count));
    REFUSED(carom_soup_cross_pairs(cuda, soup, NULL, soup, NULL, &pairs));
    REFUSED(carom_soup_cross_meet(cuda, soup, NULL, soup, NULL, &any));
    REFUSED(carom_soup_cross_count(cuda, soup, NULL, soup, NULL, &count));
    REFUSED(carom_soup_cross_each(cuda, soup, NULL, soup, NULL, receive, NULL));
    REFUSED(carom_soup_self_each(cuda, soup, receive, NULL));
    REFUSED(carom_soup_cross_distance(cuda, soup, NULL, soup, NULL, 0.0, &gap));
    REFUSED(carom_soup_cross_bound(cuda, soup, soup, &count));
    REFUSED(carom_soup_self_pairs_within(cuda, soup, 0.1, &pairs));
    REFUSED(carom_soup_self_count_within(cuda, soup, 0.1, &count));
    REFUSED(carom_soup_self_meet_within(cuda, soup, 0.1, &any));
    REFUSED(carom_soup_self_each_within(cuda, soup, 0.1, receive, NULL));
    REFUSED(carom_soup_cross_pairs_within(cuda, soup, NULL, soup, NULL, 0.1, &pairs));
    REFUSED(carom_soup_cross_count_within(cuda, soup, NULL, soup, NULL, 0.1, &count));
    REFUSED(carom_soup_cross_meet_within(cuda, soup, NULL, soup, NULL, 0.1, &any));
    REFUSED(carom_soup_cross_each_within(cuda, soup, NULL, soup, NULL, 0.1, receive, NULL));
    REFUSED(carom_soup_self_gaps(cuda, soup, &pair, 1, &gap));
    REFUSED(carom_soup_cross_gaps(cuda, soup, NULL, soup, NULL, &pair, 1, &gap));
    REFUSED(carom_soup_self_segments(cuda, soup, &pair, 1, &segments));
    REFUSED(carom_soup_cross_segments(cuda, soup, NULL, soup, NULL, &pair, 1, &segments));
    REFUSED(carom_soup_closest_points(cuda, soup, &point, 1, &hit));
    REFUSED(carom_soup_cast_rays(cuda, soup, &ray, 1, &hit));
    carom_soup_ray_hits all = {0};
    REFUSED(carom_soup_query_rays(cuda, soup, &ray, 1, &all));
    REFUSED(carom_soup_winding(cuda, soup, &point, 1, &winding));
    REFUSED(carom_kfree_measure(cuda, soup, &k_free, NULL));
    REFUSED(carom_soup_update(cuda, soup, &view));
    REFUSED(carom_soup_add(cuda, soup, &view, NULL));
    REFUSED(carom_soup_remove(cuda, soup, NULL, 0));
    REFUSED(carom_solid_overlap(cuda, solid, NULL, solid, NULL, NULL, &overlap));
    REFUSED(carom_solid_overlap_patches(cuda, solid, NULL, solid, NULL, &patches));
    REFUSED(carom_solid_overlap_gradient(cuda, solid, NULL, solid, NULL, &on_a, &on_b));
    assert_ok(cpu, carom_soup_self_meet(cpu, soup, &any)); /* nothing was lost */
    carom_soup_destroy(soup);
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
}

static void gases_refuse(void **state) {
    (void)state;
    const carom_gas_sphere sphere = {{2.0, 2.0, 2.0}, {1.0, 0.0, 0.0}, 0.5, 0.0};
    const carom_gas_def def = {.spheres = &sphere, .sphere_count = 1, .edges = {4.0, 4.0, 4.0}};
    carom_gas *gas, *none;
    carom_gas_event event;
    uint32_t id = 0;
    assert_ok(cpu, carom_gas_create(cpu, &def, &gas));
    REFUSED(carom_gas_create(cuda, &def, &none));
    assert_null(none);
    REFUSED(carom_gas_load(cuda, "any.gas", CAROM_GAS_FORMAT_GUESS, NULL, &none));
    REFUSED(carom_gas_next(cuda, gas, 1.0, &event));
    REFUSED(carom_gas_advance(cuda, gas, 1.0, NULL, NULL));
    REFUSED(carom_gas_add(cuda, gas, &sphere, 1, NULL));
    REFUSED(carom_gas_set(cuda, gas, &id, &sphere, 1));
    REFUSED(carom_gas_remove(cuda, gas, &id, 1));
    assert_ok(cpu, carom_gas_advance(cpu, gas, 1.0, NULL, NULL));
    carom_gas_destroy(gas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(soups_and_solids_refuse),
        cmocka_unit_test(gases_refuse),
    };
    return cmocka_run_group_tests_name("backend", tests, set_up, tear_down);
}
