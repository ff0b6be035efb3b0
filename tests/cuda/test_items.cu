/* SPDX-License-Identifier: MIT */
/* The shared items on the GPU: the same text, the same bits.
 *
 * Every input goes through digest_item.h on the device, and the sums must equal the CPU's golden
 * ones. Without a device there is nothing to compare, and the program exits with 77 (skipped). */
#include <cstdlib>
#include <vector>

#include "tests/cuda/device.h"
#include "tests/support/digest.h"
#include "tests/support/digest_item.h"

#define BATCH (256u * DIGEST_BLOCK)

enum class part { everything, filter, decided, exact };

/* A sum over pairs: of all digests, or of one stage alone for its rate. */
template <part PART>
__global__ void digest_pairs(const digest_pair_of_triangles *pairs, uint64_t count,
                             unsigned long long *sum) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const carom_triangle a = pairs[i < count ? i : 0].a, b = pairs[i < count ? i : 0].b;
    unsigned long long digest;
    if (PART == part::everything)
        digest = digest_pair(&a, &b);
    else if (PART == part::filter)
        digest = (uint64_t)carom_triangle_filter(&a, &b);
    else if (PART == part::decided)
        digest = (uint64_t)carom_triangle_meet(&a, &b);
    else
        digest = (uint64_t)carom_triangle_meet_exact(&a, &b);
    if (i >= count) digest = 0;
    for (int step = 16; step > 0; step /= 2) digest += __shfl_down_sync(~0u, digest, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, digest);
}

/* Adds the time it took. */
template <part PART>
static uint64_t run(const device_array<digest_pair_of_triangles> &pairs, uint64_t count,
                    double *milliseconds) {
    device_array<unsigned long long> sum(1);
    unsigned long long result;
    stopwatch watch;
    sum.clear();
    watch.start();
    launch(digest_pairs<PART>, blocks(count), pairs.data, count, sum.data);
    *milliseconds += watch.stop_ms();
    sum.get(&result);
    return result;
}

static void pairs_of_triangles_are_golden(void **state) {
    (void)state;
    carom_context *context = test_context(0);
    std::vector<digest_pair_of_triangles> pairs(BATCH);
    device_array<digest_pair_of_triangles> on_device(BATCH);
    uint64_t all = getenv("CAROM_LONG") != NULL ? DIGEST_LONG : DIGEST_SHORT;
    for (int kind = 0; kind < DIGEST_KINDS; ++kind) {
        uint64_t sum = 0;
        double time[4] = {0};
        char name[64];
        for (uint64_t first = 0; first < all; first += BATCH) {
            uint64_t count = all - first < BATCH ? all - first : BATCH;
            digest_make_pairs(context, kind, first, count, pairs.data());
            on_device.set(pairs.data(), count);
            sum += run<part::everything>(on_device, count, &time[0]);
            run<part::filter>(on_device, count, &time[1]);
            run<part::decided>(on_device, count, &time[2]);
            run<part::exact>(on_device, count, &time[3]);
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
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_triangles_are_golden),
    };
    return RUN_ON_DEVICE("cuda items", tests);
}
