/* SPDX-License-Identifier: MIT */
/* gas_files.h: spheres read from the files of other programs. docs/formats.md describes them. */
#ifndef CAROM_CLI_GAS_FILES_H
#define CAROM_CLI_GAS_FILES_H

#include "carom/carom.h"

typedef enum gas_format {
    GAS_FORMAT_GUESS, /* by content where that is conclusive, else by name, else by content */
    GAS_FORMAT_XYZ,   /* extended XYZ */
    GAS_FORMAT_EDMD,
    GAS_FORMAT_DATA, /* LAMMPS read_data */
    GAS_FORMAT_DUMP, /* LAMMPS dump */
    GAS_FORMAT_COUNT
} gas_format;

/* "guess", "xyz", "edmd", "data", "dump"; NULL after the last. */
const char *gas_format_choice(int index);

#define GAS_SPECIES_SIZE 16 /* bytes of a name, its end included */

/* What a file calls a sphere. */
typedef struct gas_label {
    uint64_t id;
    uint64_t line; /* where the sphere is in the file, from 1 */
    char species[GAS_SPECIES_SIZE];
} gas_label;

#define GAS_LAST_FRAME UINT64_MAX

typedef struct gas_file_def {
    const char *path;  /* "-" is the standard input; in messages only, if there are bytes */
    const char *bytes; /* read these instead of a file; or NULL */
    size_t byte_count;
    uint64_t limit; /* bytes of the file, unpacked; 0: CAROM_DEFAULT_INPUT_LIMIT */
    gas_format format;
    uint64_t frame;              /* from 0, or GAS_LAST_FRAME */
    carom_progress_fn *progress; /* or NULL */
    void *progress_user;
    char *message; /* receives the reason of a failure: file, line, what to do */
    size_t message_size;
} gas_file_def;

/* Spheres in the order of their ids, or of the file where it has none (then they are numbered from
 * 0). Radii, masses and velocities are 0 where the file has none. Positions are relative to the
 * low corner of the box. */
typedef struct gas_file {
    gas_format format;
    bool has_box, has_velocities, has_radii, has_masses;
    bool periodic[3];
    carom_vec3 edges;
    carom_gas_sphere *spheres;
    gas_label *labels;
    uint64_t count;
} gas_file;

/* CAROM_IO, CAROM_BAD_FILE, CAROM_TOO_LARGE, CAROM_UNSUPPORTED (a tilted box), CAROM_NO_MEMORY or
 * CAROM_CANCELLED: there is a message then, and nothing to free. */
carom_status gas_file_read(const gas_file_def *def, gas_file *file);
void gas_file_free(gas_file *file);

#endif
