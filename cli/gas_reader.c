/* SPDX-License-Identifier: MIT */
/* One reader of lines, one table of columns and one function that takes a row, for all formats.
 *
 * The file is read once, from front to back, through a buffer; of a trajectory one frame at a time
 * is in memory. Memory grows with the rows that are there, never with a count that a file only
 * announces. Nothing is skipped silently that would change the spheres: a count that does not
 * match, a column that is no number and a tilted box are failures with file and line. */
#include "cli/gas_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/platform.h"

#define PI 3.14159265358979323846

#define LINES_BEFORE_LOOK 4096 /* between progress reports: some 2 ms */

/* ---- Lines ----------------------------------------------------------------------------------- */

PLATFORM_PRINTF(3, 4)
bool gas_reader_fail(gas_reader *r, carom_status status, const char *format, ...) {
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

bool gas_reader_no_memory(gas_reader *r) {
    return gas_reader_fail(r, CAROM_NO_MEMORY, "no memory for %llu spheres",
                           (unsigned long long)r->row_count);
}

static bool look(gas_reader *r) {
    const gas_file_def *def = r->def;
    double done = r->in.size > 0.0 ? fmin(r->in.read / r->in.size, 0.999) : 0.01;
    if (def->progress == NULL || !def->progress(def->progress_user, "reading spheres", done))
        return true;
    return gas_reader_fail(r, CAROM_CANCELLED, "cancelled");
}

bool gas_reader_next_line(gas_reader *r) {
    if (r->status != CAROM_OK || (r->line % LINES_BEFORE_LOOK == 0 && r->line != 0 && !look(r)))
        return false;
    r->text = input_line(&r->in);
    r->line = r->in.number;
    if (r->text != NULL) return true;
    if (r->in.status != CAROM_OK) (void)gas_reader_fail(r, r->in.status, "%s", r->in.reason);
    return false;
}

bool gas_reader_split(gas_reader *r) {
    r->word_count = 0;
    for (char *at = r->text;;) {
        at += strspn(at, " \t");
        if (*at == '\0') return true;
        if (r->word_count == GAS_MOST_COLUMNS)
            return gas_reader_fail(r, CAROM_BAD_FILE, "the line has more than %d columns",
                                   GAS_MOST_COLUMNS);
        r->words[r->word_count++] = at;
        at += strcspn(at, " \t");
        if (*at != '\0') *at++ = '\0';
    }
}

bool gas_reader_is_blank(const char *text) {
    return text[strspn(text, " \t")] == '\0';
}

/* Decimal numbers only: strtod also takes hexadecimal ones and names. */
bool gas_reader_read_number(const char *word, double *value) {
    return word[strspn(word, "0123456789+-.eE")] == '\0' && args_read_number(word, value);
}

bool gas_reader_read_integer(const char *word, uint64_t *value) {
    uint64_t number = 0;
    if (*word == '\0' || strlen(word) > 19) return false; /* below 2^64 */
    for (; *word != '\0'; ++word) {
        if (*word < '0' || *word > '9') return false;
        number = 10 * number + (uint64_t)(*word - '0');
    }
    *value = number;
    return true;
}

bool gas_reader_take_number(gas_reader *r, const char *word, const char *what, double *value) {
    return gas_reader_read_number(word, value) ||
           gas_reader_fail(r, CAROM_BAD_FILE, "%s: \"%.40s\" is no finite number", what, word);
}

bool gas_reader_take_count(gas_reader *r, const char *word, const char *what, uint64_t *value) {
    if (!gas_reader_read_integer(word, value))
        return gas_reader_fail(r, CAROM_BAD_FILE, "%s: \"%.40s\" is no count", what, word);
    return *value <= GAS_MOST_SPHERES ||
           gas_reader_fail(r, CAROM_TOO_LARGE, "%s: %llu; a gas has at most %llu spheres", what,
                           (unsigned long long)*value, (unsigned long long)GAS_MOST_SPHERES);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const char *const field_names[GAS_FIELD_COUNT] = {
    "",   "id", "type", "x",  "y",      "z",        "xs",   "ys",
    "zs", "vx", "vy",   "vz", "radius", "diameter", "mass", "density"};

static bool has_field(const gas_columns *c, gas_field wanted) {
    for (size_t i = 0; i < c->count; ++i)
        if (c->fields[i] == wanted) return true;
    return false;
}

static bool has_three(const gas_columns *c, gas_field first) {
    return has_field(c, first) && has_field(c, first + 1) && has_field(c, first + 2);
}

bool gas_reader_begin_rows(gas_reader *r, const gas_columns *c) {
    if (has_three(c, GAS_FIELD_POSITION) == has_three(c, GAS_FIELD_SCALED))
        return gas_reader_fail(r, CAROM_BAD_FILE, "the columns have %s",
                               has_three(c, GAS_FIELD_POSITION)
                                   ? "two kinds of positions; leave one out"
                                   : "no positions, that is, no x, y and z");
    for (int f = GAS_FIELD_ID; f < GAS_FIELD_COUNT; ++f) {
        size_t times = 0;
        for (size_t i = 0; i < c->count; ++i) times += c->fields[i] == f;
        if (times > 1 && f != GAS_FIELD_SPECIES)
            return gas_reader_fail(r, CAROM_BAD_FILE, "the columns have %s twice", field_names[f]);
    }
    r->row_count = 0;
    r->has_ids = has_field(c, GAS_FIELD_ID);
    r->out->has_velocities = has_three(c, GAS_FIELD_VELOCITY);
    r->out->has_radii = has_field(c, GAS_FIELD_RADIUS) || has_field(c, GAS_FIELD_DIAMETER);
    r->out->has_masses = has_field(c, GAS_FIELD_MASS) || has_field(c, GAS_FIELD_DENSITY);
    return true;
}

bool gas_reader_take_name(gas_reader *r, const char *word, char name[GAS_SPECIES_SIZE]) {
    size_t length = strlen(word);
    if (length >= GAS_SPECIES_SIZE)
        return gas_reader_fail(r, CAROM_BAD_FILE,
                               "the name \"%.40s\" is longer than %d letters; shorten it", word,
                               GAS_SPECIES_SIZE - 1);
    memcpy(name, word, length + 1);
    return true;
}

static gas_reader_row *add_row(gas_reader *r) {
    if (r->row_count == r->row_space) {
        uint64_t space = r->row_space < 512 ? 1024 : 2 * r->row_space;
        gas_reader_row *rows = realloc(r->rows, space * sizeof(*rows));
        if (rows == NULL) {
            (void)gas_reader_no_memory(r);
            return NULL;
        }
        r->rows = rows;
        r->row_space = space;
    }
    gas_reader_row *row = &r->rows[r->row_count];
    memset(row, 0, sizeof(*row));
    row->label.line = r->line;
    row->label.id = r->row_count++;
    memcpy(row->label.species, "S", 2);
    return row;
}

static double *component(carom_vec3 *v, int axis) {
    return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

bool gas_reader_take_row(gas_reader *r, const gas_columns *c) {
    if (r->word_count < c->count)
        return gas_reader_fail(r, CAROM_BAD_FILE, "the row has %zu columns, %zu are announced",
                               r->word_count, c->count);
    gas_reader_row *row = add_row(r);
    if (row == NULL) return false;
    carom_gas_sphere *s = &row->sphere;
    double density = 0.0;
    for (size_t i = 0; i < c->count; ++i) {
        int f = c->fields[i];
        const char *word = r->words[i];
        double value;
        if (f == GAS_FIELD_SKIP) continue;
        if (f == GAS_FIELD_SPECIES) {
            if (!gas_reader_take_name(r, word, row->label.species)) return false;
            continue;
        }
        if (f == GAS_FIELD_ID) {
            if (!gas_reader_read_integer(word, &row->label.id))
                return gas_reader_fail(r, CAROM_BAD_FILE, "id: \"%.40s\" is no whole number", word);
            continue;
        }
        if (!gas_reader_take_number(r, word, field_names[f], &value)) return false;
        if (f >= GAS_FIELD_RADIUS && !(value > 0.0))
            return gas_reader_fail(r, CAROM_BAD_FILE, "%s: %.40s is not above 0", field_names[f],
                                   word);
        if (f < GAS_FIELD_SCALED)
            *component(&s->position, f - GAS_FIELD_POSITION) =
                value - r->low[f - GAS_FIELD_POSITION];
        else if (f < GAS_FIELD_VELOCITY)
            *component(&s->position, f - GAS_FIELD_SCALED) =
                value * *component(&r->out->edges, f - GAS_FIELD_SCALED);
        else if (f < GAS_FIELD_RADIUS)
            *component(&s->velocity, f - GAS_FIELD_VELOCITY) = value;
        else if (f == GAS_FIELD_RADIUS || f == GAS_FIELD_DIAMETER)
            s->radius = f == GAS_FIELD_RADIUS ? value : 0.5 * value;
        else if (f == GAS_FIELD_MASS)
            s->mass = value;
        else
            density = value;
    }
    if (density > 0.0) s->mass = density * (4.0 / 3.0 * PI) * s->radius * s->radius * s->radius;
    if (!isfinite(s->mass) || (density > 0.0 && !(s->mass > 0.0)))
        return gas_reader_fail(r, CAROM_BAD_FILE, "density times volume is %g", s->mass);
    return true;
}

bool gas_reader_take_rows(gas_reader *r, const gas_columns *c, uint64_t count, uint64_t frame) {
    for (uint64_t i = 0; i < count; ++i) {
        if (!gas_reader_next_line(r)) {
            ++r->line;
            if (frame == 0)
                return gas_reader_fail(r, CAROM_BAD_FILE, "the file ends after %llu of %llu rows",
                                       (unsigned long long)i, (unsigned long long)count);
            return gas_reader_fail(
                r, CAROM_BAD_FILE,
                "the file ends after %llu of %llu rows of frame %llu; --start-frame %llu "
                "takes the last whole one",
                (unsigned long long)i, (unsigned long long)count, (unsigned long long)frame,
                (unsigned long long)frame - 1);
        }
        if (!gas_reader_split(r) || !gas_reader_take_row(r, c)) return false;
    }
    return true;
}

bool gas_reader_skip_rows(gas_reader *r, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        if (!gas_reader_next_line(r)) return false;
    return true;
}

bool gas_reader_is_wanted(const gas_reader *r, uint64_t frame) {
    return r->def->frame == GAS_LAST_FRAME || r->def->frame == frame;
}

bool gas_reader_no_frame(gas_reader *r, uint64_t frames) {
    if (r->status != CAROM_OK) return false;
    r->line = 0;
    if (frames == 0) return gas_reader_fail(r, CAROM_BAD_FILE, "has no spheres");
    return gas_reader_fail(r, CAROM_BAD_FILE, "has no frame %llu; the last is %llu, counted from 0",
                           (unsigned long long)r->def->frame, (unsigned long long)frames - 1);
}

bool gas_reader_set_axis(gas_reader *r, int axis, double low, double high) {
    double edge = high - low;
    if (!(edge > 0.0) || !isfinite(edge))
        return gas_reader_fail(r, CAROM_BAD_FILE, "the box is %g wide along %c", edge, "xyz"[axis]);
    r->low[axis] = low;
    *component(&r->out->edges, axis) = edge;
    r->out->has_box = true;
    return true;
}

bool gas_reader_tilted(gas_reader *r) {
    return gas_reader_fail(r, CAROM_UNSUPPORTED,
                           "the box is tilted; edges along x, y and z are possible");
}

static int compare_rows(const void *a, const void *b) {
    const gas_label *p = &((const gas_reader_row *)a)->label,
                    *q = &((const gas_reader_row *)b)->label;
    if (p->id != q->id) return p->id < q->id ? -1 : 1;
    return p->line < q->line ? -1 : p->line > q->line;
}

bool gas_reader_sort_rows(gas_reader *r) {
    bool sorted = true;
    for (uint64_t i = 1; i < r->row_count && sorted; ++i)
        sorted = r->rows[i - 1].label.id < r->rows[i].label.id;
    if (sorted) return true;
    qsort(r->rows, r->row_count, sizeof(*r->rows), compare_rows);
    for (uint64_t i = 1; i < r->row_count; ++i) {
        const gas_label *a = &r->rows[i - 1].label, *b = &r->rows[i].label;
        if (a->id != b->id) continue;
        r->line = b->line;
        return gas_reader_fail(r, CAROM_BAD_FILE, "the id %llu is also that of line %llu",
                               (unsigned long long)b->id, (unsigned long long)a->line);
    }
    return true;
}
