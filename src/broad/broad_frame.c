/* SPDX-License-Identifier: MIT */
/* Frames: all pairs, and what began and ended since the last frame.
 *
 * The pairs of the last frame are kept, sorted. Those of two boxes that did not change are pairs
 * still. The others are found anew: by searching the boxes that changed where they are few, else by
 * searching all. Both lists are sorted, so one merge gives the pairs of this frame, those that
 * began and those that ended. */
#include "base/progress.h"
#include "base/sort.h"
#include "broad/broad.h"

/* Searching all boxes is faster than searching this part of them one by one. */
#define SEARCH_DIVIDE 3u

typedef struct broad_frame_job {
    carom_context *context;
    carom_broad *broad;
    bool all;              /* every box is searched */
    const uint64_t *found; /* pairs of boxes that changed */
    uint64_t found_count;
    uint64_t *begun, *ended; /* in scratch */
    uint64_t begun_count, ended_count;
} broad_frame_job;

static bool broad_frame_has_changed(const broad_frame_job *f, uint64_t pair) {
    const uint8_t *states = f->broad->states;
    return f->all || ((states[pair >> 32] | states[(uint32_t)pair]) & CAROM_BROAD_CHANGED) != 0;
}

/* In checked builds: all lists of a frame are canonical, and no pair both begins and ends. */
static void broad_check_frame(const broad_frame_job *f) {
#ifdef CAROM_CHECKS
    const carom_broad *broad = f->broad;
    uint32_t ids = broad->id_count;
    CAROM_ASSERT(carom_pair_words_are_canonical(f->found, f->found_count, ids));
    CAROM_ASSERT(carom_pair_words_are_canonical(broad->next.data, broad->next.count, ids));
    CAROM_ASSERT(carom_pair_words_are_canonical(f->begun, f->begun_count, ids));
    CAROM_ASSERT(carom_pair_words_are_canonical(f->ended, f->ended_count, ids));
    CAROM_ASSERT(carom_pair_words_in_common(f->begun, f->begun_count, f->ended, f->ended_count) ==
                 0);
    for (uint64_t i = 0; i < broad->next.count; ++i) {
        carom_pair pair = carom_pair_unpack(broad->next.data[i]);
        CAROM_ASSERT((broad->states[pair.a] & broad->states[pair.b] & CAROM_BROAD_LIVE) != 0);
    }
#else
    (void)f;
#endif
}

/* Merges the last frame's pairs with those found. `next` has space for both. */
static void merge(broad_frame_job *f) {
    const carom_broad_words *kept = &f->broad->kept;
    carom_broad_words *next = &f->broad->next;
    uint64_t i = 0, j = 0, count = 0;
    while (i < kept->count || j < f->found_count) {
        uint64_t old = i < kept->count ? kept->data[i] : UINT64_MAX;
        uint64_t new = j < f->found_count ? f->found[j] : UINT64_MAX;
        if (old < new &&broad_frame_has_changed(f, old)) {
            f->ended[f->ended_count++] = old;
        } else {
            next->data[count++] = CAROM_MIN(old, new);
            if (new < old) f->begun[f->begun_count++] = new;
        }
        i += old <= new ? 1 : 0;
        j += new <= old ? 1 : 0;
    }
    next->count = count;
    CAROM_ASSERT(count <= next->capacity && count + f->ended_count == kept->count + f->begun_count);
    broad_check_frame(f);
}

/* Lists the slots of live boxes that changed, in the order of the tree. */
static carom_status list_changed(broad_frame_job *f, const uint32_t **slots, uint64_t *slot_count) {
    carom_broad *broad = f->broad;
    carom_context *context = f->context;
    uint64_t count = 0, most = broad->changed.count;
    CAROM_TRY(carom_broad_find_slots(context, broad));
    uint32_t *list = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, most);
    uint32_t *ids = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, most);
    if (list == NULL || ids == NULL)
        return carom_fail_memory(context, 2 * most * sizeof(*list), "boxes that changed");
    for (uint64_t i = 0; i < most; ++i) {
        uint32_t id = broad->changed.data[i];
        if (carom_bounds_is_empty(&broad->boxes[id])) continue;
        CAROM_ASSERT(broad->tree.items[broad->slot_of[id]] == id);
        ids[count] = id;
        list[count++] = broad->slot_of[id];
    }
    CAROM_TRY(carom_sort_keys(context, list, ids, count));
    for (uint64_t i = 1; i < count; ++i) CAROM_ASSERT(list[i - 1] < list[i]);
    *slots = list;
    *slot_count = count;
    return CAROM_OK;
}

static carom_status broad_frame_search(broad_frame_job *f) {
    carom_broad *broad = f->broad;
    carom_broad_search s = {.context = f->context, .broad = broad};
    uint64_t *found;
    f->all = broad->all_changed || broad->device != NULL ||
             broad->method != CAROM_BROAD_METHOD_TREE ||
             broad->changed.count * SEARCH_DIVIDE > broad->id_count;
    if (!f->all) CAROM_TRY(list_changed(f, &s.slots, &s.slot_count));
    CAROM_TRY(carom_broad_search_run(&s, &found, &f->found_count));
    f->found = found;
    return CAROM_OK;
}

static void forget_changed(carom_broad *broad) {
    if (broad->all_changed)
        for (uint32_t id = 0; id < broad->id_count; ++id)
            broad->states[id] &= (uint8_t)~CAROM_BROAD_CHANGED;
    for (uint64_t i = 0; i < broad->changed.count; ++i) {
        uint8_t *state = &broad->states[broad->changed.data[i]];
        CAROM_ASSERT(!broad->all_changed && (*state & CAROM_BROAD_CHANGED) != 0);
        *state &= (uint8_t)~CAROM_BROAD_CHANGED;
    }
    broad->changed.count = 0;
    broad->all_changed = false;
}

/* Whether there is space for all ids that may be given out again. */
static bool reserve_free_ids(carom_broad *broad) {
    return carom_broad_ids_reserve(&broad->free_ids, &broad->allocator,
                                   broad->free_ids.count + broad->freed_ids.count);
}

static void recycle_ids(carom_broad *broad) {
    for (uint64_t i = 0; i < broad->freed_ids.count; ++i) {
        CAROM_ASSERT((broad->states[broad->freed_ids.data[i]] & CAROM_BROAD_LIVE) == 0);
        broad->free_ids.data[broad->free_ids.count++] = broad->freed_ids.data[i];
    }
    CAROM_ASSERT(broad->free_ids.count + broad->live == broad->id_count);
    broad->freed_ids.count = 0;
}

carom_status carom_broad_recycle_ids(carom_context *context, carom_broad *broad) {
    if (!reserve_free_ids(broad))
        return carom_fail_memory(context, broad->freed_ids.count * sizeof(uint32_t), "free ids");
    recycle_ids(broad);
    return CAROM_OK;
}

/* Makes the new frame the last one; ids freed since may be given out again. */
static void broad_frame_finish(carom_broad *broad) {
    carom_broad_words last = broad->kept;
    broad->kept = broad->next;
    broad->next = last;
    recycle_ids(broad);
    forget_changed(broad);
}

/* Everything that can fail except for the results. */
static carom_status broad_frame_prepare(broad_frame_job *f) {
    carom_context *context = f->context;
    carom_broad *broad = f->broad;
    carom_arena *scratch = carom_scratch(context, 0);
    CAROM_TRY(carom_broad_commit(context, broad));
    CAROM_TRY(broad_frame_search(f));
    uint64_t most = broad->kept.count + f->found_count;
    f->begun = CAROM_ARENA_TAKE(scratch, uint64_t, f->found_count);
    f->ended = CAROM_ARENA_TAKE(scratch, uint64_t, broad->kept.count);
    broad->next.count = 0;
    if (f->all) most = f->found_count;
    if (f->begun == NULL || f->ended == NULL ||
        !carom_broad_words_reserve(&broad->next, &broad->allocator, most) ||
        !reserve_free_ids(broad))
        return carom_fail_memory(context, most * sizeof(uint64_t), "the pairs of a frame");
    merge(f);
    return CAROM_OK;
}

static carom_status broad_frame_fill(carom_context *context, const uint64_t *pairs, uint64_t count,
                                     carom_pairs *result, bool *more) {
    if (result == NULL) return CAROM_OK;
    carom_status status = carom_pair_list_fill(context, pairs, count, result);
    *more = *more || status == CAROM_MORE;
    return status == CAROM_MORE ? CAROM_OK : status;
}

carom_status carom_broad_step(carom_context *context, carom_broad *broad, carom_pairs *pairs,
                              carom_pairs *begun, carom_pairs *ended) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(broad, "broad phase");
    if (pairs != NULL) CAROM_REQUIRE_RESULT(pairs, "pairs");
    if (begun != NULL) CAROM_REQUIRE_RESULT(begun, "pairs that began");
    if (ended != NULL) CAROM_REQUIRE_RESULT(ended, "pairs that ended");
    CAROM_TRY(carom_broad_check_backend(context, broad));
    broad_frame_job f = {.context = context, .broad = broad};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    bool more = false;
    context->work = (carom_work){0};
    carom_status status = broad_frame_prepare(&f);
    const carom_broad_words *next = &broad->next;
    if (status == CAROM_OK)
        status = broad_frame_fill(context, next->data, next->count, pairs, &more);
    if (status == CAROM_OK)
        status = broad_frame_fill(context, f.begun, f.begun_count, begun, &more);
    if (status == CAROM_OK)
        status = broad_frame_fill(context, f.ended, f.ended_count, ended, &more);
    if (status == CAROM_OK) broad_frame_finish(broad);
    carom_arena_rewind(scratch, mark);
    return status == CAROM_OK && more ? CAROM_MORE : status;
}
