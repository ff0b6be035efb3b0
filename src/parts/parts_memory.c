/* SPDX-License-Identifier: MIT */
/* Memory with a limit. Each block has its size before it, so that what is in use is known exactly;
 * what the system's allocator adds is estimated: blocks of two megabytes and more are rounded up to
 * huge pages (base/memory.c).
 *
 * Invariant: used <= limit, whatever the threads do: a request first adds its size, and takes it
 * back where that is too much. */
#include "base/item.h"
#include "parts/parts.h"

#define PARTS_BLOCK_HEAD CAROM_ALIGNMENT     /* keeps the alignment */
#define PARTS_HUGE_PAGE  ((uint64_t)2 << 20) /* bytes */

static void *parts_memory_allocate(void *user, size_t size, size_t alignment) {
    parts_memory *memory = user;
    if (size > SIZE_MAX / 2) return NULL;
    uint64_t bytes = (uint64_t)size + PARTS_BLOCK_HEAD;
    if (bytes >= PARTS_HUGE_PAGE)
        bytes = (bytes + PARTS_HUGE_PAGE - 1) / PARTS_HUGE_PAGE * PARTS_HUGE_PAGE;
    uint64_t used = atomic_fetch_add(&memory->used, bytes) + bytes;
    uint8_t *block =
        used <= memory->limit
            ? memory->base.allocate(memory->base.user, size + PARTS_BLOCK_HEAD, alignment)
            : NULL;
    if (block == NULL) {
        atomic_fetch_sub(&memory->used, bytes);
        return NULL;
    }
    uint64_t peak = atomic_load(&memory->peak);
    while (used > peak && !atomic_compare_exchange_weak(&memory->peak, &peak, used)) {
    }
    memcpy(block, &bytes, sizeof(bytes));
    return block + PARTS_BLOCK_HEAD;
}

static void parts_memory_release(void *user, void *pointer) {
    parts_memory *memory = user;
    uint8_t *block = (uint8_t *)pointer - PARTS_BLOCK_HEAD;
    uint64_t bytes;
    memcpy(&bytes, block, sizeof(bytes));
    CAROM_ASSERT(atomic_load(&memory->used) >= bytes);
    atomic_fetch_sub(&memory->used, bytes);
    memory->base.release(memory->base.user, block);
}

void carom_parts_memory_init(parts_memory *memory, const carom_allocator *base, uint64_t limit) {
    memory->base = *base;
    memory->limit = limit;
    memory->counted = (carom_allocator){parts_memory_allocate, parts_memory_release, memory};
}
