/* SPDX-License-Identifier: MIT */
/* balls_device.h: what the GPU library does for balls, as the core sees it. */
#ifndef CAROM_SRC_BALLS_BALLS_DEVICE_H
#define CAROM_SRC_BALLS_BALLS_DEVICE_H

#include "balls/balls_item.h"
#include "base/device.h"
#include "carom/balls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The spheres of a packing and their grid in device memory. */
typedef struct carom_device_balls carom_device_balls;

/* A packing in a query: in a pose of its own, or in poses in device memory. */
typedef struct carom_device_posed_balls {
    const carom_device_balls *balls;
    carom_pose pose;
    const carom_pose *poses; /* on the device, one for each query; NULL: `pose` */
    double scale;
} carom_device_posed_balls;

typedef struct carom_device_balls_query {
    carom_device_posed_balls a, b;
} carom_device_balls_query;

typedef struct carom_cuda_balls {
    carom_status (*create)(carom_device *device, carom_device_balls **balls);
    void (*destroy)(carom_device_balls *balls);
    /* Copies spheres from the host and enters them in a grid; waits. `view` is filled up to its
     * pointers. */
    carom_status (*set)(carom_device *device, carom_device_balls *balls,
                        const carom_balls_view *view, const carom_packing_sphere *spheres);
    uint64_t (*bytes)(const carom_device_balls *balls);
    uint64_t (*entries)(const carom_device_balls *balls); /* of the last `set` */

    /* Queues the overlaps of two packings in `count` poses, into device memory. */
    carom_status (*overlap)(carom_device *device, const carom_device_balls_query *query,
                            uint64_t count, bool bounds, carom_packing_overlap *overlaps);
    /* Computes the overlaps of many queries, in host memory; waits. */
    carom_status (*overlap_many)(carom_device *device, const carom_device_balls_query *queries,
                                 uint64_t count, bool bounds, carom_packing_overlap *overlaps);
    /* Queues a search for pairs. `pairs` NULL: they are counted only. `count` may be NULL. */
    carom_status (*search)(carom_device *device, const carom_device_balls_query *query,
                           carom_balls_pair_kind kind, bool any, carom_cuda_order order,
                           carom_cuda_pairs *pairs, uint64_t *count);
    carom_status (*get_work)(carom_device *device, carom_work *work); /* of the last query */
} carom_cuda_balls;

#define CAROM_CUDA_BALLS "carom_cuda_balls_2"

#ifdef __cplusplus
}
#endif

#endif
