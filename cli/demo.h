/* SPDX-License-Identifier: MIT */
/* demo.h: a section of the demo. Each engine adds one in a file demo_X.c, which defines
 * `const demo_part demo_X`; the build finds it there. */
#ifndef CAROM_CLI_DEMO_H
#define CAROM_CLI_DEMO_H

#include "cli/command.h"
#include "cli/page.h"

typedef struct demo {
    cli *cli;
    page page;
    char result[160]; /* what the section found, one line for the table */
} demo;

typedef struct demo_part {
    int order; /* place in the demo; the build reads it (cmake/lists.cmake) */
    const char *name, *what;
    carom_status (*run)(demo *demo);
} demo_part;

#endif
