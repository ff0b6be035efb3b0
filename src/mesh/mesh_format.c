/* SPDX-License-Identifier: MIT */
/* Detection of a file's format: by its first bytes where these are conclusive, else by its name,
 * else by the contents of its text. */
#include "mesh/mesh_format.h"

#include "base/names.h"
#include "base/platform.h"
#include "mesh/mesh_gzip.h"
#include "mesh/mesh_text.h"

CAROM_ENUM_NAMES(carom_mesh_format, CAROM_MESH_FORMAT_COUNT, "guess", "obj", "ply", "ply-big",
                 "ply-ascii", "stl", "stl-ascii", "off", "other");

/* Whether the first `length` bytes of the name have this ending, in any case. */
static bool ends_with(const char *name, size_t length, const char *ending) {
    size_t ending_length = strlen(ending);
    if (length <= ending_length) return false;
    name += length - ending_length;
    for (size_t i = 0; i < ending_length; ++i)
        if (name[i] != ending[i] && (name[i] | 0x20) != ending[i]) return false;
    return true;
}

bool carom_name_is_gzip(const char *name) {
    return ends_with(name, strlen(name), ".gz");
}

bool carom_name_ends(const char *name, const char *ending) {
    size_t length = strlen(name);
    if (carom_name_is_gzip(name)) length -= 3;
    return ends_with(name, length, ending);
}

bool carom_is_padding(const uint8_t *bytes, const uint8_t *end) {
    while (bytes < end && (*bytes == 0x00 || *bytes == 0x1A || carom_is_space(*bytes))) ++bytes;
    return bytes == end;
}

static carom_mesh_format guess_by_name(const char *name) {
    size_t length = strlen(name);
    if (carom_name_is_gzip(name)) length -= 3;
    if (ends_with(name, length, ".obj")) return CAROM_MESH_FORMAT_OBJ;
    if (ends_with(name, length, ".ply")) return CAROM_MESH_FORMAT_PLY;
    if (ends_with(name, length, ".stl")) return CAROM_MESH_FORMAT_STL;
    if (ends_with(name, length, ".off")) return CAROM_MESH_FORMAT_OFF;
    const char *dot = strchr(carom_os_file_name(name), '.');
    return dot != NULL && dot < name + length ? CAROM_MESH_FORMAT_OTHER : CAROM_MESH_FORMAT_GUESS;
}

static carom_mesh_format guess_by_content(carom_source source) {
    carom_text text = carom_text_of(NULL, "", source.bytes, source.size);
    if (carom_text_accept(&text, "ply") && text.at < text.end && carom_is_newline(*text.at))
        return CAROM_MESH_FORMAT_PLY;
    if (carom_off_header_end(source.bytes, text.end) != NULL) return CAROM_MESH_FORMAT_OFF;
    if (carom_glb_is(source)) return CAROM_MESH_FORMAT_OTHER;
    if (carom_stl_is_binary(source)) return CAROM_MESH_FORMAT_STL;
    text.at = text.begin;
    if (!carom_text_accept(&text, "solid")) return CAROM_MESH_FORMAT_GUESS;
    carom_text_skip_line(&text);
    carom_text_skip_spaces(&text);
    return carom_text_accept(&text, "facet") || carom_text_accept(&text, "endsolid")
               ? CAROM_MESH_FORMAT_STL_ASCII
               : CAROM_MESH_FORMAT_GUESS;
}

/* For data without a name, such as a pipe. The text is OBJ when its first line that is not a
 * comment is an OBJ statement, or when it has only comments. It is OFF when an OFF header follows
 * the comments. */
static carom_mesh_format guess_by_text(carom_source source) {
    static const char *const statements[] = {"v", "vn", "vt", "vp", "f",      "o",
                                             "g", "s",  "l",  "p",  "mtllib", "usemtl"};
    carom_text text = carom_text_of(NULL, "", source.bytes, source.size);
    bool comment = false;
    for (;;) {
        carom_text_skip_spaces(&text);
        if (text.at == text.end) return comment ? CAROM_MESH_FORMAT_OBJ : CAROM_MESH_FORMAT_GUESS;
        if (*text.at != '#') break;
        comment = true;
        carom_text_skip_line(&text);
    }
    if (carom_off_header_end(text.at, text.end) != NULL) return CAROM_MESH_FORMAT_OFF;
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); ++i)
        if (carom_text_accept(&text, statements[i])) return CAROM_MESH_FORMAT_OBJ;
    return CAROM_MESH_FORMAT_GUESS;
}

carom_mesh_format carom_mesh_format_guess(const char *name, const void *bytes, uint64_t size) {
    carom_mesh_format format = CAROM_MESH_FORMAT_GUESS;
    if (bytes != NULL) format = guess_by_content((carom_source){bytes, size});
    if (format == CAROM_MESH_FORMAT_GUESS && name != NULL) format = guess_by_name(name);
    if (format == CAROM_MESH_FORMAT_GUESS && bytes != NULL)
        format = guess_by_text((carom_source){bytes, size});
    return format;
}
