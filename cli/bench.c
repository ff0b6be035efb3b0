/* SPDX-License-Identifier: MIT */
/* carom bench: starts carom-bench, which has the benchmarks. */
#include "cli/command.h"

const cli_command cli_bench = {
    .order = 910,
    .name = "bench",
    .arguments = "[NAME...]",
    .summary = "starts carom-bench: the benchmarks, ours and peers', side by side",
    .starts = "carom-bench",
};
