/* SPDX-License-Identifier: MIT */
/* The entry point of carom-bench, a program beside the tool: who measures needs peers, papers and
 * figures, and who uses the tool does not. `carom bench` starts it. */
#include "bench/command.h"
#include "cli/platform.h"

int main(int argc, char **argv) {
    platform_begin(&argc, &argv);
    bar_catch_interrupt();
    return cli_main_of(&bench_command, argc > 0 ? (size_t)argc - 1 : 0, argv + 1);
}
