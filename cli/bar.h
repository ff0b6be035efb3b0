/* SPDX-License-Identifier: MIT */
/* bar.h: the progress bar, on stderr when that is a terminal. */
#ifndef CAROM_CLI_BAR_H
#define CAROM_CLI_BAR_H

#include <stdbool.h>

typedef struct bar {
    bool visible; /* set before use: whether to draw */
    bool drawn;
    double started, drawn_at;
    const char *part; /* what is under way, when the next calls are parts of longer work; or NULL */
    double from, to;  /* the share of the longer work that the next calls are */
} bar;

/* A carom_progress_fn whose user pointer is the bar. Cancels after Ctrl-C. */
bool bar_progress(void *user, const char *what, double fraction);

/* Until bar_end_parts, what is reported is a part of longer work called `what`: its progress goes
 * from `from` to `to`, in [0, 1]. The first part starts the clock. */
void bar_begin_part(bar *bar, const char *what, double from, double to);
void bar_end_parts(bar *bar);

/* Erases the bar, so that the next output starts on an empty line. */
void bar_clear(bar *bar);

/* Calls interrupt_catch of cli/interrupt.h. cli_main has called it before any command runs. */
void bar_catch_interrupt(void);

#endif
