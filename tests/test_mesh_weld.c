/* SPDX-License-Identifier: MIT */
/* Welding against brute force; cancelling it, and splitting polygons. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/shapes.h"

#define MOST 600

typedef struct soup {
    double wide[MOST][4];
    float narrow[MOST][3];
    uint32_t corners[3 * MOST];
    carom_mesh_view view;
} soup;

/* Few different coordinates, zeros of both signs among them, and some that differ in the last bit.
 */
static void draw_soup(carom_random *random, soup *s, bool narrow) {
    static const double values[] = {0.0, -0.0, 1.0, 1.0000001192092896, -1.0, 1e-40};
    uint64_t kinds = 2 + carom_random_next(random) % 5, count = carom_random_next(random) % MOST;
    for (uint64_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k) {
            s->wide[i][k] = values[carom_random_next(random) % kinds];
            s->narrow[i][k] = (float)s->wide[i][k];
        }
    uint64_t faces = count == 0 ? 0 : carom_random_next(random) % MOST;
    for (uint64_t i = 0; i < 3 * faces; ++i)
        s->corners[i] = (uint32_t)(carom_random_next(random) % count);
    s->view = (carom_mesh_view){.positions = s->wide,
                                .stride = sizeof(s->wide[0]),
                                .vertex_count = count,
                                .corners = s->corners,
                                .face_count = faces};
    if (narrow) {
        s->view.positions = s->narrow;
        s->view.scalar = CAROM_SCALAR_FLOAT32;
        s->view.stride = 0;
    }
}

static bool are_equal(const soup *s, uint64_t a, uint64_t b) {
    for (int k = 0; k < 3; ++k)
        if (s->wide[a][k] != s->wide[b][k]) return false; /* -0 == 0; no NaN here */
    return true;
}

static void welding_agrees_with_brute_force(void **state) {
    (void)state;
    static soup s;
    static uint32_t number[MOST];
    carom_context *context = test_context(2);
    for (uint64_t seed = 1; seed <= 400; ++seed) {
        carom_random random = {seed};
        bool narrow = seed % 2 == 0;
        draw_soup(&random, &s, narrow);
        carom_mesh *mesh;
        carom_mesh_view view;
        assert_ok(context, carom_mesh_weld(context, &s.view, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_int_equal(view.scalar, s.view.scalar);
        uint32_t count = 0;
        for (uint32_t i = 0; i < s.view.vertex_count; ++i) {
            uint32_t first = 0;
            while (!are_equal(&s, first, i)) ++first;
            number[i] = first < i ? number[first] : count++;
            if (first < i) continue;
            const char *stored = view.positions;
            if (narrow)
                assert_memory_equal(stored + 12 * number[i], s.narrow[i], 12);
            else
                assert_memory_equal(stored + 24 * number[i], s.wide[i], 24);
        }
        assert_int_equal(view.vertex_count, count);
        assert_int_equal(view.face_count, s.view.face_count);
        for (uint64_t i = 0; i < 3 * view.face_count; ++i)
            assert_int_equal(view.corners[i], number[s.corners[i]]);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

static void welding_keeps_polygons_and_undoes_a_split(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    carom_shape_def def = {.shape = CAROM_SHAPE_BOX, .detail = 40, .polygons = true};
    carom_mesh *box, *welded;
    carom_mesh_view view, again;
    box = shape_mesh(context, &def, &view);
    /* Each corner a vertex of its own. */
    uint64_t corners = view.offsets[view.face_count];
    double *positions = malloc(24 * corners);
    uint32_t *numbers = malloc(4 * corners);
    assert_true(positions != NULL && numbers != NULL);
    for (uint64_t i = 0; i < corners; ++i) {
        memcpy(positions + 3 * i, (const double *)view.positions + 3 * view.corners[i], 24);
        numbers[i] = (uint32_t)i;
    }
    carom_mesh_view soup = view;
    soup.positions = positions;
    soup.vertex_count = corners;
    soup.corners = numbers;
    carom_mesh_report report, split;
    assert_ok(context, carom_mesh_inspect(context, &soup, &split));
    assert_true(!split.closed && split.shells == split.faces && split.open_edges == corners);
    assert_ok(context, carom_mesh_weld(context, &soup, &welded));
    assert_ok(context, carom_mesh_get_view(welded, &again));
    assert_int_equal(again.vertex_count, view.vertex_count);
    assert_memory_equal(again.offsets, view.offsets, 8 * (view.face_count + 1));
    assert_ok(context, carom_mesh_inspect(context, &again, &report));
    assert_true(report.closed && report.shells == 1);
    assert_true(report.volume == split.volume && report.area == split.area);
    free(positions);
    free(numbers);
    carom_mesh_destroy(box);
    carom_mesh_destroy(welded);
    carom_context_destroy(context);
}

static void many_copies_of_each_point_become_one(void **state) {
    (void)state;
    /* All on a lattice, each point many times, in an order that mixes them. */
    enum { SIDE = 12, TIMES = 20, COUNT = SIDE * SIDE * SIDE * TIMES };
    double(*positions)[3] = malloc(COUNT * sizeof(*positions));
    assert_non_null(positions);
    for (uint64_t i = 0; i < COUNT; ++i) {
        uint64_t point = i * 7919 % (SIDE * SIDE * SIDE);
        positions[i][0] = (double)(point % SIDE);
        positions[i][1] = (double)(point / SIDE % SIDE);
        positions[i][2] = (double)(point / SIDE / SIDE);
    }
    carom_context *context = test_context(2);
    carom_mesh_view view = {.positions = positions, .vertex_count = COUNT};
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_weld(context, &view, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.vertex_count, SIDE * SIDE * SIDE);
    assert_memory_equal(view.positions, positions, view.vertex_count * sizeof(*positions));
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    free(positions);
}

static bool stop_at_third(void *user, const char *what, double fraction) {
    assert_true(strlen(what) > 0 && fraction >= 0.0 && fraction <= 1.0);
    return ++*(int *)user == 3;
}

/* In the middle of the work: a comb of so many teeth takes seconds to split. */
static void long_work_can_be_cancelled(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 2; ++threads) {
        int calls = 0;
        uint32_t count = 60000;
        uint64_t offsets[2] = {0, count};
        carom_context_def def = {.threads = threads,
                                 .progress = stop_at_third,
                                 .progress_user = &calls,
                                 .progress_interval = -1.0};
        carom_context *context;
        double(*comb)[3] = calloc(count, sizeof(*comb));
        uint32_t *corners = malloc(count * sizeof(*corners));
        for (uint32_t i = 0; i < count;
             ++i) { /* teeth as long as the comb, all reflex at the root */
            comb[i][0] = i < count / 2 ? i : count - i - 0.5;
            comb[i][1] = i < count / 2 ? (i % 2 == 0 ? 0.0 : 1e6) : -1.0 - (i % 2 == 0 ? 0.0 : 1e6);
            corners[i] = i;
        }
        carom_mesh_view view = {.positions = comb,
                                .vertex_count = count,
                                .corners = corners,
                                .offsets = offsets,
                                .face_count = 1};
        carom_mesh *mesh;
        assert_ok(NULL, carom_context_create(&def, &context));
        assert_fails(context, carom_mesh_triangulate(context, &view, NULL, &mesh, NULL),
                     CAROM_CANCELLED, "cancelled by the progress callback");
        assert_null(mesh);
        calls = 2; /* at once */
        assert_fails(context, carom_mesh_weld(context, &view, &mesh), CAROM_CANCELLED,
                     "cancelled by the progress callback");
        assert_null(mesh);
        calls = 10; /* never */
        assert_ok(context, carom_mesh_weld(context, &view, &mesh));
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        free(comb);
        free(corners);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(welding_agrees_with_brute_force),
        cmocka_unit_test(welding_keeps_polygons_and_undoes_a_split),
        cmocka_unit_test(many_copies_of_each_point_become_one),
        cmocka_unit_test(long_work_can_be_cancelled),
    };
    return cmocka_run_group_tests_name("mesh_weld", tests, NULL, NULL);
}
