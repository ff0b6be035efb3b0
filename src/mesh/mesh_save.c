/* SPDX-License-Identifier: MIT */
/* Saving: chooses the format by name, opens the destination and calls the writer of the format. */
#include "mesh/mesh_format.h"

#include "base/progress.h"

static carom_status write_format(carom_writer *writer, const carom_mesh_view *view,
                                 carom_mesh_format format) {
    switch (format) {
    case CAROM_MESH_FORMAT_OBJ:
        return carom_write_obj(writer, view, format);
    case CAROM_MESH_FORMAT_PLY:
    case CAROM_MESH_FORMAT_PLY_BIG:
    case CAROM_MESH_FORMAT_PLY_ASCII:
        return carom_write_ply(writer, view, format);
    case CAROM_MESH_FORMAT_STL:
    case CAROM_MESH_FORMAT_STL_ASCII:
        return carom_write_stl(writer, view, format);
    default:
        return carom_write_off(writer, view, format);
    }
}

/* Progress is relative to an estimate of the size. It includes opening, as a pipe may not have a
 * reader yet. */
static void begin_progress(carom_context *context, const carom_mesh_view *view) {
    carom_progress_begin(context, "writing a mesh",
                         48 * view->vertex_count + 24 * view->face_count);
}

/* Writes everything but does not rename, so that a cancelled file never gets its final name. */
static carom_status write_mesh(carom_writer *writer, const carom_mesh_view *view,
                               carom_mesh_format format) {
    carom_status status = write_format(writer, view, format);
    carom_writer_flush(writer);
    if (status == CAROM_OK) status = writer->status;
    carom_status ended = carom_progress_end(writer->context);
    return ended != CAROM_OK ? ended : status;
}

static bool is_written(carom_mesh_format format) {
    return format > CAROM_MESH_FORMAT_GUESS && format < CAROM_MESH_FORMAT_OTHER;
}

carom_status carom_mesh_save(carom_context *context, const carom_mesh_view *view,
                             carom_mesh_format format, const char *path) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_MESH_FORMAT_COUNT, "format");
    CAROM_TRY(carom_mesh_check(context, view));
    if (format == CAROM_MESH_FORMAT_GUESS) {
        format = carom_mesh_format_guess(path, NULL, 0);
        if (format == CAROM_MESH_FORMAT_STL && !carom_mesh_is_float32(view))
            format = CAROM_MESH_FORMAT_STL_ASCII;
    }
    if (!is_written(format))
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "%s: no format that can be written; there are " CAROM_NATIVE_FORMATS,
                          path);
    carom_writer_file file;
    begin_progress(context, view);
    carom_status status = carom_writer_open_file(context, path, carom_name_is_gzip(path), &file);
    if (status != CAROM_OK) {
        carom_status ended = carom_progress_end(context);
        return ended != CAROM_OK ? ended : status;
    }
    return carom_writer_close_file(&file, write_mesh(&file.writer, view, format));
}

carom_status carom_mesh_save_memory(carom_context *context, const carom_mesh_view *view,
                                    carom_mesh_format format, carom_bytes *bytes) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_RESULT(bytes, "bytes");
    CAROM_REQUIRE(is_written(format), CAROM_FORMAT_IS_READ_ONLY);
    CAROM_TRY(carom_mesh_check(context, view));
    carom_writer writer;
    CAROM_TRY(carom_writer_open_memory(context, bytes, &writer));
    begin_progress(context, view);
    return carom_writer_close_memory(&writer, write_mesh(&writer, view, format));
}
