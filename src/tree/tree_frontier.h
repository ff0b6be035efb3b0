/* SPDX-License-Identifier: MIT */
/* tree_frontier.h: pairs of nodes that wait to be opened, for estimates under a budget.
 *
 *   pairs      [root, root][pair][pair] ...      in the order in which they were found
 *   queues     for pairs of leaves, and for others; in buckets by weight, in steps of sqrt(2)
 *
 * A pair weighs what it adds to the volume, about: the lens of the moments of its nodes
 * (tree_moments.h). Pairs are weighed once a budget turns out not to be enough for all. Invariant:
 * every pair of spheres that overlaps is below exactly one pair that waits, or was computed. */
#ifndef CAROM_SRC_TREE_TREE_FRONTIER_H
#define CAROM_SRC_TREE_TREE_FRONTIER_H

#include "base/arena.h"
#include "tree/tree_moments.h"

/* A node and its ball, in the fixed tree's frame. */
typedef struct carom_tree_ball {
    float x, y, z, radius;
    uint32_t node;
} carom_tree_ball;

/* Two nodes whose balls meet. Opening them needs one of the balls: the fixed one of a leaf of the
 * fixed tree and an inner node of the moving one, else the moving one. */
typedef struct carom_tree_waiting {
    float x, y, z, radius;
    uint32_t fixed, moving;
    float weight;  /* in the fixed tree's frame; negative: it was opened, and waits no more */
    uint32_t next; /* in its queue; CAROM_TREE_NONE: the last */
} carom_tree_waiting;

/* Weights that differ by more than 2^32 do not matter beside each other. */
#define CAROM_TREE_BUCKETS 64u

typedef struct carom_tree_queue {
    uint32_t first[CAROM_TREE_BUCKETS]; /* the heaviest in bucket 0; also pairs that wait no more.
                                           CAROM_TREE_NONE: none */
    uint32_t sizes[CAROM_TREE_BUCKETS]; /* pairs that wait in each bucket, once they are weighed */
    uint64_t used;                      /* a bit per bucket that has any */
    uint64_t count;                     /* of pairs that wait */
} carom_tree_queue;

typedef struct carom_tree_frontier {
    carom_arena *scratch;
    carom_tree_waiting *pairs;
    uint32_t count, capacity;
    carom_tree_queue inner, leaves;
    bool weighed;  /* weights are there; else they are 0, leaves are in no queue, and that of
                      others is a stack */
    double weight; /* of all pairs that wait */
    uint32_t top;  /* the bucket of the heaviest weight, in half powers of two */
    bool full;     /* there is no memory, or no number, for another pair: some are missing */
} carom_tree_frontier;

/* Makes space for another pair. False: no memory. */
bool carom_tree_frontier_grow(carom_tree_frontier *f);

/* Bits of a float below its exponent and the first bit of its fraction. */
#define CAROM_TREE_HALF_POWER_SHIFT 22

/* Exponent and first bit of the fraction of a weight that is not negative. */
static inline uint32_t carom_tree_half_power(float weight) {
    uint32_t bits;
    memcpy(&bits, &weight, sizeof(bits));
    return bits >> CAROM_TREE_HALF_POWER_SHIFT;
}

static inline uint32_t carom_tree_bucket(const carom_tree_frontier *f, float weight) {
    uint32_t power = carom_tree_half_power(weight), below = power < f->top ? f->top - power : 0;
    return CAROM_MIN(below, CAROM_TREE_BUCKETS - 1);
}

static inline void carom_tree_queue_clear(carom_tree_queue *q) {
    memset(q, 0, sizeof(*q));
    memset(q->first, 0xff, sizeof(q->first)); /* CAROM_TREE_NONE */
}

/* Puts a pair first into its bucket. */
static inline void carom_tree_queue_put(carom_tree_frontier *f, carom_tree_queue *q,
                                        uint32_t index) {
    carom_tree_waiting *pair = &f->pairs[index];
    uint32_t bucket = carom_tree_bucket(f, pair->weight);
    pair->next = q->first[bucket];
    q->first[bucket] = index;
    q->used |= UINT64_C(1) << bucket;
    q->sizes[bucket] += 1;
    q->count += 1;
    f->weight += (double)pair->weight;
}

/* Adds a pair, with the ball that opening it needs. Its weight is a number that is not negative. */
static inline void carom_tree_frontier_add(carom_tree_frontier *f, const carom_tree_ball *ball,
                                           uint32_t fixed, uint32_t moving, bool leaves,
                                           float weight) {
    if (f->count == f->capacity && !carom_tree_frontier_grow(f)) return;
    f->pairs[f->count] = (carom_tree_waiting){ball->x, ball->y, ball->z, ball->radius,
                                              fixed,   moving,  weight,  CAROM_TREE_NONE};
    carom_tree_queue_put(f, leaves ? &f->leaves : &f->inner, f->count++);
}

/* Says that a pair waits no more. It stays in its list. */
static inline void carom_tree_frontier_remove(carom_tree_frontier *f, carom_tree_queue *q,
                                              carom_tree_waiting *pair) {
    if (f->weighed) {
        q->sizes[carom_tree_bucket(f, pair->weight)] -= 1;
        f->weight -= (double)pair->weight;
    }
    q->count -= 1;
    pair->weight = -1.0f;
}

#endif
