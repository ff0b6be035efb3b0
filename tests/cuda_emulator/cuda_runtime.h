/* SPDX-License-Identifier: MIT */
/* cuda_runtime.h: what Carom uses of CUDA, on the CPU, so that its kernels run where no GPU is.
 *
 * It stands in for CUDA's own header where X_cuda.cu files are compiled as C++. Every thread of a
 * block is a fiber; blocks run one after the other; fibers meet where a warp or a block does
 * (emulator.cpp). What is queued on a stream runs when something waits for it, and not before.
 * Nothing here is fast, and only what our files use is here. */
#ifndef CAROM_TESTS_CUDA_EMULATOR_CUDA_RUNTIME_H
#define CAROM_TESTS_CUDA_EMULATOR_CUDA_RUNTIME_H

/* All headers of the C++ library that .cu files use: it has names that are macros below. */
#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <math.h>
#include <mutex>
#include <new>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <type_traits>
#include <vector>

/* ---- The language ---------------------------------------------------------------------------- */

#define __host__
#define __device__
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __noinline__     __attribute__((noinline))
#define __forceinline__  inline __attribute__((always_inline))
/* Blocks run one after the other, so that all have the same. In a section of its own, which is
 * filled with a pattern when a kernel starts. */
#define __shared__ static __attribute__((section("carom_shared")))

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
};

#define CAROM_EMULATED_VECTOR_2(name, type)                                                        \
    struct __attribute__((aligned(2 * sizeof(type)))) name {                                       \
        type x, y;                                                                                 \
    };                                                                                             \
    static inline name make_##name(type x, type y) {                                               \
        return name{x, y};                                                                         \
    }
#define CAROM_EMULATED_VECTOR_3(name, type)                                                        \
    struct name {                                                                                  \
        type x, y, z;                                                                              \
    };                                                                                             \
    static inline name make_##name(type x, type y, type z) {                                       \
        return name{x, y, z};                                                                      \
    }
#define CAROM_EMULATED_VECTOR_4(name, type)                                                        \
    struct __attribute__((aligned(4 * sizeof(type)))) name {                                       \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    static inline name make_##name(type x, type y, type z, type w) {                               \
        return name{x, y, z, w};                                                                   \
    }
CAROM_EMULATED_VECTOR_2(uint2, unsigned)
CAROM_EMULATED_VECTOR_2(float2, float)
CAROM_EMULATED_VECTOR_2(double2, double)
CAROM_EMULATED_VECTOR_3(float3, float)
CAROM_EMULATED_VECTOR_4(uint4, unsigned)
CAROM_EMULATED_VECTOR_4(float4, float)
CAROM_EMULATED_VECTOR_4(uchar4, unsigned char)

/* Of the thread that runs. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

/* ---- Where threads meet ---------------------------------------------------------------------- */

enum carom_emulated_kind {
    CAROM_EMULATED_SYNC,
    CAROM_EMULATED_SHUFFLE,
    CAROM_EMULATED_SHUFFLE_UP,
    CAROM_EMULATED_SHUFFLE_DOWN,
    CAROM_EMULATED_SHUFFLE_XOR,
    CAROM_EMULATED_BALLOT,
    CAROM_EMULATED_ANY,
    CAROM_EMULATED_ALL,
    CAROM_EMULATED_MATCH_ANY,
    CAROM_EMULATED_MATCH_ALL,
    CAROM_EMULATED_ADD,
    CAROM_EMULATED_MIN,
    CAROM_EMULATED_MAX,
    CAROM_EMULATED_OR,
    CAROM_EMULATED_KINDS
};

/* Waits for the lanes of the mask. `argument` is the lane that a shuffle reads, or the distance. */
uint64_t carom_emulated_warp(carom_emulated_kind kind, unsigned mask, unsigned bytes,
                             uint64_t value, int argument);
/* Waits for all threads of the block; whether the predicate of one is not 0. */
int carom_emulated_block(bool has_predicate, int predicate);
/* Another thread may go on, as the seed says. */
void carom_emulated_pause();
void *carom_emulated_dynamic_shared();
[[noreturn]] void carom_emulated_stop(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static inline void __syncthreads() {
    (void)carom_emulated_block(false, 0);
}
static inline int __syncthreads_or(int predicate) {
    return carom_emulated_block(true, predicate);
}
static inline void __threadfence() {
    carom_emulated_pause();
}
static inline void __syncwarp(unsigned mask = ~0u) {
    (void)carom_emulated_warp(CAROM_EMULATED_SYNC, mask, 0, 0, 0);
}

template <typename T>
static inline T carom_emulated_shuffle(carom_emulated_kind kind, unsigned mask, T value,
                                       int argument) {
    static_assert(std::is_arithmetic<T>::value && sizeof(T) <= 8, "what a shuffle exchanges");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(value));
    bits = carom_emulated_warp(kind, mask, sizeof(value), bits, argument);
    memcpy(&value, &bits, sizeof(value));
    return value;
}
template <typename T> static inline T __shfl_sync(unsigned mask, T value, int lane) {
    return carom_emulated_shuffle(CAROM_EMULATED_SHUFFLE, mask, value, lane);
}
template <typename T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned by) {
    return carom_emulated_shuffle(CAROM_EMULATED_SHUFFLE_UP, mask, value, (int)by);
}
template <typename T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned by) {
    return carom_emulated_shuffle(CAROM_EMULATED_SHUFFLE_DOWN, mask, value, (int)by);
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T value, int with) {
    return carom_emulated_shuffle(CAROM_EMULATED_SHUFFLE_XOR, mask, value, with);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return (unsigned)carom_emulated_warp(CAROM_EMULATED_BALLOT, mask, 0, predicate != 0, 0);
}
static inline int __any_sync(unsigned mask, int predicate) {
    return (int)carom_emulated_warp(CAROM_EMULATED_ANY, mask, 0, predicate != 0, 0);
}
static inline int __all_sync(unsigned mask, int predicate) {
    return (int)carom_emulated_warp(CAROM_EMULATED_ALL, mask, 0, predicate != 0, 0);
}

template <typename T> static inline unsigned __match_any_sync(unsigned mask, T value) {
    static_assert(std::is_integral<T>::value, "what is compared");
    return (unsigned)carom_emulated_warp(CAROM_EMULATED_MATCH_ANY, mask, sizeof(value),
                                         (uint64_t)value, 0);
}
template <typename T>
static inline unsigned __match_all_sync(unsigned mask, T value, int *predicate) {
    static_assert(std::is_integral<T>::value, "what is compared");
    unsigned all = (unsigned)carom_emulated_warp(CAROM_EMULATED_MATCH_ALL, mask, sizeof(value),
                                                 (uint64_t)value, 0);
    *predicate = all != 0;
    return all;
}

/* Numbers below 0 are ordered as numbers: the sign bit is exchanged there and back. */
template <typename T> static inline T __reduce_add_sync(unsigned mask, T value) {
    static_assert(sizeof(T) == 4 && std::is_integral<T>::value, "what is added");
    return (T)carom_emulated_warp(CAROM_EMULATED_ADD, mask, 4, (uint32_t)value, 0);
}
template <typename T>
static inline T carom_emulated_extreme(carom_emulated_kind kind, unsigned mask, T value) {
    static_assert(sizeof(T) == 4 && std::is_integral<T>::value, "what is compared");
    const uint32_t sign = std::is_signed<T>::value ? 0x80000000u : 0u;
    return (T)((uint32_t)carom_emulated_warp(kind, mask, 4, (uint32_t)value ^ sign, 0) ^ sign);
}
template <typename T> static inline T __reduce_min_sync(unsigned mask, T value) {
    return carom_emulated_extreme(CAROM_EMULATED_MIN, mask, value);
}
template <typename T> static inline T __reduce_max_sync(unsigned mask, T value) {
    return carom_emulated_extreme(CAROM_EMULATED_MAX, mask, value);
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
    return (unsigned)carom_emulated_warp(CAROM_EMULATED_OR, mask, 4, value, 0);
}

/* ---- Atomic operations ----------------------------------------------------------------------- */

/* Only one thread runs at a time. What another did before it is as the seed says. */
template <typename T, typename OPERATION>
static inline T carom_emulated_atomic(T *at, OPERATION operation) {
    static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8), "atomic");
    carom_emulated_pause();
    T old = *at;
    *at = operation(old);
    return old;
}
template <typename T> struct carom_emulated_same { typedef T type; };
#define CAROM_EMULATED_OTHER typename carom_emulated_same<T>::type
template <typename T> static inline T atomicAdd(T *at, CAROM_EMULATED_OTHER x) {
    return carom_emulated_atomic(at, [x](T old) { return (T)(old + x); });
}
template <typename T> static inline T atomicSub(T *at, CAROM_EMULATED_OTHER x) {
    return carom_emulated_atomic(at, [x](T old) { return (T)(old - x); });
}
template <typename T> static inline T atomicMin(T *at, CAROM_EMULATED_OTHER x) {
    return carom_emulated_atomic(at, [x](T old) { return x < old ? x : old; });
}
template <typename T> static inline T atomicMax(T *at, CAROM_EMULATED_OTHER x) {
    return carom_emulated_atomic(at, [x](T old) { return x > old ? x : old; });
}
template <typename T> static inline T atomicOr(T *at, CAROM_EMULATED_OTHER x) {
    return carom_emulated_atomic(at, [x](T old) { return (T)(old | x); });
}
template <typename T> static inline T atomicExch(T *at, CAROM_EMULATED_OTHER x) {
    return carom_emulated_atomic(at, [x](T) { return x; });
}
template <typename T>
static inline T atomicCAS(T *at, CAROM_EMULATED_OTHER expected, CAROM_EMULATED_OTHER x) {
    return carom_emulated_atomic(at, [expected, x](T old) { return old == expected ? x : old; });
}

/* ---- Numbers --------------------------------------------------------------------------------- */

template <typename TO, typename FROM> static inline TO carom_emulated_bits(FROM x) {
    static_assert(sizeof(TO) == sizeof(FROM), "the same bits");
    TO bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}
static inline unsigned __float_as_uint(float x) {
    return carom_emulated_bits<unsigned>(x);
}
static inline float __uint_as_float(unsigned x) {
    return carom_emulated_bits<float>(x);
}
static inline long long __double_as_longlong(double x) {
    return carom_emulated_bits<long long>(x);
}
static inline double __longlong_as_double(long long x) {
    return carom_emulated_bits<double>(x);
}
static inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
static inline int __ffs(int x) {
    return __builtin_ffs(x);
}
static inline int __clz(int x) {
    return x != 0 ? __builtin_clz((unsigned)x) : 32;
}
static inline int __clzll(long long x) {
    return x != 0 ? __builtin_clzll((unsigned long long)x) : 64;
}
template <typename T> static inline T __ldg(const T *from) {
    return *from;
}
template <typename T> static inline T __ldcg(const T *from) {
    return *from;
}
static inline int min(int a, int b) {
    return b < a ? b : a;
}
static inline unsigned min(unsigned a, unsigned b) {
    return b < a ? b : a;
}
static inline int max(int a, int b) {
    return b > a ? b : a;
}
static inline unsigned max(unsigned a, unsigned b) {
    return b > a ? b : a;
}

static inline float __fmaf_rn(float a, float b, float c) {
    return fmaf(a, b, c);
}
static inline float __uint2float_rn(unsigned x) {
    return (float)x;
}
/* Rounded once, to the side. */
static inline float __double2float_ru(double x) {
    float nearest = (float)x;
    return (double)nearest < x ? nextafterf(nearest, HUGE_VALF) : nearest;
}
static inline float __double2float_rd(double x) {
    float nearest = (float)x;
    return (double)nearest > x ? nextafterf(nearest, -HUGE_VALF) : nearest;
}
static inline float __fmul_ru(float a, float b) {
    return __double2float_ru((double)a * (double)b); /* which is exact, but for subnormal results */
}
static inline double carom_emulated_difference(double a, double b, int rounding) {
    volatile double from = a, what = b, result;
    fesetround(rounding);
    result = from - what;
    fesetround(FE_TONEAREST);
    return result;
}
static inline double __dsub_ru(double a, double b) {
    return carom_emulated_difference(a, b, FE_UPWARD);
}
static inline double __dsub_rd(double a, double b) {
    return carom_emulated_difference(a, b, FE_DOWNWARD);
}

/* What the device computes only nearly, is off here as far as it may be there. */
float carom_emulated_nearly(float x, int most_units);
static inline float __fdividef(float a, float b) {
    return carom_emulated_nearly(a / b, 2);
}
static inline float carom_emulated_sqrt_approx(float x) {
    return carom_emulated_nearly(sqrtf(x), 1);
}

/* ---- Errors, devices, memory ----------------------------------------------------------------- */

enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorIllegalAddress, /* from which nothing recovers */
    cudaErrorStreamCaptureUnsupported,
    cudaErrorAssert
};
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaFuncAttributes {
    int ptxVersion;
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor;
};
typedef struct carom_emulated_stream *cudaStream_t;
typedef struct carom_emulated_event *cudaEvent_t;
typedef struct carom_emulated_graph *cudaGraph_t;
typedef struct carom_emulated_graph *cudaGraphExec_t;

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);

cudaError_t carom_emulated_malloc(void **memory, size_t bytes, bool on_host);
template <typename T> static inline cudaError_t cudaMalloc(T **memory, size_t bytes) {
    return carom_emulated_malloc((void **)memory, bytes, false);
}
template <typename T> static inline cudaError_t cudaMallocHost(T **memory, size_t bytes) {
    return carom_emulated_malloc((void **)memory, bytes, true);
}
cudaError_t cudaFree(void *memory);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemGetInfo(size_t *unused, size_t *all);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = nullptr);

/* ---- Streams, events, graphs ----------------------------------------------------------------- */

enum { cudaStreamNonBlocking = 1 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);

/* Queues what is done on the device, such as a kernel. */
cudaError_t carom_emulated_queue(cudaStream_t stream, std::function<void()> work);

/* ---- Kernels --------------------------------------------------------------------------------- */

enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

cudaError_t carom_emulated_launch(const void *kernel, const cudaLaunchConfig_t *config,
                                  std::function<void()> thread);

template <typename... PARAMETERS, typename... ARGUMENTS>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             void (*kernel)(PARAMETERS...),
                                             ARGUMENTS &&...arguments) {
    std::tuple<typename std::decay<PARAMETERS>::type...> values(arguments...);
    return carom_emulated_launch((const void *)kernel, config,
                                 [kernel, values]() { std::apply(kernel, values); });
}

template <typename KERNEL>
static inline cudaError_t cudaFuncSetAttribute(KERNEL *, cudaFuncAttribute, int) {
    return cudaSuccess;
}
template <typename KERNEL>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, KERNEL *) {
    *attributes = cudaFuncAttributes{};
    return cudaSuccess;
}
cudaError_t carom_emulated_occupancy(int *blocks);
template <typename KERNEL>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, KERNEL, int,
                                                                        size_t) {
    return carom_emulated_occupancy(blocks);
}

#endif
