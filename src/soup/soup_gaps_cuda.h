/* SPDX-License-Identifier: MIT */
/* soup_gaps_cuda.h: distances of given pairs of faces on the GPU (soup_gaps.c), included by
 * soup_distance_cuda.cu alone. A thread per pair measures the triangles of both faces by the items
 * of the CPU; pairs of which the filter leaves open whether they meet are measured once more with
 * the exact test. */
#ifndef CAROM_SRC_SOUP_SOUP_GAPS_CUDA_H
#define CAROM_SRC_SOUP_SOUP_GAPS_CUDA_H

/* Pairs that are copied and measured together: 80 bytes each. */
#define GAPS_CUDA_CHUNK 4194304u

enum { GAPS_CUDA_N_UNDECIDED, GAPS_CUDA_N_BAD };

struct gaps_view {
    carom_soup_cuda_arrays soup[2];
    carom_frame frame[2];
    bool moved[2];
    const carom_pair *pairs;
    carom_soup_gap *gaps;
    uint64_t count;
};

/* The first triangle of a face, as carom_soup_span_of. */
static __device__ inline uint32_t gaps_cuda_first(const carom_soup_cuda_arrays &soup,
                                                  uint32_t face) {
    if (soup.faces == nullptr) return face;
    uint32_t low = 0, high = soup.triangle_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (soup.faces[middle] < face)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __device__ inline bool gaps_cuda_has(const carom_soup_cuda_arrays &soup, uint32_t face,
                                            uint32_t item) {
    return item < soup.triangle_count && carom_soup_cuda_face(soup, item) == face;
}

static __device__ inline carom_triangle gaps_cuda_triangle(const gaps_view &v, int side,
                                                           uint32_t item) {
    carom_triangle t = carom_soup_cuda_triangle(v.soup[side], item);
    for (int i = 0; i < 3 && v.moved[side]; ++i)
        t.corner[i] = carom_frame_apply(&v.frame[side], t.corner[i]);
    return t;
}

/* Measures a pair of faces; without `exact`, false where that needs the exact test. */
static __device__ inline bool gaps_cuda_measure(const gaps_view &v, carom_pair pair, bool exact,
                                                carom_soup_gap *gap) {
    *gap = carom_soup_gap{};
    gap->distance = HUGE_VAL;
    gap->face_a = pair.a;
    gap->face_b = pair.b;
    uint32_t first_b = gaps_cuda_first(v.soup[1], pair.b);
    for (uint32_t a = gaps_cuda_first(v.soup[0], pair.a); gaps_cuda_has(v.soup[0], pair.a, a);
         ++a) {
        carom_triangle posed_a = gaps_cuda_triangle(v, 0, a);
        for (uint32_t b = first_b; gaps_cuda_has(v.soup[1], pair.b, b) && gap->distance > 0.0;
             ++b) {
            carom_triangle posed_b = gaps_cuda_triangle(v, 1, b);
            carom_closest closest;
            carom_near_triangles(posed_a.corner, posed_b.corner, &closest);
            if (!(closest.distance >= 0.0)) gap->distance = (double)NAN;
            int meets = carom_triangle_filter(&posed_a, &posed_b);
            if (meets == CAROM_UNDECIDED && !exact) return false;
            if (meets == CAROM_UNDECIDED) meets = carom_triangle_meet_exact(&posed_a, &posed_b);
            carom_soup_gap_offer(gap, &closest, meets != 0);
        }
    }
    return true;
}

/* The undecided pairs; counts pairs whose distance is not a number, as posed corners are not. */
static __global__ void __launch_bounds__(DISTANCE_THREADS)
    gaps_cuda_filter(gaps_view v, carom_device_list<unsigned long long> undecided,
                     carom_device_counters *counters) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < v.count;
         i += (uint64_t)gridDim.x * blockDim.x) {
        carom_soup_gap gap;
        bool decided = gaps_cuda_measure(v, v.pairs[i], false, &gap);
        if (!(gap.distance >= 0.0)) atomicAdd(&counters->n[GAPS_CUDA_N_BAD], 1ull);
        if (decided)
            v.gaps[i] = gap;
        else
            undecided.append((unsigned long long)i);
    }
}

static __global__ void __launch_bounds__(DISTANCE_THREADS)
    gaps_cuda_decide(gaps_view v, carom_device_list<unsigned long long> undecided) {
    carom_device_begin();
    uint64_t count = undecided.stored();
    for (uint64_t k = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; k < count;
         k += (uint64_t)gridDim.x * blockDim.x) {
        uint64_t i = undecided.data[k];
        carom_soup_gap gap;
        (void)gaps_cuda_measure(v, v.pairs[i], true, &gap);
        v.gaps[i] = gap;
    }
}

struct gaps_arguments {
    carom_device_posed side[2];
    uint64_t count;
};

static carom_status gaps_cuda_reserve(carom_device *device, carom_device_op *op) {
    const gaps_arguments *a = carom_device_arguments<gaps_arguments>(op);
    return carom_device_reserve_list(device, CAROM_SCRATCH_DISTANCE_UNDECIDED, a->count,
                                     sizeof(unsigned long long), "distances"); /* there is room */
}

static void gaps_cuda_launch(carom_device *device, carom_device_op *op) {
    const gaps_arguments *a = carom_device_arguments<gaps_arguments>(op);
    gaps_view v = {};
    carom_device_clear(device, op);
    for (int side = 0; side < 2; ++side) {
        v.soup[side] = carom_soup_cuda_arrays_of(a->side[side].soup);
        v.frame[side] = a->side[side].frame;
        v.moved[side] = a->side[side].moved;
    }
    v.count = a->count;
    v.pairs = carom_device_take<carom_pair>(device, CAROM_SCRATCH_DISTANCE_INPUT,
                                            v.count * sizeof(carom_pair));
    v.gaps = carom_device_take<carom_soup_gap>(device, CAROM_SCRATCH_DISTANCE_OUTPUT,
                                               v.count * sizeof(carom_soup_gap));
    carom_device_list<unsigned long long> undecided = carom_device_list_of<unsigned long long>(
        device, CAROM_SCRATCH_DISTANCE_UNDECIDED, op, GAPS_CUDA_N_UNDECIDED);
    carom_device_step(device, "doubles");
    carom_device_launch(device, gaps_cuda_filter, distance_blocks(device, gaps_cuda_filter),
                        DISTANCE_THREADS, v, undecided, op->counters);
    carom_device_step(device, "exact");
    carom_device_launch(device, gaps_cuda_decide, distance_blocks(device, gaps_cuda_decide),
                        DISTANCE_THREADS, v, undecided);
}

static carom_status gaps_cuda_finish(carom_device *device, carom_device_op *op,
                                     const carom_device_counters *counters, bool *again) {
    (void)op;
    *again = false;
    if (counters->n[GAPS_CUDA_N_BAD] != 0)
        return carom_device_fail(device, CAROM_BAD_INPUT,
                                 "a pose moves %llu faces beyond the range of doubles; scale it "
                                 "down first",
                                 counters->n[GAPS_CUDA_N_BAD]);
    device->steps.candidates = device->steps.open_in_floats = 0;
    device->steps.open_in_doubles = counters->n[GAPS_CUDA_N_UNDECIDED];
    return CAROM_OK;
}

static carom_status distance_gaps(carom_device *device, const carom_device_posed *a,
                                  const carom_device_posed *b, const carom_pair *pairs,
                                  uint64_t count, carom_soup_gap *gaps) {
    uint64_t most = CAROM_MIN(count, (uint64_t)GAPS_CUDA_CHUNK);
    CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_DISTANCE_INPUT,
                                                  most * sizeof(carom_pair), "pairs"));
    CAROM_DEVICE_TRY(carom_device_reserve_scratch(device, CAROM_SCRATCH_DISTANCE_OUTPUT,
                                                  most * sizeof(carom_soup_gap), "distances"));
    for (uint64_t at = 0, some; at < count; at += some) {
        carom_device_op op = {gaps_cuda_reserve, gaps_cuda_launch, gaps_cuda_finish, nullptr, {}};
        some = CAROM_MIN(count - at, most);
        *carom_device_arguments<gaps_arguments>(&op) = gaps_arguments{{*a, *b}, some};
        CAROM_DEVICE_TRY(carom_device_check(
            device,
            cudaMemcpyAsync(device->scratch[CAROM_SCRATCH_DISTANCE_INPUT].data, pairs + at,
                            some * sizeof(carom_pair), cudaMemcpyHostToDevice, device->stream),
            "copying pairs"));
        CAROM_DEVICE_TRY(carom_device_submit(device, &op));
        CAROM_DEVICE_TRY(carom_device_finish(device));
        CAROM_DEVICE_TRY(carom_device_copy(
            device, gaps + at, device->scratch[CAROM_SCRATCH_DISTANCE_OUTPUT].data,
            some * sizeof(carom_soup_gap), cudaMemcpyDeviceToHost, "copying distances"));
    }
    return CAROM_OK;
}

#endif
