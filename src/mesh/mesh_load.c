/* SPDX-License-Identifier: MIT */
/* Loading in three steps: the whole file is read, unpacked, and passed to the reader of its format.
 * The file is not mapped, as a mapping would crash if the file were truncated meanwhile. Each step
 * reports progress and can be cancelled, also while it waits for a writer of a pipe. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_gzip.h"

/* ---- Reading bytes --------------------------------------------------------------------------- */

typedef struct file_bytes {
    uint8_t *data;
    uint64_t size, capacity;
} file_bytes;

static carom_status fail_file(carom_context *context, const char *path, const char *what) {
    return carom_fail(context, CAROM_IO, "%s: %s: %s", path, what, strerror(errno));
}

#define READ_BYTES ((uint64_t)8 << 20) /* between two reports: a few milliseconds */

/* Reads to the end. The size stated by the system is only a hint, as pipes have none. */
static carom_status read_descriptor(carom_context *context, const char *path, int file,
                                    file_bytes *bytes) {
    struct stat info;
    if (fstat(file, &info) != 0) return fail_file(context, path, "cannot be read");
    uint64_t hint = S_ISREG(info.st_mode) && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    uint64_t wanted = hint + 1; /* one more, to detect the end without growing */
    carom_progress_begin(context, "reading a file", hint);
    while (!carom_progress_cancelled(context)) {
        if (bytes->size == bytes->capacity) {
            void *data = carom_array_grow(&context->allocator, bytes->data, bytes->size,
                                          CAROM_MAX(wanted, bytes->capacity + (1 << 16)), 1,
                                          &bytes->capacity);
            if (data == NULL) return carom_fail_memory(context, bytes->size + wanted, path);
            bytes->data = data;
        }
        struct pollfd ready = {.fd = file, .events = POLLIN};
        if (!S_ISREG(info.st_mode) && poll(&ready, 1, CAROM_FILE_WAIT) <= 0) {
            carom_progress_add(context, 0, 0);
            continue;
        }
        size_t space = (size_t)CAROM_MIN(bytes->capacity - bytes->size, READ_BYTES);
        ssize_t got = read(file, bytes->data + bytes->size, space);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fail_file(context, path, "cannot be read");
        if (got == 0) break;
        bytes->size += (uint64_t)got;
        carom_progress_add(context, 0, (uint64_t)got);
    }
    return carom_progress_end(context);
}

static carom_status read_file(carom_context *context, const char *path, file_bytes *bytes) {
    /* Without O_NONBLOCK, opening a pipe waits for a writer and cannot be cancelled. */
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return fail_file(context, path, "cannot be opened");
    carom_status status = read_descriptor(context, path, file, bytes);
    (void)close(file);
    return status;
}

carom_status carom_file_read(carom_context *context, const char *path, uint8_t **data,
                             uint64_t *size) {
    file_bytes bytes = {0};
    carom_status status = read_file(context, path, &bytes);
    if (status != CAROM_OK) {
        carom_release(&context->allocator, bytes.data);
        bytes = (file_bytes){0};
    }
    *data = bytes.data;
    *size = bytes.size;
    return status;
}

/* ---- CAD formats ----------------------------------------------------------------------------- */

/* Formats of exact surfaces, which are not meshes. The message says what to do about it. */
static const char *cad_format(const char *name, carom_source source) {
    static const char *const endings[][2] = {
        {".step", "STEP"},     {".stp", "STEP"},          {".p21", "STEP"},
        {".iges", "IGES"},     {".igs", "IGES"},          {".brep", "BREP"},
        {".brp", "BREP"},      {".sat", "ACIS"},          {".x_t", "Parasolid"},
        {".x_b", "Parasolid"}, {".sldprt", "SolidWorks"}, {".catpart", "CATIA"},
        {".ipt", "Inventor"},  {".3dm", "Rhino"},         {".fcstd", "FreeCAD"}};
    static const char mark[] = "ISO-10303-21;"; /* STEP; IFC also begins so, but is known by name */
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); ++i)
        if (name != NULL && carom_name_ends(name, endings[i][0])) return endings[i][1];
    bool named = name != NULL && carom_mesh_format_guess(name, NULL, 0) != CAROM_MESH_FORMAT_GUESS;
    if (!named && source.size > sizeof(mark) && memcmp(source.bytes, mark, sizeof(mark) - 1) == 0)
        return "STEP";
    return NULL;
}

/* ---- Reading meshes -------------------------------------------------------------------------- */

typedef struct request {
    const char *path; /* NULL: only from memory */
    const char *name; /* for messages and format detection; or NULL */
    carom_mesh_format format;
} request;

static carom_status read_format(carom_builder *builder, const request *r, bool packed,
                                carom_source source, carom_mesh_format *format) {
    *format = r->format;
    if (*format == CAROM_MESH_FORMAT_GUESS)
        *format = carom_mesh_format_guess(r->name, source.bytes, source.size);
    const char *cad = *format == CAROM_MESH_FORMAT_GUESS || *format == CAROM_MESH_FORMAT_OTHER
                          ? cad_format(r->name, source)
                          : NULL;
    if (cad != NULL)
        return carom_fail(builder->context, CAROM_UNSUPPORTED,
                          "%s: %s holds the exact surfaces of a CAD program, and meshes are read "
                          "here; export it from that program, or from FreeCAD, as STL or OBJ",
                          builder->name, cad);
    switch (*format) {
    case CAROM_MESH_FORMAT_OBJ:
        return carom_read_obj(builder, source, format);
    case CAROM_MESH_FORMAT_PLY:
    case CAROM_MESH_FORMAT_PLY_BIG:
    case CAROM_MESH_FORMAT_PLY_ASCII:
        return carom_read_ply(builder, source, format);
    case CAROM_MESH_FORMAT_STL:
    case CAROM_MESH_FORMAT_STL_ASCII:
        return carom_read_stl(builder, source, format);
    case CAROM_MESH_FORMAT_OFF:
        return carom_read_off(builder, source, format);
    case CAROM_MESH_FORMAT_OTHER:
        /* assimp also reads files that this one refers to (materials, buffers), so it gets the path
         * if possible. */
        return carom_read_assimp(builder, packed ? NULL : r->path, source);
    default:
        return carom_fail(
            builder->context, CAROM_BAD_FILE,
            "%s: neither name nor content tell the format; name one of " CAROM_NATIVE_FORMATS,
            builder->name);
    }
}

static carom_status read_source(carom_context *context, const request *r, carom_source source,
                                carom_mesh **mesh) {
    carom_builder builder = {.context = context, .name = r->name != NULL ? r->name : "mesh"};
    carom_mesh_format format;
    uint8_t *unpacked = NULL;
    bool packed = carom_is_gzip(source.bytes, source.size);
    if (packed) {
        CAROM_TRY(carom_gzip_unpack(context, builder.name, source.bytes, source.size, &unpacked,
                                    &source.size));
        source.bytes = unpacked;
    }
    builder.reported = source.bytes;
    carom_progress_begin(context, "reading a mesh", source.size);
    carom_status status = read_format(&builder, r, packed, source, &format);
    carom_status ended = carom_progress_end(context);
    if (ended != CAROM_OK) status = ended;
    carom_release(&context->allocator, unpacked);
    if (status == CAROM_OK) status = carom_builder_finish(&builder, format, mesh);
    if (status == CAROM_OK) (*mesh)->origin.compressed = packed;
    carom_builder_release(&builder);
    return status;
}

carom_status carom_mesh_load(carom_context *context, const char *path, carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(path != NULL && mesh != NULL, "the path or the place for the mesh is NULL");
    *mesh = NULL;
    request r = {path, path, CAROM_MESH_FORMAT_GUESS};
    file_bytes bytes = {0};
    carom_status status = read_file(context, path, &bytes);
    if (status == CAROM_OK)
        status = read_source(context, &r, (carom_source){bytes.data, bytes.size}, mesh);
    carom_release(&context->allocator, bytes.data);
    return status;
}

carom_status carom_mesh_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                    carom_mesh_format format, const char *name, carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(mesh != NULL, "the place for the mesh is NULL");
    CAROM_REQUIRE(bytes != NULL || size == 0, "bytes is NULL");
    CAROM_REQUIRE((unsigned)format < CAROM_MESH_FORMAT_COUNT, "format is no format");
    *mesh = NULL;
    request r = {NULL, name, format};
    return read_source(context, &r, (carom_source){bytes != NULL ? bytes : "", size}, mesh);
}
