/* SPDX-License-Identifier: MIT */
/* mesh_builder.h: the growing mesh to which readers add vertices and faces. */
#ifndef CAROM_SRC_MESH_MESH_BUILDER_H
#define CAROM_SRC_MESH_MESH_BUILDER_H

#include "base/array.h"
#include "mesh/mesh.h"
#include "mesh/mesh_names.h"

CAROM_ARRAY(carom_points, carom_vec3);
CAROM_ARRAY(carom_corners, uint32_t);
CAROM_ARRAY(carom_offsets, uint64_t);

/* The empty builder: all fields zero except the first two. */
typedef struct carom_builder {
    carom_context *context;
    const char *name;    /* file name, for messages */
    carom_points points; /* float64 vertices */
    void *floats;        /* or float32 vertices, filled at once */
    uint64_t float_count;
    carom_corners corners;
    carom_offsets offsets; /* empty while all faces are triangles */
    uint64_t face_count, skipped_faces;
    double metres;                   /* per unit of the positions; 0: the file does not say */
    uint32_t part;                   /* of the faces that end from now on */
    bool has_parts;                  /* some face is not in part 0 */
    carom_corners parts;             /* of the faces, if so */
    carom_names names;               /* of the parts; fewer than there are parts, or none */
    carom_mesh_property *properties; /* filled by the reader of PLY */
    void **property_values;          /* what `values` of each points to; NULL: given up */
    uint64_t property_count;
    carom_names property_names;
    const uint8_t *reported; /* how far progress has been reported */
    bool out_of_memory;      /* checked at the end: adding never fails */
    bool stopped;            /* out of memory or cancelled: readers return */
} carom_builder;

carom_status carom_builder_fail_memory(carom_builder *builder);

static inline void carom_builder_run_out(carom_builder *builder) {
    builder->out_of_memory = builder->stopped = true;
}

/* Readers call this once per line. Reports progress at intervals; says whether to continue. */
#define CAROM_BUILDER_STEP (1u << 20)
void carom_builder_report(carom_builder *builder, const uint8_t *at);
static inline bool carom_builder_goes_on(carom_builder *builder, const uint8_t *at) {
    if ((uint64_t)(at - builder->reported) >= CAROM_BUILDER_STEP) carom_builder_report(builder, at);
    return !builder->stopped;
}

static inline void carom_builder_add_point(carom_builder *builder, carom_vec3 point) {
    if (!carom_points_push(&builder->points, &builder->context->allocator, point))
        carom_builder_run_out(builder);
}

static inline void carom_builder_add_corner(carom_builder *builder, uint32_t vertex) {
    if (!carom_corners_push(&builder->corners, &builder->context->allocator, vertex))
        carom_builder_run_out(builder);
}

/* Begins to keep offsets, at the first face that is not a triangle. */
void carom_builder_begin_offsets(carom_builder *builder);

/* Begins to keep parts, at the first face that is not in part 0. */
void carom_builder_begin_parts(carom_builder *builder);

/* Begins a part with this name, trimmed: faces that end from now on are in it. Faces before the
 * first part are in one without a name. */
void carom_builder_add_part(carom_builder *builder, const void *name, size_t length);

/* The same, but an earlier part of this name is continued. All parts of a file are begun by one of
 * these two functions. */
void carom_builder_enter_part(carom_builder *builder, const void *name, size_t length);

/* Ends a face: its corners are those since `begin`. Fewer than three are removed and counted. */
static inline void carom_builder_end_face(carom_builder *builder, uint64_t begin) {
    uint64_t count = builder->corners.count - begin;
    if (count < 3) {
        builder->corners.count = begin;
        ++builder->skipped_faces;
        return;
    }
    if (count != 3 && builder->offsets.count == 0) carom_builder_begin_offsets(builder);
    if (builder->offsets.count != 0 &&
        !carom_offsets_push(&builder->offsets, &builder->context->allocator,
                            builder->corners.count))
        carom_builder_run_out(builder);
    if (builder->part != 0 && !builder->has_parts) carom_builder_begin_parts(builder);
    if (builder->has_parts &&
        !carom_corners_push(&builder->parts, &builder->context->allocator, builder->part))
        carom_builder_run_out(builder);
    ++builder->face_count;
}

/* The mesh takes over the arrays; the builder is empty afterwards. */
carom_status carom_builder_finish(carom_builder *builder, carom_mesh_format format,
                                  carom_mesh **mesh);

/* Frees the arrays after a reader has failed. */
void carom_builder_release(carom_builder *builder);

#endif
