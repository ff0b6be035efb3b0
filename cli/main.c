/* SPDX-License-Identifier: MIT */
/* The entry point of the process. */
#include "cli/command.h"
#include "cli/platform.h"

int main(int argc, char **argv) {
    platform_begin(&argc, &argv);
    bar_catch_interrupt();
    return cli_main(argc > 0 ? (size_t)argc - 1 : 0, argv + 1);
}
