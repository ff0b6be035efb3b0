/* SPDX-License-Identifier: MIT */
/* device_cuda.h: what every engine's GPU side builds on: the device of a context, memory that only
 * grows, operations that are queued and settled, and lists that kernels append to.
 *
 * An operation is one call that does not wait. It is split so that it can be repeated and recorded:
 *   reserve   takes memory, and may wait;
 *   launch    queues kernels, and does nothing else: it may be captured into a graph;
 *   settle    reads the counters of its kernels once they are done. Where a list overflowed it asks
 *             for a repetition, before which `reserve` finds the larger size. */
#ifndef CAROM_SRC_BASE_DEVICE_CUDA_H
#define CAROM_SRC_BASE_DEVICE_CUDA_H

#include <cuda_runtime.h>

#include "base/device.h"

#define CAROM_DEVICE_COUNTERS   8u
#define CAROM_DEVICE_MOST_OPS   32u  /* queued at a time: a frame of an application has a few */
#define CAROM_DEVICE_ARGUMENTS  352u /* bytes: the largest operation, a search of two soups */
#define CAROM_DEVICE_SCRATCH    32u  /* blocks of memory for reuse, by purpose */
#define CAROM_DEVICE_ALLOCATION 512u /* bytes: what device memory is aligned to */
#define CAROM_WARP              32u

typedef unsigned long long carom_device_count; /* the type that atomicAdd takes */

/* Counters of one operation, on the device. */
typedef struct carom_device_counters {
    carom_device_count n[CAROM_DEVICE_COUNTERS];
} carom_device_counters;

/* Device memory that only grows. */
typedef struct carom_device_block {
    void *data;
    size_t bytes;
} carom_device_block;

typedef struct carom_device_op carom_device_op;
struct carom_device_op {
    carom_status (*reserve)(carom_device *device, carom_device_op *op);
    void (*launch)(carom_device *device, carom_device_op *op);
    carom_status (*settle)(carom_device *device, carom_device_op *op,
                           const carom_device_counters *counters, bool *again);
    carom_device_counters *counters; /* on the device; set when the operation is queued */
    alignas(16) unsigned char arguments[CAROM_DEVICE_ARGUMENTS];
};

struct carom_device {
    int number, processors;
    cudaStream_t stream;
    bool owns_stream, capturing;
    bool early;   /* kernels may be launched before the one before them is done */
    bool cleared; /* the counters of this operation and those launched with it after it are 0 */
    uint32_t together; /* operations that are launched together, this one and those after it */
    char message[512];

    carom_device_block scratch[CAROM_DEVICE_SCRATCH];
    uint64_t wanted[CAROM_DEVICE_SCRATCH];              /* sizes that overflows asked for */
    carom_device_block pinned;                          /* host memory that copies need not stage */
    carom_device_counters *counters, *counters_on_host; /* CAROM_DEVICE_MOST_OPS each */

    carom_device_op ops[CAROM_DEVICE_MOST_OPS]; /* queued, or being recorded */
    uint32_t op_count;
    bool recording;
    carom_cuda_frame *queued_frame; /* that the operations belong to, or NULL */

    bool timing;
    uint32_t step_count;
    const char *step_name[CAROM_CUDA_MOST_STEPS];
    cudaEvent_t step_event[CAROM_CUDA_MOST_STEPS + 1];
    carom_cuda_steps steps;
};

/* Writes the message and returns the status. */
carom_status carom_device_fail(carom_device *device, carom_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The status of a call of the CUDA runtime. */
carom_status carom_device_check(carom_device *device, cudaError_t error, const char *what);

#define CAROM_DEVICE_TRY(call)                                                                     \
    do {                                                                                           \
        carom_status device_status_ = (call);                                                      \
        if (device_status_ != CAROM_OK) return device_status_;                                     \
    } while (0)

/* Makes a block at least so large; its contents are lost if it grows. */
carom_status carom_device_reserve(carom_device *device, carom_device_block *block, uint64_t bytes,
                                  const char *what);
void carom_device_release(carom_device_block *block);
/* The same for device->pinned. */
carom_status carom_device_reserve_pinned(carom_device *device, uint64_t bytes);

/* Makes a result large enough for `count` pairs. */
carom_status carom_device_reserve_pairs(carom_device *device, carom_cuda_pairs *pairs,
                                        uint64_t count);

/* Queues the clearing of an operation's counters and of those launched with it after it, which
 * follow in memory: between two kernels it would take longer than the launch of a kernel. */
static inline void carom_device_clear(carom_device *device, carom_device_op *op) {
    uint32_t count = device->together > 0 ? device->together : 1u;
    if (device->cleared) return;
    (void)cudaMemsetAsync(op->counters, 0, count * sizeof(*op->counters), device->stream);
    device->cleared = device->together > 0;
}

/* Queues an operation or, while a frame is recorded, records it. */
carom_status carom_device_submit(carom_device *device, const carom_device_op *op);

/* Waits for all operations and settles them. */
carom_status carom_device_finish(carom_device *device);

/* The kernels queued from here on belong to the step `name`. */
void carom_device_step(carom_device *device, const char *name);

template <typename ARGUMENTS> static inline ARGUMENTS *carom_device_arguments(carom_device_op *op) {
    static_assert(sizeof(ARGUMENTS) <= CAROM_DEVICE_ARGUMENTS, "enlarge CAROM_DEVICE_ARGUMENTS");
    return reinterpret_cast<ARGUMENTS *>(op->arguments);
}

/* Blocks of `threads` for `count` threads, at least one. */
static inline unsigned carom_device_blocks(uint64_t count, unsigned threads) {
    uint64_t blocks = (count + threads - 1) / threads;
    return blocks != 0 ? (unsigned)blocks : 1u;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* First line of a kernel that carom_device_launch starts: waits until the kernel before it is done.
 * The launch itself overlaps with that kernel's end, which saves a microsecond or two each. */
static __device__ inline void carom_device_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Queues a kernel whose first line is carom_device_begin(). */
template <typename... PARAMETERS, typename... ARGUMENTS>
static inline void carom_device_launch(carom_device *device, void (*kernel)(PARAMETERS...),
                                       uint64_t blocks, unsigned threads, ARGUMENTS... arguments) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = device->early ? 1 : 0;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(threads);
    config.stream = device->stream;
    config.attrs = &early;
    config.numAttrs = 1;
    (void)cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

/* Blocks that run at the same time: what a kernel that loops over a list of unknown length is
 * started with, so that all of them end together. */
template <typename KERNEL>
static inline uint64_t carom_device_resident(const carom_device *device, KERNEL kernel,
                                             unsigned threads) {
    int blocks = 0;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)threads, 0) !=
            cudaSuccess ||
        blocks < 1)
        blocks = 1;
    return (uint64_t)blocks * (uint64_t)device->processors;
}

/* ---- Lists that kernels append to ------------------------------------------------------------ */

/* `count` is the true number of entries, also when it exceeds the capacity. */
template <typename T> struct carom_device_list {
    T *data;
    uint64_t capacity;
    carom_device_count *count;

    __device__ uint64_t stored() const {
        uint64_t n = *count;
        return n < capacity ? n : capacity;
    }
};

/* The list in a block of scratch that is counted by a counter of an operation. */
template <typename T>
static inline carom_device_list<T> carom_device_list_of(carom_device *device, int block,
                                                        carom_device_op *op, int counter) {
    return {(T *)device->scratch[block].data, device->scratch[block].bytes / sizeof(T),
            &op->counters->n[counter]};
}

/* Reserves a block of scratch for so many entries, or for as many as an overflow asked for. */
static inline carom_status carom_device_reserve_list(carom_device *device, int block,
                                                     uint64_t entries, uint64_t size) {
    uint64_t wanted = device->wanted[block];
    return carom_device_reserve(device, &device->scratch[block],
                                (entries > wanted ? entries : wanted) * size, "a search");
}

/* Whether a list turned out larger than its block, which is then to be larger next time. */
static inline bool carom_device_list_grows(carom_device *device, int block, uint64_t entries,
                                           uint64_t size) {
    if (entries * size <= device->scratch[block].bytes) return false;
    device->wanted[block] = entries + entries / 4;
    return true;
}

/* Collects the entries of one warp in shared memory, so that there is one atomic addition per SIZE
 * entries or so. All lanes call all functions together. */
template <typename T, unsigned SIZE> struct carom_warp_buffer {
    T *entries; /* SIZE of them, of this warp */
    unsigned used;

    __device__ void flush(const carom_device_list<T> &list) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        if (used == 0) return;
        carom_device_count first = 0;
        if (lane == 0) first = atomicAdd(list.count, (carom_device_count)used);
        first = __shfl_sync(~0u, first, 0);
        __syncwarp();
        for (unsigned i = lane; i < used; i += CAROM_WARP)
            if (first + i < list.capacity) list.data[first + i] = entries[i];
        __syncwarp();
        used = 0;
    }

    __device__ void push(const carom_device_list<T> &list, bool has, T value) {
        unsigned lane = threadIdx.x % CAROM_WARP, mask = __ballot_sync(~0u, has);
        if (mask == 0) return;
        if (used + __popc(mask) > SIZE) flush(list);
        if (has) entries[used + __popc(mask & ((1u << lane) - 1u))] = value;
        used += __popc(mask);
    }
};

#endif
