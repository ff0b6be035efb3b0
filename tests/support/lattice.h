/* SPDX-License-Identifier: MIT */
/* lattice.h: seeded soups of small integers, where everything touches, overlaps and degenerates. */
#ifndef CAROM_TESTS_LATTICE_H
#define CAROM_TESTS_LATTICE_H

#include "carom/carom.h"

#define LATTICE_FACES   40
#define LATTICE_CORNERS 400

typedef enum lattice_kind {
    LATTICE_LOOSE,    /* every corner a vertex of its own */
    LATTICE_SHARED,   /* corners from a few vertices, some at the same point */
    LATTICE_WELDED,   /* one vertex per point */
    LATTICE_COPIES,   /* faces that come back, turned, reversed or moved by one */
    LATTICE_FLAT,     /* all in one plane */
    LATTICE_POLYGONS, /* any corners: neither flat nor simple */
    LATTICE_STARS,    /* flat, simple, mostly not convex */
    LATTICE_KINDS
} lattice_kind;

typedef struct lattice_soup {
    lattice_kind kind;
    uint32_t faces, vertices;
    bool polygons;
    uint32_t corners[LATTICE_CORNERS];
    uint64_t offsets[LATTICE_FACES + 1];
    double xyz[LATTICE_CORNERS][3];
    float floats[LATTICE_CORNERS][3]; /* filled by lattice_view_floats */
} lattice_soup;

/* A soup of 2 to LATTICE_FACES faces (few more often than many). */
void lattice_make(carom_random *random, lattice_soup *soup);

/* Other positions for the same vertices. */
void lattice_shake(carom_random *random, lattice_soup *soup);

/* (x + by) * scale for all coordinates. */
void lattice_move(lattice_soup *soup, double by, double scale);

carom_mesh_view lattice_view(const lattice_soup *soup);
/* The same as float32, which must hold the coordinates. */
carom_mesh_view lattice_view_floats(lattice_soup *soup);

/* The same soup elsewhere and in other sizes: none of this changes what meets. */
typedef struct lattice_guise {
    double by, scale; /* (x + by) * scale */
    bool floats;
} lattice_guise;
/* One guise after the other, by number: *moved is the soup in it, *view its view. */
const lattice_guise *lattice_disguise(const lattice_soup *soup, uint32_t number,
                                      lattice_soup *moved, carom_mesh_view *view);

#endif
