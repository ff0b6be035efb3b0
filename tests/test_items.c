/* SPDX-License-Identifier: MIT */
/* The items that CPU and GPU share, by golden digests. The CPU's side is here; the GPU's side,
 * tests/cuda/test_items.cu, compares with the same lines. */
#include <stdlib.h>

#include "tests/support/digest.h"
#include "tests/support/test.h"

static void pairs_of_triangles_are_golden(void **state) {
    (void)state;
    carom_context *context = test_context(0);
    char name[64];
    for (int kind = 0; kind < DIGEST_KINDS; ++kind) {
        for (uint64_t count = DIGEST_SHORT; count <= DIGEST_LONG; count = DIGEST_LONG) {
            digest_name(name, sizeof(name), kind, count);
            test_golden("items.txt", name, digest_of_pairs(context, kind, count));
            if (count == DIGEST_LONG || getenv("CAROM_LONG") == NULL) break;
        }
    }
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_triangles_are_golden),
    };
    return cmocka_run_group_tests_name("items", tests, NULL, NULL);
}
