/* SPDX-License-Identifier: MIT */
/* pack_formats.h: the files of covers from outside, for motion planners and particle codes. */
#ifndef CAROM_CLI_PACK_FORMATS_H
#define CAROM_CLI_PACK_FORMATS_H

#include <stdio.h>

#include "cli/command.h"

/* They follow those of packings in --format. */
typedef enum pack_format {
    PACK_FORMAT_CUROBO = CAROM_PACKING_FORMAT_COUNT, /* collision_spheres, YAML */
    PACK_FORMAT_XRDF,
    PACK_FORMAT_URDF,     /* one <collision> per sphere */
    PACK_FORMAT_FOAM,     /* JSON, one level */
    PACK_FORMAT_MORPHIT,  /* JSON, a file per set */
    PACK_FORMAT_LIGGGHTS, /* x y z r, a file per set */
    PACK_FORMAT_YADE,     /* x y z r, and the number of the clump where there are several */
    PACK_FORMAT_DEM,      /* CSV for Chrono's DEM-Engine: in the frame of centroid and principal
                             axes; a file per set */
    PACK_FORMAT_HTML,     /* displays (display.h) */
    PACK_FORMAT_GLB,
    PACK_FORMAT_PNG,
    PACK_FORMAT_COUNT
} pack_format;

/* Whether spheres are shown in it: the others list them. */
static inline bool pack_format_is_shown(int format) {
    return format >= PACK_FORMAT_HTML;
}

/* The endings of names (endings.h). */
const char *pack_endings(int index);

/* The name of a format of either kind; NULL: there is none. */
const char *pack_format_choice(int index);

/* The format of a file: `choice` or, where that is CAROM_PACKING_FORMAT_GUESS, the one that the
 * name tells. The standard output gets PLY. */
int pack_format_of(const char *path, int choice);

/* The spheres of one part or link. */
typedef struct pack_set {
    char *name;          /* as the file has it; "": it has none */
    uint64_t number;     /* of the part in its file */
    const char *written; /* the name of keys and links: different for all sets (names.h) */
    const char *file;    /* the same in names of files */
    carom_ball *data;
    uint64_t count, capacity;
    uint64_t cover_count;        /* of its spheres that cover a mesh; the others are the file's */
    bool complete;               /* these reach out no farther than the goal */
    carom_cover_measure measure; /* of them */
    carom_pose principal;        /* of its centroid and principal axes, for PACK_FORMAT_DEM */
} pack_set;

/* Whether the format holds one set per file. */
bool pack_format_is_single(int format);

/* What a file holds. */
typedef struct pack_file {
    const char *source; /* names the mesh */
    const pack_set *sets;
    uint64_t count;
    const char *urdf; /* PACK_FORMAT_URDF: the text of the robot, whose elements for collision are
                         replaced; NULL: links are made up, below a root */
    size_t urdf_size;
    const char *root; /* the name of that root, which no set has */
} pack_file;

/* False: the format cannot be written for covers. */
bool pack_format_write(FILE *file, int format, const pack_file *what);

#endif
