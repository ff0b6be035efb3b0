/* SPDX-License-Identifier: MIT */
/* Bringing the prepared structure up to date.
 *
 * The tree has three ways. Building sorts all boxes. A refit computes all boxes anew and keeps
 * their order: a third faster, and as good while boxes stay near their old neighbours. A patch
 * writes only the boxes that changed into their slots and follows their ancestors. Whether the
 * order is still good is measured: when the extents of all blocks together have grown by a quarter
 * since the tree was built, the next update builds; when they have doubled, as after a jump, this
 * one does. All three depend on the input alone. The grid and the sweep are built for each update.
 */
#include "base/progress.h"
#include "broad/broad.h"

#define BROAD_UPDATE_BOXES_PER_RANGE 4096u /* boxes per range */

/* Extents relative to those of the new tree. On J1, refits cost as much as builds would have saved
 * at 1.2 to 1.4. */
#define BROAD_GROWTH_NEXT_BUILD 1.25 /* from here on the next full update builds */
#define BROAD_GROWTH_THIS_BUILD 2.0  /* from here on this one does */

/* A refit handles all boxes faster than a patch handles this part of them. */
#define PATCH_DIVIDE 3u

/* A patch of less than this part of all blocks follows the ancestors of each box; else all levels
 * are computed anew. */
#define BROAD_ANCESTOR_DIVIDE 4u

/* Ids that the tree has room for beyond those given out: the share, and at least so many. */
#define BROAD_UPDATE_SPARE_DIVISOR 64u
#define SPARE_LEAST                16u

/* ---- Boxes for the builders -------------------------------------------------------------------
 */

void carom_broad_give_boxes(const void *user, const uint32_t *ids, uint32_t first, uint32_t count,
                            carom_box *boxes) {
    const carom_broad_source *s = user;
    if (!CAROM_CPU_CALL(s->context, carom_broad_round_all)(&s->broad->space, s->broad->boxes, ids,
                                                           first, count, boxes) &&
        !atomic_load_explicit(s->inexact, memory_order_relaxed))
        atomic_store(s->inexact, true);
}

/* ---- Build ----------------------------------------------------------------------------------- */

static carom_status broad_update_build_tree(carom_context *context, carom_broad *broad,
                                            const carom_broad_source *source,
                                            const carom_box *bounds) {
    uint64_t slots = broad->id_count;
    if (broad->capacity > slots) slots += slots / BROAD_UPDATE_SPARE_DIVISOR + SPARE_LEAST;
    slots = CAROM_MIN(slots, broad->capacity);
    CAROM_TRY(carom_bvh_build(context, &broad->allocator, &broad->tree, (uint32_t)slots, bounds,
                              carom_broad_give_boxes, source));
    broad->tree_extent = carom_bvh_extent(&broad->tree);
    broad->slots_known = false;
    return CAROM_OK;
}

static carom_status build_grid(carom_context *context, carom_broad *broad,
                               const carom_broad_source *source) {
    carom_grid_source items = {broad->id_count, carom_broad_give_boxes, source};
    return carom_grid_build(context, &broad->allocator, &broad->grid, &broad->grid_def, NULL,
                            &items);
}

/* Builds in the present frame. */
static carom_status broad_update_build(carom_context *context, carom_broad *broad,
                                       const carom_box *bounds) {
    _Atomic bool inexact = false;
    carom_broad_source source = {context, broad, &inexact};
    carom_status status = CAROM_OK;
    broad->built = false;
    if (broad->method == CAROM_BROAD_METHOD_TREE)
        status = broad_update_build_tree(context, broad, &source, bounds);
    else if (broad->method == CAROM_BROAD_METHOD_GRID)
        status = build_grid(context, broad, &source);
    else
        status = carom_broad_sweep_build(context, broad, &source, bounds);
    broad->exact = !inexact;
    broad->built = status == CAROM_OK;
    broad->builds += status == CAROM_OK ? 1 : 0;
    return status;
}

/* ---- What is pending ------------------------------------------------------------------------- */

static void forget_pending(carom_broad *broad) {
    if (broad->all_pending)
        for (uint32_t id = 0; id < broad->id_count; ++id)
            broad->states[id] &= (uint8_t)~CAROM_BROAD_PENDING;
    for (uint64_t i = 0; i < broad->pending.count; ++i) {
        uint8_t *state = &broad->states[broad->pending.data[i]];
        CAROM_ASSERT(!broad->all_pending && (*state & CAROM_BROAD_PENDING) != 0);
        *state &= (uint8_t)~CAROM_BROAD_PENDING;
    }
    broad->pending.count = 0;
    broad->all_pending = false;
}

/* The same on the GPU, where everything is prepared anew. */
static carom_status build_on_device(carom_context *context, carom_broad *broad) {
    broad->failure = carom_broad_device_prepare(context, broad);
    if (broad->failure == CAROM_OK) forget_pending(broad);
    return broad->failure;
}

carom_status carom_broad_build(carom_context *context, carom_broad *broad,
                               const carom_bounds *bounds) {
    if (context->backend != CAROM_BACKEND_CPU) return build_on_device(context, broad);
    broad->space = carom_broad_choose_space(bounds);
    carom_box box = carom_broad_round(&broad->space, bounds);
    broad->failure = broad_update_build(context, broad, &box);
    if (broad->failure == CAROM_OK) forget_pending(broad);
    return broad->failure;
}

typedef struct broad_update_measuring {
    carom_context *context;
    const carom_broad *broad;
    carom_broad_range *ranges;
} broad_update_measuring;

static carom_status broad_update_measure_range(void *argument, carom_range range) {
    broad_update_measuring *m = argument;
    m->ranges[range.begin / BROAD_UPDATE_BOXES_PER_RANGE] = CAROM_CPU_CALL(
        m->context, carom_broad_measure)(m->broad->boxes + range.begin, range.end - range.begin);
    return CAROM_OK;
}

/* Builds after measuring all boxes. */
static carom_status build_anew(carom_context *context, carom_broad *broad) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t range_count = ((uint64_t)broad->id_count + BROAD_UPDATE_BOXES_PER_RANGE - 1) /
                           BROAD_UPDATE_BOXES_PER_RANGE;
    broad_update_measuring m = {context, broad,
                                CAROM_ARENA_TAKE(scratch, carom_broad_range, range_count)};
    carom_bounds all = carom_bounds_empty();
    carom_status status =
        m.ranges == NULL
            ? carom_fail_memory(context, range_count * sizeof(*m.ranges), "measuring boxes")
            : carom_parallel_for(context, broad->id_count, BROAD_UPDATE_BOXES_PER_RANGE,
                                 broad_update_measure_range, &m);
    for (uint64_t r = 0; r < range_count && status == CAROM_OK; ++r) {
        const carom_bounds *b = &m.ranges[r].bounds;
        all.low = carom_vec(CAROM_MIN(b->low.x, all.low.x), CAROM_MIN(b->low.y, all.low.y),
                            CAROM_MIN(b->low.z, all.low.z));
        all.high = carom_vec(CAROM_MAX(b->high.x, all.high.x), CAROM_MAX(b->high.y, all.high.y),
                             CAROM_MAX(b->high.z, all.high.z));
    }
    carom_arena_rewind(scratch, mark);
    return status == CAROM_OK ? carom_broad_build(context, broad, &all) : status;
}

/* ---- Tree: refit and patch ------------------------------------------------------------------- */

static bool broad_update_is_finite(const carom_box *box) {
    for (int k = 0; k < 3; ++k)
        if (box->low[k] == -HUGE_VALF || box->high[k] == HUGE_VALF) return false;
    return true;
}

static carom_status refit(carom_context *context, carom_broad *broad) {
    _Atomic bool inexact = false;
    carom_broad_source source = {context, broad, &inexact};
    broad->built = false;
    CAROM_TRY(carom_bvh_refit(context, &broad->tree, carom_broad_give_boxes, &source));
    broad->exact = !inexact;
    broad->built = true;
    ++broad->refits;
    return CAROM_OK;
}

typedef struct broad_update_slots {
    const carom_bvh *tree;
    uint32_t *slot_of;
} broad_update_slots;

static carom_status broad_update_slot_range(void *argument, carom_range range) {
    broad_update_slots *p = argument;
    for (uint64_t slot = range.begin; slot < range.end; ++slot)
        p->slot_of[p->tree->items[slot]] = (uint32_t)slot;
    return CAROM_OK;
}

carom_status carom_broad_find_slots(carom_context *context, carom_broad *broad) {
    if (broad->slots_known) return CAROM_OK;
    uint32_t count = broad->tree.item_count;
    if (broad->slot_capacity < count) {
        uint32_t *slots = carom_allocate(&broad->allocator, count, sizeof(*slots));
        if (slots == NULL)
            return carom_fail_memory(context, count * sizeof(*slots), "the slots of boxes");
        carom_release(&broad->allocator, broad->slot_of);
        broad->slot_of = slots;
        broad->slot_capacity = count;
    }
    broad_update_slots p = {&broad->tree, broad->slot_of};
    CAROM_TRY(carom_parallel_for(context, count, BROAD_UPDATE_BOXES_PER_RANGE,
                                 broad_update_slot_range, &p));
    broad->slots_known = true;
    return CAROM_OK;
}

/* Boxes ahead whose slot is loaded: a box is in six cache lines. */
#define BROAD_UPDATE_PREFETCH_BOXES 8u

static void prefetch_slot(const carom_broad *broad, uint32_t id) {
    uint32_t slot = broad->slot_of[id];
    const carom_bvh_node *node = &broad->tree.nodes[slot / CAROM_BVH_WIDTH];
    for (int k = 0; k < 3; ++k) {
        __builtin_prefetch(&node->low[k][slot % CAROM_BVH_WIDTH], 1);
        __builtin_prefetch(&node->high[k][slot % CAROM_BVH_WIDTH], 1);
    }
}

/* In checked builds: the bounds of the tree contain every box that was written. */
static void broad_check_patch(const carom_broad *broad) {
#ifdef CAROM_CHECKS
    carom_box all = carom_bvh_bounds(&broad->tree);
    for (uint64_t i = 0; i < broad->pending.count; ++i) {
        const carom_bounds *b = &broad->boxes[broad->pending.data[i]];
        carom_box box = carom_broad_round(&broad->space, b);
        if (carom_bounds_is_empty(b)) continue;
        for (int k = 0; k < 3; ++k)
            CAROM_ASSERT(all.low[k] <= box.low[k] && all.high[k] >= box.high[k]);
    }
#else
    (void)broad;
#endif
}

static carom_status broad_update_patch(carom_context *context, carom_broad *broad) {
    CAROM_TRY(carom_broad_find_slots(context, broad));
    const carom_broad_ids *pending = &broad->pending;
    bool few = pending->count * BROAD_ANCESTOR_DIVIDE < broad->tree.node_count[0];
    broad->built = false;
    for (uint64_t i = 0; i < pending->count; ++i) {
        uint32_t id = pending->data[i], slot = broad->slot_of[id];
        CAROM_ASSERT(slot < broad->tree.item_count && broad->tree.items[slot] == id);
        if (i + BROAD_UPDATE_PREFETCH_BOXES < pending->count)
            prefetch_slot(broad, pending->data[i + BROAD_UPDATE_PREFETCH_BOXES]);
        carom_box box;
        broad->exact &= CAROM_CPU_CALL(context, carom_broad_round_all)(&broad->space, broad->boxes,
                                                                       NULL, id, 1, &box);
        carom_bvh_set_box(&broad->tree, slot, &box);
        if (few) carom_bvh_refit_above(&broad->tree, slot);
    }
    if (!few) CAROM_TRY(carom_bvh_refit_levels(context, &broad->tree));
    broad_check_patch(broad);
    broad->built = true;
    ++broad->patches;
    return CAROM_OK;
}

/* Whether the tree can be kept, and its order is good enough. */
static bool broad_update_is_good(const carom_broad *broad, double most) {
    carom_box bounds = carom_bvh_bounds(&broad->tree);
    return broad_update_is_finite(&bounds) &&
           carom_bvh_extent(&broad->tree) <= most * broad->tree_extent;
}

static carom_status update_tree(carom_context *context, carom_broad *broad) {
    uint64_t pending = broad->all_pending ? broad->id_count : broad->pending.count;
    bool fits = broad->built && broad->id_count <= broad->tree.item_count;
    if (!fits) return build_anew(context, broad);
    bool worn = !broad_update_is_good(broad, BROAD_GROWTH_NEXT_BUILD);
    if (pending * PATCH_DIVIDE <= broad->id_count && !worn) {
        CAROM_TRY(broad_update_patch(context, broad));
    } else if (!worn) {
        CAROM_TRY(refit(context, broad));
    } else { /* sorted within the bounds of the last update, which may be a little too narrow */
        carom_box bounds = carom_bvh_bounds(&broad->tree);
        CAROM_TRY(broad_update_build(context, broad, &bounds));
    }
    return broad_update_is_good(broad, BROAD_GROWTH_THIS_BUILD) ? CAROM_OK
                                                                : build_anew(context, broad);
}

static carom_status update(carom_context *context, carom_broad *broad) {
    carom_status status = broad->method == CAROM_BROAD_METHOD_TREE ? update_tree(context, broad)
                                                                   : build_anew(context, broad);
    if (status == CAROM_OK) forget_pending(broad);
    broad->failure = status;
    return status;
}

carom_status carom_broad_commit(carom_context *context, carom_broad *broad) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_TRY(carom_broad_check_backend(context, broad));
    if (broad->failure == CAROM_OK && !carom_broad_is_pending(broad)) return CAROM_OK;
    carom_progress_begin(context, "updating boxes", 0);
    carom_status status =
        broad->device != NULL ? build_on_device(context, broad) : update(context, broad);
    return carom_progress_finish(context, status);
}

carom_status carom_broad_check_ready(carom_context *context, const carom_broad *broad) {
    CAROM_TRY(carom_broad_check_backend(context, broad));
    if (broad->failure == CAROM_OK) return CAROM_OK;
    return carom_fail(context, broad->failure,
                      "the last update of the boxes failed (%s): call carom_broad_commit again",
                      carom_status_name(broad->failure));
}
