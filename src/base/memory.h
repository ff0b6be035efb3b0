/* SPDX-License-Identifier: MIT */
/* memory.h: allocation; all memory of the library is taken here. */
#ifndef CAROM_SRC_BASE_MEMORY_H
#define CAROM_SRC_BASE_MEMORY_H

#include "carom/base.h"

/* A cache line; also enough for the widest vector loads. */
#define CAROM_ALIGNMENT 64

/* The C library's allocator, with huge pages for large blocks where the system has them. */
carom_allocator carom_allocator_default(void);

/* Returns memory aligned to CAROM_ALIGNMENT, not cleared, or NULL; NULL also when count * size
 * exceeds SIZE_MAX. Zero bytes give a valid pointer. */
void *carom_allocate(const carom_allocator *allocator, uint64_t count, size_t size);

/* NULL is fine. */
void carom_release(const carom_allocator *allocator, void *pointer);

/* One of several arrays that are allocated together: where its pointer is stored, and its size. */
typedef struct carom_allocation {
    void *pointer;
    uint64_t count;
    size_t size;
} carom_allocation;
#define CAROM_ALLOCATION(pointer, count)                                                           \
    { &(pointer), count, sizeof(*(pointer)) }

/* Allocates all, or returns false and sets all pointers to NULL. */
bool carom_allocate_all(const carom_allocator *allocator, const carom_allocation *arrays,
                        size_t count);

/* Releases each of the given pointers. */
void carom_release_all(const carom_allocator *allocator, void *const *pointers, size_t count);
#define CAROM_RELEASE_ALL(allocator, ...)                                                          \
    carom_release_all(allocator, (void *[]){__VA_ARGS__},                                          \
                      sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))

#endif
