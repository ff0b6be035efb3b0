/* SPDX-License-Identifier: MIT */
/* solid_witness.h: winding numbers on both sides of sample points that reach every cell of
 * space. */
#ifndef CAROM_SRC_SOLID_SOLID_WITNESS_H
#define CAROM_SRC_SOLID_SOLID_WITNESS_H

#include "solid/solid_query.h"

/* A triangle of a query: its index, plus 2^32 when it is one of b's. */
typedef uint64_t carom_solid_key;

static inline carom_solid_key carom_solid_key_make(int of_b, uint32_t triangle) {
    return (uint64_t)of_b << 32 | triangle;
}

/* Two triangles with area that share a segment or more: the triangle `of` and the one that meets
 * it, `with`. With CAROM_SOLID_KNOWN, `of` need not be sampled. */
typedef struct carom_solid_contact {
    carom_solid_key of, with;
} carom_solid_contact;
#define CAROM_SOLID_KNOWN UINT64_MAX

/* Receives the winding numbers of a and b on both sides of a point of a triangle: [0] on the side
 * of its normal, [1] on the other. Returning false stops the sampling. */
typedef bool carom_solid_witness_fn(void *user, carom_solid_key triangle, const int a[2],
                                    const int b[2]);

/* Returns whether a triangle with contacts is to be sampled. */
typedef bool carom_solid_wanted_fn(const void *user, carom_solid_key triangle);

typedef struct carom_solid_witness {
    const carom_solid_query *query;
    bool plain[2]; /* per solid: winding numbers beside its own faces are 0 and 1, as
                      carom_solid.plain */
    carom_solid_wanted_fn *wanted; /* NULL: all */
    bool alone;                    /* only a's winding numbers; b's are given as 0 */
    carom_solid_witness_fn *fn;
    void *user;
    bool stopped;
} carom_solid_witness;

/* Samples beside the first corner of a triangle with area. */
void carom_solid_witness_corner(carom_solid_witness *witness, carom_solid_key triangle);

/* Samples beside the segment that two triangles share. */
void carom_solid_witness_pair(carom_solid_witness *witness, carom_solid_key a, carom_solid_key b);

/* Samples both sides of every part into which the triangles with contacts are cut. Contacts are
 * sorted by carom_solid_contacts_sort. */
void carom_solid_witness_contacts(carom_solid_witness *witness, const carom_solid_contact *contacts,
                                  uint64_t count);

void carom_solid_contacts_sort(carom_solid_contact *contacts, uint64_t count);

/* The intersection of two triangles of a query, without perturbation. */
typedef struct carom_solid_touch {
    int dimension; /* -1: they do not intersect, or one has no area */
    bool same;     /* dimension 2: all corners are the same */
    bool opposite; /* dimension 2: normals are opposite */
} carom_solid_touch;
carom_solid_touch carom_solid_touch_of(const carom_solid_query *query, carom_solid_key a,
                                       carom_solid_key b);

#endif
