/* SPDX-License-Identifier: MIT */
/* Contact points and rays of convex shapes. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/convex_pairs.h"

static bool near(double a, double b, double tolerance) {
    return fabs(a - b) <= tolerance;
}

/* A box on a box: the corners of their common part, on both, whichever is the smaller. */
static void a_box_on_a_box_has_four_corners(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_convex low = {.kind = CAROM_CONVEX_KIND_BOX, .half = {3.0, 2.0, 1.0}};
    carom_convex high = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 0.5, 1.0}};
    for (int swapped = 0; swapped < 2; ++swapped)
        for (double gap = -0.01; gap <= 0.011; gap += 0.01) {
            carom_pose pose = {.t = {2.5, 0.25, 2.0 + gap}}, none = {0};
            carom_convex_manifold m;
            const carom_convex *a = swapped ? &high : &low, *b = swapped ? &low : &high;
            assert_ok(context, carom_convex_contacts(context, a, swapped ? &pose : &none, b,
                                                     swapped ? &none : &pose, 0.1, NULL, &m));
            assert_int_equal(m.count, 4);
            int seen = 0;
            for (uint32_t i = 0; i < 4; ++i) {
                const carom_vec3 *p = swapped ? &m.points[i].point_b : &m.points[i].point_a;
                const carom_vec3 *q = swapped ? &m.points[i].point_a : &m.points[i].point_b;
                assert_true(near(p->z, 1.0, 1e-9) && near(q->z, 1.0 + gap, 1e-9));
                assert_true(near(p->x, q->x, 1e-9) && near(p->y, q->y, 1e-9));
                assert_true(near(m.points[i].depth, -gap, 1e-9));
                for (int k = 0; k < 4; ++k)
                    if (near(p->x, k & 1 ? 3.0 : 1.5, 1e-9) &&
                        near(p->y, k & 2 ? 0.75 : -0.25, 1e-9))
                        seen |= 1 << k;
            }
            assert_int_equal(seen, 15);
        }
    carom_context_destroy(context);
}

static void a_capsule_on_its_side_has_two_points(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {3.0, 2.0, 1.0}};
    carom_convex capsule = {.kind = CAROM_CONVEX_KIND_CAPSULE, .radius = 0.5, .half_height = 1.0};
    carom_pose pose = {.q = {1.0, 0.0, 1.0, 0.0}, .t = {2.5, 0.0, 1.49}};
    carom_convex_manifold m;
    assert_ok(context, carom_convex_contacts(context, &box, NULL, &capsule, &pose, 0.0, NULL, &m));
    assert_int_equal(m.count, 2);
    double low = fmin(m.points[0].point_a.x, m.points[1].point_a.x);
    double high = fmax(m.points[0].point_a.x, m.points[1].point_a.x);
    assert_true(near(low, 1.5, 1e-9) && near(high, 3.0, 1e-9));
    assert_true(near(m.points[0].depth, 0.01, 1e-9) && near(m.points[1].depth, 0.01, 1e-9));
    carom_context_destroy(context);
}

/* Along a slide of one box on another the normal stays, and turns with a tilt by no more than it.
 */
static void the_normal_is_continuous(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_convex low = {.kind = CAROM_CONVEX_KIND_BOX, .half = {3.0, 3.0, 1.0}};
    carom_convex high = {.kind = CAROM_CONVEX_KIND_BOX, .half = {0.5, 0.5, 0.5}};
    carom_vec3 last = {0.0, 0.0, 1.0};
    for (int i = 0; i <= 1000; ++i) {
        carom_pose pose = {.q = {1.0, 1e-5 * i, 0.0, 0.0}, .t = {2e-3 * i, 0.0, 1.49}};
        carom_convex_manifold m;
        assert_ok(context, carom_convex_contacts(context, &low, NULL, &high, &pose, 0.0, NULL, &m));
        carom_vec3 n = m.result.normal;
        assert_true(hypot(n.x - last.x, n.y - last.y) <= 2.1e-5 && n.z > 0.99);
        last = n;
    }
    carom_context_destroy(context);
}

/* By how much the points of a contact are not joined by its depth along the normal. */
static double off_the_normal(const carom_convex_manifold *m, uint32_t k) {
    const carom_convex_contact *c = &m->points[k];
    carom_vec3 n = m->result.normal;
    double x = (c->point_a.x - c->point_b.x) - c->depth * n.x;
    double y = (c->point_a.y - c->point_b.y) - c->depth * n.y;
    double z = (c->point_a.z - c->point_b.z) - c->depth * n.z;
    return hypot(hypot(x, y), z);
}

static double depth_off(const carom_convex_manifold *m, uint32_t k) {
    const carom_convex_contact *c = &m->points[k];
    carom_vec3 n = m->result.normal;
    double along = (c->point_a.x - c->point_b.x) * n.x + (c->point_a.y - c->point_b.y) * n.y +
                   (c->point_a.z - c->point_b.z) * n.z;
    return fabs(along - c->depth);
}

/* Seeded pairs: every point lies on its own shape, and the depth of a contact is that of its points
 * along the normal. */
static void points_lie_on_their_shapes(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    for (uint64_t i = 0; i < 20000; ++i) {
        convex_case c;
        carom_convex_manifold m;
        convex_case_make(context, 9, i, &c);
        oracle_shape a = oracle_posed_shape(&c.a.convex, &c.a.view, &c.pose_a);
        oracle_shape b = oracle_posed_shape(&c.b.convex, &c.b.view, &c.pose_b);
        double scale = oracle_scale(&a, &b);
        assert_ok(context, carom_convex_contacts(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                 &c.pose_b, 0.01 * scale, NULL, &m));
        assert_true(m.count <= CAROM_CONVEX_MOST_CONTACTS);
        assert_int_equal(m.count == 0, m.result.distance > 0.01 * scale);
        for (uint32_t k = 0; k < m.count; ++k) {
            double off = fmax(oracle_outside(&a, m.points[k].point_a),
                              oracle_outside(&b, m.points[k].point_b));
            if (off > 1e-12 * scale + m.result.error)
                fail_msg("case %llu (%s, %s): point %u of %u is off by %g of %g",
                         (unsigned long long)i, carom_convex_kind_name(c.a.convex.kind),
                         carom_convex_kind_name(c.b.convex.kind), k, m.count, off, scale);
            off = depth_off(&m, k);
            if (off > 1e-14 * scale + m.result.error)
                fail_msg("case %llu (%s, %s): point %u of %u has a depth off by %g of %g",
                         (unsigned long long)i, carom_convex_kind_name(c.a.convex.kind),
                         carom_convex_kind_name(c.b.convex.kind), k, m.count, off, scale);
        }
        convex_case_free(&c);
    }
    carom_context_destroy(context);
}

/* Boxes that are nearly flat on each other, and segments on boxes: normals that are not quite those
 * of the faces. */
static void depths_are_along_the_normal(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {5};
    uint64_t many = 0;
    for (int i = 0; i < TEST_CASES(8000); ++i) {
        carom_convex a = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 0.8, 0.5}}, b = {0};
        b.kind = i % 2 == 0 ? CAROM_CONVEX_KIND_SEGMENT : CAROM_CONVEX_KIND_BOX;
        b.half = (carom_vec3){0.5, 0.6, 0.3};
        b.half_height = 1.0;
        if (i % 3 == 0) a.margin = 0.1;
        if (i % 5 == 0) b.margin = 0.2;
        carom_pose pose = {.q = {1.0, 0.03 * carom_random_normal(&random),
                                 0.03 * carom_random_normal(&random), 0.0},
                           .t = {carom_random_between(&random, -2.0, 2.0),
                                 carom_random_between(&random, -2.0, 2.0),
                                 carom_random_between(&random, -2.0, 2.0)}};
        carom_convex_manifold m;
        assert_ok(context, carom_convex_contacts(context, &a, NULL, &b, &pose, 1.0, NULL, &m));
        many += m.count > 1;
        for (uint32_t k = 0; k < m.count; ++k)
            assert_true(off_the_normal(&m, k) <= 1e-14 + m.result.error);
    }
    if (TEST_MANY_CASES) assert_true(many > TEST_CASES(2000));
    carom_context_destroy(context);
}

static void assert_scaled(carom_vec3 small, carom_vec3 large, int k) {
    assert_true(ldexp(small.x, k) == large.x && ldexp(small.y, k) == large.y &&
                ldexp(small.z, k) == large.z);
}

/* Sizes times 2^k give all lengths times 2^k, bit for bit: from 1e-270 to 1e270. */
static void manifolds_scale(void **state) {
    (void)state;
    static const int powers[] = {-900, -660, -560, 560, 660, 900}; /* 1e-200 is 2^-664 */
    carom_context *context = test_context(1);
    uint64_t cases = campaign_is_long() ? 1000000 : TEST_CASES(4000), tried = 0, many = 0;
    for (uint64_t i = 0; i < cases; ++i) {
        if (!campaign_has(i)) continue;
        int k = powers[i / 81 % COUNT_OF(powers)]; /* all pairs of kinds */
        carom_convex_manifold m, scaled;
        convex_case c;
        convex_case_make(context, 12, i, &c);
        convex_case_scale(context, &c, 0); /* hulls of the same points, in the same order */
        double reach = 0.01 * (convex_size(&c.a) + convex_size(&c.b));
        assert_ok(context, carom_convex_contacts(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                 &c.pose_b, reach, NULL, &m));
        convex_case_scale(context, &c, k);
        assert_ok(context, carom_convex_contacts(context, &c.a.convex, &c.pose_a, &c.b.convex,
                                                 &c.pose_b, ldexp(reach, k), NULL, &scaled));
        assert_int_equal(m.result.relation, scaled.result.relation);
        assert_int_equal(m.count, scaled.count);
        assert_scaled(m.result.normal, scaled.result.normal, 0);
        many += m.count > 1;
        ++tried;
        for (uint32_t j = 0; j < m.count; ++j) {
            assert_scaled(m.points[j].point_a, scaled.points[j].point_a, k);
            assert_scaled(m.points[j].point_b, scaled.points[j].point_b, k);
            assert_true(ldexp(m.points[j].depth, k) == scaled.points[j].depth);
        }
        convex_case_free(&c);
    }
    print_message("%llu of %llu manifolds have several points\n", (unsigned long long)many,
                  (unsigned long long)tried);
    if (TEST_MANY_CASES) assert_true(many > tried / 50);
    carom_context_destroy(context);
}

/* A contact has the points that it has at the origin, also where both shapes are far from it. */
static void poses_do_not_matter(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 0.8, 0.5}};
    for (int k = 0; k <= 40; ++k) {
        double far = ldexp(1.0, k);
        carom_pose low = {.t = {far, -far, 0.0}};
        carom_pose high = {.q = {1.0, 0.01, 0.0, 0.3}, .t = {far + 0.25, 0.5 - far, 0.98}}, near;
        carom_convex_manifold m, at_origin;
        near = high;
        near.t.x -= far;
        near.t.y += far;
        assert_ok(context, carom_convex_contacts(context, &box, &low, &box, &high, 0.1, NULL, &m));
        assert_ok(context,
                  carom_convex_contacts(context, &box, NULL, &box, &near, 0.1, NULL, &at_origin));
        assert_int_equal(m.count, at_origin.count);
        for (uint32_t i = 0; i < m.count; ++i)
            assert_true(m.points[i].depth == at_origin.points[i].depth);
    }
    carom_context_destroy(context);
}

/* ---- rays ------------------------------------------------------------------------------------ */

static void rays_hit_where_they_should(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_convex sphere = {.kind = CAROM_CONVEX_KIND_SPHERE, .radius = 2.0};
    carom_ray ray = {.origin = {-5.0, 0.0, 0.0}, .direction = {2.0, 0.0, 0.0}};
    carom_hit h;
    assert_ok(context, carom_convex_cast_rays(context, &sphere, NULL, &ray, 1, &h));
    assert_true(h.id == 0 && h.face == CAROM_NONE && h.error == 0.0);
    assert_true(near(h.distance, 1.5, 1e-12) && near(h.normal.x, -1.0, 1e-12));
    assert_true(near(h.point.x, -2.0, 1e-12) && h.point.y == 0.0 && h.point.z == 0.0);
    ray.length = 1.4;
    assert_ok(context, carom_convex_cast_rays(context, &sphere, NULL, &ray, 1, &h));
    assert_true(h.id == CAROM_NONE && h.face == CAROM_NONE && h.distance == HUGE_VAL);
    assert_memory_equal(&h.point, &ray.origin, sizeof(h.point));
    assert_true(h.normal.x == 0.0 && h.normal.y == 0.0 && h.normal.z == 0.0 && h.error == 0.0);
    ray = (carom_ray){.origin = {0.0, 0.0, 1.0}, .direction = {0.0, 1e-300, 0.0}};
    assert_ok(context, carom_convex_cast_rays(context, &sphere, NULL, &ray, 1, &h));
    assert_true(h.id == 0 && h.distance == 0.0);
    assert_memory_equal(&h.point, &ray.origin, sizeof(h.point));
    assert_true(h.normal.x == 0.0 && h.normal.y == 0.0 && h.normal.z == 0.0);
    ray.direction = (carom_vec3){0.0, 0.0, 0.0};
    assert_fails(context, carom_convex_cast_rays(context, &sphere, NULL, &ray, 1, &h),
                 CAROM_BAD_INPUT, "direction");
    carom_context_destroy(context);
}

/* Several rays at once give what each gives alone. */
static void rays_are_cast_together(void **state) {
    (void)state;
    enum { RAYS = 200 };
    carom_context *context = test_context(2);
    carom_convex box = {.kind = CAROM_CONVEX_KIND_BOX, .half = {1.0, 2.0, 0.5}, .margin = 0.25};
    carom_pose pose = {.q = {1.0, 0.3, -0.2, 0.5}, .t = {0.5, 0.0, -1.0}};
    carom_random random = {22};
    static carom_ray rays[RAYS];
    static carom_hit hits[RAYS];
    uint64_t hit = 0;
    for (int i = 0; i < RAYS; ++i) {
        double *values[] = {&rays[i].origin.x,    &rays[i].origin.y,    &rays[i].origin.z,
                            &rays[i].direction.x, &rays[i].direction.y, &rays[i].direction.z};
        for (int k = 0; k < 6; ++k) *values[k] = carom_random_normal(&random) * (k < 3 ? 3.0 : 1.0);
        if (i % 3 == 0) rays[i].length = carom_random_uniform(&random);
    }
    memset(hits, 0xA5, sizeof(hits));
    assert_ok(context, carom_convex_cast_rays(context, &box, &pose, rays, RAYS, hits));
    for (int i = 0; i < RAYS; ++i) {
        carom_hit alone;
        assert_ok(context, carom_convex_cast_rays(context, &box, &pose, &rays[i], 1, &alone));
        assert_memory_equal(&alone, &hits[i], sizeof(alone));
        hit += alone.id != CAROM_NONE;
    }
    assert_true(hit > 10 && hit < RAYS - 10);
    assert_ok(context, carom_convex_cast_rays(context, &box, &pose, NULL, 0, NULL));
    rays[7].origin.y = (double)NAN;
    assert_fails(context, carom_convex_cast_rays(context, &box, &pose, rays, RAYS, hits),
                 CAROM_BAD_INPUT, "ray 7");
    carom_context_destroy(context);
}

/* Seeded rays: the hit is on the surface, nothing of the shape comes before it, and a miss misses.
 */
static void seeded_rays_are_right(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {21};
    uint64_t hits = 0;
    for (uint64_t i = 0; i < 8000; ++i) {
        convex_case c;
        carom_hit h;
        convex_case_make(context, 10, i, &c);
        oracle_shape a = oracle_posed_shape(&c.a.convex, &c.a.view, &c.pose_a);
        double scale = oracle_scale(&a, &a);
        carom_vec3 centre = c.pose_a.t, d;
        carom_ray ray;
        d = (carom_vec3){carom_random_normal(&random), carom_random_normal(&random),
                         carom_random_normal(&random)};
        ray.origin =
            (carom_vec3){centre.x + scale * d.x, centre.y + scale * d.y, centre.z + scale * d.z};
        ray.direction = (carom_vec3){-d.x + 0.2 * carom_random_normal(&random),
                                     -d.y + 0.2 * carom_random_normal(&random),
                                     -d.z + 0.2 * carom_random_normal(&random)};
        ray.length = 0.0;
        assert_ok(context, carom_convex_cast_rays(context, &c.a.convex, &c.pose_a, &ray, 1, &h));
        bool hit = h.id == 0, inside = hit && h.distance == 0.0;
        assert_true(hit || h.id == CAROM_NONE);
        hits += hit;
        if (hit) assert_true(oracle_outside(&a, h.point) <= 2e-12 * scale);
        if (hit && !inside) { /* a unit normal, on the side of the ray */
            double length =
                sqrt(h.normal.x * h.normal.x + h.normal.y * h.normal.y + h.normal.z * h.normal.z);
            assert_true(near(length, 1.0, 1e-12));
            assert_true(h.normal.x * ray.direction.x + h.normal.y * ray.direction.y +
                            h.normal.z * ray.direction.z <
                        0.0);
        } else {
            assert_true(h.normal.x == 0.0 && h.normal.y == 0.0 && h.normal.z == 0.0);
        }
        for (int k = 1; k < 40; ++k) { /* samples before the hit, or anywhere, are outside */
            double t = hit ? h.distance * k / 40.0 * (1.0 - 1e-9) : k * scale / 13.0;
            carom_vec3 p = {ray.origin.x + t * ray.direction.x, ray.origin.y + t * ray.direction.y,
                            ray.origin.z + t * ray.direction.z};
            if (inside) continue;
            if (c.a.convex.kind == CAROM_CONVEX_KIND_ELLIPSOID && !hit) continue;
            if (!(oracle_outside(&a, p) > 0.0)) {
                fail_msg("case %llu: the ray is in the shape at %g, hit %d at %g",
                         (unsigned long long)i, t, hit, h.distance);
            }
        }
        convex_case_free(&c);
    }
    print_message("%llu of 8000 rays hit\n", (unsigned long long)hits);
    assert_true(hits > 2000);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_on_a_box_has_four_corners),
        cmocka_unit_test(a_capsule_on_its_side_has_two_points),
        cmocka_unit_test(the_normal_is_continuous),
        cmocka_unit_test(points_lie_on_their_shapes),
        cmocka_unit_test(depths_are_along_the_normal),
        cmocka_unit_test(manifolds_scale),
        cmocka_unit_test(poses_do_not_matter),
        cmocka_unit_test(rays_hit_where_they_should),
        cmocka_unit_test(rays_are_cast_together),
        cmocka_unit_test(seeded_rays_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
