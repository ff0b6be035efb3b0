/* SPDX-License-Identifier: MIT */
/* packing.h: a packing as the lists that it gives, and the proof of what they claim. */
#ifndef CAROM_TESTS_PACKING_H
#define CAROM_TESTS_PACKING_H

#include "tests/support/pack_check.h"
#include "tests/support/test.h"

typedef struct packing_lists {
    carom_packing_info info;
    carom_packing_spheres spheres;
    carom_packing_cells cells;
    uint64_t visits; /* of the work of packing */
} packing_lists;

/* Packs, validates and lists. */
packing_lists packing_make(carom_context *context, const carom_packing_def *def);
void packing_lists_free(packing_lists *lists);

/* Asserts what the lists claim (pack_check.h); `what` names the case. *volume: of the mesh. Returns
 * the triangles of the claim, to be freed. */
carom_triangle *packing_prove(carom_context *context, const carom_packing_def *def,
                              const packing_lists *lists, const char *what, pack_claim *claim,
                              pack_proof *proof, double *volume);

#endif
