/* SPDX-License-Identifier: MIT */
/* status.h: how a call fails. Failures of the input or the system become a status and a message on
 * the context; callers' bugs go to the assert handler. */
#ifndef CAROM_SRC_BASE_STATUS_H
#define CAROM_SRC_BASE_STATUS_H

#include "carom/base.h"

#if defined(__clang__) || defined(__CUDACC__)
#define CAROM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#elif defined(__GNUC__) /* C99's formats, whatever the system's library */
#define CAROM_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define CAROM_PRINTF(text, first)
#endif

/* Returns a failure to the caller. */
#define CAROM_TRY(call)                                                                            \
    do {                                                                                           \
        carom_status try_status_ = (call);                                                         \
        if (try_status_ != CAROM_OK) return try_status_;                                           \
    } while (0)

/* First lines of a public function: checks for bugs of the caller. */
#define CAROM_REQUIRE(condition, message)                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            carom_assert_failed(__func__, message);                                                \
            return CAROM_INVALID;                                                                  \
        }                                                                                          \
    } while (0)

/* The same for a function that does not return a status. */
#define CAROM_REQUIRE_OR(condition, message, result)                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            carom_assert_failed(__func__, message);                                                \
            return result;                                                                         \
        }                                                                                          \
    } while (0)

/* What such checks say, each in one wording. `name` is a string literal, "soup" or "pairs". */
#define CAROM_IS_NULL(name)       "the " name " is NULL"
#define CAROM_ARE_NULL(name)      "the " name " are NULL"
#define CAROM_NO_OUTPUT_FOR(name) "the output for the " name " is NULL"
#define CAROM_A_POINTER_IS_NULL                                                                    \
    "a pointer is NULL" /* of several that have no names of their own                              \
                         */
#define CAROM_FORMAT_IS_READ_ONLY "the format is not one that is written"

/* The checks of most arguments: one thing that is read, two of a kind, an array of `count` that is
 * read; an array for one result, for `count` of them; a value of an enum that ends in `end`. Result
 * arrays that grow: CAROM_REQUIRE_RESULT (array.h). */
#define CAROM_REQUIRE_INPUT(input, name) CAROM_REQUIRE((input) != NULL, CAROM_IS_NULL(name))
#define CAROM_REQUIRE_BOTH(a, b, name)                                                             \
    CAROM_REQUIRE((a) != NULL && (b) != NULL, "a " name " is NULL")
#define CAROM_REQUIRE_INPUTS(inputs, count, name)                                                  \
    CAROM_REQUIRE((inputs) != NULL || (count) == 0, CAROM_ARE_NULL(name))
#define CAROM_REQUIRE_OUTPUT(output, name)                                                         \
    CAROM_REQUIRE((output) != NULL, CAROM_NO_OUTPUT_FOR(name))
#define CAROM_REQUIRE_OUTPUTS(outputs, count, name)                                                \
    CAROM_REQUIRE((outputs) != NULL || (count) == 0, CAROM_NO_OUTPUT_FOR(name))
#define CAROM_REQUIRE_KNOWN(value, end, name)                                                      \
    CAROM_REQUIRE((unsigned)(value) < (unsigned)(end), "the " name " is unknown")

/* Writes the message to the context and returns `status`. A message says what failed, where and
 * what to do; one that is too long ends in "...". Not from inside parallel_for: return the status
 * there. */
carom_status carom_fail(carom_context *context, carom_status status, const char *format, ...)
    CAROM_PRINTF(3, 4);

/* Puts "text: " before the message of a failure, to say what it was a part of. */
carom_status carom_fail_in(carom_context *context, carom_status status, const char *format, ...)
    CAROM_PRINTF(3, 4);

/* CAROM_NO_MEMORY with a message that says how much was requested, what for, and how much scratch
 * the context holds. Bytes 0: the last request that the scratch of a worker refused, if any. */
carom_status carom_fail_memory(carom_context *context, uint64_t bytes, const char *what);

/* Puts "what number: " before the message of a failure in a batch. */
carom_status carom_fail_at(carom_context *context, carom_status status, const char *what,
                           uint64_t number);

void carom_assert_failed(const char *function, const char *message);

/* Where carom_context_create leaves its message when there is no context to hold it. */
#define CAROM_MESSAGE_SIZE 1024
char *carom_thread_message(void);

#endif
