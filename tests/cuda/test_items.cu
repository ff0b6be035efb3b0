/* SPDX-License-Identifier: MIT */
/* The shared items on the GPU: the same text, the same bits.
 *
 * Every input goes through digest_item.h on the device, and the sums must equal the CPU's golden
 * ones. Without a device there is nothing to compare, and the program exits with 77 (skipped). */
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" { /* cmocka's header does not say so itself */
#include "tests/support/test.h"
}

#include "tests/support/digest.h"
#include "tests/support/digest_item.h"

#define BATCH   (256u * DIGEST_BLOCK)
#define THREADS 128u

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) fail_msg("%s: %s", what, cudaGetErrorString(error));
}
#define CHECK(call) check(call, #call)

enum class part { everything, filter, decided, exact };

/* A sum over pairs: of all digests, or of one stage alone for its rate. */
template <part PART>
__global__ void digest_pairs(const digest_pair_of_triangles *pairs, uint64_t count,
                             unsigned long long *sum) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const carom_triangle a = pairs[i].a, b = pairs[i].b;
    uint64_t digest;
    if (PART == part::everything)
        digest = digest_pair(&a, &b);
    else if (PART == part::filter)
        digest = (uint64_t)carom_triangle_filter(&a, &b);
    else if (PART == part::decided)
        digest = (uint64_t)carom_triangle_meet(&a, &b);
    else
        digest = (uint64_t)carom_triangle_meet_exact(&a, &b);
    atomicAdd(sum, (unsigned long long)digest);
}

/* Device memory for one batch, and two events to time it. */
struct bench {
    digest_pair_of_triangles *pairs;
    unsigned long long *sum;
    cudaEvent_t begin, end;
};

template <part PART> static uint64_t run(const bench &b, uint64_t count, double *milliseconds) {
    unsigned long long sum;
    float elapsed;
    CHECK(cudaMemset(b.sum, 0, sizeof(sum)));
    CHECK(cudaEventRecord(b.begin));
    digest_pairs<PART>
        <<<(unsigned)((count + THREADS - 1) / THREADS), THREADS>>>(b.pairs, count, b.sum);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(b.end));
    CHECK(cudaEventSynchronize(b.end));
    CHECK(cudaEventElapsedTime(&elapsed, b.begin, b.end));
    CHECK(cudaMemcpy(&sum, b.sum, sizeof(sum), cudaMemcpyDeviceToHost));
    *milliseconds += (double)elapsed;
    return sum;
}

static void pairs_of_triangles_are_golden(void **state) {
    (void)state;
    carom_context *context = test_context(0);
    std::vector<digest_pair_of_triangles> pairs(BATCH);
    bench b;
    uint64_t all = getenv("CAROM_LONG") != NULL ? DIGEST_LONG : DIGEST_SHORT;
    CHECK(cudaMalloc(&b.pairs, BATCH * sizeof(pairs[0])));
    CHECK(cudaMalloc(&b.sum, sizeof(*b.sum)));
    CHECK(cudaEventCreate(&b.begin));
    CHECK(cudaEventCreate(&b.end));
    for (int kind = 0; kind < DIGEST_KINDS; ++kind) {
        uint64_t sum = 0;
        double time[4] = {0};
        char name[64];
        for (uint64_t first = 0; first < all; first += BATCH) {
            uint64_t count = all - first < BATCH ? all - first : BATCH;
            digest_make_pairs(context, kind, first, count, pairs.data());
            CHECK(cudaMemcpy(b.pairs, pairs.data(), count * sizeof(pairs[0]),
                             cudaMemcpyHostToDevice));
            sum += run<part::everything>(b, count, &time[0]);
            run<part::filter>(b, count, &time[1]);
            run<part::decided>(b, count, &time[2]);
            run<part::exact>(b, count, &time[3]);
        }
        double millions = (double)all * 1e-3; /* a second, divided by milliseconds */
        print_message(
            "%-8s %llu pairs, millions a second: filter %.0f, filter and exact %.0f, exact "
            "alone %.1f, all items %.1f\n",
            digest_kind_names[kind], (unsigned long long)all, millions / time[1],
            millions / time[2], millions / time[3], millions / time[0]);
        digest_name(name, sizeof(name), kind, all);
        test_golden("items.txt", name, sum);
    }
    CHECK(cudaEventDestroy(b.begin));
    CHECK(cudaEventDestroy(b.end));
    CHECK(cudaFree(b.pairs));
    CHECK(cudaFree(b.sum));
    carom_context_destroy(context);
}

int main(void) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("no CUDA device\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_triangles_are_golden),
    };
    return cmocka_run_group_tests_name("cuda items", tests, NULL, NULL);
}
