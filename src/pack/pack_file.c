/* SPDX-License-Identifier: MIT */
/* Files of packings. Numbers are written with as many digits as it takes to read them back. */
#include <float.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/names.h"
#include "base/progress.h"
#include "geom/enclosing_ball.h"
#include "geom/length.h"
#include "mesh/mesh_format.h"
#include "mesh/mesh_text.h"
#include "pack/pack.h"

CAROM_ENUM_NAMES(carom_packing_format, CAROM_PACKING_FORMAT_COUNT, "guess", "ply", "csv", "xyzr",
                 "sph");

#define SPHERES_PER_LOOK 1024u /* between checks of the clock: about a millisecond of printing */

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct column {
    const char *name, *type; /* of the PLY property */
} column;

static const column pack_file_columns[] = {
    {"x", "double"},      {"y", "double"},         {"z", "double"},
    {"radius", "double"}, {"secondary", "double"}, {"cover", "double"},
    {"void", "double"},   {"face", "uint"},        {"depth", "double"}};
#define COLUMNS     9u
#define CSV_COLUMNS 8u /* all but the depth */

static void write_numbers(carom_writer *writer, const double *numbers, uint32_t count,
                          char between) {
    char *to = carom_writer_reserve(writer);
    for (uint32_t i = 0; i < count; ++i) {
        if (i > 0) *to++ = between;
        to = carom_number_print(to, numbers[i]);
    }
    *to++ = '\n';
    carom_writer_advance(writer, to);
}

static void write_comment(carom_writer *writer, const char *key, const double *numbers,
                          uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (!(fabs(numbers[i]) <= DBL_MAX)) return; /* not known */
    carom_writer_text(writer, "comment ");
    carom_writer_text(writer, key);
    carom_writer_text(writer, " ");
    write_numbers(writer, numbers, count, ' ');
}

static void write_ply_header(carom_writer *writer, const carom_packing_info *info) {
    const double bounds[6] = {info->bounds.low.x,  info->bounds.low.y,  info->bounds.low.z,
                              info->bounds.high.x, info->bounds.high.y, info->bounds.high.z};
    const double origin[3] = {info->origin.x, info->origin.y, info->origin.z};
    carom_writer_text(writer, "ply\nformat ascii 1.0\ncomment a packing of spheres by carom\n");
    carom_writer_text(writer, "comment method ");
    carom_writer_text(writer, carom_packing_method_name(info->method));
    carom_writer_text(writer, "\n");
    write_comment(writer, "volume", &info->volume, 1);
    write_comment(writer, "fill", &info->fill, 1);
    write_comment(writer, "empty", &info->empty_radius, 1);
    write_comment(writer, "bounds", bounds, 6);
    write_comment(writer, "origin", origin, 3);
    if (info->shares) carom_writer_text(writer, "comment shares\n");
    if (info->complete) carom_writer_text(writer, "comment complete\n");
    if (info->inside_out) carom_writer_text(writer, "comment inside_out\n");
    char *to = carom_writer_reserve(writer);
    memcpy(to, "element vertex ", 15);
    to = carom_number_print_count(to + 15, info->spheres);
    *to++ = '\n';
    carom_writer_advance(writer, to);
    for (uint32_t i = 0; i < COLUMNS; ++i) {
        carom_writer_text(writer, "property ");
        carom_writer_text(writer, pack_file_columns[i].type);
        carom_writer_text(writer, " ");
        carom_writer_text(writer, pack_file_columns[i].name);
        carom_writer_text(writer, "\n");
    }
    carom_writer_text(writer, "end_header\n");
}

/* The root: the ball around all spheres; then all, as its children. */
static carom_status write_sph_root(carom_writer *writer, const carom_packing *packing,
                                   carom_vec3 middle) {
    carom_context *context = writer->context;
    uint64_t count = packing->info.spheres;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_ball *balls = CAROM_ARENA_TAKE(scratch, carom_ball, count), root;
    if (balls == NULL) return carom_fail_memory(context, count * sizeof(*balls), "spheres");
    for (uint64_t i = 0; i < count; ++i)
        balls[i] = (carom_ball){packing->spheres[i].centre, packing->spheres[i].radius};
    carom_status status = carom_ball_of_balls(context, balls, count, &root);
    carom_arena_rewind(scratch, mark);
    const double levels[2] = {2.0, (double)count};
    const double numbers[5] = {root.centre.x - middle.x, root.centre.y - middle.y,
                               root.centre.z - middle.z, root.radius, 1.0};
    write_numbers(writer, levels, 2, ' ');
    write_numbers(writer, numbers, 5, ' ');
    return status;
}

static carom_status write_all(carom_writer *writer, const carom_packing *packing,
                              carom_packing_format format) {
    const carom_packing_info *info = &packing->info;
    carom_vec3 middle = {0.0, 0.0, 0.0};
    if (format == CAROM_PACKING_FORMAT_PLY) write_ply_header(writer, info);
    if (format == CAROM_PACKING_FORMAT_CSV)
        carom_writer_text(writer, "x,y,z,radius,secondary,cover,void,face\n");
    if (format == CAROM_PACKING_FORMAT_SPH) {
        middle = carom_vec_add(carom_vec_scale(info->bounds.low, 0.5),
                               carom_vec_scale(info->bounds.high, 0.5));
        CAROM_TRY(write_sph_root(writer, packing, middle));
    }
    for (uint64_t i = 0; i < info->spheres; ++i) {
        const carom_packing_sphere *s = &packing->spheres[i];
        double numbers[COLUMNS] = {s->centre.x,    s->centre.y,     s->centre.z,
                                   s->radius,      s->secondary,    s->cover,
                                   s->void_volume, (double)s->face, s->depth};
        if (format == CAROM_PACKING_FORMAT_SPH) {
            numbers[0] -= middle.x;
            numbers[1] -= middle.y;
            numbers[2] -= middle.z;
            numbers[4] = 1.0;
        }
        uint32_t count = format == CAROM_PACKING_FORMAT_XYZR  ? 4
                         : format == CAROM_PACKING_FORMAT_SPH ? 5
                         : format == CAROM_PACKING_FORMAT_CSV ? CSV_COLUMNS
                                                              : COLUMNS;
        write_numbers(writer, numbers, count, format == CAROM_PACKING_FORMAT_CSV ? ',' : ' ');
        if ((i + 1) % SPHERES_PER_LOOK == 0) {
            carom_progress_add(writer->context, 0, SPHERES_PER_LOOK);
            if (carom_progress_cancelled(writer->context)) break;
        }
    }
    return CAROM_OK;
}

static carom_packing_format guess(const char *path) {
    if (carom_name_ends(path, ".csv")) return CAROM_PACKING_FORMAT_CSV;
    if (carom_name_ends(path, ".txt") || carom_name_ends(path, ".xyzr"))
        return CAROM_PACKING_FORMAT_XYZR;
    if (carom_name_ends(path, ".sph")) return CAROM_PACKING_FORMAT_SPH;
    return CAROM_PACKING_FORMAT_PLY;
}

static carom_status check_sph(carom_context *context, const carom_packing *packing,
                              carom_packing_format format, const char *name) {
    if (format != CAROM_PACKING_FORMAT_SPH || packing->info.spheres != 0) return CAROM_OK;
    return carom_fail(context, CAROM_BAD_INPUT,
                      "%s: there are no spheres, and a sphere tree has one at least", name);
}

carom_status carom_packing_save(carom_context *context, const carom_packing *packing,
                                carom_packing_format format, const char *path) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(packing, "packing");
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_PACKING_FORMAT_COUNT, "format");
    if (format == CAROM_PACKING_FORMAT_GUESS) format = guess(path);
    CAROM_TRY(check_sph(context, packing, format, path));
    carom_writer_file file;
    carom_progress_begin(context, "writing spheres", packing->info.spheres);
    carom_status status = carom_writer_open_file(context, path, false, &file);
    if (status != CAROM_OK) return carom_progress_finish(context, status);
    status = write_all(&file.writer, packing, format);
    status = carom_progress_finish(context, status);
    return carom_writer_close_file(&file, status);
}

carom_status carom_packing_save_memory(carom_context *context, const carom_packing *packing,
                                       carom_packing_format format, carom_bytes *bytes) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(packing, "packing");
    CAROM_REQUIRE(format != CAROM_PACKING_FORMAT_GUESS &&
                      (unsigned)format < CAROM_PACKING_FORMAT_COUNT,
                  CAROM_FORMAT_IS_READ_ONLY);
    CAROM_REQUIRE_RESULT(bytes, "bytes");
    CAROM_TRY(check_sph(context, packing, format, "a sphere tree"));
    carom_writer writer;
    CAROM_TRY(carom_writer_open_memory(context, bytes, &writer));
    carom_progress_begin(context, "writing spheres", packing->info.spheres);
    carom_status status = carom_progress_finish(context, write_all(&writer, packing, format));
    return carom_writer_close_memory(&writer, status);
}

/* ---- Reading --------------------------------------------------------------------------------- */

#define MOST_PROPERTIES 64u /* of an element; files of splats have 62 */
#define UNUSED          COLUMNS

typedef enum ply_type {
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT32,
    PLY_FLOAT64,
    PLY_TYPES
} ply_type;

typedef struct header {
    bool binary;
    uint64_t count;
    uint32_t properties;
    uint32_t column[MOST_PROPERTIES]; /* UNUSED: none of ours */
    ply_type type[MOST_PROPERTIES];
    uint32_t row_bytes;
} header;

static uint32_t type_bytes(ply_type type) {
    static const uint8_t bytes[PLY_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};
    return bytes[type];
}

static bool pack_file_accept_type(carom_text *text, ply_type *type) {
    static const char *const names[][2] = {
        {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
        {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
    for (uint32_t i = 0; i < PLY_TYPES; ++i)
        for (uint32_t k = 0; k < 2; ++k)
            if (carom_text_accept(text, names[i][k])) {
                *type = (ply_type)i;
                return true;
            }
    return false;
}

/* What a comment of ours says. */
static void read_comment(carom_text *text, carom_packing_info *info) {
    double n[6] = {0};
    if (carom_text_accept(text, "volume")) {
        if (carom_text_number(text, n)) info->volume = n[0];
    } else if (carom_text_accept(text, "fill")) {
        if (carom_text_number(text, n)) info->fill = n[0];
    } else if (carom_text_accept(text, "empty")) {
        if (carom_text_number(text, n)) info->empty_radius = n[0];
    } else if (carom_text_accept(text, "bounds")) {
        bool good = true;
        for (int i = 0; i < 6; ++i) good = good && carom_text_number(text, &n[i]);
        if (good) info->bounds = (carom_bounds){{n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
    } else if (carom_text_accept(text, "origin")) {
        bool good = true;
        for (int i = 0; i < 3; ++i) good = good && carom_text_number(text, &n[i]);
        if (good) info->origin = carom_vec(n[0], n[1], n[2]);
    } else if (carom_text_accept(text, "shares")) {
        info->shares = true;
    } else if (carom_text_accept(text, "complete")) {
        info->complete = true;
    } else if (carom_text_accept(text, "inside_out")) {
        info->inside_out = true;
    } else if (carom_text_accept(text, "method")) {
        for (int i = 0; i < CAROM_PACKING_METHOD_COUNT; ++i)
            if (carom_text_accept(text, carom_packing_method_name((carom_packing_method)i)))
                info->method = (carom_packing_method)i;
    }
}

static carom_status pack_file_read_property(carom_text *text, header *h) {
    const uint8_t *at = text->at;
    ply_type type;
    if (!pack_file_accept_type(text, &type))
        return carom_text_fail(text, at, "a property of a sphere is not a number but %s",
                               carom_text_quote(text, at).text);
    if (h->properties == MOST_PROPERTIES)
        return carom_text_fail(text, at, "more than %u properties", MOST_PROPERTIES);
    uint32_t i = h->properties++, c = 0;
    while (c < COLUMNS && !carom_text_accept(text, pack_file_columns[c].name)) ++c;
    h->column[i] = c;
    h->type[i] = type;
    h->row_bytes += type_bytes(type);
    return CAROM_OK;
}

static carom_status pack_file_read_header(carom_text *text, header *h, carom_packing_info *info) {
    bool vertex = false, format = false, done = false;
    CAROM_TRY(carom_text_begin(text));
    if (!carom_text_accept(text, "ply"))
        return carom_text_fail(text, text->at,
                               "does not begin with ply: packings are read from PLY");
    while (!done) {
        carom_text_skip_line(text);
        carom_text_skip_spaces(text);
        const uint8_t *at = text->at;
        if (at == text->end) return carom_text_fail(text, at, "ends before end_header");
        if (carom_text_accept(text, "format")) {
            h->binary = carom_text_accept(text, "binary_little_endian");
            if (!h->binary && !carom_text_accept(text, "ascii"))
                return carom_text_fail(text, at, "is neither text nor little endian: convert it");
            format = true;
        } else if (carom_text_accept(text, "comment") || carom_text_accept(text, "obj_info")) {
            read_comment(text, info);
        } else if (carom_text_accept(text, "element")) {
            if (vertex) { /* spheres come first; what follows is not read */
                while (text->at < text->end && !carom_text_accept(text, "end_header")) {
                    carom_text_skip_line(text);
                    carom_text_skip_spaces(text);
                }
                done = true;
                continue;
            }
            if (!carom_text_accept(text, "vertex") || !carom_text_count(text, &h->count))
                return carom_text_fail(text, at, "the first element is not a number of vertices");
            vertex = true;
        } else if (carom_text_accept(text, "property")) {
            if (vertex) CAROM_TRY(pack_file_read_property(text, h));
        } else if (carom_text_accept(text, "end_header")) {
            done = true;
        } else {
            return carom_text_fail(text, at, "%s is not known in a header",
                                   carom_text_quote(text, at).text);
        }
    }
    carom_text_skip_line(text);
    if (text->at < text->end && *text->at == '\r') ++text->at;
    if (text->at < text->end && *text->at == '\n') ++text->at;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < h->properties; ++i)
        if (h->column[i] < COLUMNS) seen |= 1u << h->column[i];
    if (!format || !vertex || (seen & 15u) != 15u)
        return carom_text_fail(text, text->at, "has no vertices with x, y, z and radius");
    return CAROM_OK;
}

static double binary_number(const uint8_t *at, ply_type type) {
    uint64_t bits = 0;
    uint32_t bytes = type_bytes(type);
    for (uint32_t i = 0; i < bytes; ++i) bits |= (uint64_t)at[i] << (8 * i);
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case PLY_INT8:
        return (double)(int8_t)low;
    case PLY_INT16:
        return (double)(int16_t)low;
    case PLY_INT32:
        return (double)(int32_t)low;
    case PLY_FLOAT32:
        memcpy(&f, &low, sizeof(f));
        return (double)f;
    case PLY_FLOAT64:
        memcpy(&d, &bits, sizeof(d));
        return d;
    default:
        return (double)low;
    }
}

static carom_status read_sphere(carom_text *text, const header *h, uint64_t index,
                                carom_packing_sphere *sphere) {
    double row[COLUMNS + 1] = {0.0};
    const uint8_t *at = text->at;
    row[7] = (double)UINT32_MAX;
    if (h->binary) {
        for (uint32_t i = 0; i < h->properties; ++i) {
            row[h->column[i]] = binary_number(text->at, h->type[i]);
            text->at += type_bytes(h->type[i]);
        }
    } else {
        for (uint32_t i = 0; i < h->properties; ++i) {
            carom_text_skip_spaces(text);
            if (!carom_text_number(text, &row[h->column[i]]))
                return carom_text_fail(text, text->at, "sphere %llu: %s is not a number",
                                       (unsigned long long)index,
                                       carom_text_quote(text, text->at).text);
        }
    }
    for (uint32_t i = 0; i < COLUMNS; ++i)
        if (!(fabs(row[i]) <= CAROM_LARGEST_COORDINATE))
            return carom_text_fail(text, at, "sphere %llu has a %s that is not finite",
                                   (unsigned long long)index, pack_file_columns[i].name);
    for (uint32_t i = 3; i < COLUMNS; ++i)
        if (!(row[i] >= 0.0) || (i == 3 && row[i] == 0.0) || (i == 7 && row[i] > UINT32_MAX))
            return carom_text_fail(text, at, "sphere %llu has a %s of %g",
                                   (unsigned long long)index, pack_file_columns[i].name, row[i]);
    memset(sphere, 0, sizeof(*sphere)); /* the padding, too */
    sphere->centre = carom_vec(row[0], row[1], row[2]);
    sphere->radius = row[3];
    sphere->secondary = row[4];
    sphere->cover = row[5];
    sphere->void_volume = row[6];
    sphere->face = (uint32_t)row[7];
    sphere->depth = CAROM_MAX(row[8], row[3]);
    return CAROM_OK;
}

typedef struct pack_file_ranked {
    carom_packing_sphere sphere;
    uint64_t index;
} pack_file_ranked;

static int pack_file_larger_first(const void *a, const void *b) {
    const pack_file_ranked *c = a, *d = b;
    if (c->sphere.radius != d->sphere.radius) return c->sphere.radius > d->sphere.radius ? -1 : 1;
    return (c->index > d->index) - (c->index < d->index);
}

static carom_status read_spheres(carom_text *text, const header *h, carom_packing *packing) {
    carom_context *context = text->context;
    /* A sphere takes some bytes: a count in a header reserves no more than the file could hold. */
    uint64_t least = h->binary ? h->row_bytes : 2 * h->properties - 1;
    uint64_t left = (uint64_t)(text->end - text->at);
    if (h->count > UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%s: %llu spheres are more than 2^32 - 1",
                          text->name, (unsigned long long)h->count);
    if (h->count > (h->binary ? left : left + 1) / least) /* the last line may lack its end */
        return carom_text_fail(text, text->end, "ends before the last of %llu spheres",
                               (unsigned long long)h->count);
    carom_arena *scratch = carom_scratch(context, 0);
    pack_file_ranked *order = CAROM_ARENA_TAKE(scratch, pack_file_ranked, h->count);
    packing->spheres = carom_allocate(&packing->allocator, h->count, sizeof(*packing->spheres));
    if (order == NULL || packing->spheres == NULL)
        return carom_fail_memory(context, h->count * sizeof(*order), "spheres of a packing");
    for (uint64_t i = 0; i < h->count; ++i) {
        CAROM_TRY(read_sphere(text, h, i, &order[i].sphere));
        order[i].index = i;
        if ((i + 1) % SPHERES_PER_LOOK == 0) CAROM_TRY(carom_progress_look(context));
    }
    if (h->count > 1) qsort(order, h->count, sizeof(*order), pack_file_larger_first);
    for (uint64_t i = 0; i < h->count; ++i) packing->spheres[i] = order[i].sphere;
    packing->info.spheres = h->count;
    packing->info.least_radius = h->count != 0 ? packing->spheres[h->count - 1].radius : 0.0;
    return CAROM_OK;
}

carom_status carom_packing_load_memory(carom_context *context, const void *bytes, uint64_t size,
                                       carom_packing_format format, const char *name,
                                       carom_packing **packing) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(packing, "packing");
    CAROM_REQUIRE_INPUTS(bytes, size, "bytes");
    CAROM_REQUIRE_KNOWN(format, CAROM_PACKING_FORMAT_COUNT, "format");
    *packing = NULL;
    if (name == NULL) name = "a packing";
    if (format != CAROM_PACKING_FORMAT_GUESS && format != CAROM_PACKING_FORMAT_PLY)
        return carom_fail(context, CAROM_UNSUPPORTED, "%s: packings are read from PLY, not from %s",
                          name, carom_packing_format_name(format));
    const uint8_t *begin = bytes != NULL ? bytes : (const uint8_t *)"";
    carom_text text = carom_text_of(context, name, begin, size);
    carom_packing *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a packing");
    *made = (carom_packing){.allocator = context->allocator};
    made->info.empty_radius = HUGE_VAL;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    header h = {0};
    carom_progress_begin(context, "reading spheres", 0);
    carom_status status = pack_file_read_header(&text, &h, &made->info);
    if (status == CAROM_OK) status = read_spheres(&text, &h, made);
    status = carom_progress_finish(context, status);
    carom_arena_rewind(scratch, mark);
    if (status != CAROM_OK) {
        carom_packing_destroy(made);
        return status;
    }
    *packing = made;
    return CAROM_OK;
}

carom_status carom_packing_load(carom_context *context, const char *path,
                                carom_packing_format format, carom_packing **packing) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(path, "path");
    CAROM_REQUIRE_KNOWN(format, CAROM_PACKING_FORMAT_COUNT, "format");
    CAROM_REQUIRE_OUTPUT(packing, "packing");
    uint8_t *bytes;
    uint64_t size;
    *packing = NULL;
    carom_status status = carom_file_read(context, path, &bytes, &size);
    if (status != CAROM_OK) return status;
    status = carom_packing_load_memory(context, bytes, size, format, path, packing);
    carom_release(&context->allocator, bytes);
    return status;
}
