/* SPDX-License-Identifier: MIT */
/* The context: threads, scratch and the last message, for one thread at a time. No state here is
 * global, so contexts are independent, and a forked child can create its own at once. */
#include "base/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "base/names.h"

/* Of progress: seldom enough to cost nothing, often enough for a bar to move evenly. */
#define DEFAULT_INTERVAL 0.05 /* seconds */

CAROM_ENUM_NAMES(carom_backend, CAROM_BACKEND_COUNT, "cpu", "cuda");

#define THREADS_VARIABLE "CAROM_THREADS"

uint32_t carom_abi(void) {
    return CAROM_ABI;
}

/* In parentheses: the header has a macro of this name. */
carom_status(carom_context_create)(const carom_context_def *def, carom_context **context) {
    return carom_context_create_abi(CAROM_ABI, def, context);
}

/* The threads of a context whose def names none: those of the environment, or one per processor. */
static carom_status default_threads(uint32_t *threads) {
    const char *text = getenv(THREADS_VARIABLE);
    *threads = carom_processor_count();
    if (text == NULL || text[0] == '\0') return CAROM_OK;
    uint32_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= CAROM_MOST_THREADS; ++at)
        value = 10 * value + (uint32_t)(*at - '0');
    if (*at != '\0' || value == 0 || value > CAROM_MOST_THREADS)
        return carom_fail(NULL, CAROM_BAD_INPUT,
                          THREADS_VARIABLE " is \"%s\" in the environment; give a number from 1 to "
                                           "%u, or unset it for one thread per processor",
                          text, CAROM_MOST_THREADS);
    *threads = value;
    return CAROM_OK;
}

static carom_status context_check_def(uint32_t abi, const carom_context_def *def) {
    if (abi != CAROM_ABI)
        return carom_fail(NULL, CAROM_UNSUPPORTED,
                          "the program was compiled for Carom ABI %u, this library has %u; compile "
                          "it again with the headers of this version",
                          abi, CAROM_ABI);
    if (def->threads > CAROM_MOST_THREADS)
        return carom_fail(NULL, CAROM_BAD_INPUT, "%u threads requested, at most %u are possible",
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
    CAROM_REQUIRE_OUTPUT(out, "context");
    *out = NULL;
    if (def == NULL) def = &defaults;
    CAROM_REQUIRE_KNOWN(def->backend, CAROM_BACKEND_COUNT, "backend");
    CAROM_REQUIRE_KNOWN(def->isa, CAROM_ISA_COUNT, "instruction set");
    CAROM_REQUIRE((def->allocator.allocate == NULL) == (def->allocator.release == NULL),
                  "an allocator needs both allocate and release");
    CAROM_REQUIRE(def->progress_interval == def->progress_interval,
                  "def->progress_interval is not a number");
    CAROM_TRY(context_check_def(abi, def));
    uint32_t threads = def->threads;
    if (threads == 0) CAROM_TRY(default_threads(&threads));
    if (!carom_forks_watch()) return carom_fail_memory(NULL, 0, "noticing forks");

    carom_device *device = NULL;
    carom_cuda_pairs none = {0};
    if (def->backend == CAROM_BACKEND_CUDA) CAROM_TRY(carom_device_open(def, &device));
    carom_allocator allocator =
        def->allocator.allocate != NULL ? def->allocator : carom_allocator_default();
    carom_context *context = carom_allocate(&allocator, 1, sizeof(*context));
    carom_arena *arenas = carom_allocate(&allocator, threads, sizeof(*arenas));
    if (context == NULL || arenas == NULL) {
        carom_release(&allocator, context);
        carom_release(&allocator, arenas);
        carom_device_close(device, &none);
        return carom_fail_memory(NULL, sizeof(*context) + threads * sizeof(*arenas), "a context");
    }
    memset(context, 0, sizeof(*context));
    context->forks = carom_forks;
    context->allocator = allocator;
    context->backend = def->backend;
    context->isa = def->isa != CAROM_ISA_BEST ? def->isa : carom_isa_best();
    context->threads = threads;
    context->input_limit = def->input_limit != 0 ? def->input_limit : CAROM_DEFAULT_INPUT_LIMIT;
    context->run = def->run;
    context->run_user = def->run_user;
    context->arenas = arenas;
    context->device = device;
    context->device_number = def->device;
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
    if (context->forks == carom_forks) {
        CAROM_REQUIRE_OR(atomic_load_explicit(&context->owner, memory_order_relaxed) == NULL,
                         "a call on the context has not returned yet", );
        carom_device_close(context->device, &context->device_pairs);
        carom_pool_destroy(context->pool);
    } else { /* the parent's threads and device are not in this process: their memory alone is */
        carom_pool_release(context->pool);
    }
    carom_allocator allocator = context->allocator;
    for (uint32_t i = 0; i < context->threads; ++i) carom_arena_free(&context->arenas[i]);
    carom_release(&allocator, context->arenas);
    carom_release(&allocator, context);
}

const char *carom_context_message(const carom_context *context) {
    if (context == NULL) return carom_thread_message();
    CAROM_REQUIRE_OR(!carom_context_is_elsewhere(context), "another thread is in a call on it", "");
    return context->message;
}

carom_status carom_context_get_info(const carom_context *context, carom_context_info *info) {
    CAROM_LOOK(context);
    CAROM_REQUIRE_OUTPUT(info, "info");
    *info = (carom_context_info){context->threads, context->backend, context->isa, 0};
    info->scratch_bytes = carom_device_bytes(context->device);
    for (uint32_t i = 0; i < context->threads; ++i)
        info->scratch_bytes += carom_arena_bytes(&context->arenas[i]);
    return CAROM_OK;
}

carom_status carom_context_get_work(const carom_context *context, carom_work *work) {
    CAROM_LOOK(context);
    CAROM_REQUIRE_OUTPUT(work, "work");
    *work = context->work;
    return CAROM_OK;
}

carom_status carom_context_trim(carom_context *context) {
    CAROM_ENTER(context);
    for (uint32_t i = 0; i < context->threads; ++i) carom_arena_free(&context->arenas[i]);
    return carom_device_trim(context);
}

carom_status carom_context_require_cpu(carom_context *context, const char *what) {
    if (context->backend == CAROM_BACKEND_CPU) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "%s cannot be computed on %s; use a context of backend cpu", what,
                      carom_backend_name(context->backend));
}

carom_status carom_context_require_table(carom_context *context, const void *table,
                                         const char *what) {
    if (context->device != NULL && table != NULL) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED, "the cuda library has no %s", what);
}

carom_status carom_context_require_made(carom_context *context, carom_backend made,
                                        const char *what) {
    if (made == context->backend) return CAROM_OK;
    return carom_fail(context, CAROM_UNSUPPORTED,
                      "%s was made on %s and the context computes on %s; make it with this context",
                      what, carom_backend_name(made), carom_backend_name(context->backend));
}
