/* SPDX-License-Identifier: MIT */
/* Reads spheres from extended XYZ, EDMD, LAMMPS data and LAMMPS dump files: finds the format, has
 * it read (gas_read_xyz.c and the others), and gives out the spheres. */
#include "cli/gas_files.h"

#include <stdlib.h>
#include <string.h>

#include "cli/gas_reader.h"
#include "cli/text.h"

const char *gas_format_choice(int index) {
    static const char *const names[] = {"guess", "xyz", "edmd", "data", "dump"};
    return index < GAS_FORMAT_COUNT ? names[index] : NULL;
}

/* ---- The format ------------------------------------------------------------------------------ */

static bool ends_in(const char *text, size_t length, const char *end) {
    size_t size = strlen(end);
    return length >= size && text_compare_caseless_n(text + length - size, end, size) == 0;
}

static gas_format format_by_name(const char *path) {
    static const struct {
        const char *end;
        gas_format format;
    } known[] = {{".xyz", GAS_FORMAT_XYZ},   {".extxyz", GAS_FORMAT_XYZ},
                 {".sph", GAS_FORMAT_EDMD},  {".data", GAS_FORMAT_DATA},
                 {".lmp", GAS_FORMAT_DATA},  {".lammps", GAS_FORMAT_DATA},
                 {".dump", GAS_FORMAT_DUMP}, {".lammpstrj", GAS_FORMAT_DUMP}};
    size_t length = strlen(path);
    if (input_is_packed(path)) length -= 3;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (ends_in(path, length, known[i].end)) return known[i].format;
    return GAS_FORMAT_GUESS;
}

/* Copies the next line of the buffer that is neither blank nor a comment; false when there is
 * none. */
static bool peek_line(const gas_reader *r, size_t *at, char *line, size_t size) {
    while (*at < r->in.end) {
        const char *start = r->in.buffer + *at, *end = memchr(start, '\n', r->in.end - *at);
        size_t length = end != NULL ? (size_t)(end - start) : r->in.end - *at;
        *at += length + 1;
        size_t kept = length < size - 1 ? length : size - 1;
        memcpy(line, start, kept);
        line[kept] = '\0';
        line[strcspn(line, "\r")] = '\0';
        const char *first = line + strspn(line, " \t");
        if (*first != '#' && *first != '\0') return true;
    }
    return false;
}

static bool begins_with_numbers(const char *line, int count) {
    for (int i = 0; i < count; ++i) {
        char *end;
        (void)strtod(line, &end);
        if (end == line) return false;
        line = end;
    }
    return line[strspn(line, " \t")] == '\0';
}

static bool announces_atoms(const char *line) {
    line += strspn(line, " \t");
    size_t digits = strspn(line, "0123456789");
    const char *word = line + digits + strspn(line + digits, " \t");
    return digits != 0 && strncmp(word, "atoms", 5) == 0;
}

static gas_format guess_format(const gas_reader *r) {
    char line[256];
    size_t at = 0;
    if (!peek_line(r, &at, line, sizeof(line))) return GAS_FORMAT_GUESS;
    if (strncmp(line, "ITEM:", 5) == 0) return GAS_FORMAT_DUMP;
    bool count = line[strspn(line, " \t0123456789")] == '\0';
    gas_format by_name = format_by_name(r->def->path);
    if (by_name != GAS_FORMAT_GUESS) return by_name;
    if (count && peek_line(r, &at, line, sizeof(line)))
        return begins_with_numbers(line, 3) ? GAS_FORMAT_EDMD : GAS_FORMAT_XYZ;
    for (at = 0; peek_line(r, &at, line, sizeof(line));)
        if (announces_atoms(line)) return GAS_FORMAT_DATA;
    return GAS_FORMAT_GUESS;
}

/* ---- Results --------------------------------------------------------------------------------- */

static bool finish(gas_reader *r) {
    gas_file *out = r->out;
    if (!gas_reader_sort_rows(r)) return false;
    uint64_t space = r->row_count != 0 ? r->row_count : 1;
    out->spheres = malloc(space * sizeof(*out->spheres));
    out->labels = malloc(space * sizeof(*out->labels));
    if (out->spheres == NULL || out->labels == NULL) return gas_reader_no_memory(r);
    for (uint64_t i = 0; i < r->row_count; ++i) {
        out->spheres[i] = r->rows[i].sphere;
        out->labels[i] = r->rows[i].label;
    }
    out->count = r->row_count;
    return true;
}

static bool read_format(gas_reader *r) {
    gas_format format = r->def->format;
    if (format == GAS_FORMAT_GUESS) format = guess_format(r);
    r->out->format = format;
    switch (format) {
    case GAS_FORMAT_XYZ:
        return gas_read_xyz(r);
    case GAS_FORMAT_EDMD:
        return gas_read_edmd(r);
    case GAS_FORMAT_DATA:
        return gas_read_data(r);
    case GAS_FORMAT_DUMP:
        return gas_read_dump(r);
    case GAS_FORMAT_GUESS:
    case GAS_FORMAT_COUNT:
        break;
    }
    return gas_reader_fail(
        r, CAROM_BAD_FILE,
        r->in.end == 0 ? "is empty"
                       : "is neither extended XYZ nor a file of EDMD, LAMMPS data or LAMMPS "
                         "dump; --from tells which, where it is one");
}

carom_status gas_file_read(const gas_file_def *def, gas_file *file) {
    *file = (gas_file){0};
    gas_reader r = {.def = def, .out = file};
    if (def->message_size != 0) def->message[0] = '\0';
    if (def->progress != NULL) (void)def->progress(def->progress_user, "reading spheres", 0.0);
    bool is_open = def->bytes != NULL ? input_open_memory(&r.in, def->bytes, def->byte_count)
                                      : input_open(&r.in, def->path, def->limit);
    if (!is_open || !input_fill(&r.in))
        (void)gas_reader_fail(&r, r.in.status, "%s", r.in.reason);
    else if (read_format(&r))
        (void)finish(&r);
    input_close(&r.in);
    free(r.rows);
    if (def->progress != NULL) (void)def->progress(def->progress_user, "reading spheres", 1.0);
    if (r.status != CAROM_OK) gas_file_free(file);
    return r.status;
}

void gas_file_free(gas_file *file) {
    free(file->spheres);
    free(file->labels);
    *file = (gas_file){0};
}
