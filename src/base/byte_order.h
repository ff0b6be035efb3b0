/* SPDX-License-Identifier: MIT */
/* byte_order.h: files have a byte order of their own, whatever the machine's is. */
#ifndef CAROM_SRC_BASE_BYTE_ORDER_H
#define CAROM_SRC_BASE_BYTE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether this machine has the low byte of a number first; compilers know the answer. */
static inline bool carom_is_little_endian(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Reverses the bytes of each of the numbers, of `width` bytes, that `size` bytes hold. */
static inline void carom_reverse_numbers(void *bytes, size_t size, size_t width) {
    uint8_t *at = (uint8_t *)bytes;
    for (size_t begin = 0; begin + width <= size; begin += width)
        for (size_t i = 0; i < width / 2; ++i) {
            uint8_t low = at[begin + i];
            at[begin + i] = at[begin + width - 1 - i];
            at[begin + width - 1 - i] = low;
        }
}

#endif
