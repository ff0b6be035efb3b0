/* SPDX-License-Identifier: MIT */
/* carom_mesh_inspect against counting by hand on small lattice soups, and for any number of
 * threads. */
#include <math.h>
#include <string.h>

#include "tests/support/shapes.h"

#define MOST_VERTICES 10
#define MOST_FACES    14
#define MOST_CORNERS  7

typedef struct soup {
    double positions[MOST_VERTICES][3];
    int64_t lattice[MOST_VERTICES][3];
    uint32_t corners[MOST_FACES * MOST_CORNERS];
    uint64_t offsets[MOST_FACES + 1];
    uint32_t vertices, faces;
} soup;

static carom_mesh_view view_of(const soup *s) {
    return (carom_mesh_view){.positions = s->positions,
                             .vertex_count = s->vertices,
                             .corners = s->corners,
                             .offsets = s->offsets,
                             .face_count = s->faces};
}

static soup draw_soup(carom_random *random, bool triangles) {
    soup s = {.vertices = 3 + (uint32_t)(carom_random_next(random) % (MOST_VERTICES - 2)),
              .faces = (uint32_t)(carom_random_next(random) % (MOST_FACES + 1))};
    for (uint32_t v = 0; v < s.vertices; ++v)
        for (int k = 0; k < 3; ++k) {
            s.lattice[v][k] = (int64_t)(carom_random_next(random) % 3);
            s.positions[v][k] = (double)s.lattice[v][k];
        }
    for (uint32_t f = 0; f < s.faces; ++f) {
        uint64_t begin = s.offsets[f];
        uint64_t count = triangles ? 3 : 3 + carom_random_next(random) % (MOST_CORNERS - 2);
        uint64_t earlier = f > 0 ? carom_random_next(random) % (3 * (uint64_t)f) : UINT64_MAX;
        if (earlier < f) { /* an earlier face again, turned and perhaps reversed */
            uint64_t from = s.offsets[earlier], turn = carom_random_next(random);
            count = s.offsets[earlier + 1] - from;
            for (uint64_t i = 0; i < count; ++i)
                s.corners[begin + (turn % 2 == 0 ? i : count - 1 - i)] =
                    s.corners[from + (i + turn) % count];
        } else {
            for (uint64_t i = 0; i < count; ++i)
                s.corners[begin + i] = (uint32_t)(carom_random_next(random) % s.vertices);
        }
        s.offsets[f + 1] = begin + count;
    }
    return s;
}

/* ---- counting by hand ------------------------------------------------------------------------ */

typedef int table[MOST_VERTICES][MOST_VERTICES]; /* sides from, to */

/* Sides of one cycle, those both ways cancelled. */
static void count_sides(const uint32_t *corners, uint64_t count, table sides) {
    memset(sides, 0, sizeof(table));
    for (uint64_t i = 0; i < count; ++i) ++sides[corners[i]][corners[(i + 1) % count]];
    for (int a = 0; a < MOST_VERTICES; ++a)
        for (int b = 0; b <= a; ++b) {
            int both = sides[a][b] < sides[b][a] ? sides[a][b] : sides[b][a];
            sides[a][b] -= both;
            if (a != b) sides[b][a] -= both;
        }
}

static void add_sides(table to, table from) {
    for (int a = 0; a < MOST_VERTICES; ++a)
        for (int b = 0; b < MOST_VERTICES; ++b) to[a][b] += from[a][b];
}

static bool is_closed(table sides) {
    int edges = 0;
    for (int a = 0; a < MOST_VERTICES; ++a)
        for (int b = 0; b < a; ++b) {
            if (sides[a][b] != sides[b][a] || sides[a][b] > 1) return false;
            edges += sides[a][b];
        }
    return edges > 0;
}

static bool share_edge(table p, table q) {
    for (int a = 0; a < MOST_VERTICES; ++a)
        for (int b = 0; b < a; ++b)
            if (p[a][b] + p[b][a] > 0 && q[a][b] + q[b][a] > 0) return true;
    return false;
}

static bool same_cycle(const uint32_t *p, const uint32_t *q, uint64_t count) {
    for (uint64_t turn = 0; turn < count; ++turn) {
        bool forward = true, backward = true;
        for (uint64_t i = 0; i < count; ++i) {
            forward &= p[i] == q[(i + turn) % count];
            backward &= p[i] == q[(2 * count - i - 1 + turn) % count];
        }
        if (forward || backward) return true;
    }
    return false;
}

static bool on_a_line(const soup *s, uint32_t a, uint32_t b, uint32_t c) {
    int64_t u[3], v[3];
    for (int k = 0; k < 3; ++k) {
        u[k] = s->lattice[b][k] - s->lattice[a][k];
        v[k] = s->lattice[c][k] - s->lattice[a][k];
    }
    return u[1] * v[2] == u[2] * v[1] && u[2] * v[0] == u[0] * v[2] && u[0] * v[1] == u[1] * v[0];
}

static int64_t determinant(const soup *s, uint32_t a, uint32_t b, uint32_t c) {
    const int64_t *p = s->lattice[a], *q = s->lattice[b], *r = s->lattice[c];
    return p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) +
           p[2] * (q[0] * r[1] - q[1] * r[0]);
}

static void note_edge(uint64_t *count, uint32_t first[2], int low, int high) {
    if ((*count)++ != 0) return;
    first[0] = (uint32_t)low;
    first[1] = (uint32_t)high;
}

static void count_edges(table sides, carom_mesh_report *r) {
    uint64_t unbalanced = 0;
    for (int a = 0; a < MOST_VERTICES; ++a)
        for (int b = a + 1; b < MOST_VERTICES; ++b) {
            int out = sides[a][b], back = sides[b][a], all = out + back;
            if (all == 0) continue;
            ++r->edges;
            unbalanced += out != back;
            if (all == 1) note_edge(&r->open_edges, r->first_open_edge, a, b);
            if (all > 2) note_edge(&r->nonmanifold_edges, r->first_nonmanifold_edge, a, b);
            if (out - back > 1 || back - out > 1)
                note_edge(&r->inconsistent_edges, r->first_inconsistent_edge, a, b);
        }
    r->balanced = unbalanced == 0;
    r->oriented = r->inconsistent_edges == 0;
}

static uint64_t count_shells(table *sides, uint32_t faces) {
    uint32_t shell[MOST_FACES];
    uint64_t shells = 0;
    for (uint32_t f = 0; f < faces; ++f) shell[f] = f;
    for (uint32_t round = 0; round < faces; ++round)
        for (uint32_t f = 0; f < faces; ++f)
            for (uint32_t g = 0; g < faces; ++g)
                if (share_edge(sides[f], sides[g]) && shell[g] < shell[f]) shell[f] = shell[g];
    for (uint32_t f = 0; f < faces; ++f) shells += shell[f] == f && share_edge(sides[f], sides[f]);
    return shells;
}

/* Everything but the area. */
static carom_mesh_report inspect_by_hand(const soup *s) {
    carom_mesh_report r;
    static table face_sides[MOST_FACES];
    table all = {{0}}, fans = {{0}}, fan;
    bool used[MOST_VERTICES] = {false};
    int64_t volume = 0;
    memset(&r, 0, sizeof(r));
    r.vertices = s->vertices;
    r.faces = s->faces;
    for (int i = 0; i < 2; ++i)
        r.first_open_edge[i] = r.first_nonmanifold_edge[i] = r.first_inconsistent_edge[i] =
            CAROM_NONE;
    r.first_degenerate_face = r.first_duplicate_face = CAROM_NONE;
    for (uint32_t f = 0; f < s->faces; ++f) {
        const uint32_t *c = s->corners + s->offsets[f];
        uint64_t count = s->offsets[f + 1] - s->offsets[f];
        bool degenerate = true, duplicate = false;
        for (uint64_t i = 0; i < count; ++i) {
            used[c[i]] = true;
            for (uint64_t j = 0; j < i; ++j)
                for (uint64_t k = 0; k < j; ++k) degenerate &= on_a_line(s, c[i], c[j], c[k]);
        }
        for (uint64_t i = 2; i < count; ++i) {
            const uint32_t triangle[3] = {c[0], c[i - 1], c[i]};
            ++r.triangles;
            r.degenerate_triangles += on_a_line(s, c[0], c[i - 1], c[i]);
            volume += determinant(s, c[0], c[i - 1], c[i]);
            count_sides(triangle, 3, fan);
            add_sides(fans, fan);
        }
        for (uint32_t g = 0; g < f; ++g)
            duplicate |= s->offsets[g + 1] - s->offsets[g] == count &&
                         same_cycle(c, s->corners + s->offsets[g], count);
        if (degenerate && r.degenerate_faces++ == 0) r.first_degenerate_face = f;
        if (duplicate && r.duplicate_faces++ == 0) r.first_duplicate_face = f;
        count_sides(c, count, face_sides[f]);
        for (int v = 0; v < MOST_VERTICES; ++v) face_sides[f][v][v] = 0;
        add_sides(all, face_sides[f]);
    }
    count_edges(all, &r);
    for (int v = 0; v < MOST_VERTICES; ++v) fans[v][v] = 0;
    r.closed = is_closed(all) && is_closed(fans);
    r.shells = count_shells(face_sides, s->faces);
    for (uint32_t v = 0; v < s->vertices; ++v) r.unused_vertices += !used[v];
    r.volume = (double)volume / 6.0;
    return r;
}

/* The first bytes of a field, for a message. */
static unsigned long long start_of(const void *field, size_t size) {
    unsigned long long value = 0;
    memcpy(&value, field, size < sizeof(value) ? size : sizeof(value));
    return value;
}

#define SAME(field)                                                                                \
    if (memcmp(&truth.field, &report.field, sizeof(truth.field)) != 0)                             \
    fail_msg("seed %llu: " #field " is %llu, by hand %llu", (unsigned long long)seed,              \
             start_of(&report.field, sizeof(report.field)),                                        \
             start_of(&truth.field, sizeof(truth.field)))

#define SAME_BOOL(field)                                                                           \
    if (truth.field != report.field) fail_msg("seed %llu: " #field, (unsigned long long)seed)

static void reports_of_lattice_soups_agree_with_counting_by_hand(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    int closed = 0;
    for (uint64_t seed = 1; seed <= 6000; ++seed) {
        carom_random random = {seed};
        soup s = draw_soup(&random, seed % 2 == 0);
        carom_mesh_view view = view_of(&s);
        carom_mesh_report truth = inspect_by_hand(&s), report;
        assert_ok(context, carom_mesh_inspect(context, &view, &report));
        SAME(vertices);
        SAME(faces);
        SAME(triangles);
        SAME(unused_vertices);
        SAME(edges);
        SAME(open_edges);
        SAME(nonmanifold_edges);
        SAME(inconsistent_edges);
        SAME(shells);
        SAME(duplicate_faces);
        SAME(degenerate_faces);
        SAME(degenerate_triangles);
        SAME(first_open_edge);
        SAME(first_nonmanifold_edge);
        SAME(first_inconsistent_edge);
        SAME(first_degenerate_face);
        SAME(first_duplicate_face);
        SAME_BOOL(closed);
        SAME_BOOL(balanced);
        SAME_BOOL(oriented);
        assert_true(truth.volume == report.volume);
        assert_true(report.area >= 0.0 && isfinite(report.area));
        closed += report.closed;
    }
    assert_true(closed > 10);
    carom_context_destroy(context);
}

/* ---- large meshes ---------------------------------------------------------------------------- */

static void any_number_of_threads_gives_the_same_bytes(void **state) {
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    static const carom_shape_def defs[] = {
        {.shape = CAROM_SHAPE_CLOTH, .detail = 180},
        {.shape = CAROM_SHAPE_KNOT, .detail = 3000, .polygons = true},
        {.shape = CAROM_SHAPE_SHARDS, .parts = 400, .polygons = true},
    };
    for (size_t i = 0; i < COUNT_OF(defs); ++i) {
        carom_mesh_report first;
        uint64_t first_hash = 0;
        for (size_t t = 0; t < COUNT_OF(threads); ++t) {
            carom_context *context = test_context(threads[t]);
            carom_mesh *shape, *soup, *welded;
            carom_mesh_view view;
            carom_mesh_report report;
            shape = shape_mesh(context, &defs[i], &view);
            assert_ok(context, carom_mesh_inspect(context, &view, &report));
            if (t == 0) first = report;
            assert_memory_equal(&first, &report, sizeof(report));
            carom_bounds bounds;
            assert_ok(context, carom_mesh_bounds(context, &view, &bounds));
            assert_memory_equal(&bounds, &report.bounds, sizeof(bounds));
            assert_ok(context, carom_mesh_triangulate(context, &view, NULL, &soup, NULL));
            assert_ok(context, carom_mesh_get_view(soup, &view));
            assert_ok(context, carom_mesh_weld(context, &view, &welded));
            assert_ok(context, carom_mesh_get_view(welded, &view));
            uint64_t hash = test_hash(view.positions, 24 * view.vertex_count, 0);
            hash = test_hash(view.corners, 12 * view.face_count, hash);
            if (t == 0) first_hash = hash;
            assert_true(first_hash == hash);
            carom_mesh_destroy(shape);
            carom_mesh_destroy(soup);
            carom_mesh_destroy(welded);
            carom_context_destroy(context);
        }
    }
}

static void scaling_by_powers_of_two_scales_the_report(void **state) {
    (void)state;
    carom_context *context = test_context(2);
    static const double sizes[] = {0x1p-340, 0x1p-100, 0x1p100, 0x1p340};
    carom_shape_def def = {.shape = CAROM_SHAPE_KNOT, .detail = 60};
    carom_mesh_view view;
    carom_mesh_report unit, scaled;
    carom_mesh *mesh = shape_mesh(context, &def, &view);
    assert_ok(context, carom_mesh_inspect(context, &view, &unit));
    carom_mesh_destroy(mesh);
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        double size = def.size = sizes[i];
        mesh = shape_mesh(context, &def, &view);
        assert_ok(context, carom_mesh_inspect(context, &view, &scaled));
        assert_true(scaled.closed && scaled.degenerate_faces == 0);
        assert_true(scaled.volume == unit.volume * size * size * size);
        assert_true(scaled.area == unit.area * size * size);
        assert_true(scaled.bounds.low.x == unit.bounds.low.x * size);
        assert_true(scaled.bounds.high.z == unit.bounds.high.z * size);
        carom_mesh_destroy(mesh);
    }
    carom_context_destroy(context);
}

static void empty_meshes_have_empty_reports(void **state) {
    (void)state;
    carom_context *context = test_context(3);
    carom_mesh_view view = {0};
    carom_mesh_report report;
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_inspect(context, &view, &report));
    assert_true(report.faces == 0 && report.edges == 0 && report.shells == 0 && !report.closed);
    assert_true(report.volume == 0.0 && report.area == 0.0);
    assert_true(report.bounds.low.x > report.bounds.high.x);
    carom_bounds bounds;
    assert_ok(context, carom_mesh_bounds(context, &view, &bounds));
    assert_memory_equal(&bounds, &report.bounds, sizeof(bounds));
    assert_ok(context, carom_mesh_weld(context, &view, &mesh));
    carom_mesh_destroy(mesh);
    assert_ok(context, carom_mesh_triangulate(context, &view, NULL, &mesh, NULL));
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void bad_input_is_named(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    double positions[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint32_t corners[6] = {0, 1, 2, 0, 2, 3};
    carom_mesh_view view = {
        .positions = positions, .vertex_count = 4, .corners = corners, .face_count = 2};
    carom_mesh_report report;
    carom_mesh *mesh;
    positions[3][1] = NAN;
    assert_fails(context, carom_mesh_inspect(context, &view, &report), CAROM_BAD_INPUT, "vertex 3");
    positions[3][1] = -HUGE_VAL;
    assert_fails(context, carom_mesh_weld(context, &view, &mesh), CAROM_BAD_INPUT, "vertex 3");
    assert_null(mesh);
    positions[3][1] = 0.0;
    corners[4] = 9;
    assert_fails(context, carom_mesh_triangulate(context, &view, NULL, &mesh, NULL),
                 CAROM_BAD_INPUT, "face 1 names vertex 9");
    assert_null(mesh);
    test_asserts_begin();
    assert_int_equal(carom_mesh_inspect(context, &view, NULL), CAROM_INVALID);
    assert_int_equal(carom_mesh_weld(context, &view, NULL), CAROM_INVALID);
    assert_int_equal(carom_mesh_weld(context, NULL, &mesh), CAROM_INVALID);
    assert_int_equal(carom_mesh_triangulate(context, &view, NULL, NULL, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 4);
    carom_context_destroy(context);
}

static carom_status weld_and_inspect(carom_allocator allocator, void *argument) {
    const carom_shape_def *def = argument;
    carom_context_def context_def = {.allocator = allocator, .threads = 2};
    carom_context *context = NULL;
    carom_mesh *shape = NULL, *welded = NULL, *triangles = NULL;
    carom_numbers faces = {0};
    carom_mesh_view view;
    carom_mesh_report report;
    carom_status status = carom_context_create(&context_def, &context);
    if (status == CAROM_OK) status = carom_shape_make(context, def, &shape);
    if (status == CAROM_OK) status = carom_mesh_get_view(shape, &view);
    if (status == CAROM_OK) status = carom_mesh_weld(context, &view, &welded);
    if (status == CAROM_OK) status = carom_mesh_inspect(context, &view, &report);
    if (status == CAROM_OK)
        status = carom_mesh_triangulate(context, &view, NULL, &triangles, &faces);
    if (status == CAROM_OK) assert_true(report.faces == def->detail || faces.count > 0);
    carom_numbers_free(&faces);
    carom_mesh_destroy(shape);
    carom_mesh_destroy(welded);
    carom_mesh_destroy(triangles);
    carom_context_destroy(context);
    return status;
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    for (int shape = 0; shape < CAROM_SHAPE_COUNT; ++shape)
        for (int polygons = 0; polygons < 2; ++polygons) {
            carom_shape_def def = {
                .shape = (carom_shape)shape, .parts = 5, .polygons = polygons == 1};
            def.detail = shape == CAROM_SHAPE_SPHERE  ? 2
                         : shape == CAROM_SHAPE_CLOTH ? 100
                         : shape == CAROM_SHAPE_KNOT  ? 24
                                                      : 6;
            test_allocation_failures(weld_and_inspect, &def);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_of_lattice_soups_agree_with_counting_by_hand),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(scaling_by_powers_of_two_scales_the_report),
        cmocka_unit_test(empty_meshes_have_empty_reports),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests_name("mesh_report", tests, NULL, NULL);
}
