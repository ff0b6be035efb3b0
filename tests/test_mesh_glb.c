/* SPDX-License-Identifier: MIT */
/* Binary glTF: what is read of it, and what is refused. One thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_order.h"
#include "mesh/mesh_json.h"
#include "tests/support/test.h"

#define MOST_BYTES 4096

static carom_context *context;

/* A file in memory. */
typedef struct glb {
    uint8_t bytes[MOST_BYTES];
    uint64_t size;
} glb;

static void put_word(glb *g, uint32_t word) {
    for (int i = 0; i < 4; ++i) g->bytes[g->size++] = (uint8_t)(word >> (8 * i));
}

static glb make_glb(const char *json, const void *bin, size_t bin_size) {
    glb g = {.size = 0};
    size_t length = strlen(json), padded = (length + 3) / 4 * 4;
    assert_true(padded + bin_size + 64 < MOST_BYTES);
    put_word(&g, 0x46546C67); /* glTF */
    put_word(&g, 2);
    put_word(&g, (uint32_t)(12 + 8 + padded + (bin_size != 0 ? 8 + bin_size : 0)));
    put_word(&g, (uint32_t)padded);
    put_word(&g, 0x4E4F534A); /* JSON */
    memset(g.bytes + g.size, ' ', padded);
    memcpy(g.bytes + g.size, json, length);
    g.size += padded;
    if (bin_size == 0) return g;
    put_word(&g, (uint32_t)bin_size);
    put_word(&g, 0x004E4942); /* BIN */
    memcpy(g.bytes + g.size, bin, bin_size);
    g.size += bin_size;
    return g;
}

/* Four corners of a tetrahedron, then its faces. */
typedef struct tetrahedron {
    float points[12];
    uint16_t corners[12];
} tetrahedron;

static const tetrahedron corner = {{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},
                                   {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2}};

/* The file is little endian, whatever the machine is. */
static glb make_tetrahedron(const char *json, const tetrahedron *t) {
    tetrahedron stored = *t;
    if (!carom_is_little_endian()) {
        carom_reverse_numbers(stored.points, sizeof(stored.points), sizeof(float));
        carom_reverse_numbers(stored.corners, sizeof(stored.corners), sizeof(uint16_t));
    }
    return make_glb(json, &stored, sizeof(stored));
}

#define BUFFERS                                                                                    \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"      \
    "{\"bufferView\":1,\"componentType\":5123,\"count\":12,\"type\":\"SCALAR\"}],"                 \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},"                                           \
    "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":24}],\"buffers\":[{\"byteLength\":72}]"
#define MESH                                                                                       \
    "\"meshes\":[{\"name\":\"shape\",\"primitives\":[{\"attributes\":{\"POSITION\":0},"            \
    "\"indices\":1}]}]"
#define SCENE "\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}]"

static carom_status load_glb(const glb *g, carom_mesh **mesh, carom_mesh_view *view) {
    carom_status status =
        carom_mesh_load_memory(context, g->bytes, g->size, CAROM_MESH_FORMAT_GUESS, "a.glb", mesh);
    if (status == CAROM_OK) assert_int_equal(carom_mesh_get_view(*mesh, view), CAROM_OK);
    return status;
}

static double volume_of(const carom_mesh_view *view) {
    carom_mesh_report report;
    assert_int_equal(carom_mesh_inspect(context, view, &report), CAROM_OK);
    return report.volume;
}

static carom_vec3 point_at(const carom_mesh_view *view, uint64_t vertex) {
    const double *p = view->positions;
    return (carom_vec3){p[3 * vertex], p[3 * vertex + 1], p[3 * vertex + 2]};
}

/* Nodes place their meshes; names are paths below the root, escapes decoded. */
static void nodes_are_parts(void **state) {
    (void)state;
    glb g = make_tetrahedron(
        "{" SCENE ",\"nodes\":[{\"name\":\"root\",\"rotation\":[0,0,0.7071067811865476,"
        "0.7071067811865476],\"children\":[1,3]},"
        "{\"name\":\"arm\",\"translation\":[1,2,3],\"scale\":[2,2,2],\"children\":[2]},"
        "{\"name\":\"a\\\"\\u00e9\\ud83d\\ude00\\ud800\",\"mesh\":0},"
        "{\"mesh\":0,\"matrix\":[0,0,3,0,3,0,0,0,0,3,0,0,5,6,7,1]}]," MESH "," BUFFERS "}",
        &corner);
    carom_mesh *mesh;
    carom_mesh_view view;
    carom_mesh_origin origin;
    assert_int_equal(load_glb(&g, &mesh, &view), CAROM_OK);
    assert_int_equal(view.face_count, 8);
    assert_int_equal(view.part_count, 2);
    assert_string_equal(view.part_names[0],
                        "arm/a\"\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBD"); /* half a pair: U+FFFD */
    assert_string_equal(view.part_names[1], "shape");
    assert_true(fabs(volume_of(&view) - (8.0 + 27.0) / 6.0) < 1e-14);
    carom_vec3 p = point_at(&view, 1); /* (1, 0, 0) scaled, moved, turned about z */
    assert_true(fabs(p.x + 2.0) < 1e-15 && fabs(p.y - 3.0) < 1e-15 && p.z == 3.0);
    p = point_at(&view, 5); /* the first column of the matrix, turned */
    assert_true(fabs(p.x + 6.0) < 1e-14 && fabs(p.y - 5.0) < 1e-14 && p.z == 10.0);
    assert_int_equal(carom_mesh_get_origin(mesh, &origin), CAROM_OK);
    assert_true(origin.format == CAROM_MESH_FORMAT_OTHER && origin.metres == 1.0);
    carom_mesh_destroy(mesh);
}

/* Strips turn every second triangle; fans share the first corner; lines are no faces. */
static void strips_and_fans_are_triangles(void **state) {
    (void)state;
    static const char *const modes[] = {"5", "6", "1"};
    static const uint32_t corners[2][6] = {{0, 1, 2, 2, 1, 3}, {0, 1, 2, 0, 2, 3}};
    for (int i = 0; i < 3; ++i) {
        char json[1024];
        snprintf(json, sizeof(json),
                 "{" SCENE ",\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":"
                 "{\"POSITION\":0},\"mode\":%s}]}]," BUFFERS "}",
                 modes[i]);
        glb g = make_tetrahedron(json, &corner);
        carom_mesh *mesh;
        carom_mesh_view view;
        assert_int_equal(load_glb(&g, &mesh, &view), CAROM_OK);
        assert_int_equal(view.face_count, i < 2 ? 2 : 0);
        if (i < 2) assert_memory_equal(view.corners, corners[i], sizeof(corners[i]));
        carom_mesh_destroy(mesh);
    }
}

/* Quantised positions of every type, normalised or not, with gaps between them. */
static void quantised_positions_are_read(void **state) {
    (void)state;
    static const struct {
        const char *accessor;
        uint8_t bytes[16];
        double x;
    } rows[] = {
        {"\"componentType\":5120,\"normalized\":true", {0x81, 0, 0, 0, 127}, -1.0},
        {"\"componentType\":5120,\"normalized\":true", {0x80, 0, 0, 0, 127}, -1.0},
        {"\"componentType\":5120", {0x80, 0, 0, 0, 127}, -128.0},
        {"\"componentType\":5121,\"normalized\":true", {255, 0, 0, 0, 127}, 1.0},
        {"\"componentType\":5121", {255, 0, 0, 0, 127}, 255.0},
        {"\"componentType\":5122,\"normalized\":true", {0xFF, 0x7F}, 1.0},
        {"\"componentType\":5122", {0x00, 0x80}, -32768.0},
        {"\"componentType\":5123,\"normalized\":true", {0xFF, 0xFF}, 1.0},
        {"\"componentType\":5123", {0xFF, 0xFF}, 65535.0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        char json[1024];
        uint8_t bin[24] = {0};
        memcpy(bin, rows[i].bytes, sizeof(rows[i].bytes));
        snprintf(json, sizeof(json),
                 "{" SCENE ",\"extensionsRequired\":[\"KHR_mesh_quantization\"],\"nodes\":"
                 "[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
                 "\"accessors\":[{\"bufferView\":0,\"count\":3,\"type\":\"VEC3\",%s}],"
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":24,\"byteStride\":8}],"
                 "\"buffers\":[{\"byteLength\":24}]}",
                 rows[i].accessor);
        glb g = make_glb(json, bin, sizeof(bin));
        carom_mesh *mesh;
        carom_mesh_view view;
        assert_int_equal(load_glb(&g, &mesh, &view), CAROM_OK);
        assert_true(point_at(&view, 0).x == rows[i].x);
        carom_mesh_destroy(mesh);
    }
}

/* Every malformed file has a message that names it; none is read beyond its end. */
static void malformed_files_are_refused(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", "its JSON is missing"},
        {"[]", "its JSON is missing"},
        {"{\"scenes\":[{\"nodes\":[0]}", "malformed"},
        {"{\"scenes\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]}",
         "nested too deep"},
        {"{" SCENE "}", "a node is missing"},
        {"{" SCENE ",\"scene\":0,\"nodes\":[{\"children\":[0]}]}", "a node stands twice"},
        {"{" SCENE ",\"nodes\":[{\"children\":[1,1]},{}]}", "a node stands twice"},
        {"{\"scene\":3,\"scenes\":[{}]}", "its scene is missing"},
        {"{\"scene\":-1,\"scenes\":[{}]}", "its scene has no number"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":1}]," MESH "}", "a mesh is missing"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0.5}]," MESH "}", "a node has no number of a mesh"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}]," MESH "}", "an accessor is missing"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{}]}]}",
         "a primitive has no positions"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":"
         "{\"POSITION\":1}}]}]," BUFFERS "}",
         "another type than its use"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":"
         "{\"POSITION\":0},\"indices\":0}]}]," BUFFERS "}",
         "another type than its use"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}]," MESH
         ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":5,\"type\":\"VEC3\"}],"
         "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}]}",
         "beyond the end of the buffer"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}]," MESH
         ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":9007199254740992,"
         "\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":72,\"byteStride\":"
         "9007199254740992}]}",
         "beyond the end of the buffer"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}]," MESH
         ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}],"
         "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":40,\"byteLength\":48}]}",
         "beyond the end of the buffer"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}]," MESH
         ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}],"
         "\"bufferViews\":[{\"buffer\":0,\"byteLength\":72,\"byteStride\":4}]}",
         "a wrong size"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0}]," MESH
         ",\"accessors\":[{\"bufferView\":0,\"componentType\":5124,\"count\":4,\"type\":\"VEC3\"}],"
         "\"bufferViews\":[{\"buffer\":0,\"byteLength\":72}]}",
         "an unknown type of numbers"},
        {"{" SCENE ",\"nodes\":[{\"mesh\":0,\"scale\":[1e308,1e308,1e308],\"translation\":"
         "[1e308,1e308,1e308]}]," MESH "," BUFFERS "}",
         "not finite"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        glb g = make_tetrahedron(rows[i][0], &corner);
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_status status = load_glb(&g, &mesh, &view);
        if (status != CAROM_BAD_FILE) fail_msg("%s: %d", rows[i][0], (int)status);
        assert_null(mesh);
        const char *message = carom_context_message(context);
        if (strncmp(message, "a.glb: ", 7) != 0 || strstr(message, rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], message);
    }
}

/* A face beyond the vertices, and every cut of a whole file. */
static void cut_files_are_refused(void **state) {
    (void)state;
    static const char json[] = "{" SCENE ",\"nodes\":[{\"mesh\":0}]," MESH "," BUFFERS "}";
    tetrahedron wrong = corner;
    carom_mesh *mesh;
    carom_mesh_view view;
    wrong.corners[7] = 4;
    glb g = make_tetrahedron(json, &wrong);
    assert_int_equal(load_glb(&g, &mesh, &view), CAROM_BAD_FILE);
    assert_non_null(strstr(carom_context_message(context), "names vertex 4, its mesh has 4"));
    g = make_tetrahedron(json, &corner);
    assert_int_equal(load_glb(&g, &mesh, &view), CAROM_OK);
    assert_true(fabs(volume_of(&view) - 1.0 / 6.0) < 1e-16);
    carom_mesh_destroy(mesh);
    uint64_t whole = g.size;
    for (uint64_t size = 20; size < whole; ++size) {
        uint8_t *cut = malloc((size_t)size); /* so that a read beyond it is noticed */
        memcpy(cut, g.bytes, (size_t)size);
        assert_int_equal(
            carom_mesh_load_memory(context, cut, size, CAROM_MESH_FORMAT_GUESS, "a.glb", &mesh),
            CAROM_BAD_FILE);
        memcpy(cut + 8, &(uint32_t){(uint32_t)size}, 4); /* and where the head agrees */
        assert_int_not_equal(
            carom_mesh_load_memory(context, cut, size, CAROM_MESH_FORMAT_GUESS, "a.glb", &mesh),
            CAROM_NO_MEMORY);
        carom_mesh_destroy(mesh);
        free(cut);
    }
}

/* The unit of our own files is that of their input. */
static void our_unit_is_kept(void **state) {
    (void)state;
    static const struct {
        const char *unit;
        double metres;
    } rows[] = {{"mm", 0.001}, {"m", 1.0}, {"", 0.0}, {"in", 0.0254}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        char json[1024];
        snprintf(json, sizeof(json),
                 "{\"scenes\":[{\"nodes\":[0],\"extras\":{\"carom\":{\"unit\":\"%s\"}}}],"
                 "\"nodes\":[{\"mesh\":0}]," MESH "," BUFFERS "}",
                 rows[i].unit);
        glb g = make_tetrahedron(json, &corner);
        carom_mesh *mesh;
        carom_mesh_view view;
        carom_mesh_origin origin;
        assert_int_equal(load_glb(&g, &mesh, &view), CAROM_OK);
        assert_int_equal(carom_mesh_get_origin(mesh, &origin), CAROM_OK);
        assert_true(origin.metres == rows[i].metres);
        carom_mesh_destroy(mesh);
    }
}

static void json_is_walked(void **state) {
    (void)state;
    static const char text[] = " {\"a\" : [1, -2.5e1 ,{\"b\":[]}], \"c\":\"x\\\"y\" , \"d\":null}";
    carom_json root = carom_json_begin((const uint8_t *)text, sizeof(text) - 1), value, element;
    double number = 0.0;
    uint64_t count = 0;
    char name[8];
    assert_ptr_equal(carom_json_skip(root), text + sizeof(text) - 1);
    assert_true(carom_json_find(root, "a", &value));
    carom_json_walk walk = carom_json_enter(value, '[');
    assert_true(carom_json_next(&walk, &element) && carom_json_count(element, &count));
    assert_int_equal(count, 1);
    assert_true(carom_json_next(&walk, &element) && carom_json_number(element, &number));
    assert_true(number == -25.0 && !carom_json_count(element, &count));
    assert_true(carom_json_next(&walk, &element) && carom_json_find(element, "b", &value));
    assert_false(carom_json_next(&walk, &element));
    assert_false(walk.is_failed);
    assert_true(carom_json_find(root, "c", &value));
    assert_int_equal(carom_json_decode(value, name, sizeof(name)), 3);
    assert_string_equal(name, "x\"y");
    assert_int_equal(carom_json_decode(value, name, 3), 2);
    assert_false(carom_json_find(root, "e", &value));
    static const char *const wrong[] = {"",    "{",    "[1", "[}", "{\"a\"",
                                        "\"x", "\"\\", ",",  "]",  "[\"\\\"]"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i)
        assert_null(carom_json_skip(
            carom_json_begin((const uint8_t *)wrong[i], (uint64_t)strlen(wrong[i]))));
}

static int begin_tests(void **state) {
    (void)state;
    context = test_context(1);
    return 0;
}

static int end_tests(void **state) {
    (void)state;
    carom_context_destroy(context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_parts),
        cmocka_unit_test(strips_and_fans_are_triangles),
        cmocka_unit_test(quantised_positions_are_read),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(our_unit_is_kept),
        cmocka_unit_test(json_is_walked),
    };
    return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
