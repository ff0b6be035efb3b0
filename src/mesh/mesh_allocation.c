/* SPDX-License-Identifier: MIT */
/* Allocation of a mesh of known size. */
#include "mesh/mesh_allocation.h"

#include <inttypes.h>

carom_status carom_mesh_reserve(carom_context *context, const carom_mesh_allocation *allocation,
                                carom_mesh **out) {
    *out = NULL;
    if (allocation->vertices > CAROM_MESH_MOST_VERTICES || allocation->faces > UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE,
                          "a mesh of %" PRIu64 " vertices and %" PRIu64 " faces; at most %" PRIu32
                          " of each can be numbered",
                          allocation->vertices, allocation->faces, UINT32_MAX);
    carom_mesh *mesh = carom_mesh_allocate(&context->allocator);
    size_t point = 3 * (size_t)carom_scalar_size(allocation->scalar);
    bool all = false;
    if (mesh != NULL) {
        mesh->scalar = allocation->scalar;
        mesh->vertex_count = allocation->vertices;
        mesh->face_count = allocation->faces;
        const carom_allocation arrays[] = {{&mesh->positions, allocation->vertices, point},
                                           CAROM_ALLOCATION(mesh->corners, allocation->corners)};
        const carom_allocation offsets = CAROM_ALLOCATION(mesh->offsets, allocation->faces + 1);
        const carom_allocation parts = CAROM_ALLOCATION(mesh->parts, allocation->faces);
        all = carom_allocate_all(&mesh->allocator, arrays, 2) &&
              carom_allocate_all(&mesh->allocator, &offsets, allocation->polygons) &&
              carom_allocate_all(&mesh->allocator, &parts, allocation->parts);
    }
    if (!all) {
        carom_mesh_destroy(mesh);
        return carom_fail_memory(context, allocation->vertices * point + 4 * allocation->corners,
                                 "a mesh");
    }
    *out = mesh;
    return CAROM_OK;
}

void carom_mesh_put(carom_mesh *mesh, uint64_t vertex, carom_vec3 p) {
    if (mesh->scalar == CAROM_SCALAR_FLOAT32) {
        float *to = (float *)mesh->positions + 3 * vertex;
        to[0] = (float)p.x;
        to[1] = (float)p.y;
        to[2] = (float)p.z;
    } else {
        double *to = (double *)mesh->positions + 3 * vertex;
        to[0] = p.x;
        to[1] = p.y;
        to[2] = p.z;
    }
}
