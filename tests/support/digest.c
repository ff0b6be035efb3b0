/* SPDX-License-Identifier: MIT */
#include "tests/support/digest.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/threads.h"
#include "tests/support/digest_item.h"
#include "tests/support/test.h"
#include "tests/support/triangle_pairs.h"

const char *const digest_kind_names[DIGEST_KINDS] = {"lattice", "near", "random"};

static void make_block(int kind, uint64_t block, uint64_t count, digest_pair_of_triangles *pairs) {
    carom_random random = {((uint64_t)kind + 1) << 40 | block};
    for (uint64_t i = 0; i < count; ++i)
        pair_make(&random, (pair_kind)kind, &pairs[i].a, &pairs[i].b);
}

typedef struct making {
    int kind;
    uint64_t first;
    digest_pair_of_triangles *pairs;
} making;

static carom_status make_range(void *argument, carom_range range) {
    making *m = argument;
    make_block(m->kind, (m->first + range.begin) / DIGEST_BLOCK, range.end - range.begin,
               m->pairs + range.begin);
    return CAROM_OK;
}

void digest_make_pairs(carom_context *context, int kind, uint64_t first, uint64_t count,
                       digest_pair_of_triangles *pairs) {
    making m = {kind, first, pairs};
    assert_int_equal(first % DIGEST_BLOCK, 0);
    assert_ok(context, carom_parallel_for(context, count, DIGEST_BLOCK, make_range, &m));
}

typedef struct digesting {
    int kind;
    _Atomic uint64_t sum;
} digesting;

static carom_status digest_range(void *argument, carom_range range) {
    digesting *d = argument;
    uint64_t sum = 0, count = range.end - range.begin;
    digest_pair_of_triangles *pairs = malloc(count * sizeof(*pairs));
    if (pairs == NULL) return CAROM_NO_MEMORY;
    make_block(d->kind, range.begin / DIGEST_BLOCK, count, pairs);
    for (uint64_t i = 0; i < count; ++i) sum += digest_pair(&pairs[i].a, &pairs[i].b);
    atomic_fetch_add(&d->sum, sum);
    free(pairs);
    return CAROM_OK;
}

uint64_t digest_of_pairs(carom_context *context, int kind, uint64_t count) {
    digesting d = {.kind = kind};
    assert_ok(context, carom_parallel_for(context, count, DIGEST_BLOCK, digest_range, &d));
    return d.sum;
}

void digest_name(char *name, size_t size, int kind, uint64_t count) {
    snprintf(name, size, "pairs-%s-%llu", digest_kind_names[kind], (unsigned long long)count);
}
