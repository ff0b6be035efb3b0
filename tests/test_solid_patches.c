/* SPDX-License-Identifier: MIT */
/* The connected pieces of overlaps. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/campaign.h"
#include "tests/support/solid_check.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static solid_mesh a, b;

/* Contact without a volume is in no piece: it has half of two faces on each other and is pushed by
 * half of one. */
static void check_pushes(const char *what, const carom_solid_result *o, double area,
                         const double force[3], double tolerance) {
    double missing = o->area - area;
    double x = force[0] - o->force.x, y = force[1] - o->force.y, z = force[2] - o->force.z;
    if (!(missing >= -tolerance && sqrt(x * x + y * y + z * z) <= 0.5 * missing + tolerance))
        fail_msg("%s: area %.17g of %.17g, force off by %g, %g, %g", what, area, o->area, x, y, z);
}

static void patches_add_up(void **state) {
    (void)state;
    carom_solid_patches patches = {0};
    for (uint64_t i = 0; i < (campaign_is_long() ? 5000 : TEST_CASES(1400)); ++i) {
        carom_random random = {700000 + i};
        solid_make_random(&random, &a);
        solid_make_random(&random, &b);
        if (i % 4 == 0) b = a;
        carom_pose pose =
            i % 3 == 0 ? solid_lattice_turn(&random, 5) : solid_lattice_shift(&random, 5);
        carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
        carom_solid_info info_x, info_y;
        assert_ok(context, carom_solid_get_info(x, &info_x));
        assert_ok(context, carom_solid_get_info(y, &info_y));
        carom_solid_result overlap = solid_overlap_of(context, x, NULL, y, &pose);
        assert_ok(context, carom_solid_overlap_patches(context, x, NULL, y, &pose, &patches));
        double volume = 0.0, moment = 0.0, before = INFINITY;
        double area = 0.0, force[3] = {0.0, 0.0, 0.0};
        for (uint64_t k = 0; k < patches.count; ++k) {
            volume += patches.data[k].volume;
            moment += patches.data[k].volume * patches.data[k].centroid.y;
            area += patches.data[k].area;
            force[0] += patches.data[k].force.x;
            force[1] += patches.data[k].force.y;
            force[2] += patches.data[k].force.z;
            assert_true(patches.data[k].volume > 0.0 && patches.data[k].volume <= before);
            before = patches.data[k].volume;
        }
        double tolerance = 10 * solid_tolerance(overlap.volume, info_x.volume, info_y.volume);
        const char *name = solid_case(&a, &b, "patches", i);
        solid_check_near(name, "volume", volume, overlap.volume, tolerance);
        solid_check_near(name, "moment", moment, overlap.volume * overlap.centroid.y,
                         100 * tolerance);
        check_pushes(name, &overlap, area, force, 1e-12 * (info_x.area + info_y.area));
        carom_solid_destroy(x);
        carom_solid_destroy(y);
    }
    carom_solid_patches_free(&patches);
}

/* A slab through boxes of different heights, one of them hollow, one wholly inside. */
static void patches_are_the_pieces(void **state) {
    (void)state;
    const double low[3] = {-1, 0, 0}, high[3] = {40, 4, 4};
    a.vertices = a.faces = b.vertices = b.faces = 0;
    solid_add_box(&a, low, high, false);
    for (int k = 0; k < 5; ++k) {
        const double from[3] = {7.0 * k, 1, k == 4 ? 1 : 3.0 - 0.5 * k};
        const double to[3] = {7.0 * k + 5, 3, k == 4 ? 2 : 6};
        solid_add_box(&b, from, to, false);
    }
    const double inner[2][3] = {{1, 1.5, 3.25}, {2, 2.5, 3.75}};
    solid_add_box(&b, inner[0], inner[1], true);
    carom_solid *x = solid_prepare(context, &a, false), *y = solid_prepare(context, &b, false);
    static const double expected[5] = {10 * 2.5, 10 * 2, 10 * 1.5, 10, 10 - 0.5};
    static const double centres[5] = {23.5, 16.5, 9.5, 30.5, 0};
    carom_solid_patches patches = {0};
    assert_ok(context, carom_solid_overlap_patches(context, x, NULL, y, NULL, &patches));
    assert_int_equal(patches.count, 5);
    for (int k = 0; k < 5; ++k) {
        solid_check_near("slab", "volume", patches.data[k].volume, expected[k], 1e-12);
        if (k < 4)
            solid_check_near("slab", "centroid", patches.data[k].centroid.x, centres[k], 1e-12);
    }
    solid_check_near("slab", "area", patches.data[0].area, 2 * (10 + 5 * 2.5 + 2 * 2.5), 1e-12);
    solid_check_near("slab", "force", patches.data[0].force.z, 10,
                     1e-12); /* pushed out at the top */
    solid_check_near("slab", "force", patches.data[3].force.z, 0, 1e-12);
    carom_solid_patches_free(&patches);
    carom_solid_destroy(x);
    carom_solid_destroy(y);
}

static void add_lattice_box(solid_mesh *mesh, const int at[3], const int size[3], int wall,
                            bool hole, double scale) {
    double low[3], high[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = scale * (at[k] + wall);
        high[k] = scale * (at[k] + size[k] - wall);
    }
    solid_add_box(mesh, low, high, hole);
}

/* What is left of two hollow boxes outside of a box that may lie against their walls, inside and
 * out: voids touch the pieces they are in, along edges and with whole faces. The first box is out
 * of reach. At each scale, and beside a box that is far away. */
static void voids_are_in_their_pieces(void **state) {
    (void)state;
    carom_solid_patches patches = {0};
    for (uint64_t i = 0; i < (campaign_is_long() ? 20000 : TEST_CASES(1000)); ++i) {
        carom_random random = {900000 + i};
        static const double scales[4] = {1.0, 0x1p-40, 0x1p200, 0x1p-330};
        double scale = scales[i % 4];
        int size[3], at[3], far[3] = {-40, 0, 0};
        a.vertices = a.faces = b.vertices = b.faces = 0;
        a.kind = "outside of a box";
        b.kind = "two hollow boxes";
        add_lattice_box(&b, far, (const int[3]){9, 9, 9}, 0, false, scale);
        add_lattice_box(&b, far, (const int[3]){9, 9, 9}, 1, true, scale);
        for (int k = 0; k < 3; ++k) size[k] = 3 + (int)(carom_random_next(&random) % 6);
        add_lattice_box(&b, (const int[3]){0, 0, 0}, size, 0, false, scale);
        add_lattice_box(&b, (const int[3]){0, 0, 0}, size, 1, true, scale);
        double hollow = 1.0, inner = 1.0;
        for (int k = 0; k < 3; ++k) {
            hollow *= size[k];
            inner *= size[k] - 2;
            at[k] = (int)(carom_random_next(&random) % 12) - 4;
            size[k] = 1 + (int)(carom_random_next(&random) % 6);
        }
        hollow -= inner;
        if (i % 8 >= 6) at[1] += 1 << 30;
        add_lattice_box(&a, at, size, 0, false, scale);
        carom_solid *x = solid_prepare(context, &a, true), *y = solid_prepare(context, &b, false);
        carom_solid *whole = solid_prepare(context, &a, false);
        bool swap = i % 3 == 0;
        double cube = scale * scale * scale,
               taken = solid_overlap_of(context, whole, NULL, y, NULL).volume / cube;
        assert_ok(context, carom_solid_overlap_patches(context, swap ? y : x, NULL, swap ? x : y,
                                                       NULL, &patches));
        const char *name = solid_case(&a, &b, "voids", i);
        double volume = 0.0;
        bool first = false;
        for (uint64_t k = 0; k < patches.count; ++k) {
            double one = patches.data[k].volume / cube;
            volume += one;
            first = first || fabs(one - (729 - 343)) < 1e-9;
            if (!(one > 0.0)) fail_msg("%s: a patch of %.17g", name, one);
        }
        solid_check_near(name, "volume", volume, 729 - 343 + hollow - taken, 1e-9);
        if (!first) fail_msg("%s: the box that is not touched is not found", name);
        carom_solid_destroy(x);
        carom_solid_destroy(y);
        carom_solid_destroy(whole);
    }
    carom_solid_patches_free(&patches);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_add_up),
        cmocka_unit_test(patches_are_the_pieces),
        cmocka_unit_test(voids_are_in_their_pieces),
    };
    return cmocka_run_group_tests_name("solid_patches", tests, set_up, tear_down);
}
