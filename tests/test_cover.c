/* SPDX-License-Identifier: MIT */
/* Covers from outside contain their solids: proved by cells, for boxes, shells, needles, shapes and
 * real models; at every position and scale; the same bytes for any number of threads and any
 * instruction set. Distances and volumes are those of random samples and of closed forms. With
 * CAROM_LONG=1 all closed parts of a robot and some hundred models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cover/cover.h"
#include "tests/support/campaign.h"
#include "tests/support/models.h"
#include "tests/support/pack_check.h"
#include "tests/support/shapes.h"
#include "tests/support/solids.h"
#include "tests/support/test.h"

#define PI 3.14159265358979323846

static carom_context *context;

typedef struct result {
    carom_cover_info info;
    carom_cover_spheres spheres;
    carom_packing_cells cells;
} result;

static void make(carom_context *with, const carom_cover_def *def, result *r) {
    carom_cover *cover;
    memset(r, 0, sizeof(*r));
    assert_ok(with, carom_cover_create(with, def, &cover));
    assert_ok(with, carom_cover_get_info(cover, &r->info));
    assert_ok(with, carom_cover_list_spheres(with, cover, &r->spheres));
    assert_ok(with, carom_cover_list_cells(with, cover, &r->cells));
    assert_int_equal(r->spheres.count, r->info.spheres);
    assert_int_equal(r->cells.count, def->keep_cells ? r->info.cells : 0);
    assert_valid(carom_cover_validate(cover));
    carom_cover_destroy(cover);
}

static void release(result *r) {
    carom_cover_spheres_free(&r->spheres);
    carom_packing_cells_free(&r->cells);
}

/* Makes a cover with its proof; the triangles must be freed. */
static carom_triangle *prove(carom_cover_def *def, result *r, pack_cover_claim *claim) {
    pack_proof proof;
    double volume;
    def->keep_cells = true;
    make(context, def, r);
    *claim = (pack_cover_claim){.spheres = r->spheres.data,
                                .sphere_count = r->spheres.count,
                                .margin = def->margin,
                                .cells = r->cells.data,
                                .cell_count = r->cells.count};
    carom_triangle *triangles = pack_triangles(context, def->mesh, &claim->triangle_count, &volume);
    claim->triangles = triangles;
    if (!pack_check_cover(claim, &proof)) fail_msg("%s", proof.message);
    const carom_cover_measure *m = &r->info.measure;
    assert_true(m->worst.lower <= m->worst.upper && m->worst.value == m->worst.upper);
    assert_true(m->worst.upper <= 1.03 * m->worst.lower + 1e-6 * m->mean);
    if (def->count != 0) assert_true(r->spheres.count <= def->count);
    return triangles;
}

static void prove_only(carom_cover_def *def) {
    result r;
    pack_cover_claim claim;
    free(prove(def, &r, &claim));
    release(&r);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* A box with the faces outwards, or inwards where low > high. */
static void fill_box(const double box[6], int number, double *positions, uint32_t *indices) {
    static const int corners[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                       {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                       {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    for (int i = 0; i < 8; ++i)
        for (int k = 0; k < 3; ++k)
            positions[3 * (8 * number + i) + k] = box[(i >> k & 1) != 0 ? 3 + k : k];
    for (int i = 0; i < 36; ++i)
        indices[36 * number + i] = (uint32_t)(8 * number + corners[i / 3][i % 3]);
}

typedef struct boxes {
    double positions[3 * 8 * 3];
    uint32_t indices[3 * 36];
    carom_mesh_view view;
} boxes;

static void make_boxes(const double (*from)[6], int count, boxes *b) {
    for (int i = 0; i < count; ++i) fill_box(from[i], i, b->positions, b->indices);
    b->view = (carom_mesh_view){.positions = b->positions,
                                .vertex_count = (uint64_t)(8 * count),
                                .corners = b->indices,
                                .face_count = (uint64_t)(12 * count)};
}

static void thin_shells_needles_and_parts_are_covered(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    static const struct {
        int count;
        double box[3][6];
    } cases[] = {
        {1, {{0, 0, 0, 1, 1, 1}}},
        {1, {{0, 0, 0, 1, 0.002, 0.001}}},                               /* a needle */
        {1, {{0, 0, 0, 1, 1, 1e-4}}},                                    /* a plate */
        {2, {{0, 0, 0, 1, 1, 1}, {0.99, 0.01, 0.01, 0.01, 0.99, 0.99}}}, /* a shell */
        {2, {{0, 0, 0, 1, 1, 1}, {3, 0, 0, 4, 1, 2}}},                   /* two parts */
        {2, {{0, 0, 0, 2, 1, 1}, {1, 0.5, 0.5, 3, 2, 2}}},               /* that cross */
        {1, {{1, 0, 0, 0, 1, 1}}},                                       /* inside out */
        {3, {{0, 0, 0, 1, 1, 1}, {2, 0, 0, 3, 1e-3, 1e-3}, {0, 2, 0, 1, 3, 1}}},
    };
    static const uint64_t counts[] = {2, 12};
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        for (size_t k = 0; k < COUNT_OF(counts); ++k) {
            boxes b;
            make_boxes(cases[i].box, cases[i].count, &b);
            carom_cover_def def = {.mesh = &b.view, .count = counts[k]};
            prove_only(&def);
            if (!TEST_ALL_CASES) break;
        }
}

static void one_sphere_around_a_cube_is_the_smallest(void **state) {
    (void)state;
    static const double cube[1][6] = {{-1, -1, -1, 1, 1, 1}};
    boxes b;
    make_boxes(cube, 1, &b);
    carom_cover_def def = {.mesh = &b.view, .count = 1};
    result r;
    pack_cover_claim claim;
    free(prove(&def, &r, &claim));
    double radius = r.spheres.data[0].radius, least = sqrt(3.0);
    assert_true(radius >= least && radius <= 1.05 * least);
    const carom_cover_measure *m = &r.info.measure;
    double volume = 4.0 / 3.0 * PI * radius * radius * radius;
    assert_true(fabs(m->volume - volume) <= 1e-3 * volume);
    assert_true(fabs(m->solid_volume - 8.0) <= 1e-9);
    assert_true(fabs(m->outside_volume - (m->volume - 8.0)) <= 1e-9);
    assert_true(m->worst.upper >= radius - 1.0);
    release(&r);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* The mean and the worst distance agree with random samples. */
static void shapes_are_covered_and_measured(void **state) {
    (void)state;
    static const carom_shape shapes[] = {CAROM_SHAPE_TORUS, CAROM_SHAPE_KNOT, CAROM_SHAPE_CONE,
                                         CAROM_SHAPE_CHAZELLE};
    for (size_t i = 0; i < TEST_CASES(COUNT_OF(shapes)); ++i) {
        carom_mesh *mesh =
            shape_detailed(context, shapes[i], shapes[i] == CAROM_SHAPE_KNOT ? 24 : 12);
        carom_mesh_view view = {0};
        carom_cover_def def = {.mesh = &view, .count = 12};
        result r;
        pack_cover_claim claim;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        carom_triangle *triangles = prove(&def, &r, &claim);
        pack_sampled sampled = pack_sample_outside(&claim, i, 100);
        const carom_cover_measure *m = &r.info.measure;
        assert_true(sampled.worst <= m->worst.upper && sampled.worst >= 0.8 * m->worst.lower);
        assert_true(fabs(sampled.mean - m->mean) <= 0.1 * m->mean);
        assert_true(m->outside_volume > 0.0);
        free(triangles);
        release(&r);
        carom_mesh_destroy(mesh);
    }
}

static void more_spheres_reach_less_far(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_TORUS, 16);
    double before = HUGE_VAL;
    for (uint64_t count = 3; count <= 27; count *= 3) {
        carom_mesh_view view = {0};
        carom_cover_def def = {.mesh = &view, .count = count};
        result r;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        make(context, &def, &r);
        assert_true(r.info.measure.worst.upper < 0.8 * before);
        before = r.info.measure.worst.upper;
        release(&r);
    }
    carom_mesh_destroy(mesh);
}

static void a_wanted_distance_is_reached(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_TORUS, 12);
    carom_mesh_view view = {0};
    carom_cover_def def = {.mesh = &view, .distance = 0.2, .keep_cells = true};
    result r;
    pack_cover_claim claim;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    free(prove(&def, &r, &claim));
    assert_true(r.info.complete && r.info.measure.worst.upper <= 0.2);
    uint64_t enough = r.info.spheres;
    release(&r);
    /* With a margin beside it: the same spheres, larger. */
    def.margin = 0.25;
    free(prove(&def, &r, &claim));
    assert_true(r.info.complete && r.info.spheres == enough);
    assert_true(r.info.measure.worst.upper <= 0.2 + 0.25 + 1e-6 &&
                r.info.measure.worst.upper >= 0.25);
    release(&r);
    /* Too few allowed: as many as there are, and it says so. */
    def.margin = 0.0;
    def.count = enough / 4;
    free(prove(&def, &r, &claim));
    assert_true(!r.info.complete && r.info.spheres <= enough / 4);
    release(&r);
    carom_mesh_destroy(mesh);
}

static void any_position_and_scale(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    static const double cases[][2] = {{1e-6, 0}, {1e6, 0}, {1, 1e6}, {0x1p-250, 0}, {0x1p250, 0}};
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_TORUS, 6);
    carom_mesh_view view;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    double *positions = malloc(3 * view.vertex_count * sizeof(double));
    for (size_t i = 0; i < TEST_CASES(COUNT_OF(cases)); ++i) {
        carom_mesh_view mesh_view = view;
        carom_cover_def def = {.mesh = &mesh_view, .count = 12};
        for (uint64_t k = 0; k < 3 * view.vertex_count; ++k)
            positions[k] = ((const double *)view.positions)[k] * cases[i][0] + cases[i][1];
        mesh_view.positions = positions;
        prove_only(&def);
    }
    free(positions);
    carom_mesh_destroy(mesh);
}

/* Boxes that cross are measured as one solid; without that the spheres are the same. */
static void spheres_do_not_depend_on_the_volume(void **state) {
    (void)state;
    static const double two[2][6] = {{0, 0, 0, 2, 2, 2}, {1, 1, 1, 4, 3, 3}};
    boxes b;
    make_boxes(two, 2, &b);
    const carom_cover_def def = {.mesh = &b.view, .count = 12};
    carom_cover *with = NULL, *without = NULL;
    assert_ok(context, carom_cover_create(context, &def, &with));
    assert_ok(context, carom_cover_create_without_volume(context, &def, &without));
    assert_true(with->info.measure.solid_volume > 0.0 && without->info.measure.solid_volume == 0.0);
    assert_int_equal(with->info.spheres, without->info.spheres);
    assert_memory_equal(with->spheres, without->spheres,
                        with->info.spheres * sizeof(*with->spheres));
    carom_cover_destroy(with);
    carom_cover_destroy(without);
}

/* ---- Other spheres --------------------------------------------------------------------------- */

static void spheres_of_others_are_measured(void **state) {
    (void)state;
    static const double cube[1][6] = {{-1, -1, -1, 1, 1, 1}};
    boxes b;
    make_boxes(cube, 1, &b);
    /* One ball in the middle; two apart from each other; two that are the same; a pair. */
    const carom_ball balls[][2] = {{{{0, 0, 0}, 2}, {{0, 0, 0}, 2}},
                                   {{{0, 0, 5}, 1}, {{0, 0, -5}, 1}},
                                   {{{0.5, 0, 0}, 1.5}, {{-0.5, 0, 0}, 1.5}}};
    const carom_cover_def def = {.mesh = &b.view};
    carom_cover_measure m;
    assert_ok(context, carom_cover_measure_spheres(context, &def, balls[0], 1, &m));
    assert_true(m.worst.lower <= 1.0 && m.worst.upper >= 1.0 && m.worst.upper <= 1.03);
    assert_true(fabs(m.volume - 32.0 / 3.0 * PI) <= 1e-3 * m.volume);
    double alone = m.volume;
    assert_ok(context, carom_cover_measure_spheres(context, &def, balls[0], 2, &m));
    assert_true(fabs(m.volume - alone) <= 1e-9 * alone);
    assert_ok(context, carom_cover_measure_spheres(context, &def, balls[1], 2, &m));
    assert_true(m.worst.lower <= 5.0 && m.worst.upper >= 5.0 && m.worst.upper <= 5.15);
    assert_true(fabs(m.volume - 8.0 / 3.0 * PI) <= 1e-3 * m.volume);
    assert_ok(context, carom_cover_measure_spheres(context, &def, balls[2], 2, &m));
    carom_lens lens = carom_ball_lens_value(&balls[2][0], &balls[2][1]);
    double exact = 2.0 * 4.0 / 3.0 * PI * 3.375 - lens.volume;
    assert_true(fabs(m.volume - exact) <= 1e-3 * exact);
    assert_ok(context, carom_cover_measure_spheres(context, &def, NULL, 0, &m));
    assert_true(m.worst.lower == 0.0 && m.worst.value == 0.0 && m.worst.upper == 0.0);
    assert_true(m.mean == 0.0 && m.volume == 0.0);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void what_cannot_be_covered_is_refused(void **state) {
    (void)state;
    static const double cube[1][6] = {{0, 0, 0, 1, 1, 1}};
    boxes b;
    carom_cover *cover;
    carom_cover_measure m;
    make_boxes(cube, 1, &b);
    carom_cover_def def = {.mesh = &b.view, .distance = -1.0};
    assert_fails(context, carom_cover_create(context, &def, &cover), CAROM_BAD_INPUT, "distance");
    assert_null(cover);
    def = (carom_cover_def){.mesh = &b.view, .margin = HUGE_VAL};
    assert_fails(context, carom_cover_create(context, &def, &cover), CAROM_BAD_INPUT, "margin");
    def = (carom_cover_def){.mesh = &b.view, .count = CAROM_COVER_MOST_SPHERES + 1};
    assert_fails(context, carom_cover_create(context, &def, &cover), CAROM_BAD_INPUT, "more than");
    b.view.face_count = 11;
    def = (carom_cover_def){.mesh = &b.view};
    assert_fails(context, carom_cover_create(context, &def, &cover), CAROM_BAD_INPUT, "open edges");
    b.view.face_count = 0;
    def = (carom_cover_def){.mesh = &b.view};
    assert_fails(context, carom_cover_create(context, &def, &cover), CAROM_BAD_INPUT, "no face");
    b.view.face_count = 12;
    def = (carom_cover_def){.mesh = &b.view};
    const carom_ball bad[] = {{{0, 0, 0}, -1}, {{1e9, 0, 0}, 1}, {{NAN, 0, 0}, 1}};
    for (size_t i = 0; i < COUNT_OF(bad); ++i)
        assert_fails(context, carom_cover_measure_spheres(context, &def, &bad[i], 1, &m),
                     CAROM_BAD_INPUT, "not a sphere near the mesh");
    static const double sizes[] = {1e-100, 1e100}; /* any_position_and_scale has what is allowed */
    for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
        const double box[1][6] = {{0, 0, 0, sizes[i], sizes[i], sizes[i]}};
        make_boxes(box, 1, &b);
        def = (carom_cover_def){.mesh = &b.view};
        assert_fails(context, carom_cover_create(context, &def, &cover), CAROM_BAD_INPUT, "2^-300");
    }
}

/* All faces of an open mesh are in spheres: every point of a fine lattice on them. */
static void faces_of_open_meshes_are_covered(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    static const double cube[1][6] = {{0, 0, 0, 1, 1, 1}};
    boxes b;
    make_boxes(cube, 1, &b);
    for (uint64_t faces = 1; faces < 12; faces += 5) {
        b.view.face_count = faces;
        carom_cover_def def = {.mesh = &b.view, .count = 12, .allow_open = true};
        result r;
        make(context, &def, &r);
        assert_true(r.info.measure.solid_volume == 0.0 && r.info.measure.outside_volume == 0.0);
        for (uint64_t f = 0; f < faces; ++f)
            for (int i = 0; i <= 20; ++i)
                for (int k = 0; k + i <= 20; ++k) {
                    double p[3];
                    bool inside = false;
                    const double *v[3];
                    for (int c = 0; c < 3; ++c) v[c] = b.positions + 3 * b.indices[3 * f + c];
                    for (int c = 0; c < 3; ++c)
                        p[c] = (v[0][c] * (20 - i - k) + v[1][c] * i + v[2][c] * k) / 20.0;
                    for (uint64_t s = 0; s < r.spheres.count && !inside; ++s) {
                        const carom_ball *o = &r.spheres.data[s];
                        double x = p[0] - o->centre.x, y = p[1] - o->centre.y;
                        double z = p[2] - o->centre.z;
                        inside = x * x + y * y + z * z <= o->radius * o->radius * (1 + 1e-12);
                    }
                    assert_true(inside);
                }
        release(&r);
    }
}

/* ---- One answer ------------------------------------------------------------------------------ */

/* A cube without its top encloses what a whole cube does: on the plane of the hole the generalised
 * winding number is 0.5. So spheres reach out as far, up to a step of the grid. */
static void balls_in_holes_reach_out_of_the_hole(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    static const double cube[1][6] = {{0, 0, 0, 1, 1, 1}};
    static const carom_ball balls[] = {{{0.5, 0.5, 1.0}, 0.3}, {{0.5, 0.5, 0.7}, 0.4},
                                       {{0.4, 0.6, 0.5}, 0.7}, {{0.2, 0.5, 0.9}, 0.25},
                                       {{0.5, 0.5, 0.2}, 0.1}, {{0.5, 0.5, 1.5}, 0.1}};
    boxes b;
    make_boxes(cube, 1, &b);
    for (size_t i = 0; i < COUNT_OF(balls); ++i) {
        carom_cover_def def = {.mesh = &b.view};
        carom_cover_measure whole, open;
        b.view.face_count = 12;
        assert_ok(context, carom_cover_measure_spheres(context, &def, &balls[i], 1, &whole));
        for (int k = 0; k < 6; ++k) { /* the two faces of the top, which are 2 and 3, go last */
            uint32_t *top = b.indices + 6 + k, *last = b.indices + 30 + k, swapped = *top;
            *top = *last;
            *last = swapped;
        }
        b.view.face_count = 10;
        def.allow_open = true;
        assert_ok(context, carom_cover_measure_spheres(context, &def, &balls[i], 1, &open));
        make_boxes(cube, 1, &b);
        assert_true(open.worst.upper >= 0.98 * whole.worst.upper - 0.01);
        assert_true(open.worst.upper <= whole.worst.upper + 0.06);
        assert_true(open.mean <= whole.mean + 0.06);
    }
}

static void the_same_for_any_threads_and_instructions(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_KNOT, 24);
    carom_mesh_view view = {0};
    carom_cover_def def = {.mesh = &view, .count = 10, .keep_cells = true};
    result first, other;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    make(context, &def, &first);
    for (int i = 0; i < 4; ++i) {
        static const carom_isa isas[] = {CAROM_ISA_BEST, CAROM_ISA_BASELINE, CAROM_ISA_AVX2,
                                         CAROM_ISA_AVX512};
        carom_context *with = test_context_isa(i == 0 ? 1 : 3, isas[i]);
        if (with == NULL) continue;
        make(with, &def, &other);
        assert_int_equal(first.spheres.count, other.spheres.count);
        assert_int_equal(first.cells.count, other.cells.count);
        assert_memory_equal(first.spheres.data, other.spheres.data,
                            first.spheres.count * sizeof(carom_ball));
        assert_memory_equal(&first.info.measure, &other.info.measure, sizeof(carom_cover_measure));
        assert_true(
            memcmp(&first.cells.data[0].low, &other.cells.data[0].low, sizeof(carom_vec3)) == 0);
        release(&other);
        carom_context_destroy(with);
    }
    release(&first);
    carom_mesh_destroy(mesh);
}

static carom_status cover_with(carom_allocator allocator, void *argument) {
    carom_context_def of_context = {.allocator = allocator, .threads = 1};
    carom_context *own;
    carom_cover *cover = NULL;
    carom_status status = carom_context_create(&of_context, &own);
    if (status != CAROM_OK) return status;
    status = carom_cover_create(own, argument, &cover);
    assert_true((status == CAROM_OK) == (cover != NULL));
    carom_cover_destroy(cover);
    carom_context_destroy(own);
    return status;
}

static void no_memory_is_a_status(void **state) {
    (void)state;
    static const double cube[1][6] = {{0, 0, 0, 1, 1, 1}};
    boxes b;
    make_boxes(cube, 1, &b);
    carom_cover_def def = {.mesh = &b.view, .count = 1, .keep_cells = true};
    /* There are thousands of allocations, of lists of cells: the first of them, then some. */
    carom_status status = CAROM_NO_MEMORY;
    for (uint64_t after = 1; status != CAROM_OK; after += after < 40 ? 3 : after) {
        test_memory memory = {.fail_after = after};
        status = cover_with(test_allocator(&memory), &def);
        assert_true(status == CAROM_OK || status == CAROM_NO_MEMORY);
        assert_int_equal(memory.live, 0);
    }
}

static bool cancel(void *user, const char *what, double fraction) {
    (void)what;
    (void)fraction;
    return --*(int *)user <= 0;
}

static void it_can_be_cancelled(void **state) {
    (void)state;
    carom_mesh *mesh = shape_detailed(context, CAROM_SHAPE_KNOT, 24);
    carom_mesh_view view = {0};
    carom_cover_def def = {.mesh = &view, .count = 200};
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    for (int reports = 1; reports <= 3; ++reports) {
        int left = reports;
        carom_cover *cover;
        carom_context_def of_context = {
            .threads = 2, .progress = cancel, .progress_user = &left, .progress_interval = -1.0};
        carom_context *own;
        assert_ok(NULL, carom_context_create(&of_context, &own));
        assert_int_equal(carom_cover_create(own, &def, &cover), CAROM_CANCELLED);
        assert_null(cover);
        carom_context_destroy(own);
    }
    carom_mesh_destroy(mesh);
}

/* ---- Models ---------------------------------------------------------------------------------- */

static void cover_model(const char *file, const carom_mesh_view *view, uint64_t count) {
    carom_cover_def def = {.mesh = view, .count = count};
    result r;
    pack_cover_claim claim;
    carom_triangle *triangles = prove(&def, &r, &claim);
    if (campaign_is_long())
        printf("%s: %llu spheres, worst %.4g, mean %.4g, outside %.4g of the volume, %llu cells\n",
               file, (unsigned long long)r.info.spheres, r.info.measure.worst.upper,
               r.info.measure.mean, r.info.measure.outside_volume / r.info.measure.solid_volume,
               (unsigned long long)r.info.cells);
    free(triangles);
    release(&r);
}

static void models_are_covered(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    if (test_shared_folder() == NULL) skip();
    static char line[8192];
    char *cells[32], path[1024];
    uint64_t number = 0, step = campaign_is_long() ? 33 : 300;
    FILE *index = models_open_text("index.csv");
    while (fgets(line, sizeof(line), index) != NULL) {
        if (models_cut_line(line, cells, 8) < 6) continue;
        bool closed = false;
        for (int i = 4; i < 8; ++i) closed = closed || strcmp(cells[i], "yes") == 0;
        if (!closed || number++ % step != 7) continue;
        const char *file = strncmp(cells[0], "stats.tar.gz:", 13) == 0 ? cells[0] + 13 : cells[0];
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_mesh_report report;
        models_path(file, path, sizeof(path));
        assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        carom_mesh *welded;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_mesh_weld(context, &view, &welded));
        assert_ok(context, carom_mesh_get_view(welded, &view));
        assert_ok(context, carom_mesh_inspect(context, &view, &report));
        if (report.closed) cover_model(file, &view, campaign_is_long() ? 64 : 8);
        carom_mesh_destroy(welded);
        carom_mesh_destroy(mesh);
    }
    fclose(index);
    assert_true(number > 600);
}

static void parts_of_a_robot_are_covered(void **state) {
    (void)state;
    if (TEST_FEW_CASES) skip();
    if (test_shared_folder() == NULL) skip();
    char path[1024];
    carom_mesh *mesh;
    carom_mesh_view view;
    models_path("scenes/panda_robot_parts.ply.gz", path, sizeof(path));
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    uint32_t *corners = malloc(3 * view.face_count * sizeof(uint32_t));
    uint32_t proved = 0;
    for (uint32_t part = 0; part < view.part_count; ++part) {
        carom_mesh_view one = view;
        one.face_count = 0;
        for (uint64_t f = 0; f < view.face_count; ++f)
            if (view.parts[f] == part)
                memcpy(corners + 3 * one.face_count++, view.corners + 3 * f, 12);
        one.corners = corners;
        one.parts = NULL;
        one.part_names = NULL;
        one.part_count = 0;
        carom_mesh *welded;
        carom_mesh_report report;
        carom_mesh_view whole;
        assert_ok(context, carom_mesh_weld(context, &one, &welded));
        assert_ok(context, carom_mesh_get_view(welded, &whole));
        assert_ok(context, carom_mesh_inspect(context, &whole, &report));
        if (report.closed && (campaign_is_long() || part == 2 || part == 58)) {
            char name[32];
            snprintf(name, sizeof(name), "part %u", part);
            for (uint64_t count = 16; count <= (campaign_is_long() ? 256u : 16u); count *= 4)
                cover_model(name, &whole, count);
            ++proved;
        }
        carom_mesh_destroy(welded);
    }
    assert_true(proved >= (campaign_is_long() ? 20u : 2u));
    free(corners);
    carom_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_shells_needles_and_parts_are_covered),
        cmocka_unit_test(one_sphere_around_a_cube_is_the_smallest),
        cmocka_unit_test(shapes_are_covered_and_measured),
        cmocka_unit_test(more_spheres_reach_less_far),
        cmocka_unit_test(a_wanted_distance_is_reached),
        cmocka_unit_test(any_position_and_scale),
        cmocka_unit_test(spheres_do_not_depend_on_the_volume),
        cmocka_unit_test(spheres_of_others_are_measured),
        cmocka_unit_test(what_cannot_be_covered_is_refused),
        cmocka_unit_test(faces_of_open_meshes_are_covered),
        cmocka_unit_test(balls_in_holes_reach_out_of_the_hole),
        cmocka_unit_test(the_same_for_any_threads_and_instructions),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(models_are_covered),
        cmocka_unit_test(parts_of_a_robot_are_covered),
    };
    context = test_context(2);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    carom_context_destroy(context);
    return failed;
}
