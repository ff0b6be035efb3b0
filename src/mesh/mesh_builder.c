/* SPDX-License-Identifier: MIT */
/* A growing mesh of unknown size. Arrays grow by half, so that the old and the new array together
 * are at most 2.5 times what is needed. Arrays with much unused capacity are shrunk at the end. */
#include "mesh/mesh_builder.h"

#include <inttypes.h>

#include "base/progress.h"

carom_status carom_builder_fail_memory(carom_builder *builder) {
    return carom_fail(builder->context, CAROM_NO_MEMORY,
                      "%s: out of memory after %" PRIu64 " vertices and %" PRIu64 " faces",
                      builder->name, builder->points.count + builder->float_count,
                      builder->face_count);
}

void carom_builder_report(carom_builder *builder, const uint8_t *at) {
    carom_progress_add(builder->context, 0, (uint64_t)(at - builder->reported));
    builder->reported = at;
    if (carom_progress_cancelled(builder->context)) builder->stopped = true;
}

void carom_builder_begin_offsets(carom_builder *builder) {
    const carom_allocator *allocator = &builder->context->allocator;
    if (!carom_offsets_reserve(&builder->offsets, allocator, builder->face_count + 2)) {
        carom_builder_run_out(builder);
        return;
    }
    for (uint64_t f = 0; f <= builder->face_count; ++f) builder->offsets.data[f] = 3 * f;
    builder->offsets.count = builder->face_count + 1;
    CAROM_ASSERT(builder->offsets.count <= builder->offsets.capacity);
}

void carom_builder_begin_parts(carom_builder *builder) {
    const carom_allocator *allocator = &builder->context->allocator;
    if (!carom_corners_reserve(&builder->parts, allocator, builder->face_count + 1)) {
        carom_builder_run_out(builder);
        return;
    }
    memset(builder->parts.data, 0, (size_t)builder->face_count * sizeof(*builder->parts.data));
    builder->parts.count = builder->face_count;
    builder->has_parts = true;
}

/* Faces that came before the first part get one without a name. */
static void name_first_faces(carom_builder *builder) {
    if (builder->names.begins.count == 0 && builder->face_count != 0 &&
        carom_names_push(&builder->names, &builder->context->allocator, "", 0) == CAROM_NAMES_FULL)
        carom_builder_run_out(builder);
}

void carom_builder_add_part(carom_builder *builder, const void *name, size_t length) {
    const char *begin = length != 0 ? name : "", *end = begin + length;
    carom_name_trim(&begin, &end);
    name_first_faces(builder);
    builder->part = carom_names_push(&builder->names, &builder->context->allocator, begin,
                                     (size_t)(end - begin));
    if (builder->part == CAROM_NAMES_FULL) carom_builder_run_out(builder);
}

void carom_builder_enter_part(carom_builder *builder, const void *name, size_t length) {
    const char *begin = length != 0 ? name : "", *end = begin + length;
    bool is_new;
    carom_name_trim(&begin, &end);
    name_first_faces(builder);
    builder->part = carom_names_find_or_add(&builder->names, &builder->context->allocator, begin,
                                            (size_t)(end - begin), &is_new);
    if (builder->part == CAROM_NAMES_FULL) carom_builder_run_out(builder);
}

/* Copies into a block of the exact size when more than a quarter is unused; keeps the old block
 * when there is no memory for that. */
static void *mesh_builder_fit(const carom_allocator *allocator, void *data, uint64_t count,
                              uint64_t capacity, size_t size) {
    if (data == NULL || capacity - count <= capacity / 4) return data;
    CAROM_ASSERT(count <= capacity);
    void *fitting = carom_allocate(allocator, count, size);
    if (fitting == NULL) return data;
    memcpy(fitting, data, (size_t)count * size);
    carom_release(allocator, data);
    return fitting;
}

/* Moves the names into the mesh. Parts beyond the named ones get empty names, unless there are no
 * names at all. */
static bool finish_parts(carom_builder *builder, carom_mesh *mesh) {
    const carom_allocator *allocator = &builder->context->allocator;
    carom_names *names = &builder->names;
    uint64_t count = CAROM_MAX(names->begins.count, (uint64_t)1);
    for (uint64_t f = 0; f < builder->parts.count; ++f)
        count = CAROM_MAX(count, (uint64_t)builder->parts.data[f] + 1);
    while (names->begins.count != 0 && names->begins.count < count)
        if (carom_names_push(names, allocator, "", 0) == CAROM_NAMES_FULL) return false;
    mesh->part_count = count;
    if (names->begins.count != 0) {
        mesh->part_names = carom_allocate(allocator, count, sizeof(*mesh->part_names));
        if (mesh->part_names == NULL) return false;
        for (uint64_t p = 0; p < count; ++p) mesh->part_names[p] = carom_names_get(names, p);
        mesh->name_bytes = names->bytes.data;
        names->bytes = (carom_name_bytes){0};
    }
    const carom_corners *p = &builder->parts;
    mesh->parts = mesh_builder_fit(allocator, p->data, p->count, p->capacity, sizeof(*p->data));
    builder->parts = (carom_corners){0};
    return true;
}

carom_status carom_builder_finish(carom_builder *builder, carom_mesh_format format,
                                  carom_mesh **out) {
    const carom_allocator *allocator = &builder->context->allocator;
    if (builder->out_of_memory) return carom_builder_fail_memory(builder);
    if (builder->points.count > CAROM_MESH_MOST_VERTICES)
        return carom_fail(builder->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " vertices, a mesh has at most %" PRIu32, builder->name,
                          builder->points.count, CAROM_MESH_MOST_VERTICES);
    carom_mesh *mesh = carom_mesh_allocate(allocator);
    if (builder->names.begins.count > CAROM_MESH_MOST_PARTS) {
        carom_mesh_destroy(mesh);
        return carom_fail(builder->context, CAROM_TOO_LARGE,
                          "%s: %" PRIu64 " parts, a mesh has at most %" PRIu32, builder->name,
                          builder->names.begins.count, CAROM_MESH_MOST_PARTS);
    }
    if (mesh == NULL || !finish_parts(builder, mesh)) {
        carom_mesh_destroy(mesh);
        return carom_builder_fail_memory(builder);
    }
    if (builder->floats != NULL) {
        mesh->scalar = CAROM_SCALAR_FLOAT32;
        mesh->positions = builder->floats;
        mesh->vertex_count = builder->float_count;
    } else {
        const carom_points *p = &builder->points;
        mesh->positions =
            mesh_builder_fit(allocator, p->data, p->count, p->capacity, sizeof(*p->data));
        mesh->vertex_count = p->count;
        builder->points = (carom_points){0};
    }
    const carom_corners *c = &builder->corners;
    mesh->corners = mesh_builder_fit(allocator, c->data, c->count, c->capacity, sizeof(*c->data));
    const carom_offsets *o = &builder->offsets;
    mesh->offsets = mesh_builder_fit(allocator, o->data, o->count, o->capacity, sizeof(*o->data));
    CAROM_ASSERT(builder->offsets.count == 0 || builder->offsets.count == builder->face_count + 1);
    CAROM_ASSERT(builder->offsets.count != 0 || builder->corners.count == 3 * builder->face_count);
    mesh->face_count = builder->face_count;
    mesh->origin.format = format;
    mesh->origin.skipped_faces = builder->skipped_faces;
    mesh->origin.metres = builder->metres;
    mesh->properties = builder->properties;
    mesh->property_values = builder->property_values;
    mesh->property_count = builder->property_count;
    mesh->property_names = builder->property_names.bytes.data;
    builder->properties = NULL;
    builder->property_values = NULL;
    builder->property_count = 0;
    builder->property_names.bytes = (carom_name_bytes){0};
    builder->floats = NULL;
    builder->corners = (carom_corners){0};
    builder->offsets = (carom_offsets){0};
    *out = mesh;
    return CAROM_OK;
}

void carom_builder_release(carom_builder *builder) {
    const carom_allocator *allocator = &builder->context->allocator;
    carom_points_release(&builder->points, allocator);
    carom_release(allocator, builder->floats);
    carom_corners_release(&builder->corners, allocator);
    carom_offsets_release(&builder->offsets, allocator);
    carom_corners_release(&builder->parts, allocator);
    carom_names_release(&builder->names, allocator);
    for (uint64_t i = 0; i < builder->property_count; ++i)
        carom_release(allocator, builder->property_values[i]);
    carom_release(allocator, builder->properties);
    carom_release(allocator, builder->property_values);
    carom_names_release(&builder->property_names, allocator);
}
