/* SPDX-License-Identifier: MIT */
/* The long proof of convex queries: with CAROM_LONG=1 ten million seeded pairs by certificate and
 * 100,000 of them by an independent solver; docs/figures.md has its table. CAROM_PART=3/16 runs one
 * share of it. */
#include "tests/support/test.h"

#include "tests/support/campaign.h"
#include "tests/support/convex_pairs.h"

#define BLOCK 10000u /* pairs that one part takes at a time */

static void pairs_are_proved(void **state) {
    (void)state;
    static convex_statistics statistics;
    carom_context *context = test_context(1);
    uint64_t blocks = campaign_is_long() ? 1000 : 1;
    for (uint64_t block = 0; block < blocks; ++block) {
        if (!campaign_has(block)) continue;
        for (uint64_t i = 0; i < BLOCK; ++i) {
            convex_case c;
            convex_case_make(context, 77, block * BLOCK + i, &c);
            convex_case_check(context, &c, &statistics);
            if (campaign_is_long() && i % 100 == 0) convex_case_check_depth(context, &c);
            convex_case_free(&c);
        }
    }
    convex_statistics_print(&statistics);
    carom_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_are_proved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
