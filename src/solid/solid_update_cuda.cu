/* SPDX-License-Identifier: MIT */
/* Solids whose mesh deforms, on the GPU: what carom_solid_update computes of every vertex and
 * triangle (solid_update.c), from positions in device memory.
 *
 *   gather     a thread per vertex: gathers positions, finds their bounds, compares merged vertices
 *   boxes      a thread per slot of the tree, then one per node, level after level
 *   measure    a block of threads per part of 256 triangles: areas, lengths, the largest triangle
 *   integrate  a thread per triangle; eight are a block of prefix sums
 *   scan       prefix sums of blocks within parts, of parts, and both together
 *
 * What follows from a few numbers (frames, scales, the description) is decided on the host between
 * these steps. Doubles are added in the order of the CPU, and all other sums are integers, so all
 * has the CPU's bits; boxes are as wide. */
#include <new>

#include "mesh/mesh_report_item.h"
#include "solid/solid_cuda.h"
#include "solid/solid_item.h"
#include "solid/solid_prefix_sums_item.h"
#include "soup/soup_view_cuda.h"

#define UPDATE_THREADS 256u /* of a block */
static_assert(UPDATE_THREADS == CAROM_SOLID_PART, "a block of threads measures one part");

#define UPDATE_INFINITE 1u
#define UPDATE_APART    2u

/* What is found of all vertices and triangles; all zero at first, but for `low`. */
struct solid_cuda_measures {
    unsigned long long low[3], high[3]; /* of coordinates: to_ordered */
    unsigned long long longest;         /* likewise */
    carom_device_count flags, open;
    carom_solid_sum area;
    double twice_area, side_lengths;
};

/* ---- Positions ------------------------------------------------------------------------------- */

static __device__ inline carom_vec3 load_given(const carom_device_solid_given &given,
                                               uint32_t vertex) {
    if (given.doubles) {
        const double *p = (const double *)given.data + 3 * (uint64_t)vertex;
        return carom_vec(p[0], p[1], p[2]);
    }
    const float *p = (const float *)given.data + 3 * (uint64_t)vertex;
    return carom_vec((double)p[0], (double)p[1], (double)p[2]);
}

static __global__ void __launch_bounds__(UPDATE_THREADS)
    gather_given_vertices(carom_device_solid_given given, carom_device_solid_faces faces,
                          uint64_t vertex_count, double *positions, solid_cuda_measures *found) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    unsigned flags = 0;
    if (i < faces.given_count) {
        carom_vec3 p = load_given(given, (uint32_t)i);
        uint32_t first = faces.first[i];
        CAROM_ASSERT(first <= i);
        if (!(fabs(p.x) <= DBL_MAX && fabs(p.y) <= DBL_MAX && fabs(p.z) <= DBL_MAX))
            flags |= UPDATE_INFINITE;
        if (first != i && carom_vec_compare(p, load_given(given, first)) != 0)
            flags |= UPDATE_APART;
    }
    if (i < vertex_count) {
        carom_vec3 p = load_given(given, faces.sources[i]);
        carom_vec_store(p, positions + 3 * i);
        carom_vec_store(p, low);
        carom_vec_store(p, high);
    }
    soup_cuda_add_bounds(low, high, found->low, found->high);
    if (flags != 0) (void)atomicOr(&found->flags, (carom_device_count)flags);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static __device__ inline void load_corners(const carom_device_solid_arrays &s, uint64_t triangle,
                                           carom_vec3 corner[3]) {
    CAROM_ASSERT(triangle < s.triangle_count);
    for (int i = 0; i < 3; ++i) {
        const double *p = s.positions + 3 * (uint64_t)s.corners[3 * triangle + i];
        corner[i] = carom_vec(p[0], p[1], p[2]);
    }
}

/* The box of a triangle: as carom_soup_box on the CPU. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    refit_blocks(carom_device_solid_arrays s, carom_bvh_node *nodes) {
    carom_device_begin();
    uint64_t slot = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (slot >= (uint64_t)s.tree.block_count * CAROM_BVH_WIDTH) return;
    uint32_t triangle = s.tree.items[slot];
    if (triangle == CAROM_BVH_NONE) return; /* its box is empty and stays so */
    carom_vec3 corner[3];
    double x[3][3];
    load_corners(s, triangle, corner);
    for (int i = 0; i < 3; ++i) carom_vec_store(corner[i], x[i]);
    carom_bvh_node *node = nodes + slot / CAROM_BVH_WIDTH;
    for (int k = 0; k < 3; ++k) {
        double low = fmin(fmin(x[0][k], x[1][k]), x[2][k]) * s.tree.scale - s.tree.origin[k];
        double high = fmax(fmax(x[0][k], x[1][k]), x[2][k]) * s.tree.scale - s.tree.origin[k];
        node->low[k][slot % CAROM_BVH_WIDTH] = round_down(low);
        node->high[k][slot % CAROM_BVH_WIDTH] = -round_down(-high);
    }
}

/* The boxes around the nodes of a level, in those of the next. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    refit_level(const carom_bvh_node *children, carom_bvh_node *parents, uint64_t count) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (i >= count) return;
    const carom_bvh_node *child = children + i;
    carom_bvh_node *parent = parents + i / CAROM_BVH_WIDTH;
    for (int k = 0; k < 3; ++k) {
        float low = child->low[k][0], high = child->high[k][0];
        for (unsigned lane = 1; lane < CAROM_BVH_WIDTH; ++lane) {
            low = fminf(low, child->low[k][lane]);
            high = fmaxf(high, child->high[k][lane]);
        }
        parent->low[k][i % CAROM_BVH_WIDTH] = low;
        parent->high[k][i % CAROM_BVH_WIDTH] = high;
    }
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static __device__ inline unsigned long long warp_most(unsigned long long x) {
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2) {
        unsigned long long other = __shfl_xor_sync(~0u, x, step);
        x = other > x ? other : x;
    }
    return x;
}

/* Adds the area that is reported, in fixed point; lists a triangle that the host has to measure. */
static __device__ inline void add_area(carom_device_solid_updates u,
                                       const carom_device_solid_frames &f, uint64_t triangle,
                                       bool there, const carom_vec3 corner[3]) {
    carom_solid_sum area = {0, 0};
    if (there) {
        const carom_vec3 given[3] = {corner[u.faces.turned ? 2 : 0], corner[1],
                                     corner[u.faces.turned ? 0 : 2]};
        double twice = carom_report_double_area(given, f.half, f.shrink);
        if (twice >= 0.0) {
            carom_sum term = carom_sum_term(twice, f.area_scale);
            area.low = term.low;
            area.high = term.high;
        } else {
            u.open[atomicAdd(&u.measures->open, 1ull)] = (uint32_t)triangle;
        }
    }
    area = carom_solid_cuda_sum_of_warp(area);
    if (threadIdx.x % CAROM_WARP == 0) carom_solid_cuda_add(&u.measures->area, area.low, area.high);
}

/* A block per part. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    measure_triangles(carom_device_solid_arrays s, carom_device_solid_updates u,
                      carom_device_solid_frames f) {
    carom_device_begin();
    __shared__ double areas[CAROM_SOLID_PART], sides[CAROM_SOLID_PART];
    uint64_t first = (uint64_t)blockIdx.x * CAROM_SOLID_PART, t = first + threadIdx.x;
    bool there = t < s.triangle_count;
    carom_solid_halves unit = carom_solid_halves_of(f.exponent);
    carom_vec3 corner[3];
    unsigned long long longest = 0, size = 0;
    if (there) {
        load_corners(s, t, corner);
        double extent = 2.0 * carom_solid_extent(corner); /* in any pose */
        areas[threadIdx.x] = carom_solid_double_area(corner, unit);
        sides[threadIdx.x] = carom_scale_apply(3.0 * extent, f.exponent);
        longest = to_ordered(extent);
        u.sizes[t] = carom_solid_size(corner, unit);
        size = to_ordered(u.sizes[t]);
        if (u.faces.region_of != nullptr)
            (void)atomicMax(&u.largest_size[u.faces.region_of[t]], size);
    }
    __syncthreads();
    if (threadIdx.x % CAROM_WARP == 0 && threadIdx.x / CAROM_WARP < 2) { /* two warps */
        const double *from = threadIdx.x == 0 ? areas : sides;
        double sum = 0.0;
        for (uint64_t i = 0; i < CAROM_SOLID_PART && first + i < s.triangle_count; ++i)
            sum += from[i];
        (threadIdx.x == 0 ? u.areas : u.side_lengths)[blockIdx.x] = sum;
    }
    __syncwarp();
    add_area(u, f, t, there, corner);
    longest = warp_most(longest);
    size = warp_most(size);
    if (threadIdx.x % CAROM_WARP != 0) return;
    if (longest != 0) (void)atomicMax(&u.measures->longest, longest);
    if (size != 0 && u.faces.region_of == nullptr) (void)atomicMax(u.largest_size, size);
}

/* Adds up the parts, in their order; the first of the largest triangles of each region. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    find_largest_triangles(carom_device_solid_updates u, uint64_t triangle_count) {
    carom_device_begin();
    uint64_t t = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (t < triangle_count) {
        uint32_t region = u.faces.region_of != nullptr ? u.faces.region_of[t] : 0;
        CAROM_ASSERT(region < u.faces.region_count);
        if (to_ordered(u.sizes[t]) == u.largest_size[region])
            (void)atomicMin(&u.largest[region], (uint32_t)t);
    }
    if (blockIdx.x != 0 || threadIdx.x % CAROM_WARP != 0 || threadIdx.x / CAROM_WARP > 1) return;
    const double *from = threadIdx.x == 0 ? u.areas : u.side_lengths;
    double sum = 0.0;
    for (uint64_t i = 0; i * CAROM_SOLID_PART < triangle_count; ++i) sum += from[i];
    (threadIdx.x == 0 ? u.measures->twice_area : u.measures->side_lengths) = sum;
}

/* ---- Prefix sums ----------------------------------------------------------------------------- */

struct sums_frame {
    double centre[3];
    int exponent, scale;
};

/* The sums over each block, where the prefix sum after it will be. Eight lanes are a block. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    integrate_blocks(carom_device_solid_arrays s, sums_frame f, carom_solid_sum *blocks) {
    carom_device_begin();
    uint64_t t = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    uint64_t block = t / CAROM_SOLID_BLOCK;
    carom_solid_sum sums[CAROM_SOLID_SUMS];
    for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i) sums[i].low = sums[i].high = 0;
    if (t < s.triangle_count) {
        carom_vec3 corner[3];
        load_corners(s, t, corner);
        carom_solid_integrate(corner, f.centre, f.exponent, f.scale, sums);
    }
    for (unsigned i = 0; i < CAROM_SOLID_SUMS; ++i) {
        for (unsigned step = CAROM_SOLID_BLOCK / 2; step != 0; step /= 2) {
            carom_solid_sum other;
            other.low = __shfl_xor_sync(~0u, sums[i].low, step);
            other.high = __shfl_xor_sync(~0u, sums[i].high, step);
            carom_solid_add_sum(&sums[i], other);
        }
        if (threadIdx.x % CAROM_SOLID_BLOCK == i % CAROM_SOLID_BLOCK && block + 1 < s.block_count)
            blocks[CAROM_SOLID_SUMS * (block + 1) + i] = sums[i];
    }
}

/* Prefix sums within parts of UPDATE_THREADS blocks; a row of the grid per kind of sum. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    scan_block_parts(carom_solid_sum *blocks, uint64_t block_count, carom_solid_sum *totals) {
    carom_device_begin();
    __shared__ carom_solid_sum shared[2][UPDATE_THREADS];
    uint64_t block = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x + 1;
    carom_solid_sum *at = blocks + CAROM_SOLID_SUMS * block + blockIdx.y, mine = {0, 0};
    unsigned from = 0;
    if (block < block_count) mine = *at;
    shared[0][threadIdx.x] = mine;
    __syncthreads();
    for (unsigned step = 1; step < UPDATE_THREADS; step *= 2, from = 1 - from) {
        if (threadIdx.x >= step) carom_solid_add_sum(&mine, shared[from][threadIdx.x - step]);
        shared[1 - from][threadIdx.x] = mine;
        __syncthreads();
    }
    if (block < block_count) *at = mine;
    if (threadIdx.x == UPDATE_THREADS - 1)
        totals[CAROM_SOLID_SUMS * (uint64_t)blockIdx.x + blockIdx.y] = mine;
}

/* Adds the sums of all parts before a block's own. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    raise_block_parts(carom_solid_sum *blocks, uint64_t block_count,
                      const carom_solid_sum *totals) {
    carom_device_begin();
    __shared__ carom_solid_sum before;
    if (threadIdx.x < CAROM_WARP) {
        carom_solid_sum sum = {0, 0};
        for (uint64_t part = threadIdx.x; part < blockIdx.x; part += CAROM_WARP)
            carom_solid_add_sum(&sum, totals[CAROM_SOLID_SUMS * part + blockIdx.y]);
        sum = carom_solid_cuda_sum_of_warp(sum);
        if (threadIdx.x == 0) before = sum;
    }
    __syncthreads();
    uint64_t block = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x + 1;
    if (block < block_count)
        carom_solid_add_sum(&blocks[CAROM_SOLID_SUMS * block + blockIdx.y], before);
}

/* ---- Regions --------------------------------------------------------------------------------- */

#define TOUCHED_COUNT UINT32_MAX /* instead of a number of triangles */

static __global__ void __launch_bounds__(UPDATE_THREADS)
    begin_regions(carom_device_solid_updates u, uint64_t triangle_count) {
    carom_device_begin();
    uint64_t t = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (t >= triangle_count) return;
    u.firsts[t] = (uint32_t)t;
    u.counts[t] = 0;
}

static __global__ void __launch_bounds__(UPDATE_THREADS)
    mark_touched(carom_device_solid_updates u, uint64_t count) {
    carom_device_begin();
    uint64_t i = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (i < count) u.counts[u.list[i]] = TOUCHED_COUNT;
}

/* The first triangle of a region so far. Other threads may shorten ways meanwhile, and never
 * lengthen them: numbers only get smaller. */
static __device__ inline uint32_t first_of(const carom_device_solid_updates &u, uint32_t t) {
    volatile const uint32_t *firsts = u.firsts;
    for (uint32_t next = firsts[t]; next != t; next = firsts[t]) {
        CAROM_ASSERT(next < t);
        t = next;
    }
    return t;
}

/* Joins each triangle's region with those across its sides, by atomic exchanges of the larger of
 * two first triangles: whatever the order, the least triangle of a region is its first. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    join_regions(carom_device_solid_updates u, uint64_t triangle_count) {
    carom_device_begin();
    uint64_t t = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (t >= triangle_count || u.counts[t] == TOUCHED_COUNT) return;
    for (int side = 0; side < 3; ++side) {
        uint32_t other = u.across[3 * t + side];
        if (other >= t || u.counts[other] == TOUCHED_COUNT) continue; /* the other does it */
        uint32_t a = first_of(u, (uint32_t)t), b = first_of(u, other);
        while (a != b) {
            uint32_t high = a > b ? a : b, low = a > b ? b : a;
            uint32_t seen = atomicCAS(&u.firsts[high], high, low);
            if (seen == high) break;
            a = first_of(u, seen);
            b = first_of(u, low);
        }
    }
}

static __global__ void __launch_bounds__(UPDATE_THREADS)
    count_regions(carom_device_solid_updates u, uint64_t triangle_count) {
    carom_device_begin();
    uint64_t t = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (t >= triangle_count || u.counts[t] == TOUCHED_COUNT) return;
    uint32_t first = first_of(u, (uint32_t)t);
    u.firsts[t] = first;
    (void)atomicAdd(&u.counts[first], 1u);
}

/* Lists the regions that are large enough; list[-1] is their number. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    list_regions(carom_device_solid_updates u, uint64_t triangle_count, uint32_t least) {
    carom_device_begin();
    uint64_t t = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (t >= triangle_count || u.counts[t] == TOUCHED_COUNT || u.counts[t] < least) return;
    u.list[atomicAdd(&u.list[-1], 1u)] = (uint32_t)t;
}

/* Clears the counts of regions that are not listed. */
static __global__ void __launch_bounds__(UPDATE_THREADS)
    mark_plain_faces(carom_device_solid_updates u, uint64_t triangle_count, uint64_t listed,
                     uint8_t *represents) {
    carom_device_begin();
    uint64_t t = (uint64_t)blockIdx.x * UPDATE_THREADS + threadIdx.x;
    if (t >= triangle_count) return;
    bool plain = false;
    if (u.counts[t] != TOUCHED_COUNT)
        for (uint64_t i = 0; i < listed && !plain; ++i) plain = u.firsts[t] == u.list[i];
    represents[t] = (uint8_t)((represents[t] & ~CAROM_SOLID_PLAIN_FACE) |
                              (plain ? CAROM_SOLID_PLAIN_FACE : 0u));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint64_t parts_of(uint64_t count) {
    return (count + CAROM_SOLID_PART - 1) / CAROM_SOLID_PART;
}

/* Arrays one after the other, in memory or, while it is NULL, to count its bytes. */
template <typename T> static T *take_array(char *memory, uint64_t *used, uint64_t count) {
    T *at = memory != nullptr ? (T *)(memory + *used) : nullptr;
    *used += carom_device_row(count * sizeof(T));
    return at;
}

static uint64_t lay_out_updates(const carom_device_solid *solid, carom_device_solid_updates *u,
                                char *memory) {
    const carom_device_solid_arrays &s = solid->arrays;
    uint64_t used = 0, regions = u->faces.region_count;
    u->faces.first = take_array<uint32_t>(memory, &used, u->faces.given_count);
    u->faces.sources = take_array<uint32_t>(memory, &used, s.vertex_count);
    u->faces.region_of =
        regions > 1 ? take_array<uint32_t>(memory, &used, s.triangle_count) : nullptr;
    u->given = take_array<double>(memory, &used, 3 * u->faces.given_count);
    u->measures = take_array<solid_cuda_measures>(memory, &used, 1);
    u->sizes = take_array<double>(memory, &used, s.triangle_count);
    u->areas = take_array<double>(memory, &used, parts_of(s.triangle_count));
    u->side_lengths = take_array<double>(memory, &used, parts_of(s.triangle_count));
    u->largest_size = take_array<unsigned long long>(memory, &used, regions);
    u->largest = take_array<uint32_t>(memory, &used, regions);
    u->open = take_array<uint32_t>(memory, &used, s.triangle_count);
    u->totals =
        take_array<carom_solid_sum>(memory, &used, CAROM_SOLID_SUMS * parts_of(s.block_count));
    return used;
}

/* Makes copies from the device to an array of the host need no staging. What cannot be pinned is
 * copied all the same. */
static bool pin(void *memory, uint64_t bytes) {
    if (cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess) return true;
    (void)cudaGetLastError();
    return false;
}

void carom_solid_cuda_release_updates(carom_device_solid *solid) {
    carom_device_solid_updates *u = &solid->updates;
    if (u->positions_pinned) (void)cudaHostUnregister(u->faces.positions);
    if (u->nodes_pinned) (void)cudaHostUnregister(u->faces.nodes);
    if (u->blocks_pinned) (void)cudaHostUnregister(u->faces.blocks);
    carom_device_release(&u->memory);
    carom_device_release(&u->joined);
    *u = carom_device_solid_updates{};
}

static carom_status update_prepare(carom_device *device, carom_device_solid *solid,
                                   const carom_device_solid_faces *faces) {
    const carom_device_solid_arrays &s = solid->arrays;
    if (solid->updates.memory.data != nullptr) return CAROM_OK;
    carom_device_solid_updates u = {};
    u.faces = *faces;
    uint64_t bytes = lay_out_updates(solid, &u, nullptr);
    CAROM_ASSERT(faces->region_count > 1 ? faces->region_of != nullptr : true);
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve(device, &u.memory, bytes, "updates of a solid"));
    (void)lay_out_updates(solid, &u, (char *)u.memory.data);
    const struct {
        const uint32_t *to, *from;
        uint64_t count;
    } copies[] = {{u.faces.first, faces->first, faces->given_count},
                  {u.faces.sources, faces->sources, s.vertex_count},
                  {u.faces.region_of, faces->region_of, s.triangle_count}};
    cudaError_t error = cudaSuccess;
    for (const auto &copy : copies)
        if (error == cudaSuccess && copy.to != nullptr)
            error = cudaMemcpyAsync((void *)copy.to, copy.from, copy.count * sizeof(uint32_t),
                                    cudaMemcpyHostToDevice, device->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(device->stream);
    if (error != cudaSuccess) {
        carom_device_release(&u.memory);
        return carom_device_check(device, error, "copying a solid");
    }
    u.positions_pinned = pin(faces->positions, 3 * s.vertex_count * sizeof(double));
    u.nodes_pinned = pin(faces->nodes, s.tree.node_count * sizeof(carom_bvh_node));
    u.blocks_pinned =
        pin(faces->blocks, CAROM_SOLID_SUMS * s.block_count * sizeof(carom_solid_sum));
    solid->updates = u;
    return CAROM_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

struct update_arguments {
    carom_device_solid *solid;
    carom_device_solid_given given;
    carom_device_solid_frames frames;
    sums_frame sums;
    solid_cuda_measures *read; /* pinned */
    uint32_t *regions;
    const uint32_t *triangles; /* touched, or the first ones of regions */
    uint64_t count;            /* of these */
    uint32_t least;
};

static carom_status update_reserve(carom_device *device, carom_device_op *op) {
    (void)device, (void)op;
    return CAROM_OK;
}

static carom_status update_finish(carom_device *device, carom_device_op *op,
                                  const carom_device_counters *counters, bool *again) {
    (void)device, (void)op, (void)counters, (void)again;
    return CAROM_OK;
}

/* Launches a step and waits for it. */
static carom_status run_step(carom_device *device, update_arguments *arguments,
                             void (*launch)(carom_device *device, carom_device_op *op)) {
    CAROM_ASSERT(arguments->solid->updates.memory.data != nullptr);
    CAROM_DEVICE_TRY(carom_device_finish(device)); /* of what else uses pinned memory */
    CAROM_DEVICE_TRY(carom_device_reserve_pinned(device, sizeof(*arguments->read)));
    arguments->read = (solid_cuda_measures *)device->pinned.data;
    carom_device_op op = {update_reserve, launch, update_finish, nullptr, {}};
    *carom_device_arguments<update_arguments>(&op) = *arguments;
    CAROM_DEVICE_TRY(carom_device_submit(device, &op));
    return carom_device_finish(device);
}

static void gather_launch(carom_device *device, carom_device_op *op) {
    const update_arguments *a = carom_device_arguments<update_arguments>(op);
    const carom_device_solid_arrays &s = a->solid->arrays;
    const carom_device_solid_updates &u = a->solid->updates;
    uint64_t count = CAROM_MAX(u.faces.given_count, s.vertex_count);
    carom_device_solid_given given = a->given;
    carom_device_step(device, "positions");
    if (!given.on_device) {
        (void)cudaMemcpyAsync(u.given, given.data, 3 * u.faces.given_count * sizeof(double),
                              cudaMemcpyHostToDevice, device->stream);
        given.data = u.given;
    }
    (void)cudaMemsetAsync(u.measures, 0, sizeof(*u.measures), device->stream);
    (void)cudaMemsetAsync(u.measures->low, 0xFF, sizeof(u.measures->low), device->stream);
    carom_device_launch(device, gather_given_vertices, carom_device_blocks(count, UPDATE_THREADS),
                        UPDATE_THREADS, given, u.faces, s.vertex_count, (double *)s.positions,
                        u.measures);
    (void)cudaMemcpyAsync(a->read, u.measures, sizeof(*a->read), cudaMemcpyDeviceToHost,
                          device->stream);
}

static carom_status update_gather(carom_device *device, carom_device_solid *solid,
                                  const carom_device_solid_given *given,
                                  carom_device_solid_gathered *gathered) {
    update_arguments a = {};
    a.solid = solid;
    a.given = *given;
    CAROM_DEVICE_TRY(run_step(device, &a, gather_launch));
    const solid_cuda_measures *read = (const solid_cuda_measures *)device->pinned.data;
    for (int k = 0; k < 3; ++k) {
        gathered->low[k] = carom_solid_from_ordered(read->low[k]);
        gathered->high[k] = carom_solid_from_ordered(read->high[k]);
    }
    gathered->finite = (read->flags & UPDATE_INFINITE) == 0;
    gathered->coincide = (read->flags & UPDATE_APART) == 0;
    return CAROM_OK;
}

static const void *update_get_positions(const carom_device_solid *solid) {
    return solid->arrays.positions;
}

static void measure_launch(carom_device *device, carom_device_op *op) {
    const update_arguments *a = carom_device_arguments<update_arguments>(op);
    const carom_device_solid_arrays &s = a->solid->arrays;
    const carom_device_solid_updates &u = a->solid->updates;
    carom_bvh_node *nodes = (carom_bvh_node *)s.tree.nodes;
    uint64_t regions = u.faces.region_count, count = s.tree.block_count;
    unsigned parts = carom_device_blocks(s.triangle_count, UPDATE_THREADS);
    carom_device_step(device, "boxes");
    carom_device_launch(device, refit_blocks,
                        carom_device_blocks(count * CAROM_BVH_WIDTH, UPDATE_THREADS),
                        UPDATE_THREADS, s, nodes);
    for (uint32_t level = 1; level < s.tree.level_count; ++level) {
        carom_device_launch(device, refit_level, carom_device_blocks(count, UPDATE_THREADS),
                            UPDATE_THREADS,
                            (const carom_bvh_node *)nodes + s.tree.level_start[level - 1],
                            nodes + s.tree.level_start[level], count);
        count = (count + CAROM_BVH_WIDTH - 1) / CAROM_BVH_WIDTH;
    }
    carom_device_step(device, "sizes");
    (void)cudaMemsetAsync(u.largest_size, 0, regions * sizeof(*u.largest_size), device->stream);
    (void)cudaMemsetAsync(u.largest, 0xFF, regions * sizeof(*u.largest), device->stream);
    carom_device_launch(device, measure_triangles, parts, UPDATE_THREADS, s, u, a->frames);
    carom_device_launch(device, find_largest_triangles, parts, UPDATE_THREADS, u, s.triangle_count);
    carom_device_step(device, "copies");
    (void)cudaMemcpyAsync(a->read, u.measures, sizeof(*a->read), cudaMemcpyDeviceToHost,
                          device->stream);
    (void)cudaMemcpyAsync(u.faces.positions, s.positions, 3 * s.vertex_count * sizeof(double),
                          cudaMemcpyDeviceToHost, device->stream);
    (void)cudaMemcpyAsync(u.faces.nodes, nodes, s.tree.node_count * sizeof(*nodes),
                          cudaMemcpyDeviceToHost, device->stream);
    /* not pinned, so that the call waits: last */
    (void)cudaMemcpyAsync(a->regions, u.largest, regions * sizeof(*u.largest),
                          cudaMemcpyDeviceToHost, device->stream);
}

static carom_status update_measure(carom_device *device, carom_device_solid *solid,
                                   const carom_device_solid_frames *frames,
                                   carom_device_solid_sizes *sizes, uint32_t *regions) {
    update_arguments a = {};
    a.solid = solid;
    a.frames = *frames;
    a.regions = regions;
    solid->arrays.tree.scale = frames->scale;
    for (int k = 0; k < 3; ++k) solid->arrays.tree.origin[k] = frames->origin[k];
    CAROM_DEVICE_TRY(run_step(device, &a, measure_launch));
    const solid_cuda_measures *read = (const solid_cuda_measures *)device->pinned.data;
    *sizes = carom_device_solid_sizes{};
    sizes->twice_area = read->twice_area;
    sizes->side_lengths = read->side_lengths;
    sizes->longest = carom_solid_from_ordered(read->longest);
    sizes->area = read->area;
    sizes->open = read->open;
    return CAROM_OK;
}

static carom_status update_get_open(carom_device *device, const carom_device_solid *solid,
                                    uint32_t *open, uint64_t count) {
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_finish(device));
    return carom_device_check(
        device,
        cudaMemcpy(open, solid->updates.open, count * sizeof(*open), cudaMemcpyDeviceToHost),
        "reading an update");
}

static void sum_launch(carom_device *device, carom_device_op *op) {
    const update_arguments *a = carom_device_arguments<update_arguments>(op);
    const carom_device_solid_arrays &s = a->solid->arrays;
    const carom_device_solid_updates &u = a->solid->updates;
    carom_solid_sum *blocks = (carom_solid_sum *)s.blocks;
    dim3 parts(carom_device_blocks(s.block_count - 1, UPDATE_THREADS), CAROM_SOLID_SUMS);
    carom_device_step(device, "integrals");
    carom_device_launch(
        device, integrate_blocks,
        carom_device_blocks((s.block_count - 1) * CAROM_SOLID_BLOCK, UPDATE_THREADS),
        UPDATE_THREADS, s, a->sums, blocks);
    carom_device_step(device, "prefix sums");
    carom_device_launch_grid(device, scan_block_parts, parts, UPDATE_THREADS, 0, blocks,
                             s.block_count, u.totals);
    carom_device_launch_grid(device, raise_block_parts, parts, UPDATE_THREADS, 0, blocks,
                             s.block_count, (const carom_solid_sum *)u.totals);
    carom_device_step(device, "copies");
    (void)cudaMemcpyAsync(u.faces.blocks, blocks,
                          CAROM_SOLID_SUMS * s.block_count * sizeof(*blocks),
                          cudaMemcpyDeviceToHost, device->stream);
}

static carom_status update_sum(carom_device *device, carom_device_solid *solid,
                               const double centre[3], int exponent, int scale) {
    update_arguments a = {};
    a.solid = solid;
    a.sums = {{centre[0], centre[1], centre[2]}, exponent, scale};
    return run_step(device, &a, sum_launch);
}

static carom_status update_set_represents(carom_device *device, carom_device_solid *solid,
                                          const uint8_t *represents) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    return carom_device_write(device, (void *)solid->arrays.represents, represents,
                              solid->arrays.triangle_count, "copying a solid");
}

/* Once per solid that intersects itself. */
static carom_status reserve_joined(carom_device *device, carom_device_solid *solid,
                                   const uint32_t *across) {
    carom_device_solid_updates *u = &solid->updates;
    uint64_t count = solid->arrays.triangle_count, used = 0;
    if (u->joined.data != nullptr) return CAROM_OK;
    for (char *memory = nullptr;; memory = (char *)u->joined.data) {
        used = 0;
        u->across = take_array<uint32_t>(memory, &used, 3 * count);
        u->firsts = take_array<uint32_t>(memory, &used, count);
        u->counts = take_array<uint32_t>(memory, &used, count);
        u->list = take_array<uint32_t>(memory, &used, count + 1);
        if (memory != nullptr) break;
        CAROM_DEVICE_TRY(carom_device_finish(device));
        CAROM_DEVICE_TRY(carom_device_reserve(device, &u->joined, used, "regions of a solid"));
    }
    ++u->list;
    carom_status status = carom_device_write(device, u->across, across, 3 * count * sizeof(*across),
                                             "copying a solid");
    if (status != CAROM_OK) carom_device_release(&u->joined);
    return status;
}

static void join_launch(carom_device *device, carom_device_op *op) {
    const update_arguments *a = carom_device_arguments<update_arguments>(op);
    const carom_device_solid_updates &u = a->solid->updates;
    uint64_t count = a->solid->arrays.triangle_count;
    unsigned blocks = carom_device_blocks(count, UPDATE_THREADS);
    carom_device_step(device, "regions");
    carom_device_launch(device, begin_regions, blocks, UPDATE_THREADS, u, count);
    (void)cudaMemcpyAsync(u.list, a->triangles, a->count * sizeof(*u.list), cudaMemcpyHostToDevice,
                          device->stream);
    carom_device_launch(device, mark_touched, carom_device_blocks(a->count, UPDATE_THREADS),
                        UPDATE_THREADS, u, a->count);
    carom_device_launch(device, join_regions, blocks, UPDATE_THREADS, u, count);
    carom_device_launch(device, count_regions, blocks, UPDATE_THREADS, u, count);
    (void)cudaMemsetAsync(u.list - 1, 0, sizeof(*u.list), device->stream);
    carom_device_launch(device, list_regions, blocks, UPDATE_THREADS, u, count, a->least);
    (void)cudaMemcpyAsync(a->read, u.list - 1, sizeof(*u.list), cudaMemcpyDeviceToHost,
                          device->stream);
}

static carom_status update_join(carom_device *device, carom_device_solid *solid,
                                const uint32_t *across, const uint32_t *touched,
                                uint64_t touched_count, uint32_t least, uint32_t *firsts,
                                uint64_t *first_count) {
    update_arguments a = {};
    a.solid = solid;
    a.triangles = touched;
    a.count = touched_count;
    a.least = least;
    CAROM_ASSERT(touched_count <= solid->arrays.triangle_count);
    CAROM_DEVICE_TRY(reserve_joined(device, solid, across));
    CAROM_DEVICE_TRY(run_step(device, &a, join_launch));
    *first_count = *(const uint32_t *)device->pinned.data;
    return carom_device_check(device,
                              cudaMemcpy(firsts, solid->updates.list,
                                         *first_count * sizeof(*firsts), cudaMemcpyDeviceToHost),
                              "reading an update");
}

static void plain_launch(carom_device *device, carom_device_op *op) {
    const update_arguments *a = carom_device_arguments<update_arguments>(op);
    const carom_device_solid_updates &u = a->solid->updates;
    uint64_t count = a->solid->arrays.triangle_count;
    carom_device_step(device, "plain faces");
    (void)cudaMemcpyAsync(u.list, a->triangles, a->count * sizeof(*u.list), cudaMemcpyHostToDevice,
                          device->stream);
    carom_device_launch(device, mark_plain_faces, carom_device_blocks(count, UPDATE_THREADS),
                        UPDATE_THREADS, u, count, a->count, (uint8_t *)a->solid->arrays.represents);
}

static carom_status update_mark_plain(carom_device *device, carom_device_solid *solid,
                                      const uint32_t *firsts, uint64_t first_count,
                                      uint8_t *represents) {
    update_arguments a = {};
    a.solid = solid;
    a.triangles = firsts;
    a.count = first_count;
    CAROM_DEVICE_TRY(run_step(device, &a, plain_launch));
    return carom_device_check(device,
                              cudaMemcpy(represents, solid->arrays.represents,
                                         solid->arrays.triangle_count, cudaMemcpyDeviceToHost),
                              "reading an update");
}

extern "C" __attribute__((visibility("default")))
const carom_cuda_solid_follow carom_cuda_solid_follow_1 = {
    update_prepare, update_gather,         update_get_positions, update_measure,    update_get_open,
    update_sum,     update_set_represents, update_join,          update_mark_plain,
};
