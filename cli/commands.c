/* SPDX-License-Identifier: MIT */
/* The list of sub-commands, in the order of `carom --help`. */
#include "cli/command.h"

const cli_command *const cli_commands[] = {&cli_info,  &cli_make,  &cli_convert, &cli_pairs,
                                           &cli_kfree, &cli_query, &cli_gas,     &cli_demo,
                                           &cli_bench, NULL};
