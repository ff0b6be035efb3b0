/* SPDX-License-Identifier: MIT */
/* Reads spheres from extended XYZ, EDMD, LAMMPS data and LAMMPS dump files.
 *
 * All four are lines of words, so there is one reader of lines, one table of columns and one
 * function that takes a row. The file is read once, from front to back, through a buffer; of a
 * trajectory one frame at a time is in memory. Memory grows with the rows that are there, never
 * with a count that a file only announces. Nothing is skipped silently that would change the
 * spheres: a count that does not match, a column that is no number and a tilted box are failures
 * with file and line. */
#define _POSIX_C_SOURCE 200809L
#include "cli/gas_files.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/args.h"
#include "cli/input.h"

#define PI 3.14159265358979323846

#define MOST_COLUMNS      64
#define MOST_TYPES        1024                      /* of LAMMPS, with a mass each */
#define MOST_SPHERES      ((UINT64_C(1) << 27) - 1) /* of a gas */
#define LINES_BEFORE_LOOK 4096                      /* between progress reports: some 2 ms */

const char *gas_format_choice(int index) {
    static const char *const names[] = {"guess", "xyz", "edmd", "data", "dump"};
    return index < GAS_FORMAT_COUNT ? names[index] : NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

typedef struct file_row {
    carom_gas_sphere sphere;
    gas_label label;
} file_row;

/* Velocities and masses of LAMMPS data are joined with their spheres later. */
typedef struct velocity {
    uint64_t id, line;
    carom_vec3 value;
} velocity;

typedef struct type_mass {
    char name[GAS_SPECIES_SIZE];
    double mass;
} type_mass;

typedef struct reader {
    const gas_file_def *def;
    carom_status status;
    input in;
    uint64_t line; /* number of the current line */
    char *text;    /* the current line */
    char *words[MOST_COLUMNS];
    size_t word_count;

    file_row *rows;
    uint64_t row_count, row_space;
    bool has_ids;
    double low[3];
    gas_file *out;
} reader;

__attribute__((format(printf, 3, 4))) static bool fail(reader *r, carom_status status,
                                                       const char *format, ...) {
    if (r->status != CAROM_OK) return false;
    const gas_file_def *def = r->def;
    r->status = status;
    const char *name = strcmp(def->path, "-") == 0 ? "standard input" : def->path;
    int length = r->line != 0 ? snprintf(def->message, def->message_size, "%.200s:%llu: ", name,
                                         (unsigned long long)r->line)
                              : snprintf(def->message, def->message_size, "%.200s: ", name);
    va_list arguments;
    va_start(arguments, format);
    if (length > 0 && (size_t)length < def->message_size)
        (void)vsnprintf(def->message + length, def->message_size - (size_t)length, format,
                        arguments);
    va_end(arguments);
    return false;
}

static bool no_memory(reader *r) {
    return fail(r, CAROM_NO_MEMORY, "no memory for %llu spheres", (unsigned long long)r->row_count);
}

static bool ends_in(const char *text, size_t length, const char *end) {
    size_t size = strlen(end);
    return length >= size && strncasecmp(text + length - size, end, size) == 0;
}

static bool look(reader *r) {
    const gas_file_def *def = r->def;
    double done = r->in.size > 0.0 ? fmin(r->in.read / r->in.size, 0.999) : 0.01;
    if (def->progress == NULL || !def->progress(def->progress_user, "reading spheres", done))
        return true;
    return fail(r, CAROM_CANCELLED, "cancelled");
}

/* The next line without its end; false at the end of the file or after a failure. */
static bool next_line(reader *r) {
    if (r->status != CAROM_OK || (r->line % LINES_BEFORE_LOOK == 0 && r->line != 0 && !look(r)))
        return false;
    r->text = input_line(&r->in);
    r->line = r->in.number;
    if (r->text != NULL) return true;
    if (r->in.status != CAROM_OK) (void)fail(r, r->in.status, "%s", r->in.reason);
    return false;
}

/* Splits the line into words, at blanks; the line itself is lost. */
static bool split(reader *r) {
    r->word_count = 0;
    for (char *at = r->text;;) {
        at += strspn(at, " \t");
        if (*at == '\0') return true;
        if (r->word_count == MOST_COLUMNS)
            return fail(r, CAROM_BAD_FILE, "the line has more than %d columns", MOST_COLUMNS);
        r->words[r->word_count++] = at;
        at += strcspn(at, " \t");
        if (*at != '\0') *at++ = '\0';
    }
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \t")] == '\0';
}

/* Decimal numbers only: strtod also takes hexadecimal ones and names. */
static bool read_number(const char *word, double *value) {
    return word[strspn(word, "0123456789+-.eE")] == '\0' && args_read_number(word, value);
}

static bool read_integer(const char *word, uint64_t *value) {
    uint64_t number = 0;
    if (*word == '\0' || strlen(word) > 19) return false; /* below 2^64 */
    for (; *word != '\0'; ++word) {
        if (*word < '0' || *word > '9') return false;
        number = 10 * number + (uint64_t)(*word - '0');
    }
    *value = number;
    return true;
}

static bool take_number(reader *r, const char *word, const char *what, double *value) {
    return read_number(word, value) ||
           fail(r, CAROM_BAD_FILE, "%s: \"%.40s\" is no finite number", what, word);
}

static bool take_count(reader *r, const char *word, const char *what, uint64_t *value) {
    if (!read_integer(word, value))
        return fail(r, CAROM_BAD_FILE, "%s: \"%.40s\" is no count", what, word);
    return *value <= MOST_SPHERES ||
           fail(r, CAROM_TOO_LARGE, "%s: %llu; a gas has at most %llu spheres", what,
                (unsigned long long)*value, (unsigned long long)MOST_SPHERES);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

enum {
    FIELD_SKIP,
    FIELD_ID,
    FIELD_SPECIES,
    FIELD_POSITION,     /* and the next two: y, z */
    FIELD_SCALED = 6,   /* fractions of the edges; and the next two */
    FIELD_VELOCITY = 9, /* and the next two */
    FIELD_RADIUS = 12,
    FIELD_DIAMETER,
    FIELD_MASS,
    FIELD_DENSITY,
    FIELD_COUNT
};

typedef int field; /* one of these */

static const char *const field_names[FIELD_COUNT] = {
    "",   "id", "type", "x",  "y",      "z",        "xs",   "ys",
    "zs", "vx", "vy",   "vz", "radius", "diameter", "mass", "density"};

typedef struct columns {
    field fields[MOST_COLUMNS];
    size_t count;
} columns;

static bool has_field(const columns *c, field wanted) {
    for (size_t i = 0; i < c->count; ++i)
        if (c->fields[i] == wanted) return true;
    return false;
}

static bool has_three(const columns *c, field first) {
    return has_field(c, first) && has_field(c, first + 1) && has_field(c, first + 2);
}

/* Checks the columns, and notes what the file has. */
static bool begin_rows(reader *r, const columns *c) {
    if (has_three(c, FIELD_POSITION) == has_three(c, FIELD_SCALED))
        return fail(r, CAROM_BAD_FILE, "the columns have %s",
                    has_three(c, FIELD_POSITION) ? "two kinds of positions; leave one out"
                                                 : "no positions, that is, no x, y and z");
    for (int f = FIELD_ID; f < FIELD_COUNT; ++f) {
        size_t times = 0;
        for (size_t i = 0; i < c->count; ++i) times += c->fields[i] == f;
        if (times > 1 && f != FIELD_SPECIES)
            return fail(r, CAROM_BAD_FILE, "the columns have %s twice", field_names[f]);
    }
    r->row_count = 0;
    r->has_ids = has_field(c, FIELD_ID);
    r->out->has_velocities = has_three(c, FIELD_VELOCITY);
    r->out->has_radii = has_field(c, FIELD_RADIUS) || has_field(c, FIELD_DIAMETER);
    r->out->has_masses = has_field(c, FIELD_MASS) || has_field(c, FIELD_DENSITY);
    return true;
}

static bool take_name(reader *r, const char *word, char name[GAS_SPECIES_SIZE]) {
    size_t length = strlen(word);
    if (length >= GAS_SPECIES_SIZE)
        return fail(r, CAROM_BAD_FILE, "the name \"%.40s\" is longer than %d letters; shorten it",
                    word, GAS_SPECIES_SIZE - 1);
    memcpy(name, word, length + 1);
    return true;
}

static file_row *add_row(reader *r) {
    if (r->row_count == r->row_space) {
        uint64_t space = r->row_space < 512 ? 1024 : 2 * r->row_space;
        file_row *rows = realloc(r->rows, space * sizeof(*rows));
        if (rows == NULL) {
            (void)no_memory(r);
            return NULL;
        }
        r->rows = rows;
        r->row_space = space;
    }
    file_row *row = &r->rows[r->row_count];
    memset(row, 0, sizeof(*row));
    row->label.line = r->line;
    row->label.id = r->row_count++;
    memcpy(row->label.species, "S", 2);
    return row;
}

static double *component(carom_vec3 *v, int axis) {
    return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

/* Takes the words of the current line as one sphere. */
static bool take_row(reader *r, const columns *c) {
    if (r->word_count < c->count)
        return fail(r, CAROM_BAD_FILE, "the row has %zu columns, %zu are announced", r->word_count,
                    c->count);
    file_row *row = add_row(r);
    if (row == NULL) return false;
    carom_gas_sphere *s = &row->sphere;
    double density = 0.0;
    for (size_t i = 0; i < c->count; ++i) {
        int f = c->fields[i];
        const char *word = r->words[i];
        double value;
        if (f == FIELD_SKIP) continue;
        if (f == FIELD_SPECIES) {
            if (!take_name(r, word, row->label.species)) return false;
            continue;
        }
        if (f == FIELD_ID) {
            if (!read_integer(word, &row->label.id))
                return fail(r, CAROM_BAD_FILE, "id: \"%.40s\" is no whole number", word);
            continue;
        }
        if (!take_number(r, word, field_names[f], &value)) return false;
        if (f >= FIELD_RADIUS && !(value > 0.0))
            return fail(r, CAROM_BAD_FILE, "%s: %.40s is not above 0", field_names[f], word);
        if (f < FIELD_SCALED)
            *component(&s->position, f - FIELD_POSITION) = value - r->low[f - FIELD_POSITION];
        else if (f < FIELD_VELOCITY)
            *component(&s->position, f - FIELD_SCALED) =
                value * *component(&r->out->edges, f - FIELD_SCALED);
        else if (f < FIELD_RADIUS)
            *component(&s->velocity, f - FIELD_VELOCITY) = value;
        else if (f == FIELD_RADIUS || f == FIELD_DIAMETER)
            s->radius = f == FIELD_RADIUS ? value : 0.5 * value;
        else if (f == FIELD_MASS)
            s->mass = value;
        else
            density = value;
    }
    if (density > 0.0) s->mass = density * (4.0 / 3.0 * PI) * s->radius * s->radius * s->radius;
    if (!isfinite(s->mass) || (density > 0.0 && !(s->mass > 0.0)))
        return fail(r, CAROM_BAD_FILE, "density times volume is %g", s->mass);
    return true;
}

/* Reads `count` rows; `frame` is for the message. */
static bool take_rows(reader *r, const columns *c, uint64_t count, uint64_t frame) {
    for (uint64_t i = 0; i < count; ++i) {
        if (!next_line(r)) {
            ++r->line;
            if (frame == 0)
                return fail(r, CAROM_BAD_FILE, "the file ends after %llu of %llu rows",
                            (unsigned long long)i, (unsigned long long)count);
            return fail(r, CAROM_BAD_FILE,
                        "the file ends after %llu of %llu rows of frame %llu; --start-frame %llu "
                        "takes the last whole one",
                        (unsigned long long)i, (unsigned long long)count, (unsigned long long)frame,
                        (unsigned long long)frame - 1);
        }
        if (!split(r) || !take_row(r, c)) return false;
    }
    return true;
}

static bool skip_rows(reader *r, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        if (!next_line(r)) return false;
    return true;
}

static bool is_wanted(const reader *r, uint64_t frame) {
    return r->def->frame == GAS_LAST_FRAME || r->def->frame == frame;
}

static bool no_frame(reader *r, uint64_t frames) {
    if (r->status != CAROM_OK) return false;
    r->line = 0;
    if (frames == 0) return fail(r, CAROM_BAD_FILE, "has no spheres");
    return fail(r, CAROM_BAD_FILE, "has no frame %llu; the last is %llu, counted from 0",
                (unsigned long long)r->def->frame, (unsigned long long)frames - 1);
}

static bool set_axis(reader *r, int axis, double low, double high) {
    double edge = high - low;
    if (!(edge > 0.0) || !isfinite(edge))
        return fail(r, CAROM_BAD_FILE, "the box is %g wide along %c", edge, "xyz"[axis]);
    r->low[axis] = low;
    *component(&r->out->edges, axis) = edge;
    r->out->has_box = true;
    return true;
}

static bool tilted(reader *r) {
    return fail(r, CAROM_UNSUPPORTED, "the box is tilted; edges along x, y and z are possible");
}

static int compare_rows(const void *a, const void *b) {
    const gas_label *p = &((const file_row *)a)->label, *q = &((const file_row *)b)->label;
    if (p->id != q->id) return p->id < q->id ? -1 : 1;
    return p->line < q->line ? -1 : p->line > q->line;
}

/* Sorts by id, and refuses an id that comes twice. */
static bool sort_rows(reader *r) {
    bool sorted = true;
    for (uint64_t i = 1; i < r->row_count && sorted; ++i)
        sorted = r->rows[i - 1].label.id < r->rows[i].label.id;
    if (sorted) return true;
    qsort(r->rows, r->row_count, sizeof(*r->rows), compare_rows);
    for (uint64_t i = 1; i < r->row_count; ++i) {
        const gas_label *a = &r->rows[i - 1].label, *b = &r->rows[i].label;
        if (a->id != b->id) continue;
        r->line = b->line;
        return fail(r, CAROM_BAD_FILE, "the id %llu is also that of line %llu",
                    (unsigned long long)b->id, (unsigned long long)a->line);
    }
    return true;
}

/* ---- Extended XYZ ---------------------------------------------------------------------------- */

/* Reads n words of a value as numbers. */
static bool take_numbers(reader *r, char *value, const char *key, size_t n, double *numbers) {
    for (size_t i = 0; i < n; ++i) {
        value += strspn(value, " \t,[]{}");
        size_t length = strcspn(value, " \t,[]{}");
        char kept = value[length];
        value[length] = '\0';
        if (length == 0 || !read_number(value, &numbers[i]))
            return fail(r, CAROM_BAD_FILE, "%s takes %zu finite numbers", key, n);
        value[length] = kept;
        value += length;
    }
    return value[strspn(value, " \t,[]{}")] == '\0' ||
           fail(r, CAROM_BAD_FILE, "%s takes %zu finite numbers", key, n);
}

static field xyz_field(const char *name, size_t width) {
    static const struct {
        const char *name;
        field field;
        size_t width;
    } known[] = {{"species", FIELD_SPECIES, 1},   {"element", FIELD_SPECIES, 1},
                 {"type", FIELD_SPECIES, 1},      {"pos", FIELD_POSITION, 3},
                 {"velo", FIELD_VELOCITY, 3},     {"vel", FIELD_VELOCITY, 3},
                 {"velocity", FIELD_VELOCITY, 3}, {"velocities", FIELD_VELOCITY, 3},
                 {"radius", FIELD_RADIUS, 1},     {"mass", FIELD_MASS, 1},
                 {"masses", FIELD_MASS, 1},       {"id", FIELD_ID, 1}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (strcasecmp(known[i].name, name) == 0 && known[i].width == width) return known[i].field;
    return FIELD_SKIP;
}

/* name:T:n, joined by colons. */
static bool take_properties(reader *r, char *value, columns *c) {
    c->count = 0;
    for (char *at = value; at != NULL;) {
        char *name = at, *type = strchr(name, ':'), *width = NULL;
        uint64_t n = 0;
        if (type != NULL) width = strchr(type + 1, ':');
        if (width == NULL)
            return fail(r, CAROM_BAD_FILE, "Properties takes name:type:width, joined by colons");
        *type++ = '\0';
        *width++ = '\0';
        at = strchr(width, ':');
        if (at != NULL) *at++ = '\0';
        if (!read_integer(width, &n) || n == 0 || n > MOST_COLUMNS - c->count)
            return fail(r, CAROM_BAD_FILE,
                        "Properties: the width of %.40s is \"%.40s\"; there may be %d columns",
                        name, width, MOST_COLUMNS);
        field first = xyz_field(name, (size_t)n);
        for (uint64_t i = 0; i < n; ++i)
            c->fields[c->count++] = first == FIELD_SKIP ? first : first + (int)i;
    }
    return true;
}

static bool take_periodic(reader *r, char *value) {
    for (int axis = 0; axis < 3; ++axis) {
        value += strspn(value, " \t,[]{}");
        size_t length = strcspn(value, " \t,[]{}");
        char c = length != 0 ? value[0] : '\0';
        if (strchr("TtFf10", c) == NULL || c == '\0')
            return fail(r, CAROM_BAD_FILE, "pbc takes three of T and F");
        r->out->periodic[axis] = c == 'T' || c == 't' || c == '1';
        value += length;
    }
    return true;
}

static bool take_lattice(reader *r, char *value) {
    double m[9];
    if (!take_numbers(r, value, "Lattice", 9, m)) return false;
    for (int i = 0; i < 9; ++i)
        if (i % 4 != 0 && m[i] != 0.0) return tilted(r);
    for (int axis = 0; axis < 3; ++axis)
        if (!set_axis(r, axis, 0.0, m[4 * axis])) return false;
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

static bool take_comment(reader *r, columns *c) {
    char *key, *value, *at = r->text;
    double origin[3] = {0.0, 0.0, 0.0};
    *c = (columns){{FIELD_SPECIES, FIELD_POSITION, FIELD_POSITION + 1, FIELD_POSITION + 2}, 4};
    for (int axis = 0; axis < 3; ++axis) r->out->periodic[axis] = true; /* as OVITO assumes */
    r->out->has_box = false;
    while ((at = take_pair(at, &key, &value)) != NULL && key != NULL) {
        if (value == NULL) continue;
        bool good = true;
        if (strcasecmp(key, "Lattice") == 0)
            good = take_lattice(r, value);
        else if (strcasecmp(key, "pbc") == 0)
            good = take_periodic(r, value);
        else if (strcasecmp(key, "Origin") == 0)
            good = take_numbers(r, value, "Origin", 3, origin);
        else if (strcasecmp(key, "Properties") == 0)
            good = take_properties(r, value, c);
        if (!good) return false;
    }
    memcpy(r->low, origin, sizeof(origin));
    return at != NULL || fail(r, CAROM_BAD_FILE, "a quote or bracket is not closed");
}

static bool read_xyz(reader *r) {
    uint64_t frames = 0;
    bool found = false;
    while (!found && next_line(r)) {
        uint64_t count = 0;
        columns c;
        if (is_blank(r->text)) continue;
        if (!split(r) || !take_count(r, r->words[0], "number of spheres", &count)) return false;
        if (r->word_count != 1)
            return fail(r, CAROM_BAD_FILE, "the number of spheres must be alone in its line%s",
                        frames > 0 ? "; does the frame have more rows than announced?" : "");
        if (!next_line(r)) {
            ++r->line;
            return fail(r, CAROM_BAD_FILE, "the file ends where the box and the columns should be");
        }
        if (is_wanted(r, frames)) {
            if (!take_comment(r, &c) || !begin_rows(r, &c) || !take_rows(r, &c, count, frames))
                return false;
            found = r->def->frame == frames;
        } else if (!skip_rows(r, count)) {
            break;
        }
        ++frames;
    }
    if (r->status != CAROM_OK) return false;
    return found || (frames > 0 && r->def->frame == GAS_LAST_FRAME) || no_frame(r, frames);
}

/* ---- EDMD ------------------------------------------------------------------------------------ */

/* The next line that is neither blank nor a comment, split. */
static bool next_words(reader *r) {
    while (next_line(r)) {
        const char *start = r->text + strspn(r->text, " \t");
        if (*start != '#' && *start != '\0') return split(r);
    }
    return false;
}

static bool read_edmd(reader *r) {
    static const columns c = {
        {FIELD_SPECIES, FIELD_POSITION, FIELD_POSITION + 1, FIELD_POSITION + 2, FIELD_RADIUS}, 5};
    uint64_t frames = 0;
    bool found = false;
    while (!found && next_words(r)) {
        uint64_t count = 0;
        if (!take_count(r, r->words[0], "number of spheres", &count)) return false;
        if (r->word_count != 1)
            return fail(r, CAROM_BAD_FILE, "the number of spheres must be alone in its line%s",
                        frames > 0 ? "; does the frame have more rows than announced?" : "");
        if (!next_words(r) || r->word_count != 3)
            return fail(r, CAROM_BAD_FILE, "the three edges of the box must follow");
        for (int axis = 0; axis < 3; ++axis) {
            double edge;
            if (!take_number(r, r->words[axis], "edge", &edge) || !set_axis(r, axis, 0.0, edge))
                return false;
            r->out->periodic[axis] = true;
        }
        if (!begin_rows(r, &c)) return false;
        bool wanted = is_wanted(r, frames);
        for (uint64_t i = 0; i < count; ++i) {
            if (!next_words(r)) {
                ++r->line;
                return fail(
                    r, CAROM_BAD_FILE, "the file ends after %llu of %llu rows of frame %llu",
                    (unsigned long long)i, (unsigned long long)count, (unsigned long long)frames);
            }
            if (wanted && !take_row(r, &c)) return false;
        }
        found = r->def->frame == frames++;
    }
    if (r->status != CAROM_OK) return false;
    return found || (frames > 0 && r->def->frame == GAS_LAST_FRAME) || no_frame(r, frames);
}

/* ---- LAMMPS dump ----------------------------------------------------------------------------- */

/* "ITEM: BOX BOUNDS pp pp ff", then low and high of each axis. */
static bool take_bounds(reader *r) {
    bool slanted = false;
    for (int axis = 0; axis < 3; ++axis) r->out->periodic[axis] = true;
    for (size_t i = 3, axis = 0; i < r->word_count; ++i) {
        const char *word = r->words[i];
        if (strcmp(word, "abc") == 0) return tilted(r);
        if (strcmp(word, "xy") == 0 || strcmp(word, "xz") == 0 || strcmp(word, "yz") == 0)
            slanted = true;
        else if (axis < 3 && strspn(word, "pfsm") == 2)
            r->out->periodic[axis++] = word[0] == 'p';
    }
    for (int axis = 0; axis < 3; ++axis) {
        double low, high, tilt = 0.0;
        if (!next_line(r) || !split(r) || r->word_count < 2 + (size_t)slanted)
            return fail(r, CAROM_BAD_FILE, "the low and high bound along %c must follow",
                        "xyz"[axis]);
        if (!take_number(r, r->words[0], "low bound", &low) ||
            !take_number(r, r->words[1], "high bound", &high) ||
            (slanted && !take_number(r, r->words[2], "tilt", &tilt)))
            return false;
        if (tilt != 0.0) return tilted(r);
        if (!set_axis(r, axis, low, high)) return false;
    }
    return true;
}

static field dump_field(const char *name) {
    static const struct {
        const char *name;
        int field;
    } known[] = {{"id", FIELD_ID},         {"type", FIELD_SPECIES},      {"element", FIELD_SPECIES},
                 {"x", FIELD_POSITION},    {"y", FIELD_POSITION + 1},    {"z", FIELD_POSITION + 2},
                 {"xu", FIELD_POSITION},   {"yu", FIELD_POSITION + 1},   {"zu", FIELD_POSITION + 2},
                 {"xs", FIELD_SCALED},     {"ys", FIELD_SCALED + 1},     {"zs", FIELD_SCALED + 2},
                 {"xsu", FIELD_SCALED},    {"ysu", FIELD_SCALED + 1},    {"zsu", FIELD_SCALED + 2},
                 {"vx", FIELD_VELOCITY},   {"vy", FIELD_VELOCITY + 1},   {"vz", FIELD_VELOCITY + 2},
                 {"radius", FIELD_RADIUS}, {"diameter", FIELD_DIAMETER}, {"mass", FIELD_MASS}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (strcmp(known[i].name, name) == 0) return known[i].field;
    return FIELD_SKIP;
}

/* "ITEM: ATOMS id type x y z ...". Of radius and diameter, the radius is used. */
static void dump_columns(const reader *r, columns *c) {
    bool has_radius = false;
    c->count = r->word_count - 2;
    for (size_t i = 0; i < c->count; ++i)
        has_radius |= (c->fields[i] = dump_field(r->words[i + 2])) == FIELD_RADIUS;
    for (size_t i = 0; i < c->count; ++i)
        if (has_radius && c->fields[i] == FIELD_DIAMETER) c->fields[i] = FIELD_SKIP;
}

static bool read_dump(reader *r) {
    uint64_t frames = 0, count = 0;
    bool found = false, has_count = false, has_box = false, in_head = false;
    columns c;
    while (!found && next_line(r)) {
        if (is_blank(r->text)) continue;
        if (!split(r)) return false;
        if (r->word_count < 2 || strcmp(r->words[0], "ITEM:") != 0)
            return fail(r, CAROM_BAD_FILE, "a line with ITEM: must be here%s",
                        frames > 0 ? "; does the frame have more rows than announced?" : "");
        const char *item = r->words[1];
        in_head = strcmp(item, "ATOMS") != 0;
        if (strcmp(item, "NUMBER") == 0) {
            if (!next_line(r) || !split(r) || r->word_count != 1)
                return fail(r, CAROM_BAD_FILE, "the number of atoms must follow");
            if (!take_count(r, r->words[0], "number of atoms", &count)) return false;
            has_count = true;
        } else if (strcmp(item, "BOX") == 0) {
            if (!take_bounds(r)) return false;
            has_box = true;
        } else if (strcmp(item, "ATOMS") == 0) {
            if (!has_count || !has_box)
                return fail(r, CAROM_BAD_FILE, "NUMBER OF ATOMS and BOX BOUNDS must come first");
            if (is_wanted(r, frames)) {
                dump_columns(r, &c);
                if (!begin_rows(r, &c) || !take_rows(r, &c, count, frames)) return false;
                found = r->def->frame == frames;
            } else if (!skip_rows(r, count)) {
                break;
            }
            ++frames;
            has_count = has_box = false;
        } else if (!next_line(r)) { /* TIMESTEP, TIME, UNITS have one line */
            return fail(r, CAROM_BAD_FILE, "the file ends after ITEM: %.40s", item);
        }
    }
    if (r->status == CAROM_OK && in_head) {
        ++r->line;
        return fail(r, CAROM_BAD_FILE,
                    "the file ends inside the head of frame %llu; it was cut short",
                    (unsigned long long)frames);
    }
    if (r->status != CAROM_OK) return false;
    return found || (frames > 0 && r->def->frame == GAS_LAST_FRAME) || no_frame(r, frames);
}

/* ---- LAMMPS data ----------------------------------------------------------------------------- */

/* What the header counts. A section has as many rows as its count says, so that a file that was cut
 * short is noticed also in a section that is skipped. */
enum {
    COUNT_ATOMS,
    COUNT_BONDS, /* it and the next three need their sections where they are not 0 */
    COUNT_ANGLES,
    COUNT_DIHEDRALS,
    COUNT_IMPROPERS,
    COUNT_ELLIPSOIDS,
    COUNT_LINES,
    COUNT_TRIANGLES,
    COUNT_ATOM_TYPES,
    COUNT_BOND_TYPES,
    COUNT_ANGLE_TYPES,
    COUNT_DIHEDRAL_TYPES,
    COUNT_IMPROPER_TYPES,
    COUNT_KINDS /* none of these */
};

static const char *const count_names[COUNT_KINDS] = {
    "atoms",       "bonds",          "angles",        "dihedrals",  "impropers",
    "ellipsoids",  "lines",          "triangles",     "atom types", "bond types",
    "angle types", "dihedral types", "improper types"};

/* The count that gives the number of rows of a section; COUNT_KINDS: none, then there is at least
 * one. */
static int count_of(const char *section) {
    static const struct {
        const char *name;
        int count;
    } known[] = {{"Atoms", COUNT_ATOMS},
                 {"Velocities", COUNT_ATOMS},
                 {"Masses", COUNT_ATOM_TYPES},
                 {"Bonds", COUNT_BONDS},
                 {"Angles", COUNT_ANGLES},
                 {"Dihedrals", COUNT_DIHEDRALS},
                 {"Impropers", COUNT_IMPROPERS},
                 {"Ellipsoids", COUNT_ELLIPSOIDS},
                 {"Lines", COUNT_LINES},
                 {"Triangles", COUNT_TRIANGLES},
                 {"Pair Coeffs", COUNT_ATOM_TYPES},
                 {"Bond Coeffs", COUNT_BOND_TYPES},
                 {"Angle Coeffs", COUNT_ANGLE_TYPES},
                 {"Dihedral Coeffs", COUNT_DIHEDRAL_TYPES},
                 {"Improper Coeffs", COUNT_IMPROPER_TYPES},
                 {"Atom Type Labels", COUNT_ATOM_TYPES},
                 {"Bond Type Labels", COUNT_BOND_TYPES},
                 {"Angle Type Labels", COUNT_ANGLE_TYPES},
                 {"Dihedral Type Labels", COUNT_DIHEDRAL_TYPES},
                 {"Improper Type Labels", COUNT_IMPROPER_TYPES}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (strcmp(known[i].name, section) == 0) return known[i].count;
    return COUNT_KINDS;
}

typedef struct data_file {
    uint64_t atoms;
    bool has_atoms, has_rows; /* the count; the section */
    uint64_t counts[COUNT_KINDS];
    bool has_count[COUNT_KINDS], has_section[COUNT_KINDS];
    char section[64]; /* the current one; "": the header */
    uint64_t section_line, section_rows;
    size_t section_words; /* of its first row */
    velocity *velocities;
    uint64_t velocity_count, velocity_space;
    type_mass *masses;
    size_t mass_count;
    char style[32];
} data_file;

/* The columns of an atom style. Image flags may follow them. */
static bool style_columns(const char *style, columns *c) {
    static const field x = FIELD_POSITION, y = FIELD_POSITION + 1, z = FIELD_POSITION + 2;
    static const char *const as_molecular[] = {"bond", "angle", "molecular"};
    if (strcmp(style, "atomic") == 0) {
        *c = (columns){{FIELD_ID, FIELD_SPECIES, x, y, z}, 5};
    } else if (strcmp(style, "sphere") == 0) {
        *c = (columns){{FIELD_ID, FIELD_SPECIES, FIELD_DIAMETER, FIELD_DENSITY, x, y, z}, 7};
    } else if (strcmp(style, "charge") == 0) {
        *c = (columns){{FIELD_ID, FIELD_SPECIES, FIELD_SKIP, x, y, z}, 6};
    } else if (strcmp(style, "full") == 0) {
        *c = (columns){{FIELD_ID, FIELD_SKIP, FIELD_SPECIES, FIELD_SKIP, x, y, z}, 7};
    } else {
        for (int i = 0; i < 3; ++i)
            if (strcmp(style, as_molecular[i]) == 0) {
                *c = (columns){{FIELD_ID, FIELD_SKIP, FIELD_SPECIES, x, y, z}, 6};
                return true;
            }
        return false;
    }
    return true;
}

/* Without a style after "Atoms #", the number of columns tells atomic and sphere apart. */
static bool find_style(reader *r, data_file *d, columns *c) {
    size_t n = r->word_count;
    if (d->style[0] != '\0')
        return style_columns(d->style, c) ||
               fail(r, CAROM_UNSUPPORTED,
                    "the atom style %.30s is not read; write the data with sphere or atomic",
                    d->style);
    if (n == 5 || n == 8) return style_columns("atomic", c);
    if (n == 7 || n == 10) return style_columns("sphere", c);
    return fail(r, CAROM_BAD_FILE,
                "%zu columns leave the atom style open; write it after Atoms, such as Atoms # "
                "sphere",
                n);
}

/* One line before the first section: "2 atoms", "0 10 xlo xhi", "0 0 0 xy xz yz". */
static bool take_header(reader *r, data_file *d) {
    static const char *const bounds[3][2] = {{"xlo", "xhi"}, {"ylo", "yhi"}, {"zlo", "zhi"}};
    size_t n = r->word_count;
    char **w = r->words;
    double a, b;
    if (n == 2 && strcmp(w[1], "atoms") == 0) {
        d->has_atoms = d->has_count[COUNT_ATOMS] = true;
        if (!take_count(r, w[0], "number of atoms", &d->atoms)) return false;
        d->counts[COUNT_ATOMS] = d->atoms;
        return true;
    }
    char name[32] = "";
    if (n == 2) snprintf(name, sizeof(name), "%.30s", w[1]);
    if (n == 3) snprintf(name, sizeof(name), "%.15s %.15s", w[1], w[2]);
    for (int i = 0; i < COUNT_KINDS; ++i)
        if (strcmp(name, count_names[i]) == 0) {
            d->has_count[i] = true;
            return read_integer(w[0], &d->counts[i]) ||
                   fail(r, CAROM_BAD_FILE, "%s: \"%.40s\" is no count", name, w[0]);
        }
    for (int axis = 0; axis < 3; ++axis)
        if (n == 4 && strcmp(w[2], bounds[axis][0]) == 0 && strcmp(w[3], bounds[axis][1]) == 0)
            return take_number(r, w[0], w[2], &a) && take_number(r, w[1], w[3], &b) &&
                   set_axis(r, axis, a, b);
    if (n == 6 && strcmp(w[3], "xy") == 0) {
        for (int i = 0; i < 3; ++i) {
            if (!take_number(r, w[i], "tilt", &a)) return false;
            if (a != 0.0) return tilted(r);
        }
    }
    if (n == 4 && (strcmp(w[3], "avec") == 0 || strcmp(w[3], "bvec") == 0)) return tilted(r);
    return true;
}

static bool take_velocity(reader *r, data_file *d) {
    if (r->word_count < 4)
        return fail(r, CAROM_BAD_FILE, "id and three numbers of a velocity must be here");
    if (d->velocity_count == d->velocity_space) {
        uint64_t space = d->velocity_space < 512 ? 1024 : 2 * d->velocity_space;
        velocity *more = realloc(d->velocities, space * sizeof(*more));
        if (more == NULL) return no_memory(r);
        d->velocities = more;
        d->velocity_space = space;
    }
    velocity *v = &d->velocities[d->velocity_count++];
    v->line = r->line;
    return (read_integer(r->words[0], &v->id) ||
            fail(r, CAROM_BAD_FILE, "id: \"%.40s\" is no whole number", r->words[0])) &&
           take_number(r, r->words[1], "vx", &v->value.x) &&
           take_number(r, r->words[2], "vy", &v->value.y) &&
           take_number(r, r->words[3], "vz", &v->value.z);
}

static bool take_mass(reader *r, data_file *d) {
    if (r->word_count < 2) return fail(r, CAROM_BAD_FILE, "type and mass must be here");
    if (d->masses == NULL) d->masses = malloc(MOST_TYPES * sizeof(*d->masses));
    if (d->masses == NULL) return no_memory(r);
    if (d->mass_count == MOST_TYPES)
        return fail(r, CAROM_TOO_LARGE, "there are more than %d types", MOST_TYPES);
    type_mass *m = &d->masses[d->mass_count++];
    if (!take_name(r, r->words[0], m->name) || !take_number(r, r->words[1], "mass", &m->mass))
        return false;
    return m->mass > 0.0 || fail(r, CAROM_BAD_FILE, "mass: %.40s is not above 0", r->words[1]);
}

static int compare_velocities(const void *a, const void *b) {
    uint64_t p = ((const velocity *)a)->id, q = ((const velocity *)b)->id;
    return p < q ? -1 : p > q;
}

/* Gives each sphere its velocity: both lists by id. */
static bool join_velocities(reader *r, data_file *d) {
    if (d->velocities == NULL) return true;
    qsort(d->velocities, d->velocity_count, sizeof(*d->velocities), compare_velocities);
    if (!sort_rows(r)) return false;
    for (uint64_t i = 0; i < d->velocity_count || i < r->row_count; ++i) {
        const velocity *v = i < d->velocity_count ? &d->velocities[i] : NULL;
        file_row *row = i < r->row_count ? &r->rows[i] : NULL;
        if (v != NULL && row != NULL && v->id == row->label.id) {
            row->sphere.velocity = v->value;
            continue;
        }
        bool lacks = row != NULL && (v == NULL || v->id > row->label.id);
        r->line = lacks ? row->label.line : v->line;
        return fail(r, CAROM_BAD_FILE,
                    lacks ? "sphere %llu has no velocity"
                          : "sphere %llu is not among the atoms, or has two "
                            "velocities",
                    (unsigned long long)(lacks ? row->label.id : v->id));
    }
    r->out->has_velocities = true;
    return true;
}

/* Gives each sphere that has no density the mass of its type. */
static bool join_masses(reader *r, const data_file *d) {
    if (d->mass_count == 0 || r->out->has_masses) return true;
    size_t last = 0;
    for (uint64_t i = 0; i < r->row_count; ++i) {
        file_row *row = &r->rows[i];
        size_t k = 0;
        for (; k < d->mass_count; ++k, last = (last + 1) % d->mass_count)
            if (strcmp(d->masses[last].name, row->label.species) == 0) break;
        if (k == d->mass_count) {
            r->line = row->label.line;
            return fail(r, CAROM_BAD_FILE, "type %s has no mass in the section Masses",
                        row->label.species);
        }
        row->sphere.mass = d->masses[last].mass;
    }
    r->out->has_masses = true;
    return true;
}

typedef enum section {
    SECTION_HEADER,
    SECTION_ATOMS,
    SECTION_VELOCITIES,
    SECTION_MASSES,
    SECTION_OTHER
} section;

/* Checks that the current section has its rows. */
static bool end_section(reader *r, const data_file *d) {
    int count = count_of(d->section);
    bool counted = count != COUNT_KINDS && d->has_count[count];
    if (d->section[0] == '\0' || (counted && d->section_rows == d->counts[count]) ||
        (!counted && d->section_rows != 0))
        return true;
    if (!counted)
        return fail(r, CAROM_BAD_FILE,
                    "the section %s of line %llu has no rows; the file was cut short", d->section,
                    (unsigned long long)d->section_line);
    return fail(r, CAROM_BAD_FILE,
                "the section %s of line %llu has %llu rows, the header announces %llu %s",
                d->section, (unsigned long long)d->section_line,
                (unsigned long long)d->section_rows, (unsigned long long)d->counts[count],
                count_names[count]);
}

/* Checks the last section, and that those which the header needs are there. */
static bool end_sections(reader *r, const data_file *d) {
    if (!end_section(r, d)) return false;
    for (int i = COUNT_BONDS; i <= COUNT_IMPROPERS; ++i)
        if (d->counts[i] != 0 && !d->has_section[i])
            return fail(r, CAROM_BAD_FILE,
                        "the header announces %llu %s, and the file ends without their section",
                        (unsigned long long)d->counts[i], count_names[i]);
    return true;
}

/* Counts a row of the current section. Those of atoms, velocities and bonds have equally many
 * columns, so that a row that was cut short is noticed. */
static bool count_row(reader *r, data_file *d) {
    int count = count_of(d->section);
    size_t least = count == COUNT_BONDS ? 4 : count == COUNT_ANGLES ? 5 : 6;
    if (d->section_rows++ == 0) d->section_words = r->word_count;
    if (count >= COUNT_BONDS && count <= COUNT_IMPROPERS && r->word_count < least)
        return fail(r, CAROM_BAD_FILE, "the row has %zu columns; those of %s have %zu",
                    r->word_count, d->section, least);
    return count != COUNT_ATOMS || r->word_count == d->section_words ||
           fail(r, CAROM_BAD_FILE, "the row has %zu columns, the first of %s has %zu",
                r->word_count, d->section, d->section_words);
}

/* The section that a line of letters begins. */
static bool begin_section(reader *r, data_file *d, const char *comment, section *now) {
    const char *name = r->words[0];
    if (!end_section(r, d)) return false;
    d->section[0] = '\0';
    for (size_t i = 0; i < r->word_count; ++i) {
        size_t used = strlen(d->section);
        snprintf(d->section + used, sizeof(d->section) - used, "%s%.40s", i > 0 ? " " : "",
                 r->words[i]);
    }
    d->section_line = r->line;
    d->section_rows = 0;
    int count = count_of(d->section);
    if (count != COUNT_KINDS) d->has_section[count] = true;
    *now = SECTION_OTHER;
    if (r->word_count != 1) return true;
    if (strcmp(name, "Velocities") == 0) *now = SECTION_VELOCITIES;
    if (strcmp(name, "Masses") == 0) *now = SECTION_MASSES;
    if (strcmp(name, "Atoms") != 0) return true;
    if (d->has_rows) return fail(r, CAROM_BAD_FILE, "there is a second section Atoms");
    *now = SECTION_ATOMS;
    d->has_rows = true;
    comment += strspn(comment, "# \t");
    snprintf(d->style, sizeof(d->style), "%.*s", (int)strcspn(comment, " \t"), comment);
    return true;
}

static bool take_data_line(reader *r, data_file *d, columns *c, section *now) {
    char *comment = r->text + strcspn(r->text, "#");
    char kept[64] = "";
    if (*comment != '\0') snprintf(kept, sizeof(kept), "%.60s", comment);
    *comment = '\0';
    if (!split(r)) return false;
    if (r->word_count == 0) return true;
    char first = r->words[0][0];
    if ((first >= 'A' && first <= 'Z') || (*now == SECTION_HEADER && first >= 'a' && first <= 'z'))
        return begin_section(r, d, kept, now);
    if (*now != SECTION_HEADER && !count_row(r, d)) return false;
    switch (*now) {
    case SECTION_HEADER:
        return take_header(r, d);
    case SECTION_VELOCITIES:
        return take_velocity(r, d);
    case SECTION_MASSES:
        return take_mass(r, d);
    case SECTION_OTHER:
        return true;
    case SECTION_ATOMS:
        break;
    }
    if (r->row_count == 0 && (!find_style(r, d, c) || !begin_rows(r, c))) return false;
    if (r->row_count == d->atoms)
        return fail(r, CAROM_BAD_FILE, "there are more rows than the %llu atoms of the header",
                    (unsigned long long)d->atoms);
    return take_row(r, c);
}

static bool read_data_sections(reader *r, data_file *d) {
    columns c = {{FIELD_SKIP}, 0};
    section now = SECTION_HEADER;
    for (int axis = 0; axis < 3; ++axis) {
        r->out->periodic[axis] = true; /* the default of LAMMPS; the file does not tell */
        if (!set_axis(r, axis, -0.5, 0.5)) return false;
    }
    if (!next_line(r)) return no_frame(r, 0); /* a title */
    while (next_line(r))
        if (!take_data_line(r, d, &c, &now)) return false;
    if (r->status != CAROM_OK) return false;
    if (r->def->frame != GAS_LAST_FRAME && r->def->frame != 0) return no_frame(r, 1);
    ++r->line;
    if (!d->has_atoms) return fail(r, CAROM_BAD_FILE, "the header has no number of atoms");
    if (r->row_count != d->atoms)
        return fail(r, CAROM_BAD_FILE, "the file ends after %llu of %llu atoms",
                    (unsigned long long)r->row_count, (unsigned long long)d->atoms);
    return end_sections(r, d) && join_velocities(r, d) && join_masses(r, d);
}

static bool read_data(reader *r) {
    data_file d = {0};
    bool good = read_data_sections(r, &d);
    free(d.velocities);
    free(d.masses);
    return good;
}

/* ---- The format ------------------------------------------------------------------------------ */

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
static bool peek_line(const reader *r, size_t *at, char *line, size_t size) {
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

static gas_format guess_format(const reader *r) {
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

static bool finish(reader *r) {
    gas_file *out = r->out;
    if (!sort_rows(r)) return false;
    uint64_t space = r->row_count != 0 ? r->row_count : 1;
    out->spheres = malloc(space * sizeof(*out->spheres));
    out->labels = malloc(space * sizeof(*out->labels));
    if (out->spheres == NULL || out->labels == NULL) return no_memory(r);
    for (uint64_t i = 0; i < r->row_count; ++i) {
        out->spheres[i] = r->rows[i].sphere;
        out->labels[i] = r->rows[i].label;
    }
    out->count = r->row_count;
    return true;
}

static bool read_format(reader *r) {
    gas_format format = r->def->format;
    if (format == GAS_FORMAT_GUESS) format = guess_format(r);
    r->out->format = format;
    switch (format) {
    case GAS_FORMAT_XYZ:
        return read_xyz(r);
    case GAS_FORMAT_EDMD:
        return read_edmd(r);
    case GAS_FORMAT_DATA:
        return read_data(r);
    case GAS_FORMAT_DUMP:
        return read_dump(r);
    case GAS_FORMAT_GUESS:
    case GAS_FORMAT_COUNT:
        break;
    }
    return fail(r, CAROM_BAD_FILE,
                r->in.end == 0
                    ? "is empty"
                    : "is neither extended XYZ nor a file of EDMD, LAMMPS data or LAMMPS "
                      "dump; --from tells which, where it is one");
}

carom_status gas_file_read(const gas_file_def *def, gas_file *file) {
    *file = (gas_file){0};
    reader r = {.def = def, .out = file};
    if (def->message_size != 0) def->message[0] = '\0';
    if (def->progress != NULL) (void)def->progress(def->progress_user, "reading spheres", 0.0);
    bool is_open = def->bytes != NULL ? input_open_memory(&r.in, def->bytes, def->byte_count)
                                      : input_open(&r.in, def->path, def->limit);
    if (!is_open || !input_fill(&r.in))
        (void)fail(&r, r.in.status, "%s", r.in.reason);
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
