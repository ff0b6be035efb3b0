/* SPDX-License-Identifier: MIT */
/* command.h: the one command of carom-bench. */
#ifndef CAROM_BENCH_COMMAND_H
#define CAROM_BENCH_COMMAND_H

#include "bench/bench.h"
#include "cli/command.h"

extern const cli_command bench_command;

#endif
