/* SPDX-License-Identifier: MIT */
/* Top-down construction of a tree of oriented boxes.
 *
 * A node's items are split in two repeatedly, each time across the direction in which their centres
 * spread most, until there are sixteen parts. Each part is a whole number of full subtrees, so the
 * tree needs no pointers and only its last nodes have empty slots. Items are selected by (position
 * along the direction, index), so the result does not depend on the order of work.
 *
 * Then the box of each node is computed: its axes from the covariance of the corners of its
 * descendants (Gottschalk, Lin, Manocha 1996), its extents by projecting all these corners. The box
 * of a triangle is aligned with its longest edge and its normal. */
#include "bvh/bvh_obb.h"

#include "base/progress.h"
#include "base/threads.h"
#include "bvh/bvh_obb_cpu.h"
#include "geom/principal.h"

#define ITEMS_PER_RANGE 4096u  /* of a loop: some 0.1 ms */
#define LOOKED_AT       65536u /* items that take a millisecond: then check the clock */

#define BVH_OBB_ROOT_MARGIN 0x1p-22 /* of the bounds: rounding of centre and extent to floats */

typedef struct bvh_obb_build {
    carom_context *context;
    carom_obb_tree *tree;
    carom_obb_corners_fn *corners;
    const void *user;
    float (*centres)[3];   /* of the items, in their initial order */
    uint64_t *words;       /* sort key << 32 | index in the initial order; NULL: keep the order */
    uint32_t *old;         /* items in their initial order */
    float *corner[3];      /* x, y, z of the corners, three per slot */
    carom_spread *spreads; /* of the nodes of the level below */
    uint32_t level;        /* being filled */
} bvh_obb_build;

/* ---- Allocation ------------------------------------------------------------------------------ */

static uint64_t bvh_obb_lay_out(carom_obb_tree *tree, uint32_t count) {
    uint64_t nodes = 0;
    tree->item_count = count;
    tree->level_count = 0;
    for (uint32_t size = count; count != 0;) {
        size = (uint32_t)(((uint64_t)size + CAROM_BVH_WIDTH - 1) / CAROM_BVH_WIDTH);
        tree->level_start[tree->level_count] = nodes;
        CAROM_ASSERT(tree->level_count < CAROM_BVH_LEVELS);
        tree->node_count[tree->level_count++] = size;
        nodes += size;
        if (size == 1) break;
    }
    return nodes;
}

carom_status carom_obb_reserve(carom_context *context, const carom_allocator *allocator,
                               carom_obb_tree *tree, uint32_t count) {
    uint64_t nodes = bvh_obb_lay_out(tree, count);
    if (count == 0) return CAROM_OK;
    uint64_t slots = (uint64_t)tree->node_count[0] * CAROM_BVH_WIDTH;
    if (slots > tree->item_capacity) {
        carom_release(allocator, tree->items);
        tree->items = carom_allocate(allocator, slots, sizeof(*tree->items));
        tree->item_capacity = tree->items != NULL ? slots : 0;
    }
    if (nodes > tree->node_capacity) {
        carom_release(allocator, tree->nodes);
        tree->nodes = carom_allocate(allocator, nodes, sizeof(*tree->nodes));
        tree->node_capacity = tree->nodes != NULL ? nodes : 0;
    }
    if (tree->items == NULL || tree->nodes == NULL) {
        bvh_obb_lay_out(tree, 0);
        return carom_fail_memory(context, nodes * sizeof(*tree->nodes), "a tree of boxes");
    }
    return CAROM_OK;
}

void carom_obb_free(carom_obb_tree *tree, const carom_allocator *allocator) {
    carom_release(allocator, tree->items);
    carom_release(allocator, tree->nodes);
    *tree = (carom_obb_tree){0};
}

uint64_t carom_obb_bytes(const carom_obb_tree *tree) {
    return tree->item_capacity * sizeof(*tree->items) + tree->node_capacity * sizeof(*tree->nodes);
}

/* ---- Principal axes -------------------------------------------------------------------------- */

static void bvh_obb_join(carom_spread *s, const carom_spread *other) {
    for (int i = 0; i < 3; ++i) s->sum[i] += other->sum[i];
    for (int i = 0; i < 6; ++i) s->square[i] += other->square[i];
    s->count += other->count;
}

/* ---- Splitting ------------------------------------------------------------------------------- */

/* Maps a float to bits in the same order. */
static uint32_t sortable(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits >> 31 != 0 ? ~bits : bits | UINT32_C(0x80000000);
}

/* Words compared before any is swapped: whether each is on the wrong side is added up, instead of
 * being a branch that is mispredicted half of the time (Edelkamp, Weiss, "BlockQuicksort", 2016).
 * Offsets in a block fit bytes. */
#define BVH_OBB_SELECT_BLOCK 64

/* The words of a block on the wrong side that are not swapped yet: offsets from its outer end. */
typedef struct bvh_obb_block {
    uint8_t offsets[BVH_OBB_SELECT_BLOCK];
    uint32_t at, end;
} bvh_obb_block;

/* Swaps what two blocks have on their wrong sides, while both have some. */
static void bvh_obb_swap_blocks(uint64_t *left_end, bvh_obb_block *left, uint64_t *right_end,
                                bvh_obb_block *right) {
    uint32_t swaps = CAROM_MIN(left->end - left->at, right->end - right->at);
    for (uint32_t k = 0; k < swaps; ++k) {
        uint64_t *a = left_end + left->offsets[left->at + k];
        uint64_t *b = right_end - right->offsets[right->at + k], swap = *a;
        *a = *b;
        *b = swap;
    }
    left->at += swaps;
    right->at += swaps;
}

/* Hoare's partition of words [*low, *high], which all differ; one of them is the pivot. The k-th
 * word from the left that is not below the pivot changes places with the k-th from the right that
 * is not above it, until these meet. Then all words from *low on are at least the pivot, and all up
 * to *high at most. */
static void bvh_obb_partition(uint64_t *words, uint64_t pivot, int64_t *low, int64_t *high) {
    bvh_obb_block left = {.at = 0, .end = 0}, right = {.at = 0, .end = 0};
    int64_t i = *low, j = *high;
    while (j - i + 1 >= 2 * BVH_OBB_SELECT_BLOCK) {
        if (left.at == left.end) {
            left.at = left.end = 0;
            for (uint32_t k = 0; k < BVH_OBB_SELECT_BLOCK; ++k) {
                left.offsets[left.end] = (uint8_t)k;
                left.end += words[i + k] >= pivot;
            }
        }
        if (right.at == right.end) {
            right.at = right.end = 0;
            for (uint32_t k = 0; k < BVH_OBB_SELECT_BLOCK; ++k) {
                right.offsets[right.end] = (uint8_t)k;
                right.end += words[j - k] <= pivot;
            }
        }
        bvh_obb_swap_blocks(words + i, &left, words + j, &right);
        if (left.at == left.end) i += BVH_OBB_SELECT_BLOCK;
        if (right.at == right.end) j -= BVH_OBB_SELECT_BLOCK;
    }
    /* What was swapped in a block is left behind: the pivot may be among it. */
    if (left.at != left.end) i += left.offsets[left.at];
    if (right.at != right.end) j -= right.offsets[right.at];
    do {
        while (words[i] < pivot) ++i;
        while (words[j] > pivot) --j;
        if (i > j) break;
        uint64_t swap = words[i];
        words[i++] = words[j];
        words[j--] = swap;
    } while (i <= j);
    *low = i;
    *high = j;
}

/* Moves the `left` smallest words to the front (Hoare's selection; all words differ). The pivot is
 * the median of three words, chosen by a fixed rule for which no input order is likely to be a bad
 * case. */
static void select_smallest(uint64_t *words, uint64_t count, uint64_t left) {
    CAROM_ASSERT(left <= count);
    int64_t low = 0, high = (int64_t)count - 1, target = (int64_t)left;
    uint64_t dice = count;
    while (low < high) {
        uint64_t width = (uint64_t)(high - low + 1), pick[3];
        for (int i = 0; i < 3; ++i) {
            dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            pick[i] = words[low + (int64_t)((dice >> 32) * width >> 32)];
        }
        uint64_t least = CAROM_MIN(pick[0], pick[1]), most = CAROM_MAX(pick[0], pick[1]);
        uint64_t pivot = pick[2] < least ? least : CAROM_MIN(pick[2], most);
        CAROM_ASSERT(least <= pivot && pivot <= most && width >= 2);
        int64_t i = low, j = high;
        bvh_obb_partition(words, pivot, &i, &j);
        if (j < target) low = i;
        if (target < i) high = j;
    }
}

/* Splits words[0 .. count), which fill `parts` subtrees of `unit` items, until each part is one
 * subtree. Stops at subtrees of `least` items, or when cancelled. */
static void bvh_obb_split(bvh_obb_build *b, uint32_t worker, uint64_t *words, uint64_t count,
                          uint64_t unit, uint64_t least) {
    while (count <= unit) { /* one subtree: continue with its sixteen */
        if (unit <= least || unit <= CAROM_BVH_WIDTH) return;
        unit /= CAROM_BVH_WIDTH;
    }
    if (count >= LOOKED_AT && carom_progress_stop(b->context, worker)) return;
    uint64_t parts = (count + unit - 1) / unit, left = (parts + 1) / 2 * unit;
    CAROM_ASSERT(parts >= 2 && left % unit == 0 && left < count);
    carom_spread s = {0};
    for (uint64_t i = 0; i < count; ++i) {
        const float *c = b->centres[(uint32_t)words[i]];
        carom_spread_add(&s, (double)c[0], (double)c[1], (double)c[2]);
    }
    double axes[3][3];
    carom_spread_axes(&s, axes);
    float x = (float)axes[0][0], y = (float)axes[0][1], z = (float)axes[0][2];
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t index = (uint32_t)words[i];
        const float *c = b->centres[index];
        words[i] = (uint64_t)sortable((x * c[0] + y * c[1]) + z * c[2]) << 32 | index;
    }
    if (count >= LOOKED_AT && carom_progress_stop(b->context, worker)) return;
    select_smallest(words, count, left);
    bvh_obb_split(b, worker, words, left, unit, least);
    bvh_obb_split(b, worker, words + left, count - left, unit, least);
}

static uint64_t items_below(uint32_t level) {
    return (uint64_t)1 << (4 * (level + 1));
}

/* Ranges are the subtrees of the root. */
static carom_status split_subtrees(void *argument, carom_range range) {
    bvh_obb_build *b = argument;
    uint64_t unit = items_below(b->tree->level_count - 2), count = b->tree->item_count;
    for (uint64_t part = range.begin; part < range.end; ++part)
        bvh_obb_split(b, range.worker, b->words + part * unit, CAROM_MIN(count - part * unit, unit),
                      unit, 1);
    carom_progress_add(b->context, range.worker, 4 * unit * (range.end - range.begin));
    return CAROM_OK;
}

#define CORNERS_PER_BATCH 256u /* items: 18 KiB */

static carom_status find_centres(void *argument, carom_range range) {
    bvh_obb_build *b = argument;
    carom_vec3 corners[CORNERS_PER_BATCH][3];
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint64_t in_batch = (i - range.begin) % CORNERS_PER_BATCH;
        if (in_batch == 0)
            b->corners(b->user, b->tree->items + i,
                       (uint32_t)CAROM_MIN(range.end - i, CORNERS_PER_BATCH), corners);
        const carom_vec3 *p = corners[in_batch];
        b->old[i] = b->tree->items[i];
        b->centres[i][0] = (float)(p[0].x + p[1].x + p[2].x);
        b->centres[i][1] = (float)(p[0].y + p[1].y + p[2].y);
        b->centres[i][2] = (float)(p[0].z + p[1].z + p[2].z);
        b->words[i] = i;
        CAROM_ASSERT(i < b->tree->item_count);
    }
    return CAROM_OK;
}

/* Reads the corners of the items in their slots; a build moves the items there first. */
static carom_status sort_corners(void *argument, carom_range range) {
    bvh_obb_build *b = argument;
    carom_vec3 corners[CORNERS_PER_BATCH][3];
    for (uint64_t i = range.begin; i < range.end && b->words != NULL; ++i) {
        CAROM_ASSERT((uint32_t)b->words[i] < b->tree->item_count);
        b->tree->items[i] = b->old[(uint32_t)b->words[i]];
    }
    for (uint64_t at = range.begin; at < range.end; at += CORNERS_PER_BATCH) {
        uint32_t count = (uint32_t)CAROM_MIN(range.end - at, CORNERS_PER_BATCH);
        b->corners(b->user, b->tree->items + at, count, corners);
        for (uint64_t i = 0; i < 3 * (uint64_t)count; ++i) {
            const carom_vec3 *p = &corners[0][0] + i;
            b->corner[0][3 * at + i] = (float)p->x;
            b->corner[1][3 * at + i] = (float)p->y;
            b->corner[2][3 * at + i] = (float)p->z;
        }
    }
    return CAROM_OK;
}

/* ---- Oriented boxes -------------------------------------------------------------------------- */

/* The box of the points between two planes across each axis. If the stored axes were orthonormal,
 * its centre would be the sum of the axes times the midpoints. They are orthonormal to 2^-22;
 * corners and centre are rounded to 2^-24, projections by three times that. A margin of 2^-19 of
 * all sizes covers these errors. */
static carom_obb box_of_slabs(const float axes[9], const float low[3], const float high[3]) {
    carom_obb box;
    float middle[3], extent[3], size = 0.0f;
    for (int i = 0; i < 3; ++i) {
        middle[i] = 0.5f * (low[i] + high[i]);
        extent[i] = 0.5f * (high[i] - low[i]);
        size += fabsf(middle[i]) + extent[i];
        CAROM_ASSERT(low[i] <= high[i] && extent[i] >= 0.0f);
    }
    for (int k = 0; k < 3; ++k) {
        box.centre[k] = (middle[0] * axes[k] + middle[1] * axes[3 + k]) + middle[2] * axes[6 + k];
        box.extent[k] = extent[k] + CAROM_OBB_SLAB_MARGIN * size;
        for (int i = 0; i < 3; ++i) box.axis[i][k] = axes[3 * i + k];
    }
    return box;
}

static carom_obb box_of_slots(const bvh_obb_build *b, uint64_t first, uint64_t count,
                              double axes[3][3]) {
    float axis[9], low[3], high[3];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) axis[3 * i + k] = (float)axes[i][k];
    const float *points[3] = {b->corner[0] + 3 * first, b->corner[1] + 3 * first,
                              b->corner[2] + 3 * first};
    CAROM_CPU_CALL(b->context, carom_obb_slabs)(points, 3 * count, axis, low, high);
    return box_of_slabs(axis, low, high);
}

static void bvh_obb_put(carom_obb_node *node, uint32_t lane, const carom_obb *box) {
    for (int k = 0; k < 3; ++k) {
        node->centre[k][lane] = box->centre[k];
        node->extent[k][lane] = box->extent[k];
        for (int i = 0; i < 3; ++i) node->axis[i][k][lane] = box->axis[i][k];
    }
}

/* Ranges are nodes of a level. The sums over a node's corners are kept for the level above. */
static carom_status bvh_obb_fill_level(void *argument, carom_range range) {
    bvh_obb_build *b = argument;
    carom_obb_tree *tree = b->tree;
    carom_obb_node *nodes = tree->nodes + tree->level_start[b->level];
    uint64_t unit = b->level == 0 ? 1 : items_below(b->level - 1), count = tree->item_count;
    CAROM_ASSERT(b->level < tree->level_count && range.end <= tree->node_count[b->level]);
    const carom_spread *below = b->spreads + (b->level == 0 ? 0 : tree->level_start[b->level - 1]);
    carom_spread *own = b->spreads + tree->level_start[b->level];
    for (uint64_t node = range.begin; node < range.end; ++node) {
        carom_spread sum = {0};
        double axes[CAROM_BVH_WIDTH][3][3];
        if (b->level == 0) {
            uint64_t first = node * CAROM_BVH_WIDTH;
            const float *const points[3] = {b->corner[0] + 3 * first, b->corner[1] + 3 * first,
                                            b->corner[2] + 3 * first};
            uint64_t items = CAROM_MIN(count - first, CAROM_BVH_WIDTH);
            CAROM_CPU_CALL(b->context, carom_obb_spread)(points, (uint32_t)(3 * items), &sum);
        } else {
            uint64_t left = tree->node_count[b->level - 1] - node * CAROM_BVH_WIDTH;
            CAROM_CPU_CALL(b->context, carom_obb_axes)
            (&below[node * CAROM_BVH_WIDTH], (uint32_t)CAROM_MIN(left, CAROM_BVH_WIDTH), axes);
        }
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
            uint64_t child = node * CAROM_BVH_WIDTH + lane, first = child * unit;
            carom_obb box = {{0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0}};
            if (first >= count) {
                for (int k = 0; k < 3; ++k) box.extent[k] = CAROM_OBB_NOWHERE;
                if (b->level == 0) tree->items[first] = CAROM_BVH_NONE;
            } else if (b->level == 0) {
                continue; /* below */
            } else {
                CAROM_ASSERT(child < tree->node_count[b->level - 1]);
                box = box_of_slots(b, first, CAROM_MIN(count - first, unit), axes[lane]);
                bvh_obb_join(&sum, &below[child]);
            }
            bvh_obb_put(&nodes[node], lane, &box);
        }
        if (b->level == 0) {
            const float *const points[3] = {b->corner[0], b->corner[1], b->corner[2]};
            uint64_t first = node * CAROM_BVH_WIDTH;
            CAROM_CPU_CALL(b->context, carom_obb_triangles)
            (points, first, (uint32_t)CAROM_MIN(count - first, CAROM_BVH_WIDTH), &nodes[node]);
        }
        CAROM_ASSERT(sum.count != 0); /* each node has an item */
        own[node] = sum;
    }
    return CAROM_OK;
}

/* ---- Build ----------------------------------------------------------------------------------- */

/* Takes the corners, and computes the boxes from the blocks upwards. */
static carom_status bvh_obb_fill(carom_context *context, bvh_obb_build *b, carom_arena *scratch) {
    carom_obb_tree *tree = b->tree;
    uint64_t count = tree->item_count;
    uint32_t top = tree->level_count - 1;
    b->spreads = CAROM_ARENA_TAKE(scratch, carom_spread, tree->level_start[top] + 1);
    bool whole = b->spreads != NULL;
    for (int k = 0; k < 3; ++k) {
        b->corner[k] = CAROM_ARENA_TAKE(scratch, float, 3 * count);
        whole = whole && b->corner[k] != NULL;
    }
    if (!whole) return carom_fail_memory(context, count * 40, "building a tree of boxes");
    CAROM_TRY(carom_parallel_for(context, count, ITEMS_PER_RANGE, sort_corners, b));
    for (b->level = 0; b->level <= top; ++b->level) {
        uint64_t grain = CAROM_MAX(ITEMS_PER_RANGE / items_below(b->level), 1u);
        CAROM_TRY(
            carom_parallel_for(context, tree->node_count[b->level], grain, bvh_obb_fill_level, b));
    }
    CAROM_ASSERT(b->spreads[tree->level_start[top]].count == 3 * count);
    double axes[3][3];
    carom_spread_axes(&b->spreads[tree->level_start[top]], axes);
    tree->root = box_of_slots(b, 0, count, axes);
    return CAROM_OK;
}

static carom_status bvh_obb_build_levels(carom_context *context, bvh_obb_build *b,
                                         carom_arena *scratch) {
    carom_obb_tree *tree = b->tree;
    uint64_t count = tree->item_count;
    uint32_t top = tree->level_count - 1;
    b->centres = carom_arena_take(scratch, count, sizeof(*b->centres));
    b->words = CAROM_ARENA_TAKE(scratch, uint64_t, count);
    b->old = CAROM_ARENA_TAKE(scratch, uint32_t, count);
    if (b->centres == NULL || b->words == NULL || b->old == NULL)
        return carom_fail_memory(context, count * 24, "building a tree of boxes");
    CAROM_TRY(carom_parallel_for(context, count, ITEMS_PER_RANGE, find_centres, b));
    if (top > 0) {
        bvh_obb_split(b, 0, b->words, count, items_below(top), items_below(top - 1));
        carom_progress_add(context, 0, 2 * count);
        CAROM_TRY(carom_parallel_for(context, tree->node_count[top - 1], 1, split_subtrees, b));
    }
    return bvh_obb_fill(context, b, scratch);
}

static carom_status bvh_obb_make(carom_context *context, carom_obb_tree *tree,
                                 carom_obb_corners_fn *corners, const void *user, bool sorted) {
    if (tree->item_count == 0) return CAROM_OK;
    bvh_obb_build b = {.context = context, .tree = tree, .corners = corners, .user = user};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_status status =
        sorted ? bvh_obb_fill(context, &b, scratch) : bvh_obb_build_levels(context, &b, scratch);
    carom_arena_rewind(scratch, mark);
    if (status != CAROM_OK) bvh_obb_lay_out(tree, 0);
    return status;
}

carom_status carom_obb_build(carom_context *context, carom_obb_tree *tree,
                             carom_obb_corners_fn *corners, const void *user) {
    return bvh_obb_make(context, tree, corners, user, false);
}

carom_status carom_obb_refit(carom_context *context, carom_obb_tree *tree,
                             carom_obb_corners_fn *corners, const void *user) {
    return bvh_obb_make(context, tree, corners, user, true);
}

/* The sum over the boxes of a level of half their surface, over 4. */
static double sum_surfaces(const carom_obb_tree *tree, uint32_t level) {
    const carom_obb_node *nodes = tree->nodes + tree->level_start[level];
    double sum = 0.0;
    for (uint64_t node = 0; node < tree->node_count[level]; ++node) {
        float own = 0.0f;
        for (uint32_t lane = 0; lane < CAROM_BVH_WIDTH; ++lane) {
            float x = nodes[node].extent[0][lane], y = nodes[node].extent[1][lane],
                  z = nodes[node].extent[2][lane];
            if (x >= 0.0f) own += (x * y + y * z) + z * x; /* not CAROM_OBB_NOWHERE */
        }
        sum += (double)own;
    }
    return sum;
}

double carom_obb_looseness(const carom_obb_tree *tree) {
    if (tree->level_count < 2) return 0.0;
    double items = sum_surfaces(tree, 0), blocks = sum_surfaces(tree, 1);
    return items > 0.0 ? blocks / items : 0.0;
}

/* ---- Views of trees -------------------------------------------------------------------------- */

void carom_obb_view_of_tree(const carom_obb_tree *tree, carom_obb_view *view) {
    *view = (carom_obb_view){.oriented = tree->nodes,
                             .level_start = tree->level_start,
                             .level_count = tree->level_count,
                             .factor = 1.0f,
                             .root = tree->root};
}

void carom_obb_view_of_bvh(const carom_bvh *bvh, const float shift[3], float factor,
                           carom_obb_view *view) {
    *view = (carom_obb_view){.aligned = bvh->nodes,
                             .level_start = bvh->level_start,
                             .level_count = bvh->level_count,
                             .shift = {shift[0], shift[1], shift[2]},
                             .factor = factor,
                             .root = {{0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0}}};
    carom_box bounds = carom_bvh_bounds(bvh);
    if (!(bounds.low[0] <= bounds.high[0])) view->level_count = 0;
    for (int k = 0; k < 3 && view->level_count != 0; ++k) {
        double low = ((double)bounds.low[k] - (double)shift[k]) * (double)factor;
        double high = ((double)bounds.high[k] - (double)shift[k]) * (double)factor;
        double size = fabs(low) + fabs(high);
        view->root.centre[k] = (float)(0.5 * (low + high));
        view->root.extent[k] = (float)(0.5 * (high - low) + BVH_OBB_ROOT_MARGIN * size);
    }
}

void carom_obb_traversal_begin(carom_obb_traversal *traversal) {
    traversal->visits = 0;
    traversal->found_count = traversal->stack_count = 0;
    if (traversal->a.level_count == 0 || traversal->b.level_count == 0) return;
    traversal->stack[traversal->stack_count++] =
        (carom_obb_pair){.level_a = (uint8_t)(traversal->a.level_count - 1),
                         .level_b = (uint8_t)(traversal->b.level_count - 1)};
}
