/* SPDX-License-Identifier: MIT */
/* LAMMPS dump: frames of items, each with a line that names it. */
#include <string.h>

#include "cli/gas_reader.h"

/* "ITEM: BOX BOUNDS pp pp ff", then low and high of each axis. */
static bool take_bounds(gas_reader *r) {
    bool slanted = false;
    for (int axis = 0; axis < 3; ++axis) r->out->periodic[axis] = true;
    for (size_t i = 3, axis = 0; i < r->word_count; ++i) {
        const char *word = r->words[i];
        if (strcmp(word, "abc") == 0) return gas_reader_tilted(r);
        if (strcmp(word, "xy") == 0 || strcmp(word, "xz") == 0 || strcmp(word, "yz") == 0)
            slanted = true;
        else if (axis < 3 && strspn(word, "pfsm") == 2)
            r->out->periodic[axis++] = word[0] == 'p';
    }
    for (int axis = 0; axis < 3; ++axis) {
        double low, high, tilt = 0.0;
        if (!gas_reader_next_line(r) || !gas_reader_split(r) || r->word_count < 2 + (size_t)slanted)
            return gas_reader_fail(r, CAROM_BAD_FILE, "the low and high bound along %c must follow",
                                   "xyz"[axis]);
        if (!gas_reader_take_number(r, r->words[0], "low bound", &low) ||
            !gas_reader_take_number(r, r->words[1], "high bound", &high) ||
            (slanted && !gas_reader_take_number(r, r->words[2], "tilt", &tilt)))
            return false;
        if (tilt != 0.0) return gas_reader_tilted(r);
        if (!gas_reader_set_axis(r, axis, low, high)) return false;
    }
    return true;
}

static gas_field dump_field(const char *name) {
    static const struct {
        const char *name;
        int field;
    } known[] = {{"id", GAS_FIELD_ID},           {"type", GAS_FIELD_SPECIES},
                 {"element", GAS_FIELD_SPECIES}, {"x", GAS_FIELD_POSITION},
                 {"y", GAS_FIELD_POSITION + 1},  {"z", GAS_FIELD_POSITION + 2},
                 {"xu", GAS_FIELD_POSITION},     {"yu", GAS_FIELD_POSITION + 1},
                 {"zu", GAS_FIELD_POSITION + 2}, {"xs", GAS_FIELD_SCALED},
                 {"ys", GAS_FIELD_SCALED + 1},   {"zs", GAS_FIELD_SCALED + 2},
                 {"xsu", GAS_FIELD_SCALED},      {"ysu", GAS_FIELD_SCALED + 1},
                 {"zsu", GAS_FIELD_SCALED + 2},  {"vx", GAS_FIELD_VELOCITY},
                 {"vy", GAS_FIELD_VELOCITY + 1}, {"vz", GAS_FIELD_VELOCITY + 2},
                 {"radius", GAS_FIELD_RADIUS},   {"diameter", GAS_FIELD_DIAMETER},
                 {"mass", GAS_FIELD_MASS}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i)
        if (strcmp(known[i].name, name) == 0) return known[i].field;
    return GAS_FIELD_SKIP;
}

/* "ITEM: ATOMS id type x y z ...". Of radius and diameter, the radius is used. */
static void dump_columns(const gas_reader *r, gas_columns *c) {
    bool has_radius = false;
    c->count = r->word_count - 2;
    for (size_t i = 0; i < c->count; ++i)
        has_radius |= (c->fields[i] = dump_field(r->words[i + 2])) == GAS_FIELD_RADIUS;
    for (size_t i = 0; i < c->count; ++i)
        if (has_radius && c->fields[i] == GAS_FIELD_DIAMETER) c->fields[i] = GAS_FIELD_SKIP;
}

bool gas_read_dump(gas_reader *r) {
    uint64_t frames = 0, count = 0;
    bool found = false, has_count = false, has_box = false, in_head = false;
    gas_columns c;
    while (!found && gas_reader_next_line(r)) {
        if (gas_reader_is_blank(r->text)) continue;
        if (!gas_reader_split(r)) return false;
        if (r->word_count < 2 || strcmp(r->words[0], "ITEM:") != 0)
            return gas_reader_fail(r, CAROM_BAD_FILE, "a line with ITEM: must be here%s",
                                   frames > 0 ? "; does the frame have more rows than announced?"
                                              : "");
        const char *item = r->words[1];
        in_head = strcmp(item, "ATOMS") != 0;
        if (strcmp(item, "NUMBER") == 0) {
            if (!gas_reader_next_line(r) || !gas_reader_split(r) || r->word_count != 1)
                return gas_reader_fail(r, CAROM_BAD_FILE, "the number of atoms must follow");
            if (!gas_reader_take_count(r, r->words[0], "number of atoms", &count)) return false;
            has_count = true;
        } else if (strcmp(item, "BOX") == 0) {
            if (!take_bounds(r)) return false;
            has_box = true;
        } else if (strcmp(item, "ATOMS") == 0) {
            if (!has_count || !has_box)
                return gas_reader_fail(r, CAROM_BAD_FILE,
                                       "NUMBER OF ATOMS and BOX BOUNDS must come first");
            if (gas_reader_is_wanted(r, frames)) {
                dump_columns(r, &c);
                if (!gas_reader_begin_rows(r, &c) || !gas_reader_take_rows(r, &c, count, frames))
                    return false;
                found = r->def->frame == frames;
            } else if (!gas_reader_skip_rows(r, count)) {
                break;
            }
            ++frames;
            has_count = has_box = false;
        } else if (!gas_reader_next_line(r)) { /* TIMESTEP, TIME, UNITS have one line */
            return gas_reader_fail(r, CAROM_BAD_FILE, "the file ends after ITEM: %.40s", item);
        }
    }
    if (r->status == CAROM_OK && in_head) {
        ++r->line;
        return gas_reader_fail(r, CAROM_BAD_FILE,
                               "the file ends inside the head of frame %llu; it was cut short",
                               (unsigned long long)frames);
    }
    if (r->status != CAROM_OK) return false;
    return found || (frames > 0 && r->def->frame == GAS_LAST_FRAME) ||
           gas_reader_no_frame(r, frames);
}
