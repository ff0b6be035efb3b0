/* SPDX-License-Identifier: MIT */
/* caller_bugs.h: tries callers' bugs, such as NULL and enums out of range, and keeps a list of what
 * was tried, function and parameter. bugs_assert_complete compares the list with the headers. */
#ifndef CAROM_TESTS_CALLER_BUGS_H
#define CAROM_TESTS_CALLER_BUGS_H

#include <string.h>

#include "tests/support/test.h"

/* The memory of the context that the calls use: a call with a bug must not keep any. */
extern test_memory bugs_memory;
/* That context: one thread, asserted to be made. */
carom_context *bugs_context(void);

/* Says that `second` of `first` was tried: "function parameter" or "struct.field". */
void bugs_note(const char *first, char between, const char *second);

void bugs_begin(void);
void bugs_end(const char *call, carom_status status, int line);      /* the handler was called */
void bugs_end_fine(const char *call, carom_status status, int line); /* it was not */

/* Fails when a function, a pointer, an enum or an enum field of a def in one of these headers of
 * include/carom was not tried. To be called last. Returns the number of functions. */
uint32_t bugs_assert_complete(const char *const *headers, uint32_t count);

/* A context that no call may enter. A call in BUG that is given it is repeated with all of them:
 * NULL, one of the process that forked this one, and in checked builds one that another thread is
 * in. */
#define BAD_CONTEXT bugs_bad_context()
carom_context *bugs_bad_context(void);

/* Whether the last call was given a BAD_CONTEXT and there are more; notes that all were tried. */
bool bugs_next_context(const char *function);

/* The call has a bug in `parameter` of `function`. */
#define BUG(function, parameter, ...)                                                              \
    do {                                                                                           \
        bugs_note(#function, ' ', #parameter);                                                     \
        do {                                                                                       \
            bugs_begin();                                                                          \
            carom_status bug_status = function(__VA_ARGS__);                                       \
            bugs_end(#function "(" #__VA_ARGS__ ")", bug_status, __LINE__);                        \
        } while (bugs_next_context(#function));                                                    \
    } while (0)

/* The same in a field of a struct that the function is given. */
#define BUG_IN(structure, field, function, ...)                                                    \
    do {                                                                                           \
        bugs_note(#structure, '.', #field);                                                        \
        bugs_begin();                                                                              \
        carom_status bug_status = function(__VA_ARGS__);                                           \
        bugs_end(#function "(" #__VA_ARGS__ ")", bug_status, __LINE__);                            \
    } while (0)

/* A function without a status. */
#define BUG_VOID(function, parameter, ...)                                                         \
    do {                                                                                           \
        bugs_note(#function, ' ', #parameter);                                                     \
        do {                                                                                       \
            bugs_begin();                                                                          \
            (void)function(__VA_ARGS__);                                                           \
            bugs_end(#function "(" #__VA_ARGS__ ")", CAROM_INVALID, __LINE__);                     \
        } while (bugs_next_context(#function));                                                    \
    } while (0)

/* No bug: the header says that this is fine. */
#define FINE(function, parameter, ...)                                                             \
    do {                                                                                           \
        bugs_note(#function, ' ', #parameter);                                                     \
        bugs_begin();                                                                              \
        carom_status fine_status = function(__VA_ARGS__);                                          \
        bugs_end_fine(#function "(" #__VA_ARGS__ ")", fine_status, __LINE__);                      \
    } while (0)

#define FINE_VOID(function, parameter, ...)                                                        \
    do {                                                                                           \
        bugs_note(#function, ' ', #parameter);                                                     \
        bugs_begin();                                                                              \
        (void)function(__VA_ARGS__);                                                               \
        bugs_end_fine(#function "(" #__VA_ARGS__ ")", CAROM_OK, __LINE__);                         \
    } while (0)

/* Result arrays that cannot be: which fields contradict each other, in turn. The call names the
 * array `result`; each of these must stay as it is, and its free must refuse it, too. */
enum { UNSOUND_RESULTS = 6 };

#define MAKE_UNSOUND(which, result, buffer)                                                        \
    do {                                                                                           \
        memset(&(result), 0, sizeof(result));                                                      \
        switch (which) {                                                                           \
        case 0: /* room, but nowhere */                                                            \
            (result).capacity = 8;                                                                 \
            break;                                                                                 \
        case 1: /* data without room, said to be Carom's */                                        \
            (result).data = (buffer);                                                              \
            break;                                                                                 \
        case 2: /* more in it than it holds */                                                     \
            (result).data = (buffer);                                                              \
            (result).capacity = 1;                                                                 \
            (result).count = 2;                                                                    \
            break;                                                                                 \
        case 3: /* a count of nothing */                                                           \
            (result).count = 1;                                                                    \
            break;                                                                                 \
        case 4: /* a caller's buffer that is not there */                                          \
            (result).owner = CAROM_OWNER_CALLER;                                                   \
            (result).capacity = 1;                                                                 \
            break;                                                                                 \
        default:                                                                                   \
            (result).owner = (carom_owner)7;                                                       \
            break;                                                                                 \
        }                                                                                          \
    } while (0)

#define BUG_RESULT(type, function, parameter, ...)                                                 \
    do {                                                                                           \
        static uint64_t buffer[64];                                                                \
        void *target = buffer;                                                                     \
        for (int which = 0; which < UNSOUND_RESULTS; ++which) {                                    \
            type result, copy;                                                                     \
            MAKE_UNSOUND(which, result, target);                                                   \
            memcpy(&copy, &result, sizeof(copy));                                                  \
            BUG(function, parameter, __VA_ARGS__);                                                 \
            assert_memory_equal(&copy, &result, sizeof(copy));                                     \
            BUG_VOID(type##_free, result, &result);                                                \
            assert_memory_equal(&copy, &result, sizeof(copy));                                     \
        }                                                                                          \
        bugs_note(#type, '.', "owner");                                                            \
        FINE_VOID(type##_free, result, NULL);                                                      \
    } while (0)

#endif
