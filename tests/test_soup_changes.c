/* SPDX-License-Identifier: MIT */
/* Soups that deform and break: after any history of update, add and remove a soup answers as the
 * oracle does for what is left, and changing positions takes no memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soup/soup_view.h"
#include "tests/support/integer_oracle.h"
#include "tests/support/lattice.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

#define HISTORIES TEST_CASES(600)
#define STEPS     6

static carom_pairs pairs;

/* What the soup should be: all pieces in a row, and which faces are dead. */
typedef struct world {
    uint32_t vertices, faces;
    double xyz[STEPS * LATTICE_CORNERS][3];
    uint32_t corners[STEPS * LATTICE_CORNERS];
    uint64_t offsets[STEPS * LATTICE_FACES + 1];
    bool dead[STEPS * LATTICE_CORNERS]; /* by number of the soup: triangles when it is a fan */
} world;

static carom_mesh_view world_view(const world *w) {
    return (carom_mesh_view){.positions = w->xyz,
                             .vertex_count = w->vertices,
                             .corners = w->corners,
                             .offsets = w->offsets,
                             .face_count = w->faces};
}

static uint32_t world_numbers(const world *w, bool fan) {
    return fan ? (uint32_t)(w->offsets[w->faces] - 2 * w->faces) : w->faces;
}

static void world_add(world *w, const lattice_soup *piece) {
    uint64_t at = w->offsets[w->faces];
    for (uint32_t f = 0; f < piece->faces; ++f)
        w->offsets[w->faces + f + 1] = at + piece->offsets[f + 1];
    for (uint64_t i = 0; i < piece->offsets[piece->faces]; ++i)
        w->corners[at + i] = w->vertices + piece->corners[i];
    memcpy(w->xyz[w->vertices], piece->xyz, piece->vertices * sizeof(piece->xyz[0]));
    w->faces += piece->faces;
    w->vertices += piece->vertices;
}

static void check(carom_context *context, const carom_soup *soup, const world *w, bool fan,
                  carom_soup_degenerate degenerate, const char *what) {
    oracle_pairs all[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    carom_mesh_view view = world_view(w);
    carom_soup_info info;
    uint64_t count, live = world_numbers(w, fan);
    bool any;
    oracle_self(context, &view, fan, w->dead, all);
    const oracle_pairs *expected = &all[degenerate];
    assert_valid(carom_soup_validate(soup));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    oracle_assert_equal(&pairs, expected, what);
    assert_ok(context, carom_soup_self_count(context, soup, &count));
    if (count != expected->count) fail_msg("%s: count is %" PRIu64, what, count);
    assert_ok(context, carom_soup_self_meet(context, soup, &any));
    if (any != (expected->count != 0)) fail_msg("%s: any is %d", what, any);
    assert_ok(context, carom_soup_get_info(soup, &info));
    assert_int_equal(info.faces, live);
    for (uint32_t i = 0; i < world_numbers(w, fan); ++i) live -= w->dead[i] ? 1 : 0;
    assert_int_equal(info.live, live);
    oracle_free_all(all);
}

static void update(carom_context *context, carom_soup *soup, carom_random *random, world *w) {
    static float floats[STEPS * LATTICE_CORNERS][4]; /* with a stride */
    for (uint32_t i = 0; i < w->vertices; ++i) {
        for (int k = 0; k < 3; ++k) {
            w->xyz[i][k] = (double)test_below(random, 5);
            floats[i][k] = (float)w->xyz[i][k];
        }
    }
    carom_mesh_view view = {.positions = w->xyz, .vertex_count = w->vertices};
    if (test_below(random, 2) == 0) {
        view.positions = floats;
        view.scalar = CAROM_SCALAR_FLOAT32;
        view.stride = sizeof(floats[0]);
    }
    assert_ok(context, carom_soup_update(context, soup, &view));
}

static void add(carom_context *context, carom_soup *soup, carom_random *random, world *w,
                bool fan) {
    static lattice_soup piece;
    uint32_t first, before = world_numbers(w, fan);
    lattice_make(random, &piece);
    carom_mesh_view view =
        test_below(random, 2) == 0 ? lattice_view(&piece) : lattice_view_floats(&piece);
    assert_ok(context, carom_soup_add(context, soup, &view, &first));
    assert_int_equal(first, before);
    world_add(w, &piece);
}

static void remove_some(carom_context *context, carom_soup *soup, carom_random *random, world *w,
                        bool fan) {
    uint32_t numbers = world_numbers(w, fan), faces[64], count = test_below(random, 8);
    for (uint32_t i = 0; i < count; ++i) {
        faces[i] = i > 0 && test_below(random, 8) == 0 ? faces[0] : test_below(random, numbers);
        w->dead[faces[i]] = true;
    }
    assert_ok(context, carom_soup_remove(context, soup, faces, count));
}

static void any_history_ends_in_what_is_there(void **state) {
    (void)state;
    static world w;
    static lattice_soup piece;
    carom_context *contexts[2] = {test_context(1), test_context(3)};
    carom_random random = {6};
    for (int i = 0; i < HISTORIES; ++i) {
        carom_context *context = contexts[i % 2];
        bool fan = i % 3 != 0; /* by form, splitting depends on positions: no update then */
        carom_soup *soup;
        memset(&w, 0, sizeof(w));
        lattice_make(&random, &piece);
        world_add(&w, &piece);
        carom_soup_def def = {.mesh = (carom_mesh_view[]){lattice_view(&piece)},
                              .degenerate =
                                  (carom_soup_degenerate)(i / 2 % CAROM_SOUP_DEGENERATE_COUNT),
                              .fan = fan};
        assert_ok(context, carom_soup_create(context, &def, &soup));
        for (int step = 0; step < STEPS - 1; ++step) {
            char what[64];
            uint32_t choice = test_below(&random, 3);
            if (choice == 0)
                add(context, soup, &random, &w, fan);
            else if (choice == 1 && fan)
                update(context, soup, &random, &w);
            else
                remove_some(context, soup, &random, &w, fan);
            snprintf(what, sizeof(what), "history %d, step %d (%u)", i, step, choice);
            check(context, soup, &w, fan, def.degenerate, what);
        }
        carom_soup_destroy(soup);
    }
    carom_context_destroy(contexts[0]);
    carom_context_destroy(contexts[1]);
}

/* Polygons keep their triangles when they are moved as a whole. */
static void polygons_move_with_their_triangles(void **state) {
    (void)state;
    static lattice_soup piece;
    carom_context *context = test_context(1);
    carom_random random = {7};
    oracle_pairs expected[CAROM_SOUP_DEGENERATE_COUNT] = {0};
    for (int i = 0; i < TEST_CASES(500); ++i) {
        carom_soup *soup;
        do lattice_make(&random, &piece);
        while (!piece.polygons);
        carom_mesh_view mesh_view = lattice_view(&piece);
        carom_soup_def def = {.mesh = &mesh_view};
        oracle_self(context, &mesh_view, false, NULL, expected);
        assert_ok(context, carom_soup_create(context, &def, &soup));
        lattice_move(&piece, 1e6, 4.0);
        carom_mesh_view view = lattice_view(&piece);
        assert_ok(context, carom_soup_update(context, soup, &view));
        assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
        oracle_assert_equal(&pairs, &expected[def.degenerate], "a moved soup");
        carom_soup_destroy(soup);
    }
    oracle_free_all(expected);
    carom_context_destroy(context);
}

/* Everything taken out, and something put in again. */
static void a_soup_may_become_empty(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view view = {0};
    carom_soup_def def = {.mesh = &view};
    carom_soup *soup;
    carom_soup_info info;
    uint32_t faces[2 * 12 * 12], first;
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 12};
    carom_mesh *mesh = shape_mesh(context, &shape, &view);
    assert_ok(context, carom_soup_create(context, &def, &soup));
    for (uint32_t i = 0; i < COUNT_OF(faces); ++i) faces[i] = i;
    assert_ok(context, carom_soup_remove(context, soup, faces, COUNT_OF(faces)));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_int_equal(pairs.count, 0);
    assert_ok(context, carom_soup_get_info(soup, &info));
    assert_int_equal(info.live, 0);
    assert_int_equal(info.faces, COUNT_OF(faces));
    assert_ok(context, carom_soup_add(context, soup, &view, &first));
    assert_int_equal(first, COUNT_OF(faces));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    uint64_t count = pairs.count;
    assert_true(count > 0);
    assert_true(pairs.data[0].a >= first);
    carom_soup_destroy(soup);
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_int_equal(pairs.count, count);
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- failures -------------------------------------------------------------------------------- */

static void bad_changes_change_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view mesh_view = {0};
    carom_soup_def def = {.mesh = &mesh_view};
    carom_soup *soup;
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH, .detail = 20};
    carom_mesh *mesh = shape_mesh(context, &shape, &mesh_view);
    assert_ok(context, carom_soup_create(context, &def, &soup));
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    uint64_t hash = test_hash(pairs.data, pairs.count * sizeof(*pairs.data), 0);

    double bad[21 * 21][3];
    memcpy(bad, mesh_view.positions, sizeof(bad));
    bad[17][1] = 1.0 / 0.0;
    carom_mesh_view view = mesh_view;
    view.positions = bad;
    assert_fails(context, carom_soup_update(context, soup, &view), CAROM_BAD_INPUT, "17");
    assert_fails(context, carom_soup_add(context, soup, &view, NULL), CAROM_BAD_INPUT, "17");
    view = mesh_view;
    view.vertex_count = 3;
    assert_fails(context, carom_soup_update(context, soup, &view), CAROM_BAD_INPUT,
                 "441 vertices, the update 3");
    uint32_t none = 800;
    assert_fails(context, carom_soup_remove(context, soup, &none, 1), CAROM_BAD_INPUT, "face 800");
    assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
    assert_int_equal(hash, test_hash(pairs.data, pairs.count * sizeof(*pairs.data), 0));
    carom_soup_destroy(soup);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Each worker's scratch grows to what it needs: with several, it takes some frames until all had
 * their largest share. */
static void frames_allocate_nothing(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 3};
    static const carom_shape_def shapes[] = {{.shape = CAROM_SHAPE_CLOTH, .detail = 60},
                                             {.shape = CAROM_SHAPE_KNOT, .polygons = true}};
    for (size_t i = 0; i < COUNT_OF(threads) * COUNT_OF(shapes); ++i) {
        carom_context *context = test_context(threads[i % COUNT_OF(threads)]);
        carom_mesh_view mesh_view = {0};
        carom_soup_def def = {.mesh = &mesh_view};
        carom_soup *soup;
        carom_mesh *mesh = shape_mesh(context, &shapes[i / COUNT_OF(threads)], &mesh_view);
        assert_ok(context, carom_soup_create(context, &def, &soup));
        double(*moved)[3] = malloc(mesh_view.vertex_count * sizeof(*moved));
        memcpy(moved, mesh_view.positions, mesh_view.vertex_count * sizeof(*moved));
        carom_mesh_view view = mesh_view;
        view.positions = moved;
        int quiet = 0, most = threads[i % COUNT_OF(threads)] == 1 ? 8 : 200;
        for (int frame = 0; frame < most && quiet < 5; ++frame) {
            uint64_t count, before = test_malloc_count();
            bool any;
            for (uint64_t v = 0; v < mesh_view.vertex_count; ++v) moved[v][2] *= 0.99;
            assert_ok(context, carom_soup_update(context, soup, &view));
            assert_ok(context, carom_soup_self_pairs(context, soup, &pairs));
            assert_ok(context, carom_soup_self_count(context, soup, &count));
            assert_ok(context, carom_soup_self_meet(context, soup, &any));
            quiet = test_malloc_count() == before ? quiet + 1 : 0;
            assert_int_equal(count, pairs.count);
        }
        assert_int_equal(quiet, 5);
        free(moved);
        carom_soup_destroy(soup);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
}

typedef struct failing {
    carom_mesh_view mesh;
    bool fan;
} failing;

static bool stop_never(void *user, const carom_pair *found, uint64_t count) {
    (void)found;
    *(uint64_t *)user += count;
    return false;
}

/* The whole life of a soup; whatever fails, it can be destroyed, and a change that works makes it
 * usable again. */
static carom_status live(carom_allocator allocator, void *argument) {
    const failing *f = argument;
    carom_context *context;
    carom_context_def context_def = {.threads = 2, .allocator = allocator};
    carom_soup_def def = {.mesh = &f->mesh, .fan = f->fan};
    carom_soup *soup = NULL;
    carom_pairs found = {0};
    uint64_t count = 0;
    bool any;
    const uint32_t face = 3;
    carom_status status = carom_context_create(&context_def, &context);
    if (status != CAROM_OK) return status;
    status = carom_soup_create(context, &def, &soup);
    if (status != CAROM_OK) assert_null(soup);
    if (status == CAROM_OK) status = carom_soup_self_pairs(context, soup, &found);
    if (status == CAROM_OK) status = carom_soup_add(context, soup, &f->mesh, NULL);
    if (status == CAROM_OK) status = carom_soup_remove(context, soup, &face, 1);
    if (status == CAROM_OK) status = carom_soup_self_pairs(context, soup, &found);
    if (status == CAROM_OK) status = carom_soup_self_count(context, soup, &count);
    if (status == CAROM_OK) status = carom_soup_self_meet(context, soup, &any);
    if (status == CAROM_OK) status = carom_soup_self_each(context, soup, stop_never, &count);
    if (status == CAROM_OK) assert_int_equal(count, 2 * found.count);
    if (status != CAROM_OK) assert_true(carom_context_message(context)[0] != '\0');
    carom_pairs_free(&found);
    carom_soup_destroy(soup);
    carom_context_destroy(context);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    static const carom_shape_def shapes[] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 40},
        {.shape = CAROM_SHAPE_CHAZELLE, .polygons = true},
        {.shape = CAROM_SHAPE_SHARDS, .parts = 8, .ratio = 1e-12, .polygons = true}};
    for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
        failing f = {.fan = i == 2};
        carom_mesh *mesh = shape_mesh(context, &shapes[i], &f.mesh);
        test_allocation_failures(live, &f);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_history_ends_in_what_is_there),
        cmocka_unit_test(polygons_move_with_their_triangles),
        cmocka_unit_test(a_soup_may_become_empty),
        cmocka_unit_test(bad_changes_change_nothing),
        cmocka_unit_test(frames_allocate_nothing),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    int failed = cmocka_run_group_tests_name("soup_changes", tests, NULL, NULL);
    carom_pairs_free(&pairs);
    return failed;
}
