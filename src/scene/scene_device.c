/* SPDX-License-Identifier: MIT */
/* Scenes of contexts of backend cuda: the calls of scene.h passed on to the GPU library, and those
 * of cuda.h.
 *
 * Objects, ids and filters are kept on the host, by the same code as for the CPU. What changes
 * there is listed, and copied before the next step. Poses are the device's: those that came from
 * device memory are not known to the host, which has no use for them. */
#include "base/progress.h"
#include "broad/broad.h"
#include "convex/convex.h"
#include "scene/scene.h"

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
    base->pairs_free(&scene->device_begun);
    base->pairs_free(&scene->device_ended);
    scene->device = NULL;
}

void carom_scene_device_info(const carom_scene *scene, carom_scene_info *info) {
    carom_device_scene_counts counts;
    info->bytes +=
        scene_device_table()->bytes(scene->device) +
        scene->device_contacts.capacity * sizeof(carom_scene_contact) +
        scene->device_results.capacity * sizeof(carom_convex_result) +
        (scene->device_begun.capacity + scene->device_ended.capacity) * sizeof(carom_pair);
    if (!scene->device_queued || !scene_device_table()->is_complete(scene->device, &counts)) return;
    info->pairs = info->asked = counts.pairs;
    info->contacts = counts.contacts;
}

carom_status carom_scene_device_check_new(carom_context *context,
                                          const carom_scene_object_def *objects, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        carom_device_shape shape;
        if (objects[i].kind != CAROM_SCENE_OBJECT_KIND_CONVEX)
            return carom_fail(context, CAROM_UNSUPPORTED,
                              "object %llu is a %s, and scenes on cuda take convex objects only; "
                              "use a context of backend cpu",
                              (unsigned long long)i, carom_scene_object_kind_name(objects[i].kind));
        CAROM_TRY(carom_convex_device_shape(context, &objects[i].convex, "object", i, &shape));
    }
    return CAROM_OK;
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
        to->live = 1;
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

/* ---- Steps ----------------------------------------------------------------------------------- */

static carom_status scene_device_queue(carom_context *context, carom_scene *scene,
                                       carom_cuda_scene_contacts *contacts, carom_cuda_pairs *begun,
                                       carom_cuda_pairs *ended) {
    carom_device *device = context->device;
    carom_device_scene_step step;
    CAROM_TRY(scene_device_resolve(context, scene));
    CAROM_TRY(scene_device_flush(context, scene));
    CAROM_TRY(carom_broad_commit(context, scene->broad));
    CAROM_TRY(
        carom_device_pass(context, scene_device_table()->find_boxes(device, scene->device, &step)));
    CAROM_TRY(carom_broad_device_update(context, scene->broad, step.boxes));
    CAROM_TRY(carom_cuda_broad_pairs(context, scene->broad, CAROM_CUDA_ORDER_ANY, step.pairs));
    const carom_device_questions questions = {
        .bodies = step.bodies, .pairs = step.pairs, .question = CAROM_CONVEX_QUESTION_DEPTH};
    CAROM_TRY(carom_device_pass(
        context, scene_device_convex()->query(device, &questions, &scene->device_results)));
    CAROM_TRY(carom_device_pass(
        context, scene_device_table()->find_contacts(device, scene->device, &scene->device_results,
                                                     contacts, begun, ended)));
    scene->device_queued = true;
    return CAROM_OK;
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
