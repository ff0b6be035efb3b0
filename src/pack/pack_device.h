/* SPDX-License-Identifier: MIT */
/* pack_device.h: what the GPU library does for packings, as the core sees it. */
#ifndef CAROM_SRC_PACK_PACK_DEVICE_H
#define CAROM_SRC_PACK_PACK_DEVICE_H

#include "base/device.h"
#include "pack/pack_octree_item.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The surface in host memory: the tree of bvh.h and the corners of its blocks (spheres_mesh.h). */
typedef struct carom_device_pack_mesh {
    const void *nodes;   /* carom_bvh_node */
    const void *corners; /* carom_bvh_corners, of each block */
    uint64_t node_count, block_count;
    uint64_t level_start[8];
    uint32_t level_count;
    double unit; /* of centres */
} carom_device_pack_mesh;

typedef struct carom_device_pack_def {
    carom_device_pack_mesh mesh;
    carom_vec3 low; /* of the root */
    double unit;    /* of cells */
    carom_pack_node root;
    double last_rho; /* of the last round: cells with no larger bound are not kept */
    bool fast;
} carom_device_pack_def;

/* A batch of prototypes (pack_prototypes_item.h). */
typedef struct carom_device_prototypes {
    carom_vec3 low, high;  /* bounds of the solid */
    uint64_t seed, before; /* of all batches before it: their prototypes */
    uint32_t count;
    bool as_published;
} carom_device_prototypes;

/* What one pass over all groups of a round found. */
typedef struct carom_device_pack_found {
    const carom_spheres_ball
        *balls; /* in host memory until the next call; in the order to insert */
    uint64_t ball_count;
    uint64_t groups; /* that still have cells to examine */
} carom_device_pack_found;

typedef struct carom_device_pack_end {
    double largest;    /* the largest bound of all cells that are left; 0: there are none */
    double unresolved; /* of cells that were not divided any more; 0: there are none */
    uint64_t visits;   /* cells examined */
} carom_device_pack_end;

/* The state of a packing on the device. */
typedef struct carom_device_pack carom_device_pack;

typedef struct carom_cuda_pack {
    /* `end` also after a failure of any other call. */
    carom_status (*begin)(carom_device *device, const carom_device_pack_def *def,
                          carom_device_pack **pack);
    void (*end)(carom_device_pack *pack);
    /* Files all balls in cells of this edge and those larger. */
    carom_status (*file)(carom_device *device, carom_device_pack *pack, double cell, double reach);
    /* Takes the cells with bounds above rho and sorts them into groups. */
    carom_status (*begin_round)(carom_device *device, carom_device_pack *pack, double rho,
                                double enough, uint32_t bits, uint64_t *groups);
    /* Examines the cells of all groups up to the first ball of each; finds out which of these
     * balls to insert, and inserts them. */
    carom_status (*examine)(carom_device *device, carom_device_pack *pack,
                            carom_device_pack_found *found);
    carom_status (*summary)(carom_device *device, carom_device_pack *pack,
                            carom_device_pack_end *end);
    /* Moves a batch of prototypes against the balls filed; the largest radius that one reached. */
    carom_status (*climb)(carom_device *device, carom_device_pack *pack,
                          const carom_device_prototypes *prototypes, double *best);
    /* Inserts those of the last batch with radii of at least `enough`. */
    carom_status (*insert)(carom_device *device, carom_device_pack *pack, double enough,
                           carom_device_pack_found *found);
} carom_cuda_pack;

#define CAROM_CUDA_PACK "carom_cuda_pack_2"

#ifdef __cplusplus
}
#endif

#endif
