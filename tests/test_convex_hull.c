/* SPDX-License-Identifier: MIT */
/* Hulls against their definition, with exact predicates: no point outside a face, all corners
 * extreme, faces flat and convex, the surface closed. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convex/convex_hull.h"

#define MOST_POINTS 400

static int orient(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
    carom_vec3 p[4] = {a, b, c, d};
    return carom_points_orient_3d_value(p);
}

static bool in_line(carom_vec3 a, carom_vec3 b, carom_vec3 c) {
    carom_vec3 p[3] = {a, b, c};
    for (uint32_t axis = 0; axis < 3; ++axis)
        if (carom_points_orient_2d_value(p, axis) != 0) return false;
    return true;
}

static bool same(carom_vec3 a, carom_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* The dimension of the points, by trying. */
static uint32_t dimension_of(const carom_vec3 *p, uint64_t count) {
    uint64_t second = 0, third = 0;
    while (second < count && same(p[0], p[second])) ++second;
    if (second == count) return 0;
    while (third < count && in_line(p[0], p[second], p[third])) ++third;
    if (third == count) return 1;
    for (uint64_t i = 0; i < count; ++i)
        if (orient(p[0], p[second], p[third], p[i]) != 0) return 3;
    return 2;
}

/* A point strictly inside the segment of two others, up to the exact line. */
static bool is_between(carom_vec3 a, carom_vec3 b, carom_vec3 p) {
    if (!in_line(a, b, p) || same(a, p) || same(b, p)) return false;
    double low = fmin(a.x, b.x), high = fmax(a.x, b.x);
    return p.x >= low && p.x <= high && p.y >= fmin(a.y, b.y) && p.y <= fmax(a.y, b.y) &&
           p.z >= fmin(a.z, b.z) && p.z <= fmax(a.z, b.z);
}

static void check_faces(const carom_mesh_view *m, const carom_vec3 *points, uint64_t count,
                        uint32_t dimension) {
    const carom_vec3 *v = m->positions;
    uint32_t *degrees = calloc(m->vertex_count + 1, sizeof(*degrees));
    assert_non_null(degrees);
    for (uint64_t f = 0; f < m->face_count; ++f) {
        uint64_t begin = m->offsets != NULL ? m->offsets[f] : 3 * f;
        uint64_t end = m->offsets != NULL ? m->offsets[f + 1] : 3 * f + 3;
        const uint32_t *c = m->corners + begin;
        uint64_t corners = end - begin;
        assert_true(corners >= 3);
        assert_false(in_line(v[c[0]], v[c[1]], v[c[2]]));
        for (uint64_t i = 0; i < count; ++i)
            assert_true(orient(v[c[0]], v[c[1]], v[c[2]], points[i]) <= 0);
        for (uint64_t i = 0; i < corners; ++i) {
            uint64_t k = (i + 1) % corners, l = (i + 2) % corners;
            ++degrees[c[i]];
            assert_int_equal(orient(v[c[0]], v[c[1]], v[c[2]], v[c[i]]), 0);
            assert_false(in_line(v[c[i]], v[c[k]], v[c[l]]));
        }
    }
    for (uint64_t i = 0; i < m->vertex_count; ++i) {
        if (dimension == 3) assert_true(degrees[i] >= 3);
        if (dimension == 2) assert_int_equal(degrees[i], 2);
    }
    free(degrees);
}

static void check_hull(carom_context *context, const carom_vec3 *points, uint64_t count) {
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = points, .vertex_count = count}};
    carom_hull *hull;
    carom_hull_info info;
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_ok(context, carom_hull_create(context, &def, &hull));
    assert_valid(carom_hull_validate(hull));
    assert_ok(context, carom_hull_get_info(hull, &info));
    assert_ok(context, carom_hull_to_mesh(context, hull, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    uint32_t dimension = dimension_of(points, count);
    assert_int_equal(info.dimension, dimension);
    assert_int_equal(info.vertices, view.vertex_count);
    assert_int_equal(info.faces, view.face_count);
    for (uint64_t v = 0; v < view.vertex_count; ++v) {
        bool given = false;
        for (uint64_t i = 0; i < count; ++i)
            given |= same(((const carom_vec3 *)view.positions)[v], points[i]);
        assert_true(given);
    }
    check_faces(&view, points, count, dimension);
    if (dimension == 3) {
        carom_mesh_report report;
        assert_ok(context, carom_mesh_inspect(context, &view, &report));
        /* the sign is exact where the volume itself is out of range */
        assert_true(report.closed && report.oriented && signbit(report.volume) == 0);
        assert_int_equal(report.shells, 1);
        assert_int_equal(report.unused_vertices, 0);
        assert_int_equal(info.vertices + info.faces, info.edges + 2);
        assert_int_equal(info.edges, report.edges);
    } else if (dimension == 1) {
        const carom_vec3 *v = view.positions;
        for (uint64_t i = 0; i < count; ++i)
            assert_true(same(v[0], points[i]) || same(v[1], points[i]) ||
                        is_between(v[0], v[1], points[i]));
    }
    /* Climbing from anywhere finds what looking at all vertices finds. */
    carom_random random = {count};
    for (int i = 0; i < 20; ++i) {
        const carom_hull_view *h = &hull->view;
        carom_vec3 d = {carom_random_normal(&random), carom_random_normal(&random),
                        carom_random_normal(&random)};
        if (i % 4 == 0) d.x = 0.0;
        if (i % 5 == 0) d.y = 0.0, d.z = 1.0;
        double value = -HUGE_VAL;
        carom_hull_scan(h->all, h->all_count, d, 0, &value);
        for (uint32_t start = 0; start < h->count; ++start) {
            uint32_t found = carom_hull_climb(h, d, start);
            assert_true(carom_vec_dot(h->vertices[found], d) >= value - 1e-14);
        }
        uint32_t seed = h->seeds[carom_hull_cell(d)];
        assert_true(seed < h->count);
    }
    for (uint32_t cell = 0; cell < CAROM_HULL_SEEDS; ++cell)
        assert_int_equal(carom_hull_cell(carom_hull_direction(cell)), cell);
    carom_mesh_destroy(mesh);
    carom_hull_destroy(hull);
}

static void make_points(carom_random *random, int form, carom_vec3 *p, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        double x = carom_random_normal(random), y = carom_random_normal(random);
        double z = carom_random_normal(random), length = sqrt(x * x + y * y + z * z);
        if (form == 1) x /= length, y /= length, z /= length;
        if (form == 2) x = floor(x * 1.5), y = floor(y * 1.5), z = floor(z * 1.5);
        if (form == 3) z = 0.5 * x - 0.25 * y;
        if (form == 4) x = floor(4 * x), y = 3 * x, z = -x;
        if (form == 5) x = 1.0, y = 2.0, z = 3.0;
        if (form == 6) z *= 1e-16;
        if (form == 7) x = floor(x * 2), y = floor(y * 2), z = 7.0;
        if (form == 8) x *= 1e200, y *= 1e200, z *= 1e200;
        if (form == 9) x *= 1e-200, y *= 1e-200, z *= 1e-190;
        if (form == 10 && i > 0 && i % 2 == 1) { /* midpoints and copies */
            uint64_t k = carom_random_next(random) % i;
            x = 0.5 * (p[i - 1].x + p[k].x), y = 0.5 * (p[i - 1].y + p[k].y);
            z = 0.5 * (p[i - 1].z + p[k].z);
        }
        if (form == 11) { /* rings of a cylinder: many coplanar and cocircular */
            int k = (int)(i % 12);
            x = carom_random_next(random) % 2 != 0 ? 5.0 : 3.0;
            y = (double[]){0, 1, 2, 3, 4, 5, 0, 3, 4, 5, -3, -4}[k];
            z = (double[]){5, 2, 2, 4, 3, 0, -5, -4, -3, 0, 4, 3}[k];
        }
        p[i] = (carom_vec3){x, y, z};
    }
}

static void hulls_are_exactly_that(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {5};
    static carom_vec3 points[MOST_POINTS];
    for (int i = 0; i < 1200; ++i) {
        uint64_t count = 1 + carom_random_next(&random) % (i % 10 == 0 ? MOST_POINTS : 24);
        make_points(&random, i % 12, points, count);
        check_hull(context, points, count);
    }
    carom_context_destroy(context);
}

/* The loop of the thesis's Figure 9: on a face across the direction all corners are equally far.
 * Climbing to a neighbour that is as far goes round for ever; ours only goes farther. */
static void climbing_on_a_flat_face_ends(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_vec3 p[65];
    for (int i = 0; i < 64; ++i) {
        double t = 0.0981747704246810387 * i;
        p[i] = (carom_vec3){cos(t), sin(t), 1.0};
    }
    p[64] = (carom_vec3){0.0, 0.0, -1.0};
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = p, .vertex_count = 65}};
    carom_hull *hull;
    assert_ok(context, carom_hull_create(context, &def, &hull));
    const carom_hull_view *h = &hull->view;
    carom_vec3 up = {0.0, 0.0, 1.0};
    for (uint32_t start = 0; start < h->count; ++start) {
        /* The thesis's rule: the best neighbour, be it as good as this vertex. */
        uint32_t at = start, steps = 0;
        for (; steps < 1000; ++steps) {
            double best = -HUGE_VAL;
            uint32_t next = carom_hull_scan(h->neighbours + h->first[at],
                                            h->first[at + 1] - h->first[at], up, at, &best);
            if (best < carom_vec_dot(h->vertices[at], up)) break;
            at = next;
        }
        assert_int_equal(steps, 1000);
        assert_true(h->vertices[carom_hull_climb(h, up, start)].z == h->vertices[at].z);
    }
    carom_hull_destroy(hull);
    carom_context_destroy(context);
}

static carom_status make_hull(carom_allocator allocator, void *argument) {
    const carom_hull_def *def = argument;
    carom_context_def context_def = {.threads = 1, .allocator = allocator};
    carom_context *context;
    carom_hull *hull = NULL;
    carom_mesh *mesh = NULL;
    carom_status status = carom_context_create(&context_def, &context);
    if (status != CAROM_OK) return status;
    status = carom_hull_create(context, def, &hull);
    if (status == CAROM_OK) status = carom_hull_to_mesh(context, hull, &mesh);
    /* As deep as can be: the search needs more room than the stack has. */
    carom_convex shape = {.kind = CAROM_CONVEX_KIND_HULL, .borrowed_hull = hull};
    carom_convex_result r;
    if (status == CAROM_OK)
        status = carom_convex_depth(context, &shape, NULL, &shape, NULL, NULL, &r);
    carom_mesh_destroy(mesh);
    carom_hull_destroy(hull);
    carom_context_destroy(context);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    static carom_vec3 points[2000];
    carom_random random = {6};
    make_points(&random, 1, points, 2000);
    carom_mesh_view view = {.positions = points, .vertex_count = 2000};
    carom_hull_def def = {.mesh = &view};
    test_allocation_failures(make_hull, &def);
    make_points(&random, 3, points, 100);
    view.vertex_count = 100;
    test_allocation_failures(make_hull, &def);
}

static void bad_points_are_refused(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_vec3 p[3] = {{0, 0, 0}, {1, 0, 0}, {0, 2e300, 0}};
    carom_hull_def def = {.mesh = &(carom_mesh_view){.positions = p, .vertex_count = 3}};
    carom_hull *hull;
    assert_fails(context, carom_hull_create(context, &def, &hull), CAROM_BAD_INPUT, "vertex 2");
    p[2].y = (double)NAN;
    assert_fails(context, carom_hull_create(context, &def, &hull), CAROM_BAD_INPUT, "vertex 2");
    assert_fails(context, carom_hull_create(context, NULL, &hull), CAROM_BAD_INPUT, "no vertex");
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_are_exactly_that),
        cmocka_unit_test(climbing_on_a_flat_face_ends),
        cmocka_unit_test(failing_allocations_leak_nothing),
        cmocka_unit_test(bad_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
