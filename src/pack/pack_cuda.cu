/* SPDX-License-Identifier: MIT */
/* Packing by an octree and by prototypes on the GPU, with the CPU's balls, byte for byte: the
 * rounds of pack_octree.c and the batches of pack_prototypes.c. The host starts each step and reads
 * back what it found:
 *
 *   examine  the cells of each group up to its first ball (pack_examine_cuda.cu)
 *   gather   the cells that groups leave, in the order of the groups: for this round or later ones
 *   climb    instead of these, the prototypes of a batch (pack_examine_cuda.cu)
 *   decide   which of the balls found overlap no larger one; the order is that of their radii
 *   file     the balls inserted, into a hash grid whose lists are in the order of the balls */
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <new>

#include "pack/pack_cuda.h"

#define PLAIN_THREADS 256u /* of blocks that work on one element each */

/* ---- Gathering ------------------------------------------------------------------------------- */

/* Puts the cells that groups left where they belong, in the order of the groups; a warp per group.
 */
static __global__ void gather_cells(pack_cuda_view v, const pack_cuda_counts *starts,
                                    carom_pack_node *active, carom_pack_node *waiting,
                                    pack_cuda_group *groups) {
    uint64_t index = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / CAROM_WARP;
    unsigned lane = lane_of(), before = (1u << lane) - 1u;
    carom_device_begin();
    if (index >= v.group_count) return;
    outcome o = v.outcomes[index];
    pack_cuda_counts start = starts[index], count = v.cell_counts[index];
    uint32_t to_active = start.active, to_waiting = start.waiting, chunk = o.first;
    for (uint32_t base = 0; base < o.stored; base += CHUNK_CELLS) {
        carom_pack_node c;
        bool some = base + lane < o.stored;
        if (some) c = v.chunks[(uint64_t)chunk * CHUNK_CELLS + lane];
        bool stays = some && (double)c.bound > v.rho;
        unsigned staying = __ballot_sync(~0u, stays), leaving = __ballot_sync(~0u, some && !stays);
        if (stays) active[to_active + (unsigned)__popc(staying & before)] = c;
        if (some && !stays) waiting[to_waiting + (unsigned)__popc(leaving & before)] = c;
        to_active += (unsigned)__popc(staying);
        to_waiting += (unsigned)__popc(leaving);
        if (base + CHUNK_CELLS < o.stored) chunk = v.chunk_next[chunk];
    }
    uint32_t rest = v.groups[index].end - o.rest;
    /* as many as examine_groups counted */
    CAROM_ASSERT(to_active + rest == start.active + count.active);
    CAROM_ASSERT(to_waiting == start.waiting + count.waiting);
    for (uint32_t i = lane; i < rest; i += CAROM_WARP) active[to_active + i] = v.active[o.rest + i];
    if (lane == 0 && count.some != 0)
        groups[start.some] = pack_cuda_group{start.active, start.active + count.active};
}

static __global__ void pack_cuda_make_keys(const carom_pack_node *cells, uint64_t count,
                                           uint32_t bits, uint32_t *keys, uint32_t *order) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= count) return;
    carom_pack_node c = cells[i];
    keys[i] = carom_pack_node_group(&c, bits);
    order[i] = (uint32_t)i;
}

/* Cells in the order of their keys, and where groups begin. */
static __global__ void order_cells(const carom_pack_node *cells, uint64_t count,
                                   const uint32_t *keys, const uint32_t *order,
                                   carom_pack_node *sorted, uint32_t *heads) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    CAROM_ASSERT(i == 0 || i >= count || keys[i - 1] <= keys[i]);
    CAROM_ASSERT(i >= count || order[i] < count);
    if (i < count) sorted[i] = cells[order[i]];
    if (i <= count) heads[i] = i < count && (i == 0 || keys[i] != keys[i - 1]) ? 1 : 0;
}

static __global__ void make_groups(uint64_t count, const uint32_t *heads, const uint32_t *starts,
                                   pack_cuda_group *groups) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= count) return;
    uint32_t index = starts[i] + heads[i] - 1;
    if (heads[i] != 0) groups[index].begin = (uint32_t)i;
    if (i + 1 == count || heads[i + 1] != 0) groups[index].end = (uint32_t)i + 1;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

enum pack_cuda_decision : uint32_t { PACK_CUDA_UNDECIDED, ACCEPTED, REJECTED };

/* Candidates in the order of insertion, and a hash table of them: cells as wide as two of the
 * largest. */
struct contest {
    pack_cuda_candidate *sorted;
    double *radius; /* that each is inserted with */
    uint32_t *state, *next, *heads, *flags;
    const uint32_t *order;
    uint32_t count, mask;
};

#define CONTEST_CELL 2.01 /* of the largest radius: balls farther apart do not meet */

static __device__ inline uint32_t contest_slot(const contest &c, int64_t x, int64_t y, int64_t z) {
    return (uint32_t)carom_pack_key_hash(carom_pack_key(x, y, z)) & c.mask;
}

static __global__ void count_up(uint32_t *numbers, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i < count) numbers[i] = i;
}

static __global__ void enter_contest(pack_cuda_view v, contest c) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= c.count) return;
    double cell = CONTEST_CELL * v.candidates[c.order[0]].radius;
    pack_cuda_candidate mine = v.candidates[c.order[i]];
    CAROM_ASSERT(i == 0 || (float)v.candidates[c.order[i - 1]].radius >= (float)mine.radius);
    c.sorted[i] = mine;
    c.state[i] = PACK_CUDA_UNDECIDED;
    uint32_t at = contest_slot(c, carom_pack_cell_of(mine.x, cell),
                               carom_pack_cell_of(mine.y, cell), carom_pack_cell_of(mine.z, cell));
    c.next[i] = atomicExch(&c.heads[at], i);
}

/* Decides a candidate if all larger ones that it could meet are decided. Of the radius that
 * carom_pack_radius gives, only what balls inserted in this pass leave has to be computed anew: it
 * is a minimum, rounded by a monotonic function. */
static __device__ bool pack_cuda_decide(const pack_cuda_view &v, const contest &c, uint32_t i,
                                        double cell) {
    pack_cuda_candidate mine = c.sorted[i];
    carom_vec3 p = carom_vec(mine.x, mine.y, mine.z);
    double radius = mine.radius;
    int64_t x = carom_pack_cell_of(p.x, cell), y = carom_pack_cell_of(p.y, cell);
    int64_t z = carom_pack_cell_of(p.z, cell);
    for (int k = 0; k < 27; ++k) {
        uint32_t at = contest_slot(c, x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1);
        for (uint32_t j = c.heads[at]; j != PACK_CUDA_NO_INDEX; j = c.next[j]) {
            if (j >= i) continue;
            pack_cuda_candidate other = c.sorted[j];
            carom_spheres_ball ball = {other.x, other.y, other.z, other.radius};
            if (carom_pack_radius(HUGE_VAL, carom_spheres_ball_distance(&ball, p)) >= mine.radius)
                continue;
            uint32_t state = *(volatile uint32_t *)&c.state[j];
            if (state == PACK_CUDA_UNDECIDED) return false;
            if (state == REJECTED) continue;
            __threadfence();
            ball.radius = *(volatile double *)&c.radius[j];
            double left = carom_pack_radius(HUGE_VAL, carom_spheres_ball_distance(&ball, p));
            radius = CAROM_MIN(left, radius);
        }
    }
    c.radius[i] = radius;
    __threadfence();
    *(volatile uint32_t *)&c.state[i] = radius >= v.enough ? ACCEPTED : REJECTED;
    return true;
}

/* Most candidates meet no larger one. */
static __global__ void decide_first(pack_cuda_view v, contest c) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i < c.count) (void)pack_cuda_decide(v, c, i, CONTEST_CELL * c.sorted[0].radius);
}

/* One block: each pass decides at least the first of those that are left. */
static __global__ void pack_cuda_decide_rest(pack_cuda_view v, contest c) {
    carom_device_begin();
    double cell = CONTEST_CELL * c.sorted[0].radius;
    int left = 1;
    while (left != 0) {
        left = 0;
        for (uint32_t i = threadIdx.x; i < c.count; i += blockDim.x)
            if (*(volatile uint32_t *)&c.state[i] == PACK_CUDA_UNDECIDED &&
                !pack_cuda_decide(v, c, i, cell))
                left = 1;
        left = __syncthreads_or(left);
    }
    for (uint32_t i = threadIdx.x; i <= c.count; i += blockDim.x)
        c.flags[i] = i < c.count && c.state[i] == ACCEPTED ? 1 : 0;
}

static __global__ void list_accepted(contest c, const uint32_t *starts, carom_spheres_ball *balls) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i >= c.count || c.state[i] != ACCEPTED) return;
    CAROM_ASSERT(starts[i] <= i && starts[i + 1] == starts[i] + 1u);
    balls[starts[i]] = carom_spheres_ball{c.sorted[i].x, c.sorted[i].y, c.sorted[i].z, c.radius[i]};
}

/* ---- Filing ---------------------------------------------------------------------------------- */

static __global__ void clear_slots(pack_cuda_view v) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    carom_device_begin();
    if (i <= v.slot_mask) v.slots[i] = pack_cuda_slot{NO_KEY, 0, 0, 0, 0};
}

/* The slot of a cell, which may be new; PACK_CUDA_NO_INDEX where the table is too full. */
static __device__ uint32_t take_slot(const pack_cuda_view &v, uint64_t key) {
    uint64_t at = carom_pack_key_hash(key);
    for (unsigned i = 0; i < MOST_PROBES / 2; ++i, ++at) {
        pack_cuda_slot *s = &v.slots[at & v.slot_mask];
        unsigned long long old = *(volatile unsigned long long *)&s->key;
        if (old == NO_KEY) {
            old = atomicCAS(&s->key, NO_KEY, (unsigned long long)key);
            if (old == NO_KEY && 2 * (uint64_t)(atomicAdd(&v.n->slots, 1u) + 1) > v.slot_mask)
                return PACK_CUDA_NO_INDEX;
        }
        if (old == NO_KEY || old == key) return (uint32_t)(at & v.slot_mask);
    }
    return PACK_CUDA_NO_INDEX;
}

/* file_ball: lists the cells within reach of a ball; a block per ball. */
static __global__ void enter_balls(pack_cuda_view v, uint32_t first, uint32_t count) {
    carom_device_begin();
    if (blockIdx.x >= count) return;
    uint32_t index = first + blockIdx.x, level = 0;
    carom_spheres_ball b = v.balls[index];
    while (level + 1 < CAROM_PACK_LEVELS && b.radius > CAROM_PACK_LEVEL_RATIO * v.cell[level])
        ++level;
    double far = b.radius + v.reach, cell = v.cell[level];
    int64_t low[3] = {carom_pack_cell_of(b.x - far, cell), carom_pack_cell_of(b.y - far, cell),
                      carom_pack_cell_of(b.z - far, cell)};
    uint32_t size[3] = {(uint32_t)(carom_pack_cell_of(b.x + far, cell) - low[0]) + 1,
                        (uint32_t)(carom_pack_cell_of(b.y + far, cell) - low[1]) + 1,
                        (uint32_t)(carom_pack_cell_of(b.z + far, cell) - low[2]) + 1};
    uint32_t cells = size[0] * size[1] * size[2];
    for (uint32_t i = threadIdx.x; i < cells; i += blockDim.x) {
        int64_t x = low[0] + i / (size[1] * size[2]), y = low[1] + i / size[2] % size[1];
        int64_t z = low[2] + i % size[2];
        double gx = carom_pack_cell_gap(b.x, x, cell), gy = carom_pack_cell_gap(b.y, y, cell);
        double gz = carom_pack_cell_gap(b.z, z, cell), square = gx * gx + gy * gy;
        if (square > far * far || !(square + gz * gz <= far * far)) continue;
        uint32_t at = take_slot(v, level_key(level, x, y, z));
        uint32_t to = atomicAdd(&v.n->entries, 1u);
        if (at == PACK_CUDA_NO_INDEX || to >= v.entry_capacity) {
            atomicOr(&v.n->grid_full,
                     (unsigned)(at == PACK_CUDA_NO_INDEX ? SLOTS_FULL : ENTRIES_FULL));
            continue;
        }
        v.entries[to] = pack_cuda_entry{at, index, atomicAdd(&v.slots[at].fresh, 1u)};
    }
}

#define LEAST_SPACE 8u /* of a list */

static __device__ inline uint32_t space_of(uint32_t count) {
    uint32_t space = count != 0 ? LEAST_SPACE : 0;
    while (space < count) space *= 2;
    return space;
}

/* Calls work(list) for each list that entries go to, by the thread of the first of them. */
template <typename WORK>
static __device__ inline void pack_cuda_each_list(const pack_cuda_view &v, const WORK &work) {
    if (v.n->grid_full != 0) return;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < v.n->entries;
         i += gridDim.x * blockDim.x)
        if (v.entries[i].rank == 0) work(&v.slots[v.entries[i].slot]);
}

/* Makes space in the lists. */
static __global__ void enlarge_lists(pack_cuda_view v) {
    carom_device_begin();
    pack_cuda_each_list(v, [&](pack_cuda_slot *s) {
        uint32_t space = space_of(s->count + s->fresh);
        if (space == space_of(s->count)) return;
        uint64_t offset = atomicAdd(&v.n->used, (unsigned long long)space);
        if (offset + space > v.pool_size) {
            atomicOr(&v.n->grid_full, (unsigned)POOL_FULL);
            return;
        }
        uint32_t start = (uint32_t)offset;
        for (uint32_t k = 0; k < s->count; ++k) v.pool[start + k] = v.pool[s->start + k];
        s->start = start;
    });
}

static __global__ void write_lists(pack_cuda_view v) {
    carom_device_begin();
    if (v.n->grid_full != 0) return;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < v.n->entries;
         i += gridDim.x * blockDim.x) {
        pack_cuda_entry e = v.entries[i];
        const pack_cuda_slot *s = &v.slots[e.slot];
        CAROM_ASSERT(e.rank < s->fresh && s->start + s->count + e.rank < v.pool_size);
        v.pool[s->start + s->count + e.rank] = e.ball;
    }
}

/* Puts what was added to a list into the order of the balls. */
static __global__ void sort_lists(pack_cuda_view v) {
    carom_device_begin();
    pack_cuda_each_list(v, [&](pack_cuda_slot *s) {
        uint32_t *list = v.pool + s->start + s->count, count = s->fresh;
        for (uint32_t k = 1; k < count; ++k) {
            uint32_t ball = list[k], at = k;
            for (; at > 0 && list[at - 1] > ball; --at) list[at] = list[at - 1];
            list[at] = ball;
        }
        CAROM_ASSERT(s->count == 0 || list[-1] < list[0]); /* all lists ascend */
        s->count += count;
        s->fresh = 0;
    });
}

/* ---- The end --------------------------------------------------------------------------------- */

static __global__ void find_largest(const carom_pack_node *cells, uint64_t count,
                                    unsigned *largest) {
    float most = 0.0f;
    carom_device_begin();
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        most = CAROM_MAX(cells[i].bound, most);
    unsigned all = __reduce_max_sync(~0u, __float_as_uint(most));
    if (lane_of() == 0) atomicMax(largest, all);
}

/* ---- Host ------------------------------------------------------------------------------------ */

enum pack_cuda_block {
    MESH_NODES,
    MESH_CORNERS,
    BALLS,
    FRESH,
    SLOTS,
    POOL,
    PACK_CUDA_ENTRIES,
    ACTIVE,
    ACTIVE_NEXT,
    GROUPS,
    GROUPS_NEXT,
    WAITING,
    WAITING_NEXT,
    OUTCOMES,
    CELL_COUNTS,
    STARTS,
    CHUNKS,
    CHUNK_NEXT,
    PACK_CUDA_CANDIDATES,
    CANDIDATE_KEYS,
    PROTOTYPE_STARTS,
    CONTEST,
    SORT_KEYS,
    SORTED_KEYS,
    SORT_ORDER,
    SORTED_ORDER,
    HEADS,
    HEAD_STARTS,
    TEMPORARY,
    COUNTERS,
    PACK_CUDA_BLOCKS
};

struct carom_device_pack {
    carom_device_block blocks[PACK_CUDA_BLOCKS];
    pack_cuda_view v;
    uint64_t ball_count, active_count, waiting_count, visits;
    uint32_t climbed; /* prototypes of the last batch that became candidates */
    float unresolved;
};

/* What is read back after a pass, in pinned memory. */
struct news {
    counters n;
    pack_cuda_counts totals;
    uint32_t accepted, count;
};

/* What there is room for at first: packings of some ten thousand balls need no more. */
#define PACK_CUDA_FIRST_SLOTS (UINT64_C(1) << 20) /* cells of the grid: 24 MiB */
#define FIRST_POOL            (UINT64_C(1) << 24) /* balls in its lists: 64 MiB */
#define FIRST_ENTRIES         (UINT64_C(1) << 22) /* of balls that are filed at once: 48 MiB */
/* Of cells that groups leave, and two per group. */
#define FIRST_CHUNKS    (UINT64_C(1) << 16)
#define BALLS_AT_ONCE   16384u /* that are filed by one launch: FIRST_ENTRIES hold them */
#define MOST_NUMBER     (UINT64_C(1) << 31) /* of cells, so that indices of sorting fit */
#define FILING_BLOCKS   4u                  /* per processor, of kernels that go through entries */
#define FILING_THREADS  128u                /* that list the cells of one ball */
#define CONTEST_SLOTS   64u                 /* of the hash table of candidates at least */
#define CONTEST_THREADS 1024u               /* of the one block that decides what is left */
#define SUMMARY_BLOCKS  1024u               /* of kernels that look for the largest cell */

#define PACK_CUDA_TRY(call, what) CAROM_DEVICE_TRY(carom_device_check(device, call, what))

template <typename T> static T *data_of(carom_device_pack *p, int block) {
    return (T *)p->blocks[block].data;
}

/* Makes a block at least so large, with a half to spare. Its contents are lost if it grows. */
static carom_status pack_cuda_reserve(carom_device *device, carom_device_pack *p, int block,
                                      uint64_t count, uint64_t size) {
    uint64_t bytes = count * size;
    if (bytes <= p->blocks[block].bytes) return CAROM_OK;
    return carom_device_reserve(device, &p->blocks[block], bytes + bytes / 2, "a packing");
}

/* The same, keeping the first `used` elements. */
static carom_status pack_cuda_grow(carom_device *device, carom_device_pack *p, int block,
                                   uint64_t used, uint64_t count, uint64_t size) {
    if (count * size <= p->blocks[block].bytes) return CAROM_OK;
    carom_device_block larger = {};
    uint64_t bytes = count * size;
    CAROM_DEVICE_TRY(carom_device_reserve(device, &larger, bytes + bytes / 2, "a packing"));
    carom_status status = CAROM_OK;
    if (used != 0)
        status = carom_device_check(device,
                                    cudaMemcpyAsync(larger.data, p->blocks[block].data, used * size,
                                                    cudaMemcpyDeviceToDevice, device->stream),
                                    "a copy");
    carom_device_release(&p->blocks[block]); /* waits for the copy */
    p->blocks[block] = larger;
    return status;
}

static carom_status wait(carom_device *device) {
    PACK_CUDA_TRY(cudaGetLastError(), "starting a kernel");
    PACK_CUDA_TRY(cudaStreamSynchronize(device->stream), "packing");
    return CAROM_OK;
}

/* Queues the copy of something small to pinned memory. */
static void read_back(carom_device *device, void *to, const void *from, size_t bytes) {
    (void)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, device->stream);
}

static news *news_of(carom_device *device) {
    return (news *)device->pinned.data;
}

template <typename KERNEL, typename... ARGUMENTS>
static void pack_cuda_launch(carom_device *device, KERNEL kernel, uint64_t count,
                             ARGUMENTS... arguments) {
    carom_device_launch(device, kernel, carom_device_blocks(count, PLAIN_THREADS), PLAIN_THREADS,
                        arguments...);
}

static carom_status pack_cuda_upload(carom_device *device, carom_device_pack *p, int block,
                                     const void *from, uint64_t bytes) {
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, block, bytes, 1));
    PACK_CUDA_TRY(
        cudaMemcpyAsync(p->blocks[block].data, from, bytes, cudaMemcpyHostToDevice, device->stream),
        "a copy");
    return CAROM_OK;
}

static carom_status start(carom_device *device, const carom_device_pack_def *def,
                          carom_device_pack *p) {
    const carom_device_pack_mesh *mesh = &def->mesh;
    pack_cuda_view *v = &p->v;
    CAROM_DEVICE_TRY(carom_device_finish(device)); /* of what else uses pinned memory */
    PACK_CUDA_TRY(cudaSetDevice(device->number), "choosing the device");
    CAROM_DEVICE_TRY(carom_device_reserve_pinned(device, sizeof(news)));
    CAROM_DEVICE_TRY(pack_cuda_upload(device, p, MESH_NODES, mesh->nodes,
                                      mesh->node_count * sizeof(carom_bvh_node)));
    CAROM_DEVICE_TRY(pack_cuda_upload(device, p, MESH_CORNERS, mesh->corners,
                                      mesh->block_count * sizeof(carom_bvh_corners)));
    CAROM_DEVICE_TRY(pack_cuda_upload(device, p, WAITING, &def->root, sizeof(def->root)));
    p->waiting_count = 1;
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, COUNTERS, 1, sizeof(counters)));
    PACK_CUDA_TRY(cudaMemsetAsync(p->blocks[COUNTERS].data, 0, sizeof(counters), device->stream),
                  "clearing memory");
    v->nodes = data_of<carom_bvh_node>(p, MESH_NODES);
    v->corners = data_of<carom_bvh_corners>(p, MESH_CORNERS);
    memcpy(v->level_start, mesh->level_start, sizeof(v->level_start));
    v->level_count = mesh->level_count;
    v->fast = def->fast;
    v->centre_unit = mesh->unit;
    v->unit = def->unit;
    v->low = def->low;
    v->last_rho = def->last_rho;
    v->n = data_of<counters>(p, COUNTERS);
    return wait(device); /* the copies are from the caller's memory */
}

static void pack_end(carom_device_pack *p) {
    if (p == nullptr) return;
    for (int i = 0; i < PACK_CUDA_BLOCKS; ++i) carom_device_release(&p->blocks[i]);
    delete p;
}

static carom_status pack_begin(carom_device *device, const carom_device_pack_def *def,
                               carom_device_pack **pack) {
    *pack = new (std::nothrow) carom_device_pack{};
    if (*pack == nullptr) return carom_device_fail(device, CAROM_NO_MEMORY, "no memory");
    return start(device, def, *pack);
}

/* ---- Filing, on the host --------------------------------------------------------------------- */

/* Queues the filing of some balls. Whether there was space is known later: grid_full. */
static void file_balls(carom_device *device, carom_device_pack *p, uint64_t first, uint64_t end) {
    uint64_t blocks = FILING_BLOCKS * (uint64_t)device->processors;
    for (uint64_t at = first; at < end; at += BALLS_AT_ONCE) {
        uint64_t left = end - at, count = CAROM_MIN(left, (uint64_t)BALLS_AT_ONCE);
        (void)cudaMemsetAsync(&p->v.n->entries, 0, sizeof(unsigned), device->stream);
        carom_device_launch(device, enter_balls, count, FILING_THREADS, p->v, (uint32_t)at,
                            (uint32_t)count);
        carom_device_launch(device, enlarge_lists, blocks, PLAIN_THREADS, p->v);
        carom_device_launch(device, write_lists, blocks, PLAIN_THREADS, p->v);
        carom_device_launch(device, sort_lists, blocks, PLAIN_THREADS, p->v);
    }
}

/* Files all balls anew, in more and more memory until it suffices. */
static carom_status pack_cuda_refile(carom_device *device, carom_device_pack *p) {
    pack_cuda_view *v = &p->v;
    uint64_t slots = p->blocks[SLOTS].bytes / sizeof(pack_cuda_slot);
    uint64_t pool = p->blocks[POOL].bytes / sizeof(uint32_t);
    uint64_t entries = p->blocks[PACK_CUDA_ENTRIES].bytes / sizeof(pack_cuda_entry);
    slots = slots != 0 ? v->slot_mask + 1 : PACK_CUDA_FIRST_SLOTS;
    pool = pool != 0 ? pool : FIRST_POOL;
    entries = entries != 0 ? entries : FIRST_ENTRIES;
    while (true) {
        if (slots > MOST_NUMBER || pool > UINT32_MAX || entries > UINT32_MAX)
            return carom_device_fail(device, CAROM_TOO_LARGE, "too many balls for the grid");
        CAROM_DEVICE_TRY(carom_device_reserve(
            device, &p->blocks[SLOTS], slots * sizeof(pack_cuda_slot), "the grid of a packing"));
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[POOL], pool * sizeof(uint32_t),
                                              "the grid of a packing"));
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[PACK_CUDA_ENTRIES],
                                              entries * sizeof(pack_cuda_entry),
                                              "the grid of a packing"));
        v->slots = data_of<pack_cuda_slot>(p, SLOTS);
        v->slot_mask = slots - 1;
        v->pool = data_of<uint32_t>(p, POOL);
        v->pool_size = (uint32_t)pool;
        v->entries = data_of<pack_cuda_entry>(p, PACK_CUDA_ENTRIES);
        v->entry_capacity = (uint32_t)entries;
        pack_cuda_launch(device, clear_slots, slots, *v);
        (void)cudaMemsetAsync(&v->n->slots, 0, sizeof(counters) - offsetof(counters, slots),
                              device->stream);
        file_balls(device, p, 0, p->ball_count);
        news *read = news_of(device);
        read_back(device, &read->n, v->n, sizeof(read->n));
        CAROM_DEVICE_TRY(wait(device));
        if (read->n.grid_full == 0) return CAROM_OK;
        if ((read->n.grid_full & SLOTS_FULL) != 0) slots *= 4;
        if ((read->n.grid_full & ENTRIES_FULL) != 0) entries *= 2;
        if ((read->n.grid_full & POOL_FULL) != 0) pool *= 2;
    }
}

static carom_status pack_file(carom_device *device, carom_device_pack *p, double cell,
                              double reach) {
    for (uint32_t l = 0; l < CAROM_PACK_LEVELS; ++l, cell *= CAROM_PACK_LEVEL_RATIO)
        p->v.cell[l] = cell;
    p->v.reach = reach;
    return pack_cuda_refile(device, p);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

struct above {
    float rho;
    bool wanted;
    __host__ __device__ bool operator()(const carom_pack_node &c) const {
        return (c.bound > rho) == wanted;
    }
};

/* The waiting cells that are above rho, or the others, in the order they are in. */
static carom_status select_cells(carom_device *device, carom_device_pack *p, above which, int to,
                                 uint64_t *count) {
    const carom_pack_node *from = data_of<carom_pack_node>(p, WAITING);
    carom_pack_node *into = data_of<carom_pack_node>(p, to);
    unsigned *selected = &p->v.n->selected;
    size_t bytes = 0;
    int64_t items = (int64_t)p->waiting_count;
    PACK_CUDA_TRY(
        cub::DeviceSelect::If(nullptr, bytes, from, into, selected, items, which, device->stream),
        "selecting cells");
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, TEMPORARY, bytes, 1));
    PACK_CUDA_TRY(cub::DeviceSelect::If(p->blocks[TEMPORARY].data, bytes, from, into, selected,
                                        items, which, device->stream),
                  "selecting cells");
    read_back(device, &news_of(device)->count, selected, sizeof(uint32_t));
    CAROM_DEVICE_TRY(wait(device));
    *count = news_of(device)->count;
    return CAROM_OK;
}

/* The exclusive sums of `count` numbers. */
static carom_status pack_cuda_add_up(carom_device *device, carom_device_pack *p,
                                     const uint32_t *from, uint32_t *to, uint64_t count) {
    size_t bytes = 0;
    PACK_CUDA_TRY(
        cub::DeviceScan::ExclusiveSum(nullptr, bytes, from, to, (int64_t)count, device->stream),
        "adding up");
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, TEMPORARY, bytes, 1));
    PACK_CUDA_TRY(cub::DeviceScan::ExclusiveSum(p->blocks[TEMPORARY].data, bytes, from, to,
                                                (int64_t)count, device->stream),
                  "adding up");
    return CAROM_OK;
}

template <typename KEY>
static carom_status pack_cuda_sort_pairs(carom_device *device, carom_device_pack *p,
                                         const KEY *keys, KEY *sorted, const uint32_t *values,
                                         uint32_t *order, uint64_t count, int bits) {
    size_t bytes = 0;
    PACK_CUDA_TRY(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, values, order,
                                                  (int64_t)count, 0, bits, device->stream),
                  "sorting");
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, TEMPORARY, bytes, 1));
    PACK_CUDA_TRY(cub::DeviceRadixSort::SortPairs(p->blocks[TEMPORARY].data, bytes, keys, sorted,
                                                  values, order, (int64_t)count, 0, bits,
                                                  device->stream),
                  "sorting");
    return CAROM_OK;
}

/* The cells in ACTIVE_NEXT, sorted into groups. */
static carom_status sort_groups(carom_device *device, carom_device_pack *p, uint64_t count,
                                uint32_t bits, uint64_t *groups) {
    for (int block : {SORT_KEYS, SORTED_KEYS, SORT_ORDER, SORTED_ORDER, HEADS, HEAD_STARTS})
        CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, block, count + 1, sizeof(uint32_t)));
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, ACTIVE, count, sizeof(carom_pack_node)));
    const carom_pack_node *cells = data_of<carom_pack_node>(p, ACTIVE_NEXT);
    uint32_t *keys = data_of<uint32_t>(p, SORT_KEYS), *order = data_of<uint32_t>(p, SORT_ORDER);
    uint32_t *sorted = data_of<uint32_t>(p, SORTED_KEYS);
    uint32_t *sorted_order = data_of<uint32_t>(p, SORTED_ORDER);
    uint32_t *heads = data_of<uint32_t>(p, HEADS), *starts = data_of<uint32_t>(p, HEAD_STARTS);
    pack_cuda_launch(device, pack_cuda_make_keys, count, cells, count, bits, keys, order);
    CAROM_DEVICE_TRY(
        pack_cuda_sort_pairs(device, p, keys, sorted, order, sorted_order, count, (int)(3 * bits)));
    pack_cuda_launch(device, order_cells, count + 1, cells, count, (const uint32_t *)sorted,
                     (const uint32_t *)sorted_order, data_of<carom_pack_node>(p, ACTIVE), heads);
    CAROM_DEVICE_TRY(pack_cuda_add_up(device, p, heads, starts, count + 1));
    read_back(device, &news_of(device)->count, starts + count, sizeof(uint32_t));
    CAROM_DEVICE_TRY(wait(device));
    *groups = news_of(device)->count;
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, GROUPS, *groups, sizeof(pack_cuda_group)));
    pack_cuda_launch(device, make_groups, count, count, (const uint32_t *)heads,
                     (const uint32_t *)starts, data_of<pack_cuda_group>(p, GROUPS));
    return CAROM_OK;
}

static void swap_blocks(carom_device_pack *p, int a, int b) {
    carom_device_block swap = p->blocks[a];
    p->blocks[a] = p->blocks[b];
    p->blocks[b] = swap;
}

static carom_status pack_begin_round(carom_device *device, carom_device_pack *p, double rho,
                                     double enough, uint32_t bits, uint64_t *groups) {
    uint64_t count, left;
    *groups = 0;
    p->v.rho = rho;
    p->v.enough = enough;
    p->v.group_count = 0;
    p->active_count = 0;
    if (p->waiting_count == 0) return CAROM_OK;
    for (int block : {ACTIVE_NEXT, WAITING_NEXT})
        CAROM_DEVICE_TRY(
            pack_cuda_reserve(device, p, block, p->waiting_count, sizeof(carom_pack_node)));
    CAROM_DEVICE_TRY(select_cells(device, p, above{(float)rho, true}, ACTIVE_NEXT, &count));
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(select_cells(device, p, above{(float)rho, false}, WAITING_NEXT, &left));
    swap_blocks(p, WAITING, WAITING_NEXT);
    p->waiting_count = left;
    p->active_count = count;
    CAROM_DEVICE_TRY(sort_groups(device, p, count, bits, groups));
    p->v.group_count = (uint32_t)*groups;
    return CAROM_OK;
}

/* ---- One pass -------------------------------------------------------------------------------- */

struct add_counts {
    __host__ __device__ pack_cuda_counts operator()(const pack_cuda_counts &a,
                                                    const pack_cuda_counts &b) const {
        return pack_cuda_counts{a.active + b.active, a.waiting + b.waiting, a.some + b.some};
    }
};

/* Examines all groups, in more memory if it turns out too small; `news` then has the counts. */
static carom_status run_examine(carom_device *device, carom_device_pack *p) {
    pack_cuda_view *v = &p->v;
    uint64_t count = v->group_count, capacity = p->blocks[CHUNK_NEXT].bytes / sizeof(uint32_t);
    uint64_t least = 2 * count + FIRST_CHUNKS;
    capacity = CAROM_MAX(capacity, least);
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, OUTCOMES, count, sizeof(outcome)));
    CAROM_DEVICE_TRY(
        pack_cuda_reserve(device, p, CELL_COUNTS, count + 1, sizeof(pack_cuda_counts)));
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, STARTS, count + 1, sizeof(pack_cuda_counts)));
    CAROM_DEVICE_TRY(
        pack_cuda_reserve(device, p, PACK_CUDA_CANDIDATES, count, sizeof(pack_cuda_candidate)));
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, CANDIDATE_KEYS, count, sizeof(uint64_t)));
    while (true) {
        if (capacity > UINT32_MAX)
            return carom_device_fail(device, CAROM_TOO_LARGE, "too many cells in a round");
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[CHUNK_NEXT],
                                              capacity * sizeof(uint32_t), "cells of a packing"));
        CAROM_DEVICE_TRY(carom_device_reserve(device, &p->blocks[CHUNKS],
                                              capacity * CHUNK_CELLS * sizeof(carom_pack_node),
                                              "cells of a packing"));
        v->balls = data_of<carom_spheres_ball>(p, BALLS);
        v->active = data_of<carom_pack_node>(p, ACTIVE);
        v->groups = data_of<pack_cuda_group>(p, GROUPS);
        v->outcomes = data_of<outcome>(p, OUTCOMES);
        v->cell_counts = data_of<pack_cuda_counts>(p, CELL_COUNTS);
        v->chunks = data_of<carom_pack_node>(p, CHUNKS);
        v->chunk_next = data_of<uint32_t>(p, CHUNK_NEXT);
        v->chunk_capacity = (uint32_t)capacity;
        v->candidates = data_of<pack_cuda_candidate>(p, PACK_CUDA_CANDIDATES);
        v->keys = data_of<uint64_t>(p, CANDIDATE_KEYS);
        pack_cuda_counts *starts = data_of<pack_cuda_counts>(p, STARTS);
        news *read = news_of(device);
        (void)cudaMemsetAsync(v->n, 0, offsetof(counters, largest), device->stream);
        (void)cudaMemsetAsync(v->cell_counts + count, 0, sizeof(pack_cuda_counts), device->stream);
        CAROM_DEVICE_TRY(carom_pack_cuda_examine(device, *v));
        size_t bytes = 0;
        PACK_CUDA_TRY(cub::DeviceScan::ExclusiveScan(nullptr, bytes, v->cell_counts, starts,
                                                     add_counts(), pack_cuda_counts{0, 0, 0},
                                                     (int64_t)count + 1, device->stream),
                      "adding up");
        CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, TEMPORARY, bytes, 1));
        PACK_CUDA_TRY(cub::DeviceScan::ExclusiveScan(
                          p->blocks[TEMPORARY].data, bytes, v->cell_counts, starts, add_counts(),
                          pack_cuda_counts{0, 0, 0}, (int64_t)count + 1, device->stream),
                      "adding up");
        read_back(device, &read->totals, starts + count, sizeof(pack_cuda_counts));
        read_back(device, &read->n, v->n, sizeof(read->n));
        CAROM_DEVICE_TRY(wait(device));
        if (read->n.grid_full != 0) {
            CAROM_DEVICE_TRY(pack_cuda_refile(device, p));
        } else if (read->n.chunks <= capacity) {
            return CAROM_OK;
        } else {
            capacity = carom_device_enlarged(read->n.chunks);
        }
    }
}

/* Puts the cells that are left into new lists. */
static carom_status pack_cuda_gather(carom_device *device, carom_device_pack *p,
                                     const pack_cuda_counts &totals) {
    pack_cuda_view *v = &p->v;
    uint64_t waiting = p->waiting_count + totals.waiting;
    if (waiting > MOST_NUMBER)
        return carom_device_fail(device, CAROM_TOO_LARGE, "more than %llu cells",
                                 (unsigned long long)MOST_NUMBER);
    CAROM_DEVICE_TRY(
        pack_cuda_grow(device, p, WAITING, p->waiting_count, waiting, sizeof(carom_pack_node)));
    CAROM_DEVICE_TRY(
        pack_cuda_reserve(device, p, ACTIVE_NEXT, totals.active, sizeof(carom_pack_node)));
    CAROM_DEVICE_TRY(
        pack_cuda_reserve(device, p, GROUPS_NEXT, totals.some, sizeof(pack_cuda_group)));
    pack_cuda_launch(device, gather_cells, (uint64_t)v->group_count * CAROM_WARP, *v,
                     (const pack_cuda_counts *)data_of<pack_cuda_counts>(p, STARTS),
                     data_of<carom_pack_node>(p, ACTIVE_NEXT),
                     data_of<carom_pack_node>(p, WAITING) + p->waiting_count,
                     data_of<pack_cuda_group>(p, GROUPS_NEXT));
    swap_blocks(p, ACTIVE, ACTIVE_NEXT);
    swap_blocks(p, GROUPS, GROUPS_NEXT);
    p->waiting_count = waiting;
    p->active_count = totals.active;
    v->group_count = totals.some;
    return CAROM_OK;
}

/* Decides which of `count` candidates to insert: `accepted` of them, in FRESH and on the host. */
static carom_status run_contest(carom_device *device, carom_device_pack *p, uint32_t count,
                                carom_device_pack_found *found) {
    uint32_t slots = CONTEST_SLOTS;
    while (slots < 2 * count) slots *= 2;
    uint64_t words =
        (uint64_t)count * (sizeof(pack_cuda_candidate) + sizeof(double)) / sizeof(uint32_t);
    words += 3 * ((uint64_t)count + 2) + slots;
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, CONTEST, words, sizeof(uint32_t)));
    CAROM_DEVICE_TRY(
        pack_cuda_reserve(device, p, SORT_KEYS, 2 * (uint64_t)count, sizeof(uint32_t)));
    for (int block : {SORT_ORDER, SORTED_ORDER, HEADS, HEAD_STARTS})
        CAROM_DEVICE_TRY(
            pack_cuda_reserve(device, p, block, (uint64_t)count + 1, sizeof(uint32_t)));
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, FRESH, count, sizeof(carom_spheres_ball)));
    contest c = {};
    c.sorted = data_of<pack_cuda_candidate>(p, CONTEST);
    c.radius = (double *)(c.sorted + count);
    c.state = (uint32_t *)(c.radius + count);
    c.next = c.state + count + 2;
    c.heads = c.next + count + 2;
    c.flags = data_of<uint32_t>(p, HEADS);
    c.order = data_of<uint32_t>(p, SORTED_ORDER);
    c.count = count;
    c.mask = slots - 1;
    uint32_t *order = data_of<uint32_t>(p, SORT_ORDER), *starts = data_of<uint32_t>(p, HEAD_STARTS);
    pack_cuda_launch(device, count_up, count, order, count);
    CAROM_DEVICE_TRY(pack_cuda_sort_pairs(device, p, (const uint64_t *)p->v.keys,
                                          data_of<uint64_t>(p, SORT_KEYS), (const uint32_t *)order,
                                          data_of<uint32_t>(p, SORTED_ORDER), count, 64));
    (void)cudaMemsetAsync(c.heads, 0xFF, slots * sizeof(uint32_t), device->stream);
    pack_cuda_launch(device, enter_contest, count, p->v, c);
    pack_cuda_launch(device, decide_first, count, p->v, c);
    carom_device_launch(device, pack_cuda_decide_rest, 1, CONTEST_THREADS, p->v, c);
    CAROM_DEVICE_TRY(pack_cuda_add_up(device, p, c.flags, starts, (uint64_t)count + 1));
    carom_spheres_ball *fresh = data_of<carom_spheres_ball>(p, FRESH);
    pack_cuda_launch(device, list_accepted, count, c, (const uint32_t *)starts, fresh);
    uint64_t pinned = sizeof(news) + (uint64_t)count * sizeof(carom_spheres_ball);
    if (pinned > device->pinned.bytes)
        CAROM_DEVICE_TRY(carom_device_reserve_pinned(device, 2 * pinned));
    news *read = news_of(device);
    read_back(device, &read->accepted, starts + count, sizeof(uint32_t));
    read_back(device, read + 1, fresh, count * sizeof(carom_spheres_ball));
    CAROM_DEVICE_TRY(wait(device));
    found->balls = (const carom_spheres_ball *)(read + 1);
    found->ball_count = read->accepted;
    return CAROM_OK;
}

/* Decides which of `count` candidates to insert, and inserts them. */
static carom_status insert_candidates(carom_device *device, carom_device_pack *p, uint32_t count,
                                      carom_device_pack_found *found) {
    if (count == 0) return CAROM_OK;
    CAROM_DEVICE_TRY(run_contest(device, p, count, found));
    uint64_t fresh = found->ball_count, all = p->ball_count + fresh;
    if (all > UINT32_MAX) return carom_device_fail(device, CAROM_TOO_LARGE, "too many balls");
    CAROM_DEVICE_TRY(
        pack_cuda_grow(device, p, BALLS, p->ball_count, all, sizeof(carom_spheres_ball)));
    p->v.balls = data_of<carom_spheres_ball>(p, BALLS);
    PACK_CUDA_TRY(cudaMemcpyAsync(p->v.balls + p->ball_count, p->blocks[FRESH].data,
                                  fresh * sizeof(carom_spheres_ball), cudaMemcpyDeviceToDevice,
                                  device->stream),
                  "a copy");
    file_balls(device, p, p->ball_count, all);
    p->ball_count = all;
    return CAROM_OK;
}

static carom_status pack_examine(carom_device *device, carom_device_pack *p,
                                 carom_device_pack_found *found) {
    *found = carom_device_pack_found{};
    CAROM_DEVICE_TRY(run_examine(device, p));
    news read = *news_of(device);
    float unresolved;
    memcpy(&unresolved, &read.n.unresolved, sizeof(unresolved));
    p->unresolved = CAROM_MAX(unresolved, p->unresolved);
    p->visits += read.n.visits;
    CAROM_DEVICE_TRY(pack_cuda_gather(device, p, read.totals));
    found->groups = read.totals.some;
    return insert_candidates(device, p, read.n.candidates, found);
}

/* Moves a batch of prototypes, again if there was no space for the balls of the last one. */
static carom_status pack_climb(carom_device *device, carom_device_pack *p,
                               const carom_device_prototypes *prototypes, double *best) {
    pack_cuda_view *v = &p->v;
    CAROM_DEVICE_TRY(pack_cuda_reserve(device, p, PACK_CUDA_CANDIDATES, prototypes->count,
                                       sizeof(pack_cuda_candidate)));
    CAROM_DEVICE_TRY(
        pack_cuda_reserve(device, p, CANDIDATE_KEYS, prototypes->count, sizeof(uint64_t)));
    CAROM_DEVICE_TRY(
        pack_cuda_reserve(device, p, PROTOTYPE_STARTS, prototypes->count, sizeof(uint32_t)));
    v->starts = data_of<uint32_t>(p, PROTOTYPE_STARTS);
    v->candidates = data_of<pack_cuda_candidate>(p, PACK_CUDA_CANDIDATES);
    v->keys = data_of<uint64_t>(p, CANDIDATE_KEYS);
    news *read = news_of(device);
    while (true) {
        (void)cudaMemsetAsync(v->n, 0, offsetof(counters, selected), device->stream);
        carom_pack_cuda_climb(device, *v, *prototypes);
        read_back(device, &read->n, v->n, sizeof(read->n));
        CAROM_DEVICE_TRY(wait(device));
        if (read->n.grid_full == 0) break;
        CAROM_DEVICE_TRY(pack_cuda_refile(device, p));
    }
    float radius;
    memcpy(&radius, &read->n.largest, sizeof(radius));
    p->climbed = read->n.candidates;
    *best = (double)radius;
    return CAROM_OK;
}

static carom_status pack_insert(carom_device *device, carom_device_pack *p, double enough,
                                carom_device_pack_found *found) {
    *found = carom_device_pack_found{};
    p->v.enough = enough;
    return insert_candidates(device, p, p->climbed, found);
}

static carom_status pack_summary(carom_device *device, carom_device_pack *p,
                                 carom_device_pack_end *end) {
    unsigned *largest = &p->v.n->largest;
    pack_cuda_launch(device, find_largest, SUMMARY_BLOCKS * PLAIN_THREADS,
                     (const carom_pack_node *)data_of<carom_pack_node>(p, ACTIVE), p->active_count,
                     largest);
    pack_cuda_launch(device, find_largest, SUMMARY_BLOCKS * PLAIN_THREADS,
                     (const carom_pack_node *)data_of<carom_pack_node>(p, WAITING),
                     p->waiting_count, largest);
    news *read = news_of(device);
    read_back(device, &read->n, p->v.n, sizeof(read->n));
    CAROM_DEVICE_TRY(wait(device));
    float most;
    memcpy(&most, &read->n.largest, sizeof(most));
    *end = carom_device_pack_end{(double)most, (double)p->unresolved, p->visits};
    return CAROM_OK;
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_pack carom_cuda_pack_2 = {
    pack_begin,   pack_end,     pack_file,  pack_begin_round,
    pack_examine, pack_summary, pack_climb, pack_insert,
};
