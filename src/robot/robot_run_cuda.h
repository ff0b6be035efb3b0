/* SPDX-License-Identifier: MIT */
/* robot_run_cuda.h: what all calls for robots on the GPU have in common: frames of configurations,
 * numbers that are no configurations, lists, and what they leave to the host. */
#ifndef CAROM_SRC_ROBOT_ROBOT_RUN_CUDA_H
#define CAROM_SRC_ROBOT_ROBOT_RUN_CUDA_H

#include "base/device_cuda.h"
#include "robot/robot_device.h"
#include "robot/robot_float_item.h"

#define CAROM_ROBOT_HOST_ITEMS 4096u /* room at first for items that go to the host */

/* Counters of every operation, beside its own, which come before them. */
enum { CAROM_ROBOT_N_HOST = 6, CAROM_ROBOT_N_BAD };

typedef carom_device_list<uint64_t> carom_robot_list;

/* Frames in floats: number k of frame f of configuration i is at (12 f + k) stride + i. */
struct carom_robot_rows {
    carom_device_robot robot;
    float *frames;
    uint32_t stride;
    carom_device_count *bad; /* the first configuration that is none, all its bits inverted; or 0 */
};

/* ---- Frames ---------------------------------------------------------------------------------- */

static __device__ inline void carom_robot_load_frame(const carom_robot_rows &w, uint32_t frame,
                                                     uint32_t i, float *p) {
    const float *row = w.frames + (uint64_t)12 * frame * w.stride + i;
    for (uint32_t k = 0; k < 12; ++k) p[k] = row[(uint64_t)k * w.stride];
}

static __device__ inline void carom_robot_store_frame(const carom_robot_rows &w, uint32_t frame,
                                                      uint32_t i, const float *p) {
    float *row = w.frames + (uint64_t)12 * frame * w.stride + i;
    for (uint32_t k = 0; k < 12; ++k) row[(uint64_t)k * w.stride] = p[k];
}

static __device__ inline void carom_robot_make_frames(const carom_robot_rows &w, uint32_t i,
                                                      const double *q) {
    const carom_robot_plan *plan = &w.robot.view.plan;
    float p[12], to[12];
    uint32_t at = 0; /* the frame in p */
    for (uint32_t k = 0; k < 12; ++k) p[k] = k == 0 || k == 4 || k == 8 ? 1.0f : 0.0f;
    carom_robot_store_frame(w, 0, i, p);
    for (uint32_t j = 0; j < plan->joint_count; ++j) {
        const carom_robot_plan_joint *joint = &plan->joints[j];
        if (joint->parent != at) carom_robot_load_frame(w, joint->parent, i, p);
        carom_robot_frame_item(joint, q[joint->column], p, to);
        for (uint32_t k = 0; k < 12; ++k) p[k] = to[k];
        at = j + 1;
        carom_robot_store_frame(w, at, i, p);
    }
}

/* Whether floats hold for a configuration; reports numbers that are not finite or too large. */
static __device__ inline bool carom_robot_read_item(const carom_robot_rows &w,
                                                    uint64_t configuration, const double *q) {
    bool within = w.robot.has_floats, fine = true;
    for (uint32_t k = 0; k < w.robot.dof; ++k) {
        double size = fabs(q[k]);
        fine = fine && size <= CAROM_ROBOT_MOST;
        within = within && size <= w.robot.limits[k];
    }
    if (!fine) atomicMax(w.bad, ~(carom_device_count)configuration); /* 0: none is bad */
    return within && fine;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The next array of a block. */
template <typename T> static inline T *carom_robot_take(char **at, uint64_t count) {
    T *array = (T *)*at;
    *at += carom_device_row(count * sizeof(T));
    return array;
}

static inline carom_robot_list carom_robot_list_of(carom_device *device,
                                                   carom_device_scratch block) {
    uint64_t capacity = carom_device_scratch_bytes(device, block) / sizeof(uint64_t);
    return {carom_device_take<uint64_t>(device, block, capacity * sizeof(uint64_t)), capacity,
            nullptr};
}

/* The list for the host: a share of the block, for others may be queued before it is read. */
static inline carom_robot_list carom_robot_host_list(carom_device *device, carom_device_op *op) {
    carom_robot_list list = carom_robot_list_of(device, CAROM_SCRATCH_ROBOT_HOST);
    list.capacity /= CAROM_DEVICE_MOST_OPS;
    list.data += list.capacity * (uint64_t)(op->counters - device->counters);
    list.count = &op->counters->n[CAROM_ROBOT_N_HOST];
    return list;
}

/* Reserves room for the lists of all operations. */
static inline carom_status carom_robot_reserve_host(carom_device *device) {
    return carom_device_reserve_list(device, CAROM_SCRATCH_ROBOT_HOST,
                                     CAROM_ROBOT_HOST_ITEMS * CAROM_DEVICE_MOST_OPS,
                                     sizeof(uint64_t), "configurations for the host");
}

/* Reads what the kernels of an operation counted: bad input, and items for the host, which decides
 * them unless something is repeated. Defined in robot_cuda.cu. */
carom_status carom_robot_finish(carom_device *device, carom_device_op *op,
                                const carom_device_counters *counters, bool *again);

/* Queues a query of its kind. */
carom_status carom_robot_cuda_clearance(carom_device *device,
                                        const carom_device_robot_query *query);
carom_status carom_robot_cuda_motion(carom_device *device, const carom_device_robot_query *query);

#endif
