/* SPDX-License-Identifier: MIT */
/* What loading a mesh is followed by: welding a million triangles that share no vertices, as STL
 * files hold them, inspecting and triangulating. Beside them, what one could not do without:
 * reading all positions once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

typedef struct input {
    carom_context *context;
    carom_mesh_view soup, welded, polygons;
    uint64_t vertices; /* how many different ones there are */
    carom_shape_def shape;
} input;

static bool run_weld(void *argument) {
    input *in = argument;
    carom_mesh *mesh;
    carom_mesh_view view = {0};
    if (carom_mesh_weld(in->context, &in->soup, &mesh) != CAROM_OK) return false;
    carom_status status = carom_mesh_get_view(mesh, &view);
    carom_mesh_destroy(mesh);
    return status == CAROM_OK && view.vertex_count == in->vertices;
}

static bool run_inspect(void *argument) {
    input *in = argument;
    carom_mesh_report report;
    return carom_mesh_inspect(in->context, &in->welded, &report) == CAROM_OK &&
           report.shells == 1 && report.nonmanifold_edges == 0;
}

static bool run_check(void *argument) {
    input *in = argument;
    return carom_mesh_check(in->context, &in->soup) == CAROM_OK;
}

static bool run_triangulate(void *argument) {
    input *in = argument;
    carom_mesh *mesh;
    bool done = carom_mesh_triangulate(in->context, &in->polygons, NULL, &mesh, NULL) == CAROM_OK;
    carom_mesh_destroy(mesh);
    return done;
}

static bool run_make(void *argument) {
    input *in = argument;
    carom_mesh *mesh;
    bool done = carom_shape_make(in->context, &in->shape, &mesh) == CAROM_OK;
    carom_mesh_destroy(mesh);
    return done;
}

/* Three vertices to each triangle. */
static float *split_apart(const carom_mesh_view *view, uint32_t **corners) {
    uint64_t count = 3 * view->face_count;
    float *positions = malloc(count * 3 * sizeof(*positions));
    *corners = malloc(count * sizeof(**corners));
    for (uint64_t i = 0; positions != NULL && *corners != NULL && i < count; ++i) {
        const float *from = (const float *)view->positions + 3 * (uint64_t)view->corners[i];
        memcpy(positions + 3 * i, from, 3 * sizeof(*from));
        (*corners)[i] = (uint32_t)i;
    }
    return positions;
}

static void compare(bench *bench, const char *what, double items, bool (*run)(void *), input *one,
                    input *all) {
    char job[64];
    snprintf(job, sizeof(job), "%s %.0fk", what, items / 1000.0);
    bench_contender contenders[] = {{"carom, one thread", NULL, run, one},
                                    {"carom, all threads", NULL, run, all},
                                    {"one look at the input", NULL, run_check, one}};
    bench_compare(bench, job, items, contenders, run == run_make ? 2 : 3);
}

static void bench_size(bench *bench, input *one, input *all, uint64_t cells) {
    carom_shape_def def = {
        .shape = CAROM_SHAPE_CLOTH, .detail = cells, .scalar = CAROM_SCALAR_FLOAT32};
    carom_mesh *mesh, *quads = NULL;
    uint32_t *corners = NULL;
    if (carom_shape_make(one->context, &def, &mesh) != CAROM_OK ||
        carom_mesh_get_view(mesh, &one->welded) != CAROM_OK)
        return;
    def.polygons = true;
    if (carom_shape_make(one->context, &def, &quads) == CAROM_OK &&
        carom_mesh_get_view(quads, &one->polygons) == CAROM_OK) {
        float *positions = split_apart(&one->welded, &corners);
        double items = (double)one->welded.face_count;
        one->vertices = one->welded.vertex_count;
        one->soup = one->welded;
        one->soup.positions = positions;
        one->soup.corners = corners;
        one->soup.vertex_count = 3 * one->welded.face_count;
        one->shape = (carom_shape_def){.shape = CAROM_SHAPE_TORUS, .detail = cells};
        carom_context *parallel = all->context;
        *all = *one;
        all->context = parallel;
        if (positions != NULL && corners != NULL) {
            compare(bench, "weld soup", items, run_weld, one, all);
            compare(bench, "inspect", items, run_inspect, one, all);
            compare(bench, "triangulate quads", items / 2.0, run_triangulate, one, all);
            compare(bench, "make torus", (double)cells * (double)cells, run_make, one, all);
        }
        free(positions);
    }
    free(corners);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(quads);
}

static void run(bench *bench) {
    carom_context_def def = *bench->def;
    def.threads = 1;
    input one = {0}, all = {0};
    if (carom_context_create(&def, &one.context) == CAROM_OK &&
        carom_context_create(bench->def, &all.context) == CAROM_OK) {
        bench_size(bench, &one, &all, 224);
        if (!bench->quick) bench_size(bench, &one, &all, 707);
    }
    carom_context_destroy(one.context);
    carom_context_destroy(all.context);
}

const bench_group bench_mesh_report = {22, "inspect", "weld, inspect and triangulate meshes", run};
