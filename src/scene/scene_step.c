/* SPDX-License-Identifier: MIT */
/* A step: all contacts, and what began and ended since the last step.
 *
 *   sift     the pairs of boxes: which have an object that changed, and are near enough
 *   merge    them with the records of the last step; both are sorted
 *   rule out pairs that a plane of an earlier step still separates
 *   ask      the engines, for the pairs that are left and have an object that changed
 *   finish   the contacts in the order of the pairs
 *
 * The merge writes new records and leaves the old ones; they are exchanged at the end, when nothing
 * can fail any more. A failure in between leaves the last step, and the objects marked as changed:
 * the next step asks their pairs again. Contacts in slots of such pairs may have been overwritten
 * by then, which does not matter, as only asking reads them. */
#include "base/pair_list.h"
#include "base/progress.h"
#include "base/sort.h"
#include "broad/broad.h"
#include "scene/scene.h"

#define SIFT_GRAIN     4096u /* pairs per range: some 50 us of work */
#define RULE_OUT_GRAIN 512u  /* pairs per range: some 50 us of work */
#define ASK_GRAIN      32u   /* the same */
#define COPY_GRAIN     1024u /* contacts per range: 300 KiB */

CAROM_RESULT_FILL(carom_scene_contacts);

typedef struct step {
    carom_scene_question question;
    carom_scene *scene;
    const uint64_t *keys; /* of the pairs of boxes: a << 32 | b, sorted */
    uint64_t key_count;
    uint8_t *sifted; /* one per pair of boxes: SIFT_... */
    uint64_t *ended; /* keys, in scratch */
    uint64_t *begun;
    uint64_t ended_count, begun_count;
    uint32_t *dropped; /* slots of records that are no more, in scratch */
    uint64_t dropped_count;
    uint32_t *asked; /* places in `next`: light pairs first (scene.h), then the others */
    uint64_t asked_count, convex_count;
    uint32_t *slots; /* of all contacts, in the order of the pairs */
    uint64_t slot_count;
    carom_scene_contact *results;
} step;

static uint64_t key_of(const carom_scene_pair *p) {
    return (uint64_t)p->a << 32 | p->b;
}

static const carom_scene_object *object_of(const step *s, uint32_t id) {
    return &s->scene->objects[id];
}

/* ---- Merge ----------------------------------------------------------------------------------- */

/* A record of the last step that has no successor. */
static void drop(step *s, const carom_scene_pair *old) {
    if ((old->flags & CAROM_SCENE_CONTACT) != 0) s->ended[s->ended_count++] = key_of(old);
    if (old->slot != CAROM_SCENE_NO_SLOT) s->dropped[s->dropped_count++] = old->slot;
}

/* What is known of a pair of boxes. */
#define SIFT_SAME    0u /* no object changed: the record of the last step counts, if there is one */
#define SIFT_CHANGED 1u
#define SIFT_NEW     2u /* an object is new: a record of the last step is not its */
#define SIFT_FAR     4u /* the boxes are farther apart than the reach */

static carom_status sift_range(void *argument, carom_range range) {
    const step *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_scene_object *a = object_of(s, (uint32_t)(s->keys[i] >> 32));
        const carom_scene_object *b = object_of(s, (uint32_t)s->keys[i]);
        uint32_t states = a->state | b->state;
        s->sifted[i] = SIFT_SAME;
        if ((states & CAROM_SCENE_CHANGED) == 0) continue;
        s->sifted[i] = (states & CAROM_SCENE_NEW) != 0 ? SIFT_NEW : SIFT_CHANGED;
        if (carom_scene_is_far(&s->question, a, b)) s->sifted[i] = SIFT_FAR;
    }
    return CAROM_OK;
}

static void merge(step *s) {
    carom_scene *scene = s->scene;
    const carom_scene_pairs *kept = &scene->kept;
    const carom_scene_words *ignored = &scene->ignored;
    uint64_t j = 0, g = 0, count = 0, old_key = kept->count != 0 ? key_of(kept->data) : UINT64_MAX;
    for (uint64_t i = 0; i < s->key_count; ++i) {
        uint64_t key = s->keys[i];
        if (s->sifted[i] == SIFT_FAR) continue;
        while (g < ignored->count && ignored->data[g] < key) ++g;
        if (g < ignored->count && ignored->data[g] == key) continue;
        while (old_key < key) {
            drop(s, &kept->data[j++]);
            old_key = j < kept->count ? key_of(&kept->data[j]) : UINT64_MAX;
        }
        const carom_scene_pair *old = NULL;
        if (old_key == key) {
            old = &kept->data[j++];
            old_key = j < kept->count ? key_of(&kept->data[j]) : UINT64_MAX;
        }
        if (old == NULL && s->sifted[i] == SIFT_SAME) continue; /* was far, and still is */
        carom_scene_pair *p = &scene->next.data[count++];
        if (old != NULL && s->sifted[i] != SIFT_NEW) {
            *p = *old;
            if ((old->flags & CAROM_SCENE_CONTACT) != 0) p->flags |= CAROM_SCENE_WAS;
            if (s->sifted[i] == SIFT_CHANGED) p->flags |= CAROM_SCENE_ASK;
            continue;
        }
        if (old != NULL) drop(s, old);
        *p = (carom_scene_pair){.a = (uint32_t)(key >> 32),
                                .b = (uint32_t)key,
                                .slot = CAROM_SCENE_NO_SLOT,
                                .flags = CAROM_SCENE_ASK};
    }
    while (j < kept->count) drop(s, &kept->data[j++]);
    scene->next.count = count;
}

/* ---- Rule out -------------------------------------------------------------------------------- */

/* Clears CAROM_SCENE_ASK and CAROM_SCENE_CONTACT of pairs that are surely not in contact, and only
 * CAROM_SCENE_CONTACT of the others that are to be asked. */
static carom_status rule_out_range(void *argument, carom_range range) {
    const step *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_scene_pair *p = &s->scene->next.data[i];
        if ((p->flags & CAROM_SCENE_ASK) == 0) continue;
        p->flags &= ~CAROM_SCENE_CONTACT;
        if (carom_scene_rule_out(&s->question, object_of(s, p->a), object_of(s, p->b),
                                 p->direction))
            p->flags &= ~CAROM_SCENE_ASK;
    }
    return CAROM_OK;
}

/* Gives every pair that is to be asked a slot, and lists these pairs. */
static carom_status list_asked(step *s) {
    carom_context *context = s->question.context;
    carom_scene *scene = s->scene;
    uint64_t convex = 0, heavy = 0, needed = 0, convex_at = 0;
    for (uint64_t i = 0; i < scene->next.count; ++i) {
        const carom_scene_pair *p = &scene->next.data[i];
        if ((p->flags & CAROM_SCENE_ASK) == 0) continue;
        bool light = carom_scene_is_light(object_of(s, p->a), object_of(s, p->b));
        heavy += light ? 0 : 1;
        convex += light ? 1 : 0;
        needed += p->slot == CAROM_SCENE_NO_SLOT ? 1 : 0;
    }
    s->asked_count = convex + heavy;
    s->convex_count = convex;
    s->asked = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint32_t, s->asked_count);
    carom_scene_ids *free_slots = &scene->free_slots;
    uint64_t grow = needed > free_slots->count ? needed - free_slots->count : 0;
    uint64_t slots = scene->pool.count + grow;
    if (slots >= CAROM_SCENE_NO_SLOT)
        return carom_fail(context, CAROM_TOO_LARGE, "more contacts than 32 bits can number");
    if (s->asked == NULL || !carom_scene_pool_reserve(&scene->pool, &scene->allocator, slots) ||
        !carom_scene_ids_reserve(free_slots, &scene->allocator, slots))
        return carom_fail_memory(context, slots * sizeof(carom_scene_contact), "contacts");
    for (uint64_t i = slots; i > scene->pool.count; --i)
        free_slots->data[free_slots->count++] = (uint32_t)(i - 1);
    scene->pool.count = slots;
    uint64_t heavy_at = convex;
    for (uint64_t i = 0; i < scene->next.count; ++i) {
        carom_scene_pair *p = &scene->next.data[i];
        if ((p->flags & CAROM_SCENE_ASK) == 0) continue;
        bool light = carom_scene_is_light(object_of(s, p->a), object_of(s, p->b));
        s->asked[light ? convex_at++ : heavy_at++] = (uint32_t)i;
        if (p->slot == CAROM_SCENE_NO_SLOT) p->slot = free_slots->data[--free_slots->count];
    }
    return CAROM_OK;
}

/* ---- Ask ------------------------------------------------------------------------------------- */

static void settle(carom_scene_pair *p, carom_scene_contact *contact, bool in_contact) {
    contact->a = p->a;
    contact->b = p->b;
    if (in_contact)
        p->flags |= CAROM_SCENE_CONTACT;
    else
        p->direction = contact->normal;
}

static carom_status ask_range(void *argument, carom_range range) {
    const step *s = argument;
    carom_scene *scene = s->scene;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        carom_scene_pair *p = &scene->next.data[s->asked[i]];
        carom_scene_contact *contact = &scene->pool.data[p->slot];
        bool in_contact;
        CAROM_TRY(carom_scene_ask_convex(&s->question, range.worker, object_of(s, p->a),
                                         object_of(s, p->b), contact, &in_contact));
        settle(p, contact, in_contact);
        if (carom_progress_stop(s->question.context, range.worker)) return CAROM_CANCELLED;
    }
    return CAROM_OK;
}

/* What runs on all threads: convex shapes that may be inside solids, and pairs that are not light.
 */
static carom_status ask_heavy(const step *s) {
    carom_scene *scene = s->scene;
    for (uint64_t i = 0; i < s->asked_count; ++i) {
        carom_scene_pair *p = &scene->next.data[s->asked[i]];
        const carom_scene_object *a = object_of(s, p->a), *b = object_of(s, p->b);
        carom_scene_contact *contact = &scene->pool.data[p->slot];
        bool in_contact = false;
        if (i < s->convex_count) {
            if (a->solid == NULL && b->solid == NULL) continue;
            if ((p->flags & CAROM_SCENE_CONTACT) != 0 &&
                contact->relation > CAROM_RELATION_TOUCHING)
                continue;
            CAROM_TRY(carom_scene_ask_inside(&s->question, a, b, contact, &in_contact));
            if (!in_contact) continue;
        } else {
            CAROM_TRY(carom_scene_ask_heavy(&s->question, a, b, contact, &in_contact));
        }
        settle(p, contact, in_contact);
    }
    return CAROM_OK;
}

static carom_status ask(step *s) {
    carom_context *context = s->question.context;
    carom_status status = carom_parallel_phase(context, "asking convex objects", s->convex_count,
                                               ASK_GRAIN, ask_range, s);
    if (status == CAROM_NO_MEMORY) return carom_fail_memory(context, 0, "contacts of objects");
    CAROM_TRY(status);
    carom_progress_begin(context, "asking meshes", 0);
    return carom_progress_finish(context, ask_heavy(s));
}

/* ---- Finish ---------------------------------------------------------------------------------- */

/* Lists the contacts, and completes what began and ended. */
static carom_status list_contacts(step *s) {
    carom_context *context = s->question.context;
    const carom_scene_pairs *next = &s->scene->next;
    for (uint64_t i = 0; i < next->count; ++i) {
        const carom_scene_pair *p = &next->data[i];
        bool is = (p->flags & CAROM_SCENE_CONTACT) != 0, was = (p->flags & CAROM_SCENE_WAS) != 0;
        if (is) s->slots[s->slot_count++] = p->slot;
        if (is && !was) s->begun[s->begun_count++] = key_of(p);
        if (was && !is) s->ended[s->ended_count++] = key_of(p);
    }
    return carom_sort_words(context, s->ended, s->ended_count, 0, 64);
}

static carom_status copy_range(void *argument, carom_range range) {
    const step *s = argument;
    for (uint64_t i = range.begin; i < range.end; ++i)
        s->results[i] = s->scene->pool.data[s->slots[i]];
    return CAROM_OK;
}

static carom_status fill_contacts(step *s, carom_scene_contacts *contacts, bool *more) {
    carom_context *context = s->question.context;
    uint64_t writable;
    if (contacts == NULL) return CAROM_OK;
    CAROM_TRY(carom_scene_contacts_begin(context, &context->allocator, contacts, s->slot_count,
                                         &writable));
    s->results = contacts->data;
    CAROM_TRY(carom_parallel_for(context, writable, COPY_GRAIN, copy_range, s));
    *more = *more || carom_scene_contacts_end(contacts) == CAROM_MORE;
    return CAROM_OK;
}

static carom_status fill_pairs(step *s, const uint64_t *keys, uint64_t count, carom_pairs *pairs,
                               bool *more) {
    if (pairs == NULL) return CAROM_OK;
    carom_status status = carom_pair_list_fill(s->question.context, keys, count, pairs);
    *more = *more || status == CAROM_MORE;
    return status == CAROM_MORE ? CAROM_OK : status;
}

/* Makes this step the last one. Nothing here can fail: `free_slots` has space for all slots. */
static void commit(step *s) {
    carom_scene *scene = s->scene;
    carom_scene_ids *free_slots = &scene->free_slots;
    for (uint64_t i = 0; i < s->dropped_count; ++i)
        free_slots->data[free_slots->count++] = s->dropped[i];
    for (uint64_t i = 0; i < scene->next.count; ++i) {
        carom_scene_pair *p = &scene->next.data[i];
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
        scene->objects[scene->changed.data[i]].state &= CAROM_SCENE_LIVE;
    scene->changed.count = 0;
    scene->pairs = s->key_count;
    scene->contacts = s->slot_count;
    scene->asked = s->asked_count;
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
    scene->next.count = 0;
}

static carom_status run(step *s, carom_scene_contacts *contacts, carom_pairs *begun,
                        carom_pairs *ended, bool *more) {
    carom_context *context = s->question.context;
    carom_scene *scene = s->scene;
    carom_arena *scratch = carom_scratch(context, 0);
    CAROM_TRY(carom_broad_frame(context, scene->broad, NULL, NULL, NULL));
    carom_work work = context->work;
    scene->stale = false;
    s->keys = scene->broad->kept.data;
    s->key_count = scene->broad->kept.count;
    uint64_t old = scene->kept.count, most = s->key_count;
    s->sifted = CAROM_ARENA_TAKE(scratch, uint8_t, most);
    s->ended = CAROM_ARENA_TAKE(scratch, uint64_t, 2 * old);
    s->dropped = CAROM_ARENA_TAKE(scratch, uint32_t, old);
    if (s->sifted == NULL || s->ended == NULL || s->dropped == NULL)
        return carom_fail_memory(context, most, "pairs of objects");
    if (most >= UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "more pairs of boxes than 32 bits can number");
    CAROM_TRY(carom_parallel_for(context, most, SIFT_GRAIN, sift_range, s));
    uint64_t near = 0; /* records that the merge may make */
    for (uint64_t i = 0; i < most; ++i)
        near += s->sifted[i] == SIFT_CHANGED || s->sifted[i] == SIFT_NEW ? 1 : 0;
    near += old;
    s->begun = CAROM_ARENA_TAKE(scratch, uint64_t, near);
    s->slots = CAROM_ARENA_TAKE(scratch, uint32_t, near);
    if (s->begun == NULL || s->slots == NULL ||
        !carom_scene_pairs_reserve(&scene->next, &scene->allocator, near))
        return carom_fail_memory(context, near * sizeof(carom_scene_pair), "pairs of objects");
    merge(s);
    CAROM_TRY(carom_parallel_for(context, scene->next.count, RULE_OUT_GRAIN, rule_out_range, s));
    CAROM_TRY(list_asked(s));
    CAROM_TRY(ask(s));
    CAROM_TRY(list_contacts(s));
    CAROM_TRY(fill_contacts(s, contacts, more));
    CAROM_TRY(fill_pairs(s, s->begun, s->begun_count, begun, more));
    CAROM_TRY(fill_pairs(s, s->ended, s->ended_count, ended, more));
    uint64_t answered = 0;
    for (uint64_t i = 0; i < s->asked_count; ++i)
        answered += scene->next.data[s->asked[i]].flags & CAROM_SCENE_CONTACT;
    context->work = (carom_work){work.visits, s->asked_count, s->asked_count - answered};
    return CAROM_OK;
}

carom_status carom_scene_step(carom_context *context, carom_scene *scene,
                              carom_scene_contacts *contacts, carom_pairs *begun,
                              carom_pairs *ended) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(scene != NULL, "the scene is NULL");
    if (contacts != NULL) CAROM_REQUIRE_RESULT(contacts, "the place for the contacts");
    if (begun != NULL) CAROM_REQUIRE_RESULT(begun, "the place for the pairs that began");
    if (ended != NULL) CAROM_REQUIRE_RESULT(ended, "the place for the pairs that ended");
    CAROM_TRY(carom_context_require_cpu(context, "a scene"));
    step s = {
        .question = {context, scene->reach, scene->skip_depth, &scene->faces, &scene->segments},
        .scene = scene};
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    bool more = false;
    carom_status status = run(&s, contacts, begun, ended, &more);
    if (status == CAROM_OK)
        commit(&s);
    else
        roll_back(scene);
    carom_arena_rewind(scratch, mark);
    return status == CAROM_OK && more ? CAROM_MORE : status;
}
