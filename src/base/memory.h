/* SPDX-License-Identifier: MIT */
/* memory.h: every byte the library takes comes through here. */
#ifndef CAROM_SRC_BASE_MEMORY_H
#define CAROM_SRC_BASE_MEMORY_H

#include "carom/base.h"

/* A cache line, and enough for the widest vector loads. */
#define CAROM_ALIGNMENT 64

/* The C library's allocator, with huge pages for large blocks where the system has them. */
carom_allocator carom_allocator_default(void);

/* Returns memory aligned to CAROM_ALIGNMENT, or NULL; NULL also for count * size past SIZE_MAX.
 * Nothing is cleared. Zero bytes give a valid pointer. */
void *carom_allocate(const carom_allocator *allocator, uint64_t count, size_t size);

/* NULL is fine. */
void carom_release(const carom_allocator *allocator, void *pointer);

#endif
