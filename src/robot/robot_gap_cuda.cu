/* SPDX-License-Identifier: MIT */
/* Clearance of many configurations on the GPU, with the CPU's bytes: robot_gap_item.h, by a thread
 * per configuration. Which pairs are measured, and up to which limit, depends on the pairs before,
 * and so do the last bits of a distance: the pairs of a configuration follow each other as on the
 * CPU. First kinematics in floats and bounds of all pairs, then what these leave. Nothing is left
 * to the host. Configurations are taken in parts, so that their bounds fit. */
#include "robot/robot_gap_item.h"
#include "robot/robot_run_cuda.h"

/* Few per block: each has stacks of two trees, and some take much longer than others. */
#define ROBOT_GAP_THREADS 64u

/* Configurations at a time, and bytes for what is kept of each. */
#define ROBOT_GAP_PART       (1u << 18)
#define ROBOT_GAP_PART_BYTES (UINT64_C(1) << 31)

static_assert(sizeof(carom_robot_gap) == 40 && offsetof(carom_robot_gap, a) == 24 &&
                  offsetof(carom_robot_gap, b) == 28 &&
                  offsetof(carom_robot_gap, with_object) == 32,
              "robot_gap_write knows the layout");

/* A part of the configurations, as kernels see it. */
struct robot_gap_run : carom_robot_rows {
    const double *q;
    uint64_t first;
    uint32_t count;
    float *rough;     /* a row per pair */
    uint32_t *within; /* of each configuration: floats hold for it */
    carom_robot_pose *poses;
    bool covers_only;
    carom_robot_gap *gaps;
};

static __global__ void __launch_bounds__(ROBOT_GAP_THREADS) robot_gap_bounds(robot_gap_run w) {
    carom_device_begin();
    const carom_robot_plan *plan = &w.robot.view.plan;
    const uint32_t i = blockIdx.x * ROBOT_GAP_THREADS + threadIdx.x;
    if (i >= w.count) return;
    const double *q = w.q + (w.first + i) * w.robot.dof;
    const bool within = carom_robot_read_item(w, w.first + i, q);
    const carom_robot_frames frames = {w.frames + i, w.stride};
    float most = HUGE_VALF;
    w.within[i] = within ? 1u : 0u;
    if (!within) return;
    carom_robot_make_frames(w, i, q);
    for (uint32_t pair = 0; pair < plan->pair_count; ++pair) {
        float gap = carom_robot_rough_gap(plan, &frames, pair, most);
        w.rough[(uint64_t)pair * w.stride + i] = gap;
        if (!carom_robot_is_tree_pair(plan, pair)) most = CAROM_MIN(most, gap);
    }
}

/* All bytes, padding included. */
static __device__ void robot_gap_write(const carom_robot_gap &gap, carom_robot_gap *to) {
    to->distance.lower = gap.distance.lower;
    to->distance.value = gap.distance.value;
    to->distance.upper = gap.distance.upper;
    to->a = gap.a;
    to->b = gap.b;
    ((uint64_t *)to)[4] = gap.with_object ? 1u : 0u;
}

static __global__ void __launch_bounds__(ROBOT_GAP_THREADS) robot_gap_measure(robot_gap_run w) {
    carom_device_begin();
    const uint32_t i = blockIdx.x * ROBOT_GAP_THREADS + threadIdx.x;
    if (i >= w.count) return;
    carom_robot_pose *poses = w.poses + (uint64_t)i * w.robot.link_count;
    carom_robot_gap_lane lane;
    carom_robot_gap gap;
    lane.view = &w.robot.view;
    lane.frames.rows = w.frames + i;
    lane.frames.stride = lane.stride = w.stride;
    lane.rough = w.rough + i;
    lane.poses = poses;
    lane.has_floats = w.within[i] != 0;
    if (w.covers_only) {
        carom_robot_gap_by_covers(&lane, &gap);
    } else {
        const double *q = w.q + (w.first + i) * w.robot.dof;
        for (uint32_t k = 0; k < w.robot.link_count; ++k)
            carom_robot_pose_item(w.robot.view.links, w.robot.order[k], q, poses);
        carom_robot_gap_exactly(&lane, &gap);
    }
    robot_gap_write(gap, &w.gaps[w.first + i]);
}

/* ---- Operation ------------------------------------------------------------------------------- */

static uint64_t robot_gap_row_bytes(const carom_device_robot *r) {
    const carom_robot_plan *plan = &r->view.plan;
    return sizeof(float) * (12 * ((uint64_t)plan->joint_count + 1) + plan->pair_count) +
           sizeof(uint32_t) + (uint64_t)r->link_count * sizeof(carom_robot_pose);
}

static uint32_t robot_gap_part_size(const carom_device_robot_query *a) {
    const uint64_t block = ROBOT_GAP_THREADS;
    uint64_t most = ROBOT_GAP_PART_BYTES / robot_gap_row_bytes(a->robot) / block * block;
    most = CAROM_MAX(CAROM_MIN(most, (uint64_t)ROBOT_GAP_PART), block);
    uint64_t wanted = (a->count + block - 1) / block * block;
    return (uint32_t)CAROM_MIN(most, CAROM_MAX(wanted, block));
}

static carom_status robot_gap_reserve(carom_device *device, carom_device_op *op) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_ROBOT_ROWS,
        robot_gap_part_size(a) * robot_gap_row_bytes(a->robot) + 4 * CAROM_DEVICE_ALLOCATION,
        "configurations"));
    return carom_robot_reserve_host(device);
}

static void robot_gap_launch(carom_device *device, carom_device_op *op) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    const uint64_t size = robot_gap_part_size(a);
    robot_gap_run w = {};
    carom_device_clear(device, op);
    w.robot = *a->robot;
    w.stride = (uint32_t)size;
    w.bad = &op->counters->n[CAROM_ROBOT_N_BAD];
    w.q = a->configurations;
    w.covers_only = a->query.covers_only;
    w.gaps = (carom_robot_gap *)a->results;
    char *at =
        carom_device_take<char>(device, CAROM_SCRATCH_ROBOT_ROWS,
                                carom_device_scratch_bytes(device, CAROM_SCRATCH_ROBOT_ROWS));
    w.poses = carom_robot_take<carom_robot_pose>(&at, size * w.robot.link_count);
    w.frames =
        carom_robot_take<float>(&at, size * 12 * ((uint64_t)w.robot.view.plan.joint_count + 1));
    w.rough = carom_robot_take<float>(&at, size * w.robot.view.plan.pair_count);
    w.within = carom_robot_take<uint32_t>(&at, size);
    for (w.first = 0; w.first < a->count; w.first += size) {
        w.count = (uint32_t)CAROM_MIN(a->count - w.first, size);
        const uint64_t blocks = carom_device_blocks(w.count, ROBOT_GAP_THREADS);
        carom_device_step(device, "kinematics and bounds of pairs");
        carom_device_launch(device, robot_gap_bounds, blocks, ROBOT_GAP_THREADS, w);
        carom_device_step(device, "distances");
        carom_device_launch(device, robot_gap_measure, blocks, ROBOT_GAP_THREADS, w);
    }
}

carom_status carom_robot_cuda_clearance(carom_device *device,
                                        const carom_device_robot_query *query) {
    carom_device_op op = {robot_gap_reserve, robot_gap_launch, carom_robot_finish, nullptr, {}};
    *carom_device_arguments<carom_device_robot_query>(&op) = *query;
    return carom_device_submit(device, &op);
}
