/* SPDX-License-Identifier: MIT */
/* repeat.h: --repeat N, the same query N times; the time given is the median. */
#ifndef CAROM_CLI_REPEAT_H
#define CAROM_CLI_REPEAT_H

#include "cli/command.h"

#define REPEAT_MOST 1000000u
#define REPEAT_HELP "ask N times and give the median time (1)"

/* {.wanted = N} to begin with. */
typedef struct repeat {
    uint64_t wanted, done;
    double started, *seconds;
} repeat;

/* do { repeat_start(&r); status = ...; } while (repeat_goes_on(&r, status)); */
void repeat_start(repeat *r);
bool repeat_goes_on(repeat *r, carom_status status);

/* In seconds; 0 before any. */
double repeat_median(const repeat *r);

/* `query_s`, and `repeat` when that was asked for. */
void repeat_print_json(const repeat *r, json *j);

void repeat_free(repeat *r);

/* A message when N cannot be, else NULL. */
const char *repeat_misuse(uint64_t wanted);

#endif
