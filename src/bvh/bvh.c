/* SPDX-License-Identifier: MIT */
/* Building the box tree: compute keys, sort, fill levels.
 *
 * Items are sorted along a Hilbert curve (trees over such curves: Kamel, Faloutsos 1994; Lauterbach
 * et al. 2009) of 1024^3 cells and cut into blocks of 16; every level above is 16 boxes of the
 * level below. Consecutive cells of the curve are adjacent, unlike those of a Morton curve: for
 * uniform boxes half as many pairs of blocks overlap. The tree is not balanced or optimised, so
 * building costs little more than the sort, and the tree can be rebuilt for every frame of a
 * deforming mesh. On the crumpled cloth of 250,000 triangles such a tree finds all overlapping
 * boxes with five tests of one box against sixteen per triangle.
 *
 * An item much larger than the rest would widen its block and all ancestors of the block. So the
 * two highest bits of the key are a size class (16, 256, 4096 times the median extent), which sorts
 * large items to the end, into separate blocks. */
#include "bvh/bvh.h"

#include <string.h>

#include "base/context.h"
#include "base/simd.h"
#include "base/sort.h"
#include "bvh/bvh_cpu.h"

#define BVH_BOXES_PER_BATCH 256u  /* boxes computed at a time, 6 KiB */
#define BVH_ITEMS_PER_RANGE 4096u /* items per range of a loop: some 0.1 ms */
/* Items whose median size is taken: known to 0.8 % of the ranks. */
#define SAMPLE 4096u
/* Items from which taking the sample, 0.5 ms of cache misses, is worth waking threads. */
#define SAMPLE_ON_THREADS_FROM (1u << 20)

typedef struct bvh_build {
    carom_context *context;
    carom_bvh *bvh;
    carom_bvh_boxes_fn *boxes;
    const void *user;
    uint32_t count;
    uint32_t *keys;
    carom_bvh_space space;
    uint32_t level; /* being filled */
} bvh_build;

static uint32_t divide_up(uint64_t a, uint32_t b) {
    return (uint32_t)((a + b - 1) / b);
}

/* ---- Hilbert keys ---------------------------------------------------------------------------- */

/* An evenly spaced sample of boxes, which depends on the input alone. */
typedef struct bvh_sample {
    const bvh_build *build;
    uint64_t count, step; /* box i is that of item i * step */
    carom_box *boxes;
} bvh_sample;

static carom_status take_sample(void *argument, carom_range range) {
    bvh_sample *s = argument;
    const bvh_build *b = s->build;
    for (uint64_t i = range.begin; i < range.end; ++i)
        b->boxes(b->user, NULL, (uint32_t)(i * s->step), 1, &s->boxes[i]);
    return CAROM_OK;
}

/* The median extent of the sample, and the bounds of the centres of those that are not much
 * larger. */
static int bvh_survey(const bvh_sample *s, carom_box *centres) {
    static carom_box none;
    uint32_t histogram[CAROM_BVH_EXPONENTS] = {0}, total = 0, below = 0;
    for (uint64_t i = 0; i < s->count; ++i) {
        const carom_box *box = &s->boxes[i];
        if (!(box->low[0] <= box->high[0])) continue; /* empty */
        CAROM_ASSERT(carom_bvh_size(box) >= 0 && carom_bvh_size(box) < CAROM_BVH_EXPONENTS);
        ++histogram[carom_bvh_size(box)];
        ++total;
    }
    int median = 0;
    while (median < CAROM_BVH_EXPONENTS - 1 && below + histogram[median] <= total / 2)
        below += histogram[median++];
    CAROM_ASSERT(median >= 0 && median < CAROM_BVH_EXPONENTS && below <= total);
    *centres = none;
    bool any = false;
    for (uint64_t i = 0; i < s->count; ++i) {
        const carom_box *box = &s->boxes[i];
        if (!(box->low[0] <= box->high[0]) || carom_bvh_size(box) >= median + CAROM_BVH_CLASS_STEP)
            continue;
        for (int k = 0; k < 3; ++k) {
            float centre = carom_bvh_centre(box, k);
            centres->low[k] = any ? CAROM_MIN(centre, centres->low[k]) : centre;
            centres->high[k] = any ? CAROM_MAX(centre, centres->high[k]) : centre;
        }
        any = true;
    }
    return median;
}

carom_bvh_space carom_bvh_space_of(const carom_box *bounds) {
    carom_bvh_space space = {
        .size_class = {CAROM_BVH_EXPONENTS, CAROM_BVH_EXPONENTS, CAROM_BVH_EXPONENTS}};
    for (int k = 0; k < 3; ++k) {
        space.low[k] = bounds->low[k];
        space.scale[k] = carom_bvh_scale(bounds->low[k], bounds->high[k]);
    }
    return space;
}

/* Widths of the sample's centres: where all items are wider spread along an axis, a few far away
 * would leave the others few keys. */
#define SAMPLE_SPREAD 16.0f

static carom_status choose_space(bvh_build *b, carom_arena *scratch, const carom_box *bounds) {
    carom_box centres;
    bvh_sample s = {.build = b, .step = b->count / SAMPLE + 1};
    s.count = divide_up(b->count, (uint32_t)s.step);
    s.boxes = CAROM_ARENA_TAKE(scratch, carom_box, s.count);
    if (s.boxes == NULL)
        return carom_fail_memory(b->context, s.count * sizeof(*s.boxes), "building a box tree");
    uint64_t grain = b->count < SAMPLE_ON_THREADS_FROM ? SAMPLE : SAMPLE / 16;
    CAROM_TRY(carom_parallel_for(b->context, s.count, grain, take_sample, &s));
    int median = bvh_survey(&s, &centres);
    /* centres outside these bounds get the nearest key: few items lie beyond the sample */
    bool large =
        bounds->high[0] - bounds->low[0] > SAMPLE_SPREAD * (centres.high[0] - centres.low[0]) ||
        bounds->high[1] - bounds->low[1] > SAMPLE_SPREAD * (centres.high[1] - centres.low[1]) ||
        bounds->high[2] - bounds->low[2] > SAMPLE_SPREAD * (centres.high[2] - centres.low[2]);
    b->space = carom_bvh_space_of(large ? &centres : bounds);
    for (int c = 0; c < 3; ++c) b->space.size_class[c] = median + (c + 1) * CAROM_BVH_CLASS_STEP;
    CAROM_ASSERT(b->space.size_class[0] < b->space.size_class[1]);
    return CAROM_OK;
}

static carom_status bvh_make_keys(void *argument, carom_range range) {
    bvh_build *b = argument;
    carom_box boxes[BVH_BOXES_PER_BATCH];
    for (uint64_t at = range.begin; at < range.end; at += BVH_BOXES_PER_BATCH) {
        uint32_t count = (uint32_t)CAROM_MIN(range.end - at, BVH_BOXES_PER_BATCH);
        b->boxes(b->user, NULL, (uint32_t)at, count, boxes);
        CAROM_CPU_CALL(b->context, carom_bvh_keys)(&b->space, boxes, count, b->keys + at);
        for (uint32_t i = 0; i < count; ++i) b->bvh->items[at + i] = (uint32_t)at + i;
    }
    return CAROM_OK;
}

/* ---- Filling levels -------------------------------------------------------------------------- */

static void put_box(carom_bvh_node *node, uint32_t lane, const carom_box *box) {
    for (int k = 0; k < 3; ++k) {
        node->low[k][lane] = box->low[k];
        node->high[k][lane] = box->high[k];
    }
}

carom_box carom_bvh_node_bounds(const carom_bvh_node *node) {
    carom_box box;
    for (int k = 0; k < 3; ++k) {
        carom_f32x4 low = carom_f32x4_load(node->low[k]), high = carom_f32x4_load(node->high[k]);
        for (uint32_t lane = 4; lane < CAROM_BVH_WIDTH; lane += 4) {
            low = carom_f32x4_min(low, carom_f32x4_load(&node->low[k][lane]));
            high = carom_f32x4_max(high, carom_f32x4_load(&node->high[k][lane]));
        }
        low = carom_f32x4_min(low, carom_f32x4_swap_halves(low));
        high = carom_f32x4_max(high, carom_f32x4_swap_halves(high));
        box.low[k] = CAROM_MIN(low[0], low[1]);
        box.high[k] = CAROM_MAX(high[0], high[1]);
    }
    return box;
}

/* Fills a node with the bounds of `count` nodes of the level below. */
static void fill_node(carom_bvh_node *node, const carom_bvh_node *below, uint32_t count) {
    for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
        carom_box box = lane < count ? carom_bvh_node_bounds(&below[lane]) : carom_box_empty();
        put_box(node, lane, &box);
    }
}

/* Ranges are blocks of sixteen slots. The last block may have slots past the last item. Boxes are
 * computed for the sixteen blocks of one node at a time, so that the memory accesses of scattered
 * items overlap, and so that the node above is filled while its blocks are in the cache. */
_Static_assert(BVH_BOXES_PER_BATCH == CAROM_BVH_WIDTH * CAROM_BVH_WIDTH,
               "a batch is a node of level 1");
static carom_status fill_blocks(void *argument, carom_range range) {
    bvh_build *b = argument;
    carom_box boxes[BVH_BOXES_PER_BATCH];
    uint64_t end = range.end * CAROM_BVH_WIDTH;
    CAROM_ASSERT(range.begin % CAROM_BVH_WIDTH == 0);
    for (uint64_t at = range.begin * CAROM_BVH_WIDTH; at < end; at += BVH_BOXES_PER_BATCH) {
        uint32_t *items = b->bvh->items + at,
                 slots = (uint32_t)CAROM_MIN(end - at, BVH_BOXES_PER_BATCH);
        uint32_t count = (uint32_t)CAROM_MIN(b->count - at, slots);
        CAROM_ASSERT(at < b->count && count >= 1);
        b->boxes(b->user, items, 0, count, boxes);
        for (uint32_t i = count; i < slots; ++i) {
            items[i] = CAROM_BVH_NONE;
            boxes[i] = carom_box_empty();
        }
        uint32_t block_count = slots / CAROM_BVH_WIDTH;
        carom_bvh_node *blocks = b->bvh->nodes + at / CAROM_BVH_WIDTH;
        CAROM_CPU_CALL(b->context, carom_bvh_put_boxes)(boxes, block_count, blocks);
        if (b->bvh->level_count > 1)
            fill_node(&b->bvh->nodes[b->bvh->level_start[1] + at / BVH_BOXES_PER_BATCH], blocks,
                      block_count);
    }
    return CAROM_OK;
}

static carom_status bvh_fill_level(void *argument, carom_range range) {
    bvh_build *b = argument;
    CAROM_ASSERT(b->level >= 1 && b->level < b->bvh->level_count);
    CAROM_ASSERT(range.end <= b->bvh->node_count[b->level]);
    const carom_bvh_node *below = carom_bvh_level(b->bvh, b->level - 1);
    for (uint64_t node = range.begin; node < range.end; ++node) {
        uint64_t first = node * CAROM_BVH_WIDTH, left = b->bvh->node_count[b->level - 1] - first;
        fill_node(&b->bvh->nodes[b->bvh->level_start[b->level] + node], &below[first],
                  (uint32_t)CAROM_MIN(left, CAROM_BVH_WIDTH));
    }
    return CAROM_OK;
}

/* Fills the levels from `first` on. */
static carom_status fill_levels(bvh_build *b, uint32_t first) {
    for (b->level = first; b->level < b->bvh->level_count; ++b->level)
        CAROM_TRY(carom_parallel_for(b->context, b->bvh->node_count[b->level],
                                     BVH_ITEMS_PER_RANGE / CAROM_BVH_WIDTH / CAROM_BVH_WIDTH,
                                     bvh_fill_level, b));
    return CAROM_OK;
}

static carom_status bvh_fill(bvh_build *b) {
    CAROM_TRY(carom_parallel_for(b->context, b->bvh->node_count[0],
                                 BVH_ITEMS_PER_RANGE / CAROM_BVH_WIDTH, fill_blocks, b));
    return fill_levels(b, 2);
}

/* ---- Allocation and build -------------------------------------------------------------------- */

static uint64_t bvh_lay_out(carom_bvh *bvh, uint32_t count) {
    uint64_t nodes = 0;
    bvh->item_count = count;
    bvh->level_count = 0;
    for (uint32_t size = count; count != 0;) {
        size = divide_up(size, CAROM_BVH_WIDTH);
        bvh->level_start[bvh->level_count] = nodes;
        CAROM_ASSERT(bvh->level_count < CAROM_BVH_LEVELS);
        bvh->node_count[bvh->level_count++] = size;
        nodes += size;
        if (size == 1) break;
    }
    return nodes;
}

static carom_status bvh_make_room(carom_context *context, const carom_allocator *allocator,
                                  carom_bvh *bvh, uint64_t slots, uint64_t nodes) {
    bool new_items = slots > bvh->item_capacity, new_nodes = nodes > bvh->node_capacity;
    if (new_items) {
        carom_release(allocator, bvh->items);
        bvh->items = carom_allocate(allocator, slots, sizeof(*bvh->items));
        bvh->item_capacity = bvh->items != NULL ? slots : 0;
    }
    if (new_nodes) {
        carom_release(allocator, bvh->nodes);
        bvh->nodes = carom_allocate(allocator, nodes, sizeof(*bvh->nodes));
        bvh->node_capacity = bvh->nodes != NULL ? nodes : 0;
    }
    if (bvh->items == NULL || bvh->nodes == NULL)
        return carom_fail_memory(context, nodes * sizeof(*bvh->nodes) + slots * sizeof(*bvh->items),
                                 "a box tree");
    if (new_items) CAROM_TRY(carom_touch_pages(context, bvh->items, slots * sizeof(*bvh->items)));
    if (new_nodes) CAROM_TRY(carom_touch_pages(context, bvh->nodes, nodes * sizeof(*bvh->nodes)));
    return CAROM_OK;
}

static carom_status bvh_build_levels(bvh_build *b, carom_arena *scratch, const carom_box *bounds) {
    b->keys = CAROM_ARENA_TAKE(scratch, uint32_t, b->count);
    if (b->keys == NULL)
        return carom_fail_memory(b->context, b->count * sizeof(*b->keys), "building a box tree");
    CAROM_TRY(choose_space(b, scratch, bounds));
    CAROM_ASSERT(b->bvh->node_count[b->bvh->level_count - 1] == 1);
    CAROM_TRY(carom_parallel_for(b->context, b->count, BVH_ITEMS_PER_RANGE, bvh_make_keys, b));
    CAROM_TRY(carom_sort_keys(b->context, b->keys, b->bvh->items, b->count));
    return bvh_fill(b);
}

carom_status carom_bvh_build(carom_context *context, const carom_allocator *allocator,
                             carom_bvh *bvh, uint32_t count, const carom_box *bounds,
                             carom_bvh_boxes_fn *boxes, const void *user) {
    uint64_t nodes = bvh_lay_out(bvh, count);
    if (count == 0) return CAROM_OK;
    uint64_t slots = (uint64_t)bvh->node_count[0] * CAROM_BVH_WIDTH;
    carom_status status = bvh_make_room(context, allocator, bvh, slots, nodes);
    if (status == CAROM_OK) {
        bvh_build b = {
            .context = context, .bvh = bvh, .boxes = boxes, .user = user, .count = count};
        carom_arena *scratch = carom_scratch(context, 0);
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        CAROM_ASSERT(bvh->item_capacity >= slots && bvh->node_capacity >= nodes);
        status = bvh_build_levels(&b, scratch, bounds);
        carom_arena_rewind(scratch, mark);
    }
    if (status != CAROM_OK) bvh_lay_out(bvh, 0);
    return status;
}

carom_status carom_bvh_build_like(carom_context *context, const carom_allocator *allocator,
                                  carom_bvh *bvh, const carom_bvh *like, carom_bvh_boxes_fn *boxes,
                                  const void *user) {
    uint64_t nodes = bvh_lay_out(bvh, like->item_count);
    if (like->item_count == 0) return CAROM_OK;
    uint64_t slots = (uint64_t)bvh->node_count[0] * CAROM_BVH_WIDTH;
    carom_status status = bvh_make_room(context, allocator, bvh, slots, nodes);
    if (status == CAROM_OK) {
        memcpy(bvh->items, like->items, slots * sizeof(*bvh->items));
        return carom_bvh_refit(context, bvh, boxes, user);
    }
    bvh_lay_out(bvh, 0);
    return status;
}

/* ---- Boxes that move ------------------------------------------------------------------------- */

carom_status carom_bvh_refit(carom_context *context, carom_bvh *bvh, carom_bvh_boxes_fn *boxes,
                             const void *user) {
    bvh_build b = {
        .context = context, .bvh = bvh, .boxes = boxes, .user = user, .count = bvh->item_count};
    if (bvh->level_count == 0) return CAROM_OK;
    carom_status status = bvh_fill(&b);
    if (status != CAROM_OK) bvh_lay_out(bvh, 0);
    return status;
}

carom_status carom_bvh_refit_levels(carom_context *context, carom_bvh *bvh) {
    bvh_build b = {.context = context, .bvh = bvh, .count = bvh->item_count};
    carom_status status = fill_levels(&b, 1);
    if (status != CAROM_OK) bvh_lay_out(bvh, 0);
    return status;
}

void carom_bvh_refit_above(carom_bvh *bvh, uint32_t slot) {
    uint32_t node = slot / CAROM_BVH_WIDTH;
    for (uint32_t level = 0; level + 1 < bvh->level_count; ++level) {
        carom_box box = carom_bvh_node_bounds(&carom_bvh_level(bvh, level)[node]);
        uint32_t lane = node % CAROM_BVH_WIDTH;
        node /= CAROM_BVH_WIDTH;
        carom_bvh_node *parent = &bvh->nodes[bvh->level_start[level + 1] + node];
        bool same = true;
        for (int k = 0; k < 3; ++k)
            same =
                same && parent->low[k][lane] == box.low[k] && parent->high[k][lane] == box.high[k];
        if (same) return;
        put_box(parent, lane, &box);
    }
}

double carom_bvh_extent(const carom_bvh *bvh) {
    double sum = 0.0;
    if (bvh->level_count < 2) return sum;
    const carom_bvh_node *parents = carom_bvh_level(bvh, 1);
    for (uint32_t node = 0; node < bvh->node_count[1]; ++node) {
        float own = 0.0f;
        for (int k = 0; k < 3; ++k)
            for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
                float extent = parents[node].high[k][lane] - parents[node].low[k][lane];
                own += extent > 0.0f ? extent : 0.0f; /* empty: -infinity */
            }
        sum += (double)own;
    }
    return sum;
}

void carom_bvh_free(carom_bvh *bvh, const carom_allocator *allocator) {
    carom_release(allocator, bvh->items);
    carom_release(allocator, bvh->nodes);
    *bvh = (carom_bvh){0};
}

uint64_t carom_bvh_bytes(const carom_bvh *bvh) {
    return bvh->item_capacity * sizeof(*bvh->items) + bvh->node_capacity * sizeof(*bvh->nodes);
}

carom_box carom_bvh_bounds(const carom_bvh *bvh) {
    CAROM_ASSERT(bvh->level_count <= CAROM_BVH_LEVELS);
    if (bvh->level_count == 0) return carom_box_empty();
    return carom_bvh_node_bounds(&carom_bvh_level(bvh, bvh->level_count - 1)[0]);
}
