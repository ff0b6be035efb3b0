/* SPDX-License-Identifier: MIT */
/* Balls on the GPU: the grid of balls_item.h, built on the device and asked in one kernel.
 *
 * Spheres are sorted along a Morton curve, entries counted per bucket, the counts added up, and
 * entries written. An entry carries the lowest bits of its cell. So a query takes each sphere once
 * although several cells of a sphere may share a bucket: if the balls meet, the cell that is asked
 * for is among those of the sphere, whose low bits differ.
 *
 * A query is one kernel. Warps take 32 spheres at a time, scan the buckets of their cells in floats
 * and collect the pairs that are left; whenever there are 32 of them, each lane decides one in
 * doubles and adds its terms to sums of its own, in the fixed point of pack_item.h. Integers do not
 * depend on the order in which they are added, so the result has the bits of the CPU. Sums of lanes
 * are added up by warp, block and grid; the block that is done last writes the result and leaves
 * all sums 0 for the next query.
 *
 * Source: Weller, Frese, Zachmann 2013, 4 and 5. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <new>

#include "balls/balls_device.h"
#include "bvh/bvh_cuda.h"

#define THREADS    128u
#define BLOCKS     4u /* per multiprocessor */
#define WARPS      (THREADS / CAROM_WARP)
#define SHARE      8u                /* threads that enter one sphere in its cells */
#define BUFFER     (2u * CAROM_WARP) /* pairs of a warp: below 32 are left, and 32 come at a time */
#define VISITS     (2u * CAROM_WARP) /* of 32 spheres on two levels */
#define ROUND      8u                /* visits whose entries are read at once: that hides latency */
#define VALUES     32u               /* sums of 64 bits: two parts of 15 terms, two counts */
#define TERMS      13u               /* of the estimate; two more of the inner balls */
#define REPLICAS   8u                /* of the sums of a query that very many blocks add to */
#define MOST_TURN  128u              /* pairs per lane: 32 times these fit into 64 bits (2^13) */
#define PER_SPHERE 10u               /* entries that there is room for at first: packings have 8 */

/* Blocks of scratch; those of soups come before them. */
enum { SORT = 20, BINS, SPHERES, COUNTS, STATES, FLAGS, MEETINGS, OVERLAPS, FOUND, SORTED };

/* Counters: entries of a build; of a query: */
enum { N_BAD, N_VISITS, N_CANDIDATES, N_UNDECIDED, N_FOUND };

/* ---- Views ----------------------------------------------------------------------------------- */

/* A sphere as it asks. */
struct alignas(16) asker {
    double x, y, z;
    float reach, near;
};

/* A grid in device memory. Of `v`, only `spheres` and `starts` point to arrays; starts are those of
 * entries. */
struct grid_view {
    carom_balls_view v;
    const asker *askers;
    const asker *groups;   /* balls around the centres of 32 consecutive spheres; near: unused */
    const float4 *entries; /* centre and reach */
    const uint2 *links;    /* rank; the smaller radius, rounded up to 17 bits, and a tag */
};

struct grid_arrays {
    carom_device_block spheres, askers, groups, starts, entries, links;
};

struct carom_device_balls {
    grid_arrays arrays[2]; /* the current ones, and those that the next change fills */
    int current;
    carom_device_block view; /* grid_view; where it lies never changes */
    carom_balls_view host;   /* its numbers, for launches */
    uint64_t entries, wanted;
};

/* A meeting as kernels read it. */
struct meeting_view {
    const grid_view *grid[2];
    carom_pose pose[2];
    const carom_pose *poses[2]; /* NULL: `pose` */
    double scale[2];
    uint64_t flags; /* the first of its words */
};

static uint64_t row(uint64_t bytes) {
    return (bytes / CAROM_DEVICE_ALLOCATION + 1) * CAROM_DEVICE_ALLOCATION;
}

static __host__ __device__ inline uint64_t words_for(uint32_t count) {
    return ((uint64_t)count + 31u) / 32u;
}

/* ---- Building -------------------------------------------------------------------------------- */

static __global__ void make_keys(carom_balls_view view, const carom_pack_sphere *spheres,
                                 carom_tree_sort sort) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t key = 0;
    bool there = i < view.count;
    if (there) {
        float position[3];
        carom_balls_position(&view, spheres[i].centre, position);
        key = carom_balls_key(position);
    }
    carom_tree_count_key(there, i, key, sort.keys, sort.ranks, sort.bins, sort.bits);
}

/* Calls f(x, y, z) for the cells of carom_balls_cells, those of one of SHARE threads. */
template <typename F>
static __device__ inline void each_cell(const carom_balls_view &view, const float centre[3],
                                        float reach, uint32_t level, unsigned share, F f) {
    carom_grid_cells box = carom_balls_box(&view, centre, reach, level);
    float limit = carom_balls_entry_reach(reach) + CAROM_BALLS_SLACK, edge = view.edge[level];
    auto squared_gap = [&](int k, uint32_t i) {
        float begin = view.box_low[k] + (float)i * edge, end = begin + edge;
        float gap = centre[k] < begin ? begin - centre[k]
                    : centre[k] > end ? centre[k] - end
                                      : 0.0f;
        return gap * gap;
    };
    uint32_t side_x = box.high[0] - box.low[0] + 1u, side_y = box.high[1] - box.low[1] + 1u;
    uint32_t count = side_x * side_y * (box.high[2] - box.low[2] + 1u);
    for (uint32_t i = share; i < count; i += SHARE) {
        uint32_t x = box.low[0] + i % side_x, y = box.low[1] + i / side_x % side_y;
        uint32_t z = box.low[2] + i / side_x / side_y;
        float squared = squared_gap(2, z) + squared_gap(1, y);
        if (squared + squared_gap(0, x) <= limit * limit) f(x, y, z);
    }
}

/* Puts spheres into their order and counts their entries. */
static __global__ void place_spheres(carom_balls_view view, const carom_pack_sphere *spheres,
                                     const uint32_t *order, carom_balls_sphere *placed,
                                     asker *askers, uint32_t *counts, carom_device_count *total) {
    carom_device_begin();
    __shared__ unsigned entered;
    if (threadIdx.x == 0) entered = 0;
    __syncthreads();
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, rank = thread / SHARE;
    if (rank < view.count) {
        uint32_t index = order[rank];
        carom_pack_sphere s = spheres[index];
        double near = CAROM_MAX(s.radius, s.secondary);
        float reach = carom_float_up(carom_balls_reach(&s) * view.unit, 0.0), position[3];
        uint32_t level = carom_balls_level(&view, reach), mine = 0;
        if (thread % SHARE == 0) {
            placed[rank] = carom_balls_sphere{s.centre,
                                              s.radius,
                                              s.secondary,
                                              s.cover,
                                              carom_pack_void_units(&view.extent, s.void_volume),
                                              index,
                                              level};
            askers[rank] = asker{s.centre.x, s.centre.y, s.centre.z, reach,
                                 carom_float_up(near * view.unit, 0.0)};
        }
        carom_balls_position(&view, s.centre, position);
        each_cell(view, position, reach, level, thread % SHARE,
                  [&](uint32_t x, uint32_t y, uint32_t z) {
                      atomicAdd(&counts[carom_grid_bucket(&view.table, x, y, z, level)], 1u);
                      ++mine;
                  });
        atomicAdd(&entered, mine);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, (carom_device_count)entered);
}

/* A warp for each 32 spheres. */
static __global__ void bound_groups(carom_balls_view view, const asker *askers, asker *groups) {
    carom_device_begin();
    uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x, last = view.count - 1u;
    if (rank / CAROM_WARP > last / CAROM_WARP) return;
    asker s = askers[rank < last ? rank : last];
    double low[3] = {s.x, s.y, s.z}, high[3] = {s.x, s.y, s.z};
    for (int k = 0; k < 3; ++k)
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
            low[k] = fmin(low[k], __shfl_xor_sync(~0u, low[k], step));
            high[k] = fmax(high[k], __shfl_xor_sync(~0u, high[k], step));
        }
    carom_vec3 middle = carom_vec(0.5 * low[0] + 0.5 * high[0], 0.5 * low[1] + 0.5 * high[1],
                                  0.5 * low[2] + 0.5 * high[2]);
    double far = carom_length(carom_vec_sub(carom_vec(s.x, s.y, s.z), middle));
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        far = fmax(far, __shfl_xor_sync(~0u, far, step));
    if (rank % CAROM_WARP == 0)
        groups[rank / CAROM_WARP] =
            asker{middle.x, middle.y, middle.z, (float)(far * view.unit) + CAROM_BALLS_SLACK, 0.0f};
}

/* The level, and the lowest four bits of a cell along each axis: cells of one sphere are fewer than
 * 16 along each (CAROM_BALLS_MOST_SIDE). */
#define TAG_BITS 15u
#define TAG_MASK ((1u << TAG_BITS) - 1u)

static __device__ inline uint32_t tag_of(uint32_t x, uint32_t y, uint32_t z, uint32_t level) {
    return (x & 15u) | (y & 15u) << 4 | (z & 15u) << 8 | level << 12;
}

/* Leaves all counts 0 for the next build. */
static __global__ void enter_spheres(carom_balls_view view, const asker *askers,
                                     const carom_balls_sphere *placed, const uint32_t *starts,
                                     uint32_t *counts, float4 *entries, uint2 *links,
                                     uint64_t capacity) {
    carom_device_begin();
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, rank = thread / SHARE;
    if (rank >= view.count) return;
    asker s = askers[rank];
    uint32_t level = placed[rank].level;
    float position[3];
    carom_balls_position(&view, carom_vec(s.x, s.y, s.z), position);
    float4 entry = make_float4(position[0], position[1], position[2], s.reach);
    uint32_t near = (__float_as_uint(s.near) + TAG_MASK) & ~TAG_MASK;
    each_cell(view, position, s.reach, level, thread % SHARE,
              [&](uint32_t x, uint32_t y, uint32_t z) {
                  uint32_t bucket = carom_grid_bucket(&view.table, x, y, z, level);
                  uint64_t at = (uint64_t)starts[bucket] + atomicSub(&counts[bucket], 1u) - 1u;
                  if (at >= capacity) return; /* it will be repeated */
                  entries[at] = entry;
                  links[at] = make_uint2(rank, near | tag_of(x, y, z, level));
              });
}

struct build_arguments {
    carom_device_balls *balls;
    const carom_balls_view *view; /* of the caller, who waits */
};

static grid_arrays *next_arrays(carom_device_balls *balls) {
    return &balls->arrays[1 - balls->current];
}

static size_t scan_bytes(uint32_t buckets) {
    size_t bytes = 0;
    uint32_t *none = nullptr;
    (void)cub::DeviceScan::ExclusiveSum(nullptr, bytes, none, none, (int64_t)buckets + 1,
                                        (cudaStream_t) nullptr);
    return bytes;
}

/* Makes a block large enough and sets what is new to 0. */
static carom_status reserve_zeros(carom_device *device, int block, uint64_t bytes) {
    if (bytes <= device->scratch[block].bytes) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &device->scratch[block], bytes, "balls"));
    return carom_device_check(
        device, cudaMemsetAsync(device->scratch[block].data, 0, bytes, device->stream), "balls");
}

static carom_status build_reserve(carom_device *device, carom_device_op *op) {
    build_arguments *b = carom_device_arguments<build_arguments>(op);
    grid_arrays *to = next_arrays(b->balls);
    uint64_t count = b->view->count, buckets = b->view->table.bucket_count;
    uint64_t entries = PER_SPHERE * count + 1024;
    if (entries < b->balls->wanted) entries = b->balls->wanted;
    CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, b->view->count, &device->scratch[SORT],
                                             &device->scratch[BINS]));
    CAROM_DEVICE_TRY(reserve_zeros(device, COUNTS, (buckets + 1) * sizeof(uint32_t)));
    const struct {
        carom_device_block *block;
        uint64_t bytes;
    } wanted[] = {{&device->scratch[SORTED], row(count * sizeof(uint32_t)) + scan_bytes(buckets)},
                  {&to->spheres, count * sizeof(carom_balls_sphere)},
                  {&to->askers, count * sizeof(asker)},
                  {&to->groups, words_for(b->view->count) * sizeof(asker)},
                  {&to->starts, (buckets + 1) * sizeof(uint32_t)},
                  {&to->entries, entries * sizeof(float4)},
                  {&to->links, entries * sizeof(uint2)}};
    for (const auto &array : wanted)
        CAROM_DEVICE_TRY(carom_device_reserve(device, array.block, array.bytes, "balls"));
    return CAROM_OK;
}

static void build_launch(carom_device *device, carom_device_op *op) {
    const build_arguments *b = carom_device_arguments<build_arguments>(op);
    const grid_arrays *to = next_arrays(b->balls);
    const carom_balls_view &view = *b->view;
    unsigned threads = 128, blocks = carom_device_blocks(view.count, threads);
    uint64_t shared = carom_device_blocks((uint64_t)SHARE * view.count, threads);
    carom_tree_sort sort = {};
    (void)carom_tree_sort_place(view.count, (char *)device->scratch[SORT].data,
                                (uint32_t *)device->scratch[BINS].data, &sort);
    const carom_pack_sphere *spheres = (const carom_pack_sphere *)device->scratch[SPHERES].data;
    uint32_t *order = (uint32_t *)device->scratch[SORTED].data;
    uint32_t *counts = (uint32_t *)device->scratch[COUNTS].data;
    uint32_t *starts = (uint32_t *)to->starts.data;
    carom_balls_sphere *placed = (carom_balls_sphere *)to->spheres.data;
    asker *askers = (asker *)to->askers.data;
    void *temporary = (char *)order + row((uint64_t)view.count * sizeof(uint32_t));
    size_t bytes = scan_bytes(view.table.bucket_count);
    carom_device_step(device, "order");
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    carom_device_launch(device, make_keys, blocks, threads, view, spheres, sort);
    carom_tree_order(device, view.count, sort, order);
    carom_device_step(device, "spheres");
    carom_device_launch(device, place_spheres, shared, threads, view, spheres, order, placed,
                        askers, counts, &op->counters->n[0]);
    carom_device_launch(device, bound_groups, blocks, threads, view, askers,
                        (asker *)to->groups.data);
    carom_device_step(device, "buckets");
    (void)cub::DeviceScan::ExclusiveSum(temporary, bytes, counts, starts,
                                        (int64_t)view.table.bucket_count + 1, device->stream);
    carom_device_step(device, "entries");
    carom_device_launch(device, enter_spheres, shared, threads, view, askers, placed, starts,
                        counts, (float4 *)to->entries.data, (uint2 *)to->links.data,
                        to->entries.bytes / sizeof(float4));
}

static carom_status build_settle(carom_device *device, carom_device_op *op,
                                 const carom_device_counters *counters, bool *again) {
    const build_arguments *b = carom_device_arguments<build_arguments>(op);
    carom_device_balls *balls = b->balls;
    uint64_t entries = counters->n[0];
    if (entries > UINT32_MAX - 2u * CAROM_WARP)
        return carom_device_fail(device, CAROM_TOO_LARGE, "too many spheres for a grid: %u",
                                 b->view->count);
    balls->entries = entries;
    *again = entries * sizeof(float4) > next_arrays(balls)->entries.bytes;
    if (*again) balls->wanted = entries + entries / 8;
    return CAROM_OK;
}

static carom_status balls_create(carom_device *device, carom_device_balls **out) {
    carom_device_balls *balls = new (std::nothrow) carom_device_balls{};
    if (balls == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for balls");
    carom_status status = carom_device_reserve(device, &balls->view, sizeof(grid_view), "balls");
    if (status != CAROM_OK) {
        delete balls;
        return status;
    }
    *out = balls;
    return CAROM_OK;
}

static void balls_destroy(carom_device_balls *balls) {
    for (grid_arrays &a : balls->arrays) {
        carom_device_block *blocks[] = {&a.spheres, &a.askers,  &a.groups,
                                        &a.starts,  &a.entries, &a.links};
        for (carom_device_block *block : blocks) carom_device_release(block);
    }
    carom_device_release(&balls->view);
    delete balls;
}

static uint64_t balls_bytes(const carom_device_balls *balls) {
    uint64_t bytes = balls->view.bytes;
    for (const grid_arrays &a : balls->arrays)
        bytes += a.spheres.bytes + a.askers.bytes + a.groups.bytes + a.starts.bytes +
                 a.entries.bytes + a.links.bytes;
    return bytes;
}

static uint64_t balls_entries(const carom_device_balls *balls) {
    return balls->entries;
}

static carom_status balls_set(carom_device *device, carom_device_balls *balls,
                              const carom_balls_view *view, const carom_pack_sphere *spheres) {
    carom_device_op op = {build_reserve, build_launch, build_settle, nullptr, {}};
    uint64_t bytes = view->count * sizeof(*spheres), entries = balls->entries;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &device->scratch[SPHERES], bytes, "balls"));
    CAROM_DEVICE_TRY(
        carom_device_check(device,
                           cudaMemcpyAsync(device->scratch[SPHERES].data, spheres, bytes,
                                           cudaMemcpyHostToDevice, device->stream),
                           "copying spheres"));
    *carom_device_arguments<build_arguments>(&op) = build_arguments{balls, view};
    carom_status status = carom_device_submit(device, &op);
    if (status == CAROM_OK) status = carom_device_finish(device);
    if (status == CAROM_OK) {
        const grid_arrays *to = next_arrays(balls);
        grid_view on_device = {*view, (const asker *)to->askers.data,
                               (const asker *)to->groups.data, (const float4 *)to->entries.data,
                               (const uint2 *)to->links.data};
        on_device.v.spheres = (const carom_balls_sphere *)to->spheres.data;
        on_device.v.starts = (const uint32_t *)to->starts.data;
        status = carom_device_check(
            device,
            cudaMemcpy(balls->view.data, &on_device, sizeof(on_device), cudaMemcpyHostToDevice),
            "copying balls");
    }
    if (status != CAROM_OK) {
        balls->entries = entries;
        return status;
    }
    balls->host = *view;
    balls->current = 1 - balls->current;
    return CAROM_OK;
}

/* ---- A meeting in shared memory -------------------------------------------------------------- */

/* x -> m x + b. */
struct affine {
    double m[9], b[3];
};

struct meeting_block {
    grid_view grid[2];
    carom_pose pose[2];
    carom_pack_meeting meeting;
    carom_balls_asking ask[2];
    affine into[2]; /* from the centres of each packing into the grid of the other */
    bool bad, apart, regular;
    volatile bool ready; /* pivot and scales are there: they are needed last */
};

/* Prepares a meeting; all threads of the block call it. What one thread does here all blocks wait
 * for: so warps do different parts. */
static __device__ void begin_meeting(meeting_block *s, const meeting_view &m, uint64_t index) {
    const unsigned words = sizeof(grid_view) / sizeof(uint64_t);
    const unsigned numbers = sizeof(carom_pose) / sizeof(double);
    const carom_pack_extent *extent_a = &s->grid[0].v.extent, *extent_b = &s->grid[1].v.extent;
    static_assert(sizeof(grid_view) % sizeof(uint64_t) == 0, "copied in words");
    for (unsigned i = threadIdx.x; i < 2 * words; i += blockDim.x)
        ((uint64_t *)s->grid)[i] = ((const uint64_t *)m.grid[i / words])[i % words];
    if (threadIdx.x == 0) s->ready = false;
    if (threadIdx.x < 2 * numbers) {
        unsigned side = threadIdx.x / numbers;
        const carom_pose *pose = m.poses[side] != nullptr ? m.poses[side] + index : &m.pose[side];
        ((double *)s->pose)[threadIdx.x] = ((const double *)pose)[threadIdx.x % numbers];
    }
    __syncthreads();
    if (threadIdx.x < CAROM_WARP) { /* one lane for each packing */
        unsigned side = threadIdx.x;
        bool fits = true;
        double far;
        if (side < 2) {
            const carom_pack_extent *extent = &s->grid[side].v.extent;
            fits = carom_pack_place_fits(extent, &s->pose[side], m.scale[side], &far);
            if (fits)
                s->meeting.place[side] =
                    carom_pack_place_make(extent, &s->pose[side], m.scale[side]);
        }
        bool bad = __any_sync(~0u, !fits);
        __syncwarp();
        if (side == 0) {
            s->bad = bad;
            s->meeting.slack = carom_pack_meeting_slack(&s->meeting);
        }
    }
    __syncthreads();
    unsigned warp = threadIdx.x / CAROM_WARP, lane = threadIdx.x % CAROM_WARP;
    if (s->bad) {
        if (threadIdx.x == 0) s->apart = s->regular = s->ready = true;
    } else if (warp == 0) {
        if (lane < 2)
            s->ask[lane] =
                carom_balls_asking_make(&s->grid[0].v, &s->grid[1].v, &s->meeting, lane == 1);
        __syncwarp();
        if (lane < 24) { /* one number each */
            const carom_balls_asking &ask = s->ask[lane / 12];
            unsigned i = lane % 12, row = i < 9 ? i / 3 : i - 9, column = i % 3;
            const double *turn = &ask.turn[3 * row], *r = ask.from_place->frame.r;
            carom_vec3 apart = carom_vec_sub(ask.from_place->frame.t, ask.grid_place->frame.t);
            if (i < 9)
                s->into[lane / 12].m[i] =
                    (turn[0] * r[column] + turn[1] * r[3 + column] + turn[2] * r[6 + column]) *
                    ask.from_place->scale;
            else
                s->into[lane / 12].b[row] =
                    turn[0] * apart.x + turn[1] * apart.y + turn[2] * apart.z - ask.shift[row];
        }
    } else if (warp == 1 && lane == 0) {
        s->apart = carom_balls_apart(&s->meeting, s->grid[0].v.ball, s->grid[1].v.ball);
        s->regular = carom_balls_is_regular(&s->grid[0].v, &s->meeting.place[0], &s->meeting) &&
                     carom_balls_is_regular(&s->grid[1].v, &s->meeting.place[1], &s->meeting);
    }
    __syncthreads();
    if (warp == WARPS - 1 && !s->bad) { /* the others go on meanwhile */
        if (lane == 0) {
            carom_pack_meeting_finish(&s->meeting, extent_a, extent_b);
            __threadfence_block();
            s->ready = true;
        }
        __syncwarp();
    }
}

/* Waits until all of a meeting is there. A flag with fences, no barrier: warps that have no pair
 * never wait. (racecheck does not know such flags and reports the numbers that it guards.) */
static __device__ inline void await_scales(const meeting_block &s) {
    while (!s.ready) __nanosleep(20);
    __threadfence_block();
}

static __device__ inline carom_pack_posed load_posed(const meeting_block &s, int side,
                                                     uint32_t rank) {
    const double2 *p = (const double2 *)&s.grid[side].v.spheres[rank];
    double2 xy = __ldg(p), zr = __ldg(p + 1), sc = __ldg(p + 2);
    return carom_pack_pose_sphere(&s.meeting.place[side], carom_vec(xy.x, xy.y, zr.x), zr.y, sc.x,
                                  sc.y);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* What a search looks for. */
enum { NEAR, NEAR_AND_COVERS, WIDE };

/* A pair that is left: ranks in A and B. The highest bits: whether its inner or secondary balls may
 * meet, and whether floats could not decide about its covers. */
#define MARK 0x80000000u

/* What a warp works on, in shared memory. */
struct warp_work {
    float4 queries[CAROM_WARP]; /* positions and reaches of the spheres that ask */
    float near[CAROM_WARP];
    uint4
        visits[VISITS]; /* entries: first, end, of which 32 are compared; least reach; tag, lane */
    uint16_t hits[(ROUND + 1u) * CAROM_WARP]; /* visit and entry of it that are near enough */
    uint2 pairs[BUFFER];
};

/* What warps find. SEEKER::take(n) decides the last n pairs, n at most 32; flag_pair notes two
 * covers that meet; stopped ends the search. */
struct finder {
    warp_work &work;
    unsigned count, hit_count; /* pairs and hits that wait */
    uint64_t visits, candidates, undecided;
};

/* Adds the pairs of lanes to the buffer. */
template <typename SEEKER>
static __device__ inline void push(SEEKER &seeker, bool has, uint32_t a, uint32_t b) {
    unsigned mask = __ballot_sync(~0u, has), lane = threadIdx.x % CAROM_WARP;
    if (mask == 0) return;
    if (has)
        seeker.work.pairs[seeker.count + __popc(mask & ((1u << lane) - 1u))] = make_uint2(a, b);
    seeker.count += __popc(mask);
    __syncwarp();
    if (seeker.count < CAROM_WARP) return;
    seeker.count -= CAROM_WARP;
    seeker.take(CAROM_WARP);
}

/* Looks at the last n hits: an entry may be of another cell that shares the bucket, and only covers
 * may meet. `first` is the rank of the sphere of lane 0. */
template <typename SEEKER>
static __device__ inline void look_at(const meeting_block &s, int side, uint32_t first, unsigned n,
                                      SEEKER &seeker) {
    const grid_view &grid = s.grid[1 - side];
    const warp_work &work = seeker.work;
    unsigned lane = threadIdx.x % CAROM_WARP;
    bool has = false, close = false, doubt = false;
    uint32_t rank = 0, other = 0;
    if (lane < n) {
        unsigned hit = work.hits[seeker.hit_count + lane];
        uint4 visit = work.visits[hit / CAROM_WARP];
        unsigned at = visit.x + hit % CAROM_WARP, from = visit.w % CAROM_WARP;
        uint2 link = __ldg(&grid.links[at]);
        float4 e = __ldg(&grid.entries[at]), q = work.queries[from];
        has = (link.y & TAG_MASK) == visit.w / CAROM_WARP;
        rank = first + from;
        other = link.x;
        if (has && SEEKER::WHAT != WIDE) {
            float dx = e.x - q.x, dy = e.y - q.y, dz = e.z - q.z;
            float squared = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
            float sum = __uint_as_float(link.y & ~TAG_MASK) + work.near[from];
            close = squared <= sum * sum;
            if (SEEKER::WHAT == NEAR_AND_COVERS) {
                /* Less the slack that was added, and twice more for positions and radii. */
                float sure = e.w + q.w - 3.0f * CAROM_BALLS_SLACK;
                bool covers_decide = s.grid[0].v.covers_largest && s.grid[1].v.covers_largest;
                doubt = !(covers_decide && sure > 0.0f && squared <= sure * sure);
                if (!doubt) seeker.flag_pair(side == 0 ? rank : other, side == 0 ? other : rank);
            }
            has = close || doubt;
        }
    }
    __syncwarp();
    uint32_t a = side == 0 ? rank : other, b = side == 0 ? other : rank;
    push(seeker, has, close ? a | MARK : a, doubt ? b | MARK : b);
}

/* Compares spheres with 32 entries each, one entry per lane: reading is coalesced, however spheres
 * and cells lie to each other. */
template <typename SEEKER>
static __device__ inline void scan(const meeting_block &s, int side, uint32_t first, unsigned count,
                                   SEEKER &seeker) {
    const float4 *entries = s.grid[1 - side].entries;
    warp_work &work = seeker.work;
    unsigned lane = threadIdx.x % CAROM_WARP, lower = (1u << lane) - 1u;
    for (unsigned begin = 0; begin < count; begin += ROUND) {
        float4 e[ROUND];
#pragma unroll
        for (unsigned i = 0; i < ROUND; ++i) {
            uint4 visit = work.visits[begin + i < count ? begin + i : begin];
            e[i] = __ldg(&entries[visit.x + lane < visit.y ? visit.x + lane : visit.x]);
        }
#pragma unroll
        for (unsigned i = 0; i < ROUND; ++i) {
            if (begin + i >= count) break;
            uint4 visit = work.visits[begin + i];
            float4 q = work.queries[visit.w % CAROM_WARP];
            float dx = e[i].x - q.x, dy = e[i].y - q.y, dz = e[i].z - q.z, wide = e[i].w + q.w;
            float squared = fmaf(dx, dx, fmaf(dy, dy, dz * dz));
            bool hit = visit.x + lane < visit.y && squared <= wide * wide &&
                       e[i].w >= __uint_as_float(visit.z);
            unsigned mask = __ballot_sync(~0u, hit);
            if (hit)
                work.hits[seeker.hit_count + __popc(mask & lower)] =
                    (uint16_t)((begin + i) * CAROM_WARP + lane);
            seeker.hit_count += __popc(mask);
        }
        __syncwarp();
        unsigned least = begin + ROUND >= count ? 1u : CAROM_WARP;
        while (seeker.hit_count >= least) {
            unsigned some = CAROM_MIN(seeker.hit_count, CAROM_WARP);
            seeker.hit_count -= some;
            look_at(s, side, first, some, seeker);
        }
    }
    __syncwarp();
}

/* A centre in units of the grid that is asked. */
static __device__ inline void to_grid(const affine &into, carom_vec3 c, float p[3]) {
    for (int k = 0; k < 3; ++k) {
        double at = fma(into.m[3 * k], c.x,
                        fma(into.m[3 * k + 1], c.y, fma(into.m[3 * k + 2], c.z, into.b[k])));
        p[k] = (float)fmin(fmax(at, -0x1p20), 0x1p20);
    }
}

/* A sphere that asks, as it is loaded. */
struct loaded {
    double2 xy, z_radii;

    __device__ carom_vec3 centre() const {
        return carom_vec(xy.x, xy.y, z_radii.x);
    }
    __device__ float reach() const {
        return __int_as_float(__double2loint(z_radii.y));
    }
    __device__ float near() const {
        return __int_as_float(__double2hiint(z_radii.y));
    }
};

static __device__ inline loaded load_asker(const asker *from) {
    const double2 *p = (const double2 *)from;
    return loaded{__ldg(p), __ldg(p + 1)};
}

/* The spheres of both packings, in groups of 32: those of A, then those of B. */
struct groups {
    uint64_t of_a, all;

    __device__ explicit groups(const meeting_block &s)
        : of_a(words_for(s.grid[0].v.count)), all(of_a + words_for(s.grid[1].v.count)) {
    }
    __device__ int side(uint64_t group) const {
        return group < of_a ? 0 : 1;
    }
    __device__ uint32_t first(uint64_t group) const {
        return (uint32_t)(group < of_a ? group : group - of_a) * CAROM_WARP;
    }
};

/* Whether a group may have centres in the box of the other grid. */
static __device__ inline bool is_group_near(const meeting_block &s, const groups &g,
                                            uint64_t group) {
    int side = g.side(group);
    const carom_balls_view &grid = s.grid[1 - side].v;
    loaded ball = load_asker(&s.grid[side].groups[g.first(group) / CAROM_WARP]);
    float p[3], reach = (float)((double)ball.reach() * s.ask[side].from_ratio) + CAROM_BALLS_SLACK;
    to_grid(s.into[side], ball.centre(), p);
    bool near = true;
    for (int k = 0; k < 3; ++k)
        near = near && p[k] + reach >= grid.box_low[k] && p[k] - reach <= grid.box_high[k];
    return near;
}

/* The sphere of this lane in a group; any other where it has none. */
static __device__ inline loaded load_member(const meeting_block &s, const groups &g,
                                            uint64_t group) {
    const grid_view &from = s.grid[g.side(group)];
    uint32_t rank = g.first(group) + threadIdx.x % CAROM_WARP;
    return load_asker(&from.askers[rank < from.v.count ? rank : 0]);
}

/* The 32 spheres of a warp ask the grid of the other packing, two levels at a time. */
template <typename SEEKER>
static __device__ inline void ask_grid(const meeting_block &s, int side, uint32_t first,
                                       const loaded &sphere, SEEKER &seeker) {
    const carom_balls_asking &ask = s.ask[side];
    const grid_view &from = s.grid[side], &grid = s.grid[1 - side];
    warp_work &work = seeker.work;
    unsigned lane = threadIdx.x % CAROM_WARP;
    uint32_t rank = first + lane;
    bool inside = rank < from.v.count;
    float p[3] = {0.0f, 0.0f, 0.0f}, least = 0.0f;
    if (inside) {
        to_grid(s.into[side], sphere.centre(), p);
        for (int k = 0; k < 3; ++k)
            inside = inside && p[k] >= grid.v.box_low[k] && p[k] <= grid.v.box_high[k];
        if (inside) {
            float reach = (float)((double)sphere.reach() * ask.from_ratio) + CAROM_BALLS_SLACK;
            work.queries[lane] = make_float4(p[0], p[1], p[2], reach);
            work.near[lane] = (float)((double)sphere.near() * ask.from_ratio) + CAROM_BALLS_SLACK;
            least = carom_balls_threshold(sphere.reach(), ask.ratio, ask.b_asks);
        }
    }
    if (!__any_sync(~0u, inside)) return;
    for (uint32_t level = 0; level < grid.v.level_count; level += 2) {
        uint2 span[2] = {};
        uint32_t tag[2] = {};
#pragma unroll
        for (unsigned i = 0; i < 2; ++i) {
            uint32_t on = level + i;
            if (!inside || on >= grid.v.level_count || least > grid.v.top[on]) continue;
            uint32_t x = carom_balls_cell(&grid.v, on, 0, p[0]);
            uint32_t y = carom_balls_cell(&grid.v, on, 1, p[1]);
            uint32_t z = carom_balls_cell(&grid.v, on, 2, p[2]);
            uint32_t bucket = carom_grid_bucket(&grid.v.table, x, y, z, on);
            span[i].x = __ldg(&grid.v.starts[bucket]);
            span[i].y = __ldg(&grid.v.starts[bucket + 1]);
            tag[i] = tag_of(x, y, z, on) * CAROM_WARP + lane;
            ++seeker.visits;
        }
        for (;;) { /* 32 entries of each bucket */
            unsigned count = 0;
#pragma unroll
            for (unsigned i = 0; i < 2; ++i) {
                bool more = span[i].x < span[i].y;
                unsigned mask = __ballot_sync(~0u, more);
                if (more) {
                    work.visits[count + __popc(mask & ((1u << lane) - 1u))] =
                        make_uint4(span[i].x, span[i].y, __float_as_uint(least), tag[i]);
                    span[i].x += CAROM_WARP;
                }
                count += __popc(mask);
            }
            if (count == 0) break;
            __syncwarp();
            scan(s, side, first, count, seeker);
        }
    }
}

/* Where floats cannot tell: 32 spheres of A that are near B are compared with all of B. */
template <typename SEEKER>
static __device__ void compare_all(const meeting_block &s, uint32_t first, SEEKER &seeker) {
    uint32_t rank = first + threadIdx.x % CAROM_WARP;
    const carom_balls_view &of_a = s.grid[0].v, &of_b = s.grid[1].v;
    bool asks = rank < of_a.count;
    carom_pack_posed a = {};
    if (asks) {
        a = load_posed(s, 0, rank);
        carom_ball ball = {of_a.spheres[rank].centre,
                           (double)s.grid[0].askers[rank].reach / of_a.unit};
        asks = !carom_balls_apart(&s.meeting, ball, of_b.ball);
    }
    if (!__any_sync(~0u, asks)) return;
    for (uint32_t other = 0; other < of_b.count; ++other) {
        carom_pack_posed b = load_posed(s, 1, other);
        carom_vec3 apart = carom_vec_sub(b.centre, a.centre);
        double squared = carom_vec_dot(apart, apart), secondary = a.secondary + b.secondary,
               inner = a.radius + b.radius;
        bool close = SEEKER::WHAT != WIDE && asks &&
                     (squared < secondary * secondary || squared < inner * inner);
        bool covers = SEEKER::WHAT != NEAR && asks && carom_pack_covers_meet(&a, &b);
        push(seeker, close || covers, close ? rank | MARK : rank, covers ? other | MARK : other);
    }
}

/* All groups of part `part` of `parts`; then the pairs that are left. A warp takes groups that lie
 * far apart, so that all have some of the region where the packings overlap. With many of them, it
 * first leaves out those that lie outside of the other's box, 32 at once. The spheres of the next
 * group are loaded while those of one ask. */
template <typename SEEKER>
static __device__ inline void ask_all(const meeting_block &s, uint32_t part, uint32_t parts,
                                      SEEKER &seeker) {
    const groups g(s);
    uint64_t end = s.apart ? 0 : s.regular ? g.all : g.of_a, stride = (uint64_t)parts * WARPS;
    unsigned lane = threadIdx.x % CAROM_WARP;
    bool many = end > 4 * stride && s.regular;
    for (uint64_t base = (uint64_t)part * WARPS + threadIdx.x / CAROM_WARP; base < end;
         base += CAROM_WARP * stride) {
        uint64_t mine = base + lane * stride;
        bool near = mine < end && (!many || is_group_near(s, g, mine));
        unsigned mask = __ballot_sync(~0u, near);
        if (seeker.stopped()) break;
        loaded next = {};
        if (mask != 0 && s.regular)
            next = load_member(s, g, base + (unsigned)(__ffs((int)mask) - 1) * stride);
        while (mask != 0) {
            uint64_t group = base + (unsigned)(__ffs((int)mask) - 1) * stride;
            mask &= mask - 1u;
            if (s.regular) {
                loaded now = next;
                if (mask != 0)
                    next = load_member(s, g, base + (unsigned)(__ffs((int)mask) - 1) * stride);
                ask_grid(s, g.side(group), g.first(group), now, seeker);
            } else {
                compare_all(s, g.first(group), seeker);
            }
        }
    }
    unsigned left = seeker.count;
    seeker.count = 0;
    if (left != 0) seeker.take(left);
}

/* ---- Overlaps -------------------------------------------------------------------------------- */

/* Sums of a query on the device, all 0 between queries:
 *   low and high halves of VALUES sums, in replicas; then these numbers. */
enum {
    S_FLAGGED,
    S_VOIDS = 2,
    S_VISITS = 4,
    S_CANDIDATES,
    S_UNDECIDED,
    S_SPOILED, /* a bit for each term that exceeded its scale */
    S_TICKET,
    S_NUMBERS
};

static __host__ __device__ inline uint64_t state_words(uint32_t replicas) {
    return 2ull * VALUES * replicas + S_NUMBERS;
}

/* The sums of a block. */
struct block_sums {
    carom_device_count low[VALUES], high[VALUES], number[S_NUMBERS];
    double value[VALUES / 2];
    carom_packing_overlap overlap;
    bool last;
};

static __device__ inline carom_device_count bits_of(double x) {
    return (carom_device_count)__double_as_longlong(x);
}

/* The scale of a term: volume, force, torque, direction, moment; then both of the inner balls. */
static __device__ inline const carom_pack_scale &scale_of(const carom_pack_scales &scales,
                                                          unsigned term) {
    return term == 0 || term >= TERMS ? scales.volume
           : term < 4                 ? scales.force
           : term < 7                 ? scales.torque
                                      : scales.direction;
}

/* The sums of all threads, two parts of each term as bits of doubles, and two counts. A row has one
 * more than the threads, so that a warp reads a column without bank conflicts, too. */
template <bool BOUNDS> struct lane_sums {
    static const unsigned PARTS = 2u * (BOUNDS ? TERMS + 2u : TERMS);
    static const unsigned COUNT = PARTS + (BOUNDS ? 2u : 1u);
    carom_device_count value[COUNT][THREADS + 1]; /* parts of terms; pairs; inner pairs */

    __device__ void add(unsigned term, double x, const carom_pack_scale &scale) {
        double above = x + scale.coarse, rest = x - (above - scale.coarse);
        value[2 * term][threadIdx.x] += bits_of(above);
        value[2 * term + 1][threadIdx.x] += bits_of(rest + scale.fine);
    }

    __device__ void add_vec(unsigned term, carom_vec3 v, const carom_pack_scale &scale) {
        add(term, v.x, scale);
        add(term + 1, v.y, scale);
        add(term + 2, v.z, scale);
    }
};

/* Flags a sphere whose cover meets one of the other packing. */
static __device__ inline void flag(const meeting_block &s, block_sums &to, uint32_t *flags,
                                   int side, uint32_t rank) {
    uint32_t *word = flags + (side != 0 ? words_for(s.grid[0].v.count) : 0) + rank / 32u;
    uint32_t bit = 1u << rank % 32u;
    if ((__ldcg(word) & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;
    atomicAdd(&to.number[S_FLAGGED + side], 1ull);
    atomicAdd(&to.number[S_VOIDS + side], (carom_device_count)s.grid[side].v.spheres[rank].voids);
}

/* The term, or 0 where it exceeds its scale, which is then noted: as carom_pack_rounded does. Only
 * errors of meetings that floats cannot tell about are that large. */
static __device__ inline double limited(block_sums &to, unsigned term, double x,
                                        const carom_pack_scale &scale) {
    if (fabs(x) <= scale.largest) return x;
    atomicOr(&to.number[S_SPOILED], 1ull << term);
    return 0.0;
}

/* Adds the terms of a pair to the sums of the thread; without a pair zeros, so that all threads of
 * a warp have equally many. Not inlined: it needs twice the registers of the search. */
template <bool BOUNDS>
static __device__ __noinline__ void add_pair(const meeting_block &s, lane_sums<BOUNDS> &lanes,
                                             block_sums &to, uint32_t *flags, uint2 pair,
                                             bool there) {
    const carom_pack_scales &scales = s.meeting.scales;
    carom_pack_term term = {};
    double volume = 0.0, error = 0.0;
    if (there) {
        uint32_t rank_a = pair.x & ~MARK, rank_b = pair.y & ~MARK;
        carom_pack_posed a = load_posed(s, 0, rank_a), b = load_posed(s, 1, rank_b);
        if ((pair.x & MARK) != 0) {
            carom_ball ball_a = {a.centre, a.secondary}, ball_b = {b.centre, b.secondary};
            if (carom_pack_pair(&ball_a, &ball_b, s.meeting.pivot, &term))
                ++lanes.value[lanes.PARTS][threadIdx.x];
            else
                term = carom_pack_term{};
            if (BOUNDS) {
                carom_vec3 apart = carom_vec_sub(b.centre, a.centre);
                double squared = carom_vec_dot(apart, apart);
                if (carom_pack_inner(squared, sqrt(squared), a.radius, b.radius, s.meeting.slack,
                                     &volume, &error))
                    ++lanes.value[lanes.PARTS + 1][threadIdx.x];
                else
                    volume = error = 0.0;
            }
        }
        if (BOUNDS && (pair.y & MARK) != 0 && carom_pack_covers_meet(&a, &b)) {
            flag(s, to, flags, 0, rank_a);
            flag(s, to, flags, 1, rank_b);
        }
    }
    if (!s.regular) {
        double *const vectors[4] = {&term.force.x, &term.torque.x, &term.direction.x,
                                    &term.moment.x};
        term.volume = limited(to, 0, term.volume, scales.volume);
        for (unsigned i = 0; i < 12; ++i)
            vectors[i / 3][i % 3] =
                limited(to, 1 + i, vectors[i / 3][i % 3], scale_of(scales, 1 + i));
        volume = limited(to, TERMS, volume, scales.volume);
        error = limited(to, TERMS + 1, error, scales.volume);
    }
    __syncwarp();
    lanes.add(0, term.volume, scales.volume);
    lanes.add_vec(1, term.force, scales.force);
    lanes.add_vec(4, term.torque, scales.torque);
    lanes.add_vec(7, term.direction, scales.direction);
    lanes.add_vec(10, term.moment, scales.direction);
    if (!BOUNDS) return;
    lanes.add(TERMS, volume, scales.volume);
    lanes.add(TERMS + 1, error, scales.volume);
}

template <bool BOUNDS> struct summing : finder {
    static const int WHAT = BOUNDS ? NEAR_AND_COVERS : NEAR;
    const meeting_block &s;
    lane_sums<BOUNDS> &lanes;
    block_sums &to;
    uint32_t *flags;
    unsigned turns;

    __device__ summing(const meeting_block &of, lane_sums<BOUNDS> &of_lanes, block_sums &sums,
                       warp_work &of_warp, uint32_t *flags_of_both)
        : finder{of_warp, 0, 0, 0, 0, 0}, s(of), lanes(of_lanes), to(sums), flags(flags_of_both),
          turns(0) {
    }

    __device__ bool stopped() const {
        return false;
    }

    __device__ void flag_pair(uint32_t a, uint32_t b) {
        flag(s, to, flags, 0, a);
        flag(s, to, flags, 1, b);
    }

    __device__ void take(unsigned n) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        uint2 pair = lane < n ? work.pairs[count + lane] : make_uint2(0, 0);
        candidates += (pair.x & MARK) != 0 ? 1u : 0u;
        undecided += (pair.y & MARK) != 0 ? 1u : 0u;
        await_scales(s);
        add_pair<BOUNDS>(s, lanes, to, flags, pair, lane < n);
        if (++turns == MOST_TURN) flush();
        __syncwarp();
    }

    /* Adds the sums of the warp's threads to those of the block, one value per lane. */
    __device__ void flush() {
        unsigned v = threadIdx.x % CAROM_WARP, first = threadIdx.x - v;
        carom_device_count all = 0;
        if (turns == 0) return;
        __syncwarp();
        unsigned row = v < lanes.PARTS    ? v
                       : v >= VALUES - 2u ? v - (VALUES - 2u) + lanes.PARTS
                                          : lanes.COUNT; /* none */
        for (unsigned i = 0; i < CAROM_WARP && row < lanes.COUNT; ++i) {
            all += lanes.value[row][first + i];
            lanes.value[row][first + i] = 0;
        }
        if (v < lanes.PARTS) { /* less the bits of the constants */
            const carom_pack_scale &scale = scale_of(s.meeting.scales, v / 2);
            all -= (carom_device_count)CAROM_WARP * turns *
                   bits_of(v % 2 == 0 ? scale.coarse : scale.fine);
        }
        atomicAdd(&to.low[v], all & 0xFFFFFFFFull);
        atomicAdd(&to.high[v], (carom_device_count)((long long)all >> 32));
        turns = 0;
    }
};

/* Adds a number of each lane to one of the block. */
static __device__ inline void add_number(block_sums &to, unsigned which, uint64_t mine) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        mine += __shfl_xor_sync(~0u, mine, step);
    if (threadIdx.x % CAROM_WARP == 0 && mine != 0)
        atomicAdd(&to.number[which], (carom_device_count)mine);
}

/* Adds the sums of a block to those of the query; true for the block that is the last. */
static __device__ bool join_block(block_sums &b, carom_device_count *state, uint32_t part,
                                  uint32_t parts, uint32_t replicas) {
    carom_device_count *numbers = state + 2ull * VALUES * replicas;
    __syncthreads();
    if (threadIdx.x < CAROM_WARP) {
        unsigned v = threadIdx.x;
        carom_device_count *to = state + 2ull * VALUES * (part % replicas);
        if (b.low[v] != 0) atomicAdd(&to[v], b.low[v]);
        if (b.high[v] != 0) atomicAdd(&to[VALUES + v], b.high[v]);
        if (v < S_SPOILED && b.number[v] != 0) atomicAdd(&numbers[v], b.number[v]);
        if (v == S_SPOILED && b.number[v] != 0) atomicOr(&numbers[v], b.number[v]);
        __threadfence();
        __syncwarp();
        if (v == 0) b.last = atomicAdd(&numbers[S_TICKET], 1ull) == parts - 1u;
    }
    __syncthreads();
    return b.last;
}

/* The sums as numbers and the result from them; leaves the sums 0. One warp. */
static __device__ void write_result(const meeting_block &s, block_sums &b,
                                    carom_device_count *state, uint32_t replicas, bool bounds,
                                    carom_packing_overlap *result) {
    typedef unsigned __int128 wide;
    unsigned v = threadIdx.x;
    carom_device_count *numbers = state + 2ull * VALUES * replicas, low = 0, high = 0;
    await_scales(s);
    __threadfence();
    for (uint32_t i = 0; i < replicas; ++i) {
        carom_device_count *from = state + 2ull * VALUES * i;
        low += __ldcg(&from[v]);
        high += __ldcg(&from[VALUES + v]);
        from[v] = from[VALUES + v] = 0;
    }
    if (v < S_NUMBERS) {
        b.number[v] = __ldcg(&numbers[v]);
        numbers[v] = 0;
    }
    wide value = ((wide)(__int128)(long long)high << 32) + low;
    carom_device_count next_low = __shfl_down_sync(~0u, (carom_device_count)value, 1);
    carom_device_count next_high = __shfl_down_sync(~0u, (carom_device_count)(value >> 64), 1);
    wide sum = (value << CAROM_PACK_FINE_BITS) + ((wide)next_high << 64 | next_low);
    __syncwarp();
    carom_sum as_sum = {(uint64_t)sum, (uint64_t)(sum >> 64), b.number[S_SPOILED] >> v / 2 & 1u};
    if (v % 2 == 0 && v < VALUES - 2)
        b.value[v / 2] = carom_sum_value(as_sum, scale_of(s.meeting.scales, v / 2).scale);
    uint64_t pairs = __shfl_sync(~0u, (carom_device_count)value, VALUES - 2);
    uint64_t inner_pairs = __shfl_sync(~0u, (carom_device_count)value, VALUES - 1);
    const unsigned words = sizeof(b.overlap) / sizeof(uint64_t);
    static_assert(sizeof(b.overlap) % sizeof(uint64_t) == 0, "copied in words");
    for (unsigned i = v; i < words; i += CAROM_WARP) ((uint64_t *)&b.overlap)[i] = 0;
    __syncwarp();
    if (v == 0 && !s.bad) {
        const double *d = b.value;
        carom_pack_values values;
        values.lenses.volume = d[0];
        values.lenses.error = 0.0;
        values.lenses.force = carom_vec(d[1], d[2], d[3]);
        values.lenses.torque = carom_vec(d[4], d[5], d[6]);
        values.lenses.direction = carom_vec(d[7], d[8], d[9]);
        values.lenses.moment = carom_vec(d[10], d[11], d[12]);
        values.inner = d[13];
        values.inner_error = d[14];
        values.pairs = pairs;
        values.inner_pairs = inner_pairs;
        const carom_pack_flagged flagged[2] = {{b.number[S_FLAGGED], b.number[S_VOIDS]},
                                               {b.number[S_FLAGGED + 1], b.number[S_VOIDS + 1]}};
        carom_pack_overlap_of_values(&values, &s.meeting, &s.grid[0].v.extent, &s.grid[1].v.extent,
                                     bounds ? flagged : nullptr, &b.overlap);
    }
    __syncwarp();
    for (unsigned i = v; i < words; i += CAROM_WARP)
        ((uint64_t *)result)[i] = ((const uint64_t *)&b.overlap)[i];
}

/* `parts` blocks for each meeting: of `all`, or `one` in several poses where that is NULL. */
template <bool BOUNDS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    find_overlaps(meeting_view one, const meeting_view *all, uint32_t parts, uint32_t replicas,
                  carom_device_count *states, uint32_t *flags, bool alone,
                  carom_packing_overlap *overlaps, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ meeting_block s;
    __shared__ lane_sums<BOUNDS> lanes;
    __shared__ block_sums sums;
    __shared__ warp_work work[WARPS];
    uint64_t index = blockIdx.x / parts;
    uint32_t part = blockIdx.x % parts;
    for (unsigned i = 0; i < lanes.COUNT; ++i) lanes.value[i][threadIdx.x] = 0;
    for (unsigned i = threadIdx.x; i < VALUES; i += THREADS) {
        sums.low[i] = sums.high[i] = 0;
        if (i < S_NUMBERS) sums.number[i] = 0;
    }
    begin_meeting(&s, all != nullptr ? all[index] : one, all != nullptr ? 0 : index);
    uint64_t words = words_for(s.grid[0].v.count) + words_for(s.grid[1].v.count);
    uint32_t *mine = flags + (all != nullptr ? all[index].flags : index * words);
    carom_device_count *state = states + index * state_words(replicas);
    summing<BOUNDS> seeker(s, lanes, sums, work[threadIdx.x / CAROM_WARP], mine);
    ask_all(s, part, parts, seeker);
    seeker.flush();
    add_number(sums, S_VISITS, seeker.visits);
    add_number(sums, S_CANDIDATES, seeker.candidates);
    if (BOUNDS) add_number(sums, S_UNDECIDED, seeker.undecided);
    if (!join_block(sums, state, part, parts, replicas)) return;
    if (BOUNDS)
        for (uint64_t i = threadIdx.x; i < words; i += THREADS) mine[i] = 0;
    if (threadIdx.x >= CAROM_WARP) return;
    write_result(s, sums, state, replicas, BOUNDS, overlaps + index);
    if (threadIdx.x != 0) return;
    const carom_device_count done[4] = {s.bad ? 1ull : 0ull, sums.number[S_VISITS],
                                        sums.number[S_CANDIDATES], sums.number[S_UNDECIDED]};
    for (int i = 0; i < 4; ++i) {
        if (alone)
            counters->n[N_BAD + i] = done[i];
        else
            atomicAdd(&counters->n[N_BAD + i], done[i]);
    }
}

struct overlap_arguments {
    carom_device_meeting one;
    const carom_device_meeting *all; /* on the host; NULL: `one` in several poses */
    uint64_t count;
    carom_packing_overlap *overlaps; /* on the device; NULL: in scratch */
    bool bounds;
};

static uint64_t flag_words(const carom_device_meeting *m) {
    return words_for(m->a.balls->host.count) + words_for(m->b.balls->host.count);
}

static meeting_view view_of(const carom_device_meeting *m) {
    meeting_view view = {};
    const carom_device_placed *placed[2] = {&m->a, &m->b};
    for (int i = 0; i < 2; ++i) {
        view.grid[i] = (const grid_view *)placed[i]->balls->view.data;
        view.pose[i] = placed[i]->pose;
        view.poses[i] = placed[i]->poses;
        view.scale[i] = placed[i]->scale;
    }
    return view;
}

/* Blocks for each meeting: together some waves of them, and none without spheres. */
static uint32_t parts_for(const carom_device *device, const overlap_arguments *o,
                          uint64_t resident) {
    const carom_device_meeting *m = o->all != nullptr ? o->all : &o->one;
    uint64_t useful = (flag_words(m) + WARPS - 1) / WARPS;
    uint64_t parts = o->count == 1 ? resident : 4 * resident / o->count;
    (void)device;
    if (parts > useful) parts = useful;
    return parts != 0 ? (uint32_t)parts : 1u;
}

static uint32_t replicas_for(uint64_t count) {
    return count == 1 ? REPLICAS : 1u;
}

static carom_status overlap_reserve(carom_device *device, carom_device_op *op) {
    overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    uint64_t words = o->all != nullptr ? 0 : flag_words(&o->one) * o->count;
    if (o->all != nullptr) {
        uint64_t bytes = o->count * sizeof(meeting_view);
        meeting_view *views = new (std::nothrow) meeting_view[o->count];
        if (views == nullptr)
            return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for meetings");
        for (uint64_t i = 0; i < o->count; ++i) {
            views[i] = view_of(&o->all[i]);
            views[i].flags = words;
            words += flag_words(&o->all[i]);
        }
        carom_status status =
            carom_device_reserve(device, &device->scratch[MEETINGS], bytes, "balls");
        if (status == CAROM_OK)
            status = carom_device_check(
                device,
                cudaMemcpy(device->scratch[MEETINGS].data, views, bytes, cudaMemcpyHostToDevice),
                "copying meetings");
        delete[] views;
        CAROM_DEVICE_TRY(status);
    }
    uint64_t states = o->count * state_words(replicas_for(o->count));
    CAROM_DEVICE_TRY(reserve_zeros(device, STATES, states * sizeof(carom_device_count)));
    if (o->bounds) CAROM_DEVICE_TRY(reserve_zeros(device, FLAGS, words * sizeof(uint32_t)));
    if (o->overlaps != nullptr) return CAROM_OK;
    return carom_device_reserve(device, &device->scratch[OVERLAPS],
                                o->count * sizeof(carom_packing_overlap), "balls");
}

template <bool BOUNDS> static void launch_overlaps(carom_device *device, carom_device_op *op) {
    const overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    uint64_t resident = carom_device_resident(device, find_overlaps<BOUNDS>, THREADS);
    uint32_t parts = parts_for(device, o, resident);
    carom_packing_overlap *overlaps = o->overlaps != nullptr
                                          ? o->overlaps
                                          : (carom_packing_overlap *)device->scratch[OVERLAPS].data;
    const meeting_view *all =
        o->all != nullptr ? (const meeting_view *)device->scratch[MEETINGS].data : nullptr;
    carom_device_launch(device, find_overlaps<BOUNDS>, o->count * parts, THREADS,
                        o->all != nullptr ? meeting_view{} : view_of(&o->one), all, parts,
                        replicas_for(o->count), (carom_device_count *)device->scratch[STATES].data,
                        (uint32_t *)device->scratch[FLAGS].data, o->count == 1, overlaps,
                        op->counters);
}

static void overlap_launch(carom_device *device, carom_device_op *op) {
    const overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    carom_device_step(device, "overlap");
    if (o->count != 1)
        (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (o->bounds)
        launch_overlaps<true>(device, op);
    else
        launch_overlaps<false>(device, op);
}

static carom_status settle_work(carom_device *device, const carom_device_count *n) {
    device->steps.node_pairs = n[N_VISITS];
    device->steps.candidates = n[N_CANDIDATES];
    device->steps.open_in_floats = n[N_CANDIDATES];
    device->steps.open_in_doubles = n[N_UNDECIDED];
    if (n[N_BAD] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT,
                             "%llu poses in device memory are not finite, or place balls beyond "
                             "sizes of 2^-200 to 2^200",
                             n[N_BAD]);
}

static carom_status overlap_settle(carom_device *device, carom_device_op *op,
                                   const carom_device_counters *counters, bool *again) {
    (void)op;
    *again = false;
    return settle_work(device, counters->n);
}

static carom_status submit_overlap(carom_device *device, const overlap_arguments &arguments) {
    carom_device_op op = {overlap_reserve, overlap_launch, overlap_settle, nullptr, {}};
    if (arguments.count > 1u << 24)
        return carom_device_fail(device, CAROM_TOO_LARGE, "%llu overlaps at once; at most 2^24",
                                 (unsigned long long)arguments.count);
    *carom_device_arguments<overlap_arguments>(&op) = arguments;
    return carom_device_submit(device, &op);
}

static carom_status balls_overlap(carom_device *device, const carom_device_meeting *meeting,
                                  uint64_t count, bool bounds, carom_packing_overlap *overlaps) {
    return submit_overlap(device, overlap_arguments{*meeting, nullptr, count, overlaps, bounds});
}

static carom_status balls_overlap_many(carom_device *device, const carom_device_meeting *meetings,
                                       uint64_t count, bool bounds,
                                       carom_packing_overlap *overlaps) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(
        submit_overlap(device, overlap_arguments{meetings[0], count > 1 ? meetings : nullptr, count,
                                                 nullptr, bounds}));
    CAROM_DEVICE_TRY(carom_device_finish(device));
    return carom_device_check(device,
                              cudaMemcpy(overlaps, device->scratch[OVERLAPS].data,
                                         count * sizeof(*overlaps), cudaMemcpyDeviceToHost),
                              "reading overlaps");
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Whether two posed spheres are a pair, as is_pair of balls_query.c. */
static __device__ inline bool is_pair(const meeting_block &s, carom_balls_kind kind,
                                      const carom_pack_posed *a, const carom_pack_posed *b) {
    if (kind == CAROM_BALLS_KIND_COVER) return carom_pack_covers_meet(a, b);
    if (kind == CAROM_BALLS_KIND_SECONDARY) {
        carom_ball ball_a = {a->centre, a->secondary}, ball_b = {b->centre, b->secondary};
        carom_pack_term term;
        return carom_pack_pair(&ball_a, &ball_b, s.meeting.pivot, &term);
    }
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double volume, error;
    return carom_pack_inner(carom_vec_dot(apart, apart), carom_length(apart), a->radius, b->radius,
                            s.meeting.slack, &volume, &error);
}

/* Pairs of spheres go to a list as numbers in the order of pairs, or as carom_pair in `direct`. */
template <bool COVERS> struct listing : finder {
    static const int WHAT = COVERS ? WIDE : NEAR;
    const meeting_block &s;
    carom_device_list<unsigned long long> found;
    carom_balls_kind kind;
    bool any, direct;

    __device__ listing(const meeting_block &of, warp_work &of_warp,
                       carom_device_list<unsigned long long> list, carom_balls_kind wanted,
                       bool one_is_enough, bool as_pairs)
        : finder{of_warp, 0, 0, 0, 0, 0}, s(of), found(list), kind(wanted), any(one_is_enough),
          direct(as_pairs) {
    }

    __device__ bool stopped() const {
        return any && __ldcg(found.count) != 0;
    }

    __device__ void flag_pair(uint32_t, uint32_t) {
    }

    __device__ __noinline__ void take(unsigned n) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        unsigned long long key = 0;
        await_scales(s);
        bool has = lane < n;
        if (has) {
            uint2 pair = work.pairs[count + lane];
            uint32_t rank_a = pair.x & ~MARK, rank_b = pair.y & ~MARK;
            carom_pack_posed a = load_posed(s, 0, rank_a), b = load_posed(s, 1, rank_b);
            unsigned long long index_a = s.grid[0].v.spheres[rank_a].index;
            unsigned long long index_b = s.grid[1].v.spheres[rank_b].index;
            ++candidates;
            has = is_pair(s, kind, &a, &b);
            key = direct ? index_b << 32 | index_a : index_a << 32 | index_b;
        }
        unsigned mask = __ballot_sync(~0u, has);
        carom_device_count at = 0;
        if (mask == 0) return;
        if (lane == 0) at = atomicAdd(found.count, (carom_device_count)__popc(mask));
        at = __shfl_sync(~0u, at, 0) + __popc(mask & ((1u << lane) - 1u));
        if (has && at < found.capacity) found.data[at] = key;
    }
};

template <bool COVERS>
static __global__ void __launch_bounds__(THREADS)
    find_pairs(meeting_view meeting, carom_balls_kind kind, bool any, bool direct,
               carom_device_list<unsigned long long> found, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ meeting_block s;
    __shared__ block_sums sums;
    __shared__ warp_work work[WARPS];
    if (threadIdx.x < S_NUMBERS) sums.number[threadIdx.x] = 0;
    begin_meeting(&s, meeting, 0);
    listing<COVERS> seeker(s, work[threadIdx.x / CAROM_WARP], found, kind, any, direct);
    ask_all(s, blockIdx.x, gridDim.x, seeker);
    add_number(sums, S_VISITS, seeker.visits);
    add_number(sums, S_CANDIDATES, seeker.candidates);
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0 && s.bad) counters->n[N_BAD] = 1;
    if (sums.number[S_VISITS] != 0) atomicAdd(&counters->n[N_VISITS], sums.number[S_VISITS]);
    if (sums.number[S_CANDIDATES] != 0)
        atomicAdd(&counters->n[N_CANDIDATES], sums.number[S_CANDIDATES]);
}

/* Exchanges the halves of numbers: from the order of pairs to pairs. */
static __global__ void exchange_halves(const unsigned long long *from, unsigned long long *to,
                                       uint64_t count) {
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        to[i] = from[i] << 32 | from[i] >> 32;
}

struct search_arguments {
    carom_device_meeting meeting;
    carom_cuda_pairs *pairs; /* NULL: count only */
    uint64_t *count;         /* on the host, may be NULL */
    carom_balls_kind kind;
    carom_cuda_order order;
    bool any;
};

static bool is_direct(const search_arguments *s) {
    return s->pairs != nullptr && s->order == CAROM_CUDA_ORDER_ANY;
}

static carom_status search_reserve(carom_device *device, carom_device_op *op) {
    search_arguments *s = carom_device_arguments<search_arguments>(op);
    if (s->pairs == nullptr) return CAROM_OK;
    uint64_t spheres = (uint64_t)s->meeting.a.balls->host.count + s->meeting.b.balls->host.count;
    uint64_t room = 2 * spheres + 1024;
    if (room < device->wanted[FOUND]) room = device->wanted[FOUND];
    CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, s->pairs, room));
    s->pairs->count_on_device = (uint64_t *)&op->counters->n[N_FOUND];
    if (is_direct(s)) return CAROM_OK;
    return carom_device_reserve(device, &device->scratch[FOUND],
                                s->pairs->capacity * sizeof(uint64_t), "pairs of balls");
}

template <bool COVERS> static void launch_pairs(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    carom_device_list<unsigned long long> found = {nullptr, 0, &op->counters->n[N_FOUND]};
    if (s->pairs != nullptr) {
        found.data =
            (unsigned long long *)(is_direct(s) ? s->pairs->data : device->scratch[FOUND].data);
        found.capacity = s->pairs->capacity;
    }
    uint64_t blocks = carom_device_resident(device, find_pairs<COVERS>, THREADS);
    uint64_t useful = (flag_words(&s->meeting) + WARPS - 1) / WARPS;
    if (blocks > useful) blocks = useful;
    carom_device_launch(device, find_pairs<COVERS>, blocks, THREADS, view_of(&s->meeting), s->kind,
                        s->any, is_direct(s), found, op->counters);
}

static void search_launch(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    carom_device_step(device, "pairs");
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (s->kind == CAROM_BALLS_KIND_COVER)
        launch_pairs<true>(device, op);
    else
        launch_pairs<false>(device, op);
}

static carom_status sort_pairs(carom_device *device, const carom_cuda_pairs *pairs,
                               uint64_t count) {
    unsigned long long *found = (unsigned long long *)device->scratch[FOUND].data;
    size_t bytes = 0;
    if (count == 0) return CAROM_OK;
    (void)cub::DeviceRadixSort::SortKeys(nullptr, bytes, found, found, (int64_t)count, 0, 64,
                                         device->stream);
    CAROM_DEVICE_TRY(carom_device_reserve(device, &device->scratch[SORTED],
                                          row(count * sizeof(uint64_t)) + bytes, "sorting pairs"));
    unsigned long long *sorted = (unsigned long long *)device->scratch[SORTED].data;
    void *temporary = (char *)sorted + row(count * sizeof(uint64_t));
    (void)cub::DeviceRadixSort::SortKeys(temporary, bytes, found, sorted, (int64_t)count, 0, 64,
                                         device->stream);
    exchange_halves<<<carom_device_blocks(count, THREADS), THREADS, 0, device->stream>>>(
        sorted, (unsigned long long *)pairs->data, count);
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "sorting pairs");
}

static carom_status search_settle(carom_device *device, carom_device_op *op,
                                  const carom_device_counters *counters, bool *again) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    uint64_t count = counters->n[N_FOUND];
    *again = s->pairs != nullptr && count > s->pairs->capacity;
    if (*again) device->wanted[FOUND] = count + count / 4;
    if (*again) return CAROM_OK;
    CAROM_DEVICE_TRY(settle_work(device, counters->n));
    if (s->pairs != nullptr && !is_direct(s)) CAROM_DEVICE_TRY(sort_pairs(device, s->pairs, count));
    if (s->pairs != nullptr) s->pairs->count = count;
    if (s->count != nullptr) *s->count = count;
    return CAROM_OK;
}

static carom_status balls_search(carom_device *device, const carom_device_meeting *meeting,
                                 carom_balls_kind kind, bool any, carom_cuda_order order,
                                 carom_cuda_pairs *pairs, uint64_t *count) {
    carom_device_op op = {search_reserve, search_launch, search_settle, nullptr, {}};
    *carom_device_arguments<search_arguments>(&op) =
        search_arguments{*meeting, pairs, count, kind, order, any};
    return carom_device_submit(device, &op);
}

static carom_status balls_get_work(carom_device *device, carom_work *work) {
    *work = carom_work{device->steps.node_pairs, device->steps.candidates,
                       device->steps.open_in_doubles};
    return CAROM_OK;
}

extern "C"
    __attribute__((visibility("default"))) extern const carom_cuda_balls carom_cuda_balls_2 = {
        balls_create,  balls_destroy,      balls_set,    balls_bytes,    balls_entries,
        balls_overlap, balls_overlap_many, balls_search, balls_get_work,
};
