/* SPDX-License-Identifier: MIT */
/* Scenes: creating them, and adding, moving and removing objects.
 *
 * An object's id is that of its box in the broad phase, which hands ids out. A change checks its
 * input, reserves memory and changes the broad phase, which may fail; only then does it write
 * objects, which cannot. */
#include "scene/scene.h"

#include <float.h>
#include <stdio.h>

#include "base/names.h"
#include "base/progress.h"
#include "base/sort.h"
#include "broad/broad.h"
#include "convex/convex.h"
#include "geom/length.h"
#include "solid/solid.h"
#include "soup/soup_view.h"
#include "spheres/spheres_overlap.h"
#include "tree/tree.h"

CAROM_RESULT_DEFINE_FREE(carom_scene_contacts);

CAROM_ENUM_NAMES(carom_scene_object_kind, CAROM_SCENE_OBJECT_KIND_COUNT, "convex", "soup", "solid",
                 "packing");
CAROM_ENUM_NAMES(carom_scene_contact_method, CAROM_SCENE_CONTACT_METHOD_COUNT, "convex",
                 "convex-faces", "faces", "solids", "packings", "spheres");

#define SCENE_NAME_BYTES        64   /* "object " and 20 digits, in messages */
#define SCENE_OBJECTS_PER_RANGE 256u /* objects per range: some 30 us of work */

/* ---- Objects --------------------------------------------------------------------------------- */

carom_bounds carom_scene_object_box(carom_context *context, const carom_scene_object *object,
                                    const carom_frame *frame) {
    if (!carom_scene_is_convex(object)) return carom_scene_mesh_box(&object->local, frame);
    return CAROM_CPU_CALL(context, carom_scene_convex_box)(&object->convex, object->hull, frame);
}

void carom_scene_object_set_pose(carom_context *context, carom_scene_object *object,
                                 const carom_pose *pose) {
    carom_frame f = carom_frame_make(pose);
    object->pose = *pose;
    object->box = carom_scene_object_box(context, object, &f);
    CAROM_ASSERT(carom_scene_is_convex(object) ? !carom_bounds_is_empty(&object->box)
                                               : carom_bounds_is_empty(&object->box) ==
                                                     carom_bounds_is_empty(&object->local));
}

static bool scene_pose_is_fine(const carom_pose *pose) {
    double turn = fabs(pose->q.w) + fabs(pose->q.x) + fabs(pose->q.y) + fabs(pose->q.z);
    double shift = fabs(pose->t.x) + fabs(pose->t.y) + fabs(pose->t.z);
    return turn <= CAROM_SCENE_MOST_COORDINATE && shift <= CAROM_SCENE_MOST_COORDINATE;
}

static carom_status refuse_pose(carom_context *context, const char *which) {
    return carom_fail(context, CAROM_BAD_INPUT,
                      "the pose of %s is not finite or beyond 1e300; give finite numbers", which);
}

static carom_bounds soup_bounds(const carom_soup *soup) {
    carom_soup_view view;
    carom_bounds bounds = carom_bounds_empty();
    carom_soup_get_view(soup, &view);
    for (uint64_t i = 0; i < view.vertex_count; ++i)
        carom_bounds_include(&bounds, carom_soup_view_position(&view, (uint32_t)i));
    return bounds;
}

static carom_status scene_check_mesh(carom_context *context, const carom_scene_object *o,
                                     const char *which) {
    carom_soup_view view;
    carom_soup_get_view(o->soup, &view);
    const carom_bounds *b = &o->local;
    if (o->solid != NULL && o->solid->info.complement)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%s is a complement, which has no bounds; add the solid itself", which);
    if (context->backend == CAROM_BACKEND_CPU && view.bvh->level_count == 0 &&
        view.triangle_count != 0 && o->solid == NULL) {
        carom_soup_info info; /* no tree: method GRID, a lost one, or nothing to search */
        CAROM_TRY(carom_soup_get_info(o->soup, &info));
        if (info.live > info.degenerate_faces)
            return carom_fail(context, CAROM_BAD_INPUT,
                              "%s is a soup without a tree; make it with method tree or auto",
                              which);
    }
    if (b->low.x <= b->high.x && !(carom_vec_within(b->low, CAROM_SCENE_MOST_COORDINATE) &&
                                   carom_vec_within(b->high, CAROM_SCENE_MOST_COORDINATE)))
        return carom_fail(context, CAROM_BAD_INPUT, "%s has coordinates beyond 1e300", which);
    return CAROM_OK;
}

carom_status carom_scene_object_make(carom_context *context, const carom_scene_object_def *def,
                                     const char *which, carom_scene_object *object) {
    *object = (carom_scene_object){.kind = def->kind};
    if (!scene_pose_is_fine(&def->pose)) return refuse_pose(context, which);
    if (def->kind == CAROM_SCENE_OBJECT_KIND_CONVEX) {
        CAROM_TRY(carom_convex_check(context, &def->convex, &def->pose, which));
        object->convex = def->convex;
        object->hull = carom_convex_hull_view(&def->convex);
    } else if (def->kind == CAROM_SCENE_OBJECT_KIND_PACKING) {
        object->tree = def->borrowed_tree;
        object->local = carom_scene_packing_bounds(object->tree);
        CAROM_TRY(carom_spheres_check_pose(context, &object->tree->extent, &def->pose, 0.0, which));
    } else {
        if (def->kind == CAROM_SCENE_OBJECT_KIND_SOLID) object->solid = def->borrowed_solid;
        object->soup = object->solid != NULL ? object->solid->soup : def->borrowed_soup;
        object->local = soup_bounds(object->soup);
        CAROM_TRY(scene_check_mesh(context, object, which));
    }
    carom_scene_object_set_pose(context, object, &def->pose);
    return CAROM_OK;
}

/* ---- Create and destroy ---------------------------------------------------------------------- */

carom_status carom_scene_create(carom_context *context, const carom_scene_def *def,
                                carom_scene **scene) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_OUTPUT(scene, "scene");
    *scene = NULL;
    carom_scene_def none = {0};
    if (def == NULL) def = &none;
    if (!(def->reach >= 0.0 && def->reach <= CAROM_SCENE_MOST_COORDINATE))
        return carom_fail(context, CAROM_BAD_INPUT,
                          "the reach is %g; give a number from 0 to 1e300", def->reach);
    carom_scene *s = carom_allocate(&context->allocator, 1, sizeof(*s));
    if (s == NULL) return carom_fail_memory(context, sizeof(*s), "a scene");
    *s = (carom_scene){.allocator = context->allocator,
                       .reach = def->reach,
                       .skip_depth = def->skip_depth,
                       .least_depth = def->least_depth};
    carom_broad_def broad = {.accept = def->accept, .accept_user = def->accept_user};
    bool on_cpu = context->backend == CAROM_BACKEND_CPU;
    carom_status status = on_cpu ? CAROM_OK : carom_scene_device_create(context, def, s);
    if (status == CAROM_OK) status = carom_broad_create(context, &broad, &s->broad);
    if (status == CAROM_OK)
        *scene = s;
    else
        carom_scene_destroy(s);
    return status;
}

void carom_scene_destroy(carom_scene *scene) {
    if (scene == NULL) return;
    carom_allocator allocator = scene->allocator;
    carom_scene_device_release(scene);
    carom_broad_destroy(scene->broad);
    carom_pairs_free(&scene->faces);
    carom_soup_segments_free(&scene->segments);
    carom_scene_ids_release(&scene->changed, &allocator);
    carom_scene_states_release(&scene->states, &allocator);
    carom_scene_ids_release(&scene->free_slots, &allocator);
    carom_scene_words_release(&scene->ignored, &allocator);
    carom_scene_pairs_release(&scene->kept, &allocator);
    carom_scene_pairs_release(&scene->next, &allocator);
    carom_scene_pool_release(&scene->pool, &allocator);
    carom_release(&allocator, scene->objects);
    carom_release(&allocator, scene);
}

carom_status carom_scene_get_info(const carom_scene *scene, carom_scene_info *info) {
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_REQUIRE_OUTPUT(info, "info");
    carom_broad_info broad;
    CAROM_TRY(carom_broad_get_info(scene->broad, &broad));
    *info = (carom_scene_info){.ids = scene->id_count,
                               .live = scene->live,
                               .ignored = scene->ignored.count,
                               .pairs = scene->pairs,
                               .contacts = scene->contacts,
                               .asked = scene->tested};
    info->bytes = sizeof(*scene) + broad.bytes + scene->capacity * sizeof(*scene->objects) +
                  scene->states.capacity +
                  (scene->changed.capacity + scene->free_slots.capacity) * sizeof(uint32_t) +
                  (scene->kept.capacity + scene->next.capacity) * sizeof(carom_scene_pair) +
                  scene->faces.capacity * sizeof(carom_pair) +
                  scene->segments.capacity * sizeof(carom_soup_segment) +
                  scene->ignored.capacity * sizeof(uint64_t) +
                  scene->pool.capacity * sizeof(carom_scene_contact);
    if (scene->device != NULL) carom_scene_device_info(scene, info);
    return CAROM_OK;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static bool scene_is_live(const carom_scene *scene, uint32_t id) {
    return id < scene->id_count && (scene->states.data[id] & CAROM_SCENE_LIVE) != 0;
}

static carom_status scene_check_ids(carom_context *context, const carom_scene *scene,
                                    const uint32_t *ids, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t id = ids != NULL ? ids[i] : i;
        if (id < scene->id_count && scene_is_live(scene, (uint32_t)id)) continue;
        return carom_fail(context, CAROM_BAD_INPUT, "%llu is not the id of an object",
                          (unsigned long long)id);
    }
    return CAROM_OK;
}

/* Marks an object; `changed` has space. */
static void mark_changed(carom_scene *scene, uint32_t id, uint8_t how) {
    uint8_t *state = &scene->states.data[id];
    CAROM_ASSERT(id < scene->id_count && scene->changed.count <= scene->id_count);
    CAROM_ASSERT((*state & CAROM_SCENE_CHANGED) != 0 ||
                 scene->changed.count < scene->changed.capacity);
    if ((*state & CAROM_SCENE_CHANGED) == 0) scene->changed.data[scene->changed.count++] = id;
    *state |= CAROM_SCENE_CHANGED | how;
}

/* `changed` holds each id at most once. */
static carom_status reserve_changed(carom_context *context, carom_scene *scene, uint64_t ids) {
    if (!carom_scene_ids_reserve(&scene->changed, &scene->allocator, ids))
        return carom_fail_memory(context, ids * sizeof(uint32_t), "objects that change");
    return CAROM_OK;
}

static bool is_complete(const carom_scene_object_def *def) {
    if ((unsigned)def->kind >= CAROM_SCENE_OBJECT_KIND_COUNT) return false;
    if (def->kind == CAROM_SCENE_OBJECT_KIND_SOUP) return def->borrowed_soup != NULL;
    if (def->kind == CAROM_SCENE_OBJECT_KIND_SOLID) return def->borrowed_solid != NULL;
    if (def->kind == CAROM_SCENE_OBJECT_KIND_PACKING) return def->borrowed_tree != NULL;
    return carom_convex_is_complete(&def->convex);
}

static bool are_complete(const carom_scene_object_def *objects, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        if (!is_complete(&objects[i])) return false;
    return true;
}

carom_status carom_scene_objects_make(carom_context *context, const carom_scene_object_def *defs,
                                      uint64_t count, double reach, carom_scene_object *objects,
                                      carom_bounds *boxes) {
    char which[SCENE_NAME_BYTES];
    CAROM_REQUIRE(
        are_complete(defs, count),
        "an object has an unknown kind, or no soup, solid, tree, hull or support function");
    for (uint64_t i = 0; i < count; ++i) {
        snprintf(which, sizeof(which), "object %llu", (unsigned long long)i);
        CAROM_TRY(carom_scene_object_make(context, &defs[i], which, &objects[i]));
        boxes[i] = carom_scene_enlarge(&objects[i].box, reach);
    }
    return CAROM_OK;
}

static bool has_filter(const carom_scene_object_def *objects, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        if (objects[i].filter.group != 0 || objects[i].filter.mask != 0) return true;
    return false;
}

/* Grows the tables of objects to `needed`. */
static carom_status reserve_objects(carom_context *context, carom_scene *scene, uint64_t needed) {
    if (!carom_scene_states_reserve(&scene->states, &scene->allocator, needed))
        return carom_fail_memory(context, needed, "objects");
    if (needed <= scene->capacity) return CAROM_OK;
    void *grown = carom_array_grow(&scene->allocator, scene->objects, scene->id_count, needed,
                                   sizeof(*scene->objects), &scene->capacity);
    if (grown == NULL)
        return carom_fail_memory(context, needed * sizeof(*scene->objects), "objects");
    scene->objects = grown;
    return CAROM_OK;
}

typedef struct addition {
    carom_scene_object *objects;
    carom_bounds *boxes;
    carom_broad_filter *filters;
    uint32_t *ids;
} addition;

static carom_status scene_add(carom_context *context, carom_scene *scene,
                              const carom_scene_object_def *objects, uint64_t count,
                              const addition *a) {
    bool filtered = has_filter(objects, count);
    CAROM_REQUIRE(
        are_complete(objects, count),
        "an object has an unknown kind, or no soup, solid, tree, hull or support function");
    if (scene->device != NULL) CAROM_TRY(carom_scene_device_check_new(context, objects, count));
    CAROM_TRY(
        carom_scene_objects_make(context, objects, count, scene->reach, a->objects, a->boxes));
    uint64_t most = scene->broad->id_count + count; /* at least the ids of the scene */
    CAROM_TRY(reserve_objects(context, scene, most));
    CAROM_TRY(reserve_changed(context, scene, most));
    for (uint64_t i = 0; i < count; ++i) a->filters[i] = objects[i].filter;
    if (scene->device != NULL)
        CAROM_TRY(carom_scene_device_attach(context, scene, a->objects, count));
    carom_status status = carom_broad_add(context, scene->broad, a->boxes, count, a->ids);
    if (status == CAROM_OK && filtered) {
        status = carom_broad_set_filters(context, scene->broad, a->ids, a->filters, count);
        if (status != CAROM_OK) (void)carom_broad_remove(context, scene->broad, a->ids, count);
    }
    if (status != CAROM_OK) {
        for (uint64_t i = 0; i < count; ++i) carom_scene_device_detach(scene, &a->objects[i]);
        return status;
    }
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t id = a->ids[i];
        if (id >= scene->id_count) { /* ids that a failed change used up have no object */
            for (uint32_t k = scene->id_count; k < id; ++k)
                scene->objects[k] = (carom_scene_object){0};
            memset(scene->states.data + scene->id_count, 0, id + 1 - scene->id_count);
            scene->id_count = id + 1;
            scene->states.count = scene->id_count;
        }
        CAROM_ASSERT(id < scene->capacity && !scene_is_live(scene, id));
        uint8_t old = scene->states.data[id] & CAROM_SCENE_CHANGED;
        scene->objects[id] = a->objects[i];
        scene->states.data[id] = CAROM_SCENE_LIVE | old | carom_scene_kind_state(&a->objects[i]);
        mark_changed(scene, id, CAROM_SCENE_NEW);
    }
    scene->live += (uint32_t)count;
    CAROM_ASSERT(scene->live == scene->broad->live && scene->id_count == scene->states.count);
    scene->stale = scene->stale || count != 0;
    return CAROM_OK;
}

carom_status carom_scene_add(carom_context *context, carom_scene *scene,
                             const carom_scene_object_def *objects, uint64_t count, uint32_t *ids) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_REQUIRE_INPUTS(objects, count, "objects");
    CAROM_TRY(carom_scene_begin_change(context, scene));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    addition a = {CAROM_ARENA_TAKE(scratch, carom_scene_object, count),
                  CAROM_ARENA_TAKE(scratch, carom_bounds, count),
                  CAROM_ARENA_TAKE(scratch, carom_broad_filter, count),
                  CAROM_ARENA_TAKE(scratch, uint32_t, count)};
    bool there = a.objects != NULL && a.boxes != NULL && a.filters != NULL && a.ids != NULL;
    carom_status status = there ? scene_add(context, scene, objects, count, &a)
                                : carom_fail_memory(context,
                                                    count * (sizeof(*a.objects) + sizeof(*a.boxes) +
                                                             sizeof(*a.filters) + sizeof(*a.ids)),
                                                    "new objects");
    if (status == CAROM_OK && ids != NULL && count != 0)
        memcpy(ids, a.ids, (size_t)count * sizeof(*ids));
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Moving ---------------------------------------------------------------------------------- */

typedef struct moving {
    carom_context *context;
    carom_scene *scene;
    const uint32_t *ids;
    const carom_pose *poses;
    carom_bounds *tight, *boxes; /* the same without a reach */
} moving;

static carom_status scene_pose_range(void *argument, carom_range range) {
    const moving *m = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        const carom_scene_object *o = &m->scene->objects[m->ids != NULL ? m->ids[i] : i];
        if (!scene_pose_is_fine(&m->poses[i])) return CAROM_BAD_INPUT;
        carom_frame f = carom_frame_make(&m->poses[i]);
        m->tight[i] = carom_scene_object_box(m->context, o, &f);
        if (m->boxes != m->tight) m->boxes[i] = carom_scene_enlarge(&m->tight[i], m->scene->reach);
    }
    return CAROM_OK;
}

/* Writes poses and boxes. Not for ids of the caller, one of which may come twice. */
static carom_status write_range(void *argument, carom_range range) {
    const moving *m = argument;
    for (uint64_t i = range.begin; i < range.end; ++i) {
        m->scene->objects[i].pose = m->poses[i];
        m->scene->objects[i].box = m->tight[i];
    }
    return CAROM_OK;
}

/* Names the first pose that is not fine. */
static carom_status refuse_first(const moving *m) {
    char which[SCENE_NAME_BYTES];
    uint64_t i = 0;
    while (scene_pose_is_fine(&m->poses[i])) ++i;
    snprintf(which, sizeof(which), "object %llu",
             (unsigned long long)(m->ids != NULL ? m->ids[i] : i));
    return refuse_pose(m->context, which);
}

/* Checks the poses of packings, which have limits of their own. */
static carom_status check_packings(const moving *m, uint64_t count) {
    const carom_scene *scene = m->scene;
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t id = m->ids != NULL ? m->ids[i] : i;
        char which[SCENE_NAME_BYTES];
        if ((scene->states.data[id] & CAROM_SCENE_PACKING) == 0) continue;
        snprintf(which, sizeof(which), "object %llu", (unsigned long long)id);
        CAROM_TRY(carom_spheres_check_pose(m->context, &scene->objects[id].tree->extent,
                                           &m->poses[i], 0.0, which));
    }
    return CAROM_OK;
}

static carom_status scene_move(moving *m, carom_scene *scene, uint64_t count) {
    carom_context *context = m->context;
    CAROM_TRY(scene_check_ids(context, scene, m->ids, count));
    CAROM_TRY(check_packings(m, count));
    CAROM_TRY(reserve_changed(context, scene, scene->id_count));
    carom_status status = carom_parallel_phase(context, "moving objects", count,
                                               SCENE_OBJECTS_PER_RANGE, scene_pose_range, m);
    if (status == CAROM_BAD_INPUT) return refuse_first(m);
    CAROM_TRY(status);
    CAROM_TRY(carom_broad_move(context, scene->broad, m->ids, m->boxes, count));
    if (m->ids == NULL)
        (void)carom_parallel_for(context, count, SCENE_OBJECTS_PER_RANGE, write_range, m);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t id = m->ids != NULL ? m->ids[i] : (uint32_t)i;
        if (m->ids != NULL) {
            scene->objects[id].pose = m->poses[i];
            scene->objects[id].box = m->tight[i];
        }
        mark_changed(scene, id, 0);
    }
    scene->stale = scene->stale || count != 0;
    return CAROM_OK;
}

/* The same on the GPU, where boxes are found in the next step. */
static carom_status move_on_device(const moving *m, carom_scene *scene, uint64_t count) {
    CAROM_TRY(scene_check_ids(m->context, scene, m->ids, count));
    CAROM_TRY(reserve_changed(m->context, scene, scene->id_count));
    for (uint64_t i = 0; i < count; ++i)
        if (!scene_pose_is_fine(&m->poses[i])) return refuse_first(m);
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t id = m->ids != NULL ? m->ids[i] : (uint32_t)i;
        scene->objects[id].pose = m->poses[i];
        mark_changed(scene, id, 0);
    }
    return CAROM_OK;
}

carom_status carom_scene_move(carom_context *context, carom_scene *scene, const uint32_t *ids,
                              const carom_pose *poses, uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_REQUIRE_INPUTS(poses, count, "poses");
    CAROM_TRY(carom_scene_begin_change(context, scene));
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    moving m = {.context = context, .scene = scene, .ids = ids, .poses = poses};
    if (scene->device != NULL) return move_on_device(&m, scene, count);
    m.tight = CAROM_ARENA_TAKE(scratch, carom_bounds, count);
    m.boxes = scene->reach > 0.0 ? CAROM_ARENA_TAKE(scratch, carom_bounds, count) : m.tight;
    carom_status status = m.tight != NULL && m.boxes != NULL
                              ? scene_move(&m, scene, count)
                              : carom_fail_memory(context, 2 * count * sizeof(*m.boxes), "boxes");
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Removing, filters, ignored pairs -------------------------------------------------------- */

carom_status carom_scene_remove(carom_context *context, carom_scene *scene, const uint32_t *ids,
                                uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_REQUIRE_INPUTS(ids, count, "ids");
    CAROM_TRY(carom_scene_begin_change(context, scene));
    CAROM_TRY(scene_check_ids(context, scene, ids, count));
    CAROM_TRY(reserve_changed(context, scene, scene->id_count));
    CAROM_TRY(carom_broad_remove(context, scene->broad, ids, count));
    for (uint64_t i = 0; i < count; ++i) {
        carom_scene_device_detach(scene, &scene->objects[ids[i]]);
        mark_changed(scene, ids[i], 0);
        scene->states.data[ids[i]] &= (uint8_t) ~(CAROM_SCENE_LIVE | CAROM_SCENE_NEW);
    }
    uint64_t kept = 0;
    for (uint64_t i = 0; i < scene->ignored.count && count != 0; ++i) {
        uint64_t key = scene->ignored.data[i];
        if (scene_is_live(scene, (uint32_t)(key >> 32)) && scene_is_live(scene, (uint32_t)key))
            scene->ignored.data[kept++] = key;
    }
    if (count != 0) {
        scene->ignored_changed = scene->ignored_changed || kept != scene->ignored.count;
        scene->ignored.count = kept;
    }
    CAROM_ASSERT(scene->live >= count);
    scene->live -= (uint32_t)count;
    CAROM_ASSERT(scene->live == scene->broad->live);
    scene->stale = scene->stale || count != 0;
    return CAROM_OK;
}

carom_status carom_scene_set_filters(carom_context *context, carom_scene *scene,
                                     const uint32_t *ids, const carom_broad_filter *filters,
                                     uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_REQUIRE_INPUTS(filters, count, "filters");
    CAROM_TRY(carom_scene_begin_change(context, scene));
    CAROM_TRY(scene_check_ids(context, scene, ids, count));
    CAROM_TRY(reserve_changed(context, scene, scene->id_count));
    CAROM_TRY(carom_broad_set_filters(context, scene->broad, ids, filters, count));
    if (scene->device != NULL) return CAROM_OK; /* the next step tests all pairs */
    for (uint64_t i = 0; i < count; ++i) mark_changed(scene, ids != NULL ? ids[i] : (uint32_t)i, 0);
    scene->stale = scene->stale || count != 0;
    return CAROM_OK;
}

carom_status carom_scene_set_ignored(carom_context *context, carom_scene *scene,
                                     const carom_pair *pairs, uint64_t count, bool ignored) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_REQUIRE_INPUTS(pairs, count, "pairs");
    CAROM_TRY(carom_scene_begin_change(context, scene));
    carom_scene_words *words = &scene->ignored;
    for (uint64_t i = 0; i < count; ++i)
        if (!scene_is_live(scene, pairs[i].a) || !scene_is_live(scene, pairs[i].b) ||
            pairs[i].a == pairs[i].b)
            return carom_fail(context, CAROM_BAD_INPUT, "%u and %u are not the ids of two objects",
                              pairs[i].a, pairs[i].b);
    if (ignored && !carom_scene_words_reserve(words, &scene->allocator, words->count + count))
        return carom_fail_memory(context, count * sizeof(uint64_t), "pairs to leave out");
    CAROM_TRY(reserve_changed(context, scene, scene->id_count));
    scene->ignored_changed = scene->ignored_changed || count != 0;
    for (uint64_t i = 0; i < count; ++i) {
        /* a pair of unchanged objects without a record is apart; on the GPU there are none */
        if (scene->device == NULL) mark_changed(scene, pairs[i].a, 0);
        uint64_t key = carom_scene_key(pairs[i].a, pairs[i].b);
        uint64_t at = carom_lower_bound(words->data, words->count, key);
        CAROM_ASSERT((at == 0 || words->data[at - 1] < key) &&
                     (at == words->count || words->data[at] >= key));
        bool there = at < words->count && words->data[at] == key;
        if (there == ignored) continue;
        uint64_t *slot = words->data + at;
        uint64_t after = words->count - at;
        if (ignored) {
            memmove(slot + 1, slot, after * sizeof(*slot));
            *slot = key;
            ++words->count;
        } else {
            memmove(slot, slot + 1, (after - 1) * sizeof(*slot));
            --words->count;
        }
    }
    return CAROM_OK;
}

carom_status carom_scene_commit(carom_context *context, carom_scene *scene) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_TRY(carom_scene_require_cpu(context, scene));
    CAROM_TRY(carom_broad_commit(context, scene->broad));
    scene->stale = false;
    return CAROM_OK;
}
