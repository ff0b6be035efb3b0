/* SPDX-License-Identifier: MIT */
/* A one-line progress bar with the remaining time. It appears only when the work takes longer than
 * SHOW_AFTER, so short commands print only their result. */
#include "cli/bar.h"

#include <stdio.h>
#include <string.h>

#include "carom/base.h"
#include "cli/interrupt.h"

#define WIDTH      30
#define SHOW_AFTER 0.3  /* seconds */
#define DRAW_EVERY 0.05 /* seconds */

void bar_catch_interrupt(void) {
    interrupt_catch();
}

static void draw(bar *bar, const char *what, double fraction, double elapsed) {
    char cells[WIDTH + 1];
    int full = (int)(fraction * WIDTH + 0.5);
    memset(cells, '#', (size_t)full);
    memset(cells + full, '.', (size_t)(WIDTH - full));
    cells[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%s [%s] %3.0f %%", what, cells, 100.0 * fraction);
    if (fraction > 0.02) fprintf(stderr, "  %.0f s left", elapsed / fraction * (1.0 - fraction));
    fflush(stderr);
    bar->drawn = true;
    bar->drawn_at = bar->started + elapsed;
}

void bar_begin_part(bar *bar, const char *what, double from, double to) {
    if (bar->part == NULL) bar->started = carom_time_seconds();
    bar->part = what;
    bar->from = from;
    bar->to = to;
}

void bar_end_parts(bar *bar) {
    bar->part = NULL;
    bar_clear(bar);
}

bool bar_progress(void *user, const char *what, double fraction) {
    bar *bar = user;
    if (what == NULL) what = "";
    double now = carom_time_seconds();
    if (bar->part == NULL && fraction <= 0.0) bar->started = now;
    bool shows =
        bar->visible && now - bar->started > SHOW_AFTER && now - bar->drawn_at > DRAW_EVERY;
    if (bar->part != NULL) {
        double whole = bar->from + fraction * (bar->to - bar->from);
        if (shows) draw(bar, bar->part, whole < 1.0 ? whole : 1.0, now - bar->started);
    } else if (fraction >= 1.0) {
        bar_clear(bar);
    } else if (shows) {
        draw(bar, what, fraction, now - bar->started);
    }
    return interrupt_seen();
}

void bar_clear(bar *bar) {
    if (bar->drawn) fputs("\r\033[K", stderr);
    bar->drawn = false;
}
