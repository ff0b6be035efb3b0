/* SPDX-License-Identifier: MIT */
/* both.h: the same soup in contexts of both backends, and the seeded soups that tests of queries on
 * a GPU compare with the CPU's. */
#ifndef CAROM_TESTS_BOTH_H
#define CAROM_TESTS_BOTH_H

#include "carom/cuda.h"
#include "tests/support/lattice.h"

typedef struct both {
    carom_context *cpu_context, *cuda_context;
    carom_soup *cpu, *cuda;
    uint64_t vertices;
} both;

both both_create(carom_context *cpu, carom_context *cuda, const carom_soup_def *def);
void both_destroy(both *b);

/* Moves the vertices of a lattice soup and removes one of its faces, in both. */
void both_change(both *b, carom_random *random, lattice_soup *soup);

/* Scales of the i-th case: every third one is not 1. */
double both_scale(int i);

/* The i-th lattice soup of a sequence: of floats and doubles, of all scales, moved off the lattice,
 * with faces without area left out or as segments. `def` refers to the struct. */
typedef struct both_lattice {
    lattice_soup soup;
    carom_mesh_view view;
    carom_soup_def def;
    double by, scale; /* (x + by) * scale */
} both_lattice;
void both_lattice_make(carom_random *random, int i, both_lattice *lattice);

/* Up to a thousand loose triangles of very different sizes, some of them needles. The view is valid
 * until the next call. */
carom_mesh_view both_uneven(carom_random *random);

/* Two cloths of the same faces, with their positions on the device. */
typedef struct both_cloths {
    carom_mesh *meshes[2];
    carom_mesh_view views[2];
    carom_cuda_positions positions[2];
    void *data[2]; /* of these */
} both_cloths;
void both_cloths_make(carom_context *cpu, carom_context *cuda, both_cloths *cloths);
void both_cloths_free(carom_context *cuda, both_cloths *cloths);

#endif
