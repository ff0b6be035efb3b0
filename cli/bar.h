/* SPDX-License-Identifier: MIT */
/* bar.h: the progress bar, on stderr when that is a terminal. */
#ifndef CAROM_CLI_BAR_H
#define CAROM_CLI_BAR_H

#include <stdbool.h>

typedef struct bar {
    bool visible; /* set before use: whether to draw */
    bool drawn;
    double started;
} bar;

/* A carom_progress_fn whose user pointer is the bar. Cancels after Ctrl-C. */
bool bar_progress(void *user, const char *what, double fraction);

/* Erases the bar, so that the next output starts on an empty line. */
void bar_clear(bar *bar);

/* Calls interrupt_catch of cli/interrupt.h. cli_main has called it before any command runs. */
void bar_catch_interrupt(void);

#endif
