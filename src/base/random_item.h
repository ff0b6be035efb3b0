/* SPDX-License-Identifier: MIT */
/* random_item.h: splitmix64 (Steele, Lea, Flood 2014) as functions for CPU and GPU: one addition
 * and a finaliser. The seed alone determines the stream, on every machine. */
#ifndef CAROM_SRC_BASE_RANDOM_ITEM_H
#define CAROM_SRC_BASE_RANDOM_ITEM_H

#include "base/item.h"
#include "carom/base.h"

CAROM_ITEM uint64_t carom_random_step(carom_random *random) {
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 64 random bits as a number in [0, 1). */
CAROM_ITEM double carom_random_fraction(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
