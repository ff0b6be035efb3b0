/* SPDX-License-Identifier: MIT */
/* pack_formats.h: the files of covers from outside, for motion planners and particle codes. */
#ifndef CAROM_CLI_PACK_FORMATS_H
#define CAROM_CLI_PACK_FORMATS_H

#include <stdio.h>

#include "cli/command.h"

/* They follow those of packings in --format. */
typedef enum pack_format {
    PACK_FORMAT_CUROBO = CAROM_PACK_FORMAT_COUNT, /* collision_spheres, YAML */
    PACK_FORMAT_XRDF,
    PACK_FORMAT_URDF,     /* one <collision> per sphere */
    PACK_FORMAT_FOAM,     /* JSON, one level */
    PACK_FORMAT_MORPHIT,  /* JSON, a file per set */
    PACK_FORMAT_LIGGGHTS, /* x y z r, a file per set */
    PACK_FORMAT_YADE,     /* x y z r, and the number of the clump where there are several */
    PACK_FORMAT_DEM,      /* CSV for Chrono's DEM-Engine: in the frame of centroid and principal
                             axes; a file per set */
    PACK_FORMAT_COUNT
} pack_format;

/* The name of a format of either kind; NULL: there is none. */
const char *pack_format_choice(int index);

/* The format that the name of a file tells; CAROM_PACK_FORMAT_PLY where it tells nothing. */
int pack_format_of(const char *path);

/* The spheres of one part or link. */
typedef struct pack_set {
    char name[256]; /* "": it has none */
    carom_ball *data;
    uint64_t count, capacity;
    carom_cover_measure measure; /* of all its spheres that cover a mesh */
    carom_pose principal;        /* of its centroid and principal axes, for PACK_FORMAT_DEM */
} pack_set;

/* Whether the format holds one set per file. */
bool pack_format_is_single(int format);

/* Writes sets. `source` names the mesh; `urdf`, for PACK_FORMAT_URDF, is the text of the robot,
 * whose elements for collision are replaced, or NULL: links are made up. False: the format cannot
 * be written for covers. */
bool pack_format_write(FILE *file, int format, const char *source, const pack_set *sets,
                       uint64_t count, const char *urdf, size_t urdf_size);

#endif
