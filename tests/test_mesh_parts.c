/* SPDX-License-Identifier: MIT */
/* Parts with their names, and properties: checked, copied, welded, triangulated, written and read
 * in every format, with hostile names and numbers; and the triangle strips of PLY. Where the shared
 * models are, files that other programs wrote have the names that these programs gave. */
#define _DEFAULT_SOURCE
#include "tests/support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CAROM_HAVE_ZLIB
#define ZLIB_CONST /* what is read is const */
#include <zlib.h>

#include "mesh/mesh_3mf.h"
#endif

TEST_CONTEXT(1)

static carom_mesh *load(const void *bytes, size_t size, carom_mesh_format format,
                        const char *name) {
    carom_mesh *mesh;
    uint8_t *exact = malloc(size != 0 ? size : 1); /* so that a read past the end is seen */
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    assert_ok(context, carom_mesh_load_memory(context, exact, size, format, name, &mesh));
    free(exact);
    return mesh;
}

static carom_mesh *load_text(const char *text, carom_mesh_format format) {
    return load(text, strlen(text), format, "a");
}

static carom_mesh_view view_of(const carom_mesh *mesh) {
    carom_mesh_view view;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_check(context, &view));
    return view;
}

static uint32_t part_of(const carom_mesh_view *view, uint64_t face) {
    return view->parts != NULL ? view->parts[face] : 0;
}

static const char *name_of(const carom_mesh_view *view, uint64_t part) {
    return view->part_names != NULL ? view->part_names[part] : "";
}

/* Asserts the part of each face, given as digits, and the names, each followed by '|'. */
static void assert_parts(const carom_mesh *mesh, const char *digits, const char *names) {
    carom_mesh_view view = view_of(mesh);
    char got[4096] = "", faces[256] = "";
    assert_true(view.face_count < sizeof(faces));
    for (uint64_t f = 0; f < view.face_count; ++f) faces[f] = (char)('0' + part_of(&view, f));
    assert_string_equal(faces, digits);
    for (uint64_t p = 0; p < view.part_count; ++p) {
        strcat(got, name_of(&view, p));
        strcat(got, "|");
    }
    assert_string_equal(got, names);
}

static void assert_text_parts(const char *text, carom_mesh_format format, const char *digits,
                              const char *names) {
    carom_mesh *mesh = load_text(text, format);
    assert_parts(mesh, digits, names);
    carom_mesh_destroy(mesh);
}

/* ---- views ----------------------------------------------------------------------------------- */

static const double points[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
static const uint32_t corners[12] = {0, 1, 2, 0, 1, 3, 0, 3, 2, 1, 4, 2};
static const uint32_t four_parts[4] = {1, 0, 2, 0};
static const char *const three_names[3] = {"left", "", "right \xC3\xA9"};

static carom_mesh_view four_faces(void) {
    return (carom_mesh_view){.positions = points,
                             .vertex_count = 5,
                             .corners = corners,
                             .face_count = 4,
                             .parts = four_parts,
                             .part_names = three_names,
                             .part_count = 3};
}

static void views_with_parts_are_checked(void **state) {
    (void)state;
    carom_mesh_view view = four_faces();
    assert_ok(context, carom_mesh_check(context, &view));
    view.part_names = NULL;
    assert_ok(context, carom_mesh_check(context, &view));
    view.part_count = 2;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                 "face 2 is in part 2, the mesh has 2 parts");
    view.part_count = 0;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                 "face 0 is in part 1, the mesh has 0 parts");
    view.part_count = (uint64_t)CAROM_MESH_MOST_PARTS + 1;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_TOO_LARGE,
                 "16777217 parts, a mesh has at most 16777216");
    const char *const bad[3] = {"a", "b\nc", "d"};
    view = four_faces();
    view.part_names = bad;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                 "the name of part 1 has a control character, 0x0A; replace it by a space");
    /* without faces the part indices are not read */
    view = (carom_mesh_view){.part_names = three_names, .part_count = 3};
    assert_ok(context, carom_mesh_check(context, &view));
}

static void create_weld_and_triangulate_keep_parts(void **state) {
    (void)state;
    carom_mesh_view view = four_faces(), got;
    carom_mesh *mesh, *next;
    assert_ok(context, carom_mesh_create(context, &view, &mesh));
    assert_parts(mesh, "1020", "left||right \xC3\xA9|");
    got = view_of(mesh);
    assert_true(got.parts != four_parts && got.part_names != three_names);
    assert_true(got.part_names[0] != three_names[0]);
    assert_ok(context, carom_mesh_weld(context, &got, &next));
    assert_parts(next, "1020", "left||right \xC3\xA9|");
    carom_mesh_destroy(next);
    assert_ok(context, carom_mesh_triangulate(context, &got, NULL, &next, NULL));
    assert_parts(next, "1020", "left||right \xC3\xA9|");
    carom_mesh_destroy(next);
    carom_mesh_destroy(mesh);

    const uint64_t offsets[3] = {0, 5, 12}; /* polygons of 5 and 7 corners */
    const uint32_t two[2] = {2, 1};
    view.offsets = offsets;
    view.face_count = 2;
    view.parts = two;
    for (int fan = 0; fan < 2; ++fan) {
        carom_mesh_triangulate_def def = {.fan = fan != 0};
        assert_ok(context, carom_mesh_triangulate(context, &view, &def, &next, NULL));
        assert_parts(next, "22211111", "left||right \xC3\xA9|");
        carom_mesh_destroy(next);
    }

    /* parts are dropped where all faces are in part 0, the names stay */
    const uint32_t zeros[4] = {0};
    view = four_faces();
    view.parts = zeros;
    assert_ok(context, carom_mesh_create(context, &view, &mesh));
    got = view_of(mesh);
    assert_null(got.parts);
    assert_int_equal(got.part_count, 3);
    assert_string_equal(got.part_names[0], "left");
    carom_mesh_destroy(mesh);
    view.parts = NULL;
    view.part_names = NULL;
    view.part_count = 0;
    assert_ok(context, carom_mesh_create(context, &view, &mesh));
    got = view_of(mesh);
    assert_true(got.parts == NULL && got.part_names == NULL && got.part_count == 1);
    carom_mesh_destroy(mesh);
}

/* Against the definition: vertices are one when their coordinates and their part are. */
static void welding_by_parts_is_welding_of_each_part(void **state) {
    (void)state;
    enum { VERTICES = 40, FACES = 60, PARTS = 5 };
    carom_context *many = test_context(3);
    for (uint64_t seed = 0; seed < 300; ++seed) {
        carom_random random = {seed};
        float xyz[VERTICES][3];
        uint32_t face[3 * FACES], parts[FACES];
        for (int i = 0; i < 3 * VERTICES; ++i)
            xyz[i / 3][i % 3] = (float)(carom_random_next(&random) % 2) *
                                (carom_random_next(&random) % 2 == 0 ? 1.0f : -1.0f);
        for (int i = 0; i < 3 * FACES; ++i)
            face[i] = (uint32_t)(carom_random_next(&random) % (VERTICES - 3)); /* some unused */
        for (int f = 0; f < FACES; ++f) parts[f] = (uint32_t)(carom_random_next(&random) % PARTS);
        carom_mesh_view view = {.positions = xyz,
                                .scalar = CAROM_SCALAR_FLOAT32,
                                .vertex_count = VERTICES,
                                .corners = face,
                                .face_count = FACES,
                                .parts = parts,
                                .part_count = PARTS};
        carom_mesh *mesh;
        assert_ok(many, carom_mesh_weld_parts(seed % 2 == 0 ? context : many, &view, &mesh));
        carom_mesh_view got = view_of(mesh);
        assert_int_equal(got.face_count, FACES);
        assert_memory_equal(got.parts, parts, sizeof(parts));
        const float *p = got.positions;
        for (int i = 0; i < 3 * FACES; ++i)
            for (int c = 0; c < 3; ++c)
                assert_true(p[3 * got.corners[i] + (uint32_t)c] == xyz[face[i]][c]);
        for (int i = 0; i < 3 * FACES; ++i)
            for (int k = 0; k < i; ++k) {
                bool same = parts[i / 3] == parts[k / 3] && xyz[face[i]][0] == xyz[face[k]][0] &&
                            xyz[face[i]][1] == xyz[face[k]][1] &&
                            xyz[face[i]][2] == xyz[face[k]][2];
                assert_int_equal(got.corners[i] == got.corners[k], same);
            }
        carom_mesh_destroy(mesh);
    }
    /* one part: the same as plain welding */
    carom_mesh_view view = four_faces();
    carom_mesh *a, *b;
    view.parts = NULL;
    assert_ok(context, carom_mesh_weld_parts(context, &view, &a));
    assert_ok(context, carom_mesh_weld(context, &view, &b));
    carom_mesh_view x = view_of(a), y = view_of(b);
    assert_int_equal(x.vertex_count, y.vertex_count);
    assert_memory_equal(x.corners, y.corners, sizeof(corners));
    carom_mesh_destroy(a);
    carom_mesh_destroy(b);
    carom_context_destroy(many);
}

/* ---- readers --------------------------------------------------------------------------------- */

#define V3 "v 0 0 0\nv 1 0 0\nv 0 1 0\n"

static void obj_objects_and_groups_are_parts(void **state) {
    (void)state;
    static const struct {
        const char *text, *digits, *names;
    } cases[] = {
        {V3 "f 1 2 3\n", "0", "|"},
        {V3 "o one\nf 1 2 3\nf 1 2 3\n", "00", "one|"},
        {"o one\n" V3 "f 1 2 3\no two \t\nf 1 2 3\n", "01", "one|two|"},
        {V3 "f 1 2 3\ng a\nf 1 2 3\n", "01", "|a|"},
        {V3 "g a\nf 1 2 3\ng b\nf 1 2 3\ng a\nf 1 2 3\n", "010", "a|b|"},
        {V3 "g none\ng a b\nf 1 2 3\n", "0", "a b|"}, /* no part without faces */
        {V3 "o x\ng a\nf 1 2 3\ng b\nf 1 2 3\no y\nf 1 2 3\ng a\nf 1 2 3\n", "0123",
         "x/a|x/b|y|y/a|"},
        {V3 "o x\ng x\nf 1 2 3\n", "0", "x|"},
        {V3 "g x\no x\nf 1 2 3\n", "0", "x|"},
        {V3 "o\nf 1 2 3\ng\nf 1 2 3\no a\nf 1 2 3", "001", "|a|"},
        {V3 "O a\nf 1 2 3\nG b\nf 1 2 3\n", "01", "a|a/b|"},
        {V3 "o a\\\n b\r\nf 1 2 3\r\n", "0", "a\\  b|"}, /* a name over two lines */
        {V3 "o two words \xE2\x82\xAC # here\nf 1 2 3\n", "0", "two words \xE2\x82\xAC # here|"},
        {V3 "obj a\ngroup b\nf 1 2 3\n", "0", "|"},
        {V3 "o a\nf 1 2\ng b\nf 1 2 3\n", "1", "a|a/b|"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        assert_text_parts(cases[i].text, CAROM_MESH_FORMAT_OBJ, cases[i].digits, cases[i].names);
}

#define FACET "facet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendfacet\n"

static void stl_solids_are_parts(void **state) {
    (void)state;
    assert_text_parts("solid\n" FACET "endsolid\n", CAROM_MESH_FORMAT_STL, "0", "|");
    assert_text_parts("solid a b \n" FACET FACET "endsolid a b\n", CAROM_MESH_FORMAT_STL, "00",
                      "a b|");
    assert_text_parts("solid a\n" FACET "endsolid\nsolid a\n" FACET "endsolid\nsolid\n" FACET
                      "endsolid\n",
                      CAROM_MESH_FORMAT_STL, "012", "a|a||");
    assert_text_parts("solid empty\nendsolid\nsolid full\r\n" FACET "endsolid full", /* no part */
                      CAROM_MESH_FORMAT_STL, "0", "full|");
    assert_text_parts("solid \xFF\xFE\n" FACET "end solid\n", CAROM_MESH_FORMAT_STL, "0",
                      "\xFF\xFE|");
}

#define PLY_XYZ    "element vertex 3\nproperty char x\nproperty char y\nproperty char z\n" PLY_FACE
#define PLY_FACE   "element face "
#define PLY_LIST   "\nproperty list uchar int vertex_indices\n"
#define PLY_POINTS "end_header\n0 0 0\n1 0 0\n0 1 0\n"

static void ply_parts_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *digits, *names;
    } cases[] = {
        {"ply\nformat ascii 1.0\n" PLY_XYZ "3" PLY_LIST "property int part\n" PLY_POINTS
         "3 0 1 2 1\n3 0 1 2 0\n3 0 1 2 1\n",
         "101", "||"},
        {"ply\nformat ascii 1.0\ncomment part 1  two words \n" PLY_XYZ
         "2\nproperty uchar part" PLY_LIST PLY_POINTS "0 3 0 1 2\n1 3 0 1 2\n",
         "01", "| two words |"},
        {"ply\nformat ascii 1.0\ncomment part 0 a\ncomment part 2\ncomment part 0 again\n" PLY_XYZ
         "1" PLY_LIST "property uint part\n" PLY_POINTS "3 0 1 2 3\n",
         "3", "a||||"},
        /* comments are never errors */
        {"ply\nformat ascii 1.0\ncomment part 99 of the files\ncomment part x\ncomment "
         "parts\ncomment part\n" PLY_XYZ "1" PLY_LIST PLY_POINTS "3 0 1 2\n",
         "0", "|"},
        {"ply\r\nformat ascii 1.0\r\ncomment part 0 name\r\n" PLY_XYZ "1" PLY_LIST PLY_POINTS
         "3 0 1 2\n",
         "0", "name|"},
        /* a float is no number of a part */
        {"ply\nformat ascii 1.0\n" PLY_XYZ "1" PLY_LIST "property float part\n" PLY_POINTS
         "3 0 1 2 0.5\n",
         "0", "|"},
        /* nor is a scalar a list of corners */
        {"ply\nformat ascii 1.0\n" PLY_XYZ "1" PLY_LIST
         "property int vertex_index\nproperty int Vertex_Indices\n" PLY_POINTS "3 0 1 2 0 7\n",
         "0", "|"},
        /* parts of faces that are left out do not count */
        {"ply\nformat ascii 1.0\n" PLY_XYZ "2" PLY_LIST "property int part\n" PLY_POINTS
         "2 0 1 1\n3 0 1 2 0\n",
         "0", "|"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i)
        assert_text_parts(cases[i].text, CAROM_MESH_FORMAT_PLY, cases[i].digits, cases[i].names);
}

static void bad_parts_get_a_message(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"ply\nformat ascii 1.0\n" PLY_XYZ "1" PLY_LIST "property int part\n" PLY_POINTS
         "3 0 1 2 1\n",
         "a: line 14: face 0 is in part 1, more than the file has faces and named parts; number "
         "them from 0"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "1" PLY_LIST "property int part\n" PLY_POINTS
         "3 0 1 2 -1\n",
         "a: line 14: face 0: \"-1\" stands where the number of a part should"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "1" PLY_LIST "property int part\n" PLY_POINTS
         "3 0 1 2\n",
         "a: line 14: face 0: the end of the line stands where the number of a part should"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "1" PLY_LIST
         "property int part\nproperty int part\n" PLY_POINTS,
         "a: line 10: element face has this property twice"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "1" PLY_LIST
         "element tristrips 1\nproperty list int int vertex_indices\n" PLY_POINTS,
         "a: line 12: the file has both faces and triangle strips; save it with faces alone"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "0\nelement tristrips 1\nproperty list int char "
         "vertex_indices\n",
         "a: line 9: corners of triangle strips need two bytes or more"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "0\nelement tristrips 1\nproperty int a\n" PLY_POINTS,
         "a: line 11: element tristrips lacks the list vertex_indices"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "0\nelement tristrips 1\nproperty list int int "
         "vertex_indices\n" PLY_POINTS "4 0 1 2 3\n",
         "a: line 14: tristrips 0 names vertex 3, the file has 3"},
        {"ply\nformat ascii 1.0\n" PLY_XYZ "0\nelement tristrips 1\nproperty list int int "
         "vertex_indices\n" PLY_POINTS "4 0 1 2 -2\n",
         "a: line 14: tristrips 0: \"-2\" stands where a vertex number or -1 should"},
    };
    carom_mesh *mesh;
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        assert_fails(context,
                     carom_mesh_load_memory(context, cases[i].text, strlen(cases[i].text),
                                            CAROM_MESH_FORMAT_PLY, "a", &mesh),
                     CAROM_BAD_FILE, cases[i].message);
        assert_null(mesh);
    }
    static const char binary[] = "ply\nformat binary_little_endian 1.0\n" PLY_XYZ "1\nproperty list"
                                 " uchar uchar vertex_indices\nproperty char part\nend_header\n"
                                 "\0\0\0\1\0\0\0\1\0\3\0\1\2\377";
    assert_fails(context,
                 carom_mesh_load_memory(context, binary, sizeof(binary) - 1, CAROM_MESH_FORMAT_PLY,
                                        "a", &mesh),
                 CAROM_BAD_FILE,
                 "a: face 0 is in part -1, which is negative or more than the file has faces and "
                 "named parts; number them from 0");
}

/* ---- triangle strips ------------------------------------------------------------------------- */

static void assert_corners(const carom_mesh *mesh, uint64_t skipped, const uint32_t *expected,
                           uint64_t count) {
    carom_mesh_view view = view_of(mesh);
    carom_mesh_origin origin;
    assert_ok(context, carom_mesh_get_origin(mesh, &origin));
    assert_int_equal(origin.skipped_faces, skipped);
    assert_int_equal(3 * view.face_count, count);
    assert_null(view.offsets);
    assert_memory_equal(view.corners, expected, count * sizeof(*expected));
}

static void triangle_strips_become_triangles(void **state) {
    (void)state;
    static const uint32_t expected[] = {0, 1, 2, 2, 1, 3, 2, 3, 4, 4, 3, 0, 1, 3, 0};
    static const char header[] = "element vertex 5\nproperty char x\nproperty char y\n"
                                 "property char z\nelement tristrips 2\n"
                                 "property list uchar short vertex_indices\nend_header\n";
    static const int16_t first[] = {0, 1, 2, 3, 4, 0, -1, 4, 1, -1, -1}, second[] = {1, 3, 0};
    char text[1024];
    char *at = text + sprintf(text, "ply\nformat ascii 1.0\n%s", header);
    for (int i = 0; i < 5; ++i) at += sprintf(at, "%d 0 0\n", i);
    at += sprintf(at, "%d", (int)COUNT_OF(first));
    for (size_t i = 0; i < COUNT_OF(first); ++i) at += sprintf(at, " %d", first[i]);
    at += sprintf(at, "\n3 1 3 0\n");
    carom_mesh *mesh = load(text, (size_t)(at - text), CAROM_MESH_FORMAT_PLY, "a");
    assert_corners(mesh, 0, expected, COUNT_OF(expected));
    carom_mesh_destroy(mesh);
    for (int big = 0; big < 2; ++big) {
        at = text +
             sprintf(text, "ply\nformat binary_%s_endian 1.0\n%s", big ? "big" : "little", header);
        for (int i = 0; i < 15; ++i) *at++ = (char)i;
        for (int list = 0; list < 2; ++list) {
            const int16_t *values = list == 0 ? first : second;
            size_t count = list == 0 ? COUNT_OF(first) : COUNT_OF(second);
            *at++ = (char)count;
            for (size_t i = 0; i < count; ++i) {
                uint16_t bits = (uint16_t)values[i];
                *at++ = (char)(big ? bits >> 8 : bits & 0xFF);
                *at++ = (char)(big ? bits & 0xFF : bits >> 8);
            }
        }
        mesh = load(text, (size_t)(at - text), CAROM_MESH_FORMAT_PLY, "a");
        assert_corners(mesh, 0, expected, COUNT_OF(expected));
        carom_mesh_destroy(mesh);
    }
    /* a corner given twice turns the strip, and is no triangle */
    static const uint32_t turned[] = {0, 1, 2, 2, 1, 3};
    mesh = load_text("ply\nformat ascii 1.0\nelement vertex 4\nproperty int x\nproperty int y\n"
                     "property int z\nelement tristrips 1\nproperty list int int vertex_index\n"
                     "end_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n6 0 1 2 2 1 3\n",
                     CAROM_MESH_FORMAT_PLY);
    carom_mesh_view view = view_of(mesh);
    assert_int_equal(view.face_count, 2);
    assert_memory_equal(view.corners, turned, 3 * sizeof(uint32_t));
    carom_mesh_destroy(mesh);
}

/* ---- round trips ----------------------------------------------------------------------------- */

static const carom_mesh_format keeping[] = {
    CAROM_MESH_FORMAT_PLY, CAROM_MESH_FORMAT_PLY_BIG,   CAROM_MESH_FORMAT_PLY_ASCII,
    CAROM_MESH_FORMAT_OBJ, CAROM_MESH_FORMAT_STL_ASCII,
};

static void assert_same_parts(const carom_mesh_view *a, const carom_mesh_view *b) {
    assert_int_equal(a->face_count, b->face_count);
    assert_int_equal(a->part_count, b->part_count);
    for (uint64_t f = 0; f < a->face_count; ++f) assert_int_equal(part_of(a, f), part_of(b, f));
    for (uint64_t p = 0; p < a->part_count; ++p) assert_string_equal(name_of(a, p), name_of(b, p));
}

static carom_mesh *write_and_read(const carom_mesh_view *view, carom_mesh_format format) {
    carom_bytes bytes = {0};
    assert_ok(context, carom_mesh_save_memory(context, view, format, &bytes));
    carom_mesh *mesh = load(bytes.data, bytes.count, format, "written");
    carom_bytes_free(&bytes);
    return mesh;
}

/* Parts in the order of their faces, with different names. */
static void every_format_with_parts_reads_back_what_it_wrote(void **state) {
    (void)state;
    static char longest[10001];
    memset(longest, 'x', sizeof(longest) - 1);
    const char *const names[] = {"plain",   "two words",      "\xE2\x82\xAC \xF0\x9F\x94\xA9",
                                 "a/b\\c",  "ends in \\",     "# hash",
                                 "part 3",  "end_header",     "\"quoted\" 'twice'",
                                 "a,b;c=d", longest,          "\xC3(\xFF not UTF-8",
                                 "o",       "facet endsolid", "0"};
    enum { PARTS = COUNT_OF(names) };
    uint32_t face[6 * PARTS], parts[2 * PARTS];
    for (uint32_t f = 0; f < 2 * PARTS; ++f) {
        parts[f] = f / 2;
        for (uint32_t c = 0; c < 3; ++c) face[3 * f + c] = (f + c) % 5;
    }
    carom_mesh_view view = {.positions = points,
                            .vertex_count = 5,
                            .corners = face,
                            .face_count = (uint64_t)2 * PARTS,
                            .parts = parts,
                            .part_names = names,
                            .part_count = PARTS};
    for (size_t i = 0; i < COUNT_OF(keeping); ++i) {
        carom_mesh *mesh = write_and_read(&view, keeping[i]);
        carom_mesh_view got = view_of(mesh);
        assert_same_parts(&view, &got);
        carom_mesh_destroy(mesh);
    }
    /* one part with a name */
    view.parts = NULL;
    view.part_count = 1;
    for (size_t i = 0; i < COUNT_OF(keeping); ++i) {
        carom_mesh *mesh = write_and_read(&view, keeping[i]);
        carom_mesh_view got = view_of(mesh);
        assert_null(got.parts);
        assert_same_parts(&view, &got);
        carom_mesh_destroy(mesh);
    }
}

/* PLY holds everything: any order, parts without faces, names that repeat, are empty or begin and
 * end with blanks. OBJ keeps which faces belong together. */
static void any_parts_are_kept(void **state) {
    (void)state;
    static const char *const names[] = {"", " a ", "a", "a", "  ", "", "a_3", "part_0"};
    enum { FACES = 30, PARTS = COUNT_OF(names) };
    for (uint64_t seed = 0; seed < 200; ++seed) {
        carom_random random = {seed};
        uint32_t face[3 * FACES], parts[FACES];
        for (uint32_t f = 0; f < FACES; ++f) {
            parts[f] = (uint32_t)(carom_random_next(&random) % (1 + seed % PARTS));
            for (uint32_t c = 0; c < 3; ++c) face[3 * f + c] = (f + c) % 5;
        }
        carom_mesh_view view = {.positions = points,
                                .vertex_count = 5,
                                .corners = face,
                                .face_count = FACES,
                                .parts = parts,
                                .part_names = names,
                                .part_count = PARTS};
        for (size_t i = 0; i < 3; ++i) {
            carom_mesh *mesh = write_and_read(&view, keeping[i]);
            carom_mesh_view got = view_of(mesh);
            assert_same_parts(&view, &got);
            carom_mesh_destroy(mesh);
        }
        carom_mesh *mesh = write_and_read(&view, CAROM_MESH_FORMAT_OBJ);
        carom_mesh_view got = view_of(mesh);
        for (uint32_t f = 0; f < FACES; ++f)
            for (uint32_t g = 0; g < f; ++g)
                assert_int_equal(part_of(&got, f) == part_of(&got, g), parts[f] == parts[g]);
        carom_mesh_destroy(mesh);
        mesh = write_and_read(&view, CAROM_MESH_FORMAT_STL_ASCII);
        got = view_of(mesh);
        for (uint32_t f = 0; f < FACES; ++f)
            if (f > 0)
                assert_int_equal(part_of(&got, f) - part_of(&got, f - 1), parts[f] != parts[f - 1]);
        carom_mesh_destroy(mesh);
        view.part_names = NULL; /* numbers alone */
        view.part_count = 0;
        for (uint32_t f = 0; f < FACES; ++f)
            if (parts[f] >= view.part_count) view.part_count = parts[f] + 1;
        for (size_t i = 0; i < 3; ++i) {
            mesh = write_and_read(&view, keeping[i]);
            got = view_of(mesh);
            assert_same_parts(&view, &got);
            assert_null(got.part_names);
            carom_mesh_destroy(mesh);
        }
    }
    const uint32_t far_parts[] = {9, 2, 9, 40}; /* more parts than faces, none with a name */
    carom_mesh_view view = four_faces();
    view.parts = far_parts;
    view.part_names = NULL;
    view.part_count = 41;
    for (size_t i = 0; i < 3; ++i) {
        carom_mesh *mesh = write_and_read(&view, keeping[i]);
        carom_mesh_view got = view_of(mesh);
        assert_same_parts(&view, &got);
        carom_mesh_destroy(mesh);
    }
    view = four_faces(); /* formats without parts */
    carom_mesh *mesh = write_and_read(&view, CAROM_MESH_FORMAT_OFF);
    assert_parts(mesh, "0000", "|");
    carom_mesh_destroy(mesh);
    mesh = write_and_read(&view, CAROM_MESH_FORMAT_STL);
    assert_parts(mesh, "0000", "|");
    carom_mesh_destroy(mesh);
}

static void a_hundred_thousand_parts_are_kept(void **state) {
    (void)state;
    enum { PARTS = 100000 };
    uint32_t *face = malloc(3 * PARTS * sizeof(*face)), *parts = malloc(PARTS * sizeof(*parts));
    char(*text)[16] = malloc(PARTS * sizeof(*text));
    const char **names = malloc(PARTS * sizeof(*names));
    assert_true(face != NULL && parts != NULL && text != NULL && names != NULL);
    for (uint32_t p = 0; p < PARTS; ++p) {
        parts[p] = p;
        snprintf(text[p], sizeof(text[p]), "bolt %u", p);
        names[p] = text[p];
        for (uint32_t c = 0; c < 3; ++c) face[3 * p + c] = c;
    }
    carom_mesh_view view = {.positions = points,
                            .vertex_count = 5,
                            .corners = face,
                            .face_count = PARTS,
                            .parts = parts,
                            .part_names = names,
                            .part_count = PARTS};
    for (size_t i = 0; i < COUNT_OF(keeping); ++i) {
        carom_mesh *mesh = write_and_read(&view, keeping[i]);
        carom_mesh_view got = view_of(mesh);
        assert_same_parts(&view, &got);
        carom_mesh_destroy(mesh);
    }
    for (uint32_t p = 0; p < PARTS; ++p) names[p] = ""; /* OBJ must tell them apart by number */
    carom_mesh *mesh = write_and_read(&view, CAROM_MESH_FORMAT_OBJ);
    carom_mesh_view got = view_of(mesh);
    assert_int_equal(got.part_count, PARTS);
    assert_string_equal(got.part_names[7], "part_7");
    carom_mesh_destroy(mesh);
    free(face);
    free(parts);
    free(text);
    free(names);
}

/* ---- properties ------------------------------------------------------------------------------ */

static const float radii[5] = {0.5f, -0.0f, 1e-40f, INFINITY, 3e38f};
static const uint8_t red[5] = {0, 1, 127, 128, 255};
static const double heat[4] = {0.1, -1.7976931348623157e308, 5e-324, NAN};
static const int32_t id[4] = {0, -1, INT32_MAX, INT32_MIN};
static const uint32_t key[4] = {0, 1, UINT32_MAX, 7};
static const int16_t turn[4] = {-32768, 32767, 0, 1};
static const uint16_t count[5] = {65535, 0, 1, 2, 3};
static const int8_t step[5] = {-128, 127, 0, 1, -1};
static const carom_mesh_property all_types[] = {
    {"radius", false, CAROM_MESH_PROPERTY_TYPE_FLOAT32, radii},
    {"red", false, CAROM_MESH_PROPERTY_TYPE_UINT8, red},
    {"heat", true, CAROM_MESH_PROPERTY_TYPE_FLOAT64, heat},
    {"id", true, CAROM_MESH_PROPERTY_TYPE_INT32, id},
    {"key", true, CAROM_MESH_PROPERTY_TYPE_UINT32, key},
    {"turn", true, CAROM_MESH_PROPERTY_TYPE_INT16, turn},
    {"count", false, CAROM_MESH_PROPERTY_TYPE_UINT16, count},
    {"step", false, CAROM_MESH_PROPERTY_TYPE_INT8, step},
};

static carom_mesh_view with_properties(void) {
    carom_mesh_view view = four_faces();
    view.properties = all_types;
    view.property_count = COUNT_OF(all_types);
    return view;
}

static const carom_mesh_property *find_property(const carom_mesh_view *view, const char *name) {
    for (uint64_t i = 0; i < view->property_count; ++i)
        if (strcmp(view->properties[i].name, name) == 0) return &view->properties[i];
    fail_msg("no property %s", name);
    return NULL;
}

static size_t size_of(carom_mesh_property_type type) {
    static const size_t sizes[] = {8, 4, 1, 1, 2, 2, 4, 4};
    return sizes[type];
}

/* Value `to` of the second is value `from` of the first. */
static void assert_value(const carom_mesh_property *a, uint64_t from, const carom_mesh_property *b,
                         uint64_t to) {
    size_t size = size_of(a->type);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->of_faces, b->of_faces);
    assert_memory_equal((const char *)a->values + from * size, (const char *)b->values + to * size,
                        size);
}

static void properties_are_kept(void **state) {
    (void)state;
    carom_mesh_view view = with_properties(), got;
    carom_mesh *mesh;
    for (int k = 0; k < 4; ++k) { /* PLY in three variants, and copying */
        if (k == 3)
            assert_ok(context, carom_mesh_create(context, &view, &mesh));
        else
            mesh = write_and_read(&view, keeping[k]);
        got = view_of(mesh);
        assert_int_equal(got.property_count, COUNT_OF(all_types));
        for (size_t i = 0; i < COUNT_OF(all_types); ++i)
            for (uint64_t v = 0; v < (all_types[i].of_faces ? 4u : 5u); ++v) {
                const carom_mesh_property *p = find_property(&got, all_types[i].name);
                if (all_types[i].values == heat && v == 3) /* a NaN is one, whatever its bits */
                    assert_true(isnan(((const double *)p->values)[3]));
                else
                    assert_value(&all_types[i], v, p, v);
            }
        assert_parts(mesh, "1020", "left||right \xC3\xA9|");
        carom_mesh_destroy(mesh);
    }
    mesh = write_and_read(&view, CAROM_MESH_FORMAT_OBJ); /* which does not hold them */
    assert_int_equal(view_of(mesh).property_count, 0);
    carom_mesh_destroy(mesh);

    const uint64_t offsets[4] = {0, 5, 8, 12}; /* two of the triangles come from the third face */
    view.offsets = offsets;
    view.face_count = 3;
    assert_ok(context, carom_mesh_triangulate(context, &view, NULL, &mesh, NULL));
    got = view_of(mesh);
    static const uint64_t from[] = {0, 0, 0, 1, 2, 2};
    assert_int_equal(got.face_count, 6);
    for (uint64_t f = 0; f < 6; ++f)
        assert_value(&all_types[3], from[f], find_property(&got, "id"), f);
    assert_value(&all_types[0], 4, find_property(&got, "radius"), 4);
    carom_mesh_destroy(mesh);
}

/* Each vertex gets the values of the first of those that it was made of; copies for parts those of
 * their vertex. */
static void welding_keeps_properties(void **state) {
    (void)state;
    enum { VERTICES = 30, FACES = 40 };
    for (uint64_t seed = 0; seed < 100; ++seed) {
        carom_random random = {seed};
        double xyz[VERTICES][3];
        uint32_t face[3 * FACES], parts[FACES], number[VERTICES];
        for (uint32_t i = 0; i < VERTICES; ++i) {
            for (int c = 0; c < 3; ++c) xyz[i][c] = (double)(carom_random_next(&random) % 2);
            number[i] = i;
        }
        for (int i = 0; i < 3 * FACES; ++i)
            face[i] = (uint32_t)(carom_random_next(&random) % VERTICES);
        for (int f = 0; f < FACES; ++f) parts[f] = (uint32_t)(carom_random_next(&random) % 3);
        const carom_mesh_property property = {"n", false, CAROM_MESH_PROPERTY_TYPE_UINT32, number};
        carom_mesh_view view = {.positions = xyz,
                                .vertex_count = VERTICES,
                                .corners = face,
                                .face_count = FACES,
                                .parts = parts,
                                .part_count = 3,
                                .properties = &property,
                                .property_count = 1};
        for (int by_part = 0; by_part < 2; ++by_part) {
            carom_mesh *mesh;
            assert_ok(context, by_part ? carom_mesh_weld_parts(context, &view, &mesh)
                                       : carom_mesh_weld(context, &view, &mesh));
            carom_mesh_view got = view_of(mesh);
            const uint32_t *n = find_property(&got, "n")->values;
            const double *p = got.positions;
            for (uint64_t v = 0; v < got.vertex_count; ++v) {
                assert_memory_equal(p + 3 * v, xyz[n[v]], sizeof(xyz[0]));
                for (uint32_t i = 0; i < n[v] && !by_part; ++i)
                    assert_memory_not_equal(xyz[i], xyz[n[v]], sizeof(xyz[0]));
            }
            carom_mesh_destroy(mesh);
        }
    }
}

static void properties_of_text_are_held_by_their_type(void **state) {
    (void)state;
    carom_mesh *mesh = load_text(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty uchar red\nproperty float x\nproperty "
        "float y\nproperty float z\nproperty uchar green\nproperty float w\nproperty list uchar "
        "int ring\nproperty int word\nproperty float huge\nelement face 2\nproperty int "
        "id" PLY_LIST "end_header\n255 0 0 0 256 NaN 1 7 x 1e39\n0.0 1 0 0 0 -inf 0 1 1\n"
        "1 0 1 0 0 1e-46 0 1 1\n-5 2 0 1\n-6 3 0 1 2\n",
        CAROM_MESH_FORMAT_PLY);
    carom_mesh_view view = view_of(mesh);
    assert_int_equal(view.property_count, 3); /* not green, word and huge; and no list */
    const uint8_t *r = find_property(&view, "red")->values;
    const float *w = find_property(&view, "w")->values;
    const int32_t *i = find_property(&view, "id")->values;
    assert_true(r[0] == 255 && r[1] == 0 && r[2] == 1);
    assert_true(isnan(w[0]) && w[1] == -INFINITY && w[2] == 0.0f);
    assert_int_equal(i[0], -6); /* the face of two corners is left out with its values */
    carom_mesh_destroy(mesh);
}

static void views_with_properties_are_checked(void **state) {
    (void)state;
    static const char *const bad[] = {"", "two words", "x", "Y", "\xC3\xA9", "a\n"};
    static const char *const good[] = {"part", "vertex_index", "xx", "_"};
    for (size_t i = 0; i < COUNT_OF(bad) + COUNT_OF(good); ++i) {
        bool is_good = i >= COUNT_OF(bad);
        carom_mesh_property property = {is_good ? good[i - COUNT_OF(bad)] : bad[i], false,
                                        CAROM_MESH_PROPERTY_TYPE_FLOAT32, radii};
        carom_mesh_view view = four_faces();
        view.properties = &property;
        view.property_count = 1;
        if (is_good)
            assert_ok(context, carom_mesh_check(context, &view));
        else
            assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                         "the name of property 0 is ");
    }
    carom_mesh_property property = {"part", true, CAROM_MESH_PROPERTY_TYPE_FLOAT64, heat};
    carom_mesh_view view = four_faces();
    view.properties = &property;
    view.property_count = 1;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_BAD_INPUT,
                 "the name of property 0 is used by PLY itself; take another word");
    view.property_count = 501;
    assert_fails(context, carom_mesh_check(context, &view), CAROM_TOO_LARGE,
                 "501 properties, a mesh has at most 500");
}

/* ---- memory ---------------------------------------------------------------------------------- */

static carom_status with_failures(carom_allocator allocator, void *argument) {
    (void)argument;
    carom_context *own;
    carom_mesh *mesh = NULL, *next = NULL;
    carom_bytes bytes = {0};
    carom_mesh_view view = with_properties();
    carom_context_def def = {.threads = 1, .allocator = allocator};
    carom_status status = carom_context_create(&def, &own);
    if (status != CAROM_OK) return status;
    for (size_t i = 0; i < COUNT_OF(keeping) && status == CAROM_OK; ++i) {
        status = carom_mesh_save_memory(own, &view, keeping[i], &bytes);
        if (status == CAROM_OK)
            status = carom_mesh_load_memory(own, bytes.data, bytes.count, keeping[i], "a", &mesh);
        carom_mesh_destroy(mesh);
        mesh = NULL;
    }
    if (status == CAROM_OK) status = carom_mesh_create(own, &view, &mesh);
    if (status == CAROM_OK) status = carom_mesh_weld_parts(own, &view, &next);
    carom_mesh_destroy(next);
    next = NULL;
    if (status == CAROM_OK) status = carom_mesh_triangulate(own, &view, NULL, &next, NULL);
    carom_mesh_destroy(next);
    carom_mesh_destroy(mesh);
    carom_bytes_free(&bytes);
    carom_context_destroy(own);
    return status;
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    test_allocation_failures(with_failures, NULL);
}

typedef struct meter {
    uint64_t now, peak;
} meter;

static void *meter_allocate(void *user, size_t size, size_t alignment) {
    meter *m = user;
    (void)alignment;
    uint64_t *block = aligned_alloc(64, (size + 127) / 64 * 64);
    if (block == NULL) return NULL;
    block[0] = size;
    m->now += size;
    if (m->now > m->peak) m->peak = m->now;
    return block + 8;
}

static void meter_release(void *user, void *pointer) {
    uint64_t *block = (uint64_t *)pointer - 8;
    ((meter *)user)->now -= block[0];
    free(block);
}

static double measure(const char *text, size_t size, carom_mesh_format format) {
    meter m = {0};
    carom_context *own;
    carom_mesh *mesh;
    carom_context_def def = {.threads = 1, .allocator = {meter_allocate, meter_release, &m}};
    assert_ok(NULL, carom_context_create(&def, &own));
    uint64_t before = m.peak = m.now;
    assert_ok(own, carom_mesh_load_memory(own, text, size, format, "hungry", &mesh));
    double ratio = (double)(m.peak - before) / (double)size;
    assert_true(m.peak - before <= 16 * size + (128 << 10));
    carom_mesh_destroy(mesh);
    carom_context_destroy(own);
    return ratio;
}

/* The fewest bytes for each part, name and triangle. */
static void memory_stays_below_sixteen_times_the_file(void **state) {
    (void)state;
    size_t room = (size_t)4 << 20;
    char *text = malloc(room);
    double worst = 0.0;
    assert_non_null(text);
    for (int n = 20000; n <= 60000; n += 5000) {
        char *at = text + sprintf(text, "v 0 0 0\n"); /* a group per face, all different */
        for (int i = 0; i < n; ++i)
            at += sprintf(at, "g %c%c%c\nf 1 1 1\n", 33 + i % 90, 33 + i / 90 % 90, 33 + i / 8100);
        worst = fmax(worst, measure(text, (size_t)(at - text), CAROM_MESH_FORMAT_OBJ));
        at = text;
        for (int i = 0; i < n; ++i)
            at += sprintf(at, "solid\nfacet\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nendfacet\n"
                              "endsolid\n");
        worst = fmax(worst, measure(text, (size_t)(at - text), CAROM_MESH_FORMAT_STL));
        /* faces of two bytes that are left out, and one in the last part that they allow */
        for (int named = 0; named < 2; ++named) {
            at = text + sprintf(text,
                                "ply\nformat binary_little_endian 1.0\n%selement vertex 0\n"
                                "property char x\nproperty char y\nproperty char z\n"
                                "element face %d\nproperty list uchar ushort vertex_indices\n"
                                "property uchar part\nend_header\n",
                                named ? "comment part 9999 x\n" : "", n);
            memset(at, 0, (size_t)(2 * n));
            worst = fmax(
                worst, measure(text, (size_t)(at - text) + (size_t)(2 * n), CAROM_MESH_FORMAT_PLY));
        }
        at = text + sprintf(text,
                            "ply\nformat binary_little_endian 1.0\nelement vertex 1\n"
                            "property char x\nproperty char y\nproperty char z\n"
                            "element face %d\nproperty list uchar uchar vertex_indices\n"
                            "property uchar part\nend_header\n",
                            n);
        memset(at, 0, 3);
        at += 3;
        for (int i = 0; i < n; ++i, at += 6) memcpy(at, "\4\0\0\0\0\1", 6);
        worst = fmax(worst, measure(text, (size_t)(at - text), CAROM_MESH_FORMAT_PLY));
        at = text + sprintf(text,
                            "ply\nformat binary_little_endian 1.0\nelement vertex 3\n"
                            "property char x\nproperty char y\nproperty char z\n"
                            "element tristrips %d\nproperty list uchar short vertex_indices\n"
                            "end_header\n",
                            n / 8);
        memset(at, 0, 9);
        at += 9;
        for (int i = 0; i < n / 8; ++i) {
            *at++ = 32;
            for (int c = 0; c < 32; ++c) {
                *at++ = (char)(c % 3);
                *at++ = 0;
            }
        }
        worst = fmax(worst, measure(text, (size_t)(at - text), CAROM_MESH_FORMAT_PLY));
    }
    print_message("at most %.1f times the file\n", worst);
    free(text);
}

/* ---- formats read by assimp ------------------------------------------------------------------ */

#if defined(CAROM_HAVE_ASSIMP) && defined(CAROM_HAVE_ZLIB)

static uint8_t *put16(uint8_t *to, uint32_t value) {
    *to++ = (uint8_t)value;
    *to++ = (uint8_t)(value >> 8);
    return to;
}

static uint8_t *put32(uint8_t *to, uint32_t value) {
    return put16(put16(to, value & 0xFFFF), value >> 16);
}

typedef struct archive {
    uint8_t bytes[8192], directory[2048];
    size_t size, directory_size;
    uint32_t count;
} archive;

static void add_file(archive *a, const char *name, const char *text, bool packed) {
    uint8_t data[4096];
    uint32_t size = (uint32_t)strlen(text), used = size, length = (uint32_t)strlen(name);
    uint32_t checksum = (uint32_t)crc32(0, (const Bytef *)text, size);
    memcpy(data, text, size);
    if (packed) {
        z_stream stream = {0};
        assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
        stream.next_in = (const Bytef *)text;
        stream.avail_in = size;
        stream.next_out = data;
        stream.avail_out = sizeof(data);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        used = (uint32_t)stream.total_out;
        assert_int_equal(deflateEnd(&stream), Z_OK);
    }
    uint32_t begin = (uint32_t)a->size;
    uint8_t common[26], *to = put16(put16(common, 20), 0); /* version, flags */
    to = put32(put16(to, packed ? 8 : 0), 0);              /* method, time */
    to = put32(put32(put32(to, checksum), used), size);
    to = put16(put16(to, length), 0);
    uint8_t *at = put32(a->bytes + a->size, 0x04034B50);
    memcpy(at, common, 26);
    memcpy(at + 26, name, length);
    memcpy(at + 26 + length, data, used);
    a->size += 30 + length + used;
    at = put16(put32(a->directory + a->directory_size, 0x02014B50), 20);
    memcpy(at, common, 26);
    memset(at + 26, 0, 10);
    at = put32(at + 36, begin);
    memcpy(at, name, length);
    a->directory_size += 46 + length;
    ++a->count;
}

static void end_archive(archive *a) {
    uint32_t begin = (uint32_t)a->size;
    memcpy(a->bytes + begin, a->directory, a->directory_size);
    uint8_t *to = put32(put32(a->bytes + begin + a->directory_size, 0x06054B50), 0);
    to = put16(put16(to, a->count), a->count);
    to = put16(put32(put32(to, (uint32_t)a->directory_size), begin), 0);
    a->size = (size_t)(to - a->bytes);
}

#define TETRAHEDRON                                                                                \
    "<mesh><vertices><vertex x=\"0\" y=\"0\" z=\"0\"/><vertex x=\"1\" y=\"0\" z=\"0\"/>"           \
    "<vertex x=\"0\" y=\"1\" z=\"0\"/><vertex x=\"0\" y=\"0\" z=\"1\"/></vertices><triangles>"     \
    "<triangle v1=\"0\" v2=\"2\" v3=\"1\"/><triangle v1=\"0\" v2=\"1\" v3=\"3\"/></triangles>"     \
    "</mesh>"

static void make_3mf(archive *a, const char *unit, bool packed) {
    char model[4096];
    *a = (archive){.count = 0};
    snprintf(model, sizeof(model),
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- <object id=\"1\" name=\"no\"/> -->"
             "<model %s xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\">"
             "<resources><object id=\"1\" name='bolt &amp; nut &#x20AC;'>" TETRAHEDRON "</object>"
             "<object id=\"2\" name=\"pair\"><components><component objectid=\"1\"/>"
             "<component objectid=\"1\" transform=\"1 0 0 0 1 0 0 0 1 10 0 0\"/></components>"
             "</object><object id=\"7\">" TETRAHEDRON "</object></resources><build>"
             "<item objectid=\"2\" transform=\"1 0 0 0 1 0 0 0 1 0 5 0\"/>"
             "<item objectid=\"7\"/></build></model>",
             unit);
    add_file(a, "[Content_Types].xml",
             "<?xml version=\"1.0\"?><Types "
             "xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
             "<Default Extension=\"rels\" "
             "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
             "<Default Extension=\"model\" "
             "ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/></Types>",
             packed);
    add_file(a, "_rels/.rels",
             "<?xml version=\"1.0\"?><Relationships "
             "xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
             "<Relationship Target=\"/3D/3dmodel.model\" Id=\"rel0\" "
             "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/>"
             "</Relationships>",
             packed);
    add_file(a, "3D/3dmodel.model", model, packed);
    end_archive(a);
}

static void names_and_unit_of_3mf_are_read(void **state) {
    (void)state;
    static const struct {
        const char *attribute;
        double metres;
    } units[] = {{"", 1e-3},
                 {"unit=\"inch\"", 0.0254},
                 {"unit = 'meter'", 1.0},
                 {"unit=\"micron\"", 1e-6},
                 {"unit=\"parsec\"", 0.0}};
    static archive a;
    for (size_t i = 0; i < COUNT_OF(units); ++i) {
        make_3mf(&a, units[i].attribute, i % 2 == 0);
        carom_mesh *mesh = load(a.bytes, a.size, CAROM_MESH_FORMAT_GUESS, "a.3mf");
        carom_mesh_origin origin;
        assert_parts(mesh, "001122",
                     "pair/bolt & nut \xE2\x82\xAC|pair/bolt & nut \xE2\x82\xAC|Object_7|");
        assert_ok(context, carom_mesh_get_origin(mesh, &origin));
        assert_true(origin.metres == units[i].metres);
        carom_mesh_view view = view_of(mesh); /* both transforms, the component's first */
        const double *p = view.positions;
        assert_true(p[0] == 0.0 && p[1] == 5.0 && p[12] == 10.0 && p[13] == 5.0);
        carom_mesh_destroy(mesh);
    }
}

/* Our reader alone: assimp itself aborts on some of these. */
static void damaged_3mf_is_survived(void **state) {
    (void)state;
    static archive a, b;
    carom_random random = {1};
    int found = 0;
    make_3mf(&a, "", true);
    for (int i = 0; i < 20000; ++i) {
        carom_builder builder = {.context = context, .name = "b.3mf"};
        carom_3mf model = {0};
        b = a;
        for (int k = 0; k < 1 + i % 3; ++k) {
            size_t back = i % 2 == 0 ? b.directory_size + 22 : b.size;
            b.bytes[b.size - 1 - carom_random_next(&random) % back] =
                (uint8_t)carom_random_next(&random);
        }
        size_t size = i % 5 == 0 ? carom_random_next(&random) % b.size : b.size;
        uint8_t *exact = malloc(size + 1);
        assert_non_null(exact);
        memcpy(exact, b.bytes, size);
        assert_ok(context, carom_3mf_read(&builder, (carom_source){exact, size}, &model));
        free(exact);
        found += model.ids.begins.count == 3;
        carom_3mf_release(&builder, &model);
    }
    assert_true(found > 0 && found < 20000);
}

/* Two nodes of one name in two others, two primitives in one mesh, an instance that is moved. */
static void nodes_of_gltf_are_parts(void **state) {
    (void)state;
    static const char gltf[] =
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],"
        "\"nodes\":[{\"name\":\"left\",\"children\":[2]},"
        "{\"name\":\"right\",\"children\":[3],\"translation\":[5,0,0]},"
        "{\"name\":\"bolt\",\"mesh\":0},{\"name\":\"bolt\",\"mesh\":0,\"scale\":[2,2,2]}],"
        "\"meshes\":[{\"name\":\"m\",\"primitives\":[{\"attributes\":{\"POSITION\":0}},"
        "{\"attributes\":{\"POSITION\":0}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\","
        "\"min\":[0,0,0],\"max\":[1,1,0]}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
        "\"buffers\":[{\"byteLength\":36,\"uri\":\"data:application/octet-stream;base64,"
        "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}";
    carom_mesh *mesh = load(gltf, sizeof(gltf) - 1, CAROM_MESH_FORMAT_GUESS, "a.gltf");
    carom_mesh_origin origin;
    assert_parts(mesh, "0011", "left/bolt|right/bolt|");
    assert_ok(context, carom_mesh_get_origin(mesh, &origin));
    assert_true(origin.metres == 1.0);
    carom_mesh_view view = view_of(mesh);
    const double *p = view.positions;
    assert_true(p[3] == 1.0 && p[3 * 7] == 7.0); /* 5 + 2 x 1 */
    carom_mesh_destroy(mesh);
}

#endif

/* ---- files of other programs ----------------------------------------------------------------- */

static void assert_named(const char *file, uint64_t parts, uint64_t part, const char *name) {
    char path[1024];
    carom_mesh *mesh;
    snprintf(path, sizeof(path), "%s/models/%s", test_shared_folder(), file);
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    carom_mesh_view view = view_of(mesh);
    assert_int_equal(view.part_count, parts);
    assert_string_equal(name_of(&view, part), name);
    carom_mesh_destroy(mesh);
}

static void files_of_other_programs_have_their_names(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    assert_named("scenes/pump.obj.gz", 5, 1, "gearBolt0Shape20");     /* assimp's exporter */
    assert_named("scenes/piston/piston.stl", 1, 0, "OpenSCAD_Model"); /* OpenSCAD */
    assert_named("malformed/mikedh_multibody.stl", 2, 0, "bodyB");
    assert_named("malformed/assimp_triangle_with_two_solids.stl", 2, 1, "testTriangle_2");
    assert_named("malformed/assimp_triangle_with_empty_solid.stl", 1, 0, "testTriangle");
#ifdef CAROM_HAVE_ASSIMP
    assert_named("scenes/pump.dae.gz", 139, 1, "camTrick_G/turnTable_G/piston2"); /* OpenCOLLADA */
#endif
    assert_named("scenes/hand_bones_parts.ply.gz", 29, 0, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_with_parts_are_checked),
        cmocka_unit_test(create_weld_and_triangulate_keep_parts),
        cmocka_unit_test(welding_by_parts_is_welding_of_each_part),
        cmocka_unit_test(obj_objects_and_groups_are_parts),
        cmocka_unit_test(stl_solids_are_parts),
        cmocka_unit_test(ply_parts_are_read),
        cmocka_unit_test(bad_parts_get_a_message),
        cmocka_unit_test(triangle_strips_become_triangles),
        cmocka_unit_test(every_format_with_parts_reads_back_what_it_wrote),
        cmocka_unit_test(any_parts_are_kept),
        cmocka_unit_test(a_hundred_thousand_parts_are_kept),
        cmocka_unit_test(properties_are_kept),
        cmocka_unit_test(welding_keeps_properties),
        cmocka_unit_test(properties_of_text_are_held_by_their_type),
        cmocka_unit_test(views_with_properties_are_checked),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(memory_stays_below_sixteen_times_the_file),
#if defined(CAROM_HAVE_ASSIMP) && defined(CAROM_HAVE_ZLIB)
        cmocka_unit_test(names_and_unit_of_3mf_are_read),
        cmocka_unit_test(damaged_3mf_is_survived),
        cmocka_unit_test(nodes_of_gltf_are_parts),
#endif
        cmocka_unit_test(files_of_other_programs_have_their_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
