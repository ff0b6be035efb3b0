/* SPDX-License-Identifier: MIT */
/* item.h: functions shared by CPU and GPU.
 *
 * An item is one decision or one term: no allocation, I/O, globals, recursion, function pointers,
 * and no libm but sqrt. It is compiled by C and by CUDA from the same text and gives the same bits
 * on both (no contraction, no fast-math). Constants of items are macros. */
#ifndef CAROM_SRC_BASE_ITEM_H
#define CAROM_SRC_BASE_ITEM_H

#ifdef __CUDACC__
#define CAROM_ITEM static __host__ __device__ inline
#else
#define CAROM_ITEM static inline
#endif

/* As values, so that ties and NaN behave the same everywhere: the second operand wins. */
#define CAROM_MIN(a, b) ((a) < (b) ? (a) : (b))
#define CAROM_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
