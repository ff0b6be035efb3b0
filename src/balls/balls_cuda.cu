/* SPDX-License-Identifier: MIT */
/* Overlaps of packings on the GPU, by the search of balls_search_cuda.h.
 *
 * The terms of pairs, in the fixed point of spheres_item.h, are added up over the warp by shuffles.
 * Integers do not depend on the order in which they are added, so the result has the bits of the
 * CPU. Sums of warps are added up by block and grid; the block that is done last writes the result
 * and leaves all sums 0 for the next query. */
#include "balls/balls_search_cuda.h"

#include <new>

#include "spheres/spheres_sum_cuda.h"

#define BALLS_CUDA_BLOCKS_PER_PROCESSOR                                                            \
    4u /* per multiprocessor: a warp for each 32 of 2 * 67,000 spheres */
#define OVERLAP_WAVES                                                                              \
    4u /* of blocks where there are several queries, so that all end together                      \
        */
#define MOST_OVERLAPS (1u << 24) /* at once: queries times blocks of each are numbered by 32 bits */

/* ---- Overlaps -------------------------------------------------------------------------------- */

/* Sums of a query on the device, all 0 between queries:
 *   low and high halves of SPHERES_VALUES sums, in replicas; then these numbers. */
enum {
    S_FLAGGED,
    S_VOIDS = 2,
    S_VISITS = 4,
    S_CANDIDATES,
    S_SPOILED, /* a bit for each term that exceeded its scale */
    S_TICKET,
    S_NUMBERS
};

static __host__ __device__ inline uint64_t state_words(uint32_t replicas) {
    return 2ull * SPHERES_VALUES * replicas + S_NUMBERS;
}

/* The sums of a block. */
struct block_sums {
    carom_device_count low[SPHERES_VALUES], high[SPHERES_VALUES], number[S_NUMBERS];
    carom_device_count of_warp[BLOCK_WARPS][SPHERES_VALUES];
    double value[SPHERES_VALUES / 2];
    carom_packing_overlap overlap;
    bool last;
};

/* Flags a sphere whose cover meets one of the other packing. */
static __device__ inline void balls_cuda_flag(const query_block &s, block_sums &to, uint32_t *flags,
                                              int side, uint32_t rank) {
    uint32_t *word =
        flags + (side != 0 ? balls_cuda_words_for(s.grid[0].v.count) : 0) + rank / BALLS_WORD_BITS;
    uint32_t bit = 1u << rank % BALLS_WORD_BITS;
    CAROM_ASSERT(rank < s.grid[side].v.count);
    if ((__ldcg(word) & bit) != 0 || (atomicOr(word, bit) & bit) != 0) return;
    atomicAdd(&to.number[S_FLAGGED + side], 1ull);
    atomicAdd(&to.number[S_VOIDS + side], (carom_device_count)s.grid[side].v.spheres[rank].voids);
}

/* The sums over a warp of the terms of one hit per lane: lane v gets value v of SPHERES_VALUES. Not
 * inlined: it needs twice the registers of the search. */
template <bool BOUNDS>
static __device__ __noinline__ carom_device_count sum_pairs(const query_block &s, block_sums &to,
                                                            uint32_t *flags, hit_pair hit,
                                                            bool there) {
    carom_spheres_posed a = {}, b = {};
    if (there) {
        a = load_posed(s, 0, hit.x);
        b = load_posed(s, 1, hit.y);
        if (BOUNDS && carom_spheres_covers_meet(&a, &b)) {
            balls_cuda_flag(s, to, flags, 0, hit.x);
            balls_cuda_flag(s, to, flags, 1, hit.y);
        }
    }
    return spheres_cuda_sum<BOUNDS>(s.posed, s.regular, &to.number[S_SPOILED], there, a, b);
}

template <bool BOUNDS> struct balls_cuda_summing : finder {
    static const int WHAT = BOUNDS ? WITHIN_REACH : NEAR_BALLS;
    const query_block &s;
    block_sums &to;
    uint32_t *flags;
    carom_device_count sum; /* of the value with the number of the lane */
    unsigned turns;

    __device__ balls_cuda_summing(const query_block &of, block_sums &sums, block_work &of_block,
                                  uint32_t *flags_of_both)
        : finder{of_block, 0}, s(of), to(sums), flags(flags_of_both), sum(0), turns(0) {
    }

    __device__ bool is_done() const {
        return false;
    }

    __device__ void count_candidates(unsigned count) {
        atomicAdd(&to.number[S_CANDIDATES], (carom_device_count)count);
    }

    __device__ void take(hit_pair hit, bool there) {
        sum += sum_pairs<BOUNDS>(s, to, flags, hit, there);
        if (++turns != SPHERES_MOST_TURNS) return;
        unsigned v = threadIdx.x % CAROM_WARP;
        atomicAdd(&to.low[v], sum & 0xFFFFFFFFull);
        atomicAdd(&to.high[v], (carom_device_count)((long long)sum >> 32));
        sum = 0;
        turns = 0;
    }

    /* Leaves the sums of the warp to join_block. */
    __device__ void finish() {
        unsigned lane = threadIdx.x % CAROM_WARP, warp = threadIdx.x / CAROM_WARP;
        to.of_warp[warp][lane] = sum;
        for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
            visits += __shfl_xor_sync(~0u, visits, step);
        if (lane != 0) return;
        if (visits != 0) atomicAdd(&to.number[S_VISITS], (carom_device_count)visits);
    }
};

/* Adds the sums of a block to those of the query; true for the block that is the last. */
static __device__ bool join_block(block_sums &b, carom_device_count *state, uint32_t part,
                                  uint32_t parts, uint32_t replicas) {
    carom_device_count *numbers = state + 2ull * SPHERES_VALUES * replicas;
    __syncthreads();
    if (threadIdx.x < CAROM_WARP) {
        unsigned v = threadIdx.x;
        carom_device_count *to = state + 2ull * SPHERES_VALUES * (part % replicas);
        carom_device_count low = b.low[v], high = b.high[v];
        for (unsigned i = 0; i < BLOCK_WARPS; ++i) {
            low += b.of_warp[i][v] & 0xFFFFFFFFull;
            high += (carom_device_count)((long long)b.of_warp[i][v] >> 32);
        }
        if (low != 0) atomicAdd(&to[v], low);
        if (high != 0) atomicAdd(&to[SPHERES_VALUES + v], high);
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
static __device__ __noinline__ void balls_cuda_write_result(const query_block &s, block_sums &b,
                                                            carom_device_count *state,
                                                            uint32_t replicas, bool bounds,
                                                            carom_packing_overlap *result) {
    unsigned v = threadIdx.x;
    carom_device_count *numbers = state + 2ull * SPHERES_VALUES * replicas, low = 0, high = 0;
    carom_device_count of_replica[2 * REPLICAS];
    __threadfence();
#pragma unroll
    for (uint32_t i = 0; i < 2 * REPLICAS; ++i) /* all at once */
        of_replica[i] = i < 2 * replicas ? __ldcg(&state[SPHERES_VALUES * i + v]) : 0;
    if (v < S_NUMBERS) b.number[v] = __ldcg(&numbers[v]);
#pragma unroll
    for (uint32_t i = 0; i < 2 * REPLICAS; i += 2) {
        low += of_replica[i];
        high += of_replica[i + 1];
        if (i < 2 * replicas)
            state[SPHERES_VALUES * i + v] = state[SPHERES_VALUES * (i + 1) + v] = 0;
    }
    if (v < S_NUMBERS) numbers[v] = 0;
    __syncwarp();
    carom_spheres_values values =
        spheres_cuda_values(s.posed, low, high, b.number[S_SPOILED], b.value);
    const unsigned words = sizeof(b.overlap) / sizeof(uint64_t);
    static_assert(sizeof(b.overlap) % sizeof(uint64_t) == 0, "copied in words");
    for (unsigned i = v; i < words; i += CAROM_WARP) ((uint64_t *)&b.overlap)[i] = 0;
    __syncwarp();
    if (v == 0 && !s.bad) {
        const carom_spheres_flagged flagged[2] = {{b.number[S_FLAGGED], b.number[S_VOIDS]},
                                                  {b.number[S_FLAGGED + 1], b.number[S_VOIDS + 1]}};
        carom_spheres_overlap_of_values(&values, &s.posed, &s.grid[0].v.extent, &s.grid[1].v.extent,
                                        bounds ? flagged : nullptr, &b.overlap);
    }
    __syncwarp();
    for (unsigned i = v; i < words; i += CAROM_WARP)
        ((uint64_t *)result)[i] = ((const uint64_t *)&b.overlap)[i];
}

/* `parts` blocks for each query: of `all`, or `one` in several poses where that is NULL. */
template <bool BOUNDS>
static __global__ void __launch_bounds__(THREADS, BALLS_CUDA_BLOCKS_PER_PROCESSOR)
    find_overlaps(const __grid_constant__ query_view one, const query_view *all, uint32_t parts,
                  uint32_t replicas, carom_device_count *states, uint32_t *flags, bool alone,
                  carom_packing_overlap *overlaps, carom_device_counters *counters) {
    carom_device_begin();
    __shared__ query_block s;
    __shared__ block_sums sums;
    __shared__ block_work work;
    uint64_t index = blockIdx.x / parts;
    uint32_t part = blockIdx.x % parts;
    if (threadIdx.x == 0) work.piece_count = work.hit_count = 0;
    for (unsigned i = threadIdx.x; i < SPHERES_VALUES; i += THREADS) {
        sums.low[i] = sums.high[i] = 0;
        if (i < S_NUMBERS) sums.number[i] = 0;
    }
    make_query(&s, all != nullptr ? all[index] : one, all != nullptr ? 0 : index);
    uint64_t words =
        balls_cuda_words_for(s.grid[0].v.count) + balls_cuda_words_for(s.grid[1].v.count);
    uint32_t *mine = flags + (all != nullptr ? all[index].flags : index * words);
    carom_device_count *state = states + index * state_words(replicas);
    balls_cuda_summing<BOUNDS> seeker(s, sums, work, mine);
    look_up_all(s, part, parts, seeker);
    seeker.finish();
    if (!join_block(sums, state, part, parts, replicas)) return;
    if (BOUNDS)
        for (uint64_t i = threadIdx.x; i < words; i += THREADS) mine[i] = 0;
    if (threadIdx.x >= CAROM_WARP) return;
    balls_cuda_write_result(s, sums, state, replicas, BOUNDS, overlaps + index);
    if (threadIdx.x != 0) return;
    const carom_device_count done[4] = {s.bad ? 1ull : 0ull, sums.number[S_VISITS],
                                        sums.number[S_CANDIDATES],
                                        BOUNDS ? sums.number[S_CANDIDATES] : 0ull};
    for (int i = 0; i < 4; ++i) {
        if (alone)
            counters->n[N_BAD + i] = done[i];
        else
            atomicAdd(&counters->n[N_BAD + i], done[i]);
    }
}

struct overlap_arguments {
    carom_device_balls_query one;
    const carom_device_balls_query *all; /* on the host; NULL: `one` in several poses */
    uint64_t count;
    carom_packing_overlap *overlaps; /* on the device; NULL: in scratch */
    bool bounds;
};

/* Blocks for each query: together some waves of them, and none without spheres. */
static uint32_t parts_for(const overlap_arguments *o, uint64_t resident) {
    const carom_device_balls_query *m = o->all != nullptr ? o->all : &o->one;
    uint64_t useful = (flag_words(m) + BLOCK_WARPS - 1) / BLOCK_WARPS;
    uint64_t parts = o->count == 1 ? resident : OVERLAP_WAVES * resident / o->count;
    if (parts > useful) parts = useful;
    return parts != 0 ? (uint32_t)parts : 1u;
}

static uint32_t replicas_for(uint64_t count) {
    return count == 1 ? REPLICAS : 1u;
}

static uint64_t state_bytes(const overlap_arguments *o) {
    return o->count * state_words(replicas_for(o->count)) * sizeof(carom_device_count);
}

static carom_status overlap_reserve(carom_device *device, carom_device_op *op) {
    overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    uint64_t words = o->all != nullptr ? 0 : flag_words(&o->one) * o->count;
    if (o->all != nullptr) {
        uint64_t bytes = o->count * sizeof(query_view);
        query_view *views = new (std::nothrow) query_view[o->count];
        if (views == nullptr)
            return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for queries");
        for (uint64_t i = 0; i < o->count; ++i) {
            views[i] = view_of(&o->all[i]);
            views[i].flags = words;
            words += flag_words(&o->all[i]);
        }
        carom_status status =
            carom_device_reserve_scratch(device, CAROM_SCRATCH_BALLS_QUERIES, bytes, "balls");
        if (status == CAROM_OK)
            status = carom_device_copy(
                device, carom_device_scratch_data<query_view>(device, CAROM_SCRATCH_BALLS_QUERIES),
                views, bytes, cudaMemcpyHostToDevice, "copying queries");
        delete[] views;
        CAROM_DEVICE_TRY(status);
    }
    CAROM_DEVICE_TRY(carom_device_reserve_scratch_zeros(device, CAROM_SCRATCH_BALLS_STATES,
                                                        state_bytes(o), "balls"));
    if (o->bounds)
        CAROM_DEVICE_TRY(carom_device_reserve_scratch_zeros(device, CAROM_SCRATCH_BALLS_FLAGS,
                                                            words * sizeof(uint32_t), "balls"));
    if (o->overlaps != nullptr) return CAROM_OK;
    return carom_device_reserve_scratch(device, CAROM_SCRATCH_BALLS_OVERLAPS,
                                        o->count * sizeof(carom_packing_overlap), "balls");
}

template <bool BOUNDS> static void launch_overlaps(carom_device *device, carom_device_op *op) {
    const overlap_arguments *o = carom_device_arguments<overlap_arguments>(op);
    uint64_t resident = carom_device_resident(device, find_overlaps<BOUNDS>, THREADS);
    uint32_t parts = parts_for(o, resident);
    carom_packing_overlap *overlaps = o->overlaps;
    if (overlaps == nullptr)
        overlaps = carom_device_take<carom_packing_overlap>(device, CAROM_SCRATCH_BALLS_OVERLAPS,
                                                            o->count * sizeof(*overlaps));
    const query_view *all = nullptr;
    if (o->all != nullptr)
        all = carom_device_take<query_view>(device, CAROM_SCRATCH_BALLS_QUERIES,
                                            o->count * sizeof(*all));
    carom_device_count *states =
        carom_device_take<carom_device_count>(device, CAROM_SCRATCH_BALLS_STATES, state_bytes(o));
    uint32_t *flags = nullptr;
    if (BOUNDS) flags = carom_device_take<uint32_t>(device, CAROM_SCRATCH_BALLS_FLAGS, 0);
    carom_device_launch(device, find_overlaps<BOUNDS>, o->count * parts, THREADS,
                        o->all != nullptr ? query_view{} : view_of(&o->one), all, parts,
                        replicas_for(o->count), states, flags, o->count == 1, overlaps,
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

carom_status carom_balls_cuda_finish(carom_device *device, const carom_device_count *n) {
    device->steps.node_pairs = n[N_VISITS];
    device->steps.candidates = n[BALLS_CUDA_N_CANDIDATES];
    device->steps.open_in_floats = n[BALLS_CUDA_N_CANDIDATES];
    device->steps.open_in_doubles = n[N_UNDECIDED];
    if (n[N_BAD] == 0) return CAROM_OK;
    return carom_device_fail(device, CAROM_BAD_INPUT,
                             "%llu poses in device memory are not finite, or move balls beyond "
                             "sizes of 2^-200 to 2^200",
                             n[N_BAD]);
}

static carom_status overlap_finish(carom_device *device, carom_device_op *op,
                                   const carom_device_counters *counters, bool *again) {
    (void)op;
    *again = false;
    return carom_balls_cuda_finish(device, counters->n);
}

static carom_status submit_overlap(carom_device *device, const overlap_arguments &arguments) {
    carom_device_op op = {overlap_reserve, overlap_launch, overlap_finish, nullptr, {}};
    if (arguments.count > MOST_OVERLAPS)
        return carom_device_fail(device, CAROM_TOO_LARGE, "%llu overlaps at once; at most 2^24",
                                 (unsigned long long)arguments.count);
    *carom_device_arguments<overlap_arguments>(&op) = arguments;
    return carom_device_submit(device, &op);
}

static carom_status balls_overlap(carom_device *device, const carom_device_balls_query *query,
                                  uint64_t count, bool bounds, carom_packing_overlap *overlaps) {
    return submit_overlap(device, overlap_arguments{*query, nullptr, count, overlaps, bounds});
}

static carom_status balls_overlap_many(carom_device *device,
                                       const carom_device_balls_query *queries, uint64_t count,
                                       bool bounds, carom_packing_overlap *overlaps) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(
        submit_overlap(device, overlap_arguments{queries[0], count > 1 ? queries : nullptr, count,
                                                 nullptr, bounds}));
    CAROM_DEVICE_TRY(carom_device_finish(device));
    return carom_device_copy(
        device, overlaps,
        carom_device_scratch_data<carom_packing_overlap>(device, CAROM_SCRATCH_BALLS_OVERLAPS),
        count * sizeof(*overlaps), cudaMemcpyDeviceToHost, "reading overlaps");
}

static carom_status balls_get_work(carom_device *device, carom_work *work) {
    *work = carom_work{device->steps.node_pairs, device->steps.candidates,
                       device->steps.open_in_doubles};
    return CAROM_OK;
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_balls carom_cuda_balls_2 = {
    carom_balls_cuda_create, carom_balls_cuda_destroy, carom_balls_cuda_set,
    carom_balls_cuda_bytes,  carom_balls_cuda_entries, balls_overlap,
    balls_overlap_many,      carom_balls_cuda_search,  balls_get_work,
};
