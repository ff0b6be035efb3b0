/* SPDX-License-Identifier: MIT */
/* Status names, messages and the assert handler.
 *
 * The handler is the only process-wide state of the library: a caller's bug may be a NULL context,
 * so the handler cannot belong to a context. */
#include "base/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/names.h"

CAROM_ENUM_NAMES(carom_status, CAROM_STATUS_COUNT, "ok", "more", "cancelled", "invalid call",
                 "bad input", "bad file", "input or output failed", "too large", "out of memory",
                 "unsupported", "no device");

static void default_assert_handler(const char *function, const char *message) {
    fprintf(stderr, "carom: %s: %s\n", function, message);
    abort();
}

static _Atomic(carom_assert_fn *) assert_handler = default_assert_handler;

carom_assert_fn *carom_assert_set_handler(carom_assert_fn *handler) {
    return atomic_exchange(&assert_handler, handler != NULL ? handler : default_assert_handler);
}

void carom_assert_failed(const char *function, const char *message) {
    atomic_load (&assert_handler)(function, message);
}

char *carom_thread_message(void) {
    static _Thread_local char message[CAROM_MESSAGE_SIZE];
    return message;
}

carom_status carom_fail(carom_context *context, carom_status status, const char *format, ...) {
    char *message = context != NULL ? context->message : carom_thread_message();
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, CAROM_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    if (length >= CAROM_MESSAGE_SIZE) memcpy(message + CAROM_MESSAGE_SIZE - 4, "...", 4);
    return status;
}

carom_status carom_fail_in(carom_context *context, carom_status status, const char *format, ...) {
    char *message = context != NULL ? context->message : carom_thread_message();
    char cause[CAROM_MESSAGE_SIZE], where[CAROM_MESSAGE_SIZE];
    memcpy(cause, message, sizeof(cause));
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(where, sizeof(where), format, arguments);
    va_end(arguments);
    return carom_fail(context, status, "%s: %s", where, cause);
}

carom_status carom_fail_at(carom_context *context, carom_status status, const char *what,
                           uint64_t number) {
    if (status == CAROM_INVALID) return status; /* the assert handler has the message */
    char message[CAROM_MESSAGE_SIZE];
    (void)snprintf(message, sizeof(message), "%s", context->message);
    return carom_fail(context, status, "%s %" PRIu64 ": %s", what, number, message);
}

carom_status carom_fail_memory(carom_context *context, uint64_t bytes, const char *what) {
    uint64_t scratch = 0;
    char size[32] = "", beside[64] = "";
    for (uint32_t i = 0; context != NULL && i < context->threads; ++i) {
        carom_arena *arena = &context->arenas[i];
        if (bytes == 0) bytes = arena->refused;
        arena->refused = 0;
        scratch += carom_arena_bytes(arena);
    }
    if (bytes != 0) (void)snprintf(size, sizeof(size), ": %" PRIu64 " bytes", bytes);
    if (scratch != 0)
        (void)snprintf(beside, sizeof(beside), ", beside %" PRIu64 " bytes of scratch", scratch);
    return carom_fail(
        context, CAROM_NO_MEMORY,
        "out of memory%s for %s%s; use a smaller input or fewer threads, or raise the "
        "limit of the allocator",
        size, what, beside);
}
