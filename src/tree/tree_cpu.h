/* SPDX-License-Identifier: MIT */
/* tree_cpu.h: searches of two trees, one version per instruction set. */
#ifndef CAROM_SRC_TREE_TREE_CPU_H
#define CAROM_SRC_TREE_TREE_CPU_H

#include "geom/distance_item.h"
#include "spheres/spheres_batch_cpu.h"
#include "tree/tree_frontier.h"
#include "tree/tree_posed_pair.h"

/* The posed spheres of a leaf, in doubles. */
typedef struct carom_tree_posed {
    uint32_t leaf; /* CAROM_TREE_NONE: none yet */
    double x[CAROM_TREE_WIDTH], y[CAROM_TREE_WIDTH], z[CAROM_TREE_WIDTH];
    double secondary[CAROM_TREE_WIDTH], radius[CAROM_TREE_WIDTH], cover[CAROM_TREE_WIDTH];
} carom_tree_posed;

/* Posed leaves that are kept of the moving tree, whose leaves meet several of the fixed tree's one
 * after the other: 50 kB, in the cache of the second level. */
#define CAROM_TREE_POSED 64u

/* What a search learns of the spheres of a leaf, a bit per lane. All zero at first. */
typedef struct carom_tree_marks {
    uint16_t flagged; /* its cover meets one of the other's */
    uint16_t inside;  /* its cover lies in the ball of some sphere of the other with its depth */
    uint16_t marked;  /* its cover may meet one of the other's that is not in its own such ball */
    uint16_t summed;  /* not 0: its sums are not stale */

} carom_tree_marks;

/* The cosine, between the direction of two spheres from each other and out of their solids, from
 * which on a pair counts fully: the weight crosses 0 at right angles, where the direction to the
 * nearest face says least, and has left this range 15 degrees away from them. */
#define CAROM_TREE_FLIP_COSINE 0.25

/* The weight of a pair of spheres whose centres are `apart`, from a to b. `way` is the direction
 * out of a at a's sphere, less that out of b at b's: b leaves a that way. The weight is -1 where
 * the centres would push the other way, and rises smoothly to 1 between; 1 where nothing is known.
 */
static inline double carom_tree_flip_weight(carom_vec3 apart, carom_vec3 way) {
    double length = carom_vec_length(apart);
    if (!(carom_vec_dot(way, way) > 0.0)) return 1.0;
    if (!(length > 0.0)) return 0.0;
    double c = 0.5 * carom_vec_dot(apart, way) / length / CAROM_TREE_FLIP_COSINE;
    c = c < -1.0 ? -1.0 : c > 1.0 ? 1.0 : c;
    return 0.5 * c * (3.0 - c * c);
}

/* ---- Budgets --------------------------------------------------------------------------------- */

/* What a search has done and may do. Once there is an answer, `visits` never exceeds
 * `most_visits`. */
typedef struct carom_tree_budget {
    uint64_t visits, candidates;
    uint64_t most_visits; /* UINT64_MAX: any number */
    double deadline;      /* carom_time_seconds; infinite: none */
    bool stopped;         /* one of them has been reached */

    /* When the clock is looked at next, in visits, UINT64_MAX: never, as there is no deadline; the
     * second and the last look at visits of one kind, 0: there was none; what such a visit took
     * between these, and at most in the mean between two looks, 0: not known yet. */
    uint64_t look_at, begun_at, looked_at;
    double begun, looked, mean, slowest;
} carom_tree_budget;

/* A look at the clock takes 25 to 115 ns, and a visit 50 to 150, on server processors of 2020 to
 * 2024. So there are few: after the first CAROM_TREE_CLOCK_VISITS the next one follows when a
 * quarter of the time that is left will have passed, by the slowest visits so far. Should the next
 * ones be four times as slow, they end at the deadline. The last looks are that many visits apart,
 * so that a deadline is exceeded by a microsecond. */
#define CAROM_TREE_CLOCK_VISITS 8u
#define CAROM_TREE_CLOCK_PART   0.25

/* Looks at the clock: whether the deadline has passed; if not, when to look again. */
bool carom_tree_look(carom_tree_budget *b);

/* Whether a budget is used up. */
static inline bool carom_tree_must_stop(carom_tree_budget *b) {
    if (b->visits >= b->most_visits || (b->visits >= b->look_at && carom_tree_look(b)))
        b->stopped = true;
    return b->stopped;
}

/* Where a search ends. */
typedef struct carom_tree_limits {
    uint64_t most_visits;
    double deadline;
} carom_tree_limits;

static inline void carom_tree_set_limits(carom_tree_budget *b, const carom_tree_limits *limits) {
    b->most_visits = limits->most_visits;
    b->deadline = limits->deadline;
}

/* Begins visits of another kind: the clock is looked at before the first. */
static inline void carom_tree_begin_visits(carom_tree_budget *b) {
    if (!(b->deadline < HUGE_VAL)) return;
    b->look_at = b->visits;
    b->begun = b->looked = b->mean = b->slowest = 0.0;
}

/* How many visits are left, about where a deadline ends them. */
uint64_t carom_tree_visits_left(const carom_tree_budget *b);

/* Units of the largest lens of two spheres, of sums per sphere: 2^23 such fit into 63 bits. */
#define CAROM_TREE_LENS_BITS  40
#define CAROM_TREE_LENS_UNITS (UINT64_C(1) << CAROM_TREE_LENS_BITS)

/* ---- Spheres --------------------------------------------------------------------------------- */

/* One of the two trees of a search of spheres. */
typedef struct carom_tree_side {
    const carom_tree *tree;
    const carom_spheres_transform *transform;
    carom_tree_marks *marks; /* of each leaf */
    uint16_t *inner;         /* of each leaf, with `slots`: spheres whose inner balls overlap one */
    uint64_t *sums;          /* of each slot: the inner lenses of its sphere, in units */
    uint8_t *coarse;         /* of each node: not 0 where a search by levels ended */
    double coarse_volume;    /* of the shares below all these nodes, which are disjoint */
    carom_tree_posed posed;  /* the last leaf that was needed in doubles */
    carom_tree_posed *cache; /* more of them: leaf i is at i modulo CAROM_TREE_POSED; NULL: none */
} carom_tree_side;

static inline carom_tree_side carom_tree_side_make(const carom_tree *tree,
                                                   const carom_spheres_transform *transform) {
    return (carom_tree_side){.tree = tree, .transform = transform, .posed.leaf = CAROM_TREE_NONE};
}

/* The search for all pairs of spheres that overlap. */
typedef struct carom_tree_overlap_search {
    const carom_tree_posed_pair *posed;
    carom_tree_side fixed, moving;
    carom_tree_budget budget;
    bool bounds;          /* also inner lenses and marks */
    bool narrow;          /* also what is inside, and sums per sphere */
    bool flip;            /* also `flipped` */
    bool slots;           /* keep the slots of pairs, and mark inner balls that
                             overlap */
    carom_sum flipped[3]; /* the directions of all pairs, with their weights */
    double units;         /* of `sums` per volume */
    carom_spheres_batch *batch;
    uint32_t *fixed_slots, *moving_slots; /* of the pairs of the batch */
    carom_spheres_totals totals;
    uint32_t levels;               /* of pairs of nodes to open; the rest is taken as a
                               whole */
    bool whole;                    /* there was such a rest */
    carom_spheres_lenses rest;     /* what it adds to the estimate, about */
    carom_tree_frontier *frontier; /* NULL: pairs of nodes are opened depth first, none waits */
} carom_tree_overlap_search;

/* Adds all pairs to the totals and, with `bounds`, sets the marks. */
CAROM_CPU_DECLARE(void, carom_tree_search_overlap, carom_tree_overlap_search *search);

/* The steps of a search with a frontier: begins it with the roots; opens a pair; opens the pairs
 * from an index on, which are leaves, that weigh at least so much, until the budget or the clock is
 * to be looked at, and returns the next index; computes the pairs of spheres that are still in the
 * batch. */
CAROM_CPU_DECLARE(void, carom_tree_open_roots, carom_tree_overlap_search *search);
CAROM_CPU_DECLARE(void, carom_tree_open_pair, carom_tree_overlap_search *search,
                  const carom_tree_waiting *pair);
CAROM_CPU_DECLARE(uint32_t, carom_tree_open_leaves, carom_tree_overlap_search *search,
                  uint32_t from, float least);
CAROM_CPU_DECLARE(void, carom_tree_flush_pairs, carom_tree_overlap_search *search);

/* Weighs the pairs that wait, and sorts them into their queues. Of more than `most` about half as
 * many at least, which stand for all; the others are in no queue any more. */
CAROM_CPU_DECLARE(void, carom_tree_weigh_pairs, carom_tree_overlap_search *search, uint64_t most);

/* The search for the least gaps of inner balls and of covers. Floats are distances less the
 * offset of the posed pair, in the fixed tree's frame. */
typedef struct carom_tree_gap_search {
    const carom_tree_posed_pair *posed;
    carom_tree_side fixed, moving;
    carom_tree_budget budget;
    bool any;                    /* look for inner balls that overlap, and stop there */
    bool found;                  /* there are some */
    double least;                /* gap of two inner balls; infinite: none yet */
    uint32_t sphere_a, sphere_b; /* these */
    double least_cover;          /* gap of two covers */
    float limit, limit_cover;    /* the same as floats in the frame, rounded up */
    double pending;              /* least gap of two covers that were deferred, as a float's */
} carom_tree_gap_search;

/* Finds the least gaps. Stops where inner balls overlap, with `found`. */
CAROM_CPU_DECLARE(void, carom_tree_search_gap, carom_tree_gap_search *search);

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* One of the two surfaces of a search. */
typedef struct carom_tree_surface_side {
    const carom_tree_surface *surface;
    const carom_spheres_transform *transform;
    uint32_t posed_triangle; /* the last one that was needed, CAROM_TREE_NONE: none yet */
    carom_vec3 corners[3];   /* of that, in the world */
} carom_tree_surface_side;

/* The search for the nearest triangles of two surfaces. Floats are as in the search for gaps. */
typedef struct carom_tree_surface_search {
    const carom_tree_posed_pair *posed;
    carom_tree_surface_side fixed, moving;
    carom_tree_budget budget;
    bool found;         /* two triangles meet */
    float tolerance;    /* what is not nearer than the nearest by more than this is deferred */
    float widest;       /* it is doubled up to this, */
    uint64_t widen_at;  /* when so many nodes were visited, */
    uint32_t widen_by;  /* and again after so many more */
    float limit;        /* the least distance so far, rounded up */
    float pending;      /* least lower bound of what was deferred */
    bool aimed;         /* there is a direction: */
    float toward[3];    /* from fixed to moving between the nearest points, of length at most 1 */
    carom_closest best; /* in the world; a distance of infinity: none yet */
    uint32_t triangle_a, triangle_b;
} carom_tree_surface_search;

/* Finds the nearest triangles of two surfaces, up to the tolerance. Stops where two meet, with
 * `found`. */
CAROM_CPU_DECLARE(void, carom_tree_search_surfaces, carom_tree_surface_search *search);

/* Measures one pair of triangles, of fixed and moving, before such a search. */
CAROM_CPU_DECLARE(void, carom_tree_search_triangles, carom_tree_surface_search *search,
                  uint32_t fixed, uint32_t moving);

#endif
