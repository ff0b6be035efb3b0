/* SPDX-License-Identifier: MIT */
/* The frame of the GPU library: devices, memory, queued operations, recorded frames and the times
 * of steps. Engines add operations (device_cuda.h); nothing here knows what they compute. */
#include "base/device_cuda.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

struct carom_cuda_frame {
    carom_device *device;
    carom_device_op ops[CAROM_DEVICE_MOST_OPS];
    uint32_t op_count;
    cudaGraphExec_t graph; /* NULL: not captured yet */
    uint64_t generation;   /* of the memory that the graph was captured with */
};

/* ---- Failure --------------------------------------------------------------------------------- */

carom_status carom_device_fail(carom_device *device, carom_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(device->message, sizeof(device->message), format, arguments);
    va_end(arguments);
    return status;
}

carom_status carom_device_check(carom_device *device, cudaError_t error, const char *what) {
    if (error == cudaSuccess) return CAROM_OK;
    (void)cudaGetLastError(); /* what is not sticky is forgotten */
    if (error == cudaErrorMemoryAllocation)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no device memory for %s", what);
    if (!device->lost && cudaFree(nullptr) != cudaSuccess) { /* it is: nothing succeeds any more */
        device->lost = true;
        snprintf(device->lost_at, sizeof(device->lost_at), "%s: %s", what,
                 cudaGetErrorString(error));
    }
    if (error == cudaErrorAssert)
        return carom_device_fail(device, CAROM_NO_DEVICE,
                                 "an invariant of Carom was broken on the CUDA device before %s: "
                                 "standard error names it",
                                 what);
    return carom_device_fail(device, CAROM_NO_DEVICE, "the CUDA device failed at %s: %s", what,
                             cudaGetErrorString(error));
}

carom_status carom_device_check_lost(carom_device *device) {
    if (!device->lost) return CAROM_OK;
    return carom_device_fail(device, CAROM_NO_DEVICE,
                             "the CUDA device was lost for this process at %s; start it again",
                             device->lost_at);
}

#define DEVICE_CUDA_TRY(device, call, what) CAROM_DEVICE_TRY(carom_device_check(device, call, what))

/* ---- Memory ---------------------------------------------------------------------------------- */

carom_status carom_device_reserve(carom_device *device, carom_device_block *block, uint64_t bytes,
                                  const char *what) {
    if (bytes <= block->bytes) return CAROM_OK;
    carom_device_release(block);
    DEVICE_CUDA_TRY(device, cudaMalloc(&block->data, bytes), what);
    block->bytes = bytes;
    return CAROM_OK;
}

/* Of all memory of the process: graphs captured before it changed are stale, since a structure may
 * be used by several contexts. */
static std::atomic<uint64_t> generation;

void carom_device_outdate_frames() {
    ++generation;
}

void carom_device_release(carom_device_block *block) {
    if (block->data == nullptr) return;
    (void)cudaFree(block->data); /* waits for the kernels that use it */
    ++generation;
    *block = carom_device_block{};
}

carom_status carom_device_reserve_pinned(carom_device *device, uint64_t bytes) {
    carom_device_block *block = &device->pinned;
    if (bytes <= block->bytes) return CAROM_OK;
    (void)cudaFreeHost(block->data);
    *block = carom_device_block{};
    DEVICE_CUDA_TRY(device, cudaMallocHost(&block->data, bytes), "copies");
    block->bytes = bytes;
    return CAROM_OK;
}

carom_status carom_device_reserve_zeros(carom_device *device, carom_device_block *block,
                                        uint64_t bytes, const char *what) {
    if (bytes <= block->bytes) return CAROM_OK;
    CAROM_DEVICE_TRY(carom_device_reserve(device, block, bytes, what));
    DEVICE_CUDA_TRY(device, cudaMemsetAsync(block->data, 0, bytes, device->stream), what);
    return CAROM_OK;
}

/* What is at carom_cuda_pairs::memory. */
struct device_cuda_pair_block {
    carom_device_block block;
    bool counted; /* the number follows the pairs */
};

static device_cuda_pair_block *device_cuda_block_of(const carom_cuda_pairs *pairs) {
    return (device_cuda_pair_block *)pairs->memory;
}

carom_status carom_device_reserve_pairs(carom_device *device, carom_cuda_pairs *pairs,
                                        uint64_t count) {
    static_assert(sizeof(carom_pair) == sizeof(uint64_t), "the number takes the place of a pair");
    if (pairs->memory == nullptr) pairs->memory = new (std::nothrow) device_cuda_pair_block{};
    if (pairs->memory == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for pairs");
    carom_device_block *block = &device_cuda_block_of(pairs)->block;
    carom_status status =
        carom_device_reserve(device, block, (count + 1) * sizeof(carom_pair), "the pairs");
    pairs->data = (carom_pair *)block->data;
    pairs->capacity = block->bytes != 0 ? block->bytes / sizeof(carom_pair) - 1 : 0;
    device_cuda_block_of(pairs)->counted = false;
    return status;
}

carom_status carom_device_end_pairs(carom_device *device, carom_cuda_pairs *pairs, uint64_t count) {
    pairs->count = count;
    DEVICE_CUDA_TRY(device,
                    cudaMemcpyAsync(pairs->data + pairs->capacity, pairs->device_count,
                                    sizeof(uint64_t), cudaMemcpyDeviceToDevice, device->stream),
                    "the pairs");
    device_cuda_block_of(pairs)->counted = true;
    return CAROM_OK;
}

const uint64_t *carom_device_count_of(const carom_cuda_pairs *pairs) {
    const device_cuda_pair_block *block = device_cuda_block_of(pairs);
    return block != nullptr && block->counted ? (const uint64_t *)(pairs->data + pairs->capacity)
                                              : pairs->device_count;
}

void carom_device_free_pairs(carom_cuda_pairs *pairs) {
    if (pairs->memory != nullptr) carom_device_release(&device_cuda_block_of(pairs)->block);
    delete device_cuda_block_of(pairs);
    *pairs = carom_cuda_pairs{};
}

static carom_status device_cuda_allocate(carom_device *device, uint64_t bytes, void **memory) {
    CAROM_DEVICE_TRY(carom_device_check_lost(device));
    DEVICE_CUDA_TRY(device, cudaSetDevice(device->number), "choosing the device");
    DEVICE_CUDA_TRY(device, cudaMalloc(memory, bytes != 0 ? bytes : 1), "the caller");
    return CAROM_OK;
}

static carom_status device_cuda_release(carom_device *device, void *memory) {
    DEVICE_CUDA_TRY(device, cudaFree(memory), "freeing memory");
    return CAROM_OK;
}

carom_status carom_device_copy(carom_device *device, void *to, const void *from, uint64_t bytes,
                               cudaMemcpyKind kind, const char *what) {
    CAROM_DEVICE_TRY(carom_device_check_lost(device));
    DEVICE_CUDA_TRY(device, cudaMemcpyAsync(to, from, bytes, kind, device->stream), what);
    DEVICE_CUDA_TRY(device, cudaStreamSynchronize(device->stream), what);
    return CAROM_OK;
}

static carom_status write(carom_device *device, void *to, const void *from, uint64_t bytes) {
    return carom_device_copy(device, to, from, bytes, cudaMemcpyHostToDevice, "a copy");
}

static carom_status read(carom_device *device, void *to, const void *from, uint64_t bytes) {
    return carom_device_copy(device, to, from, bytes, cudaMemcpyDeviceToHost, "a copy");
}

/* ---- Who uses scratch, in checked builds ----------------------------------------------------- */

#ifdef CAROM_CHECKS

static const struct {
    const char *name, *what;
    carom_scratch_rule rule;
} scratch_blocks[CAROM_SCRATCH_COUNT] = {
#define SCRATCH_BLOCK(name, rule, what) {#name, what, CAROM_SCRATCH_##rule},
    CAROM_SCRATCH_LIST(SCRATCH_BLOCK)
#undef SCRATCH_BLOCK
};

#define ZEROS_THREADS 256u
#define ZEROS_BLOCKS  4u /* per processor */

static __global__ void expect_zeros(const uint32_t *words, uint64_t count) {
    carom_device_begin();
    for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (uint64_t)gridDim.x * blockDim.x)
        CAROM_ASSERT(words[i] == 0);
}

void carom_device_verify_zeros(carom_device *device, const void *memory, uint64_t bytes) {
    CAROM_ASSERT(bytes % sizeof(uint32_t) == 0);
    carom_device_launch(device, expect_zeros, ZEROS_BLOCKS * (unsigned)device->processors,
                        ZEROS_THREADS, (const uint32_t *)memory, bytes / sizeof(uint32_t));
}

void carom_device_verify_take(carom_device *device, carom_device_scratch block, uint64_t bytes) {
    carom_scratch_users *users = &device->users;
    const carom_device_block *memory = &device->scratch[block];
    carom_scratch_rule rule = scratch_blocks[block].rule;
    bool taken_twice = users->taken[block];
    bool held_by_another = users->holder[block] != 0 && users->holder[block] != users->op;
    if (taken_twice || held_by_another || bytes > memory->bytes)
        fprintf(stderr, "carom: scratch %s (%s): operation %u takes %llu of %llu bytes\n",
                scratch_blocks[block].name, scratch_blocks[block].what, users->op,
                (unsigned long long)bytes, (unsigned long long)memory->bytes);
    CAROM_ASSERT(users->op != 0); /* only operations take scratch */
    CAROM_ASSERT(!taken_twice);
    CAROM_ASSERT(!held_by_another);
    CAROM_ASSERT(bytes <= memory->bytes);
    users->taken[block] = true;
    if (rule == CAROM_SCRATCH_FINISHED) users->holder[block] = users->op;
    if (rule == CAROM_SCRATCH_ZERO) CAROM_DEVICE_CHECK_ZEROS(device, memory->data, memory->bytes);
}

void carom_device_verify_rule(carom_device_scratch block, bool zeros) {
    CAROM_ASSERT((scratch_blocks[block].rule == CAROM_SCRATCH_ZERO) == zeros);
}

/* An operation, numbered from 0, is about to be launched or finished. */
static void scratch_begin(carom_device *device, uint32_t op) {
    device->users.op = op + 1u;
    for (bool &taken : device->users.taken) taken = false;
}

/* All operations are finished. */
static void scratch_end(carom_device *device) {
    device->users = carom_scratch_users{};
}

#else

static void scratch_begin(carom_device *, uint32_t) {
}

static void scratch_end(carom_device *) {
}

#endif

/* ---- Steps ----------------------------------------------------------------------------------- */

void carom_device_step(carom_device *device, const char *name) {
    if (!device->timing || device->capturing || device->step_count == CAROM_CUDA_MOST_STEPS) return;
    device->step_name[device->step_count] = name;
    (void)cudaEventRecord(device->step_event[device->step_count++], device->stream);
}

/* Adds up the time between events by name; the stream is idle. */
static void read_steps(carom_device *device) {
    carom_cuda_steps *steps = &device->steps;
    steps->count = 0;
    steps->longest_milliseconds = 0.0;
    for (uint32_t i = 0; i < device->step_count; ++i) {
        float elapsed = 0.0f;
        uint32_t at = 0;
        (void)cudaEventElapsedTime(&elapsed, device->step_event[i], device->step_event[i + 1]);
        while (at < steps->count && strcmp(steps->name[at], device->step_name[i]) != 0) ++at;
        if (at == steps->count) {
            steps->name[steps->count] = device->step_name[i];
            steps->milliseconds[steps->count++] = 0.0;
        }
        steps->milliseconds[at] += (double)elapsed;
        if ((double)elapsed > steps->longest_milliseconds)
            steps->longest_milliseconds = (double)elapsed;
    }
    device->step_count = 0;
}

static carom_status set_timing(carom_device *device, bool on) {
    for (uint32_t i = 0; on && i <= CAROM_CUDA_MOST_STEPS; ++i)
        if (device->step_event[i] == nullptr)
            DEVICE_CUDA_TRY(device, cudaEventCreate(&device->step_event[i]), "timing");
    device->timing = on;
    device->step_count = 0;
    return CAROM_OK;
}

static carom_status get_steps(carom_device *device, carom_cuda_steps *steps) {
    *steps = device->steps;
    return CAROM_OK;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* Gives scratch back. So does a search for which there is no memory, when nothing else is queued:
 * blocks that earlier ones have enlarged would else leave no room for smaller ones either. */
static void release_scratch(carom_device *device) {
    for (carom_device_block &block : device->scratch) carom_device_release(&block);
    for (uint64_t &entries : device->wanted) entries = 0;
}

/* Whether an operation changes what an earlier one uses, which could not be repeated after it. */
static bool changes_what_is_used(const carom_device *device, const carom_device_op *op) {
    if (op->changes == nullptr) return false;
    for (uint32_t i = 0; i < device->op_count; ++i)
        for (const void *used : device->ops[i].uses)
            if (used == op->changes) return true;
    return false;
}

static carom_status tell_owner(carom_device *device, const carom_device_op *op) {
    if (op->owner.changed == nullptr || op->owner.changed(op->owner.structure)) return CAROM_OK;
    return carom_device_fail(device, CAROM_UNSUPPORTED,
                             "a frame would undo changes that were made on the host: commit these "
                             "before it runs");
}

carom_status carom_device_submit(carom_device *device, const carom_device_op *op) {
    CAROM_DEVICE_TRY(carom_device_check_lost(device));
    DEVICE_CUDA_TRY(device, cudaSetDevice(device->number), "choosing the device");
    if (changes_what_is_used(device, op)) {
        if (device->recording)
            return carom_device_fail(device, CAROM_UNSUPPORTED,
                                     "a frame cannot change what it has queried before: record "
                                     "the change first, or a frame for each");
        CAROM_DEVICE_TRY(carom_device_finish(device));
    }
    if (device->op_count == CAROM_DEVICE_MOST_OPS) {
        if (device->recording)
            return carom_device_fail(device, CAROM_TOO_LARGE, "a frame has at most %u calls",
                                     CAROM_DEVICE_MOST_OPS);
        CAROM_DEVICE_TRY(carom_device_finish(device));
    }
    if (!device->recording && device->queued_frame != nullptr)
        CAROM_DEVICE_TRY(carom_device_finish(device));
    uint32_t at = device->op_count;
    device->ops[at] = *op;
    device->ops[at].counters = &device->counters[at];
    if (!device->recording) {
        CAROM_DEVICE_TRY(tell_owner(device, op));
        carom_status status = device->ops[at].reserve(device, &device->ops[at]);
        if (status == CAROM_NO_MEMORY && at == 0) release_scratch(device);
        CAROM_DEVICE_TRY(status);
        scratch_begin(device, at);
        device->ops[at].launch(device, &device->ops[at]);
        DEVICE_CUDA_TRY(device, cudaGetLastError(), "starting a kernel");
    }
    ++device->op_count;
    return CAROM_OK;
}

/* Some of the operations that are queued, as bits. */
typedef uint64_t op_set;
static_assert(CAROM_DEVICE_MOST_OPS < 64, "a bit for each operation");

static op_set all_ops(uint32_t count) {
    return ((op_set)1 << count) - 1;
}

static bool op_is_in(op_set some, uint32_t op) {
    return (some >> op & 1) != 0;
}

static carom_status device_cuda_launch_all(carom_device *device, carom_device_op *ops,
                                           uint32_t count, op_set some) {
    for (uint32_t i = 0; i < count; ++i) {
        if (!op_is_in(some, i)) continue;
        device->together = some == all_ops(count) ? count - i : 0;
        scratch_begin(device, i);
        ops[i].launch(device, &ops[i]);
    }
    device->together = 0;
    device->cleared = false;
    DEVICE_CUDA_TRY(device, cudaGetLastError(), "starting a kernel");
    return CAROM_OK;
}

static carom_status reserve_all(carom_device *device, carom_device_op *ops, uint32_t count,
                                op_set some) {
    for (uint32_t i = 0; i < count; ++i)
        if (op_is_in(some, i)) CAROM_DEVICE_TRY(ops[i].reserve(device, &ops[i]));
    return CAROM_OK;
}

/* The operations after `op` that read pairs before these were sorted. */
static op_set readers_of(const carom_device *device, uint32_t op, const carom_cuda_pairs *sorted) {
    op_set readers = 0;
    if (sorted == nullptr) return 0;
    for (uint32_t i = op + 1; i < device->op_count; ++i) {
        const carom_cuda_pairs *reads = device->ops[i].reads;
        if (reads != nullptr && reads->data == sorted->data) readers |= (op_set)1 << i;
    }
    return readers;
}

/* Waits, and finishes `some` of the operations; *again when one has to be repeated, and so all that
 * may build on it, or where some read what only the end of an earlier one has put in order. *some
 * becomes those to repeat: all, or these readers. */
static carom_status finish_all(carom_device *device, op_set *some, bool *again) {
    uint32_t count = device->op_count;
    op_set late = 0;
    *again = false;
    if (device->step_count != 0)
        (void)cudaEventRecord(device->step_event[device->step_count], device->stream);
    if (count != 0)
        DEVICE_CUDA_TRY(device,
                        cudaMemcpyAsync(device->counters_on_host, device->counters,
                                        count * sizeof(*device->counters), cudaMemcpyDeviceToHost,
                                        device->stream),
                        "the counters");
    DEVICE_CUDA_TRY(device, cudaStreamSynchronize(device->stream), "waiting");
    for (uint32_t i = 0; i < count; ++i) {
        bool op_again = false;
        if (!op_is_in(*some & ~late, i)) continue;
        scratch_begin(device, i);
        device->sorted = nullptr;
        CAROM_DEVICE_TRY(device->ops[i].finish(device, &device->ops[i],
                                               &device->counters_on_host[i], &op_again));
        *again = *again || op_again;
        late |= readers_of(device, i, device->sorted);
    }
    *some = *again ? all_ops(count) : late;
    *again = *some != 0;
    return CAROM_OK;
}

carom_status carom_device_finish(carom_device *device) {
    carom_status status = CAROM_OK;
    bool again = true;
    op_set some = all_ops(device->op_count);
    CAROM_DEVICE_TRY(carom_device_check_lost(device));
    DEVICE_CUDA_TRY(device, cudaSetDevice(device->number), "choosing the device");
    if (device->recording)
        return carom_device_fail(device, CAROM_UNSUPPORTED,
                                 "a frame is being recorded; end it before waiting");
    while (again && status == CAROM_OK) {
        status = finish_all(device, &some, &again);
        if (!again || status != CAROM_OK) break;
        device->step_count = 0;
        status = reserve_all(device, device->ops, device->op_count, some);
        if (status == CAROM_OK)
            status = device_cuda_launch_all(device, device->ops, device->op_count, some);
    }
    read_steps(device);
    device->op_count = 0;
    device->queued_frame = nullptr;
    scratch_end(device);
    if (status == CAROM_NO_MEMORY) release_scratch(device);
    return status;
}

void carom_device_forget(carom_device *device) {
    (void)cudaStreamSynchronize(device->stream);
    device->op_count = device->step_count = 0;
    device->queued_frame = nullptr;
    scratch_end(device);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static carom_status frame_begin(carom_device *device) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    device->recording = true;
    return CAROM_OK;
}

static carom_status frame_end(carom_device *device, carom_cuda_frame **out) {
    uint32_t count = device->op_count;
    if (!device->recording)
        return carom_device_fail(device, CAROM_UNSUPPORTED, "no frame is being recorded");
    device->recording = false;
    device->op_count = 0;
    carom_cuda_frame *frame = new (std::nothrow) carom_cuda_frame{};
    if (frame == nullptr)
        return carom_device_fail(device, CAROM_NO_MEMORY, "no memory for a frame");
    frame->device = device;
    frame->op_count = count;
    memcpy(frame->ops, device->ops, count * sizeof(*frame->ops));
    *out = frame;
    return CAROM_OK;
}

/* Captures what the operations launch into a graph. */
static carom_status capture(carom_device *device, carom_cuda_frame *frame) {
    cudaGraph_t graph = nullptr;
    if (frame->graph != nullptr) (void)cudaGraphExecDestroy(frame->graph);
    frame->graph = nullptr;
    DEVICE_CUDA_TRY(device,
                    cudaStreamBeginCapture(device->stream, cudaStreamCaptureModeThreadLocal),
                    "recording a graph");
    device->capturing = true;
    carom_status status =
        device_cuda_launch_all(device, frame->ops, frame->op_count, all_ops(frame->op_count));
    device->capturing = false;
    cudaError_t error = cudaStreamEndCapture(device->stream, &graph);
    if (status == CAROM_OK) status = carom_device_check(device, error, "recording a graph");
    if (status == CAROM_OK)
        status = carom_device_check(device, cudaGraphInstantiate(&frame->graph, graph, 0),
                                    "making a graph");
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    frame->generation = generation;
    return status;
}

static carom_status frame_run(carom_device *device, carom_cuda_frame *frame) {
    CAROM_DEVICE_TRY(carom_device_check_lost(device));
    DEVICE_CUDA_TRY(device, cudaSetDevice(device->number), "choosing the device");
    if (device->recording)
        return carom_device_fail(device, CAROM_UNSUPPORTED, "a frame is being recorded");
    if (device->op_count != 0 && device->queued_frame != frame)
        CAROM_DEVICE_TRY(carom_device_finish(device));
    CAROM_DEVICE_TRY(reserve_all(device, frame->ops, frame->op_count, all_ops(frame->op_count)));
    for (uint32_t i = 0; i < frame->op_count; ++i)
        CAROM_DEVICE_TRY(tell_owner(device, &frame->ops[i]));
    if (frame->graph == nullptr || frame->generation != generation)
        CAROM_DEVICE_TRY(capture(device, frame));
    carom_device_step(device, "frame");
    DEVICE_CUDA_TRY(device, cudaGraphLaunch(frame->graph, device->stream), "a graph");
    memcpy(device->ops, frame->ops, frame->op_count * sizeof(*frame->ops));
    device->op_count = frame->op_count;
    device->queued_frame = frame;
    return CAROM_OK;
}

static void frame_destroy(carom_cuda_frame *frame) {
    if (frame->device->queued_frame == frame) frame->device->queued_frame = nullptr;
    if (frame->graph != nullptr) (void)cudaGraphExecDestroy(frame->graph);
    delete frame;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static bool device_cuda_describe(char *line, size_t size) {
    int count = 0, device = 0, driver = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        snprintf(line, size, "none: %s",
                 error != cudaSuccess ? cudaGetErrorString(error) : "no CUDA device");
        return false;
    }
    cudaDeviceProp properties;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDriverGetVersion(&driver) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
        snprintf(line, size, "none: the device does not answer");
        return false;
    }
    snprintf(line, size, "%s, compute %d.%d, %.0f GiB, CUDA %d.%d", properties.name,
             properties.major, properties.minor,
             (double)properties.totalGlobalMem / (1024.0 * 1024.0 * 1024.0), driver / 1000,
             driver % 1000 / 10);
    return true;
}

static void destroy(carom_device *device) {
    (void)cudaStreamSynchronize(device->stream);
    for (carom_device_block &block : device->scratch) carom_device_release(&block);
    for (cudaEvent_t event : device->step_event)
        if (event != nullptr) (void)cudaEventDestroy(event);
    (void)cudaFree(device->counters);
    (void)cudaFreeHost(device->counters_on_host);
    (void)cudaFreeHost(device->pinned.data);
    if (device->owns_stream && device->stream != nullptr) (void)cudaStreamDestroy(device->stream);
    delete device;
}

static __global__ void probe() {
}

/* Whether carom_device_begin waits in the code that was compiled. */
static bool can_launch_early() {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, probe) == cudaSuccess && attributes.ptxVersion >= 90;
}

static carom_status open_device(carom_device *device, uint32_t number, void *stream) {
    int count = 0;
    DEVICE_CUDA_TRY(device, cudaGetDeviceCount(&count), "counting devices");
    if (number >= (uint32_t)count)
        return carom_device_fail(device, CAROM_NO_DEVICE, "CUDA device %u requested, there are %d",
                                 number, count);
    device->number = (int)number;
    DEVICE_CUDA_TRY(device, cudaSetDevice((int)number), "choosing a device");
    DEVICE_CUDA_TRY(
        device,
        cudaDeviceGetAttribute(&device->processors, cudaDevAttrMultiProcessorCount, (int)number),
        "querying the device");
    device->early = can_launch_early();
    device->stream = (cudaStream_t)stream;
    if (stream == nullptr) {
        DEVICE_CUDA_TRY(device, cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking),
                        "a stream");
        device->owns_stream = true;
    }
    size_t bytes = CAROM_DEVICE_MOST_OPS * sizeof(carom_device_counters);
    DEVICE_CUDA_TRY(device, cudaMalloc(&device->counters, bytes), "a context");
    DEVICE_CUDA_TRY(device, cudaMallocHost(&device->counters_on_host, bytes), "a context");
    return CAROM_OK;
}

static carom_status device_cuda_create(uint32_t number, void *stream, char *message, size_t size,
                                       carom_device **out) {
    carom_device *device = new (std::nothrow) carom_device{};
    if (device == nullptr) {
        snprintf(message, size, "no memory for a context");
        return CAROM_NO_MEMORY;
    }
    carom_status status = open_device(device, number, stream);
    if (status != CAROM_OK) {
        snprintf(message, size, "%s", device->message);
        destroy(device);
        return status;
    }
    *out = device;
    return CAROM_OK;
}

static const char *message_of(const carom_device *device) {
    return device->message;
}

static uint64_t device_cuda_bytes_of(const carom_device *device) {
    uint64_t bytes = 0;
    for (const carom_device_block &block : device->scratch) bytes += block.bytes;
    return bytes;
}

static carom_status device_cuda_free_bytes(carom_device *device, uint64_t *bytes) {
    size_t unused = 0, all;
    CAROM_DEVICE_TRY(carom_device_check_lost(device));
    DEVICE_CUDA_TRY(device, cudaSetDevice(device->number), "choosing the device");
    DEVICE_CUDA_TRY(device, cudaMemGetInfo(&unused, &all), "querying the device's memory");
    *bytes = unused;
    return CAROM_OK;
}

static carom_status trim(carom_device *device) {
    CAROM_DEVICE_TRY(carom_device_finish(device));
    release_scratch(device);
    (void)cudaFreeHost(device->pinned.data);
    device->pinned = carom_device_block{};
    return CAROM_OK;
}

extern "C" __attribute__((visibility("default"))) const carom_cuda_base carom_cuda_base_4 = {
    device_cuda_describe,
    device_cuda_create,
    destroy,
    message_of,
    device_cuda_bytes_of,
    device_cuda_free_bytes,
    trim,
    carom_device_finish,
    carom_device_forget,
    device_cuda_allocate,
    device_cuda_release,
    write,
    read,
    frame_begin,
    frame_end,
    frame_run,
    frame_destroy,
    carom_device_free_pairs,
    set_timing,
    get_steps,
};
