/* SPDX-License-Identifier: MIT */
/* arena.h: scratch memory that is released by rewinding. */
#ifndef CAROM_SRC_BASE_ARENA_H
#define CAROM_SRC_BASE_ARENA_H

#include "base/memory.h"

typedef struct carom_arena_block carom_arena_block;

typedef struct carom_arena {
    const carom_allocator *allocator;
    carom_arena_block *top; /* newest first */
    size_t held, peak;      /* bytes in use now; the most in use at once since the last block was
                               resized */
    size_t refused;         /* bytes of the last request that failed, for the message; 0: none */
} carom_arena;

typedef struct carom_arena_mark {
    carom_arena_block *top;
    size_t used, held;
} carom_arena_mark;

void carom_arena_init(carom_arena *arena, const carom_allocator *allocator);
void carom_arena_free(carom_arena *arena);

/* Returns memory aligned to CAROM_ALIGNMENT, not cleared, or NULL. */
void *carom_arena_take(carom_arena *arena, uint64_t count, size_t size);
#define CAROM_ARENA_TAKE(arena, type, count) ((type *)carom_arena_take(arena, count, sizeof(type)))

/* Releases everything taken after the mark. Marks nest like brackets. */
carom_arena_mark carom_arena_get_mark(const carom_arena *arena);
void carom_arena_rewind(carom_arena *arena, carom_arena_mark mark);

/* Bytes held from the allocator. */
uint64_t carom_arena_bytes(const carom_arena *arena);

#endif
