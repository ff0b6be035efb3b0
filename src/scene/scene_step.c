/* SPDX-License-Identifier: MIT */
/* A step: all contacts, and what began and ended since the last step.
 *
 *   sift     the pairs of boxes: which have an object that changed, are near enough, and have a
 *            record of the last step; both lists are sorted
 *   merge    them with these records, into new ones
 *   rule out pairs that a plane of an earlier step still separates
 *   narrow   phase: the engines, for the pairs that are left and have an object that changed
 *   finish   the contacts in the order of the pairs
 *
 * Ranges of pairs are sifted and merged side by side: sifting counts what a range will write, so
 * that merging knows the index. Where few objects changed, the rest of a step is proportional to
 * the pairs of these, but for the copy of all contacts.
 *
 * The merge writes new records and leaves the old ones; they are exchanged at the end, when nothing
 * can fail any more. A failure in between leaves the last step, and the objects marked as changed:
 * the next step tests their pairs again. Contacts in slots of such pairs may have been overwritten
 * by then, which does not matter, as only a test reads them. */
#include "base/pair_list.h"
#include "base/progress.h"
#include "base/sort.h"
#include "broad/broad.h"
#include "scene/scene.h"

#define SIFT_GRAIN                4096u /* pairs of boxes per range: some 20 us of work */
#define RULE_OUT_GRAIN            512u  /* pairs per range: some 50 us of work */
#define SCENE_STEP_PREFETCH_PAIRS 6u    /* pairs whose objects are prefetched */
#define NARROW_GRAIN              CAROM_SCENE_MOST_TESTS /* pairs per range: some 40 us of work */
#define COPY_GRAIN                1024u /* pairs per range: up to 300 KiB of contacts */

/* What a range of pairs of boxes becomes: counts, then the first indices. */
typedef struct scene_step_offsets {
    uint64_t records; /* in `next` */
    uint64_t pending; /* of these, pairs with an object that changed */
    uint64_t dropped; /* contacts of the last step without a successor */
} scene_step_offsets;

typedef struct scene_step_job {
    carom_scene_question question;
    carom_scene *scene;
    const uint64_t *keys; /* of the pairs of boxes: a << 32 | b, sorted */
    uint64_t key_count;
    uint8_t *sifted; /* one per pair of boxes: SIFT_... */
    scene_step_offsets
        *ranges;     /* one per SIFT_GRAIN pairs, and one behind the last with the totals */
    uint64_t *ended; /* keys, in scratch */
    uint64_t *begun;
    uint64_t ended_count, begun_count;
    uint32_t *dropped; /* slots of contacts that are no more, in scratch */
    uint64_t dropped_count;
    uint32_t *changed; /* indices in `next` of pairs with an object that changed */
    uint64_t changed_count;
    uint32_t
        *pending; /* those that are to be tested: light pairs first (scene.h), then the others */
    uint64_t pending_count, light_count;
    uint64_t *firsts; /* one per COPY_GRAIN pairs: the index of its first contact */
    uint64_t contact_count;
    carom_scene_contact *results;
    uint64_t writable;
} scene_step_job;

static uint64_t key_of(const carom_scene_pair *p) {
    return (uint64_t)p->a << 32 | p->b;
}

static const carom_scene_object *scene_step_object_of(const scene_step_job *s, uint32_t id) {
    return &s->scene->objects[id];
}

/* The first index in `kept` whose key is not below `key`. */
static uint64_t find_record(const carom_scene_pairs *kept, uint64_t key) {
    uint64_t low = 0, high = kept->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (key_of(&kept->data[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Sift ------------------------------------------------------------------------------------ */

/* What is known of a pair of boxes. */
#define SIFT_NONE    0u /* there is no record: it is far or ignored, or was and did not change */
#define SIFT_SAME    1u /* no object changed: the record of the last step counts */
#define SIFT_CHANGED 2u
#define SIFT_NEW     3u /* there is no record of the last step, or that of another object */

/* The records of the last step that belong to a range of pairs of boxes: all between its first pair
 * and that of the next range, which is where they are dropped if they have no successor. */
static void find_records(const scene_step_job *s, carom_range range, uint64_t *first,
                         uint64_t *end) {
    const carom_scene_pairs *kept = &s->scene->kept;
    *first = range.begin == 0 ? 0 : find_record(kept, s->keys[range.begin]);
    *end = range.end == s->key_count ? kept->count : find_record(kept, s->keys[range.end]);
}

static carom_status sift_range(void *argument, carom_range range) {
    const scene_step_job *s = argument;
    const carom_scene *scene = s->scene;
    const carom_scene_words *ignored = &scene->ignored;
    const carom_scene_pair *kept = scene->kept.data;
    const uint8_t *states = scene->states.data;
    const carom_bounds *boxes = scene->broad->boxes;
    scene_step_offsets count = {0, 0, 0};
    uint64_t j, end, g = 0;
    find_records(s, range, &j, &end);
    if (ignored->count != 0 && range.begin < range.end)
        while (g < ignored->count && ignored->data[g] < s->keys[range.begin]) ++g;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint64_t key = s->keys[i];
        uint32_t a = (uint32_t)(key >> 32), b = (uint32_t)key;
        uint32_t both = states[a] | states[b];
        CAROM_ASSERT(a < b && b < scene->id_count);
        CAROM_ASSERT((states[a] & states[b] & CAROM_SCENE_LIVE) != 0);
        for (; j < end && key_of(&kept[j]) < key; ++j)
            count.dropped += kept[j].slot != CAROM_SCENE_NO_SLOT ? 1 : 0;
        bool known = j < end && key_of(&kept[j]) == key;
        bool changed = (both & CAROM_SCENE_CHANGED) != 0;
        uint8_t what = known ? SIFT_SAME : SIFT_NONE;
        if (changed) {
            bool fresh = !known || (both & CAROM_SCENE_NEW) != 0;
            what = fresh ? SIFT_NEW : SIFT_CHANGED;
            if (carom_scene_is_far(&boxes[a], &boxes[b], scene->reach)) what = SIFT_NONE;
        }
        while (g < ignored->count && ignored->data[g] < key) ++g;
        if (g < ignored->count && ignored->data[g] == key) what = SIFT_NONE;
        if (known && (what == SIFT_NONE || what == SIFT_NEW))
            count.dropped += kept[j].slot != CAROM_SCENE_NO_SLOT ? 1 : 0;
        j += known ? 1 : 0;
        count.records += what != SIFT_NONE ? 1 : 0;
        count.pending += what >= SIFT_CHANGED ? 1 : 0;
        s->sifted[i] = what;
    }
    for (; j < end; ++j) count.dropped += kept[j].slot != CAROM_SCENE_NO_SLOT ? 1 : 0;
    s->ranges[range.begin / SIFT_GRAIN] = count;
    return CAROM_OK;
}

/* Turns the counts of ranges into indices. */
static void sum_ranges(scene_step_job *s, uint64_t range_count) {
    scene_step_offsets sum = {0, 0, 0};
    for (uint64_t r = 0; r <= range_count; ++r) {
        scene_step_offsets own = r < range_count ? s->ranges[r] : sum;
        s->ranges[r] = sum;
        sum.records += own.records;
        sum.pending += own.pending;
        sum.dropped += own.dropped;
    }
}

/* ---- Merge ----------------------------------------------------------------------------------- */

/* A record of the last step that has no successor. */
static void drop(const scene_step_job *s, const carom_scene_pair *old, uint64_t *at) {
    if (old->slot == CAROM_SCENE_NO_SLOT) return;
    s->dropped[*at] = old->slot;
    s->ended[(*at)++] = key_of(old);
}

static carom_status merge_range(void *argument, carom_range range) {
    const scene_step_job *s = argument;
    const carom_scene_pair *kept = s->scene->kept.data;
    carom_scene_pair *next = s->scene->next.data;
    scene_step_offsets at = s->ranges[range.begin / SIFT_GRAIN];
    uint64_t j, end;
    find_records(s, range, &j, &end);
    for (uint64_t i = range.begin; i < range.end; ++i) {
        uint64_t key = s->keys[i];
        uint8_t what = s->sifted[i];
        while (j < end && key_of(&kept[j]) < key) drop(s, &kept[j++], &at.dropped);
        const carom_scene_pair *old = j < end && key_of(&kept[j]) == key ? &kept[j++] : NULL;
        bool goes_on = what == SIFT_SAME || what == SIFT_CHANGED;
        CAROM_ASSERT(!goes_on || old != NULL);
        if (old != NULL && !goes_on) drop(s, old, &at.dropped);
        if (what == SIFT_NONE) continue;
        carom_scene_pair *p = &next[at.records];
        *p = goes_on ? *old
                     : (carom_scene_pair){.a = (uint32_t)(key >> 32),
                                          .b = (uint32_t)key,
                                          .slot = CAROM_SCENE_NO_SLOT};
        if (what >= SIFT_CHANGED) {
            if ((p->flags & CAROM_SCENE_CONTACT) != 0) p->flags |= CAROM_SCENE_WAS;
            p->flags |= CAROM_SCENE_PENDING;
            s->changed[at.pending++] = (uint32_t)at.records;
        }
        ++at.records;
    }
    while (j < end) drop(s, &kept[j++], &at.dropped);
    const scene_step_offsets *then = &s->ranges[range.begin / SIFT_GRAIN + 1];
    CAROM_ASSERT(at.records == then->records && at.pending == then->pending &&
                 at.dropped == then->dropped); /* what sifting counted */
    return CAROM_OK;
}

/* Makes the records of this step, and lists those with an object that changed. */
static carom_status make_records(scene_step_job *s) {
    carom_context *context = s->question.context;
    carom_scene *scene = s->scene;
    carom_arena *scratch = carom_scratch(context, 0);
    /* At least one range, which drops the records of the last step where no pairs are left. */
    uint64_t range_count = CAROM_MAX((s->key_count + SIFT_GRAIN - 1) / SIFT_GRAIN, 1);
    s->sifted = CAROM_ARENA_TAKE(scratch, uint8_t, s->key_count);
    s->ranges = CAROM_ARENA_TAKE(scratch, scene_step_offsets, range_count + 1);
    if (s->sifted == NULL || s->ranges == NULL)
        return carom_fail_memory(context, s->key_count, "pairs of objects");
    if (s->key_count == 0) CAROM_TRY(sift_range(s, (carom_range){0, 0, 0}));
    CAROM_TRY(carom_parallel_for(context, s->key_count, SIFT_GRAIN, sift_range, s));
    sum_ranges(s, range_count);
    scene_step_offsets all = s->ranges[range_count];
    s->changed_count = all.pending;
    s->dropped_count = s->ended_count = all.dropped;
    s->changed = CAROM_ARENA_TAKE(scratch, uint32_t, all.pending);
    s->begun = CAROM_ARENA_TAKE(scratch, uint64_t, all.pending);
    s->ended = CAROM_ARENA_TAKE(scratch, uint64_t, all.dropped + all.pending);
    s->dropped = CAROM_ARENA_TAKE(scratch, uint32_t, all.dropped);
    if (s->changed == NULL || s->begun == NULL || s->ended == NULL || s->dropped == NULL ||
        !carom_scene_pairs_reserve(&scene->next, &scene->allocator, all.records))
        return carom_fail_memory(context, all.records * sizeof(carom_scene_pair),
                                 "pairs of objects");
    if (s->key_count == 0) CAROM_TRY(merge_range(s, (carom_range){0, 0, 0}));
    CAROM_TRY(carom_parallel_for(context, s->key_count, SIFT_GRAIN, merge_range, s));
    scene->next.count = all.records;
    return CAROM_OK;
}

/* ---- Rule out -------------------------------------------------------------------------------- */

/* Loads what pairs of convex objects are ruled out and tested by: the objects may be anywhere in
 * memory. Measured: 8 % of a step of balls, nothing for others. Inlined always: GCC removes the
 * call of a function that does nothing but prefetch. */
__attribute__((always_inline)) static inline void prefetch_objects(const scene_step_job *s,
                                                                   uint32_t record) {
    const carom_scene_pair *p = &s->scene->next.data[record];
    const carom_scene_object *a = scene_step_object_of(s, p->a), *b = scene_step_object_of(s, p->b);
    __builtin_prefetch(a);
    __builtin_prefetch(b);
    __builtin_prefetch(&a->convex);
    __builtin_prefetch(&b->convex);
    __builtin_prefetch(&a->convex.margin);
    __builtin_prefetch(&b->convex.margin);
}

/* In checked builds: the answer of a pair that was ruled out is that it is not in contact. */
static void scene_step_check_ruled_out(const scene_step_job *s, uint32_t worker,
                                       const carom_scene_pair *p) {
#ifdef CAROM_CHECKS
    carom_scene_contact contact;
    bool in_contact = false;
    carom_status status =
        carom_scene_narrow_convex(&s->question, worker, scene_step_object_of(s, p->a),
                                  scene_step_object_of(s, p->b), &contact, &in_contact);
    CAROM_ASSERT(status != CAROM_OK || !in_contact);
#else
    (void)s, (void)worker, (void)p;
#endif
}

/* Clears CAROM_SCENE_PENDING and CAROM_SCENE_CONTACT of pairs that are surely not in contact, and
 * only CAROM_SCENE_CONTACT of the others that are to be tested. */
static carom_status rule_out_range(void *argument, carom_range range) {
    const scene_step_job *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_scene_pair *p = &s->scene->next.data[s->changed[i]];
        if (i + SCENE_STEP_PREFETCH_PAIRS < range.end)
            prefetch_objects(s, s->changed[i + SCENE_STEP_PREFETCH_PAIRS]);
        p->flags &= ~CAROM_SCENE_CONTACT;
        if (carom_scene_rule_out(&s->question, scene_step_object_of(s, p->a),
                                 scene_step_object_of(s, p->b), p->direction)) {
            p->flags &= ~CAROM_SCENE_PENDING;
            scene_step_check_ruled_out(s, range.worker, p);
        }
    }
    return CAROM_OK;
}

static bool scene_step_is_light(const scene_step_job *s, const carom_scene_pair *p) {
    const uint8_t *states = s->scene->states.data;
    return carom_scene_is_light(states[p->a] | states[p->b]);
}

/* Gives every pair that is to be tested a slot, and lists these pairs. */
static carom_status list_pending(scene_step_job *s) {
    carom_context *context = s->question.context;
    carom_scene *scene = s->scene;
    uint64_t light = 0, heavy = 0, needed = 0;
    for (uint64_t i = 0; i < s->changed_count; ++i) {
        const carom_scene_pair *p = &scene->next.data[s->changed[i]];
        if ((p->flags & CAROM_SCENE_PENDING) == 0) continue;
        light += scene_step_is_light(s, p) ? 1 : 0;
        heavy += scene_step_is_light(s, p) ? 0 : 1;
        needed += p->slot == CAROM_SCENE_NO_SLOT ? 1 : 0;
    }
    s->pending_count = light + heavy;
    s->light_count = light;
    s->pending = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, s->pending_count);
    carom_scene_ids *free_slots = &scene->free_slots;
    uint64_t grow = needed > free_slots->count ? needed - free_slots->count : 0;
    uint64_t slots = scene->pool.count + grow;
    if (slots >= CAROM_SCENE_NO_SLOT)
        return carom_fail(context, CAROM_TOO_LARGE, "more contacts than 32 bits can number");
    if (s->pending == NULL || !carom_scene_pool_reserve(&scene->pool, &scene->allocator, slots) ||
        !carom_scene_ids_reserve(free_slots, &scene->allocator, slots))
        return carom_fail_memory(context, slots * sizeof(carom_scene_contact), "contacts");
    for (uint64_t i = slots; i > scene->pool.count; --i)
        free_slots->data[free_slots->count++] = (uint32_t)(i - 1);
    scene->pool.count = slots;
    uint64_t light_at = 0, heavy_at = light;
    for (uint64_t i = 0; i < s->changed_count; ++i) {
        carom_scene_pair *p = &scene->next.data[s->changed[i]];
        if ((p->flags & CAROM_SCENE_PENDING) == 0) continue;
        s->pending[scene_step_is_light(s, p) ? light_at++ : heavy_at++] = s->changed[i];
        if (p->slot != CAROM_SCENE_NO_SLOT) continue;
        CAROM_ASSERT(free_slots->count != 0);
        p->slot = free_slots->data[--free_slots->count];
    }
    CAROM_ASSERT(light_at == s->light_count && heavy_at == s->pending_count);
    return CAROM_OK;
}

/* ---- Narrow phase ---------------------------------------------------------------------------- */

/* What every contact is like, whichever engine gave it. */
static void scene_contact_check(const carom_scene_contact *c) {
    CAROM_ASSERT((unsigned)c->relation < CAROM_RELATION_COUNT);
    CAROM_ASSERT(c->point_count <= CAROM_CONVEX_MOST_CONTACTS);
    CAROM_ASSERT(c->distance >= 0.0 && c->depth >= 0.0);
    CAROM_ASSERT(c->error >= 0.0 && c->volume_error >= 0.0);
    CAROM_ASSERT(c->depth_bound >= 0.0 && c->depth_bound <= c->depth);
    for (uint32_t i = 1; i < c->point_count; ++i)
        CAROM_ASSERT(c->points[0].depth >= c->points[i].depth);
}

static void scene_step_commit(carom_scene_pair *p, carom_scene_contact *contact, bool in_contact) {
    CAROM_ASSERT(p->slot != CAROM_SCENE_NO_SLOT);
    if (in_contact) scene_contact_check(contact);
    contact->a = p->a;
    contact->b = p->b;
    if (in_contact)
        p->flags |= CAROM_SCENE_CONTACT;
    else
        p->direction = contact->normal;
}

static carom_status scene_step_narrow_range(void *argument, carom_range range) {
    const scene_step_job *s = argument;
    carom_scene *scene = s->scene;
    carom_scene_test tests[NARROW_GRAIN];
    uint32_t count = (uint32_t)(range.end - range.begin);
    for (uint32_t i = 0; i < count; ++i) {
        carom_scene_pair *p = &scene->next.data[s->pending[range.begin + i]];
        prefetch_objects(s, s->pending[range.begin + i]);
        tests[i] = (carom_scene_test){.a = scene_step_object_of(s, p->a),
                                      .b = scene_step_object_of(s, p->b),
                                      .contact = &scene->pool.data[p->slot]};
    }
    CAROM_TRY(carom_scene_narrow_tests(&s->question, range.worker, tests, count));
    for (uint32_t i = 0; i < count; ++i) {
        scene_step_commit(&scene->next.data[s->pending[range.begin + i]], tests[i].contact,
                          tests[i].in_contact);
        if (carom_progress_stop(s->question.context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* What runs on all threads: convex shapes that may be inside solids, and pairs that are not light.
 */
static carom_status scene_step_narrow_heavy(const scene_step_job *s) {
    carom_scene *scene = s->scene;
    for (uint64_t i = 0; i < s->pending_count; ++i) {
        carom_scene_pair *p = &scene->next.data[s->pending[i]];
        const carom_scene_object *a = scene_step_object_of(s, p->a),
                                 *b = scene_step_object_of(s, p->b);
        carom_scene_contact *contact = &scene->pool.data[p->slot];
        bool in_contact = false;
        if (i < s->light_count) {
            if (a->solid == NULL && b->solid == NULL) continue;
            if ((p->flags & CAROM_SCENE_CONTACT) != 0 &&
                contact->relation > CAROM_RELATION_TOUCHING)
                continue;
            CAROM_TRY(carom_scene_narrow_inside(&s->question, a, b, contact, &in_contact));
            if (!in_contact) continue;
        } else {
            CAROM_TRY(carom_scene_narrow_heavy(&s->question, a, b, contact, &in_contact));
        }
        scene_step_commit(p, contact, in_contact);
    }
    return CAROM_OK;
}

static carom_status scene_step_narrow(scene_step_job *s) {
    carom_context *context = s->question.context;
    carom_status status = carom_parallel_phase(context, "testing convex objects", s->light_count,
                                               NARROW_GRAIN, scene_step_narrow_range, s);
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "contacts of objects");
    CAROM_TRY(status);
    carom_progress_begin(context, "testing meshes", 0);
    return carom_progress_finish(context, scene_step_narrow_heavy(s));
}

/* ---- Finish ---------------------------------------------------------------------------------- */

/* In checked builds: what began and what ended are sorted, each pair once. A pair is on both lists
 * only where an object has the id of one that was removed. */
static void scene_step_check_changes(const scene_step_job *s) {
#ifdef CAROM_CHECKS
    const carom_scene *scene = s->scene;
    CAROM_ASSERT(carom_pair_words_are_canonical(s->begun, s->begun_count, scene->id_count));
    CAROM_ASSERT(carom_pair_words_are_canonical(s->ended, s->ended_count, scene->id_count));
    uint64_t replaced = 0;
    for (uint64_t i = 0; i < s->begun_count; ++i) {
        carom_pair pair = carom_pair_unpack(s->begun[i]);
        const uint8_t *states = scene->states.data;
        replaced += ((states[pair.a] | states[pair.b]) & CAROM_SCENE_NEW) != 0 ? 1 : 0;
    }
    CAROM_ASSERT(carom_pair_words_in_common(s->begun, s->begun_count, s->ended, s->ended_count) <=
                 replaced);
#else
    (void)s;
#endif
}

/* Completes what began and ended. */
static carom_status list_changes(scene_step_job *s) {
    for (uint64_t i = 0; i < s->changed_count; ++i) {
        const carom_scene_pair *p = &s->scene->next.data[s->changed[i]];
        bool is = (p->flags & CAROM_SCENE_CONTACT) != 0, was = (p->flags & CAROM_SCENE_WAS) != 0;
        if (is && !was) s->begun[s->begun_count++] = key_of(p);
        if (was && !is) s->ended[s->ended_count++] = key_of(p);
    }
    CAROM_TRY(carom_sort_words(s->question.context, s->ended, s->ended_count, 0, 64));
    scene_step_check_changes(s);
    return CAROM_OK;
}

static carom_status scene_step_count_range(void *argument, carom_range range) {
    const scene_step_job *s = argument;
    uint64_t count = 0;
    for (uint64_t i = range.begin; i < range.end; ++i)
        count += s->scene->next.data[i].flags & CAROM_SCENE_CONTACT;
    s->firsts[range.begin / COPY_GRAIN] = count;
    return CAROM_OK;
}

static carom_status count_contacts(scene_step_job *s) {
    carom_context *context = s->question.context;
    uint64_t pairs = s->scene->next.count, ranges = (pairs + COPY_GRAIN - 1) / COPY_GRAIN;
    s->firsts = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint64_t, ranges);
    if (s->firsts == NULL)
        return carom_fail_memory(context, ranges * sizeof(*s->firsts), "contacts");
    CAROM_TRY(carom_parallel_for(context, pairs, COPY_GRAIN, scene_step_count_range, s));
    for (uint64_t r = 0; r < ranges; ++r) {
        uint64_t own = s->firsts[r];
        s->firsts[r] = s->contact_count;
        s->contact_count += own;
    }
    CAROM_ASSERT(s->scene->contacts + s->begun_count == s->contact_count + s->ended_count);
    return CAROM_OK;
}

static carom_status scene_step_copy_range(void *argument, carom_range range) {
    const scene_step_job *s = argument;
    const carom_scene *scene = s->scene;
    uint64_t at = s->firsts[range.begin / COPY_GRAIN];
    for (uint64_t i = range.begin; i < range.end && at < s->writable; ++i) {
        const carom_scene_pair *p = &scene->next.data[i];
        if ((p->flags & CAROM_SCENE_CONTACT) == 0) continue;
        const carom_scene_contact *contact = &scene->pool.data[p->slot];
        CAROM_ASSERT(contact->a == p->a && contact->b == p->b);
        s->results[at++] = *contact;
    }
    CAROM_ASSERT(at >= s->writable ||
                 at == (range.end == scene->next.count ? s->contact_count
                                                       : s->firsts[range.begin / COPY_GRAIN + 1]));
    return CAROM_OK;
}

static carom_status fill_contacts(scene_step_job *s, carom_scene_contacts *contacts, bool *more) {
    carom_context *context = s->question.context;
    if (contacts == NULL) return CAROM_OK;
    CAROM_TRY(carom_scene_contacts_begin(context, &context->allocator, contacts, s->contact_count,
                                         &s->writable));
    s->results = contacts->data;
    CAROM_TRY(
        carom_parallel_for(context, s->scene->next.count, COPY_GRAIN, scene_step_copy_range, s));
    *more = *more || carom_scene_contacts_end(contacts) == CAROM_MORE;
    return CAROM_OK;
}

static carom_status fill_pairs(scene_step_job *s, const uint64_t *keys, uint64_t count,
                               carom_pairs *pairs, bool *more) {
    if (pairs == NULL) return CAROM_OK;
    carom_status status = carom_pair_list_fill(s->question.context, keys, count, pairs);
    *more = *more || status == CAROM_MORE;
    return status == CAROM_MORE ? CAROM_OK : status;
}

/* Makes this step the last one. Nothing here can fail: `free_slots` has space for all slots. */
static void commit(scene_step_job *s) {
    carom_scene *scene = s->scene;
    carom_scene_ids *free_slots = &scene->free_slots;
    CAROM_ASSERT(free_slots->count + s->dropped_count <= scene->pool.count);
    for (uint64_t i = 0; i < s->dropped_count; ++i)
        free_slots->data[free_slots->count++] = s->dropped[i];
    for (uint64_t i = 0; i < s->changed_count; ++i) {
        carom_scene_pair *p = &scene->next.data[s->changed[i]];
        p->flags &= CAROM_SCENE_CONTACT;
        if (p->flags != 0 || p->slot == CAROM_SCENE_NO_SLOT) continue;
        free_slots->data[free_slots->count++] = p->slot;
        p->slot = CAROM_SCENE_NO_SLOT;
    }
    carom_scene_pairs last = scene->kept;
    scene->kept = scene->next;
    scene->next = last;
    scene->next.count = 0;
    for (uint64_t i = 0; i < scene->changed.count; ++i)
        scene->states.data[scene->changed.data[i]] &=
            (uint8_t) ~(CAROM_SCENE_CHANGED | CAROM_SCENE_NEW);
    scene->changed.count = 0;
    scene->pairs = s->key_count;
    scene->contacts = s->contact_count;
    scene->tested = s->pending_count;
    CAROM_ASSERT(free_slots->count + scene->contacts == scene->pool.count);
}

/* After a failure: the slots that are not those of the last step are free. Uses no memory but the
 * list itself: a slot that is in use is marked by its contact's ids. */
static void roll_back(carom_scene *scene) {
    carom_scene_ids *free_slots = &scene->free_slots;
    for (uint64_t i = 0; i < scene->pool.count; ++i) scene->pool.data[i].a = UINT32_MAX;
    for (uint64_t i = 0; i < scene->kept.count; ++i) {
        const carom_scene_pair *p = &scene->kept.data[i];
        if (p->slot == CAROM_SCENE_NO_SLOT) continue;
        scene->pool.data[p->slot].a = p->a; /* a step that began to write it may have cleared it */
        scene->pool.data[p->slot].b = p->b;
    }
    free_slots->count = 0;
    for (uint64_t i = scene->pool.count; i > 0; --i)
        if (scene->pool.data[i - 1].a == UINT32_MAX)
            free_slots->data[free_slots->count++] = (uint32_t)(i - 1);
    CAROM_ASSERT(free_slots->count + scene->contacts == scene->pool.count);
    scene->next.count = 0;
}

static carom_status scene_step_run_phases(scene_step_job *s, carom_scene_contacts *contacts,
                                          carom_pairs *begun, carom_pairs *ended, bool *more) {
    carom_context *context = s->question.context;
    carom_scene *scene = s->scene;
    CAROM_TRY(carom_broad_step(context, scene->broad, NULL, NULL, NULL));
    carom_work work = context->work;
    scene->stale = false;
    s->keys = scene->broad->kept.data;
    s->key_count = scene->broad->kept.count;
    if (s->key_count >= UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "more pairs of boxes than 32 bits can number");
    CAROM_TRY(make_records(s));
    CAROM_TRY(carom_parallel_for(context, s->changed_count, RULE_OUT_GRAIN, rule_out_range, s));
    CAROM_TRY(list_pending(s));
    CAROM_TRY(scene_step_narrow(s));
    CAROM_TRY(list_changes(s));
    CAROM_TRY(count_contacts(s));
    CAROM_TRY(fill_contacts(s, contacts, more));
    CAROM_TRY(fill_pairs(s, s->begun, s->begun_count, begun, more));
    CAROM_TRY(fill_pairs(s, s->ended, s->ended_count, ended, more));
    uint64_t answered = 0;
    for (uint64_t i = 0; i < s->pending_count; ++i)
        answered += scene->next.data[s->pending[i]].flags & CAROM_SCENE_CONTACT;
    context->work = (carom_work){work.visits, s->pending_count, s->pending_count - answered};
    return CAROM_OK;
}

carom_status carom_scene_step(carom_context *context, carom_scene *scene,
                              carom_scene_contacts *contacts, carom_pairs *begun,
                              carom_pairs *ended) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    if (contacts != NULL) CAROM_REQUIRE_RESULT(contacts, "contacts");
    if (begun != NULL) CAROM_REQUIRE_RESULT(begun, "pairs that began");
    if (ended != NULL) CAROM_REQUIRE_RESULT(ended, "pairs that ended");
    CAROM_TRY(carom_scene_check_backend(context, scene));
    if (scene->device != NULL)
        return carom_scene_device_step(context, scene, contacts, begun, ended);
    scene_step_job s = {.question = {context, scene->reach, scene->skip_depth, scene->least_depth,
                                     &scene->faces, &scene->segments, NULL},
                        .scene = scene};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    bool more = false;
    carom_status status = scene_step_run_phases(&s, contacts, begun, ended, &more);
    if (status == CAROM_OK)
        commit(&s);
    else
        roll_back(scene);
    carom_arena_rewind(scratch, mark);
    return status == CAROM_OK && more ? CAROM_MORE : status;
}
