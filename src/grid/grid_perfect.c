/* SPDX-License-Identifier: MIT */
/* A perfect hash for the cells in use: hash and displace (Pagh 1999; Belazzougui, Botelho,
 * Dietzfelbinger 2009).
 *
 * One half of a 64-bit key assigns cells to groups of about four. For each group, the largest
 * first, the least displacement is found that maps all its cells to free buckets. A lookup reads
 * one displacement. Cells that are not in use map to arbitrary buckets; tags and boxes reject the
 * entries found there. */
#include "base/progress.h"
#include "base/sort.h"
#include "grid/grid.h"

/* Cells of a group on average, and buckets per cell. Observed (soups of cheburashka and fandisk,
 * 13,000 faces): preparing takes 6.6 and 5.6 ms; with 8 cells 10.2 and 7.3, with 2 as long and
 * twice the displacements; 1.05 and 2 buckets per cell take as long. */
#define PERFECT_CELLS_PER_GROUP  4u
#define PERFECT_BUCKETS_PER_CELL 1.25

/* Sizes by which groups are sorted; larger ones count as the last. With 4 cells on average a group
 * of 256 is as good as impossible. */
#define PERFECT_GROUP_SIZES 256u

#define PERFECT_MOST_CELLS     (1u << 31) /* buckets are 1.25 times as many, and have 32 bits */
#define PERFECT_DISPLACEMENTS  (1u << 24) /* tried for a group: some tenths of a second */
#define PERFECT_TRIES_PER_LOOK 65536u     /* between checks of the clock: some milliseconds */

typedef struct perfect {
    carom_context *context;
    carom_grid_table *table;
    uint64_t *keys; /* of all cells in use, sorted, without duplicates */
    uint64_t key_count;
    uint32_t *starts;  /* of each group in the keys */
    uint32_t *by_size; /* groups, the largest first */
    uint64_t *taken;   /* one bit per bucket */
} perfect;

static uint64_t list_keys(const carom_grid_view *view, uint64_t *keys) {
    uint64_t count = 0;
    for (uint32_t rank = 0; rank < view->item_count; ++rank) {
        uint32_t level = view->levels[rank];
        if (level == CAROM_GRID_NOWHERE) continue;
        carom_box box = carom_grid_box(view, rank);
        carom_grid_cells cells = carom_grid_cells_of(&view->space, &box);
        carom_grid_cells on = carom_grid_cells_on(&cells, level);
        for (uint32_t z = on.low[2]; z <= on.high[2]; ++z)
            for (uint32_t y = on.low[1]; y <= on.high[1]; ++y)
                for (uint32_t x = on.low[0]; x <= on.high[0]; ++x) {
                    if (keys != NULL) keys[count] = carom_grid_perfect_key(x, y, z, level);
                    ++count;
                }
    }
    return count;
}

/* Sorts the keys and leaves each once. */
static carom_status sort_keys(perfect *p) {
    uint64_t kept = 0;
    CAROM_TRY(carom_sort_words(p->context, p->keys, p->key_count, 0, 64));
    for (uint64_t i = 0; i < p->key_count; ++i)
        if (i == 0 || p->keys[i] != p->keys[kept - 1]) p->keys[kept++] = p->keys[i];
    CAROM_ASSERT(kept <= p->key_count);
    p->key_count = kept;
    return CAROM_OK;
}

/* Groups are contiguous ranges of the sorted keys. */
static void grid_perfect_deal(perfect *p) {
    uint32_t groups = p->table->group_count, sizes[PERFECT_GROUP_SIZES + 1] = {0};
    uint64_t at = 0;
    for (uint32_t g = 0; g < groups; ++g) {
        p->starts[g] = (uint32_t)at;
        while (at < p->key_count && carom_grid_perfect_group(p->keys[at], groups) == g) ++at;
    }
    p->starts[groups] = (uint32_t)at;
    CAROM_ASSERT(at == p->key_count); /* every key is in a group */
    for (uint32_t g = 0; g < groups; ++g)
        ++sizes[CAROM_MIN(p->starts[g + 1] - p->starts[g], PERFECT_GROUP_SIZES)];
    for (uint32_t size = PERFECT_GROUP_SIZES, start = 0; size != UINT32_MAX; --size) {
        uint32_t here = sizes[size];
        sizes[size] = start;
        start += here;
    }
    for (uint32_t g = 0; g < groups; ++g)
        p->by_size[sizes[CAROM_MIN(p->starts[g + 1] - p->starts[g], PERFECT_GROUP_SIZES)]++] = g;
    CAROM_ASSERT(sizes[0] == groups); /* the smallest come last: every group has its index */
}

/* Takes the buckets of a group under a displacement, or none if one of them is taken already. */
static bool try_displacement(perfect *p, uint32_t group, uint32_t displacement) {
    uint32_t buckets = p->table->bucket_count;
    for (uint32_t i = p->starts[group]; i < p->starts[group + 1]; ++i) {
        uint32_t b = carom_grid_perfect_bucket(p->keys[i], displacement, buckets);
        uint64_t bit = UINT64_C(1) << (b & 63u);
        if ((p->taken[b >> 6] & bit) != 0) {
            while (i-- > p->starts[group]) {
                b = carom_grid_perfect_bucket(p->keys[i], displacement, buckets);
                p->taken[b >> 6] &= ~(UINT64_C(1) << (b & 63u));
            }
            return false;
        }
        CAROM_ASSERT(b < buckets);
        p->taken[b >> 6] |= bit;
    }
    return true;
}

/* Each key of the groups that found a displacement has a bucket of its own. */
static void perfect_check_taken(const perfect *p, uint64_t displaced) {
    uint64_t taken = 0;
    for (uint64_t i = 0; i < p->table->bucket_count / 64u + 1; ++i)
        taken += (uint64_t)__builtin_popcountll(p->taken[i]);
    CAROM_ASSERT(taken == displaced);
}

static carom_status displace(perfect *p, uint32_t *displacements) {
    uint32_t groups = p->table->group_count;
    uint64_t displaced = 0; /* keys */
    for (uint32_t i = 0; i < groups; ++i) {
        if (i % PERFECT_TRIES_PER_LOOK == 0) CAROM_TRY(carom_progress_look(p->context));
        uint32_t group = p->by_size[i], d = 0;
        while (d < PERFECT_DISPLACEMENTS && !try_displacement(p, group, d))
            if (++d % PERFECT_TRIES_PER_LOOK == 0) CAROM_TRY(carom_progress_look(p->context));
        /* Keys of a group with equal low halves share a bucket. This is rare and harmless. */
        displacements[group] = d < PERFECT_DISPLACEMENTS ? d : 0;
        if (d < PERFECT_DISPLACEMENTS) displaced += p->starts[group + 1] - p->starts[group];
    }
    perfect_check_taken(p, displaced);
    return CAROM_OK;
}

static carom_status grid_perfect_make(perfect *p, const carom_allocator *allocator,
                                      carom_arena *scratch, uint32_t **displacements,
                                      uint64_t *capacity) {
    carom_grid_table *table = p->table;
    CAROM_TRY(sort_keys(p));
    if (p->key_count > PERFECT_MOST_CELLS)
        return carom_fail(p->context, CAROM_TOO_LARGE,
                          "a perfect hash of %llu cells, at most %u can be; take another hash",
                          (unsigned long long)p->key_count, PERFECT_MOST_CELLS);
    table->group_count = (uint32_t)(p->key_count / PERFECT_CELLS_PER_GROUP + 1);
    table->bucket_count = (uint32_t)((double)p->key_count * PERFECT_BUCKETS_PER_CELL) + 1;
    uint64_t words = table->bucket_count / 64u + 1;
    p->starts = CAROM_ARENA_TAKE(scratch, uint32_t, table->group_count + UINT64_C(1));
    p->by_size = CAROM_ARENA_TAKE(scratch, uint32_t, table->group_count);
    p->taken = CAROM_ARENA_TAKE(scratch, uint64_t, words);
    if (p->starts == NULL || p->by_size == NULL || p->taken == NULL)
        return carom_fail_memory(p->context, words * 8, "a perfect hash");
    if (table->group_count > *capacity) {
        *displacements = carom_grid_renew(p->context, allocator, *displacements, table->group_count,
                                          sizeof(uint32_t));
        *capacity = *displacements != NULL ? table->group_count : 0;
        if (*displacements == NULL)
            return carom_fail_memory(p->context, table->group_count * UINT64_C(4), "a grid");
    }
    memset(p->taken, 0, words * sizeof(*p->taken));
    table->displacements = *displacements;
    grid_perfect_deal(p);
    return displace(p, *displacements);
}

carom_status carom_grid_perfect_table(carom_context *context, const carom_allocator *allocator,
                                      uint64_t *keys, uint64_t count, carom_grid_table *table,
                                      uint32_t **displacements, uint64_t *capacity) {
    perfect p = {.context = context, .table = table, .keys = keys, .key_count = count};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status = grid_perfect_make(&p, allocator, scratch, displacements, capacity);
    if (allocator != NULL) carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_grid_make_perfect(carom_context *context, const carom_allocator *allocator,
                                     carom_grid *grid) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t count = list_keys(&grid->view, NULL);
    uint64_t *keys = CAROM_ARENA_TAKE(scratch, uint64_t, count);
    if (keys == NULL) return carom_fail_memory(context, count * 8, "a perfect hash");
    (void)list_keys(&grid->view, keys);
    carom_status status =
        carom_grid_perfect_table(context, allocator, keys, count, &grid->view.table,
                                 &grid->displacements, &grid->group_capacity);
    if (allocator != NULL) carom_arena_rewind(scratch, mark);
    return status;
}
