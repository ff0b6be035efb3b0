/* SPDX-License-Identifier: MIT */
/* Meshes that own their arrays, and the check of views.
 *
 * Invariant: in a view that carom_mesh_check accepts, positions are finite, corners are indices of
 * vertices, parts of faces indices of parts, and each face has at least three corners. Later steps
 * rely on it and do not check again. */
#include "mesh/mesh.h"

#include <inttypes.h>

#include "base/item.h"
#include "base/names.h"
#include "base/threads.h"
#include "geom/length.h"

#define MESH_VERTICES_PER_RANGE                                                                    \
    ((uint64_t)1 << 16) /* vertices or corners per range of a loop: some 50 us */

carom_mesh *carom_mesh_allocate(const carom_allocator *allocator) {
    carom_mesh *mesh = carom_allocate(allocator, 1, sizeof(*mesh));
    if (mesh == NULL) return NULL;
    memset(mesh, 0, sizeof(*mesh));
    mesh->allocator = *allocator;
    mesh->part_count = 1;
    return mesh;
}

void carom_mesh_destroy(carom_mesh *mesh) {
    if (mesh == NULL) return;
    carom_allocator allocator = mesh->allocator;
    for (uint64_t i = 0; i < mesh->property_count; ++i)
        carom_release(&allocator, mesh->property_values[i]);
    CAROM_RELEASE_ALL(&allocator, mesh->positions, mesh->corners, mesh->offsets, mesh->parts,
                      mesh->part_names, mesh->name_bytes, mesh->properties, mesh->property_values,
                      mesh->property_names, mesh);
}

carom_status carom_mesh_get_view(const carom_mesh *mesh, carom_mesh_view *view) {
    CAROM_REQUIRE_INPUT(mesh, "mesh");
    CAROM_REQUIRE_OUTPUT(view, "view");
    *view = (carom_mesh_view){
        .positions = mesh->positions,
        .scalar = mesh->scalar,
        .stride = 3 * carom_scalar_size(mesh->scalar),
        .vertex_count = mesh->vertex_count,
        .corners = mesh->corners,
        .offsets = mesh->offsets,
        .face_count = mesh->face_count,
        .parts = mesh->parts,
        .part_names = mesh->part_names,
        .part_count = mesh->part_count,
        .properties = mesh->properties,
        .property_count = mesh->property_count,
    };
    return CAROM_OK;
}

carom_status carom_mesh_get_origin(const carom_mesh *mesh, carom_mesh_origin *origin) {
    CAROM_REQUIRE_INPUT(mesh, "mesh");
    CAROM_REQUIRE_OUTPUT(origin, "origin");
    *origin = mesh->origin;
    return CAROM_OK;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Bodies of parallel loops: CAROM_BAD_INPUT where something is wrong. The first such element is
 * then searched for serially. */

static carom_status positions_are_finite(void *argument, carom_range range) {
    const carom_mesh_view *view = *(const carom_mesh_view **)argument;
    bool finite = true;
    for (uint64_t i = range.begin; i < range.end; ++i)
        finite = finite & carom_vec_finite(carom_mesh_position(view, i));
    return finite ? CAROM_OK : CAROM_BAD_INPUT;
}

static carom_status corners_are_vertices(void *argument, carom_range range) {
    const carom_mesh_view *view = *(const carom_mesh_view **)argument;
    uint32_t largest = 0;
    for (uint64_t i = range.begin; i < range.end; ++i)
        largest = CAROM_MAX(largest, view->corners[i]);
    return largest < view->vertex_count ? CAROM_OK : CAROM_BAD_INPUT;
}

static carom_status check_positions(carom_context *context, const carom_mesh_view *view) {
    carom_status status = carom_parallel_for(context, view->vertex_count, MESH_VERTICES_PER_RANGE,
                                             positions_are_finite, &view);
    if (status != CAROM_BAD_INPUT) return status;
    uint64_t i = 0;
    while (carom_vec_finite(carom_mesh_position(view, i))) ++i;
    carom_vec3 p = carom_mesh_position(view, i);
    return carom_fail(context, CAROM_BAD_INPUT,
                      "vertex %" PRIu64 " is at (%g, %g, %g); positions must be finite", i, p.x,
                      p.y, p.z);
}

static carom_status check_offsets(carom_context *context, const carom_mesh_view *view) {
    if (view->offsets[0] != 0)
        return carom_fail(context, CAROM_BAD_INPUT, "the first offset is %" PRIu64 ", not 0",
                          view->offsets[0]);
    for (uint64_t f = 0; f < view->face_count; ++f) {
        uint64_t begin = view->offsets[f], end = view->offsets[f + 1];
        if (end < begin)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "offsets of face %" PRIu64 " go down from %" PRIu64 " to %" PRIu64, f,
                              begin, end);
        if (end - begin < 3)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "face %" PRIu64 " has %" PRIu64 " corners; leave out what has fewer "
                              "than three",
                              f, end - begin);
    }
    return CAROM_OK;
}

/* The face that contains the corner with this index. */
static uint64_t face_of_corner(const carom_mesh_view *view, uint64_t corner) {
    if (view->offsets == NULL) return corner / 3;
    uint64_t low = 0, high = view->face_count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (view->offsets[middle] <= corner)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static carom_status check_corners(carom_context *context, const carom_mesh_view *view) {
    carom_status status = carom_parallel_for(context, carom_mesh_corner_count(view),
                                             MESH_VERTICES_PER_RANGE, corners_are_vertices, &view);
    if (status != CAROM_BAD_INPUT) return status;
    uint64_t i = 0;
    while (view->corners[i] < view->vertex_count) ++i;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "face %" PRIu64 " names vertex %" PRIu32 ", the mesh has %" PRIu64,
                      face_of_corner(view, i), view->corners[i], view->vertex_count);
}

static carom_status check_parts(carom_context *context, const carom_mesh_view *view) {
    uint32_t largest = 0;
    for (uint64_t f = 0; f < view->face_count; ++f) largest = CAROM_MAX(largest, view->parts[f]);
    if (view->face_count == 0 || largest < view->part_count) return CAROM_OK;
    uint64_t f = 0;
    while (view->parts[f] < view->part_count) ++f;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "face %" PRIu64 " is in part %" PRIu32 ", the mesh has %" PRIu64 " parts", f,
                      view->parts[f], view->part_count);
}

static carom_status check_names(carom_context *context, const carom_mesh_view *view) {
    for (uint64_t p = 0; p < view->part_count; ++p) {
        CAROM_REQUIRE_INPUT(view->part_names[p], "name of a part");
        for (const char *at = view->part_names[p]; *at != '\0'; ++at)
            if (carom_is_control((uint8_t)*at))
                return carom_fail(context, CAROM_BAD_INPUT,
                                  "the name of part %" PRIu64 " has a control character, 0x%02X; "
                                  "replace it by a space",
                                  p, (unsigned)(uint8_t)*at);
    }
    return CAROM_OK;
}

/* Whether PLY has this name for something else; in any case, as its reader does not mind. */
static bool is_reserved(const carom_mesh_property *property) {
    static const char *const words[2][3] = {{"x", "y", "z"},
                                            {"vertex_index", "vertex_indices", "part"}};
    for (int i = 0; i < 3; ++i) {
        const char *word = words[property->of_faces][i], *name = property->name;
        while (*word != '\0' && (*name == *word || (*name | 0x20) == *word)) {
            ++word;
            ++name;
        }
        if (*word == '\0' && *name == '\0') return true;
    }
    return false;
}

static carom_status check_properties(carom_context *context, const carom_mesh_view *view) {
    CAROM_REQUIRE_INPUTS(view->properties, view->property_count, "properties of the view");
    if (view->property_count > CAROM_MESH_MOST_PROPERTIES)
        return carom_fail(context, CAROM_TOO_LARGE, "%" PRIu64 " properties, a mesh has at most %d",
                          view->property_count, CAROM_MESH_MOST_PROPERTIES);
    for (uint64_t i = 0; i < view->property_count; ++i) {
        const carom_mesh_property *p = &view->properties[i];
        CAROM_REQUIRE_INPUT(p->name, "name of a property");
        CAROM_REQUIRE_KNOWN(p->type, CAROM_MESH_PROPERTY_TYPE_COUNT, "type of a property");
        uint64_t count = p->of_faces ? view->face_count : view->vertex_count;
        CAROM_REQUIRE_INPUTS(p->values, count, "values of a property");
        CAROM_REQUIRE((uintptr_t)p->values % carom_property_size(p->type) == 0,
                      "the values of a property are not aligned");
        bool word = *p->name != '\0';
        for (const char *at = p->name; *at != '\0'; ++at) word = word && *at > ' ' && *at < 0x7F;
        if (!word || is_reserved(p))
            return carom_fail(context, CAROM_BAD_INPUT,
                              "the name of property %" PRIu64
                              " is %s; take another word, printable ASCII",
                              i, word ? "used by PLY itself" : "not one word");
    }
    return CAROM_OK;
}

carom_status carom_mesh_check(carom_context *context, const carom_mesh_view *view) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(view, "view");
    CAROM_REQUIRE_KNOWN(view->scalar, CAROM_SCALAR_COUNT, "scalar type");
    CAROM_REQUIRE_INPUTS(view->positions, view->vertex_count, "positions of the view");
    CAROM_REQUIRE_INPUTS(view->corners, view->face_count, "corners of the view");
    uint64_t size = carom_scalar_size(view->scalar);
    CAROM_REQUIRE(view->stride == 0 || (view->stride >= 3 * size && view->stride % size == 0),
                  "view->stride is too small or no multiple of the scalar's size");
    CAROM_REQUIRE((uintptr_t)view->positions % size == 0, "view->positions are not aligned");
    if (view->vertex_count > CAROM_MESH_MOST_VERTICES)
        return carom_fail(context, CAROM_TOO_LARGE,
                          "%" PRIu64 " vertices, a mesh has at most %" PRIu32, view->vertex_count,
                          CAROM_MESH_MOST_VERTICES);
    if (view->part_count > CAROM_MESH_MOST_PARTS)
        return carom_fail(context, CAROM_TOO_LARGE,
                          "%" PRIu64 " parts, a mesh has at most %" PRIu32, view->part_count,
                          CAROM_MESH_MOST_PARTS);
    CAROM_TRY(check_positions(context, view));
    if (view->offsets != NULL) CAROM_TRY(check_offsets(context, view));
    if (view->parts != NULL) CAROM_TRY(check_parts(context, view));
    if (view->part_names != NULL) CAROM_TRY(check_names(context, view));
    CAROM_TRY(check_properties(context, view));
    return check_corners(context, view);
}

carom_status carom_mesh_check_numbers(carom_context *context, const carom_mesh_view *view,
                                      const char *done) {
    uint64_t corners = carom_mesh_corner_count(view);
    if (view->face_count < UINT32_MAX && corners < UINT32_MAX) return CAROM_OK;
    return carom_fail(context, CAROM_TOO_LARGE,
                      "%" PRIu64 " faces with %" PRIu64
                      " corners; at most 2^32 - 2 corners can be %s; split the mesh",
                      view->face_count, corners, done);
}

/* ---- Copying --------------------------------------------------------------------------------- */

static bool all_triangles(const carom_mesh_view *view) {
    if (view->offsets == NULL) return true;
    for (uint64_t f = 0; f < view->face_count; ++f)
        if (view->offsets[f + 1] != 3 * (f + 1)) return false;
    return true;
}

static void mesh_copy_positions(const carom_mesh_view *view, char *to) {
    uint64_t packed = 3 * carom_scalar_size(view->scalar), stride = carom_mesh_stride(view);
    const char *from = view->positions;
    if (stride == packed) {
        if (view->vertex_count != 0) memcpy(to, from, view->vertex_count * packed);
        return;
    }
    for (uint64_t i = 0; i < view->vertex_count; ++i)
        memcpy(to + i * packed, from + i * stride, packed);
}

bool carom_mesh_copy_names(carom_mesh *mesh, const carom_mesh_view *view) {
    mesh->part_count = CAROM_MAX(view->part_count, 1);
    if (view->part_names == NULL || view->part_count == 0) return true;
    uint64_t bytes = 0;
    for (uint64_t p = 0; p < view->part_count; ++p) bytes += strlen(view->part_names[p]) + 1;
    const carom_allocation arrays[] = {CAROM_ALLOCATION(mesh->part_names, view->part_count),
                                       CAROM_ALLOCATION(mesh->name_bytes, bytes)};
    if (!carom_allocate_all(&mesh->allocator, arrays, 2)) return false;
    char *to = mesh->name_bytes;
    for (uint64_t p = 0; p < view->part_count; ++p) {
        size_t size = strlen(view->part_names[p]) + 1;
        memcpy(to, view->part_names[p], size);
        mesh->part_names[p] = to;
        to += size;
    }
    return true;
}

static void mesh_gather(const void *from, const uint32_t *indices, uint64_t count, size_t size,
                        char *to) {
    if (indices == NULL) {
        if (count != 0) memcpy(to, from, count * size);
        return;
    }
    for (uint64_t i = 0; i < count; ++i)
        memcpy(to + i * size, (const char *)from + indices[i] * size, size);
}

bool carom_mesh_copy_properties(carom_mesh *mesh, const carom_mesh_view *view,
                                const uint32_t *vertex_from, const uint32_t *face_from) {
    uint64_t bytes = 0, count = view->property_count;
    if (count == 0) return true;
    for (uint64_t i = 0; i < count; ++i) bytes += strlen(view->properties[i].name) + 1;
    const carom_allocation arrays[] = {CAROM_ALLOCATION(mesh->properties, count),
                                       CAROM_ALLOCATION(mesh->property_values, count),
                                       CAROM_ALLOCATION(mesh->property_names, bytes)};
    if (!carom_allocate_all(&mesh->allocator, arrays, 3)) return false;
    char *name = mesh->property_names;
    for (uint64_t i = 0; i < count; ++i) {
        const carom_mesh_property *p = &view->properties[i];
        size_t size = carom_property_size(p->type), length = strlen(p->name) + 1;
        uint64_t value_count = p->of_faces ? mesh->face_count : mesh->vertex_count;
        char *values = carom_allocate(&mesh->allocator, value_count, size);
        if (values == NULL) return false;
        mesh_gather(p->values, p->of_faces ? face_from : vertex_from, value_count, size, values);
        memcpy(name, p->name, length);
        mesh->properties[i] = (carom_mesh_property){name, p->of_faces, p->type, values};
        mesh->property_values[i] = values;
        mesh->property_count = i + 1;
        name += length;
    }
    return true;
}

static bool all_in_part_0(const carom_mesh_view *view) {
    if (view->parts == NULL) return true;
    for (uint64_t f = 0; f < view->face_count; ++f)
        if (view->parts[f] != 0) return false;
    return true;
}

static bool copy_view(const carom_mesh_view *view, carom_mesh *mesh) {
    uint64_t corner_count = carom_mesh_corner_count(view);
    bool polygons = !all_triangles(view);
    mesh->scalar = view->scalar;
    mesh->vertex_count = view->vertex_count;
    mesh->face_count = view->face_count;
    const carom_allocation arrays[] = {
        {&mesh->positions, view->vertex_count, 3 * (size_t)carom_scalar_size(view->scalar)},
        CAROM_ALLOCATION(mesh->corners, corner_count),
        CAROM_ALLOCATION(mesh->offsets, view->face_count + 1)};
    if (!carom_allocate_all(&mesh->allocator, arrays, polygons ? 3 : 2) ||
        !carom_mesh_copy_names(mesh, view) || !carom_mesh_copy_properties(mesh, view, NULL, NULL))
        return false;
    if (!all_in_part_0(view)) {
        mesh->parts = carom_allocate(&mesh->allocator, view->face_count, sizeof(*mesh->parts));
        if (mesh->parts == NULL) return false;
        memcpy(mesh->parts, view->parts, view->face_count * sizeof(*mesh->parts));
    }
    mesh_copy_positions(view, mesh->positions);
    if (corner_count != 0)
        memcpy(mesh->corners, view->corners, corner_count * sizeof(*mesh->corners));
    if (polygons)
        memcpy(mesh->offsets, view->offsets, (view->face_count + 1) * sizeof(*mesh->offsets));
    return true;
}

carom_status carom_mesh_create(carom_context *context, const carom_mesh_view *view,
                               carom_mesh **out) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(out, "mesh");
    *out = NULL;
    CAROM_TRY(carom_mesh_check(context, view));
    carom_mesh *mesh = carom_mesh_allocate(&context->allocator);
    if (mesh == NULL || !copy_view(view, mesh)) {
        carom_mesh_destroy(mesh);
        return carom_fail_memory(
            context, 24 * view->vertex_count + 4 * carom_mesh_corner_count(view), "a mesh");
    }
    *out = mesh;
    return CAROM_OK;
}

CAROM_ENUM_NAMES(carom_mesh_property_type, CAROM_MESH_PROPERTY_TYPE_COUNT, "float64", "float32",
                 "int8", "uint8", "int16", "uint16", "int32", "uint32");
CAROM_ENUM_NAMES(carom_scalar, CAROM_SCALAR_COUNT, "float64", "float32");
