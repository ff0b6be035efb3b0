/* SPDX-License-Identifier: MIT */
/* Pairs of spheres of two packings on the GPU, by the search of balls_search_cuda.h. They go to the
 * result at once, as pairs or, if they are to be sorted, as numbers in the order of pairs: these
 * are sorted once their number is known. */
#include <cub/device/device_radix_sort.cuh>

#include "balls/balls_search_cuda.h"

#define PAIRS_PER_SPHERE 2u    /* that there is room for at first, */
#define PAIRS_LEAST      1024u /* and so many for few spheres */
#define PAIRS_KEY_BITS   64

/* Whether two posed spheres are a pair, as is_pair of balls_query.c. */
static __device__ inline bool is_pair(const query_block &s, carom_balls_pair_kind kind,
                                      const carom_spheres_posed *a, const carom_spheres_posed *b) {
    if (kind == CAROM_BALLS_PAIR_KIND_COVER) return carom_spheres_covers_meet(a, b);
    if (kind == CAROM_BALLS_PAIR_KIND_SECONDARY) {
        carom_ball ball_a = {a->centre, a->secondary}, ball_b = {b->centre, b->secondary};
        carom_spheres_term term;
        return carom_spheres_pair(&ball_a, &ball_b, s.posed.pivot, &term);
    }
    carom_vec3 apart = carom_vec_sub(b->centre, a->centre);
    double volume, error;
    return carom_spheres_inner(carom_vec_dot(apart, apart), carom_length(apart), a->radius,
                               b->radius, s.posed.slack, &volume, &error);
}

/* Pairs of spheres go to a list as numbers in the order of pairs, or as carom_pair in `direct`. */
template <bool COVERS> struct listing : finder {
    static const int WHAT = COVERS ? WITHIN_REACH : NEAR_BALLS;
    const query_block &s;
    carom_device_list<unsigned long long> found;
    carom_balls_pair_kind kind;
    bool any, direct;
    carom_device_counters *counters;

    __device__ listing(const query_block &of, block_work &of_block,
                       carom_device_list<unsigned long long> list, carom_balls_pair_kind wanted,
                       bool one_is_enough, bool as_pairs, carom_device_counters *of_query)
        : finder{of_block, 0}, s(of), found(list), kind(wanted), any(one_is_enough),
          direct(as_pairs), counters(of_query) {
    }

    __device__ bool is_done() const {
        return any && __ldcg(found.count) != 0;
    }

    __device__ void count_candidates(unsigned count) {
        atomicAdd(&counters->n[BALLS_CUDA_N_CANDIDATES], (carom_device_count)count);
    }

    __device__ __noinline__ void take(hit_pair hit, bool there) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        unsigned long long key = 0;
        bool has = there;
        if (has) {
            carom_spheres_posed a = load_posed(s, 0, hit.x), b = load_posed(s, 1, hit.y);
            unsigned long long index_a = s.grid[0].v.spheres[hit.x].index;
            unsigned long long index_b = s.grid[1].v.spheres[hit.y].index;
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
    find_pairs(const __grid_constant__ query_view one, carom_balls_pair_kind kind, bool any,
               bool direct, carom_device_list<unsigned long long> found,
               carom_device_counters *counters) {
    carom_device_begin();
    __shared__ query_block s;
    __shared__ block_work work;
    if (threadIdx.x == 0) work.piece_count = work.hit_count = 0;
    make_query(&s, one, 0);
    listing<COVERS> seeker(s, work, found, kind, any, direct, counters);
    look_up_all(s, blockIdx.x, gridDim.x, seeker);
    if (threadIdx.x == 0 && blockIdx.x == 0 && s.bad) counters->n[N_BAD] = 1;
    for (unsigned step = CAROM_WARP / 2; step != 0; step /= 2)
        seeker.visits += __shfl_xor_sync(~0u, seeker.visits, step);
    if (threadIdx.x % CAROM_WARP != 0) return;
    if (seeker.visits != 0) atomicAdd(&counters->n[N_VISITS], (carom_device_count)seeker.visits);
}

/* Exchanges the halves of numbers: from the order of pairs to pairs. */
static __global__ void exchange_halves(const unsigned long long *from, unsigned long long *to,
                                       uint64_t count) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        CAROM_ASSERT(i == 0 || from[i - 1] < from[i]); /* sorted, and each pair once */
        to[i] = from[i] << 32 | from[i] >> 32;
    }
}

struct search_arguments {
    carom_device_balls_query query;
    carom_cuda_pairs *pairs; /* NULL: count only */
    uint64_t *count;         /* on the host, may be NULL */
    carom_balls_pair_kind kind;
    carom_cuda_order order;
    bool any;
};

static bool is_direct(const search_arguments *s) {
    return s->pairs != nullptr && s->order == CAROM_CUDA_ORDER_ANY;
}

static carom_status search_reserve(carom_device *device, carom_device_op *op) {
    search_arguments *s = carom_device_arguments<search_arguments>(op);
    if (s->pairs == nullptr) return CAROM_OK;
    uint64_t spheres = (uint64_t)s->query.a.balls->host.count + s->query.b.balls->host.count;
    uint64_t room = PAIRS_PER_SPHERE * spheres + PAIRS_LEAST;
    uint64_t wanted = device->wanted[CAROM_SCRATCH_BALLS_SORTED];
    CAROM_DEVICE_TRY(carom_device_reserve_pairs(device, s->pairs, CAROM_MAX(room, wanted)));
    s->pairs->device_count = (uint64_t *)&op->counters->n[BALLS_CUDA_N_FOUND];
    return CAROM_OK;
}

template <bool COVERS> static void launch_pairs(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    carom_device_list<unsigned long long> found = {nullptr, 0,
                                                   &op->counters->n[BALLS_CUDA_N_FOUND]};
    if (s->pairs != nullptr) {
        found.data = (unsigned long long *)s->pairs->data;
        found.capacity = s->pairs->capacity;
    }
    uint64_t blocks = carom_device_resident(device, find_pairs<COVERS>, THREADS);
    uint64_t useful = (flag_words(&s->query) + BLOCK_WARPS - 1) / BLOCK_WARPS;
    if (blocks > useful) blocks = useful;
    carom_device_launch(device, find_pairs<COVERS>, blocks, THREADS, view_of(&s->query), s->kind,
                        s->any, is_direct(s), found, op->counters);
}

static void search_launch(carom_device *device, carom_device_op *op) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    carom_device_step(device, "pairs");
    (void)cudaMemsetAsync(op->counters, 0, sizeof(*op->counters), device->stream);
    if (s->kind == CAROM_BALLS_PAIR_KIND_COVER)
        launch_pairs<true>(device, op);
    else
        launch_pairs<false>(device, op);
}

/* Sorts numbers where they are and makes pairs of them. */
static carom_status sort_pairs(carom_device *device, const carom_cuda_pairs *pairs,
                               uint64_t count) {
    unsigned long long *found = (unsigned long long *)pairs->data;
    size_t bytes = 0;
    if (count == 0) return CAROM_OK;
    CAROM_ASSERT(count <= pairs->capacity);
    (void)cub::DeviceRadixSort::SortKeys(nullptr, bytes, found, found, (int64_t)count, 0,
                                         PAIRS_KEY_BITS, device->stream);
    uint64_t row = carom_device_row(count * sizeof(uint64_t));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_BALLS_SORTED, row + bytes,
                                                  "sorting pairs"));
    unsigned long long *sorted =
        carom_device_take<unsigned long long>(device, CAROM_SCRATCH_BALLS_SORTED, row + bytes);
    (void)cub::DeviceRadixSort::SortKeys((char *)sorted + row, bytes, found, sorted, (int64_t)count,
                                         0, PAIRS_KEY_BITS, device->stream);
    carom_device_launch(device, exchange_halves, carom_device_blocks(count, THREADS), THREADS,
                        sorted, found, count);
    return carom_device_check(device, cudaStreamSynchronize(device->stream), "sorting pairs");
}

static carom_status search_finish(carom_device *device, carom_device_op *op,
                                  const carom_device_counters *counters, bool *again) {
    const search_arguments *s = carom_device_arguments<search_arguments>(op);
    uint64_t count = counters->n[BALLS_CUDA_N_FOUND];
    *again = s->pairs != nullptr && count > s->pairs->capacity;
    if (*again) device->wanted[CAROM_SCRATCH_BALLS_SORTED] = carom_device_enlarged(count);
    if (*again) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_balls_cuda_finish(device, counters->n));
    if (s->pairs != nullptr && !is_direct(s)) CAROM_DEVICE_TRY(sort_pairs(device, s->pairs, count));
    if (s->pairs != nullptr) CAROM_DEVICE_TRY(carom_device_end_pairs(device, s->pairs, count));
    if (s->count != nullptr) *s->count = count;
    return CAROM_OK;
}

carom_status carom_balls_cuda_search(carom_device *device, const carom_device_balls_query *query,
                                     carom_balls_pair_kind kind, bool any, carom_cuda_order order,
                                     carom_cuda_pairs *pairs, uint64_t *count) {
    carom_device_op op = {search_reserve, search_launch, search_finish, nullptr, {}};
    *carom_device_arguments<search_arguments>(&op) =
        search_arguments{*query, pairs, count, kind, order, any};
    return carom_device_submit(device, &op);
}
