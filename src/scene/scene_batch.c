/* SPDX-License-Identifier: MIT */
/* Pairs with a mesh in batches, for scenes on the GPU, where a query of one pair keeps few of its
 * processors busy.
 *
 *   faces     of convex objects and meshes: the host lists the triangles near each object, by the
 *             tree of the CPU, whose order counts; the GPU answers all of them; what may be inside
 *             of a solid is asked about afterwards

 *   solids    the overlaps of all pairs of two solids, with distances where there is a reach
 *   depths    of those that overlap: the interval of each along its force, halved for all pairs
 *             together, some 25 times
 *   meet      of all other pairs, whether faces meet
 *   gaps      of those of which none do, how far apart they are, where there is a reach
 *   finish    the contacts, by carom_scene_narrow_meshes, which takes these answers instead of
 *             asking for them: where faces meet, depths, and what is inside of what
 *
 * Invariant: the queries of a batch are those that the CPU would make for each pair, so that
 * contacts have the bytes that it gives. */
#include "base/progress.h"
#include "convex/convex.h"
#include "scene/scene.h"

/* Pairs that are searched together: a megabyte of answers. */
#define SCENE_BATCH_PAIRS 1024u
/* Triangles that are sent together: some 10 MB. */
#define SCENE_BATCH_FACES 8192u

typedef struct scene_batch {
    const carom_scene_question *q;
    carom_scene_test *tests;
    uint64_t count;
    carom_scene_ahead *ahead; /* of each test */
    uint32_t *order;          /* tests that a query is about, as many as it has pairs */
} scene_batch;

static carom_status scene_batch_fail(carom_context *context) {
    return carom_fail_memory(context, SCENE_BATCH_PAIRS * sizeof(carom_solid_result),
                             "pairs of meshes");
}

static bool scene_batch_are_meshes(const carom_scene_test *test) {
    return carom_scene_is_mesh(test->a) && carom_scene_is_mesh(test->b);
}

static bool scene_batch_are_solids(const carom_scene_test *test) {
    return test->a->solid != NULL && test->b->solid != NULL;
}

/* ---- Convex objects and meshes --------------------------------------------------------------- */

/* Triangles near some of the convex objects, those of each together. */
typedef struct scene_batch_listed {
    carom_scene_triangles triangles;
    uint64_t *first; /* of each test; and one behind the last */
} scene_batch_listed;

static carom_status scene_batch_list_faces(const scene_batch *s, scene_batch_listed *l) {
    for (uint64_t i = 0; i < s->count; ++i) {
        const carom_scene_object *a = s->tests[i].a, *b = s->tests[i].b;
        bool turned = carom_scene_is_mesh(a);
        l->first[i] = l->triangles.count;
        if (scene_batch_are_meshes(&s->tests[i])) continue;
        carom_status status =
            carom_scene_list_faces(s->q, turned ? b : a, turned ? a : b, &l->triangles);
        if (status == CAROM_NO_MEMORY) return scene_batch_fail(s->q->context);
        CAROM_TRY(status);
    }
    l->first[s->count] = l->triangles.count;
    return CAROM_OK;
}

/* The convex object of a pair. */
static const carom_scene_object *scene_batch_shape(const carom_scene_test *test) {
    return carom_scene_is_mesh(test->a) ? test->b : test->a;
}

/* Answers the triangles [at, at + count), the first of which belongs to test *i. */
static carom_status scene_batch_answer_faces(const scene_batch *s, const scene_batch_listed *l,
                                             uint64_t at, uint32_t count, uint64_t i,
                                             carom_convex_manifold *manifolds) {
    carom_context *context = s->q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_device_scene_face *faces = CAROM_ARENA_TAKE(scratch, carom_device_scene_face, count);
    if (faces == NULL) return scene_batch_fail(context);
    for (uint32_t k = 0; k < count; ++k) {
        while (l->first[i + 1] <= at + k) ++i;
        const carom_scene_object *shape = scene_batch_shape(&s->tests[i]);
        faces[k].pose = shape->pose;
        faces[k].triangle = l->triangles.data[at + k].hull;
        CAROM_TRY(carom_convex_device_shape(context, &shape->convex, "object", i, &faces[k].shape));
    }
    carom_status status =
        carom_scene_device_query_faces(context, s->q->scene, faces, count, manifolds);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* As the CPU after its tests of triangles: what overlaps none of a solid may be inside. */
static carom_status scene_batch_finish_faces(const scene_batch *s, carom_scene_test *t,
                                             const carom_scene_faces *found) {
    bool inside = false;
    t->in_contact = found->in_contact;
    if (t->a->solid == NULL && t->b->solid == NULL) return CAROM_OK;
    if (t->in_contact && t->contact->relation > CAROM_RELATION_TOUCHING) return CAROM_OK;
    CAROM_TRY(carom_scene_narrow_inside(s->q, t->a, t->b, t->contact, &inside));
    t->in_contact = t->in_contact || inside;
    return CAROM_OK;
}

static carom_status scene_batch_take_faces(const scene_batch *s, const scene_batch_listed *l) {
    carom_context *context = s->q->context;
    const uint64_t most = CAROM_MIN(SCENE_BATCH_FACES, l->triangles.count);
    carom_convex_manifold *manifolds =
        CAROM_ARENA_TAKE(carom_scratch(context, 0), carom_convex_manifold, most);
    uint64_t end = 0, at = 0; /* triangles that are answered; the first of the manifolds */
    if (manifolds == NULL) return scene_batch_fail(context);
    for (uint64_t i = 0; i < s->count; ++i) {
        carom_scene_test *t = &s->tests[i];
        carom_scene_faces found;
        if (scene_batch_are_meshes(t)) continue;
        carom_scene_faces_begin(&found, t->contact);
        for (uint64_t k = l->first[i]; k < l->first[i + 1]; ++k) {
            if (k == end) {
                at = end;
                end = CAROM_MIN(at + most, l->triangles.count);
                CAROM_TRY(scene_batch_answer_faces(s, l, at, (uint32_t)(end - at), i, manifolds));
            }
            carom_scene_faces_take(&found, s->q->reach, l->triangles.data[k].triangle,
                                   &manifolds[k - at]);
        }
        carom_scene_faces_end(&found, carom_scene_is_mesh(t->a));
        CAROM_TRY(carom_progress_look(context));
        CAROM_TRY(scene_batch_finish_faces(s, t, &found));
    }
    return CAROM_OK;
}

static carom_status scene_batch_convex(const scene_batch *s) {
    carom_context *context = s->q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    scene_batch_listed l = {.first = CAROM_ARENA_TAKE(scratch, uint64_t, s->count + 1)};
    carom_status status = l.first != NULL ? CAROM_OK : scene_batch_fail(context);
    if (status == CAROM_OK) status = scene_batch_list_faces(s, &l);
    if (status == CAROM_OK) status = scene_batch_take_faces(s, &l);
    carom_scene_triangles_release(&l.triangles, &context->allocator);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Two meshes ------------------------------------------------------------------------------ */

/* Searches the first direction of the depth of all pairs of solids that overlap. */
static carom_status scene_batch_depths(const scene_batch *s) {
    carom_context *context = s->q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_solid_pair *pairs = CAROM_ARENA_TAKE(scratch, carom_solid_pair, s->count);
    carom_solid_result *moved = CAROM_ARENA_TAKE(scratch, carom_solid_result, s->count);
    carom_scene_along *along = CAROM_ARENA_TAKE(scratch, carom_scene_along, s->count);
    if (pairs == NULL || moved == NULL || along == NULL) return scene_batch_fail(context);
    for (uint64_t i = 0; i < s->count; ++i) {
        const carom_solid_result *overlap = s->ahead[i].overlap;
        if (overlap == NULL || overlap->relation < CAROM_RELATION_OVERLAPPING) continue;
        carom_scene_along_begin(s->tests[i].a, s->tests[i].b, overlap, &along[i]);
        s->ahead[i].along = &along[i];
    }
    for (uint64_t count = s->count; count != 0;) {
        count = 0;
        for (uint64_t i = 0; i < s->count; ++i) {
            const carom_scene_object *a = s->tests[i].a, *b = s->tests[i].b;
            if (s->ahead[i].along == NULL || along[i].done) continue;
            carom_pose pose = b->pose;
            pose.t = carom_vec_add(pose.t, carom_vec_scale(along[i].normal, along[i].at));
            s->order[count] = (uint32_t)i;
            pairs[count++] = (carom_solid_pair){a->solid, b->solid, a->pose, pose};
        }
        CAROM_TRY(carom_solid_overlap_batch(context, pairs, count, NULL, moved));
        for (uint64_t k = 0; k < count; ++k)
            carom_scene_along_take(&along[s->order[k]],
                                   moved[k].relation >= CAROM_RELATION_OVERLAPPING);
        CAROM_TRY(carom_progress_look(context));
    }
    return CAROM_OK;
}

static carom_status scene_batch_overlap(const scene_batch *s) {
    carom_context *context = s->q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    const carom_solid_query_def def = {.distance = s->q->reach > 0.0};
    carom_solid_pair *pairs = CAROM_ARENA_TAKE(scratch, carom_solid_pair, s->count);
    carom_solid_result *overlaps = CAROM_ARENA_TAKE(scratch, carom_solid_result, s->count);
    uint64_t count = 0;
    if (pairs == NULL || overlaps == NULL) return scene_batch_fail(context);
    for (uint64_t i = 0; i < s->count; ++i) {
        const carom_scene_object *a = s->tests[i].a, *b = s->tests[i].b;
        if (!scene_batch_are_solids(&s->tests[i])) continue;
        s->ahead[i].overlap = &overlaps[count];
        pairs[count++] = (carom_solid_pair){a->solid, b->solid, a->pose, b->pose};
    }
    CAROM_TRY(carom_solid_overlap_batch(context, pairs, count, &def, overlaps));
    return s->q->skip_depth ? CAROM_OK : scene_batch_depths(s);
}

/* Lists pairs that are not two solids; with `meet`, only those whose faces do not meet. */
static uint64_t scene_batch_list(const scene_batch *s, const bool *meet, carom_soup_pair *pairs) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < s->count; ++i) {
        const carom_scene_object *a = s->tests[i].a, *b = s->tests[i].b;
        if (scene_batch_are_solids(&s->tests[i]) || !scene_batch_are_meshes(&s->tests[i])) continue;
        if (meet != NULL && *s->ahead[i].meet) continue;
        s->order[count] = (uint32_t)i;
        pairs[count++] = (carom_soup_pair){a->soup, b->soup, a->pose, b->pose};
    }
    return count;
}

static carom_status scene_batch_meet(const scene_batch *s) {
    carom_context *context = s->q->context;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_soup_pair *pairs = CAROM_ARENA_TAKE(scratch, carom_soup_pair, s->count);
    bool *meet = CAROM_ARENA_TAKE(scratch, bool, s->count);
    carom_soup_gap *gaps = CAROM_ARENA_TAKE(scratch, carom_soup_gap, s->count);
    if (pairs == NULL || meet == NULL || gaps == NULL) return scene_batch_fail(context);
    uint64_t count = scene_batch_list(s, NULL, pairs);
    CAROM_TRY(carom_soup_cross_meet_batch(context, pairs, count, meet));
    for (uint64_t k = 0; k < count; ++k) s->ahead[s->order[k]].meet = &meet[k];
    if (!(s->q->reach > 0.0)) return CAROM_OK;
    count = scene_batch_list(s, meet, pairs);
    CAROM_TRY(carom_soup_cross_distance_batch(context, pairs, count, s->q->reach, gaps));
    for (uint64_t k = 0; k < count; ++k) s->ahead[s->order[k]].gap = &gaps[k];
    return CAROM_OK;
}

static carom_status scene_batch_run(const carom_scene_question *q, carom_scene_test *tests,
                                    uint64_t count) {
    carom_arena *scratch = carom_scratch(q->context, 0);
    scene_batch s = {q, tests, count, CAROM_ARENA_TAKE(scratch, carom_scene_ahead, count),
                     CAROM_ARENA_TAKE(scratch, uint32_t, count)};
    if (s.ahead == NULL || s.order == NULL) return scene_batch_fail(q->context);
    for (uint64_t i = 0; i < count; ++i) s.ahead[i] = (carom_scene_ahead){NULL, NULL, NULL, NULL};
    CAROM_TRY(scene_batch_convex(&s));
    CAROM_TRY(scene_batch_overlap(&s));
    CAROM_TRY(scene_batch_meet(&s));
    for (uint64_t i = 0; i < count; ++i) {
        carom_scene_test *t = &tests[i];
        if (!scene_batch_are_meshes(t)) continue;
        CAROM_TRY(carom_progress_look(q->context));
        CAROM_TRY(
            carom_scene_narrow_meshes(q, t->a, t->b, &s.ahead[i], t->contact, &t->in_contact));
    }
    return CAROM_OK;
}

carom_status carom_scene_narrow_batch(const carom_scene_question *q, carom_scene_test *tests,
                                      uint64_t count) {
    carom_arena *scratch = carom_scratch(q->context, 0);
    carom_status status = CAROM_OK;
    for (uint64_t first = 0; first < count && status == CAROM_OK; first += SCENE_BATCH_PAIRS) {
        carom_arena_mark mark = carom_arena_get_mark(scratch);
        status = scene_batch_run(q, tests + first, CAROM_MIN(count - first, SCENE_BATCH_PAIRS));
        carom_arena_rewind(scratch, mark);
    }
    return status;
}
