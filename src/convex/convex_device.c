/* SPDX-License-Identifier: MIT */
/* Convex shapes of contexts of backend cuda: the calls of convex.h passed on to the GPU library,
 * and those of cuda.h.
 *
 * A hull is built on the CPU and copied to the device once. A batch of host memory is brought to
 * the form of one in device memory: the distinct shapes of its bodies, an index and a pose for each
 * body, and the pairs. */
#include <stdio.h>

#include "base/progress.h"
#include "convex/convex.h"

static const carom_cuda_convex *convex_device_table(void) {
    return carom_device_table(CAROM_CUDA_CONVEX);
}

carom_status carom_convex_device_check(carom_context *context) {
    return carom_context_require_table(context, convex_device_table(), "convex shapes");
}

/* ---- Hulls ----------------------------------------------------------------------------------- */

carom_status carom_hull_device_create(carom_context *context, carom_hull *hull) {
    CAROM_TRY(carom_device_pass(context,
                                convex_device_table()->hull_create(context->device, &hull->view,
                                                                   &hull->faces, &hull->device)));
    hull->info.bytes += convex_device_table()->hull_bytes(hull->device);
    return CAROM_OK;
}

void carom_hull_device_release(carom_hull *hull) {
    if (hull->device != NULL) convex_device_table()->hull_destroy(hull->device);
    hull->device = NULL;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

struct carom_cuda_convex_shapes {
    carom_allocator allocator;
    carom_device_shapes *device;
};

#define CONVEX_DEVICE_FACE_CORNERS 4u /* of shapes that are no hulls: a face of a box */

carom_status carom_convex_device_shape(carom_context *context, const carom_convex *shape,
                                       const char *which, uint64_t number, carom_device_shape *to) {
    *to = (carom_device_shape){.shape = *shape, .face_corners = CONVEX_DEVICE_FACE_CORNERS};
    if (shape->kind == CAROM_CONVEX_KIND_SUPPORT)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "%s %llu has a support function, which cannot be called from cuda", which,
                          (unsigned long long)number);
    if (shape->kind != CAROM_CONVEX_KIND_HULL) return CAROM_OK;
    if (shape->borrowed_hull->device == NULL)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "the hull of %s %llu was made on cpu; make it with a context of "
                          "backend cuda",
                          which, (unsigned long long)number);
    convex_device_table()->hull_shape(shape->borrowed_hull->device, to);
    return CAROM_OK;
}

carom_status carom_cuda_convex_shapes_create(carom_context *context,
                                             const carom_cuda_convex_shapes_def *def,
                                             carom_cuda_convex_shapes **made) {
    const carom_convex *shapes = def != NULL ? def->shapes : NULL;
    uint64_t count = def != NULL ? def->count : 0;
    CAROM_REQUIRE_OUTPUT(made, "shapes");
    *made = NULL;
    CAROM_ENTER(context);
    CAROM_REQUIRE_INPUTS(shapes, count, "shapes");
    for (uint64_t i = 0; i < count; ++i) CAROM_REQUIRE_SHAPE(&shapes[i]);
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "shapes in device memory", &device));
    CAROM_TRY(carom_convex_device_check(context));
    if (count > UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu shapes are more than 2^32 - 1",
                          (unsigned long long)count);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_device_shape *list = CAROM_ARENA_TAKE(scratch, carom_device_shape, count);
    carom_cuda_convex_shapes *out = carom_allocate(&context->allocator, 1, sizeof(*out));
    carom_status status = list != NULL && out != NULL
                              ? CAROM_OK
                              : carom_fail_memory(context, count * sizeof(*list), "shapes");
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        char which[32];
        snprintf(which, sizeof(which), "shape %llu", (unsigned long long)i);
        status = carom_convex_check(context, &shapes[i], NULL, which);
        if (status == CAROM_OK)
            status = carom_convex_device_shape(context, &shapes[i], "shape", i, &list[i]);
    }
    if (status == CAROM_OK) {
        *out = (carom_cuda_convex_shapes){.allocator = context->allocator};
        status = carom_device_pass(context, convex_device_table()->shapes_create(
                                                device, list, (uint32_t)count, &out->device));
    }
    carom_arena_rewind(scratch, mark);
    if (status == CAROM_OK)
        *made = out;
    else
        carom_release(&context->allocator, out);
    return status;
}

void carom_cuda_convex_shapes_destroy(carom_cuda_convex_shapes *shapes) {
    if (shapes == NULL) return;
    carom_allocator allocator = shapes->allocator;
    convex_device_table()->shapes_destroy(shapes->device);
    carom_release(&allocator, shapes);
}

/* ---- Batches of host memory ------------------------------------------------------------------ */

/* Numbers the distinct shapes of pairs, by a hash table of addresses; the bodies 2 i and 2 i + 1
 * are those of pair i. */
typedef struct numbering {
    const carom_convex **keys;
    uint32_t *numbers;
    uint64_t mask;
    carom_device_shape *shapes;
    uint32_t *shape_of;
    carom_pose *poses;
    carom_pair *pairs;
    carom_convex_learned *hints; /* of each pair; all zero where it has none */
    bool hinted;
    uint32_t count;
} numbering;

static carom_status number_body(carom_context *context, const carom_convex *shape, numbering *n,
                                uint32_t *number) {
    uint64_t at = (uint64_t)(uintptr_t)shape * UINT64_C(0x9E3779B97F4A7C15) >> 20;
    while (n->keys[at & n->mask] != NULL && n->keys[at & n->mask] != shape) ++at;
    at &= n->mask;
    if (n->keys[at] == NULL) {
        CAROM_TRY(
            carom_convex_device_shape(context, shape, "shape", n->count, &n->shapes[n->count]));
        n->keys[at] = shape;
        n->numbers[at] = n->count++;
    }
    *number = n->numbers[at];
    return CAROM_OK;
}

static carom_status number_bodies(carom_context *context, const carom_convex_batch *batch,
                                  numbering *n) {
    for (uint64_t i = 0; i < batch->count; ++i) {
        const carom_convex_pair *p = &batch->pairs[i];
        CAROM_TRY(number_body(context, p->a, n, &n->shape_of[2 * i]));
        CAROM_TRY(number_body(context, p->b, n, &n->shape_of[2 * i + 1]));
        n->poses[2 * i] = p->pose_a;
        n->poses[2 * i + 1] = p->pose_b;
        n->pairs[i] = (carom_pair){(uint32_t)(2 * i), (uint32_t)(2 * i + 1)};
        if (p->hint != NULL) {
            n->hinted = true;
            (void)carom_convex_read_hint(p->hint, &n->hints[i]);
        } else {
            n->hints[i] = (carom_convex_learned){0};
        }
    }
    return CAROM_OK;
}

/* An array copied to new device memory. */
static carom_status convex_device_copy(carom_context *context, const void *from, uint64_t bytes,
                                       void **to) {
    CAROM_TRY(carom_cuda_allocate(context, bytes, to));
    return carom_cuda_write(context, *to, from, bytes);
}

typedef struct batch_memory {
    carom_device_shapes *shapes;
    void *shape_of, *poses, *pairs, *hints;
    carom_cuda_convex_results results;
    carom_cuda_convex_manifolds manifolds;
} batch_memory;

/* Where a batch is answered to: results, or manifolds of a reach. */
typedef struct batch_answers {
    carom_convex_result *results;
    carom_convex_manifold *manifolds;
    double reach;
} batch_answers;

static carom_status convex_device_queue(carom_context *context,
                                        const carom_device_questions *questions, batch_memory *m,
                                        const batch_answers *to) {
    const carom_cuda_convex *table = convex_device_table();
    return carom_device_pass(
        context, to->manifolds != NULL
                     ? table->contacts(context->device, questions, to->reach, &m->manifolds)
                     : table->query(context->device, questions, &m->results));
}

static carom_status convex_device_read(carom_context *context, const batch_memory *m,
                                       uint64_t count, const batch_answers *to) {
    if (to->manifolds != NULL)
        return carom_cuda_read(context, to->manifolds, m->manifolds.data,
                               count * sizeof(*to->manifolds));
    return carom_cuda_read(context, to->results, m->results.data, count * sizeof(*to->results));
}

static carom_status convex_device_run_batch(carom_context *context, const carom_convex_batch *batch,
                                            const numbering *n, batch_memory *m,
                                            const batch_answers *to) {
    carom_device *device = context->device;
    uint64_t count = batch->count, hints = n->hinted ? count * sizeof(*n->hints) : 0;
    CAROM_TRY(carom_device_pass(
        context, convex_device_table()->shapes_create(device, n->shapes, n->count, &m->shapes)));
    CAROM_TRY(
        convex_device_copy(context, n->shape_of, 2 * count * sizeof(*n->shape_of), &m->shape_of));
    CAROM_TRY(convex_device_copy(context, n->poses, 2 * count * sizeof(*n->poses), &m->poses));
    CAROM_TRY(convex_device_copy(context, n->pairs, count * sizeof(*n->pairs), &m->pairs));
    if (hints != 0) CAROM_TRY(convex_device_copy(context, n->hints, hints, &m->hints));
    const carom_cuda_pairs pairs = {.data = m->pairs, .count = count, .capacity = count};
    const carom_device_questions questions = {
        .bodies = {m->shapes, m->shape_of, m->poses, 2 * count},
        .pairs = &pairs,
        .question = batch->question,
        .def = batch->def,
        .learned = m->hints};
    CAROM_TRY(convex_device_queue(context, &questions, m, to));
    CAROM_TRY(carom_cuda_finish(context));
    if (hints != 0) CAROM_TRY(carom_cuda_read(context, n->hints, m->hints, hints));
    for (uint64_t i = 0; i < count && hints != 0; ++i)
        carom_convex_write_hint(&n->hints[i], batch->pairs[i].hint);
    return convex_device_read(context, m, count, to);
}

static bool take_numbering(carom_arena *scratch, uint64_t pairs, numbering *n) {
    uint64_t slots = 16;
    while (slots < 4 * pairs) slots *= 2;
    *n = (numbering){.keys = CAROM_ARENA_TAKE(scratch, const carom_convex *, slots),
                     .numbers = CAROM_ARENA_TAKE(scratch, uint32_t, slots),
                     .mask = slots - 1,
                     .shapes = CAROM_ARENA_TAKE(scratch, carom_device_shape, 2 * pairs),
                     .shape_of = CAROM_ARENA_TAKE(scratch, uint32_t, 2 * pairs),
                     .poses = CAROM_ARENA_TAKE(scratch, carom_pose, 2 * pairs),
                     .pairs = CAROM_ARENA_TAKE(scratch, carom_pair, pairs),
                     .hints = CAROM_ARENA_TAKE(scratch, carom_convex_learned, pairs)};
    if (n->keys == NULL || n->numbers == NULL || n->shapes == NULL || n->shape_of == NULL ||
        n->poses == NULL || n->pairs == NULL || n->hints == NULL)
        return false;
    memset(n->keys, 0, slots * sizeof(*n->keys));
    return true;
}

static carom_status convex_device_refuse(carom_context *context,
                                         const carom_convex_query_def *def) {
    if (def == NULL || !def->gjk_only) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED, "gjk_only is for the CPU: use such a context");
}

static carom_status convex_device_answer(carom_context *context, const carom_convex_batch *batch,
                                         const batch_answers *to) {
    CAROM_TRY(carom_convex_device_check(context));
    CAROM_TRY(convex_device_refuse(context, &batch->def));
    if (batch->count == 0) return CAROM_OK;
    if (batch->count > UINT32_MAX / 2)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu pairs are more than 2^31 - 1",
                          (unsigned long long)batch->count);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    numbering n;
    batch_memory m = {0};
    carom_status status;
    if (take_numbering(scratch, batch->count, &n)) {
        carom_progress_begin(context, "testing convex pairs", 0);
        status = number_bodies(context, batch, &n);
        if (status == CAROM_OK) status = convex_device_run_batch(context, batch, &n, &m, to);
        status = carom_progress_finish(context, status);
    } else {
        status = carom_fail_memory(context, batch->count * 2 * sizeof(*n.shapes), "a batch");
    }
    if (m.shapes != NULL) convex_device_table()->shapes_destroy(m.shapes);
    void *memory[] = {m.shape_of, m.poses, m.pairs, m.hints};
    for (int i = 0; i < 4; ++i) carom_cuda_release(context, memory[i]);
    convex_device_table()->results_free(&m.results);
    convex_device_table()->manifolds_free(&m.manifolds);
    carom_arena_rewind(scratch, mark);
    return status;
}

carom_status carom_convex_device_query(carom_context *context, const carom_convex_batch *batch,
                                       carom_convex_result *results) {
    const batch_answers to = {.results = results};
    return convex_device_answer(context, batch, &to);
}

carom_status carom_convex_device_contacts(carom_context *context, const carom_convex *a,
                                          const carom_pose *pose_a, const carom_convex *b,
                                          const carom_pose *pose_b, double reach,
                                          const carom_convex_query_def *def,
                                          carom_convex_manifold *manifold) {
    CAROM_REQUIRE_SHAPE(a);
    CAROM_REQUIRE_SHAPE(b);
    CAROM_REQUIRE_CONVEX_DEF(def);
    CAROM_TRY(carom_convex_check(context, a, pose_a, "a"));
    CAROM_TRY(carom_convex_check(context, b, pose_b, "b"));
    carom_convex_pair pair = {.a = a, .b = b};
    if (pose_a != NULL) pair.pose_a = *pose_a;
    if (pose_b != NULL) pair.pose_b = *pose_b;
    carom_convex_batch batch = {
        .pairs = &pair, .count = 1, .question = CAROM_CONVEX_QUESTION_DEPTH};
    if (def != NULL) {
        pair.hint = def->hint;
        batch.def = *def;
        batch.def.hint = NULL;
    }
    const batch_answers to = {.manifolds = manifold, .reach = reach};
    return convex_device_answer(context, &batch, &to);
}

/* ---- Device memory --------------------------------------------------------------------------- */

#define REQUIRE_BODIES(context, bodies)                                                            \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE((bodies) != NULL, CAROM_ARE_NULL("bodies"));                                     \
    CAROM_REQUIRE((bodies)->count == 0 || ((bodies)->shapes != NULL && (bodies)->poses != NULL),   \
                  "the bodies have no shapes or no poses")

static carom_device_bodies bodies_of(const carom_cuda_convex_bodies *bodies) {
    return (carom_device_bodies){bodies->shapes != NULL ? bodies->shapes->device : NULL,
                                 bodies->shape_of, bodies->poses, bodies->count};
}

carom_status carom_cuda_convex_boxes(carom_context *context, const carom_cuda_convex_bodies *bodies,
                                     carom_bounds *boxes) {
    REQUIRE_BODIES(context, bodies);
    CAROM_REQUIRE_OUTPUTS(boxes, bodies->count, "boxes");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "boxes in device memory", &device));
    CAROM_TRY(carom_convex_device_check(context));
    carom_device_bodies on_device = bodies_of(bodies);
    return carom_device_pass(context, convex_device_table()->boxes(device, &on_device, boxes));
}

static carom_status
convex_device_query_batch(carom_context *context, const carom_cuda_convex_bodies *bodies,
                          const carom_cuda_pairs *pairs, const carom_convex_query_def *def,
                          carom_convex_question question, carom_cuda_convex_results *results) {
    REQUIRE_BODIES(context, bodies);
    CAROM_REQUIRE(pairs != NULL, CAROM_ARE_NULL("pairs"));
    CAROM_REQUIRE_CONVEX_BATCH_DEF(def);
    CAROM_REQUIRE_OUTPUT(results, "results");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "results in device memory", &device));
    CAROM_TRY(carom_convex_device_check(context));
    CAROM_TRY(convex_device_refuse(context, def));
    carom_device_questions questions = {
        .bodies = bodies_of(bodies), .pairs = pairs, .question = question};
    if (def != NULL) questions.def = *def;
    return carom_device_pass(context, convex_device_table()->query(device, &questions, results));
}

carom_status carom_cuda_convex_meet_batch(carom_context *context,
                                          const carom_cuda_convex_bodies *bodies,
                                          const carom_cuda_pairs *pairs,
                                          const carom_convex_query_def *def,
                                          carom_cuda_convex_results *results) {
    return convex_device_query_batch(context, bodies, pairs, def, CAROM_CONVEX_QUESTION_MEET,
                                     results);
}

carom_status carom_cuda_convex_distance_batch(carom_context *context,
                                              const carom_cuda_convex_bodies *bodies,
                                              const carom_cuda_pairs *pairs,
                                              const carom_convex_query_def *def,
                                              carom_cuda_convex_results *results) {
    return convex_device_query_batch(context, bodies, pairs, def, CAROM_CONVEX_QUESTION_DISTANCE,
                                     results);
}

carom_status carom_cuda_convex_depth_batch(carom_context *context,
                                           const carom_cuda_convex_bodies *bodies,
                                           const carom_cuda_pairs *pairs,
                                           const carom_convex_query_def *def,
                                           carom_cuda_convex_results *results) {
    return convex_device_query_batch(context, bodies, pairs, def, CAROM_CONVEX_QUESTION_DEPTH,
                                     results);
}

void carom_cuda_convex_results_free(carom_context *context, carom_cuda_convex_results *results) {
    CAROM_ENTER_VOID(context);
    CAROM_REQUIRE_OR(results != NULL, CAROM_ARE_NULL("results"), );
    if (carom_convex_device_check(context) != CAROM_OK) return;
    (void)carom_cuda_finish(context);
    convex_device_table()->results_free(results);
}

carom_status carom_cuda_convex_contacts_batch(carom_context *context,
                                              const carom_cuda_convex_bodies *bodies,
                                              const carom_cuda_pairs *pairs, double reach,
                                              const carom_convex_query_def *def,
                                              carom_cuda_convex_manifolds *manifolds) {
    REQUIRE_BODIES(context, bodies);
    CAROM_REQUIRE(pairs != NULL, CAROM_ARE_NULL("pairs"));
    CAROM_REQUIRE_CONVEX_BATCH_DEF(def);
    CAROM_REQUIRE_OUTPUT(manifolds, "manifolds");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "manifolds in device memory", &device));
    CAROM_TRY(carom_convex_device_check(context));
    CAROM_TRY(convex_device_refuse(context, def));
    CAROM_TRY(carom_convex_check_reach(context, reach));
    carom_device_questions questions = {
        .bodies = bodies_of(bodies), .pairs = pairs, .question = CAROM_CONVEX_QUESTION_DEPTH};
    if (def != NULL) questions.def = *def;
    return carom_device_pass(context,
                             convex_device_table()->contacts(device, &questions, reach, manifolds));
}

void carom_cuda_convex_manifolds_free(carom_context *context,
                                      carom_cuda_convex_manifolds *manifolds) {
    CAROM_ENTER_VOID(context);
    CAROM_REQUIRE_OR(manifolds != NULL, CAROM_ARE_NULL("manifolds"), );
    if (carom_convex_device_check(context) != CAROM_OK) return;
    (void)carom_cuda_finish(context);
    convex_device_table()->manifolds_free(manifolds);
}
