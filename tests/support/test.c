/* SPDX-License-Identifier: MIT */
/* Contexts, shared data, asserts and golden hashes for tests. */
#include "tests/support/test.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/byte_order.h"

void test_assert_fails(const carom_context *context, carom_status status, carom_status expected,
                       const char *words, const char *call, const char *file, int line) {
    const char *message = carom_context_message(context);
    if (status == expected && strstr(message, words) != NULL) return;
    print_error("%s gave \"%s\" with the message \"%s\";\nexpected \"%s\" and \"%s\"\n", call,
                carom_status_name(status), message, carom_status_name(expected), words);
    _fail(file, line);
}

carom_context *test_context(uint32_t threads) {
    return test_context_isa(threads, CAROM_ISA_BEST);
}

carom_context *test_context_cuda(uint32_t threads) {
    const carom_context_def def = {.backend = CAROM_BACKEND_CUDA, .threads = threads};
    carom_context *context;
    if (carom_context_create(&def, &context) == CAROM_OK) return context;
    print_message("no device: %s\n", carom_context_message(NULL));
    return NULL;
}

carom_context *test_context_isa(uint32_t threads, carom_isa isa) {
    carom_context *context;
    if (!carom_isa_available(isa)) {
        print_message("no %s on this machine\n", carom_isa_name(isa));
        return NULL;
    }
    carom_context_def def = {.threads = threads, .isa = isa};
    assert_ok(NULL, carom_context_create(&def, &context));
    carom_context_info info;
    assert_ok(context, carom_context_get_info(context, &info));
    if (isa != CAROM_ISA_BEST) assert_int_equal(info.isa, isa);
    return context;
}

int test_contexts_of_isas(uint32_t threads, carom_context **contexts, int count) {
    for (int isa = CAROM_ISA_BASELINE; isa < CAROM_ISA_COUNT; ++isa) {
        contexts[count] = test_context_isa(threads != 0 ? threads : (uint32_t)isa, (carom_isa)isa);
        if (contexts[count] != NULL) ++count;
    }
    return count;
}

const char *test_shared_folder(void) {
    static const char folder[] = CAROM_SOURCE_DIR "/../shared";
    struct stat info;
    if (TEST_CROSS) return NULL;
    return stat(folder, &info) == 0 && S_ISDIR(info.st_mode) ? folder : NULL;
}

bool test_library_reduces_angles(void) {
    volatile long double angle = 1e22L;
    return fabsl(sinl(angle) + 0.85220084976718880177L) < 1e-12L;
}

uint32_t test_below(carom_random *random, uint32_t bound) {
    return (uint32_t)(carom_random_next(random) % bound);
}

/* ---- callers' bugs --------------------------------------------------------------------------- */

static atomic_int asserts;

static void count_assert(const char *function, const char *message) {
    assert_non_null(function);
    assert_true(strlen(message) > 0);
    ++asserts;
}

void test_asserts_begin(void) {
    asserts = 0;
    (void)carom_assert_set_handler(count_assert);
}

int test_asserts_end(void) {
    (void)carom_assert_set_handler(NULL);
    return asserts;
}

/* ---- golden hashes --------------------------------------------------------------------------- */

/* FNV-1a: slow, simple, known. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_byte(uint64_t hash, unsigned char byte) {
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

uint64_t test_hash(const void *bytes, size_t size, uint64_t seed) {
    const unsigned char *byte = bytes;
    uint64_t hash = seed ^ HASH_START;
    for (size_t i = 0; i < size; ++i) hash = hash_byte(hash, byte[i]);
    return hash;
}

/* Reads "8*3" at *text, and goes past it and blanks. */
static void read_widths(const char **text, size_t *width, size_t *count) {
    char *end;
    *width = strtoul(*text, &end, 10);
    *count = *end == '*' ? strtoul(end + 1, &end, 10) : 1;
    if (*width == 0 || *width > 8 || *count == 0) fail_msg("%s are no widths", *text);
    *text = end + strspn(end, " ");
}

uint64_t test_hash_numbers(const void *numbers, size_t size, const char *widths, uint64_t seed) {
    if (carom_is_little_endian()) return test_hash(numbers, size, seed);
    const unsigned char *number = numbers, *end = number + size;
    uint64_t hash = seed ^ HASH_START;
    while (number < end) { /* no memory: callers count allocations */
        const char *rest = widths;
        while (*rest != '\0') {
            size_t width, count;
            read_widths(&rest, &width, &count);
            assert_true(width * count <= (size_t)(end - number));
            for (; count > 0; --count, number += width)
                for (size_t i = width; i > 0; --i) hash = hash_byte(hash, number[i - 1]);
        }
    }
    return hash;
}

/* Copies all lines of `path` but that of `name` to a new file, adds the new line, and renames. */
static void golden_write(const char *path, const char *name, uint64_t hash) {
    char draft[1024], line[512];
    size_t length = strlen(name);
    snprintf(draft, sizeof(draft), "%s.part", path);
    FILE *out = fopen(draft, "w"), *in = fopen(path, "r");
    assert_non_null(out);
    while (in != NULL && fgets(line, sizeof(line), in) != NULL)
        if (strncmp(line, name, length) != 0 || line[length] != ' ') fputs(line, out);
    if (in != NULL) fclose(in);
    fprintf(out, "%s %016" PRIx64 "\n", name, hash);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(rename(draft, path), 0);
}

void test_golden(const char *file, const char *name, uint64_t hash) {
    char path[1000], line[512];
    size_t length = strlen(name);
    snprintf(path, sizeof(path), "%s/tests/golden/%s", CAROM_SOURCE_DIR, file);
    const char *mode = getenv("CAROM_GOLDEN");
    if (mode != NULL && strcmp(mode, "write") == 0) {
        golden_write(path, name, hash);
        return;
    }
    FILE *in = fopen(path, "r");
    if (in == NULL) fail_msg("%s is missing; CAROM_GOLDEN=write makes it", path);
    bool found = false;
    while (!found && fgets(line, sizeof(line), in) != NULL)
        found = strncmp(line, name, length) == 0 && line[length] == ' ';
    fclose(in);
    if (!found) fail_msg("%s has no line for %s; CAROM_GOLDEN=write makes it", path, name);
    uint64_t golden = strtoull(line + length + 1, NULL, 16);
    if (golden != hash)
        fail_msg("%s: %s is %016" PRIx64 ", golden is %016" PRIx64, file, name, hash, golden);
}

bool test_has_long_double(void) {
    volatile long double one = 1.0L, sum = one + LDBL_EPSILON;
    return sum != one;
}
