/* SPDX-License-Identifier: MIT */
/* solid_query.h: one question about two solids, and what its workers gather. */
#ifndef CAROM_SRC_SOLID_SOLID_QUERY_H
#define CAROM_SRC_SOLID_SOLID_QUERY_H

#include <float.h>

#include "bvh/bvh_ray_cpu.h"
#include "solid/solid.h"
#include "solid/solid_item.h"

/* Two triangles that meet, for queries that want them one by one. */
typedef struct carom_solid_record {
    uint32_t triangle[2]; /* of a, of b */
    carom_solid_crossing ends[2];
} carom_solid_record;

#define CAROM_SOLID_RECORDS 128u
typedef struct carom_solid_records {
    struct carom_solid_records *next; /* older ones */
    uint32_t count;
    carom_solid_record data[CAROM_SOLID_RECORDS];
} carom_solid_records;

struct carom_solid_query;
struct carom_solid_tally;

/* Does something with two triangles whose boxes meet. */
typedef void carom_solid_consider_fn(const struct carom_solid_query *query,
                                     struct carom_solid_tally *tally, const carom_solid_face *a,
                                     const carom_solid_face *b);

typedef struct carom_solid_query {
    carom_context *context;
    const carom_solid *solids[2]; /* a, b */
    carom_soup_placing placing;
    int exponent;      /* everything is measured in units of 2^-exponent: 0 but for extreme sizes */
    double power;      /* 2^exponent */
    carom_vec3 origin; /* of all terms, in these units */
    bool wide;        /* coordinates lie too far apart for doubles to hold terms: solid_precise.c */
    double reach;     /* no point of either solid is farther from it along an axis */
    double room;      /* nor is any point of the overlap farther from it than this */
    double overlap;   /* half the longest side of what the boxes of both have in common */
    bool refined;     /* to the box of the crossings that a first search found */
    double long_edge; /* from which extent on edges are cut in twice the precision */
    double large[2];  /* from which extent on triangles of a solid are large (solid_pair.c) */
    double rounded[2]; /* by how much at most the pose rounds a solid's corners along each axis, in
                          units of CAROM_SOLID_TERM_ERROR */
    double bounds[CAROM_SOLID_TERMS]; /* of terms, and the scales of their sums for these bounds */
    int scales[CAROM_SOLID_TERMS];
    int error_scales[2];   /* of errors of volumes and of areas, which are below 2^62 of these */
    double error_units[2]; /* 1 / 2^error_scales */
    /* Of each solid: NULL, or for each vertex by how much the other's winding number is larger
     * there than at the vertex before it. Then the triangles are added one by one. */
    _Atomic int32_t *changes[2];
    int moved_sign; /* 1: b is moved by (e, e^2, e^3) where contact is degenerate; -1: the other way
                     */
    bool record;    /* keep all that meet in the tally's records; on one thread */
    carom_solid_consider_fn *consider; /* carom_solid_consider */
} carom_solid_query;

/* Sums in fixed point: any order gives the same bits. */
typedef struct carom_solid_tally {
    carom_sum terms[CAROM_SOLID_TERMS], errors[2];
    carom_vec3 low, high;           /* of all crossings; low > high when there are none */
    carom_solid_moments moments[2]; /* of what of either surface is inside the other as a whole */
    bool moved[2];                  /* something was added to them */
    uint64_t pairs, candidates, undecided, visits;
    uint64_t added;      /* terms of each kind, or fewer: as many roundings to fixed point */
    bool any_volume;     /* some term of the volume was not 0 */
    carom_sum swept[2];  /* areas of all ranges that went into the moments, where some may
                            count less than 0 times; in the sums' fixed point */
    double span;         /* how far points of terms reach from the origin, at most */
    bool too_large;      /* a term was beyond its bound: sums may have overflowed */
    bool one_sided;      /* faces share an area */
    bool crossing;       /* faces cross inside both, as they are: */
    uint32_t crossed[2]; /* these, of a and of b */
    uint64_t copies[2];  /* pairs of the same corners, facing the same way; the opposite */
    carom_solid_records *records; /* newest first, in scratch of worker 0 */
    bool no_memory;               /* for records */
} carom_solid_tally;

/* A sum as a number, and three of them as a vector. */
static inline double carom_solid_sum_of(const carom_solid_query *query, const carom_sum *terms,
                                        unsigned i) {
    return carom_sum_value(terms[i], query->scales[i]);
}

static inline carom_vec3 carom_solid_vector_of(const carom_solid_query *query,
                                               const carom_sum *terms, unsigned i) {
    return carom_vec(carom_solid_sum_of(query, terms, i), carom_solid_sum_of(query, terms, i + 1),
                     carom_solid_sum_of(query, terms, i + 2));
}

/* Errors are sums of fixed point, too, but all positive and rounded up. Adds one of terms[], of
 * volumes (0) or of areas (1); false when it is beyond its bound. */
static inline bool carom_solid_add_error(const carom_solid_query *query, carom_sum *sum,
                                         const double terms[CAROM_SOLID_SLOTS], unsigned i) {
    double error = terms[CAROM_SOLID_VOLUME_ERROR + i] * query->error_units[i];
    if (error == 0.0) return true;
    if (!(error < 0x1p62)) return false;
    uint64_t units = (uint64_t)error + 1u;
    sum->low += units;
    sum->high += sum->low < units ? 1u : 0u;
    return true;
}

static inline double carom_solid_error_of(const carom_solid_query *query, const carom_sum *errors,
                                          unsigned i) {
    return CAROM_SOLID_TERM_ERROR * carom_sum_value(errors[i], query->error_scales[i]);
}

/* A length, an area or a volume (power 1, 2, 3) from the query's units to the caller's, at most the
 * largest finite double; a vector of them, without -0. */
static inline double carom_solid_unscale(const carom_solid_query *query, double x, int power) {
    if (query->exponent == 0) return x;
    x = carom_scale_apply(x, -power * query->exponent);
    return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x;
}

/* The error of a value whose magnitude is `size`, rounded up: infinite where the value is too large
 * for a double. */
static inline double carom_solid_unscale_error(const carom_solid_query *query, double error,
                                               double size, int power) {
    if (query->exponent == 0) return error;
    double least = error > 0.0 ? 0x1p-1073 : 0.0; /* what scaling may round off, twice */
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
    return of_b ? &query->placing.b : &query->placing.a;
}

static inline carom_vec3 carom_solid_vertex(const carom_solid_query *query, int of_b,
                                            uint32_t vertex) {
    const carom_soup_side *side = carom_solid_side(query, of_b);
    carom_vec3 x = carom_frame_apply(&side->frame, carom_soup_position(side->soup, vertex));
    return carom_vec_scale(x, query->power);
}

static inline void carom_solid_pose(const carom_solid_query *query, int of_b, uint32_t triangle,
                                    carom_solid_face *face) {
    const uint32_t *corners = query->solids[of_b]->soup->corners + 3 * (uint64_t)triangle;
    for (int i = 0; i < 3; ++i) {
        face->v[i] = corners[i];
        face->p[i] = carom_solid_vertex(query, of_b, corners[i]);
    }
    face->number = triangle;
    face->represents = query->solids[of_b]->represents[triangle];
}

static inline void carom_solid_tally_begin(carom_solid_tally *tally) {
    memset(tally, 0, sizeof(*tally));
    tally->low = carom_vec(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    tally->high = carom_vec(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
}

static inline void carom_solid_tally_hold(carom_solid_tally *tally, carom_vec3 low,
                                          carom_vec3 high) {
    tally->low = carom_vec(CAROM_MIN(low.x, tally->low.x), CAROM_MIN(low.y, tally->low.y),
                           CAROM_MIN(low.z, tally->low.z));
    tally->high = carom_vec(CAROM_MAX(high.x, tally->high.x), CAROM_MAX(high.y, tally->high.y),
                            CAROM_MAX(high.z, tally->high.z));
}

/* Adds what two triangles give (solid_pair.c). */
carom_solid_consider_fn carom_solid_consider;

/* Adds `weight` times all that hangs on a vertex, itself included. */
void carom_solid_add_descendants(const carom_solid_query *query, carom_solid_tally *tally, int of_b,
                                 uint32_t vertex, int weight);

/* Makes changes into winding numbers. */
void carom_solid_sum_changes(const carom_solid_query *query, int of_b);

/* Adds the triangles of a solid whose changes have been made into winding numbers. */
void carom_solid_add_changed(const carom_solid_query *query, carom_solid_tally *tally, int of_b);

/* Considers all triangles whose boxes meet, on all threads (solid_search.c). */
carom_status carom_solid_search(const carom_solid_query *query, carom_solid_tally *tally);

/* Checks poses and makes the query ready. */
carom_status carom_solid_query_begin(carom_context *context, const carom_solid *a,
                                     const carom_pose *pose_a, const carom_solid *b,
                                     const carom_pose *pose_b, carom_solid_query *query);

/* Takes the box of the crossings found, much smaller than that in common, for another search;
 * false when it is not. */
bool carom_solid_query_refine(carom_solid_query *query, const carom_solid_tally *tally);

/* Fixes the scales of the sums for terms whose points are no farther than `near` from the origin.
 */
void carom_solid_query_scale(carom_solid_query *query, double near);

/* Makes room for a solid's changes, in scratch of worker 0 that the caller rewinds. */
carom_status carom_solid_query_keep_changes(carom_solid_query *query, int of_b);

/* How often one solid winds around a vertex of the other, of b or not, b moved (solid_winding.c).
 */
int carom_solid_winding(const carom_solid_query *query, int of_b, uint32_t vertex);

/* A ray as the tree of a solid sees it. It starts within `off` of `from` along each axis; both and
 * `way` are in the query's units. */
carom_bvh_ray carom_solid_ray_to_tree(const carom_solid_query *query, int of_b, carom_vec3 from,
                                      carom_vec3 way, double off);

#endif
