/* SPDX-License-Identifier: MIT */
/* Loading in three steps: the whole file is read, unpacked, and passed to the reader of its format.
 * Each step reports progress and can be cancelled. */
#include "base/file.h"
#include "base/progress.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_gzip.h"

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

static carom_status mesh_load_read_format(carom_builder *builder, const request *r, bool packed,
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
        if (carom_glb_is(source)) {
            bool is_foreign;
            carom_status status = carom_read_glb(builder, source, &is_foreign);
            if (status != CAROM_OK || !is_foreign) return status;
        }
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
    carom_status status = mesh_load_read_format(&builder, r, packed, source, &format);
    carom_status ended = carom_progress_end(context);
    if (ended != CAROM_OK) status = ended;
    carom_release(&context->allocator, unpacked);
    if (status == CAROM_OK) status = carom_builder_finish(&builder, format, mesh);
    if (status == CAROM_OK) (*mesh)->origin.compressed = packed;
    carom_builder_release(&builder);
    return status;
}

carom_status carom_mesh_load(carom_context *context, const char *path, carom_mesh_format format,
                             carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    CAROM_REQUIRE_KNOWN(format, CAROM_MESH_FORMAT_COUNT, "format");
    *mesh = NULL;
    request r = {path, path, format};
    uint8_t *bytes;
    uint64_t size;
    CAROM_TRY(carom_file_read(context, path, &bytes, &size));
    carom_status status = read_source(context, &r, (carom_source){bytes, size}, mesh);
    carom_release(&context->allocator, bytes);
    return status;
}

carom_status carom_mesh_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                    carom_mesh_format format, const char *name, carom_mesh **mesh) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(mesh, "mesh");
    CAROM_REQUIRE_INPUTS(bytes, size, "bytes");
    CAROM_REQUIRE_KNOWN(format, CAROM_MESH_FORMAT_COUNT, "format");
    *mesh = NULL;
    request r = {NULL, name, format};
    return read_source(context, &r, (carom_source){bytes != NULL ? bytes : "", size}, mesh);
}
