/* SPDX-License-Identifier: MIT */
/* Triangulation. Proof without a second triangulator: when the sides of the triangles, added with
 * their directions, leave exactly the sides of the polygon, then the triangles cover each point as
 * often as the polygon winds around it. If all of them turn left as well, none overlap. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/orient.h"
#include "tests/support/test.h"

#define MOST 4096
#define PI   3.14159265358979323846

typedef struct spot {
    double x, y;
} spot;

typedef struct polygon {
    spot points[MOST];
    uint32_t count;
} polygon;

static void put(polygon *p, double x, double y) {
    p->points[p->count++] = (spot){x, y};
}

/* ---- polygons -------------------------------------------------------------------------------- */

static polygon star(carom_random *random, uint32_t count, double low, double high) {
    polygon p = {.count = 0};
    for (uint32_t i = 0; i < count; ++i) {
        double angle = 2.0 * PI * (double)i / (double)count;
        double radius = carom_random_between(random, low, high);
        put(&p, rint(radius * cos(angle)), rint(radius * sin(angle)));
    }
    return p;
}

/* Upper chain above 0, lower chain below, few heights: many corners on one line. */
static polygon monotone(carom_random *random, uint32_t half) {
    polygon p = {.count = 0};
    put(&p, 0.0, 0.0);
    for (uint32_t i = 1; i < half; ++i) put(&p, i, -1.0 - (double)(carom_random_next(random) % 3));
    put(&p, half, 0.0);
    for (uint32_t i = half - 1; i > 0; --i)
        put(&p, i, 1.0 + (double)(carom_random_next(random) % 3));
    return p;
}

static polygon comb(uint32_t teeth) {
    polygon p = {.count = 0};
    for (uint32_t i = 0; i <= 2 * teeth; ++i) put(&p, i, 0.0);
    for (uint32_t i = 2 * teeth; i > 0; --i) put(&p, i, i % 2 == 0 ? 1.0 : 1000.0);
    put(&p, 0.0, 1.0);
    return p;
}

/* A corridor that winds inwards, every unit of it a corner. */
static polygon spiral(int turns) {
    polygon p = {.count = 0};
    int x = 0, y = 0, dx = 1, dy = 0, length = 2 * turns + 2;
    int path[MOST][2], count = 0;
    for (int leg = 0; length > 0; ++leg) {
        for (int i = 0; i < 2 * length; ++i) {
            path[count][0] = x;
            path[count++][1] = y;
            x += dx;
            y += dy;
        }
        int turned = dx;
        dx = -dy;
        dy = turned;
        if (leg % 2 == 1) length -= 2;
    }
    for (int i = 0; i < count; ++i) put(&p, path[i][0], path[i][1]); /* out along one wall */
    for (int i = count - 1; i > 0; --i) { /* back, half a unit to the left */
        int ax = path[i][0] - path[i - 1][0], ay = path[i][1] - path[i - 1][1];
        put(&p, path[i][0] - 0.5 * ay - 0.25 * ax, path[i][1] + 0.5 * ax - 0.25 * ay);
    }
    return p;
}

/* A star with a star-shaped hole, joined by a bridge that is walked twice. */
static polygon with_hole(carom_random *random, uint32_t count) {
    polygon outer = star(random, count, 2e6, 4e6), inner = star(random, count, 1e5, 1e6), p;
    p.count = 0;
    for (uint32_t i = 0; i <= count; ++i)
        put(&p, outer.points[i % count].x, outer.points[i % count].y);
    for (uint32_t i = 0; i <= count; ++i) {
        spot q = inner.points[(count - i) % count];
        put(&p, q.x, q.y);
    }
    return p;
}

/* ---- the check ------------------------------------------------------------------------------- */

typedef struct side {
    uint32_t from, to;
} side;

static int compare_sides(const void *a, const void *b) {
    const side *p = a, *q = b;
    uint32_t pl = p->from < p->to ? p->from : p->to, ph = p->from ^ p->to ^ pl;
    uint32_t ql = q->from < q->to ? q->from : q->to, qh = q->from ^ q->to ^ ql;
    if (pl != ql) return pl < ql ? -1 : 1;
    return ph < qh ? -1 : ph > qh;
}

/* The sides of all triangles less those of the polygon cancel. */
static void assert_same_boundary(const carom_mesh_view *triangles, uint32_t corners) {
    uint64_t count = 3 * triangles->face_count + corners;
    side *sides = malloc(count * sizeof(*sides));
    assert_non_null(sides);
    for (uint64_t i = 0; i < 3 * triangles->face_count; ++i)
        sides[i] = (side){triangles->corners[i], triangles->corners[i % 3 == 2 ? i - 2 : i + 1]};
    for (uint32_t i = 0; i < corners; ++i) sides[count - 1 - i] = (side){(i + 1) % corners, i};
    qsort(sides, count, sizeof(*sides), compare_sides);
    for (uint64_t i = 0; i < count;) {
        int64_t sum = 0;
        uint64_t first = i;
        for (; i < count && compare_sides(&sides[first], &sides[i]) == 0; ++i)
            sum += sides[i].from < sides[i].to ? 1 : -1;
        assert_int_equal(sum, 0);
    }
    free(sides);
}

/* Lays the polygon into a plane of space, along axis or across, forward or backward. */
static carom_mesh *triangulate(carom_context *context, const polygon *p, int pose, double scale,
                               double shift) {
    static double positions[MOST][3];
    static uint32_t corners[MOST];
    int axis = pose % 3;
    for (uint32_t i = 0; i < p->count; ++i) {
        double x = scale * p->points[i].x + shift, y = scale * p->points[i].y + shift;
        positions[i][axis] = pose % 2 == 0 ? 5.0 * scale : x + 2.0 * y;
        positions[i][(axis + 1) % 3] = x;
        positions[i][(axis + 2) % 3] = y;
        corners[i] = i;
    }
    uint64_t offsets[2] = {0, p->count};
    carom_mesh_view view = {.positions = positions,
                            .vertex_count = p->count,
                            .corners = corners,
                            .offsets = offsets,
                            .face_count = 1};
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_triangulate(context, &view, NULL, &mesh, NULL));
    return mesh;
}

static void check(carom_context *context, const polygon *p, bool simple) {
    static const double scales[] = {1.0, 0x1p-300, 0x1p300, 1.0};
    for (int pose = 0; pose < 4; ++pose) {
        carom_mesh *mesh = triangulate(context, p, pose, scales[pose], pose == 3 ? 1048576.0 : 0.0);
        carom_mesh_view view;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_int_equal(view.face_count, p->count - 2);
        assert_same_boundary(&view, p->count);
        for (uint64_t t = 0; simple && t < view.face_count; ++t) {
            const uint32_t *c = view.corners + 3 * t;
            spot x = p->points[c[0]], y = p->points[c[1]], z = p->points[c[2]];
            if (carom_orient2d(x.x, x.y, y.x, y.y, z.x, z.y) <= 0)
                fail_msg("triangle %llu of %u does not turn left", (unsigned long long)t,
                         p->count - 2);
        }
        carom_mesh_destroy(mesh);
    }
}

static void simple_polygons_get_triangles_that_do_not_overlap(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {5};
    for (uint32_t i = 0; i < 150; ++i) {
        polygon p = star(&random, 4 + i % 60, 2e4, 2e6);
        check(context, &p, true);
        p = star(&random, 4 + i % 60, 1e6, 1e6); /* convex */
        check(context, &p, true);
        p = monotone(&random, 2 + i % 40);
        check(context, &p, true);
    }
    for (uint32_t i = 1; i < 30; ++i) {
        polygon p = comb(i);
        check(context, &p, true);
    }
    for (int i = 1; i < 8; ++i) {
        polygon p = spiral(i);
        check(context, &p, true);
    }
    carom_context_destroy(context);
}

static void holes_on_bridges_are_left_out(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {6};
    for (uint32_t i = 0; i < TEST_CASES(300); ++i) {
        polygon p = with_hole(&random, 5 + i % 40);
        check(context, &p, true);
    }
    carom_context_destroy(context);
}

static void any_polygon_at_all_ends_with_its_own_boundary(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {7};
    for (uint32_t i = 0; i < TEST_CASES(3000); ++i) {
        polygon p = {.count = 0};
        uint64_t count = 4 + carom_random_next(&random) % 20, width = 1 + i % 9;
        for (uint64_t k = 0; k < count; ++k) {
            double x = (double)(carom_random_next(&random) % width);
            put(&p, x, (double)(carom_random_next(&random) % width));
        }
        check(context, &p, false);
    }
    polygon tangle = {.count = 0};
    for (uint32_t i = 0; i < MOST; ++i) {
        double x = carom_random_uniform(&random);
        put(&tangle, x, carom_random_uniform(&random));
    }
    check(context, &tangle, false);
    carom_context_destroy(context);
}

static void polygons_in_general_position_keep_their_area(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_random random = {8};
    for (uint32_t round = 0; round < TEST_CASES(200); ++round) {
        polygon p = star(&random, 5 + round % 50, 1e5, 1e6);
        double u[3], v[3], uv = 0.0, uu = 0.0;
        for (int k = 0; k < 3; ++k) {
            u[k] = carom_random_normal(&random);
            v[k] = carom_random_normal(&random);
            uv += u[k] * v[k];
            uu += u[k] * u[k];
        }
        for (int k = 0; k < 3; ++k) v[k] -= uv / uu * u[k];
        double positions[64][3];
        uint32_t corners[64];
        for (uint32_t i = 0; i < p.count; ++i) {
            for (int k = 0; k < 3; ++k)
                positions[i][k] = p.points[i].x * u[k] + p.points[i].y * v[k];
            corners[i] = i;
        }
        uint64_t offsets[2] = {0, p.count};
        carom_mesh_view view = {.positions = positions,
                                .vertex_count = p.count,
                                .corners = corners,
                                .offsets = offsets,
                                .face_count = 1};
        carom_mesh *mesh;
        carom_mesh_report polygon_report, triangle_report;
        assert_ok(context, carom_mesh_inspect(context, &view, &polygon_report));
        assert_ok(context, carom_mesh_triangulate(context, &view, NULL, &mesh, NULL));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_mesh_inspect(context, &view, &triangle_report));
        assert_true(fabs(triangle_report.area - polygon_report.area) <=
                    1e-12 * polygon_report.area);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

static bool count_call(void *user, const char *what, double fraction) {
    (void)what, (void)fraction;
    ++*(uint64_t *)user;
    return false;
}

/* The callback is called once per 256 corners that are tried as ears: their number is linear in
 * that of the corners, so a comb costs no more than its reflex corners. */
static void corners_of_long_combs_are_tried_a_few_times(void **state) {
    (void)state;
    uint64_t calls = 0;
    carom_context *context;
    carom_context_def def = {
        .threads = 1, .progress = count_call, .progress_user = &calls, .progress_interval = -1.0};
    assert_ok(NULL, carom_context_create(&def, &context));
    polygon p = comb(MOST / 4 - 2);
    check(context, &p, true); /* in four poses */
    print_message("%llu calls\n", (unsigned long long)calls);
    assert_in_range(calls, 4 * p.count / 256, 4 * (4 * p.count / 256 + 8));
    carom_context_destroy(context);
}

/* ---- fans and face numbers ------------------------------------------------------------------- */

static void fans_start_at_the_first_corner_and_know_their_faces(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    float positions[6][4] = {{0, 0, 0, 9}, {1, 0, 0, 9}, {1, 1, 0, 9},
                             {0, 1, 0, 9}, {2, 0, 0, 9}, {2, 2, 0, 9}};
    uint32_t corners[12] = {3, 2, 1, 0, 1, 4, 5, 0, 1, 4, 5, 2};
    uint64_t offsets[4] = {0, 4, 7, 12};
    carom_mesh_view view = {.positions = positions,
                            .scalar = CAROM_SCALAR_FLOAT32,
                            .stride = sizeof(positions[0]),
                            .vertex_count = 6,
                            .corners = corners,
                            .offsets = offsets,
                            .face_count = 3};
    carom_mesh_triangulate_def def = {.fan = true};
    carom_numbers faces = {0};
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_triangulate(context, &view, &def, &mesh, &faces));
    static const uint32_t fan[18] = {3, 2, 1, 3, 1, 0, 1, 4, 5, 0, 1, 4, 0, 4, 5, 0, 5, 2};
    static const uint32_t numbers[6] = {0, 0, 1, 2, 2, 2};
    carom_mesh_view triangles;
    assert_ok(context, carom_mesh_get_view(mesh, &triangles));
    assert_int_equal(triangles.face_count, 6);
    assert_null(triangles.offsets);
    assert_memory_equal(triangles.corners, fan, sizeof(fan));
    assert_int_equal(faces.count, 6);
    assert_memory_equal(faces.data, numbers, sizeof(numbers));
    const float *third = (const float *)triangles.positions + 3 * 4;
    assert_true(third[0] == 2.0f && third[2] == 0.0f);
    carom_mesh_destroy(mesh);
    carom_numbers_free(&faces);

    uint32_t room[4] = {7, 7, 7, 7};
    carom_numbers own = {.data = room, .capacity = 3, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_mesh_triangulate(context, &view, NULL, &mesh, &own), CAROM_MORE);
    assert_int_equal(own.count, 6);
    assert_int_equal(room[2], 1);
    assert_int_equal(room[3], 7);
    assert_non_null(mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_polygons_get_triangles_that_do_not_overlap),
        cmocka_unit_test(holes_on_bridges_are_left_out),
        cmocka_unit_test(any_polygon_at_all_ends_with_its_own_boundary),
        cmocka_unit_test(polygons_in_general_position_keep_their_area),
        cmocka_unit_test(corners_of_long_combs_are_tried_a_few_times),
        cmocka_unit_test(fans_start_at_the_first_corner_and_know_their_faces),
    };
    return cmocka_run_group_tests_name("triangulate", tests, NULL, NULL);
}
