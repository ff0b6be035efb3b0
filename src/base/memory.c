/* SPDX-License-Identifier: MIT */
/* The default allocator, and the overflow check before every allocation.
 *
 * Blocks of two megabytes and more are aligned to 2 MiB and offered to the kernel for huge pages.
 * Sorting ten million keys accesses 80 MB of scratch in random order, and with 4 KiB pages the TLB
 * misses cost more than the sort; a gas of 10^5 spheres becomes a tenth faster.
 *
 * Linux gives addresses for more memory than it has, and kills the process when the pages are used.
 * So a large block is refused when the system says that it has not that much available: the caller
 * then gets a message instead. */
#include "base/memory.h"

#include <string.h>

#include "base/platform.h"

#define MEMORY_HUGE_PAGE_BYTES ((size_t)2 << 20)
#define HUGE_FROM              MEMORY_HUGE_PAGE_BYTES
/* Bytes of a block from which it is compared with the memory available: clearing its pages takes
 * a thousand times as long as reading the file, 30 us. */
#define CHECKED_FROM ((size_t)256 << 20)

static size_t memory_round_up(size_t size, size_t unit) {
    return (size + unit - 1) / unit * unit;
}

static void *default_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    if (size > SIZE_MAX - MEMORY_HUGE_PAGE_BYTES) return NULL;
    if (size < HUGE_FROM)
        return carom_os_aligned_allocate(alignment, memory_round_up(size, alignment));
    size = memory_round_up(size, MEMORY_HUGE_PAGE_BYTES);
    if (size >= CHECKED_FROM && size > carom_os_available_memory()) return NULL;
    void *pointer = carom_os_aligned_allocate(MEMORY_HUGE_PAGE_BYTES, size);
    if (pointer != NULL) carom_os_use_huge_pages(pointer, size);
    return pointer;
}

static void default_release(void *user, void *pointer) {
    (void)user;
    carom_os_aligned_free(pointer);
}

carom_allocator carom_allocator_default(void) {
    return (carom_allocator){default_allocate, default_release, NULL};
}

void *carom_allocate(const carom_allocator *allocator, uint64_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    size_t bytes = (size_t)count * size;
    return allocator->allocate(allocator->user, bytes == 0 ? 1 : bytes, CAROM_ALIGNMENT);
}

void carom_release(const carom_allocator *allocator, void *pointer) {
    if (pointer != NULL) allocator->release(allocator->user, pointer);
}

bool carom_allocate_all(const carom_allocator *allocator, const carom_allocation *arrays,
                        size_t count) {
    bool all = true;
    for (size_t i = 0; i < count; ++i) {
        void *taken = all ? carom_allocate(allocator, arrays[i].count, arrays[i].size) : NULL;
        all = taken != NULL;
        memcpy(arrays[i].pointer, &taken, sizeof(taken));
    }
    for (size_t i = 0; i < count && !all; ++i) {
        void *taken;
        memcpy(&taken, arrays[i].pointer, sizeof(taken));
        carom_release(allocator, taken);
        memset(arrays[i].pointer, 0, sizeof(taken));
    }
    return all;
}

void carom_release_all(const carom_allocator *allocator, void *const *pointers, size_t count) {
    for (size_t i = 0; i < count; ++i) carom_release(allocator, pointers[i]);
}
