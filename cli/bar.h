/* SPDX-License-Identifier: MIT */
/* bar.h: the progress bar, on stderr when that is a terminal. */
#ifndef CAROM_CLI_BAR_H
#define CAROM_CLI_BAR_H

#include <stdbool.h>

typedef struct bar {
    bool visible; /* set before use: draw at all? */
    bool drawn;
    double started;
} bar;

/* A carom_progress_fn; user is the bar. Cancels after Ctrl-C. */
bool bar_progress(void *user, const char *what, double fraction);

/* Removes the bar, so that what is printed next starts on a clean line. */
void bar_clear(bar *bar);

/* interrupt_catch of cli/interrupt.h, which the frame has called before any command runs. */
void bar_catch_interrupt(void);

#endif
