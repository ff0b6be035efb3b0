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

const char *carom_status_name(carom_status status) {
    switch (status) {
    case CAROM_OK:
        return "ok";
    case CAROM_MORE:
        return "more";
    case CAROM_CANCELLED:
        return "cancelled";
    case CAROM_INVALID:
        return "invalid call";
    case CAROM_BAD_INPUT:
        return "bad input";
    case CAROM_BAD_FILE:
        return "bad file";
    case CAROM_IO:
        return "input or output failed";
    case CAROM_TOO_LARGE:
        return "too large";
    case CAROM_NO_MEMORY:
        return "out of memory";
    case CAROM_UNSUPPORTED:
        return "unsupported";
    case CAROM_NO_DEVICE:
        return "no device";
    case CAROM_STATUS_COUNT:
        break;
    }
    return "unknown status";
}

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
    static _Thread_local char message[CAROM_SENTENCE_SIZE];
    return message;
}

carom_status carom_fail(carom_context *context, carom_status status, const char *format, ...) {
    char *message = context != NULL ? context->message : carom_thread_message();
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, CAROM_SENTENCE_SIZE, format, arguments);
    va_end(arguments);
    if (length >= CAROM_SENTENCE_SIZE) memcpy(message + CAROM_SENTENCE_SIZE - 4, "...", 4);
    return status;
}

carom_status carom_fail_memory(carom_context *context, uint64_t bytes, const char *what) {
    return carom_fail(context, CAROM_NO_MEMORY,
                      "out of memory: %" PRIu64 " bytes for %s; use a smaller input or raise the "
                      "limit of the allocator",
                      bytes, what);
}
