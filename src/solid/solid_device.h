/* SPDX-License-Identifier: MIT */
/* solid_device.h: what the GPU library does for solids, as the core sees it. */
#ifndef CAROM_SRC_SOLID_SOLID_DEVICE_H
#define CAROM_SRC_SOLID_SOLID_DEVICE_H

#include "base/device.h"
#include "solid/solid_pair_item.h"
#include "solid/solid_sum_item.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_DEVICE_TREE_LEVELS 8u /* CAROM_BVH_LEVELS */

/* The tree of bvh.h: boxes are x * scale - origin. */
typedef struct carom_device_solid_tree {
    const void *nodes; /* carom_bvh_node */
    const uint32_t *items;
    uint64_t node_count; /* of all levels */
    uint64_t level_start[CAROM_DEVICE_TREE_LEVELS];
    uint32_t level_count, block_count; /* blocks: nodes of level 0 */
    double scale, origin[3];
} carom_device_solid_tree;

/* The arrays of a solid (solid.h) in host memory, or on the device. */
typedef struct carom_device_solid_arrays {
    const double *positions;
    const uint32_t *corners, *ends, *firsts;
    const uint8_t *represents;
    const carom_solid_sum *blocks;
    uint64_t vertex_count, triangle_count, block_count;
    carom_device_solid_tree tree;
} carom_device_solid_arrays;

/* A solid in device memory. */
typedef struct carom_device_solid carom_device_solid;

/* A map between the frames of two trees in float32, and what its rounding may displace. */
typedef struct carom_device_move {
    float turn[3][3], shift[3], slack;
} carom_device_move;

/* One query: what carom_solid_query holds, without pointers to host memory. */
typedef struct carom_device_overlap {
    const carom_device_solid *solids[2];
    carom_frame frames[2];
    double power;
    carom_solid_params params;
    double bounds[CAROM_SOLID_TERMS], error_units[2];
    int scales[CAROM_SOLID_TERMS];
    int by_winding[2];
    carom_device_move b_to_a, a_to_b;
} carom_device_overlap;

/* Bits of the flags of an accumulator. */
#define CAROM_DEVICE_ANY_VOLUME 1u
#define CAROM_DEVICE_TOO_LARGE  2u
#define CAROM_DEVICE_CROSSING   4u
#define CAROM_DEVICE_MOVED_A    8u
#define CAROM_DEVICE_MOVED_B    16u
#define CAROM_DEVICE_PLAIN      32u

/* What the faces that meet add up to: carom_solid_accumulator, in integers that are added or whose
 * maximum is taken, so that the order does not matter. All zero is the empty accumulator. */
typedef struct carom_device_accumulator {
    carom_solid_sum terms[CAROM_SOLID_TERMS], errors[2];
    carom_solid_sum moments[2][CAROM_SOLID_SUMS], swept[2];
    uint64_t low[3], high[3]; /* of crossings: carom_solid_ordered, for `low` inverted */
    uint64_t span;            /* likewise */
    uint64_t crossed[2];      /* as in carom_solid_accumulator */
    uint64_t pairs, undecided, added;
    uint64_t flags;
} carom_device_accumulator;

/* A tree edge that is crossed; or the root of a component, with its winding number, where triangles
 * are added one by one. */
typedef struct carom_device_link {
    uint32_t query, of_b, vertex;
    int32_t weight;
} carom_device_link;

/* Two triangles in degenerate position. */
typedef struct carom_device_encounter {
    uint32_t query, a, b;
} carom_device_encounter;

typedef struct carom_device_found {
    uint64_t degenerate;             /* entries of the list */
    uint64_t node_pairs, candidates; /* of all queries together */
} carom_device_found;

/* Doubles as integers of the same order; 0 is less than any. */
CAROM_ITEM uint64_t carom_solid_ordered(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

CAROM_ITEM double carom_solid_from_ordered(uint64_t bits) {
    double x;
    bits = bits >> 63 != 0 ? bits & ~(UINT64_C(1) << 63) : ~bits;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

typedef struct carom_cuda_solid {
    carom_status (*create)(carom_device *device, const carom_device_solid_arrays *arrays,
                           carom_device_solid **solid);
    void (*destroy)(carom_device_solid *solid);
    uint64_t (*bytes)(const carom_device_solid *solid);
    /* Searches for the faces that meet, for all queries, and waits; `roots` are those of solids
     * whose triangles are added one by one. */
    carom_status (*search)(carom_device *device, const carom_device_overlap *queries,
                           uint32_t count, const carom_device_link *roots, uint32_t root_count,
                           carom_device_accumulator *accs, carom_device_found *found);
    /* The list of the last search. */
    carom_status (*get_degenerate)(carom_device *device, carom_device_encounter *degenerate,
                                   uint64_t count);
} carom_cuda_solid;

#define CAROM_CUDA_SOLID "carom_cuda_solid_1"

#ifdef __cplusplus
}
#endif

#endif
