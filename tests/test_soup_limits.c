/* SPDX-License-Identifier: MIT */
/* Soups nobody expects: giants among dwarfs, everything in one point, copies upon copies, the ends
 * of the number range, nothing at all, and callers' mistakes. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soup/soup_search.h"
#include "tests/support/campaign.h"
#include "tests/support/integer_oracle.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"

static carom_pairs pairs;

static carom_soup *create(carom_context *context, const carom_soup_def *def) {
    carom_soup *soup;
    assert_ok(context, carom_soup_create(context, def, &soup));
    return soup;
}

/* ---- odd sizes ------------------------------------------------------------------------------- */

/* The cloth's own pairs, and those of the giant with it by trying all. */
static void one_giant_triangle_costs_little(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 100};
    carom_mesh_view mesh_view = {0};
    carom_soup_def def = {.mesh = &mesh_view};
    carom_work small, with_giant;
    carom_mesh *mesh = shape_mesh(context, &shape, &mesh_view);
    carom_soup *soup = create(context, &def);
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_ok(context, carom_context_get_work(context, &small));
    oracle_pairs expected = {0};
    expected.data = malloc((pairs.count + mesh_view.face_count) * sizeof(carom_pair));
    carom_triangle giant = {{{-1e6, -1e6, 0.0}, {1e6, -1e6, 0.25}, {0.5, 1e6, -0.1}}};
    for (uint32_t f = 0, at = 0; f < mesh_view.face_count; ++f) {
        const double *xyz = mesh_view.positions;
        const uint32_t *corners = mesh_view.corners + 3 * (uint64_t)f;
        carom_triangle t;
        bool meet;
        for (int i = 0; i < 3; ++i)
            memcpy(&t.corner[i], xyz + 3 * (uint64_t)corners[i], sizeof(t.corner[i]));
        for (; at < pairs.count && pairs.data[at].a == f; ++at)
            expected.data[expected.count++] = pairs.data[at];
        assert_ok(context, carom_triangles_meet(context, &t, &giant, &meet));
        if (meet) expected.data[expected.count++] = (carom_pair){f, (uint32_t)mesh_view.face_count};
    }
    assert_true(expected.count > pairs.count + 20);
    static const uint32_t corners[3] = {0, 1, 2};
    carom_mesh_view view = {
        .positions = &giant, .vertex_count = 3, .corners = corners, .face_count = 1};
    assert_ok(context, carom_soup_add(context, soup, &view, NULL));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_ok(context, carom_context_get_work(context, &with_giant));
    oracle_assert_equal(&pairs, &expected, "a cloth with a giant");
    assert_true(with_giant.candidates <= small.candidates + 2 * mesh_view.face_count);
    assert_true(with_giant.visits <= 2 * small.visits);
    oracle_free(&expected);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* Each axis with a scale of its own, from one end of the range to the other: what meets does not
 * change. */
static void axes_may_differ_by_any_power(void **state) {
    (void)state;
    static const int powers[][3] = {{0, 200, -200}, {-500, 0, 500}, {-1074, 0, 1000}, {0, 0, -900}};
    static lattice_soup soup;
    carom_context *context = test_context(1);
    carom_random random = {8};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    for (size_t i = 0; i < TEST_CASES(240); ++i) {
        const int *power = powers[i % COUNT_OF(powers)];
        do lattice_make(&random, &soup);
        while (soup.polygons || soup.faces > 12);
        carom_mesh_view view = lattice_view(&soup);
        carom_soup_def def = {.mesh = &view,
                              .degenerate =
                                  (carom_soup_degenerate)(i / 8 % CAROM_SOUP_DEGENERATE_COUNT)};
        oracle_self(context, &view, false, NULL, expected);
        for (uint32_t v = 0; v < soup.vertices; ++v)
            for (int k = 0; k < 3; ++k) soup.xyz[v][k] = ldexp(soup.xyz[v][k], power[k]);
        carom_soup *made = create(context, &def);
        assert_ok(context, carom_soup_self_pairs(context, made, &pairs));
        oracle_assert_equal(&pairs, &expected[def.degenerate], "axes of different size");
        carom_soup_destroy(made);
    }
    oracle_free_all(expected);
    carom_context_destroy(context);
}

/* Only the three values -most, 0 and most: even differences overflow. */
static void the_ends_of_the_range_are_fine(void **state) {
    (void)state;
    static lattice_soup soup, moved;
    carom_context *context = test_context(1);
    carom_random random = {9};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    for (int i = 0; i < TEST_CASES(400); ++i) {
        do lattice_make(&random, &soup);
        while (soup.polygons || soup.faces > 12);
        for (uint32_t v = 0; v < soup.vertices; ++v)
            for (int k = 0; k < 3; ++k) soup.xyz[v][k] = fmod(soup.xyz[v][k], 3.0) - 1.0;
        carom_mesh_view view = lattice_view(&soup);
        carom_soup_def def = {.mesh = &view,
                              .degenerate =
                                  (carom_soup_degenerate)(i / 2 % CAROM_SOUP_DEGENERATE_COUNT)};
        oracle_self(context, &view, false, NULL, expected);
        moved = soup;
        lattice_move(&moved, 0.0, i % 2 == 0 ? DBL_MAX : (double)FLT_MAX);
        view = i % 2 == 0 ? lattice_view(&moved) : lattice_view_floats(&moved);
        carom_soup *made = create(context, &def);
        assert_ok(context, carom_soup_self_pairs(context, made, &pairs));
        oracle_assert_equal(&pairs, &expected[def.degenerate],
                            i % 2 == 0 ? "of DBL_MAX" : "of FLT_MAX");
        carom_soup_destroy(made);
    }
    oracle_free_all(expected);
    carom_context_destroy(context);
}

/* ---- everything in one position -------------------------------------------------------------- */

typedef struct heap {
    uint32_t faces, vertices;
    double (*xyz)[3];
    uint32_t *corners;
} heap;

/* `count` copies of a mesh, in one position, without common vertices. */
static heap heap_make(const double (*xyz)[3], uint32_t vertices, const uint32_t *corners,
                      uint32_t faces, uint32_t count) {
    heap h = {faces * count, vertices * count, NULL, NULL};
    h.xyz = malloc(h.vertices * sizeof(*h.xyz));
    h.corners = malloc(3 * h.faces * sizeof(*h.corners));
    assert_true(h.xyz != NULL && h.corners != NULL);
    for (uint32_t c = 0; c < count; ++c) {
        memcpy(h.xyz + c * vertices, xyz, vertices * sizeof(*xyz));
        for (uint32_t i = 0; i < 3 * faces; ++i)
            h.corners[3 * faces * c + i] = vertices * c + corners[i];
    }
    return h;
}

static carom_mesh_view heap_view(const heap *h) {
    return (carom_mesh_view){.positions = h->xyz,
                             .vertex_count = h->vertices,
                             .corners = h->corners,
                             .face_count = h->faces};
}

static void heap_free(heap *h) {
    free(h->xyz);
    free(h->corners);
}

static void everything_in_one_point(void **state) {
    (void)state;
    static const double point[3][3] = {{3.0, 4.0, 5.0}, {3.0, 4.0, 5.0}, {3.0, 4.0, 5.0}};
    static const uint32_t corners[3] = {0, 1, 2};
    carom_context *context = test_context(2);
    heap h = heap_make(point, 3, corners, 1, 100000);
    carom_mesh_view view = heap_view(&h);
    carom_soup_def def = {.mesh = &view};
    carom_soup *soup = create(context, &def);
    carom_soup_info info;
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_int_equal(pairs.count, h.faces);
    for (uint32_t i = 0; i < h.faces; ++i)
        assert_true(pairs.data[i].a == i && pairs.data[i].b == i);
    assert_ok(context, carom_soup_get_info(soup, &info));
    assert_int_equal(info.degenerate_faces, h.faces);
    carom_soup_destroy(soup);
    view.face_count = 1000; /* each point meets each */
    def.degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT;
    soup = create(context, &def);
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_int_equal(pairs.count, 1000 * 999 / 2);
    carom_soup_destroy(soup);
    heap_free(&h);
    carom_context_destroy(context);
}

/* Receives pairs, checks that they ascend, forgets them. */
typedef struct receiver {
    uint64_t count, calls, stop_at;
    carom_pair last;
    bool disorder;
} receiver;

static bool receive(void *user, const carom_pair *found, uint64_t count) {
    receiver *r = user;
    for (uint64_t i = 0; i < count; ++i) {
        bool follows = r->count == 0 || found[i].a > r->last.a ||
                       (found[i].a == r->last.a && found[i].b > r->last.b);
        r->disorder = r->disorder || !follows;
        r->last = found[i];
        ++r->count;
    }
    ++r->calls;
    return r->stop_at != 0 && r->count >= r->stop_at;
}

/* A tetrahedron's faces all touch each other: of two copies 16 pairs meet. The copies come behind a
 * sheet that meets nothing, so that streaming is at full stride when it runs into them. */
static void a_thousand_copies_in_one_position_are_streamed(void **state) {
    (void)state;
    static const double xyz[4][3] = {
        {0.1, 0.2, 0.3}, {1.1, 0.3, 0.25}, {0.4, 1.3, 0.35}, {0.5, 0.6, 1.7}};
    static const uint32_t corners[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    uint32_t copies = campaign_is_long() ? 1000 : 200;
    carom_context *context = test_context(2);
    heap h = heap_make(xyz, 4, corners, 4, copies);
    carom_shape_def shape = {.shape = CAROM_SHAPE_GRID, .detail = 60};
    carom_mesh_view mesh_view = {0};
    carom_soup_def def = {.mesh = &mesh_view};
    carom_mesh *mesh = shape_mesh(context, &shape, &mesh_view);
    carom_soup *soup = create(context, &def);
    carom_mesh_view view = heap_view(&h);
    assert_ok(context, carom_soup_add(context, soup, &view, NULL));
    uint64_t count, expected = (uint64_t)copies * (copies - 1) / 2 * 16;
    carom_context_info info;
    bool any;
    receiver r = {.stop_at = 5000};
    assert_ok(context, carom_soup_self_meet(context, soup, &any));
    assert_true(any);
    assert_ok(context, carom_soup_self_each(context, soup, receive, &r));
    assert_in_range(r.count, r.stop_at, r.stop_at + 4096);
    assert_false(r.disorder);
    assert_ok(context, carom_soup_self_count(context, soup, &count));
    assert_int_equal(count, expected);
    r = (receiver){0};
    assert_ok(context, carom_soup_self_each(context, soup, receive, &r));
    assert_int_equal(r.count, expected);
    assert_false(r.disorder);
    assert_ok(context, carom_context_get_info(context, &info));
    print_message("%" PRIu64 " pairs of %u faces with %.1f MB of scratch\n", count, h.faces,
                  (double)info.scratch_bytes * 1e-6);
    assert_true(info.scratch_bytes < 8000000);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    heap_free(&h);
    carom_context_destroy(context);
}

/* Of two workers one may have kept too many pairs while the other spent the budget: on the grid the
 * search begins afresh, else all that it finds would be taken for given up. */
static void a_search_that_gave_up_in_two_ways_goes_on_by_grid(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 12};
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    carom_soup *soup = create(context, &def);
    uint64_t expected;
    assert_ok(context, carom_soup_self_count(context, soup, &expected));
    assert_true(expected > 0);
    carom_soup_search search;
    carom_soup_grid cells;
    carom_soup_search_begin(context, soup, &search);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    search.stop = search.spent = search.overflowed = true;
    assert_ok(context, carom_soup_search_on_grid(&search, &cells));
    assert_ok(context, carom_soup_search_run(&search, NULL, NULL));
    assert_int_equal(search.count, expected);
    carom_arena_rewind(scratch, mark);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- nothing, and not enough room ------------------------------------------------------------ */

static void nothing_gives_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    static const double xyz[4][3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    static const uint64_t offsets[1] = {0};
    const carom_soup_def defs[] = {
        {.fan = false},
        {.mesh = &(carom_mesh_view){.scalar = CAROM_SCALAR_FLOAT32}},
        {.mesh = &(carom_mesh_view){.positions = xyz, .vertex_count = 3}},
        {.mesh = &(carom_mesh_view){.offsets = offsets}, .fan = true}};
    for (size_t i = 0; i <= COUNT_OF(defs); ++i) {
        carom_soup *soup = create(context, i < COUNT_OF(defs) ? &defs[i] : NULL);
        uint64_t count = 7;
        bool any = true;
        receiver r = {0};
        assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
        assert_int_equal(pairs.count, 0);
        assert_ok(context, carom_soup_self_count(context, soup, &count));
        assert_int_equal(count, 0);
        assert_ok(context, carom_soup_self_meet(context, soup, &any));
        assert_false(any);
        assert_ok(context, carom_soup_self_each(context, soup, receive, &r));
        assert_int_equal(r.count, 0);
        carom_soup_destroy(soup);
    }
    carom_soup_destroy(NULL);
    carom_context_destroy(context);
}

static void a_small_buffer_is_filled_and_the_count_is_true(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 30};
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    carom_soup *soup = create(context, &def);
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_true(pairs.count > 20);
    for (uint64_t room = 0; room <= pairs.count + 1; room += 10) {
        carom_pair *own = calloc(room + 1, sizeof(*own));
        carom_pairs mine = {.data = own, .capacity = room, .owner = CAROM_OWNER_CALLER};
        uint64_t filled = room < pairs.count ? room : pairs.count;
        carom_status status = carom_soup_self_pairs(context, soup, &mine);
        assert_int_equal(status, room < pairs.count ? CAROM_MORE : CAROM_OK);
        assert_int_equal(mine.count, pairs.count);
        assert_ptr_equal(mine.data, own);
        assert_memory_equal(own, pairs.data, filled * sizeof(*own));
        assert_true(own[filled].a == 0 && own[filled].b == 0);
        free(own);
    }
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- memory that ends ------------------------------------------------------------------------ */

/* An allocator that has so many bytes. */
typedef struct limited {
    _Atomic int64_t left;
    _Atomic uint64_t live;
} limited;

/* The size of a block is in front of it. */
static void *limited_allocate(void *user, size_t size, size_t alignment) {
    limited *l = user;
    size_t whole = (size + 2 * alignment - 1) / alignment * alignment;
    if (atomic_fetch_sub(&l->left, (int64_t)whole) < (int64_t)whole) {
        l->left += (int64_t)whole;
        return NULL;
    }
    char *block = aligned_alloc(alignment, whole);
    assert_non_null(block);
    memcpy(block, &whole, sizeof(whole));
    ++l->live;
    return block + alignment;
}

static void limited_release(void *user, void *pointer) {
    limited *l = user;
    size_t whole;
    char *block = (char *)pointer - CAROM_ALIGNMENT;
    memcpy(&whole, block, sizeof(whole));
    l->left += (int64_t)whole;
    --l->live;
    free(block);
}

/* A soup and its pairs, from the bytes that are there. */
static carom_status find_pairs(carom_context *context, const carom_soup_def *def, uint64_t *hash) {
    carom_soup *soup;
    carom_pairs found = {0};
    carom_status status = carom_soup_create(context, def, &soup);
    if (status == CAROM_NO_MEMORY) {
        assert_null(soup);
        assert_non_null(strstr(carom_context_message(context), "a soup"));
    }
    if (status == CAROM_OK) status = carom_soup_self_pairs(context, soup, &found);
    if (status == CAROM_OK) *hash = test_hash(found.data, found.count * sizeof(*found.data), 1);
    carom_pairs_free(&found);
    carom_soup_destroy(soup);
    return status;
}

static void the_end_of_memory_is_told_with_its_bytes(void **state) {
    (void)state;
    carom_context *plain = test_context(1);
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 150};
    carom_mesh *mesh = shape_mesh(plain, &shape, &view);
    uint64_t expected = 0;
    for (int method = 0; method < CAROM_SOUP_METHOD_COUNT; ++method) {
        def.method = (carom_soup_method)method;
        def.rigid = def.method == CAROM_SOUP_METHOD_TREE;
        assert_ok(plain, find_pairs(plain, &def, &expected));
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            carom_status status = CAROM_NO_MEMORY;
            uint64_t failures = 0;
            for (int64_t bytes = 200000; status != CAROM_OK; bytes += bytes / 8) {
                limited l = {.left = bytes};
                carom_context_def limits = {.threads = threads,
                                            .allocator = {limited_allocate, limited_release, &l}};
                carom_context *context;
                uint64_t hash = 0;
                assert_ok(NULL, carom_context_create(&limits, &context));
                status = find_pairs(context, &def, &hash);
                if (status != CAROM_OK) {
                    const char *message = carom_context_message(context);
                    unsigned long long requested = 0;
                    const char *at = strstr(message, "out of memory: ");
                    assert_int_equal(status, CAROM_NO_MEMORY);
                    if (at == NULL ||
                        sscanf(at, "out of memory: %llu bytes for ", &requested) != 1 ||
                        requested == 0 || strstr(at, "use a smaller input") == NULL)
                        fail_msg("%lld bytes: %s", (long long)bytes, message);
                    ++failures;
                } else {
                    assert_true(hash == expected);
                }
                carom_context_destroy(context);
                assert_int_equal(l.live, 0);
                assert_true(l.left == bytes);
            }
            assert_true(failures >= 8);
        }
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(plain);
}

/* ---- large inputs in parts ------------------------------------------------------------------- */

/* A sheet whose quads are cut into two triangles each, every seventh without area: counted the same
 * by any number of threads, with quads and with triangles. And of several bad vertices and corners
 * the first is named. */
static void parts_of_large_inputs_are_joined(void **state) {
    (void)state;
    enum { SIDE = 401, CELLS = SIDE - 1, QUADS = CELLS * CELLS };
    float(*xyz)[3] = malloc(sizeof(*xyz) * SIDE * SIDE);
    uint32_t *corners = malloc(4 * sizeof(*corners) * QUADS);
    uint64_t *offsets = malloc(sizeof(*offsets) * (QUADS + 1));
    assert_true(xyz != NULL && corners != NULL && offsets != NULL);
    for (uint32_t i = 0; i < SIDE * SIDE; ++i) {
        xyz[i][0] = (float)(i % SIDE);
        xyz[i][1] = (float)(i / SIDE);
        xyz[i][2] = (float)(i % 5);
    }
    uint32_t flat = 0;
    for (uint32_t q = 0; q < QUADS; ++q) {
        uint32_t v = q / CELLS * SIDE + q % CELLS;
        const uint32_t quad[4] = {v, v + 1, v + SIDE + 1, v + SIDE};
        for (int k = 0; k < 4; ++k) corners[4 * q + k] = quad[q % 7 == 0 ? k / 2 : k];
        flat += q % 7 == 0 ? 1 : 0;
        offsets[q] = 4 * q;
    }
    offsets[QUADS] = 4 * QUADS;
    carom_mesh_view view = {.positions = xyz,
                            .scalar = CAROM_SCALAR_FLOAT32,
                            .vertex_count = SIDE * SIDE,
                            .corners = corners,
                            .offsets = offsets,
                            .face_count = QUADS};
    for (uint32_t threads = 1; threads <= 3; ++threads) {
        carom_context *context = test_context(threads);
        for (int fan = 0; fan < 2; ++fan) {
            carom_soup *soup = create(context, &(carom_soup_def){.mesh = &view, .fan = fan != 0});
            carom_soup_info info;
            assert_ok(context, carom_soup_get_info(soup, &info));
            assert_int_equal(info.degenerate_faces, fan != 0 ? 2 * flat : flat);
            assert_null(carom_soup_validate(soup));
            carom_soup_destroy(soup);
        }
        xyz[150000][1] = xyz[120000][2] = xyz[119999][0] = NAN;
        assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT, "vertex 119999 ");
        xyz[150000][1] = xyz[120000][2] = xyz[119999][0] = 0.0f;
        uint32_t was[2] = {corners[600000], corners[400001]};
        corners[600000] = corners[400001] = SIDE * SIDE;
        assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT, "face 100000 ");
        corners[600000] = was[0];
        corners[400001] = was[1];
        carom_context_destroy(context);
    }
    free(xyz);
    free(corners);
    free(offsets);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void bad_input_is_named(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const double values[] = {NAN, INFINITY, -INFINITY};
    static const uint32_t corners[6] = {0, 1, 2, 2, 1, 3};
    carom_soup *soup = NULL;
    for (size_t i = 0; i < COUNT_OF(values); ++i) {
        double xyz[4][3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {1.0, 1.0, 0.0}};
        carom_mesh_view view = {
            .positions = xyz, .vertex_count = 4, .corners = corners, .face_count = 2};
        carom_soup_def def = {.mesh = &view};
        xyz[2][1] = values[i];
        assert_fails(context, carom_soup_create(context, &def, &soup), CAROM_BAD_INPUT, "vertex 2");
        assert_null(soup);
        xyz[2][1] = 1.0;
        view.vertex_count = 3;
        assert_fails(context, carom_soup_create(context, &def, &soup), CAROM_BAD_INPUT, "vertex 3");
        assert_null(soup);
        view.vertex_count = 4;
        view.face_count = UINT64_C(1) << 33; /* none of them is read */
        assert_fails(context, carom_soup_create(context, &def, &soup), CAROM_TOO_LARGE,
                     "8589934592");
        assert_null(soup);
    }
    carom_context_destroy(context);
}

static void null_is_the_callers_bug(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_soup *soup = create(context, NULL), *other;
    carom_soup_info info;
    carom_mesh_view view = {0};
    carom_soup_def wrong = {.degenerate = CAROM_SOUP_DEGENERATE_COUNT};
    uint64_t count;
    bool any;
    test_asserts_begin();
    assert_int_equal(carom_soup_create(NULL, NULL, &other), CAROM_INVALID);
    assert_int_equal(carom_soup_create(context, NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_create(context, &wrong, &other), CAROM_INVALID);
    assert_int_equal(carom_soup_update(NULL, soup, &view), CAROM_INVALID);
    assert_int_equal(carom_soup_update(context, NULL, &view), CAROM_INVALID);
    assert_int_equal(carom_soup_update(context, soup, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_add(NULL, soup, &view, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_add(context, NULL, &view, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_add(context, soup, NULL, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_remove(NULL, soup, NULL, 0), CAROM_INVALID);
    assert_int_equal(carom_soup_remove(context, NULL, NULL, 0), CAROM_INVALID);
    assert_int_equal(carom_soup_remove(context, soup, NULL, 1), CAROM_INVALID);
    assert_int_equal(carom_soup_get_info(NULL, &info), CAROM_INVALID);
    assert_int_equal(carom_soup_get_info(soup, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_self_pairs(NULL, soup, &pairs), CAROM_INVALID);
    assert_int_equal(carom_soup_self_pairs(context, NULL, &pairs), CAROM_INVALID);
    assert_int_equal(carom_soup_self_pairs(context, soup, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_self_count(NULL, soup, &count), CAROM_INVALID);
    assert_int_equal(carom_soup_self_count(context, NULL, &count), CAROM_INVALID);
    assert_int_equal(carom_soup_self_count(context, soup, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_self_meet(NULL, soup, &any), CAROM_INVALID);
    assert_int_equal(carom_soup_self_meet(context, NULL, &any), CAROM_INVALID);
    assert_int_equal(carom_soup_self_meet(context, soup, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_self_each(NULL, soup, receive, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_self_each(context, NULL, receive, NULL), CAROM_INVALID);
    assert_int_equal(carom_soup_self_each(context, soup, NULL, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 26);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_giant_triangle_costs_little),
        cmocka_unit_test(axes_may_differ_by_any_power),
        cmocka_unit_test(the_ends_of_the_range_are_fine),
        cmocka_unit_test(everything_in_one_point),
        cmocka_unit_test(a_thousand_copies_in_one_position_are_streamed),
        cmocka_unit_test(a_search_that_gave_up_in_two_ways_goes_on_by_grid),
        cmocka_unit_test(nothing_gives_nothing),
        cmocka_unit_test(a_small_buffer_is_filled_and_the_count_is_true),
        cmocka_unit_test(the_end_of_memory_is_told_with_its_bytes),
        cmocka_unit_test(parts_of_large_inputs_are_joined),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(null_is_the_callers_bug),
    };
    int failed = cmocka_run_group_tests_name("soup_limits", tests, NULL, NULL);
    carom_pairs_free(&pairs);
    return failed;
}
