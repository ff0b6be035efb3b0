/* SPDX-License-Identifier: MIT */
/* Entering items into buckets, and scanning buckets.
 *
 * A scan compares the tags of as many entries as a vector has lanes with one masked value
 * (grid_item.h): what is left is every pair that shares a cell, once. Only then boxes are looked
 * at. Ranks are near in memory when items are near in space, so boxes stay in the caches. */
#include "grid/grid_cpu.h"

#include "base/simd.h"

#define MOST_HITS 256u /* entries whose tags matched, before boxes are compared */

/* ---- the cells of an item -------------------------------------------------------------------- */

typedef uint32_t eight __attribute__((vector_size(32)));

/* The cells that an item has on a level. */
typedef struct places {
    uint32_t count;
    uint32_t buckets[CAROM_GRID_MOST_CELLS], tags[CAROM_GRID_MOST_CELLS];
} places;

/* All eight cells of a block of two per axis at once, by the formulas of grid_item.h. */
static inline void place_eight(const carom_grid_table *table, const carom_grid_cells *cells,
                               uint32_t level, places *p) {
    const eight right = {0, 1, 0, 1, 0, 1, 0, 1}, up = {0, 0, 1, 1, 0, 0, 1, 1},
                behind = {0, 0, 0, 0, 1, 1, 1, 1};
    eight x = right + cells->low[0], y = up + cells->low[1], z = behind + cells->low[2];
    eight hash = ((x >> 1) * 0x9E3779B1u ^ (y >> 1) * 0x85EBCA77u) +
                 ((z >> 1) * 0xC2B2AE3Du ^ level * 0x27D4EB2Fu);
    hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
    hash = (hash ^ hash >> 13) >> table->block_shift;
    eight buckets = hash << 3 | (x & 1u) | (y & 1u) << 1 | (z & 1u) << 2;
    eight tags = (x & 7u) << CAROM_GRID_TAG_CELL | (y & 7u) << (CAROM_GRID_TAG_CELL + 3) |
                 (z & 7u) << (CAROM_GRID_TAG_CELL + 6) |
                 (level << CAROM_GRID_TAG_LEVEL | (7u ^ (right | up << 1 | behind << 2)));
    uint32_t wide = (cells->high[0] != cells->low[0] ? 1u : 0u) |
                    (cells->high[1] != cells->low[1] ? 2u : 0u) |
                    (cells->high[2] != cells->low[2] ? 4u : 0u);
    p->count = 0;
    for (uint32_t i = 0; i < 8; ++i) {
        p->buckets[p->count] = buckets[i];
        p->tags[p->count] = tags[i];
        p->count += (i & ~wide) == 0 ? 1u : 0u;
    }
}

static inline void place(const carom_grid_table *table, const carom_grid_cells *cells,
                         uint32_t level, places *p) {
    uint32_t wide = (cells->high[0] - cells->low[0]) | (cells->high[1] - cells->low[1]) |
                    (cells->high[2] - cells->low[2]);
    if (table->block_shift != 0 && wide <= 1u)
        place_eight(table, cells, level, p);
    else
        p->count = carom_grid_enter(table, cells, level, p->buckets, p->tags);
}

static inline carom_grid_cells cells_of_rank(const carom_grid_view *view, uint32_t rank) {
    carom_box box = carom_grid_box(view, rank);
    return carom_grid_cells_of(&view->space, &box);
}

static inline bool place_rank(const carom_grid_view *view, uint32_t rank, places *p) {
    uint32_t level = view->levels[rank];
    if (level == CAROM_GRID_NOWHERE) return false;
    carom_grid_cells cells = cells_of_rank(view, rank), on = carom_grid_cells_on(&cells, level);
    place(&view->table, &on, level, p);
    return true;
}

void CAROM_CPU(carom_grid_count)(const carom_grid_view *view, uint32_t first, uint32_t end,
                                 bool shared, uint32_t *counts) {
    places p;
    for (uint32_t rank = first; rank < end; ++rank) {
        if (!place_rank(view, rank, &p)) continue;
        for (uint32_t i = 0; i < p.count; ++i) {
            if (shared)
                (void)__atomic_fetch_add(&counts[p.buckets[i]], 1u, __ATOMIC_RELAXED);
            else
                ++counts[p.buckets[i]];
        }
    }
}

void CAROM_CPU(carom_grid_fill)(const carom_grid_view *view, uint32_t first, uint32_t end,
                                bool shared, uint32_t *ends, uint32_t *ranks, uint32_t *tags) {
    places p;
    for (uint32_t rank = end; rank-- > first;) {
        if (!place_rank(view, rank, &p)) continue;
        for (uint32_t i = 0; i < p.count; ++i) {
            uint32_t at = shared ? __atomic_sub_fetch(&ends[p.buckets[i]], 1u, __ATOMIC_RELAXED)
                                 : --ends[p.buckets[i]];
            ranks[at] = rank;
            tags[at] = p.tags[i];
        }
    }
}

/* ---- one query ------------------------------------------------------------------------------- */

typedef struct query {
    const carom_grid_view *view;
    carom_grid_found *found;
    carom_grid_cells cells; /* of level 0 */
    float bounds[8];        /* high x, y, z, then -low: entries overlap that are nowhere above */
    uint32_t a;
    uint32_t level, after; /* looked at now; ranks must be at least `after` */
    uint32_t hit_count;
    uint32_t hits[MOST_HITS + CAROM_LANES];
} query;

static inline bool overlaps(const query *q, uint32_t rank) {
    const float *box = q->view->boxes + 8 * (uint64_t)rank;
#if defined(__AVX2__)
    __m256 above = _mm256_cmp_ps(_mm256_loadu_ps(box), _mm256_loadu_ps(q->bounds), _CMP_LE_OQ);
    return (_mm256_movemask_ps(above) & 0x3F) == 0x3F;
#elif defined(__SSE2__)
    int low = _mm_movemask_ps(_mm_cmple_ps(_mm_loadu_ps(box), _mm_loadu_ps(q->bounds)));
    int high = _mm_movemask_ps(_mm_cmple_ps(_mm_loadu_ps(box + 4), _mm_loadu_ps(q->bounds + 4)));
    return ((low | high << 4) & 0x3F) == 0x3F;
#else
    bool all = true;
    for (int k = 0; k < 6; ++k) all = all & (box[k] <= q->bounds[k]);
    return all;
#endif
}

/* Compares the boxes of what was hit. */
static inline bool settle(query *q) {
    carom_grid_found *found = q->found;
    const uint32_t *ranks = q->view->ranks;
    for (uint32_t at = 0; at < q->hit_count; at += CAROM_GRID_FLUSH) {
        uint32_t end = CAROM_MIN(q->hit_count, at + CAROM_GRID_FLUSH), count;
        if (found->count + CAROM_GRID_FLUSH > CAROM_GRID_FOUND && !found->flush(found))
            return false;
        count = found->count;
        for (uint32_t i = at; i < end; ++i) {
            uint32_t rank = ranks[q->hits[i]];
            found->a[count] = q->a;
            found->b[count] = rank;
            count += overlaps(q, rank) ? 1u : 0u;
        }
        found->count = count;
    }
    q->hit_count = 0;
    return true;
}

/* An entry whose tags cannot tell. */
static bool ask_entry(query *q, uint32_t bucket, uint32_t entry) {
    const carom_grid_view *view = q->view;
    uint32_t rank = view->ranks[entry];
    if (view->levels[rank] != q->level || rank < q->after || !overlaps(q, rank)) return true;
    carom_grid_cells cells = cells_of_rank(view, rank);
    if (!carom_grid_is_once(&view->table, &q->cells, &cells, q->level, bucket)) return true;
    if (q->hit_count >= MOST_HITS && !settle(q)) return false;
    q->hits[q->hit_count++] = entry;
    return true;
}

/* Entries of a bucket against the query's tags for it. */
static inline bool scan(query *q, uint32_t bucket, uint32_t tags) {
    const carom_grid_view *view = q->view;
    uint32_t at = view->starts[bucket], end = view->starts[bucket + 1];
    if ((tags & CAROM_GRID_TAG_MULTI) != 0) {
        for (; at < end; ++at)
            if (!ask_entry(q, bucket, at)) return false;
        return true;
    }
    carom_u32v mask = carom_u32v_splat(carom_grid_match_mask(tags));
    carom_u32v value = carom_u32v_splat(carom_grid_match_value(tags));
    carom_u32v after = carom_u32v_splat(q->after);
    for (; at < end; at += CAROM_LANES) {
        carom_u32v entry = carom_u32v_load(view->tags + at);
        carom_i32v match = (carom_i32v)((entry & mask) == value);
        carom_i32v several = (carom_i32v)((entry & CAROM_GRID_TAG_MULTI) != 0u);
        if (q->after != 0) match &= (carom_i32v)(carom_u32v_load(view->ranks + at) >= after);
        carom_lanes there =
            end - at >= CAROM_LANES ? ~0u >> (32 - CAROM_LANES) : ~(~0u << (end - at));
        carom_lanes ask = carom_lanes_of(several) & there;
        carom_lanes hits = carom_lanes_of(match) & there & ~ask;
        if (q->hit_count + CAROM_LANES > MOST_HITS && !settle(q)) return false;
        q->hit_count += carom_lanes_list(hits, at, &q->hits[q->hit_count]);
        for (; ask != 0; ask &= ask - 1)
            if (!ask_entry(q, bucket, at + (uint32_t)__builtin_ctz(ask))) return false;
    }
    return true;
}

/* On one level. */
static inline bool look(query *q, uint32_t level, uint32_t after) {
    const carom_grid_view *view = q->view;
    places p;
    carom_grid_cells on = carom_grid_cells_on(&q->cells, level);
    place(&view->table, &on, level, &p);
    q->level = level;
    q->after = after;
    q->found->visits += p.count;
    for (uint32_t i = 0; i < p.count; ++i)
        if (!scan(q, p.buckets[i], p.tags[i])) return false;
    return true;
}

static inline void begin(query *q, const carom_box *box, uint32_t a) {
    q->a = a;
    q->cells = carom_grid_cells_of(&q->view->space, box);
    q->hit_count = 0;
    for (int k = 0; k < 3; ++k) {
        q->bounds[k] = box->high[k];
        q->bounds[3 + k] = -box->low[k];
    }
    q->bounds[6] = q->bounds[7] = 0.0f;
}

bool CAROM_CPU(carom_grid_self)(const carom_grid_view *view, uint32_t first, uint32_t end,
                                carom_grid_found *found) {
    query q;
    q.view = view;
    q.found = found;
    for (uint32_t rank = first; rank < end; ++rank) {
        uint32_t level = view->levels[rank];
        if (level == CAROM_GRID_NOWHERE) continue;
        carom_box box = carom_grid_box(view, rank);
        begin(&q, &box, rank);
        if (!look(&q, level, rank + 1)) return false;
        uint32_t above = level < 31 ? view->level_mask & ~0u << (level + 1) : 0u;
        for (; above != 0; above &= above - 1)
            if (!look(&q, (uint32_t)__builtin_ctz(above), 0)) return false;
        if (!settle(&q)) return false;
    }
    return true;
}

bool CAROM_CPU(carom_grid_find)(const carom_grid_view *view, const carom_box *box, uint32_t level,
                                uint32_t a, carom_grid_found *found) {
    query q;
    q.view = view;
    q.found = found;
    uint32_t levels = level < 32 ? view->level_mask & ~0u << level : 0u;
    if (levels == 0) return true;
    begin(&q, box, a);
    for (; levels != 0; levels &= levels - 1)
        if (!look(&q, (uint32_t)__builtin_ctz(levels), 0)) return false;
    return settle(&q);
}
