/* SPDX-License-Identifier: MIT */
/* Verdicts of many configurations on the GPU, with the CPU's bytes.
 *
 * What is known of a pair in a configuration depends on these alone, and the result is that of the
 * first pair that the last stage needed found. So the stages of the CPU become kernels with lists
 * of pairs between them, in any order, and minima per configuration:
 *   frames  one thread per configuration: kinematics in floats, then the bounding balls of all
 *           pairs; those that are near are listed;
 *   covers  one thread per listed pair;
 *   fine    one warp per pair that is left, one sphere per lane: finer covers, then inner balls;
 *   middles one thread per pair of a body and a tree: bounding balls by distances in cells;
 *   trees   one warp per pair that is left, one sphere per lane: distances in cells, faces;
 *   select  what neither decided, of configurations in which no inner balls overlap;
 *   poses   one thread per configuration of these: kinematics in doubles;
 *   faces   one warp per pair: planes between the two, then nodes and triangles by vectors;
 *   results one thread per configuration.
 * Only comparisons of triangles within rounding of the reach are left to the host, which then
 * decides the whole configuration. Configurations are taken in parts, so that lists stay small. */
#include <new>

#include "base/device_cuda.h"
#include "robot/robot_faces_cuda.h"
#include "robot/robot_run_cuda.h"

#define ROBOT_CUDA_THREADS       128u
#define ROBOT_CUDA_WARPS         (ROBOT_CUDA_THREADS / CAROM_WARP)
#define ROBOT_CUDA_BUFFER        128u       /* entries of a warp, in shared memory */
#define ROBOT_CUDA_PART          (1u << 18) /* configurations at a time: they fill the device */
#define ROBOT_CUDA_FACES_THREADS 64u        /* each has stacks of its own: few keep the cache */

/* Bytes for what is kept per configuration: frames, states and poses. */
#define ROBOT_CUDA_PART_BYTES (UINT64_C(1) << 31)

/* Pairs that lists have room for per configuration at first: twice what an arm of 7 joints among 20
 * boxes has. */
#define ROBOT_CUDA_NEAR_PAIRS 24u
#define ROBOT_CUDA_LEFT_PAIRS 4u

/* Bounding balls in shared memory: 48 KB per block without being asked for. */
#define ROBOT_CUDA_SHARED_BODIES 24u

#define ROBOT_CUDA_KEPT 16u   /* spheres that a thread keeps: more than most covers of links have */
#define ROBOT_CUDA_CULL 0.25f /* of a reach; see robot_covers_near */

/* Counters of a part. */
enum {
    ROBOT_N_NEAR,
    ROBOT_N_FINE,
    ROBOT_N_TREES,
    ROBOT_N_REST,
    ROBOT_N_LEFT,
    ROBOT_N_FACES,
    ROBOT_N_POSED,
    ROBOT_N_TAKEN,
    ROBOT_N_PART
};
/* Counters of the operation: the most entries of each list, and two of all parts. */
static_assert((int)ROBOT_N_POSED == (int)CAROM_ROBOT_N_HOST,
              "the lists' counters are those before");

/* Bits of the state of a configuration. */
#define ROBOT_CUDA_BEYOND  1u /* out of the range of floats */
#define ROBOT_CUDA_POSED   2u /* has pairs that faces decide */
#define ROBOT_CUDA_ON_HOST 4u

static_assert(sizeof(carom_robot_result) == 20 && offsetof(carom_robot_result, with_object) == 16,
              "write_result knows the layout");

/* A part of the configurations, as kernels see it. */
struct robot_run : carom_robot_rows {
    const double *q;
    uint64_t first; /* configuration */
    uint32_t count; /* of this part; rows of frames and balls are `stride` long */
    float *middles;
    uint32_t *hit, *tree, *last, *state, *slot; /* of each configuration; the first three: a pair */
    carom_robot_pose *poses;
    uint32_t *posed; /* the configurations that have them */
    carom_robot_list near, fine, trees, rest, left, faces, host;
    carom_device_count *n;
    float margin, inner_margin;
    double query_margin;
    bool covers_only;
    carom_robot_result *results;
};

static __device__ inline uint64_t robot_entry(uint32_t configuration, uint32_t pair) {
    return (uint64_t)configuration << 32 | pair;
}

static __device__ inline uint32_t robot_entry_configuration(uint64_t entry) {
    return (uint32_t)(entry >> 32);
}

typedef carom_warp_buffer<uint64_t, ROBOT_CUDA_BUFFER> robot_buffer;

static __device__ inline robot_buffer robot_buffer_of(uint64_t (*memory)[ROBOT_CUDA_BUFFER]) {
    return robot_buffer{memory[threadIdx.x / CAROM_WARP], 0};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

struct carom_device_robot_memory {
    carom_device_block block;
};

static carom_status robot_cuda_reserve(carom_device *device, carom_device_robot_memory **memory,
                                       uint64_t bytes, void **data) {
    if (*memory == nullptr) *memory = new (std::nothrow) carom_device_robot_memory{};
    if (*memory == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for a robot");
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &(*memory)->block, bytes, "a robot"));
    *data = (*memory)->block.data;
    return CAROM_OK;
}

static carom_status robot_cuda_write(carom_device *device, carom_device_robot_memory *memory,
                                     const void *from, uint64_t bytes) {
    carom_device_outdate_frames(); /* they have addresses and numbers of what was there */
    CAROM_DEVICE_TRY(carom_device_check(
        device,
        cudaMemcpyAsync(memory->block.data, from, bytes, cudaMemcpyHostToDevice, device->stream),
        "copying a robot"));
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "copying a robot");
}

static void robot_cuda_destroy(carom_device_robot_memory *memory) {
    carom_device_release(&memory->block);
    delete memory;
}

/* ---- Kinematics and bounding balls ----------------------------------------------------------- */

template <bool SHARED>
static __global__ void __launch_bounds__(ROBOT_CUDA_THREADS) robot_cuda_frames(robot_run w) {
    carom_device_begin();
    __shared__ uint64_t near_memory[ROBOT_CUDA_WARPS][ROBOT_CUDA_BUFFER];
    __shared__ uint64_t tree_memory[ROBOT_CUDA_WARPS][ROBOT_CUDA_BUFFER];
    const carom_robot_plan *plan = &w.robot.view.plan;
    const uint32_t i = blockIdx.x * ROBOT_CUDA_THREADS + threadIdx.x;
    const uint32_t step = SHARED ? ROBOT_CUDA_THREADS : w.stride;
    float *middles = SHARED ? (float *)carom_device_shared() + threadIdx.x : w.middles + i;
    robot_buffer near = robot_buffer_of(near_memory), trees = robot_buffer_of(tree_memory);
    bool is_there = i < w.count, within = false;
    if (is_there) {
        const double *q = w.q + (w.first + i) * w.robot.dof;
        within = carom_robot_read_item(w, w.first + i, q);
        w.hit[i] = w.tree[i] = w.last[i] = CAROM_NONE;
        w.state[i] = within ? 0 : ROBOT_CUDA_BEYOND;
        if (within) carom_robot_make_frames(w, i, q);
    }
    for (uint32_t body = 0; body < plan->body_count && within; ++body) {
        const carom_robot_plan_body *b = &plan->bodies[body];
        float p[12];
        if (!b->live) continue;
        carom_robot_load_frame(w, b->frame, i, p);
        carom_robot_point at = carom_robot_move_item(p, plan->spheres + 4 * (uint64_t)b->first);
        middles[(3 * body) * (uint64_t)step] = at.x;
        middles[(3 * body + 1) * (uint64_t)step] = at.y;
        middles[(3 * body + 2) * (uint64_t)step] = at.z;
    }
    bool is_beyond = is_there && !within && !w.covers_only;
    bool any_beyond = __any_sync(~0u, is_beyond);
    uint32_t body = CAROM_NONE;
    carom_robot_point middle = {};
    float radius = 0.0f;
    for (uint32_t pair = 0; pair < plan->pair_count; ++pair) {
        const carom_robot_plan_pair p = plan->pairs[pair];
        bool is_near = false, is_tree = false;
        if (p.a != body) { /* pairs are sorted by it */
            const float *from = middles + (3 * p.a) * (uint64_t)step;
            body = p.a;
            if (within) middle = carom_robot_point{from[0], from[step], from[2 * (uint64_t)step]};
            radius = plan->spheres[4 * (uint64_t)plan->bodies[body].first + 3];
        }
        if (pair < plan->self_count) {
            const float *from = middles + (3 * p.b) * (uint64_t)step;
            float reach = plan->spheres[4 * (uint64_t)plan->bodies[p.b].first + 3];
            if (within) {
                const float at[3] = {from[0], from[step], from[2 * (uint64_t)step]};
                is_near = carom_robot_is_near(carom_robot_squared_item(middle, at),
                                              w.margin + (radius + reach));
            }
        } else {
            const carom_robot_plan_object *o = &plan->objects[p.b];
            is_tree = o->kind == CAROM_ROBOT_PLAN_TREE;
            is_near = within && carom_robot_middle_near(o, middle, w.margin + radius);
        }
        near.push(w.near, is_near && !is_tree, robot_entry(i, pair));
        trees.push(w.trees, is_near && is_tree, robot_entry(i, pair));
        if (any_beyond && is_beyond) w.left.append(robot_entry(i, pair));
    }
    near.flush(w.near);
    trees.flush(w.trees);
}

/* ---- Covers ---------------------------------------------------------------------------------- */

/* Spheres of b that are far from the ball around a, which contains all of a's, meet none of these:
 * the rest are few. The ball is taken larger by ROBOT_CUDA_CULL of its reach, which exceeds what
 * rounding moves it and a sphere that touches it from inside against each other: radii contain some
 * 60 roundings of the size of the robot (robot_plan.c), and moving a point takes 8. */
static __device__ bool robot_covers_near(const robot_run &w, uint32_t i,
                                         const carom_robot_plan_body *a,
                                         const carom_robot_plan_body *b) {
    const float4 *own = (const float4 *)w.robot.view.plan.spheres;
    float pa[12], pb[12], kept[ROBOT_CUDA_KEPT][4];
    uint32_t count = 0, next = b->first + 1, end = b->first + 1 + b->cover_count;
    carom_robot_load_frame(w, a->frame, i, pa);
    carom_robot_load_frame(w, b->frame, i, pb);
    float4 ball = own[b->first], around = own[a->first];
    carom_robot_point centre = carom_robot_move_item(pb, &ball.x);
    const float middle[3] = {centre.x, centre.y, centre.z};
    carom_robot_point of_a = carom_robot_move_item(pa, &around.x);
    const float middle_a[3] = {of_a.x, of_a.y, of_a.z};
    float with_b = w.margin + ball.w;
    while (next < end) { /* once, but for covers of many spheres */
        for (count = 0; next < end && count < ROBOT_CUDA_KEPT; ++next) {
            float4 other = own[next];
            carom_robot_point at = carom_robot_move_item(pb, &other.x);
            float reach = (w.margin + (around.w + other.w)) * (1.0f + ROBOT_CUDA_CULL);
            if (!carom_robot_is_near(carom_robot_squared_item(at, middle_a), reach)) continue;
            kept[count][0] = at.x;
            kept[count][1] = at.y;
            kept[count][2] = at.z;
            kept[count++][3] = other.w;
        }
        for (uint32_t k = a->first + 1; k <= a->first + a->cover_count && count != 0; ++k) {
            float4 mine = own[k];
            carom_robot_point p = carom_robot_move_item(pa, &mine.x);
            if (!carom_robot_is_near(carom_robot_squared_item(p, middle), with_b + mine.w))
                continue;
            for (uint32_t j = 0; j < count; ++j)
                if (carom_robot_is_near(carom_robot_squared_item(p, kept[j]),
                                        w.margin + (mine.w + kept[j][3])))
                    return true;
        }
    }
    return false;
}

static __device__ bool robot_object_near(const robot_run &w, uint32_t i,
                                         const carom_robot_plan_body *a,
                                         const carom_robot_plan_object *o) {
    const float4 *own = (const float4 *)w.robot.view.plan.spheres;
    float p[12];
    carom_robot_load_frame(w, a->frame, i, p);
    for (uint32_t k = a->first + 1; k <= a->first + a->cover_count; ++k) {
        float4 mine = own[k];
        if (carom_robot_sphere_near(o, carom_robot_move_item(p, &mine.x), w.margin + mine.w))
            return true;
    }
    return false;
}

static __global__ void __launch_bounds__(ROBOT_CUDA_THREADS) robot_cuda_covers(robot_run w) {
    carom_device_begin();
    __shared__ uint64_t memory[ROBOT_CUDA_WARPS][ROBOT_CUDA_BUFFER];
    const carom_robot_plan *plan = &w.robot.view.plan;
    robot_buffer fine = robot_buffer_of(memory);
    uint64_t count = w.near.stored(), stride = (uint64_t)gridDim.x * ROBOT_CUDA_THREADS;
    uint64_t begin = (uint64_t)blockIdx.x * ROBOT_CUDA_THREADS + threadIdx.x;
    for (uint64_t at = begin; at - threadIdx.x % CAROM_WARP < count; at += stride) {
        uint64_t entry = at < count ? w.near.data[at] : 0;
        bool is_near = false;
        if (at < count) {
            uint32_t pair = (uint32_t)entry, i = robot_entry_configuration(entry);
            carom_robot_plan_pair p = plan->pairs[pair];
            is_near = pair < plan->self_count
                          ? robot_covers_near(w, i, &plan->bodies[p.a], &plan->bodies[p.b])
                          : robot_object_near(w, i, &plan->bodies[p.a], &plan->objects[p.b]);
        }
        fine.push(w.fine, is_near, entry);
    }
    fine.flush(w.fine);
}

/* ---- Finer covers and inner balls, by warps -------------------------------------------------- */

/* Whether a lane's sphere may meet a body, by the ball around it and its cover. All lanes call it.
 */
static __device__ bool robot_may_meet(const float4 *own, const float *pb,
                                      const carom_robot_plan_body *b, carom_robot_point p,
                                      float radius, float extra, bool is_left) {
    float4 ball = own[b->first];
    carom_robot_point centre = carom_robot_move_item(pb, &ball.x);
    const float middle[3] = {centre.x, centre.y, centre.z};
    is_left = is_left &&
              carom_robot_is_near(carom_robot_squared_item(p, middle), (extra + ball.w) + radius);
    if (!__any_sync(~0u, is_left)) return false;
    bool some = false;
    for (uint32_t j = b->first + 1; j <= b->first + b->cover_count; ++j) {
        float4 other = own[j];
        carom_robot_point at = carom_robot_move_item(pb, &other.x);
        const float q[3] = {at.x, at.y, at.z};
        some =
            some || carom_robot_is_near(carom_robot_squared_item(p, q), extra + (radius + other.w));
    }
    return is_left && some;
}

/* Whether spheres of two bodies meet: of `fine` covers, near; of inner balls, inside. Spheres that
 * are apart from the other body's ball, or from its cover, are left out. All lanes call it. */
template <bool FINE>
static __device__ bool robot_rows_meet(const robot_run &w, const float *pa, const float *pb,
                                       const carom_robot_plan_body *a,
                                       const carom_robot_plan_body *b) {
    const float4 *own = (const float4 *)w.robot.view.plan.spheres;
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    const float extra = FINE ? w.margin : w.inner_margin;
    const uint32_t first_a = FINE ? a->fine : a->first + 1 + a->cover_count;
    const uint32_t first_b = FINE ? b->fine : b->first + 1 + b->cover_count;
    const uint32_t count_a = FINE ? a->fine_count : a->inner_count;
    const uint32_t count_b = FINE ? b->fine_count : b->inner_count;
    for (uint32_t k = 0; k < count_a; k += CAROM_WARP) {
        bool is_left = k + lane < count_a;
        float4 mine = own[first_a + (is_left ? k + lane : k)];
        carom_robot_point p = carom_robot_move_item(pa, &mine.x);
        is_left = robot_may_meet(own, pb, b, p, mine.w, extra, is_left);
        unsigned mask = __ballot_sync(~0u, is_left);
        if (mask == 0) continue;
        for (uint32_t j = 0; j < count_b; j += CAROM_WARP) {
            bool is_there = j + lane < count_b, met = false;
            float4 other = own[first_b + (is_there ? j + lane : j)];
            carom_robot_point at = carom_robot_move_item(pb, &other.x);
            is_there = robot_may_meet(own, pa, a, at, other.w, extra, is_there);
            if (!__any_sync(~0u, is_there)) continue;
            for (unsigned left = mask; left != 0; left &= left - 1) {
                int from = __ffs((int)left) - 1;
                const float q[3] = {__shfl_sync(~0u, p.x, from), __shfl_sync(~0u, p.y, from),
                                    __shfl_sync(~0u, p.z, from)};
                float radii = __shfl_sync(~0u, mine.w, from) + other.w;
                float squared = carom_robot_squared_item(at, q);
                met = met || (FINE ? carom_robot_is_near(squared, extra + radii)
                                   : carom_robot_is_inside(squared, radii + extra));
            }
            if (__any_sync(~0u, is_there && met)) return true;
        }
    }
    return false;
}

/* The same for a body and an object. */
template <bool FINE>
static __device__ bool robot_object_meets(const robot_run &w, const float *p,
                                          const carom_robot_plan_body *a,
                                          const carom_robot_plan_object *o) {
    const float4 *own = (const float4 *)w.robot.view.plan.spheres;
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    const uint32_t first = FINE ? a->fine : a->first + 1 + a->cover_count;
    const uint32_t count = FINE ? a->fine_count : a->inner_count;
    for (uint32_t k = 0; k < count; k += CAROM_WARP) {
        bool met = false;
        if (k + lane < count) {
            float4 mine = own[first + k + lane];
            carom_robot_point at = carom_robot_move_item(p, &mine.x);
            met = FINE ? carom_robot_sphere_near(o, at, w.margin + mine.w)
                       : carom_robot_inner_overlaps(o, at, mine.w + w.inner_margin);
        }
        if (__any_sync(~0u, met)) return true;
    }
    return false;
}

static __global__ void __launch_bounds__(ROBOT_CUDA_THREADS) robot_cuda_fine(robot_run w) {
    carom_device_begin();
    const carom_robot_plan *plan = &w.robot.view.plan;
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    uint64_t count = w.fine.stored(), stride = (uint64_t)gridDim.x * ROBOT_CUDA_WARPS;
    for (uint64_t at = (uint64_t)blockIdx.x * ROBOT_CUDA_WARPS + threadIdx.x / CAROM_WARP;
         at < count; at += stride) {
        uint64_t entry = w.fine.data[at];
        uint32_t pair = (uint32_t)entry, i = robot_entry_configuration(entry);
        carom_robot_plan_pair p = plan->pairs[pair];
        const carom_robot_plan_body *a = &plan->bodies[p.a];
        float pa[12];
        bool is_hit = false;
        carom_robot_load_frame(w, a->frame, i, pa);
        if (pair < plan->self_count) {
            const carom_robot_plan_body *b = &plan->bodies[p.b];
            float pb[12];
            carom_robot_load_frame(w, b->frame, i, pb);
            if (!robot_rows_meet<true>(w, pa, pb, a, b)) continue;
            is_hit = robot_rows_meet<false>(w, pa, pb, a, b);
        } else {
            const carom_robot_plan_object *o = &plan->objects[p.b];
            if (!robot_object_meets<true>(w, pa, a, o)) continue;
            is_hit = robot_object_meets<false>(w, pa, a, o);
        }
        if (lane != 0) continue;
        if (is_hit)
            atomicMin(&w.hit[i], pair);
        else
            w.left.append(entry);
    }
}

/* ---- Trees ----------------------------------------------------------------------------------- */

/* What the ball around a body decides; the rest is listed again. */
static __global__ void __launch_bounds__(ROBOT_CUDA_THREADS) robot_cuda_middles(robot_run w) {
    carom_device_begin();
    __shared__ uint64_t memory[ROBOT_CUDA_WARPS][ROBOT_CUDA_BUFFER];
    const carom_robot_plan *plan = &w.robot.view.plan;
    robot_buffer rest = robot_buffer_of(memory);
    uint64_t count = w.trees.stored(), stride = (uint64_t)gridDim.x * ROBOT_CUDA_THREADS;
    uint64_t begin = (uint64_t)blockIdx.x * ROBOT_CUDA_THREADS + threadIdx.x;
    for (uint64_t at = begin; at - threadIdx.x % CAROM_WARP < count; at += stride) {
        uint64_t entry = at < count ? w.trees.data[at] : 0;
        bool is_left = false;
        if (at < count) {
            uint32_t pair = (uint32_t)entry, i = robot_entry_configuration(entry);
            carom_robot_plan_pair p = plan->pairs[pair];
            const carom_robot_part *part = &w.robot.view.objects[p.b].part;
            const carom_robot_frames frames = {w.frames + i, w.stride};
            is_left = w.hit[i] == CAROM_NONE;
            if (is_left && part->field.cells != nullptr) {
                carom_robot_tree_verdict verdict =
                    carom_robot_test_middle(&w.robot.view, &frames, p.a, part, (double)w.margin);
                is_left = verdict == CAROM_ROBOT_TREE_UNDECIDED;
                if (verdict == CAROM_ROBOT_TREE_COLLIDING) atomicMin(&w.tree[i], pair);
            } else if (is_left && !part->closed) {
                const carom_robot_plan_body *b = &plan->bodies[p.a];
                carom_vec3 middle = carom_robot_sphere_at(plan, &frames, b->frame, b->first);
                double around = carom_robot_sphere_radius(plan, b->first);
                double slack = carom_robot_tree_slack(part, middle, around);
                is_left =
                    carom_robot_near_item(&part->tree, middle, around + ((double)w.margin + slack));
            }
        }
        rest.push(w.rest, is_left, entry);
    }
    rest.flush(w.rest);
}

/* carom_robot_any_near and carom_robot_cells_near by a warp, a sphere per lane. */
static __device__ bool robot_any_near(const robot_run &w, const carom_robot_frames *f,
                                      const carom_robot_plan_body *b, uint32_t first,
                                      uint32_t count, const carom_robot_part *part, double extra) {
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    for (uint32_t k = 0; k < count; k += CAROM_WARP) {
        bool near = k + lane < count && carom_robot_any_near(&w.robot.view.plan, f, b,
                                                             first + k + lane, 1, part, extra);
        if (__any_sync(~0u, near)) return true;
    }
    return false;
}

static __device__ bool robot_cells_near(const robot_run &w, const carom_robot_frames *f,
                                        const carom_robot_plan_body *b, uint32_t first,
                                        uint32_t count, const carom_robot_part *part, bool by_faces,
                                        double extra) {
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    for (uint32_t k = 0; k < count; k += CAROM_WARP) {
        bool near =
            k + lane < count && carom_robot_cells_near(&w.robot.view.plan, f, b, first + k + lane,
                                                       1, part, by_faces, extra);
        if (__any_sync(~0u, near)) return true;
    }
    return false;
}

/* carom_robot_test_field by a warp. */
static __device__ carom_robot_tree_verdict robot_test_field(const robot_run &w,
                                                            const carom_robot_frames *f,
                                                            uint32_t body,
                                                            const carom_robot_part *part,
                                                            const carom_robot_reach *reach) {
    const carom_robot_view *v = &w.robot.view;
    const carom_robot_plan_body *b = &v->plan.bodies[body];
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    carom_robot_field_bounds middle =
        carom_robot_field_at(&part->field, carom_robot_sphere_at(&v->plan, f, b->frame, b->first));
    if (!(middle.lower > carom_robot_sphere_radius(&v->plan, b->first) + reach->extra) &&
        robot_cells_near(w, f, b, b->first + 1, b->cover_count, part, false, reach->extra)) {
        const uint32_t first = b->first + 1 + b->cover_count;
        const double error = carom_robot_body_error(v, body);
        bool meets = false;
        for (uint32_t k = lane; k < b->inner_count && !meets; k += CAROM_WARP)
            meets = carom_robot_ball_meets(v, f, b, first + k, part, reach, error);
        if (__any_sync(~0u, meets)) return CAROM_ROBOT_TREE_COLLIDING;
        if (robot_cells_near(w, f, b, b->fine, b->fine_count, part, true, reach->extra))
            return CAROM_ROBOT_TREE_UNDECIDED;
    }
    return carom_robot_test_points(v, f, body, part);
}

/* carom_robot_test_tree by a warp. */
static __device__ carom_robot_tree_verdict robot_test_tree(const robot_run &w,
                                                           const carom_robot_frames *f,
                                                           uint32_t body,
                                                           const carom_robot_part *part,
                                                           const carom_robot_reach *reach) {
    const carom_robot_plan *plan = &w.robot.view.plan;
    const carom_robot_plan_body *b = &plan->bodies[body];
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    carom_vec3 middle = carom_robot_sphere_at(plan, f, b->frame, b->first);
    double around = carom_robot_sphere_radius(plan, b->first);
    double slack = carom_robot_tree_slack(part, middle, around), extra = reach->extra + slack;
    bool near = false;
    if (carom_robot_near_item(&part->tree, middle, around + extra)) {
        near = robot_any_near(w, f, b, b->first + 1, b->cover_count, part, extra);
        if (near && b->fine != b->first + 1)
            near = robot_any_near(w, f, b, b->fine, b->fine_count, part, extra);
    }
    if (!near) {
        bool is_left =
            lane == 0 && part->closed && carom_robot_points_touch(plan, f, b, part, slack);
        return __any_sync(~0u, is_left) ? CAROM_ROBOT_TREE_UNDECIDED : CAROM_ROBOT_TREE_APART;
    }
    bool meets = false;
    for (uint32_t k = lane; k < b->inner_count && !meets; k += CAROM_WARP)
        meets = carom_robot_ball_touches(plan, f, b, b->first + 1 + b->cover_count + k, part,
                                         (double)reach->inner_margin - slack);
    return __any_sync(~0u, meets) ? CAROM_ROBOT_TREE_COLLIDING : CAROM_ROBOT_TREE_UNDECIDED;
}

static __global__ void __launch_bounds__(ROBOT_CUDA_FACES_THREADS) robot_cuda_trees(robot_run w) {
    carom_device_begin();
    const uint32_t lane = threadIdx.x % CAROM_WARP, warps = ROBOT_CUDA_FACES_THREADS / CAROM_WARP;
    const carom_robot_reach reach = {(double)w.margin, w.inner_margin};
    uint64_t count = w.rest.stored(), stride = (uint64_t)gridDim.x * warps;
    for (uint64_t at = (uint64_t)blockIdx.x * warps + threadIdx.x / CAROM_WARP; at < count;
         at += stride) {
        uint64_t entry = w.rest.data[at];
        uint32_t pair = (uint32_t)entry, i = robot_entry_configuration(entry);
        carom_robot_plan_pair p = w.robot.view.plan.pairs[pair];
        const carom_robot_part *part = &w.robot.view.objects[p.b].part;
        const carom_robot_frames frames = {w.frames + i, w.stride};
        carom_robot_tree_verdict verdict = part->field.cells != nullptr
                                               ? robot_test_field(w, &frames, p.a, part, &reach)
                                               : robot_test_tree(w, &frames, p.a, part, &reach);
        if (lane != 0) continue;
        if (verdict == CAROM_ROBOT_TREE_COLLIDING) atomicMin(&w.tree[i], pair);
        if (verdict == CAROM_ROBOT_TREE_UNDECIDED) w.left.append(entry);
    }
}

/* ---- Faces ----------------------------------------------------------------------------------- */

/* Of pairs that are left: those of configurations that no inner balls decide. */
static __global__ void __launch_bounds__(ROBOT_CUDA_THREADS) robot_cuda_select(robot_run w) {
    carom_device_begin();
    uint64_t count = w.left.stored(), stride = (uint64_t)gridDim.x * ROBOT_CUDA_THREADS;
    for (uint64_t at = (uint64_t)blockIdx.x * ROBOT_CUDA_THREADS + threadIdx.x; at < count;
         at += stride) {
        uint64_t entry = w.left.data[at];
        uint32_t i = robot_entry_configuration(entry);
        if (w.hit[i] != CAROM_NONE || w.tree[i] != CAROM_NONE) continue;
        if (w.covers_only) {
            atomicMin(&w.last[i], (uint32_t)entry);
            continue;
        }
        w.faces.append(entry);
        if ((atomicOr(&w.state[i], ROBOT_CUDA_POSED) & ROBOT_CUDA_POSED) != 0) continue;
        uint32_t slot = (uint32_t)atomicAdd(&w.n[ROBOT_N_POSED], 1ull);
        CAROM_ASSERT(slot < w.stride);
        w.slot[i] = slot;
        w.posed[slot] = i;
    }
}

static __global__ void __launch_bounds__(ROBOT_CUDA_FACES_THREADS) robot_cuda_poses(robot_run w) {
    carom_device_begin();
    uint64_t count = w.n[ROBOT_N_POSED], stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += stride) {
        const double *q = w.q + (w.first + w.posed[at]) * w.robot.dof;
        carom_robot_pose *poses = w.poses + at * w.robot.link_count;
        for (uint32_t k = 0; k < w.robot.link_count; ++k)
            carom_robot_pose_item(w.robot.view.links, w.robot.order[k], q, poses);
    }
}

static __global__ void __launch_bounds__(ROBOT_CUDA_FACES_THREADS) robot_cuda_faces(robot_run w) {
    carom_device_begin();
    __shared__ carom_robot_faces searches[ROBOT_CUDA_FACES_THREADS / CAROM_WARP];
    carom_robot_faces *s = &searches[threadIdx.x / CAROM_WARP];
    const uint64_t count = w.faces.stored();
    const uint32_t lane = threadIdx.x % CAROM_WARP;
    for (;;) { /* one by one, for some take much longer than others */
        carom_device_count at = 0;
        if (lane == 0) at = atomicAdd(&w.n[ROBOT_N_TAKEN], 1ull);
        at = __shfl_sync(~0u, at, 0);
        if (at >= count) return;
        uint64_t entry = w.faces.data[at];
        uint32_t pair = (uint32_t)entry, i = robot_entry_configuration(entry), last = 0;
        bool unsure = false;
        const carom_robot_pose *poses = w.poses + (uint64_t)w.slot[i] * w.robot.link_count;
        if (lane == 0) last = *(volatile uint32_t *)&w.last[i];
        last = __shfl_sync(~0u, last, 0);
        if (last <= pair) continue;
        bool collides =
            carom_robot_faces_pair_collides(s, &w.robot.view, poses, pair, w.query_margin, &unsure);
        unsure = __any_sync(~0u, unsure);
        if (lane != 0) continue;
        if (collides)
            atomicMin(&w.last[i], pair);
        else if (unsure && (atomicOr(&w.state[i], ROBOT_CUDA_ON_HOST) & ROBOT_CUDA_ON_HOST) == 0)
            w.host.append(w.first + i);
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

/* All bytes, padding included. */
static __device__ inline void robot_write_result(const robot_run &w, uint32_t i,
                                                 carom_robot_verdict verdict,
                                                 carom_robot_stage stage, uint32_t pair) {
    uint32_t *to = (uint32_t *)&w.results[w.first + i];
    const carom_robot_plan *plan = &w.robot.view.plan;
    bool has_pair = verdict != CAROM_ROBOT_VERDICT_FREE;
    to[0] = (uint32_t)verdict;
    to[1] = (uint32_t)stage;
    to[2] = has_pair ? plan->pairs[pair].a : CAROM_NONE;
    to[3] = has_pair ? plan->pairs[pair].b : CAROM_NONE;
    to[4] = has_pair && pair >= plan->self_count ? 1u : 0u;
}

static __global__ void __launch_bounds__(ROBOT_CUDA_THREADS) robot_cuda_results(robot_run w) {
    carom_device_begin();
    uint32_t i = blockIdx.x * ROBOT_CUDA_THREADS + threadIdx.x;
    if (i >= w.count) return;
    uint32_t pair = w.hit[i] != CAROM_NONE ? w.hit[i] : w.tree[i], last = w.last[i];
    bool is_beyond = (w.state[i] & ROBOT_CUDA_BEYOND) != 0;
    bool by_faces = is_beyond || (w.state[i] & ROBOT_CUDA_POSED) != 0;
    if (pair != CAROM_NONE)
        robot_write_result(w, i, CAROM_ROBOT_VERDICT_COLLIDING, CAROM_ROBOT_STAGE_INNER, pair);
    else if (w.covers_only && is_beyond)
        robot_write_result(w, i,
                           w.robot.view.plan.pair_count == 0 ? CAROM_ROBOT_VERDICT_FREE
                                                             : CAROM_ROBOT_VERDICT_OPEN,
                           CAROM_ROBOT_STAGE_COVERS, 0);
    else if (w.covers_only && last != CAROM_NONE)
        robot_write_result(w, i, CAROM_ROBOT_VERDICT_OPEN, CAROM_ROBOT_STAGE_INNER, last);
    else if (last != CAROM_NONE)
        robot_write_result(w, i, CAROM_ROBOT_VERDICT_COLLIDING, CAROM_ROBOT_STAGE_EXACT, last);
    else
        robot_write_result(w, i, CAROM_ROBOT_VERDICT_FREE,
                           by_faces ? CAROM_ROBOT_STAGE_EXACT : CAROM_ROBOT_STAGE_COVERS, 0);
}

/* The most entries that any part had, so that lists that were too small can grow. */
static __global__ void robot_cuda_collect(const carom_device_count *n, uint32_t parts,
                                          carom_device_counters *counters) {
    carom_device_begin();
    for (uint32_t k = threadIdx.x; k <= ROBOT_N_FACES; k += blockDim.x) {
        carom_device_count most = 0;
        for (uint32_t part = 0; part < parts; ++part) {
            carom_device_count here = n[(uint64_t)part * ROBOT_N_PART + k];
            most = here > most ? here : most;
        }
        counters->n[k] = most;
    }
}

/* ---- Operation ------------------------------------------------------------------------------- */

/* Bytes per configuration of a part. */
static uint64_t robot_row_bytes(const carom_device_robot *r) {
    const carom_robot_plan *plan = &r->view.plan;
    uint64_t middles = plan->body_count > ROBOT_CUDA_SHARED_BODIES ? 3 * plan->body_count : 0;
    return sizeof(float) * (12 * ((uint64_t)plan->joint_count + 1) + middles) +
           6 * sizeof(uint32_t) + (uint64_t)r->link_count * sizeof(carom_robot_pose);
}

static uint32_t robot_part_size(const carom_device_robot_query *a) {
    uint64_t most = ROBOT_CUDA_PART_BYTES / robot_row_bytes(a->robot);
    most = CAROM_MIN(most / ROBOT_CUDA_THREADS * ROBOT_CUDA_THREADS, (uint64_t)ROBOT_CUDA_PART);
    most = CAROM_MAX(most, (uint64_t)ROBOT_CUDA_THREADS);
    uint64_t wanted = (a->count + ROBOT_CUDA_THREADS - 1) / ROBOT_CUDA_THREADS * ROBOT_CUDA_THREADS;
    return (uint32_t)CAROM_MIN(most, CAROM_MAX(wanted, (uint64_t)ROBOT_CUDA_THREADS));
}

static uint32_t robot_parts(const carom_device_robot_query *a) {
    uint32_t size = robot_part_size(a);
    return (uint32_t)((a->count + size - 1) / size);
}

static const struct {
    carom_device_scratch block;
    int counter;
    uint32_t pairs; /* per configuration at first */
} robot_lists[] = {{CAROM_SCRATCH_ROBOT_NEAR, ROBOT_N_NEAR, ROBOT_CUDA_NEAR_PAIRS},
                   {CAROM_SCRATCH_ROBOT_FINE, ROBOT_N_FINE, ROBOT_CUDA_LEFT_PAIRS},
                   {CAROM_SCRATCH_ROBOT_TREES, ROBOT_N_TREES, ROBOT_CUDA_NEAR_PAIRS},
                   {CAROM_SCRATCH_ROBOT_REST, ROBOT_N_REST, ROBOT_CUDA_LEFT_PAIRS},
                   {CAROM_SCRATCH_ROBOT_LEFT, ROBOT_N_LEFT, ROBOT_CUDA_LEFT_PAIRS},
                   {CAROM_SCRATCH_ROBOT_FACES, ROBOT_N_FACES, ROBOT_CUDA_LEFT_PAIRS}};

static carom_status robot_reserve(carom_device *device, carom_device_op *op) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    uint64_t size = robot_part_size(a), pairs = a->robot->view.plan.pair_count;
    uint64_t counts = ((uint64_t)robot_parts(a) + 1) * ROBOT_N_PART * sizeof(carom_device_count);
    if (robot_parts(a) > UINT32_MAX / ROBOT_N_PART)
        return carom_device_fail(device, CAROM_TOO_LARGE, "too many configurations at once");
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(
        device, CAROM_SCRATCH_ROBOT_ROWS,
        size * robot_row_bytes(a->robot) + 9 * CAROM_DEVICE_ALLOCATION, "configurations"));
    CAROM_DEVICE_TRY(
        carom_device_reserve_scratch(device, CAROM_SCRATCH_ROBOT_COUNTS, counts, "configurations"));
    for (const auto &list : robot_lists)
        CAROM_DEVICE_TRY(carom_device_reserve_list(
            device, list.block, size * CAROM_MIN(pairs, (uint64_t)list.pairs) + 1, sizeof(uint64_t),
            "pairs of bodies"));
    return carom_robot_reserve_host(device);
}

static void robot_take_rows(carom_device *device, uint64_t size, robot_run *w) {
    const carom_robot_plan *plan = &w->robot.view.plan;
    char *at =
        carom_device_take<char>(device, CAROM_SCRATCH_ROBOT_ROWS,
                                carom_device_scratch_bytes(device, CAROM_SCRATCH_ROBOT_ROWS));
    w->poses = carom_robot_take<carom_robot_pose>(&at, size * w->robot.link_count);
    w->frames = carom_robot_take<float>(&at, size * 12 * ((uint64_t)plan->joint_count + 1));
    for (uint32_t **row : {&w->hit, &w->tree, &w->last, &w->state, &w->slot, &w->posed})
        *row = carom_robot_take<uint32_t>(&at, size);
    w->middles = plan->body_count > ROBOT_CUDA_SHARED_BODIES
                     ? carom_robot_take<float>(&at, size * 3 * plan->body_count)
                     : nullptr;
}

/* Queues all stages of a part. */
static void robot_launch_part(carom_device *device, const robot_run &w) {
    const carom_robot_plan *plan = &w.robot.view.plan;
    const uint64_t blocks = carom_device_blocks(w.count, ROBOT_CUDA_THREADS);
    bool has_trees = false;
    carom_device_step(device, "kinematics and bounding balls");
    if (w.middles == nullptr)
        carom_device_launch_grid(device, robot_cuda_frames<true>, dim3((unsigned)blocks),
                                 ROBOT_CUDA_THREADS,
                                 3 * plan->body_count * ROBOT_CUDA_THREADS * sizeof(float), w);
    else
        carom_device_launch(device, robot_cuda_frames<false>, blocks, ROBOT_CUDA_THREADS, w);
    has_trees = plan->self_count < plan->pair_count;
    carom_device_step(device, "covers");
    carom_device_launch(device, robot_cuda_covers,
                        carom_device_resident(device, robot_cuda_covers, ROBOT_CUDA_THREADS),
                        ROBOT_CUDA_THREADS, w);
    carom_device_step(device, "finer covers and inner balls");
    carom_device_launch(device, robot_cuda_fine,
                        carom_device_resident(device, robot_cuda_fine, ROBOT_CUDA_THREADS),
                        ROBOT_CUDA_THREADS, w);
    if (has_trees) {
        carom_device_step(device, "bounding balls against trees");
        carom_device_launch(device, robot_cuda_middles,
                            carom_device_resident(device, robot_cuda_middles, ROBOT_CUDA_THREADS),
                            ROBOT_CUDA_THREADS, w);
        carom_device_step(device, "covers against trees");
        carom_device_launch(
            device, robot_cuda_trees,
            carom_device_resident(device, robot_cuda_trees, ROBOT_CUDA_FACES_THREADS),
            ROBOT_CUDA_FACES_THREADS, w);
    }
    carom_device_step(device, "select");
    carom_device_launch(device, robot_cuda_select,
                        carom_device_resident(device, robot_cuda_select, ROBOT_CUDA_THREADS),
                        ROBOT_CUDA_THREADS, w);
    if (!w.covers_only) {
        carom_device_step(device, "poses");
        carom_device_launch(
            device, robot_cuda_poses,
            carom_device_resident(device, robot_cuda_poses, ROBOT_CUDA_FACES_THREADS),
            ROBOT_CUDA_FACES_THREADS, w);
        carom_device_step(device, "faces");
        carom_device_launch(
            device, robot_cuda_faces,
            carom_device_resident(device, robot_cuda_faces, ROBOT_CUDA_FACES_THREADS),
            ROBOT_CUDA_FACES_THREADS, w);
    }
    carom_device_step(device, "results");
    carom_device_launch(device, robot_cuda_results, blocks, ROBOT_CUDA_THREADS, w);
}

static void robot_launch(carom_device *device, carom_device_op *op) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    const uint32_t size = robot_part_size(a), parts = robot_parts(a);
    carom_device_clear(device, op);
    if (a->count == 0) return;
    robot_run w = {};
    w.robot = *a->robot;
    w.q = a->configurations;
    w.stride = size;
    w.query_margin = a->query.margin;
    w.covers_only = a->query.covers_only;
    w.results = (carom_robot_result *)a->results;
    carom_robot_margins(a->query.margin, &w.margin, &w.inner_margin);
    robot_take_rows(device, size, &w);
    w.near = carom_robot_list_of(device, CAROM_SCRATCH_ROBOT_NEAR);
    w.fine = carom_robot_list_of(device, CAROM_SCRATCH_ROBOT_FINE);
    w.trees = carom_robot_list_of(device, CAROM_SCRATCH_ROBOT_TREES);
    w.rest = carom_robot_list_of(device, CAROM_SCRATCH_ROBOT_REST);
    w.left = carom_robot_list_of(device, CAROM_SCRATCH_ROBOT_LEFT);
    w.faces = carom_robot_list_of(device, CAROM_SCRATCH_ROBOT_FACES);
    w.host = carom_robot_host_list(device, op);
    w.bad = &op->counters->n[CAROM_ROBOT_N_BAD];
    uint64_t bytes = (uint64_t)parts * ROBOT_N_PART * sizeof(carom_device_count);
    carom_device_count *counts =
        carom_device_take<carom_device_count>(device, CAROM_SCRATCH_ROBOT_COUNTS, bytes);
    (void)cudaMemsetAsync(counts, 0, bytes, device->stream);
    for (uint32_t part = 0; part < parts; ++part) {
        w.first = (uint64_t)part * size;
        w.count = (uint32_t)CAROM_MIN(a->count - w.first, (uint64_t)size);
        w.n = counts + (uint64_t)part * ROBOT_N_PART;
        w.near.count = &w.n[ROBOT_N_NEAR];
        w.fine.count = &w.n[ROBOT_N_FINE];
        w.trees.count = &w.n[ROBOT_N_TREES];
        w.rest.count = &w.n[ROBOT_N_REST];
        w.left.count = &w.n[ROBOT_N_LEFT];
        w.faces.count = &w.n[ROBOT_N_FACES];
        robot_launch_part(device, w);
    }
    carom_device_launch(device, robot_cuda_collect, 1, CAROM_WARP, counts, parts, op->counters);
}

/* Bytes of a configuration's or a motion's answer. */
static uint64_t robot_answer_bytes(carom_device_robot_kind kind) {
    return kind == CAROM_DEVICE_ROBOT_CLEARANCE ? sizeof(carom_robot_gap)
           : kind == CAROM_DEVICE_ROBOT_MOTION  ? sizeof(carom_robot_motion_result)
                                                : sizeof(carom_robot_result);
}

static carom_status robot_finish(carom_device *device, carom_device_op *op,
                                 const carom_device_counters *counters, bool *again);

/* Whether an operation that was queued later writes an answer: what it wrote stays. */
static bool robot_is_overwritten(const carom_device *device, const carom_device_op *op,
                                 const char *answer, uint64_t bytes) {
    for (const carom_device_op *later = op + 1; later < device->ops + device->op_count; ++later) {
        if (later->finish != robot_finish && later->finish != carom_robot_finish) continue;
        const carom_device_robot_query *b = (const carom_device_robot_query *)later->arguments;
        const char *begin = (const char *)b->results;
        if (answer < begin + b->count * robot_answer_bytes(b->kind) && answer + bytes > begin)
            return true;
    }
    return false;
}

/* Copies what the host needs of some configurations, beside each other. */
static carom_status robot_copy_values(carom_device *device, const double *from,
                                      const uint64_t *which, uint64_t count, uint64_t dof,
                                      double *to) {
    for (uint64_t i = 0; i < count && from != nullptr && dof != 0; ++i)
        CAROM_DEVICE_TRY(carom_device_check(device,
                                            cudaMemcpyAsync(to + i * dof, from + which[i] * dof,
                                                            dof * sizeof(*to),
                                                            cudaMemcpyDeviceToHost, device->stream),
                                            "a copy"));
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "a copy");
}

/* Has the host decide configurations: their numbers are copied there, the answers back. */
static carom_status robot_decide_on_host(carom_device *device, carom_device_op *op,
                                         uint64_t count) {
    const carom_device_robot_query *a = carom_device_arguments<carom_device_robot_query>(op);
    const uint64_t dof = a->robot->dof, size = robot_answer_bytes(a->kind);
    const uint64_t *list = carom_robot_host_list(device, op).data;
    uint64_t bytes = count * (sizeof(uint64_t) + 2 * dof * sizeof(double) + size);
    CAROM_DEVICE_TRY(carom_device_reserve_pinned(device, bytes + 64));
    uint64_t *which = (uint64_t *)device->pinned.data;
    double *q = (double *)(which + count), *to = q + count * dof;
    char *results = (char *)(to + count * dof);
    CAROM_DEVICE_TRY(carom_device_copy(device, which, list, count * sizeof(*which),
                                       cudaMemcpyDeviceToHost, "a copy"));
    CAROM_DEVICE_TRY(robot_copy_values(device, a->configurations, which, count, dof, q));
    CAROM_DEVICE_TRY(robot_copy_values(device, a->to, which, count, dof, to));
    carom_status status = a->decide(a->context, a->user, a, q, to, count, results);
    if (status != CAROM_OK)
        return carom_device_fail(device, status,
                                 "%llu configurations could not be decided on the host",
                                 (unsigned long long)count);
    for (uint64_t i = 0; i < count; ++i) {
        char *answer = (char *)a->results + which[i] * size;
        if (robot_is_overwritten(device, op, answer, size)) continue;
        CAROM_DEVICE_TRY(carom_device_check(device,
                                            cudaMemcpyAsync(answer, results + i * size, size,
                                                            cudaMemcpyHostToDevice, device->stream),
                                            "a copy"));
    }
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "a copy");
}

carom_status carom_robot_finish(carom_device *device, carom_device_op *op,
                                const carom_device_counters *counters, bool *again) {
    if (counters->n[CAROM_ROBOT_N_BAD] != 0)
        return carom_device_fail(
            device, CAROM_BAD_INPUT,
            "configuration %llu has a number that is not finite or beyond 2^40 "
            "in size",
            ~counters->n[CAROM_ROBOT_N_BAD]);
    if (carom_device_list_grows(device, CAROM_SCRATCH_ROBOT_HOST,
                                counters->n[CAROM_ROBOT_N_HOST] * CAROM_DEVICE_MOST_OPS,
                                sizeof(uint64_t)))
        *again = true;
    if (*again || counters->n[CAROM_ROBOT_N_HOST] == 0) return CAROM_OK;
    return robot_decide_on_host(device, op, counters->n[CAROM_ROBOT_N_HOST]);
}

static carom_status robot_finish(carom_device *device, carom_device_op *op,
                                 const carom_device_counters *counters, bool *again) {
    for (const auto &list : robot_lists)
        if (carom_device_list_grows(device, list.block, counters->n[list.counter],
                                    sizeof(uint64_t)))
            *again = true;
    return carom_robot_finish(device, op, counters, again);
}

static carom_status robot_cuda_query(carom_device *device, const carom_device_robot_query *query) {
    if (query->kind == CAROM_DEVICE_ROBOT_CLEARANCE)
        return carom_robot_cuda_clearance(device, query);
    if (query->kind == CAROM_DEVICE_ROBOT_MOTION) return carom_robot_cuda_motion(device, query);
    carom_device_op op = {robot_reserve, robot_launch, robot_finish, nullptr, {}};
    *carom_device_arguments<carom_device_robot_query>(&op) = *query;
    return carom_device_submit(device, &op);
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_robots carom_cuda_robots_2 = {
    robot_cuda_reserve, robot_cuda_write, robot_cuda_destroy, robot_cuda_query};
