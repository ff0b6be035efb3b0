/* SPDX-License-Identifier: MIT */
/* Loads a mesh and prints what it holds. Without a file it first writes one of its own. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "carom/carom.h"

/* A pyramid: four triangles on a square. */
static carom_status write_pyramid(carom_context *context, const char *path) {
    static const float positions[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5f, 0.5f, 1};
    static const uint32_t corners[] = {0, 3, 2, 1, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
    static const uint64_t offsets[] = {0, 4, 7, 10, 13, 16};
    carom_mesh_view view = {.positions = positions,
                            .scalar = CAROM_SCALAR_FLOAT32,
                            .vertex_count = 5,
                            .corners = corners,
                            .offsets = offsets,
                            .face_count = 5};
    return carom_mesh_save(context, &view, CAROM_MESH_FORMAT_PLY, path);
}

static void print_mesh(const char *path, const carom_mesh *mesh) {
    carom_mesh_view view;
    carom_mesh_origin origin;
    if (carom_mesh_get_view(mesh, &view) != CAROM_OK) return;
    if (carom_mesh_get_origin(mesh, &origin) != CAROM_OK) return;
    uint64_t corners = view.offsets != NULL ? view.offsets[view.face_count] : 3 * view.face_count;
    printf("%s: %s%s, %s\n", path, carom_mesh_format_name(origin.format),
           origin.compressed ? ", gzipped" : "",
           view.scalar == CAROM_SCALAR_FLOAT32 ? "float32" : "float64");
    printf("%" PRIu64 " vertices, %" PRIu64 " faces, %" PRIu64 " corners, %" PRIu64 " skipped\n",
           view.vertex_count, view.face_count, corners, origin.skipped_faces);
}

int main(int argc, char **argv) {
    carom_context *context;
    if (carom_context_create(NULL, &context) != CAROM_OK) {
        fprintf(stderr, "%s\n", carom_context_message(NULL));
        return 1;
    }
    char own[] = "/tmp/pyramid-XXXXXX.ply";
    const char *path = argc > 1 ? argv[1] : own;
    carom_status status = CAROM_OK;
    if (argc < 2) {
        int file = mkstemps(own, 4);
        if (file >= 0) close(file);
        status = write_pyramid(context, path);
    }
    carom_mesh *mesh = NULL;
    if (status == CAROM_OK) status = carom_mesh_load(context, path, CAROM_MESH_FORMAT_GUESS, &mesh);
    if (status == CAROM_OK)
        print_mesh(path, mesh);
    else
        fprintf(stderr, "%s\n", carom_context_message(context));
    if (argc < 2) remove(own);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status != CAROM_OK;
}
