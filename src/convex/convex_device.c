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

static const carom_cuda_convex *table(void) {
    return carom_device_table(CAROM_CUDA_CONVEX);
}

carom_status carom_convex_device_check(carom_context *context, const char *what) {
    if (context->device != NULL && table() != NULL) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED, "the cuda library cannot make %s", what);
}

/* ---- Hulls ----------------------------------------------------------------------------------- */

carom_status carom_hull_device_create(carom_context *context, carom_hull *hull) {
    CAROM_TRY(carom_device_pass(context,
                                table()->hull_create(context->device, &hull->view, &hull->device)));
    hull->info.bytes += table()->hull_bytes(hull->device);
    return CAROM_OK;
}

void carom_hull_device_release(carom_hull *hull) {
    if (hull->device != NULL) table()->hull_destroy(hull->device);
    hull->device = NULL;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

struct carom_cuda_shapes {
    carom_allocator allocator;
    carom_device_shapes *device;
};

static carom_status to_device(carom_context *context, const carom_convex *shape, uint64_t number,
                              carom_device_shape *to) {
    *to = (carom_device_shape){.shape = *shape};
    if (shape->kind == CAROM_CONVEX_KIND_SUPPORT)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "shape %llu has a support function, which cannot be called from cuda",
                          (unsigned long long)number);
    if (shape->kind != CAROM_CONVEX_KIND_HULL) return CAROM_OK;
    if (shape->borrowed_hull->device == NULL)
        return carom_fail(context, CAROM_UNSUPPORTED,
                          "the hull of shape %llu was made on cpu; make it with a context of "
                          "backend cuda",
                          (unsigned long long)number);
    table()->hull_view(shape->borrowed_hull->device, &to->view);
    return CAROM_OK;
}

carom_status carom_cuda_shapes_create(carom_context *context, const carom_convex *shapes,
                                      uint64_t count, carom_cuda_shapes **made) {
    CAROM_REQUIRE(made != NULL, "the place for the shapes is NULL");
    *made = NULL;
    CAROM_ENTER(context);
    CAROM_REQUIRE(shapes != NULL || count == 0, "the shapes are NULL");
    for (uint64_t i = 0; i < count; ++i)
        CAROM_REQUIRE(carom_convex_is_complete(&shapes[i]),
                      "a shape has an unknown kind, or no hull or support function");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "shapes in device memory", &device));
    CAROM_TRY(carom_convex_device_check(context, "shapes"));
    if (count > UINT32_MAX)
        return carom_fail(context, CAROM_TOO_LARGE, "%llu shapes are more than 2^32 - 1",
                          (unsigned long long)count);
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    carom_device_shape *list = CAROM_ARENA_TAKE(scratch, carom_device_shape, count);
    carom_cuda_shapes *out = carom_allocate(&context->allocator, 1, sizeof(*out));
    carom_status status = list != NULL && out != NULL
                              ? CAROM_OK
                              : carom_fail_memory(context, count * sizeof(*list), "shapes");
    for (uint64_t i = 0; i < count && status == CAROM_OK; ++i) {
        char which[32];
        snprintf(which, sizeof(which), "shape %llu", (unsigned long long)i);
        status = carom_convex_check(context, &shapes[i], NULL, which);
        if (status == CAROM_OK) status = to_device(context, &shapes[i], i, &list[i]);
    }
    if (status == CAROM_OK) {
        *out = (carom_cuda_shapes){.allocator = context->allocator};
        status = carom_device_pass(
            context, table()->shapes_create(device, list, (uint32_t)count, &out->device));
    }
    carom_arena_rewind(scratch, mark);
    if (status == CAROM_OK)
        *made = out;
    else
        carom_release(&context->allocator, out);
    return status;
}

void carom_cuda_shapes_destroy(carom_cuda_shapes *shapes) {
    if (shapes == NULL) return;
    carom_allocator allocator = shapes->allocator;
    table()->shapes_destroy(shapes->device);
    carom_release(&allocator, shapes);
}

/* ---- Batches of host memory ------------------------------------------------------------------ */

/* Numbers the distinct shapes of bodies, by a hash table of addresses. */
typedef struct numbering {
    const carom_convex **keys;
    uint32_t *numbers;
    uint64_t mask;
    carom_device_shape *shapes;
    uint32_t *shape_of;
    carom_pose *poses;
    uint32_t count;
} numbering;

static carom_status number_bodies(carom_context *context, const carom_convex_batch *batch,
                                  numbering *n) {
    for (uint64_t i = 0; i < batch->body_count; ++i) {
        const carom_convex *shape = batch->bodies[i].shape;
        uint64_t at = (uint64_t)(uintptr_t)shape * UINT64_C(0x9E3779B97F4A7C15) >> 20;
        while (n->keys[at & n->mask] != NULL && n->keys[at & n->mask] != shape) ++at;
        at &= n->mask;
        if (n->keys[at] == NULL) {
            CAROM_TRY(to_device(context, shape, n->count, &n->shapes[n->count]));
            n->keys[at] = shape;
            n->numbers[at] = n->count++;
        }
        n->shape_of[i] = n->numbers[at];
        n->poses[i] = batch->bodies[i].pose;
    }
    return CAROM_OK;
}

/* An array copied to new device memory. */
static carom_status copy(carom_context *context, const void *from, uint64_t bytes, void **to) {
    CAROM_TRY(carom_cuda_allocate(context, bytes, to));
    return carom_cuda_write(context, *to, from, bytes);
}

typedef struct batch_memory {
    carom_device_shapes *shapes;
    void *shape_of, *poses, *pairs, *caches;
    carom_cuda_results results;
} batch_memory;

static carom_status run(carom_context *context, const carom_convex_batch *batch, const numbering *n,
                        uint64_t count, batch_memory *m, carom_convex_result *results) {
    carom_device *device = context->device;
    uint64_t caches = batch->caches != NULL ? count * sizeof(*batch->caches) : 0;
    CAROM_TRY(carom_device_pass(context,
                                table()->shapes_create(device, n->shapes, n->count, &m->shapes)));
    CAROM_TRY(copy(context, n->shape_of, batch->body_count * sizeof(uint32_t), &m->shape_of));
    CAROM_TRY(copy(context, n->poses, batch->body_count * sizeof(carom_pose), &m->poses));
    CAROM_TRY(copy(context, batch->pairs, count * sizeof(carom_pair), &m->pairs));
    if (caches != 0) CAROM_TRY(copy(context, batch->caches, caches, &m->caches));
    const carom_cuda_pairs pairs = {.data = m->pairs, .count = count, .capacity = count};
    const carom_device_questions questions = {
        .bodies = {m->shapes, m->shape_of, m->poses, batch->body_count},
        .pairs = &pairs,
        .question = batch->question,
        .def = batch->def,
        .caches = m->caches};
    CAROM_TRY(carom_device_pass(context, table()->ask(device, &questions, &m->results)));
    CAROM_TRY(carom_cuda_finish(context));
    if (caches != 0) CAROM_TRY(carom_cuda_read(context, batch->caches, m->caches, caches));
    return carom_cuda_read(context, results, m->results.data, count * sizeof(*results));
}

carom_status carom_convex_device_ask(carom_context *context, const carom_convex_batch *batch,
                                     uint64_t count, carom_convex_result *results) {
    CAROM_TRY(carom_convex_device_check(context, "convex shapes"));
    if (count == 0) return CAROM_OK;
    carom_arena *scratch = carom_scratch(context, 0);
    carom_arena_mark mark = carom_arena_get_mark(scratch);
    uint64_t bodies = batch->body_count, slots = 16;
    while (slots < 2 * bodies) slots *= 2;
    numbering n = {.keys = CAROM_ARENA_TAKE(scratch, const carom_convex *, slots),
                   .numbers = CAROM_ARENA_TAKE(scratch, uint32_t, slots),
                   .mask = slots - 1,
                   .shapes = CAROM_ARENA_TAKE(scratch, carom_device_shape, bodies),
                   .shape_of = CAROM_ARENA_TAKE(scratch, uint32_t, bodies),
                   .poses = CAROM_ARENA_TAKE(scratch, carom_pose, bodies)};
    batch_memory m = {0};
    carom_status status = CAROM_OK;
    if (n.keys == NULL || n.numbers == NULL || n.shapes == NULL || n.shape_of == NULL ||
        n.poses == NULL)
        status = carom_fail_memory(context, bodies * sizeof(carom_device_shape), "a batch");
    if (status == CAROM_OK) {
        memset(n.keys, 0, slots * sizeof(*n.keys));
        carom_progress_begin(context, "asking convex pairs", 0);
        status = number_bodies(context, batch, &n);
        if (status == CAROM_OK) status = run(context, batch, &n, count, &m, results);
        status = carom_progress_finish(context, status);
    }
    if (m.shapes != NULL) table()->shapes_destroy(m.shapes);
    void *memory[] = {m.shape_of, m.poses, m.pairs, m.caches};
    for (int i = 0; i < 4; ++i)
        if (memory[i] != NULL) (void)carom_cuda_release(context, memory[i]);
    table()->results_free(&m.results);
    carom_arena_rewind(scratch, mark);
    return status;
}

/* ---- Device memory --------------------------------------------------------------------------- */

#define REQUIRE_BODIES(context, bodies)                                                            \
    CAROM_ENTER(context);                                                                          \
    CAROM_REQUIRE((bodies) != NULL, "the bodies are NULL");                                        \
    CAROM_REQUIRE((bodies)->count == 0 || ((bodies)->shapes != NULL && (bodies)->poses != NULL),   \
                  "the bodies have no shapes or no poses")

static carom_device_bodies bodies_of(const carom_cuda_bodies *bodies) {
    return (carom_device_bodies){bodies->shapes != NULL ? bodies->shapes->device : NULL,
                                 bodies->shape_of, bodies->poses, bodies->count};
}

carom_status carom_cuda_convex_boxes(carom_context *context, const carom_cuda_bodies *bodies,
                                     carom_bounds *boxes) {
    REQUIRE_BODIES(context, bodies);
    CAROM_REQUIRE(boxes != NULL || bodies->count == 0, "the place for the boxes is NULL");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "boxes in device memory", &device));
    CAROM_TRY(carom_convex_device_check(context, "boxes"));
    carom_device_bodies on_device = bodies_of(bodies);
    return carom_device_pass(context, table()->boxes(device, &on_device, boxes));
}

carom_status carom_cuda_convex_pairs(carom_context *context, const carom_cuda_bodies *bodies,
                                     const carom_cuda_pairs *pairs, carom_convex_question question,
                                     const carom_convex_def *def, carom_cuda_results *results) {
    REQUIRE_BODIES(context, bodies);
    CAROM_REQUIRE(pairs != NULL, "the pairs are NULL");
    CAROM_REQUIRE((unsigned)question < CAROM_CONVEX_QUESTION_COUNT, "the question is unknown");
    CAROM_REQUIRE(def == NULL || carom_convex_is_known(def),
                  "the def has an unknown start or search");
    CAROM_REQUIRE(results != NULL, "the place for the results is NULL");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "results in device memory", &device));
    CAROM_TRY(carom_convex_device_check(context, "results"));
    carom_device_questions questions = {
        .bodies = bodies_of(bodies), .pairs = pairs, .question = question};
    if (def != NULL) questions.def = *def;
    return carom_device_pass(context, table()->ask(device, &questions, results));
}

carom_status carom_cuda_results_free(carom_context *context, carom_cuda_results *results) {
    CAROM_ENTER(context);
    CAROM_REQUIRE(results != NULL, "the results are NULL");
    carom_device *device;
    CAROM_TRY(carom_device_of(context, "device memory", &device));
    CAROM_TRY(carom_convex_device_check(context, "results"));
    carom_status status = carom_cuda_finish(context);
    table()->results_free(results);
    return status;
}
