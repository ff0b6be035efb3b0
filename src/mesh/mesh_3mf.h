/* SPDX-License-Identifier: MIT */
/* mesh_3mf.h: the unit and the names of objects in a 3MF file, which assimp does not pass on. */
#ifndef CAROM_SRC_MESH_MESH_3MF_H
#define CAROM_SRC_MESH_MESH_3MF_H

#include "mesh/mesh_format.h"

/* Starts as {0}. Object i has the id and the name with that index. */
typedef struct carom_3mf {
    double metres; /* per unit; 0: not found */
    carom_names ids, names;
} carom_3mf;

/* Reads what can be found. A file in which nothing is found is no error, as assimp decides whether
 * it is 3MF; only CAROM_NO_MEMORY is. */
carom_status carom_3mf_read(carom_builder *builder, carom_source source, carom_3mf *model);

/* The name of an object, or NULL where it has none. */
const char *carom_3mf_name(const carom_builder *builder, carom_3mf *model, const char *id);

void carom_3mf_release(const carom_builder *builder, carom_3mf *model);

#endif
