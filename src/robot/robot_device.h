/* SPDX-License-Identifier: MIT */
/* robot_device.h: what the GPU library does for robots, as the core sees it. */
#ifndef CAROM_SRC_ROBOT_ROBOT_DEVICE_H
#define CAROM_SRC_ROBOT_ROBOT_DEVICE_H

#include "base/device.h"
#include "robot/robot_motion_item.h"

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

typedef enum carom_device_robot_kind {
    CAROM_DEVICE_ROBOT_CHECK,
    CAROM_DEVICE_ROBOT_CLEARANCE,
    CAROM_DEVICE_ROBOT_MOTION
} carom_device_robot_kind;

typedef struct carom_device_robot_query carom_device_robot_query;

/* Decides configurations or motions on the host, in the same way: those that a comparison of faces
 * within rounding of the reach leaves open on the device. `to` is of motions. */
typedef carom_status carom_device_robot_decide(carom_context *context, void *user,
                                               const carom_device_robot_query *query,
                                               const double *configurations, const double *to,
                                               uint64_t count, void *results);

/* Device memory of a robot. */
typedef struct carom_device_robot_memory carom_device_robot_memory;

/* Configurations or motions in device memory, and where their answers go. */
struct carom_device_robot_query {
    carom_device_robot_kind kind;
    const carom_device_robot *robot;
    const double *configurations;
    const double *to; /* of motions */
    uint64_t count;
    carom_robot_query query;
    carom_robot_motion_rule rule; /* of motions */
    void *results;
    carom_device_robot_decide *decide;
    carom_context *context; /* of these two */
    void *user;
};

typedef struct carom_cuda_robots {
    /* Makes memory at least so large; its address is *data. Waits for queued work. */
    carom_status (*reserve)(carom_device *device, carom_device_robot_memory **memory,
                            uint64_t bytes, void **data);
    /* Copies to its beginning, after queued work; waits. */
    carom_status (*write)(carom_device *device, carom_device_robot_memory *memory, const void *from,
                          uint64_t bytes);
    void (*destroy)(carom_device_robot_memory *memory);
    /* Queues a query. */
    carom_status (*query)(carom_device *device, const carom_device_robot_query *query);
} carom_cuda_robots;

#define CAROM_CUDA_ROBOTS "carom_cuda_robots_2"

#ifdef __cplusplus
}
#endif

#endif
