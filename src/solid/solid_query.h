/* SPDX-License-Identifier: MIT */
/* solid_query.h: a query on two solids, and the sums that its workers accumulate. */
#ifndef CAROM_SRC_SOLID_SOLID_QUERY_H
#define CAROM_SRC_SOLID_SOLID_QUERY_H

#include <float.h>

#include "bvh/bvh_ray_cpu.h"
#include "geom/length.h"
#include "solid/solid.h"
#include "solid/solid_pair_item.h"

/* Two triangles that intersect, for queries that need each pair. */
typedef struct carom_solid_record {
    uint32_t triangle[2]; /* of a, of b */
    carom_solid_crossing ends[2];
} carom_solid_record;

/* Range of the reach of terms, in the unit of the query: finite, and products of four are not
 * subnormal. */
#define CAROM_SOLID_MOST_REACH  0x1p1000
#define CAROM_SOLID_LEAST_REACH 0x1p-100

/* Triangles or pairs between two looks at the clock: far more work than a look. */
#define CAROM_SOLID_PER_LOOK 4096

#define CAROM_SOLID_RECORDS 128u /* per block of a list */
typedef struct carom_solid_records {
    struct carom_solid_records *next; /* older records */
    uint32_t count;
    carom_solid_record data[CAROM_SOLID_RECORDS];
} carom_solid_records;

/* The change of the other solid's winding number from a vertex on down the spanning tree. */
typedef struct carom_solid_change {
    uint32_t vertex;
    int32_t change;
    int of_b;
} carom_solid_change;

typedef struct carom_solid_changes {
    struct carom_solid_changes *next; /* older changes */
    uint32_t count;
    carom_solid_change data[CAROM_SOLID_RECORDS];
} carom_solid_changes;

struct carom_solid_query;
struct carom_solid_accumulator;

/* Processes two triangles whose boxes overlap. */
typedef void carom_solid_consider_fn(const struct carom_solid_query *query,
                                     struct carom_solid_accumulator *acc, const carom_solid_face *a,
                                     const carom_solid_face *b);

typedef struct carom_solid_query {
    carom_context *context;
    const carom_solid *solids[2]; /* a, b */
    carom_soup_posed_pair posed;
    int exponent;      /* the unit of all quantities is 2^-exponent: 0 but for extreme sizes */
    double power;      /* 2^exponent */
    carom_vec3 origin; /* of all terms, in these units */
    bool wide;         /* sizes of coordinates differ too much for doubles: solid_precise.c */
    double reach;     /* upper bound of the distance of both solids from the origin along an axis */
    double space;     /* upper bound of the distance of the overlap from the origin */
    double overlap;   /* half the longest side of the intersection of both boxes */
    bool refined;     /* the frame is that of the crossings found by a first search */
    double long_edge; /* edges with a larger extent are evaluated in double-double */
    double large[2];  /* triangles with a larger extent are large (solid_pair.c) */
    double rounded[2]; /* upper bound of the rounding of a solid's posed corners along each axis, in
                          units of CAROM_SOLID_TERM_ERROR */
    double bounds[CAROM_SOLID_TERMS]; /* upper bounds of terms, and the scales of their sums for
                                         these bounds */
    int scales[CAROM_SOLID_TERMS];
    int error_scales[2];   /* of errors of volumes and of areas, which are below 2^62 of these */
    double error_units[2]; /* 1 / 2^error_scales */
    /* Per solid: NULL, or for each vertex the other solid's winding number there minus that at the
     * vertex before it. If not NULL, the triangles are added one by one. */
    _Atomic int32_t *changes[2];
    int moved_sign; /* 1: b is perturbed by (e, e^2, e^3) in degenerate contact; -1: by -(e, e^2,
                       e^3) */
    /* Keep all intersecting pairs in the accumulator's records, without their terms: on one thread
     * where there are changes per vertex, else on all, and keep changes in a list, too. */
    bool record;
    carom_solid_consider_fn *consider;     /* carom_solid_consider */
    struct carom_solid_accumulator *ready; /* NULL, or the answer to the first search, on the GPU */
} carom_solid_query;

/* Sums in fixed point: any order of addition gives the same bits. */
typedef struct carom_solid_accumulator {
    carom_sum terms[CAROM_SOLID_TERMS], errors[2];
    carom_vec3 low, high;           /* bounds of all crossings; low > high when there are none */
    carom_solid_moments moments[2]; /* of the parts of each surface that are wholly inside the
                                       other */
    bool moved[2];                  /* something was added to the moments */
    uint64_t pairs, candidates, undecided, visits;
    uint64_t added;      /* upper bound of the number of terms of each kind, and of roundings to
                            fixed point */
    bool any_volume;     /* some term of the volume was nonzero */
    carom_sum swept[2];  /* areas of all ranges added to the moments, where some may have a negative
                            weight; in the sums' fixed point */
    bool one_by_one[2];  /* on the GPU: triangles that are added one by one are in the sums */
    double span;         /* upper bound of the distance of terms' points from the origin */
    bool too_large;      /* a term exceeded its bound: sums may have overflowed */
    bool one_sided;      /* faces share an area */
    bool crossing;       /* faces cross in the interior of both, without perturbation: */
    bool plain_crossing; /* some such pair are plain faces */
    uint64_t crossed[2]; /* the last such pair, a in the upper half, and the first, inverted: maxima
                            both, so that they do not depend on the order of the search */
    uint64_t copies[2];  /* pairs of faces with the same corners: with the same, with opposite
                            orientation */
    carom_arena *scratch;         /* of the worker, for the lists; NULL where there are none */
    carom_solid_records *records; /* newest first */
    carom_solid_changes *changes; /* newest first */
    bool no_memory;               /* out of memory for records or changes */
} carom_solid_accumulator;

/* A sum as a double, and three of them as a vector. */
static inline double carom_solid_sum_of(const carom_solid_query *query, const carom_sum *terms,
                                        unsigned i) {
    return carom_sum_value(terms[i], query->scales[i]);
}

static inline carom_vec3 carom_solid_vector_of(const carom_solid_query *query,
                                               const carom_sum *terms, unsigned i) {
    return carom_vec(carom_solid_sum_of(query, terms, i), carom_solid_sum_of(query, terms, i + 1),
                     carom_solid_sum_of(query, terms, i + 2));
}

/* Adds the error in terms[] of volumes (0) or of areas (1); false when it exceeds its bound. */
static inline bool carom_solid_add_error(const carom_solid_query *query, carom_sum *sum,
                                         const double terms[CAROM_SOLID_SLOTS], unsigned i) {
    uint64_t units;
    if (!carom_solid_error_units(terms[CAROM_SOLID_VOLUME_ERROR + i] * query->error_units[i],
                                 &units))
        return false;
    sum->low += units;
    sum->high += sum->low < units ? 1u : 0u;
    return true;
}

static inline double carom_solid_error_of(const carom_solid_query *query, const carom_sum *errors,
                                          unsigned i) {
    return CAROM_SOLID_TERM_ERROR * carom_sum_value(errors[i], query->error_scales[i]);
}

/* Converts a length, an area or a volume (power 1, 2, 3) from the query's units to the caller's, at
 * most the largest finite double; below, a vector of them, without -0. */
static inline double carom_solid_unscale(const carom_solid_query *query, double x, int power) {
    if (query->exponent == 0) return x;
    x = carom_scale_apply(x, -power * query->exponent);
    return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x;
}

/* Two units in the last place of a subnormal: what scaling, in two steps, may lose. */
#define CAROM_SOLID_LEAST_ERROR 0x1p-1073

/* The error of a value whose magnitude is `size`, rounded up: infinite where the value is too large
 * for a double. */
static inline double carom_solid_unscale_error(const carom_solid_query *query, double error,
                                               double size, int power) {
    if (query->exponent == 0) return error;
    double least = error > 0.0 ? CAROM_SOLID_LEAST_ERROR : 0.0;
    if (carom_scale_apply(size, -power * query->exponent) > DBL_MAX) return HUGE_VAL;
    return carom_scale_apply(error, -power * query->exponent) + least;
}

static inline carom_vec3 carom_solid_unscale_vector(const carom_solid_query *query, carom_vec3 v,
                                                    int power) {
    return carom_vec(carom_solid_unscale(query, v.x, power) + 0.0,
                     carom_solid_unscale(query, v.y, power) + 0.0,
                     carom_solid_unscale(query, v.z, power) + 0.0);
}

static inline const carom_soup_side *carom_solid_side(const carom_solid_query *query, int of_b) {
    return of_b ? &query->posed.b : &query->posed.a;
}

static inline carom_vec3 carom_solid_vertex(const carom_solid_query *query, int of_b,
                                            uint32_t vertex) {
    const carom_soup_side *side = carom_solid_side(query, of_b);
    carom_vec3 x = carom_frame_apply(&side->frame, carom_soup_view_position(&side->view, vertex));
    return carom_vec_scale(x, query->power);
}

static inline void carom_solid_pose(const carom_solid_query *query, int of_b, uint32_t triangle,
                                    carom_solid_face *face) {
    const uint32_t *corners = query->solids[of_b]->view.corners + 3 * (uint64_t)triangle;
    for (int i = 0; i < 3; ++i) {
        face->v[i] = corners[i];
        face->p[i] = carom_solid_vertex(query, of_b, corners[i]);
    }
    face->index = triangle;
    face->represents = query->solids[of_b]->represents[triangle];
}

/* What the items of solid_pair_item.h need of the query. */
static inline carom_solid_params carom_solid_params_of(const carom_solid_query *query) {
    return (carom_solid_params){.origin = query->origin,
                                .long_edge = query->long_edge,
                                .moved_sign = query->moved_sign,
                                .large = {query->large[0], query->large[1]},
                                .rounded = {query->rounded[0], query->rounded[1]},
                                .summed = {query->changes[0] == NULL, query->changes[1] == NULL}};
}

static inline void carom_solid_accumulator_begin(carom_solid_accumulator *acc) {
    memset(acc, 0, sizeof(*acc));
    acc->low = carom_vec(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    acc->high = carom_vec(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
}

static inline void carom_solid_accumulator_hold(carom_solid_accumulator *acc, carom_vec3 low,
                                                carom_vec3 high) {
    acc->low = carom_vec(CAROM_MIN(low.x, acc->low.x), CAROM_MIN(low.y, acc->low.y),
                         CAROM_MIN(low.z, acc->low.z));
    acc->high = carom_vec(CAROM_MAX(high.x, acc->high.x), CAROM_MAX(high.y, acc->high.y),
                          CAROM_MAX(high.z, acc->high.z));
}

/* Half the size of a posed solid, a power of two. */
static inline double carom_solid_radius(const carom_solid_query *query, int of_b) {
    return carom_scale_apply(query->power, -carom_solid_side(query, of_b)->exponent);
}

/* A new record of the accumulator's list; NULL where there is no memory, which is noted. */
carom_solid_record *carom_solid_new_record(carom_solid_accumulator *acc);

/* Adds a change to the accumulator's list. */
void carom_solid_keep_change(carom_solid_accumulator *acc, int of_b, uint32_t vertex, int change);

/* Adds the terms of two triangles (solid_pair.c). */
carom_solid_consider_fn carom_solid_consider;

/* Adds terms to the sums. */
void carom_solid_add_terms(const carom_solid_query *query, carom_solid_accumulator *acc,
                           const double terms[CAROM_SOLID_SLOTS]);

/* Adds the exact intersection of two faces in degenerate position, without perturbation. */
void carom_solid_relate(carom_solid_accumulator *acc, const carom_solid_face *a,
                        const carom_solid_face *b);

/* Adds `weight` times the triangles of a vertex and of all its descendants. */
void carom_solid_add_descendants(const carom_solid_query *query, carom_solid_accumulator *acc,
                                 int of_b, uint32_t vertex, int weight);

/* Sums changes into winding numbers. */
void carom_solid_sum_changes(const carom_solid_query *query, int of_b);

/* Adds the triangles of a solid whose changes have been summed into winding numbers. */
void carom_solid_add_changed(const carom_solid_query *query, carom_solid_accumulator *acc,
                             int of_b);

/* Calls `consider` for all pairs of triangles whose boxes overlap, on all threads
 * (solid_search.c). */
carom_status carom_solid_search(carom_solid_query *query, carom_solid_accumulator *acc);

/* The same; then adds the descendants of each root with its winding number. */
carom_status carom_solid_search_and_cast(carom_solid_query *query, carom_solid_accumulator *acc);

/* Whether the GPU can search for a query, and the searches of many. Extreme poses and records of
 * pairs are left to the CPU. */
bool carom_solid_device_can(const carom_solid_query *query);
carom_status carom_solid_device_search(carom_context *context,
                                       const carom_solid_query *const *queries, uint32_t count,
                                       carom_solid_accumulator *const *accs);

/* Checks the poses and initialises the query. */
carom_status carom_solid_query_begin(carom_context *context, const carom_solid *a,
                                     const carom_pose *pose_a, const carom_solid *b,
                                     const carom_pose *pose_b, carom_solid_query *query);

/* Sets the frame for another search to the box of the crossings found, if that is much smaller than
 * the intersection of both boxes; false if not. */
bool carom_solid_query_refine(carom_solid_query *query, const carom_solid_accumulator *acc);

/* Sets the scales of the sums for terms whose points are no farther than `near` from the origin. */
void carom_solid_query_scale(carom_solid_query *query, double near);

/* Allocates a solid's changes, in scratch of worker 0 that the caller rewinds. */
carom_status carom_solid_query_keep_changes(carom_solid_query *query, int of_b);

/* The winding number of the other solid around a vertex, of b or of a, with b perturbed
 * (solid_winding.c). */
int carom_solid_winding(const carom_solid_query *query, int of_b, uint32_t vertex);

/* A ray in the coordinates of a solid's tree. It starts within `off` of `from` along each axis and
 * goes along `direction`; all three are in the query's units. */
carom_bvh_ray carom_solid_ray_to_tree(const carom_solid_query *query, int of_b, carom_vec3 from,
                                      carom_vec3 direction, double off);

#endif
