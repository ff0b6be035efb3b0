/* SPDX-License-Identifier: MIT */
/* tree_cpu.h: searches of two trees, one version per instruction set. */
#ifndef CAROM_SRC_TREE_TREE_CPU_H
#define CAROM_SRC_TREE_TREE_CPU_H

#include "geom/distance_item.h"
#include "pack/pack_batch_cpu.h"
#include "tree/tree.h"

/* The spheres of a leaf in their place, in doubles. */
typedef struct carom_tree_posed {
    uint32_t leaf; /* CAROM_TREE_NONE: none yet */
    double x[CAROM_TREE_WIDTH], y[CAROM_TREE_WIDTH], z[CAROM_TREE_WIDTH];
    double secondary[CAROM_TREE_WIDTH], radius[CAROM_TREE_WIDTH], cover[CAROM_TREE_WIDTH];
} carom_tree_posed;

/* Posed leaves that are kept of the guest, whose leaves meet several of the host's one after the
 * other: 50 kB, in the cache of the second level. */
#define CAROM_TREE_POSED 64u

/* What a search learns of the spheres of a leaf, a bit per lane. All zero at first. */
typedef struct carom_tree_marks {
    uint16_t flagged; /* its cover meets one of the other's */
    uint16_t inside;  /* its cover lies in the ball of some sphere of the other with its depth */
    uint16_t marked;  /* its cover may meet one of the other's that is not in its own such ball */
    uint16_t summed;  /* not 0: its sums are not stale */

} carom_tree_marks;

/* The cosine, of the directions of two spheres from each other and out of their solids, from which
 * on a pair counts fully. */
#define CAROM_TREE_FLIP_FULL 0.25

/* The weight of a pair of spheres whose centres are `apart`, from a to b. `way` is the direction
 * out of a at a's sphere, less that out of b at b's: b leaves a that way. The weight is -1 where
 * the centres would push the other way, and rises smoothly to 1 between; 1 where nothing is known.
 */
static inline double carom_tree_flip_weight(carom_vec3 apart, carom_vec3 way) {
    double length = carom_vec_length(apart);
    if (!(carom_vec_dot(way, way) > 0.0)) return 1.0;
    if (!(length > 0.0)) return 0.0;
    double c = 0.5 * carom_vec_dot(apart, way) / length / CAROM_TREE_FLIP_FULL;
    c = c < -1.0 ? -1.0 : c > 1.0 ? 1.0 : c;
    return 0.5 * c * (3.0 - c * c);
}

/* One of the two trees of a search. */
typedef struct carom_tree_side {
    const carom_tree *tree;
    const carom_pack_place *place;
    carom_tree_marks *marks; /* of each leaf */
    uint16_t *inner;         /* of each leaf, with `slots`: spheres whose inner balls overlap one */
    uint64_t *sums;          /* of each slot: the inner lenses of its sphere, in units */
    uint8_t *coarse;         /* of each node: not 0 where a search by levels ended */
    double coarse_volume;    /* of the shares below all these nodes */
    carom_tree_posed posed;  /* the last leaf that was needed in doubles */
    carom_tree_posed *cache; /* more of them: leaf i is at i modulo CAROM_TREE_POSED; NULL: none */
    uint32_t posed_triangle; /* the last triangle that was, CAROM_TREE_NONE: none yet */
    carom_vec3 corners[3];
} carom_tree_side;

/* The search for the nearest triangles of two surfaces. Floats are in the host's frame, less the
 * offset of the search. */
typedef struct carom_tree_near {
    float rotation[9];  /* from the guest's frame to the host's, without the scale */
    float margin;       /* upper bound of the error of distances in floats */
    float tolerance;    /* what is not nearer than the nearest by more than this is left out */
    float widest;       /* it is doubled up to this, */
    uint64_t widen_at;  /* when so many nodes were visited, */
    uint32_t widen_by;  /* and again after so many more */
    float limit;        /* the least distance so far, rounded up */
    float pending;      /* least lower bound of what was left out */
    bool aimed;         /* there is a direction: */
    float toward[3];    /* from host to guest between the nearest points, of length at most 1 */
    carom_closest best; /* in the world; a distance of infinity: none yet */
    uint32_t triangle_a, triangle_b;
} carom_tree_near;

/* Searches work in the frame of the larger tree, the host; the smaller one is the guest. */
typedef struct carom_tree_search {
    carom_tree_side host, guest;
    bool swapped;         /* the host is b */
    bool apart;           /* not even the balls around all covers meet */
    bool bounds;          /* also inner lenses and marks */
    bool narrow;          /* also what is inside, and sums per sphere */
    bool flip;            /* also `flipped` */
    bool slots;           /* keep the slots of pairs, and mark inner balls that overlap */
    carom_sum flipped[3]; /* the directions of all pairs, with their weights */
    /* From the guest's frame to the host's: y' = turn y + move. */
    float turn[9], move[3], scale;
    float margin; /* upper bound of the error of distances in floats */
    double units; /* of `sums` per volume */
    const carom_pack_meeting *meeting;
    carom_pack_batch *batch;
    uint32_t *host_slots, *guest_slots; /* of the pairs of the batch */
    carom_pack_totals totals;
    uint64_t visits, candidates;

    /* Budgets. */
    uint64_t most_visits;   /* UINT64_MAX: any number */
    double deadline;        /* carom_time_seconds; infinite: none */
    bool stopped;           /* one of them has been reached */
    uint32_t levels;        /* of pairs of nodes to open; the rest is taken as a whole */
    bool whole;             /* there was such a rest */
    carom_pack_lenses rest; /* what it adds to the estimate, about */
    double pending;         /* least gap of two covers that were not opened, as a float's */

    /* Of the search for the least gap. Floats are distances less `offset`, in the host's frame. */
    double to_frame; /* lengths of the world to the host's frame */
    bool far;        /* the trees are so far apart that only the direction between them matters */
    double offset;
    float toward[3]; /* far: from host to guest, of length 1 */
    bool any;        /* look for inner balls that overlap, and stop there: */
    bool found;      /* there are some */
    double least;    /* gap of two inner balls */
    uint32_t sphere_a, sphere_b;
    double least_cover;       /* gap of two covers */
    float limit, limit_cover; /* the same as floats in the frame, rounded up */
    carom_tree_near near;
} carom_tree_search;

/* Visits between two looks at the clock: some microseconds. */
#define CAROM_TREE_LOOK 8u

/* Whether a budget is used up. */
static inline bool carom_tree_must_stop(carom_tree_search *s) {
    if (s->visits >= s->most_visits ||
        (s->visits % CAROM_TREE_LOOK == 0 && s->deadline < HUGE_VAL &&
         carom_time_seconds() >= s->deadline))
        s->stopped = true;
    return s->stopped;
}

/* Adds all pairs to the totals and, with `bounds`, sets the marks. */
CAROM_CPU_DECLARE(void, carom_tree_search_overlap, carom_tree_search *search);

/* Finds the least gaps. Stops where inner balls overlap, with `found`. */
CAROM_CPU_DECLARE(void, carom_tree_search_gap, carom_tree_search *search);

/* Finds the nearest triangles of two surfaces, up to the tolerance. Stops where two meet, with
 * `found`. */
CAROM_CPU_DECLARE(void, carom_tree_search_surfaces, carom_tree_search *search);

/* Measures one pair of triangles, of host and guest, before such a search. */
CAROM_CPU_DECLARE(void, carom_tree_search_triangles, carom_tree_search *search, uint32_t host,
                  uint32_t guest);

#endif
