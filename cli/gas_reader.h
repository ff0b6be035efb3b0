/* SPDX-License-Identifier: MIT */
/* gas_reader.h: lines of words and rows of spheres, for the readers of all formats (gas_files.h).
 */
#ifndef CAROM_CLI_GAS_READER_H
#define CAROM_CLI_GAS_READER_H

#include "cli/gas_files.h"
#include "cli/input.h"
#include "cli/platform.h"

#define GAS_MOST_COLUMNS 64
#define GAS_MOST_SPHERES ((UINT64_C(1) << 27) - 1) /* of a gas */

typedef struct gas_reader_row {
    carom_gas_sphere sphere;
    gas_label label;
} gas_reader_row;

typedef struct gas_reader {
    const gas_file_def *def;
    carom_status status;
    input in;
    uint64_t line; /* number of the current line */
    char *text;    /* the current line */
    char *words[GAS_MOST_COLUMNS];
    size_t word_count;

    gas_reader_row *rows;
    uint64_t row_count, row_space;
    bool has_ids;
    double low[3];
    gas_file *out;
} gas_reader;

/* One file per format: reads the frame that is wanted, all of its rows. False after a failure. */
bool gas_read_xyz(gas_reader *r);
bool gas_read_edmd(gas_reader *r);
bool gas_read_dump(gas_reader *r);
bool gas_read_data(gas_reader *r);

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Writes the message, with file and line, unless there is one already. Returns false, as all
 * functions below do after a failure. */
PLATFORM_PRINTF(3, 4)
bool gas_reader_fail(gas_reader *r, carom_status status, const char *format, ...);
bool gas_reader_no_memory(gas_reader *r);

/* The next line without its end; false at the end of the file or after a failure. */
bool gas_reader_next_line(gas_reader *r);

/* Splits the line into words, at blanks; the line itself is lost. */
bool gas_reader_split(gas_reader *r);

bool gas_reader_is_blank(const char *text);

/* Decimal numbers only; false, without a message, where the word is none. */
bool gas_reader_read_number(const char *word, double *value);
bool gas_reader_read_integer(const char *word, uint64_t *value);

/* The same with a message; a count is at most GAS_MOST_SPHERES. */
bool gas_reader_take_number(gas_reader *r, const char *word, const char *what, double *value);
bool gas_reader_take_count(gas_reader *r, const char *word, const char *what, uint64_t *value);

/* ---- Rows ------------------------------------------------------------------------------------ */

enum {
    GAS_FIELD_SKIP,
    GAS_FIELD_ID,
    GAS_FIELD_SPECIES,
    GAS_FIELD_POSITION,     /* and the next two: y, z */
    GAS_FIELD_SCALED = 6,   /* fractions of the edges; and the next two */
    GAS_FIELD_VELOCITY = 9, /* and the next two */
    GAS_FIELD_RADIUS = 12,
    GAS_FIELD_DIAMETER,
    GAS_FIELD_MASS,
    GAS_FIELD_DENSITY,
    GAS_FIELD_COUNT
};

typedef int gas_field; /* one of these */

typedef struct gas_columns {
    gas_field fields[GAS_MOST_COLUMNS];
    size_t count;
} gas_columns;

/* Checks the columns, and notes what the file has. */
bool gas_reader_begin_rows(gas_reader *r, const gas_columns *c);

bool gas_reader_take_name(gas_reader *r, const char *word, char name[GAS_SPECIES_SIZE]);

/* Takes the words of the current line as one sphere. */
bool gas_reader_take_row(gas_reader *r, const gas_columns *c);

/* Reads `count` rows; `frame` is for the message. */
bool gas_reader_take_rows(gas_reader *r, const gas_columns *c, uint64_t count, uint64_t frame);
bool gas_reader_skip_rows(gas_reader *r, uint64_t count);

/* Whether a frame, counted from 0, is wanted. */
bool gas_reader_is_wanted(const gas_reader *r, uint64_t frame);

/* Fails: the file has `frames` frames, and not that one. */
bool gas_reader_no_frame(gas_reader *r, uint64_t frames);

/* The box along one axis. */
bool gas_reader_set_axis(gas_reader *r, int axis, double low, double high);
bool gas_reader_tilted(gas_reader *r); /* fails */

/* Sorts by id, and refuses an id that comes twice. */
bool gas_reader_sort_rows(gas_reader *r);

#endif
