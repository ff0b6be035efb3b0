/* SPDX-License-Identifier: MIT */
/* campaign.h: long proofs, which may be cut into parts that run side by side, on one machine or on
 * many. CAROM_LONG=1 runs the long form; CAROM_PART=3/16 for the third of sixteen shares, 3-5/16
 * for three of them. */
#ifndef CAROM_TESTS_CAMPAIGN_H
#define CAROM_TESTS_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

bool campaign_is_long(void);

/* Does case `number` of a campaign belong to this part? All parts together have each case once.
 * Always true without CAROM_PART; ends the program with a message when that makes no sense. */
bool campaign_has(uint64_t number);

#endif
