/* SPDX-License-Identifier: MIT */
/* kfree_remesh.h: lower k and height by other edges, within a tolerance. */
#ifndef CAROM_CLI_KFREE_REMESH_H
#define CAROM_CLI_KFREE_REMESH_H

#include "cli/kfree_surface.h"

typedef struct kfree_remesh_def {
    double tolerance; /* most that any point of the surface may have moved in all rounds */
    uint64_t dense;   /* faces that count so many others or more are changed */
    double least;     /* diameter that no new face falls below */
} kfree_remesh_def;

/* One round: collapses edges of dense faces and of the smallest ones, and flips edges of dense
 * faces. `counts` has the number of each face, `moved` how far points on it have moved since the
 * first round; both are of the faces before, `moved` also of those after. False: no memory, and
 * the surface is as it was. */
bool kfree_remesh_round(surface *s, double *moved, const carom_numbers *counts,
                        const kfree_remesh_def *def, uint64_t *changed);

#endif
