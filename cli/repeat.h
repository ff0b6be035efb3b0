/* SPDX-License-Identifier: MIT */
/* repeat.h: --repeat N runs the same query N times; the time reported is the median. */
#ifndef CAROM_CLI_REPEAT_H
#define CAROM_CLI_REPEAT_H

#include "cli/command.h"

#define REPEAT_MOST 1000000u
#define REPEAT_HELP "query N times and give the median time (1)"

/* Initialise with {.wanted = N}. */
typedef struct repeat {
    uint64_t wanted, done;
    double started, *seconds;
} repeat;

/* do { repeat_start(&r); status = ...; } while (repeat_goes_on(&r, status)); */
void repeat_start(repeat *r);
bool repeat_goes_on(repeat *r, carom_status status);

/* In seconds; 0 before the first run. */
double repeat_median(const repeat *r);

/* Prints `query_s`, and `repeat` when it was requested. */
void repeat_print_json(const repeat *r, json *j);

void repeat_free(repeat *r);

/* A message when N is not allowed, else NULL. */
const char *repeat_misuse(uint64_t wanted);

#endif
