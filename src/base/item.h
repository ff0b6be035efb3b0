/* SPDX-License-Identifier: MIT */
/* item.h: functions shared by CPU and GPU.
 *
 * An item is one decision or one term. It has no allocation, I/O, globals, recursion or function
 * pointers, and takes only sqrt from libm. C and CUDA compile it from the same source, and it gives
 * the same bits on both (no contraction, no fast-math). Constants of items are macros. */
#ifndef CAROM_SRC_BASE_ITEM_H
#define CAROM_SRC_BASE_ITEM_H

#include "base/assert.h"

#ifdef __CUDACC__
#define CAROM_ITEM static __host__ __device__ inline
#else
#define CAROM_ITEM static inline
#endif

/* Minimum and maximum. For ties and NaN the second operand is taken, on every machine. */
#define CAROM_MIN(a, b) ((a) < (b) ? (a) : (b))
#define CAROM_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
