/* SPDX-License-Identifier: MIT */
/* Holes and other defects: what is listed and filled is what counting by hand and trying every pair
 * of faces in integers says, on seeded meshes with holes of all kinds. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/lattice.h"
#include "tests/support/models.h"
#include "tests/support/repair_check.h"
#include "tests/support/shapes.h"

TEST_CONTEXT(2)

#define MOST_VERTICES 700
#define MOST_FACES    700

/* A mesh of triangles at whole numbers. */
typedef struct small_mesh {
    double xyz[MOST_VERTICES][3];
    uint32_t corners[3 * MOST_FACES];
    uint32_t vertices, faces;
} small_mesh;

static carom_mesh_view view_of(const small_mesh *m) {
    return (carom_mesh_view){.positions = m->xyz,
                             .vertex_count = m->vertices,
                             .corners = m->corners,
                             .face_count = m->faces};
}

static void add_vertex(small_mesh *m, double x, double y, double z) {
    double *p = m->xyz[m->vertices++];
    assert_true(m->vertices <= MOST_VERTICES);
    p[0] = x, p[1] = y, p[2] = z;
}

static void add_triangle(small_mesh *m, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *t = m->corners + 3 * m->faces++;
    assert_true(m->faces <= MOST_FACES);
    t[0] = a, t[1] = b, t[2] = c;
}

/* A shape of the library at whole numbers up to `steps`. */
static void make_shape(carom_shape shape, uint64_t detail, double steps, small_mesh *m) {
    carom_shape_def def = {.shape = shape, .detail = detail};
    carom_mesh_view view;
    carom_mesh *mesh = shape_mesh(context, &def, &view);
    const double *p = view.positions;
    *m = (small_mesh){0};
    for (uint64_t v = 0; v < view.vertex_count; ++v)
        add_vertex(m, rint(steps * p[3 * v]), rint(steps * p[3 * v + 1]),
                   rint(steps * p[3 * v + 2]));
    for (uint64_t f = 0; f < view.face_count; ++f)
        add_triangle(m, view.corners[3 * f], view.corners[3 * f + 1], view.corners[3 * f + 2]);
    carom_mesh_destroy(mesh);
}

static void remove_face(small_mesh *m, uint32_t face) {
    uint32_t left = --m->faces - face;
    memmove(m->corners + 3 * face, m->corners + 3 * (face + 1), 3 * sizeof(uint32_t) * left);
}

static bool have_common_vertex(const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            if (a[i] == b[k]) return true;
    return false;
}

/* Cuts a hole: a face, and some that have a vertex in common with what was cut. */
static void cut_hole(carom_random *random, small_mesh *m, uint32_t size) {
    uint32_t cut[64][3], count = 0;
    while (count < size && m->faces > 1) {
        uint32_t face = test_below(random, m->faces), tries = 0;
        while (count != 0 && tries++ < m->faces) {
            uint32_t near = test_below(random, count);
            if (have_common_vertex(m->corners + 3 * face, cut[near])) break;
            face = (face + 1) % m->faces;
        }
        memcpy(cut[count++], m->corners + 3 * face, sizeof(cut[0]));
        remove_face(m, face);
    }
}

/* Moves vertices by up to `by`, so that holes are not flat. */
static void shake(carom_random *random, small_mesh *m, uint32_t by) {
    for (uint32_t v = 0; v < m->vertices && by != 0; ++v)
        for (int k = 0; k < 3; ++k)
            m->xyz[v][k] += (double)test_below(random, 2 * by + 1) - (double)by;
}

/* ---- seeded holes ---------------------------------------------------------------------------- */

typedef struct outcomes {
    uint64_t loops, counts[CAROM_REPAIR_OUTCOME_COUNT];
    uint64_t missed; /* small loops that were left although there is a way to fill them */
} outcomes;

static void note_outcomes(const repair_closed *closed, outcomes *o) {
    for (uint64_t i = 0; i < closed->loops.count; ++i) ++o->counts[closed->loops.data[i].outcome];
    o->loops += closed->loops.count;
}

/* A mesh with one small hole that was left cannot be filled at all. */
static void check_left(const carom_mesh_view *view, const repair_closed *c, outcomes *o) {
    if (c->loops.count != 1 || c->loops.data[0].count > 6) return;
    if (c->loops.data[0].outcome != CAROM_REPAIR_OUTCOME_CROSSING) return;
    o->missed += repair_can_fill(context, view, c->vertices.data, (uint32_t)c->loops.data[0].count);
}

static void holes_of_closed_shapes_are_filled(void **state) {
    (void)state;
    static small_mesh m;
    static const struct {
        carom_shape shape;
        uint64_t detail;
    } shapes[] = {{CAROM_SHAPE_SPHERE, 1}, {CAROM_SHAPE_SPHERE, 2},   {CAROM_SHAPE_TORUS, 8},
                  {CAROM_SHAPE_BOX, 2},    {CAROM_SHAPE_CYLINDER, 9}, {CAROM_SHAPE_GLOBE, 8}};
    repair_closed closed = {0};
    outcomes o = {0};
    for (uint64_t seed = 0; seed < TEST_CASES(1200); ++seed) {
        carom_random random = {seed};
        uint32_t shape = test_below(&random, COUNT_OF(shapes));
        uint32_t by = test_below(&random, 2) != 0 ? test_below(&random, 60) : 0;
        make_shape(shapes[shape].shape, shapes[shape].detail, 100.0, &m);
        uint32_t holes = 1 + test_below(&random, 3);
        for (uint32_t i = 0; i < holes; ++i) cut_hole(&random, &m, 1 + test_below(&random, 9));
        shake(&random, &m, by);
        carom_mesh_view view = view_of(&m);
        repair_close_checked(context, &view, NULL, &closed);
        note_outcomes(&closed, &o);
        check_left(&view, &closed, &o);
        if (seed % 8 == 0) repair_check_lists(context, &view);
    }
    repair_closed_free(&closed);
    print_message("%" PRIu64 " loops: %" PRIu64 " filled, %" PRIu64 " crossing, %" PRIu64
                  " missed\n",
                  o.loops, o.counts[CAROM_REPAIR_OUTCOME_FILLED],
                  o.counts[CAROM_REPAIR_OUTCOME_CROSSING], o.missed);
    assert_int_equal(o.counts[CAROM_REPAIR_OUTCOME_CHAIN], 0);
    assert_int_equal(o.missed, 0);
    if (TEST_MANY_CASES) assert_true(10 * o.counts[CAROM_REPAIR_OUTCOME_FILLED] > 7 * o.loops);
}

/* Soups of small numbers: everything touches, edges have many sides, faces have no area. */
static void any_soup_gets_no_new_pair(void **state) {
    (void)state;
    static lattice_soup soup;
    repair_closed closed = {0};
    outcomes o = {0};
    for (uint64_t seed = 0; seed < TEST_CASES(2400); ++seed) {
        carom_random random = {seed};
        lattice_make(&random, &soup);
        carom_mesh_view view = lattice_view(&soup);
        repair_close_checked(context, &view, NULL, &closed);
        note_outcomes(&closed, &o);
        if (view.offsets == NULL && seed % 4 == 0) repair_check_lists(context, &view);
    }
    repair_closed_free(&closed);
    for (int k = 1; k < CAROM_REPAIR_OUTCOME_COUNT && TEST_MANY_CASES; ++k)
        if (k != CAROM_REPAIR_OUTCOME_LONG) assert_true(o.counts[k] != 0);
}

/* Meshes of two or more sheets of the same vertices, some reversed: flipped and non-manifold. */
static void lists_agree_with_counting(void **state) {
    (void)state;
    static small_mesh m;
    repair_closed closed = {0};
    for (uint64_t seed = 0; seed < TEST_CASES(240); ++seed) {
        carom_random random = {seed};
        make_shape(CAROM_SHAPE_GRID, 3, 10.0, &m);
        uint32_t sheets = 1 + test_below(&random, 2), faces = m.faces;
        for (uint32_t i = 1; i < sheets; ++i)
            for (uint32_t f = 0; f < faces; ++f)
                add_triangle(&m, m.corners[3 * f], m.corners[3 * f + 1], m.corners[3 * f + 2]);
        for (uint32_t f = 0; f < m.faces; ++f)
            if (test_below(&random, 4) == 0) {
                uint32_t b = m.corners[3 * f + 1];
                m.corners[3 * f + 1] = m.corners[3 * f + 2];
                m.corners[3 * f + 2] = b;
            }
        cut_hole(&random, &m, test_below(&random, 12));
        cut_hole(&random, &m, test_below(&random, 12));
        carom_mesh_view view = view_of(&m);
        repair_check_lists(context, &view);
        repair_close_checked(context, &view, NULL, &closed);
    }
    repair_closed_free(&closed);
}

/* ---- holes made by hand ---------------------------------------------------------------------- */

static carom_repair_outcome outcome_of(const repair_closed *closed, uint64_t loop) {
    assert_true(loop < closed->loops.count);
    return closed->loops.data[loop].outcome;
}

static double volume_of(const carom_mesh_view *view) {
    carom_mesh_report report;
    assert_ok(context, carom_mesh_inspect(context, view, &report));
    assert_true(report.closed);
    return report.volume;
}

/* A cube without its lid is the cube again, at every scale, also where squares are out of range. */
static void a_box_without_its_lid_is_a_solid(void **state) {
    (void)state;
    static const double scales[] = {1.0, 0x1p-332, 0x1p332, 0x1p-1000, 0x1p1000};
    static small_mesh m;
    repair_closed closed = {0};
    for (uint32_t i = 0; i < COUNT_OF(scales); ++i) {
        make_shape(CAROM_SHAPE_BOX, 3, 3.0, &m);
        for (uint32_t f = m.faces; f-- > 0;) {
            const uint32_t *t = m.corners + 3 * f;
            if (m.xyz[t[0]][2] + m.xyz[t[1]][2] + m.xyz[t[2]][2] == 9.0) remove_face(&m, f);
        }
        for (uint32_t v = 0; v < m.vertices; ++v)
            for (int k = 0; k < 3; ++k) m.xyz[v][k] *= scales[i];
        carom_mesh_view view = view_of(&m);
        repair_close_checked(context, &view, NULL, &closed);
        assert_int_equal(closed.result.loops, 1);
        assert_int_equal(closed.result.filled, 1);
        assert_int_equal(closed.result.triangles, 10); /* 12 edges around the lid */
        assert_int_equal(closed.result.open_edges, 0);
        if (i == 0) assert_true(volume_of(&closed.view) == 216.0);
        carom_solid *solid;
        carom_solid_def def = {.mesh = &closed.view};
        if (scales[i] > 0x1p-400 && scales[i] < 0x1p400) {
            assert_ok(context, carom_solid_create(context, &def, &solid));
            carom_solid_destroy(solid);
        }
        assert_true(closed.loops.data[0].length == 24.0 * scales[i]);
        assert_true(closed.loops.data[0].centre.z == 3.0 * scales[i]);
    }
    repair_closed_free(&closed);
}

/* Two squares cut out of a plane that touch in a corner are two loops; both are filled. */
static void holes_that_touch_in_a_vertex_are_two(void **state) {
    (void)state;
    static small_mesh m;
    repair_closed closed = {0};
    carom_numbers vertices = {0};
    make_shape(CAROM_SHAPE_BOX, 4, 4.0, &m);
    for (uint32_t f = m.faces; f-- > 0;) { /* of the lid: cells (1, 1) and (2, 2) */
        const uint32_t *t = m.corners + 3 * f;
        double x = 0.0, y = 0.0, z = 0.0;
        for (int k = 0; k < 3; ++k) x += m.xyz[t[k]][0], y += m.xyz[t[k]][1], z += m.xyz[t[k]][2];
        if (z == 12.0 && ((x < 0.0 && x > -6.0 && y < 0.0 && y > -6.0) ||
                          (x > 0.0 && x < 6.0 && y > 0.0 && y < 6.0)))
            remove_face(&m, f);
    }
    carom_mesh_view view = view_of(&m);
    assert_ok(context, carom_repair_list_vertices(context, &view, &vertices));
    assert_int_equal(vertices.count, 1);
    repair_close_checked(context, &view, NULL, &closed);
    assert_int_equal(closed.result.loops, 2);
    assert_int_equal(closed.loops.data[0].count, 4);
    assert_int_equal(closed.loops.data[1].count, 4);
    assert_true(volume_of(&closed.view) == 512.0);
    repair_closed_free(&closed);
    carom_numbers_free(&vertices);
}

/* The bipyramid N, S over the equator a b c d, without two opposite sides: both patches want the
 * edge N S, as it is short. The second takes the other one. */
static void patches_of_one_edge_are_made_one_after_the_other(void **state) {
    (void)state;
    static small_mesh m;
    repair_closed closed = {0};
    m = (small_mesh){0};
    add_vertex(&m, 0.0, 0.0, 2.0); /* N */
    add_vertex(&m, 0.0, 0.0, -2.0);
    add_vertex(&m, 8.0, 8.0, 0.0);
    add_vertex(&m, 8.0, -8.0, 0.0);
    add_vertex(&m, -8.0, -8.0, 0.0);
    add_vertex(&m, -8.0, 8.0, 0.0);
    add_triangle(&m, 0, 5, 2); /* towards y, and below */
    add_triangle(&m, 1, 2, 5);
    add_triangle(&m, 0, 3, 4); /* and towards -y: above 3 4 */
    add_triangle(&m, 1, 4, 3);
    carom_mesh_view view = view_of(&m);
    for (uint32_t f = 0; f < 4; ++f) { /* outwards */
        uint32_t *t = m.corners + 3 * f, b = t[1];
        t[1] = t[2], t[2] = b;
    }
    repair_close_checked(context, &view, NULL, &closed);
    assert_int_equal(closed.result.loops, 2);
    assert_int_equal(closed.result.filled, 2);
    assert_int_equal(closed.result.open_edges, 0);
    repair_closed_free(&closed);
}

/* A rim around an island that lies in the plane of the hole, a sheet, and a tube through a hole:
 * filling would cross, or cover, so they are left and named. */
static void what_cannot_be_filled_is_left(void **state) {
    (void)state;
    static small_mesh m;
    repair_closed closed = {0};
    make_shape(CAROM_SHAPE_GRID, 4, 4.0, &m); /* a flat sheet: its own lid would lie on it */
    carom_mesh_view view = view_of(&m);
    repair_close_checked(context, &view, NULL, &closed);
    assert_int_equal(outcome_of(&closed, 0), CAROM_REPAIR_OUTCOME_CROSSING);
    assert_int_equal(closed.result.left, 1);

    make_shape(CAROM_SHAPE_BOX, 1, 8.0, &m); /* an island in the lid of a box */
    for (uint32_t f = m.faces; f-- > 0;) {
        const uint32_t *t = m.corners + 3 * f;
        if (m.xyz[t[0]][2] + m.xyz[t[1]][2] + m.xyz[t[2]][2] == 24.0) remove_face(&m, f);
    }
    uint32_t first = m.vertices;
    add_vertex(&m, -1.0, -1.0, 8.0);
    add_vertex(&m, 1.0, -1.0, 8.0);
    add_vertex(&m, 0.0, 1.0, 9.0);
    add_triangle(&m, first, first + 1, first + 2);
    view = view_of(&m);
    repair_close_checked(context, &view, NULL, &closed);
    assert_int_equal(closed.result.loops, 2);
    assert_int_equal(outcome_of(&closed, 0), CAROM_REPAIR_OUTCOME_CROSSING); /* both */
    assert_int_equal(outcome_of(&closed, 1), CAROM_REPAIR_OUTCOME_CROSSING);

    m = (small_mesh){0}; /* an edge 0 1 on one side, 0 2 1 on the other, all on one line */
    add_vertex(&m, 0.0, 0.0, 0.0);
    add_vertex(&m, 4.0, 0.0, 0.0);
    add_vertex(&m, 2.0, 0.0, 0.0);
    add_vertex(&m, 2.0, 3.0, 1.0);
    add_vertex(&m, 2.0, -3.0, 1.0);
    add_triangle(&m, 0, 1, 3);
    add_triangle(&m, 2, 0, 4);
    add_triangle(&m, 1, 2, 4);
    view = view_of(&m);
    repair_close_checked(context, &view, NULL, &closed);
    assert_int_equal(closed.result.loops, 2); /* the slit, and the rim around all */
    repair_closed_free(&closed);
}

/* Three sheets at one edge, and two faces that go different ways round: the boundary ends there. */
static void chains_are_named(void **state) {
    (void)state;
    static small_mesh m;
    repair_closed closed = {0};
    m = (small_mesh){0};
    add_vertex(&m, 0.0, 0.0, 0.0);
    add_vertex(&m, 4.0, 0.0, 0.0);
    add_vertex(&m, 2.0, 3.0, 0.0);
    add_vertex(&m, 2.0, -3.0, 0.0);
    add_triangle(&m, 0, 1, 2);
    add_triangle(&m, 0, 1, 3); /* flipped */
    carom_mesh_view view = view_of(&m);
    repair_close_checked(context, &view, NULL, &closed);
    assert_int_equal(closed.result.left, closed.result.loops);
    for (uint64_t i = 0; i < closed.loops.count; ++i)
        assert_int_equal(outcome_of(&closed, i), CAROM_REPAIR_OUTCOME_CHAIN);
    repair_check_lists(context, &view);
    repair_closed_free(&closed);
}

static void loops_beyond_max_edges_are_left(void **state) {
    (void)state;
    static small_mesh m;
    repair_closed closed = {0};
    make_shape(CAROM_SHAPE_SPHERE, 1, 100.0, &m);
    remove_face(&m, 0);
    carom_mesh_view view = view_of(&m);
    carom_repair_def def = {.max_edges = 2};
    repair_close_checked(context, &view, &def, &closed);
    assert_int_equal(outcome_of(&closed, 0), CAROM_REPAIR_OUTCOME_LONG);
    def.max_edges = 3;
    repair_close_checked(context, &view, &def, &closed);
    assert_int_equal(outcome_of(&closed, 0), CAROM_REPAIR_OUTCOME_FILLED);
    repair_closed_free(&closed);
}

/* ---- long loops, threads, other input -------------------------------------------------------- */

/* A wavy tube of n steps around, open at both ends. */
static void make_tube(uint32_t n, small_mesh *m) {
    *m = (small_mesh){0};
    for (uint32_t i = 0; i < n; ++i) {
        double angle = 6.283185307179586 * i / n, wave = rint(40.0 * sin(7.0 * angle));
        double x = rint(4000.0 * cos(angle)), y = rint(4000.0 * sin(angle));
        add_vertex(m, x, y, wave);
        add_vertex(m, x, y, 900.0 + wave);
    }
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t a = 2 * i, b = 2 * ((i + 1) % n);
        add_triangle(m, a, b, b + 1);
        add_triangle(m, a, b + 1, a + 1);
    }
}

/* More than 256 edges: ears are cut first. */
static void long_loops_are_filled(void **state) {
    (void)state;
    static small_mesh m;
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_repair_result result;
    make_tube(340, &m);
    view = view_of(&m);
    assert_ok(context, carom_repair_close(context, &view, NULL, &mesh, &result, NULL, NULL));
    assert_int_equal(result.loops, 2);
    assert_int_equal(result.filled, 2);
    assert_int_equal(result.triangles, 2 * 338);
    assert_int_equal(result.new_pairs, 0);
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_true(volume_of(&view) > 0.0);
    carom_mesh_destroy(mesh);
}

static void threads_make_no_difference(void **state) {
    (void)state;
    static small_mesh m;
    carom_context *contexts[8];
    int count = 0;
    contexts[count++] = test_context(1);
    contexts[count++] = test_context(3);
    count = test_contexts_of_isas(1, contexts, count);
    for (uint64_t seed = 0; seed < TEST_CASES(40); ++seed) {
        carom_random random = {seed};
        make_shape(CAROM_SHAPE_SPHERE, 2, 100.0, &m);
        for (int i = 0; i < 4; ++i) cut_hole(&random, &m, 1 + test_below(&random, 8));
        shake(&random, &m, 20);
        carom_mesh_view view = view_of(&m), first = {0};
        carom_mesh *meshes[8];
        for (int i = 0; i < count; ++i) {
            carom_repair_result result;
            carom_mesh_view made;
            assert_ok(contexts[i], carom_repair_close(contexts[i], &view, NULL, &meshes[i], &result,
                                                      NULL, NULL));
            assert_ok(contexts[i], carom_mesh_get_view(meshes[i], &made));
            if (i == 0) first = made;
            assert_int_equal(made.face_count, first.face_count);
            assert_memory_equal(made.corners, first.corners, 12 * made.face_count);
        }
        for (int i = 0; i < count; ++i) carom_mesh_destroy(meshes[i]);
    }
    for (int i = 0; i < count; ++i) carom_context_destroy(contexts[i]);
}

/* Polygons stay polygons; float32, parts, names and properties stay; new faces take after the one
 * beside their hole. */
static void parts_and_properties_are_kept(void **state) {
    (void)state;
    carom_shape_def def = {
        .shape = CAROM_SHAPE_BOX, .polygons = true, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh_view view, made;
    carom_mesh *box = shape_mesh(context, &def, &view), *mesh;
    static const uint32_t parts[6] = {0, 1, 1, 0, 1, 1};
    static const char *const names[2] = {"a", "<b>"};
    static const float heat[6] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
    carom_mesh_property property = {"heat", true, CAROM_MESH_PROPERTY_TYPE_FLOAT32, heat};
    carom_repair_result result;
    carom_repair_loops loops = {0};
    carom_numbers vertices = {0};
    assert_int_equal(view.face_count, 6);
    view.face_count = 5;
    view.parts = parts;
    view.part_names = names;
    view.part_count = 2;
    view.properties = &property;
    view.property_count = 1;
    assert_ok(context, carom_repair_close(context, &view, NULL, &mesh, &result, &loops, &vertices));
    assert_ok(context, carom_mesh_get_view(mesh, &made));
    assert_int_equal(result.filled, 1);
    assert_int_equal(made.face_count, 7);
    assert_true(made.offsets != NULL && made.scalar == CAROM_SCALAR_FLOAT32);
    assert_int_equal(made.property_count, 1);
    assert_string_equal(made.part_names[1], "<b>");
    uint32_t a = vertices.data[0], b = vertices.data[1], beside = CAROM_NONE;
    for (uint32_t f = 0; f < 5; ++f)
        for (uint32_t k = 0; k < 4; ++k)
            if (view.corners[4 * f + k] == b && view.corners[4 * f + (k + 1) % 4] == a) beside = f;
    assert_true(beside != CAROM_NONE);
    for (uint32_t f = 5; f < 7; ++f) {
        assert_int_equal(made.parts[f], parts[beside]);
        assert_true(((const float *)made.properties[0].values)[f] == heat[beside]);
    }
    assert_true(volume_of(&made) == 8.0);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(box);
    carom_repair_loops_free(&loops);
    carom_numbers_free(&vertices);
}

static void a_callers_buffer_may_be_too_small(void **state) {
    (void)state;
    static small_mesh m;
    carom_repair_loop one[1];
    uint32_t few[2];
    carom_repair_loops loops = {.data = one, .capacity = 1, .owner = CAROM_OWNER_CALLER};
    carom_numbers vertices = {.data = few, .capacity = 2, .owner = CAROM_OWNER_CALLER};
    carom_mesh *mesh;
    carom_repair_result result;
    make_tube(8, &m);
    carom_mesh_view view = view_of(&m);
    assert_int_equal(carom_repair_list_loops(context, &view, &loops, &vertices), CAROM_MORE);
    assert_true(loops.count == 2 && vertices.count == 16 && few[0] == 0);
    assert_int_equal(carom_repair_close(context, &view, NULL, &mesh, &result, &loops, &vertices),
                     CAROM_MORE);
    assert_non_null(mesh);
    assert_true(loops.count == 2 && result.filled == 2);
    carom_mesh_destroy(mesh);
}

static carom_status close_without_memory(carom_allocator allocator, void *argument) {
    const carom_mesh_view *view = argument;
    carom_context_def def = {.threads = 1, .allocator = allocator};
    carom_context *own;
    carom_status status = carom_context_create(&def, &own);
    if (status != CAROM_OK) return status;
    carom_mesh *mesh = NULL;
    carom_repair_result result;
    carom_repair_loops loops = {0};
    carom_numbers vertices = {0};
    carom_pairs edges = {0};
    status = carom_repair_close(own, view, NULL, &mesh, &result, &loops, &vertices);
    if (status == CAROM_OK) status = carom_repair_list_edges(own, view, &edges);
    if (status == CAROM_OK) status = carom_repair_list_vertices(own, view, &vertices);
    if (status == CAROM_OK) status = carom_repair_list_flipped(own, view, &vertices, NULL);
    carom_mesh_destroy(mesh);
    carom_repair_loops_free(&loops);
    carom_numbers_free(&vertices);
    carom_pairs_free(&edges);
    carom_context_destroy(own);
    return status;
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    static small_mesh m;
    make_tube(12, &m);
    carom_mesh_view view = view_of(&m);
    test_allocation_failures(close_without_memory, &view);
}

static void bad_meshes_are_refused(void **state) {
    (void)state;
    static const double positions[3][3] = {{0.0, 0.0, 0.0}, {NAN, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    static const uint32_t corners[3] = {0, 1, 2};
    carom_mesh_view view = {
        .positions = positions, .vertex_count = 3, .corners = corners, .face_count = 1};
    carom_mesh *mesh;
    carom_repair_result result;
    assert_fails(context, carom_repair_close(context, &view, NULL, &mesh, &result, NULL, NULL),
                 CAROM_BAD_INPUT, "finite");
    assert_null(mesh);
    carom_mesh_view nothing = {0};
    assert_ok(context, carom_repair_close(context, &nothing, NULL, &mesh, &result, NULL, NULL));
    assert_true(mesh != NULL && result.loops == 0);
    carom_mesh_destroy(mesh);
}

/* The Stanford bunny has five holes and 223 open edges; closed it is a solid. */
static void the_bunny_becomes_a_solid(void **state) {
    (void)state;
    char path[1024];
    const char *shared = test_shared_folder();
    carom_mesh *bunny, *mesh;
    carom_mesh_view view;
    carom_repair_result result;
    if (shared == NULL) {
        print_message("no shared models\n");
        skip();
    }
    snprintf(path, sizeof(path), "%s/models/bench/bunny.ply", shared);
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &bunny));
    assert_ok(context, carom_mesh_get_view(bunny, &view));
    assert_ok(context, carom_repair_close(context, &view, NULL, &mesh, &result, NULL, NULL));
    assert_int_equal(result.loops, 5);
    assert_int_equal(result.filled, 5);
    assert_int_equal(result.triangles, 223 - 2 * 5);
    assert_int_equal(result.new_pairs, 0);
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    carom_solid *solid;
    carom_solid_def def = {.mesh = &view};
    assert_ok(context, carom_solid_create(context, &def, &solid));
    carom_solid_destroy(solid);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(bunny);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_of_closed_shapes_are_filled),
        cmocka_unit_test(any_soup_gets_no_new_pair),
        cmocka_unit_test(lists_agree_with_counting),
        cmocka_unit_test(a_box_without_its_lid_is_a_solid),
        cmocka_unit_test(holes_that_touch_in_a_vertex_are_two),
        cmocka_unit_test(patches_of_one_edge_are_made_one_after_the_other),
        cmocka_unit_test(what_cannot_be_filled_is_left),
        cmocka_unit_test(chains_are_named),
        cmocka_unit_test(loops_beyond_max_edges_are_left),
        cmocka_unit_test(long_loops_are_filled),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(parts_and_properties_are_kept),
        cmocka_unit_test(a_callers_buffer_may_be_too_small),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(bad_meshes_are_refused),
        cmocka_unit_test(the_bunny_becomes_a_solid),
    };
    return cmocka_run_group_tests_name("repair", tests, set_up, tear_down);
}
