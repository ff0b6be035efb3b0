/* SPDX-License-Identifier: MIT */
/* The calls of the CUDA runtime on the CPU: memory, streams, events, graphs, launches.
 *
 * What is queued on a stream runs when something waits for the stream, so that a result which is
 * read too early is not there. The default stream is one of them, and others do not wait for it:
 * what cudaMemcpy brings to the device from pageable memory, and cudaMemset, may come after kernels
 * that are launched later. Device memory is memory of its own, filled with a pattern; copies check
 * which side they are on. */
#include "emulator.h"

#include <chrono>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <string>

#define MEMORY_BYTES     (UINT64_C(1) << 30) /* of the device: tests use a tenth of it */
#define MEMORY_ALIGNMENT 512u                /* as cudaMalloc's */
#define PROCESSORS       2                   /* few, as each block of a kernel takes time here */
#define BLOCKS_RESIDENT  2                   /* per processor */
#define FILLED_BYTES     (UINT64_C(1) << 24) /* at most, of new memory */
#define FILL             0xA5                /* large numbers, whatever their type */

static uint64_t seed_of_environment() {
    const char *text = getenv("CAROM_EMULATED_SEED");
    return text != nullptr ? strtoull(text, nullptr, 10) : 0;
}
const uint64_t carom_emulated_seed = seed_of_environment();

struct work {
    std::function<void()> run;
};

struct carom_emulated_stream {
    std::vector<work> queue;
    bool capturing;
};
struct carom_emulated_graph {
    std::vector<work> nodes;
};
struct carom_emulated_event {
    bool recorded;
    std::chrono::steady_clock::time_point time;
    cudaStream_t stream;
};

/* All of the device. Never destroyed: threads may outlive it. */
struct device_state {
    std::recursive_mutex mutex;
    std::map<uintptr_t, size_t> blocks, pinned; /* by address */
    uint64_t used;
    std::vector<cudaStream_t> streams;
    carom_emulated_stream default_stream;
    cudaError_t last, lost; /* lost: what every call returns from then on */
    std::map<const void *, std::string> names;
    std::map<const void *, uint64_t> launches;
};
static device_state &device() {
    static device_state *state = new device_state{};
    return *state;
}

#define LOCK std::lock_guard<std::recursive_mutex> lock(device().mutex)
/* First lines of a call. */
#define ENTER                                                                                      \
    LOCK;                                                                                          \
    (void)fault_fires("");                                                                         \
    if (device().lost != cudaSuccess) return device().lost

static bool fault_fires(const char *kind);

static cudaError_t fail(cudaError_t error) {
    device().last = error;
    return error;
}

/* ---- Faults that a test asks for ------------------------------------------------------------- */

/* The environment variable CAROM_EMULATED_FAULT is "malloc n": the nth allocation of device memory
 * from here on fails; or "launch n": the device is lost in the nth kernel. Once that has happened
 * it is "fired". Anything else: no fault, and a device that was lost is there again. */
static bool fault_fires(const char *kind) {
    static std::string last;
    static char of[16];
    static uint64_t left;
    const char *text = getenv("CAROM_EMULATED_FAULT");
    const std::string now = text != nullptr ? text : "";
    if (now == "fired") return false;
    if (now != last) {
        unsigned long long n = 0;
        of[0] = 0;
        if (sscanf(now.c_str(), "%15s %llu", of, &n) != 2) of[0] = 0;
        left = n;
        last = now;
        device().lost = cudaSuccess;
    }
    if (strcmp(of, kind) != 0 || left == 0 || --left != 0) return false;
    last = "fired";
    (void)setenv("CAROM_EMULATED_FAULT", "fired", 1);
    return true;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool holds(const std::map<uintptr_t, size_t> &blocks, const void *memory, size_t bytes) {
    auto after = blocks.upper_bound((uintptr_t)memory);
    if (after == blocks.begin()) return false;
    --after;
    return (uintptr_t)memory - after->first <= after->second &&
           bytes <= after->second - ((uintptr_t)memory - after->first);
}

/* Whether any byte is memory of the device. */
static bool touches(const void *memory, size_t bytes) {
    auto after = device().blocks.lower_bound((uintptr_t)memory + bytes);
    if (after == device().blocks.begin()) return false;
    --after;
    return after->first + after->second > (uintptr_t)memory;
}

cudaError_t carom_emulated_malloc(void **memory, size_t bytes, bool on_host) {
    ENTER;
    *memory = nullptr;
    if (!on_host && (bytes > MEMORY_BYTES - device().used || fault_fires("malloc")))
        return fail(cudaErrorMemoryAllocation);
    if (posix_memalign(memory, MEMORY_ALIGNMENT, bytes) != 0)
        return fail(cudaErrorMemoryAllocation);
    uint64_t filled = bytes < FILLED_BYTES ? bytes : FILLED_BYTES;
    memset(*memory, (int)((FILL + carom_emulated_seed) & 0xFF), filled);
    (on_host ? device().pinned : device().blocks)[(uintptr_t)*memory] = bytes;
    if (!on_host) device().used += bytes;
    return cudaSuccess;
}

static void run_all();

cudaError_t cudaFree(void *memory) {
    ENTER;
    run_all();
    if (device().lost != cudaSuccess) return device().lost;
    if (memory == nullptr) return cudaSuccess;
    auto found = device().blocks.find((uintptr_t)memory);
    if (found == device().blocks.end()) return fail(cudaErrorInvalidValue);
    device().used -= found->second;
    device().blocks.erase(found);
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory) {
    ENTER;
    run_all();
    if (memory == nullptr) return cudaSuccess;
    if (device().pinned.erase((uintptr_t)memory) == 0) return fail(cudaErrorInvalidValue);
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *all) {
    ENTER;
    *all = MEMORY_BYTES;
    *unused = MEMORY_BYTES - device().used;
    return cudaSuccess;
}

/* ---- Streams --------------------------------------------------------------------------------- */

static carom_emulated_stream *stream_of(cudaStream_t stream) {
    return stream != nullptr ? stream : &device().default_stream;
}

static void run(carom_emulated_stream *stream) {
    std::vector<work> queue;
    queue.swap(stream->queue);
    for (const work &w : queue)
        if (device().lost == cudaSuccess) w.run();
}

static void run_all() {
    run(&device().default_stream);
    for (cudaStream_t stream : device().streams)
        if (!stream->capturing) run(stream);
}

cudaError_t carom_emulated_queue(cudaStream_t stream, std::function<void()> what) {
    ENTER;
    stream_of(stream)->queue.push_back(work{std::move(what)});
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    ENTER;
    if ((flags & cudaStreamNonBlocking) == 0)
        return fail(cudaErrorInvalidValue); /* no other here */
    *stream = new carom_emulated_stream{};
    device().streams.push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    LOCK;
    run(stream);
    auto &all = device().streams;
    all.erase(std::remove(all.begin(), all.end(), stream), all.end());
    delete stream;
    return device().lost;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    ENTER;
    if (stream_of(stream)->capturing) return fail(cudaErrorStreamCaptureUnsupported);
    run(stream_of(stream));
    return device().lost;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static bool sides_are(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (bytes == 0 || kind == cudaMemcpyDefault) return true;
    return (to_device ? holds(device().blocks, to, bytes) : !touches(to, bytes)) &&
           (from_device ? holds(device().blocks, from, bytes) : !touches(from, bytes));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    ENTER;
    carom_emulated_stream *s = stream_of(stream);
    if (!sides_are(to, from, bytes, kind)) return fail(cudaErrorInvalidValue);
    bool waits = !s->capturing && !touches(to, bytes) && !holds(device().pinned, to, bytes);
    if (!s->capturing && !touches(from, bytes) && !holds(device().pinned, from, bytes)) {
        /* what the caller may change as soon as this returns */
        std::vector<char> staged((const char *)from, (const char *)from + bytes);
        s->queue.push_back(work{[to, staged]() {
            if (!staged.empty()) memcpy(to, staged.data(), staged.size());
        }});
    } else {
        s->queue.push_back(work{[to, from, bytes]() {
            if (bytes != 0) memmove(to, from, bytes);
        }});
    }
    if (waits) run(s);
    return device().lost;
}

/* Where the host gives memory that is not pinned, this returns once it is staged: the default
 * stream copies it to the device later, and streams that do not block do not wait for that. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    ENTER;
    bool returns_early = !touches(from, bytes) && !holds(device().pinned, from, bytes);
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    return error != cudaSuccess || returns_early ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    ENTER;
    if (bytes != 0 && !holds(device().blocks, to, bytes)) return fail(cudaErrorInvalidValue);
    return carom_emulated_queue(stream, [to, value, bytes]() {
        if (bytes != 0) memset(to, value, bytes);
    });
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    return cudaMemsetAsync(to, value, bytes, nullptr); /* does not wait either */
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    ENTER;
    if (stream == nullptr || stream->capturing) return fail(cudaErrorStreamCaptureUnsupported);
    run(stream);
    stream->capturing = true;
    return device().lost;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    ENTER;
    *graph = new carom_emulated_graph{};
    (*graph)->nodes.swap(stream->queue);
    stream->capturing = false;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned) {
    ENTER;
    *made = new carom_emulated_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    ENTER;
    carom_emulated_stream *s = stream_of(stream);
    s->queue.insert(s->queue.end(), graph->nodes.begin(), graph->nodes.end());
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    delete graph;
    return cudaSuccess;
}

/* ---- Events ---------------------------------------------------------------------------------- */

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    ENTER;
    *event = new carom_emulated_event{};
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    LOCK;
    run_all();
    delete event;
    return device().lost;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    ENTER;
    event->recorded = false;
    event->stream = stream;
    return carom_emulated_queue(stream, [event]() {
        event->time = std::chrono::steady_clock::now();
        event->recorded = true;
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return cudaStreamSynchronize(event->stream);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    ENTER;
    if (!begin->recorded || !end->recorded) return fail(cudaErrorInvalidValue);
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return cudaSuccess;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

cudaError_t carom_emulated_occupancy(int *blocks) {
    *blocks = BLOCKS_RESIDENT;
    return cudaSuccess;
}

cudaError_t carom_emulated_launch(const void *kernel, const cudaLaunchConfig_t *config,
                                  std::function<void()> thread) {
    ENTER;
    cudaLaunchConfig_t shape = *config;
    if (shape.gridDim.x == 0 || shape.gridDim.y == 0 || shape.blockDim.x == 0)
        return fail(cudaErrorInvalidValue); /* which a GPU refuses, too */
    ++device().launches[kernel];
    return carom_emulated_queue(shape.stream, [kernel, shape, thread]() {
        if (fault_fires("launch") || !carom_emulated_run(kernel, shape, thread))
            device().lost = cudaErrorIllegalAddress;
    });
}

/* The functions of this library and their names, from the symbols in its file. */
static void read_names() {
    Dl_info info;
    std::string text;
    if (dladdr((const void *)read_names, &info) == 0) return;
    FILE *file = fopen(info.dli_fname, "rb");
    if (file == nullptr) return;
    char part[1024]; /* a signal's stack is short */
    for (size_t got; (got = fread(part, 1, sizeof(part), file)) != 0;) text.append(part, got);
    fclose(file);
    const char *data = text.data();
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)data;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(data + header->e_shoff);
    for (unsigned s = 0; s < header->e_shnum; ++s) {
        if (sections[s].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(data + sections[s].sh_offset);
        const char *strings = data + sections[sections[s].sh_link].sh_offset;
        for (size_t i = 0; i < sections[s].sh_size / sizeof(*symbols); ++i) {
            if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_value == 0) continue;
            int status = 0;
            char *plain =
                abi::__cxa_demangle(strings + symbols[i].st_name, nullptr, nullptr, &status);
            device().names[(const char *)info.dli_fbase + symbols[i].st_value] =
                status == 0 ? plain : strings + symbols[i].st_name;
            free(plain);
        }
    }
}

const char *carom_emulated_name(const void *function) {
    if (device().names.empty()) read_names();
    auto found = device().names.find(function);
    return found != device().names.end() ? found->second.c_str() : "?";
}

/* With CAROM_EMULATED_LAUNCHES, a file to which the names of kernels and how often they were
 * launched are appended. */
static struct launch_list {
    ~launch_list() {
        const char *path = getenv("CAROM_EMULATED_LAUNCHES");
        FILE *file = path != nullptr ? fopen(path, "a") : nullptr;
        if (file == nullptr) return;
        for (const auto &launched : device().launches)
            fprintf(file, "%llu %s\n", (unsigned long long)launched.second,
                    carom_emulated_name(launched.first));
        fclose(file);
    }
} list_at_exit;

/* Off by as many units in the last place as the bits of the number say. */
float carom_emulated_nearly(float x, int most_units) {
    uint32_t bits = __float_as_uint(x);
    uint32_t mixed = (bits * 2654435761u) >> 16;
    if (!std::isfinite(x) || x == 0.0f) return x;
    int units = (int)((mixed + carom_emulated_seed) % (uint32_t)(2 * most_units + 1)) - most_units;
    return __uint_as_float(bits + (uint32_t)units);
}

/* ---- Devices --------------------------------------------------------------------------------- */

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorIllegalAddress:
        return "an illegal memory access was encountered";
    case cudaErrorStreamCaptureUnsupported:
        return "operation not permitted while capturing";
    default:
        return "unknown error";
    }
}

cudaError_t cudaGetLastError() {
    ENTER;
    cudaError_t error = device().last;
    device().last = cudaSuccess;
    return error;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *number) {
    *number = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int number) {
    ENTER;
    return number == 0 ? cudaSuccess : fail(cudaErrorInvalidValue);
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    *properties = cudaDeviceProp{};
    snprintf(properties->name, sizeof(properties->name), "emulated device on the CPU");
    properties->totalGlobalMem = MEMORY_BYTES;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
    *value = PROCESSORS;
    return cudaSuccess;
}
