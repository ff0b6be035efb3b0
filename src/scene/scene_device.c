/* SPDX-License-Identifier: MIT */
/* Scenes of contexts of backend cuda: the calls of scene.h passed on to the GPU library, and those
 * of cuda.h.
 *
 * Objects, ids and filters are kept on the host, by the same code as for the CPU. What changes
 * there is listed, and copied before the next step. Poses are the device's: those that came from
 * device memory are read by the host only where there are meshes.
 *
 * Pairs of meshes come to the host once per step. It asks the engines of soups and solids about
 * all of them in batches (scene_batch.c), which search on the GPU, puts their contacts together,
 * and gives these back; there they find their places among those of convex objects. */
#include "base/progress.h"
#include "base/sort.h"
#include "broad/broad.h"
#include "convex/convex.h"
#include "scene/scene.h"
#include "solid/solid.h"
#include "soup/soup_view.h"

/* Objects that are copied to the device at a time: 32 MB of them. */
#define SCENE_DEVICE_CHUNK 65536u

static const carom_cuda_scenes *scene_device_table(void) {
    return carom_device_table(CAROM_CUDA_SCENES);
}

static const carom_cuda_convex *scene_device_convex(void) {
    return carom_device_table(CAROM_CUDA_CONVEX);
}

/* ---- Creating -------------------------------------------------------------------------------- */

carom_status carom_scene_device_create(carom_context *context, const carom_scene_def *def,
                                       carom_scene *scene) {
    CAROM_TRY(carom_context_require_table(context, scene_device_table(), "scenes"));
    CAROM_TRY(carom_convex_device_check(context));
    if (def->accept != NULL)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "accept cannot be called from cuda; use filters and ignored pairs");
    return carom_device_pass(
        context, scene_device_table()->create(context->device, def->reach, &scene->device));
}

void carom_scene_device_release(carom_scene *scene) {
    if (scene->device == NULL) return;
    const carom_cuda_base *base = carom_device_table(CAROM_CUDA_BASE);
    scene_device_table()->destroy(scene->device);
    scene_device_table()->contacts_free(&scene->device_contacts);
    scene_device_convex()->results_free(&scene->device_results);
    scene_device_convex()->manifolds_free(&scene->device_manifolds);
    base->pairs_free(&scene->device_begun);
    base->pairs_free(&scene->device_ended);
    for (uint64_t i = 0; i < scene->twins.count; ++i) carom_soup_destroy(scene->twins.data[i].soup);
    carom_scene_twins_release(&scene->twins, &scene->allocator);
    scene->device = NULL;
}

void carom_scene_device_info(const carom_scene *scene, carom_scene_info *info) {
    carom_device_scene_counts counts;
    info->bytes +=
        scene_device_table()->bytes(scene->device) +
        scene->device_contacts.capacity * sizeof(carom_scene_contact) +
        scene->device_results.capacity * sizeof(carom_convex_result) +
        (scene->device_begun.capacity + scene->device_ended.capacity) * sizeof(carom_pair) +
        scene->twins.capacity * sizeof(*scene->twins.data);
    for (uint64_t i = 0; i < scene->twins.count; ++i) {
        carom_soup_info soup;
        if (carom_soup_get_info(scene->twins.data[i].soup, &soup) == CAROM_OK)
            info->bytes += soup.bytes;
    }
    if (!scene->device_queued || !scene_device_table()->is_complete(scene->device, &counts)) return;
    info->pairs = info->asked = counts.pairs;
    info->contacts = counts.contacts;
}

/* CAROM_OK if a mesh can be in a scene on the GPU. */
static carom_status scene_device_check_mesh(carom_context *context,
                                            const carom_scene_object_def *object, uint64_t number) {
    carom_status status;
    if (object->kind == CAROM_SCENE_OBJECT_KIND_SOLID) {
        status = carom_solid_check_backend(context, object->borrowed_solid);
    } else {
        status = carom_soup_device_check_tree(context, object->borrowed_soup);
        if (status == CAROM_OK && carom_soup_is_stale(object->borrowed_soup))
            return carom_fail(context, CAROM_UNSUPPORTED,
                              "the positions of object %llu are in device memory alone; update its "
                              "soup with positions of the host",
                              (unsigned long long)number);
    }
    return status == CAROM_OK ? status : carom_fail_at(context, status, "object", number);
}

carom_status carom_scene_device_check_new(carom_context *context,
                                          const carom_scene_object_def *objects, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        carom_device_shape shape;
        if (objects[i].kind == CAROM_SCENE_OBJECT_KIND_PACKING)
            return carom_fail(context, CAROM_UNSUPPORTED,
                              "object %llu is a packing, and scenes on cuda take convex objects, "
                              "soups and solids; use a context of backend cpu",
                              (unsigned long long)i);
        if (objects[i].kind == CAROM_SCENE_OBJECT_KIND_CONVEX)
            CAROM_TRY(carom_convex_device_shape(context, &objects[i].convex, "object", i, &shape));
        else
            CAROM_TRY(scene_device_check_mesh(context, &objects[i], i));
    }
    return CAROM_OK;
}

/* ---- Solids as soups ------------------------------------------------------------------------- */

static carom_status scene_device_add_twin(carom_context *context, carom_scene *scene,
                                          const carom_solid *solid) {
    const carom_soup_view *view = &solid->view;
    const carom_soup_def def = {.mesh = &(carom_mesh_view){.positions = view->positions,
                                                           .scalar = view->scalar,
                                                           .vertex_count = view->vertex_count,
                                                           .corners = view->corners,
                                                           .face_count = view->triangle_count},
                                .degenerate = CAROM_SOUP_DEGENERATE_AS_SEGMENT};
    carom_scene_twin *twin;
    if (!carom_scene_twins_reserve(&scene->twins, &scene->allocator, scene->twins.count + 1))
        return carom_fail_memory(context, sizeof(*twin), "solids of a scene");
    twin = &scene->twins.data[scene->twins.count];
    *twin = (carom_scene_twin){.solid = solid};
    CAROM_TRY(carom_soup_create(context, &def, &twin->soup));
    ++scene->twins.count;
    return CAROM_OK;
}

static uint64_t scene_device_find_twin(const carom_scene *scene, const carom_solid *solid) {
    uint64_t i = 0;
    while (i < scene->twins.count && scene->twins.data[i].solid != solid) ++i;
    return i;
}

static carom_status scene_device_take_twin(carom_context *context, carom_scene *scene,
                                           carom_scene_object *object) {
    uint64_t i = scene_device_find_twin(scene, object->solid);
    if (i == scene->twins.count) CAROM_TRY(scene_device_add_twin(context, scene, object->solid));
    object->soup = scene->twins.data[i].soup;
    ++scene->twins.data[i].uses;
    return CAROM_OK;
}

carom_status carom_scene_device_attach(carom_context *context, carom_scene *scene,
                                       carom_scene_object *objects, uint64_t count) {
    carom_status status = CAROM_OK;
    uint64_t i = 0;
    for (; i < count && status == CAROM_OK; ++i) {
        if (objects[i].solid != NULL) status = scene_device_take_twin(context, scene, &objects[i]);
        if (status != CAROM_OK) break;
        scene->mesh_count += carom_scene_is_convex(&objects[i]) ? 0 : 1;
    }
    if (status != CAROM_OK)
        while (i-- > 0) carom_scene_device_detach(scene, &objects[i]);
    return status;
}

void carom_scene_device_detach(carom_scene *scene, const carom_scene_object *object) {
    if (scene->device == NULL) return;
    scene->mesh_count -= carom_scene_is_convex(object) ? 0 : 1;
    if (object->solid == NULL) return;
    carom_scene_twin *twin = &scene->twins.data[scene_device_find_twin(scene, object->solid)];
    CAROM_ASSERT(twin->soup == object->soup && twin->uses != 0);
    if (--twin->uses != 0) return;
    carom_soup_destroy(twin->soup);
    *twin = scene->twins.data[--scene->twins.count];
}

/* ---- Changes --------------------------------------------------------------------------------- */

carom_status carom_scene_check_backend(carom_context *context, const carom_scene *scene) {
    return carom_context_require_made(context, carom_backend_of(scene->device), "the scene");
}

carom_status carom_scene_require_cpu(carom_context *context, const carom_scene *scene) {
    CAROM_TRY(carom_scene_check_backend(context, scene));
    return carom_context_require_cpu(context, "a query of a scene");
}

/* Finishes queued work, and makes a step that it completed the last one. */
static carom_status scene_device_resolve(carom_context *context, carom_scene *scene) {
    carom_device_scene_counts counts;
    CAROM_TRY(carom_cuda_finish(context));
    if (!scene->device_queued) return CAROM_OK;
    if (scene_device_table()->is_complete(scene->device, &counts)) {
        CAROM_TRY(carom_broad_recycle_ids(context, scene->broad));
        scene_device_table()->commit(scene->device);
        scene->pairs = scene->tested = counts.pairs;
        scene->contacts = counts.contacts;
    }
    scene->device_queued = false;
    return CAROM_OK;
}

carom_status carom_scene_begin_change(carom_context *context, carom_scene *scene) {
    CAROM_TRY(carom_scene_check_backend(context, scene));
    return scene->device != NULL ? scene_device_resolve(context, scene) : CAROM_OK;
}

/* Space to copy changed objects from. */
typedef struct scene_device_room {
    carom_device_scene_object *objects;
    carom_device_scene_pose *poses;
} scene_device_room;

/* Copies some of the changed objects. */
static carom_status scene_device_put(carom_context *context, carom_scene *scene,
                                     const uint32_t *ids, uint64_t count,
                                     const scene_device_room *room) {
    uint64_t objects = 0, poses = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const carom_scene_object *o = &scene->objects[ids[i]];
        uint8_t state = scene->states.data[ids[i]];
        if ((state & CAROM_SCENE_LIVE) != 0 && (state & CAROM_SCENE_NEW) == 0) {
            room->poses[poses++] = (carom_device_scene_pose){o->pose, ids[i]};
            continue;
        }
        carom_device_scene_object *to = &room->objects[objects++];
        *to = (carom_device_scene_object){.pose = o->pose, .id = ids[i]};
        if ((state & CAROM_SCENE_LIVE) == 0) continue;
        to->kind = CAROM_DEVICE_SCENE_MESH;
        to->local = o->local;
        if (!carom_scene_is_convex(o)) continue;
        to->kind = CAROM_DEVICE_SCENE_CONVEX;
        CAROM_TRY(carom_convex_device_shape(context, &o->convex, "object", ids[i], &to->shape));
    }
    CAROM_TRY(carom_device_pass(
        context, scene_device_table()->set_objects(context->device, scene->device, room->objects,
                                                   objects, scene->broad->id_count)));
    return carom_device_pass(context, scene_device_table()->set_poses(
                                          context->device, scene->device, room->poses, poses));
}

/* Copies what changed on the host since the last call. */
static carom_status scene_device_flush(carom_context *context, carom_scene *scene) {
    carom_scene_ids *changed = &scene->changed;
    uint64_t most = CAROM_MIN(changed->count, SCENE_DEVICE_CHUNK);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    scene_device_room room = {CAROM_ARENA_TAKE(scratch, carom_device_scene_object, most),
                              CAROM_ARENA_TAKE(scratch, carom_device_scene_pose, most)};
    carom_status status =
        room.objects != NULL && room.poses != NULL
            ? CAROM_OK
            : carom_fail_memory(context, most * sizeof(*room.objects), "objects that changed");
    for (uint64_t i = 0; i < changed->count && status == CAROM_OK; i += most)
        status = scene_device_put(context, scene, changed->data + i,
                                  CAROM_MIN(changed->count - i, most), &room);
    carom_arena_rewind(scratch, mark);
    if (status == CAROM_OK) /* where an addition that failed used up ids */
        status = carom_device_pass(
            context, scene_device_table()->set_objects(context->device, scene->device, NULL, 0,
                                                       scene->broad->id_count));
    CAROM_TRY(status);
    for (uint64_t i = 0; i < changed->count; ++i)
        scene->states.data[changed->data[i]] &= (uint8_t) ~(CAROM_SCENE_CHANGED | CAROM_SCENE_NEW);
    changed->count = 0;
    if (!scene->ignored_changed) return CAROM_OK;
    CAROM_TRY(carom_device_pass(
        context, scene_device_table()->set_ignored(context->device, scene->device,
                                                   scene->ignored.data, scene->ignored.count)));
    scene->ignored_changed = false;
    return CAROM_OK;
}

/* ---- Pairs with meshes ----------------------------------------------------------------------- */

/* Reads poses that were given in device memory. */
static carom_status scene_device_read_poses(carom_context *context, carom_scene *scene) {
    uint64_t count = scene->broad->id_count;
    if (!scene->poses_stale) return CAROM_OK;
    carom_pose *poses = CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_pose, count);
    if (poses == NULL) return carom_fail_memory(context, count * sizeof(*poses), "poses");
    CAROM_TRY(carom_device_pass(
        context, scene_device_table()->get_poses(context->device, scene->device, poses)));
    for (uint32_t id = 0; id < scene->id_count; ++id)
        if ((scene->states.data[id] & CAROM_SCENE_LIVE) != 0) scene->objects[id].pose = poses[id];
    scene->poses_stale = false;
    return CAROM_OK;
}

/* Reads the pairs with a mesh, in their canonical order and without those that are left out, and
 * brings the boxes of their objects up to date. */
static carom_status scene_device_read_pairs(carom_context *context, carom_scene *scene,
                                            uint64_t **words, uint64_t *kept) {
    uint64_t count = scene_device_table()->mesh_pairs(scene->device);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_pair *pairs = CAROM_ARENA_TAKE(scratch, carom_pair, count);
    *words = CAROM_ARENA_TAKE(scratch, uint64_t, count);
    *kept = 0;
    if (pairs == NULL || *words == NULL)
        return carom_fail_memory(context, count * 2 * sizeof(*pairs), "pairs of meshes");
    CAROM_TRY(carom_device_pass(
        context, scene_device_table()->get_mesh_pairs(context->device, scene->device, pairs)));
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t key = (uint64_t)pairs[i].a << 32 | pairs[i].b;
        uint64_t at = carom_lower_bound(scene->ignored.data, scene->ignored.count, key);
        if (at < scene->ignored.count && scene->ignored.data[at] == key) continue;
        (*words)[(*kept)++] = key;
        const uint32_t ids[2] = {pairs[i].a, pairs[i].b};
        for (int k = 0; k < 2; ++k) {
            carom_scene_object *o = &scene->objects[ids[k]];
            const carom_pose pose = o->pose;
            carom_scene_object_set_pose(context, o, &pose);
        }
    }
    return carom_sort_words(context, *words, *kept, 0, 64);
}

carom_status carom_scene_device_query_faces(carom_context *context, carom_scene *scene,
                                            const carom_device_scene_face *faces, uint32_t count,
                                            carom_convex_manifold *manifolds) {
    return carom_device_pass(context,
                             scene_device_table()->query_faces(
                                 context->device, scene->device, scene_device_convex(), faces,
                                 count, scene->reach, &scene->device_manifolds, manifolds));
}

/* Answers pairs of meshes; contacts are at the front of the pool, in their order. */
static carom_status scene_device_answer(carom_context *context, carom_scene *scene,
                                        const uint64_t *words, uint64_t count, uint64_t *found) {
    const carom_scene_question question = {
        .context = context,
        .reach = scene->reach,
        .skip_depth = scene->skip_depth,
        .least_depth = scene->least_depth,
        .faces = &scene->faces,
        .segments = &scene->segments,
        .scene = scene,
    };
    carom_scene_test *tests = CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_scene_test, count);
    if (tests == NULL || !carom_scene_pool_reserve(&scene->pool, &scene->allocator, count))
        return carom_fail_memory(context, count * sizeof(carom_scene_contact),
                                 "contacts of meshes");
    carom_scene_contact *contacts = scene->pool.data; /* which is of no other use here */
    for (uint64_t i = 0; i < count; ++i)
        tests[i] = (carom_scene_test){.a = &scene->objects[words[i] >> 32],
                                      .b = &scene->objects[(uint32_t)words[i]],
                                      .contact = &contacts[i]};
    CAROM_TRY(carom_scene_narrow_batch(&question, tests, count));
    *found = 0;
    for (uint64_t i = 0; i < count; ++i) {
        if (!tests[i].in_contact) continue;
        contacts[*found] = contacts[i];
        contacts[*found].a = (uint32_t)(words[i] >> 32);
        contacts[*found].b = (uint32_t)words[i];
        ++*found;
    }
    return CAROM_OK;
}

/* Finishes what is queued, and gives the device the contacts of meshes. */
static carom_status scene_device_find_meshes(carom_context *context, carom_scene *scene) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t *words, count, found = 0;
    CAROM_TRY(carom_cuda_finish(context));
    carom_status status = scene_device_read_poses(context, scene);
    if (status == CAROM_OK) status = scene_device_read_pairs(context, scene, &words, &count);
    if (status == CAROM_OK) status = scene_device_answer(context, scene, words, count, &found);
    carom_arena_rewind(scratch, mark);
    CAROM_TRY(status);
    return carom_device_pass(context, scene_device_table()->set_mesh_contacts(
                                          context->device, scene->device, scene->pool.data, found));
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static carom_status scene_device_queue_all(carom_context *context, carom_scene *scene,
                                           carom_cuda_scene_contacts *contacts,
                                           carom_cuda_pairs *begun, carom_cuda_pairs *ended) {
    carom_device *device = context->device;
    carom_device_scene_step step;
    const bool meshes = scene->mesh_count != 0;
    CAROM_TRY(scene_device_flush(context, scene));
    CAROM_TRY(carom_broad_commit(context, scene->broad));
    CAROM_TRY(
        carom_device_pass(context, scene_device_table()->find_boxes(device, scene->device, &step)));
    CAROM_TRY(carom_broad_device_update(context, scene->broad, step.boxes));
    CAROM_TRY(carom_cuda_broad_pairs(context, scene->broad, CAROM_CUDA_ORDER_ANY, step.pairs));
    if (meshes)
        CAROM_TRY(carom_device_pass(context, scene_device_table()->split(device, scene->device)));
    const carom_device_questions questions = {.bodies = step.bodies,
                                              .pairs = meshes ? step.convex : step.pairs,
                                              .question = CAROM_CONVEX_QUESTION_DEPTH};
    CAROM_TRY(carom_device_pass(
        context, scene_device_convex()->query(device, &questions, &scene->device_results)));
    if (meshes) CAROM_TRY(scene_device_find_meshes(context, scene));
    CAROM_TRY(carom_device_pass(
        context, scene_device_table()->find_contacts(device, scene->device, &scene->device_results,
                                                     contacts, begun, ended)));
    scene->device_queued = true;
    return CAROM_OK;
}

/* Where one of its operations fails, none of them stays queued. */
static carom_status scene_device_queue(carom_context *context, carom_scene *scene,
                                       carom_cuda_scene_contacts *contacts, carom_cuda_pairs *begun,
                                       carom_cuda_pairs *ended) {
    CAROM_TRY(scene_device_resolve(context, scene)); /* what was queued before: no frame either */
    carom_status status = scene_device_queue_all(context, scene, contacts, begun, ended);
    if (status != CAROM_OK) carom_device_abandon(context);
    return status;
}

static carom_status scene_device_fill_pairs(carom_context *context, const carom_cuda_pairs *found,
                                            carom_pairs *pairs, bool *more) {
    if (pairs == NULL) return CAROM_OK;
    uint64_t *words = CAROM_ARENA_TAKE(carom_scratch(context, 0), uint64_t, found->count);
    if (words == NULL) return carom_fail_memory(context, found->count * sizeof(*words), "pairs");
    CAROM_TRY(carom_cuda_read(context, words, found->data, found->count * sizeof(*words)));
    for (uint64_t i = 0; i < found->count; ++i) { /* to the host's form of pairs */
        carom_pair pair;
        memcpy(&pair, &words[i], sizeof(pair));
        words[i] = (uint64_t)pair.a << 32 | pair.b;
    }
    carom_status status = carom_pair_list_fill(context, words, found->count, pairs);
    *more = *more || status == CAROM_MORE;
    return status == CAROM_MORE ? CAROM_OK : status;
}

static carom_status scene_device_fill(carom_context *context, const carom_scene *scene,
                                      carom_scene_contacts *contacts, carom_pairs *begun,
                                      carom_pairs *ended, bool *more) {
    uint64_t writable;
    if (contacts != NULL) {
        CAROM_TRY(carom_scene_contacts_begin(context, &context->allocator, contacts,
                                             scene->device_contacts.count, &writable));
        CAROM_TRY(carom_cuda_read(context, contacts->data, scene->device_contacts.data,
                                  writable * sizeof(*contacts->data)));
        *more = carom_scene_contacts_end(contacts) == CAROM_MORE;
    }
    CAROM_TRY(scene_device_fill_pairs(context, &scene->device_begun, begun, more));
    return scene_device_fill_pairs(context, &scene->device_ended, ended, more);
}

carom_status carom_scene_device_step(carom_context *context, carom_scene *scene,
                                     carom_scene_contacts *contacts, carom_pairs *begun,
                                     carom_pairs *ended) {
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_cuda_steps steps;
    bool more = false;
    carom_progress_begin(context, "testing convex objects", 0);
    carom_status status = scene_device_queue(
        context, scene, contacts != NULL ? &scene->device_contacts : NULL,
        begun != NULL ? &scene->device_begun : NULL, ended != NULL ? &scene->device_ended : NULL);
    if (status == CAROM_OK) status = carom_cuda_finish(context);
    status = carom_progress_finish(context, status);
    if (status == CAROM_OK)
        status = scene_device_fill(context, scene, contacts, begun, ended, &more);
    if (status != CAROM_OK) scene->device_queued = false; /* it has not happened */
    if (status == CAROM_OK) status = scene_device_resolve(context, scene);
    if (status == CAROM_OK) status = carom_cuda_get_steps(context, &steps);
    if (status == CAROM_OK)
        context->work =
            (carom_work){steps.node_pairs, scene->tested, scene->tested - scene->contacts};
    carom_arena_rewind(scratch, mark);
    return status == CAROM_OK && more ? CAROM_MORE : status;
}

/* ---- Device memory --------------------------------------------------------------------------- */

carom_status carom_cuda_scene_move(carom_context *context, carom_scene *scene,
                                   const carom_pose *device_poses, uint64_t count) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    CAROM_REQUIRE_INPUTS(device_poses, count, "poses");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "poses in device memory", &device));
    CAROM_TRY(carom_scene_begin_change(context, scene));
    if (count != scene->id_count)
        return carom_fail(context, CAROM_BAD_INPUT,
                          "%llu poses for a scene that has given out %u ids; give one for each",
                          (unsigned long long)count, scene->id_count);
    CAROM_TRY(scene_device_flush(context, scene));
    scene->poses_stale = true;
    return carom_device_pass(
        context, scene_device_table()->move(device, scene->device, device_poses, count));
}

carom_status carom_cuda_scene_step(carom_context *context, carom_scene *scene,
                                   carom_cuda_scene_contacts *contacts, carom_cuda_pairs *begun,
                                   carom_cuda_pairs *ended) {
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUT(scene, "scene");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "contacts in device memory", &device));
    CAROM_TRY(carom_scene_check_backend(context, scene));
    return scene_device_queue(context, scene, contacts, begun, ended);
}

void carom_cuda_scene_contacts_free(carom_context *context, carom_cuda_scene_contacts *contacts) {
    CAROM_ENTER_VOID(context);
    CAROM_REQUIRE_OR(contacts != NULL, CAROM_ARE_NULL("contacts"), );
    if (carom_context_require_table(context, scene_device_table(), "scenes") != CAROM_OK) return;
    (void)carom_cuda_finish(context);
    scene_device_table()->contacts_free(contacts);
}
