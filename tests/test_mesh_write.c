/* SPDX-License-Identifier: MIT */
/* Writing, and reading it back: the same values, bit for bit, and the same faces. Then full disks,
 * compressed files, memory that runs out and memory that must not be taken. One thread. */
#define _DEFAULT_SOURCE
#include "tests/support/test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef CAROM_HAVE_ZLIB
#define ZLIB_CONST /* what is read is const */
#include <zlib.h>
#endif

static carom_context *context;
static char folder[] = CAROM_BINARY_DIR "/mesh-XXXXXX";

static const carom_mesh_format written[] = {
    CAROM_MESH_FORMAT_OBJ,       CAROM_MESH_FORMAT_PLY, CAROM_MESH_FORMAT_PLY_BIG,
    CAROM_MESH_FORMAT_PLY_ASCII, CAROM_MESH_FORMAT_STL, CAROM_MESH_FORMAT_STL_ASCII,
    CAROM_MESH_FORMAT_OFF,
};

/* ---- meshes to write ------------------------------------------------------------------------- */

#define VERTICES 300
#define FACES    500

typedef struct sample {
    double f64[VERTICES][3];
    float f32[VERTICES][3];
    uint32_t corners[FACES * 400];
    uint64_t offsets[FACES + 1];
} sample;

/* Any finite number, the odd ones above all. */
static double odd_number(carom_random *random, bool narrow) {
    for (;;) {
        uint64_t bits = carom_random_next(random);
        double f64;
        switch (bits % 8) {
        case 0:
            f64 = bits & 8 ? -0.0 : 0.0;
            break;
        case 1:
            f64 = narrow ? (double)(1.4e-45f * (float)(bits >> 60)) : 5e-324 * (double)(bits >> 50);
            break;
        case 2:
            f64 = narrow ? 3.40282346638528859811704183484516925e38 : 1.7976931348623157e308;
            break;
        case 3:
            f64 = (double)(bits >> 40) / 1000.0;
            break;
        case 4:
            f64 = carom_random_between(random, -1.0, 1.0);
            break;
        default:
            memcpy(&f64, &bits, sizeof(f64));
            break;
        }
        if (narrow && fabs(f64) < 3.5e38) f64 = (double)(float)f64;
        if (f64 - f64 == 0.0 && (!narrow || fabs(f64) < 3.5e38)) return f64;
    }
}

static carom_mesh_view make_sample(sample *s, uint64_t seed, carom_scalar scalar, bool polygons) {
    carom_random random = {seed};
    for (int v = 0; v < VERTICES; ++v)
        for (int c = 0; c < 3; ++c) {
            s->f64[v][c] = odd_number(&random, scalar == CAROM_SCALAR_FLOAT32);
            s->f32[v][c] = scalar == CAROM_SCALAR_FLOAT32 ? (float)s->f64[v][c] : 0.0f;
        }
    s->offsets[0] = 0;
    for (int f = 0; f < FACES; ++f) {
        uint64_t count = polygons ? 3 + carom_random_next(&random) % 4 : 3;
        if (polygons && f == 77) count = seed % 2 == 0 ? 300 : 255; /* needs wide counts, or not */
        for (uint64_t c = 0; c < count; ++c)
            s->corners[s->offsets[f] + c] = (uint32_t)(carom_random_next(&random) % VERTICES);
        s->offsets[f + 1] = s->offsets[f] + count;
    }
    return (carom_mesh_view){.positions =
                                 scalar == CAROM_SCALAR_FLOAT32 ? (void *)s->f32 : (void *)s->f64,
                             .scalar = scalar,
                             .vertex_count = VERTICES,
                             .corners = s->corners,
                             .offsets = polygons ? s->offsets : NULL,
                             .face_count = FACES};
}

static void position(const carom_mesh_view *view, uint64_t vertex, double xyz[3]) {
    for (int c = 0; c < 3; ++c)
        xyz[c] = view->scalar == CAROM_SCALAR_FLOAT32
                     ? (double)((const float *)view->positions)[3 * vertex + (uint64_t)c]
                     : ((const double *)view->positions)[3 * vertex + (uint64_t)c];
}

static void assert_same(const carom_mesh_view *a, const carom_mesh_view *b, bool own_corners) {
    double p[3], q[3];
    uint64_t corners = a->offsets != NULL ? a->offsets[a->face_count] : 3 * a->face_count;
    assert_int_equal(a->face_count, b->face_count);
    assert_int_equal(a->offsets != NULL, b->offsets != NULL);
    if (a->offsets != NULL)
        assert_memory_equal(a->offsets, b->offsets, (a->face_count + 1) * sizeof(*a->offsets));
    if (!own_corners) {
        assert_int_equal(a->vertex_count, b->vertex_count);
        assert_memory_equal(a->corners, b->corners, corners * sizeof(*a->corners));
        for (uint64_t i = 0; i < a->vertex_count; ++i) {
            position(a, i, p);
            position(b, i, q);
            assert_memory_equal(p, q, sizeof(p));
        }
    }
    for (uint64_t i = 0; i < corners; ++i) {
        position(a, a->corners[i], p);
        position(b, b->corners[i], q);
        assert_memory_equal(p, q, sizeof(p));
    }
}

static bool is_stl(carom_mesh_format format) {
    return format == CAROM_MESH_FORMAT_STL || format == CAROM_MESH_FORMAT_STL_ASCII;
}

static carom_mesh *load_bytes(const carom_bytes *bytes, carom_mesh_format format) {
    carom_mesh *mesh;
    uint8_t *exact = malloc(bytes->count);
    assert_non_null(exact);
    memcpy(exact, bytes->data, bytes->count);
    assert_ok(context,
              carom_mesh_load_memory(context, exact, bytes->count, format, "written", &mesh));
    free(exact);
    return mesh;
}

/* ---- round trips ----------------------------------------------------------------------------- */

static void every_format_reads_back_what_it_wrote(void **state) {
    (void)state;
    static sample s;
    carom_bytes bytes = {0};
    for (uint64_t seed = 0; seed < 40; ++seed) {
        carom_scalar scalar = seed % 4 < 2 ? CAROM_SCALAR_FLOAT64 : CAROM_SCALAR_FLOAT32;
        bool polygons = seed % 3 == 0;
        carom_mesh_view given = make_sample(&s, seed, scalar, polygons), view;
        for (size_t f = 0; f < COUNT_OF(written); ++f) {
            if (is_stl(written[f]) && polygons) continue;
            if (written[f] == CAROM_MESH_FORMAT_STL && scalar == CAROM_SCALAR_FLOAT64) continue;
            assert_ok(context, carom_mesh_save_memory(context, &given, written[f], &bytes));
            carom_mesh *mesh = load_bytes(&bytes, written[f]);
            carom_mesh_origin origin;
            assert_ok(context, carom_mesh_get_view(mesh, &view));
            assert_ok(context, carom_mesh_get_origin(mesh, &origin));
            assert_int_equal(origin.format, written[f]);
            assert_int_equal(origin.skipped_faces, 0);
            bool binary = written[f] == CAROM_MESH_FORMAT_PLY ||
                          written[f] == CAROM_MESH_FORMAT_PLY_BIG ||
                          written[f] == CAROM_MESH_FORMAT_STL;
            assert_int_equal(view.scalar, binary ? scalar : CAROM_SCALAR_FLOAT64);
            assert_same(&given, &view, is_stl(written[f]));
            carom_mesh_destroy(mesh);
        }
    }
    carom_bytes_free(&bytes);
}

static void strided_views_are_written_like_packed_ones(void **state) {
    (void)state;
    static sample s;
    static double wide[VERTICES][5];
    carom_mesh_view packed = make_sample(&s, 5, CAROM_SCALAR_FLOAT64, false), strided = packed;
    for (int v = 0; v < VERTICES; ++v) memcpy(wide[v], s.f64[v], sizeof(s.f64[v]));
    strided.positions = wide;
    strided.stride = sizeof(wide[0]);
    for (size_t f = 0; f < COUNT_OF(written); ++f) {
        if (written[f] == CAROM_MESH_FORMAT_STL) continue;
        carom_bytes a = {0}, b = {0};
        assert_ok(context, carom_mesh_save_memory(context, &packed, written[f], &a));
        assert_ok(context, carom_mesh_save_memory(context, &strided, written[f], &b));
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.data, b.data, a.count);
        carom_bytes_free(&a);
        carom_bytes_free(&b);
    }
}

static void empty_meshes_are_written_and_read(void **state) {
    (void)state;
    carom_mesh_view nothing = {0}, view;
    const double point[3] = {1.0, 2.0, 3.0};
    carom_mesh_view lone = {.positions = point, .vertex_count = 1};
    for (size_t f = 0; f < COUNT_OF(written); ++f)
        for (int k = 0; k < 2; ++k) {
            carom_bytes bytes = {0};
            carom_mesh_view given = k == 0 ? nothing : lone;
            assert_ok(context, carom_mesh_save_memory(context, &given, written[f], &bytes));
            carom_mesh *mesh = load_bytes(&bytes, written[f]);
            assert_ok(context, carom_mesh_get_view(mesh, &view));
            assert_same(&given, &view, is_stl(written[f]));
            carom_mesh_destroy(mesh);
            carom_bytes_free(&bytes);
        }
}

static void stl_takes_triangles_and_float32_only(void **state) {
    (void)state;
    static sample s;
    carom_bytes bytes = {0};
    carom_mesh_view view = make_sample(&s, 3, CAROM_SCALAR_FLOAT64, true);
    assert_fails(context,
                 carom_mesh_save_memory(context, &view, CAROM_MESH_FORMAT_STL_ASCII, &bytes),
                 CAROM_BAD_INPUT, "corners and STL holds triangles only; triangulate first");
    view = make_sample(&s, 4, CAROM_SCALAR_FLOAT64, false);
    assert_fails(context, carom_mesh_save_memory(context, &view, CAROM_MESH_FORMAT_STL, &bytes),
                 CAROM_BAD_INPUT, "binary STL holds float32 and these positions need float64");
    carom_bytes_free(&bytes);
    char path[256];
    snprintf(path, sizeof(path), "%s/doubles.stl", folder);
    carom_mesh *mesh;
    carom_mesh_view back;
    assert_ok(context, carom_mesh_save(context, &view, CAROM_MESH_FORMAT_GUESS, path));
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS,
                                       &mesh)); /* as text, so that nothing is lost */
    assert_ok(context, carom_mesh_get_view(mesh, &back));
    assert_same(&view, &back, true);
    carom_mesh_destroy(mesh);
}

static void a_callers_buffer_is_filled_and_the_true_size_told(void **state) {
    (void)state;
    static sample s;
    static uint8_t buffer[1000];
    carom_mesh_view view = make_sample(&s, 6, CAROM_SCALAR_FLOAT32, true);
    carom_bytes whole = {0},
                mine = {.data = buffer, .capacity = sizeof(buffer), .owner = CAROM_OWNER_CALLER};
    assert_ok(context, carom_mesh_save_memory(context, &view, CAROM_MESH_FORMAT_PLY, &whole));
    assert_int_equal(carom_mesh_save_memory(context, &view, CAROM_MESH_FORMAT_PLY, &mine),
                     CAROM_MORE);
    assert_int_equal(mine.count, whole.count);
    assert_memory_equal(buffer, whole.data, sizeof(buffer));
    carom_bytes_free(&whole);
    carom_bytes_free(&mine);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void files_are_written_by_name_compressed_too(void **state) {
    (void)state;
    static sample s;
    static const char *const names[] = {"a.obj",    "a.ply",    "a.stl",    "a.off",
                                        "a.OBJ.gz", "a.ply.gz", "a.stl.gz", "a.off.gz"};
    carom_mesh_view given = make_sample(&s, 10, CAROM_SCALAR_FLOAT32, false), view;
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        bool gzip = strstr(names[i], ".gz") != NULL;
        carom_mesh *mesh;
        carom_mesh_origin origin;
        carom_status status = carom_mesh_save(context, &given, CAROM_MESH_FORMAT_GUESS, path);
#ifndef CAROM_HAVE_ZLIB
        if (gzip) {
            assert_fails(context, status, CAROM_UNSUPPORTED, "gzip needs zlib");
            continue;
        }
#endif
        assert_ok(context, status);
        assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
        assert_ok(context, carom_mesh_get_view(mesh, &view));
        assert_ok(context, carom_mesh_get_origin(mesh, &origin));
        assert_int_equal(origin.compressed, gzip);
        assert_same(&given, &view, strstr(names[i], ".stl") != NULL);
        carom_mesh_destroy(mesh);
    }
    assert_fails(context, carom_mesh_save(context, &given, CAROM_MESH_FORMAT_GUESS, "a.gltf"),
                 CAROM_UNSUPPORTED, "a.gltf: no format that can be written; there are OBJ, PLY");
    assert_fails(context, carom_mesh_save(context, &given, CAROM_MESH_FORMAT_OBJ, "/nowhere/a.obj"),
                 CAROM_IO, "/nowhere/a.obj: cannot be created: No such file");
}

/* A format that is named decides, whatever the name and the content look like. */
static void a_named_format_is_taken(void **state) {
    (void)state;
    static sample s;
    char path[256];
    carom_mesh_view given = make_sample(&s, 8, CAROM_SCALAR_FLOAT64, true), view;
    carom_mesh *mesh;
    carom_mesh_origin origin;
    snprintf(path, sizeof(path), "%s/named.ply", folder);
    assert_ok(context, carom_mesh_save(context, &given, CAROM_MESH_FORMAT_OBJ, path));
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_OBJ, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_ok(context, carom_mesh_get_origin(mesh, &origin));
    assert_int_equal(origin.format, CAROM_MESH_FORMAT_OBJ);
    assert_same(&given, &view, false);
    carom_mesh_destroy(mesh);
    assert_fails(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_PLY, &mesh),
                 CAROM_BAD_FILE, "named.ply");
    assert_null(mesh);
    assert_fails(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_OFF, &mesh),
                 CAROM_BAD_FILE, "named.ply");
    assert_null(mesh);
    /* Readers accept any variant of a format. */
    assert_ok(context, carom_mesh_save(context, &given, CAROM_MESH_FORMAT_PLY_BIG, path));
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_PLY_ASCII, &mesh));
    assert_ok(context, carom_mesh_get_origin(mesh, &origin));
    assert_int_equal(origin.format, CAROM_MESH_FORMAT_PLY_BIG);
    carom_mesh_destroy(mesh);
    assert_fails(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_STL, &mesh),
                 CAROM_BAD_FILE, "named.ply");
    assert_null(mesh);
    assert_int_equal(remove(path), 0);
}

static void a_full_disk_is_a_status_and_spares_the_old_file(void **state) {
    (void)state;
    static sample s;
    char path[256], draft[300];
    carom_mesh_view small = make_sample(&s, 1, CAROM_SCALAR_FLOAT64, false), view;
    carom_mesh *mesh;
    struct stat info;
    if (stat("/dev/full", &info) == 0)
        assert_fails(context, carom_mesh_save(context, &small, CAROM_MESH_FORMAT_OBJ, "/dev/full"),
                     CAROM_IO, "/dev/full: cannot be written: No space left");
    snprintf(path, sizeof(path), "%s/old.ply", folder);
    snprintf(draft, sizeof(draft), "%s.0.part", path);
    small.face_count = 5;
    assert_ok(context, carom_mesh_save(context, &small, CAROM_MESH_FORMAT_GUESS, path));
    small.face_count = FACES;
    struct rlimit limit, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    low = limit;
    low.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    carom_status status = carom_mesh_save(context, &small, CAROM_MESH_FORMAT_GUESS, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_fails(context, status, CAROM_IO, "old.ply: cannot be written: ");
    assert_int_equal(stat(draft, &info), -1);
    assert_ok(context, carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.face_count, 5);
    carom_mesh_destroy(mesh);
}

static void links_and_modes_stay(void **state) {
    (void)state;
    static sample s;
    char path[256], link[256];
    carom_mesh_view given = make_sample(&s, 1, CAROM_SCALAR_FLOAT64, false);
    struct stat before, after;
    snprintf(path, sizeof(path), "%s/target.ply", folder);
    snprintf(link, sizeof(link), "%s/link.ply", folder);
    given.face_count = 5;
    assert_ok(context, carom_mesh_save(context, &given, CAROM_MESH_FORMAT_GUESS, path));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("target.ply", link), 0);
    assert_int_equal(stat(path, &before), 0);
    given.face_count = FACES;
    assert_ok(context, carom_mesh_save(context, &given, CAROM_MESH_FORMAT_GUESS, link));
    assert_int_equal(lstat(link, &after), 0);
    assert_true(S_ISLNK(after.st_mode));
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size > before.st_size);
    assert_int_equal(after.st_mode, before.st_mode);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct job {
    carom_bytes bytes;
    carom_mesh_format format;
    const carom_mesh_view *view; /* saved too, when not NULL */
    const char *path;
} job;

static carom_status run_job(carom_allocator allocator, void *argument) {
    job *j = argument;
    carom_context *own;
    carom_context_def def = {.threads = 1, .allocator = allocator};
    carom_status status = carom_context_create(&def, &own);
    if (status != CAROM_OK) return status;
    carom_mesh *mesh = NULL;
    carom_bytes bytes = {0};
    status = j->path != NULL ? carom_mesh_load(own, j->path, CAROM_MESH_FORMAT_GUESS, &mesh)
                             : carom_mesh_load_memory(own, j->bytes.data, j->bytes.count, j->format,
                                                      "job", &mesh);
    if (status == CAROM_OK && j->view != NULL)
        status = carom_mesh_save_memory(own, j->view, j->format, &bytes);
    if (status == CAROM_OK && j->path != NULL)
        status = carom_mesh_save(own, j->view, CAROM_MESH_FORMAT_GUESS, j->path);
    carom_bytes_free(&bytes);
    carom_mesh_destroy(mesh);
    carom_context_destroy(own);
    return status;
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    static sample s;
    for (int polygons = 0; polygons < 2; ++polygons)
        for (size_t f = 0; f < COUNT_OF(written); ++f) {
            if (is_stl(written[f]) && polygons) continue;
            carom_mesh_view view = make_sample(&s, 12, CAROM_SCALAR_FLOAT32, polygons);
            job j = {.format = written[f], .view = &view};
            assert_ok(context, carom_mesh_save_memory(context, &view, written[f], &j.bytes));
            test_allocation_failures(run_job, &j);
            carom_bytes_free(&j.bytes);
        }
    char path[256];
    carom_mesh_view view = make_sample(&s, 12, CAROM_SCALAR_FLOAT32, true);
#ifdef CAROM_HAVE_ZLIB
    snprintf(path, sizeof(path), "%s/failing.off.gz", folder);
#else
    snprintf(path, sizeof(path), "%s/failing.off", folder);
#endif
    assert_ok(context, carom_mesh_save(context, &view, CAROM_MESH_FORMAT_GUESS, path));
    job j = {.format = CAROM_MESH_FORMAT_OFF, .view = &view, .path = path};
    test_allocation_failures(run_job, &j);
}

/* An allocator that knows how many bytes are out. */
typedef struct meter {
    uint64_t now, peak;
} meter;

static void *meter_allocate(void *user, size_t size, size_t alignment) {
    meter *m = user;
    uint64_t *block = aligned_alloc(64, (size + 127) / 64 * 64);
    assert_non_null(block);
    assert_true(alignment <= 64);
    block[0] = size;
    m->now += size;
    if (m->now > m->peak) m->peak = m->now;
    return block + 8;
}

static void meter_release(void *user, void *pointer) {
    meter *m = user;
    uint64_t *block = (uint64_t *)pointer - 8;
    m->now -= block[0];
    free(block);
}

/* Loads and returns the most memory it took at once, over the bytes of the file. */
static double measure(const void *bytes, uint64_t size, uint64_t unpacked, carom_mesh_format format,
                      carom_status expected) {
    meter m = {0};
    carom_context *own;
    carom_mesh *mesh;
    carom_context_def def = {.threads = 1, .allocator = {meter_allocate, meter_release, &m}};
    assert_ok(NULL, carom_context_create(&def, &own));
    uint64_t before = m.now;
    m.peak = m.now;
    assert_int_equal(carom_mesh_load_memory(own, bytes, size, format, "hungry", &mesh), expected);
    uint64_t peak = m.peak - before;
    carom_mesh_destroy(mesh);
    carom_context_destroy(own);
    assert_int_equal(m.now, 0);
    if (peak > 16 * unpacked + (128 << 10))
        fail_msg("%llu bytes for a file of %llu", (unsigned long long)peak,
                 (unsigned long long)unpacked);
    return (double)peak / (double)unpacked;
}

#define LINES 40000

static uint64_t repeat(char *to, const char *header, const char *first, int first_count,
                       const char *second, int second_count) {
    char *at = to + sprintf(to, header, first_count, second_count);
    for (int i = 0; i < first_count; ++i) at = stpcpy(at, first);
    for (int i = 0; i < second_count; ++i) at = stpcpy(at, second);
    return (uint64_t)(at - to);
}

/* The densest files there are: the fewest bytes for each vertex and face. */
static void memory_stays_below_sixteen_times_the_file(void **state) {
    (void)state;
    char *text = malloc((size_t)LINES * 80 + 1000);
    assert_non_null(text);
    double worst = 0.0;
#define MEASURE(format, header, first, n, second, m)                                               \
    do {                                                                                           \
        uint64_t size_ = repeat(text, header, first, n, second, m);                                \
        worst = fmax(worst, measure(text, size_, size_, format, CAROM_OK));                        \
    } while (0)
    for (int n = LINES / 4; n <= LINES; n += LINES / 8) {
        MEASURE(CAROM_MESH_FORMAT_OBJ, "", "v 0 0 0\n", n, "", 0);
        MEASURE(CAROM_MESH_FORMAT_OBJ, "", "v 0 0 0\n", 1, "f 1 1 1\n", n);
        MEASURE(CAROM_MESH_FORMAT_OBJ, "", "v 0 0 0\n", 1, "f 1 1 1 1\n", n);
        MEASURE(CAROM_MESH_FORMAT_OFF, "%d %d\n", "0 0 0\n", n, "3 0 0 0\n", 0);
        MEASURE(CAROM_MESH_FORMAT_OFF, "%d %d\n", "0 0 0\n", 1, "3 0 0 0\n", n);
        MEASURE(CAROM_MESH_FORMAT_OFF, "%d %d\n", "0 0 0\n", 1, "4 0 0 0 0\n", n);
        MEASURE(CAROM_MESH_FORMAT_STL, "solid\n",
                "facet\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nendfacet\n", n, "endsolid", 1);
        MEASURE(CAROM_MESH_FORMAT_PLY,
                "ply\nformat ascii 1.0\nelement vertex %d\nproperty char x\nproperty char y\n"
                "property char z\nelement face %d\nproperty list char char vertex_index\n"
                "end_header\n",
                "0 0 0\n", n, "4 0 0 0 0\n", n);
        MEASURE(CAROM_MESH_FORMAT_PLY,
                "ply\nformat binary_big_endian 1.0\nelement vertex %d\nproperty char x\n"
                "property char y\nproperty char z\nelement face %d\n"
                "property list char char vertex_index\nend_header\n",
                "\1\1\1", n, "\3\1\1\1", n);
        MEASURE(CAROM_MESH_FORMAT_PLY,
                "ply\nformat binary_big_endian 1.0\nelement vertex %d\nproperty char x\n"
                "property char y\nproperty char z\nelement face %d\n"
                "property list char char vertex_index\nend_header\n",
                "\1\1\1", 3, "\4\1\1\1\1", n);
        MEASURE(CAROM_MESH_FORMAT_PLY,
                "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\n"
                "property float y\nproperty float z\nelement face %d\n"
                "property list char int vertex_index\nend_header\n",
                "\1\1\1\1\1\1\1\1\1\1\1\1", n, "", 0);
    }
    print_message("at most %.1f times the file\n", worst);
    free(text);
}

static void lying_headers_take_no_memory(void **state) {
    (void)state;
    static const struct {
        carom_mesh_format format;
        const char *text;
    } lies[] = {
        {CAROM_MESH_FORMAT_OFF, "OFF\n4294967295 4294967295 0\n0 0 0\n"},
        {CAROM_MESH_FORMAT_OFF, "OFF\n1 1 0\n0 0 0\n4294967295 0 0 0\n"},
        {CAROM_MESH_FORMAT_PLY,
         "ply\nformat binary_little_endian 1.0\nelement vertex 4294967295\n"
         "property float x\nproperty float y\nproperty float z\nend_header\nxxxx"},
        {CAROM_MESH_FORMAT_PLY,
         "ply\nformat binary_little_endian 1.0\nelement vertex 0\nproperty float x\nproperty float "
         "y\nproperty float z\nelement face 2\nproperty list uint uint vertex_index\nend_header\n"
         "\377\377\377\377\377\377\377\377"},
        {CAROM_MESH_FORMAT_PLY,
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
         "float z\nelement face 1\nproperty list uint uint vertex_index\nend_header\n0 0 0\n"
         "4294967295 0 0 0\n"},
    };
    for (size_t i = 0; i < COUNT_OF(lies); ++i)
        measure(lies[i].text, strlen(lies[i].text), strlen(lies[i].text), lies[i].format,
                CAROM_BAD_FILE);
    uint8_t stl[134] = {[80] = 0xFF, [81] = 0xFF, [82] = 0xFF, [83] = 0xFF};
    measure(stl, sizeof(stl), sizeof(stl), CAROM_MESH_FORMAT_STL, CAROM_BAD_FILE);
}

/* ---- progress -------------------------------------------------------------------------------- */

typedef struct calls {
    int count, cancel_at; /* 0: never */
    double last;
} calls;

static bool count_call(void *user, const char *what, double fraction) {
    calls *c = user;
    assert_true(strlen(what) > 0 && fraction >= c->last && fraction <= 1.0);
    c->last = fraction;
    return ++c->count == c->cancel_at;
}

static void reading_and_writing_can_be_cancelled(void **state) {
    (void)state;
    int lines = 1000000;
    char *text = malloc((size_t)lines * 8 + 100);
    assert_non_null(text);
    uint64_t size = repeat(text, "", "v 0 0 0\n", lines, "", 0);
    carom_bytes bytes = {0};
    carom_mesh_view view;
    for (int cancel = 0; cancel < 2; ++cancel) {
        calls c = {.cancel_at = cancel};
        carom_context *own;
        carom_mesh *mesh;
        carom_context_def def = {.threads = 1, .progress = count_call, .progress_user = &c};
        assert_ok(NULL, carom_context_create(&def, &own));
        carom_status status =
            carom_mesh_load_memory(own, text, size, CAROM_MESH_FORMAT_OBJ, "long", &mesh);
        if (cancel) {
            assert_fails(own, status, CAROM_CANCELLED, "reading a mesh");
            assert_null(mesh);
            assert_ok(context, carom_mesh_load_memory(context, text, size, CAROM_MESH_FORMAT_OBJ,
                                                      "long", &mesh));
        } else {
            assert_ok(own, status);
            assert_true(c.count >= 2 && c.last == 1.0);
        }
        assert_ok(own, carom_mesh_get_view(mesh, &view));
        c = (calls){.cancel_at = cancel};
        status = carom_mesh_save_memory(own, &view, CAROM_MESH_FORMAT_OBJ, &bytes);
        if (cancel)
            assert_fails(own, status, CAROM_CANCELLED, "writing a mesh");
        else
            assert_ok(own, status);
        carom_mesh_destroy(mesh);
        carom_context_destroy(own);
    }
    carom_bytes_free(&bytes);
    free(text);
}

/* ---- gzip ------------------------------------------------------------------------------------ */

#ifdef CAROM_HAVE_ZLIB

static uint64_t gzip(const void *from, size_t size, uint8_t *to, size_t room) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = from;
    stream.avail_in = (uInt)size;
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return stream.total_out;
}

static void gzip_members_follow_each_other(void **state) {
    (void)state;
    uint8_t packed[512];
    carom_mesh *mesh;
    carom_mesh_view view;
    uint64_t size = gzip("v 0 0 0\nv 1 0 ", 14, packed, sizeof(packed));
    size += gzip("0\nv 0 1 0\nf 1 2 3\n", 18, packed + size, sizeof(packed) - size);
    assert_ok(context,
              carom_mesh_load_memory(context, packed, size, CAROM_MESH_FORMAT_OBJ, "a", &mesh));
    assert_ok(context, carom_mesh_get_view(mesh, &view));
    assert_int_equal(view.vertex_count, 3);
    carom_mesh_destroy(mesh);
    for (uint64_t cut = 2; cut < size; ++cut) {
        carom_status status =
            carom_mesh_load_memory(context, packed, cut, CAROM_MESH_FORMAT_OBJ, "a", &mesh);
        assert_int_not_equal(status, CAROM_OK);
        assert_int_equal(status, CAROM_BAD_FILE);
        assert_non_null(strstr(carom_context_message(context), "a: "));
    }
    packed[20] ^= 0x55;
    assert_fails(context,
                 carom_mesh_load_memory(context, packed, size, CAROM_MESH_FORMAT_OBJ, "a", &mesh),
                 CAROM_BAD_FILE, "a: byte ");
}

static void compressed_bombs_are_refused(void **state) {
    (void)state;
    /* 8 MiB of newlines: legal, and memory follows what comes out. */
    size_t size = (size_t)8 << 20, room = (size_t)1 << 20;
    char *text = malloc(size);
    uint8_t *packed = malloc(room);
    assert_non_null(text);
    assert_non_null(packed);
    memset(text, '\n', size);
    uint64_t packed_size = gzip(text, size, packed, room);
    measure(packed, packed_size, size, CAROM_MESH_FORMAT_OBJ, CAROM_OK);
    /* Forty of them, one after another, grow past any mesh. */
    uint8_t *many = malloc(40 * packed_size);
    assert_non_null(many);
    for (int i = 0; i < 40; ++i) memcpy(many + (uint64_t)i * packed_size, packed, packed_size);
    carom_mesh *mesh;
    assert_fails(context,
                 carom_mesh_load_memory(context, many, 40 * packed_size, CAROM_MESH_FORMAT_OBJ,
                                        "bomb.gz", &mesh),
                 CAROM_TOO_LARGE, "which no mesh does; unpack it first");
    free(many);
    free(packed);
    free(text);
}

#endif

static int set_up(void **state) {
    (void)state;
    context = test_context(1);
    return mkdtemp(folder) == NULL;
}

static int tear_down(void **state) {
    (void)state;
    carom_context_destroy(context);
    char command[300];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_reads_back_what_it_wrote),
        cmocka_unit_test(strided_views_are_written_like_packed_ones),
        cmocka_unit_test(empty_meshes_are_written_and_read),
        cmocka_unit_test(stl_takes_triangles_and_float32_only),
        cmocka_unit_test(a_callers_buffer_is_filled_and_the_true_size_told),
        cmocka_unit_test(files_are_written_by_name_compressed_too),
        cmocka_unit_test(a_named_format_is_taken),
        cmocka_unit_test(a_full_disk_is_a_status_and_spares_the_old_file),
        cmocka_unit_test(links_and_modes_stay),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(memory_stays_below_sixteen_times_the_file),
        cmocka_unit_test(lying_headers_take_no_memory),
        cmocka_unit_test(reading_and_writing_can_be_cancelled),
#ifdef CAROM_HAVE_ZLIB
        cmocka_unit_test(gzip_members_follow_each_other),
        cmocka_unit_test(compressed_bombs_are_refused),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
