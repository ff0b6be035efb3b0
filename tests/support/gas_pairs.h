/* SPDX-License-Identifier: MIT */
/* gas_pairs.h: a simulator of thousands of moving spheres that knows no cells and no queue. It
 * keeps for each sphere its earliest collision with any other, and after each event compares the
 * two spheres with all others. It shares only the item functions. */
#ifndef CAROM_TESTS_GAS_PAIRS_H
#define CAROM_TESTS_GAS_PAIRS_H

#include "tests/support/gas.h"

typedef struct gas_pairs gas_pairs;

/* `tick` as carom_gas_info tells it. */
gas_pairs *gas_pairs_create(const carom_gas_def *def, double tick, const carom_gas_sphere *spheres,
                            int count);
void gas_pairs_destroy(gas_pairs *pairs);

/* The next pair or wall event, done. */
gas_oracle_event gas_pairs_next(gas_pairs *pairs);

/* The body of a sphere, and the ticks since create. */
const carom_gas_body *gas_pairs_body(const gas_pairs *pairs, int id);
int64_t gas_pairs_now(const gas_pairs *pairs);

#endif
