/* SPDX-License-Identifier: MIT */
/* power.h: powers of two as doubles. */
#ifndef CAROM_SRC_BASE_POWER_H
#define CAROM_SRC_BASE_POWER_H

#include <stdint.h>
#include <string.h>

#include "base/item.h"

/* 2^k for k in [-1074, 1023], exactly. */
CAROM_ITEM double carom_power_of_two(int k) {
    uint64_t bits = k >= -1022 ? (uint64_t)(k + 1023) << 52 : UINT64_C(1) << (k + 1074);
    double power;
    memcpy(&power, &bits, sizeof(power));
    return power;
}

#endif
