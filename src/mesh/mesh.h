/* SPDX-License-Identifier: MIT */
/* mesh.h: the arrays of a mesh, and how to iterate over a view. */
#ifndef CAROM_SRC_MESH_MESH_H
#define CAROM_SRC_MESH_MESH_H

#include <string.h>

#include "base/context.h"
#include "carom/mesh.h"

struct carom_mesh {
    carom_allocator allocator;
    void *positions; /* packed */
    carom_scalar scalar;
    uint64_t vertex_count;
    uint32_t *corners;
    uint64_t *offsets; /* NULL: all faces are triangles */
    uint64_t face_count;
    carom_mesh_origin origin;
    uint32_t *parts;         /* NULL: all faces are in part 0 */
    const char **part_names; /* point into name_bytes; NULL: no part has a name */
    char *name_bytes;
    uint64_t part_count; /* at least 1 */
    carom_mesh_property *properties;
    void **property_values; /* what `values` of each property points to */
    char *property_names;
    uint64_t property_count;
};

/* A byte that no name of a part has. */
static inline bool carom_is_control(uint8_t c) {
    return c < 0x20 || c == 0x7F;
}

/* Copies the names of the parts of a view, and their number. False when there is no memory; what
 * was allocated is then the mesh's. */
bool carom_mesh_copy_names(carom_mesh *mesh, const carom_mesh_view *view);

/* CAROM_TOO_LARGE unless faces and corners have 32-bit indices with one value to spare. `done`
 * completes the message: what cannot be done to a larger mesh, such as "inspected". For views that
 * carom_mesh_check accepts. */
carom_status carom_mesh_check_numbers(carom_context *context, const carom_mesh_view *view,
                                      const char *done);

static inline size_t carom_property_size(carom_mesh_property_type type) {
    static const uint8_t sizes[CAROM_MESH_PROPERTY_TYPE_COUNT] = {8, 4, 1, 1, 2, 2, 4, 4};
    return sizes[type];
}

/* Copies the properties of a view to a mesh whose counts are set: vertex i of the mesh has the
 * values of vertex_from[i], face f those of face_from[f]; NULL where they are the same. False when
 * there is no memory; what was allocated is then the mesh's. */
bool carom_mesh_copy_properties(carom_mesh *mesh, const carom_mesh_view *view,
                                const uint32_t *vertex_from, const uint32_t *face_from);

/* carom_mesh_weld of a checked view, which also writes for each vertex the lowest one with the same
 * position, unless `first` is NULL. Vertices of the mesh are in the order of these. */
carom_status carom_mesh_weld_noting(carom_context *context, const carom_mesh_view *view,
                                    uint32_t *first, carom_mesh **mesh);
/* Writes that alone. */
carom_status carom_mesh_find_first_equal(carom_context *context, const carom_mesh_view *view,
                                         uint32_t *first);

/* An empty mesh, to be freed by carom_mesh_destroy; NULL when there is no memory. */
carom_mesh *carom_mesh_allocate(const carom_allocator *allocator);

static inline uint64_t carom_scalar_size(carom_scalar scalar) {
    return scalar == CAROM_SCALAR_FLOAT32 ? sizeof(float) : sizeof(double);
}

static inline uint64_t carom_mesh_stride(const carom_mesh_view *view) {
    return view->stride != 0 ? view->stride : 3 * carom_scalar_size(view->scalar);
}

/* The three coordinates of a vertex, not aligned. */
static inline const void *carom_mesh_vertex(const carom_mesh_view *view, uint64_t vertex) {
    return (const char *)view->positions + vertex * carom_mesh_stride(view);
}

static inline carom_vec3 carom_mesh_position(const carom_mesh_view *view, uint64_t vertex) {
    const void *at = carom_mesh_vertex(view, vertex);
    carom_vec3 p;
    if (view->scalar == CAROM_SCALAR_FLOAT32) {
        float xyz[3];
        memcpy(xyz, at, sizeof(xyz));
        p.x = (double)xyz[0];
        p.y = (double)xyz[1];
        p.z = (double)xyz[2];
    } else {
        memcpy(&p, at, sizeof(p));
    }
    return p;
}

static inline uint64_t carom_mesh_offset(const carom_mesh_view *view, uint64_t face) {
    return view->offsets != NULL ? view->offsets[face] : 3 * face;
}

static inline uint64_t carom_mesh_corner_count(const carom_mesh_view *view) {
    return carom_mesh_offset(view, view->face_count);
}

/* The view of a def, where NULL stands for a mesh without vertices and faces. */
static inline const carom_mesh_view *carom_mesh_of_def(const carom_mesh_view *mesh) {
    static const carom_mesh_view empty;
    return mesh != NULL ? mesh : &empty;
}

#endif
