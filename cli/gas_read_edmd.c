/* SPDX-License-Identifier: MIT */
/* EDMD: frames of a count, the edges of the box, and rows of a name, a position and a radius. */
#include <string.h>

#include "cli/gas_reader.h"

/* The next line that is neither blank nor a comment, split. */
static bool next_words(gas_reader *r) {
    while (gas_reader_next_line(r)) {
        const char *start = r->text + strspn(r->text, " \t");
        if (*start != '#' && *start != '\0') return gas_reader_split(r);
    }
    return false;
}

bool gas_read_edmd(gas_reader *r) {
    static const gas_columns c = {{GAS_FIELD_SPECIES, GAS_FIELD_POSITION, GAS_FIELD_POSITION + 1,
                                   GAS_FIELD_POSITION + 2, GAS_FIELD_RADIUS},
                                  5};
    uint64_t frames = 0;
    bool found = false;
    while (!found && next_words(r)) {
        uint64_t count = 0;
        if (!gas_reader_take_count(r, r->words[0], "number of spheres", &count)) return false;
        if (r->word_count != 1)
            return gas_reader_fail(
                r, CAROM_BAD_FILE, "the number of spheres must be alone in its line%s",
                frames > 0 ? "; does the frame have more rows than announced?" : "");
        if (!next_words(r) || r->word_count != 3)
            return gas_reader_fail(r, CAROM_BAD_FILE, "the three edges of the box must follow");
        for (int axis = 0; axis < 3; ++axis) {
            double edge;
            if (!gas_reader_take_number(r, r->words[axis], "edge", &edge) ||
                !gas_reader_set_axis(r, axis, 0.0, edge))
                return false;
            r->out->periodic[axis] = true;
        }
        if (!gas_reader_begin_rows(r, &c)) return false;
        bool wanted = gas_reader_is_wanted(r, frames);
        for (uint64_t i = 0; i < count; ++i) {
            if (!next_words(r)) {
                ++r->line;
                return gas_reader_fail(
                    r, CAROM_BAD_FILE, "the file ends after %llu of %llu rows of frame %llu",
                    (unsigned long long)i, (unsigned long long)count, (unsigned long long)frames);
            }
            if (wanted && !gas_reader_take_row(r, &c)) return false;
        }
        found = r->def->frame == frames++;
    }
    if (r->status != CAROM_OK) return false;
    return found || (frames > 0 && r->def->frame == GAS_LAST_FRAME) ||
           gas_reader_no_frame(r, frames);
}
