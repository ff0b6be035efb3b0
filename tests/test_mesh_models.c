/* SPDX-License-Identifier: MIT */
/* Real files: every model of the shared folder loads with the counts of its index, and every
 * malformed one gives its message or loads for a reason stated here. Skipped without the folder.
 * One thread. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST_CONTEXT(1)

static void models_path(char *path, size_t size, const char *file) {
    snprintf(path, size, "%s/models/%s", test_shared_folder(), file);
}

/* ---- the index ------------------------------------------------------------------------------- */

/* Takes the next field off a CSV line in place; fields in quotes may hold commas. */
static char *next_field(char **at) {
    char *field = *at, *end;
    if (*field == '"') {
        end = strchr(++field, '"');
        assert_non_null(end);
        *end++ = '\0';
    } else {
        end = field + strcspn(field, ",\r\n");
    }
    *at = *end == ',' ? end + 1 : end;
    *end = '\0';
    return field;
}

static const char *ending(const char *file) {
    size_t length = strlen(file);
    return length > 3 ? file + length - 3 : file;
}

static void check_model(const char *path, uint64_t vertices, uint64_t triangles) {
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_check(context, &view));
    uint64_t corners = view.offsets != NULL ? view.offsets[view.face_count] : 3 * view.face_count;
    uint64_t fan = corners - 2 * view.face_count;
    if (view.vertex_count != vertices || fan != triangles)
        fail_msg("%s has %" PRIu64 " vertices and %" PRIu64 " triangles, its index says %" PRIu64
                 " and %" PRIu64,
                 path, view.vertex_count, fan, vertices, triangles);
    carom_mesh_destroy(mesh);
}

static void every_model_loads_with_the_counts_of_its_index(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    static char line[8192];
    char path[1024], folder[] = CAROM_BINARY_DIR "/stats-XXXXXX", command[2048];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command), "tar xzf '%s/models/stats.tar.gz' -C '%s'",
             test_shared_folder(), folder);
    assert_int_equal(system(command), 0);
    models_path(path, sizeof(path), "index.csv");
    FILE *index = fopen(path, "r");
    assert_non_null(index);
    assert_non_null(fgets(line, sizeof(line), index)); /* the names of the columns */
    int loaded = 0, packed = 0;
    while (fgets(line, sizeof(line), index) != NULL) {
        char *at = line, *file = next_field(&at);
        (void)next_field(&at);
        (void)next_field(&at);
        char *vertices = next_field(&at), *triangles = next_field(&at);
        if (*vertices == '\0') continue; /* no mesh, or a malformed one */
        bool gzip = strcmp(ending(file), ".gz") == 0;
        packed += gzip;
#ifndef CAROM_HAVE_ZLIB
        if (gzip) continue;
#endif
        if (strncmp(file, "stats.tar.gz:", 13) == 0)
            snprintf(path, sizeof(path), "%s/%s", folder, file + 13);
        else
            models_path(path, sizeof(path), file);
        check_model(path, strtoull(vertices, NULL, 10), strtoull(triangles, NULL, 10));
        ++loaded;
    }
    fclose(index);
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
    print_message("%d models, %d of the index are gzipped\n", loaded, packed);
    assert_true(loaded > 700 && packed > 50);
}

/* ---- malformed files ------------------------------------------------------------------------- */

typedef struct malformed {
    const char *file;
    const char *message;      /* after the file's name; NULL: it loads */
    uint64_t vertices, faces; /* of those that load ... */
    const char *why;          /* ... and the reason */
} malformed;

static const malformed files[] = {
    {"CGAL_invalid_cut.off", "line 12: the file ends after 0 of 4 faces", 0, 0, NULL},
    {"CGAL_invalid_cut.stl", "line 255: the file ends inside facet 36", 0, 0, NULL},
    {"CGAL_invalid_header.off", NULL, 4, 4, "it promises normals, which we pass over anyway"},
    {"CGAL_invalid_nv.ply", "line 25: vertex 0: the end of the line stands where a value should", 0,
     0, NULL},
    {"assimp_OutOfMemory.off",
     "line 2: 353535235358 vertices are promised, the file has room for 48", 0, 0, NULL},
    {"assimp_box_UTF16BE.obj", "byte 0: the text is UTF-16; save it as ASCII or UTF-8", 0, 0, NULL},
    {"assimp_box_longline.obj", NULL, 8, 6, "a line may have any length"},
    {"assimp_box_without_lineending.obj", NULL, 8, 6, "the last line needs no end"},
    {"assimp_cube_binary_starts_with_nl.ply", NULL, 8, 6, "its data begin with the byte of LF"},
    {"assimp_empty.obj", "the file is empty", 0, 0, NULL},
    {"assimp_empty.ply", "the file is empty", 0, 0, NULL},
    {"assimp_invalid.off", "line 7: face 1: the end of the line stands where corner 0 of 2 should",
     0, 0, NULL},
    {"assimp_issue623.ply",
     "line 14: vertex 0: the end of the line stands where the length of a list should", 0, 0, NULL},
    {"assimp_malformed.obj", "line 28: a face names vertex 0; they are numbered from 1", 0, 0,
     NULL},
    {"assimp_number_formats.obj", "line 11: vertex 8: \"3.1+e2\" is no finite number", 0, 0, NULL},
    {"assimp_triangle_with_empty_solid.stl", NULL, 3, 1, "a solid may be empty"},
    {"assimp_triangle_with_two_solids.stl", NULL, 6, 2, "a file may hold several solids"},
    {"mikedh_comments.off", NULL, 8, 6, "comments may be anywhere"},
    {"mikedh_empty.ply", NULL, 0, 0, "it says that it is empty"},
    {"mikedh_empty.stl", NULL, 0, 0, "it says that it is empty"},
    {"mikedh_multibody.stl", NULL, 96, 32, "a file may hold several solids"},
    {"mikedh_nancolor.obj", NULL, 8, 12, "colours are passed over, whatever they are"},
    {"mikedh_negative_indices.obj", NULL, 8, 6, "negative numbers count backwards"},
    {"mikedh_notenoughindices.obj", NULL, 3, 1, "a face of two corners is skipped and counted"},
    {"mikedh_obj_with_no_face_in_chunk.obj", NULL, 3, 1, "groups mean nothing to a mesh"},
    {"mikedh_ply_empty_header.ply", "line 4: the header has no element vertex", 0, 0, NULL},
    {"mikedh_stl_empty_bin.stl", NULL, 0, 0, "it says that it is empty"},
};

static void every_malformed_file_is_explained(void **state) {
    (void)state;
    if (test_shared_folder() == NULL) skip();
    for (size_t i = 0; i < COUNT_OF(files); ++i) {
        const malformed *m = &files[i];
        char path[1024], message[2048], name[128];
        carom_mesh *mesh;
        snprintf(name, sizeof(name), "malformed/%s", m->file);
        models_path(path, sizeof(path), name);
        carom_status status = carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh);
        if (m->message != NULL) {
            snprintf(message, sizeof(message), "%s: %s", path, m->message);
            assert_int_equal(status, CAROM_BAD_FILE);
            assert_string_equal(carom_context_message(context), message);
        } else {
            carom_mesh_view view;
            assert_ok(context, status);
            assert_ok(context, carom_mesh_get_view(mesh, &view));
            assert_int_equal(view.vertex_count, m->vertices);
            assert_int_equal(view.face_count, m->faces);
            assert_true(strlen(m->why) > 0);
        }
        carom_mesh_destroy(mesh);
    }
    /* None is forgotten. */
    char command[1200], count[32] = "";
    snprintf(command, sizeof(command), "ls '%s/models/malformed' | wc -l", test_shared_folder());
    FILE *listing = popen(command, "r");
    assert_non_null(listing);
    assert_non_null(fgets(count, sizeof(count), listing));
    pclose(listing);
    assert_int_equal(strtoul(count, NULL, 10), COUNT_OF(files));
}

/* ---- other formats --------------------------------------------------------------------------- */

/* Two nodes show one quad: as it is, and moved by 10 and doubled. */
static const char collada[] =
    "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" "
    "version=\"1.4.1\"><asset><up_axis>Y_UP</up_axis></asset><library_geometries><geometry "
    "id=\"g\">"
    "<mesh><source id=\"p\"><float_array id=\"pa\" count=\"12\">0 0 0 1 0 0 1 1 0 0 1 0"
    "</float_array><technique_common><accessor source=\"#pa\" count=\"4\" stride=\"3\">"
    "<param name=\"X\" type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" "
    "type=\"float\"/></accessor></technique_common></source><vertices id=\"v\"><input "
    "semantic=\"POSITION\" source=\"#p\"/></vertices><polylist count=\"1\"><input "
    "semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><vcount>4</vcount><p>0 1 2 3</p></polylist>"
    "</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id=\"s\">"
    "<node id=\"a\"><instance_geometry url=\"#g\"/></node><node id=\"b\"><matrix>2 0 0 10 0 2 0 0 "
    "0 "
    "0 2 0 0 0 0 1</matrix><instance_geometry url=\"#g\"/></node></visual_scene>"
    "</library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>";

static void other_formats_come_through_assimp_or_say_why_not(void **state) {
    (void)state;
    carom_mesh *mesh;
    carom_status status = carom_mesh_load_memory(context, collada, sizeof(collada) - 1,
                                                 CAROM_MESH_FORMAT_GUESS, "two.dae", &mesh);
    if (status == CAROM_UNSUPPORTED) {
        assert_null(mesh);
        assert_non_null(strstr(carom_context_message(context), "two.dae: "));
        assert_non_null(strstr(carom_context_message(context), "OBJ, PLY, STL and OFF"));
#ifndef CAROM_HAVE_ASSIMP
        return;
#endif
        skip(); /* built with it, but it is not on this machine */
    }
    assert_ok(context, status);
    carom_mesh_view view;
    carom_mesh_origin origin;
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_get_origin(mesh, &origin));
    assert_int_equal(origin.format, CAROM_MESH_FORMAT_OTHER);
    assert_int_equal(view.vertex_count, 8);
    assert_int_equal(view.face_count, 2);
    assert_int_equal(view.offsets[1], 4);
    const double *p = view.positions;
    assert_true(p[6] == 1.0 && p[7] == 1.0);    /* the third corner */
    assert_true(p[18] == 12.0 && p[19] == 2.0); /* and where the second node puts it */
    carom_mesh_destroy(mesh);
    assert_fails(
        context,
        carom_mesh_load_memory(context, "junk", 4, CAROM_MESH_FORMAT_GUESS, "a.dae", &mesh),
        CAROM_BAD_FILE, "a.dae: assimp says: ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_loads_with_the_counts_of_its_index),
        cmocka_unit_test(every_malformed_file_is_explained),
        cmocka_unit_test(other_formats_come_through_assimp_or_say_why_not),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
