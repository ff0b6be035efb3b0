/* SPDX-License-Identifier: MIT */
/* Reading small files, one oddity each: what they give, or what is said about them. One thread. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order.h"

TEST_CONTEXT(1)

typedef struct good {
    carom_mesh_format format;
    const char *text;
    uint64_t vertices, faces, corners, skipped;
} good;

static carom_mesh *load(carom_mesh_format format, const char *name, const void *bytes,
                        uint64_t size) {
    carom_mesh *mesh;
    void *exact = malloc(size != 0 ? size : 1); /* sanitizers see a read past the end */
    assert_non_null(exact);
    if (size != 0) memcpy(exact, bytes, size);
    carom_status status = carom_mesh_load_memory(context, exact, size, format, name, &mesh);
    free(exact);
    if (status == CAROM_OK) {
        carom_mesh_view view;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_mesh_check(context, &view));
    } else {
        assert_null(mesh);
    }
    return mesh;
}

static void check_good(const good *cases, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const good *g = &cases[i];
        carom_mesh *mesh = load(g->format, "a", g->text, strlen(g->text));
        if (mesh == NULL) fail_msg("case %zu: %s: %s", i, g->text, carom_context_message(context));
        carom_mesh_view view;
        carom_mesh_origin origin;
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_mesh_get_origin(mesh, &origin));
        uint64_t corners =
            view.offsets != NULL ? view.offsets[view.face_count] : 3 * view.face_count;
        if (view.vertex_count != g->vertices || view.face_count != g->faces ||
            corners != g->corners || origin.skipped_faces != g->skipped)
            fail_msg("case %zu: %s: %llu vertices, %llu faces, %llu corners, %llu skipped", i,
                     g->text, (unsigned long long)view.vertex_count,
                     (unsigned long long)view.face_count, (unsigned long long)corners,
                     (unsigned long long)origin.skipped_faces);
        carom_mesh_destroy(mesh);
    }
}

typedef struct bad {
    carom_mesh_format format;
    const char *text, *message; /* the whole message */
    carom_status status;        /* 0: CAROM_BAD_FILE */
} bad;

static void check_bad(const bad *cases, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const bad *b = &cases[i];
        carom_mesh *mesh;
        carom_status status =
            carom_mesh_load_memory(context, b->text, strlen(b->text), b->format, "a", &mesh);
        carom_status expected = b->status != CAROM_OK ? b->status : CAROM_BAD_FILE;
        if (status != expected || strcmp(carom_context_message(context), b->message) != 0)
            fail_msg("case %zu: %s\ngives %s: \"%s\"\nnot \"%s\"", i, b->text,
                     carom_status_name(status), carom_context_message(context), b->message);
        assert_null(mesh);
    }
}

/* ---- OBJ ------------------------------------------------------------------------------------- */

#define V3 "v 0 0 0\nv 1 0 0\nv 0 1 0\n"

static void obj_is_read_in_all_its_dress(void **state) {
    (void)state;
    static const good cases[] = {
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 3\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 3", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, "f 1 2 3\n" V3, 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f -3 -2 -1\nf -1 2 1\n", 3, 2, 6, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1/1 2/2 3/3\nf 1//1 2//2 3//3\nf 1/1/1 2/2/2 3/3/3\n", 3, 3,
         9, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1// 2// 3/\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 3 1 2\nf 1 2 3\n", 3, 2, 8, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 3\nf 1 2 3 1\n", 3, 2, 7, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2\nf 1\nf \nf 1 2 3\n", 3, 1, 3, 3},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 1 1\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 \\\n2 \\\r\n3\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2\\\n 3\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, "v\t0  0\\\n 0 \nv 1 0 0 # here\nv 0 1 0 1.0\n  f 1 2 3 # it is\n",
         3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, "v 0 0 0 1 0.5 0.25\nv 1 0 0 nan nan nan\n", 2, 0, 0, 0},
        {CAROM_MESH_FORMAT_OBJ,
         "# a\nmtllib x\no a\ng b c\ns off\nusemtl m\nvn 0 0 x\nvt 1\nl 1 2\np 1\ncstype "
         "bezier\n" V3,
         3, 0, 0, 0},
        {CAROM_MESH_FORMAT_OBJ, "# continued \\\nf 9 9 9\n" V3, 3, 0, 0, 0},
        {CAROM_MESH_FORMAT_OBJ, "\xEF\xBB\xBF" V3 "f 1 2 3\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 3\n\x1A", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OBJ, "\n\n", 0, 0, 0, 0},
    };
    check_good(cases, COUNT_OF(cases));
}

static void bad_obj_gets_a_message(void **state) {
    (void)state;
    static const bad cases[] = {
        {CAROM_MESH_FORMAT_OBJ, "", "a: the file is empty", 0},
        {CAROM_MESH_FORMAT_OBJ, "v 0 0\n",
         "a: line 1: vertex 1: the end of the line is no finite number", 0},
        {CAROM_MESH_FORMAT_OBJ, "v 0 0 0\n\nv 0 nan 0\n",
         "a: line 3: vertex 2: \"nan\" is no finite number", 0},
        {CAROM_MESH_FORMAT_OBJ, "v 0 1e999 0\n",
         "a: line 1: vertex 1: \"1e999\" is no finite number", 0},
        {CAROM_MESH_FORMAT_OBJ, "v 0 0,5 0\n", "a: line 1: vertex 1: \"0,5\" is no finite number",
         0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 4\n", "a: line 4: a face names vertex 4, the file has 3",
         0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 99999999999999999999\n",
         "a: line 4: \"99999999999999999999\" is no vertex number", 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 0 1 2\n",
         "a: line 4: a face names vertex 0; they are numbered from 1", 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 -4\n",
         "a: line 4: a face names vertex -4, there are 3 so far", 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 x/y\n", "a: line 4: \"x/y\" is no vertex number", 0},
        {CAROM_MESH_FORMAT_OBJ, V3 "f 1 2 3.5\n", "a: line 4: \"3.5\" is no vertex number", 0},
        {CAROM_MESH_FORMAT_OBJ, "\x01\x02 garbage", "a: line 1: \"??\" is no OBJ statement", 0},
        {CAROM_MESH_FORMAT_OBJ, "12345678901234567890123456789012345678901234567890",
         "a: line 1: \"123456789012345678901234567890123...\" is no OBJ statement", 0},
        {CAROM_MESH_FORMAT_OBJ, "\xFF\xFEv",
         "a: byte 0: the text is UTF-16; save it as ASCII or UTF-8", 0},
    };
    check_bad(cases, COUNT_OF(cases));
}

/* ---- OFF ------------------------------------------------------------------------------------- */

static void off_is_read_in_all_its_dress(void **state) {
    (void)state;
    static const good cases[] = {
        {CAROM_MESH_FORMAT_OFF, "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OFF, "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OFF, "OFF3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OFF, "3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n3 1\r\n0 0 0\r\n1 0 0\r\n0 1 0\r\n3 0 1 2\r\n", 3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OFF,
         "# c\nCOFF # d\n# e\n3 1 0 # f\n\n0 0 0 255 0 0\n# g\n1 0 0 1 1 1 1\n0 1 0 # h\n3 0 1 2 "
         "0.5 "
         "0.5 0.5\n",
         3, 1, 3, 0},
        {CAROM_MESH_FORMAT_OFF, "NOFF\n1 0 0\n0 0 0 0 0 1\n", 1, 0, 0, 0},
        {CAROM_MESH_FORMAT_OFF, "STCNOFF\n1 0 0\n0 0 0 0 0 1\n", 1, 0, 0, 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n0 0 0\n", 0, 0, 0, 0},
        {CAROM_MESH_FORMAT_OFF,
         "OFF\n4 3 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n4 0 1 2 3\n2 0 1\n3 0 1 2\n", 4, 2, 7, 1},
    };
    check_good(cases, COUNT_OF(cases));
}

static void bad_off_gets_a_message(void **state) {
    (void)state;
    static const bad cases[] = {
        {CAROM_MESH_FORMAT_OFF, "", "a: the file is empty", 0},
        {CAROM_MESH_FORMAT_OFF, "PLY", "a: line 1: \"PLY\" stands where OFF or counts should", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n",
         "a: line 2: the end of the file stands where the numbers of "
         "vertices and faces should",
         0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n3 -1 0\n",
         "a: line 2: \"-1\" stands where the numbers of vertices and faces should", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1000 1 0\n0 0 0\n",
         "a: line 2: 1000 vertices are promised, the file has room for 1", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1000 0\n0 0 0\n",
         "a: line 2: 1000 faces are promised, the file has room for 4", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n18446744073709551615 1 0\n0 0 0\n",
         "a: line 2: \"18446744073709551615\" stands where the numbers of vertices and faces "
         "should",
         0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n2 1 0\n0 0 0\n     \n     \n",
         "a: line 6: the file ends after 1 of 2 vertices", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1 0\n0 0 0\n",
         "a: line 4: the file ends after 0 of 1 faces", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1 0\n0 0\n3 0 0 0\n",
         "a: line 3: vertex 0: the end of the line is no finite number", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1 0\n0 0 inf\n3 0 0 0\n",
         "a: line 3: vertex 0: \"inf\" is no finite number", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1 0\n0 0 0\n3 0 0 1\n",
         "a: line 4: face 0 names vertex 1, the file has 1", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1 0\n0 0 0\n3 0 0\n",
         "a: line 4: face 0: the end of the line stands where corner 2 of 3 should", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1 0\n0 0 0\nx\n",
         "a: line 4: face 0: \"x\" is no number of corners", 0},
        {CAROM_MESH_FORMAT_OFF, "OFF BINARY\n",
         "a: line 1: binary OFF cannot be read; save it as text", 0},
        {CAROM_MESH_FORMAT_OFF, "4OFF\n1 0 0\n0 0 0 0\n",
         "a: line 1: \"4OFF\": only three dimensions can be read", 0},
    };
    check_bad(cases, COUNT_OF(cases));
}

/* ---- STL ------------------------------------------------------------------------------------- */

#define FACET                                                                                      \
    "facet normal nan 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "                    \
    "0\nendloop\nendfacet\n"

static void text_stl_is_read_in_all_its_dress(void **state) {
    (void)state;
    static const good cases[] = {
        {CAROM_MESH_FORMAT_STL, "solid\n" FACET FACET "endsolid\n", 6, 2, 6, 0},
        {CAROM_MESH_FORMAT_STL, "  SOLID facet vertex\n FACET NORMAL 0 0 1 OUTER LOOP\n", 0, 0, 0,
         99},
        {CAROM_MESH_FORMAT_STL, "solid a\n" FACET "endsolid a\nsolid b\n" FACET "end solid\n", 6, 2,
         6, 0},
        {CAROM_MESH_FORMAT_STL,
         "solid\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop "
         "endfacet "
         "endsolid",
         3, 1, 3, 0},
        {CAROM_MESH_FORMAT_STL, "solid\nendsolid", 0, 0, 0, 0},
        {CAROM_MESH_FORMAT_STL,
         "solid\rfacet\router loop\rvertex 0 0 0\rendloop\rendfacet\r" FACET "endsolid\r", 3, 1, 3,
         1},
    };
    check_good(cases, 1);
    check_good(cases + 2, COUNT_OF(cases) - 2);
    assert_null(load(cases[1].format, "a", cases[1].text, strlen(cases[1].text)));
}

static void bad_stl_gets_a_message(void **state) {
    (void)state;
    static const bad cases[] = {
        {CAROM_MESH_FORMAT_STL, "", "a: the file is empty", 0},
        {CAROM_MESH_FORMAT_STL, "hello",
         "a: byte 5: the file ends inside its header of 84 bytes, and is "
         "no text that begins with \"solid\"",
         0},
        {CAROM_MESH_FORMAT_STL, "solid\n" FACET,
         "a: line 9: the file ends after 1 facets without "
         "\"endsolid\"",
         0},
        {CAROM_MESH_FORMAT_STL, "solid\nfacet\nvertex 0 0 0\n",
         "a: line 4: the file ends inside facet 0", 0},
        {CAROM_MESH_FORMAT_STL, "solid\nfacet\nvertex 0 0 x\n",
         "a: line 3: facet 0: \"x\" is no finite number", 0},
        {CAROM_MESH_FORMAT_STL, "solid\nvertex 0 0 0\n",
         "a: line 2: \"vertex\" stands where \"facet\" or \"endsolid\" should", 0},
        {CAROM_MESH_FORMAT_STL, "solid\nfacet\nfacet\n",
         "a: line 3: \"facet\" stands where \"vertex\" or \"endfacet\" should", 0},
        {CAROM_MESH_FORMAT_STL, "solid\nendsolid\nfacet\n",
         "a: line 3: \"facet\" stands where \"solid\" should", 0},
        {CAROM_MESH_FORMAT_STL, "\xFF\xFEs",
         "a: byte 0: the text is UTF-16; save it as ASCII or UTF-8", 0},
    };
    check_bad(cases, COUNT_OF(cases));
}

static void binary_stl_is_told_from_text(void **state) {
    (void)state;
    uint8_t file[84 + 2 * 50 + 7] = "solid but binary";
    const float corner[3] = {1.0f, 2.0f, 3.0f};
    file[80] = 2;
    memcpy(file + 84 + 12, corner, sizeof(corner));
    if (!carom_is_little_endian()) carom_reverse_numbers(file + 84 + 12, sizeof(corner), 4);
    carom_mesh *mesh = load(CAROM_MESH_FORMAT_GUESS, "a", file, 84 + 2 * 50);
    assert_non_null(mesh);
    carom_mesh_view view;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.scalar, CAROM_SCALAR_FLOAT32);
    assert_int_equal(view.vertex_count, 6);
    assert_int_equal(view.face_count, 2);
    assert_memory_equal(view.positions, corner, sizeof(corner));
    for (uint32_t i = 0; i < 6; ++i) assert_int_equal(view.corners[i], i);
    carom_mesh_destroy(mesh);
    /* Bytes after the last facet do no harm; a missing one does. */
    mesh = load(CAROM_MESH_FORMAT_STL, "a", file, sizeof(file));
    assert_non_null(mesh);
    carom_mesh_destroy(mesh);
    assert_null(load(CAROM_MESH_FORMAT_STL, "a", file, 84 + 99));
    assert_string_equal(carom_context_message(context),
                        "a: byte 80: 2 triangles are promised, the file has room for 1");
    file[83] = 0x7F;
    assert_null(load(CAROM_MESH_FORMAT_STL, "a", file, sizeof(file)));
    assert_string_equal(carom_context_message(context),
                        "a: byte 80: 2130706434 triangles are promised, the file has room for 2");
    file[83] = 0;
    memset(file + 84 + 50 + 12 + 16, 0xFF, 4); /* a NaN */
    assert_null(load(CAROM_MESH_FORMAT_STL, "a", file, 84 + 100));
    assert_string_equal(carom_context_message(context),
                        "a: byte 162: facet 1 has a coordinate that is not finite");
}

/* ---- PLY ------------------------------------------------------------------------------------- */

#define PLY(format) "ply\nformat " format " 1.0\n"
#define XYZ         "property float x\nproperty float y\nproperty float z\n"
#define FACES       "property list uchar int vertex_indices\n"
#define END         "end_header\n"

static void text_ply_is_read_in_all_its_dress(void **state) {
    (void)state;
    static const good cases[] = {
        {CAROM_MESH_FORMAT_PLY,
         PLY("ascii") "element vertex 3\n" XYZ "element face 1\n" FACES END
                      "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
         3, 1, 3, 0},
        {CAROM_MESH_FORMAT_PLY,
         "ply\r\nformat ascii 1.0\r\ncomment x\r\nobj_info y\r\n\r\nelement vertex 1\r\n"
         "property double z\r\nproperty list char float q\r\nproperty int8 y\r\nproperty uint16 "
         "w\r\n"
         "property float32 x\r\nend_header\r\n1 2 9 9 3 4 5\r\n",
         1, 0, 0, 0},
        {CAROM_MESH_FORMAT_PLY,
         PLY("ascii") "element face 2\nproperty uchar red\n" FACES
                      "property list uchar float texcoord\nelement junk 2\nproperty int a\nelement "
                      "void 1000000\nelement vertex 4\n" XYZ END
                      "7 4 0 1 2 3 2 .5 .5\n7 2 0 1 0\n\n1\n2\n0 0 0\n1 0 0\n\n1 1 0\n0 1 0",
         4, 1, 4, 1},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 0\n" XYZ END, 0, 0, 0, 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 0\n" XYZ "element face 0\n" END, 0, 0,
         0, 0},
    };
    check_good(cases, COUNT_OF(cases));
}

static void bad_ply_gets_a_message(void **state) {
    (void)state;
    static const bad cases[] = {
        {CAROM_MESH_FORMAT_PLY, "", "a: the file is empty", 0},
        {CAROM_MESH_FORMAT_PLY, "plx\n", "a: line 1: \"plx\" stands where \"ply\" should", 0},
        {CAROM_MESH_FORMAT_PLY, "ply\n", "a: line 2: the file ends inside its header", 0},
        {CAROM_MESH_FORMAT_PLY, "ply\nformat utf8 1.0\n",
         "a: line 2: \"utf8\" is no format; there are ascii, binary_little_endian and "
         "binary_big_endian",
         0},
        {CAROM_MESH_FORMAT_PLY, "ply\nelement vertex 0\n" XYZ END,
         "a: line 6: the header names no format", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") END, "a: line 4: the header has no element vertex", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "hello\n",
         "a: line 3: \"hello\" is no line of a PLY header", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex -3\n",
         "a: line 3: \"-3\" is no number of elements", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 4294967296\n",
         "a: 4294967296 vertices, a mesh has at most 4294967295", CAROM_TOO_LARGE},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\nelement vertex 1\n",
         "a: line 4: a second element vertex", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "property int x\n",
         "a: line 3: a property before the first element", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\nproperty real x\n",
         "a: line 4: \"real\" is no type", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\nproperty list float int x\n",
         "a: line 4: the length of a list cannot be a float", 0},
        {CAROM_MESH_FORMAT_PLY,
         PLY("ascii") "element face 1\nproperty list int float vertex_index\n",
         "a: line 4: corners of faces cannot be floats", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\n" XYZ "property int x\n",
         "a: line 7: element vertex has this property twice", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\nproperty int x\n" END,
         "a: line 6: element vertex lacks one of the scalars x, y, z", 0},
        {CAROM_MESH_FORMAT_PLY,
         PLY("ascii") "element vertex 1\n" XYZ "element face 1\nproperty int a\n" END "0 0 0\n1\n",
         "a: line 10: element face lacks the list vertex_indices", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 4000000000\n" XYZ END "0 0 0\n",
         "a: line 8: the header promises 4000000000 of element vertex, the file has room for 1", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 2\n" XYZ END "0 0 0\n      \n",
         "a: line 10: the file ends after 1 of 2 of element vertex", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\n" XYZ END "0 0\n ",
         "a: line 8: vertex 0: the end of the line stands where a finite number should", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\n" XYZ END "0 0 0 0\n ",
         "a: line 8: vertex 0: \"0\" stands where the end of the line should", 0},
        {CAROM_MESH_FORMAT_PLY, PLY("ascii") "element vertex 1\n" XYZ END "0 nan 0\n ",
         "a: line 8: vertex 0: \"nan\" stands where a finite number should", 0},
        {CAROM_MESH_FORMAT_PLY,
         PLY("ascii") "element vertex 1\n" XYZ "element face 1\n" FACES END "0 0 0\n3 0 0 1\n",
         "a: line 11: face 0 names vertex 1, the file has 1", 0},
        {CAROM_MESH_FORMAT_PLY,
         PLY("ascii") "element vertex 1\n" XYZ "element face 1\n" FACES END "0 0 0\n3 0 0 -1\n",
         "a: line 11: face 0: \"-1\" stands where a vertex number should", 0},
        {CAROM_MESH_FORMAT_PLY,
         PLY("binary_little_endian") "element vertex 1\n" XYZ END "12345678901",
         "a: line 8: the header promises 1 of element vertex, the file has room for 0", 0},
        {CAROM_MESH_FORMAT_PLY,
         PLY("binary_little_endian") "element vertex 1\n" XYZ "element face 2\n" FACES END
                                     "012345678901\003",
         "a: byte 182: the file ends inside face 0 of 2", 0},
    };
    check_bad(cases, COUNT_OF(cases));
}

/* Every type in both byte orders against values that all of them hold. */
static size_t put(uint8_t *to, int type, int value, bool big) {
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    float f32 = (float)value;
    double f64 = (double)value;
    uint64_t bits = (uint64_t)(int64_t)value;
    uint32_t b32;
    memcpy(&b32, &f32, sizeof(b32));
    if (type == 6) bits = b32;
    if (type == 7) memcpy(&bits, &f64, sizeof(bits));
    for (size_t i = 0; i < sizes[type]; ++i)
        to[i] = (uint8_t)(bits >> 8 * (big ? sizes[type] - 1 - i : i));
    return sizes[type];
}

static void binary_ply_of_any_types_is_read(void **state) {
    (void)state;
    static const char *const types[] = {"char",  "uint8", "short", "ushort",
                                        "int32", "uint",  "float", "float64"};
    uint8_t file[2048];
    for (int big = 0; big < 2; ++big)
        for (int xyz = 0; xyz < 8; ++xyz)
            for (int count = 0; count < 6; ++count)
                for (int index = 0; index < 6; ++index)
                    for (int extra = 0; extra < 2; ++extra) {
                        int size = snprintf(
                            (char *)file, sizeof(file),
                            "ply\nformat binary_%s_endian 1.0\nelement vertex 5\nproperty %s z\n"
                            "%sproperty %s x\nproperty %s y\nelement face 3\n%s"
                            "property list %s %s vertex_index\nend_header\n",
                            big ? "big" : "little", types[xyz],
                            extra ? "property list uchar double q\n" : "", types[xyz], types[xyz],
                            extra ? "property short flags\n" : "", types[count], types[index]);
                        uint8_t *to = file + size;
                        for (int v = 0; v < 5; ++v) {
                            to += put(to, xyz, 3 * v + 2, big);
                            if (extra) {
                                to += put(to, 1, v % 3, big);
                                for (int k = 0; k < v % 3; ++k) to += put(to, 7, 9, big);
                            }
                            to += put(to, xyz, 3 * v, big);
                            to += put(to, xyz, 3 * v + 1, big);
                        }
                        for (int f = 0; f < 3; ++f) { /* 3, 2, 4 corners */
                            int corners = f == 0 ? 3 : f == 1 ? 2 : 4;
                            if (extra) to += put(to, 2, -1, big);
                            to += put(to, count, corners, big);
                            for (int c = 0; c < corners; ++c) to += put(to, index, c + 1, big);
                        }
                        carom_mesh *mesh =
                            load(CAROM_MESH_FORMAT_PLY, "a", file, (uint64_t)(to - file));
                        if (mesh == NULL) fail_msg("%s", carom_context_message(context));
                        carom_mesh_view view;
                        assert_ok(context, carom_mesh_get_view(mesh, &view));
                        assert_int_equal(view.scalar,
                                         xyz == 6 ? CAROM_SCALAR_FLOAT32 : CAROM_SCALAR_FLOAT64);
                        assert_int_equal(view.vertex_count, 5);
                        assert_int_equal(view.face_count, 2);
                        for (int i = 0; i < 15; ++i) {
                            double value = view.scalar == CAROM_SCALAR_FLOAT32
                                               ? (double)((const float *)view.positions)[i]
                                               : ((const double *)view.positions)[i];
                            assert_true(value == (double)i);
                        }
                        static const uint32_t expected[] = {1, 2, 3, 1, 2, 3, 4};
                        assert_memory_equal(view.corners, expected, sizeof(expected));
                        carom_mesh_destroy(mesh);
                        /* Cut anywhere in the data, it is told so. */
                        for (int cut = 1; cut < to - file - size && extra; cut += 7) {
                            assert_null(load(CAROM_MESH_FORMAT_PLY, "cut", file,
                                             (uint64_t)(to - file - cut)));
                            assert_non_null(strstr(carom_context_message(context), "cut: "));
                        }
                    }
}

static void binary_ply_names_the_bad_face_and_vertex(void **state) {
    (void)state;
    uint8_t file[512];
    int size =
        snprintf((char *)file, sizeof(file), "%s",
                 PLY("binary_little_endian") "element vertex 3\n" XYZ "element face 2\n" FACES END);
    uint8_t *data = file + size;
    memset(data, 0, 62);
    data[36] = data[49] = 3;
    data[50] = 3;
    assert_null(load(CAROM_MESH_FORMAT_GUESS, "bunny.ply", file, (uint64_t)size + 62));
    assert_string_equal(carom_context_message(context),
                        "bunny.ply: face 1 names vertex 3, the file has 3");
    memset(data + 50, 0xFF, 4);
    assert_null(load(CAROM_MESH_FORMAT_GUESS, "bunny.ply", file, (uint64_t)size + 62));
    assert_string_equal(carom_context_message(context),
                        "bunny.ply: face 1 names vertex -1, the file has 3");
    memset(data + 24 + 4, 0xFF, 4);
    assert_null(load(CAROM_MESH_FORMAT_GUESS, "bunny.ply", file, (uint64_t)size + 62));
    assert_string_equal(carom_context_message(context),
                        "bunny.ply: vertex 2 has a coordinate that is not finite");
}

static void unknown_content_is_told_what_can_be_read(void **state) {
    (void)state;
    static const bad cases[] = {
        {CAROM_MESH_FORMAT_GUESS, "hello",
         "a: neither name nor content tell the format; name one of OBJ, "
         "PLY, STL and OFF",
         0},
        {CAROM_MESH_FORMAT_GUESS, "",
         "a: neither name nor content tell the format; name one of OBJ, PLY, "
         "STL and OFF",
         0},
    };
    check_bad(cases, COUNT_OF(cases));
    carom_mesh *mesh;
    assert_fails(context,
                 carom_mesh_load(context, "/nowhere/a.obj", CAROM_MESH_FORMAT_GUESS, &mesh),
                 CAROM_IO, "/nowhere/a.obj: cannot be opened: No such file");
    assert_fails(context, carom_mesh_load(context, "/", CAROM_MESH_FORMAT_GUESS, &mesh), CAROM_IO,
                 "/: is a folder");
    assert_fails(context, carom_mesh_load(context, "/dev/null", CAROM_MESH_FORMAT_GUESS, &mesh),
                 CAROM_IO, "/dev/null: is a device, which is not read; name a regular file");
    assert_fails(context, carom_mesh_load(context, "/dev/zero", CAROM_MESH_FORMAT_GUESS, &mesh),
                 CAROM_IO, "/dev/zero: is a device");
    carom_status status =
        carom_mesh_load_memory(context, "hello", 5, CAROM_MESH_FORMAT_OTHER, "a.xyzw", &mesh);
    assert_true(status == CAROM_BAD_FILE || status == CAROM_UNSUPPORTED);
    assert_non_null(strstr(carom_context_message(context), "a.xyzw: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_is_read_in_all_its_dress),
        cmocka_unit_test(bad_obj_gets_a_message),
        cmocka_unit_test(off_is_read_in_all_its_dress),
        cmocka_unit_test(bad_off_gets_a_message),
        cmocka_unit_test(text_stl_is_read_in_all_its_dress),
        cmocka_unit_test(bad_stl_gets_a_message),
        cmocka_unit_test(binary_stl_is_told_from_text),
        cmocka_unit_test(text_ply_is_read_in_all_its_dress),
        cmocka_unit_test(bad_ply_gets_a_message),
        cmocka_unit_test(binary_ply_of_any_types_is_read),
        cmocka_unit_test(binary_ply_names_the_bad_face_and_vertex),
        cmocka_unit_test(unknown_content_is_told_what_can_be_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
