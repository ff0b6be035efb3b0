/* SPDX-License-Identifier: MIT */
/* Scratch memory as a stack of blocks.
 *
 * Invariant: once the arena has been rewound to empty, it holds one block, as large as the most
 * that was ever in use at once. So the second of two equal queries takes nothing from the
 * allocator: repeated queries allocate nothing.
 *
 * Under AddressSanitizer everything above the top is poisoned, so that use after a rewind is
 * detected although the memory is not freed. */
#include "base/arena.h"

#include "base/item.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(pointer, size)   __asan_poison_memory_region(pointer, size)
#define UNPOISON(pointer, size) __asan_unpoison_memory_region(pointer, size)
#else
#define POISON(pointer, size)   ((void)(pointer), (void)(size))
#define UNPOISON(pointer, size) ((void)(pointer), (void)(size))
#endif

#define SMALLEST_BLOCK ((size_t)64 << 10)

/* The bytes follow the header, whose size is exactly one unit of alignment. */
struct carom_arena_block {
    carom_arena_block *below;
    size_t size, used;
    char fill[CAROM_ALIGNMENT - sizeof(void *) - 2 * sizeof(size_t)];
};
_Static_assert(sizeof(carom_arena_block) == CAROM_ALIGNMENT, "blocks keep their bytes aligned");

static char *block_bytes(carom_arena_block *block) {
    return (char *)(block + 1);
}

static carom_arena_block *block_create(const carom_arena *arena, size_t size) {
    if (size > SIZE_MAX - sizeof(carom_arena_block)) return NULL;
    carom_arena_block *block = carom_allocate(arena->allocator, 1, sizeof(*block) + size);
    if (block == NULL) return NULL;
    CAROM_ASSERT((uintptr_t)block % CAROM_ALIGNMENT == 0);
    *block = (carom_arena_block){.size = size};
    POISON(block_bytes(block), size);
    return block;
}

static void block_free(const carom_arena *arena, carom_arena_block *block) {
    UNPOISON(block_bytes(block), block->size);
    carom_release(arena->allocator, block);
}

void carom_arena_init(carom_arena *arena, const carom_allocator *allocator) {
    *arena = (carom_arena){.allocator = allocator};
}

void carom_arena_free(carom_arena *arena) {
    while (arena->top != NULL) {
        carom_arena_block *block = arena->top;
        arena->top = block->below;
        block_free(arena, block);
    }
    arena->held = arena->peak = 0;
}

void *carom_arena_take(carom_arena *arena, uint64_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX / 2) / size) return NULL;
    size_t bytes = (size_t)count * size;
    bytes = (bytes + CAROM_ALIGNMENT - 1) / CAROM_ALIGNMENT * CAROM_ALIGNMENT;
    if (bytes == 0) bytes = CAROM_ALIGNMENT;

    carom_arena_block *block = arena->top;
    if (block == NULL || block->size - block->used < bytes) {
        block = block_create(arena, CAROM_MAX(bytes, CAROM_MAX(arena->held, SMALLEST_BLOCK)));
        if (block == NULL && bytes < arena->held) block = block_create(arena, bytes);
        if (block == NULL) {
            arena->refused = bytes;
            return NULL;
        }
        block->below = arena->top;
        arena->top = block;
    }
    CAROM_ASSERT(block->used <= block->size && bytes <= block->size - block->used);
    CAROM_ASSERT(block->used % CAROM_ALIGNMENT == 0);
    char *pointer = block_bytes(block) + block->used;
    block->used += bytes;
    arena->held += bytes;
    arena->peak = CAROM_MAX(arena->peak, arena->held);
    CAROM_ASSERT(arena->peak >= arena->held);
    UNPOISON(pointer, bytes);
    return pointer;
}

carom_arena_mark carom_arena_get_mark(const carom_arena *arena) {
    return (carom_arena_mark){arena->top, arena->top != NULL ? arena->top->used : 0, arena->held};
}

/* Replaces a block that is smaller than the peak by one of the peak's size. Without memory for that
 * the arena becomes empty. */
static void arena_consolidate(carom_arena *arena) {
    carom_arena_block *block = arena->top;
    if (block == NULL || block->size >= arena->peak) return;
    size_t peak = arena->peak;
    carom_arena_free(arena);
    arena->top = block_create(arena, CAROM_MAX(peak, SMALLEST_BLOCK));
}

void carom_arena_rewind(carom_arena *arena, carom_arena_mark mark) {
    CAROM_ASSERT(mark.held <= arena->held); /* marks are rewound in reverse order */
    /* The oldest block stays also where the mark is older than it (then mark.top is NULL). */
    while (arena->top != mark.top && arena->top->below != NULL) {
        carom_arena_block *block = arena->top;
        arena->top = block->below;
        block_free(arena, block);
    }
    if (arena->top != NULL) {
        size_t used = arena->top == mark.top ? mark.used : 0;
        CAROM_ASSERT(used <= arena->top->used);
        POISON(block_bytes(arena->top) + used, arena->top->size - used);
        arena->top->used = used;
    }
    arena->held = mark.held;
    if (mark.held == 0) arena_consolidate(arena);
}

uint64_t carom_arena_bytes(const carom_arena *arena) {
    uint64_t bytes = 0;
    for (const carom_arena_block *block = arena->top; block != NULL; block = block->below)
        bytes += sizeof(*block) + block->size;
    return bytes;
}
