/* SPDX-License-Identifier: MIT */
/* fuzz.h: a fuzz target is one function that must survive any bytes. FUZZ_CHECK is its assert. */
#ifndef CAROM_FUZZ_FUZZ_H
#define CAROM_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* For what a _validate function says: NULL, or the invariant that does not hold. */
#define FUZZ_CHECK_VALID(message)                                                                  \
    do {                                                                                           \
        const char *broken_ = (message);                                                           \
        if (broken_ != NULL) {                                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, broken_);                           \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Takes up to `size` bytes off the front into `to`; the rest of `to` becomes zero. */
static inline void fuzz_take(const uint8_t **bytes, size_t *left, void *to, size_t size) {
    size_t given = size < *left ? size : *left;
    memset(to, 0, size);
    memcpy(to, *bytes, given);
    *bytes += given;
    *left -= given;
}

#endif
