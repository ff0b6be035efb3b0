/* SPDX-License-Identifier: MIT */
/* Solids whose overlaps are known on paper, and what the header promises. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shapes.h"
#include "tests/support/test.h"

TEST_CONTEXT(1)

static void assert_near(const char *what, double found, double expected, double most) {
    if (!(fabs(found - expected) <= most))
        fail_msg("%s is %.17g, not %.17g: off by %.3g", what, found, expected, found - expected);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

#define BOXES 4

/* Up to a few boxes as one mesh; those inside out are cavities. */
typedef struct boxes {
    double xyz[8 * BOXES][3];
    uint32_t corners[36 * BOXES];
    carom_mesh_view view;
} boxes;

static void add_box(boxes *b, const double low[3], const double high[3], bool inside_out) {
    static const uint32_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6},
                                          {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7},
                                          {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    uint32_t first = (uint32_t)b->view.vertex_count;
    for (uint32_t v = 0; v < 8; ++v)
        for (int k = 0; k < 3; ++k) b->xyz[first + v][k] = (v >> k & 1u) ? high[k] : low[k];
    for (uint32_t f = 0; f < 12; ++f)
        for (uint32_t i = 0; i < 3; ++i)
            b->corners[3 * (b->view.face_count + f) + i] = first + faces[f][inside_out ? 2 - i : i];
    b->view.positions = b->xyz;
    b->view.corners = b->corners;
    b->view.vertex_count += 8;
    b->view.face_count += 12;
}

static carom_solid *prepare(const carom_mesh_view *view, bool complement) {
    carom_solid *solid;
    carom_solid_def def = {.mesh = view, .complement = complement};
    assert_ok(context, carom_solid_create(context, &def, &solid));
    return solid;
}

static carom_solid *box_solid(double x, double y, double z, bool complement) {
    boxes b = {.view = {0}};
    const double low[3] = {0, 0, 0}, high[3] = {x, y, z};
    add_box(&b, low, high, false);
    return prepare(&b.view, complement);
}

static carom_solid_result overlap_of(const carom_solid *a, const carom_solid *b, carom_pose pose) {
    carom_solid_result o;
    carom_solid_query_def def = {.distance = true};
    assert_ok(context, carom_solid_overlap(context, a, NULL, b, &pose, &def, &o));
    return o;
}

/* The common part of [0, a] and [t, t + b]. */
static double common(double a, double b, double t, double *middle) {
    double low = fmax(0.0, t), high = fmin(a, t + b);
    *middle = 0.5 * (low + high);
    return fmax(high - low, 0.0);
}

static void boxes_overlap_as_boxes_do(void **state) {
    (void)state;
    const double a[3] = {3, 2, 4}, b[3] = {2, 3, 1};
    carom_solid *x = box_solid(a[0], a[1], a[2], false), *y = box_solid(b[0], b[1], b[2], false);
    carom_solid *rest = box_solid(b[0], b[1], b[2], true);
    carom_random random = {1};
    uint64_t seen[CAROM_RELATION_COUNT] = {0};
    for (int i = 0; i < TEST_CASES(4000); ++i) {
        double t[3], m[3], s[3];
        for (int k = 0; k < 3; ++k) /* often in one plane */
            t[k] = i % 3 == 0 ? carom_random_between(&random, -4, 5)
                              : (double)(carom_random_next(&random) % 19) / 2 - 4.0;
        for (int k = 0; k < 3; ++k) s[k] = common(a[k], b[k], t[k], &m[k]);
        carom_pose pose = {.t = {t[0], t[1], t[2]}};
        double volume = s[0] * s[1] * s[2];
        carom_solid_result o = overlap_of(x, y, pose), other = overlap_of(x, rest, pose);
        assert_near("the volume", o.volume, volume, 1e-14 * 6);
        assert_near("the rest", other.volume, 24 - volume, 1e-13);
        assert_true(fabs(o.volume - volume) <= o.volume_error + 1e-15 * volume);
        ++seen[o.relation];
        if (volume > 0.0) {
            assert_near("centroid x", o.centroid.x, m[0], 1e-13);
            assert_near("centroid y", o.centroid.y, m[1], 1e-13);
            assert_near("centroid z", o.centroid.z, m[2], 1e-13);
            assert_near("the area", o.area, 2 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]), 1e-12);
        }
        bool far = t[0] > 3 || t[0] < -2 || t[1] > 2 || t[1] < -3 || t[2] > 4 || t[2] < -1;
        assert_int_equal(o.relation == CAROM_RELATION_APART, far);
        assert_true(o.has_distance && (o.distance > 0.0) == far);
        if (!far && volume == 0.0) assert_int_equal(o.relation, CAROM_RELATION_TOUCHING);
        if (far) {
            double gap[3], length = 0.0;
            for (int k = 0; k < 3; ++k) {
                gap[k] = fmax(fmax(t[k] - a[k], -t[k] - b[k]), 0.0);
                length += gap[k] * gap[k];
            }
            assert_near("the distance", o.distance, sqrt(length), 1e-14);
        }
    }
    assert_true(seen[CAROM_RELATION_APART] > 0 && seen[CAROM_RELATION_TOUCHING] > 0);
    carom_solid_destroy(x);
    carom_solid_destroy(y);
    carom_solid_destroy(rest);
}

static void what_is_inside_is_inside(void **state) {
    (void)state;
    carom_solid *large = box_solid(4, 4, 4, false), *small = box_solid(1, 1, 1, false);
    carom_solid *small_rest = box_solid(1, 1, 1, true);
    static const struct {
        double t[3];
        carom_relation relation;
        bool one_sided;
    } cases[] = {{{1, 1, 1}, CAROM_RELATION_B_INSIDE_A, false},
                 {{0, 1, 1}, CAROM_RELATION_B_INSIDE_A, true}, /* against a wall */
                 {{3, 3, 3}, CAROM_RELATION_B_INSIDE_A, true}, /* in a corner */
                 {{3.5, 1, 1}, CAROM_RELATION_OVERLAPPING, false},
                 {{4, 1, 1}, CAROM_RELATION_TOUCHING, true},
                 {{4, 4, 1}, CAROM_RELATION_TOUCHING, false},
                 {{4, 4, 4}, CAROM_RELATION_TOUCHING, false},
                 {{-1, -1, -1}, CAROM_RELATION_TOUCHING, false},
                 {{5, 1, 1}, CAROM_RELATION_APART, false}};
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        const double *t = cases[i].t;
        carom_solid_result o = overlap_of(large, small, (carom_pose){.t = {t[0], t[1], t[2]}});
        assert_int_equal(o.relation, cases[i].relation);
        assert_int_equal(o.one_sided, cases[i].one_sided);
        o = overlap_of(small, large, (carom_pose){.t = {-t[0], -t[1], -t[2]}});
        carom_relation swapped = cases[i].relation == CAROM_RELATION_B_INSIDE_A
                                     ? CAROM_RELATION_A_INSIDE_B
                                     : cases[i].relation;
        assert_int_equal(o.relation, swapped);
    }
    carom_solid_result same = overlap_of(large, large, (carom_pose){0});
    assert_int_equal(same.relation, CAROM_RELATION_A_INSIDE_B);
    assert_true(same.one_sided && fabs(same.volume - 64) <= same.volume_error);
    carom_solid_result outside = overlap_of(small, small_rest, (carom_pose){.t = {3, 0, 0}});
    assert_int_equal(outside.relation, CAROM_RELATION_A_INSIDE_B);
    assert_near("what is outside", outside.volume, 1, 0);
    carom_solid_destroy(large);
    carom_solid_destroy(small);
    carom_solid_destroy(small_rest);
}

/* A box with a box-shaped cavity with a box in it, and one beside. */
static void shells_and_cavities_are_solids(void **state) {
    (void)state;
    const double at[4][2] = {{0, 10}, {2, 8}, {4, 6}, {20, 21}};
    boxes b = {.view = {0}};
    for (int i = 0; i < 4; ++i) {
        const double low[3] = {at[i][0], at[i][0], at[i][0]};
        const double high[3] = {at[i][1], at[i][1], at[i][1]};
        add_box(&b, low, high, i == 1);
    }
    carom_solid *shells = prepare(&b.view, false), *probe = box_solid(1, 1, 1, false);
    carom_solid *slab = box_solid(30, 30, 1, false);
    carom_solid_info info;
    assert_ok(context, carom_solid_get_info(shells, &info));
    assert_int_equal(info.shells, 4);
    assert_false(info.by_winding || info.self_intersecting || info.inside_out);
    assert_near("the volume", info.volume, 1000 - 216 + 8 + 1, 0);
    double cx = (1000 * 5.0 - 216 * 5.0 + 8 * 5.0 + 20.5) / info.volume;
    assert_near("the centroid", info.centroid.x, cx, 1e-14);
    const double probes[][2] = {{0.5, 1}, {3, 0}, {4.5, 1}, {7.5, 0.875}, {15, 0}, {20, 1}};
    for (size_t i = 0; i < COUNT_OF(probes); ++i) {
        double t = probes[i][0];
        carom_solid_result o = overlap_of(shells, probe, (carom_pose){.t = {t, t, t}});
        assert_near("a probe's share", o.volume, probes[i][1], 1e-15);
    }
    carom_solid_result o = overlap_of(shells, probe, (carom_pose){.t = {3, 3, 2.5}});
    assert_int_equal(o.relation, CAROM_RELATION_APART); /* in the cavity */
    assert_near("the distance in the cavity", o.distance, 0.5, 1e-15);
    o = overlap_of(shells, slab, (carom_pose){.t = {-1, -1, 4.5}});
    assert_near("a slice", o.volume, 100 - 36 + 4, 1e-13);
    carom_solid_patches patches = {0};
    carom_pose pose = {.t = {-1, -1, 4.5}};
    assert_ok(context, carom_solid_overlap_patches(context, shells, NULL, slab, &pose, &patches));
    assert_int_equal(patches.count, 2); /* a ring and what is in it */
    assert_near("the ring", patches.data[0].volume, 64, 1e-13);
    assert_near("its middle", patches.data[0].centroid.x, 5, 1e-13);
    assert_near("its area", patches.data[0].area, 2 * 64 + 40 + 24, 1e-12);
    assert_near("the core", patches.data[1].volume, 4, 1e-14);
    /* all of it: voids belong to what is around them */
    carom_solid *all = box_solid(40, 40, 40, false);
    pose.t = (carom_vec3){-5, -5, -5};
    assert_ok(context, carom_solid_overlap_patches(context, shells, NULL, all, &pose, &patches));
    assert_int_equal(patches.count, 3);
    assert_near("the hollow one", patches.data[0].volume, 784, 1e-12);
    carom_solid_patches_free(&patches);
    carom_solid_destroy(shells);
    carom_solid_destroy(probe);
    carom_solid_destroy(slab);
    carom_solid_destroy(all);
}

/* ---- force ----------------------------------------------------------------------------------- */

/* Cubes whose faces lie in one another: the volume has a kink, of which the force is the mean. */
static void cubes_push_straight(void **state) {
    (void)state;
    carom_solid *cube = box_solid(2, 2, 2, false), *rest = box_solid(2, 2, 2, true);
    static const struct {
        double t[3], force[3], torque[3], area;
    } cases[] = {{{1.5, 0, 0}, {4, 0, 0}, {0, 0, 0}, 12},
                 {{0, -1.5, 0}, {0, -4, 0}, {0, 0, 0}, 12},
                 {{1.5, 1, 0}, {2, 1, 0}, {0, 0, 0.25}, 7},
                 {{2, 0, 0}, {2, 0, 0}, {0, 0, 0}, 4}, /* touching: half of nothing and all */
                 {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 24}};
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        const double *t = cases[i].t, *f = cases[i].force, *m = cases[i].torque;
        carom_pose pose = {.t = {t[0], t[1], t[2]}};
        carom_solid_result o = overlap_of(cube, cube, pose);
        assert_true(o.one_sided);
        assert_near("force x", o.force.x, f[0], 1e-14);
        assert_near("force y", o.force.y, f[1], 1e-14);
        assert_near("force z", o.force.z, f[2], 1e-14);
        assert_near("torque x", o.torque.x, m[0], 1e-14);
        assert_near("torque y", o.torque.y, m[1], 1e-14);
        assert_near("torque z", o.torque.z, m[2], 1e-14);
        assert_near("the area", o.area, cases[i].area, 1e-13);
        /* what the rest of space has of the cube is less by as much */
        carom_solid_result other = overlap_of(cube, rest, pose);
        assert_true(other.one_sided);
        assert_near("force x on the rest", other.force.x, -f[0], 1e-14);
        assert_near("force y on the rest", other.force.y, -f[1], 1e-14);
        assert_near("force z on the rest", other.force.z, -f[2], 1e-14);
        assert_near("torque z on the rest", other.torque.z, -m[2], 1e-14);
        carom_solid_patches patches = {0};
        assert_ok(context, carom_solid_overlap_patches(context, cube, NULL, cube, &pose, &patches));
        assert_int_equal(patches.count, o.volume > 0.0 ? 1 : 0);
        if (patches.count == 1) {
            assert_near("a piece's force x", patches.data[0].force.x, f[0], 1e-14);
            assert_near("a piece's force y", patches.data[0].force.y, f[1], 1e-14);
            assert_near("a piece's area", patches.data[0].area, cases[i].area, 1e-13);
        }
        carom_solid_patches_free(&patches);
    }
    carom_solid_destroy(cube);
    carom_solid_destroy(rest);
}

/* The pose turned by a small angle about an axis through a point. */
static carom_pose turned(carom_pose p, carom_vec3 pivot, int axis, double angle) {
    double q[4] = {cos(angle / 2), 0, 0, 0};
    q[1 + axis] = sin(angle / 2);
    carom_pose r = {.q.w = q[0] * p.q.w - q[1] * p.q.x - q[2] * p.q.y - q[3] * p.q.z,
                    .q.x = q[0] * p.q.x + q[1] * p.q.w + q[2] * p.q.z - q[3] * p.q.y,
                    .q.y = q[0] * p.q.y - q[1] * p.q.z + q[2] * p.q.w + q[3] * p.q.x,
                    .q.z = q[0] * p.q.z + q[1] * p.q.y - q[2] * p.q.x + q[3] * p.q.w};
    double d[3] = {p.t.x - pivot.x, p.t.y - pivot.y, p.t.z - pivot.z}, e[3];
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    e[axis] = d[axis];
    e[i] = cos(angle) * d[i] - sin(angle) * d[j];
    e[j] = sin(angle) * d[i] + cos(angle) * d[j];
    r.t = (carom_vec3){pivot.x + e[0], pivot.y + e[1], pivot.z + e[2]};
    return r;
}

static void force_and_torque_are_derivatives(void **state) {
    (void)state;
    carom_shape_def torus = {.shape = CAROM_SHAPE_TORUS, .detail = 24};
    carom_shape_def intersection = {.shape = CAROM_SHAPE_KNOT, .detail = 96, .ratio = 0.2};
    carom_solid *a = shape_solid(context, &torus, false),
                *b = shape_solid(context, &intersection, false);
    carom_random random = {5};
    for (int i = 0; i < 10; ++i) {
        carom_pose p = {.q.w = 1,
                        .q.x = carom_random_normal(&random),
                        .q.y = carom_random_normal(&random),
                        .q.z = carom_random_normal(&random)};
        double length = sqrt(1 + p.q.x * p.q.x + p.q.y * p.q.y + p.q.z * p.q.z);
        p.q.w /= length, p.q.x /= length, p.q.y /= length, p.q.z /= length;
        p.t = (carom_vec3){carom_random_between(&random, -1, 1),
                           carom_random_between(&random, -1, 1), 0.25};
        carom_solid_result o = overlap_of(a, b, p);
        carom_solid_info info;
        assert_ok(context, carom_solid_get_info(b, &info));
        assert_near("the intersection's centroid", info.centroid.x, 0, 1e-3);
        double h = 1e-5, force[3] = {o.force.x, o.force.y, o.force.z};
        double torque[3] = {o.torque.x, o.torque.y, o.torque.z};
        /* the centroid in the pose: x + 2 w (q x c) + 2 q x (q x c) + t, small as c is */
        carom_vec3 c = info.centroid;
        carom_vec3 u = {p.q.y * c.z - p.q.z * c.y, p.q.z * c.x - p.q.x * c.z,
                        p.q.x * c.y - p.q.y * c.x};
        carom_vec3 pivot = {c.x + 2 * (p.q.w * u.x + p.q.y * u.z - p.q.z * u.y) + p.t.x,
                            c.y + 2 * (p.q.w * u.y + p.q.z * u.x - p.q.x * u.z) + p.t.y,
                            c.z + 2 * (p.q.w * u.z + p.q.x * u.y - p.q.y * u.x) + p.t.z};
        for (int k = 0; k < 3; ++k) {
            double moved[2], turn[2];
            for (int s = 0; s < 2; ++s) {
                carom_pose q = p;
                double *t[3] = {&q.t.x, &q.t.y, &q.t.z};
                *t[k] += s == 0 ? -h : h;
                moved[s] = overlap_of(a, b, q).volume;
                turn[s] = overlap_of(a, b, turned(p, pivot, k, s == 0 ? -h : h)).volume;
            }
            assert_near("a force", force[k], -(moved[1] - moved[0]) / (2 * h), 1e-6);
            assert_near("a torque", torque[k], -(turn[1] - turn[0]) / (2 * h), 1e-6);
        }
    }
    carom_solid_destroy(a);
    carom_solid_destroy(b);
}

/* ---- promises -------------------------------------------------------------------------------- */

static void the_same_bytes_for_any_number_of_threads(void **state) {
    (void)state;
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 2048};
    carom_solid *a = shape_solid(context, &shape, false);
    carom_pose pose = {.q.w = 0.9, .q.x = 0.2, .q.y = -0.3, .q.z = 0.1, .t = {0.1, 0.05, -0.2}};
    carom_solid_result expected;
    carom_solid_patches patches[2] = {{0}, {0}};
    assert_ok(context, carom_solid_overlap(context, a, NULL, a, &pose, NULL, &expected));
    assert_ok(context, carom_solid_overlap_patches(context, a, NULL, a, &pose, &patches[0]));
    assert_int_equal(expected.relation, CAROM_RELATION_OVERLAPPING);
    for (uint32_t threads = 1; threads <= 4; ++threads) {
        for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
            carom_context *other = test_context_isa(threads, (carom_isa)isa);
            carom_solid_result o;
            if (other == NULL) continue;
            memset(&o, 1, sizeof(o));
            assert_ok(other, carom_solid_overlap(other, a, NULL, a, &pose, NULL, &o));
            assert_memory_equal(&o, &expected, sizeof(o));
            assert_ok(other, carom_solid_overlap_patches(other, a, NULL, a, &pose, &patches[1]));
            assert_int_equal(patches[0].count, patches[1].count);
            assert_memory_equal(patches[0].data, patches[1].data,
                                patches[0].count * sizeof(carom_solid_patch));
            carom_context_destroy(other);
        }
    }
    carom_solid_patches_free(&patches[0]);
    carom_solid_patches_free(&patches[1]);
    carom_solid_destroy(a);
}

static void nothing_is_allocated_once_warm(void **state) {
    (void)state;
    carom_context *two = test_context(2);
    carom_shape_def shape = {.shape = CAROM_SHAPE_KNOT, .detail = 1024};
    carom_solid *a = shape_solid(context, &shape, false);
    carom_pose pose = {.q.w = 0.9, .q.x = 0.2, .q.y = -0.3, .q.z = 0.1, .t = {0.1, 0.05, -0.2}};
    carom_solid_result o;
    /* A worker that comes too late for the first queries takes its scratch later. */
    int quiet = 0;
    for (int i = 0; i < 200 && quiet < 10; ++i) {
        uint64_t before = test_malloc_count();
        assert_ok(two, carom_solid_overlap(two, a, NULL, a, &pose, NULL, &o));
        quiet = test_malloc_count() == before ? quiet + 1 : 0;
    }
    assert_int_equal(quiet, 10);
    carom_solid_destroy(a);
    carom_context_destroy(two);
}

static carom_status work(carom_allocator allocator, void *argument) {
    (void)argument;
    carom_context *own = NULL;
    carom_solid *a = NULL;
    carom_solid_result o;
    carom_solid_patches patches = {0};
    boxes b = {.view = {0}};
    const double low[3] = {0, 0, 0}, high[3] = {1, 2, 3};
    const carom_pose pose = {.t = {0.5, 0.25, 0.125}};
    add_box(&b, low, high, false);
    carom_context_def def = {.threads = 1, .allocator = allocator};
    carom_status status = carom_context_create(&def, &own);
    carom_solid_def solid = {.mesh = &b.view};
    if (status == CAROM_OK) status = carom_solid_create(own, &solid, &a);
    if (status == CAROM_OK) status = carom_solid_overlap(own, a, NULL, a, &pose, NULL, &o);
    if (status == CAROM_OK) status = carom_solid_overlap_patches(own, a, NULL, a, &pose, &patches);
    carom_solid_patches_free(&patches);
    carom_solid_destroy(a);
    carom_context_destroy(own);
    return status;
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    test_allocation_failures(work, NULL);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void meshes_that_are_no_solids_are_refused(void **state) {
    (void)state;
    boxes b = {.view = {0}};
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
    carom_solid *solid;
    assert_fails(context, carom_solid_create(context, NULL, &solid), CAROM_BAD_INPUT, "no faces");
    add_box(&b, low, high, false);
    carom_mesh_view mesh_view = b.view;
    carom_solid_def def = {.mesh = &mesh_view};
    mesh_view.face_count = 11;
    assert_fails(context, carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT,
                 "3 edges have one face only, the first between vertices 3 and 5");
    assert_null(solid);
    mesh_view.face_count = 12;
    uint32_t swap = b.corners[34];
    b.corners[34] = b.corners[35];
    b.corners[35] = swap;
    assert_fails(context, carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT,
                 "not consistently oriented");
    b.corners[35] = b.corners[34];
    b.corners[34] = swap;
    b.xyz[2][1] = NAN;
    assert_fails(context, carom_solid_create(context, &def, &solid), CAROM_BAD_INPUT, "");
    b.xyz[2][1] = high[1];
    assert_ok(context, carom_solid_create(context, &def, &solid));
    carom_pose bad = {.t = {INFINITY, 0, 0}};
    carom_solid_result o;
    carom_solid *rest = prepare(&mesh_view, true);
    assert_fails(context, carom_solid_overlap(context, solid, &bad, solid, NULL, NULL, &o),
                 CAROM_BAD_INPUT, "the pose of a");
    assert_fails(context, carom_solid_overlap(context, rest, NULL, rest, NULL, NULL, &o),
                 CAROM_BAD_INPUT, "infinite");
    test_asserts_begin();
    assert_int_equal(carom_solid_create(NULL, &def, &solid), CAROM_INVALID);
    assert_int_equal(carom_solid_create(context, &def, NULL), CAROM_INVALID);
    assert_int_equal(carom_solid_overlap(context, rest, NULL, NULL, NULL, NULL, &o), CAROM_INVALID);
    assert_int_equal(carom_solid_overlap(context, rest, NULL, rest, NULL, NULL, NULL),
                     CAROM_INVALID);
    assert_int_equal(carom_solid_overlap_patches(context, rest, NULL, rest, NULL, NULL),
                     CAROM_INVALID);
    assert_int_equal(carom_solid_get_info(NULL, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 6);
    carom_solid_destroy(NULL);
    carom_solid_destroy(rest);
    carom_solid_destroy(solid);
}

static void odd_meshes_say_what_they_are(void **state) {
    (void)state;
    const double low[3] = {0, 0, 0}, high[3] = {2, 2, 2}, more[3] = {1, 1, 1}, top[3] = {3, 3, 3};
    boxes out = {.view = {0}}, twice = {.view = {0}};
    carom_solid_info info;
    add_box(&out, low, high, true);
    carom_solid *turned_box = prepare(&out.view, false), *probe = box_solid(1, 1, 1, false);
    assert_ok(context, carom_solid_get_info(turned_box, &info));
    assert_true(info.inside_out && !info.by_winding && info.volume == 8);
    carom_solid_result o = overlap_of(turned_box, probe, (carom_pose){.t = {1.5, 0.5, 0.5}});
    assert_near("of a turned box", o.volume, 0.5, 1e-15);
    add_box(&twice, low, high, false);
    add_box(&twice, more, top, false);
    carom_solid *crossing = prepare(&twice.view, false);
    assert_ok(context, carom_solid_get_info(crossing, &info));
    assert_true(info.self_intersecting && info.by_winding && !info.inside_out);
    o = overlap_of(crossing, probe, (carom_pose){.t = {1, 1, 1}});
    assert_near("enclosed twice", o.volume, 2, 1e-14);
    assert_true(o.by_winding);
    /* A box, two faces back to back at one of its vertices, and a face that is a point elsewhere:
     * as many shells as components, but not one in each. The faces at the vertex are the largest.
     */
    boxes flap = {.view = {0}};
    const uint32_t faces[9] = {7, 8, 9, 7, 9, 8, 10, 10, 10};
    add_box(&flap, low, high, false);
    for (uint32_t v = 8; v < 11; ++v)
        for (uint32_t k = 0; k < 3; ++k)
            flap.xyz[v][k] = v == 10 ? -9.0 : 9.0 + 9.0 * ((v + k) % 2);
    memcpy(flap.corners + 36, faces, sizeof(faces));
    flap.view.vertex_count = 11;
    flap.view.face_count = 15;
    carom_solid *with_flap = prepare(&flap.view, false), *around = box_solid(40, 40, 40, false);
    o = overlap_of(with_flap, around, (carom_pose){.t = {-20, -20, -20}});
    assert_near("a box with a flap", o.volume, 8, 1e-14);
    assert_int_equal(o.relation, CAROM_RELATION_A_INSIDE_B);
    carom_solid_destroy(with_flap);
    carom_solid_destroy(around);
    carom_solid_destroy(turned_box);
    carom_solid_destroy(crossing);
    carom_solid_destroy(probe);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_overlap_as_boxes_do),
        cmocka_unit_test(what_is_inside_is_inside),
        cmocka_unit_test(shells_and_cavities_are_solids),
        cmocka_unit_test(cubes_push_straight),
        cmocka_unit_test(force_and_torque_are_derivatives),
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(nothing_is_allocated_once_warm),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(meshes_that_are_no_solids_are_refused),
        cmocka_unit_test(odd_meshes_say_what_they_are),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
