/* SPDX-License-Identifier: MIT */
/* Points and rays against a soup, beside loops over all faces. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "carom/shapes.h"
#include "soup/soup_points_cpu.h"
#include "tests/support/shapes.h"

/* Products of ten differences of 25 bits. */
#define BIG_WORDS 8
#define BIG(name) exact_##name
#include "tests/support/triangle_oracle.h"

#include "tests/support/ray_oracle.h"

#include "tests/support/near_oracle.h"
#undef BIG
#undef BIG_WORDS

#define MOST 60

/* A small soup on a lattice: degenerate faces, shared corners and coplanar ones are common. */
typedef struct lattice {
    carom_vec3 positions[3 * MOST];
    uint32_t corners[3 * MOST];
    uint64_t count;
    carom_soup *soup;
} lattice;

static void lattice_make(carom_context *context, lattice *l, carom_random *random, double scale,
                         double shift) {
    l->count = 1 + carom_random_next(random) % MOST;
    for (uint64_t i = 0; i < 3 * l->count; ++i) {
        double c[3];
        for (int k = 0; k < 3; ++k)
            c[k] = ((double)(carom_random_next(random) % 5) + shift) * scale;
        l->positions[i] = (carom_vec3){c[0], c[1], c[2]};
        l->corners[i] = (uint32_t)i;
    }
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = l->positions,
                                                     .vertex_count = 3 * l->count,
                                                     .corners = l->corners,
                                                     .face_count = l->count}};
    assert_ok(context, carom_soup_create(context, &def, &l->soup));
}

static carom_triangle triangle_of(const lattice *l, uint64_t f) {
    return (carom_triangle){
        {l->positions[3 * f], l->positions[3 * f + 1], l->positions[3 * f + 2]}};
}

static bool has_area(carom_context *context, const carom_triangle *t) {
    for (uint32_t axis = 0; axis < 3; ++axis) {
        int sign;
        assert_ok(context, carom_points_orient_2d(context, t->corner, axis, &sign));
        if (sign != 0) return true;
    }
    return false;
}

static carom_vec3 lattice_point(carom_random *random, double scale, double shift, int fine) {
    double c[3];
    for (int k = 0; k < 3; ++k)
        c[k] = ((double)(carom_random_next(random) % (uint64_t)(6 * fine)) / fine - 0.5 + shift) *
               scale;
    return (carom_vec3){c[0], c[1], c[2]};
}

static double length_of(carom_vec3 v) {
    return (double)sqrtl((long double)v.x * v.x + (long double)v.y * v.y + (long double)v.z * v.z);
}

static bool is_zero(carom_vec3 v) {
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

/* From the nearest point the normal leads to the point; where they meet, it is 0. */
static void check_normal_to(const carom_hit *hit, carom_vec3 point, double size) {
    const double *p = &point.x, *at = &hit->point.x, *n = &hit->normal.x;
    bool there = at[0] == p[0] && at[1] == p[1] && at[2] == p[2];
    if (hit->id == CAROM_NONE || hit->distance == 0.0 || there) {
        assert_true(is_zero(hit->normal));
        return;
    }
    if (fabs(length_of(hit->normal) - 1.0) > 1e-14)
        fail_msg("the normal is (%g, %g, %g) at a distance of %g", n[0], n[1], n[2], hit->distance);
    for (int k = 0; k < 3; ++k)
        assert_true(fabs(at[k] + hit->distance * n[k] - p[k]) <= 1e-14 * size);
}

static void the_nearest_face_is_the_nearest(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    static const double scales[] = {1.0, 0x1p300, 0x1p-300, 1.0}, shifts[] = {0, 0, 0, 1e6};
    carom_random random = {1};
    for (int trial = 0; trial < TEST_CASES(400); ++trial) {
        lattice l;
        double scale = scales[trial % 4], shift = shifts[trial % 4];
        lattice_make(context, &l, &random, scale, shift);
        for (int i = 0; i < 10; ++i) {
            carom_vec3 point = lattice_point(&random, scale, shift, 4);
            carom_hit hit,
                best = {.id = CAROM_NONE, .face = CAROM_NONE, .distance = HUGE_VAL, .point = point};
            int base = ilogb(scale) - 2; /* all coordinates are whole quarters */
            exact_vec p = exact_vec_of(point, base);
            exact_fraction least;
            assert_ok(context, carom_soup_closest_points(context, l.soup, &point, 1, &hit));
            for (uint64_t f = 0; f < l.count; ++f) {
                carom_triangle t = triangle_of(&l, f);
                carom_closest closest;
                if (!has_area(context, &t)) continue;
                exact_fraction here = exact_near_face(&p, &t, base);
                if (best.face != CAROM_NONE && exact_fraction_compare(&here, &least) >= 0) continue;
                assert_ok(context, carom_point_triangle_distance(context, &point, &t, &closest));
                best = (carom_hit){
                    .face = (uint32_t)f, .distance = closest.distance, .point = closest.b};
                least = here;
            }
            assert_int_equal(hit.id, best.id);
            assert_int_equal(hit.face, best.face);
            assert_true(hit.distance == best.distance && hit.error == 0.0);
            assert_memory_equal(&hit.point, &best.point, sizeof(hit.point));
            check_normal_to(&hit, point, (shift + 8.0) * scale);
        }
        carom_soup_destroy(l.soup);
    }
    carom_context_destroy(context);
}

/* Does the segment from a to b meet the triangle? As a thin triangle, by another exact path. */
static bool segment_meets(carom_context *context, carom_vec3 a, carom_vec3 b,
                          const carom_triangle *t) {
    carom_triangle segment = {{a, b, b}};
    bool meet;
    assert_ok(context, carom_triangles_meet(context, &segment, t, &meet));
    return meet;
}

/* A unit vector across the triangle, on the side that the ray comes from. */
static void check_normal_of(const carom_hit *hit, const carom_triangle *t, const carom_ray *ray) {
    const carom_vec3 *c = t->corner, d = ray->direction, n = hit->normal;
    assert_true(fabs(length_of(n) - 1.0) <= 1e-14);
    for (int i = 0; i < 3; ++i) {
        carom_vec3 to = c[(i + 1) % 3];
        long double x = (long double)to.x - c[i].x, y = (long double)to.y - c[i].y;
        long double z = (long double)to.z - c[i].z;
        assert_true(fabsl(n.x * x + n.y * y + n.z * z) <= 1e-14L * sqrtl(x * x + y * y + z * z));
    }
    long double against = (long double)n.x * d.x + (long double)n.y * d.y + (long double)n.z * d.z;
    assert_true(against <= 1e-14L * length_of(d));
}

static void rays_find_what_segments_meet(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_random random = {2};
    int found = 0, missed = 0;
    for (int trial = 0; trial < TEST_CASES(600); ++trial) {
        lattice l;
        double shift = trial % 3 == 0 ? 1e6 : 0.0;
        lattice_make(context, &l, &random, 1.0, shift);
        for (int i = 0; i < 10; ++i) {
            /* Directions of whole numbers: 16 steps leave the lattice, and the end is exact. */
            carom_ray ray = {.origin = lattice_point(&random, 1.0, shift, 2)};
            ray.direction = (carom_vec3){(double)(carom_random_next(&random) % 5) - 2.0,
                                         (double)(carom_random_next(&random) % 5) - 2.0,
                                         (double)(carom_random_next(&random) % 5) - 2.0};
            if (ray.direction.x == 0 && ray.direction.y == 0 && ray.direction.z == 0) continue;
            ray.length = i % 3 == 0 ? 1.0 : 0.0;
            double steps = ray.length > 0 ? 1.0 : 16.0;
            carom_vec3 end = {ray.origin.x + steps * ray.direction.x,
                              ray.origin.y + steps * ray.direction.y,
                              ray.origin.z + steps * ray.direction.z};
            carom_hit hit;
            assert_ok(context, carom_soup_cast_rays(context, l.soup, &ray, 1, &hit));
            bool any = false;
            for (uint64_t f = 0; f < l.count; ++f) {
                carom_triangle t = triangle_of(&l, f);
                if (!has_area(context, &t) || !segment_meets(context, ray.origin, end, &t))
                    continue;
                any = true;
                if (hit.face == CAROM_NONE) fail_msg("face %llu missed", (unsigned long long)f);
                /* Nothing meets the ray clearly before the hit. */
                double before = hit.distance - 1e-6;
                carom_vec3 early = {ray.origin.x + before * ray.direction.x,
                                    ray.origin.y + before * ray.direction.y,
                                    ray.origin.z + before * ray.direction.z};
                if (before > 0.0) assert_false(segment_meets(context, ray.origin, early, &t));
            }
            if (!any) {
                assert_true(hit.id == CAROM_NONE && hit.face == CAROM_NONE);
                assert_true(isinf(hit.distance) && is_zero(hit.normal) && hit.error == 0.0);
                assert_memory_equal(&hit.point, &ray.origin, sizeof(hit.point));
                ++missed;
                continue;
            }
            ++found;
            carom_triangle t = triangle_of(&l, hit.face);
            assert_true(hit.id == 0 && hit.error == 0.0);
            check_normal_of(&hit, &t, &ray);
            carom_closest closest;
            assert_true(segment_meets(context, ray.origin, end, &t));
            assert_ok(context, carom_point_triangle_distance(context, &hit.point, &t, &closest));
            assert_true(closest.distance < 1e-8);
        }
        carom_soup_destroy(l.soup);
    }
    if (TEST_MANY_CASES) assert_true(found > TEST_CASES(500) && missed > TEST_CASES(500));
    carom_context_destroy(context);
}

/* Normals of polygons are those of their planes, whatever was added before and after them or
 * removed, and whatever the size of all. */
static void normals_are_those_of_planes(void **state) {
    (void)state;
    static const int powers[] = {0, -1060, -1020, -600, 600, 1020};
    static const double plain[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                       {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    static const uint32_t corners[24] = {0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4,
                                         1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};
    static const carom_vec3 normals[6] = {{0, 0, -1}, {0, 0, 1}, {0, -1, 0},
                                          {1, 0, 0},  {0, 1, 0}, {-1, 0, 0}};
    static const uint64_t offsets[7] = {0, 4, 8, 12, 16, 20, 24};
    carom_context *context = test_context(1);
    for (size_t p = 0; p < COUNT_OF(powers); ++p)
        for (int fan = 0; fan < 2; ++fan) {
            double xyz[8][3], size = ldexp(1.0, powers[p]);
            for (int i = 0; i < 24; ++i) xyz[i / 3][i % 3] = plain[i / 3][i % 3] * size;
            carom_mesh_view view = {.positions = xyz,
                                    .vertex_count = 8,
                                    .corners = corners,
                                    .offsets = offsets,
                                    .face_count = 6};
            carom_soup_def def = {.mesh = &view, .fan = fan != 0};
            carom_soup *soup;
            uint32_t first, gone[12];
            assert_ok(context, carom_soup_create(context, &def, &soup));
            assert_ok(context, carom_soup_add(context, soup, &view, &first));
            for (uint32_t i = 0; i < first; ++i) gone[i] = i;
            for (int removed = 0; removed < 2; ++removed) {
                if (removed != 0) assert_ok(context, carom_soup_remove(context, soup, gone, first));
                for (int f = 0; f < 6; ++f)
                    for (int side = 0; side < 2; ++side) { /* from outside and from inside */
                        carom_vec3 n = normals[f];
                        double from = side == 0 ? 1.5 : 0.0, to = side == 0 ? -1.0 : 1.0;
                        carom_ray ray = {
                            .origin = {(from * n.x + (n.x == 0.0 ? 0.25 : 0.0)) * size,
                                       (from * n.y + (n.y == 0.0 ? 0.5 : 0.0)) * size,
                                       (from * n.z + (n.z == 0.0 ? 0.125 : 0.0)) * size},
                            .direction = {to * n.x * size, to * n.y * size, to * n.z * size}};
                        carom_hit hit;
                        assert_ok(context, carom_soup_cast_rays(context, soup, &ray, 1, &hit));
                        assert_true(hit.id == 0 && hit.distance == (side == 0 ? 0.5 : 1.0));
                        uint32_t face = hit.face - (removed != 0 ? first : 0);
                        assert_int_equal(fan != 0 ? face / 2 : face, f);
                        assert_true(hit.normal.x == -to * n.x && hit.normal.y == -to * n.y &&
                                    hit.normal.z == -to * n.z);
                    }
            }
            carom_soup_destroy(soup);
        }
    /* Differences of corners that no double holds. */
    static const carom_vec3 huge[3] = {
        {-DBL_MAX, -DBL_MAX, 1.0}, {DBL_MAX, -DBL_MAX, 1.0}, {0.0, DBL_MAX, 1.0}};
    static const carom_ray down = {.origin = {0, 0, 3.0}, .direction = {0, 0, -1.0}};
    static const uint32_t order[3] = {0, 1, 2};
    carom_mesh_view view = {
        .positions = huge, .vertex_count = 3, .corners = order, .face_count = 1};
    carom_soup *soup;
    carom_hit hit;
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
    assert_ok(context, carom_soup_cast_rays(context, soup, &down, 1, &hit));
    assert_true(hit.id == 0 && hit.distance == 2.0);
    assert_true(hit.normal.x == 0.0 && hit.normal.y == 0.0 && hit.normal.z == 1.0);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
}

/* Closed shapes whose inside is known by formula; lattice points hit edges and corners often. */
static void windings_know_the_inside(void **state) {
    (void)state;
    carom_context *context = test_context(3);
    for (int variant = 0; variant < 3; ++variant) {
        carom_mesh_view view;
        carom_soup *soup;
        carom_shape_def def = {
            .shape = CAROM_SHAPE_BOX, .detail = (uint64_t)variant + 1, .size = 2.0};
        carom_mesh *mesh = shape_mesh(context, &def, &view);
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
        carom_vec3 points[343];
        int32_t windings[343];
        for (int i = 0; i < 343; ++i)
            points[i] = (carom_vec3){i % 7 - 3.0, i / 7 % 7 - 3.0, i / 49 - 3.0};
        assert_ok(context, carom_soup_winding(context, soup, points, 343, windings));
        for (int i = 0; i < 343; ++i) {
            double x = fabs(points[i].x), y = fabs(points[i].y), z = fabs(points[i].z);
            double reach = fmax(x, fmax(y, z));
            assert_int_equal(windings[i], reach < 2.0   ? 1
                                          : reach > 2.0 ? 0
                                                        : CAROM_SOUP_ON_SURFACE);
        }
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

/* Two nested shells, then the same turned inside out: windings add up. */
static void windings_add_up(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh *inner, *outer;
    carom_mesh_view a, b;
    carom_soup *soup;
    assert_ok(context, carom_shape_make(context, &(carom_shape_def){.size = 1.0}, &inner));
    assert_ok(context, carom_shape_make(context, &(carom_shape_def){.size = 2.0}, &outer));
    assert_ok(context, carom_mesh_get_view(inner, &a));
    assert_ok(context, carom_mesh_get_view(outer, &b));
    assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &a}, &soup));
    assert_ok(context, carom_soup_add(context, soup, &b, NULL));
    carom_vec3 points[] = {{0, 0, 0}, {0, 0, 1.5}, {1.5, 0, 0}, {0, 3, 0}, {0.1, 0.2, 0.3}};
    int32_t windings[5];
    assert_ok(context, carom_soup_winding(context, soup, points, 5, windings));
    static const int32_t expected[] = {2, 1, 1, 0, 2};
    assert_memory_equal(windings, expected, sizeof(expected));
    carom_soup_destroy(soup);
    carom_mesh_destroy(inner);
    carom_mesh_destroy(outer);
    carom_context_destroy(context);
}

static void answers_do_not_depend_on_threads_or_instruction_sets(void **state) {
    (void)state;
    enum { COUNT = 300 };
    static carom_vec3 points[COUNT];
    static carom_ray rays[COUNT];
    static carom_hit near[2][COUNT], far[2][COUNT];
    static int32_t windings[2][COUNT];
    carom_soup_ray_hits all[2] = {{0}, {0}};
    carom_random random = {4};
    for (int i = 0; i < COUNT; ++i) {
        for (int k = 0; k < 3; ++k) {
            (&points[i].x)[k] = carom_random_between(&random, -2, 2);
            (&rays[i].origin.x)[k] = carom_random_between(&random, -2, 2);
            (&rays[i].direction.x)[k] = carom_random_normal(&random);
        }
    }
    for (int run = 0; run < 8; ++run) {
        carom_isa isa = (carom_isa)(1 + run % 3);
        if (!carom_isa_available(isa)) continue;
        carom_context *context = test_context_isa(1 + (uint32_t)run, isa);
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_soup *soup;
        int at = run == 0 ? 0 : 1;
        assert_ok(context,
                  carom_shape_make(context, &(carom_shape_def){.shape = CAROM_SHAPE_KNOT}, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_soup_create(context, &(carom_soup_def){.mesh = &view}, &soup));
        memset(near[at], 0, sizeof(near[at]));
        memset(far[at], 0, sizeof(far[at]));
        assert_ok(context, carom_soup_closest_points(context, soup, points, COUNT, near[at]));
        assert_ok(context, carom_soup_cast_rays(context, soup, rays, COUNT, far[at]));
        assert_ok(context, carom_soup_winding(context, soup, points, COUNT, windings[at]));
        assert_ok(context, carom_soup_query_rays(context, soup, rays, COUNT, &all[at]));
        assert_true(run == 0 || all[0].count == all[1].count);
        if (run != 0)
            assert_memory_equal(all[0].data, all[1].data, all[0].count * sizeof(*all[0].data));
        for (int i = 0; run != 0 && i < COUNT; ++i) {
            assert_true(near[0][i].face == near[1][i].face &&
                        near[0][i].distance == near[1][i].distance);
            assert_true(far[0][i].face == far[1][i].face &&
                        (far[0][i].distance == far[1][i].distance));
            assert_int_equal(windings[0][i], windings[1][i]);
        }
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
    for (int i = 0; i < 2; ++i) carom_soup_ray_hits_free(&all[i]);
}

/* A tower of boxes of quads, shared sides twice; as polygons, or each as two triangles. */
static carom_soup *tower(carom_context *context, bool fan) {
    enum { HIGH = 12 };
    static double xyz[HIGH * 8][3];
    static uint32_t corners[HIGH * 24];
    static uint64_t offsets[HIGH * 6 + 1];
    static const uint32_t quads[24] = {0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4,
                                       1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};
    static const double x[8] = {0, 2, 2, 0, 0, 2, 2, 0}, y[8] = {0, 0, 2, 2, 0, 0, 2, 2};
    carom_soup *soup;
    for (uint32_t b = 0; b < HIGH; ++b) {
        for (uint32_t i = 0; i < 8; ++i) {
            xyz[8 * b + i][0] = x[i];
            xyz[8 * b + i][1] = y[i];
            xyz[8 * b + i][2] = 2.0 * (b + i / 4);
        }
        for (uint32_t i = 0; i < 24; ++i) corners[24 * b + i] = 8 * b + quads[i];
    }
    for (uint64_t i = 0; i <= HIGH * 6; ++i) offsets[i] = 4 * i;
    const carom_mesh_view view = {.positions = xyz,
                                  .vertex_count = HIGH * 8,
                                  .corners = corners,
                                  .offsets = offsets,
                                  .face_count = HIGH * 6};
    const carom_soup_def def = {.mesh = &view, .fan = fan};
    assert_ok(context, carom_soup_create(context, &def, &soup));
    return soup;
}

static int hit_order(const void *a, const void *b) {
    const carom_soup_ray_hit *x = a, *y = b;
    if (x->ray != y->ray) return x->ray < y->ray ? -1 : 1;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

/* What rays meet of polygons, from what they meet of their triangles: on this lattice different t
 * are different doubles. */
static void all_faces_of_polygons(void **state) {
    (void)state;
    enum { RAYS = 600 };
    static carom_ray rays[RAYS];
    carom_context *context = test_context(3);
    carom_soup *polygons = tower(context, false), *triangles = tower(context, true);
    carom_soup_ray_hits hits = {0}, parts = {0};
    static carom_hit first[RAYS];
    carom_random random = {7};
    uint64_t several = 0;
    for (int i = 0; i < RAYS; ++i) {
        double *o = &rays[i].origin.x, *d = &rays[i].direction.x;
        for (int k = 0; k < 3; ++k) {
            o[k] = (double)(carom_random_next(&random) % 5) - (k < 2 ? 1.0 : 2.0);
            d[k] = (double)(carom_random_next(&random) % 3) - (k < 2 ? 1.0 : 0.0);
        }
        if (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) d[2] = 1.0;
        rays[i].length = i % 4 == 0 ? 3.0 : 0.0;
    }
    assert_ok(context, carom_soup_query_rays(context, polygons, rays, RAYS, &hits));
    assert_ok(context, carom_soup_query_rays(context, triangles, rays, RAYS, &parts));
    assert_ok(context, carom_soup_cast_rays(context, polygons, rays, RAYS, first));
    for (uint64_t i = 0; i < parts.count; ++i) parts.data[i].face /= 2;
    qsort(parts.data, parts.count, sizeof(*parts.data), hit_order);
    uint64_t once = 0;
    for (uint64_t i = 0; i < parts.count; ++i) {
        bool seen = false;
        for (uint64_t j = once; j > 0 && parts.data[j - 1].ray == parts.data[i].ray; --j)
            seen = seen || parts.data[j - 1].face == parts.data[i].face;
        if (!seen) parts.data[once++] = parts.data[i];
        several += seen;
    }
    assert_true(several > 0);
    assert_true(hits.count == once && hits.count > RAYS);
    for (uint64_t i = 0; i < once; ++i) { /* zeros may have either sign */
        const carom_soup_ray_hit *a = &hits.data[i], *b = &parts.data[i];
        assert_true(a->ray == b->ray && a->face == b->face && a->distance == b->distance);
        for (int k = 0; k < 3; ++k)
            assert_true((&a->point.x)[k] == (&b->point.x)[k] &&
                        (&a->normal.x)[k] == (&b->normal.x)[k]);
    }
    for (uint64_t i = 0, at = 0; i < RAYS; ++i) { /* the first is that of carom_soup_cast_rays */
        bool any = at < hits.count && hits.data[at].ray == i;
        assert_true(any == (first[i].face != CAROM_NONE));
        if (any) assert_true(hits.data[at].face == first[i].face);
        if (any) assert_memory_equal(&hits.data[at].point, &first[i].point, sizeof(carom_vec3));
        while (at < hits.count && hits.data[at].ray == i) ++at;
    }
    /* A caller's buffer is filled as far as it goes. */
    carom_soup_ray_hit some[100];
    carom_soup_ray_hits mine = {.data = some, .capacity = 100, .owner = CAROM_OWNER_CALLER};
    assert_int_equal(carom_soup_query_rays(context, polygons, rays, RAYS, &mine), CAROM_MORE);
    assert_true(mine.count == hits.count);
    assert_memory_equal(some, hits.data, sizeof(some));
    assert_ok(context, carom_soup_query_rays(context, polygons, rays, 0, &mine));
    assert_int_equal(mine.count, 0);
    carom_soup_ray_hits_free(&hits);
    carom_soup_ray_hits_free(&parts);
    carom_soup_destroy(polygons);
    carom_soup_destroy(triangles);
    carom_context_destroy(context);
}

static void bad_input_gets_a_message(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_soup *empty;
    assert_ok(context, carom_soup_create(context, NULL, &empty));
    carom_vec3 points[2] = {{0, 0, 0}, {0, NAN, 0}};
    carom_hit hits[2];
    int32_t winding[2];
    assert_ok(context, carom_soup_closest_points(context, empty, points, 1, hits));
    assert_true(hits[0].face == CAROM_NONE && isinf(hits[0].distance));
    assert_ok(context, carom_soup_winding(context, empty, points, 1, winding));
    assert_int_equal(winding[0], 0);
    assert_fails(context, carom_soup_closest_points(context, empty, points, 2, hits),
                 CAROM_BAD_INPUT, "point 1");
    assert_fails(context, carom_soup_winding(context, empty, points, 2, winding), CAROM_BAD_INPUT,
                 "point 1");
    carom_ray rays[2] = {{.direction = {1, 0, 0}}, {.origin = {1, 2, 3}, .direction = {0, 0, 0}}};
    assert_ok(context, carom_soup_cast_rays(context, empty, rays, 1, hits));
    assert_int_equal(hits[0].face, CAROM_NONE);
    assert_fails(context, carom_soup_cast_rays(context, empty, rays, 2, hits), CAROM_BAD_INPUT,
                 "ray 1 has the direction (0, 0, 0)");
    carom_soup_ray_hits all = {0};
    assert_ok(context, carom_soup_query_rays(context, empty, rays, 1, &all));
    assert_int_equal(all.count, 0);
    assert_fails(context, carom_soup_query_rays(context, empty, rays, 2, &all), CAROM_BAD_INPUT,
                 "ray 1 has the direction (0, 0, 0)");
    carom_soup_ray_hits_free(&all);
    test_asserts_begin();
    assert_int_equal(carom_soup_winding(context, NULL, points, 1, winding), CAROM_INVALID);
    assert_int_equal(carom_soup_cast_rays(context, empty, NULL, 1, hits), CAROM_INVALID);
    assert_int_equal(carom_soup_closest_points(NULL, empty, points, 1, hits), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 3);
    carom_soup_destroy(empty);
    carom_context_destroy(context);
}

/* Lower bounds never exceed the distance, and equal it up to rounding where the nearest point lies
 * on an edge, for triangles of any shape and every instruction set. */
static void lower_bounds_are_below_the_distance(void **state) {
    (void)state;
    carom_context *contexts[CAROM_ISA_COUNT];
    int context_count = 0, tight = 0, total = 0;
    context_count = test_contexts_of_isas(1, contexts, context_count);
    carom_random random = {31};
    for (int round = 0; round < 20000; ++round) {
        carom_triangle triangles[CAROM_BVH_WIDTH];
        carom_soup_seen seen;
        double bounds[CAROM_BVH_WIDTH], first[CAROM_BVH_WIDTH];
        carom_vec3 point;
        double scale =
            round % 16 == 0 ? ldexp(1.0, (int)(carom_random_next(&random) % 300) - 150) : 1.0;
        for (int k = 0; k < 3; ++k) (&point.x)[k] = scale * carom_random_between(&random, -1, 1);
        for (uint32_t i = 0; i < CAROM_BVH_WIDTH; ++i) {
            carom_triangle *t = &triangles[i];
            double size = ldexp(scale, -(int)(carom_random_next(&random) % 20));
            for (int c = 0; c < 3; ++c)
                for (int k = 0; k < 3; ++k)
                    (&t->corner[c].x)[k] =
                        (c == 0 ? 0.0 : (&t->corner[0].x)[k]) +
                        (c == 0 ? scale : size) * carom_random_between(&random, -1, 1);
            if (i % 4 == 1) { /* a needle, or a segment */
                double along = carom_random_uniform(&random), off = ldexp(size, -(int)(i + 20));
                for (int k = 0; k < 3; ++k)
                    (&t->corner[2].x)[k] = (&t->corner[0].x)[k] +
                                           along * ((&t->corner[1].x)[k] - (&t->corner[0].x)[k]) +
                                           (k == 0 ? off : 0.0);
            }
            if (i % 8 == 7) t->corner[2] = t->corner[1];
            if (i % 8 == 3) point = t->corner[i % 3];
        }
        for (uint32_t i = 0; i < CAROM_BVH_WIDTH; ++i)
            for (int k = 0; k < 3; ++k) {
                const carom_vec3 *p = triangles[i].corner;
                for (int c = 0; c < 3; ++c)
                    seen.corner[3 * c + k][i] = (&p[c].x)[k] - (&point.x)[k];
                for (int c = 0; c < 2; ++c)
                    seen.edge[3 * c + k][i] = (&p[c + 1].x)[k] - (&p[0].x)[k];
            }
        for (int c = 0; c < context_count; ++c) {
            CAROM_CPU_CALL(contexts[c], carom_soup_lower_bounds)(&seen, CAROM_BVH_WIDTH, bounds);
            if (c == 0) memcpy(first, bounds, sizeof(bounds));
            assert_memory_equal(first, bounds, sizeof(bounds));
        }
        for (uint32_t i = 0; i < CAROM_BVH_WIDTH; ++i) {
            carom_closest closest;
            assert_ok(contexts[0],
                      carom_point_triangle_distance(contexts[0], &point, &triangles[i], &closest));
            /* The distance itself is right to 1e-15 of the extent. */
            double extent = closest.distance + 8.0 * scale;
            assert_true(bounds[i] <= closest.distance + 1e-15 * extent);
            tight += bounds[i] >= 0.999 * closest.distance;
            ++total;
        }
    }
    print_message("%.1f %% of the bounds are within a thousandth of the distance\n",
                  100.0 * tight / total);
    assert_true(tight > total / 2);
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_face_is_the_nearest),
        cmocka_unit_test(lower_bounds_are_below_the_distance),
        cmocka_unit_test(rays_find_what_segments_meet),
        cmocka_unit_test(normals_are_those_of_planes),
        cmocka_unit_test(windings_know_the_inside),
        cmocka_unit_test(windings_add_up),
        cmocka_unit_test(answers_do_not_depend_on_threads_or_instruction_sets),
        cmocka_unit_test(all_faces_of_polygons),
        cmocka_unit_test(bad_input_gets_a_message),
    };
    return cmocka_run_group_tests_name("soup points", tests, NULL, NULL);
}
