/* SPDX-License-Identifier: MIT */
/* demo.h: a section of the demo. Each engine adds one, in a file demo_X.c listed in demo.c. */
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
    const char *name, *what;
    carom_status (*run)(demo *demo);
} demo_part;

extern const demo_part demo_base, demo_mesh, demo_soup, demo_solid, demo_gas;

#endif
