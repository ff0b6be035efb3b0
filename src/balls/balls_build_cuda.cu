/* SPDX-License-Identifier: MIT */
/* The grid of balls_item.h, built on the GPU.
 *
 * Spheres are sorted along a Morton curve, entries counted per bucket, the counts added up, and
 * entries written. An entry carries the lowest bits of its cell. So a query takes each sphere once
 * although several cells of a sphere may share a bucket: if the balls meet, the cell that is looked
 * up is among those of the sphere, whose low bits differ. Large spheres are also entered in the
 * cells of level 0 (view.fine_levels), so that nearly all spheres look up one cell only.
 *
 * Source: Weller, Frese, Zachmann 2013, 4. */
#include <new>

#include "balls/balls_cuda.h"
#include "bvh/bvh_cuda.h"

#define SHARE         8u    /* threads that enter one sphere in its cells */
#define LARGE_BLOCKS  1024u /* that enter large spheres in the cells of level 0 */
#define LARGE_SHARES  8u    /* of them share a sphere */
#define BUILD_THREADS 128u
#define PER_SPHERE    12u   /* entries that there is room for at first: packings have 8 to 10, */
#define LEAST_ENTRIES 1024u /* and so many for few spheres */
#define SPARE_ENTRIES 8u    /* an overflow requests one in so many more */
/* Entries that 32 bits number, with some to spare for warps that read beyond the last. */
#define MOST_ENTRIES (UINT32_MAX - 2u * CAROM_WARP)

/* Counters: */
enum { B_ENTRIES, B_LARGE, B_RANKS };

static __device__ inline float balls_build_cuda_reach_of(const carom_balls_view &view,
                                                         const carom_packing_sphere *s) {
    return carom_float_up(carom_balls_reach(s) * view.unit, 0.0);
}

static __device__ inline uint32_t balls_build_cuda_level_of(const carom_balls_view &view,
                                                            const carom_packing_sphere *s) {
    return carom_balls_level(&view, balls_build_cuda_reach_of(view, s));
}

/* Whether spheres of a level are also entered on level 0. */
static __device__ inline bool is_large(const carom_balls_view &view, uint32_t level) {
    return level != 0 && level <= view.fine_levels;
}

/* Spheres that were appended to a list by atomic additions; there is room for all. */
struct large_list {
    uint32_t *data;
    carom_device_count *count;
};

static __device__ inline void add_large(const large_list &list, uint32_t sphere, uint32_t most) {
    carom_device_count at = atomicAdd(list.count, 1ull);
    CAROM_ASSERT(at < most);
    list.data[at] = sphere;
}

/* Keys, and the list of large spheres. */
static __global__ void balls_build_cuda_make_keys(carom_balls_view view,
                                                  const carom_packing_sphere *spheres,
                                                  carom_tree_sort sort, uint32_t *large,
                                                  carom_device_count *large_count) {
    carom_device_begin();
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t key = 0;
    bool there = i < view.count;
    if (there) {
        float position[3];
        carom_balls_position(&view, spheres[i].centre, position);
        key = carom_balls_key(position);
        if (view.fine_levels != 0 && is_large(view, balls_build_cuda_level_of(view, &spheres[i])))
            add_large(large_list{large, large_count}, i, view.count);
    }
    carom_tree_count_key(there, i, key, sort.keys, sort.ranks, sort.bins, sort.bits);
}

/* Calls f(x, y, z) for the cells of carom_balls_cells, those of one of `shares` threads. */
template <typename F>
static __device__ inline void each_cell(const carom_balls_view &view, const float centre[3],
                                        float reach, uint32_t level, unsigned share,
                                        unsigned shares, F f) {
    float far = carom_balls_entry_reach_on(&view, reach, level), limit = far + CAROM_BALLS_SLACK;
    carom_grid_cells box = carom_balls_box_within(&view, centre, far, level);
    float edge = view.edge[level];
    auto squared_gap = [&](int k, uint32_t i) {
        float begin = view.box_low[k] + (float)i * edge, end = begin + edge;
        float gap = centre[k] < begin ? begin - centre[k]
                    : centre[k] > end ? centre[k] - end
                                      : 0.0f;
        return gap * gap;
    };
    uint32_t side_x = box.high[0] - box.low[0] + 1u, side_y = box.high[1] - box.low[1] + 1u;
    uint32_t count = side_x * side_y * (box.high[2] - box.low[2] + 1u);
    for (uint32_t i = share; i < count; i += shares) {
        uint32_t x = box.low[0] + i % side_x, y = box.low[1] + i / side_x % side_y;
        uint32_t z = box.low[2] + i / side_x / side_y;
        float squared = squared_gap(2, z) + squared_gap(1, y);
        if (squared + squared_gap(0, x) <= limit * limit) f(x, y, z);
    }
}

/* Puts spheres into their order and counts their entries. The first LARGE_BLOCKS blocks count those
 * of large spheres on level 0. */
static __global__ void
balls_build_cuda_sort_spheres(carom_balls_view view, const carom_packing_sphere *spheres,
                              const uint32_t *order, carom_balls_sphere *sorted,
                              float4 *query_spheres, float *near_radii, uint32_t *counts,
                              large_list large, large_list ranks, carom_device_count *total) {
    carom_device_begin();
    __shared__ unsigned entered;
    if (threadIdx.x == 0) entered = 0;
    __syncthreads();
    uint32_t mine = 0, level = 0;
    float position[3];
    auto count = [&](uint32_t x, uint32_t y, uint32_t z) {
        atomicAdd(&counts[carom_grid_bucket(&view.table, x, y, z, level)], 1u);
        ++mine;
    };
    uint32_t first = view.fine_levels != 0 ? LARGE_BLOCKS : 0u;
    uint32_t thread = (blockIdx.x - first) * blockDim.x + threadIdx.x, rank = thread / SHARE;
    if (blockIdx.x < first) {
        for (uint64_t i = blockIdx.x; i < LARGE_SHARES * *large.count; i += first) {
            const carom_packing_sphere *s = &spheres[large.data[i / LARGE_SHARES]];
            unsigned share = i % LARGE_SHARES * blockDim.x + threadIdx.x;
            carom_balls_position(&view, s->centre, position);
            each_cell(view, position, balls_build_cuda_reach_of(view, s), 0, share,
                      LARGE_SHARES * blockDim.x, count);
        }
    } else if (rank < view.count) {
        uint32_t index = order[rank];
        CAROM_ASSERT(index < view.count);
        carom_packing_sphere s = spheres[index];
        double near = CAROM_MAX(s.radius, s.secondary);
        float reach = balls_build_cuda_reach_of(view, &s);
        level = carom_balls_level(&view, reach);
        carom_balls_position(&view, s.centre, position);
        if (thread % SHARE == 0) {
            sorted[rank] = carom_balls_sphere{s.centre,
                                              s.radius,
                                              s.secondary,
                                              s.cover,
                                              carom_spheres_void_units(&view.extent, s.void_volume),
                                              index,
                                              level};
            query_spheres[rank] = make_float4(position[0], position[1], position[2], reach);
            near_radii[rank] = carom_float_up(near * view.unit, 0.0);
            if (is_large(view, level)) add_large(ranks, rank, view.count);
        }
        each_cell(view, position, reach, level, thread % SHARE, SHARE, count);
    }
    if (mine != 0) atomicAdd(&entered, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, (carom_device_count)entered);
}

/* A warp for each 32 spheres. */
static __global__ void bound_groups(carom_balls_view view, const float4 *query_spheres,
                                    float4 *groups) {
    carom_device_begin();
    uint32_t rank = blockIdx.x * blockDim.x + threadIdx.x, last = view.count - 1u;
    if (rank / CAROM_WARP > last / CAROM_WARP) return;
    float4 s = query_spheres[rank < last ? rank : last];
    float low[3] = {s.x, s.y, s.z}, high[3] = {s.x, s.y, s.z};
    for (int k = 0; k < 3; ++k)
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
            low[k] = fminf(low[k], __shfl_xor_sync(~0u, low[k], step));
            high[k] = fmaxf(high[k], __shfl_xor_sync(~0u, high[k], step));
        }
    float x = 0.5f * low[0] + 0.5f * high[0], y = 0.5f * low[1] + 0.5f * high[1],
          z = 0.5f * low[2] + 0.5f * high[2];
    float far = sqrtf((s.x - x) * (s.x - x) + (s.y - y) * (s.y - y) + (s.z - z) * (s.z - z));
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        far = fmaxf(far, __shfl_xor_sync(~0u, far, step));
    if (rank % CAROM_WARP == 0)
        groups[rank / CAROM_WARP] = make_float4(x, y, z, far + CAROM_BALLS_SLACK);
}

/* Leaves all counts 0 for the next build. The first LARGE_BLOCKS blocks enter large spheres on
 * level 0. */
static __global__ void
balls_build_cuda_enter_spheres(carom_balls_view view, const float4 *query_spheres,
                               const float *near_radii, const uint32_t *starts, uint32_t *counts,
                               large_list ranks, float4 *entries, uint4 *links, uint64_t capacity) {
    carom_device_begin();
    auto enter = [&](uint32_t rank, bool on_own_level, unsigned share, unsigned shares) {
        float4 s = query_spheres[rank], entry = make_float4(s.x, s.y, s.z, near_radii[rank]);
        const float position[3] = {s.x, s.y, s.z};
        uint32_t level = on_own_level ? carom_balls_level(&view, s.w) : 0u;
        each_cell(
            view, position, s.w, level, share, shares, [&](uint32_t x, uint32_t y, uint32_t z) {
                uint32_t bucket = carom_grid_bucket(&view.table, x, y, z, level);
                uint32_t left = atomicSub(&counts[bucket], 1u);
                uint64_t at = (uint64_t)starts[bucket] + left - 1u;
                CAROM_ASSERT(left - 1u < starts[bucket + 1] - starts[bucket]); /* as counted */
                if (at >= capacity) return; /* it will be repeated */
                entries[at] = entry;
                links[at] = make_uint4(rank, tag_of(x, y, z, level), __float_as_uint(s.w), 0u);
            });
    };
    uint32_t first = view.fine_levels != 0 ? LARGE_BLOCKS : 0u;
    uint32_t thread = (blockIdx.x - first) * blockDim.x + threadIdx.x, rank = thread / SHARE;
    if (blockIdx.x < first)
        for (uint64_t i = blockIdx.x; i < LARGE_SHARES * *ranks.count; i += first)
            enter(ranks.data[i / LARGE_SHARES], false, i % LARGE_SHARES * blockDim.x + threadIdx.x,
                  LARGE_SHARES * blockDim.x);
    else if (rank < view.count)
        enter(rank, true, thread % SHARE, SHARE);
}

struct build_arguments {
    carom_device_balls *balls;
    const carom_balls_view *view; /* of the caller, who waits */
};

static grid_arrays *next_arrays(carom_device_balls *balls) {
    return &balls->arrays[1 - balls->current];
}

static carom_status build_reserve(carom_device *device, carom_device_op *op) {
    build_arguments *b = carom_device_arguments<build_arguments>(op);
    grid_arrays *to = next_arrays(b->balls);
    uint64_t count = b->view->count, buckets = b->view->table.bucket_count;
    uint64_t entries = PER_SPHERE * count + LEAST_ENTRIES;
    if (entries < b->balls->wanted) entries = b->balls->wanted;
    CAROM_DEVICE_TRY(carom_tree_sort_reserve(device, b->view->count));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch_zeros(device, CAROM_SCRATCH_BALLS_COUNTS,
                                                        (buckets + 1) * sizeof(uint32_t), "balls"));
    const struct {
        carom_device_block *block;
        uint64_t bytes;
    } wanted[] = {
        {&device->scratch[CAROM_SCRATCH_BALLS_ORDER],
         carom_device_row(count * sizeof(uint32_t)) + carom_device_scan_bytes(buckets + 1)},
        {&to->spheres, count * sizeof(carom_balls_sphere)},
        {&to->query_spheres, count * sizeof(float4)},
        {&to->near_radii, count * sizeof(float)},
        {&to->groups, balls_cuda_words_for(b->view->count) * sizeof(float4)},
        {&to->starts, (buckets + 1) * sizeof(uint32_t)},
        {&to->entries, entries * sizeof(float4)},
        {&to->links, entries * sizeof(uint4)},
        {&device->scratch[CAROM_SCRATCH_BALLS_LARGE],
         2 * carom_device_row(count * sizeof(uint32_t))}};
    for (const auto &array : wanted)
        CAROM_DEVICE_TRY(carom_device_reserve(device, array.block, array.bytes, "balls"));
    return CAROM_OK;
}

static void build_launch(carom_device *device, carom_device_op *op) {
    const build_arguments *b = carom_device_arguments<build_arguments>(op);
    const grid_arrays *to = next_arrays(b->balls);
    const carom_balls_view &view = *b->view;
    unsigned threads = BUILD_THREADS, blocks = carom_device_blocks(view.count, threads);
    uint64_t shared = carom_device_blocks((uint64_t)SHARE * view.count, threads) +
                      (view.fine_levels != 0 ? LARGE_BLOCKS : 0u);
    carom_device_count *n = op->counters->n;
    uint64_t row = carom_device_row((uint64_t)view.count * sizeof(uint32_t));
    uint64_t buckets = (uint64_t)view.table.bucket_count + 1;
    size_t bytes = carom_device_scan_bytes(buckets);
    char *lists = carom_device_take<char>(device, CAROM_SCRATCH_BALLS_LARGE, 2 * row);
    large_list large = {(uint32_t *)lists, &n[B_LARGE]};
    large_list ranks = {(uint32_t *)(lists + row), &n[B_RANKS]};
    carom_tree_sort sort = carom_tree_sort_take(device, view.count);
    const carom_packing_sphere *spheres = carom_device_take<carom_packing_sphere>(
        device, CAROM_SCRATCH_BALLS_SPHERES, view.count * sizeof(*spheres));
    uint32_t *order = carom_device_take<uint32_t>(device, CAROM_SCRATCH_BALLS_ORDER, row + bytes);
    uint32_t *counts =
        carom_device_take<uint32_t>(device, CAROM_SCRATCH_BALLS_COUNTS, buckets * sizeof(uint32_t));
    uint32_t *starts = (uint32_t *)to->starts.data;
    carom_balls_sphere *sorted = (carom_balls_sphere *)to->spheres.data;
    float4 *query_spheres = (float4 *)to->query_spheres.data;
    float *near_radii = (float *)to->near_radii.data;
    carom_device_step(device, "order");
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    carom_device_launch(device, balls_build_cuda_make_keys, blocks, threads, view, spheres, sort,
                        large.data, large.count);
    carom_tree_order(device, view.count, sort, order);
    carom_device_step(device, "spheres");
    carom_device_launch(device, balls_build_cuda_sort_spheres, shared, threads, view, spheres,
                        order, sorted, query_spheres, near_radii, counts, large, ranks,
                        &n[B_ENTRIES]);
    carom_device_launch(device, bound_groups, blocks, threads, view, query_spheres,
                        (float4 *)to->groups.data);
    carom_device_step(device, "buckets");
    carom_device_scan(device, (char *)order + row, bytes, counts, starts, buckets);
    carom_device_step(device, "entries");
    carom_device_launch(device, balls_build_cuda_enter_spheres, shared, threads, view,
                        query_spheres, near_radii, starts, counts, ranks,
                        (float4 *)to->entries.data, (uint4 *)to->links.data,
                        to->entries.bytes / sizeof(float4));
}

static carom_status build_finish(carom_device *device, carom_device_op *op,
                                 const carom_device_counters *counters, bool *again) {
    const build_arguments *b = carom_device_arguments<build_arguments>(op);
    carom_device_balls *balls = b->balls;
    uint64_t entries = counters->n[B_ENTRIES];
    if (entries > MOST_ENTRIES)
        return carom_device_fail(device, CAROM_TOO_LARGE, "too many spheres for a grid: %u",
                                 b->view->count);
    balls->entries = entries;
    *again = entries * sizeof(float4) > next_arrays(balls)->entries.bytes;
    if (*again) balls->wanted = entries + entries / SPARE_ENTRIES;
    return CAROM_OK;
}

carom_status carom_balls_cuda_create(carom_device *device, carom_device_balls **out) {
    carom_device_balls *balls = new (std::nothrow) carom_device_balls{};
    if (balls == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for balls");
    carom_status status =
        carom_device_reserve(device, &balls->view, REPLICAS * sizeof(grid_view), "balls");
    if (status != CAROM_OK) {
        delete balls;
        return status;
    }
    *out = balls;
    return CAROM_OK;
}

void carom_balls_cuda_destroy(carom_device_balls *balls) {
    for (grid_arrays &a : balls->arrays) {
        carom_device_block *blocks[] = {&a.spheres, &a.query_spheres, &a.near_radii, &a.groups,
                                        &a.starts,  &a.entries,       &a.links};
        for (carom_device_block *block : blocks) carom_device_release(block);
    }
    carom_device_release(&balls->view);
    delete balls;
}

uint64_t carom_balls_cuda_bytes(const carom_device_balls *balls) {
    uint64_t bytes = balls->view.bytes;
    for (const grid_arrays &a : balls->arrays)
        bytes += a.spheres.bytes + a.query_spheres.bytes + a.near_radii.bytes + a.groups.bytes +
                 a.starts.bytes + a.entries.bytes + a.links.bytes;
    return bytes;
}

uint64_t carom_balls_cuda_entries(const carom_device_balls *balls) {
    return balls->entries;
}

carom_status carom_balls_cuda_set(carom_device *device, carom_device_balls *balls,
                                  const carom_balls_view *view,
                                  const carom_packing_sphere *spheres) {
    carom_device_op op = {build_reserve, build_launch, build_finish, nullptr, {}};
    uint64_t bytes = view->count * sizeof(*spheres), entries = balls->entries;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(
        carom_device_reserve_scratch(device, CAROM_SCRATCH_BALLS_SPHERES, bytes, "balls"));
    CAROM_DEVICE_TRY(
        carom_device_check(device,
                           cudaMemcpyAsync(carom_device_scratch_data<carom_packing_sphere>(
                                               device, CAROM_SCRATCH_BALLS_SPHERES),
                                           spheres, bytes, cudaMemcpyHostToDevice, device->stream),
                           "copying spheres"));
    *carom_device_arguments<build_arguments>(&op) = build_arguments{balls, view};
    carom_status status = carom_device_submit(device, &op);
    if (status == CAROM_OK) status = carom_device_finish(device);
    if (status == CAROM_OK) {
        const grid_arrays *to = next_arrays(balls);
        grid_view on_device[REPLICAS] = {
            {*view, (const float4 *)to->query_spheres.data, (const float *)to->near_radii.data,
             (const float4 *)to->groups.data, (const float4 *)to->entries.data,
             (const uint4 *)to->links.data}};
        on_device[0].v.spheres = (const carom_balls_sphere *)to->spheres.data;
        on_device[0].v.starts = (const uint32_t *)to->starts.data;
        for (unsigned i = 1; i < REPLICAS; ++i) on_device[i] = on_device[0];
        status = carom_device_write(device, balls->view.data, on_device, sizeof(on_device),
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
