/* SPDX-License-Identifier: MIT */
/* Shapes that are written without being held. A cloth is a table of vertices, so its rows are
 * computed and written a block at a time, and its faces are known from their numbers alone; the
 * bytes are those of the mesh as a whole, which the functions of mesh_ply.c write. */
#include "base/context.h"
#include "base/item.h"
#include "base/progress.h"
#include "mesh/mesh_ply.h"
#include "mesh/mesh_shapes.h"

/* Vertices of a block of rows, unless one row has more: 6 MB of doubles, enough for all threads. */
#define SHAPES_VERTICES_AT_ONCE (UINT64_C(1) << 18)

typedef struct shapes_stream {
    carom_writer *writer;
    const carom_shape_def *def;
    bool big;
    uint64_t rows; /* at once */
    carom_vec3 *points;
    uint32_t *corners; /* of one row of cells */
    uint64_t *offsets; /* of polygons; else NULL */
} shapes_stream;

static carom_status shapes_write_vertices(shapes_stream *s) {
    uint64_t row = s->def->detail + 1;
    carom_mesh_view view = {.positions = s->points, .scalar = s->def->scalar};
    for (uint64_t first = 0; first < row && s->writer->status == CAROM_OK; first += s->rows) {
        uint64_t count = CAROM_MIN(s->rows, row - first);
        CAROM_TRY(carom_shape_cloth_rows(s->writer->context, s->def, first, count, s->points));
        view.vertex_count = count * row;
        for (uint64_t i = 0; i < view.vertex_count && s->def->scalar == CAROM_SCALAR_FLOAT32; ++i) {
            carom_vec3 p = s->points[i];
            const float f[3] = {(float)p.x, (float)p.y, (float)p.z};
            memcpy((uint8_t *)s->points + i * sizeof(f), f, sizeof(f)); /* before point i ends */
        }
        carom_ply_write_positions(s->writer, &view, s->big);
    }
    return s->writer->status;
}

static void shapes_write_faces(shapes_stream *s) {
    uint64_t n = s->def->detail, row = n + 1;
    bool polygons = s->def->polygons;
    carom_mesh_view view = {.corners = s->corners,
                            .offsets = polygons ? s->offsets : NULL,
                            .face_count = polygons ? n : 2 * n};
    for (uint64_t i = 0; i <= n && polygons; ++i) s->offsets[i] = 4 * i;
    for (uint64_t j = 0; j < n && s->writer->status == CAROM_OK; ++j) {
        uint32_t *at = s->corners;
        for (uint64_t i = 0; i < n; ++i) {
            uint32_t v = (uint32_t)(j * row + i), w = v + (uint32_t)row; /* as begin_sheet has */
            const uint32_t quad[4] = {v, v + 1, w + 1, w};
            const uint32_t halves[6] = {v, v + 1, w + 1, v, w + 1, w};
            memcpy(at, polygons ? quad : halves, polygons ? sizeof(quad) : sizeof(halves));
            at += polygons ? 4 : 6;
        }
        carom_ply_write_faces(s->writer, &view, s->big, false);
    }
}

static carom_status shapes_write_cloth(carom_writer *writer, const carom_shape_def *def,
                                       carom_mesh_format format) {
    uint64_t n = def->detail, row = n + 1;
    const carom_allocator *allocator = &writer->context->allocator;
    shapes_stream s = {.writer = writer,
                       .def = def,
                       .big = format == CAROM_MESH_FORMAT_PLY_BIG,
                       .rows = CAROM_MAX(SHAPES_VERTICES_AT_ONCE / row, UINT64_C(1))};
    carom_mesh_view whole = {.scalar = def->scalar,
                             .vertex_count = row * row,
                             .face_count = (def->polygons ? 1 : 2) * n * n};
    const carom_allocation arrays[] = {CAROM_ALLOCATION(s.points, CAROM_MIN(s.rows, row) * row),
                                       CAROM_ALLOCATION(s.corners, 6 * n),
                                       CAROM_ALLOCATION(s.offsets, def->polygons ? n + 1 : 0)};
    if (!carom_allocate_all(allocator, arrays, 3))
        return carom_fail_memory(writer->context, row * (s.rows * sizeof(*s.points) + 32),
                                 "rows of a cloth");
    carom_ply_write_header(writer, &whole, format, false);
    carom_status status = shapes_write_vertices(&s);
    if (status == CAROM_OK) shapes_write_faces(&s);
    carom_writer_flush(writer);
    CAROM_RELEASE_ALL(allocator, s.points, s.corners, s.offsets);
    return status != CAROM_OK ? status : writer->status;
}

static carom_status shapes_save_cloth(carom_context *context, const carom_shape_def *def,
                                      carom_mesh_format format, const char *path) {
    double side = (double)def->detail, cells = side * side;
    uint64_t point = 3 * carom_scalar_size(def->scalar);
    carom_writer_file file;
    CAROM_TRY(carom_shape_check_counts(context, def, (side + 1.0) * (side + 1.0),
                                       def->polygons ? cells : 2.0 * cells));
    uint64_t n = def->detail, list = def->polygons ? 17 : 26; /* bytes per cell */
    carom_progress_begin(context, "writing a cloth", (n + 1) * (n + 1) * point + n * n * list);
    carom_status status = carom_writer_open_file(context, path, carom_name_is_gzip(path), &file);
    if (status != CAROM_OK) return carom_progress_finish(context, status);
    status = shapes_write_cloth(&file.writer, def, format);
    carom_status ended = carom_progress_end(context); /* a cancelled file never gets its name */
    return carom_writer_close_file(&file, ended != CAROM_OK ? ended : status);
}

carom_status carom_shape_save(carom_context *context, const carom_shape_def *def,
                              carom_mesh_format format, const char *path) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_MESH_FORMAT_COUNT, "format");
    carom_shape_def full;
    carom_mesh *mesh;
    carom_mesh_view view;
    CAROM_TRY(carom_shape_complete(context, def, &full));
    carom_mesh_format written =
        format != CAROM_MESH_FORMAT_GUESS ? format : carom_mesh_format_guess(path, NULL, 0);
    if (full.shape == CAROM_SHAPE_CLOTH &&
        (written == CAROM_MESH_FORMAT_PLY || written == CAROM_MESH_FORMAT_PLY_BIG))
        return shapes_save_cloth(context, &full, written, path);
    CAROM_TRY(carom_shape_make(context, &full, &mesh));
    (void)carom_mesh_get_view(mesh, &view);
    carom_status status = carom_mesh_save(context, &view, format, path);
    carom_mesh_destroy(mesh);
    return status;
}
