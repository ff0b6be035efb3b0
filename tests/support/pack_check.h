/* SPDX-License-Identifier: MIT */
/* pack_check.h: proves what a packing claims, from its spheres, its cells and the mesh alone.
 *
 * It shares nothing with src/pack. Decisions are made in long doubles with a margin; what these
 * leave open is decided in exact arithmetic (exact_number.h). Winding numbers are counted along a
 * ray, or where that touches an edge, by solid angles, which are certain as the point is far from
 * all faces. */
#ifndef CAROM_TESTS_PACK_CHECK_H
#define CAROM_TESTS_PACK_CHECK_H

#include "carom/carom.h"

typedef struct pack_claim {
    const carom_packing_sphere *spheres;
    uint64_t sphere_count;
    const carom_packing_cell *cells; /* NULL: none */
    uint64_t cell_count;
    const carom_triangle *triangles; /* closed, outside out */
    uint64_t triangle_count;
    bool shares;  /* secondary, cover and void_volume are there */
    bool crosses; /* triangles cross each other: only the sum of the shares is known */
} pack_claim;

typedef struct pack_proof {
    char message[256];  /* the first claim that does not hold; empty: all hold */
    uint64_t exact;     /* decisions that needed exact arithmetic */
    double ball_volume; /* of all spheres */
    double secondary_volume;
    double mean_cover;   /* of cover / radius */
    double void_volume;  /* sum */
    bool recomputed;     /* shares and voids, each from its cells: not where faces cross or shells
                            of one direction are nested */
    double empty_volume; /* sum of the voids recomputed */
} pack_proof;

/* Checks that radii descend, that no two balls overlap, that none meets a face, that all are where
 * the winding number is 1 or more; that cells do not overlap, that what no cell contains is
 * outside, that each cell lies in the cover of its sphere; that shares recomputed from their cells
 * have the volumes stated and voids not larger than stated. False: the message says what does not
 * hold. */
bool pack_check(const pack_claim *claim, pack_proof *proof);

/* The same for a cover from outside: checks the cells alone, each in its sphere with the radius
 * less the margin. */
typedef struct pack_cover_claim {
    const carom_ball *spheres;
    uint64_t sphere_count;
    double margin;
    const carom_packing_cell *cells;
    uint64_t cell_count;
    const carom_triangle *triangles; /* closed, outside out */
    uint64_t triangle_count;
} pack_cover_claim;
bool pack_check_cover(const pack_cover_claim *claim, pack_proof *proof);

/* The largest distance from the solid that a point of a sphere has, and the mean over the surface
 * of the union, by `tries` random points of each sphere and by trying all triangles. */
typedef struct pack_sampled {
    double worst, mean;
} pack_sampled;
pack_sampled pack_sample_outside(const pack_cover_claim *claim, uint64_t seed, int tries);

/* The volume of the part of a ball that is in a box, right to some 1e-7 of the ball's. */
double pack_ball_in_box(const carom_ball *ball, const carom_bounds *box);

/* The largest radius of a ball between the spheres that `tries` random starts and a climb by random
 * steps find: no more than the packing may admit. */
double pack_search_empty(const pack_claim *claim, uint64_t seed, int tries);

/* Whether faces of a mesh meet that have no vertex in common. */
bool pack_crosses(carom_context *context, const carom_mesh_view *view);

/* The triangles of a mesh, welded and split; free with free(). Reversed where that is needed to
 * enclose a positive volume. */
carom_triangle *pack_triangles(carom_context *context, const carom_mesh_view *view, uint64_t *count,
                               double *volume);

/* The cells of a file that `carom pack --cells` wrote; NULL: it cannot be read. Free with free().
 */
carom_packing_cell *pack_read_cells(const char *path, uint64_t *count);

#endif
