/* SPDX-License-Identifier: MIT */
/* Memory under test: an allocator that counts and fails on demand, and a count of every malloc. */
#include <stdatomic.h>

#include "base/platform.h"
#include "tests/support/test.h"

static _Atomic uint64_t mallocs;

static void *memory_allocate(void *user, size_t size, size_t alignment) {
    test_memory *memory = user;
    uint64_t call = __atomic_add_fetch(&memory->calls, 1, __ATOMIC_SEQ_CST);
    if (memory->fail_after != 0 && call >= memory->fail_after) return NULL;
    void *pointer =
        carom_os_aligned_allocate(alignment, (size + alignment - 1) / alignment * alignment);
    assert_non_null(pointer);
    __atomic_add_fetch(&memory->live, 1, __ATOMIC_SEQ_CST);
    return pointer;
}

static void memory_release(void *user, void *pointer) {
    test_memory *memory = user;
    __atomic_sub_fetch(&memory->live, 1, __ATOMIC_SEQ_CST);
    carom_os_aligned_free(pointer);
}

carom_allocator test_allocator(test_memory *memory) {
    return (carom_allocator){memory_allocate, memory_release, memory};
}

void test_allocation_failures(test_work_fn *work, void *argument) {
    for (uint64_t n = 1;; ++n) {
        test_memory memory = {.fail_after = n};
        carom_status status = work(test_allocator(&memory), argument);
        if (memory.live != 0)
            fail_msg("failing allocation %llu leaks %llu blocks", (unsigned long long)n,
                     (unsigned long long)memory.live);
        if (memory.calls < n) { /* nothing failed any more */
            assert_int_equal(status, CAROM_OK);
            return;
        }
        if (status != CAROM_NO_MEMORY && status != CAROM_OK)
            fail_msg("failing allocation %llu gives \"%s\"", (unsigned long long)n,
                     carom_status_name(status));
    }
}

/* ---- every malloc in the process (linked with --wrap) ---------------------------------------- */

#ifdef TEST_WRAPS

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_malloc(size_t size) {
    ++mallocs;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    ++mallocs;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size) {
    ++mallocs;
    return __real_realloc(pointer, size);
}

#endif
#ifdef TEST_WRAPS_ALIGNED

void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **pointer, size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **pointer, size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    ++mallocs;
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **pointer, size_t alignment, size_t size) {
    ++mallocs;
    return __real_posix_memalign(pointer, alignment, size);
}

#endif

uint64_t test_malloc_count(void) {
    return mallocs;
}
