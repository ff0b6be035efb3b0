/* SPDX-License-Identifier: MIT */
/* gas.h: a gas that benchmarks run for so many events at a time. */
#ifndef CAROM_BENCH_GAS_H
#define CAROM_BENCH_GAS_H

#include "carom/gas.h"

typedef struct gas_input {
    carom_context *context;
    carom_gas *gas;
    uint64_t events, runs; /* of one run; runs so far */
    double passed;         /* simulated time, by all runs */
} gas_input;

/* Goes on where the last run ended; `input` is a gas_input. */
bool gas_input_run(void *input);

#endif
