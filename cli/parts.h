/* SPDX-License-Identifier: MIT */
/* parts.h: the parts of a mesh: selecting one, walking over all, counting pairs of them. */
#ifndef CAROM_CLI_PARTS_H
#define CAROM_CLI_PARTS_H

#include "cli/command.h"

#define PARTS_HELP "only the part with this name or number"

/* Replaces the mesh by one of its parts, if `part` is not NULL: a name, or a number where no part
 * has that name. `path` is for messages. */
carom_status parts_select(cli *cli, const char *path, const char *part, carom_mesh **mesh);

/* The name of a part, or "". */
const char *parts_name(const carom_mesh_view *view, uint64_t part);

/* ---- All parts of a mesh --------------------------------------------------------------------- */

/* The faces of each part, and arrays for a view of one. Initialise with {0}. */
typedef struct parts {
    carom_mesh_view mesh;
    uint64_t *begins; /* per part and one more: its range in `faces` */
    uint32_t *faces;
    uint32_t *latest, *number; /* per vertex: the latest part that used it, plus one; its index */
    char *positions;
    uint32_t *corners;
    uint64_t *offsets;
    carom_mesh_property *properties; /* of the view */
    void **values;                   /* what `values` of each points to */
} parts;

/* False when there is no memory. The view must stay valid until parts_close. */
bool parts_open(const carom_mesh_view *view, parts *p);
void parts_close(parts *p);

static inline uint64_t parts_face_count(const parts *p, uint64_t part) {
    return p->begins[part + 1] - p->begins[part];
}

/* A view of one part: its faces in their order, and the vertices that they use, in the order of
 * their use, with their properties. Valid until the next call. O(size of the part). */
void parts_get(parts *p, uint64_t part, carom_mesh_view *view);

/* ---- Pairs of parts -------------------------------------------------------------------------- */

typedef struct part_pair {
    uint32_t a, b;
    uint64_t count;
} part_pair;

/* A table of counts. Initialise with {0}. */
typedef struct part_pairs {
    part_pair *data; /* a hash table until part_pairs_sort, then the list */
    uint64_t count, size;
    bool no_memory;
} part_pairs;

void part_pairs_add(part_pairs *pairs, uint32_t a, uint32_t b);

/* Makes a list sorted by a, then b. Nothing can be added afterwards. */
void part_pairs_sort(part_pairs *pairs);
void part_pairs_free(part_pairs *pairs);

#endif
