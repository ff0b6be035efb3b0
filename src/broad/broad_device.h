/* SPDX-License-Identifier: MIT */
/* broad_device.h: what the GPU library does for broad phases, as the core sees it. */
#ifndef CAROM_SRC_BROAD_BROAD_DEVICE_H
#define CAROM_SRC_BROAD_BROAD_DEVICE_H

#include "base/device.h"
#include "carom/broad.h"
#include "grid/grid_item.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The boxes of a broad phase in device memory, with what is prepared from them. */
typedef struct carom_device_broad carom_device_broad;

/* The arrays of a broad phase in host memory (broad.h). */
typedef struct carom_device_broad_def {
    const carom_bounds *boxes;         /* by id */
    const carom_broad_filter *filters; /* may be NULL */
    uint32_t count;                    /* of ids */
    carom_broad_method method;         /* AUTO: cells, or the tree where boxes are dense */
    carom_grid_table table;            /* GRID */
    int32_t lift;                      /* GRID: of carom_grid_space */
    double sweep_cell;                 /* SWEEP; 0: chosen */
} carom_device_broad_def;

/* What the structure consists of, as of the last finished work. */
typedef struct carom_device_broad_info {
    carom_broad_method method; /* never AUTO: GRID stands for cells */
    uint64_t bytes, nodes, cells, entries;
} carom_device_broad_info;

typedef struct carom_cuda_broad {
    carom_status (*create)(carom_device *device, carom_device_broad **broad);
    void (*destroy)(carom_device_broad *broad);
    /* Copies arrays from the host and prepares; waits. */
    carom_status (*set)(carom_device *device, carom_device_broad *broad,
                        const carom_device_broad_def *def);
    /* Copies filters, one per id of the last set; waits. */
    carom_status (*set_filters)(carom_device *device, carom_device_broad *broad,
                                const carom_broad_filter *filters);
    /* Queues: takes boxes on the device, which stay there until the next change, and prepares. */
    carom_status (*update)(carom_device *device, carom_device_broad *broad,
                           const carom_bounds *boxes, carom_device_owner owner);
    carom_status (*get_boxes)(carom_device *device, const carom_device_broad *broad,
                              carom_bounds *boxes);
    void (*get_info)(const carom_device_broad *broad, carom_device_broad_info *info);

    /* Queues a search for all pairs. */
    carom_status (*search)(carom_device *device, const carom_device_broad *broad,
                           carom_cuda_order order, carom_cuda_pairs *pairs);
    carom_status (*get_work)(carom_device *device, carom_work *work); /* of the last search */
} carom_cuda_broad;

#define CAROM_CUDA_BROAD "carom_cuda_broad_2"

#ifdef __cplusplus
}
#endif

#endif
