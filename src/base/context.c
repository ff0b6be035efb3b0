/* SPDX-License-Identifier: MIT */
/* The context: threads, scratch and the last message, for one thread at a time. No state here is
 * global, so contexts are independent. */
#include "base/context.h"

#include <string.h>

#include "base/isa.h"
#include "base/names.h"

/* Of progress: seldom enough to cost nothing, often enough for a bar to move evenly. */
#define DEFAULT_INTERVAL 0.05 /* seconds */

CAROM_ENUM_NAMES(carom_backend, CAROM_BACKEND_COUNT, "cpu", "cuda");

static carom_status check_def(uint32_t abi, const carom_context_def *def) {
    if (abi != CAROM_ABI)
        return carom_fail(NULL, CAROM_UNSUPPORTED,
                          "the program was compiled for Carom ABI %u, this library has %u; compile "
                          "it again with the headers of this version",
                          abi, CAROM_ABI);
    if (def->threads > CAROM_MOST_THREADS)
        return carom_fail(NULL, CAROM_BAD_INPUT, "%u threads asked for, at most %u are possible",
                          def->threads, CAROM_MOST_THREADS);
    if (!carom_isa_available(def->isa))
        return carom_fail(NULL, CAROM_UNSUPPORTED,
                          "instruction set %s is not in this build or not on this machine; leave "
                          "isa 0 for the best there is",
                          carom_isa_name(def->isa));
    return CAROM_OK;
}

carom_status carom_context_create_abi(uint32_t abi, const carom_context_def *def,
                                      carom_context **out) {
    static const carom_context_def defaults;
    CAROM_REQUIRE(out != NULL, "the place for the context is NULL");
    *out = NULL;
    if (def == NULL) def = &defaults;
    CAROM_REQUIRE((unsigned)def->backend < CAROM_BACKEND_COUNT, "def->backend is no backend");
    CAROM_REQUIRE((unsigned)def->isa < CAROM_ISA_COUNT, "def->isa is no instruction set");
    CAROM_REQUIRE((def->allocator.allocate == NULL) == (def->allocator.release == NULL),
                  "an allocator needs both allocate and release");
    CAROM_REQUIRE(def->progress_interval == def->progress_interval,
                  "def->progress_interval is not a number");
    CAROM_TRY(check_def(abi, def));

    carom_device *device = NULL;
    carom_cuda_pairs none = {0};
    if (def->backend == CAROM_BACKEND_CUDA) CAROM_TRY(carom_device_open(def, &device));
    carom_allocator allocator =
        def->allocator.allocate != NULL ? def->allocator : carom_allocator_default();
    uint32_t threads = def->threads != 0 ? def->threads : carom_processor_count();
    carom_context *context = carom_allocate(&allocator, 1, sizeof(*context));
    carom_arena *arenas = carom_allocate(&allocator, threads, sizeof(*arenas));
    if (context == NULL || arenas == NULL) {
        carom_release(&allocator, context);
        carom_release(&allocator, arenas);
        carom_device_close(device, &none);
        return carom_fail_memory(NULL, sizeof(*context) + threads * sizeof(*arenas), "a context");
    }
    memset(context, 0, sizeof(*context));
    context->allocator = allocator;
    context->backend = def->backend;
    context->isa = def->isa != CAROM_ISA_BEST ? def->isa : carom_isa_best();
    context->threads = threads;
    context->run = def->run;
    context->run_user = def->run_user;
    context->arenas = arenas;
    context->device = device;
    context->progress.callback = def->progress;
    context->progress.user = def->progress_user;
    context->progress.interval =
        def->progress_interval != 0.0 ? def->progress_interval : DEFAULT_INTERVAL;
    for (uint32_t i = 0; i < threads; ++i) carom_arena_init(&arenas[i], &context->allocator);
    *out = context;
    return CAROM_OK;
}

void carom_context_destroy(carom_context *context) {
    if (context == NULL) return;
    carom_device_close(context->device, &context->device_pairs);
    carom_pool_destroy(context->pool);
    carom_allocator allocator = context->allocator;
    for (uint32_t i = 0; i < context->threads; ++i) carom_arena_free(&context->arenas[i]);
    carom_release(&allocator, context->arenas);
    carom_release(&allocator, context);
}

const char *carom_context_message(const carom_context *context) {
    return context != NULL ? context->message : carom_thread_message();
}

carom_status carom_context_get_info(carom_context *context, carom_context_info *info) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(info != NULL, "the place for the info is NULL");
    *info = (carom_context_info){context->threads, context->backend, context->isa, 0};
    info->scratch_bytes = carom_device_bytes(context->device);
    for (uint32_t i = 0; i < context->threads; ++i)
        info->scratch_bytes += carom_arena_bytes(&context->arenas[i]);
    return CAROM_OK;
}

carom_status carom_context_get_work(carom_context *context, carom_work *work) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    CAROM_REQUIRE(work != NULL, "the place for the work is NULL");
    *work = context->work;
    return CAROM_OK;
}

carom_status carom_context_trim(carom_context *context) {
    CAROM_REQUIRE(context != NULL, "the context is NULL");
    for (uint32_t i = 0; i < context->threads; ++i) carom_arena_free(&context->arenas[i]);
    return carom_device_trim(context);
}

carom_status carom_context_require_cpu(carom_context *context, const char *what) {
    if (context->backend == CAROM_BACKEND_CPU) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "%s cannot be computed on %s; use a context of backend cpu", what,
                      carom_backend_name(context->backend));
}
