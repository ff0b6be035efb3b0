/* SPDX-License-Identifier: MIT */
/* Entering items into buckets, and scanning buckets for overlapping pairs.
 *
 * A scan compares the tags of as many entries as a vector has lanes with one masked value
 * (grid_item.h). This leaves every pair that shares a cell once. Only these pairs have their boxes
 * compared. Items that are near in space have near ranks, so boxes stay in the caches. */
#include "grid/grid_cpu.h"

#include "base/simd.h"

/* Entries whose tags matched, before boxes are compared, as many as one flush of the output frees;
 * and buckets looked up, before they are scanned: 16 levels of 8 cells, enough to overlap all their
 * loads. */
#define GRID_MOST_HITS   CAROM_GRID_FLUSH
#define GRID_MOST_VISITS 128u

/* ---- Cells of an item ------------------------------------------------------------------------ */

/* The cells of an item on a level: the entries whose bits are set in `set`. */
typedef struct grid_cpu_entries {
    uint64_t set;
    uint32_t buckets[CAROM_GRID_MOST_CELLS], tags[CAROM_GRID_MOST_CELLS];
} grid_cpu_entries;

/* Which of eight cells an item has; indexed by the mask of axes along which it has two. */
static const uint8_t sets_of_eight[8] = {0x01, 0x03, 0x05, 0x0F, 0x11, 0x33, 0x55, 0xFF};

/* Computes all eight cells of a 2 x 2 x 2 block at once, by the formulas of grid_item.h. */
static inline void enter_eight(const carom_grid_table *table, const carom_grid_cells *cells,
                               uint32_t level, grid_cpu_entries *p) {
    const carom_u32x8 right = {0, 1, 0, 1, 0, 1, 0, 1}, up = {0, 0, 1, 1, 0, 0, 1, 1},
                      behind = {0, 0, 0, 0, 1, 1, 1, 1}, lower = {7, 6, 5, 4, 3, 2, 1, 0};
    carom_grid_cells on = carom_grid_cells_on(cells, level);
    uint32_t covered[3];
    for (int k = 0; k < 3; ++k)
        covered[k] = carom_grid_quarters(cells->low[k], cells->high[k], level);
    carom_u32x8 x = right + on.low[0], y = up + on.low[1], z = behind + on.low[2];
    carom_u32x8 hash = ((x >> 1) * 0x9E3779B1u ^ (y >> 1) * 0x85EBCA77u) +
                       ((z >> 1) * 0xC2B2AE3Du ^ level * 0x27D4EB2Fu);
    hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
    hash = (hash ^ hash >> 13) >> table->block_shift;
    carom_u32x8 buckets = hash << 3 | (x & 1u) | (y & 1u) << 1 | (z & 1u) << 2;
    carom_u32x8 tags = (x & 7u) << CAROM_GRID_TAG_CELL | (y & 7u) << (CAROM_GRID_TAG_CELL + 3) |
                       (z & 7u) << (CAROM_GRID_TAG_CELL + 6) | level << CAROM_GRID_TAG_LEVEL |
                       lower;
    carom_u32x8 quarters = (covered[0] >> (right << 2) & 15u) |
                           (covered[1] >> (up << 2) & 15u) << 4 |
                           (covered[2] >> (behind << 2) & 15u) << 8;
    tags |= quarters << CAROM_GRID_TAG_QUARTERS;
    carom_u32x8_store(p->buckets, buckets);
    carom_u32x8_store(p->tags, tags);
    p->set = sets_of_eight[(on.high[0] - on.low[0]) | (on.high[1] - on.low[1]) << 1 |
                           (on.high[2] - on.low[2]) << 2];
}

/* The general case: any number of cells and any hash. */
__attribute__((noinline)) static void enter_each(const carom_grid_table *table,
                                                 const carom_grid_cells *cells, uint32_t level,
                                                 grid_cpu_entries *p) {
    uint32_t count = carom_grid_enter(table, cells, level, p->buckets, p->tags);
    CAROM_ASSERT(count >= 1 && count <= CAROM_GRID_MOST_CELLS);
    p->set = ~UINT64_C(0) >> (64 - count);
}

/* The eight lanes are the entries of grid_item.h: compared for one item in GRID_ITEMS_PER_CHECK, as
 * that takes longer than the lanes. Release builds could not leave the loops of grid_item.h out. */
#ifdef CAROM_CHECKS
#define GRID_ITEMS_PER_CHECK 8u
static void grid_check_eight(const carom_grid_table *table, const carom_grid_cells *cells,
                             uint32_t level, const grid_cpu_entries *p) {
    uint32_t buckets[CAROM_GRID_MOST_CELLS], tags[CAROM_GRID_MOST_CELLS], i = 0;
    if (cells->low[0] % GRID_ITEMS_PER_CHECK != 0) return;
    uint32_t count = carom_grid_enter(table, cells, level, buckets, tags);
    CAROM_ASSERT(count == (uint32_t)__builtin_popcountll(p->set));
    for (uint64_t set = p->set; set != 0; set &= set - 1, ++i)
        CAROM_ASSERT(p->buckets[__builtin_ctzll(set)] == buckets[i] &&
                     p->tags[__builtin_ctzll(set)] == tags[i]);
}
#else
#define grid_check_eight(table, cells, level, p) ((void)0)
#endif

static inline void grid_cpu_enter(const carom_grid_table *table, const carom_grid_cells *cells,
                                  uint32_t level, grid_cpu_entries *p) {
    uint32_t wide = 0;
    for (int k = 0; k < 3; ++k) wide |= (cells->high[k] >> level) - (cells->low[k] >> level);
    if (table->block_shift != 0 && wide <= 1u) {
        enter_eight(table, cells, level, p);
        grid_check_eight(table, cells, level, p);
    } else {
        enter_each(table, cells, level, p);
    }
}

static inline carom_grid_cells cells_of_rank(const carom_grid_view *view, uint32_t rank) {
    carom_box box = carom_grid_box(view, rank);
    return carom_grid_cells_of(&view->space, &box);
}

static inline bool enter_rank(const carom_grid_view *view, uint32_t rank, grid_cpu_entries *p) {
    uint32_t level = view->levels[rank];
    if (level == CAROM_GRID_NOWHERE) return false;
    carom_grid_cells cells = cells_of_rank(view, rank);
    grid_cpu_enter(&view->table, &cells, level, p);
    return true;
}

static inline uint32_t grid_cpu_lowest(uint64_t set) {
    return (uint32_t)__builtin_ctzll(set);
}

void CAROM_CPU(carom_grid_count)(const carom_grid_view *view, uint32_t first, uint32_t end,
                                 bool shared, uint32_t *counts) {
    grid_cpu_entries p;
    for (uint32_t rank = first; rank < end; ++rank) {
        if (!enter_rank(view, rank, &p)) continue;
        for (; p.set != 0; p.set &= p.set - 1) {
            uint32_t *count = &counts[p.buckets[grid_cpu_lowest(p.set)]];
            if (shared)
                (void)__atomic_fetch_add(count, 1u, __ATOMIC_RELAXED);
            else
                ++*count;
        }
    }
}

void CAROM_CPU(carom_grid_fill)(const carom_grid_view *view, uint32_t first, uint32_t end,
                                bool shared, uint32_t *ends, uint32_t *ranks, uint32_t *tags) {
    grid_cpu_entries p;
    for (uint32_t rank = end; rank-- > first;) {
        if (!enter_rank(view, rank, &p)) continue;
        for (; p.set != 0; p.set &= p.set - 1) {
            uint32_t i = grid_cpu_lowest(p.set), *last = &ends[p.buckets[i]];
            uint32_t at = shared ? __atomic_sub_fetch(last, 1u, __ATOMIC_RELAXED) : --*last;
            CAROM_ASSERT(at < UINT32_MAX && p.buckets[i] < view->table.bucket_count);
            ranks[at] = rank;
            tags[at] = p.tags[i];
        }
    }
}

/* ---- Query of one box ------------------------------------------------------------------------ */

/* A bucket to be scanned for entries that match `tags` and have a rank of at least `after`. */
typedef struct grid_cpu_visit {
    uint32_t bucket, at, end, tags, after;
} grid_cpu_visit;

typedef struct grid_cpu_query {
    const carom_grid_view *view;
    carom_grid_found *found;
    carom_grid_cells cells; /* of level 0 */
    float bounds[8];        /* high x, y, z, then -low; overlap: no value of the box is larger */
    uint32_t a;
    uint32_t visit_count, hit_count;
    grid_cpu_visit visits[GRID_MOST_VISITS + CAROM_GRID_MOST_CELLS];
    uint32_t hits[GRID_MOST_HITS + CAROM_LANES];
} grid_cpu_query;

static inline bool grid_cpu_overlaps(const grid_cpu_query *q, uint32_t rank) {
    const float *box = q->view->boxes + 8 * (uint64_t)rank;
    carom_lanes below =
        carom_f32x8_lanes_at_most(carom_f32x8_load(box), carom_f32x8_load(q->bounds));
    return (below & 0x3F) == 0x3F;
}

/* Compares the boxes of the matching entries. */
static inline bool grid_cpu_flush(grid_cpu_query *q) {
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
            count += grid_cpu_overlaps(q, rank) ? 1u : 0u;
        }
        CAROM_ASSERT(count <= CAROM_GRID_FOUND);
        found->count = count;
    }
    q->hit_count = 0;
    return true;
}

/* Tests an entry whose tags cannot decide. */
static bool test_entry(grid_cpu_query *q, const grid_cpu_visit *v, uint32_t entry) {
    const carom_grid_view *view = q->view;
    uint32_t rank = view->ranks[entry], level = v->tags >> CAROM_GRID_TAG_LEVEL & 31u;
    if (view->levels[rank] != level || rank < v->after || !grid_cpu_overlaps(q, rank)) return true;
    carom_grid_cells cells = cells_of_rank(view, rank);
    if (!carom_grid_is_once(&view->table, &q->cells, &cells, level, v->bucket)) return true;
    if (q->hit_count >= GRID_MOST_HITS && !grid_cpu_flush(q)) return false;
    CAROM_ASSERT(q->hit_count < GRID_MOST_HITS + CAROM_LANES);
    q->hits[q->hit_count++] = entry;
    return true;
}

/* Compares the entries of a bucket with the query's tags for it. */
static inline bool grid_cpu_scan(grid_cpu_query *q, const grid_cpu_visit *v) {
    const carom_grid_view *view = q->view;
    uint32_t at = v->at, end = v->end;
    if ((v->tags & CAROM_GRID_TAG_MULTI) != 0) {
        for (; at < end; ++at)
            if (!test_entry(q, v, at)) return false;
        return true;
    }
    carom_u32v mask = carom_u32v_splat(carom_grid_match_mask(v->tags));
    carom_u32v value = carom_u32v_splat(carom_grid_match_value(v->tags) | CAROM_GRID_QUARTERS_TOP);
    carom_u32v after = carom_u32v_splat(v->after), quarters = carom_u32v_splat(v->tags);
    do {
        carom_u32v entry = carom_u32v_load(view->tags + at);
        carom_u32v common = entry & quarters; /* carom_grid_match from here on */
        common |= (common & CAROM_GRID_QUARTERS_LOW) + CAROM_GRID_QUARTERS_LOW;
        carom_i32v match =
            (carom_i32v)(((entry & mask) | (common & CAROM_GRID_QUARTERS_TOP)) == value) &
            (carom_i32v)(carom_u32v_load(view->ranks + at) >= after);
        carom_i32v several = (carom_i32v)((entry & CAROM_GRID_TAG_MULTI) != 0u);
        CAROM_ASSERT(at < end);
        uint32_t left = CAROM_MIN(end - at, CAROM_LANES);
        carom_lanes there = ~0u >> (32 - left), undecided = carom_lanes_of(several) & there;
        if (q->hit_count + CAROM_LANES > GRID_MOST_HITS && !grid_cpu_flush(q)) return false;
        q->hit_count += carom_lanes_list(carom_lanes_of(match) & there & ~undecided, at,
                                         &q->hits[q->hit_count]);
        for (; undecided != 0; undecided &= undecided - 1)
            if (!test_entry(q, v, at + (uint32_t)__builtin_ctz(undecided))) return false;
        at += CAROM_LANES;
    } while (at < end);
    return true;
}

/* Lists the buckets to scan on one level. All their starts are loaded first, so that the memory
 * accesses overlap. Empty buckets are dropped without a branch. */
static inline void grid_cpu_look(grid_cpu_query *q, uint32_t level, uint32_t after) {
    const carom_grid_view *view = q->view;
    grid_cpu_entries p;
    grid_cpu_enter(&view->table, &q->cells, level, &p);
    for (; p.set != 0; p.set &= p.set - 1) {
        uint32_t i = grid_cpu_lowest(p.set), bucket = p.buckets[i];
        grid_cpu_visit *v = &q->visits[q->visit_count];
        *v = (grid_cpu_visit){bucket, view->starts[bucket], view->starts[bucket + 1], p.tags[i],
                              after};
        CAROM_ASSERT(v->at <= v->end && q->visit_count < GRID_MOST_VISITS + CAROM_GRID_MOST_CELLS);
        q->visit_count += v->at < v->end ? 1u : 0u;
        ++q->found->visits;
    }
}

static inline bool grid_cpu_scan_all(grid_cpu_query *q) {
    for (uint32_t i = 0; i < q->visit_count; ++i)
        if (!grid_cpu_scan(q, &q->visits[i])) return false;
    q->visit_count = 0;
    return true;
}

/* Queries all levels of a mask, then scans the remaining buckets and compares the remaining boxes.
 */
static inline bool look_on(grid_cpu_query *q, uint32_t levels) {
    for (; levels != 0; levels &= levels - 1) {
        if (q->visit_count > GRID_MOST_VISITS && !grid_cpu_scan_all(q)) return false;
        grid_cpu_look(q, (uint32_t)__builtin_ctz(levels), 0);
    }
    return grid_cpu_scan_all(q) && grid_cpu_flush(q);
}

static inline void grid_cpu_begin(grid_cpu_query *q, const carom_box *box, uint32_t a) {
    q->a = a;
    q->cells = carom_grid_cells_of(&q->view->space, box);
    q->visit_count = q->hit_count = 0;
    for (int k = 0; k < 3; ++k) {
        q->bounds[k] = box->high[k];
        q->bounds[3 + k] = -box->low[k];
    }
    q->bounds[6] = q->bounds[7] = 0.0f;
}

bool CAROM_CPU(carom_grid_self)(const carom_grid_view *view, uint32_t first, uint32_t end,
                                carom_grid_found *found) {
    grid_cpu_query q;
    q.view = view;
    q.found = found;
    for (uint32_t rank = first; rank < end; ++rank) {
        uint32_t level = view->levels[rank];
        if (level == CAROM_GRID_NOWHERE) continue;
        carom_box box = carom_grid_box(view, rank);
        grid_cpu_begin(&q, &box, rank);
        grid_cpu_look(&q, level, rank + 1);
        if (!look_on(&q, level < 31 ? view->level_mask & ~0u << (level + 1) : 0u)) return false;
    }
    return true;
}

bool CAROM_CPU(carom_grid_find)(const carom_grid_view *view, const carom_box *box, uint32_t level,
                                uint32_t a, carom_grid_found *found) {
    grid_cpu_query q;
    q.view = view;
    q.found = found;
    uint32_t levels = level < 32 ? view->level_mask & ~0u << level : 0u;
    if (levels == 0) return true;
    grid_cpu_begin(&q, box, a);
    return look_on(&q, levels);
}
