/* SPDX-License-Identifier: MIT */
/* What lanes of a warp and threads of a block tell each other, on a GPU or in its emulation
 * (tests/cuda_emulator): all that kernels use, against what the definitions say. In the emulation
 * also what kernels may not do, and that it is found. Without a device it exits with 77. */
#include <vector>
#ifdef CAROM_CUDA_EMULATED
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "tests/cuda/device.h"

#define WARP    32u
#define RESULTS 16u
#define ODD     0xAAAAAAAAu /* lanes */

static unsigned number_of(unsigned thread) {
    return thread * 2654435761u >> 20;
}

/* The results of one thread follow each other. */
static __global__ void tell(unsigned *results, unsigned *sum) {
    __shared__ unsigned all[THREADS];
    unsigned lane = threadIdx.x % WARP, x = (threadIdx.x * 2654435761u) >> 20;
    unsigned *to = results + RESULTS * (blockIdx.x * THREADS + threadIdx.x);
    all[threadIdx.x] = x;
    __syncthreads();
    to[0] = all[THREADS - 1u - threadIdx.x];
    to[1] = __shfl_sync(~0u, x, (int)(lane * 7u % WARP));
    to[2] = __shfl_up_sync(~0u, x, 3);
    to[3] = __shfl_down_sync(~0u, x, 5);
    to[4] = (unsigned)__shfl_xor_sync(~0u, (unsigned long long)x << 20, 16);
    to[5] = __ballot_sync(~0u, x & 1u);
    to[6] = (unsigned)__any_sync(~0u, x == 0u) | (unsigned)__all_sync(~0u, x < 4096u) << 1;
    to[7] = __match_any_sync(~0u, x % 3u);
    to[8] = __reduce_add_sync(~0u, x);
    to[9] = __reduce_min_sync(~0u, x);
    to[10] = __reduce_max_sync(~0u, x);
    to[11] = __reduce_or_sync(~0u, x);
    to[12] = (unsigned)__reduce_min_sync(~0u, (int)lane - 16);
    to[13] = 0;
    if (lane % 2 != 0) to[13] = __ballot_sync(ODD, x & 2u); /* those that are here */
    __syncwarp();
    int same;
    (void)__match_all_sync(~0u, x / 4096u, &same);
    to[14] = (unsigned)same;
    to[15] = (unsigned)__syncthreads_or(threadIdx.x == 77u && blockIdx.x == 1u);
    atomicAdd(sum, x);
}

static void expect(unsigned block, unsigned thread, unsigned *to) {
    unsigned lane = thread % WARP, first = thread - lane, x = number_of(thread);
    unsigned all = 0, most = 0, least = ~0u, sum = 0, odd = 0, twos = 0, alike = 0, zero = 0;
    for (unsigned i = 0; i < WARP; ++i) {
        unsigned y = number_of(first + i);
        all |= y;
        sum += y;
        most = y > most ? y : most;
        least = y < least ? y : least;
        odd |= (y & 1u) << i;
        twos |= (y >> 1 & 1u) << i;
        alike |= (y % 3u == x % 3u ? 1u : 0u) << i;
        zero |= y == 0 ? 1u : 0u;
    }
    const unsigned expected[RESULTS] = {
        number_of(THREADS - 1u - thread),
        number_of(first + lane * 7u % WARP),
        number_of(lane >= 3 ? thread - 3 : thread),
        number_of(lane + 5 < WARP ? thread + 5 : thread),
        number_of(first + (lane ^ 16u)) << 20,
        odd,
        zero | 2u,
        alike,
        sum,
        least,
        most,
        all,
        (unsigned)-16,
        lane % 2 != 0 ? twos & ODD : 0u,
        1u,
        block == 1u,
    };
    for (unsigned i = 0; i < RESULTS; ++i) to[i] = expected[i];
}

#define BLOCKS 3u

static void lanes_tell_what_is_defined(void **state) {
    (void)state;
    device_array<unsigned> results(BLOCKS * THREADS * RESULTS), sum(1);
    std::vector<unsigned> got(BLOCKS * THREADS * RESULTS);
    unsigned expected_sum = 0, total;
    sum.clear();
    launch(tell, BLOCKS, results.data, sum.data);
    results.get(got.data());
    sum.get(&total);
    for (unsigned block = 0; block < BLOCKS; ++block)
        for (unsigned thread = 0; thread < THREADS; ++thread) {
            unsigned expected[RESULTS];
            expect(block, thread, expected);
            expected_sum += number_of(thread);
            for (unsigned i = 0; i < RESULTS; ++i)
                if (got[(block * THREADS + thread) * RESULTS + i] != expected[i])
                    fail_msg("result %u of thread %u of block %u is %u, not %u", i, thread, block,
                             got[(block * THREADS + thread) * RESULTS + i], expected[i]);
        }
    assert_int_equal(total, expected_sum);
}

#ifdef CAROM_CUDA_EMULATED
static __global__ void waits_for_one_that_ends(unsigned *to) {
    if (threadIdx.x != 5) __syncthreads();
    if (threadIdx.x == 5) *to = __ballot_sync(~0u, 1); /* the others are at the barrier */
}

static __global__ void is_not_named(unsigned *to) {
    *to = __shfl_sync(0xFFu, threadIdx.x, 0);
}

static __global__ void reads_who_is_not_there(unsigned *to) {
    if (threadIdx.x % WARP < 8) *to = __shfl_sync(0xFFu, threadIdx.x, 9);
}

static __global__ void writes_nowhere(unsigned *to) {
    to[(size_t)1 << 40] = 1;
}

/* How a process ends that runs the kernel: 0, or the signal. */
static int end_of(void (*kernel)(unsigned *)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        unsigned *memory;
        (void)!freopen("/dev/null", "w", stderr);
        CHECK(cudaMalloc(&memory, sizeof(*memory)));
        launch(kernel, 1, memory);
        _exit(cudaStreamSynchronize(nullptr) == cudaSuccess ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void what_may_not_be_is_found(void **state) {
    (void)state;
    assert_int_equal(end_of(waits_for_one_that_ends), SIGABRT);
    assert_int_equal(end_of(is_not_named), SIGABRT);
    assert_int_equal(end_of(reads_who_is_not_there), SIGABRT);
    assert_int_equal(end_of(writes_nowhere), -1); /* a device that is lost */
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_tell_what_is_defined),
#ifdef CAROM_CUDA_EMULATED
        cmocka_unit_test(what_may_not_be_is_found),
#endif
    };
    return RUN_ON_DEVICE("cuda warp", tests);
}
