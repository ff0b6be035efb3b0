/* SPDX-License-Identifier: MIT */
/* Meshes made from views: what is accepted, what is copied, what is said about the rest.
 * One thread. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static const double cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const uint32_t quads[24] = {0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4,
                                   1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};
static const uint64_t quad_offsets[7] = {0, 4, 8, 12, 16, 20, 24};

static carom_mesh_view cube_view(void) {
    return (carom_mesh_view){.positions = cube,
                             .vertex_count = 8,
                             .corners = quads,
                             .offsets = quad_offsets,
                             .face_count = 6};
}

static void a_mesh_is_a_packed_copy_of_its_view(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    float strided[8][5];
    for (int i = 0; i < 8; ++i)
        for (int c = 0; c < 5; ++c) strided[i][c] = c < 3 ? (float)cube[i][c] : -1.0f;
    carom_mesh_view given = cube_view(), view;
    given.positions = strided;
    given.scalar = CAROM_SCALAR_FLOAT32;
    given.stride = sizeof(strided[0]);
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_create(context, &given, &mesh));
    memset(strided, 0, sizeof(strided));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.scalar, CAROM_SCALAR_FLOAT32);
    assert_int_equal(view.stride, 12);
    assert_int_equal(view.vertex_count, 8);
    assert_int_equal(view.face_count, 6);
    for (int i = 0; i < 24; ++i)
        assert_true((double)((const float *)view.positions)[i] == cube[i / 3][i % 3]);
    assert_memory_equal(view.corners, quads, sizeof(quads));
    assert_memory_equal(view.offsets, quad_offsets, sizeof(quad_offsets));
    carom_mesh_origin origin;
    assert_ok(context, carom_mesh_get_origin(mesh, &origin));
    assert_int_equal(origin.format, CAROM_MESH_FORMAT_GUESS);
    carom_context_destroy(context);
    carom_mesh_destroy(mesh); /* outlives its context */
    carom_mesh_destroy(NULL);
}

static void offsets_of_triangles_are_dropped(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    const uint64_t offsets[3] = {0, 3, 6};
    carom_mesh_view given = cube_view(), view;
    given.offsets = offsets;
    given.face_count = 2;
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_create(context, &given, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_null(view.offsets);
    assert_int_equal(view.face_count, 2);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void an_empty_view_is_an_empty_mesh(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view nothing = {0}, view;
    carom_mesh *mesh;
    assert_ok(context, carom_mesh_create(context, &nothing, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.vertex_count, 0);
    assert_int_equal(view.face_count, 0);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

static void unusable_views_are_told_what_is_wrong(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh *mesh = (carom_mesh *)context;
    double positions[8][3];
    uint32_t corners[24];
    uint64_t offsets[7];
    carom_mesh_view view = cube_view();
    view.positions = positions;
    view.corners = corners;
    view.offsets = offsets;
#define FRESH()                                                                                    \
    (memcpy(positions, cube, sizeof(cube)), memcpy(corners, quads, sizeof(quads)),                 \
     memcpy(offsets, quad_offsets, sizeof(offsets)))
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; ++i) {
        FRESH();
        positions[5][i] = bad[i];
        assert_fails(context, carom_mesh_create(context, &view, &mesh), CAROM_BAD_INPUT,
                     "vertex 5 is at (");
        assert_null(mesh);
    }
    FRESH();
    corners[14] = 8;
    assert_fails(context, carom_mesh_create(context, &view, &mesh), CAROM_BAD_INPUT,
                 "face 3 names vertex 8, the mesh has 8");
    corners[14] = UINT32_MAX;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                 "face 3 names vertex 4294967295");
    FRESH();
    offsets[0] = 1;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT, "first offset is 1");
    FRESH();
    offsets[3] = 7;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                 "offsets of face 2 go down from 8 to 7");
    FRESH();
    offsets[2] = 6;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                 "face 1 has 2 corners");
    view.vertex_count = (uint64_t)UINT32_MAX + 1;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_TOO_LARGE, "4294967296 vertices");
    carom_context_destroy(context);
}

static void callers_bugs_reach_the_handler(void **state) {
    (void)state;
    carom_context *context = test_context(1);
    carom_mesh_view view = cube_view(), odd = view;
    carom_mesh *mesh;
    carom_bytes bytes = {0};
    odd.stride = 20;
    test_asserts_begin();
    assert_int_equal(carom_mesh_create(context, &odd, &mesh), CAROM_INVALID);
    odd = view;
    odd.scalar = CAROM_SCALAR_COUNT;
    assert_int_equal(carom_mesh_create(context, &odd, &mesh), CAROM_INVALID);
    odd = view;
    odd.corners = NULL;
    assert_int_equal(carom_mesh_create(context, &odd, &mesh), CAROM_INVALID);
    odd = view;
    odd.positions = NULL;
    assert_int_equal(carom_mesh_create(context, &odd, &mesh), CAROM_INVALID);
    assert_int_equal(carom_mesh_create(context, &view, NULL), CAROM_INVALID);
    assert_int_equal(carom_mesh_create(NULL, &view, &mesh), CAROM_INVALID);
    assert_int_equal(carom_mesh_load(context, NULL, CAROM_MESH_FORMAT_GUESS, &mesh), CAROM_INVALID);
    assert_int_equal(carom_mesh_load(context, "x.obj", CAROM_MESH_FORMAT_GUESS, NULL),
                     CAROM_INVALID);
    assert_int_equal(carom_mesh_load_memory(context, NULL, 5, CAROM_MESH_FORMAT_OBJ, "x", &mesh),
                     CAROM_INVALID);
    assert_int_equal(carom_mesh_load_memory(context, "", 0, CAROM_MESH_FORMAT_COUNT, "x", &mesh),
                     CAROM_INVALID);
    assert_int_equal(carom_mesh_save(context, &view, CAROM_MESH_FORMAT_OBJ, NULL), CAROM_INVALID);
    assert_int_equal(carom_mesh_save_memory(context, &view, CAROM_MESH_FORMAT_GUESS, &bytes),
                     CAROM_INVALID);
    assert_int_equal(carom_mesh_save_memory(context, &view, CAROM_MESH_FORMAT_OBJ, NULL),
                     CAROM_INVALID);
    assert_int_equal(carom_mesh_get_view(NULL, &view), CAROM_INVALID);
    assert_int_equal(carom_mesh_get_origin(NULL, NULL), CAROM_INVALID);
    assert_int_equal(test_asserts_end(), 15);
    carom_context_destroy(context);
}

static carom_status create_once(carom_allocator allocator, void *argument) {
    (void)argument;
    carom_context *context;
    carom_context_def def = {.threads = 1, .allocator = allocator};
    carom_status status = carom_context_create(&def, &context);
    if (status != CAROM_OK) return status;
    carom_mesh_view view = cube_view();
    carom_mesh *mesh;
    status = carom_mesh_create(context, &view, &mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status;
}

static void creating_survives_every_failed_allocation(void **state) {
    (void)state;
    test_allocation_failures(create_once, NULL);
}

static void formats_are_guessed_by_content_and_name(void **state) {
    (void)state;
    static const struct {
        const char *name, *content;
        carom_mesh_format format;
    } cases[] = {
        {"a.obj", NULL, CAROM_MESH_FORMAT_OBJ},
        {"dir.stl/a.OBJ.GZ", NULL, CAROM_MESH_FORMAT_OBJ},
        {"a.Ply", NULL, CAROM_MESH_FORMAT_PLY},
        {"a.stl", NULL, CAROM_MESH_FORMAT_STL},
        {"a.off.gz", NULL, CAROM_MESH_FORMAT_OFF},
        {"a.gltf", NULL, CAROM_MESH_FORMAT_OTHER},
        {"a", NULL, CAROM_MESH_FORMAT_GUESS},
        {"dir.x/a", NULL, CAROM_MESH_FORMAT_GUESS},
        {".obj", NULL, CAROM_MESH_FORMAT_OTHER},
        {NULL, NULL, CAROM_MESH_FORMAT_GUESS},
        {"a.obj", "ply\nformat ascii 1.0\n", CAROM_MESH_FORMAT_PLY},
        {"a.txt", "OFF\n1 2 3\n", CAROM_MESH_FORMAT_OFF},
        {NULL, "STCNOFF 1 2 3\n", CAROM_MESH_FORMAT_OFF},
        {NULL, "OFFICE", CAROM_MESH_FORMAT_GUESS},
        {NULL, "solid x\nfacet normal", CAROM_MESH_FORMAT_STL_ASCII},
        {"a.obj", "solid x\nfacet normal", CAROM_MESH_FORMAT_STL_ASCII},
        {"a.obj", "v 0 0 0\n", CAROM_MESH_FORMAT_OBJ},
        {NULL, "v 0 0 0\n", CAROM_MESH_FORMAT_OBJ},
        {"a", "# x\n\n# y\no box\n", CAROM_MESH_FORMAT_OBJ},
        {NULL, "# only words\n", CAROM_MESH_FORMAT_OBJ},
        {NULL, "# x\nCOFF\n1 2 3\n", CAROM_MESH_FORMAT_OFF},
        {"a.dat", "v 0 0 0\n", CAROM_MESH_FORMAT_OTHER},
        {NULL, "vertex 0 0 0\n", CAROM_MESH_FORMAT_GUESS},
        {NULL, "\n", CAROM_MESH_FORMAT_GUESS},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        uint64_t size = cases[i].content != NULL ? strlen(cases[i].content) : 0;
        carom_mesh_format format = carom_mesh_format_guess(cases[i].name, cases[i].content, size);
        if (format != cases[i].format) fail_msg("case %zu: %s", i, carom_mesh_format_name(format));
    }
    uint8_t binary[84 + 50] = "solid and yet binary";
    binary[80] = 1;
    assert_int_equal(carom_mesh_format_guess("a.obj", binary, sizeof(binary)),
                     CAROM_MESH_FORMAT_STL);
    for (int f = 0; f <= CAROM_MESH_FORMAT_COUNT; ++f)
        assert_true(strlen(carom_mesh_format_name((carom_mesh_format)f)) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mesh_is_a_packed_copy_of_its_view),
        cmocka_unit_test(offsets_of_triangles_are_dropped),
        cmocka_unit_test(an_empty_view_is_an_empty_mesh),
        cmocka_unit_test(unusable_views_are_told_what_is_wrong),
        cmocka_unit_test(callers_bugs_reach_the_handler),
        cmocka_unit_test(creating_survives_every_failed_allocation),
        cmocka_unit_test(formats_are_guessed_by_content_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
