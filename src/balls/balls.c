/* SPDX-License-Identifier: MIT */
/* Creating and changing the grid of a packing's spheres: frame, order, levels, count, scan, fill.
 *
 * Spheres are ordered along a Morton curve, so that those near in space are near in memory, and
 * entered by descending reach, so that the entries of a bucket are sorted by it (balls_item.h).
 * Entries are counted before they are written. With several threads they arrive in any order and
 * are sorted afterwards, so the grid's bytes depend on the spheres alone.
 *
 * An update builds a second grid and exchanges the two at the end: a failure changes nothing. */
#include "balls/balls.h"

#include "base/array.h"
#include "base/names.h"
#include "base/progress.h"
#include "base/scan.h"
#include "base/sort.h"
#include "grid/grid.h"
#include "spheres/spheres_overlap.h"

#define BALLS_PREFETCH_SPHERES   8u    /* spheres fetched before they are entered: some 400 ns */
#define BALLS_SPHERES_PER_RANGE  1024u /* spheres per range */
#define MOST_SPHERES             (UINT64_C(1) << 31)
#define MOST_BLOCKS              (UINT32_C(1) << 28) /* an entry's number has 32 bits */
#define BALLS_ENTRIES_PER_BUCKET 4u /* entries: cells have ten times as many where dense */
#define BALLS_SPARE_DIVIDE       8u /* part that blocks are allocated beyond need: spheres move */
/* Buckets per sphere on a GPU, so that most have one entry at most: warps wait for the fullest. */
#define BALLS_CUDA_BUCKETS 8u
/* Cells of a cube around a ball that the ball meets, nearly. */
#define BALLS_CUBE_PART (CAROM_PI / 6.0)

CAROM_ENUM_NAMES(carom_balls_pair_kind, CAROM_BALLS_PAIR_KIND_COUNT, "secondary", "inner", "cover");

typedef struct balls_build {
    carom_context *context;
    const carom_spheres_view *spheres;
    carom_balls_grid *grid;
    uint32_t *keys, *order; /* sphere of each rank; then ranks, largest reach first */
    uint32_t *counts;       /* entries of each bucket; then those written */
    uint64_t *cell_keys;    /* of a perfect hash; NULL: only count them */
    _Atomic uint64_t cells;
    bool shared; /* several threads */
} balls_build;

/* ---- Memory ---------------------------------------------------------------------------------- */

static void release_spheres(const carom_allocator *allocator, carom_balls_grid *g) {
    CAROM_RELEASE_ALL(allocator, g->spheres, g->x, g->y, g->z, g->reach, g->near);
    g->spheres = NULL;
    g->x = g->y = g->z = NULL;
    g->reach = g->near = NULL;
    g->sphere_capacity = 0;
}

static void release_grid(const carom_allocator *allocator, carom_balls_grid *g) {
    release_spheres(allocator, g);
    CAROM_RELEASE_ALL(allocator, g->starts, g->blocks, g->displacements);
    *g = (carom_balls_grid){0};
}

static uint64_t balls_bytes_of(const carom_balls_grid *g) {
    return g->sphere_capacity * (sizeof(*g->spheres) + 3 * sizeof(double) + 2 * sizeof(float)) +
           g->bucket_capacity * sizeof(*g->starts) + g->block_capacity * sizeof(*g->blocks) +
           g->group_capacity * sizeof(*g->displacements);
}

static carom_status make_room_for_spheres(carom_context *context, const carom_allocator *allocator,
                                          uint64_t count, carom_balls_grid *g) {
    uint64_t room = count + CAROM_BALLS_PADDING;
    if (room > g->sphere_capacity) {
        release_spheres(allocator, g);
        const carom_allocation arrays[] = {
            CAROM_ALLOCATION(g->spheres, room), CAROM_ALLOCATION(g->x, room),
            CAROM_ALLOCATION(g->y, room),       CAROM_ALLOCATION(g->z, room),
            CAROM_ALLOCATION(g->reach, room),   CAROM_ALLOCATION(g->near, room)};
        if (!carom_allocate_all(allocator, arrays, sizeof(arrays) / sizeof(*arrays)))
            return carom_fail_memory(
                context, room * (sizeof(*g->spheres) + 3 * sizeof(double) + 2 * sizeof(float)),
                "spheres");
        g->sphere_capacity = room;
    }
    for (uint64_t i = count; i < room; ++i) {
        g->x[i] = g->y[i] = g->z[i] = 0.0;
        g->reach[i] = g->near[i] = 0.0f;
    }
    carom_balls_view *v = &g->view;
    v->spheres = g->spheres;
    v->x = g->x;
    v->y = g->y;
    v->z = g->z;
    v->reach = g->reach;
    v->near = g->near;
    return CAROM_OK;
}

/* ---- Frame and order ------------------------------------------------------------------------- */

/* Chooses the units of the grid. */
static void balls_make_frame(const carom_spheres_view *spheres, carom_balls_view *view) {
    carom_bounds bounds = carom_bounds_empty();
    double reach = 0.0, size = 0.0;
    for (uint64_t i = 0; i < spheres->count; ++i) {
        double r = carom_balls_reach(&spheres->data[i]);
        reach = CAROM_MAX(r, reach);
        carom_bounds_include(&bounds, spheres->data[i].centre);
    }
    const double low[3] = {bounds.low.x, bounds.low.y, bounds.low.z};
    const double high[3] = {bounds.high.x, bounds.high.y, bounds.high.z};
    for (int k = 0; k < 3; ++k) {
        bool any = low[k] <= high[k];
        double side = any ? high[k] - low[k] : 0.0;
        size = CAROM_MAX(side, size);
        view->low[k] = any ? low[k] : 0.0;
    }
    view->ball.centre =
        carom_vec(0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]));
    view->ball.radius = 0.0;
    for (uint64_t i = 0; i < spheres->count; ++i) {
        const carom_packing_sphere *s = &spheres->data[i];
        double far =
            carom_length(carom_vec_sub(s->centre, view->ball.centre)) + carom_balls_reach(s);
        view->ball.radius = CAROM_MAX(far, view->ball.radius);
    }
    size += 2.0 * reach;
    view->unit = size > 0.0 ? carom_power_of_two(-carom_exponent(size) - 1) : 1.0;
}

static carom_status balls_make_keys(void *argument, carom_range range) {
    balls_build *b = argument;
    const carom_balls_view *view = &b->grid->view;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        float position[3];
        carom_balls_position(view, b->spheres->data[i].centre, position);
        for (int k = 0; k < 3; ++k) CAROM_ASSERT(position[k] >= 0.0f && position[k] <= 1.0f);
        b->keys[i] = carom_balls_key(position);
        b->order[i] = (uint32_t)i;
    }
    return CAROM_OK;
}

static carom_status balls_sort_spheres(void *argument, carom_range range) {
    balls_build *b = argument;
    carom_balls_grid *g = b->grid;
    carom_balls_view *view = &g->view;
    for (uint64_t rank = range.begin; rank < range.end; ++rank) {
        uint32_t index = b->order[rank];
        const carom_packing_sphere *s = &b->spheres->data[index];
        double near = CAROM_MAX(s->radius, s->secondary);
        g->spheres[rank] =
            (carom_balls_sphere){.centre = s->centre,
                                 .radius = s->radius,
                                 .secondary = s->secondary,
                                 .cover = s->cover,
                                 .voids = carom_spheres_void_units(&view->extent, s->void_volume),
                                 .index = index};
        g->x[rank] = s->centre.x;
        g->y[rank] = s->centre.y;
        g->z[rank] = s->centre.z;
        g->reach[rank] = carom_float_up(carom_balls_reach(s) * view->unit, 0.0);
        g->near[rank] = carom_float_up(near * view->unit, 0.0);
        CAROM_ASSERT((double)g->reach[rank] >= carom_balls_reach(s) * view->unit);
        CAROM_ASSERT((double)g->near[rank] >= near * view->unit && g->near[rank] <= g->reach[rank]);
    }
    return CAROM_OK;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* What levels are chosen from: the reaches. */
typedef struct balls_reaches {
    float least, most;
} balls_reaches;

static balls_reaches begin_reaches(carom_balls_view *view) {
    view->covers_largest = true;
    for (int k = 0; k < 3; ++k) {
        view->box_low[k] = HUGE_VALF;
        view->box_high[k] = -HUGE_VALF;
    }
    return (balls_reaches){HUGE_VALF, 0.0f};
}

/* Extends reaches and the box of all entries by a sphere. */
static void include_sphere(carom_balls_view *view, carom_vec3 centre, float reach,
                           balls_reaches *r) {
    float position[3], far = carom_balls_entry_reach(reach);
    carom_balls_position(view, centre, position);
    r->least = CAROM_MIN(reach, r->least);
    r->most = CAROM_MAX(reach, r->most);
    for (int k = 0; k < 3; ++k) {
        float low = position[k] - far, high = position[k] + far;
        view->box_low[k] = CAROM_MIN(low, view->box_low[k]);
        view->box_high[k] = CAROM_MAX(high, view->box_high[k]);
    }
}

/* Chooses the cells of the levels. `first`: CAROM_BALLS_FIRST_EDGE, or that of GPUs. */
static void choose_levels(carom_balls_view *view, balls_reaches r, double cell_scale, float first) {
    view->fit = cell_scale == 0.0 ? 1.0f : (float)cell_scale;
    view->level_count = 0;
    if (view->count == 0) return;
    float edge = first * view->fit * (r.least + CAROM_BALLS_SLACK), bottom = 0.0f;
    for (uint32_t level = 0;; ++level, edge *= CAROM_BALLS_STEP) {
        CAROM_ASSERT(level < CAROM_BALLS_LEVELS);
        view->edge[level] = edge;
        view->inverse[level] = 1.0f / edge;
        view->bottom[level] = bottom;
        view->top[level] = edge / view->fit - CAROM_BALLS_SLACK;
        view->level_count = level + 1;
        CAROM_ASSERT(bottom <= view->top[level]);
        if (r.most <= view->top[level]) break;
        bottom = -carom_float_below(-view->top[level]);
    }
}

static void make_levels(const carom_balls_grid *g, carom_balls_view *view, double cell_scale) {
    balls_reaches r = begin_reaches(view);
    for (uint32_t rank = 0; rank < view->count; ++rank) {
        const carom_balls_sphere *s = &g->spheres[rank];
        include_sphere(view, s->centre, g->reach[rank], &r);
        view->covers_largest &= s->cover >= s->secondary && s->cover >= s->radius;
    }
    choose_levels(view, r, cell_scale, CAROM_BALLS_FIRST_EDGE);
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* The cells of a sphere. */
static uint32_t balls_cells_of(const carom_balls_grid *g, uint32_t rank,
                               uint32_t cells[3 * CAROM_BALLS_MOST_CELLS]) {
    float position[3];
    carom_balls_position(&g->view, g->spheres[rank].centre, position);
    return carom_balls_cells(&g->view, position, g->reach[rank], g->spheres[rank].level, cells);
}

/* Levels, and at least the number of cells, for the size of the table. */
static carom_status balls_set_levels(void *argument, carom_range range) {
    balls_build *b = argument;
    carom_balls_grid *g = b->grid;
    uint64_t count = 0;
    for (uint64_t rank = range.begin; rank < range.end; ++rank) {
        uint32_t reach;
        g->spheres[rank].level = carom_balls_level(&g->view, g->reach[rank]);
        CAROM_ASSERT(g->spheres[rank].level < g->view.level_count);
        float position[3];
        carom_balls_position(&g->view, g->spheres[rank].centre, position);
        carom_grid_cells box =
            carom_balls_box(&g->view, position, g->reach[rank], g->spheres[rank].level);
        uint64_t sides = 1;
        for (int k = 0; k < 3; ++k) sides *= box.high[k] - box.low[k] + 1;
        count += sides;
        memcpy(&reach, &g->reach[rank], sizeof(reach)); /* floats above 0 are ordered like bits */
        b->keys[rank] = ~reach;
        b->order[rank] = (uint32_t)rank;
    }
    atomic_fetch_add(&b->cells, count);
    return CAROM_OK;
}

/* On one thread. Returns how many there are. */
static uint64_t list_cell_keys(balls_build *b) {
    uint32_t cells[3 * CAROM_BALLS_MOST_CELLS];
    uint64_t at = 0;
    for (uint32_t rank = 0; rank < b->grid->view.count; ++rank) {
        uint32_t count = balls_cells_of(b->grid, rank, cells), level = b->grid->spheres[rank].level;
        for (uint32_t i = 0; i < count; ++i)
            b->cell_keys[at++] =
                carom_grid_perfect_key(cells[3 * i], cells[3 * i + 1], cells[3 * i + 2], level);
    }
    CAROM_ASSERT(at <= atomic_load(&b->cells)); /* for which there is space */
    return at;
}

static carom_status balls_count_entries(void *argument, carom_range range) {
    balls_build *b = argument;
    uint32_t cells[3 * CAROM_BALLS_MOST_CELLS], buckets[CAROM_BALLS_MOST_CELLS];
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t rank = (uint32_t)i, count = balls_cells_of(b->grid, rank, cells);
        count = carom_balls_buckets(&b->grid->view, cells, count, b->grid->spheres[rank].level,
                                    buckets);
        for (uint32_t k = 0; k < count; ++k) {
            if (b->shared)
                (void)__atomic_fetch_add(&b->counts[buckets[k]], 1u, __ATOMIC_RELAXED);
            else
                ++b->counts[buckets[k]];
        }
    }
    return CAROM_OK;
}

static void write_entry(carom_balls_block *block, uint32_t transform, const float position[3],
                        float reach, float near, uint32_t rank) {
    block->x[transform] = position[0];
    block->y[transform] = position[1];
    block->z[transform] = position[2];
    block->reach[transform] = reach;
    block->near[transform] = near;
    block->rank[transform] = rank;
}

static carom_status balls_fill_entries(void *argument, carom_range range) {
    balls_build *b = argument;
    carom_balls_grid *g = b->grid;
    uint32_t cells[3 * CAROM_BALLS_MOST_CELLS], buckets[CAROM_BALLS_MOST_CELLS];
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint32_t next = b->order[CAROM_MIN(i + BALLS_PREFETCH_SPHERES, range.end - 1)];
        __builtin_prefetch(&g->spheres[next]);
        __builtin_prefetch(&g->reach[next]);
        __builtin_prefetch(&g->near[next]);
        uint32_t rank = b->order[i], count = balls_cells_of(g, rank, cells);
        float position[3];
        carom_balls_position(&g->view, g->spheres[rank].centre, position);
        count = carom_balls_buckets(&g->view, cells, count, g->spheres[rank].level, buckets);
        for (uint32_t k = 0; k < count; ++k) {
            uint32_t *written = &b->counts[buckets[k]];
            uint32_t at =
                b->shared ? __atomic_fetch_add(written, 1u, __ATOMIC_RELAXED) : (*written)++;
            carom_balls_block *block = g->blocks + g->starts[buckets[k]] + at / CAROM_BALLS_BLOCK;
            CAROM_ASSERT(block < g->blocks + g->starts[buckets[k] + 1]);
            write_entry(block, at % CAROM_BALLS_BLOCK, position, g->reach[rank], g->near[rank],
                        rank);
        }
    }
    return CAROM_OK;
}

typedef struct balls_entry {
    float position[3], reach, near;
    uint32_t rank;
} balls_entry;

static balls_entry read_entry(const carom_balls_block *blocks, uint32_t i) {
    const carom_balls_block *b = blocks + i / CAROM_BALLS_BLOCK;
    uint32_t k = i % CAROM_BALLS_BLOCK;
    return (balls_entry){{b->x[k], b->y[k], b->z[k]}, b->reach[k], b->near[k], b->rank[k]};
}

static void put_entry(carom_balls_block *blocks, uint32_t i, const balls_entry *e) {
    write_entry(blocks + i / CAROM_BALLS_BLOCK, i % CAROM_BALLS_BLOCK, e->position, e->reach,
                e->near, e->rank);
}

static bool balls_is_before(const balls_entry *a, const balls_entry *b) {
    return a->reach > b->reach || (a->reach == b->reach && a->rank < b->rank);
}

/* Shell sort: buckets are nearly sorted, and short except in tables that are far too small. */
static void balls_sort_entries(carom_balls_block *blocks, uint32_t count) {
    uint32_t gap = 1;
    while (gap < count / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (uint32_t i = gap; i < count; ++i) {
            balls_entry moved = read_entry(blocks, i), other;
            uint32_t at = i;
            for (; at >= gap; at -= gap) {
                other = read_entry(blocks, at - gap);
                if (!balls_is_before(&moved, &other)) break;
                put_entry(blocks, at, &other);
            }
            if (at != i) put_entry(blocks, at, &moved);
        }
    }
}

/* In checked builds: the entries of a bucket are in order, none twice, and as many as counted. */
static void balls_check_bucket(const balls_build *b, uint64_t bucket, uint32_t count) {
#ifdef CAROM_CHECKS
    const uint32_t *starts = b->grid->starts;
    const carom_balls_block *blocks = b->grid->blocks + starts[bucket];
    CAROM_ASSERT((count + CAROM_BALLS_BLOCK - 1) / CAROM_BALLS_BLOCK ==
                 starts[bucket + 1] - starts[bucket]);
    for (uint32_t i = 1; i < count; ++i) {
        balls_entry before = read_entry(blocks, i - 1), after = read_entry(blocks, i);
        CAROM_ASSERT(balls_is_before(&before, &after) && after.rank < b->grid->view.count);
    }
#else
    (void)b, (void)bucket, (void)count;
#endif
}

/* Sorts the entries of buckets and marks what is left of their last blocks. */
static carom_status finish_buckets(void *argument, carom_range range) {
    balls_build *b = argument;
    const float nowhere[3] = {0.0f, 0.0f, 0.0f};
    for (uint64_t bucket = range.begin; bucket < range.end; ++bucket) {
        carom_balls_block *blocks = b->grid->blocks + b->grid->starts[bucket];
        uint32_t count = b->counts[bucket];
        if (b->shared) balls_sort_entries(blocks, count);
        balls_check_bucket(b, bucket, count);
        for (uint32_t i = count; i % CAROM_BALLS_BLOCK != 0; ++i)
            write_entry(blocks + i / CAROM_BALLS_BLOCK, i % CAROM_BALLS_BLOCK, nowhere, -1.0f, 0.0f,
                        0);
    }
    return CAROM_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static carom_status order_spheres(balls_build *b) {
    uint64_t count = b->grid->view.count;
    CAROM_TRY(carom_parallel_for(b->context, count, BALLS_SPHERES_PER_RANGE, balls_make_keys, b));
    CAROM_TRY(carom_sort_keys(b->context, b->keys, b->order, count));
    return carom_parallel_for(b->context, count, BALLS_SPHERES_PER_RANGE, balls_sort_spheres, b);
}

static carom_status choose_table(balls_build *b, const carom_allocator *allocator,
                                 const carom_grid_def *def) {
    carom_balls_grid *g = b->grid;
    uint64_t cells = atomic_load(&b->cells);
    uint32_t wanted = (uint32_t)CAROM_MIN(cells / BALLS_ENTRIES_PER_BUCKET, UINT32_MAX);
    carom_grid_choose_table(def, wanted, &g->view.table);
    if (def->hash != CAROM_GRID_HASH_PERFECT) return CAROM_OK;
    b->cell_keys = CAROM_ARENA_TAKE(carom_scratch(b->context, 0), uint64_t, cells);
    if (b->cell_keys == NULL)
        return carom_fail_memory(b->context, cells * sizeof(*b->cell_keys), "a perfect hash");
    cells = list_cell_keys(b);
    return carom_grid_perfect_table(b->context, allocator, b->cell_keys, cells, &g->view.table,
                                    &g->displacements, &g->group_capacity);
}

static carom_status balls_make_room_for_entries(balls_build *b, const carom_allocator *allocator) {
    carom_balls_grid *g = b->grid;
    uint64_t buckets = g->view.table.bucket_count, blocks = 0;
    for (uint64_t i = 0; i < buckets; ++i) {
        g->starts[i] = (b->counts[i] + CAROM_BALLS_BLOCK - 1) / CAROM_BALLS_BLOCK;
        blocks += g->starts[i];
        g->entries += b->counts[i];
    }
    if (blocks > MOST_BLOCKS)
        return carom_fail(b->context, CAROM_TOO_LARGE, "too many spheres for a grid: %u",
                          g->view.count);
    CAROM_TRY(carom_scan_u32(b->context, g->starts, buckets, g->starts));
    if (blocks + 1 > g->block_capacity) {
        carom_release(allocator, g->blocks);
        uint64_t capacity = blocks + blocks / BALLS_SPARE_DIVIDE + 1;
        g->blocks = carom_allocate(allocator, capacity, sizeof(*g->blocks));
        g->block_capacity = g->blocks != NULL ? capacity : 0;
        if (g->blocks == NULL)
            return carom_fail_memory(b->context, capacity * sizeof(*g->blocks), "a grid");
    }
    g->view.blocks = g->blocks;
    return CAROM_OK;
}

static carom_status balls_enter_spheres(balls_build *b, const carom_allocator *allocator,
                                        const carom_grid_def *def) {
    carom_balls_grid *g = b->grid;
    uint64_t count = g->view.count;
    make_levels(g, &g->view, def->cell_scale);
    CAROM_TRY(carom_parallel_for(b->context, count, BALLS_SPHERES_PER_RANGE, balls_set_levels, b));
    CAROM_TRY(choose_table(b, allocator, def));
    CAROM_TRY(carom_sort_keys(b->context, b->keys, b->order, count));
    uint64_t buckets = g->view.table.bucket_count;
    if (buckets + 1 > g->bucket_capacity) {
        carom_release(allocator, g->starts);
        g->starts = carom_allocate(allocator, buckets + 1, sizeof(*g->starts));
        g->bucket_capacity = g->starts != NULL ? buckets + 1 : 0;
    }
    b->counts = CAROM_ARENA_TAKE(carom_scratch(b->context, 0), uint32_t, buckets);
    if (g->starts == NULL || b->counts == NULL)
        return carom_fail_memory(b->context, buckets * (sizeof(*g->starts) + sizeof(*b->counts)),
                                 "a grid");
    g->view.starts = g->starts;
    memset(b->counts, 0, buckets * sizeof(*b->counts));
    CAROM_TRY(
        carom_parallel_for(b->context, count, BALLS_SPHERES_PER_RANGE, balls_count_entries, b));
    CAROM_TRY(balls_make_room_for_entries(b, allocator));
    memset(b->counts, 0, buckets * sizeof(*b->counts));
    CAROM_TRY(
        carom_parallel_for(b->context, count, BALLS_SPHERES_PER_RANGE, balls_fill_entries, b));
    return carom_parallel_for(b->context, buckets, BALLS_SPHERES_PER_RANGE, finish_buckets, b);
}

static carom_status balls_build_grid(balls_build *b, const carom_allocator *allocator,
                                     const carom_grid_def *def) {
    carom_balls_grid *g = b->grid;
    uint64_t count = b->spheres->count;
    carom_arena *scratch = carom_scratch(b->context, 0);
    CAROM_TRY(make_room_for_spheres(b->context, allocator, count, g));
    g->view.count = (uint32_t)count;
    g->entries = 0;
    b->keys = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    b->order = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (b->keys == NULL || b->order == NULL)
        return carom_fail_memory(b->context, count * (sizeof(*b->keys) + sizeof(*b->order)),
                                 "a grid");
    balls_make_frame(b->spheres, &g->view);
    CAROM_TRY(order_spheres(b));
    return balls_enter_spheres(b, allocator, def);
}

static carom_status make_extent(carom_context *context, const carom_spheres_view *spheres,
                                const char *what, carom_spheres_extent *extent) {
    if (spheres->count > MOST_SPHERES)
        return carom_fail(context, CAROM_TOO_LARGE, "%s has %llu spheres; at most 2^31 can be",
                          what, (unsigned long long)spheres->count);
    return carom_spheres_extent_of(context, spheres, what, extent);
}

carom_status carom_balls_build(carom_context *context, const carom_allocator *allocator,
                               const carom_grid_def *def, const carom_spheres_view *spheres,
                               const char *what, carom_balls_grid *grid) {
    balls_build b = {
        .context = context, .spheres = spheres, .grid = grid, .shared = context->threads > 1};
    CAROM_TRY(make_extent(context, spheres, what, &grid->view.extent));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_progress_begin(context, "entering spheres in a grid", 0);
    carom_status status = carom_progress_finish(context, balls_build_grid(&b, allocator, def));
    carom_arena_rewind(scratch, mark);
    return status;
}

/* Chooses how many levels are also entered on level 0. */
static void choose_fine_levels(const carom_spheres_view *spheres, carom_balls_view *view) {
    double entries[CAROM_BALLS_LEVELS] = {0}, sides[CAROM_BALLS_LEVELS] = {0}, all = 0.0;
    for (uint64_t i = 0; i < spheres->count && view->level_count > 1; ++i) {
        float reach = carom_float_up(carom_balls_reach(&spheres->data[i]) * view->unit, 0.0);
        uint32_t level = carom_balls_level(view, reach);
        if (level == 0) continue;
        double side =
            2.0 * (double)carom_balls_entry_reach_on(view, reach, 0) / (double)view->edge[0] + 2.0;
        entries[level] += BALLS_CUBE_PART * (side * side * side);
        sides[level] = CAROM_MAX(side, sides[level]);
    }
    view->fine_levels = 0;
    for (uint32_t level = 1; level < view->level_count; ++level) {
        all += entries[level];
        if (sides[level] > CAROM_BALLS_FINE_SIDE ||
            all > CAROM_BALLS_FINE_ENTRIES * (double)view->count)
            return;
        view->fine_levels = level;
    }
}

carom_status carom_balls_describe(carom_context *context, const carom_grid_def *def,
                                  const carom_spheres_view *spheres, const char *what,
                                  carom_balls_view *view) {
    memset(view, 0, sizeof(*view));
    CAROM_TRY(make_extent(context, spheres, what, &view->extent));
    view->count = (uint32_t)spheres->count;
    balls_make_frame(spheres, view);
    balls_reaches r = begin_reaches(view);
    for (uint64_t i = 0; i < spheres->count; ++i) {
        const carom_packing_sphere *s = &spheres->data[i];
        include_sphere(view, s->centre, carom_float_up(carom_balls_reach(s) * view->unit, 0.0), &r);
        view->covers_largest &= s->cover >= s->secondary && s->cover >= s->radius;
    }
    choose_levels(view, r, def->cell_scale, CAROM_BALLS_CUDA_FIRST_EDGE);
    choose_fine_levels(spheres, view);
    uint64_t wanted = BALLS_CUDA_BUCKETS * spheres->count;
    carom_grid_choose_table(def, (uint32_t)CAROM_MIN(wanted, UINT32_MAX), &view->table);
    return CAROM_OK;
}

/* ---- Public functions ------------------------------------------------------------------------ */

carom_status carom_balls_create(carom_context *context, const carom_balls_def *def,
                                carom_balls **balls) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(balls, "set of balls");
    CAROM_REQUIRE_INPUT(def, "definition");
    CAROM_REQUIRE_INPUT(def->packing, "packing");
    *balls = NULL;
    CAROM_TRY(carom_grid_check(context, &def->grid));
    carom_balls *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "balls");
    *made = (carom_balls){.allocator = context->allocator, .def = def->grid};
    carom_spheres_view spheres;
    carom_status status = carom_spheres_of(context, def->packing, "the packing", &spheres);
    if (status == CAROM_OK)
        status = carom_balls_on_device(context)
                     ? carom_balls_device_build(context, made, &spheres, "the packing")
                     : carom_balls_build(context, &made->allocator, &made->def, &spheres,
                                         "the packing", &made->grid);
    if (status != CAROM_OK) {
        carom_balls_destroy(made);
        return status;
    }
    *balls = made;
    return CAROM_OK;
}

void carom_balls_destroy(carom_balls *balls) {
    if (balls == NULL) return;
    carom_allocator allocator = balls->allocator;
    release_grid(&allocator, &balls->grid);
    release_grid(&allocator, &balls->spare);
    carom_balls_device_release(balls);
    carom_release(&allocator, balls);
}

static carom_status balls_check_spheres(carom_context *context, const carom_packing_sphere *spheres,
                                        uint64_t count, double volume) {
    if (!(volume >= 0.0 && volume <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the volume of the solid is %g: it must be finite and not negative",
                          volume);
    for (uint64_t i = 0; i < count; ++i)
        if (!carom_vec_finite(spheres[i].centre))
            return carom_fail(context, CAROM_BAD_INPUT, "the centre of sphere %llu is not finite",
                              (unsigned long long)i);
    return CAROM_OK;
}

carom_status carom_balls_update(carom_context *context, carom_balls *balls,
                                const carom_packing_sphere *spheres, uint64_t count,
                                double volume) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(balls, "set of balls");
    CAROM_REQUIRE_INPUTS(spheres, count, "spheres");
    CAROM_TRY(carom_balls_check_backend(context, balls, balls));
    CAROM_TRY(balls_check_spheres(context, spheres, count, volume));
    const carom_spheres_view all = {spheres, count, volume};
    if (carom_balls_on_device(context))
        return carom_balls_device_build(context, balls, &all, "the update");
    CAROM_TRY(carom_balls_build(context, &balls->allocator, &balls->def, &all, "the update",
                                &balls->spare));
    carom_balls_grid old = balls->grid;
    balls->grid = balls->spare;
    balls->spare = old;
    return CAROM_OK;
}

carom_status carom_balls_get_info(const carom_balls *balls, carom_balls_info *info) {
    CAROM_REQUIRE_INPUT(balls, "set of balls");
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = (carom_balls_info){
        .spheres = balls->grid.view.count,
        .levels = balls->grid.view.level_count,
        .buckets = balls->grid.view.table.bucket_count,
        .entries = balls->device != NULL ? carom_balls_device_entries(balls) : balls->grid.entries,
        .bytes = sizeof(*balls) + balls_bytes_of(&balls->grid) + balls_bytes_of(&balls->spare) +
                 carom_balls_device_bytes(balls)};
    return CAROM_OK;
}
