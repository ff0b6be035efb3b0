/* SPDX-License-Identifier: MIT */
/* Faces within a margin, against comparing every two triangles in integers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geom/distance_item.h"
#include "geom/pose.h"
#include "geom/within.h"
#include "tests/support/kfree_oracle.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"

#define SOUPS          10000
#define MOST_TRIANGLES 400

/* ---- oracle ---------------------------------------------------------------------------------- */

/* A soup taken apart into triangles. */
typedef struct parts {
    uint32_t triangles, faces;
    uint32_t face[MOST_TRIANGLES], vertex[MOST_TRIANGLES][3];
    carom_triangle corners[MOST_TRIANGLES];
    bool there[MOST_TRIANGLES]; /* takes part */
} parts;

static carom_vec3 position_of(const carom_mesh_view *view, uint32_t v) {
    const double *d = view->positions;
    const float *f = view->positions;
    if (view->scalar == CAROM_SCALAR_FLOAT64)
        return (carom_vec3){d[3 * v], d[3 * v + 1], d[3 * v + 2]};
    return (carom_vec3){(double)f[3 * v], (double)f[3 * v + 1], (double)f[3 * v + 2]};
}

static bool has_area(const carom_triangle *t) {
    real3 p[3];
    for (int i = 0; i < 3; ++i) p[i] = real3_of(t->corner[i]);
    real3 n = real3_cross(real3_sub(p[1], p[0]), real3_sub(p[2], p[0]));
    return real3_dot(n, n) > 0;
}

static void take_apart(carom_context *context, const carom_soup_def *def, parts *p) {
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_numbers face = {0};
    carom_mesh_triangulate_def split = {.fan = def->fan};
    assert_ok(context, carom_mesh_triangulate(context, def->mesh, &split, &mesh, &face));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    p->triangles = (uint32_t)view.face_count;
    p->faces = def->fan ? p->triangles : (uint32_t)def->mesh->face_count;
    assert_true(p->triangles <= MOST_TRIANGLES);
    for (uint32_t t = 0; t < p->triangles; ++t) {
        p->face[t] = def->fan ? t : face.data[t];
        for (int i = 0; i < 3; ++i) {
            p->vertex[t][i] = view.corners[3 * t + (uint32_t)i];
            p->corners[t].corner[i] = position_of(&view, p->vertex[t][i]);
        }
        p->there[t] =
            def->degenerate == CAROM_SOUP_DEGENERATE_AS_SEGMENT || has_area(&p->corners[t]);
    }
    carom_numbers_free(&face);
    carom_mesh_destroy(mesh);
}

static bool triangles_within(const carom_triangle *a, const carom_triangle *b, double margin) {
    real3 ra[3], rb[3];
    for (int i = 0; i < 3; ++i) {
        ra[i] = real3_of(a->corner[i]);
        rb[i] = real3_of(b->corner[i]);
    }
    return oracle_within(ra, rb, (real)margin * (real)margin);
}

/* One bit per pair of faces. */
static uint8_t table[MOST_TRIANGLES][MOST_TRIANGLES];
enum { NEAR = 1, COMMON = 2 };

static void fill_table(const parts *a, const parts *b, double margin, bool one_soup, bool exact) {
    memset(table, 0, sizeof(table));
    for (uint32_t s = 0; s < a->triangles; ++s) {
        for (uint32_t t = 0; t < b->triangles; ++t) {
            uint8_t *entry = &table[a->face[s]][b->face[t]];
            for (int i = 0; i < 9 && one_soup; ++i)
                if (a->vertex[s][i / 3] == b->vertex[t][i % 3]) *entry |= COMMON;
            if (!a->there[s] || !b->there[t] || (*entry & NEAR) != 0) continue;
            if (exact ? triangles_within(&a->corners[s], &b->corners[t], margin)
                      : carom_within_exact(&a->corners[s], &b->corners[t], margin))
                *entry |= NEAR;
        }
    }
}

static carom_pair expected[MOST_TRIANGLES * MOST_TRIANGLES];

static uint64_t list_expected(const parts *a, const parts *b, bool one_soup) {
    uint64_t count = 0;
    for (uint32_t f = 0; f < a->faces; ++f)
        for (uint32_t g = one_soup ? f + 1 : 0; g < b->faces; ++g)
            if (table[f][g] == NEAR) expected[count++] = (carom_pair){f, g};
    return count;
}

/* ---- the answers ----------------------------------------------------------------------------- */

typedef struct received {
    uint64_t count;
    bool right;
} received;

static bool receive(void *user, const carom_pair *pairs, uint64_t count) {
    received *r = user;
    r->right = r->right && memcmp(pairs, expected + r->count, count * sizeof(*pairs)) == 0;
    r->count += count;
    return false;
}

static carom_pairs pairs;

static void compare(const char *what, int round, uint64_t count) {
    if (pairs.count != count ||
        (count != 0 && memcmp(pairs.data, expected, count * sizeof(*expected)) != 0)) {
        for (uint64_t i = 0; i < count || i < pairs.count; ++i)
            if (i >= count || i >= pairs.count || pairs.data[i].a != expected[i].a ||
                pairs.data[i].b != expected[i].b)
                fail_msg("%s, round %d: %" PRIu64 " pairs, not %" PRIu64
                         "; the first wrong is %" PRIu64 ": %u %u, not %u %u",
                         what, round, pairs.count, count, i, i < pairs.count ? pairs.data[i].a : 0,
                         i < pairs.count ? pairs.data[i].b : 0, expected[i].a, expected[i].b);
    }
}

static void check_self(carom_context *context, const carom_soup *soup, double margin, int round,
                       uint64_t count) {
    uint64_t counted = 77;
    bool any = count == 0;
    received r = {.right = true};
    assert_ok(context, carom_soup_self_pairs_within(context, soup, margin, &pairs));
    compare("self", round, count);
    assert_ok(context, carom_soup_self_count_within(context, soup, margin, &counted));
    assert_int_equal(counted, count);
    assert_ok(context, carom_soup_self_meet_within(context, soup, margin, &any));
    assert_int_equal(any, count != 0);
    assert_ok(context, carom_soup_self_each_within(context, soup, margin, receive, &r));
    assert_true(r.right);
    assert_int_equal(r.count, count);
}

static void check_cross(carom_context *context, const carom_soup *a, const carom_pose *pose_a,
                        const carom_soup *b, const carom_pose *pose_b, double margin, int round,
                        uint64_t count) {
    uint64_t counted = 77;
    bool any = count == 0;
    received r = {.right = true};
    assert_ok(context,
              carom_soup_cross_pairs_within(context, a, pose_a, b, pose_b, margin, &pairs));
    compare("cross", round, count);
    assert_ok(context,
              carom_soup_cross_count_within(context, a, pose_a, b, pose_b, margin, &counted));
    assert_int_equal(counted, count);
    assert_ok(context, carom_soup_cross_meet_within(context, a, pose_a, b, pose_b, margin, &any));
    assert_int_equal(any, count != 0);
    assert_ok(context,
              carom_soup_cross_each_within(context, a, pose_a, b, pose_b, margin, receive, &r));
    assert_true(r.right);
    assert_int_equal(r.count, count);
}

/* ---- small soups ----------------------------------------------------------------------------- */

static carom_context *contexts[4];
static int context_count;

/* Of one and several threads, and of each instruction set. */
static int make_contexts(void **state) {
    (void)state;
    contexts[context_count++] = test_context(1);
    contexts[context_count++] = test_context(3);
    for (carom_isa isa = CAROM_ISA_BASELINE; isa <= CAROM_ISA_AVX2; ++isa) {
        carom_context *context = test_context_isa(1, isa);
        if (context != NULL) contexts[context_count++] = context;
    }
    return 0;
}

static int destroy_contexts(void **state) {
    (void)state;
    for (int i = 0; i < context_count; ++i) carom_context_destroy(contexts[i]);
    carom_pairs_free(&pairs);
    return 0;
}

/* Distances on a lattice are often exactly these. */
static double pick_margin(carom_random *random) {
    static const double margins[] = {0.0, 0.5, 1.0, 1.0, 2.0, 3.0, 5.0, 0.25, 1.5, 100.0};
    return margins[carom_random_next(random) % COUNT_OF(margins)];
}

/* The view is that of the def. */
static carom_soup_def pick_def(carom_random *random, lattice_soup *lattice, carom_mesh_view *view) {
    carom_soup_def def = {.mesh = view,
                          .degenerate = carom_random_next(random) % 2 == 0
                                            ? CAROM_SOUP_DEGENERATE_ALONE
                                            : CAROM_SOUP_DEGENERATE_AS_SEGMENT,
                          .fan = carom_random_next(random) % 4 == 0,
                          .rigid = carom_random_next(random) % 2 == 0};
    lattice_make(random, lattice);
    *view =
        carom_random_next(random) % 2 == 0 ? lattice_view(lattice) : lattice_view_floats(lattice);
    return def;
}

static void one_soup_is_as_by_hand(void **state) {
    (void)state;
    static lattice_soup lattice;
    static parts p;
    carom_random random = {7};
    uint64_t total = 0;
    for (int round = 0; round < TEST_CASES(SOUPS); ++round) {
        carom_context *context = contexts[round % context_count];
        carom_mesh_view view;
        carom_soup_def def = pick_def(&random, &lattice, &view);
        carom_soup *soup;
        double margin = pick_margin(&random);
        assert_ok(context, carom_soup_create(context, &def, &soup));
        take_apart(context, &def, &p);
        fill_table(&p, &p, margin, true, true);
        uint64_t count = list_expected(&p, &p, true);
        check_self(context, soup, margin, round, count);
        total += count;
        carom_soup_destroy(soup);
    }
    print_message("%" PRIu64 " pairs\n", total);
}

/* Half turns and whole steps keep a lattice a lattice. */
static carom_pose pick_pose(carom_random *random) {
    static const carom_quat turns[4] = {
        {1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};
    carom_pose pose = {.q = turns[carom_random_next(random) % 4]};
    pose.t.x = (double)(carom_random_next(random) % 9) - 4.0;
    pose.t.y = (double)(carom_random_next(random) % 9) - 4.0;
    pose.t.z = (double)(carom_random_next(random) % 9) - 4.0;
    return pose;
}

static void apply_pose(parts *p, const carom_pose *pose) {
    carom_frame frame = carom_frame_make(pose);
    for (uint32_t t = 0; t < p->triangles; ++t)
        for (int i = 0; i < 3; ++i)
            p->corners[t].corner[i] = carom_frame_apply(&frame, p->corners[t].corner[i]);
}

static void two_soups_are_as_by_hand(void **state) {
    (void)state;
    static lattice_soup lattice_a, lattice_b;
    static parts pa, pb;
    carom_random random = {8};
    uint64_t total = 0;
    for (int round = 0; round < TEST_CASES(SOUPS); ++round) {
        carom_context *context = contexts[round % context_count];
        carom_mesh_view view_a, view_b;
        carom_soup_def def_a = pick_def(&random, &lattice_a, &view_a);
        carom_soup_def def_b = pick_def(&random, &lattice_b, &view_b);
        carom_pose pose_a = pick_pose(&random), pose_b = pick_pose(&random);
        carom_soup *a, *b;
        double margin = pick_margin(&random);
        assert_ok(context, carom_soup_create(context, &def_a, &a));
        assert_ok(context, carom_soup_create(context, &def_b, &b));
        take_apart(context, &def_a, &pa);
        take_apart(context, &def_b, &pb);
        apply_pose(&pa, &pose_a);
        apply_pose(&pb, &pose_b);
        fill_table(&pa, &pb, margin, false, true);
        uint64_t count = list_expected(&pa, &pb, false);
        check_cross(context, a, &pose_a, b, &pose_b, margin, round, count);
        total += count;
        carom_soup_destroy(a);
        carom_soup_destroy(b);
    }
    print_message("%" PRIu64 " pairs\n", total);
}

/* Any poses, scales and distances: nothing is on a lattice then. The decision of two triangles is
 * tested in test_within.c. */
static void scales_and_distances_do_not_matter(void **state) {
    (void)state;
    static lattice_soup lattice_a, lattice_b;
    static parts pa, pb;
    static const double scales[] = {1.0, 1e-3, 0x1p-300, 0x1p500, 0x1p60, 1e7};
    carom_random random = {9};
    uint64_t total = 0, far = 0;
    for (int round = 0; round < TEST_CASES(1500); ++round) {
        carom_context *context = contexts[round % context_count];
        double scale_a = scales[carom_random_next(&random) % COUNT_OF(scales)];
        double scale_b =
            round % 3 == 0 ? scales[carom_random_next(&random) % COUNT_OF(scales)] : scale_a;
        lattice_make(&random, &lattice_a);
        lattice_make(&random, &lattice_b);
        lattice_move(&lattice_a, 0.25, scale_a);
        lattice_move(&lattice_b, -0.5, scale_b);
        carom_soup_def def_a = {.mesh = (carom_mesh_view[]){lattice_view(&lattice_a)},
                                .rigid = round % 2 == 0};
        carom_soup_def def_b = {.mesh = (carom_mesh_view[]){lattice_view(&lattice_b)},
                                .rigid = round % 4 < 2};
        def_a.degenerate = def_b.degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT;
        carom_pose pose_b = {.q = {carom_random_uniform(&random), carom_random_uniform(&random),
                                   carom_random_uniform(&random), -1.0}};
        double apart = round % 5 == 0 ? 1e6 : round % 7 == 0 ? 0x1p70 : 6.0;
        pose_b.t.x = apart * scale_a * carom_random_uniform(&random);
        pose_b.t.y = scale_a * carom_random_uniform(&random);
        double margin = scale_a * apart * carom_random_uniform(&random);
        if (round % 2 == 0) margin = scale_a * 2.0 * carom_random_uniform(&random);
        carom_soup *a, *b;
        assert_ok(context, carom_soup_create(context, &def_a, &a));
        assert_ok(context, carom_soup_create(context, &def_b, &b));
        take_apart(context, &def_a, &pa);
        take_apart(context, &def_b, &pb);
        fill_table(&pa, &pa, margin, true, false);
        check_self(context, a, margin, round, list_expected(&pa, &pa, true));
        apply_pose(&pa, NULL);
        apply_pose(&pb, &pose_b);
        fill_table(&pa, &pb, margin, false, false);
        uint64_t count = list_expected(&pa, &pb, false);
        check_cross(context, a, NULL, b, &pose_b, margin, round, count);
        total += count;
        far += count == 0 ? 1 : 0;
        carom_soup_destroy(a);
        carom_soup_destroy(b);
    }
    print_message("%" PRIu64 " pairs, %" PRIu64 " rounds without any\n", total, far);
    if (TEST_MANY_CASES) assert_true(total > TEST_CASES(10000) && far > TEST_CASES(100));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least distance above 0 of two faces, or one of the next. It is small beside the soups, so
 * that errors that are in proportion to their size show. */
static double nearest_of(carom_context *context, const carom_soup *a, const carom_soup *b,
                         const carom_pose *pose, uint32_t triangles, int rank) {
    static carom_pair all[MOST_TRIANGLES];
    static carom_soup_gap gaps[MOST_TRIANGLES];
    double distances[MOST_TRIANGLES];
    uint64_t count = (uint64_t)triangles * triangles, apart = 0;
    assert_true(count <= MOST_TRIANGLES);
    for (uint32_t i = 0; i < count; ++i) all[i] = (carom_pair){i / triangles, i % triangles};
    assert_ok(context, carom_soup_cross_gaps(context, a, NULL, b, pose, all, count, gaps));
    for (uint64_t i = 0; i < count; ++i)
        if (gaps[i].distance > 0.0) distances[apart++] = gaps[i].distance;
    qsort(distances, apart, sizeof(*distances), by_size);
    return apart > (uint64_t)rank ? distances[rank] : 1.0;
}

/* Margins that are the distance of two faces, and a little more and less: by units of the last
 * place of doubles and of floats, and by the error bounds of the filters in either. */
static void margins_next_to_distances_are_decided(void **state) {
    (void)state;
    enum { TRIANGLES = 20 };
    static const double nudges[] = {0.0,      0x1p-52, -0x1p-52, 0x1p-44,  -0x1p-44, 0x1p-24,
                                    -0x1p-24, 0x1p-20, -0x1p-20, -0x1p-18, 0x1p-16,  -0x1p-16};
    static parts pa, pb;
    uint32_t corners[3 * TRIANGLES];
    for (uint32_t i = 0; i < 3 * TRIANGLES; ++i) corners[i] = i;
    carom_random random = {10};
    for (int round = 0; round < TEST_CASES(400); ++round) {
        carom_context *context = contexts[round % context_count];
        carom_vec3 xyz[2][3 * TRIANGLES];
        double size = round % 4 == 0 ? 0.01 : 0.3, flat = round % 3 == 0 ? 0.0 : 1.0;
        for (int i = 0; i < 2 * TRIANGLES; ++i) {
            carom_vec3 *t = &xyz[i / TRIANGLES][3 * (i % TRIANGLES)];
            double centre[3];
            for (int k = 0; k < 3; ++k) centre[k] = carom_random_between(&random, -1.0, 1.0);
            for (int c = 0; c < 3; ++c) {
                t[c].x = centre[0] + size * carom_random_between(&random, -1.0, 1.0);
                t[c].y = centre[1] + size * carom_random_between(&random, -1.0, 1.0);
                t[c].z = flat * (centre[2] + size * carom_random_between(&random, -1.0, 1.0));
            }
        }
        carom_mesh_view view_a = {.positions = xyz[0],
                                  .scalar = CAROM_SCALAR_FLOAT64,
                                  .vertex_count = 3 * TRIANGLES,
                                  .corners = corners,
                                  .face_count = TRIANGLES};
        carom_mesh_view view_b = view_a;
        view_b.positions = xyz[1];
        carom_soup_def def_a = {.mesh = &view_a, .rigid = round % 2 == 0};
        carom_soup_def def_b = {.mesh = &view_b, .rigid = round % 2 == 0};
        carom_pose pose = {.q = {carom_random_uniform(&random), carom_random_uniform(&random),
                                 carom_random_uniform(&random), -1.0}};
        pose.t.x = carom_random_between(&random, 0.0, 2.0);
        carom_soup *a, *b;
        assert_ok(context, carom_soup_create(context, &def_a, &a));
        assert_ok(context, carom_soup_create(context, &def_b, &b));
        double least = nearest_of(context, a, b, &pose, TRIANGLES, round % 5);
        double margin = least * (1.0 + nudges[round % COUNT_OF(nudges)]);
        take_apart(context, &def_a, &pa);
        take_apart(context, &def_b, &pb);
        apply_pose(&pb, &pose);
        fill_table(&pa, &pb, margin, false, false);
        check_cross(context, a, NULL, b, &pose, margin, round, list_expected(&pa, &pb, false));
        carom_soup_destroy(a);
        carom_soup_destroy(b);
    }
}

/* Floats near the end of their range, where an enlarged box overflows; and a removed face, whose
 * box is empty. */
static void the_largest_floats_are_found(void **state) {
    (void)state;
    carom_context *context = contexts[0];
    const float m = 3e38f;
    const float xyz[9][3] = {{-m, -m, -m}, {-m, 0, -m}, {-m, -m, 0}, {m, m, m}, {m, 0, m},
                             {m, m, 0},    {0, 0, 0},   {1, 0, 0},   {0, 1, 0}};
    const uint32_t corners[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, removed = 2;
    carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = xyz,
                                                     .scalar = CAROM_SCALAR_FLOAT32,
                                                     .vertex_count = 9,
                                                     .corners = corners,
                                                     .face_count = 3}};
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, &def, &soup));
    expected[0] = (carom_pair){0, 1};
    expected[1] = (carom_pair){0, 2};
    expected[2] = (carom_pair){1, 2};
    check_self(context, soup, 1e300, 0, 3);
    check_self(context, soup, 3e38, 0, 0);
    assert_ok(context, carom_soup_remove(context, soup, &removed, 1));
    check_self(context, soup, 1e39, 0, 1);
    check_self(context, soup, 6e38, 0, 0);
    carom_soup_destroy(soup);
}

/* ---- larger soups ---------------------------------------------------------------------------- */

static void threads_and_instruction_sets_agree(void **state) {
    (void)state;
    carom_context *first = contexts[0];
    carom_shape_def shape = {.detail = 5};
    carom_mesh_view view;
    carom_soup *soup, *rigid;
    carom_mesh *mesh = shape_mesh(first, &shape, &view);
    assert_ok(first, carom_soup_create(first, &(carom_soup_def){.mesh = &view}, &soup));
    assert_ok(first,
              carom_soup_create(first, &(carom_soup_def){.mesh = &view, .rigid = true}, &rigid));
    carom_pose pose = {.q = {0.9, 0.1, 0.2, 0.3}, .t = {0.7, 0.4, 0.1}};
    const double margins[] = {0.0, 0.01, 0.1};
    for (size_t m = 0; m < COUNT_OF(margins); ++m) {
        uint64_t self_hash = 0, cross_hash = 0, self_count = 0;
        for (int i = 0; i < context_count; ++i) {
            carom_context *c = contexts[i];
            uint64_t count;
            carom_work work;
            assert_ok(c, carom_soup_self_pairs_within(c, soup, margins[m], &pairs));
            uint64_t hash = test_hash(pairs.data, pairs.count * sizeof(*pairs.data), pairs.count);
            if (i == 0) self_hash = hash, self_count = pairs.count;
            assert_true(hash == self_hash);
            assert_ok(c, carom_soup_self_count_within(c, soup, margins[m], &count));
            assert_int_equal(count, self_count);
            for (int k = 0; k < 4; ++k) {
                assert_ok(c, carom_soup_cross_pairs_within(c, k % 2 == 0 ? soup : rigid, NULL,
                                                           k < 2 ? soup : rigid, &pose, margins[m],
                                                           &pairs));
                hash = test_hash(pairs.data, pairs.count * sizeof(*pairs.data), pairs.count);
                if (i == 0 && k == 0) cross_hash = hash;
                assert_true(hash == cross_hash);
            }
            assert_ok(c, carom_context_get_work(c, &work));
            assert_true(work.candidates >= pairs.count);
        }
        print_message("margin %g: %" PRIu64 " and %" PRIu64 " pairs\n", margins[m], self_count,
                      pairs.count);
    }
    /* A margin of 0 finds the faces that meet. */
    carom_pairs intersecting = {0};
    assert_ok(first, carom_soup_cross_pairs_within(first, soup, NULL, rigid, &pose, 0.0, &pairs));
    assert_ok(first, carom_soup_cross_pairs(first, soup, NULL, rigid, &pose, &intersecting));
    assert_int_equal(pairs.count, intersecting.count);
    assert_memory_equal(pairs.data, intersecting.data, pairs.count * sizeof(*pairs.data));
    carom_pairs_free(&intersecting);
    carom_soup_destroy(soup);
    carom_soup_destroy(rigid);
    carom_mesh_destroy(mesh);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static void gaps_are_the_least_of_the_triangles(void **state) {
    (void)state;
    static lattice_soup lattice_a, lattice_b;
    static parts pa, pb;
    static carom_pair all[MOST_TRIANGLES * MOST_TRIANGLES];
    static carom_soup_gap gaps[MOST_TRIANGLES * MOST_TRIANGLES];
    carom_random random = {10};
    uint64_t intersecting = 0;
    for (int round = 0; round < TEST_CASES(300); ++round) {
        carom_context *context = contexts[round % context_count];
        carom_mesh_view view_a, view_b;
        carom_soup_def def_a = pick_def(&random, &lattice_a, &view_a);
        carom_soup_def def_b = pick_def(&random, &lattice_b, &view_b);
        carom_pose pose_b = pick_pose(&random);
        carom_soup *a, *b;
        assert_ok(context, carom_soup_create(context, &def_a, &a));
        assert_ok(context, carom_soup_create(context, &def_b, &b));
        take_apart(context, &def_a, &pa);
        take_apart(context, &def_b, &pb);
        bool one_soup = round % 2 == 0;
        if (!one_soup) {
            apply_pose(&pa, NULL);
            apply_pose(&pb, &pose_b);
        }
        const parts *other = one_soup ? &pa : &pb;
        uint64_t count = 0;
        for (uint32_t f = 0; f < pa.faces; ++f)
            for (uint32_t g = 0; g < other->faces; ++g) all[count++] = (carom_pair){f, g};
        if (one_soup)
            assert_ok(context, carom_soup_self_gaps(context, a, all, count, gaps));
        else
            assert_ok(context,
                      carom_soup_cross_gaps(context, a, NULL, b, &pose_b, all, count, gaps));
        for (uint64_t i = 0; i < count; ++i) {
            double least = HUGE_VAL;
            for (uint32_t s = 0; s < pa.triangles; ++s) {
                for (uint32_t t = 0; t < other->triangles; ++t) {
                    if (pa.face[s] != all[i].a || other->face[t] != all[i].b) continue;
                    carom_closest closest;
                    carom_near_triangles(pa.corners[s].corner, other->corners[t].corner, &closest);
                    if (carom_triangles_meet_value(&pa.corners[s], &other->corners[t]))
                        closest.distance = 0.0;
                    least = fmin(least, closest.distance);
                }
            }
            assert_int_equal(gaps[i].face_a, all[i].a);
            assert_int_equal(gaps[i].face_b, all[i].b);
            assert_true(gaps[i].distance == least);
            carom_vec3 d = carom_vec_sub(gaps[i].point_a, gaps[i].point_b);
            assert_true(fabs(carom_vec_length(d) - least) < 1e-12);
            intersecting += least == 0.0 ? 1 : 0;
        }
        carom_soup_destroy(a);
        carom_soup_destroy(b);
    }
    if (TEST_MANY_CASES) assert_true(intersecting > 1000);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static carom_status query_all(carom_allocator allocator, void *argument) {
    const carom_mesh_view *view = argument;
    carom_context_def def = {.threads = 2, .allocator = allocator};
    carom_context *context;
    carom_soup *soup = NULL;
    carom_pairs found = {0};
    uint64_t count = 0;
    carom_soup_gap gap;
    carom_status status = carom_context_create(&def, &context);
    if (status != CAROM_OK) return status;
    received r = {.right = true};
    status = carom_soup_create(context, &(carom_soup_def){.mesh = view}, &soup);
    if (status == CAROM_OK) status = carom_soup_self_pairs_within(context, soup, 1.0, &found);
    if (status == CAROM_OK) status = carom_soup_self_count_within(context, soup, 1.0, &count);
    if (status == CAROM_OK) status = carom_soup_self_each_within(context, soup, 1.0, receive, &r);
    if (status == CAROM_OK)
        status = carom_soup_cross_pairs_within(context, soup, NULL, soup, NULL, 1.0, &found);
    if (status == CAROM_OK && found.count != 0)
        status = carom_soup_cross_gaps(context, soup, NULL, soup, NULL, found.data, 1, &gap);
    carom_pairs_free(&found);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void failures_have_a_status(void **state) {
    (void)state;
    static lattice_soup lattice;
    carom_random random = {11};
    carom_context *c = contexts[0];
    do lattice_make(&random, &lattice);
    while (lattice.kind != LATTICE_POLYGONS);
    carom_mesh_view view = lattice_view(&lattice);
    carom_soup *soup, *grid;
    bool any;
    assert_ok(c, carom_soup_create(c, &(carom_soup_def){.mesh = &view}, &soup));
    assert_ok(c, carom_soup_create(
                     c, &(carom_soup_def){.mesh = &view, .method = CAROM_SOUP_METHOD_GRID}, &grid));
    const double bad[] = {-1.0, (double)NAN, HUGE_VAL};
    for (size_t i = 0; i < COUNT_OF(bad); ++i) {
        assert_fails(c, carom_soup_self_pairs_within(c, soup, bad[i], &pairs), CAROM_BAD_INPUT,
                     "margin");
        assert_fails(c, carom_soup_cross_meet_within(c, soup, NULL, soup, NULL, bad[i], &any),
                     CAROM_BAD_INPUT, "margin");
    }
    assert_fails(c, carom_soup_self_pairs_within(c, grid, 1.0, &pairs), CAROM_UNSUPPORTED, "GRID");
    assert_fails(c, carom_soup_cross_pairs_within(c, soup, NULL, grid, NULL, 1.0, &pairs),
                 CAROM_UNSUPPORTED, "GRID");
    carom_soup_gap gap;
    carom_pair wrong = {0, lattice.faces};
    uint32_t removed = 0;
    assert_fails(c, carom_soup_self_gaps(c, soup, &wrong, 1, &gap), CAROM_BAD_INPUT, "pair 0");
    assert_ok(c, carom_soup_remove(c, soup, &removed, 1));
    wrong.b = 0;
    assert_fails(c, carom_soup_self_gaps(c, soup, &wrong, 1, &gap), CAROM_BAD_INPUT, "removed");
    carom_soup_destroy(soup);
    carom_soup_destroy(grid);
    test_allocation_failures(query_all, &view);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_soup_is_as_by_hand),
        cmocka_unit_test(two_soups_are_as_by_hand),
        cmocka_unit_test(scales_and_distances_do_not_matter),
        cmocka_unit_test(margins_next_to_distances_are_decided),
        cmocka_unit_test(the_largest_floats_are_found),
        cmocka_unit_test(threads_and_instruction_sets_agree),
        cmocka_unit_test(gaps_are_the_least_of_the_triangles),
        cmocka_unit_test(failures_have_a_status),
    };
    return cmocka_run_group_tests_name("soup_within", tests, make_contexts, destroy_contexts);
}
