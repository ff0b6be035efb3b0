/* SPDX-License-Identifier: MIT */
/* Extended XYZ: frames of a count, a comment with box and columns, and rows. */
#include <string.h>

#include "cli/gas_reader.h"
#include "cli/text.h"

/* Reads n words of a value as numbers. */
static bool take_numbers(gas_reader *r, char *value, const char *key, size_t n, double *numbers) {
    for (size_t i = 0; i < n; ++i) {
        value += strspn(value, " \t,[]{}");
        size_t length = strcspn(value, " \t,[]{}");
        char kept = value[length];
        value[length] = '\0';
        if (length == 0 || !gas_reader_read_number(value, &numbers[i]))
            return gas_reader_fail(r, CAROM_BAD_FILE, "%s takes %zu finite numbers", key, n);
        value[length] = kept;
        value += length;
    }
    return value[strspn(value, " \t,[]{}")] == '\0' ||
           gas_reader_fail(r, CAROM_BAD_FILE, "%s takes %zu finite numbers", key, n);
}

static gas_field xyz_field(const char *name, size_t width) {
    static const struct {
        const char *name;
        gas_field field;
        size_t width;
    } known[] = {{"species", GAS_FIELD_SPECIES, 1},   {"element", GAS_FIELD_SPECIES, 1},
                 {"type", GAS_FIELD_SPECIES, 1},      {"pos", GAS_FIELD_POSITION, 3},
                 {"velo", GAS_FIELD_VELOCITY, 3},     {"vel", GAS_FIELD_VELOCITY, 3},
                 {"velocity", GAS_FIELD_VELOCITY, 3}, {"velocities", GAS_FIELD_VELOCITY, 3},
                 {"radius", GAS_FIELD_RADIUS, 1},     {"mass", GAS_FIELD_MASS, 1},
                 {"masses", GAS_FIELD_MASS, 1},       {"id", GAS_FIELD_ID, 1}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (text_compare_caseless(known[i].name, name) == 0 && known[i].width == width)
            return known[i].field;
    return GAS_FIELD_SKIP;
}

/* name:T:n, joined by colons. */
static bool take_properties(gas_reader *r, char *value, gas_columns *c) {
    c->count = 0;
    for (char *at = value; at != NULL;) {
        char *name = at, *type = strchr(name, ':'), *width = NULL;
        uint64_t n = 0;
        if (type != NULL) width = strchr(type + 1, ':');
        if (width == NULL)
            return gas_reader_fail(r, CAROM_BAD_FILE,
                                   "Properties takes name:type:width, joined by colons");
        *type++ = '\0';
        *width++ = '\0';
        at = strchr(width, ':');
        if (at != NULL) *at++ = '\0';
        if (!gas_reader_read_integer(width, &n) || n == 0 || n > GAS_MOST_COLUMNS - c->count)
            return gas_reader_fail(
                r, CAROM_BAD_FILE,
                "Properties: the width of %.40s is \"%.40s\"; there may be %d columns", name, width,
                GAS_MOST_COLUMNS);
        gas_field first = xyz_field(name, (size_t)n);
        for (uint64_t i = 0; i < n; ++i)
            c->fields[c->count++] = first == GAS_FIELD_SKIP ? first : first + (int)i;
    }
    return true;
}

static bool take_periodic(gas_reader *r, char *value) {
    for (int axis = 0; axis < 3; ++axis) {
        value += strspn(value, " \t,[]{}");
        size_t length = strcspn(value, " \t,[]{}");
        char c = length != 0 ? value[0] : '\0';
        if (strchr("TtFf10", c) == NULL || c == '\0')
            return gas_reader_fail(r, CAROM_BAD_FILE, "pbc takes three of T and F");
        r->out->periodic[axis] = c == 'T' || c == 't' || c == '1';
        value += length;
    }
    return true;
}

static bool take_lattice(gas_reader *r, char *value) {
    double m[9];
    if (!take_numbers(r, value, "Lattice", 9, m)) return false;
    for (int i = 0; i < 9; ++i)
        if (i % 4 != 0 && m[i] != 0.0) return gas_reader_tilted(r);
    for (int axis = 0; axis < 3; ++axis)
        if (!gas_reader_set_axis(r, axis, 0.0, m[4 * axis])) return false;
    return true;
}

/* One key and its value, which is bare, quoted or in brackets; NULL after a failure, and *key is
 * NULL at the end. */
static char *take_pair(char *at, char **key, char **value) {
    *key = *value = NULL;
    at += strspn(at, " \t");
    if (*at == '\0') return at;
    *key = at;
    at += strcspn(at, "= \t");
    if (*at != '=') { /* a word alone */
        if (*at != '\0') *at++ = '\0';
        return at;
    }
    *at++ = '\0';
    const char *end = *at == '"' ? "\"" : *at == '\'' ? "'" : *at == '{' ? "}" : " \t";
    if (*at == '[') end = "";
    if (*end != ' ') ++at;
    *value = at;
    if (*end == '\0') { /* brackets may nest */
        for (int depth = 1; *at != '\0' && depth > 0; ++at) depth += (*at == '[') - (*at == ']');
        if (at[-1] != ']') return NULL;
        at[-1] = '\0';
        return at;
    }
    at += strcspn(at, end);
    if (*at == '\0') return *end == ' ' ? at : NULL;
    *at++ = '\0';
    return at;
}

static bool take_comment(gas_reader *r, gas_columns *c) {
    char *key, *value, *at = r->text;
    double origin[3] = {0.0, 0.0, 0.0};
    *c = (gas_columns){
        {GAS_FIELD_SPECIES, GAS_FIELD_POSITION, GAS_FIELD_POSITION + 1, GAS_FIELD_POSITION + 2}, 4};
    for (int axis = 0; axis < 3; ++axis) r->out->periodic[axis] = true; /* as OVITO assumes */
    r->out->has_box = false;
    while ((at = take_pair(at, &key, &value)) != NULL && key != NULL) {
        if (value == NULL) continue;
        bool good = true;
        if (text_compare_caseless(key, "Lattice") == 0)
            good = take_lattice(r, value);
        else if (text_compare_caseless(key, "pbc") == 0)
            good = take_periodic(r, value);
        else if (text_compare_caseless(key, "Origin") == 0)
            good = take_numbers(r, value, "Origin", 3, origin);
        else if (text_compare_caseless(key, "Properties") == 0)
            good = take_properties(r, value, c);
        if (!good) return false;
    }
    memcpy(r->low, origin, sizeof(origin));
    return at != NULL || gas_reader_fail(r, CAROM_BAD_FILE, "a quote or bracket is not closed");
}

bool gas_read_xyz(gas_reader *r) {
    uint64_t frames = 0;
    bool found = false;
    while (!found && gas_reader_next_line(r)) {
        uint64_t count = 0;
        gas_columns c;
        if (gas_reader_is_blank(r->text)) continue;
        if (!gas_reader_split(r) ||
            !gas_reader_take_count(r, r->words[0], "number of spheres", &count))
            return false;
        if (r->word_count != 1)
            return gas_reader_fail(
                r, CAROM_BAD_FILE, "the number of spheres must be alone in its line%s",
                frames > 0 ? "; does the frame have more rows than announced?" : "");
        if (!gas_reader_next_line(r)) {
            ++r->line;
            return gas_reader_fail(r, CAROM_BAD_FILE,
                                   "the file ends where the box and the columns should be");
        }
        if (gas_reader_is_wanted(r, frames)) {
            if (!take_comment(r, &c) || !gas_reader_begin_rows(r, &c) ||
                !gas_reader_take_rows(r, &c, count, frames))
                return false;
            found = r->def->frame == frames;
        } else if (!gas_reader_skip_rows(r, count)) {
            break;
        }
        ++frames;
    }
    if (r->status != CAROM_OK) return false;
    return found || (frames > 0 && r->def->frame == GAS_LAST_FRAME) ||
           gas_reader_no_frame(r, frames);
}
