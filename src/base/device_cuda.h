/* SPDX-License-Identifier: MIT */
/* device_cuda.h: what every engine's GPU side builds on: the device of a context, memory that only
 * grows, operations that are queued and finished, and lists that kernels append to.
 *
 * An operation is one call that does not wait. It is split so that it can be repeated and recorded:
 *   reserve   takes memory, and may wait;
 *   launch    queues kernels, and does nothing else: it may be captured into a graph;
 *   finish    reads the counters of its kernels once they are done. Where a list overflowed it
 *   calls
 *             for a repetition, before which `reserve` finds the larger size. */
#ifndef CAROM_SRC_BASE_DEVICE_CUDA_H
#define CAROM_SRC_BASE_DEVICE_CUDA_H

#include <cuda_runtime.h>

#include "base/assert.h"
#include "base/device.h"

#define CAROM_DEVICE_COUNTERS   16u  /* of an operation: a search for impacts has thirteen */
#define CAROM_DEVICE_MOST_OPS   32u  /* queued at a time: a frame of an application has a few */
#define CAROM_DEVICE_ARGUMENTS  448u /* bytes: the largest operation, a search for impacts */
#define CAROM_DEVICE_ALLOCATION 512u /* bytes: what device memory is aligned to */
#define CAROM_WARP              32u  /* lanes, on every device so far */

/* Entries that a list has room for at first, whatever the size of its input: half a mebibyte of
 * pairs. So small sets are not searched twice. */
#define CAROM_DEVICE_LIST_ENTRIES 65536u

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

/* ---- Scratch: blocks of memory for reuse ----------------------------------------------------- */

/* How long what an operation writes to a block of scratch stays there:
 *   RUNNING   while its kernels run. They run in the order of operations, so that the next one may
 *             overwrite it.
 *   FINISHED  until it is finished: no other operation may take the block before that.
 *   ZERO      it is all 0 whenever an operation takes it. Who reserves it clears what is new
 *             (carom_device_reserve_zeros), who uses it clears what it has written: named below. */
typedef enum carom_scratch_rule {
    CAROM_SCRATCH_RUNNING,
    CAROM_SCRATCH_FINISHED,
    CAROM_SCRATCH_ZERO
} carom_scratch_rule;

/* All blocks: name, rule, what for. An engine has blocks of its own and those of the headers that
 * it includes. */
#define CAROM_SCRATCH_LIST(X)                                                                      \
    /* bvh_cuda.h */                                                                               \
    X(TREE_SORT, RUNNING, "keys and ranks of a tree's items")                                      \
    X(TREE_BINS, ZERO, "items per bin; carom_tree_rank clears")                                    \
    X(TREE_LEAF_PAIRS, RUNNING, "pairs of leaves")                                                 \
    /* grid_cuda.h */                                                                              \
    X(GRID, RUNNING, "boxes and buckets of a hash grid")                                           \
    X(GRID_ENTRIES, RUNNING, "entries of a hash grid")                                             \
    /* pairs_cuda.h */                                                                             \
    X(PAIRS_CANDIDATES, RUNNING, "pairs whose boxes overlap")                                      \
    X(PAIRS_FOUND, RUNNING, "pairs that count, in any order")                                      \
    X(PAIRS_SCATTERED, RUNNING, "second members, by first member")                                 \
    X(PAIRS_COUNTS, RUNNING, "pairs per first member")                                             \
    /* soup_cuda.cu, soup_kfree_cuda.h */                                                          \
    X(SOUP_TREE, RUNNING, "tree of two posed soups, or of enlarged boxes")                         \
    X(SOUP_OPEN, RUNNING, "pairs that floats leave open")                                          \
    X(SOUP_UNDECIDED, RUNNING, "pairs that doubles leave open")                                    \
    X(SOUP_NEIGHBOURS, FINISHED, "diameters and counts of near faces")                             \
    X(SOUP_NEAR, FINISHED, "near faces that doubles leave open, for the host")                     \
    X(SEGMENTS_ROWS, FINISHED, "pairs of faces, and how many segments they have")                  \
    X(SEGMENTS_FOUND, RUNNING, "segments in any order")                                            \
    X(SEGMENTS_ORDERED, FINISHED, "segments for the host")                                         \
    X(SEGMENTS_OPEN, FINISHED, "triangles whose segments the host finds")                          \
    X(SEGMENTS_HOST, FINISHED, "pairs whose segments the host finds")                              \
    /* impacts_cuda.cu */                                                                          \
    X(IMPACTS_ENDS, FINISHED, "end positions from the host")                                       \
    X(IMPACTS_FRAME, RUNNING, "where float32 points lie, and their gaps")                          \
    X(IMPACTS_TREE, RUNNING, "tree of the boxes that triangles sweep, and their corners")          \
    X(IMPACTS_OPEN, RUNNING, "vertices and faces, and edges, that no direction separates")         \
    X(IMPACTS_LEFT, RUNNING, "of these, those that no sign of a polynomial separates")             \
    X(IMPACTS_DEEP, RUNNING, "of these, those that need many parts of the time")                   \
    X(IMPACTS_HITS, FINISHED, "those that count: keys")                                            \
    X(IMPACTS_TIMES, FINISHED, "beside them: intervals")                                           \
    X(IMPACTS_SORT, FINISHED, "keys while they are sorted")                                        \
    X(IMPACTS_FOUND, FINISHED, "impacts for the host, or for the caller")                          \
    X(IMPACTS_HOST, FINISHED, "motions that doubles leave open, for the host")                     \
    /* soup_batch_cuda.h */                                                                        \
    X(BATCH_TREE, RUNNING, "wide tree of a soup")                                                  \
    X(BATCH_SORT, RUNNING, "keys and order of points or rays")                                     \
    X(BATCH_FOUND, RUNNING, "candidates of points or rays")                                        \
    X(BATCH_LEFT, RUNNING, "points or rays that floats leave open")                                \
    X(BATCH_EXACT, RUNNING, "of these, those that doubles leave open")                             \
    X(BATCH_OPEN, FINISHED, "triangles of points or rays, for the host")                           \
    X(BATCH_FIELD, FINISHED, "corners and moments of a tree of the host")                          \
    X(BATCH_INPUT, FINISHED, "points or rays from the host")                                       \
    X(BATCH_OUTPUT, FINISHED, "results for the host")                                              \
    /* soup_rays_all_cuda.h */                                                                     \
    X(RAYS_FOUND, FINISHED, "faces that rays meet, in any order")                                  \
    X(RAYS_ROWS, FINISHED, "how many faces each ray meets, and where they are")                    \
    X(RAYS_ORDER, FINISHED, "these faces, while they are sorted along their rays")                 \
    X(RAYS_OPEN, FINISHED, "triangles of rays for the host")                                       \
    X(RAYS_OF_HOST, FINISHED, "faces that the host found rays to meet")                            \
    X(RAYS_HITS, FINISHED, "hits for the host")                                                    \
    /* soup_distance_cuda.cu */                                                                    \
    X(DISTANCE_POSES, RUNNING, "what is known of poses")                                           \
    X(DISTANCE_NODES, RUNNING, "pairs of nodes of two trees")                                      \
    X(DISTANCE_CHILDREN, RUNNING, "pairs of their children")                                       \
    X(DISTANCE_CANDIDATES, RUNNING, "pairs of triangles that may be nearest")                      \
    X(DISTANCE_LENGTHS, RUNNING, "their distances")                                                \
    X(DISTANCE_UNDECIDED, RUNNING, "pairs of triangles that doubles leave open")                   \
    X(DISTANCE_INPUT, RUNNING, "poses or pairs of faces from the host")                            \
    X(DISTANCE_OUTPUT, FINISHED, "distances for the host")                                         \
    /* broad_cuda.h */                                                                             \
    X(BROAD_TREE, RUNNING, "tree made for one search")                                             \
    X(BROAD_SWEEP, RUNNING, "entries of a sweep")                                                  \
    /* convex_cuda.cu */                                                                           \
    X(CONVEX_DEEP, RUNNING, "pairs whose cores overlap")                                           \
    X(CONVEX_MORE, RUNNING, "of these, polytopes of many points")                                  \
    X(CONVEX_LONGER, RUNNING, "pairs for a thread each")                                           \
    X(CONVEX_ROOMS, RUNNING, "polytopes of these threads")                                         \
    X(CONVEX_CACHES, RUNNING, "caches as they were before")                                        \
    X(CONVEX_POINTS, RUNNING, "faces that threads clip at each other")                             \
    /* scene_cuda.cu */                                                                            \
    X(SCENE_INPUT, RUNNING, "objects and poses from the host")                                     \
    X(SCENE_SORT, RUNNING, "contacts while they are sorted")                                       \
    X(SCENE_CHANGES, RUNNING, "which contacts began and ended")                                    \
    /* solid_cuda.cu */                                                                            \
    X(SOLID_QUERIES, RUNNING, "queries, and their sums")                                           \
    X(SOLID_BLOCK_PAIRS, RUNNING, "pairs of blocks of triangles")                                  \
    X(SOLID_CANDIDATES, RUNNING, "pairs of triangles whose boxes overlap")                         \
    X(SOLID_OPEN, RUNNING, "pairs of triangles that no plane separates")                           \
    X(SOLID_LINKS, RUNNING, "crossed edges")                                                       \
    X(SOLID_KEPT, FINISHED, "crossed edges for the host")                                          \
    X(SOLID_DEGENERATE, FINISHED, "degenerate pairs for the host")                                 \
    /* balls_cuda.h */                                                                             \
    X(BALLS_SPHERES, RUNNING, "spheres from the host")                                             \
    X(BALLS_ORDER, RUNNING, "ranks of spheres along the curve")                                    \
    X(BALLS_LARGE, RUNNING, "spheres with entries on level 0 as well")                             \
    X(BALLS_COUNTS, ZERO, "entries per bucket; enter_spheres clears")                              \
    X(BALLS_STATES, ZERO, "sums of queries; write_result clears")                                  \
    X(BALLS_FLAGS, ZERO, "spheres whose covers meet; find_overlaps clears")                        \
    X(BALLS_QUERIES, RUNNING, "queries from the host")                                             \
    X(BALLS_OVERLAPS, FINISHED, "overlaps for the host")                                           \
    X(BALLS_SORTED, RUNNING, "pairs of spheres while they are sorted")                             \
    /* tree_cuda.cu */                                                                             \
    X(TREES_POSES, RUNNING, "what is known of poses of sphere trees")                              \
    X(TREES_NODES, RUNNING, "pairs of nodes of two of them")                                       \
    X(TREES_CHILDREN, RUNNING, "pairs of their children")                                          \
    X(TREES_LEVELS, RUNNING, "how many pairs each level has")                                      \
    X(TREES_LEAVES, RUNNING, "pairs of leaves")                                                    \
    X(TREES_CANDIDATES, RUNNING, "pairs of spheres or triangles")                                  \
    X(TREES_LENGTHS, RUNNING, "their gaps")                                                        \
    X(TREES_QUERIES, RUNNING, "queries from the host")                                             \
    X(TREES_OUTPUT, FINISHED, "results for the host")                                              \
    X(TREES_STATES, ZERO, "sums of overlaps; tree_cuda_finish_overlaps clears")                    \
    X(TREES_FLAGS, ZERO, "spheres whose covers meet; the same clears")                             \
    /* robot_cuda.cu */                                                                            \
    X(ROBOT_ROWS, RUNNING, "frames, poses and states of configurations")                           \
    X(ROBOT_COUNTS, RUNNING, "entries of lists, of each part")                                     \
    X(ROBOT_NEAR, RUNNING, "pairs of bodies whose bounding balls are near")                        \
    X(ROBOT_FINE, RUNNING, "pairs of bodies whose covers are near")                                \
    X(ROBOT_TREES, RUNNING, "pairs of a body and a tree")                                          \
    X(ROBOT_REST, RUNNING, "of these, pairs that bounding balls leave undecided")                  \
    X(ROBOT_LEFT, RUNNING, "pairs of bodies that spheres leave undecided")                         \
    X(ROBOT_FACES, RUNNING, "of these, pairs that faces decide")                                   \
    X(ROBOT_HOST, RUNNING, "configurations for the host, a share per operation")

typedef enum carom_device_scratch {
#define CAROM_SCRATCH_NAME(name, rule, what) CAROM_SCRATCH_##name,
    CAROM_SCRATCH_LIST(CAROM_SCRATCH_NAME)
#undef CAROM_SCRATCH_NAME
        CAROM_SCRATCH_COUNT
} carom_device_scratch;

#ifdef CAROM_CHECKS
/* Who has which block (carom_device_check_take). Operations are numbered from 1; 0 is none. */
typedef struct carom_scratch_users {
    uint32_t op;                          /* that is being launched or finished */
    bool taken[CAROM_SCRATCH_COUNT];      /* since it began */
    uint32_t holder[CAROM_SCRATCH_COUNT]; /* of blocks that are kept until it is finished */
} carom_scratch_users;
#endif

typedef struct carom_device_op carom_device_op;
struct carom_device_op {
    carom_status (*reserve)(carom_device *device, carom_device_op *op);
    void (*launch)(carom_device *device, carom_device_op *op);
    carom_status (*finish)(carom_device *device, carom_device_op *op,
                           const carom_device_counters *counters, bool *again);
    carom_device_counters *counters; /* on the device; set when the operation is queued */
    alignas(16) unsigned char arguments[CAROM_DEVICE_ARGUMENTS];
    const carom_cuda_pairs *reads = nullptr; /* pairs of the caller that kernels read, or NULL */
    /* Structures that it reads, and the one that it changes, or NULL. What is repeated has to see
     * them as they were, so a change finishes earlier work that uses them. */
    const void *uses[2] = {nullptr, nullptr};
    const void *changes = nullptr;
    carom_device_owner owner = {nullptr, nullptr}; /* of what it changes; or no one */
};

struct carom_device {
    int number, processors;
    cudaStream_t stream;
    bool owns_stream, capturing;
    bool early;   /* kernels may be launched before the one before them is done */
    bool cleared; /* the counters of this operation and those launched with it after it are 0 */
    uint32_t together; /* operations that are launched together, this one and those after it */
    bool lost;         /* no call on it will succeed in this process */
    char message[512], lost_at[192];

    carom_device_block scratch[CAROM_SCRATCH_COUNT]; /* see carom_device_take */
    uint64_t wanted[CAROM_SCRATCH_COUNT];            /* entries that overflows requested */
#ifdef CAROM_CHECKS
    carom_scratch_users users;
#endif
    carom_device_block pinned;                          /* host memory that copies need not stage */
    carom_device_counters *counters, *counters_on_host; /* CAROM_DEVICE_MOST_OPS each */

    carom_device_op ops[CAROM_DEVICE_MOST_OPS]; /* queued, or being recorded */
    uint32_t op_count;
    bool recording;
    carom_cuda_frame *queued_frame; /* that the operations belong to, or NULL */
    /* That were sorted when an operation was finished: those that read them are repeated. */
    const carom_cuda_pairs *sorted;

    bool timing;
    uint32_t step_count;
    const char *step_name[CAROM_CUDA_MOST_STEPS];
    cudaEvent_t step_event[CAROM_CUDA_MOST_STEPS + 1];
    carom_cuda_steps steps;
};

/* Writes the message and returns the status. */
carom_status carom_device_fail(carom_device *device, carom_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The status of a call of the CUDA runtime. What no later call recovers from makes the device lost.
 */
carom_status carom_device_check(carom_device *device, cudaError_t error, const char *what);

/* Copies on the stream of the context and waits for it. cudaMemcpy will not do, nor cudaMemset:
 * they are on the default stream, which the context's own stream neither waits for nor makes wait,
 * and return before what the host gave is in device memory. */
carom_status carom_device_copy(carom_device *device, void *to, const void *from, uint64_t bytes,
                               cudaMemcpyKind kind, const char *what);

#define CAROM_DEVICE_TRY(call)                                                                     \
    do {                                                                                           \
        carom_status device_status_ = (call);                                                      \
        if (device_status_ != CAROM_OK) return device_status_;                                     \
    } while (0)

/* Makes a block at least so large; its contents are lost if it grows. */
carom_status carom_device_reserve(carom_device *device, carom_device_block *block, uint64_t bytes,
                                  const char *what);
/* The same for a block that is all 0 between its uses: it stays so where it grows. */
carom_status carom_device_reserve_zeros(carom_device *device, carom_device_block *block,
                                        uint64_t bytes, const char *what);
void carom_device_release(carom_device_block *block);
/* Has frames captured anew, after a change of a structure that kernels take by value. */
void carom_device_outdate_frames();
/* The same for device->pinned. */
carom_status carom_device_reserve_pinned(carom_device *device, uint64_t bytes);

/* Makes a result large enough for `count` pairs, which an operation is to find. */
carom_status carom_device_reserve_pairs(carom_device *device, carom_cuda_pairs *pairs,
                                        uint64_t count);
/* The operation has found so many. device_count stays one of its counters, which the next operation
 * overwrites; a copy that follows the pairs in memory stays with them. */
carom_status carom_device_end_pairs(carom_device *device, carom_cuda_pairs *pairs, uint64_t count);
/* Where the number of pairs is for operations that read them: of an operation that is queued its
 * counter, else the copy. NULL: they are the caller's own, pairs->count. */
const uint64_t *carom_device_count_of(const carom_cuda_pairs *pairs);
void carom_device_free_pairs(carom_cuda_pairs *pairs);

/* Queues the clearing of an operation's counters and of those launched with it after it, which
 * follow in memory: between two kernels it would take longer than the launch of a kernel. */
static inline void carom_device_clear(carom_device *device, carom_device_op *op) {
    uint32_t count = device->together > 0 ? device->together : 1u;
    if (device->cleared) return;
    (void)cudaMemsetAsync(op->counters, 0, count * sizeof(*op->counters), device->stream);
    device->cleared = device->together > 0;
}

/* CAROM_OK, or CAROM_NO_DEVICE for a device that was lost. */
carom_status carom_device_check_lost(carom_device *device);

/* Queues an operation or, while a frame is recorded, records it. */
carom_status carom_device_submit(carom_device *device, const carom_device_op *op);

/* Waits for all operations and finishes them. */
carom_status carom_device_finish(carom_device *device);
/* Waits for all operations and forgets them. */
void carom_device_forget(carom_device *device);

/* The kernels queued from here on belong to the step `name`. */
void carom_device_step(carom_device *device, const char *name);

/* The bytes of an array in a block of several, rounded up to what memory is aligned to; at least
 * one byte more, so that no array is empty. */
static inline uint64_t carom_device_row(uint64_t bytes) {
    return (bytes / CAROM_DEVICE_ALLOCATION + 1) * CAROM_DEVICE_ALLOCATION;
}

template <typename ARGUMENTS> static inline ARGUMENTS *carom_device_arguments(carom_device_op *op) {
    static_assert(sizeof(ARGUMENTS) <= CAROM_DEVICE_ARGUMENTS, "enlarge CAROM_DEVICE_ARGUMENTS");
    return reinterpret_cast<ARGUMENTS *>(op->arguments);
}

/* Blocks of `threads` for `count` threads, at least one. */
static inline unsigned carom_device_blocks(uint64_t count, unsigned threads) {
    uint64_t blocks = (count + threads - 1) / threads;
    return blocks != 0 ? (unsigned)blocks : 1u;
}

/* ---- Taking scratch -------------------------------------------------------------------------- */

/* Defined in checked builds only. */
void carom_device_verify_take(carom_device *device, carom_device_scratch block, uint64_t bytes);
void carom_device_verify_rule(carom_device_scratch block, bool zeros);
void carom_device_verify_zeros(carom_device *device, const void *memory, uint64_t bytes);
#ifdef CAROM_CHECKS
#define CAROM_DEVICE_VERIFY(call) call
#else
#define CAROM_DEVICE_VERIFY(call) ((void)sizeof((call), 0)) /* compiled, never evaluated */
#endif

/* Stops where an operation takes a block that another needs or that it has already, or more of it
 * than was reserved; queues a check that a block of zeros is one. */
#define CAROM_DEVICE_CHECK_TAKE(device, block, bytes)                                              \
    CAROM_DEVICE_VERIFY(carom_device_verify_take(device, block, bytes))

/* Stops where a block is reserved as one that is kept zero, and is not, or the reverse. */
#define CAROM_DEVICE_CHECK_RULE(block, zeros)                                                      \
    CAROM_DEVICE_VERIFY(carom_device_verify_rule(block, zeros))

/* Queues a check that memory is all 0. */
#define CAROM_DEVICE_CHECK_ZEROS(device, memory, bytes)                                            \
    CAROM_DEVICE_VERIFY(carom_device_verify_zeros(device, memory, bytes))

/* Reserves a block of scratch. */
static inline carom_status carom_device_reserve_scratch(carom_device *device,
                                                        carom_device_scratch block, uint64_t bytes,
                                                        const char *what) {
    CAROM_DEVICE_CHECK_RULE(block, false);
    return carom_device_reserve(device, &device->scratch[block], bytes, what);
}

/* The same for those that are kept zero. */
static inline carom_status carom_device_reserve_scratch_zeros(carom_device *device,
                                                              carom_device_scratch block,
                                                              uint64_t bytes, const char *what) {
    CAROM_DEVICE_CHECK_RULE(block, true);
    return carom_device_reserve_zeros(device, &device->scratch[block], bytes, what);
}

static inline uint64_t carom_device_scratch_bytes(const carom_device *device,
                                                  carom_device_scratch block) {
    return device->scratch[block].bytes;
}

/* The memory of a block for the operation that is being launched or finished, which takes each
 * block once and uses so many bytes of it. */
template <typename T>
static inline T *carom_device_take(carom_device *device, carom_device_scratch block,
                                   uint64_t bytes) {
    CAROM_DEVICE_CHECK_TAKE(device, block, bytes);
    return (T *)device->scratch[block].data;
}

/* What an operation left in a block that keeps its contents, as long as no other one is queued; or
 * the block that the operation queued next will take. */
template <typename T>
static inline T *carom_device_scratch_data(const carom_device *device, carom_device_scratch block) {
    return (T *)device->scratch[block].data;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* First line of a kernel that carom_device_launch starts: waits until the kernel before it is done.
 * The launch itself overlaps with that kernel's end, which saves a microsecond or two each. */
static __device__ inline void carom_device_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Queues a kernel whose first line is carom_device_begin(), with so many bytes of shared memory
 * for carom_device_shared. */
template <typename... PARAMETERS, typename... ARGUMENTS>
static inline void carom_device_launch_grid(carom_device *device, void (*kernel)(PARAMETERS...),
                                            dim3 blocks, unsigned threads, size_t shared_bytes,
                                            ARGUMENTS... arguments) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = device->early ? 1 : 0;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = device->stream;
    config.attrs = &early;
    config.numAttrs = 1;
    (void)cudaLaunchKernelEx(&config, kernel, PARAMETERS(arguments)...);
}

/* The same for a row of blocks. */
template <typename... PARAMETERS, typename... ARGUMENTS>
static inline void carom_device_launch(carom_device *device, void (*kernel)(PARAMETERS...),
                                       uint64_t blocks, unsigned threads, ARGUMENTS... arguments) {
    carom_device_launch_grid(device, kernel, dim3((unsigned)blocks), threads, 0, arguments...);
}

/* The shared memory that a launch asked for. */
static __device__ inline void *carom_device_shared() {
#ifdef CAROM_CUDA_EMULATED
    return carom_emulated_dynamic_shared();
#else
    extern __shared__ __align__(16) unsigned char carom_device_shared_memory[];
    return carom_device_shared_memory;
#endif
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

/* A pair as one number that lies in memory as a carom_pair does; device and host are little
 * endian. */
static __device__ inline unsigned long long carom_pair_pack(uint32_t a, uint32_t b) {
    return (unsigned long long)b << 32 | a;
}

/* `count` is the true number of entries, also when it exceeds the capacity. */
template <typename T> struct carom_device_list {
    T *data;
    uint64_t capacity;
    carom_device_count *count;

    __device__ uint64_t stored() const {
        uint64_t n = *count;
        return n < capacity ? n : capacity;
    }

    /* For what is rare: one atomic addition per entry. */
    __device__ void append(T value) const {
        carom_device_count at = atomicAdd(count, 1ull);
        if (at < capacity) data[at] = value;
    }
};

/* The list in a block of scratch that is counted by a counter of an operation. */
template <typename T>
static inline carom_device_list<T> carom_device_list_of(carom_device *device,
                                                        carom_device_scratch block,
                                                        carom_device_op *op, int counter) {
    uint64_t capacity = carom_device_scratch_bytes(device, block) / sizeof(T);
    return {carom_device_take<T>(device, block, capacity * sizeof(T)), capacity,
            &op->counters->n[counter]};
}

/* Reserves a block of scratch for so many entries, or for as many as an overflow requested. */
static inline carom_status carom_device_reserve_list(carom_device *device,
                                                     carom_device_scratch block, uint64_t entries,
                                                     uint64_t size, const char *what) {
    uint64_t wanted = device->wanted[block];
    carom_status status = carom_device_reserve_scratch(
        device, block, (entries > wanted ? entries : wanted) * size, what);
    if (status != CAROM_OK) device->wanted[block] = 0; /* a smaller search may succeed */
    return status;
}

/* What an overflow requests: a quarter more than there was this time, so that a set that grows a
 * little per frame is rarely searched twice. */
static inline uint64_t carom_device_enlarged(uint64_t entries) {
    return entries + entries / 4;
}

/* Whether a list turned out larger than its block, which is then to be larger next time. */
static inline bool carom_device_list_grows(carom_device *device, carom_device_scratch block,
                                           uint64_t entries, uint64_t size) {
    if (entries * size <= device->scratch[block].bytes) return false;
    device->wanted[block] = carom_device_enlarged(entries);
    return true;
}

/* Whether all lanes of a warp, which all call it, have the same number. */
static __device__ inline bool carom_warp_agrees(unsigned number) {
    int same;
    (void)__match_all_sync(~0u, number, &same);
    return same != 0;
}

/* Collects the entries of one warp in shared memory, so that there is one atomic addition per SIZE
 * entries or so. All lanes call all functions together. */
template <typename T, unsigned SIZE> struct carom_warp_buffer {
    T *entries; /* SIZE of them, of this warp */
    unsigned used;

    __device__ void flush(const carom_device_list<T> &list) {
        unsigned lane = threadIdx.x % CAROM_WARP;
        CAROM_ASSERT(carom_warp_agrees(used));
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
        CAROM_ASSERT(carom_warp_agrees(used));
        if (mask == 0) return;
        if (used + __popc(mask) > SIZE) flush(list);
        CAROM_ASSERT(used + __popc(mask) <= SIZE);
        if (has) entries[used + __popc(mask & ((1u << lane) - 1u))] = value;
        used += __popc(mask);
    }
};

#endif
