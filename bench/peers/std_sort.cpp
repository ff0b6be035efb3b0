// SPDX-License-Identifier: MIT
// The C++ standard library's stable sort on (key, payload) words.
#include <algorithm>

#include "bench/peers/peers.h"

void peer_std_stable_sort(uint64_t *words, size_t count) {
    std::stable_sort(words, words + count,
                     [](uint64_t a, uint64_t b) { return uint32_t(a) < uint32_t(b); });
}
