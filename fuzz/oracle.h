/* SPDX-License-Identifier: MIT */
/* oracle.h: for fuzz targets that include an oracle of tests/support as source. Fuzz targets have
 * no cmocka, so FUZZ_CHECK stands for its asserts. Include it before the oracle. */
#ifndef CAROM_FUZZ_ORACLE_H
#define CAROM_FUZZ_ORACLE_H

#include "carom/carom.h"
#include "fuzz/fuzz.h"

#define CAROM_TESTS_TEST_H       /* in place of tests/support/test.h */
#define assert_true(condition)   FUZZ_CHECK(condition)
#define assert_non_null(pointer) FUZZ_CHECK((pointer) != NULL)
#define assert_ok(context, call) FUZZ_CHECK(((void)(context), (call) == CAROM_OK))
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fprintf(stderr, "\n");                                                                     \
        abort();                                                                                   \
    } while (0)

/* Operations are decoded from bytes; past the last they are zero. */
typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;

static inline uint32_t fuzz_below(fuzz_bytes *bytes, uint32_t bound) {
    uint8_t byte;
    fuzz_take(&bytes->at, &bytes->left, &byte, 1);
    return byte % bound;
}

#endif
