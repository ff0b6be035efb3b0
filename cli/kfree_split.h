/* SPDX-License-Identifier: MIT */
/* kfree_split.h: a mesh with the same surface and a lower k. */
#ifndef CAROM_CLI_KFREE_SPLIT_H
#define CAROM_CLI_KFREE_SPLIT_H

#include "carom/carom.h"

typedef struct kfree_split_def {
    uint64_t k;       /* to reach */
    double growth;    /* most faces of the result, as a multiple of those of the mesh */
    bool remesh;      /* first collapse and flip edges (kfree_remesh.h) */
    double tolerance; /* most that the surface may move by that */
} kfree_split_def;

/* Of triangles. Splits those that count the most others, and k or more, at the middle of their
 * longest edges, until the mesh is k-free or has grown too much. *made is the mesh of lowest k on
 * the way, which may be the first: triangles, in doubles. On failure it is NULL. *moved is a bound
 * of the distance between both surfaces, but for rounding. No more pairs of faces meet than
 * before. */
carom_status kfree_split(carom_context *context, const carom_mesh_view *mesh,
                         const kfree_split_def *def, carom_mesh **made, double *moved);

#endif
