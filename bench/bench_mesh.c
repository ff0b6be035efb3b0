/* SPDX-License-Identifier: MIT */
/* Reading and writing a sphere of a million triangles, on one thread, beside the time it takes to
 * move the same bytes. Items are bytes: M/s reads as MB/s. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/platform.h"

typedef struct mesh_input {
    carom_context *context;
    carom_mesh_view view;
    carom_mesh_format format;
    char path[256];
    uint8_t *bytes; /* of the file */
    size_t size;
} mesh_input;

static bool run_load(void *input) {
    mesh_input *m = input;
    carom_mesh *mesh;
    carom_mesh_view view = {0};
    if (carom_mesh_load(m->context, m->path, CAROM_MESH_FORMAT_GUESS, &mesh) != CAROM_OK)
        return false;
    (void)carom_mesh_get_view(mesh, &view);
    bool right = view.face_count == m->view.face_count;
    carom_mesh_destroy(mesh);
    return right;
}

static bool run_save(void *input) {
    mesh_input *m = input;
    return carom_mesh_save(m->context, &m->view, m->format, m->path) == CAROM_OK;
}

static bool run_read_bytes(void *input) {
    mesh_input *m = input;
    FILE *file = fopen(m->path, "rb");
    if (file == NULL) return false;
    size_t got = fread(m->bytes, 1, m->size, file);
    fclose(file);
    return got == m->size;
}

static bool run_write_bytes(void *input) {
    mesh_input *m = input;
    (void)remove(m->path);
    FILE *file = fopen(m->path, "wb");
    if (file == NULL) return false;
    size_t put = fwrite(m->bytes, 1, m->size, file);
    return fclose(file) == 0 && put == m->size;
}

/* ---- a sphere of 2 n (n - 1) triangles ------------------------------------------------------- */

typedef struct sphere {
    double *f64;
    float *f32;
    uint32_t *corners;
    uint64_t vertices, faces;
} sphere;

static void set_vertex(sphere *s, uint64_t i, double theta, double phi) {
    double xyz[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)};
    for (uint64_t c = 0; c < 3; ++c) {
        s->f64[3 * i + c] = xyz[c];
        s->f32[3 * i + c] = (float)xyz[c];
    }
}

static bool make_sphere(sphere *s, uint64_t n) {
    const double pi = 3.14159265358979323846;
    s->vertices = n * n;
    s->faces = 2 * n * (n - 1);
    s->f64 = malloc(s->vertices * 3 * sizeof(*s->f64));
    s->f32 = malloc(s->vertices * 3 * sizeof(*s->f32));
    s->corners = malloc(s->faces * 3 * sizeof(*s->corners));
    if (s->f64 == NULL || s->f32 == NULL || s->corners == NULL) return false;
    for (uint64_t i = 0; i < n * n; ++i)
        set_vertex(s, i, pi * ((double)(i / n) + 0.5) / (double)n,
                   2.0 * pi * (double)(i % n) / (double)n);
    uint32_t *to = s->corners;
    for (uint64_t i = 0; i + 1 < n; ++i)
        for (uint64_t j = 0; j < n; ++j) {
            uint32_t a = (uint32_t)(i * n + j), b = (uint32_t)(i * n + (j + 1) % n);
            uint32_t c = a + (uint32_t)n, d = b + (uint32_t)n;
            const uint32_t both[6] = {a, c, b, b, c, d};
            memcpy(to, both, sizeof(both));
            to += 6;
        }
    return true;
}

static void free_sphere(sphere *s) {
    free(s->f64);
    free(s->f32);
    free(s->corners);
}

/* ---- the jobs -------------------------------------------------------------------------------- */

static void bench_format(bench *bench, mesh_input *m, const char *what) {
    char job[64];
    if (!run_save(m)) return;
    FILE *file = fopen(m->path, "rb");
    if (file == NULL) return;
    if (fseek(file, 0, SEEK_END) == 0) m->size = (size_t)ftell(file);
    fclose(file);
    m->bytes = malloc(m->size);
    if (m->bytes == NULL) return;
    bench_contender loads[] = {{"carom", NULL, run_load, m},
                               {"the bytes alone", NULL, run_read_bytes, m}};
    snprintf(job, sizeof(job), "load %s %.0f MB", what, 1e-6 * (double)m->size);
    bench_compare(bench, job, (double)m->size, loads, 2);
    bench_contender saves[] = {{"carom", NULL, run_save, m},
                               {"the bytes alone", NULL, run_write_bytes, m}};
    snprintf(job, sizeof(job), "save %s %.0f MB", what, 1e-6 * (double)m->size);
    bench_compare(bench, job, (double)m->size, saves, 2);
    free(m->bytes);
    (void)remove(m->path);
}

static void bench_formats(bench *bench, carom_context *context, const sphere *s,
                          const char *folder) {
    static const struct {
        const char *what, *file;
        carom_mesh_format format;
        carom_scalar scalar;
    } jobs[] = {
        {"ply f32", "a.ply", CAROM_MESH_FORMAT_PLY, CAROM_SCALAR_FLOAT32},
        {"ply f64", "a.ply", CAROM_MESH_FORMAT_PLY, CAROM_SCALAR_FLOAT64},
        {"ply-big f32", "a.ply", CAROM_MESH_FORMAT_PLY_BIG, CAROM_SCALAR_FLOAT32},
        {"stl", "a.stl", CAROM_MESH_FORMAT_STL, CAROM_SCALAR_FLOAT32},
        {"obj", "a.obj", CAROM_MESH_FORMAT_OBJ, CAROM_SCALAR_FLOAT64},
        {"off", "a.off", CAROM_MESH_FORMAT_OFF, CAROM_SCALAR_FLOAT64},
        {"ply-ascii", "a.ply", CAROM_MESH_FORMAT_PLY_ASCII, CAROM_SCALAR_FLOAT64},
    };
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); ++i) {
        bool narrow = jobs[i].scalar == CAROM_SCALAR_FLOAT32;
        mesh_input m = {.context = context, .format = jobs[i].format};
        m.view =
            (carom_mesh_view){.positions = narrow ? (const void *)s->f32 : (const void *)s->f64,
                              .scalar = jobs[i].scalar,
                              .vertex_count = s->vertices,
                              .corners = s->corners,
                              .face_count = s->faces};
        snprintf(m.path, sizeof(m.path), "%s/%s", folder, jobs[i].file);
        bench_format(bench, &m, jobs[i].what);
    }
}

static void run(bench *bench) {
    char folder[200]; /* with a name, a path of the benchmark */
    carom_context_def def = *bench->def;
    carom_context *context;
    sphere s = {0};
    def.threads = 1;
    if (carom_context_create(&def, &context) != CAROM_OK) return;
    if (platform_make_temporary_folder(folder, sizeof(folder))) {
        if (make_sphere(&s, bench->quick ? 225 : 708)) bench_formats(bench, context, &s, folder);
        (void)platform_remove_folder(folder);
    }
    free_sphere(&s);
    carom_context_destroy(context);
}

const bench_group bench_mesh = {20, "mesh", "loading and saving a million triangles, in MB/s", run};
