/* SPDX-License-Identifier: MIT */
/* The bound on candidates: never passed in any pose, not far above the worst that happens, linear
 * in the number of faces where these are not dense, and what becomes of it where they do.
 * One thread. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/shapes.h"

static carom_pairs pairs;

static carom_soup *soup_of_shape(carom_context *context, const carom_shape_def *shape,
                                 carom_soup_method method) {
    return shape_soup(context, shape, &(carom_soup_def){.method = method});
}

static uint64_t triangles_of(carom_context *context, const carom_soup *soup) {
    carom_soup_info info;
    assert_ok(context, carom_soup_get_info(soup, &info));
    return info.triangles;
}

static uint64_t self_bound(carom_context *context, const carom_soup *soup) {
    uint64_t bound;
    assert_ok(context, carom_soup_self_bound(context, soup, &bound));
    return bound;
}

static uint64_t self_candidates(carom_context *context, const carom_soup *soup) {
    carom_work work;
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_ok(context, carom_context_get_work(context, &work));
    return work.candidates;
}

static uint64_t cross_candidates(carom_context *context, const carom_soup *a, const carom_soup *b,
                                 const carom_pose *pose_a, const carom_pose *pose_b) {
    carom_work work;
    assert_ok(context, carom_soup_cross_pairs(context, a, pose_a, b, pose_b, &pairs));
    assert_ok(context, carom_context_get_work(context, &work));
    return work.candidates;
}

/* ---- what it says in a case that can be counted by hand -------------------------------------- */

/* One triangle of diameter 1 and eight of diameter 1/8 in a row, their centres 0.17 apart. A ball
 * of radius 1/8 contains at most two of the small ones, one of radius 9/16 seven. */
static void small_cases_are_as_counted(void **state) {
    (void)state;
    double xyz[27][3];
    uint32_t corners[27];
    for (uint32_t i = 0; i < 9; ++i) {
        double size = i == 0 ? 1.0 : 0.125, x = i == 0 ? 0.0 : 0.17 * (double)i, y = 0.01;
        const double triangle[3][3] = {{x, y, 0.0}, {x + size, y, 0.0}, {x, y + 0.01 * size, 0.0}};
        memcpy(xyz[3 * i], triangle, sizeof(triangle));
        for (uint32_t c = 0; c < 3; ++c) corners[3 * i + c] = 3 * i + c;
    }
    carom_context *context = test_context(1);
    carom_mesh_view view = {
        .positions = xyz, .vertex_count = 27, .corners = corners, .face_count = 9};
    carom_soup_def def = {.mesh = &view, .method = CAROM_SOUP_METHOD_GRID};
    carom_soup *soup, *one;
    uint64_t bound;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    view.face_count = 1;
    assert_ok(context, carom_soup_create(context, &def, &one));
    assert_int_equal(self_bound(context, soup), 8 * (2 - 1) / 2 + 7);
    assert_ok(context, carom_soup_cross_bound(context, one, soup, &bound));
    assert_int_equal(bound, 1 + 7);
    assert_ok(context, carom_soup_cross_bound(context, soup, one, &bound));
    assert_int_equal(bound, 1 + 7);
    assert_ok(context, carom_soup_cross_bound(context, soup, soup, &bound));
    assert_int_equal(bound, 8 * 2 + 7 + 7 + 1);
    assert_int_equal(self_bound(context, one), 0);
    carom_soup_destroy(soup);
    carom_soup_destroy(one);
    carom_context_destroy(context);
}

/* ---- never passed ---------------------------------------------------------------------------- */

/* The first pose leaves both as they are, every fourth is near that; the others bring the second
 * somewhere into the first. */
static carom_pose any_pose(carom_random *random, int i, double size) {
    carom_pose pose = {.q.w = 1.0};
    if (i == 0) return pose;
    double near = i % 4 == 1 ? ldexp(1.0, -(int)(carom_random_next(random) % 30)) : 1.0;
    pose.q.w = i % 4 == 1 ? 1.0 : carom_random_normal(random);
    pose.q.x = near * carom_random_normal(random);
    pose.q.y = near * carom_random_normal(random);
    pose.q.z = near * carom_random_normal(random);
    pose.t.x = near * carom_random_between(random, -size, size);
    pose.t.y = near * carom_random_between(random, -size, size);
    pose.t.z = near * carom_random_between(random, -size, size);
    return pose;
}

typedef struct record {
    uint64_t bound, worst;
    bool same;  /* a soup with itself: in the first pose all faces coincide */
    bool often; /* so many poses that shapes have met in bad ones */
} record;

static void try_poses(carom_context *context, const carom_soup *a, const carom_soup *b, double size,
                      int poses, const char *name, record *r) {
    carom_random random = {81};
    carom_pose far_away = {.q.w = 0.3, .q.y = -0.4, .t = {3.0, -5.0, 1000.0}};
    assert_ok(context, carom_soup_cross_bound(context, a, b, &r->bound));
    r->worst = 0;
    for (int i = 0; i < poses; ++i) {
        carom_pose pose = any_pose(&random, i, size);
        uint64_t candidates = cross_candidates(context, a, b, NULL, &pose);
        if (candidates > r->bound)
            fail_msg("%s: %" PRIu64 " candidates in pose %d, bound %" PRIu64, name, candidates, i,
                     r->bound);
        r->worst = candidates > r->worst ? candidates : r->worst;
        if (i % 16 == 0) { /* both moved alike */
            candidates = cross_candidates(context, a, b, &far_away, &far_away);
            assert_true(candidates <= r->bound);
        }
    }
    double triangles = (double)(triangles_of(context, a) + triangles_of(context, b));
    print_message("%-28s %7.0f triangles: bound %7.1f a triangle, worst %6.2f, %5.1f times\n", name,
                  triangles, (double)r->bound / triangles, (double)r->worst / triangles,
                  (double)r->bound / (double)(r->worst == 0 ? 1 : r->worst));
    /* Where faces can lie on one another the bound is near what happens then. */
    if (a == b || r->same) assert_true(r->bound <= 25 * r->worst);
    if (r->often) assert_true(r->bound <= 50 * r->worst);
}

static const carom_shape_def shapes[] = {
    {.shape = CAROM_SHAPE_SPHERE},
    {.shape = CAROM_SHAPE_TORUS, .detail = 24},
    {.shape = CAROM_SHAPE_KNOT, .detail = 64},
    {.shape = CAROM_SHAPE_CLOTH, .detail = 24},
    {.shape = CAROM_SHAPE_SHARDS, .parts = 24},
    {.shape = CAROM_SHAPE_CHAIN, .parts = 3, .detail = 16},
    {.shape = CAROM_SHAPE_GRID, .detail = 20},
    {.shape = CAROM_SHAPE_CYLINDER},
    {.shape = CAROM_SHAPE_GLOBE, .detail = 24},
    {.shape = CAROM_SHAPE_CONE},
};

static void no_pose_passes_the_bound(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    int poses = campaign_is_long() ? 10000 : TEST_CASES(200);
    for (size_t i = 0; i < 20; ++i) {
        size_t j = i < 10 ? i : (i * 7 + 3) % 10;
        const carom_shape_def *def_a = &shapes[i % 10], *def_b = &shapes[j];
        carom_soup *a = soup_of_shape(context, def_a, CAROM_SOUP_METHOD_GRID);
        carom_soup *b = soup_of_shape(context, def_b, CAROM_SOUP_METHOD_GRID);
        char name[64];
        record r = {.same = i < 10, .often = poses >= 200};
        snprintf(name, sizeof(name), "%s and %s", carom_shape_name(def_a->shape),
                 carom_shape_name(def_b->shape));
        try_poses(context, a, b, 1.0, poses, name, &r);
        uint64_t bound = self_bound(context, a), candidates = self_candidates(context, a);
        assert_true(candidates <= bound && bound <= 40 * candidates);
        carom_soup_destroy(a);
        carom_soup_destroy(b);
    }
    carom_context_destroy(context);
}

/* A model moved to the origin and brought to size 2. */
static carom_soup *soup_of_model(carom_context *context, const char *file) {
    carom_mesh *mesh = models_load_fan(context, file);
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view, .method = CAROM_SOUP_METHOD_GRID};
    carom_mesh_report report;
    carom_soup *soup;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    const double low[3] = {report.bounds.low.x, report.bounds.low.y, report.bounds.low.z};
    const double high[3] = {report.bounds.high.x, report.bounds.high.y, report.bounds.high.z};
    double size = 0.0;
    for (int k = 0; k < 3; ++k) size = high[k] - low[k] > size ? high[k] - low[k] : size;
    double(*moved)[3] = malloc(view.vertex_count * sizeof(*moved));
    for (uint64_t v = 0; v < view.vertex_count; ++v) {
        for (int k = 0; k < 3; ++k) {
            double x = view.scalar == CAROM_SCALAR_FLOAT32
                           ? (double)((const float *)view.positions)[3 * v + (uint64_t)k]
                           : ((const double *)view.positions)[3 * v + (uint64_t)k];
            moved[v][k] = (2.0 * x - (low[k] + high[k])) / size;
        }
    }
    view.positions = moved;
    view.scalar = CAROM_SCALAR_FLOAT64;
    view.stride = 0;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    free(moved);
    carom_mesh_destroy(mesh);
    return soup;
}

/* Twenty models with themselves and with one another. */
static void no_pose_of_models_passes_the_bound(void **state) {
    (void)state;
    enum { MODELS = 20 };
    char line[1024], path[1024], files[MODELS][256];
    int count = 0, poses = campaign_is_long() ? 10000 : 8;
    const char *shared = test_shared_folder();
    if (shared == NULL) skip();
    snprintf(path, sizeof(path), "%s/models/truth/self_intersections.csv", shared);
    FILE *in = fopen(path, "r");
    if (in == NULL) skip();
    for (int row = 0; fgets(line, sizeof(line), in) != NULL && count < MODELS;) {
        unsigned long long vertices, triangles;
        if (sscanf(line, "\"%255[^\"]\",%llu,%llu", files[count], &vertices, &triangles) == 3 &&
            triangles > 500 && triangles < 5000 && row++ % 9 == 0)
            ++count;
    }
    fclose(in);
    carom_context *context = test_context(1);
    carom_soup *before = NULL;
    for (int i = 0; i < count; ++i) {
        carom_soup *soup = soup_of_model(context, files[i]);
        record r = {.same = false};
        try_poses(context, soup, i % 2 == 0 || before == NULL ? soup : before, 0.5, poses, files[i],
                  &r);
        carom_soup_destroy(before);
        before = soup;
    }
    carom_soup_destroy(before);
    carom_context_destroy(context);
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Every triangle into four, over and over: the same surface in smaller and smaller faces. Corners
 * are not shared, which changes nothing here. */
static uint64_t split(double (*from)[9], uint64_t count, double (*to)[9]) {
    for (uint64_t i = 0; i < count; ++i) {
        const double *t = from[i];
        double m[9];
        for (int c = 0; c < 3; ++c)
            for (int k = 0; k < 3; ++k)
                m[3 * c + k] = 0.5 * (t[3 * c + k] + t[3 * ((c + 1) % 3) + k]);
        for (int c = 0; c < 3; ++c) {
            memcpy(to[4 * i + (uint64_t)c], t + 3 * c, 3 * sizeof(double));
            memcpy(to[4 * i + (uint64_t)c] + 3, m + 3 * c, 3 * sizeof(double));
            memcpy(to[4 * i + (uint64_t)c] + 6, m + 3 * ((c + 2) % 3), 3 * sizeof(double));
        }
        memcpy(to[4 * i + 3], m, sizeof(m));
    }
    return 4 * count;
}

static double bound_each(carom_context *context, double (*triangles)[9], uint64_t count,
                         const char *name) {
    uint32_t *corners = malloc(3 * count * sizeof(*corners));
    for (uint64_t i = 0; i < 3 * count; ++i) corners[i] = (uint32_t)i;
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = triangles,
                                                     .vertex_count = 3 * count,
                                                     .corners = corners,
                                                     .face_count = count},
                          .method = CAROM_SOUP_METHOD_GRID};
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    uint64_t bound = self_bound(context, soup), candidates = self_candidates(context, soup);
    print_message("%-8s %7" PRIu64 " triangles: bound %6.1f a triangle, candidates %5.2f\n", name,
                  count, (double)bound / (double)count, (double)candidates / (double)count);
    assert_true(candidates <= bound);
    carom_soup_destroy(soup);
    free(corners);
    return (double)bound / (double)count;
}

static void the_bound_grows_with_the_faces(void **state) {
    (void)state;
    enum { MOST = 1 << 20 };
    static const carom_shape_def bases[] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 6},
        {.shape = CAROM_SHAPE_TORUS, .detail = 8},
        {.shape = CAROM_SHAPE_SPHERE, .detail = 1},
        {.shape = CAROM_SHAPE_SHARDS, .parts = 4},
    };
    carom_context *context = test_context(1);
    double(*now)[9] = malloc(MOST * sizeof(*now)), (*next)[9] = malloc(MOST * sizeof(*next));
    for (size_t s = 0; s < COUNT_OF(bases); ++s) {
        carom_mesh_view view;
        double before = 0.0;
        carom_mesh *mesh = shape_mesh(context, &bases[s], &view);
        uint64_t count = view.face_count;
        for (uint64_t i = 0; i < 3 * count; ++i)
            memcpy(now[i / 3] + 3 * (i % 3),
                   (const double *)view.positions + 3 * (uint64_t)view.corners[i],
                   3 * sizeof(double));
        for (int times = 0; times < 6; ++times) {
            double each = bound_each(context, now, count, carom_shape_name(bases[s].shape));
            /* Four times the faces, about four times the bound; sixteen would be quadratic. At
             * first faces are larger than the features they are near. */
            assert_true(times < 5 || each <= 1.3 * before);
            before = each;
            count = split(now, count, next);
            void *swap = now;
            now = next;
            next = swap;
        }
        carom_mesh_destroy(mesh);
    }
    free(now);
    free(next);
    carom_context_destroy(context);
}

/* Chazelle's polyhedra have long faces a hair apart: k grows with n, and so does the bound a face,
 * as it must: two of them, crossed, have n^2 pairs that meet. */
static void chazelle_polyhedra_are_bounded_by_their_square(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_pose quarter = {.q.w = 1.0, .q.z = 1.0};
    double before = 0.0;
    for (uint64_t detail = 8; detail <= 64; detail *= 2) {
        carom_shape_def shape = {.shape = CAROM_SHAPE_CHAZELLE, .detail = detail};
        carom_soup *soup = soup_of_shape(context, &shape, CAROM_SOUP_METHOD_GRID);
        uint64_t bound, candidates = cross_candidates(context, soup, soup, NULL, &quarter);
        assert_ok(context, carom_soup_cross_bound(context, soup, soup, &bound));
        double triangles = (double)triangles_of(context, soup), each = (double)bound / triangles;
        print_message("chazelle %4.0f triangles: bound %7.1f a triangle, candidates %6.2f, "
                      "%" PRIu64 " pairs\n",
                      triangles, each, (double)candidates / triangles, pairs.count);
        assert_true(candidates <= bound);
        assert_true(each > 1.4 * before && each <= triangles);
        before = each;
        carom_soup_destroy(soup);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_cases_are_as_counted),
        cmocka_unit_test(no_pose_passes_the_bound),
        cmocka_unit_test(no_pose_of_models_passes_the_bound),
        cmocka_unit_test(the_bound_grows_with_the_faces),
        cmocka_unit_test(chazelle_polyhedra_are_bounded_by_their_square),
    };
    int failed = cmocka_run_group_tests_name("soup_bound", tests, NULL, NULL);
    carom_pairs_free(&pairs);
    return failed;
}
