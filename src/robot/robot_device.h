/* SPDX-License-Identifier: MIT */
/* robot_device.h: what the GPU library does for robots, as the core sees it. */
#ifndef CAROM_SRC_ROBOT_ROBOT_DEVICE_H
#define CAROM_SRC_ROBOT_ROBOT_DEVICE_H

#include "base/device.h"
#include "robot/robot_decide_item.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A robot and its world in device memory: all addresses are of the device. */
typedef struct carom_device_robot {
    carom_robot_view view;
    const uint32_t *order; /* of links, parents first */
    const double *limits;  /* of each column: the largest value that floats hold for */
    uint32_t link_count, dof;
    bool has_floats;
} carom_device_robot;

/* Decides configurations on the host, in the same way: those that a comparison of faces within
 * rounding of the reach leaves open on the device. */
typedef carom_status carom_device_robot_decide(carom_context *context, void *user,
                                               const double *configurations, uint64_t count,
                                               const carom_robot_query *query,
                                               carom_robot_result *results);

/* Device memory of a robot. */
typedef struct carom_device_robot_memory carom_device_robot_memory;

/* Configurations in device memory, and where their results go. */
typedef struct carom_device_robot_query {
    const carom_device_robot *robot;
    const double *configurations;
    uint64_t count;
    carom_robot_query query;
    carom_robot_result *results;
    carom_device_robot_decide *decide;
    carom_context *context; /* of these two */
    void *user;
} carom_device_robot_query;

typedef struct carom_cuda_robots {
    /* Makes memory at least so large; its address is *data. Waits for queued work. */
    carom_status (*reserve)(carom_device *device, carom_device_robot_memory **memory,
                            uint64_t bytes, void **data);
    /* Copies to its beginning, after queued work; waits. */
    carom_status (*write)(carom_device *device, carom_device_robot_memory *memory, const void *from,
                          uint64_t bytes);
    void (*destroy)(carom_device_robot_memory *memory);
    /* Queues a check. */
    carom_status (*check)(carom_device *device, const carom_device_robot_query *query);
} carom_cuda_robots;

#define CAROM_CUDA_ROBOTS "carom_cuda_robots_1"

#ifdef __cplusplus
}
#endif

#endif
