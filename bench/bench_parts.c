/* SPDX-License-Identifier: MIT */
/* Searches in parts beside the search in memory, from the same file to the last pair. */
#include <stdio.h>

#include "bench/bench.h"

#define BENCH_PARTS_FILE "bench-parts.ply"

typedef struct input {
    carom_context *context;
    carom_parts_def def;
    carom_parts_report report;
    uint64_t pairs;
} input;

static bool count_pairs(void *user, const carom_pair *pairs, uint64_t count) {
    (void)pairs;
    ((input *)user)->pairs += count;
    return false;
}

static bool run_parts(void *argument) {
    input *in = argument;
    in->pairs = 0;
    return carom_parts_pairs(in->context, &in->def, count_pairs, in, &in->report) == CAROM_OK;
}

static bool run_memory(void *argument) {
    input *in = argument;
    carom_mesh *mesh = NULL, *welded = NULL;
    carom_mesh_view view;
    carom_soup *soup = NULL;
    carom_soup_def def = {.mesh = &view};
    carom_status status =
        carom_mesh_load(in->context, in->def.a.path, CAROM_MESH_FORMAT_GUESS, &mesh);
    if (status == CAROM_OK) status = carom_mesh_get_view(mesh, &view);
    if (status == CAROM_OK) status = carom_mesh_weld(in->context, &view, &welded);
    if (status == CAROM_OK) status = carom_mesh_get_view(welded, &view);
    if (status == CAROM_OK) status = carom_soup_create(in->context, &def, &soup);
    if (status == CAROM_OK) status = carom_soup_self_count(in->context, soup, &in->pairs);
    carom_soup_destroy(soup);
    carom_mesh_destroy(welded);
    carom_mesh_destroy(mesh);
    return status == CAROM_OK;
}

static void run(bench *bench) {
    carom_context *context;
    carom_mesh *mesh = NULL;
    carom_mesh_view view;
    carom_shape_def shape = {.shape = CAROM_SHAPE_CLOTH,
                             .detail = bench->quick ? 100 : 1000,
                             .scalar = CAROM_SCALAR_FLOAT32};
    if (carom_context_create(bench->def, &context) != CAROM_OK) return;
    if (carom_shape_make(context, &shape, &mesh) == CAROM_OK &&
        carom_mesh_get_view(mesh, &view) == CAROM_OK &&
        carom_mesh_save(context, &view, CAROM_MESH_FORMAT_PLY, BENCH_PARTS_FILE) == CAROM_OK) {
        input in = {.context = context,
                    .def = {.a.path = BENCH_PARTS_FILE,
                            .memory = CAROM_PARTS_LEAST_MEMORY,
                            .part_faces = view.face_count / 8}};
        input whole = in;
        bench_contender contenders[] = {{"carom, in memory", NULL, run_memory, &whole},
                                        {"carom, in parts", NULL, run_parts, &in}};
        bench_compare(bench, bench->quick ? "cloth 20k" : "cloth 2M", (double)view.face_count,
                      contenders, 2);
        bench_note(bench, "%llu and %llu pairs, %llu parts, %.0f bytes spilled per triangle",
                   (unsigned long long)whole.pairs, (unsigned long long)in.pairs,
                   (unsigned long long)in.report.parts,
                   (double)in.report.bytes_spilled / (double)view.face_count);
        (void)remove(BENCH_PARTS_FILE);
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
}

const bench_group bench_parts = {51, "parts",
                                 "meshes that do not fit into memory: searches in parts", run};
