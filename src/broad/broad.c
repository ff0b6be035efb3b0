/* SPDX-License-Identifier: MIT */
/* The boxes of a broad phase by id, and their changes.
 *
 * A change writes the boxes and notes the ids; what is prepared from them follows at the next
 * update (broad_update.c), so that any number of changes costs one update. Ids are noted in two
 * lists: `pending` since the last update, `changed` since the last frame. When more than half of
 * all ids would be in a list, a flag stands for all of them. */
#include "broad/broad.h"

#include "base/names.h"
#include "base/progress.h"

#define BROAD_BOXES_PER_RANGE 4096u /* boxes per range */
#define MARKED                8u    /* state of an id that a call has named already */
#define BROAD_SPARE_DIVISOR   8u    /* capacity grows by at least this part of it */
#define BROAD_SPARE_IDS       64u   /* and by so many, so that adding one by one copies seldom */
#define BROAD_LIST_DIVIDE     2u    /* of all ids: a flag stands for longer lists of changes */

/* ---- Memory ---------------------------------------------------------------------------------- */

static void set_empty(carom_broad *broad, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) broad->boxes[i] = carom_bounds_empty();
    if (end > first) memset(broad->states + first, 0, end - first);
    if (end > first && broad->filters != NULL)
        memset(broad->filters + first, 0, (end - first) * sizeof(*broad->filters));
}

/* Reserves space for `needed` ids. */
static bool broad_reserve(carom_broad *broad, uint64_t needed) {
    const carom_allocator *allocator = &broad->allocator;
    if (needed <= broad->capacity) return true;
    uint64_t capacity = broad->capacity == 0
                            ? needed
                            : CAROM_MAX(needed + BROAD_SPARE_IDS,
                                        broad->capacity + broad->capacity / BROAD_SPARE_DIVISOR);
    carom_bounds *boxes = carom_allocate(allocator, capacity, sizeof(*boxes));
    uint8_t *states = carom_allocate(allocator, capacity, sizeof(*states));
    carom_broad_filter *filters =
        broad->filters != NULL ? carom_allocate(allocator, capacity, sizeof(*filters)) : NULL;
    if (boxes == NULL || states == NULL || (broad->filters != NULL && filters == NULL)) {
        carom_release(allocator, boxes);
        carom_release(allocator, states);
        carom_release(allocator, filters);
        return false;
    }
    if (broad->capacity != 0) {
        memcpy(boxes, broad->boxes, broad->capacity * sizeof(*boxes));
        memcpy(states, broad->states, broad->capacity * sizeof(*states));
        if (filters != NULL) memcpy(filters, broad->filters, broad->capacity * sizeof(*filters));
    }
    carom_release(allocator, broad->boxes);
    carom_release(allocator, broad->states);
    carom_release(allocator, broad->filters);
    broad->boxes = boxes;
    broad->states = states;
    broad->filters = filters;
    uint64_t old = broad->capacity;
    broad->capacity = capacity;
    set_empty(broad, old, capacity);
    CAROM_ASSERT(broad->capacity >= needed && broad->id_count <= broad->capacity);
    return true;
}

static bool reserve_filters(carom_broad *broad) {
    if (broad->filters != NULL) return true;
    broad->filters = carom_allocate(&broad->allocator, broad->capacity, sizeof(*broad->filters));
    if (broad->filters == NULL) return false;
    if (broad->capacity != 0) memset(broad->filters, 0, broad->capacity * sizeof(*broad->filters));
    return true;
}

/* ---- Lists of changes ------------------------------------------------------------------------ */

/* Makes space to note `count` more ids, or turns to "all"; false when out of memory. */
static bool reserve_list(carom_broad *broad, carom_broad_ids *list, bool *all, uint64_t count,
                         uint64_t ids) {
    if (*all || list->count + count > ids / BROAD_LIST_DIVIDE) {
        *all = true;
        list->count = 0;
        return true;
    }
    return carom_broad_ids_reserve(list, &broad->allocator, list->count + count);
}

static bool reserve_changes(carom_broad *broad, uint64_t count, uint64_t ids) {
    return reserve_list(broad, &broad->pending, &broad->all_pending, count, ids) &&
           reserve_list(broad, &broad->changed, &broad->all_changed, count, ids);
}

static void note_changed(carom_broad *broad, uint32_t id) {
    CAROM_ASSERT(id < broad->id_count);
    if ((broad->states[id] & CAROM_BROAD_CHANGED) != 0 || broad->all_changed) return;
    CAROM_ASSERT(broad->changed.count < broad->changed.capacity);
    broad->states[id] |= CAROM_BROAD_CHANGED;
    broad->changed.data[broad->changed.count++] = id;
}

static void note(carom_broad *broad, uint32_t id) {
    note_changed(broad, id);
    if ((broad->states[id] & CAROM_BROAD_PENDING) != 0 || broad->all_pending) return;
    CAROM_ASSERT(broad->pending.count < broad->pending.capacity);
    broad->states[id] |= CAROM_BROAD_PENDING;
    broad->pending.data[broad->pending.count++] = id;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

typedef struct checking {
    carom_context *context;
    const carom_bounds *boxes;
    carom_bounds *to; /* NULL: they are not copied */
    carom_broad_range *ranges;
} checking;

static carom_status broad_check_range(void *argument, carom_range range) {
    checking *c = argument;
    uint64_t count = range.end - range.begin;
    const carom_bounds *boxes = c->boxes + range.begin;
    c->ranges[range.begin / BROAD_BOXES_PER_RANGE] =
        CAROM_CPU_CALL(c->context, carom_broad_measure)(boxes, count);
    if (c->to != NULL) memcpy(c->to + range.begin, boxes, count * sizeof(*boxes));
    return CAROM_OK;
}

static carom_status fail_box(carom_context *context, const carom_bounds *boxes, uint64_t i) {
    while (true) {
        carom_broad_range one = CAROM_CPU_CALL(context, carom_broad_measure)(&boxes[i], 1);
        if (!one.finite) break;
        ++i;
    }
    return carom_fail(context, CAROM_BAD_INPUT,
                      "box %llu has a bound that is NaN or infinite: leave it out or mend it",
                      (unsigned long long)i);
}

/* Checks boxes and copies them to `to`, unless that is NULL; *bounds becomes theirs. */
static carom_status check_boxes(carom_context *context, const carom_bounds *boxes, uint64_t count,
                                carom_bounds *to, carom_bounds *bounds) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t range_count = (count + BROAD_BOXES_PER_RANGE - 1) / BROAD_BOXES_PER_RANGE;
    checking c = {context, boxes, to, CAROM_ARENA_TAKE(scratch, carom_broad_range, range_count)};
    carom_status status =
        c.ranges == NULL
            ? carom_fail_memory(context, range_count * sizeof(*c.ranges), "checking boxes")
            : carom_parallel_for(context, count, BROAD_BOXES_PER_RANGE, broad_check_range, &c);
    carom_bounds all = carom_bounds_empty();
    for (uint64_t r = 0; r < range_count && status == CAROM_OK; ++r) {
        const carom_bounds *b = &c.ranges[r].bounds;
        if (!c.ranges[r].finite) status = fail_box(context, boxes, r * BROAD_BOXES_PER_RANGE);
        all.low = carom_vec(CAROM_MIN(b->low.x, all.low.x), CAROM_MIN(b->low.y, all.low.y),
                            CAROM_MIN(b->low.z, all.low.z));
        all.high = carom_vec(CAROM_MAX(b->high.x, all.high.x), CAROM_MAX(b->high.y, all.high.y),
                             CAROM_MAX(b->high.z, all.high.z));
    }
    carom_arena_rewind(scratch, mark);
    *bounds = all;
    return status;
}

/* Checks that all ids are those of boxes. */
static carom_status broad_check_ids(carom_context *context, const carom_broad *broad,
                                    const uint32_t *ids, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t id = ids != NULL ? ids[i] : i;
        if (id >= broad->id_count || (broad->states[id] & CAROM_BROAD_LIVE) == 0)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%llu is not the id of a box: it was %s; give ids of carom_broad_add",
                              (unsigned long long)id,
                              id < broad->id_count ? "removed" : "never given out");
    }
    return CAROM_OK;
}

static carom_status fail_ids(carom_context *context, uint64_t count) {
    return carom_fail_memory(context, count * (sizeof(carom_bounds) + 2 * sizeof(uint32_t)),
                             "boxes that change");
}

/* ---- Create and destroy ---------------------------------------------------------------------- */

static carom_status broad_fill(carom_context *context, carom_broad *broad,
                               const carom_broad_def *def) {
    uint64_t count = def->box_count;
    if (count > CAROM_BROAD_MOST)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu boxes are more than %llu",
                          (unsigned long long)count, (unsigned long long)CAROM_BROAD_MOST);
    if (!broad_reserve(broad, count) || (def->filters != NULL && !reserve_filters(broad)))
        return fail_ids(context, count);
    carom_bounds bounds;
    CAROM_TRY(check_boxes(context, def->boxes, count, broad->boxes, &bounds));
    if (count != 0) memset(broad->states, CAROM_BROAD_LIVE, count);
    if (def->filters != NULL && count != 0)
        memcpy(broad->filters, def->filters, count * sizeof(*def->filters));
    broad->id_count = broad->live = (uint32_t)count;
    broad->all_pending = broad->all_changed = true;
    return carom_broad_build(context, broad, &bounds);
}

carom_status carom_broad_create(carom_context *context, const carom_broad_def *def,
                                carom_broad **broad) {
    static const carom_broad_def none = {0};
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(broad, "broad phase");
    if (def == NULL) def = &none;
    CAROM_REQUIRE_INPUTS(def->boxes, def->box_count, "boxes");
    CAROM_REQUIRE_KNOWN(def->method, CAROM_BROAD_METHOD_COUNT, "method");
    *broad = NULL;
    bool on_cpu = context->backend == CAROM_BACKEND_CPU;
    if (!on_cpu) CAROM_TRY(carom_broad_device_check_new(context, def));
    CAROM_TRY(carom_grid_check(context, &def->grid));
    if (!(def->sweep_cell >= 0.0 && def->sweep_cell <= DBL_MAX))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "sweep_cell is %g: it must be finite and not negative", def->sweep_cell);
    carom_broad *made = carom_allocate(&context->allocator, 1, sizeof(*made));
    if (made == NULL) return carom_fail_memory(context, sizeof(*made), "a broad phase");
    *made = (carom_broad){.allocator = context->allocator,
                          .method = on_cpu && def->method == CAROM_BROAD_METHOD_AUTO
                                        ? CAROM_BROAD_METHOD_TREE
                                        : def->method,
                          .grid_def = def->grid,
                          .sweep_cell = def->sweep_cell,
                          .accept = def->accept,
                          .accept_user = def->accept_user};
    carom_progress_begin(context, "preparing boxes", 0);
    carom_status status = carom_progress_finish(context, broad_fill(context, made, def));
    if (status != CAROM_OK) {
        carom_broad_destroy(made);
        return status;
    }
    *broad = made;
    return CAROM_OK;
}

void carom_broad_destroy(carom_broad *broad) {
    if (broad == NULL) return;
    carom_allocator allocator = broad->allocator;
    carom_release(&allocator, broad->boxes);
    carom_release(&allocator, broad->states);
    carom_release(&allocator, broad->filters);
    carom_release(&allocator, broad->slot_of);
    carom_broad_ids_release(&broad->free_ids, &allocator);
    carom_broad_ids_release(&broad->freed_ids, &allocator);
    carom_broad_ids_release(&broad->pending, &allocator);
    carom_broad_ids_release(&broad->changed, &allocator);
    carom_broad_words_release(&broad->kept, &allocator);
    carom_broad_words_release(&broad->next, &allocator);
    carom_bvh_free(&broad->tree, &allocator);
    carom_grid_free(&broad->grid, &allocator);
    carom_broad_sweep_free(&broad->sweep, &allocator);
    carom_broad_device_release(broad);
    carom_release(&allocator, broad);
}

/* ---- Changes --------------------------------------------------------------------------------- */

carom_status carom_broad_move(carom_context *context, carom_broad *broad, const uint32_t *ids,
                              const carom_bounds *boxes, uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(boxes, count, "boxes");
    carom_bounds bounds;
    CAROM_TRY(broad_check_ids(context, broad, ids, count));
    CAROM_TRY(check_boxes(context, boxes, count, NULL, &bounds));
    CAROM_TRY(carom_broad_device_fetch(context, broad));
    if (!reserve_changes(broad, count, broad->id_count)) return fail_ids(context, count);
    if (ids == NULL && count != 0) memcpy(broad->boxes, boxes, count * sizeof(*boxes));
    bool all = broad->all_pending && broad->all_changed;
    for (uint64_t i = 0; i < count && !(all && ids == NULL); ++i) {
        uint32_t id = ids != NULL ? ids[i] : (uint32_t)i;
        if (ids != NULL) broad->boxes[id] = boxes[i];
        note(broad, id);
    }
    return CAROM_OK;
}

carom_status carom_broad_add(carom_context *context, carom_broad *broad, const carom_bounds *boxes,
                             uint64_t count, uint32_t *ids) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(boxes, count, "boxes");
    carom_bounds bounds;
    CAROM_TRY(check_boxes(context, boxes, count, NULL, &bounds));
    CAROM_TRY(carom_broad_device_fetch(context, broad));
    uint64_t old = CAROM_MIN(count, broad->free_ids.count), end = broad->id_count + (count - old);
    if (end > CAROM_BROAD_MOST)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu boxes are more than %llu",
                          (unsigned long long)end, (unsigned long long)CAROM_BROAD_MOST);
    if (!broad_reserve(broad, end) || !reserve_changes(broad, count, end))
        return fail_ids(context, count);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t id = i < old ? broad->free_ids.data[--broad->free_ids.count] : broad->id_count++;
        CAROM_ASSERT(id < broad->capacity && (broad->states[id] & CAROM_BROAD_LIVE) == 0);
        broad->boxes[id] = boxes[i];
        broad->states[id] |= CAROM_BROAD_LIVE;
        note(broad, id);
        if (ids != NULL) ids[i] = id;
    }
    broad->live += (uint32_t)count;
    CAROM_ASSERT(broad->live <= broad->id_count);
    return CAROM_OK;
}

/* The first index whose id was named before it, or count. */
static uint64_t find_repeat(carom_broad *broad, const uint32_t *ids, uint64_t count) {
    uint64_t end = 0;
    for (; end < count && (broad->states[ids[end]] & MARKED) == 0; ++end)
        broad->states[ids[end]] |= MARKED;
    for (uint64_t i = 0; i < end; ++i) broad->states[ids[i]] &= (uint8_t)~MARKED;
    CAROM_ASSERT(end == count || (broad->states[ids[end]] & MARKED) == 0);
    return end;
}

carom_status carom_broad_remove(carom_context *context, carom_broad *broad, const uint32_t *ids,
                                uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(ids, count, "ids");
    CAROM_TRY(broad_check_ids(context, broad, ids, count));
    uint64_t repeat = find_repeat(broad, ids, count);
    if (repeat != count)
        return carom_fail(context, CAROM_BAD_INPUT, "box %u is removed twice in one call",
                          ids[repeat]);
    CAROM_TRY(carom_broad_device_fetch(context, broad));
    carom_broad_ids *freed = &broad->freed_ids;
    if (!carom_broad_ids_reserve(freed, &broad->allocator, freed->count + count) ||
        !reserve_changes(broad, count, broad->id_count))
        return fail_ids(context, count);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t id = ids[i];
        note(broad, id);
        broad->states[id] &= (uint8_t)~CAROM_BROAD_LIVE;
        broad->boxes[id] = carom_bounds_empty();
        if (broad->filters != NULL) broad->filters[id] = (carom_broad_filter){0, 0};
        freed->data[freed->count++] = id;
    }
    CAROM_ASSERT(broad->live >= count);
    broad->live -= (uint32_t)count;
    return CAROM_OK;
}

carom_status carom_broad_set_filters(carom_context *context, carom_broad *broad,
                                     const uint32_t *ids, const carom_broad_filter *filters,
                                     uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_INPUTS(filters, count, "filters");
    CAROM_TRY(broad_check_ids(context, broad, ids, count));
    if (broad->device != NULL) CAROM_TRY(carom_broad_check_backend(context, broad));
    if (!reserve_filters(broad) ||
        !reserve_list(broad, &broad->changed, &broad->all_changed, count, broad->id_count))
        return fail_ids(context, count);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t id = ids != NULL ? ids[i] : (uint32_t)i;
        broad->filters[id] = filters[i];
        note_changed(broad, id);
    }
    return carom_broad_device_set_filters(context, broad);
}

/* ---- Info ------------------------------------------------------------------------------------ */

static uint64_t broad_bytes_of(const carom_broad *b) {
    uint64_t lists = b->free_ids.capacity + b->freed_ids.capacity + b->pending.capacity +
                     b->changed.capacity + b->slot_capacity;
    return sizeof(*b) + b->capacity * (sizeof(*b->boxes) + sizeof(*b->states)) +
           (b->filters != NULL ? b->capacity * sizeof(*b->filters) : 0) + lists * sizeof(uint32_t) +
           (b->kept.capacity + b->next.capacity) * sizeof(uint64_t) + carom_bvh_bytes(&b->tree) +
           carom_grid_bytes(&b->grid) + carom_broad_sweep_bytes(&b->sweep);
}

carom_status carom_broad_get_info(const carom_broad *broad, carom_broad_info *info) {
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    CAROM_REQUIRE_OUTPUT(info, "info");
    const carom_broad_sweep *sweep = &broad->sweep;
    *info = (carom_broad_info){.ids = broad->id_count,
                               .live = broad->live,
                               .method = broad->method,
                               .bytes = broad_bytes_of(broad),
                               .builds = broad->builds,
                               .refits = broad->refits,
                               .patches = broad->patches};
    if (broad->device != NULL) {
        carom_broad_device_info(broad, info);
    } else if (broad->method == CAROM_BROAD_METHOD_TREE) {
        for (uint32_t l = 0; l < broad->tree.level_count; ++l)
            info->nodes += broad->tree.node_count[l];
    } else if (broad->method == CAROM_BROAD_METHOD_GRID) {
        const carom_grid_view *view = &broad->grid.view;
        info->cells = view->table.bucket_count;
        info->entries = view->item_count != 0 ? view->starts[view->table.bucket_count] : 0;
    } else {
        info->cells = sweep->cells;
        info->lone_cells = sweep->lone_cells;
        info->entries = sweep->entries;
        info->sweep_axis = (uint32_t)sweep->axis[0];
        info->sweep_cell = sweep->cell;
        info->sweep_bound = sweep->bound;
    }
    return CAROM_OK;
}

CAROM_ENUM_NAMES(carom_broad_method, CAROM_BROAD_METHOD_COUNT, "auto", "tree", "grid", "sweep");
