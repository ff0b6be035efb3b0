/* SPDX-License-Identifier: MIT */
/* Generalised winding numbers and signed distances: against sums of solid angles in long doubles,
 * exact winding numbers and nearest faces; error bounds of far fields; the same bits everywhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "bvh/bvh_fraction_item.h"
#include "bvh/bvh_winding.h"
#include "tests/support/shapes.h"

#define POINTS 400

static const long double PI_L = 3.14159265358979323846264338327950288L;

/* ---- the oracle ------------------------------------------------------------------------------ */

typedef struct vec_l {
    long double x, y, z;
} vec_l;

static vec_l seen_from(const carom_vec3 *corner, carom_vec3 p) {
    vec_l v = {(long double)corner->x - (long double)p.x, (long double)corner->y - (long double)p.y,
               (long double)corner->z - (long double)p.z};
    return v;
}

static long double dot(vec_l a, vec_l b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static long double solid_angle(const carom_triangle *t, carom_vec3 p) {
    vec_l a = seen_from(&t->corner[0], p), b = seen_from(&t->corner[1], p);
    vec_l c = seen_from(&t->corner[2], p);
    long double la = sqrtl(dot(a, a)), lb = sqrtl(dot(b, b)), lc = sqrtl(dot(c, c));
    long double volume = a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) +
                         a.z * (b.x * c.y - b.y * c.x);
    return 2.0L * atan2l(volume, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

/* Triangles with coordinates in doubles. */
static carom_triangle triangle_of(const carom_mesh_view *view, uint64_t face) {
    carom_triangle t;
    for (int i = 0; i < 3; ++i) {
        const double *xyz =
            (const double *)view->positions + 3 * (uint64_t)view->corners[3 * face + (uint64_t)i];
        t.corner[i] = (carom_vec3){xyz[0], xyz[1], xyz[2]};
    }
    return t;
}

static double winding_by_angles(const carom_mesh_view *view, carom_vec3 p, uint64_t removed) {
    long double sum = 0.0L;
    for (uint64_t f = removed; f < view->face_count; ++f) {
        carom_triangle t = triangle_of(view, f);
        sum += solid_angle(&t, p);
    }
    return (double)(sum / (4.0L * PI_L));
}

/* ---- meshes and points ----------------------------------------------------------------------- */

static const carom_shape_def shapes[] = {
    {.shape = CAROM_SHAPE_SPHERE, .detail = 4},  {.shape = CAROM_SHAPE_KNOT, .detail = 64},
    {.shape = CAROM_SHAPE_CLOTH, .detail = 32},  {.shape = CAROM_SHAPE_TORUS, .detail = 24},
    {.shape = CAROM_SHAPE_SHARDS, .parts = 24},  {.shape = CAROM_SHAPE_BOX, .detail = 1},
    {.shape = CAROM_SHAPE_CHAZELLE, .detail = 8}};

static void make_points(carom_random *random, double size, carom_vec3 *points) {
    for (int i = 0; i < POINTS; ++i) {
        double reach = i % 8 == 0 ? 100.0 * size : size;
        points[i].x = carom_random_between(random, -reach, reach);
        points[i].y = carom_random_between(random, -reach, reach);
        points[i].z = carom_random_between(random, -reach, reach);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Of whole shapes and of what is left when faces are removed. */
static void fractions_are_sums_of_solid_angles(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_random random = {1};
    static carom_vec3 points[POINTS];
    static double fractions[POINTS];
    for (size_t s = 0; s < COUNT_OF(shapes); ++s) {
        carom_mesh_view view;
        carom_soup *soup;
        double worst = 0.0, sum = 0.0;
        carom_mesh *mesh = shape_mesh(context, &shapes[s], &view);
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
        for (int open = 0; open < 2; ++open) {
            uint64_t removed = open == 0 ? 0 : view.face_count / 3;
            for (uint32_t f = 0; f < removed; ++f)
                assert_ok(context, carom_soup_remove(context, soup, &f, 1));
            make_points(&random, 1.5, points);
            assert_ok(context,
                      carom_soup_winding_fractions(context, soup, points, POINTS, fractions));
            for (int i = 0; i < POINTS; ++i) {
                double truth = winding_by_angles(&view, points[i], removed);
                double error = fabs(fractions[i] - truth);
                worst = error > worst ? error : worst;
                sum += error;
            }
        }
        print_message("%-9s error %.1e in the mean, %.1e at most\n",
                      carom_shape_name(shapes[s].shape), sum / (2 * POINTS), worst);
        assert_true(worst <= 0.01);
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

/* The bound of what moments leave out, for random triangles and distances. */
static void far_fields_keep_to_their_bounds(void **state) {
    (void)state;
    enum { TRIANGLES = 16 };
    carom_random random = {2};
    carom_context *context = test_context(1);
    int far = 0;
    double tightest = 0.0;
    for (int i = 0; i < 20000; ++i) {
        carom_bvh_moments moments;
        carom_bvh_angles sum;
        double xyz[3 * TRIANGLES][3], size = ldexp(1.0, -(int)(carom_random_next(&random) % 5));
        uint32_t corners[3 * TRIANGLES];
        for (uint32_t c = 0; c < 3 * TRIANGLES; ++c) {
            corners[c] = c;
            for (int k = 0; k < 3; ++k) xyz[c][k] = size * carom_random_between(&random, -1, 1);
        }
        carom_mesh_view view = {.positions = xyz,
                                .vertex_count = 3 * TRIANGLES,
                                .corners = corners,
                                .face_count = 1 + carom_random_next(&random) % TRIANGLES};
        carom_soup *soup;
        carom_vec3 point;
        double fraction;
        for (int k = 0; k < 3; ++k) (&point.x)[k] = carom_random_between(&random, -4, 4);
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
        assert_ok(context, carom_soup_winding_fractions(context, soup, &point, 1, &fraction));
        double truth = winding_by_angles(&view, point, 0);
        assert_true(fabs(fraction - truth) <= CAROM_BVH_FRACTION_ERROR);
        carom_soup_destroy(soup);

        /* One dipole alone, and where it may be used. */
        memset(&moments, 0, sizeof(moments));
        memset(&sum, 0, sizeof(sum));
        carom_triangle t = triangle_of(&view, 0);
        double centre[3], normal[3], away = 0.0;
        for (int k = 0; k < 3; ++k) {
            int y = (k + 1) % 3, z = (k + 2) % 3;
            centre[k] = (xyz[0][k] + xyz[1][k] + xyz[2][k]) / 3.0;
            normal[k] = 0.5 * ((xyz[1][y] - xyz[0][y]) * (xyz[2][z] - xyz[0][z]) -
                               (xyz[1][z] - xyz[0][z]) * (xyz[2][y] - xyz[0][y]));
            moments.row[CAROM_BVH_CENTRE + k][3] = centre[k];
            moments.row[CAROM_BVH_NORMAL + k][3] = normal[k];
        }
        double area = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        double spread = 0.0, products[3][3] = {{0}};
        for (int c = 0; c < 3; ++c) {
            double arm[3], square = 0.0;
            for (int k = 0; k < 3; ++k) {
                arm[k] = xyz[c][k] - centre[k];
                square += arm[k] * arm[k];
            }
            away = sqrt(square) > away ? sqrt(square) : away;
            spread += area / 3.0 * square * sqrt(square);
            for (int j = 0; j < 9; ++j) products[j / 3][j % 3] += arm[j / 3] * arm[j % 3] / 12.0;
        }
        static const int index[10][3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 0, 1}, {0, 0, 2},
                                         {0, 1, 1}, {1, 1, 2}, {0, 2, 2}, {1, 2, 2}, {0, 1, 2}};
        for (int k = 0; k < 10; ++k) {
            int a = index[k][0], b = index[k][1], c = index[k][2];
            moments.row[CAROM_BVH_SECOND + k][3] =
                (normal[a] * products[b][c] + normal[b] * products[a][c] +
                 normal[c] * products[a][b]) /
                3.0;
        }
        moments.row[CAROM_BVH_AREA][3] = area;
        moments.row[CAROM_BVH_RADIUS][3] = away;
        moments.row[CAROM_BVH_SPREAD][3] = spread;
        const double at[3] = {point.x, point.y, point.z};
        uint32_t open = CAROM_CPU_CALL(context, carom_bvh_add_far)(&moments, at, 10.0, &sum);
        assert_true(open == 0 || open == 1u << 3);
        if (open != 0) continue;
        double error = fabs(sum.far[3] - (double)solid_angle(&t, point));
        assert_true(error <= sum.error[3] * (1.0 + 1e-9) + 1e-14);
        if (sum.error[3] > 1e-6) tightest = fmax(error / sum.error[3], tightest);
        ++far;
    }
    print_message("%d far fields; the largest error is %.2f of its bound\n", far, tightest);
    assert_true(far > 1000);
    carom_context_destroy(context);
}

/* Of a balanced soup the number is the winding number, and distances take its sign. */
static void signs_are_those_of_winding_numbers(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_random random = {3};
    static carom_vec3 points[POINTS];
    static double fractions[POINTS], distances[POINTS];
    static int32_t windings[POINTS];
    static carom_hit hits[POINTS], nearest[POINTS];
    for (size_t s = 0; s < COUNT_OF(shapes); ++s) {
        carom_mesh_view view;
        carom_mesh_report report;
        carom_soup *soup;
        int inside = 0;
        carom_mesh *mesh = shape_mesh(context, &shapes[s], &view);
        assert_ok(context, carom_mesh_inspect(context, &view, &report));
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
        make_points(&random, 1.2, points);
        carom_triangle t = triangle_of(&view, 0);
        points[1] = t.corner[0];
        assert_ok(context, carom_soup_winding_fractions(context, soup, points, POINTS, fractions));
        assert_ok(context, carom_soup_winding(context, soup, points, POINTS, windings));
        assert_ok(context, carom_soup_closest_points(context, soup, points, POINTS, nearest));
        memset(hits, 0, sizeof(hits));
        assert_ok(context,
                  carom_soup_signed_distances(context, soup, points, POINTS, distances, hits));
        for (int i = 0; i < POINTS; ++i) {
            bool on_surface = windings[i] == CAROM_SOUP_ON_SURFACE;
            if (report.balanced && !on_surface)
                assert_true(fabs(fractions[i] - (double)windings[i]) <= 0.01);
            bool negative = report.balanced ? windings[i] >= 1 : fractions[i] >= 0.5;
            double distance = report.balanced && on_surface ? 0.0 : nearest[i].distance;
            if (negative && distance > 0.0 && !on_surface) distance = -distance;
            assert_true(distances[i] == distance || (on_surface && !report.balanced));
            inside += distances[i] < 0.0;
            assert_int_equal(hits[i].face, nearest[i].face);
            assert_true(hits[i].distance == nearest[i].distance);
        }
        assert_true(inside > 0 || shapes[s].shape == CAROM_SHAPE_CLOTH ||
                    shapes[s].shape == CAROM_SHAPE_SHARDS);
        assert_ok(context,
                  carom_soup_signed_distances(context, soup, points, POINTS, fractions, NULL));
        assert_memory_equal(fractions, distances, sizeof(distances));
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

/* A sphere with a hole still has an inside, and says so by generalised winding numbers; a removed
 * shell leaves a balanced soup. */
static void holes_keep_the_inside(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view view;
    carom_soup *soup;
    carom_shape_def shape = {.shape = CAROM_SHAPE_SPHERE, .detail = 4};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
    uint32_t first, faces[5000];
    assert_ok(context, carom_soup_add(context, soup, &view, &first));
    for (uint32_t f = 0; f < view.face_count; ++f) faces[f] = first + f;
    carom_vec3 points[3] = {{0.0, 0.0, 0.0}, {0.2, 0.1, -0.3}, {0.0, 3.0, 0.0}};
    double distances[3];
    assert_ok(context, carom_soup_remove(context, soup, faces, view.face_count));
    assert_ok(context, carom_soup_signed_distances(context, soup, points, 3, distances, NULL));
    assert_true(distances[0] < -0.5 && distances[1] < 0.0 && distances[2] > 1.0);
    for (uint32_t f = 0; f < 20; ++f) faces[f] = f;
    assert_ok(context, carom_soup_remove(context, soup, faces, 20));
    assert_ok(context, carom_soup_signed_distances(context, soup, points, 3, distances, NULL));
    assert_true(distances[0] < -0.5 && distances[1] < 0.0 && distances[2] > 1.0);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* For any threads, instruction set and power of two that scales all. */
static void answers_have_the_same_bits_everywhere(void **state) {
    (void)state;
    static carom_vec3 points[POINTS], scaled[POINTS];
    static double fractions[2][POINTS], distances[2][POINTS];
    carom_random random = {4};
    make_points(&random, 1.2, points);
    for (int run = 0; run < 8; ++run) {
        carom_isa isa = (carom_isa)(1 + run % 3);
        if (!carom_isa_available(isa)) continue;
        int at = run == 0 ? 0 : 1, exponent = run < 4 ? 0 : 200 * (run - 6);
        carom_context *context = test_context_isa(1 + (uint32_t)run, isa);
        carom_mesh_view view;
        carom_soup *soup;
        carom_mesh *mesh = shape_mesh(context, &shapes[1], &view);
        double *moved = malloc(3 * view.vertex_count * sizeof(*moved));
        for (uint64_t i = 0; i < 3 * view.vertex_count; ++i)
            moved[i] = ldexp(((const double *)view.positions)[i], exponent);
        for (int i = 0; i < 3 * POINTS; ++i)
            (&scaled[i / 3].x)[i % 3] = ldexp((&points[i / 3].x)[i % 3], exponent);
        view.positions = moved;
        view.face_count -= 9; /* open */
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
        assert_ok(context,
                  carom_soup_winding_fractions(context, soup, scaled, POINTS, fractions[at]));
        assert_ok(context,
                  carom_soup_signed_distances(context, soup, scaled, POINTS, distances[at], NULL));
        for (int i = 0; i < POINTS; ++i) distances[at][i] = ldexp(distances[at][i], -exponent);
        if (run != 0) assert_memory_equal(fractions[0], fractions[1], sizeof(fractions[0]));
        if (run != 0) assert_memory_equal(distances[0], distances[1], sizeof(distances[0]));
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        free(moved);
    }
}

static carom_status query(carom_allocator allocator, void *argument) {
    const carom_soup_def *def = argument;
    carom_context *context;
    carom_soup *soup;
    carom_vec3 point = {0.1, 0.2, 0.3};
    double value;
    carom_status status =
        carom_context_create(&(carom_context_def){.allocator = allocator, .threads = 1}, &context);
    if (status != CAROM_OK) return status;
    status = carom_soup_create(context, def, &soup);
    if (status == CAROM_OK) status = carom_soup_winding_fractions(context, soup, &point, 1, &value);
    if (status == CAROM_OK)
        status = carom_soup_signed_distances(context, soup, &point, 1, &value, NULL);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh *mesh;
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    assert_ok(context, carom_shape_make(context, &shapes[2], &mesh)); /* open */
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    test_allocation_failures(query, &def);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void a_second_query_allocates_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_soup *soup;
    carom_vec3 point = {0.1, 0.2, 0.3};
    double value;
    carom_mesh *mesh = shape_mesh(context, &shapes[2], &view);
    assert_ok(context, carom_soup_create(context, &def, &soup));
    for (int i = 0; i < 4; ++i) {
        uint64_t before = test_malloc_count();
        assert_ok(context, carom_soup_winding_fractions(context, soup, &point, 1, &value));
        assert_ok(context, carom_soup_signed_distances(context, soup, &point, 1, &value, NULL));
        if (i > 1) assert_int_equal(test_malloc_count(), before);
    }
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void bad_input_gets_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_soup *empty, *grid;
    carom_vec3 points[2] = {{0, 0, 0}, {0, NAN, 0}};
    double values[2];
    assert_ok(context, carom_soup_create(context, NULL, &empty));
    assert_ok(context, carom_soup_create(
                           context, &(carom_soup_def){.method = CAROM_SOUP_METHOD_GRID}, &grid));
    assert_ok(context, carom_soup_winding_fractions(context, empty, points, 1, values));
    assert_true(values[0] == 0.0);
    assert_ok(context, carom_soup_signed_distances(context, empty, points, 1, values, NULL));
    assert_true(isinf(values[0]) && values[0] > 0.0);
    assert_fails(context, carom_soup_winding_fractions(context, empty, points, 2, values),
                 CAROM_BAD_INPUT, "point 1");
    assert_fails(context, carom_soup_signed_distances(context, empty, points, 2, values, NULL),
                 CAROM_BAD_INPUT, "point 1");
    assert_int_equal(carom_soup_winding_fractions(context, grid, points, 1, values),
                     CAROM_UNSUPPORTED);
    assert_int_equal(carom_soup_signed_distances(context, grid, points, 1, values, NULL),
                     CAROM_UNSUPPORTED);
    carom_soup_destroy(grid);
    carom_soup_destroy(empty);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_are_sums_of_solid_angles),
        cmocka_unit_test(far_fields_keep_to_their_bounds),
        cmocka_unit_test(signs_are_those_of_winding_numbers),
        cmocka_unit_test(holes_keep_the_inside),
        cmocka_unit_test(answers_have_the_same_bits_everywhere),
        cmocka_unit_test(failing_allocations_leak_nothing),
        cmocka_unit_test(a_second_query_allocates_nothing),
        cmocka_unit_test(bad_input_gets_a_message),
    };
    return cmocka_run_group_tests_name("soup winding", tests, NULL, NULL);
}
