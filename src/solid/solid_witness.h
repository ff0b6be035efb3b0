/* SPDX-License-Identifier: MIT */
/* solid_witness.h: winding numbers on both sides of points that no part of space escapes. */
#ifndef CAROM_SRC_SOLID_SOLID_WITNESS_H
#define CAROM_SRC_SOLID_SOLID_WITNESS_H

#include "solid/solid_query.h"

/* A triangle of a query: its number, and 2^32 more when it is one of b's. */
typedef uint64_t carom_solid_key;

static inline carom_solid_key carom_solid_key_make(int of_b, uint32_t triangle) {
    return (uint64_t)of_b << 32 | triangle;
}

/* Two triangles with area that share a segment or more, as `of` sees it; or it need not be looked
 * at, with CAROM_SOLID_KNOWN. */
typedef struct carom_solid_contact {
    carom_solid_key of, with;
} carom_solid_contact;
#define CAROM_SOLID_KNOWN UINT64_MAX

/* Receives the winding numbers of a and b on both sides of a point of a triangle: [0] on the side
 * of its normal, [1] on the other. False: no more. */
typedef bool carom_solid_witness_fn(void *user, carom_solid_key triangle, const int a[2],
                                    const int b[2]);

/* Says whether a triangle with contacts is to be looked at. */
typedef bool carom_solid_wanted_fn(const void *user, carom_solid_key triangle);

typedef struct carom_solid_witness {
    const carom_solid_query *query;
    bool plain[2]; /* a's, b's windings beside their own faces are 0 and 1, as carom_solid.plain */
    carom_solid_wanted_fn *wanted; /* NULL: all */
    bool alone;                    /* a's winding numbers only; b's are given as 0 */
    carom_solid_witness_fn *fn;
    void *user;
    bool stopped;
} carom_solid_witness;

/* Looks beside the first corner of a triangle with area. */
void carom_solid_witness_corner(carom_solid_witness *witness, carom_solid_key triangle);

/* Looks beside the segment that two triangles share. */
void carom_solid_witness_pair(carom_solid_witness *witness, carom_solid_key a, carom_solid_key b);

/* Looks at both sides of everything that the triangles with contacts are cut into. Contacts are
 * sorted by carom_solid_contacts_sort. */
void carom_solid_witness_contacts(carom_solid_witness *witness, const carom_solid_contact *contacts,
                                  uint64_t count);

void carom_solid_contacts_sort(carom_solid_contact *contacts, uint64_t count);

/* How two triangles of a query meet, as they are. */
typedef struct carom_solid_touch {
    int dimension; /* -1: they do not, or one has no area */
    bool same;     /* dimension 2: all corners are the same */
    bool opposite; /* dimension 2: normals are opposite */
} carom_solid_touch;
carom_solid_touch carom_solid_touch_of(const carom_solid_query *query, carom_solid_key a,
                                       carom_solid_key b);

#endif
