/* SPDX-License-Identifier: MIT */
/* Nothing in a file is dropped without a word: data beyond the counts of a header, files glued
 * together, bytes behind compressed ones, faces under another name. And nothing hangs: pipes can be
 * cancelled. */
#define _DEFAULT_SOURCE
#include "tests/support/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef CAROM_HAVE_ZLIB
#define ZLIB_CONST /* what is read is const */
#include <zlib.h>
#endif

#include "tests/support/campaign.h"

static carom_context *context;
static char folder[] = CAROM_BINARY_DIR "/lost-XXXXXX";

static const carom_mesh_format counted[] = {CAROM_MESH_FORMAT_PLY, CAROM_MESH_FORMAT_PLY_BIG,
                                            CAROM_MESH_FORMAT_PLY_ASCII, CAROM_MESH_FORMAT_STL,
                                            CAROM_MESH_FORMAT_OFF};

/* ---- files with counts ----------------------------------------------------------------------- */

/* A seeded mesh of float32 triangles (or polygons, but for STL), as a file in memory. */
static void make_file(uint64_t seed, carom_mesh_format format, uint64_t *faces,
                      carom_bytes *bytes) {
    carom_random random = {seed};
    enum { MOST_VERTICES = 12, MOST_FACES = 9, MOST_CORNERS = 6 };
    float positions[MOST_VERTICES][3];
    uint32_t corners[MOST_FACES * MOST_CORNERS];
    uint64_t offsets[MOST_FACES + 1] = {0};
    uint64_t vertices = 1 + carom_random_next(&random) % MOST_VERTICES;
    *faces = 1 + carom_random_next(&random) % MOST_FACES;
    bool polygons = format != CAROM_MESH_FORMAT_STL && seed % 2 == 1;
    for (uint64_t i = 0; i < vertices; ++i)
        for (int c = 0; c < 3; ++c)
            positions[i][c] = (float)carom_random_between(&random, -1.0, 1.0);
    for (uint64_t f = 0; f < *faces; ++f) {
        uint64_t count = polygons ? 3 + carom_random_next(&random) % (MOST_CORNERS - 2) : 3;
        offsets[f + 1] = offsets[f] + count;
        for (uint64_t c = 0; c < count; ++c)
            corners[offsets[f] + c] = (uint32_t)(carom_random_next(&random) % vertices);
    }
    carom_mesh_view view = {.positions = positions,
                            .scalar = CAROM_SCALAR_FLOAT32,
                            .vertex_count = vertices,
                            .corners = corners,
                            .offsets = offsets,
                            .face_count = *faces};
    assert_ok(context, carom_mesh_save_memory(context, &view, format, bytes));
}

/* Lowers the number of faces that the header promises by one, in place; the size stays. */
static void promise_less(carom_mesh_format format, uint64_t faces, uint8_t *file, uint64_t size) {
    char from[64], to[64];
    if (format == CAROM_MESH_FORMAT_STL) {
        file[80] = (uint8_t)(faces - 1);
        return;
    }
    if (format == CAROM_MESH_FORMAT_OFF) { /* "OFF\n12 9 0": the second number of the second line */
        uint8_t *at = memchr(file + 4, ' ', (size_t)size - 4);
        assert_non_null(at);
        at[1] = (uint8_t)('0' + faces - 1);
        return;
    }
    snprintf(from, sizeof(from), "element face %u\n", (unsigned)faces);
    snprintf(to, sizeof(to), "element face %u\n", (unsigned)faces - 1);
    for (uint64_t i = 0; i + strlen(from) < size; ++i)
        if (memcmp(file + i, from, strlen(from)) == 0) {
            memcpy(file + i, to, strlen(to));
            return;
        }
    fail_msg("no element face");
}

static void expect_named(const uint8_t *file, uint64_t size, carom_mesh_format format,
                         const char *words) {
    carom_mesh *mesh;
    carom_status status = carom_mesh_load_memory(context, file, size, format, "a", &mesh);
    if (status != CAROM_BAD_FILE || strstr(carom_context_message(context), words) == NULL)
        fail_msg("%s: %s: %s", carom_mesh_format_name(format), carom_status_name(status),
                 status == CAROM_OK ? "" : carom_context_message(context));
    assert_null(mesh);
}

static void expect_read(const uint8_t *file, uint64_t size, carom_mesh_format format,
                        uint64_t faces) {
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_ok(context, carom_mesh_load_memory(context, file, size, format, "a", &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.face_count, faces);
    carom_mesh_destroy(mesh);
}

static void faces_beyond_the_count_are_named(void **state) {
    (void)state;
    uint64_t seeds = campaign_is_long() ? 20000 : 400;
    for (uint64_t seed = 0; seed < seeds; ++seed)
        for (size_t i = 0; i < COUNT_OF(counted); ++i) {
            carom_bytes bytes = {0};
            uint64_t faces;
            make_file(seed, counted[i], &faces, &bytes);
            expect_read(bytes.data, bytes.count, counted[i], faces);
            promise_less(counted[i], faces, bytes.data, bytes.count);
            expect_named(bytes.data, bytes.count, counted[i], "promises");
            carom_bytes_free(&bytes);
        }
}

static void glued_files_are_named(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; ++seed)
        for (size_t i = 0; i < COUNT_OF(counted); ++i) {
            carom_bytes bytes = {0};
            uint64_t faces;
            make_file(seed, counted[i], &faces, &bytes);
            uint8_t *two = malloc(2 * (size_t)bytes.count);
            assert_non_null(two);
            memcpy(two, bytes.data, (size_t)bytes.count);
            memcpy(two + bytes.count, bytes.data, (size_t)bytes.count);
            expect_named(two, 2 * bytes.count, counted[i], "promises");
            /* also when only some of the second is there */
            uint64_t some = 1 + seed % bytes.count;
            expect_named(two, bytes.count + some, counted[i], "promises");
            free(two);
            carom_bytes_free(&bytes);
        }
}

static void padding_is_not_data(void **state) {
    (void)state;
    static const uint8_t pads[][3] = {{0, 0, 0}, {'\n', '\n', '\n'}, {0x1A, 0, 0}, {'\r', '\n', 0}};
    for (size_t p = 0; p < COUNT_OF(pads); ++p)
        for (size_t i = 0; i < COUNT_OF(counted); ++i) {
            carom_bytes bytes = {0};
            uint64_t faces;
            make_file(p, counted[i], &faces, &bytes);
            uint8_t *padded = malloc((size_t)bytes.count + 3);
            assert_non_null(padded);
            memcpy(padded, bytes.data, (size_t)bytes.count);
            memcpy(padded + bytes.count, pads[p], 3);
            expect_read(padded, bytes.count + 3, counted[i], faces);
            free(padded);
            carom_bytes_free(&bytes);
        }
    /* zeros that are as many as a facet or a vertex are one */
    uint8_t stl[84 + 50] = "one facet too many";
    expect_named(stl, sizeof(stl), CAROM_MESH_FORMAT_STL, "room for 1 more");
    expect_read(stl, sizeof(stl) - 1, CAROM_MESH_FORMAT_STL, 0);
    uint8_t ply[256] = "ply\nformat binary_little_endian 1.0\nelement vertex 0\nproperty float x\n"
                       "property float y\nproperty float z\nend_header\n";
    uint64_t header = strlen((char *)ply);
    expect_named(ply, header + 12, CAROM_MESH_FORMAT_PLY,
                 "byte 115: 12 bytes follow the last of the 0");
    expect_read(ply, header + 11, CAROM_MESH_FORMAT_PLY, 0);
}

static void messages_say_where_and_what_to_do(void **state) {
    (void)state;
    static const struct {
        carom_mesh_format format;
        const char *text, *message;
    } cases[] = {
        {CAROM_MESH_FORMAT_OFF, "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n# so far\n3 2 1 0\n",
         "a: line 8: \"3\" follows the last of the 1 faces that the header promises; correct its "
         "counts, or remove what is too much"},
        {CAROM_MESH_FORMAT_PLY,
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
         "float z\nend_header\n0 0 0\n1 1 1\n",
         "a: line 9: \"1\" follows the last of the 1 of element vertex that the header promises; "
         "correct its counts, or remove what is too much"},
        {CAROM_MESH_FORMAT_PLY,
         "ply\nformat ascii 1.0\nformat ascii 1.0\nelement vertex 1\nproperty float x\n",
         "a: line 3: a second format"},
        {CAROM_MESH_FORMAT_PLY,
         "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
         "float z\nelement polygon 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n"
         "1 0 0\n0 1 0\n3 0 1 2\n",
         "a: line 10: element polygon has the list vertex_indices; if it holds the faces, name it "
         "face"},
        {CAROM_MESH_FORMAT_OBJ, "hello world\n",
         "a: line 1: \"hello\" is no OBJ statement, and the file has no vertices"},
        {CAROM_MESH_FORMAT_OBJ, "# x\no a\nsolid x\nfacet normal 0 0 0\n",
         "a: line 3: \"solid\" is no OBJ statement, and the file has no vertices"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
        carom_mesh *mesh;
        assert_int_equal(carom_mesh_load_memory(context, cases[i].text, strlen(cases[i].text),
                                                cases[i].format, "a", &mesh),
                         CAROM_BAD_FILE);
        assert_string_equal(carom_context_message(context), cases[i].message);
    }
    /* old and loud files are read */
    static const char *const loud[] = {"V 0 0 0\nV 1 0 0\nV 0 1 0\nF 1 2 3\n",
                                       "v 0 0 0\nv 1 0 0\nv 0 1 0\nfo 1 2 3\n",
                                       "ext 1\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nmine 7\n"};
    for (size_t i = 0; i < COUNT_OF(loud); ++i)
        expect_read((const uint8_t *)loud[i], strlen(loud[i]), CAROM_MESH_FORMAT_OBJ, 1);
}

static void cad_files_are_told_what_to_do(void **state) {
    (void)state;
    static const char *const names[] = {"a.step", "A.STP",  "b/c.step.gz", "x.igs",
                                        "x.IGES", "y.brep", "z.FCStd"};
    static const char step[] = "ISO-10303-21;\nHEADER;\n";
    carom_mesh *mesh;
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        assert_fails(context,
                     carom_mesh_load_memory(context, step, sizeof(step) - 1,
                                            CAROM_MESH_FORMAT_GUESS, names[i], &mesh),
                     CAROM_UNSUPPORTED, "as STL or OBJ");
        assert_non_null(strstr(carom_context_message(context), names[i]));
    }
    assert_fails(context,
                 carom_mesh_load_memory(context, step, sizeof(step) - 1, CAROM_MESH_FORMAT_GUESS,
                                        "standard input", &mesh),
                 CAROM_UNSUPPORTED, "standard input: STEP");
    /* a mesh under such a name is a mesh */
    assert_ok(context, carom_mesh_load_memory(context, "OFF\n0 0 0\n", 10, CAROM_MESH_FORMAT_GUESS,
                                              "a.step", &mesh));
    carom_mesh_destroy(mesh);
}

/* ---- empty meshes ---------------------------------------------------------------------------- */

static void empty_meshes_survive_every_file(void **state) {
    (void)state;
    static const char *const names[] = {"e.obj",
                                        "e.ply",
                                        "e.stl",
                                        "e.off"
#ifdef CAROM_HAVE_ZLIB
                                        ,
                                        "e.obj.gz",
                                        "e.ply.gz",
                                        "e.stl.gz",
                                        "e.off.gz"
#endif
    };
    char path[512];
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        carom_mesh_view nothing = {0}, view;
        carom_mesh *mesh;
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        assert_ok(context, carom_mesh_save(context, &nothing, CAROM_MESH_FORMAT_GUESS, path));
        assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_int_equal(view.vertex_count, 0);
        assert_int_equal(view.face_count, 0);
        carom_mesh_destroy(mesh);
        assert_int_equal(unlink(path), 0);
    }
}

/* ---- gzip ------------------------------------------------------------------------------------ */

#ifdef CAROM_HAVE_ZLIB
static void bytes_behind_compressed_ones_are_named(void **state) {
    (void)state;
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    uint8_t packed[512];
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (const Bytef *)text;
    stream.avail_in = sizeof(text) - 1;
    stream.next_out = packed;
    stream.avail_out = sizeof(packed) - 32;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    uint64_t size = stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    memset(packed + size, 0, 32);
    expect_read(packed, size, CAROM_MESH_FORMAT_OBJ, 1);
    expect_read(packed, size + 32, CAROM_MESH_FORMAT_OBJ, 1); /* zeros are padding */
    memcpy(packed + size, "f 1 3 2\n", 8);
    expect_named(packed, size + 8, CAROM_MESH_FORMAT_OBJ, "8 bytes follow that are not compressed");
    packed[size] = 0;
    expect_named(packed, size + 8, CAROM_MESH_FORMAT_OBJ, "8 bytes follow that are not compressed");
}
#endif

/* ---- pipes ----------------------------------------------------------------------------------- */

typedef struct patience {
    int calls, most;
} patience;

static bool lose_patience(void *user, const char *what, double fraction) {
    patience *p = user;
    assert_non_null(what);
    assert_true(fraction >= 0.0 && fraction <= 1.0);
    return ++p->calls >= p->most;
}

static void pipes_without_another_end_can_be_cancelled(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    patience p = {0, 4};
    carom_context_def def = {.threads = 1, .progress = lose_patience, .progress_user = &p};
    carom_context *own;
    carom_mesh *mesh;
    assert_ok(NULL, carom_context_create(&def, &own));
    assert_fails(own, carom_mesh_load(own, path, CAROM_MESH_FORMAT_GUESS, &mesh), CAROM_CANCELLED,
                 "cancelled");
    assert_null(mesh);
    p.calls = 0;
    carom_mesh_view nothing = {0};
    assert_fails(own, carom_mesh_save(own, &nothing, CAROM_MESH_FORMAT_OFF, path), CAROM_CANCELLED,
                 "cancelled");
    /* a reader that does not read: more than a pipe holds stays behind */
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    static double positions[100000][3];
    carom_mesh_view many = {.positions = positions, .vertex_count = 100000};
    p = (patience){0, 6};
    assert_fails(own, carom_mesh_save(own, &many, CAROM_MESH_FORMAT_PLY, path), CAROM_CANCELLED,
                 "cancelled");
    close(reader);
    carom_context_destroy(own);
    assert_int_equal(unlink(path), 0);
}

static void *write_slowly(void *argument) {
    FILE *out = fopen(argument, "w");
    if (out == NULL) return NULL;
    for (const char *c = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"; *c != '\0'; ++c) {
        fputc(*c, out);
        fflush(out);
        if (*c == '\n') usleep(2000);
    }
    fclose(out);
    return NULL;
}

static void slow_pipes_are_read_to_their_end(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s/slow", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    pthread_t writer;
    carom_mesh *mesh;
    carom_mesh_view view;
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, path), 0);
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.face_count, 1);
    carom_mesh_destroy(mesh);
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(unlink(path), 0);
}

static int set_up(void **state) {
    (void)state;
    context = test_context(1);
    return mkdtemp(folder) == NULL;
}

static int tear_down(void **state) {
    (void)state;
    carom_context_destroy(context);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_beyond_the_count_are_named),
        cmocka_unit_test(glued_files_are_named),
        cmocka_unit_test(padding_is_not_data),
        cmocka_unit_test(messages_say_where_and_what_to_do),
        cmocka_unit_test(cad_files_are_told_what_to_do),
        cmocka_unit_test(empty_meshes_survive_every_file),
#ifdef CAROM_HAVE_ZLIB
        cmocka_unit_test(bytes_behind_compressed_ones_are_named),
#endif
        cmocka_unit_test(pipes_without_another_end_can_be_cancelled),
        cmocka_unit_test(slow_pipes_are_read_to_their_end),
    };
    return cmocka_run_group_tests_name("mesh_lost", tests, set_up, tear_down);
}
