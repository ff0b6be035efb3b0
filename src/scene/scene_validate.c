/* SPDX-License-Identifier: MIT */
/* What is true of a scene between two calls. */
#include "broad/broad.h"
#include "scene/scene.h"

static const char *check_objects(const carom_scene *scene) {
    uint32_t live = 0, changed = 0;
    if (scene->id_count > scene->broad->id_count) return "scene: an object has no box";
    if (scene->id_count > scene->capacity || scene->id_count != scene->states.count)
        return "scene: there are more ids than objects";
    for (uint32_t id = 0; id < scene->id_count; ++id) {
        const carom_scene_object *o = &scene->objects[id];
        uint8_t state = scene->states.data[id];
        bool is_live = (state & CAROM_SCENE_LIVE) != 0;
        bool has_box = (scene->broad->states[id] & CAROM_BROAD_LIVE) != 0;
        if (is_live != has_box) return "scene: an object is not live where its box is";
        live += is_live ? 1 : 0;
        changed += (state & CAROM_SCENE_CHANGED) != 0 ? 1 : 0;
        if (!is_live) continue;
        bool mesh =
            o->kind == CAROM_SCENE_OBJECT_KIND_SOUP || o->kind == CAROM_SCENE_OBJECT_KIND_SOLID;
        bool packing = o->kind == CAROM_SCENE_OBJECT_KIND_PACKING;
        uint8_t kinds = state & (CAROM_SCENE_CONVEX | CAROM_SCENE_PACKING);
        if (mesh != (o->soup != NULL) || packing != (o->tree != NULL) ||
            kinds != carom_scene_kind_state(o))
            return "scene: an object has a wrong kind";
        if (scene->device != NULL) continue; /* its boxes are there */
        carom_bounds box = carom_scene_enlarge(&o->box, scene->reach);
        if (memcmp(&box, &scene->broad->boxes[id], sizeof(box)) != 0)
            return "scene: a box is not that of its object";
    }
    if (live != scene->live) return "scene: the number of live objects is wrong";
    if (changed != scene->changed.count) return "scene: the list of changed objects is wrong";
    for (uint64_t i = 0; i < scene->changed.count; ++i)
        if ((scene->states.data[scene->changed.data[i]] & CAROM_SCENE_CHANGED) == 0)
            return "scene: a listed object has not changed";
    return NULL;
}

static const char *scene_validate_check_pairs(const carom_scene *scene) {
    uint64_t contacts = 0;
    for (uint64_t i = 0; i < scene->kept.count; ++i) {
        const carom_scene_pair *p = &scene->kept.data[i];
        if (p->a >= p->b || p->b >= scene->id_count) return "scene: a pair has wrong ids";
        if (i > 0 && carom_scene_key(p[-1].a, p[-1].b) >= carom_scene_key(p->a, p->b))
            return "scene: the pairs are not sorted";
        if ((p->flags & ~CAROM_SCENE_CONTACT) != 0) return "scene: a pair has flags of a step";
        if ((p->flags != 0) != (p->slot != CAROM_SCENE_NO_SLOT))
            return "scene: a pair has a slot without a contact, or the reverse";
        if (p->flags == 0) continue;
        ++contacts;
        if (p->slot >= scene->pool.count) return "scene: a slot is out of range";
        const carom_scene_contact *c = &scene->pool.data[p->slot];
        if (c->a != p->a || c->b != p->b) return "scene: a contact is not that of its pair";
    }
    if (scene->device == NULL && contacts != scene->contacts)
        return "scene: the number of contacts is wrong";
    if (contacts + scene->free_slots.count != scene->pool.count)
        return "scene: a slot is neither used nor free";
    for (uint64_t i = 1; i < scene->ignored.count; ++i)
        if (scene->ignored.data[i - 1] >= scene->ignored.data[i])
            return "scene: the ignored pairs are not sorted";
    return NULL;
}

const char *carom_scene_validate(const carom_scene *scene) {
    const char *message = carom_broad_validate(scene->broad);
    if (message == NULL) message = check_objects(scene);
    if (message == NULL) message = scene_validate_check_pairs(scene);
    return message;
}
