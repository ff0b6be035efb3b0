/* SPDX-License-Identifier: MIT */
/* tree_device.h: what the GPU library does for trees, as the core sees it. */
#ifndef CAROM_SRC_TREE_TREE_DEVICE_H
#define CAROM_SRC_TREE_TREE_DEVICE_H

#include "base/device.h"
#include "tree/tree_posed_pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arrays of a tree that searches need, in device memory. */
typedef struct carom_device_tree carom_device_tree;

/* Poses that are searched together: memory grows with their number, and this many keep a device
 * busy. */
#define CAROM_DEVICE_TREE_POSES 1024u

/* A tree in a query: in a pose of its own, or in poses in device memory. */
typedef struct carom_device_posed_tree {
    const carom_tree *tree; /* of the host; its copy is read when the search is queued */
    carom_pose pose;
    const carom_pose *poses; /* on the device, one for each query; NULL: `pose` */
    double scale;
} carom_device_posed_tree;

typedef struct carom_device_tree_query {
    carom_device_posed_tree a, b;
    uint32_t hint[2]; /* spheres, or triangles in the order of the trees, of a and b that may be
                         near; CAROM_NONE: none are known */
    bool apart;       /* it is known that no covers meet */
} carom_device_tree_query;

/* Completes the distance of two surfaces that do not meet by whether one solid is in the other. */
typedef void carom_device_tree_complete_fn(const carom_tree_pair *pair, carom_tree_gap *gap);

/* A search. One array of results is given. */
typedef struct carom_device_tree_search {
    carom_device_tree_query one;
    const carom_device_tree_query *all; /* on the host; NULL: `one`, in several poses */
    uint64_t count;
    bool faces;           /* distances of surfaces, not of spheres */
    bool *meet;           /* whether inner balls overlap */
    carom_tree_gap *gaps; /* distances */
    carom_packing_overlap *overlaps;
    bool bounds; /* of overlaps */
    uint64_t
        *visits; /* on the host, or NULL: of each overlap, the pairs of nodes that were opened */
    /* On the host, or NULL: two words for each gap, the spheres or triangles of a and b; CAROM_NONE
     * where they meet. */
    uint32_t *nearest;
    carom_device_tree_complete_fn *complete; /* called by finish */
} carom_device_tree_search;

typedef struct carom_cuda_tree {
    /* Copies a tree; waits. */
    carom_status (*create)(carom_device *device, const carom_tree *tree, carom_device_tree **copy);
    void (*destroy)(carom_device_tree *copy);
    uint64_t (*bytes)(const carom_device_tree *copy);
    /* Queues a search for `one`, with poses and results in device memory. Fails at finish with
     * CAROM_BAD_INPUT where a pose does not fit. */
    carom_status (*search)(carom_device *device, const carom_device_tree_search *search);
    /* Searches `all`, with results on the host; waits, and adds to *work. */
    carom_status (*search_of_host)(carom_device *device, const carom_device_tree_search *search,
                                   carom_work *work);
} carom_cuda_tree;

#define CAROM_CUDA_TREE "carom_cuda_tree_1"

#ifdef __cplusplus
}
#endif

/* ---- In the core ----------------------------------------------------------------------------- */

#ifndef __cplusplus

/* Copies a tree that was made by a context of backend cuda to its device. */
carom_status carom_tree_device_copy(carom_context *context, carom_tree *tree);
/* Frees the copy, if there is one. */
void carom_tree_device_release(carom_tree *tree);

/* As carom_tree_query.c has it for a context of the CPU, of pairs that were checked. */
carom_status carom_tree_device_meet(carom_context *context, const carom_tree_pair *pair,
                                    bool *meet);
carom_status carom_tree_device_distances(carom_context *context, const carom_tree_pair *pairs,
                                         uint64_t count, const carom_tree_query_def *def,
                                         carom_tree_gap *gaps);
carom_status carom_tree_device_overlaps(carom_context *context, const carom_tree_pair *pairs,
                                        uint64_t count, const carom_tree_query_def *def,
                                        carom_packing_overlap *overlaps);
carom_status carom_tree_device_queries(carom_context *context, const carom_tree_pair *pairs,
                                       uint64_t count, const carom_tree_query_def *def,
                                       carom_tree_result *results);

#endif

#endif
